"""Rows on disk as numbers, in two readings of tables.

One finds what their columns are, another their units and random rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest.data.all_rows import subject_has
from shrinktest.data.column import DROP
from shrinktest.data.encoding import Encoding, gaps_of
from shrinktest.data.on_disk.chunks import Key, Store, digest, reduce, stored
from shrinktest.data.on_disk.rows import Rows
from shrinktest.data.on_disk.storage import Chunk
from shrinktest.data.on_disk.survey import DATA, SAMPLE, Seen, Survey, representative, survey
from shrinktest.data.scale import ScaleOption
from shrinktest.data.summary import ColumnSummary, select
from shrinktest.data.untestable import refuse_empty
from shrinktest.notes import note
from shrinktest.units import SCALES, Units, as_scale, beside_gaps

#: Summaries of a column in all rows, and in those that miss nothing.
Both = tuple[ColumnSummary, ColumnSummary]

stored(ColumnSummary)


@dataclass(frozen=True)
class Part:
    """Columns that are tested as one variable."""

    name: str  # in messages
    names: tuple[str, ...] | None  # of the columns, if they have some
    width: int | None = None  # number of columns; None: all


# --- units and random rows ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OnDisk:
    """Samples, or variables, on disk, after a reading of all rows."""

    samples: tuple[Rows, ...]
    groups: tuple[slice, ...]  # columns of numbers of every variable
    survey: Survey
    encodings: tuple[
        Encoding | None, ...
    ]  # of every variable; they leave the columns in their own units
    units: tuple[Any, ...]
    notes: tuple[str, ...]
    left_out: Mapping[str, str]  # reasons for columns that are not tested
    workers: Any
    store: Store | None

    @classmethod
    def read(
        cls,
        samples: Sequence[Rows],
        parts: Sequence[Part],
        scales: Sequence[ScaleOption],
        *,
        nan_policy: str,
        drawn: int,
        rng: np.random.Generator,
        workers: Any = 1,
        store: Store | None = None,
    ) -> OnDisk:
        """Read the samples once, and once more before if their columns may hold other than numbers.

        ``parts`` are the variables, and ``scales`` their units as users give them.  At least
        ``drawn`` rows of each variable are drawn by ``rng``, apart from those of the others: pairs
        would tell which belong together.
        """
        typed_columns = None
        indicate = nan_policy == "indicator"
        if samples[0].reader.types is not None:
            typed_columns = TypedColumns.of(samples, workers, parts, indicate=indicate, store=store)
            samples = typed_columns.rows
        encodings: Sequence[Encoding | None] = (
            [None] * len(parts) if typed_columns is None else typed_columns.encodings
        )
        gaps = [() if encoding is None else gaps_of(encoding.codes) for encoding in encodings]
        units = _units_requested(parts, scales, encodings)
        groups = _groups_of(parts, encodings)
        seen = survey(
            samples, max(SAMPLE, drawn), rng, workers, groups=groups, holes=gaps, store=store
        )
        _check_sizes(samples, seen, workers)
        if typed_columns is not None:
            typed_columns = typed_columns.filled(seen.fills)
            samples = typed_columns.rows
            encodings = typed_columns.encodings
        single = np.concatenate(seen.single)
        if single.any():
            samples = [rows.in_single(single.tolist()) for rows in samples]
            seen = seen.in_single()
        notes = [] if typed_columns is None else list(typed_columns.notes)
        notes += _notes_on_rows(samples, seen, filled=any(gaps))
        known, more = _encodings_known(samples, parts, encodings, scales, seen)
        notes += more
        settled = tuple(_settled(*each) for each in zip(units, gaps, seen.pooled, strict=True))
        left_out = {} if typed_columns is None else typed_columns.left_out
        notes = list(dict.fromkeys(notes))
        return cls(
            tuple(samples),
            tuple(groups),
            seen,
            tuple(known),
            settled,
            tuple(notes),
            left_out,
            workers,
            store,
        )

    def representative(self, columns: Sequence[slice] = ()) -> list[np.ndarray]:
        """Return rows of the variables that represent all samples.

        For a single variable, the rows may be those of some of its columns.
        """
        sample = [np.ascontiguousarray(self.survey.pooled[0].rows[:, group]) for group in columns]
        sample = sample or [pooled.rows for pooled in self.survey.pooled]
        return representative(
            self.samples, self.survey, columns or self.groups, sample, self.workers, self.store
        )


def _units_requested(
    parts: Sequence[Part], scales: Sequence[ScaleOption], encodings: Sequence[Encoding | None]
) -> list[Any]:
    """Return the units of every variable, by default standard deviations of named columns."""
    units = []
    for part, scale, encoding in zip(parts, scales, encodings, strict=True):
        requested = scale.settled(table=bool(part.names))
        units.append(checked_units(requested) if encoding is None else encoding.entries(requested))
    return units


def _groups_of(parts: Sequence[Part], encodings: Sequence[Encoding | None]) -> list[slice]:
    """Return the columns of numbers of every variable."""
    if len(parts) == 1:
        return [slice(None)]
    widths = [
        part.width if encoding is None else len(encoding.features)
        for part, encoding in zip(parts, encodings, strict=True)
    ]
    ends = np.cumsum([0, *(width or 0 for width in widths)]).tolist()
    return [slice(*ends[k : k + 2]) for k in range(len(parts))]


def _check_sizes(samples: Sequence[Rows], seen: Survey, workers: Any) -> None:
    """Raise ValueError for samples with fewer than two rows."""
    if min(seen.sizes) < 2 and any(seen.omitted):
        _refuse_empty_columns(samples, workers, min(seen.sizes))
    for rows, size in zip(samples, seen.sizes, strict=True):
        if size < 2:
            raise ValueError(
                f"{subject_has(rows.name)} {counted(size, 'row')}; a sample needs at least 2"
            )


def _notes_on_rows(samples: Sequence[Rows], seen: Survey, *, filled: bool) -> list[str]:
    """Return notes on rows that were left out, and on medians of some rows that were filled in."""
    notes: list[str] = []
    for rows, left, size in zip(samples, seen.omitted, seen.sizes, strict=True):
        if left:
            which = f"{left} of {counted(left + size, 'row')} of {rows.name}"
            notes.append(note("missing-left-out", rows=which, where=""))
    drawn = len(seen.pooled[0].rows)
    if filled and drawn < sum(seen.sizes):
        what = "The median that replaces missing numbers was"
        notes.append(note("random-sample", what=what, rows=drawn))
    return notes


def _encodings_known(
    samples: Sequence[Rows],
    parts: Sequence[Part],
    encodings: Sequence[Encoding | None],
    scales: Sequence[ScaleOption],
    seen: Survey,
) -> tuple[list[Encoding | None], list[str]]:
    """Return the encodings, which know the constant columns, and notes on columns."""
    known = []
    notes: list[str] = []
    for k, (part, encoding, scale, pooled) in enumerate(
        zip(parts, encodings, scales, seen.pooled, strict=True)
    ):
        if encoding is None and part.names:
            names = [rows.name for rows in samples] if len(samples) > 1 else [part.name]
            sides = [variables[k] for variables in seen.seen]
            encoding, more = _encoding_of_numbers(part.names, sides, names)
            notes += more
        if encoding is not None:
            encoding = encoding.knowing(pooled.constant)
            notes += encoding.notes(part.name, unasked=scale.automatic and encoding.named)
        elif (constant := np.flatnonzero(pooled.constant)).size:
            which = f"{part.name}: columns {', '.join(map(str, constant))} have"
            notes.append(note("no-weight", which=which, unit=""))
        known.append(encoding)
    return known, notes


def checked_units(scale: ScaleOption) -> Any:
    """Return units of columns that are numbers; raise ValueError for others."""
    units = scale.value
    if scale.single:
        return None if units is None or scale.automatic else choice(units, SCALES, "scale")
    if not scale.by_place or (
        np.ndim(units) == 1 and any(isinstance(entry, str) for entry in units)
    ):
        raise ValueError(
            "scale: numbers on disk have one name for all columns, such as 'sd', or a number for "
            "each"
        )
    return units


def _settled(units: Any, gaps: Sequence[int], seen: Seen) -> Any:
    """Return units with standard deviations in place of "sd", which are 1 for constant columns.

    Beside the columns ``gaps`` are indicators of missing values, in units that :func:`beside_gaps`
    finds.
    """
    among = units if isinstance(units, tuple) else (units,) if isinstance(units, str) else ()
    if "sd" not in among and all(isinstance(units[j], str) for j in gaps):
        return as_scale(units, len(seen.low))
    each = list(units) if isinstance(units, tuple) else [units] * len(seen.low)
    each = beside_gaps(each, gaps, np.where(seen.constant, 0.0, seen.deviations))
    return tuple(
        sd if unit == "sd" else unit
        for unit, sd in zip(each, seen.deviations.tolist(), strict=True)
    )


def _encoding_of_numbers(
    columns: Sequence[str], seen: Sequence[Seen | None], names: Sequence[str]
) -> tuple[Encoding, list[str]]:
    """Return the encoding of numeric columns, and notes on those that tell samples apart."""
    each = [
        [
            ColumnSummary(label, "number", 2, 2, low=some.low[j], high=some.high[j])
            for some in seen
            if some is not None
        ]
        for j, label in enumerate(columns)
    ]
    return Encoding.of(each, None), select(each, names, (), named=True)[1]


# --- kinds of columns -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TypedColumns:
    """Tables on disk as numbers."""

    rows: tuple[Rows, ...]  # the samples, with the columns that are tested
    encodings: tuple[Encoding, ...]  # of every variable, with units of 1
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = ()  # type: ignore[assignment]  # reasons for columns that are not tested

    @classmethod
    def of(
        cls,
        samples: Sequence[Rows],
        workers: Any,
        parts: Sequence[Part],
        *,
        indicate: bool = False,
        store: Store | None = None,
        name: str = "columns",
    ) -> TypedColumns:
        """Read all samples once; twice if rows miss values in columns that are not tested.

        With ``indicate`` missing values have an indicator, and NaN in their place until the medians
        are known.
        """
        types = samples[0].reader.types or {}
        samples, parts = _without_dropped(samples, parts, types)
        total = summarized(samples, workers, store, name)
        columns = [[sample[j] for sample in total] for j in range(len(total[0]))]
        typed = {label for label, kind in types.items() if kind != DROP}
        for label in sorted(typed):
            choice(label, [pairs[0][0].name for pairs in columns], "a column in column_types")
        left_out: dict[str, str] = {}
        notes: list[str] = []
        first = 0
        groups = []
        for part in parts:
            groups.append(
                columns[first:] if part.width is None else columns[first : first + part.width]
            )
            first += len(groups[-1])
            names = [rows.name for rows in samples] if len(parts) == 1 else [part.name]
            every = [[whole for whole, _ in pairs] for pairs in groups[-1]]
            reasons, more = select(every, names, typed, named=part.names is not None)
            left_out |= reasons
            notes += more
        if left_out:
            if not all(rows.names for rows in samples):
                raise ValueError(
                    f"{' '.join(notes)} Leave such columns out of all samples: one has no names"
                )
            gaps = any(
                whole.known < whole.size
                for pairs in columns
                for whole, _ in pairs
                if whole.name in left_out
            )
            samples, parts = _without(samples, parts, [*left_out])
            if samples[0].reader.omit and gaps:  # rows that miss only these values are complete
                again = cls.of(samples, workers, parts, store=store, name=f"{name} again")
                return replace(
                    again, notes=tuple(dict.fromkeys([*notes, *again.notes])), left_out=left_out
                )
        encodings = tuple(
            Encoding.of(
                [
                    [complete for _, complete in pairs]
                    for pairs in group
                    if pairs[0][0].name not in left_out
                ],
                None,
                indicate=indicate,
                named=part.names is not None,
            )
            for group, part in zip(groups, parts, strict=True)
        )
        return cls(tuple(samples), encodings, tuple(notes), left_out).coded()

    def coded(self) -> TypedColumns:
        """Read the samples as numbers by the encodings."""
        codes = tuple(code for encoding in self.encodings for code in encoding.codes)
        width = sum(len(code.features) for code in codes)
        whole = Encoding(codes, Units((1.0,) * width, np.empty((0, width))), ScaleOption())
        rows = (replace(each, reader=replace(each.reader, code=whole)) for each in self.rows)
        return replace(self, rows=tuple(rows))

    def filled(self, fills: Sequence[Mapping[int, float]]) -> TypedColumns:
        """Put numbers in place of missing values, for every variable by its columns of numbers."""
        if not any(fills):
            return self
        encodings = []
        for encoding, values in zip(self.encodings, fills, strict=True):
            both = zip(encoding.codes, (group.start for group in encoding.groups), strict=True)
            codes = tuple(
                replace(code, fill=values[at]) if at in values else code for code, at in both
            )
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
            raise ValueError(f"{subject_has(rows.name)} 0 rows; a sample needs at least 2")
        if len(columns) != len(total[0][1]):
            raise ValueError(
                f"{rows.name} has {counted(len(columns), 'column')}, and {samples[0].name} has "
                f"{len(total[0][1])}; "
                "samples must have the same columns"
            )
    return [columns for _, columns in total]


def _refuse_empty_columns(samples: Sequence[Rows], workers: Any, left: int) -> None:
    """Raise Untestable for a column without values, after another reading.

    ``left`` rows are complete.
    """
    readers = [replace(rows.reader, types=rows.reader.types or {}, code=None) for rows in samples]
    tables = [replace(rows, reader=reader) for rows, reader in zip(samples, readers, strict=True)]
    each = zip(samples, summarized(tables, workers), strict=True)
    refuse_empty(
        [(rows.name, whole.name, whole.known) for rows, columns in each for whole, _ in columns],
        left,
    )


def _summaries(readers: Any, chunk: Chunk, i: int) -> tuple[int, str, list[Both]]:
    summaries: list[Both] = []
    for _, _, table in readers[i].parts(chunk):
        whole = [ColumnSummary.of(column) for column in table.columns]
        complete = whole
        missing = table.missing()
        if readers[i].omit and missing.any():
            complete = [
                ColumnSummary.of(column) for column in table.taken(~missing.any(axis=1)).columns
            ]
        summaries = _merged(
            summaries, list(zip(whole, complete, strict=True)), (chunk.where, chunk.where)
        )
    return i, chunk.where.rstrip(","), summaries


def _add(
    total: list[tuple[str, list[Both]]], summaries: tuple[int, str, list[Both]]
) -> list[tuple[str, list[Both]]]:
    i, where, columns = summaries
    before, known = total[i]
    if columns:
        total[i] = before or where, _merged(known, columns, (before, where))
    return total


def _merged(known: list[Both], others: list[Both], names: tuple[str, str]) -> list[Both]:
    if not known:
        return others
    pairs = zip(known, others, strict=True)
    return [(a.merge(c, names), b.merge(d, names)) for (a, b), (c, d) in pairs]


def _without_dropped(
    samples: Sequence[Rows], parts: Sequence[Part], types: Mapping[str, str]
) -> tuple[Sequence[Rows], Sequence[Part]]:
    """Leave out the columns that users drop by their types."""
    dropped = [label for label, kind in types.items() if kind == DROP]
    if not dropped:
        return samples, parts
    if not all(rows.names for rows in samples):
        raise ValueError(
            "column_types='drop' requires column names; choose other columns with Batches(columns=)"
        )
    for label in dropped:
        choice(label, samples[0].names or (), "a column in column_types")
    return _without(samples, parts, dropped)


def _without(
    samples: Sequence[Rows], parts: Sequence[Part], gone: Sequence[str]
) -> tuple[Sequence[Rows], Sequence[Part]]:
    """Leave out columns, which have names, of samples and of the variables that they are."""
    labels = samples[0].names or ()
    remaining = []
    first = 0
    for part in parts:
        width = len(labels) if part.width is None else part.width
        left = sum(label not in gone for label in labels[first : first + width])
        if not left:
            raise ValueError(
                f"{part.name}: no column is left to test; column_types drops all of them"
            )
        remaining.append(replace(part, width=None if part.width is None else left))
        first += width
    places = [
        [j for j, label in enumerate(rows.names or ()) if label not in gone] for rows in samples
    ]
    return [rows.only(stay) for rows, stay in zip(samples, places, strict=True)], remaining
