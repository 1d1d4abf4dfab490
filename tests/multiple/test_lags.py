"""Independence at several lags: the same values over all shifts, and p-values by enumeration."""

from __future__ import annotations

import json
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from shrinktest import MultipleTestsResult, independence_test


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    return x, np.roll(x, 2) + rng.normal(size=200)


@pytest.fixture(scope="module")
def result(data):
    return independence_test(*data, lags=range(-3, 4), shift="circular")


def test_every_lag_has_the_values_of_the_others(result):
    ordered = np.sort(result.null_distributions, axis=0)
    assert np.allclose(ordered, ordered[:, :1], rtol=1e-9, atol=1e-15)


def test_pvalues_are_those_of_the_largest_over_shifts(result):
    assert result.exact and result.labels[result.pvalues.argmin()] == (2,) and isinstance(result, MultipleTestsResult)
    largest = result.null_distributions.max(axis=1)
    assert result.pvalue == pytest.approx(np.mean(largest >= result.statistics.max() - 1e-12))
    assert result.pvalue == pytest.approx(7 / 200)
    assert [row["lag"] for row in result.rows() if row["reject"]] == [2]


def test_a_lag_is_a_test_of_rolled_rows(data, result):
    x, y = data
    alone = independence_test(x, np.roll(y, -2), shift="circular")
    assert result.pvalues[5] == alone.pvalue and result.statistics[5] == pytest.approx(alone.statistic)


def test_series_roll_by_themselves():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 40))
    y = np.roll(x, 1, axis=1) + 0.5 * rng.normal(size=(3, 40))
    found = independence_test(
        x.ravel(), y.ravel(), lags=[0, 1], shift="circular", blocks=np.repeat([0, 1, 2], 40), rng=0, n_resamples=199
    )
    assert found.pvalues.argmin() == 1 and found.pvalue <= 0.01


def test_lags_are_called_lags(data, result):
    assert result.summary().startswith("Kernel independence tests of 7 lags\n")
    one = independence_test(*data, lags=[1], shift="circular")
    assert one.summary().startswith("Kernel independence tests of 1 lag\n")
    for found in (one, independence_test(*data, lags=[0, 1], shift="circular")):
        ax = found.plot()
        assert all(tick == round(tick) for tick in ax.get_xticks())


def test_several_estimators_and_rows_that_come_round(data):
    found = independence_test(*data, lags=[1, 2], shift="circular", estimator=["kme", "mkme"], rng=0)
    assert found.pvalues.argmin() == 1 and [row["lag"] for row in json.loads(found.to_json())["tests"]] == [1, 2]
    alone = independence_test(*data, lags=-1, shift="circular", n_resamples=0)
    assert alone.notes[-2].startswith("This is lag -1 alone; lags=range(-1, 2) tests all lags up to 1.")
    assert "At a lag of 2 the last 2 rows of one series meet the first" in found.notes[-1]


def test_picture(result):
    for alpha, labels in ((0.05, ["adjusted p <= 0.05", "adjusted p > 0.05"]), (0.03, ["adjusted p > 0.03"])):
        ax = replace(result, alpha=alpha).plot()
        assert [text.get_text() for text in ax.get_legend().get_texts()] == labels
        plt.close(ax.figure)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"lags": [0], "shift": None}, ValueError, "shift='circular'"),
        ({"lags": [0, 0]}, ValueError, "must differ"),
        ({"lags": "all"}, TypeError, "whole numbers"),
        ({"lags": [0.5]}, TypeError, "whole numbers"),
        ({"lags": [120]}, ValueError, "below half"),
        ({"lags": range(-10, 11)}, ValueError, "can never reject"),
        ({"lags": [0], "kernel_x": ["gaussian", "laplacian"]}, ValueError, "candidates"),
        ({"lags": [0], "stopping": "curtailed"}, ValueError, "stopping"),
    ],
)
def test_what_cannot_be(data, given, error, message):
    with pytest.raises(error, match=message):
        independence_test(*data, **{"shift": "circular", **given})


@pytest.mark.parametrize("estimator", ["kme", "auto", ["kme", "skmse"]])
@pytest.mark.parametrize("n", [30, 102])  # rows by which ranks and gamma distributions compare statistics
def test_no_pvalue_is_below_lags_over_rows_and_turning_time_round_changes_nothing(estimator, n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = x + 0.3 * rng.normal(size=n)
    told = {"lags": range(-1, 2), "shift": "circular", "estimator": estimator, "n_resamples": np.inf, "alpha": 0.1}
    for one, other in ((x, y), (y, x), (x[::-1], y[::-1])):
        assert independence_test(one, other, rng=0, workers=1, **told).pvalue == pytest.approx(3 / n)
