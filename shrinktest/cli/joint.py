"""``shrinktest joint``."""

from __future__ import annotations

import argparse

from shrinktest import joint_independence_test
from shrinktest.cli.input import read_table
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
    add_kernel(command)


def run(args: argparse.Namespace) -> int:
    """Test whether several variables are jointly independent; the exit code."""
    refuse(args, REFUSED, "joint")
    table = read_table(args.data, args.header)
    variables = [[name] for name in table.names] if args.variable is None else list(map(table.select, args.variable))
    if len(variables) < 2:
        raise ValueError("give two variables or more: one --variable for each, or none for every column")
    listed = [name for names in variables for name in names]
    for name in listed:
        if listed.count(name) > 1:
            raise ValueError(f"column {name!r} is in more than one --variable; nothing is independent of itself")
    check_path(args.plot)
    result = joint_independence_test(
        *(table.numbers(names, args.nan_policy) for names in variables),
        kernels=args.kernel,
        bandwidths=one_bandwidth(args),
        **arguments(args, *REFUSED),
    )
    return report(args, result, result.reject())
