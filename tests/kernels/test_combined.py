"""Sums, products and multiples of kernels of the pooled sample, and kernels given by their matrix."""

from dataclasses import dataclass

import numpy as np
import pytest

from shrinktest import (
    Gaussian,
    Linear,
    Precomputed,
    SecondOrder,
    Whitened,
    change_point_test,
    change_points,
    closer_test,
    independence_test,
    joint_independence_test,
    two_sample_test,
)
from shrinktest.kernels import Kernel, Polynomial
from shrinktest.kernels.feature_maps import nystrom

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 2)), RNG.normal((1.0, 0.0), 1.0, size=(30, 2))
ENOUGH = {"n_resamples": 19, "rng": 0}


@pytest.mark.parametrize("pooled", [Whitened(), SecondOrder()], ids=["whitened", "second-order"])
@pytest.mark.parametrize("scale", [None, "sd"])
def test_contributions_take_changed_observations_for_the_pooled_sample(pooled, scale):
    def drops(kernel):
        result = two_sample_test(X, Y, kernel=kernel, scale=scale, alpha=0.1, **ENOUGH)
        return result.contributions(n_repeats=3, rng=0)["drop"].to_numpy()

    alone = drops(pooled)
    for kernel, expected in (
        (2.0 * pooled, 2.0 * alone),
        (pooled + 1e-9 * Linear(), alone),
        (pooled * Gaussian(1e9), alone),
        (0.5 * (pooled + pooled), alone),
    ):
        np.testing.assert_allclose(drops(kernel), expected, rtol=1e-6, atol=1e-8)


def test_matrices_combine_with_matrices_only():
    rows, gram = np.arange(30.0), Precomputed(Gaussian(1.0)(X))
    with pytest.raises(ValueError, match="row numbers"):
        two_sample_test(rows[:15], rows[15:], kernel=[gram, "gaussian"], **ENOUGH)
    for combine in (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a + 2.0 * Whitened(b)):
        with pytest.raises(ValueError, match="row numbers"):
            combine(gram, Gaussian())
    both = two_sample_test(rows[:15], rows[15:], kernel=[gram, gram + gram], alpha=0.1, **ENOUGH)
    assert len(both.members) == 2

    @dataclass(frozen=True)
    class Own(Kernel):  # which may look rows up by their numbers, too
        def evaluate(self, X, Y):
            return np.minimum(X, Y.T) + 1.0

    assert (gram + Own()).points_are == "row numbers"


PLACES = np.r_[20:40, 0:20]  # not sorted, but each beside the next one
GRAM = Precomputed(Gaussian(1.0)(RNG.normal(size=(40, 2))))
CALLS = {
    "two samples": lambda: two_sample_test(np.r_[20:40, 0:5], np.r_[5:20], kernel=GRAM, **ENOUGH),
    "pairs": lambda: two_sample_test(np.r_[10:20, 0:10], np.r_[20:40], kernel=GRAM, paired=True, rng=0),
    "independence": lambda: independence_test(PLACES, PLACES, kernel_x=GRAM, kernel_y=GRAM, **ENOUGH),
    "joint": lambda: joint_independence_test(*[PLACES] * 3, kernels=[GRAM] * 3, **ENOUGH),
    "change": lambda: change_point_test(PLACES, kernel=GRAM, confidence=None, rng=0, n_resamples=99),
    "changes": lambda: change_points(np.arange(40), kernel=GRAM, shift=5, rng=0, n_resamples=99),
    "nearer": lambda: closer_test(PLACES, np.arange(20), np.arange(20, 40), kernel=GRAM),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_note_is_about_the_values_of_row_numbers(call):
    notes = " ".join(call().notes)
    assert not any(text in notes for text in ("Successive rows", "Stretches of", "the same values", "in both samples"))


def test_landmarks_are_points_that_the_kernel_sees():
    X = np.zeros((60, 1))
    X[20:23, 0] = 1.0, -1.0, 2.0
    for seed in range(5):
        z = nystrom(Polynomial(2, offset=0.0), X, 10, seed).coordinates(X)
        np.testing.assert_allclose(z @ z.T, Polynomial(2, offset=0.0)(X), atol=1e-9)
