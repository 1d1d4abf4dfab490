"""``shrinktest columns``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from shrinktest import two_sample_test_columns
from shrinktest.cli.batches import add_bins, batches_of, in_batches, refuse_batched
from shrinktest.cli.input import samples_in
from shrinktest.cli.options import (
    PATTERNS,
    add_columns,
    add_kernel,
    add_method,
    add_restrictions,
    add_tests_options,
    arguments,
    one_bandwidth,
    refuse,
)
from shrinktest.cli.report import report
from shrinktest.plots.axes import check_path
from shrinktest.results.info import TWO_SAMPLE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "A two-sample test for every column, adjusted for their number."
    add_tests_options(command)
    add = command.add_argument
    add("first", metavar="A.csv", help=f"the first sample; - is standard input; {PATTERNS}")
    add("second", metavar="B.csv", help="the second sample")
    add_columns(command)
    add_method(command)
    add_restrictions(command, TWO_SAMPLE.name)
    add_kernel(command)
    add_bins(command)


def run(args: argparse.Namespace) -> int:
    """Test in which columns two samples differ; the exit code."""
    refuse(args, ("stopping",), "columns")
    check_path(args.plot)
    (first, second), told = (_in_batches if in_batches((args.first, args.second)) else _in_memory)(args)
    result = two_sample_test_columns(
        first,
        second,
        method=args.method,
        kernel=args.kernel,
        bandwidth=one_bandwidth(args),
        paired=args.paired,
        **told,
        **arguments(args, "stopping"),
    )
    return report(args, result, bool(result.reject().any()))


def _in_batches(args: argparse.Namespace) -> tuple[Sequence[Any], dict[str, Any]]:
    """Samples that may have more rows than memory, and what the test is told of them."""
    samples = batches_of((args.first, args.second), args)
    return [*samples.values()], {"column_types": args.types, "store": args.store}


def _in_memory(args: argparse.Namespace) -> tuple[Sequence[Any], dict[str, Any]]:
    """Both samples, and what the test is told of them."""
    refuse_batched(args, (args.first, args.second))
    _, data, labels = samples_in([args.first, args.second], args, "two samples")
    return data.tables, {"column_types": data.column_types, **labels}
