"""Trial: a design with its response, and the tests that are made of its terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest._random import as_rng, rng_provenance
from shrinktest.data.formula import Factor, Term
from shrinktest.data.variable import Variable
from shrinktest.effects.distance import Pair
from shrinktest.effects.separability import Area
from shrinktest.factor_design import Design, coded
from shrinktest.factors import NoEffect
from shrinktest.hypothesis import resolve
from shrinktest.kernel_spec import KernelSpec
from shrinktest.many import run_many
from shrinktest.measured_effect import area_of_pair
from shrinktest.plans import Plan, plans
from shrinktest.results.base import TestData, unique
from shrinktest.results.cell_means import CellMeans
from shrinktest.results.multiple_tests_result import WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.results.pairwise_result import PAIR, PairwiseResult
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.spread import EqualSpread, residual_plan
from shrinktest.statistics.kernel_cache import Request

_NOT_IN_PICKLE = (
    "this result was pickled without its data, which further tests need; run factor_test again"
)


@dataclass(frozen=True, eq=False)
class Trial:
    """A design with its response, and how it is tested."""

    design: Design
    response: Variable
    called: str  # the response, in words
    sizes: dict[str, int]
    notes: tuple[str, ...]
    estimator: Any
    spec: KernelSpec
    settings: Settings
    align: bool

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (_NOT_IN_PICKLE,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Trial:
        return self

    def plans(self) -> tuple[Plan, ...]:
        """Return how each term is tested."""
        return plans(self.design, self.settings.alpha if self.settings.n_resamples else 1.0)

    def hypothesis(self, plan: Plan, response: Variable | None = None) -> NoEffect:
        """Return the hypothesis about a term, of all columns or of a part of them."""
        values = self.response if response is None else response
        return NoEffect.of(plan, values, self.align, remarks=self.notes)

    def tests(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Test every term."""
        tested = []
        for plan in self.plans():
            hypothesis = self.hypothesis(plan)
            tested.append(run(hypothesis, self.estimator, [self.spec], self.settings, rng))
        return tuple(tested)

    def spread(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Test every term of the formula for an effect on the spread."""
        names = [term.name for term in self.design.terms]
        tested = []
        for plan in self.plans():
            if plan.term in names:
                of_residuals = residual_plan(self.design, plan)
                hypothesis = EqualSpread.of(
                    of_residuals, self.response, self.align, remarks=self.notes
                )
                tested.append(run(hypothesis, self.estimator, [self.spec], self.settings, rng))
        return tuple(tested)

    # --- cells ------------------------------------------------------------------------------------

    def cells(self, along: str | None) -> CellMeans:
        """Return the kernel means of the cells of all factors, as the response is.

        Lines follow the levels of the factor ``along``, by default of the one that has the most.
        """
        factors = self._factors()
        if not factors:
            raise ValueError("plot: the formula has no factor and no cells; use plot('shares')")
        if along is None:
            along = max(factors, key=lambda name: len(factors[name].levels))
        joined = factors[choice(along, factors, "along")]
        codes = coded(*(factor.codes for factor in factors.values()))
        first = np.unique(codes, return_index=True)[1]
        others = [factor for name, factor in factors.items() if name != along]
        words = [", ".join(each.levels[each.codes[row]] for each in others) for row in first]
        rng = as_rng(0)  # of kernels by random coordinates
        spec = self.spec.by_feature(self.response.encoding)
        response = self.response.compared_by(spec.kernel)
        kernel = resolve(spec.candidates(response, rng)[0], response, rng)
        features = self.settings.kernels(rng)(kernel, response.points, Request())
        gram = features.about_mean(self.settings.memory).means(codes).gram
        return CellMeans.of(gram, along, joined.codes[first], np.array(words), list(joined.levels))

    def _factors(self) -> dict[str, Factor]:
        """Return the factors with levels, by their names."""
        return {
            factor.name: factor
            for term in self.design.terms
            for factor in term.factors
            if factor.categorical
        }

    # --- one term, in parts -----------------------------------------------------------------------

    def columns(self, term: str, rng: Any) -> MultipleTestsResult:
        """Test one term for each column of the response, on shared permutations."""
        (plan,) = [plan for plan in self.plans() if plan.term == term]
        if self.response.numbers:
            raise ValueError("columns: a matrix has no columns; pass the response as a table")
        labels, parts = self._columns()
        if isinstance(self.spec.bandwidth, dict | tuple | np.ndarray):
            raise ValueError("columns: bandwidth= has one number per column; use one rule for all")
        hypotheses = [self.hypothesis(plan, part) for part in parts]
        specs = [[self.spec]] * len(parts)
        return run_many(
            hypotheses,
            [(label,) for label in labels],
            ("column",),
            specs,
            self.estimator,
            self.settings,
            as_rng(rng),
            WESTFALL_YOUNG,
        )

    def _columns(self) -> tuple[list[str], list[Variable]]:
        """Return the columns that a user gave, with their names."""
        values = self.response
        encoding = values.encoding
        if encoding is None:
            groups = [slice(j, j + 1) for j in range(values.points.shape[1])]
            labels = [str(j) for j in range(len(groups))]
        else:
            groups = list(encoding.groups)
            labels = list(encoding.names)
        parts = []
        for label, group in zip(labels, groups, strict=True):
            scale = values.scale[group] if isinstance(values.scale, tuple) else values.scale
            points = np.ascontiguousarray(values.points[:, group])
            name = f"column {label!r} of the response"
            parts.append(Variable(points, name, scale, units_chosen=True))
        return labels, parts

    def pairwise(
        self, term: str, within: str | None, confidence: float, rng: Any
    ) -> PairwiseResult:
        """Test every pair of levels of a factor, at each level of another if ``within`` names it.

        Rows of other levels are left out, so that p-values are adjusted by Holm's method.
        """
        factors = self._factors()
        tested = factors[choice(term, factors, "term")]
        keys: tuple[str, ...] = PAIR
        places: list[tuple[tuple[str, ...], np.ndarray]] = [((), np.ones(self.design.size, bool))]
        if within is not None:
            other = factors[choice(within, [name for name in factors if name != term], "within")]
            keys = (*keys, within)
            places = [((level,), other.codes == i) for i, level in enumerate(other.levels)]
        generator = as_rng(rng)
        provenance = rng_provenance(generator)
        results = {}
        second_rows = {}
        for place, rows in places:
            pairs = combinations(np.argsort(tested.levels, kind="stable").tolist(), 2)
            for first, second in pairs:
                chosen = np.flatnonzero(rows & np.isin(tested.codes, (first, second)))
                label = (tested.levels[first], tested.levels[second], *place)
                results[label] = self._pair(tested, within, chosen, generator)
                second_rows[label] = chosen, tested.codes[chosen] == second
        areas = {
            label: self._area(result, *second_rows[label], generator).with_interval(confidence)
            for label, result in results.items()
        }
        last = next(iter(results.values()))
        return PairwiseResult(
            nulls={label: result.null for label, result in results.items()},
            keys=keys,
            method="holm",
            alpha=self.settings.alpha,
            data=TestData(last.test, (self.design.size,), restriction=last.permuted),
            setup=replace(last.setup, kernel=None, route=""),
            rng=provenance,
            shared=False,
            notes=unique(text for result in results.values() for text in result.notes),
            areas=areas,
            confidence=confidence,
        )

    def _pair(
        self, tested: Factor, within: str | None, rows: np.ndarray, rng: np.random.Generator
    ) -> Any:
        """Test a factor on some rows, next to the other terms that still vary."""
        terms = _reduced(self.design.terms, tested.name, within, rows)
        if len(terms[0].factors[0].levels) < 2:
            raise ValueError(
                f"pairwise: {tested.name} has one level in {counted(len(rows), 'row')}; leave out "
                "within="
            )
        group = self.design.group
        design = replace(
            self.design,
            terms=terms,
            group=None if group is None else coded(group[rows]),
            block=coded(self.design.block[rows]),
            joint=(),
        )
        part = replace(self, design=design, response=self.response.only(rows))
        (plan,) = [plan for plan in part.plans() if plan.term == tested.name]
        return run(part.hypothesis(plan), self.estimator, [self.spec], self.settings, rng)

    def _area(
        self, result: Any, rows: np.ndarray, second: np.ndarray, rng: np.random.Generator
    ) -> Area:
        """Return how well rows of two levels are told apart, without the effects of other terms.

        Groups are the units.  If some have rows of both levels, groups that lack one are left
        out.  Aligned rows have no effects of blocks, so that rows of all blocks are compared.
        """
        group = np.arange(len(rows)) if self.design.group is None else self.design.group[rows]
        kept = np.ones(len(rows), dtype=bool)
        both = np.intersect1d(group[second], group[~second])
        if len(both):
            kept = np.isin(group, both)
        order = np.flatnonzero(kept)
        order = order[np.argsort(second[order], kind="stable")]
        block = self.design.block[rows][order]
        aligned = self.align and not self.response.numbers
        pair = Pair(
            second[order],
            coded(group[order]),
            coded(block) if np.ptp(block) and not aligned else None,
            linked=len(both) > 0,
        )
        variable = result.context.hypothesis.variables[0]
        points = np.ascontiguousarray(variable.points[order])
        return area_of_pair(result.context.leading, points, pair, rng)


def _reduced(
    terms: Sequence[Term], tested: str, within: str | None, rows: np.ndarray
) -> tuple[Term, ...]:
    """Return the tested factor, first, and the other terms that vary in some rows."""
    factors = {factor.name: factor for term in terms for factor in term.factors}
    left = [Term((factors[tested].only(rows),))]
    for term in terms:
        if term.variables & {tested, within}:
            continue
        part = term.only(rows)
        if all(np.ptp(factor.columns, axis=0).any() for factor in part.factors):
            left.append(part)
    return tuple(left)
