"""Serial correlation: a note if successive rows are dependent, and block lengths.

The lengths are those that blocks of rows must have.
"""

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
from shrinktest.notes import Note, note
from shrinktest.permutations.block_length import AUTO, WHOLE, BlockLength, successive_blocks
from shrinktest.permutations.design import PermutationDesign

#: What serial correlation makes wrong, and what can be done about it.
WRONG_PERMUTATIONS = "permuting single rows makes p-values too small"
WRONG_ERRORS = "standard errors that assume independent rows are too small"
BY_BLOCKS = "use block_length='auto'"
BY_BLOCKS_OR_GROUPS = f"{BY_BLOCKS}, or groups= to permute whole units"
BY_SHIFTS = "use block_length='whole', or groups= to permute whole units"
BY_GROUPS = "use groups= that keep units, or blocks of successive rows, together"
BY_PAIRS = "omit paired=True, and use blocks= and groups= that permute blocks of successive pairs"
BY_THINNING = "use pairs that are far enough apart to be independent"
BY_ROWS_APART = "use rows that are far enough apart to be independent"
BY_COVARIATES = "add the previous row's values to covariates="
BY_GIVEN = "add the previous row's values to given="

_LOST = 0.05  # of the variance of a mean, at most, at the cuts between blocks
_MUCH = 0.15  # of it, if series are too short for that: from here on there is a note
_FEWEST = 8  # blocks of a series: with fewer there are hardly any permutations
_WIDER = 1.25  # times as long a block may become for fewer rows to be left over
_SURE = 3.0  # standard errors of the correlation of independent rows
_BOTH = 2.0
_PRODUCT = (
    6.0  # the same of two variables that both must have, and of the product of their correlations
)
_LARGE = 0.1  # correlations that matter: two tests in three hundred more reject at .05
_MOVES = 8  # steps in one direction that are not chance
_EVEN = 1e-6  # relative difference of steps of one size
_ROUNDING = 1e-13  # of the largest value


@dataclass(frozen=True)
class SerialCorrelation:
    """Correlation of successive rows, which permutations of single rows ignore."""

    names: tuple[str, ...]  # of samples, or of two variables
    correlations: tuple[float, ...]  # of successive rows of each
    rows: int  # in all

    @property
    def strength(self) -> float:
        """Correlation of successive rows, or of products of two variables."""
        return math.prod(self.correlations)

    def note(self, remedy: str, wrong: str = WRONG_PERMUTATIONS) -> Note:
        """Say how long stretches hang together, what that makes wrong, and what to do."""
        values = " and ".join(f"{value:.2f}" for value in self.correlations)
        length = counted(_enough_rows(self.strength, self.rows), "row")
        names = " and of ".join(self.names)
        return note(
            "serial-correlation",
            names=names,
            values=values,
            length=length,
            wrong=wrong,
            remedy=remedy,
        )


def strongest(correlations: Iterable[SerialCorrelation | None]) -> SerialCorrelation | None:
    """Return the strongest serial correlation; None if there is none."""
    return max(
        (each for each in correlations if each is not None),
        key=lambda each: each.strength,
        default=None,
    )


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows that may be in order of time."""

    parts: Sequence[np.ndarray]  # (n_i, d): series, each with its own mean; NaN for what is missing
    variable: NDArray[np.intp] | None = (
        None  # (d,): number of the variable of each column; default one for each
    )

    @classmethod
    def of(cls, parts: Sequence[np.ndarray], encoding: Any = None) -> OrderedRows:
        """Leave out dates and columns that count the rows, unless nothing else is left.

        The ``encoding`` of a table says which columns are dates, categories of one variable, or
        filled in.
        """
        if parts[0].shape[1] < 2:
            return cls(parts)
        step = np.diff(parts[0][:2], axis=0).sum(axis=0)
        even = [
            (np.abs(np.diff(part, axis=0) - step) <= _EVEN * np.abs(step)).all(axis=0)
            for part in parts
        ]
        keep = ~np.all(even, axis=0) | (step == 0.0)
        variable = None
        if encoding is not None:
            keep = keep & ~encoding.dated
            variable = encoding.together
            gaps = np.flatnonzero(encoding.indicators >= 0)
            indicators = [
                part[:, encoding.indicators[gaps]] for part in parts
            ]  # above 0 in rows that were filled in
            if gaps.size and min(each.min() for each in indicators) >= 0.0:
                parts = [part.copy() for part in parts]
                for part, indicator in zip(parts, indicators, strict=True):
                    part[:, gaps] = np.where(indicator > 0.0, np.nan, part[:, gaps])
        if keep.all() or not keep.any():
            return cls(parts, variable)
        variable = None if variable is None else np.unique(variable[keep], return_inverse=True)[1]
        return cls([part[:, keep] for part in parts], variable)

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(map(len, self.parts))

    @cached_property
    def sorted(self) -> bool:
        """True if a column goes up, or down, from row to row in all parts.

        There must be so many steps that it is no chance.
        """
        steps = np.vstack([np.sign(np.diff(part, axis=0)) for part in self.parts])
        steps[np.isnan(steps)] = 0.0
        moves = np.abs(steps).sum(axis=0)
        return bool(((np.abs(steps.sum(axis=0)) == moves) & (moves >= _MOVES)).any())

    @cached_property
    def correlation(self) -> float:
        """Largest correlation of successive rows.

        It is of the values of a variable or of their distances from the mean.

        A correlation of few pairs of rows, or of a few rare values next to each other, counts if it
        is not chance.
        """
        variable = np.arange(self.parts[0].shape[1]) if self.variable is None else self.variable
        widest = np.fmax.reduce(
            [np.fmax.reduce(np.abs(part), axis=0, initial=0.0) for part in self.parts]
        )
        series = [
            part / np.where(widest > 0.0, widest, 1.0) for part in self.parts if len(part) > 2
        ]
        seen = [~np.isnan(z) for z in series]
        rows, pairs = np.zeros((2, variable.size))
        for here in seen:
            rows += here.sum(axis=0)
            pairs += (here[1:] & here[:-1]).sum(axis=0)
        gaps = rows < sum(map(len, series))
        least = np.zeros(int(variable.max()) + 1)  # correlations of few pairs that may be chance
        values = np.zeros((2, least.size))
        least[variable[gaps]] = np.sqrt(self.doubt() / np.maximum(pairs[gaps], 1.0))
        for spread in (0, 1):
            same, after = np.zeros((2, variable.size))
            for i, here in enumerate(seen):
                z = np.where(here, np.abs(series[i]) if spread else series[i], 0.0)
                series[i] = z = (z - z.sum(axis=0) / np.maximum(here.sum(axis=0), 1)) * here
                same += np.einsum("ij,ij->j", z, z)
                after += np.einsum("ij,ij->j", z[1:], z[:-1])
            after[gaps] *= rows[gaps] / np.maximum(pairs[gaps], 1.0)
            used = same > rows * _ROUNDING**2  # the rest of a column with one value is rounding
            whole, part = (
                np.bincount(variable[used], sums[used], minlength=least.size)
                for sums in (same, after)
            )
            np.divide(part, whole, out=values[spread], where=whole > 0.0)
        values[values <= least] = 0.0
        largest = 0.0
        for i in np.argsort(-values, axis=None):
            value = float(values.flat[i])
            if value <= largest:
                break
            largest = max(
                largest,
                value - (self._by_chance(variable == i % least.size) if value > _LARGE else 0.0),
            )
        return min(largest, 0.999)

    @property
    def looks(self) -> float:
        """Number of correlations of which the largest is taken."""
        return 2.0 * (self.parts[0].shape[1] if self.variable is None else self.variable.max() + 1)

    def doubt(self, errors: float = _SURE) -> float:
        """Number of pairs times the square of what the largest correlation may be by chance."""
        return errors**2 + 2.0 * math.log(self.looks)

    def _by_chance(self, columns: NDArray[np.bool_]) -> float:
        """Correlation that rare values may have by being next to each other (Bernstein's bound)."""
        values = np.vstack([part[:, columns] for part in self.parts])
        values = values[~np.isnan(values).any(axis=1)]
        rare = int((values != np.median(values, axis=0)).any(axis=1).sum())
        return (
            0.0
            if 2 * rare >= len(values)
            else self.doubt() * self.size / (3.0 * max(rare, 1) * len(values))
        )

    def correlated(self, name: str) -> SerialCorrelation | None:
        """Serial correlation that is more than chance and enough to matter.

        None if rows are sorted by a column.
        """
        value = 0.0 if self.sorted else self.correlation
        enough = value > max(_LARGE, math.sqrt(self.doubt() / self.size))
        return SerialCorrelation((name,), (value,), self.size) if enough else None


def joint_correlation(
    variables: Sequence[OrderedRows], names: Sequence[str]
) -> SerialCorrelation | None:
    """Serial correlation of the two variables that have most of it.

    None if less than two have some.

    The variance of a mean of products of independent series grows with the product of their
    correlations.
    """
    size = variables[0].size
    both = [
        SerialCorrelation((name, other), (first.correlation, second.correlation), size)
        for (first, name), (second, other) in combinations(zip(variables, names, strict=True), 2)
        if all(
            not rows.sorted and size * rows.correlation**2 > rows.doubt(_BOTH)
            for rows in (first, second)
        )
        and first.correlation * second.correlation
        > max(_LARGE, (_PRODUCT + math.log(first.looks * second.looks)) / size)
    ]
    return strongest(both)


# --- blocks of successive rows --------------------------------------------------------------------


def lost(correlation: float, length: int) -> float:
    """Share of the variance of a mean that blocks of this length do not keep."""
    return 2.0 * correlation / (length * (1.0 - correlation**2))


def _enough_rows(correlation: float, rows: int) -> int:
    """Length of blocks that keep 95 % of the variance of a mean.

    This holds if the correlation fades by one factor.
    """
    return max(1, min(math.ceil(lost(correlation, 1) / _LOST), rows // _FEWEST))


def automatic_length(variables: Sequence[OrderedRows]) -> int:
    """Length of blocks by the serial correlation: of a variable, or of the products of several."""
    rows = variables[0]
    shortest = _enough_rows(math.prod(variable.correlation for variable in variables), rows.size)
    lengths = range(shortest, int(shortest * _WIDER) + 1)
    return min(lengths, key=lambda length: (sum(len(part) % length for part in rows.parts), length))


def read_block_length(block_length: Any, variables: Sequence[OrderedRows]) -> BlockLength:
    """Return the argument ``block_length`` as a value.

    Raises TypeError or ValueError if it is none.
    """
    if isinstance(block_length, str):
        choice(block_length, (AUTO, WHOLE), "block_length")
        return BlockLength(None if block_length == WHOLE else automatic_length(variables))
    if isinstance(block_length, bool) or not isinstance(block_length, int | np.integer):
        raise TypeError(
            f"block_length must be {AUTO!r}, {WHOLE!r} or a number of rows; got {block_length!r}"
        )
    size = variables[0].size
    if not 1 <= block_length <= size // 2:
        raise ValueError(
            f"block_length={block_length} must be a number of rows from 1 to half of all {size}"
        )
    return BlockLength(int(block_length))


def moved_in_time(
    block_length: Any,
    variables: Sequence[OrderedRows],
    design: PermutationDesign,
    keep: NDArray[np.bool_],
) -> PermutationDesign:
    """Let blocks of successive rows, or whole series, move.

    Raises ValueError for pairs, groups, or series with gaps.

    ``variables`` are the same rows, of which ``keep`` says which were not left out.
    """
    if design.paired or design.groups is not None:
        other = "paired=" if design.paired else "groups="
        raise ValueError(
            f"block_length={block_length!r} cannot be combined with {other}; leave one of them out"
        )
    if not keep.all():
        raise ValueError(
            f"block_length={block_length!r} needs series without gaps, and nan_policy='omit' would "
            "cut out "
            f"{counted(int((~keep).sum()), 'row')}; interpolate, or test a part without missing "
            "values"
        )
    return in_blocks(read_block_length(block_length, variables), variables[0].parts, design.blocks)


def in_blocks(
    length: BlockLength, parts: Sequence[np.ndarray], blocks: np.ndarray | None = None
) -> PermutationDesign:
    """Let blocks of successive rows of the parts be exchanged within ``blocks``.

    The ``blocks`` are series.
    """
    groups = None if length.rows is None else successive_blocks(parts, length.rows, blocks)
    return PermutationDesign(blocks, groups, block_length=length)


def short(
    variables: Sequence[OrderedRows], design: PermutationDesign, name: str
) -> tuple[str, ...]:
    """Note on blocks or shifted series too short for the serial correlation of a variable.

    Of several variables it is the correlation of their products.
    """
    if design.block_length is None:
        return ()
    length = design.block_length.rows or max(1, variables[0].size // _FEWEST)
    correlation = math.prod(rows.correlation for rows in variables)
    if lost(correlation, length) <= _MUCH:
        return ()
    what = (
        "The series is" if design.block_length.whole else f"Blocks of {counted(length, 'row')} are"
    )
    return (note("short-series", what=what, name=f"{name} ({correlation:.2f})"),)
