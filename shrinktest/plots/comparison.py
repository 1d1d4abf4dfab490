"""Pictures of how columns are distributed in two tables; matplotlib is imported when one is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice
from shrinktest.plots.along import UNITS, below_offset, short, ticks
from shrinktest.plots.axes import BLUE, GREY, ORANGE, SETTINGS, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shrinktest.results.comparison import ComparisonResult
    from shrinktest.results.where import Where
    from shrinktest.tables.distribution import Distribution

_MOST = 12  # pictures where nobody says which


def plot_comparison(result: ComparisonResult, columns: Any = None, figure: Figure | None = None) -> np.ndarray:
    """A picture for each of some columns; the axes."""
    known = [one.name for one in result.effects]
    if columns is None:
        shown = list(result.changed())[:_MOST] or [one.name for one in result.ordered][:_MOST]
    else:
        given = [columns] if isinstance(columns, str) or not isinstance(columns, Iterable) else columns
        shown = list(dict.fromkeys(choice(name, known, "a column") for name in given))
    if not shown:
        raise ValueError("columns is empty; name one or more columns, or leave it out")
    across = 2 if len(shown) == 4 else min(len(shown), 3)
    down = math.ceil(len(shown) / across)
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'shrinktest[plot]'") from error
    figure = pyplot.figure(layout="constrained") if figure is None else figure
    figure.set_size_inches(max(3.6 * across, 5.0), 2.6 * down)
    with SETTINGS, matplotlib.rc_context({"text.parse_math": False}):  # a dollar in a name is a dollar
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for ax, name in zip(grid, shown, strict=False):
            draw_distribution(ax, result.distribution(name), result.names)
            title(ax, name)
        for ax in grid[len(shown) :]:
            ax.remove()
        if figure.get_layout_engine() is None:
            figure.set_layout_engine("constrained")  # makes room for a legend that covers nothing
        figure.legend(
            *grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False, fontsize="small"
        )
    return np.asarray(grid[: len(shown)])


def draw_distribution(ax: Axes, found: Distribution, names: Sequence[str]) -> None:
    """Shares in both tables, the first filled, the second as a line: histograms, or bars for categories."""
    first, second = (100.0 * np.nan_to_num(one) for one in (found.first, found.second))
    if found.edges is None:
        _bars(ax, found, first, second, names)
    else:
        ax.stairs(first, found.edges, fill=True, color=BLUE, alpha=0.4, linewidth=0, label=names[0])
        ax.stairs(second, found.edges, color=ORANGE, linewidth=1.6, label=names[1])
        ticks(ax.xaxis, found.kind)
        ends = "the outermost bins count what is beyond them" if found.clipped else ""
        ax.set_xlabel(", ".join(part for part in (UNITS.get(found.kind, ""), ends) if part), fontsize="small")
        if ends:
            below_offset(ax)
        ax.set_ylabel("% of values", fontsize="small")
        ax.set_ylim(0.0, None)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize="small")


def draw_where(ax: Axes, found: Where, names: Sequence[str]) -> None:
    """The witness function of two columns as a map, with rows of both tables."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("witness", [BLUE, "white", ORANGE])
    east, north = found.lines
    most = float(np.abs(found.heights).max()) or 1.0
    box = (east[0], east[-1], north[0], north[-1])
    image = ax.imshow(
        found.heights.T, extent=box, origin="lower", aspect="auto", cmap=colours, vmin=-most, vmax=most, alpha=0.75
    )
    if found.outside is not None and found.outside.any() and not found.outside.all():
        ax.contour(east, north, found.outside.T.astype(float), levels=[0.5], colors="black", linewidths=1.0)
    for points, colour, marker, name in zip(found.points, (BLUE, ORANGE), "o^", names, strict=True):
        look: dict[str, Any] = {"marker": marker, "edgecolors": "white", "linewidths": 0.4}
        ax.scatter(points[:, 0], points[:, 1], s=14, color=colour, label=name, rasterized=True, **look)
    ax.set(xlim=box[:2], ylim=box[2:], xlabel=found.columns[0], ylabel=found.columns[1])
    for axis, kind in zip((ax.xaxis, ax.yaxis), found.kinds, strict=True):
        ticks(axis, kind)
    bar = ax.figure.colorbar(image, ax=ax, ticks=[-most, 0.0, most])
    bar.ax.set_yticklabels([f"more in\n{names[0]}", "as\nmany", f"more in\n{names[1]}"])


def _bars(ax: Axes, found: Distribution, first: np.ndarray, second: np.ndarray, names: Sequence[str]) -> None:
    places = np.arange(len(first))[::-1]
    ax.barh(places + 0.2, first, height=0.38, color=BLUE, alpha=0.4, linewidth=0, label=names[0])
    ax.barh(places - 0.2, second, height=0.34, facecolor="none", edgecolor=ORANGE, linewidth=1.4, label=names[1])
    ax.set_yticks(places, [*map(short, found.labels)])
    ax.axvline(0.0, color=GREY, linewidth=0.6)
    ax.set_xlabel("% of values", fontsize="small")
