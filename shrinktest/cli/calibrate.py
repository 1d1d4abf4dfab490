"""``shrinktest calibrate``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from shrinktest import calibrate, independence_test, two_sample_test
from shrinktest._validate import level
from shrinktest.cli.input import apart, data_columns, labels_in, labels_of, read_samples, read_table
from shrinktest.cli.options import DEFAULTS, add_kernels, add_restrictions, add_test_options, arguments, refuse
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth
from shrinktest.plots.axes import check_path
from shrinktest.results.kinds import INDEPENDENCE, KINDS, TWO_SAMPLE

#: Each kind of test that can be calibrated, and the test of this package.
_TESTS: dict[str, Callable[..., Any]] = {TWO_SAMPLE.name: two_sample_test, INDEPENDENCE.name: independence_test}


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = (
        "Realised level of a test on relabelled versions of the data: two samples in two files, or two variables "
        "(--x and --y) in one."
    )
    exits = "exit with 1 when it rejects too often at any level"
    add_test_options(command, plot="save a picture of the p-values", exits=exits)
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample, or the pairs; - is standard input")
    add("second", metavar="B.csv", nargs="?", help="the second sample")
    for variable in "xy":
        add(f"--{variable}", metavar="NAMES", help=f"columns of the variable {variable}, where there is one file")
    what = "a function (X, Y) -> p-value, such as mine:pipeline (default: the test of this package with --estimator)"
    add("--test", metavar="MODULE:FUNCTION", help=what)
    add("--trials", metavar="N", type=int, default=1000, help="relabelled data sets (default: 1000)")
    add_restrictions(command, *_TESTS)
    add_kernels(command)


def run(args: argparse.Namespace) -> int:
    """Find the level of a test on data like these; the exit code."""
    check_path(args.plot)
    kind = INDEPENDENCE.name if args.second is None else TWO_SAMPLE.name
    data, told = (_variables if args.second is None else _samples)(args)
    told |= {name: given for name in ("paired", "shift") if (given := getattr(args, name))}
    for name in told:
        if name not in KINDS[kind].restrictions:
            taken = ", ".join(f"--{known}" for known in KINDS[kind].restrictions)
            raise ValueError(f"--{name} is not for a test of the kind {kind}, which takes {taken}; leave it out")
    flat = [values[:, 0] if values.shape[1] == 1 and args.test is not None else values for values in data]
    try:
        found = calibrate(
            _pipeline(args, kind, told),
            *flat,
            kind=kind,
            **told,
            n_trials=args.trials,
            alphas=sorted({0.01, 0.05, 0.1, level(args.alpha)}),
            nan_policy=args.nan_policy,
            rng=0 if args.seed is None else args.seed,
            workers=args.workers,
            progress=args.progress,
        )
    except TypeError as error:  # what the user's function returned
        raise ValueError(str(error)) from None
    return report(args, found, found.anti_conservative)


def _variables(args: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """Two variables in one file, and their labels."""
    table, labels = read_table(args.first, args.header), labels_of(args)
    if args.x is None or args.y is None:
        raise ValueError("with one file, say which columns are the two variables with --x and --y")
    x, y = map(table.select, (args.x, args.y))
    apart(labels, [*x, *y], "--x or --y")
    data = [table.numbers(names, args.nan_policy) for names in (x, y)]
    return data, {name: table.labels(column) for name, column in labels.items()}


def _samples(args: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """Two samples in two files, and their labels."""
    if args.x is not None or args.y is not None:
        raise ValueError("--x and --y are for two variables in one file; two files are two samples")
    tables, labels = read_samples([args.first, args.second], args.header, "two samples"), labels_of(args)
    names = data_columns(tables, None, labels)
    data = [table.numbers(names, args.nan_policy) for table in tables]
    return data, labels_in(tables, labels)


def _pipeline(args: argparse.Namespace, kind: str, told: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """The test that is calibrated: a function of the user's, or one of this package."""
    if args.test is not None:
        refuse(args, tuple(DEFAULTS), "a --test of one's own")
        return _imported(args.test)
    kernels = dict.fromkeys(KINDS[kind].kernels, args.kernel)
    bandwidths = dict.fromkeys(KINDS[kind].bandwidths, bandwidth(args.bandwidth))
    given = arguments(args, "rng", "workers", "progress", "nan_policy")
    return partial(_TESTS[kind], **kernels, **bandwidths, **given, workers=1, rng=0, **told)


def _imported(typed: str) -> _Users:
    """The function that is called MODULE:FUNCTION on the command line."""
    module, colon, name = typed.partition(":")
    if not colon or not name:
        raise ValueError(f"--test must look like module:function; got {typed!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # modules of the folder one is in, as with python -m
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--test {typed}: {error}") from None
    except Exception as error:  # in a file of the user's
        raise ValueError(f"--test {typed}: {_said(error)}") from None
    if not callable(found):
        raise ValueError(f"--test {typed} is no function (X, Y) -> p-value: {found!r}")
    return _Users(found, typed)


@dataclass(frozen=True)
class _Users:
    """A function of the user's, whose failures are those of bad input."""

    func: Callable[[Any, Any], Any]
    typed: str

    def __call__(self, x: Any, y: Any) -> Any:
        try:
            return self.func(x, y)
        except Exception as error:
            raise ValueError(f"--test {self.typed}: {_said(error)}") from error


def _said(error: Exception) -> str:
    """An exception in one line, with the line of code that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
