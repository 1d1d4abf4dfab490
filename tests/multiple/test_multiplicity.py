"""Ranks, scores and adjusted p-values of several statistics over the same relabellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import gamma

import naive_multiplicity as naive
from shrinktest.permutations.multiplicity import overall_pvalue, scores, step_down, tail_ranks, tails


def draws(seed, rows=60, k=5):
    """Correlated statistics with scales and skewness of their own."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, k)) + rng.normal(size=(rows, 1))
    return np.exp(z * rng.uniform(0.2, 1.5, k)) * rng.uniform(1e-6, 1e6, k)


@pytest.mark.parametrize("seed", range(8))
def test_ranks_and_pvalues_agree_with_the_literal_definition(seed):
    statistics = draws(seed)
    assert np.array_equal(tail_ranks(statistics), naive.tail_ranks(statistics))
    found = scores(statistics)
    assert overall_pvalue(found) == pytest.approx(naive.overall(statistics))
    np.testing.assert_allclose(step_down(found), naive.step_down(statistics))


def test_ranks_count_ties_within_the_tolerance_of_the_column():
    rng = np.random.default_rng(0)
    statistics = rng.integers(0, 6, size=(40, 3)) * np.array([1.0, 10.0, 1e-3])
    tolerance = np.array([1e-9, 1e-8, 1e-12])
    noisy = statistics + tolerance / 3 * rng.uniform(-1, 1, size=statistics.shape)
    assert np.array_equal(tail_ranks(noisy, tolerance), naive.tail_ranks(statistics))
    assert np.array_equal(tail_ranks(noisy, tolerance), naive.tail_ranks(noisy, tolerance))
    assert not np.array_equal(tail_ranks(noisy), naive.tail_ranks(statistics))


@pytest.mark.parametrize("judged", [scores, tails])
def test_tied_statistics_have_equal_scores(judged):
    rng = np.random.default_rng(1)
    statistics = rng.integers(0, 6, size=(40, 3)).astype(float)
    noisy = statistics + 1e-10 * rng.uniform(-1, 1, size=statistics.shape)
    found = judged(noisy, 1e-9)
    for column, value in zip(found.T, statistics.T, strict=True):
        assert len(np.unique(column)) == len(np.unique(value))
        assert (np.diff(column[np.argsort(value, kind="stable")]) <= 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_tails_agree_with_the_literal_definition(seed):
    rng = np.random.default_rng(seed)
    statistics = draws(seed, rows=40, k=3)
    statistics[:, 2] = rng.integers(0, 4, size=40)
    noisy = statistics + 1e-10 * rng.uniform(-1, 1, size=statistics.shape)
    weights, tolerance = np.array([5.0, 1.0, 2.0]), np.full(3, 1e-9)
    expected = np.log10(naive.weighted_tails(noisy, weights, tolerance))
    np.testing.assert_allclose(tails(noisy, tolerance, weights), expected, rtol=1e-7, atol=1e-9)
    best = naive.weighted_tails(noisy, weights, tolerance).min(axis=1)
    assert overall_pvalue(tails(noisy, tolerance, weights)) == (best <= best[0] * (1 + 1e-9)).mean()


def test_tails_are_those_of_gamma_distributions():
    rng = np.random.default_rng(0)
    for shape in (2.0, 8.0, 50.0):  # Wilson and Hilferty: the larger the shape, the nearer
        sample = rng.gamma(shape, size=(200_000, 1))
        above = gamma(shape).sf(sample[:, 0])
        found = 10.0 ** tails(sample)[:, 0]
        far = (above > 1e-4) & (above < 0.2)
        assert np.abs(np.log(found[far] / above[far])).max() < 0.35, shape


def test_tails_tell_apart_what_has_rank_one():
    rng = np.random.default_rng(0)
    statistics = rng.gamma(2.0, size=(200, 2))
    statistics[0] = 30.0, 15.0
    found = tails(statistics)
    assert found[0, 0] < found[0, 1] < -3.0  # ranks end at log10(1/200) = -2.3
    assert np.isfinite(tails(np.vstack([[1e9, 1.0], statistics]))).all()


def test_columns_in_which_little_varies():
    rng = np.random.default_rng(1)
    assert (tails(np.ones((5, 2)) + 1e-12 * rng.normal(size=(5, 2)), 1e-9) == 0.0).all()  # p-values of 1
    assert (tails(np.ones((1, 2))) == 0.0).all()
    # where the data alone differ, they are what the moments are taken from
    alone = tails(np.vstack([[2.0], np.ones((9, 1))]))
    assert overall_pvalue(alone) == 0.1


def test_tails_do_not_depend_on_units_and_weights_are_shares():
    statistics = draws(4)
    scaled = statistics * [1, 2, 3, 4, 1e-9] - [0, 5, 1, 0, 0]
    np.testing.assert_allclose(tails(statistics), tails(scaled), rtol=1e-6)
    weights = np.array([4.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(
        tails(statistics, weights=weights), tails(statistics) - np.log10(weights / weights.mean())
    )
    alone = overall_pvalue(tails(statistics[:, :1]))
    assert overall_pvalue(tails(statistics, weights=[1e12, 1.0, 1.0, 1.0, 1.0])) == alone


@pytest.mark.parametrize("judged", [scores, tails])
def test_any_row_may_be_that_of_the_data(judged):
    """Exact level: over all rows as data, at most a share of alpha has a p-value of at most alpha."""
    statistics = draws(8, rows=50)
    pvalues = [overall_pvalue(judged(np.roll(statistics, -b, axis=0))) for b in range(50)]
    assert sorted(pvalues) == pytest.approx([(i + 1) / 50 for i in range(50)])


def test_one_column_gives_the_permutation_pvalue():
    statistics = draws(3, k=1)
    expected = (statistics >= statistics[0]).mean()
    assert overall_pvalue(scores(statistics)) == expected == step_down(scores(statistics))[0]


def test_monotone_transformations_keep_ranks_and_scaling_keeps_scores():
    statistics = draws(4)
    assert np.array_equal(tail_ranks(statistics), tail_ranks(np.log(statistics)))
    np.testing.assert_allclose(scores(statistics), scores(statistics * [1, 2, 3, 4, 1e-9] - [0, 5, 1, 0, 0]), rtol=1e-9)


def test_smallest_adjusted_pvalue_is_the_overall_one_and_order_is_kept():
    for seed in range(20):
        found = scores(draws(seed, rows=100, k=7))
        adjusted = step_down(found)
        raw = tail_ranks(draws(seed, rows=100, k=7))[0] / 100
        assert adjusted.min() == overall_pvalue(found)
        assert (adjusted >= raw - 1e-12).all() and (adjusted <= np.minimum(1.0, 7 * raw + 1e-12)).all()
        assert (np.diff(adjusted[np.argsort(found[0])]) >= 0).all()


def test_equal_columns_cost_nothing():
    one = draws(5, k=1)
    found = scores(np.repeat(one, 4, axis=1))
    assert overall_pvalue(found) == overall_pvalue(scores(one))
    assert np.array_equal(step_down(found), np.repeat(overall_pvalue(scores(one)), 4))


def test_weights_divide_ranks():
    statistics = draws(6, k=3)
    weights = np.array([4.0, 1.0, 1.0])
    found = scores(statistics, weights=weights)
    np.testing.assert_allclose(found, scores(statistics) / (weights / weights.mean()))
    assert np.array_equal(scores(statistics, weights=10 * weights), found)


def test_a_dominating_weight_leaves_the_test_of_its_column():
    statistics = draws(7, k=3)
    alone = overall_pvalue(scores(statistics[:, :1]))
    assert overall_pvalue(scores(statistics, weights=[1e9, 1.0, 1.0])) == alone


def test_every_row_as_the_observed_one_gives_uniform_pvalues():
    """Exactness by enumeration: over all choices of the row of the data, P(p <= a) <= a, for p and for any subset."""
    for seed, ties in itertools.product(range(4), (False, True)):
        statistics = draws(seed, rows=24, k=4)
        if ties:
            statistics = np.round(np.log(np.abs(statistics)))
        for weights in (None, [5.0, 1.0, 1.0, 0.3]):
            overall, smallest = [], []
            for row in range(24):
                found = scores(np.roll(statistics, -row, axis=0), weights=weights)
                overall.append(overall_pvalue(found))
                smallest.append(step_down(found).min())
            levels = np.arange(1, 25) / 24
            rejected = np.array([np.mean(np.array(overall) <= a + 1e-12) for a in levels])
            assert (rejected <= levels + 1e-12).all()
            assert np.array_equal(overall, smallest)
            if not ties and weights is None:  # at most a tie between columns is lost
                assert rejected.mean() > 0.9 * levels.mean()


def test_step_down_controls_the_family_with_false_hypotheses_among_true_ones():
    rng = np.random.default_rng(8)
    errors = 0
    for _ in range(400):
        statistics = rng.normal(size=(100, 6))
        statistics[0, :3] += 6.0  # three false hypotheses
        adjusted = step_down(scores(statistics))
        assert (adjusted[:3] <= 0.05).all()
        errors += (adjusted[3:] <= 0.05).any()
    assert 8 <= errors <= 35  # 20 expected if the level is used up; beyond these bounds with chance 2e-3


def test_more_columns_than_relabellings_can_still_reject():
    rng = np.random.default_rng(9)
    statistics = rng.normal(size=(100, 500))
    statistics[0, 17] = 12.0
    adjusted = step_down(scores(statistics))
    assert adjusted[17] == 0.01 and (np.delete(adjusted, 17) > 0.05).all()
