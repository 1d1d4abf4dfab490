"""``shrinktest equivalence``."""

from __future__ import annotations

import argparse
from typing import Any

from shrinktest import EquivalenceResult, equivalence_test
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
from shrinktest.multiple.collection import is_several
from shrinktest.plots.axes import check_path
from shrinktest.results.equivalence import AUC, DEPENDENCE, SCALES
from shrinktest.results.kinds import TWO_SAMPLE

_REFUSED = ("form", "resamples", "stopping", "progress")
_OF_FUNCTIONS = ("estimator", "set", "tuning")
_SIDES = ("x", "y")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = (
        "Are two samples practically the same?  Or, with --on dependence, are two variables of one file practically "
        "independent?  The test rejects where the difference is shown to be below the margin."
    )
    add = command.add_argument
    add("files", metavar="FILE.csv", nargs="+", help="the two samples, or one file with --on dependence")
    add_test_options(
        command,
        refused=_REFUSED,
        plot="save a picture of the estimate with its upper limit, beside the margin",
        exits="exit with 1 unless the difference is shown to be below the margin",
        missing=COMPLETE,
        several=False,
    )
    what = "how large a difference does not matter: a number on the scale of --on, or a change such as 'shift 0.2'"
    add("--margin", metavar="MARGIN", type=number_or_word, help=what)
    what = (
        "distance (from 0 to 1), auc (how well a function tells the samples apart, from .5 to 1), or dependence (of "
        "--x and --y, from 0 to 1)"
    )
    add("--on", metavar="SCALE", help=what)
    add("--folds", metavar="N", type=whole, help="with --on auc, of the cross-fitting (default: 5)")
    add_columns(command)
    for side in _SIDES:
        add(f"--{side}", metavar="NAMES", help="columns of a variable, with --on dependence")
    add_restrictions(command, TWO_SAMPLE.name)
    add_kernel(command)


def run(args: argparse.Namespace) -> int:
    """Say whether a difference is below the margin; the exit code."""
    refuse(args, _REFUSED, "equivalence")
    if args.margin is None or args.on is None:
        raise ValueError(
            "give --margin, how large a difference does not matter, and --on, the scale that it is on: such as "
            "--margin 0.05 --on distance"
        )
    choice(args.on, SCALES, "on")
    check_path(args.plot)
    if args.on != AUC:
        refuse(args, _OF_FUNCTIONS, f"--on {args.on}, whose estimate is unbiased")
    given = arguments(args, "n_resamples", "stopping", "form", "progress")
    given["units"] = given.pop("scale")
    given["estimator"] = given["estimator"] if args.on == AUC else None
    if is_several(given["estimator"]):
        raise ValueError("--estimator is one in equivalence, which combines none; give one name")
    if args.folds is not None:
        if args.on != AUC:
            raise ValueError("--folds is of the cross-fitting, with --on auc; leave it out")
        given["folds"] = args.folds
    given["rng"] = 0 if args.seed is None else args.seed
    given |= {"margin": args.margin, "scale": args.on, "paired": args.paired}
    given |= {"kernel": args.kernel, "bandwidth": one_bandwidth(args)}
    result = _variables(args, given) if args.on == DEPENDENCE else _samples(args, given)
    return report(args, result, not result.equivalent)


def _samples(args: argparse.Namespace, given: dict[str, Any]) -> EquivalenceResult:
    """The test of two files."""
    if len(args.files) != 2:
        raise ValueError(f"--on {args.on} compares two files, one for each sample; got {len(args.files)}")
    for side in _SIDES:
        if getattr(args, side) is not None:
            raise ValueError(f"--{side} is for --on dependence; give --columns, or leave it out")
    files, data, labels = samples_in(args.files, args, "two samples")
    first, second = names_without_endings(files)
    given |= {"column_types": data.column_types, "names": (first, second), **labels}
    return equivalence_test(data.tables[0], data.tables[1], **given)


def _variables(args: argparse.Namespace, given: dict[str, Any]) -> EquivalenceResult:
    """The test of two variables of one file."""
    if len(args.files) != 1 or any(getattr(args, side) is None for side in _SIDES):
        raise ValueError(
            "--on dependence is about variables of one file: give the file, and their columns with --x and --y"
        )
    if args.columns is not None:
        raise ValueError("--columns is for samples; give --x and --y")
    file, data = variables_asked(args.files[0], args, _SIDES)
    given |= {name: file.labels(column) for name, column in labels_of(args, file).items()}
    given["units"] = units_by_variable(args.scale, data.sizes)
    if isinstance(given["bandwidth"], dict | tuple):
        given["bandwidth"] = widths_by_variable(given["bandwidth"], data.tables, data.sizes)
    one, other = data.tables
    named = ", ".join(one.names), ", ".join(other.names)
    return equivalence_test(one, other, names=named, column_types=data.column_types, **given)
