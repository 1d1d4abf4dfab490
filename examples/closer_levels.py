"""Level and power of ``closer_test``, whose p-values are asymptotic.

2000 data sets a cell.  Where the null hypothesis is true, Y and Z are one distribution, or two at the same distance
from X, or all three are the same; for dependences X depends equally on both, or on neither.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pandas as pd
from _study import claim, markdown, options, write
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from shrinktest import closer_test
from shrinktest._parallel import usable_cores

NAME = "closer_levels"
TITLE = "Level and power of the test of which is nearer"
ALPHA = 0.05
SIZES = (20, 50, 200, 1000)
SHAPES = {"n, n, n": (1, 1, 1), "n, n, 4n": (1, 1, 4)}
BANDWIDTH = 1.0  # where a distance has to be the same by calculation


def normal(mean=0.0, deviation=1.0):
    return lambda rng, n: rng.normal(mean, deviation, size=n)


def mean_value(first, second):
    """The mean of a Gaussian kernel's values between two normal distributions (mean, standard deviation)."""
    (a, s), (b, t) = first, second
    total = BANDWIDTH**2 + s**2 + t**2
    return BANDWIDTH / total**0.5 * np.exp(-((a - b) ** 2) / (2.0 * total))


def squared_distance(first, second):
    return mean_value(first, first) + mean_value(second, second) - 2.0 * mean_value(first, second)


def as_far_as(shift: float) -> float:
    """The standard deviation with which a normal distribution is as far from N(0, 1) as N(shift, 1) is."""
    aim = squared_distance((0.0, 1.0), (shift, 1.0))
    return float(brentq(lambda s: squared_distance((0.0, 1.0), (0.0, s)) - aim, 1.0, 50.0))


#: Three distributions, and the bandwidth.
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


def pair(strength, other, curve=lambda x: x):
    """X, and two variables that depend on it with these strengths."""

    def draw(rng, n):
        x, *noise = rng.normal(size=(3, n))
        return x, strength * curve(x) + noise[0], other * curve(x) + noise[1]

    return draw


DEPENDENCES = {
    "on neither": pair(0.0, 0.0),
    "on both, 0.5": pair(0.5, 0.5),
    "on both, 2": pair(2.0, 2.0),
    "on both, curved": pair(1.0, 1.0, np.square),
    "power: 1 and 0.5": pair(1.0, 0.5),
}


#: Cells in which nothing differs at all.
SAME = ("all three the same", "on neither")


def rejections(measure: str, cell: str, n: int, shape: str, trials: int) -> dict:
    """How often the test rejects with each alternative, and which one."""
    rng = np.random.default_rng([crc32(f"{measure}, {cell}, {shape}".encode()), n])
    found = {"two-sided": 0, "less": 0, "greater": 0}
    for _ in range(trials):
        if measure == "distance":
            *draws, bandwidth = DISTANCES[cell]
            samples = [draw(rng, n * times) for draw, times in zip(draws, SHAPES[shape], strict=True)]
        else:
            samples, bandwidth = DEPENDENCES[cell](rng, n), "median"
        # by coordinates, which give the same p-values sooner
        route = "factor" if measure == "distance" and n >= SIZES[2] else "auto"
        result = closer_test(*samples, measure=measure, bandwidth=bandwidth, gram=route, workers=1, rng=0)
        found["two-sided"] += result.pvalue <= ALPHA
        # one tail has half of the p-value, the other the rest
        found["less" if result.difference < 0.0 else "greater"] += result.pvalue / 2.0 <= ALPHA
    return found


def measured(args) -> pd.DataFrame:
    """Rejections in every cell."""
    shapes = {cell: list(SHAPES)[: 1 if cell.startswith("power: ") else 2] for cell in DISTANCES}
    work = [("distance", cell, n, shape) for cell in DISTANCES for shape in shapes[cell] for n in SIZES]
    work += [("dependence", cell, n, "n rows") for cell in DEPENDENCES for n in SIZES]
    work.sort(key=lambda one: -one[2])
    jobs = (delayed(rejections)(*one, args.trials) for one in work)
    found = dict(zip(work, Parallel(n_jobs=args.workers or usable_cores())(jobs), strict=True))
    rows = []
    for (measure, cell, n, shape), counts in sorted(found.items(), key=lambda one: _order(*one[0])):
        for alternative, count in counts.items():
            low, high = proportion_confint(count, args.trials, method="beta")
            row = {"measure": measure, "cell": cell, "sizes": shape, "n": n, "alternative": alternative}
            rows.append({**row, "rejected": count / args.trials, "low": low, "high": high, "trials": args.trials})
    return pd.DataFrame(rows)


def _order(measure: str, cell: str, n: int, shape: str) -> tuple:
    cells = [*DISTANCES, *DEPENDENCES]
    return measure != "distance", cells.index(cell), shape != "n, n, n", n


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    level = table[~table["cell"].str.startswith("power: ") & (table["alternative"] == "two-sided")]
    differ = level[~level["cell"].isin(SAME)]["rejected"]
    return (
        f"At level {ALPHA:g} the two-sided test rejected true null hypotheses in {100 * differ.min():.1f} to "
        f"{100 * differ.max():.1f} % of data sets. Where all samples have one distribution it rejected in "
        f"{100 * level[level['cell'].isin(SAME)]['rejected'].max():.1f} % at most: there it is conservative."
    )


def alt(tables) -> str:
    """What the picture shows."""
    level = tables[""][~tables[""]["cell"].str.startswith("power: ") & (tables[""]["alternative"] == "two-sided")]
    return "Share of true null hypotheses rejected, against the number of rows: " + claim(
        "near .05 or below", level["rejected"].max() < 0.07
    )


def chart(tables):
    """Share of true null hypotheses rejected, against the number of rows."""
    return picture(tables[""])


def page(tables) -> list[str]:
    """What the page says, from the rejections in all cells."""
    table = tables[""]
    trials = int(table["trials"].max())
    power = table["cell"].str.startswith("power: ")
    same, both = table["cell"].isin(SAME), table["alternative"] == "two-sided"
    clear, level = table[~power & ~same & both], table[~power]
    low, high = (int(binom.ppf(q, trials, ALPHA)) / trials for q in (0.0005, 0.9995))
    said = []
    for measure, of in (("distance", "distances"), ("dependence", "dependences")):
        ours = clear[clear["measure"] == measure]
        each = []
        for n, some in ours.groupby("n"):
            each.append(f"{100.0 * some['rejected'].min():.1f} to {100.0 * some['rejected'].max():.1f} % with n = {n}")
        said.append(f"{of}: {', '.join(each)}")
    above = level["rejected"] > high
    counted = [int((above & rows).sum()) or "none" for rows in (both, ~both)]
    worst = level.loc[level.loc[~both, "rejected"].idxmax()]
    parts = [
        f"With the two-sided alternative at the level {ALPHA:g}, true null hypotheses were rejected this often: "
        f"{'; '.join(said)}. Where all three are the same, or X depends on neither, the test is conservative: at most "
        f"{100.0 * table.loc[same & both, 'rejected'].max():.1f} %. One-sided it rejected in at most "
        f"{100.0 * worst['rejected']:.1f} %, with sizes {worst['sizes']} and n = {worst['n']}: where Z has many more "
        "rows than Y, the statistic is skewed, so that one tail is heavier. A result has a note there.",
        f"{trials} data sets a cell. A test with exactly this level is inside [{low:.4f}, {high:.4f}] with "
        f"probability 99.9 %; above it are {counted[0]} of the two-sided entries and {counted[1]} of the "
        f"one-sided ones, of {int((~power & both).sum())} and {int((~power & ~both).sum())}. The alternative `less` is "
        "that X is nearer to Y, or depends more on it. Data are normal with standard deviation 1 in one column, and "
        "moved by so much, unless a name says otherwise; the standard deviation that is as far as a shift by 1 is "
        f"{as_far_as(1.0):.3f} by calculation, with the bandwidth {BANDWIDTH:g}. Bandwidths are medians otherwise. "
        "Intervals (95 %, Clopper and Pearson) are in the data.",
    ]
    headings = {"distance": "Distances", "dependence": "Dependences"}
    for measure, heading in headings.items():
        for title, some in ((f"{heading}: level", table[~power]), (f"{heading}: power", table[power])):
            ours = some[some["measure"] == measure]
            if title.endswith("power"):
                ours = ours[ours["alternative"] != "greater"]
            wide = ours.pivot(index=["cell", "sizes", "alternative"], columns="n", values="rejected").reset_index()
            order = ours.drop_duplicates(["cell", "sizes", "alternative"])[["cell", "sizes", "alternative"]]
            wide = order.merge(wide, on=["cell", "sizes", "alternative"], how="left")
            wide["cell"] = wide["cell"].str.removeprefix("power: ")
            wide.columns = [f"n = {one}" if isinstance(one, int | np.integer) else one for one in wide.columns]
            parts += [f"## {title}", markdown(wide)]
    return parts


def picture(table: pd.DataFrame):
    """The level in every cell, two-sided, beside the band of a test that has exactly this one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    trials = int(table["trials"].max())
    level = table[~table["cell"].str.startswith("power: ") & (table["alternative"] == "two-sided")]
    band = [binom.ppf(q, trials, ALPHA) / trials for q in (0.0005, 0.9995)]
    for ax, (measure, some) in zip(panels, level.groupby("measure", sort=False), strict=True):
        ax.axhspan(*band, color="#DDDDDD", label="exactly .05")
        for (cell, shape), one in some.groupby(["cell", "sizes"], sort=False):
            same = cell in SAME
            about = {"marker": "o" if shape != "n, n, 4n" else "^", "color": "#8C8C8C" if same else "#0072B2"}
            ax.plot(range(len(one)), one["rejected"], linewidth=0.6, markersize=4.0, **about)
        ax.set_xticks(range(len(SIZES)), [f"{n}" for n in SIZES])
        ax.set_xlabel("rows n")
        ax.set_title({"distance": "distances", "dependence": "dependences"}[measure])
        ax.set_ylim(0.0, 0.1)
    panels[0].set_ylabel("rejected at .05")
    for colour, label in (("#0072B2", "at the same distance"), ("#8C8C8C", "all three the same, or no dependence")):
        panels[1].plot([], [], "o", color=colour, label=label)
    panels[1].plot([], [], "^", color="#0072B2", label="Z with 4n rows")
    panels[1].legend(fontsize="small", frameon=False)
    return figure


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=2000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
