"""What a command prints of a result, the picture it saves, and its exit code."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shrinktest.cli.arguments import as_typed
from shrinktest.cli.exits import DIFFERENT, RAN
from shrinktest.cli.streams import named
from shrinktest.plots.axes import save
from shrinktest.results.conclude import enough


def report(args: argparse.Namespace, result: Any, different: bool) -> int:
    """Print a result, save its picture, and return the exit code."""
    code = exit_code(args, result, different)
    effect = {"effect": as_said(result.effect(), args)} if getattr(args, "effect", False) else {}
    said = as_said(result, args)
    print(said.to_json(**effect) if args.json else said.summary(**effect))
    save_picture(result.plot, args.plot)
    return code


def exit_code(args: argparse.Namespace, result: Any, different: bool) -> int:
    """Return 1 if --exit-code is given and the result is ``different``; raise ValueError if no p-value says so."""
    if not args.exit_code:
        return RAN
    if not different and math.isnan(getattr(result, "pvalue", 1.0)):  # a calibration has many
        remedy = enough(args.alpha) if args.resamples == 0 else "use nan_policy='omit'"
        raise ValueError(f"--exit-code needs a p-value, and this test has none; {remedy}")
    return DIFFERENT if different else RAN


def save_picture(plot: Callable[[Any], object], path: str | None) -> None:
    """Save a picture where one is asked for; an error of the system has its name."""
    if path is not None:
        with named(path):
            save(plot, path)


def as_said(result: Any, args: argparse.Namespace) -> Any:
    """A result with its notes, those of its members and of its effect in the words of the command line."""
    changed: dict[str, Any] = {}
    if notes := getattr(result, "notes", None):
        changed["notes"] = tuple(typed(note, args) for note in notes)
    if members := vars(result).get("members"):  # of a combined test
        changed["members"] = tuple(as_said(member, args) for member in members)
    for name in ("overall", "effect"):
        if getattr(one := vars(result).get(name), "notes", None):
            changed[name] = as_said(one, args)
    return replace(result, **changed) if changed else result


def typed(note: str, args: argparse.Namespace) -> str:
    """A note of the library in the words of the command line."""
    options = {f"--{name.replace('_', '-')}" for name in vars(args)}
    return as_typed(note, options, getattr(args, "words", ()))
