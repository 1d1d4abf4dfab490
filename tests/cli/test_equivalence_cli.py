"""``shrinktest equivalence``: the library's result with the names of the files, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import equivalence_test
from shrinktest.cli import main
from typed import typed

TWO, UV = ["before.csv", "after.csv"], ["--columns", "u,v"]
GIVEN = {"margin": 0.2, "measure": "distance", "names": ("before", "after")}
ASKED = ["--margin", "0.2", "--measure", "distance"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in a folder with tables of u, v and team."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in {"before": 0.0, "after": 0.05, "other": 2.0}.items():
        table = pd.DataFrame(rng.normal(shift, 1.0, size=(80, 2)).round(5), columns=list("uv"))
        table.assign(team=np.arange(80) // 2).to_csv(f"{name}.csv", index=False)

    def run(*argv):
        code = main(["equivalence", *argv])
        return code, *capsys.readouterr()

    return run


def test_it_is_the_library(run):
    def summary(*data, **given):
        return f"{typed(equivalence_test(*data, **given)).summary()}\n"

    data = [pd.read_csv(name)[["u", "v"]] for name in TWO]
    assert run(*TWO, *ASKED, *UV) == (0, summary(*data, **GIVEN), "")
    code, out, _ = run(*TWO, *ASKED, *UV, "--json", "--exit-code", "--plot", "p.png")
    assert code == 0 and json.loads(out)["pvalue"] == equivalence_test(*data, **GIVEN).pvalue
    assert run("before.csv", "other.csv", *ASKED, *UV, "--exit-code")[0] == 1
    options = ["--alpha", "0.1", "--scale", "rank", "--kernel", "laplacian", "--bandwidth", "2", "--paired"]
    given = {**GIVEN, "alpha": 0.1, "scale": "rank", "kernel": "laplacian", "bandwidth": 2.0, "paired": True}
    assert run(*TWO, *ASKED, *UV, *options)[1] == summary(*data, **given)
    given = {"margin": "shift 0.5", "measure": "auc", "estimator": "skmse", "folds": 4, "rng": 3}
    options = ["--margin", "shift 0.5", "--measure", "auc", "--estimator", "skmse", "--folds", "4", "--seed", "3"]
    assert run(*TWO, *options, *UV)[1] == summary(*data, **given, names=GIVEN["names"])
    variables = ["before.csv", "--margin", "0.2", "--measure", "dependence", "--x", "u", "--y", "v"]
    teams = pd.read_csv("before.csv")["team"].astype(str).tolist()
    given = {"margin": 0.2, "measure": "dependence", "names": ("u", "v"), "groups": teams}
    assert run(*variables, "--groups", "team")[1] == summary(data[0][["u"]], data[0][["v"]], **given)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" ".join(TWO), "give --margin and --measure"),
        (f"{' '.join(TWO)} --margin 0.1 --measure mmd", "--measure must be one of 'distance', 'auc', 'dependence'"),
        (f"{' '.join(TWO)} --margin 2 --measure distance", "--margin 2.0: with --measure distance give a number"),
        (f"{' '.join(TWO)} --margin much --measure distance", "--margin much: with --measure"),
        (f"{' '.join(TWO)} --margin 0.1 --measure distance --estimator kme", "--estimator is not for --measure dist"),
        (f"{' '.join(TWO)} --margin 0.6 --measure auc --stopping curtailed", "--stopping is not for equivalence"),
        (f"{' '.join(TWO)} --margin 0.1 --measure distance --x u", "--x is for --measure dependence"),
        ("before.csv --margin 0.1 --measure dependence --x u", "takes one file, with columns for --x and --y"),
        ("before.csv --margin 0.1 --measure dependence --x u --y v --columns u", "--columns is for samples"),
        ("before.csv --margin 0.1 --measure distance", "compares two files; got 1"),
        ("before.csv before.csv --margin 0.1 --measure distance", "hold the same rows"),
    ],
)
def test_what_it_refuses(run, line, said):
    code, out, err = run(*line.split())
    assert (code, out) == (2, "") and said in err
