"""Samples in batches that have one distribution: their bins may change samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from shrinktest._check import counted
from shrinktest.batches.bins import Binning
from shrinktest.batches.columns import Found, holes, of_numbers
from shrinktest.batches.crew import Crew
from shrinktest.batches.rows import Rows
from shrinktest.batches.source import as_batches
from shrinktest.batches.store import Store
from shrinktest.batches.strata import representative
from shrinktest.batches.survey import Survey
from shrinktest.data.encoding import Encoding
from shrinktest.data.observed import checked_types, is_unasked
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
from shrinktest.hypotheses.kept_bins import WITHOUT, BinMember, BinnedEmbedding, BinnedPrepared, OfBins
from shrinktest.hypotheses.supported import checked_policy, checked_units
from shrinktest.hypotheses.units_of_rows import deviations_in, said_of_fills, settled_units
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
from shrinktest.units import as_scale, far_apart

_DRAWN = 2000  # rows from which bandwidths are found, of which all pairs are looked at


@dataclass(frozen=True, eq=False, kw_only=True)
class Binned(EqualDistributions):
    """All samples have one distribution, so that bins of their rows may change samples."""

    rows: tuple[Rows, ...]  # the samples
    survey: Survey  # what their first reading found
    binning: Binning  # their bins; ``sizes`` counts these
    encoding: Encoding | None = None  # how the columns of tables became numbers, which are not in their units yet
    features: tuple[BinFeatures, ...] = ()  # of every kernel of the test, once it is known what is to be read,
    # and mean features (M, rank) of bins once that was read
    means: Sequence[np.ndarray] = field(default=(), repr=False)

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
        crew: Crew | None = None,
        store: Store | None = None,
        **options: Any,
    ) -> Self:
        """Read the samples once; raises TypeError, ValueError or FileNotFoundError for what cannot be tested.

        Bandwidths and landmarks are made of a sample of ``drawn`` rows at least, which ``rng`` draws, as it does the
        keys of bins.  ``crew`` reads, and ``store`` has what has been read before.
        """
        checked_policy(nan_policy)
        types = checked_types(column_types)
        if isinstance(scale, str):  # before any row is read
            checked_units(scale)
        crew, batches = crew or Crew(), as_batches(samples, names)
        known = [one.names(name) for one, name in zip(batches, names, strict=True)]
        first = next((one for one in known if one is not None), None)
        for given, one, name in zip(batches, known, names, strict=True):
            if one is not None and first is not None and set(one) != set(first):
                raise ValueError(
                    f"{given.called(name)} has the columns {', '.join(one)}, and another sample {', '.join(first)}; "
                    "name those that all have by Batches(..., columns=[...])"
                )
        indicate = nan_policy == "indicator"
        mixed = (
            bool(types)
            or indicate
            or any(one.mixed(name, has) for one, name, has in zip(batches, names, known, strict=True))
        )
        rows = tuple(
            Rows(one, name, None if has is None else first, nan_policy == "omit", types if mixed else None)
            for one, name, has in zip(batches, names, known, strict=True)
        )
        name = " and ".join(names) if cls.kind is TWO_SAMPLE else "the samples"
        found = Found.of(rows, crew, indicate=indicate, store=store) if mixed else None
        encoding = None if found is None else found.encodings[0]
        wanted = "sd" if is_unasked(scale) and first else None if is_unasked(scale) else scale  # as of tables
        units = checked_units(wanted) if encoding is None else encoding.entries(wanted)
        gaps = holes(encoding)
        asked = deviations_in(units, gaps)
        how: dict[str, Any] = {"units": asked, "holes": gaps, "store": store}
        survey = Survey.of(rows if found is None else found.rows, max(_DRAWN, drawn), rng, crew, **how)
        if found is not None:
            found = found.filled([survey.fills])
            rows, encoding = found.rows, found.encodings[0]
        seen = {"counts": survey.counts, "probe": survey.probe, "checks": survey.checks}
        reading = {**seen, "crew": crew, "store": store}
        binning = Binning.drawn(survey.sizes, batches[0].bins, rng, **reading)
        settled: Any = as_scale(units, len(survey.units))
        if asked:
            settled = settled_units(units, gaps, survey.units, survey.constant)
        remarks = (*_omitted(rows, survey), *said_of_fills(gaps, len(survey.sample), sum(survey.sizes)))
        if found is not None and encoding is not None:
            encoding = encoding.knowing(survey.constant)
            remarks = (*found.notes, *remarks, *encoding.notes(name, unasked=is_unasked(scale) and first is not None))
        elif first is not None:
            remarks = (*remarks, *of_numbers(first, survey.ranges, names, unasked=is_unasked(scale)))
        return cls(
            variables=(Variable(survey.sample, name, settled, None, not is_unasked(scale)),),
            sizes=binning.bins,
            rows=rows,
            survey=survey,
            binning=binning,
            remarks=remarks,
            encoding=encoding,
            untested={} if found is None else found.left_out,
            listwise=sum(survey.omitted) if len(first or survey.constant) > 1 else 0,
            **options,
        )

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Rows of the samples that are in bins."""
        return self.binning.used

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Their names, where they have some."""
        if self.encoding is not None:
            return self.encoding.columns
        return next((one.names for one in self.rows if one.names), None)

    @property
    def groups(self) -> tuple[slice, ...]:
        """For every column its columns of numbers."""
        if self.encoding is not None:
            return self.encoding.groups
        return tuple(slice(j, j + 1) for j in range(self.survey.sample.shape[1]))

    def representative(self, groups: Sequence[slice]) -> list[np.ndarray]:
        """Rows of groups of columns that stand for those of all samples; see :func:`representative`."""
        sample = [np.ascontiguousarray(self.survey.sample[:, group]) for group in groups]
        return representative(self.rows, sample, groups, self.survey.counts, self.binning.crew, self.binning.store)

    def with_rare_rows(self) -> Self:
        """The same whose kernels take what they need from rows that stand for all, rare ones included."""
        (points,) = self.representative([slice(0, self.survey.sample.shape[1])])
        return replace(self, variables=(replace(self.variables[0], points=points),))

    def reading(
        self, kernels: Sequence[Kernel], plan: Plan, columns: tuple[int, ...] | None = None, *, spare: bool
    ) -> Self:
        """The same with the features of its kernels in a plan of what is to be read; see :meth:`Plan.add`."""
        return replace(self, features=plan.add(kernels, self.variables[0], columns, spare=spare))

    def bin_means(self, plan: Plan) -> list[np.ndarray]:
        """Read the samples again: mean features (M, rank) of their bins, for every map of the plan."""
        return self.binning.means(self.rows, plan.maps, plan.memory)

    def found_before(self, kernel: Kernel, variable: int = 0) -> Kernel:
        """The kernel with what it takes from the sample of rows, which was found before they were read again."""
        return next(one.kernel for one in self.features if one.asked == kernel)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Fit the estimator to the mean features of bins."""
        kept = next(one for one in self.features if one.kernel is kernel)
        if kept.lacking:
            raise MemoryError(kept.lacking)
        means = kept.of(self.means)
        inner = KernelCache(replace(cache.limits, gram="factor", rank=None))
        prepared = prepare(
            estimator, Linear(), means, self.contrast, form=form, tuning=self.tuning(estimator), cache=inner,
            workers=workers,
        )  # fmt: skip
        return BinnedPrepared(
            statistic=prepared.statistic,
            estimates=lambda: self.embeddings(prepared.estimates(), kept.features),
            kernel=kernel,
            route=kept.route,
            notes=(*prepared.notes, *kept.notes, *self._said(kept.kernel, kept.route)),
            threads=prepared.threads,
            cost=prepared.cost,
            features=(kept.features,),
            means=means,
        )

    def embeddings(self, estimates: Sequence[MeanEmbedding], features: FeatureMap) -> tuple[MeanEmbedding, ...]:
        """Estimates, one for each sample, that were made of features, as functions of rows."""
        width = self.survey.sample.shape[1]
        names = self.columns if self.encoding is None else None  # it reads tables, and then there are numbers
        return tuple(
            BinnedEmbedding(one.points, one.weights, one.kernel, one.shrinkage, None, features, width, rows, names)
            for one, rows in zip(estimates, self.binning.used, strict=True)
        )

    def _said(self, kernel: Kernel, route: str) -> tuple[str, ...]:
        """What a reader should know of the bins, and of the sample."""
        said = [*self._permuted()]
        takes = route != "factor" or isinstance(kernel, PooledKernel | Rescaled)
        if len(self.survey.sample) < sum(self.survey.sizes) and takes:
            said.append(note("random-sample", what="What the kernel takes from the data", rows=len(self.survey.sample)))
        if route in ("rff", "nystrom"):
            said.append(note("bins-cost"))
        return tuple(said)

    def _permuted(self) -> tuple[str, ...]:
        """What was permuted, and which rows were not."""
        bins, left = self.sizes, [n - m for n, m in zip(self.survey.sizes, self.binning.used, strict=True)]
        out = f"; {' + '.join(map(str, left))} rows, which fill no bin, are left out" if any(left) else ""
        rows = counted(self.binning.size, "row")
        return (note("bins", bins=" + ".join(map(str, bins)), rows=rows, left=out),)

    def serial_correlation(self) -> None:
        """Not looked for: bins are permuted, whose rows are drawn at random."""

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader should know of the data: units, and constant columns, of which all rows were asked."""
        variable = self.variables[0]
        constant = np.flatnonzero(self.survey.constant)
        units = (
            (note("no-weight", which=f"{variable.name}: columns {', '.join(map(str, constant))} have", unit=""),)
            if constant.size and self.encoding is None and self.columns is None  # of names it was said before
            else ()
        )
        far = self.encoding is None and not variable.said and in_one_unit(kernel) and variable.scale is None
        apart = far_apart(variable.points, variable.name) if far else ()
        return (*self.remarks, *units, *apart, *reach_notes(kernel, variable.points, variable.name))

    def data(self) -> TestData:
        """Return what was tested, with the names of the columns."""
        return replace(super().data(), encodings=(self.encoding,), columns=(self.columns,))

    def member(self, estimator: MeanEstimator, prepared: Prepared, form: str, weight: float = 1.0) -> FittedStatistic:
        """The statistic, with the mean features of bins in place of rows."""
        assert isinstance(prepared, BinnedPrepared)
        return BinMember(**vars(super().member(estimator, prepared, form, weight)), means=prepared.means)

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws | None = None) -> TestContext:
        """What is left of the samples, without their rows."""
        return OfBins(self, members)

    def pair_effects(
        self,
        context: TestContext,
        which: Sequence[tuple[int, int]],
        names: Sequence[tuple[str, str]],
        options: EffectOptions,
    ) -> list[TwoSampleEffect]:
        """The distances of pairs of samples; their units are bins, which are of equal size."""
        assert isinstance(context, OfBins)
        if options.columns:
            raise ValueError("columns=True: " + WITHOUT + "there are no contributions of columns")
        if options.folds is not None:
            raise ValueError("folds=: " + WITHOUT + "there is no witness function of rows; leave it out")
        if not never_negative(context.leading.kernel):
            raise ValueError(
                f"the distance by {context.leading.kernel!r} is relative to the variance of rows, and "
                + WITHOUT
                + "use a Gaussian or Laplacian kernel, or the effect of a random part of the data"
            )
        features, effects = InnerProducts(context.means, True), []
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


def _omitted(rows: Sequence[Rows], survey: Survey) -> tuple[str, ...]:
    """Notes on rows with missing values."""
    return tuple(
        note("missing-left-out", rows=f"{left} of {counted(left + size, 'row')} of {one.name}", where="")
        for one, left, size in zip(rows, survey.omitted, survey.sizes, strict=True)
        if left
    )
