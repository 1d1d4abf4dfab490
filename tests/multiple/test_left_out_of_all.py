"""Rows that miss a value in one column are left out of all: a note says so if a column loses rows to others."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, compare, independence_matrix, two_sample_test, two_sample_test_columns

FEW = {"n_resamples": 19, "rng": 0, "alpha": 0.5}
OMIT = {"nan_policy": "omit", **FEW}


def table(seed, columns="abc", n=30, gaps=()):
    found = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, len(columns))), columns=list(columns))
    for rows, column in gaps:
        found.loc[rows, column] = np.nan
    return found


def lost(result):
    """How many rows of how many the note says."""
    notes = [note for note in result.notes if getattr(note, "code", "") == "missing-left-out-of-all"]
    return notes[0].partition("(")[2].partition(")")[0] if notes else None


X, Y = table(0, gaps=[([1, 2, 3], "b")]), table(1, gaps=[([4], "c"), ([5], "b")])
OTHER, Z = table(1, "de"), table(2, "z")
AC = table(0, gaps=[([1, 2], "c")])


def test_columns_that_lose_rows_to_others_have_a_note():
    for tests, expected in (
        (two_sample_test_columns(X, Y, **OMIT), "5 of 60"),
        (two_sample_test_columns(X.to_numpy(), Y.to_numpy(), **OMIT), "5 of 60"),
        (compare(X, Y, estimator="kme", **OMIT), "5 of 60"),
        (two_sample_test_columns(X, Y, paired=True, **OMIT), "10 of 60"),
        (two_sample_test(X, Y, **OMIT), None),
        (two_sample_test_columns(X, Y, nan_policy="indicator", **FEW), None),
        (two_sample_test_columns(X[["b"]], Y[["b"]], **OMIT), None),
        (two_sample_test_columns(X[["a"]], Y[["a"]], **OMIT), None),
    ):
        assert lost(tests) == expected


def test_rows_that_miss_all_columns_are_no_loss():
    x, y = table(0, "ab", gaps=[([1, 2], "a"), ([1, 2], "b")]), table(1, "ab")
    assert not lost(two_sample_test_columns(x, y, **OMIT))
    x.loc[[3], "a"], y.loc[[3], "b"] = np.nan, np.nan  # of one pair, which has no value in either column then
    assert lost(two_sample_test_columns(x, y, **OMIT)) and not lost(two_sample_test_columns(x, y, paired=True, **OMIT))


@pytest.mark.parametrize(("data", "given", "expected"), [
    ((AC,), {}, "2 of 30"),
    ((AC, OTHER), {}, "2 of 30"),
    ((AC[["a", "c"]],), {}, None),  # its only pair misses these
    ((AC[["c"]], OTHER), {}, None),
    ((AC,), {"given": "others", "given_method": "residuals"}, None),  # all columns are in every test
    ((AC[["a"]], OTHER), {"given": AC["c"], "given_method": "residuals"}, None),  # as is what is given
    ((AC, OTHER), {"given": Z, "given_method": "residuals"}, "2 of 30"),
])  # fmt: skip
def test_pairs_that_lose_rows_to_others_have_a_note(data, given, expected):
    assert lost(independence_matrix(*data, **given, **OMIT)) == expected


def test_in_batches(tmp_path):
    for name, one in (("x", table(0, n=200, gaps=[(list(range(9)), "b")])), ("y", table(1, n=200))):
        one.to_parquet(tmp_path / f"{name}.parquet")
    samples = [Batches(tmp_path / f"{name}.parquet", bins=20) for name in "xy"]
    assert lost(two_sample_test_columns(*samples, gram="rff", rank=8, **OMIT)) == "9 of 400"
