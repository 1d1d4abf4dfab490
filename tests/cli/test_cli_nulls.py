"""The command line: stopping rules, blocks, pairs, groups, shifts."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import BesagClifford, independence_test, two_sample_test
from shrinktest.cli import main
from typed import typed

RNG = np.random.default_rng(0)
X, Y = (pd.DataFrame(RNG.normal(size=(12, 2)).round(6), columns=["u", "v"]) for _ in range(2))
BOTH = (X[["u"]], Y[["u"]].rename(columns={"u": "w"}))
SITES = [["north", "south", "west"][i % 3] for i in range(12)]
FAST = ["--seed", "0", "--resamples", "99", "--json"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with a.csv, b.csv (two samples) and both.csv (two variables)."""
    monkeypatch.chdir(tmp_path)
    for name, z, groups in (("a", X, range(12)), ("b", Y, range(12, 24))):
        rows = [
            f"{site},{u:.6f},{v:.6f},g{g // 2}" for site, (u, v), g in zip(SITES, z.to_numpy(), groups, strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["site,u,v,cluster", *rows]))
    rows = [f"{a:.6f},{s},{b:.6f}" for a, s, b in zip(X["u"], SITES, Y["u"], strict=True)]
    (tmp_path / "both.csv").write_text("\n".join(["u,site,w", *rows]))

    def call(*argv):
        code = main([str(argument) for argument in argv])
        return code, *capsys.readouterr()

    return call


def same(shown, expected):
    code, out, err = shown
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(expected.to_json())


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("--blocks site --columns u,v", {"blocks": SITES * 2}),
        ("--groups cluster --columns u,v", {"groups": np.arange(24) // 2}),
        ("--paired --columns u,v", {"paired": True}),
        ("--columns u,v --stopping curtailed", {"stopping": "curtailed"}),
        ("--columns u,v --stopping besag-clifford --paired", {"stopping": "besag-clifford", "paired": True}),
        ("--columns u,v --stopping besag-clifford:h=5", {"stopping": BesagClifford(h=5)}),
    ],
)
def test_two_samples(run, options, given):
    expected = typed(two_sample_test(X, Y, rng=0, n_resamples=99, **given), "a.csv", "b.csv")
    same(run("two-sample", "a.csv", "b.csv", *options.split(), *FAST), expected)


def test_columns_of_labels_are_not_data(run):
    shown = run("two-sample", "a.csv", "b.csv", "--blocks", "site", "--groups", "cluster", *FAST)
    assert shown[0] == 2 and "groups: some groups have observations in more than one block" in shown[2]
    expected = independence_test(*BOTH, rng=0, n_resamples=99, blocks=SITES)
    same(run("independence", "both.csv", "--blocks", "site", *FAST), expected)


@pytest.mark.parametrize(
    ("command", "position", "name"),
    [
        ("two-sample a.csv b.csv --columns u,v --blocks", "1", "site"),
        ("columns a.csv b.csv --groups", "4", "cluster"),
        ("k-sample a.csv b.csv --columns u,v --groups", "4", "cluster"),
        ("compare a.csv b.csv --columns u,v --blocks", "1", "site"),
        ("independence both.csv --blocks", "2", "site"),
        ("matrix both.csv --x u --y w --blocks", "2", "site"),
        ("change both.csv --columns u,w --blocks", "2", "site"),
    ],
)
def test_columns_of_labels_by_position(run, command, position, name):
    one, other = (run(*command.split(), label, *FAST) for label in (position, name))
    assert one == other and one[0] == 0


def test_independence(run):
    expected = independence_test(*BOTH, rng=0, n_resamples=99, alpha=0.1, shift="circular")
    typed = "--x u --y w --shift circular --alpha 0.1"
    same(run("independence", "both.csv", *typed.split(), *FAST), expected)
    expected = independence_test(*BOTH, rng=0, n_resamples=99, stopping="curtailed")
    same(run("independence", "both.csv", "--x", "u", "--y", "w", "--stopping", "curtailed", *FAST), expected)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("two-sample a.csv b.csv --columns u,v --stopping besag-cliford", "Did you mean 'besag-clifford'?"),
        ("two-sample a.csv b.csv --columns u,v --stopping besag-clifford:k=3", "a parameter of besag-clifford"),
        ("two-sample a.csv b.csv --columns u,v --stopping besag-clifford:h", "must look like lam=0.1; got 'h'"),
        ("two-sample a.csv b.csv --columns u,v --blocks sites", "Did you mean 'site'?"),
        ("two-sample a.csv b.csv --columns site,u --blocks site", "column 'site' is in both --blocks and --columns"),
        ("two-sample a.csv b.csv --columns u,v --blocks 5", "there is none at position 5"),
        ("two-sample a.csv b.csv --columns u,v --blocks 1:2", "--blocks is one column; '1:2' names 2: site, u"),
        ("two-sample a.csv b.csv --columns u,v --paired --blocks site", "so that --blocks has nothing to say"),
        (
            "independence both.csv --x u,site --y w --blocks site",
            "column 'site' is in both --blocks and --x, --y or --given",
        ),
        ("independence both.csv --x u --y w --shift linear", "--shift must be one of 'circular'"),
        ("independence both.csv", "say which columns to test"),
        ("power mean-shift --n 8 --trials 2 --quiet --stopping curtaild", "Did you mean 'curtailed'?"),
        ("power one-apart --n 8 --trials 2 --quiet --shift circular", "--shift is not for a k-sample test"),
        ("power linear --n 8 --trials 2 --quiet --shift circular --workers 1", "observe longer series"),
        ("power mean-shift --n 5 --trials 2 --quiet --paired --workers 1", "collect 6 pairs or more"),
        ("power mean-shift --n 8 --trials 2 --quiet --estimators kme:lam", "must look like lam=0.1; got 'lam'"),
    ],
)
def test_errors(run, command, said):
    code, out, err = run(*command.split())
    assert (code, out) == (2, "") and said in err


def test_a_label_that_is_missing(run, tmp_path):
    (tmp_path / "both.csv").write_text("u,site,w\n1,a,2\n2,,3\n3,a,1\n5,b,2\n")
    code, _, err = run("independence", "both.csv", "--blocks", "site")
    assert code == 2 and "blocks has no label for row 1 (counting from 0)" in err


def test_power(run):
    common = ["power", "mean-shift", "--n", "8", "--trials", "6", "--resamples", "99", "--workers", "1", "--quiet"]
    code, out, err = run(*common, "--alphas", "0.05,0.1", "--stopping", "curtailed", "--csv", "stopped.csv")
    assert (code, err) == (0, "")
    assert "Permutations:  99, Curtailed(alphas=(0.05, 0.1)); seed 0" in out
    run(*common, "--alphas", "0.05,0.1", "--csv", "full.csv")
    with open("stopped.csv") as stopped, open("full.csv") as full:
        assert stopped.read() == full.read()
    assert run(*common, "--paired")[0] == 0
    assert run(*common[:1], "linear", *common[2:], "--shift", "circular", "--alphas", "0.2")[0] == 0
