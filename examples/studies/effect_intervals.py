"""Coverage of the intervals of effects that ``compare`` gives: location, spread and proportions of two tables.

4000 pairs of samples per setting: normal, uniform, exponential, lognormal and t data, and whole numbers, the second
sample shifted by half a standard deviation and scaled by 1.5; and proportions of 0.1 and 0.3.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, percent, write
from joblib import Parallel, delayed
from scipy import stats
from scipy.stats import binom

from shrinktest._parallel import usable_cores
from shrinktest.effects.columns import (
    Middle,
    difference_of_shares,
    larger,
    ratio_of_widths,
)
from shrinktest.effects.row_units import RowUnits

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
    """Return both samples, at these quantiles of their distributions."""
    distribution = DRAWS[draw]
    x, y = distribution.ppf(first), STRETCH * distribution.ppf(second) + SHIFT * distribution.std()
    return (np.rint(x), np.rint(y)) if draw == WHOLE else (x, y)


def covered(draw: str, sizes: tuple[int, int], trials: int) -> dict:
    """Count the intervals of location and of spread that cover the truth."""
    rng = np.random.default_rng([crc32(draw.encode()), *sizes])
    units, hits = RowUnits.rows(sizes), np.zeros(2, dtype=int)
    grid = (np.arange(100_000) + 0.5) / 100_000
    x, y = pair(draw, grid, grid)
    auc = 0.5 * np.mean(np.searchsorted(x, y, "left") + np.searchsorted(x, y, "right")) / len(x)
    ratio = Middle(y).width / Middle(x).width
    for _ in range(trials):
        samples = pair(draw, rng.random(sizes[0]), rng.random(sizes[1]))
        _, low, high = larger(*samples, units, CONFIDENCE)
        hits[0] += low <= auc <= high
        _, low, high = ratio_of_widths(*samples, units, CONFIDENCE)
        hits[1] += low <= ratio <= high
    return {"location": hits[0], "spread": hits[1]}


def covered_shares(sizes: tuple[int, int], trials: int) -> dict:
    """Count the intervals of a difference of proportions that cover it."""
    rng, units, hits = np.random.default_rng([7, *sizes]), RowUnits.rows(sizes), 0
    for _ in range(trials):
        is_so = rng.random(sum(sizes)) < np.repeat(SHARES, sizes)
        _, low, high = difference_of_shares(is_so, units, CONFIDENCE)
        hits += low <= SHARES[1] - SHARES[0] <= high
    return {"share": hits}


def measured(args) -> pd.DataFrame:
    """Return the coverage in every setting."""
    work = [(draw, sizes) for draw in (*DRAWS, "True and False") for sizes in SIZES]
    jobs = (
        delayed(covered)(draw, sizes, args.trials)
        if draw in DRAWS
        else delayed(covered_shares)(sizes, args.trials)
        for draw, sizes in work
    )
    rows = []
    for (draw, sizes), counts in zip(
        work, Parallel(n_jobs=args.workers or usable_cores())(jobs), strict=True
    ):
        for effect, hits in counts.items():
            share = hits / args.trials
            rows.append(
                {
                    "data": draw,
                    "rows": f"{sizes[0]} + {sizes[1]}",
                    "effect": effect,
                    "coverage": share,
                }
            )
            rows[-1]["trials"] = args.trials
    return pd.DataFrame(rows)


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    table = tables[""]
    low = table.loc[table["coverage"].idxmin()]
    return (
        f"95% intervals covered the truth in at least 93% of data sets in {int((table['coverage'] >= 0.93).sum())} of "
        f"{len(table)} settings. The lowest coverage was {percent(low['coverage'])}, for the {low['effect']} of "
        f"{low['data']} data."
    )


def alt(tables) -> str:
    """Describe the figure."""
    lowest = tables[""]["coverage"].min()
    return "Coverage of 95% intervals by kind of data: " + claim(
        "never far below 95%", lowest > 0.92
    )


def chart(tables):
    """Draw the coverage of 95% intervals by kind of data."""
    table = tables[""]
    groups = {name: some["coverage"] for name, some in table.groupby("data", sort=False)}
    return levels(groups, table["trials"].max(), 0.95, xlabel="coverage of 95% intervals")


def page(tables) -> list[str]:
    """Write the section from the coverage in all settings."""
    table = tables[""]
    trials = int(table["trials"].max())
    low, high = (int(binom.ppf(q, trials, CONFIDENCE)) / trials for q in (0.0005, 0.9995))
    parts = []
    for effect in ("location", "spread"):
        some = table[table["effect"] == effect]
        wide = some.pivot(index="data", columns="rows", values="coverage")
        wide = wide.loc[list(dict.fromkeys(some["data"])), list(dict.fromkeys(some["rows"]))]
        parts += [f"## {effect.capitalize()}", markdown(wide.reset_index())]
    share, spread = (
        table.loc[table["effect"] == effect, "coverage"] for effect in ("share", "spread")
    )
    return [
        claim("Intervals of spread are conservative in small samples.", spread.min() > 0.94)
        + " Newcombe's intervals for a difference of proportions "
        f"({SHARES[0]:g} and {SHARES[1]:g}) covered it in {percent(share.min())} to "
        f"{percent(share.max())} of data sets.",
        f"Each setting has {trials} pairs of samples; the measured coverage of exact "
        f"95% intervals would be in [{low:.4f}, {high:.4f}] with "
        f"probability 99.9%. The second sample is scaled by {STRETCH:g} and shifted by {SHIFT:g} standard deviations. "
        "Location is the AUC, with a score interval; spread is the ratio of interquartile ranges.",
        *parts,
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=20)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
