"""A search for a sample size says soon that there is no effect to find."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from shrinktest.cli import main
from shrinktest.power import power_study, solve_sample_size
from shrinktest.power.designs import FromData, FromFunction, MeanShift

QUICK = {"n_resamples": 39, "workers": 1, "progress": False, "largest": 100}
pilot = np.random.default_rng(0).normal(size=60)


def apart(rng, n):
    return rng.normal(size=n), rng.normal(size=n)


def wide(rng, n):
    return rng.normal(size=n), rng.normal(3.0, 1.0, size=n)


@pytest.mark.parametrize(
    "design",
    [
        MeanShift(dimension=1, shift=0.0),
        FromData(pilot, pilot[::-1]),
        FromData(np.repeat(pilot[:30], 30), np.tile(pilot[30:], 30), test="independence"),
        FromFunction(apart),
        FromFunction(apart, test="independence"),
    ],
    ids=["named", "pilot samples", "pilot pairs", "samples", "pairs"],
)
def test_no_effect_is_the_answer(design):
    said = r"^no effect was found at n = 100: power there is 0\.\d\d \[0\.0\d, 0\.\d\d\]; check that the design"
    with pytest.raises(ValueError, match=said):
        solve_sample_size(design, **QUICK)


@pytest.mark.parametrize("measure", ["distance", "auc"])
def test_a_margin_that_is_too_narrow(measure):
    options = {"margin": {"distance": 1e-6, "auc": 0.5001}[measure], "measure": measure}
    said = r"^equivalence was not shown at n = 100: power there is 0\.\d\d \[0\.0\d, 0\.\d\d\]; give a wider margin"
    with pytest.raises(ValueError, match=said):
        solve_sample_size(MeanShift(dimension=1), test="equivalence", test_options=options, **QUICK)


def test_the_command_line(tmp_path, capsys):
    for line in (
        "sample-size mean-shift --set shift=0 --set dimension=1 --estimator ttest_ind",
        "sample-size mean-shift --set shift=0 --largest 60 --resamples 19",
        "sample-size linear --set noise=1e9 --largest 60 --resamples 19",
    ):
        assert main([*line.split(), "--workers", "1"]) == 2
        out, err = capsys.readouterr()
        assert not out and err.startswith("shrinktest: error: no effect was found at n = ") and err.count("\n") == 1


def z_test(X, Y):
    return math.erfc(abs(X.mean() - Y.mean()) * math.sqrt(len(X)) / 2.0)


def sizes_drawn(law, **options):
    drawn = []

    def design(rng, n):
        drawn.append(n)
        return law(rng, n)

    with pytest.raises(ValueError, match="no effect was found at n = 5000"):
        solve_sample_size(design, estimator=z_test, workers=1, progress=False, **options)
    return drawn


def test_one_look_at_the_largest_size_is_enough():
    for seed in range(2):
        drawn = sizes_drawn(apart, rng=seed)
        assert drawn.count(5000) <= 20 and max(n for n in drawn if n < 5000) < 500


def test_a_look_at_the_largest_size_does_not_change_the_answer():
    """The effect is too small for the first sizes, where nothing is seen of it."""
    drawn = []

    def slightly_apart(rng, n):
        drawn.append(n)
        return rng.normal(size=n), rng.normal(0.2, 1.0, size=n)

    given = {"estimator": z_test, "power": 0.7, "n_trials": 100, "workers": 1, "progress": False}
    near, far = (solve_sample_size(slightly_apart, largest=largest, **given) for largest in (512, 5000))
    assert 512 in drawn[: drawn.index(64)] and 5000 not in drawn
    assert near.n == far.n and near.table.equals(far.table)


def test_an_effect_that_is_too_small_for_the_largest_size_is_still_an_effect():
    with pytest.raises(
        ValueError, match=r"^power 0.8 is not reached at n = 60: power there is 0\.\d+ \[.*; raise largest"
    ):
        solve_sample_size(MeanShift(dimension=1, shift=0.3), estimator="ttest_ind", **{**QUICK, "largest": 60})


def test_bars_are_shown_from_the_start(capfd):
    for study in (power_study, solve_sample_size):
        assert inspect.signature(study).parameters["progress"].default is True
    assert solve_sample_size(wide, estimator="ttest_ind", n_trials=100, workers=1).n < 10
    assert capfd.readouterr().err.startswith("\rstudies of one size: 0")


@pytest.mark.slow
def test_the_default_search(capsys):
    assert main(["sample-size", "mean-shift", "--set", "shift=0"]) == 2
    assert "no effect was found at n = 5000: power there is 0.0" in capsys.readouterr().err
