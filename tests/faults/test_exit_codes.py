"""Exit codes of the command line: 0 all is well, 1 a difference, 2 no answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of tables: two alike, one shifted, one with a missing value."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in {"a": 0.0, "b": 0.0, "shifted": 3.0, "gaps": 0.0}.items():
        table = pd.DataFrame(rng.normal(shift, 1.0, size=(60, 2)).round(4), columns=["u", "v"])
        if name == "gaps":
            table.iloc[0, 0] = np.nan
        table.to_csv(f"{name}.csv", index=False)

    def run(line):
        code = main(line.split())
        return code, *capsys.readouterr()

    return run


TESTS = [
    "two-sample a.csv b.csv",
    "k-sample a.csv b.csv shifted.csv",
    "independence a.csv --x u --y v",
    "joint a.csv --variable u --variable v",
    "change a.csv",
    "change a.csv --several",
    "columns a.csv b.csv",
    "matrix a.csv",
    "compare a.csv b.csv",
    "calibrate a.csv b.csv --trials 5",
]


@pytest.mark.parametrize("command", TESTS)
def test_without_permutations_there_is_no_answer(run, command):
    code, out, err = run(f"{command} --resamples 0 --exit-code")
    assert (code, out) == (2, "") and err.startswith("shrinktest: error: ") and err.count("\n") == 1


def test_the_error_says_what_is_missing(run):
    said = "shrinktest: error: --exit-code needs a p-value, and this test has none; use n_resamples >= 19\n"
    for command in ("two-sample a.csv b.csv", "compare a.csv b.csv --json", "columns a.csv b.csv --json"):
        assert run(f"{command} --resamples 0 --exit-code") == (2, "", said)
        code, out, err = run(f"{command} --resamples 0")
        assert code == 0 and out and not err


@pytest.mark.parametrize(
    "command", ["two-sample a.csv gaps.csv", "independence gaps.csv --x u --y v", "change gaps.csv"]
)
def test_missing_values_that_propagate_give_no_answer(run, command):
    said = "shrinktest: error: --exit-code needs a p-value, and this test has none; use --nan-policy omit\n"
    assert run(f"{command} --nan-policy propagate --exit-code") == (2, "", said)
    assert run(f"{command} --nan-policy propagate")[0] == 0
    assert run(f"{command} --nan-policy omit --resamples 99 --seed 0 --exit-code")[0] == 0


@pytest.mark.parametrize("margin", ["0.3 --measure distance", "0.8 --measure auc", "0.3 --measure distance --paired"])
def test_equivalence_is_good_news(run, margin):
    shown, _, _ = run(f"equivalence a.csv b.csv --margin {margin} --exit-code")
    assert shown == 0
    assert run(f"equivalence a.csv shifted.csv --margin {margin} --exit-code")[0] == 1
    assert run(f"equivalence a.csv shifted.csv --margin {margin}")[0] == 0


def test_equivalence_of_variables_is_good_news(run):
    assert run("equivalence a.csv --x u --y v --margin 0.4 --measure dependence --exit-code")[0] == 0
    assert run("equivalence a.csv --x u --y v --margin 0.001 --measure dependence --exit-code")[0] == 1


def test_a_difference_is_found(run):
    for command in ("two-sample", "columns", "compare"):
        assert run(f"{command} a.csv shifted.csv --resamples 99 --exit-code")[0] == 1
        assert run(f"{command} a.csv b.csv --resamples 99 --seed 0 --exit-code")[0] == 0
