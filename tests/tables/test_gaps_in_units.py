"""Units of columns with missing values: the indicator says as much as its column does, and no row need be complete."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import equivalence_test, independence_test, two_sample_test
from shrinktest.data.observed import pooled_tables


def incomes(seed, missing, n=40):
    rng = np.random.default_rng(seed)
    values = rng.normal(30000.0, 8000.0, size=(n, 2))
    values[rng.random(n) < missing, 0] = np.nan
    return values


X, Y = incomes(0, 0.05), incomes(1, 0.35)


def points(x, y, scale):
    pooled = pooled_tables((x, y), ("X", "Y"), {})
    return pooled.taken(np.ones(len(x) + len(y), dtype=bool), scale, "scale", indicate=True).values


def test_a_unit_of_one_is_no_unit():
    for x, y in ((X, Y), (pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"]))):
        plain = points(x, y, None)
        assert np.array_equal(points(x, y, [1.0, 1.0]), plain)
        unscaled = two_sample_test(x, y, scale=None, nan_policy="indicator", n_resamples=19, rng=0)
        scaled = two_sample_test(x, y, scale=[1.0, 1.0], nan_policy="indicator", n_resamples=19, rng=0)
        assert unscaled.statistic == scaled.statistic
    named = points(*(pd.DataFrame(sample, columns=["a", "b"]) for sample in (X, Y)), {"a": None, "b": 1.0})
    assert np.array_equal(named, plain)
    alone = [sample[:, :1] for sample in (X, Y)]
    same = [
        equivalence_test(*alone, margin=0.2, measure="distance", scale=units, nan_policy="indicator")
        for units in (None, [1.0])
    ]
    assert same[0].upper == same[1].upper


@pytest.mark.parametrize("unit", [8000.0, 0.25, 3.0])
def test_a_number_is_what_dividing_the_column_by_it_is(unit):
    divided = [sample / [unit, 1.0] for sample in (X, Y)]
    np.testing.assert_allclose(points(X, Y, [unit, 1.0]), points(*divided, None), rtol=1e-12)
    tables = [pd.DataFrame(sample, columns=["a", "b"]) for sample in (X, Y)]
    mixed, by_name = points(*tables, {"a": unit, "b": "sd"}), points(*tables, "sd")
    spread = mixed[:, 0].std()
    np.testing.assert_allclose(mixed[:, :2] / spread, by_name[:, :2], rtol=1e-12)


def test_the_indicator_of_a_constant_column_is_as_under_sd():
    gone = [np.where(sample > 34000.0, np.nan, 5.0)[:, :1] for sample in (X, Y)]
    for scale in ("sd", None, [1.0], [5.0]):
        assert points(*gone, scale)[:, 1].max() == pytest.approx(2.0**0.5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", ["auto", "sd", "mad", "rank", "deviation", {"a": 1.0, "b": "rank"}])
def test_where_no_row_is_complete_missing_values_propagate(scale):
    never = pd.DataFrame({"a": [1.0, np.nan, 3.0, np.nan], "b": [np.nan, 2.0, np.nan, 3.0]})
    for test in (two_sample_test, independence_test):
        assert np.isnan(test(never, never + 1.0, nan_policy="propagate", scale=scale).pvalue)
