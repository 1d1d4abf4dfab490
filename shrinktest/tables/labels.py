"""Labels: columns of tables that say which rows belong together, and are no data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest._validate import loaded_pandas
from shrinktest.tables.column import DROP
from shrinktest.tables.pooled import checked_types


def columns_of_labels(
    given: Mapping[str, Any], tables: Sequence[Any], column_types: Any, scale: Any
) -> tuple[Any, tuple[str, ...]]:
    """How to read tables without the columns that are the labels of their rows, and what a reader should know of that.

    Parameters
    ----------
    given : mapping
        For "blocks" and "groups" labels for every table, or None.
    tables : sequence
    column_types, scale
        As users give them.  What types name is read as they say; units that are not those of all columns are for the
        columns as they are, so that none is left out.
    """
    types, notes = checked_types(column_types), []
    if not (scale is None or isinstance(scale, str)):
        return types, ()
    for argument, labels in given.items():
        name = _column_of(labels, tables)
        if name is not None and name not in types:
            types = {**types, name: DROP}
            asked = f"column_types={{{name!r}: 'category'}}"
            notes.append(f"Column {name!r} is not tested: it holds the labels of {argument}= ({asked} tests it).")
    return types, tuple(notes)


def _column_of(labels: Any, tables: Sequence[Any]) -> str | None:
    """The column of all tables that labels are taken from; None where they are not, or it is the only one."""
    pandas = loaded_pandas()
    if pandas is None or not isinstance(labels, tuple | list) or len(labels) != len(tables):
        return None
    both = list(zip(labels, tables, strict=True))
    if not all(isinstance(one, pandas.Series) and isinstance(table, pandas.DataFrame) for one, table in both):
        return None
    name = labels[0].name
    held = (one.name == name and list(table.columns).count(name) == 1 < table.shape[1] for one, table in both)
    return str(name) if all(held) and all(one.equals(table[name]) for one, table in both) else None
