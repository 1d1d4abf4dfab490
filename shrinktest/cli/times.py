"""The times of rows, from the column that ``--time`` names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._series import in_longest_unit
from shrinktest.cli.table import TextTable
from shrinktest.data.column import DROP
from shrinktest.tables.text import whole_numbers

_YEAR_FIRST = re.compile(r"\d{4}\D")  # text of one length whose order is that of time


@dataclass(frozen=True, eq=False)
class Times:
    """When the rows of a table were observed."""

    column: str
    order: np.ndarray  # (n,): numbers, dates, durations, or texts; they are compared
    shown: Any  # (n,), a list or an array: what results and messages call them
    text: bool = False  # whether only letters say what comes first


def times_in(table: TextTable, name: str, types: Mapping[str, Any]) -> Times:
    """The times in the column ``name``; raises ValueError for missing ones."""
    told = {key: kind for key, kind in types.items() if key == name and kind != DROP}  # times are not tested anyway
    labels, place = table.labels(name), table.names.index(name)
    if None in labels:
        line = table.lines[labels.index(None)]
        raise ValueError(f"{table.source}: line {line} has no time in column {name!r}; fill it in, or drop the row")
    cells = [row[place] for row in table.rows]
    exact = whole_numbers(cells) if told.get(name) in (None, "number") else None
    if exact is not None and max(map(abs, exact)) < 2**63:  # nanoseconds, say, which have more digits than floats
        return Times(name, np.array(exact, dtype=np.int64), exact)
    column = table.columns((name,), told).columns[0]
    if column.kind == "date":
        dates = in_longest_unit(column.values)
        return Times(name, dates, [f"{date}Z" for date in dates] if column.zoned else dates)
    if column.kind == "number":
        values = np.asarray(column.values, dtype=np.float64)
        whole = (values == np.round(values)).all() and (np.abs(values) < 2.0**63).all()
        return Times(name, values, (values.astype(np.int64) if whole else values).tolist())
    if column.kind == "time":
        return Times(name, column.values, [cell if cell[2] == ":" else f"0{cell}" for cell in cells])
    if column.kind == "duration":
        return Times(name, column.values, column.values)
    return Times(name, np.array(labels), labels, text=True)


def in_order(table: TextTable, times: Times) -> tuple[TextTable, Times]:
    """The rows in the order of their times; raises ValueError for text whose order need not be that."""
    texts = times.shown
    if times.text and not (len(set(map(len, texts))) == 1 and all(map(_YEAR_FIRST.match, texts))):
        raise ValueError(
            f"--sort: column {times.column!r} of {table.source} holds text, whose order need not be that of time; "
            "write dates as 2024-01-31, or sort the file and leave --time out"
        )
    order = np.argsort(times.order, kind="stable")
    shown = times.shown[order] if isinstance(times.shown, np.ndarray) else [times.shown[i] for i in order]
    table = replace(table, rows=[table.rows[i] for i in order], lines=[table.lines[i] for i in order])
    return table, replace(times, order=times.order[order], shown=shown)


def check_order(table: TextTable, times: Times) -> None:
    """Raise ValueError for the first row that is not later than the one before it, by its line."""
    wrong = np.flatnonzero(~(times.order[:-1] < times.order[1:]))
    if not wrong.size:
        return
    row = int(wrong[0])
    lines = f"lines {table.lines[row]} and {table.lines[row + 1]}"
    if times.order[row] == times.order[row + 1]:
        raise ValueError(
            f"{table.source}: {lines} have the same time, {times.shown[row]}, in column {times.column!r}: rows at one "
            "time have no order; keep one row for each time (their mean, say), or leave --time out if the file is in "
            "order as it is"
        )
    way = "write dates as 2024-01-31" if times.text else "sort the rows with --sort"
    raise ValueError(
        f"{table.source}: {lines} are not in the order of column {times.column!r} ({times.shown[row]} before "
        f"{times.shown[row + 1]}); {way}, or leave --time out if the file is in order as it is"
    )
