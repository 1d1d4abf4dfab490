"""``shrinktest closer``."""

from __future__ import annotations

import argparse

from shrinktest import closer_test
from shrinktest._check import choice
from shrinktest.cli.input import (
    labels_of,
    names_without_endings,
    samples_in,
    units_by_variable,
    variables_asked,
    widths_by_variable,
)
from shrinktest.cli.options import COMPLETE, add_columns, add_kernel, add_test_options, arguments, one_bandwidth, refuse
from shrinktest.cli.report import report
from shrinktest.cli.values import number
from shrinktest.plots.axes import check_path
from shrinktest.results.closer import DISTANCE, MEASURES

_REFUSED = ("estimator", "tuning", "form", "resamples", "stopping", "progress")
_SIDES = ("x", "y", "z")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = (
        "Which of two models (simulators, samples) is nearer to what was observed?  Or, with --measure dependence, on "
        "which of two variables does a third depend more?"
    )
    add = command.add_argument
    add("files", metavar="FILE.csv", nargs="+", help="what was observed, and then the models, two or more")
    add_test_options(
        command,
        refused=(*_REFUSED, "set"),
        plot="save a picture of the difference with its interval",
        exits="exit with 1 when one is clearly nearer",
        missing=COMPLETE,
    )
    what = "distance (default); dependence or hsic: of --x on --y and on --z, in one file"
    add("--measure", metavar="WHAT", default=DISTANCE, help=what)
    what = "two-sided (default); less: the first is nearer; greater: the second is"
    add("--alternative", metavar="WHICH", default="two-sided", help=what)
    add("--confidence", metavar="SHARE", type=number, default=0.95, help="of the interval (default: 0.95)")
    what = "of more than two models, how p-values are adjusted: holm (default), fdr_bh, or another of statsmodels"
    add("--method", metavar="NAME", default="holm", help=what)
    add_columns(command)
    for side in _SIDES:
        add(f"--{side}", metavar="NAMES", help="columns of a variable, with --measure dependence or hsic")
    add("--paired", action="store_true", help="row i of all files belong together")
    add("--groups", metavar="NAME", help="column of labels: rows with one label belong together")
    add_kernel(command)


def run(args: argparse.Namespace) -> int:
    """Say which model is nearer; the exit code."""
    refuse(args, (*_REFUSED, "set"), "closer")
    measure = choice(args.measure, MEASURES, "measure")
    check_path(args.plot)
    given = {**arguments(args, "estimator", "n_resamples", "stopping", "form", "progress"), "paired": args.paired}
    given |= {"measure": measure, "confidence": args.confidence, "alternative": args.alternative, "method": args.method}
    given |= {"kernel": args.kernel, "bandwidth": one_bandwidth(args)}
    if measure == DISTANCE:
        if len(args.files) < 3:
            raise ValueError("give three files or more: what was observed, and then the models")
        for side in _SIDES:
            if getattr(args, side) is not None:
                raise ValueError(f"--{side} is for --measure dependence; give --columns, or leave it out")
        files, data, labels = samples_in(args.files, args, "samples")
        given |= labels
        names = names_without_endings(files)
    else:
        if len(args.files) != 1 or any(getattr(args, side) is None for side in _SIDES):
            raise ValueError(f"--measure {measure} takes one file, with columns for --x, --y and --z")
        if args.columns is not None:
            raise ValueError("--columns is for --measure distance; give --x, --y and --z")
        file, data = variables_asked(args.files[0], args, _SIDES)
        names = tuple(", ".join(table.names) for table in data.tables)
        given |= {name: file.labels(column) for name, column in labels_of(args, file).items()}
        given["scale"] = units_by_variable(args.scale, data.sizes)
        if isinstance(given["bandwidth"], dict | tuple):
            given["bandwidth"] = widths_by_variable(given["bandwidth"], data.tables, data.sizes)
    x, *candidates = data.tables
    result = closer_test(x, *candidates, names=names, column_types=data.column_types, **given)
    return report(args, result, result.reject())
