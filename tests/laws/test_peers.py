"""Known defects of permutation and kernel tests elsewhere, each with a test that this package is free of it."""

from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import pytest
from scipy import stats

import naive
import naive_tests
from shrinktest import FKMSE, SKMSE, Gaussian, Laplacian, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS

TESTS = (two_sample_test, independence_test)
ALL = list(itertools.product(TESTS, ESTIMATORS))


def null_data(test, rng, n=10, d=3):
    """Two samples of one law, or two independent variables."""
    return rng.normal(size=(n, d)), rng.normal(size=(n, d))


def alternative_data(test, rng, n=25):
    """Two samples far apart, or a variable and itself."""
    x = rng.normal(size=(n, 1))
    return (x, rng.normal(size=(n, 1)) + 9.0) if test is two_sample_test else (x, x)


def inside(rejections, trials, alpha):
    """Check that a number of rejections lies in the central 99.9 % of a test of this exact level."""
    low, high = stats.binom(trials, alpha).interval(0.999)
    return low <= rejections <= high


# --- missing values and counting ----------------------------------------------------------------------------


def test_one_missing_cell_is_not_the_smallest_p_value():
    for (test, name), holed in itertools.product(ALL, (0, 1)):
        data = null_data(test, np.random.default_rng(0))
        data[holed][4, 1] = np.nan
        options = {"estimator": name, "rng": 0, "n_resamples": 99}
        with pytest.raises(ValueError, match="XY"[holed]):
            test(*data, **options)
        assert test(*data, nan_policy="omit", **options).pvalue > 0.05
        assert np.isnan(test(*data, nan_policy="propagate", **options).pvalue)


def test_tied_splits_are_not_evidence():
    corners = np.eye(8)  # 35 different splits, all with the same statistic
    for name, n_resamples in itertools.product(ESTIMATORS, (np.inf, 99)):
        tied = two_sample_test(
            corners[:4], corners[4:], estimator=name, n_resamples=n_resamples, rng=0, alpha=0.5
        )
        assert tied.pvalue == 1.0, name


def test_binary_data_have_tied_splits():
    x, y = [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]
    result = two_sample_test(x, y, bandwidth=1.0, n_resamples=np.inf)
    G = Gaussian(1.0)(np.r_[x, y])

    def statistic(G, S, T):
        return naive_tests.mmd2_biased(G[np.ix_(S, S)], G[np.ix_(T, T)], G[np.ix_(S, T)])

    assert result.pvalue == pytest.approx(
        naive_tests.p_two_sample(G, 5, statistic, 1e-10), rel=1e-12
    )
    assert result.pvalue == 1.0  # 2 against 3 ones is as even as it gets
    assert (
        np.mean(np.abs(result.null_distribution - result.statistic) < 1e-12) > 0.3
    )  # a strict count would not say so


def test_constant_data_are_not_significant():
    x, y = np.full(8, 3.0), np.full(8, 3.0)
    for name, value in (("bandwidth", 1.0), ("kernel", "linear")):
        assert two_sample_test(x, y, n_resamples=99, **{name: value}).pvalue == 1.0
        assert (
            independence_test(x, y, n_resamples=99, **{f"{name}_{v}": value for v in "xy"}).pvalue
            == 1.0
        )
    for test in TESTS:
        with pytest.raises(ValueError, match="equal"):  # they have no median distance
            test(x, y)


def test_the_p_value_is_never_zero():
    for test, name in ALL:
        data = alternative_data(test, np.random.default_rng(1))
        assert [test(*data, estimator=name, n_resamples=B, rng=0).pvalue for B in (19, 99)] == [
            1 / 20,
            1 / 100,
        ]


def test_zero_resamples_give_no_answer_instead_of_one():
    for test, name in ALL:
        result = test(
            *alternative_data(test, np.random.default_rng(1)), estimator=name, n_resamples=0
        )
        assert np.isnan(result.pvalue) and result.statistic > 0.0


# --- levels -------------------------------------------------------------------------------------------------


@pytest.mark.ci
@pytest.mark.parametrize("test", TESTS)
def test_size_is_alpha_when_the_p_value_can_equal_it(test):
    rng = np.random.default_rng(3)
    pvalues = np.array(
        [
            test(*null_data(test, rng, d=1), n_resamples=19, rng=rng, workers=1).pvalue
            for _ in range(600)
        ]
    )
    assert inside((pvalues <= 0.05).sum(), 600, 0.05) and inside((pvalues <= 0.5).sum(), 600, 0.5)
    assert not (pvalues < 0.05).any()  # a strict rule has size 0


@pytest.mark.parametrize("test", TESTS)
def test_the_result_rejects_at_equality(test):
    result = test(*alternative_data(test, np.random.default_rng(1)), n_resamples=19, rng=0)
    assert result.pvalue == 0.05 and result.reject() and result.statistic > result.critical_value()


# --- seeds and state ----------------------------------------------------------------------------------------


def test_the_seed_is_obeyed():
    for test, name in ALL:
        data = null_data(test, np.random.default_rng(4))
        first, again, other = (
            test(*data, estimator=name, n_resamples=30, rng=seed) for seed in (7, 7, 8)
        )
        np.testing.assert_array_equal(again.null_distribution, first.null_distribution)
        assert (
            other.null_distribution != first.null_distribution
        ).any() and other.statistic == first.statistic


@pytest.mark.parametrize("test", TESTS)
def test_relabelings_are_different_draws(test):
    """No stream starts again in a thread or in a chunk."""
    data = null_data(test, np.random.default_rng(4), n=20)  # 7e10 splits: no two draws are the same
    assert np.unique(test(*data, n_resamples=2000, rng=0, workers=5).null_distribution).size == 2000


def test_a_used_object_gives_the_same_statistic():
    """Neither estimators and kernels nor the data are changed by a test."""
    for test, name in ALL:
        estimator, kernel, rng = ESTIMATORS[name](), Gaussian(), np.random.default_rng(5)
        fresh, data, others = (
            pickle.dumps((estimator, kernel)),
            null_data(test, rng),
            null_data(test, rng, n=13),
        )
        copies = [z.copy() for z in data]
        for z in data:
            z.setflags(write=False)
        kernels = ["kernel"] if test is two_sample_test else ["kernel_x", "kernel_y"]
        given = {
            "estimator": estimator,
            "n_resamples": 30,
            "rng": 0,
            **dict.fromkeys(kernels, kernel),
        }
        first, _, again = test(*data, **given), test(*others, **given), test(*data, **given)
        assert tuple(again) == tuple(first) and pickle.dumps((estimator, kernel)) == fresh
        np.testing.assert_array_equal(again.null_distribution, first.null_distribution)
        np.testing.assert_array_equal(data, copies)
        for value in (estimator, kernel):
            with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
                value.anything = 1


# --- bandwidths ---------------------------------------------------------------------------------------------


def test_one_bandwidth_per_variable():
    rng = np.random.default_rng(7)
    x = rng.normal(size=25)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=25)
    for kernel, unit in itertools.product((Gaussian(), Laplacian()), (100.0, 0.01)):
        result, other = (
            independence_test(
                x, scale * y, kernel_x=kernel, kernel_y=kernel, n_resamples=199, rng=0
            )
            for scale in (1.0, unit)
        )
        assert result.pvalue == other.pvalue == 0.005
        first, second = result.bandwidth
        assert other.bandwidth[0] == first and other.bandwidth[1] == pytest.approx(
            unit * second, rel=1e-9
        )


def test_units_do_not_matter_for_two_samples():
    x, y = null_data(two_sample_test, np.random.default_rng(8))
    for name, (scale, shift) in itertools.product(ESTIMATORS, ((1e2, 0.0), (1e-3, 5.0))):
        result, other = (
            two_sample_test(s * x + t, s * 1.5 * y + t, estimator=name, n_resamples=99, rng=0)
            for s, t in ((1.0, 0.0), (scale, shift))
        )
        assert other.pvalue == result.pvalue, name
        assert other.bandwidth == pytest.approx(scale * result.bandwidth, rel=1e-9)


def test_the_bandwidth_treats_both_samples_alike():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(30, 2)), 5.0 * rng.normal(size=(12, 2))
    result, swapped = two_sample_test(x, y, n_resamples=0), two_sample_test(y, x, n_resamples=0)
    assert result.bandwidth == pytest.approx(swapped.bandwidth, rel=1e-12)
    assert result.statistic == pytest.approx(swapped.statistic, rel=1e-9)
    ordered = two_sample_test(
        np.sort(x, axis=0), y[::-1], n_resamples=0
    )  # no part of sorted data stands for all
    shuffled = two_sample_test(rng.permutation(np.sort(x, axis=0)), y, n_resamples=0)
    assert ordered.bandwidth == pytest.approx(shuffled.bandwidth, rel=1e-12)


# --- which null ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_the_null_is_never_switched_quietly(test):
    rng = np.random.default_rng(10)
    for n in (5, 60, 150):
        result = test(*null_data(test, rng, n=n), n_resamples=99, rng=0)
        assert (result.n_resamples, result.exact) == (99, False)
        assert result.pvalue * 100 == pytest.approx(round(result.pvalue * 100), abs=1e-9)
    few = test(*null_data(test, rng, n=4), n_resamples=99, rng=0)
    assert few.exact and few.n_resamples == (35 if test is two_sample_test else 24)


def test_both_samples_are_relabeled():
    """A null that resamples one of the samples only finds a difference in any data."""
    seen = []

    def spy(gram):
        seen.append(gram.copy())
        return np.full(len(gram), 1 / len(gram))

    two_sample_test(
        *null_data(two_sample_test, np.random.default_rng(11)), estimator=spy, n_resamples=20, rng=0
    )
    for grams in (seen[0:42:2], seen[1:42:2]):
        assert sum(not np.array_equal(gram, grams[0]) for gram in grams) == 20


def test_rows_and_columns_are_permuted_together():
    def symmetric(gram):
        np.testing.assert_array_equal(gram, gram.T)
        assert np.linalg.eigvalsh(gram)[0] > -1e-12  # one-sided permutations lose this
        return np.full(len(gram), 1 / len(gram))

    x, y = null_data(independence_test, np.random.default_rng(12))
    assert independence_test(x, y, estimator=symmetric, n_resamples=20, rng=0).n_resamples == 20


# --- what is tuned on the labels is tuned again -------------------------------------------------------------


def test_an_estimator_is_called_for_every_sample_of_every_relabeling():
    rng, calls = np.random.default_rng(13), []

    def counted(gram):
        calls.append(len(gram))
        return np.full(len(gram), 1 / len(gram))

    for n_resamples in (0, 1, 30):
        options = {"estimator": counted, "n_resamples": n_resamples, "alpha": 0.5, "rng": 0}
        calls.clear()
        two_sample_test(rng.normal(size=(9, 2)), rng.normal(size=(7, 2)), **options)
        assert sorted(calls) == [7] * (n_resamples + 2) + [9] * (
            n_resamples + 2
        )  # and once for the estimates
        calls.clear()
        independence_test(rng.normal(size=(9, 2)), rng.normal(size=(9, 2)), **options)
        assert calls == [9] * (n_resamples + 2)


def frozen_and_retuned(x, y, bandwidth, B, seed):
    """p-values of simple shrinkage with the factors of the observed split, and tuned again in every split."""
    m, pooled = len(x), np.vstack([x, y])
    G = Gaussian(bandwidth)(pooled)
    rng = np.random.default_rng(seed)
    splits = [np.arange(len(pooled)), *(rng.permutation(len(pooled)) for _ in range(B))]
    statistics = np.empty((2, B + 1))
    for b, order in enumerate(splits):
        S, T = order[:m], order[m:]
        blocks = G[np.ix_(S, S)], G[np.ix_(T, T)], G[np.ix_(S, T)]
        factors = [fast_factor(blocks[0]), fast_factor(blocks[1])]
        if b == 0:
            observed = factors
        for row, (s, t) in enumerate((observed, factors)):
            statistics[row, b] = (
                s**2 * blocks[0].mean() + t**2 * blocks[1].mean() - 2 * s * t * blocks[2].mean()
            )
    return [(row[1:] >= row[0] - 1e-12).sum() for row in statistics]


def fast_factor(K):
    n, varrho = len(K), np.trace(K) / len(K)
    r = (K.sum() - np.trace(K)) / (n * (n - 1))
    return min(max((n - 1) * r / ((n - 2) * r + varrho), 0.0), 1.0)


@pytest.mark.ci
def test_amounts_of_the_observed_split_would_be_invalid_and_are_not_kept():
    """With a narrow kernel the frozen factors fit the observed split best: level .12 at nominal .05."""
    rng, trials, B = np.random.default_rng(14), 400, 19
    frozen = ours = 0
    for trial in range(trials):
        x, y = null_data(two_sample_test, rng)
        bandwidth = np.sqrt(0.02) * 2.3  # the median distance is about 2.3
        estimator = SKMSE(tuning="sample")
        ours += two_sample_test(
            x, y, estimator=estimator, bandwidth=bandwidth, n_resamples=B, rng=trial, workers=1
        ).reject()
        frozen += 1 + frozen_and_retuned(x, y, bandwidth, B, trial)[0] <= 0.05 * (B + 1)
    assert inside(ours, trials, 0.05) and not inside(frozen, trials, 0.05) and frozen > ours


def test_a_fixed_amount_is_still_refitted():
    """With lam fixed the weights depend on the sample, so they are made again for every split."""
    rng = np.random.default_rng(16)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    result = two_sample_test(
        x, y, estimator=FKMSE(lam=0.5), bandwidth=1.0, form="biased", n_resamples=np.inf
    )
    G = Gaussian(1.0)(np.vstack([x, y]))
    w, v, statistics = naive.fkmse(G[:6, :6], lam=0.5), naive.fkmse(G[6:, 6:], lam=0.5), []
    for chosen in itertools.combinations(range(11), 6):
        b = np.empty(11)
        mask = np.isin(range(11), chosen)
        b[mask], b[~mask] = w, -v
        statistics.append(b @ G @ b)
    assert statistics[0] == pytest.approx(result.statistic, rel=1e-9)
    assert np.abs(np.array(statistics) - result.null_distribution).max() > 1e-3
