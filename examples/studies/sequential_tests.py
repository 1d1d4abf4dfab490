"""Sequential stopping: how many permutations it saves, and its effect on p-values, decisions and power.

Every rule sees the same permutations of the same data sets as the test that draws them all.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import pandas as pd
from _charts import band, dots
from _study import in_processes, markdown, run, span
from scipy.stats import chisquare

from shrinktest import BesagClifford, Curtailed, independence_test, two_sample_test
from shrinktest.power.designs import Linear, MeanShift
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "sequential_tests"
TESTS = {"two-sample": two_sample_test, "independence": independence_test}
RULES = {
    "curtailed": Curtailed((0.05,)),
    "besag-clifford, h = 10": BesagClifford(h=10),
    "besag-clifford, h = 20": BesagClifford(h=20),
    "besag-clifford, h = 50": BesagClifford(h=50),
}
RESAMPLES, LEVELS = 999, (0.05, 0.01)
# test, data, design, size, and number of data sets per trial of --trials
CASES = [
    ("two-sample", "null", MeanShift(dimension=2).null(), 25, 5),
    ("independence", "null", Linear().null(), 25, 5),
    ("two-sample", "small shift", MeanShift(dimension=2, shift=0.7), 25, 1),
    ("two-sample", "large shift", MeanShift(dimension=2, shift=1.3), 25, 1),
    ("independence", "dependent", Linear(noise=1.5), 25, 1),
]


def stopped(test: str, design, n: int, seeds: range) -> list[dict]:
    """Return p-value and draws by every rule; all rules see the same permutations in the same order."""
    rows = []
    for seed in seeds:
        data, relabelings = np.random.SeedSequence(seed).spawn(2)
        x, y = design.sample(np.random.default_rng(data), n)
        full = TESTS[test](x, y, rng=relabelings, n_resamples=RESAMPLES, workers=1)
        exceedances = np.cumsum(full.null_distribution >= full.statistic - full.tolerance)
        row = {"trial": seed, "all draws": full.pvalue}
        for name, rule in RULES.items():
            drawn = rule.stop(exceedances, RESAMPLES) or RESAMPLES
            row[name] = rule.pvalue(int(exceedances[drawn - 1]), drawn, RESAMPLES)
            row[f"{name}: draws"] = drawn
        rows.append(row)
    return rows


def uniformity(pvalues: np.ndarray, h: int) -> float:
    """Return the chi-square p-value of P(p <= x) = x at the attainable x, in groups with about eight runs."""
    attainable = [(g + 1) / (RESAMPLES + 1) for g in range(h)] + [
        h / draw for draw in range(RESAMPLES, h - 1, -1)
    ]
    edges, last = [], 0.0
    for x in attainable:
        if (x - last) * len(pvalues) >= 8.0:
            edges.append(x)
            last = x
    edges[-1] = 1.0
    counts = np.histogram(pvalues, np.nextafter([-1.0, *edges], 2.0))[0]  # groups (a, b]
    return float(chisquare(counts, np.diff([0.0, *edges]) * len(pvalues)).pvalue)


def summarise(test: str, data: str, frame: pd.DataFrame) -> list[dict]:
    rows = []
    for name, rule in {"all draws": None, **RULES}.items():
        pvalues = frame[name].to_numpy()
        draws = frame[f"{name}: draws"] if rule else pd.Series(RESAMPLES, frame.index)
        row = {"test": test, "data": data, "rule": name, "draws": float(draws.mean())}
        row["standard error"] = float(draws.sem())
        for alpha in LEVELS:
            unlike = (pvalues <= alpha) != (frame["all draws"] <= alpha)
            row |= {
                f"rejections at {alpha}": float((pvalues <= alpha).mean()),
                f"unlike at {alpha}": int(unlike.sum()),
            }
        row["uniform"] = (
            uniformity(pvalues, rule.h)
            if data == "null" and isinstance(rule, BesagClifford)
            else np.nan
        )
        rows.append(row | {"trials": len(frame)})
    return rows


def loss(table: pd.DataFrame, rule: str) -> float:
    """Return the largest loss of power at the 0.05 level of a rule, compared with all draws."""
    powers = table[table["data"] != "null"].pivot(
        index=["test", "data"], columns="rule", values="rejections at 0.05"
    )
    return float((powers["all draws"] - powers[rule]).max())


def measured(args):
    """Return the tables of all settings."""
    rows = []
    for test, data, design, n, times in CASES:
        count = times * args.trials
        work = [
            (test, design, n, range(start, min(start + 500, count)))
            for start in range(0, count, 500)
        ]
        parts = in_processes(args, stopped, work)
        rows += summarise(test, data, pd.DataFrame(chain.from_iterable(parts)))
    return pd.DataFrame(rows)


def chart(tables):
    """Draw the mean number of permutations by rule and data."""
    table = tables[""]
    wide = table.assign(case=table["test"] + ", " + table["data"]).pivot(
        index="case", columns="rule", values="draws"
    )
    colors = (GRAY, BLUE, ORANGE, "#009E73", "#CC79A7")
    looks = {
        rule: (marker, color) for rule, marker, color in zip(wide, "osD^v", colors, strict=False)
    }
    return dots(wide.sort_values("curtailed"), "mean number of permutations", looks)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    early = table[table["rule"] != "all draws"]
    null = early[early["data"] == "null"]
    level = table.loc[table["data"] == "null", "rejections at 0.05"]
    wide = early.pivot_table("draws", ["test", "data"], "rule", sort=False)
    return {
        "null": span(null["draws"], ".0f"),
        "permutations": RESAMPLES,
        "most": f"{max(loss(table, rule) for rule in set(early['rule'])):.3f}",
        "levels_hold": level.between(*band(0.05, int(table["trials"].min()))).all(),
        "drawn": null["draws"].mean() < 0.3 * table["draws"].max(),
        "draws": markdown(wide.map("{:.0f}".format).reset_index()),
        "curtailed_agrees": table.loc[table["rule"] == "curtailed", "unlike at 0.05"].max() == 0,
        "loss_20": f"{loss(table, 'besag-clifford, h = 20'):.3f}",
        "loss_10": f"{loss(table, 'besag-clifford, h = 10'):.3f}",
        "fewest_trials": table["trials"].min(),
        "most_trials": table["trials"].max(),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=40)
