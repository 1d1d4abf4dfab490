"""The commands ``k-sample``, ``joint``, ``columns``, ``matrix`` and ``calibrate`` of the command line."""

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

from shrinktest import (
    MultipleTestsResult,
    calibrate,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest._validate import level
from shrinktest.cli.input import read_estimator, read_table
from shrinktest.cli.options import bandwidth
from shrinktest.cli.settings import stopping
from shrinktest.cli.table import Table, matched_columns
from shrinktest.plots.axes import check_path, save

#: What options stand at when nobody gave them.
_UNGIVEN: dict[str, Any] = {
    **{"estimator": "kme", "set": [], "tuning": None, "statistic": "auto", "resamples": 999, "stopping": None},
    **{"gram": "auto", "rank": None, "max_memory": None, "kernel": "gaussian", "bandwidth": None},
}


def shown(coordinates: str | None, names: list[str]) -> dict[str, Any]:
    """What a picture of the witness function is told about the columns."""
    if coordinates is None:
        return {"names": names}
    wanted = [name.strip() for name in coordinates.split(",")]
    for name in wanted:
        if name not in names:
            raise ValueError(f"--coordinates has {name!r}, which is not among the columns tested: {', '.join(names)}")
    return {"names": names, "coordinates": [names.index(name) for name in wanted]}


def labels_of(args: argparse.Namespace) -> dict[str, str]:
    """The columns that hold labels, by the argument of the test they are for."""
    return {name: column for name in ("blocks", "groups") if (column := getattr(args, name)) is not None}


def apart(labels: dict[str, str], names: list[str], option: str) -> None:
    """Raise where labels are among the columns that were asked for."""
    for label, column in labels.items():
        if column in names:
            raise ValueError(f"column {column!r} is in both --{label} and {option}; labels are not data")


def _refuse(args: argparse.Namespace, *options: str, what: str | None = None) -> None:
    """Raise for options of other tests, which this one would not heed."""
    for name in options:
        if getattr(args, name) != _UNGIVEN[name]:
            raise ValueError(f"--{name.replace('_', '-')} is not for {what or args.command}; leave it out")


def _one_bandwidth(args: argparse.Namespace) -> Any:
    if args.bandwidth is not None and len(args.bandwidth) > 1:
        raise ValueError(f"--bandwidth may be repeated where several are combined, which {args.command} does not do")
    return bandwidth(args.bandwidth)


def _common(args: argparse.Namespace, *leave_out: str) -> dict[str, Any]:
    found = {
        "estimator": read_estimator(args),
        "n_resamples": args.resamples,
        "stopping": stopping(args.stopping),
        "statistic": args.statistic,
        "alpha": args.alpha,
        "nan_policy": args.nan_policy,
        "rng": args.seed,
        "workers": args.workers,
        "progress": args.progress,
        "gram": args.gram,
        "rank": args.rank,
        "max_memory": args.max_memory,
    }
    return {name: value for name, value in found.items() if name not in leave_out}


def _k_sample(args: argparse.Namespace) -> int:
    if len(args.samples) < 2:
        raise ValueError("give two files or more, one for each sample")
    if args.samples.count("-") > 1:
        raise ValueError("standard input (-) can be only one of the samples")
    tables = [read_table(path, args.header) for path in args.samples]
    labels, names = labels_of(args), _shared_columns(tables, args.columns)
    if args.columns is not None:
        apart(labels, names, "--columns")
    names = [name for name in names if name not in labels.values()]
    given = {name: [table.labels(column) for table in tables] for name, column in labels.items()}
    given |= {"comparison": args.comparison, "weights": args.weights, "kernel": args.kernel}
    data = [table.numbers(names, args.nan_policy) for table in tables]
    return _one(args, k_sample_test, *data, bandwidth=_one_bandwidth(args), **given, **_common(args))


def _joint(args: argparse.Namespace) -> int:
    _refuse(args, "gram", "rank", "statistic")
    table = read_table(args.data, args.header)
    variables = [[name] for name in table.names] if args.variable is None else list(map(table.select, args.variable))
    if len(variables) < 2:
        raise ValueError("give two variables or more: one --variable for each, or none for every column")
    listed = [name for names in variables for name in names]
    for name in listed:
        if listed.count(name) > 1:
            raise ValueError(f"column {name!r} is in more than one --variable; nothing is independent of itself")
    data = [table.numbers(names, args.nan_policy) for names in variables]
    given = {"kernels": args.kernel, "bandwidths": _one_bandwidth(args)}
    return _one(args, joint_independence_test, *data, **given, **_common(args, "gram", "rank", "statistic"))


def _columns(args: argparse.Namespace) -> int:
    if args.first == args.second == "-":
        raise ValueError("standard input (-) can be only one of the two samples")
    _refuse(args, "stopping")
    first, second = read_table(args.first, args.header), read_table(args.second, args.header)
    labels = labels_of(args)
    names = _shared_columns([first, second], args.columns)
    if args.columns is not None:
        apart(labels, names, "--columns")
    names = [name for name in names if name not in labels.values()]
    x, y = (_frame(table, names, args) for table in (first, second))
    given: dict[str, Any] = {"method": args.method, "kernel": args.kernel, "bandwidth": _one_bandwidth(args)}
    given |= {name: (first.labels(column), second.labels(column)) for name, column in labels.items()}
    given["paired"] = args.paired
    return _many(args, two_sample_test_columns(x, y, **given, **_common(args, "stopping")))


def _matrix(args: argparse.Namespace) -> int:
    _refuse(args, "stopping")
    table = read_table(args.data, args.header)
    labels = labels_of(args)
    x = [name for name in table.names if name not in labels.values()] if args.x is None else table.select(args.x)
    y = None if args.y is None else table.select(args.y)
    if y is not None and args.x is None:
        x = [name for name in x if name not in y]
    apart(labels, [*x, *(y or ())], "--x or --y")
    for name in set(x) & set(y or ()):
        raise ValueError(f"column {name!r} is in both --x and --y: a variable is never independent of itself")
    given: dict[str, Any] = {"method": args.method, "kernel_x": args.kernel, "bandwidth_x": _one_bandwidth(args)}
    if y is not None:
        given["bandwidth_y"] = _one_bandwidth(args)
    given |= {name: table.labels(column) for name, column in labels.items()} | {"shift": args.shift}
    left, right = _frame(table, x, args), None if y is None else _frame(table, y, args)
    return _many(args, independence_matrix(left, right, **given, **_common(args, "stopping")))


def _calibrate(args: argparse.Namespace) -> int:
    check_path(args.plot)
    first, labels = read_table(args.first, args.header), labels_of(args)
    told: dict[str, Any] = {}
    if args.second is None:
        if args.x is None or args.y is None:
            raise ValueError("with one file, say which columns are the two variables with --x and --y")
        x, y = map(first.select, (args.x, args.y))
        apart(labels, [*x, *y], "--x or --y")
        kind, data = "independence", [first.numbers(names, args.nan_policy) for names in (x, y)]
        told |= {name: first.labels(column) for name, column in labels.items()}
    else:
        if args.x is not None or args.y is not None:
            raise ValueError("--x and --y are for two variables in one file; two files are two samples")
        tables = [first, read_table(args.second, args.header)]
        names = [name for name in _shared_columns(tables, None) if name not in labels.values()]
        kind, data = "two-sample", [table.numbers(names, args.nan_policy) for table in tables]
        told |= {name: tuple(table.labels(column) for table in tables) for name, column in labels.items()}
    told |= {"paired": True} if args.paired else {}
    told |= {"shift": args.shift} if args.shift is not None else {}
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
    print(found.to_json() if args.json else found.summary())
    if args.plot is not None:
        save(found.plot, args.plot)
    return int(args.exit_code and found.anti_conservative)


def _pipeline(args: argparse.Namespace, kind: str, told: dict[str, Any]) -> Callable[[Any, Any], Any]:
    if args.test is not None:
        module, colon, name = args.test.partition(":")
        if not colon or not name:
            raise ValueError(f"--test must look like module:function; got {args.test!r}")
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # modules of the folder one is in, as with python -m
        _refuse(args, *_UNGIVEN, what="a --test of one's own")
        try:
            found: Any = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"--test {args.test}: {error}") from None
        except Exception as error:  # in a file of the user's
            raise ValueError(f"--test {args.test}: {_said(error)}") from None
        if not callable(found):
            raise ValueError(f"--test {args.test} is no function (X, Y) -> p-value: {found!r}")
        return _Users(found, args.test)
    given = {**_common(args, "rng", "workers", "progress", "nan_policy"), "workers": 1, "rng": 0, **told}
    if kind == "two-sample":
        return partial(two_sample_test, kernel=args.kernel, bandwidth=bandwidth(args.bandwidth), **given)
    kernels = {f"kernel_{v}": args.kernel for v in "xy"} | {f"bandwidth_{v}": bandwidth(args.bandwidth) for v in "xy"}
    return partial(independence_test, **kernels, **given)


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


def _shared_columns(tables: list[Table], wanted: str | None) -> list[str]:
    if wanted is not None:
        return tables[0].select(wanted)
    return matched_columns(tables)


def _frame(table: Table, names: list[str], args: argparse.Namespace) -> Any:
    import pandas as pd

    return pd.DataFrame(table.numbers(names, args.nan_policy), columns=names)


def _one(args: argparse.Namespace, test: Callable[..., Any], *data: Any, **given: Any) -> int:
    check_path(args.plot)
    result = test(*data, **given)
    print(result.to_json() if args.json else result.summary())
    if args.plot is not None:
        save(result.plot_null, args.plot)
    return int(args.exit_code and result.reject())


def _many(args: argparse.Namespace, result: MultipleTestsResult) -> int:
    check_path(args.plot)
    print(result.to_json() if args.json else result.summary())
    if args.plot is not None:
        save(result.plot, args.plot)
    return int(args.exit_code and bool(result.reject().any()))


SEVERAL: dict[str, Callable[[argparse.Namespace], int]] = {
    "k-sample": _k_sample,
    "joint": _joint,
    "columns": _columns,
    "matrix": _matrix,
    "calibrate": _calibrate,
}
