"""Values that differ only by rounding are one value, and values that really differ stay apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shrinktest import compare, independence_test, k_sample_test, two_sample_test, two_sample_test_columns

RNG = np.random.default_rng(0)
K1, K2 = RNG.integers(1, 5, (2, 300))
QUICK = {"n_resamples": 199, "rng": 0, "workers": 1}


def D(**columns):
    return pd.DataFrame(columns)


@pytest.mark.parametrize("dtype", ["float32", "float16", "Float32"])
@pytest.mark.parametrize("divisor", [10, 3, 7])
def test_shorter_numbers_are_compared_as_long_ones_are(dtype, divisor):
    short, long = pd.Series(K1 / divisor).astype(dtype), pd.Series(K2 / divisor)
    result = compare(D(rating=short), D(rating=long), **QUICK)
    assert result.overall.pvalue > 0.3 and not result.notes
    for estimator, scale in (("kme", "rank"), ("auto", "auto")):
        found = two_sample_test(short, long, estimator=estimator, scale=scale, **QUICK)
        exact = two_sample_test(K1 / divisor, K2 / divisor, estimator=estimator, scale=scale, **QUICK)
        assert found.pvalue == pytest.approx(exact.pvalue, abs=0.02)


def test_ranks_are_the_same_whatever_the_type_of_the_numbers():
    short, long = (K1 / 10).astype(np.float32), K2 / 10
    exact = two_sample_test(K1, K2, scale="rank", **QUICK).pvalue
    masked = np.ma.array(short, mask=np.zeros(300, dtype=bool))
    for x, y in ((short, long), (short[:, None], long[:, None]), (masked, long), (pl.Series(short), pl.Series(long))):
        assert two_sample_test(x, y, scale="rank", **QUICK).pvalue == exact
    assert two_sample_test_columns(D(a=short), D(a=long), scale="rank", **QUICK).pvalues == [exact]
    three = k_sample_test(short, long, (K2[::-1] / 10).astype(np.float32), scale="rank", **QUICK)
    assert three.pvalue == k_sample_test(K1, K2, K2[::-1], scale="rank", **QUICK).pvalue


def test_sums_of_decimals_are_the_decimals_that_they_stand_for():
    noisy, plain = np.full(30, 0.1 + 0.2), np.full(30, 0.3)
    x = RNG.normal(size=60)
    result = compare(D(a=noisy, x=x[:30]), D(a=plain, x=x[30:]), **QUICK)
    assert result.overall.pvalue > 0.05 and not any("alone tells" in note for note in result.notes)
    assert "'a'" not in result.answer
    with pytest.raises(ValueError, match="all observations are equal"):
        two_sample_test(noisy, plain, scale="rank", **QUICK)
    some = np.where(K1 > 2, 0.3, K1 / 10), np.where(K1 > 2, 0.1 + 0.2, K1 / 10)
    assert two_sample_test(*some, scale="rank", **QUICK).statistic == pytest.approx(0.0, abs=1e-12)
    other = 3 * (K1 / 10), K1 * 3 / 10
    assert two_sample_test(*other, paired=True, scale="rank", **QUICK).pvalue == 1.0


def test_dependence_on_how_numbers_were_computed_is_not_found():
    values = np.where(np.arange(300) < 150, K1 * 0.1, K1 / 10)
    found = independence_test(values, np.arange(300) < 150, scale="rank", **QUICK)
    assert found.pvalue == independence_test(K1, np.arange(300) < 150, scale="rank", **QUICK).pvalue


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (2.0**50 + np.arange(30), 2.0**50 + np.arange(30) + 30),  # whole numbers are exact
        (np.float32(2**24) + np.arange(0, 60, 2, dtype=np.float32), np.float32(2**24) + np.arange(60, 120, 2)),
        (1e6 + np.arange(30, dtype=np.float32) / 16, 1e6 + np.arange(30, 60, dtype=np.float32) / 16),  # dense
        (1.0 + np.arange(30) * 1e-15, 1.0 + np.arange(30, 60) * 1e-15),
        (np.full(30, 0.3), np.full(30, 0.3 + 1e-12)),
    ],
)
def test_numbers_that_differ_are_not_chained_into_one(first, second):
    first, second = np.asarray(first, dtype=second.dtype), np.asarray(second)
    assert two_sample_test(first, second, scale="rank", **QUICK).pvalue == 0.005


def test_the_order_of_the_samples_does_not_matter():
    short, long = (K1 / 3).astype(np.float32), K2 / 3
    pooled = np.concatenate([short.astype(float), long])
    order = RNG.permutation(600)
    statistics = {
        round(two_sample_test(x, y, scale="rank", n_resamples=0).statistic, 12)
        for x, y in ((short, long), (long, short))
    }
    assert len(statistics) == 1
    noisy = np.where(np.arange(600) % 2, pooled.round(3) * 3 / 3, (pooled.round(3) + 0.1) - 0.1)[order]
    exact = pooled.round(3)[order]
    found, wanted = (two_sample_test(z[:300], z[300:], scale="rank", **QUICK) for z in (noisy, exact))
    assert found.pvalue == wanted.pvalue


def test_the_witness_function_takes_values_that_differ_by_rounding_as_equal():
    result = two_sample_test(K1 / 10, K2 / 10 + 0.1, scale="rank", **QUICK)
    assert result.witness([0.1 + 0.2]) == pytest.approx(result.witness([0.3]), abs=1e-12)
