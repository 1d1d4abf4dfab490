"""Level of the restricted permutation tests on the data that they are for, and of the unrestricted test beside them.

Null data with block effects, pairs, clusters and autocorrelated series: what varies together must move together.
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
    """Blocks that differ, those that are high being frequent in Y."""
    effect = np.sort(1.5 * rng.normal(size=6))[::-1]
    return tuple(effect[blocks] + rng.normal(size=n) for blocks in six_blocks(n, n)["blocks"])


def paired(n, m):
    return {"paired": True}


def pairs_alike(rng, n):
    common = rng.normal(size=n)
    return common + rng.normal(size=n), common + rng.normal(size=n)


def pairs_opposed(rng, n):
    """What one has the other lacks, such as shares of a territory."""
    common = rng.normal(size=n)
    return common + 0.7 * rng.normal(size=n), -common + 0.7 * rng.normal(size=n)


def threes(n, m):
    return {"groups": (np.arange(n) // 3, n + np.arange(m) // 3)}


def alike(rng, groups, noise=0.7):
    """Observations that have much in common with the others of their group."""
    return rng.normal(size=groups.max() + 1)[groups] + noise * rng.normal(size=groups.size)


def clusters(rng, n):
    return alike(rng, np.arange(n) // 3), alike(rng, np.arange(n) // 3)


SIZES = np.repeat(np.arange(8), [1, 1, 1, 1, 1, 4, 4, 4])


def unequal(n, m):
    return {"groups": (SIZES, 8 + SIZES)}


def unequal_clusters(rng, n):
    """Clusters of one and of four; the small ones are another kind."""
    return tuple(alike(rng, SIZES) + 2.0 * (SIZES < 5) for _ in range(2))


def schools(n, m):
    """Whole classes of two, in three schools with four, three and two classes of X, and two, three and four of Y."""
    of_x, of_y = np.repeat(np.arange(3), [8, 6, 4]), np.repeat(np.arange(3), [4, 6, 8])
    return {"blocks": (of_x, of_y), "groups": (np.arange(n) // 2, n + np.arange(m) // 2)}


def classes_in_schools(rng, n):
    effect = np.sort(1.5 * rng.normal(size=3))
    return tuple(effect[blocks] + alike(rng, np.arange(n) // 2) for blocks in schools(n, n)["blocks"])


# --- two variables, independent within every block, cluster or series ----------------------------------------------


def four_blocks(n, m):
    return {"blocks": np.arange(n) * 4 // n}


def both_have_effects(rng, n):
    return tuple(rng.normal(size=(2, 4))[:, four_blocks(n, n)["blocks"]] + rng.normal(size=(2, n)))


def groups_of_three(n, m):
    return {"groups": np.arange(n) // 3}


def variables_in_clusters(rng, n):
    return tuple(alike(rng, np.arange(n) // 3) for _ in range(2))


def short_series(rng, n):
    """Ten patients, each followed for a while: random walks, which move as wholes."""
    return tuple(np.cumsum(rng.normal(size=(2, 10, n // 10)), axis=2).reshape(2, n))


def patients(n, m):
    return {"groups": np.arange(n) * 10 // n}


def shifted(n, m):
    return {"shift": "circular"}


def periodic(rng, n):
    """White noise smoothed around a circle: the end joins the start."""
    distance = np.minimum(np.arange(n), n - np.arange(n))
    spectrum = np.fft.fft(np.exp(-0.5 * (distance / 2.0) ** 2))
    return tuple(np.fft.ifft(np.fft.fft(rng.normal(size=(2, n))) * spectrum).real)


def autoregressive(rng, n, memory=0.7, series=1):
    """x_t = 0.7 x_(t-1) + noise, from its stationary law."""
    out = rng.normal(size=(2, series, n // series)) * np.sqrt(1.0 - memory**2)
    out[..., 0] /= np.sqrt(1.0 - memory**2)
    for t in range(1, n // series):
        out[..., t] += memory * out[..., t - 1]
    return tuple(out.reshape(2, n))


def slow(rng, n):
    return autoregressive(rng, n, memory=0.9)


def very_slow(rng, n):
    return autoregressive(rng, n, memory=0.98)


def noted(x, y, **told):
    """Whether the result of the test has a note that says not to trust shifts of these series."""
    read = read_variables((x, y), XY, "raise", **told)
    kernels = tuple(Gaussian().resolve(z) for z in read.values)
    return bool(shift_notes(kernels, *read.values, read.restriction.series(len(x))))


def without_a_note(draw):
    """Series as ``draw`` draws them, but only those without that note, which no shift would change."""

    def redrawn(rng, n):
        found = draw(rng, n)
        while noted(*found, shift="circular"):
            found = draw(rng, n)
        return found

    return redrawn


def several_series(rng, n):
    return autoregressive(rng, n, series=4)


def shifted_apart(n, m):
    return {"shift": "circular", "blocks": np.arange(n) * 4 // n}


def random_walks(rng, n):
    return tuple(np.cumsum(rng.normal(size=(2, n)), axis=1))


# what it is, size of X, how the data are drawn, what the restricted test is told
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


def attainable(test: str, n: int, told: dict) -> float:
    """The largest level up to .05 that the restricted test can have: all relabellings, or the drawn ones."""
    nothing = np.zeros((n, 1))
    if test == "two-sample":
        restriction = read_samples((nothing, nothing), XY, "raise", **told).restriction
        found = restriction.labels((n, n), ALPHA)
    else:
        restriction = read_variables((nothing, nothing), XY, "raise", **told).restriction
        found = restriction.pairings(n, ALPHA)
    count = Draws.of(found, RESAMPLES, np.random.default_rng()).count
    return allowed_rows(ALPHA, count) / count


def levels(args, estimators, test, name, n, draw, told) -> list[dict]:
    """Rejections by the restricted and by the unrestricted test of the same data."""
    rows = []
    share = math.nan
    if "shift" in told(n, n):
        rng = np.random.default_rng(0)
        share = np.mean([noted(*draw(rng, n), **told(n, n)) for _ in range(args.trials // 4 + 1)])
    for restriction in (told, None):
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
        expected = ALPHA if restriction is None else attainable(test, n, told(n, n))
        low, high = binom.ppf([0.0005, 0.9995], args.trials, expected) / args.trials
        for row in result.table.itertuples():
            rows.append(
                {
                    "test": test,
                    "data": name,
                    "n": n,
                    "restriction": "none" if restriction is None else ", ".join(told(n, n)),
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


def shown(frame: pd.DataFrame) -> str:
    """A row for every kind of data: what the restricted test is told, its levels, those of the unrestricted test."""
    rows = []
    for (test, name, n), cells in frame.groupby(["test", "data", "n"], sort=False):
        kept, free = cells[cells["restriction"] != "none"], cells[cells["restriction"] == "none"]
        row = {"test": test, "data": name, "n": n, "told": kept["restriction"].iloc[0]}
        row["attainable"] = float(kept["attainable"].iloc[0])
        if kept["kind"].iloc[0] == "approximate":
            row["with a note"] = f"{kept['noted'].iloc[0]:.2f}"
        row["region"] = f"{kept['region_low'].iloc[0]:.4f} to {kept['region_high'].iloc[0]:.4f}"
        for table, which in ((kept, ""), (free, "unrestricted ")):
            for cell in table.itertuples():
                outside = not cell.region_low <= cell.level <= cell.region_high
                row[f"{which}{cell.estimator}"] = f"{cell.level:.4f}{' *' if outside else ''}"
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def share_noted(frame: pd.DataFrame, data: str) -> float:
    return float(frame.loc[frame["data"] == data, "noted"].iloc[0])


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    exact = table[table["kind"] == "exact"]
    kept, free = (exact[one] for one in (exact["restriction"] != "none", exact["restriction"] == "none"))
    inside = kept["level"].between(kept["region_low"], kept["region_high"])
    return (
        "Permutations that respect blocks, pairs, clusters and periodic shifts keep the level: in "
        f"{int(inside.sum())} of {len(kept)} settings the rate of false alarms was within the error of the count. Free "
        f"permutations of the same data gave false alarms in up to {100 * free['level'].max():.0f} %, where "
        f"{100 * ALPHA:g} % was meant."
    )


def chart(tables):
    """Shares of true null hypotheses rejected: restricted permutations are near .05, free ones far from it."""
    table = tables[""]
    exact = table[table["kind"] == "exact"]
    made, ax = figure(0.9 + 0.3 * exact["data"].nunique())
    low, high = exact["region_low"].min(), exact["region_high"].max()
    ax.axvspan(low, high, color="#DDDDDD", label="an exact test")
    names = list(dict.fromkeys(exact["data"]))
    looks = {"restricted": ("o", BLUE), "free": ("D", ORANGE)}
    for label, (marker, colour) in looks.items():
        some = exact[(exact["restriction"] == "none") == (label == "free")]
        places = [names.index(name) for name in some["data"]]
        ax.plot(some["level"], places, marker, color=colour, markersize=5, alpha=0.8, label=f"{label} permutations")
    rows(ax, names)
    ax.set(xlabel=f"share of true null hypotheses rejected at level {ALPHA:g}", xlim=(0.0, None))
    made.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return made


def as_expected(exact: pd.DataFrame) -> bool:
    """Whether restricted tests are inside their regions, free ones above, and below for pairs that are alike."""
    free, alike = exact["restriction"] == "none", exact["data"] == "pairs that are alike"
    above, below = exact["level"] > exact["region_high"], exact["level"] < exact["region_low"]
    return not (above | below)[~free].any() and above[free & ~alike].all() and below[free & alike].all()


def alt(tables) -> str:
    """What the picture shows."""
    return "Shares of true null hypotheses rejected: " + claim(
        "restricted permutations are near .05, free ones far from it",
        as_expected(tables[""][tables[""]["kind"] == "exact"]),
    )


def page(tables) -> list[str]:
    """What the page says, from the levels of all cases."""
    table = tables[""]
    frames, trials = dict(iter(table.groupby("kind", sort=False))), table["trials"].max()
    return [
        f"{trials} null data sets in every row, {RESAMPLES} permutations or all there are, level {ALPHA:g}, "
        "median bandwidths, n observations in each sample or n pairs of two variables; the script says how each is "
        "drawn and tested. `attainable` is the largest level up to .05 that the number of permutations allows; a "
        "test of that level rejects a share of the data sets within `region` with probability at least .999 (exact "
        "binomial), and a star marks what is outside.",
        "## Exact by theory",
        shown(frames["exact"]),
        claim(
            "Every restricted test has its level. The unrestricted test of the same data rejects too often, except for "
            "pairs that are alike, where it rejects too seldom.",
            as_expected(frames["exact"]),
        ),
        "## Shifts of series that do not close",
        "The end of an autoregressive series is not followed by its start, so that circular shifts are only nearly "
        "exact; the longer the series compared with its memory, the smaller the error. The correlation from one "
        "observation to the next is .7, in slow series .9, in very slow ones .98. A test with shifts looks at the "
        "memory of the series, in a way that no shift changes, and puts a note into its result where they are short "
        "for that. These are series without the note, for which shifts are meant (drawn from the same seeds as those "
        "below, and drawn again where they have the note, so that the two tables share data sets):",
        shown(frames["trusted"]),
        "And these are all series, with the share of them that have the note (of a quarter as many):",
        shown(frames["approximate"]),
        "The note cannot see whether a series is periodic, and says so: "
        f"{share_noted(frames['exact'], 'periodic series'):.0%} of the periodic series above have it, whose shifts "
        "are exact.",
        "## Not covered",
        "A random walk is not stationary, so that shifts are not valid, however long it is. Its differences are "
        "stationary.",
        shown(frames["not covered"]),
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
