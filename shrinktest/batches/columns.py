"""Columns of tables in batches: how they become numbers, by what one reading finds of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest.batches.crew import Crew
from shrinktest.batches.rows import Coding, Rows
from shrinktest.batches.sights import MOST_LEVELS, Sight, fewest, looked, shared
from shrinktest.batches.store import Store
from shrinktest.data.column import DROP, Column
from shrinktest.data.encoding import Code, Encoding, gaps_of
from shrinktest.data.summary import ColumnSummary
from shrinktest.data.tables import pooled
from shrinktest.notes import note
from shrinktest.tables.identifiers import (
    FEW,
    MANY_LEVELS,
    NEARLY_ALL,
    common,
    has_no_name,
    identifier_of,
    may_name_units,
    nearly_all_known,
    of_apart,
)
from shrinktest.units import Units


@dataclass(frozen=True)
class Part:
    """Columns of tables that are tested as one variable."""

    name: str  # what messages call it
    named: bool  # whether they have names of the user's
    width: int | None = None  # how many there are; None: all


@dataclass(frozen=True, eq=False)
class Found:
    """How the columns of tables in batches become numbers."""

    rows: tuple[Rows, ...]  # the samples, with the columns that are tested
    encodings: tuple[Encoding, ...]  # with units of 1, of every variable
    notes: tuple[str, ...] = ()  # which columns are not tested, and why
    left_out: Mapping[str, str] = field(default_factory=dict)  # the same, by the names of the columns

    @classmethod
    def of(
        cls,
        samples: Sequence[Rows],
        crew: Crew,
        parts: Sequence[Part] = (),
        *,
        indicate: bool = False,
        store: Store | None = None,
        name: str = "columns",
    ) -> Found:
        """Read all samples once; twice where rows miss values in columns that are not tested.

        Samples are tables, without a code; ``parts`` are the variables, side by side, by default one of all columns.
        With ``indicate`` missing values have an indicator, and what stands in their place is NaN until it is known.
        ``store`` has what has been read before, and calls this reading ``name``.  Raises ValueError or TypeError, which
        says where, for columns that cannot be tested, or are of different kinds.
        """
        types = samples[0].types or {}
        parts = parts or [Part(" and ".join(rows.name for rows in samples), any(rows.names for rows in samples))]
        dropped = [one for one, kind in types.items() if kind == DROP]
        if dropped and not all(rows.names for rows in samples):
            raise ValueError(
                "column_types='drop' takes columns with names; choose others with Batches(..., columns=[...])"
            )
        for one in dropped:
            choice(one, samples[0].names or (), "a column in column_types")
        samples, parts = _without(samples, parts, [j for j, n in enumerate(samples[0].names or ()) if n in dropped])
        total = looked(samples, crew, store, name)
        names = [one.column.name for one in total[0]]
        for one, kind in types.items():
            if kind != DROP:
                choice(one, list(dict.fromkeys(names)), "a column in column_types")
        left_out: list[tuple[int, Column]] = []
        reasons: dict[str, str] = {}
        notes: list[str] = []
        of_units: list[str] = []
        kept: list[tuple[Column, list[Sight]]] = []
        for j, (called, part) in enumerate(zip(names, _each(parts, len(names)), strict=True)):
            sights = [one[j] for one in total]
            column = pooled([one.column for one in sights], [rows.name for rows in samples])
            if column.missing().any() and column.kind == "number":  # judged by all values, of which these are a few
                column = replace(column, whole=all(one.whole for one in sights))
            alone = not part.named or (part.width or len(names)) == 1
            share = _shared(column, sights)
            if called not in types and not alone and share:
                all_known = all(one.rows <= MOST_LEVELS for one in sights)  # else a part of the values was looked at
                of_units.append(_of_units(called, share if all_known else min(share, 0.99), [r.name for r in samples]))
            why = _why_not(column, sights, share, asked=called in types, alone=alone)
            if why is None:
                kept.append((column, sights))
                if len(sights) > 1 and not alone and not (column.kind == "date" and called in types):
                    differ = all(one.rows > FEW and one.alone() is not None for one in sights)
                    values = np.split(column.values, np.cumsum([len(one.column) for one in sights])[:-1])
                    notes += of_apart(column, values, [rows.name for rows in samples], differ)
                continue
            kind = "number" if column.kind == "number" else "category"
            left_out.append((j, column))
            reasons[called] = why
            reason = f"{why} (column_types={{{called!r}: {kind!r}}} tests it)"
            notes.append(note("untested-column", column=called, what="is not tested", reason=reason))
        if left_out and not all(rows.names for rows in samples):
            raise ValueError(f"{' '.join(notes)} Leave such columns out of all samples: one has no names")
        samples, parts = _without(samples, parts, [j for j, _ in left_out], notes)
        if samples[0].omit and any(column.missing().any() for _, column in left_out):
            again = cls.of(
                samples, crew, parts, store=store, name=f"{name} again"
            )  # rows that miss only these values are complete
            return replace(again, notes=tuple(dict.fromkeys([*notes, *of_units, *again.notes])), left_out=reasons)
        codes = []
        for column, sights in kept:
            whole = pooled([column, *(one.complete for one in sights)], ["all rows", *(rows.name for rows in samples)])
            code = Code.of(ColumnSummary.of(whole.taken(slice(len(column), None))), indicate=indicate)
            codes.append(code)
        found = cls(tuple(samples), _encodings(codes, parts), (*notes, *of_units), reasons)
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


def of_numbers(
    columns: Sequence[str], ranges: Sequence[np.ndarray], names: Sequence[str], *, unasked: bool
) -> tuple[str, ...]:
    """What a reader should know of tables of numbers only, from the ranges (2, d) of their columns in every sample.

    Of one table, or of a variable, that is in which units its columns are.
    """
    each = [Column(name, "number", np.hstack([one[:, j] for one in ranges])) for j, name in enumerate(columns)]
    constant = np.array([column.values.min() == column.values.max() for column in each])
    found = _encoding([Code.of(ColumnSummary.of(column)) for column in each], named=True).knowing(constant)
    ends = zip(each, np.stack(ranges, axis=-1).transpose(1, 2, 0), strict=True)
    apart = (note for column, samples in ends for note in of_apart(column, list(samples), names))
    several = len(each) > 1 and len(names) > 1
    return (*(apart if several else ()), *found.notes(" and ".join(names), unasked=unasked))


def holes(encoding: Encoding | None) -> tuple[int, ...]:
    """The columns of numbers that have NaN in place of missing values, with an indicator beside them."""
    if encoding is None:
        return ()
    return gaps_of(encoding.codes)


def _shared(column: Column, sights: Sequence[Sight]) -> float:
    """The share of values that are in all samples, and are likely to be the same units there; 0 where they are not.

    Of the values that are known in the sample with the fewest of them.
    """
    values = [one.alone() for one in sights]
    there = [one for one in values if one is not None]
    if len(there) < len(sights) or len(sights) < 2 or max(one.rows for one in sights) <= FEW:
        return 0.0
    rows, sizes = [one.rows for one in sights], [one.size for one in sights]
    text = column.kind == "category"
    if not may_name_units(column, counts=_counts(sights)) or not (text or nearly_all_known(sizes, rows)):
        return 0.0
    share = shared(there)
    return share if share >= (0.5 if text else NEARLY_ALL) * (common(sizes, rows) / min(rows)) else 0.0


def _of_units(name: str, share: float, samples: Sequence[str]) -> str:
    few = "All" if share == 1.0 else "Nearly all" if share >= NEARLY_ALL else "More than half of the"
    few = "Many" if share < 0.5 else few  # as many as there may be, where others miss theirs
    every = f"{'both' if len(samples) == 2 else 'each of'} {' and '.join(samples)}"
    remedy = "use tables in memory, with paired=True or blocks="
    return note("repeated-units", values=f"{few} values", column=name, are="are", names=every, remedy=remedy)


def _counts(sights: Sequence[Sight]) -> bool:
    """Whether whole numbers count the rows of every sample."""
    return all(one.counts for one in sights)


def _why_not(column: Column, sights: Sequence[Sight], share: float, *, asked: bool, alone: bool) -> str | None:
    """Why a column is not tested, if it is not; raises ValueError where it has too many levels."""
    texts = reduce(_both, (one.texts for one in sights))
    rows, many = sum(one.rows for one in sights), len(texts) > MOST_LEVELS
    large = max(one.rows for one in sights) > FEW
    apart = column.kind == "category" and large and all(one.differ() and one.enough for one in sights)
    every = apart or sum(texts.values()) == len(texts)
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
    if has_no_name(column.name) and not rows:
        return "it has neither a name nor values, as behind a comma at the end of every line"
    levels, same = rows if many else len(texts), column.kind == "number" and share > 0.0
    return identifier_of(column, counts=_counts(sights), apart=apart, same=same, levels=levels, rows=rows)


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


def _both(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, Any]:
    return fewest({level: one.get(level, 0) + other.get(level, 0) for level in (*one, *other)})
