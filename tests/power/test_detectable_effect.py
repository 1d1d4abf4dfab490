"""minimum_detectable_effect: the answer against formulas, pilot data, words, and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import binom
from statsmodels.stats.power import TTestIndPower

from shrinktest import FromData, minimum_detectable_effect, power_study, solve_sample_size
from shrinktest.power.designs import (
    Contamination,
    Linear,
    MeanShift,
    ScaleChange,
    Shifted,
    SpikedCovariance,
    Tails,
)

FAST = {"n_trials": 240, "n_resamples": 39, "workers": 1, "rng": 0}
T_TEST = FAST | {"estimator": "ttest_ind", "n_trials": 600}


def student(n, ratio=1.0):
    """The shift that the t test detects with power 0.8."""
    return TTestIndPower().solve_power(nobs1=n, power=0.8, alpha=0.05, ratio=ratio)


def test_the_effect_is_that_of_the_t_test():
    answer = minimum_detectable_effect(MeanShift(dimension=1), 50, power=0.8, **T_TEST)
    assert answer.low < student(50) < answer.high < 1.15 * answer.low
    assert answer.agrees and answer.parameter == "shift" and answer.sizes == (50, 50)
    assert answer.design == MeanShift(dimension=1, shift=answer.effect)
    assert float(answer.fitted_power(answer.effect)) == pytest.approx(0.8)
    assert answer.n_resamples == 0 and answer.table["trials"].sum() >= 600
    unequal = minimum_detectable_effect(MeanShift(dimension=1), 30, ratio=2.0, **T_TEST)
    assert unequal.low < student(30, 2.0) < unequal.high and unequal.sizes == (30, 60)


@pytest.mark.ci
@pytest.mark.parametrize("shift", [0.01, 40.0])
def test_the_answer_hardly_depends_on_the_effect_of_the_design(shift):
    answer = minimum_detectable_effect(MeanShift(dimension=1, shift=shift), 50, **T_TEST)
    assert answer.low < student(50) < answer.high


@pytest.mark.slow
def test_intervals_cover_the_effect():
    answers = [
        minimum_detectable_effect(MeanShift(dimension=1), 30, **{**T_TEST, "rng": seed})
        for seed in range(100)
    ]
    covered = sum(answer.low <= student(30) <= answer.high for answer in answers)
    assert covered >= binom(100, 0.95).ppf(0.001)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("design", "none"), [(Tails(dimension=1), np.inf), (ScaleChange(dimension=1, scale=0.7), 1.0)]
)
def test_parameters_that_fall_with_the_effect(design, none):
    answer = minimum_detectable_effect(design, 60, **FAST)
    assert answer.low < answer.effect < answer.high <= none
    power = power_study(answer.design, "kme", 60, **(FAST | {"n_trials": 100, "rng": 5}))
    assert 0.6 < power.table["power"].item() < 0.97
    tried = answer.table["effect"]
    assert tried.is_monotonic_increasing and answer.fitted_power(tried.iloc[0]) > 0.8


@pytest.mark.ci
def test_pilot_data_are_shifted_by_standard_deviations():
    """The difference of the pilot samples and the unit of the column play no part."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    x = (x - x.mean()) / x.std()
    answers = [
        minimum_detectable_effect(FromData(x, y), 50, **T_TEST) for y in (x + 9.0, 1.0 - x, x)
    ]
    for answer in answers:
        assert 0.45 < answer.low < student(50) < answer.high < 0.75
        assert isinstance(answer.design, Shifted) and answer.design.shift == answer.effect
    scaled = minimum_detectable_effect(FromData(100.0 * x, 100.0 * x), 50, **T_TEST)
    assert scaled.effect == pytest.approx(answers[-1].effect)


def test_shifted_pilot_tables():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"income": rng.normal(size=40), "arm": list("ab") * 20})
    design = Shifted(FromData(table[:20], table[20:]), shift=2.0)
    assert design.steps.tolist()[1:] == [0.0, 0.0] and 0.5 < design.steps[0] < 1.5
    (x, y), _ = design.trial(0, 30)
    (x0, y0), _ = design.null().trial(0, 30)
    assert np.array_equal(x, x0)
    np.testing.assert_allclose(y - y0, np.tile(2.0 * design.steps, (30, 1)), atol=1e-12)
    pairs = Shifted(FromData(x, y, paired=True))
    assert pairs.options_for(5, 5) == {"paired": True} and pairs.unit == ""
    groups = Shifted(FromData(x, y, groups=(np.arange(30) // 3, 50 + np.arange(30) // 3)))
    assert groups.unit == "groups" and len(groups.trial(0, 4)[0][0]) == 12
    answer = solve_sample_size(design, **FAST)
    assert answer.n < 20


def test_words():
    x = np.random.default_rng(0).normal(size=40)
    x[::5] = np.nan
    answer = minimum_detectable_effect(FromData(x, x[::-1], nan_policy="omit"), 50, **FAST)
    summary = " ".join(str(answer.summary()).split())
    assert (
        "The smallest effect that 50 observations in each sample detect with 80% power" in summary
    )
    assert f"shift = {answer.effect:.3g} standard deviations" in summary
    assert "of which about 20% are expected to be incomplete" in summary
    assert "assumes that rows vary as in the pilot study" in answer.paragraph()
    assert "(kme, 39 permutations, level 0.05)" in answer.paragraph()
    assert repr(answer).startswith("DetectableEffectResult(shift=")
    assert answer.to_dict()["effect"] == answer.effect
    assert len(answer.rows()) == len(answer.table)
    figure = Figure()
    ax = answer.plot(figure.subplots())
    assert ax.get_xlabel() == "shift" and len(ax.lines) >= 3


@pytest.mark.parametrize(
    ("design", "options", "named"),
    [
        (MeanShift(shift=0.0), {}, "no effect at shift=0.0"),
        (Linear(), {}, "no parameter that stands for its effect"),
        (SpikedCovariance(), {}, "block=5, which is no real number"),
        (FromData([1.0, 2.0, 3.0], [2.0, 1.0, 2.0], "independence"), {}, "two variables"),
        (FromData([1.0, 2.0], [2.0, 1.0]), {}, "more than two values"),
        (Contamination(dimension=1, shift=0.0), {}, "not reached at fraction=1"),
        (MeanShift(), {"n": 2}, "n=2 has"),
        (MeanShift(), {"n": 20, "power": 0.04}, "power=0.04"),
    ],
)
def test_errors_name_the_argument(design, options, named):
    with pytest.raises(ValueError, match=named):
        minimum_detectable_effect(design, **{"n": 20, **FAST, **options})
