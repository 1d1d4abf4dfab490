"""Options: what the command line accepts, as argparse reads it."""

from __future__ import annotations

import argparse
from ast import literal_eval
from collections.abc import Callable
from typing import Any

import numpy as np

from shrinktest import __version__
from shrinktest.cli.several_options import add_several
from shrinktest.cli.table import HEADERS

#: Data sets that stand for themselves where a file is expected.
PACKAGED = ("eckerle4",)

_EXIT_CODES = "exit codes: 0 the test ran, 1 it rejects (with --exit-code only), 2 bad usage or input, 130 interrupted"


def parser() -> argparse.ArgumentParser:
    """The parser of ``shrinktest``; the chosen command is ``args.command``."""
    program = argparse.ArgumentParser(
        prog="shrinktest",
        description="Kernel two-sample and independence tests with pluggable mean estimators.",
        epilog=_EXIT_CODES,
        allow_abbrev=False,
    )
    program.add_argument("--version", action="version", version=f"shrinktest {__version__}")
    commands = program.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def shared(**said: Any) -> dict[str, Any]:
        return {"parents": [_test_options(**said)], "epilog": _EXIT_CODES, "allow_abbrev": False}

    _two_sample(
        commands.add_parser(
            "two-sample",
            help="do two samples come from the same distribution?",
            description="Do two samples, one observation per row, come from the same distribution (MMD)?",
            **shared(),
        )
    )
    _independence(
        commands.add_parser(
            "independence",
            help="are two variables independent?",
            description="Are two variables, observed together in every row, independent (HSIC)?",
            **shared(),
        )
    )
    add_several(commands, shared, _one_kernel, _kernel, _restriction)
    studies: Any = {"parents": [_study_options()], "allow_abbrev": False}
    _power(
        commands.add_parser(
            "power",
            help="how often do the tests reject?",
            description="Power of tests on simulated data, paired, with intervals, and their level beside it.",
            epilog="Interrupted with --store FILE, the same command goes on where it was.",
            **studies,
        )
    )
    _sample_size(
        commands.add_parser(
            "sample-size",
            help="how many observations does a test need?",
            description="The sample size at which a test reaches a power, with its interval.",
            **studies,
        )
    )
    commands.add_parser("estimators", help="list the estimators, one line each", allow_abbrev=False)
    return program


def _two_sample(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("first", metavar="A.csv", help="the first sample; - is standard input")
    add("second", metavar="B.csv", help="the second sample; - is standard input")
    add("--columns", metavar="NAMES", help="such as a,b or 1:13 (default: all, matched by name)")
    _restriction(command, "two-sample")
    _kernel(command, "")
    add("--witness", metavar="FILE.png", help="save a picture of where the samples differ, with its band")
    add("--coordinates", metavar="NAMES", help="one or two columns to show in it, such as a,b (the others at medians)")


def _independence(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    packaged = ", ".join(PACKAGED)
    add(
        "data",
        metavar="DATA.csv",
        help=f"the observations; - is standard input, {packaged} comes with the package",
    )
    for variable in "xy":
        what = f"columns of the variable {variable}, such as a,b or 2:5 (default where there are two: one each)"
        add(f"--{variable}", metavar="NAMES", help=what)
    _restriction(command, "independence")
    for variable in "xy":
        _kernel(command, f"-{variable}")


def _restriction(command: argparse.ArgumentParser, test: str) -> None:
    add = command.add_argument
    add("--blocks", metavar="NAME", help="column of labels: relabel within blocks only")
    add("--groups", metavar="NAME", help="column of labels: relabel whole groups (clusters)")
    if test in ("two-sample", "either"):
        add("--paired", action="store_true", help="row i of both files is a pair: relabel within pairs")
    if test in ("independence", "either"):
        what = "circular: y is a time series; shift it instead of permuting it (with --blocks each of several series)"
        add("--shift", metavar="HOW", help=what)


_STOPPING = "draw fewer relabellings: besag-clifford (or besag-clifford:h=10), or decision, once that is certain"


def _kernel(command: argparse.ArgumentParser, suffix: str) -> None:
    names = "gaussian (default), laplacian, linear or polynomial"
    names += "; several such as gaussian,laplacian are combined"
    command.add_argument(f"--kernel{suffix}", metavar="NAME", type=_names, default="gaussian", help=names)
    widths = (
        "median (default), a multiple such as 0.5*median, a number, or one number per column such as 0.5,2; may be "
        "repeated: several are combined, grid is five"
    )
    command.add_argument(f"--bandwidth{suffix}", metavar="WIDTH", type=_bandwidth, action="append", help=widths)


def _one_kernel(command: argparse.ArgumentParser, suffix: str) -> None:
    names = "gaussian (default), laplacian, linear or polynomial"
    command.add_argument(f"--kernel{suffix}", metavar="NAME", default="gaussian", help=names)
    widths = "median (default), a multiple such as 0.5*median, a number, or one number per column such as 0.5,2"
    command.add_argument(f"--bandwidth{suffix}", metavar="WIDTH", type=_bandwidth, action="append", help=widths)


def _test_options(
    *,
    combines: bool = True,
    refused: tuple[str, ...] = (),
    plot: str = "save a picture of the null distribution",
    exits: str = "exit with 1 when the test rejects",
) -> argparse.ArgumentParser:
    """Options of all tests; those that a command refuses, with a reason, are not in its help."""
    options = argparse.ArgumentParser(add_help=False)

    def add(option: str, **said: Any) -> None:
        options.add_argument(option, **said | ({"help": argparse.SUPPRESS} if option in refused else {}))

    what = "see `shrinktest estimators` (default: kme), such as fkmse:lam_cov=0.3"
    if combines:
        what += "; several with commas between are combined, auto is the combination that is recommended"
    add("--estimator", metavar="NAME", default="kme", help=what)
    what = "a parameter of the one estimator, such as lam=0.1; may be repeated"
    add("--set", metavar="KEY=VALUE", type=setting, action="append", default=[], help=what)
    add("--tuning", metavar="WHEN", help="auto (default), sample, joint or pooled")
    add("--statistic", metavar="FORM", default="auto", help="auto (default), biased or unbiased")
    what = "number of relabellings (default: 999); inf: all there are"
    add("--resamples", metavar="N", type=_resamples, default=999, help=what)
    add("--stopping", metavar="RULE", help=_STOPPING)
    add("--alpha", metavar="LEVEL", type=float, default=0.05, help="reject when p <= LEVEL (default: 0.05)")
    add("--seed", metavar="N", type=int, help="makes the p-value reproducible")
    what = "does the first row name the columns? auto (default), yes or no"
    add("--header", metavar="WHETHER", choices=HEADERS, default="auto", help=what)
    what = "with missing cells (empty, NA, nan): raise (default), omit their rows, or propagate"
    add("--nan-policy", metavar="POLICY", default="raise", help=what)
    what = "how the kernel is evaluated: auto (default), dense, factor, nystrom or rff; the last two approximate it"
    add("--gram", metavar="ROUTE", default="auto", help=what)
    add("--rank", metavar="N", type=int, help="coordinates of an approximated kernel")
    what = "bytes that the kernel's values may take (default: a quarter of what is free)"
    add("--max-memory", metavar="BYTES", type=float, help=what)
    add("--workers", metavar="N", type=int, help="threads (default: all cores); never changes the result")
    add("--progress", action="store_true", help="show a progress bar")
    add("--json", action="store_true", help="print JSON; its keys are the result's attributes in Python")
    add("--plot", metavar="FILE.png", help=plot)
    add("--exit-code", action="store_true", help=exits)
    return options


def _study_options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    add = options.add_argument
    what = "a parameter of the design, such as dimension=20; may be repeated"
    add("--set", metavar="KEY=VALUE", type=setting, action="append", default=[], help=what)
    names = "gaussian (default), laplacian, linear or polynomial, for all variables; several are combined"
    add("--kernel", metavar="NAME", type=_names, help=names)
    what = (
        "of all variables, such as 0.5*median; may be repeated: several are combined, grid is five; for eckerle4 "
        "median takes that of each subsample"
    )
    add("--bandwidth", metavar="WIDTH", type=_bandwidth, action="append", help=what)
    add("--stopping", metavar="RULE", help=_STOPPING)
    add("--paired", action="store_true", help="relabel within pairs, observation i of one sample and of the other")
    add("--shift", metavar="HOW", help="circular: shift y instead of permuting it")
    add("--seed", metavar="N", type=int, default=0, help="of the study (default: 0)")
    add("--store", metavar="FILE.sqlite", help="keep every p-value here; an interrupted study goes on from it")
    add("--plot", metavar="FILE.png", help="save a picture")
    add("--workers", metavar="N", type=int, help="processes (default: all cores); never changes the result")
    add("--quiet", action="store_true", help="no progress bar")
    return options


def _power(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("design", metavar="DESIGN", nargs="?", help="see `shrinktest power --list`")
    add("--list", action="store_true", help="list the designs")
    what = "such as kme,auto or fkmse:loo=paper (default: kme); kme+fkmse combines them"
    add("--estimators", metavar="NAMES", default="kme", help=what)
    add("--n", metavar="SIZES", type=_list_of(int), help="such as 20,40,80 (default: 20,50,100)")
    add("--fractions", metavar="FRACTIONS", type=_list_of(float), help="sizes as fractions of eckerle4's 35 points")
    add("--trials", metavar="N", type=int, default=500, help="data sets per size (default: 500)")
    add("--resamples", metavar="N", type=_resamples, default=999, help="relabellings per test (default: 999)")
    add("--alphas", metavar="LEVELS", type=_list_of(float), default=[0.05], help="such as 0.05,0.1 (default: 0.05)")
    add("--csv", metavar="FILE.csv", help="save the table")


def _sample_size(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("design", metavar="DESIGN", help="see `shrinktest power --list`")
    add("--estimator", metavar="NAME", default="kme", help="such as kme or fkmse:lam_cov=0.3 (default: kme)")
    add("--power", metavar="POWER", type=float, default=0.8, help="to be reached (default: 0.8)")
    add("--alpha", metavar="LEVEL", type=float, default=0.05, help="of the test (default: 0.05)")
    add("--ratio", metavar="RATIO", type=float, help="size of the second sample over that of the first")
    add("--trials", metavar="N", type=int, default=2000, help="data sets to fit the answer to (default: 2000)")
    add("--resamples", metavar="N", type=int, default=199, help="relabellings per test (default: 199)")
    add("--largest", metavar="N", type=int, default=5000, help="look no further (default: 5000)")


def _list_of(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    def read(text: str) -> list[Any]:
        try:
            return [kind(item) for item in text.split(",")]
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be numbers separated by commas; got {text!r}") from None

    return read


def _names(text: str) -> str | list[str]:
    names = [name.strip() for name in text.split(",")]
    return names if len(names) > 1 else names[0]


def _bandwidth(text: str) -> str | float | tuple[float, ...]:
    if text == "grid" or "median" in text:
        return text
    try:
        widths = tuple(float(width) for width in text.split(","))
    except ValueError:
        message = f"must be median, such as 0.5*median, grid, a number, or numbers such as 0.5,2; got {text!r}"
        raise argparse.ArgumentTypeError(message) from None
    return widths if len(widths) > 1 else widths[0]


def bandwidth(given: list[Any] | None) -> Any:
    """The bandwidth, or candidates, from an option that may be repeated."""
    if given is None:
        return "median"
    if len(given) == 1:
        return given[0]
    # an array of no dimensions is one number, never one per column
    return [np.asarray(width) if isinstance(width, float) else width for width in given]


def _resamples(text: str) -> int | float:
    try:
        return float("inf") if text == "inf" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number or inf; got {text!r}") from None


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
