"""Reconstruction error of kernel PCA on held-out rows, with shrunken means and shrunken covariance operators.

After [M14] Fig. 3, which prints curves and no numbers.  Both of its definitions of the error are compared with standard
kernel PCA on the same split.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import markdown, run
from _tables import NAMES, load, paired, repeat, split, tally

from shrinktest.applications import ShrinkageKernelPCA

NAME = "kpca_reconstruction"
TRAIN = 40
MOST = 20  # components
SHOWN = (1, 5, 10, 20)
METHODS = {
    "kme": {},
    "skmse centering": {"centering": "skmse"},
    "fkmse centering": {"centering": "fkmse"},
    "mkme centering": {"centering": "mkme"},
    "S-COSE": {"covariance": "skmse"},
    "F-COSE": {"covariance": "fkmse"},
}
KINDS = (
    "centered",
    "uncentered",
)  # distance from the affine space through the mean, or from the linear span as printed


def trial(name: str, repetition: int) -> list[dict]:
    """Return mean errors of one split of one data set, also in percent of those of standard kernel PCA."""
    rng = np.random.default_rng([repetition, *map(ord, name)])
    train, test = split(load(name), TRAIN, rng)
    rows, standard = [], {}
    for label, parameters in METHODS.items():
        pca = ShrinkageKernelPCA(MOST, **parameters).fit(train)
        for kind in KINDS:
            for c in range(1, MOST + 1):
                error = float(pca.reconstruction_error(test, kind, n_components=c).mean())
                standard.setdefault((kind, c), error)  # the first method is the standard
                rows.append({"data": name, "kind": kind, "components": c, "repetition": repetition})
                rows[-1] |= {
                    "estimator": label,
                    "error": error,
                    "percent": 100.0 * error / standard[kind, c],
                }
    return rows


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    differences = tables[""].dropna(subset="difference")
    change = (
        differences.groupby(["kind", "estimator"])["difference"]
        .agg(["min", "max", "median"])
        .loc["centered"]
    )
    skmse = change.loc["skmse centering"]
    shown = differences[differences["components"].isin(SHOWN)]
    mean = shown[shown["estimator"].str.endswith("centering")]
    counted = pd.concat([tally(shown[shown["kind"] == kind]).assign(error=kind) for kind in KINDS])
    counted = counted[["error", "estimator", "comparisons", "better", "worse", "differences"]]
    simple = differences.loc[differences["estimator"] == "skmse centering", "difference"]
    return {
        "skmse_min": f"{skmse['min']:+.2f}",
        "skmse_max": f"{skmse['max']:+.2f}",
        "skmse_median": f"{skmse['median']:+.2f}",
        "constant_changes_nothing": change.loc["S-COSE", "min"]
        == change.loc["S-COSE", "max"]
        == 0.0,
        "drawn": simple.max() <= 0.0 and simple.median() > -1.0,
        "counted": markdown(counted),
        "lower": int((mean["high"] < 0).sum()),
        "cases": len(mean),
        "little": int((mean["difference"] >= -1.0).sum()),
        "same_components": shown.loc[shown["estimator"] == "S-COSE", "difference"].abs().max()
        == 0.0,
        "splits": int(differences["repetitions"].max()),
        "train": TRAIN,
    }


def measured(args):
    """Return the tables of all settings."""
    names = NAMES[:2] if args.quick else NAMES
    results = pd.concat([repeat(args, trial, name) for name in names], ignore_index=True)
    differences = paired(results, ["kind", "data", "components"], "percent")
    keys = ["kind", "data", "components", "estimator"]
    return (
        results.groupby(keys, sort=False)["error"]
        .mean()
        .reset_index()
        .merge(differences, on=keys, how="left")
    )


def chart(tables):
    """Draw the differences against the number of components, with a column of panels for each kind of error."""
    differences = tables[""].dropna(subset="difference")
    names = list(differences["data"].unique())
    from matplotlib.figure import Figure

    from shrinktest.results.plots.studies import COLORS, MARKERS

    figure = Figure(figsize=(9.0, 2.2 * len(names) + 1.2), layout="constrained")
    panels = figure.subplots(len(names), 2, squeeze=False, sharex=True)
    for column, kind in zip(panels.T, KINDS, strict=True):
        column[-1].set_xlabel("number of components")
        for ax, name in zip(column, names, strict=True):
            part = differences[(differences["data"] == name) & (differences["kind"] == kind)]
            for i, label in enumerate(list(METHODS)[1:], start=1):
                line = part[part["estimator"] == label].sort_values("components")
                style = {"color": COLORS[i], "marker": MARKERS[i], "markersize": 4, "markevery": 3}
                shown = f"{label} (changes nothing)" if label == "S-COSE" else label
                ax.plot(line["components"], line["difference"], label=shown, **style)
                band = {"color": COLORS[i], "alpha": 0.12, "linewidth": 0}
                ax.fill_between(line["components"], line["low"], line["high"], **band)
            ax.axhline(0.0, color="#8C8C8C", linestyle=":")
            ax.set_title(f"{name}, {kind} error", fontsize="medium")
            ax.spines[["top", "right"]].set_visible(False)
    figure.supylabel("error, % more (below 0: better)")
    figure.suptitle(
        f"Reconstruction error of held-out rows compared with standard kernel PCA\n({TRAIN} rows to fit; bands: 95%)"
    )
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        frameon=False,
        ncols=3,
    )
    return figure


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=30, quick=2)
