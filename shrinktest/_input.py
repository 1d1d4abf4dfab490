"""Tables and estimators as the arguments of the command line name them."""

from __future__ import annotations

import argparse
import sys
from importlib import resources
from pathlib import Path

from shrinktest._options import PACKAGED
from shrinktest._settings import configured
from shrinktest._table import Table, parse_table
from shrinktest.estimators import MeanEstimator, as_estimator


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


def read_estimator(args: argparse.Namespace) -> MeanEstimator:
    """The estimator with the parameters that were set."""
    given = dict(args.set, **({} if args.tuning is None else {"tuning": args.tuning}))
    return configured(as_estimator(args.estimator), given, args.estimator)
