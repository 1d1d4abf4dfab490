"""Pictures of where two samples differ: one colour for one sample, in the ground and in the points."""

from __future__ import annotations

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from shrinktest import two_sample_test
from shrinktest.plots.axes import OF_X, OF_Y

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(40, 2)), RNG.normal((1.8, 0.0), size=(30, 2))


def run(x, y, **options):
    return two_sample_test(x, y, n_resamples=99, rng=0, workers=1, **options)


def labelled(artists):
    return {artist.get_label(): artist for artist in artists}


def test_the_ground_below_a_curve_has_the_colour_of_the_sample_that_is_more():
    result = run(X[:, 0], Y[:, 0])
    ax = result.plot_witness(grid=41)
    curve = labelled(ax.lines)["witness"]
    at, height = curve.get_data()
    np.testing.assert_allclose(height, result.witness(at))
    grounds, rugs = labelled(ax.collections), labelled(ax.lines)
    for name, colour, sign in (("X", OF_X, 1.0), ("Y", OF_Y, -1.0)):
        ground = grounds[f"more of {name}"]
        assert same_color(ground.get_facecolor()[0][:3], colour) and same_color(rugs[name].get_color(), colour)
        reached = np.abs(np.concatenate([path.vertices[:, 1] for path in ground.get_paths()])).max()
        assert reached == pytest.approx(max(sign * height.max() if sign > 0 else -height.min(), 0.0))
        corners = np.concatenate([path.vertices for path in ground.get_paths()])
        assert (sign * corners[:, 1] >= 0.0).all()  # above zero is X's, below it Y's
    for name in ("witness", "outside the band"):  # of neither sample
        assert same_color(rugs[name].get_color(), "black")


def test_dates_and_levels_are_drawn_as_such():
    rng = np.random.default_rng(0)

    def table(later):
        days = pd.Timestamp("2023-04-01") + pd.to_timedelta(rng.integers(0, 60, 30) + later, unit="D")
        pain = pd.Categorical(rng.choice(["none", "some", "much"], 30), ["none", "some", "much"], ordered=True)
        return pd.DataFrame({"visit": days, "pain": pain, "wait": pd.to_timedelta(rng.integers(1, 9, 30), unit="D")})

    first, second = table(0), table(20)
    result = run(first, second)
    ax = result.plot_witness(coordinates=("visit", "pain"), grid=7)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("visit", "pain")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["none", "some", "much"]
    drawn = labelled(ax.collections)["X"].get_offsets().data
    known = mdates.date2num(first["visit"]), first["pain"].cat.codes
    np.testing.assert_allclose(drawn, np.stack(known, axis=1), atol=1e-6)
    ax.figure.canvas.draw()
    assert ax.xaxis.get_major_formatter().get_offset() == "2023"
    assert result.plot_witness(coordinates="wait", grid=7).get_xlabel() == "wait (days)"
    ranked = two_sample_test(first, second, scale="rank", n_resamples=19, rng=0)
    assert ranked.plot_witness(coordinates="visit", grid=7).get_xlabel() == "rank of visit"


def test_the_ground_of_a_map_has_the_colour_of_the_sample_that_is_more():
    result = run(X, Y, names=("before", "after"))
    ax = result.plot_witness(grid=9)
    ground, points = ax.collections[0], labelled(ax.collections)
    norm, colours = ground.norm, ground.get_cmap()
    assert same_color(colours(norm(norm.vmax))[:3], OF_X) and same_color(colours(norm(norm.vmin))[:3], OF_Y)
    for name, colour in (("before", OF_X), ("after", OF_Y)):
        assert same_color(points[name].get_facecolor()[0], colour)
    assert result.witness([X.mean(axis=0)])[0] > 0.0 > result.witness([Y.mean(axis=0)])[0]
    assert "Where before and after differ" in ax.get_title()
    assert ax.figure.axes[1].get_ylabel().startswith("witness, above 0: more of before")
