"""Pictures of where a series changes: distance at every cut, and places not ruled out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.results.plots.axes import (
    BLUE,
    GRAY,
    ORANGE,
    axes,
    fitted,
    legend_below,
    open_frame,
    ticks,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$")
_UNITS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}  # of durations
_COLUMNS = 8  # that are drawn
_APART = 0.12  # of the axis, from which p-values can be written side by side
_ALIKE = 3.0  # ratio of spreads up to which columns are drawn in one unit


def plot_change(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the standardized distance at every cut, and the change (matplotlib).

    The picture shows the location of the change and its interval.
    """
    if result.location is None:
        raise ValueError(
            "this result has no location of a change to draw; use the combined result, or omit "
            "missing rows"
        )
    ax = axes(ax)
    epidemic = result.until is not None
    combined = hasattr(result, "members")
    times = shown_times(result.times)
    first = "first row of the interval" if epidemic else "first row after the cut"
    at = _row_axis(ax, result.times, len(result.curve) - 1, first)
    _draw_curve(ax, at, result.curve, label="distance, standardized")
    critical = np.nan if combined else result.critical_value()
    if np.isfinite(critical):
        ax.axhline(
            critical, color=GRAY, linestyle="--", label=f"critical value at level {result.alpha:g}"
        )
    names = (
        ("first changed row", "first row after it") if epidemic else ("first row after the change",)
    )
    for i, (name, (row, interval)) in enumerate(zip(names, result.place.ends, strict=True)):
        label = f"{name}, {times[row] if row < len(times) else row}" + (
            "" if i else f"; p = {result.pvalue:.4g}"
        )
        _draw_place(ax, at, row, interval, label, None if i else result.confidence)
    ax.set_ylabel("distance outside and inside" if epidemic else "distance before and after")
    kernel = (result.best if combined else result).kernel
    title(ax, f"change-point test, {getattr(kernel, 'label', kernel)}", "large")
    legend_below(ax)
    return open_frame(ax)


def plot_changes(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the rows with the changes and their intervals (matplotlib)."""
    ax = axes(ax)
    at = _row_axis(ax, result.times, result.n_observations[0], "row")
    if result.points is None:
        _draw_curve(ax, at, result.curve)
        ax.set_ylabel("distance before and after")
    else:
        _draw_columns(ax, at, result.points, result.columns)
    places = [float(ax.convert_xunits(at[row])) for row in result.locations]
    apart = len(places) < 2 or np.diff(places).min() > _APART * float(np.ptp(ax.convert_xunits(at)))
    largest = "" if apart else f", largest p = {result.adjusted.max():.2g}"
    changes = zip(result.locations, result.intervals, result.adjusted, strict=True)
    for i, (row, interval, adjusted) in enumerate(changes):
        label = None if i else f"first row after a change{largest}"
        _draw_place(ax, at, row, interval, label, None if i else result.confidence)
        if apart:
            above: dict[str, Any] = {
                "xycoords": ("data", "axes fraction"),
                "textcoords": "offset points",
            }
            ax.annotate(f"p = {adjusted:.2g}", (at[row], 1.0), (0.0, 2.0), fontsize=8, **above)
    title(ax, f"{counted(len(result), 'change')} at level {result.alpha:g}", "large", pad=14)
    if len(result):
        legend_below(ax)
    return open_frame(ax)


def _draw_curve(ax: Axes, at: Any, curve: np.ndarray, label: str | None = None) -> None:
    rows = np.flatnonzero(np.isfinite(curve[:-1]))
    ax.plot([at[row] for row in rows], curve[rows], color=BLUE, label=label)


def _draw_columns(ax: Axes, at: Any, points: np.ndarray, names: Any) -> None:
    spread = points.std(axis=0)
    single = points.shape[1] == 1
    alike = single or spread.max() <= _ALIKE * spread.min()
    shown = (
        points if alike else (points - points.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    )
    for column in shown.T[:_COLUMNS]:
        ax.plot(at, column, linewidth=0.9, color=BLUE if single else None)
    label = names[0] if single and names else "rows"
    label += (
        f", {_COLUMNS} of {points.shape[1]} numbers of each" if points.shape[1] > _COLUMNS else ""
    )
    ax.set_ylabel(
        fitted(label + ("" if alike else ", in standard deviations"), ax, upright=True),
        parse_math=False,
    )


def _draw_place(
    ax: Axes, at: Any, row: int, interval: Any, label: str | None, confidence: float | None
) -> None:
    """Draw a line at a row and shade its interval.

    The legend has an entry if a confidence is given.
    """
    if interval is not None:
        low, high = (at[min(end, len(at) - 1)] for end in interval)
        shaded = None if confidence is None else f"{percent(confidence)} interval"
        ax.axvspan(low, high, color=ORANGE, alpha=0.2, label=shaded)
    ax.axvline(at[min(row, len(at) - 1)], color=ORANGE, linewidth=2, label=label)


def _row_axis(ax: Axes, times: tuple[Any, ...], n: int, label: str) -> Any:
    """Label the x axis by times, or by rows if there are none, or texts or periods.

    Return the positions of n rows.
    """
    at: Any = np.arange(n)
    if times and not isinstance(times[0], str) and not hasattr(times[0], "freqstr"):
        at = list(times)
        label = "time"
        if isinstance(times[0], timedelta | np.timedelta64):
            seconds = np.array(times, dtype="timedelta64[ns]") / np.timedelta64(1, "s")
            unit = next(
                (name for name, length in _UNITS.items() if np.ptp(seconds) >= length), "seconds"
            )
            at = seconds / _UNITS[unit]
            label = f"time, in {unit}"
        elif isinstance(times[0], date | np.datetime64):
            ticks(ax.xaxis, "date", getattr(times[0], "tzinfo", None))
    ax.set_xlabel(label)
    return at


def shown_times(times: Sequence[Any]) -> list[str]:
    """Write times: dates without hours if all are at midnight, numbers with enough decimals.

    Numbers have one decimal more than tells them apart.

    Examples
    --------
    >>> import pandas as pd
    >>> (
    ...     shown_times(pd.to_datetime(["1898", "1899"])),
    ...     shown_times([1898, 1899]),
    ...     shown_times([1 / 7, 2 / 7]),
    ... )
    (['1898-01-01', '1899-01-01'], ['1898', '1899'], ['0.14', '0.29'])
    """
    if any(isinstance(time, float) for time in times):
        places = next(
            (n for n in range(15) if np.unique(np.round(times, n)).size == len(times)), 15
        )
        return [f"{round(time, places + 1):.15g}" for time in times]
    texts = list(map(str, times))
    return (
        [_MIDNIGHT.sub("", text) for text in texts] if all(map(_MIDNIGHT.search, texts)) else texts
    )
