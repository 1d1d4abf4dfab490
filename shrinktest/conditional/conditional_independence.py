"""Conditional independence of two variables, or of a label and samples, given other variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from shrinktest._check import counted
from shrinktest.conditional.regressions import (
    NothingToTest,
    Regressions,
    Residuals,
    bounded,
    neighborhoods,
    neighbors_alike,
    squared,
    standardized,
)
from shrinktest.data.variable import Variable
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.estimators import MeanEstimator
from shrinktest.fitted import EffectOptions, TestContext
from shrinktest.hypothesis import Hypothesis
from shrinktest.independent_variables import Independence
from shrinktest.kernels import Gaussian
from shrinktest.notes import note
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.null import CostHint, Statistic
from shrinktest.permutations.schemes import LabelsByChance, Signs
from shrinktest.permutations.serial_correlation import BY_COVARIATES, BY_GIVEN, SerialCorrelation
from shrinktest.results.base import TestData
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.info import CONDITIONAL, NO_EFFECT_BY_PROPENSITY, TestInfo
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.signs import (
    Combined,
    Component,
    concatenated,
    inflated,
    products_of,
    sign_statistic,
)
from shrinktest.statistics.statistic import Computation, Form, Prepared, margins
from shrinktest.units import far_apart

_Kind = TypeVar("_Kind")
_Test = TypeVar("_Test", bound="GivenOthers")

_NEIGHBORS = 10  # rows of a neighborhood at least
_FEW = 200  # rows from which coordinates of kernels are looked for
_SHARES = {"means": 20.0, "turning": 1.5, "squares": 2.0, "shapes": 1.5}  # of the level
# of the rows: with more degrees of freedom, a regression has probably not found everything
_MANY = 0.15


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenOthers(Hypothesis):
    """Hypothesis given other variables: how they are taken into account, and what that assumes."""

    method: str = ""
    assumption: str = ""

    def data(self) -> TestData:
        """Return what was tested, with the method and its assumption."""
        return replace(super().data(), method=self.method, assumption=self.assumption)

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Notes on the data, the assumption first."""
        return (
            f"{self.method[:1].upper()}{self.method[1:]}: {self.assumption}",
            *super().notes(kernel),
        )

    def as_kind(self, kind: type[_Kind], **changes: Any) -> _Kind:
        """Return the same data as a hypothesis of another class."""
        return kind(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)


@dataclass(frozen=True, eq=False, kw_only=True)
class ConditionalIndependence(GivenOthers, Independence):
    """Two variables are independent given others; rows of y change places within blocks."""

    kind: ClassVar[TestInfo] = CONDITIONAL
    serial_remedy: ClassVar[str] = BY_GIVEN

    def effect(self, context: TestContext, options: EffectOptions) -> Any:
        """No scale for it exists."""
        raise ValueError(self.kind.no_effect)


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentResiduals(ConditionalIndependence):
    """Residuals of two variables have products of mean zero, whatever features are taken of them.

    Regressions take what is given off x and y, then off the features of the residuals.  Under the
    hypothesis products of the remaining features, and of features of the given variables, have mean
    zero, and signs may be drawn.
    """

    regression: Regressions
    first: tuple[Residuals, Residuals]  # of x and of y
    combined: bool = False  # True for four statistics, False for features of the kernels alone

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return Signs(self._unit, symmetric)

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Squared norm of the mean of the products, for every choice of signs."""
        if cache.gram not in ("auto", "dense"):
            raise ValueError(
                f"gram={cache.gram!r}: residuals are compared by Gram matrices; use gram='dense'"
            )
        points = tuple(variable.points for variable in self.variables)
        n = self.sizes[0]
        tuned = margins(estimator, kernel, points, cache.workers)
        request = Request(by_coordinates=self.combined, large=_FEW, kernels=4)
        features = []
        for mean, k, x, first in zip(tuned, kernel, points, self.first, strict=True):
            tuned_kernel = mean.features(k, x)
            values = cache(tuned_kernel, x, request)
            features.append(
                self.regression.residuals_of_features(tuned_kernel, x, values, first.held_out)
            )
        statistic: Statistic
        notes: tuple[str, ...] = ()
        if self.combined:
            statistic = combined = Combined(self._parts(points, features), tuned[0], self._unit)
            clearest = combined.parts[int(combined.chances(np.ones((1, n)))[0].argmin())]
            notes = (note("four-statistics", decided=f" '{clearest.name}' stands out most."),)
        else:
            z = standardized(self.regression.given)
            # of features of the given variables, with which dependence may turn around
            weights = 0.5 + 0.5 * Gaussian().resolve(z, 0)(z) if z.shape[1] else np.ones((n, n))
            products = Features(features[0].gram * features[1].gram * weights)
            statistic = inflated(
                sign_statistic(tuned[0], products), np.ones(n), self._inflation(features)
            )
        cost = CostHint(seconds=2e-10 * n**2) if tuned[0].needs in ("sums", "noise") else None
        computation = Computation(route="dense", threads=estimator.needs != "function", cost=cost)
        return Prepared(statistic=statistic, kernel=kernel, notes=notes, computation=computation)

    @property
    def _unit(self) -> np.ndarray:
        """Number (n,) of the unit of each row; rows of a unit turn together."""
        groups = self.restriction.groups
        return np.arange(self.sizes[0]) if groups is None else codes_of(groups)

    def _parts(
        self, points: Sequence[np.ndarray], features: Sequence[Residuals]
    ) -> tuple[Component, ...]:
        """Products of residuals; of these and Z.

        Of residuals and squares, which see curves and spread; of features.
        """

        def both(function: Callable[[np.ndarray], np.ndarray]) -> list[Residuals]:
            """Residuals of a function of the residuals of x and y."""
            return [
                self.regression.residuals_of_lines(function(x), list(map(function, first.held_out)))
                for x, first in zip(points, self.first, strict=True)
            ]

        lines = both(bounded)
        squares = both(lambda x: squared(bounded(x)))
        crossed = ((squares[0], lines[1]), (lines[0], squares[1]))
        straight = [line.values for line in lines]
        z = bounded(standardized(self.regression.given))
        if all(feature.by_coordinates for feature in features):
            shapes = products_of(*(feature.values for feature in features))
        else:
            shapes = Features(features[0].gram * features[1].gram)
        parts = {
            "means": (products_of(*straight), [lines]),
            "turning": (products_of(*straight, z), [lines]),
            "squares": (
                concatenated(*(products_of(x.values, y.values) for x, y in crossed)),
                crossed,
            ),
            "shapes": (shapes, [features]),
        }
        return tuple(
            Component(name, _SHARES[name], products, max(map(self._inflation, pairs)))
            for name, (products, pairs) in parts.items()
        )

    def _inflation(self, pair: Sequence[Residuals]) -> float:
        """Factor by which squared norms exceed those with random signs, by both regressions."""
        return max(self.first[0].inflation(self.first[1]), pair[0].inflation(pair[1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentNearby(ConditionalIndependence):
    """Residuals of two variables are independent among neighbors in the given variables."""

    first: tuple[Residuals, Residuals]

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Squared norm of the cross-covariance operator, for every permutation among neighbors."""
        prepared = super().prepare(estimator, kernel, form, cache)
        factor = self.first[0].inflation(self.first[1])
        return replace(
            prepared, statistic=inflated(prepared.statistic, np.arange(self.sizes[0]), factor)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelGivenCovariates(IndependentResiduals):
    """The sample of a row, the second variable, is independent of its values given covariates."""

    serial_remedy: ClassVar[str] = BY_COVARIATES

    samples: tuple[int, ...]  # numbers of rows, sample after sample

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Numbers of rows of the samples."""
        return self.samples

    def serial_correlation(self) -> SerialCorrelation | None:
        """Serial correlation within the samples."""
        if not self.restriction.by_rows:
            return None
        rows = np.split(np.arange(self.sizes[0]), np.cumsum(self.samples)[:-1])
        return self.variables[0].rows_of(*rows).correlated("a sample")


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoGivenCovariates(GivenOthers, TwoEqualDistributions):
    """Two samples have one distribution given covariates; rows of one stratum change samples."""

    serial_remedy: ClassVar[str] = BY_COVARIATES


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoByPropensity(TwoGivenCovariates):
    """Two samples have one distribution given covariates.

    Every row has a chance of its own to be in the second.
    """

    odds: np.ndarray  # (N,): log odds of these chances

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        first, second = self.sizes
        return LabelsByChance((first, second), self.odds)

    def effect(self, context: TestContext, options: EffectOptions) -> TwoSampleEffect:  # type: ignore[override]  # of two samples
        """No adjusted effect exists."""
        raise ValueError(NO_EFFECT_BY_PROPENSITY)


def codes_of(*labels: np.ndarray) -> np.ndarray:
    """Number (n,) of the distinct row of some labels, (n,) or (n, d)."""
    return np.asarray(np.unique(np.column_stack(labels), axis=0, return_inverse=True)[1]).reshape(
        -1
    )


def conditional(
    test: ConditionalIndependence,
    method: str,
    z: np.ndarray,
    regression: Regressions | None,
    combined: bool = False,
) -> ConditionalIndependence:
    """Return the test by strata, or by a ``regression`` on z (n, d).

    ``combined`` is for four statistics.
    """
    if regression is None:
        return within_strata(test, z, np.arange(len(z)), "given")
    variables = test.variables
    design = test.restriction
    z = standardized(z)
    for variable in variables:
        if variable.numbers:
            raise ValueError(
                f"{variable.name}: a matrix as kernel has row numbers, which have no residuals; "
                "use strata"
            )
    x, y = (regression.residuals(variable.points, variable.name) for variable in variables)
    left = [
        _less(v, r.values, f"residuals of {v.name}") for v, r in zip(variables, (x, y), strict=True)
    ]
    test = replace(test, variables=tuple(left), remarks=(*test.remarks, *_doubts(x, y, z)))
    if (design.groups if method == "local" else design.blocks) is not None:
        raise ValueError(
            "blocks= requires strata or given_method='local', groups= strata or 'residuals'; or "
            "condition on them"
        )
    if method != "local":
        return test.as_kind(
            IndependentResiduals,
            regression=regression,
            first=(x, y),
            combined=combined,
            method="signs of residual products",
            assumption=(
                f"the p-value is approximately valid if {regression.words} capture how X and Y "
                "depend on Z; otherwise the test rejects too often (page 'Level of the tests')."
            ),
        )
    codes = np.zeros(len(z), dtype=np.int64)
    blocks = codes if design.blocks is None else design.blocks
    for block in np.unique(blocks):
        rows = blocks == block
        codes[rows] = neighborhoods(z[rows], _NEIGHBORS)
    return test.as_kind(
        IndependentNearby,
        first=(x, y),
        restriction=PermutationDesign(blocks=codes_of(blocks, codes)),
        method="local permutations of residuals",
        assumption=(
            f"the p-value is approximately valid if {regression.words} capture how the means of X "
            f"and Y depend on Z, and if their spread barely changes among {_NEIGHBORS} to "
            f"{2 * _NEIGHBORS} neighboring rows."
        ),
    )


def _doubts(x: Residuals, y: Residuals, z: np.ndarray) -> tuple[str, ...]:
    """Note that the regressions did not, or probably did not, find all z says in both variables."""
    if not z.shape[1]:
        return ()
    if neighbors_alike([x.values, y.values], z):
        return (
            note(
                "regressions",
                problem=(
                    "miss part of the dependence on Z: residuals of neighboring rows are still "
                    "similar"
                ),
            ),
        )
    straight = z.shape[1] + 1.0
    used = [
        0.0 if left.smoother is None else float(left.smoother.own.sum()) - straight
        for left in (x, y)
    ]
    if min(used) <= _MANY * len(z):
        return ()
    more = f"{used[0]:.0f} and {used[1]:.0f} degrees of freedom more than straight lines"
    return (note("regressions", problem=f"may miss part of the dependence on Z: they use {more}"),)


def within_strata(test: _Test, z: np.ndarray, label: np.ndarray, argument: str) -> _Test:
    """Permute rows with the same values of z (n, d) only, after their means are taken off.

    The means of strata are the same in every permutation, would stay in the statistic, and hide
    what runs against them. Kernels of users may need values as they are, such as counts or row
    numbers, and the test is exact with these, too. Strata whose rows all have one ``label`` (n,)
    carry no information and are left out.
    """
    design = test.restriction
    codes = codes_of(z) if design.blocks is None else codes_of(z, design.blocks)
    if (
        design.groups is not None
        and codes_of(codes, design.groups).max() > codes_of(design.groups).max()
    ):
        remedy = "use factor_test" if argument == "covariates" else "leave out one of the two"
        raise ValueError(f"groups: some have rows with different values of {argument}; {remedy}")
    mixed = np.bincount(np.unique(np.column_stack([codes, label]), axis=0)[:, 0])[codes] > 1
    if not mixed.any():
        method = "given_method" if argument == "given" else "covariate_method"
        raise NothingToTest(
            f"{argument}: no two rows can be exchanged; use larger strata, or {method}='residuals'"
        )
    rows = int(mixed.sum())
    codes = codes_of(codes[mixed])
    verb = "was" if len(mixed) - rows == 1 else "were"
    lost = f"{len(mixed) - rows} of {counted(len(mixed), 'row')} {verb}"
    other = "row of the other sample" if argument == "covariates" else "other row"
    about = {"rows": lost, "other": other, "argument": argument}
    left_out = () if mixed.all() else (note("strata-left-out", **about),)
    keep_values = [variable.keeps_values for variable in test.variables]
    exception = (
        ", except your own kernels, which compare values as they are" if any(keep_values) else ""
    )
    on_means = () if all(keep_values) else (note("strata-means", exception=exception),)
    return replace(
        test,
        variables=tuple(
            _less_means(variable.only(mixed), codes, argument) for variable in test.variables
        ),
        sizes=(rows,)
        if len(test.sizes) == 1
        else tuple(map(int, np.bincount(label[mixed], minlength=2))),
        restriction=replace(design.of(mixed), blocks=codes),
        remarks=(*test.remarks, *left_out, *on_means),
        method="permutations within strata",
        assumption=(
            f"the p-value is exact if rows with the same values of {argument} are independent of "
            "each other."
        ),
    )


def _less_means(variable: Variable, codes: np.ndarray, argument: str) -> Variable:
    """Subtract stratum means from a variable, unless a user's kernel compares its values."""
    points = variable.points
    counts = np.bincount(codes)
    moved = (
        points - points[np.unique(codes, return_index=True)[1]][codes]
    )  # what is far from 0 loses no digits
    if not moved.any():
        raise NothingToTest(
            f"{argument} determines {variable.name}: every stratum has one value only"
        )
    if variable.keeps_values:
        return variable
    sums = np.zeros((counts.size, points.shape[1]))
    np.add.at(sums, codes, moved)
    return _less(
        variable,
        moved - (sums / counts[:, None])[codes],
        f"{variable.name} minus its means within strata",
    )


def _less(variable: Variable, left: np.ndarray, name: str) -> Variable:
    """Replace the values of a variable by what is left of them.

    Notes on units are about the variable itself.
    """
    units_chosen = variable.units_chosen or not far_apart(variable.points, name)
    return replace(
        variable, points=np.ascontiguousarray(left), name=name, units_chosen=units_chosen
    )


def distilled(variable: Variable, z: np.ndarray) -> Variable:
    """Subtract a regression on z from a variable, where possible.

    It must have enough rows and leave something, and the values of the variable may change.
    """
    if variable.keeps_values:
        return variable
    try:
        residuals = Regressions.on(z).residuals(variable.points, variable.name)
    except ValueError:
        return variable
    return _less(variable, residuals.values, f"residuals of {variable.name}")
