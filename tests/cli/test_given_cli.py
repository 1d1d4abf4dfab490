"""Given variables and covariates on the command line: the same as in Python."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import independence_matrix, independence_test, two_sample_test
from shrinktest.cli.entry import main

RNG = np.random.default_rng(2)
AGE = RNG.normal(50.0, 10.0, size=60)
TABLE = pd.DataFrame(
    {
        "dose": AGE / 10.0 + RNG.normal(size=60),
        "response": AGE / 10.0 + RNG.normal(size=60),
        "age": AGE,
        "site": RNG.choice(["north", "south", "west"], size=60),
    }
)


@pytest.fixture
def path(tmp_path):
    TABLE.to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def run(capsys, *arguments):
    code = main([*map(str, arguments), "--json", "--resamples", "99", "--seed", "0"])
    assert code == 0
    return json.loads(capsys.readouterr().out)


def test_given_columns(path, capsys):
    found = run(capsys, "independence", path, "--x", "dose", "--y", "response", "--given", "age,site")
    told = {"rng": 0, "n_resamples": 99}
    here = independence_test(TABLE[["dose"]], TABLE[["response"]], given=TABLE[["age", "site"]], **told)
    assert found["pvalue"] == here.pvalue and found["method"] == here.method == "signs of residual products"
    assert found["assumption"] in found["notes"][0]


def test_categories_are_strata(path, capsys):
    two = run(capsys, "independence", path, "--x", "dose", "--y", "response", "--given", "site")
    assert two["method"] == "permutations within strata" and two["restriction"] == "within 3 blocks"
    rest = run(capsys, "independence", path, "--given", "site,age", "--given-method", "local")  # two columns are left
    assert rest["method"] == "local permutations of residuals"


def test_matrix_given_all_others(path, capsys):
    found = run(capsys, "matrix", path, "--x", "dose,response,age", "--given", "others")
    here = independence_matrix(TABLE[["dose", "response", "age"]], given="others", rng=0, n_resamples=99)
    assert [one["pvalue"] for one in found["tests"]] == here.pvalues.tolist()
    given = run(capsys, "matrix", path, "--given", "age,site")
    assert len(given["tests"]) == 1 and given["test"] == "conditional-independence"


def test_covariates(tmp_path, capsys):
    first = TABLE["age"] < 50
    paths = []
    for name, rows in (("a", first), ("b", ~first)):
        TABLE[rows].drop(columns="site").to_csv(tmp_path / f"{name}.csv", index=False)
        paths.append(tmp_path / f"{name}.csv")
    found = run(capsys, "two-sample", *paths, "--covariates", "dose")
    told = {"covariates": (TABLE[["dose"]][first], TABLE[["dose"]][~first]), "rng": 0, "n_resamples": 99}
    tested = TABLE[["response", "age"]]
    here = two_sample_test(tested[first], tested[~first], **told)
    assert found["pvalue"] == here.pvalue and found["method"] == "labels drawn by propensity"


@pytest.mark.parametrize(
    ("options", "taking"),
    [
        (("--given", ",".join(TABLE.columns)), "--given"),
        (("--y", ",".join(TABLE.columns)), "--y"),
        (("--y", ",".join(TABLE.columns[:2]), "--given", ",".join(TABLE.columns[2:])), "--y and --given together"),
    ],
)
def test_a_matrix_needs_columns_that_are_left(path, capsys, options, taking):
    assert main(["matrix", path, *options]) == 2
    assert f"no column is left to test: {taking} names all of them; name fewer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--x", "dose", "--y", "response", "--given", "dose"), "column 'dose' of --given is also tested"),
        (("--x", "dose", "--y", "response", "--given", "weight"), "weight"),
        (("--x", "dose", "--y", "response", "--given-method", "strata"), "give these"),
    ],
)
def test_what_cannot_be(path, capsys, arguments, message):
    assert main(["independence", path, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_calibration_of_ours(path, capsys):
    told = ("--x", "dose", "--y", "response", "--given", "age", "--trials", "20", "--workers", "1")
    assert main(["calibrate", path, *told, "--resamples", "19", "--alpha", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "independence"
