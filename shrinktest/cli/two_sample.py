"""``shrinktest two-sample``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shrinktest import two_sample_test
from shrinktest.cli.batches import add_bins, batches_of, in_batches, refuse_batched
from shrinktest.cli.input import labels_in, labels_of, names_of, read_samples, sample_columns, samples_from, types_of
from shrinktest.cli.options import (
    MISSING,
    PATTERNS,
    add_columns,
    add_effect,
    add_kernels,
    add_restrictions,
    add_shift,
    add_test_options,
    arguments,
    named_estimator,
)
from shrinktest.cli.report import report, save_picture
from shrinktest.cli.values import bandwidth
from shrinktest.data.column import Table
from shrinktest.multiple.ensembles import KernelSpec, is_several
from shrinktest.plots.axes import check_path
from shrinktest.results.info import TWO_SAMPLE


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Do two samples, one observation per row, come from the same distribution (MMD)?"
    add_test_options(command, missing=MISSING)
    add = command.add_argument
    add("first", metavar="A.csv", help=f"the first sample; - is standard input; {PATTERNS}")
    add("second", metavar="B.csv", help="the second sample; - is standard input")
    what = (
        "columns of both files: is there a difference that these do not explain?  Such as age,site; where they miss "
        "values, with --nan-policy omit"
    )
    add("--covariates", metavar="NAMES", help=what)
    what = "auto (default: strata for categories, residuals for numbers), strata or residuals"
    add("--covariate-method", metavar="NAME", default="auto", help=what)
    add_columns(command)
    add_restrictions(command, TWO_SAMPLE.name)
    add_shift(command)
    add_kernels(command)
    add_effect(command)
    add_bins(command)
    add("--witness", metavar="FILE.png", help="save a picture of where the samples differ, with its band")
    add("--coordinates", metavar="NAMES", help="one or two columns to show in it, such as a,b (the others at medians)")


def run(args: argparse.Namespace) -> int:
    """Test whether two samples come from the same distribution; the exit code."""
    (first, second), names, shown, told = (_in_batches if in_batches((args.first, args.second)) else _in_memory)(args)
    result = two_sample_test(
        first,
        second,
        kernel=args.kernel,
        bandwidth=bandwidth(args.bandwidth),
        paired=args.paired,
        shift=args.shift,
        covariate_method=args.covariate_method,
        **told,
        **arguments(args),
    )
    result = replace(result, data=replace(result.data, names=names))
    code = report(args, result, result.reject())
    save_picture(lambda ax: result.plot_witness(ax, coordinates=shown or None), args.witness)
    return code


def _in_batches(args: argparse.Namespace) -> tuple[Sequence[Any], tuple[str, ...], list[str], dict[str, Any]]:
    """Samples that may have more rows than memory, their names, nothing to show, and what the test is told of them."""
    if args.covariates is not None:
        raise ValueError("--covariates are for files that are read whole (CSV), and not for those in batches")
    check_path(args.plot)
    samples = batches_of((args.first, args.second), args)
    names = tuple(samples)
    return [*samples.values()], names, [], {"column_types": args.types, "store": args.store, "names": names}


def _in_memory(args: argparse.Namespace) -> tuple[Sequence[Any], tuple[str, ...], list[str], dict[str, Any]]:
    """Both samples, their names, the columns to show of them, and what the test is told of them."""
    refuse_batched(args, (args.first, args.second))
    files = read_samples([args.first, args.second], args, "two samples")
    labels, types = labels_of(args, files[0]), types_of(args, files)
    z = [] if args.covariates is None else files[0].select(args.covariates)
    names = sample_columns(files, args.columns, labels, types)
    if args.columns is None:
        names = [name for name in names if name not in z]
    check_path(args.witness)
    data = samples_from(files, names, types, args)
    shown = _shown(args, data.tables[0])
    check_path(args.plot)
    conditions = {"covariates": samples_from(files, z, types, args).tables if z else None}
    told = {"column_types": data.column_types, **conditions, **labels_in(files, labels)}
    return data.tables, names_of(files), shown, told


def _shown(args: argparse.Namespace, table: Table) -> list[str]:
    """The columns that a picture of the witness function shows; none where it shows all of them."""
    wanted = [] if args.coordinates is None else [name.strip() for name in args.coordinates.split(",")]
    axes = [column.name for column in table.columns if not column.categorical]
    for name in wanted:
        if name not in axes:
            among = f"which is not among the columns tested that have an axis: {', '.join(axes) or 'none'}"
            raise ValueError(f"--coordinates has {name!r}, {among}")
        if wanted.count(name) > 1:
            raise ValueError(f"--coordinates names {name!r} twice; name one column, or two that differ")
    if args.witness is None:
        if wanted:
            raise ValueError("--coordinates are those of the picture: give --witness FILE.png as well")
        return wanted
    if len(wanted or table.names) not in (1, 2) or (not wanted and len(axes) < len(table.names)):
        raise ValueError(f"--witness: choose one or two to show of {', '.join(axes)}, with --coordinates")
    if is_several(named_estimator(args), [KernelSpec(args.kernel, bandwidth(args.bandwidth))]):
        raise ValueError("--witness is a picture of one statistic: give one estimator, one kernel and one bandwidth")
    return wanted
