"""Cache of kernels at points, the choice between Gram matrix, coordinates and tiles, and the memory each takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shrinktest._check import choice, count, counted
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import factorized, few_distinct, has_spectrum, nystrom, random_fourier
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel, Rescaled, RescaledFeatures
from shrinktest.notes import note
from shrinktest.statistics.features import Features, alike, needed
from shrinktest.statistics.sums import tile_seconds

GRAMS = ("auto", "dense", "factor", "nystrom", "rff")

_LOW = 1000  # coordinates at most for gram="auto"
_MOST = 3000  # coordinates beyond which a factor saves nothing
_SEVERAL = 16  # observations from which two coordinates take less time than a Gram matrix
_DENSE = 4000  # observations up to which a Gram matrix takes less time than a thousand coordinates
_PATIENCE = 600.0  # seconds up to which "auto" makes a Gram matrix by tiles

# Seconds on one core, an order of magnitude.
_ROW = 4e-7  # for an observation that is read, checked and scaled
_FEATURE = 8e-9  # for a random Fourier feature of an observation: half a cosine and half a sine
_LANDMARK, _SOLVED = 2.4e-8, 2.8e-11  # for a landmark: a kernel value, and a product for every other landmark
_COLUMN = 2e-10  # a product for a column of the data in either
#: Work of a permutation, by name: sums of weights; products of two variables; filters that are fitted again.  It takes
#: (first) x observations x (coordinates + second), except for sums times the coordinates.
WORKS = {"sums": (2.4e-11, 100.0), "pairs": (8e-11, 30.0), "filter": (1.6e-10, 86.0)}
_SPECTRUM = 5e-10  # and a filter the third power of the coordinates
_PERMUTATIONS = 1e7  # at most


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
    products: int | None = None  # coordinates at most of a pooled kernel, which is shortened if it has more

    def for_inner(self) -> Request:
        """Request for the kernel inside a pooled one, whose factorization takes memory besides its Gram matrix."""
        return replace(self, kernels=self.kernels + 1, tiled=False)


@dataclass(frozen=True)
class Limits:
    """The user's choice of a representation, and the memory it may take."""

    gram: str  # one of `GRAMS`
    rank: int | None
    memory: float  # bytes
    rng: np.random.Generator  # draws landmarks and frequencies, and nothing else
    permutations: float = 0  # number of permutations, for predicted times
    workers: int = 1  # threads that may make a Gram matrix

    @property
    def random(self) -> bool:
        """True if coordinates are drawn at random."""
        return self.gram in ("nystrom", "rff")


class KernelCache:
    """Every distinct kernel of a test, evaluated once at each set of points.

    Random coordinates are drawn for every kernel object by itself, so that a statistic sees the same ones in any
    combination.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._entries: list[tuple[Kernel, Request, Features]] = []

    def __call__(self, kernel: Kernel, points: np.ndarray, request: Request = Request()) -> Features:
        """Return a resolved kernel at points (N, d); what is computed from them does not depend on their labels."""
        random, dense = self.limits.random, None
        for known, served, features in self._entries:
            if features.points is points and (known is kernel or (not random and bool(known == kernel))):
                if served == request:
                    return features
                dense = features if dense is None and features.name == "dense" else dense
        if isinstance(kernel, PooledKernel) and not random:
            features = _pooled(kernel, self(kernel.kernel, points, request.for_inner()), self.limits, request)
        else:
            features = choose(kernel, points, self.limits, request)
        if features.name == "dense" and dense is not None:
            features = dense
        if random:  # only the latest is kept, so that draws depend on the order of kernels alone
            self._entries = [entry for entry in self._entries if entry[2].points is not points or entry[0] is kernel]
        most = self.limits.memory / 2.0 / (8.0 * len(points) ** 2)  # Gram matrices, the new one included
        while self._entries and sum([len(entry[2].made) for entry in self._entries]) > most - 1.0:
            self._entries.pop(0)  # the oldest
        self._entries.append((kernel, request, features))
        return features


def choose(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features:
    """Return a resolved kernel at points (N, d): by "auto" few coordinates, else the Gram matrix, else tiles."""
    gram, size = choice(limits.gram, GRAMS, "gram"), len(points)
    if isinstance(kernel, Rescaled):
        inner = choose(kernel.kernel, kernel.moved(points), limits, request)
        if not isinstance(inner.kernel, FeatureMap) or inner.name == "dense":
            return Features(inner.name, kernel, points, inner=inner)
        return Features(inner.name, RescaledFeatures(inner.kernel, kernel), points, inner.note, inner.known)
    if isinstance(kernel, PooledKernel):
        return _pooled(kernel, choose(kernel.kernel, points, limits, request.for_inner()), limits, request)
    if limits.rank is not None:
        limits = replace(limits, rank=count(limits.rank, "rank", minimum=1))
        if gram in ("auto", "dense"):
            raise ValueError(f"rank={limits.rank} is for gram='factor', 'nystrom' or 'rff'; gram={gram!r} has none")
    if gram not in ("auto", "dense"):
        if not request.by_coordinates:
            raise ValueError(
                f"gram={gram!r}: this estimator is fitted to the Gram matrix of every permuted sample; use gram='dense'"
            )
        return _approximated(kernel, points, limits, request)
    if gram == "auto" and request.by_coordinates and request.any_rank:
        features = _few_coordinates(kernel, points, limits, request)
        if features is not None:
            return features
    if needed(size, request.kernels) > limits.memory:
        by_tiles = tile_seconds(size, limits.permutations, pairings=request.work == "pairs")
        if request.tiled and (gram == "dense" or by_tiles < _PATIENCE):
            return Features("tiles", kernel, points)
        advice = "use estimator='kme', 'skmse' or 'mkme', which do without it, or a random part of the data"
        if request.by_coordinates:
            rank = min(request.rank, max(1, _affordable(points, limits, request)))
            advice = advised(kernel, size, points.shape[1], rank, limits.permutations, request.work)
            if request.tiled:
                advice += f" or gram='dense' (by tiles, about {duration(by_tiles)})"
        check_memory(size, request.kernels, limits.memory, advice)
    return Features("dense", kernel, points)


def _few_coordinates(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features | None:
    """Coordinates, if the kernel has few of them, or few are exact up to rounding."""
    (size, width), fits = points.shape, needed(len(points), request.kernels) <= limits.memory
    if isinstance(kernel, FeatureMap) and 4 * kernel.checked_coordinates(points[:1]).shape[1] <= size:
        return Features("factor", kernel, points)
    limit = min(_LOW, size // 4)
    if fits and not (size >= request.large and (width <= request.columns or few_distinct(points, limit))):
        return None
    features = _factor(kernel, points, min(limit, _affordable(points, limits, request)))
    if not fits or features is None or features.known is None:
        return features
    z = features.known  # which may be too coarse for the differences of features
    return None if alike(np.square(z).sum(), np.square(z.sum(axis=0)).sum(), len(z)) else features


def _approximated(kernel: Kernel, points: np.ndarray, limits: Limits, request: Request) -> Features:
    """Coordinates that were asked for: an exact factor, or of a given rank."""
    gram, rank, size, affordable = limits.gram, limits.rank, len(points), _affordable(points, limits, request)
    exact = gram == "factor" and rank is None
    most = rank or (_MOST if exact else request.rank)
    most = most if gram == "rff" else min(most, size)  # a landmark is one of the observations
    if not exact and most > max(1, affordable):
        taken = f"{counted(most, 'coordinate')} take {bytes_of(24.0 * request.kernels * size * most)}"
        raise MemoryError(
            f"gram={gram!r}: {taken}, more than max_memory={bytes_of(limits.memory)}; give rank={max(1, affordable)}"
        )
    if exact:
        features = _factor(kernel, points, min(most, affordable))
        if features is not None:
            return features
        full = f"gram='factor': the Gram matrix has more than {min(most, affordable)} dimensions"
        if affordable < most:
            full += f", which take all of max_memory={bytes_of(limits.memory)}"
            raise MemoryError(f"{full}; use gram='nystrom' with rank={min(request.rank, affordable)}")
        raise ValueError(f"{full}; use gram='dense', or gram='nystrom' with rank={request.rank}")
    low: FeatureMap
    coordinates = None
    if gram == "nystrom":
        low = landmarks = nystrom(kernel, points, most, limits.rng)
        what = f"a Nystrom approximation with {counted(len(landmarks.points), 'landmark')}"
    elif gram == "rff":
        low = waves = random_fourier(kernel, points.shape[1], most, limits.rng)
        what = f"an approximation by {2 * len(waves.frequencies)} random Fourier features"
        if most > size and rank is None:
            what += f", more than the {size} observations (gram='dense' is exact and faster)"
    elif isinstance(kernel, FeatureMap):
        return Features(gram, kernel, points)
    else:
        factor = factorized(kernel, points, most, truncate=True)
        assert factor is not None  # because it may be truncated
        low, coordinates = factor
        what = f"a pivoted Cholesky factor of rank {coordinates.shape[1]}"
    return Features(gram, low, points, note("approximation", what=what), coordinates)


def _factor(kernel: Kernel, points: np.ndarray, limit: int) -> Features | None:
    """A factor of at most ``limit`` coordinates, if one is exact up to rounding."""
    if isinstance(kernel, FeatureMap):
        return Features("factor", kernel, points)
    low = factorized(kernel, points, limit) if limit >= 1 else None
    return Features("factor", low[0], points, known=low[1]) if low else None


def _affordable(points: np.ndarray, limits: Limits, request: Request) -> int:
    """Coordinates that fit: the factor, and two of its size while it is made."""
    return int(limits.memory / (24.0 * request.kernels * len(points)))


def _pooled(kernel: PooledKernel, inner: Features, limits: Limits, request: Request) -> Features:
    """A kernel of the pooled sample from the features that it takes."""
    kernel.require_points(inner.points)
    points, automatic, z = inner.points, limits.gram == "auto", inner.coordinates()
    if z is None:
        free = automatic and request.by_coordinates and request.any_rank and len(points) >= _SEVERAL
        few = kernel.few(lambda: inner.matrix(limits.workers)) if free else None
        if few is None:
            return Features("dense", kernel, points, inner=inner)
        return Features("factor", few[0], points, known=few[1])
    assert isinstance(inner.kernel, FeatureMap)
    rank, most = z.shape[1], request.products or (_LOW if automatic else _MOST)
    if kernel.columns(rank) <= most or (request.products and kernel.affine):
        features, coordinates = kernel.transform_features(inner.kernel, z)
        return Features(inner.name, features, points, inner.note, np.ascontiguousarray(coordinates))
    if not automatic and not request.products:
        raise ValueError(
            f"gram={limits.gram!r}: {kernel!r} has {kernel.columns(rank)} coordinates where its kernel has {rank}, "
            f"more than {most}; give a smaller rank=, or use gram='dense'"
        )
    short = kernel.shortened(inner.kernel, z, most) if request.products or len(points) > _DENSE else None
    if short is None:
        check_memory(len(points), request.kernels, limits.memory)
        return Features("dense", kernel, points)
    what = f"{kernel.label} on the leading principal components, with {100.0 * short[2]:.3g} % of the variance"
    name = inner.name if request.products else "factor"
    return Features(name, short[0], points, note("approximation", what=what), np.ascontiguousarray(short[1]))


# --- memory and time ----------------------------------------------------------------------------------------


def advised(kernel: Kernel, size: int, columns: int, rank: int, permutations: float, work: str) -> str:
    """Return the approximations of a kernel with their times, the faster first, as advice."""
    inner = kernel.kernel if isinstance(kernel, PooledKernel) else kernel
    names = ("rff", "nystrom") if has_spectrum(inner) else ("nystrom",)
    times = {name: seconds(name, size, columns, rank, permutations, work) for name in names}
    first, *others = sorted(times, key=lambda name: times[name])
    advice = f"use gram={first!r}, rank={rank} (about {duration(times[first])} on one core)"
    return advice + "".join(f" or gram={name!r} (about {duration(times[name])})" for name in others)


def seconds(name: str, size: int, columns: int, rank: int, permutations: float, work: str) -> float:
    """Return the approximate time on one core of a test by random coordinates; ``work`` is one of `WORKS`."""
    each = _FEATURE if name == "rff" else _LANDMARK + _SOLVED * rank
    made = (2.0 if work == "pairs" else 1.0) * size * (_ROW + rank * (each + _COLUMN * columns))
    slope, extra = WORKS[work]
    permuted = slope * size * (rank + extra) * (1.0 if work == "sums" else rank)
    return made + min(permutations, _PERMUTATIONS) * (permuted + (_SPECTRUM * rank**3 if work == "filter" else 0.0))


def duration(time: float) -> str:
    """Return a rough time in words, with one digit or two."""
    unit, name = (3600.0, "h") if time >= 7200.0 else (60.0, "min") if time >= 120.0 else (1.0, "s")
    return f"{max(1.0, float(f'{time / unit:.1g}')):g} {name}"


def check_memory(size: int, kernels: int, memory: float, advice: str = "use a random part of the data") -> None:
    """Raise MemoryError if the Gram matrices of so many observations do not fit."""
    if needed(size, kernels) > memory:
        matrices = "Gram matrix takes" if kernels == 1 else "Gram matrices take"
        raise MemoryError(
            f"{size} observations: the {matrices} {bytes_of(needed(size, kernels))} while being made, more than "
            f"max_memory={bytes_of(memory)}; {advice}, or raise max_memory"
        )


def bytes_of(size: float) -> str:
    """A number of bytes in words."""
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB") if size >= 1e6 else (1.0, "bytes")
    return f"{size / unit:.3g} {name}" if unit > 1.0 else f"{size:.0f} {name}"
