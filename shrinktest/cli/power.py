"""``shrinktest power``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shrinktest.cli.exits import RAN
from shrinktest.cli.report import save_picture
from shrinktest.cli.settings import estimators
from shrinktest.cli.streams import named
from shrinktest.cli.studies import add_study_options, refuse_resamples, study_arguments
from shrinktest.cli.values import list_of, resamples, whole
from shrinktest.plots.axes import check_path
from shrinktest.power import KNOWN_TESTS, power_study
from shrinktest.power.designs import DESIGNS, Design
from shrinktest.results.info import KINDS


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "Power of tests on simulated data, paired, with intervals, and their level beside it."
    command.epilog = "Interrupted with --store FILE, the same command goes on where it was."
    add_study_options(command)
    add = command.add_argument
    add("design", metavar="DESIGN", nargs="?", help="see `shrinktest power --list`")
    add("--list", action="store_true", help="list the designs")
    add("--tests", action="store_true", help="list the tests of other packages that --estimators takes, too")
    what = "such as kme,auto,ks_2samp or fkmse:loo=paper (default: kme); kme+fkmse combines them"
    add("--estimators", metavar="NAMES", default="kme", help=what)
    add("--n", metavar="SIZES", type=list_of(int), help="such as 20,40,80 (default: 20,50,100)")
    add("--fractions", metavar="FRACTIONS", type=list_of(float), help="sizes as fractions of eckerle4's 35 points")
    add("--trials", metavar="N", type=whole, default=500, help="data sets per size (default: 500)")
    add("--resamples", metavar="N", type=resamples, default=999, help="permutations per test (default: 999)")
    add("--alphas", metavar="LEVELS", type=list_of(float), default=[0.05], help="such as 0.05,0.1 (default: 0.05)")
    add("--csv", metavar="FILE.csv", help="save the table")


def run(args: argparse.Namespace) -> int:
    """Run, or go on with, a power study; the exit code."""
    if args.list or args.tests:
        return _list(DESIGNS if args.list else KNOWN_TESTS)
    if args.design is None:
        raise ValueError("name a design; `shrinktest power --list` shows them")
    check_path(args.plot)
    if args.csv is not None and Path(args.csv).is_dir():
        raise ValueError(f"--csv {args.csv} cannot be saved, because it is a directory; name a file in it")
    if args.csv is not None and not Path(args.csv).absolute().parent.is_dir():
        raise ValueError(f"--csv {args.csv} cannot be saved: there is no directory {Path(args.csv).parent}")
    given = study_arguments(args)
    sizes, compared = _sizes(args, given["design"]), estimators(args.estimators)
    refuse_resamples(args, compared, given["design"])
    result = power_study(estimators=compared, sample_sizes=sizes, alphas=args.alphas, **given)
    print(result.summary())
    if args.csv is not None:
        with named(args.csv):
            result.to_csv(args.csv)
    save_picture(result.plot, args.plot)
    return RAN


def _list(named: Mapping[str, Any]) -> int:
    """Print designs, or tests, one line each."""
    width, kinds = (max(map(len, found)) for found in (named, KINDS))
    for name, one in named.items():
        print(f"{name:{width}}  {one.test:{kinds}}  {one.summary}")
    return RAN


def _sizes(args: argparse.Namespace, design: Design) -> list[int]:
    if args.fractions is None:
        return args.n if args.n is not None else [20, 50, 100]
    if args.n is not None:
        raise ValueError("--n and --fractions both say how many observations; give one of them")
    if args.design != "eckerle4":
        raise ValueError(f"--fractions are of the 35 points of eckerle4; with {args.design} give sizes by --n")
    return [design.size(fraction) for fraction in args.fractions]  # type: ignore[attr-defined]  # a subsample of Eckerle4
