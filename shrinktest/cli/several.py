"""The commands ``k-sample``, ``joint``, ``columns``, ``matrix`` and ``calibrate`` of the command line."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from shrinktest import (
    ManyTests,
    calibrate,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.cli.input import read_estimator, read_table
from shrinktest.cli.settings import stopping
from shrinktest.cli.table import Table, matched_columns
from shrinktest.plots.axes import check_path, save

#: What options stand at when nobody gave them.
_UNGIVEN = {"gram": "auto", "rank": None, "statistic": "auto", "stopping": None, "max_memory": None}


def shown(coordinates: str | None, names: list[str]) -> dict[str, Any]:
    """What a picture of the witness function is told about the columns."""
    if coordinates is None:
        return {"names": names}
    wanted = [name.strip() for name in coordinates.split(",")]
    for name in wanted:
        if name not in names:
            raise ValueError(f"--coordinates has {name!r}, which is not among the columns tested: {', '.join(names)}")
    return {"names": names, "coordinates": [names.index(name) for name in wanted]}


def _refuse(args: argparse.Namespace, *options: str) -> None:
    """Raise for options of other tests, which this one would not heed."""
    for name in options:
        if getattr(args, name) != _UNGIVEN[name]:
            raise ValueError(f"--{name.replace('_', '-')} is not for {args.command}; leave it out")


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
    names = _shared_columns(tables, args.columns)
    given = {"comparison": args.comparison, "weights": args.weights, "kernel": args.kernel}
    data = [table.numbers(names, args.nan_policy) for table in tables]
    return _one(args, k_sample_test, *data, bandwidth=args.bandwidth, **given, **_common(args))


def _joint(args: argparse.Namespace) -> int:
    _refuse(args, "gram", "rank", "statistic")
    table = read_table(args.data, args.header)
    variables = [[name] for name in table.names] if args.variable is None else list(map(table.select, args.variable))
    listed = [name for names in variables for name in names]
    for name in listed:
        if listed.count(name) > 1:
            raise ValueError(f"column {name!r} is in more than one --variable; nothing is independent of itself")
    data = [table.numbers(names, args.nan_policy) for names in variables]
    given = {"kernels": args.kernel, "bandwidths": args.bandwidth}
    return _one(args, joint_independence_test, *data, **given, **_common(args, "gram", "rank", "statistic"))


def _columns(args: argparse.Namespace) -> int:
    if args.first == args.second == "-":
        raise ValueError("standard input (-) can be only one of the two samples")
    _refuse(args, "stopping")
    first, second = read_table(args.first, args.header), read_table(args.second, args.header)
    names = _shared_columns([first, second], args.columns)
    x, y = (_frame(table, names, args) for table in (first, second))
    given: dict[str, Any] = {"method": args.method, "kernel": args.kernel, "bandwidth": args.bandwidth}
    return _many(args, two_sample_test_columns(x, y, **given, **_common(args, "stopping")))


def _matrix(args: argparse.Namespace) -> int:
    _refuse(args, "stopping")
    table = read_table(args.data, args.header)
    x = list(table.names) if args.x is None else table.select(args.x)
    y = None if args.y is None else table.select(args.y)
    if y is not None and args.x is None:
        x = [name for name in x if name not in y]
    for name in set(x) & set(y or ()):
        raise ValueError(f"column {name!r} is in both --x and --y: a variable is never independent of itself")
    given: dict[str, Any] = {"method": args.method, "kernel_x": args.kernel, "bandwidth_x": args.bandwidth}
    if y is not None:
        given["bandwidth_y"] = args.bandwidth
    left, right = _frame(table, x, args), None if y is None else _frame(table, y, args)
    return _many(args, independence_matrix(left, right, **given, **_common(args, "stopping")))


def _calibrate(args: argparse.Namespace) -> int:
    check_path(args.plot)
    first = read_table(args.first, args.header)
    if args.second is None:
        if args.x is None or args.y is None:
            raise ValueError("with one file, say which columns are the two variables with --x and --y")
        kind, data = "independence", [first.numbers(first.select(names), args.nan_policy) for names in (args.x, args.y)]
    else:
        if args.x is not None or args.y is not None:
            raise ValueError("--x and --y are for two variables in one file; two files are two samples")
        second = read_table(args.second, args.header)
        names = _shared_columns([first, second], None)
        kind, data = "two-sample", [table.numbers(names, args.nan_policy) for table in (first, second)]
    flat = [values[:, 0] if values.shape[1] == 1 and args.test is not None else values for values in data]
    found = calibrate(
        _pipeline(args, kind),
        *flat,
        kind=kind,
        n_trials=args.trials,
        nan_policy=args.nan_policy,
        rng=0 if args.seed is None else args.seed,
        workers=args.workers,
        progress=args.progress,
    )
    if args.json:
        print(json.dumps({"seed": found.seed, "kind": kind, "levels": found.table.to_dict("records")}, indent=2))
    else:
        print(found.summary())
    if args.plot is not None:
        save(found.plot, args.plot)
    return int(args.exit_code and found.anti_conservative)


def _pipeline(args: argparse.Namespace, kind: str) -> Callable[[Any, Any], Any]:
    if args.test is not None:
        module, colon, name = args.test.partition(":")
        if not colon or not name:
            raise ValueError(f"--test must look like module:function; got {args.test!r}")
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # modules of the folder one is in, as with python -m
        try:
            found: Callable[[Any, Any], Any] = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"--test {args.test}: {error}") from None
        return found
    given = {**_common(args, "rng", "workers", "progress", "nan_policy"), "workers": 1, "rng": 0}
    if kind == "two-sample":
        return partial(two_sample_test, kernel=args.kernel, bandwidth=args.bandwidth, **given)
    kernels = {"kernel_x": args.kernel, "kernel_y": args.kernel}
    return partial(independence_test, bandwidth_x=args.bandwidth, bandwidth_y=args.bandwidth, **kernels, **given)


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


def _many(args: argparse.Namespace, result: ManyTests) -> int:
    check_path(args.plot)
    print(result.table.to_json(orient="records", indent=2) if args.json else result.summary())
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
