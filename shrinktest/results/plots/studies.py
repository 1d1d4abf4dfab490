"""Pictures of studies: power, sample size, risk and paths of shrinkage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, counted, percent
from shrinktest.results.plots.axes import (
    BLUE,
    GRAY,
    ORANGE,
    axes,
    ink,
    legend,
    legend_beside,
    open_frame,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, and a marker for each, so that no curve is told apart by color alone
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
MARKERS = "osD^vP*X"
_IMPROVEMENT = ("improvement", "improvement_low", "improvement_high")
_INSIDE = 4  # curves up to which a legend inside the axes leaves them room


def look(ax: Axes, i: int) -> dict[str, Any]:
    """Return color and marker of a curve.

    Of further ones than there are colors, the colors with other markers.
    """
    color = COLORS[i % len(COLORS)]
    other = (i + i // len(COLORS)) % len(MARKERS)
    return {
        "color": ink(ax) if color == "#000000" else color,
        "marker": MARKERS[other],
        "markersize": 5,
    }


def _draw_curve(ax: Axes, table: Any, columns: Sequence[str], *, color: Any, **style: Any) -> None:
    """Draw a column of a table over another, and the band between two more."""
    x, value, low, high = (table[name] for name in columns)
    ax.plot(x, value, color=color, **style)
    ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)


def plot_power(result: Any, ax: Axes | None, counted_as: str) -> Axes:
    """Draw rejection rates at the smallest level against n.

    Lines are solid under the design, dashed under its null twin.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    alpha = result.alphas[0]
    tables = [table[table["alpha"] == alpha] for table in (result.table, result.size_table)]
    for i, label in enumerate(result.estimators):
        style: Any = look(ax, i)
        curve, null = (table[table["estimator"] == label] for table in tables)
        _draw_curve(ax, curve, ("n", "power", "low", "high"), label=label, **style)
        ax.plot(null["n"], null["level"], linestyle="--", linewidth=1, **style)
    ax.axhline(alpha, color=GRAY, linestyle=":", label=f"α = {alpha:g}")
    ax.set_xlabel(f"n, {counted_as}")
    ax.set_ylabel(
        f"rejections at level {alpha:g}" + (" (dashed: null holds)" if len(tables[1]) else "")
    )
    ax.set_ylim(-0.02, 1.02)
    design = repr(result.design)
    title(ax, design if len(design) <= 70 else f"{design[:67]}...")
    if ax.get_xscale() == "linear":  # other scales of axes of the user's have ticks of their own
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    if len(result.estimators) > _INSIDE:
        legend_beside(ax)
    else:
        legend(ax, frameon=False)
    return open_frame(ax)


def plot_sample_size(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the fitted power curve, the trials, and the solution (matplotlib)."""
    ax = axes(ax)
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    table = result.table
    sizes = np.geomspace(table["n"].min(), max(table["n"].max(), result.n), 200)
    limits = None
    if result.low < result.high:  # else it is the smallest size that can be tested
        low = np.ceil(result.low)  # whole numbers, as the answer is
        limits = low, min(np.ceil(result.high), sizes[-1])
    _draw_search(result, ax, table["n"], sizes, (f"n = {result.n}", result.n, limits))
    ax.set(xscale="log", xlabel="sample size n")
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_formatter(
        LogFormatter(minor_thresholds=(2.5, 0.4))
    )  # no more than there is room for
    legend_beside(ax)
    return open_frame(ax)


def plot_detectable_effect(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the fitted power curve, and the effect with its interval (matplotlib)."""
    ax = axes(ax)
    tried = result.table["effect"]
    effects = np.linspace(tried.min(), tried.max(), 200)
    limits = max(result.low, effects[0]), min(result.high, effects[-1])
    label = f"{result.parameter} = {result.effect:.3g}"
    _draw_search(result, ax, tried, effects, (label, result.effect, limits))
    ax.set(xlabel=result.parameter)
    legend_beside(ax)
    return open_frame(ax)


def _draw_search(result: Any, ax: Axes, tried: Any, points: Any, answer: Any) -> None:
    """Draw power against what was ``tried``, the fitted curve at ``points``, and the answer."""
    table = result.table
    ax.plot(points, result.fitted_power(points), color=BLUE, label="fitted power")
    errors = [table["power"] - table["low"], table["high"] - table["power"]]
    ax.errorbar(
        tried, table["power"], errors, fmt="o", color=GRAY, label="simulated,\n95% intervals"
    )
    ax.axhline(result.power, color=GRAY, linestyle=":")
    label, place, limits = answer
    ax.axvline(place, color=ORANGE, label=label)
    if limits is not None:
        interval = f"{percent(result.confidence)} interval"
        ax.axvspan(*limits, color=ORANGE, alpha=0.15, label=interval)
    ax.set(ylim=(0, 1.02), ylabel=f"power at level {result.alpha:g}")
    ax.set_title(
        f"{result.estimator}, {result.design!r}", fontsize="medium", wrap=True, parse_math=False
    )


def plot_risk(
    result: Any, ax: Axes | None = None, *, kernel: str | None = None, d: int | None = None
) -> Axes:
    """Draw the improvement over the plain average against n or d (matplotlib).

    It is against d if there is one n.
    """
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
        dashed = "--" if label == "oracle" else "-"
        _draw_curve(ax, curve, (along, *_IMPROVEMENT), label=label, linestyle=dashed, **look(ax, i))
    ax.axhline(
        0.0, color=GRAY, linestyle=":", label=f"{result.baseline} (above: closer to the truth)"
    )
    fixed = "n" if along == "d" else "d"
    ax.set_xlabel({"n": "sample size n", "d": "dimension d"}[along])
    ax.set_xticks(sorted(set(table[along])))
    ax.set_ylabel(f"risk saved, % of the risk of {result.baseline}", parse_math=False)
    sets = counted(int(table["trials"].min()), "data set")
    title(ax, f"{kernel} kernel, {fixed} = {table[fixed].iloc[0]}, {sets}; bands: 95% intervals")
    legend(ax, frameon=False, fontsize="small")
    return open_frame(ax)


def plot_path(path: Any, ax: Axes | None = None, *, relative: bool = False) -> Axes:
    """Draw the mean loss or, if ``relative``, the improvement, against the amount.

    The improvement is over the plain average.
    """
    ax = axes(ax)
    table = path.table.sort_values("amount")
    columns = _IMPROVEMENT if relative else ("loss", "low", "high")
    value = columns[0]
    label = f"{path.estimator!r} at this {path.parameter}"
    _draw_curve(
        ax, table, ("amount", *columns), label=label, color=BLUE, marker=MARKERS[0], markersize=4
    )
    for (name, row), color, line in zip(
        path.references.iterrows(), (GRAY, ORANGE), (":", "--"), strict=False
    ):
        ax.axhline(row[value], label=f"{name}: {row[value]:.4g}", color=color, linestyle=line)
    best = table.loc[table["loss"].idxmin()]
    ax.plot(
        best["amount"],
        best[value],
        "*",
        color=ORANGE,
        markersize=12,
        label=f"best: {best['amount']:.4g}",
    )
    if table["amount"].min() > 0.0 and table["amount"].max() >= 30.0 * table["amount"].min():
        ax.set_xscale("log")
    if not relative and table["loss"].max() >= 10.0 * table["loss"].min() > 0.0:
        ax.set_yscale("log")
    ax.set_xlabel(path.parameter)
    ax.set_ylabel("risk saved, % of the risk of kme" if relative else "mean loss")
    row = table.iloc[0]
    title(
        ax,
        f"n = {row['n']}, d = {row['d']}, {counted(int(row['trials']), 'data set')}; band: 95% "
        "interval",
    )
    legend(ax, frameon=False, fontsize="small")
    return open_frame(ax)
