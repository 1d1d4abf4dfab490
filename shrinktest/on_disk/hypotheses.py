"""Hypotheses for rows on disk: in-memory tests on binned feature means or product sums.

The sums are sums of products of features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import counted
from shrinktest.data.on_disk.bins import Bins
from shrinktest.data.on_disk.on_disk import OnDisk
from shrinktest.data.on_disk.pairs import LENGTH, Blocks, Products
from shrinktest.data.variable import Variable
from shrinktest.effects.dependence import dependence_in_groups
from shrinktest.effects.distance import NORMS, distance
from shrinktest.effects.separability import Area
from shrinktest.equal_distributions import EqualDistributions, TwoEqualDistributions
from shrinktest.estimators import MeanEstimator
from shrinktest.fitted import EffectOptions, FittedStatistic, TestContext
from shrinktest.hypothesis import Hypothesis, resolve
from shrinktest.independent_variables import Independence
from shrinktest.kernels import Kernel, Linear, Rescaled
from shrinktest.kernels.bandwidths import reach_notes
from shrinktest.kernels.feature_maps import OfColumns, has_spectrum, no_spectrum
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.measured_effect import (
    MEASURED,
    effect_of_dependence,
    leading_notes,
    pair_of_samples,
    two_sample_effect,
    variance_notes,
)
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations
from shrinktest.permutations.null import CostHint
from shrinktest.permutations.schemes import GroupShifts
from shrinktest.results.effect import DependenceEffect, TwoSampleEffect
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.mmd import prepare
from shrinktest.statistics.statistic import Computation, Form, Prepared
from shrinktest.statistics.sums import ROWS, PairSums, ShiftedSums


@dataclass(frozen=True, eq=False)
class RowFeatures:
    """A kernel of one variable by features of its rows."""

    # as it was given, and with what it takes from the random rows
    requested: Kernel
    kernel: Kernel
    route: str
    notes: tuple[str, ...]
    features: FeatureMap
    rank: int

    @classmethod
    def of(
        cls,
        requested: Kernel,
        variable: Variable,
        columns: slice | None,
        *,
        gram: str,
        rank: int,
        products: int,
        rng: Callable[[], np.random.Generator],
    ) -> RowFeatures:
        """Find the features of a kernel of a variable, which are some ``columns`` of the rows."""
        kernel = resolve(requested, variable, rng())
        finite = isinstance(plain(kernel), FeatureMap) and not isinstance(
            plain(requested), FeatureMap
        )
        route = "factor" if finite else checked_route(requested, gram)
        cache = KernelCache(route, None if route == "factor" else rank, math.inf, rng())
        chosen = cache(kernel, variable.points, Request(products=products))
        features = chosen.kernel
        notes = (chosen.note,) if chosen.note else ()
        assert isinstance(features, FeatureMap)
        features = features if columns is None else OfColumns(features, columns)
        return cls(requested, kernel, chosen.route, notes, features, chosen.columns or 1)


def plain(kernel: Kernel) -> Kernel:
    """Return the kernel without what comes from the pooled sample.

    That is units of the columns, means, and covariances.
    """
    while isinstance(kernel, PooledKernel | Rescaled):
        kernel = kernel.kernel
    return kernel


def checked_route(kernel: Kernel, gram: str) -> str:
    """Return the route to features of rows; raise ValueError if there is none of this name."""
    if gram == "rff" and not has_spectrum(plain(kernel)):
        raise no_spectrum(kernel)
    if gram in ("rff", "nystrom"):
        return gram
    finite = isinstance(plain(kernel), FeatureMap)
    if gram in ("auto", "factor") and finite:
        return "factor"
    remedy = (
        "gram='auto'" if finite else "gram='rff' (Gaussian and Laplacian kernels) or gram='nystrom'"
    )
    raise ValueError(
        f"gram={gram!r} with {kernel!r} is not available for data in batches; use {remedy}"
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class OnDiskHypothesis(Hypothesis):
    """Hypothesis about rows on disk, of whose variables random rows are known."""

    resolved_before: ClassVar[bool] = True

    source: OnDisk
    features: Sequence[tuple[RowFeatures, ...]] = ()  # of every statistic, of each variable
    lacking: str = ""  # what a MemoryError says of other statistics

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the statistics that kernels give: others take all rows."""
        return tuple(name for name in super().forms if self.kind.form(name).by_kernel)

    def serial_correlation(self) -> None:
        """Return None: rows are not permuted one by one."""

    def resolve(self, v: int, kernel: Kernel, rng: np.random.Generator) -> Kernel:
        """Return the kernel with what it takes from the random rows."""
        for features in self.features:
            if features[v].requested == kernel:
                return features[v].kernel
        return super().resolve(v, kernel, rng)

    def place(self, kernel: Any) -> int:
        """Return which statistic has these resolved kernels.

        Raises MemoryError for one that did not fit.
        """
        kernels = kernel if isinstance(kernel, tuple) else (kernel,)
        for i, features in enumerate(self.features):
            if all(each.kernel is entry for each, entry in zip(features, kernels, strict=True)):
                return i
        raise MemoryError(self.lacking)

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on units and bandwidths."""
        kernels = kernel if isinstance(kernel, tuple) else (kernel,)
        pairs = list(zip(self.variables, kernels, strict=True))
        units = [text for each, entry in pairs if each.scale is None for text in each.notes(entry)]
        reach = [
            text for each, entry in pairs for text in reach_notes(entry, each.points, each.name)
        ]
        return (*self.remarks, *units, *reach)

    def feature_notes(self, features: Sequence[RowFeatures], how: str) -> tuple[str, ...]:
        """Return notes on the features of a statistic, what is permuted, and the random rows."""
        drawn = len(self.source.survey.pooled[0].rows)
        size = sum(self.source.survey.sizes)
        taken = any(
            each.route != "factor" or isinstance(each.kernel, PooledKernel | Rescaled)
            for each in features
        )
        sample = [note("random-sample", what="Bandwidths and landmarks were", rows=drawn)]
        texts = [text for each in features for text in each.notes]
        return (*dict.fromkeys(texts), how, *(sample if taken and drawn < size else ()))


@dataclass(frozen=True, eq=False)
class SumsContext(TestContext):
    """Sums over rows, kept for effects."""

    sums: PairSums | None = None  # of pairs

    @property
    def pooled(self) -> np.ndarray:
        """Raise ValueError: the rows are not kept."""
        raise ValueError(
            "this method needs the rows, but tests in batches keep only sums; use a random subset "
            "in "
            "memory"
        )

    def band(self, *given: Any, **options: Any) -> Any:
        """Raise ValueError: bands and contributions take rows."""
        return self.pooled

    contributions = band


@dataclass(frozen=True, eq=False, kw_only=True)
class Binned(OnDiskHypothesis, EqualDistributions):
    """All samples have one distribution, so that bins of their rows may change samples."""

    bins: Bins  # ``sizes`` counts these
    means: Sequence[np.ndarray] = field(
        default=(), repr=False
    )  # (M, rank), of the features of every statistic

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Rows of the samples that are in bins."""
        return self.bins.used

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Fit the estimator to the mean features of bins, by their inner products."""
        place = self.place(kernel)
        (features,), means, width = self.features[place], self.means[place], self.pooled.shape[1]
        inner = replace(cache, gram="factor", rank=None)
        prepared = prepare(
            estimator,
            Linear(),
            means,
            self.contrast,
            form=form,
            tuning=self.tuning(estimator),
            cache=inner,
        )
        left = [n - used for n, used in zip(self.source.survey.sizes, self.bins.used, strict=True)]
        out = (
            f"; {' + '.join(map(str, left))} rows, which fill no bin, are left out"
            if any(left)
            else ""
        )
        bins = " + ".join(map(str, self.sizes))
        rows = counted(self.bins.size, "row")
        notes = self.feature_notes([features], note("bins", bins=bins, rows=rows, left=out))
        costs = () if features.route == "factor" else (note("bins-cost"),)
        return replace(
            prepared,
            estimates=lambda: tuple(
                replace(estimate, features=features.features, columns=width)
                for estimate in prepared.estimates()
            ),
            kernel=kernel,
            notes=(*prepared.notes, *notes, *costs),
            computation=replace(
                prepared.computation, route=features.route, features=(features.features,)
            ),
        )

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws) -> TestContext:
        """Return what is left of the samples, without their rows."""
        return SumsContext(self, members)

    def pair_effects(
        self,
        context: TestContext,
        which: Sequence[tuple[int, int]],
        names: Sequence[tuple[str, str]],
        options: EffectOptions,
    ) -> list[TwoSampleEffect]:
        """Return the distances of pairs of samples.

        Their units are bins, which are of equal size.
        """
        kernel = context.leading.kernel
        if options.columns or options.folds is not None or not kernel.never_negative:
            raise ValueError(
                f"effect(columns=), effect(folds=) and {kernel!r} are not available for data in "
                "batches; use a Gaussian "
                "kernel without these"
            )
        features = Features(self.means[self.place(kernel)], True)
        effects = []
        for pair, labels in zip(which, names, strict=True):
            rows, bins = pair_of_samples(self.sizes, pair, self.restriction)
            notes = (
                note("no-separability"),
                *_few(min(bins.sizes), "bins"),
                *leading_notes(context, "The distance is"),
            )
            area = Area(np.nan, np.nan, bins.sizes, 1.0)
            estimate = distance(features.taken(rows), bins, NORMS)
            effects.append(two_sample_effect(area, estimate, NORMS, labels, options, notes))
        return effects


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoBinned(Binned, TwoEqualDistributions):
    """Two samples on disk have one distribution."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairsOnDisk(OnDiskHypothesis, Independence):
    """Two variables on disk are independent, so that y may be shifted within blocks of pairs."""

    blocks: Blocks
    products: Products | None = field(
        default=None, repr=False
    )  # of features of x and of y, of every statistic

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return GroupShifts(self.blocks.groups, LENGTH)

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the statistic from sums of products of features for every shift."""
        place = self.place(kernel)
        products = self.products
        assert products is not None
        (i, j), features = products.meets[place], self.features[place]
        own, total = (
            [entry.sum(axis=0) for entry in several] for several in (products.own, products.sums)
        )
        sums = ShiftedSums(self.blocks.used, products.xy[place], own[i], own[j], total[i], total[j])
        assert form.combine is not None
        statistic = form.combine(estimator, sums, sums.traces, sums.size, sums.n)
        left = self.source.survey.sizes[0] - self.blocks.used
        verb = "is" if left == 1 else "are"
        out = f"; {counted(left, 'pair')} at the end {verb} left out" if left else ""
        about = {"length": LENGTH, "blocks": self.blocks.count, "groups": self.blocks.groups}
        computation = Computation(
            route=features[0].route,
            features=tuple(each.features for each in features),
            cost=CostHint(seconds=1e-10 * sums.xy.size, rows=ROWS),
        )
        return Prepared(
            statistic=statistic,
            kernel=kernel,
            notes=self.feature_notes(features, note("blocks-of-pairs", **about, left=out)),
            computation=computation,
        )

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws) -> TestContext:
        """Return sums over the pairs as they were observed, of the leading statistic."""
        place = self.place(TestContext(self, members).leading.kernel)
        products = self.products
        assert products is not None
        (i, j), xy = products.meets[place], np.ascontiguousarray(products.xy[place][:, :, 0])
        own = products.own
        total = products.sums
        sums = PairSums(self.blocks.pairs, xy, own[i], own[j], total[i], total[j])
        return SumsContext(replace(self, products=None), members, sums)

    def effect(self, context: TestContext, options: EffectOptions) -> DependenceEffect:
        """Return how dependent the variables are, with an interval from groups of blocks."""
        assert isinstance(context, SumsContext) and context.sums is not None
        estimate = dependence_in_groups(context.sums)
        groups = self.blocks.groups
        notes = (
            variance_notes(estimate)
            or _few(groups, "groups")
            or (note("interval-groups", groups=groups),)
        )
        return effect_of_dependence(context, options, estimate, notes)


def _few(count: int, units: str) -> tuple[str, ...]:
    """Return a note on fewer units than the coverage of intervals was measured with."""
    if count >= MEASURED:
        return ()
    about = {"where": "There are", "count": count, "units": units, "least": MEASURED}
    return (note("few-units", what="the coverage of intervals", **about),)
