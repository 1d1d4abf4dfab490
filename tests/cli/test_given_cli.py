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
TOLD = {"rng": 0, "n_resamples": 99}


@pytest.fixture
def path(tmp_path):
    TABLE.to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def run(capsys, *arguments):
    assert main([*map(str, arguments), "--json", "--resamples", "99", "--seed", "0"]) == 0
    return json.loads(capsys.readouterr().out)


def test_given_columns(path, capsys):
    found = run(capsys, "independence", path, "--x", "dose", "--y", "response", "--given", "age,site")
    here = independence_test(TABLE[["dose"]], TABLE[["response"]], given=TABLE[["age", "site"]], **TOLD)
    assert found["pvalue"] == here.pvalue and found["method"] == here.method == "signs of residual products"
    assert found["assumption"] in found["notes"][0]
    two = run(capsys, "independence", path, "--x", "dose", "--y", "response", "--given", "site")
    assert two["method"] == "permutations within strata" and two["restriction"] == "within 3 blocks"
    rest = run(capsys, "independence", path, "--given", "site,age", "--given-method", "local")  # two columns are left
    assert rest["method"] == "local permutations of residuals"


def test_matrix_given_all_others(path, capsys):
    found = run(capsys, "matrix", path, "--x", "dose,response,age", "--given", "others")
    here = independence_matrix(TABLE[["dose", "response", "age"]], given="others", **TOLD)
    assert [one["pvalue"] for one in found["tests"]] == here.pvalues.tolist()
    assert len(run(capsys, "matrix", path, "--given", "age,site")["tests"]) == 1


def test_covariates(tmp_path, capsys):
    first, paths = TABLE["age"] < 50, []
    for name, rows in (("a", first), ("b", ~first)):
        TABLE[rows].drop(columns="site").to_csv(tmp_path / f"{name}.csv", index=False)
        paths.append(tmp_path / f"{name}.csv")
    found = run(capsys, "two-sample", *paths, "--covariates", "dose")
    tested, z = TABLE[["response", "age"]], TABLE[["dose"]]
    here = two_sample_test(tested[first], tested[~first], covariates=(z[first], z[~first]), **TOLD)
    assert found["pvalue"] == here.pvalue and found["method"] == "signs of residual products"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("independence data.csv --x dose --y response --given dose", "column 'dose' of --given is also tested"),
        ("independence data.csv --x dose --y response --given weight", "weight"),
        ("independence data.csv --x dose --y response --given-method strata", "--given-method says how --given"),
        ("matrix data.csv --given dose,response,age,site", "no column is left to test: --given names all of them"),
    ],
)
def test_what_cannot_be(path, tmp_path, monkeypatch, capsys, command, message):
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    assert message in capsys.readouterr().err


def test_calibration_of_ours(path, capsys):
    told = ("--x", "dose", "--y", "response", "--given", "age", "--trials", "20", "--workers", "1")
    assert main(["calibrate", path, *told, "--resamples", "19", "--alpha", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "independence"
