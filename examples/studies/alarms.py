"""How often ``assert_same_distribution`` fails, by the size of the true difference.

Normal samples, such as embeddings, whose means differ by nothing, by as much as makes the margin
the true effect, or by twice as much.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from _charts import dots
from _levels import ALPHA, generator, rate
from _study import claim, markdown, parts, percent, run, span
from scipy.stats import norm

from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE
from shrinktest.testing import EQUIVALENCE, NO_DIFFERENCE, assert_same_distribution

NAME = "alarms"
SIZES = (100, 500)  # rows of each sample
COLUMNS = 8
BANDWIDTH = 4.0
SHIFTS = {"nothing": 0.0, "the margin": 1.0, "twice the shift": 2.0}
SHIFT = {"auc": 0.5, "distance": 0.5}  # of the mean, where the effect is the margin
CHUNK = 100


def samples(rng: np.random.Generator, shift: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two normal samples whose means are so far apart."""
    first, second = rng.normal(size=(2, n, COLUMNS))
    second[:, 0] += shift
    return first, second


def margin_of(measure: str) -> float:
    """Return the true effect of the shift: the AUC of the best function, or the distance.

    The mean of a Gaussian kernel between normal samples is proportional to exp(-s² / (2 (b² + 2)))
    for a shift s and the bandwidth b.
    """
    shift = SHIFT[measure]
    if measure == "auc":
        return float(norm.cdf(shift / 2.0**0.5))
    return float(-np.expm1(-(shift**2) / (2.0 * (BANDWIDTH**2 + 2.0))))


def failures(measure: str, difference: str, n: int, margin: float, chunk: range) -> list[dict]:
    """Count how often each check fails."""
    counts = dict.fromkeys((NO_DIFFERENCE, EQUIVALENCE), 0)
    for trial in chunk:
        rng = generator(f"{measure}, {difference}, {trial}", n)
        data = samples(rng, SHIFTS[difference] * SHIFT[measure], n)
        for require in counts:
            try:
                assert_same_distribution(
                    *data,
                    margin=margin,
                    measure=measure,
                    require=require,
                    bandwidth=BANDWIDTH,
                    workers=1,
                    rng=trial,
                )
            except AssertionError:
                counts[require] += 1
    shared = {"measure": measure, "difference": difference, "n": n, "margin": margin}
    trials = len(chunk)
    return [{**shared, "require": key, "trials": trials, "failed": counts[key]} for key in counts]


def measured(args) -> pd.DataFrame:
    """Return how often each check fails in every setting."""
    margins = {measure: margin_of(measure) for measure in SHIFT}
    chunks = [range(k, min(k + CHUNK, args.trials)) for k in range(0, args.trials, CHUNK)]
    jobs = [
        partial(failures, measure, difference, n, margins[measure], chunk)
        for measure, difference, n in product(SHIFT, SHIFTS, SIZES)
        for chunk in chunks
    ]
    keys = ["measure", "require", "difference", "n", "margin"]
    return parts(args, NAME, jobs).groupby(keys, sort=False).sum().reset_index()


def chart(tables):
    """Draw how often the check for a difference fails."""
    table = tables[""].assign(share=lambda t: t["failed"] / t["trials"])
    some = table[table["require"] == NO_DIFFERENCE]
    rows = some["measure"] + ", " + some["n"].astype(str) + " rows"
    shown = some.assign(row=rows).pivot(index="row", columns="difference", values="share")
    looks = dict(zip(SHIFTS, (("o", GRAY), ("D", ORANGE), ("s", BLUE)), strict=True))
    return dots(shown, "share of data sets in which the check fails", looks, ALPHA)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    shares = table.assign(share=table["failed"] / table["trials"])
    alarms = shares[shares["require"] == NO_DIFFERENCE].set_index("difference")
    missed = shares[(shares["require"] == EQUIVALENCE) & (shares["difference"] == "the margin")]
    cells = shares.assign(share=[percent(share) for share in shares["share"]])
    order = ["measure", "require", "difference"]
    wide = cells.pivot_table("share", order, "n", aggfunc="first", sort=False)
    wide = wide.rename(columns={n: f"n = {n}" for n in SIZES}).reset_index()
    at_margin = alarms.loc["the margin"]
    limits = [rate(row.failed, row.trials)["low"] for row in at_margin.itertuples()]
    return {
        "trials": int(table["trials"].max()),
        "none": percent(alarms.loc["nothing", "share"].max()),
        "margin": span(at_margin["share"]),
        "twice": span(alarms.loc["twice the shift", "share"], ".0%"),
        "missed": span(1.0 - missed.loc[missed["measure"] == "distance", "share"]),
        "shown": span(1.0 - missed.loc[missed["measure"] == "auc", "share"]),
        "columns": COLUMNS,
        "auc": f"{table.loc[table['measure'] == 'auc', 'margin'].max():.3f}",
        "distance": f"{table.loc[table['measure'] == 'distance', 'margin'].max():.4f}",
        "failures": markdown(wide),
        "held": claim(
            "At the margin, the rate of false alarms is not clearly above the level.",
            all(low <= ALPHA for low in limits),
        ),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=1000, quick=4)
