"""Kernels by few coordinates: exactly where that is possible, else by approximation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._validate import Array, as_rng
from shrinktest.kernels.base import FiniteRank, Kernel, Scaled
from shrinktest.kernels.distance import Gaussian, Laplacian

TOLERANCE = 1e-10  # of the trace, which is below what counts as a tie
_BLOCK = 2**17  # kernel values computed at a time
_POOL = 2000  # points among which landmarks are looked for at a time


@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(FiniteRank):
    """The projection of a kernel on the span of its features at some points (Nystrom approximation).

    With L L' the Cholesky factorisation of the landmarks' Gram matrix, z(x) = L^-1 k(landmarks, x): z(x)'z(y) equals
    k(x, y) where x or y is a landmark, and k(x, x) - |z(x)|^2 says how much of x is missing.

    Parameters
    ----------
    kernel : Kernel
        With its bandwidth resolved.
    points : ndarray, shape (rank, d)
        The landmarks.
    factor : ndarray, shape (rank, rank)
        L, lower triangular.
    """

    kernel: Kernel
    points: Array
    factor: Array

    def coordinates(self, X: Array) -> Array:
        return self.further(X, np.empty((len(X), 0)))

    def further(self, X: Array, known: Array) -> Array:
        """The coordinates after the first ones, which are ``known`` (n, k)."""
        from scipy.linalg import solve_triangular

        k, rank = known.shape[1], len(self.points)
        out = np.empty((len(X), rank - k))
        step = max(1, _BLOCK // max(rank - k, 1))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            values = self.kernel(X[rows], self.points[k:])
            if k:
                values -= known[rows] @ self.factor[k:, :k].T
            lower = self.factor[k:, k:]
            out[rows] = solve_triangular(lower, values.T, lower=True, overwrite_b=True, check_finite=False).T
        return out

    def __repr__(self) -> str:
        return f"Landmarks({self.kernel!r}, <{len(self.points)} points>)"


@dataclass(frozen=True, eq=False, repr=False)
class RandomFourier(FiniteRank):
    """Random Fourier features (Rahimi and Recht 2007): k(x, y) as ``scale`` times a mean of cos(w'(x - y)).

    Parameters
    ----------
    kernel : Kernel
        What is approximated.
    frequencies : ndarray, shape (D, d)
        Draws w from the kernel's spectral distribution.
    scale : float
        k(x, x).
    """

    kernel: Kernel
    frequencies: Array
    scale: float

    def coordinates(self, X: Array) -> Array:
        half = len(self.frequencies)
        out = np.empty((len(X), 2 * half))
        step = max(1, _BLOCK // half)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            phase = X[rows] @ self.frequencies.T
            np.cos(phase, out=out[rows, :half])
            np.sin(phase, out=out[rows, half:])
        out *= np.sqrt(self.scale / half)
        return out

    def __repr__(self) -> str:
        return f"RandomFourier({self.kernel!r}, <{len(self.frequencies)} frequencies>)"


def factorized(kernel: Kernel, points: Array, limit: int, *, truncate: bool = False) -> tuple[Landmarks, Array] | None:
    """The kernel through as few of the points as make it exact on all of them: pivoted Cholesky, a pool at a time.

    What is missing has a trace below `TOLERANCE` times that of the Gram matrix.  Pools are formed in an order that does
    not depend on how the points are labelled, so neither does the outcome.

    Parameters
    ----------
    kernel : Kernel
    points : ndarray, shape (n, d)
    limit : int
        Most landmarks to take.
    truncate : bool
        Whether to be content with that many where more would be needed.

    Returns
    -------
    (Landmarks, coordinates of the points), or None where ``limit`` landmarks do not do
    """
    order = np.lexsort(points.T[::-1])
    residual = kernel.diagonal(points)
    allowed = TOLERANCE * float(residual.mean())
    pool = order[np.unique(np.linspace(0, len(points) - 1, min(len(points), _POOL)).round().astype(np.intp))]
    found = Landmarks(kernel, points[:0], np.empty((0, 0)))
    z = np.empty((len(points), 0))
    while True:
        larger = _with_pivots(found, points[pool], z[pool], residual[pool], allowed, limit)
        fresh = larger.further(points, z)
        residual = residual - np.einsum("ij,ij->i", fresh, fresh)
        z = np.hstack([z, fresh])
        rank = len(larger.points)
        if residual.mean() <= allowed or rank == len(found.points) or (truncate and rank == limit):
            return larger, z
        if rank == limit:
            return None
        pool, found = order[np.argsort(-residual[order], kind="stable")[:_POOL]], larger


def _with_pivots(found: Landmarks, pool: Array, known: Array, residual: Array, allowed: float, limit: int) -> Landmarks:
    """More landmarks, ``limit`` at most in all: points of a pool, always the one of which most is missing."""
    start = known.shape[1]
    columns = np.empty((min(limit, start + len(pool)), len(pool)))
    columns[:start] = known.T
    residual = residual.copy()
    chosen: list[int] = []
    while (rank := start + len(chosen)) < len(columns) and residual.mean() > allowed:
        i = int(residual.argmax())
        values = found.kernel(pool[i : i + 1], pool)[0] - columns[:rank, i] @ columns[:rank]
        columns[rank] = values / np.sqrt(residual[i])
        residual -= np.square(columns[rank])
        residual[i] = 0.0
        chosen.append(i)
    factor = np.zeros((rank, rank))
    factor[:start, :start] = found.factor
    factor[start:] = np.tril(columns[:rank, chosen].T, k=start)
    return Landmarks(found.kernel, np.vstack([found.points, pool[chosen]]), factor)


def nystrom(kernel: Kernel, points: Array, rank: int, rng: Any) -> Landmarks:
    """Landmarks drawn from the points, uniformly and without replacement; repeated and dependent ones are left out."""
    drawn = points[as_rng(rng).choice(len(points), min(rank, len(points)), replace=False)]
    diagonal = kernel.diagonal(drawn)
    none = Landmarks(kernel, points[:0], np.empty((0, 0)))
    return _with_pivots(none, drawn, np.empty((len(drawn), 0)), diagonal, TOLERANCE * float(diagonal.mean()), rank)


def random_fourier(kernel: Kernel, columns: int, rank: int, rng: Any) -> RandomFourier:
    """Frequencies of a Gaussian or Laplacian kernel, half as many as coordinates."""
    shape = (max(1, rank // 2), columns)
    scale, base = (kernel.factor, kernel.kernel) if isinstance(kernel, Scaled) else (1.0, kernel)
    if isinstance(base, Gaussian):
        draws = as_rng(rng).standard_normal(shape)
    elif isinstance(base, Laplacian):
        draws = as_rng(rng).standard_cauchy(shape)
    else:
        raise ValueError(
            f"gram='rff' draws from the spectral distribution of a Gaussian or Laplacian kernel; found {kernel!r}: "
            "use gram='nystrom'"
        )
    return RandomFourier(kernel, draws / np.asarray(base.bandwidth), scale)
