"""solve_sample_size: the answer, its interval, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from scipy.stats import norm

from shrinktest import solve_sample_size
from shrinktest.power import power_study
from shrinktest.power.designs import FromData, Linear, MeanShift
from shrinktest.power.sample_size import _fieller, _solve

matplotlib.use("Agg")

QUICK = {"n_trials": 240, "n_resamples": 99, "workers": 1, "rng": 1}


@pytest.fixture(scope="module")
def found():
    return solve_sample_size(MeanShift(dimension=2, shift=1.0), **QUICK)


def test_interval_holds_the_answer_and_the_trials_are_shown(found):
    assert found.low < found.n < found.high
    assert found.table["trials"].sum() >= QUICK["n_trials"]
    assert found.table["n"].is_monotonic_increasing
    assert ((found.table["low"] <= found.table["power"]) & (found.table["power"] <= found.table["high"])).all()
    assert found.fitted_power(found.n) >= 0.8 > found.fitted_power(found.n - 1)


def test_fresh_trials_check_power_and_level(found):
    power, level = (found.check[found.check["null"] == null].iloc[0] for null in (False, True))
    assert power["n"] == level["n"] == found.n
    assert power["low"] <= 0.8 <= power["high"]
    assert level["low"] <= 0.05 <= level["high"]


def test_direct_powers_agree(found):
    """At the ends of the interval the power is on either side of the one asked for, as far as 300 trials can tell."""
    ends = [int(np.floor(found.low)), int(np.ceil(found.high))]
    study = power_study(found.design, "kme", ends, n_trials=300, n_resamples=99, rng=1, workers=1, progress=False)
    below, above = study.table.sort_values("n").itertuples()
    assert below.low < 0.8 < above.high


def test_the_same_call_gives_the_same_answer_and_a_store_keeps_the_trials(found, tmp_path):
    store = tmp_path / "trials.sqlite"
    again = solve_sample_size(MeanShift(dimension=2, shift=1.0), store=store, **QUICK)
    assert again.n == found.n and (again.low, again.high) == (found.low, found.high)
    assert store.stat().st_size > 0
    assert solve_sample_size(MeanShift(dimension=2, shift=1.0), store=store, **QUICK).table.equals(found.table)


def test_pilot_data_and_ratio():
    rng = np.random.default_rng(0)
    pilot = FromData(rng.normal(size=(30, 2)), rng.normal(0.9, 1.0, size=(30, 2)))
    assert solve_sample_size(pilot, ratio=2.0, **QUICK).design.ratio == 2.0


def test_independence_counts_pairs():
    summary = solve_sample_size(Linear(noise=1.0), estimator="skmse", **QUICK).summary()
    assert "pairs give the skmse test power 0.8" in summary and "level" in summary


def test_plot_marks_the_answer(found):
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"n = {found.n}" in labels and "95% interval" in labels
    assert ax.get_xlabel() == "sample size n"
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("estimator", ["kme", "FKMSE(lam_cov=0.3), of a laboratory with a long name, " * 3])
def test_plot_has_its_title_within_the_figure_and_its_legend_beside_the_line(found, estimator):
    ax = replace(found, estimator=estimator).plot()
    figure = ax.figure
    figure.canvas.draw()
    title, legend = ax.title.get_window_extent(), ax.get_legend().get_window_extent()
    within = figure.bbox
    for box in (title, legend):
        assert within.x0 <= box.x0 and box.x1 <= within.x1 and within.y0 <= box.y0 and box.y1 <= within.y1
    assert ax.get_title() == f"{estimator}, {found.design!r}"
    assert legend.x0 >= ax.get_window_extent().x1 and title.y0 >= ax.get_window_extent().y1
    matplotlib.pyplot.close(figure)


def test_plot_on_given_axes_keeps_its_legend_within_them(found):
    figure, axes = matplotlib.pyplot.subplots(1, 2, figsize=(12, 4))  # nothing makes room beside them
    assert found.plot(axes[0]) is axes[0]
    figure.canvas.draw()
    legend, box = axes[0].get_legend().get_window_extent(), axes[0].get_window_extent()
    assert box.x0 <= legend.x0 and legend.x1 <= box.x1
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"power": 0.05}, "above the level"),
        ({"power": 1.0}, "power must lie strictly between 0 and 1"),
        ({"alpha": 0.0}, "alpha must lie strictly between 0 and 1"),
        ({"n_trials": 10}, "n_trials"),
        ({"ratio": -1.0}, "ratio"),
        ({"largest": 8}, "not reached"),
        ({"estimator": "fkmsee"}, "Did you mean 'fkmse'"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        solve_sample_size(MeanShift(dimension=5, shift=0.1), **{**QUICK, **arguments})


def test_a_ratio_needs_two_samples():
    with pytest.raises(ValueError, match="one sample of pairs"):
        solve_sample_size(Linear(), ratio=2.0, **QUICK)


def test_the_size_solves_the_fitted_curve():
    coefficients = np.array([-3.0, 1.2])
    n = _solve(coefficients, 0.8, 0.0, 2, 10_000)
    assert norm.cdf(-3.0 + 1.2 * np.log(n)) >= 0.8 > norm.cdf(-3.0 + 1.2 * np.log(n - 1))
    assert _solve(np.array([0.0, -1.0]), 0.8, 0.0, 2, 500) == 500


def test_fieller_against_simulation():
    """The interval covers the crossing of the true curve in about 95 % of draws from the estimates' law."""
    truth, covariance = np.array([-3.0, 1.2]), np.array([[0.02, -0.006], [-0.006, 0.002]])
    crossing = np.exp((norm.ppf(0.8) + 3.0) / 1.2)
    draws = np.random.default_rng(0).multivariate_normal(truth, covariance, size=4000)
    intervals = [_fieller(draw, covariance, 0.8, 0.95) for draw in draws]
    covered = sum(low <= crossing <= high for low, high in intervals)
    assert 3720 <= covered <= 3875  # 95 % of 4000 within 5 standard errors


def test_fieller_without_a_slope_has_no_end():
    assert _fieller(np.array([0.0, 0.01]), np.diag([0.01, 0.01]), 0.8, 0.95) == (0.0, float("inf"))
