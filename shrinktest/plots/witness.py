"""Pictures of where two samples differ; matplotlib is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._validate import choice, count
from shrinktest.plots.axes import GREY, OF_X, OF_Y, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.two_sample import TwoSampleResult

OTHERS = ("median", "marginal")
_GRID = {1: 101, 2: 31}


def plot_witness(
    result: TwoSampleResult,
    ax: Axes | None = None,
    *,
    coordinates: Sequence[int] | int | None = None,
    others: str = "median",
    confidence: float = 0.95,
    studentize: bool = True,
    grid: int | None = None,
    names: Sequence[str] | None = None,
) -> Axes:
    """The witness function over one or two coordinates, with its band, and the observations.

    The ground has the colour of the sample that has more mass there.
    """
    x, y = np.split(result.again.pooled, [result.again.sizes[0]])
    shown = _coordinates(coordinates, x.shape[1])
    choice(others, OTHERS, "others")
    labels = [f"column {j}" for j in range(x.shape[1])] if names is None else list(names)
    if len(labels) != x.shape[1]:
        raise ValueError(f"names has {len(labels)} entries for {x.shape[1]} columns")
    pooled = np.vstack([x, y])
    lines = [_line(pooled[:, j], _GRID[len(shown)] if grid is None else count(grid, "grid", 2)) for j in shown]
    places = np.stack([axis.ravel() for axis in np.meshgrid(*lines, indexing="ij")], axis=1)
    rest = np.median(pooled, axis=0)[None] if others == "median" or len(shown) == x.shape[1] else pooled
    at = np.repeat(rest[None], len(places), axis=0)
    at[:, :, list(shown)] = places[:, None, :]
    band = result.witness_band(at, confidence=confidence, studentize=studentize)
    ax = axes(ax)
    if len(shown) == 1:
        _curve(ax, lines[0], band, x[:, shown[0]], y[:, shown[0]])
        ax.set_ylabel("witness, mean of X less mean of Y")
    else:
        _map(ax, lines, band, x[:, list(shown)], y[:, list(shown)])
        ax.set_ylabel(labels[shown[1]])
    ax.set_xlabel(labels[shown[0]])
    held = f", others: {others}" if len(shown) < x.shape[1] else ""
    ax.set_title(f"Where X and Y differ, {confidence:.0%} simultaneous band{held}", fontsize="medium")
    ax.legend(edgecolor="none", framealpha=0.85, fontsize="small", ncols=2 if len(shown) == 1 else 1)
    return ax


def _coordinates(given: Sequence[int] | int | None, columns: int) -> tuple[int, ...]:
    if given is None:
        if columns > 2:
            raise ValueError(f"the samples have {columns} columns; choose one or two to show (coordinates=(0, 1))")
        return tuple(range(columns))
    listed = (given,) if isinstance(given, int | np.integer) else tuple(given)
    chosen = tuple(count(j, "coordinates", minimum=0) for j in listed)
    if len(chosen) not in (1, 2) or len(set(chosen)) < len(chosen) or max(chosen) >= columns:
        raise ValueError(f"coordinates must be one or two different columns from 0 to {columns - 1}; found {given!r}")
    return chosen


def _line(values: np.ndarray, points: int) -> np.ndarray:
    margin = 0.1 * float(np.ptp(values)) or 1.0
    return np.linspace(values.min() - margin, values.max() + margin, points)


def _curve(ax: Axes, line: np.ndarray, band: Any, x: np.ndarray, y: np.ndarray) -> None:
    for sign, colour, label in ((1.0, OF_X, "more of X"), (-1.0, OF_Y, "more of Y")):
        part = sign * np.maximum(sign * band.values, 0.0)
        ax.fill_between(line, 0.0, part, color=colour, alpha=0.3, linewidth=0, label=label)
    if np.isfinite(band.half_width).all():
        ax.fill_between(line, -band.half_width, band.half_width, color=GREY, alpha=0.4, linewidth=0, label="band")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.plot(line, band.values, color="black", linewidth=1.0, label="witness")
    left = "outside the band" if band.outside.any() else None
    ax.plot(line[band.outside], band.values[band.outside], ".", color="black", label=left)
    for values, colour, height, label in ((x, OF_X, 0.07, "X"), (y, OF_Y, 0.03, "Y")):
        ax.plot(values, np.full(len(values), height), "|", color=colour, alpha=0.6, label=label, transform=_rug(ax))
    ax.spines[["top", "right"]].set_visible(False)


def _rug(ax: Axes) -> Any:
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(ax.transData, ax.transAxes)


def _map(ax: Axes, lines: list[np.ndarray], band: Any, x: np.ndarray, y: np.ndarray) -> None:
    shape = tuple(map(len, lines))
    values, outside = band.values.reshape(shape), band.outside.reshape(shape)
    most = float(np.abs(values).max()) or 1.0
    image = ax.pcolormesh(*lines, values.T, cmap=_colours(), vmin=-most, vmax=most, shading="nearest", alpha=0.7)
    where = "everywhere outside the band" if outside.all() else "nowhere outside the band"
    if outside.any() and not outside.all():
        where = "outlined: outside the band"
        ax.contour(*lines, outside.T.astype(float), levels=[0.5], colors="black", linewidths=1.0)
    for (east, north), colour, marker, label in ((x.T, OF_X, "o", "X"), (y.T, OF_Y, "^", "Y")):
        # white edges part the points from the ground, which has their colour
        ax.scatter(east, north, s=18, color=colour, edgecolors="white", linewidths=0.6, marker=marker, label=label)
    ax.figure.colorbar(image, ax=ax, label=f"witness, above 0: more of X\n({where})")


def _colours() -> Any:
    """From the colour of Y, where the witness is negative, by white to that of X."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("witness", [OF_Y, "white", OF_X])
