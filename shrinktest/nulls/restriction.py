"""Restriction: which relabellings the design of the data allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._validate import choice, counted
from shrinktest.nulls.relabellings import Pairings, Partitions, Relabellings
from shrinktest.nulls.restricted import (
    CircularShifts,
    RestrictedPairings,
    RestrictedPartitions,
    ShiftedPartitions,
    Strata,
)

SHIFTS = ("circular",)
_COUNTED = 700.0  # logarithm of a number of relabellings that is still in the range of floating-point numbers


@dataclass(frozen=True, eq=False)
class Restriction:
    """What a relabelling may do to the N observations: all there are, if nothing is said."""

    # (N,): a whole number for every observation: that of its block, and of the group with which it moves
    blocks: np.ndarray | None = None
    groups: np.ndarray | None = None
    paired: bool = False  # whether observation i of X may change places with observation i of Y only
    # whether Y may be shifted only, its end coming round to its start; of samples, their labels along the series that
    # they are when one comes after the other
    shift: bool = False
    stretch: int = 0  # how many successive observations a group has, where groups are stretches of a series; else 0
    # (N,): for pairings, where some rows of groups were left out: a whole number for every observation, that of the
    # places that its group kept.  Only groups that kept the same ones change places, so that rows stay in step.
    places: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.paired or self.shift or self.blocks is not None or self.groups is not None

    @property
    def singly(self) -> bool:
        """Whether rows are permuted one by one, in some way that takes no account of their order."""
        return not (self.paired or self.shift or self.groups is not None)

    def strata(self, size: int) -> Strata:
        """Units, and strata within which they may be exchanged, of so many observations."""
        if self.paired:
            return Strata.of(np.arange(size) % (size // 2), np.arange(size))
        blocks = np.zeros(size, dtype=np.int64) if self.blocks is None else self.blocks
        if self.places is not None:
            blocks = np.unique(np.column_stack([blocks, self.places]), axis=0, return_inverse=True)[1].reshape(-1)
        return Strata.of(blocks, np.arange(size) if self.groups is None else self.groups)

    def partitions(
        self, n_resamples: float, rng: np.random.Generator, sizes: tuple[int, ...], alpha: float
    ) -> Relabellings:
        """The partitions it allows of pooled observations into samples of these sizes.

        Raises ValueError if these are too few to reject at ``alpha``.
        """
        if not self:
            return Partitions(n_resamples, rng, sizes)
        strata = self.strata(sum(sizes))
        kind = ShiftedPartitions if self.shift else RestrictedPartitions
        return self._enough(kind(n_resamples, rng, sizes, strata, self._words(strata)), strata, alpha)

    def pairings(
        self, n_resamples: float, rng: np.random.Generator, n: int, alpha: float, least: float = 0.0
    ) -> Relabellings:
        """The pairings it allows of n observations of X with n of Y; no p-value is below the share ``least``.

        Raises ValueError if these are too few to reject at ``alpha``.
        """
        if not self:
            return Pairings(n_resamples, rng, n)
        strata = self.strata(n)
        kind = CircularShifts if self.shift else RestrictedPairings
        return self._enough(kind(n_resamples, rng, strata, self._words(strata)), strata, alpha, least)

    def series(self, n: int) -> tuple[np.ndarray, ...]:
        """The rows of every series that is shifted, in order of time; none where nothing is."""
        if not self.shift:
            return ()
        strata = self.strata(n)
        return tuple(np.split(strata.rows[:, 0], strata.starts[1:-1]))

    def of(self, rows: np.ndarray) -> Restriction:
        """The same of some of the observations."""
        every = (self.blocks, self.groups, self.places)
        blocks, groups, places = (None if labels is None else labels[rows] for labels in every)
        return replace(self, blocks=blocks, groups=groups, places=places)

    def words(self, size: int) -> str:
        """What it allows so many observations, for a reader; nothing where all is allowed."""
        return self._words(self.strata(size)) if self else ""

    def relabelled(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """A random permutation (N,) of observations that puts each where another one with its labels was."""
        return self.pairings(1, rng, size, alpha=1.0).draw(1)[0]

    def check_some(self, sizes: tuple[int, ...]) -> None:
        """Raise ValueError where it leaves nothing to permute of samples of these sizes, or of so many pairs."""
        if not self:
            return
        rng, pairs = np.random.default_rng(0), len(sizes) == 1
        found = self.pairings(1, rng, sizes[0], 1.0) if pairs else self.partitions(1, rng, sizes, 1.0)
        if found.magnitude < 1.0 and found.distinct < 2:
            raise ValueError(
                f"permuting {found.restriction} leaves 1 different permutation, so that there is nothing to "
                f"permute; {self._advice(self.strata(sum(sizes)), alpha=0.5)}"
            )

    def _words(self, strata: Strata) -> str:
        if self.paired:
            return f"within {counted(strata.counts.size, 'pair')}"
        blocks = 0 if self.blocks is None else np.unique(self.blocks).size
        if self.shift:
            return f"circular shifts of {blocks} series" if blocks else "circular shifts"
        within = f"within {counted(blocks, 'block')}"
        if self.stretch:
            return f"stretches of {counted(self.stretch, 'row')}" + (f" {within}" if blocks else "")
        if self.groups is None:
            return within
        alone = 0 if self.places is None else int((strata.counts == 1).sum())
        stay = "1 stays where it is" if alone == 1 else f"{alone} stay where they are"
        stay = f" ({stay}: no other kept the same rows)" if alone else ""
        return counted(len(strata.rows), "whole group") + (f" {within}" if blocks else "") + stay

    def _enough(self, found: Relabellings, strata: Strata, alpha: float, least: float = 0.0) -> Relabellings:
        if found.n_resamples == 0 or (
            least <= alpha
            and (found.magnitude > min(-math.log(alpha), _COUNTED) + 1.0 or 1.0 / found.distinct <= alpha)
        ):
            return found
        if least > alpha:
            never = f"rows in the same parts so often that no p-value of all permutations is below {least:.3g}"
        else:
            left = counted(found.distinct, "different permutation")
            never = f"{left}, so that no p-value is below {1.0 / found.distinct:.3g}"
        raise ValueError(
            f"permuting {found.restriction} leaves {never} and the test can never reject at alpha={alpha:g}; "
            f"{self._advice(strata, alpha)}"
        )

    def _advice(self, strata: Strata, alpha: float) -> str:
        """What to do where there are too few permutations."""
        if self.paired:
            return f"collect {math.ceil(-math.log2(alpha) - 1e-9) + 1} pairs or more"
        if self.shift or self.stretch:
            shorter = "take shorter stretches (shift=), " if self.stretch > 1 else ""
            return f"{shorter}observe longer series, or more of them"
        if self.groups is None:
            return "use fewer and larger blocks, or collect more observations in them"
        if self.places is not None:
            return (
                "rows were left out for missing values, and only groups of one size that kept the same rows can be "
                "exchanged: leave out whole groups, use nan_policy='indicator', or collect more groups"
            )
        if np.unique(np.bincount(strata.unit)).size == 1:
            return "collect more groups"
        return (
            "collect more groups; only groups of equal sizes can be exchanged and theirs range up to "
            f"{strata.rows.shape[1]}: drop observations at random until sizes agree, or test one summary of every group"
        )


def check_shift(shift: Any, groups: Any, keep: NDArray[np.bool_]) -> None:
    """Raise ValueError for shifts beside groups, or of series with gaps, where some rows are not kept."""
    choice(shift, SHIFTS, "shift")
    if groups is not None:
        raise ValueError(
            f"shift={shift!r} moves single observations along in time, and groups= moves several at once; leave "
            "one of them out (series that are shifted apart from each other: blocks=)"
        )
    refuse_gaps(shift, keep)


def refuse_gaps(shift: Any, keep: NDArray[np.bool_]) -> None:
    """Raise ValueError for series with gaps, where some rows are not kept."""
    if not keep.all():
        raise ValueError(
            f"shift={shift!r} needs series without gaps, and nan_policy='omit' would cut out "
            f"{counted(int((~keep).sum()), 'row')}; fill them in (interpolate), or test a part without missing values"
        )


def of_labels(
    blocks: np.ndarray | None,
    groups: np.ndarray | None,
    sample: np.ndarray | None = None,
    where: str = "",
    *,
    shift: bool = False,
) -> Restriction:
    """A restriction whose groups lie each in one block and in one sample."""

    def cut_by(labels: np.ndarray | None) -> bool:
        if groups is None or labels is None:
            return False
        return len(np.unique(np.column_stack([groups, labels]), axis=0)) > np.unique(groups).size

    if cut_by(sample):
        raise ValueError(
            f"groups: some groups have observations in {where}, so that they cannot move as a whole; where the "
            "samples differ within groups, permute within them: blocks= instead of groups="
        )
    if cut_by(blocks):
        raise ValueError(
            "groups: some groups have observations in more than one block, which they would leave when they move as a "
            "whole; make blocks of whole groups, or leave one of the two out"
        )
    return Restriction(blocks, groups, shift=shift)
