"""Options that the commands for tests share, and the arguments of the library that they give."""

from __future__ import annotations

import argparse
from typing import Any

from shrinktest.cli.exits import EXIT_CODES
from shrinktest.cli.settings import estimator, stopping
from shrinktest.cli.table import DECIMALS, HEADERS
from shrinktest.cli.values import (
    bandwidth,
    names,
    number,
    one_of,
    resamples,
    scale,
    separator,
    setting,
    shift,
    types,
    whole,
    width,
)
from shrinktest.results.info import CHANGE, KINDS

#: Values of those options that a command may refuse, where nobody gave them.
DEFAULTS: dict[str, Any] = {
    **{"estimator": "kme", "set": [], "tuning": None, "form": "auto", "resamples": 999, "stopping": None},
    **{"gram": "auto", "rank": None, "max_memory": None, "kernel": "gaussian", "bandwidth": None, "scale": "auto"},
    **{"progress": False},
}

KERNELS = (
    "gaussian (default), laplacian, linear, polynomial, whitened (such as whitened:lam=0.01), second-order, depth or "
    "energy"
)
STOPPING = "draw fewer permutations: besag-clifford (or besag-clifford:h=10), or curtailed, once the answer is certain"
_WIDTHS = "median (default), neighbours (to the nearest tenth), a multiple such as 0.5*median"
MISSING = "raise (default), omit their rows, indicator (that they are missing is information), or propagate"
COMPLETE = "raise (default), omit their rows, or indicator (that they are missing is information)"
COLUMNS = "such as a,b, or by position 1:13 (default: all)"

PATTERNS = "also 'before/*.parquet' or x.npy, with --gram rff or nystrom of any size"

_RESTRICTIONS: dict[str, dict[str, Any]] = {
    "blocks": {"metavar": "NAME", "help": "column of labels: permute within blocks only"},
    "groups": {"metavar": "NAME", "help": "column of labels: permute whole groups (clusters)"},
    "paired": {"action": "store_true", "help": "row i of both files is a pair: permute within pairs"},
    "shift": {
        "metavar": "HOW",
        "help": "circular: y is a time series; shift it instead of permuting it (with --blocks each of several series)",
    },
}


#: Restrictions that are typed in another way for a kind of test.
ALONE = {CHANGE.name: ("shift",)}


def add_test_options(
    command: argparse.ArgumentParser,
    *,
    refused: tuple[str, ...] = (),
    plot: str = "save a picture of the null distribution",
    exits: str = "exit with 1 when the test rejects",
    estimator: str = DEFAULTS["estimator"],
    missing: str = MISSING,
    several: bool = True,
) -> None:
    """Add the options of all tests; those that a command refuses, with a reason, are not in its help.

    A command says which ``estimator`` it takes where nobody names one and whether it combines ``several``, and what
    becomes of ``missing`` cells.
    """
    command.epilog = EXIT_CODES

    def add(option: str, **said: Any) -> None:
        name = option.removeprefix("--").replace("-", "_")
        known = {"default": DEFAULTS[name]} if name in DEFAULTS else {}
        hidden = {"help": argparse.SUPPRESS} if name in refused else {}
        command.add_argument(option, **known | said | hidden)

    what = f"see `shrinktest estimators` (default: {estimator}), such as fkmse:lam_cov=0.3"
    what += "; several with commas between are combined, auto is the combination that is recommended" if several else ""
    add("--estimator", metavar="NAME", default=estimator, help=what)
    what = "a parameter of the one estimator, or else of the one kernel, such as lam=0.1; may be repeated"
    add("--set", metavar="KEY=VALUE", type=setting, action="append", help=what)
    add("--tuning", metavar="WHEN", help="auto (default), sample, joint or pooled")
    what = (
        "units of the columns: sd (default), none (as they are), mad, rank, deviation, one number per column in their "
        "order such as 1,1000, or by name such as income=1000,age=mad"
    )
    add("--scale", metavar="UNITS", type=scale, help=what)
    add("--form", metavar="FORM", help="auto (default), biased or unbiased")
    add("--resamples", metavar="N", type=resamples, help="number of permutations (default: 999); inf: all there are")
    add("--stopping", metavar="RULE", help=STOPPING)
    add("--alpha", metavar="LEVEL", type=number, default=0.05, help="reject when p <= LEVEL (default: 0.05)")
    add("--seed", metavar="N", type=whole, help="makes the p-value reproducible")
    what = "does the first row name the columns? auto (default), yes or no"
    add("--header", metavar="WHETHER", type=one_of(HEADERS), default="auto", help=what)
    what = (
        "how columns are read where their cells do not say it: number, category, boolean, date, drop, or levels in "
        "their order, such as 'zip=category,id=drop,size=S<M<L'"
    )
    add("--types", metavar="NAME=TYPE", type=types, help=what)
    what = "the mark before decimals: a point (default), or a comma as in 1,5 (with semicolons between the cells)"
    add("--decimal", metavar="MARK", type=one_of(DECIMALS), default=".", help=what)
    add("--comment", metavar="MARK", help="skip lines that begin with this, such as '#'")
    what = "what is between cells: a character, or the word tab (default: a comma, ;, | or tab, whichever there is)"
    add("--separator", metavar="MARK", type=separator, help=what)
    what = "what the files are in, such as latin-1 or utf-16 (default: utf-8); those compressed by gzip are read, too"
    add("--encoding", metavar="NAME", default="utf-8", help=what)
    what = "cells that are missing, beside empty ones, NA and nan, such as n/a or NULL; may be repeated"
    add("--na", metavar="CELL", action="append", help=what)
    what = f"with missing cells (empty, NA, nan): {missing}"
    add("--nan-policy", metavar="POLICY", default=missing.split()[0].rstrip(","), help=what)
    what = "how the kernel is evaluated: auto (default), dense, factor, nystrom or rff; the last two approximate it"
    add("--gram", metavar="ROUTE", help=what)
    add("--rank", metavar="N", type=whole, help="coordinates of an approximated kernel")
    what = "bytes that the kernel's values may take (default: a quarter of what is free)"
    add("--max-memory", metavar="BYTES", type=number, help=what)
    add("--workers", metavar="N", type=whole, help="threads (default: all cores); never changes the result")
    add("--progress", action="store_true", help="show a progress bar")
    add("--json", action="store_true", help="print JSON; its keys are the result's attributes in Python")
    add("--plot", metavar="FILE.png", help=plot)
    add("--exit-code", action="store_true", help=exits)


def add_columns(command: argparse.ArgumentParser, more: str = "") -> None:
    """Add which columns of several samples are tested; ``more`` says where it is heeded."""
    command.add_argument("--columns", metavar="NAMES", help=f"{COLUMNS[:-1]}, matched by name){more}")


def add_effect(command: argparse.ArgumentParser) -> None:
    """Add that the effect is wanted."""
    what = "also say how large the difference or dependence is, with intervals"
    command.add_argument("--effect", action="store_true", help=what)


def add_tests_options(command: argparse.ArgumentParser) -> None:
    """Add the options of all tests to a command that runs one for every column or pair of columns."""
    heat, any_rejects = "save a heat map of the adjusted p-values", "exit with 1 when any test rejects"
    add_test_options(command, refused=("stopping",), plot=heat, exits=any_rejects, missing=COMPLETE)


def add_method(command: argparse.ArgumentParser) -> None:
    """Add how p-values are adjusted for the number of tests."""
    what = "westfall-young (default), holm, fdr_bh, or another of statsmodels' multipletests"
    command.add_argument("--method", metavar="NAME", default="westfall-young", help=what)


def add_given(command: argparse.ArgumentParser, more: str = "") -> None:
    """Add which columns are given, and what is done about them; ``more`` is what else may be named."""
    what = (
        f"columns that are given: are the others dependent besides?  Such as age,site{more}; where they miss values, "
        "with --nan-policy omit"
    )
    command.add_argument("--given", metavar="NAMES", help=what)
    what = "auto (default: strata for categories, residuals for numbers), strata, residuals or local"
    command.add_argument("--given-method", metavar="NAME", default="auto", help=what)


def add_restrictions(command: argparse.ArgumentParser, *kinds: str) -> None:
    """Add the options that restrict the permutations of these kinds of test."""
    for name, said in _RESTRICTIONS.items():
        if any(name in KINDS[kind].restrictions and name not in ALONE.get(kind, ()) for kind in kinds):
            command.add_argument(f"--{name}", **said)


def add_shift(command: argparse.ArgumentParser) -> None:
    """Add how rows of a series that depend on each other are permuted."""
    what = (
        "for rows in order of time that depend on each other: a number of successive rows that change places together, "
        "stretches (of a length that their correlation says), or circular"
    )
    command.add_argument("--shift", metavar="HOW", type=shift, help=what)


def add_kernel(command: argparse.ArgumentParser, each: str = "column") -> None:
    """Add the options of one kernel and its bandwidth; ``each`` is what numbers that are typed in order are for."""
    what = f"{_WIDTHS}, a number, one per {each} such as 0.5,2, or by the names of columns as in income=3,rate=0.5"
    command.add_argument("--kernel", metavar="NAME", default="gaussian", help=KERNELS)
    command.add_argument("--bandwidth", metavar="WIDTH", type=width, action="append", help=what)


def add_kernels(command: argparse.ArgumentParser, suffix: str = "") -> None:
    """Add the options of kernels and bandwidths that are combined where several are given."""
    what = f"{KERNELS}; several such as gaussian,laplacian are combined"
    command.add_argument(f"--kernel{suffix}", metavar="NAME", type=names, default="gaussian", help=what)
    what = (
        f"{_WIDTHS}, a number, or one per column such as 0.5,2 or income=3,rate=0.5; may be repeated: several are "
        "combined, grid is five"
    )
    command.add_argument(f"--bandwidth{suffix}", metavar="WIDTH", type=width, action="append", help=what)


def arguments(args: argparse.Namespace, *leave_out: str) -> dict[str, Any]:
    """What the options of all tests give to a test, without the arguments that it does not take."""
    given = {
        "estimator": named_estimator(args),
        "n_resamples": args.resamples,
        "stopping": stopping(args.stopping),
        "form": args.form,
        "alpha": args.alpha,
        "nan_policy": args.nan_policy,
        "rng": args.seed,
        "workers": args.workers,
        "progress": args.progress,
        "gram": args.gram,
        "rank": args.rank,
        "scale": args.scale,
        "max_memory": args.max_memory,
    }
    return {name: value for name, value in given.items() if name not in leave_out}


def named_estimator(args: argparse.Namespace) -> Any:
    """The estimator with the parameters that were set, a list of several, or "auto"."""
    return estimator(args.estimator, dict(args.set, **({} if args.tuning is None else {"tuning": args.tuning})))


def one_bandwidth(args: argparse.Namespace) -> Any:
    """The bandwidth of a test that combines nothing."""
    if args.bandwidth is not None and len(args.bandwidth) > 1:
        raise ValueError(f"--bandwidth may be repeated where several are combined, which {args.command} does not do")
    return bandwidth(args.bandwidth)


def refuse(args: argparse.Namespace, names: tuple[str, ...], what: str) -> None:
    """Raise for options of other tests, which this one would not heed, also where they ask for what is the default."""
    for name in names:
        option = f"--{name.replace('_', '-')}"
        if option in getattr(args, "typed", ()) or getattr(args, name) != DEFAULTS[name]:
            raise ValueError(f"{option} is not for {what}; leave it out")
