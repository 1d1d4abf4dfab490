"""Observed: the rows of arrays or tables, what is missing in them, and the numbers that they become."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import Array, Columns, Points, as_points, choice, counted, describe_missing, listed
from shrinktest._rounding import coarsest, merged, rounded
from shrinktest.data.column import Column, Table
from shrinktest.data.encoding import Encoding
from shrinktest.data.summary import ColumnSummary, select
from shrinktest.data.tables import (
    ALONE,
    check_same_index,
    is_table,
    pooled,
    read_table,
    series_label,
    shown_names,
    table_of,
    transformed,
)
from shrinktest.notes import note
from shrinktest.units import Scale, as_scale, beside_others, refuse_empty

Rows = NDArray[np.bool_]
Missing = Mapping[tuple[str, str], Rows]

#: The argument ``scale`` of users who give none: standard deviations for tables, none for arrays.
UNASKED = "auto"


@dataclass(frozen=True, eq=False)
class Taken:
    """Numbers of the rows that are kept, with their units or encoding."""

    values: Array
    scale: Scale | None = None
    encoding: Encoding | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Observed:
    """Pooled rows of one or several arrays, or of tables with the same columns.

    Attributes
    ----------
    names, sizes : tuple
        What messages call the arrays or tables, and their numbers of rows.
    points : ndarray, shape (N, d), or None
        All rows, of arrays.
    table : Table or None
        All rows, of tables.
    left_out : dict
        Columns that are not tested because they identify rows, with reasons.
    identifiers : tuple of Column
        Those of text.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    points: Array | None = None
    table: Any = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    identifiers: tuple[Column, ...] = ()
    series: tuple[str | None, ...] = ()  # name of the series that each table is

    @property
    def columns(self) -> Columns:
        """Names of the columns of tables."""
        return self.table.names if self.table is not None and self.table.named else None

    def shown_in(self, i: int | None = None) -> Columns:
        """Return the names of columns in messages, about all or one of the tables: of series, too."""
        shown = None if self.table is None else shown_names(self.table.names, named=self.table.named)
        own = self.series[i] if self.series and i is not None else None
        return shown or (None if own is None else (own,))

    def as_columns(self) -> tuple[Column, ...]:
        """Return the columns, of arrays by their numbers from 0."""
        table: Table = table_of(Points(self.points, None)) if self.points is not None else self.table
        return table.columns

    def missing(self) -> Rows:
        """Return which values are missing (rows, columns), of all rows."""
        return np.isnan(self.points) if self.points is not None else np.asarray(self.table.missing())

    def taken(self, keep: Rows, scale: Any, argument: str, *, indicate: bool) -> Taken:
        """Return the rows that are kept, as numbers."""
        unasked = is_unasked(scale)
        if self.points is not None:
            units = None if unasked else as_scale(scale, self.points.shape[1], argument)
            units = tuple(beside_others(units)) if isinstance(units, tuple) else units
            return Taken(self.points if keep.all() else self.points[keep], units)
        wanted = ("sd" if self.table.named else None) if unasked else scale
        rows, what = self.table if keep.all() else self.table.taken(keep), " and ".join(self.names)
        summaries = [[ColumnSummary.of(column)] for column in rows.columns]
        encoding = Encoding.of(summaries, wanted, indicate=indicate, named=self.table.named)
        encoding, values = encoding.fitted(rows, argument=argument, whose=what)
        notes = encoding.notes(what, unasked=unasked and self.table.named)
        return Taken(values, encoding=encoding, notes=(*self.notes, *notes))

    def complete(self, nan_policy: str, *, given: bool = False) -> list[Rows]:
        """Return for every array or table which rows miss nothing; raise ValueError if nothing may be missing.

        Missing values of what is ``given`` are never information, and the message does not offer it.
        """
        indicator = "" if given else " (nan_policy='indicator' takes it as information that they are missing)"
        complete = []
        for i, (missing, name) in enumerate(zip(self._split(self.missing()), self.names, strict=True)):
            if nan_policy == "raise" and missing.any():
                raise ValueError(
                    f"{name} has {describe_missing(missing, self.shown_in(i))}; remove or impute them, or pass "
                    f"nan_policy='omit' to drop their rows{indicator}"
                )
            complete.append(
                np.ones(len(missing), dtype=bool) if nan_policy == "indicator" else np.asarray(~missing.any(axis=1))
            )
        return complete

    def missing_in(self, i: int | None = None) -> Missing:
        """Return which values are missing in each column of table i, or, of pairs, in any, by both names."""
        each = self._split(self.missing())
        gaps, name = (np.any(each, axis=0), " or ".join(self.names)) if i is None else (each[i], self.names[i])
        labels = self.shown_in(i or 0) or tuple(map(str, range(gaps.shape[1])))
        return {(name, label): gap for label, gap in zip(labels, gaps.T, strict=True)}

    def omitted(self, keep: Sequence[Rows]) -> tuple[str, ...]:
        """Note how many rows were left out, and for which columns, if any were."""
        if all(rows.all() for rows in keep):
            return ()
        rows = " and ".join(
            f"{int((~kept).sum())} of {counted(len(kept), 'row')} of {name}"
            for kept, name in zip(keep, self.names, strict=True)
            if not kept.all()
        )
        holes = self.holes()
        return (note("missing-left-out", rows=rows, where=f"; missing in {holes}" if holes else ""),)

    def with_values(self, keep: Sequence[Rows], *, together: bool) -> int:
        """Count the rows left out that have a value in some column: in both rows of a pair if ``together``."""
        out = ~np.concatenate(keep)
        if not out.any():
            return 0
        missing = self.missing()
        if together:
            missing = np.tile(missing.reshape(len(keep), -1, missing.shape[1]).any(axis=0), (len(keep), 1))
        return int((out & ~missing.all(axis=1)).sum())

    def holes(self) -> str:
        """Return in which columns values are missing, and how many; empty if none is."""
        missing = self.missing().sum(axis=0)
        each = [shown for i in range(len(self.sizes)) if (shown := self.shown_in(i))]
        of_series = (" and ".join(dict.fromkeys(shown[0] for shown in each)),) if len(each) == len(self.sizes) else ()
        labels = self.shown_in() or of_series or tuple(f"column {j}" for j in range(len(missing)))
        return ", ".join(f"{label} ({count})" for label, count in zip(labels, missing, strict=True) if count)

    def without(self, names: Collection[str]) -> Observed:
        """Return the same rows without the columns of these names."""
        columns = tuple(column for column in self.table.columns if column.name not in names)
        return replace(self, table=replace(self.table, columns=columns, dropped=(*self.table.dropped, *names)))

    def units(self, *, paired: bool) -> tuple[str, ...]:
        """Note text that identifies the same units in all tables; raise ValueError if pairs are of different ones."""
        notes = []
        for column in self.identifiers:
            codes = self._split(column.values)
            shared = reduce(np.intersect1d, [values[values >= 0] for values in codes])
            if len(codes) < 2 or not shared.size or 2 * shared.size < min(self.sizes):
                continue
            first, second = codes[:2]
            if not paired:
                every = f"{'both' if len(codes) == 2 else 'each of'} {' and '.join(self.names)}"
                ways = "paired=True with rows in the same order, or " if len(codes) == 2 else ""
                texts = {"values": counted(shared.size, "value"), "are": "is" if shared.size == 1 else "are"}
                remedy = f"say so: {ways}blocks= with a label for every row"
                notes.append(note("repeated-units", column=column.name, names=every, remedy=remedy, **texts))
            elif first.size == second.size and ((first >= 0) & (second >= 0) & (first != second)).any():
                row = int(((first >= 0) & (second >= 0) & (first != second)).argmax())
                x, y = self.names[:2]
                one, other = (repr(column.levels[values[row]]) for values in (first, second))
                raise ValueError(
                    f"paired=True pairs row i of {x} and {y}, but column {column.name!r} is {one} in row {row} of {x} "
                    f"and {other} in {y}; sort both tables by this column, or leave it out"
                )
        return tuple(notes)

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        return np.split(values, np.cumsum(self.sizes)[:-1])


# --- reading ------------------------------------------------------------------------------------------------


def observed(
    tables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    column_types: Any = None,
    transform: Any = None,
    *,
    labels: bool = False,
    as_given: bool = True,
) -> Observed:
    """Read the rows of arrays or tables as users give them.

    Messages call them ``names``; ``nan_policy``, ``column_types`` and ``transform`` are arguments of the tests.  With
    ``labels`` columns say which rows belong together, or are taken as given, and are not compared.  Rows that have been
    transformed before are not ``as_given``.
    """
    if transform is not None:
        tables, as_given = transformed(tables, transform, names), False
        names = [f"{name} after transform" for name in names]
    types = checked_types(column_types)
    if types or nan_policy == "indicator" or any(map(is_table, tables)):
        return pooled_tables(tables, names, types, labels_only=labels)
    given = [as_points(table, name, tables=as_given) for table, name in zip(tables, names, strict=True)]
    arrays = [array.values for array in given]
    for points, name in zip(arrays, names, strict=True):
        if points.shape[1] != arrays[0].shape[1]:
            raise _other_columns(names[0], arrays[0].shape[1], name, points.shape[1], names)
    pooled = np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
    points = merged(pooled, coarsest(array.precision for array in given))
    return Observed(tuple(names), tuple(map(len, arrays)), points)


def pooled_tables(
    tables: Sequence[Any], names: Sequence[str], column_types: Mapping[str, Any], *, labels_only: bool = False
) -> Observed:
    """Pool the rows of tables, and of arrays, whose columns are matched by name.

    ``column_types`` has for names of columns (of arrays, their numbers from 0) a kind, the levels in their order, or
    "drop".  Raises TypeError or ValueError for what cannot be tested.
    """
    types = dict(column_types)
    label = series_label(tables)
    if label is not None and label in types:
        types[ALONE] = types[label]
    read = [
        read_table(
            x if is_table(x) else table_of(as_points(x, name, tables=True)), name, types, compared=not labels_only
        )
        for x, name in zip(tables, names, strict=True)
    ]
    matched, labels = _matched(read, names)
    if label is not None and labels == (ALONE,):  # the units stay as for arrays
        types |= {label: types[ALONE]} if ALONE in types else {}
        matched, labels = [[replace(column, name=label) for column in columns] for columns in matched], (label,)
    columns, summaries = [], []
    for each in zip(*matched, strict=True):
        summaries.append([ColumnSummary.of(column) for column in each])
        columns.append(_merged(pooled(each, names, summaries[-1])))
    named = any(table.named for table in read)
    left_out, notes = select(summaries, names, types, named=named, compared=not labels_only)
    seen = dict.fromkeys(name for table in read for name in (*table.names, *table.dropped))
    dropped = tuple(name for name in seen if name not in labels)
    kept = tuple(column for column in columns if column.name not in left_out)
    identifiers = tuple(column for column in columns if column.name in left_out and column.kind == "category")
    return Observed(
        tuple(names), tuple(len(table) for table in read), None, Table(kept, named, dropped), left_out, tuple(notes),
        identifiers, tuple(series_label([table]) for table in tables),
    )  # fmt: skip


def _matched(read: Sequence[Table], names: Sequence[str]) -> tuple[list[list[Column]], tuple[str, ...]]:
    """Return the columns of every table in one order, as in the first table with names."""
    first = next((i for i, table in enumerate(read) if table.named), 0)
    labels, matched = read[first].names, []
    for table, name in zip(read, names, strict=True):
        columns = list(table.columns)
        if table.named:
            own = {column.name: column for column in columns}
            only = {
                names[first]: [label for label in labels if label not in own],
                name: [label for label in own if label not in set(labels)],
            }
            if any(only.values()):
                sides = "; ".join(f"only in {where}: {listed(these)}" for where, these in only.items() if these)
                advice = f"select the same in {_every(names)}, or leave some out: column_types={{'name': 'drop'}}"
                if len(labels) == len(own) == 1:
                    advice = "rename one, or give them as Series, whose names may differ"
                raise ValueError(f"{names[first]} and {name} have different columns ({sides}); {advice}")
            columns = [own[label] for label in labels]
        if len(columns) != len(labels):
            raise _other_columns(names[first], len(labels), name, len(columns), names)
        matched.append([replace(column, name=label) for column, label in zip(columns, labels, strict=True)])
    return matched, labels


def _every(names: Sequence[str]) -> str:
    return "both" if len(names) == 2 else "all"


def _other_columns(first: str, columns: int, name: str, others: int, names: Sequence[str]) -> ValueError:
    return ValueError(
        f"{first} has {counted(columns, 'column')} and {name} has {counted(others, 'column')}; {_every(names)} "
        "samples must hold the same variables, one per column"
    )


def _merged(column: Column) -> Column:
    """Make numbers that agree up to rounding one number; know whole numbers by value if some are missing."""
    if column.kind != "number" or column.whole:
        return column
    values = rounded(column.values, column.precision)
    present = values[~np.isnan(values)]
    if present.size < values.size and (present == np.rint(present)).all():
        return replace(column, values=values, whole=True)
    return replace(column, values=merged(values[:, np.newaxis], column.precision)[:, 0])


def is_unasked(scale: Any) -> bool:
    """Return True if the user gives no units."""
    return isinstance(scale, str) and scale == UNASKED


def checked_types(column_types: Any) -> dict[str, Any]:
    """Return the argument ``column_types`` with names of columns as text."""
    if column_types is None:
        return {}
    if not isinstance(column_types, Mapping):
        raise TypeError(
            "column_types must be a dict from names of columns to 'number', 'category', 'boolean', 'ordered', 'date', "
            f"the levels in their order, or 'drop'; got {column_types!r}"
        )
    return {str(key): value for key, value in column_types.items()}


def check_column_types(column_types: Any, data: Sequence[Observed]) -> None:
    """Raise ValueError for types of columns that no table has; the message suggests the nearest."""
    tables = [entry for entry in data if entry.table is not None]
    known = [name for entry in tables for name in (*entry.table.names, *entry.left_out, *entry.table.dropped)]
    known += [] if all(entry.table.named for entry in tables) else [ALONE]
    for key in checked_types(column_types):
        choice(key, list(dict.fromkeys(known)), "a column in column_types")


# --- rows that are left -------------------------------------------------------------------------------------


def at_least_two_rows(
    number: int, name: str, keep: Rows, others: str = "with missing values", missing: Missing | None = None
) -> None:
    """Raise ValueError for fewer than two rows of those to ``keep``; what ``others`` are dropped.

    A column without two values, of those that are ``missing``, is named, with an Untestable error.
    """
    if number >= 2:
        return
    named = missing or {}
    if len(keep) >= 2:
        refuse_empty([(*key, int((~gaps).sum())) for key, gaps in named.items()], number)
    dropped = len(keep) - number
    are = "is" if dropped == 1 else "are"
    why = f" once the {counted(dropped, 'row')} {others} {are} dropped" if dropped else ""
    holes = [f"{label} ({int(gaps.sum())})" for (_, label), gaps in named.items() if gaps.any()]
    why += f", missing in {', '.join(holes)}" if dropped and holes else ""
    raise ValueError(f"{name} has {counted(number, 'row')}{why}; a test needs at least 2 (one per observation)")


def check_pairs(samples: Sequence[Any], data: Observed, names: Sequence[str], complete: list[Rows], omit: bool) -> None:
    """Raise if row i of all samples cannot belong together, or fewer than two such rows are left."""
    sizes = data.sizes
    for size, name in zip(sizes, names, strict=True):
        at_least_two_rows(size, name, np.ones(size, dtype=bool))
    for sample, size, name in zip(samples[1:], sizes[1:], names[1:], strict=True):
        if sizes[0] != size:
            raise ValueError(
                f"paired=True needs as many rows in {names[0]} as in {name}, row i of each a pair; found {sizes[0]}, "
                f"{size}"
            )
        check_same_index(samples[0], sample, names[0], name)
    if omit:
        every = np.logical_and.reduce(complete)
        at_least_two_rows(int(every.sum()), " and ".join(names), every, missing=data.missing_in())
