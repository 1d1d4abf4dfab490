"""Survey: what one reading of all samples finds, before bins can be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np

from shrinktest._check import counted
from shrinktest.batches.crew import Crew
from shrinktest.batches.gather import Gathered, gathered
from shrinktest.batches.hashes import checksum, hashed
from shrinktest.batches.rows import Rows
from shrinktest.batches.sights import refuse_empty_columns
from shrinktest.batches.store import DATA, SEED, Store, digest
from shrinktest.batches.tasks import KeptReading

_PIECE = 32  # bits of a piece of a whole number
_UNIT = Fraction(1, 2**1074)  # of sums of numbers; its square, of those of squares


@dataclass(frozen=True, eq=False)
class Survey:
    """Sizes, units and a random sample of the rows of all samples."""

    sizes: tuple[int, ...]  # rows of the samples
    omitted: tuple[int, ...]  # rows that were left out because of missing values
    # (s, d): drawn without replacement from the rows of all samples, in random order: no label goes into it
    sample: np.ndarray
    # (d,): standard deviations of the columns over all rows, without any rounding before their root; 1 where a column
    # has one value only, or nobody asked for them
    units: np.ndarray
    # (d,): the least and the largest values of the columns
    low: np.ndarray
    high: np.ndarray
    counts: tuple[tuple[int, ...], ...]  # for every sample the rows that are kept of each of its pieces
    # what stands in place of missing values, by columns: medians of the sample
    fills: Mapping[int, float] = field(default_factory=dict)
    ranges: tuple[np.ndarray, ...] = ()  # (2, d): the least and the largest values of every sample
    # (k,): what tells the rows of every sample from others, where a store needs it
    checks: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    @classmethod
    def of(
        cls,
        samples: Sequence[Rows],
        drawn: int,
        rng: np.random.Generator,
        crew: Crew | None = None,
        *,
        units: bool = True,
        holes: tuple[int, ...] = (),
        store: Store | None = None,
    ) -> Survey:
        """Read all samples once, and draw ``drawn`` of their rows, by keys that ``rng`` draws.

        ``units`` says whether standard deviations are wanted.  In the columns ``holes`` NaN stands for missing values,
        with an indicator of these beside each.  ``store`` has what has been read before.  Raises ValueError for samples
        with fewer than 2 rows, or other columns.
        """
        crew = crew or Crew()
        keys = rng.integers(2**64, size=(len(samples), 2), dtype=np.uint64)
        looking = Looking(drawn, keys, units, bool(holes), checked=unsigned(samples, store))
        total = surveyed(samples, looking, crew, store, keys, drawn, units)
        for rows, size, left_out, columns in zip(samples, total.sizes, total.omitted, total.columns, strict=True):
            if size < 2:
                if left_out:
                    refuse_empty_columns(samples, crew, size)
                raise ValueError(f"{rows.name} has {counted(size, 'row')}; a sample needs at least 2")
            if columns != total.columns[0]:
                raise ValueError(
                    f"{rows.name} has {counted(columns, 'column')}, and {samples[0].name} has {total.columns[0]}; "
                    "samples must have the same columns"
                )
        ranges = tuple(np.vstack([one.low, one.high]) for one in total.found)
        seen = Seen()
        for one in total.found:
            seen.merge(one, drawn)
        seen, fills = seen.filled(holes)
        deviations = seen.units(sum(total.sizes))
        of_all = seen.rows, deviations, seen.low, seen.high
        checks = np.concatenate([one.check for one in total.found])
        return cls(total.sizes, total.omitted, *of_all, total.counts, fills, ranges, checks)

    @property
    def constant(self) -> np.ndarray:
        """Which columns (d,) have one value only."""
        return self.low == self.high

    @property
    def probe(self) -> np.ndarray:
        """Rows that tell how large the values of features are: the sample, and the corners of all rows."""
        return np.vstack([self.sample, self.low, self.high, np.maximum(np.abs(self.low), np.abs(self.high))])


@dataclass(eq=False)
class Seen:
    """What was seen of some rows: their range, those with the smallest keys, and sums of them and their squares."""

    # (d,): their range
    low: np.ndarray = field(default_factory=lambda: np.empty(0))
    high: np.ndarray = field(default_factory=lambda: np.empty(0))
    # (s,): random, by the sample and the number of a row
    keys: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    # (s, d): the rows with these, in the order of the keys
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    # for every column, in units of 2^-1074 and 2^-2148
    sums: list[int] = field(default_factory=list)
    squares: list[int] = field(default_factory=list)
    # (1,): what tells the rows from others; 0 where nobody asked
    check: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.uint64))

    def merge(self, other: Seen, most: int) -> None:
        """Add what was seen of other rows; what comes out does not depend on the order."""
        if not other.low.size:
            return
        if not self.low.size:
            vars(self).update(vars(other))
            return
        self.low, self.high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        self.check = self.check + other.check
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(keys, kind="stable")[:most]
        self.keys, self.rows = keys[order], np.vstack([self.rows, other.rows])[order]
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        self.squares = [a + b for a, b in zip(self.squares, other.squares, strict=True)]

    def filled(self, holes: Sequence[int]) -> tuple[Seen, dict[int, float]]:
        """What would have been seen with medians of the sample in place of NaN in some columns; and these.

        Concatenated such a column is an indicator of what is missing, whose sum tells how often.
        """
        fills: dict[int, float] = {}
        out = Seen(*(one.copy() for one in vars(self).values()))
        for j in holes:
            values = self.rows[:, j]
            missing = np.isnan(values)
            ends = np.nan_to_num([self.low[j], self.high[j]])  # 0 where all values are missing
            fills[j] = float(np.median(values[~missing] if not missing.all() else ends))
            out.rows[missing, j] = fills[j]
            out.low[j], out.high[j] = np.fmin(self.low[j], fills[j]), np.fmax(self.high[j], fills[j])
            if self.sums:
                times, one = self.sums[j + 1] * _UNIT, int(Fraction(fills[j]) / _UNIT)
                out.sums[j] += int(times) * one
                out.squares[j] += int(times) * one * one
        return out, fills

    def units(self, n: int) -> np.ndarray:
        """Standard deviations (over n), rounded once; 1 for a column with one value only, or without sums."""
        out = np.ones(self.low.size)
        for j, (total, squares) in enumerate(zip(self.sums, self.squares, strict=True)):
            if self.low[j] < self.high[j]:
                out[j] = _root(Fraction(n * squares - total * total, n * n) * _UNIT * _UNIT)
        return out


@dataclass(frozen=True, eq=False)
class Looking(KeptReading):
    """What is seen of rows."""

    name = "survey"

    drawn: int  # rows with the smallest keys that are kept
    keys: np.ndarray  # (k, 2), uint64: of every sample, by which the numbers of rows become keys
    units: bool  # whether sums are wanted
    holes: bool = False  # whether values may be NaN
    checked: bool = False  # whether what tells the rows from others is wanted

    def start(self, sample: int) -> Seen:
        return Seen()

    def merge(self, found: Seen, other: Seen) -> None:
        found.merge(other, self.drawn)

    def packed(self, found: Sequence[Seen]) -> dict[str, np.ndarray]:
        return {
            f"{i} {key}": value if isinstance(value, np.ndarray) else np.array([hex(one) for one in value], dtype=str)
            for i, one in enumerate(found)
            for key, value in vars(one).items()
        }

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[Seen]:
        out = []
        for i in range(len(self.keys)):
            low, high, keys, rows, sums, squares, check = (arrays[f"{i} {one.name}"] for one in fields(Seen))
            whole = [[int(str(one), 16) for one in some] for some in (sums, squares)]
            out.append(Seen(low, high, keys, rows, whole[0], whole[1], check))
        return out

    def add(self, found: Seen, sample: int, first: int, values: np.ndarray) -> None:
        keys = hashed(np.arange(first, first + len(values), dtype=np.uint64), self.keys[sample])
        few = keys < found.keys[-1] if len(found.keys) == self.drawn else np.ones(len(keys), dtype=bool)
        order = np.flatnonzero(few)[np.argsort(keys[few], kind="stable")[: self.drawn]]
        sums: tuple[list[int], list[int]] = ([], [])
        if self.units:
            sums = _moments(np.where(np.isnan(values), 0.0, values) if self.holes else values)
        some = np.asarray(values[order], dtype=np.float64)
        ends = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
        check = checksum(values, first) if self.checked else np.zeros(1, dtype=np.uint64)
        found.merge(Seen(low, high, keys[order], some, *sums, check), self.drawn)


@dataclass(frozen=True, eq=False)
class Counting(KeptReading):
    """How many rows there are, where pieces do not know, and nothing else."""

    name = "counts"

    def start(self, sample: int) -> None:
        """Nothing to begin with."""

    def add(self, found: None, sample: int, first: int, values: np.ndarray) -> None:
        """Tasks count their rows themselves."""

    def merge(self, found: None, other: None) -> None:
        """Nothing to add."""

    def packed(self, found: Sequence[None]) -> dict[str, np.ndarray]:
        return {}

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> None:
        """What is known is how many rows there were."""


def unsigned(samples: Sequence[Rows], store: Store | None) -> bool:
    """Whether sums are kept of rows that nothing tells from others but all their numbers."""
    return store is not None and any(rows.signature is None for rows in samples)


def surveyed(
    samples: Sequence[Rows], looking: KeptReading, crew: Crew, store: Store | None, keys: np.ndarray, *of: object
) -> Gathered:
    """What a first reading finds, with rows counted before where their numbers would not be known.

    ``keys`` and ``of`` are what it depends on beside the data: random numbers, and others.  The other arguments are
    those of :func:`gathered`.
    """
    signatures = [rows.signature for rows in samples]
    kept = None if None in signatures else store  # data that cannot be told from others are read once more
    told = {SEED: digest(keys), DATA: digest(signatures, *of)}
    known = None
    elsewhere = not crew.local or any(rows.batches.by_dask for rows in samples)
    if elsewhere and not all(rows.counted for rows in samples):
        known = gathered(samples, Counting(), crew, None, kept, told, numbered=False).counts
    return gathered(samples, looking, crew, known, kept, told)


def _moments(values: np.ndarray) -> tuple[list[int], list[int]]:
    """Sums of columns and of their squares, as whole numbers of 2^-1074 and 2^-2148."""
    from shrinktest.batches import exact_loops as exact

    rows = np.ascontiguousarray(values, dtype=np.float64)
    sums, squares = (np.zeros((rows.shape[1], pieces), dtype=np.int64) for pieces in (exact.SUMS, exact.SQUARES))
    exact.moments(rows, sums, squares)
    return _whole(sums), _whole(squares)


def _whole(pieces: np.ndarray) -> list[int]:
    """Whole numbers from their pieces (d, p)."""
    out = []
    for line in pieces:
        used = np.flatnonzero(line)
        out.append(sum(int(line[i]) << (_PIECE * int(i)) for i in used))
    return out


def _root(square: Fraction) -> float:
    """The root of a number that may be too small or too large for a float."""
    up = (square.denominator.bit_length() - square.numerator.bit_length()) // 2
    return float(np.ldexp(np.sqrt(float(square * Fraction(4) ** up)), -up))
