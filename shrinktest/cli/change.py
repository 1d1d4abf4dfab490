"""``shrinktest change``."""

from __future__ import annotations

import argparse
from typing import Any

from shrinktest import change_point_test, change_points
from shrinktest.cli.input import apart, column_of, labels_of, read_table, types_of, variables_from, variables_in
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
from shrinktest.cli.times import check_order, in_order, times_in
from shrinktest.cli.values import bandwidth, number, whole
from shrinktest.plots.axes import check_path
from shrinktest.results.info import CHANGE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Does the distribution of successive rows change, and with which row?"
    add_test_options(command, plot="save a picture of the distance at every cut, with the place of the change")
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the rows in order of time; - is standard input")
    add("--columns", metavar="NAMES", help=COLUMNS)
    add(
        "--time",
        metavar="NAME",
        help="column with the times of the rows: numbers, dates, times of day, or texts in order",
    )
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
    labels, types = labels_of(args, table), types_of(args, [table])
    if args.sort and args.time is None:
        raise ValueError("--sort puts rows into the order of --time NAME, which was not given")
    times = None if args.time is None else times_in(table, column_of(table, args.time, "--time"), types)
    if times is not None:
        if args.sort:
            table, times = in_order(table, times)
        check_order(table, times)
    beside = {**labels, **({} if times is None else {"time": times.column})}
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
        "times": None if times is None else times.shown,
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
