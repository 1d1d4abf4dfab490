"""The command line: reads tables, runs a test of the library, prints what it found."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, TextIO

from shrinktest import AggregateResult, TestResult, independence_test, two_sample_test
from shrinktest.cli.input import read_estimator, read_table
from shrinktest.cli.options import bandwidth, parser
from shrinktest.cli.power import power, sample_size
from shrinktest.cli.settings import stopping
from shrinktest.cli.several import SEVERAL, apart, labels_of, shown
from shrinktest.cli.table import matched_columns
from shrinktest.estimators import ESTIMATORS
from shrinktest.multiple.collection import is_several
from shrinktest.plots.axes import check_path, save


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command as the shell would.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``shrinktest``; default those of the process.

    Returns
    -------
    int
        The exit code: 0 the test ran, 1 it rejects (with ``--exit-code``), 2 bad usage or input, 130 interrupted.

    Examples
    --------
    >>> main("two-sample a.csv b.csv --estimator fkmes".split())
    2
    >>> main(["--version"])
    shrinktest ...
    0
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.showwarning = _show_warning
            code = _run(argv)
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`); the interpreter must not fail again on its last flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        return _complain(f"error: {error.filename or 'input'}: {error.strerror or error}", 2)
    except (ValueError, ImportError, MemoryError, argparse.ArgumentTypeError) as error:
        return _complain(f"error: {error}", 2)


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed the help, or what is wrong
        return int(stop.code or 0)
    return COMMANDS[args.command](args)


def _complain(message: str, code: int) -> int:
    print("shrinktest:", " ".join(message.split()), file=sys.stderr)
    return code


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    _complain(f"warning: {message}", 0)


def _two_sample(args: argparse.Namespace) -> int:
    if args.first == args.second == "-":
        raise ValueError("standard input (-) can be only one of the two samples")
    first, second = read_table(args.first, args.header), read_table(args.second, args.header)
    labels = labels_of(args)
    if args.columns is not None:
        names = first.select(args.columns)
        apart(labels, names, "--columns")
    else:
        names = [name for name in matched_columns([first, second]) if name not in labels.values()]
    check_path(args.witness)
    args.shown = shown(args.coordinates, names)
    if args.witness is None and args.coordinates is not None:
        raise ValueError("--coordinates are those of the picture: give --witness FILE.png as well")
    if args.witness is not None and len(args.shown.get("coordinates", names)) not in (1, 2):
        raise ValueError(f"--witness: choose one or two to show of {', '.join(names)}, with --coordinates")
    if args.witness is not None and is_several(read_estimator(args), args.kernel, bandwidth(args.bandwidth)):
        raise ValueError("--witness is a picture of one statistic: give one estimator, one kernel and one bandwidth")
    return _report(
        args,
        two_sample_test,
        first.numbers(names, args.nan_policy),
        second.numbers(names, args.nan_policy),
        kernel=args.kernel,
        bandwidth=bandwidth(args.bandwidth),
        paired=args.paired,
        **{name: (first.labels(column), second.labels(column)) for name, column in labels.items()},
    )


def _independence(args: argparse.Namespace) -> int:
    table = read_table(args.data, args.header)
    labels = labels_of(args)
    variables = [name for name in table.names if name not in labels.values()]
    if (args.x is None) != (args.y is None) or (args.x is None and len(variables) != 2):
        raise ValueError(
            f"say which columns to test with both --x and --y; {table.source} has {', '.join(table.names)}"
        )
    x, y = ([name] for name in variables) if args.x is None else map(table.select, (args.x, args.y))
    for name in set(x) & set(y):
        raise ValueError(f"column {name!r} is in both --x and --y: a variable is never independent of itself")
    apart(labels, [*x, *y], "--x or --y")
    return _report(
        args,
        independence_test,
        table.numbers(x, args.nan_policy),
        table.numbers(y, args.nan_policy),
        kernel_x=args.kernel_x,
        kernel_y=args.kernel_y,
        bandwidth_x=bandwidth(args.bandwidth_x),
        bandwidth_y=bandwidth(args.bandwidth_y),
        shift=args.shift,
        **{name: table.labels(column) for name, column in labels.items()},
    )


def _estimators(args: argparse.Namespace) -> int:
    width = max(map(len, ESTIMATORS))
    for name, kind in ESTIMATORS.items():
        print(f"{name:{width}}  {kind.summary}")
    return 0


def _report(args: argparse.Namespace, test: Any, *data: Any, **kernels: Any) -> int:
    check_path(args.plot)
    result: TestResult = test(
        *data,
        estimator=read_estimator(args),
        statistic=args.statistic,
        n_resamples=args.resamples,
        stopping=stopping(args.stopping),
        alpha=args.alpha,
        nan_policy=args.nan_policy,
        rng=args.seed,
        workers=args.workers,
        progress=args.progress,
        gram=args.gram,
        rank=args.rank,
        max_memory=args.max_memory,
        **kernels,
    )
    print(result.to_json() if args.json else result.summary())
    if args.plot is not None:
        save(result.plot if isinstance(result, AggregateResult) else result.plot_null, args.plot)
    if getattr(args, "witness", None) is not None:
        save(partial(result.plot_witness, **args.shown), args.witness)
    return int(args.exit_code and result.reject(args.alpha))


COMMANDS = {
    "two-sample": _two_sample,
    "independence": _independence,
    "power": power,
    "sample-size": sample_size,
    "estimators": _estimators,
    **SEVERAL,
}
