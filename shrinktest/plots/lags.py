"""How dependent two series are at every lag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shrinktest._check import counted
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, legend_below, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.lags import LagsResult


def plot_lags(result: LagsResult, ax: Axes | None = None) -> Axes:
    """A stem for every lag, those that are rejected in another colour, and what the largest reaches by chance."""
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    rejected = result.reject()
    for which, colour, sign in ((rejected, ORANGE, "<="), (~rejected, BLUE, ">")):
        if which.any():
            what = f"adjusted p {sign} {result.alpha:g}" if np.isfinite(result.adjusted[which]).all() else "lags"
            ax.vlines(result.lags[which], 0.0, result.statistics[which], color=colour, linewidth=3, label=what)
    reach = result.critical_value()
    if np.isfinite(reach):
        ax.axhline(reach, color=GREY, linestyle="--", label=f"largest of all lags, level {result.alpha:g}")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("lag: rows by which Y comes after X")
    ax.set_ylabel("statistic")
    chance = f", p = {result.pvalue:.4g}" if np.isfinite(result.pvalue) else ""
    title(ax, f"independence at {counted(len(result), 'lag')}{chance}", "large")
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax)
    return ax
