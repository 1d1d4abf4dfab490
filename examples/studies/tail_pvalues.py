"""Errors of ``tail_pvalue`` at p-values that are known.

200 data sets a design.  The data are pooled, and the observed statistic is the one that a known share of all
permutations reaches: of all there are, in small samples; of the law that the statistic tends to, a weighted sum of chi
squares with the eigenvalues of the centered Gram matrix, in large ones.  The tail is fitted to 999 or 9999 permutations.

The method that is the default was chosen on the first three designs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from _charts import figure
from _levels import generator
from _splits import distances
from _study import markdown, parts, run, span
from scipy.optimize import brentq
from scipy.spatial.distance import cdist, pdist

from shrinktest import two_sample_test
from shrinktest.aggregation import together
from shrinktest.permutations.null import Null
from shrinktest.permutations.tail_fit import ParetoTail
from shrinktest.results.plots.axes import GRAY
from shrinktest.results.result import clopper_pearson
from shrinktest.results.tail_pvalue import METHODS, fits_of, tail_of

NAME = "tail_pvalues"
PVALUES = (1e-3, 1e-4, 1e-5, 1e-6)
RESAMPLES = (999, 9999)
BLOCK = 10  # data sets of a job
SAME = 2e-3  # of the largest eigenvalue: smaller ones change nothing

Case = tuple[
    float, float, Null
]  # the p-value of the table, the true one, and the null distribution that a test would see


# --- the law of large samples --------------------------------------------------------------------------------------


def eigenvalues(points: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of the centered Gram matrix of the Gaussian kernel, over the number of rows."""
    gram = np.exp(-cdist(points, points, "sqeuclidean") / (2.0 * np.median(pdist(points)) ** 2))
    centered = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    return leading(np.linalg.eigvalsh(centered)[::-1] / len(points))


def leading(weights: np.ndarray) -> np.ndarray:
    return weights[weights > SAME * weights.max()]


def one_column(rng) -> np.ndarray:
    return eigenvalues(rng.normal(size=(200, 1)))


def five_columns(rng) -> np.ndarray:
    return eigenvalues(rng.standard_t(3.0, size=(200, 5)))


def pairs(rng) -> np.ndarray:
    both = [eigenvalues(rng.normal(size=(100, 1))) for _ in range(2)]
    return leading(np.sort(np.outer(*both).ravel())[::-1])


def exceeded(value: float, weights: np.ndarray) -> float:
    """Return the probability that a weighted sum of chi squares exceeds a value above its mean.

    The moment generating function is inverted along the line through the saddle point.
    """
    end = 0.5 / weights.max()

    def slope(place: float) -> float:
        return (weights / (1.0 - 2.0 * place * weights)).sum() - value - 1.0 / place

    place = brentq(slope, 1e-9 * end, end * (1.0 - 1e-12))
    curvature = (2.0 * weights**2 / (1.0 - 2.0 * place * weights) ** 2).sum() + place**-2
    heights = np.linspace(0.0, 40.0 / np.sqrt(curvature), 601)
    line = place + 1j * heights
    logs = -0.5 * np.log(1.0 - 2.0 * np.multiply.outer(line, weights)).sum(axis=1)
    return np.trapezoid((np.exp(logs - line * value) / line).real, heights) / np.pi


def quantile(pvalue: float, weights: np.ndarray) -> float:
    """Return the value that is exceeded with this probability."""

    def off(log_value: float) -> float:
        return np.log(exceeded(np.exp(log_value), weights) / pvalue)

    mean = np.log(weights.sum())
    return float(np.exp(brentq(off, mean + 0.05, mean + 4.0, xtol=1e-8)))


def in_the_limit(draw_weights, rng) -> Iterator[Case]:
    """Return the cases of one data set whose null distribution is the law of large samples."""
    weights = draw_weights(rng)
    observed = {pvalue: quantile(pvalue, weights) for pvalue in PVALUES}
    for resamples in RESAMPLES:
        values = rng.chisquare(1.0, size=(resamples, len(weights))) @ weights
        for pvalue in PVALUES:
            yield pvalue, pvalue, Null(observed[pvalue], values, 0.0, exact=False)


# --- all permutations of small samples -----------------------------------------------------------------------------


def equal_sizes(rng) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the statistics of all splits of 12 + 12 normal rows."""
    return one_statistic(rng.normal(size=(24, 2)), 12)


def unequal_sizes(rng) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the statistics of all splits of 6 + 24 lognormal rows."""
    return one_statistic(rng.lognormal(size=(30, 2)), 6)


def one_statistic(points: np.ndarray, first: int) -> tuple[list[np.ndarray], np.ndarray]:
    gram = np.exp(-cdist(points, points, "sqeuclidean") / (2.0 * np.median(pdist(points)) ** 2))
    return [distances(gram, first)], np.ones(1)


def ensemble(rng) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the statistics of all splits of 11 + 11 rows for the members of estimator='auto', and their weights."""
    points = rng.normal(size=(22, 2))
    test = two_sample_test(points[:11], points[11:], estimator="auto", n_resamples=19, rng=0)
    return [distances(member.kernel(points), 11) for member in test.members], test.estimator.weights


def enumerated(draw_statistics, rng) -> Iterator[Case]:
    """Return the cases of one data set all of whose permutations are known."""
    members, weights = draw_statistics(rng)

    def seen(observed: int, rows: np.ndarray) -> Null:
        nulls = [Null(values[observed], values[rows], 0.0, exact=False) for values in members]
        return nulls[0] if len(nulls) == 1 else together(nulls, weights)

    every = members[0]
    if len(members) > 1:
        nulls = [Null(values[0], values, 0.0, exact=True) for values in members]
        every = together(nulls, weights).values
    ranks = {pvalue: round(pvalue * every.size) for pvalue in PVALUES}
    largest = np.argpartition(every, -max(ranks.values()))[-max(ranks.values()) :]
    largest = largest[np.argsort(every[largest])[::-1]]
    for resamples in RESAMPLES:
        rows = rng.integers(every.size, size=resamples)
        for pvalue in PVALUES:
            rank = ranks[pvalue]
            if not rank:  # fewer permutations than that
                continue
            yield pvalue, rank / every.size, seen(largest[rank - 1], rows)


#: Label of every design to the function that yields cases; the default was chosen on the first three.
DESIGNS = {
    "two samples, 1 column, large": partial(in_the_limit, one_column),
    "pairs, large": partial(in_the_limit, pairs),
    "12 + 12 rows": partial(enumerated, equal_sizes),
    "two samples, 5 columns, large": partial(in_the_limit, five_columns),
    "6 + 24 lognormal rows": partial(enumerated, unequal_sizes),
    "11 + 11 rows, auto": partial(enumerated, ensemble),
}
CHOSEN_ON = 3


# --- measured ------------------------------------------------------------------------------------------------------


def estimates(design: str, start: int, stop: int) -> list[dict]:
    """Return the estimate of every method in every case of some data sets."""
    rows = []
    for data_set in range(start, stop):
        last = None
        for nominal, true, null in DESIGNS[design](generator(design, data_set)):
            if null.values is not last:
                last = null.values
                fits = fits_of(last, METHODS[0])
            for method in METHODS:
                shared = {"design": design, "n_resamples": null.values.size, "pvalue": nominal}
                used = fits if method == METHODS[0] else fits[-1:]
                rows.append({**shared, "method": method, **estimate(null, method, true, used)})
    return rows


def estimate(null: Null, method: str, true: float, fits: list) -> dict:
    """Return the ratio of an estimate to the truth, and whether its interval covers that."""
    if method == "pareto" and (not isinstance(fits[0], ParetoTail) or fits[0].fixed):
        return {"ratio": np.nan, "covered": False, "failed": True}
    limits = clopper_pearson(null.exceedances, null.values.size, 0.95)
    try:
        tail = tail_of(null, method, 0.95, limits, fits=fits)
    except ValueError:
        return {"ratio": np.nan, "covered": False, "failed": True}
    low, high = tail.interval
    return {"ratio": tail.pvalue / true, "covered": low <= true <= high, "failed": False}


def measured(args) -> pd.DataFrame:
    """Return the errors of every method in every design."""
    jobs = [
        partial(estimates, design, start, min(start + BLOCK, args.trials))
        for design in DESIGNS
        for start in range(0, args.trials, BLOCK)
    ]
    rows = parts(args, NAME, jobs)
    rows["log"] = np.log10(rows["ratio"])
    grouped = rows.groupby(["design", "n_resamples", "pvalue", "method"], sort=False)
    table = grouped.agg(
        data_sets=("failed", "size"),
        failed=("failed", "sum"),
        median=("ratio", "median"),
        low=("ratio", lambda ratio: ratio.quantile(0.05)),
        high=("ratio", lambda ratio: ratio.quantile(0.95)),
        rms=("log", lambda log: float(np.sqrt((log**2).mean()))),
        covered=("covered", "mean"),
    )
    return table.reset_index()


def shown(table: pd.DataFrame) -> str:
    """Return a Markdown table of ratios and coverage, a row for every design and p-value."""
    rows = []
    for (design, pvalue), some in table.groupby(["design", "pvalue"], sort=False):
        row = {"design": design, "true p": f"{pvalue:g}"}
        for _, entry in some.iterrows():
            name = {"pearson3": "Pearson III", "pareto": "Pareto"}[entry["method"]]
            ratio = f"{entry['median']:.2g} ({entry['low']:.2g} to {entry['high']:.2g})"
            row[f"{name}: ratio"] = ratio
            row[f"{name}: covered"] = f"{entry['covered']:.0%}"
        rows.append(row)
    frame = pd.DataFrame(rows).sort_values(
        "true p", key=lambda column: column.astype(float), ascending=False, kind="stable"
    )
    order = {design: place for place, design in enumerate(DESIGNS)}
    return markdown(
        frame.sort_values("design", key=lambda column: column.map(order), kind="stable")
    )


def chart(tables):
    """Draw the median ratio of the default to the truth against the p-value, with quantiles of data sets."""
    table = tables[""]
    made, panels = figure(3.6, 2, 8.0, sharey=True)
    for ax, resamples in zip(panels, RESAMPLES, strict=True):
        some = table[(table["method"] == METHODS[0]) & (table["n_resamples"] == resamples)]
        ax.axhline(1.0, color=GRAY, linewidth=0.8)
        for place, (design, rows) in enumerate(some.groupby("design", sort=False)):
            places = rows["pvalue"] * 1.12 ** (place - 2.5)
            limits = (rows["median"] - rows["low"], rows["high"] - rows["median"])
            ax.errorbar(
                places,
                rows["median"],
                limits,
                fmt="o-",
                linewidth=0.8,
                label=design,
                markersize=4.0,
            )
        ax.set(xscale="log", yscale="log", xlabel="true p-value", title=f"{resamples} permutations")
        ax.invert_xaxis()
    panels[0].set_ylabel("estimate / truth")
    panels[1].legend(fontsize="x-small", frameon=False)
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the page."""
    table = tables[""]
    first = list(DESIGNS)[:CHOSEN_ON]
    typical = table.groupby(["n_resamples", "method", table["design"].isin(first)])["rms"].mean()
    few, many = RESAMPLES
    smallest = table[(table["method"] == METHODS[0]) & (table["pvalue"] == min(PVALUES))]
    default = table[table["method"] == METHODS[0]]
    large = default["design"].str.endswith("large")
    above = default[~large & (default["pvalue"] <= 1e-5) & (default["covered"] < 0.8)]
    return {
        "data_sets": int(table["data_sets"].max()),
        "few": few,
        "chosen": f"{10.0 ** typical[few, 'pearson3', True]:.1f}",
        "other": f"{10.0 ** typical[few, 'pareto', True]:.1f}",
        "held_out": f"{10.0 ** typical[few, 'pearson3', False]:.1f}",
        "held_out_other": f"{10.0 ** typical[few, 'pareto', False]:.1f}",
        "better": all(
            typical[resamples, "pearson3", some] < typical[resamples, "pareto", some]
            for resamples in RESAMPLES
            for some in (True, False)
        ),
        "medians": f"{smallest['median'].min():.2g} to {smallest['median'].max():.2g}",
        "failed": int(table["failed"].sum()),
        "covered_large": span(default.loc[large, "covered"], ".0%"),
        "covered_small": span(default.loc[~large, "covered"], ".0%"),
        "too_large": bool((above["median"] > 1.0).all()),
        "errors_few": shown(table[table["n_resamples"] == few]),
        "errors_many": shown(table[table["n_resamples"] == many]),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=200, quick=8)
