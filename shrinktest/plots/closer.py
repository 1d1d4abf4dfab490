"""Pictures of which model is nearer: differences of distances, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, fitted, ink, letters, short, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST, _LETTERS = 24, 30  # models whose names can be read, and letters of a name
_LINES = 3  # of a title


def plot_closer(result: Any, ax: Axes | None = None) -> Axes:
    """The difference of a CloserResult with its interval, and which side of zero speaks for which sample."""
    ax = axes(ax)
    _, y, z = result.names
    _intervals(ax, [(0.0, result.difference, result.interval, BLUE if result.reject() else GREY)])
    ax.set_yticks([])
    near = "nearer to" if result.measure == "distance" else "more on"
    sides = [f"← {near} {y}", "difference", f"{near} {z} →"]
    beside = (" " * 8).join(sides)
    wide = len(beside) > letters(ax)
    ax.set_xlabel("\n".join(fitted(side, ax) for side in sides) if wide else beside, parse_math=False)
    title(ax, result.answer)
    return ax


def plot_closer_matrix(result: Any, ax: Axes | None = None) -> Axes:
    """Of every model of a CloserMatrixResult how much further away it is than the nearest, with its interval."""
    ax = axes(ax)
    nearest, *others = result.ranked[:_MOST]
    drawn = []
    for place, name in enumerate(others, 1):
        test = next(one for one in result.tests if {nearest, name} == set(one.names[1:]))
        sign = 1.0 if test.names[1] == name else -1.0
        limits = sorted(sign * limit for limit in test.interval)
        drawn.append((place, sign * test.difference, limits, GREY if name in result.best else ORANGE))
    _intervals(ax, drawn)
    ax.plot([0.0], [0.0], "o", color=BLUE)
    named = [short(name, _LETTERS) for name in (nearest, *others)]
    ax.set_yticks(np.arange(len(named)), named, fontsize="small", parse_math=False)
    ax.invert_yaxis()
    what = "further away than" if result.measure == "distance" else "less dependence than on"
    below = f"{what} {named[0]} ({percent(test.confidence)} intervals, each by itself)"
    ax.set_xlabel(below, loc="right", parse_math=False)  # where names leave little room, there is room at the left
    shown = f" ({len(named)} of {len(result.names)} models shown)" if len(named) < len(result.names) else ""
    title(ax, f"{shorten(result.answer, _LINES * letters(ax), placeholder=' ...')}{shown}", right=True)
    return ax


def _intervals(ax: Axes, drawn: Sequence[tuple[float, float, Any, str]]) -> None:
    """Points and their intervals beside zero; a limit that is infinite ends at the border of the picture.

    ``drawn`` has for each the place, the value, the limits and the colour.
    """
    without_end = []
    for place, value, limits, colour in drawn:
        known = [limit for limit in limits if np.isfinite(limit)]
        if known:
            reach = 2.0 * max(abs(limit - value) for limit in known)
            ends = np.clip(limits, value - reach, value + reach)
            (line,) = ax.plot(ends, [place, place], color=colour, linewidth=2.0)
            without_end += [(line, limits)] if len(known) < len(limits) else []
        ax.plot([value], [place], "o", color=colour)
    ax.axvline(0.0, color=ink(ax), linewidth=0.8)
    if without_end:
        borders = ax.get_xlim()
        for line, limits in without_end:
            line.set_xdata(np.clip(limits, min(borders), max(borders)))
        ax.set_xlim(borders)
