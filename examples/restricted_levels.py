"""Level of the restricted permutation tests on the designs they are made for, next to the unrestricted test.

Null data with block effects, pairs, clusters and autocorrelated series: rows that belong together are moved together.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from _charts import figure, rows
from _study import claim, markdown, options, store, write
from scipy.stats import binom

from shrinktest import Gaussian, power_study
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.permutations.base import Draws
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.plots.axes import BLUE, ORANGE
from shrinktest.power.designs import FromFunction
from shrinktest.statistics.hsic import shift_notes

NAME, TITLE = "restricted_levels", "Level of restricted permutation tests"
ESTIMATORS = ("kme", "skmse", "fkmse")
FAST = ESTIMATORS[:2]  # of tests whose level is not a matter of the estimator
ALPHA, RESAMPLES = 0.05, 199

# --- two samples: observations of one law in every block, pair or cluster ------------------------------------------

SHARES = np.array([1, 1, 2, 2, 3, 3]), np.array([3, 3, 2, 2, 1, 1])  # observations of the six blocks in X, and in Y


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
    return tuple(effect[blocks] + correlated(rng, np.arange(n) // 2) for blocks in schools(n, n)["blocks"])


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
    return {"shift": "circular"}


def periodic(rng, n):
    """Draw white noise smoothed around a circle: the end joins the start."""
    distance = np.minimum(np.arange(n), n - np.arange(n))
    spectrum = np.fft.fft(np.exp(-0.5 * (distance / 2.0) ** 2))
    return tuple(np.fft.ifft(np.fft.fft(rng.normal(size=(2, n))) * spectrum).real)


def autoregressive(rng, n, memory=0.7, series=1):
    """Draw x_t = 0.7 x_(t-1) + noise from its stationary distribution."""
    out = rng.normal(size=(2, series, n // series)) * np.sqrt(1.0 - memory**2)
    out[..., 0] /= np.sqrt(1.0 - memory**2)
    for t in range(1, n // series):
        out[..., t] += memory * out[..., t - 1]
    return tuple(out.reshape(2, n))


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
        while noted(*series, shift="circular"):
            series = draw(rng, n)
        return series

    return redrawn


def several_series(rng, n):
    return autoregressive(rng, n, series=4)


def shifted_apart(n, m):
    return {"shift": "circular", "blocks": np.arange(n) * 4 // n}


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
    ("independence", "periodic series", 40, periodic, shifted),
]
SERIES = [
    ("autoregressive series", autoregressive, 20),
    ("autoregressive series", autoregressive, 40),
    ("autoregressive series", autoregressive, 80),
    ("autoregressive series", autoregressive, 160),
    ("slow autoregressive series", slow, 80),
    ("slow autoregressive series", slow, 160),
]
TRUSTED = [("independence", f"{name} without a note", n, without_a_note(draw), shifted) for name, draw, n in SERIES]
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


def levels(args, estimators, test, name, n, draw, design) -> list[dict]:
    """Return the rejections of the restricted and of the unrestricted test of the same data."""
    rows = []
    share = math.nan
    if "shift" in design(n, n):
        rng = np.random.default_rng(0)
        share = np.mean([noted(*draw(rng, n), **design(n, n)) for _ in range(args.trials // 4 + 1)])
    for restriction in (design, None):
        result = power_study(
            FromFunction(draw, test, restriction=restriction),
            estimators,
            n,
            alphas=ALPHA,
            n_trials=args.trials,
            n_resamples=RESAMPLES,
            stopping="curtailed",
            with_null=False,  # the data are null as they are
            store=store(args, f"{test}-{name.replace(' ', '-')}-{n}-{'free' if restriction is None else 'restricted'}"),
            workers=args.workers,
        )
        expected = ALPHA if restriction is None else attainable(test, n, design(n, n))
        low, high = binom.ppf([0.0005, 0.9995], args.trials, expected) / args.trials
        for row in result.table.itertuples():
            rows.append(
                {
                    "test": test,
                    "data": name,
                    "n": n,
                    "restriction": "none" if restriction is None else ", ".join(design(n, n)),
                    "estimator": row.estimator,
                    "attainable": expected,
                    "level": row.power,
                    "low": row.low,
                    "high": row.high,
                    "region_low": low,
                    "region_high": high,
                    "noted": share,
                    "trials": row.trials,
                }
            )
    return rows


def shown(frame: pd.DataFrame, *columns: str) -> str:
    """Return a table with a row for every kind of data: the restricted and the unrestricted test (kme)."""
    rows = []
    for (test, name, n), cells in frame[frame["estimator"] == "kme"].groupby(["test", "data", "n"], sort=False):
        restricted, free = (cells[(cells["restriction"] == "none") == which].iloc[0] for which in (False, True))
        row = {"test": test, "data": label(name), "n": n, "design": restricted["restriction"]}
        row["share with note"] = f"{restricted['noted']:.2f}"
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


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    exact = tables[""].query("kind == 'exact'")
    free = exact["restriction"] == "none"
    inside = exact["level"].between(exact["region_low"], exact["region_high"])
    return (
        "Permutations that respect blocks, pairs, clusters and periodic shifts keep the level: in "
        f"{int(inside[~free].sum())} of {int((~free).sum())} settings the Type I error rate was within simulation "
        f"error of {ALPHA:.0%}. Unrestricted permutations of the same data gave up to "
        f"{exact.loc[free, 'level'].max():.0%} false positives."
    )


def chart(tables):
    """Draw the Type I error rates of restricted and of unrestricted permutations."""
    table = tables[""]
    exact = table[table["kind"] == "exact"]
    made, ax = figure(0.9 + 0.3 * exact["data"].nunique())
    low, high = exact["region_low"].min(), exact["region_high"].max()
    ax.axvspan(low, high, color="#DDDDDD", label="an exact test")
    names = list(dict.fromkeys(exact["data"]))
    looks = {"restricted": ("o", BLUE), "unrestricted": ("D", ORANGE)}
    for kind, (marker, colour) in looks.items():
        some = exact[(exact["restriction"] == "none") == (kind == "unrestricted")]
        places = [names.index(name) for name in some["data"]]
        ax.plot(some["level"], places, marker, color=colour, markersize=5, alpha=0.8, label=f"{kind} permutations")
    rows(ax, [label(name) for name in names])
    ax.set(xlabel=f"Type I error rate at level {ALPHA:g}", xlim=(0.0, None))
    made.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return made


def as_expected(exact: pd.DataFrame) -> bool:
    """Tell whether restricted tests are exact, and unrestricted ones liberal, or conservative for alike pairs."""
    free, alike = exact["restriction"] == "none", exact["data"] == "pairs that are alike"
    above, below = exact["level"] > exact["region_high"], exact["level"] < exact["region_low"]
    return not (above | below)[~free].any() and above[free & ~alike].all() and below[free & alike].all()


def alt(tables) -> str:
    """Describe the figure."""
    return "Type I error rates: " + claim(
        "restricted permutations are near 0.05, unrestricted ones far from it",
        as_expected(tables[""][tables[""]["kind"] == "exact"]),
    )


def page(tables) -> list[str]:
    """Write the section from the levels of all settings."""
    table = tables[""]
    frames, trials = dict(iter(table.groupby("kind", sort=False))), table["trials"].max()
    trusted = frames["trusted"].query("restriction != 'none'")["level"]
    low, high = (frames["exact"][f"region_{end}"].iloc[0] for end in ("low", "high"))
    wide = table.pivot_table(index=["kind", "data", "n", "restriction"], columns="estimator", values="level")
    apart = wide[list(ESTIMATORS)].sub(wide["kme"], axis=0).abs().max(axis=None)
    return [
        f"Each row has {trials} null data sets, tested with {RESAMPLES} permutations or all that exist. An exact test "
        f"falls within [{low:.4f}, {high:.4f}] with probability 99.9%; a star marks rates outside. The rates are for "
        f"`kme`; other estimators differ by at most {apart:.3f}.",
        "## Exact by theory",
        shown(frames["exact"], "test", "data", "n", "design"),
        claim(
            "Every restricted test keeps its level. The unrestricted test rejects too often, except for positively "
            "correlated pairs, where it rejects too rarely.",
            as_expected(frames["exact"]),
        ),
        "## Shifts of series that are not periodic",
        "Circular shifts of an autoregressive series are only approximately valid, because its end does not join its "
        "start; the error shrinks as the series gets longer relative to its autocorrelation (below, the lag-1 "
        "correlation is 0.7 to 0.98). Results have a note where a series is too short. In series without the note the "
        f"rates were {trusted.min():.1%} to {trusted.max():.1%}; in all series:",
        shown(frames["approximate"], "data", "n", "share with note"),
        "## Not covered",
        "A random walk is not stationary, so shifts are not valid at any length; test its differences instead.",
        shown(frames["not covered"], "data", "n"),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=3)
    frames = [
        pd.DataFrame([row for case in cases for row in levels(args, estimators, *case)]).assign(kind=kind)
        for kind, (cases, estimators) in KINDS.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
