"""The commands ``power`` and ``sample-size`` of the command line."""

from __future__ import annotations

import argparse
from typing import Any

from shrinktest.cli.options import bandwidth
from shrinktest.cli.settings import configured, estimators, stopping
from shrinktest.estimators import ESTIMATORS
from shrinktest.multiple.collection import refuse_several
from shrinktest.nulls.restriction import ARGUMENTS
from shrinktest.plots.axes import check_path, save
from shrinktest.power import power_study, solve_sample_size
from shrinktest.power.designs import DESIGNS, Design, as_design

#: What each test calls its bandwidths.
BANDWIDTHS = {
    "two-sample": ("bandwidth",),
    "independence": ("bandwidth_x", "bandwidth_y"),
    "k-sample": ("bandwidth",),
    "joint-independence": ("bandwidths",),
}


def power(args: argparse.Namespace) -> int:
    """Run, or go on with, a power study."""
    if args.list or args.design is None:
        if not args.list:
            raise ValueError("name a design; `shrinktest power --list` shows them")
        width, tests = (max(map(len, found)) for found in (DESIGNS, BANDWIDTHS))
        for name, kind in DESIGNS.items():
            print(f"{name:{width}}  {kind.test:{tests}}  {kind.summary}")
        return 0
    check_path(args.plot)
    design, kernels = _design(args)
    result = power_study(
        design,
        estimators(args.estimators),
        _sizes(args, design),
        alphas=args.alphas,
        n_trials=args.trials,
        n_resamples=args.resamples,
        stopping=stopping(args.stopping),
        kernels=kernels,
        rng=args.seed,
        store=args.store,
        workers=args.workers,
        progress=not args.quiet,
    )
    print(result.summary())
    if args.csv is not None:
        result.to_csv(args.csv)
    if args.plot is not None:
        save(result.plot, args.plot)
    return 0


def sample_size(args: argparse.Namespace) -> int:
    """Find the sample size for a power."""
    check_path(args.plot)
    design, kernels = _design(args)
    named = estimators(args.estimator)
    if len(named) > 1:
        raise ValueError(f"--estimator takes one estimator; got {', '.join(named)}")
    ((label, estimator),) = named.items()
    result = solve_sample_size(
        design,
        estimator=label if label in ESTIMATORS else estimator,
        power=args.power,
        alpha=args.alpha,
        ratio=args.ratio,
        n_trials=args.trials,
        n_resamples=args.resamples,
        stopping=stopping(args.stopping),
        kernels=kernels,
        largest=args.largest,
        rng=args.seed,
        store=args.store,
        workers=args.workers,
        progress=not args.quiet,
    )
    print(result.summary())
    if args.plot is not None:
        save(result.plot, args.plot)
    return 0


def _design(args: argparse.Namespace) -> tuple[Design, dict[str, Any]]:
    """The design with its settings, and what the tests are told about their kernels and relabellings."""
    settings = dict(args.set)
    design = as_design(args.design)
    kernels: dict[str, Any] = {}
    width = bandwidth(args.bandwidth)
    if design.test not in ARGUMENTS:  # where a list means one for every variable or column
        refuse_several(f"a {design.test} test", "kme", args.kernel, width)
    if args.bandwidth == ["median"] and args.design == "eckerle4":  # whose points the bandwidths are taken from
        settings["bandwidth"] = "median"
    elif args.bandwidth is not None:
        kernels = dict.fromkeys(BANDWIDTHS[design.test], width)
    if args.kernel is not None:
        kernels |= dict.fromkeys((name.replace("bandwidth", "kernel") for name in BANDWIDTHS[design.test]), args.kernel)
    if args.paired:
        kernels["paired"] = True
    if args.shift is not None:
        kernels["shift"] = args.shift
    return configured(design, settings, args.design), kernels


def _sizes(args: argparse.Namespace, design: Design) -> list[int]:
    if args.fractions is None:
        return args.n if args.n is not None else [20, 50, 100]
    if args.n is not None:
        raise ValueError("--n and --fractions both say how many observations; give one of them")
    if args.design != "eckerle4":
        raise ValueError(f"--fractions are of the 35 points of eckerle4; with {args.design} give sizes by --n")
    return [design.size(fraction) for fraction in args.fractions]  # type: ignore[attr-defined]  # a subsample of Eckerle4
