"""Missing values of what is given are no information: rows that miss it need not have one value of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import calibrate, independence_matrix, independence_test, two_sample_test
from shrinktest.cli.entry import main
from shrinktest.power import designs, power_study

N = 40
RNG = np.random.default_rng(6)
Z = RNG.normal(size=N)
TABLE = pd.DataFrame({"x": Z + RNG.normal(size=N), "y": Z + RNG.normal(size=N), "z": Z, "w": RNG.normal(size=N)})
SITE = pd.Series(np.where(Z > 0.0, "a", "b"), name="site", dtype=object)
X, Y = TABLE[["x"]], TABLE[["y"]]
HOLES = np.arange(N) % 8 == 0
GAPS = TABLE.assign(z=np.where(HOLES, np.nan, Z))
UNKNOWN = SITE.where(~HOLES, None)
PLAIN = {"n_resamples": 99, "rng": 0, "workers": 1}
FEW = {"nan_policy": "indicator", **PLAIN}
MISSING = {"nan_policy": "indicator"}
HALVES = slice(0, N // 2), slice(N // 2, N)


def draw(z, rng):
    return z + rng.normal(size=z.shape)


def shared(z, others):
    """Two samples of half the rows, and their covariates."""
    return two_sample_test(
        *(TABLE[["x"]].iloc[half] for half in HALVES), covariates=tuple(z[half] for half in HALVES), **others
    )


WHY = r"with nan_policy='indicator' rows in which what is given is missing would be compared as if they had one value"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: independence_test(X, Y, given=GAPS[["z"]], **FEW),
            r"^given: 5 rows miss a value, in column 'z' \(5\)",
        ),
        (lambda: independence_test(X, Y, given=GAPS["z"].to_numpy(), **FEW), r"^given: 5 rows .* in column 0 \(5\)"),
        (
            lambda: independence_test(X, Y, given=list(UNKNOWN), **FEW),
            r"^given: 5 rows miss a value, in column 0 \(5\)",
        ),
        (
            lambda: independence_test(X, Y, given=pd.DataFrame({"z": GAPS["z"], "site": UNKNOWN.shift(1)}), **FEW),
            r"^given: 10 rows miss a value, in column 'z' \(5\), column 'site' \(6\)",
        ),
        (lambda: independence_test(X, Y, given=GAPS[["z"]], given_method="local", **FEW), "^given: 5 rows"),
        (lambda: independence_test(X, Y, given=GAPS[["z"]].to_numpy(), x_given_z=draw, **FEW), "^given: 5 rows"),
        (lambda: independence_matrix(X, Y, given=UNKNOWN, **FEW), "^given: 5 rows"),
        (lambda: independence_matrix(GAPS, given="z", **FEW), r"^given: 5 rows miss a value, in column 'z' \(5\)"),
        (
            lambda: independence_matrix(GAPS, given=["w", "z"], **FEW),
            r"^given: 5 rows miss a value, in column 'z' \(5\)",
        ),
        (lambda: independence_matrix(GAPS, given="others", **FEW), r"^given='others': 5 rows .* in column 'z' \(5\)"),
        (lambda: shared(GAPS["z"].to_numpy(), FEW), r"^covariates of X: 3 rows miss a value, in column 0 \(3\)"),
        (lambda: shared(UNKNOWN.to_numpy(), FEW), r"^covariates of X: 3 rows"),
        (
            lambda: shared(np.r_[Z[:-1], np.nan], {**FEW, "names": ("before", "after")}),
            "^covariates of after: 1 row misses a value, in column 0",
        ),
    ],
)
def test_indicator_is_not_for_what_is_given(call, message):
    with pytest.raises(ValueError, match=f"{message}.*{WHY}; use nan_policy='omit'"):
        call()


def test_what_else_can_be_done_is_said():
    kept = "or leave these rows out yourself and keep 'indicator' for what is tested"
    with pytest.raises(ValueError, match=kept):
        independence_test(X, Y, given=GAPS[["z"]], **FEW)
    with pytest.raises(ValueError, match=r"use nan_policy='omit'$"):  # of these, all columns are tested as well
        independence_matrix(GAPS, given="others", **FEW)


@pytest.mark.parametrize("given", [Z, SITE])
def test_missing_values_of_what_is_tested_are_information(given):
    gaps = X.where(~HOLES[:, None])
    found = independence_test(gaps, Y, given=given, **FEW)
    assert found.n_observations == (N,) and 0.0 < found.pvalue <= 1.0
    left = {**FEW, "nan_policy": "omit"}
    assert independence_test(gaps, Y, given=given, **left).n_observations == (int((~HOLES).sum()),)
    matrix = independence_matrix(gaps, Y, given=given, **FEW)
    assert matrix.n_observations == (N,)
    halves = tuple(gaps.iloc[half] for half in HALVES)
    z = tuple(given[half] for half in HALVES)
    assert two_sample_test(*halves, covariates=z, **FEW).n_observations == (N // 2, N // 2)
    named = pd.concat([gaps, Y, TABLE[["w"]]], axis=1)
    assert len(independence_matrix(named, given="w", **FEW).table) == 1


@pytest.mark.parametrize("given", [GAPS[["z"]], UNKNOWN])
def test_rows_that_miss_what_is_given_are_left_out(given):
    kept = np.flatnonzero(~HOLES)
    found = independence_test(X, Y, given=given, **{**FEW, "nan_policy": "omit"})
    there = independence_test(X.iloc[kept], Y.iloc[kept], given=given.iloc[kept], **FEW)
    assert found.pvalue == there.pvalue and found.n_observations == there.n_observations
    assert np.isnan(independence_test(X, Y, given=given, **{**FEW, "nan_policy": "propagate"}).pvalue)


@pytest.mark.parametrize(
    "call",
    [
        lambda: independence_test(X, Y, given=GAPS[["z"]], **PLAIN),
        lambda: independence_matrix(GAPS, given="others", **PLAIN),
        lambda: shared(GAPS["z"].to_numpy(), PLAIN),
    ],
)
def test_errors_do_not_advise_it(call):
    with pytest.raises(ValueError, match="pass nan_policy='omit'") as error:
        call()
    assert "indicator" not in str(error.value)


def test_it_is_advised_for_what_is_tested():
    with pytest.raises(ValueError, match="nan_policy='indicator' takes it as information"):
        independence_test(X.where(~HOLES[:, None]), Y, given=Z, **PLAIN)


def test_studies_refuse_it_too():
    told = {"kind": "independence", "nan_policy": "indicator", "n_trials": 20, "rng": 0, "workers": 1}
    with pytest.raises(ValueError, match="Y or given misses values"):
        calibrate(lambda x, y: 0.5, Z, TABLE["y"].to_numpy(), given=GAPS[["z"]], **told)

    class Gaps(designs.Confounded):
        def sample(self, rng, n):
            x, y, z = super().sample(rng, n)
            return x, y, np.where(np.arange(len(z))[:, None] < 3, np.nan, z)

    with pytest.raises(ValueError, match="given: 3 rows miss a value"):
        power_study(Gaps(), {"kme": "kme"}, [30], n_trials=2, n_resamples=99, rng=0, workers=1, test_options=MISSING)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("independence data.csv --x x --y y --given z", "--given: 5 rows miss a value, in column 'z'"),
        ("matrix data.csv --given others", "--given others: 5 rows miss a value, in column 'z'"),
        ("two-sample data.csv data.csv --covariates z", "--covariates of X: 5 rows miss a value, in column 'z'"),
    ],
)
def test_on_the_command_line(line, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    GAPS.to_csv("data.csv", index=False)
    assert main([*line.split(), "--nan-policy", "indicator"]) == 2
    assert said in (err := capsys.readouterr().err) and "use --nan-policy omit" in err
    assert main(line.split()) == 2
    err = capsys.readouterr().err
    assert "column 'z' is missing" in err and "--nan-policy omit" in err and "indicator" not in err
