"""``shrinktest estimators``."""

from __future__ import annotations

import argparse

from shrinktest.cli.exits import RAN
from shrinktest.estimators import ESTIMATORS


def add_options(command: argparse.ArgumentParser) -> None:
    """There are none: the command only prints."""


def run(args: argparse.Namespace) -> int:
    """Print the estimators, one line each; the exit code."""
    width = max(map(len, ESTIMATORS))
    for name, kind in ESTIMATORS.items():
        print(f"{name:{width}}  {kind.summary}")
    return RAN
