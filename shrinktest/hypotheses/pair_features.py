"""Features of pairs that are multiplied, so that one pass serves every statistic of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from shrinktest._check import counted
from shrinktest.data.pairs import LENGTH
from shrinktest.hypotheses.base import Variable, resolve
from shrinktest.hypotheses.supported import checked_route
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.statistics.kernel_cache import Limits, Request, bytes_of, choose

RANK = 50  # features of a variable where nobody says how many: time and memory grow with their square
_ROOM = 1e18  # bytes: features of the sample of rows are few
_WORKING = 4  # sums of one statistic: in units of the features, about their means, and what is made of these


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """A kernel of one variable by features of its rows."""

    # as it was given, and with what it takes from the sample of rows
    requested: Kernel
    kernel: Kernel
    route: str  # how the features were found
    note: str | None  # what a reader of the result should know of them
    features: FeatureMap
    rank: int


@dataclass(frozen=True, eq=False)
class Meeting:
    """The kernels of a statistic."""

    kernels: tuple[PairFeatures, PairFeatures]  # of x and of y
    lacking: str = ""  # why their products are not added up: what a MemoryError says


@dataclass
class PairPlan:
    """The features of all statistics of a test: every distinct kernel of a variable once."""

    variables: Sequence[Variable]  # random samples of the rows, from which kernels take what they take from data
    route: str  # the argument ``gram`` of the test
    rank: int | None  # of features that approximate a kernel
    groups: int  # of blocks
    memory: float  # bytes
    # for the number of a variable a generator in the same state whenever it is called, so that the features of a kernel
    # do not depend on what it is combined with
    rng: Callable[[int], np.random.Generator]
    sides: tuple[list[PairFeatures], list[PairFeatures]] = field(default_factory=lambda: ([], []))
    meetings: list[Meeting] = field(default_factory=list)
    cells: int = 0
    largest: int = 0

    def add(self, kernels: Iterable[tuple[Kernel, Kernel]], *, spare: bool) -> None:
        """The features of a kernel for each variable.

        With ``spare`` those that take more memory than there is are left out; a MemoryError says where the products
        of no statistic fit, or, without ``spare``, if those for one do not.
        """
        for pair in kernels:
            if any(all(a.requested == b for a, b in zip(entry.kernels, pair, strict=True)) for entry in self.meetings):
                continue
            x, y = (self._features(k, entry) for k, entry in enumerate(pair))
            fresh = [entry for entry, known in zip((x, y), self.sides, strict=True) if entry not in known]
            lacking = self._lacking((x.rank, y.rank), [entry.rank for entry in fresh])
            if lacking and (not spare or all(entry.lacking for entry in self.meetings)):
                raise MemoryError(lacking)
            self.meetings.append(Meeting((x, y), lacking))
            for entry, known in zip((x, y), self.sides, strict=True):
                if not lacking and entry not in known:
                    known.append(entry)

    @property
    def meets(self) -> list[tuple[int, int]]:
        """Return, for every meeting that is read, its places among the features of x and, after them, of y."""
        x, y = self.sides
        read = (entry.kernels for entry in self.meetings if not entry.lacking)
        return [(x.index(first), len(x) + y.index(second)) for first, second in read]

    def meeting(self, kernel: tuple[Kernel, Kernel]) -> tuple[int, Meeting]:
        """Return the statistic of resolved kernels, and its place among those that are read."""
        place = 0
        for meeting in self.meetings:
            if all(each.kernel is resolved for each, resolved in zip(meeting.kernels, kernel, strict=True)):
                return place, meeting
            place += not meeting.lacking
        raise LookupError(kernel)

    def under_way(self) -> float:
        """Chunks whose sums fit into memory beside the total."""
        return (self.memory - 8.0 * (self.cells + _WORKING * self.largest)) / (8.0 * self.cells)

    def _features(self, side: int, requested: Kernel) -> PairFeatures:
        """Features of a variable, of which the other knows nothing."""
        for entry in (*self.sides[side], *(entry.kernels[side] for entry in self.meetings)):
            if entry.requested == requested:
                return entry
        variable = self.variables[side]
        kernel = resolve(requested, variable, self.rng(side))
        route = checked_route(requested, self.route)
        rank = None if route == "factor" else self.rank or RANK
        gram = choose(kernel, variable.points, Limits(route, rank, _ROOM, self.rng(side)), Request())
        assert isinstance(gram.kernel, FeatureMap)
        return PairFeatures(requested, kernel, gram.name, gram.note, gram.kernel, gram.columns or 1)

    def _lacking(self, ranks: tuple[int, int], fresh: Sequence[int]) -> str:
        """Return the text of a MemoryError if there is no room for more products; otherwise reserve it."""
        more = self.groups * LENGTH * (ranks[0] + 1) * (ranks[1] + 1)
        cells = self.cells + more + self.groups * sum((rank + 1) ** 2 for rank in fresh)
        largest = max(self.largest, more)
        if (takes := 8.0 * (2 * cells + _WORKING * largest)) > self.memory:
            others = len(self.meets)
            before = f" beside those of {counted(others, 'other statistic')}" if others else ""
            return (
                f"sums of {ranks[0]} x {ranks[1]} products, for {LENGTH} shifts in {self.groups} groups{before}, take "
                f"{bytes_of(takes)}, more than max_memory={bytes_of(self.memory)}; give a smaller rank="
            )
        self.cells, self.largest = cells, largest
        return ""
