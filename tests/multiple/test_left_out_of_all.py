"""Rows that miss a value in one column are left out of all: a note says so where a column loses rows to others."""

import numpy as np
import pandas as pd

from shrinktest import compare, independence_matrix, two_sample_test, two_sample_test_columns

NAN = np.nan
SAID = "Rows that miss a value in any column are left out of all columns"
FEW = {"n_resamples": 19, "rng": 0, "alpha": 0.5}


def table(seed, columns="abc", n=30, gaps=()):
    found = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, len(columns))), columns=list(columns))
    for rows, column in gaps:
        found.loc[rows, column] = NAN
    return found


def said(result):
    return [note for note in result.notes if note.startswith(SAID)]


def test_columns_that_lose_rows_to_others_have_a_note():
    x, y = table(0, gaps=[([1, 2, 3], "b")]), table(1, gaps=[([4], "c"), ([5], "b")])
    expected = [
        f"{SAID} (5 of 60): take nan_policy='indicator', or test a column by itself, if what is missing depends on the "
        "values."
    ]
    for tests in (
        two_sample_test_columns(x, y, nan_policy="omit", **FEW),
        two_sample_test_columns(x.to_numpy(), y.to_numpy(), nan_policy="omit", **FEW),
        compare(x, y, nan_policy="omit", estimator="kme", **FEW),
    ):
        assert said(tests) == expected
    paired = two_sample_test_columns(x, y, nan_policy="omit", paired=True, **FEW)
    assert f"{SAID} (10 of 60)" in said(paired)[0]
    assert not said(two_sample_test(x, y, nan_policy="omit", **FEW))
    for tests in (
        two_sample_test_columns(x, y, nan_policy="indicator", **FEW),
        compare(x, y, estimator="kme", **FEW),
        two_sample_test_columns(x[["b"]], y[["b"]], nan_policy="omit", **FEW),
        two_sample_test_columns(x[["a"]], y[["a"]], nan_policy="omit", **FEW),
    ):
        assert not said(tests)


def test_rows_that_miss_all_columns_are_no_loss():
    x, y = table(0, "ab", gaps=[([1, 2], "a"), ([1, 2], "b")]), table(1, "ab")
    assert not said(two_sample_test_columns(x, y, nan_policy="omit", **FEW))
    x.loc[[3], "a"], y.loc[[3], "b"] = NAN, NAN  # of one pair, which has no value in either column then
    assert said(two_sample_test_columns(x, y, nan_policy="omit", **FEW))
    assert not said(two_sample_test_columns(x, y, paired=True, nan_policy="omit", **FEW))


def test_under_indicator_a_complete_column_is_tested_by_itself():
    x, y = table(0, "ab", n=40), table(1, "ab", n=40)
    y["b"] += 2.0
    for one in (x, y):
        one["b"] = one["b"].where(one["b"] <= one["a"] + 1.0)
    many = two_sample_test_columns(x, y, nan_policy="indicator", n_resamples=99, rng=0)
    assert many.pvalues[0] == two_sample_test(x["a"], y["a"], n_resamples=99, rng=0).pvalue


def test_pairs_that_lose_rows_to_others_have_a_note():
    three, other = table(0, gaps=[([1, 2], "c")]), table(1, "de")
    told = f"{SAID} (2 of 30): take nan_policy='indicator', or test a pair by itself"
    assert said(independence_matrix(three, nan_policy="omit", **FEW))[0].startswith(told)
    assert said(independence_matrix(three, other, nan_policy="omit", **FEW))[0].startswith(told)
    two = three[["a", "c"]]
    assert not said(independence_matrix(two, nan_policy="omit", **FEW))  # its only pair misses these
    assert not said(independence_matrix(three[["c"]], other, nan_policy="omit", **FEW))
    given = {"given_method": "residuals", "nan_policy": "omit", **FEW}
    assert not said(independence_matrix(three, given="others", **given))  # all columns are in every test
    assert not said(independence_matrix(three[["a"]], other, given=three["c"], **given))  # as is what is given
    assert said(independence_matrix(three, other, given=table(2, "z"), **given))


def test_in_batches(tmp_path):
    x, y = table(0, n=200, gaps=[(list(range(9)), "b")]), table(1, n=200)
    for name, one in (("x", x), ("y", y)):
        one.to_parquet(tmp_path / f"{name}.parquet")
    from shrinktest import Batches

    samples = [Batches(tmp_path / f"{name}.parquet", bins=20) for name in "xy"]
    options = {"gram": "rff", "rank": 8, "nan_policy": "omit", **FEW}
    assert f"{SAID} (9 of 400)" in said(two_sample_test_columns(*samples, **options))[0]
