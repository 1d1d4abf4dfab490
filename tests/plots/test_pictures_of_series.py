"""Pictures of statistics at lags, of changes along time, and of combined statistics."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from shrinktest import change_point_test, change_points, independence_test, two_sample_test
from shrinktest.plots.axes import BLUE, ORANGE

RNG = np.random.default_rng(0)
X = RNG.normal(size=200)
Y = np.roll(X, 2) + 0.1 * RNG.normal(size=200)
STAIRS = np.repeat([0.0, 4.0, 0.0], 20) + RNG.normal(size=60)
FEW = {"n_resamples": 99, "rng": 0}


def test_lags():
    result = independence_test(X, Y, lags=[0, 1, 2, 3], shift="circular", n_resamples=199, rng=0)
    ax = result.plot()
    stems = {}
    for lines in ax.collections:
        for (lag, _), (_, height) in lines.get_segments():
            stems[round(lag)] = height, tuple(lines.get_color()[0])
    assert [stems[lag][0] for lag in range(4)] == result.statistics.tolist()
    rejected = result.reject()
    assert rejected.any() and not rejected.all()
    assert all(stems[lag][1] == to_rgba(ORANGE if rejected[lag] else BLUE) for lag in range(4))


def test_a_change_along_durations():
    times = np.arange(60) * np.timedelta64(90, "m")
    result = change_point_test(STAIRS[:40], times=times[:40], **FEW)
    ax = result.plot()
    assert ax.get_xlabel() == "time, in days"
    curve = max(ax.lines, key=lambda line: len(line.get_xdata()))
    assert 0.0 <= min(curve.get_xdata()) < max(curve.get_xdata()) <= 39 * 1.5 / 24


def test_several_changes_without_the_rows():
    many = np.column_stack([STAIRS, *RNG.normal(size=(11, 60))])
    result = change_points(many, **FEW)
    ax = result.plot()
    ax.figure.canvas.draw()
    assert ax.get_ylabel()


def test_a_combined_null_distribution():
    result = two_sample_test(X[:20], Y[:20], estimator="auto", **FEW)
    ax = result.plot_null()
    assert ax.get_title().endswith(f"{len(result.members)} statistics combined")
    assert any(line.get_xdata()[0] == pytest.approx(result.statistic) for line in ax.lines)
