"""Rows by the value of one column: samples of one table, and the labels of their rows."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import k_sample_test
from shrinktest.data.segments import Segments

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=40), "week": 2 + np.arange(40) % 3 * 4, "b": RNG.normal(size=40)})  # fmt: skip
TABLE.loc[TABLE["week"] == 10, "a"] += 3.0
FAST = {"n_resamples": 99, "rng": 0, "workers": 1}


def split(table, column="week"):
    return {str(week): own.drop(columns=column) for week, own in table.groupby(column)}


@pytest.mark.parametrize("library", [lambda t: t, pl.from_pandas, pa.Table.from_pandas])
def test_a_column_of_labels_is_the_samples_one_by_one(library):
    result = k_sample_test(library(TABLE), by="week", **FAST)
    expected = k_sample_test(split(TABLE), **FAST)
    assert result.pvalue == expected.pvalue == 0.01
    assert result.names == ("2", "6", "10") and result.n_observations == expected.n_observations
    assert len(result.pairwise(rng=0)) == 3
    assert result.notes == expected.notes


def test_labels_of_rows_follow_them():
    days = np.arange(40) // 4
    result = k_sample_test(TABLE.assign(day=days), by="week", blocks=days, **FAST)
    expected = k_sample_test(
        {week: own.drop(columns="day") for week, own in split(TABLE.assign(day=days)).items()},
        blocks={week: own["day"] for week, own in split(TABLE.assign(day=days)).items()},
        **FAST,
    )
    without = k_sample_test(TABLE, by="week", blocks=pd.Series(days, name="day"), **FAST)
    assert without.pvalue == expected.pvalue and "blocks" in str(result.restriction)


def test_arrays_have_labels_beside_them():
    points = TABLE[["a", "b"]].to_numpy()
    result = k_sample_test(points, by=TABLE["week"], **FAST)
    parts = [points[TABLE["week"] == week] for week in (2, 6, 10)]
    assert result.pvalue == k_sample_test(*parts, **FAST).pvalue
    assert k_sample_test(points, by=TABLE["week"].tolist(), **FAST).pvalue == result.pvalue


def test_rows_without_a_label_are_left_out_with_a_note():
    table = TABLE.astype({"week": float})
    table.loc[:3, "week"] = np.nan
    result = k_sample_test(table, by="week", **FAST)
    assert result.pvalue == k_sample_test(split(TABLE[4:]), **FAST).pvalue
    assert result.notes[0] == "Left out, because week is missing: 4 rows."
    assert result.notes[0].code == "no-segment"


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([True, False, True], ("False", "True")),
        (["b", "a", "b"], ("a", "b")),
        ([10, 9, 10], ("9", "10")),
        ([0.5, 2.0, None], ("0.5", "2")),
        ([datetime.date(2024, 3, 5), datetime.date(2024, 2, 7), None], ("2024-02-07", "2024-03-05")),
        (pd.Categorical(["low", "high", "low"], ["low", "high"], ordered=True), ("low", "high")),
    ],
)  # fmt: skip
def test_segments_are_in_the_order_of_their_values(values, names):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "by": values})
    segments = Segments.of([table, table[:2]], "by", ["A", "B"])
    assert segments.names == names
    assert [list(own) for own in segments.tables] == [["x"], ["x"]]
    assert np.array_equal(segments.codes[0][:2], segments.codes[1])
    assert len(segments.taken(0, 1)) == len(segments.rows(0, 1))


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: k_sample_test(TABLE, by="wek", **FAST), ValueError, "Did you mean 'week'"),
        (lambda: k_sample_test(TABLE, TABLE, by="week", **FAST), TypeError, "by= splits one table"),
        (lambda: k_sample_test(TABLE[["week"]], by="week", **FAST), ValueError, "only column"),
        (lambda: k_sample_test(TABLE[::3], by="week", **FAST), ValueError, "one value only"),
        (lambda: k_sample_test(np.eye(4), by="week", **FAST), ValueError, "pass a table"),
        (lambda: k_sample_test(TABLE, by=[1, 2], **FAST), ValueError, "by has 2 labels"),
    ],
)
def test_errors_name_the_argument(call, error, named):
    with pytest.raises(error, match=named):
        call()
