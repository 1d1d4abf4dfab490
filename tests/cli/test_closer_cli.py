"""``shrinktest closer``: the library's result with the names of the files, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import closer_test
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
        table.assign(team=np.arange(30) // 2).to_csv(f"{name}.csv", index=False)

    def run(*argv):
        code = main(["closer", *argv])
        return code, *capsys.readouterr()

    return run


def tables(*names, columns=("u", "v")):
    return [pd.read_csv(f"{name}.csv")[list(columns)] for name in names]


THREE, UV = ["observed.csv", "one.csv", "other.csv"], ["--columns", "u,v"]
NAMES = ("observed", "one", "other")


def test_it_is_the_library(run):
    def summary(*data, **given):
        return f"{typed(closer_test(*data, **given)).summary()}\n"

    data, every = tables(*NAMES), [f"{name}.csv" for name in FILES]
    assert run(*THREE, *UV) == (0, summary(*data, names=NAMES), "")
    options = ["--alternative", "greater", "--alpha", "0.1", "--confidence", "0.8", "--scale", "rank"]
    options += ["--kernel", "laplacian", "--bandwidth", "2"]
    given = {"alternative": "greater", "alpha": 0.1, "confidence": 0.8, "scale": "rank", "kernel": "laplacian"}
    assert run(*THREE, *UV, *options)[1] == summary(*data, names=NAMES, bandwidth=2.0, **given)
    assert run(*THREE, *UV, "--paired")[1] == summary(*data, names=NAMES, paired=True)
    teams = [one["team"].astype(str).tolist() for one in tables(*NAMES, columns=["team"])]
    assert run(*THREE, "--groups", "team")[1] == summary(*data, names=NAMES, groups=teams)
    several = summary(*tables(*FILES), names=tuple(FILES), method="fdr_bh")
    assert run(*every, *UV, "--method", "fdr_bh")[1] == several
    code, out, _ = run(*every, *UV, "--json", "--exit-code", "--plot", "p.png")
    assert code == 1 and json.loads(out)["names"] == list(FILES)
    u, v, team = tables("observed", columns=["u", "v", "team"])[0].items()
    expected = summary(*(one.to_frame() for _, one in (u, v, team)), measure="dependence", names=("u", "v", "team"))
    assert run("observed.csv", "--measure", "dependence", "--x", "u", "--y", "v", "--z", "team")[1] == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("observed.csv one.csv", "give three files or more: what was observed, and then the models"),
        (f"{' '.join(THREE)} --estimator fkmse", "--estimator is not for closer; leave it out"),
        (f"{' '.join(THREE)} --measure mmd", "--measure must be one of 'distance', 'dependence', 'hsic'; got 'mmd'"),
        (f"{' '.join(THREE)} --confidence 95", "--confidence must lie strictly between 0 and 1"),
        (f"{' '.join(THREE)} --nan-policy propagate", "--nan-policy must be one of 'raise', 'omit', 'indicator'"),
        (f"{' '.join(THREE)} --method none", "--method must be one of"),
        (f"{' '.join(THREE)} third.csv --alternative less", "--alternative must be"),
        (f"{' '.join(THREE)} --x u", "--x is for --measure dependence; give --columns, or leave it out"),
        ("one.csv --measure hsic --x u --y v", "takes one file, with columns for --x, --y and --z"),
        ("one.csv --measure hsic --x u --y v --z team --columns u", "--columns is for --measure distance"),
        ("observed.csv one.csv observed.csv", "observed.csv (1) and observed.csv (3) hold the same rows"),
        (f"{' '.join(THREE)} --max-memory 10", "more than --max-memory 10 bytes; use --gram rff"),
    ],
)
def test_what_it_refuses(run, line, said):
    code, out, err = run(*line.split())
    assert (code, out) == (2, "") and said in err
