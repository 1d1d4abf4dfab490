"""Approximate p-values in the tail: fits against scipy, laws, and a call for every test that has one."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import genpareto, pearson3, skew

from shrinktest import (
    TailPvalue,
    change_point_test,
    factor_test,
    independence_test,
    k_sample_test,
    permutation_test,
    two_sample_test,
)
from shrinktest.permutations.null import Null
from shrinktest.permutations.tail_fit import ParetoTail, Pearson3Tail
from shrinktest.results.tail_pvalue import tail_of

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(1.2, 1.0, size=(30, 2))
GAMMA = RNG.gamma(2.0, size=999)
OPTIONS = {"rng": 0, "workers": 1}


@pytest.fixture(scope="module")
def result():
    return two_sample_test(X, Y, **OPTIONS)


# --- fits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observed", [8.0, 15.0, 40.0])
def test_pearson3_has_the_moments_of_the_values(observed):
    value, _ = Pearson3Tail(GAMMA).at(observed)
    slow = pearson3.sf(observed, skew(GAMMA), GAMMA.mean(), GAMMA.std())
    assert value == pytest.approx(math.log(slow), rel=1e-6)


def test_pearson3_without_skewness_is_normal():
    values = np.concatenate([ndtri(np.linspace(0.001, 0.999, 500))] * 2)
    assert Pearson3Tail(values).at(4.0)[0] == pytest.approx(
        math.log(pearson3.sf(4.0, 0.0, 0.0, values.std())), rel=1e-3
    )
    left = Pearson3Tail(-GAMMA)  # its own tail would end at 0
    assert -100.0 < left.at(2.0)[0] < -5.0


def test_errors_are_those_of_repeated_draws():
    rng = np.random.default_rng(0)
    for fit in (Pearson3Tail, lambda values: ParetoTail.fitted(values, shape=0.0)):
        fits = [fit(rng.gamma(2.0, size=999)).at(11.0) for _ in range(60)]
        values, errors = np.array(fits).T
        assert 0.7 < np.median(errors) / values.std() < 1.4


def test_pareto_is_fitted_to_exceedances():
    values = np.random.default_rng(1).pareto(4.0, size=2000)
    fit = ParetoTail.fitted(values)
    excesses = np.sort(values)[-fit.exceedances :] - fit.threshold
    assert (excesses > 0.0).all() and (values > fit.threshold).sum() == fit.exceedances
    shape, _, scale = genpareto.fit(excesses, floc=0.0)
    assert fit.shape == pytest.approx(shape, abs=0.1) and fit.scale == pytest.approx(scale, rel=0.1)
    share = fit.exceedances / 2000
    slow = share * genpareto.sf(20.0 - fit.threshold, fit.shape, scale=fit.scale)
    assert fit.at(20.0)[0] == pytest.approx(math.log(slow))


def test_pareto_takes_fewer_exceedances_until_they_fit():
    rng = np.random.default_rng(0)
    body = rng.uniform(0.0, 1.0, size=899)
    tail = 1.0 + rng.exponential(size=100)  # a kink at 100 of 999
    fit = ParetoTail.fitted(np.concatenate([body, tail]))
    assert fit.exceedances <= 125
    assert ParetoTail.fitted(np.repeat([0.0, 1.0], 500)) is None  # ties alone


def test_a_tail_that_ends_gives_no_p_value():
    values = np.random.default_rng(0).uniform(size=999)
    fit = ParetoTail.fitted(values)
    assert fit.shape < -0.5 and fit.at(3.0) == (-math.inf, math.inf)
    null = Null(3.0, values, 0.0, exact=False)
    with pytest.raises(ValueError, match="ends below the statistic; use method='pearson3'"):
        tail_of(null, "pareto", 0.95, (0.0, 0.004))
    assert tail_of(null, "pearson3", 0.95, (0.0, 0.004)).pvalue < 1e-6


def test_units_of_the_statistic_do_not_matter():
    for fit in (Pearson3Tail, ParetoTail.fitted):
        there = fit(1000.0 * GAMMA - 7.0).at(1000.0 * 12.0 - 7.0)
        assert there == pytest.approx(fit(GAMMA).at(12.0), rel=1e-6)


# --- results ----------------------------------------------------------------------------------------------


def test_it_is_below_what_permutations_can_show(result):
    tail = result.tail_pvalue()
    assert result.pvalue == 0.001 and 0.0 < tail.pvalue < 0.001
    assert tail.interval[0] < tail.pvalue < tail.interval[1]
    assert tail.sigma == pytest.approx(-ndtri(tail.pvalue))
    assert tail.note.code == "tail" and "approximate" in str(tail) and "sigma" in str(tail)
    with pytest.raises(FrozenInstanceError):
        tail.pvalue = 0.0
    assert result.tail_pvalue() == tail  # nothing is drawn


def test_a_wider_confidence_gives_a_wider_interval(result):
    low, high = result.tail_pvalue(confidence=0.8).interval
    lower, higher = result.tail_pvalue(confidence=0.99).interval
    assert lower < low and high < higher


def test_the_tail_of_a_known_law():
    values = np.random.default_rng(5).chisquare(1.0, size=(9999, 4)).sum(axis=1)
    for truth in (1e-4, 1e-6):
        shape, location, scale = 2.0 / math.sqrt(4.0 / 2.0), 4.0, math.sqrt(8.0)
        observed = pearson3.isf(truth, shape, location, scale)
        assert abs(Pearson3Tail(values).at(observed)[0] - math.log(truth)) < math.log(2.0)


TESTS = {
    "two samples": lambda: two_sample_test(X, Y, **OPTIONS),
    "ensemble": lambda: two_sample_test(X, Y, estimator="auto", **OPTIONS),
    "independence": lambda: independence_test(X[:, 0], 2.0 * X[:, 0] + Y[:, 0], **OPTIONS),
    "given": lambda: independence_test(X[:, 0], X[:, 0] + 0.1 * Y[:, 0], given=Y[:, 1], **OPTIONS),
    "k samples": lambda: k_sample_test({"a": X, "b": Y, "c": Y + 1.0}, **OPTIONS),
    "change": lambda: change_point_test(np.concatenate([X, Y]), **OPTIONS),
    "row of factors": lambda: factor_test(
        "arm", {"arm": ["a"] * 30 + ["b"] * 30}, response=np.concatenate([X, Y]), rng=0
    )["arm"],
    "own statistic": lambda: permutation_test(
        lambda labels: float(np.concatenate([X, Y])[labels == 1].sum()), (30, 30), rng=0
    ),
}


@pytest.mark.parametrize("name", TESTS)
def test_every_test_has_one(name):
    result = TESTS[name]()
    tail = result.tail_pvalue()
    assert isinstance(tail, TailPvalue) and tail.method == "pearson3"
    assert tail.pvalue < 1.2 / 1000 and result.pvalue == 0.001


def test_what_was_counted_is_not_fitted():
    alike = two_sample_test(X, Y - 1.2, **OPTIONS)
    counted = alike.tail_pvalue()
    assert counted.method == "counted" and counted.pvalue == alike.pvalue and not counted.note
    assert counted.interval == alike.pvalue_interval()
    every = two_sample_test(X[:5], Y[:5])
    assert every.exact and every.tail_pvalue().method == "enumerated"
    assert every.tail_pvalue().pvalue == every.pvalue and str(every.tail_pvalue()).endswith("s)")


def test_without_permutations_the_error_names_the_remedy(result):
    for arguments, remedy in (
        ({"n_resamples": 0}, "n_resamples=999"),
        ({"n_resamples": 99}, "too few for a tail"),
        ({"stopping": "besag-clifford", "n_resamples": 9999}, "run the test without it"),
    ):
        few = two_sample_test(X, Y - 1.2 if "stopping" in arguments else Y, **OPTIONS, **arguments)
        with pytest.raises(ValueError, match=remedy):
            few.tail_pvalue()
    with pytest.raises(ValueError, match="method"):
        result.tail_pvalue(method="gamma")
    with pytest.raises(ValueError, match="confidence"):
        result.tail_pvalue(confidence=95)
