"""Level and power of ``closer_test``, whose p-values are asymptotic.

2000 data sets per setting.  Under the null hypothesis Y and Z have one distribution, or two at the same distance from
X, or all three are the same; for dependence X depends equally on both, or on neither.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pandas as pd
from _study import markdown, run, span
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from shrinktest import closer_test
from shrinktest._parallel import usable_cores

NAME = "closer_levels"
ALPHA = 0.05
SIZES = (20, 50, 200, 1000)
SHAPES = {"n, n, n": (1, 1, 1), "n, n, 4n": (1, 1, 4)}
BANDWIDTH = 1.0  # where a distance has to be the same by calculation


def normal(mean=0.0, deviation=1.0):
    return lambda rng, n: rng.normal(mean, deviation, size=n)


def mean_value(first, second):
    """Return the mean of the Gaussian kernel between two normal distributions (mean, standard deviation)."""
    (a, s), (b, t) = first, second
    total = BANDWIDTH**2 + s**2 + t**2
    return BANDWIDTH / total**0.5 * np.exp(-((a - b) ** 2) / (2.0 * total))


def squared_distance(first, second):
    return mean_value(first, first) + mean_value(second, second) - 2.0 * mean_value(first, second)


def as_far_as(shift: float) -> float:
    """Return the standard deviation of the N(0, s) as far from N(0, 1) as N(shift, 1) is."""
    aim = squared_distance((0.0, 1.0), (shift, 1.0))
    return float(brentq(lambda s: squared_distance((0.0, 1.0), (0.0, s)) - aim, 1.0, 50.0))


#: Label to three distributions and the bandwidth.
DISTANCES = {
    "all three the same": (normal(), normal(), normal(), "median"),
    "Y and Z the same, 0.5 away": (normal(), normal(0.5), normal(0.5), "median"),
    "Y and Z the same, 2 away": (normal(), normal(2.0), normal(2.0), "median"),
    "Y and Z the same, lognormal": (normal(), *[lambda rng, n: rng.lognormal(size=n)] * 2, "median"),
    "on both sides, 0.5 away": (normal(), normal(0.5), normal(-0.5), "median"),
    "on both sides, 2 away": (normal(), normal(2.0), normal(-2.0), "median"),
    "shifted by 1, and as far by spread": (normal(), normal(1.0), normal(0.0, as_far_as(1.0)), BANDWIDTH),
    "power: 0.25 and 0.5 away": (normal(), normal(0.25), normal(0.5), "median"),
    "power: 0.5 and 1 away": (normal(), normal(0.5), normal(1.0), "median"),
}


def two_variables(strength, other, curve=lambda x: x):
    """Return a function that draws X and two variables that depend on it with these strengths."""

    def draw(rng, n):
        x, *noise = rng.normal(size=(3, n))
        return x, strength * curve(x) + noise[0], other * curve(x) + noise[1]

    return draw


DEPENDENCES = {
    "on neither": two_variables(0.0, 0.0),
    "on both, 0.5": two_variables(0.5, 0.5),
    "on both, 2": two_variables(2.0, 2.0),
    "on both, curved": two_variables(1.0, 1.0, np.square),
    "power: 1 and 0.5": two_variables(1.0, 0.5),
}


#: Settings in which nothing differs at all.
SAME = ("all three the same", "on neither")


def rejections(measure: str, cell: str, n: int, shape: str, trials: int) -> dict:
    """Count rejections with each alternative."""
    rng = np.random.default_rng([crc32(f"{measure}, {cell}, {shape}".encode()), n])
    counts = {"two-sided": 0, "less": 0, "greater": 0}
    for _ in range(trials):
        if measure == "distance":
            *draws, bandwidth = DISTANCES[cell]
            samples = [draw(rng, n * times) for draw, times in zip(draws, SHAPES[shape], strict=True)]
        else:
            samples, bandwidth = DEPENDENCES[cell](rng, n), "median"
        # by coordinates, which give the same p-values sooner
        route = "factor" if measure == "distance" and n >= SIZES[2] else "auto"
        result = closer_test(*samples, measure=measure, bandwidth=bandwidth, gram=route, workers=1, rng=0)
        counts["two-sided"] += result.pvalue <= ALPHA
        # one tail has half of the p-value, the other the rest
        counts["less" if result.difference < 0.0 else "greater"] += result.pvalue / 2.0 <= ALPHA
    return counts


def measured(args) -> pd.DataFrame:
    """Return the rejections in every setting."""
    shapes = {cell: list(SHAPES)[: 1 if cell.startswith("power: ") else 2] for cell in DISTANCES}
    work = [("distance", cell, n, shape) for cell in DISTANCES for shape in shapes[cell] for n in SIZES]
    work += [("dependence", cell, n, "n rows") for cell in DEPENDENCES for n in SIZES]
    work.sort(key=lambda setting: -setting[2])
    jobs = (delayed(rejections)(*setting, args.trials) for setting in work)
    rejected = dict(zip(work, Parallel(n_jobs=args.workers or usable_cores())(jobs), strict=True))
    rows = []
    for (measure, cell, n, shape), counts in sorted(rejected.items(), key=lambda item: _order(*item[0])):
        for alternative, count in counts.items():
            low, high = proportion_confint(count, args.trials, method="beta")
            row = {"measure": measure, "cell": cell, "sizes": shape, "n": n, "alternative": alternative}
            rows.append({**row, "rejected": count / args.trials, "low": low, "high": high, "trials": args.trials})
    return pd.DataFrame(rows)


def _order(measure: str, cell: str, n: int, shape: str) -> tuple:
    cells = [*DISTANCES, *DEPENDENCES]
    return measure != "distance", cells.index(cell), shape != "n, n, n", n


def null_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return the two-sided rejections under the null hypothesis."""
    return table[~table["cell"].str.startswith("power: ") & (table["alternative"] == "two-sided")]


def chart(tables):
    """Draw the Type I error rate against the number of rows."""
    return picture(tables[""])


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    null_level = null_rates(tables[""])
    same = null_level["cell"].isin(SAME)
    differ = null_level.loc[~same, "rejected"]
    table = tables[""]
    trials = int(table["trials"].max())
    power, both = table["cell"].str.startswith("power: "), table["alternative"] == "two-sided"
    low, high = (int(binom.ppf(q, trials, ALPHA)) / trials for q in (0.0005, 0.9995))
    level = null_rates(table)
    ranges = level[~level["cell"].isin(SAME)].groupby(["measure", "n"], sort=False)["rejected"].agg(["min", "max"])
    rates = ranges.apply(lambda r: f"{r['min']:.1%} to {r['max']:.1%}", axis=1).unstack("n")
    rates.columns = [f"n = {n}" for n in rates.columns]
    one_sided = table[~power & ~both]
    worst = one_sided.loc[one_sided["rejected"].idxmax()]
    above = int((one_sided["rejected"] > high).sum())
    directed = table[power & (table["alternative"] != "greater")]
    wide = directed.pivot_table("rejected", ["measure", "cell", "alternative"], "n", sort=False).reset_index()
    wide["cell"] = wide["cell"].str.removeprefix("power: ").str.removesuffix(" away")
    wide.columns = [f"n = {name}" if isinstance(name, int | np.integer) else name for name in wide.columns]
    return {
        "level": f"{ALPHA:g}",
        "differ": span(differ),
        "null_level_same_rejected": f"{null_level.loc[same, 'rejected'].max():.1%}",
        "drawn": null_rates(tables[""])["rejected"].max() < 0.07,
        "rates": markdown(rates.reset_index()),
        "worst_rejected": f"{worst['rejected']:.1%}",
        "worst_sizes": worst["sizes"],
        "worst_n": worst["n"],
        "above": above,
        "one_sided": len(one_sided),
        "trials": trials,
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
        "wide": markdown(wide.rename(columns={"cell": "Y and Z"})),
    }


def picture(table: pd.DataFrame):
    """Draw the two-sided level in every setting, with the range of an exact test."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    trials = int(table["trials"].max())
    level = table[~table["cell"].str.startswith("power: ") & (table["alternative"] == "two-sided")]
    band = [binom.ppf(q, trials, ALPHA) / trials for q in (0.0005, 0.9995)]
    for ax, (measure, some) in zip(panels, level.groupby("measure", sort=False), strict=True):
        ax.axhspan(*band, color="#DDDDDD", label="an exact test")
        for (cell, shape), rates in some.groupby(["cell", "sizes"], sort=False):
            same = cell in SAME
            about = {"marker": "o" if shape != "n, n, 4n" else "^", "color": "#8C8C8C" if same else "#0072B2"}
            ax.plot(range(len(rates)), rates["rejected"], linewidth=0.6, markersize=4.0, **about)
        ax.set_xticks(range(len(SIZES)), [f"{n}" for n in SIZES])
        ax.set_xlabel("rows n")
        ax.set_title({"distance": "distances", "dependence": "dependences"}[measure])
        ax.set_ylim(0.0, 0.1)
    panels[0].set_ylabel("Type I error rate at 0.05")
    for colour, label in (("#0072B2", "at the same distance"), ("#8C8C8C", "all three equal, or no dependence")):
        panels[1].plot([], [], "o", color=colour, label=label)
    panels[1].plot([], [], "^", color="#0072B2", label="Z with 4n rows")
    panels[1].legend(fontsize="small", frameon=False)
    return figure


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=4)
