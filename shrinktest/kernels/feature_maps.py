"""Kernels by few coordinates: Nystrom, pivoted Cholesky, random Fourier features, and maps of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest._check import Array, as_rng
from shrinktest._parallel import progress_steps
from shrinktest.kernels.bandwidths import spread_rows
from shrinktest.kernels.base import Kernel, Scaled
from shrinktest.kernels.distance import DistanceKernel, Gaussian, Laplacian
from shrinktest.kernels.inner import FeatureMap

TOLERANCE = 1e-10  # of the trace, which is below what counts as a tie
_SPARE = 64  # points more than landmarks that show that the rank is higher
_FEW = 2**19  # products of rows and frequencies that plain numpy takes; more are left to compiled loops
_BLOCK = 2**20  # kernel values computed at a time
_ROOM = 256  # coordinates for which memory is taken at first
_FULL = 0.95  # of a pool that are landmarks: the rank is that of the data, which is not low
_POOL = 2000  # points among which landmarks are looked for at a time
_NARROW = 2  # columns of data whose Gram matrix usually has a low rank
_LOOKED_AT = 512  # rows, of which some are equal if few are different
_MANY = 4  # times as many points, from which that is worth a look
_TILE = 128  # features whose weights are together in memory
_CACHED = 2**15  # features of some rows, which stay in the cache


# --- features of rows ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(FeatureMap):
    """The projection of a kernel on the span of its features at some points (Nystrom approximation).

    With L L' the Cholesky factorization of the landmarks' Gram matrix, z(x) = L^-1 k(landmarks, x): z(x)'z(y) equals
    k(x, y) if x or y is a landmark, and k(x, x) - |z(x)|^2 is what is missing of x.
    """

    kernel: Kernel  # resolved
    points: Array  # (rank, d): the landmarks
    factor: Array  # (rank, rank): L, lower triangular
    exact: bool = False  # True if nothing is missing, up to rounding

    def coordinates(self, X: Array) -> Array:
        out = np.empty((len(self.points), len(X)))
        self.extend(X, out, 0)
        return out.T

    def diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(X) if self.exact else super().diagonal(X)

    def projected(self, values: Array) -> Array:
        """Return coordinates (n, rank) from kernel values (n, rank) with the landmarks, or from means of them."""
        from scipy.linalg import solve_triangular

        return np.ascontiguousarray(solve_triangular(self.factor, values.T, lower=True, check_finite=False).T)

    def extend(self, X: Array, out: Array, known: int) -> None:
        """Fill ``out`` (rank or more, n) with coordinates from row ``known`` on; those before are known."""
        from scipy.linalg import solve_triangular

        before, lower = self.factor[known:, :known], self.factor[known:, known:]
        for rows in _steps(len(X), _BLOCK // max(len(lower), 1)):
            values = self.kernel.block(X[rows], self.points[known:]).T
            if known:
                values = values - before @ out[:known, rows]
            out[known : len(self.points), rows] = solve_triangular(lower, values, lower=True, check_finite=False)

    def __repr__(self) -> str:
        return f"Landmarks({self.kernel!r}, <{len(self.points)} points>)"


@dataclass(frozen=True, eq=False, repr=False)
class RandomFourier(FeatureMap):
    """Random Fourier features [RR07]: k(x, y) as ``scale`` times a mean of cos(w'(x - y))."""

    kernel: Kernel  # the kernel that is approximated
    frequencies: Array  # (D, d): draws w from the kernel's spectral distribution
    scale: float  # k(x, x)

    @property
    def height(self) -> float:
        """The factor of all cosines and sines."""
        return float(np.sqrt(self.scale / len(self.frequencies)))

    @cached_property
    def turns(self) -> Array:
        """The frequencies in whole turns, in tiles for compiled loops."""
        return tiles(np.ascontiguousarray(self.frequencies.T / (2.0 * np.pi)))

    def coordinates(self, X: Array) -> Array:
        half, X = len(self.frequencies), np.ascontiguousarray(X)
        out = np.empty((len(X), 2 * half))
        for rows in _steps(len(X), _BLOCK // half):
            if X.size * half <= _FEW:
                phase = X[rows] @ self.frequencies.T
                out[rows] = self.height * np.hstack([np.cos(phase), np.sin(phase)])
            else:
                waves(X[rows], self.turns, self.height, out[rows])
        return out

    def diagonal(self, X: Array) -> Array:
        return np.full(len(X), self.scale)  # as cos^2 + sin^2 is 1

    def __repr__(self) -> str:
        return f"RandomFourier({self.kernel!r}, <{len(self.frequencies)} frequencies>)"


# --- features of features -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AffineFeatures(FeatureMap):
    """The constant 1, and linear maps of features about a mean."""

    features: FeatureMap
    mean: Array  # (r,)
    weights: Array  # (r, q)

    def coordinates(self, X: Array) -> Array:
        return self.of(self.features.coordinates(X))

    def of(self, z: Array) -> Array:
        """Return coordinates (n, 1 + q) from features (n, r)."""
        return np.hstack([np.ones((len(z), 1)), (z - self.mean) @ self.weights])


@dataclass(frozen=True, eq=False, repr=False)
class Derived(FeatureMap):
    """Features of features."""

    features: FeatureMap  # of the rows
    after: FeatureMap  # of these features

    def coordinates(self, X: Array) -> Array:
        return self.after.coordinates(self.features.coordinates(X))

    def __repr__(self) -> str:
        return f"{self.after!r} of {self.features!r}"


@dataclass(frozen=True, eq=False, repr=False)
class Concatenated(FeatureMap):
    """Features, and features of these, side by side: the first are computed once."""

    features: FeatureMap
    others: tuple[FeatureMap, ...] = ()  # of these features
    columns: tuple[int, ...] | None = None  # the columns of the rows that are used; default all

    def coordinates(self, X: Array) -> Array:
        z = self.features.coordinates(X if self.columns is None else np.ascontiguousarray(X[:, self.columns]))
        return np.hstack([z, *(other.coordinates(z) for other in self.others)]) if self.others else z


# --- landmarks ----------------------------------------------------------------------------------------------


def factorized(
    kernel: Kernel,
    points: Array,
    limit: int,
    *,
    truncate: bool = False,
    missing: float = TOLERANCE,
    start: Landmarks | None = None,
) -> tuple[Landmarks, Array] | None:
    """Approximate a kernel by landmarks, chosen by pivoted Cholesky until it is exact on all points.

    Exact means that the missing trace is below ``missing`` times the trace of the Gram matrix.  Pools of candidates are
    formed in an order that does not depend on labels, so the landmarks and the coordinates of the points do not either.

    The result is None if ``limit`` landmarks are not enough, unless ``truncate`` is set, or if nearly every point of a
    pool became one.  Landmarks are added to those of ``start``, which come from other points.
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


def nystrom(kernel: Kernel, points: Array, rank: int, rng: Any) -> Landmarks:
    """Draw landmarks from the points, without replacement; dependent ones and points with k(x, x) = 0 are left out."""
    nonzero = np.flatnonzero(kernel.diagonal(points) > 0.0)
    points = points[nonzero] if 0 < len(nonzero) < len(points) else points
    drawn = points[as_rng(rng).choice(len(points), min(rank, len(points)), replace=False)]
    diagonal = kernel.diagonal(drawn)
    empty = Landmarks(kernel, points[:0], np.empty((0, 0)))
    gram = kernel.block(drawn, drawn)  # whole, because nearly every point becomes a landmark
    allowed = TOLERANCE * float(diagonal.mean())
    return _with_pivots(empty, drawn, np.empty((len(drawn), 0)), diagonal, allowed, rank, gram)[0]


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

    Return them and the mean of what is missing of the points of the pool, whose Gram matrix may be given.
    """
    start = known.shape[1]
    columns = np.empty((min(limit, start + len(pool)), len(pool)))
    columns[:start] = known.T
    residual = residual.copy()
    chosen: list[int] = []
    while (rank := start + len(chosen)) < len(columns) and residual.mean() > allowed:
        i = int(residual.argmax())
        line = found.kernel.block(pool[i : i + 1], pool)[0] if gram is None else gram[i]
        columns[rank] = (line - columns[:rank, i] @ columns[:rank]) / np.sqrt(residual[i])
        residual -= np.square(columns[rank])
        residual[i] = 0.0
        chosen.append(i)
    factor = np.zeros((rank, rank))
    factor[:start, :start] = found.factor
    factor[start:] = np.tril(columns[:rank, chosen].T, k=start)
    return Landmarks(found.kernel, np.vstack([found.points, pool[chosen]]), factor), float(residual.mean())


def _worst(residual: Array, order: np.ndarray) -> np.ndarray:
    """Return the points of which most is missing, the first in this order among equal ones."""
    return np.asarray(order[np.argsort(-residual[order], kind="stable")[:_POOL]])


def _is_full(kernel: Kernel, points: Array, limit: int, allowed: float) -> bool:
    """Tell whether few points prove that no ``limit`` landmarks leave a trace of ``allowed`` or less.

    Any landmarks leave at least the sum of the eigenvalues except the ``limit`` largest of the Gram matrix of any
    points.  It is larger than that if the matrix less a multiple of the identity has a Cholesky factor.
    """
    size = limit + _SPARE
    if points.shape[1] <= _NARROW or len(points) < _MANY * size:  # it would take longer than it saves
        return False
    some = points[spread_rows(len(points), size)]
    gram = kernel.block(some, some)
    gram[np.diag_indices(size)] -= 2.0 * allowed / _SPARE
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def few_distinct(points: Array, most: int) -> bool:
    """Tell whether at most so many rows (n, d) differ, as in categories, and a part of them already suggests it."""
    some = np.unique(points[spread_rows(len(points), _LOOKED_AT)], axis=0)
    return 4 * len(some) <= _LOOKED_AT and len(np.unique(points, axis=0)) <= most


# --- random Fourier features --------------------------------------------------------------------------------


def has_spectrum(kernel: Kernel) -> bool:
    """Tell whether frequencies can be drawn for a kernel."""
    return isinstance(kernel.kernel if isinstance(kernel, Scaled) else kernel, Gaussian | Laplacian)


def no_spectrum(kernel: Kernel) -> ValueError:
    """Return the error for a kernel for which no frequencies can be drawn."""
    return ValueError(
        "gram='rff' draws from the spectral distribution of a Gaussian or Laplacian kernel, "
        f"not {kernel!r}; use gram='nystrom'"
    )


def random_fourier(kernel: Kernel, columns: int, rank: int, rng: Any) -> RandomFourier:
    """Draw frequencies of a Gaussian or Laplacian kernel, half as many as coordinates."""
    if not has_spectrum(kernel):
        raise no_spectrum(kernel)
    scale, base = (kernel.factor, kernel.kernel) if isinstance(kernel, Scaled) else (1.0, kernel)
    assert isinstance(base, DistanceKernel)
    generator, shape = as_rng(rng), (max(1, rank // 2), columns)
    draws = generator.standard_normal(shape) if isinstance(base, Gaussian) else generator.standard_cauchy(shape)
    return RandomFourier(kernel, draws / np.asarray(base.bandwidth), scale)


# --- compiled loops over rows, whose bits depend on the row alone -------------------------------------------


def tiles(weights: Array) -> Array:
    """Return weights (d, m) as (tiles, d, 128), with zeros beyond the last feature."""
    d, m = weights.shape
    padded = np.zeros((d, -(-m // _TILE) * _TILE))
    padded[:, :m] = weights
    return np.ascontiguousarray(padded.reshape(d, -1, _TILE).swapaxes(0, 1))


def step_of(width: int) -> int:
    """Return the number of rows whose ``width`` features stay in the cache."""
    return max(16, _CACHED // max(1, width))


def steps(rows: int, width: int) -> list[slice]:
    """Return slices of so many rows, whose ``width`` features stay in the cache."""
    step = step_of(width)
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def waves(X: Array, turns: Array, height: float, out: Array) -> None:
    """Write cosines, then sines, of the phases of rows X (n, d), times ``height``, into ``out`` (n, 2m).

    ``turns`` are weights of the phases in whole turns (see :func:`tiles`).  All arrays are C-contiguous float64.
    """
    from shrinktest.kernels.feature_loops import waves as loop

    for rows in steps(len(X), out.shape[1]):
        loop(X[rows], turns, height, out[rows])


def bells(X: Array, landmarks: Array, halves: Array, out: Array) -> None:
    """Write Gaussian kernel values of rows X (n, d) and landmarks in units of the bandwidth into ``out`` (n, m).

    Landmarks are in :func:`tiles`; ``halves`` (m,) are half of their squared norms.  All arrays are C-contiguous.
    """
    from shrinktest.kernels.feature_loops import bells as loop

    for rows in steps(len(X), out.shape[1]):
        loop(X[rows], landmarks, halves, out[rows])


def products(rows: Array, weights: Array, out: Array) -> None:
    """Write rows (n, d) times weights (d, m) in tiles (:func:`tiles`) into ``out`` (n, m)."""
    from shrinktest.kernels.feature_loops import products as loop

    loop(rows, weights, out)


def _steps(rows: int, step: int) -> Any:
    """Yield slices of so many rows, and advance the progress bar after each."""
    step = max(1, step)
    advance = progress_steps(-(-rows // step))
    for start in range(0, rows, step):
        yield slice(start, start + step)
        advance()
