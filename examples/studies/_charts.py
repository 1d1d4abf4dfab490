"""Charts that several pages share, drawn from data files: the levels of tests, and rows of dots.

They are as wide as a column of text, with letters that can be read there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The chance with which a test of exactly this level stays inside the band.
CONFIDENCE = 0.999


def figure(height: float, columns: int = 1, width: float = 7.5, **options):
    """A figure as wide as the text, and its axes."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    axes = made.subplots(1, columns, **options)
    for ax in [axes] if columns == 1 else axes:
        ax.spines[["top", "right"]].set_visible(False)
    return made, axes


def band(alpha: float, trials: int) -> tuple[float, float]:
    """Interval that holds the share of rejections of an exact test with probability CONFIDENCE."""
    from scipy.stats import binom

    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = (float(binom.ppf(q, trials, alpha)) / trials for q in (tail, 1.0 - tail))
    return low, high


def rows(ax: Axes, names: Sequence[str]) -> None:
    """Names down the left side, the first one on top, with a faint line through each row."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", linewidth=0.4, color="#DDDDDD")
    ax.set_axisbelow(True)


def levels(
    groups: dict[str, pd.Series],
    trials: int,
    alpha: float = 0.05,
    wrong: Sequence[str] = (),
    xlabel: str = "Type I error rate at the 5% level",
) -> Figure:
    """Plot the rates of events with probability ``alpha``: a row for every group, a dot for every setting.

    ``wrong`` names the groups of tests that are not valid.
    """
    made, ax = figure(0.9 + 0.34 * len(groups))
    ax.axvspan(
        *band(alpha, trials),
        color="#DDDDDD",
        label="nominal level ± simulation error",
    )
    for place, (name, rates) in enumerate(groups.items()):
        spread = (
            [0.5 * ((i * 0.618034) % 1.0 - 0.5) for i in range(len(rates))]
            if len(rates) > 1
            else [0.0]
        )
        look = {"color": ORANGE, "marker": "D"} if name in wrong else {"color": BLUE, "marker": "o"}
        ax.plot(
            rates, [place + y for y in spread], linestyle="", markersize=4.0, alpha=0.75, **look
        )
    rows(ax, list(groups))
    ax.set_xlabel(xlabel)
    if alpha < 0.5:
        ax.set_xlim(0.0, None)
        ax.set_xlim(0.0, max(ax.get_xlim()[1], 3.0 * alpha))
    if wrong:
        ax.plot([], [], "D", color=ORANGE, label="not valid here")
    made.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=2,
        frameon=False,
        fontsize="small",
    )
    return made


def dots(
    table: pd.DataFrame,
    xlabel: str,
    looks: dict[str, tuple[str, str]],
    reference: float | None = None,
) -> Figure:
    """A row for every index, a dot for every column; ``looks`` has a marker and a color for each column."""
    made, ax = figure(1.2 + 0.27 * len(table))
    if reference is not None:
        ax.axvline(reference, color=GRAY, linewidth=0.8, linestyle=":")
    for label, (marker, color) in looks.items():
        ax.plot(
            table[label],
            range(len(table)),
            marker,
            color=color,
            label=label,
            markersize=5.5,
            alpha=0.9,
        )
    rows(ax, list(map(str, table.index)))
    ax.set_xlabel(xlabel)
    made.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=4,
        frameon=False,
        fontsize="small",
    )
    return made
