"""Sights: what one reading finds of the columns of tables in batches, and what a store keeps of it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from shrinktest._check import counted
from shrinktest.data.chunks import Key, Store, digest, reduce
from shrinktest.data.rows import Rows
from shrinktest.data.storage import Chunk
from shrinktest.data.survey import DATA, hashed
from shrinktest.tables.column import Column, pooled
from shrinktest.tables.identifiers import are_whole, count_rows, enough
from shrinktest.tables.untestable import refuse_empty

#: Levels at most of a category, of which every one takes a column of numbers.
MOST_LEVELS = 1000
_KEYS = np.uint64(1), np.uint64(2)  # by which numbers become hashes: the same ones for every sample
_LARGEST = np.uint64(2**64 - 1)
_COMPARED = 30  # hashes of a sample, from which on the share of those that others have is known well enough


@dataclass(frozen=True, eq=False)
class Sight:
    """What was seen of one column in consecutive rows."""

    # values that stand for all: every level that occurs, or the least and the largest; and a missing one if there is
    column: Column
    complete: Column  # the same for rows that miss nothing
    source: str  # where the values are from, as messages call it
    # how often levels of a category occur: of at most `MOST_LEVELS` + 1 of them, those with the least hashes, which do
    # not depend on who saw them first
    texts: Mapping[str, int]
    # rows with a value, and all rows
    rows: int
    size: int
    whole: bool  # whether there are none but whole numbers, by their values
    # the first and the last row with a value, counted from 0, and their values, where these are whole numbers that
    # count the rows; empty where no row has a value
    ends: tuple[tuple[int, float], ...] | None
    # (s,): of whole numbers and dates the least `MOST_LEVELS` + 1 hashes, in order, as often as they occur
    hashes: np.ndarray

    @classmethod
    def of(cls, column: Column, complete: np.ndarray, source: str) -> Sight:
        """Look at a column of a table; ``complete`` says which rows miss nothing."""
        there = ~column.missing()
        texts: Mapping[str, int] = {}
        if column.categorical:
            codes, counts = np.unique(column.values[there], return_counts=True)
            texts = fewest({column.levels[i]: int(n) for i, n in zip(codes, counts, strict=True)})
        places = np.flatnonzero(there)
        whole = not places.size or (column.kind == "number" and are_whole(column.values[places]))
        ends: tuple[tuple[int, float], ...] | None = None
        if whole and count_rows(column.values[places], places):
            ends = tuple((int(i), float(column.values[i])) for i in places[[0, -1]]) if places.size else ()
        hashes = np.empty(0, dtype=np.uint64)
        if column.kind == "date" or whole:
            dated = column.kind == "date"  # those that are equal have the same bits, whatever their unit
            values = column.values.astype("datetime64[ns]") if dated else column.numbers() + 0.0
            hashes = _least(hashed(values[places].view(np.uint64), _KEYS))
        both = _few(column, texts), _few(column.taken(complete), texts)
        return cls(*both, source, texts, places.size, len(column), whole, ends, hashes)

    def alone(self) -> np.ndarray | None:
        """Hashes of values, in order, where no two rows have the same one, and enough rows have one; else None.

        Of the whole sample, or those that are least: where they are many, equal values may be among the others.
        """
        hashes, differ = self.hashes, bool((np.diff(self.hashes) > 0).all())
        if self.column.kind == "category":
            hashes, differ = _least(np.array([_bits(text) for text in self.texts], dtype=np.uint64)), self.differ()
        return hashes if differ and hashes.size and self.enough else None

    @property
    def enough(self) -> bool:
        """Whether so many rows have a value that it may identify them."""
        return enough(self.rows, self.size)

    @property
    def counts(self) -> bool:
        """Whether whole numbers count the rows."""
        return bool(self.ends) and self.rows > 2 and self.enough

    def differ(self) -> bool:
        """Whether every text is in one row; where there are too many, none of those that were looked at is in two."""
        return sum(self.texts.values()) == len(self.texts)

    def joined(self, other: Sight) -> Sight:
        """What was seen in these rows and in those that come after them."""
        columns = self.column, other.column, self.complete, other.complete
        whole = pooled(columns, (self.source, other.source) * 2)
        cut = len(self.column) + len(other.column)
        counts = dict(self.texts)
        for level, n in other.texts.items():
            counts[level] = counts.get(level, 0) + n
        texts = fewest(counts)
        hashes = np.concatenate([self.hashes, other.hashes])
        numbers_whole = self.whole and other.whole
        return Sight(
            _few(whole.taken(slice(0, cut)), texts),
            _few(whole.taken(slice(cut, None)), texts),
            self.source if self.rows else other.source,
            texts,
            self.rows + other.rows,
            self.size + other.size,
            numbers_whole,
            self._ends_with(other),
            _least(hashes if numbers_whole or whole.kind == "date" else hashes[:0]),
        )

    def _ends_with(self, other: Sight) -> tuple[tuple[int, float], ...] | None:
        """The ends of these rows and those that come after them."""
        if self.ends is None or other.ends is None:
            return None
        later = tuple((self.size + row, value) for row, value in other.ends)
        if self.ends and later:
            (last, before), (first, after) = self.ends[1], later[0]
            return (self.ends[0], later[1]) if before + (first - last) == after else None
        return self.ends or later


def looked(
    samples: Sequence[Rows], workers: Any, store: Store | None = None, name: str = "columns"
) -> list[list[Sight]]:
    """What was seen of the columns of every sample, put together in the order of its rows.

    ``store`` has what has been seen before, keeps what is seen, and calls this reading ``name``.
    """
    signatures = [rows.signature for rows in samples]
    key = None if None in signatures else Key(name, {DATA: digest(signatures)})
    jobs = ((chunk, i) for i, rows in enumerate(samples) for chunk in rows.chunks())
    work = partial(_look, [rows.reader for rows in samples])
    total: list[list[Sight]] = reduce(work, jobs, _add, [[] for _ in samples], workers, store=store, key=key)
    for rows, sights in zip(samples, total, strict=True):
        if not sights:
            raise ValueError(f"{rows.name} has 0 rows; a sample needs at least 2")
        if len(sights) != len(total[0]):
            raise ValueError(
                f"{rows.name} has {counted(len(sights), 'column')}, and {samples[0].name} has {len(total[0])}; "
                "samples must have the same columns"
            )
    return total


def _look(readers: Any, chunk: Chunk, i: int) -> tuple[int, list[Sight]]:
    seen: list[Sight] = []
    for _, _, table in readers[i].parts(chunk):
        missing = np.column_stack([column.missing() for column in table.columns])
        complete = np.asarray(~(missing & readers[i].omit).any(axis=1))
        seen = _joined(seen, [Sight.of(column, complete, table.source or "") for column in table.columns])
    return i, seen


def _add(total: list[list[Sight]], found: tuple[int, list[Sight]]) -> list[list[Sight]]:
    total[found[0]] = _joined(total[found[0]], found[1])
    return total


def _joined(sights: list[Sight], others: list[Sight]) -> list[Sight]:
    if not sights or not others:
        return sights or others
    return [sight.joined(other) for sight, other in zip(sights, others, strict=True)]


def refuse_empty_columns(samples: Sequence[Rows], workers: Any, left: int) -> None:
    """Raise Untestable for a column without values, after another reading; ``left`` rows are complete."""
    readers = [replace(rows.reader, types=rows.reader.types or {}, code=None) for rows in samples]
    whole = [replace(rows, reader=reader) for rows, reader in zip(samples, readers, strict=True)]
    each = zip(samples, looked(whole, workers), strict=True)
    refuse_empty([(rows.name, sight.column.name, sight.rows) for rows, sights in each for sight in sights], left)


def _few(column: Column, texts: Mapping[str, int]) -> Column:
    """Values that stand for all of a column, without levels of text that do not occur, or are too many."""
    missing = column.missing()
    present = np.unique(column.values[~missing])
    levels = column.levels
    if column.kind == "category":
        levels = tuple(levels[i] for i in present if levels[i] in texts)
        present = np.arange(len(levels))
    elif not levels:
        present = present[[0, -1]] if len(present) else present
    values = np.concatenate([present, column.values[missing][:1]])
    return replace(column, values=values, levels=levels)


def fewest(counts: Mapping[str, int]) -> Mapping[str, int]:
    """The counts of the levels with the least hashes, all unless they are too many."""
    if len(counts) <= MOST_LEVELS + 1:
        return counts
    return {level: counts[level] for level in sorted(counts, key=_hash)[: MOST_LEVELS + 1]}


def shared(samples: Sequence[np.ndarray]) -> float:
    """The share of the values of the smallest sample that all samples have, by the hashes of `Sight.alone`.

    0 where a sample is so much smaller than another that hardly any of its hashes can be compared.
    """
    last = min(one[-1] if one.size > MOST_LEVELS else _LARGEST for one in samples)  # up to it all of them are known
    known = [one[one <= last] for one in samples]
    least = min(one.size for one in known)
    unclear = last != _LARGEST and least < _COMPARED
    return 0.0 if unclear or not least else float(functools.reduce(np.intersect1d, known).size / least)


def _least(hashes: np.ndarray) -> np.ndarray:
    if hashes.size > MOST_LEVELS + 1:
        hashes = np.partition(hashes, MOST_LEVELS)[: MOST_LEVELS + 1]
    return np.sort(hashes)


def _hash(level: str) -> tuple[bytes, str]:
    return blake2b(level.encode("utf-8", "surrogatepass"), digest_size=8).digest(), level


def _bits(level: str) -> int:
    return int.from_bytes(_hash(level)[0], "big")
