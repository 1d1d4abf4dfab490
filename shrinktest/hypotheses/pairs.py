"""Two variables in batches that are independent: y may be shifted within short blocks of successive pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from shrinktest._check import counted
from shrinktest.data.chunks import Store
from shrinktest.data.encoding import Encoding
from shrinktest.data.kinds import Found, Part, holes, notes_on_numbers, refuse_empty_columns
from shrinktest.data.observed import checked_types, is_unasked
from shrinktest.data.pairs import LENGTH, Blocks, Multiplying, Pairs, Products, products_of
from shrinktest.data.read import XY, scales_of
from shrinktest.data.sources import as_batches
from shrinktest.data.survey import SAMPLE, Survey, representative, survey
from shrinktest.effects.dependence import dependence_in_groups
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.context import EffectOptions, FittedStatistic, TestContext
from shrinktest.hypotheses.effects import MEASURED, effect_of_dependence, variance_notes
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.pair_features import PairPlan
from shrinktest.hypotheses.supported import checked_units
from shrinktest.hypotheses.units_of_rows import fill_notes, settled_units
from shrinktest.kernels import Kernel
from shrinktest.kernels.bandwidths import reach_notes
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations
from shrinktest.permutations.null import CostHint
from shrinktest.permutations.schemes import GroupShifts
from shrinktest.results.base import TestData
from shrinktest.results.effect import DependenceEffect
from shrinktest.statistics.hsic import scaled_norm
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Prepared
from shrinktest.statistics.sums import ROWS, PairSums, ShiftedSums


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependenceInBatches(Independence):
    """Two variables in batches are independent, so that y may be shifted within blocks of pairs."""

    pairs: Pairs
    survey: Survey  # what the first reading found, of x and of y
    blocks: Blocks
    workers: Any = 1  # who reads
    store: Store | None = None
    encodings: tuple[Encoding | None, ...] = (None, None)  # how tables became numbers, not in their units yet
    plan: PairPlan | None = None  # the kernels of every statistic, once it is known what is to be read
    products: Products | None = field(default=None, repr=False)  # of their features, once they are read

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
        workers: Any,
        store: Store | None,
    ) -> Self:
        """Read the pairs once.

        Bandwidths and landmarks come from ``drawn`` rows of each variable at least, which ``rng`` draws, as it does the
        keys of blocks.  Samples of x and of y have keys of their own: a sample of pairs would tell which belong
        together.
        """
        if isinstance(scale, str):  # before any row is read
            checked_units(scale)
        indicate, types, unasked = nan_policy == "indicator", checked_types(column_types), is_unasked(scale)
        x, y = as_batches((X, Y), XY)
        pairs = Pairs.read(x, y, (XY[0], XY[1]), omit=nan_policy == "omit", types=types, tables=indicate)
        found, parts = None, list(zip(XY, pairs.names, pairs.widths, strict=True))
        if pairs.rows.reader.types is not None:
            columns = [Part(name, names is not None, width) for name, names, width in parts]
            found = Found.of((pairs.rows,), workers, columns, indicate=indicate, store=store)
            pairs = _encoded(found)
        encodings: tuple[Encoding | None, ...] = (None, None) if found is None else found.encodings
        gaps = [holes(encoding) for encoding in encodings]
        wanted = [
            ("sd" if names else None) if is_unasked(entry) else entry
            for (entry, _), names in zip(scales_of(scale, pairs.names, XY), pairs.names, strict=True)
        ]
        units = [
            checked_units(entry) if encoding is None else encoding.entries(entry)
            for entry, encoding in zip(wanted, encodings, strict=True)
        ]
        groups = slice(0, pairs.widths[0]), slice(pairs.widths[0], sum(pairs.widths))
        seen = survey([pairs.rows], max(SAMPLE, drawn), rng, workers, groups=groups, holes=gaps, store=store)
        if seen.sizes[0] < 2 and seen.omitted[0]:
            refuse_empty_columns((pairs.rows,), workers, seen.sizes[0])
        if seen.sizes[0] < 2 * LENGTH:
            raise ValueError(
                f"{pairs.rows.name} have {counted(seen.sizes[0], 'pair')}; blocks of pairs take at least {2 * LENGTH}: "
                "give arrays in memory"
            )
        if found is not None:
            found = found.filled(seen.fills)
            pairs, encodings = _encoded(found), found.encodings
        settled = [settled_units(*each) for each in zip(units, gaps, seen.pooled, strict=True)]
        sample = [side.rows for side in seen.pooled]
        points = representative([pairs.rows], seen, groups, sample, workers, store)
        encodings = tuple(
            None
            if encoding is None or (encoding.plain and not encoding.named and not indicate)
            else encoding.knowing(side.constant)
            for encoding, side in zip(encodings, seen.pooled, strict=True)
        )
        left = seen.omitted[0]
        remarks = [] if found is None else list(found.notes)
        if left:
            which = f"{counted(left, 'pair')} with missing values {'was' if left == 1 else 'were'}"
            remarks.append(f"{which} left out of {left + seen.sizes[0]}.")
        remarks += fill_notes([*gaps[0], *gaps[1]], len(sample[0]), seen.sizes[0])
        for encoding, name, names, side in zip(encodings, XY, pairs.names, seen.pooled, strict=True):
            if encoding is not None:
                remarks += encoding.notes(name, unasked=unasked and encoding.named)
            elif names is not None:
                remarks += notes_on_numbers(names, [np.vstack([side.low, side.high])], [name], unasked=unasked)
        blocks = Blocks.drawn(seen.sizes[0], rng)
        variables = (Variable(points[k], XY[k], settled[k], None, not unasked) for k in (0, 1))
        return cls(
            variables=tuple(variables),
            sizes=(blocks.used,),
            remarks=tuple(dict.fromkeys(remarks)),
            encodings=encodings,
            pairs=pairs,
            survey=seen,
            blocks=blocks,
            workers=workers,
            store=store,
        )

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return GroupShifts(self.blocks.groups, LENGTH)

    def reading(self, plan: PairPlan) -> Self:
        """Read the pairs again, and sum the products of all features of a plan."""
        sides = [(k, each.features) for k in (0, 1) for each in plan.sides[k]]
        centres = [features.coordinates(self.survey.pooled[k].rows).mean(axis=0) for k, features in sides]
        multiplying = Multiplying(self.blocks, self.pairs.widths, [each for _, each in sides], centres, plan.meets)
        products = products_of(self.pairs, self.survey, multiplying, self.workers, plan.under_way(), self.store)
        return replace(self, plan=plan, products=products)

    def found_before(self, kernel: Kernel, variable: int = 0) -> Kernel:
        """Return the kernel with what it takes from the sample of a variable."""
        assert self.plan is not None
        known = (meeting.kernels[variable] for meeting in self.plan.meetings)
        return next(each.kernel for each in known if each.requested == kernel)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Prepare the statistic from sums of products of features for every shift."""
        assert self.plan is not None and self.products is not None
        place, meeting = self.plan.meeting(kernel)
        if meeting.lacking:
            raise MemoryError(meeting.lacking)
        (i, j), found, both = self.plan.meets[place], self.products, meeting.kernels
        own, total = ([entry.sum(axis=0) for entry in several] for several in (found.own, found.sums))
        sums = ShiftedSums(self.blocks.used, found.xy[place], own[i], own[j], total[i], total[j])
        statistic: Any = scaled_norm(estimator, sums, sums.traces, sums.size, sums.n, form)  # type: ignore[arg-type]
        notes = (*dict.fromkeys(each.note for each in both if each.note), *self._block_notes(both))
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

    def _block_notes(self, both: Sequence[Any]) -> tuple[str, ...]:
        left, drawn = self.survey.sizes[0] - self.blocks.used, len(self.variables[0].points)
        out = f"; {counted(left, 'pair')} at the end left out" if left else ""
        about = {"length": LENGTH, "blocks": self.blocks.count, "groups": self.blocks.groups}
        notes = [note("blocks-of-pairs", **about, left=out)]
        if drawn < self.survey.sizes[0] and any(each.route != "factor" for each in both):
            notes.append(note("random-sample", what="What the kernels take from the data", rows=drawn))
        return tuple(notes)

    def serial_correlation(self) -> None:
        """Return None: y is shifted within blocks of successive pairs."""

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on units, and on columns that are constant in all rows."""
        notes = list(self.remarks)
        sides = zip(self.variables, kernel, self.survey.pooled, self.encodings, self.pairs.names, strict=True)
        for variable, entry, side, encoding, names in sides:
            if encoding is None and names is None and (constant := np.flatnonzero(side.constant)).size:
                which = f"{variable.name}: columns {', '.join(map(str, constant))} have"
                notes.append(note("no-weight", which=which, unit=""))
            if variable.scale is None and encoding is None:
                notes += variable.notes(entry)
            notes += reach_notes(entry, variable.points, variable.name)
        return tuple(notes)

    def data(self) -> TestData:
        """Return what was tested, with the names of the columns."""
        return replace(super().data(), encodings=self.encodings, columns=self.pairs.names)

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws | None = None) -> TestContext:
        """Return sums over the pairs as they were observed, of the leading statistic."""
        assert self.plan is not None and self.products is not None
        place, _ = self.plan.meeting(TestContext(self, members).leading.kernel)
        (i, j), found = self.plan.meets[place], self.products
        xy = np.ascontiguousarray(found.xy[place][:, :, 0])
        sums = PairSums(self.blocks.pairs, xy, found.own[i], found.own[j], found.sums[i], found.sums[j])
        return PairContext(replace(self, plan=None, products=None), members, sums)

    def effect(self, context: TestContext, options: EffectOptions) -> DependenceEffect:
        """Return how dependent the variables are, with an interval from groups of blocks."""
        assert isinstance(context, PairContext)
        estimate = dependence_in_groups(context.sums)
        return effect_of_dependence(context, options, estimate, variance_notes(estimate) or self._group_notes())

    def _group_notes(self) -> tuple[str, ...]:
        if (groups := self.blocks.groups) >= MEASURED:
            return (note("interval-groups", groups=groups),)
        few = {"where": "There are", "count": groups, "units": "groups of pairs", "least": MEASURED}
        return (note("few-units", what="the coverage of intervals", **few),)


@dataclass(frozen=True, eq=False)
class PairContext(TestContext):
    """Sums of products of features of pairs in batches, of the leading statistic, kept for effects."""

    sums: PairSums

    @property
    def pooled(self) -> np.ndarray:
        """Raise ValueError: the rows are not kept."""
        raise ValueError("pairs in batches keep sums of products, and no rows; take a random part in memory")


def _encoded(found: Found) -> Pairs:
    """Return pairs of tables as pairs of numbers."""
    p, q = (len(encoding.features) for encoding in found.encodings)
    return Pairs(found.rows[0], (p, q), tuple(encoding.columns for encoding in found.encodings))
