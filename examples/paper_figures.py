"""Figures of the papers as our own pictures: filters, risk along the amounts, run time, improvement with d and n.

[M14] Figs. 1 and 2, [S14] Figs. 2 and 3, [X20] Figs. 1 and 2.  They print curves and no numbers; these are ours, on the
papers' mixtures of four Gaussians, whose kernel means are known exactly.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import claim, markdown, options, store, write

from shrinktest import FKMSE, MMKME, TSVD, IteratedTikhonov, Landweber, NuMethod, Polynomial
from shrinktest.risk import loss_path, risk_study

NAME, TITLE = "paper_figures", "The papers' figures"
N, D = 20, 30  # where nothing else is said
KERNELS = ("linear", "poly2", "poly3", "gaussian")
ESTIMATORS = ("skmse", "fkmse", "landweber", "nu", "iterated_tikhonov", "tsvd", "mkme", "mmkme")
SIZES, DIMENSIONS, TIMED = (10, 20, 40, 80, 160), (5, 10, 20, 40, 80), (50, 100, 200, 400, 800)
#: What a panel shows: heading, horizontal axis, its scale, vertical axis, and the figures it is after.
PANELS = {
    "filter": ("Filters", "eigenvalue of K/n", "log", "factor on the mean", "[S14] Fig. 2"),
    "iterations": ("Iterations", "iterations t", "log", "risk saved, %", "[S14] Fig. 3(a)"),
    "time": ("Run time", "sample size n", "log", "seconds an estimate", "[S14] Fig. 3(b)"),
    "dimension": (f"Dimension, n = {N}", "dimension d", "log", "risk saved, %", "[S14] Fig. 3(c), [M14] Fig. 2"),
    "size": (f"Sample size, d = {D}", "sample size n", "log", "risk saved, %", "[M14] Fig. 2, [X20] Fig. 2"),
    "alpha": ("Simple shrinkage", "amount alpha", "linear", "risk saved, %", "[M14] Fig. 1"),
    "lam": ("Flexible shrinkage", "amount lam_cov", "log", "risk saved, %", "[M14] Fig. 1"),
    "noise": ("Marginalised means", "noise variance", "log", "risk saved, %", "[X20] Fig. 1"),
}
LAM = 0.05  # of the filters that are shown, on the scale of K/n


def filters() -> list[dict]:
    """The factor of every filter at every eigenvalue: n times the weights that it gives to a diagonal Gram matrix."""
    spectrum = np.logspace(-3, 0, 61)
    n = len(spectrum)
    shown = {
        "fkmse": FKMSE(lam=n * LAM),
        "iterated_tikhonov": IteratedTikhonov(lam=n * LAM, t=3),
        "landweber": Landweber(t=round(1.0 / LAM), eta=1.0),
        "nu": NuMethod(t=round(LAM**-0.5), eta=1.0),
        "tsvd": TSVD(threshold=LAM / spectrum.sum()),
    }
    weights = {label: estimator.weights(np.diag(n * spectrum)) for label, estimator in shown.items()}
    return [
        {"panel": "filter", "curve": label, "x": x, "value": q}
        for label, found in weights.items()
        for x, q in zip(spectrum, n * found, strict=True)
    ]


def rows_of(panel: str, table: pd.DataFrame, curve: str | None, x: str) -> list[dict]:
    """Improvement over the plain average with its interval; the curve is the estimator where none is named."""
    return [
        {"panel": panel, "curve": curve or r.estimator, "x": float(getattr(r, x)), "value": r.improvement}
        | {"low": r.improvement_low, "high": r.improvement_high, "trials": r.trials}
        for r in table.itertuples()
    ]


def simulated(args, quick: bool) -> list[dict]:
    """All panels that need data sets."""
    run = {"n_trials": args.trials, "workers": args.workers}
    rows = []
    steps = [1, 2, 4, 8, 16] if quick else [1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 200]
    alphas, lams = np.linspace(0.0, 0.4, 3 if quick else 17), np.logspace(-4, 0, 3 if quick else 17)
    paths = [("iterations", name, name, steps, None, "gaussian") for name in ("landweber", "nu")]
    paths += [("alpha", kernel, "skmse", alphas, "alpha", kernel) for kernel in KERNELS]
    paths += [("lam", kernel, "fkmse", lams, "lam_cov", kernel) for kernel in KERNELS]
    noise = np.logspace(-1, 3, 3 if quick else 17)
    paths += [("noise", "mkme", "mkme", noise, "variance", "gaussian")]
    paths += [
        ("noise", "mmkme, half the columns", MMKME(variances=(1.0, 0.0) * (D // 2)), noise, "multiple", "gaussian")
    ]
    for panel, curve, estimator, amounts, parameter, kernel in paths:
        kept = store(args, f"figures-{panel}-{curve.split(',')[0]}")
        kernel = {"poly2": Polynomial(2), "poly3": Polynomial(3)}.get(kernel, kernel)
        path = loss_path(estimator, amounts, parameter, kernel=kernel, n=N, d=D, store=kept, **run)
        rows += rows_of(panel, path.table, curve, "amount")
    sizes, dimensions = (SIZES[:2], DIMENSIONS[:2]) if quick else (SIZES, DIMENSIONS)
    alike = {"oracle": False, **run}
    found = risk_study("mixture", ESTIMATORS, n=[N], d=dimensions, store=store(args, "figures-d"), **alike).table
    rows += rows_of("dimension", found[found["estimator"] != "kme"], None, "d")
    found = risk_study("mixture", ESTIMATORS, n=sizes, d=[D], store=store(args, "figures-n"), **alike).table
    rows += rows_of("size", found[found["estimator"] != "kme"], None, "n")
    few = {"n_trials": 3, "workers": 1, "oracle": False, "store": store(args, "figures-time")}  # one at a time
    timed = risk_study("mixture", ESTIMATORS, n=TIMED[:2] if quick else TIMED, d=[D], **few).losses
    least = timed.groupby(["estimator", "n"], sort=False)["seconds"].min().reset_index()
    rows += [{"panel": "time", "curve": r.estimator, "x": float(r.n), "value": r.seconds} for r in least.itertuples()]
    return rows


def best(table: pd.DataFrame, panel: str) -> str:
    """Where each curve of a panel is highest, in words."""
    part = table[table["panel"] == panel]
    tops = part.loc[part.groupby("curve", sort=False)["value"].idxmax()]
    return "; ".join(
        f"{r.curve} {r.value:+.1f} % [{r.low:+.1f}, {r.high:+.1f}] at {r.x:.3g}" for r in tops.itertuples()
    )


def ends(table: pd.DataFrame, panel: str, name: str) -> str:
    """The improvements of a panel at every point of its axis."""
    part = table[table["panel"] == panel]
    text = [f"{r.value:+.1f} [{r.low:+.1f}, {r.high:+.1f}]" for r in part.itertuples()]
    wide = part.assign(cell=text).pivot(index="curve", columns="x", values="cell").loc[part["curve"].unique()]
    wide.columns = [f"{name} = {x:g}" for x in wide.columns]
    return markdown(wide.reset_index().rename(columns={"curve": "estimator"}))


def saved(table: pd.DataFrame) -> pd.DataFrame:
    """Risk saved by tuned estimators, a column for every number of dimensions."""
    part = table[table["panel"] == "dimension"]
    return part.pivot(index="curve", columns="x", values="value").loc[part["curve"].unique()]


def opening(tables) -> str:
    """What came out, in two sentences."""
    found = saved(tables[""])
    few, many = found.columns.min(), found.columns.max()
    worst = found[few].idxmin()
    return (
        f"With n = {N} points in d = {few:g} dimensions, and amounts tuned on the data, simple shrinkage (`skmse`) "
        f"saved {found.loc['skmse', few]:.1f} % of the risk of the plain average and marginalised means (`mkme`) "
        f"{found.loc['mkme', few]:.1f} %; `{worst}` changed it by {-found.loc[worst, few]:+.1f} %. With d = {many:g} "
        f"`skmse` and `mkme` saved {found.loc['skmse', many]:.1f} and {found.loc['mkme', many]:.1f} %."
    )


def alt(tables) -> str:
    """What the picture shows."""
    table, found = tables[""], saved(tables[""])
    size = table[(table["panel"] == "size") & (table["curve"] == "skmse")].sort_values("x")["value"]
    return "Eight panels after the figures of the papers: " + claim(
        "what simple shrinkage saves falls with the sample size and with the dimension",
        size.is_monotonic_decreasing and found.loc["skmse"].iloc[0] > found.loc["skmse"].iloc[-1],
    )


def chart(tables):
    """A panel for every figure of the papers."""
    return picture(tables[""])


def page(tables) -> list[str]:
    """What the page says, from the curves."""
    table = tables[""]
    trials = int(table["trials"].max())
    timed = table[table["panel"] == "time"]
    seconds = timed.pivot(index="curve", columns="x", values="value").loc[timed["curve"].unique()]
    times = seconds.map(lambda s: f"{1000.0 * s:.2g}" if s < 0.1 else f"{1000.0 * s:.0f}")
    times.columns = [f"n = {x:g}" for x in times.columns]
    sources = "; ".join(f"{heading}: {source}" for heading, _, _, _, source in PANELS.values())
    return [
        f"Mixtures of four Gaussians drawn anew for each of {trials} data sets, exact losses, n = {N} and d = {D} "
        "where nothing else is said, median bandwidth, 95 % intervals. Risk saved is relative to the plain average "
        f"`kme`. The panels, and the figures that they are after: {sources}.",
        "## Filters",
        f"All at the same amount, $\\lambda = {LAM}$ on the scale of $K/n$ ({round(1 / LAM)} iterations of Landweber, "
        f"{round(LAM**-0.5)} of the $\\nu$-method, three steps of iterated Tikhonov). "
        + claim("The $\\nu$-method goes above 1. ", table[table["curve"] == "nu"]["value"].max() > 1.0)
        + "The formulas are those of the [theory](theory.md), not of the printed table (E18 to E21).",
        "## Along the amount",
        f"The best iteration: {best(table, 'iterations')}. The best simple shrinkage: {best(table, 'alpha')}. The best "
        f"flexible shrinkage: {best(table, 'lam')}. The best noise: {best(table, 'noise')}. These amounts are the best "
        "on average and known in hindsight; the next two tables are of amounts tuned on the data.",
        "## Against the dimension",
        ends(table, "dimension", "d"),
        "## Against the sample size",
        ends(table, "size", "n"),
        "## Run time",
        "Milliseconds for one estimate, tuned, on one core of a busy machine; the least of three. `kme` need not look "
        "at the data. Landweber and the $\\nu$-method compare up to 2n iterations.",
        markdown(times.reset_index().rename(columns={"curve": "estimator"})),
    ]


def picture(table: pd.DataFrame):
    """A panel for every figure."""
    from matplotlib.figure import Figure

    from shrinktest.power.plots import COLOURS, MARKERS

    style = {name: (COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(ESTIMATORS)}
    style |= {name: (COLOURS[i], MARKERS[i]) for i, name in enumerate(KERNELS)}
    style |= {"kme": ("#8C8C8C", "."), "mmkme, half the columns": style["mmkme"]}
    figure = Figure(figsize=(18, 8.4), layout="constrained")
    shown: dict = {}  # estimators look the same in all panels
    for ax, (panel, (heading, x, scale, y, source)) in zip(figure.subplots(2, 4).ravel(), PANELS.items(), strict=True):
        part = table[table["panel"] == panel]
        for curve, line in part.groupby("curve", sort=False):
            colour, marker = style[curve]
            dense = panel == "filter"
            ax.plot(line["x"], line["value"], color=colour, marker="" if dense else marker, markersize=4, label=curve)
            if line["low"].notna().any():
                ax.fill_between(line["x"], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
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
    figure.legend(shown.values(), shown.keys(), loc="outside right center", frameon=False)
    return figure


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=100, quick=2)
    table = pd.DataFrame(filters() + simulated(args, args.quick))
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
