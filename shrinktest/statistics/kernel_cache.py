"""Cache of kernels at points, with Gram matrix, coordinates or tiles by the memory they take.

This also makes the choice between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from shrinktest._check import choice, count, counted
from shrinktest._parallel import n_workers
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import (
    factorized,
    few_distinct,
    has_spectrum,
    nystrom,
    random_fourier,
)
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel, Rescaled, RescaledFeatures
from shrinktest.notes import note
from shrinktest.statistics.features import KernelFeatures, alike, needed

GRAMS = ("auto", "dense", "factor", "nystrom", "rff")

_LOW = 1000  # coordinates at most for gram="auto"
_MOST = 3000  # coordinates beyond which a factor saves nothing
_SEVERAL = 16  # observations from which two coordinates take less time than a Gram matrix
_DENSE = 4000  # observations up to which a Gram matrix needs less time than a thousand coordinates
_SECONDS_A_ROW = 5e-6  # of a test by a thousand features that are added up in bins
_BY_TILES = 5e10  # bytes of a Gram matrix up to which "auto" makes it by tiles

_KEPT: ContextVar[list[KernelCache] | None] = ContextVar("kept kernels", default=None)


@dataclass(frozen=True)
class Request:
    """Representations of a kernel that a statistic takes."""

    by_coordinates: bool = True  # True if it can do without the Gram matrix
    any_rank: bool = True  # False if "auto" must not choose coordinates
    tiled: bool = False  # True if it can do with tiles
    bins: bool = False  # True if bins of rows may be permuted instead of rows
    kernels: int = (
        1  # number of kernels that share the memory, with a working copy each if there are several
    )
    large: int = 1500  # number of observations from which a search for coordinates pays
    columns: int = 2  # of the data, up to which it is likely to find few
    rank: int = 1000  # default number of coordinates of an approximation
    products: int | None = (
        None  # coordinates at most of a pooled kernel, which is shortened if it has more
    )

    def for_source(self) -> Request:
        """Request for the kernel inside a pooled one.

        Its factorization takes memory besides its Gram matrix.
        """
        return replace(self, kernels=self.kernels + 1, tiled=False)


@dataclass(frozen=True, eq=False)
class KernelCache:
    """Every distinct kernel of a test, evaluated once at each set of points.

    How depends on what the user chose and memory allows.

    Random coordinates are drawn for every kernel object by itself, so that a statistic sees the
    same ones in any combination.
    """

    gram: str  # one of `GRAMS`
    rank: int | None
    memory: float  # bytes
    rng: np.random.Generator  # draws landmarks and frequencies, and nothing else
    workers: int = 1  # threads that may make a Gram matrix
    _entries: list[tuple[Kernel, Request, KernelFeatures]] = field(
        default_factory=list, init=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.rank is not None:
            object.__setattr__(self, "rank", count(self.rank, "rank", minimum=1))
        latest_cache = _KEPT.get()
        if latest_cache is not None:
            latest_cache[:] = [self]

    @property
    def random(self) -> bool:
        """True if coordinates are drawn at random."""
        return self.gram in ("nystrom", "rff")

    def __call__(
        self, kernel: Kernel, points: np.ndarray, request: Request = Request()
    ) -> KernelFeatures:
        """Return a resolved kernel at points (N, d).

        What is computed from them does not depend on their labels.
        """
        dense = None
        for cached, served, features in self._entries:
            if features.points is points and (
                cached is kernel or (not self.random and bool(cached == kernel))
            ):
                if served == request:
                    return features
                dense = features if dense is None and features.route == "dense" else dense
        if isinstance(kernel, PooledKernel) and not self.random:
            features = _pooled(
                kernel, self(kernel.kernel, points, request.for_source()), self, request
            )
        else:
            features = choose(kernel, points, self, request)
        if features.route == "dense" and dense is not None:
            features = dense
        self._keep(kernel, request, features)
        return features

    def made(self, kernel: Kernel, points: np.ndarray) -> KernelFeatures | None:
        """Return features with their Gram matrix in memory; None if there are none."""
        for _, _, features in self._entries:
            if features.kernel is kernel and features.points is points and features.is_made:
                return features
        return None

    def _keep(self, kernel: Kernel, request: Request, features: KernelFeatures) -> None:
        """Keep the latest features that memory allows."""
        points = features.points
        entries = self._entries
        if (
            self.random
        ):  # only the latest is kept, so that draws depend on the order of kernels alone
            entries[:] = [
                entry for entry in entries if entry[2].points is not points or entry[0] is kernel
            ]
        most = self.memory / 2.0 / (8.0 * len(points) ** 2)  # Gram matrices, the new one included
        while entries and sum([entry[2].is_made for entry in entries]) > most - 1.0:
            entries.pop(0)  # the oldest
        entries.append((kernel, request, features))


@contextmanager
def kept_kernels() -> Iterator[None]:
    """Keep the Gram matrices of the latest test in the block, which its effect needs again."""
    token = _KEPT.set([])
    try:
        yield
    finally:
        _KEPT.reset(token)


def features_at(kernel: Kernel, points: np.ndarray) -> KernelFeatures:
    """Return a resolved kernel at points (N, d), with a Gram matrix that was kept if possible."""
    for cache in _KEPT.get() or ():
        features = cache.made(kernel, points)
        if features is not None:
            return features
    return KernelFeatures(kernel, points, workers=n_workers(None))


def choose(
    kernel: Kernel, points: np.ndarray, cache: KernelCache, request: Request
) -> KernelFeatures:
    """Return a resolved kernel at points (N, d).

    By "auto" it has few coordinates, else the Gram matrix, else tiles.
    """
    gram = choice(cache.gram, GRAMS, "gram")
    size = len(points)
    if isinstance(kernel, Rescaled):
        source = choose(kernel.kernel, kernel.moved(points), cache, request)
        if not source.by_coordinates:
            return KernelFeatures(
                kernel, points, source.route, source=source, workers=cache.workers
            )
        moved = RescaledFeatures(cast(FeatureMap, source.kernel), kernel)
        return KernelFeatures(moved, points, source.route, values=source.values, note=source.note)
    if isinstance(kernel, PooledKernel):
        return _pooled(
            kernel, choose(kernel.kernel, points, cache, request.for_source()), cache, request
        )
    if cache.rank is not None and gram in ("auto", "dense"):
        raise ValueError(
            f"rank={cache.rank} is for gram='factor', 'nystrom' or 'rff'; gram={gram!r} has none"
        )
    if gram not in ("auto", "dense"):
        if not request.by_coordinates:
            raise ValueError(
                f"gram={gram!r}: this estimator is fitted to the Gram matrix of every permuted "
                "sample; use gram='dense'"
            )
        return _approximated(kernel, points, cache, request)
    if gram == "auto" and request.by_coordinates and request.any_rank:
        features = _few_coordinates(kernel, points, cache, request)
        if features is not None:
            return features
    takes = needed(size, request.kernels)
    if takes > cache.memory:
        if request.tiled and (gram == "dense" or takes <= _BY_TILES):
            return KernelFeatures(kernel, points, "tiles", workers=cache.workers)
        advice = (
            "use estimator='kme', 'skmse' or 'mkme', which do not need it, or a random subset of "
            "the data"
        )
        if request.by_coordinates:
            rank = min(request.rank, max(1, _affordable(points, cache, request)))
            advice = in_bins(kernel, size) if request.bins else advised(kernel, rank)
            advice += " or gram='dense' (in tiles, which is slow)" if request.tiled else ""
        check_memory(size, request.kernels, cache.memory, advice)
    return KernelFeatures(kernel, points, "dense", workers=cache.workers)


def _few_coordinates(
    kernel: Kernel, points: np.ndarray, cache: KernelCache, request: Request
) -> KernelFeatures | None:
    """Coordinates, if the kernel has few of them, or few are exact up to rounding."""
    (size, width), fits = points.shape, needed(len(points), request.kernels) <= cache.memory
    if (
        isinstance(kernel, FeatureMap)
        and 4 * kernel.checked_coordinates(points[:1]).shape[1] <= size
    ):
        return KernelFeatures(kernel, points, "factor")
    limit = min(_LOW, size // 4)
    if fits and not (
        size >= request.large and (width <= request.columns or few_distinct(points, limit))
    ):
        return None
    if not kernel.is_definite:
        return None
    features = _factor(kernel, points, min(limit, _affordable(points, cache, request)))
    if not fits or features is None or isinstance(kernel, FeatureMap):
        return features
    z = features.values  # which may be too coarse for the differences of features
    return None if alike(np.square(z).sum(), np.square(z.sum(axis=0)).sum(), len(z)) else features


def _approximated(
    kernel: Kernel, points: np.ndarray, cache: KernelCache, request: Request
) -> KernelFeatures:
    """Coordinates that were asked for: an exact factor, or of a given rank."""
    gram = cache.gram
    rank = cache.rank
    size = len(points)
    affordable = _affordable(points, cache, request)
    if not kernel.is_definite:
        raise ValueError(
            f"gram={gram!r}: distances that are not Euclidean have no coordinates; use gram='dense'"
        )
    exact = gram == "factor" and rank is None
    most = rank or (_MOST if exact else request.rank)
    most = most if gram == "rff" else min(most, size)  # a landmark is one of the observations
    lowered = ""
    if not exact and most > max(1, affordable):
        taken = (
            f"{counted(most, 'coordinate')} need {bytes_of(24.0 * request.kernels * size * most)}"
        )
        lacking = f"{taken}, more than max_memory={bytes_of(cache.memory)}"
        if rank is not None:
            raise MemoryError(f"gram={gram!r}: {lacking}; use rank={max(1, affordable)}")
        most = max(1, affordable)
        lowered = f", because {lacking}"
    if exact:
        features = _factor(kernel, points, min(most, affordable))
        if features is not None:
            return features
        full = f"gram='factor': the Gram matrix has more than {min(most, affordable)} dimensions"
        if affordable < most:
            full += f", which use all of max_memory={bytes_of(cache.memory)}"
            raise MemoryError(
                f"{full}; use gram='nystrom' with rank={min(request.rank, affordable)}"
            )
        raise ValueError(f"{full}; use gram='dense', or gram='nystrom' with rank={request.rank}")
    low: FeatureMap
    coordinates = None
    if gram == "nystrom":
        low = landmarks = nystrom(kernel, points, most, cache.rng)
        what = f"a Nystrom approximation with {counted(len(landmarks.points), 'landmark')}"
    elif gram == "rff":
        low = waves = random_fourier(kernel, points.shape[1], most, cache.rng)
        what = f"an approximation by {2 * len(waves.frequencies)} random Fourier features"
        if most > size and rank is None:
            what += f", more than the {size} observations (gram='dense' is exact and faster)"
    elif isinstance(kernel, FeatureMap):
        return KernelFeatures(kernel, points, gram)
    else:
        factor = factorized(kernel, points, most, truncate=True)
        assert factor is not None  # because it may be truncated
        low, coordinates = factor
        what = f"a pivoted Cholesky factor of rank {coordinates.shape[1]}"
    return KernelFeatures(
        low, points, gram, values=coordinates, note=note("approximation", what=what + lowered)
    )


def _factor(kernel: Kernel, points: np.ndarray, limit: int) -> KernelFeatures | None:
    """A factor of at most ``limit`` coordinates, if one is exact up to rounding."""
    if isinstance(kernel, FeatureMap):
        return KernelFeatures(kernel, points, "factor")
    low = factorized(kernel, points, limit) if limit >= 1 else None
    return KernelFeatures(low[0], points, "factor", values=low[1]) if low else None


def _affordable(points: np.ndarray, cache: KernelCache, request: Request) -> int:
    """Coordinates that fit: the factor, and two of its size while it is made."""
    return int(min(cache.memory / (24.0 * request.kernels * len(points)), 2.0**31))


def _pooled(
    kernel: PooledKernel, source: KernelFeatures, cache: KernelCache, request: Request
) -> KernelFeatures:
    """A kernel of the pooled sample from the features that it takes."""
    points = source.points
    kernel.require_points(points)
    automatic = cache.gram == "auto"
    if not source.by_coordinates:
        free = automatic and request.by_coordinates and request.any_rank and len(points) >= _SEVERAL
        few = kernel.few(lambda: source.values) if free else None
        if few is None:
            return KernelFeatures(kernel, points, "dense", source=source, workers=cache.workers)
        return KernelFeatures(few[0], points, "factor", values=few[1])
    assert isinstance(source.kernel, FeatureMap)
    z = source.values
    rank = z.shape[1]
    most = request.products or (_LOW if automatic else _MOST)
    if kernel.columns(rank) <= most or (request.products and kernel.affine):
        features, coordinates = kernel.transform_features(source.kernel, z)
        coordinates = np.ascontiguousarray(coordinates)
        return KernelFeatures(features, points, source.route, values=coordinates, note=source.note)
    if not automatic and not request.products:
        raise ValueError(
            f"gram={cache.gram!r}: {kernel!r} has {kernel.columns(rank)} coordinates where its "
            f"kernel has {rank}, "
            f"more than {most}; use a smaller rank=, or use gram='dense'"
        )
    short = (
        kernel.shortened(source.kernel, z, most)
        if request.products or len(points) > _DENSE
        else None
    )
    if short is None:
        check_memory(len(points), request.kernels, cache.memory)
        return KernelFeatures(kernel, points, "dense", workers=cache.workers)
    features, coordinates, share = short
    what = (
        f"{kernel.label} on the leading principal components, with {100.0 * share:.3g}% of the "
        f"variance"
    )
    route = source.route if request.products else "factor"
    coordinates = np.ascontiguousarray(coordinates)
    return KernelFeatures(
        features, points, route, values=coordinates, note=note("approximation", what=what)
    )


# --- memory ---------------------------------------------------------------------------------------


def advised(kernel: Kernel, rank: int) -> str:
    """Return the approximations of a kernel, as advice."""
    return f"use gram={_approximation(kernel)!r}, rank={rank}"


def in_bins(kernel: Kernel, size: int) -> str:
    """Return an approximation that adds up the features of rows in bins, as advice."""
    from shrinktest.data.on_disk.sources import BINS

    seconds = max(1, math.ceil(size * _SECONDS_A_ROW))
    approximation = f"gram={_approximation(kernel)!r}, bins={BINS}"
    return f"use {approximation} (about {seconds} s for 999 permutations)"


def _approximation(kernel: Kernel) -> str:
    plain = kernel.kernel if isinstance(kernel, PooledKernel) else kernel
    return "rff" if has_spectrum(plain) else "nystrom"


def check_memory(
    size: int, kernels: int, memory: float, advice: str = "use a random subset of the data"
) -> None:
    """Raise MemoryError if the Gram matrices of so many observations do not fit."""
    if needed(size, kernels) > memory:
        matrices = "Gram matrix needs" if kernels == 1 else "Gram matrices need"
        raise MemoryError(
            f"{size} observations: the {matrices} {bytes_of(needed(size, kernels))} during "
            "construction, more than "
            f"max_memory={bytes_of(memory)}; {advice}, or raise max_memory"
        )


def bytes_of(size: float) -> str:
    """A number of bytes in words."""
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB") if size >= 1e6 else (1.0, "bytes")
    return f"{size / unit:.3g} {name}" if unit > 1.0 else f"{size:.0f} {name}"
