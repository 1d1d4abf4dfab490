"""Memory: how much a row of a series says of the next one, and how long the stretches are that keep it together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import choice, counted
from shrinktest.permutations.design import PermutationDesign, refuse_gaps
from shrinktest.permutations.gaps import absent_in, as_read, of_those_there

CIRCULAR, STRETCHES = "circular", "stretches"

#: What memory makes wrong: of permutations of single rows, and of standard errors.
WRONG_PERMUTATIONS = "permuting single rows makes p-values too small"
WRONG_ERRORS = "standard errors of independent rows are too small"

#: What to do about memory, by what a test can do about it.
BY_STRETCHES = "use shift='stretches', which moves stretches of rows"
BY_STRETCHES_OR_GROUPS = f"{BY_STRETCHES}, or groups=, which moves units as a whole"
BY_SHIFTS = "use shift='circular', which moves Y along in time as a whole, or groups=, which moves units"
BY_GROUPS = "give groups= that keep units, or stretches of rows, together"
BY_PAIRS = (
    "leave out paired=True, and exchange long stretches of pairs as a whole: blocks= with the number of the stretch, "
    "for both samples, and groups= with a label for each stretch of each sample"
)
BY_THINNING = "take pairs so far apart that they have little in common"
BY_ROWS_APART = "take rows so far apart that they have little in common"
BY_COVARIATES = "add to covariates= the values of the row before, or what else tells the time"
BY_GIVEN = "add to given= the values of the row before, or what else tells the time"

_LOST = 0.05  # of the variance of a mean, at most, where the cuts between stretches part rows that go together
_MUCH = 0.15  # of it, where series are too short for that: from here on there is a note
_FEWEST = 8  # stretches of a series: with fewer there are hardly any permutations
_SURE = 3.0  # times what chance makes of the correlation of independent rows
_BOTH, _PRODUCT = 2.0, 6.0  # the same of two variables that both must have, and of the product of their correlations
_STEPS = 8  # all in one direction, from which on it is no chance: rows are sorted
_EVEN = 1e-6  # of a step: differences of steps that count, in whatever units
_LARGE = 0.1  # correlations from which the level suffers: two tests in three hundred more reject at .05
_ROUNDING = 1e-13  # of the largest value
_WIDER = 1.25  # times as long a stretch may become for fewer rows to be left over


@dataclass(frozen=True)
class Memory:
    """That successive rows go together, of which permutations of single rows take no account."""

    named: tuple[str, ...]  # what the rows are of: of samples, or of two variables
    correlations: tuple[float, ...]  # of successive rows of each

    @property
    def strength(self) -> float:
        """By how much chance adds to the variance of a mean, or of a mean of products, as for one factor of fading."""
        return math.prod(self.correlations)

    def note(self, advice: str, wrong: str = WRONG_PERMUTATIONS) -> str:
        """What a reader should know, and what to do."""
        return (
            f"Successive rows of {' and of '.join(self.named)} are correlated "
            f"({' and '.join(f'{r:.2f}' for r in self.correlations)}). If they are in order of time, or of units that "
            f"were observed several times, they depend on each other, and {wrong}: {advice}."
        )


def strongest(found: Iterable[Memory | None]) -> Memory | None:
    """The one that matters most, of those that are there."""
    return max((one for one in found if one is not None), key=lambda one: one.strength, default=None)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in what may be their order of time."""

    parts: Sequence[np.ndarray]  # (n_i, d): series with a mean of their own, without the columns that tell the time
    timed: bool = False  # whether there were such columns, and they go up from row to row
    # (d,): numbers of what columns are looked at together, as those of the categories of one variable; default each
    # alone
    together: NDArray[np.intp] | None = None
    # (n_i, d): where something else stands in place of missing values; default nowhere
    absent: Sequence[NDArray[np.bool_]] | None = None

    @classmethod
    def of(cls, parts: Sequence[np.ndarray], encoding: Any = None, apart: Sequence[np.ndarray] | None = None) -> Rows:
        """Rows by all their columns, of which some may count, at an even pace, as years do.

        The ``encoding`` of a table says which are dates, which are the categories of one variable, and which say that
        values of others are missing; ``apart`` (n_i - 1,) how far a row was from the next before rows were left out.
        """
        dated, together = (None, None) if encoding is None else (encoding.dated, encoding.together)
        if parts[0].shape[1] < 2:
            return cls(parts)
        absent = None if encoding is None else absent_in(parts, encoding.beside)
        clocks, forward = clocks_in(as_read(parts, absent, apart), dated)
        if not clocks.any() or clocks.all():
            return cls(parts, together=together, absent=absent)
        kept = None if together is None else np.unique(together[~clocks], return_inverse=True)[1]
        absent = None if absent is None else [gone[:, ~clocks] for gone in absent]
        return cls([part[:, ~clocks] for part in parts], bool(forward.any()), kept, absent)

    @cached_property
    def sorted(self) -> bool:
        """Whether a column goes up, or down, from row to row in every part, in so many steps that it is no chance."""
        steps = np.vstack([np.diff(part, axis=0) for part in self.parts])
        if self.absent is not None:
            steps[np.vstack([gone[1:] | gone[:-1] for gone in self.absent])] = 0.0
        up, down = (steps > 0).sum(axis=0), (steps < 0).sum(axis=0)
        there = ~np.isnan(steps).any(axis=0)
        return bool((there & (np.minimum(up, down) == 0) & (np.maximum(up, down) >= _STEPS)).any())

    @cached_property
    def correlation(self) -> float:
        """How much rows go with the next one: the largest correlation among the columns.

        Values, and how far they are from their mean, are looked at.  Missing values leave a column out, unless others
        stand in their place: these hide what rows remember, and it is found from the pairs of rows that are there.  Of
        columns that nearly always have one value, what a few others next to each other may be by chance is taken off.
        """
        reach = [np.maximum(part.max(axis=0, initial=0.0), -part.min(axis=0, initial=0.0)) for part in self.parts]
        widest = np.max(reach, axis=0)
        unit = np.where(widest > 0, widest, 1.0)  # squares stay finite
        series = [part / unit for part in self.parts if len(part) > 2]
        together, largest = np.arange(len(unit)) if self.together is None else self.together, 0.0
        for spread in (False, True):
            same, next_one = np.zeros(len(unit)), np.zeros(len(unit))
            for z in series:
                if spread:
                    np.abs(z, out=z)
                z -= z.mean(axis=0)
                same += np.einsum("ij,ij->j", z, z)
                next_one += np.einsum("ij,ij->j", z[1:], z[:-1])
            there = same > sum(map(len, series)) * _ROUNDING**2  # the rest of a column with one value is rounding
            whole, after = (np.bincount(together[there], one[there]).astype(np.float64) for one in (same, next_one))
            each = np.divide(after, whole, out=np.zeros_like(whole), where=whole > 0.0)
            if self.absent is not None:
                scaled = [part / unit for part in self.parts]
                seen, pairs = of_those_there(scaled, self.absent, together, spread=spread)
                more = seen > np.sqrt(self._doubt / np.maximum(pairs, 1.0))
                each = np.maximum(each, np.where(more, seen, 0.0)[: len(each)])
            for one in np.argsort(-each):
                if each[one] <= largest:  # as are those after it, which chance only makes smaller
                    break
                chance = self._by_chance(together == one) if each[one] > _LARGE else 0.0
                largest = max(largest, float(each[one]) - chance)
        return min(largest, 0.999)

    @property
    def _doubt(self) -> float:
        """Times one over the number of pairs, the square of what a correlation may be by chance."""
        return _SURE**2 + 2.0 * math.log(self.looks)

    def _by_chance(self, columns: NDArray[np.bool_]) -> float:
        """How much of a correlation few values other than the usual one may make by being next to each other.

        The part of Bernstein's bound that counts where events are rare: a third of what is sure, by their number.
        Where values are missing, pairs are fewer than rows.
        """
        values, share = np.vstack([part[:, columns] for part in self.parts]), 1.0
        if self.absent is not None:
            there = ~np.vstack([gone[:, columns] for gone in self.absent]).any(axis=1)
            values, share = values[there], float(there.mean())
        others = int((values != np.median(values, axis=0)).any(axis=1).sum()) if len(values) else 0
        return 0.0 if 2 * others >= len(values) else self._doubt / (3.0 * max(others, 1) * share)

    @property
    def looks(self) -> float:
        """At how many correlations one looks for the largest."""
        return 2.0 * (self.parts[0].shape[1] if self.together is None else self.together.max() + 1)

    def remembers(self) -> float | None:
        """The correlation of successive rows, where it is more than chance and enough to matter; None elsewhere.

        None, too, where the rows are sorted by a column, and nothing says that they are in order of time.
        """
        if not self.timed and self.sorted:
            return None
        sure = math.sqrt(self._doubt / sum(map(len, self.parts)))
        found = self.correlation
        return found if found > max(_LARGE, sure) else None


def clocks_in(
    parts: Sequence[np.ndarray], dated: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which columns (d,) are dates or count at an even pace, and which of these go up from row to row.

    Missing values are skipped; a step over them may be that of as many rows.
    """
    each = [np.diff(part, axis=0) for part in parts]
    steps = np.vstack(each)
    step = steps.max(axis=0, initial=0.0)
    even = (np.minimum(np.abs(steps), np.abs(steps - step)) <= _EVEN * step).all(axis=0)
    clocks = even & ((steps > 0.5 * step).sum(axis=0) >= _STEPS)
    for j in np.flatnonzero(clocks):
        clocks[j] = all(_regular(one[:, j] > 0.5 * step[j]) for one in each)
    if dated is not None:
        clocks |= dated
    forward = (steps >= 0.0).all(axis=0) & ((steps > 0.0).sum(axis=0) >= _STEPS)
    for j in np.flatnonzero(np.isnan(steps).any(axis=0)):
        even, forward[j] = _past_gaps([part[:, j] for part in parts])
        clocks[j] |= even
    return clocks, clocks & forward


def _past_gaps(parts: Sequence[np.ndarray]) -> tuple[bool, bool]:
    """Whether a column that misses values may count at an even pace, and whether it goes up from row to row."""
    rows = [np.flatnonzero(~np.isnan(part)) for part in parts]
    each = [np.diff(part[one]) for part, one in zip(parts, rows, strict=True)]
    steps, apart = np.concatenate(each), np.concatenate([np.diff(one) for one in rows])
    if (steps > 0.0).sum() < _STEPS:
        return False, False
    forward, pace = bool((steps >= 0.0).all()), steps.sum() / apart.sum()
    if (np.abs(steps - pace * apart) <= _EVEN * pace * apart).all():
        return True, forward
    step = steps[steps > _EVEN * steps.max()].min()
    rises = np.rint(steps / step)
    even = np.abs(steps - rises * step) <= _EVEN * step * np.maximum(rises, 1.0)
    if not (even & (rises >= 0.0) & (rises <= apart)).all():
        return False, forward
    split = np.split(rises.astype(np.intp), np.cumsum([len(one) for one in each])[:-1])
    return all(map(_regular_past, rows, split)), forward


def _regular_past(rows: np.ndarray, rises: np.ndarray) -> bool:
    """Whether so many steps from each of these rows to the next may have come at equal distances."""
    first, last = np.repeat(rows[:-1] + 1, rises), np.repeat(rows[1:], rises)
    if len(first) < 2:
        return True
    count = np.arange(len(first))
    longest = int(last[-1] - first[0]) // int(count[-1])
    return any((first - d * count).max() <= (last - d * count).min() for d in range(1, longest + 1))


def _regular(rises: np.ndarray) -> bool:
    """Whether steps come at equal distances, as those of a clock do, and not those of what rows are sorted by."""
    return np.unique(np.diff(np.flatnonzero(rises))).size <= 1


def in_blocks(series: Sequence[np.ndarray], blocks: np.ndarray | None) -> list[np.ndarray]:
    """Series, each given by its rows, in pieces of one block each, which have a mean of their own."""
    if blocks is None:
        return list(series)
    pieces = []
    for rows in series:
        found = blocks[rows]
        order = np.argsort(found, kind="stable")
        pieces += np.split(rows[order], np.flatnonzero(np.diff(found[order])) + 1)
    return pieces


def of_samples(rows: Rows, named: str) -> Memory | None:
    """The memory of samples, each in order of time with a mean of its own, where there is some."""
    found = rows.remembers()
    return None if found is None else Memory((named,), (found,))


def of_variables(variables: Sequence[Rows], named: Sequence[str]) -> Memory | None:
    """The memory of two variables, or of the two of several that have most of it, where both have some.

    The variance of a mean of products of independent series grows with the product of their correlations, so that
    nothing is wrong as long as one of them has no memory.  A variable that tells the time does so for all.
    """
    size = sum(map(len, variables[0].parts))
    timed, kept = any(one.timed for one in variables), []
    for rows, name in zip(variables, named, strict=True):
        found = 0.0 if not timed and rows.sorted else rows.correlation
        if found > math.sqrt((_BOTH**2 + 2.0 * math.log(rows.looks)) / size):
            kept.append((name, found, rows.looks))
    return strongest(
        Memory((first[0], second[0]), (first[1], second[1]))
        for first, second in combinations(kept, 2)
        if first[1] * second[1] > max(_LARGE, (_PRODUCT + math.log(first[2] * second[2])) / size)
    )


def lost(memory: float, length: int) -> float:
    """The share of the variance of a mean that stretches of this length do not keep, if memory fades by one factor."""
    return min(1.0, 2.0 * memory / (length * (1.0 - memory**2)))


def stretch_length(shift: Any, given: Rows) -> int:
    """The length of stretches: a number that was given, or one that keeps 95 % of the variance of means.

    Raises TypeError or ValueError for what is no length, or leaves too few stretches.
    """
    rows = sum(map(len, given.parts))
    if isinstance(shift, str):
        choice(shift, (STRETCHES,), "shift")
        memory = given.correlation
        wanted = math.ceil(2.0 * memory / (_LOST * (1.0 - memory**2)))
        return _fitting(max(1, min(wanted, rows // _FEWEST)), [len(part) for part in given.parts])
    if isinstance(shift, bool) or not isinstance(shift, int | np.integer):
        raise TypeError(f"shift must be {CIRCULAR!r}, {STRETCHES!r} or a number of rows; got {shift!r}")
    if not 1 <= shift <= rows // 2:
        raise ValueError(
            f"shift={shift} must be a number of rows from 1 to half of all, of which there are {rows}; stretches of so "
            "many rows change places"
        )
    return int(shift)


def _fitting(length: int, sizes: Sequence[int]) -> int:
    """A length from this one to a quarter more that leaves the fewest rows over."""
    longest = max(length, int(length * _WIDER))
    return min(range(length, longest + 1), key=lambda one: (sum(size % one for size in sizes), one))


def stretches(parts: Sequence[np.ndarray], length: int, blocks: np.ndarray | None = None) -> np.ndarray:
    """A number (N,) for every row: that of the stretch it is in; none has rows of two parts or blocks.

    Of ``parts`` only how many rows they have matters; ``blocks`` (N,) are series of their own.
    """
    part = np.repeat(np.arange(len(parts)), [len(one) for one in parts])
    series = part if blocks is None else np.unique(np.column_stack([blocks, part]), axis=0, return_inverse=True)[1]
    place = np.empty(len(part), dtype=np.int64)
    for one in np.unique(series):
        rows = np.flatnonzero(series == one)
        place[rows] = np.arange(rows.size) // length
    return np.unique(np.column_stack([series, place]), axis=0, return_inverse=True)[1].reshape(-1)


def in_stretches(parts: Sequence[np.ndarray], length: int, blocks: np.ndarray | None = None) -> PermutationDesign:
    """Stretches change places, with ``blocks`` within their block."""
    return PermutationDesign(blocks, stretches(parts, length, blocks), stretch=length)


def restricted(shift: Any, rows: Rows, restriction: PermutationDesign, keep: NDArray[np.bool_]) -> PermutationDesign:
    """What series may do: be shifted as a whole, or in stretches.

    Raises TypeError or ValueError for shifts beside other restrictions, of series with gaps, or of unknown kind.
    """
    if shift is None:
        return restriction
    if restriction.paired or restriction.groups is not None:
        other = "paired=" if restriction.paired else "groups="
        raise ValueError(f"shift={shift!r} moves rows along in time, which does not go with {other}; leave one out")
    refuse_gaps(shift, keep)
    if isinstance(shift, str) and shift == CIRCULAR:
        return PermutationDesign(restriction.blocks, shift=True)
    if isinstance(shift, str):
        choice(shift, (CIRCULAR, STRETCHES), "shift")
    return in_stretches(rows.parts, stretch_length(shift, rows), restriction.blocks)


def short(rows: Rows, restriction: PermutationDesign, named: str) -> tuple[str, ...]:
    """What a reader should know where stretches, or series that are shifted, are too short for their memory."""
    share = lost(rows.correlation, restriction.stretch or max(1, sum(map(len, rows.parts)) // _FEWEST))
    if share <= _MUCH or not (restriction.stretch or restriction.shift):
        return ()
    if restriction.shift:
        return (
            f"The series is short for the correlation of successive rows of {named} ({rows.correlation:.2f}): circular "
            "shifts join its end to its start, and the p-value may be too small; of such series in which nothing "
            "changes, 6 to 29 % gave p <= .05. Observe longer, or test differences of successive rows.",
        )
    return (
        f"Stretches of {counted(restriction.stretch, 'row')} are short for the correlation of successive rows of "
        f"{named}: about {share:.0%} of the variance of a mean is lost at the cuts, and the p-value may be too small. "
        "Observe longer, take longer stretches (shift=), or test differences of successive rows.",
    )
