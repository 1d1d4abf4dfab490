"""``shrinktest k-sample``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shrinktest import k_sample_test
from shrinktest.cli.batches import add_bins, batches_of, in_batches, refuse_batched
from shrinktest.cli.input import names_of, samples_in
from shrinktest.cli.options import (
    PATTERNS,
    add_columns,
    add_effect,
    add_kernels,
    add_restrictions,
    add_test_options,
    arguments,
)
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth
from shrinktest.plots.axes import check_path
from shrinktest.results.info import K_SAMPLE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Do several samples, one observation per row, come from the same distribution?"
    add_test_options(command)
    add = command.add_argument
    add("samples", metavar="A.csv", nargs="+", help=f"the samples, two files or more; {PATTERNS}")
    add_columns(command)
    add("--comparison", metavar="HOW", default="pairs", help="pairs (default), or pooled: each sample with all")
    add("--weights", metavar="HOW", default="sizes", help="sizes (default): large samples count more; or equal")
    add_restrictions(command, K_SAMPLE.name)
    add_kernels(command)
    add_effect(command)
    add_bins(command)


def run(args: argparse.Namespace) -> int:
    """Test whether several samples come from the same distribution; the exit code."""
    if len(args.samples) < 2:
        raise ValueError("give two files or more, one for each sample")
    check_path(args.plot)
    samples, names, told = (_in_batches if in_batches(args.samples) else _in_memory)(args)
    result = k_sample_test(
        *samples,
        comparison=args.comparison,
        weights=args.weights,
        kernel=args.kernel,
        bandwidth=bandwidth(args.bandwidth),
        **told,
        **arguments(args),
    )
    result = replace(result, data=replace(result.data, names=names))
    return report(args, result, result.reject())


def _in_batches(args: argparse.Namespace) -> tuple[Sequence[Any], tuple[str, ...], dict[str, Any]]:
    """Samples that may have more rows than memory, their names, and what the test is told of them."""
    samples = batches_of(args.samples, args)
    return [samples], tuple(samples), {"column_types": args.types, "store": args.store}


def _in_memory(args: argparse.Namespace) -> tuple[Sequence[Any], tuple[str, ...], dict[str, Any]]:
    """All samples, their names, and what the test is told of them."""
    refuse_batched(args, args.samples)
    files, data, labels = samples_in(args.samples, args, "samples")
    return data.tables, names_of(files), {"column_types": data.column_types, **labels}
