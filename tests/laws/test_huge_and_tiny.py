"""Units: what does not depend on them is the same for values whose squares no floating-point number can hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    compare,
    independence_matrix,
    independence_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.results.base import same
from shrinktest.units import deviations, means, near_one

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 30, 2))
Z = RNG.normal(size=30) + 0.2 * X[:, 0]
FEW = {"n_resamples": 39, "rng": 0}
FACTORS = [2.0**-1030, 1e-170, 2.0**500, 1e160, 1e300]


def test_given_variables_and_covariates():
    wide, both = np.column_stack([Z, Y[:, 1]]), (Z, Z + 0.5 * Y[:, 1])
    for test in (
        lambda f: independence_test(X[:, 0], Y[:, 0], given=f * Z, **FEW).pvalue,
        lambda f: independence_test(X[:, 0], Y[:, 0], given=f * Z, given_method="local", **FEW).pvalue,
        lambda f: independence_test(X[:, 0], Y[:, 0], given=f * wide, **FEW).pvalue,
        lambda f: independence_matrix(X, given=f * Z, **FEW).pvalues,
        lambda f: two_sample_test(X, Y, covariates=tuple(f * one for one in both), **FEW).pvalue,
    ):
        assert all(test(factor) == test(1.0) for factor in FACTORS)


@pytest.mark.parametrize(("factor", "scale"), [*zip(FACTORS, ["rank", "mad", None, None, "rank"], strict=True)])
def test_comparisons(factor, scale):
    plain, found = (compare(f * X, f * Y, scale=scale, **FEW) for f in (1.0, factor))
    assert found.overall.pvalue == plain.overall.pvalue
    for one, other in zip(plain.effects, found.effects, strict=True):
        for before, after in zip(one.changes, other.changes, strict=True):
            assert (after.first, after.second) == pytest.approx((before.first * factor, before.second * factor))
            assert (after.estimate, after.low, after.high) == pytest.approx((before.estimate, before.low, before.high))
    assert plain.where is not None
    assert (found.where is None) == (factor != 2.0**500)


def test_the_largest_numbers():
    least, most = np.full((12, 1), -1e306), np.full((12, 1), 1e306)
    found = compare(least, most, **FEW)
    assert found.overall.pvalue == 0.025
    assert found.effects[0].changes[0].first == pytest.approx(-1e306)
    assert (two_sample_test_columns(least, most, **FEW).pvalues == 0.025).all()
    with pytest.raises(ValueError, match="scale='rank'"):
        compare(160.0 * least, 160.0 * most, **FEW)
    assert compare(160.0 * least, 160.0 * most, scale="rank", **FEW).overall.pvalue == 0.025


def test_indicators_are_in_units_of_their_column():
    holed = pd.DataFrame(X, columns=["a", "b"]).mask(lambda table: table > 1.5)
    asked = {"scale": None, "nan_policy": "indicator", "bandwidth": "median"}
    plain = two_sample_test(holed, pd.DataFrame(Y, columns=["a", "b"]), **asked, **FEW)
    large = two_sample_test(2.0**500 * holed, pd.DataFrame(2.0**500 * Y, columns=["a", "b"]), **asked, **FEW)
    assert large.pvalue == plain.pvalue


def test_moments():
    for factor in (1.0, *FACTORS):
        values = 3.0 * factor * X
        assert 0.5 <= np.abs(near_one(values)).max() <= 1.0
        np.testing.assert_allclose(means(values) / factor, 3.0 * X.mean(axis=0))
        np.testing.assert_allclose(deviations(values, ddof=1) / factor, 3.0 * X.std(axis=0, ddof=1))
    assert not near_one(np.zeros((3, 2))).any()


def test_kernels_of_points_far_apart_are_zero_whatever_numpy_is_told():
    wild, other = np.random.default_rng(1).standard_cauchy(size=(2, 24, 2)) * 5.0
    calls = (
        lambda: two_sample_test(wild, other, bandwidth=0.05, **FEW),
        lambda: two_sample_test(wild, other, covariates=(other, wild), **FEW),
        lambda: compare(wild, other, **FEW),
    )
    told = lambda found: (found.to_json(), str(found.summary()))  # noqa: E731
    looks = (
        lambda found: found.effect(),
        lambda found: found.witness_band(),
        lambda found: found.contributions(n_repeats=2),
    )
    plain = [call() for call in calls]
    expected = [told(found) for found in plain], [look(plain[0]) for look in looks]
    with np.errstate(all="raise"):
        found = [call() for call in calls]
        seen = [told(one) for one in found], [look(found[0]) for look in looks]
        assert np.geterr()["under"] == "raise"
    assert same(expected, seen)
