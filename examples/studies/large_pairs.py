"""Level and power of independence tests in batches, and coverage of the intervals of their effects.

In batches y is shifted within blocks of eight successive pairs.  Power is compared with the test in memory, whose
permutations are unrestricted, with as many random Fourier features on the same data: numbers with a small correlation,
and points near a circle.  The true effect is the one of a million pairs with the same features.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial

import numpy as np
import pandas as pd
from _charts import figure, rows
from _levels import level_values, measured_levels, numbers, region
from _study import markdown, parts, run, span

from shrinktest import Batches, DependenceEffect, independence_test
from shrinktest.kernels import Gaussian
from shrinktest.results.plots.axes import BLUE, GRAY

NAME = "large_pairs"
ALPHA, ROWS, RANK = 0.05, 1600, 40
NULLS = 4  # null data sets per data set for power
SIZES = 53, 203
AUTO_SIZE = 203  # pairs for the level of `auto`, which takes long
EFFECT_OPTIONS = {
    "gram": "rff",
    "rank": RANK,
    "kernel_x": Gaussian(1.0),
    "kernel_y": Gaussian(1.0),
    "n_resamples": 0,
}
NUMBERS = 1600, 6400
FEATURES = 1, 2  # seeds: each draws other features
TRUE = 2**20  # pairs that give the true dependence
GAPS = 0.2  # share of missing numbers in tables
LEVEL_OPTIONS = {"n_resamples": 99, "rank": 20, "workers": 1}
POWER_OPTIONS = {"n_resamples": 199, "rank": RANK, "gram": "rff", "workers": 1}
HOW = ("pairs freely, in memory", "within eight pairs, in batches")


def linear(slope, rng, n):
    """Draw x, and y that depends on x and on noise of the same spread."""
    x = rng.standard_normal((n, 1))
    return x, slope * x + rng.standard_normal((n, 1))


def circle(rng, n):
    """Draw points around a circle, with much noise."""
    angle = rng.uniform(0.0, 2.0 * np.pi, size=(n, 1))
    x, y = (wave(angle) + 0.75 * rng.standard_normal((n, 1)) for wave in (np.cos, np.sin))
    return x, y


DESIGNS = {"correlation of .08": partial(linear, 0.08), "circle with noise": circle}
EFFECTS = {
    "no dependence": partial(linear, 0.0),
    **DESIGNS,
    "correlation of .45": partial(linear, 0.5),
}


def compared(design: str, trial: int) -> list[dict]:
    """Return which tests reject one data set."""
    x, y = DESIGNS[design](np.random.default_rng([11, trial]), ROWS)
    results = (
        independence_test(*given, rng=trial, **POWER_OPTIONS)
        for given in ((x, y), (Batches(x), Batches(y)))
    )
    return [
        {"data": design, "permuted": how, "trial": trial, "reject": result.pvalue <= ALPHA}
        for how, result in zip(HOW, results, strict=True)
    ]


def power_table(rejections: pd.DataFrame) -> pd.DataFrame:
    """Return the power of both tests and their paired difference with its 95% margin."""
    rows = []
    for design, some in rejections.groupby("data", sort=False):
        wide = some.pivot(index="trial", columns="permuted", values="reject").astype(float)
        lost = wide[HOW[0]] - wide[HOW[1]]
        error = 1.96 * float(lost.std(ddof=0)) / len(lost) ** 0.5
        row = {"data": design, **{how: wide[how].mean() for how in HOW}}
        rows.append(row | {"lost": lost.mean(), "error": error, "trials": len(lost)})
    return pd.DataFrame(rows)


def null(rng, heavy, n, **given):
    """Return the p-value of a test of independent variables."""
    x, y = (Batches(numbers(rng, heavy, n, 2)) for _ in range(2))
    return independence_test(x, y, rng=rng, **LEVEL_OPTIONS, **given).pvalue


def tables(rng, heavy, n):
    """Return the p-value of a test of independent tables of categories and numbers with missing values."""
    made = (
        pd.DataFrame({"a": numbers(rng, heavy, n), "b": rng.choice(list("uvw"), n)})
        for _ in range(2)
    )
    x, y = (Batches([table.mask(rng.random(table.shape) < [GAPS, 0.0])]) for table in made)
    return independence_test(
        x, y, rng=rng, gram="rff", nan_policy="indicator", **LEVEL_OPTIONS
    ).pvalue


def cases() -> list[tuple]:
    """Return the settings in which the level is measured."""
    tests = {
        "kme, rff": {"gram": "rff"},
        "skmse, nystrom": {"gram": "nystrom", "estimator": "skmse"},
        "whitened, rff": {"gram": "rff", "kernel_x": "whitened", "kernel_y": "whitened"},
    }
    settings = [
        (f"{n} pairs", name, null, {"n": n, **given})
        for name, given in tests.items()
        for n in SIZES
    ]
    settings += [(f"{n} pairs", "tables with gaps", tables, {"n": n}) for n in SIZES]
    auto = {"gram": "nystrom", "estimator": "auto", "n": AUTO_SIZE}
    return [*settings, (f"{AUTO_SIZE} pairs", "auto, nystrom", null, auto)]


def effect_of(design: str, n: int, features: int, seed: tuple[int, ...]) -> DependenceEffect:
    """Return the dependence of one data set with these random features."""
    x, y = EFFECTS[design](np.random.default_rng([12, *seed]), n)
    effect = independence_test(
        Batches(x), Batches(y), rng=features, workers=1, **EFFECT_OPTIONS
    ).effect()
    assert isinstance(effect, DependenceEffect)
    return effect


def truth(design: str, features: int, small: bool) -> list[dict]:
    """Return the dependence of very many pairs."""
    dependence = effect_of(design, ROWS if small else TRUE, features, (0,)).dependence
    return [{"data": design, "features": features, "truth": dependence}]


def covered(design: str, n: int, features: int, true: float, trials: range) -> list[dict]:
    """Return whether intervals cover the truth, and their lengths."""
    rows = []
    for trial in trials:
        low, high = effect_of(design, n, features, (1, n, trial)).dependence_interval
        rows.append(
            {"data": design, "features": features, "pairs": n, "trial": trial, "truth": true}
        )
        rows[-1] |= {"covered": bool(low <= true <= high), "length": high - low}
    return rows


def coverage(args) -> pd.DataFrame:
    """Return the coverage of intervals in every setting."""
    small = args.trials < 100
    cells = [(design, features) for design in EFFECTS for features in FEATURES]
    truths = parts(args, f"{NAME}_truths", [partial(truth, *cell, small) for cell in cells])[
        "truth"
    ]
    chunks = [range(start, min(start + 100, args.trials)) for start in range(0, args.trials, 100)]
    jobs = [
        partial(covered, design, n, features, true, chunk)
        for (design, features), true in zip(cells, truths, strict=True)
        for n in NUMBERS
        for chunk in chunks
    ]
    keys = ["data", "features", "pairs", "truth"]
    trials = parts(args, f"{NAME}_effects", jobs).groupby(keys, sort=False)
    return trials.agg(
        coverage=("covered", "mean"), length=("length", "mean"), trials=("trial", "size")
    ).reset_index()


def label(data: str) -> str:
    """Return the name of a kind of data on the page."""
    return data.replace(" .", " 0.").replace("with noise", "plus noise")


def chart(tables):
    """Draw the power of both ways to permute, and levels of the test in batches."""
    power, table = tables[""], tables["levels"]
    made, (left, right) = figure(2.6, 2)
    for how, marker, color in zip(HOW, "os", (GRAY, BLUE), strict=True):
        left.plot(power[how], range(len(power)), marker, color=color, label=how)
    rows(
        left,
        [
            label(name).replace(" of ", "\nof ").replace(" plus ", "\nplus ")
            for name in power["data"]
        ],
    )
    left.set(xlabel=f"power at level {ALPHA:g}", xlim=(0.0, 1.0))
    right.axvspan(
        *region(int(table["trials"].max())),
        color="#DDDDDD",
        label="nominal level ± simulation error",
    )
    names = list(dict.fromkeys(table["estimator"]))
    right.plot(table["level"], [names.index(name) for name in table["estimator"]], "s", color=BLUE)
    rows(right, names)
    right.set(xlabel="Type I error rate, in batches", xlim=(0.0, 3.0 * ALPHA))
    handles, labels = left.get_legend_handles_labels()
    more, also = right.get_legend_handles_labels()
    made.legend(
        handles + more,
        labels + also,
        loc="outside upper center",
        ncols=3,
        frameon=False,
        fontsize="small",
    )
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    power = tables[""]
    levels = tables["levels"]
    effects = tables["effects"]
    lost = (f"{r.lost:.3f} ± {r.error:.3f} ({label(r.data)})" for r in power.itertuples())
    by_test = levels.pivot(index="test", columns="estimator", values="level").loc[
        list(dict.fromkeys(levels["test"]))
    ]
    return {
        **{f"level_{key}": value for key, value in level_values(levels).items()},
        "lost": " and ".join(lost),
        "none_lost": bool((power["lost"].abs() < power["error"]).all()),
        "level": f"{ALPHA:g}",
        "coverage": span(effects["coverage"]),
        "drawn": power["lost"].abs().max() < 0.1 and levels["inside"].all(),
        "rows": ROWS,
        "rank": RANK,
        "trials": power["trials"].max(),
        "levels": markdown(
            by_test.map(lambda level: "-" if np.isnan(level) else f"{level:.3f}").reset_index()
        ),
        "level_trials_of_auto": levels["trials"].min(),
        "gaps": f"{GAPS:.0%}",
        "pairs": " and ".join(f"{number:,}" for number in NUMBERS),
        "effects": len(EFFECTS),
        "features": len(FEATURES),
        "effect_trials": effects["trials"].max(),
        "true": f"{TRUE:,}",
    }


def measured(args):
    """Return the tables of all settings."""
    jobs = [partial(compared, design, trial) for trial in range(args.trials) for design in DESIGNS]
    table = power_table(parts(args, NAME, jobs))
    nulls = Namespace(trials=NULLS * args.trials, workers=args.workers, store=args.store)
    levels = measured_levels(nulls, cases(), "estimator", NAME)
    return {"": table, "levels": levels, "effects": coverage(args)}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=1000, quick=1)
