"""Level and power of ``equivalence_test``, whose p-values are asymptotic.

The margin is the true effect, where an exact test at the 0.05 level rejects in 5% of data sets, or 3/4 of it; for power
X and Y are equal, or independent.  The data are those of ``effect_coverage``.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import pandas as pd
from _levels import ALPHA, by_size, generator, ranges, rate
from _levels import chart as level_chart
from _study import in_processes, percent, run
from effect_coverage import (
    SAMPLES,
    STRENGTHS,
    kernel_of,
    pairs_of,
    samples_of,
    true_area,
    true_effect,
)
from scipy.stats.qmc import Sobol

from shrinktest import equivalence_test
from shrinktest.effects.separability import comparisons

NAME = "equivalence_levels"
SIZES = (20, 50, 200, 1000)
DESIGNS = {
    "distance": ("uniform, moved", "exponential, stretched", "normal, turned"),
    "auc": ("uniform, moved", "normal, turned"),
    "dependence": ("wave", "line, two columns"),
}
LEVELS = (1, 2)  # a small and a middling effect
BEYOND = 0.75  # margin as a share of the true effect (less what chance gives)
MARGINS = {
    "distance": (0.01, 0.02, 0.05, 0.1),
    "auc": (0.55, 0.6, 0.65, 0.7),
    "dependence": (0.01, 0.02, 0.05, 0.1),
}
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
    return (
        best_area(design, level)
        if scale == "auc"
        else true_effect(design, level, "gaussian", times)
    )


def rejections(
    scale: str, design: str, level: int, truth: float, n: int, trials: int
) -> list[dict]:
    """Return how often the test rejects at each margin: how often its upper limit is below."""
    rng = generator(f"{scale} {design} {level}", n)
    kernel = kernel_of(design, level, "gaussian")
    kernel = list(kernel) if scale == "dependence" else kernel
    uppers = np.empty(trials)
    own = np.empty(trials)
    test = points_of(design, level, 3) if scale == "auc" else ()
    for trial in range(trials):
        data = (
            pairs_of(design, level, rng, n)
            if scale == "dependence"
            else samples_of(design, level, rng, (n, n))
        )
        margin = MARGINS[scale][-1]
        result = equivalence_test(
            *data, margin=margin, measure=scale, kernel=kernel, rng=trial, workers=1
        )
        uppers[trial] = result.upper
        if scale == "auc" and level:
            own[trial] = true_area(kernel, "kme", data, test, trial)
    if not level:
        cells = [("power", "", margin, uppers <= margin) for margin in MARGINS[scale]]
    else:
        reading = BEST if scale == "auc" else ""
        less = CHANCE[scale] + BEYOND * (truth - CHANCE[scale])
        cells = [
            ("at the margin", reading, truth, uppers <= truth),
            ("beyond", reading, less, uppers <= less),
        ]
        if scale == "auc":
            cells.append(("at the margin", OWN, float(own.mean()), uppers <= own))
    shared = {"scale": scale, "data": design, "effect": STRENGTHS[level], "n": n}
    return [
        {
            **shared,
            "what": what,
            "reading": reading,
            "margin": margin,
            **rate(rejected.sum(), trials),
        }
        for what, reading, margin, rejected in cells
    ]


def measured(args) -> pd.DataFrame:
    """Return the rejections in every setting."""
    keys = [
        (scale, design, level)
        for scale, designs in DESIGNS.items()
        for design in designs
        for level in LEVELS
    ]
    times = _TIMES if args.trials > 100 else 1
    truths = in_processes(args, effect_of, [(*key, times) for key in keys])
    settings = [(*key, truth) for key, truth in zip(keys, truths, strict=True)]
    settings += [(scale, designs[0], 0, CHANCE[scale]) for scale, designs in DESIGNS.items()]
    fewer = max(1, args.trials // 2)
    work = [
        (*setting, n, args.trials if n < SIZES[-1] else fewer)
        for n in SIZES
        for setting in settings
    ]
    table = pd.DataFrame(chain.from_iterable(in_processes(args, rejections, work)))
    orders = {
        "scale": list(DESIGNS),
        "what": ["at the margin", "beyond", "power"],
        "effect": list(STRENGTHS),
    }
    ranks = table.assign(**{name: table[name].map(values.index) for name, values in orders.items()})
    order = ranks.sort_values(
        ["what", "scale", "reading", "data", "effect", "margin", "n"], kind="stable"
    ).index
    return table.loc[order].reset_index(drop=True)


def readings(margin: pd.DataFrame) -> pd.Series:
    """Return the measure of each row, with the function whose area it is."""
    names = {BEST: "separability of the best function", OWN: "separability of the fitted function"}
    return margin["reading"].map(names).fillna(margin["scale"])


def chart(tables):
    """Draw the Type I error rates where the effect equals the margin."""
    table = tables[""]
    margin = table[table["what"] == "at the margin"]
    groups = {name: some["rejected"] for name, some in margin.groupby(readings(margin), sort=False)}
    wrong = [name for name in groups if name.endswith("best function")]
    return level_chart(groups, table["trials"].max(), wrong)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""].fillna({"reading": ""})
    trials = sorted(set(table["trials"]))
    margin = table[table["what"] == "at the margin"]
    named = readings(margin).rename("measure")
    others = margin[margin["reading"] != BEST]
    worst = others.groupby("scale")["rejected"].max()
    best = margin.loc[margin["reading"] == BEST, "rejected"].max()
    above = [
        f"{named[row.Index]}, {row.data}, {row.effect}, n = {row.n}: {percent(row.rejected)}"
        for row in others[others["low"] > ALPHA].itertuples()
    ]
    beyond = table.loc[(table["what"] == "beyond") & (table["scale"] != "auc"), "rejected"]
    power = table[table["what"] == "power"].replace({"scale": {"auc": "separability"}})
    return {
        "level": f"{ALPHA:g}",
        "worst_distance": percent(worst["distance"]),
        "worst_dependence": percent(worst["dependence"]),
        "worst_auc": percent(worst["auc"]),
        "best": f"{best:.0%}",
        "drawn": others["rejected"].max() < 0.08 and best > 0.2,
        "rates": ranges(margin["rejected"], [named, margin["n"]]),
        "beyond": percent(beyond.max()),
        "trials": trials[-1],
        "fewest_trials": trials[0],
        "largest": SIZES[-1],
        "above": "; ".join(above) or "none",
        "power": by_size(
            power.pivot_table("rejected", ["scale", "margin"], "n", sort=False),
            {"scale": "measure"},
        ),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=4)
