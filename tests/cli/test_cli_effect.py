"""``--effect``: how large the difference or the dependence is, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import two_sample_test
from shrinktest.cli import main

FAST = ("--seed", "0", "--resamples", "99")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with samples of two columns: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    for name, data in tables().items():
        data.to_csv(f"{name}.csv", index=False)

    def run(*argv):
        code = main([*argv])
        return code, *capsys.readouterr()

    return run


def tables():
    rng = np.random.default_rng(0)
    return {
        name: pd.DataFrame(rng.normal(shift, 1.0, size=(30, 2)).round(6), columns=["u", "v"])
        for name, shift in (("march", 0.0), ("april", 0.8), ("may", 1.0))
    }


def test_two_sample_says_how_different_the_files_are(run):
    given = tables()
    effect = two_sample_test(given["march"], given["april"], rng=0, n_resamples=99).effect()
    code, out, err = run("two-sample", "march.csv", "april.csv", "--effect", *FAST)
    said = " ".join(out.split())
    assert (code, err) == (0, "") and "Kernel two-sample test (MMD)" in said
    lines = [line.replace(" of X ", " of march.csv ").replace("of Y,", "of april.csv,") for line in effect.lines()]
    assert len(lines) == 3 and " ".join(lines) in said and effect.printed().as_text() in out
    assert "which is which" not in run("two-sample", "march.csv", "april.csv", *FAST)[1]


@pytest.mark.parametrize(
    "words", ["two-sample march.csv april.csv", "k-sample march.csv may.csv", "independence may.csv"]
)
def test_json_has_an_entry_for_it(run, words):
    code, out, err = run(*words.split(), "--effect", "--json", *FAST)
    effect = json.loads(out)["effect"]
    assert (code, err) == (0, "") and (".csv" in effect["names"][0] or effect["names"] == ["u", "v"])
    assert "effect" not in json.loads(run(*words.split(), "--json", *FAST)[1])


@pytest.mark.parametrize("words", ["joint march.csv", "columns march.csv april.csv", "matrix march.csv"])
def test_other_commands_say_which_have_it(run, words):
    code, out, err = run(*words.split(), "--effect")
    assert (code, out) == (2, "") and f"{words.split()[0]} has no option --effect; two-sample, k-sample and ind" in err
