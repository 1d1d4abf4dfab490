"""Pictures of risk studies (matplotlib, imported late)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shrinktest._check import choice, counted
from shrinktest.plots.axes import GREY, axes, legend, title
from shrinktest.power.plots import COLOURS, MARKERS, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.risk.path import LossPath
    from shrinktest.risk.result import RiskStudyResult


def plot_risk(result: RiskStudyResult, ax: Axes | None, kernel: str | None, d: int | None) -> Axes:
    """Improvement over the plain average, in percent of its risk, with intervals."""
    table = result.table
    kernel = choice(kernel or next(iter(result.kernels)), tuple(result.kernels), "kernel")
    table = table[table["kernel"] == kernel]
    sizes, dimensions = (sorted(set(table[name])) for name in ("n", "d"))
    if d is not None:
        choice(str(d), map(str, dimensions), "d")
    along = "d" if d is None and len(sizes) == 1 and len(dimensions) > 1 else "n"
    if along == "n":
        table = table[table["d"] == (dimensions[0] if d is None else d)]
    ax = axes(ax)
    for i, label in enumerate(list(result.estimators)[1:]):
        curve = table[table["estimator"] == label]
        style: Any = {**look(ax, i), "markersize": 5}
        dashed = "--" if label == "oracle" else "-"
        ax.plot(curve[along], curve["improvement"], label=label, linestyle=dashed, **style)
        ends = curve["improvement_low"], curve["improvement_high"]
        ax.fill_between(curve[along], *ends, color=style["color"], alpha=0.15, linewidth=0)
    ax.axhline(0.0, color=GREY, linestyle=":", label=f"{result.baseline} (above: closer to the truth)")
    fixed = "n" if along == "d" else "d"
    ax.set_xlabel({"n": "sample size n", "d": "dimension d"}[along])
    ax.set_xticks(sorted(set(table[along])))
    ax.set_ylabel(f"risk saved, % of the risk of {result.baseline}", parse_math=False)
    trials = sorted(set(table["trials"]))
    sets = counted(int(trials[0]), "data set")
    title(ax, f"{kernel} kernel, {fixed} = {table[fixed].iloc[0]}, {sets}; bands: 95% intervals")
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, frameon=False, fontsize="small")
    return ax


def plot_path(path: LossPath, ax: Axes | None, relative: bool) -> Axes:
    """Mean loss, or improvement over the plain average, against the amount, with its interval."""
    ax = axes(ax)
    table, references = path.table.sort_values("amount"), path.references
    columns = ("improvement", "improvement_low", "improvement_high") if relative else ("loss", "low", "high")
    value, low, high = columns
    style: Any = {"color": COLOURS[0], "marker": MARKERS[0], "markersize": 4}
    ax.plot(table["amount"], table[value], label=f"{path.estimator!r} at this {path.parameter}", **style)
    ax.fill_between(table["amount"], table[low], table[high], color=COLOURS[0], alpha=0.15, linewidth=0)
    for i, (label, row) in enumerate(references.iterrows()):
        style = {"color": (GREY, COLOURS[1])[i], "linestyle": (":", "--")[i]}
        ax.axhline(row[value], label=f"{label}: {row[value]:.4g}", **style)
    best = table.loc[table["loss"].idxmin()]
    ax.plot(best["amount"], best[value], "*", color=COLOURS[1], markersize=12, label=f"best: {best['amount']:.4g}")
    if table["amount"].min() > 0.0 and table["amount"].max() >= 30.0 * table["amount"].min():
        ax.set_xscale("log")
    if not relative and table["loss"].max() >= 10.0 * table["loss"].min() > 0.0:
        ax.set_yscale("log")
    ax.set_xlabel(path.parameter)
    ax.set_ylabel("risk saved, % of the risk of kme" if relative else "mean loss")
    row = table.iloc[0]
    title(ax, f"n = {row['n']}, d = {row['d']}, {counted(int(row['trials']), 'data set')}; band: 95% interval")
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, frameon=False, fontsize="small")
    return ax
