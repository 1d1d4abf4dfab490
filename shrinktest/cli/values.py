"""Values from what is typed: numbers, lists of them, names, bandwidths, settings KEY=VALUE."""

from __future__ import annotations

import argparse
import csv
import shlex
from ast import literal_eval
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from shrinktest._check import listed
from shrinktest.kernels.bandwidths import RULES

Value = TypeVar("Value")


def _reader(read: Callable[[str], Value], what: str) -> Callable[[str], Value]:
    """The same reader, for which what it cannot read is a wrong argument."""

    def read_or_refuse(text: str) -> Value:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {what}; got {text!r}") from None

    return read_or_refuse


number = _reader(float, "a number")
whole = _reader(int, "a whole number")
#: A number of permutations; ``inf`` is all of them.
resamples = _reader(lambda text: float("inf") if text == "inf" else int(text), "a whole number or inf")


def list_of(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """A reader of numbers that are separated by commas."""
    return _reader(lambda text: [kind(item) for item in text.split(",")], "numbers separated by commas")


def shift(text: str) -> int | str:
    """How rows in order of time move: a word, or a number of rows."""
    return int(text) if text.lstrip("-").isdecimal() else text


def lags(text: str) -> list[int]:
    """Whole numbers with commas between them, or from one to another as in -5:5."""
    found: list[int] = []
    try:
        for item in text.split(","):
            first, colon, last = item.partition(":")
            found += range(int(first), int(last if colon else first) + 1)
    except ValueError:
        found = []
    if not found:
        raise argparse.ArgumentTypeError(f"must be whole numbers such as -5:5 or 0,1,2; got {text!r}")
    return found


def one_of(known: tuple[str, ...]) -> Callable[[str], str]:
    """A reader of a word among those that are known."""

    def read(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"must be one of {listed(known)}; got {text!r}")
        return text

    return read


def separator(text: str) -> str:
    """A character, or the name of one that is hard to type."""
    mark = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one character, tab or space; got {text!r}")
    return mark


def names(text: str) -> str | list[str]:
    """A name, or a list of several with commas between them."""
    found = [name.strip() for name in text.split(",")]
    return found if len(found) > 1 else found[0]


def width(text: str) -> str | float | tuple[float, ...] | dict[str, float]:
    """One bandwidth: a word such as ``0.5*median``, a number, one number per column, or ``income=3,rate=0.5``."""
    if "=" in text:
        return {name: number(value) for name, value in _by_name(text, "income=3,rate=0.5")}
    if text == "grid" or any(rule in text.lower() for rule in RULES):
        return text
    try:
        widths = tuple(float(width) for width in text.split(","))
    except ValueError:
        message = "must be median, neighbours, such as 0.5*median, grid, a number, or one per column (0.5,2)"
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


def scale(text: str) -> Any:
    """Units of columns: a name such as ``sd``, one number per column such as ``1,1000``, or ``income=1000,age=mad``."""
    if "=" in text:
        return {name: _unit(value) for name, value in _by_name(text, "income=1000,age=mad")}
    if text.lower() == "none":
        return None
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        return text


def types(text: str) -> dict[str, str | list[str]]:
    """How columns are read, from such as ``zip=category,id=drop,size=S<M<L``."""
    found = _by_name(text, "zip=category,id=drop,size=S<M<L")
    return {name: [level.strip() for level in kind.split("<")] if "<" in kind else kind for name, kind in found}


def typed_type(name: str, kind: str | None) -> str:
    """How it is typed that a column is of a kind; the name alone without one."""
    item = f"{name}={kind}" if kind else name
    if set(item) & set(',"'):  # which would part it from the others
        item = '"' + item.replace('"', '""') + '"'
    return f"--types {shlex.quote(item)}"


def _by_name(text: str, example: str) -> list[tuple[str, str]]:
    """Names and what follows them; a name with a comma stands in quotation marks."""
    pairs: list[tuple[str, str]] = []
    for item in next(csv.reader([text], skipinitialspace=True), []):
        name, equals, value = (part.strip() for part in item.rpartition("="))
        if not (equals and name and value) or name in dict(pairs):
            again = f"; {name!r} is there twice" if name and name in dict(pairs) else ""
            raise argparse.ArgumentTypeError(f"must look like {example}; got {text!r}{again}")
        pairs.append((name, value))
    return pairs


def _unit(text: str) -> float | str | None:
    return None if text.lower() == "none" else number_or_word(text)


def number_or_word(text: str) -> float | str:
    """A number, or the text as it is where it is none."""
    try:
        return float(text)
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
