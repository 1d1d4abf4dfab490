"""Options of the commands for more than two, for many columns, and for calibration."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add_several(commands: Any, shared: dict[str, Any], kernel: Callable[[argparse.ArgumentParser, str], None]) -> None:
    """Add the commands; ``shared`` has the options of all tests, ``kernel`` adds those of a kernel."""
    many = "such as a,b or 1:13 (default: all)"
    command = commands.add_parser(
        "k-sample",
        help="do several samples come from the same distribution?",
        description="Do several samples, one observation per row, come from the same distribution?",
        **shared,
    )
    add = command.add_argument
    add("samples", metavar="A.csv", nargs="+", help="the samples, two files or more")
    add("--columns", metavar="NAMES", help=f"{many[:-1]}, matched by name)")
    add("--comparison", metavar="HOW", default="pairs", help="pairs (default), or pooled: each sample with all")
    add("--weights", metavar="HOW", default="sizes", help="sizes (default): large samples count more; or equal")
    kernel(command, "")

    command = commands.add_parser(
        "joint",
        help="are several variables jointly independent?",
        description="Are several variables, observed together in every row, jointly independent (dHSIC)?",
        **shared,
    )
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    what = "columns of one variable, such as a,b; may be repeated (default: every column is a variable)"
    add("--variable", metavar="NAMES", action="append", help=what)
    kernel(command, "")

    method = "westfall-young (default), holm, fdr_bh, or another of statsmodels' multipletests"
    command = commands.add_parser(
        "columns",
        help="in which columns do two samples differ?",
        description="A two-sample test for every column, adjusted for their number.",
        **shared,
    )
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample; - is standard input")
    add("second", metavar="B.csv", help="the second sample")
    add("--columns", metavar="NAMES", help=f"{many[:-1]}, matched by name)")
    add("--method", metavar="NAME", default="westfall-young", help=method)
    kernel(command, "")

    command = commands.add_parser(
        "matrix",
        help="which columns depend on which?",
        description="An independence test for every pair of columns, adjusted for their number.",
        **shared,
    )
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    add("--x", metavar="NAMES", help=many)
    add("--y", metavar="NAMES", help="test those of --x against these (default: against each other)")
    add("--method", metavar="NAME", default="westfall-young", help=method)
    kernel(command, "")

    command = commands.add_parser(
        "calibrate",
        help="does a test keep its level on data like these?",
        description="Realised level of a test on relabelled versions of the data: two samples in two files, or two "
        "variables (--x and --y) in one.",
        **shared,
    )
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample, or the pairs; - is standard input")
    add("second", metavar="B.csv", nargs="?", help="the second sample")
    for variable in "xy":
        add(f"--{variable}", metavar="NAMES", help=f"columns of the variable {variable}, where there is one file")
    what = "a function (X, Y) -> p-value, such as mine:pipeline (default: the test of this package with --estimator)"
    add("--test", metavar="MODULE:FUNCTION", help=what)
    add("--trials", metavar="N", type=int, default=1000, help="relabelled data sets (default: 1000)")
    kernel(command, "")
