"""Pictures of designs with several factors: the means of cells in a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shrinktest.results.plots.axes import (
    BLUE,
    GRAY,
    ORANGE,
    axes,
    fitted,
    legend_beside,
    open_frame,
    short,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.cell_means import CellMeans

# further colors of Okabe and Ito
_COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", GRAY)
_DASHES = ("-", "--", ":", "-.")
_NAMED = 24  # cells whose levels are written beside them
_LETTERS = 18  # of a level


def plot_cells(cells: CellMeans, response: str, ax: Axes | None = None) -> Axes:
    """Draw the means of cells by their first two principal coordinates.

    Lines join the levels of one factor; without an interaction, they are about parallel.
    """
    ax = axes(ax)
    for i, (name, members) in enumerate(cells.lines):
        look: dict[str, Any] = {
            "color": _COLORS[i % len(_COLORS)],
            "linestyle": _DASHES[i // len(_COLORS) % len(_DASHES)],
        }
        place = cells.points[members]
        ax.plot(place[:, 0], place[:, 1], "o", markersize=5.0, label=short(name) or None, **look)
        if len(cells.points) > _NAMED:
            continue
        for (x, y), cell in zip(place, members, strict=True):
            ax.annotate(
                short(cells.levels[cell], _LETTERS),
                (x, y),
                xytext=(4.0, 4.0),
                textcoords="offset points",
                fontsize="small",
                color=look["color"],
                parse_math=False,
            )
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")
    labels = [
        f"coordinate {k} ({100.0 * share:.0f}% of squared distances)"
        for k, share in enumerate(cells.shares, start=1)
    ]
    ax.set_xlabel(fitted(labels[0], ax))
    ax.set_ylabel(fitted(labels[1], ax, upright=True))
    if len(cells.lines) > 1:
        legend_beside(ax)
    title(ax, f"Means of {response}, along {cells.along}")
    return open_frame(ax)
