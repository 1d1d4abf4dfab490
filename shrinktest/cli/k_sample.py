"""``shrinktest k-sample``."""

from __future__ import annotations

import argparse
from dataclasses import replace

from shrinktest import k_sample_test
from shrinktest.cli.batches import add_bins, batches_of, in_batches, refuse_batched
from shrinktest.cli.input import labels_in, labels_of, names_of, read_samples, sample_columns, samples_from, types_of
from shrinktest.cli.options import (
    COLUMNS,
    PATTERNS,
    add_effect,
    add_kernels,
    add_restrictions,
    add_test_options,
    arguments,
)
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth
from shrinktest.plots.axes import check_path
from shrinktest.results.kinds import K_SAMPLE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Do several samples, one observation per row, come from the same distribution?"
    add_test_options(command)
    add = command.add_argument
    add("samples", metavar="A.csv", nargs="+", help=f"the samples, two files or more; {PATTERNS}")
    add("--columns", metavar="NAMES", help=f"{COLUMNS[:-1]}, matched by name)")
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
    if in_batches(args.samples):
        check_path(args.plot)
        how = {"comparison": args.comparison, "weights": args.weights, "store": args.store}
        kernel = {"kernel": args.kernel, "bandwidth": bandwidth(args.bandwidth), "column_types": args.types}
        result = k_sample_test(*batches_of(args.samples, args), **how, **kernel, **arguments(args))
        result = replace(result, names=tuple(args.samples))
        return report(args, result, result.reject())
    refuse_batched(args, args.samples)
    files = read_samples(args.samples, args, "samples")
    labels, types = labels_of(args), types_of(args, files)
    names = sample_columns(files, args.columns, labels, types)
    check_path(args.plot)
    data = samples_from(files, names, types, args)
    result = k_sample_test(
        *data.tables,
        column_types=data.column_types,
        comparison=args.comparison,
        weights=args.weights,
        kernel=args.kernel,
        bandwidth=bandwidth(args.bandwidth),
        **labels_in(files, labels),
        **arguments(args),
    )
    result = replace(result, names=names_of(files))
    return report(args, result, result.reject())
