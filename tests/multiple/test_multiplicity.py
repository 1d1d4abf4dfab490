"""Ranks, scores and adjusted p-values of several statistics over the same relabellings."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gamma

import naive_multiplicity as naive
from shrinktest import compare, two_sample_test_columns
from shrinktest.permutations.multiplicity import overall_pvalue, scores, step_down, tail_ranks, tails


def draws(seed, rows=60, k=5):
    """Correlated statistics with scales and skewness of their own."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, k)) + rng.normal(size=(rows, 1))
    return np.exp(z * rng.uniform(0.2, 1.5, k)) * rng.uniform(1e-6, 1e6, k)


def test_ranks_and_pvalues_agree_with_the_literal_definition():
    for seed in range(4):
        statistics = draws(seed)
        assert np.array_equal(tail_ranks(statistics), naive.tail_ranks(statistics))
        assert overall_pvalue(scores(statistics)) == pytest.approx(naive.overall(statistics))
        np.testing.assert_allclose(step_down(scores(statistics)), naive.step_down(statistics))


@pytest.mark.parametrize("judged", [scores, tails])
def test_tied_statistics_have_equal_scores(judged):
    rng = np.random.default_rng(1)
    statistics = rng.integers(0, 6, size=(40, 3)).astype(float)
    noisy = statistics + 1e-10 * rng.uniform(-1, 1, size=statistics.shape)
    found = judged(noisy, 1e-9)
    for column, value in zip(found.T, statistics.T, strict=True):
        assert len(np.unique(column)) == len(np.unique(value))
        assert (np.diff(column[np.argsort(value, kind="stable")]) <= 0).all()


def test_tails_agree_with_the_literal_definition():
    for seed in range(3):
        rng, statistics = np.random.default_rng(seed), draws(seed, rows=40, k=3)
        statistics[:, 2] = rng.integers(0, 4, size=40)
        noisy = statistics + 1e-10 * rng.uniform(-1, 1, size=statistics.shape)
        weights, tolerance = np.array([5.0, 1.0, 2.0]), np.full(3, 1e-9)
        expected, found = naive.weighted_tails(noisy, weights, tolerance), tails(noisy, tolerance, weights)
        np.testing.assert_allclose(found, np.log10(expected), rtol=1e-7, atol=1e-9)
        best = expected.min(axis=1)
        assert overall_pvalue(found) == (best <= best[0] * (1 + 1e-9)).mean()


def test_tails_are_those_of_gamma_distributions():
    rng = np.random.default_rng(0)
    for shape in (2.0, 8.0, 50.0):  # Wilson and Hilferty: the larger the shape, the nearer
        sample = rng.gamma(shape, size=(200_000, 1))
        above = gamma(shape).sf(sample[:, 0])
        found = 10.0 ** tails(sample)[:, 0]
        far = (above > 1e-4) & (above < 0.2)
        assert np.abs(np.log(found[far] / above[far])).max() < 0.35, shape


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


def test_one_column_and_equal_columns_give_the_permutation_pvalue():
    for seed in (3, 5):
        statistics = draws(seed, k=1)
        expected = (statistics >= statistics[0]).mean()
        assert overall_pvalue(scores(statistics)) == expected == step_down(scores(statistics))[0]
        found = scores(np.repeat(statistics, 4, axis=1))
        assert overall_pvalue(found) == expected and np.array_equal(step_down(found), np.full(4, expected))


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


def test_weights_divide_ranks():
    statistics, weights = draws(6, k=3), np.array([4.0, 1.0, 1.0])
    found = scores(statistics, weights=weights)
    np.testing.assert_allclose(found, scores(statistics) / (weights / weights.mean()))
    assert np.array_equal(scores(statistics, weights=10 * weights), found)
    alone = overall_pvalue(scores(statistics[:, :1]))  # a dominating weight leaves the test of its column
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


def test_any_row_may_be_that_of_the_data():
    """Exact level of tails: over all rows as data, at most a share of alpha has a p-value of at most alpha."""
    statistics = draws(8, rows=50)
    pvalues = [overall_pvalue(tails(np.roll(statistics, -b, axis=0))) for b in range(50)]
    assert sorted(pvalues) == pytest.approx([(i + 1) / 50 for i in range(50)])


# --- too few permutations for the number of tests ---------------------------------------------------------------


def test_results_say_that_permutations_are_too_few_for_the_number_of_tests():
    rng = np.random.default_rng(0)
    a, b = (pd.DataFrame(rng.normal(size=(20, 30))).add_prefix("c") for _ in range(2))
    b[["c0", "c1"]] += 5.0
    given = {"rng": 0, "estimator": "kme"}
    with pytest.warns(UserWarning, match="can never reject"):
        found = compare(a, b, method="holm", n_resamples=99, **given)
    assert "cannot tell" in found.answer and any("99 permutations can" in note for note in found.notes)
    enough = compare(a, b, method="holm", n_resamples=599, **given)
    assert set(enough.changed()) == {"c0", "c1"} and not any("permutations can" in note for note in enough.notes)
    with pytest.warns(UserWarning, match="can never reject"):
        few = two_sample_test_columns(a, b, method="holm", n_resamples=99, **given)
    again = few.with_method("fdr_bh")  # which has notes of its own
    assert "99 permutations can" in few.notes[-1] and "2 p-values of 30" in again.notes[-1]
    assert not again.reject().any() and again.with_method("holm").notes == few.notes
    more = two_sample_test_columns(a, b, method="fdr_bh", n_resamples=399, **given)
    by_permutations = two_sample_test_columns(a, b, n_resamples=99, **given)  # adjusted by the permutations themselves
    for sure in (more, by_permutations):
        assert sure.reject().sum() == 2 and not any("may reject" in note for note in sure.notes)
