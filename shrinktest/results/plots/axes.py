"""Axes, colors, labels and files of pictures.

Matplotlib is imported when a picture is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import fill
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# Okabe and Ito's palette: told apart with every kind of color vision
BLUE = "#0072B2"
ORANGE = "#D55E00"
GRAY = "#8C8C8C"
#: Colors of the samples X and Y, and of regions with more of one than of the other.
OF_X = BLUE
OF_Y = ORANGE
#: Held while matplotlib's settings, or the filters of warnings, are changed and put back: all
#: threads share them.
SETTINGS = RLock()
#: Units of the numbers of a kind of column.
UNITS = {"duration": "days", "time": "hour of the day"}

_LETTER = 0.55  # average width of a letter, in sizes of the font
_FEWEST = 12  # letters of a line
SIZE = (7.0, 4.0)  # inches, of new axes
_LOW = 1.9  # inches: lower axes have no room for a legend below
_SHORT = 16  # letters of a category at an axis
_LEVELS = 8  # that fit along an axis
_INSIDE = {"edgecolor": "none", "framealpha": 0.85}  # a legend that may cover something


def pyplot(part: str = "pyplot") -> Any:
    """Import a part of matplotlib."""
    try:
        return import_module(f"matplotlib.{part}")
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'shrinktest[plot]'") from error


def axes(ax: Axes | None) -> Axes:
    """Return the axes given, or new ones."""
    return pyplot().subplots(figsize=SIZE, layout="constrained")[1] if ax is None else ax


def ink(ax: Axes) -> Any:
    """Return the color of words and lines.

    Like the labels, they are black in the usual style, white on black.
    """
    return ax.xaxis.label.get_color()


def letters(ax: Axes, size: float | str = "medium", *, upright: bool = False) -> int:
    """Return the number of letters that are as long as the axes are wide, or high."""
    from matplotlib.font_manager import FontProperties

    pixels = 1.1 * ax.bbox.height if upright else ax.bbox.width  # layouts make axes taller
    width = _LETTER * FontProperties(size=size).get_size_in_points()
    return max(_FEWEST, int(72.0 * pixels / ax.figure.dpi / width))


def fitted(text: str, ax: Axes, size: float | str = "medium", *, upright: bool = False) -> str:
    """Return a text in lines no longer than the axes are wide, or high."""
    width = letters(ax, size, upright=upright)
    return "\n".join(fill(line, width, break_on_hyphens=False) for line in text.splitlines())


def short(label: str, most: int = _SHORT) -> str:
    """Return a label of at most ``most`` letters.

    A long one keeps its end, where names tend to differ.
    """
    line = " ".join(label.split())
    end = most // 3 if most > _SHORT else 0
    return line if len(line) <= most else f"{line[: most - 1 - end]}…{line[len(line) - end :]}"


def title(
    ax: Axes,
    text: str,
    size: float | str = "medium",
    *,
    right: bool = False,
    pad: float | None = None,
) -> None:
    """Write a title in lines that fit, in which a dollar is a dollar.

    Names at the left of axes may leave these less room than a title needs: it then ends at their
    ``right`` end.
    """
    place: dict[str, Any] = {"x": 1.0, "ha": "right"} if right else {}
    ax.set_title(fitted(text, ax, size), fontsize=size, pad=pad, parse_math=False, **place)


def open_frame(ax: Axes) -> Axes:
    """Remove the lines at the top and at the right."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def legend(ax: Axes, **look: Any) -> Legend:
    """Draw a legend, in which a dollar in a name is a dollar and begins no formula."""
    made = ax.legend(**look)
    for text in made.get_texts():
        text.set_parse_math(False)
    return made


def legend_below(ax: Axes, *, right: bool = False) -> None:
    """Draw a legend below the axes, or inside them if no layout makes room for it."""
    if ax.figure.get_layout_engine() is None or ax.bbox.height / ax.figure.dpi < _LOW:
        legend(ax, **_INSIDE).set_in_layout(False)  # or it would press the axes
        return
    lengths = list(map(len, ax.get_legend_handles_labels()[1]))
    half = -(-len(lengths) // 2)
    # a line and its gaps are as long as 6 letters, and a legend may be longer than the axes are
    # wide
    wide = max(lengths[:half]) + max(lengths[half:], default=0) + 12 > 1.3 * letters(ax)
    place = {
        "loc": "upper right" if right else "upper center",
        "bbox_to_anchor": (1.0 if right else 0.5, 0.0),
    }
    # 4 letters below the axes, behind their ticks and label
    legend(ax, **place, edgecolor="none", borderaxespad=4.0, ncols=1 if wide else 2)


def legend_beside(ax: Axes) -> None:
    """Draw a legend at the right of the axes, or inside them if no layout makes room for it."""
    outside = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    legend(ax, **(_INSIDE if ax.figure.get_layout_engine() is None else outside))


def ticks(axis: Any, kind: str, zone: Any = None) -> None:
    """Set few ticks, which are dates, in a time zone, if the numbers are days since 1970."""
    if kind == "date":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(zone, minticks=2, maxticks=5)
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator, zone))
    else:
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))


def name_ticks(axis: Any, labels: Sequence[Any], most: int, letters: int) -> None:
    """Set ticks at 0, 1, ... with these labels, of which ``most`` at most are written."""
    every = -(-len(labels) // most)
    shown = [short(str(label), letters) for label in labels[::every]]
    axis.set_ticks(range(0, len(labels), every), shown, parse_math=False)


def draw_intervals(
    ax: Axes | None, rows: Sequence[tuple[str, float, Any, str]], none: float
) -> Axes:
    """Draw estimates with intervals, one below the other.

    Each has a label, an estimate, limits and a color.

    A line marks ``none``, the value of no effect.
    """
    ax = axes(ax)
    for place, (_, value, limits, color) in enumerate(rows):
        ax.plot(limits, [place, place], color=color, linewidth=2.0)
        ax.plot([value], [place], "o", color=color)
    ax.axvline(none, color=ink(ax), linewidth=0.8)
    ax.set_yticks(range(len(rows)), [row[0] for row in rows], fontsize="small", parse_math=False)
    ax.invert_yaxis()
    return open_frame(ax)


def below_offset(ax: Any) -> None:
    """Move the x axis label below its offset text, if any.

    Such text is 1e9 or a year.
    """
    ax.xaxis.get_majorticklabels()  # computes the offset
    if ax.xaxis.get_major_formatter().get_offset():
        ax.xaxis.labelpad += 11.0


@dataclass(frozen=True)
class Along:
    """A column to draw along, in the units of the data."""

    feature: int | None  # its place among the numbers that the kernel compares; None for categories
    label: str
    # size of one of these numbers in the data, and place of zero; dates in days since 1970
    unit: float = 1.0
    origin: float = 0.0
    kind: str = "number"  # of the column: "number", "date", "ordered", ...
    levels: tuple[str, ...] = ()  # of an ordered column

    def drawn(self, numbers: Any) -> Any:
        """Return numbers that the kernel compares in the units of the picture."""
        return numbers * self.unit + self.origin

    def ticks(self, axis: Any) -> None:
        """Set ticks that are dates or levels if the numbers stand for these."""
        if self.kind == "ordered" and self.levels:
            name_ticks(axis, self.levels, _LEVELS, _SHORT)
        elif self.kind == "date":
            ticks(axis, self.kind)


def column_axis(encoding: Any, name: str) -> Along:
    """Return the axis of a picture along a column of a table."""
    place = encoding.names.index(name)
    code = encoding.codes[place]
    start = encoding.groups[place].start
    label = name if encoding.named or not name.isdigit() else f"column {name}"
    if code.categorical:
        return Along(None, label)
    unit = encoding.units.scale[start]
    if isinstance(unit, str):
        return Along(start, f"{unit} of {label}")
    origin = 0.0
    if code.origin is not None:
        origin = float((code.origin - np.datetime64(0, "D")) / np.timedelta64(1, "D"))
    if code.kind in UNITS:
        label = f"{label} ({UNITS[code.kind]})"
    return Along(start, label, float(unit), origin, code.kind, code.levels)


def check_path(path: str | None) -> None:
    """Raise an error early if a picture cannot be saved under this path.

    Early is before the work and not after it.
    """
    if path is None:
        return
    endings = sorted(pyplot("backend_bases").FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix.lstrip(".").lower() not in endings:
        raise ValueError(f"{path} must end in one of .{', .'.join(endings)}")
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be saved: there is no directory {Path(path).parent}")


def save(plot: Callable[[Axes], object], path: str) -> None:
    """Draw on a new figure and save it.

    Without pyplot, so that no display is needed and no global state changes.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    plot(figure.subplots())
    write(figure, path)


def write(figure: Figure, path: str) -> None:
    """Save a figure; letters that its font lacks are boxes."""
    with SETTINGS, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(path, dpi=150)
