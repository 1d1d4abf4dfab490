"""Pictures as SVG that stands inside a page: in the page's colours and letters, with words for those who cannot see."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from shrinktest.plots.axes import BLUE, GREY, ORANGE, SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of a picture, and what the page's style calls them.
_NAMES = {
    BLUE.lower(): "var(--first)",
    ORANGE.lower(): "var(--second)",
    GREY.lower(): "var(--rule)",
    "#000000": "currentColor",
}
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.linewidth": 0.6,
    "savefig.transparent": True,
    "text.parse_math": False,
}


def inline(draw: Callable[[Figure], object], size: tuple[float, float], words: str, name: str) -> str:
    """A picture, ``size`` inches large, as an ``svg`` element; ``words`` say what it shows.

    ``name`` is its own among the pictures of the page, for the names that its parts refer to each other by.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'shrinktest[plot]'") from error
    from matplotlib import style
    from matplotlib.figure import Figure

    nothing: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with (
        SETTINGS,
        warnings.catch_warnings(),
        style.context("default"),
        matplotlib.rc_context({**_STYLE, "svg.hashsalt": f"of {name}"}),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the page has letters of its own
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = StringIO()
        figure.savefig(out, format="svg", metadata=nothing, dpi=150)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="([^"]+)"', text)
    assert box is not None, "matplotlib writes one"
    text = text[text.index(">") + 1 :]
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", text)
    for colour, called in _NAMES.items():
        text = text.replace(colour, called)
    text = text.replace("*{stroke-linejoin: round; stroke-linecap: butt}", "")  # which would hold for the whole page
    return f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(words, quote=True)}">{text.strip()}'
