"""Picture of regions in two columns in which one sample is over-represented."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice
from shrinktest.results.plots.axes import (
    OF_X,
    OF_Y,
    UNITS,
    axes,
    below_offset,
    legend_below,
    name_ticks,
    open_frame,
    short,
    ticks,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.data.column import Column

_HALF = 0.35  # half the width of the strip in which rows of a level are drawn
_LEVEL = 0.45  # and of its area
_LETTERS = 24
_LEVELS = 8


def plot_regions(
    result: Any, ax: Axes | None = None, *, columns: Sequence[str] | None = None
) -> Axes:
    """Draw rows of both samples in two columns, and regions in these (matplotlib).

    Only regions that have sides in no other column are drawn.

    Parameters
    ----------
    ax : Axes, optional
        Axes to draw on; default new ones.
    columns : sequence of str, optional
        Two of the columns of regions; by default those of the first region, and one more if it has
        sides in only one column.

    Returns
    -------
    Axes
        The axes with the picture.
    """
    ax = axes(ax)
    draw_regions(ax, result, columns)
    title(ax, f"Regions where {result.names[0]} and {result.names[1]} differ")
    legend_below(open_frame(ax))
    return ax


def draw_regions(ax: Axes, result: Any, columns: Sequence[str] | None = None) -> None:
    """Draw rows and regions in two columns."""
    chosen = drawn_columns(result, columns)
    known = [column.name for column in result.drawn[0]]
    parts = [[sample[known.index(name)] for name in chosen] for sample in result.drawn]
    chance = np.random.default_rng(0)
    for j, (sample, color, marker) in enumerate(zip(parts, (OF_X, OF_Y), "o^", strict=True)):
        places = [_places(column, chance) for column in sample]
        if len(places) == 1:
            places.append(j + chance.uniform(-_HALF, _HALF, len(places[0])))
        label = short(result.names[j], _LETTERS)
        look: dict[str, Any] = {"s": 12, "color": color, "marker": marker, "linewidths": 0}
        ax.scatter(*places, alpha=0.5, label=label, rasterized=True, **look)
    ends = [ax.get_xlim(), ax.get_ylim()]
    drawn = set()
    for region in result.regions:
        if {condition.column for condition in region.conditions} <= set(chosen):
            _draw(ax, region, parts[0], ends, OF_X if region.over == result.names[0] else OF_Y)
            drawn.add(region.over)
    for name, color in zip(result.names, (OF_X, OF_Y), strict=True):
        if name in drawn:
            ax.plot([], [], color=color, linewidth=2.0, label=f"more of {short(name, _LETTERS)}")
    ax.set(xlim=ends[0], ylim=ends[1])
    for axis, column in zip((ax.xaxis, ax.yaxis), parts[0], strict=False):
        _label(axis, column)
    if len(chosen) == 1:
        name_ticks(ax.yaxis, result.names, 2, _LETTERS)
    below_offset(ax)


def drawn_columns(result: Any, columns: Sequence[str] | None = None) -> list[str]:
    """Return the columns to draw: two that were chosen, or those of the first region."""
    known = [column.name for column in result.drawn[0]]
    if columns is not None:
        names = [choice(name, known, "a column in columns") for name in columns]
        if len(set(names)) != 2:
            raise ValueError(f"columns must name two different columns; got {columns!r}")
        return names
    first = result.regions[0].conditions if result.regions else ()
    return [*dict.fromkeys([*(condition.column for condition in first), *known])][:2]


def _places(column: Column, chance: np.random.Generator) -> np.ndarray:
    """Return the values of a column along an axis, those of a level in a strip."""
    if not column.levels:
        return column.numbers()
    codes = np.where(column.missing(), np.nan, column.values.astype(np.float64))
    return np.asarray(codes + chance.uniform(-_HALF, _HALF, len(codes)))


def _draw(ax: Axes, region: Any, columns: list[Column], ends: Any, color: str) -> None:
    """Draw the sides of a region, an area for every level of categories."""
    from matplotlib.patches import Rectangle

    names = [column.name for column in columns]
    spans = [[ends[0]], [ends[1]]]
    for condition in region.conditions:
        place = names.index(condition.column)
        spans[place] = _spans(condition, columns[place], ends[place])
    for left, right in spans[0]:
        for low, high in spans[1]:
            corner = (left, low)
            area = Rectangle(corner, right - left, high - low, facecolor="none", edgecolor=color)
            area.set_linewidth(2.0)
            ax.add_patch(area)


def _spans(condition: Any, column: Column, ends: tuple[float, float]) -> list[tuple[float, float]]:
    """Return the intervals along an axis in which a condition holds."""
    if condition.missing:
        return []
    if column.kind in ("boolean", "category"):
        named = [level in condition.levels for level in column.levels]
        inside = [k for k, is_named in enumerate(named) if is_named == condition.within]
        return [(k - _LEVEL, k + _LEVEL) for k in inside]
    half = 0.5 if column.levels else 0.0
    low = ends[0] if condition.low == -math.inf else condition.low + half
    high = ends[1] if condition.high == math.inf else condition.high + half
    return [(low, high)]


def _label(axis: Any, column: Column) -> None:
    """Label an axis with a column, its unit and its levels."""
    unit = f" ({UNITS[column.kind]})" if column.kind in UNITS else ""
    axis.set_label_text(f"{column.name}{unit}", parse_math=False)
    if column.levels:
        name_ticks(axis, column.levels, _LEVELS, _LETTERS)
    else:
        ticks(axis, column.kind)
