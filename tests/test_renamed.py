"""Names that have changed: the old ones work, and warn at the user's line of what they are called now."""

from __future__ import annotations

import inspect
import pickle
import re
import sqlite3

import numpy as np
import pytest

import shrinktest
from shrinktest import FKMSE, BesagClifford, Curtailed, two_sample_test
from shrinktest.cli import main
from shrinktest.nulls import stopping
from shrinktest.power import designs, merge, power_study, solve_sample_size

rng = np.random.default_rng(0)
X, Y, Z = (rng.normal(size=(n, 2)) for n in (9, 9, 6))
FEW = {"n_resamples": 19, "rng": 0, "workers": 1}
TESTS = {
    "two_sample_test": (X, Z),
    "k_sample_test": (X, Z, Y),
    "independence_test": (X, Y),
    "two_sample_test_columns": (X, Z),
    "independence_matrix": (X, Y),
}
STUDY = {"n_trials": 3, "n_resamples": 19, "alphas": 0.2, "workers": 1, "progress": False}
SIZE = {"alpha": 0.35, "n_trials": 100, "n_resamples": 19, "workers": 1}
SHIFT = designs.MeanShift(dimension=1, shift=1.5)


def renamed(old, new):
    """The one warning that is expected."""
    return pytest.warns(DeprecationWarning, match=f"^{re.escape(old)} is now called {re.escape(new)}$")


def pvalues(study):
    return study.pvalues["pvalue"].tolist()


@pytest.fixture
def samples(tmp_path, monkeypatch):
    """A folder with the samples a.csv and b.csv."""
    monkeypatch.chdir(tmp_path)
    for name, data in {"a": X, "b": Z}.items():
        np.savetxt(tmp_path / f"{name}.csv", data, delimiter=",", header="u,v", comments="")


# ---------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("name", TESTS)
def test_the_form_was_called_the_statistic(name):
    test, data = getattr(shrinktest, name), TESTS[name]
    with renamed(f"{name}: statistic=", "form=") as seen:
        found = test(*data, statistic="unbiased", **FEW)
    assert [warning.filename for warning in seen] == [__file__]
    expected, biased = (test(*data, form=form, **FEW) for form in ("unbiased", "biased"))
    assert found.form == expected.form == "unbiased" != biased.form
    values = "statistics" if hasattr(found, "statistics") else "statistic"
    assert np.array_equal(getattr(found, values), getattr(expected, values))
    with pytest.raises(TypeError, match=f"{name}: statistic= is now called form=; both are given, leave out"):
        test(*data, form="biased", statistic="biased", **FEW)


@pytest.mark.parametrize("function", [*(getattr(shrinktest, name) for name in TESTS), power_study, solve_sample_size])
def test_signatures_have_the_new_names_only(function):
    taken = inspect.signature(function).parameters
    study = function in (power_study, solve_sample_size)
    assert ("test_options" if study else "form") in taken
    assert not {"statistic", "kernels"} & set(taken)
    assert pickle.loads(pickle.dumps(function)) is function  # which workers must be sent


def test_the_options_of_the_tests_of_a_study_were_called_kernels():
    told = {"bandwidth": 2.0}
    with renamed("power_study: kernels=", "test_options=") as seen:
        found = power_study(SHIFT, "kme", 8, kernels=told, **STUDY)
    assert [warning.filename for warning in seen] == [__file__]
    assert pvalues(found) == pvalues(power_study(SHIFT, "kme", 8, test_options=told, **STUDY))
    with pytest.raises(TypeError, match="power_study: kernels= is now called test_options=; both are given"):
        power_study(SHIFT, "kme", 8, kernels=told, test_options=told, **STUDY)


def test_a_form_among_the_options_of_a_study_was_called_the_statistic():
    expected = pvalues(power_study(SHIFT, "kme", 8, test_options={"form": "unbiased"}, **STUDY))
    with renamed("test_options: statistic=", "form=") as seen:
        assert pvalues(power_study(SHIFT, "kme", 8, test_options={"statistic": "unbiased"}, **STUDY)) == expected
    assert [warning.filename for warning in seen] == [__file__]
    with renamed("a member of estimators: statistic=", "form="):
        member = power_study(SHIFT, {"own": {"statistic": "unbiased"}}, 8, **STUDY)
    assert pvalues(member) == expected
    with pytest.raises(TypeError, match="test_options: statistic= is now called form=; both are given"):
        power_study(SHIFT, "kme", 8, test_options={"statistic": "biased", "form": "biased"}, **STUDY)


def test_sample_sizes_know_the_old_names_and_warn_once():
    expected = solve_sample_size(SHIFT, test_options={"form": "unbiased"}, stopping="curtailed", **SIZE)
    with pytest.warns(DeprecationWarning) as seen:
        found = solve_sample_size(SHIFT, kernels={"statistic": "unbiased"}, stopping="decision", **SIZE)
    assert found.table.equals(expected.table)
    assert [str(warning.message) for warning in seen] == [
        "solve_sample_size: kernels= is now called test_options=",
        "test_options: statistic= is now called form=",
        "stopping='decision' is now called stopping='curtailed'",
    ]
    assert {warning.filename for warning in seen} == {__file__}
    with pytest.raises(TypeError, match="solve_sample_size: kernels= is now called test_options=; both are given"):
        solve_sample_size(SHIFT, kernels={}, test_options={}, **SIZE)


# ----------------------------------------------------------------------------------------------- stopping


@pytest.mark.parametrize("module", [shrinktest, stopping])
def test_curtailed_was_called_decision(module):
    with renamed("Decision", "Curtailed") as seen:
        assert module.Decision is Curtailed
    assert seen[0].filename == __file__
    assert "Decision" not in dir(shrinktest)
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Desicion'"):
        module.Desicion  # noqa: B018


def test_a_pickle_from_before_is_read():
    kept = pickle.dumps(Curtailed((0.05,)), protocol=0).replace(b"Curtailed", b"Decision")
    with renamed("Decision", "Curtailed"):
        assert pickle.loads(kept) == Curtailed((0.05,))


def test_stopping_was_called_decision():
    with renamed("stopping='decision'", "stopping='curtailed'") as seen:
        found = two_sample_test(X, Y, stopping="decision", **FEW)
    assert [warning.filename for warning in seen] == [__file__]
    assert found.stopping == Curtailed((0.05,))
    assert found.pvalue == two_sample_test(X, Y, stopping="curtailed", **FEW).pvalue


# ------------------------------------------------------------------------------------------------- stores


def test_a_study_of_the_version_before_goes_on(tmp_path):
    """Its store has the old names: in the arguments, in the rule, and in what it compares."""
    compared = {"fkmse": FKMSE(), "own": {"estimator": "kme", "form": "unbiased"}}
    asked = {"test_options": {"form": "biased"}, "stopping": "curtailed", **STUDY}
    path, whole = tmp_path / "study.sqlite", power_study(SHIFT, compared, 8, **asked)
    power_study(SHIFT, compared, 8, store=path, **{**asked, "n_trials": 2})
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE meta SET key = 'statistic' WHERE key = 'form'")
        connection.execute("UPDATE meta SET value = replace(value, 'Curtailed(', 'Decision(')")
        connection.execute("UPDATE estimators SET definition = replace(definition, '''form''', '''statistic''')")
        changed = connection.execute("SELECT * FROM meta").fetchall(), connection.execute("SELECT * FROM estimators")
        assert "statistic" in str(changed[0]) and "Decision" in str(changed[0])
        assert "'statistic': 'unbiased'" in dict(changed[1])["own"]
    connection.close()
    merge(tmp_path / "merged.sqlite", path)
    for store in (path, tmp_path / "merged.sqlite"):
        assert power_study(SHIFT, compared, 8, store=store, **asked).to_csv() == whole.to_csv()
        with pytest.raises(ValueError, match="form: stored 'biased', asked 'unbiased'"):
            power_study(SHIFT, compared, 8, store=store, **{**asked, "test_options": {"form": "unbiased"}})
        with pytest.raises(ValueError, match=r"stopping: stored Curtailed\(.*\), asked BesagClifford"):
            power_study(SHIFT, compared, 8, store=store, **{**asked, "stopping": BesagClifford()})


# ------------------------------------------------------------------------------------------- command line


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("--statistic unbiased", "--form unbiased", "--statistic is now called --form"),
        ("--statistic=unbiased", "--form unbiased", "--statistic is now called --form"),
        ("--stopping decision", "--stopping curtailed", "--stopping decision is now called --stopping curtailed"),
        (
            "--stopping decision:alphas=0.2",
            "--stopping curtailed:alphas=0.2",
            "--stopping decision is now called --stopping curtailed",
        ),
    ],
)
def test_options_have_the_old_spelling_too(samples, capsys, old, new, said):
    line = "two-sample a.csv b.csv --resamples 99 --seed 0 --workers 1 --json "
    assert main((line + new).split()) == 0
    expected = capsys.readouterr()
    assert main((line + old).split()) == 0
    assert capsys.readouterr() == (expected.out, f"{expected.err}shrinktest: warning: {said}\n")


def test_studies_have_the_old_spelling_too(capsys):
    line = "power mean-shift --n 8 --trials 2 --resamples 19 --workers 1 --quiet --stopping "
    assert main((line + "curtailed").split()) == 0
    expected = capsys.readouterr()
    assert main((line + "decision").split()) == 0
    said = "--stopping decision is now called --stopping curtailed"
    assert capsys.readouterr() == (expected.out, f"{expected.err}shrinktest: warning: {said}\n")


def test_the_help_has_the_new_names_only(capsys):
    assert main(["two-sample", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--form FORM" in shown and "curtailed" in shown
    assert "--statistic" not in shown and "decision" not in shown
