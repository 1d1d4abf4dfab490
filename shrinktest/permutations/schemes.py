"""Schemes for independent rows: labels of samples, orders of variables, signs, and permutations drawn from models."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from shrinktest.permutations.base import (
    Permutations,
    capped,
    factorials,
    random_orders,
    random_subsets,
    random_words,
)

# --- enumerations -------------------------------------------------------------------------------------------

Step = Callable[[list[Any]], Iterator[Any]]


def choices(steps: Sequence[Step]) -> Iterator[list[Any]]:
    """Enumerate all ways to take a choice at every step; what a step offers may depend on the choices before it."""
    taken: list[Any] = []
    offers = [steps[0](taken)]
    while offers:
        del taken[len(offers) - 1 :]
        choice = next(offers[-1], None)
        if choice is None:
            offers.pop()
            continue
        taken.append(choice)
        if len(taken) == len(steps):
            yield taken
        else:
            offers.append(steps[len(taken)](taken))


def alike(table: np.ndarray) -> list[list[int]]:
    """Group the samples that have the same numbers of units in every stratum, given a table (S, k) of these numbers."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for sample, numbers in enumerate(table.T.tolist()):
        groups.setdefault(tuple(numbers), []).append(sample)
    return list(groups.values())


def labellings(table: np.ndarray, groups: list[list[int]]) -> Iterator[np.ndarray]:
    """Enumerate labels (U,) of units that give every sample its numbers of units of all strata, a table (S, k).

    Units are in order of strata, and first in order of samples within these.  Samples of a group may be exchanged: of
    labellings that differ in this alone, only the one in which the first units of these samples are in order comes.
    """
    order = np.concatenate(groups)  # below, samples are in this order, in which samples of a group follow each other
    group = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    numbers, ends = table[:, order], np.cumsum(table.sum(axis=1))
    labels = np.repeat(np.tile(order, len(table)), numbers.ravel()).astype(np.uint16)
    back = np.lexsort((labels, np.repeat(ends, table.sum(axis=1))))
    steps: list[Step] = []
    given: list[int] = []
    for s, row in enumerate(numbers):
        present = np.flatnonzero(row)
        units = range(int(ends[s] - row.sum()), int(ends[s]))
        labels[units.start : units.stop] = order[present[-1]]  # the last sample has what the others leave
        for i, sample in enumerate(present[:-1].tolist()):
            ordered = not numbers[:s, sample].any()  # in later strata samples of a group can be told apart
            after = ordered and i > 0 and group[present[i - 1]] == group[sample]
            only = ordered and group[present[-1]] == group[sample]
            steps.append(partial(_members, units, i, int(row[sample]), after, only))
            given += [order[sample]] * int(row[sample])
    if not steps:
        yield labels[back]
    for chosen in choices(steps) if steps else ():
        out = labels.copy()
        out[list(itertools.chain(*chosen))] = given
        yield out[back]


def _members(
    units: range, earlier: int, count: int, after: bool, only: bool, taken: list[Any]
) -> Iterator[tuple[int, ...]]:
    """Enumerate the members of a sample among the ``units`` of a stratum, after so many ``earlier`` samples.

    The first member comes ``after`` the first member of the sample before, and is the first unit left if ``only``
    exchangeable samples are.
    """
    used = set(itertools.chain(*taken[len(taken) - earlier :])) if earlier else ()
    left = [unit for unit in units if unit not in used]
    if only:
        return ((left[0], *others) for others in itertools.combinations(left[1:], count - 1))
    return itertools.combinations([unit for unit in left if not after or unit > taken[-1][0]], count)


# --- labels, orders, signs ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Labels(Permutations):
    """Sample labels 0, 1, ..., k - 1 of pooled observations, as (B, N), that keep the sizes of the samples."""

    sizes: tuple[int, ...]
    symmetric: bool = True  # False if exchanging samples of equal size changes the statistic

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def distinct(self) -> float:
        return factorials([self.size], [*self.sizes, *(Counter(self.sizes).values() if self.symmetric else ())])

    def _identity(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        if len(self.sizes) == 2:
            first = random_subsets(rng, rows, self.size, self.sizes[0]).view(np.uint8)
            return np.subtract(1, first, dtype=np.uint16)
        return self._identity()[random_orders(rng, rows, np.array([0, self.size]))]

    def all(self) -> Iterator[np.ndarray]:
        table = np.array([self.sizes])
        return labellings(table, alike(table) if self.symmetric else [[k] for k in range(len(self.sizes))])


@dataclass(frozen=True)
class Pairings(Permutations):
    """Orders (B, n) in which the n observations of Y are paired with observations of X."""

    size: int = 0

    @property
    def distinct(self) -> float:
        return factorials([self.size])

    def _identity(self) -> np.ndarray:
        return np.arange(self.size)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return random_orders(rng, rows, np.array([0, self.size]))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, itertools.permutations(range(self.size)))


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
        return factorials([self.n] * (self.variables - 1))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.stack([self._orders(rng, rows, v) for v in range(1, self.variables)], axis=1)

    def _orders(self, rng: np.random.Generator, rows: int, variable: int) -> np.ndarray:
        """Draw orders (rows, n) of a variable from its own stream; the second variable has the pairings of a test."""
        seed: Any = rng.bit_generator.seed_seq
        own = () if variable == 1 else (variable,)
        stream = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *own))
        return random_orders(np.random.default_rng(stream), rows, np.array([0, self.n]))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, choices([lambda _: itertools.permutations(range(self.n))] * (self.variables - 1)))


@dataclass(frozen=True)
class RelativeOrders(Shuffles):
    """Orders (B, n) of one variable relative to another, as shuffles of all variables move the two.

    Lags of all pairs of variables agree with one another if their draws share a seed.
    """

    first: int
    second: int

    @property
    def size(self) -> int:
        return self.n

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        second = self._orders(rng, rows, self.second)
        return second if self.first == 0 else _relative(self._orders(rng, rows, self.first), second)

    def all(self) -> Iterator[np.ndarray]:
        for order in super().all():
            moved = np.vstack([np.arange(self.n), order])
            yield _relative(moved[[self.first]], moved[[self.second]])[0]


def _relative(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return orders of the second variable that pair it with the first as moving both does."""
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
        return capped(2 ** (self._units - 1))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return (1.0 - 2.0 * rng.integers(2, size=(rows, self._units), dtype=np.int8))[:, self.unit]

    def all(self) -> Iterator[np.ndarray]:
        for signs in itertools.product((1.0, -1.0), repeat=self._units - 1):
            yield np.array((1.0, *signs))[self.unit]


@dataclass(frozen=True)
class GroupShifts(Permutations):
    """Shifts (B, groups) of y within blocks of successive pairs, whole numbers below ``length``.

    What leaves a block at its end returns at its start.  The shifts form a group, and leave the distribution of the
    data unchanged if y is independent of x and the pairs of a block are exchangeable.
    """

    groups: int
    length: int  # pairs of a block

    @property
    def restriction(self) -> str:  # type: ignore[override]
        """Describe what is permuted."""
        return f"within {self.length} successive pairs"

    @property
    def size(self) -> int:
        return self.groups

    @property
    def distinct(self) -> float:
        return capped(self.length**self.groups)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return rng.integers(self.length, size=(rows, self.groups))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, itertools.product(range(self.length), repeat=self.groups))


# --- drawn from models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Modelled(Permutations):
    """Permutations that are drawn from a model, and are not equally likely."""

    equally_likely: ClassVar[bool] = False
    restriction = "by the model"
    distinct = math.inf


@dataclass(frozen=True, eq=False)
class LabelsByChance(_Modelled):
    """Labels (B, N) of two samples of fixed sizes; the odds of a row say how likely it is to be in the second.

    Independent draws, exact for these sizes: a set of n observations has probability proportional to the product of
    the odds of its members ([R84]).
    """

    sizes: tuple[int, int]
    odds: np.ndarray  # (N,): log odds of each observation to be in the second sample

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @cached_property
    def _tails(self) -> np.ndarray:
        """Logarithms (N + 1, n + 1) of the sums over sets of k among the observations from i on."""
        size, second = self.size, self.sizes[1]
        out = np.full((size + 1, second + 1), -np.inf)
        out[size, 0] = 0.0
        for i in range(size - 1, -1, -1):
            out[i] = out[i + 1]
            out[i, 1:] = np.logaddexp(out[i + 1, 1:], out[i + 1, :-1] + self.odds[i])
        return out

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        tails, chance = self._tails, rng.random((rows, self.size))
        left = np.full(rows, self.sizes[1])
        out = np.zeros((rows, self.size), dtype=np.uint16)
        for i in range(self.size):
            with np.errstate(invalid="ignore"):
                share = np.exp(self.odds[i] + tails[i + 1, np.maximum(left - 1, 0)] - tails[i, left])
            chosen = (chance[:, i] < share) & (left > 0)
            out[chosen, i] = 1
            left -= chosen
        return out

    def all(self) -> Iterator[np.ndarray]:
        yield np.repeat(np.arange(2, dtype=np.uint16), self.sizes)


@dataclass(frozen=True, eq=False)
class Copies(_Modelled):
    """Seeds (B, 1) of copies of X that a model draws; 0 stands for the data."""

    size: int = 0  # observations

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.maximum(random_words(rng, rows), np.uint64(1))[:, None]

    def all(self) -> Iterator[np.ndarray]:
        yield np.zeros(1, dtype=np.uint64)
