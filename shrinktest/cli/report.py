"""Run a test, print its result, save its pictures, and find the exit code."""

from __future__ import annotations

import math
from contextlib import nullcontext
from glob import glob
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest.cli import data
from shrinktest.cli.commands import Command, arguments
from shrinktest.cli.condition import Condition
from shrinktest.cli.files import is_pattern
from shrinktest.cli.messages import say
from shrinktest.cli.options import Typed
from shrinktest.permutations.multiplicity import enough
from shrinktest.results.plots.axes import check_path, save, write
from shrinktest.statistics.kernel_cache import kept_kernels

RAN = 0
DIFFERENT = 1

#: Results that are good or bad news otherwise than by a rejection.
_DIFFERENT = {
    "EquivalenceResult": lambda result: not result.equivalent,
    "LevelCheckResult": lambda result: result.anti_conservative,
    "ComparisonResult": lambda result: result.reject() or any(result.only),
    "SegmentsResult": lambda result: result.reject().any() or any(result.only),
}
#: Options that say how a result is printed.
_PRINTED = ("json", "paragraph", "markdown")


def run_test(args: Typed, command: Command) -> int:
    """Run a test; return the exit code."""
    verb = command.functions[1 if args.several else 0]
    takes = signature(verb).parameters
    options = arguments(args, takes)
    for name, parameter in takes.items():
        if (
            parameter.kind is Parameter.KEYWORD_ONLY
            and parameter.default is Parameter.empty
            and name not in options
        ):
            raise ValueError(f"--{name} is needed; see shrinktest {args.command} --help")
    check_outputs(args)
    dependence = options.get("measure") in ("dependence", "hsic")
    if args.x is not None and command.data == "samples" and not dependence:
        raise ValueError("--x is for --measure dependence; use --columns, or leave it out")
    read = data.variables if dependence else getattr(data, command.data)
    if args.pairwise and args.effect:
        raise ValueError("--effect is in the table of --pairwise; leave it out")
    samples, about = read(args, options, takes)
    if args.pairwise and "bins" in takes:
        options["bins"] = 0  # pairs are tested row by row
    with kept_kernels() if args.effect or args.fail_if else nullcontext():
        result = verb(*samples, **about, **options)
        if args.pairwise:
            result = result.pairwise(rng=options.get("rng"))
        return report(args, result)


def report(args: Typed, result: Any) -> int:
    """Print a result, save its pictures, and return the exit code."""
    different = _DIFFERENT.get(type(result).__name__, lambda result: bool(np.any(result.reject())))
    code = DIFFERENT if args.exit_code and different(result) else RAN
    if args.exit_code and code == RAN and math.isnan(getattr(result, "pvalue", None) or 1.0):
        remedy = (
            enough(args.alpha or 0.05).removeprefix("use ")
            if args.resamples == 0
            else "--nan-policy omit"
        )
        raise ValueError(f"--exit-code needs a p-value, and this test has none; use {remedy}")
    if args.fail_if is not None and (met := Condition.read(args.fail_if).met(result)):
        code = DIFFERENT
        say(met)
    print(printed(args, result))
    if args.plot and "figure" in signature(result.plot).parameters:
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        result.plot(figure=figure)
        write(figure, args.plot)
    elif args.plot:
        save(lambda ax: result.plot(ax=ax), args.plot)
    if args.html:
        result.to_html(args.html)
    if args.csv:
        result.to_csv(args.csv)
    if args.witness:
        shown = args.coordinates and [name.strip() for name in args.coordinates.split(",")]
        save(lambda ax: result.plot_witness(ax, coordinates=shown), args.witness)
    return code


def printed(args: Typed, result: Any) -> str:
    """Return the result as its summary, or as an option says."""
    effect = {"effect": result.effect()} if args.effect else {}
    if args.paragraph:
        return str(result.paragraph(**effect))
    if args.markdown:
        return str(result.to_markdown(**effect))
    return str(result.to_json(**effect) if args.json else result.summary(**effect))


def check_outputs(args: Typed) -> None:
    """Raise, before the work and not after it, if a file cannot be saved."""
    ways = [f"--{name}" for name in _PRINTED if getattr(args, name)]
    if len(ways) > 1:
        raise ValueError(f"{' and '.join(ways)} cannot be combined; use one")
    if args.coordinates and args.witness is None:
        raise ValueError("--coordinates belong to a picture; use --witness FILE")
    taken = {
        Path(name).resolve()
        for path in args.files
        for name in (glob(path) if is_pattern(path) else [path])
    }
    for option in ("plot", "witness", "html", "csv", "store"):
        if (name := getattr(args, option)) is None:
            continue
        path = Path(name)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise ValueError(
                f"--{option} {name} cannot be saved: there is no such folder, or it is one itself"
            )
        if path.resolve() in taken:
            raise ValueError(
                f"--{option} {name} would overwrite another file of this command; choose another "
                "name"
            )
        taken.add(path.resolve())
        if option in ("plot", "witness"):
            check_path(name)
        elif option != "store" and path.suffix.lower() != f".{option}":
            raise ValueError(f"--{option} {name} must end in .{option}")
