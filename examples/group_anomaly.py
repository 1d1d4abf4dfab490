"""Groups of points that are odd as groups, found by one-class support measure machines trained on usual ones.

After [M14] Table 2, whose groups are not available; its averages are printed beside.  Here every point of an odd group
could be one of a usual group: only how the points of a group go together is odd.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import PUBLISHED, claim, markdown, options, write
from _tables import cells, dots, paired, repeat, tally

from shrinktest.applications import DistributionKernel

NAME, TITLE = "group_anomaly", "Odd groups by one-class support measure machines"
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


KEYS = ["machine", "odd"]


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    mean = table.groupby(["machine", "odd", "estimator"])["auc"].mean().unstack()
    gain = mean.drop(columns="kme").sub(mean["kme"], axis=0).loc["Gaussian machine"]
    usual, changes = mean.loc["Gaussian machine", "kme"], gain.to_numpy()
    return (
        "With a Gaussian machine on plain averages (`kme`) the area under the curve was "
        f"{' and '.join(f'{area:.2f} ({name})' for name, area in usual.items())}. Shrunken means changed it by "
        f"{changes.min():+.3f} to {changes.max():+.3f}."
    )


def alt(tables) -> str:
    """What the picture shows."""
    changes = paired(tables[""], KEYS, "auc").set_index("machine").loc["Gaussian machine", "difference"]
    return "A usual group, two odd ones, and the change of the area under the curve: " + claim(
        "with the Gaussian machine the estimator changes it little", changes.abs().max() < 0.02
    )


def chart(tables):
    """A usual group, two odd ones, and how much better or worse the estimators tell them apart."""
    return picture(tables[""], paired(tables[""], KEYS, "auc"))


def page(tables, usual: int = USUAL) -> list[str]:
    """What the page says, from the results with this many groups of each kind."""
    results, keys = tables[""], KEYS
    trials = results["repetition"].nunique()
    means = results.pivot_table(index=keys, columns="estimator", values="auc", sort=False)[list(ESTIMATORS)]
    differences = paired(results, keys, "auc")
    published = pd.read_csv(PUBLISHED / "M14_table2_distributions.csv")
    one_class = published.set_index("estimator").filter(like="ocsmm")
    there = one_class.drop("kme").sub(one_class.loc["kme"]).to_numpy()
    here = [
        f"{some['difference'].min():+.3f} to {some['difference'].max():+.3f} ({odd})"
        for odd, some in differences[differences["machine"] == "Gaussian machine"].groupby("odd", sort=False)
    ]
    return [
        f"Area under the curve for telling {usual} odd groups from {usual} usual ones, after training on {usual} usual "
        f"ones; {trials} independent repetitions. {SIZE} points of {DIMENSION} variables in a group; two clusters "
        f"in equal shares and a correlation of {CORRELATION:g} are usual; odd are shares of .9 and .1, or a correlation"
        f" of -.7. Gaussian kernel of points, median heuristics, nu = {NU:g}. Areas below .5 are possible: a linear "
        "machine keeps to one side of a hyperplane, and groups more concentrated than usual have longer embeddings, "
        "which lie farther on the usual side.",
        markdown(means.reset_index()),
        "## Difference from `kme`",
        "Paired over the repetitions, with 95 % t intervals; a star where the sign test has p < .05 (no correction for "
        f"the {len(differences)} comparisons). Positive is better.",
        markdown(cells(differences, keys)),
        "In how many of these cells the interval excludes 0:",
        markdown(tally(differences, better=+1, places=3)),
        "## As published ([M14] Table 2)",
        "Areas under the curve of one-class machines (`ocsmm`) and accuracies of the others (`smm`), on other data. "
        f"The gains of the one-class machines there are {there.min():.4f} to {there.max():.4f}. Here the gain of the "
        f"Gaussian machine is {'; '.join(here)}. "
        + claim("The linear machine is of no use here", means.loc["linear machine"].to_numpy().max() < 0.6)
        + ".",
        markdown(published),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=100, quick=2)
    usual = 15 if args.quick else USUAL
    results = pd.concat([repeat(args, trial, kind, usual) for kind in ODD], ignore_index=True)
    results = pd.concat([results[results["machine"] == machine] for machine in LEVEL2.values()], ignore_index=True)
    write(args, NAME, TITLE, page({"": results}, usual), results)


def picture(results: pd.DataFrame, differences: pd.DataFrame):
    """A usual group and odd ones, and how much better or worse than the plain average tells them apart."""
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
        ax.scatter(*points[~first, :2].T, marker="o", facecolor="none", edgecolor="black", label="below 0")
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("variable 1")
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("variable 2")
    top.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    bottom.suptitle("How well odd groups are told from usual ones: area under the curve, against the plain average's")
    panels = bottom.subplots(1, 2, sharey=True)
    for ax, machine in zip(panels, LEVEL2.values(), strict=True):
        of_kme = results[(results["machine"] == machine) & (results["estimator"] == "kme")]
        levels = of_kme.groupby("odd", sort=False)["auc"].mean().map("{:.2f}".format)
        dots(ax, differences[differences["machine"] == machine], "odd", levels)
        ax.set_title(machine, fontsize="medium")
        ax.set_xlabel("what is odd (below: area of kme, .5 is chance)")
    panels[0].set_ylabel("difference of the area (95 % interval)\nabove 0: better than kme")
    bottom.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


if __name__ == "__main__":
    main()
