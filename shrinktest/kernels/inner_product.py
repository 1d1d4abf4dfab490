"""Kernels of an inner product: they compare moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest._validate import Array, count, positive
from shrinktest.kernels.base import FiniteRank, Kernel


@dataclass(frozen=True)
class Linear(FiniteRank):
    """Linear kernel x'y: detects differences of means only.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    @property
    def points_are(self) -> frozenset[str]:
        return frozenset({"values"})

    def coordinates(self, X: Array) -> Array:
        return X


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel (x'y + offset)^degree: detects differences of moments up to the degree.

    Parameters
    ----------
    degree : int
        At least 1.
    offset : float
        At least 0; 0 leaves only the moments of exactly that degree.

    Examples
    --------
    >>> Polynomial(degree=3, offset=1)([2.0], [0.5])
    array([[8.]])
    """

    degree: int = 2
    offset: float = 1.0

    @property
    def points_are(self) -> frozenset[str]:
        return frozenset({"values"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", count(self.degree, "degree", minimum=1))
        object.__setattr__(self, "offset", positive(self.offset, "offset", allow_zero=True))

    def evaluate(self, X: Array, Y: Array) -> Array:
        return (X @ Y.T + self.offset) ** self.degree

    def diagonal(self, X: Array) -> Array:
        return (np.square(X).sum(axis=1) + self.offset) ** self.degree
