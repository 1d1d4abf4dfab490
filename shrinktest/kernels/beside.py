"""Features of features, and features side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest._validate import Array
from shrinktest.kernels.base import FiniteRank


@dataclass(frozen=True, eq=False, repr=False)
class Derived(FiniteRank):
    """Features of features."""

    # of the rows, and of what these give
    features: FiniteRank
    after: FiniteRank

    def coordinates(self, X: Array) -> Array:
        return self.after.coordinates(self.features.coordinates(X))

    def __repr__(self) -> str:
        return f"{self.after!r} of {self.features!r}"


@dataclass(frozen=True, eq=False, repr=False)
class Beside(FiniteRank):
    """Features, and what is made of them, side by side: they are computed once."""

    features: FiniteRank
    others: tuple[FiniteRank, ...] = ()  # of these features
    columns: tuple[int, ...] | None = None  # of the rows, which alone are looked at; default all

    def coordinates(self, X: Array) -> Array:
        z = self.features.coordinates(X if self.columns is None else np.ascontiguousarray(X[:, self.columns]))
        return np.hstack([z, *(one.coordinates(z) for one in self.others)]) if self.others else z
