"""Approximations of kernels by few coordinates, exact where that is possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest._progress import advancing
from shrinktest._validate import Array, as_rng
from shrinktest.kernels.base import FiniteRank, Kernel, Scaled
from shrinktest.kernels.distance import Gaussian, Laplacian
from shrinktest.kernels.rowwise import tiles, waves

TOLERANCE = 1e-10  # of the trace, which is below what counts as a tie
_FEW = 2**19  # products of rows and frequencies that plain numpy takes; more are left to compiled loops
_BLOCK = 2**20  # kernel values computed at a time
_ROOM = 256  # coordinates for which there is room at first
_FULL = 0.95  # of a pool that are landmarks: the rank is that of the data, which is not low
_POOL = 2000  # points among which landmarks are looked for at a time
_NARROW = 2  # columns of data whose Gram matrix has a low rank as a rule
SPARE = 64  # points more than landmarks that show that the rank is higher
_LOOKED_AT = 512  # rows, of which some are equal where few are different
_MANY = 4  # times as many points, from which that is worth a look


@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(FiniteRank):
    """The projection of a kernel on the span of its features at some points (Nystrom approximation).

    With L L' the Cholesky factorisation of the landmarks' Gram matrix, z(x) = L^-1 k(landmarks, x): z(x)'z(y) equals
    k(x, y) where x or y is a landmark, and k(x, x) - |z(x)|^2 says how much of x is missing.
    """

    kernel: Kernel  # with its bandwidth resolved
    points: Array  # (rank, d): the landmarks
    factor: Array  # (rank, rank): L, lower triangular
    exact: bool = False  # whether nothing is missing, up to rounding

    def coordinates(self, X: Array) -> Array:
        out = np.empty((len(self.points), len(X)))
        self.extend(X, out, 0)
        return out.T

    def diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(X) if self.exact else super().diagonal(X)

    def projected(self, values: Array) -> Array:
        """The coordinates (n, rank) that belong to kernel values (n, rank) with the landmarks, or to means of them."""
        from scipy.linalg import solve_triangular

        return np.ascontiguousarray(solve_triangular(self.factor, values.T, lower=True, check_finite=False).T)

    def extend(self, X: Array, out: Array, known: int) -> None:
        """Fill ``out`` (rank or more, n) from row ``known`` on with the coordinates; those before are there."""
        from scipy.linalg import solve_triangular

        before, lower = self.factor[known:, :known], self.factor[known:, known:]
        step = max(1, _BLOCK // max(len(lower), 1))
        advance = advancing(-(-len(X) // step))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            values = self.kernel(X[rows], self.points[known:]).T
            if known:
                values = values - before @ out[:known, rows]
            out[known : len(self.points), rows] = solve_triangular(lower, values, lower=True, check_finite=False)
            advance()

    def __repr__(self) -> str:
        return f"Landmarks({self.kernel!r}, <{len(self.points)} points>)"


@dataclass(frozen=True, eq=False, repr=False)
class RandomFourier(FiniteRank):
    """Random Fourier features [RR07]: k(x, y) as ``scale`` times a mean of cos(w'(x - y))."""

    kernel: Kernel  # what is approximated
    frequencies: Array  # (D, d): draws w from the kernel's spectral distribution
    scale: float  # k(x, x)

    @property
    def height(self) -> float:
        """What all cosines and sines are multiplied by."""
        return float(np.sqrt(self.scale / len(self.frequencies)))

    @cached_property
    def turns(self) -> Array:
        """The frequencies in whole turns, as compiled loops take them."""
        return tiles(np.ascontiguousarray(self.frequencies.T / (2.0 * np.pi)))

    def coordinates(self, X: Array) -> Array:
        half = len(self.frequencies)
        out = np.empty((len(X), 2 * half))
        few, rows = X.size * half <= _FEW, np.ascontiguousarray(X)
        step = max(1, _BLOCK // half)
        advance = advancing(-(-len(X) // step))
        for start in range(0, len(X), step):
            some, into = rows[start : start + step], out[start : start + step]
            if few:
                phase = some @ self.frequencies.T
                np.cos(phase, out=into[:, :half])
                np.sin(phase, out=into[:, half:])
                into *= self.height
            else:
                waves(some, self.turns, self.height, into)
            advance()
        return out

    def diagonal(self, X: Array) -> Array:
        return np.full(len(X), self.scale)  # as cos^2 + sin^2 is 1

    def __repr__(self) -> str:
        return f"RandomFourier({self.kernel!r}, <{len(self.frequencies)} frequencies>)"


def factorized(
    kernel: Kernel,
    points: Array,
    limit: int,
    *,
    truncate: bool = False,
    in_vain: bool = False,
    missing: float = TOLERANCE,
    start: Landmarks | None = None,
) -> tuple[Landmarks, Array] | None:
    """Approximate a kernel by landmarks, chosen by pivoted Cholesky until it is exact on all points.

    What is missing has a trace below ``missing`` times that of the Gram matrix.  Pools are formed in an order that
    does not depend on how the points are labelled, so neither does the outcome: landmarks and coordinates of the
    points.

    It is None where ``limit`` landmarks do not do, unless it is to ``truncate``, or where nearly every point of a
    pool became one.  With ``in_vain`` it is to be expected that more are needed, and nothing else can be done: then
    parts of the points, each four times as large as the one before, are looked at first.  ``start`` are fewer
    landmarks, of other points, to which those are added that it takes.
    """
    residual = kernel.diagonal(points)
    allowed = missing * float(residual.mean())
    found = start or Landmarks(kernel, points[:0], np.empty((0, 0)))
    rank = len(found.points)
    z = np.empty((min(limit, max(rank, _ROOM)), len(points)))  # transposed: what is not needed is never touched
    if start is not None:
        start.extend(points, z, 0)
        residual = residual - np.square(z[:rank]).sum(axis=0)
        if residual.mean() <= allowed:
            return replace(start, exact=True), z[:rank].T
        if rank == limit:
            return None
    if not truncate and _is_full(kernel, points, limit, allowed * len(points)):
        return None
    order = np.lexsort(points.T[::-1])
    pool = order[spread_rows(len(points), _POOL)] if start is None else _worst(residual, order)
    part = _POOL
    while in_vain and (part := 4 * part) <= len(points) // 4:
        some = points[order[spread_rows(len(points), part)]]
        if factorized(kernel, some, limit) is None:
            return None
    while True:
        known = len(found.points)
        found, left = _with_pivots(found, points[pool], z[:known, pool].T, residual[pool], allowed, limit)
        rank = len(found.points)
        if known < rank == limit and not truncate and left > 2.0 * allowed:  # of the pool, which has the landmarks
            return None
        if rank - known >= _FULL * len(pool) and not truncate and len(pool) < len(points):
            return None
        if rank > len(z):
            z = np.vstack([z[:known], np.empty((min(limit, 2 * rank) - known, len(points)))])
        found.extend(points, z, known)
        for row in z[known:rank]:
            residual = residual - np.square(row)
        exact = bool(residual.mean() <= allowed) or rank == known  # without a pivot left, the rest is rounding
        if exact or rank == limit:
            return (replace(found, exact=exact), z[:rank].T) if exact or truncate else None
        pool = _worst(residual, order)


def _worst(residual: Array, order: np.ndarray) -> np.ndarray:
    """The points of which most is missing, the first in this order among equal ones."""
    return np.asarray(order[np.argsort(-residual[order], kind="stable")[:_POOL]])


def _is_full(kernel: Kernel, points: Array, limit: int, allowed: float) -> bool:
    """Whether a look at few points proves that no ``limit`` landmarks leave a trace of ``allowed`` or less.

    Whatever the landmarks, they leave at least the sum of the eigenvalues but the ``limit`` largest of the Gram matrix
    of any points.  It is more than that if the matrix less a multiple of the identity has a Cholesky factor.
    """
    size = limit + SPARE
    if points.shape[1] <= _NARROW or len(points) < _MANY * size:  # where it would take longer than it saves
        return False
    return _has_no_factor(kernel, points[spread_rows(len(points), size)], allowed)


def never_few(kernel: Kernel, some: Array, size: int) -> bool:
    """Whether rows spread over a sample show that a kernel has no factor of few coordinates at all of its points.

    ``some`` are the rows of `spread_rows`, 64 more than there may be coordinates.  The bandwidth was found on them,
    and is near to that of all: to be on the safe side, ten times as much may be missing.
    """
    allowed = 10.0 * TOLERANCE * float(kernel.diagonal(some).mean())
    return some.shape[1] > _NARROW and _has_no_factor(kernel, some, allowed * size)


def few_distinct(points: Array, most: int) -> bool:
    """Whether at most so many rows (n, d) differ, as those of categories do, and some look at once as if they did."""
    some = np.unique(points[spread_rows(len(points), _LOOKED_AT)], axis=0)
    return 4 * len(some) <= _LOOKED_AT and len(np.unique(points, axis=0)) <= most


def spread_rows(size: int, number: int) -> Array:
    """So many row numbers below ``size``, or all of them, evenly spread."""
    return np.linspace(0, size - 1, min(size, number)).round().astype(np.intp)


def _has_no_factor(kernel: Kernel, some: Array, allowed: float) -> bool:
    """Whether all but 64 landmarks of these rows leave a trace of more than ``allowed``."""
    gram = kernel(some)
    gram[np.diag_indices(len(some))] -= 2.0 * allowed / SPARE
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def _with_pivots(
    found: Landmarks,
    pool: Array,
    known: Array,
    residual: Array,
    allowed: float,
    limit: int,
    gram: Array | None = None,
) -> tuple[Landmarks, float]:
    """Add landmarks from a pool, each time the point that is approximated worst, up to ``limit`` in all.

    Returns them and the mean of what is missing of the points of the pool, whose Gram matrix may be given.
    """
    start = known.shape[1]
    columns = np.empty((min(limit, start + len(pool)), len(pool)))
    columns[:start] = known.T
    residual = residual.copy()
    chosen: list[int] = []
    while (rank := start + len(chosen)) < len(columns) and residual.mean() > allowed:
        i = int(residual.argmax())
        line = found.kernel(pool[i : i + 1], pool)[0] if gram is None else gram[i]
        columns[rank] = (line - columns[:rank, i] @ columns[:rank]) / np.sqrt(residual[i])
        residual -= np.square(columns[rank])
        residual[i] = 0.0
        chosen.append(i)
    factor = np.zeros((rank, rank))
    factor[:start, :start] = found.factor
    factor[start:] = np.tril(columns[:rank, chosen].T, k=start)
    return Landmarks(found.kernel, np.vstack([found.points, pool[chosen]]), factor), float(residual.mean())


def nystrom(kernel: Kernel, points: Array, rank: int, rng: Any) -> Landmarks:
    """Landmarks drawn from the points, uniformly and without replacement; repeated and dependent ones are left out.

    Points that the kernel sees as zero are none.
    """
    seen = np.flatnonzero(kernel.diagonal(points) > 0.0)
    points = points[seen] if 0 < len(seen) < len(points) else points
    drawn = points[as_rng(rng).choice(len(points), min(rank, len(points)), replace=False)]
    diagonal = kernel.diagonal(drawn)
    none = Landmarks(kernel, points[:0], np.empty((0, 0)))
    allowed = TOLERANCE * float(diagonal.mean())
    gram = kernel(drawn)  # nearly all of which is wanted, for nearly every point becomes a landmark
    return _with_pivots(none, drawn, np.empty((len(drawn), 0)), diagonal, allowed, rank, gram)[0]


def has_spectrum(kernel: Kernel) -> bool:
    """Whether frequencies can be drawn for it."""
    return isinstance(kernel.kernel if isinstance(kernel, Scaled) else kernel, Gaussian | Laplacian)


def no_spectrum(kernel: Kernel) -> ValueError:
    """What is raised for a kernel for which no frequencies can be drawn."""
    return ValueError(
        f"gram='rff' draws from the spectral distribution of a Gaussian or Laplacian kernel; found {kernel!r}: "
        "use gram='nystrom'"
    )


def random_fourier(kernel: Kernel, columns: int, rank: int, rng: Any) -> RandomFourier:
    """Frequencies of a Gaussian or Laplacian kernel, half as many as coordinates."""
    shape = (max(1, rank // 2), columns)
    scale, base = (kernel.factor, kernel.kernel) if isinstance(kernel, Scaled) else (1.0, kernel)
    if isinstance(base, Gaussian):
        draws = as_rng(rng).standard_normal(shape)
    elif isinstance(base, Laplacian):
        draws = as_rng(rng).standard_cauchy(shape)
    else:
        raise no_spectrum(kernel)
    return RandomFourier(kernel, draws / np.asarray(base.bandwidth), scale)
