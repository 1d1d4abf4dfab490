"""Shuffles: several variables observed together, each but the first permuted by itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest.nulls.draws import permutations
from shrinktest.nulls.relabellings import Relabellings


@dataclass(frozen=True)
class Shuffles(Relabellings):
    """Independent permutations of variables 2 to d of n observations, as (B, d - 1, n) indices.

    With two variables these are :class:`~shrinktest.nulls.relabellings.Pairings`, drawn in the same order.
    """

    n: int
    variables: int

    @property
    def size(self) -> int:
        return self.n * (self.variables - 1)

    @property
    def distinct(self) -> int:
        return math.factorial(self.n) ** (self.variables - 1)

    @property
    def magnitude(self) -> float:
        return (self.variables - 1) * math.lgamma(self.n + 1)

    def draw(self, rows: int) -> np.ndarray:
        drawn = permutations(self._seeds(rows * (self.variables - 1)), np.array([0, self.n]))
        return drawn.reshape(rows, self.variables - 1, self.n)

    def skip(self, rows: int) -> None:
        self._seeds(rows * (self.variables - 1))

    def every(self) -> Iterator[np.ndarray]:
        def extended(chosen: tuple[tuple[int, ...], ...]) -> Iterator[np.ndarray]:
            if len(chosen) == self.variables - 1:
                yield np.array(chosen)
                return
            for one in itertools.permutations(range(self.n)):  # itertools.product would hold all n! of them
                yield from extended((*chosen, one))

        return extended(())


@dataclass(frozen=True)
class OneAgainstAnother(Shuffles):
    """What shuffles do to two of the variables: permutations (B, n) of the second against the first.

    Those of all pairs of variables agree where their generators start in the same state; only the two are permuted.
    """

    # the two variables, counted from 0
    first: int
    second: int

    @property
    def size(self) -> int:
        return self.n

    def draw(self, rows: int) -> np.ndarray:
        words = self._seeds(rows * (self.variables - 1)).reshape(rows, self.variables - 1)
        which = [v - 1 for v in (self.first, self.second) if v > 0]
        drawn = permutations(words[:, which].ravel(), np.array([0, self.n])).reshape(rows, len(which), self.n)
        return drawn[:, -1] if self.first == 0 else _relative(drawn[:, 0], drawn[:, 1])

    def every(self) -> Iterator[np.ndarray]:
        return (self._relative(row[None])[0] for row in super().every())

    def _relative(self, rows: np.ndarray) -> np.ndarray:
        still = np.broadcast_to(np.arange(self.n), (len(rows), self.n))
        moved = [still if v == 0 else rows[:, v - 1] for v in (self.first, self.second)]
        return _relative(moved[0], moved[1])


def _relative(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Permutations of the second variable that pair it with the first as moving both does."""
    out = np.empty_like(second)
    np.put_along_axis(out, first, second, axis=1)
    return out
