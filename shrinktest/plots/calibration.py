"""Picture of a calibration; matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.calibration import CalibrationResult


def plot_calibration(result: CalibrationResult, ax: Axes | None = None) -> Axes:
    """The empirical distribution function of the p-values, with the pointwise band of uniform ones."""
    from scipy.stats import binom

    ax = axes(ax)
    trials, grid = len(result.pvalues), np.linspace(0.0, 1.0, 201)
    tail = (1.0 - result.confidence) / 2.0
    low, high = (binom.ppf(q, trials, grid) / trials for q in (tail, 1.0 - tail))
    ax.fill_between(
        grid, low, high, color=GREY, alpha=0.3, linewidth=0, label=f"uniform, {percent(result.confidence)} band"
    )
    ordered = np.concatenate([[0.0], np.sort(result.pvalues), [1.0]])
    ax.step(ordered, [*np.arange(trials + 1) / trials, 1.0], where="post", color=BLUE, label=counted(trials, "trial"))
    table = result.table
    wrong = table[table["verdict"] == "anti-conservative"]
    ax.plot(wrong["alpha"], wrong["level"], "o", color=ORANGE, label="anti-conservative" if len(wrong) else None)
    ax.set_xlabel("p-value")
    ax.set_ylabel("share of trials with a p-value at most this")
    title(ax, f"Calibration of {result.name}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax
