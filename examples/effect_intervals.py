"""Coverage of the intervals of effects that ``compare`` gives: means, spreads and shares of two tables.

4000 pairs of samples a cell: of normal, uniform, exponential, lognormal and t data, the second one moved by half a
standard deviation and stretched by 1.5; and shares of .1 and .3.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, write
from joblib import Parallel, delayed
from scipy.stats import binom

from shrinktest._machine import usable_cores
from shrinktest.tables.intervals import (
    FEWEST,
    FEWEST_FOR_SPREAD,
    Units,
    difference_of_shares,
    hedges,
    jackknife,
    log_ratio,
)

NAME = "effect_intervals"
TITLE = "Coverage of the intervals of effects"
CONFIDENCE = 0.95
SHIFT, STRETCH = 0.5, 1.5
SHARES = (0.1, 0.3)
SIZES = ((20, 20), (15, 60), (50, 50), (200, 200), (500, 500))
#: How data are drawn, their mean and their standard deviation.
DRAWS = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0, 1.0),
    "uniform": (lambda rng, n: rng.random(n), 0.5, 12.0**-0.5),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0, 1.0),
    "t, 5 df": (lambda rng, n: rng.standard_t(5, n), 0.0, (5.0 / 3.0) ** 0.5),
    "lognormal": (
        lambda rng, n: rng.lognormal(size=n),
        np.exp(0.5),
        float(np.sqrt((np.e - 1.0) * np.e)),
    ),
}


def covered(draw: str, sizes: tuple[int, int], trials: int) -> dict:
    """How many intervals of means and of spreads cover the truth."""
    function, mean, deviation = DRAWS[draw]
    rng = np.random.default_rng([crc32(draw.encode()), *sizes])
    units, hits = Units.rows(sizes), np.zeros(2, dtype=int)
    moved = (STRETCH - 1.0) * mean + SHIFT * deviation
    # pooled as the effect is: by degrees of freedom
    weights = np.array(sizes) - 1.0
    truth = moved / np.sqrt(np.average([deviation**2, (STRETCH * deviation) ** 2], weights=weights))
    for _ in range(trials):
        values = function(rng, sum(sizes))
        values[sizes[0] :] = STRETCH * values[sizes[0] :] + SHIFT * deviation
        _, low, high = jackknife(hedges, values, units, CONFIDENCE, FEWEST)
        hits[0] += low <= truth <= high
        _, low, high = jackknife(log_ratio, values, units, CONFIDENCE, FEWEST_FOR_SPREAD)
        hits[1] += low <= np.log(STRETCH) <= high
    return {"mean": hits[0], "spread": hits[1]}


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
    near = shares.between(93.0, 97.0)
    return (
        "Intervals that should cover the truth in 95 % of data sets did so within 2 points in "
        f"{int(near.sum())} of {len(table)} settings. The lowest share was {shares.min():.1f} %, for the "
        f"{low['effect']} of {low['data']} data."
    )


def alt(tables) -> str:
    """What the picture shows."""
    lowest = tables[""].groupby("data")["coverage"].min()
    return "Coverage of 95 % intervals, by kind of data: " + claim(
        "lowest for lognormal data", lowest.idxmin() == "lognormal"
    )


def chart(tables):
    """Coverage of 95 % intervals, by kind of data: lowest for lognormal data."""
    table = tables[""]
    groups = {name: some["coverage"] for name, some in table.groupby("data", sort=False)}
    return levels(groups, table["trials"].max(), 0.95, xlabel="share of data sets in which the interval has the truth")


def page(tables) -> list[str]:
    """What the page says, from the coverage in all cells."""
    table = tables[""]
    trials = int(table["trials"].max())
    groups = {
        "of normal and uniform data, and of shares": ["normal", "uniform", "True and False"],
        "of exponential data and of t with 5 degrees of freedom": ["exponential", "t, 5 df"],
        "of lognormal data": ["lognormal"],
    }
    said = []
    for words, names in groups.items():
        some = 100 * table.loc[table["data"].isin(names), "coverage"]
        said.append(f"{some.min():.1f} to {some.max():.1f} % {words}")
    below = table[table["coverage"] < 0.93]
    error = 1.96 * np.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / trials)
    low, high = (int(binom.ppf(q, trials, CONFIDENCE)) / trials for q in (0.0005, 0.9995))
    parts = []
    for effect, some in table.groupby("effect", sort=False):
        wide = some.pivot(index="data", columns="rows", values="coverage")
        wide = wide.loc[list(dict.fromkeys(some["data"])), list(dict.fromkeys(some["rows"]))]
        parts += [f"## {effect.capitalize()}", markdown(wide.reset_index())]
    return [
        f"Intervals at 95 % cover the truth in {'; '.join(said)}. "
        + claim(
            "The low ones are those of spreads, most of all where one sample is small and the other large, and with "
            "lognormal data also those of means.",
            set(below.loc[below["data"] != "lognormal", "effect"]) <= {"spread"}
            and below.loc[below["data"] == "lognormal", "effect"].nunique() == 2
            and below.loc[below["coverage"].idxmin(), "rows"] == "15 + 60",
        ),
        f"{trials} pairs of samples a cell, 95 % margins of at most {100 * error:.1f} points; an interval that covers "
        f"in 95 % of samples is inside [{low:.4f}, {high:.4f}] with probability 99.9 %. The second sample has "
        f"{STRETCH:g} times the standard deviation and is moved by {SHIFT:g} of them. Means: Hedges' standardised "
        "difference; spreads: the ratio of standard deviations, both with jackknife intervals and Welch's degrees of "
        f"freedom. Shares of {SHARES[0]:g} and {SHARES[1]:g}: Newcombe's intervals.",
        *parts,
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=20)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
