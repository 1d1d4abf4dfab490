"""``shrinktest sample-size``."""

from __future__ import annotations

import argparse
from dataclasses import replace

from shrinktest.cli.exits import RAN
from shrinktest.cli.report import save_picture
from shrinktest.cli.settings import estimators
from shrinktest.cli.studies import add_study_options, refuse_resamples, study_arguments
from shrinktest.cli.values import number, resamples, whole
from shrinktest.plots.axes import check_path
from shrinktest.power import solve_sample_size


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    command.description = "The sample size at which a test reaches a power, with its interval."
    add_study_options(command)
    add = command.add_argument
    add("design", metavar="DESIGN", help="see `shrinktest power --list`")
    add("--estimator", metavar="NAME", default="kme", help="such as kme, fkmse:lam_cov=0.3 or ttest_ind (default: kme)")
    add("--power", metavar="POWER", type=number, default=0.8, help="to be reached (default: 0.8)")
    add("--alpha", metavar="LEVEL", type=number, default=0.05, help="of the test (default: 0.05)")
    add("--ratio", metavar="RATIO", type=number, help="size of the second sample over that of the first")
    add("--trials", metavar="N", type=whole, default=2000, help="data sets to fit the answer to (default: 2000)")
    add("--resamples", metavar="N", type=resamples, default=199, help="permutations per test (default: 199)")
    add("--largest", metavar="N", type=whole, default=5000, help="look no further (default: 5000)")


def run(args: argparse.Namespace) -> int:
    """Find the sample size for a power; the exit code."""
    check_path(args.plot)
    given = study_arguments(args)
    asked = estimators(args.estimator)
    if len(asked) > 1:
        raise ValueError(f"--estimator takes one estimator; got {', '.join(asked)}")
    refuse_resamples(args, asked, given["design"])
    ((label, estimator),) = asked.items()
    result = solve_sample_size(
        estimator=estimator,
        power=args.power,
        alpha=args.alpha,
        ratio=args.ratio,
        largest=args.largest,
        **given,
    )
    result = replace(result, estimator=label)  # as it was typed
    print(result.summary())
    save_picture(result.plot, args.plot)
    return RAN
