"""Run a test, print its result, save its pictures, and find the exit code."""

from __future__ import annotations

import math
import operator
import re
from argparse import Namespace
from glob import glob
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest.cli import data
from shrinktest.cli.commands import Command, arguments
from shrinktest.data.files import is_pattern
from shrinktest.plots.axes import check_path, save, write
from shrinktest.results.conclude import enough

RAN, DIFFERENT = 0, 1

#: Results that are good or bad news otherwise than by a rejection.
_DIFFERENT = {
    "EquivalenceResult": lambda result: not result.equivalent,
    "CalibrationResult": lambda result: result.anti_conservative,
    "ComparisonResult": lambda result: result.reject() or any(result.only),
}
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def run_test(args: Namespace, command: Command) -> int:
    """Run a test; return the exit code."""
    verb = command.functions()[1 if getattr(args, "several", False) else 0]
    takes = dict(signature(verb).parameters)
    options = arguments(args, takes)
    for name, parameter in takes.items():
        if parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty and name not in options:
            raise ValueError(f"--{name} is needed; see shrinktest {args.command} --help")
    check_outputs(args)
    dependence = options.get("measure") in ("dependence", "hsic")
    if getattr(args, "x", None) is not None and command.data == "samples" and not dependence:
        raise ValueError("--x is for --measure dependence; give --columns, or leave it out")
    read = data.variables if dependence else getattr(data, command.data)
    samples, about = read(args, options, takes)
    return report(args, verb(*samples, **about, **options))


def report(args: Namespace, result: Any) -> int:
    """Print a result, save its pictures, and return the exit code."""
    different = _DIFFERENT.get(type(result).__name__, lambda result: bool(np.any(result.reject())))
    code = RAN
    if getattr(args, "exit_code", False):
        code = DIFFERENT if different(result) else RAN
        if code == RAN and math.isnan(getattr(result, "pvalue", 1.0)):
            remedy = enough(getattr(args, "alpha", 0.05)) if getattr(args, "resamples", 1) == 0 else "--nan-policy omit"
            raise ValueError(f"--exit-code needs a p-value, and this test has none; use {remedy.removeprefix('use ')}")
    if getattr(args, "fail_if", None) is not None and holds(args.fail_if, result):
        code = DIFFERENT
    effect = {"effect": result.effect()} if getattr(args, "effect", False) else {}
    print(result.to_json(**effect) if args.json else result.summary(**effect))
    if args.plot is not None:
        _picture(result, args.plot)
    if getattr(args, "html", None) is not None:
        result.to_html(args.html)
    if getattr(args, "csv", None) is not None:
        result.to_csv(args.csv)
    if getattr(args, "witness", None) is not None:
        shown = None if args.coordinates is None else [name.strip() for name in args.coordinates.split(",")]
        save(lambda ax: result.plot_witness(ax, coordinates=shown), args.witness)
    return code


def holds(condition: str, result: Any) -> bool:
    """Return whether a condition such as "auc > 0.6" holds of a result or its effect; of several numbers, of any."""
    found = re.fullmatch(r"\s*(\w+)\s*([<>]=?)\s*([-+.\deE]+)\s*", condition)
    if found is None:
        raise ValueError(f"--fail-if must look like 'auc > 0.6'; got {condition!r}")
    name, sign, limit = found.groups()
    value = getattr(result, name, None)
    if not _is_number(value):
        effect = getattr(result, "effect", None)
        value = getattr(effect() if callable(effect) else effect, name, None)
    if not _is_number(value):
        raise ValueError(f"--fail-if: neither the result nor its effect has a number {name!r}; see --json")
    return bool(np.any(_SIGNS[sign](np.asarray(value, dtype=float), float(limit))))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray) and np.asarray(value).dtype.kind in "fiub"


def check_outputs(args: Namespace) -> None:
    """Raise, before the work and not after it, if a file cannot be saved."""
    for option in ("plot", "witness"):
        check_path(getattr(args, option, None))
    if getattr(args, "coordinates", None) is not None and args.witness is None:
        raise ValueError("--coordinates are those of a picture; give --witness FILE")
    inputs = [Path(name).resolve() for path in args.files for name in (glob(path) if is_pattern(path) else [path])]
    outputs = {option: Path(path).resolve() for option in ("plot", "witness", "html", "csv", "store")
               if (path := getattr(args, option, None)) is not None}  # fmt: skip
    for option, path in outputs.items():
        if path in inputs or list(outputs.values()).count(path) > 1:
            raise ValueError(f"--{option} {path.name} is also another file of this command; choose another name")
    for option, ends in (("html", (".html", ".htm")), ("csv", (".csv",))):
        path = getattr(args, option, None)
        if path is None:
            continue
        if Path(path).suffix.lower() not in ends:
            raise ValueError(f"--{option} {path} must end in {ends[0]}")
        if not Path(path).absolute().parent.is_dir() or Path(path).is_dir():
            raise ValueError(f"--{option} {path} cannot be saved: there is no such directory, or it is one itself")


def _picture(result: Any, path: str) -> None:
    if "figure" not in signature(result.plot).parameters:
        save(result.plot, path)
        return
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    result.plot(figure=figure)
    write(figure, path)
