"""Pictures of a monitor: evidence after every batch, and the column that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest.results.plots.axes import (
    BLUE,
    GRAY,
    ORANGE,
    SETTINGS,
    legend,
    open_frame,
    pyplot,
    short,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE = 5.0  # inches
_HIGH = 2.05  # inches of each part
_LEAST = 0.01  # evidence that is drawn
_WINDOW = 50  # rows of a sliding median or share
_MOST_TICKS = 200  # looks that are marked


def plot_evidence(result: Any, figure: Figure | None = None) -> np.ndarray:
    """Draw evidence after every batch and the column that changed (matplotlib).

    A batch is a look, which is marked: any number of them is allowed for.
    """
    parts = 1 if result.recent is None else 2
    plt = pyplot()
    figure = plt.figure(layout="constrained") if figure is None else figure
    figure.set_size_inches(_WIDE, _HIGH * parts)
    with SETTINGS, plt.rc_context({"text.parse_math": False}):
        grid = figure.subplots(parts, 1, squeeze=False).ravel()
        _draw_evidence(grid[0], result)
        if result.recent is not None:
            _draw_recent(grid[1], result)
    return np.asarray(grid)


def _draw_evidence(ax: Axes, result: Any) -> None:
    rows = np.array([look["rows"] for look in result.history])
    evidence = np.array([look["evidence"] for look in result.history])
    evidence = np.maximum(evidence, _LEAST)
    marker = "|" if len(rows) <= _MOST_TICKS else ""
    ax.plot(rows, evidence, color=BLUE, marker=marker, label="largest evidence in a batch")
    ax.set_yscale("log")
    what = "2 × run length" if result.alpha is None else "1 / alpha"
    ax.axhline(result.threshold, color=GRAY, linestyle="--", label=f"alarm at {what}")
    if result.alarm:
        start = result.alarm_row if result.change_row is None else result.change_row
        label = "from the estimated change to the alarm"
        ax.axvspan(start, result.alarm_row, color=ORANGE, alpha=0.3, label=label)
    ax.set_xlabel("rows seen")
    ax.set_ylabel("evidence")
    named = f": {short(result.by, 40)}" if result.alarm else ""
    title(ax, f"{'alarm' if result.alarm else 'no alarm'}{named}")
    legend(ax, edgecolor="none", framealpha=0.85, fontsize="small", loc="upper left")
    open_frame(ax)


def _draw_recent(ax: Axes, result: Any) -> None:
    recent = result.recent
    width = min(_WINDOW, len(recent.values))
    windows = np.lib.stride_tricks.sliding_window_view(recent.values, width)
    share = bool(recent.level)
    middle = windows.mean(axis=1) if share else np.nanmedian(windows, axis=1)
    what = f"proportion of {recent.level}" if share else "median"
    ax.plot(recent.rows[width - 1 :], middle, color=BLUE)
    if result.change_row is not None:
        ax.axvspan(result.change_row, result.alarm_row, color=ORANGE, alpha=0.3)
    ax.set_xlabel("row")
    ax.set_ylabel(what)
    title(ax, f"{short(recent.name, 40)}: {what} of {width} rows")
    open_frame(ax)
