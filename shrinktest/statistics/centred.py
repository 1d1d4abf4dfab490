"""Centred: the features of the observations less their mean, without what rounding takes from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shrinktest.kernels import Kernel

FAR = 1e-2  # of the squared norms of features: where they differ by less, rounding is looked after
LAST_BITS = 1e-5  # of what was rounded; of that, 1e-10 is a tie


@dataclass(frozen=True, eq=False)
class Centred:
    """The features of the observations less their mean, which no labels change."""

    values: np.ndarray  # (N, rank) or (N, N): their coordinates, or their Gram matrix
    norm: float  # the root of the mean square of their products
    rounding: float  # what rounding may have changed in it, times 1e5, so that 1e-10 of the size is a tie in any case
    by_coordinates: bool

    @classmethod
    def of_coordinates(cls, z: np.ndarray, *, dense: bool = False) -> Centred:
        """From coordinates (N, rank); ``dense``: as a Gram matrix, of products that are not rounded before."""
        less = np.ascontiguousarray(z - z.mean(axis=0))
        before, after = (float(np.linalg.norm(w.T @ w)) / len(z) for w in (z, less))
        return cls(less @ less.T if dense else less, after, LAST_BITS * (before * after) ** 0.5, not dense)

    @classmethod
    def of_kernel(cls, kernel: Kernel, points: np.ndarray, matrix: np.ndarray, workers: int = 1) -> Centred:
        """From the kernel and its Gram matrix (N, N) at these points."""
        rows = matrix.mean(axis=0)
        if alike(np.trace(matrix), rows.sum() * len(rows), len(rows)):  # what all values share takes their digits
            differences = kernel.differences(points, workers)
            matrix = matrix if differences is None else differences
            rows = matrix.mean(axis=0)
        out = matrix - rows[:, None]
        out -= rows
        out += rows.mean()
        before, after = (float(np.linalg.norm(one)) / len(out) for one in (matrix, out))
        return cls(out, after, LAST_BITS * before, by_coordinates=False)

    @property
    def size(self) -> float:
        """Of the terms that cancel."""
        return self.norm + self.rounding

    def dense(self) -> Centred:
        """The same by a Gram matrix."""
        return replace(self, values=self.values @ self.values.T, by_coordinates=False) if self.by_coordinates else self

    def diagonal(self) -> np.ndarray:
        """The squared norms (N,) of the features."""
        return np.square(self.values).sum(axis=1) if self.by_coordinates else np.diagonal(self.values)


def alike(squares: float, total: float, count: int) -> bool:
    """Whether features hardly differ beside their lengths: from the sum of squared norms, and that of the sum."""
    return abs(squares - total / count) < FAR * squares
