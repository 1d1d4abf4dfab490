"""Level of tests of simulated models, ``goodness_of_fit_test``.

The level is the share of 4000 data sets of a true model that are rejected at .05.  Without fitted parameters it is
exact; with parameters fitted to the same rows the bootstrap is approximate, also where the model has a shape of its own.
"""

from __future__ import annotations

from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import figure, rows
from _levels import ALPHA, rate, region
from _study import markdown, parts, percent, run

from shrinktest import goodness_of_fit_test
from shrinktest.results.plots.axes import BLUE, ORANGE

NAME = "simulator_levels"
SIMULATIONS = 39
OPTIONS = {"n_simulations": SIMULATIONS, "workers": 1}
EXACT, FITTED = "known", "fitted"


# --- models ------------------------------------------------------------------------------------------------------


def normal(rng, n):
    return rng.normal(size=(n, 2))


def walk(rng, n):
    """Rows that depend on each other, with heavy tails."""
    return rng.standard_cauchy(size=(n, 2)).cumsum(axis=0)


def counts(rng, n):
    return rng.poisson(1.0, size=(n, 2)).astype(float)


def gaussian(rng, n, params):
    mean, factor = params
    return mean + rng.normal(size=(n, 2)) @ factor.T


def mean_and_factor(data):
    return data.mean(axis=0), np.linalg.cholesky(np.cov(data.T))


def exponential(rng, n, scale):
    return rng.exponential(scale, size=(n, 1))


def gamma(rng, n, params):
    shape, scale = params
    return rng.gamma(shape, scale, size=(n, 1))


def by_moments(data):
    mean, variance = data.mean(), data.var()
    return mean**2 / variance, variance / mean


#: Label to the true model, the sizes, the arguments of the test, and whether parameters are fitted.
CELLS = {
    "normal": (normal, (10, 40), {}, EXACT),
    "normal, skmse": (normal, (10, 40), {"estimator": "skmse"}, EXACT),
    "normal, fkmse": (normal, (10,), {"estimator": "fkmse"}, EXACT),
    "normal, mmkme": (normal, (10,), {"estimator": "mmkme"}, EXACT),
    "normal, several bandwidths": (normal, (10,), {"bandwidth": "grid"}, EXACT),
    "random walk": (walk, (10, 40), {"scale": "rank"}, EXACT),
    "counts": (counts, (10, 40), {}, EXACT),
    "mean and covariance": (
        normal,
        (10, 40, 160),
        {"model": gaussian, "fit": mean_and_factor},
        FITTED,
    ),
    "scale": (
        partial(exponential, scale=2.0),
        (10, 40, 160),
        {"model": exponential, "fit": np.mean},
        FITTED,
    ),
    "shape and scale, skewed": (
        partial(gamma, params=(0.5, 1.0)),
        (10, 40, 160),
        {"model": gamma, "fit": by_moments},
        FITTED,
    ),
}


def settings():
    """Return label and size of every setting."""
    return [(label, n) for label, (_, sizes, _, _) in CELLS.items() for n in sizes]


def rejections(label: str, n: int, trials: range) -> list[dict]:
    """Count the rejected data sets; each depends on its number only."""
    true, _, given, how = CELLS[label]
    options = {"model": true, **given}
    model = options.pop("model")
    size = 5 * n if how == EXACT and "estimator" not in given else n
    hits = 0
    for trial in trials:
        rng = np.random.default_rng([crc32(f"{label}, {n}".encode()), trial])
        data = true(rng, n)
        result = goodness_of_fit_test(data, model, n_reference=size, rng=rng, **options, **OPTIONS)
        hits += result.pvalue <= ALPHA
    return [{"test": label, "parameters": how, "n": n, "hits": hits, "trials": len(trials)}]


def chunked(trials: int, step: int = 100) -> list[range]:
    return [range(start, min(start + step, trials)) for start in range(0, trials, step)]


def measured(args) -> pd.DataFrame:
    """Return the level in every setting; with fitted parameters a quarter of the data sets."""
    jobs = []
    for label, n in settings():
        share = args.trials if CELLS[label][3] == EXACT else max(1, args.trials // 4)
        jobs += [partial(rejections, label, n, chunk) for chunk in chunked(share)]
    keys = ["test", "parameters", "n"]
    found = parts(args, f"{NAME}_levels", jobs).groupby(keys, sort=False).sum().reset_index()
    rates = [
        rate(hits, trials) for hits, trials in zip(found["hits"], found["trials"], strict=True)
    ]
    return pd.concat([found[keys], pd.DataFrame(rates)], axis=1)


# --- page --------------------------------------------------------------------------------------------------------


def chart(tables):
    """Draw the level of every model, with parameters that are known or fitted."""
    table = tables[""]
    names = list(dict.fromkeys(table["test"]))
    made, ax = figure(0.9 + 0.3 * len(names))
    ax.axvspan(*region(int(table["trials"].max())), color="#DDDDDD")
    for how, color, marker in ((EXACT, BLUE, "o"), (FITTED, ORANGE, "D")):
        some = table[table["parameters"] == how]
        places = [names.index(name) for name in some["test"]]
        ax.plot(some["rejected"], places, marker, color=color, markersize=4.0, label=how)
    rows(ax, names)
    ax.set_xlabel("share of data sets of the true model that are rejected")
    ax.legend(fontsize="small", frameon=False, title="parameters")
    return made


def by_size(some: pd.DataFrame) -> str:
    """Return a Markdown table of rates by size."""
    wide = some.pivot(index="test", columns="n", values="rejected").loc[
        list(dict.fromkeys(some["test"]))
    ]
    cells = wide.map(lambda value: "" if np.isnan(value) else f"{value:.3f}")
    return markdown(cells.rename(columns=lambda n: f"n = {n}").reset_index())


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    trials = int(table["trials"].max())
    low, high = region(trials)
    exact, fitted = (table[table["parameters"] == how] for how in (EXACT, FITTED))
    worst = fitted.loc[fitted["rejected"].idxmax()]
    return {
        "inside": int(exact["rejected"].between(low, high).sum()),
        "settings": len(exact),
        "drawn": bool(exact["rejected"].between(low, high).all()),
        "exact": by_size(exact),
        "fitted": by_size(fitted),
        "fitted_range": f"{percent(fitted['rejected'].min())} to {percent(fitted['rejected'].max())}",
        "worst": f"{percent(worst['rejected'])} (95% interval {percent(worst['low'])} to {percent(worst['high'])})",
        "worst_cell": f"{worst['test']}, n = {worst['n']}",
        "trials": trials,
        "fitted_trials": int(fitted["trials"].max()),
        "simulations": SIMULATIONS,
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=4)
