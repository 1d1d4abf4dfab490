"""``shrinktest joint``."""

from __future__ import annotations

import argparse

from shrinktest import joint_independence_test
from shrinktest.cli.input import (
    read_table,
    types_of,
    units_by_variable,
    variables_from,
    variables_in,
    widths_by_variable,
)
from shrinktest.cli.options import add_kernel, add_test_options, arguments, one_bandwidth, refuse
from shrinktest.cli.report import report
from shrinktest.plots.axes import check_path

#: Options of all tests that this one has no use for.
REFUSED = ("form", "gram", "rank")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Are several variables, observed together in every row, jointly independent (dHSIC)?"
    add_test_options(command, refused=REFUSED)
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    what = "columns of one variable, such as a,b; may be repeated (default: every column is a variable)"
    add("--variable", metavar="NAMES", action="append", help=what)
    add_kernel(command, each="variable")


def run(args: argparse.Namespace) -> int:
    """Test whether several variables are jointly independent; the exit code."""
    refuse(args, REFUSED, "joint")
    table = read_table(args.data, args)
    types = types_of(args, [table])
    single = [[name] for name in variables_in(table, {}, types)]
    variables = single if args.variable is None else list(map(table.select, args.variable))
    if len(variables) < 2:
        raise ValueError("give two variables or more: one --variable for each, or none for every column")
    listed = [name for names in variables for name in names]
    for name in listed:
        if listed.count(name) > 1:
            raise ValueError(f"column {name!r} is in more than one --variable; nothing is independent of itself")
    check_path(args.plot)
    data = variables_from(table, variables, types, args)
    width = one_bandwidth(args)
    result = joint_independence_test(
        *data.tables,
        column_types=data.column_types,
        kernels=args.kernel,
        bandwidths=widths_by_variable(width, data.tables, data.sizes) if isinstance(width, dict) else width,
        scale=units_by_variable(args.scale, data.sizes),
        **arguments(args, *REFUSED, "scale"),
    )
    return report(args, result, result.reject())
