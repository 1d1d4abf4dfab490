"""Reconstruction error of kernel PCA on held-out rows, with shrunken means and shrunken covariance operators.

After [M14] Fig. 3, which prints curves and no numbers.  Both of its definitions of the error are compared with standard
kernel PCA on the same split.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import claim, markdown, options, write
from _tables import NAMES, load, paired, repeat, split, tally

from shrinktest.applications import ShrinkageKernelPCA

NAME, TITLE = "kpca_reconstruction", "Kernel PCA with shrunken estimates"
TRAIN = 40
MOST = 20  # components
SHOWN = (1, 5, 10, 20)
METHODS = {
    "kme": {},
    "skmse centring": {"centering": "skmse"},
    "fkmse centring": {"centering": "fkmse"},
    "mkme centring": {"centering": "mkme"},
    "S-COSE": {"covariance": "skmse"},
    "F-COSE": {"covariance": "fkmse"},
}
KINDS = ("centred", "uncentred")  # distance from the affine space through the mean, or from the linear span as printed


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
                rows[-1] |= {"estimator": label, "error": error, "percent": 100.0 * error / standard[kind, c]}
    return rows


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    table = tables[""]
    change = table[table["kind"] == "centred"].groupby("estimator")["difference"].agg(["min", "max", "median"])
    skmse, single = change.loc["skmse centring"], change.loc["S-COSE"]
    return (
        f"Simple shrinkage of the mean changes the error on new rows by {skmse['min']:+.2f}% to {skmse['max']:+.2f}% "
        f"(median {skmse['median']:+.2f}%). "
        + claim(
            "Multiplying the covariance operator by a constant (S-COSE) changes nothing, as it must.",
            single["min"] == single["max"] == 0.0,
        )
    )


def alt(tables) -> str:
    """Describe the figure."""
    change = tables[""].dropna(subset="difference")
    simple = change[change["estimator"] == "skmse centring"]["difference"]
    return "Change of the reconstruction error by the number of components: " + claim(
        "shrinking the mean lowers it, mostly by little", simple.max() <= 0.0 and simple.median() > -1.0
    )


def page(tables) -> list[str]:
    """Write the section from the differences from standard kernel PCA."""
    differences = tables[""].dropna(subset="difference")
    trials = int(differences["repetitions"].max())
    shown = differences[differences["components"].isin(SHOWN)]
    mean = shown[shown["estimator"].str.endswith("centring")]
    counted = pd.concat([tally(shown[shown["kind"] == kind]).assign(error=kind) for kind in KINDS])
    counted = counted[["error", "estimator", "comparisons", "better", "worse", "differences"]]
    counted = counted.replace({"centred": "centered", "uncentred": "uncentered"})
    counted["estimator"] = counted["estimator"].str.replace("centring", "centering")
    return [
        "Change of the error in percent, by data set and number of components; better and worse where the 95% interval "
        "excludes 0:",
        markdown(counted),
        f"Shrinking the mean lowers the error in {int((mean['high'] < 0).sum())} of {len(mean)} cases, by at most 1% "
        f"in {int((mean['difference'] >= -1.0).sum())}. "
        + claim(
            "S-COSE has the same components as standard kernel PCA, so all its differences are zero",
            shown.loc[shown["estimator"] == "S-COSE", "difference"].abs().max() == 0.0,
        )
        + ", and the advantage in [M14] Fig. 3 is not possible.",
        f"There are {trials} random splits, with {TRAIN} standardized rows for fitting and the rest for testing; the "
        "kernel is Gaussian with median bandwidth. The centered error is the distance from the affine space through "
        "the mean, the uncentered error (as printed) the distance from the linear span.",
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=30, quick=2)
    names = NAMES[:2] if args.quick else NAMES
    results = pd.concat([repeat(args, trial, name) for name in names], ignore_index=True)
    differences = paired(results, ["kind", "data", "components"], "percent")
    keys = ["kind", "data", "components", "estimator"]
    table = results.groupby(keys, sort=False)["error"].mean().reset_index().merge(differences, on=keys, how="left")
    write(args, NAME, TITLE, page({"": table}), table, picture(differences, names))


def picture(differences: pd.DataFrame, names):
    """Draw the differences against the number of components, with a row of panels for each kind of error."""
    from matplotlib.figure import Figure

    from shrinktest.plots.studies import COLOURS, MARKERS

    figure = Figure(figsize=(9.0, 2.2 * len(names) + 1.2), layout="constrained")
    panels = figure.subplots(len(names), 2, squeeze=False, sharex=True)
    for column, kind in zip(panels.T, KINDS, strict=True):
        column[-1].set_xlabel("number of components")
        for ax, name in zip(column, names, strict=True):
            part = differences[(differences["data"] == name) & (differences["kind"] == kind)]
            for i, label in enumerate(list(METHODS)[1:], start=1):
                line = part[part["estimator"] == label].sort_values("components")
                style = {"color": COLOURS[i], "marker": MARKERS[i], "markersize": 4, "markevery": 3}
                shown = f"{label} (changes nothing)" if label == "S-COSE" else label
                ax.plot(line["components"], line["difference"], label=shown, **style)
                band = {"color": COLOURS[i], "alpha": 0.12, "linewidth": 0}
                ax.fill_between(line["components"], line["low"], line["high"], **band)
            ax.axhline(0.0, color="#8C8C8C", linestyle=":")
            ax.set_title(f"{name}, {kind} error", fontsize="medium")
            ax.spines[["top", "right"]].set_visible(False)
    figure.supylabel("error, % more (below 0: better)")
    figure.suptitle(
        f"Reconstruction error of held-out rows compared with standard kernel PCA\n({TRAIN} rows to fit; bands: 95%)"
    )
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=3)
    return figure


if __name__ == "__main__":
    main()
