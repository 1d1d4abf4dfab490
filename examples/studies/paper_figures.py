"""Figures of the papers: filters, risk along the amounts of shrinkage, run time, improvement with d and n.

[M14] Figs. 1 and 2, [S14] Figs. 2 and 3, [X20] Figs. 1 and 2.  They print curves and no numbers; these are ours, on the
papers' mixtures of four Gaussians, whose kernel means are known exactly.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import markdown, run, store

from shrinktest import FKMSE, MMKME, TSVD, IteratedTikhonov, Landweber, NuMethod, Polynomial
from shrinktest.risk import loss_path, risk_study

NAME = "paper_figures"
N, D = 20, 30  # by default
KERNELS = ("linear", "poly2", "poly3", "gaussian")
ESTIMATORS = ("skmse", "fkmse", "landweber", "nu", "iterated_tikhonov", "tsvd", "mkme", "mmkme")
SIZES, DIMENSIONS, TIMED = (10, 20, 40, 80, 160), (5, 10, 20, 40, 80), (50, 100, 200, 400, 800)
#: Panel to heading, horizontal axis, its scale, vertical axis, and the published figures.
PANELS = {
    "filter": ("Filters", "eigenvalue of K/n", "log", "factor on the mean", "[S14] Fig. 2"),
    "iterations": ("Iterations", "iterations t", "log", "risk saved, %", "[S14] Fig. 3(a)"),
    "time": ("Run time", "sample size n", "log", "seconds per estimate", "[S14] Fig. 3(b)"),
    "dimension": (
        f"Dimension, n = {N}",
        "dimension d",
        "log",
        "risk saved, %",
        "[S14] Fig. 3(c), [M14] Fig. 2",
    ),
    "size": (
        f"Sample size, d = {D}",
        "sample size n",
        "log",
        "risk saved, %",
        "[M14] Fig. 2, [X20] Fig. 2",
    ),
    "alpha": ("Simple shrinkage", "amount alpha", "linear", "risk saved, %", "[M14] Fig. 1"),
    "lam": ("Flexible shrinkage", "amount lam_cov", "log", "risk saved, %", "[M14] Fig. 1"),
    "noise": ("Marginalized means", "noise variance", "log", "risk saved, %", "[X20] Fig. 1"),
}
LAM = 0.05  # amount of the filters in the figure, on the scale of K/n


def filters() -> list[dict]:
    """Return the factor of every filter at every eigenvalue: n times its weights for a diagonal Gram matrix."""
    spectrum = np.logspace(-3, 0, 61)
    n = len(spectrum)
    shown = {
        "fkmse": FKMSE(lam=n * LAM),
        "iterated_tikhonov": IteratedTikhonov(lam=n * LAM, t=3),
        "landweber": Landweber(t=round(1.0 / LAM), eta=1.0),
        "nu": NuMethod(t=round(LAM**-0.5), eta=1.0),
        "tsvd": TSVD(threshold=LAM / spectrum.sum()),
    }
    weights = {
        label: estimator.weights(np.diag(n * spectrum)) for label, estimator in shown.items()
    }
    return [
        {"panel": "filter", "curve": label, "x": x, "value": q}
        for label, factors in weights.items()
        for x, q in zip(spectrum, n * factors, strict=True)
    ]


def panel_rows(panel: str, table: pd.DataFrame, curve: str | None, x: str) -> list[dict]:
    """Return the improvements over the plain average with intervals; the default curve is the estimator."""
    return [
        {
            "panel": panel,
            "curve": curve or r.estimator,
            "x": float(getattr(r, x)),
            "value": r.improvement,
        }
        | {"low": r.improvement_low, "high": r.improvement_high, "trials": r.trials}
        for r in table.itertuples()
    ]


def simulated(args, quick: bool) -> list[dict]:
    """Return all panels that need data sets."""
    run = {"n_trials": args.trials, "rng": 0, "workers": args.workers}
    rows = []
    steps = [1, 2, 4, 8, 16] if quick else [1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 200]
    alphas, lams = np.linspace(0.0, 0.4, 3 if quick else 17), np.logspace(-4, 0, 3 if quick else 17)
    paths = [("iterations", name, name, steps, None, "gaussian") for name in ("landweber", "nu")]
    paths += [("alpha", kernel, "skmse", alphas, "alpha", kernel) for kernel in KERNELS]
    paths += [("lam", kernel, "fkmse", lams, "lam_cov", kernel) for kernel in KERNELS]
    noise = np.logspace(-1, 3, 3 if quick else 17)
    paths += [("noise", "mkme", "mkme", noise, "variance", "gaussian")]
    paths += [
        (
            "noise",
            "mmkme, half the columns",
            MMKME(variances=(1.0, 0.0) * (D // 2)),
            noise,
            "multiple",
            "gaussian",
        )
    ]
    for panel, curve, estimator, amounts, parameter, kernel in paths:
        stored = store(args, f"figures-{panel}-{curve.split(',')[0]}")
        kernel = {"poly2": Polynomial(2), "poly3": Polynomial(3)}.get(kernel, kernel)
        path = loss_path(
            estimator, amounts, parameter, kernel=kernel, n=N, d=D, store=stored, **run
        )
        rows += panel_rows(panel, path.table, curve, "amount")
    sizes, dimensions = (SIZES[:2], DIMENSIONS[:2]) if quick else (SIZES, DIMENSIONS)
    alike = {"oracle": False, **run}
    table = risk_study(
        "mixture", ESTIMATORS, n=[N], d=dimensions, store=store(args, "figures-d"), **alike
    ).table
    rows += panel_rows("dimension", table[table["estimator"] != "kme"], None, "d")
    table = risk_study(
        "mixture", ESTIMATORS, n=sizes, d=[D], store=store(args, "figures-n"), **alike
    ).table
    rows += panel_rows("size", table[table["estimator"] != "kme"], None, "n")
    few = {
        "n_trials": 3,
        "rng": 0,
        "workers": 1,
        "oracle": False,
        "store": store(args, "figures-time"),
    }  # one at a time
    timed = risk_study("mixture", ESTIMATORS, n=TIMED[:2] if quick else TIMED, d=[D], **few).losses
    least = timed.groupby(["estimator", "n"], sort=False)["seconds"].min().reset_index()
    rows += [
        {"panel": "time", "curve": r.estimator, "x": float(r.n), "value": r.seconds}
        for r in least.itertuples()
    ]
    return rows


def saved(table: pd.DataFrame) -> pd.DataFrame:
    """Return the risk saved by tuned estimators, with a column for every number of dimensions."""
    part = table[table["panel"] == "dimension"]
    return part.pivot(index="curve", columns="x", values="value").loc[part["curve"].unique()]


def wide(table: pd.DataFrame, panel: str, name: str, form: str, points: tuple[int, ...]) -> str:
    """Return a table of the values of a panel at these points of its axis."""
    part = table[(table["panel"] == panel) & table["x"].isin(points)]
    values = part.pivot(index="curve", columns="x", values="value").loc[part["curve"].unique()]
    values.columns = [f"{name} = {x:g}" for x in values.columns]
    return markdown(values.map(form.format).reset_index().rename(columns={"curve": "estimator"}))


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    risk = saved(table)
    few = risk.columns.min()
    many = risk.columns.max()
    worst = risk[few].idxmin()
    simple = table[(table["panel"] == "size") & (table["curve"] == "skmse")].sort_values("x")[
        "value"
    ]
    part = table[table["panel"] == "alpha"]
    best = part.loc[part.groupby("curve", sort=False)["value"].idxmax()]
    milliseconds = table.assign(value=1000.0 * table["value"])
    return {
        "n": N,
        "few": f"{few:g}",
        "skmse_few": f"{risk.loc['skmse', few]:.1f}",
        "mkme_few": f"{risk.loc['mkme', few]:.1f}",
        "worst": f"`{worst}`",
        "worst_few": f"{-risk.loc[worst, few]:+.1f}",
        "many": f"{many:g}",
        "skmse_many": f"{risk.loc['skmse', many]:.1f}",
        "mkme_many": f"{risk.loc['mkme', many]:.1f}",
        "drawn": simple.is_monotonic_decreasing
        and risk.loc["skmse"].iloc[0] > risk.loc["skmse"].iloc[-1],
        "sources": "; ".join(
            f"{heading}: {source}" for heading, _, _, _, source in PANELS.values()
        ),
        "trials": int(table["trials"].max()),
        "d": D,
        "best_amounts": ", ".join(
            f"{r.curve} {r.value:.1f}% at {r.x:.3g}" for r in best.itertuples()
        ),
        "dimensions": wide(table, "dimension", "d", "{:+.1f}", DIMENSIONS[::2]),
        "sizes": wide(table, "size", "n", "{:+.1f}", SIZES[::2]),
        "times": wide(milliseconds, "time", "n", "{:,.2f}", TIMED[1::2] + TIMED[-1:]),
    }


def chart(tables):
    """Draw a panel for every figure."""
    table = tables[""]
    from matplotlib.figure import Figure

    from shrinktest.results.plots.studies import COLORS, MARKERS

    style = {
        name: (COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(ESTIMATORS)
    }
    style |= {name: (COLORS[i], MARKERS[i]) for i, name in enumerate(KERNELS)}
    style |= {"kme": ("#8C8C8C", "."), "mmkme, half the columns": style["mmkme"]}
    figure = Figure(figsize=(9.0, 14.0), layout="constrained")
    shown: dict = {}  # estimators look the same in all panels
    for ax, (panel, (heading, x, scale, y, source)) in zip(
        figure.subplots(4, 2).ravel(), PANELS.items(), strict=True
    ):
        part = table[table["panel"] == panel]
        for curve, line in part.groupby("curve", sort=False):
            color, marker = style[curve]
            dense = panel == "filter"
            ax.plot(
                line["x"],
                line["value"],
                color=color,
                marker="" if dense else marker,
                markersize=4,
                label=curve,
            )
            if line["low"].notna().any():
                ax.fill_between(
                    line["x"], line["low"], line["high"], color=color, alpha=0.15, linewidth=0
                )
        ax.set_xscale(scale)
        if panel == "time":
            ax.set_yscale("log")
        elif panel != "filter":
            ax.axhline(0.0, color="#8C8C8C", linestyle=":")
            ax.set_ylim(max(-15.0, 1.1 * part["low"].min()), 1.15 * part["high"].max())
        if panel in ("dimension", "size", "time"):
            ticks = sorted(set(part["x"]))
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.set_xticks([], minor=True)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.set_title(f"{heading}\n(after {source})", fontsize="medium")
        if panel in ("alpha", "lam"):
            ax.legend(frameon=False, fontsize="small", title="kernel")
        else:
            handles, labels = ax.get_legend_handles_labels()
            shown |= dict(zip(labels, handles, strict=True))
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", frameon=False, ncols=4)
    return figure


def measured(args):
    """Return the tables of all settings."""
    return pd.DataFrame(filters() + simulated(args, args.quick))


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=100, quick=2)
