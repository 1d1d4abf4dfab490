"""Features: one kernel at N points, as a Gram matrix, coordinates, or tiles that are made when needed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from shrinktest.kernels import Kernel
from shrinktest.kernels.bandwidths import spread_rows
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel

LAST_BITS = 1e-5  # of what was rounded; of that, 1e-10 is a tie

_FAR = 1e-2  # of the squared norms of features: if they differ by less, rounding needs care
_SAMPLE = 1000  # rows whose kernel values stand for all of a matrix by tiles


@dataclass(frozen=True)
class Features:
    """Values of a kernel at N points.

    ``name`` is the representation.  "dense": the Gram matrix.  "tiles": parts of the Gram matrix, made when needed.
    "factor": coordinates that give the same Gram matrix up to rounding.  "nystrom", "rff": coordinates of an
    approximation.
    """

    name: str
    kernel: Kernel  # a FeatureMap for coordinates
    points: np.ndarray  # (N, d)
    note: str | None = None  # on an approximation
    known: np.ndarray | None = None  # (N, r): coordinates, if they were computed on the way
    inner: Features | None = None  # of the kernel that a pooled or rescaled kernel is made of
    moved: Centred | None = None  # the features about their mean, if these replace them
    made: list[np.ndarray] = field(default_factory=list, repr=False, compare=False)  # the Gram matrix, once computed

    def matrix(self, workers: int = 1) -> np.ndarray:
        """Gram matrix (N, N), computed once."""
        if not self.made:
            matrix = self.inner.matrix(workers) if self.inner else self.kernel.gram_matrix(self.points, workers)
            if self.inner and isinstance(self.kernel, PooledKernel):
                matrix = self.kernel.transform_gram(matrix)
            self.made.append(np.ascontiguousarray(matrix))
        return self.made[0]

    @property
    def plain(self) -> Features:
        """The features without a change of units, which is done on the points beforehand."""
        return self.inner or self

    def coordinates(self, rows: int | None = None) -> np.ndarray | None:
        """Coordinates (N, r), maybe of the first ``rows`` only; None for a Gram matrix."""
        if self.known is not None or not isinstance(self.kernel, FeatureMap) or self.name == "dense":
            return self.known
        return self.kernel.checked_coordinates(self.points if rows is None else self.points[:rows])

    def few_coordinates(self) -> np.ndarray | None:
        """Coordinates, if there are no more than points: else a filter has less work with the Gram matrix."""
        z = self.coordinates()
        return None if z is None or z.shape[1] > len(z) else z

    @property
    def columns(self) -> int | None:
        """Number of coordinates; None for a Gram matrix."""
        z = self.coordinates(rows=1)
        return None if z is None else z.shape[1]

    def diagonal(self) -> np.ndarray:
        """Squared norms (N,) of the features."""
        if self.moved is not None:
            return self.moved.diagonal()
        by_coordinates = self.name == "nystrom" or type(self.kernel).diagonal is FeatureMap.diagonal
        if by_coordinates and self.known is not None:
            return np.square(self.known).sum(axis=1)
        return self.kernel.diagonal(self.points)

    def size(self, workers: int = 1) -> float:
        """Root mean square of the kernel values, with what rounding may have changed in them.

        For coordinates a lower bound, because their products would take as long as a test; for tiles an estimate.
        """
        if self.moved is not None:
            return self.moved.size
        if self.name == "tiles":
            rows = np.ascontiguousarray(self.plain.points[spread_rows(len(self.points), _SAMPLE)])
            return float(np.linalg.norm(self.plain.kernel.block(rows, rows))) / len(rows)
        z = self.coordinates()
        if z is None:
            return float(np.linalg.norm(self.matrix(workers))) / len(self.points)
        return float(np.linalg.norm(z)) ** 2 / (len(z) * max(1, z.shape[1]) ** 0.5)

    def centred(self, workers: int = 1) -> Centred:
        """Features about their mean over all points, which no labels change."""
        z = self.coordinates()
        if z is not None:
            return Centred.from_coordinates(z)
        if isinstance(self.kernel, FeatureMap):  # products of coordinates that were not rounded before
            return Centred.from_coordinates(self.kernel.coordinates(self.points)).dense()
        matrix = self.matrix(workers)
        rows = matrix.mean(axis=0)
        if alike(np.trace(matrix), rows.sum() * len(rows), len(rows)):  # what all values share takes their digits
            differences = self.kernel.differences(self.points, workers)
            matrix = matrix if differences is None else differences
            rows = matrix.mean(axis=0)
        out = matrix - rows[:, None]
        out -= rows
        out += rows.mean()
        before, after = (float(np.linalg.norm(gram)) / len(out) for gram in (matrix, out))
        return Centred(out, after, LAST_BITS * before, by_coordinates=False)

    def about_mean(self, memory: float, workers: int = 1) -> Features:
        """Return the features about their mean, if the mean is so long that rounding would hide how they differ.

        For statistics that do not depend on where the features lie.  Without enough ``memory`` for a second Gram
        matrix, the features stay as they are.
        """
        if self.name == "tiles":
            return self
        z = self.coordinates()
        if z is None:
            squares, total = float(np.trace(self.matrix(workers))), float(self.matrix(workers).sum())
        else:
            squares, total = float(np.linalg.norm(z)) ** 2, float(np.square(z.sum(axis=0)).sum())
        fits = z is not None or needed(len(self.points), 2) <= memory
        if not (fits and alike(squares, total, len(self.points))):
            return self if z is None else replace(self, known=z)
        moved = self.centred(workers)
        if moved.by_coordinates:
            return replace(self, moved=moved, known=moved.values, made=[])
        return replace(self, moved=moved, made=[moved.values])


@dataclass(frozen=True, eq=False)
class Centred:
    """Features about their mean over all points, without what rounding takes from them."""

    values: np.ndarray  # (N, r) or (N, N): coordinates, or the Gram matrix
    norm: float  # root mean square of the inner products
    rounding: float  # what rounding may have changed in ``norm``, times 1e5, so that 1e-10 of the size is a tie
    by_coordinates: bool

    @classmethod
    def from_coordinates(cls, z: np.ndarray) -> Centred:
        """Center coordinates (N, r)."""
        less = np.ascontiguousarray(z - z.mean(axis=0))
        before, after = (float(np.linalg.norm(w.T @ w)) / len(z) for w in (z, less))
        return cls(less, after, LAST_BITS * (before * after) ** 0.5, by_coordinates=True)

    @property
    def size(self) -> float:
        """Size of the terms that cancel."""
        return self.norm + self.rounding

    def dense(self) -> Centred:
        """Return the same by its Gram matrix."""
        return replace(self, values=self.values @ self.values.T, by_coordinates=False) if self.by_coordinates else self

    def diagonal(self) -> np.ndarray:
        """Squared norms (N,) of the features."""
        return np.square(self.values).sum(axis=1) if self.by_coordinates else np.diagonal(self.values)


def alike(squares: float, total: float, count: int) -> bool:
    """Return whether features differ little, from the sum of their squared norms and the squared norm of their sum."""
    return abs(squares - total / count) < _FAR * squares


def needed(size: int, kernels: int) -> float:
    """Bytes of Gram matrices while they are made."""
    return (10.0 if kernels == 1 else 20.0 * kernels) * size**2
