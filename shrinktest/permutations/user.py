"""Permutations of a user's own, each checked before it is used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import count
from shrinktest.permutations.base import Permutations


@dataclass(frozen=True, eq=False)
class UserPermutations(Permutations):
    """Permutations of a user's own, which must begin with the data as they are and only move observations."""

    source: Permutations
    identity: np.ndarray  # (N,) or (V, N): the data as they are, labels of samples or places of rows
    moves: bool = True  # False for a user's statistic, whose permutations may hold anything

    @property
    def restriction(self) -> str:  # type: ignore[override]
        """Describe what is permuted."""
        return self.source.restriction

    @property
    def size(self) -> int:
        return self.source.size

    @property
    def distinct(self) -> float:
        return self.source.distinct

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self._checked(np.array(self.source.draw(rng, rows)), rows)

    def all(self) -> Iterator[np.ndarray]:
        number = 0
        for number, row in enumerate(self.source.all(), start=1):
            if number > self.distinct:
                raise ValueError(f"permutations: all() of {self._name} gives more than distinct says")
            row = self._checked(np.array(row)[None], 1)[0]
            if number == 1 and not np.array_equal(row, self.identity):
                raise ValueError(f"permutations: all() of {self._name} must begin with the data as they are")
            yield row
        if number < self.distinct:
            raise ValueError(f"permutations: all() of {self._name} gives {number}, fewer than distinct says")

    def _checked(self, rows: np.ndarray, count: int) -> np.ndarray:
        """Rows, if they are so many permutations of the data."""
        if rows.shape != (count, *self.identity.shape):
            raise ValueError(
                f"permutations: {self._name} must give shape {(count, *self.identity.shape)}; got {rows.shape}"
            )
        if not self.moves:
            return rows
        if (np.sort(rows, axis=-1) != np.sort(self.identity)).any():
            raise ValueError(f"permutations: {self._name} must keep every label, and every place, as often as the data")
        return rows.astype(self.identity.dtype, copy=False)

    @property
    def _name(self) -> str:
        return type(self.source).__name__


def as_permutations(given: Any, identity: np.ndarray | None) -> Permutations:
    """Check permutations that a user gives; those of this package are returned as they are.

    ``identity`` is the data as they are, (N,) or (V, N), or None if the first of ``all()`` says what they are.

    Raises
    ------
    TypeError, ValueError
        If they are not permutations of the data.
    """
    if not isinstance(given, Permutations):
        raise TypeError(f"permutations must be a Permutations object, such as a subclass of your own; got {given!r}")
    if type(given).__module__.startswith("shrinktest."):
        return given
    name = type(given).__name__
    size = count(given.size, f"permutations: size of {name}", minimum=1)
    if given.distinct != math.inf:
        count(given.distinct, f"permutations: distinct of {name}", minimum=1)
    if identity is None:
        try:
            first = np.array(next(iter(given.all())))
        except (TypeError, StopIteration):
            raise TypeError(
                f"permutations: all() of {name} must enumerate arrays, the data as they are first"
            ) from None
        if first.shape[-1:] != (size,):
            raise ValueError(f"permutations: all() of {name} must give {size} entries, as size says; got {first.shape}")
        return UserPermutations(given, first, moves=False)
    if size != identity.shape[-1]:
        raise ValueError(f"permutations are of {size} observations, and the data have {identity.shape[-1]}")
    return UserPermutations(given, identity)
