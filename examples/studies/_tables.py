"""The tables that the applications are tried on, and repetitions that compare estimators on the same splits."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from _study import in_processes

DATA = Path(__file__).resolve().parent / "data"
NAMES = ("glass", "wine", "ionosphere", "wdbc", "sonar")
#: Data sets whose licences do not plainly allow a copy here, and where they come from.
ELSEWHERE = {
    "bodyfat": "StatLib, bodyfat: 252 rows, 14 variables (density, age, ...), percent of body fat last",
    "housing": "StatLib, boston: 506 rows, 13 variables, median value last",
    "svmguide2": "the data collection of LIBSVM, svmguide2: 391 rows, 20 variables, class last",
}
#: Parts of data sets: name to data set and columns.
COLUMNS = {"australian, continuous": ("australian", [1, 2, 6, 9, 12, 13])}


def load(name: str, folder: Path | str | None = None) -> np.ndarray:
    """The real-valued variables (n, d) of a data set; columns that never change are left out.

    `folder` is that of the data sets in `ELSEWHERE`: name.csv, without a header, numbers separated by commas, what is
    to be predicted in the last column.
    """
    whole, columns = COLUMNS.get(name, (name, slice(None)))
    if whole in ("wine", "wdbc"):
        from sklearn import datasets

        values = (datasets.load_wine() if whole == "wine" else datasets.load_breast_cancer()).data
    else:
        if absent := missing([whole], folder):
            raise FileNotFoundError(absent[whole])
        path = next(path for path in paths(whole, folder) if path.exists())
        values = pd.read_csv(path, header=None).iloc[:, :-1].to_numpy(np.float64)
    values = values[:, columns]
    return values[:, np.ptp(values, axis=0) > 0]


def paths(name: str, folder: Path | str | None) -> list[Path]:
    """Return the possible paths of a data set."""
    if name not in ELSEWHERE:
        return [DATA / f"{name}.csv", DATA / f"{name}.csv.gz"]
    return [] if folder is None else [Path(folder) / f"{name}.csv"]


def missing(names, folder: Path | str | None) -> dict[str, str]:
    """Return the data sets that cannot be read, each with instructions to get it."""
    return {
        name: f"{name} is not part of the project (see examples/studies/data/SOURCES.md). Get it from "
        f"{ELSEWHERE[name]}; write it as {name}.csv, without a header, numbers separated by commas, and give its "
        "folder as --data"
        for name in names
        if name in ELSEWHERE and not any(path.exists() for path in paths(name, folder))
    }


def standard(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Rows in standard units of the rows of `by`."""
    return (values - by.mean(axis=0)) / by.std(axis=0)


def split(
    values: np.ndarray, train: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A random part of so many rows and the others, in standard units of the first part."""
    order = rng.permutation(len(values))
    first, second = values[order[:train]], values[order[train:]]
    varying = np.ptp(first, axis=0) > 0
    first, second = first[:, varying], second[:, varying]
    return standard(first, first), standard(second, first)


def repeat(args, trial, *fixed, most: int | None = None) -> pd.DataFrame:
    """All rows that trial(*fixed, r) gives for r = 0, 1, ...: in processes, and kept in --store if there is one."""
    trials = min(args.trials, most or args.trials)
    from joblib import Memory

    trial = Memory(args.store, verbose=0).cache(trial)
    parts = in_processes(args, trial, [(*fixed, r) for r in range(trials)])
    return pd.DataFrame(chain.from_iterable(parts))


def paired(frame: pd.DataFrame, keys: list[str], value: str, baseline: str = "kme") -> pd.DataFrame:
    """Mean difference from the baseline over the same repetitions, 95 % t interval, and the sign test.

    `frame` has the columns keys, "estimator", "repetition" and `value`.
    """
    from scipy.stats import t
    from statsmodels.stats.descriptivestats import sign_test

    rows = []
    for group, cells in frame.groupby(keys, sort=False):
        wide = cells.pivot(index="repetition", columns="estimator", values=value)
        for label in [e for e in cells["estimator"].unique() if e != baseline]:
            difference = (wide[label] - wide[baseline]).to_numpy().copy()
            difference[np.abs(difference) < 1e-9 * np.abs(wide[baseline])] = (
                0.0  # rounding has no sign
            )
            n, mean = len(difference), float(difference.mean())
            half = t.ppf(0.975, n - 1) * difference.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
            counts = {"lower": int((difference < 0).sum()), "higher": int((difference > 0).sum())}
            sign = sign_test(difference)[1] if difference.any() else 1.0
            rows.append(
                {**dict(zip(keys, group, strict=True)), "estimator": label, "difference": mean}
            )
            rows[-1] |= {
                "low": mean - half,
                "high": mean + half,
                **counts,
                "pvalue": float(sign),
                "repetitions": n,
            }
    return pd.DataFrame(rows)


def dots(ax, differences: pd.DataFrame, by: str, levels: pd.Series) -> None:
    """Differences from the baseline with their intervals, side by side at each `by`, below which the baseline's level.

    `levels` tells the baseline's mean value at every `by`, as text.
    """
    from shrinktest.results.plots.studies import COLORS, MARKERS

    estimators = list(differences["estimator"].unique())
    for i, estimator in enumerate(estimators):
        part = differences[differences["estimator"] == estimator].set_index(by).loc[levels.index]
        at = np.arange(len(part)) + 0.16 * (i - (len(estimators) - 1) / 2)
        reach = part["high"] - part["difference"]
        style = {
            "fmt": MARKERS[i + 1],
            "color": COLORS[i + 1],
            "label": estimator,
        }  # the first is the baseline's
        ax.errorbar(at, part["difference"], yerr=reach, **style)
    ax.axhline(0.0, color="#8C8C8C", linestyle=":")
    ax.set_xticks(range(len(levels)), [f"{cell}\n(kme: {level})" for cell, level in levels.items()])
    ax.set_xlim(-0.5, len(levels) - 0.5)
    ax.spines[["top", "right"]].set_visible(False)


def cells(differences: pd.DataFrame, keys: list[str], places: int = 3) -> pd.DataFrame:
    """Differences with intervals, a column for each estimator; a star where the sign test has p < .05."""

    def text(r) -> str:
        shown = (f"{v:+.{places}f}" for v in (r.difference, r.low, r.high))
        return "{} [{}, {}]{}".format(*shown, " *" if r.pvalue < 0.05 else "")

    order = list(differences["estimator"].unique())
    table = differences.assign(cell=differences.apply(text, axis=1))
    wide = table.pivot(index=keys, columns="estimator", values="cell")[order]
    return (
        table[keys].drop_duplicates().merge(wide.reset_index(), on=keys)
    )  # in the order of the table


def tally(differences: pd.DataFrame, better: int = -1, places: int = 2) -> pd.DataFrame:
    """For every estimator, in how many cells its interval excludes 0 on the better side (-1: below), and the range."""
    rows = []
    for estimator, part in differences.groupby("estimator", sort=False):
        ends = np.sort(better * part[["low", "high"]].to_numpy(), axis=1)
        counts = {"better": int((ends[:, 0] > 0).sum()), "worse": int((ends[:, 1] < 0).sum())}
        rows.append({"estimator": estimator, "comparisons": len(part), **counts})
        rows[-1]["undecided"] = len(part) - sum(counts.values())
        shown = (f"{v:+.{places}f}" for v in (part["difference"].min(), part["difference"].max()))
        rows[-1]["differences"] = "{} to {}".format(*shown)
    return pd.DataFrame(rows)
