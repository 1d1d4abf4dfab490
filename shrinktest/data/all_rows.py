"""AllRows: rows of arrays or tables as users give them, with missing values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import (
    Array,
    Columns,
    Points,
    as_points,
    choice,
    counted,
    describe_missing,
    listed,
)
from shrinktest._rounding import coarsest, merged, rounded
from shrinktest.data.column import Column, Table
from shrinktest.data.encoding import Encoding
from shrinktest.data.scale import ScaleOption
from shrinktest.data.summary import ColumnSummary, select
from shrinktest.data.tables import (
    ALONE,
    is_table,
    pooled,
    read_table,
    shown_names,
    table_of,
    transformed,
)
from shrinktest.data.untestable import refuse_empty
from shrinktest.data.variable import Variable
from shrinktest.notes import note

Rows = NDArray[np.bool_]
Missing = Mapping[tuple[str, str], Rows]


@dataclass(frozen=True, eq=False)
class AllRows:
    """Pooled rows of one or several arrays, or of tables with the same columns."""

    names: tuple[str, ...]  # what messages call the arrays or tables
    sizes: tuple[int, ...]  # their numbers of rows
    points: Array | None = None  # all rows (N, d), of arrays
    table: Any = None  # all rows, of tables
    left_out: Mapping[str, str] = field(
        default_factory=dict
    )  # reasons for columns that identify rows
    notes: tuple[str, ...] = ()
    identifiers: tuple[Column, ...] = ()  # those of text

    @property
    def columns(self) -> Columns:
        """Names of the columns of tables."""
        return self.table.names if self.table is not None and self.table.named else None

    @property
    def shown(self) -> Columns:
        """Names of columns in messages: of tables and of series."""
        return None if self.table is None else shown_names(self.table.names, named=self.table.named)

    def as_columns(self) -> tuple[Column, ...]:
        """Return the columns, of arrays by their numbers from 0."""
        table: Table = (
            table_of(Points(self.points, None)) if self.points is not None else self.table
        )
        return table.columns

    def missing(self) -> Rows:
        """Return which values are missing (rows, columns), of all rows."""
        return (
            np.isnan(self.points) if self.points is not None else np.asarray(self.table.missing())
        )

    def taken(
        self, keep: Rows, scale: ScaleOption, *, indicate: bool
    ) -> tuple[Variable, tuple[str, ...]]:
        """Return the rows that are kept as numbers, and notes on their columns and units."""
        chosen = not scale.automatic
        name = " and ".join(self.names)
        if self.points is not None:
            units = scale.settled(table=False).of_array(self.points.shape[1])
            points = self.points if keep.all() else self.points[keep]
            return Variable(points, name, units, units_chosen=chosen), ()
        named = self.table.named
        rows = self.table if keep.all() else self.table.taken(keep)
        summaries = [[ColumnSummary.of(column)] for column in rows.columns]
        encoding = Encoding.of(
            summaries, scale.settled(table=named), indicate=indicate, named=named
        )
        encoding, values = encoding.fitted(rows, whose=name)
        notes = encoding.notes(name, unasked=named and not chosen)
        variable = Variable(values, name, encoding=encoding, units_chosen=chosen)
        return variable, (*self.notes, *notes)

    def without(self, names: Collection[str]) -> AllRows:
        """Return the same rows without the columns of these names."""
        columns = tuple(column for column in self.table.columns if column.name not in names)
        return replace(
            self, table=replace(self.table, columns=columns, dropped=(*self.table.dropped, *names))
        )

    # --- missing values ---

    def complete(self, nan_policy: str, *, given: bool = False) -> list[Rows]:
        """Return for every array or table which rows are complete.

        Raise ValueError if nothing may be missing.

        Missing values of what is ``given`` are never information, and the message does not offer
        it.
        """
        each = self._split(self.missing())
        if nan_policy == "indicator":
            return [np.ones(len(missing), dtype=bool) for missing in each]
        for missing, name in zip(each, self.names, strict=True):
            if nan_policy == "raise" and missing.any():
                indicator = (
                    "" if given else " (nan_policy='indicator' uses missingness as information)"
                )
                raise ValueError(
                    f"{name} has {describe_missing(missing, self.shown)}; remove or impute them, "
                    "or pass "
                    f"nan_policy='omit' to drop their rows{indicator}"
                )
        return [np.asarray(~missing.any(axis=1)) for missing in each]

    def missing_in(self, i: int | None = None) -> Missing:
        """Return which values are missing in each column of table i, by both names.

        For pairs, return which are missing in any.
        """
        each = self._split(self.missing())
        gaps, name = (
            (np.any(each, axis=0), " or ".join(self.names))
            if i is None
            else (each[i], self.names[i])
        )
        labels = self.shown or tuple(map(str, range(gaps.shape[1])))
        return {(name, label): gap for label, gap in zip(labels, gaps.T, strict=True)}

    def omitted(self, keep: Sequence[Rows]) -> tuple[str, ...]:
        """Note how many rows were left out, and for which columns, if any were."""
        counts = [
            f"{int((~rows).sum())} of {counted(len(rows), 'row')} of {name}"
            for rows, name in zip(keep, self.names, strict=True)
            if not rows.all()
        ]
        where = f"; missing in {holes}" if (holes := self.holes()) else ""
        return (note("missing-left-out", rows=" and ".join(counts), where=where),) if counts else ()

    def holes(self) -> str:
        """Return in which columns values are missing, and how many; empty if none is."""
        missing = self.missing().sum(axis=0)
        labels = self.shown or [f"column {j}" for j in range(len(missing))]
        return ", ".join(
            f"{label} ({count})" for label, count in zip(labels, missing, strict=True) if count
        )

    def omits_values(self, keep: Sequence[Rows], *, together: bool) -> bool:
        """Return True if an omitted row has a value in some column.

        With ``together``, both rows of a pair are omitted.
        """
        missing = self.missing()
        if together:
            missing = np.tile(
                missing.reshape(len(keep), -1, missing.shape[1]).any(axis=0), (len(keep), 1)
            )
        return bool((~np.concatenate(keep) & ~missing.all(axis=1)).any())

    # --- units that are in several tables ---

    def units(self, *, paired: bool) -> tuple[str, ...]:
        """Note text that identifies the same units in all tables.

        Raise ValueError if pairs are of different ones.
        """
        notes = []
        for column in self.identifiers:
            codes = self._split(column.values)
            shared = reduce(np.intersect1d, [values[values >= 0] for values in codes])
            if len(codes) < 2 or not shared.size or 2 * shared.size < min(self.sizes):
                continue
            if paired:
                if len({*self.sizes}) == 1:
                    self._refuse_other_units(column, codes[0], codes[1])
                continue
            every = f"{'both' if len(codes) == 2 else 'each of'} {' and '.join(self.names)}"
            ways = "paired=True with rows in the same order, or " if len(codes) == 2 else ""
            texts = {
                "values": counted(shared.size, "value"),
                "are": "is" if shared.size == 1 else "are",
            }
            remedy = f"say so: {ways}blocks= with a label for every row"
            notes.append(
                note("repeated-units", column=column.name, names=every, remedy=remedy, **texts)
            )
        return tuple(notes)

    def _refuse_other_units(self, column: Column, first: np.ndarray, second: np.ndarray) -> None:
        x, y = self.names[:2]
        for row in np.flatnonzero((first >= 0) & (second >= 0) & (first != second))[:1]:
            raise ValueError(
                f"paired=True: column {column.name!r} is {column.levels[first[row]]!r} in row "
                f"{row} of {x} and "
                f"{column.levels[second[row]]!r} in {y}; sort both, or drop it"
            )

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        return np.split(values, np.cumsum(self.sizes)[:-1])


# --- reading --------------------------------------------------------------------------------------


def read_rows(
    tables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    column_types: Any = None,
    transform: Any = None,
    *,
    labels: bool = False,
    as_given: bool = True,
) -> AllRows:
    """Read the rows of arrays or tables as users give them.

    Messages call them ``names``; ``nan_policy``, ``column_types`` and ``transform`` are arguments
    of the tests.  With ``labels`` columns say which rows belong together, or are taken as given,
    and are not compared.  Rows that have been transformed before are not ``as_given``.
    """
    if transform is not None:
        tables = transformed(tables, transform, names)
        as_given = False
        names = [f"{name} after transform" for name in names]
    types = checked_types(column_types)
    if types or nan_policy == "indicator" or any(map(is_table, tables)):
        return pooled_tables(tables, names, types, labels_only=labels)
    given = [
        as_points(table, name, tables=as_given) for table, name in zip(tables, names, strict=True)
    ]
    arrays = [array.values for array in given]
    for points, name in zip(arrays, names, strict=True):
        if points.shape[1] != arrays[0].shape[1]:
            raise _other_columns(names[0], arrays[0].shape[1], name, points.shape[1])
    together = np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
    points = merged(together, coarsest(array.precision for array in given))
    return AllRows(tuple(names), tuple(map(len, arrays)), points)


def pooled_tables(
    tables: Sequence[Any],
    names: Sequence[str],
    column_types: Mapping[str, Any],
    *,
    labels_only: bool = False,
) -> AllRows:
    """Pool the rows of tables, and of arrays, whose columns are matched by name.

    ``column_types`` has for names of columns (of arrays, their numbers from 0) a kind, the levels
    in their order, or "drop".  Raises TypeError or ValueError for what cannot be tested.
    """
    given = [
        x if is_table(x) else table_of(as_points(x, name, tables=True))
        for x, name in zip(tables, names, strict=True)
    ]
    read = [
        read_table(x, name, column_types, compared=not labels_only)
        for x, name in zip(given, names, strict=True)
    ]
    matched, labels = _matched(read, names)
    columns = []
    summaries = []
    for each in zip(*matched, strict=True):
        summaries.append([ColumnSummary.of(column) for column in each])
        columns.append(_without_rounding(pooled(each, names, summaries[-1])))
    named = any(table.named for table in read)
    left_out, notes = select(summaries, names, column_types, named=named, compared=not labels_only)
    seen = dict.fromkeys(name for table in read for name in (*table.names, *table.dropped))
    tested = tuple(column for column in columns if column.name not in left_out)
    return AllRows(
        names=tuple(names),
        sizes=tuple(map(len, read)),
        table=Table(tested, named, dropped=tuple(name for name in seen if name not in labels)),
        left_out=left_out,
        notes=tuple(notes),
        identifiers=tuple(
            column for column in columns if column.name in left_out and column.kind == "category"
        ),
    )


def _matched(
    read: Sequence[Table], names: Sequence[str]
) -> tuple[list[list[Column]], tuple[str, ...]]:
    """Return the columns of every table in one order, as in the first table with names."""
    first = next((i for i, table in enumerate(read) if table.named), 0)
    labels = read[first].names
    matched = []
    if not read[first].named and len(labels) == 1:  # series, which may have one name, and arrays
        given = {table.names[0] for table in read} - {ALONE}
        labels = (given.pop() if len(given) == 1 else ALONE,)
    for table, name in zip(read, names, strict=True):
        columns = list(table.columns)
        if table.named:
            own = dict(zip(table.names, columns, strict=True))
            sides = {names[first]: {*labels} - {*own}, name: {*own} - {*labels}}
            if any(sides.values()):
                only = "; ".join(
                    f"only in {side}: {listed(sorted(rest))}"
                    for side, rest in sides.items()
                    if rest
                )
                advice = "select the same in all, or leave some out: column_types={'name': 'drop'}"
                if len(labels) == len(own) == 1:
                    advice = "rename one, or pass them as Series, whose names may differ"
                raise ValueError(
                    f"{names[first]} and {name} have different columns ({only}); {advice}"
                )
            columns = [own[label] for label in labels]
        if len(columns) != len(labels):
            raise _other_columns(names[first], len(labels), name, len(columns))
        matched.append(
            [replace(column, name=label) for column, label in zip(columns, labels, strict=True)]
        )
    return matched, labels


def _other_columns(first: str, columns: int, name: str, others: int) -> ValueError:
    return ValueError(
        f"{first} has {counted(columns, 'column')} and {name} has {counted(others, 'column')}; all "
        "samples must hold "
        "the same variables, one per column"
    )


def _without_rounding(column: Column) -> Column:
    """Make numbers that agree up to rounding one number.

    Know whole numbers by value if some are missing.
    """
    if column.kind != "number" or column.whole:
        return column
    values = rounded(column.values, column.precision)
    present = values[~np.isnan(values)]
    if present.size < values.size and (present == np.rint(present)).all():
        return replace(column, values=values, whole=True)
    return replace(column, values=merged(values[:, np.newaxis], column.precision)[:, 0])


def checked_types(column_types: Any) -> dict[str, Any]:
    """Return the argument ``column_types`` with names of columns as text."""
    if column_types is None:
        return {}
    if not isinstance(column_types, Mapping):
        raise TypeError(
            "column_types must be a dict from columns to 'number', 'category', 'boolean', "
            "'ordered', 'date', 'drop' or "
            f"levels; got {column_types!r}"
        )
    return {str(key): value for key, value in column_types.items()}


def check_column_types(column_types: Any, data: Sequence[AllRows]) -> None:
    """Raise ValueError for types of columns that no table has; the message suggests the nearest."""
    tables = [entry for entry in data if entry.table is not None]
    known = [
        name
        for entry in tables
        for name in (*entry.table.names, *entry.left_out, *entry.table.dropped)
    ]
    known += [] if all(entry.table.named for entry in tables) else [ALONE]
    for key in checked_types(column_types):
        choice(key, dict.fromkeys(known), "a column in column_types")


# --- rows that are left ---------------------------------------------------------------------------


def subject_has(name: str) -> str:
    """Return the subject of a message with its verb: "X has", but "X and Y have"."""
    return f"{name} have" if " and " in name else f"{name} has"


def at_least_two_rows(name: str, keep: Rows, missing: Missing | None = None) -> None:
    """Raise ValueError for fewer than two rows to ``keep``, if others have missing values.

    A column without two values, of those that are ``missing``, is named, with an Untestable error.
    """
    number = int(keep.sum())
    gaps_by_name = missing or {}
    if number >= 2:
        return
    if len(keep) >= 2:
        refuse_empty([(*key, int((~gaps).sum())) for key, gaps in gaps_by_name.items()], number)
    why = ""
    dropped = len(keep) - number
    if dropped:
        holes = [
            f"{label} ({int(gaps.sum())})"
            for (_, label), gaps in gaps_by_name.items()
            if gaps.any()
        ]
        why = (
            f" once the {counted(dropped, 'row')} with missing values "
            f"{'is' if dropped == 1 else 'are'} dropped"
        )
        why += f", missing in {', '.join(holes)}" if holes else ""
    rows = f"{subject_has(name)} {counted(number, 'row')}"
    raise ValueError(f"{rows}{why}; a test needs at least 2 (one per observation)")
