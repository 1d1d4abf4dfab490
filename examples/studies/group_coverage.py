"""Coverage of the intervals of effects where rows come in groups, such as patients with several visits.

Rows of a group are independent, correlated, or nearly identical.  Also distances of samples that are compared within
blocks.  All columns are normal, so that true distances and dependences have formulas.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, parts, percent, write
from statsmodels.stats.proportion import proportion_confint

from shrinktest import independence_test, two_sample_test

NAME = "group_coverage"
TITLE = "Coverage of intervals where rows come in groups or blocks"
CONFIDENCE = 0.95
GROUPS, MEMBERS = (
    (10, 15, 30, 60),
    4,
)  # of each sample, and the rows in a group (their mean, where sizes differ)
ALIKE = (0.0, 0.4, 0.95)  # the correlation of rows of a group
SIZES = ("equal", "unequal")
DISTANCE, DEPENDENCE, WITHIN = "distance", "dependence", "distance within blocks"
EFFECTS = {DISTANCE: {"none": 0.0, "middling": 0.8}, DEPENDENCE: {"none": 0.0, "middling": 0.5}}
KERNELS = {DISTANCE: ("gaussian",), DEPENDENCE: ("gaussian", "linear")}
BLOCKS = (
    (20, 2, 2),
    (10, 2, 10),
    (5, 4, 20),
    (10, 5, 5),
)  # their number, and the rows of each sample in one
SHIFTS = {"none": 0.0, "middling": 1.5}  # within blocks
APART = (0.0, 1.0)  # the first and the last block are so far from the middle
BELOW = 0.93


def true_distance(shift: float) -> float:
    """Return the distance of normal distributions this far apart, for the Gaussian kernel of bandwidth 1."""
    return float(1.0 - np.exp(-(shift**2) / 6.0))


def true_within_blocks(shift: float, centers: np.ndarray) -> float:
    """Return the distance of mixtures with these centers, one for each block."""

    def product(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.exp(-np.square(a[:, None] - b) / 6.0).mean())

    return 1.0 - product(centers, centers + shift) / product(centers, centers)


def true_dependence(correlation: float, kernel: str) -> float:
    """Return the dependence of normal variables with this correlation, for kernels of bandwidth 1."""
    if kernel == "linear":
        return correlation**2

    def hsic(r: float) -> float:
        return (9.0 - 4.0 * r**2) ** -0.5 + 1.0 / 3.0 - (2.25 - 0.25 * r**2) ** -0.5

    return hsic(correlation) / hsic(1.0)


def grouped(rng: np.random.Generator, groups: int, sizes: str, alike: float, columns: int):
    """Draw independent normal columns (n, columns), and return them with the group of every row."""
    each = MEMBERS if sizes == "equal" else np.maximum(1, rng.poisson(MEMBERS, size=groups))
    codes = np.repeat(np.arange(groups), each)
    shared = rng.normal(size=(groups, columns))[codes]
    return np.sqrt(alike) * shared + np.sqrt(1.0 - alike) * rng.normal(
        size=(len(codes), columns)
    ), codes


def interval(
    measure: str, kernel: str, strength: float, groups: int, sizes: str, alike: float, rng
):
    """Return the estimate and its interval in one data set."""
    if measure == DISTANCE:
        (x, of_x), (y, of_y) = (grouped(rng, groups, sizes, alike, 1) for _ in range(2))
        arguments = {"kernel": kernel, "bandwidth": 1.0, "groups": (of_x, groups + of_y)}
        effect = two_sample_test(x, y + strength, n_resamples=0, workers=1, **arguments).effect(
            folds=2
        )
        return effect.distance, *effect.distance_interval
    z, codes = grouped(rng, groups, sizes, alike, 2)
    x, y = z[:, 0], strength * z[:, 0] + np.sqrt(1.0 - strength**2) * z[:, 1]
    arguments = {f"kernel_{v}": kernel for v in "xy"}
    arguments |= {f"bandwidth_{v}": 1.0 for v in "xy"} if kernel == "gaussian" else {}
    effect = independence_test(x, y, groups=codes, n_resamples=0, workers=1, **arguments).effect()
    return effect.dependence, *effect.dependence_interval


def within_blocks(
    design: tuple[int, int, int], apart: float, shift: float, rng: np.random.Generator
):
    """Return the distance within blocks and its interval in one data set."""
    count, *rows = design
    centers = apart * np.linspace(-1.0, 1.0, count)
    codes = [np.repeat(np.arange(count), n) for n in rows]
    x, y = (centers[code] + rng.normal(size=code.size) for code in codes)
    arguments = {"bandwidth": 1.0, "blocks": tuple(codes)}
    effect = two_sample_test(x, y + shift, n_resamples=0, workers=1, **arguments).effect(folds=2)
    return effect.distance, *effect.distance_interval


def block_cell(design: tuple[int, int, int], apart: float, effect: str, trials: int) -> list[dict]:
    """Return the coverage in one setting with blocks."""
    truth = true_within_blocks(SHIFTS[effect], apart * np.linspace(-1.0, 1.0, design[0]))
    key = crc32(f"{design} {apart} {effect}".encode())
    setting = design, apart, SHIFTS[effect]
    intervals = [
        within_blocks(*setting, np.random.default_rng([key, trial])) for trial in range(trials)
    ]
    sizes = "{} times {} + {}".format(*design)
    about = {
        "measure": WITHIN,
        "kernel": "gaussian",
        "effect": effect,
        "groups": design[0],
        "sizes": sizes,
    }
    return [about | {"alike": apart} | summary(np.array(intervals), truth)]


def cell(
    measure: str, kernel: str, effect: str, groups: int, sizes: str, alike: float, trials: int
) -> list[dict]:
    """Return the coverage in one setting with groups."""
    strength = EFFECTS[measure][effect]
    truth = true_distance(strength) if measure == DISTANCE else true_dependence(strength, kernel)
    key = crc32(f"{measure} {kernel} {effect} {sizes} {alike}".encode())
    setting = measure, kernel, strength, groups, sizes, alike
    intervals = [
        interval(*setting, np.random.default_rng([key, groups, trial])) for trial in range(trials)
    ]
    about = {
        "measure": measure,
        "kernel": kernel,
        "effect": effect,
        "groups": groups,
        "sizes": sizes,
        "alike": alike,
    }
    return [about | summary(np.array(intervals), truth)]


def summary(intervals: np.ndarray, truth: float) -> dict:
    """Summarize estimates and limits (trials, 3): their mean, coverage and length."""
    value, low, high = intervals.T
    inside, trials = int(((low <= truth) & (truth <= high)).sum()), len(intervals)
    ends = proportion_confint(inside, trials, method="beta")
    row = {
        "truth": truth,
        "mean": float(value.mean()),
        "error": float(value.std(ddof=1) / np.sqrt(trials)),
    }
    row |= {
        "coverage": inside / trials,
        "low": ends[0],
        "high": ends[1],
        "above": float((low > truth).mean()),
    }
    return row | {"length": float(np.median(high - low)), "trials": trials}


def measured(args) -> pd.DataFrame:
    """Return the coverage in every setting."""
    jobs = [
        partial(cell, measure, kernel, effect, groups, sizes, alike, args.trials)
        for measure in EFFECTS
        for kernel, effect, groups, sizes, alike in product(
            KERNELS[measure],
            EFFECTS[measure],
            GROUPS if args.trials >= 100 else GROUPS[:1],
            SIZES,
            ALIKE,
        )
    ]
    blocks = BLOCKS if args.trials >= 100 else BLOCKS[:1]
    jobs += [
        partial(block_cell, *setting, args.trials) for setting in product(blocks, APART, SHIFTS)
    ]
    return parts(args, NAME, jobs)


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    coverage = tables[""]["coverage"]
    return (
        f"With `groups=` or `blocks=`, 95% intervals covered the truth in {percent(coverage.min())} to "
        f"{percent(coverage.max())} of data sets; the median of {len(coverage)} settings is {percent(coverage.median())}. "
        f"In {int((coverage < BELOW).sum())} settings coverage is below {BELOW:.0%}."
    )


def alt(tables) -> str:
    """Describe the figure."""
    return "Coverage of 95% intervals by correlation within groups: " + claim(
        "most settings between 93% and 98%", tables[""]["coverage"].between(0.93, 0.98).mean() > 0.5
    )


def chart(tables):
    """Draw the coverage of 95% intervals by correlation within groups."""
    table = tables[""]
    groups = {
        f"{measure}, {'centers ±' if measure == WITHIN else 'correlation '}{alike:g}": some[
            "coverage"
        ]
        for (measure, alike), some in table.groupby(["measure", "alike"], sort=False)
    }
    return levels(
        groups, int(table["trials"].max()), CONFIDENCE, xlabel="coverage of 95% intervals"
    )


def page(tables) -> list[str]:
    """Write the section from the coverage in all settings."""
    table = tables[""][tables[""]["measure"] != WITHIN]
    bias = ((table["mean"] - table["truth"]) / table["error"]).abs()
    rows = []
    correlation = tables[""]["alike"].map("{:g}".format).where(tables[""]["measure"] != WITHIN, "-")
    for (measure, alike), some in tables[""].groupby(["measure", correlation], sort=False):
        row = {"measure": measure, "correlation in a group": alike}
        row["coverage"] = f"{percent(some['coverage'].min())} to {percent(some['coverage'].max())}"
        row["median length without an effect"] = (
            f"{some.loc[some['effect'] == 'none', 'length'].median():.2f}"
        )
        rows.append(row)
    return [
        markdown(pd.DataFrame(rows)),
        "Only rows of different groups are compared, so correlation within groups does not bias the estimates: "
        f"{int((bias < 3.0).sum())} of {len(table)} means are within three standard errors of the truth.",
        f"Each setting has {tables['']['trials'].max()} data sets of normal columns, with {min(GROUPS)} to "
        f"{max(GROUPS)} groups of about {MEMBERS} rows per sample, or 5 to 20 blocks; kernels are Gaussian or linear "
        "with bandwidth 1.",
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
