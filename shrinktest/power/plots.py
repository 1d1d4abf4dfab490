"""Pictures of power studies; matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._validate import level, percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, legend
from shrinktest.results.kinds import kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.power.result import PowerStudyResult
    from shrinktest.power.sample_size_result import SampleSizeResult

# Okabe and Ito's palette, and markers, so that no curve is told apart by colour alone; one more of these than colours,
# so that a ninth curve does not look like the first
COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
MARKERS = "osD^vP*Xp"


def plot_power(result: PowerStudyResult, ax: Axes | None, alpha: float) -> Axes:
    """Rejection rates against n: solid under the design, dashed under its null twin."""
    from dataclasses import replace

    at = replace(result, alphas=(level(alpha),))
    powers, levels = at.table, at.size_table
    ax = axes(ax)
    for i, label in enumerate(result.estimators):
        style: Any = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "markersize": 5}
        curve, null = (table[table["estimator"] == label] for table in (powers, levels))
        ax.plot(curve["n"], curve["power"], label=label, **style)
        ax.fill_between(curve["n"], curve["low"], curve["high"], color=style["color"], alpha=0.15, linewidth=0)
        ax.plot(null["n"], null["level"], linestyle="--", linewidth=1, **style)
    ax.axhline(alpha, color=GREY, linestyle=":", label=f"α = {alpha:g}")
    ax.set_xlabel(f"n, {kind_of(result.design.test).counted}")
    ax.set_ylabel(f"rejections at level {alpha:g}" + (" (dashed: null holds)" if len(levels) else ""))
    ax.set_ylim(-0.02, 1.02)
    title = repr(result.design)
    ax.set_title(title if len(title) <= 70 else f"{title[:67]}...", fontsize="medium", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, frameon=False)
    return ax


def plot_sample_size(result: SampleSizeResult, ax: Axes | None) -> Axes:
    """The fitted power curve, the trials, and the solution with its interval."""
    ax = axes(ax)
    from matplotlib.ticker import ScalarFormatter

    table = result.table
    sizes = np.geomspace(table["n"].min(), max(table["n"].max(), result.n), 200)
    ax.plot(sizes, result.fitted_power(sizes), color=BLUE, label="fitted power")
    errors = [table["power"] - table["low"], table["high"] - table["power"]]
    ax.errorbar(table["n"], table["power"], errors, fmt="o", color=GREY, label="simulated,\n95% intervals")
    ax.axhline(result.power, color=GREY, linestyle=":")
    ax.axvline(result.n, color=ORANGE, label=f"n = {result.n}")
    if result.low < result.high:  # else it is the smallest size that can be tested
        label = f"{percent(result.confidence)} interval"
        ax.axvspan(result.low, min(result.high, sizes[-1]), color=ORANGE, alpha=0.15, label=label)
    ax.set(xscale="log", ylim=(0, 1.02), xlabel="sample size n", ylabel=f"power at level {result.alpha:g}")
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_formatter(ScalarFormatter())
    ax.set_title(f"{result.estimator}, {result.design!r}", fontsize="medium", wrap=True, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.figure.get_layout_engine() is None:  # nothing would make room beside the axes
        ax.legend(edgecolor="none", framealpha=0.85)
    else:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
