"""The command line on tables as people have them: each test is the library on the data frames that pandas reads."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    calibrate,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.cli import input as reading
from shrinktest.cli import main, power
from shrinktest.cli.table import parse_table
from typed import typed

FAST = ["--seed", "0", "--resamples", "39", "--workers", "1"]
GIVEN = {"rng": 0, "n_resamples": 39, "workers": 1}
SIZES = ["S", "M", "L"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with samples a.csv and b.csv of many kinds of columns."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for i, name in enumerate("ab"):
        rows = 20 + i
        data = {
            "income": rng.normal(1000.0 * i, 1000.0, rows).round(),
            "age": rng.integers(20, 60, rows),
            "smoker": rng.random(rows) < 0.4,
            "city": rng.choice(["Rome", "Oslo", "Bonn"], rows),
            "seen": pd.date_range("2024-01-01", periods=rows, freq="36h"),
            "size": rng.choice(SIZES, rows),
            "id": range(rows),
        }
        pd.DataFrame(data).to_csv(f"{name}.csv")  # with the row index, as most files that pandas wrote

    def run(*argv):
        code = main([*argv])
        return code, *capsys.readouterr()

    return run


def table(name):
    return pd.read_csv(f"{name}.csv", parse_dates=["seen"])


def same(shown, expected):
    code, out, err = shown
    assert (code, err) == (0, "") and json.loads(out) == json.loads(expected.to_json())


# --------------------------------------------------------------------------------------- as the library


def test_two_samples_of_all_kinds(run):
    expected = two_sample_test(table("a"), table("b"), **GIVEN)
    same(run("two-sample", "a.csv", "b.csv", "--json", *FAST), typed(expected, "a.csv", "b.csv"))
    assert [code.kind for code in expected.encodings[0].codes] == [
        *("number", "number", "boolean", "category", "date", "category")
    ]
    types = {"size": SIZES, "smoker": "drop", "age": "category"}
    expected = two_sample_test(table("a"), table("b"), column_types=types, scale=None, **GIVEN)
    typed_types = ["--types", "size=S<M<L,smoker=drop,age=category", "--scale", "none"]
    found = run("two-sample", "a.csv", "b.csv", *typed_types, "--json", *FAST)
    same(found, typed(expected, "a.csv", "b.csv"))
    assert expected.encodings[0].codes[1].kind == "category" and expected.encodings[0].codes[-1].levels == tuple(SIZES)


def test_the_other_tests_of_all_kinds(run):
    a, b = table("a"), table("b")
    expected = typed(k_sample_test(a, b, a, **GIVEN), "a.csv", "b.csv", "./a.csv")
    found = run("k-sample", "a.csv", "b.csv", "./a.csv", "--json", *FAST)  # two of one name: as they were typed
    same(found, expected)
    expected = typed(two_sample_test_columns(a, b, **GIVEN), "a.csv", "b.csv")
    same(run("columns", "a.csv", "b.csv", "--json", *FAST), expected)
    expected = typed(independence_test(a[["income", "city"]], a[["smoker", "seen"]], **GIVEN))
    same(run("independence", "a.csv", "--x", "income,city", "--y", "smoker,seen", "--json", *FAST), expected)
    expected = typed(joint_independence_test(a[["income"]], a[["city"]], a[["seen"]], **GIVEN))
    variables = ["--variable", "income", "--variable", "city", "--variable", "seen"]
    same(run("joint", "a.csv", *variables, "--json", *FAST), expected)
    assert expected.names == ("income", "city", "seen")
    expected = typed(independence_matrix(a[["income", "city", "seen"]], **GIVEN))
    same(run("matrix", "a.csv", "--x", "income,city,seen", "--json", *FAST), expected)


def test_calibrate_keeps_rows_whole(run):
    def pvalue(x, y):
        assert set(x["city"]) <= {"Rome", "Oslo", "Bonn"} and "id" not in x.columns
        return two_sample_test(x, y, **GIVEN).pvalue

    a, b = (table(name).drop(columns=["Unnamed: 0", "id"]) for name in "ab")  # no variables
    expected = calibrate(pvalue, a, b, n_trials=8, workers=1)
    code, out, err = run("calibrate", "a.csv", "b.csv", "--trials", "8", "--json", *FAST)
    assert (code, err) == (0, "") and json.loads(out)["pvalues"] == expected.pvalues.tolist()

    def paired(x, y):
        return independence_test(x, y, **GIVEN).pvalue

    a = table("a")
    expected = calibrate(paired, a[["income"]], a[["city"]], kind="independence", n_trials=8, workers=1)
    found = run("calibrate", "a.csv", "--x", "income", "--y", "city", "--trials", "8", "--json", *FAST)
    assert json.loads(found[1])["pvalues"] == expected.pvalues.tolist()
    own = ["--test", "scipy.stats:spearmanr", "--trials", "3"]
    found = run("calibrate", "a.csv", "--x", "income", "--y", "city", *own)
    assert found[0] == 2 and "column 'city' holds category values; leave it out with --types city=drop" in found[2]


def test_missing_cells_as_information(run):
    for name in "ab":
        data = table(name)
        data.loc[::4, "income"] = np.nan
        data.loc[1::5, "city"] = None
        data.to_csv(f"{name}.csv", index=False)
    expected = typed(two_sample_test(table("a"), table("b"), nan_policy="indicator", **GIVEN), "a.csv", "b.csv")
    same(run("two-sample", "a.csv", "b.csv", "--nan-policy", "indicator", "--json", *FAST), expected)
    found = run("calibrate", "a.csv", "b.csv", "--nan-policy", "indicator", "--trials", "3", *FAST)
    assert found[0] == 0
    found = run("two-sample", "a.csv", "b.csv", *FAST)[2]
    assert "a.csv: line 2, column 'income' is missing" in found and "--nan-policy indicator" in found


def test_bandwidths_and_units_by_name(run):
    a, b = (table(name)[["income", "age"]] for name in "ab")
    expected = typed(two_sample_test(a, b, bandwidth={"income": 3.0, "age": 0.5}, **GIVEN), "a.csv", "b.csv")
    options = ["--columns", "income,age", "--json", *FAST]
    same(run("two-sample", "a.csv", "b.csv", "--bandwidth", "age=0.5,income=3", *options), expected)
    expected = typed(two_sample_test(a, b, scale={"income": 1000.0, "age": "mad"}, **GIVEN), "a.csv", "b.csv")
    same(run("two-sample", "a.csv", "b.csv", "--scale", "income=1000,age=mad", *options), expected)
    assert "has no entry for 'age'" in run("two-sample", "a.csv", "b.csv", "--bandwidth", "income=3", *options)[2]
    found = run("columns", "a.csv", "b.csv", "--bandwidth", "income=3", *options)
    expected = typed(two_sample_test_columns(a, b, bandwidth={"income": 3.0}, **GIVEN))
    same(found, expected)


NUMBERS = [
    "independence a.csv --x age,income --y id",
    "joint a.csv --variable age,income --variable id",
    "matrix a.csv --x age,income --y id",
    "closer a.csv --measure dependence --x age --y income --z id",
    "equivalence a.csv --measure dependence --margin 0.5 --x age,income --y id",
    "calibrate a.csv --x age,income --y id --trials 9",
]


@pytest.mark.parametrize("line", NUMBERS)
def test_units_in_the_order_of_columns_are_those_by_name(run, line):
    options = ["--seed", "0"] if line.split()[0] in ("closer", "equivalence") else FAST
    by_name = run(*line.split(), *options, "--scale", "age=2,income=300,id=none")
    assert by_name[0] == 0 and run(*line.split(), *options, "--scale", "2,300,1") == by_name
    code, _, err = run(*line.split(), *options, "--scale", "2,300")
    assert code == 2 and "--scale has 2 numbers for 3 columns of the variables; give one for each" in err


@pytest.mark.parametrize("line", [line for line in NUMBERS if line.split()[0] not in ("independence", "joint")])
def test_bandwidths_in_the_order_of_columns_are_those_by_name(run, line):
    options = ["--seed", "0"] if line.split()[0] in ("closer", "equivalence") else FAST
    by_name = run(*line.split(), *options, "--bandwidth", "age=2,income=0.3,id=5")
    assert by_name[0] == 0 and run(*line.split(), *options, "--bandwidth", "2,0.3,5") == by_name
    code, _, err = run(*line.split(), *options, "--bandwidth", "2,0.3")
    assert code == 2 and "--bandwidth has 2 numbers for 3 columns of the variables; give one for each" in err


def test_bandwidths_that_are_combined_in_the_order_of_columns():
    x, y = (parse_table(f"{name}\n1\n", "t").columns([name], {}) for name in ("x", "y"))
    assert reading.widths_by_variable(["grid", (1.0, 2.0), {"x": 3.0}], [x, y], [1, 1]) == [
        ["grid", (1.0,), {"x": 3.0}],
        ["grid", (2.0,), "median"],
    ]


def test_bandwidths_by_name_are_those_of_each_variable(run):
    a, widths = table("a"), "age=9,income=800"
    line = ["joint", "a.csv", "--variable", "age", "--variable", "income", "--json", *FAST]
    code, out, _ = run(*line, "--bandwidth", widths)
    given = {"bandwidths": [{"age": 9.0}, {"income": 800.0}], **GIVEN}
    expected = joint_independence_test(a[["age"]], a[["income"]], **given)
    assert code == 0 and json.loads(out)["statistic"] == expected.statistic
    code, out, _ = run("matrix", "a.csv", "--x", "age", "--y", "income", "--bandwidth", "age=9", "--json", *FAST)
    expected = independence_matrix(a[["age"]], a[["income"]], bandwidth_x={"age": 9.0}, **GIVEN)
    assert code == 0 and json.loads(out)["tests"][0]["statistic"] == expected.table["statistic"][0]
    for command, more in (
        ("closer", "--measure dependence --z id"),
        ("equivalence", "--measure dependence --margin 0.5"),
    ):
        line = [command, "a.csv", "--x", "age", "--y", "income", *more.split(), "--seed", "0"]
        assert run(*line, "--bandwidth", widths)[0] == 0
        assert run(*line, "--bandwidth", widths)[1] != run(*line)[1]
        assert "a column in --bandwidth must be one of" in run(*line, "--bandwidth", "size=3")[2]


def test_names_are_files_without_folders(run, tmp_path):
    (tmp_path / "new").mkdir()
    table("b").to_csv("new/b.csv", index=False)
    assert json.loads(run("two-sample", "a.csv", "new/b.csv", "--json", *FAST)[1])["names"] == ["a.csv", "b.csv"]
    out = run("two-sample", "b.csv", "new/b.csv", *FAST)[1]
    assert "\nnew/b.csv  " in out and "\nb.csv  " in out  # which tells them apart


def test_a_picture_along_a_column_with_an_axis(run, tmp_path):
    code, _, err = run("two-sample", "a.csv", "b.csv", "--witness", "w.png", "--coordinates", "income,seen", *FAST)
    assert (code, err) == (0, "") and (tmp_path / "w.png").stat().st_size > 1000
    found = run("two-sample", "a.csv", "b.csv", "--witness", "w.png", "--coordinates", "city", *FAST)
    assert found[0] == 2 and "'city', which is not among the columns tested that have an axis" in found[2]


# --------------------------------------------------------------------------------- cells, types and marks


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            "u,v\n1,2\n3,x\n4,5\n",
            "",
            "a.csv: line 3, column 'v': 'x' is not a number; correct it, choose other columns",
        ),
        ("u,v\n1,2\n3,x\n4,5\n", "", "or say that all are categories with --types v=category"),
        (
            "u;v\n1,5;2\n",
            "",
            "line 2, column 'u': '1,5' is not a number; read commas as decimal points with --decimal ,",
        ),
        ("u;v\n1.5;2\n", "--decimal ,", "'1.5' is not a number; leave out --decimal ,"),
        (
            'u,v\n"2,491",2\n"985",3\n',
            "",
            "write numbers without commas between thousands, or, where they are decimal points, say --decimal ,",
        ),
        ('u,v\n"2,491,000.5",2\n"985",3\n', "", "is not a number; write numbers without commas between thousands\n"),
        (
            "u;v\n1.234;2\n985,5;3\n",
            "--decimal ,",
            "write numbers without points between thousands, or, where they are decimal points, leave out --decimal ,",
        ),
        ("u;v\n1.234,5;2\n985;3\n", "--decimal ,", "write numbers without points between thousands\n"),
        (
            f"u,v\n1,{10**18}\n2,{10**18 + 1}\n3,{10**18 + 2}\n",
            "",
            "a.csv, column 'v', holds whole numbers with too many digits for floats",
        ),
        (f"u,v\n1,{10**18}\n2,{10**18 + 1}\n", "", "leave it out: --types v=drop"),
        ("# made by hand\nu,v\n1,2\n", "", "line 1 begins with #: skip such lines with --comment '#'"),
        ("u,v\n1,2\n3,4\n# end,\n", "", "'# end' is not a number; correct it, choose other columns, or say"),
        ("u,v\n1,2\n3,4\n# end,\n", "", "or skip such lines with --comment '#'"),
        ("u,v\n1,a\n3,b\n", "--types v=number", "line 2, column 'v': 'a' is not a number"),
        ("u,v\n1,a\n3,b\n", "--types w=drop", "a column in --types must be one of 'u', 'v'; got 'w'"),
        ("u,v\n1,a\n3,b\n", "--types v=ordered", "give the levels in their order such as --types 'size=S<M<L'"),
        ("u,v\n1,a\n3,b\n", "--types v=a<c", "--types v lacks levels that a.csv, column 'v', has: 'b'"),
        ("u,v\n1,a\n3,b\n", "--types v", "--types must look like zip=category,id=drop,size=S<M<L; got 'v'"),
        ("u,v\n1,a\n3,b\n", "--types u=drop,v=drop", "no column of a.csv is left to test"),
        ("u,v\n1,a\n3,b\n", "", "column 'v' holds categories in a.csv and numbers in b.csv"),
        ("u,v\n1,a\n3,b\n", "", "read both as categories (--types v=category), or leave it out (--types v=drop)"),
        ("2020,2021\n0.5,0.7\n1.5,2.5\n", "", "line 1: 2020, 2021 may be names of the columns, or an observation"),
        ("2020,2021\n0.5,0.7\n1.5,2.5\n", "", "say which with --header yes or --header no"),
    ],
)
def test_what_cannot_be_read_says_what_to_type(run, tmp_path, text, options, said):
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv").write_text("u,v\n1,2\n3,4\n5,7\n")
    code, out, err = run("two-sample", "a.csv", "b.csv", *options.split(), *FAST)
    assert (code, out) == (2, "") and err.count("\n") == 1 and said in err, err


def test_decimal_commas_and_comments(run, tmp_path):
    (tmp_path / "a.csv").write_text('# "by hand\nu;v\n1,5;2\n  # more\n2,5;"3,5"\n0,5;1\n')
    (tmp_path / "b.csv").write_text("u;v\n1,25;2\n2,75;1e1\n0,5;4\n")
    x = pd.DataFrame({"u": [1.5, 2.5, 0.5], "v": [2.0, 3.5, 1.0]})
    y = pd.DataFrame({"u": [1.25, 2.75, 0.5], "v": [2.0, 10.0, 4.0]})
    expected = typed(two_sample_test(x, y, alpha=0.5, **GIVEN), "a.csv", "b.csv")
    options = ["--decimal", ",", "--comment", "#", "--alpha", "0.5", "--json", *FAST]
    same(run("two-sample", "a.csv", "b.csv", *options), expected)


def test_types_reach_only_what_is_tested(run):
    expected = typed(two_sample_test(table("a")[["age"]], table("b")[["age"]], **GIVEN), "a.csv", "b.csv")
    options = ["--columns", "age", "--types", "city=drop,size=S<M<L", "--json", *FAST]
    same(run("two-sample", "a.csv", "b.csv", *options), expected)


DROPPED = {
    "independence a.csv --x age,city --y income": "independence a.csv --x age --y income",
    "independence a.csv --x age --y income --given city,size": "independence a.csv --x age --y income --given size",
    "joint a.csv --variable age --variable income,city": "joint a.csv --variable age --variable income",
    "matrix a.csv --x age,city --y income": "matrix a.csv --x age --y income",
    "closer a.csv --measure dependence --x age --y income,city --z size": (
        "closer a.csv --measure dependence --x age --y income --z size"
    ),
    "equivalence a.csv --measure dependence --margin 0.5 --x age --y income,city": (
        "equivalence a.csv --measure dependence --margin 0.5 --x age --y income"
    ),
    "calibrate a.csv --x age,city --y income --trials 9": "calibrate a.csv --x age --y income --trials 9",
    "change a.csv --columns age,city": "change a.csv --columns age",
    "change a.csv --columns age --time seen": "change a.csv --columns age --time seen",
    "two-sample a.csv b.csv --columns age,city": "two-sample a.csv b.csv --columns age",
    "two-sample a.csv b.csv --columns age --covariates city,size": (
        "two-sample a.csv b.csv --columns age --covariates size"
    ),
    "compare a.csv b.csv --columns age,city": "compare a.csv b.csv --columns age",
}


@pytest.mark.parametrize("line", DROPPED)
def test_a_column_that_is_named_and_dropped_is_left_out(run, line):
    refused = {"closer": ["--seed", "0"], "equivalence": ["--seed", "0"]}
    options = refused.get(line.split()[0], FAST)
    code, out, _ = run(*line.split(), "--types", "city=drop,seen=drop", *options)
    assert (code, out) == run(*DROPPED[line].split(), *options)[:2] and code == 0


@pytest.mark.parametrize(
    "line",
    [
        "independence a.csv --x age --y city",
        "independence a.csv --x age --y income --given city",
        "joint a.csv --variable age --variable city",
        "matrix a.csv --x city --y age",
        "change a.csv --columns city",
        "two-sample a.csv b.csv --columns age --covariates city",
        "compare a.csv b.csv --columns city",
    ],
)
def test_a_variable_that_is_dropped_whole_is_an_error(run, line):
    code, out, err = run(*line.split(), "--types", "city=drop", *FAST)
    assert (code, out) == (2, "") and "--types drops all of the columns asked for (city); leave one of them" in err


def test_text_with_too_many_values(run, tmp_path):
    for name in "ab":
        rows = len(table(name))
        table(name)[["age"]].assign(name=[f"some {name}{i}" for i in range(rows - 1)] + [f"some {name}0"]).to_csv(
            f"{name}.csv"
        )
    err = run("two-sample", "a.csv", "b.csv", *FAST)[2]
    assert "leave it out (--types name=drop)" in err and "(--types name=category)" in err and "transform" not in err


# --------------------------------------------------------------------------------------------- the header


@pytest.mark.parametrize(
    "text",
    [
        "2019,2020,2021\n5,7,9\n6,8,3\n",
        "2020,2021\n1.5,2.5\n3.5,0.5\n",
        "0,1\n1.5,2.5\n3.5,0.5\n",  # as pandas writes columns without names
        "0,1,2,3\n1,5,3,2\n4,2,5,1\n",
        "1,2,3\n100,250,300\n120,300,280\n",
        "2020\n0.5\n1.5\n",
        "1.5,x\n2,3\n4,5\n",  # a header, or a first row with a slip
    ],
)
def test_a_first_row_that_may_be_names_is_asked_about(text):
    with pytest.raises(ValueError, match="say which with --header yes or --header no"):
        parse_table(text, "data.csv")
    assert parse_table(text, "data.csv", "yes").names == tuple(text.split("\n")[0].split(","))
    assert len(parse_table(text, "data.csv", "no").rows) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n5,6\n", ("1", "2")),
        ("5\n1.5\n2.5\n", ("1",)),
        ("1,2.5\n1.5,2\n0.5,1.5\n", ("1", "2")),
        ("3,1,2\n1,4,2\n", ("1", "2", "3")),
        ("2020-01-01\n2020-01-02\n", ("1",)),
        ("True,1\nFalse,3\n", ("1", "2")),
        ("1.5,good\n2.5,\n3.5,bad\n", ("1", "2")),  # a missing cell below is no sign of a header
        ("year,2019,2020\na,1.5,2.5\nb,3,4\n", ("year", "2019", "2020")),
        ("city,grade\nRome,good\n", ("city", "grade")),
        ("2020-01-01,2020-01-02\n1,2\n3,4\n", ("2020-01-01", "2020-01-02")),
    ],
)
def test_headers(text, names):
    assert parse_table(text, "data.csv").names == names


def test_columns_by_name_and_by_position():
    found = parse_table("a,b,c:d,e\n1,2,3,4\n", "data.csv")
    assert found.select("1:3") == ["a", "b", "c:d"] and found.select("4,a") == ["e", "a"]
    assert found.select("b:4") == ["b", "c:d", "e"]
    years = parse_table("2019,1,x\n2,3,a\n", "data.csv", "yes")
    assert years.select("1") == ["1"] and years.select("3") == ["x"]  # a name before a position
    with pytest.raises(ValueError, match=r"has 4 columns: a, b, c:d, e; there is none at position 5"):
        found.select("1:5")
    for wanted in ("0", "0:2"):
        with pytest.raises(ValueError, match="there is none at position 0; positions count from 1, and 1:3 includes"):
            found.select(wanted)


def test_names_with_spaces_are_quoted():
    with pytest.raises(ValueError, match="categories with --types 'v w=category'"):
        parse_table("u,v w\n1,2\n3,x\n", "data.csv").columns(["v w"], {})


def test_columns_without_a_name():
    assert parse_table(",b,\n0,5,1\n", "data.csv").names == ("Unnamed: 0", "b", "Unnamed: 2")
    assert parse_table(",Unnamed: 0,b\n0,5,1\n", "data.csv").names == ("Unnamed: 0.1", "Unnamed: 0", "b")


# --------------------------------------------------------------------------------- usage and interruption


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("two-sample a.csv b.csv --resamples x", "--resamples must be a whole number or inf; got 'x'"),
        ("two-sample a.csv b.csv --seed 1.5", "--seed must be a whole number; got '1.5'"),
        ("two-sample a.csv b.csv --alpha x", "--alpha must be a number; got 'x'"),
        ("two-sample a.csv b.csv --alpha 2", "--alpha must lie strictly between 0 and 1, got 2.0"),
        ("two-sample a.csv b.csv --seed", "--seed: expected one argument"),
        ("two-sample a.csv b.csv --header maybe", "--header must be one of 'auto', 'yes', 'no'; got 'maybe'"),
        ("two-sample a.csv b.csv --decimal ;", "--decimal must be one of '.', ','; got ';'"),
        ("two-sample a.csv b.csv --est kme", "two-sample has no option --est. Did you mean --estimator?"),
        ("two-sample a.csv b.csv --sead 1", "two-sample has no option --sead. Did you mean --seed?"),
        ("power mean-shift --json", "power has no option --json. See shrinktest power --help"),
        ("two-sample a.csv b.csv c.csv", "two-sample has no use for c.csv. See shrinktest two-sample --help"),
        ("two-sample a.csv", "the following arguments are required: B.csv; see shrinktest two-sample --help"),
        ("two-smaple a.csv", "Did you mean 'two-sample'?"),
        ("power mean-shift --n x", "--n must be numbers separated by commas; got 'x'"),
        ("sample-size mean-shift --trials x", "--trials must be a whole number; got 'x'"),
        ("two-sample a.csv b.csv --bandwidth income=x", "--bandwidth must be a number; got 'x'"),
        ("two-sample a.csv b.csv --types a=drop,a=number", "'a' is there twice"),
    ],
)
def test_wrong_words_are_one_line(run, line, said):
    code, out, err = run(*line.split())
    assert (code, out) == (2, "") and err.startswith("shrinktest: error: ") and err.count("\n") == 1 and said in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("two-sample x/one.csv b.csv", "x/one.csv has 1 row; a test needs at least 2"),
        ("two-sample b.csv x/one.csv", "x/one.csv has 1 row; a test needs at least 2"),
        ("columns x/one.csv b.csv", "x/one.csv has 1 row;"),
        ("calibrate x/one.csv b.csv", "x/one.csv has 1 row;"),
        ("k-sample b.csv x/one.csv a.csv", "x/one.csv has 1 row;"),
        ("two-sample a.csv b.csv --paired", "as many rows in a.csv as in b.csv"),
        ("two-sample x/gap.csv b.csv --nan-policy omit", "column 'age' of x/gap.csv: all values but one are missing"),
        ("two-sample a.csv b.csv --bandwidth 1,2,3", "--bandwidth has 3 entries"),
        ("two-sample a.csv b.csv --columns age --bandwidth 1e-30", ""),
    ],
)
def test_errors_and_notes_name_the_file_as_it_was_typed(run, line, said):
    Path("x").mkdir()
    for name in ("a", "b"):
        table(name)[["age"]].to_csv(f"{name}.csv", index=False)
    Path("x/one.csv").write_text("age\n30\n")
    Path("x/gap.csv").write_text("age\n30\nNA\n")
    code, out, err = run(*line.split(), "--seed", "0")
    assert said in err and not re.search(r"\b[XY]\b", err) and (code == 0) == (not said)
    if code == 0:
        assert "a.csv and b.csv: the bandwidth 1e-30 is so small" in " ".join(out.split())


def test_interrupted_studies_say_where_the_trials_are(run, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(power, "power_study", interrupted)
    line = ["power", "mean-shift", "--n", "8", "--trials", "3", "--quiet"]
    assert run(*line) == (130, "", "shrinktest: interrupted\n")
    kept = "shrinktest: interrupted; what was found so far is in s.sqlite, and the same command goes on from there\n"
    assert run(*line, "--store", "s.sqlite") == (130, "", "shrinktest: interrupted\n")  # before there was any
    open("s.sqlite", "x").close()
    assert run(*line, "--store", "s.sqlite") == (130, "", kept)


def test_names_that_tell_samples_apart():
    found = [parse_table("u\n1\n", path) for path in ("x/a.csv", "y/a.csv")]
    assert reading.names_of(found) == ("x/a.csv", "y/a.csv") and reading.names_of(found[:1]) == ("a.csv",)


def test_a_report_on_two_tables_takes_types(run):
    report = ["compare", "a.csv", "b.csv", "--json", *FAST]
    columns = json.loads(run(*report, "--types", "size=S<M<L,city=drop")[1])["overall"]["columns"][0]
    assert "size" in columns and "city" not in columns
    assert "a column in --types must be one of" in run(*report, "--types", "cities=drop")[2]


def test_labels_are_those_of_categories(tmp_path, capsys):
    """1.0 in one file is 1 in the other."""
    rng, pvalues = np.random.default_rng(0), []
    values = rng.normal(size=(2, 40))
    for shown in (["{}", "{}"], ["{}", "{}.0"]):
        paths = [tmp_path / f"{name}.csv" for name in "xy"]
        for path, one, label in zip(paths, values, shown, strict=True):
            path.write_text("v,g\n" + "".join(f"{v},{label.format(i % 4)}\n" for i, v in enumerate(one)))
        assert (
            main(["two-sample", *map(str, paths), "--blocks", "g", "--seed", "0", "--resamples", "99", "--json"]) == 0
        )
        pvalues.append(json.loads(capsys.readouterr().out)["pvalue"])
    assert pvalues[0] == pvalues[1]


def test_every_error_is_a_line(tmp_path, capsys):
    np.save(tmp_path / "text.npy", np.array(["a", "b"] * 5))
    path = str(tmp_path / "text.npy")
    assert main(["two-sample", path, path]) == 2
    assert "must hold real numbers, got dtype <U1" in capsys.readouterr().err
    (tmp_path / "x.csv").write_text("v\n" + "".join(f"{i % 7}\n" for i in range(20)))
    path = str(tmp_path / "x.csv")
    assert main(["two-sample", "--seed", "0", "--", path, path, "--effect"]) == 2
    assert "--effect stands after --, behind which there are files only" in capsys.readouterr().err
    assert main(["k-sample", path, path, path, "--seed", "0", "--resamples", "99"]) == 0
    out = capsys.readouterr().out
    assert all(f"x.csv ({i})" in out for i in (1, 2, 3))


def test_signs_that_an_output_does_not_know_do_not_cost_the_result(tmp_path):
    for name, more in (("x", 0), ("y", 1)):
        rows = "".join(f"{i % 7 + more},k{i % 2}\n" for i in range(20))
        (tmp_path / f"{name}.csv").write_text(f"größe,k\n{rows}", encoding="utf-8")
    words = ["compare", "x.csv", "y.csv", "--seed", "0", "--resamples", "99", "--estimator", "kme"]
    ran = subprocess.run(
        [sys.executable, "-m", "shrinktest", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 and "gr??e" in ran.stdout, ran.stderr
