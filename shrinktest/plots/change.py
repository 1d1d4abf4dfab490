"""Where a series changes: the distance at every cut, and the places that are not ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_change(result: Any, ax: Axes | None = None) -> Axes:
    """The standardised distance over the rows, what permutations reach, the place of the change and its interval."""
    if result.location is None:
        raise ValueError("this result has no place of a change to draw: the data had missing values")
    ax = axes(ax)
    rows = np.arange(len(result.curve))
    at = list(result.times) if _has_axis(result.times) else rows[:-1]
    shown = rows[:-1][np.isfinite(result.curve[:-1])]
    one = not hasattr(result, "members")
    ax.plot([at[row] for row in shown], result.curve[shown], color=BLUE, label="distance, standardised")
    critical = result.critical_value() if one else np.nan
    if np.isfinite(critical):
        ax.axhline(critical, color=GREY, linestyle="--", label=f"critical value at level {result.alpha:g}")
    ends = [(result.location, result.interval), (result.until, result.until_interval)]
    for i, (place, interval) in enumerate(ends):
        if place is None:
            continue
        if interval is not None:
            low, high = (at[min(row, len(at) - 1)] for row in interval)
            ax.axvspan(low, high, color=ORANGE, alpha=0.2, label=None if i else f"{result.confidence:.0%} interval")
        what = None if i else f"first changed row, {result.when}; p = {result.pvalue:.4g}"
        ax.axvline(at[min(place, len(at) - 1)], color=ORANGE, linewidth=2, label=what)
    ax.set_xlabel("time" if _has_axis(result.times) else "first row after the cut")
    ax.set_ylabel("distance before and after")
    kernel = (result if one else result.best).kernel
    ax.set_title(f"change-point test, {getattr(kernel, 'label', kernel)}", wrap=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(edgecolor="none", framealpha=0.85)
    return ax


def _has_axis(times: tuple[Any, ...]) -> bool:
    """Whether times can be drawn along an axis: numbers and dates, but not texts or periods."""
    return bool(times) and not isinstance(times[0], str) and not hasattr(times[0], "freqstr")
