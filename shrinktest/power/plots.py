"""Pictures of power studies; matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import level, percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, ink, legend, legend_beside, title
from shrinktest.results.info import kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.power.result import PowerStudyResult
    from shrinktest.power.sample_size_result import SampleSizeResult

# Okabe and Ito's palette, and a marker for each, so that no curve is told apart by colour alone
COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
MARKERS = "osD^vP*X"
_INSIDE = 4  # curves up to which a legend inside the axes leaves them room


def look(ax: Axes, i: int) -> dict[str, Any]:
    """Colour and marker of a curve; of further ones than there are colours, the colours with other markers."""
    colour = COLOURS[i % len(COLOURS)]
    other = (i + i // len(COLOURS)) % len(MARKERS)
    return {"color": ink(ax) if colour == "#000000" else colour, "marker": MARKERS[other]}


def plot_power(result: PowerStudyResult, ax: Axes | None, alpha: float) -> Axes:
    """Rejection rates against n: solid under the design, dashed under its null twin."""
    from dataclasses import replace

    from matplotlib.ticker import MaxNLocator

    at = replace(result, alphas=(level(alpha),))
    powers, levels = at.table, at.size_table
    ax = axes(ax)
    for i, label in enumerate(result.estimators):
        style: Any = {**look(ax, i), "markersize": 5}
        curve, null = (table[table["estimator"] == label] for table in (powers, levels))
        ax.plot(curve["n"], curve["power"], label=label, **style)
        ax.fill_between(curve["n"], curve["low"], curve["high"], color=style["color"], alpha=0.15, linewidth=0)
        ax.plot(null["n"], null["level"], linestyle="--", linewidth=1, **style)
    ax.axhline(alpha, color=GREY, linestyle=":", label=f"α = {alpha:g}")
    ax.set_xlabel(f"n, {kind_of(result.design.test).counted}")
    ax.set_ylabel(f"rejections at level {alpha:g}" + (" (dashed: null holds)" if len(levels) else ""))
    ax.set_ylim(-0.02, 1.02)
    design = repr(result.design)
    title(ax, design if len(design) <= 70 else f"{design[:67]}...")
    if ax.get_xscale() == "linear":  # other scales of axes of the user's have ticks of their own
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    ax.spines[["top", "right"]].set_visible(False)
    if len(result.estimators) > _INSIDE:
        legend_beside(ax)
    else:
        legend(ax, frameon=False)
    return ax


def plot_sample_size(result: SampleSizeResult, ax: Axes | None) -> Axes:
    """The fitted power curve, the trials, and the solution with its interval."""
    ax = axes(ax)
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    table = result.table
    sizes = np.geomspace(table["n"].min(), max(table["n"].max(), result.n), 200)
    ax.plot(sizes, result.fitted_power(sizes), color=BLUE, label="fitted power")
    errors = [table["power"] - table["low"], table["high"] - table["power"]]
    ax.errorbar(table["n"], table["power"], errors, fmt="o", color=GREY, label="simulated,\n95% intervals")
    ax.axhline(result.power, color=GREY, linestyle=":")
    ax.axvline(result.n, color=ORANGE, label=f"n = {result.n}")
    if result.low < result.high:  # else it is the smallest size that can be tested
        label = f"{percent(result.confidence)} interval"
        low, high = (np.ceil(limit) for limit in (result.low, result.high))  # whole numbers, as the answer is
        ax.axvspan(low, min(high, sizes[-1]), color=ORANGE, alpha=0.15, label=label)
    ax.set(xscale="log", ylim=(0, 1.02), xlabel="sample size n", ylabel=f"power at level {result.alpha:g}")
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2.5, 0.4)))  # no more than there is room for
    ax.set_title(f"{result.estimator}, {result.design!r}", fontsize="medium", wrap=True, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    legend_beside(ax)
    return ax
