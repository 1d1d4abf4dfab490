"""Level and power of ``equivalence_test``, whose p-values are asymptotic.

The margin is the true effect, where a test at the level .05 may reject in 5 % of data sets, or 3/4 of it; or
X and Y are equal, or independent, where it is to reject.  The data are those of ``effect_coverage``.
"""

from __future__ import annotations

from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, write
from effect_coverage import SAMPLES, STRENGTHS, kernel_of, pairs_of, samples_of, true_area, true_effect
from joblib import Parallel, delayed
from scipy.stats import binom
from scipy.stats.qmc import Sobol
from statsmodels.stats.proportion import proportion_confint

from shrinktest import equivalence_test
from shrinktest._parallel import usable_cores
from shrinktest.effects.separability import comparisons

NAME = "equivalence_levels"
TITLE = "Level and power of equivalence tests"
ALPHA = 0.05
SIZES = (20, 50, 200, 1000)
DESIGNS = {
    "distance": ("uniform, moved", "exponential, stretched", "normal, turned"),
    "auc": ("uniform, moved", "normal, turned"),
    "dependence": ("wave", "line, two columns"),
}
LEVELS = (1, 2)  # a small and a middling effect
BEYOND = 0.75  # of the true effect, less chance
MARGINS = {"distance": (0.01, 0.02, 0.05, 0.1), "auc": (0.55, 0.6, 0.65, 0.7), "dependence": (0.01, 0.02, 0.05, 0.1)}
CHANCE = {"distance": 0.0, "auc": 0.5, "dependence": 0.0}
#: Whose area it is that the margin is, or the effect.
BEST, OWN = "of the best witness function", "of the fitted ones"
_TIMES = 12  # large samples from which the true distance and dependence are found
_POINTS = 2**11  # of each distribution


def points_of(design: str, level: int, seed: int) -> tuple[np.ndarray, ...]:
    """Evenly spread points of both distributions."""
    function, levels = SAMPLES[design]
    u = np.clip(Sobol(4, seed=seed).random(_POINTS), 1e-9, 1.0 - 1e-9)
    return tuple(function(levels[level], u, bool(k)) for k in range(2))


def best_area(design: str, level: int) -> float:
    """The area under the ROC curve of the witness function of the distributions."""
    kernel = kernel_of(design, level, "gaussian")
    fitted, test = points_of(design, level, 4), points_of(design, level, 3)
    scores = np.concatenate([kernel(one, fitted[0]).mean(axis=1) - kernel(one, fitted[1]).mean(axis=1) for one in test])
    second = np.repeat([False, True], _POINTS)
    won, compared, _ = comparisons(scores, second, np.zeros(2 * _POINTS, dtype=np.int64))
    return float(won[~second].sum() / compared[~second].sum())


def effect_of(scale: str, design: str, level: int, times: int) -> float:
    """The true effect, which is the margin; of distances and dependences from so many large samples."""
    return best_area(design, level) if scale == "auc" else true_effect(design, level, "gaussian", times)


def rejections(scale: str, design: str, level: int, truth: float, n: int, trials: int) -> list[dict]:
    """How often the test rejects at margins: what is below the margin is the upper limit."""
    rng = np.random.default_rng([crc32(f"{scale} {design} {level}".encode()), n])
    kernel = kernel_of(design, level, "gaussian")
    kernel = list(kernel) if scale == "dependence" else kernel
    uppers, own = np.empty(trials), np.empty(trials)
    test = points_of(design, level, 3) if scale == "auc" else ()
    for trial in range(trials):
        data = pairs_of(design, level, rng, n) if scale == "dependence" else samples_of(design, level, rng, (n, n))
        margin = MARGINS[scale][-1]
        found = equivalence_test(*data, margin=margin, measure=scale, kernel=kernel, rng=trial, workers=1)
        uppers[trial] = found.upper
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
    """Rejections in every cell."""
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


def _wide(some: pd.DataFrame, *names: str) -> str:
    """Shares by the number of rows."""
    wide = some.pivot_table(index=list(names), columns="n", values="rejected", sort=False).reset_index()
    wide.columns = [f"n = {one}" if isinstance(one, int | np.integer) else one for one in wide.columns]
    return markdown(wide)


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    margin = table[table["what"] == "at the margin"]
    worst = margin[margin["reading"] != BEST].groupby("scale")["rejected"].max()
    best = margin[margin["reading"] == BEST]["rejected"].max()
    distance, dependence, area = (f"{100 * worst[scale]:.1f} %" for scale in ("distance", "dependence", "auc"))
    return (
        "Where the true effect is exactly the margin, a test at level .05 may reject in 5 % of data sets; for "
        f"distances it did in at most {distance}, for dependences in {dependence}, for the separability of the fitted "
        f"functions in {area}. Read as a statement about the best function there is, the test of separability rejects "
        f"far too often, in up to {100 * best:.0f} %."
    )


def alt(tables) -> str:
    """What the picture shows."""
    margin = tables[""][tables[""]["what"] == "at the margin"]
    best = margin["reading"] == BEST
    return "Shares rejected where the effect is exactly the margin: " + claim(
        "near or below .05, except for the best function there is",
        margin.loc[~best, "rejected"].max() < 0.08 and margin.loc[best, "rejected"].max() > 0.2,
    )


def chart(tables):
    """Shares rejected where the effect is exactly the margin: near or below .05, but for the best function there is."""
    table = tables[""]
    margin = table[table["what"] == "at the margin"]
    margin = margin.fillna({"reading": ""})
    named = margin["scale"].replace("auc", "separability") + (" " + margin["reading"]).str.rstrip()
    groups = {name: margin.loc[named == name, "rejected"] for name in dict.fromkeys(named)}
    return levels(groups, table["trials"].max(), wrong=[name for name in groups if name.endswith(BEST)])


def page(tables) -> list[str]:
    """What the page says, from the rejections in all cells."""
    table = tables[""].fillna({"reading": ""})
    trials = sorted(set(table["trials"]))
    low, high = (int(binom.ppf(q, trials[-1], ALPHA)) / trials[-1] for q in (0.0005, 0.9995))
    level = table[table["what"] == "at the margin"]
    said, above = [], []
    for scale, some in level[level["reading"] == ""].groupby("scale", sort=False):
        by_size = some.groupby("n")["rejected"].agg(["min", "max"])
        each = ", ".join(f"{100 * r['min']:.1f} to {100 * r['max']:.1f} % with n = {n}" for n, r in by_size.iterrows())
        said.append(f"{scale}: {each}")
    for row in level.itertuples():
        if row.low > ALPHA and row.reading != BEST:
            reading = f" ({row.reading})" if row.reading else ""
            above.append(f"{row.scale}{reading}, {row.data}, {row.effect}, n = {row.n}: {100 * row.rejected:.1f} %")
    own = level.loc[level["reading"] == OWN, "rejected"]
    beyond = table.loc[(table["what"] == "beyond") & (table["scale"] != "auc"), "rejected"]
    best = level.loc[level["reading"] == BEST, "rejected"]
    parts = [
        f"Where the true effect is exactly the margin, a test at the level {ALPHA:g} may reject in 5 % of data sets. "
        f"It rejected in these: {'; '.join(said)}. Where the margin is three quarters of the true effect it rejected "
        f"in {100 * beyond.max():.1f} % at most.",
        "The margin of the separability (auc) can be understood in two ways. First, as the area of the witness "
        "function of the distributions themselves. A function that was fitted to few rows has a smaller area, so "
        "that a rejection is no statement about the distributions: it rejected in up to "
        f"{100 * best.max():.1f} %. Second, as the area that the fitted functions have on new data, which is what "
        f"the result says: it rejected in {100 * own.min():.1f} to {100 * own.max():.1f} %.",
        f"{' or '.join(map(str, trials[::-1]))} data sets a cell (the fewer with n = {SIZES[-1]}); with {trials[-1]} a "
        f"test with exactly this level is inside [{low:.4f}, {high:.4f}] with probability 99.9 %. Intervals (95 %, "
        "Clopper and Pearson) are in the data. "
        + (
            f"Above 5 % by their intervals, but for areas of the best function: {'; '.join(above)}."
            if above
            else "No interval is above 5 %, but for areas of the best function."
        ),
        "The kernel is Gaussian with a bandwidth that is a number, so that there is one truth: of distances and "
        "dependences from large samples, of areas at many points. Both samples have n rows.",
    ]
    headings = {"distance": "Distance", "auc": "Separability", "dependence": "Dependence"}
    for scale, heading in headings.items():
        names = [*(["reading"] if scale == "auc" else []), "data", "effect"]
        parts += [f"## {heading}: level", _wide(level[level["scale"] == scale], *names)]
    nothing = table[table["what"] == "power"]
    words = "Shares of data sets with equal distributions, or independent variables, in which the test rejects."
    parts += ["## Power", words, _wide(nothing, "scale", "data", "margin")]
    return parts


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=2000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
