"""The command line: what it reads, what it prints, how it exits."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import shrinktest
from shrinktest import FKMSE, independence_test, two_sample_test
from shrinktest.cli import independence, main
from shrinktest.cli.table import parse_table
from shrinktest.datasets import load_eckerle4
from shrinktest.estimators import ESTIMATORS
from typed import typed

FAST = ["--seed", "0", "--resamples", "99"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(*argv, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main([*argv])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def samples(run, tmp_path):
    """Two samples in files a.csv and b.csv, columns in different orders, and as data frames."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 2)).round(6), rng.normal(1.5, size=(10, 2)).round(6)
    np.savetxt(tmp_path / "a.csv", x, delimiter=",", header="u,v", comments="", fmt="%.6f")
    np.savetxt(tmp_path / "b.csv", y[:, ::-1], delimiter=";", header="v;u", comments="", fmt="%.6f")
    return pd.DataFrame(x, columns=["u", "v"]), pd.DataFrame(y, columns=["u", "v"])


# ----------------------------------------------------------------------------------------- the commands


def test_two_sample_is_the_library_on_columns_matched_by_name(run, samples):
    expected = typed(two_sample_test(*samples, estimator="fkmse", rng=0, n_resamples=99), "a.csv", "b.csv")
    code, out, err = run("two-sample", "a.csv", "b.csv", "--estimator", "fkmse", *FAST)
    assert (code, out, err) == (0, f"{expected.summary()}\n", "")


def test_json_keys_are_attributes_of_the_result(run, samples):
    expected = two_sample_test(*samples, rng=0, n_resamples=99)
    code, out, _ = run("two-sample", "a.csv", "b.csv", "--json", *FAST)
    printed = json.loads(out)
    assert code == 0
    assert printed["pvalue"] == expected.pvalue and printed["statistic"] == expected.statistic
    assert printed["null_distribution"] == expected.null_distribution.tolist()
    assert all(hasattr(expected, name) for name in printed.keys() - {"result"})


def test_options_reach_the_two_sample_test(run, samples):
    x, y = samples
    expected = two_sample_test(
        x[["u"]],
        y[["u"]],
        estimator=FKMSE(loo="paper", tuning="joint"),
        kernel="laplacian",
        bandwidth=0.7,
        form="biased",
        n_resamples=49,
        alpha=0.1,
        rng=3,
        gram="dense",
    )
    options = "--columns u --estimator fkmse --set loo=paper --tuning joint --kernel laplacian --bandwidth 0.7"
    more = "--form biased --resamples 49 --alpha 0.1 --seed 3 --workers 1 --gram dense --json"
    code, out, _ = run("two-sample", "a.csv", "b.csv", *options.split(), *more.split())
    assert code == 0
    assert json.loads(out) == json.loads(typed(expected, "a.csv", "b.csv").to_json())


def test_tuning_and_infinite_parameters(run, samples):
    _, out, _ = run("two-sample", "a.csv", "b.csv", "--estimator", "skmse", "--tuning", "sample", "--json", *FAST)
    assert json.loads(out)["estimator"] == "SKMSE(tuning='sample')"
    _, out, _ = run("two-sample", "a.csv", "b.csv", "--estimator", "fkmse", "--set", "lam=inf", "--json", *FAST)
    assert json.loads(out)["statistic"] == 0.0


def test_exhaustive_null_on_request(run):
    code, out, _ = run("two-sample", "-", "b.csv", "--resamples", "inf")
    assert code == 2  # b.csv does not exist
    with open("b.csv", "w") as file:
        file.write("4\n5\n7\n")
    code, out, _ = run("two-sample", "-", "b.csv", "--resamples", "inf", "--json", stdin="1\n2\n3\n")
    assert code == 0 and json.loads(out)["exact"] is True


def test_independence_of_the_packaged_data(run):
    data = pd.DataFrame(dict(zip(["wavelength", "transmittance"], load_eckerle4(), strict=True)))
    expected = independence_test(data[["wavelength"]], data[["transmittance"]], rng=0, n_resamples=99)
    code, out, err = run("independence", "eckerle4", *FAST)
    assert (code, out, err) == (0, f"{expected.summary()}\n", "")
    columns = ("--x", "wavelength", "--y", "transmittance")
    assert run("independence", "eckerle4", *columns, *FAST) == (code, out, err)


def test_options_reach_the_independence_test(run):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(14, 4)).round(6)
    np.savetxt("data.csv", table, delimiter="\t", header="a\tb\tc\td", comments="", fmt="%.6f")
    data = pd.DataFrame(table, columns=list("abcd"))
    expected = independence_test(
        data[["b"]],
        data[["d", "a"]],
        kernel_x="laplacian",
        bandwidth_x=2.0,
        bandwidth_y=(0.5, 2.0),
        rng=0,
        n_resamples=99,
        gram="nystrom",
        rank=5,
    )
    options = "--x b --y d,a --kernel-x laplacian --bandwidth-x 2 --bandwidth-y 0.5,2 --gram nystrom --rank 5 --json"
    code, out, _ = run("independence", "data.csv", *options.split(), *FAST)
    assert code == 0
    assert json.loads(out) == json.loads(typed(expected).to_json())


def test_estimators_are_listed_one_a_line(run):
    code, out, err = run("estimators")
    lines = out.splitlines()
    assert code == 0 and err == ""
    assert [line.split()[0] for line in lines] == list(ESTIMATORS)
    assert all(line.endswith(ESTIMATORS[line.split()[0]].summary) for line in lines)


def test_version_and_help(run):
    assert run("--version") == (0, f"shrinktest {shrinktest.__version__}\n", "")
    for command in ([], ["two-sample"], ["independence"], ["estimators"]):
        code, out, err = run(*command, "--help")
        assert code == 0 and out.startswith("usage: shrinktest") and err == ""


# -------------------------------------------------------------------------------------------- exit codes


def test_rejection_is_an_exit_code_only_on_request(run):
    arguments = ("independence", "eckerle4", *FAST)
    assert run(*arguments)[0] == 0
    assert run(*arguments, "--exit-code")[0] == 1
    assert run(*arguments, "--exit-code", "--alpha", "0.011")[0] == 1
    assert run(*arguments, "--exit-code", "--alpha", "0.009")[0] == 0  # 99 relabellings cannot reach it


def test_warnings_are_one_line(run):
    code, out, err = run("independence", "eckerle4", "--alpha", "0.001", *FAST)
    assert code == 0 and out
    assert err.startswith("shrinktest: warning: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["two-smaple"],
        ["two-sample", "a.csv"],
        ["two-sample", "a.csv", "b.csv", "--resamples", "many"],
        ["two-sample", "a.csv", "b.csv", "--bandwidth", "wide"],
        ["two-sample", "a.csv", "b.csv", "--set", "lam"],
        ["two-sample", "a.csv", "b.csv", "--est", "kme"],
        ["independence", "eckerle4", "--header", "perhaps"],
    ],
)
def test_wrong_usage_exits_with_2(run, argv):
    code, out, err = run(*argv)
    assert (code, out) == (2, "") and "error: " in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--estimator fkms", "Did you mean 'fkmse'?"),
        ("--estimator kme --set lam=1", "kme has no parameters: leave out lam"),
        ("--estimator kme --tuning joint", "kme has no parameters: leave out --tuning"),
        ("--estimator fkmse --set lamb=1", "Did you mean 'lam'?"),
        ("--estimator fkmse --set lam=abc", "lam must be a number, got 'abc'"),
        ("--estimator fkmse --set lam=-1", "lam must be"),
        ("--estimator fkmse --set lam=1 --tuning joint", "--tuning joint has nothing to tune"),
        ("--kernel-x gausian", "Did you mean 'gaussian'?"),
        ("--bandwidth-y 0", "bandwidth"),
        ("--form biassed", "Did you mean 'biased'?"),
        ("--nan-policy omitt", "Did you mean 'omit'?"),
        ("--alpha 2", "--alpha must lie strictly between 0 and 1"),
        ("--resamples -1", "--resamples must be"),
        ("--workers 0", "--workers must be"),
        ("--gram full", "--gram must be one of"),
        ("--max-memory 1000 --estimator fkmse", "while being made, more than --max-memory 1000 bytes"),
        ("--seed -1", "seed"),
        ("--plot null.xyz", "must end in one of"),
        ("--plot nowhere/null.png", "no directory nowhere"),
        ("--x wavelength", "both --x and --y; eckerle4 has wavelength, transmittance"),
        ("--x wavelenght --y transmittance", "Did you mean 'wavelength'?"),
        ("--x wavelength --y wavelength:transmittance", "'wavelength' is in both"),
        ("--x wavelength,wavelength --y transmittance", "each once"),
    ],
)
def test_bad_choices_are_one_line(run, options, said):
    code, out, err = run("independence", "eckerle4", *options.split())
    assert (code, out) == (2, "")
    assert err.startswith("shrinktest: error: ") and err.count("\n") == 1
    assert said in err


def test_interrupt_and_closed_pipe(run, monkeypatch, tmp_path):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(independence, "independence_test", interrupted)
    assert run("independence", "eckerle4") == (130, "", "shrinktest: interrupted\n")

    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", closed)
        assert main(["estimators"]) == 141


# --------------------------------------------------------------------------------------- what it reads


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.csv is empty"),
        ("\n\n", "a.csv is empty"),
        ("u,v\n", "a.csv has a header and no rows"),
        ("u,u\n1,2\n", "more than one column named 'u'"),
        ("u,v\n1,2\n3\n", "line 3 has 1 cell, line 1 has 2"),
        ("u,v\n1,2\n\n3,x4\n", "a.csv: line 4, column 'v': 'x4' is not a number; correct it, choose"),
        ("u,v\n3,1_000\n", "a.csv: line 2, column 'v': '1_000' is not a number"),
        (
            "u;v\n1,5;2\n",
            "a.csv: line 2, column 'u': '1,5' is not a number; read commas as decimal points with --decimal ,",
        ),
        ('u,v\n1,"2\n', "a.csv: line 2: unexpected end of data"),
        ("w,v\n1,2\n", "a.csv has w, v and b.csv has v, u; test those of all files with --columns v"),
        ("1,2\n3,4\n", "a.csv has 1, 2 (no header, hence numbers) and b.csv has v, u; name them alike"),
        ("u,v\n1,inf\n2,3\n", "a.csv: line 2, column 'v': 'inf' is an infinite value; correct it"),
        (
            "u,v\n1,NA\n2,3\n",
            "a.csv: line 2, column 'v' is missing; fill it in, drop such rows with --nan-policy omit, or",
        ),
        ("u,v\n\n1,2\n,NA\n", "a.csv: line 4, column 'u' is missing (and 1 more); fill it in"),
        ("u,v\n1,2\n", "at least 2"),
        (b"\xff\xfe\x00", "a.csv is not text in UTF-8"),
    ],
)
def test_bad_files_are_one_line(run, samples, tmp_path, text, said):
    (tmp_path / "a.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = run("two-sample", "a.csv", "b.csv", *FAST)
    assert (code, out) == (2, "")
    assert err.startswith("shrinktest: error: ") and err.count("\n") == 1
    assert said in err


def test_files_that_cannot_be_read(run, samples, tmp_path):
    assert run("two-sample", "a.csv", "c.csv")[2] == "shrinktest: error: c.csv: No such file or directory\n"
    assert run("two-sample", "a.csv", ".")[0] == 2
    assert "only one of the two" in run("two-sample", "-", "-")[2]
    (tmp_path / "c.csv").write_text("u,w\n1,2\n3,4\n")
    assert "c.csv must be one of 'u', 'w'; got 'v'" in run("two-sample", "a.csv", "c.csv", "--columns", "v")[2]


def test_standard_input(run, samples, tmp_path):
    expected = two_sample_test(*samples, rng=0, n_resamples=99)
    for files in (["-", "b.csv"], ["a.csv", "-"]):
        names = ["standard input" if file == "-" else file for file in files]
        stdin = (tmp_path / ("a.csv" if files[0] == "-" else "b.csv")).read_text()
        printed = f"{typed(expected, *names).summary()}\n"
        assert run("two-sample", *files, *FAST, stdin=stdin) == (0, printed, "")


def test_missing_cells_and_the_nan_policy(run, samples, tmp_path):
    x, y = samples
    lines = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([*lines, ",1", "NA,2", "3,NaN"]))
    expected = two_sample_test(x, y, rng=0, n_resamples=99)
    code, out, _ = run("two-sample", "a.csv", "b.csv", "--nan-policy", "omit", "--json", *FAST)
    assert code == 0 and json.loads(out)["pvalue"] == expected.pvalue
    code, out, _ = run("two-sample", "a.csv", "b.csv", "--nan-policy", "propagate", "--json", *FAST)
    assert code == 0 and json.loads(out)["pvalue"] is None
    code, _, err = run("two-sample", "a.csv", "b.csv", "--nan-policy", "propagate", "--plot", "p.png", *FAST)
    assert code == 2 and "values are missing" in err


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("1,2\n3,4\n", ("1", "2"), 2),
        ("a,b\n1,2\n", ("a", "b"), 1),
        ("\ufeffa,b\r\n1,2\r\n", ("a", "b"), 1),
        ('"a, and b",c\n1,2\n', ("a, and b", "c"), 1),
        (",b\n1,2\n", ("Unnamed: 0", "b"), 1),
        ("a\tb\n1\t2\n", ("a", "b"), 1),
        ("a; b\n1; 2\n", ("a", "b"), 1),
        ("1,NA\n3,4\n", ("1", "2"), 2),
        ("1.5,good\n2.5,bad\n", ("1", "2"), 2),  # labels, not a header
        ("height,grade\n2.5,bad\n", ("height", "grade"), 1),
        ("2019,2020,grade\n1,2,3\n", ("2019", "2020", "grade"), 1),
        ("name\n1\n", ("name",), 1),
    ],
)
def test_headers_and_delimiters_are_recognised(text, names, rows):
    table = parse_table(text, "data.csv")
    assert (table.names, len(table.rows)) == (names, rows)


def numbers_of(table, *names):
    return [column.values.tolist() for column in table.columns(names, {}).columns]


def test_header_can_be_stated():
    assert parse_table("1,2\n3,4\n", "data.csv", header="yes").names == ("1", "2")
    assert numbers_of(parse_table("1,2\n3,4\n", "data.csv", header="yes"), "1", "2") == [[3.0], [4.0]]
    assert len(parse_table("a,2\n3,4\n", "data.csv", header="no").rows) == 2


def test_columns_by_name_and_by_range():
    table = parse_table("a,b,c:d,e\n1,2,3,x\n", "data.csv")
    assert table.select("c:d, a") == ["c:d", "a"]
    assert table.select("a:b") == ["a", "b"]
    assert numbers_of(table, "b", "a") == [[2.0], [1.0]]  # text in a column that is not asked for is no error
    assert parse_table("1,2,3\n", "data.csv").select("2:3") == ["2", "3"]


# ---------------------------------------------------------------------------------- pictures, processes


def test_plot_is_saved_beside_the_summary(run, samples, tmp_path):
    plain = run("two-sample", "a.csv", "b.csv", *FAST)
    assert run("two-sample", "a.csv", "b.csv", "--plot", "null.png", *FAST) == plain
    assert (tmp_path / "null.png").read_bytes().startswith(b"\x89PNG")


def test_plot_without_matplotlib_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    code, _, err = run("independence", "eckerle4", "--plot", "null.png")
    assert code == 2 and "pip install 'shrinktest[plot]'" in err


def test_as_a_process():
    command = [
        sys.executable,
        "-m",
        "shrinktest",
        "independence",
        "eckerle4",
        "--json",
        "--progress",
        *FAST,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_observations"] == [35]
