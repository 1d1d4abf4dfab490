"""Values from what is typed: numbers, lists of them, names, bandwidths, settings KEY=VALUE."""

from __future__ import annotations

import argparse
from ast import literal_eval
from collections.abc import Callable
from typing import Any

import numpy as np

from shrinktest.kernels.bandwidths import RULES


def list_of(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """A reader of numbers that are separated by commas."""

    def read(text: str) -> list[Any]:
        try:
            return [kind(item) for item in text.split(",")]
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be numbers separated by commas; got {text!r}") from None

    return read


def names(text: str) -> str | list[str]:
    """A name, or a list of several with commas between them."""
    found = [name.strip() for name in text.split(",")]
    return found if len(found) > 1 else found[0]


def resamples(text: str) -> int | float:
    """A number of relabellings; ``inf`` is all of them."""
    try:
        return float("inf") if text == "inf" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number or inf; got {text!r}") from None


def width(text: str) -> str | float | tuple[float, ...]:
    """One bandwidth: a word such as ``0.5*median``, a number, or one number per column."""
    if text == "grid" or any(rule in text.lower() for rule in RULES):
        return text
    try:
        widths = tuple(float(width) for width in text.split(","))
    except ValueError:
        message = "must be median, neighbours, such as 0.5*median, grid, a number, or numbers such as 0.5,2"
        raise argparse.ArgumentTypeError(f"{message}; got {text!r}") from None
    return widths if len(widths) > 1 else widths[0]


def bandwidth(given: list[Any] | None) -> Any:
    """The bandwidth, or candidates, from an option that may be repeated."""
    if given is None:
        return "median"
    if len(given) == 1:
        return given[0]
    # an array of no dimensions is one number, never one per column
    return [np.asarray(width) if isinstance(width, float) else width for width in given]


def scale(text: str) -> str | tuple[float, ...]:
    """Units of columns: a name such as ``sd``, or one number per column such as ``1,1000``."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        return text


def setting(text: str) -> tuple[str, Any]:
    """A key and its value from such as ``lam=0.1``; text that is no Python literal stays text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"must look like lam=0.1; got {text!r}")
    for read in (literal_eval, float):  # float reads inf
        try:
            return key, read(value)
        except (ValueError, SyntaxError):
            continue
    return key, value
