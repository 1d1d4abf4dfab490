"""TestResult: a frozen value, its decisions and their uncertainty, the witness, missing values."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import naive_kernels
from shrinktest import SKMSE, Gaussian, independence_test, k_sample_test, two_sample_test
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.null import Null
from shrinktest.results.base import Setup, TestData
from shrinktest.results.result import make_result

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(10, 2)), RNG.normal((0.9, 0.0), size=(8, 2))
PAIR = X[:, 0] ** 2 + 0.2 * RNG.normal(size=10)


@pytest.fixture(scope="module")
def result():
    return two_sample_test(X, Y, n_resamples=199, rng=0)


@pytest.fixture(scope="module")
def paired():
    return independence_test(X, PAIR, estimator="skmse", n_resamples=99, rng=0)


def made(observed, values, *, exact=False, tolerance=0.0, alpha=0.05):
    """The result of a null distribution given by its values."""
    values = np.asarray(values, dtype=float)
    null = Null(float(observed), values, tolerance, exact)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few values to reject: not what is tested with these
        data, setup = (
            TestData("two-sample", (4, 3)),
            Setup(SKMSE(), Gaussian(1.0), "biased", "sample"),
        )
        return make_result(null, data, setup, alpha=alpha, rng={})


# --- a value ------------------------------------------------------------------------------------------------


def test_it_unpacks_and_is_frozen_with_few_fields(result):
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue) == (
        result[0],
        result[-1],
    ) and len(result) == 2
    assert len(dataclasses.fields(result)) <= 8
    for name in ("statistic", "pvalue", "alpha", "null", "anything"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(result, name, 0.0)


def test_a_pickle_holds_the_null_distribution_and_the_estimates_once():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 200, 30))
    options = {"n_resamples": 99, "rng": 0, "gram": "dense", "workers": 1}
    for result in (
        two_sample_test(x, y[:150], **options),
        k_sample_test(x, y, z, **options),
        two_sample_test(x, y[:150], estimator=["kme", "skmse"], **options),
        independence_test(x, y, bandwidth_x=["median", 9.0], **options),
    ):
        members = getattr(result, "members", (result,))
        estimates = {
            id(estimate.points): estimate for member in members for estimate in member.estimates
        }
        needed = sum(member.null_distribution.nbytes for member in {result, *members})
        needed += sum(estimate.points.nbytes for estimate in estimates.values())
        needed += sum(
            estimate.weights.nbytes for member in members for estimate in member.estimates
        )
        assert len(pickle.dumps(result)) <= 10_000 + needed


def test_a_copy_has_all_and_a_pickle_has_the_data_on_request(result):
    expected = result.witness_band(X).half_width
    for copied in (
        copy.copy(result),
        copy.deepcopy(result),
        pickle.loads(pickle.dumps(result.with_data())),
    ):
        np.testing.assert_array_equal(copied.witness_band(X).half_width, expected)
    with pytest.raises(
        ValueError, match=r"was pickled without its data, .*; pickle result\.with_data\(\)"
    ):
        pickle.loads(pickle.dumps(result)).witness_band(X)


# --- decisions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("B", "alpha"), [(19, 0.05), (99, 0.01), (99, 0.29), (999, 0.07), (6, 1 / 7)]
)
def test_a_p_value_equal_to_alpha_rejects(B, alpha):
    reached = round(alpha * (B + 1)) - 1
    result = made(10.0, np.r_[np.full(reached, 11.0), np.zeros(B - reached)], alpha=alpha)
    assert result.pvalue == pytest.approx(alpha, rel=1e-12)
    assert result.reject() is True
    assert result.reject(alpha) is True
    assert result.reject(alpha - 1e-6) is False
    one_more = made(10.0, np.r_[np.full(reached + 1, 11.0), np.zeros(B - reached - 1)], alpha=alpha)
    assert one_more.reject() is False


LEVELS = st.one_of(
    st.floats(1e-6, 0.999),
    st.builds(lambda k, n: min(k, n) / (n + 1), st.integers(1, 60), st.integers(1, 60)),
    st.builds(lambda k: np.nextafter(k / 20, 0.0), st.integers(1, 19)),
    st.builds(lambda k: np.nextafter(k / 20, 1.0), st.integers(1, 19)),
)


@settings(max_examples=150, deadline=None)
@given(
    values=hnp.arrays(np.float64, st.integers(0, 40), elements=st.integers(-3, 4).map(float)),
    observed=st.sampled_from([-1.0, 0.0, 2.0, 4.0, 5.0]),
    exact=st.booleans(),
    tolerance=st.sampled_from([0.0, 1e-10]),
    alpha=LEVELS,
)
def test_the_critical_value_is_what_the_statistic_must_exceed(
    values, observed, exact, tolerance, alpha
):
    if exact:
        values = np.append(values, observed)
    result = made(observed, values, exact=exact, tolerance=tolerance)
    exceeds = result.statistic - result.tolerance > result.critical_value(alpha)
    assert exceeds == result.reject(alpha) == (result.pvalue <= alpha)


def test_the_critical_value_of_a_small_null():
    assert made(0.0, np.arange(19.0)).critical_value() == 18.0
    assert made(0.0, np.arange(39.0)).critical_value() == 37.0
    assert made(0.0, np.arange(18.0)).critical_value() == math.inf
    assert made(0.0, np.arange(20.0), exact=True).critical_value() == 18.0
    assert made(0.0, np.arange(19.0), exact=True).critical_value() == math.inf
    assert made(0.0, np.arange(99.0)).critical_value(0.5) == 49.0


# --- Monte Carlo uncertainty --------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("reached", [0, 1, 7, 50, 99])
def test_the_interval_is_that_of_clopper_and_pearson(reached, confidence):
    result = made(1.0, np.r_[np.full(reached, 2.0), np.zeros(99 - reached)])
    low, high = result.pvalue_interval(confidence)
    exact = stats.binomtest(reached, 99).proportion_ci(confidence, method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)
    assert (low, high) == pytest.approx(
        proportion_confint(reached, 99, alpha=1 - confidence, method="beta"), abs=1e-12
    )
    assert 0.0 <= low < high <= 1.0
    assert [type(low), type(high)] == [float, float]


def test_the_interval_covers_the_p_value_of_all_relabelings():
    everything = two_sample_test(X[:6], Y[:5], n_resamples=np.inf)
    covered = [
        low <= everything.pvalue <= high
        for low, high in (
            two_sample_test(X[:6], Y[:5], n_resamples=199, rng=seed).pvalue_interval(0.9)
            for seed in range(100)
        )
    ]
    assert sum(covered) >= stats.binom(100, 0.9).ppf(1e-3)


def test_an_exhaustive_p_value_has_no_uncertainty():
    result = two_sample_test(X[:4], Y[:4], n_resamples=np.inf)
    assert result.pvalue_interval() == (result.pvalue, result.pvalue)
    assert np.isnan(two_sample_test(X, Y, n_resamples=0).pvalue_interval()).all()
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
        two_sample_test(X, Y, n_resamples=19).pvalue_interval(95)
    with pytest.raises(TypeError, match="confidence must be a number"):
        two_sample_test(X[:4], Y[:4], n_resamples=np.inf).pvalue_interval("a")


# --- witness ------------------------------------------------------------------------------------------------


def test_the_witness_is_the_difference_of_the_means():
    x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [4.0], [5.0]])
    result = two_sample_test(x, y, bandwidth=0.8, n_resamples=0)
    at = np.array([[-0.5], [2.0], [4.2]])
    expected = [
        naive_kernels.gaussian(p[None], x, 0.8).mean()
        - naive_kernels.gaussian(p[None], y, 0.8).mean()
        for p in at
    ]
    np.testing.assert_allclose(result.witness(at), expected, rtol=1e-12)
    assert (
        result.witness(at)[0] > 0 > result.witness(at)[2]
    )  # positive where the first sample has more mass
    np.testing.assert_allclose(result.witness([-0.5, 2.0, 4.2]), expected, rtol=1e-12)


def test_missing_values_give_nan_and_still_print():
    for name in ESTIMATORS:
        for result in (
            two_sample_test(HOLES, Y, estimator=name, nan_policy="propagate"),
            independence_test(HOLES, np.arange(11.0), estimator=name, nan_policy="propagate"),
        ):
            assert np.isnan(tuple(result)).all() and not result.reject(0.99)
            assert (result.n_resamples, result.estimates, result.critical_value()) == (
                0,
                (),
                math.inf,
            )
            text = str(result.summary())
            assert "nan" not in text and "none" in text and "median" in text
            assert json.loads(result.to_json())["statistic"] is None


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_witness_of_every_estimator_integrates_to_the_statistic(name):
    result = two_sample_test(X, Y, estimator=name, form="biased", n_resamples=0)
    first, second = result.estimates
    other = two_sample_test(Y, X, estimator=name, form="biased", n_resamples=0)
    np.testing.assert_allclose(other.witness(X), -result.witness(X), rtol=1e-6, atol=1e-7)
    assert result.witness(X).mean() > result.witness(Y).mean()
    if first.smoothing is None:  # <mu_x - mu_y, mu_x - mu_y>
        total = first.weights @ result.witness(first.points) - second.weights @ result.witness(
            second.points
        )
        assert total == pytest.approx(result.statistic, rel=1e-9)


def test_there_is_not_always_a_witness(result, paired):
    with pytest.raises(AttributeError, match="compares two samples; an independence test has none"):
        paired.witness(X)
    assert not hasattr(paired, "witness") and hasattr(result, "witness")
    with pytest.raises(AttributeError, match="'TestResult' object has no attribute 'wittness'"):
        paired.wittness(X)
    with pytest.raises(ValueError, match="points has 3 columns, the embedding's points have 2"):
        result.witness(np.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"points has 1 missing value \(NaN\), in row 0, column 1"):
        result.witness([[0.0, np.nan]])
    missing = two_sample_test(np.r_[X, [[np.nan, 0.0]]], Y, nan_policy="propagate")
    with pytest.raises(ValueError, match="missing values"):
        missing.witness(X)


# --- missing values -----------------------------------------------------------------------------------------

HOLES = np.insert(X, 3, [np.nan, 1.0], axis=0)


def test_omit_drops_the_rows_that_miss_a_value():
    omitted = two_sample_test(HOLES, Y, nan_policy="omit", n_resamples=50, rng=0)
    complete = two_sample_test(X, Y, n_resamples=50, rng=0)
    assert omitted.n_observations == (10, 8)
    assert tuple(omitted) == tuple(complete)
    np.testing.assert_array_equal(omitted.null_distribution, complete.null_distribution)


def test_omit_drops_the_pairs_that_miss_a_value():
    y = np.insert(PAIR, 3, 9.0)
    y[7] = np.nan
    keep = [i for i in range(11) if i not in (3, 7)]
    omitted = independence_test(HOLES, y, nan_policy="omit", n_resamples=50, rng=0)
    complete = independence_test(HOLES[keep], y[keep], n_resamples=50, rng=0)
    assert omitted.n_observations == (9,)
    assert tuple(omitted) == tuple(complete)
