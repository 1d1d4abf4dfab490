"""Level and power of ``equivalence_test``, whose p-values are asymptotic.

The margin is the true effect, where an exact test at the 0.05 level rejects in 5% of data sets, or 3/4 of it; for power
X and Y are equal, or independent.  The data are those of ``effect_coverage``.
"""

from __future__ import annotations

from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import markdown, run
from effect_coverage import SAMPLES, STRENGTHS, kernel_of, pairs_of, samples_of, true_area, true_effect
from joblib import Parallel, delayed
from scipy.stats.qmc import Sobol
from statsmodels.stats.proportion import proportion_confint

from shrinktest import equivalence_test
from shrinktest._parallel import usable_cores
from shrinktest.effects.separability import comparisons

NAME = "equivalence_levels"
ALPHA = 0.05
SIZES = (20, 50, 200, 1000)
DESIGNS = {
    "distance": ("uniform, moved", "exponential, stretched", "normal, turned"),
    "auc": ("uniform, moved", "normal, turned"),
    "dependence": ("wave", "line, two columns"),
}
LEVELS = (1, 2)  # a small and a middling effect
BEYOND = 0.75  # margin as a share of the true effect (less what chance gives)
MARGINS = {"distance": (0.01, 0.02, 0.05, 0.1), "auc": (0.55, 0.6, 0.65, 0.7), "dependence": (0.01, 0.02, 0.05, 0.1)}
CHANCE = {"distance": 0.0, "auc": 0.5, "dependence": 0.0}
#: The functions whose area the margin bounds.
BEST, OWN = "of the best witness function", "of the fitted ones"
_TIMES = 12  # large samples that give the true distance and dependence
_POINTS = 2**11  # of each distribution


def points_of(design: str, level: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return evenly spread points of both distributions."""
    function, levels = SAMPLES[design]
    u = np.clip(Sobol(4, seed=seed).random(_POINTS), 1e-9, 1.0 - 1e-9)
    return tuple(function(levels[level], u, bool(k)) for k in range(2))


def best_area(design: str, level: int) -> float:
    """Return the AUC of the witness function of the distributions."""
    kernel = kernel_of(design, level, "gaussian")
    fitted, test = points_of(design, level, 4), points_of(design, level, 3)
    witness = [[kernel(points, sample).mean(axis=1) for sample in fitted] for points in test]
    scores = np.concatenate([first - second for first, second in witness])
    second = np.repeat([False, True], _POINTS)
    won, compared, _ = comparisons(scores, second, np.zeros(2 * _POINTS, dtype=np.int64))
    return float(won[~second].sum() / compared[~second].sum())


def effect_of(scale: str, design: str, level: int, times: int) -> float:
    """Return the true effect, which is the margin; ``times`` large samples give distances and dependences."""
    return best_area(design, level) if scale == "auc" else true_effect(design, level, "gaussian", times)


def rejections(scale: str, design: str, level: int, truth: float, n: int, trials: int) -> list[dict]:
    """Return how often the test rejects at each margin: how often its upper limit is below."""
    rng = np.random.default_rng([crc32(f"{scale} {design} {level}".encode()), n])
    kernel = kernel_of(design, level, "gaussian")
    kernel = list(kernel) if scale == "dependence" else kernel
    uppers, own = np.empty(trials), np.empty(trials)
    test = points_of(design, level, 3) if scale == "auc" else ()
    for trial in range(trials):
        data = pairs_of(design, level, rng, n) if scale == "dependence" else samples_of(design, level, rng, (n, n))
        margin = MARGINS[scale][-1]
        result = equivalence_test(*data, margin=margin, measure=scale, kernel=kernel, rng=trial, workers=1)
        uppers[trial] = result.upper
        if scale == "auc" and level:
            own[trial] = true_area(kernel, "kme", data, test, trial)
    shared = {"scale": scale, "data": design, "effect": STRENGTHS[level], "n": n}
    if not level:
        cells = [("power", "", margin, uppers <= margin) for margin in MARGINS[scale]]
    else:
        reading = BEST if scale == "auc" else ""
        less = CHANCE[scale] + BEYOND * (truth - CHANCE[scale])
        cells = [("at the margin", reading, truth, uppers <= truth), ("beyond", reading, less, uppers <= less)]
        if scale == "auc":
            cells.append(("at the margin", OWN, float(own.mean()), uppers <= own))
    rows = []
    for what, reading, margin, rejected in cells:
        low, high = proportion_confint(int(rejected.sum()), trials, method="beta")
        row = {**shared, "what": what, "reading": reading, "margin": margin, "rejected": float(rejected.mean())}
        rows.append({**row, "low": low, "high": high, "trials": trials})
    return rows


def measured(args) -> pd.DataFrame:
    """Return the rejections in every setting."""
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    keys = [(scale, design, level) for scale, designs in DESIGNS.items() for design in designs for level in LEVELS]
    truths = dict(
        zip(keys, parallel(delayed(effect_of)(*key, _TIMES if args.trials > 100 else 1) for key in keys), strict=True)
    )
    jobs = []
    for n in SIZES:
        trials = args.trials if n < SIZES[-1] else max(1, args.trials // 2)
        jobs += [partial(rejections, *key, truth, n, trials) for key, truth in truths.items()]
        first = {scale: designs[0] for scale, designs in DESIGNS.items()}
        jobs += [partial(rejections, scale, design, 0, CHANCE[scale], n, trials) for scale, design in first.items()]
    table = pd.DataFrame([row for part in parallel(delayed(job)() for job in jobs) for row in part])
    orders = {"scale": list(DESIGNS), "what": ["at the margin", "beyond", "power"], "effect": list(STRENGTHS)}
    ranks = table.assign(**{name: table[name].map(values.index) for name, values in orders.items()})
    order = ranks.sort_values(["what", "scale", "reading", "data", "effect", "margin", "n"], kind="stable").index
    if table["what"].nunique() < len(orders["what"]):
        raise AssertionError("a part of the study is missing")
    return table.loc[order].reset_index(drop=True)


def readings(margin: pd.DataFrame) -> pd.Series:
    """Return the measure of each row, with the function whose area it is."""
    names = {BEST: "separability of the best function", OWN: "separability of the fitted function"}
    return margin["reading"].map(names).fillna(margin["scale"])


def chart(tables):
    """Draw the Type I error rates where the effect equals the margin."""
    table = tables[""]
    margin = table[table["what"] == "at the margin"]
    named = readings(margin)
    groups = {name: margin.loc[named == name, "rejected"] for name in dict.fromkeys(named)}
    return levels(groups, table["trials"].max(), wrong=[name for name in groups if name.endswith("best function")])


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    margin = tables[""][tables[""]["what"] == "at the margin"]
    worst = margin[margin["reading"] != BEST].groupby("scale")["rejected"].max()
    best = margin[margin["reading"] == BEST]["rejected"].max()
    table = tables[""].fillna({"reading": ""})
    trials = sorted(set(table["trials"]))
    level = table[table["what"] == "at the margin"]
    ranges = level.groupby([readings(level).rename("measure"), "n"], sort=False)["rejected"].agg(["min", "max"])
    rates = ranges.apply(lambda r: f"{r['min']:.1%} to {r['max']:.1%}", axis=1).unstack("n", sort=False)
    above = [
        f"{readings(level)[row.Index]}, {row.data}, {row.effect}, n = {row.n}: {row.rejected:.1%}"
        for row in level.itertuples()
        if row.low > ALPHA and row.reading != BEST
    ]
    beyond = table.loc[(table["what"] == "beyond") & (table["scale"] != "auc"), "rejected"]
    power = table[table["what"] == "power"].pivot_table("rejected", ["scale", "margin"], "n", sort=False)
    for wide in (rates, power):
        wide.columns = [f"n = {n}" for n in wide.columns]
    is_best = margin["reading"] == BEST
    return {
        "level": f"{ALPHA:g}",
        "worst_distance": f"{worst['distance']:.1%}",
        "worst_dependence": f"{worst['dependence']:.1%}",
        "worst_auc": f"{worst['auc']:.1%}",
        "best": f"{best:.0%}",
        "drawn": margin.loc[~is_best, "rejected"].max() < 0.08 and margin.loc[is_best, "rejected"].max() > 0.2,
        "rates": markdown(rates.reset_index()),
        "beyond_max": f"{beyond.max():.1%}",
        "trials": trials[-1],
        "fewest_trials": trials[0],
        "sizes": SIZES[-1],
        "above_none": "; ".join(above) or "none",
        "power": markdown(power.reset_index().replace("auc", "separability").rename(columns={"scale": "measure"})),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=4)
