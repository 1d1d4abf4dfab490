"""Negative log-likelihood of Gaussian mixtures fitted by kernel mean matching, for every estimator of the mean.

The setting of [M14] Table 1, [S14] Table 2 and [X20] Table 3: data sets in standard units, 25 % of the rows held out,
the best of 50 starts of k-means.  What they do not state is in ``CONSTANTS``, and varied once.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from _study import PUBLISHED, claim, markdown, options, write
from _tables import ELSEWHERE, load, missing, paired, repeat, split, standard, tally
from sklearn.exceptions import ConvergenceWarning

from shrinktest import FKMSE
from shrinktest.applications import KernelMeanMatching

NAME, TITLE = "density_nll", "Density estimation by kernel mean matching"
DATA = (
    *("ionosphere", "sonar", "australian", "specft", "wdbc", "wine", "satimage", "segment", "vehicle", "svmguide2"),
    *("vowel", "housing", "bodyfat", "abalone", "glass"),
)
CONTINUOUS = "australian, continuous"  # the six columns that [X20] seems to use, under its only kernel
KERNELS = {"linear": "lin", "poly2": "poly2", "poly3": "poly3", "gaussian": "rbf"}  # and their names in print
BOTH = {"kme": "kme", "skmse": "skmse", "fkmse": "fkmse", "fkmse, paper": FKMSE(loo="paper")}
FILTERS = {name: name for name in ("landweber", "nu", "iterated_tikhonov", "tsvd")}
NOISE = {"mkme": "mkme", "mmkme": "mmkme"}  # which have a closed form under the Gaussian kernel only
ESTIMATORS = BOTH | FILTERS | NOISE
#: What the papers do not state: Gaussians; whose units are standard, those of all rows or of the training part; at most
#: so many rows, drawn anew in each repetition; and the smallest variance, as a part of that of the data.
CONSTANTS = {"components": 5, "units": "all rows", "rows": 600, "floor": 0.001}
VARIED = {
    "3 Gaussians": {"components": 3},
    "10 Gaussians": {"components": 10},
    "units of the training part": {"units": "training part"},
    "at most 300 rows": {"rows": 300},
    "variances of .05 at least": {"floor": 0.05},
}
SMALL = ("glass", "wine", "ionosphere", "wdbc", "sonar")  # on which they are varied
TEN = 10  # the paper's randomisations
FEW = 10  # repetitions of what is varied


def trial(constants: dict, kernels, estimators, name: str, folder: str | None, repetition: int) -> list[dict]:
    """One split of one data set: all kernels and estimators from the same start."""
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
    """A row for every data set, kernel and estimator: the mean, and the paired difference from the plain average."""
    keys = ["kernel", "data"]
    ranks = {"kernel": [*KERNELS], "data": [*DATA, CONTINUOUS], "estimator": [*ESTIMATORS], "repetition": []}
    results = results.sort_values(
        list(ranks), key=lambda column: column.map(ranks[column.name].index) if ranks[column.name] else column
    )
    cells = results.groupby([*keys, "estimator"], sort=False)
    means = cells.agg(nll=("nll", "mean"), at_floor=("at_floor", "mean"), stopped=("stopped", "sum"))
    return means.reset_index().merge(paired(results, keys, "nll"), on=[*keys, "estimator"], how="left")


def runs(args, names: list[str], kernels, constants: dict, estimators=ESTIMATORS, most=None) -> pd.DataFrame:
    """All repetitions on all data sets, or so many at most."""
    folder = None if args.data is None else str(args.data)
    parts = [repeat(args, trial, constants, kernels, estimators, name, folder, most=most) for name in names]
    return pd.concat(parts, ignore_index=True)


def everything(args, names: list[str], constants: dict, changes: dict) -> dict[str, pd.DataFrame]:
    """The tables of the page: all repetitions, those of the paper, and some with constants changed."""
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
    """Summaries of single repetitions, which would fill megabytes."""
    first = results[(results["repetition"] < TEN) & results["estimator"].isin(list(BOTH))]
    as_above = first[first["data"].isin(SMALL) & first["kernel"].isin(["linear", "gaussian"])]
    as_above = as_above[as_above["repetition"] < FEW]
    changed = {"as above": as_above, **varied}
    constants = [summarised(found).assign(constants=label) for label, found in changed.items()]
    return {"": summarised(results), "ten": summarised(first), "constants": pd.concat(constants, ignore_index=True)}


def printed(file: str) -> pd.DataFrame:
    """A published table: a row for every kernel, data set and estimator, its value, and its difference from `kme`."""
    table = pd.read_csv(PUBLISHED / f"{file}.csv").rename(columns={"dataset": "data"})
    ours = {short: kernel for kernel, short in KERNELS.items()}
    table["kernel"] = table["kernel"].map(ours) if "kernel" in table else "gaussian"
    table["data"] = table["data"].replace({"svmguid2": "svmguide2", "wbdc": "wdbc"})
    if file.startswith("X20"):
        table["data"] = table["data"].replace({"australian": CONTINUOUS})
    long = table.melt(["kernel", "data", "kme"], var_name="estimator", value_name="printed")
    long = pd.concat([long, long[long["estimator"] == "fkmse"].assign(estimator="fkmse, paper")])
    return long.assign(there=long["printed"] - long["kme"]).drop(columns="kme")


def agreement(found: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How many printed differences have the sign of ours where its interval excludes 0, and where the sign test does.

    `found` has the columns difference, low, high, lower, higher, pvalue and there, the printed difference.
    """
    rows = []
    for group, part in found.groupby(by, sort=False):
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


def beside(summary: pd.DataFrame, file: str) -> pd.DataFrame:
    """Our differences that have a printed one."""
    return summary.dropna(subset="difference").merge(printed(file), on=["kernel", "data", "estimator"])


def compared(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Our differences beside the printed ones, for every table of the papers and every kernel."""
    paper = beside(tables[""], "M14_table1_density_nll")
    out = {f"[M14] Table 1, {kernel} kernel": paper[paper["kernel"] == kernel] for kernel in KERNELS}
    for label, file in (("[S14] Table 2", "S14_table2_density_nll"), ("[X20] Table 3", "X20_table3_density_nll")):
        found = beside(tables[""], file)
        out[label] = found[found["estimator"] != "fkmse, paper"]
    return out


def named(name: str) -> str:
    return f"{name} †" if name in ELSEWHERE else name


def levels(summary: pd.DataFrame, kernel: str) -> str:
    """Mean values of one kernel, the printed ones in brackets."""
    file = pd.read_csv(PUBLISHED / "M14_table1_density_nll.csv").rename(columns={"dataset": "data"})
    file = file[file["kernel"] == KERNELS[kernel]].set_index("data")
    part = summary[summary["kernel"] == kernel]
    rows = []
    for name, cells in part[part["data"] != CONTINUOUS].groupby("data", sort=False):
        values = cells.set_index("estimator")["nll"]
        row = {"data": named(name)}
        for label in BOTH:
            row[label] = f"{values[label]:.3f} ({file.loc[name, label.removesuffix(', paper')]:.3f})"
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def differences(found: pd.DataFrame) -> str:
    """Our differences from `kme` with their intervals, and the printed ones in brackets where there are."""
    rows = []
    for name, cells in found.groupby("data", sort=False):
        row = {"data": named(name)}
        for r in cells.itertuples():
            there = getattr(r, "there", np.nan)
            text = f"{r.difference:+.3f} [{r.low:+.3f}, {r.high:+.3f}]{' *' * (r.pvalue < 0.05)}"
            row[r.estimator] = text + (f" ({there:+.3f})" if there == there else "")
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def hanging(constants: pd.DataFrame) -> str:
    """For every change of the constants, how many differences are on either side."""
    rows = []
    order = list(dict.fromkeys(constants["constants"]))
    for label in order:
        part = constants[constants["constants"] == label]
        row: dict[str, object] = {"constants": label}
        plain = part[(part["estimator"] == "kme") & (part["kernel"] == "gaussian")]
        row["mean of kme, Gaussian kernel"] = f"{plain['nll'].mean():.2f}"
        for kernel in ("gaussian", "linear"):
            for estimator in list(BOTH)[1:]:
                cells = part[(part["kernel"] == kernel) & (part["estimator"] == estimator)]
                row[f"{estimator}, {kernel}"] = "{} / {}".format(*sides(cells))
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def opening(tables) -> str:
    """What came out, in two sentences."""
    summary = tables[""]
    part = summary[(summary["kernel"] == "gaussian") & (summary["data"] != CONTINUOUS)]
    said = []
    for name in ("skmse", "fkmse"):
        some = part[part["estimator"] == name]
        (better, worse), change = sides(some), some["difference"]
        said.append(
            f"`{name}` gave a better density in {better} and a worse one in {worse} (change of the negative "
            f"log-likelihood per row {change.min():+.2f} to {change.max():+.2f})"
        )
    signs = agreement(beside(summary, "M14_table1_density_nll"), ["estimator"]).set_index("estimator").loc["skmse"]
    return (
        f"Against the plain average (`kme`), with the Gaussian kernel on {part['data'].nunique()} data sets, "
        f"{' and '.join(said)}; in the others the 95 % interval includes 0. Of {signs['compared']} differences that "
        f"[M14] prints for `skmse`, over all kernels, {signs['agree']} came out again and {signs['oppose']} came out "
        "with the other sign."
    )


def alt(tables) -> str:
    """What the picture shows."""
    summary = tables[""]
    part = summary[(summary["kernel"] == "gaussian") & (summary["data"] != CONTINUOUS)].dropna(subset="difference")
    small = (part["difference"].abs() < 0.02 * part["nll"].abs()).mean() > 0.5
    return "Difference in log-likelihood from the plain average, for every data set and estimator: " + claim(
        "most are small, and a few large ones are losses",
        small and part["difference"].abs().max() == part["difference"].max(),
    )


def chart(tables):
    """Difference from the plain average, for every data set and estimator."""
    return picture(tables[""])


def sides(found: pd.DataFrame) -> tuple[int, int]:
    """How many intervals of differences are below 0, which is better than the plain average, and how many above."""
    return int((found["high"] < 0).sum()), int((found["low"] > 0).sum())


def polynomial(found: pd.DataFrame) -> str:
    """What came out under the polynomial kernels, in words."""
    part = found[found["kernel"].isin(["poly2", "poly3"])]
    better, worse = sides(part)
    free = part[(part["estimator"] == "fkmse") & (part["low"] <= 0.0) & (part["high"] >= 0.0)]
    same = int((free["difference"].abs() < 1e-3).sum())
    return (
        f"Under the polynomial kernels the paper prints gains in {int((part['there'] < 0).sum())} of {len(part)} "
        f"cases. Here shrinkage loses in {worse} and gains in {better}: a kernel mean whose moments are shrunk "
        f"belongs to a distribution that is too narrow. `fkmse` is undecided in {len(free)} of these cases, and in "
        f"{same} of them it equals `kme` to three places: tuned by deletion it does not shrink, since the constant "
        "functions are features."
    )


def on_units(constants: pd.DataFrame) -> str:
    """What the varied constants show, in words."""
    linear = constants[constants["kernel"] == "linear"].dropna(subset="difference")
    training = linear[linear["constants"] == "units of the training part"]["difference"].abs()
    gaussian = constants[constants["kernel"] == "gaussian"]
    losses = gaussian[gaussian["estimator"] == "fkmse"].groupby("constants")["low"].agg(lambda low: (low > 0).sum())
    return " ".join(
        (
            "Under the linear kernel the units decide. In those of all rows the mean of all rows is 0, towards which "
            "shrunken means go: the gain is made by the units.",
            claim("In those of the training part nothing is left to shrink.", training.max() < 1e-3),
            "Under the Gaussian kernel simple shrinkage is worse in "
            f"{sides(gaussian[gaussian['estimator'] == 'skmse'])[1]} cells of this table; the number of data sets in "
            f"which `fkmse` is worse is {losses.min()} to {losses.max()}, depending on the constants.",
        )
    )


def page(tables) -> list[str]:
    """What the page says, from the summaries."""
    summary, ten = tables[""], tables["ten"]
    both = beside(ten, "M14_table1_density_nll"), beside(summary, "M14_table1_density_nll")
    most, few = int(summary["repetitions"].max()), int(ten["repetitions"].max())
    absent = [name for name in DATA if name not in set(summary["data"])]
    others = summary[(summary["kernel"] == "gaussian") & ~summary["estimator"].isin([*BOTH])]
    poly = summary[summary["kernel"].isin(["poly2", "poly3"]) & summary["estimator"].isin(list(FILTERS))]
    found = compared(tables)
    s14, x20 = found["[S14] Table 2"], found["[X20] Table 3"]
    missing_there = sorted(set(printed("X20_table3_density_nll")["data"]) - set(summary["data"]))
    narrow = summary[summary["kernel"] == "gaussian"].pivot(index="data", columns="estimator", values="at_floor")
    narrow = narrow.loc[list(dict.fromkeys(summary["data"])), list(ESTIMATORS)].reset_index()
    parts = [
        "Mean negative log-likelihood of held-out rows under mixtures of isotropic Gaussians that are fitted by "
        "kernel mean matching, from the best of 50 starts of k-means, the same for all kernels and estimators; 25 % "
        "of the rows are held out, anew in each repetition. Smaller is better. This is the setting of [M14] Table 1, "
        f"[S14] Table 2 and [X20] Table 3. What they do not state is ours: {CONSTANTS['components']} Gaussians; "
        "standard units of all rows (in those of the training part its mean is 0, and the linear kernel leaves "
        f"nothing to shrink); at most {CONSTANTS['rows']} rows, drawn anew in each repetition (satimage has 6435, "
        f"abalone 4177, segment 2310); no variance below {CONSTANTS['floor']:g} of that of the data; the median "
        "bandwidth; offset 1 of the polynomial kernels. [What depends on them](#what-depends-on-the-constants) "
        "is counted below. Columns that never change are left out. `fkmse` is tuned by deletion, `fkmse, paper` by the "
        "closed form of [M14] Theorem 4 (erratum E1).",
        "Data: `examples/data/SOURCES.md`. † These are not part of the project: bodyfat is free for non-commercial "
        "use only, svmguide2 has no licence statement, and housing has none either and a column that encodes race, "
        "for which scikit-learn withdrew it; its numbers stand here beside those of the papers and for nothing else. "
        "`--data DIR` says where they are." + (f" Missing in this run: {', '.join(absent)}." if absent else ""),
        "Intervals are 95 % t intervals of paired differences from `kme`, and a star says that the sign test has p < "
        ".05. Neither is corrected for the number of comparisons; splits of the same rows overlap, so that intervals "
        "are somewhat too short and p-values somewhat too small.",
        "## [M14] Table 1: how many signs come out again",
        f"With {few} repetitions, as in the paper; each printed difference from `kme` against ours. *Agree* and "
        "*oppose* count intervals that exclude 0, and the last two columns the sign test.",
        markdown(agreement(both[0], ["kernel", "estimator"])),
        f"With {most} repetitions:",
        markdown(agreement(both[1], ["kernel", "estimator"])),
        f"{verdict(both[1])} {polynomial(both[1])}",
    ]
    for kernel in KERNELS:
        one = both[1][both[1]["kernel"] == kernel]
        parts += [
            f"## [M14] Table 1, {kernel} kernel",
            f"Means of {few} repetitions; in brackets the printed ones.",
            levels(ten, kernel),
            f"Differences from `kme`, {int(one['repetitions'].max())} repetitions; in brackets the printed ones.",
            differences(one),
        ]
    parts += [
        "## Beyond the paper: filters and marginalised means",
        "Gaussian kernel, differences from `kme`.",
        differences(others),
        "In how many data sets the interval excludes 0:",
        markdown(tally(others)),
        "The filters under the polynomial kernels (the largest difference of a data set is "
        f"{poly['difference'].abs().max():,.0f}, where a variance has diverged):",
        markdown(tally(poly.assign(estimator=poly["estimator"] + ", " + poly["kernel"]))),
        "## [S14] Table 2",
        f"Differences from `kme`, {most} repetitions; in brackets the printed ones.",
        differences(s14),
        markdown(agreement(s14, ["estimator"])),
        "## [X20] Table 3",
        f"The same; `{CONTINUOUS}` are its six continuous columns, which the printed values seem to be of. Not here: "
        f"{', '.join(missing_there)}.",
        differences(x20),
        markdown(agreement(x20, ["estimator"])),
        "## What depends on the constants",
        f"{int(tables['constants']['repetitions'].max())} repetitions on {', '.join(SMALL)}; in each cell, how many "
        "of these data sets have an interval below 0 (better than `kme`) / above 0.",
        hanging(tables["constants"]),
        on_units(tables["constants"]),
        "## Components with the smallest variance",
        "Components whose variance ends at its floor, mean number under the Gaussian kernel:",
        markdown(narrow),
    ]
    return parts


def verdict(found: pd.DataFrame) -> str:
    """The counts of [M14] Table 1 in words."""
    rows = agreement(found, ["estimator"]).set_index("estimator")
    words = [
        f"`{label}`: {r['agree']} of {r['compared']} agree, {r['oppose']} oppose, {r['undecided']} are undecided"
        for label, r in rows.iterrows()
    ]
    return f"Over all kernels, {'; '.join(words)}."


def picture(summary: pd.DataFrame):
    """For every data set, how much better or worse than the plain average each estimator is."""
    from matplotlib.figure import Figure

    from shrinktest.power.plots import COLOURS

    part = summary[(summary["kernel"] == "gaussian") & (summary["data"] != CONTINUOUS)]
    names = list(dict.fromkeys(part["data"]))
    labels = list(ESTIMATORS)[1:]
    there = printed("M14_table1_density_nll").set_index(["kernel", "data", "estimator"])["there"]
    across = min(5, len(names))
    down = -(-len(names) // across)
    figure = Figure(figsize=(3.0 * across + 1.5, 2.6 * down + 0.9), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for ax, name in zip(panels, names, strict=False):
        cells = part[part["data"] == name].set_index("estimator").loc[labels]
        at = np.arange(len(labels))
        error = [cells["difference"] - cells["low"], cells["high"] - cells["difference"]]
        ax.errorbar(
            cells["difference"], at, xerr=error, fmt="o", markersize=4, color=COLOURS[0], label="here, 95 % interval"
        )
        marks = [there.get(("gaussian", name, label), np.nan) for label in labels]
        ax.plot(marks, at, "x", color=COLOURS[1], label="published, [M14] Table 1", zorder=3)
        ax.axvline(0.0, color="#8C8C8C", linestyle=":")
        ax.set_title(named(name), fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in panels[len(names) :]:
        ax.set_visible(False)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles[::-1], texts[::-1], loc="outside lower right", frameon=False, ncols=2)
    figure.supxlabel("negative log-likelihood per held-out row, minus that of the plain average (left of 0: better)")
    figure.suptitle("Gaussian mixtures fitted to shrunken kernel means: is the density better than with the average?")
    return figure


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=30, quick=2, data=True)
    absent = missing(DATA, args.data)
    for name, message in absent.items():
        print(f"without {name}: {message}", file=sys.stderr)
    if args.quick:
        label = "units of the training part"
        found = everything(args, ["wine"], CONSTANTS | {"rows": 40, "components": 2}, {label: VARIED[label]})
    else:
        found = everything(args, [name for name in DATA if name not in absent], CONSTANTS, VARIED)
    write(args, NAME, TITLE, page(found), found)


if __name__ == "__main__":
    main()
