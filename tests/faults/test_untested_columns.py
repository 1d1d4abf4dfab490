"""A column that cannot be tested is a row that says why, and never the end of a report."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Batches,
    change_point_test,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.cli import main

HOW = {"n_resamples": 19, "alpha": 0.1, "rng": 0, "workers": 1}
N = 30
X, Y, Z = np.random.default_rng(0).normal(size=(3, N))
GAP = np.full(N, np.nan)
ONE = np.r_[1.0, GAP[1:]]
WILD = np.r_[1e308, -1e308, X[2:]]

#: A bad column in two tables, the arguments under which it is bad, and the reason.
BAD = {
    "constant": (np.ones(N), np.ones(N), {}, "it has the same value in every row"),
    "constant text": (["a"] * N, ["a"] * N, {}, "it has the same value in every row"),
    "never known": (GAP, GAP, {"nan_policy": "omit"}, "all values are missing"),
    "not known in one": (GAP, Y, {"nan_policy": "omit"}, "all values are missing in"),
    "no text in one": ([None] * N, ["a", "b"] * (N // 2), {"nan_policy": "omit"}, "all values are missing in"),
    "known once": (ONE, Y, {"nan_policy": "omit"}, "all values but one are missing in"),
    "wild": (WILD, Y, {}, "values as large as 1e+308"),
    "tiny": (1e-310 * X, 1e-310 * Y, {}, "hardly differ: its unit is 0"),
    "rare": (np.r_[1.0, np.zeros(N - 1)], np.zeros(N), {"scale": "mad"}, "more than half of its values are equal"),
    "numbers of rows": (np.arange(N), np.arange(N), {}, "it counts the rows"),
    "names of rows": ([f"u{i}" for i in range(N)], [f"v{i}" for i in range(N)], {}, "another text in every row"),
}


def tables(bad):
    first, second, options, reason = BAD[bad]
    return (
        pd.DataFrame({"a": X, "bad": first, "z": Z}),
        pd.DataFrame({"a": Y, "bad": second, "z": Z + 3.0}),
        options,
        reason,
    )


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_column_is_a_row_with_a_reason(bad):
    first, second, options, reason = tables(bad)
    report = compare(first, second, estimator="kme", **options, **HOW)
    columns = two_sample_test_columns(first, second, **options, **HOW)
    for result, tested in ((report, report.columns), (columns, columns)):
        row = result.table.set_index("column").loc["bad"]
        assert np.isnan(row["pvalue"]) and np.isnan(row["adjusted"]) and not row["reject"]
        assert reason in row["reason"]
        assert f"not tested: {row['reason']}" in result.summary()
        others = result.table[result.table["column"] != "bad"]
        assert set(others["column"]) == {"a", "z"} and (others["reason"] == "").all()
        assert set(tested.labels) == {("a",), ("z",)} and len(tested) == 2
    alone = two_sample_test_columns(first[["a", "z"]], second[["a", "z"]], **options, **HOW)
    assert columns.pvalues.tolist() == alone.pvalues.tolist()
    assert report.overall.pvalue <= 0.1 and report.changed()[0] == "z"
    assert f"not tested: {columns.untested['bad',]}".split(" in ")[0] in report.to_html()
    assert json.loads(report.to_json())["columns"][-1]["reason"]


@pytest.mark.parametrize("bad", ["constant", "never known", "known once", "wild", "tiny", "numbers of rows"])
def test_a_bad_column_of_a_matrix_is_a_row_for_each_pair(bad):
    first, _, options, reason = tables(bad)
    found = independence_matrix(first, **options, **HOW)
    assert found.labels == (("a", "z"),)
    rows = found.table[found.table["reason"] != ""]
    assert rows[["x", "y"]].to_numpy().tolist() == [["a", "bad"], ["z", "bad"]] and rows["pvalue"].isna().all()
    assert (
        rows["reason"].str.startswith("column 'bad': ").all() and rows["reason"].str.contains(reason, regex=False).all()
    )
    assert f"not tested: {rows['reason'].iloc[0]}" in found.summary()
    against = independence_matrix(first[["bad", "a"]], first[["z"]], **options, **HOW)
    assert against.labels == (("a", "z"),) and list(against.untested) == [("bad", "z")]


def test_a_bad_column_of_one_table_leaves_that_of_the_other():
    table = pd.DataFrame({"bad": GAP, "a": X})
    found = independence_matrix(table, pd.DataFrame({"bad": Y, "z": Z}), nan_policy="omit", **HOW)
    assert found.labels == (("a", "bad"), ("a", "z")) and list(found.untested) == [("bad", "bad"), ("bad", "z")]
    found = independence_matrix(np.column_stack([GAP, X]), np.column_stack([Y, Z]), nan_policy="omit", **HOW)
    assert found.labels == (("x1", "y0"), ("x1", "y1")) and list(found.untested) == [("x0", "y0"), ("x0", "y1")]


def test_columns_of_arrays_keep_their_numbers():
    first, second = np.column_stack([X, GAP, Z]), np.column_stack([Y, Y, Z])
    for call in (two_sample_test_columns, lambda *data, **how: compare(*data, estimator="kme", **how)):
        found = call(first, second, nan_policy="omit", **HOW).table.set_index("column")
        assert set(found.index[found["reason"] == ""]) == {"x0", "x2"}
        assert "all values are missing" in found.loc["x1", "reason"]


def test_a_kernel_that_fails_on_one_column():
    def kernel(x, y):
        if np.abs(x).max() > 100.0:
            raise ValueError("beyond what the kernel takes")
        return np.exp(-np.square(x - y.T))

    first, second = (pd.DataFrame({"a": a, "bad": 1000.0 + a, "z": Z}) for a in (X, Y))
    found = two_sample_test_columns(first, second, kernel=kernel, scale=None, **HOW)
    assert found.labels == (("a",), ("z",)) and "beyond what the kernel takes" in found.untested["bad",]
    assert any("'bad' is not tested" in note for note in found.notes)
    matrix = independence_matrix(first, kernel_x=kernel, scale=None, **HOW)
    assert matrix.labels == (("a", "z"),) and len(matrix.untested) == 2
    with pytest.raises(ValueError, match="beyond what the kernel takes"):
        two_sample_test_columns(first[["bad"]], second[["bad"]], kernel=kernel, scale=None, **HOW)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_bandwidth_that_fails_on_one_column():
    first, second = pd.DataFrame({"a": X, "bad": np.sign(X) * 1e308}), pd.DataFrame({"a": Y, "bad": np.sign(Y) * 1e308})
    report = compare(first, second, estimator="kme", scale=None, **HOW)
    row = report.table.set_index("column").loc["bad"]
    assert "beyond the range of numbers" in row["reason"] and np.isnan(row["pvalue"])
    assert report.overall.pvalue == two_sample_test(first[["a"]], second[["a"]], **HOW).pvalue
    found = two_sample_test_columns(first, second, scale=None, **HOW)
    assert found.labels == (("a",),) and found.untested["bad",] == row["reason"]


def test_nothing_that_can_be_tested_is_an_error():
    table = pd.DataFrame({"a": GAP, "b": np.ones(N), "c": ONE})
    for call in (
        lambda: compare(table, table, nan_policy="omit", **HOW),
        lambda: two_sample_test_columns(table[["a", "c"]], table[["a", "c"]], nan_policy="omit", **HOW),
        lambda: independence_matrix(table, nan_policy="omit", **HOW),
    ):
        with pytest.raises(ValueError, match=r"'a'|\ba\b|'b'"):
            call()


@pytest.mark.parametrize("name", ["e", "an empty one"])
def test_an_error_about_missing_values_names_the_column(name):
    first, second = pd.DataFrame({"a": X, name: GAP}), pd.DataFrame({"a": Y, name: Z})
    how = {"nan_policy": "omit", **HOW}
    for call in (
        lambda: two_sample_test(first, second, **how),
        lambda: two_sample_test(second, first, paired=True, **how),
        lambda: k_sample_test(second, first, second, **how),
        lambda: independence_test(first, Y, **how),
        lambda: independence_test(X, Y, given=first, **how),
        lambda: joint_independence_test(X, Y, first, **how),
        lambda: change_point_test(first, **how),
    ):
        with pytest.raises(ValueError, match=rf"column '{name}' of .*: all values are missing"):
            call()
    with pytest.raises(ValueError, match="column 1 of X: all values but one are missing"):
        two_sample_test(np.column_stack([X, ONE]), np.column_stack([Y, Z]), **how)
    with pytest.raises(ValueError, match="Y: all values are missing"):
        independence_test(X, GAP, **how)
    gaps = pd.DataFrame({"a": [np.nan, np.nan, 1.0, 2.0], "b": [1.0, 2.0, np.nan, np.nan]})
    with pytest.raises(ValueError, match=r"missing in a \(2\), b \(2\)"):
        two_sample_test(gaps, gaps, **how)


def test_files_in_batches(tmp_path):
    paths = [str(tmp_path / f"{name}.csv") for name in "AB"]
    for path, column, gap in zip(paths, (X, Y), (GAP, Z), strict=True):
        pd.DataFrame({"a": column, "bad": gap, "same": 1.0, "i": np.arange(N)}).to_csv(path, index=False)
    how = {"nan_policy": "omit", "gram": "rff", "rank": 5, **HOW}
    first, second = map(Batches, paths)
    found = two_sample_test_columns(first, second, **how)
    assert found.labels == (("a",),) and set(found.untested) == {("bad",), ("same",), ("i",)}
    assert found.untested["bad",] == "all values are missing in X"
    for call in (two_sample_test, independence_test):
        with pytest.raises(ValueError, match=r"column 'bad' of X.*: all values are missing"):
            call(first, second, **how)


def test_arrays_in_batches_with_a_column_without_a_unit():
    first, second = (Batches([np.column_stack([a, a > 1.5])]) for a in (X, Y))
    found = two_sample_test_columns(first, second, scale="mad", gram="rff", rank=5, **HOW)
    assert found.labels == (("x0",),) and list(found.untested) == [("x1",)]


@pytest.mark.parametrize("command", ["compare", "columns"])
def test_the_command_line_goes_on(tmp_path, capsys, command):
    paths = [str(tmp_path / f"{name}.csv") for name in "AB"]
    for path, column, gap in zip(paths, (X, Y), (GAP, Z), strict=True):
        pd.DataFrame({"a": column, "bad": gap}).to_csv(path, index=False)
    options = ["--nan-policy", "omit", "--resamples", "19", "--alpha", "0.1", "--seed", "0"]
    assert main([command, *paths, *options]) == 0
    assert "not tested: all values are missing in" in capsys.readouterr().out
    assert main(["two-sample", *paths, *options]) == 2
    assert "column 'bad'" in capsys.readouterr().err
