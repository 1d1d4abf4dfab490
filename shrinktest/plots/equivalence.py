"""Pictures of what lies below a margin: estimates with their limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, ink, legend_below, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_equivalence(result: Any, ax: Axes | None = None) -> Axes:
    """The estimate of an EquivalenceResult with its upper limit, beside the margin."""
    ax = axes(ax)
    nothing = 0.5 if result.scale == "auc" else 0.0
    what = "dependence" if result.scale == "dependence" else "difference"
    colour = BLUE if result.reject() else GREY
    if not math.isnan(result.upper):
        said = f"up to the upper limit, with confidence {1.0 - result.alpha:.4g}"
        ax.plot([result.estimate, result.upper], [0.0, 0.0], color=colour, linewidth=2.0, label=said)
    ax.plot([result.estimate], [0.0], "o", color=colour, label="estimate")
    ax.axvline(nothing, color=ink(ax), linewidth=0.8, label=f"no {what}")
    ax.axvline(result.margin, color=ORANGE, linestyle="--", label="margin")
    ax.set_yticks([])
    ax.set_xlabel(result.called)
    title(ax, result.answer)
    ax.spines[["top", "right", "left"]].set_visible(False)
    legend_below(ax)
    return ax
