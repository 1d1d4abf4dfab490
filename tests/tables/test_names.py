"""Columns that stand for variables, given by name; columns that label rows; and rows matched by their index."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.dataset import dataset

from shrinktest import (
    change_point_test,
    compare,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

FEW = {"n_resamples": 39, "rng": 0}
RNG = np.random.default_rng(3)
TABLE = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["a", "b", "age"]).assign(
    site=["north", "south", "west"] * 10
)
FRAMES = [lambda table: table, pl.from_pandas, pa.Table.from_pandas]


# --- every column a variable --------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", FRAMES)
def test_the_columns_of_one_table_are_variables(frame):
    apart = joint_independence_test(*(TABLE[[name]] for name in TABLE), **FEW)
    result = joint_independence_test(frame(TABLE), **FEW)
    assert (result.statistic, result.pvalue) == (apart.statistic, apart.pvalue)
    assert "Kernel age:" in str(result.summary())
    fewer = joint_independence_test(
        frame(TABLE), column_types={"site": "drop", "age": "number"}, **FEW
    )
    assert (
        fewer.pvalue
        == joint_independence_test(*(TABLE[[name]] for name in ("a", "b", "age")), **FEW).pvalue
    )


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
    two_tables = independence_matrix(
        frame(TABLE[["a", *names]]), frame(TABLE[["b"]]), given=names, **FEW
    )
    assert two_tables.labels == (("a", "b"),)


def test_texts_for_every_row_are_labels_and_no_names():
    labels = independence_matrix(TABLE[["a", "b"]], given=TABLE["site"].tolist(), **FEW)
    np.testing.assert_array_equal(
        labels.pvalues, independence_matrix(TABLE[["a", "b"]], given=TABLE["site"], **FEW).pvalues
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "ages",
            "given must be one of 'others', 'a', 'b', 'age', 'site'; got 'ages'. Did you mean 'age'?",
        ),
        (
            ["age", "sites"],
            "given must be one of 'a', 'b', 'age', 'site'; got 'sites'. Did you mean 'site'?",
        ),
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
        with pytest.raises(
            TypeError, match=re.escape("got str (pass the column itself, such as table['site'])")
        ):
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

    message = (
        "Left out because of missing values: 4 of 30 rows; missing in a (2) of X and b (3) of Y."
    )
    assert notes(independence_test(holed["a"], holed["b"], **omit)) == [message]
    assert notes(independence_test(holed["a"], holed["b"], given=holed["site"], **omit)) == [
        message
    ]
    message = "Left out because of missing values: 4 of 30 rows; missing in a (2), b (3) of X."
    assert notes(independence_matrix(holed, **omit)) == [message]
    assert notes(independence_matrix(holed, given="others", **omit)) == [message]
    message = "Left out because of missing values: 3 of 30 rows; missing in column 0 (3) of Y."
    assert notes(independence_test(holed["age"], holed["b"].to_numpy(), **omit)) == [message]
    (message,) = notes(joint_independence_test(holed, **omit))
    assert message.endswith(
        "4 of 30 rows; missing in a (2) of variables[0] and b (3) of variables[1]."
    )


def test_notes_name_files_that_are_read_whole(tmp_path):
    holed = TABLE.mask(TABLE["a"] > 1.0)
    paths = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    for path, table in zip(paths, (TABLE, holed), strict=True):
        table.to_parquet(path)
    lost = int((TABLE["a"] > 1.0).sum())
    result = two_sample_test(*paths, nan_policy="omit", **FEW)
    assert f"{lost} of 30 rows of {paths[1]}; missing in" in result.notes[0]
    assert result.pvalue == two_sample_test(TABLE, holed, nan_policy="omit", **FEW).pvalue
    with pytest.raises(
        ValueError, match=re.escape(f"{paths[1]} has {4 * lost} missing values (NaN)")
    ):
        two_sample_test(*paths, **FEW)


# --- labels of rows: columns of tables given as blocks= or groups=, and rows that are matched by their index ---

DRAWS = np.random.default_rng(0)
QUICK = {"n_resamples": 99, "rng": 0}
N = 40
K = np.random.default_rng(0).integers(1, 4, size=N)
NOISE = np.random.default_rng(1).normal(size=N)


def classes(first):
    """Twenty classes of five, whose numbers go on from one sample to the next."""
    of_class = np.repeat(np.arange(20), 5)
    return pd.DataFrame(
        {
            "score": DRAWS.normal(size=100),
            "age": DRAWS.normal(size=100),
            "class_id": first + of_class,
        }
    )


A, B = classes(0), classes(20)
LABELS = A["class_id"], B["class_id"]


@pytest.mark.parametrize("test", [two_sample_test, k_sample_test])
def test_samples(test):
    result = test(A, B, groups=LABELS, **QUICK)
    without = test(A[["score", "age"]], B[["score", "age"]], groups=LABELS, **QUICK)
    assert result.pvalue == without.pvalue and result.statistic == without.statistic
    remedy = "column_types={'class_id': 'category'}"
    assert (
        result.notes[0]
        == f"Column 'class_id' is not tested: it holds the labels of groups= ({remedy} tests it)."
    )
    assert result.columns == without.columns and not any(
        "class_id" in note for note in result.notes[1:]
    )


def test_what_is_asked_for_is_tested():
    result = two_sample_test(A, B, groups=LABELS, column_types={"class_id": "number"}, **QUICK)
    assert result.columns == (("score", "age", "class_id"),) and not any(
        "labels of groups=" in n for n in result.notes
    )
    other = (LABELS[0] + 100, LABELS[1])  # no column
    assert two_sample_test(A, B, groups=other, **QUICK).columns == (("score", "age", "class_id"),)
    alone = two_sample_test(A[["class_id"]], B[["class_id"]], groups=LABELS, **QUICK)
    assert alone.columns == (("class_id",),)


def test_columns_and_comparisons():
    result = two_sample_test_columns(A, B, groups=LABELS, **QUICK)
    assert [label for (label,) in result.labels] == ["score", "age"]
    both = compare(A, B, groups=LABELS, estimator="kme", **QUICK)
    assert both.changed() == () and set(both.table["column"]) == {"score", "age"}
    assert any("it holds the labels of groups=" in note for note in both.notes)


def test_variables():
    site = pd.Series(np.tile([0, 1], 50), name="site")
    x, y = A[["score"]].assign(site=site), B[["age"]]
    result, without = (
        independence_test(variable, y, blocks=site, **QUICK) for variable in (x, x[["score"]])
    )
    assert result.pvalue == without.pvalue
    assert any(
        note.startswith("Column 'site' is not tested: it holds the labels of blocks=")
        for note in result.notes
    )


def test_only_the_variable_that_holds_the_labels_loses_a_column():
    """Another variable may have other numbers under the same name."""
    y = pd.DataFrame({"class_id": DRAWS.normal(size=100), "age": DRAWS.normal(size=100)})
    x, site = (
        A[["score"]].assign(class_id=np.tile([0, 1], 50)),
        pd.Series(np.tile([0, 1], 50), name="class_id"),
    )
    result = independence_test(x, y, blocks=site, **QUICK)
    assert result.columns == (("score",), ("class_id", "age"))
    assert result.pvalue == independence_test(x[["score"]], y, blocks=site, **QUICK).pvalue
    given = independence_test(
        x, y[["age"]], given=site.to_frame(), given_method="local", blocks=site, **QUICK
    )
    assert 0 < given.pvalue <= 1 and any(
        "it holds the labels of blocks=" in note for note in given.notes
    )


def test_units_for_all_columns_leave_none_out():
    for scale in ([1.0, 2.0, 3.0], {"score": 1.0, "age": 2.0, "class_id": 3.0}):
        assert two_sample_test(A, B, groups=LABELS, scale=scale, **QUICK).columns == (
            ("score", "age", "class_id"),
        )
    named = [table.set_axis([0, 1, 2], axis=1) for table in (A, B)]
    result = two_sample_test(
        *named, groups=(named[0][2], named[1][2]), column_types={2: "category"}, **QUICK
    )
    assert result.columns == (("0", "1", "2"),)
    with pytest.raises(TypeError, match="column_types must be a dict"):
        two_sample_test(A, B, groups=LABELS, column_types=["class_id"], **QUICK)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries_are_those_of_pandas(library):
    module = pytest.importorskip(library)
    made = module.from_pandas if library == "polars" else module.Table.from_pandas
    tables = a, b = [made(table) for table in (A, B)]
    expected = two_sample_test(A, B, groups=LABELS, **QUICK)
    converted = two_sample_test(*tables, groups=(a["class_id"], b["class_id"]), **QUICK)
    assert (converted.pvalue, converted.notes, converted.columns) == (
        expected.pvalue,
        expected.notes,
        expected.columns,
    )
    site = pd.Series(np.tile([0, 1], 50), name="site")
    x = made(A[["score"]].assign(site=site))
    from_library, from_pandas = (
        independence_test(x, y, blocks=labels, **QUICK)
        for x, y, labels in ((x, b, x["site"]), (A[["score"]].assign(site=site), B, site))
    )
    assert (from_library.pvalue, from_library.columns) == (from_pandas.pvalue, from_pandas.columns)
    assert two_sample_test(a, b, groups=LABELS, **QUICK).columns == (
        ("score", "age", "class_id"),
    )  # of another library


def test_rows_are_not_matched_by_position_against_their_labels():
    names = [f"p{i}" for i in range(N)]
    X = pd.DataFrame({"x": NOISE}, index=names)
    shuffled = X.sample(frac=1.0, random_state=1)
    with pytest.raises(ValueError, match=r"different row labels.*reorder: B.loc\[A.index\]"):
        compare(X, shuffled, paired=True)
    with pytest.raises(ValueError, match=r"to match them by position: \w+\.set_axis\("):
        compare(X, X.set_axis(range(N)), paired=True)
    assert compare(X, shuffled.loc[X.index], paired=True, estimator="kme", **QUICK).pvalue == 1.0
    Y = X.set_axis([f"q{i}" for i in range(N)])
    block = pd.Series(K, index=X.index), pd.Series(K, index=Y.index)
    together = pd.concat(block)
    pooled = two_sample_test(X, Y, blocks=together, **QUICK)
    assert pooled.pvalue == two_sample_test(X, Y, blocks=block, **QUICK).pvalue
    with pytest.raises(ValueError, match="blocks has the row labels of X and Y in another order"):
        two_sample_test(X, Y, blocks=together.sample(frac=1.0, random_state=2), **QUICK)
    for options in ({}, {"propensity": None}):
        with pytest.raises(ValueError, match=r"Y and covariates\[1\] have different row labels"):
            two_sample_test(X, Y, covariates=(block[0], block[1][::-1]), **options)
    chances = pd.Series(0.5, index=X.index), pd.Series(0.5, index=Y.index[::-1])
    with pytest.raises(ValueError, match=r"Y and propensity\[1\] have different row labels"):
        two_sample_test(X, Y, covariates=(NOISE, NOISE), propensity=chances)


def test_labels_are_compared_by_what_they_mean():
    days = np.datetime64("2020-01-01") + K
    both = two_sample_test(
        NOISE, NOISE[::-1], blocks=(days, days.astype("datetime64[ns]")), **QUICK
    )
    assert both.pvalue == two_sample_test(NOISE, NOISE[::-1], blocks=(K, K), **QUICK).pvalue
    dates, plain = [day.item() for day in days], {"blocks": (K, K)}
    mixed = two_sample_test(NOISE, NOISE[::-1], blocks=(days, dates), **QUICK)
    assert mixed.pvalue == two_sample_test(NOISE, NOISE[::-1], **plain, **QUICK).pvalue
    with pytest.raises(ValueError, match="two samples have the name '1' as text"):
        k_sample_test({1: NOISE, "1": NOISE})


def test_a_transform_keeps_the_order_of_rows():
    X = pd.DataFrame({"x": NOISE})
    with pytest.raises(ValueError, match=r"in their order.*reset_index"):
        two_sample_test(X, X, transform=lambda rows: rows.sort_values("x"), **QUICK)
    same = two_sample_test(
        X, X, transform=lambda rows: rows.set_axis([f"r{i}" for i in range(2 * N)]), **QUICK
    )
    assert same.pvalue == 1.0
    shuffled = X.sample(frac=1.0, random_state=0)  # of which a table that is made anew has no index
    made = independence_test(
        shuffled, NOISE, transform=[lambda rows: pd.DataFrame(rows.to_numpy()), None], **QUICK
    )
    assert made.statistic == pytest.approx(independence_test(shuffled, NOISE, **QUICK).statistic)


# --- names and numbers of other libraries -------------------------------------------------------------------

TWICE = pa.table([pa.array([1.0, 2.0, 3.0, 4.0]), pa.array([3.0, 4.0, 1.0, 2.0])], names=["a", "a"])
ONCE = TWICE.rename_columns(["a", "b"])


@pytest.mark.parametrize(
    ("call", "whose"),
    [
        (lambda: two_sample_test(TWICE, TWICE), "X"),
        (lambda: two_sample_test(ONCE, TWICE), "Y"),
        (lambda: two_sample_test(ONCE, TWICE, transform=lambda rows: rows), "Y"),
        (lambda: two_sample_test(TWICE, TWICE, groups=(TWICE.column(0), TWICE.column(0))), "X"),
        (lambda: two_sample_test_columns(TWICE, TWICE), "X"),
        (lambda: k_sample_test({"u": ONCE, "v": TWICE, "w": ONCE}), "v"),
        (lambda: independence_test(ONCE, TWICE), "Y"),
        (
            lambda: independence_test([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0], given=TWICE),
            "given",
        ),
        (lambda: independence_matrix(TWICE), "X"),
        (lambda: change_point_test(TWICE), "X"),
        (lambda: compare(ONCE, TWICE), "B"),
    ],
    ids=[
        "two",
        "second",
        "transform",
        "groups",
        "columns",
        "k",
        "independence",
        "given",
        "matrix",
        "change",
        "compare",
    ],
)
def test_names_that_an_arrow_table_has_twice(call, whose):
    with pytest.raises(
        ValueError, match=f"^{whose} has more than one column named 'a'; rename or drop them"
    ):
        call()


def test_columns_of_arrow_with_one_name_are_variables():
    apart = joint_independence_test(*TWICE.columns, **FEW)
    assert joint_independence_test(TWICE, **FEW).pvalue == apart.pvalue


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128], ids=str)
@pytest.mark.parametrize("hole", [False, True], ids=["complete", "missing"])
def test_whole_numbers_of_128_bits_are_numbers(dtype, hole):
    values = np.random.default_rng(0).integers(0, 50, size=(2, 20)).tolist()
    if hole:
        values[0][3] = None
    tables = [
        pl.DataFrame({"n": pl.Series(own, dtype=dtype), "m": range(0, 40, 2)}) for own in values
    ]
    plain = [table.with_columns(pl.col("n").cast(pl.Int64)) for table in tables]
    options = {**FEW, "nan_policy": "omit"}
    for test in (two_sample_test, k_sample_test, compare):
        assert test(*tables, **options).pvalue == test(*plain, **options).pvalue
    both = [table["n"] for table in tables]
    cast = [series.cast(pl.Int64) for series in both]
    assert independence_test(*both, **options).pvalue == independence_test(*cast, **options).pvalue


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128], ids=str)
def test_whole_numbers_too_long_for_floats(dtype):
    table = pl.DataFrame({"n": pl.Series([2**80 + k for k in range(6)], dtype=dtype)})
    with pytest.raises(
        ValueError, match="X, column 'n', holds whole numbers with too many digits for floats"
    ):
        two_sample_test(table, table)


@pytest.mark.parametrize(
    "lazy", [pl.DataFrame.lazy, lambda frame: dataset(frame.to_arrow())], ids=["polars", "arrow"]
)
def test_lazy_tables_are_compared(lazy):
    first, second = (pl.from_pandas(TABLE.iloc[rows]) for rows in (slice(15), slice(15, None)))
    expected = compare(first, second, **FEW)
    for A, B in ((lazy(first), lazy(second)), (first, lazy(second))):
        result = compare(A, B, **FEW)
        assert (result.pvalue, str(result.summary())) == (expected.pvalue, str(expected.summary()))


BY_NAME = {"a": np.arange(10) % 5, "b": np.arange(10) // 2, "c": np.arange(10)[::-1] % 5}


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
def test_blocks_by_the_names_of_samples(order):
    samples = {name: RNG.normal(size=10) for name in "abc"}
    expected = k_sample_test(samples, blocks=list(BY_NAME.values()), **FEW)
    result = k_sample_test(samples, blocks={name: BY_NAME[name] for name in order}, **FEW)
    assert (result.pvalue, result.statistic) == (expected.pvalue, expected.statistic)


def test_labels_by_name_in_other_tests():
    blocks = [TABLE["site"][:15], TABLE["site"][15:]]
    both = TABLE[["a", "b", "site"]].iloc[:15], TABLE[["a", "b", "site"]].iloc[15:]
    for test, names in ((compare, "AB"), (two_sample_test, "XY"), (two_sample_test_columns, "XY")):
        result = test(*both, blocks=dict(zip(names, blocks, strict=True)), **FEW)
        expected = test(*both, blocks=blocks, **FEW)
        assert (result.pvalue, result.notes) == (expected.pvalue, expected.notes)
    groups = [np.arange(10), 10 + np.arange(10), 20 + np.arange(10)]
    samples = {name: RNG.normal(size=10) for name in "abc"}
    named = k_sample_test(samples, groups=dict(zip("abc", groups, strict=True)), **FEW)
    assert named.pvalue == k_sample_test(samples, groups=groups, **FEW).pvalue


@pytest.mark.parametrize("names", ["ab", "abd", "abcd"])
def test_labels_by_other_names(names):
    samples = {name: RNG.normal(size=10) for name in "abc"}
    with pytest.raises(
        ValueError, match=r"^blocks has labels for 'a', 'b'.*; the samples are 'a', 'b', 'c'$"
    ):
        k_sample_test(samples, blocks=dict.fromkeys(names, np.arange(10) % 5))
