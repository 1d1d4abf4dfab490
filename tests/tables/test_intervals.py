"""Intervals of effects: against slow twins and statsmodels, and how often they cover the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import effectsize_smd
from statsmodels.stats.proportion import confint_proportions_2indep

import naive_comparison as naive
from shrinktest.tables.intervals import Units, difference_of_shares, hedges, jackknife, log_ratio

RNG = np.random.default_rng(3)
X, Y = RNG.gamma(2.0, 1.5, size=14), RNG.gamma(2.5, 2.0, size=11)
BOTH = np.concatenate([X, Y])
EFFECTS = {hedges: naive.hedges, log_ratio: naive.log_ratio}


@pytest.mark.parametrize("effect", EFFECTS)
def test_rows_are_left_out_one_at_a_time(effect):
    expected = naive.jackknife(EFFECTS[effect], X, Y, range(14), range(14, 25), 0.9)
    assert jackknife(effect, BOTH, Units.rows((14, 11)), 0.9, 2) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("effect", EFFECTS)
def test_pairs_are_left_out_together(effect):
    x, y = X[:11], Y + 0.7 * X[:11]
    expected = naive.jackknife(EFFECTS[effect], x, y, range(11), range(11), 0.95, paired=True)
    found = jackknife(effect, np.concatenate([x, y]), Units.pairs((11, 11)), 0.95, 2)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("effect", EFFECTS)
def test_groups_are_left_out_together(effect):
    of_x, of_y = np.arange(14) // 2, 7 + np.arange(11) // 2
    expected = naive.jackknife(EFFECTS[effect], X, Y, of_x, of_y, 0.95)
    found = jackknife(effect, BOTH, Units((14, 11), np.concatenate([of_x, of_y])), 0.95, 2)
    assert found == pytest.approx(expected, rel=1e-10)


def test_pairs_of_which_one_value_is_missing_vary_by_themselves():
    units = Units.pairs((14, 14)).taken(~np.isin(np.arange(28), (0, 1, 15, 16)))
    assert units.sizes == (12, 12)
    estimate, low, high = jackknife(hedges, RNG.normal(size=24), units, 0.95, 2)
    assert low < estimate < high


def test_the_standardised_difference_is_that_of_statsmodels():
    expected = effectsize_smd(Y.mean(), Y.std(ddof=1), len(Y), X.mean(), X.std(ddof=1), len(X))[0]
    assert jackknife(hedges, BOTH, Units.rows((14, 11)), 0.95, 2)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shift", [1e9, -1e9])
def test_numbers_far_from_zero_lose_no_digits(shift):
    near, far = (jackknife(log_ratio, BOTH + by, Units.rows((14, 11)), 0.95, 2) for by in (0.0, shift))
    assert far == pytest.approx(near, rel=1e-5)


@pytest.mark.parametrize(
    "x, y, estimated",
    [
        ([1.0] * 12, [1.0] * 12, False),  # no spread at all
        ([1.0] * 12, [3.0] * 12, False),
        ([1.0], [2.0, 3.0, 4.0], False),
        ([], [2.0, 3.0], False),
        ([1.0, 2.0, 3.0], [2.0, 3.0, 5.0], True),  # an effect and no interval
    ],
)
def test_nothing_is_claimed_where_there_is_too_little(x, y, estimated):
    for effect in (hedges, log_ratio):
        estimate, low, high = jackknife(effect, np.array([*x, *y]), Units.rows((len(x), len(y))), 0.95, 5)
        assert math.isnan(low) and math.isnan(high) and math.isnan(estimate) != estimated


def test_a_constant_column_in_one_table_has_a_difference_and_no_ratio():
    values = np.concatenate([np.full(12, 2.0), RNG.normal(size=12)])
    assert math.isfinite(jackknife(hedges, values, Units.rows((12, 12)), 0.95, 5)[1])
    assert math.isnan(jackknife(log_ratio, values, Units.rows((12, 12)), 0.95, 5)[0])


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
    found = difference_of_shares(np.concatenate([x, y]), Units.pairs((30, 30)), 0.95)
    assert found == pytest.approx(naive.paired_shares(x.astype(int), y.astype(int), 0.95), abs=1e-12)


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
    rng, trials, hits = np.random.default_rng(11), 300, np.zeros(3)
    moments = {"normal": (0.0, 1.0), "exponential": (1.0, 1.0), "uniform": (0.5, 12**-0.5)}
    mean, deviation = moments[draw]
    truth = (0.5 * mean + 0.5) / (deviation * math.sqrt((1.0 + 1.5**2) / 2.0))
    for _ in range(trials):
        values = getattr(rng, draw)(size=80)
        values[40:] = 1.5 * values[40:] + 0.5
        units = Units.rows((40, 40))
        _, low, high = jackknife(hedges, values, units, 0.95, 5)
        hits[0] += low <= truth <= high
        _, low, high = jackknife(log_ratio, values, units, 0.95, 10)
        hits[1] += low <= math.log(1.5) <= high
        is_so = rng.random(80) < np.repeat([0.1, 0.3], 40)
        _, low, high = difference_of_shares(is_so, units, 0.95)
        hits[2] += low <= 0.2 <= high
    assert (hits / trials >= 0.88).all() and (hits / trials <= 0.995).all()


def test_intervals_of_pairs_and_groups_cover_where_those_of_rows_do_not():
    rng, trials, hits = np.random.default_rng(5), 200, np.zeros(4)
    for _ in range(trials):
        shared = rng.normal(size=20)
        values = np.concatenate([shared + 0.3 * rng.normal(size=20), shared + 0.3 * rng.normal(size=20)])
        paired, free = (
            jackknife(hedges, values, units, 0.95, 5) for units in (Units.pairs((20, 20)), Units.rows((20, 20)))
        )
        hits[0] += paired[1] <= 0.0 <= paired[2]
        hits[1] += free[1] <= 0.0 <= free[2]
        values = np.repeat(rng.normal(size=40), 5) + 0.3 * rng.normal(size=200)
        groups = Units((100, 100), np.repeat(np.arange(40), 5))
        grouped, free = (jackknife(hedges, values, units, 0.95, 5) for units in (groups, Units.rows((100, 100))))
        hits[2] += grouped[1] <= 0.0 <= grouped[2]
        hits[3] += free[1] <= 0.0 <= free[2]
    share = hits / trials
    assert 0.89 <= share[0] <= 0.99 and share[1] > 0.99  # without the pairs it is far too long
    assert 0.89 <= share[2] <= 0.99 and share[3] < 0.8  # without the groups far too short
