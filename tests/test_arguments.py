"""Arguments: what the tests refuse, and that the message names the argument and says what to do."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    calibrate,
    change_point_test,
    compare,
    equivalence_test,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    power_study,
    solve_sample_size,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest._check import count
from shrinktest.power.designs import MeanShift
from shrinktest.risk import risk_study

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 30, 2))
FEW = {"n_resamples": 19, "rng": 0}
HUGE = 10**400
RAGGED = [[1, 2], [3]]


# --- numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda: change_point_test(X, trim=HUGE), "trim must be a share of the rows"),
        (lambda: equivalence_test(X, Y, margin=HUGE, measure="distance"), "margin must be a number below 1e308"),
        (lambda: permutation_test(sum, HUGE), "permutations must be an integer <="),
        (lambda: permutation_test(sum, (30, HUGE)), "sum of the sizes in permutations must be an integer <="),
        (lambda: calibrate(lambda x, y: 0.5, X, Y, n_trials=HUGE), "n_trials must be an integer <="),
        (lambda: power_study(MeanShift(), "kme", 20, n_trials=HUGE), "n_trials must be an integer <="),
        (lambda: solve_sample_size(MeanShift(), n_trials=HUGE), "n_trials must be an integer <="),
    ],
)
def test_integers_beyond_floating_point_numbers_are_refused_by_name(test, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        test()


def test_counts_have_a_largest_one_where_they_are_sizes():
    assert count(5, "t", minimum=1, maximum=5) == 5
    assert count(HUGE, "t", minimum=1) == HUGE
    with pytest.raises(ValueError, match="t must be an integer <= 5; got a larger one"):
        count(6, "t", minimum=1, maximum=5)


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (lambda n: power_study(MeanShift(), "kme", [20, 30], n_trials=n, n_resamples=19), " of 4 settings each"),
        (lambda n: power_study(MeanShift(), "kme", 20, n_trials=range(9, 9 + 2 * n, 2), with_null=False), ""),
        (lambda n: solve_sample_size(MeanShift(), n_trials=n), ""),
        (lambda n: calibrate("ks_2samp", X, Y, n_trials=n), ""),
        (lambda n: risk_study("mixture", ["skmse"], n=[5, 20], d=5, n_trials=n), " of 2 settings each"),
    ],
)
@pytest.mark.parametrize("n", [10**13, 10**17])
def test_more_trials_than_memory_has_room_for_are_refused_before_anything_is_done(study, said, n, monkeypatch):
    monkeypatch.setattr("shrinktest.power.arguments.free_memory", lambda: 1.4e9)
    most = 2_000_000 // int(said.split()[1]) if said else 2_000_000
    with pytest.raises(
        ValueError, match=f"n_trials asks for {n:,} trials{said}; .* 1.4 GB are free. Ask for {most:,} at"
    ):
        study(n)


def test_a_level_so_small_that_no_number_of_permutations_is_enough():
    for test in (two_sample_test, two_sample_test_columns):
        with pytest.warns(UserWarning, match="can never reject; give a larger alpha"):
            test(X, Y, alpha=1e-320, **FEW)
    with pytest.raises(ValueError, match="collect 1065 pairs or more"):
        two_sample_test(X, Y, paired=True, alpha=1e-320, **FEW)
    with pytest.raises(ValueError, match="no test could reject; give a larger alpha"):
        power_study(MeanShift(), "kme", 20, n_trials=2, n_resamples=19, alphas=1e-320)
    with pytest.raises(ValueError, match="no test could reject; give a larger alpha"):
        solve_sample_size(MeanShift(), alpha=1e-320, n_trials=100, largest=30, workers=1, progress=False)
    with pytest.warns(UserWarning, match="use n_resamples >= 99"):
        two_sample_test(X, Y, alpha=0.01, **FEW)


@pytest.mark.parametrize(
    ("test", "name"),
    [
        (lambda: two_sample_test(X, Y, scale=RAGGED, **FEW), "scale"),
        (lambda: two_sample_test_columns(X, Y, bandwidth=RAGGED, **FEW), "bandwidth"),
        (lambda: independence_matrix(X, bandwidth_x=RAGGED, **FEW), "bandwidth_x"),
        (lambda: independence_test(X[:, 0], Y[:, 0], given=RAGGED, **FEW), "given"),
        (lambda: independence_matrix(X, given=RAGGED, **FEW), "given"),
        (lambda: two_sample_test(X, Y, covariates=(RAGGED, RAGGED), **FEW), "covariates of X"),
    ],
)
def test_lists_of_different_lengths_are_refused_by_name(test, name):
    with pytest.raises(ValueError, match=rf"^{name} has (rows|entries) of different lengths"):
        test()


# --- names and times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [np.array([]), np.array([1, 2])])
@pytest.mark.parametrize("name", ["nan_policy", "gram", "progress"])
@pytest.mark.parametrize(
    "test",
    [two_sample_test, two_sample_test_columns, independence_test, independence_matrix, k_sample_test, compare],
)
def test_arrays_are_no_names(test, name, given):
    with pytest.raises((TypeError, ValueError), match=rf"^{name} must be "):
        test(X, Y, **{name: given}, **FEW)


@pytest.mark.parametrize("given", [np.array([]), np.array([1, 2])])
def test_arrays_are_no_names_of_some_tests(given):
    with pytest.raises(ValueError, match=r"^covariate_method must be one of"):
        two_sample_test(X, Y, covariate_method=given, **FEW)
    for test in (two_sample_test, compare):
        with pytest.raises(TypeError, match=r"^paired must be True or False"):
            test(X, Y, paired=given, **FEW)
    with pytest.raises(ValueError, match=r"^nan_policy must be one of"):
        joint_independence_test(X, Y, nan_policy=given, **FEW)
    with pytest.raises(ValueError, match=r"^nan_policy must be one of"):
        change_point_test(X, nan_policy=given, **FEW)
    with pytest.raises(TypeError, match=r"^vectorized must be True or False"):
        permutation_test(sum, 9, vectorized=given)


@pytest.mark.parametrize("name", [3, "", None])
def test_the_name_of_a_test_is_a_text(name):
    with pytest.raises(TypeError, match=r"^name must be a text"):
        permutation_test(lambda row: float(row[0]), 9, name=name, **FEW)


@pytest.mark.parametrize(
    "times",
    [np.datetime64("2020-01-01"), np.datetime64("NaT", "s"), np.timedelta64(3, "D"), np.zeros((30, 2), dtype="M8[s]")],
)
def test_one_date_is_no_vector_of_times(times):
    with pytest.raises(ValueError, match=r"^times must be a vector of labels, one for each observation; got shape"):
        change_point_test(X, times=times, **FEW)


# --- samples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", "b", "c"] * 5, "text is read as categories"),
        (np.arange("2020-01-01", "2020-01-16", dtype="M8[D]"), "dates are read"),
    ],
)
def test_text_and_dates_in_lists_and_arrays_are_read_from_series(values, words):
    for test in (two_sample_test, compare):
        with pytest.raises(TypeError, match=f"give a pandas Series or DataFrame: {words}"):
            test(values, values, **FEW)
    assert two_sample_test(pd.Series(values), pd.Series(values[::-1]), **FEW).pvalue > 0.0
    with pytest.raises(TypeError) as of_function:  # which the advice is not for: what it returns is no table
        two_sample_test(X, Y, transform=lambda rows: np.resize(np.array(values), len(rows)), **FEW)
    assert "pandas Series" not in str(of_function.value)


@pytest.mark.parametrize("path", ["a.csv", Path("a.csv")])
def test_paths_are_no_tables(path):
    for test in (change_point_test, independence_matrix):
        with pytest.raises(TypeError, match=re.escape("(read a file first, such as pandas.read_csv('a.csv'))")):
            test(path, **FEW)
    with pytest.raises(TypeError, match=r"got str$"):
        independence_test(X[:, 0], Y[:, 0], given="age", **FEW)


# --- lags ---------------------------------------------------------------------------------------------------


def test_one_lag_is_not_all_up_to_it():
    given = {"shift": "circular", "alpha": 0.3, "rng": 0}
    note = "This is lag -2 alone; lags=range(-2, 3) looks at all lags up to 2."
    assert note in independence_test(X[:, 0], Y[:, 0], lags=-2, **given).notes
    for lags in ([-2], range(-2, 3), 0):
        assert not any("alone" in one for one in independence_test(X[:, 0], Y[:, 0], lags=lags, **given).notes)
