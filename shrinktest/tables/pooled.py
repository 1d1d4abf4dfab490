"""PooledTable: the rows of one or several tables with the same columns, and what is missing in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import Array, as_points, choice, counted, listed
from shrinktest._rounding import merged
from shrinktest.notes import note
from shrinktest.tables.column import Column, pooled
from shrinktest.tables.encoding import Encoding
from shrinktest.tables.identifiers import (
    apart,
    common,
    has_no_name,
    identifier,
    is_known,
    known,
    names_units,
    with_whole_values,
)
from shrinktest.tables.reading import Table, is_table, read_table, series_label, table_of

Rows = NDArray[np.bool_]

#: Units of columns where nobody asks for any: those of tables, and those of arrays.
UNASKED = "auto"
_OF_TABLES = "sd"
#: What the one column of a series is called, beside its name.
ALONE = "0"


@dataclass(frozen=True, eq=False)
class PooledTable:
    """The rows of tables, one table after the other."""

    table: Table  # all rows
    sizes: tuple[int, ...]  # rows of every table
    names: tuple[str, ...]  # what messages call the tables
    # columns that are not tested, because they identify rows, and why
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    identifiers: tuple[Column, ...] = ()  # those of these that name units, and dates that do

    @classmethod
    def read(
        cls,
        tables: Sequence[Any],
        names: Sequence[str],
        column_types: Mapping[str, Any],
        every: str,
        *,
        labels_only: bool = False,
    ) -> PooledTable:
        """The pooled rows of tables, and of arrays, as users give them.

        Messages call the tables as ``names`` says, and say "both" or "all" of them as ``every`` does.  ``column_types``
        has for names of columns (of arrays, their numbers from 0) a kind, the levels in their order, or "drop"; see
        :func:`checked_types`.  With ``labels_only`` columns say which rows belong together, or are taken as given, and
        are not compared.  Raises TypeError or ValueError for what cannot be tested; the message names the argument and
        says what to do.
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
        matched, labels = _matched(read, names, every)
        if label is not None and labels == (ALONE,):  # the units stay those of arrays
            types |= {label: types[ALONE]} if ALONE in types else {}
            matched, labels = [[replace(column, name=label) for column in one] for one in matched], (label,)
        columns = [with_whole_values(_merged(pooled([one[j] for one in matched], names))) for j in range(len(labels))]
        ends = np.cumsum([table.size for table in read])[:-1]
        kept: list[Column] = []
        left_out: dict[str, str] = {}
        notes: list[str] = []
        identifiers: list[Column] = []
        several = any(table.named for table in read) and len(columns) > 1
        for column in columns:
            why, samples = None, np.split(column.values, ends)
            if several or (column.kind == "category" and not labels_only):
                why = identifier(column, samples, asked=column.name in types)
            if labels_only and column.kind == "number" and not has_no_name(column.name):
                why = None  # years count rows, and matter where they are taken as given
            if why is None:
                kept.append(column)
                if several and len(read) > 1 and not (column.kind == "date" and column.name in types):
                    notes += of_apart(column, samples, names)
                    identifiers += [column] if column.kind == "date" and names_units(column, samples) else []
                continue
            left_out[column.name] = why
            identifiers += [column] if names_units(column, samples) else []
            kind = "number" if column.kind == "number" else "category"
            reason = f"{why} (column_types={{{column.name!r}: {kind!r}}} {'keeps' if labels_only else 'tests'} it)"
            what = f"of {' and '.join(names)} is left out" if labels_only else "is not tested"
            notes.append(note("untested-column", column=column.name, what=what, reason=reason))
        if not kept:
            raise ValueError(
                f"{' and '.join(names)}: no column is left to test; {' '.join(notes)} Say how to read one of them"
            )
        seen = {name: None for one in read for name in (*one.names, *one.dropped)}
        table = Table(
            tuple(kept), named=any(one.named for one in read), dropped=tuple(n for n in seen if n not in labels)
        )
        sizes = tuple(one.size for one in read)
        return cls(table, sizes, tuple(names), left_out, tuple(notes), tuple(identifiers))

    @property
    def counters(self) -> list[str]:
        """Columns that are left out and are no text, such as numbers of the rows."""
        texts = [column.name for column in self.identifiers if column.kind == "category"]
        return [name for name in self.left_out if name not in texts]

    def units(self, *, paired: bool) -> tuple[str, ...]:
        """What identifiers say of units that are in all tables; raises ValueError where pairs are of different ones."""
        notes = []
        ways = "paired=True with rows in the same order, or " if len(self.sizes) == 2 else ""
        for column in self.identifiers:
            first, *others = samples = np.split(column.values, np.cumsum(self.sizes)[:-1])
            there = [known(values) for values in samples]
            shared = reduce(np.intersect1d, there)
            if not others or 2 * shared.size < common(self.sizes, [one.size for one in there]) or not shared.size:
                continue
            for name, other in zip(self.names[1:], others if paired else (), strict=False):
                if first.size != other.size:
                    continue
                both = is_known(first) & is_known(other)
                if (apart := np.flatnonzero(both & (first != other))).size:
                    row = int(apart[0])
                    one, two = (_shown(column, values[row]) for values in (first, other))
                    raise ValueError(
                        f"paired=True takes row i of {self.names[0]} and row i of {name} for a pair, but column "
                        f"{column.name!r} is {one} in row {row} of {self.names[0]} and {two} in {name}: put both in "
                        f"the same order, such as table.sort_values({column.name!r}, ignore_index=True), or leave it "
                        "out"
                    )
            if not paired:
                values, are = counted(shared.size, "value"), "is" if shared.size == 1 else "are"
                every = f"{'both' if len(others) == 1 else 'each of'} {' and '.join(self.names)}"
                remedy = f"say so: {ways}blocks= with a label for every row"
                notes.append(
                    note("repeated-units", values=values, column=column.name, are=are, names=every, remedy=remedy)
                )
        return tuple(notes)

    def without(self, names: Collection[str]) -> PooledTable:
        """The same rows, without the columns of these names."""
        kept = tuple(column for column in self.table.columns if column.name not in names)
        return replace(self, table=replace(self.table, columns=kept, dropped=(*self.table.dropped, *names)))

    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing, shape (rows, columns)."""
        return np.column_stack([column.missing() for column in self.table.columns])

    def encoded(self, keep: Rows, scale: Any, *, indicate: bool, argument: str = "scale") -> tuple[Array, Encoding]:
        """The rows that are kept, as numbers, and how the columns become these."""
        wanted = (_OF_TABLES if self.table.named else None) if is_unasked(scale) else scale
        rows = Table(tuple(column.taken(keep) for column in self.table.columns), self.table.named)
        encoding = Encoding.of(rows, wanted, indicate=indicate, name=argument, whose=" and ".join(self.names))
        return encoding.points(rows), encoding


def _merged(column: Column) -> Column:
    """The pooled column, in which numbers that agree up to rounding are one number."""
    if column.kind != "number" or column.whole:
        return column
    return replace(column, values=merged(column.values[:, None], column.precision)[:, 0])


def _shown(column: Column, value: Any) -> str:
    """A value of an identifier as messages show it."""
    if column.levels:
        return repr(column.levels[value])
    return str(value.astype("datetime64[s]")) if column.kind == "date" else f"{value:g}"


def of_apart(
    column: Column, samples: Sequence[np.ndarray], names: Sequence[str], differ: bool | None = None
) -> tuple[str, ...]:
    """What a reader should know of a column that tells the samples apart, whatever else is in the table."""
    why = apart(column, samples, names, differ)
    return (
        () if why is None else (note("tells-samples-apart", column=column.name, names=" and ".join(names), reason=why),)
    )


def is_unasked(scale: Any) -> bool:
    """Whether nobody asked for units."""
    return isinstance(scale, str) and scale == UNASKED


def checked_types(column_types: Any) -> dict[str, Any]:
    """The argument ``column_types`` by the names of columns as text."""
    if column_types is None:
        return {}
    if not isinstance(column_types, Mapping):
        raise TypeError(
            "column_types must be a dict from names of columns to 'number', 'category', 'boolean', 'ordered', 'date', "
            f"the levels in their order, or 'drop'; got {column_types!r}"
        )
    return {str(key): value for key, value in column_types.items()}


def require_columns(types: Mapping[str, Any], tables: Sequence[PooledTable]) -> None:
    """Raise ValueError for types of columns that no table has; the message suggests the nearest."""
    known = [name for one in tables for name in (*one.table.names, *one.left_out, *one.table.dropped)]
    known += [] if all(one.table.named for one in tables) else [ALONE]
    for key in types:
        choice(key, list(dict.fromkeys(known)), "a column in column_types")


def _matched(read: Sequence[Table], names: Sequence[str], every: str) -> tuple[list[list[Any]], tuple[str, ...]]:
    """The columns of every table in one order, that of the first with names."""
    first = next((i for i, table in enumerate(read) if table.named), 0)
    labels, found = read[first].names, []
    wanted = set(labels)
    for table, name in zip(read, names, strict=True):
        columns = list(table.columns)
        if table.named:
            there = {column.name: column for column in columns}
            lacking = [label for label in labels if label not in there]
            extra = [label for label in there if label not in wanted]
            if lacking or extra:
                said = "; ".join(
                    f"only in {where}: {listed(only)}"
                    for where, only in ((names[first], lacking), (name, extra))
                    if only
                )
                advice = f"select the same in {every}, or leave some out: column_types={{'name': 'drop'}}"
                if len(labels) == len(there) == 1:
                    advice = "rename one, or give them as Series, whose names may differ"
                raise ValueError(f"{names[first]} and {name} have different columns ({said}); {advice}")
            columns = [there[label] for label in labels]
        if len(columns) != len(labels):
            raise ValueError(
                f"{names[first]} has {counted(len(labels), 'column')} and {name} has "
                f"{counted(len(columns), 'column')}; {every} samples must hold the same variables, one per column"
            )
        found.append([replace(column, name=label) for column, label in zip(columns, labels, strict=True)])
    return found, labels
