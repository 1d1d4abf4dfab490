"""Sights: what one reading finds of the columns of tables in batches, and what a store keeps of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from typing import Any

import numpy as np

from shrinktest._check import counted
from shrinktest.batches.crew import Crew
from shrinktest.batches.hashes import hashed
from shrinktest.batches.rows import Rows
from shrinktest.batches.store import DATA, Store, digest
from shrinktest.batches.tasks import Reading
from shrinktest.data.column import Column, Table
from shrinktest.data.tables import pooled
from shrinktest.tables.identifiers import are_whole, count_rows, enough
from shrinktest.units import refuse_empty

#: Levels at most of a category, of which every one takes a column of numbers.
MOST_LEVELS = 1000
_KEYS = np.array([1, 2], dtype=np.uint64)  # by which numbers become hashes: the same ones for every sample
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

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        both = {"column": _column_to(self.column), "complete": _column_to(self.complete)}
        ends = None if self.ends is None else [(row, value.hex()) for row, value in self.ends]
        rest = {"texts": dict(self.texts), "ends": ends, "hashes": self.hashes.tolist()}
        return {**both, "source": self.source, "rows": self.rows, "size": self.size, "whole": self.whole, **rest}

    @classmethod
    def of_dict(cls, read: Mapping[str, Any]) -> Sight:
        """That of which this is `to_dict`."""
        ends = None if read["ends"] is None else tuple((row, float.fromhex(value)) for row, value in read["ends"])
        both = _column_of(read["column"]), _column_of(read["complete"])
        hashes = np.array(read["hashes"], dtype=np.uint64)
        return cls(*both, read["source"], read["texts"], read["rows"], read["size"], read["whole"], ends, hashes)

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


@dataclass(eq=False)
class Sights:
    """What was seen of all columns in consecutive rows; nothing yet without any."""

    each: list[Sight] = field(default_factory=list)

    def add(self, others: Sequence[Sight]) -> None:
        """Add what was seen in the rows that come next."""
        if self.each and others:
            self.each = [one.joined(other) for one, other in zip(self.each, others, strict=True)]
        else:
            self.each = self.each or list(others)


@dataclass(frozen=True, eq=False)
class Looking(Reading):
    """What is seen of the columns of tables."""

    name = "columns"

    omit: bool  # whether rows with missing values will be left out

    def start(self, sample: int) -> Sights:
        return Sights()

    def add(self, found: Sights, sample: int, first: int, values: Table) -> None:
        missing = np.column_stack([column.missing() for column in values.columns])
        complete = np.asarray(~(missing & self.omit).any(axis=1))
        found.add([Sight.of(column, complete, values.source or "") for column in values.columns])

    def merge(self, found: Sights, other: Sights) -> None:
        found.add(other.each)


@dataclass(eq=False)
class Looks:
    """What has been seen of samples so far."""

    # for every sample, by the number of the first of some consecutive pieces, what was seen in these
    parts: list[dict[int, Sights]]
    read: list[dict[int, int]]  # for every sample the rows of the pieces that have been read, by their numbers

    def packed(self) -> dict[str, np.ndarray]:
        """As an array that a file can keep."""
        said = [[[place, [one.to_dict() for one in some.each]] for place, some in part.items()] for part in self.parts]
        return {"sights": np.array(json.dumps(said))}

    @classmethod
    def unpacked(cls, known: Mapping[str, Any], samples: int) -> Looks:
        """From what a store knows of a reading."""
        read: list[dict[int, int]] = [{} for _ in range(samples)]
        for sample, place, kept in known["read"]:
            read[sample][place] = kept
        said = json.loads(str(known["arrays"]["sights"]))
        return cls(
            [{place: Sights([Sight.of_dict(one) for one in some]) for place, some in part} for part in said], read
        )


def looked(samples: Sequence[Rows], crew: Crew, store: Store | None = None, name: str = "columns") -> list[list[Sight]]:
    """What was seen of the columns of every sample, put together in the order of its rows.

    ``store`` has what has been seen before, keeps what is seen, and calls this reading ``name``.
    """
    signatures = [rows.signature for rows in samples]
    kept, of = None if None in signatures else store, {DATA: digest(signatures)}
    known = None if kept is None else kept.asked(name, of)
    nothing = Looks([{} for _ in samples], [{} for _ in samples])
    seen = Looks.unpacked(known, len(samples)) if known else nothing
    before = [dict(one) for one in seen.read]

    def keep(now: bool) -> None:
        if kept is not None:
            read = [(i, place, rows) for i, one in enumerate(seen.read) for place, rows in sorted(one.items())]
            kept.keep(name, of, read, seen.packed(), now=now)

    try:
        with closing(crew.read(samples, Looking(samples[0].omit), None, before, numbered=False)) as parts:
            for done in parts:
                seen.parts[done.sample][done.place] = done.found
                seen.read[done.sample].update(enumerate(done.kept, start=done.place))
                keep(now=False)
    finally:
        keep(now=True)
    total = []
    for rows, some in zip(samples, seen.parts, strict=True):
        whole = Sights()
        for place in sorted(some):
            whole.add(some[place].each)
        if not whole.each:
            raise ValueError(f"{rows.name} has 0 rows; a sample needs at least 2")
        total.append(whole.each)
        if len(whole.each) != len(total[0]):
            raise ValueError(
                f"{rows.name} has {counted(len(whole.each), 'column')}, and {samples[0].name} has {len(total[0])}; "
                "samples must have the same columns"
            )
    return total


def refuse_empty_columns(samples: Sequence[Rows], crew: Crew, left: int) -> None:
    """Raise Untestable for a column without values, after another reading; ``left`` rows are complete."""
    whole = [replace(rows, types=rows.types or {}, code=None) for rows in samples]
    each = zip(samples, looked(whole, crew), strict=True)
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
    return 0.0 if unclear or not least else float(reduce(np.intersect1d, known).size / least)


def _least(hashes: np.ndarray) -> np.ndarray:
    if hashes.size > MOST_LEVELS + 1:
        hashes = np.partition(hashes, MOST_LEVELS)[: MOST_LEVELS + 1]
    return np.sort(hashes)


def _hash(level: str) -> tuple[bytes, str]:
    return blake2b(level.encode("utf-8", "surrogatepass"), digest_size=8).digest(), level


def _bits(level: str) -> int:
    return int.from_bytes(_hash(level)[0], "big")


def _column_to(column: Column) -> dict[str, Any]:
    """A column as JSON holds it, to the last bit."""
    values = np.ascontiguousarray(column.values)
    bits = values.view(np.int64).tolist()
    rest = {"levels": list(column.levels), "whole": column.whole}
    return {"name": column.name, "kind": column.kind, "dtype": values.dtype.str, "bits": bits, **rest}


def _column_of(read: Mapping[str, Any]) -> Column:
    values = np.array(read["bits"], dtype=np.int64).view(read["dtype"])
    return Column(read["name"], read["kind"], values, tuple(read["levels"]), read["whole"])
