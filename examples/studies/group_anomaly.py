"""Groups of points that are unusual as groups, found by one-class support measure machines trained on usual ones.

After [M14] Table 2, whose groups are not available.  Here every point of an odd group could belong to a usual group;
only the composition of the group is odd.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import PUBLISHED, markdown, run, span
from _tables import dots, paired, repeat

from shrinktest.applications import DistributionKernel

NAME = "group_anomaly"
DIMENSION = 5
SIZE = 20  # points in a group
USUAL = 50  # groups to train on, and of either kind to test on
NU = 0.1
ESTIMATORS = ("kme", "skmse", "fkmse", "landweber", "mkme")
LEVEL2 = {"linear": "linear machine", "gaussian": "Gaussian machine"}
SHARE, CORRELATION = (
    0.5,
    0.5,
)  # of usual groups: share of the first cluster, correlation of the first two variables
#: Label to the parameters of unusual groups.
ODD = {"shares": {"share": 0.9}, "correlation": {"correlation": -0.7}}


def group(
    rng: np.random.Generator, share: float = SHARE, correlation: float = CORRELATION
) -> np.ndarray:
    """Draw points (SIZE, DIMENSION) of two clusters, which differ in the third coordinate."""
    points = rng.standard_normal((SIZE, DIMENSION))
    points[:, 1] = correlation * points[:, 0] + np.sqrt(1.0 - correlation**2) * points[:, 1]
    points[:, 2] += np.where(rng.random(SIZE) < share, 1.5, -1.5)
    return points


def trial(kind: str, usual: int, repetition: int) -> list[dict]:
    """Return the AUC of the decision function on new groups."""
    from sklearn.metrics import roc_auc_score
    from sklearn.svm import OneClassSVM

    rng = np.random.default_rng([repetition, *map(ord, kind)])
    train = [group(rng) for _ in range(usual)]
    test = [group(rng) for _ in range(usual)] + [group(rng, **ODD[kind]) for _ in range(usual)]
    rows = []
    for level2, name in LEVEL2.items():
        for estimator in ESTIMATORS:
            kernel = DistributionKernel(estimator=estimator, level2=level2, random_state=0)
            machine = OneClassSVM(kernel="precomputed", nu=NU).fit(kernel.fit_transform(train))
            oddness = -machine.decision_function(kernel.transform(test))
            area = roc_auc_score(np.repeat([0, 1], usual), oddness)
            rows.append(
                {
                    "machine": name,
                    "odd": kind,
                    "repetition": repetition,
                    "estimator": estimator,
                    "auc": area,
                }
            )
    return rows


KEYS = ["machine", "odd"]


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    results = tables[""]
    means = results.pivot_table(index=KEYS, columns="estimator", values="auc", sort=False)[
        list(ESTIMATORS)
    ]
    mean = (
        results.groupby(["machine", "odd", "estimator"])["auc"]
        .mean()
        .unstack()
        .loc["Gaussian machine"]
    )
    differences = paired(results, KEYS, "auc")
    gaussian = differences[differences["machine"] == "Gaussian machine"]
    one_class = (
        pd.read_csv(PUBLISHED / "M14_table2_distributions.csv")
        .set_index("estimator")
        .filter(like="ocsmm")
    )
    return {
        "areas": " and ".join(f"{area:.2f} ({name})" for name, area in mean["kme"].items()),
        "changes": span(mean.drop(columns="kme").sub(mean["kme"], axis=0).to_numpy(), "+.3f"),
        "drawn": gaussian["difference"].abs().max() < 0.02,
        "means": markdown(means.reset_index()),
        "above": int((gaussian["low"] > 0).sum()),
        "cases": len(gaussian),
        "below": int((gaussian["high"] < 0).sum()),
        "published_gain": span(one_class.drop("kme").sub(one_class.loc["kme"]).to_numpy(), ".4f"),
        "linear_hardly_works": means.loc["linear machine"].to_numpy().max() < 0.6,
        "usual": USUAL,
        "repetitions": results["repetition"].nunique(),
        "size": SIZE,
        "dimension": DIMENSION,
        "correlation": f"{CORRELATION:g}",
        "odd_share": f"{ODD['shares']['share']:g}",
        "other_share": f"{1.0 - ODD['shares']['share']:.1g}",
        "odd_correlation": f"{ODD['correlation']['correlation']:g}",
    }


def measured(args):
    """Return the tables of all settings."""
    usual = 15 if args.quick else USUAL
    results = pd.concat([repeat(args, trial, kind, usual) for kind in ODD], ignore_index=True)
    return pd.concat(
        [results[results["machine"] == machine] for machine in LEVEL2.values()], ignore_index=True
    )


def chart(tables):
    """Draw a usual group and odd ones, and the change of the AUC compared with the plain average."""
    results = tables[""]
    differences = paired(results, KEYS, "auc")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    top, bottom = figure.subfigures(2, 1)
    top.suptitle(f"The first three of the {DIMENSION} variables of a group of {SIZE} points")
    rng = np.random.default_rng(0)
    shown = {"a usual group: two clusters, positive correlation": group(rng)}
    shown["odd shares: nearly all in one cluster"] = group(rng, **ODD["shares"])
    shown["odd correlation: negative"] = group(rng, **ODD["correlation"])
    panels = top.subplots(1, 3, sharex=True, sharey=True)
    for ax, (title, points) in zip(panels, shown.items(), strict=True):
        first = points[:, 2] > 0
        ax.scatter(*points[first, :2].T, marker="o", color="black", label="variable 3 above 0")
        ax.scatter(
            *points[~first, :2].T, marker="o", facecolor="none", edgecolor="black", label="below 0"
        )
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("variable 1")
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("variable 2")
    top.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    bottom.suptitle("Detection of unusual groups: AUC compared with the plain average")
    panels = bottom.subplots(1, 2, sharey=True)
    for ax, machine in zip(panels, LEVEL2.values(), strict=True):
        plain = results[(results["machine"] == machine) & (results["estimator"] == "kme")]
        levels = plain.groupby("odd", sort=False)["auc"].mean().map("{:.2f}".format)
        dots(ax, differences[differences["machine"] == machine], "odd", levels)
        ax.set_title(machine, fontsize="medium")
        ax.set_xlabel("difference of the odd groups (below: AUC of kme; 0.5 is chance)")
    panels[0].set_ylabel("difference in AUC (95% interval)\nabove 0: better than kme")
    bottom.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=100, quick=2)
