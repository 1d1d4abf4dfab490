"""How the kernel gets to the statistic: as a Gram matrix, or by coordinates of the observations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shrinktest._validate import choice, count, counted
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import factorized, few_distinct, nystrom, random_fourier
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.kernels.rescaled import Rescaled
from shrinktest.statistics import tiles
from shrinktest.statistics.centred import Centred, alike
from shrinktest.statistics.outlook import advised, bytes_of, check_memory, duration, needed, never_fits

GRAMS = ("auto", "dense", "factor", "nystrom", "rff")

_COLUMNS = 2  # of data whose Gram matrix has a low rank; with more it is full
_LOW = 1000  # coordinates at most where nobody asked for a factor
_SEVERAL = 16  # observations from which two coordinates take less time than a Gram matrix
_DENSE = 4000  # observations up to which a Gram matrix takes less time than a thousand coordinates
_MOST = 3000  # coordinates beyond which a factor is no longer one
_PATIENCE = 600.0  # seconds up to which "auto" makes the Gram matrix by tiles


@dataclass(frozen=True)
class Gram:
    """A kernel at the observations: as their Gram matrix, or by coordinates whose inner products it is."""

    # "dense": its Gram matrix.  "tiles": parts of it that are made when needed.  "factor": coordinates that give the same Gram matrix up to rounding.  "nystrom", "rff":
    # coordinates of an approximation.
    name: str
    kernel: Kernel  # for all but "dense" one of finite rank
    points: np.ndarray  # (N, d)
    note: str | None = None  # what a reader of the result should know
    found: np.ndarray | None = None  # (N, rank): coordinates of the observations where they were found on the way
    # that of the kernel whose features a kernel of the pooled sample takes, or of the one whose columns are rescaled
    of: Gram | None = None
    moved: Centred | None = None  # the features less their mean, where these are what is meant
    _evaluated: list[np.ndarray] = field(default_factory=list, repr=False, compare=False)

    def matrix(self, workers: int = 1) -> np.ndarray:
        """The Gram matrix of the observations; evaluated once, whoever asks."""
        if not self._evaluated:
            if self.of is None:
                matrix = self.kernel.gram_matrix(self.points, workers)
            else:
                matrix = self.of.matrix(workers)
                if isinstance(self.kernel, PooledKernel):
                    matrix = self.kernel.of_gram(matrix)
            self._evaluated.append(np.ascontiguousarray(matrix))
        return self._evaluated[0]

    def coordinates(self) -> np.ndarray | None:
        """Coordinates (N, rank) of the observations; None for "dense"."""
        if self.found is not None:
            return self.found
        if not isinstance(self.kernel, FeatureMap) or self.name == "dense":
            return None
        return self.kernel.checked_coordinates(self.points)

    def few_coordinates(self) -> np.ndarray | None:
        """Coordinates where these are no more than the observations: else a filter has less work with the matrix."""
        z = self.coordinates()
        return None if z is None or z.shape[1] > len(z) else z

    def evaluated(self, coordinates: np.ndarray | None = None) -> Gram:
        """The same with its coordinates, which are then found once; they live as long as what is returned."""
        z = self.coordinates() if coordinates is None else coordinates
        return self if z is None else replace(self, found=z)

    def centred(self, workers: int = 1) -> Centred:
        """The features less their mean, which no labels change: by coordinates where there are some."""
        z = self.coordinates()
        if z is not None:
            return Centred.of_coordinates(z)
        if isinstance(self.kernel, FeatureMap):
            return Centred.of_coordinates(self.kernel.coordinates(self.points), dense=True)
        return Centred.of_kernel(self.kernel, self.points, self.matrix(workers), workers)

    def seen_from_mean(self, memory: float, workers: int = 1) -> Gram:
        """The same features less their mean, where that is so long that rounding would hide how they differ.

        For statistics that do not depend on where the features lie.  Otherwise, and where a second Gram matrix takes
        more than ``memory``, the same as it is.  Coordinates are found once, and kept by what is returned.
        """
        if self.name == "tiles":
            return self
        z = self.coordinates()
        if z is not None:
            squares, total = float(np.linalg.norm(z)) ** 2, float(np.square(z.sum(axis=0)).sum())
        else:
            squares, total = np.trace(self.matrix(workers)), self.matrix(workers).sum()
        fits = z is not None or needed(len(self.points), 2) <= memory
        if not (fits and alike(squares, total, len(self.points))):
            return self.evaluated(z)
        moved = self.centred(workers)
        if moved.by_coordinates:
            return replace(self, moved=moved, found=moved.values, _evaluated=[])
        return replace(self, moved=moved, _evaluated=[moved.values])

    def size(self, workers: int = 1) -> float:
        """The root of the mean square of the kernel values, with what rounding may have changed in them.

        For coordinates the least that it may be: their products would take as long as a test.
        """
        if self.name == "tiles":
            made = self.of or self
            return tiles.typical_size(made.kernel, made.points)
        if self.moved is not None:
            return self.moved.size
        z = self.coordinates()
        if z is None:
            return float(np.linalg.norm(self.matrix(workers))) / len(self.points)
        return float(np.linalg.norm(z)) ** 2 / (len(z) * max(1, z.shape[1]) ** 0.5)

    def diagonal(self) -> np.ndarray:
        """The squared norms (N,) of the features."""
        if self.moved is not None:
            return self.moved.diagonal()
        if self.name == "nystrom" and self.found is not None:
            return np.square(self.found).sum(axis=1)
        return self.kernel.diagonal(self.points)

    @property
    def columns(self) -> int | None:
        """How many coordinates there are; None for "dense"."""
        if self.found is not None:
            return int(self.found.shape[1])
        if not isinstance(self.kernel, FeatureMap) or self.name == "dense":
            return None
        return int(self.kernel.checked_coordinates(self.points[:1]).shape[1])

    @property
    def embedded(self) -> Kernel | None:
        """The kernel of finite rank that stands for the one asked for, where coordinates are used."""
        return self.kernel if isinstance(self.kernel, FeatureMap) else None


class Grams:
    """`choose_gram` for all statistics of a test: every distinct kernel is evaluated once.

    Kernels are told apart by ``==``.  Random coordinates are drawn for every kernel object by itself, so that a
    statistic sees the same ones whatever it is combined with.
    """

    def __init__(
        self, gram: str, rank: int | None, memory: float, rng: np.random.Generator, permutations: float = 0
    ) -> None:
        self.options: dict[str, Any] = {"gram": gram, "rank": rank, "memory": memory, "rng": rng}
        self.options["permutations"] = permutations
        self._known: list[tuple[np.ndarray, Kernel, tuple[Any, ...], Gram]] = []

    @property
    def random(self) -> bool:
        """Whether coordinates are drawn at random."""
        return self.options["gram"] in ("nystrom", "rff")

    def never(self, kernel: Kernel, points: np.ndarray) -> bool:
        """Whether a look at a few points shows that there is no memory for a kernel, resolved or not."""
        return self.options["gram"] == "auto" and never_fits(kernel, points, self.options["memory"], _LOW)

    def __call__(self, kernel: Kernel, points: np.ndarray, **wishes: Any) -> Gram:
        """The kernel at these points; ``wishes`` are the arguments of :func:`choose_gram` that a statistic decides."""
        options = {**self.options, **wishes}
        asked = tuple(sorted((name, value) for name, value in wishes.items()))
        same = [one for one in self._known if one[0] is points and self._same(one[1], kernel)]
        for _, _, before, gram in same:
            if before == asked:
                return gram
        if isinstance(kernel, PooledKernel) and not self.random:
            inner = self(kernel.kernel, points, **{**wishes, "kernels": wishes.get("kernels", 1) + 1, "tiled": False})
            found = _of_pooled(kernel, inner, options)
        else:
            found = choose_gram(kernel, points, **options)
        dense = [one[3] for one in same if one[3].name == found.name == "dense"]
        if self.random:  # only the latest is remembered, so that what is drawn depends on the order of kernels alone
            self._known = [one for one in self._known if one[0] is not points or one[1] is kernel]
        self._make_room(len(points), options["memory"])
        self._known.append((points, kernel, asked, dense[0] if dense else found))
        return self._known[-1][3]

    def _same(self, one: Kernel, other: Kernel) -> bool:
        return one is other or (not self.random and bool(one == other))

    def _make_room(self, size: int, memory: float) -> None:
        """Forget the oldest, so that the Gram matrices kept and a new one take half of the memory at most."""
        while self._known and 8.0 * size**2 * (1 + sum(bool(one[3]._evaluated) for one in self._known)) > memory / 2.0:
            self._known.pop(0)


def choose_gram(kernel: Kernel, points: np.ndarray, **options: Any) -> Gram:
    """How to evaluate a kernel, that of the features that an estimator works with, at all observations (N, d).

    What is found on them does not depend on their labels.  ``options`` are those of `_of_kernel`.  Raises ValueError
    for coordinates that the kernel does not have, or a rank where there is none, and MemoryError if it takes more than
    ``memory``; that says how much, and which would fit.
    """
    choice(options["gram"], GRAMS, "gram")
    if isinstance(kernel, Rescaled):
        inner = choose_gram(kernel.kernel, kernel.moved(points), **options)
        if inner.name in ("dense", "tiles"):
            return Gram(inner.name, kernel, points, of=inner)
        assert isinstance(inner.kernel, FeatureMap)
        return Gram(inner.name, kernel.of_features(inner.kernel), points, inner.note, inner.found)
    if isinstance(kernel, PooledKernel):
        options["tiled"] = False  # which needs the whole matrix
        options["kernels"] = options.get("kernels", 1) + 1  # there is a factorisation beside the Gram matrix
        return _of_pooled(kernel, choose_gram(kernel.kernel, points, **options), options)
    return _of_kernel(kernel, points, **options)


def _of_kernel(
    kernel: Kernel,
    points: np.ndarray,
    *,
    gram: str,
    rank: int | None,  # number of coordinates
    memory: float,  # bytes
    rng: np.random.Generator,  # draws landmarks and frequencies; not touched for the others
    by_coordinates: bool,  # whether the estimator can do without the Gram matrix
    unasked: bool = True,  # whether "auto" may choose coordinates
    kernels: int = 1,  # how many kernels share the memory, with a working copy each when there are several
    large: int = 1500,  # number of observations from which few coordinates pay for being found
    columns: int = _COLUMNS,  # of the data, up to which they are looked for
    default_rank: int = 1000,  # coordinates of an approximation
    permutations: float = 0,  # how many there will be,
    work: str = "sums",  # and what each does, one of `WORKS`, for what is said of the time
    tiled: bool = False,  # whether the statistic can do with tiles of the Gram matrix
) -> Gram:
    """The same of a kernel that is not made of another one."""
    if rank is not None:
        rank = count(rank, "rank", minimum=1)
        if gram in ("auto", "dense"):
            raise ValueError(f"rank={rank} is for gram='factor', 'nystrom' or 'rff'; gram={gram!r} has none")
    size, width = points.shape
    affordable = int(memory / (24.0 * kernels * size))  # coordinates: the factor, and two of its size while it is made
    fits, explicit = needed(size, kernels) <= memory, gram == "dense"
    if gram == "auto":
        gram = "dense"
        small = size < large or (width > columns and not few_distinct(points, min(_LOW, size // 4)))
        if by_coordinates and unasked and (_few(kernel, points) or not small or not fits):
            found = _factor(kernel, points, min(_LOW, size // 4, affordable), in_vain=not fits)
            if found is not None and not (fits and _coarse(found)):
                return found
    if gram != "dense" and not by_coordinates:
        raise ValueError(
            f"gram={gram!r}: this estimator is fitted to the Gram matrix of every permuted sample, as are your own, "
            "marginalised ones that tune their noise there, and all but 'kme', 'skmse' and the marginalised ones in "
            "an independence test; use gram='dense'"
        )
    if gram == "dense":
        time = tiles.seconds(size, permutations, work == "pairs")
        if tiled and not fits and (explicit or time < _PATIENCE):
            return Gram("tiles", kernel, points)
        advice = (
            advised(kernel, size, width, min(default_rank, max(1, affordable)), permutations, work)
            + (f" or gram='dense' (by tiles, about {duration(time)})" if tiled else "")
            if by_coordinates
            else "use estimator='kme', 'skmse' or 'mkme', which do without it, or a random part of the data"
        )
        check_memory(size, kernels, memory, advice)
        return Gram("dense", kernel, points)
    exact = gram == "factor" and rank is None  # then nobody knows how many coordinates before they are found
    most = rank or (_MOST if exact else default_rank)
    most = most if gram == "rff" else min(most, size)  # a landmark is one of the observations
    if (1 if exact else most) > max(1, affordable):
        raise MemoryError(
            f"gram={gram!r}: {counted(most, 'coordinate')} of {counted(size, 'observation')} take "
            f"{bytes_of(24.0 * kernels * size * most)}, "
            f"more than max_memory={bytes_of(memory)}; give rank={max(1, affordable)} or less"
        )
    if exact:
        found = _factor(kernel, points, min(most, affordable))
        if found is None:
            full = (
                f"the Gram matrix has more than {min(most, affordable)} dimensions, or nearly as many as observations"
            )
            if affordable < most:
                raise MemoryError(
                    f"gram='factor': {full}, and {affordable} coordinates of {size} observations take all of "
                    f"max_memory={bytes_of(memory)}; use gram='nystrom' with rank={min(default_rank, affordable)}"
                )
            raise ValueError(
                f"gram='factor': {full}, so that its factor saves nothing; "
                f"use gram='dense', or approximate it by gram='nystrom', rank={default_rank}"
            )
        return found
    if gram == "factor":
        assert rank is not None
        if isinstance(kernel, FeatureMap):
            return Gram(gram, kernel, points)
        low = factorized(kernel, points, rank, truncate=True)
        assert low is not None  # as it may be truncated
        return Gram(gram, low[0], points, _note(f"a pivoted Cholesky factor of rank {low[1].shape[1]}"), low[1])
    if gram == "nystrom":
        approximation = nystrom(kernel, points, most, rng)
        landmarks = counted(len(approximation.points), "landmark")
        return Gram(gram, approximation, points, _note(f"a Nystrom approximation with {landmarks}"))
    features = random_fourier(kernel, width, most, rng)
    note = _note(f"an approximation by {2 * len(features.frequencies)} random Fourier features")
    if most > size and rank is None:
        note += f" That is more than the {size} observations: gram='dense' is exact and takes less time."
    return Gram(gram, features, points, note)


def _of_pooled(kernel: PooledKernel, inner: Gram, options: dict[str, Any]) -> Gram:
    """A kernel of the pooled sample from that whose features it takes: by coordinates, or by its Gram matrix."""
    gram, points = options["gram"], inner.points
    asked = gram != "auto"
    found = inner.coordinates()
    if found is None:
        unasked = not asked and options["by_coordinates"] and options.get("unasked", True)
        few = kernel.few(inner.matrix()) if unasked and len(points) >= _SEVERAL else None
        return Gram("dense", kernel, points, of=inner) if few is None else Gram("factor", few[0], points, found=few[1])
    assert isinstance(inner.kernel, FeatureMap)
    rank, most = found.shape[1], _MOST if asked else _LOW
    if kernel.columns(rank) <= most:
        features, coordinates = kernel.of_features(inner.kernel, found)
        return Gram(inner.name, features, points, inner.note, np.ascontiguousarray(coordinates))
    if asked:
        raise ValueError(
            f"gram={gram!r}: {kernel!r} has {kernel.columns(rank)} coordinates where its kernel has {rank}, more than "
            f"{most}; give a smaller rank=, or use gram='dense'"
        )
    short = kernel.shortened(inner.kernel, found, most) if len(points) > _DENSE else None
    if short is None:
        check_memory(len(points), options.get("kernels", 1), options["memory"])
        return Gram("dense", kernel, points)
    note = _note(f"{kernel.label} on the leading principal components, with {100.0 * short[2]:.3g} % of the variance")
    return Gram("factor", short[0], points, note, np.ascontiguousarray(short[1]))


def _factor(kernel: Kernel, points: np.ndarray, limit: int, *, in_vain: bool = False) -> Gram | None:
    """The kernel by a factor of at most ``limit`` coordinates, if there is one."""
    if isinstance(kernel, FeatureMap):
        return Gram("factor", kernel, points)
    low = factorized(kernel, points, limit, in_vain=in_vain) if limit >= 1 else None
    return Gram("factor", low[0], points, found=low[1]) if low else None


def _coarse(gram: Gram) -> bool:
    """Whether what a factor leaves out of the Gram matrix is not small beside the differences of the features."""
    z = gram.found
    return z is not None and alike(np.square(z).sum(), np.square(z.sum(axis=0)).sum(), len(z))


def _few(kernel: Kernel, points: np.ndarray) -> bool:
    return isinstance(kernel, FeatureMap) and 4 * kernel.checked_coordinates(points[:1]).shape[1] <= len(points)


def _note(what: str) -> str:
    return f"The statistic is that of {what}; its permutation test has exact level."
