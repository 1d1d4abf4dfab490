"""Data design: the observations that may be exchanged, and the permutations that remain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shrinktest._check import counted
from shrinktest.permutations.base import Permutations, capped, factorials, random_orders
from shrinktest.permutations.block_length import BlockLength
from shrinktest.permutations.schemes import (
    Labels,
    Pairings,
    alike,
    all_orders,
    labelings,
    sample_labels,
)

# --- units that change places ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExchangeableUnits:
    """Units of observations, and strata: units of one block and one size, which may change places.

    Units are ordered by stratum, and within a stratum by their first observation.
    """

    rows: (
        np.ndarray
    )  # (U, longest): observations of each unit in order; shorter units repeat their last
    starts: np.ndarray  # (S + 1,): first unit of each stratum
    unit: np.ndarray  # (N,): unit of each observation
    place: np.ndarray  # (N,): place of each observation within its unit

    @classmethod
    def of(cls, blocks: np.ndarray, groups: np.ndarray) -> ExchangeableUnits:
        """Build units from whole numbers (N,), the block and the unit of each observation."""
        _, first, code, sizes = np.unique(
            groups, return_index=True, return_inverse=True, return_counts=True
        )
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

    @property
    def stratum(self) -> np.ndarray:
        """Stratum of each unit, shape (U,)."""
        return np.repeat(np.arange(self.counts.size), self.counts)

    def moved(self, units: np.ndarray) -> np.ndarray:
        """Return orders (B, N) of observations in which ``units[:, u]`` replaces unit u.

        Unit ``units[:, u]`` takes the place of unit u.
        """
        places = np.take(units, self.unit, axis=1)
        return (
            np.take(self.rows[:, 0], places)
            if self.rows.shape[1] == 1
            else self.rows[places, self.place]
        )

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Draw orders (rows, N) of observations whose units change places within their strata."""
        return self.moved(random_orders(rng, rows, self.starts))


@dataclass(frozen=True, eq=False)
class _UnitScheme(Permutations):
    """Permutations of units."""

    units: ExchangeableUnits
    restriction: str

    @property
    def size(self) -> int:
        return self.units.unit.size


@dataclass(frozen=True, eq=False)
class UnitPairings(_UnitScheme):
    """Orders (B, n) of Y in which its units change places within their strata."""

    @property
    def distinct(self) -> float:
        return factorials(self.units.counts.tolist())

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self.units.draw(rng, rows)

    def all(self) -> Iterator[np.ndarray]:
        strata = [range(*ends) for ends in itertools.pairwise(self.units.starts.tolist())]
        for orders in all_orders(strata):
            yield self.units.moved(np.array([[*itertools.chain(*orders)]]))[0]


@dataclass(frozen=True, eq=False)
class CircularShifts(_UnitScheme):
    """Orders (B, n) of Y in which each series, a stratum of single rows, is shifted.

    Its end joins its start.
    """

    @property
    def distinct(self) -> float:
        return capped(math.prod(self.units.counts.tolist()))

    def shifted(self, shifts: np.ndarray) -> np.ndarray:
        """Return orders (B, N) for shifts (B, S)."""
        starts = self.units.starts[:-1]
        counts = self.units.counts
        series = self.units.stratum
        since = np.arange(series.size) - starts[series]
        return self.units.moved(starts[series] + (since + shifts[:, series]) % counts[series])

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self.shifted(rng.integers(self.units.counts, size=(rows, self.units.counts.size)))

    def all(self) -> Iterator[np.ndarray]:
        for shifts in itertools.product(*map(range, self.units.counts.tolist())):
            yield self.shifted(np.array([shifts]))[0]


@dataclass(frozen=True, eq=False)
class UnitLabels(_UnitScheme):
    """Sample labels (B, N) that preserve the number of units of a sample in each stratum.

    No unit is in two samples.

    If ``symmetric``, exchanging samples with equal numbers of units in every stratum does not
    change the statistic.
    """

    sizes: tuple[int, ...] = ()  # of the samples
    symmetric: bool = False

    def _identity(self) -> np.ndarray:
        return sample_labels(self.sizes)

    def _table(self, units: ExchangeableUnits) -> np.ndarray:
        """Count the units of each stratum in each sample, shape (S, k)."""
        table = np.zeros((units.counts.size, len(self.sizes)), dtype=np.int64)
        np.add.at(table, (units.stratum, self._identity()[units.rows[:, 0]]), 1)
        return table

    @property
    def distinct(self) -> float:
        table = self._table(self.units)
        exchanged = map(len, alike(table)) if self.symmetric else ()
        return factorials(self.units.counts.tolist(), [*table.ravel().tolist(), *exchanged])

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.take(self._identity(), self.units.draw(rng, rows))

    def all(self) -> Iterator[np.ndarray]:
        table = self._table(self.units)
        groups = alike(table) if self.symmetric else ()
        return (labels[self.units.unit] for labels in labelings(table, groups))


@dataclass(frozen=True, eq=False)
class ShiftedLabels(UnitLabels):
    """Sample labels (B, N) shifted in time along the concatenated series of the samples.

    If ``symmetric``, shifts that only exchange whole samples do not change the statistic; one of
    them is enumerated.
    """

    @cached_property
    def _shifts(self) -> CircularShifts:
        """Shifts of the series, except for rows of a series within a single sample.

        No shift changes those rows, so they are left alone.
        """
        units = self.units
        series = self.units.stratum[self.units.unit]
        rows = np.arange(self.size)
        mixed = (self._table(units) > 0).sum(axis=1) > 1
        if not mixed.all():
            units = ExchangeableUnits.of(np.where(mixed[series], series, mixed.size + rows), rows)
        return CircularShifts(units, self.restriction)

    @cached_property
    def distinct(self) -> float:  # type: ignore[override]
        table = self._table(self._shifts.units)
        turns = 1  # turns exchange whole samples
        if self.symmetric and table.all():
            turns = sum(
                bool((np.roll(table, turn, axis=1) == table).all())
                for turn in range(len(self.sizes))
            )
        return self._shifts.distinct // turns

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.take(self._identity(), self._shifts.draw(rng, rows))

    def all(self) -> Iterator[np.ndarray]:
        labels = self._identity()
        return (
            labels[places] for places in itertools.islice(self._shifts.all(), int(self.distinct))
        )


# --- the design -----------------------------------------------------------------------------------


class TooFewPermutations(ValueError):
    """The design leaves too few permutations to reject."""


@dataclass(frozen=True, eq=False)
class PermutationDesign:
    """Blocks, groups, pairs or series of N observations.

    Without any, all permutations are allowed.
    """

    blocks: np.ndarray | None = None  # (N,): number of the block of each observation
    groups: np.ndarray | None = None  # (N,): number of the group with which an observation moves
    paired: bool = False  # True if only observation i of X and observation i of Y change places
    block_length: BlockLength | None = (
        None  # of a series: how many successive rows move together, as groups
    )
    # (N,): number of the places that the group of an observation kept, if rows were left out; only
    # groups that kept the same places change places, so that rows stay in step
    places: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.paired or self.shifted or self.blocks is not None or self.groups is not None

    @property
    def by_rows(self) -> bool:
        """True if single rows are permuted regardless of their order."""
        return not (self.paired or self.shifted or self.groups is not None)

    @property
    def shifted(self) -> bool:
        """True if Y (or the labels, along the joined series) is shifted circularly.

        The samples form the series one after the other.
        """
        return self.block_length is not None and self.block_length.whole

    def units(self, size: int) -> ExchangeableUnits:
        """Exchangeable units of ``size`` observations."""
        if self.paired:
            return ExchangeableUnits.of(np.arange(size) % (size // 2), np.arange(size))
        blocks = np.zeros(size, dtype=np.int64) if self.blocks is None else self.blocks
        if self.places is not None:
            blocks = np.unique(np.column_stack([blocks, self.places]), axis=0, return_inverse=True)[
                1
            ].reshape(-1)
        return ExchangeableUnits.of(blocks, np.arange(size) if self.groups is None else self.groups)

    def labels(self, sizes: tuple[int, ...], alpha: float, *, symmetric: bool) -> Permutations:
        """Labels of samples of these sizes.

        Raises ValueError if the samples are too small to reject at ``alpha``.

        ``symmetric``: exchanging samples of equal size does not change the statistic.
        """
        if not self:
            return Labels(sizes, symmetric)
        units = self.units(sum(sizes))
        scheme = ShiftedLabels if self.shifted else UnitLabels
        return self._enough(scheme(units, self._words(units), sizes, symmetric), alpha)

    def pairings(self, n: int, alpha: float, least: float = 0.0) -> Permutations:
        """Pairings of n rows.

        Raises ValueError if no p-value, none of which is below ``least``, is below ``alpha``.
        """
        if not self:
            return Pairings(n)
        units = self.units(n)
        scheme = CircularShifts if self.shifted else UnitPairings
        return self._enough(scheme(units, self._words(units)), alpha, least)

    def series(self, n: int) -> tuple[np.ndarray, ...]:
        """Rows of each series that is shifted, in order of time; none if no series is."""
        if not self.shifted:
            return ()
        units = self.units(n)
        return tuple(np.split(units.rows[:, 0], units.starts[1:-1]))

    def of(self, rows: np.ndarray) -> PermutationDesign:
        """Return the design of some of the observations."""
        blocks, groups, places = (
            None if x is None else x[rows] for x in (self.blocks, self.groups, self.places)
        )
        return replace(self, blocks=blocks, groups=groups, places=places)

    def words(self, size: int) -> str:
        """Describe what is permuted; empty if all permutations are allowed."""
        return self._words(self.units(size)) if self else ""

    def random_order(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Draw one order (N,) of the observations."""
        return self.pairings(size, alpha=1.0).draw(rng, 1)[0]

    def check_some(self, sizes: tuple[int, ...]) -> None:
        """Raise ValueError if samples of these sizes, or the pairs, cannot be permuted."""
        if not self:
            return
        scheme = (
            self.pairings(sizes[0], 1.0)
            if len(sizes) == 1
            else self.labels(sizes, 1.0, symmetric=True)
        )
        if scheme.distinct < 2:
            raise ValueError(
                f"permuting {scheme.restriction} leaves 1 different permutation; "
                f"{self._remedy(0.5)}"
            )

    def _words(self, units: ExchangeableUnits) -> str:
        if self.paired:
            return f"within {counted(units.counts.size, 'pair')}"
        blocks = 0 if self.blocks is None else np.unique(self.blocks).size
        if self.block_length is not None:
            return self.block_length.words(blocks)
        within = f"within {counted(blocks, 'block')}"
        if self.groups is None:
            return within
        whole = counted(len(units.rows), "whole group")
        alone = 0 if self.places is None else int((units.counts == 1).sum())
        stay = f" ({alone} without a match of the same rows)" if alone else ""
        return whole + (f" {within}" if blocks else "") + stay

    def _enough(self, scheme: Permutations, alpha: float, least: float = 0.0) -> Permutations:
        if max(least, 1.0 / scheme.distinct) <= alpha:
            return scheme
        if least > alpha:
            never = f"rows in the same parts so often that no p-value is below {least:.3g}"
        else:
            left = counted(int(scheme.distinct), "different permutation")
            never = f"{left}, so that no p-value is below {1.0 / scheme.distinct:.3g}"
        raise TooFewPermutations(
            f"permuting {scheme.restriction} leaves {never} and the test can never reject at "
            f"alpha={alpha:g}; "
            f"{self._remedy(alpha)}"
        )

    def _remedy(self, alpha: float) -> str:
        """Say what to do if there are too few permutations."""
        if self.paired:
            return f"collect {math.ceil(-math.log2(alpha) - 1e-9) + 1} pairs or more"
        if self.block_length is not None:
            return self.block_length.remedy
        if self.groups is None:
            return "use fewer and larger blocks, or collect more observations in them"
        if self.places is not None:
            return (
                "only groups that kept the same rows are exchangeable: use nan_policy='indicator', "
                "or more groups"
            )
        return (
            "collect more groups of one size, because only groups of equal sizes are exchangeable"
        )


def design_of(
    blocks: np.ndarray | None,
    groups: np.ndarray | None,
    sample: np.ndarray | None = None,
    where: str = "",
) -> PermutationDesign:
    """Build a design whose groups each lie in one block and in one sample.

    Raises ValueError if they do not.
    """
    for labels, places, remedy in (
        (sample, where, "use blocks= instead of groups= if samples differ within groups"),
        (blocks, "more than one block", "make blocks of whole groups, or leave one of the two out"),
    ):
        both = (
            None
            if groups is None or labels is None
            else np.unique(np.column_stack([groups, labels]), axis=0)
        )
        if both is not None and len(both) > np.unique(both[:, 0]).size:
            raise ValueError(f"groups: some groups have observations in {places}; {remedy}")
    return PermutationDesign(blocks, groups)
