"""``shrinktest equivalence``: the library's result with the names of the files, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import equivalence_test
from shrinktest.cli import main
from typed import typed


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in a folder with tables of u, v and team."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in {"before": 0.0, "after": 0.05, "other": 2.0}.items():
        table = pd.DataFrame(rng.normal(shift, 1.0, size=(80, 2)).round(5), columns=list("uv"))
        table["team"] = np.arange(80) // 2
        table.to_csv(f"{name}.csv", index=False)

    def run(*argv):
        code = main(["equivalence", *argv])
        return code, *capsys.readouterr()

    return run


def tables(*names, columns=("u", "v")):
    return [pd.read_csv(f"{name}.csv")[list(columns)] for name in names]


TWO = ["before.csv", "after.csv"]
NAMES = ("before", "after")
ASKED = ["--margin", "0.2", "--on", "distance"]
VARIABLES = ["before.csv", "--margin", "0.2", "--on", "dependence", "--x", "u", "--y", "v"]
GIVEN = {"margin": 0.2, "scale": "distance", "names": NAMES}


def test_it_is_the_library(run):
    expected = equivalence_test(*tables(*NAMES), **GIVEN)
    code, out, err = run(*TWO, *ASKED, "--columns", "u,v")
    assert (code, out, err) == (0, f"{typed(expected).summary()}\n", "")
    assert out.startswith("The distance of before and after is below .2 (upper limit .")
    code, out, _ = run(*TWO, *ASKED, "--columns", "u,v", "--json", "--exit-code")
    assert code == 0 and json.loads(out)["pvalue"] == expected.pvalue
    assert run("before.csv", "other.csv", *ASKED, "--columns", "u,v", "--exit-code")[0] == 1


def test_options_reach_the_library(run):
    options = ["--alpha", "0.1", "--scale", "rank", "--kernel", "laplacian", "--bandwidth", "2", "--gram", "dense"]
    given = {**GIVEN, "alpha": 0.1, "units": "rank", "kernel": "laplacian", "bandwidth": 2.0, "gram": "dense"}
    expected = equivalence_test(*tables(*NAMES), **given)
    assert run(*TWO, *ASKED, "--columns", "u,v", *options)[1] == f"{typed(expected).summary()}\n"
    paired = equivalence_test(*tables(*NAMES), **GIVEN, paired=True)
    assert run(*TWO, *ASKED, "--columns", "u,v", "--paired")[1] == f"{typed(paired).summary()}\n"
    teams = [one["team"].astype(str).tolist() for one in tables(*NAMES, columns=["team"])]
    grouped = equivalence_test(
        *tables(*NAMES), **GIVEN, groups=[[f"{k}{team}" for team in one] for k, one in enumerate(teams)]
    )
    shared = equivalence_test(*tables(*NAMES), **GIVEN, blocks=[["a"] * 80, ["a"] * 80])
    assert grouped.upper > 0.0 and shared.upper > 0.0


def test_shifts_and_functions_that_separate(run):
    given = {"margin": "shift 0.5", "scale": "auc", "names": NAMES, "estimator": "skmse", "folds": 4, "rng": 3}
    expected = equivalence_test(*tables(*NAMES), **given)
    options = ["--margin", "shift 0.5", "--on", "auc", "--estimator", "skmse", "--folds", "4", "--seed", "3"]
    assert run(*TWO, *options, "--columns", "u,v")[1] == f"{typed(expected).summary()}\n"


@pytest.mark.parametrize("words", [[*TWO, *ASKED, "--columns", "u,v"], [*VARIABLES]])
def test_the_picture(run, tmp_path, words):
    pytest.importorskip("matplotlib")
    assert run(*words, "--plot", "p.png") == run(*words)
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_variables_of_one_file(run):
    u, v = tables("before", columns=["u"])[0], tables("before", columns=["v"])[0]
    expected = equivalence_test(u, v, margin=0.2, scale="dependence", names=("u", "v"))
    line = VARIABLES
    assert run(*line)[1] == f"{typed(expected).summary()}\n"
    teams = tables("before", columns=["team"])[0]["team"].astype(str).tolist()
    grouped = equivalence_test(u, v, margin=0.2, scale="dependence", names=("u", "v"), groups=teams)
    assert run(*line, "--groups", "team")[1] == f"{typed(grouped).summary()}\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" ".join(TWO), "give --margin, how large a difference does not matter, and --on"),
        (f"{' '.join(TWO)} --margin 0.1", "such as --margin 0.05 --on distance"),
        (f"{' '.join(TWO)} --margin 0.1 --on mmd", "--on must be one of 'distance', 'auc', 'dependence'; got 'mmd'"),
        (
            f"{' '.join(TWO)} --margin 2 --on distance",
            "a margin of 1 or above denies nothing; with --on distance it is",
        ),
        (f"{' '.join(TWO)} --margin much --on distance", "--margin much is neither a number nor 'shift 0.2'"),
        (f"{' '.join(TWO)} --margin 0.1 --on distance --scale metres", "--scale must be one of"),
        (f"{' '.join(TWO)} --margin 0.1 --on distance --estimator fkmse", "--estimator is not for --on distance"),
        (f"{' '.join(TWO)} --margin 0.1 --on distance --stopping curtailed", "--stopping is not for equivalence"),
        (f"{' '.join(TWO)} --margin 0.1 --on distance --plot no/p.png", "no"),
        (f"{' '.join(TWO)} --margin 0.1 --on distance --x u", "--x is for --on dependence"),
        (f"{' '.join(TWO)} --margin 0.1 --on dependence --x u --y v", "variables of one file"),
        ("before.csv --margin 0.1 --on dependence --x u", "the file, and their columns with --x and --y"),
        ("before.csv --margin 0.1 --on dependence --x u --y v --columns u", "--columns is for samples"),
        ("before.csv --margin 0.1 --on dependence --x u --y u", "column 'u' is in both"),
        ("before.csv --margin 0.1 --on distance", "compares two files, one for each sample; got 1"),
        ("before.csv before.csv --margin 0.1 --on distance", "hold the same rows"),
        (
            f"{' '.join(TWO)} --margin 0.1 --on distance --bandwidth 1 --bandwidth 2",
            "--bandwidth may be repeated where",
        ),
    ],
)
def test_what_it_refuses(run, line, said):
    code, out, err = run(*line.split())
    assert (code, out) == (2, "") and said in err
