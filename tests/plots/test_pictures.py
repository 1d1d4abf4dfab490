"""Pictures of null distributions, effects, witness functions, lags and changes."""

from __future__ import annotations

import math
from dataclasses import replace

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color, to_hex, to_rgba

from shrinktest import (
    change_point_test,
    change_points,
    equivalence_test,
    independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.permutations.null import Null
from shrinktest.results.base import TestData
from shrinktest.results.plots.axes import BLUE, GRAY, OF_X, OF_Y, ORANGE
from shrinktest.results.result import make_result

VALUES = np.random.default_rng(0).normal(size=199)


def picture(observed, values=VALUES):
    ax = make_result(
        Null(observed, values, 0.0, False), TestData("own", (5,)), alpha=0.05, rng={}
    ).plot_null()
    ax.figure.canvas.draw()
    return ax


def share(ax, values=VALUES):
    """Of the width of the axes, what the null distribution takes."""
    low, high = ax.get_xlim()
    return float(np.ptp(values)) / (high - low)


def arrows(ax):
    return [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]


@pytest.mark.parametrize("observed", [-3.0, 8.0])
def test_an_observed_statistic_nearby_is_a_line_among_the_others(observed):
    ax = picture(observed)
    low, high = ax.get_xlim()
    assert low < observed < high and not arrows(ax) and not ax.texts
    assert share(ax) > 0.35


@pytest.mark.parametrize("observed", [-1e6, 30.0])
def test_a_far_one_is_an_arrow_at_the_edge_with_its_value(observed):
    ax = picture(observed)
    low, high = ax.get_xlim()
    assert low < VALUES.min() and VALUES.max() < high and not low < observed < high
    assert share(ax) > 0.7  # and not a sliver
    (arrow,), (text,) = arrows(ax), [text for text in ax.texts if text.get_text()]
    direction = np.sign(observed)  # the null distribution is about zero
    assert (
        arrow.xy[0] == (direction > 0)
        and np.sign(arrow.xy[0] - arrow.get_position()[0]) == direction
    )
    assert text.get_text() == f"{observed:.4g}" and to_hex(text.get_color()) == ORANGE.lower()
    box, within = text.get_window_extent(), ax.get_window_extent()
    assert within.x0 <= box.x0 and box.x1 <= within.x1
    bars = [patch.get_window_extent() for patch in ax.patches]
    assert not any(box.overlaps(bar) for bar in bars) and not box.overlaps(
        ax.get_legend().get_window_extent()
    )
    assert ax.get_legend().get_texts()[-1].get_text().startswith(f"observed: {observed:.4g}, p = ")


# --- pictures of effects and of what lies below a margin ---

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 120, 2))
SAMPLES = {"$a": X[:60], "b": X[60:], "c": Y[:60] + 1.0}


@pytest.mark.parametrize(
    "scale, margin, nothing",
    [("distance", 0.05, 0.0), ("auc", 0.65, 0.5), ("dependence", 0.1, 0.0)],
)
def test_an_upper_limit_beside_its_margin(scale, margin, nothing):
    result = equivalence_test(X, Y, margin=margin, measure=scale, names=("$a", "$b"), rng=0)
    ax = result.plot()
    lines = {line.get_label(): line for line in ax.lines}
    limit = next(line for label, line in lines.items() if label.startswith("up to the upper limit"))
    assert limit.get_xdata().tolist() == [result.estimate, result.upper]
    assert lines["estimate"].get_color() == (BLUE if result.equivalent else GRAY)
    assert lines["margin"].get_xdata()[0] == margin
    assert (
        next(line for label, line in lines.items() if label.startswith("no ")).get_xdata()[0]
        == nothing
    )
    assert "$a and $b" in ax.get_title().replace("\n", " ") and ax.get_xlabel() in (
        "distance",
        "separability",
        "dependence",
    )
    ax.figure.canvas.draw()
    none = replace(result, upper=math.nan).plot()
    assert not any(line.get_label().startswith("up to") for line in none.lines)


@pytest.mark.parametrize("measure, nothing", [("auc", 0.5), ("distance", 0.0)])
def test_every_two_samples_with_intervals(measure, nothing):
    effect = k_sample_test(SAMPLES, n_resamples=99, rng=0).effect()
    ax = effect.plot(measure=measure)
    order = sorted(effect.pairs.values(), key=lambda pair: -getattr(pair, measure))
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        " and ".join(pair.names) for pair in order
    ]
    for pair, line in zip(order, ax.lines[0::2], strict=False):
        assert tuple(line.get_xdata()) == getattr(pair, f"{measure}_interval")
        assert line.get_color() == (
            BLUE if getattr(pair, f"{measure}_interval")[0] > nothing else GRAY
        )
    ax.figure.canvas.draw()


# --- pictures of where two samples differ: one color for one sample, in the ground and in the points ---

WITNESS_RNG = np.random.default_rng(2)
WITNESS_X, WITNESS_Y = (
    WITNESS_RNG.normal(size=(40, 2)),
    WITNESS_RNG.normal((1.8, 0.0), size=(30, 2)),
)


def run(x, y, **options):
    return two_sample_test(x, y, n_resamples=99, rng=0, workers=1, **options)


def labeled(artists):
    return {artist.get_label(): artist for artist in artists}


def test_the_ground_below_a_curve_has_the_color_of_the_sample_that_is_more():
    result = run(WITNESS_X[:, 0], WITNESS_Y[:, 0])
    ax = result.plot_witness(grid=41)
    curve = labeled(ax.lines)["witness"]
    at, height = curve.get_data()
    np.testing.assert_allclose(height, result.witness(at))
    grounds, rugs = labeled(ax.collections), labeled(ax.lines)
    for name, color, sign in (("X", OF_X, 1.0), ("Y", OF_Y, -1.0)):
        ground = grounds[f"more of {name}"]
        assert same_color(ground.get_facecolor()[0][:3], color) and same_color(
            rugs[name].get_color(), color
        )
        reached = np.abs(np.concatenate([path.vertices[:, 1] for path in ground.get_paths()])).max()
        assert reached == pytest.approx(
            max(sign * height.max() if sign > 0 else -height.min(), 0.0)
        )
        corners = np.concatenate([path.vertices for path in ground.get_paths()])
        assert (sign * corners[:, 1] >= 0.0).all()  # above zero is X's, below it Y's
    for name in ("witness", "outside the band"):  # of neither sample
        assert same_color(rugs[name].get_color(), "black")


def test_dates_and_levels_are_drawn_as_such():
    rng = np.random.default_rng(0)

    def table(later):
        days = pd.Timestamp("2023-04-01") + pd.to_timedelta(
            rng.integers(0, 60, 30) + later, unit="D"
        )
        pain = pd.Categorical(
            rng.choice(["none", "some", "much"], 30), ["none", "some", "much"], ordered=True
        )
        return pd.DataFrame(
            {"visit": days, "pain": pain, "wait": pd.to_timedelta(rng.integers(1, 9, 30), unit="D")}
        )

    first, second = table(0), table(20)
    result = run(first, second)
    ax = result.plot_witness(coordinates=("visit", "pain"), grid=7)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("visit", "pain")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["none", "some", "much"]
    drawn = labeled(ax.collections)["X"].get_offsets().data
    known = mdates.date2num(first["visit"]), first["pain"].cat.codes
    np.testing.assert_allclose(drawn, np.stack(known, axis=1), atol=1e-6)
    ax.figure.canvas.draw()
    assert ax.xaxis.get_major_formatter().get_offset() == "2023"
    assert result.plot_witness(coordinates="wait", grid=7).get_xlabel() == "wait (days)"
    ranked = two_sample_test(first, second, scale="rank", n_resamples=19, rng=0)
    assert ranked.plot_witness(coordinates="visit", grid=7).get_xlabel() == "rank of visit"


def test_the_ground_of_a_map_has_the_color_of_the_sample_that_is_more():
    result = run(WITNESS_X, WITNESS_Y, names=("before", "after"))
    ax = result.plot_witness(grid=9)
    ground, points = ax.collections[0], labeled(ax.collections)
    norm, colors = ground.norm, ground.get_cmap()
    assert same_color(colors(norm(norm.vmax))[:3], OF_X) and same_color(
        colors(norm(norm.vmin))[:3], OF_Y
    )
    for name, color in (("before", OF_X), ("after", OF_Y)):
        assert same_color(points[name].get_facecolor()[0], color)
    assert (
        result.witness([WITNESS_X.mean(axis=0)])[0]
        > 0.0
        > result.witness([WITNESS_Y.mean(axis=0)])[0]
    )
    assert "Where before and after differ" in ax.get_title()
    assert ax.figure.axes[1].get_ylabel().startswith("witness, above 0: more of before")


# --- pictures of statistics at lags, of changes along time, and of combined statistics ---

SERIES_RNG = np.random.default_rng(0)
SERIES_X = SERIES_RNG.normal(size=200)
SERIES_Y = np.roll(SERIES_X, 2) + 0.1 * SERIES_RNG.normal(size=200)
STAIRS = np.repeat([0.0, 4.0, 0.0], 20) + SERIES_RNG.normal(size=60)
FEW = {"n_resamples": 99, "rng": 0}


def test_lags():
    result = independence_test(
        SERIES_X, SERIES_Y, lags=[0, 1, 2, 3], block_length="whole", n_resamples=199, rng=0
    )
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
    many = np.column_stack([STAIRS, *SERIES_RNG.normal(size=(11, 60))])
    result = change_points(many, **FEW)
    ax = result.plot()
    ax.figure.canvas.draw()
    assert ax.get_ylabel()


def test_a_combined_null_distribution():
    result = two_sample_test(SERIES_X[:20], SERIES_Y[:20], estimator="auto", **FEW)
    ax = result.plot_null()
    assert ax.get_title().endswith(f"{len(result.members)} statistics combined")
    assert any(line.get_xdata()[0] == pytest.approx(result.statistic) for line in ax.lines)
