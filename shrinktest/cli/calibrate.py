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

import numpy as np

from shrinktest import calibrate, independence_test, two_sample_test
from shrinktest._check import level
from shrinktest.cli.input import (
    Data,
    apart,
    given_columns,
    labels_of,
    read_table,
    samples_in,
    types_of,
    units_by_variable,
    variables_from,
    widths_by_variable,
)
from shrinktest.cli.options import (
    COMPLETE,
    DEFAULTS,
    add_columns,
    add_kernels,
    add_restrictions,
    add_test_options,
    arguments,
    refuse,
)
from shrinktest.cli.report import report
from shrinktest.cli.values import bandwidth, typed_type, whole
from shrinktest.data.column import Table
from shrinktest.plots.axes import check_path
from shrinktest.power import KNOWN_TESTS
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE

#: Each kind of test that can be calibrated, and the test of this package.
_TESTS: dict[str, Callable[..., Any]] = {TWO_SAMPLE.name: two_sample_test, INDEPENDENCE.name: independence_test}


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = (
        "Realised level of a test on permuted versions of the data: two samples in two files, or two variables "
        "(--x and --y) in one."
    )
    exits = "exit with 1 when it rejects too often at any level"
    missing = f"{COMPLETE}; propagate for a --test of one's own that takes them"
    add_test_options(command, plot="save a picture of the p-values", exits=exits, missing=missing)
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample, or the pairs; - is standard input")
    add("second", metavar="B.csv", nargs="?", help="the second sample")
    add_columns(command, ", where there are two files")
    for variable in "xy":
        add(f"--{variable}", metavar="NAMES", help=f"columns of the variable {variable}, where there is one file")
    what = "a function (X, Y) -> p-value, such as mine:pipeline, or ks_2samp (default: ours with --estimator)"
    add("--test", metavar="MODULE:FUNCTION", help=what)
    add("--trials", metavar="N", type=whole, default=1000, help="permuted data sets (default: 1000)")
    add_restrictions(command, *_TESTS)
    add("--given", metavar="NAMES", help="columns that are given, which the test of this package knows of")
    add_kernels(command)


def run(args: argparse.Namespace) -> int:
    """Find the level of a test on data like these; the exit code."""
    check_path(args.plot)
    kind = INDEPENDENCE.name if args.second is None else TWO_SAMPLE.name
    data, told = (_variables if args.second is None else _samples)(args)
    told |= {name: given for name in ("paired", "shift") if (given := getattr(args, name))}
    for name in told.keys() - {"given"}:
        if name not in KINDS[kind].restrictions:
            taken = ", ".join(f"--{known}" for known in KINDS[kind].restrictions)
            raise ValueError(f"--{name} is not for a test of the kind {kind}, which takes {taken}; leave it out")
    as_tables = args.test is None and "given" not in told
    tables: Any = data.tested if as_tables else [_numbers(table) for table in data.tested]
    types = data.column_types
    if "given" in told:  # X and Y are numbers
        types = {name: kind for name, kind in types.items() if name in told["given"].names}
    try:
        found = calibrate(
            _pipeline(args, kind, data, told, types),
            *tables,
            kind=kind,
            **told,
            n_trials=args.trials,
            alphas=sorted({0.01, 0.05, 0.1, level(args.alpha)}),
            nan_policy="propagate" if args.nan_policy == "indicator" else args.nan_policy,
            rng=0 if args.seed is None else args.seed,
            workers=args.workers,
            progress=args.progress,
        )
    except TypeError as error:  # what the user's function returned
        raise ValueError(str(error)) from None
    return report(args, found, found.anti_conservative)


def _numbers(table: Table) -> Any:
    """What a function of the user's gets: an array of numbers, of one dimension for one column."""
    for column in table.columns:
        if column.kind != "number":
            raise ValueError(
                f"a --test of one's own, or --given, takes numbers, and column {column.name!r} holds {column.kind} "
                f"values; leave it out with {typed_type(column.name, 'drop')}"
            )
    values = np.column_stack([column.values for column in table.columns])
    return values[:, 0] if values.shape[1] == 1 else values


def _variables(args: argparse.Namespace) -> tuple[Data, dict[str, Any]]:
    """Two variables in one file, and their labels."""
    table = read_table(args.first, args)
    labels = labels_of(args, table)
    if args.x is None or args.y is None:
        raise ValueError("with one file, say which columns are the two variables with --x and --y")
    if args.columns is not None:
        raise ValueError("--columns are those of two samples in two files; one file has --x and --y")
    x, y = map(table.select, (args.x, args.y))
    z = given_columns(table, args)
    apart(labels, [*x, *y, *z], "--x, --y or --given")
    data = variables_from(table, (x, y, z) if z else (x, y), types_of(args, [table]), args)
    told: dict[str, Any] = {name: table.labels(column) for name, column in labels.items()}
    if z:
        told["given"] = data.tables[2]
    return Data(data.tables[:2], data.column_types, data.tested[:2]), told


def _samples(args: argparse.Namespace) -> tuple[Data, dict[str, Any]]:
    """Two samples in two files, and their labels."""
    if args.given is not None:
        raise ValueError("--given is for two variables in one file; two files are two samples")
    if args.x is not None or args.y is not None:
        raise ValueError("--x and --y are for two variables in one file; two files are two samples")
    _, data, labels = samples_in([args.first, args.second], args, "two samples")
    return data, labels


def _pipeline(
    args: argparse.Namespace, kind: str, data: Data, told: dict[str, Any], types: dict[str, Any]
) -> Callable[[Any, Any], Any] | str:
    """The test that is calibrated: a function of the user's, the name of another package's, or one of this package."""
    if args.test in KNOWN_TESTS:
        refuse(args, tuple(DEFAULTS), "a test of another package")
        if args.nan_policy in ("propagate", "indicator"):
            raise ValueError(f"--test {args.test} takes no missing values; give --nan-policy omit, or leave it out")
        return str(args.test)
    if args.test is not None:
        if not all(args.test.partition(":")):
            raise ValueError(f"--test must look like module:function; got {args.test!r}")
        refuse(args, tuple(DEFAULTS), "a --test of one's own")
        return _imported(args.test)
    if args.nan_policy == "propagate":
        raise ValueError("--nan-policy propagate leaves no p-values to count; give omit or indicator")
    kernels = dict.fromkeys(KINDS[kind].kernels, args.kernel)
    bandwidths = dict.fromkeys(KINDS[kind].bandwidths, bandwidth(args.bandwidth))
    given = arguments(args, "rng", "workers", "progress", "nan_policy")
    if kind == INDEPENDENCE.name:
        widths = widths_by_variable(bandwidth(args.bandwidth), data.tested, data.sizes)
        bandwidths = dict(zip(bandwidths, widths, strict=True))
        given["scale"] = units_by_variable(args.scale, data.sizes)
    given["nan_policy"] = "indicator" if args.nan_policy == "indicator" else "raise"
    return partial(_TESTS[kind], **kernels, **bandwidths, **given, column_types=types, workers=1, rng=0, **told)


def _imported(typed: str) -> _Users:
    """The function that is called MODULE:FUNCTION on the command line."""
    module, _, name = typed.partition(":")
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
