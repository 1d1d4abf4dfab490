"""Restricted relabellings: those that the design of the data allows, within strata, of whole units, or by shifts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest.nulls.draws import numbers, permutations
from shrinktest.nulls.relabellings import Relabellings


@dataclass(frozen=True, eq=False)
class Strata:
    """Units of observations, and strata: units of one block and one size, which may take each other's places.

    Units are in the order of their strata, and within a stratum in that of their first observations.
    """

    rows: np.ndarray  # (U, longest): the observations of every unit in order; shorter units repeat their last
    starts: np.ndarray  # (S + 1,): where the units of each stratum start
    # (N,): the unit that an observation is in, and its place there
    unit: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, blocks: np.ndarray, groups: np.ndarray) -> Strata:
        """Strata from whole numbers (N,) that name the block and the unit of every observation.

        All observations of a unit must be of one block.
        """
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
        """Number of units in every stratum, shape (S,)."""
        return np.diff(self.starts)

    def moved(self, units: np.ndarray) -> np.ndarray:
        """Permutations (B, N) of observations in which unit ``units[:, u]`` takes the place of unit u."""
        places = np.take(units, self.unit, axis=1)
        return np.take(self.rows[:, 0], places) if self.rows.shape[1] == 1 else self.rows[places, self.place]

    def drawn(self, seeds: np.ndarray) -> np.ndarray:
        """A random permutation of the units within their strata for every seed, shape (B, U)."""
        return permutations(seeds, self.starts)


@dataclass(frozen=True, eq=False)
class RestrictedPartitions(Relabellings):
    """Partitions of pooled observations, as (B, N) labels, that keep in every stratum how many units a sample has.

    So the sizes of the samples are kept as well.  Samples with as many units as each other in every stratum may change
    places without changing the statistic; only one of the partitions that differ in this alone is enumerated.
    """

    sizes: tuple[int, ...]  # of the samples; no unit may have observations in two of them
    strata: Strata
    restriction: str  # in words

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def _labels(self) -> np.ndarray:
        """The sample that a unit is in, shape (U,); in order within every stratum."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)[self.strata.rows[:, 0]]

    @property
    def _units(self) -> np.ndarray:
        """Number of units of every stratum in every sample, shape (S, k)."""
        table = np.zeros((self.strata.counts.size, len(self.sizes)), dtype=np.int64)
        np.add.at(table, (np.repeat(np.arange(len(table)), self.strata.counts), self._labels), 1)
        return table

    @property
    def _alike(self) -> list[list[int]]:
        """Samples by what they have of the strata."""
        found: dict[tuple[int, ...], list[int]] = {}
        for sample, units in enumerate(self._units.T.tolist()):
            found.setdefault(tuple(units), []).append(sample)
        return list(found.values())

    @property
    def distinct(self) -> int:
        found = math.prod(map(math.factorial, self.strata.counts.tolist()))
        for units in self._units.ravel().tolist():
            found //= math.factorial(units)
        return found // math.prod(math.factorial(len(samples)) for samples in self._alike)

    @property
    def magnitude(self) -> float:
        whole = sum(math.lgamma(count + 1) for count in self.strata.counts.tolist())
        parts = sum(math.lgamma(units + 1) for units in self._units.ravel().tolist())
        return whole - parts - sum(math.lgamma(len(samples) + 1) for samples in self._alike)

    def draw(self, rows: int) -> np.ndarray:
        return np.take(self._labels[self.strata.drawn(self._seeds(rows))], self.strata.unit, axis=1)

    def every(self) -> Iterator[np.ndarray]:
        if len(self.sizes) == 2:
            yield from self._every_two()
            return
        labels, starts, alike = self._labels.tolist(), self.strata.starts.tolist(), self._alike
        segments = [labels[a:b] for a, b in itertools.pairwise(starts)]
        for chosen in _product([lambda s=s: _arrangements(s) for s in segments]):  # type: ignore[misc]
            found = np.array(list(itertools.chain(*chosen)), dtype=np.uint16)[self.strata.unit]
            firsts = ([int(np.argmax(found == sample)) for sample in samples] for samples in alike)
            if all(first == sorted(first) for first in firsts):
                yield found

    def _every_two(self) -> Iterator[np.ndarray]:
        """Two samples: in every stratum a subset of its units for the first, which itertools finds quickly."""
        starts, counts, first = self.strata.starts.tolist(), self.strata.counts.tolist(), self._units[:, 0].tolist()
        mirrored = len(self._alike) == 1

        def subsets(s: int) -> Iterator[tuple[int, ...]]:
            # units of the first sample come first in their stratum, so that the identity is the first subset; where
            # mirror images are left out, the first unit of all stays where it is
            fixed = (starts[s],) if s == 0 and mirrored else ()
            rest = range(starts[s] + len(fixed), starts[s] + counts[s])
            return (fixed + chosen for chosen in itertools.combinations(rest, first[s] - len(fixed)))

        second = np.ones(len(self.strata.rows), dtype=np.uint16)
        for chosen in _product([lambda s=s: subsets(s) for s in range(len(counts))]):  # type: ignore[misc]
            labels = second.copy()
            labels[list(itertools.chain(*chosen))] = 0
            yield labels[self.strata.unit]


@dataclass(frozen=True, eq=False)
class RestrictedPairings(Relabellings):
    """Pairings of n observations of X with n of Y in which the units of Y change places within their strata."""

    strata: Strata
    restriction: str  # in words

    @property
    def size(self) -> int:
        return self.strata.unit.size

    @property
    def distinct(self) -> int:
        return math.prod(map(math.factorial, self.strata.counts.tolist()))

    @property
    def magnitude(self) -> float:
        return sum(math.lgamma(count + 1) for count in self.strata.counts.tolist())

    def draw(self, rows: int) -> np.ndarray:
        return self.strata.moved(self.strata.drawn(self._seeds(rows)))

    def every(self) -> Iterator[np.ndarray]:
        segments = [range(a, b) for a, b in itertools.pairwise(self.strata.starts.tolist())]
        for orders in _product([lambda s=s: itertools.permutations(s) for s in segments]):  # type: ignore[misc]
            yield self.strata.moved(np.array([list(itertools.chain(*orders))]))[0]


@dataclass(frozen=True, eq=False)
class CircularShifts(Relabellings):
    """Pairings of n observations of X with n of Y in which Y is shifted in time, its end coming round to its start."""

    strata: Strata  # of single observations; each stratum is a series that is shifted by itself
    restriction: str  # in words

    @property
    def size(self) -> int:
        return self.strata.unit.size

    @property
    def distinct(self) -> int:
        return math.prod(self.strata.counts.tolist())

    @property
    def magnitude(self) -> float:
        return sum(math.log(count) for count in self.strata.counts.tolist())

    def _shifted(self, shifts: np.ndarray) -> np.ndarray:
        """Permutations (B, N) for shifts (B, S)."""
        starts, counts = self.strata.starts[:-1], self.strata.counts
        series = np.repeat(np.arange(counts.size), counts)  # of every unit
        since = np.arange(series.size) - starts[series]
        return self.strata.moved(starts[series] + (since + shifts[:, series]) % counts[series])

    def draw(self, rows: int) -> np.ndarray:
        return self._shifted(numbers(self._seeds(rows), self.strata.counts))

    def every(self) -> Iterator[np.ndarray]:
        return self.every_until(self.strata.counts[0])

    def every_until(self, end: int) -> Iterator[np.ndarray]:
        """Those that shift the first series by less than ``end``."""
        first, *others = self.strata.counts.tolist()
        for shifts in itertools.product(range(min(first, end)), *map(range, others)):
            yield self._shifted(np.array([shifts]))[0]


@dataclass(frozen=True, eq=False)
class ShiftedPartitions(Relabellings):
    """Labels of samples that are shifted in time along the series that the samples are one after the other.

    Shifts that only exchange whole samples, where every series has as many rows of each, do not change the statistic;
    only one of the shifts that differ in this alone is enumerated.
    """

    sizes: tuple[int, ...]  # of the samples
    strata: Strata  # of single observations; each stratum is a series along which its labels are shifted by themselves
    restriction: str  # in words

    @cached_property
    def _shifts(self) -> CircularShifts:
        return CircularShifts(self.n_resamples, self.rng, self._moving, self.restriction)

    @property
    def _moving(self) -> Strata:
        """The series; one that has rows of one sample only, whose shifts change nothing, as series of single rows."""
        strata, labels = self.strata, self._labels
        series = np.repeat(np.arange(strata.counts.size), strata.counts)[strata.unit]
        mixed = np.zeros(strata.counts.size, dtype=bool)
        mixed[series[labels != labels[strata.rows[strata.starts[:-1], 0]][series]]] = True
        if mixed.all():
            return strata
        rows = np.arange(self.size)
        return Strata.of(np.where(mixed[series], series, strata.counts.size + rows), rows)

    @property
    def _labels(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @cached_property
    def _turns(self) -> int:
        """How many shifts exchange whole samples, or leave them where they are."""
        moving, k = self._moving, len(self.sizes)
        table = np.zeros((moving.counts.size, k), dtype=np.int64)
        np.add.at(table, (np.repeat(np.arange(len(table)), moving.counts), self._labels[moving.rows[:, 0]]), 1)
        if not table.all():
            return 1
        return sum(bool((np.roll(table, turn, axis=1) == table).all()) for turn in range(k))

    @property
    def distinct(self) -> int:
        return self._shifts.distinct // self._turns

    @property
    def magnitude(self) -> float:
        return self._shifts.magnitude - math.log(self._turns)

    def draw(self, rows: int) -> np.ndarray:
        return np.take(self._labels, self._shifts.draw(rows))

    def every(self) -> Iterator[np.ndarray]:
        labels = self._labels
        return (labels[places] for places in self._shifts.every_until(self._shifts.strata.counts[0] // self._turns))


def _product(parts: list[Callable[[], Iterator[Any]]]) -> Iterator[list[Any]]:
    """``itertools.product`` of what the functions give, none of which is ever kept whole nor empty."""
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
    """Every different order of values, each once; ``values`` are in order and come first."""
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
