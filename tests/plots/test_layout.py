"""Pictures have room for their texts, also when threads draw them."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import combinations
from threading import Event

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from _ci import some_wait
from shrinktest import (
    change_point_test,
    change_points,
    closer_test,
    compare,
    equivalence_test,
    independence_matrix,
    independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.power import power_study
from shrinktest.results.plots.axes import save
from shrinktest.results.plots.comparison import inline

LONG = r"a very long name_ of what was\frac observed, in 10^6 $ {a} month"
LONGS = tuple(f"{LONG}, no. {i}" for i in range(3))
RNG = np.random.default_rng(0)
X, Y, Z = (RNG.normal(shift, 1.0, size=(30, 2)) for shift in (0.0, 1.0, 1.5))
TABLES = [pd.DataFrame(values, columns=[LONG, "two\nlines"]) for values in (X, Y)]
SERIES = np.r_[X[:, 0], 4.0 + Y[:, 0]]
DAYS = pd.date_range("2024-03-01", periods=60)
HOURS = pd.date_range("2024-03-01", periods=60, freq="h", tz="Asia/Tokyo")
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def boxes(ax):
    """Boxes of the visible texts of a picture, by text."""
    ax.figure.canvas.draw()
    hidden = set()
    for axis in (axis for axes in ax.figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                hidden |= {tick.label1, tick.label2}
    words = [
        text for text in ax.figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    return {text: text.get_window_extent() for text in words if text not in hidden}


def cut_off(ax):
    figure = ax.figure.bbox
    return [
        text.get_text()
        for text, box in boxes(ax).items()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.width + 1 or box.y1 > figure.height + 1
    ]


def covering(ax):
    pairs = combinations(
        [
            (text, box.shrunk(0.9, 0.7))
            for text, box in boxes(ax).items()
            if not text.get_rotation()
        ],
        2,
    )
    return [
        (text.get_text(), other.get_text())
        for (text, box), (other, other_box) in pairs
        if box.overlaps(other_box)
    ]


PICTURES = {
    "closer": lambda: closer_test(X, Y, Z, names=LONGS).plot(),
    "closer, many": lambda: closer_test(X, {f"{LONG}, no. {i}": Y + i for i in range(30)}).plot(),
    "witness, a curve": lambda: two_sample_test(*TABLES, names=LONGS[:2], **FEW).plot_witness(
        coordinates=LONG, grid=7
    ),
    "witness, a map": lambda: two_sample_test(*TABLES, **FEW).plot_witness(
        coordinates=("two\nlines", LONG), grid=7
    ),
    "samples": lambda: (
        k_sample_test(dict(zip(LONGS, (X, Y, Z), strict=True)), **FEW).effect().plot()
    ),
    "members": lambda: independence_test(X, Y, estimator="auto", **FEW).plot(),
    "columns": lambda: two_sample_test_columns(*TABLES, **FEW).plot(),
    "matrix": lambda: independence_matrix(*TABLES, **FEW).plot(),
    "margin": lambda: equivalence_test(
        X, Y, margin=0.3, measure="distance", names=LONGS[:2], rng=0
    ).plot(),
    "comparison": lambda: compare(*TABLES, names=("$A_$", "$B"), **FEW).plot()[0],
    "outermost bins": lambda: compare(
        *(np.exp(20.0 + 2.0 * sample[:, :1]) for sample in (X, Y)), **FEW
    ).plot()[0],
    "change, days": lambda: change_point_test(SERIES, times=DAYS, **FEW).plot(),
    "change, hours": lambda: change_point_test(SERIES, times=HOURS, **FEW).plot(),
    "changes": lambda: change_points(SERIES, times=DAYS, **FEW).plot(),
}


#: Of the same kinds as others, with other data.
LATER = (
    "closer, many",
    "witness, a curve",
    "members",
    "matrix",
    "outermost bins",
    "change, hours",
    "changes",
)


@pytest.mark.parametrize("called", some_wait(PICTURES, LATER))
def test_no_words_are_cut_off_or_covered_and_a_dollar_is_a_dollar(called):
    ax = PICTURES[called]()
    assert not cut_off(ax) and not covering(ax)
    words = [
        text
        for text in ax.figure.findobj(Text)
        if "$" in text.get_text() and "mathdefault" not in text.get_text()
    ]
    assert not any(text.get_parse_math() for text in words)


@pytest.mark.ci
def test_two_pictures_side_by_side():
    change = change_point_test(SERIES, times=DAYS, **FEW)
    equivalence, columns = (
        equivalence_test(X, Y, margin=0.3, measure="distance", rng=0),
        two_sample_test_columns(*TABLES, **FEW),
    )
    for result in (change, equivalence, columns):
        _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
        result.plot(left)
        assert not cut_off(result.plot(right)) and not covering(right)


def test_a_small_picture_has_its_legend_inside():
    _, ax = plt.subplots(figsize=(3, 2), layout="constrained")
    change_point_test(SERIES, times=DAYS, **FEW).plot(
        ax
    ).figure.canvas.draw()  # a warning would be an error
    assert ax.get_window_extent().height > 20.0


def test_lines_are_seen_on_a_dark_ground():
    with plt.style.context("dark_background"):
        curve = two_sample_test(X, Y, **FEW).plot_witness(coordinates=0, grid=7)
        (zero,) = closer_test(X, Y, Z).plot().lines[-1:]
        margin = equivalence_test(X, Y, margin=0.3, measure="distance", rng=0).plot()
        pairs = k_sample_test(X, Y, Z, **FEW).effect().plot()
        power = power_study(
            "mean-shift", ["kme"] * 1, [10], n_trials=2, n_resamples=19, workers=1, rng=0
        )
        seen = [line for ax in (curve, margin, pairs, power.plot()) for line in ax.lines]
    assert not [line for line in (zero, *seen) if line.get_color() in ("black", "#000000")]


def test_ticks_are_in_the_time_zone_of_the_times():
    ax = change_point_test(SERIES, times=HOURS, **FEW).plot()
    ax.figure.canvas.draw()
    shown = [
        tick for tick in ax.xaxis.get_major_ticks() if tick.label1.get_text() == "02"
    ]  # the second of March
    assert shown and plt.matplotlib.dates.num2date(shown[0].get_loc(), HOURS.tz).hour == 0


@pytest.mark.ci
def test_p_values_of_many_changes_do_not_cover_each_other():
    values = np.repeat(np.arange(10) % 2 * 9.0, 20) + RNG.normal(size=200)
    result = change_points(values, **FEW | {"n_resamples": 999})
    ax = result.plot()
    assert len(result) == 9 and not ax.texts and not covering(ax)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"first row after a change, largest p = {result.adjusted.max():.2g}" in legend


def test_every_curve_of_a_power_study_looks_different():
    estimators = {f"$x_{i}$": "kme" for i in range(9)}
    study = power_study(
        "mean-shift", estimators, [10], n_trials=2, n_resamples=19, workers=1, rng=0
    )
    ax = study.plot()
    ax.figure.canvas.draw()
    looks = {
        (line.get_color(), line.get_marker()) for line in ax.lines if line.get_label() in estimators
    }
    assert len(looks) == 9 and not any(
        text.get_parse_math() for text in ax.get_legend().get_texts()
    )
    assert ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1  # covers nothing
    assert all(float(tick) == round(tick) for tick in ax.get_xticks())


def test_letters_that_the_font_lacks_give_no_warning(tmp_path):
    result = two_sample_test(X, Y, names=("对照组", "新 $x$"), **FEW)
    save(result.plot_witness, str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").exists()


# --- pictures that several threads draw: matplotlib's settings and the filters of warnings are as they were ---

SHORT = 0.3  # seconds that a thread waits for one that must not come


@contextmanager
def as_before():
    """Fails where the settings of the process are others afterwards, and puts them back."""
    settings, filters = dict(matplotlib.rcParams), list(warnings.filters)
    yield
    left = dict(matplotlib.rcParams), list(warnings.filters)
    matplotlib.rcParams.update(settings)
    warnings.filters[:] = filters
    assert left == (settings, filters)


def crossed(first, second):
    """Draw twice: the second drawing begins during the first and ends after it, unless something prevents that."""
    begun, entered, ended = Event(), Event(), Event()

    def long(*args):
        begun.set()
        entered.wait(SHORT)

    def longer(*args):
        entered.set()
        ended.wait(SHORT)

    with as_before(), ThreadPoolExecutor(2) as pool:
        first_future = pool.submit(first, long)
        assert begun.wait(10.0), first_future.exception(10.0)
        second_future = pool.submit(second, longer)
        first_future.result()
        ended.set()
        second_future.result()


def test_of_a_page():
    crossed(*[lambda draw: inline(draw, (2.0, 2.0), "nothing", "a")] * 2)


def test_a_column_called_none():
    assert inline(lambda ax: None, (2.0, 2.0), "nothing", "none").startswith("<svg")


def test_of_a_comparison(monkeypatch):
    rng = np.random.default_rng(0)
    result = compare(
        rng.normal(size=(20, 1)), rng.normal(size=(20, 1)), estimator="kme", n_resamples=19, rng=0
    )

    def picture(draw):
        with monkeypatch.context() as patch:
            patch.setattr("shrinktest.results.plots.comparison.draw_distribution", draw)
            result.plot(figure=matplotlib.figure.Figure())

    crossed(lambda draw: inline(draw, (2.0, 2.0), "nothing", "a"), picture)
