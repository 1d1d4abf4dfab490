"""Pictures of how tables and samples differ: columns, two columns together, pairs of samples.

SVG for reports.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, percent
from shrinktest.results.plots.axes import (
    BLUE,
    GRAY,
    ORANGE,
    SETTINGS,
    UNITS,
    below_offset,
    draw_intervals,
    fitted,
    letters,
    open_frame,
    pyplot,
    short,
    ticks,
    title,
)
from shrinktest.results.plots.witness import draw_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shrinktest.results.columns import Distribution

_MOST = 12  # columns that are drawn by default
_PAIRS = 24  # pairs of samples, or candidates, whose names can be read
_LETTERS = 30
_LINES = 3  # of names of candidates, and of a title
#: Colors of a picture, and their names in the style of a report.
_VARIABLES = {
    BLUE: "var(--first)",
    ORANGE: "var(--second)",
    GRAY: "var(--rule)",
    "#000000": "currentColor",
}
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.linewidth": 0.6,
    "savefig.transparent": True,
}


def plot_comparison(
    result: Any, columns: Any = None, *, figure: Figure | None = None
) -> np.ndarray:
    """Draw distributions in both tables of the columns that changed (matplotlib).

    ``columns``, a name or several, are by default those that changed, or all (up to twelve) if none
    has; ``figure`` is where to draw.  Returns an ndarray of Axes.
    """
    names = list(result.changed()) or [column.name for column in result.ordered if column.kind]
    names = names[:_MOST]
    if columns is not None:
        given = columns if isinstance(columns, list | tuple) else [columns]
        names = list(
            dict.fromkeys(
                choice(name, [c.name for c in result.effects], "a column") for name in given
            )
        )
    if not names:
        raise ValueError("columns is empty; name one or more columns, or leave it out")
    across = 2 if len(names) == 4 else min(len(names), 3)
    down = math.ceil(len(names) / across)
    plt = pyplot()
    figure = plt.figure(layout="constrained") if figure is None else figure
    figure.set_size_inches(max(3.6 * across, 5.0), 2.6 * down)
    figure.set_layout_engine("constrained")  # makes room for the legend
    with SETTINGS, plt.rc_context({"text.parse_math": False}):  # a dollar in a name is a dollar
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for ax, name in zip(grid, names, strict=False):
            draw_distribution(ax, result.distribution(name), result.names)
            title(ax, name)
        for ax in grid[len(names) :]:
            ax.remove()
        handles = grid[0].get_legend_handles_labels()
        figure.legend(
            *handles, loc="outside upper center", ncols=2, frameon=False, fontsize="small"
        )
    return np.asarray(grid[: len(names)])


def draw_distribution(ax: Axes, shares: Distribution, names: Sequence[str]) -> None:
    """Draw shares in both tables, as histograms or as bars for categories.

    The first is filled, the second a line.
    """
    first, second = (100.0 * np.nan_to_num(part) for part in (shares.first, shares.second))
    if shares.edges is None:
        places = np.arange(len(first))[::-1]
        ax.barh(
            places + 0.2, first, height=0.38, color=BLUE, alpha=0.4, linewidth=0, label=names[0]
        )
        ax.barh(
            places - 0.2,
            second,
            height=0.34,
            facecolor="none",
            edgecolor=ORANGE,
            linewidth=1.4,
            label=names[1],
        )
        ax.set_yticks(places, [*map(short, shares.labels)])
        ax.axvline(0.0, color=GRAY, linewidth=0.6)
        ax.set_xlabel("% of values", fontsize="small")
    else:
        ax.stairs(
            first, shares.edges, fill=True, color=BLUE, alpha=0.4, linewidth=0, label=names[0]
        )
        ax.stairs(second, shares.edges, color=ORANGE, linewidth=1.6, label=names[1])
        ticks(ax.xaxis, shares.kind)
        ends = "the outermost bins include all values beyond them" if shares.clipped else ""
        ax.set_xlabel(", ".join(filter(None, (UNITS.get(shares.kind, ""), ends))), fontsize="small")
        if ends:
            below_offset(ax)
        ax.set_ylabel("% of values", fontsize="small")
        ax.set_ylim(0.0, None)
    open_frame(ax).tick_params(labelsize="small")


def draw_witness_map(ax: Axes, shown: Any, names: Sequence[str]) -> None:
    """Draw the witness function of two columns as a map, with rows of both tables."""
    draw_map(ax, shown.lines, -shown.heights, shown.outside, shown.points, names)
    ax.set(xlabel=shown.columns[0], ylabel=shown.columns[1])
    for axis, kind in zip((ax.xaxis, ax.yaxis), shown.kinds, strict=True):
        ticks(axis, kind)


def plot_pairs(effect: Any, ax: Axes | None = None, *, measure: str = "auc") -> Axes:
    """Draw ``measure`` of every two samples with its interval, largest first.

    ``measure`` is "auc" or "distance".
    """
    choice(measure, ("auc", "distance"), "measure")
    (none, what), rows = {"auc": (0.5, "AUC"), "distance": (0.0, "distance")}[measure], []
    for pair in effect.pairs.values():
        value = getattr(pair, measure)
        interval = getattr(pair, f"{measure}_interval")
        if np.isfinite(value):
            label = " and ".join(short(name, 24) for name in pair.names)
            rows.append((label, value, interval, BLUE if interval[0] > none else GRAY))
    if not rows:
        raise ValueError(f"measure: no {measure} was estimated; choose the other measure")
    every = len(rows)
    rows = sorted(rows, key=lambda row: -float(row[1]))[:_PAIRS]
    ax = draw_intervals(ax, rows, none)
    # long names leave little room for the axes, but there is room at the left of them
    ax.set_xlabel(f"{what} ({percent(effect.confidence)} intervals, each by itself)", loc="right")
    shown = f", {len(rows)} of {every} pairs" if len(rows) < every else ""
    title(ax, f"how different every two samples are{shown}", right=True)
    return ax


def plot_candidates(result: Any, ax: Axes | None = None) -> Axes:
    """Draw how much further than the closest every candidate is (matplotlib).

    Each has its interval.
    """
    nearest, *others = result.ranked[:_PAIRS]
    rows = [(shorten(nearest, _LETTERS, placeholder="..."), 0.0, (0.0, 0.0), BLUE)]
    for name in others:
        pair = next(pair for pair in result.pairs if {nearest, name} == {pair.first, pair.second})
        sign = 1.0 if pair.first == name else -1.0
        value = sign * pair.difference
        limits = np.sort([sign * pair.low, sign * pair.high])
        reach = np.abs(limits[np.isfinite(limits)] - value).max(
            initial=0.0
        )  # infinite limits are drawn as long
        limits = np.clip(limits, value - reach, value + reach)
        color = GRAY if name in result.best else ORANGE
        rows.append((shorten(name, _LETTERS, placeholder="..."), value, limits, color))
    ax = draw_intervals(ax, rows, 0.0)
    further = "further away than" if result.measure == "distance" else "less dependence than on"
    label = f"{further} {rows[0][0]} ({percent(result.confidence)} intervals)"
    ax.set_xlabel(fitted(label, ax), loc="right", parse_math=False)
    rest = (
        f" ({len(rows)} of {len(result.estimates)} shown)"
        if len(rows) < len(result.estimates)
        else ""
    )
    title(
        ax, f"{shorten(result.answer, _LINES * letters(ax), placeholder=' ...')}{rest}", right=True
    )
    return ax


def inline(draw: Callable[[Axes], object], size: tuple[float, float], words: str, name: str) -> str:
    """Return a picture, ``size`` inches large, as an ``svg`` element for its page.

    It has the colors and letters of its page.

    ``words`` say what it shows, for those who cannot see it; ``name`` is unique in the page, for
    the names that parts of the picture refer to each other by.
    """
    pyplot()
    from matplotlib import rc_context, style
    from matplotlib.figure import Figure

    settings: dict[str, Any] = {**_STYLE, "text.parse_math": False, "svg.hashsalt": f"of {name}"}
    with SETTINGS, warnings.catch_warnings(), style.context("default"), rc_context(settings):
        warnings.filterwarnings(
            "ignore", "Glyph .* missing", UserWarning
        )  # the page has letters of its own
        figure = Figure(figsize=size, layout="constrained")
        out = StringIO()
        draw(figure.subplots())
        nothing: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=nothing, dpi=150)
    text = out.getvalue()
    start, _, text = text[text.index("<svg") :].partition(">")
    box = start.split('viewBox="')[1].split('"')[0]
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", text)
    for color, variable in _VARIABLES.items():
        text = text.replace(color.lower(), variable)
    text = text.replace(
        "*{stroke-linejoin: round; stroke-linecap: butt}", ""
    )  # would hold for the whole page
    return f'<svg viewBox="{box}" role="img" aria-label="{escape(words)}">{text.strip()}'


def plot_segments(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the AUC of every segment with its interval (matplotlib)."""
    rows = [row for row in result.rows() if not math.isnan(row["auc"])]
    drawn = [
        (
            f"{row[result.by]} (p = {row['adjusted']:.2g})",
            row["auc"],
            (row["low"], row["high"]),
            BLUE if row["reject"] else GRAY,
        )
        for row in rows
    ]
    ax = draw_intervals(ax, drawn, 0.5)
    ax.set_xlabel("AUC")
    title(ax, f"{' and '.join(result.names)} by {result.by}; blue: differ at {result.alpha:g}")
    return ax
