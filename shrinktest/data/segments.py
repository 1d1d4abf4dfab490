"""Segments: the rows of tables by the value of one column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest.data.column import CODED, DROP, TIMES, Column
from shrinktest.data.labels import as_labels
from shrinktest.data.tables import columns_at, is_table, names_in, pooled, read_table, taken
from shrinktest.data.texts import number_level


@dataclass(frozen=True, eq=False)
class Segments:
    """Tables without the column of the segments, and the segment of every row.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"week": [2, 1, None, 2], "sales": [5.0, 6.0, 7.0, 8.0]})
    >>> segments = Segments.of([table], "week", ["table"])
    >>> segments.names, segments.rows(0, 1).tolist(), segments.missing
    (('1', '2'), [0, 3], (1,))
    """

    names: tuple[str, ...]  # of the segments, in the order of their values
    codes: tuple[np.ndarray, ...]  # (n,) for each table: number of the segment, -1 without one
    tables: tuple[Any, ...]  # without the column

    @classmethod
    def of(cls, tables: Sequence[Any], by: Any, names: Sequence[str]) -> Segments:
        """Read the segments by the name of a column, or for one table also by labels of its rows.

        Messages call the tables ``names``.
        """
        if isinstance(by, str):
            read = [_apart(table, by, name) for table, name in zip(tables, names, strict=True)]
            rest = tuple(others for others, _ in read)
            columns = [column for _, column in read]
        else:
            rest = tuple(tables)
            columns = [_labels(tables[0], by, names[0])]
        levels, codes = _coded(columns[0] if len(columns) == 1 else pooled(columns, names))
        ends = np.cumsum([len(column) for column in columns])[:-1]
        return cls(levels, tuple(np.split(codes, ends)), rest)

    @property
    def missing(self) -> tuple[int, ...]:
        """Number of rows without a segment in each table."""
        return tuple(int((codes < 0).sum()) for codes in self.codes)

    def rows(self, table: int, segment: int) -> np.ndarray:
        """Return the numbers of the rows of a table that are in a segment."""
        return np.flatnonzero(self.codes[table] == segment)

    def taken(self, table: int, segment: int) -> Any:
        """Return the rows of a table that are in a segment."""
        return taken(self.tables[table], self.rows(table, segment))


def taken_labels(labels: Any, rows: np.ndarray, name: str, size: int, table: str) -> Any:
    """Return the labels of some of the ``size`` rows of ``table``; a series stays one."""
    plain = as_labels(labels, name, size, table)
    return taken(labels, rows) if is_table(labels) else [plain[row] for row in rows.tolist()]


def _apart(table: Any, by: str, name: str) -> tuple[Any, Column]:
    """Return a table without the column ``by``, and this column."""
    known = names_in(table)
    if not known:
        raise ValueError(f"by={by!r} names a column, and {name} has none; pass a table")
    choice(by, known, f"by: a column of {name}")
    if len(known) == 1:
        raise ValueError(f"by={by!r} is the only column of {name}; there is none to test")
    others = [j for j, label in enumerate(known) if label != by]
    types = {label: DROP for label in known if label != by}
    column = read_table(table, name, types, compared=False).columns[0]
    return columns_at(table, others), column


def _labels(table: Any, by: Any, name: str) -> Column:
    """Return labels of the rows of a table as a column."""
    import pandas as pd

    labels = as_labels(by, "by", len(table), name)
    series = by if is_table(by) else pd.Series(labels)
    return read_table(series, "by", compared=False).columns[0]


def _coded(column: Column) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names of the values that occur, in their order, and the number of each row's value."""
    missing = column.missing()
    values, codes = np.unique(column.values[~missing], return_inverse=True)
    numbers = np.full(len(column), -1)
    numbers[~missing] = codes
    if column.kind in CODED:
        return tuple(column.levels[code] for code in values.tolist()), numbers
    if column.kind in TIMES:
        return tuple(str(value).removesuffix("T00:00:00.000000") for value in values), numbers
    return tuple(map(number_level, values.tolist())), numbers
