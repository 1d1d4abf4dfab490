"""Where a series changes: the distance at every cut, and the places that are not ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._validate import counted, percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 8  # that are drawn
_ALIKE = 3.0  # times as far spread as another: columns in one unit


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
    epidemic = result.until is not None
    said = ("first changed row", "first row behind") if epidemic else ("first row after the change",)
    ends = [(result.location, result.interval), (result.until, result.until_interval)]
    for i, (place, interval) in enumerate(ends):
        if place is None:
            continue
        if interval is not None:
            low, high = (at[min(row, len(at) - 1)] for row in interval)
            ax.axvspan(
                low, high, color=ORANGE, alpha=0.2, label=None if i else f"{percent(result.confidence)} interval"
            )
        what = f"{said[i]}, {result.named(place)}" + ("" if i else f"; p = {result.pvalue:.4g}")
        ax.axvline(at[min(place, len(at) - 1)], color=ORANGE, linewidth=2, label=what)
    first = "first row of the interval" if epidemic else "first row after the cut"
    ax.set_xlabel("time" if _has_axis(result.times) else first)
    ax.set_ylabel("distance outside and inside" if epidemic else "distance before and after")
    kernel = (result if one else result.best).kernel
    ax.set_title(f"change-point test, {getattr(kernel, 'label', kernel)}", wrap=True)
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax)
    return ax


def _has_axis(times: tuple[Any, ...]) -> bool:
    """Whether times can be drawn along an axis: numbers and dates, but not texts or periods."""
    return bool(times) and not isinstance(times[0], str) and not hasattr(times[0], "freqstr")


def plot_changes(result: Any, ax: Axes | None = None) -> Axes:
    """The rows, column by column, or without them the distance at every cut; changes and their intervals."""
    ax = axes(ax)
    n = result.n_observations[0]
    at = list(result.times) if _has_axis(result.times) else np.arange(n)
    points = result.points
    if points is None:
        finite = np.flatnonzero(np.isfinite(result.curve[:n]))
        ax.plot([at[row] for row in finite], result.curve[finite], color=BLUE)
        ax.set_ylabel("distance before and after")
    else:
        spread = points.std(axis=0)
        alike = points.shape[1] == 1 or spread.max() <= _ALIKE * spread.min()
        shown = points if alike else (points - points.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        for column in shown.T[:_COLUMNS]:
            ax.plot(at, column, linewidth=0.9, color=BLUE if points.shape[1] == 1 else None)
        named = result.columns[0] if points.shape[1] == 1 and result.columns else "rows"
        ax.set_ylabel(named if alike else "rows, in standard deviations", parse_math=False)
    for i, (row, interval, adjusted) in enumerate(
        zip(result.locations, result.intervals, result.adjusted, strict=True)
    ):
        if interval is not None:
            low, high = (at[min(place, n - 1)] for place in interval)
            ax.axvspan(
                low, high, color=ORANGE, alpha=0.2, label=None if i else f"{percent(result.confidence)} interval"
            )
        ax.axvline(at[row], color=ORANGE, linewidth=2, label=None if i else "first row after a change")
        ax.annotate(f"p = {adjusted:.2g}", (at[row], 1.0), xycoords=("data", "axes fraction"), fontsize=8)
    ax.set_xlabel("time" if _has_axis(result.times) else "row")
    ax.set_title(f"{counted(len(result), 'change')} at level {result.alpha:g}", wrap=True, pad=14)
    ax.spines[["top", "right"]].set_visible(False)
    if len(result):
        legend_below(ax)
    return ax
