"""The picture of a null distribution: readable wherever the observed statistic is."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from shrinktest.permutations.null import Null
from shrinktest.plots.axes import ORANGE
from shrinktest.results.base import TestData
from shrinktest.results.result import make_result

VALUES = np.random.default_rng(0).normal(size=199)


def picture(observed, values=VALUES):
    ax = make_result(Null(observed, values, 0.0, False), TestData("own", (5,)), alpha=0.05, rng={}).plot_null()
    ax.figure.canvas.draw()
    return ax


def share(ax, values=VALUES):
    """Of the width of the axes, what the null distribution takes."""
    low, high = ax.get_xlim()
    return float(np.ptp(values)) / (high - low)


def arrows(ax):
    return [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]


@pytest.mark.parametrize("observed", [-3.0, 0.0, 4.0, 8.0])
def test_an_observed_statistic_nearby_is_a_line_among_the_others(observed):
    ax = picture(observed)
    low, high = ax.get_xlim()
    assert low < observed < high and not arrows(ax) and not ax.texts
    assert share(ax) > 0.35


@pytest.mark.parametrize("observed", [-1e6, -40.0, 30.0, 1e4])
def test_a_far_one_is_an_arrow_at_the_edge_with_its_value(observed):
    ax = picture(observed)
    low, high = ax.get_xlim()
    assert low < VALUES.min() and VALUES.max() < high and not low < observed < high
    assert share(ax) > 0.7  # and not a sliver
    (arrow,), (text,) = arrows(ax), [text for text in ax.texts if text.get_text()]
    direction = np.sign(observed)  # the null distribution is about zero
    assert arrow.xy[0] == (direction > 0) and np.sign(arrow.xy[0] - arrow.get_position()[0]) == direction
    assert text.get_text() == f"{observed:.4g}" and to_hex(text.get_color()) == ORANGE.lower()
    box, within = text.get_window_extent(), ax.get_window_extent()
    assert within.x0 <= box.x0 and box.x1 <= within.x1
    bars = [patch.get_window_extent() for patch in ax.patches]
    assert not any(box.overlaps(bar) for bar in bars) and not box.overlaps(ax.get_legend().get_window_extent())
    assert ax.get_legend().get_texts()[-1].get_text().startswith(f"observed: {observed:.4g}, p = ")
