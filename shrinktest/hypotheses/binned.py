"""Samples in batches that have one distribution: the test of samples in memory, on mean features of bins of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from shrinktest._check import Array, complete_points, counted
from shrinktest.data.bins import Bins
from shrinktest.data.chunks import Store
from shrinktest.data.encoding import Encoding
from shrinktest.data.kinds import Found, holes, notes_on_numbers, refuse_empty_columns
from shrinktest.data.observed import checked_types, is_unasked
from shrinktest.data.rows import Rows
from shrinktest.data.sources import as_batches
from shrinktest.data.survey import SAMPLE, Survey, representative, require_rows, survey
from shrinktest.effects.distance import NORMS, distance
from shrinktest.effects.inner_products import InnerProducts, never_negative
from shrinktest.effects.separability import Area
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Variable, in_one_unit
from shrinktest.hypotheses.bin_features import BinFeatures, Plan
from shrinktest.hypotheses.context import EffectOptions, FittedStatistic, TestContext
from shrinktest.hypotheses.effects import MEASURED, leading_notes, pair_of_samples, two_sample_effect
from shrinktest.hypotheses.equality import EqualDistributions, TwoEqualDistributions
from shrinktest.hypotheses.supported import checked_policy, checked_units
from shrinktest.hypotheses.units_of_rows import fill_notes, settled_units
from shrinktest.kernels import Kernel, Linear, Rescaled
from shrinktest.kernels.bandwidths import reach_notes
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.notes import note
from shrinktest.permutations.base import Draws
from shrinktest.permutations.design import PermutationDesign
from shrinktest.results.base import TestData
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.info import TWO_SAMPLE
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.mmd import prepare
from shrinktest.statistics.statistic import Prepared
from shrinktest.units import far_apart

_WITHOUT = "samples in batches keep mean features of bins, and no rows: "


@dataclass(frozen=True, eq=False, kw_only=True)
class Binned(EqualDistributions):
    """All samples have one distribution, so that bins of their rows may change samples."""

    rows: tuple[Rows, ...]  # the samples
    survey: Survey  # what their first reading found
    bins: Bins  # ``sizes`` counts these
    workers: Any = 1  # who reads
    store: Store | None = None
    encoding: Encoding | None = None  # how columns of tables became numbers, which are not in their units yet
    features: tuple[BinFeatures, ...] = ()  # of every kernel of the test, once it is known what is to be read
    means: Sequence[np.ndarray] = field(default=(), repr=False)  # mean features (M, rank) of bins, once they are read

    @classmethod
    def in_batches(
        cls,
        samples: Sequence[Any],
        names: Sequence[str],
        *,
        scale: Any,
        nan_policy: str,
        column_types: Any = None,
        drawn: int,
        rng: np.random.Generator,
        workers: Any = 1,
        store: Store | None = None,
        **options: Any,
    ) -> Self:
        """Read the samples once.

        Bandwidths and landmarks come from ``drawn`` rows at least, which ``rng`` draws, as it does the keys of bins.
        """
        checked_policy(nan_policy)
        types, indicate = checked_types(column_types), nan_policy == "indicator"
        if isinstance(scale, str):  # before any row is read
            checked_units(scale)
        rows, first, mixed = _read(as_batches(samples, names), names, nan_policy == "omit", types, indicate=indicate)
        found = Found.of(rows, workers, indicate=indicate, store=store) if mixed else None
        encoding = None if found is None else found.encodings[0]
        unasked = is_unasked(scale)
        wanted = ("sd" if first else None) if unasked else scale
        units = checked_units(wanted) if encoding is None else encoding.entries(wanted)
        gaps = holes(encoding)
        read = rows if found is None else found.rows
        seen = survey(read, max(SAMPLE, drawn), rng, workers, holes=(gaps,), store=store)
        if min(seen.sizes) < 2 and any(seen.omitted):
            refuse_empty_columns(rows, workers, min(seen.sizes))
        require_rows(rows, seen)
        if found is not None:
            found = found.filled(seen.fills)
            read, encoding = found.rows, found.encodings[0]
        pooled = seen.pooled[0]
        bins = Bins.drawn(seen.sizes, as_batches(samples, names)[0].bins, rng)
        settled = settled_units(units, gaps, pooled)
        name = " and ".join(names) if cls.kind is TWO_SAMPLE else "the samples"
        remarks = (*_omitted(rows, seen), *fill_notes(gaps, len(pooled.rows), sum(seen.sizes)))
        if found is not None and encoding is not None:
            encoding = encoding.knowing(pooled.constant)
            remarks = (*found.notes, *remarks, *encoding.notes(name, unasked=unasked and first is not None))
        elif first is not None:
            ranges = [np.vstack([entry.low, entry.high]) for (entry,) in seen.seen if entry is not None]
            remarks = (*remarks, *notes_on_numbers(first, ranges, names, unasked=unasked))
        hypothesis = cls(
            variables=(Variable(pooled.rows, name, settled, None, not unasked),),
            sizes=bins.counts,
            rows=tuple(read),
            survey=seen,
            bins=bins,
            workers=workers,
            store=store,
            remarks=remarks,
            encoding=encoding,
            untested={} if found is None else found.left_out,
            listwise=sum(seen.omitted) if len(first or pooled.low) > 1 else 0,
            **options,
        )
        return hypothesis

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Rows of the samples that are in bins."""
        return self.bins.used

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have some."""
        return self.rows[0].names if self.encoding is None else self.encoding.columns

    @property
    def groups(self) -> tuple[slice, ...]:
        """For every column its columns of numbers."""
        if self.encoding is not None:
            return self.encoding.groups
        return tuple(slice(j, j + 1) for j in range(self.pooled.shape[1]))

    def representative(self, groups: Sequence[slice]) -> list[np.ndarray]:
        """Return rows of groups of columns that represent all samples."""
        sample = [np.ascontiguousarray(self.survey.pooled[0].rows[:, group]) for group in groups]
        return representative(self.rows, self.survey, groups, sample, self.workers, self.store)

    def with_rare_rows(self) -> Self:
        """Return the hypothesis with kernels that take what they need from rows that stand for all, rare ones too."""
        (points,) = self.representative([slice(0, self.pooled.shape[1])])
        return replace(self, variables=(replace(self.variables[0], points=points),))

    def reading(
        self, kernels: Sequence[Kernel], plan: Plan, columns: tuple[int, ...] | None = None, *, spare: bool
    ) -> Self:
        """Put the features of kernels into a plan of what is to be read; see :meth:`Plan.add`."""
        return replace(self, features=plan.add(kernels, self.variables[0], columns, spare=spare))

    def bin_means(self, plan: Plan) -> list[np.ndarray]:
        """Read the samples again; return mean features (M, rank) of their bins, for every map of the plan."""
        return self.bins.means(self.rows, self.survey, plan.maps, self.workers, plan.memory, self.store)

    def found_before(self, kernel: Kernel, variable: int = 0) -> Kernel:
        """Return the kernel with what it takes from the sample of rows."""
        return next(each.kernel for each in self.features if each.requested == kernel)

    def features_of(self, kernel: Kernel) -> tuple[BinFeatures, np.ndarray]:
        """Return the features of a resolved kernel, and their means (M, rank) in bins."""
        features = next(each for each in self.features if each.kernel is kernel)
        if features.lacking:
            raise MemoryError(features.lacking)
        return features, features.of(self.means)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Fit the estimator to the mean features of bins, by their inner products."""
        features, means = self.features_of(kernel)
        inner = KernelCache(replace(cache.limits, gram="factor", rank=None))
        prepared = prepare(
            estimator, Linear(), means, self.contrast, form=form, tuning=self.tuning(estimator), cache=inner,
            workers=workers,
        )  # fmt: skip
        notes = (*prepared.notes, *features.notes, *self._bin_notes(features.kernel, features.route))
        return replace(
            prepared,
            estimates=lambda: self.embeddings(prepared.estimates(), features.features),
            kernel=kernel,
            route=features.route,
            notes=notes,
            features=(features.features,),
        )

    def embeddings(self, estimates: Sequence[MeanEmbedding], features: FeatureMap) -> tuple[MeanEmbedding, ...]:
        """Return estimates, one for each sample, as functions of rows."""
        width = self.pooled.shape[1]
        names = self.columns if self.encoding is None else None  # it reads tables, and then these are numbers
        return tuple(
            BinnedEmbedding(each.points, each.weights, each.kernel, each.shrinkage, None, features, width, rows, names)
            for each, rows in zip(estimates, self.bins.used, strict=True)
        )

    def _bin_notes(self, kernel: Kernel, route: str) -> tuple[str, ...]:
        left = [n - m for n, m in zip(self.survey.sizes, self.bins.used, strict=True)]
        out = f"; {' + '.join(map(str, left))} rows, which fill no bin, are left out" if any(left) else ""
        rows, drawn = counted(self.bins.size, "row"), len(self.survey.pooled[0].rows)
        notes = [note("bins", bins=" + ".join(map(str, self.sizes)), rows=rows, left=out)]
        if drawn < sum(self.survey.sizes) and (route != "factor" or isinstance(kernel, PooledKernel | Rescaled)):
            notes.append(note("random-sample", what="What the kernel takes from the data", rows=drawn))
        if route in ("rff", "nystrom"):
            notes.append(note("bins-cost"))
        return tuple(notes)

    def serial_correlation(self) -> None:
        """Return None: bins are permuted, whose rows are drawn at random."""

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on units, and on columns that are constant in all rows."""
        variable = self.variables[0]
        constant = np.flatnonzero(self.survey.pooled[0].constant)
        notes = list(self.remarks)
        if constant.size and self.encoding is None and self.columns is None:  # names have notes of their own
            which = f"{variable.name}: columns {', '.join(map(str, constant))} have"
            notes.append(note("no-weight", which=which, unit=""))
        if self.encoding is None and not variable.units_chosen and in_one_unit(kernel) and variable.scale is None:
            notes += far_apart(variable.points, variable.name)
        return (*notes, *reach_notes(kernel, variable.points, variable.name))

    def data(self) -> TestData:
        """Return what was tested, with the names of the columns."""
        return replace(super().data(), encodings=(self.encoding,), columns=(self.columns,))

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws | None = None) -> TestContext:
        """Return what is left of the samples, without their rows."""
        return BinContext(self, members)

    def pair_effects(
        self,
        context: TestContext,
        which: Sequence[tuple[int, int]],
        names: Sequence[tuple[str, str]],
        options: EffectOptions,
    ) -> list[TwoSampleEffect]:
        """Return the distances of pairs of samples; their units are bins, which are of equal size."""
        kernel = context.leading.kernel
        if options.columns or options.folds is not None:
            raise ValueError(f"{'columns=True' if options.columns else 'folds='}: {_WITHOUT}leave it out")
        if not never_negative(kernel):
            raise ValueError(
                f"the distance by {kernel!r} needs the variance of rows, and {_WITHOUT}use a Gaussian kernel"
            )
        features, effects = InnerProducts(self.features_of(kernel)[1], True), []
        for pair, labels in zip(which, names, strict=True):
            rows, bins = pair_of_samples(self.sizes, pair, PermutationDesign())
            notes = [note("no-separability")]
            if min(bins.sizes) < MEASURED:
                few = {"where": "A sample has", "count": min(bins.sizes), "units": "bins", "least": MEASURED}
                notes.append(note("few-units", what="the coverage of intervals", **few))
            notes += leading_notes(context, "The distance is")
            area, estimate = Area(np.nan, np.nan, bins.sizes, 1.0), distance(features.taken(rows), bins, NORMS)
            effects.append(two_sample_effect(area, estimate, NORMS, labels, options, notes))
        return effects


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoBinned(Binned, TwoEqualDistributions):
    """Two samples in batches have one distribution."""


@dataclass(frozen=True, eq=False)
class BinnedEmbedding(MeanEmbedding):
    """The estimated kernel mean of a sample in batches, whose points are the mean features of bins.

    ``kernel`` is the inner product of these features.
    """

    features: FeatureMap | None = None  # of the rows
    columns: int = 0
    rows: int = 0  # that are in bins
    names: tuple[str, ...] | None = None  # of the columns

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows

    def read(self, x: object, name: str) -> Array:
        """Return rows (m, d) at which the estimate can be evaluated; ``name`` is what messages call them."""
        points, names, _ = complete_points(x, name)
        if names and self.names and names != self.names:
            raise ValueError(f"{name} has the columns {', '.join(names)}; give {', '.join(self.names)}")
        if points.shape[1] != self.columns:
            raise ValueError(f"{name} has {counted(points.shape[1], 'column')}, the samples have {self.columns}")
        return points

    def embedding(self, x: object) -> Array:
        """Evaluate the estimate at the rows of ``x`` (m, d), shape (m,)."""
        assert self.features is not None
        return np.asarray(self.features.coordinates(self.read(x, "x")) @ (self.weights @ self.points))


@dataclass(frozen=True, eq=False)
class BinContext(TestContext):
    """Mean features of bins, kept for effects."""

    @property
    def pooled(self) -> np.ndarray:
        """Raise ValueError: the rows are not kept."""
        raise ValueError(_WITHOUT + "use result.witness(points) in place of a picture")

    def band(self, *given: Any, **options: Any) -> Any:
        """Raise ValueError: a band takes rows."""
        raise ValueError(_WITHOUT + "there is no band; result.witness(points) has the function itself")

    def contributions(self, **options: Any) -> Any:
        """Raise ValueError: contributions of columns take rows."""
        raise ValueError(_WITHOUT + "test some columns by themselves (columns=)")


def _read(
    batches: Sequence[Any], names: Sequence[str], omit: bool, types: dict[str, Any], *, indicate: bool
) -> tuple[tuple[Rows, ...], tuple[str, ...] | None, bool]:
    """Return the rows of all samples, names of their columns, and whether these may hold other than numbers."""
    known = [each.names(name) for each, name in zip(batches, names, strict=True)]
    first = next((each for each in known if each is not None), None)
    for given, each, name in zip(batches, known, names, strict=True):
        if each is not None and first is not None and set(each) != set(first):
            raise ValueError(
                f"{given.called(name)} has the columns {', '.join(each)}, and another sample {', '.join(first)}; "
                "choose common ones: Batches(..., columns=[...])"
            )
    both = list(zip(batches, names, known, strict=True))
    mixed = bool(types) or indicate or any(given.mixed(name, each) for given, name, each in both)
    rows = tuple(
        Rows.of(given, name, None if each is None else first, omit, types if mixed else None)
        for given, name, each in both
    )
    return rows, first, mixed


def _omitted(rows: Sequence[Rows], found: Survey) -> tuple[str, ...]:
    return tuple(
        note("missing-left-out", rows=f"{left} of {counted(left + size, 'row')} of {each.name}", where="")
        for each, left, size in zip(rows, found.omitted, found.sizes, strict=True)
        if left
    )
