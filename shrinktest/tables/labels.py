"""Labels: columns of tables that say which rows belong together, and are no data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest.tables.column import DROP
from shrinktest.tables.pooled import checked_types
from shrinktest.tables.reading import Table, is_table


def columns_of_labels(
    given: Mapping[str, Any], tables: Sequence[Any], column_types: Any, scale: Any
) -> tuple[Any, tuple[str, ...]]:
    """How to read tables without the columns that are the labels of their rows, and what a reader should know of that.

    ``given`` has for "blocks" and "groups" labels for every table, or None; ``column_types`` and ``scale`` are as users
    give them.  What types name is read as they say; units that are not those of all columns are for the columns as they
    are, so that none is left out.
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
    if not isinstance(labels, tuple | list) or len(labels) != len(tables):
        return None
    first, *others = (_held_in(table, one) for table, one in zip(tables, labels, strict=True))
    found = [name for name in first if all(name in other for other in others)]
    return str(found[0]) if len(found) == 1 else None


def _held_in(table: Any, labels: Any) -> list[Any]:
    """The columns of a data frame that are these labels: the one with their name, or of pyarrow all equal ones."""
    shape: Sequence[int] = getattr(table, "shape", ())
    if not hasattr(labels, "equals") or isinstance(table, Table) or len(shape) != 2 or shape[1] < 2:
        return []
    if not is_table(table):
        return []
    names = list(getattr(table, "column_names", table.columns))
    if hasattr(labels, "name"):
        names = [labels.name] if names.count(labels.name) == 1 else []
    columns = ((name, table[name]) for name in names)
    return [name for name, column in columns if type(column) is type(labels) and labels.equals(column)]
