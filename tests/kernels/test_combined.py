"""Sums, products and multiples of kernels that take more from the data than a bandwidth, or are matrices."""

from dataclasses import dataclass

import numpy as np
import pytest

from shrinktest import Gaussian, Linear, Precomputed, SecondOrder, Whitened, independence_test, two_sample_test
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


def test_a_matrix_stands_beside_matrices_only():
    rows, gram = np.arange(30.0), Precomputed(Gaussian(1.0)(X))
    with pytest.raises(ValueError, match="row numbers"):
        two_sample_test(rows[:15], rows[15:], kernel=[gram, "gaussian"], **ENOUGH)
    for combine in (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a + 2.0 * Whitened(b)):
        with pytest.raises(ValueError, match="row numbers"):
            combine(gram, Gaussian())
    others = Precomputed(Gaussian(2.0)(X))
    both = two_sample_test(rows[:15], rows[15:], kernel=[gram, gram + others], alpha=0.1, **ENOUGH)
    assert len(both.members) == 2
    independence_test(rows, Y, kernel_x=[gram, others], kernel_y=["gaussian", "laplacian"], alpha=0.1, **ENOUGH)

    @dataclass(frozen=True)
    class Own(Kernel):  # which may look rows up by their numbers, too
        def evaluate(self, X, Y):
            return np.minimum(X, Y.T) + 1.0

    assert (gram + Own()).points_are == "row numbers"


def test_landmarks_are_points_that_the_kernel_sees():
    X = np.zeros((60, 1))
    X[20:23, 0] = 1.0, -1.0, 2.0
    kernel = Polynomial(2, offset=0.0)
    for seed in range(5):
        landmarks = nystrom(kernel, X, 10, seed)
        z = landmarks.coordinates(X)
        np.testing.assert_allclose(z @ z.T, kernel(X), atol=1e-9)
