"""Level and power of ``closer_test``, whose p-values are asymptotic.

2000 data sets per setting.  Under the null hypothesis Y and Z have one distribution, or two at the same distance from
X, or all three are the same; for dependence X depends equally on both, or on neither.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import pandas as pd
from _charts import figure
from _levels import ALPHA, by_size, generator, ranges, rate, region
from _study import in_processes, percent, run, span
from scipy.optimize import brentq

from shrinktest import closer_test
from shrinktest.results.plots.axes import BLUE, GRAY

NAME = "closer_levels"
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
    "Y and Z the same, lognormal": (
        normal(),
        *[lambda rng, n: rng.lognormal(size=n)] * 2,
        "median",
    ),
    "on both sides, 0.5 away": (normal(), normal(0.5), normal(-0.5), "median"),
    "on both sides, 2 away": (normal(), normal(2.0), normal(-2.0), "median"),
    "shifted by 1, and as far by spread": (
        normal(),
        normal(1.0),
        normal(0.0, as_far_as(1.0)),
        BANDWIDTH,
    ),
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


def rejections(measure: str, cell: str, shape: str, n: int, trials: int) -> list[dict]:
    """Return the rejections with each alternative."""
    rng = generator(f"{measure}, {cell}, {shape}", n)
    counts = {"two-sided": 0, "less": 0, "greater": 0}
    for _ in range(trials):
        if measure == "distance":
            *draws, bandwidth = DISTANCES[cell]
            samples = [
                draw(rng, n * times) for draw, times in zip(draws, SHAPES[shape], strict=True)
            ]
        else:
            samples = DEPENDENCES[cell](rng, n)
            bandwidth = "median"
        # by coordinates, which give the same p-values sooner
        route = "factor" if measure == "distance" and n >= SIZES[2] else "auto"
        result = closer_test(
            *samples, measure=measure, bandwidth=bandwidth, gram=route, workers=1, rng=0
        )
        counts["two-sided"] += result.pvalue <= ALPHA
        # one tail has half of the p-value, the other the rest
        counts["less" if result.difference < 0.0 else "greater"] += result.pvalue / 2.0 <= ALPHA
    shared = {"measure": measure, "cell": cell, "sizes": shape, "n": n}
    return [
        {**shared, "alternative": name, **rate(count, trials)} for name, count in counts.items()
    ]


def measured(args) -> pd.DataFrame:
    """Return the rejections in every setting."""
    shapes = {cell: list(SHAPES)[: 1 if cell.startswith("power: ") else 2] for cell in DISTANCES}
    settings = [("distance", cell, shape) for cell in DISTANCES for shape in shapes[cell]]
    settings += [("dependence", cell, "n rows") for cell in DEPENDENCES]
    work = [(*setting, n, args.trials) for setting in settings for n in SIZES]
    return pd.DataFrame(chain.from_iterable(in_processes(args, rejections, work)))


def null_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return the two-sided rejections under the null hypothesis."""
    return table[~table["cell"].str.startswith("power: ") & (table["alternative"] == "two-sided")]


def chart(tables):
    """Draw the two-sided level in every setting against the number of rows, with the range of an exact test."""
    made, panels = figure(3.6, 2, 8.0, sharey=True)
    level = null_rates(tables[""])
    for ax, (measure, some) in zip(panels, level.groupby("measure", sort=False), strict=True):
        ax.axhspan(
            *region(int(level["trials"].max())),
            color="#DDDDDD",
            label="nominal level ± simulation error",
        )
        for (cell, shape), rates in some.groupby(["cell", "sizes"], sort=False):
            about = {
                "marker": "o" if shape != "n, n, 4n" else "^",
                "color": GRAY if cell in SAME else BLUE,
            }
            ax.plot(range(len(rates)), rates["rejected"], linewidth=0.6, markersize=4.0, **about)
        ax.set_xticks(range(len(SIZES)), [f"{n}" for n in SIZES])
        titles = {"distance": "distances", "dependence": "dependences"}
        ax.set(xlabel="rows n", title=titles[measure], ylim=(0.0, 0.1))
    panels[0].set_ylabel("Type I error rate at 0.05")
    for color, label in (
        (BLUE, "at the same distance"),
        (GRAY, "all three equal, or no dependence"),
    ):
        panels[1].plot([], [], "o", color=color, label=label)
    panels[1].plot([], [], "^", color=BLUE, label="Z with 4n rows")
    panels[1].legend(fontsize="small", frameon=False)
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    trials = int(table["trials"].max())
    low, high = region(trials)
    level = null_rates(table)
    same = level["cell"].isin(SAME)
    power = table["cell"].str.startswith("power: ")
    one_sided = table[~power & (table["alternative"] != "two-sided")]
    worst = one_sided.loc[one_sided["rejected"].idxmax()]
    directed = table[power & (table["alternative"] != "greater")]
    names = directed["cell"].str.removeprefix("power: ").str.removesuffix(" away")
    wide = directed.assign(cell=names).pivot_table(
        "rejected", ["measure", "cell", "alternative"], "n", sort=False
    )
    return {
        "level": f"{ALPHA:g}",
        "differ": span(level.loc[~same, "rejected"]),
        "same": percent(level.loc[same, "rejected"].max()),
        "drawn": level["rejected"].max() < 0.07,
        "rates": ranges(level.loc[~same].set_index(["measure", "n"])["rejected"], ["measure", "n"]),
        "worst_rejected": percent(worst["rejected"]),
        "worst_sizes": worst["sizes"],
        "worst_n": worst["n"],
        "above": int((one_sided["rejected"] > high).sum()),
        "one_sided": len(one_sided),
        "trials": trials,
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
        "power": by_size(wide, {"cell": "Y and Z"}),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=4)
