"""The commands for more than two, for many columns, for calibration, and pictures of the witness function."""

from __future__ import annotations

import json
from functools import partial

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
from typed import typed

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


@pytest.mark.parametrize("workers", ["1", "2"])
def test_calibrate_says_a_warning_once(tmp_path, monkeypatch, capfd, workers):
    monkeypatch.chdir(tmp_path)
    np.savetxt("a.csv", np.random.default_rng(0).normal(size=(9, 2)), delimiter=",", header="u,v", comments="")
    line = ["calibrate", "a.csv", "--x", "u", "--y", "v", "--resamples", "9", "--trials", "6", "--workers", workers]
    assert main(line) == 0 and capfd.readouterr().err.count("the test can never reject") == 1


def test_k_sample_is_the_library(run):
    expected = k_sample_test(*map(table, "abc"), comparison="pooled", weights="equal", estimator="fkmse", **GIVEN)
    expected = typed(expected, "a.csv", "b.csv", "c.csv")
    options = ["--comparison", "pooled", "--weights", "equal", "--estimator", "fkmse", *FAST]
    assert run("k-sample", "a.csv", "b.csv", "c.csv", *options) == (0, f"{expected.summary()}\n", "")
    code, out, _ = run("k-sample", "a.csv", "b.csv", "c.csv", "--columns", "u,w", "--json", "--plot", "n.png", *FAST)
    two = k_sample_test(*(table(name)[["u", "w"]] for name in "abc"), **GIVEN)
    assert code == 0 and json.loads(out)["pvalue"] == two.pvalue


def test_joint_is_the_library(run):
    a = table("a")
    expected = joint_independence_test(a[["u"]], a[["v"]], a[["w"]], bandwidths=0.7, **GIVEN)
    assert run("joint", "a.csv", "--bandwidth", "0.7", *FAST) == (0, f"{expected.summary()}\n", "")
    grouped = typed(joint_independence_test(a[["u", "v"]], a[["w"]], **GIVEN))
    assert run("joint", "a.csv", "--variable", "u,v", "--variable", "w", *FAST)[1] == f"{grouped.summary()}\n"


def test_columns_is_the_library(run):
    expected = two_sample_test_columns(table("a"), table("c"), method="holm", **GIVEN)
    expected = typed(expected)
    assert run("columns", "a.csv", "c.csv", "--method", "holm", *FAST) == (0, f"{expected.summary()}\n", "")
    code, out, _ = run("columns", "a.csv", "c.csv", "--columns", "w,u", "--json", "--plot", "map.png", *FAST)
    chosen = typed(two_sample_test_columns(table("a")[["w", "u"]], table("c")[["w", "u"]], **GIVEN))
    assert (code, out) == (0, f"{chosen.to_json()}\n")
    apart = table("a")
    apart["u"] += 9.0
    apart.to_csv("d.csv", index=False)
    assert run("columns", "a.csv", "d.csv", "--exit-code", *FAST)[0] == 1


def test_matrix_is_the_library(run):
    a = table("a")
    assert run("matrix", "a.csv", *FAST) == (0, f"{typed(independence_matrix(a, **GIVEN)).summary()}\n", "")
    expected = typed(independence_matrix(a[["u"]], a[["v", "w"]], **GIVEN))
    assert run("matrix", "a.csv", "--x", "u", "--y", "v,w", *FAST)[1] == f"{expected.summary()}\n"
    assert run("matrix", "a.csv", "--y", "v,w", *FAST)[1] == f"{expected.summary()}\n"


def test_designs_of_the_data_reach_many_tests(run):
    a, b = table("a"), table("b").iloc[:9]
    a["site"] = b["site"] = list("pqpqpqpqp")
    a.to_csv("sa.csv", index=False)
    b.to_csv("sb.csv", index=False)
    x, y, site = a[["u", "v", "w"]], b[["u", "v", "w"]], (a["site"], b["site"])
    expected = typed(two_sample_test_columns(x, y, blocks=site, **GIVEN))
    assert run("columns", "sa.csv", "sb.csv", "--blocks", "site", *FAST) == (0, f"{expected.summary()}\n", "")
    expected = typed(two_sample_test_columns(x, y, paired=True, **GIVEN))
    assert run("columns", "sa.csv", "sb.csv", "--paired", "--columns", "u:w", *FAST)[1] == f"{expected.summary()}\n"
    expected = typed(independence_matrix(x[["u", "v"]], x[["w"]], blocks=a["site"], shift="circular", **GIVEN))
    options = ["--y", "w", "--blocks", "site", "--shift", "circular"]
    assert run("matrix", "sa.csv", *options, *FAST) == (0, f"{expected.summary()}\n", "")
    expected = typed(k_sample_test(x, y, blocks=site, **GIVEN), "sa.csv", "sb.csv")
    assert run("k-sample", "sa.csv", "sb.csv", "--blocks", "site", *FAST) == (0, f"{expected.summary()}\n", "")
    for options in (["--x", "u,v", "--y", "site"], ["--x", "u,site", "--y", "w"]):
        assert "labels are not data" in run("matrix", "sa.csv", *options, "--blocks", "site", *FAST)[2]
    assert "labels are not data" in run("columns", "sa.csv", "sb.csv", "--columns", "u,site", "--blocks", "site")[2]
    assert "permutes rows of Y" in run("matrix", "sa.csv", "--x", "u,v", "--blocks", "site", *FAST)[2]


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
    out = run("calibrate", "a.csv", "--x", "u,w", "--y", "v", "--test", "spearmanr", *options)[1]
    named = calibrate("spearmanr", table("a")[["u", "w"]], table("a")["v"], kind="independence", n_trials=40, rng=3)
    assert out == f"{named.summary()}\n"
    assert (
        "is a two-sample test" in run("calibrate", "a.csv", "--x", "u", "--y", "v", "--test", "ks_2samp", *options)[2]
    )
    for name in "ab":
        sites = np.arange(len(table(name))) % 2
        table(name).assign(site=sites).to_csv(f"s{name}.csv", index=False)
    out = run("calibrate", "sa.csv", "sb.csv", "--blocks", "site", "--resamples", "19", *options)[1]
    assert "rows of both samples exchanged (within" in out
    out = run("calibrate", "a.csv", "--x", "u", "--y", "v", "--shift", "circular", "--alpha", "0.2", *options)[1]
    assert "rows of Y permuted (circular shifts)" in out
    assert (
        "--paired is not for a test of the kind independence"
        in run("calibrate", "a.csv", "--x", "u", "--y", "v", "--paired")[2]
    )
    out = run("calibrate", "a.csv", "b.csv", "--resamples", "19", "--plot", "c.png", *options)[1]
    assert out.startswith("Calibration of two_sample_test") and (tmp_path / "c.png").stat().st_size > 1000


def test_two_sample_saves_a_picture_of_the_witness(run, tmp_path):
    code, out, err = run("two-sample", "a.csv", "c.csv", "--witness", "w.png", "--coordinates", "w,u", *FAST)
    assert (code, err) == (0, "") and (tmp_path / "w.png").stat().st_size > 1000
    expected = typed(two_sample_test(table("a"), table("c"), **GIVEN), "a.csv", "c.csv")
    assert out == f"{expected.summary()}\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["k-sample", "a.csv"], "give two files or more"),
        (["k-sample", "-", "a.csv", "-"], "standard input (-) can be only one of the samples"),
        (["joint", "a.csv", "--gram", "factor"], "--gram is not for joint"),
        (["joint", "a.csv", "--form", "unbiased"], "--form is not for joint"),
        (["joint", "a.csv", "--variable", "u,v", "--variable", "v"], "column 'v' is in more than one --variable"),
        (["joint", "a.csv", "--variable", "u"], "give two variables or more"),
        (["columns", "a.csv", "b.csv", "--stopping", "curtailed"], "--stopping is not for columns"),
        (["columns", "a.csv", "b.csv", "--method", "holms"], "Did you mean 'holm'?"),
        (["columns", "-", "-"], "only one of the two samples"),
        (["matrix", "a.csv", "--x", "u,v", "--y", "v"], "column 'v' is in both --x and --y"),
        (["matrix", "a.csv", "--x", "u"], "give Y or two columns or more"),
        (["calibrate", "a.csv"], "with one file, say which columns are the two variables"),
        (["calibrate", "a.csv", "b.csv", "--x", "u"], "--x and --y are for two variables in one file"),
        (["calibrate", "a.csv", "b.csv", "--test", "nothing"], "--test must look like module:function"),
        (["two-sample", "a.csv", "c.csv", "--witness", "w.png"], "choose one or two to show"),
        (["two-sample", "a.csv", "c.csv", "--witness", "w.png", "--coordinates", "z"], "has 'z', which is not among"),
        (["two-sample", "a.csv", "c.csv", "--witness", "w.xyz"], "w.xyz must end in one of"),
        (["two-sample", "a.csv", "c.csv", "--coordinates", "u"], "give --witness FILE.png as well"),
        (
            ["two-sample", "a.csv", "c.csv", "--witness", "w.png", "--coordinates", "u", "--estimator", "auto"],
            "--witness is a picture of one statistic",
        ),
        *(
            ([*command, "--bandwidth", "grid"], f"{name} takes no candidates for kernels and bandwidths")
            for command, name in (
                (["joint", "a.csv"], "joint"),
                (["columns", "a.csv", "c.csv"], "columns"),
                (["matrix", "a.csv"], "matrix"),
            )
        ),
        *(
            ([*command, "--bandwidth", "1", "--bandwidth", "2"], f"which {command[0]} does not do")
            for command in (
                ["joint", "a.csv"],
                ["columns", "a.csv", "c.csv"],
                ["matrix", "a.csv"],
            )
        ),
    ],
)
def test_bad_usage_says_what_to_do(run, argv, message):
    code, out, err = run(*argv, *FAST[:4])
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module_here:f", "No module named 'no_such_module_here'"),
        ("unsound_for_calibrate:missing", "has no attribute 'missing'"),
        ("unsound_for_calibrate:number", "is no function (X, Y) -> p-value: 3"),
        ("unsound_for_calibrate:fails", "ZeroDivisionError: division by zero"),
        ("unsound_for_calibrate:word", "it returned 'a' (str)"),
        ("unsound_for_calibrate:two", "a number from 0 to 1; it returned 2.0"),
    ],
)
def test_functions_that_cannot_be_calibrated_are_one_line(run, tmp_path, name, message):
    returned = {"fails": "1 / 0", "word": "'a'", "two": "2.0"}
    body = "".join(f"def {function}(x, y):\n    return {value}\n" for function, value in returned.items())
    (tmp_path / "unsound_for_calibrate.py").write_text(f"number = 3\n{body}")
    code, out, err = run("calibrate", "a.csv", "b.csv", "--test", name, "--trials", "5", "--workers", "1")
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


@pytest.mark.parametrize("option", ["--gram rff", "--bandwidth 2", "--resamples 99", "--set lam=1", "--kernel linear"])
def test_a_function_of_ones_own_has_no_options_of_the_package(run, option):
    code, out, err = run("calibrate", "a.csv", "b.csv", "--test", "mine:f", *option.split())
    assert (code, out) == (2, "") and f"{option.split()[0]} is not for a --test of one's own" in err


def test_calibrate_takes_combined_tests_and_another_level(run):
    options = ["--trials", "5", "--resamples", "19", "--workers", "1", "--json"]
    several = ["--kernel", "gaussian,laplacian", "--bandwidth", "1", "--bandwidth", "2", "--estimator", "kme,skmse"]
    code, out, _ = run("calibrate", "a.csv", "b.csv", "--alpha", "0.2", *several, *options)
    how = {
        "estimator": ["kme", "skmse"],
        "kernel": ["gaussian", "laplacian"],
        "bandwidth": [np.asarray(1.0), np.asarray(2.0)],
    }
    test = partial(two_sample_test, n_resamples=19, rng=0, workers=1, alpha=0.2, **how)
    levels = (0.01, 0.05, 0.1, 0.2)
    expected = calibrate(test, table("a"), table("b"), n_trials=5, alphas=levels, workers=1)
    assert (code, out) == (0, f"{expected.to_json()}\n")


def test_help_has_what_the_command_heeds(run):
    shown = {
        command: " ".join(run(command, "--help")[1].split()) for command in ("joint", "matrix", "calibrate", "k-sample")
    }
    assert all("--gram" not in shown[command] for command in ("joint",))
    assert "--stopping" not in shown["matrix"] and "--stopping" in shown["joint"]
    assert all("auto is the combination" in text for text in shown.values())
    assert [command for command, text in shown.items() if "grid is five" in text] == ["calibrate", "k-sample"]
    assert "save a heat map" in shown["matrix"] and "save a picture of the p-values" in shown["calibrate"]
    assert "--estimator" in shown["k-sample"] and "--form" in shown["k-sample"]


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
