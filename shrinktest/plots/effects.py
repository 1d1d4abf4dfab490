"""Pictures of effects: how different every two of several samples are, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, percent
from shrinktest.plots.along import short
from shrinktest.plots.axes import BLUE, GREY, axes, ink, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("auc", "distance")
_MOST = 24  # pairs whose names can be read
_LETTERS = 24  # of a name


def plot_pairs(effect: Any, ax: Axes | None = None, measure: str = "auc") -> Axes:
    """A measure of every two samples of a KSampleEffect with its interval, the most different at the top."""
    choice(measure, MEASURES, "measure")
    pairs = [one for one in effect.pairs.values() if np.isfinite(getattr(one, measure))]
    if not pairs:
        raise ValueError(f"no {measure} was estimated, so that there is nothing to plot")
    every, pairs = len(pairs), sorted(pairs, key=lambda one: -float(getattr(one, measure)))[:_MOST]
    ax = axes(ax)
    none = 0.5 if measure == "auc" else 0.0
    for place, one in enumerate(pairs):
        low, high = getattr(one, f"{measure}_interval")
        colour = BLUE if low > none else GREY
        ax.plot([low, high], [place, place], color=colour, linewidth=2.0)
        ax.plot([getattr(one, measure)], [place], "o", color=colour)
    ax.axvline(none, color=ink(ax), linewidth=0.8)
    named = [" and ".join(short(name, _LETTERS) for name in one.names) for one in pairs]
    ax.set_yticks(range(len(pairs)), named, fontsize="small", parse_math=False)
    ax.invert_yaxis()
    what = "probability to tell which is which" if measure == "auc" else "distance"
    # where names leave little room for the axes, there is room at the left of them
    ax.set_xlabel(f"{what} ({percent(effect.confidence)} intervals, each by itself)", loc="right")
    shown = f", {len(pairs)} of {every} pairs" if len(pairs) < every else ""
    title(ax, f"how different every two samples are{shown}", right=True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
