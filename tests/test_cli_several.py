"""The commands for more than two, for many columns, for calibration, and pictures of the witness function."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    calibrate,
    independence_matrix,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.cli import main

FAST = ["--seed", "0", "--resamples", "99", "--workers", "1"]
GIVEN = {"rng": 0, "n_resamples": 99, "workers": 1}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with samples a.csv, b.csv, c.csv of columns u, v, w."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for i, name in enumerate("abc"):
        np.savetxt(f"{name}.csv", rng.normal(0.5 * i, 1.0, size=(9 + i, 3)), delimiter=",", header="u,v,w", comments="")

    def run(*argv):
        code = main([*argv])
        return code, *capsys.readouterr()

    return run


def table(name):
    return pd.read_csv(f"{name}.csv")


def test_k_sample_is_the_library(run):
    expected = k_sample_test(*map(table, "abc"), comparison="pooled", weights="equal", estimator="fkmse", **GIVEN)
    options = ["--comparison", "pooled", "--weights", "equal", "--estimator", "fkmse", *FAST]
    assert run("k-sample", "a.csv", "b.csv", "c.csv", *options) == (0, f"{expected.summary()}\n", "")
    code, out, _ = run("k-sample", "a.csv", "b.csv", "c.csv", "--columns", "u,w", "--json", "--plot", "n.png", *FAST)
    two = k_sample_test(*(table(name)[["u", "w"]] for name in "abc"), **GIVEN)
    assert code == 0 and json.loads(out)["pvalue"] == two.pvalue


def test_joint_is_the_library(run):
    a = table("a")
    expected = joint_independence_test(a["u"], a["v"], a["w"], bandwidths=0.7, **GIVEN)
    assert run("joint", "a.csv", "--bandwidth", "0.7", *FAST) == (0, f"{expected.summary()}\n", "")
    grouped = joint_independence_test(a[["u", "v"]], a["w"], **GIVEN)
    assert run("joint", "a.csv", "--variable", "u,v", "--variable", "w", *FAST)[1] == f"{grouped.summary()}\n"


def test_columns_is_the_library(run):
    expected = two_sample_test_columns(table("a"), table("c"), method="holm", **GIVEN)
    assert run("columns", "a.csv", "c.csv", "--method", "holm", *FAST) == (0, f"{expected.summary()}\n", "")
    code, out, _ = run("columns", "a.csv", "c.csv", "--columns", "w,u", "--json", "--plot", "map.png", *FAST)
    rows = json.loads(out)
    assert [row["column"] for row in rows] == ["w", "u"] and code == 0
    chosen = two_sample_test_columns(table("a")[["w", "u"]], table("c")[["w", "u"]], **GIVEN)
    assert np.allclose([row["adjusted"] for row in rows], chosen.adjusted)
    apart = table("a")
    apart["u"] += 9.0
    apart.to_csv("d.csv", index=False)
    assert run("columns", "a.csv", "d.csv", "--exit-code", *FAST)[0] == 1


def test_matrix_is_the_library(run):
    a = table("a")
    assert run("matrix", "a.csv", *FAST) == (0, f"{independence_matrix(a, **GIVEN).summary()}\n", "")
    expected = independence_matrix(a[["u"]], a[["v", "w"]], **GIVEN)
    assert run("matrix", "a.csv", "--x", "u", "--y", "v,w", *FAST)[1] == f"{expected.summary()}\n"
    assert run("matrix", "a.csv", "--y", "v,w", *FAST)[1] == f"{expected.summary()}\n"


def test_calibrate_is_the_library(run, tmp_path):
    (tmp_path / "mine_to_calibrate.py").write_text("def smallest(x, y):\n    return min(0.04, abs(x[0, 0]))\n")
    options = ["--trials", "40", "--seed", "3", "--workers", "1"]
    code, out, _ = run("calibrate", "a.csv", "b.csv", "--test", "mine_to_calibrate:smallest", "--exit-code", *options)
    from mine_to_calibrate import smallest

    expected = calibrate(smallest, table("a").to_numpy(), table("b").to_numpy(), n_trials=40, rng=3, workers=1)
    assert (code, out) == (1, f"{expected.summary()}\n")
    out = run("calibrate", "a.csv", "--x", "u", "--y", "v,w", "--resamples", "19", "--json", *options)[1]
    found = json.loads(out)
    assert found["kind"] == "independence" and [row["trials"] for row in found["levels"]] == [40] * 3
    out = run("calibrate", "a.csv", "--x", "u", "--y", "v", "--test", "scipy.stats:spearmanr", *options)[1]
    assert out.startswith("Calibration of spearmanr")
    out = run("calibrate", "a.csv", "b.csv", "--resamples", "19", "--plot", "c.png", *options)[1]
    assert out.startswith("Calibration of two_sample_test") and (tmp_path / "c.png").stat().st_size > 1000


def test_two_sample_saves_a_picture_of_the_witness(run, tmp_path):
    code, out, err = run("two-sample", "a.csv", "c.csv", "--witness", "w.png", "--coordinates", "w,u", *FAST)
    assert (code, err) == (0, "") and (tmp_path / "w.png").stat().st_size > 1000
    assert out == f"{two_sample_test(table('a'), table('c'), **GIVEN).summary()}\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["k-sample", "a.csv"], "give two files or more"),
        (["k-sample", "-", "a.csv", "-"], "standard input (-) can be only one of the samples"),
        (["joint", "a.csv", "--gram", "factor"], "--gram is not for joint"),
        (["joint", "a.csv", "--statistic", "unbiased"], "--statistic is not for joint"),
        (["joint", "a.csv", "--variable", "u,v", "--variable", "v"], "column 'v' is in more than one --variable"),
        (["joint", "a.csv", "--variable", "u"], "give two variables or more"),
        (["columns", "a.csv", "b.csv", "--stopping", "decision"], "--stopping is not for columns"),
        (["columns", "a.csv", "b.csv", "--method", "holms"], "Did you mean 'holm'?"),
        (["columns", "-", "-"], "only one of the two samples"),
        (["matrix", "a.csv", "--x", "u,v", "--y", "v"], "column 'v' is in both --x and --y"),
        (["matrix", "a.csv", "--x", "u"], "two columns or more are tested against each other"),
        (["calibrate", "a.csv"], "with one file, say which columns are the two variables"),
        (["calibrate", "a.csv", "b.csv", "--x", "u"], "--x and --y are for two variables in one file"),
        (["calibrate", "a.csv", "b.csv", "--test", "nothing"], "--test must look like module:function"),
        (["calibrate", "a.csv", "b.csv", "--test", "no_such_module:f"], "No module named"),
        (["two-sample", "a.csv", "c.csv", "--witness", "w.png"], "choose one or two to show"),
        (["two-sample", "a.csv", "c.csv", "--witness", "w.png", "--coordinates", "z"], "has 'z', which is not among"),
        (["two-sample", "a.csv", "c.csv", "--witness", "w.xyz"], "w.xyz is no name for a picture"),
    ],
)
def test_bad_usage_says_what_to_do(run, argv, message):
    code, _, err = run(*argv, *FAST[:4])
    assert code == 2 and message in err


def test_different_columns_say_which(run):
    table("b").rename(columns={"w": "z"}).to_csv("b.csv", index=False)
    code, _, err = run("k-sample", "a.csv", "b.csv")
    assert code == 2 and "a.csv has u, v, w and b.csv has u, v, z; test those of all files with --columns u,v" in err
    assert run("k-sample", "a.csv", "b.csv", "--columns", "u,v", *FAST)[0] == 0


def test_power_takes_designs_of_several(run):
    code, out, _ = run("power", "parity", "--n", "8", "--trials", "3", "--resamples", "39", "--workers", "1", "--quiet")
    assert code == 0 and "joint-independence" in out
    argv = ["--n", "5", "--trials", "3", "--resamples", "39", "--workers", "1", "--quiet", "--bandwidth", "2"]
    assert run("power", "one-apart", "--set", "samples=4", *argv)[0] == 0
    listed = run("power", "--list")[1]
    assert "one-apart" in listed and "joint-independence" in listed
