"""Support measure machines on images of digits: every image is a sample of small patches.

After [M14] Table 2, whose digits and samples are not available.  Here an image of scikit-learn's digits is the sample
of its nine 4 x 4 patches, each with its place: few points in many dimensions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import PUBLISHED, markdown, run, span
from _tables import dots, paired, repeat

from shrinktest.applications import DistributionKernel

NAME = "smm_digits"
PAIRS = ((1, 8), (3, 4), (3, 8), (6, 9))
EACH = 25  # training images of a digit
ESTIMATORS = ("kme", "skmse", "fkmse", "mkme")
LEVEL2 = {"linear": "linear machine", "gaussian": "Gaussian machine"}
PLACE = 4.0  # weight of a patch's place: its coordinates are -1, 0 and 1 times this, pixels go from 0 to 1


def patches(image: np.ndarray) -> np.ndarray:
    """Return the 4 x 4 patches of an 8 x 8 image in steps of 2, each with its place: (9, 18)."""
    corners = [(r, c) for r in (0, 2, 4) for c in (0, 2, 4)]
    pixels = [image[r : r + 4, c : c + 4].ravel() / 16.0 for r, c in corners]
    return np.hstack([pixels, PLACE * (np.array(corners) / 2.0 - 1.0)])


def trial(pair: tuple[int, int], each: int, repetition: int) -> list[dict]:
    """Return error rates on 50 other images of each digit, with C chosen by cross-validation."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    digits = load_digits()
    rng = np.random.default_rng([repetition, *pair])
    train, test = [], []
    for digit in pair:
        images = rng.permutation(np.flatnonzero(digits.target == digit))[: each + 50]
        train += [(patches(digits.images[i]), digit) for i in images[:each]]
        test += [(patches(digits.images[i]), digit) for i in images[each:]]
    (samples, labels), (others, truth) = zip(*train, strict=True), zip(*test, strict=True)
    rows = []
    for level2, name in LEVEL2.items():
        for estimator in ESTIMATORS:
            kernel = DistributionKernel(estimator=estimator, level2=level2, random_state=0)
            machine = make_pipeline(kernel, SVC(kernel="precomputed"))
            search = GridSearchCV(machine, {"svc__C": [1.0, 100.0, 10_000.0]}, cv=3).fit(
                list(samples), list(labels)
            )
            rows.append(
                {"machine": name, "digits": f"{pair[0]} and {pair[1]}", "repetition": repetition}
            )
            rows[-1] |= {
                "estimator": estimator,
                "errors": 100.0 * (1.0 - search.score(list(others), list(truth))),
            }
    return rows


KEYS = ["machine", "digits"]


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    results = tables[""]
    means = results.pivot_table(index=KEYS, columns="estimator", values="errors", sort=False)[
        list(ESTIMATORS)
    ]
    mean = (
        results.groupby(["machine", "estimator"])["errors"].mean().unstack().loc["Gaussian machine"]
    )
    differences = paired(results, KEYS, "errors")
    clear = differences[(differences["low"] > 0) | (differences["high"] < 0)]
    gaussian = differences[differences["machine"] == "Gaussian machine"]
    published = (
        pd.read_csv(PUBLISHED / "M14_table2_distributions.csv")
        .set_index("estimator")
        .filter(regex="^smm")
    )
    gain = published.drop("kme").sub(published.loc["kme"]).to_numpy()
    return {
        "mean_kme": f"{mean['kme']:.2f}",
        "least_shrunken": f"{mean.drop('kme').min():.2f}",
        "most_shrunken": f"{mean.drop('kme').max():.2f}",
        "hardly_matters": (mean - mean["kme"]).abs().max() < 0.25,
        "drawn": ((gaussian["low"] <= 0) & (gaussian["high"] >= 0)).mean() > 0.7,
        "means": markdown(means.map("{:.2f}".format).reset_index()),
        "clear": len(clear),
        "differences": len(differences),
        "clear_losses": int((clear["difference"] > 0).sum()),
        "published_gain": span(gain, ".3f"),
        "each": EACH,
        "repetitions": results["repetition"].nunique(),
    }


def measured(args):
    """Return the tables of all settings."""
    each, pairs = (10, PAIRS[:2]) if args.quick else (EACH, PAIRS)
    results = pd.concat([repeat(args, trial, pair, each) for pair in pairs], ignore_index=True)
    return pd.concat(
        [results[results["machine"] == machine] for machine in LEVEL2.values()], ignore_index=True
    )


def chart(tables):
    """Draw a sample, and the change of the errors compared with the plain average."""
    results = tables[""]
    differences = paired(results, KEYS, "errors")
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from sklearn.datasets import load_digits

    from shrinktest.results.plots.studies import COLORS

    figure = Figure(figsize=(13, 4.4), layout="constrained")
    panels = figure.subplots(1, 3, width_ratios=(1, 1.7, 1.7))
    panels[2].sharey(panels[1])
    digits = load_digits()
    panels[0].imshow(
        digits.images[np.flatnonzero(digits.target == PAIRS[0][1])[0]], cmap="gray_r", alpha=0.6
    )
    panels[0].add_patch(Rectangle((-0.5, -0.5), 4, 4, fill=False, edgecolor=COLORS[0], linewidth=3))
    centers = [(x, y) for x in (1.5, 3.5, 5.5) for y in (1.5, 3.5, 5.5)]
    panels[0].plot(*zip(*centers, strict=True), "o", color=COLORS[0])
    panels[0].set_title("an image is a sample of\n9 patches (dots: centers)", fontsize="medium")
    panels[0].set_axis_off()
    for ax, machine in zip(panels[1:], LEVEL2.values(), strict=True):
        plain = results[(results["machine"] == machine) & (results["estimator"] == "kme")]
        levels = plain.groupby("digits", sort=False)["errors"].mean().map("{:.1f}%".format)
        dots(ax, differences[differences["machine"] == machine], "digits", levels)
        ax.set_title(machine, fontsize="medium")
        ax.set_xlabel("pair of digits (below: errors of kme)")
    panels[1].set_ylabel(
        "change of the error in percentage points\n(95% interval; below 0: better)"
    )
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle(
        "Two digits told apart by support measure machines: does the estimator of the kernel means matter?"
    )
    return figure


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=30, quick=2)
