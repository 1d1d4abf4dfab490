"""The tables of docs/reproduction.md, from the data that the studies have left; nothing is simulated here."""

from __future__ import annotations

import numpy as np
import pandas as pd
from folders import DOCS
from overview import overview

# isort: split
import density_nll
import filter_rates
import t_density
from _study import markdown, tables_of
from _tables import paired

#: Studies of applications: where they are, what tells their cells apart, what is compared, which sign is better.
APPLICATIONS = {
    "density_nll": (
        "[Data sets of the papers](reproduction.md#data-sets-of-the-papers)",
        ["kernel", "data"],
        "nll",
        -1,
    ),
    "t_density": (
        "[Heavy tails](reproduction.md#heavy-tails)",
        ["freedom", "n"],
        "nll",
        -1,
    ),
    "kpca_reconstruction": (
        "[Kernel PCA](reproduction.md#kernel-pca)",
        ["kind", "data", "components"],
        "percent",
        -1,
    ),
    "smm_digits": ("[Digits](reproduction.md#digits)", ["machine", "digits"], "errors", -1),
    "group_anomaly": (
        "[Unusual groups](reproduction.md#unusual-groups)",
        ["machine", "odd"],
        "auc",
        1,
    ),
}

COMPONENTS = (1, 5, 10, 20)


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(DOCS / "data" / f"{name}.csv")


def densities() -> pd.DataFrame:
    """Count the printed differences from the plain average whose sign is reproduced."""
    studied = density_nll.compared(tables_of("density_nll"))
    rows = [
        density_nll.agreement(comparison.assign(table=label), ["table", "estimator"])
        for label, comparison in studied.items()
    ]
    tails = t_density.compared(tables_of("t_density")["dimensions"])
    rows.append(density_nll.agreement(tails, ["table", "estimator"]))
    return pd.concat(rows, ignore_index=True)


def outcomes(signs: pd.DataFrame) -> dict[str, str]:
    """Return the counts that the overview names, in words."""
    filters = signs[(signs["table"] == "[S14] Table 2") & (signs["estimator"] != "skmse")]
    flexible = signs[(signs["table"] == "[X20] Table 3") & (signs["estimator"] == "fkmse")]
    slopes = filter_rates.slopes(read("filter_rates"))
    slopes = slopes[slopes["a"].notna()]
    flat = filter_rates.flatter(slopes)
    slow = int((flat["a"] == slopes["a"].min()).sum())
    gaussian = int((flat["kernel"] == "gaussian").sum())
    return {
        "filters": of_differences(filters),
        "flexible": of_differences(flexible),
        "steep": f"{len(slopes) - len(flat)} of {len(slopes)}",
        "flat": f"{len(flat)} ({slow} of them with the slowest decrease, $n^{{-{slopes['a'].min():g}}}$, and "
        f"{gaussian} of them under the Gaussian kernel)",
    }


def of_differences(signs: pd.DataFrame) -> str:
    """Say how many printed differences are reproduced, have the opposite sign, and are undecided."""
    agree, oppose, undecided, compared = (
        int(signs[name].sum()) for name in ("agree", "oppose", "undecided", "compared")
    )
    return (
        f"only {agree} of {compared} printed differences are reproduced, whereas {oppose} have the opposite sign and "
        f"{undecided} are within chance variation"
    )


def applications() -> dict[str, str]:
    """For every estimator, in how many cells of a study it is better or worse than the plain average."""
    rows = []
    for name, (study, keys, value, better) in APPLICATIONS.items():
        results = read(name)
        if "components" in keys:  # neighbors say the same
            results = results[results["components"].isin(COMPONENTS)]
        summarised = (
            "difference" in results
        )  # by the study itself, whose single repetitions would fill megabytes
        differences = (
            results.dropna(subset="difference") if summarised else paired(results, keys, value)
        )
        for estimator, part in differences.groupby("estimator", sort=False):
            ends = np.sort(better * part[["low", "high"]].to_numpy(), axis=1)
            counts = {"better": int((ends[:, 0] > 0).sum()), "worse": int((ends[:, 1] < 0).sum())}
            name = estimator.replace("centering", "centering")
            rows.append({"study": study, "estimator": name, "cells": len(part), **counts})
            rows[-1] |= {
                "undecided": len(part) - sum(counts.values()),
                "repetitions": int(part["repetitions"].max()),
            }
    return {"applications": markdown(pd.DataFrame(rows))}


def values() -> dict[str, str]:
    """Return all tables of the page."""
    signs = densities()
    return {"overview": overview(outcomes(signs)), "densities": markdown(signs)} | applications()
