"""Rows of tables and arrays, in the library that they come from: put below each other, and taken out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import loaded_pandas
from shrinktest.tables.column import pooled
from shrinktest.tables.reading import Table, columns_at, is_table, read_names


def stacked(tables: Sequence[Any], names: Sequence[str]) -> Any:
    """All rows, as one table of the library that the first comes from, or as an array where one is no table.

    Messages call the tables as ``names`` says.  Raises ValueError or TypeError for tables with different columns, or
    different types in them.
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
    labels = [read_names(table) or ("0",) for table in tables]
    for found, name in zip(labels, names, strict=True):
        if sorted(found) != sorted(labels[0]):
            raise ValueError(f"{names[0]} and {name} have different columns; select the same in all")
    try:
        return _concatenated(tables, [[found.index(label) for label in labels[0]] for found in labels])
    except Exception as error:  # the libraries have errors of their own for columns of different types
        raise TypeError(f"{' and '.join(names)} cannot be put below each other: {error}") from None


def _concatenated(tables: Sequence[Any], places: Sequence[Sequence[int]]) -> Any:
    """Data frames, each with its columns at these places, or series, as one of the library that the first comes from.

    Names of columns of pandas may be no text, and are those of the first.
    """
    import narwhals as nw

    pandas = loaded_pandas()
    series = not hasattr(tables[0], "columns")
    if pandas is not None and all(isinstance(table, pandas.DataFrame | pandas.Series) for table in tables):
        frames = [
            table.to_frame() if series else columns_at(table, at) for table, at in zip(tables, places, strict=True)
        ]
        frames = [frame.set_axis(range(frame.shape[1]), axis=1) for frame in frames]
        whole = pandas.concat(_with_all_categories(frames, pandas), ignore_index=True)
        return whole[0].rename("0") if series else whole.set_axis(tables[0].columns, axis=1)
    if series:
        parts = [nw.from_native(table, series_only=True).alias("0").to_frame() for table in tables]
    else:
        parts = [nw.from_native(columns_at(table, at)) for table, at in zip(tables, places, strict=True)]
    whole = nw.concat(parts, how="vertical")
    return nw.to_native(nw.maybe_reset_index(whole["0"] if series else whole))


def _with_all_categories(frames: list[Any], pandas: Any) -> list[Any]:
    """Data frames of pandas whose categoricals have the categories of all, without which they would become text."""
    for j in frames[0].columns:
        kinds = [frame[j].dtype for frame in frames]
        if all(isinstance(kind, pandas.CategoricalDtype) for kind in kinds):
            first, *others = sorted(kinds, key=lambda kind: (bool(kind.ordered), len(kind.categories)), reverse=True)
            every = first.categories.append([kind.categories for kind in others]).unique()
            frames = [frame.astype({j: pandas.CategoricalDtype(every, first.ordered)}) for frame in frames]
    return frames


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
