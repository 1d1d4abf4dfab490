"""``shrinktest closer``: the library's result with the names of the files, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import closer_matrix, closer_test
from shrinktest.cli import main
from typed import typed

FILES = {"observed": 0.0, "one": 0.4, "other": 1.5, "third": 0.3}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in a folder with tables of u, v and team."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in FILES.items():
        table = pd.DataFrame(rng.normal(shift, 1.0, size=(30, 2)).round(5), columns=list("uv"))
        table["team"] = np.arange(30) // 2
        table.to_csv(f"{name}.csv", index=False)

    def run(*argv):
        code = main(["closer", *argv])
        return code, *capsys.readouterr()

    return run


def tables(*names, columns=("u", "v")):
    return [pd.read_csv(f"{name}.csv")[list(columns)] for name in names]


THREE = ["observed.csv", "one.csv", "other.csv"]
NAMES = ("observed", "one", "other")


def test_it_is_the_library(run):
    expected = closer_test(*tables(*NAMES), names=NAMES)
    code, out, err = run(*THREE, "--columns", "u,v")
    assert (code, out, err) == (0, f"{typed(expected).summary()}\n", "")
    assert out.startswith("observed is nearer to one than to other (p = ")
    code, out, _ = run(*THREE, "--columns", "u,v", "--json", "--exit-code")
    assert code == 1 and json.loads(out)["pvalue"] == expected.pvalue
    assert json.loads(out)["names"] == list(NAMES)


def test_options_reach_the_library(run):
    options = ["--alternative", "greater", "--alpha", "0.1", "--confidence", "0.8", "--scale", "rank"]
    options += ["--kernel", "laplacian", "--bandwidth", "2", "--gram", "dense", "--workers", "1"]
    given = {"alternative": "greater", "alpha": 0.1, "confidence": 0.8, "scale": "rank", "kernel": "laplacian"}
    expected = closer_test(*tables(*NAMES), names=NAMES, bandwidth=2.0, gram="dense", **given)
    assert run(*THREE, "--columns", "u,v", *options)[1] == f"{typed(expected).summary()}\n"
    paired = closer_test(*tables(*NAMES), names=NAMES, paired=True)
    assert run(*THREE, "--columns", "u,v", "--paired")[1] == f"{typed(paired).summary()}\n"
    teams = [one["team"].astype(str).tolist() for one in tables(*NAMES, columns=["team"])]
    grouped = closer_test(*tables(*NAMES), names=NAMES, groups=teams)
    assert run(*THREE, "--groups", "team")[1] == f"{typed(grouped).summary()}\n"


def test_several_models(run):
    expected = closer_matrix(
        tables("observed")[0], dict(zip(list(FILES)[1:], tables(*list(FILES)[1:]), strict=True)), name="observed"
    )
    every = [f"{name}.csv" for name in FILES]
    assert run(*every, "--columns", "u,v")[1] == f"{typed(expected).summary()}\n"
    found = json.loads(run(*every, "--columns", "u,v", "--method", "fdr_bh", "--json")[1])
    assert found["method"] == "fdr_bh" and found["pvalue"] < 0.05
    assert run(*every, "--columns", "u,v", "--exit-code")[0] == 1


def test_variables_of_one_file(run):
    table = tables("observed", columns=["u", "v", "team"])[0]
    expected = closer_test(table[["u"]], table[["v"]], table[["team"]], measure="dependence", names=("u", "v", "team"))
    sides = ["--x", "u", "--y", "v", "--z", "team"]
    assert run("observed.csv", "--measure", "dependence", *sides)[1] == f"{typed(expected).summary()}\n"


def test_a_picture_is_saved(run, tmp_path):
    assert run(*THREE, "--plot", "p.png")[0] == 0
    assert (tmp_path / "p.png").read_bytes()[1:4] == b"PNG"


def test_files_of_one_name_are_told_apart(run, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "one.csv").write_text((tmp_path / "other.csv").read_text())
    out = run("observed.csv", "one.csv", "old/one.csv", "--columns", "u,v")[1]
    assert out.startswith("observed.csv is nearer to one.csv than to old/one.csv (")
    code, out, _ = run("observed.csv", "one.csv", "one.csv", "--exit-code")
    assert code == 0 and "one.csv (2) and one.csv (3) hold the same rows" in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("observed.csv one.csv", "give three files or more: what was observed, and then the models"),
        (f"{' '.join(THREE)} --estimator fkmse", "--estimator is not for closer; leave it out"),
        (f"{' '.join(THREE)} --set lam=3", "--set is not for closer; leave it out"),
        (f"{' '.join(THREE)} --stopping curtailed", "--stopping is not for closer; leave it out"),
        (f"{' '.join(THREE)} --progress", "--progress is not for closer; leave it out"),
        (f"{' '.join(THREE)} --measure mmd", "--measure must be one of 'distance', 'dependence', 'hsic'; got 'mmd'"),
        (f"{' '.join(THREE)} --alternative smaller", "--alternative must be one of"),
        (f"{' '.join(THREE)} --confidence 95", "--confidence must lie strictly between 0 and 1"),
        (f"{' '.join(THREE)} --nan-policy propagate", "--nan-policy must be one of 'raise', 'omit', 'indicator'"),
        (f"{' '.join(THREE)} --method fdr_bh", "--method is for three models or more"),
        (f"{' '.join(THREE)} third.csv --method none", "--method must be one of"),
        (f"{' '.join(THREE)} third.csv --alternative less", "--alternative is for two models"),
        (f"{' '.join(THREE)} --x u", "--x is for --measure dependence; give --columns, or leave it out"),
        (f"{' '.join(THREE)} --measure hsic --x u --y v --z team", "compares variables of one file"),
        ("one.csv --measure hsic --x u --y v", "give the file, and their columns with --x, --y and --z"),
        ("one.csv --measure hsic --x u --y v --z team --columns u", "--columns is for --measure distance"),
        ("one.csv --measure hsic --x u --y v --z u", "column 'u' is in both"),
        ("one.csv --measure hsic --x u --y v --z team --paired", "--paired"),
        ("observed.csv one.csv observed.csv", "observed.csv (1) and observed.csv (3) hold the same rows"),
        (f"{' '.join(THREE)} --max-memory 10", "more than --max-memory 10 bytes; use --gram rff"),
        (f"{' '.join(THREE)} --bandwidth 1 --bandwidth 2", "--bandwidth may be repeated where several are combined"),
    ],
)
def test_what_it_refuses(run, line, said):
    code, out, err = run(*line.split())
    assert (code, out) == (2, "") and said in err
