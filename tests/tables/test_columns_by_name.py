"""Columns of one table that stand for variables: each a variable, or given by their names; and one for samples."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shrinktest import (
    change_point_test,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    two_sample_test,
)

FEW = {"n_resamples": 39, "rng": 0}
RNG = np.random.default_rng(3)
TABLE = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["a", "b", "age"]).assign(site=["north", "south", "west"] * 10)
FRAMES = [lambda table: table, pl.from_pandas, pa.Table.from_pandas]


# --- every column a variable --------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", FRAMES)
def test_the_columns_of_one_table_are_variables(frame):
    apart = joint_independence_test(*(TABLE[[name]] for name in TABLE), **FEW)
    result = joint_independence_test(frame(TABLE), **FEW)
    assert (result.statistic, result.pvalue) == (apart.statistic, apart.pvalue)
    assert "Kernel age:" in str(result.summary())
    fewer = joint_independence_test(frame(TABLE), column_types={"site": "drop", "age": "number"}, **FEW)
    assert fewer.pvalue == joint_independence_test(*(TABLE[[name]] for name in ("a", "b", "age")), **FEW).pvalue


def test_a_dict_names_variables():
    result = joint_independence_test({"pair": TABLE[["a", "b"]], "age": TABLE["age"]}, **FEW)
    assert result.pvalue == joint_independence_test(TABLE[["a", "b"]], TABLE["age"], **FEW).pvalue
    assert "Kernel pair:" in str(result.summary())
    with pytest.raises(ValueError, match="one has 30 rows and two has 9 rows"):
        joint_independence_test({"one": TABLE["a"], "two": TABLE["b"][:9]}, **FEW)
    with pytest.raises(ValueError, match="two variables have the name '1' as text"):
        joint_independence_test({1: TABLE["a"], "1": TABLE["b"]}, **FEW)


def test_one_variable_is_too_few():
    for alone in (TABLE[["a", "b"]].to_numpy(), TABLE["a"], TABLE[["a"]], {"a": TABLE["a"]}):
        with pytest.raises(ValueError, match="or a dict or a DataFrame of them; got 1"):
            joint_independence_test(alone, **FEW)
    with pytest.raises(ValueError, match="a column in column_types must be one of"):
        joint_independence_test(TABLE, column_types={"ag": "drop"}, **FEW)


# --- given by name ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("names", [["age"], ["site"], ["site", "age"]])
def test_what_is_given_by_name_is_left_out_of_the_pairs(frame, names):
    left = TABLE.drop(columns=names)
    given = independence_matrix(left, given=TABLE[names], **FEW)
    by_name = independence_matrix(frame(TABLE), given=names, **FEW)
    assert by_name.labels == given.labels
    np.testing.assert_array_equal(by_name.pvalues, given.pvalues)
    if len(names) == 1:
        assert independence_matrix(frame(TABLE), given=names[0], **FEW).table.equals(by_name.table)
    two_tables = independence_matrix(frame(TABLE[["a", *names]]), frame(TABLE[["b"]]), given=names, **FEW)
    assert two_tables.labels == (("a", "b"),)


def test_texts_for_every_row_are_labels_and_no_names():
    labels = independence_matrix(TABLE[["a", "b"]], given=TABLE["site"].tolist(), **FEW)
    np.testing.assert_array_equal(
        labels.pvalues, independence_matrix(TABLE[["a", "b"]], given=TABLE["site"], **FEW).pvalues
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("ages", "given must be one of 'others', 'a', 'b', 'age', 'site'; got 'ages'. Did you mean 'age'?"),
        (["age", "sites"], "given must be one of 'a', 'b', 'age', 'site'; got 'sites'. Did you mean 'site'?"),
        (list(TABLE), "given names all columns of X"),
        (["a", "age", "site"], "X has 1 column"),
    ],
)
def test_names_that_cannot_be_given(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        independence_matrix(TABLE, given=given, **FEW)


def test_the_name_of_a_column_is_no_vector_of_labels():
    for test in (
        lambda: two_sample_test(TABLE, TABLE, blocks="site", **FEW),
        lambda: independence_test(TABLE["a"], TABLE["b"], groups="site", **FEW),
        lambda: change_point_test(TABLE, times="site", **FEW),
    ):
        with pytest.raises(TypeError, match=re.escape("got str (give the column itself, such as table['site'])")):
            test()


# --- one column of several names ----------------------------------------------------------------------------


def test_one_column_with_several_names():
    for test in (two_sample_test, compare):
        with pytest.raises(ValueError, match=r"as Series|no column in common"):
            test(TABLE[["a"]], TABLE[["b"]], **FEW)
        test(TABLE["a"], TABLE["b"], **FEW)
    with pytest.raises(ValueError, match="leave some out"):
        two_sample_test(TABLE[["a", "b"]], TABLE[["b", "age"]], **FEW)


# --- what is left out ---------------------------------------------------------------------------------------


def test_one_note_says_what_is_left_out_of_variables():
    holed = TABLE.copy()
    holed.loc[[1, 2], "a"] = np.nan
    holed.loc[[2, 5, 6], "b"] = np.nan
    omit = {"nan_policy": "omit", **FEW}

    def notes(result):
        return [note for note in result.notes if "Left out" in note]

    message = "Left out for missing values: 4 of 30 rows; missing in a (2) of X and b (3) of Y."
    assert notes(independence_test(holed["a"], holed["b"], **omit)) == [message]
    assert notes(independence_test(holed["a"], holed["b"], given=holed["site"], **omit)) == [message]
    message = "Left out for missing values: 4 of 30 rows; missing in a (2), b (3) of X."
    assert notes(independence_matrix(holed, **omit)) == [message]
    assert notes(independence_matrix(holed, given="others", **omit)) == [message]
    message = "Left out for missing values: 3 of 30 rows; missing in column 0 (3) of Y."
    assert notes(independence_test(holed["age"], holed["b"].to_numpy(), **omit)) == [message]
    (message,) = notes(joint_independence_test(holed, **omit))
    assert message.endswith("4 of 30 rows; missing in a (2) of variables[0] and b (3) of variables[1].")


def test_notes_name_files_that_are_read_whole(tmp_path):
    holed = TABLE.mask(TABLE["a"] > 1.0)
    paths = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    for path, table in zip(paths, (TABLE, holed), strict=True):
        table.to_parquet(path)
    lost = int((TABLE["a"] > 1.0).sum())
    result = two_sample_test(*paths, nan_policy="omit", **FEW)
    assert f"{lost} of 30 rows of {paths[1]}; missing in" in result.notes[0]
    assert result.pvalue == two_sample_test(TABLE, holed, nan_policy="omit", **FEW).pvalue
    with pytest.raises(ValueError, match=re.escape(f"{paths[1]} has {4 * lost} missing values (NaN)")):
        two_sample_test(*paths, **FEW)
