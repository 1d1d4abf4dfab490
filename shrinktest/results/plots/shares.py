"""Pictures of designs with several factors: the share of every term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shrinktest._check import percent
from shrinktest.results.plots.axes import BLUE, GRAY, draw_intervals, fitted, short, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = 30  # of the name of a term


def plot_shares(result: Any, ax: Axes | None = None) -> Axes:
    """Draw partial omega squared of every term with its interval; terms that matter are blue."""
    rows = []
    for row, rejected in zip(result.rows(), result.reject(), strict=True):
        limits = (row["low"], row["high"])
        color = BLUE if rejected else GRAY
        rows.append((short(row["term"], _LETTERS), row["share"], limits, color))
    ax = draw_intervals(ax, rows, 0.0)
    intervals = f"{percent(result.confidence)} intervals"
    label = f"proportion of the variation left by the other terms ({intervals})"
    ax.set_xlabel(fitted(label, ax))
    title(ax, f"Effects on {result.response}", right=True)
    return ax
