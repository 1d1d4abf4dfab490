"""The tables of docs/reproduction.md, from the data that the studies have left; nothing is simulated here."""

from __future__ import annotations

import density_nll
import filter_rates
import numpy as np
import pandas as pd
import t_density
from _blocks import DOCS, run
from _overview import overview
from _study import markdown, tables_of
from _tables import paired
from eckerle4_power import ESTIMATORS, agreement, small

MIXTURE = ("kme", "skmse", "fkmse", "mkme", "mmkme")
RISK = ("skmse", "fkmse", "fkmse, paper", "landweber", "nu", "iterated", "tsvd", "mkme", "mmkme")
#: Studies of applications: what tells their cells apart, what is compared, and which sign is better.
APPLICATIONS = {
    "density_nll": (["kernel", "data"], "nll", -1),
    "t_density": (["freedom", "n"], "nll", -1),
    "kpca_reconstruction": (["kind", "data", "components"], "percent", -1),
    "smm_digits": (["machine", "digits"], "errors", -1),
    "group_anomaly": (["machine", "odd"], "auc", 1),
}

COMPONENTS = (1, 5, 10, 20)


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(DOCS / "data" / f"{name}.csv")


def interval(r) -> str:
    return f"{r.power:.3f} [{r.low:.3f}, {r.high:.3f}]"


def eckerle() -> dict[str, str]:
    """Agreement of every column with the published one, and the line of 11 points at level .05."""
    rates = read("eckerle4_power")
    power = rates[~rates["null"]]
    rows = agreement(rates)
    last = (
        power[(power["alpha"] == 0.05) & (power["n"] == power["n"].max())].set_index("estimator").loc[list(ESTIMATORS)]
    )
    table = pd.DataFrame(
        {
            "column": rows["estimator"],
            "cells compared": rows["cells"],
            "chi-square": rows["chi-square"].map("{:.1f}".format),
            "p-value": rows["p-value"].map(small),
            "power here": [interval(r) for r in last.itertuples()],
            "printed": last["published"].to_numpy(),
        }
    )
    verdict = (rows["p-value"] > 0.05).map({True: "yes", False: "no"})
    return {
        "eckerle": markdown(table.assign(agrees=verdict.to_numpy())),
        "eckerle: trials": f"{power['trials'].max()} subsamples for each size; the two columns on power are those of "
        f"{last['n'].max()} points at level .05, with 95 % Clopper-Pearson intervals.",
    }


def mixture() -> dict[str, str]:
    """Power in ten dimensions, and how often the marginalised estimators are ahead of the others."""
    rates = read("mixture_power")
    power = rates[~rates["null"]]
    keys = ["change", "d", "n"]
    cells = power[(power["d"] == 10) & power["estimator"].isin(MIXTURE)]
    shown = cells.assign(cell=[interval(r) for r in cells.itertuples()])
    table = shown.pivot(index=keys, columns="estimator", values="cell")[list(MIXTURE)].reset_index()
    wide = power.pivot(index=keys, columns="estimator", values="power")
    ahead = wide[["mkme", "mmkme"]].max(axis=1) - wide[["skmse", "fkmse"]].max(axis=1)
    words = [
        f"{part.min():+.3f} to {part.max():+.3f} over {len(part)} cells for the change of {change}"
        for change, part in ahead.groupby(level="change")
    ]
    return {
        "mixture": markdown(table),
        "mixture: trials": f"{power['trials'].max()} trials a cell, 95 % Clopper-Pearson intervals. Power of the "
        f"better marginalised estimator less that of the better of `skmse` and `fkmse`: {', '.join(words)}.",
    }


def risk() -> dict[str, str]:
    """Exact risk relative to the plain average, Gaussian kernel."""
    table = read("risk_study").query("kernel == 'gaussian'")
    found = table[table["estimator"].isin(RISK)]
    cell = [f"{r.risk:.3f} ± {r.half:.3f}" for r in found.itertuples()]
    wide = found.assign(cell=cell).pivot(index=["n", "d"], columns="estimator", values="cell")[list(RISK)]
    trials = table["trials"].max()
    return {
        "risk": markdown(wide.reset_index()),
        "risk: trials": f"{trials} data sets in every cell; ± is the half-width of a 95 % interval.",
    }


def densities() -> dict[str, str]:
    """How many printed differences from the plain average come out again, with their sign."""
    studied = density_nll.compared(tables_of("density_nll"))
    rows = [
        density_nll.agreement(found.assign(table=label), ["table", "estimator"]) for label, found in studied.items()
    ]
    tails = t_density.compared(tables_of("t_density")["dimensions"])
    rows.append(density_nll.agreement(tails, ["table", "estimator"]))
    return {"densities": markdown(pd.concat(rows, ignore_index=True))}


def rates() -> dict[str, str]:
    """Slopes of log risk on log n."""
    return {"rates": markdown(filter_rates.shown(tables_of("filter_rates")[""]))}


def applications() -> dict[str, str]:
    """For every estimator, in how many cells of a study it is better or worse than the plain average."""
    rows = []
    for name in [name for name in APPLICATIONS if (DOCS / "data" / f"{name}.csv").exists()]:
        keys, value, better = APPLICATIONS[name]
        results = read(name)
        if "components" in keys:  # neighbours say the same
            results = results[results["components"].isin(COMPONENTS)]
        summarised = "difference" in results  # by the study itself, whose single repetitions would fill megabytes
        differences = results.dropna(subset="difference") if summarised else paired(results, keys, value)
        for estimator, part in differences.groupby("estimator", sort=False):
            ends = np.sort(better * part[["low", "high"]].to_numpy(), axis=1)
            counts = {"better": int((ends[:, 0] > 0).sum()), "worse": int((ends[:, 1] < 0).sum())}
            rows.append({"study": f"[{name}]({name}.md)", "estimator": estimator, "cells": len(part), **counts})
            rows[-1] |= {"undecided": len(part) - sum(counts.values()), "repetitions": int(part["repetitions"].max())}
    return {"applications": markdown(pd.DataFrame(rows)) if rows else "Run the studies named in the overview first."}


def blocks() -> dict[str, str]:
    """All tables of the page."""
    return {"overview": overview()} | eckerle() | mixture() | risk() | densities() | rates() | applications()


if __name__ == "__main__":
    run(__doc__, "reproduction", blocks)
