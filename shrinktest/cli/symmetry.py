"""``shrinktest symmetry``."""

from __future__ import annotations

import argparse

from shrinktest import symmetry_test
from shrinktest.cli.input import read_table, types_of, variables_from, variables_in
from shrinktest.cli.options import COLUMNS, add_kernels, add_test_options, arguments
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth, list_of
from shrinktest.plots.axes import check_path


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Is a distribution symmetric about a point (random sign flips)?"
    add_test_options(command)
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    add("--columns", metavar="NAMES", help=COLUMNS)
    what = "the point: a number for all columns (default: 0), or one per column such as 0.5,2"
    add("--about", metavar="POINT", type=list_of(float), default=0.0, help=what)
    add_kernels(command)


def run(args: argparse.Namespace) -> int:
    """Test whether a distribution is symmetric; the exit code."""
    table = read_table(args.data, args)
    types = types_of(args, [table])
    names = variables_in(table, {}, types) if args.columns is None else table.select(args.columns)
    check_path(args.plot)
    data = variables_from(table, (names,), types, args)
    result = symmetry_test(
        data.tables[0],
        about=args.about,
        column_types=data.column_types,
        kernel=args.kernel,
        bandwidth=bandwidth(args.bandwidth),
        **arguments(args),
    )
    return report(args, result, result.reject())
