"""Names of series: in messages, notes and tables of results, without the units that columns of tables have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    change_point_test,
    compare,
    independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

FEW = {"n_resamples": 19, "rng": 0}
RNG = np.random.default_rng(0)
X, Y = (pd.Series(3.0 * RNG.normal(size=30), name="income") for _ in range(2))
HOLED = X.where(X.index != 3)
CODES = pd.Series([f"{i}" for i in range(20)], name="code")


def test_missing_values_are_in_a_column_with_a_name():
    for test in (
        lambda: two_sample_test(HOLED, Y, **FEW),
        lambda: change_point_test(HOLED, **FEW),
        lambda: independence_test(Y, RNG.normal(size=30), given=HOLED, **FEW),
    ):
        with pytest.raises(ValueError, match="row 3, column 'income'"):
            test()
    found = two_sample_test(HOLED, Y, nan_policy="omit", **FEW)
    assert found.notes[0] == "Left out for missing values: 1 of 30 rows of X; missing in income (1)."


def test_series_with_several_names_have_each_their_own():
    other = Y.rename("other")
    for test in (two_sample_test, two_sample_test_columns):
        with pytest.raises(ValueError, match=r"^X has 1 missing value \(NaN\), in row 3, column 'income'"):
            test(HOLED, other, nan_policy="raise", **FEW)
        with pytest.raises(ValueError, match=r"^Y has 1 missing value.*row 3, column 'income'"):
            test(other, HOLED, nan_policy="raise", **FEW)
    with pytest.raises(ValueError, match=r"^samples\[1\] has 1 missing value.*row 3, column 'income'"):
        k_sample_test(other, HOLED, Y.rename("third"), **FEW)
    found = two_sample_test(HOLED, other.where(other.index > 4), nan_policy="omit", **FEW)
    assert found.notes[0].endswith("1 of 30 rows of X and 5 of 30 rows of Y; missing in income and other (6).")
    found = two_sample_test(HOLED, Y.to_numpy(), nan_policy="omit", **FEW)
    assert found.notes[0].endswith("missing in income (1).")
    with pytest.raises(ValueError, match="row 3, column 'other'"):  # the name of the variable, which has one
        two_sample_test(HOLED.to_numpy(), other, **FEW)
    with pytest.raises(ValueError, match="row 3, column 0"):
        two_sample_test(HOLED.rename("2020"), Y.rename("2020"), **FEW)  # a number would be read as a place


@pytest.mark.parametrize("name", ["income", "other"])
def test_what_is_no_number_is_in_a_column_with_a_name(name):
    with pytest.raises(ValueError, match=r"^X has an infinite value in row 3, column 'income'"):
        two_sample_test(X.where(X.index != 3, np.inf), Y.rename(name), **FEW)
    with pytest.raises(ValueError, match=r"^column_types\['0'\]='date': X, column 'income', holds numbers"):
        two_sample_test(X, Y.rename(name), column_types={"0": "date"}, **FEW)


def test_types_are_called_as_they_were_given():
    with pytest.raises(ValueError, match=r"^column_types\['income'\]='date': X, column 'income', holds numbers"):
        two_sample_test(X, Y, column_types={"income": "date"}, **FEW)
    with pytest.raises(ValueError, match="a column in column_types must be one of 'income', '0'; got"):
        two_sample_test(X, Y, column_types={"zzz": "date"}, **FEW)


def test_results_have_the_name():
    assert list(compare(X, Y, **FEW).table["column"]) == ["income"]
    assert list(compare(X, Y.to_numpy(), **FEW).table["column"]) == ["income"]
    assert two_sample_test_columns(X, Y, **FEW).labels == (("income",),)
    assert two_sample_test(X, Y, scale={"income": "rank"}, **FEW).pvalue == two_sample_test(
        X, Y, scale="rank", **FEW
    ).pvalue  # fmt: skip
    assert two_sample_test(X, Y, **FEW).plot_witness().get_xlabel() != "column 0"


def test_units_are_those_of_arrays():
    plain = two_sample_test(X.to_numpy(), Y.to_numpy(), bandwidth=1.0, **FEW)
    named = two_sample_test(X, Y, bandwidth=1.0, **FEW)
    assert (named.statistic, named.pvalue) == (plain.statistic, plain.pvalue)
    assert named.statistic != two_sample_test(X.to_frame(), Y.to_frame(), bandwidth=1.0, **FEW).statistic


@pytest.mark.parametrize("name", ["code", "0"])
def test_kinds_of_columns_go_by_the_name_and_by_the_place(name):
    with pytest.raises(ValueError, match=r"column_types=\{'code': 'number'\}"):
        two_sample_test(CODES, CODES, **FEW)
    types = {name: "number"}
    assert two_sample_test(CODES, CODES, column_types=types, **FEW).encodings[0].codes[0].kind == "number"
    assert compare(CODES, CODES + "1", column_types=types, **FEW).effects[0].kind == "number"
    with pytest.raises(ValueError, match="leave one to test"):
        two_sample_test(X.rename("code"), Y.rename("code"), column_types={name: "drop"}, **FEW)


def test_what_was_tested_is_evaluated_on_other_series():
    sizes = pd.Series([1, 2, 3] * 5, name="size")
    found = two_sample_test(sizes, sizes[::-1], column_types={"size": "category"}, **FEW)
    assert found.witness(pd.Series([1, 2, 3])).shape == (3,)
