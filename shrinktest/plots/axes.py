"""Where pictures are drawn and saved, and in which colours; matplotlib is imported when one is asked for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from threading import RLock
from typing import TYPE_CHECKING, Any

from shrinktest._check import counted
from shrinktest._warn import warn_user

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# Okabe and Ito's palette: told apart with every kind of colour vision
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8C8C8C"
#: The colours of the samples X and Y, and of where there is more of the one than of the other.
OF_X, OF_Y = BLUE, ORANGE
#: Held while matplotlib's settings, or the filters of warnings, are changed and put back: all threads have the same.
SETTINGS = RLock()

_LACKING = re.compile("Glyph .* missing")  # as matplotlib warns
_LETTER = 0.55  # of the size of letters is how wide they are, on average
_FEWEST = 12  # letters of a line
_LOW = 1.9  # inches, from which there is room below axes
_BESIDE = 1.3


def axes(ax: Axes | None) -> Axes:
    """The axes given, or new ones; says what to install where matplotlib is missing."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'shrinktest[plot]'") from error
    return plt.subplots(figsize=(7, 4), layout="constrained")[1]


def ink(ax: Axes) -> Any:
    """The colour of words and lines, which is that of the axes' labels: black in the usual style, white on black."""
    return ax.xaxis.label.get_color()


def letters(ax: Axes, size: float | str = "medium", *, upright: bool = False) -> int:
    """How many letters are as long as the axes are wide, or high."""
    from matplotlib.font_manager import FontProperties

    pixels = 1.1 * ax.bbox.height if upright else ax.bbox.width  # layouts make axes taller
    wide = _LETTER * FontProperties(size=size).get_size_in_points()
    return max(_FEWEST, int(72.0 * pixels / ax.figure.dpi / wide))


def fitted(text: str, ax: Axes, size: float | str = "medium", *, upright: bool = False) -> str:
    """A text in lines no longer than the axes are wide, or high."""
    width = letters(ax, size, upright=upright)
    return "\n".join(fill(line, width, break_on_hyphens=False) for line in text.splitlines())


def title(ax: Axes, text: str, size: float | str = "medium", *, right: bool = False, pad: float | None = None) -> None:
    """A title in lines that fit, in which a dollar is a dollar.

    Names at the left of axes may leave these less room than a title needs: it then ends at their ``right`` end.
    """
    where: dict[str, Any] = {"x": 1.0, "ha": "right"} if right else {}
    ax.set_title(fitted(text, ax, size), fontsize=size, pad=pad, parse_math=False, **where)


def legend(ax: Axes, **look: Any) -> Legend:
    """A legend, in which a dollar in a name is a dollar and begins no formula."""
    made = ax.legend(**look)
    for text in made.get_texts():
        text.set_parse_math(False)
    return made


def legend_below(ax: Axes, *, right: bool = False) -> None:
    """A legend below the axes, where it covers nothing; inside them where no layout makes room for it."""
    if ax.figure.get_layout_engine() is None or ax.bbox.height / ax.figure.dpi < _LOW:
        legend(ax, edgecolor="none", framealpha=0.85).set_in_layout(False)  # or it would press the axes
        return
    said = list(map(len, ax.get_legend_handles_labels()[1]))
    half = -(-len(said) // 2)
    # a line and its gaps are as long as 6 letters, and a legend may be longer than the axes are wide
    wide = max(said[:half]) + max(said[half:], default=0) + 12 > _BESIDE * letters(ax)
    # 4 letters below the axes, behind their ticks and label
    at, loc = ((1.0, 0.0), "upper right") if right else ((0.5, 0.0), "upper center")
    look = {"edgecolor": "none", "loc": loc, "bbox_to_anchor": at, "borderaxespad": 4.0}
    legend(ax, **look, ncols=1 if wide else 2)


def legend_beside(ax: Axes, **look: Any) -> None:
    """A legend at the right of the axes, where it covers nothing; inside them where no layout makes room for it."""
    if ax.figure.get_layout_engine() is None:
        legend(ax, edgecolor="none", framealpha=0.85, **look)
    else:
        legend(ax, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), **look)


def check_path(path: str | None) -> None:
    """Raise, before the work and not after it, if a picture cannot be saved under this path."""
    if path is None:
        return
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ImportError(f"saving {path} needs matplotlib: pip install 'shrinktest[plot]'") from None
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix.lstrip(".").lower() not in known:
        raise ValueError(f"{path} is no name for a picture: it must end in one of .{', .'.join(known)}")
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be saved: there is no directory {Path(path).parent}")


def save(plot: Callable[[Axes], object], path: str) -> None:
    """Draw on a new figure and save it; without pyplot, so that no display is needed and no global state changes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    plot(figure.subplots())
    write(figure, path)


def write(figure: Figure, path: str) -> None:
    """Save a figure; of letters that its font lacks one warning tells, and not one for each."""
    with SETTINGS, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(path, dpi=150)
    lacking = {str(one.message) for one in caught if _LACKING.match(str(one.message))}
    for one in caught:
        if str(one.message) not in lacking:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if lacking:
        warn_user(
            f"{path}: the font lacks {counted(len(lacking), 'letter')} of the names, which are boxes there; name a "
            "font that has them as font.family in a file matplotlibrc"
        )
