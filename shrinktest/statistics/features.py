"""Features: points in the feature space of a kernel, by their Gram matrix, coordinates or tiles."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from shrinktest.kernels import Kernel
from shrinktest.kernels.bandwidths import spread_rows
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel

LAST_BITS = 1e-5  # of what was rounded; of that, 1e-10 is a tie

_ALL = slice(None)
_FAR = 1e-2  # of the squared norms of features: if they differ by less, rounding needs care
_SAMPLE = 1000  # rows whose kernel values stand for all of a matrix by tiles


class Features:
    """Points in the feature space of a kernel, with their inner products.

    They are observations, or means of some.

    Parameters
    ----------
    values
        The Gram matrix (N, N), or coordinates (N, r).
    rounding
        What rounding may have changed in the root mean square of the inner products, times 1e5.
    """

    def __init__(
        self, values: np.ndarray, by_coordinates: bool = False, rounding: float = 0.0
    ) -> None:
        self.values = values
        self.by_coordinates = by_coordinates
        self.rounding = rounding

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice | np.ndarray) -> Features:
        """Return some of the points, or all in another order."""
        if self.by_coordinates:
            return Features(self.values[rows], True)
        index = (rows, rows) if isinstance(rows, slice) else np.ix_(rows, rows)
        return Features(self.values[index])

    def taken(self, rows: np.ndarray) -> Features:
        """Return the points at increasing places, without a copy if these are all."""
        return self if len(rows) == len(self) else self[rows]

    @cached_property
    def gram(self) -> np.ndarray:
        """Gram matrix (N, N)."""
        return self.values @ self.values.T if self.by_coordinates else self.values

    def dense(self) -> Features:
        """Return the same points with their Gram matrix."""
        return Features(self.gram, rounding=self.rounding) if self.by_coordinates else self

    def diagonal(self) -> np.ndarray:
        """Squared norms (N,)."""
        return (
            np.square(self.values).sum(axis=1) if self.by_coordinates else np.diagonal(self.values)
        )

    def kernel_diagonal(self) -> np.ndarray:
        """Squared norms (N,) as the kernel has them, without what coordinates leave out."""
        return self.diagonal()

    @cached_property
    def norm(self) -> float:
        """Root mean square of the inner products."""
        products = self.values.T @ self.values if self.by_coordinates else self.values
        return float(np.linalg.norm(products)) / len(self.values)

    @property
    def size(self) -> float:
        """Size of the terms that cancel: the norm, with what rounding may have changed in it."""
        return self.norm + self.rounding

    def inner(self, weights: np.ndarray, first: slice = _ALL, second: slice = _ALL) -> np.ndarray:
        """Return inner products of the first points with weighted sums of the second.

        Weights (n,) or (n, k).
        """
        if self.by_coordinates:
            return np.asarray(self.values[first] @ (self.values[second].T @ weights))
        return np.asarray(self.values[first, second] @ weights)

    def within(self, weights: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return inner products of every point with weighted sums of those that have its code.

        Weights (n, k).
        """
        sizes = np.bincount(codes)
        if sizes.max() == 1:
            return weights * self.diagonal()[:, None]
        if self.by_coordinates:
            sums = [(summing(codes, column) @ self.values)[codes] for column in weights.T]
            return np.stack([np.einsum("ij,ij->i", self.values, part) for part in sums], axis=1)
        out = np.empty_like(weights)
        for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1]):
            out[rows] = self.values[np.ix_(rows, rows)] @ weights[rows]
        return out

    def squares(self, first: slice = _ALL, second: slice = _ALL) -> float:
        """Return the sum of the squared inner products of the first points with the second."""
        if self.by_coordinates:
            x, y = (self.values[part].T @ self.values[part] for part in (first, second))
        else:
            x = y = self.values[first, second]
        return float(np.einsum("ij,ij->", x, y))

    def sums(self, codes: np.ndarray) -> Features:
        """Return the sums of the points with the same code 0, 1, ..."""
        add = summing(codes)
        half = add @ self.values
        return Features(half, True) if self.by_coordinates else Features((add @ half.T).T)

    def means(self, codes: np.ndarray) -> Features:
        """Return the means of the points with the same code 0, 1, ..."""
        counts = np.bincount(codes)[:, None]
        sums = self.sums(codes).values
        return (
            Features(sums / counts, True)
            if self.by_coordinates
            else Features(sums / counts / counts.T)
        )

    def residuals(self) -> Features:
        """Return the points less their mean."""
        if self.by_coordinates:
            z = self.values
            out = Features(np.ascontiguousarray(z - z.mean(axis=0)), True)
            before = float(np.linalg.norm(z.T @ z)) / len(z)
            out.rounding = LAST_BITS * (before * out.norm) ** 0.5
            return out
        rows = self.values.mean(axis=0)
        out = self.values - rows[:, None]
        out -= rows
        out += rows.mean()
        return Features(out, rounding=LAST_BITS * float(np.linalg.norm(self.values)) / len(out))


class KernelFeatures(Features):
    """Features of a kernel at N points, evaluated when their values are needed first.

    Parameters
    ----------
    kernel
        A `FeatureMap` for coordinates.
    points
        Array (N, d).
    route : {"dense", "tiles", "factor", "nystrom", "rff"}, optional
        "dense": the Gram matrix.  "tiles": parts of it, made when needed.  "factor": coordinates
        that give the same Gram matrix up to rounding.  "nystrom", "rff": coordinates of an
        approximation.
    values
        Coordinates, or the Gram matrix, if they were computed on the way.
    note
        On an approximation.
    source
        Features of the kernel that a pooled or rescaled kernel is made of.
    moved
        The features about their mean, if these replace them.
    workers
        Threads that may make the Gram matrix.
    """

    def __init__(
        self,
        kernel: Kernel,
        points: np.ndarray,
        route: str = "",
        *,
        values: np.ndarray | None = None,
        note: str | None = None,
        source: KernelFeatures | None = None,
        moved: Features | None = None,
        workers: int = 1,
    ) -> None:
        self.kernel = kernel
        self.points = points
        self.route = route or ("factor" if isinstance(kernel, FeatureMap) else "dense")
        self.by_coordinates = self.route not in ("dense", "tiles")
        self.note = note
        self.source = source
        self.moved = moved
        self.rounding = moved.rounding if moved else 0.0
        self.workers = workers
        if values is not None:
            self.values = values

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        if isinstance(self.kernel, FeatureMap) and self.by_coordinates:
            return self.kernel.checked_coordinates(self.points)
        if self.source is None:
            matrix = self.kernel.block(self.points, self.points, self.workers)
        else:
            matrix = self.source.values
            if isinstance(self.kernel, PooledKernel):
                matrix = self.kernel.transform_gram(matrix)
        return np.ascontiguousarray(matrix)

    @property
    def is_made(self) -> bool:
        """True if a Gram matrix is in memory."""
        return not self.by_coordinates and "values" in vars(self)

    @property
    def plain(self) -> KernelFeatures:
        """The features without a change of units, which is done on the points beforehand."""
        return self.source or self

    @property
    def columns(self) -> int | None:
        """Number of coordinates; None for a Gram matrix."""
        if not isinstance(self.kernel, FeatureMap) or not self.by_coordinates:
            return None
        z = (
            self.values
            if "values" in vars(self)
            else self.kernel.checked_coordinates(self.points[:1])
        )
        return z.shape[1]

    def kernel_diagonal(self) -> np.ndarray:
        by_values = (
            self.route in ("dense", "nystrom") or type(self.kernel).diagonal is FeatureMap.diagonal
        )
        return self.diagonal() if self.moved or by_values else self.kernel.diagonal(self.points)

    @cached_property
    def norm(self) -> float:  # type: ignore[override]
        """Root mean square of the kernel values.

        For coordinates a lower bound, because their products would take as long as a test; for
        tiles an estimate.
        """
        if self.moved:
            return self.moved.norm
        if self.route == "tiles":
            rows = np.ascontiguousarray(self.plain.points[spread_rows(len(self.points), _SAMPLE)])
            return float(np.linalg.norm(self.plain.kernel.block(rows, rows))) / len(rows)
        z = self.values
        length = float(np.linalg.norm(z))
        return (
            length**2 / (len(z) * max(1, z.shape[1]) ** 0.5)
            if self.by_coordinates
            else length / len(z)
        )

    def residuals(self) -> Features:
        """Return the features less their mean over all points, which no labels change."""
        if self.by_coordinates:
            return super().residuals()
        if isinstance(
            self.kernel, FeatureMap
        ):  # products of coordinates that were not rounded before
            return Features(self.kernel.coordinates(self.points), True).residuals().dense()
        matrix = self.values
        size = len(matrix)
        if alike(
            np.trace(matrix), matrix.mean(axis=0).sum() * size, size
        ):  # what all values share takes their digits
            differences = self.kernel.differences(self.points, self.workers)
            if differences is not None:
                return Features(differences).residuals()
        return super().residuals()

    def about_mean(self, memory: float) -> KernelFeatures:
        """Return the features about their mean if the mean would hide how they differ.

        It would hide this by rounding if it is too long.

        For statistics that do not depend on where the features lie.  Without enough ``memory`` for
        a second Gram matrix, the features stay as they are.
        """
        if self.route == "tiles":
            return self
        values = self.values
        if self.by_coordinates:
            squares = float(np.linalg.norm(values)) ** 2
            total = float(np.square(values.sum(axis=0)).sum())
        else:
            squares = float(np.trace(values))
            total = float(values.sum())
        fits = self.by_coordinates or needed(len(values), 2) <= memory
        if not (fits and alike(squares, total, len(values))):
            return self
        moved = self.residuals()
        return KernelFeatures(
            self.kernel, self.points, self.route, values=moved.values, note=self.note, moved=moved
        )


def few_coordinates(features: Features) -> np.ndarray | None:
    """Return coordinates if there are no more than points.

    Otherwise a filter has less work with the Gram matrix.
    """
    few = features.by_coordinates and features.values.shape[1] <= len(features)
    return features.values if few else None


def summing(codes: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """Return the sparse matrix (groups, n) that sums weighted rows by code 0, 1, ..."""
    from scipy.sparse import csr_array

    values = np.ones(len(codes)) if weights is None else weights
    return csr_array((values, (codes, np.arange(len(codes)))))


def alike(squares: float, total: float, count: int) -> bool:
    """Return whether features differ little, from two sums.

    These are the sum of their squared norms and the squared norm of their sum.
    """
    return abs(squares - total / count) < _FAR * squares


def needed(size: int, kernels: int) -> float:
    """Bytes of Gram matrices while they are made."""
    return (10.0 if kernels == 1 else 20.0 * kernels) * size**2
