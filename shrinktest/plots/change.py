"""Pictures of where a series changes: the distance at every cut, and the places that are not ruled out."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, fitted, legend_below, open_frame, ticks, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}  # of durations
_COLUMNS = 8  # that are drawn
_APART = 0.12  # of the axis, from which p-values can be written side by side
_ALIKE = 3.0  # ratio of spreads up to which columns are drawn in one unit


def plot_change(result: Any, ax: Axes | None = None) -> Axes:
    """The standardised distance over the rows, what permutations reach, the place of the change and its interval."""
    if result.location is None:
        why = "the data had missing values" if result.pvalue != result.pvalue else "the combined result has it"
        raise ValueError(f"this result has no place of a change to draw: {why}")
    ax, epidemic, combined = axes(ax), result.until is not None, hasattr(result, "members")
    first = "first row of the interval" if epidemic else "first row after the cut"
    at, label = _axis(result.times, len(result.curve) - 1, first)
    shown = np.flatnonzero(np.isfinite(result.curve[:-1]))
    ax.plot([at[row] for row in shown], result.curve[shown], color=BLUE, label="distance, standardised")
    critical = np.nan if combined else result.critical_value()
    if np.isfinite(critical):
        ax.axhline(critical, color=GREY, linestyle="--", label=f"critical value at level {result.alpha:g}")
    names = ("first changed row", "first row behind") if epidemic else ("first row after the change",)
    ends = [(result.location, result.interval), (result.until, result.until_interval)]
    for i, (place, interval) in enumerate(ends[: len(names)]):
        _span(ax, at, interval, None if i else result.confidence)
        what = f"{names[i]}, {result.named(place)}" + ("" if i else f"; p = {result.pvalue:.4g}")
        ax.axvline(at[min(place, len(at) - 1)], color=ORANGE, linewidth=2, label=what)
    _label_rows(ax, result.times, label)
    ax.set_ylabel("distance outside and inside" if epidemic else "distance before and after")
    kernel = (result.best if combined else result).kernel
    title(ax, f"change-point test, {getattr(kernel, 'label', kernel)}", "large")
    legend_below(ax)
    return open_frame(ax)


def plot_changes(result: Any, ax: Axes | None = None) -> Axes:
    """The rows, column by column, or without them the distance at every cut; changes and their intervals."""
    ax, n = axes(ax), result.n_observations[0]
    at, label = _axis(result.times, n, "row")
    if result.points is None:
        finite = np.flatnonzero(np.isfinite(result.curve[:n]))
        ax.plot([at[row] for row in finite], result.curve[finite], color=BLUE)
        ax.set_ylabel("distance before and after")
    else:
        _plot_rows(ax, at, result.points, result.columns)
    places = [float(ax.convert_xunits(at[row])) for row in result.locations]
    apart = len(places) < 2 or np.diff(places).min() > _APART * float(np.ptp(ax.convert_xunits(at)))
    largest = "" if apart else f", largest p = {result.adjusted.max():.2g}"
    both = zip(result.locations, result.intervals, result.adjusted, strict=True)
    for i, (row, interval, adjusted) in enumerate(both):
        _span(ax, at, interval, None if i else result.confidence)
        ax.axvline(at[row], color=ORANGE, linewidth=2, label=None if i else f"first row after a change{largest}")
        if apart:
            place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            ax.annotate(f"p = {adjusted:.2g}", (at[row], 1.0), (0.0, 2.0), fontsize=8, **place)
    _label_rows(ax, result.times, label)
    title(ax, f"{counted(len(result), 'change')} at level {result.alpha:g}", "large", pad=14)
    if len(result):
        legend_below(ax)
    return open_frame(ax)


def _plot_rows(ax: Axes, at: Any, points: np.ndarray, names: Any) -> None:
    spread, single = points.std(axis=0), points.shape[1] == 1
    alike = single or spread.max() <= _ALIKE * spread.min()
    shown = points if alike else (points - points.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    for column in shown.T[:_COLUMNS]:
        ax.plot(at, column, linewidth=0.9, color=BLUE if single else None)
    label = names[0] if single and names else "rows"
    label += f", {_COLUMNS} of {points.shape[1]} numbers of each" if points.shape[1] > _COLUMNS else ""
    ax.set_ylabel(fitted(label + ("" if alike else ", in standard deviations"), ax, upright=True), parse_math=False)


def _span(ax: Axes, at: Any, interval: Any, confidence: float | None) -> None:
    """Shade the rows of an interval, with an entry in the legend if a confidence is given."""
    if interval is not None:
        low, high = (at[min(row, len(at) - 1)] for row in interval)
        label = None if confidence is None else f"{percent(confidence)} interval"
        ax.axvspan(low, high, color=ORANGE, alpha=0.2, label=label)


def _axis(times: tuple[Any, ...], n: int, otherwise: str) -> tuple[Any, str]:
    """Positions of n rows along the axis, and its label: by times, if these are no texts or periods."""
    if not times or isinstance(times[0], str) or hasattr(times[0], "freqstr"):
        return np.arange(n), otherwise
    if not isinstance(times[0], timedelta | np.timedelta64):
        return list(times), "time"
    seconds = np.array(times, dtype="timedelta64[ns]") / np.timedelta64(1, "s")
    unit = next((name for name, length in _UNITS.items() if np.ptp(seconds) >= length), "seconds")
    return seconds / _UNITS[unit], f"time, in {unit}"


def _label_rows(ax: Axes, times: tuple[Any, ...], label: str) -> None:
    """Label the x axis, with ticks that are dates if the times are."""
    if times and isinstance(times[0], date | np.datetime64) and not hasattr(times[0], "freqstr"):
        ticks(ax.xaxis, "date", getattr(times[0], "tzinfo", None))
    ax.set_xlabel(label)
