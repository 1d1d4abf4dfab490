"""The commands `power` and `sample-size`."""

from __future__ import annotations

import csv
import math
from functools import wraps

import numpy as np
import pandas as pd
import pytest

from shrinktest.cli import main
from shrinktest.power import (
    KNOWN_TESTS,
    minimum_detectable_effect,
    power_study,
    solve_sample_size,
)
from shrinktest.power.designs import DESIGNS, FromData

QUICK = ["--trials", "6", "--resamples", "39", "--workers", "1", "--quiet"]


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_list(run):
    code, out, _ = run("power", "--list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [*DESIGNS]


def test_list_of_tests(run):
    code, out, _ = run("power", "--tests")
    assert code == 0
    rows = [line.split(maxsplit=2) for line in out.splitlines()]
    assert [(name, kind) for name, kind, _ in rows] == [
        (name, known.test) for name, known in KNOWN_TESTS.items()
    ]
    assert all(summary for *_, summary in rows)


def test_power_prints_power_and_level(run):
    code, out, err = run(
        "power", "mean-shift", "--estimators", "kme,fkmse:lam_cov=0.3", "--n", "8,16", *QUICK
    )
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith(("kme", "fkmse"))]
    assert [row[:3] for row in rows] == [
        [label, n, "0.05"] for label in ("kme", "fkmse:lam_cov=0.3") for n in ("8", "16")
    ]
    assert "level" in out and "95% interval" in out


def test_csv_has_the_columns_that_scripts_read(run, tmp_path):
    path = tmp_path / "power.csv"
    run("power", "eckerle4", "--n", "7,11", "--alphas", "0.05,0.1", "--csv", path, *QUICK)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "design",
        "estimator",
        "n",
        "alpha",
        "null",
        "power",
        "low",
        "high",
        "trials",
    ]
    assert {row["n"] for row in rows} == {"7", "11"} and {row["null"] for row in rows} == {
        "True",
        "False",
    }
    assert {row["alpha"] for row in rows} == {"0.05", "0.1"} and {
        row["trials"] for row in rows
    } == {"6"}


def test_a_store_goes_on(run, tmp_path):
    command = ["power", "mean-shift", "--n", "8", "--store", tmp_path / "s.sqlite", *QUICK]
    first = run(*command, "--seed", "0")
    assert run(*command) == first
    code, _, err = run(*command, "--seed", "1")
    assert code == 2 and "seed: stored 0, got 1" in err


def test_plots(run, tmp_path):
    assert run("power", "mean-shift", "--n", "8", "--plot", tmp_path / "power.png", *QUICK)[0] == 0
    assert (tmp_path / "power.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.ci
def test_sample_size(run, tmp_path):
    options = [
        "--trials",
        "120",
        "--resamples",
        "39",
        "--workers",
        "1",
        "--quiet",
        "--set",
        "dimension=2",
    ]
    code, out, err = run("sample-size", "mean-shift", *options, "--plot", tmp_path / "n.png")
    assert (code, err) == (0, "")
    assert "the kme test finds the difference, at level 0.05, in about" in " ".join(out.split())
    assert (tmp_path / "n.png").exists()


@pytest.fixture
def pilot(tmp_path):
    """Two files, with one missing cell and groups of two rows, and one file of pairs."""
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({"patient": [f"{c}{i // 2}" for i in range(16)], "dose": rng.normal(size=16)})
        for c in "ab"
    )
    y["dose"] += 3.0
    pairs = x.assign(response=x["dose"] + 0.1 * rng.normal(size=16))
    x.loc[3, "dose"] = np.nan
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "pairs.csv")]
    for path, table in zip(paths, (x, y, pairs), strict=True):
        table.to_csv(path, index=False)
    return paths


@pytest.mark.ci
def test_sample_size_from_pilot_files(run, pilot):
    a, b, pairs = pilot
    few = [
        "--trials",
        "100",
        "--resamples",
        "19",
        "--alpha",
        "0.1",
        "--workers",
        "1",
        "--seed",
        "0",
        "--quiet",
    ]
    tables = [pd.read_csv(path) for path in pilot]
    options = {"n_trials": 100, "n_resamples": 19, "alpha": 0.1, "workers": 1, "rng": 0}
    labels = tuple(table["patient"] for table in tables)
    for typed, design in (
        (
            [a, b, "--groups", "patient", "--nan-policy", "omit"],
            FromData(
                *(table[["dose"]] for table in tables[:2]), groups=labels[:2], nan_policy="omit"
            ),
        ),
        (
            [pairs, "--x", "dose", "--y", "response"],
            FromData(tables[2][["dose"]], tables[2][["response"]], "independence"),
        ),
    ):
        code, out, err = run("sample-size", *typed, "--paragraph", *few)
        assert (code, err) == (0, "") and out.strip() == solve_sample_size(
            design, **options
        ).paragraph()
        assert "resampled from pilot data" in out and "sha256" not in out


@pytest.mark.ci
def test_sample_size_calls_an_estimator_as_it_was_typed(run):
    options = [
        "--trials",
        "100",
        "--resamples",
        "19",
        "--workers",
        "1",
        "--quiet",
        "--set",
        "dimension=1",
    ]
    code, out, err = run("sample-size", "mean-shift", "--estimator", "kme+skmse", *options)
    assert (code, err) == (0, "") and "the kme+skmse test finds the difference" in " ".join(
        out.split()
    )


def test_blocks_of_pilot_files(run, tmp_path, monkeypatch):
    table = pd.DataFrame({"site": list("ab") * 6, "dose": np.arange(12.0)})
    for name in "xy":
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    solved = []
    monkeypatch.setattr(
        "shrinktest.cli.studies.solve_sample_size",
        wraps(solve_sample_size)(lambda **given: solved.append(given["design"])),
    )
    run("sample-size", tmp_path / "x.csv", tmp_path / "y.csv", "--blocks", "site")
    dose = table[["dose"]]
    assert solved == [FromData(dose, dose, blocks=(table["site"], table["site"]))]


@pytest.mark.ci
def test_detectable_effect_is_the_library(run, pilot):
    few = ["--trials", "100", "--resamples", "19", "--workers", "1", "--seed", "0", "--quiet"]
    code, out, err = run("detectable-effect", *pilot[:2], "--n", "20", "--groups", "patient",
                         "--nan-policy", "omit", "--paragraph", *few)  # fmt: skip
    tables = [pd.read_csv(path) for path in pilot[:2]]
    design = FromData(
        *(table[["dose"]] for table in tables),
        groups=tuple(table["patient"] for table in tables),
        nan_policy="omit",
    )
    options = {"n_trials": 100, "n_resamples": 19, "workers": 1, "rng": 0}
    answer = minimum_detectable_effect(design, 20, **options)
    assert (code, err) == (0, "") and out.strip() == answer.paragraph()
    assert "--n is needed" in run("detectable-effect", "mean-shift")[2]
    assert "pass two files" in run("detectable-effect", pilot[0], "--n", "20")[2]


def test_sample_size_with_all_permutations(run, monkeypatch):
    arguments = {}

    @wraps(solve_sample_size)
    def solve(**given):
        arguments.update(given)
        raise ValueError("stop")

    monkeypatch.setattr("shrinktest.cli.studies.solve_sample_size", solve)
    assert run("sample-size", "mean-shift", "--resamples", "inf")[2] == "shrinktest: error: stop\n"
    assert arguments["n_resamples"] == math.inf
    assert (
        "must be a whole number or inf" in run("sample-size", "mean-shift", "--resamples", "all")[2]
    )


@pytest.mark.ci
def test_tests_of_other_packages_by_name(run):
    code, out, err = run("power", "mean-shift", "--estimators", "kme,ks_2samp", "--n", "8", *QUICK)
    assert (code, err) == (0, "") and out.startswith("Power of two-sample tests")
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("kme", "ks"))] == [
        "kme",
        "ks_2samp",
    ]
    options = ["--trials", "100", "--workers", "1", "--quiet", "--set", "dimension=1"]
    code, out, err = run("sample-size", "mean-shift", "--estimator", "ttest-ind", *options)
    assert (code, err) == (0, "") and "the ttest-ind test finds the difference" in " ".join(
        out.split()
    )


@pytest.mark.parametrize(
    ("design", "typed", "kernels"),
    [
        (
            "mean-shift",
            "--kernel gaussian,laplacian --bandwidth 1 --bandwidth 0.5*median",
            {"kernel": ["gaussian", "laplacian"], "bandwidth": [1.0, "0.5 * median"]},
        ),
        ("linear", "--bandwidth grid", {"bandwidth_x": "grid", "bandwidth_y": "grid"}),
        ("eckerle4", "--bandwidth grid", {"bandwidth_x": "grid", "bandwidth_y": "grid"}),
        ("eckerle4", "--kernel laplacian", {"kernel_x": "laplacian", "kernel_y": "laplacian"}),
        ("parity", "--kernel laplacian --bandwidth 2", {"kernels": "laplacian", "bandwidths": 2.0}),
        ("one-apart", "--kernel linear", {"kernel": "linear"}),
    ],
)
def test_kernels_and_bandwidths_reach_the_tests(run, tmp_path, design, typed, kernels):
    options = [*typed.split(), "--seed", "0", "--csv", tmp_path / "t.csv", *QUICK]
    code, _, _ = run("power", design, "--n", "9", *options)
    trials, resamples = (
        int(QUICK[QUICK.index(option) + 1]) for option in ("--trials", "--resamples")
    )
    study = {"n_trials": trials, "n_resamples": resamples, "workers": 1, "rng": 0}
    expected = power_study(design, "kme", 9, test_options=kernels, **study)
    shown = pd.read_csv(tmp_path / "t.csv")
    assert code == 0 and shown["power"].tolist() == expected.to_frame()["power"].tolist()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("power", "name a design"),
        ("power mean-shiftt", "Did you mean 'mean-shift'?"),
        ("power mean-shift --estimators fkmsee", "Did you mean 'fkmse'?"),
        ("power mean-shift --estimators kme:lam=1", "kme has no parameters"),
        ("power mean-shift --set shfit=1", "Did you mean 'shift'?"),
        ("power mean-shift --alphas 2", "alphas must lie strictly between 0 and 1"),
        ("power mean-shift --resamples 9", "use n_resamples >= 19"),
        ("power mean-shift --n 1", "needs n >= 2"),
        ("power eckerle4 --n 40", "Eckerle4 has 35 points"),
        ("power mean-shift --plot nowhere/p.png", "--plot nowhere/p.png cannot be saved"),
        ("power mean-shift --csv nowhere/p.csv", "--csv nowhere/p.csv cannot be saved"),
        ("sample-size mean-shift --estimator kme,skmse", "estimator must be one"),
        ("sample-size linear --ratio 2", "one sample of pairs"),
        ("power linear --estimators ks_2samp", "'ks_2samp' is a two-sample test"),
        ("power mean-shift --estimators ks2samp", "Did you mean 'ks_2samp'?"),
        ("sample-size mean-shift --estimator fkmsee", "Did you mean 'fkmse'?"),
        ("sample-size parity --ratio 2", "one sample of rows"),
        (
            "sample-size mean-shift --groups a",
            "--groups is for files of pilot data, and 'mean-shift' is not a file",
        ),
        ("sample-size a.csv b.csv --set shift=1", "--set is for parameters of a design"),
        ("power one-apart --estimators auto --bandwidth 2", "test_options has 'bandwidth'"),
        (
            "power mean-shift --block-length 0 --n 9",
            "block_length=0 must be a number of rows from 1",
        ),
        ("power parity --estimators kme+skmse+kme", "holds KME() twice"),
        ("power parity --bandwidth 1 --bandwidth 2", "bandwidths has 2 entries"),
        ("power parity --kernel gaussian,laplacian", "kernels has 2 entries"),
        ("power mean-shift --estimators auto --bandwidth 2", "test_options has 'bandwidth'"),
    ],
)
def test_mistakes_are_one_line(run, command, message):
    code, out, err = run(
        *command.split(), *([] if command == "power" else ["--quiet", "--workers", "1"])
    )
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("shrinktest: error: ") and message in err


def test_bars_are_for_terminals(monkeypatch, capsys):
    line = [
        "power",
        "mean-shift",
        "--n",
        "8",
        "--trials",
        "3",
        "--resamples",
        "19",
        "--workers",
        "1",
    ]
    assert main(line) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(line) == 0
    assert "trials" in capsys.readouterr().err
    assert main([*line, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
