"""A column is tested or given, and never both."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shrinktest import calibrate, independence_matrix, independence_test, two_sample_test
from shrinktest.cli.entry import main

N = 40
RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, N))
TABLE = pd.DataFrame({"a": A, "b": B, "c": C, "site": list("xyzy" * (N // 4)), "old": A > 0})
OTHER = TABLE.assign(a=B, b=C, c=A)
HOLED = TABLE.assign(a=np.where(np.arange(N) % 9 == 4, np.nan, A))
FEW = {"n_resamples": 19, "rng": 0}
STUDY = partial(calibrate, "pearsonr", kind="independence", n_trials=2, workers=1)

CALLS = {
    "tables": lambda: independence_test(TABLE[["a"]], TABLE[["b", "c"]], given=TABLE[["c"]], **FEW),
    "categories": lambda: independence_test(TABLE[["a", "site"]], TABLE["b"], given=TABLE["site"], **FEW),
    "categories in a list": lambda: independence_test(TABLE["site"], TABLE["b"], given=TABLE["site"].tolist(), **FEW),
    "True and False": lambda: independence_test(TABLE["old"], TABLE["b"], given=TABLE[["old"]], **FEW),
    "libraries": lambda: independence_test(TABLE["a"], B, given=pl.DataFrame({"z": A, "c": C}), **FEW),
    "gaps": lambda: independence_test(HOLED[["a"]], B, given=HOLED["a"].to_numpy(), nan_policy="omit", **FEW),
    "one array": lambda: independence_test(A, B, given=A, **FEW),
    "part of an array": lambda: independence_test(A, np.c_[B, C], given=np.c_[A + B, C], **FEW),
    "a model": lambda: independence_test(A, B, given=A, x_given_z=lambda z, rng: rng.normal(size=z.shape), **FEW),
    "matrix": lambda: independence_matrix(TABLE[["a", "b"]], given=TABLE[["b", "c"]], **FEW),
    "matrix of arrays": lambda: independence_matrix(np.c_[A, B], np.c_[C, A + B], given=C, **FEW),
    "matrix by name": lambda: independence_matrix(TABLE, TABLE[["b", "c"]], given="c", **FEW),
    "calibrate": lambda: STUDY(A, B, given=A),
    "calibrate given labels": lambda: STUDY(A, B, given=pd.DataFrame({"z": B})),
    "samples": lambda: two_sample_test(TABLE, OTHER, covariates=(TABLE[["b"]], OTHER[["b"]]), **FEW),
    "strata": lambda: two_sample_test(TABLE, OTHER, covariates=(TABLE["site"], OTHER["site"]), **FEW),
    "arrays": lambda: two_sample_test(np.c_[A, B], np.c_[B, C], covariates=(B, C), **FEW),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_it_is_one_error(call):
    with pytest.raises(ValueError, match=r"column .* of (given|covariates)= is also tested; leave it out of one"):
        call()


def test_what_is_not_the_same_is_taken():
    pvalues = [
        independence_test(TABLE["a"], TABLE["b"], given=TABLE["a"].shift(1).fillna(0.0), **FEW).pvalue,
        independence_test(TABLE[["a"]], TABLE[["b"]], given=pd.DataFrame({"one": np.ones(N), "c": C}), **FEW).pvalue,
        independence_test(np.c_[A, np.ones(N)], B, given=np.ones(N), **FEW).pvalue,
        two_sample_test(TABLE, OTHER, covariates=(TABLE["c"], OTHER["c"]), column_types={"c": "drop"}, **FEW).pvalue,
        *independence_matrix(TABLE[["a", "b", "c"]], given="others", **FEW).pvalues,
        *independence_matrix(TABLE[["a", "b", "c"]], given="c", **FEW).pvalues,
    ]
    assert all(0.0 < pvalue <= 1.0 for pvalue in pvalues)


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ("two-sample a.csv b.csv --columns a,b --covariates b", "'b' of covariates="),
        ("two-sample a.csv b.csv --columns 1:3 --covariates 2,site", "'b' of covariates="),
        ("independence a.csv --x a --y b --given b,c", "'b' of given="),
        ("matrix a.csv --x a,b --y c --given c", "'c' of given="),
        ("matrix a.csv --x a,b --given b", "'b' of given="),
        ("calibrate a.csv --x a --y b --given a --trials 2", "'a' of given="),
    ],
)
def test_the_command_says_the_same(tmp_path, monkeypatch, capsys, words, column):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("a.csv", index=False)
    OTHER.to_csv("b.csv", index=False)
    assert main(words.split()) == 2
    assert f"column {column} is also tested; leave it out of one of the two" in capsys.readouterr().err


def test_all_other_columns_are_tested_where_none_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("a.csv", index=False)
    OTHER.to_csv("b.csv", index=False)
    words = "two-sample a.csv b.csv --covariates site --resamples 19 --seed 0 --json"
    assert main(words.split()) == 0
    assert '"site"' not in capsys.readouterr().out
