"""What the commands for studies of power share: their options, and the design that they name."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from shrinktest.cli.options import KERNELS, STOPPING
from shrinktest.cli.settings import configured, stopping
from shrinktest.cli.values import bandwidth, names, setting, shift, whole, width
from shrinktest.multiple.ensembles import refuse_candidates
from shrinktest.power.arguments import named_tests, permutes
from shrinktest.power.designs import Design, as_design
from shrinktest.results.info import KINDS


def add_study_options(command: argparse.ArgumentParser) -> None:
    """Add the options of all studies."""
    add = command.add_argument
    what = "a parameter of the design, such as dimension=20; may be repeated"
    add("--set", metavar="KEY=VALUE", type=setting, action="append", default=[], help=what)
    add("--kernel", metavar="NAME", type=names, help=f"{KERNELS}, for all variables; several are combined")
    what = (
        "of all variables, such as 0.5*median; may be repeated: several are combined, grid is five; for eckerle4 "
        "median takes that of each subsample"
    )
    add("--bandwidth", metavar="WIDTH", type=width, action="append", help=what)
    what = "units of the columns of every variable: sd, mad, rank or deviation"
    add("--scale", metavar="UNITS", help=what)
    add("--stopping", metavar="RULE", help=STOPPING)
    add("--paired", action="store_true", help="permute within pairs, observation i of one sample and of the other")
    what = "circular: shift y (or labels) instead of permuting; samples and series: also stretches, or a number of rows"
    add("--shift", metavar="HOW", type=shift, help=what)
    add("--seed", metavar="N", type=whole, default=0, help="of the study (default: 0)")
    add("--store", metavar="FILE.sqlite", help="keep every p-value here; an interrupted study goes on from it")
    add("--plot", metavar="FILE.png", help="save a picture")
    add("--workers", metavar="N", type=whole, help="processes (default: all cores); never changes the result")
    add("--quiet", action="store_true", help="no progress bar, which only a terminal shows")


def study_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What the options of all studies give to one, its design included."""
    design, told = _design(args)
    return {
        "design": design,
        "test_options": told,
        "n_trials": args.trials,
        "n_resamples": args.resamples,
        "stopping": stopping(args.stopping),
        "rng": args.seed,
        "store": args.store,
        "workers": args.workers,
        "progress": not args.quiet and sys.stderr.isatty(),  # bars are for a terminal, not for a file
    }


def refuse_resamples(args: argparse.Namespace, compared: dict[str, Any], design: Design) -> None:
    """Raise ValueError for a number of permutations where none of the tests permutes."""
    if "--resamples" in args.typed and not any(map(permutes, named_tests(compared, design.test).values())):
        raise ValueError(
            f"--resamples is for tests that permute, and there is none among {', '.join(compared)}; leave it out"
        )


def _design(args: argparse.Namespace) -> tuple[Design, dict[str, Any]]:
    """The design with its settings, and what the tests are told about their kernels and relabellings."""
    settings, told = dict(args.set), {}
    design = as_design(args.design)
    kind, given = KINDS[design.test], bandwidth(args.bandwidth)
    if not kind.candidates:
        refuse_candidates(f"a {design.test} test", args.kernel, given)
    if args.bandwidth == ["median"] and args.design == "eckerle4":  # whose points the bandwidths are taken from
        if "bandwidth" in settings:
            raise ValueError(
                "--bandwidth median is that of each subsample of eckerle4, and --set has another: give one"
            )
        settings["bandwidth"] = "median"
    elif args.bandwidth is not None:
        told = dict.fromkeys(kind.bandwidths, given)
    if args.kernel is not None:
        told |= dict.fromkeys(kind.kernels, args.kernel)
    if args.scale is not None:
        told["scale"] = args.scale
    for name in ("paired", "shift"):
        if (value := getattr(args, name)) is not None and value is not False:
            if name not in (*kind.restrictions, *kind.settings):
                article = "an" if design.test.startswith("i") else "a"
                raise ValueError(f"--{name} is not for {article} {design.test} test, which is that of {args.design}")
            told[name] = value
    return configured(design, settings, args.design), told
