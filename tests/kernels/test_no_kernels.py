"""Matrices that are no kernels are told so, and those that are meant are not."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import (
    MeanEstimator,
    Precomputed,
    independence_test,
    joint_independence_test,
    two_sample_test,
)

rng = np.random.default_rng(0)
POINTS = rng.normal(size=24)
DISTANCES = np.abs(POINTS[:, None] - POINTS)
ROWS = np.arange(24.0)
ENERGY = (np.abs(POINTS)[:, None] + np.abs(POINTS) - DISTANCES) / 2
OPTIONS = {"n_resamples": 99, "rng": 0}
FALSE = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])  # every two rows would do
INDEFINITE = np.kron(np.eye(8), FALSE) + np.kron(np.ones((8, 8)) - np.eye(8), 0.9 * FALSE)


@pytest.mark.parametrize("estimator", ["kme", "skmse", ["kme", "skmse"]], ids=str)
def test_a_negative_squared_norm_is_an_error(estimator):
    kernel = Precomputed(INDEFINITE)
    x, y = ROWS[ROWS % 3 == 1], ROWS[ROWS % 3 != 1]
    with pytest.raises(ValueError, match=r"kernel: .* is not a kernel, because a squared norm came out as -"):
        two_sample_test(x, y, kernel=kernel, estimator=estimator, form="biased", **OPTIONS)


def test_unbiased_forms_may_be_negative():
    unbiased = two_sample_test(ROWS[:12], ROWS[12:], kernel=Precomputed(ENERGY), form="unbiased", **OPTIONS)
    assert two_sample_test(ROWS[:12], ROWS[12:], kernel=Precomputed(ENERGY), **OPTIONS).statistic >= 0.0
    assert unbiased.null_distribution.min() < 0.0


class Writer(MeanEstimator):
    """An estimator that spoils its Gram matrix."""

    def weights(self, gram):
        gram[0, 0] = 0.0
        return np.full(len(gram), 1 / len(gram))


@pytest.mark.parametrize("estimator", [Writer(), Writer().weights], ids=["class", "function"])
def test_nobody_writes_into_a_gram_matrix(estimator):
    x, y = rng.normal(size=(2, 9))
    for test in (
        lambda: two_sample_test(x, y, estimator=estimator, **OPTIONS),
        lambda: independence_test(x, y, estimator=estimator, **OPTIONS),
        lambda: joint_independence_test(x, y, estimator=estimator, **OPTIONS),
    ):
        with pytest.raises(ValueError, match="read-only"):
            test()
    if isinstance(estimator, MeanEstimator):
        with pytest.raises(ValueError, match="read-only"):
            estimator.fit(x)
