"""Files that the command line reads in batches."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, independence_test, k_sample_test, two_sample_test, two_sample_test_columns
from shrinktest.cli import main
from shrinktest.data import chunks

FAST = ["--gram", "rff", "--rank", "20", "--resamples", "99", "--seed", "0", "--json"]
GIVEN = {"gram": "rff", "rank": 20, "n_resamples": 99, "rng": 0}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with x0.parquet, x1.parquet, y.csv and z.npy."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("x0", "x1"):
        pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"]).to_parquet(f"{name}.parquet")
    pd.DataFrame(rng.normal(0.3, 1.0, size=(500, 2)), columns=["a", "b"]).to_csv("y.csv", index=False)
    np.save("z.npy", rng.normal(size=(400, 2)))

    def run(*argv):
        code = main([*argv])
        return code, *capsys.readouterr()

    return run


def test_patterns_parquet_and_numpy_are_the_library(run):
    code, out, _ = run("two-sample", "x*.parquet", "y.csv", *FAST)
    found, expected = json.loads(out), two_sample_test("x*.parquet", "y.csv", **GIVEN)
    assert code == 0 and (found["pvalue"], found["statistic"]) == tuple(expected)[::-1]
    assert found["names"] == ["x*.parquet", "y.csv"] and found["n_observations"] == [600, 500]
    code, out, _ = run("two-sample", "x*.parquet", "y.csv", "--columns", "b", "--exit-code", *FAST)
    some = two_sample_test(*(Batches(path, columns=["b"]) for path in ("x*.parquet", "y.csv")), **GIVEN)
    assert code == 1 and json.loads(out)["statistic"] == some.statistic
    code, out, _ = run("k-sample", "x*.parquet", "y.csv", "z.npy", "--comparison", "pooled", *FAST)
    several = k_sample_test("x*.parquet", "y.csv", "z.npy", comparison="pooled", **GIVEN)
    assert code == 0 and json.loads(out)["statistic"] == several.statistic


def test_columns_and_several_statistics(run):
    code, out, _ = run("columns", "x*.parquet", "y.csv", "--method", "holm", "--exit-code", *FAST)
    expected = two_sample_test_columns("x*.parquet", "y.csv", method="holm", **GIVEN)
    found = json.loads(out)
    assert code == 1 and [one["pvalue"] for one in found["tests"]] == expected.pvalues.tolist()
    assert [one["column"] for one in found["tests"]] == ["a", "b"]
    code, out, _ = run("columns", "x*.parquet", "y.csv", "--columns", "b", *FAST)
    assert code == 0 and [one["column"] for one in json.loads(out)["tests"]] == ["b"]
    code, out, _ = run("two-sample", "x*.parquet", "y.csv", "--estimator", "auto", *FAST)
    assert (
        code == 0
        and json.loads(out)["pvalue"] == two_sample_test("x*.parquet", "y.csv", estimator="auto", **GIVEN).pvalue
    )
    code, _, error = run("columns", "x*.parquet", "y.csv", "--paired", *FAST)
    assert code == 2 and "--paired is not for files that are read in batches" in error


def test_bins_are_permuted(run):
    code, out, _ = run("two-sample", "x*.parquet", "y.csv", "--bins", "40", *FAST)
    given = Batches("x*.parquet", bins=40), Batches("y.csv", bins=40)
    assert code == 0 and json.loads(out)["statistic"] == two_sample_test(*given, **GIVEN).statistic
    for words, said in (
        (["x*.parquet", "y.csv", "--bins", "few"], "must be a whole number; got 'few'"),
        (["x*.parquet", "y.csv", "--bins", "none"], "must be a whole number; got 'none'"),
        (["x*.parquet", "y.csv", "--bins", "5"], "--bins must be an integer >= 20"),
        (["y.csv", "y.csv", "--bins", "40"], "--bins 40 is for files that are read in batches, and y.csv, y.csv"),
    ):
        code, _, error = run("two-sample", *words, *FAST)
        assert code == 2 and said in error


def test_the_effect_is_told_on_request(run):
    code, out, _ = run("two-sample", "x*.parquet", "y.csv", "--effect", *FAST[:-1])
    assert code == 0 and "How well the samples can be told apart was not estimated." in out and "distance" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--paired"], "--paired is not for files that are read in batches (x*.parquet, z.npy); leave it out"),
        (["--blocks", "a"], "--blocks is not for files that are read in batches"),
        (["--types", "c=category"], "a column in --types must be"),
        (["--witness", "w.png"], "--witness is not for files that are read in batches"),
        (["--columns", "a"], "--columns names columns, and those of .npy files have no names"),
        (["--gram", "auto"], "--gram auto: samples in batches are compared by the mean features"),
    ],
)
def test_options_that_they_do_not_take(run, options, said):
    code, out, error = run("two-sample", "x*.parquet", "z.npy", *FAST, *options)
    assert code == 2 and not out and said in error


@pytest.mark.parametrize("shift", ["60", "stretches", "circular"])
def test_a_shift_is_that_of_samples_in_memory(run, shift):
    rng, words = np.random.default_rng(3), ["--resamples", "99", "--seed", "0", "--json"]
    series = rng.normal(size=600).cumsum() * 0.9 ** rng.integers(1, 3, 600)
    for name, part in (("p", series[:300]), ("q", series[300:])):
        pd.DataFrame({"v": part}).to_parquet(f"{name}.parquet")
        pd.DataFrame({"v": part}).to_csv(f"{name}.csv", index=False)
    whole = json.loads(run("two-sample", "p.csv", "q.csv", "--shift", shift, *words)[1])
    code, out, _ = run("two-sample", "p.parquet", "q.parquet", "--shift", shift, *words)
    assert code == 0 and json.loads(out)["pvalue"] == pytest.approx(whole["pvalue"])
    assert json.loads(out)["restriction"] == whole["restriction"] != ""
    code, _, error = run("two-sample", "p.parquet", "q.parquet", "--shift", shift, *FAST)
    assert code == 2 and "--shift takes all rows at once, and is not for samples in batches" in error


def test_methods_of_what_is_not_there_are_refused(run):
    for words, said in (
        (["two-sample", "x0.parquet", "x1.parquet", "--covariate-method", "foo"], "--covariate-method must be one of"),
        (["two-sample", "x0.parquet", "x1.parquet", "--covariate-method", "strata"], "--covariate-method says how"),
        (["independence", "x0.parquet", "--x", "a", "--y", "b", "--given-method", "foo"], "--given-method says how"),
        (["independence", "x0.parquet", "--x", "a", "--y", "b", "--given-method", "local"], "--given-method says how"),
    ):
        code, _, error = run(*words)
        assert code == 2 and said in error


def test_errors_and_notes_call_samples_by_their_files(run):
    pd.DataFrame({"c": [1.0] * 30}).to_parquet("c.parquet")
    for command in ("two-sample", "k-sample"):
        code, _, error = run(command, "x0.parquet", "c.parquet", *FAST)
        assert code == 2 and "c.parquet has the columns c, and another sample a, b" in error
        assert error.endswith("name those that all have with --columns\n")
    for words in (
        ["two-sample", "x*.parquet", "x0.parquet", "--columns", "a,q"],
        ["columns", "x*.parquet", "x0.parquet", "--columns", "a,q"],
        ["k-sample", "x*.parquet", "x0.parquet", "--columns", "a,q"],
        ["independence", "x*.parquet", "--x", "a", "--y", "q"],
    ):
        code, _, error = run(*words, *FAST)
        assert code == 2 and error.startswith(
            "shrinktest: error: a column of x0.parquet must be one of 'a', 'b'; got 'q'"
        )
    found = json.loads(run("two-sample", "x0.parquet", "x0.parquet", *FAST)[1])
    assert found["names"] == ["x0.parquet (1)", "x0.parquet (2)"]


def test_files_that_are_not_there(run):
    code, _, error = run("two-sample", "x*.parquet", "q*.parquet", *FAST)
    assert code == 2 and "there is no file 'q*.parquet'" in error


def test_columns_of_a_pattern_are_tested_for_independence(run):
    code, out, _ = run("independence", "x*.parquet", "--x", "a", "--y", "b", *FAST)
    found = json.loads(out)
    expected = independence_test(*(Batches("x*.parquet", columns=[name]) for name in "ab"), **GIVEN)
    assert code == 0 and (found["pvalue"], found["statistic"]) == tuple(expected)[::-1]
    words = ["independence", "x*.parquet", "--x", "a", "--y", "b", *FAST]
    code, out, _ = run(*words, "--store", "s.npz", "--types", "b=category", "--gram", "nystrom")
    types = {"column_types": {"b": "category"}, "gram": "nystrom"}
    some = independence_test(*(Batches("x*.parquet", columns=[name]) for name in "ab"), **{**GIVEN, **types})
    assert code == 0 and json.loads(out)["statistic"] == some.statistic and Path("s.npz").exists()
    assert run("independence", "y.csv", "--store", "s.npz")[0] == 2
    code, out, _ = run("independence", "z.npy", "--x", "0", "--y", "1", *FAST)
    assert code == 0 and json.loads(out)["n_observations"] == [400]
    for path, options, said in (
        ("x*.parquet", ["--x", "a"], "with both --x and --y"),
        ("z.npy", ["--x", "a", "--y", "b"], "have numbers, from 0 on"),
        ("x*.parquet", ["--x", "a", "--y", "b", "--shift", "circular"], "--shift"),
    ):
        code, _, err = run("independence", path, *options, *FAST)
        assert code == 2 and said in err


def test_a_column_that_is_dropped_has_no_unit(run):
    pd.DataFrame(np.random.default_rng(1).normal(size=(300, 3)), columns=["a", "b", "c"]).to_parquet("three.parquet")
    words = ("independence", "three.parquet", "--x", "a", "--scale", "1,2", "--gram", "rff", *FAST)
    found = [run(*words, *more) for more in (["--y", "b"], ["--y", "b,c", "--types", "c=drop"])]
    assert [code for code, _, _ in found] == [0, 0], found
    assert len({json.loads(out)["statistic"] for _, out, _ in found}) == 1


def test_a_variable_is_not_tested_against_itself(run):
    for words, said in (
        (
            ["x0.parquet", "--x", "a", "--y", "b,a"],
            "column 'a' is in both --x and --y: a variable is never independent",
        ),
        (["z.npy", "--x", "0", "--y", "0"], "column 0 is in both --x and --y"),
        (["z.npy", "--x", "0,0", "--y", "1"], "columns has 0 more than once; name every column once"),
    ):
        code, out, error = run("independence", *words)
        assert (code, out) == (2, "") and said in error


def test_units_in_the_order_of_columns_reach_both_variables(run):
    code, out, _ = run("independence", "z.npy", "--x", "0", "--y", "1", "--scale", "2,3", *FAST)
    given = [Batches("z.npy", columns=[one]) for one in (0, 1)]
    assert code == 0
    assert json.loads(out)["statistic"] == independence_test(*given, scale=[(2.0,), (3.0,)], **GIVEN).statistic


# --- who reads, and what is kept ----------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["two-sample", "k-sample", "columns"])
def test_workers_and_a_store_change_nothing(run, tmp_path, command):
    words = [command, "x*.parquet", "z.npy" if command == "k-sample" else "y.csv", *FAST]
    code, expected, _ = run(*words)
    assert code == 0
    for workers in ("1", "3"):
        assert run(*words, "--workers", workers, "--store", "sums.npz") == (0, expected, "")
    assert (tmp_path / "sums.npz").exists()


def test_a_command_that_was_interrupted_goes_on(run, monkeypatch, tmp_path):
    words = ["two-sample", "x*.parquet", "y.csv", "--workers", "1", *FAST]
    _, expected, _ = run(*words)
    read, begun = chunks._run, []

    def interrupted(work, job):
        begun.append(work.func.__name__)
        if begun.count("_add_up") == 2:
            raise KeyboardInterrupt
        return read(work, job)

    monkeypatch.setattr(chunks, "_run", interrupted)
    code, out, error = run(*words, "--store", "sums.npz")
    assert (code, out) == (130, "")
    assert error == (
        "shrinktest: interrupted; what was found so far is in sums.npz, and the same command goes on from there\n"
    )
    done, begun[:] = len(begun) - 1, []
    assert done > 1
    monkeypatch.setattr(chunks, "_run", lambda work, job: begun.append(work.func.__name__) or read(work, job))
    assert run(*words, "--store", "sums.npz") == (0, expected, "")
    assert begun.count("_add_up") == 2  # what was being read, and the other files


@pytest.mark.parametrize("command", ["two-sample", "k-sample", "columns"])
def test_a_store_is_for_files_in_batches(run, command):
    code, out, error = run(command, "y.csv", "y.csv", "--store", "sums.npz")
    assert code == 2 and not out
    assert "--store sums.npz keeps the sums of files that are read in batches, and y.csv, y.csv would be" in error


def test_a_store_takes_a_seed(run):
    code, _, error = run("two-sample", "x*.parquet", "y.csv", "--gram", "rff", "--store", "sums.npz")
    assert code == 2 and "--store takes a seed (--seed 0, say)" in error
    assert run("two-sample", "x*.parquet", "y.csv", *FAST, "--store", "sums.npz")[0] == 0
    code, _, error = run("two-sample", "x*.parquet", "y.csv", *FAST, "--seed", "1", "--store", "sums.npz")
    assert code == 2 and "--store sums.npz was begun with other random numbers" in error


def test_types_of_mixed_tables(run):
    rng = np.random.default_rng(1)
    for name in ("u", "v"):
        table = pd.DataFrame({"grade": rng.choice(["low", "mid", "top"], size=300), "zip": rng.integers(3, size=300)})
        table.assign(truth=table["zip"] > 1).to_csv(f"{name}0.csv", index=False)
    code, out, _ = run("two-sample", "u*.csv", "v*.csv", "--types", "grade=low<mid<top,zip=category,truth=drop", *FAST)
    types = {"grade": ["low", "mid", "top"], "zip": "category", "truth": "drop"}
    expected = two_sample_test("u*.csv", "v*.csv", column_types=types, **GIVEN)
    assert code == 0 and json.loads(out)["statistic"] == expected.statistic
    assert [one["kind"] for one in json.loads(out)["encodings"][0]["columns"]] == ["ordered", "category"]
    code, out, _ = run("columns", "u*.csv", "v*.csv", "--types", "zip=category", *FAST)
    assert code == 0 and [one["column"] for one in json.loads(out)["tests"]] == ["grade", "zip", "truth"]
