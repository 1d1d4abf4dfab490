"""Intervals of effects: against slow twins and statsmodels, and how often they cover the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import naive_closer as naive
from shrinktest.effects.columns import Units, difference_of_shares, larger, ratio_of_widths

RNG = np.random.default_rng(3)
X, Y = RNG.gamma(2.0, 1.5, size=14), RNG.gamma(2.5, 2.0, size=11)


@pytest.mark.parametrize("digits", [9, 0])
@pytest.mark.parametrize("design", ["rows", "pairs", "groups"])
def test_ratios_of_widths_are_those_of_a_slow_computation(digits, design):
    x, y = RNG.gamma(2.0, 1.5, size=44).round(digits), RNG.gamma(2.5, 2.0, size=(44 if design == "pairs" else 36))
    y = y.round(digits)
    of_x = np.arange(44) // (3 if design == "groups" else 1)
    of_y = of_x if design == "pairs" else 100 + np.arange(36) // (3 if design == "groups" else 1)
    units = Units((len(x), len(y)), np.concatenate([of_x, of_y]), paired=design == "pairs")
    expected = naive.ratio_of_widths(x, y, of_x, of_y, 0.9, paired=design == "pairs")
    assert ratio_of_widths(x, y, units, 0.9) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shift", [1e9, -1e9])
def test_numbers_far_from_zero_lose_no_digits(shift):
    units = Units.rows((14, 11))
    for effect in (larger, ratio_of_widths):
        assert effect(X + shift, Y + shift, units, 0.95) == pytest.approx(effect(X, Y, units, 0.95), rel=1e-5)


@pytest.mark.parametrize(
    "x, y, estimated",
    [
        ([1.0] * 12, [1.0] * 12, False),  # no spread at all
        ([1.0] * 12, [3.0] * 12, False),
        ([1.0, 2.0, 3.0], [2.0, 3.0, 5.0], True),  # an effect and no interval
    ],
)
def test_nothing_is_claimed_where_there_is_too_little(x, y, estimated):
    estimate, low, high = ratio_of_widths(np.array(x), np.array(y), Units.rows((len(x), len(y))), 0.95)
    assert math.isnan(low) and math.isnan(high) and math.isnan(estimate) != estimated


def test_a_constant_column_in_one_table_has_a_location_and_no_ratio():
    x, y, units = np.full(12, 2.0), RNG.normal(size=12), Units.rows((12, 12))
    assert math.isfinite(larger(x, y, units, 0.95)[1]) and math.isnan(ratio_of_widths(x, y, units, 0.95)[0])


def test_samples_apart_have_an_interval_that_ends_at_one():
    estimate, low, high = larger(np.arange(20.0), 100.0 + np.arange(20.0), Units.rows((20, 20)), 0.95)
    assert estimate == high == 1.0 and 0.7 < low < 1.0


@pytest.mark.parametrize("counts", [(3, 10, 9, 12), (0, 8, 0, 9), (8, 8, 0, 9), (50, 200, 80, 210), (1, 1, 0, 1)])
def test_shares_of_rows_have_newcombes_interval(counts):
    a, m, b, n = counts
    is_so = np.concatenate([np.arange(m) < a, np.arange(n) < b])
    expected = confint_proportions_2indep(b, n, a, m, method="newcomb", compare="diff", alpha=0.1)
    estimate, *limits = difference_of_shares(is_so, Units.rows((m, n)), 0.9)
    assert estimate == pytest.approx(b / n - a / m) and limits == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_pairs_have_newcombes_interval(seed):
    rng = np.random.default_rng(seed)
    x = rng.random(30) < 0.4
    y = np.where(rng.random(30) < 0.6, x, rng.random(30) < 0.6)
    interval = difference_of_shares(np.concatenate([x, y]), Units.rows((30, 30), paired=True), 0.95)
    assert interval == pytest.approx(naive.paired_shares(x.astype(int), y.astype(int), 0.95), abs=1e-12)


def test_groups_of_equal_rows_count_once():
    x, y = RNG.random(20) < 0.3, RNG.random(30) < 0.6
    single = difference_of_shares(np.concatenate([x, y]), Units.rows((20, 30)), 0.95)
    codes = np.concatenate([np.repeat(np.arange(20), 4), 20 + np.repeat(np.arange(30), 4)])
    grouped = difference_of_shares(np.concatenate([x.repeat(4), y.repeat(4)]), Units((80, 120), codes), 0.95)
    free = difference_of_shares(np.concatenate([x.repeat(4), y.repeat(4)]), Units.rows((80, 120)), 0.95)
    assert grouped[0] == pytest.approx(single[0])
    assert grouped[2] - grouped[1] == pytest.approx(single[2] - single[1], rel=0.05)
    assert free[2] - free[1] < 0.6 * (grouped[2] - grouped[1])


def test_few_groups_and_empty_tables_have_no_interval():
    codes = np.array([0] * 5 + [1] * 5 + [2] * 10)
    estimate, low, high = difference_of_shares(np.arange(20) % 3 == 0, Units((10, 10), codes), 0.95)
    assert math.isfinite(estimate) and math.isnan(low) and math.isnan(high)
    assert all(map(math.isnan, difference_of_shares(np.ones(4, dtype=bool), Units.rows((4, 0)), 0.95)))


@pytest.mark.parametrize("draw", ["normal", "exponential", "uniform"])
def test_intervals_cover_about_as_often_as_they_say(draw):
    rng, trials, hits = np.random.default_rng(11), 150, np.zeros(3)
    x, y = getattr(rng, draw)(size=100_000), 1.5 * np.sort(getattr(rng, draw)(size=100_000)) + 0.5
    truth = 1.0 - np.searchsorted(y, x).mean() / len(y)
    for _ in range(trials):
        x, y = getattr(rng, draw)(size=40), 1.5 * getattr(rng, draw)(size=40) + 0.5
        units = Units.rows((40, 40))
        _, low, high = larger(x, y, units, 0.95)
        hits[0] += low <= truth <= high
        _, low, high = ratio_of_widths(x, y, units, 0.95)
        hits[1] += low <= 1.5 <= high
        is_so = rng.random(80) < np.repeat([0.1, 0.3], 40)
        _, low, high = difference_of_shares(is_so, units, 0.95)
        hits[2] += low <= 0.2 <= high
    assert (hits / trials >= 0.9).all() and hits[[0, 2]].max() / trials <= 0.995


def test_intervals_of_pairs_and_groups_cover_where_those_of_rows_do_not():
    rng, trials, hits, lengths = np.random.default_rng(5), 100, np.zeros(3), np.zeros(2)
    for _ in range(trials):
        shared = rng.normal(size=20)
        x, y = (shared + 0.3 * rng.normal(size=20) for _ in range(2))
        paired, free = (
            larger(x, y, units, 0.95) for units in (Units.rows((20, 20), paired=True), Units.rows((20, 20)))
        )
        hits[0] += paired[1] <= 0.5 <= paired[2]
        lengths += paired[2] - paired[1], free[2] - free[1]
        x, y = np.split(np.repeat(rng.normal(size=40), 5) + 0.3 * rng.normal(size=200), 2)
        groups = Units((100, 100), np.repeat(np.arange(40), 5))
        grouped, free = (larger(x, y, units, 0.95) for units in (groups, Units.rows((100, 100))))
        hits[1] += grouped[1] <= 0.5 <= grouped[2]
        hits[2] += free[1] <= 0.5 <= free[2]
    share = hits / trials
    assert share[0] >= 0.89 and lengths[0] < 0.6 * lengths[1]
    assert 0.89 <= share[1] <= 0.99 and share[2] < 0.8  # without the groups far too short
