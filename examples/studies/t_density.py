"""Density estimation for data with heavy tails: Gaussian mixtures matched to every estimate of the kernel mean.

After [X20] Tables 1 and 2.  The degrees of freedom, the number of components and the dimension of
Table 2 are not known here; eight dimensions and three degrees of freedom give values of the size of the published ones.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import PUBLISHED, markdown, run
from _tables import paired, repeat, tally

from shrinktest.applications import KernelMeanMatching

NAME = "t_density"
DIMENSION = 8
COMPONENTS = 5
SIZES = (15, 30, 60, 90, 120, 150)
FREEDOM = (3, 10)
DIMENSIONS, SIZE = (5, 6, 7, 8, 9, 10), 100  # of [X20] Table 1
TEST = 2000  # fresh points on which the density is scored
ESTIMATORS = ("kme", "skmse", "fkmse", "mkme", "mmkme")


def draw(rng: np.random.Generator, n: int, freedom: int, d: int = DIMENSION) -> np.ndarray:
    """Draw points (n, d) of the multivariate t distribution with scale matrix I."""
    return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom)


def trial(freedom: int, n: int, repetition: int) -> list[dict]:
    """Fit all estimators to one sample, from the same start, and score them on fresh points."""
    rng = np.random.default_rng([repetition, n, freedom])
    sample, fresh = draw(rng, n, freedom), draw(rng, TEST, freedom)
    return fitted({"freedom": freedom, "n": n, "repetition": repetition}, sample, fresh)


def trial_of_dimension(freedom: int, d: int, repetition: int) -> list[dict]:
    """Fit all estimators to `SIZE` points in `d` dimensions."""
    rng = np.random.default_rng([repetition, SIZE, freedom, d])
    sample, fresh = draw(rng, SIZE, freedom, d), draw(rng, TEST, freedom, d)
    return fitted({"freedom": freedom, "d": d, "repetition": repetition}, sample, fresh)


def fitted(cell: dict, sample: np.ndarray, fresh: np.ndarray) -> list[dict]:
    """Return the scores of all estimators on one sample."""
    truth = -float(density(cell["freedom"], sample.shape[1]).logpdf(fresh).mean())
    rows = []
    for estimator in ESTIMATORS:
        start = cell["repetition"]
        mixture = KernelMeanMatching(
            COMPONENTS, estimator=estimator, n_init=20, random_state=start
        ).fit(sample)
        rows.append({**cell, "estimator": estimator, "nll": -mixture.score(fresh), "truth": truth})
    return rows


def density(freedom: int, d: int):
    """Return the distribution of the points."""
    from scipy.stats import multivariate_t

    return multivariate_t(np.zeros(d), np.eye(d), df=freedom)


def summarised(results: pd.DataFrame) -> pd.DataFrame:
    """Return means and paired differences from the plain average, for every dimension."""
    keys = ["freedom", "d"]
    means = results.groupby([*keys, "estimator"], sort=False)[["nll", "truth"]].mean().reset_index()
    return means.merge(paired(results, keys, "nll"), on=[*keys, "estimator"], how="left")


def excess(results: pd.DataFrame) -> pd.DataFrame:
    """Return the loss of the fitted density against the true one, by setting and estimator."""
    mean = results.assign(excess=results["nll"] - results["truth"]).groupby(
        ["freedom", "n", "estimator"], sort=False
    )
    return mean["excess"].mean().unstack()[list(ESTIMATORS)]


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    results = tables[""]
    dimensions = tables["dimensions"].dropna(subset="difference")
    lost = excess(results)
    freedom, fewest = lost.index[0]
    most = lost.loc[freedom].index.max()
    few = lost.loc[(freedom, fewest)]
    many = lost.loc[(freedom, most)]
    best = lost.idxmin(axis=1).value_counts()
    others = results[results["estimator"].isin(["fkmse", "mkme"])]
    marginalized = paired(others, ["freedom", "n"], "nll", "fkmse")
    ahead = (marginalized["high"] < 0.0).sum()
    behind = (marginalized["low"] > 0.0).sum()
    return {
        "fewest": fewest,
        "freedom": freedom,
        "few_kme": f"{few['kme']:.1f}",
        "few_fkmse": f"{few['fkmse']:.1f}",
        "most": most,
        "many_kme": f"{many['kme']:.2f}",
        "many_fkmse": f"{many['fkmse']:.2f}",
        "settings": len(lost),
        "closest": ", ".join(f"`{name}` in {count}" for name, count in best.items()),
        "drawn": bool(lost.drop(columns="kme").lt(lost["kme"], axis=0).all(axis=None)),
        "lost": markdown(lost.reset_index().rename(columns={"freedom": "degrees of freedom"})),
        "differences": markdown(tally(paired(results, ["freedom", "n"], "nll"))),
        "repetitions": results["repetition"].nunique(),
        "dimension": DIMENSION,
        "test": TEST,
        "components": COMPONENTS,
        "not_reproduced": bool(ahead < behind),
        "ahead": ahead,
        "compared": len(marginalized),
        "behind": behind,
        "size": SIZE,
        "min_dimensions": min(DIMENSIONS),
        "max_dimensions": max(DIMENSIONS),
        "clear": int((dimensions["high"] < 0.0).sum()),
        "cases": len(dimensions),
    }


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Return our differences from `kme` in every dimension, with those of [X20] Table 1 as "there"."""
    printed = pd.read_csv(PUBLISHED / "X20_table1_nll.csv").set_index("d")
    published = printed.sub(printed["kme"], axis=0)
    ours = table.dropna(subset="difference")
    label = [f"[X20] Table 1, {freedom} degrees of freedom" for freedom in ours["freedom"]]
    return ours.assign(
        there=[published.loc[r.d, r.estimator] for r in ours.itertuples()], table=label
    )


def measured(args):
    """Return the tables of all settings."""
    freedoms, sizes = (FREEDOM[:1], SIZES[:2]) if args.quick else (FREEDOM, SIZES)
    dimensions = DIMENSIONS[:1] if args.quick else DIMENSIONS
    results = pd.concat(
        [repeat(args, trial, freedom, n) for freedom in freedoms for n in sizes], ignore_index=True
    )
    parts = [repeat(args, trial_of_dimension, FREEDOM[0], d) for d in dimensions]
    return {"": results, "dimensions": summarised(pd.concat(parts, ignore_index=True))}


def chart(tables):
    """Draw the loss of every estimator against the true density, by sample size."""
    results = tables[""]
    from matplotlib.figure import Figure
    from scipy.stats import t

    from shrinktest.results.plots.studies import COLORS, MARKERS

    freedoms = list(results["freedom"].unique())
    figure = Figure(figsize=(5 * len(freedoms) + 1.5, 4.4), layout="constrained")
    panels = figure.subplots(1, len(freedoms), sharey=True, squeeze=False)[0]
    results = results.assign(excess=results["nll"] - results["truth"])
    for ax, freedom in zip(panels, freedoms, strict=True):
        part = results[results["freedom"] == freedom]
        table = part.groupby(["n", "estimator"], sort=False)["excess"].agg(["mean", "sem", "count"])
        for i, estimator in enumerate(ESTIMATORS):
            cell = table.xs(estimator, level="estimator")
            half = t.ppf(0.975, cell["count"] - 1) * cell["sem"]
            at = cell.index * 1.02 ** (i - (len(ESTIMATORS) - 1) / 2)
            style = {"color": COLORS[i], "marker": MARKERS[i], "markersize": 5, "linewidth": 1}
            ax.errorbar(at, cell["mean"], yerr=half, label=estimator, **style)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ticks = sorted(part["n"].unique())
        ax.set_xticks(ticks, [str(n) for n in ticks])
        ax.set_xticks([], minor=True)
        ax.set_title(f"t distribution, {freedom} degrees of freedom", fontsize="medium")
        ax.set_xlabel("sample size n")
        ax.spines[["top", "right"]].set_visible(False)
    ticks = [0.2, 0.5, 1, 2, 5, 10, 20]
    panels[0].set_yticks(ticks, [f"{v:g}" for v in ticks])
    panels[0].set_yticks([], minor=True)
    panels[0].set_ylabel(
        "mean log-likelihood lost per point,\nagainst the true density (95% interval)"
    )
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle(
        f"How far from the truth is the fitted density? {DIMENSION} dimensions; lower is better"
    )
    return figure


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=100, quick=2)
