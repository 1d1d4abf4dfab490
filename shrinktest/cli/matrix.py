"""``shrinktest matrix``."""

from __future__ import annotations

import argparse
from typing import Any

from shrinktest import independence_matrix
from shrinktest.cli.input import (
    apart,
    different,
    given_columns,
    labels_of,
    read_table,
    types_of,
    units_by_variable,
    variables_from,
    variables_in,
    widths_by_variable,
)
from shrinktest.cli.options import (
    COLUMNS,
    add_given,
    add_kernel,
    add_method,
    add_restrictions,
    add_tests_options,
    arguments,
    one_bandwidth,
    refuse,
)
from shrinktest.cli.report import report
from shrinktest.matrix import OTHERS
from shrinktest.plots.axes import check_path
from shrinktest.results.info import INDEPENDENCE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "An independence test for every pair of columns, adjusted for their number."
    add_tests_options(command)
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    add("--x", metavar="NAMES", help=COLUMNS)
    add("--y", metavar="NAMES", help="test those of --x against these (default: against each other)")
    add_method(command)
    add_given(command, ", or others: every two columns given all the others")
    add_restrictions(command, INDEPENDENCE.name)
    add_kernel(command)


def run(args: argparse.Namespace) -> int:
    """Test which columns depend on which; the exit code."""
    refuse(args, ("stopping",), "matrix")
    table = read_table(args.data, args)
    labels, types = labels_of(args, table), types_of(args, [table])
    others = args.given == OTHERS and OTHERS not in table.names
    z = [] if others else given_columns(table, args)
    x = [one for one in variables_in(table, labels, types) if one not in z] if args.x is None else table.select(args.x)
    y = None if args.y is None else table.select(args.y)
    if y is not None and args.x is None:
        x = [name for name in x if name not in y]
    if not x:
        taking = "--given" if y is None else "--y" if not z else "--y and --given together"
        raise ValueError(f"no column is left to test: {taking} names all of them; name fewer")
    apart(labels, [*x, *(y or ())], "--x or --y")
    different(x, y or [])
    check_path(args.plot)
    given: dict[str, Any] = {name: table.labels(column) for name, column in labels.items()}
    data = variables_from(table, [one for one in (x, y, z) if one], types, args)
    tested = 1 if y is None else 2
    widths = widths_by_variable(one_bandwidth(args), data.tables[:tested], data.sizes[:tested])
    given |= dict(zip(("bandwidth_x", "bandwidth_y"), widths, strict=False))
    given["scale"] = args.scale if y is None else units_by_variable(args.scale, data.sizes[:2])
    result = independence_matrix(
        data.tables[0],
        None if y is None else data.tables[1],
        given=OTHERS if others else data.tables[-1] if z else None,
        given_method=args.given_method,
        column_types=data.column_types,
        method=args.method,
        kernel_x=args.kernel,
        shift=args.shift,
        **given,
        **arguments(args, "stopping", "scale"),
    )
    return report(args, result, bool(result.reject().any()))
