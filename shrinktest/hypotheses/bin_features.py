"""Features of rows that are kept as means of bins, so that one pass serves every statistic of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest._check import Array, counted
from shrinktest.hypotheses.base import Variable, resolve
from shrinktest.hypotheses.supported import checked_route, without_data
from shrinktest.kernels import Kernel, Linear, Rescaled
from shrinktest.kernels.feature_maps import Concatenated, Derived
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.notes import note
from shrinktest.statistics.kernel_cache import Limits, Request, bytes_of, choose

_ENDLESS = 1e18  # bytes: features of the sample of rows are fewer than of bins, whose memory is checked
_PRODUCTS = 1000  # of features at most, as tests in memory have where nobody asked for more


@dataclass(frozen=True, eq=False)
class BinFeatures:
    """A kernel by features of rows, of which the means of bins are kept."""

    # as it was given, and with what it takes from the data
    requested: Kernel
    kernel: Kernel
    route: str  # how the features were found
    notes: tuple[str, ...]  # what a reader of the result should know of them
    features: FeatureMap  # of the rows
    place: int  # which of all maps that are read it is made of,
    columns: slice  # and which of its features
    after: FeatureMap | None = None  # what is made of their means, which is the mean of what would be made of them
    lacking: str = ""  # why there are none: what a MemoryError says

    def of(self, means: Sequence[Array]) -> Array:
        """Return the mean features (M, rank) from the features of all maps."""
        found = np.ascontiguousarray(means[self.place][:, self.columns])
        return found if self.after is None else self.after.coordinates(found)


@dataclass
class _Base:
    """A kernel whose features are read, with what else is made of these row by row."""

    kernel: Kernel
    route: str
    note: str | None
    features: FeatureMap
    rank: int
    points: Array
    others: list[FeatureMap] = field(default_factory=list)
    columns: int = 0

    def __post_init__(self) -> None:
        self.columns = self.rank

    @cached_property
    def sample(self) -> Array:
        """Features (s, rank) of the sample of rows."""
        return self.features.coordinates(self.points)


@dataclass
class Plan:
    """The features of all statistics of a test, or of several tests: every distinct kernel of some columns once."""

    route: str  # the argument ``gram`` of the test
    rank: int  # of features that approximate a kernel
    bins: int  # in all,
    most: int  # and of the sample that has most
    memory: float  # bytes
    # a generator in the same state whenever it is called, so that the features of a kernel do not depend on what it is
    # combined with
    rng: Callable[[], np.random.Generator]
    maps: list[FeatureMap] = field(default_factory=list)
    features: int = 0
    largest: int = 0

    def add(
        self, kernels: Iterable[Kernel], variable: Variable, columns: tuple[int, ...] | None, *, spare: bool
    ) -> tuple[BinFeatures, ...]:
        """The features of kernels of one variable, of which there is a sample of rows.

        ``columns`` says where its columns are among those of the rows; by default they are all.  With ``spare``
        kernels that take more memory than there is are left out; a MemoryError says where none fits, or, without
        ``spare``, where one does not.
        """
        bases: list[_Base] = []
        found: list[BinFeatures] = []
        known: list[tuple[Kernel, Kernel]] = []
        for requested in kernels:
            if any(requested == entry.requested for entry in found):
                continue
            kernel = self._resolved(requested, variable, known)
            inner, pooled = _parts(kernel, variable.points)
            base = next((entry for entry in bases if entry.kernel == inner), None)
            fresh = base is None
            base = base or self._base(requested, inner, variable.points)
            products = 0 if pooled is None or pooled.affine else min(pooled.columns(base.rank), _PRODUCTS)
            lacking = self._lacking(base.rank * fresh + products, max(base.rank, products))
            if lacking and (not spare or all(entry.lacking for entry in found)):
                raise MemoryError(lacking)
            if lacking:
                left_out = BinFeatures(requested, kernel, base.route, (), base.features, 0, slice(0, 0), None, lacking)
                found.append(left_out)
                continue
            if fresh:
                bases.append(base)
            after, note = _made_of(pooled, base)
            features = base.features if after is None else Derived(base.features, after)
            start, stop = 0, base.rank
            if after is not None and products:  # of every row, and not of their means
                start, stop = base.columns, base.columns + after.coordinates(base.sample[:1]).shape[1]
                base.others.append(after)
                base.columns, after = stop, None
            notes = tuple(entry for entry in (base.note, note) if entry)
            place = len(self.maps) + bases.index(base)
            found.append(BinFeatures(requested, kernel, base.route, notes, features, place, slice(start, stop), after))
        self.maps += [
            Concatenated(entry.features, tuple(entry.others), columns) if entry.others or columns else entry.features
            for entry in bases
        ]
        return tuple(found)

    def _resolved(self, requested: Kernel, variable: Variable, known: list[tuple[Kernel, Kernel]]) -> Kernel:
        """The kernel with what it takes from the data; the bandwidth of one that others are made of is found once."""
        before = next((kernel for entry, kernel in known if entry == requested), None)
        if before is None:
            entry = requested
            if isinstance(requested, PooledKernel) and variable.scale is None:
                entry = replace(requested, kernel=self._resolved(requested.kernel, variable, known))
            before = resolve(entry, variable, self.rng())
            known.append((requested, before))
        return before

    def _base(self, requested: Kernel, kernel: Kernel, points: Array) -> _Base:
        """The features of a resolved kernel; random ones are drawn without labels."""
        own = isinstance(without_data(kernel), FeatureMap) and not isinstance(without_data(requested), FeatureMap)
        route = "factor" if own else checked_route(requested, self.route)
        rank = None if route == "factor" else self.rank
        gram = choose(kernel, points, Limits(route, rank, _ENDLESS, self.rng()), Request())
        assert isinstance(gram.kernel, FeatureMap)
        return _Base(kernel, gram.name, gram.note, gram.kernel, gram.columns or 1, points)

    def _lacking(self, more: int, widest: int) -> str:
        """Return the text of a MemoryError if there is no room for more features; otherwise reserve it."""
        features, largest = self.features + more, max(self.largest, widest)
        reading, after = (self.bins + self.most) * features, self.bins * (features + 2 * largest)
        if (takes := 8.0 * max(reading, after)) > self.memory:
            return (
                f"{counted(self.bins, 'bin')} of {counted(features, 'feature')} take {bytes_of(takes)}, more than "
                f"max_memory={bytes_of(self.memory)}; give a smaller rank=, fewer bins (Batches(..., bins=)) or "
                "samples that differ less in size"
            )
        self.features, self.largest = features, largest
        return ""


def _parts(kernel: Kernel, points: Array) -> tuple[Kernel, PooledKernel | None]:
    """The resolved kernel whose features are read, and the kernel of the pooled sample that is made of them."""
    if isinstance(kernel, PooledKernel):
        return kernel.kernel, kernel
    if isinstance(kernel, Rescaled) and isinstance(kernel.kernel, PooledKernel):
        return Rescaled(kernel.kernel.kernel, kernel.scale).resolve(points), kernel.kernel
    return kernel, None


def _made_of(pooled: PooledKernel | None, base: _Base) -> tuple[FeatureMap | None, str | None]:
    """Return features of features, computed on the sample of rows (s, r), and a note if not all are used."""
    if pooled is None:
        return None, None
    if not pooled.affine and pooled.columns(base.rank) > _PRODUCTS:
        short: Any = pooled.shortened(Linear(), base.sample, _PRODUCTS)
        return short[0], note("approximation", what=f"{pooled.label} with {100.0 * short[2]:.3g} % of the variance")
    return pooled.transform_features(Linear(), base.sample)[0], None
