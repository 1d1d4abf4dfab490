"""Labels of rows, and samples that look like labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shrinktest._validate import Array
from shrinktest.tables.column import DROP, Column, number_level
from shrinktest.tables.identifiers import FEW, are_whole, known
from shrinktest.tables.pooled import checked_types
from shrinktest.tables.reading import Table, is_table

_MANY = 5  # times as many different values as labels have
_VARIABLE = re.compile(r"[A-Za-z_]\w*(\[\d+\])?")


def note_on_labels(columns: Sequence[Column], sizes: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    """Note on a sample of few different numbers that may name the groups of another sample of as many rows.

    Such are two numbers, or a few whole ones, and the other sample has many more.  The note holds the call to type.
    ``columns`` are those of all samples, whose ``sizes`` are their numbers of rows.
    """
    if len(columns) != 1 or columns[0].kind != "number":
        return ()
    samples = np.split(columns[0].values, np.cumsum(sizes)[:-1])
    levels = [np.unique(known(values)) for values in samples]
    for own, values, name in zip(levels, samples, names, strict=True):
        if not 2 <= own.size <= FEW or (own.size > 2 and not are_whole(own)):
            continue
        for others, data, of in zip(levels, samples, names, strict=True):
            if len(data) == len(values) and others.size >= _MANY * own.size:
                return (
                    f"{name} looks like labels: it has {own.size} different values, and {of} has {others.size}. To "
                    f"compare the groups of {of}, {_call(own, name, of)}.",
                )
    return ()


def _call(levels: Array, labels: str, data: str) -> str:
    """The call that compares the rows with each label."""
    if not (_VARIABLE.fullmatch(labels) and _VARIABLE.fullmatch(data)):
        return "give the rows with each label as a sample"
    if levels.size > 2:
        return f"type k_sample_test(*[{data}[{labels} == label] for label in numpy.unique({labels})])"
    first, second = (f"{data}[{labels} == {number_level(level)}]" for level in levels.tolist())
    return f"type two_sample_test({first}, {second})"


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
