"""``shrinktest two-sample``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from shrinktest import two_sample_test
from shrinktest.cli.input import data_columns, labels_in, labels_of, read_samples
from shrinktest.cli.options import add_kernels, add_restrictions, add_test_options, arguments, named_estimator
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth
from shrinktest.multiple.collection import is_several
from shrinktest.plots.axes import check_path, save
from shrinktest.results.kinds import TWO_SAMPLE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Do two samples, one observation per row, come from the same distribution (MMD)?"
    add_test_options(command)
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample; - is standard input")
    add("second", metavar="B.csv", help="the second sample; - is standard input")
    add("--columns", metavar="NAMES", help="such as a,b or 1:13 (default: all, matched by name)")
    add_restrictions(command, TWO_SAMPLE.name)
    add_kernels(command)
    add("--witness", metavar="FILE.png", help="save a picture of where the samples differ, with its band")
    add("--coordinates", metavar="NAMES", help="one or two columns to show in it, such as a,b (the others at medians)")


def run(args: argparse.Namespace) -> int:
    """Test whether two samples come from the same distribution; the exit code."""
    tables = read_samples([args.first, args.second], args.header, "two samples")
    labels = labels_of(args)
    names = data_columns(tables, args.columns, labels)
    check_path(args.witness)
    shown = _shown(args, names)
    check_path(args.plot)
    x, y = (table.numbers(names, args.nan_policy) for table in tables)
    result = two_sample_test(
        x,
        y,
        kernel=args.kernel,
        bandwidth=bandwidth(args.bandwidth),
        paired=args.paired,
        **labels_in(tables, labels),
        **arguments(args),
    )
    code = report(args, result, result.reject())
    if args.witness is not None:
        save(partial(result.plot_witness, **shown), args.witness)
    return code


def _shown(args: argparse.Namespace, names: list[str]) -> dict[str, Any]:
    """What a picture of the witness function is told about the columns."""
    shown: dict[str, Any] = {"names": names}
    if args.coordinates is not None:
        wanted = [name.strip() for name in args.coordinates.split(",")]
        for name in wanted:
            if name not in names:
                among = f"which is not among the columns tested: {', '.join(names)}"
                raise ValueError(f"--coordinates has {name!r}, {among}")
        shown["coordinates"] = [names.index(name) for name in wanted]
    if args.witness is None:
        if args.coordinates is not None:
            raise ValueError("--coordinates are those of the picture: give --witness FILE.png as well")
        return shown
    if len(shown.get("coordinates", names)) not in (1, 2):
        raise ValueError(f"--witness: choose one or two to show of {', '.join(names)}, with --coordinates")
    if is_several(named_estimator(args), args.kernel, bandwidth(args.bandwidth)):
        raise ValueError("--witness is a picture of one statistic: give one estimator, one kernel and one bandwidth")
    return shown
