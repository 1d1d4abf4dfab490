"""Rows of tables and arrays, in the library that they come from: put below each other, and taken out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest.tables.column import pooled
from shrinktest.tables.reading import Table, is_table


def stacked(tables: Sequence[Any], names: Sequence[str]) -> Any:
    """All rows, as one table of the library that the first comes from, or as an array where one is no table.

    Parameters
    ----------
    tables : sequence
    names : sequence of str
        What messages call them.

    Raises
    ------
    ValueError, TypeError
        For tables with different columns, or different types in them.
    """
    if len(tables) == 1:
        return tables[0]
    if all(isinstance(table, Table) for table in tables):
        first = tables[0].names
        places = [[table.names.index(name) for name in first] for table in tables]
        columns = [
            pooled([table.columns[place[j]] for table, place in zip(tables, places, strict=True)], names)
            for j in range(len(first))
        ]
        return Table(tuple(columns), tables[0].named)
    if not all(map(is_table, tables)):
        return np.concatenate([np.asarray(table) for table in tables])
    import narwhals as nw

    frames = [nw.from_native(table, eager_only=True, allow_series=True) for table in tables]
    series = isinstance(frames[0], nw.Series)
    if series:
        frames = [one.alias("0").to_frame() for one in frames]
    first = frames[0].columns
    for frame, name in zip(frames, names, strict=True):
        if sorted(frame.columns) != sorted(first):
            raise ValueError(f"{names[0]} and {name} have different columns; select the same in all")
    try:
        whole = nw.concat([frame.select(first) for frame in frames], how="vertical")
    except Exception as error:  # the libraries have errors of their own for columns of different types
        raise TypeError(f"{' and '.join(names)} cannot be put below each other: {error}") from None
    return nw.to_native(nw.maybe_reset_index(whole["0"] if series else whole))


def taken(table: Any, rows: np.ndarray) -> Any:
    """The rows with these numbers, of a table without the labels that its rows have, or of an array."""
    if isinstance(table, Table):
        return table.taken(rows)
    if not is_table(table):
        return np.ascontiguousarray(np.asarray(table)[rows])
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True, allow_series=True)
    return nw.to_native(nw.maybe_reset_index(frame[rows.tolist()]))


def categories(tables: Sequence[Any]) -> dict[str, str]:
    """Columns of text of a Table, which may have as many values as they like: whoever made it has looked at them."""
    columns = [column for table in tables if isinstance(table, Table) for column in table.columns]
    return {column.name: "category" for column in columns if column.kind == "category"}
