"""Assertions about data: which differences fail, what the message says, and the chance of a false alarm."""

from __future__ import annotations

import alarms
import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from shrinktest import equivalence_test, two_sample_test
from shrinktest.testing import EQUIVALENCE, NO_DIFFERENCE, assert_same_distribution

RNG = np.random.default_rng(2)
REFERENCE = RNG.normal(size=(150, 2))
CURRENT = RNG.normal(size=(130, 2))
AUC = {"margin": 0.65, "measure": "auc"}
DISTANCE = {"margin": 0.05, "measure": "distance"}


@pytest.mark.parametrize("options", [AUC, DISTANCE])
@pytest.mark.parametrize("shift", [0.0, 0.3, 0.6, 1.5])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_check_fails_by_the_limits_of_the_effect(options, shift, alpha):
    """The limits are those of the interval with confidence 1 - 2 alpha, one side each."""
    current = CURRENT + shift
    effect = two_sample_test(REFERENCE, current, n_resamples=0, rng=0).effect(
        confidence=1.0 - 2.0 * alpha, rng=0
    )
    low, high = getattr(effect, f"{options['measure']}_interval")
    for require, passes in (
        (NO_DIFFERENCE, low <= options["margin"]),
        (EQUIVALENCE, high <= options["margin"]),
    ):
        call = {**options, "require": require, "alpha": alpha}
        if passes:
            result = assert_same_distribution(REFERENCE, current, **call)
            assert (result.lower, result.upper) == pytest.approx((low, high))
        else:
            with pytest.raises(AssertionError, match="reference and current is below"):
                assert_same_distribution(REFERENCE, current, **call)


def test_the_message_begins_with_what_differs():
    with pytest.raises(AssertionError) as caught:
        assert_same_distribution(REFERENCE, CURRENT + 1.0, names=("March", "April"), **AUC)
    first, *others = str(caught.value).splitlines()
    assert first.startswith("April differs from March by more than the margin .65: separability ")
    assert any("observations" in line and "150 + 130" in line for line in others)


def test_the_same_data_always_give_the_same_answer():
    first, second = (assert_same_distribution(REFERENCE, CURRENT, **AUC) for _ in range(2))
    assert (
        first
        == second
        == equivalence_test(REFERENCE, CURRENT, names=("reference", "current"), rng=0, **AUC)
    )


def test_data_without_a_limit_fail():
    for require in (NO_DIFFERENCE, EQUIVALENCE):
        with pytest.raises(AssertionError, match="current has too few different rows"):
            assert_same_distribution(REFERENCE[:3], CURRENT[:3], require=require, **DISTANCE)


def test_wrong_arguments_are_errors_and_no_failures():
    for options, message in (
        ({"measure": "dependence", "margin": 0.1}, "measure"),
        ({**AUC, "require": "sameness"}, "require"),
        ({**AUC, "margin": 0.4}, "margin"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            assert_same_distribution(REFERENCE, CURRENT, **options)


@pytest.mark.ci
def test_false_alarms_are_rare_at_the_margin():
    trials = range(100)
    for measure in alarms.SHIFT:
        margin = alarms.margin_of(measure)
        rows = alarms.failures(measure, "the margin", 100, margin, trials)
        failed = {row["require"]: row["failed"] for row in rows}
        errors = [failed[NO_DIFFERENCE]]
        if measure == "distance":  # fitted functions do not reach the AUC of the best one
            errors.append(len(trials) - failed[EQUIVALENCE])
        for count in errors:
            assert proportion_confint(count, len(trials), 0.001, "beta")[0] <= 0.05
