"""Effects of columns by hand, their intervals against statsmodels, and differences of distances by loops."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import naive_closer as naive
from shrinktest.data.all_rows import pooled_tables
from shrinktest.effects.columns import changes, missing_change
from shrinktest.effects.dependence import dependences
from shrinktest.effects.distance import distances
from shrinktest.effects.row_units import RowUnits
from shrinktest.kernels import Gaussian, Linear, Polynomial
from shrinktest.results.columns import (
    MEDIAN,
    MISSING,
    POSITION,
    SHARE,
    SPREAD,
    Change,
    distribution,
    shares,
)
from shrinktest.statistics.kernel_cache import KernelCache

RNG = np.random.default_rng(0)


def columns(first, second):
    """A column of two tables with the same levels."""
    tables = [pd.DataFrame({"c": first}), pd.DataFrame({"c": second})]
    pooled = pooled_tables(tables, ("A", "B"), {}).table.columns[0]
    return pooled.taken(slice(None, len(tables[0]))), pooled.taken(slice(len(tables[0]), None))


def changed(first, second):
    a, b = columns(first, second)
    return changes(a, b, RowUnits.rows((len(a), len(b))), 0.95)


def test_numbers_have_a_median_and_a_spread():
    x, y = RNG.normal(size=30), RNG.normal(1.0, 2.0, size=20)
    median, spread, *_ = changed(x, y)
    assert (median.what, spread.what) == (MEDIAN, SPREAD)
    assert (median.first, median.second) == pytest.approx((np.median(x), np.median(y)))
    assert (spread.first, spread.second) == pytest.approx((naive.middle(x), naive.middle(y)))
    assert spread.estimate == pytest.approx(naive.middle(y) / naive.middle(x))
    assert (
        median.estimate == pytest.approx(np.mean(x[:, None] < y))
        and median.low < median.estimate < median.high
    )


def test_missing_values_are_left_out_of_the_others_and_counted():
    x, y = RNG.normal(size=30), RNG.normal(size=30)
    with_gaps = np.where(np.arange(60) < 6, np.nan, np.concatenate([RNG.normal(size=30), y]))
    with_gaps[6:30] = x[6:]
    assert changed(with_gaps[:30], y)[0].first == pytest.approx(np.median(x[6:]))
    a, b = columns(with_gaps[:30], y)
    change = missing_change(a, b, RowUnits.rows((30, 30)), 0.95)
    assert (change.what, change.first, change.second) == (MISSING, 0.2, 0.0) and change.high < 0.0
    assert missing_change(*columns(x, y), RowUnits.rows((30, 30)), 0.95) is None


def test_dates_are_days_and_durations_too():
    days = pd.to_datetime(["2024-03-01", "2024-03-03", "2024-03-05"])
    a, b = columns(days, days + pd.Timedelta("36h"))
    assert a.numbers().tolist() == [19783.0, 19785.0, 19787.0]
    median = changes(a, b, RowUnits.rows((3, 3)), 0.95)[0]
    assert median.second - median.first == pytest.approx(1.5) and math.isnan(median.low)
    assert columns(days - days[0], days - days[0])[0].numbers().tolist() == [0.0, 2.0, 4.0]


def test_shares_of_categories_begin_with_the_largest_change():
    x, y = ["a"] * 10 + ["b"] * 10, ["a"] * 8 + ["b"] * 2 + ["c"] * 10
    changes = changed(x, y)
    assert [(change.what, change.level) for change in changes] == [
        (SHARE, "c"),
        (SHARE, "b"),
        (SHARE, "a"),
    ]
    assert [change.estimate for change in changes] == pytest.approx([0.5, -0.4, -0.1])
    assert shares(*columns(x, y)) == [("a", 0.5, 0.4), ("b", 0.5, 0.1), ("c", 0.0, 0.5)]


def test_one_of_two_says_all():
    (only,) = changed(["v", "u", "u", "v"], ["v", "v", "u", "v"])
    assert (only.level, only.first, only.second) == ("u", 0.5, 0.25)
    (only,) = changed([True] * 3 + [False] * 7, [True] * 6 + [False] * 4)
    assert (only.level, only.first, only.second) == ("True", 0.3, 0.6)


def test_ordered_categories_have_a_mean_position_and_shares():
    grades = pd.Categorical(
        ["low", "mid", "high", "mid", "low", "high"], ["low", "mid", "high"], ordered=True
    )
    changes = changed(grades, grades[[2, 2, 2, 1, 1, 2]])
    assert [change.what for change in changes] == [POSITION, SHARE, SHARE, SHARE]
    assert (changes[0].first, changes[0].second) == pytest.approx((1.0, 10 / 6))


@pytest.mark.parametrize("gone", [[np.nan] * 12, [None] * 12])
def test_a_column_without_values_on_one_side_has_only_missing_values_to_tell(gone):
    a, b = columns(RNG.normal(size=12), gone)
    assert changes(a, b, RowUnits.rows((12, 12)), 0.95) == ()
    assert missing_change(a, b, RowUnits.rows((12, 12)), 0.95).estimate == 1.0
    assert np.isnan(distribution(a, b).second).all()


def test_what_is_clear_and_how_strong():
    assert (
        Change(MEDIAN, "", 0, 1, 0.8, 0.6, 0.9).clear
        and not Change(MEDIAN, "", 0, 1, 0.6, 0.45, 0.9).clear
    )
    assert (
        Change(SPREAD, "", 1, 1, 0.8, 0.7, 0.95).clear
        and not Change(SPREAD, "", 1, 1, 0.8, 0.7, 1.05).clear
    )
    assert not Change(MEDIAN, "", 0, 1, 0.9).clear and Change(MEDIAN, "", 0, 1, 0.9).strength == 0.0
    assert Change(SPREAD, "", 1, 2, 2.0, 1.0, 4.0).strength == pytest.approx(1.0)
    assert Change(MEDIAN, "", 0, 1, 0.8, 0.7, 0.9).strength == pytest.approx(3.0)


def test_histograms_count_every_value():
    x, y = RNG.normal(size=200), np.append(RNG.normal(size=99), 1e6)
    bars = distribution(*columns(x, y))
    assert (
        bars.clipped
        and bars.first.sum() == pytest.approx(1.0)
        and bars.second.sum() == pytest.approx(1.0)
    )
    assert bars.edges[-1] < 50.0 and bars.second[-1] >= 0.01
    inside = distribution(*columns(x, x))
    assert not inside.clipped and np.array_equal(inside.first, inside.second)
    assert (inside.first * 200).round() == pytest.approx(np.histogram(x, inside.edges)[0])


def test_whole_numbers_have_a_bin_each_and_one_value_has_one():
    bars = distribution(*columns([1, 2, 2, 4], [4, 4, 4, 4]))
    assert bars.edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5] and bars.first.tolist() == [
        0.25,
        0.5,
        0.0,
        0.25,
    ]
    constant = distribution(*columns([3.0, 3.0], [3.0, 3.0]))
    assert constant.first.tolist() == [1.0] and constant.edges.tolist() == [2.5, 3.5]


@pytest.mark.parametrize(
    "values", [[0.1, 0.2, 0.3, 0.4], [0.0, 1000.0, 2000.0], np.linspace(0.0, 3.0, 50)]
)
def test_other_numbers_have_bins_as_wide_as_their_range_asks_for(values):
    bars = distribution(*columns(values, values))
    assert 8 <= len(bars.first) <= 40 and (bars.edges[0], bars.edges[-1]) == (
        min(values),
        max(values),
    )


def test_many_categories_are_put_together():
    x = [f"c{i % 20:02d}" for i in range(100)]
    bars = distribution(*columns(x, x))
    assert len(bars.labels) == 9 and bars.labels[-1] == "12 others"
    assert bars.first.sum() == pytest.approx(1.0) and bars.first[-1] == pytest.approx(0.6)


# --- differences of distances and of dependences with their jackknife, and sums over tuples of rows ---

SIZES = (6, 5, 7)
ROWS = [list(range(6)), list(range(6, 11)), list(range(11, 18))]
UNITS = {
    "rows": np.arange(18),
    # in all samples, in X and Z, in Y alone and in Z alone, two of each kind
    "groups": np.r_[[0, 0, 1, 2, 3, 3], [0, 1, 4, 5, 4], [0, 1, 6, 6, 7, 2, 3]],
    # one unit of X has a row in Z: it joins the largest stratum
    "alone": np.r_[[0, 1, 2, 3, 3, 4], [0, 1, 5, 6, 7], [2, 8, 9, 10, 11, 12, 13]],
}


def gram_of(kernel, points, route):
    return KernelCache(route, None, 1e9, np.random.default_rng(0))(kernel, points)


@pytest.mark.parametrize("route", ["dense", "factor"])
def test_distances_are_those_of_sums_over_pairs(route):
    points, kernel = np.random.default_rng(1).normal(size=(18, 1)), Gaussian(0.7)
    K = kernel(points)
    for name, units in UNITS.items():
        result = distances(gram_of(kernel, points, route), SIZES, units)
        expected = [naive.mmd2(K, ROWS[0], rows, units) for rows in ROWS[1:]]
        np.testing.assert_allclose(result.estimates, expected, rtol=1e-9, atol=1e-12)
        difference, error, freedom = result.difference(0, 1)
        assert result.difference(1, 0)[:2] == pytest.approx((-difference, error))
        if name != "alone":
            assert (difference, error**2, freedom) == pytest.approx(
                naive.closer(K, ROWS, list(units)), rel=1e-8
            )
            continue
        strata = result.strata(0, 1)
        counts = np.bincount(strata)
        assert (counts[counts > 0] > 1).all() and counts[strata[2]] == counts.max()
        moved = result.without[:, 0] - result.without[:, 1] - difference
        each = [
            (c - 1) / c * (moved[strata == stratum] ** 2).sum()
            for stratum, c in enumerate(counts)
            if c
        ]
        assert error**2 == pytest.approx(sum(each))


KERNELS = {
    "dense": (Gaussian(1.0), Gaussian(0.5), Gaussian(2.0)),
    "factor": (Linear(), Polynomial(2), Polynomial(3)),
}


@pytest.mark.parametrize("route", KERNELS)
def test_dependences_are_those_of_sums_over_quadruples(route):
    x, y, z = np.random.default_rng(4).normal(size=(3, 7, 1))
    data = list(zip(KERNELS[route], (x, x + 0.5 * y, x**2 + z), strict=True))
    matrices = [kernel(points) for kernel, points in data]
    for measure in (naive.correlation, naive.hsic):
        result = dependences(
            [gram_of(*variable, route) for variable in data],
            normalized=measure is naive.correlation,
        )
        expected = [measure(matrices[0], other) for other in matrices[1:]]
        np.testing.assert_allclose(result.estimates, expected, rtol=1e-8)
        difference, error, freedom = result.difference(1, 0)
        expected = naive.more_dependent(*matrices, measure)
        assert (difference, error**2, freedom) == pytest.approx(expected, rel=1e-7)


def test_coordinates_and_gram_matrices_go_together():
    x, y, z = np.random.default_rng(5).normal(size=(3, 9, 1))
    data = [(Linear(), x), (Gaussian(1.0), x + y), (Linear(), x - z)]
    mixed = [
        gram_of(*variable, route)
        for variable, route in zip(data, ("factor", "dense", "factor"), strict=True)
    ]
    expected = dependences([gram_of(*variable, "dense") for variable in data], normalized=True)
    np.testing.assert_allclose(
        dependences(mixed, normalized=True).without, expected.without, rtol=1e-9, atol=1e-12
    )


def test_rounding():
    points = np.random.default_rng(6).normal(size=(18, 1))
    near, far = (
        gram_of(Linear(), points + shift, "factor").about_mean(1e9) for shift in (0.0, 1e5)
    )
    shifted, expected = (
        distances(gram, SIZES, UNITS["rows"]).difference(0, 1) for gram in (far, near)
    )
    assert shifted == pytest.approx(expected, rel=1e-6)
    constant = gram_of(Gaussian(1.0), np.repeat([0.0, 1.0, 3.0], SIZES)[:, None], "dense")
    difference, error, freedom = distances(constant, SIZES, UNITS["rows"]).difference(0, 1)
    assert difference < 0.0 and error == 0.0 and np.isnan(freedom)


def test_the_error_counts_the_second_order_twice():
    """With three samples of one distribution the variance is twice that of the difference (Efron and Stein)."""
    rng, n = np.random.default_rng(7), 12
    results = [
        distances(
            gram_of(Gaussian(1.0), rng.normal(size=(36, 1)), "dense"), (n,) * 3, np.arange(36)
        ).difference(0, 1)
        for _ in range(1500)
    ]
    values, errors, _ = np.array(results).T
    assert np.mean(errors**2) / np.var(values) == pytest.approx(2.0, rel=0.15)
