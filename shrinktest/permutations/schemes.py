"""Permutations of independent rows: labels of samples, pairings of variables, shuffles of several, and signs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.permutations import draws
from shrinktest.permutations.base import Permutations, counted


@dataclass(frozen=True)
class Labels(Permutations):
    """Sample labels 0, 1, ..., k - 1 of pooled observations, as (B, N), that keep the sizes of the samples."""

    sizes: tuple[int, ...]
    # True if samples of equal size may be exchanged without changing the statistic: only one of the labellings that
    # differ in this alone is enumerated
    symmetric: bool = True

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def distinct(self) -> float:
        logarithm = math.lgamma(self.size + 1) - sum(math.lgamma(n + 1) for n in self.sizes)
        return counted(logarithm, self._count)

    def _count(self) -> int:
        number = math.factorial(self.size) // math.prod(map(math.factorial, self.sizes))
        return number // math.prod(math.factorial(equal) for equal in self._exchangeable())

    def _exchangeable(self) -> Iterable[int]:
        """Numbers of samples of the same size."""
        return Counter(self.sizes).values() if self.symmetric else ()

    @property
    def identity(self) -> np.ndarray:
        """Labels (N,) of the observations as they are, sample after sample."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        if len(self.sizes) == 2:
            first = draws.subsets(rng, rows, self.size, self.sizes[0]).view(np.uint8)
            return np.subtract(1, first, dtype=np.uint16)
        return self.identity[draws.permutations(rng, rows, np.array([0, self.size]))]

    def all(self) -> Iterator[np.ndarray]:
        if len(self.sizes) == 2:
            return self._all_two()
        return self._fill(np.empty(self.size, dtype=np.uint16), tuple(range(self.size)), 0, {})

    def _all_two(self) -> Iterator[np.ndarray]:
        """Subsets that are the first sample; of equal sizes, observation 0 stays in it."""
        fixed = 1 if self.symmetric and self.sizes[0] == self.sizes[1] else 0
        second = np.ones(self.size, dtype=np.uint16)
        second[:fixed] = 0
        for chosen in itertools.combinations(range(fixed, self.size), self.sizes[0] - fixed):
            labels = second.copy()
            labels[list(chosen)] = 0
            yield labels

    def _fill(
        self, labels: np.ndarray, left: tuple[int, ...], sample: int, leaders: dict[int, int]
    ) -> Iterator[np.ndarray]:
        """Give the observations ``left`` to the samples from ``sample`` on, in every way.

        Exchangeable samples come in the order of their first observations, which ``leaders`` holds by size.
        """
        if sample == len(self.sizes):
            yield labels.copy()
            return
        n = self.sizes[sample]
        eligible = [i for i in left if i > leaders.get(n, -1)] if self.symmetric else left
        last_of_its_size = not self.symmetric or n not in self.sizes[sample + 1 :]
        for chosen in itertools.combinations(eligible, n):
            labels[list(chosen)] = sample
            inside = set(chosen)
            rest = tuple(i for i in left if i not in inside)
            if last_of_its_size or (rest and rest[-1] >= chosen[0]):
                yield from self._fill(labels, rest, sample + 1, {**leaders, n: chosen[0]})


@dataclass(frozen=True)
class Pairings(Permutations):
    """Orders (B, n) in which the n observations of Y are paired with those of X."""

    n: int

    @property
    def size(self) -> int:
        return self.n

    @property
    def distinct(self) -> float:
        return counted(math.lgamma(self.n + 1), lambda: math.factorial(self.n))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return draws.permutations(rng, rows, np.array([0, self.n]))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, itertools.permutations(range(self.n)))


@dataclass(frozen=True)
class Shuffles(Permutations):
    """Independent orders (B, d - 1, n) of variables 2 to d of n observations; the first variable stays."""

    n: int
    variables: int

    @property
    def size(self) -> int:
        return self.n * (self.variables - 1)

    @property
    def distinct(self) -> float:
        others = self.variables - 1
        return counted(others * math.lgamma(self.n + 1), lambda: math.factorial(self.n) ** others)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.stack([self._order(rng, rows, v) for v in range(1, self.variables)], axis=1)

    def _order(self, rng: np.random.Generator, rows: int, variable: int) -> np.ndarray:
        """Orders (rows, n) of one variable from a stream of its own; those of the second are the pairings of a test."""
        seed: Any = rng.bit_generator.seed_seq
        own = () if variable == 1 else (variable,)
        stream = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *own))
        return draws.permutations(np.random.default_rng(stream), rows, np.array([0, self.n]))

    def all(self) -> Iterator[np.ndarray]:
        def extended(chosen: tuple[tuple[int, ...], ...]) -> Iterator[np.ndarray]:
            if len(chosen) == self.variables - 1:
                yield np.array(chosen)
                return
            for order in itertools.permutations(range(self.n)):  # itertools.product would hold all n! of them
                yield from extended((*chosen, order))

        return extended(())


@dataclass(frozen=True)
class RelativeOrders(Shuffles):
    """Orders (B, n) of one variable relative to another, as shuffles of all variables move the two.

    Those of all pairs of variables agree with one another if their draws share a seed.
    """

    first: int
    second: int

    @property
    def size(self) -> int:
        return self.n

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        second = self._order(rng, rows, self.second)
        return second if self.first == 0 else _relative(self._order(rng, rows, self.first), second)

    def all(self) -> Iterator[np.ndarray]:
        for order in super().all():
            moved = np.vstack([np.arange(self.n), order])
            yield _relative(moved[[self.first]], moved[[self.second]])[0]


def _relative(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Orders of the second variable that pair it with the first as moving both does."""
    out = np.empty_like(second)
    np.put_along_axis(out, first, second, axis=1)
    return out


@dataclass(frozen=True, eq=False)
class Signs(Permutations):
    """Signs (B, n), 1 or -1 for each observation, the same within a unit.

    Flipping all signs is not another permutation: a squared norm does not see it.
    """

    unit: np.ndarray  # (n,): the number 0, 1, ... of the unit of each observation
    restriction = "signs of residuals"

    @property
    def size(self) -> int:
        return len(self.unit)

    @property
    def _units(self) -> int:
        return int(self.unit.max()) + 1

    @property
    def distinct(self) -> float:
        return counted((self._units - 1) * math.log(2.0), lambda: 2 ** (self._units - 1))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        drawn = draws.signs(rng, rows, self._units)
        return drawn if np.array_equal(self.unit, np.arange(self._units)) else drawn[:, self.unit]

    def all(self) -> Iterator[np.ndarray]:
        for chosen in itertools.product((1.0, -1.0), repeat=self._units - 1):
            yield np.array((1.0, *chosen))[self.unit]
