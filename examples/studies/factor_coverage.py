"""Coverage of the interval of omega squared, the share that a term of ``factor_test`` explains.

Two factors of two levels and three columns; 2000 data sets per setting.  The truth is the mean share in samples of
1000 rows of the same design.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from _charts import levels
from _factors import Tested, TwoWay, chunked, generator, quiet
from _levels import by_size
from _study import parts, run, span
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from shrinktest import Gaussian, Linear

NAME = "factor_coverage"
CONFIDENCE = 0.95
SIZES = (40, 120)
SHARES = {"balanced": (0.25,) * 4, "unbalanced": (0.1, 0.3, 0.35, 0.25)}  # of rows, by cell
LARGE = 1000  # rows of a sample that gives the truth
SAMPLES = 24
SMALL = 0.03  # share from which coverage is to be within
WITHIN = (0.93, 0.97)
KERNELS = {"linear": Linear(), "gaussian": Gaussian(1.7)}
SHOWN = {"linear": "linear", "gaussian": "Gaussian"}
#: Law and effect of a to design, without its number of rows.
DESIGNS = {
    "normal, no effect": TwoWay(shift_b=1.0),
    "normal, shift .5": TwoWay(shift_b=1.0, shift_a=0.5),
    "normal, shift 1": TwoWay(shift_b=1.0, shift_a=1.0),
    "normal, shift 1, a doubles the spread": TwoWay(shift_b=1.0, shift_a=1.0, spread_a=2.0),
    "exponential, shift .5": TwoWay(law="exponential", shift_b=1.0, shift_a=0.5),
    "exponential, shift 1": TwoWay(law="exponential", shift_b=1.0, shift_a=1.0),
    "lognormal, shift 2": TwoWay(law="lognormal", shift_b=1.0, shift_a=2.0),
    "t, 2 df, shift 1": TwoWay(law="t2", shift_b=1.0, shift_a=1.0),
    "normal, shift 1, unbalanced": TwoWay(shift_b=1.0, shift_a=1.0),
    "normal, spread doubled only": TwoWay(shift_b=1.0, spread_a=2.0),
}
#: No variance, so no share for a linear kernel.
GAUSSIAN_ONLY = ("t, 2 df, shift 1",)


def settings() -> list[tuple[str, str, int]]:
    """Return design, kernel and rows of every setting."""
    return [
        (label, kernel, n)
        for label in DESIGNS
        for kernel in KERNELS
        for n in SIZES
        if kernel != "linear" or label not in GAUSSIAN_ONLY
    ]


def of_size(label: str, n: int) -> TwoWay:
    """Return a design with this number of rows."""
    shares = SHARES["unbalanced" if "unbalanced" in label else "balanced"]
    return replace(DESIGNS[label], cells=tuple(round(share * n) for share in shares))


@quiet
def intervals(setting: tuple[str, str, int], trials: range) -> list[dict]:
    """Return estimates and intervals of some data sets."""
    label, kernel, n = setting
    tested = Tested(of_size(label, n))
    rows = []
    for trial in trials:
        rng = generator(f"coverage, {label}, {kernel}, {n}", trial)
        tested.draw(rng)
        share = tested.share("a", KERNELS[kernel], rng)
        low, high = share.interval(CONFIDENCE)
        rows.append({"omega2": share.omega2, "error": share.error, "low": low, "high": high})
    about = {"setting": label, "kernel": kernel, "n": n}
    return [about | row for row in rows]


@quiet
def true_share(setting: tuple[str, str], rows: int, samples: range) -> list[dict]:
    """Return shares in large samples."""
    label, kernel = setting
    tested = Tested(of_size(label, rows))
    values = []
    for sample in samples:
        rng = generator(f"truth, {label}, {kernel}", sample)
        tested.draw(rng)
        values.append(tested.share("a", KERNELS[kernel], rng).omega2)
    return [{"setting": label, "kernel": kernel, "omega2": value} for value in values]


def measured(args) -> pd.DataFrame:
    """Return the coverage in every setting."""
    few = args.trials < 100
    large = 200 if few else LARGE
    samples = 2 if few else SAMPLES
    pairs = list(dict.fromkeys((label, kernel) for label, kernel, _ in settings()))

    def truths(pair: tuple[str, str], which: range) -> list[dict]:
        return true_share(pair, large, which)

    true = parts(args, f"{NAME}_truth", list(chunked(truths, pairs, samples, 5)))
    truth = true.groupby(["setting", "kernel"])["omega2"].agg(["mean", "sem"])
    drawn = parts(args, NAME, list(chunked(intervals, settings(), args.trials, 250)))
    rows = []
    for (label, kernel, n), some in drawn.groupby(["setting", "kernel", "n"], sort=False):
        value, error = truth.loc[(label, kernel)]
        inside = int(((some["low"] <= value) & (value <= some["high"])).sum())
        low, high = proportion_confint(inside, len(some), method="beta")
        row = {"setting": label, "kernel": kernel, "n": n, "truth": value, "truth_error": error}
        row |= {"mean": some["omega2"].mean(), "sd": some["omega2"].std()}
        row |= {"mean_error": some["error"].mean(), "coverage": inside / len(some)}
        rows.append(row | {"low": low, "high": high, "trials": len(some)})
    return pd.DataFrame(rows)


def large_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the settings in which a term explains enough."""
    return table[table["truth"] > SMALL]


def chart(tables):
    """Draw the coverage of 95% intervals by kernel and number of rows."""
    table = tables[""]
    groups = {
        f"{SHOWN[kernel]}, {n} rows, share {'above' if some_large else 'below'} {SMALL:g}": some[
            "coverage"
        ]
        for (kernel, n, some_large), some in table.groupby(
            ["kernel", "n", table["truth"] > SMALL], sort=False
        )
    }
    trials = int(table["trials"].max())
    return levels(groups, trials, CONFIDENCE, xlabel="coverage of 95% intervals")


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    large = large_shares(table)
    small = table[table["truth"] <= SMALL]
    inside = large["coverage"].between(*WITHIN)
    low, high = (int(binom.ppf(q, table["trials"].max(), CONFIDENCE)) for q in (0.0005, 0.9995))
    trials = int(table["trials"].max())
    names = table["kernel"].map(SHOWN)
    shown = table.assign(
        kernel=names,
        coverage=table["coverage"].map("{:.3f}".format),
        truth=(table["truth"].round(3) + 0.0).map("{:.3f}".format),
    )
    wide = shown.pivot_table(
        "coverage", ["setting", "kernel", "truth"], "n", sort=False, aggfunc="first"
    )
    out = [
        f"{row.setting}, {SHOWN[row.kernel]}, {row.n} rows: {row.coverage:.3f}"
        for row in large[~inside].itertuples()
    ]
    ratio = large["mean_error"] / large["sd"]
    return {
        "inside": int(inside.sum()),
        "settings": len(large),
        "aim": f"{WITHIN[0]:g} to {WITHIN[1]:g}",
        "least": f"{SMALL:g}",
        "range": span(large["coverage"]),
        "small": span(small["coverage"]),
        "bias": f"{(large['mean'] - large['truth']).abs().max():.3f}",
        "ratio": span(ratio, ".2f"),
        "outside": "; ".join(out) or "none",
        "coverage": by_size(wide, {"setting": "data", "truth": "true share"}),
        "trials": trials,
        "low": f"{low / trials:.4f}",
        "high": f"{high / trials:.4f}",
        "large": LARGE,
        "samples": SAMPLES,
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=2)
