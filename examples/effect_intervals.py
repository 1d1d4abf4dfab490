"""Coverage of the intervals of effects that ``compare`` gives: location, spread and shares of two tables.

4000 pairs of samples a cell: of normal, uniform, exponential, lognormal and t data, and of whole numbers, the second
one moved by half a standard deviation and stretched by 1.5; and shares of .1 and .3.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, write
from joblib import Parallel, delayed
from scipy import stats
from scipy.stats import binom

from shrinktest._parallel import usable_cores
from shrinktest.effects.columns import Middle, larger, ratio_of_widths
from shrinktest.effects.shares import Units, difference_of_shares

NAME = "effect_intervals"
TITLE = "Coverage of the intervals of effects"
CONFIDENCE = 0.95
SHIFT, STRETCH = 0.5, 1.5
SHARES = (0.1, 0.3)
SIZES = ((20, 20), (15, 60), (50, 50), (200, 200), (500, 500))
WHOLE = "whole numbers"
DRAWS = {
    "normal": stats.norm(),
    "uniform": stats.uniform(),
    "exponential": stats.expon(),
    "t, 5 df": stats.t(5),
    "lognormal": stats.lognorm(1.0),
    WHOLE: stats.norm(scale=1.5),
}


def pair(draw: str, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both samples, at these shares of their distributions."""
    distribution = DRAWS[draw]
    x, y = distribution.ppf(first), STRETCH * distribution.ppf(second) + SHIFT * distribution.std()
    return (np.rint(x), np.rint(y)) if draw == WHOLE else (x, y)


def covered(draw: str, sizes: tuple[int, int], trials: int) -> dict:
    """How many intervals of location and of spread cover the truth."""
    rng = np.random.default_rng([crc32(draw.encode()), *sizes])
    units, hits = Units.rows(sizes), np.zeros(2, dtype=int)
    grid = (np.arange(100_000) + 0.5) / 100_000
    x, y = pair(draw, grid, grid)
    auc = 0.5 * np.mean(np.searchsorted(x, y, "left") + np.searchsorted(x, y, "right")) / len(x)
    ratio = Middle.of(y).width / Middle.of(x).width
    for _ in range(trials):
        samples = pair(draw, rng.random(sizes[0]), rng.random(sizes[1]))
        _, low, high = larger(*samples, units, CONFIDENCE)
        hits[0] += low <= auc <= high
        _, low, high = ratio_of_widths(*samples, units, CONFIDENCE)
        hits[1] += low <= ratio <= high
    return {"location": hits[0], "spread": hits[1]}


def covered_shares(sizes: tuple[int, int], trials: int) -> dict:
    """How many intervals of a difference of shares cover it."""
    rng, units, hits = np.random.default_rng([7, *sizes]), Units.rows(sizes), 0
    for _ in range(trials):
        is_so = rng.random(sum(sizes)) < np.repeat(SHARES, sizes)
        _, low, high = difference_of_shares(is_so, units, CONFIDENCE)
        hits += low <= SHARES[1] - SHARES[0] <= high
    return {"share": hits}


def measured(args) -> pd.DataFrame:
    """Coverage in every cell."""
    work = [(draw, sizes) for draw in (*DRAWS, "True and False") for sizes in SIZES]
    jobs = (
        delayed(covered)(draw, sizes, args.trials) if draw in DRAWS else delayed(covered_shares)(sizes, args.trials)
        for draw, sizes in work
    )
    rows = []
    for (draw, sizes), found in zip(work, Parallel(n_jobs=args.workers or usable_cores())(jobs), strict=True):
        for effect, hits in found.items():
            share = hits / args.trials
            rows.append({"data": draw, "rows": f"{sizes[0]} + {sizes[1]}", "effect": effect, "coverage": share})
            rows[-1]["trials"] = args.trials
    return pd.DataFrame(rows)


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    shares = 100.0 * table["coverage"]
    low = table.loc[shares.idxmin()]
    return (
        f"95% intervals covered the truth in at least 93% of data sets in {int((shares >= 93.0).sum())} of "
        f"{len(table)} settings. The lowest share was {shares.min():.1f}%, for the {low['effect']} of {low['data']} "
        "data."
    )


def alt(tables) -> str:
    """What the picture shows."""
    lowest = tables[""]["coverage"].min()
    return "Coverage of 95 % intervals, by kind of data: " + claim("never far below 95 %", lowest > 0.92)


def chart(tables):
    """Coverage of 95 % intervals, by kind of data: never far below 95 %."""
    table = tables[""]
    groups = {name: some["coverage"] for name, some in table.groupby("data", sort=False)}
    return levels(groups, table["trials"].max(), 0.95, xlabel="share of data sets in which the interval has the truth")


def page(tables) -> list[str]:
    """What the page says, from the coverage in all cells."""
    table = tables[""]
    trials = int(table["trials"].max())
    said = []
    for words, names in {"location": ["location"], "spread": ["spread"], "shares": ["share"]}.items():
        some = 100 * table.loc[table["effect"].isin(names), "coverage"]
        said.append(f"{some.min():.1f}% to {some.max():.1f}% for {words}")
    error = 1.96 * np.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / trials)
    low, high = (int(binom.ppf(q, trials, CONFIDENCE)) / trials for q in (0.0005, 0.9995))
    parts = []
    for effect, some in table.groupby("effect", sort=False):
        wide = some.pivot(index="data", columns="rows", values="coverage")
        wide = wide.loc[list(dict.fromkeys(some["data"])), list(dict.fromkeys(some["rows"]))]
        parts += [f"## {effect.capitalize()}", markdown(wide.reset_index())]
    return [
        f"95% intervals cover the truth in {', '.join(said)}. "
        + claim(
            "Intervals of spread are conservative: with few rows they cover more often than stated.",
            table.loc[table["effect"] == "spread", "coverage"].min() > 0.94,
        ),
        f"{trials} pairs of samples per cell, 95% margins of at most {100 * error:.1f} points; an interval that covers "
        f"in 95% of samples is inside [{low:.4f}, {high:.4f}] with probability 99.9%. The second sample is stretched "
        f"by {STRETCH:g} and moved by {SHIFT:g} standard deviations of the first. Location: the probability that a "
        "value of the second sample is larger than one of the first (AUC), with a score interval. Spread: the ratio of "
        "interquartile ranges of the mid-distribution functions, with variances from influence functions and Welch's "
        f"degrees of freedom. Shares of {SHARES[0]:g} and {SHARES[1]:g}: Newcombe's intervals. Whole numbers are "
        "normal ones with standard deviation 1.5, rounded.",
        *parts,
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=20)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
