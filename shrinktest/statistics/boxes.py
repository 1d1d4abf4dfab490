"""Boxes in one to three columns of pooled rows, fixed without labels, and how many rows they hold.

A column is cut into cells, at quantiles or by level.  A side of a box is a union of cells of one
column: an interval, a set of levels, or the missing values.  A box has a side in every one of its
columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from shrinktest.data.column import Column
from shrinktest.results.regions_result import Condition

#: Of boxes in so many columns: cells of a column, from fine to coarse, and the most boxes.
GRIDS = {1: ((8, 4, 2), 8000), 2: ((4, 3, 2), 4000), 3: ((3, 2), 4000)}

_FEW_LEVELS = 4  # up to which all sets of levels are sides
_LEAST_ROWS = 10  # in a box and outside
_LEAST_SHARE = 0.02  # of all rows
_DIGITS = 308  # after the point, of the smallest numbers that are not subnormal
_ROWS = 2**22  # of all labels at a time


@dataclass(frozen=True, eq=False)
class Sides:
    """Cells of one column, and the sides of boxes that are unions of them."""

    cells: np.ndarray  # (N,): cell of every row
    members: np.ndarray  # (sides, cells): True if a cell belongs to a side
    conditions: tuple[Condition, ...]  # the sides in words

    @classmethod
    def of(cls, column: Column, name: str, parts: int, *, gaps: bool = True) -> Sides:
        """Cut a column into ``parts`` cells or fewer; ``gaps`` adds missing values as a side."""
        missing = column.missing()
        if column.categorical:
            made = _levels(column, name, parts)
        else:
            made = _intervals(column, name, parts)
        if not missing.any():
            return made
        count = made.members.shape[1]
        cells = np.where(missing, count, made.cells)
        members = np.zeros((len(made.conditions) + 1, count + 1), dtype=bool)
        members[:-1, :-1] = made.members
        members[-1, -1] = True
        if not gaps:
            return cls(cells, members[:-1], made.conditions)
        gap = Condition(name, column.kind, missing=True)
        return cls(cells, members, (*made.conditions, gap))


def _intervals(column: Column, name: str, parts: int) -> Sides:
    """Return all intervals between cuts at quantiles of the pooled values."""
    numbers = column.numbers()
    known = numbers[~np.isnan(numbers)]
    distinct, counts = np.unique(known, return_counts=True)
    below = np.cumsum(counts)[:-1]  # rows up to each cut between two values
    targets = len(known) * np.arange(1, parts) / parts
    places = np.searchsorted(below, targets)
    places = np.stack([np.maximum(places - 1, 0), np.minimum(places, len(below) - 1)])
    chosen: list[int] = []
    if len(below):
        nearer = np.abs(below[places] - targets).argmin(axis=0)
        chosen = sorted({int(place) for place in places[nearer, np.arange(parts - 1)]})
    cells = np.searchsorted(distinct[chosen], numbers, side="left")
    edges = [round_between(float(distinct[k]), float(distinct[k + 1])) for k in chosen]
    limits = [-math.inf, *edges, math.inf]
    members = []
    conditions = []
    for low, high in combinations(range(len(limits)), 2):
        if high - low == len(limits) - 1:
            continue
        inside = np.zeros(len(limits) - 1, dtype=bool)
        inside[low:high] = True
        members.append(inside)
        levels = column.levels
        conditions.append(Condition(name, column.kind, limits[low], limits[high], levels))
    table = np.array(members, dtype=bool).reshape(len(members), len(limits) - 1)
    return Sides(cells, table, tuple(conditions))


def _levels(column: Column, name: str, parts: int) -> Sides:
    """Return sets of levels: all of few, else each of the most frequent and all but it."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    frequent = order[: len(order) if len(order) <= parts else parts - 1]
    place = np.full(len(column.levels) + 1, len(frequent))
    place[frequent] = np.arange(len(frequent))
    cells = place[column.values]
    count = len(frequent) + (len(frequent) < len(order))
    few = len(frequent) == len(order) <= _FEW_LEVELS
    members = []
    conditions = []
    for size in range(1, len(frequent) if few else 2):
        for some in combinations(range(len(frequent)), size):
            inside = np.zeros(count, dtype=bool)
            inside[list(some)] = True
            names = tuple(column.levels[frequent[k]] for k in some)
            members.append(inside)
            conditions.append(Condition(name, column.kind, levels=names))
            if not few:
                members.append(~inside)
                conditions.append(Condition(name, column.kind, levels=names, within=False))
    table = np.array(members, dtype=bool).reshape(len(members), max(count, 1))
    return Sides(np.minimum(cells, max(count, 1) - 1), table, tuple(conditions))


def round_between(low: float, high: float) -> float:
    """Return a number with few digits from ``low`` to less than ``high``.

    Examples
    --------
    >>> round_between(39.7, 41.2), round_between(0.1234, 0.1236), round_between(-3.0, 5.0)
    (40.0, 0.1234, 0.0)
    """
    if low < 0.0 < high:
        return 0.0
    largest = math.floor(math.log10(max(abs(low), abs(high))))
    for digits in range(-largest, min(16 - largest, _DIGITS)):
        number = float(round(math.ceil(low * 10.0**digits) / 10.0**digits, max(digits, 0)))
        if low <= number < high:
            return number
    return low


@dataclass(frozen=True, eq=False)
class Boxes:
    """All boxes in one to three columns, by the subset of columns in which they have sides."""

    columns: tuple[str, ...]
    families: tuple[tuple[Sides, ...], ...]
    most: int  # columns of the boxes with most sides

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        names: Sequence[str],
        work: float = math.inf,
        *,
        gaps: bool = True,
    ) -> Boxes:
        """Cut columns as finely as the number of boxes allows.

        Without boxes in two or three columns if their families are more than ``work``.
        """
        families: list[tuple[Sides, ...]] = []
        most = 0
        for size, (grids, limit) in GRIDS.items():
            if size > 1 and math.comb(len(columns), size) + len(families) > work:
                break
            if size > len(columns):
                break
            for parts in grids:
                sides = [
                    Sides.of(column, name, parts, gaps=gaps)
                    for column, name in zip(columns, names, strict=True)
                ]
                some = list(combinations([each for each in sides if each.conditions], size))
                boxes = sum(math.prod(len(side.conditions) for side in family) for family in some)
                if boxes <= limit:
                    families += some
                    most = size
                    break
            else:
                break
        return cls(tuple(names), tuple(families), most)

    @cached_property
    def pooled(self) -> np.ndarray:
        """Numbers (K,) of all rows in every box that is compared."""
        return self._all_pooled[self._kept]

    @cached_property
    def _all_pooled(self) -> np.ndarray:
        rows = len(self.families[0][0].cells) if self.families else 0
        return self._all(np.ones((rows, 1), dtype=np.float32))[:, 0]

    @cached_property
    def _kept(self) -> np.ndarray:
        """Boxes that hold enough rows, and leave enough."""
        rows = len(self.families[0][0].cells) if self.families else 0
        least = max(_LEAST_ROWS, _LEAST_SHARE * rows)
        inside = self._all_pooled
        return np.flatnonzero((inside >= least) & (inside <= rows - least))

    def counts(self, first: np.ndarray) -> np.ndarray:
        """Count the rows of a sample in every box, for its indicators (B, N): (K, B)."""
        return self._all(np.ascontiguousarray(first.T, dtype=np.float32))[self._kept]

    def _all(self, first: np.ndarray) -> np.ndarray:
        """Count marked rows (N, B) in the cells of each family, and add up cells to boxes."""
        from scipy.sparse import csr_array

        rows, width = first.shape
        parts = []
        for family in self.families:
            shape = [side.members.shape[1] for side in family]
            cells = np.ravel_multi_index([side.cells for side in family], shape)
            entries = (np.ones(rows, dtype=np.float32), (cells, np.arange(rows)))
            counted = csr_array(entries, shape=(math.prod(shape), rows)) @ first
            table = counted.reshape(*shape, width)
            for side in family:  # the first axis becomes the last but one
                table = np.tensordot(side.members.astype(np.float32), table, (1, 0))
                table = np.moveaxis(table, 0, len(family) - 1)
            parts.append(table.reshape(-1, width))
        return np.concatenate(parts) if parts else np.zeros((0, width), dtype=np.float32)

    def _sides(self) -> Iterator[tuple[tuple[Sides, ...], tuple[int, ...]]]:
        for family in self.families:
            for places in np.ndindex(*(len(side.conditions) for side in family)):
                yield family, places

    @cached_property
    def _listed(self) -> list[tuple[tuple[Sides, ...], tuple[int, ...]]]:
        sides = list(self._sides())
        return [sides[k] for k in self._kept]

    def conditions(self, box: int) -> tuple[Condition, ...]:
        """Return the sides of a box."""
        family, places = self._listed[box]
        return tuple(side.conditions[k] for side, k in zip(family, places, strict=True))

    def inside(self, box: int) -> np.ndarray:
        """Return which rows (N,) lie in a box."""
        family, places = self._listed[box]
        parts = [side.members[k][side.cells] for side, k in zip(family, places, strict=True)]
        return np.asarray(np.logical_and.reduce(parts))

    def __len__(self) -> int:
        return len(self._kept)
