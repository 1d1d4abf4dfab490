"""Arguments: what the tests refuse, and that the message names the argument and says what to do."""

from __future__ import annotations

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
from shrinktest.power.designs import MeanShift
from shrinktest.risk import risk_study

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 30, 2))
FEW = {"n_resamples": 19, "rng": 0}
HUGE = 10**400
RAGGED = [[1, 2], [3]]


# --- numbers ------------------------------------------------------------------------------------------------


def test_integers_beyond_floating_point_numbers_are_refused_by_name():
    for test, name in (
        (lambda: change_point_test(X, trim=HUGE), "trim"),
        (lambda: equivalence_test(X, Y, margin=HUGE, measure="distance"), "margin"),
        (lambda: permutation_test(sum, HUGE), "permutations"),
        (lambda: permutation_test(sum, (30, HUGE)), "permutations"),
        (lambda: calibrate(lambda x, y: 0.5, X, Y, n_trials=HUGE), "n_trials"),
        (lambda: power_study(MeanShift(), "kme", 20, n_trials=HUGE), "n_trials"),
        (lambda: solve_sample_size(MeanShift(), n_trials=HUGE), "n_trials"),
    ):
        with pytest.raises(ValueError, match=name):
            test()


def test_more_trials_than_memory_has_room_for_are_refused_before_anything_is_done(monkeypatch):
    monkeypatch.setattr("shrinktest.power.trials.free_memory", lambda: 1.4e9)
    for study, settings in (
        (lambda n: power_study(MeanShift(), "kme", [20, 30], n_trials=n, n_resamples=19), 4),
        (lambda n: power_study(MeanShift(), "kme", 20, n_trials=range(9, 9 + 2 * n, 2), with_null=False), 1),
        (lambda n: solve_sample_size(MeanShift(), n_trials=n), 1),
        (lambda n: calibrate("ks_2samp", X, Y, n_trials=n), 1),
        (lambda n: risk_study("mixture", ["skmse"], n=[5, 20], d=5, n_trials=n), 2),
    ):
        for n in (10**13, 10**17):
            with pytest.raises(ValueError, match=f"n_trials asks for {n:,} .* {2_000_000 // settings:,} at"):
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


def test_lists_of_different_lengths_and_arrays_are_refused_by_name():
    for test, name in (
        (lambda: two_sample_test(X, Y, scale=RAGGED, **FEW), "scale"),
        (lambda: two_sample_test_columns(X, Y, bandwidth=RAGGED, **FEW), "bandwidth"),
        (lambda: independence_matrix(X, bandwidth_x=RAGGED, **FEW), "bandwidth_x"),
        (lambda: independence_test(X[:, 0], Y[:, 0], given=RAGGED, **FEW), "given"),
        (lambda: independence_matrix(X, given=RAGGED, **FEW), "given"),
        (lambda: two_sample_test(X, Y, covariates=(RAGGED, RAGGED), **FEW), "covariates of X"),
    ):
        with pytest.raises(ValueError, match=f"^{name} "):
            test()
    several = (two_sample_test, two_sample_test_columns, independence_test, independence_matrix, k_sample_test, compare)
    for test, name in (
        *((test, name) for test in several for name in ("nan_policy", "gram", "progress")),
        *((test, "paired") for test in (two_sample_test, compare)),
        (joint_independence_test, "nan_policy"),
        (lambda x, y, **told: change_point_test(x, **told), "nan_policy"),
        (lambda x, y, **told: permutation_test(sum, 9, **told), "vectorized"),
    ):
        for array in (np.array([]), np.array([1, 2])):
            with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
                test(X, Y, **{name: array}, **FEW)


def test_the_name_of_a_test_is_a_text():
    for name in (3, "", None):
        with pytest.raises(ValueError, match=r"^name must be a text"):
            permutation_test(lambda row: float(row[0]), 9, name=name, **FEW)


def test_one_date_is_no_vector_of_times():
    for times in (np.datetime64("2020-01-01"), np.timedelta64(3, "D"), np.zeros((30, 2), dtype="M8[s]")):
        with pytest.raises(ValueError, match=r"^times must be a vector of labels"):
            change_point_test(X, times=times, **FEW)


def test_text_dates_and_paths_are_no_arrays():
    for values in (["a", "b", "c"] * 5, np.arange("2020-01-01", "2020-01-16", dtype="M8[D]")):
        for test in (two_sample_test, compare):
            with pytest.raises(TypeError, match="give a pandas Series or DataFrame"):
                test(values, values, **FEW)
        assert two_sample_test(pd.Series(values), pd.Series(values[::-1]), **FEW).pvalue > 0.0
        with pytest.raises(TypeError) as of_function:  # which the advice is not for: what it returns is no table
            two_sample_test(X, Y, transform=lambda rows, v=values: np.resize(np.array(v), len(rows)), **FEW)
        assert "pandas Series" not in str(of_function.value)
    for test, path in ((change_point_test, "a.csv"), (independence_matrix, Path("a.csv"))):
        with pytest.raises(TypeError, match="read a file first"):
            test(path, **FEW)


def test_one_lag_is_not_all_up_to_it():
    given = {"shift": "circular", "alpha": 0.3, "rng": 0}
    for lags, alone in ((-2, True), ([-2], False), (range(-2, 3), False), (0, False)):
        notes = independence_test(X[:, 0], Y[:, 0], lags=lags, **given).notes
        assert any("alone" in note for note in notes) == alone
