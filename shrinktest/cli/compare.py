"""``shrinktest compare``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from shrinktest import ComparisonResult, compare
from shrinktest.cli.input import labels_in, labels_of, read_samples, sample_columns, types_of, variables_in, writable
from shrinktest.cli.options import add_columns, add_method, add_restrictions, add_test_options, arguments, refuse
from shrinktest.cli.report import as_said, exit_code
from shrinktest.cli.streams import named
from shrinktest.cli.values import number
from shrinktest.plots.axes import check_path, write
from shrinktest.results.info import TWO_SAMPLE

_REFUSED = ("stopping", "form")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "What changed between two tables: an overall test, a test of every column, and effects."
    add = command.add_argument
    add("first", metavar="A.csv", help="the first table; - is standard input")
    add("second", metavar="B.csv", help="the second table")
    add("--html", metavar="FILE.html", help="save the whole report as a page, with its pictures")
    add_test_options(
        command,
        refused=_REFUSED,
        plot="save a picture of the columns that changed",
        exits="exit with 1 when the tables differ, or only one of them has some column",
        estimator="auto",
        missing="indicator (default: that they are missing counts), omit their rows, or raise",
    )
    add("--confidence", metavar="SHARE", type=number, default=0.95, help="of the intervals of effects (default: 0.95)")
    add_columns(command)
    add_method(command)
    add_restrictions(command, TWO_SAMPLE.name)


def run(args: argparse.Namespace) -> int:
    """Say what changed between two tables; the exit code."""
    refuse(args, _REFUSED, "compare")
    files = read_samples([args.first, args.second], args, "two tables")
    labels, types = labels_of(args, files[0]), types_of(args, files)
    wanted = None if args.columns is None else sample_columns(files, args.columns, labels, types)
    check_path(args.plot)
    _check_page(args.html)
    # without --columns each has its own, for the report says what only one of them has
    names = [wanted or variables_in(file, labels, types) for file in files]
    first, second = (file.columns(columns, types) for file, columns in zip(files, names, strict=True))
    given = arguments(args, *_REFUSED)
    result = compare(
        first,
        second,
        column_types={name: kind for name, kind in types.items() if any(name in columns for columns in names)},
        names=_names([args.first, args.second]),
        method=args.method,
        confidence=args.confidence,
        paired=args.paired,
        **labels_in(files, labels),
        **given,
    )
    code = exit_code(args, result, result.reject() or any(result.only))
    said = as_said(result, args)
    print(said.to_json() if args.json else said.summary())
    if args.plot is not None:
        with named(args.plot):
            _save(result, args.plot)
    if args.html is not None:
        with named(args.html):
            said.to_html(args.html)
    return code


def _names(paths: Sequence[str]) -> tuple[str, str]:
    """What the report calls the tables: the names of their files, as far as these tell them apart."""
    paths = [writable(path) for path in paths]
    stems = [Path(path).stem if path != "-" else "standard input" for path in paths]
    first, second = stems if stems[0] != stems[1] else paths
    return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")


def _check_page(path: str | None) -> None:
    """Raise, before the work and not after it, if a page cannot be made or saved under this path."""
    if path is None:
        return
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--html: {path} is no name for a page; it must end in .html")
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"--html: {path} cannot be saved, because there is no directory {Path(path).parent}")
    try:
        import matplotlib.figure  # noqa: F401  # which draws its pictures
    except ImportError:
        raise ImportError(
            f"--html: {path} has pictures, which need matplotlib: pip install 'shrinktest[plot]'"
        ) from None


def _save(result: ComparisonResult, path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    result.plot(figure=figure)
    write(figure, path)
