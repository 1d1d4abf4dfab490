"""Where pictures are drawn and saved, and in which colours; matplotlib is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette: told apart with every kind of colour vision
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8C8C8C"
#: The colours of the samples X and Y, and of where there is more of the one than of the other.
OF_X, OF_Y = BLUE, ORANGE
#: Held while matplotlib's settings, or the filters of warnings, are changed and put back: all threads have the same.
SETTINGS = RLock()


def axes(ax: Axes | None) -> Axes:
    """The axes given, or new ones; says what to install where matplotlib is missing."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'shrinktest[plot]'") from error
    return plt.subplots(figsize=(7, 4), layout="constrained")[1]


def legend(ax: Axes, **look: Any) -> None:
    """A legend, in which a dollar in a name is a dollar and begins no formula."""
    for text in ax.legend(**look).get_texts():
        text.set_parse_math(False)


def legend_below(ax: Axes) -> None:
    """A legend below the axes, where it covers nothing; inside them where no layout makes room for it."""
    if ax.figure.get_layout_engine() is None:
        legend(ax, edgecolor="none", framealpha=0.85)
        return
    # 4 letters below the axes, behind their ticks and label
    legend(ax, edgecolor="none", loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.0, ncols=2)


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
    figure.savefig(path, dpi=150)
