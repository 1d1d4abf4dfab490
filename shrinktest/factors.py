"""Hypotheses of a design with several factors: alignment of the response, and the statistic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import Array
from shrinktest.data.column import CODED
from shrinktest.data.variable import Variable
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.fitted import FittedStatistic
from shrinktest.hypothesis import Hypothesis
from shrinktest.notes import note
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.null import Statistic
from shrinktest.permutations.serial_correlation import SerialCorrelation
from shrinktest.plans import Plan
from shrinktest.results.base import unique
from shrinktest.results.factor_result import TestedTerm
from shrinktest.results.info import FACTOR, TestInfo
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.projections import ROBUST, averaged, mapped, share, term_statistic
from shrinktest.statistics.signs import concatenated
from shrinktest.statistics.spread import distances, spread_pvalue
from shrinktest.statistics.statistic import Computation, Form, Prepared

_ROUNDS = 15  # of the M-estimate
_LEAST_SCALE = 0.1  # of the overall scale: a cell of nearly equal residuals has no weight beyond it
_LEVEL_OF_SPREAD = 0.01  # of the test that a note on unequal spread depends on
_SAME = 1e-6  # of the standard deviation: a scale that is nothing but rounding


# --- alignment ------------------------------------------------------------------------------------


def aligned(values: Array, space: Array, cells: np.ndarray) -> Array:
    """Return columns (n, d) less their effects along a basis (n, q): Huber's M-estimate with k = 1.

    The scale is the median absolute residual of each cell, at least a tenth of the overall one, and
    weights are those of Huber over the squared scale.  By least squares, heavy tails or unequal
    spread leave errors that a bounded kernel takes for an interaction.
    """
    codes = np.unique(cells, return_inverse=True)[1].reshape(-1)
    members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    residuals = values - space @ (space.T @ values)
    spread = values.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    scale = np.empty_like(values)
    for _ in range(_ROUNDS):
        size = np.abs(residuals)
        for rows in members:
            scale[rows] = np.median(size[rows], axis=0)
        least = _LEAST_SCALE * np.median(size, axis=0)
        # of mostly equal residuals, the scale is the standard deviation of the column
        scale = np.maximum(scale, np.where(least > _SAME * spread, least, spread))
        weights = np.minimum(1.0, scale / np.maximum(size, np.finfo(np.float64).tiny)) / scale**2
        for j in range(values.shape[1]):
            weighted = space * weights[:, j : j + 1] / weights[:, j].max()
            fitted = np.linalg.lstsq(weighted.T @ space, weighted.T @ values[:, j], rcond=None)[0]
            residuals[:, j] = values[:, j] - space @ fitted
    return residuals


def numeric_columns(variable: Variable) -> np.ndarray:
    """Return which columns (d,) are numbers with more than two values, which can be aligned."""
    points = variable.points
    numeric = np.array([len(np.unique(column)) > 2 for column in points.T])
    if variable.encoding is not None:
        for code, group in zip(variable.encoding.codes, variable.encoding.groups, strict=True):
            if code.kind in CODED:
                numeric[group] = False
    return numeric


# --- the hypothesis -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class NoEffect(Hypothesis):
    """A term adds nothing to the others; its variable holds the aligned response."""

    kind: ClassVar[TestInfo] = FACTOR
    serial_remedy: ClassVar[str] = "use groups= that keep units together, or rows far apart in time"
    #: The same for rows that are permuted within groups.
    signs_remedy: ClassVar[str] = "use within='signs'"

    plan: Plan
    indicator_columns: Array | None = None  # (n, c): indicators, for which a linear kernel is added

    @classmethod
    def of(cls, plan: Plan, response: Variable, align: bool, **options: Any) -> Self:
        """Align the response for a term."""
        variable = response
        indicator_columns = None
        if align and not response.numbers:
            numeric = numeric_columns(response)
            points = response.points.copy()
            if numeric.any() and plan.alignment.shape[1] > 1:
                points[:, numeric] = aligned(points[:, numeric], plan.alignment, plan.cells)
            variable = replace(response, points=np.ascontiguousarray(points))
            if plan.interaction and numeric.any() and not numeric.all():
                indicator_columns = points[:, ~numeric] - points[:, ~numeric].mean(axis=0)
                variable = _only_columns(variable, numeric)
        return cls(
            variables=(variable,),
            sizes=(len(response.points),),
            plan=plan,
            indicator_columns=indicator_columns,
            **options,
        )

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self.plan.permutations

    @property
    def automatic(self) -> str:
        return ROBUST.name

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return nothing, because means of a design are fitted by least squares."""
        if type(estimator) is not KME:
            raise ValueError(
                f"estimator={estimator!r}: means of a design are fitted by least squares; use "
                "estimator='kme'"
            )
        return "fixed"

    def serial_correlation(self) -> SerialCorrelation | None:
        """Return the serial correlation of rows that are permuted one by one."""
        variable = self.variables[0]
        series = self.plan.series
        if variable.numbers or series is None:
            return None
        return variable.rows_of(*series).correlated("a group" if series else "the table")

    def serial_notes(self) -> tuple[str, ...]:
        """Return a note on serial correlation; within groups, signs are its remedy."""
        correlation = self.serial_correlation()
        if correlation is None:
            return ()
        remedy = self.signs_remedy if self.plan.series else self.serial_remedy
        return (correlation.note(remedy),)

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on the plan, and on the data as the kernel compares them."""
        return (*self.plan.notes, *super().notes(kernel))

    def features(self, kernel: Any, cache: KernelCache) -> tuple[Features, Any]:
        """Return features of rows, and those of the kernel alone."""
        request = Request(tiled=self.indicator_columns is None)
        gram = cache(kernel, self.variables[0].points, request).about_mean(cache.memory)
        features: Features = gram
        if self.indicator_columns is not None:
            features = concatenated(gram, Features(self.indicator_columns, by_coordinates=True))
        return features, gram

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the statistic of a resolved kernel."""
        features, gram = self.features(kernel, cache)
        statistics = [
            term_statistic(
                of_groups(features, stratum.groups),
                stratum.part,
                stratum.space,
                stratum.moved,
                stratum.directions,
                form is ROBUST,
            ).statistic()
            for stratum in self.plan.strata
        ]
        weights = [stratum.part.df for stratum in self.plan.strata]
        statistic = averaged(statistics, weights) if len(statistics) > 1 else statistics[0]
        return prepared(statistic, kernel, gram)

    def concluded(
        self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator
    ) -> Any:
        """Return the result with the share that the term explains."""
        plan = self.plan
        features, _ = self.features(member.kernel, cache)
        units = of_groups(features, plan.groups)
        effect = share(units, plan.part, plan.unit)
        validity = "exact" if plan.exact else "approximate"
        tested = TestedTerm(plan.term, plan.part.df, plan.permuted, validity, effect)
        own = (note("spread-differs"),) if self.spread_differs(units) else ()
        return replace(result, term=tested, notes=lambda: unique((*result.notes, *own)))

    def spread_differs(self, units: Features) -> bool:
        """Return True if the spread of units that an approximate test permutes is not the same."""
        plan = self.plan
        if plan.spread is None:
            return False
        values = distances(units, plan.part.model)
        if len(values) > len(plan.spread.added):  # rows, of which whole groups change their labels
            values = np.bincount(plan.unit, values) / np.bincount(plan.unit)
        return spread_pvalue(values, plan.spread) <= _LEVEL_OF_SPREAD


def of_groups(features: Features, groups: Array | None) -> Features:
    """Return features of rows, or of means of groups (g, n) if there are some."""
    return features if groups is None else mapped(features, groups)


def _only_columns(variable: Variable, which: np.ndarray) -> Variable:
    """Keep some columns of a variable, in its units."""
    scale = variable.scale
    units = tuple(np.array(scale, dtype=object)[which]) if isinstance(scale, tuple) else scale
    points = np.ascontiguousarray(variable.points[:, which])
    return replace(variable, points=points, scale=units, encoding=None, units_chosen=True)


def prepared(statistic: Statistic, kernel: Any, gram: Any) -> Prepared:
    """Return a statistic of a response whose features, of the kernel alone, are given."""
    return Prepared(
        statistic=statistic,
        kernel=kernel,
        notes=(gram.note,) if gram.note else (),
        computation=Computation(
            route=gram.route,
            features=(gram.kernel,),
            approximated=gram.note is not None,
            threads=gram.route != "tiles",
        ),
    )
