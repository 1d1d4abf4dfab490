"""Pictures of where two samples differ; they import matplotlib when they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, count, counted, percent
from shrinktest._warn import tiny_is_zero
from shrinktest.results.plots.axes import (
    GRAY,
    OF_X,
    OF_Y,
    Along,
    axes,
    below_offset,
    column_axis,
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

OTHERS = ("median", "marginal")
_GRID = {1: 101, 2: 31}
_POINTS = 1000  # of a sample, more of which would cover the other sample
_LETTERS = 24  # of a name in a legend


@tiny_is_zero
def plot_witness(
    result: TwoSampleResult,
    ax: Axes | None = None,
    *,
    coordinates: Sequence[int | str] | int | str | None = None,
    others: str = "median",
    confidence: float = 0.95,
    studentize: bool = True,
    grid: int | None = None,
    member: str = "",
) -> Axes:
    """Draw the witness function over one or two coordinates (matplotlib).

    The picture shows its band and the observations, too.

    Parameters
    ----------
    ax : Axes, optional
        Axes to draw on; default new ones.
    coordinates : sequence of int or str, optional
        Names (of tables) or numbers of one or two columns, which are required if there are more
        than two.
    others : {"median", "marginal"}, default "median"
        "median" fixes the other columns at the medians of all observations, and categories at the
        most frequent level, whereas "marginal" averages over their values (the partial dependence
        of J.  H. Friedman, Annals of Statistics 29 (2001), 1189-1232).
    confidence : float, default 0.95
        Confidence level of the band, as in :meth:`witness_band`.
    studentize : bool, default True
        Whether the band is proportional to the spread, as in :meth:`witness_band`.
    grid : int, optional
        Number of points along each coordinate.
    member : str, optional
        The member of a combined test that is drawn, for the title.

    Returns
    -------
    Axes
        The axes with the picture.
    """
    result.require_columns()
    result.require_values()
    context = result.require_data()
    pooled = context.pooled
    sizes = context.sizes
    encoding = result.encodings[0] if result.encodings else None
    columns = _columns(coordinates, pooled.shape[1], encoding)
    places = [column.feature for column in columns if column.feature is not None]
    choice(others, OTHERS, "others")
    points = _GRID[len(columns)] if grid is None else count(grid, "grid", 2)
    lines = [_line(pooled[:, j], points) for j in places]
    typical = np.median(pooled, axis=0) if encoding is None else encoding.typical(pooled)
    rest = typical[None] if others == "median" or len(columns) == pooled.shape[1] else pooled
    at = np.repeat(rest[None], points ** len(columns), axis=0)
    at[:, :, places] = np.stack(
        [line.ravel() for line in np.meshgrid(*lines, indexing="ij")], axis=1
    )[:, None, :]
    band = result.witness_band(at, confidence=confidence, studentize=studentize)
    ax = axes(ax)
    lines = [column.drawn(line) for line, column in zip(lines, columns, strict=True)]
    rows = np.stack(
        [column.drawn(pooled[:, j]) for j, column in zip(places, columns, strict=True)], axis=1
    )
    samples = np.split(rows, [sizes[0]])
    first, second = called = tuple(
        name or plain for name, plain in zip(result.names or "XY", "XY", strict=True)
    )
    if len(columns) == 1:
        _curve(ax, lines[0], band, samples, called)
        _label_y(ax, f"witness function: mean of {first} minus mean of {second}")
    else:
        outside = (
            band.outside.reshape(points, points) if np.isfinite(band.half_width).any() else None
        )
        draw_map(ax, lines, band.values.reshape(points, points), outside, samples, called)
        _label_y(ax, columns[1].label)
    ax.set_xlabel(fitted(columns[0].label, ax), parse_math=False)
    for column, axis in zip(columns, (ax.xaxis, ax.yaxis), strict=False):
        column.ticks(axis)
    below_offset(ax)
    name = (
        f", {percent(confidence)} simultaneous band" if np.isfinite(band.half_width).any() else ""
    )
    held = f", others: {others}" if len(columns) < pooled.shape[1] else ""
    decided = f"\nof the member that decided: {member}" if member else ""
    title(ax, f"Where {first} and {second} differ{name}{held}{decided}")
    legend(
        ax, edgecolor="none", framealpha=0.85, fontsize="small", ncols=2 if len(columns) == 1 else 1
    )
    return ax


def _columns(coordinates: Any, width: int, encoding: Any) -> list[Along]:
    """Return the columns to draw along."""
    every: dict[Any, Along] = {j: Along(j, f"column {j}") for j in range(width)}
    if encoding is not None:
        every = {name: column_axis(encoding, name) for name in encoding.names}
    numeric = [key for key, column in every.items() if column.feature is not None]
    if coordinates is None and (len(every) > 2 or not numeric):
        of = (
            f" such as coordinates={tuple(numeric[:2])}"
            if numeric
            else ", but all columns hold categories"
        )
        raise ValueError(
            f"the samples have {counted(len(every), 'column')}; choose one or two numeric ones{of}"
        )
    given = numeric if coordinates is None else coordinates
    places: dict[Any, Any] = dict(enumerate(every))
    keys: list[Any] = []
    for key in (given,) if isinstance(given, int | np.integer | str) else given:
        known = key in every or not isinstance(key, str)
        keys.append(
            places.get(key, key)
            if known
            else choice(key, list(map(str, every)), "a column in coordinates")
        )
    if not 1 <= len(keys) <= 2 or len({*keys} & {*numeric}) < len(keys):
        raise ValueError(
            "coordinates must be one or two different columns of numbers or dates; got "
            f"{coordinates!r}"
        )
    return [every[key] for key in keys]


def _line(values: np.ndarray, points: int) -> np.ndarray:
    margin = 0.1 * float(np.ptp(values)) or 1.0
    return np.linspace(values.min() - margin, values.max() + margin, points)


def _label_y(ax: Axes, label: str) -> None:
    ax.set_ylabel(fitted(label, ax, upright=True), parse_math=False)


def _curve(
    ax: Axes, line: np.ndarray, band: Any, samples: list[np.ndarray], names: tuple[str, ...]
) -> None:
    from matplotlib.transforms import blended_transform_factory

    shown = [short(name, _LETTERS) for name in names]
    for sign, color, name in zip((1.0, -1.0), (OF_X, OF_Y), shown, strict=True):
        part = sign * np.maximum(sign * band.values, 0.0)
        ax.fill_between(
            line, 0.0, part, color=color, alpha=0.3, linewidth=0, label=f"more of {name}"
        )
    known = np.isfinite(band.half_width)
    if known.any():
        reach = np.where(
            known, band.half_width, 0.0
        )  # if the function is 0 in every permutation, so is the band
        ax.fill_between(line, -reach, reach, color=GRAY, alpha=0.4, linewidth=0, label="band")
    ax.axhline(0.0, color=GRAY, linewidth=0.8)
    ax.plot(line, band.values, color=ink(ax), linewidth=1.0, label="witness")
    label = "outside the band" if band.outside.any() else None
    ax.plot(line[band.outside], band.values[band.outside], ".", color=ink(ax), label=label)
    rug = blended_transform_factory(ax.transData, ax.transAxes)
    for rows, color, height, name in zip(samples, (OF_X, OF_Y), (0.07, 0.03), shown, strict=True):
        ax.plot(
            rows[:, 0],
            np.full(len(rows), height),
            "|",
            color=color,
            alpha=0.6,
            label=name,
            transform=rug,
        )
    open_frame(ax)


def draw_map(
    ax: Axes, lines: Any, values: Any, outside: Any, samples: Any, names: Sequence[str]
) -> None:
    """Draw a witness function on a grid along two columns.

    The outline of its band and rows of both samples are shown.

    ``outside`` marks where the function leaves its band; None if there is none.
    """
    from matplotlib.colors import LinearSegmentedColormap

    most = float(np.abs(values).max()) or 1.0
    colors = LinearSegmentedColormap.from_list("witness", [OF_Y, "white", OF_X])
    look: dict[str, Any] = {
        "cmap": colors,
        "vmin": -most,
        "vmax": most,
        "shading": "nearest",
        "rasterized": True,
    }
    image = ax.pcolormesh(*lines, values.T, alpha=0.7, **look)
    where = ""
    if outside is not None:
        where = f"\n({'everywhere' if outside.all() else 'nowhere'} outside the band)"
        if outside.any() and not outside.all():
            where = "\n(outlined: outside the band)"
            ax.contour(
                *lines, outside.T.astype(float), levels=[0.5], colors="black", linewidths=1.0
            )
    for rows, color, marker, name in zip(samples, (OF_X, OF_Y), "o^", names, strict=True):
        every = -(-len(rows) // _POINTS)
        label = short(name, _LETTERS) + (f", 1 of {every} rows" if every > 1 else "")
        # white edges part the points from the ground, which has their color
        dots: dict[str, Any] = {
            "s": 18,
            "color": color,
            "edgecolors": "white",
            "linewidths": 0.6,
            "marker": marker,
        }
        ax.scatter(*rows[::every].T, label=label, rasterized=True, **dots)
    bar = ax.figure.colorbar(image, ax=ax)
    _label_y(bar.ax, f"witness, above 0: more of {names[0]}{where}")
