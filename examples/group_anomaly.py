"""Groups of points that are odd as groups, found by one-class support measure machines trained on usual ones.

After [M14] Table 2, whose groups are not available; its averages are printed beside.  Here every point of an odd group
could be one of a usual group: only how the points of a group go together is odd.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import PUBLISHED, markdown, options, write
from _tables import cells, dots, paired, repeat

from shrinktest.applications import DistributionKernel

DIMENSION = 5
SIZE = 20  # points in a group
USUAL = 50  # groups to train on, and of either kind to test on
NU = 0.1
ESTIMATORS = ("kme", "skmse", "fkmse", "landweber", "mkme")
LEVEL2 = {"linear": "linear machine", "gaussian": "Gaussian machine"}
SHARE, CORRELATION = 0.5, 0.5  # of usual groups: share of the first cluster, correlation of the first two variables
#: What may be odd about a group.
ODD = {"shares": {"share": 0.9}, "correlation": {"correlation": -0.7}}


def group(rng: np.random.Generator, share: float = SHARE, correlation: float = CORRELATION) -> np.ndarray:
    """Points (SIZE, DIMENSION) of two clusters, which differ in the third coordinate."""
    points = rng.standard_normal((SIZE, DIMENSION))
    points[:, 1] = correlation * points[:, 0] + np.sqrt(1.0 - correlation**2) * points[:, 1]
    points[:, 2] += np.where(rng.random(SIZE) < share, 1.5, -1.5)
    return points


def trial(kind: str, usual: int, repetition: int) -> list[dict]:
    """Areas under the curve of the decision function, with freshly drawn groups."""
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
            rows.append({"machine": name, "odd": kind, "repetition": repetition, "estimator": estimator, "auc": area})
    return rows


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=100, quick=2)
    usual = 15 if args.quick else USUAL
    results = pd.concat([repeat(args, trial, kind, usual) for kind in ODD], ignore_index=True)
    keys = ["machine", "odd"]
    means = results.pivot_table(index=keys, columns="estimator", values="auc", sort=False)[list(ESTIMATORS)]
    differences = paired(results, keys, "auc")
    published = pd.read_csv(PUBLISHED / "M14_table2_distributions.csv")
    parts = [
        f"Area under the curve for telling {usual} odd groups from {usual} usual ones, after training on {usual} usual "
        f"ones; {args.trials} independent repetitions. {SIZE} points of {DIMENSION} variables in a group; two clusters "
        f"in equal shares and a correlation of {CORRELATION:g} are usual; odd are shares of .9 and .1, or a correlation"
        f" of -.7. Gaussian kernel of points, median heuristics, nu = {NU:g}. Areas below .5 are possible: a linear "
        "machine keeps to one side of a hyperplane, and groups more concentrated than usual have longer embeddings, "
        "which lie farther on the usual side.",
        markdown(means.reset_index()),
        "## Difference from `kme`",
        "Paired over the repetitions, with 95 % t intervals; a star where the sign test has p < .05 (no correction for "
        f"the {len(differences)} comparisons). Positive is better.",
        markdown(cells(differences, keys)),
        "## As published ([M14] Table 2)",
        "Areas under the curve of one-class machines (`ocsmm`) and accuracies of the others (`smm`), on other data.",
        markdown(published),
    ]
    write(args, "group_anomaly", "Odd groups by one-class support measure machines", parts, results, picture(results))


def picture(results: pd.DataFrame):
    """A usual group and odd ones, and how well each estimator tells them apart."""
    from matplotlib.figure import Figure

    from shrinktest.power.plots import COLOURS

    figure = Figure(figsize=(12, 6.2), layout="constrained")
    top, bottom = figure.subfigures(2, 1)
    rng = np.random.default_rng(0)
    shown = {"a usual group": group(rng)} | {f"an odd group: {kind}": group(rng, **ODD[kind]) for kind in ODD}
    for ax, (title, points) in zip(top.subplots(1, 3, sharex=True, sharey=True), shown.items(), strict=True):
        colours = [COLOURS[0 if above else 1] for above in points[:, 2] > 0]
        ax.scatter(points[:, 0], points[:, 1], c=colours)
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("variable 1 (colour: sign of variable 3)")
        ax.spines[["top", "right"]].set_visible(False)
    top.axes[0].set_ylabel("variable 2")
    panels = bottom.subplots(1, 2, sharey=True)
    for ax, (name, part) in zip(panels, results.groupby("machine", sort=False), strict=True):
        dots(ax, part.assign(odd="odd " + part["odd"]), "odd", "auc", ESTIMATORS)
        ax.axhline(0.5, color="#8C8C8C", linestyle=":")
        ax.set_title(name, fontsize="medium")
    panels[0].set_ylabel("area under the curve\n(95 % interval; dotted: chance)")
    bottom.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


if __name__ == "__main__":
    main()
