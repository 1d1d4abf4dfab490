"""Matrices that are no kernels are told so, and those that are meant are not."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest import (
    MeanEstimator,
    Precomputed,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

rng = np.random.default_rng(0)
POINTS = rng.normal(size=24)
DISTANCES = np.abs(POINTS[:, None] - POINTS)
ROWS = np.arange(24.0)
ENERGY = (np.abs(POINTS)[:, None] + np.abs(POINTS) - DISTANCES) / 2
OPTIONS = {"n_resamples": 99, "rng": 0}
FALSE = {"squared distances": DISTANCES**2, "distances": DISTANCES, "minus a kernel": -np.exp(-DISTANCES)}


@pytest.mark.parametrize("gram", FALSE.values(), ids=FALSE.keys())
@pytest.mark.parametrize("estimator", ["kme", "skmse", ["kme", "skmse"]], ids=str)
def test_a_negative_squared_norm_is_an_error(gram, estimator):
    kernel = Precomputed(gram)
    for test in (
        lambda: two_sample_test(ROWS[:12], ROWS[12:], kernel=kernel, estimator=estimator, **OPTIONS),
        lambda: independence_test(ROWS, POINTS, kernel_x=kernel, estimator=estimator, **OPTIONS),
    ):
        with pytest.raises(ValueError, match=r"kernel: .* is not a kernel, because a squared norm came out as -"):
            test()


def test_in_every_test():
    kernel = Precomputed(DISTANCES**2)
    said = {"match": r"give exp\(-D / \(2 s\^2\)\)"}
    with pytest.raises(ValueError, **said):
        k_sample_test(ROWS[:8], ROWS[8:16], ROWS[16:], kernel=kernel, **OPTIONS)
    with pytest.raises(ValueError, **said):
        joint_independence_test(ROWS, POINTS, kernels=[kernel, "gaussian"], **OPTIONS)
    with pytest.raises(ValueError, **said):
        two_sample_test_columns(ROWS[:12, None], ROWS[12:, None], kernel=kernel, **OPTIONS)
    with pytest.raises(ValueError, **said):
        independence_matrix(ROWS[:, None], POINTS[:, None], kernel_x=kernel, kernel_y="gaussian", **OPTIONS)


def test_the_distance_kernel_and_unbiased_forms_are_meant():
    for gram in (ENERGY, -DISTANCES, -(DISTANCES**2)):  # the last two are kernels about any mean
        assert two_sample_test(ROWS[:12], ROWS[12:], kernel=Precomputed(gram), **OPTIONS).statistic >= 0.0
    unbiased = two_sample_test(ROWS[:12], ROWS[12:], kernel=Precomputed(ENERGY), form="unbiased", **OPTIONS)
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
