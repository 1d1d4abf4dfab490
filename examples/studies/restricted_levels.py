"""Level of the restricted permutation tests on the designs they are made for, next to the unrestricted test.

Null data with block effects, pairs, clusters and autocorrelated series: rows that belong together are moved together.
"""

from __future__ import annotations

import math

import _levels
import numpy as np
import pandas as pd
from _charts import figure, rows
from _levels import ALPHA, periodic
from _study import markdown, run, span, store
from scipy.stats import binom

from shrinktest import Gaussian, power_study
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.permutations.base import Draws
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.power.designs import FromFunction
from shrinktest.results.plots.axes import BLUE, ORANGE
from shrinktest.statistics.hsic import shift_notes

NAME = "restricted_levels"
ESTIMATORS = ("kme", "skmse", "fkmse")
FAST = ESTIMATORS[:2]  # of tests whose level is not a matter of the estimator
RESAMPLES = 199
COLUMNS = ["test", "data", "n", "restriction", "estimator", "attainable", "level", "low", "high"]
COLUMNS += ["region_low", "region_high", "noted", "trials"]

# --- two samples: observations of one law in every block, pair or cluster ------------------------------------------

SHARES = (
    np.array([1, 1, 2, 2, 3, 3]),
    np.array([3, 3, 2, 2, 1, 1]),
)  # observations of the six blocks in X, and in Y


def six_blocks(n, m):
    return {"blocks": tuple(np.repeat(np.arange(6), share) for share in SHARES)}


def block_effects(rng, n):
    """Draw blocks that differ, the high ones more frequent in Y."""
    effect = np.sort(1.5 * rng.normal(size=6))[::-1]
    return tuple(effect[blocks] + rng.normal(size=n) for blocks in six_blocks(n, n)["blocks"])


def paired(n, m):
    return {"paired": True}


def pairs_alike(rng, n):
    common = rng.normal(size=n)
    return common + rng.normal(size=n), common + rng.normal(size=n)


def pairs_opposed(rng, n):
    """Draw pairs with negative correlation, such as shares of a territory."""
    common = rng.normal(size=n)
    return common + 0.7 * rng.normal(size=n), -common + 0.7 * rng.normal(size=n)


def threes(n, m):
    return {"groups": (np.arange(n) // 3, n + np.arange(m) // 3)}


def correlated(rng, groups, noise=0.7):
    """Draw observations with group effects."""
    return rng.normal(size=groups.max() + 1)[groups] + noise * rng.normal(size=groups.size)


def clusters(rng, n):
    return correlated(rng, np.arange(n) // 3), correlated(rng, np.arange(n) // 3)


SIZES = np.repeat(np.arange(8), [1, 1, 1, 1, 1, 4, 4, 4])


def unequal(n, m):
    return {"groups": (SIZES, 8 + SIZES)}


def unequal_clusters(rng, n):
    """Draw clusters of one and of four, the small ones with a higher mean."""
    return tuple(correlated(rng, SIZES) + 2.0 * (SIZES < 5) for _ in range(2))


def schools(n, m):
    """Return classes of two in three schools: four, three and two classes in X, two, three and four in Y."""
    of_x, of_y = np.repeat(np.arange(3), [8, 6, 4]), np.repeat(np.arange(3), [4, 6, 8])
    return {"blocks": (of_x, of_y), "groups": (np.arange(n) // 2, n + np.arange(m) // 2)}


def classes_in_schools(rng, n):
    effect = np.sort(1.5 * rng.normal(size=3))
    return tuple(
        effect[blocks] + correlated(rng, np.arange(n) // 2) for blocks in schools(n, n)["blocks"]
    )


# --- two variables, independent within every block, cluster or series ----------------------------------------------


def four_blocks(n, m):
    return {"blocks": np.arange(n) * 4 // n}


def both_have_effects(rng, n):
    return tuple(rng.normal(size=(2, 4))[:, four_blocks(n, n)["blocks"]] + rng.normal(size=(2, n)))


def groups_of_three(n, m):
    return {"groups": np.arange(n) // 3}


def variables_in_clusters(rng, n):
    return tuple(correlated(rng, np.arange(n) // 3) for _ in range(2))


def short_series(rng, n):
    """Draw a random walk for each of ten patients, who are permuted as wholes."""
    return tuple(np.cumsum(rng.normal(size=(2, 10, n // 10)), axis=2).reshape(2, n))


def patients(n, m):
    return {"groups": np.arange(n) * 10 // n}


def shifted(n, m):
    return {"block_length": "whole"}


def around_a_circle(rng, n):
    return tuple(periodic(rng, n))


def autoregressive(rng, n, memory=0.7, series=1):
    """Draw two variables, each of several stationary series."""
    return tuple(_levels.autoregressive(rng, memory, 2, series, n // series).reshape(2, n))


def slow(rng, n):
    return autoregressive(rng, n, memory=0.9)


def very_slow(rng, n):
    return autoregressive(rng, n, memory=0.98)


def noted(x, y, **design):
    """Tell whether the result has the note that shifts of these series are not to be trusted."""
    read = read_variables((x, y), XY, "raise", **design)
    kernels = tuple(Gaussian().resolve(z) for z in read.values)
    return bool(shift_notes(kernels, *read.values, read.restriction.series(len(x))))


def without_a_note(draw):
    """Return a function that draws again until a series has no note, which no shift would change."""

    def redrawn(rng, n):
        series = draw(rng, n)
        while noted(*series, block_length="whole"):
            series = draw(rng, n)
        return series

    return redrawn


def several_series(rng, n):
    return autoregressive(rng, n, series=4)


def shifted_apart(n, m):
    return {"block_length": "whole", "blocks": np.arange(n) * 4 // n}


def random_walks(rng, n):
    return tuple(np.cumsum(rng.normal(size=(2, n)), axis=1))


# test, name, size of X, function that draws the data, design of the restricted test
EXACT = [
    ("two-sample", "block effects", 12, block_effects, six_blocks),
    ("two-sample", "pairs that are alike", 20, pairs_alike, paired),
    ("two-sample", "pairs that are opposed", 20, pairs_opposed, paired),
    ("two-sample", "clusters of three", 24, clusters, threes),
    ("two-sample", "clusters of one and of four", 17, unequal_clusters, unequal),
    ("two-sample", "classes in schools", 18, classes_in_schools, schools),
    ("independence", "block effects in both", 24, both_have_effects, four_blocks),
    ("independence", "clusters of three", 30, variables_in_clusters, groups_of_three),
    ("independence", "random walks of ten patients", 40, short_series, patients),
    ("independence", "periodic series", 40, around_a_circle, shifted),
]
SERIES = [
    ("autoregressive series", autoregressive, 20),
    ("autoregressive series", autoregressive, 40),
    ("autoregressive series", autoregressive, 80),
    ("autoregressive series", autoregressive, 160),
    ("slow autoregressive series", slow, 80),
    ("slow autoregressive series", slow, 160),
]
TRUSTED = [
    ("independence", f"{name} without a note", n, without_a_note(draw), shifted)
    for name, draw, n in SERIES
]
APPROXIMATE = [
    *(("independence", name, n, draw, shifted) for name, draw, n in SERIES),
    ("independence", "slow autoregressive series", 20, slow, shifted),
    ("independence", "very slow autoregressive series", 40, very_slow, shifted),
    ("independence", "very slow autoregressive series", 160, very_slow, shifted),
    ("independence", "four autoregressive series", 80, several_series, shifted_apart),
]
NOT_COVERED = [("independence", "random walks", 80, random_walks, shifted)]
KINDS = {
    "exact": (EXACT, ESTIMATORS),
    "trusted": (TRUSTED, FAST),
    "approximate": (APPROXIMATE, FAST),
    "not covered": (NOT_COVERED, FAST),
}


def attainable(test: str, n: int, design: dict) -> float:
    """Return the largest level up to 0.05 that the number of permutations allows."""
    nothing = np.zeros((n, 1))
    if test == "two-sample":
        restriction = read_samples((nothing, nothing), XY, "raise", **design).restriction
        permutations = restriction.labels((n, n), ALPHA, symmetric=True)
    else:
        restriction = read_variables((nothing, nothing), XY, "raise", **design).restriction
        permutations = restriction.pairings(n, ALPHA)
    count = Draws.of(permutations, RESAMPLES, np.random.default_rng()).count
    return allowed_rows(ALPHA, count) / count


def rejected(args, estimators, test, name, n, draw, design) -> pd.DataFrame:
    """Return the rejections of the restricted and of the unrestricted test of the same data."""
    share = math.nan
    if "block_length" in design(n, n):
        rng = np.random.default_rng(0)
        share = np.mean([noted(*draw(rng, n), **design(n, n)) for _ in range(args.trials // 4 + 1)])
    frames = []
    for restriction in (design, None):
        kind = "free" if restriction is None else "restricted"
        result = power_study(
            FromFunction(draw, test, restriction=restriction),
            estimators,
            n,
            alphas=ALPHA,
            n_trials=args.trials,
            n_resamples=RESAMPLES,
            stopping="curtailed",
            with_null=False,  # the data are null as they are
            store=store(args, f"{test}-{name.replace(' ', '-')}-{n}-{kind}"),
            workers=args.workers,
            rng=0,
        )
        expected = ALPHA if restriction is None else attainable(test, n, design(n, n))
        low, high = binom.ppf([0.0005, 0.9995], args.trials, expected) / args.trials
        setting = {"test": test, "data": name, "n": n, "attainable": expected, "noted": share}
        setting |= {"restriction": "none" if restriction is None else ", ".join(design(n, n))}
        frames.append(
            result.table.assign(
                **setting, level=result.table["power"], region_low=low, region_high=high
            )
        )
    return pd.concat(frames)[COLUMNS]


def shown(frame: pd.DataFrame, *columns: str) -> str:
    """Return a table with a row for every kind of data: the restricted and the unrestricted test (kme)."""
    rows = []
    for (test, name, n), cells in frame[frame["estimator"] == "kme"].groupby(
        ["test", "data", "n"], sort=False
    ):
        restricted, free = (
            cells[(cells["restriction"] == "none") == which].iloc[0] for which in (False, True)
        )
        row = {"test": test, "data": label(name), "n": n, "design": restricted["restriction"]}
        row["proportion with note"] = f"{restricted['noted']:.2f}"
        for cell, which in ((restricted, "restricted"), (free, "unrestricted")):
            outside = not cell["region_low"] <= cell["level"] <= cell["region_high"]
            row[which] = f"{cell['level']:.3f}{' *' if outside else ''}"
        rows.append(row)
    return markdown(pd.DataFrame(rows)[[*columns, "restricted", "unrestricted"]])


#: Label of the data sets in the data file to their name on the page.
LABELS = {
    "pairs that are alike": "positively correlated pairs",
    "pairs that are opposed": "negatively correlated pairs",
    "block effects in both": "block effects in both variables",
    "autoregressive series": "AR(1), 0.7",
    "slow autoregressive series": "AR(1), 0.9",
    "very slow autoregressive series": "AR(1), 0.98",
    "four autoregressive series": "four AR(1) series, 0.7",
}


def label(data: str) -> str:
    """Return the name of a kind of data on the page."""
    name = data.removesuffix(" without a note")
    return LABELS.get(name, name)


def chart(tables):
    """Draw the Type I error rates of restricted and of unrestricted permutations."""
    table = tables[""]
    exact = table[table["kind"] == "exact"]
    made, ax = figure(0.9 + 0.3 * exact["data"].nunique())
    low, high = exact["region_low"].min(), exact["region_high"].max()
    ax.axvspan(low, high, color="#DDDDDD", label="nominal level ± simulation error")
    names = list(dict.fromkeys(exact["data"]))
    looks = {"restricted": ("o", BLUE), "unrestricted": ("D", ORANGE)}
    for kind, (marker, color) in looks.items():
        some = exact[(exact["restriction"] == "none") == (kind == "unrestricted")]
        places = [names.index(name) for name in some["data"]]
        ax.plot(
            some["level"],
            places,
            marker,
            color=color,
            markersize=5,
            alpha=0.8,
            label=f"{kind} permutations",
        )
    rows(ax, [label(name) for name in names])
    ax.set(xlabel=f"Type I error rate at level {ALPHA:g}", xlim=(0.0, None))
    made.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=3,
        frameon=False,
        fontsize="small",
    )
    return made


def as_expected(exact: pd.DataFrame) -> bool:
    """Tell whether restricted tests are exact, and unrestricted ones liberal, or conservative for alike pairs."""
    free = exact["restriction"] == "none"
    alike = exact["data"] == "pairs that are alike"
    above = exact["level"] > exact["region_high"]
    below = exact["level"] < exact["region_low"]
    return (
        not (above | below)[~free].any()
        and above[free & ~alike].all()
        and below[free & alike].all()
    )


def measured(args):
    """Return the tables of all settings."""
    frames = [
        rejected(args, estimators, *case).assign(kind=kind)
        for kind, (cases, estimators) in KINDS.items()
        for case in cases
    ]
    return pd.concat(frames, ignore_index=True)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    kinds = dict(iter(table.groupby("kind", sort=False)))
    exact = kinds["exact"]
    free = exact["restriction"] == "none"
    inside = exact["level"].between(exact["region_low"], exact["region_high"])
    wide = table.pivot_table(
        index=["kind", "data", "n", "restriction"], columns="estimator", values="level"
    )
    apart = wide[list(ESTIMATORS)].sub(wide["kme"], axis=0).abs().max(axis=None)
    return {
        "inside": int(inside[~free].sum()),
        "settings": int((~free).sum()),
        "level": f"{ALPHA:.0%}",
        "most_unrestricted": f"{exact.loc[free, 'level'].max():.0%}",
        "as_expected": as_expected(exact),
        "trials": table["trials"].max(),
        "permutations": RESAMPLES,
        "low": f"{exact['region_low'].iloc[0]:.4f}",
        "high": f"{exact['region_high'].iloc[0]:.4f}",
        "apart": f"{apart:.3f}",
        "exact": shown(exact, "test", "data", "n", "design"),
        "trusted": span(kinds["trusted"].query("restriction != 'none'")["level"]),
        "approximate": shown(kinds["approximate"], "data", "n", "proportion with note"),
        "not_covered": shown(kinds["not covered"], "data", "n"),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=3)
