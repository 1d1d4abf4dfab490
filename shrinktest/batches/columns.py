"""Columns of tables in batches: what one reading finds of them, before it is known how they become numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from typing import Any

import numpy as np

from shrinktest._validate import choice, counted
from shrinktest.batches.crew import Crew
from shrinktest.batches.rows import Coding, Rows
from shrinktest.batches.tasks import Reading
from shrinktest.tables.column import DROP, Column, pooled
from shrinktest.tables.encoding import Code, Encoding
from shrinktest.tables.identifiers import MANY_LEVELS, identifier_of
from shrinktest.tables.reading import Table
from shrinktest.units import Units

#: Levels at most of a category, of which every one takes a column of numbers.
MOST_LEVELS = 1000


@dataclass(frozen=True)
class Part:
    """Columns of tables that are tested as one variable.

    Parameters
    ----------
    name : str
        What messages call it.
    named : bool
        Whether they have names of the user's.
    width : int, optional
        How many there are; None: all.
    """

    name: str
    named: bool
    width: int | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """How the columns of tables in batches become numbers.

    Parameters
    ----------
    rows : tuple of Rows
        The samples, with the columns that are tested.
    encodings : tuple of Encoding
        With units of 1, of every variable.
    notes : tuple of str
        Which columns are not tested, and why.
    """

    rows: tuple[Rows, ...]
    encodings: tuple[Encoding, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        samples: Sequence[Rows],
        crew: Crew,
        parts: Sequence[Part] = (),
        *,
        indicate: bool = False,
    ) -> Found:
        """Read all samples once; twice where rows miss values in columns that are not tested.

        Parameters
        ----------
        samples : sequence of Rows
            As tables, without a code.
        crew : Crew
            Who reads them.
        parts : sequence of Part
            The variables, side by side; default one of all columns.
        indicate : bool
            Whether missing values have an indicator; what stands in their place is NaN until it is known.

        Raises
        ------
        ValueError, TypeError
            For columns that cannot be tested, or are of different kinds; says where.
        """
        types = samples[0].types or {}
        parts = parts or [Part(" and ".join(rows.name for rows in samples), any(rows.names for rows in samples))]
        dropped = [name for name, kind in types.items() if kind == DROP]
        if dropped and not all(rows.names for rows in samples):
            raise ValueError(
                "column_types='drop' takes columns with names; choose others with Batches(..., columns=[...])"
            )
        for name in dropped:
            choice(name, samples[0].names or (), "a column in column_types")
        samples, parts = _without(samples, parts, [j for j, n in enumerate(samples[0].names or ()) if n in dropped])
        total = _looked(samples, crew)
        names = [one.column.name for one in total[0]]
        for name, kind in types.items():
            if kind != DROP:
                choice(name, names, "a column in column_types")
        left_out, notes, kept = [], [], []
        for j, (name, part) in enumerate(zip(names, _each(parts, len(names)), strict=True)):
            sights = [one[j] for one in total]
            column = pooled([one.column for one in sights], [rows.name for rows in samples])
            alone = not part.named or (part.width or len(names)) == 1
            why = _why_not(column, sights, asked=name in types, alone=alone)
            if why is None:
                kept.append((column, sights))
                continue
            kind = "number" if column.kind == "number" else "category"
            left_out.append((j, column))
            notes.append(f"Column {name!r} is not tested: {why} (column_types={{{name!r}: {kind!r}}} tests it).")
        if left_out and not all(rows.names for rows in samples):
            raise ValueError(f"{' '.join(notes)} Leave such columns out of all samples: one has no names")
        samples, parts = _without(samples, parts, [j for j, _ in left_out], notes)
        if samples[0].omit and any(column.missing().any() for _, column in left_out):
            again = cls.of(samples, crew, parts)  # rows that miss only these values are complete
            return replace(again, notes=(*notes, *again.notes))
        codes = []
        for column, sights in kept:
            whole = pooled([column, *(one.complete for one in sights)], ["all rows", *(rows.name for rows in samples)])
            code = Code.of(whole.taken(slice(len(column), None)), indicate=indicate)
            codes.append(code if code.fill is None else replace(code, fill=np.nan))
        found = cls(tuple(samples), _encodings(codes, parts), tuple(notes))
        return found.coded(tuple(codes), tuple(column for column, _ in kept))

    def coded(self, codes: tuple[Code, ...], seen: tuple[Column, ...]) -> Found:
        """The same whose samples are read as numbers by these codes."""
        named = any(one.named for one in self.encodings)
        code = Coding(_encoding(codes, named=named), seen)
        return replace(self, rows=tuple(replace(rows, code=code) for rows in self.rows))

    def filled(self, fills: Sequence[Mapping[int, float]]) -> Found:
        """The same with what stands in place of missing values, for every variable by its columns of numbers."""
        before = self.rows[0].code
        if before is None or not any(fills):
            return self
        encodings = []
        for encoding, values in zip(self.encodings, fills, strict=True):
            starts = (group.start for group in encoding.groups)
            both = zip(encoding.codes, starts, strict=True)
            codes = tuple(replace(code, fill=values[at]) if at in values else code for code, at in both)
            encodings.append(replace(encoding, codes=codes))
        codes = tuple(code for one in encodings for code in one.codes)
        return replace(self, encodings=tuple(encodings)).coded(codes, before.seen)


def holes(encoding: Encoding | None) -> tuple[int, ...]:
    """The columns of numbers that have NaN in place of missing values, with an indicator beside them."""
    if encoding is None:
        return ()
    both = zip(encoding.codes, encoding.groups, strict=True)
    return tuple(group.start for code, group in both if code.indicated and not code.categorical)


@dataclass(frozen=True, eq=False)
class Sight:
    """What was seen of one column in consecutive rows.

    Parameters
    ----------
    column : Column
        Values that stand for all: every level that occurs, or the least and the largest; and a missing one if there is.
    complete : Column
        The same for rows that miss nothing.
    source : str
        Where the values are from, as messages call it.
    texts : dict
        How often levels of a category occur: of at most `MOST_LEVELS` + 1 of them, those with the least hashes, which
        do not depend on who saw them first.
    rows : int
        With a value.
    ends : tuple of float, optional
        The first and the last value, where they are whole numbers that count the rows.
    """

    column: Column
    complete: Column
    source: str
    texts: Mapping[str, int]
    rows: int
    ends: tuple[float, float] | None

    @classmethod
    def of(cls, column: Column, complete: np.ndarray, source: str) -> Sight:
        """Look at a column of a table; ``complete`` says which rows miss nothing."""
        there = ~column.missing()
        texts: Mapping[str, int] = {}
        if column.categorical:
            codes, counts = np.unique(column.values[there], return_counts=True)
            texts = _fewest({column.levels[i]: int(n) for i, n in zip(codes, counts, strict=True)})
        ends = None
        if column.kind == "number" and column.whole and there.all() and (np.diff(column.values) == 1.0).all():
            ends = float(column.values[0]), float(column.values[-1])
        return cls(_few(column, texts), _few(column.taken(complete), texts), source, texts, int(there.sum()), ends)

    def joined(self, other: Sight) -> Sight:
        """What was seen in these rows and in those that come after them."""
        columns = self.column, other.column, self.complete, other.complete
        whole = pooled(columns, (self.source, other.source) * 2)
        cut = len(self.column) + len(other.column)
        counts = dict(self.texts)
        for level, n in other.texts.items():
            counts[level] = counts.get(level, 0) + n
        texts = _fewest(counts)
        follows = self.ends and other.ends and self.ends[1] + 1.0 == other.ends[0]
        return Sight(
            _few(whole.taken(slice(0, cut)), texts),
            _few(whole.taken(slice(cut, None)), texts),
            self.source if self.rows else other.source,
            texts,
            self.rows + other.rows,
            (self.ends[0], other.ends[1]) if follows and self.ends and other.ends else None,
        )


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
    """What is seen of the columns of tables.

    Parameters
    ----------
    omit : bool
        Whether rows with missing values will be left out.
    """

    name = "columns"

    omit: bool

    def start(self, sample: int) -> Sights:
        return Sights()

    def add(self, found: Sights, sample: int, first: int, values: Table) -> None:
        missing = np.column_stack([column.missing() for column in values.columns])
        complete = np.asarray(~(missing & self.omit).any(axis=1))
        found.add([Sight.of(column, complete, values.source or "") for column in values.columns])

    def merge(self, found: Sights, other: Sights) -> None:
        found.add(other.each)


def _looked(samples: Sequence[Rows], crew: Crew) -> list[list[Sight]]:
    """What was seen of the columns of every sample, put together in the order of its rows."""
    parts: list[dict[int, Sights]] = [{} for _ in samples]
    for done in crew.read(samples, Looking(samples[0].omit), numbered=False):
        parts[done.sample][done.place] = done.found
    total = []
    for rows, some in zip(samples, parts, strict=True):
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


def _why_not(column: Column, sights: Sequence[Sight], *, asked: bool, alone: bool) -> str | None:
    """Why a column is not tested, if it is not; raises ValueError where it has too many levels."""
    texts = reduce(_both, (one.texts for one in sights))
    rows, many = sum(one.rows for one in sights), len(texts) > MOST_LEVELS
    every = sum(texts.values()) == len(texts)  # where there are too many, none of those that were looked at twice
    if column.kind == "category" and (asked or alone or not every):
        allowed = MOST_LEVELS if asked or alone else MANY_LEVELS
        if len(texts) > allowed:
            found = f"more than {MOST_LEVELS}" if many else str(len(texts))
            way = (
                ""
                if asked or alone or many
                else f", or test it as it is (column_types={{{column.name!r}: 'category'}})"
            )
            raise ValueError(
                f"column {column.name!r} holds text with {found} different values in {rows} rows, too many for "
                f"categories; leave it out (column_types={{{column.name!r}: 'drop'}}), put rare values together{way}"
            )
    if asked or alone:
        return None
    return identifier_of(
        column, counts=all(one.ends and one.rows > 2 for one in sights), levels=rows if many else len(texts), rows=rows
    )


def _without(
    samples: Sequence[Rows], parts: Sequence[Part], places: Sequence[int], notes: Sequence[str] = ()
) -> tuple[Sequence[Rows], Sequence[Part]]:
    """Samples whose columns have names, and the variables these are, without some columns; ``notes`` say why."""
    if not places:
        return samples, parts
    first, kept = samples[0].names or (), []
    each = _each(parts, len(first))
    for part in parts:
        width = sum(one is part for j, one in enumerate(each) if j not in places)
        if not width:
            why = " ".join([*notes, "Say how to read one of them"]) if notes else "column_types drops all of them"
            raise ValueError(f"{part.name}: no column is left to test; {why}")
        kept.append(replace(part, width=None if part.width is None else width))
    gone = [first[j] for j in places]
    if len(parts) > 1:  # of one source of rows, in this order
        return [rows.without(places) for rows in samples], kept
    return [rows.without([(rows.names or ()).index(name) for name in gone]) for rows in samples], kept


def _each(parts: Sequence[Part], columns: int) -> list[Part]:
    """For every column the variable that it is of."""
    return [part for part in parts for _ in range(columns if part.width is None else part.width)]


def _encoding(codes: Sequence[Code], *, named: bool) -> Encoding:
    width = sum(len(code.features) for code in codes)
    return Encoding(tuple(codes), Units((1.0,) * width, np.empty((0, width))), None, named)


def _encodings(codes: Sequence[Code], parts: Sequence[Part]) -> tuple[Encoding, ...]:
    """That of every variable."""
    each = _each(parts, len(codes))
    return tuple(
        _encoding([code for code, one in zip(codes, each, strict=True) if one is part], named=part.named)
        for part in parts
    )


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


def _fewest(counts: Mapping[str, int]) -> Mapping[str, int]:
    """The counts of the levels with the least hashes, all unless they are too many."""
    if len(counts) <= MOST_LEVELS + 1:
        return counts
    return {level: counts[level] for level in sorted(counts, key=_hash)[: MOST_LEVELS + 1]}


def _hash(level: str) -> tuple[bytes, str]:
    return blake2b(level.encode("utf-8", "surrogatepass"), digest_size=8).digest(), level


def _both(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, Any]:
    return _fewest({level: one.get(level, 0) + other.get(level, 0) for level in (*one, *other)})
