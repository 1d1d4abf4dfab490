"""Layout: the columns of the reference, as which rows of a stream are read as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, as_points, counted, listed
from shrinktest.data.column import Column, Table, recoded
from shrinktest.data.summary import ColumnSummary, as_common, identifies, select
from shrinktest.data.tables import (
    columns_at,
    is_table,
    read_names,
    read_table,
    refuse_repeated,
    table_of,
)
from shrinktest.monitoring.plain_rows import of_frame, of_mapping
from shrinktest.notes import Note, note


@dataclass(frozen=True, eq=False)
class Layout:
    """Names, kinds and levels of columns; rows are a matrix with a column of numbers for each.

    Numbers of categories are their places among the levels of the reference; new levels have the
    place after the last.  Missing values are NaN.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    named: bool
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, left_out: Sequence[str]) -> Layout:
        """Return the layout of a table without some columns."""
        columns = [column for column in table.columns if column.name not in left_out]
        return cls(
            tuple(column.name for column in columns),
            tuple(column.kind for column in columns),
            tuple(column.levels for column in columns),
            table.named,
            (*left_out, *table.dropped),
        )

    @property
    def categorical(self) -> np.ndarray:
        """Return which columns (d,) have levels without an order."""
        return np.array([kind in ("boolean", "category") for kind in self.kinds])

    @property
    def plain(self) -> bool:
        """True if all columns are numbers, so that arrays can be read as well."""
        return all(kind == "number" for kind in self.kinds)

    def matrix(self, table: Table) -> Array:
        """Return the numbers (n, d) of a table with these columns."""
        columns = dict(zip(table.names, table.columns, strict=True))
        if not (self.named and table.named):
            columns = dict(zip(self.names, table.columns, strict=True))
        parts = [
            _numbers(columns[name], kind, levels)
            for name, kind, levels in zip(self.names, self.kinds, self.levels, strict=True)
        ]
        return np.stack(parts, axis=1)

    def read(self, x: Any, name: str) -> Array:
        """Return the numbers (n, d) of a batch of rows, or of one row.

        A row is a dict, or a vector with a number for each of several columns.  Raises TypeError or
        ValueError for other columns or kinds; messages call the rows ``name``.
        """
        if type(x) is np.ndarray and x.dtype == np.float64 and self.plain:
            points = x[np.newaxis] if x.ndim == 1 and len(self.names) > 1 else x
            points = points[:, np.newaxis] if points.ndim == 1 else points
            fits = points.ndim == 2 and points.shape[1] == len(self.names) and len(points)
            if fits and not np.isinf(points).any():
                return np.ascontiguousarray(points)
        plain = of_frame(x, self)
        if plain is not None:
            return plain
        if len(self.names) > 1 and self.named and hasattr(x, "to_dict") and np.ndim(x) == 1:
            x = x.to_dict()  # a row of a pandas table
        if isinstance(x, Mapping):
            row = of_mapping(x, self)
            if row is not None:
                return row
            x = as_frame(x)
        elif not is_table(x) and np.ndim(x) <= (len(self.names) > 1):
            x = np.asarray(x)[np.newaxis]  # one row
        return self.matrix(self._table(x, name))

    def _table(self, x: Any, name: str) -> Table:
        """Read a table or an array with these columns."""
        if not is_table(x):
            table = table_of(as_points(x, name, tables=True))
            if len(table.columns) != len(self.names):
                raise ValueError(
                    f"{name} has {counted(len(table.columns), 'column')}, and the reference has "
                    f"{len(self.names)}; pass the same columns"
                )
            if not self.plain:
                raise TypeError(
                    f"{name} must be a table like the reference, with its {listed(self.names)}; "
                    "got an array"
                )
            return table
        labels = read_names(x)
        if labels is not None and self.named:
            refuse_repeated(labels, name)
            unknown = sorted({*labels} - {*self.names} - {*self.left_out})
            lacking = sorted({*self.names} - {*labels})
            if lacking or unknown:
                sides = {"lacks": lacking, "adds": unknown}
                shown = "; ".join(f"it {verb} {listed(c)}" for verb, c in sides.items() if c)
                raise ValueError(
                    f"{name} has other columns than the reference: {shown}; pass the same columns"
                )
            x = columns_at(x, [labels.index(entry) for entry in self.names])
        table = read_table(x, name, self.types)
        if len(table.columns) != len(self.names):
            raise ValueError(
                f"{name} has {counted(len(table.columns), 'column')}, and the reference has "
                f"{len(self.names)}; pass the same columns"
            )
        for column, kind in zip(table.columns, self.kinds, strict=True):
            if kind in ("duration", "time") and column.kind != kind and not column.missing().all():
                raise TypeError(
                    f"{name}, column {column.name!r}, holds no {kind}s as in the reference; "
                    "convert it"
                )
        return table

    @property
    def types(self) -> dict[str, Any]:
        """Return ``column_types`` by which rows are read as the reference was."""
        columns = zip(self.names, self.kinds, self.levels, strict=True)
        types: dict[str, Any] = {}
        for name, kind, levels in columns:
            if kind not in ("duration", "time"):
                types[name] = [*levels] if kind == "ordered" else kind
        return types


def _numbers(column: Column, kind: str, levels: tuple[str, ...]) -> Array:
    """Return the numbers (n,) of a column as one of this kind, with these levels."""
    missing = column.missing()
    if kind not in ("boolean", "category"):
        return as_common(column, kind, levels).numbers()
    codes = recoded(column.values, column.levels, levels).astype(np.float64)
    codes[codes < 0] = len(levels)
    codes[missing] = np.nan
    return codes


def as_frame(x: Any) -> Any:
    """Return a dict of columns, or of the values of one row, as a table; anything else as it is."""
    if not isinstance(x, Mapping):
        return x
    import pandas as pd

    single = all(np.ndim(value) == 0 for value in x.values())
    return pd.DataFrame([dict(x)]) if single else pd.DataFrame(dict(x))


def read_reference(x: Any, column_types: Mapping[str, Any]) -> Table:
    """Return the columns of the reference, which is a table or an array."""
    given = x if is_table(x) else table_of(as_points(x, "reference", tables=True))
    return read_table(given, "reference", column_types)


def without_clocks(
    table: Table, half: np.ndarray, requested: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Return the columns that tell the time, count or identify rows, and notes on them.

    They are judged by the rows ``half`` alone, so that the ranks of other rows have no part in the
    choice.  Those that are ``requested`` stay, and so do all columns of arrays.  Raises ValueError
    for text that is neither categories nor identifies rows: all rows decide, because a refused
    reference alarms never.
    """
    part = table.taken(half)
    summaries = [ColumnSummary.of(column) for column in part.columns]
    unclear = [summary.name for summary in summaries if _is_unclear(summary)]
    left, _ = select(
        [[summary] for summary in summaries],
        ["reference"],
        (*requested, *unclear),
        named=table.named,
    )
    judged = [[ColumnSummary.of(table.columns[table.names.index(name)])] for name in unclear]
    if judged:
        select(judged, ["reference"], requested, named=table.named)
    remaining = [column for column in part.columns if column.name not in left]
    clocks = [
        column
        for column in remaining
        if table.named and column.name not in requested and _never_turns_back(column)
    ]
    if len(clocks) < len(remaining):
        left |= dict.fromkeys(
            (column.name for column in clocks), "it numbers rows or gives the time"
        )
    kinds = {column.name: column.kind for column in table.columns}
    notes = tuple(
        note(
            "untested-column",
            column=name,
            what="is not monitored",
            reason=f"{reason} (column_types={{{name!r}: {kinds[name]!r}}} monitors it)",
        )
        for name, reason in left.items()
    )
    return tuple(left), notes


def _is_unclear(summary: ColumnSummary) -> bool:
    """Return True for text that is neither categories nor identifies rows."""
    try:
        identifies(summary.name, [summary])
    except ValueError:
        return True
    return False


def _never_turns_back(column: Column) -> bool:
    """True if numbers or times only rise or only fall, and move in at least half of the rows."""
    if column.categorical or column.kind == "ordered":
        return False
    values = 0.25 * column.numbers()  # differences cannot overflow
    steps = np.sign(np.diff(values[~np.isnan(values)]))
    moves = np.count_nonzero(steps)
    return bool(abs(steps.sum()) == moves and 2 * moves >= max(len(steps), 1))
