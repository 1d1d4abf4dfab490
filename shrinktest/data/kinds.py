"""Kinds of columns of tables on disk: one reading of all rows decides which are tested, and how they become numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest.data.chunks import Key, Store, digest, reduce
from shrinktest.data.column import DROP
from shrinktest.data.encoding import Encoding, gaps_of
from shrinktest.data.rows import Rows
from shrinktest.data.storage import Chunk
from shrinktest.data.summary import ColumnSummary, select
from shrinktest.data.survey import DATA
from shrinktest.units import Units, refuse_empty

#: Summaries of a column in all rows, and in those that miss nothing.
Both = tuple[ColumnSummary, ColumnSummary]


@dataclass(frozen=True)
class Part:
    """Columns of tables that are tested as one variable."""

    name: str  # in messages
    named: bool  # True if the columns have names of the user's
    width: int | None = None  # how many there are; None: all


@dataclass(frozen=True, eq=False)
class Found:
    """Tables on disk as numbers."""

    rows: tuple[Rows, ...]  # the samples, with the columns that are tested
    encodings: tuple[Encoding, ...]  # of every variable, with units of 1
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = ()  # type: ignore[assignment]  # reasons for columns that are not tested

    @classmethod
    def of(
        cls,
        samples: Sequence[Rows],
        workers: Any = 1,
        parts: Sequence[Part] = (),
        *,
        indicate: bool = False,
        store: Store | None = None,
        name: str = "columns",
    ) -> Found:
        """Read all samples once; twice if rows miss values in columns that are not tested.

        ``parts`` are the variables, side by side, by default one of all columns.  With ``indicate`` missing values have
        an indicator, and NaN in their place until the medians are known.
        """
        types = samples[0].reader.types or {}
        parts = parts or [Part(" and ".join(rows.name for rows in samples), any(rows.names for rows in samples))]
        labels = samples[0].names or ()
        if dropped := [label for label, kind in types.items() if kind == DROP]:
            if not all(rows.names for rows in samples):
                raise ValueError("column_types='drop' takes columns with names; choose others by Batches(columns=)")
            for label in dropped:
                choice(label, labels, "a column in column_types")
            samples, parts = _without(samples, parts, dropped)
        total = summarized(samples, workers, store, name)
        columns = [[sample[j] for sample in total] for j in range(len(total[0]))]
        typed = {label for label, kind in types.items() if kind != DROP}
        for label in sorted(typed):
            choice(label, [pairs[0][0].name for pairs in columns], "a column in column_types")
        left_out: dict[str, str] = {}
        notes: list[str] = []
        first, groups = 0, []
        for part in parts:
            groups.append(columns[first:] if part.width is None else columns[first : first + part.width])
            first += len(groups[-1])
            names = [rows.name for rows in samples] if len(parts) == 1 else [part.name]
            every = [[whole for whole, _ in pairs] for pairs in groups[-1]]
            reasons, more = select(every, names, typed, named=part.named)
            left_out |= reasons
            notes += more
        if left_out:
            if not all(rows.names for rows in samples):
                raise ValueError(f"{' '.join(notes)} Leave such columns out of all samples: one has no names")
            gaps = any(whole.known < whole.size for pairs in columns for whole, _ in pairs if whole.name in left_out)
            samples, parts = _without(samples, parts, [*left_out])
            if samples[0].reader.omit and gaps:  # rows that miss only these values are complete
                again = cls.of(samples, workers, parts, store=store, name=f"{name} again")
                return replace(again, notes=tuple(dict.fromkeys([*notes, *again.notes])), left_out=left_out)
        encodings = tuple(
            Encoding.of(
                [[complete for _, complete in pairs] for pairs in group if pairs[0][0].name not in left_out],
                None, indicate=indicate, named=part.named,
            )
            for group, part in zip(groups, parts, strict=True)
        )  # fmt: skip
        return cls(tuple(samples), encodings, tuple(notes), left_out).coded()

    def coded(self) -> Found:
        """Read the samples as numbers by the encodings."""
        codes = tuple(code for encoding in self.encodings for code in encoding.codes)
        width = sum(len(code.features) for code in codes)
        whole = Encoding(codes, Units((1.0,) * width, np.empty((0, width))))
        rows = (replace(each, reader=replace(each.reader, code=whole)) for each in self.rows)
        return replace(self, rows=tuple(rows))

    def filled(self, fills: Sequence[Mapping[int, float]]) -> Found:
        """Put numbers in place of missing values, for every variable by its columns of numbers."""
        if not any(fills):
            return self
        encodings = []
        for encoding, values in zip(self.encodings, fills, strict=True):
            both = zip(encoding.codes, (group.start for group in encoding.groups), strict=True)
            codes = tuple(replace(code, fill=values[at]) if at in values else code for code, at in both)
            encodings.append(replace(encoding, codes=codes))
        return replace(self, encodings=tuple(encodings)).coded()


def summarized(
    samples: Sequence[Rows], workers: Any = 1, store: Store | None = None, name: str = "columns"
) -> list[list[Both]]:
    """Read all samples; return for each the summaries of its columns."""
    signatures = [rows.signature for rows in samples]
    key = None if None in signatures else Key(name, {DATA: digest(signatures)})
    jobs = ((chunk, i) for i, rows in enumerate(samples) for chunk in rows.chunks())
    work = partial(_summaries, [rows.reader for rows in samples])
    start: list[tuple[str, list[Both]]] = [("", []) for _ in samples]
    total = reduce(work, jobs, _add, start, workers, store=store, key=key)
    for rows, (_, columns) in zip(samples, total, strict=True):
        if not columns:
            raise ValueError(f"{rows.name} has 0 rows; a sample needs at least 2")
        if len(columns) != len(total[0][1]):
            raise ValueError(
                f"{rows.name} has {counted(len(columns), 'column')}, and {samples[0].name} has {len(total[0][1])}; "
                "samples must have the same columns"
            )
    return [columns for _, columns in total]


def refuse_empty_columns(samples: Sequence[Rows], workers: Any, left: int) -> None:
    """Raise Untestable for a column without values, after another reading; ``left`` rows are complete."""
    readers = [replace(rows.reader, types=rows.reader.types or {}, code=None) for rows in samples]
    tables = [replace(rows, reader=reader) for rows, reader in zip(samples, readers, strict=True)]
    each = zip(samples, summarized(tables, workers), strict=True)
    refuse_empty([(rows.name, whole.name, whole.known) for rows, columns in each for whole, _ in columns], left)


def notes_on_numbers(
    columns: Sequence[str], ranges: Sequence[np.ndarray], names: Sequence[str], *, unasked: bool
) -> tuple[str, ...]:
    """Return notes on tables of numbers only, from the ranges (2, d) of their columns in every sample."""
    each = [
        [ColumnSummary(label, "number", 2, 2, low=ends[0, j], high=ends[1, j]) for ends in ranges]
        for j, label in enumerate(columns)
    ]
    constant = np.ptp(np.vstack(ranges), axis=0) == 0.0
    _, notes = select(each, names, (), named=True)
    return (*notes, *Encoding.of(each, None).knowing(constant).notes(" and ".join(names), unasked=unasked))


def holes(encoding: Encoding | None) -> tuple[int, ...]:
    """Return the columns of numbers with NaN in place of missing values, and an indicator next to them."""
    return () if encoding is None else gaps_of(encoding.codes)


def _summaries(readers: Any, chunk: Chunk, i: int) -> tuple[int, str, list[Both]]:
    found: list[Both] = []
    for _, _, table in readers[i].parts(chunk):
        whole = [ColumnSummary.of(column) for column in table.columns]
        complete, missing = whole, table.missing()
        if readers[i].omit and missing.any():
            complete = [ColumnSummary.of(column) for column in table.taken(~missing.any(axis=1)).columns]
        found = _merged(found, list(zip(whole, complete, strict=True)), (chunk.where, chunk.where))
    return i, chunk.where.rstrip(","), found


def _add(total: list[tuple[str, list[Both]]], found: tuple[int, str, list[Both]]) -> list[tuple[str, list[Both]]]:
    i, where, columns = found
    before, known = total[i]
    if columns:
        total[i] = before or where, _merged(known, columns, (before, where))
    return total


def _merged(known: list[Both], others: list[Both], names: tuple[str, str]) -> list[Both]:
    if not known:
        return others
    pairs = zip(known, others, strict=True)
    return [(a.merge(c, names), b.merge(d, names)) for (a, b), (c, d) in pairs]


def _without(
    samples: Sequence[Rows], parts: Sequence[Part], gone: Sequence[str]
) -> tuple[Sequence[Rows], Sequence[Part]]:
    """Leave out columns, which have names, of samples and of the variables that they are."""
    labels, kept, first = samples[0].names or (), [], 0
    for part in parts:
        width = len(labels) if part.width is None else part.width
        left = sum(label not in gone for label in labels[first : first + width])
        if not left:
            raise ValueError(f"{part.name}: no column is left to test; column_types drops all of them")
        kept.append(replace(part, width=None if part.width is None else left))
        first += width
    places = [[j for j, label in enumerate(rows.names or ()) if label not in gone] for rows in samples]
    return [rows.only(stay) for rows, stay in zip(samples, places, strict=True)], kept
