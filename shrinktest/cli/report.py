"""What a command prints of a result, the picture it saves, and its exit code."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from shrinktest.cli.arguments import as_typed
from shrinktest.cli.exits import RAN, REJECTS
from shrinktest.plots.axes import save


def report(args: argparse.Namespace, result: Any, rejects: bool) -> int:
    """Print a result and save its picture; the exit code, which tells whether it ``rejects`` on request."""
    if getattr(result, "notes", None):
        result = replace(result, notes=tuple(typed(note, args) for note in result.notes))
    asked = {"effect": True} if getattr(args, "effect", False) else {}  # which not every command knows
    print(result.to_json(**asked) if args.json else result.summary(**asked))
    if args.plot is not None:
        # of several tests, or of a calibration, there is a picture of its own
        save(result.plot if hasattr(result, "plot") else result.plot_null, args.plot)
    return REJECTS if args.exit_code and rejects else RAN


def typed(note: str, args: argparse.Namespace) -> str:
    """A note of the library in the words of the command line."""
    return as_typed(note, {f"--{name.replace('_', '-')}" for name in vars(args)})
