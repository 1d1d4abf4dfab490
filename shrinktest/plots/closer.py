"""Pictures of which model is nearer: differences of distances, with their intervals."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._validate import percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_closer(result: Any, ax: Axes | None = None) -> Axes:
    """The difference of a CloserResult with its interval, and which side of zero speaks for which sample."""
    ax = axes(ax)
    _, y, z = result.names
    _interval(ax, 0.0, result.difference, result.interval, BLUE if result.reject() else GREY)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks([])
    near = "nearer to" if result.measure == "distance" else "more on"
    ax.set_xlabel(f"← {near} {y}        difference        {near} {z} →")
    ax.set_title(fill(result.answer, 70))
    return ax


def plot_closer_matrix(result: Any, ax: Axes | None = None) -> Axes:
    """Of every model of a CloserMatrixResult how much further away it is than the nearest, with its interval."""
    ax = axes(ax)
    nearest, *others = result.ranked
    for place, name in enumerate(others, 1):
        test = next(one for one in result.tests if {nearest, name} == set(one.names[1:]))
        sign = 1.0 if test.names[1] == name else -1.0
        limits = sorted(sign * limit for limit in test.interval)
        _interval(ax, place, sign * test.difference, limits, GREY if name in result.best else ORANGE)
    ax.plot([0.0], [0.0], "o", color=BLUE)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(np.arange(len(result.ranked)), result.ranked)
    ax.invert_yaxis()
    what = "further away than" if result.measure == "distance" else "less dependence than on"
    ax.set_xlabel(f"{what} {nearest} ({percent(test.confidence)} intervals, each by itself)")
    ax.set_title(fill(result.answer, 70))
    return ax


def _interval(ax: Axes, place: float, value: float, limits: Any, colour: str) -> None:
    """A point and its interval; a limit that is infinite ends at the border of the picture."""
    known = [limit for limit in limits if np.isfinite(limit)]
    reach = max((abs(limit - value) for limit in known), default=1.0)
    low, high = (limit if np.isfinite(limit) else value + side * 2.0 * reach
                 for limit, side in zip(limits, (-1.0, 1.0), strict=True))  # fmt: skip
    if known:
        ax.plot([low, high], [place, place], color=colour, linewidth=2.0)
    ax.plot([value], [place], "o", color=colour)
