"""Low-rank kernels: Nystrom, pivoted Cholesky, random Fourier features, and feature maps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest._machine_code import compiled_loop
from shrinktest._parallel import progress_steps
from shrinktest._random import as_rng
from shrinktest.kernels.bandwidths import spread_rows
from shrinktest.kernels.base import Kernel, Scaled
from shrinktest.kernels.distance_kernel import Gaussian, Laplacian
from shrinktest.kernels.inner import FeatureMap

TOLERANCE = 1e-10  # of the trace, which is below what counts as a tie
_SPARE = 64
_MANY = 4  # points more than landmarks that show that the rank is higher, and times as many in all
_FEW = (
    2**19
)  # products of rows and frequencies that plain numpy takes; more are left to compiled loops
_BLOCK = 2**20  # kernel values computed at a time
_WAVE = 1.5e-8  # seconds for a cosine and a sine, for each column of the rows at most
_FULL = 0.95  # of a pool that are landmarks: the rank of the data is not low
_POOL = 2000  # points among which landmarks are looked for at a time
_NARROW = 2  # columns of data whose Gram matrix usually has a low rank
_LOOKED_AT = 512  # rows, of which some are equal if few are different
_TILE = 128  # features whose weights are together in memory


@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(FeatureMap):
    """Projection of a kernel on the span of its features at some points.

    This is the Nystrom approximation.

    With L L' the Cholesky factorization of the landmarks' Gram matrix, z(x) = L^-1 k(landmarks, x).
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
        """Return coordinates (n, rank) from kernel values (n, rank) with the landmarks.

        Means of kernel values may be given instead.
        """
        from scipy.linalg import solve_triangular

        return np.ascontiguousarray(
            solve_triangular(self.factor, values.T, lower=True, check_finite=False).T
        )

    def extend(self, X: Array, out: Array, first: int) -> None:
        """Fill ``out`` (rank or more, n) with coordinates from row ``first`` on.

        Those before are filled.
        """
        from scipy.linalg import solve_triangular

        before = self.factor[first:, :first]
        lower = self.factor[first:, first:]
        for rows in _with_progress(len(X), _BLOCK // max(len(lower), 1)):
            values = self.kernel.block(X[rows], self.points[first:]).T
            if first:
                values = values - before @ out[:first, rows]
            out[first : len(self.points), rows] = solve_triangular(
                lower, values, lower=True, check_finite=False
            )


@dataclass(frozen=True, eq=False, repr=False)
class RandomFourier(FeatureMap):
    """Random Fourier features [RR07]: k(x, y) as ``scale`` times a mean of cos(w'(x - y))."""

    kernel: Kernel  # the kernel that is approximated
    frequencies: Array  # (D, d): draws w from the kernel's spectral distribution
    scale: float  # k(x, x)

    @cached_property
    def turns(self) -> Array:
        """The frequencies in whole turns, in tiles for compiled loops."""
        return tiles(self.frequencies.T / (2.0 * np.pi))

    def coordinates(self, X: Array) -> Array:
        half = len(self.frequencies)
        X = np.ascontiguousarray(X)
        height = float(np.sqrt(self.scale / half))
        out = np.empty((len(X), 2 * half))
        waves = compiled_loop("waves", 1, _WAVE * X.size * half) if X.size * half > _FEW else None
        for rows in _with_progress(len(X), _BLOCK // half):
            if waves is None:
                phase = X[rows] @ self.frequencies.T
                out[rows] = height * np.hstack([np.cos(phase), np.sin(phase)])
            else:
                waves(X[rows], self.turns, height, out[rows])
        return out

    def diagonal(self, X: Array) -> Array:
        return np.full(len(X), self.scale)  # as cos^2 + sin^2 is 1


@dataclass(frozen=True, eq=False)
class AffineFeatures(FeatureMap):
    """The constant 1, and linear maps of numbers about a mean."""

    mean: Array  # (r,)
    weights: Array  # (r, q)

    def coordinates(self, X: Array) -> Array:
        return np.hstack([np.ones((len(X), 1)), (X - self.mean) @ self.weights])


@dataclass(frozen=True, eq=False, repr=False)
class Derived(FeatureMap):
    """Features of features."""

    features: FeatureMap  # of the rows
    after: FeatureMap  # of these features

    def coordinates(self, X: Array) -> Array:
        return self.after.coordinates(self.features.coordinates(X))


@dataclass(frozen=True, eq=False, repr=False)
class OfColumns(FeatureMap):
    """Features of some columns of the rows."""

    features: FeatureMap
    columns: slice

    def coordinates(self, X: Array) -> Array:
        return self.features.coordinates(np.ascontiguousarray(X[:, self.columns]))


def factorized(
    kernel: Kernel,
    points: Array,
    limit: int,
    *,
    truncate: bool = False,
    missing: float = TOLERANCE,
    start: Landmarks | None = None,
) -> tuple[Landmarks, Array] | None:
    """Approximate a kernel by landmarks from pivoted Cholesky, or return None.

    Landmarks are added until it is exact on all points.

    Exact means that the missing trace is below ``missing`` times the trace of the Gram matrix.  No
    label matters.  Unless ``truncate`` is set, the result is None if ``limit`` landmarks are not
    enough, or if nearly every point of a pool became one.  Landmarks in ``start`` come from other
    points.
    """
    residual = kernel.diagonal(points)
    allowed = missing * float(residual.mean())
    landmarks = start or Landmarks(kernel, points[:0], np.empty((0, 0)))
    rank = len(landmarks.points)
    z = np.empty((limit, len(points)))  # transposed: what is not needed is never touched
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
        before = rank
        landmarks, left = _with_pivots(
            landmarks, points[pool], z[:before, pool], residual[pool], allowed, limit
        )
        rank = len(landmarks.points)
        if (
            before < rank == limit and not truncate and left > 2.0 * allowed
        ):  # of the pool, which has the landmarks
            return None
        if rank - before >= _FULL * len(pool) and not truncate and len(pool) < len(points):
            return None
        landmarks.extend(points, z, before)
        for row in z[before:rank]:
            residual = residual - np.square(row)
        exact = (
            bool(residual.mean() <= allowed) or rank == before
        )  # without a pivot left, the rest is rounding
        if exact or rank == limit:
            return (replace(landmarks, exact=exact), z[:rank].T) if exact or truncate else None
        pool = _worst(residual, order)


def nystrom(kernel: Kernel, points: Array, rank: int, rng: Any) -> Landmarks:
    """Draw landmarks from the points, without replacement.

    Dependent ones and points with k(x, x) = 0 are left out.
    """
    nonzero = np.flatnonzero(kernel.diagonal(points) > 0.0)
    points = points[nonzero] if 0 < len(nonzero) < len(points) else points
    return _among(
        kernel, points[as_rng(rng).choice(len(points), min(rank, len(points)), replace=False)]
    )


def spread_landmarks(kernel: Kernel, points: Array, rank: int) -> Landmarks:
    """Choose landmarks evenly among the points in sorted order, which no labels change.

    Leave out dependent ones.
    """
    return _among(kernel, points[np.lexsort(points.T[::-1])[spread_rows(len(points), rank)]])


def _among(kernel: Kernel, candidates: Array) -> Landmarks:
    """Make landmarks of all candidates that do not depend on others."""
    diagonal = kernel.diagonal(candidates)
    empty = Landmarks(kernel, candidates[:0], np.empty((0, 0)))
    gram = kernel.block(
        candidates, candidates
    )  # whole, because nearly every point becomes a landmark
    allowed = TOLERANCE * float(diagonal.mean())
    size = len(candidates)
    return _with_pivots(empty, candidates, np.empty((0, size)), diagonal, allowed, size, gram)[0]


def _with_pivots(
    landmarks: Landmarks,
    pool: Array,
    filled: Array,
    residual: Array,
    allowed: float,
    limit: int,
    gram: Array | None = None,
) -> tuple[Landmarks, float]:
    """Add the worst approximated points of a pool, up to ``limit`` landmarks.

    Return them and the mean error.
    """
    start = len(filled)
    columns = np.empty((min(limit, start + len(pool)), len(pool)))
    columns[:start] = filled
    residual = residual.copy()
    chosen: list[int] = []
    while (rank := start + len(chosen)) < len(columns) and residual.mean() > allowed:
        i = int(residual.argmax())
        line = landmarks.kernel.block(pool[i : i + 1], pool)[0] if gram is None else gram[i]
        columns[rank] = (line - columns[:rank, i] @ columns[:rank]) / np.sqrt(residual[i])
        residual -= np.square(columns[rank])
        residual[i] = 0.0
        chosen.append(i)
    factor = np.zeros((rank, rank))
    factor[:start, :start] = landmarks.factor
    factor[start:] = np.tril(columns[:rank, chosen].T, k=start)
    points = np.vstack([landmarks.points, pool[chosen]])
    return Landmarks(landmarks.kernel, points, factor), float(residual.mean())


def _worst(residual: Array, order: np.ndarray) -> np.ndarray:
    """Return the points of which most is missing, the first in this order among equal ones."""
    return np.asarray(order[np.argsort(-residual[order], kind="stable")[:_POOL]])


def _is_full(kernel: Kernel, points: Array, limit: int, allowed: float) -> bool:
    """Return True if few points prove that ``limit`` landmarks are not enough.

    They prove that no ``limit`` landmarks leave a trace of ``allowed`` or less.

    They leave at least the other eigenvalues of a Gram matrix, whose sum is larger if the matrix
    less a multiple of the identity has a Cholesky factor.
    """
    size = limit + _SPARE
    if (
        points.shape[1] <= _NARROW or len(points) < _MANY * size
    ):  # it would take longer than it saves
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
    """Return True if at most so many rows (n, d) differ, as in categories.

    A part of the rows must already suggest it.
    """
    some = np.unique(points[spread_rows(len(points), _LOOKED_AT)], axis=0)
    return 4 * len(some) <= _LOOKED_AT and len(np.unique(points, axis=0)) <= most


def has_spectrum(kernel: Kernel) -> bool:
    """Return True if frequencies can be drawn for a kernel."""
    return isinstance(kernel.kernel if isinstance(kernel, Scaled) else kernel, Gaussian | Laplacian)


def no_spectrum(kernel: Kernel) -> ValueError:
    """Return the error for a kernel for which no frequencies can be drawn."""
    spectra = "gram='rff' draws from the spectral distribution of a Gaussian or Laplacian kernel"
    return ValueError(f"{spectra}, not {kernel!r}; use gram='nystrom'")


def random_fourier(kernel: Kernel, columns: int, rank: int, rng: Any) -> RandomFourier:
    """Draw frequencies of a Gaussian or Laplacian kernel, half as many as coordinates."""
    scale, base = (kernel.factor, kernel.kernel) if isinstance(kernel, Scaled) else (1.0, kernel)
    if not isinstance(base, Gaussian | Laplacian):
        raise no_spectrum(kernel)
    rng = as_rng(rng)
    draw = rng.standard_normal if isinstance(base, Gaussian) else rng.standard_cauchy
    return RandomFourier(
        kernel, draw((max(1, rank // 2), columns)) / np.asarray(base.bandwidth), scale
    )


def tiles(weights: Array) -> Array:
    """Return weights (d, m) as (tiles, d, 128) for compiled loops.

    There are zeros beyond the last feature.
    """
    d, m = weights.shape
    padded = np.zeros((d, -(-m // _TILE) * _TILE))
    padded[:, :m] = weights
    return np.ascontiguousarray(padded.reshape(d, -1, _TILE).swapaxes(0, 1))


def _with_progress(rows: int, step: int) -> Iterator[slice]:
    """Yield slices of so many rows, and advance the progress bar after each."""
    step = max(1, step)
    advance = progress_steps(-(-rows // step))
    for start in range(0, rows, step):
        yield slice(start, start + step)
        advance()
