"""Tables as the arguments of the command line name them, and their columns of data and of labels."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shrinktest.cli.table import Table, matched_columns, parse_table

#: Data sets that stand for themselves where a file is expected.
PACKAGED = ("eckerle4",)


def read_table(path: str, header: str) -> Table:
    """The table in a file, on standard input (-), or of a packaged data set."""
    if path in PACKAGED:
        from importlib import resources

        text = resources.files("shrinktest.datasets").joinpath(f"{path}.csv").read_text(encoding="utf-8")
    elif path == "-":
        path, text = "standard input", sys.stdin.read()
    else:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not text in UTF-8: {error.reason}, byte {error.start}") from None
    return parse_table(text, path, header)


def read_samples(paths: Sequence[str], header: str, what: str) -> list[Table]:
    """The tables of several samples, one of which may be on standard input."""
    if list(paths).count("-") > 1:
        raise ValueError(f"standard input (-) can be only one of the {what}")
    return [read_table(path, header) for path in paths]


def labels_of(args: argparse.Namespace) -> dict[str, str]:
    """The columns that hold labels, by the argument of the test they are for."""
    return {name: column for name in ("blocks", "groups") if (column := getattr(args, name)) is not None}


def labels_in(tables: Sequence[Table], labels: dict[str, str]) -> dict[str, Any]:
    """The labels of samples, for each argument of the test those in every table."""
    return {name: tuple(table.labels(column) for table in tables) for name, column in labels.items()}


def apart(labels: dict[str, str], names: list[str], option: str) -> None:
    """Raise where labels are among the columns that were asked for."""
    for label, column in labels.items():
        if column in names:
            raise ValueError(f"column {column!r} is in both --{label} and {option}; labels are not data")


def data_columns(tables: Sequence[Table], wanted: str | None, labels: dict[str, str]) -> list[str]:
    """The columns of samples that are tested: those named by ``--columns``, or all but the labels."""
    if wanted is None:
        return [name for name in matched_columns(tables) if name not in labels.values()]
    names = tables[0].select(wanted)
    apart(labels, names, "--columns")
    return names


def different(x: list[str], y: list[str]) -> None:
    """Raise where a column is in both of two variables."""
    for name in set(x) & set(y):
        raise ValueError(f"column {name!r} is in both --x and --y: a variable is never independent of itself")


def frame(table: Table, names: list[str], nan_policy: str) -> Any:
    """Columns as a DataFrame, whose names the result keeps."""
    import pandas as pd

    return pd.DataFrame(table.numbers(names, nan_policy), columns=names)


def typed(table: Table, names: list[str]) -> Any:
    """Columns as a table that keeps their names, and what they hold; missing cells are missing values."""
    return frame(table, names, "propagate")
