"""``shrinktest equivalence``."""

from __future__ import annotations

import argparse

from shrinktest import equivalence_test
from shrinktest._check import choice
from shrinktest.cli.input import (
    labels_of,
    names_without_endings,
    samples_in,
    units_by_variable,
    variables_asked,
    widths_by_variable,
)
from shrinktest.cli.options import (
    COMPLETE,
    add_columns,
    add_kernel,
    add_restrictions,
    add_test_options,
    arguments,
    one_bandwidth,
    refuse,
)
from shrinktest.cli.report import report
from shrinktest.cli.values import number_or_word, whole
from shrinktest.equivalence import AUC, DEPENDENCE, MEASURES
from shrinktest.plots.axes import check_path
from shrinktest.results.info import TWO_SAMPLE

_REFUSED = ("form", "resamples", "stopping", "progress")
_OF_FUNCTIONS = ("estimator", "set", "tuning")
_SIDES = ("x", "y")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = (
        "Are two samples practically the same?  Or, with --measure dependence, two variables of one file practically "
        "independent?  The test rejects where the difference is shown to be below the margin."
    )
    add = command.add_argument
    add("files", metavar="FILE.csv", nargs="+", help="the two samples, or one file with --measure dependence")
    add_test_options(
        command,
        refused=_REFUSED,
        plot="save a picture of the estimate with its upper limit, beside the margin",
        exits="exit with 1 unless the difference is shown to be below the margin",
        missing=COMPLETE,
        several=False,
    )
    what = "how large a difference does not matter: a number on the scale of --measure, or a change such as 'shift 0.2'"
    add("--margin", metavar="MARGIN", type=number_or_word, help=what)
    what = (
        "distance (from 0 to 1), auc (how well a function tells the samples apart, from .5 to 1), or dependence (of "
        "--x and --y, from 0 to 1)"
    )
    add("--measure", metavar="WHAT", help=what)
    add("--folds", metavar="N", type=whole, help="with --measure auc, of the cross-fitting (default: 5)")
    add_columns(command)
    for side in _SIDES:
        add(f"--{side}", metavar="NAMES", help="columns of a variable, with --measure dependence")
    add_restrictions(command, TWO_SAMPLE.name)
    add_kernel(command)


def run(args: argparse.Namespace) -> int:
    """Say whether a difference is below the margin; the exit code."""
    refuse(args, _REFUSED, "equivalence")
    if args.margin is None or args.measure is None:
        raise ValueError("give --margin and --measure, such as --margin 0.05 --measure distance")
    measure = choice(args.measure, MEASURES, "measure")
    check_path(args.plot)
    if measure != AUC:
        refuse(args, _OF_FUNCTIONS, f"--measure {measure}, whose estimate is unbiased")
    given = arguments(args, "n_resamples", "stopping", "form", "progress")
    given["estimator"] = given["estimator"] if measure == AUC else None
    given |= {"margin": args.margin, "measure": measure, "folds": args.folds, "paired": args.paired}
    given |= {"kernel": args.kernel, "bandwidth": one_bandwidth(args), "rng": 0 if args.seed is None else args.seed}
    if measure == DEPENDENCE:
        if len(args.files) != 1 or args.x is None or args.y is None:
            raise ValueError("--measure dependence takes one file, with columns for --x and --y")
        if args.columns is not None:
            raise ValueError("--columns is for samples; give --x and --y")
        file, data = variables_asked(args.files[0], args, _SIDES)
        given |= {name: file.labels(column) for name, column in labels_of(args, file).items()}
        given["scale"] = units_by_variable(args.scale, data.sizes)
        if isinstance(given["bandwidth"], dict | tuple):
            given["bandwidth"] = widths_by_variable(given["bandwidth"], data.tables, data.sizes)
        names = tuple(", ".join(table.names) for table in data.tables)
    else:
        if len(args.files) != 2:
            raise ValueError(f"--measure {measure} compares two files; got {len(args.files)}")
        for side in _SIDES:
            if getattr(args, side) is not None:
                raise ValueError(f"--{side} is for --measure dependence; give --columns, or leave it out")
        files, data, labels = samples_in(args.files, args, "two samples")
        given |= labels
        names = names_without_endings(files)
    x, y = data.tables
    result = equivalence_test(x, y, names=list(names), column_types=data.column_types, **given)
    return report(args, result, not result.equivalent)
