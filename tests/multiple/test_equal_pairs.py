"""Shaffer's procedure: partitions, numbers of equal pairs, adjusted p-values, and the familywise error."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import naive_multiplicity as naive
from shrinktest.permutations import equal_pairs
from shrinktest.permutations.equal_pairs import EqualPairs, equal_counts, set_partitions, shaffer

possible = cache(naive.equal_pairs)


def pairs_of(samples):
    return list(combinations(range(samples), 2))


@pytest.mark.parametrize("samples", [2, 3, 4, 5, pytest.param(6, marks=pytest.mark.ci)])
def test_partitions_are_the_sets_of_pairs_that_can_be_equal(samples):
    labels = set_partitions(samples)
    equal = {
        frozenset(pair for pair in pairs_of(samples) if row[pair[0]] == row[pair[1]])
        for row in labels.tolist()
    }
    assert equal == {*map(frozenset, possible(samples))} and len(equal) == len(labels)
    assert equal_counts(samples) == {*map(len, possible(samples))}


def test_numbers_of_equal_pairs_of_many_samples():
    assert [len(set_partitions(size)) for size in range(1, 10)] == [
        *(1, 2, 5, 15, 52, 203, 877, 4140, 21147)
    ]
    # Shaffer (1986), table 1
    assert sorted(equal_counts(7)) == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 15, 21]
    assert sorted(equal_counts(4)) == [0, 1, 2, 3, 6]


@pytest.mark.parametrize("samples", [2, 3, 4, 5])
def test_adjusted_pvalues_agree_with_the_naive_twin(samples):
    rng = np.random.default_rng(samples)
    pairs = pairs_of(samples)
    for trial in range(20):
        pvalues = rng.integers(1, 40, size=len(pairs)) / 200.0  # with ties
        tested = pairs if trial % 2 else pairs[: max(1, len(pairs) - 2)]  # some are not tested
        adjusted = shaffer(pvalues[: len(tested)], tested)
        expected = naive.shaffer([*pvalues[: len(tested)]], tested, possible(samples))
        np.testing.assert_allclose(adjusted, expected)


@pytest.mark.ci
def test_six_samples_agree_with_the_naive_twin():
    rng = np.random.default_rng(6)
    pairs = pairs_of(6)
    for _ in range(5):
        pvalues = rng.random(len(pairs)) ** 3
        np.testing.assert_allclose(
            shaffer(pvalues, pairs), naive.shaffer([*pvalues], pairs, possible(6))
        )


@pytest.mark.parametrize("samples", [3, 5, 10])
def test_it_rejects_what_holm_rejects(samples):
    rng = np.random.default_rng(0)
    pairs = pairs_of(samples)
    gained = 0
    for _ in range(10):
        pvalues = rng.random(len(pairs)) ** 4
        holm = multipletests(pvalues, method="holm")[1]
        adjusted = shaffer(pvalues, pairs)
        assert (adjusted <= holm + 1e-12).all()
        gained += (adjusted < holm - 1e-12).sum()
    assert gained


def test_numbers_alone_bound_what_partitions_allow(monkeypatch):
    rng = np.random.default_rng(1)
    pairs = pairs_of(6)
    for tested in (pairs, pairs[:11]):
        for _ in range(10):
            pvalues = rng.random(len(tested)) ** 4
            listed = shaffer(pvalues, tested)
            with monkeypatch.context() as patch:
                patch.setattr(equal_pairs, "_MOST", 3)
                counted = shaffer(pvalues, tested)
            holm = multipletests(pvalues, method="holm")[1]
            assert (listed <= counted + 1e-12).all() and (counted <= holm + 1e-12).all()


def test_places_are_apart():
    labels = [(*pair, place) for place in ("early", "late") for pair in [*combinations("abc", 2)]]
    pvalues = np.array([0.001, 0.2, 0.3, 0.01, 0.02, 0.4])
    # at most 6 are equal, then 1 and 3, 1 and 1 (twice), 1 and 1, and the last alone
    expected = [0.006, 0.4, 0.6, 0.04, 0.04, 0.6]
    np.testing.assert_allclose(shaffer(pvalues, labels), expected)


def test_order_of_tied_pvalues_does_not_matter():
    pairs = pairs_of(4)
    pvalues = np.array([0.01, 0.01, 0.01, 0.02, 0.02, 0.5])
    order = np.array([4, 2, 0, 5, 3, 1])
    turned = shaffer(pvalues[order], [pairs[i] for i in order])
    np.testing.assert_allclose(turned, shaffer(pvalues, pairs)[order])


def test_what_can_be_equal_after_a_rejection():
    pairs = EqualPairs(pairs_of(4))
    assert pairs.most() == 6
    pairs.differ(0)
    assert pairs.most() == 3
    for pair in (1, 2):  # the first sample differs from all others
        pairs.differ(pair)
    assert pairs.most() == 3
    pairs.differ(3)
    assert pairs.most() == 1


def test_familywise_error_is_controlled_whichever_samples_are_equal():
    # z-tests of all pairs of four means, of which two and two are equal: the largest error of the procedure is at
    # means far apart
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    pairs = pairs_of(4)
    means = np.array([0.0, 0.0, 9.0, 9.0])
    trials = 600
    wrong = 0
    for _ in range(trials):
        z = means + rng.normal(size=4)
        pvalues = np.array([2.0 * ndtr(-abs(z[i] - z[j]) / 2**0.5) for i, j in pairs])
        adjusted = shaffer(pvalues, pairs)
        wrong += min(adjusted[0], adjusted[5]) <= 0.1
    assert 0.05 < wrong / trials < 0.14
