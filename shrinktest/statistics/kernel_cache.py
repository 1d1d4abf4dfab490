"""Cache of kernels at points, and the choice between Gram matrix, coordinates and tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shrinktest._check import choice, count, counted
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import factorized, few_distinct, nystrom, random_fourier
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel, Rescaled
from shrinktest.statistics import tiles
from shrinktest.statistics.features import Features, alike
from shrinktest.statistics.memory_limits import advised, bytes_of, check_memory, duration, needed

GRAMS = ("auto", "dense", "factor", "nystrom", "rff")

_LOW = 1000  # coordinates at most if nobody asked for a factor
_MOST = 3000  # coordinates beyond which a factor saves nothing
_SEVERAL = 16  # observations from which two coordinates take less time than a Gram matrix
_DENSE = 4000  # observations up to which a Gram matrix takes less time than a thousand coordinates
_PATIENCE = 600.0  # seconds up to which "auto" makes a Gram matrix by tiles


@dataclass(frozen=True)
class Request:
    """Representations of a kernel that a statistic takes."""

    by_coordinates: bool = True  # True if it can do without the Gram matrix
    any_rank: bool = True  # False if "auto" must not choose coordinates
    tiled: bool = False  # True if it can do with tiles
    kernels: int = 1  # number of kernels that share the memory, with a working copy each if there are several
    large: int = 1500  # number of observations from which a search for coordinates pays
    columns: int = 2  # of the data, up to which it is likely to find few
    rank: int = 1000  # default number of coordinates of an approximation
    work: str = "sums"  # of a permutation, one of `WORKS`


@dataclass(frozen=True)
class Limits:
    """The user's choice of a representation, and the memory it may take."""

    gram: str  # one of `GRAMS`
    rank: int | None
    memory: float  # bytes
    rng: np.random.Generator  # draws landmarks and frequencies, and nothing else
    permutations: float = 0  # number of permutations, for predicted times

    @property
    def random(self) -> bool:
        """True if coordinates are drawn at random."""
        return self.gram in ("nystrom", "rff")


class KernelCache:
    """Every distinct kernel of a test, evaluated once at each set of points.

    Kernels are told apart by ``==``.  Random coordinates are drawn for every kernel object by itself, so that a
    statistic sees the same ones in any combination.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._entries: list[tuple[Kernel, Request, Features]] = []

    def __call__(self, kernel: Kernel, points: np.ndarray, request: Request = Request()) -> Features:
        """Return a resolved kernel at points (N, d); what is computed from them does not depend on their labels.

        Raises
        ------
        ValueError
            For coordinates that the kernel or the statistic does not have, or a rank that means nothing.
        MemoryError
            If the kernel takes too much memory; the message says how much, and what fits.
        """
        same = [entry for entry in self._entries if entry[2].points is points and self._equal(entry[0], kernel)]
        for _, known, features in same:
            if known == request:
                return features
        if isinstance(kernel, PooledKernel) and not self.limits.random:
            features = _pooled(kernel, self(kernel.kernel, points, _of_inner(request)), self.limits, request)
        else:
            features = choose(kernel, points, self.limits, request)
        dense = [entry[2] for entry in same if entry[2].name == features.name == "dense"]
        if self.limits.random:  # only the latest is kept, so that draws depend on the order of kernels alone
            self._entries = [entry for entry in self._entries if entry[2].points is not points or entry[0] is kernel]
        self._make_room(len(points))
        self._entries.append((kernel, request, dense[0] if dense else features))
        return self._entries[-1][2]

    def _equal(self, kernel: Kernel, other: Kernel) -> bool:
        return kernel is other or (not self.limits.random and bool(kernel == other))

    def _make_room(self, size: int) -> None:
        """Forget the oldest entries until the Gram matrices and a new one take at most half of the memory."""
        while self._entries:
            matrices = 1 + sum(features.in_memory for _, _, features in self._entries)
            if 8.0 * size**2 * matrices <= self.limits.memory / 2.0:
                return
            self._entries.pop(0)


def choose(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features:
    """Return a resolved kernel at points (N, d); see `KernelCache`."""
    choice(limits.gram, GRAMS, "gram")
    if isinstance(kernel, Rescaled):
        inner = choose(kernel.kernel, kernel.moved(points), limits, request)
        if inner.feature_map is None or inner.name == "dense":
            return Features(inner.name, kernel, points, inner=inner)
        return Features(inner.name, kernel.of_features(inner.feature_map), points, inner.note, inner.known)
    if isinstance(kernel, PooledKernel):
        return _pooled(kernel, choose(kernel.kernel, points, limits, _of_inner(request)), limits, request)
    if limits.rank is not None:
        limits = replace(limits, rank=count(limits.rank, "rank", minimum=1))
        if limits.gram in ("auto", "dense"):
            raise ValueError(
                f"rank={limits.rank} is for gram='factor', 'nystrom' or 'rff'; gram={limits.gram!r} has none"
            )
    if limits.gram in ("auto", "dense"):
        representations = AUTO if limits.gram == "auto" else AUTO[1:]
        for represent in representations:
            features = represent(kernel, points, limits, request)
            if features is not None:
                return features
        raise _too_large(kernel, points, limits, request)
    if not request.by_coordinates:
        raise ValueError(
            f"gram={limits.gram!r}: this estimator is fitted to the Gram matrix of every permuted sample, as are your "
            "own, marginalized ones that tune their noise there, and all but 'kme', 'skmse' and the marginalized ones "
            "in an independence test; use gram='dense'"
        )
    return _approximated(kernel, points, limits, request)


# --- "auto" -------------------------------------------------------------------------------------------------


def _few_coordinates(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features | None:
    """Coordinates, if the kernel has few of them, or few are exact up to rounding."""
    size, width = points.shape
    if not (request.by_coordinates and request.any_rank):
        return None
    if isinstance(kernel, FeatureMap) and 4 * kernel.checked_coordinates(points[:1]).shape[1] <= size:
        return Features("factor", kernel, points)
    fits, limit = needed(size, request.kernels) <= limits.memory, min(_LOW, size // 4)
    promising = size >= request.large and (width <= request.columns or few_distinct(points, limit))
    if fits and not promising:
        return None
    features = _factor(kernel, points, min(limit, _affordable(points, limits, request)))
    if features is None or features.known is None:
        return features
    z = features.known
    coarse = alike(np.square(z).sum(), np.square(z.sum(axis=0)).sum(), len(z))  # beside the differences of features
    return None if fits and coarse else features


def _gram_matrix(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features | None:
    """The Gram matrix, if it fits."""
    return Features("dense", kernel, points) if needed(len(points), request.kernels) <= limits.memory else None


def _by_tiles(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features | None:
    """Tiles, if the statistic can do with them and they take less than ten minutes, or gram="dense" asks for them."""
    quick = limits.gram == "dense" or _tile_seconds(points, limits, request) < _PATIENCE
    return Features("tiles", kernel, points) if request.tiled and quick else None


#: What gram="auto" takes: the first that is possible.  gram="dense" leaves out the coordinates.
AUTO = (_few_coordinates, _gram_matrix, _by_tiles)


def _too_large(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> MemoryError:
    size, width = points.shape
    advice = "use estimator='kme', 'skmse' or 'mkme', which do without it, or a random part of the data"
    if request.by_coordinates:
        rank = min(request.rank, max(1, _affordable(points, limits, request)))
        advice = advised(kernel, size, width, rank, limits.permutations, request.work)
        if request.tiled:
            advice += f" or gram='dense' (by tiles, about {duration(_tile_seconds(points, limits, request))})"
    try:
        check_memory(size, request.kernels, limits.memory, advice)
    except MemoryError as error:
        return error
    raise AssertionError  # the matrix fits


def _tile_seconds(points: np.ndarray, limits: Limits, request: Request) -> float:
    return tiles.seconds(len(points), limits.permutations, pairings=request.work == "pairs")


# --- coordinates --------------------------------------------------------------------------------------------


def _approximated(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features:
    """Coordinates that were asked for: an exact factor, or of a given rank."""
    gram, rank, size = limits.gram, limits.rank, len(points)
    affordable = _affordable(points, limits, request)
    exact = gram == "factor" and rank is None
    most = rank or (_MOST if exact else request.rank)
    most = most if gram == "rff" else min(most, size)  # a landmark is one of the observations
    if (1 if exact else most) > max(1, affordable):
        raise MemoryError(
            f"gram={gram!r}: {counted(most, 'coordinate')} of {counted(size, 'observation')} take "
            f"{bytes_of(24.0 * request.kernels * size * most)}, "
            f"more than max_memory={bytes_of(limits.memory)}; give rank={max(1, affordable)} or less"
        )
    if exact:
        features = _factor(kernel, points, min(most, affordable))
        if features is not None:
            return features
        full = f"the Gram matrix has more than {min(most, affordable)} dimensions, or nearly as many as observations"
        if affordable < most:
            raise MemoryError(
                f"gram='factor': {full}, and {affordable} coordinates of {size} observations take all of "
                f"max_memory={bytes_of(limits.memory)}; use gram='nystrom' with rank={min(request.rank, affordable)}"
            )
        raise ValueError(
            f"gram='factor': {full}, so that its factor saves nothing; "
            f"use gram='dense', or approximate it by gram='nystrom', rank={request.rank}"
        )
    if gram == "factor":
        if isinstance(kernel, FeatureMap):
            return Features(gram, kernel, points)
        low = factorized(kernel, points, most, truncate=True)
        assert low is not None  # because it may be truncated
        return Features(gram, low[0], points, _note(f"a pivoted Cholesky factor of rank {low[1].shape[1]}"), low[1])
    if gram == "nystrom":
        landmarks = nystrom(kernel, points, most, limits.rng)
        note = _note(f"a Nystrom approximation with {counted(len(landmarks.points), 'landmark')}")
        return Features(gram, landmarks, points, note)
    waves = random_fourier(kernel, points.shape[1], most, limits.rng)
    note = _note(f"an approximation by {2 * len(waves.frequencies)} random Fourier features")
    if most > size and rank is None:
        note += f" That is more than the {size} observations: gram='dense' is exact and takes less time."
    return Features(gram, waves, points, note)


def _factor(kernel: Kernel, points: np.ndarray, limit: int) -> Features | None:
    """A factor of at most ``limit`` coordinates, if one is exact up to rounding."""
    if isinstance(kernel, FeatureMap):
        return Features("factor", kernel, points)
    low = factorized(kernel, points, limit) if limit >= 1 else None
    return Features("factor", low[0], points, known=low[1]) if low else None


def _affordable(points: np.ndarray, limits: Limits, request: Request) -> int:
    """Coordinates that fit: the factor, and two of its size while it is made."""
    return int(limits.memory / (24.0 * request.kernels * len(points)))


def _note(what: str) -> str:
    return f"The statistic is that of {what}; its permutation test has exact level."


# --- kernels of the pooled sample ---------------------------------------------------------------------------


def _of_inner(request: Request) -> Request:
    """The request for the kernel whose features are taken: beside its Gram matrix there is a factorization."""
    return replace(request, kernels=request.kernels + 1, tiled=False)


def _pooled(kernel: PooledKernel, inner: Features, limits: Limits, request: Request) -> Features:
    """A kernel of the pooled sample from the features that it takes."""
    points, automatic, z = inner.points, limits.gram == "auto", inner.coordinates()
    if z is None:
        free = automatic and request.by_coordinates and request.any_rank
        few = kernel.few(inner.matrix()) if free and len(points) >= _SEVERAL else None
        if few is None:
            return Features("dense", kernel, points, inner=inner)
        return Features("factor", few[0], points, known=few[1])
    assert isinstance(inner.kernel, FeatureMap)
    rank, most = z.shape[1], _LOW if automatic else _MOST
    if kernel.columns(rank) <= most:
        features, coordinates = kernel.of_features(inner.kernel, z)
        return Features(inner.name, features, points, inner.note, np.ascontiguousarray(coordinates))
    if not automatic:
        raise ValueError(
            f"gram={limits.gram!r}: {kernel!r} has {kernel.columns(rank)} coordinates where its kernel has {rank}, "
            f"more than {most}; give a smaller rank=, or use gram='dense'"
        )
    short = kernel.shortened(inner.kernel, z, most) if len(points) > _DENSE else None
    if short is None:
        check_memory(len(points), request.kernels, limits.memory)
        return Features("dense", kernel, points)
    note = _note(f"{kernel.label} on the leading principal components, with {100.0 * short[2]:.3g} % of the variance")
    return Features("factor", short[0], points, note, np.ascontiguousarray(short[1]))
