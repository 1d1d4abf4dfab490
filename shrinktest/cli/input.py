"""Tables and estimators as the arguments of the command line name them."""

from __future__ import annotations

import argparse
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from shrinktest.cli.options import PACKAGED
from shrinktest.cli.settings import estimator
from shrinktest.cli.table import Table, parse_table


def read_table(path: str, header: str) -> Table:
    """The table in a file, on standard input (-), or of a packaged data set."""
    if path in PACKAGED:
        text = resources.files("shrinktest.datasets").joinpath(f"{path}.csv").read_text(encoding="utf-8")
    elif path == "-":
        path, text = "standard input", sys.stdin.read()
    else:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not text in UTF-8: {error.reason}, byte {error.start}") from None
    return parse_table(text, path, header)


def read_estimator(args: argparse.Namespace) -> Any:
    """The estimator with the parameters that were set, a list of several, or "auto"."""
    return estimator(args.estimator, dict(args.set, **({} if args.tuning is None else {"tuning": args.tuning})))
