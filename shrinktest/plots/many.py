"""Heat map of many tests; matplotlib is imported when one is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest.plots.along import short
from shrinktest.plots.axes import axes, letters, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.multiple import MultipleTestsResult

_NUMBERS = 12  # cells in a row up to which every p-value is written out
_MOST = 36  # columns of which each has its name
_NAMES = 20  # that fit along an axis
_UPRIGHT = 6  # of which names stand upright, if they are short enough
_LETTERS = 24  # of a name
_DARK = 0.4  # of the way to the darkest colour, from which black letters could not be read


def plot_many(tests: MultipleTestsResult, ax: Axes | None = None) -> Axes:
    """Adjusted p-values, dark where small: a row of columns, or a matrix of pairs; a star where rejected."""
    if not len(tests.null_distributions):
        raise ValueError("n_resamples=0 leaves no p-values to plot; run the tests with some permutations")
    ax = axes(ax)
    every = len(tests)
    if len(tests.keys) == 1 and every > _MOST:
        tests = _strongest(tests)
    lines = list(dict.fromkeys(label[0] for label in tests.labels)) if len(tests.keys) == 2 else [""]
    across = list(dict.fromkeys(label[-1] for label in tests.labels))
    grid, marked = np.full((len(lines), len(across)), np.nan), np.zeros((len(lines), len(across)), dtype=bool)
    for label, pvalue, rejected in zip(tests.labels, tests.adjusted, tests.reject(), strict=True):
        where = lines.index(label[0]) if len(tests.keys) == 2 else 0, across.index(label[-1])
        grid[where], marked[where] = pvalue, rejected
    least = 1.0 / (len(tests.null_distributions) + (not tests.exact))
    shades, lowest = np.log10(np.maximum(grid, least)), min(np.log10(least), -1.0)
    image = ax.imshow(shades, cmap="cividis", vmin=lowest, vmax=0.0, aspect="auto")
    for i, j in np.argwhere(~np.isnan(grid)):
        star = "*" if marked[i, j] else ""
        text = f"{grid[i, j]:.2g}{star}" if len(across) <= _NUMBERS else star
        ax.text(j, i, text, ha="center", va="center", color="white" if shades[i, j] < _DARK * lowest else "black")
    places, names = _names(across, marked.any(axis=0))
    if len(tests) < every:
        ax.set_xticks(range(len(across)), [*map(short, across)], rotation=90, fontsize="small", parse_math=False)
    elif len(across) > _UPRIGHT or len(across) * max(map(len, names)) > letters(ax):
        slanted: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}  # which ends at its tick
        ax.set_xticks(places, names, **slanted, parse_math=False)
    else:
        ax.set_xticks(places, names, parse_math=False)
    ax.set_yticks(*_names(lines, marked.any(axis=1)), parse_math=False)
    if len(tests.keys) == 1:  # one line
        ax.set_yticks([])
    which = f"\nthe {len(tests)} smallest p-values of {every}" if len(tests) < every else ""
    title(ax, f"{tests.test} tests, adjusted ({tests.method}); * rejected at {tests.alpha:g}{which}")
    ax.figure.colorbar(image, ax=ax, label="log10 of the adjusted p-value")
    return ax


def _strongest(tests: MultipleTestsResult) -> MultipleTestsResult:
    """The tests with the smallest p-values, these first."""
    order = np.lexsort((np.arange(len(tests)), tests.pvalues, tests.adjusted))[:_MOST]
    numbers = ("statistics", "pvalues", "adjusted", "tolerances")
    return replace(
        tests,
        labels=tuple(tests.labels[i] for i in order),
        null_distributions=tests.null_distributions[:, order],
        **{name: getattr(tests, name)[order] for name in numbers},
    )


def _names(labels: list[str], marked: Any) -> tuple[list[int], list[str]]:
    """Places along an axis and their names: all, or as many as can be read, those with a star if they are so few."""
    places = list(range(0, len(labels), -(-len(labels) // _NAMES)))
    if len(labels) > _NAMES and 0 < marked.sum() <= _NAMES:
        places = np.flatnonzero(marked).tolist()
    return places, [short(labels[i], _LETTERS) for i in places]
