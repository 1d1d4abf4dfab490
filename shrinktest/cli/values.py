"""Typed values: numbers, lists of them, bandwidths, and settings such as fkmse:lam_cov=0.3."""

from __future__ import annotations

import csv
import os
import pkgutil
import sys
import traceback
from argparse import ArgumentTypeError
from ast import literal_eval
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest.estimators import as_estimator
from shrinktest.kernel_spec import AUTO, is_auto
from shrinktest.kernels import as_kernel
from shrinktest.permutations.stopping import as_stopping, rule_name


def _reader(read: Callable[[str], Any], description: str) -> Callable[[str], Any]:
    """Make a reader for argparse, whose error says what must be typed."""

    def read_or_refuse(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            raise ArgumentTypeError(f"must be {description}; got {text!r}") from None

    return read_or_refuse


def literal(text: str) -> Any:
    """Return a number, None for "none", another Python literal, or else the text."""
    for read in (literal_eval, float):  # float reads inf
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return None if text.lower() == "none" else text


def _range(text: str) -> list[int]:
    """Return whole numbers from such as ``-5:5,8``."""
    ends = [
        (first, last or first)
        for first, _, last in (item.partition(":") for item in text.split(","))
    ]
    return [lag for first, last in ends for lag in range(int(first), int(last) + 1)]


def _mark(text: str) -> str:
    mark = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise ValueError
    return mark


def _value(text: str) -> Any:
    """Return a number, a word, one number per column, or named values.

    Examples are ``0.5,2`` (per column) and ``income=3,rate=0.5``.
    """
    return (
        {name: literal(value) for name, value in _by_name(text)} if "=" in text else literal(text)
    )


def _column_types(text: str) -> dict[str, str | list[str]]:
    """Return how columns are read."""
    return {
        name: [level.strip() for level in kind.split("<")] if "<" in kind else kind
        for name, kind in _by_name(text)
    }


def _by_name(text: str) -> list[tuple[str, str]]:
    """Return names and what follows them; a name with a comma stands in quotation marks."""
    pairs: list[tuple[str, str]] = []
    for item in next(csv.reader([text], skipinitialspace=True), []):
        name, equals, value = (part.strip() for part in item.rpartition("="))
        if not (equals and name and value) or name in dict(pairs):
            raise ValueError
        pairs.append((name, value))
    return pairs


def _joint(text: str) -> dict[str, list[str]]:
    """Return a name, and the terms of a formula that it stands for."""
    name, equals, terms = (part.strip() for part in text.partition("="))
    if not (equals and name and terms):
        raise ValueError
    return {name: [term.strip() for term in terms.split(",")]}


def _setting(text: str) -> tuple[str, Any]:
    """Return a key and its value; text that is no Python literal stays text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError
    return key, literal(value)


number = _reader(float, "a number")
count = _reader(int, "a whole number")
resamples = _reader(
    lambda text: float("inf") if text == "inf" else int(text), "a whole number or inf"
)
lags = _reader(_range, "whole numbers such as -5:5 or 0,1,2")
separator = _reader(_mark, "one character, tab or space")
value = _reader(
    _value, "a number, a word, one per column (0.5,2), or like income=3,rate=0.5, each name once"
)
column_types = _reader(_column_types, "like zip=category,id=drop,size=S<M<L, each name once")
joint = _reader(_joint, "like 'arm in any way=arm,arm:visit'")
setting = _reader(_setting, "like lam=0.1")


def several(given: Any) -> Any:
    """Return one value as a sequence."""
    return (given,) if isinstance(given, int | float) else given


def bandwidths(given: list[Any]) -> Any:
    """Return the bandwidth of an option, or the list of candidates if it is repeated."""
    if len(given) == 1:
        return given[0]
    # an array of no dimensions is one number, never one per column
    return [
        np.asarray(float(width)) if isinstance(width, int | float) else width for width in given
    ]


# --- a name, and settings KEY=VALUE ---------------------------------------------------------------


def configured(value: Any, settings: Mapping[str, Any], name: str) -> Any:
    """Return ``value``, an estimator, kernel, rule or design, with some parameters set."""
    known = [
        field.name for field in fields(value) if field.repr
    ]  # what is not shown is what a test puts in
    for key in settings:
        if not known:
            raise ValueError(f"{name} has no parameters; leave out {key}")
        choice(key, known, f"a parameter of {name}")
    try:
        return replace(value, **settings)
    except TypeError as error:  # text in place of a number
        raise ValueError(f"{name}: {error}") from None


def stopping(text: str) -> Any:
    """Return a rule for stopping from such as ``curtailed`` or ``besag-clifford:h=10``."""
    name, settings = _named(text)
    return (
        configured(as_stopping(rule_name(name), 0.05), settings, name)
        if settings
        else rule_name(name)
    )


def kernels(text: str) -> Any:
    """Return a kernel from such as ``laplacian`` or ``whitened:lam=0.01``, or a list of several."""
    made = []
    for name, settings in map(_named, text.split(",")):
        width = settings.pop("bandwidth", None)
        plain = not settings and width is None
        made.append(
            name if plain else configured(as_kernel(name, width or "median"), settings, name)
        )
    return made[0] if len(made) == 1 else made


def estimator(text: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Return an estimator from such as ``fkmse:loo=paper``, a list of several, or "auto"."""
    made = []
    for name, own in map(_named, text.split(",")):
        if settings and ("," in text or is_auto(name)):
            raise ValueError(
                f"--set is for one estimator, not for {text!r}; write fkmse:lam_cov=0.3"
            )
        auto = is_auto(name) and not own
        made.append(
            AUTO if auto else configured(as_estimator(name), {**own, **(settings or {})}, name)
        )
    return made[0] if len(made) == 1 else made


def _named(text: str) -> tuple[str, dict[str, Any]]:
    """Return a name and its settings, from such as ``fkmse:loo=paper``."""
    name, *settings = text.strip().split(":")
    return name, dict(map(setting, settings))


def compared(text: str) -> dict[str, Any]:
    """Return what a study compares, by label, from typed text.

    An example is ``kme,fkmse:loo=paper,auto,kme+fkmse,ks_2samp``.
    """
    labels = [label.strip() for label in text.split(",")]
    if len(set(labels)) < len(labels):
        raise ValueError(f"estimators has a name twice ({text}); name each once")
    # a plain name may belong to another test, which the study knows
    return {
        label: estimator(label.replace("+", ",")) if {"+", ":"} & set(label) else label
        for label in labels
    }


def function(name: str, option: str) -> Any:
    """Return a function that calls MODULE:FUNCTION, whose failures count as bad input."""
    if ":" not in name:
        raise ValueError(f"{option} must look like module:function; got {name!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # modules of the folder one is in, as with python -m

    def call(*arguments: Any) -> Any:
        try:
            return pkgutil.resolve_name(name)(*arguments)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{frame.filename}, line {frame.lineno}"
            raise ValueError(
                f"{option} {name}: {type(error).__name__}: {error} ({where})"
            ) from error

    return call
