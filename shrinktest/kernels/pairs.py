"""Kernels on pairs: products of two kernels, of features that are centred at the mean of a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest.kernels.base import Checked, FiniteRank, Kernel


@dataclass(frozen=True, eq=False)
class Centred(Checked):
    """The kernel of features centred at the mean of the points x_i: phi(x) - (1/n) sum_i phi(x_i).

    Parameters
    ----------
    kernel : Kernel
    joined : ndarray, shape (n, columns of all variables)
        One array for all variables, that of the estimate, so that a pickle holds it once.
    columns : slice
        Those of the points.
    """

    kernel: Kernel
    joined: np.ndarray
    columns: slice

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        points = np.ascontiguousarray(self.joined[:, self.columns])
        at_x, at_y = (self.kernel(Z, points).mean(axis=1) for Z in (X, Y))
        return self.kernel(X, Y) - at_x[:, None] - at_y[None, :] + self.kernel(points).mean()


@dataclass(frozen=True, eq=False)
class Tensor(Checked):
    """The product of a kernel on the first ``columns`` coordinates and one on the others."""

    left: Kernel
    right: Kernel
    columns: int

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        c = self.columns
        return self.left(X[:, :c], Y[:, :c]) * self.right(X[:, c:], Y[:, c:])


@dataclass(frozen=True, eq=False)
class CentredCoordinates(FiniteRank):
    """`Centred` for kernels of finite rank."""

    kernel: FiniteRank
    joined: np.ndarray
    columns: slice

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        points = np.ascontiguousarray(self.joined[:, self.columns])
        return self.kernel.coordinates(X) - self.kernel.coordinates(points).mean(axis=0)


@dataclass(frozen=True, eq=False)
class TensorCoordinates(FiniteRank):
    """`Tensor` for kernels of finite rank."""

    left: FiniteRank
    right: FiniteRank
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
        return self.left.coordinates(X[:, : self.columns]), self.right.coordinates(X[:, self.columns :])
