"""Labels of rows: columns of tables given as blocks= or groups=, and rows that are matched by their index."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, independence_test, k_sample_test, two_sample_test, two_sample_test_columns

RNG = np.random.default_rng(0)
FEW = {"n_resamples": 99, "rng": 0}
N = 40
K = np.random.default_rng(0).integers(1, 4, size=N)
NOISE = np.random.default_rng(1).normal(size=N)


def classes(first):
    """Twenty classes of five, whose numbers go on from one sample to the next."""
    of_class = np.repeat(np.arange(20), 5)
    return pd.DataFrame({"score": RNG.normal(size=100), "age": RNG.normal(size=100), "class_id": first + of_class})


A, B = classes(0), classes(20)
LABELS = A["class_id"], B["class_id"]


@pytest.mark.parametrize("test", [two_sample_test, k_sample_test])
def test_samples(test):
    result = test(A, B, groups=LABELS, **FEW)
    without = test(A[["score", "age"]], B[["score", "age"]], groups=LABELS, **FEW)
    assert result.pvalue == without.pvalue and result.statistic == without.statistic
    remedy = "column_types={'class_id': 'category'}"
    assert result.notes[0] == f"Column 'class_id' is not tested: it holds the labels of groups= ({remedy} tests it)."
    assert result.columns == without.columns and not any("class_id" in note for note in result.notes[1:])


def test_what_is_asked_for_is_tested():
    result = two_sample_test(A, B, groups=LABELS, column_types={"class_id": "number"}, **FEW)
    assert result.columns == (("score", "age", "class_id"),) and not any("labels of groups=" in n for n in result.notes)
    other = (LABELS[0] + 100, LABELS[1])  # no column
    assert two_sample_test(A, B, groups=other, **FEW).columns == (("score", "age", "class_id"),)
    alone = two_sample_test(A[["class_id"]], B[["class_id"]], groups=LABELS, **FEW)
    assert alone.columns == (("class_id",),)


def test_columns_and_comparisons():
    result = two_sample_test_columns(A, B, groups=LABELS, **FEW)
    assert [label for (label,) in result.labels] == ["score", "age"]
    both = compare(A, B, groups=LABELS, estimator="kme", **FEW)
    assert both.changed() == () and set(both.table["column"]) == {"score", "age"}
    assert any("it holds the labels of groups=" in note for note in both.notes)


def test_variables():
    site = pd.Series(np.tile([0, 1], 50), name="site")
    x, y = A[["score"]].assign(site=site), B[["age"]]
    result, without = (independence_test(variable, y, blocks=site, **FEW) for variable in (x, x[["score"]]))
    assert result.pvalue == without.pvalue
    assert any(note.startswith("Column 'site' is not tested: it holds the labels of blocks=") for note in result.notes)


def test_only_the_variable_that_holds_the_labels_loses_a_column():
    """Another variable may have other numbers under the same name."""
    y = pd.DataFrame({"class_id": RNG.normal(size=100), "age": RNG.normal(size=100)})
    x, site = A[["score"]].assign(class_id=np.tile([0, 1], 50)), pd.Series(np.tile([0, 1], 50), name="class_id")
    result = independence_test(x, y, blocks=site, **FEW)
    assert result.columns == (("score",), ("class_id", "age"))
    assert result.pvalue == independence_test(x[["score"]], y, blocks=site, **FEW).pvalue
    given = independence_test(x, y[["age"]], given=site.to_frame(), given_method="local", blocks=site, **FEW)
    assert 0 < given.pvalue <= 1 and any("it holds the labels of blocks=" in note for note in given.notes)


def test_units_for_all_columns_leave_none_out():
    for scale in ([1.0, 2.0, 3.0], {"score": 1.0, "age": 2.0, "class_id": 3.0}):
        assert two_sample_test(A, B, groups=LABELS, scale=scale, **FEW).columns == (("score", "age", "class_id"),)
    named = [table.set_axis([0, 1, 2], axis=1) for table in (A, B)]
    result = two_sample_test(*named, groups=(named[0][2], named[1][2]), column_types={2: "category"}, **FEW)
    assert result.columns == (("0", "1", "2"),)
    with pytest.raises(TypeError, match="column_types must be a dict"):
        two_sample_test(A, B, groups=LABELS, column_types=["class_id"], **FEW)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries_are_those_of_pandas(library):
    module = pytest.importorskip(library)
    made = module.from_pandas if library == "polars" else module.Table.from_pandas
    tables = a, b = [made(table) for table in (A, B)]
    expected = two_sample_test(A, B, groups=LABELS, **FEW)
    converted = two_sample_test(*tables, groups=(a["class_id"], b["class_id"]), **FEW)
    assert (converted.pvalue, converted.notes, converted.columns) == (expected.pvalue, expected.notes, expected.columns)
    site = pd.Series(np.tile([0, 1], 50), name="site")
    x = made(A[["score"]].assign(site=site))
    from_library, from_pandas = (
        independence_test(x, y, blocks=labels, **FEW)
        for x, y, labels in ((x, b, x["site"]), (A[["score"]].assign(site=site), B, site))
    )
    assert (from_library.pvalue, from_library.columns) == (from_pandas.pvalue, from_pandas.columns)
    assert two_sample_test(a, b, groups=LABELS, **FEW).columns == (("score", "age", "class_id"),)  # of another library


def test_rows_are_not_matched_by_position_against_their_labels():
    names = [f"p{i}" for i in range(N)]
    X = pd.DataFrame({"x": NOISE}, index=names)
    shuffled = X.sample(frac=1.0, random_state=1)
    with pytest.raises(ValueError, match=r"different row labels.*reorder: B.loc\[A.index\]"):
        compare(X, shuffled, paired=True)
    with pytest.raises(ValueError, match=r"to match them by position: \w+\.set_axis\("):
        compare(X, X.set_axis(range(N)), paired=True)
    assert compare(X, shuffled.loc[X.index], paired=True, estimator="kme", **FEW).pvalue == 1.0
    Y = X.set_axis([f"q{i}" for i in range(N)])
    block = pd.Series(K, index=X.index), pd.Series(K, index=Y.index)
    together = pd.concat(block)
    pooled = two_sample_test(X, Y, blocks=together, **FEW)
    assert pooled.pvalue == two_sample_test(X, Y, blocks=block, **FEW).pvalue
    with pytest.raises(ValueError, match="blocks has the row labels of X and Y in another order"):
        two_sample_test(X, Y, blocks=together.sample(frac=1.0, random_state=2), **FEW)
    for options in ({}, {"propensity": None}):
        with pytest.raises(ValueError, match=r"Y and covariates\[1\] have different row labels"):
            two_sample_test(X, Y, covariates=(block[0], block[1][::-1]), **options)
    chances = pd.Series(0.5, index=X.index), pd.Series(0.5, index=Y.index[::-1])
    with pytest.raises(ValueError, match=r"Y and propensity\[1\] have different row labels"):
        two_sample_test(X, Y, covariates=(NOISE, NOISE), propensity=chances)


def test_labels_are_compared_by_what_they_mean():
    days = np.datetime64("2020-01-01") + K
    both = two_sample_test(NOISE, NOISE[::-1], blocks=(days, days.astype("datetime64[ns]")), **FEW)
    assert both.pvalue == two_sample_test(NOISE, NOISE[::-1], blocks=(K, K), **FEW).pvalue
    dates, plain = [day.item() for day in days], {"blocks": (K, K)}
    mixed = two_sample_test(NOISE, NOISE[::-1], blocks=(days, dates), **FEW)
    assert mixed.pvalue == two_sample_test(NOISE, NOISE[::-1], **plain, **FEW).pvalue
    with pytest.raises(ValueError, match="two samples have the name '1' as text"):
        k_sample_test({1: NOISE, "1": NOISE})


def test_a_transform_keeps_the_order_of_rows():
    X = pd.DataFrame({"x": NOISE})
    with pytest.raises(ValueError, match=r"in their order.*reset_index"):
        two_sample_test(X, X, transform=lambda rows: rows.sort_values("x"), **FEW)
    same = two_sample_test(X, X, transform=lambda rows: rows.set_axis([f"r{i}" for i in range(2 * N)]), **FEW)
    assert same.pvalue == 1.0
    shuffled = X.sample(frac=1.0, random_state=0)  # of which a table that is made anew has no index
    made = independence_test(shuffled, NOISE, transform=[lambda rows: pd.DataFrame(rows.to_numpy()), None], **FEW)
    assert made.statistic == pytest.approx(independence_test(shuffled, NOISE, **FEW).statistic)
