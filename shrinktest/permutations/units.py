"""Restricted permutations: units of observations that change places within strata, and circular shifts of series."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest.permutations import draws
from shrinktest.permutations.base import Permutations, counted


@dataclass(frozen=True, eq=False)
class ExchangeableUnits:
    """Units of observations, and strata: units of one block and one size, which may change places.

    Units are ordered by stratum, and within a stratum by their first observation.
    """

    rows: np.ndarray  # (U, longest): observations of each unit in order; shorter units repeat their last
    starts: np.ndarray  # (S + 1,): first unit of each stratum
    unit: np.ndarray  # (N,): unit of each observation
    place: np.ndarray  # (N,): place of each observation within its unit

    @classmethod
    def of(cls, blocks: np.ndarray, groups: np.ndarray) -> ExchangeableUnits:
        """Build units from whole numbers (N,): the block and the unit of each observation, units within blocks."""
        _, first, code, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
        _, stratum = np.unique(np.column_stack([blocks[first], sizes]), axis=0, return_inverse=True)
        order = np.lexsort((first, stratum))
        position = np.argsort(order)  # of a unit in that order
        begins = np.concatenate([[0], np.cumsum(sizes[:-1])])
        together = np.argsort(code, kind="stable")  # observations by unit
        within = np.minimum(np.arange(sizes.max()), sizes[order, None] - 1)
        place = np.empty(code.size, dtype=np.int64)
        place[together] = np.arange(code.size) - np.repeat(begins, sizes)
        starts = np.concatenate([[0], np.cumsum(np.bincount(stratum))])
        return cls(together[begins[order, None] + within], starts, position[code], place)

    @property
    def counts(self) -> np.ndarray:
        """Number of units in each stratum, shape (S,)."""
        return np.diff(self.starts)

    def moved(self, units: np.ndarray) -> np.ndarray:
        """Orders (B, N) of observations in which unit ``units[:, u]`` takes the place of unit u."""
        places = np.take(units, self.unit, axis=1)
        return np.take(self.rows[:, 0], places) if self.rows.shape[1] == 1 else self.rows[places, self.place]

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Draw orders (rows, U) of the units within their strata."""
        return draws.permutations(rng, rows, self.starts)


@dataclass(frozen=True, eq=False)
class UnitLabels(Permutations):
    """Sample labels (B, N) that keep in each stratum how many units a sample has.

    Samples with equal numbers of units in every stratum may be exchanged without changing the statistic; only one of
    the labellings that differ in this alone is enumerated.
    """

    sizes: tuple[int, ...]  # of the samples; no unit has observations in two of them
    units: ExchangeableUnits
    restriction: str

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @cached_property
    def _labels(self) -> np.ndarray:
        """Sample of each unit, shape (U,); in order within each stratum."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)[self.units.rows[:, 0]]

    @cached_property
    def _table(self) -> np.ndarray:
        """Number of units of each stratum in each sample, shape (S, k)."""
        return _table(self.units.counts, self._labels, len(self.sizes))

    @property
    def _exchangeable(self) -> list[list[int]]:
        """Samples that have the same numbers of units."""
        same: dict[tuple[int, ...], list[int]] = {}
        for sample, numbers in enumerate(self._table.T.tolist()):
            same.setdefault(tuple(numbers), []).append(sample)
        return list(same.values())

    @property
    def distinct(self) -> float:
        whole = sum(math.lgamma(count + 1) for count in self.units.counts.tolist())
        return counted(whole - sum(math.lgamma(n + 1) for n in self._table.ravel().tolist()), self._count)

    def _count(self) -> int:
        number = math.prod(map(math.factorial, self.units.counts.tolist()))
        number //= math.prod(map(math.factorial, self._table.ravel().tolist()))
        return number // math.prod(math.factorial(len(samples)) for samples in self._exchangeable)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.take(self._labels[self.units.draw(rng, rows)], self.units.unit, axis=1)

    def all(self) -> Iterator[np.ndarray]:
        if len(self.sizes) == 2:
            yield from self._all_two()
            return
        labels, exchangeable = self._labels.tolist(), self._exchangeable
        segments = [labels[a:b] for a, b in itertools.pairwise(self.units.starts.tolist())]
        for chosen in _product([lambda s=s: _arrangements(s) for s in segments]):  # type: ignore[misc]
            row = np.array(list(itertools.chain(*chosen)), dtype=np.uint16)[self.units.unit]
            firsts = ([int(np.argmax(row == sample)) for sample in samples] for samples in exchangeable)
            if all(first == sorted(first) for first in firsts):
                yield row

    def _all_two(self) -> Iterator[np.ndarray]:
        """In each stratum, subsets of its units that are in the first sample."""
        starts, counts = self.units.starts.tolist(), self.units.counts.tolist()
        first, symmetric = self._table[:, 0].tolist(), len(self._exchangeable) == 1

        def subsets(s: int) -> Iterator[tuple[int, ...]]:
            # Units of the first sample come first, so the identity is the first subset; without mirror images, the
            # first unit of all stays where it is.
            fixed = (starts[s],) if s == 0 and symmetric else ()
            rest = range(starts[s] + len(fixed), starts[s] + counts[s])
            return (fixed + chosen for chosen in itertools.combinations(rest, first[s] - len(fixed)))

        second = np.ones(len(self.units.rows), dtype=np.uint16)
        for chosen in _product([lambda s=s: subsets(s) for s in range(len(counts))]):  # type: ignore[misc]
            labels = second.copy()
            labels[list(itertools.chain(*chosen))] = 0
            yield labels[self.units.unit]


@dataclass(frozen=True, eq=False)
class UnitPairings(Permutations):
    """Orders (B, n) of Y in which its units change places within their strata."""

    units: ExchangeableUnits
    restriction: str

    @property
    def size(self) -> int:
        return self.units.unit.size

    @property
    def distinct(self) -> float:
        counts = self.units.counts.tolist()
        return counted(sum(math.lgamma(count + 1) for count in counts), lambda: math.prod(map(math.factorial, counts)))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self.units.moved(self.units.draw(rng, rows))

    def all(self) -> Iterator[np.ndarray]:
        segments = [range(a, b) for a, b in itertools.pairwise(self.units.starts.tolist())]
        for orders in _product([lambda s=s: itertools.permutations(s) for s in segments]):  # type: ignore[misc]
            yield self.units.moved(np.array([list(itertools.chain(*orders))]))[0]


@dataclass(frozen=True, eq=False)
class CircularShifts(Permutations):
    """Orders (B, n) of Y in which each series is shifted in time, its end joined to its start."""

    units: ExchangeableUnits  # single observations; each stratum is a series
    restriction: str

    @property
    def size(self) -> int:
        return self.units.unit.size

    @property
    def distinct(self) -> float:
        counts = self.units.counts.tolist()
        return counted(sum(map(math.log, counts)), lambda: math.prod(counts))

    def _shifted(self, shifts: np.ndarray) -> np.ndarray:
        """Orders (B, N) for shifts (B, S)."""
        starts, counts = self.units.starts[:-1], self.units.counts
        series = np.repeat(np.arange(counts.size), counts)  # of each unit
        since = np.arange(series.size) - starts[series]
        return self.units.moved(starts[series] + (since + shifts[:, series]) % counts[series])

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self._shifted(rng.integers(self.units.counts, size=(rows, self.units.counts.size)))

    def all(self) -> Iterator[np.ndarray]:
        return self.all_until(self.units.counts[0])

    def all_until(self, end: int) -> Iterator[np.ndarray]:
        """Enumerate those that shift the first series by less than ``end``."""
        first, *others = self.units.counts.tolist()
        for shifts in itertools.product(range(min(first, end)), *map(range, others)):
            yield self._shifted(np.array([shifts]))[0]


@dataclass(frozen=True, eq=False)
class ShiftedLabels(Permutations):
    """Sample labels (B, N) shifted in time along the series that the samples form one after the other.

    Shifts that only exchange whole samples do not change the statistic; one of them is enumerated.
    """

    sizes: tuple[int, ...]  # of the samples
    units: ExchangeableUnits  # single observations; each stratum is a series along which its labels are shifted
    restriction: str

    @cached_property
    def _shifts(self) -> CircularShifts:
        return CircularShifts(self._moving, self.restriction)

    @property
    def _moving(self) -> ExchangeableUnits:
        """The series; one with rows of a single sample, which no shift changes, counts as series of single rows."""
        units, labels = self.units, self._labels
        series = np.repeat(np.arange(units.counts.size), units.counts)[units.unit]
        mixed = np.zeros(units.counts.size, dtype=bool)
        mixed[series[labels != labels[units.rows[units.starts[:-1], 0]][series]]] = True
        if mixed.all():
            return units
        rows = np.arange(self.size)
        return ExchangeableUnits.of(np.where(mixed[series], series, units.counts.size + rows), rows)

    @property
    def _labels(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @cached_property
    def _turns(self) -> int:
        """Number of shifts that exchange whole samples, or leave them where they are."""
        moving = self._moving
        table = _table(moving.counts, self._labels[moving.rows[:, 0]], len(self.sizes))
        if not table.all():
            return 1
        return sum(bool((np.roll(table, turn, axis=1) == table).all()) for turn in range(len(self.sizes)))

    @property
    def distinct(self) -> float:
        return self._shifts.distinct // self._turns

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.take(self._labels, self._shifts.draw(rng, rows))

    def all(self) -> Iterator[np.ndarray]:
        labels = self._labels
        return (labels[places] for places in self._shifts.all_until(self._shifts.units.counts[0] // self._turns))


def _table(counts: np.ndarray, labels: np.ndarray, samples: int) -> np.ndarray:
    """Number of units of each stratum in each sample, shape (S, k)."""
    table = np.zeros((counts.size, samples), dtype=np.int64)
    np.add.at(table, (np.repeat(np.arange(counts.size), counts), labels), 1)
    return table


def _product(parts: list[Callable[[], Iterator[Any]]]) -> Iterator[list[Any]]:
    """Cartesian product of what the functions enumerate, in which no part is held whole or empty."""
    running = [part() for part in parts]
    current = [next(values) for values in running]
    while True:
        yield current
        s = len(parts) - 1
        while s >= 0 and (value := next(running[s], None)) is None:
            s -= 1
        if s < 0:
            return
        current[s] = value
        for later in range(s + 1, len(parts)):  # these start again
            running[later] = parts[later]()
            current[later] = next(running[later])


def _arrangements(values: list[int]) -> Iterator[tuple[int, ...]]:
    """Every distinct order of sorted values once, the given order first (next lexicographic permutation)."""
    current = list(values)
    while True:
        yield tuple(current)
        i = len(current) - 2
        while i >= 0 and current[i] >= current[i + 1]:
            i -= 1
        if i < 0:
            return
        j = len(current) - 1
        while current[j] <= current[i]:
            j -= 1
        current[i], current[j] = current[j], current[i]
        current[i + 1 :] = reversed(current[i + 1 :])
