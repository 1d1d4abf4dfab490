"""Errors of the command line name the options as they are typed, and leave every other word alone."""

from __future__ import annotations

import argparse
import re
import shlex

import numpy as np
import pytest

from shrinktest.cli import main
from shrinktest.cli.arguments import OPTIONS, as_typed
from shrinktest.cli.commands import COMMANDS, parser

#: Options that are not arguments of the library.
OWN = {"--about", "--help", "--header", "--json", "--plot", "--exit-code", "--progress", "--quiet", "--set"}
OWN |= {"--columns", "--x", "--y", "--variable", "--html", "--witness", "--list", "--tests", "--csv"}
OWN |= {"--separator", "--encoding", "--na"}
OWN |= {"--decimal", "--comment", "--z", "--effect", "--sort", "--several"}

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
        np.save(f"{name}.npy", rng.normal(size=(30, 2)))

    def call(line):
        code = main(shlex.split(line))
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
        ("--resamples -1", "--resamples must be an integer >= 0, got -1; inf asks for all permutations"),
        ("--seed -1", "--seed must be a seed >= 0, got -1"),
        ("--nan-policy x", "--nan-policy must be one of 'raise', 'omit', 'indicator', 'propagate'"),
        ("--workers 0", "--workers must be an integer >= 1, got 0; -1 uses all cores"),
        ("--estimator x", "--estimator must be one of 'kme'"),
        ("--estimator fkmse --tuning x", "--tuning must be one of 'auto'"),
        ("--estimator fkmse --set lam=1 --tuning joint", "--tuning joint has nothing to tune"),
        ("--form x", "--form must be one of"),
        ("--gram x", "--gram must be one of"),
        ("--rank 5 --gram dense", "--rank 5 is for --gram factor, nystrom or rff; --gram dense has none"),
        ("--rank 0 --gram nystrom", "--rank must be an integer >= 1"),
        ("--max-memory -1", "--max-memory must be a positive number of bytes, such as 2e9"),
        ("--estimator fkmse --max-memory 10", "more than --max-memory 10 bytes; use"),
        ("--stopping x", "--stopping must be one of"),
        ("--kernel x", "--kernel must be one of"),
        ("--bandwidth 0", "--bandwidth must be a finite number > 0, got 0"),
        ("--bandwidth 1,2,3", "--bandwidth has 3 "),  # entries, or numbers for the columns of all variables
        ("--kernel linear --bandwidth 2", "--bandwidth 2.0 has no effect on --kernel linear; leave out --bandwidth"),
        ("--blocks site --groups cluster", "--groups: some groups have observations in"),
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
    refused = f"is not for {command}; leave it out" in found  # which has a message of its own
    assert found.split()[0] in typed if refused else said in found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("independence a.csv --x u --y v --kernel-y x", "--kernel-y must be one of"),
        ("independence a.csv --x u --y v --bandwidth-y 0", "--bandwidth-y must be a finite number > 0"),
        ("independence a.csv --x u --y v --bandwidth-y 1,2", "--bandwidth-y has 2 entries for 1 column"),
        ("independence a.csv --x u --y v --resamples inf", "--resamples inf permutations are too many"),
        (
            "independence a.csv --x u --y v --shift circular --groups site",
            "--shift circular moves single rows and --groups",
        ),
        ("two-sample a.csv b.csv --columns u --paired --blocks site", "so that --blocks has nothing to say"),
        ("two-sample a.csv b.csv --columns u --paired --alpha 1e-4", "can never reject at --alpha 0.0001; collect"),
        (
            "two-sample a.csv b.csv --columns u --estimator fkmse --max-memory 10",
            "use --gram rff --rank 1 (about 1 s",
        ),
        ("two-sample a.csv b.csv --columns u --estimator kme,kme", "--estimator holds KME() twice"),
        ("two-sample a.csv b.csv --columns u --estimator auto --bandwidth 2", "leave out --kernel and --bandwidth, or"),
        ("two-sample a.csv b.csv --columns u --estimator auto --bandwidth 2", "such as --estimator kme,fkmse"),
        ("two-sample a.csv b.csv --columns u --kernel precomputed", "--kernel 'precomputed' is called"),
        ("two-sample a.csv b.csv --columns u --bandwidth u=1,zz=2", "a column in --bandwidth must be one of 'u'"),
        ("two-sample a.csv b.csv --columns u --scale zz=1", "a column in --scale must be one of 'u'"),
        (
            "two-sample a.csv b.csv --columns u --stopping besag-clifford:h=0",
            "--stopping besag-clifford:h=0: h must be an integer >= 1, got 0",
        ),
        ("change a.csv --columns u --change foo", "--change must be one of 'single', 'epidemic'; got 'foo'"),
        ("closer a.csv --measure hsic --x u --y v --z u", "column 'u' is in both --x and --z"),
        (
            "equivalence a.csv b.csv --measure distance --margin 0.9 --folds 4",
            "are for --measure auc",
        ),
        ("equivalence a.csv b.csv --measure auc --margin 0.9 --estimator auto", "--estimator auto is for two-sample"),
        ("calibrate a.csv --x u --y v --given site --blocks site", "column 'site' is in both --blocks and --x, --y or"),
        (
            "calibrate a.csv --x u --y v --given site --groups cluster",
            "--given goes without --blocks, --groups, --shift",
        ),
        ("calibrate a.csv --x u --y v --nan-policy propagate", "--nan-policy propagate leaves no p-values to count"),
        (
            "calibrate a.csv b.csv --columns u --test ks_2samp --nan-policy propagate",
            "--test ks_2samp takes no missing",
        ),
        ("power mean-shift --quiet --n 8 --paired --shift 3", "does not go with --paired; leave one of them out"),
        ("independence eckerle4 --header no", "--header says how a file is read, and eckerle4 comes with the package"),
        ("power eckerle4 --quiet --fractions 2", "--fractions must give 2 to 35 of the 35 points"),
        ("power mean-shift --quiet --estimators kme,kme", "--estimators holds 'kme' twice; name each once"),
        ("power mean-shift --quiet --n 8 --csv .", "--csv . cannot be saved, because it is a directory"),
        (
            "power mean-shift --quiet --n 8 --estimators ks_2samp --kernel linear",
            "options of kernels and permutations are",
        ),
        (
            "k-sample a.csv b.csv --columns u --comparison pooled --form unbiased",
            "exists for --comparison pairs only",
        ),
        (
            "calibrate a.csv b.csv --blocks site --groups cluster --shift circular",
            "--shift is not for a test of the kind two-sample, which takes --blocks, --paired, --groups; leave it out",
        ),
        ("power mean-shift --quiet --n 8 --trials 0", "--trials must be an integer >= 1"),
        ("power mean-shift --quiet --n 8 --alphas 2", "--alphas must lie strictly between 0 and 1"),
        ("power mean-shift --quiet --n 8 --resamples 9", "--resamples 9 is too small for --alphas 0.05: the smallest"),
        ("power mean-shift --quiet --n 8 --resamples 9", "use --resamples 19 or more"),
        (
            "power mean-shift --quiet --n 8 --estimators ks_2samp --resamples 99",
            "--resamples is for tests that permute, and",
        ),
        (
            "sample-size mean-shift --quiet --estimator ttest_ind --resamples 99",
            "is none among ttest_ind; leave it out",
        ),
        ("power mean-shift --quiet --n 1", "--n has 1, and MeanShift("),
        ("power mean-shift --quiet --n 8 --stopping x", "--stopping must be one of"),
        ("power mean-shift --quiet --n 8 --workers 0", "--workers must be an integer >= 1"),
        ("power one-apart --quiet --n 8 --shift circular", "--shift is not for a k-sample test"),
        ("power linear --quiet --n 8 --paired", "--paired is not for an independence test"),
        ("power mean-shift --quiet --n 8 --estimators auto --kernel linear", "--kernel is given, and all that"),
        ("sample-size mean-shift --quiet --power 2", "--power must lie strictly between 0 and 1"),
        ("sample-size mean-shift --quiet --power 0.01", "--power 0.01 must be above the level --alpha 0.05"),
        ("sample-size mean-shift --quiet --ratio 0", "--ratio must be a finite number > 0"),
        ("sample-size linear --quiet --ratio 2", "--ratio compares the sizes of two samples"),
        ("sample-size mean-shift --quiet --largest 0", "--largest must be an integer >="),
        (
            "two-sample a.csv b.csv --columns u --kernel energy --bandwidth 1 --bandwidth 2",
            "--bandwidth has no effect on --kernel energy; leave out --bandwidth",
        ),
        (
            "equivalence a.csv b.csv --measure distance --margin x",
            "--margin x: with --measure distance give a number from 0 to 1, 'shift 0.2'",
        ),
        ("equivalence a.csv b.csv --measure distance --margin 0.1 --bandwidth grid", "must be one each"),
        (
            "independence a.csv --x u --y v --given v --given-method residuals --blocks site",
            "column 'v' of --given is also tested",
        ),
        (
            "independence a.csv --x u --y site --given v --given-method residuals --blocks cluster",
            "--blocks goes with strata or --given-method local",
        ),
        ("change a.csv --columns u --estimator fkmse", "would be fitted anew on both sides of every cut"),
        (
            "change a.csv --columns u --estimator kme,mkme --stopping curtailed",
            "leave out --stopping, or test with one",
        ),
        ("two-sample a.npy b.npy --gram rff --max-memory 10", "give a smaller --rank, fewer bins (--bins) or samples"),
        ("two-sample a.csv b.csv --columns u --kernel whitened --set lum=1", "of kme or whitened must be one of 'lam'"),
        ("two-sample a.csv 'z*.csv' --gram rff --columns u", "z*.csv: there is no file"),
        (
            "equivalence a.csv b.csv --measure distance --margin 0.1 --resamples 999",
            "--resamples is not for equivalence",
        ),
        (
            "equivalence a.csv b.csv --measure distance --margin 0.1 --estimator kme",
            "--estimator is not for --measure distance",
        ),
        ("joint a.csv --variable u --variable v --form=auto", "--form is not for joint; leave it out"),
        ("two-sample a.npy b.npy --gram rff --header auto", "--header is not for files that are read in batches"),
        ("two-sample a.npy b.npy --gram rff --covariates u", "--covariates are for files that are read whole"),
        (
            "two-sample a.csv b.csv --columns u,v --witness w.png --coordinates u,u",
            "--coordinates names 'u' twice",
        ),
        (
            "matrix a.csv --x u --y v --bandwidth 1,2,3",
            "--bandwidth has 3 numbers for 2 columns of the variables",
        ),
        ("power eckerle4 --quiet --n 50 --trials 2", "use --n 35 or less, or eckerle-simulation, which has no limit"),
    ],
)
def test_each_command_names_its_own(run, line, said):
    assert said in run(line)


# ------------------------------------------------------------------------------------------ words that stay

EVERY = {option for options in OPTIONS.values() for option in options}


def test_parameters_of_estimators_and_designs_are_no_options(run):
    assert run("two-sample a.csv b.csv --columns u --estimator skmse:alpha=2").startswith("alpha must be a number")
    assert run("power mean-shift --quiet --n 8 --set shift=x").startswith("shift must be")


def test_a_file_that_is_called_as_an_argument_stays(run, tmp_path):
    (tmp_path / "alpha").write_text("")
    assert run("two-sample alpha b.csv") == "alpha is empty"


@pytest.mark.parametrize("name", ["alpha=0.05.csv", "alpha=0.05/x.csv"])
def test_a_file_that_is_called_as_an_argument_with_a_value_stays(name, tmp_path):
    message = f"the columns differ: {name} has a and b.csv has a, b"
    for words in ([name, "b.csv"], ["*/*.csv", "b.csv"]):
        assert as_typed(message, EVERY, words) == message
    assert as_typed("alpha=0.05: one value", EVERY, ["alpha=0.05.csv"]) == "alpha=0.05: one value"
    assert as_typed("above alpha=0.05: never", EVERY, [name.replace("0.05", "0.01")]) == "above --alpha 0.05: never"


@pytest.mark.parametrize("name", ["weights", "scale", "form", "groups", "method"])
def test_advice_on_a_column_that_is_called_as_an_argument(name):
    said = as_typed(f"it has another text in every row (column_types={{{name!r}: 'category'}} tests it)", EVERY)
    assert said == f"it has another text in every row (--types {name}=category tests it)"
    assert as_typed(said, EVERY) == said
    assert as_typed(f"with --scale {name}=2 or --bandwidth {name}=3", EVERY).endswith(f"--bandwidth {name}=3")


@pytest.mark.parametrize(
    "message",
    [
        "column 'alpha' is missing",
        "a.csv has alpha, kernel and rank",
        "alphabet must be text",
        "the kernel must be positive",
        "MeanShift(shift=0.5, power=2) needs n >= 2",
        "FKMSE(tuning='joint') is fixed",
        "blocks.csv: line 2 has 3 cells",
        "/tmp/alpha=3/a.csv: line 2",
        "collect more groups; only groups of equal sizes can be exchanged",
    ],
)
def test_words_that_are_no_arguments_stay(message):
    assert as_typed(message, EVERY) == message


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("use n_resamples >= 99", "use --resamples 99 or more"),
        ("use n <= 35, or another", "use --n 35 or less, or another"),
        ("pass nan_policy='omit' to drop", "pass --nan-policy omit to drop"),
        ("kernel_y and bandwidth_y are for Y; use kernel_x", "--kernel and --bandwidth are for Y; use --kernel"),
        ("above alpha = 0.05: never", "above --alpha 0.05: never"),
        ("store s is of another: seed: stored 0, asked 1", "--store s is of another: --seed: stored 0, asked 1"),
        ("use estimator='kme', 'skmse' or 'mkme', which do", "use --estimator kme, skmse or mkme, which do"),
        ("give bandwidth=a number", "give --bandwidth a number"),
        ("leave it out (column_types={'a,b': 'drop'})", "leave it out (--types '\"a,b=drop\"')"),
        ("as column_types['a,b']='category'", "as --types '\"a,b=category\"'"),
    ],
)
def test_arguments_in_a_sentence(message, typed):
    assert as_typed(message, EVERY - {"--kernel-x", "--kernel-y", "--bandwidth-x", "--bandwidth-y"}) == typed


def test_warnings_are_in_these_words_too(run, capsys):
    line = "independence a.csv --x u --y v --resamples 19 --alpha 0.01 --seed 0"
    assert main(line.split()) == 0
    assert "above --alpha 0.01: the test can never reject; use --resamples 99 or more" in capsys.readouterr().err


def test_notes_of_effects_and_members_and_of_pages_are_in_these_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in "ab":
        rows = [f"{value:.3f},{'rs'[i % 2]},id{name}{i}" for i, value in enumerate(rng.normal(size=24))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["u,site,weights", *rows]) + "\n")
    short = "--seed 0 --resamples 19 --alpha 0.1"
    assert main(f"two-sample a.csv b.csv --blocks site --effect --json {short}".split()) == 0
    out = capsys.readouterr().out
    assert "pairs: --paired" in out and "paired=" not in out and "--types weights=category" in out
    assert main(f"two-sample a.csv b.csv --columns u --estimator kme,mkme --json {short}".split()) == 0
    assert "scale=" not in capsys.readouterr().out
    assert main(f"compare a.csv b.csv --html p.html {short}".split()) == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "--types weights=category" in page and "column_types" not in page
