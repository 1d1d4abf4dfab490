"""Errors of the command line name the options as they are typed, and leave every other word alone."""

from __future__ import annotations

import argparse
import re

import numpy as np
import pytest

from shrinktest.cli import main
from shrinktest.cli.arguments import OPTIONS
from shrinktest.cli.commands import COMMANDS, parser

#: Options that are not arguments of the library.
OWN = {"--help", "--header", "--json", "--plot", "--exit-code", "--progress", "--quiet", "--set", "--columns", "--x"}
OWN |= {"--y", "--variable", "--witness", "--list", "--fractions", "--csv"}

SAMPLES = "a.csv b.csv --columns u,v"
VARIABLES = "a.csv --x u --y v"
OF_ALL = {
    "two-sample": f"two-sample {SAMPLES}",
    "independence": f"independence {VARIABLES}",
    "k-sample": f"k-sample {SAMPLES}",
    "joint": "joint a.csv --variable u --variable v",
    "columns": f"columns {SAMPLES}",
    "matrix": f"matrix {VARIABLES}",
    "calibrate": f"calibrate {VARIABLES} --trials 3",
}
STUDIES = {
    "power": "power mean-shift --n 8 --trials 3 --quiet",
    "sample-size": "sample-size mean-shift --quiet",
}


def commands():
    """The parsers of the commands, by name."""
    (found,) = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return found.choices


def options_of(command):
    return {option for action in command._actions for option in action.option_strings if option.startswith("--")}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command line that is wrong, in a folder with two samples; what it says in its one line."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in "ab":
        rows = [f"{u:.5f},{v:.5f},s{i % 2},g{i // 3}" for i, (u, v) in enumerate(rng.normal(size=(12, 2)))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["u,v,site,cluster", *rows]))

    def call(line):
        code = main(line.split())
        out, err = capsys.readouterr()
        assert (code, out) == (2, "") and err.startswith("shrinktest: error: ") and err.count("\n") == 1, err
        return err.removeprefix("shrinktest: error: ").rstrip("\n")

    return call


# ------------------------------------------------------------------------------------------------ the table


def test_every_option_is_in_the_table_or_has_no_argument():
    listed = {option for options in OPTIONS.values() for option in options}
    typed = set().union(*(options_of(command) for command in commands().values()))
    assert typed == listed | OWN and not listed & OWN


def test_the_parser_has_only_the_options_that_are_needed():
    assert list(commands()) == list(COMMANDS)
    (found,) = [action for action in parser(["joint"])._actions if isinstance(action, argparse._SubParsersAction)]
    assert "--alpha" in options_of(found.choices["joint"])
    assert options_of(found.choices["power"]) == {"--help"}


# --------------------------------------------------------------------------------------------- wrong inputs


@pytest.mark.parametrize("command", OF_ALL)
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--alpha 2", "--alpha must lie strictly between 0 and 1, got 2.0"),
        ("--resamples -1", "--resamples must be an integer >= 0, got -1; inf asks for all relabellings"),
        ("--seed -1", "--seed must be a seed >= 0, got -1"),
        ("--nan-policy x", "--nan-policy must be one of 'raise', 'omit', 'propagate'; got 'x'"),
        ("--workers 0", "--workers must be an integer >= 1, got 0; -1 uses all cores"),
        ("--estimator x", "--estimator must be one of 'kme'"),
        ("--tuning x", "--tuning must be one of 'auto'"),
        ("--estimator fkmse --set lam=1 --tuning joint", "--tuning joint has nothing to tune"),
        ("--statistic x", "--statistic must be one of"),
        ("--gram x", "--gram must be one of"),
        ("--rank 5 --gram dense", "--rank 5 is for --gram factor, nystrom or rff; --gram dense has none"),
        ("--rank 0 --gram nystrom", "--rank must be an integer >= 1"),
        ("--max-memory -1", "--max-memory must be a positive number of bytes, such as 2e9"),
        ("--max-memory 10", "more than --max-memory 10 bytes; use"),
        ("--stopping x", "--stopping must be one of"),
        ("--kernel x", "--kernel must be one of"),
        ("--bandwidth 0", "--bandwidth must be a finite number > 0, got 0"),
        ("--bandwidth 1,2,3", "--bandwidth has 3 entries but the points have"),
        ("--kernel linear --bandwidth 2", "--bandwidth 2.0 has no effect on --kernel linear: leave out --bandwidth"),
        ("--blocks site --groups cluster", "--groups: some groups have observations in more than one block"),
        ("--shift x", "--shift must be one of 'circular'"),
        ("--method x", "--method must be one of"),
        ("--comparison x", "--comparison must be one of"),
        ("--weights x", "--weights must be one of"),
        ("--trials 0", "--trials must be an integer >= 1"),
    ],
)
def test_tests_name_the_option(run, command, typed, said):
    shared = {"--kernel": "--kernel-x", "--bandwidth": "--bandwidth-x"} if command == "independence" else {}
    for option, of_x in shared.items():
        typed, said = (re.sub(rf"{option}(?![-\w])", of_x, text) for text in (typed, said))
    known = options_of(commands()[command])
    if not {word for word in typed.split() if word.startswith("--")} <= known:
        pytest.skip(f"{command} does not have this option")
    found = run(f"{OF_ALL[command]} {typed}")
    if "is not for" not in found:  # what a command refuses has a message of its own
        assert said in found
    else:
        assert found.split()[0] in typed
