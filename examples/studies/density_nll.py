"""Negative log-likelihood of Gaussian mixtures fitted by kernel mean matching, for every estimator of the mean.

The setting of [M14] Table 1, [S14] Table 2 and [X20] Table 3: data sets in standard units, 25% of the rows held out,
the best of 50 starts of k-means.  Choices that the papers do not state are in ``CONSTANTS``, and varied once.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from _study import PUBLISHED, markdown, run, span
from _tables import ELSEWHERE, load, missing, paired, repeat, split, standard, tally
from sklearn.exceptions import ConvergenceWarning

from shrinktest import FKMSE
from shrinktest.applications import KernelMeanMatching

NAME = "density_nll"
DATA = (
    *(
        "ionosphere",
        "sonar",
        "australian",
        "specft",
        "wdbc",
        "wine",
        "satimage",
        "segment",
        "vehicle",
        "svmguide2",
    ),
    *("vowel", "housing", "bodyfat", "abalone", "glass"),
)
CONTINUOUS = (
    "australian, continuous"  # the six columns that [X20] seems to use, under its only kernel
)
KERNELS = {
    "linear": "lin",
    "poly2": "poly2",
    "poly3": "poly3",
    "gaussian": "rbf",
}  # and their names in print
BOTH = {"kme": "kme", "skmse": "skmse", "fkmse": "fkmse", "fkmse, paper": FKMSE(loo="paper")}
FILTERS = {name: name for name in ("landweber", "nu", "iterated_tikhonov", "tsvd")}
NOISE = {"mkme": "mkme", "mmkme": "mmkme"}  # with a closed form under the Gaussian kernel only
ESTIMATORS = BOTH | FILTERS | NOISE
#: Choices that the papers do not state: number of Gaussians; rows that define standard units (all, or the training
#: part); largest number of rows, drawn anew in each repetition; and smallest variance, relative to the data.
CONSTANTS = {"components": 5, "units": "all rows", "rows": 600, "floor": 0.001}
VARIED = {
    "3 Gaussians": {"components": 3},
    "10 Gaussians": {"components": 10},
    "units of the training part": {"units": "training part"},
    "at most 300 rows": {"rows": 300},
    "variances of .05 at least": {"floor": 0.05},
}
SMALL = ("glass", "wine", "ionosphere", "wdbc", "sonar")  # data sets on which constants are varied
TEN = 10  # repetitions of the paper
FEW = 10  # repetitions with changed constants


def trial(
    constants: dict, kernels, estimators, name: str, folder: str | None, repetition: int
) -> list[dict]:
    """Fit all kernels and estimators to one split of one data set, from the same start."""
    rng = np.random.default_rng([repetition, *map(ord, name)])
    values = load(name, folder)
    if constants["units"] == "all rows":
        values = standard(values, values)
    if len(values) > constants["rows"]:
        values = values[rng.choice(len(values), constants["rows"], replace=False)]
    held_out = round(0.25 * len(values))
    if constants["units"] == "all rows":
        order = rng.permutation(len(values))
        train, test = values[order[held_out:]], values[order[:held_out]]
    else:
        train, test = split(values, len(values) - held_out, rng)
    rows, start = [], "k-means"
    for kernel in kernels:
        for label, estimator in estimators.items():
            if label in NOISE and kernel != "gaussian":
                continue
            mixture = KernelMeanMatching(
                constants["components"],
                estimator=estimator,
                kernel=kernel,
                init=start,
                n_init=50,
                min_variance=constants["floor"],
                random_state=repetition,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # counted below
                mixture.fit(train)
            start = mixture.start_
            row = {"data": name, "kernel": kernel, "repetition": repetition, "estimator": label}
            row |= {"nll": -mixture.score(test), "stopped": int(not mixture.converged_)}
            floor = 1.01 * constants["floor"] * train.var(axis=0).mean()
            rows.append(row | {"at_floor": int((mixture.variances_ < floor).sum())})
    return rows


def summarised(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and the paired difference from the plain average of every data set, kernel and estimator."""
    keys = ["kernel", "data"]
    ranks = {
        "kernel": [*KERNELS],
        "data": [*DATA, CONTINUOUS],
        "estimator": [*ESTIMATORS],
        "repetition": [],
    }
    results = results.sort_values(
        list(ranks),
        key=lambda column: column.map(ranks[column.name].index) if ranks[column.name] else column,
    )
    cells = results.groupby([*keys, "estimator"], sort=False)
    means = cells.agg(
        nll=("nll", "mean"), at_floor=("at_floor", "mean"), stopped=("stopped", "sum")
    )
    return means.reset_index().merge(
        paired(results, keys, "nll"), on=[*keys, "estimator"], how="left"
    )


def runs(
    args, names: list[str], kernels, constants: dict, estimators=ESTIMATORS, most=None
) -> pd.DataFrame:
    """Return all repetitions on all data sets, or at most so many."""
    folder = None if args.data is None else str(args.data)
    parts = [
        repeat(args, trial, constants, kernels, estimators, name, folder, most=most)
        for name in names
    ]
    return pd.concat(parts, ignore_index=True)


def everything(args, names: list[str], constants: dict, changes: dict) -> dict[str, pd.DataFrame]:
    """Return the tables of the page: all repetitions, as many as in the paper, and some with changed constants."""
    parts = [runs(args, names, list(KERNELS), constants)]
    if "australian" in names:
        parts.append(runs(args, [CONTINUOUS], ["gaussian"], constants))
    few = [name for name in SMALL if name in names]
    varied = {
        label: runs(args, few, ["linear", "gaussian"], constants | change, BOTH, most=FEW)
        for label, change in changes.items()
    }
    return tables(pd.concat(parts, ignore_index=True), varied)


def tables(results: pd.DataFrame, varied: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Summarize single repetitions, which would fill megabytes."""
    first = results[(results["repetition"] < TEN) & results["estimator"].isin(list(BOTH))]
    as_above = first[first["data"].isin(SMALL) & first["kernel"].isin(["linear", "gaussian"])]
    as_above = as_above[as_above["repetition"] < FEW]
    changed = {"as above": as_above, **varied}
    constants = [summarised(some).assign(constants=label) for label, some in changed.items()]
    return {
        "": summarised(results),
        "ten": summarised(first),
        "constants": pd.concat(constants, ignore_index=True),
    }


def printed(file: str) -> pd.DataFrame:
    """Read a published table: for every kernel, data set and estimator, the value and the difference from `kme`."""
    table = pd.read_csv(PUBLISHED / f"{file}.csv").rename(columns={"dataset": "data"})
    ours = {short: kernel for kernel, short in KERNELS.items()}
    table["kernel"] = table["kernel"].map(ours) if "kernel" in table else "gaussian"
    table["data"] = table["data"].replace({"svmguid2": "svmguide2", "wbdc": "wdbc"})
    if file.startswith("X20"):
        table["data"] = table["data"].replace({"australian": CONTINUOUS})
    long = table.melt(["kernel", "data", "kme"], var_name="estimator", value_name="printed")
    long = pd.concat([long, long[long["estimator"] == "fkmse"].assign(estimator="fkmse, paper")])
    return long.assign(there=long["printed"] - long["kme"]).drop(columns="kme")


def agreement(differences: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Count printed differences with the sign of ours where the interval, or the sign test, excludes 0.

    `differences` has the columns difference, low, high, lower, higher, pvalue and there, the printed difference.
    """
    rows = []
    for group, part in differences.groupby(by, sort=False):
        better = part["there"] < 0
        decided = (part["low"] > 0) | (part["high"] < 0)
        same = decided & ((part["difference"] < 0) == better)
        tested = part["pvalue"] < 0.05
        same_test = tested & ((part["lower"] > part["higher"]) == better)
        counts = {
            "printed as better": better,
            "agree": same,
            "oppose": decided & ~same,
            "undecided": ~decided,
            "sign test agrees": same_test,
            "sign test opposes": tested & ~same_test,
        }
        row = {**dict(zip(by, group, strict=True)), "compared": len(part)}
        rows.append(row | {label: int(which.sum()) for label, which in counts.items()})
    return pd.DataFrame(rows)


def with_printed(summary: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return our differences with the printed ones."""
    return summary.dropna(subset="difference").merge(
        printed(file), on=["kernel", "data", "estimator"]
    )


def compared(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return our differences with the printed ones, for every table of the papers and every kernel."""
    paper = with_printed(tables[""], "M14_table1_density_nll")
    out = {
        f"[M14] Table 1, {kernel} kernel": paper[paper["kernel"] == kernel] for kernel in KERNELS
    }
    for label, file in (
        ("[S14] Table 2", "S14_table2_density_nll"),
        ("[X20] Table 3", "X20_table3_density_nll"),
    ):
        both = with_printed(tables[""], file)
        out[label] = both[both["estimator"] != "fkmse, paper"]
    return out


def named(name: str) -> str:
    return f"{name} †" if name in ELSEWHERE else name


def counts(differences: pd.DataFrame, by: list[str]) -> str:
    """Return a table of agreement with the printed differences, without the sign tests."""
    names = {
        "agree": "reproduced",
        "oppose": "opposite sign",
        "printed as better": "printed as gain",
    }
    table = agreement(differences, by)
    return markdown(
        table[[*by, "compared", "printed as better", "agree", "oppose", "undecided"]].rename(
            columns=names
        )
    )


def sides(differences: pd.DataFrame) -> tuple[int, int]:
    """Count intervals of differences below 0, better than the plain average, and above."""
    return int((differences["high"] < 0).sum()), int((differences["low"] > 0).sum())


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    summary = tables[""]
    constants = tables["constants"]
    gaussian = summary[summary["kernel"] == "gaussian"]
    part = gaussian[gaussian["data"] != CONTINUOUS]
    differing = part.dropna(subset="difference")
    small = (differing["difference"].abs() < 0.02 * differing["nll"].abs()).mean() > 0.5
    both = with_printed(summary, "M14_table1_density_nll")
    signs = agreement(both, ["estimator"]).set_index("estimator").loc["skmse"]
    published = compared(tables)
    later = pd.concat(
        [published[paper].assign(paper=paper) for paper in ("[S14] Table 2", "[X20] Table 3")]
    )
    polynomial = both[both["kernel"].isin(["poly2", "poly3"])]
    gains, losses = sides(polynomial)
    linear = constants[constants["kernel"] == "linear"].dropna(subset="difference")
    training = linear[linear["constants"] == "units of the training part"]["difference"].abs()
    flexible = constants[(constants["kernel"] == "gaussian") & (constants["estimator"] == "fkmse")]
    worse = flexible.groupby("constants")["low"].agg(lambda low: (low > 0).sum())
    return {
        "data_sets": part["data"].nunique(),
        "counts": ", ".join(counted_sides(part, name) for name in ("skmse", "fkmse")),
        "signs_compared": signs["compared"],
        "signs_agree": signs["agree"],
        "signs_oppose": signs["oppose"],
        "drawn": small and differing["difference"].abs().max() == differing["difference"].max(),
        "repetitions": int(summary["repetitions"].max()),
        "gaussians": CONSTANTS["components"],
        "most_rows": CONSTANTS["rows"],
        "least_variance": f"{CONSTANTS['floor']:g}",
        "first_paper": counts(both, ["kernel", "estimator"]),
        "polynomial_gains": int((polynomial["there"] < 0).sum()),
        "polynomial": len(polynomial),
        "losses": losses,
        "gains": gains,
        "comparisons": gaussian["data"].nunique(),
        "others": markdown(tally(gaussian[~gaussian["estimator"].isin([*BOTH])])),
        "later_papers": counts(later, ["paper", "estimator"]),
        "nothing_to_shrink": training.max() < 0.001,
        "fewest_worse": worse.min(),
        "most_worse": worse.max(),
        "small_data_sets": len(SMALL),
    }


def counted_sides(part: pd.DataFrame, name: str) -> str:
    """Return on how many data sets an estimator is better and worse, and the range of its differences."""
    some = part[part["estimator"] == name]
    better, worse = sides(some)
    return f"`{name}` was better on {better} data sets and worse on {worse} ({span(some['difference'], '+.2f')})"


def chart(tables):
    """Draw the difference of each estimator from the plain average, for every data set."""
    summary = tables[""]
    from matplotlib.figure import Figure

    from shrinktest.results.plots.studies import COLORS

    part = summary[(summary["kernel"] == "gaussian") & (summary["data"] != CONTINUOUS)]
    names = list(dict.fromkeys(part["data"]))
    labels = list(ESTIMATORS)[1:]
    published = printed("M14_table1_density_nll").set_index(["kernel", "data", "estimator"])[
        "there"
    ]
    across = min(3, len(names))
    down = -(-len(names) // across)
    figure = Figure(figsize=(2.5 * across + 1.5, 2.2 * down + 0.9), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for ax, name in zip(panels, names, strict=False):
        cells = part[part["data"] == name].set_index("estimator").loc[labels]
        at = np.arange(len(labels))
        error = [cells["difference"] - cells["low"], cells["high"] - cells["difference"]]
        ax.errorbar(
            cells["difference"],
            at,
            xerr=error,
            fmt="o",
            markersize=4,
            color=COLORS[0],
            label="this study, 95% interval",
        )
        marks = [published.get(("gaussian", name, label), np.nan) for label in labels]
        ax.plot(marks, at, "x", color=COLORS[1], label="published, [M14] Table 1", zorder=3)
        ax.axvline(0.0, color="#8C8C8C", linestyle=":")
        ax.set_title(named(name), fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in panels[len(names) :]:
        ax.set_visible(False)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles[::-1], texts[::-1], loc="outside lower right", frameon=False, ncols=2)
    panels[across * (down - 1) + across // 2].set_xlabel(
        "negative log-likelihood per held-out row, difference from the plain average (left of 0: better)"
    )
    figure.suptitle(
        "Gaussian mixtures fitted to shrunken kernel means: is the density better than with the average?"
    )
    return figure


def measured(args):
    """Return the tables of all settings."""
    absent = missing(DATA, args.data)
    for name, message in absent.items():
        print(f"without {name}: {message}", file=sys.stderr)
    if args.quick:
        label = "units of the training part"
        results = everything(
            args, ["wine"], CONSTANTS | {"rows": 40, "components": 2}, {label: VARIED[label]}
        )
    else:
        results = everything(args, [name for name in DATA if name not in absent], CONSTANTS, VARIED)
    return results


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=30, quick=2, data=True)
