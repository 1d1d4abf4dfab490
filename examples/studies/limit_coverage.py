"""Coverage of intervals at the limits of their forms: few distinct values, effects near 1, blocks, shares in groups.

The forms were chosen on flags of shares .5, .45, .3 and .2, on some columns of three and five values, and on flags
with the joint shares .75, .01, .01, .23 and about .48, .02, .02, .48; the other designs only report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, parts, percent, write
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from shrinktest.effects.columns import (
    Middle,
    difference_of_shares,
    larger,
    ratio_of_widths,
)
from shrinktest.effects.dependence import dependence
from shrinktest.effects.distance import NORMS, VARIANCE, Pair, distance
from shrinktest.effects.row_units import RowUnits
from shrinktest.effects.separability import CrossFit, fold_codes, roc_area
from shrinktest.estimators import KME
from shrinktest.kernels import Gaussian
from shrinktest.statistics.features import Features

NAME = "limit_coverage"
TITLE = "Coverage of intervals at their limits"
CONFIDENCE, BELOW = 0.95, 0.93
SPREAD, DEPENDENCE, DISTANCE = "IQR ratio, few values", "dependence near 1", "distance near 1"
WITHIN, COLUMNS, SHARES = "within blocks", "columns, blocks ignored", "shares in groups"
Interval = tuple[float, float, float]  # the truth and both limits


# --- spread where quantile functions have kinks ----------------------------------------------------------------------

#: Values and their probabilities in both tables; None for a normal variable of mean 10.
VALUES: dict[str, tuple[tuple, tuple, tuple]] = {
    "0/1: 50%, 50%": ((0.0, 1.0), (0.5, 0.5), (0.5, 0.5)),
    "0/1: 48%, 53%": ((0.0, 1.0), (0.52, 0.48), (0.47, 0.53)),
    "0/1: 35%, 50%": ((0.0, 1.0), (0.65, 0.35), (0.5, 0.5)),
    "0/1: 25%, 60%": ((0.0, 1.0), (0.75, 0.25), (0.4, 0.6)),
    "three values, half lowest": ((0.0, 1.0, 2.0), (0.5, 0.3, 0.2), (0.5, 0.3, 0.2)),
    "three values, one far": ((0.0, 1.0, 500.0), (0.25, 0.25, 0.5), (0.25, 0.25, 0.5)),
    "five grades, half highest": (
        (1.0, 2.0, 3.0, 4.0, 5.0),
        (0.1, 0.1, 0.1, 0.2, 0.5),
        (0.1, 0.1, 0.1, 0.2, 0.5),
    ),
    "half zeros, else about 10": ((0.0, None), (0.5, 0.5), (0.5, 0.5)),
}


def draw_values(values: tuple, shares: tuple, uniform: np.ndarray) -> np.ndarray:
    """Return the values at quantiles of their distribution."""
    edges = np.cumsum(shares)
    codes = np.minimum(np.searchsorted(edges, uniform, side="right"), len(values) - 1)
    known = np.array([0.0 if value is None else value for value in values])[codes]
    if None not in values:
        return known
    place = values.index(None)
    inside = np.clip((uniform - (edges[place] - shares[place])) / shares[place], 1e-9, 1.0 - 1e-9)
    return np.where(codes == place, stats.norm.ppf(inside, loc=10.0), known)


def spreads(design: str, size: int, rng: np.random.Generator) -> Iterator[Interval]:
    """Yield intervals of the ratio of interquartile ranges."""
    values, *shares = VALUES[design]
    grid = (np.arange(100_000) + 0.5) / 100_000
    first, second = (Middle(draw_values(values, each, grid)).width for each in shares)
    units = RowUnits.rows((size, size))
    while True:
        samples = [draw_values(values, each, rng.random(size)) for each in shares]
        _, low, high = ratio_of_widths(samples[0], samples[1], units, CONFIDENCE)
        yield second / first, low * (1.0 - 1e-9), high * (1.0 + 1e-9)


# --- dependence and distance near 1 ----------------------------------------------------------------------------------


def mixed(shares: tuple[float, ...], exchanged: float) -> np.ndarray:
    """Joint shares of equal variables, of whose pairs some are exchanged at random."""
    each = np.array(shares)
    return (1.0 - exchanged) * np.diag(each) + exchanged * np.outer(each, each)


#: Joint shares of two variables with the values 0, 1, ...
JOINT = {
    "2 flags: .75, .01, .01, .23": np.array([[0.75, 0.01], [0.01, 0.23]]),
    "2 flags: .60, .01, .01, .38": np.array([[0.6, 0.01], [0.01, 0.38]]),
    "2 flags: .80, .02, .00, .18": np.array([[0.8, 0.02], [0.0, 0.18]]),
    "2 flags: .47, .03, .03, .47": np.array([[0.47, 0.03], [0.03, 0.47]]),
    "2 flags: .499, .001, .001, .499": np.array([[0.499, 0.001], [0.001, 0.499]]),
    "3 grades, 3% exchanged": mixed((0.4, 0.35, 0.25), 0.03),
    "3 grades, 12% exchanged": mixed((0.4, 0.35, 0.25), 0.12),
    "5 grades, 4% exchanged": mixed((0.2,) * 5, 0.04),
    "5 grades, 15% exchanged": mixed((0.2,) * 5, 0.15),
}


def dependences(design: str, size: int, rng: np.random.Generator) -> Iterator[Interval]:
    """Yield intervals of the dependence with linear kernels, a squared correlation."""
    shares = JOINT[design]
    codes = np.arange(len(shares))
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    covariance = codes @ shares @ codes - (codes @ rows) * (codes @ columns)
    variances = [codes**2 @ each - (codes @ each) ** 2 for each in (rows, columns)]
    truth = covariance**2 / (variances[0] * variances[1])
    while True:
        cells = rng.choice(shares.size, size=size, p=shares.ravel())
        pair = [code.astype(np.float64) for code in np.divmod(cells, len(shares))]
        x, y = (Features((code - code.mean())[:, None], True) for code in pair)
        yield truth, *dependence(x, y).interval(CONFIDENCE)


#: Shares of rows of each sample that are distributed as the other one.
FOREIGN = ((0.004, 0.0), (0.03, 0.0), (0.02, 0.03), (0.08, 0.04))
APART, WIDTH = 6.0, 0.3  # distance of both clusters, and their standard deviation


def distances(
    foreign: tuple[float, float], relative_to: str, sizes, rng: np.random.Generator
) -> Iterator[Interval]:
    """Yield intervals of the distance of two samples in two clusters."""
    first, second = foreign
    shift = APART**2 * (1.0 - first - second) ** 2
    within = APART**2 * (first * (1.0 - first) + second * (1.0 - second)) + 2.0 * WIDTH**2
    truth = shift / (shift + 2.0 * within)
    if relative_to == NORMS:
        near = 1.0 / (1.0 + 2.0 * WIDTH**2)
        far = near**0.5 * np.exp(-(APART**2) * near / 2.0)
        products = np.array([[near**0.5, far], [far, near**0.5]])
        x, y = np.array([1.0 - first, first]), np.array([second, 1.0 - second])
        truth = 1.0 - 2.0 * (x @ products @ y) / (x @ products @ x + y @ products @ y)
    pair = Pair(np.arange(sum(sizes)) >= sizes[0], np.arange(sum(sizes)))
    while True:
        other = rng.random(sum(sizes)) < np.repeat(foreign, sizes)
        points = APART * (pair.second ^ other) + WIDTH * rng.normal(size=sum(sizes))
        features = Features((points - points.mean())[:, None], True)
        if relative_to == NORMS:
            features = Features(Gaussian(1.0)(points[:, None]), False)
        yield truth, *distance(features, pair, relative_to).interval(CONFIDENCE)


# --- blocks, and shares in groups ------------------------------------------------------------------------------------

BLOCKS = (
    (5, 3, 3),
    (15, 2, 2),
    (10, 5, 5),
    (10, 2, 8),
)  # their number, and the rows of each sample
#: How far the first and the last block are from the middle, and the shift between the samples.
WITHIN_BLOCKS = ((0.0, 1.0), (2.0, 0.0), (2.0, 1.0))
FOLDS, POINTS = 5, 256


def areas(
    design: tuple[int, int, int], apart: float, shift: float, rng: np.random.Generator
) -> Iterator[Interval]:
    """Yield intervals of the AUC of witness functions (Gaussian kernel) from rows of one block."""
    count, *rows = design
    blocks = np.concatenate([np.repeat(np.arange(count), n) for n in rows])
    pair = Pair(np.arange(blocks.size) >= count * rows[0], np.arange(blocks.size), blocks)
    centers, kernel = apart * np.linspace(-1.0, 1.0, count), Gaussian(1.0)
    normal = stats.norm.ppf((np.arange(POINTS) + 0.5) / POINTS)
    grid = np.linspace(-apart - 5.0, apart + shift + 5.0, 400)
    while True:
        folds = fold_codes(pair.units, 2 * blocks + pair.second, FOLDS, rng, together=2)
        points = centers[blocks] + shift * pair.second + rng.normal(size=blocks.size)
        features = Features(kernel(points[:, None]), False)
        scores = CrossFit(KME(), kernel, features, points[:, None], "fixed").scores(
            pair.second, folds
        )
        chance = distance(features, pair, NORMS).chance
        area = roc_area(scores, pair.second, folds + FOLDS * blocks, pair.units, chance)
        fitted = (folds != np.arange(FOLDS)[:, None])[:, None] & np.stack(
            [~pair.second, pair.second]
        )
        weights = fitted / fitted.sum(axis=2, keepdims=True)
        heights = kernel(grid[:, None], points[:, None]) @ (weights[:, 0] - weights[:, 1]).T
        cells = np.zeros((2, FOLDS, count))
        np.add.at(cells, (pair.second.astype(int), folds, blocks), 1.0)
        pairs = cells[0] * cells[1]
        truth = 0.0
        for fold, block in zip(*np.nonzero(pairs), strict=True):
            x, y = (
                np.interp(centers[block] + each + normal, grid, heights[:, fold])
                for each in (0.0, shift)
            )
            truth += pairs[fold, block] * np.searchsorted(np.sort(y), x).mean() / POINTS
        yield truth / pairs.sum(), *area.interval(CONFIDENCE)


def columns(
    effect: str, design: tuple[int, int, int], apart: float, rng: np.random.Generator
) -> Iterator[Interval]:
    """Yield intervals of the effect of a column on rows of all blocks, whose numbers of rows are fixed."""
    count, *rows = design
    blocks = [np.repeat(np.arange(count), n) for n in rows]
    centers = apart * np.linspace(-1.0, 1.0, count)
    units = RowUnits.rows((count * rows[0], count * rows[1]))
    if effect == "share":
        chances = [stats.norm.cdf(centers + shift) for shift in (-0.5, 0.0)]
        truth = chances[1].mean() - chances[0].mean()
        while True:
            drawn = [
                rng.random(each.size) < p[each] for each, p in zip(blocks, chances, strict=True)
            ]
            _, low, high = difference_of_shares(np.concatenate(drawn), units, CONFIDENCE)
            yield truth, low, high
    grid = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    everywhere = [(centers[:, None] + shift + grid).ravel() for shift in (0.0, 1.0)]
    if effect == "location":
        truth = 1.0 - stats.norm.cdf((centers[:, None] - centers - 1.0) / 2.0**0.5).mean()
    else:
        truth = Middle(everywhere[1]).width / Middle(everywhere[0]).width
    estimate = larger if effect == "location" else ratio_of_widths
    while True:
        x, y = (centers[each] + rng.normal(size=each.size) for each in blocks)
        _, low, high = estimate(x, y + 1.0, units, CONFIDENCE)
        yield truth, low, high


GROUPS, MEMBERS, SHARE = (10, 20, 50), 8, (0.2, 0.4)
ALIKE = (0.0, 0.1, 0.3)  # the correlation of rows of one group


def shares_in_groups(groups: int, alike: float, rng: np.random.Generator) -> Iterator[Interval]:
    """Yield intervals of a difference of shares, which are beta-binomial within groups."""
    codes = np.repeat(np.arange(2 * groups), MEMBERS)
    units = RowUnits((groups * MEMBERS, groups * MEMBERS), codes)
    share = np.repeat(SHARE, groups)
    while True:
        chances = share
        if alike > 0.0:
            size = 1.0 / alike - 1.0
            chances = rng.beta(share * size, (1.0 - share) * size)
        _, low, high = difference_of_shares(
            rng.random(codes.size) < chances[codes], units, CONFIDENCE
        )
        yield SHARE[1] - SHARE[0], low, high


# --- all settings ----------------------------------------------------------------------------------------------------


def settings() -> list[tuple[str, str, str, Callable]]:
    """Return the measure, the data and the rows of all settings, with functions of a generator that yield intervals."""
    out: list[tuple[str, str, str, Callable]] = []
    for design in VALUES:
        out += [
            (SPREAD, design, f"{n} + {n}", partial(spreads, design, n)) for n in (20, 60, 200, 1000)
        ]
    for design in JOINT:
        out += [
            (DEPENDENCE, design, f"{n}", partial(dependences, design, n)) for n in (20, 50, 200)
        ]
    for first, second in FOREIGN:
        for relative, kernel in ((NORMS, "Gaussian"), (VARIANCE, "linear")):
            data = f"{kernel}, {first:.1%} and {second:.1%} in the other cluster"
            for m, n in ((20, 20), (50, 50), (20, 100)):
                out.append(
                    (
                        DISTANCE,
                        data,
                        f"{m} + {n}",
                        partial(distances, (first, second), relative, (m, n)),
                    )
                )
    for groups in GROUPS:
        for alike in ALIKE:
            data = f"correlation {alike:g} in a group"
            draw = partial(shares_in_groups, groups, alike)
            out.append((SHARES, data, f"{groups} + {groups} groups", draw))
    for design in BLOCKS:
        rows = "{} times {} + {}".format(*design)
        for apart in (0.0, 2.0):
            for effect in ("location", "spread", "share"):
                data = f"{effect}, centers ±{apart:g}"
                out.append((COLUMNS, data, rows, partial(columns, effect, design, apart)))
    for design in BLOCKS:
        rows = "{} times {} + {}".format(*design)
        for apart, shift in WITHIN_BLOCKS:
            data = f"AUC, centers ±{apart:g}, shift {shift:g}"
            out.append((WITHIN, data, rows, partial(areas, design, apart, shift)))
    return out


def cell(measure: str, data: str, rows: str, draw: Callable, trials: int) -> list[dict]:
    """Return the coverage in one setting, of the data sets that have an interval."""
    stream = draw(np.random.default_rng(crc32(f"{measure} {data} {rows}".encode())))
    table = np.array([next(stream) for _ in range(trials)])
    truth, low, high = table[~np.isnan(table[:, 1])].T
    inside, some = int(((low <= truth) & (truth <= high)).sum()), len(truth)
    ends = proportion_confint(inside, some, method="beta")
    about = {
        "measure": measure,
        "data": data,
        "rows": rows,
        "truth": float(truth.mean()),
        "coverage": inside / some,
    }
    about |= {"low": ends[0], "high": ends[1], "length": float(np.median(high - low))}
    return [about | {"with interval": some, "trials": trials}]


def measured(args) -> pd.DataFrame:
    """Return the coverage in every setting."""
    return parts(args, NAME, [partial(cell, *setting, args.trials) for setting in settings()])


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    table = tables[""]
    reached = int((table["coverage"] >= BELOW).sum())
    low = table.loc[table["coverage"].idxmin()]
    return (
        f"Columns with few values, effects near 1, and rows in blocks are difficult cases for "
        f"intervals: "
        f"95% intervals covered the truth in at least 93% of data sets in {reached} of {len(table)} such settings. The "
        f"lowest coverage was {percent(low['coverage'])} ({low['measure']}: {low['data']}; {low['rows']})."
    )


def alt(tables) -> str:
    """Describe the figure."""
    share = (tables[""]["coverage"] >= BELOW).mean()
    return "Coverage of 95% intervals by measure: " + claim("rarely below 93%", share > 0.9)


def chart(tables):
    """Draw the coverage of 95% intervals by measure."""
    table = tables[""]
    groups = {name: some["coverage"] for name, some in table.groupby("measure", sort=False)}
    return levels(
        groups, int(table["trials"].max()), CONFIDENCE, xlabel="coverage of 95% intervals"
    )


def page(tables) -> list[str]:
    """Write the section from the coverage in all settings."""
    table = tables[""]
    rows = []
    for measure, some in table.groupby("measure", sort=False):
        coverage = some["coverage"]
        row = {
            "measure": measure,
            "settings": len(some),
            "below 93%": int((coverage < BELOW).sum()),
        }
        rows.append(row | {"coverage": f"{percent(coverage.min())} to {percent(coverage.max())}"})
    few = table[table["coverage"] < BELOW]
    lowest = "; ".join(
        f"{percent(row.coverage)} ({row.measure}: {row.data}; {row.rows})"
        for row in few.itertuples()
        if row.measure != SHARES
    )
    different = table.loc[
        (table["measure"] == COLUMNS) & table["data"].str.endswith("±2"), "coverage"
    ]
    within = table.loc[table["measure"] == WITHIN, "coverage"]
    groups = table[table["measure"] == SHARES].pivot(
        index="data", columns="rows", values="coverage"
    )
    groups = groups.reset_index()
    return [
        markdown(pd.DataFrame(rows)),
        f"Settings below 93%, apart from shares in groups: {lowest or 'none'}.",
        "## Shares in groups",
        f"The effect is the difference between proportions of {SHARE[0]:g} and {SHARE[1]:g}; "
        f"each group has {MEMBERS} rows and a beta-binomial count. The "
        "variance between few groups is estimated with little precision, which Newcombe's "
        "intervals do not allow for.",
        markdown(groups),
        "## Blocks",
        "*Within blocks* is the AUC of the witness function, computed from pairs of rows "
        "of the same block. "
        + claim("Its intervals are too long in blocks of few rows. ", within.min() > 0.98)
        + "*Blocks ignored* are the "
        "effects of columns that `compare(blocks=)` shows: they compare all rows, so the intervals cover that "
        "effect and not the effect within blocks. "
        + claim(
            "Where blocks differ greatly, these intervals are too long, because they "
            "treat all rows as independent draws from one mixture of the blocks.",
            different.min() > 0.98,
        ),
        f"Each setting has {int(table['trials'].max())} data sets; those without an interval (such as flags without a "
        "single True) are left out. Near 1, coverage is often above 95%, because few rows differ.",
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=2000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
