"""Options of the commands for more than two, for many columns, and for calibration."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Adds = Callable[[argparse.ArgumentParser, str], None]


def add_several(
    commands: Any, shared: Callable[..., dict[str, Any]], kernel: Adds, kernels: Adds, design: Adds
) -> None:
    """Add the commands; ``shared`` has the options of all tests, as the command says them.

    ``kernel`` adds those of one kernel, ``kernels`` of several, ``design`` those of the design of the data.
    """
    names = "such as a,b or 1:13 (default: all)"
    command = commands.add_parser(
        "k-sample",
        help="do several samples come from the same distribution?",
        description="Do several samples, one observation per row, come from the same distribution?",
        **shared(combines=False),
    )
    add = command.add_argument
    add("samples", metavar="A.csv", nargs="+", help="the samples, two files or more")
    add("--columns", metavar="NAMES", help=f"{names[:-1]}, matched by name)")
    add("--comparison", metavar="HOW", default="pairs", help="pairs (default), or pooled: each sample with all")
    add("--weights", metavar="HOW", default="sizes", help="sizes (default): large samples count more; or equal")
    design(command, "k-sample")
    kernel(command, "")

    command = commands.add_parser(
        "joint",
        help="are several variables jointly independent?",
        description="Are several variables, observed together in every row, jointly independent (dHSIC)?",
        **shared(combines=False, refused=("--gram", "--rank", "--statistic")),
    )
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    what = "columns of one variable, such as a,b; may be repeated (default: every column is a variable)"
    add("--variable", metavar="NAMES", action="append", help=what)
    kernel(command, "")

    heat, any_rejects = "save a heat map of the adjusted p-values", "exit with 1 when any test rejects"
    many = shared(combines=False, refused=("--stopping",), plot=heat, exits=any_rejects)
    method = "westfall-young (default), holm, fdr_bh, or another of statsmodels' multipletests"
    command = commands.add_parser(
        "columns",
        help="in which columns do two samples differ?",
        description="A two-sample test for every column, adjusted for their number.",
        **many,
    )
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample; - is standard input")
    add("second", metavar="B.csv", help="the second sample")
    add("--columns", metavar="NAMES", help=f"{names[:-1]}, matched by name)")
    add("--method", metavar="NAME", default="westfall-young", help=method)
    design(command, "two-sample")
    kernel(command, "")

    command = commands.add_parser(
        "matrix",
        help="which columns depend on which?",
        description="An independence test for every pair of columns, adjusted for their number.",
        **many,
    )
    add = command.add_argument
    add("data", metavar="DATA.csv", help="the observations; - is standard input")
    add("--x", metavar="NAMES", help=names)
    add("--y", metavar="NAMES", help="test those of --x against these (default: against each other)")
    add("--method", metavar="NAME", default="westfall-young", help=method)
    design(command, "independence")
    kernel(command, "")

    command = commands.add_parser(
        "calibrate",
        help="does a test keep its level on data like these?",
        description="Realised level of a test on relabelled versions of the data: two samples in two files, or two "
        "variables (--x and --y) in one.",
        **shared(plot="save a picture of the p-values", exits="exit with 1 when it rejects too often at any level"),
    )
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample, or the pairs; - is standard input")
    add("second", metavar="B.csv", nargs="?", help="the second sample")
    for variable in "xy":
        add(f"--{variable}", metavar="NAMES", help=f"columns of the variable {variable}, where there is one file")
    what = "a function (X, Y) -> p-value, such as mine:pipeline (default: the test of this package with --estimator)"
    add("--test", metavar="MODULE:FUNCTION", help=what)
    add("--trials", metavar="N", type=int, default=1000, help="relabelled data sets (default: 1000)")
    design(command, "either")
    kernels(command, "")
