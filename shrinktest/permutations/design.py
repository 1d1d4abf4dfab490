"""Design of the data: which permutations it allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import choice, counted
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.schemes import Labels, Pairings
from shrinktest.permutations.units import CircularShifts, ExchangeableUnits, ShiftedLabels, UnitLabels, UnitPairings

SHIFTS = ("circular",)


@dataclass(frozen=True, eq=False)
class PermutationDesign:
    """Blocks, groups, pairs or series of N observations; without any, all permutations are allowed."""

    blocks: np.ndarray | None = None  # (N,): number of the block of each observation
    groups: np.ndarray | None = None  # (N,): number of the group with which an observation moves
    paired: bool = False  # True if only observation i of X and observation i of Y change places
    shift: bool = False  # True if Y (or the labels, along the series that the samples form) is shifted circularly
    stretch: int = 0  # rows of a group, if groups are stretches of a series
    # (N,): number of the places that the group of an observation kept, if rows were left out; only groups that kept
    # the same places change places, so that rows stay in step
    places: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.paired or self.shift or self.blocks is not None or self.groups is not None

    @property
    def by_rows(self) -> bool:
        """True if single rows are permuted regardless of their order."""
        return not (self.paired or self.shift or self.groups is not None)

    def units(self, size: int) -> ExchangeableUnits:
        """Exchangeable units of ``size`` observations."""
        if self.paired:
            return ExchangeableUnits.of(np.arange(size) % (size // 2), np.arange(size))
        blocks = np.zeros(size, dtype=np.int64) if self.blocks is None else self.blocks
        if self.places is not None:
            blocks = np.unique(np.column_stack([blocks, self.places]), axis=0, return_inverse=True)[1].reshape(-1)
        return ExchangeableUnits.of(blocks, np.arange(size) if self.groups is None else self.groups)

    def labels(self, sizes: tuple[int, ...], alpha: float) -> Permutations:
        """Labels of samples of these sizes; raises ValueError if they are too few to reject at ``alpha``."""
        if not self:
            return Labels(sizes)
        units = self.units(sum(sizes))
        kind = ShiftedLabels if self.shift else UnitLabels
        return self._enough(kind(sizes, units, self._words(units)), units, alpha)

    def pairings(self, n: int, alpha: float, least: float = 0.0) -> Permutations:
        """Pairings of n rows; raises ValueError if they are too few to reject at ``alpha``.

        No p-value is below ``least``.
        """
        if not self:
            return Pairings(n)
        units = self.units(n)
        kind = CircularShifts if self.shift else UnitPairings
        return self._enough(kind(units, self._words(units)), units, alpha, least)

    def series(self, n: int) -> tuple[np.ndarray, ...]:
        """Rows of each series that is shifted, in order of time; none if no series is."""
        if not self.shift:
            return ()
        units = self.units(n)
        return tuple(np.split(units.rows[:, 0], units.starts[1:-1]))

    def of(self, rows: np.ndarray) -> PermutationDesign:
        """The design of some of the observations."""
        every = (self.blocks, self.groups, self.places)
        blocks, groups, places = (None if labels is None else labels[rows] for labels in every)
        return replace(self, blocks=blocks, groups=groups, places=places)

    def words(self, size: int) -> str:
        """Describe what is permuted; empty if all permutations are allowed."""
        return self._words(self.units(size)) if self else ""

    def random_order(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Draw one order (N,) of the observations."""
        return self.pairings(size, alpha=1.0).draw(rng, 1)[0]

    def check_some(self, sizes: tuple[int, ...]) -> None:
        """Raise ValueError if nothing can be permuted in samples of these sizes, or in so many pairs."""
        if not self:
            return
        scheme = self.pairings(sizes[0], 1.0) if len(sizes) == 1 else self.labels(sizes, 1.0)
        if scheme.distinct < 2:
            advice = self._advice(self.units(sum(sizes)), alpha=0.5)
            raise ValueError(f"permuting {scheme.restriction} leaves 1 different permutation; {advice}")

    def _words(self, units: ExchangeableUnits) -> str:
        if self.paired:
            return f"within {counted(units.counts.size, 'pair')}"
        blocks = 0 if self.blocks is None else np.unique(self.blocks).size
        if self.shift:
            return f"circular shifts of {blocks} series" if blocks else "circular shifts"
        within = f"within {counted(blocks, 'block')}"
        if self.stretch:
            return f"stretches of {counted(self.stretch, 'row')}" + (f" {within}" if blocks else "")
        if self.groups is None:
            return within
        alone = 0 if self.places is None else int((units.counts == 1).sum())
        stay = "1 stays where it is" if alone == 1 else f"{alone} stay where they are"
        stay = f" ({stay}: no other kept the same rows)" if alone else ""
        return counted(len(units.rows), "whole group") + (f" {within}" if blocks else "") + stay

    def _enough(self, scheme: Permutations, units: ExchangeableUnits, alpha: float, least: float = 0.0) -> Permutations:
        if least <= alpha and 1.0 / scheme.distinct <= alpha:
            return scheme
        if least > alpha:
            never = f"rows in the same parts so often that no p-value is below {least:.3g}"
        else:
            left = counted(int(scheme.distinct), "different permutation")
            never = f"{left}, so that no p-value is below {1.0 / scheme.distinct:.3g}"
        raise TooFewPermutations(
            f"permuting {scheme.restriction} leaves {never} and the test can never reject at alpha={alpha:g}; "
            f"{self._advice(units, alpha)}"
        )

    def _advice(self, units: ExchangeableUnits, alpha: float) -> str:
        """Say what to do if there are too few permutations."""
        if self.paired:
            return f"collect {math.ceil(-math.log2(alpha) - 1e-9) + 1} pairs or more"
        if self.shift or self.stretch:
            shorter = "take shorter stretches (shift=), " if self.stretch > 1 else ""
            return f"{shorter}observe longer series, or more of them"
        if self.groups is None:
            return "use fewer and larger blocks, or collect more observations in them"
        if self.places is not None:
            return (
                "rows with missing values were left out, and only groups that kept the same rows are exchangeable: "
                "leave out whole groups, use nan_policy='indicator', or collect more groups"
            )
        if np.unique(np.bincount(units.unit)).size == 1:
            return "collect more groups"
        return (
            f"collect more groups; only groups of equal sizes are exchangeable, and these range up to "
            f"{units.rows.shape[1]}: drop rows at random until sizes agree, or test one summary of each group"
        )


class TooFewPermutations(ValueError):
    """The design leaves too few permutations to reject."""


def check_shift(shift: Any, groups: Any, keep: NDArray[np.bool_]) -> None:
    """Raise ValueError for shifts combined with groups, or of series with gaps."""
    choice(shift, SHIFTS, "shift")
    if groups is not None:
        raise ValueError(
            f"shift={shift!r} moves single rows along in time, and groups= moves several at once; leave one of them "
            "out (for several series: blocks=)"
        )
    refuse_gaps(shift, keep)


def refuse_gaps(shift: Any, keep: NDArray[np.bool_]) -> None:
    """Raise ValueError for series with gaps, that is, if some rows are not kept."""
    if not keep.all():
        raise ValueError(
            f"shift={shift!r} needs series without gaps, and nan_policy='omit' would cut out "
            f"{counted(int((~keep).sum()), 'row')}; interpolate, or test a part without missing values"
        )


def design_of(
    blocks: np.ndarray | None,
    groups: np.ndarray | None,
    sample: np.ndarray | None = None,
    where: str = "",
    *,
    shift: bool = False,
) -> PermutationDesign:
    """Build a design whose groups each lie in one block and in one sample; raises ValueError if they do not."""

    def cut_by(labels: np.ndarray | None) -> bool:
        if groups is None or labels is None:
            return False
        return len(np.unique(np.column_stack([groups, labels]), axis=0)) > np.unique(groups).size

    if cut_by(sample):
        raise ValueError(
            f"groups: some groups have observations in {where}, so that they cannot move as a whole; use blocks= "
            "instead of groups= if samples differ within groups"
        )
    if cut_by(blocks):
        raise ValueError(
            "groups: some groups have observations in more than one block; make blocks of whole groups, or leave one "
            "of the two out"
        )
    return PermutationDesign(blocks, groups, shift=shift)
