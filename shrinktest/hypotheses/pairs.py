"""Two variables in batches that are independent: y may be shifted within short blocks of successive pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from shrinktest._check import counted
from shrinktest.batches.blocks import LENGTH, Blocks, Whole, products_of
from shrinktest.batches.columns import holes, of_numbers
from shrinktest.batches.crew import Crew
from shrinktest.batches.pair_survey import PairSurvey
from shrinktest.batches.pairs import Pairs
from shrinktest.batches.store import Store
from shrinktest.batches.strata import representative
from shrinktest.batches.summands import summands_of
from shrinktest.data.encoding import Encoding
from shrinktest.data.observed import checked_types, is_unasked
from shrinktest.data.read import XY, scales_of
from shrinktest.effects.dependence import dependence_in_groups
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.context import EffectOptions, FittedStatistic, TestContext
from shrinktest.hypotheses.effects import MEASURED, effect_of_dependence, variance_notes
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.multiplied import Multiplied
from shrinktest.hypotheses.pair_features import Meeting, PairPlan
from shrinktest.hypotheses.supported import checked_units
from shrinktest.hypotheses.units_of_rows import deviations_in, said_of_fills, settled_units
from shrinktest.kernels import Kernel
from shrinktest.kernels.bandwidths import reach_notes
from shrinktest.kernels.inner import FeatureMap
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations
from shrinktest.permutations.null import CostHint
from shrinktest.permutations.schemes import GroupShifts
from shrinktest.results.base import TestData
from shrinktest.results.effect import DependenceEffect
from shrinktest.statistics.hsic import scaled_norm
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Prepared
from shrinktest.statistics.sums import ROWS, PairSums
from shrinktest.units import as_scale

_DRAWN = 2000  # rows from which bandwidths are found, of which all pairs are looked at
_COARSE = 0.02  # of the spread of features, which is the most that may be rounded
_WITHOUT = "the pairs were read in batches, and sums of products of their features are kept, but no rows: "


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependenceInBatches(Independence):
    """Two variables in batches are independent, so that y may be shifted within blocks of pairs."""

    pairs: Pairs
    survey: PairSurvey  # what the first reading found
    shifting: Blocks  # of the pairs
    crew: Crew  # who reads
    store: Store | None = None  # what has been read before
    meetings: tuple[Meeting, ...] = ()  # the kernels of every statistic, once it is known what is to be read,
    # and the sums of products of their features once that was read
    multiplied: Multiplied | None = field(default=None, repr=False)
    # how the columns of tables became numbers, which are not in their units yet
    encodings: tuple[Encoding | None, ...] = (None, None)

    @classmethod
    def in_batches(
        cls,
        X: Any,
        Y: Any,
        *,
        scale: Any,
        nan_policy: str,
        column_types: Any = None,
        drawn: int,
        rng: np.random.Generator,
        crew: Crew,
        store: Store | None,
    ) -> Self:
        """Read the pairs once; raises TypeError, ValueError or FileNotFoundError for what cannot be tested.

        Bandwidths and landmarks are made of samples of ``drawn`` rows at least, which ``rng`` draws, as it does the
        keys of blocks.  ``crew`` reads, and ``store`` has what has been read before.
        """
        if isinstance(scale, str):  # before any row is read
            checked_units(scale)
        indicate = nan_policy == "indicator"
        types, called = checked_types(column_types), (XY[0], XY[1])
        pairs = Pairs.of(X, Y, called, omit=nan_policy == "omit", types=types, tables=indicate)
        pairs = pairs.encoded(crew, called, indicate=indicate, store=store)
        unasked, gaps = is_unasked(scale), [holes(one) for one in pairs.encodings]
        scales = [one for one, _ in scales_of(scale, pairs.names, XY)]
        wanted = [("sd" if n else None) if is_unasked(s) else s for s, n in zip(scales, pairs.names, strict=True)]
        units = [
            checked_units(one) if encoding is None else encoding.entries(one)
            for one, encoding in zip(wanted, pairs.encodings, strict=True)
        ]
        asked = [deviations_in(*one) for one in zip(units, gaps, strict=True)]
        survey = PairSurvey.of(pairs, max(_DRAWN, drawn), rng, crew, (asked[0], asked[1]), store)
        survey.require(2 * LENGTH, pairs.rows.name)
        pairs = pairs.filled(survey.fills)
        settled = [
            settled_units(units[k], gaps[k], survey.units(k), survey.sides[k].low == survey.sides[k].high)
            if asked[k]
            else as_scale(units[k], pairs.widths[k])
            for k in (0, 1)
        ]
        ends = slice(0, pairs.widths[0]), slice(pairs.widths[0], sum(pairs.widths))
        points = representative((pairs.rows,), [one.rows for one in survey.sides], ends, survey.counts, crew, store)
        variables = (Variable(points[k], XY[k], settled[k], None, not unasked) for k in (0, 1))
        shifting = Blocks.drawn(survey.size, rng)
        left = survey.omitted
        were = f"{counted(left, 'pair')} with missing values {'was' if left == 1 else 'were'} left out of "
        encodings = tuple(
            None
            if one is None or (one.plain and not one.named and not indicate)
            else one.knowing(seen.low == seen.high)
            for one, seen in zip(pairs.encodings, survey.sides, strict=True)
        )
        remarks = [*pairs.notes, *((f"{were}{left + survey.size}.",) if left else ())]
        remarks += said_of_fills([*gaps[0], *gaps[1]], len(survey.sides[0].rows), survey.size)
        for one, name, columns, seen in zip(encodings, called, pairs.names, survey.sides, strict=True):
            if one is not None:
                remarks += one.notes(name, unasked=unasked and one.named)
            elif columns is not None:
                remarks += of_numbers(columns, [np.vstack([seen.low, seen.high])], [name], unasked=unasked)
        return cls(
            variables=tuple(variables),
            sizes=(shifting.used,),
            remarks=tuple(dict.fromkeys(remarks)),
            encodings=encodings,
            pairs=pairs,
            survey=survey,
            shifting=shifting,
            crew=crew,
            store=store,
        )

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return GroupShifts(self.shifting.groups, LENGTH)

    def reading(self, plan: PairPlan) -> Self:
        """Read the pairs again: the same with sums of the products of all features of a plan."""
        ranked = [(k, one) for k in (0, 1) for one in plan.sides[k]]
        maps = [self._whole(k, one.features) for k, one in ranked]
        crew = self.crew.within(*plan.under_way())
        found, maps_used = products_of(self.pairs, self.shifting, maps, plan.meets, self.survey, crew, self.store)
        for (k, one), used in zip(ranked, maps_used, strict=True):
            self._require_fine(k, used, one.kernel)
        multiplied = Multiplied(self.shifting, found, maps_used, tuple(plan.meets))
        return replace(self, meetings=tuple(plan.meetings), multiplied=multiplied)

    def found_before(self, kernel: Kernel, variable: int = 0) -> Kernel:
        """The kernel with what it takes from the sample of a variable, found before the pairs were read again."""
        known = (one.kernels[variable] for one in self.meetings)
        return next(one.kernel for one in known if one.asked == kernel)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """The statistic from sums of products of features for every shift."""
        place, meeting = self._meeting(kernel)
        if meeting.lacking:
            raise MemoryError(meeting.lacking)
        assert self.multiplied is not None
        both, sums = meeting.kernels, self.multiplied.shifted(place)
        statistic: Any = scaled_norm(estimator, sums, sums.traces, sums.size, sums.n, form)  # type: ignore[arg-type]
        notes = (*dict.fromkeys(one.note for one in both if one.note), *self._said([one.route for one in both]))
        return Prepared(
            statistic=statistic,
            estimates=lambda: (),
            kernel=kernel,
            route=both[0].route,
            notes=notes,
            threads=False,
            cost=CostHint(seconds=1e-10 * sums.xy.size, rows=ROWS),
            features=(both[0].features, both[1].features),
        )

    def _meeting(self, kernel: tuple[Kernel, Kernel]) -> tuple[int, Meeting]:
        """The statistic of resolved kernels, and its place among those that were read."""
        place = 0
        for one in self.meetings:
            if one.kernels[0].kernel is kernel[0] and one.kernels[1].kernel is kernel[1]:
                return place, one
            place += not one.lacking
        raise LookupError(kernel)

    def _whole(self, side: int, features: FeatureMap) -> Whole:
        summands, sample = summands_of(features, self.pairs.widths[side]), self.survey.sides[side].rows
        return Whole.of(summands, sample, self.survey.probe(side), self.shifting.bits)

    def _require_fine(self, side: int, whole: Whole, kernel: Kernel) -> None:
        """Raise ValueError where rounding would hide how features differ, for some are much larger than others."""
        if whole.lost(self.variables[side].points) > _COARSE:
            raise ValueError(
                f"kernel_{'xy'[side]}: features of {kernel!r} of the farthest rows are so much larger than others that "
                f"whole numbers of {whole.bits} bits, which products of pairs are made of, hold not both; use a "
                "Gaussian or Laplacian kernel with gram='rff', whose features are bounded"
            )

    def _said(self, routes: Sequence[str]) -> tuple[str, ...]:
        """What a reader should know of the blocks, and of the samples."""
        blocks, left = self.shifting.count, self.survey.size - self.shifting.used
        out = f"; {counted(left, 'pair')} at the end left out" if left else ""
        said = [note("blocks-of-pairs", length=LENGTH, blocks=blocks, groups=self.shifting.groups, left=out)]
        drawn = len(self.variables[0].points)
        if drawn < self.survey.size and set(routes) != {"factor"}:
            said.append(note("random-sample", what="What the kernels take from the data", rows=drawn))
        return tuple(said)

    def serial_correlation(self) -> None:
        """Not looked for: y is shifted within blocks of successive pairs."""

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader should know of the data: units, and constant columns, of which all rows were asked."""
        said = list(self.remarks)
        sides = zip(self.variables, kernel, self.survey.sides, self.encodings, self.pairs.names, strict=True)
        for variable, one, seen, encoding, names in sides:
            if encoding is None and names is None and (constant := np.flatnonzero(seen.low == seen.high)).size:
                which = f"{variable.name}: columns {', '.join(map(str, constant))} have"
                said.append(note("no-weight", which=which, unit=""))
            if variable.scale is None and encoding is None:
                said += variable.notes(one)
            said += reach_notes(one, variable.points, variable.name)
        return tuple(said)

    def data(self) -> TestData:
        """Return what was tested, with the names of the columns."""
        return replace(super().data(), encodings=self.encodings, columns=self.pairs.names)

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws | None = None) -> TestContext:
        """What is left of the pairs, without their rows: sums over those as they were observed."""
        assert self.multiplied is not None
        place, _ = self._meeting(TestContext(self, members).leading.kernel)
        return OfPairs(replace(self, meetings=(), multiplied=None), members, self.multiplied.observed(place))

    def effect(self, context: TestContext, options: EffectOptions) -> DependenceEffect:
        """How dependent the variables are, with an interval from groups of blocks."""
        assert isinstance(context, OfPairs)
        estimate = dependence_in_groups(context.sums)
        return effect_of_dependence(context, options, estimate, variance_notes(estimate) or self._of_groups())

    def _of_groups(self) -> tuple[str, ...]:
        if (groups := self.shifting.groups) >= MEASURED:
            return (note("interval-groups", groups=groups),)
        few = {"where": "There are", "count": groups, "units": "groups of pairs", "least": MEASURED}
        return (note("few-units", what="the coverage of intervals", **few),)


@dataclass(frozen=True, eq=False)
class OfPairs(TestContext):
    """What is left of pairs in batches once they are tested: ``sums`` of products, of the leading statistic."""

    sums: PairSums

    @property
    def pooled(self) -> np.ndarray:
        """The rows, which are not kept."""
        raise ValueError(_WITHOUT + "there is no picture of them; take a random part of the pairs in memory")
