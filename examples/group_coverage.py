"""Coverage of the intervals of effects where rows come in groups, such as patients that were seen several times.

Rows of a group are independent of each other, resemble each other, or are nearly the same.  Besides, distances of
samples that are compared within blocks.  All columns are normal, so that true distances and dependences have formulas.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, parts, write
from statsmodels.stats.proportion import proportion_confint

from shrinktest import independence_test, two_sample_test

NAME = "group_coverage"
TITLE = "Coverage of intervals where rows come in groups or blocks"
CONFIDENCE = 0.95
GROUPS, MEMBERS = (10, 15, 30, 60), 4  # of each sample, and the rows in a group (their mean, where sizes differ)
ALIKE = (0.0, 0.4, 0.95)  # the correlation of rows of a group
SIZES = ("equal", "unequal")
DISTANCE, DEPENDENCE, WITHIN = "distance", "dependence", "distance within blocks"
EFFECTS = {DISTANCE: {"none": 0.0, "middling": 0.8}, DEPENDENCE: {"none": 0.0, "middling": 0.5}}
KERNELS = {DISTANCE: ("gaussian",), DEPENDENCE: ("gaussian", "linear")}
BLOCKS = ((20, 2, 2), (10, 2, 10), (5, 4, 20), (10, 5, 5))  # their number, and the rows of each sample in one
SHIFTS = {"none": 0.0, "middling": 1.5}  # within blocks
APART = (0.0, 1.0)  # the first and the last block are so far from the middle
BELOW = 0.93


def true_distance(shift: float) -> float:
    """The distance of normal distributions this far apart, for the Gaussian kernel of bandwidth 1."""
    return float(1.0 - np.exp(-(shift**2) / 6.0))


def true_within_blocks(shift: float, centres: np.ndarray) -> float:
    """The same of mixtures with these centres, of blocks of the same weight."""

    def product(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.exp(-np.square(a[:, None] - b) / 6.0).mean())

    return 1.0 - product(centres, centres + shift) / product(centres, centres)


def true_dependence(correlation: float, kernel: str) -> float:
    """The dependence of normal variables with this correlation, for kernels of bandwidth 1."""
    if kernel == "linear":
        return correlation**2

    def hsic(r: float) -> float:
        return (9.0 - 4.0 * r**2) ** -0.5 + 1.0 / 3.0 - (2.25 - 0.25 * r**2) ** -0.5

    return hsic(correlation) / hsic(1.0)


def grouped(rng: np.random.Generator, groups: int, sizes: str, alike: float, columns: int):
    """Normal columns (n, columns), independent of each other, and the number of every row's group."""
    each = MEMBERS if sizes == "equal" else np.maximum(1, rng.poisson(MEMBERS, size=groups))
    codes = np.repeat(np.arange(groups), each)
    shared = rng.normal(size=(groups, columns))[codes]
    return np.sqrt(alike) * shared + np.sqrt(1.0 - alike) * rng.normal(size=(len(codes), columns)), codes


def interval(measure: str, kernel: str, strength: float, groups: int, sizes: str, alike: float, rng):
    """The estimate and its interval, in one data set."""
    if measure == DISTANCE:
        (x, of_x), (y, of_y) = (grouped(rng, groups, sizes, alike, 1) for _ in range(2))
        told = {"kernel": kernel, "bandwidth": 1.0, "groups": (of_x, groups + of_y)}
        found = two_sample_test(x, y + strength, n_resamples=0, workers=1, **told).effect(folds=2)
        return found.distance, *found.distance_interval
    z, codes = grouped(rng, groups, sizes, alike, 2)
    x, y = z[:, 0], strength * z[:, 0] + np.sqrt(1.0 - strength**2) * z[:, 1]
    told = {f"kernel_{v}": kernel for v in "xy"}
    told |= {f"bandwidth_{v}": 1.0 for v in "xy"} if kernel == "gaussian" else {}
    found = independence_test(x, y, groups=codes, n_resamples=0, workers=1, **told).effect()
    return found.dependence, *found.dependence_interval


def within_blocks(design: tuple[int, int, int], apart: float, shift: float, rng: np.random.Generator):
    """The distance within blocks and its interval, in one data set."""
    count, *rows = design
    centres = apart * np.linspace(-1.0, 1.0, count)
    codes = [np.repeat(np.arange(count), n) for n in rows]
    x, y = (centres[code] + rng.normal(size=code.size) for code in codes)
    told = {"bandwidth": 1.0, "blocks": tuple(codes)}
    found = two_sample_test(x, y + shift, n_resamples=0, workers=1, **told).effect(folds=2)
    return found.distance, *found.distance_interval


def block_cell(design: tuple[int, int, int], apart: float, effect: str, trials: int) -> list[dict]:
    """How often the interval has the truth in one setting of blocks."""
    truth = true_within_blocks(SHIFTS[effect], apart * np.linspace(-1.0, 1.0, design[0]))
    key = crc32(f"{design} {apart} {effect}".encode())
    told = design, apart, SHIFTS[effect]
    found = [within_blocks(*told, np.random.default_rng([key, trial])) for trial in range(trials)]
    sizes = "{} times {} + {}".format(*design)
    about = {"measure": WITHIN, "kernel": "gaussian", "effect": effect, "groups": design[0], "sizes": sizes}
    return [about | {"alike": apart} | summary(np.array(found), truth)]


def cell(measure: str, kernel: str, effect: str, groups: int, sizes: str, alike: float, trials: int) -> list[dict]:
    """How often the interval has the truth in one setting."""
    strength = EFFECTS[measure][effect]
    truth = true_distance(strength) if measure == DISTANCE else true_dependence(strength, kernel)
    key = crc32(f"{measure} {kernel} {effect} {sizes} {alike}".encode())
    told = measure, kernel, strength, groups, sizes, alike
    found = np.array([interval(*told, np.random.default_rng([key, groups, trial])) for trial in range(trials)])
    about = {"measure": measure, "kernel": kernel, "effect": effect, "groups": groups, "sizes": sizes, "alike": alike}
    return [about | summary(found, truth)]


def summary(found: np.ndarray, truth: float) -> dict:
    """Of estimates and limits (trials, 3): their mean, how often they cover, and how long they are."""
    value, low, high = found.T
    inside, trials = int(((low <= truth) & (truth <= high)).sum()), len(found)
    ends = proportion_confint(inside, trials, method="beta")
    row = {"truth": truth, "mean": float(value.mean()), "error": float(value.std(ddof=1) / np.sqrt(trials))}
    row |= {"coverage": inside / trials, "low": ends[0], "high": ends[1], "above": float((low > truth).mean())}
    return row | {"length": float(np.median(high - low)), "trials": trials}


def measured(args) -> pd.DataFrame:
    """Coverage in every setting."""
    jobs = [
        partial(cell, measure, kernel, effect, groups, sizes, alike, args.trials)
        for measure in EFFECTS
        for kernel, effect, groups, sizes, alike in product(
            KERNELS[measure], EFFECTS[measure], GROUPS if args.trials >= 100 else GROUPS[:1], SIZES, ALIKE
        )
    ]
    blocks = BLOCKS if args.trials >= 100 else BLOCKS[:1]
    jobs += [partial(block_cell, *one, args.trials) for one in product(blocks, APART, SHIFTS)]
    return parts(args, NAME, jobs)


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    shares = 100.0 * table["coverage"]
    return (
        f"With `groups=` or `blocks=`, intervals that should cover the truth in 95 % of data sets did so in "
        f"{shares.min():.1f} to {shares.max():.1f} %; the median of {len(table)} settings is {shares.median():.1f} %. "
        f"In {int((table['coverage'] < BELOW).sum())} settings the share is below {100 * BELOW:.0f} %."
    )


def alt(tables) -> str:
    """What the picture shows."""
    return "Coverage of 95 % intervals by how much rows of a group have in common: " + claim(
        "most settings between 93 and 98 %", tables[""]["coverage"].between(0.93, 0.98).mean() > 0.5
    )


def chart(tables):
    """Coverage of 95 % intervals by how much rows of a group have in common."""
    table = tables[""]
    groups = {
        f"{measure}, {'centres ±' if measure == WITHIN else 'correlation '}{alike:g}": some["coverage"]
        for (measure, alike), some in table.groupby(["measure", "alike"], sort=False)
    }
    label = "share of data sets in which the interval has the truth"
    return levels(groups, int(table["trials"].max()), CONFIDENCE, xlabel=label)


def page(tables) -> list[str]:
    """What the page says, from the coverage in all settings."""
    table = tables[""]
    trials = int(table["trials"].max())
    table, blocks = table[table["measure"] != WITHIN], table[table["measure"] == WITHIN]
    bias = ((table["mean"] - table["truth"]) / table["error"]).abs()
    none = table[table["effect"] == "none"]
    lengths = none.groupby(["measure", "alike"])["length"].median().unstack()
    said = "; ".join(f"{measure} {', '.join(f'{value:.2f}' for value in row)}" for measure, row in lengths.iterrows())
    found = [
        f"The data are normal, {trials} data sets in every setting: {min(GROUPS)} to {max(GROUPS)} groups of about "
        f"{MEMBERS} rows in each sample, or as many of pairs. `alike` is the correlation of two rows of a group, "
        f"`above` the share of data sets in which the whole interval is above the truth, `length` the median length, "
        "`mean` the mean of the estimates. Bandwidths are 1.",
        "Only rows of different groups are compared, so that estimates are not larger where rows of a group resemble "
        f"each other: {int((bias < 3.0).sum())} of {len(table)} means are within three standard errors of the truth. "
        "(A ratio of unbiased estimates has a little bias.)",
        "Intervals are long where rows of a group resemble each other, for there is less in the data; without an "
        f"effect their lengths are, for correlations of {', '.join(f'{one:g}' for one in lengths.columns)}: {said}.",
    ]
    for (measure, kernel), some in table.groupby(["measure", "kernel"], sort=False):
        shown = some[["effect", "groups", "sizes", "alike", "truth", "mean", "coverage", "above", "length"]]
        found.append(f"## {measure.capitalize()}, {kernel} kernel\n\n" + markdown(shown.round(3)))
    shown = blocks[["effect", "sizes", "alike", "truth", "mean", "coverage", "above", "length"]]
    shown = shown.rename(columns={"sizes": "blocks", "alike": "centres"}).round(3)
    said = "The centres of blocks lie between minus and plus `centres`, and both samples have all blocks."
    return [*found, f"## Distance within blocks\n\n{said}\n\n" + markdown(shown)]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
