"""Two-sample power on the papers' mixtures of four Gaussians, against sample size and dimension.

The setting of [X20] Fig. 3, which prints curves and no numbers: 500 trials, 1000 permutations, and the level.
"""

from __future__ import annotations

import pandas as pd
from _study import markdown, run, span, store

from shrinktest import FKMSE, power_study
from shrinktest.power.designs import Mixture

NAME = "mixture_power"
ESTIMATORS = {
    "kme": "kme",
    "skmse": "skmse",
    "fkmse": "fkmse",
    "fkmse, lam_cov 1": FKMSE(lam_cov=1.0),
    "mkme": "mkme",
    "mmkme": "mmkme",
}
# Change, dimension and sample size of every setting.
SIZES = [("covariance", 10, n) for n in (10, 20, 40)] + [("means", 10, n) for n in (10, 20, 40)]
DIMENSIONS = [("covariance", d, 20) for d in (2, 5, 30)] + [("means", d, 20) for d in (2, 5, 30)]


def measured(args):
    """Return the tables of all settings."""
    tables, differences = [], []
    for change, dimension, n in SIZES + DIMENSIONS:
        result = power_study(
            Mixture(dimension=dimension, change=change),
            ESTIMATORS,
            n,
            n_trials=args.trials,
            n_resamples=1000,
            store=store(args, f"mixture-{change}-{dimension}-{n}"),
            workers=args.workers,
            rng=0,
        )
        cell = {"change": change, "d": dimension}
        tables.append(result.to_frame().assign(**cell))
        against = [
            result.difference(label, "kme").assign(estimator=label, **cell)
            for label in list(ESTIMATORS)[1:]
        ]
        differences.append(pd.concat(against))
    rates, difference = (pd.concat(parts, ignore_index=True) for parts in (tables, differences))
    made = {"": rates, "differences": difference}
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    rates = tables[""]
    difference = tables["differences"]
    power = rates[~rates["null"]].pivot(
        index=["change", "d", "n"], columns="estimator", values="power"
    )
    mean = power.loc["covariance"].mean()
    ahead = power[["mkme", "mmkme"]].max(axis=1) - power[["skmse", "fkmse"]].max(axis=1)
    clear = difference[difference["pvalue"] < 0.01].groupby("estimator", sort=False)["difference"]
    better = (
        f"`{name}` {(some > 0).sum()} gains and {(some < 0).sum()} losses" for name, some in clear
    )
    return {
        "mean_kme": f"{mean['kme']:.2f}",
        "mean_mkme": f"{mean['mkme']:.2f}",
        "mean_skmse": f"{mean['skmse']:.2f}",
        "mean_heavy": f"{mean['fkmse, lam_cov 1']:.2f}",
        "not_ahead_of_shrinkage": mean["mkme"] <= mean["skmse"],
        "drawn": mean.idxmax() == "fkmse, lam_cov 1",
        "powers": markdown(power[list(ESTIMATORS)].map("{:.2f}".format).reset_index()),
        "settings": len(power),
        "better": ", ".join(better),
        "ahead": int((ahead > 0).sum()),
        "most_ahead": f"{max(ahead.max(), 0.0):.3f}",
        "level": span(rates.loc[rates["null"], "power"]),
        "trials": rates["trials"].max(),
    }


def chart(tables):
    """Draw power against n at d = 10, and against d at n = 20, for the two changes."""
    rates = tables[""]
    from matplotlib.figure import Figure

    from shrinktest.results.plots.studies import COLORS, MARKERS

    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True)
    titles = {"covariance": "covariances times 3.7", "means": "means moved"}
    for row, change in zip(panels, ("covariance", "means"), strict=True):
        for ax, x, fixed in zip(row, ("n", "d"), ("d", "n"), strict=True):
            value = 10 if fixed == "d" else 20
            cells = rates[(rates["change"] == change) & (rates[fixed] == value)]
            for i, label in enumerate(ESTIMATORS):
                style = {"color": COLORS[i], "marker": MARKERS[i], "markersize": 5}
                curve, null = (
                    cells[(cells["estimator"] == label) & (cells["null"] == which)].sort_values(x)
                    for which in (False, True)
                )
                ax.plot(curve[x], curve["power"], label=label, **style)
                ax.fill_between(
                    curve[x], curve["low"], curve["high"], color=COLORS[i], alpha=0.1, linewidth=0
                )
                ax.plot(null[x], null["power"], linestyle="--", linewidth=0.8, **style)
            ax.axhline(0.05, color="#8C8C8C", linestyle=":")
            ax.set_title(f"{titles[change]}, {fixed} = {value}", fontsize="medium")
            ax.set_xlabel("sample size n (each)" if x == "n" else "dimension d")
            ax.set_ylabel("power at level 0.05 (dashed: level)")
            ax.set_ylim(0, 1.02)
            ax.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(frameon=False, fontsize="small")
    return figure


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=500, quick=6)
