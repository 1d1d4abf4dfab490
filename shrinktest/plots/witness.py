"""Pictures of where two samples differ; matplotlib is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, count, counted, percent
from shrinktest.plots.axes import (
    GREY,
    OF_X,
    OF_Y,
    Along,
    axes,
    below_offset,
    fitted,
    ink,
    legend,
    open_frame,
    short,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.witness import TwoSampleResult

XY = ("X", "Y")
OTHERS = ("median", "marginal")
_GRID = {1: 101, 2: 31}
_POINTS = 1000  # of a sample, more of which would cover those of the other
_LETTERS = 24  # of a name in a legend


def plot_witness(
    result: TwoSampleResult,
    ax: Axes | None = None,
    *,
    coordinates: Sequence[int | str] | int | str | None = None,
    others: str = "median",
    confidence: float = 0.95,
    studentize: bool = True,
    grid: int | None = None,
    names: Sequence[str] | None = None,
    member: str = "",
) -> Axes:
    """The witness function over one or two coordinates, with its band, and the observations.

    The ground has the color of the sample that has more mass there.  ``member``: of a combined test, which is shown.
    """
    pooled, sizes = result.context.pooled, result.context.sizes
    encoding = result.encodings[0] if result.encodings else None
    chosen, shown = _chosen(coordinates, pooled.shape[1], encoding, names)
    choice(others, OTHERS, "others")
    lines = [_line(pooled[:, j], _GRID[len(shown)] if grid is None else count(grid, "grid", 2)) for j in shown]
    places = np.stack([line.ravel() for line in np.meshgrid(*lines, indexing="ij")], axis=1)
    typical = np.median(pooled, axis=0) if encoding is None else encoding.typical(pooled)
    rest = typical[None] if others == "median" or len(shown) == pooled.shape[1] else pooled
    at = np.repeat(rest[None], len(places), axis=0)
    at[:, :, shown] = places[:, None, :]
    band = result.witness_band(at, confidence=confidence, studentize=studentize)
    ax = axes(ax)
    lines = [axis.drawn(line) for line, axis in zip(lines, chosen, strict=True)]
    points = np.stack([axis.drawn(pooled[:, j]) for j, axis in zip(shown, chosen, strict=True)], axis=1)
    x, y = np.split(points, [sizes[0]])
    first, second = (name or plain for name, plain in zip(result.names or XY, XY, strict=True))
    if len(shown) == 1:
        _curve(ax, lines[0], band, x[:, 0], y[:, 0], (first, second))
        _label_y(ax, f"witness, mean of {first} less mean of {second}")
    else:
        _map(ax, lines, band, x, y, (first, second))
        _label_y(ax, chosen[1].label)
    ax.set_xlabel(fitted(chosen[0].label, ax), parse_math=False)
    for column, axis_of in zip(chosen, (ax.xaxis, ax.yaxis), strict=False):
        column.ticks(axis_of)
    below_offset(ax)
    held = f", others: {others}" if len(shown) < pooled.shape[1] else ""
    name = f", {percent(confidence)} simultaneous band" if np.isfinite(band.half_width).any() else ""
    whose = f"\nof the member that decided: {member}" if member else ""
    title(ax, f"Where {first} and {second} differ{name}{held}{whose}")
    legend(ax, edgecolor="none", framealpha=0.85, fontsize="small", ncols=2 if len(shown) == 1 else 1)
    return ax


def _chosen(coordinates: Any, columns: int, encoding: Any, names: Any) -> tuple[list[Along], list[int]]:
    """The columns to draw along, and their places among the numbers that the kernel compares."""
    every = [Along(j, f"column {j}") for j in range(columns)]
    if encoding is not None:
        every = [encoding.axis(name) for name in encoding.names]
    if names is not None:
        if len(names) != len(every):
            raise ValueError(f"names has {len(names)} entries for {counted(len(every), 'column')}")
        every = [replace(axis, label=name) for axis, name in zip(every, names, strict=True)]
    if encoding is not None and (encoding.named or not all(map(str.isdigit, encoding.names))):
        names = encoding.names
    numeric = [j for j, axis in enumerate(every) if axis.feature is not None]
    if coordinates is None and len(every) > 2:
        example = tuple(j if names is None else names[j] for j in numeric[:2])
        of = f" (coordinates={example if len(example) != 1 else example[0]!r})" if example else ""
        raise ValueError(f"the samples have {len(every)} columns; choose one or two to show{of}")
    if coordinates is None and not numeric:
        raise ValueError("all columns hold categories, along which no function can be drawn")
    chosen = [every[j] for j in _coordinates(numeric if coordinates is None else coordinates, len(every), names)]
    for axis in chosen:
        if axis.feature is None:
            raise ValueError(f"coordinates: {axis.label} holds categories; choose numbers or dates to draw along")
    return chosen, [axis.feature for axis in chosen if axis.feature is not None]


def _coordinates(given: Any, columns: int, names: Sequence[str] | None) -> tuple[int, ...]:
    listed = (given,) if isinstance(given, int | np.integer | str) else tuple(given)
    chosen = tuple(_place(one, names) for one in listed)
    if len(chosen) not in (1, 2) or len(set(chosen)) < len(chosen) or max(chosen) >= columns:
        raise ValueError(f"coordinates must be one or two different columns from 0 to {columns - 1}; found {given!r}")
    return chosen


def _place(one: Any, names: Sequence[str] | None) -> int:
    """The number of a column, given by that or by its name."""
    if isinstance(one, str):
        if names is None:
            raise ValueError(f"coordinates has the name {one!r}, and the columns have none; give their numbers")
        return list(names).index(choice(one, names, "a column in coordinates"))
    return count(one, "coordinates", minimum=0)


def _line(values: np.ndarray, points: int) -> np.ndarray:
    margin = 0.1 * float(np.ptp(values)) or 1.0
    return np.linspace(values.min() - margin, values.max() + margin, points)


def _curve(ax: Axes, line: np.ndarray, band: Any, x: np.ndarray, y: np.ndarray, names: tuple[str, str]) -> None:
    first, second = (short(name, _LETTERS) for name in names)
    for sign, color, label in ((1.0, OF_X, f"more of {first}"), (-1.0, OF_Y, f"more of {second}")):
        part = sign * np.maximum(sign * band.values, 0.0)
        ax.fill_between(line, 0.0, part, color=color, alpha=0.3, linewidth=0, label=label)
    known = np.isfinite(band.half_width)
    if known.any():
        reach = np.where(known, band.half_width, 0.0)  # where the function is 0 in every permutation, so is the band
        ax.fill_between(line, -reach, reach, color=GREY, alpha=0.4, linewidth=0, label="band")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.plot(line, band.values, color=ink(ax), linewidth=1.0, label="witness")
    left = "outside the band" if band.outside.any() else None
    ax.plot(line[band.outside], band.values[band.outside], ".", color=ink(ax), label=left)
    for values, color, height, label in ((x, OF_X, 0.07, first), (y, OF_Y, 0.03, second)):
        ax.plot(values, np.full(len(values), height), "|", color=color, alpha=0.6, label=label, transform=_rug(ax))
    open_frame(ax)


def _label_y(ax: Axes, label: str) -> None:
    ax.set_ylabel(fitted(label, ax, upright=True), parse_math=False)


def _rug(ax: Axes) -> Any:
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(ax.transData, ax.transAxes)


def _map(ax: Axes, lines: list[np.ndarray], band: Any, x: np.ndarray, y: np.ndarray, names: tuple[str, str]) -> None:
    shape = tuple(map(len, lines))
    values, outside = band.values.reshape(shape), band.outside.reshape(shape)
    most = float(np.abs(values).max()) or 1.0
    image = ax.pcolormesh(*lines, values.T, cmap=_colors(), vmin=-most, vmax=most, shading="nearest", alpha=0.7)
    where = "everywhere outside the band" if outside.all() else "nowhere outside the band"
    if outside.any() and not outside.all():
        where = "outlined: outside the band"
        ax.contour(*lines, outside.T.astype(float), levels=[0.5], colors="black", linewidths=1.0)
    for rows, color, marker, name in ((x, OF_X, "o", names[0]), (y, OF_Y, "^", names[1])):
        every = -(-len(rows) // _POINTS)
        look: dict[str, Any] = {"s": 18, "color": color, "edgecolors": "white", "linewidths": 0.6, "marker": marker}
        label = short(name, _LETTERS) + (f", 1 of {every} rows" if every > 1 else "")
        # white edges part the points from the ground, which has their color
        ax.scatter(*rows[::every].T, label=label, **look)
    bar = ax.figure.colorbar(image, ax=ax)
    beside = f"\n({where})" if np.isfinite(band.half_width).any() else ""
    _label_y(bar.ax, f"witness, above 0: more of {names[0]}{beside}")


def _colors() -> Any:
    """From the color of Y, where the witness is negative, by white to that of X."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("witness", [OF_Y, "white", OF_X])
