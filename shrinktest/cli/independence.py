"""``shrinktest independence``."""

from __future__ import annotations

import argparse
import re
from typing import Any

import numpy as np

from shrinktest import independence_test
from shrinktest.cli.batches import add_store, in_batches, pairs_in, refuse_batched
from shrinktest.cli.input import (
    PACKAGED,
    apart,
    different,
    given_columns,
    labels_of,
    read_table,
    types_of,
    units_by_variable,
    variables_from,
    variables_in,
    without_dropped,
)
from shrinktest.cli.options import (
    PATTERNS,
    add_effect,
    add_given,
    add_kernels,
    add_restrictions,
    add_test_options,
    arguments,
)
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth, lags
from shrinktest.plots.axes import check_path
from shrinktest.results.info import INDEPENDENCE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Are two variables, observed together in every row, independent (HSIC)?"
    add_test_options(command)
    add = command.add_argument
    packaged = ", ".join(PACKAGED)
    what = f"the observations; - is standard input, {packaged} comes with the package; {PATTERNS}"
    add("data", metavar="DATA.csv", help=what)
    for variable in "xy":
        what = f"columns of the variable {variable}, such as a,b or 2:5 (default where there are two: one each)"
        add(f"--{variable}", metavar="NAMES", help=what)
    add_given(command)
    add_restrictions(command, INDEPENDENCE.name)
    for variable in "xy":
        add_kernels(command, f"-{variable}")
    add_effect(command)
    add_store(command)
    what = "with --shift circular: a test at every lag, such as -5:5; at lag k, row t of x meets row t + k of y"
    add("--lags", metavar="LAGS", type=lags, help=what)
    # argparse takes a word such as -5:5 for an option, unless it looks like a negative number
    command._negative_number_matcher = re.compile(r"^-\d+(?:[:,]-?\d+)*$|^-\d*\.\d+$")


def run(args: argparse.Namespace) -> int:
    """Test whether two variables are independent; the exit code."""
    check_path(args.plot)
    x, y, told = _in_batches(args) if in_batches([args.data]) else _in_memory(args)
    result = independence_test(
        x,
        y,
        kernel_x=args.kernel_x,
        kernel_y=args.kernel_y,
        bandwidth_x=bandwidth(args.bandwidth_x),
        bandwidth_y=bandwidth(args.bandwidth_y),
        shift=args.shift,
        lags=args.lags,
        given_method=args.given_method,
        **told,
        **arguments(args, "scale"),
    )
    if args.lags is not None and args.effect:
        raise ValueError("--effect is of one test; leave --lags out")
    return report(args, result, bool(np.any(result.reject())))


def _in_batches(args: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """Both variables of files that do not fit in memory."""
    if args.given is not None:
        raise ValueError(f"--given is not for files that are read in batches ({args.data}); leave it out")
    x, y = pairs_in(args.data, args)
    units = units_by_variable(args.scale, [len(without_dropped(one.columns or (), args.types or {})) for one in (x, y)])
    return x, y, {"column_types": args.types, "store": args.store, "scale": units}


def _in_memory(args: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """Both variables, and what the test is told of them."""
    refuse_batched(args, [args.data])
    table = read_table(args.data, args)
    labels, types = labels_of(args, table), types_of(args, [table])
    z = given_columns(table, args)
    variables = [name for name in variables_in(table, labels, types) if name not in z]
    if (args.x is None) != (args.y is None) or (args.x is None and len(variables) != 2):
        raise ValueError(
            f"say which columns to test with both --x and --y; {table.source} has {', '.join(table.names)}"
        )
    x, y = ([name] for name in variables) if args.x is None else map(table.select, (args.x, args.y))
    different(x, y)
    apart(labels, [*x, *y, *z], "--x, --y or --given")
    given: dict[str, Any] = {name: table.labels(column) for name, column in labels.items()}
    data = variables_from(table, (x, y, z) if z else (x, y), types, args)
    given |= {"given": data.tables[2] if z else None, "scale": units_by_variable(args.scale, data.sizes[:2])}
    return data.tables[0], data.tables[1], {"column_types": data.column_types, **given}
