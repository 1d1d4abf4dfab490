"""Kernels on pairs (x, y): products of a kernel on x and one on y, whose features are centred at their means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest.kernels.base import FiniteRank, Kernel


def centred_product(left: Kernel, right: Kernel, points: np.ndarray, columns: int) -> Kernel:
    """The kernel of the features (phi(x) - mean of phi over x) (psi(y) - mean of psi over y), for rows (x, y).

    ``left`` is a kernel of the first ``columns``, ``right`` one of the others; of finite rank if both are.  ``points``
    (n, p + q), over which the means are, are one array, which a pickle of an estimate holds once.
    """
    if isinstance(left, FiniteRank) and isinstance(right, FiniteRank):
        return CentredCoordinates(left, right, points, columns)
    return CentredProduct(left, right, points, columns)


@dataclass(frozen=True, eq=False)
class CentredProduct(Kernel):
    """The kernel of `centred_product`, by Gram matrices."""

    left: Kernel
    right: Kernel
    points: np.ndarray
    columns: int

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        (x, y), (at_x, at_y), (of_x, of_y) = (_apart(Z, self.columns) for Z in (self.points, X, Y))
        return _centred(self.left, x, at_x, of_x) * _centred(self.right, y, at_y, of_y)


def _apart(points: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(points[:, :columns]), np.ascontiguousarray(points[:, columns:])


def _centred(kernel: Kernel, points: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    at_x, at_y = (kernel(Z, points).mean(axis=1) for Z in (X, Y))
    return kernel(X, Y) - at_x[:, None] - at_y[None, :] + kernel(points).mean()


@dataclass(frozen=True, eq=False)
class CentredCoordinates(FiniteRank):
    """The kernel of `centred_product`, by the coordinates of two kernels of finite rank."""

    left: FiniteRank
    right: FiniteRank
    points: np.ndarray
    columns: int

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        u, v = self._both(X)
        return (u[:, :, None] * v[:, None, :]).reshape(len(X), -1)

    def combination(self, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        u, v = self._both(X)
        return ((u * weights[:, None]).T @ v).ravel()

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        u, v = (np.square(z).sum(axis=1) for z in self._both(X))
        return u * v

    def _both(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (x, y), (at_x, at_y) = (_apart(Z, self.columns) for Z in (self.points, X))
        u = self.left.coordinates(at_x) - self.left.coordinates(x).mean(axis=0)
        v = self.right.coordinates(at_y) - self.right.coordinates(y).mean(axis=0)
        return u, v
