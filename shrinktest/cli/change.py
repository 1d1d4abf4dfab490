"""``shrinktest change``."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest import change_point_test, change_points
from shrinktest.cli.input import apart, labels_of, read_table, types_of, variables_from, variables_in
from shrinktest.cli.options import (
    COLUMNS,
    add_kernels,
    add_restrictions,
    add_shift,
    add_test_options,
    arguments,
    refuse,
)
from shrinktest.cli.report import report
from shrinktest.cli.table import TextTable
from shrinktest.cli.values import bandwidth, number, whole
from shrinktest.plots.axes import check_path
from shrinktest.results.kinds import CHANGE
from shrinktest.tables.column import DROP
from shrinktest.tables.text import whole_numbers

_YEAR_FIRST = re.compile(r"\d{4}\D")  # text of one length whose order is that of time


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Does the distribution of successive rows change, and with which row?"
    add_test_options(command, plot="save a picture of the distance at every cut, with the place of the change")
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the rows in order of time; - is standard input")
    add("--columns", metavar="NAMES", help=COLUMNS)
    add("--time", metavar="NAME", help="column with the times of the rows: numbers, dates, or texts in order")
    add("--sort", action="store_true", help="put the rows into the order of --time first")
    add("--several", action="store_true", help="look for several changes, one after the other")
    add("--n-changes", metavar="N", type=whole, help="with --several: stop after so many (default: all that are found)")
    what = "single (default): one cut; epidemic: an interval in which the rows are others than outside"
    add("--change", metavar="KIND", default="single", help=what)
    what = "share of the rows at either end at which no cut is made (default: 0.05)"
    add("--trim", metavar="SHARE", type=number, default=0.05, help=what)
    add(
        "--confidence", metavar="SHARE", type=number, default=0.95, help="of the interval for the place (default: 0.95)"
    )
    add_restrictions(command, CHANGE.name)
    add_shift(command)
    add_kernels(command)


def run(args: argparse.Namespace) -> int:
    """Test whether a series changes; the exit code."""
    table = read_table(args.data, args)
    labels, types = labels_of(args), types_of(args, [table])
    if args.sort and args.time is None:
        raise ValueError("--sort puts rows into the order of --time NAME, which was not given")
    times, zoned = (None, False) if args.time is None else _times(table, args.time, types)
    if times is not None and args.sort:
        if times.dtype.kind == "U" and not (len(set(map(len, times))) == 1 and all(map(_YEAR_FIRST.match, times))):
            raise ValueError(
                f"--sort: column {args.time!r} of {table.source} holds text, whose order need not be that of time; "
                "write dates as 2024-01-31, or sort the file and leave --time out"
            )
        order = np.argsort(times, kind="stable")
        table = replace(table, rows=[table.rows[i] for i in order], lines=[table.lines[i] for i in order])
        times = times[order]
    _check_order(table, args, times)
    beside = {**labels, **({} if args.time is None else {"time": args.time})}
    names = variables_in(table, beside, types) if args.columns is None else table.select(args.columns)
    apart(beside, names, "--columns")
    check_path(args.plot)
    given: dict[str, Any] = {name: table.labels(column) for name, column in labels.items()}
    data = variables_from(table, (names,), types, args)
    shared = {
        "column_types": data.column_types,
        "kernel": args.kernel,
        "bandwidth": bandwidth(args.bandwidth),
        "trim": args.trim,
        "confidence": args.confidence,
        "times": None if times is None else _shown(times, zoned),
        "shift": args.shift,
        **given,
    }
    if args.several:
        refuse(args, ("form",), "several changes")
        if args.change != "single":
            raise ValueError("--several looks for cuts; an interval of change has two of them: leave --change out")
        several = change_points(data.tables[0], n_changes=args.n_changes, **shared, **arguments(args, "form"))
        return report(args, several, several.reject())
    if args.n_changes is not None:
        raise ValueError("--n-changes is for --several; add that, or leave it out")
    result = change_point_test(data.tables[0], change=args.change, **shared, **arguments(args))
    return report(args, result, result.reject())


def _times(table: TextTable, name: str, types: dict[str, Any]) -> tuple[np.ndarray, bool]:
    """Numbers, dates or texts of the column ``name``, and whether they are in universal time.

    Raises
    ------
    ValueError
        For missing ones.
    """
    (name,) = table.select(name)
    told = {key: kind for key, kind in types.items() if key == name and kind != DROP}  # times are not tested anyway
    labels, place = table.labels(name), table.names.index(name)
    if None in labels:
        line = table.lines[labels.index(None)]
        raise ValueError(f"{table.source}: line {line} has no time in column {name!r}; fill it in, or drop the row")
    exact = whole_numbers([row[place] for row in table.rows]) if told.get(name) in (None, "number") else None
    if exact is not None and max(map(abs, exact)) < 2**63:  # nanoseconds, say, which have more digits than floats
        return np.array(exact, dtype=np.int64), False
    column = table.columns((name,), told).columns[0]
    if column.kind == "date":
        days = column.values.astype("datetime64[D]")
        return days if (days == column.values).all() else column.values.astype("datetime64[ms]"), column.zoned
    if column.kind == "number":
        values = np.asarray(column.values, dtype=np.float64)
        return values.astype(np.int64) if (values == np.round(values)).all() else values, False
    return np.array(labels), False


def _check_order(table: TextTable, args: argparse.Namespace, times: np.ndarray | None) -> None:
    """Raise ValueError for the first row that is not later than the one before it, by its line."""
    if times is None:
        return
    wrong = np.flatnonzero(~(times[:-1] < times[1:]))
    if not wrong.size:
        return
    row = int(wrong[0])
    lines = f"lines {table.lines[row]} and {table.lines[row + 1]}"
    if times[row] == times[row + 1]:
        raise ValueError(
            f"{table.source}: {lines} have the same time, {times[row]}, in column {args.time!r}: rows at one "
            "time have no "
            "order; keep one row for each time (their mean, say), or leave --time out if the file is in order as it is"
        )
    way = "write dates as 2024-01-31" if times.dtype.kind == "U" else "sort the rows with --sort"
    raise ValueError(
        f"{table.source}: {lines} are not in the order of column {args.time!r} ({times[row]} before {times[row + 1]}); "
        f"{way}, or leave --time out if the file is in order as it is"
    )


def _shown(times: np.ndarray, zoned: bool) -> Any:
    if zoned:
        return [f"{time}Z" for time in times.astype("datetime64[ms]")]  # whose order is that of the times
    return times if times.dtype.kind == "M" else times.tolist()
