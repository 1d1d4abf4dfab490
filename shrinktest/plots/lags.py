"""How dependent two series are at every lag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.lags import LagsResult


def plot_lags(result: LagsResult, ax: Axes | None = None) -> Axes:
    """A stem for every lag, those that are rejected in another colour, and what the largest reaches by chance."""
    ax = axes(ax)
    rejected = result.reject()
    for which, colour, what in ((rejected, ORANGE, f"adjusted p <= {result.alpha:g}"), (~rejected, BLUE, "others")):
        if which.any():
            ax.vlines(result.lags[which], 0.0, result.statistics[which], color=colour, linewidth=3, label=what)
    reach = result.critical_value()
    if np.isfinite(reach):
        ax.axhline(reach, color=GREY, linestyle="--", label=f"largest of all lags, level {result.alpha:g}")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel("lag: rows by which Y comes after X")
    ax.set_ylabel("statistic")
    ax.set_title(f"independence at {len(result)} lags, p = {result.pvalue:.4g}", wrap=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(edgecolor="none", framealpha=0.85)
    return ax
