"""Energy: the energy distance and distance covariance, its origin, and every test with it."""

from __future__ import annotations

import numpy as np
import pytest

import naive_kernels as naive
from shrinktest import (
    Energy,
    independence_test,
    joint_independence_test,
    two_sample_test,
)

rng = np.random.default_rng(0)
X, Y, THIRD = rng.normal(size=(12, 2)), rng.normal(size=(9, 2)) + 0.7, rng.normal(size=(7, 2))
NEW, POOLED = rng.normal(size=(5, 2)), np.vstack([X, Y])
PARTNER = np.column_stack([X[:, 0] ** 2, rng.normal(size=12), X[:, 1]])


def options(n_resamples=99, **more):
    return {"n_resamples": n_resamples, "rng": 0, "workers": 1, **more}


def test_values_with_an_origin_and_with_the_mean():
    for kernel, origin in ((Energy((0.5, -1.0)), (0.5, -1.0)), (Energy().resolve(POOLED), POOLED.mean(axis=0))):
        for rows, columns in ((X, X), (X, Y), (NEW, POOLED)):
            np.testing.assert_allclose(kernel(rows, columns), naive.energy(rows, columns, origin), atol=1e-13)
        np.testing.assert_allclose(kernel.diagonal(NEW), np.diag(kernel(NEW)), rtol=1e-12)
        assert np.linalg.eigvalsh(kernel(POOLED)).min() > -1e-10


def test_the_statistic_is_the_energy_distance():
    found = two_sample_test(X, Y, kernel="energy", form="biased", **options(0)).statistic
    assert found == pytest.approx(naive.energy_distance(X, Y), rel=1e-12)
    shifted = two_sample_test(X, Y, kernel=Energy((9.0, 4.0)), form="biased", **options(0)).statistic
    assert shifted == pytest.approx(found, rel=1e-10)


def test_the_statistic_is_distance_covariance():
    given = options(0, kernel_x="energy", kernel_y="energy", form="biased")
    found = independence_test(X, PARTNER, **given).statistic
    assert found == pytest.approx(naive.distance_covariance(X, PARTNER), rel=1e-11)
    joint = joint_independence_test(X, PARTNER, kernels=Energy(), **options(0)).statistic
    assert joint == pytest.approx(found, rel=1e-9)


def test_against_dcor():
    dcor = pytest.importorskip("dcor")
    pairs = options(0, kernel_x="energy", kernel_y="energy", form="biased")
    found = independence_test(X, PARTNER, **pairs).statistic
    assert found == pytest.approx(dcor.distance_covariance_sqr(X, PARTNER), rel=1e-10)
    two = two_sample_test(X, Y, kernel="energy", form="biased", **options(0)).statistic
    assert two == pytest.approx(dcor.energy_distance(X, Y), rel=1e-10)


def test_routes():
    tied = np.round(X[:, :1]), np.round(Y[:, :1])  # a few distinct values: coordinates are few
    dense, factor = (two_sample_test(*tied, kernel="energy", gram=gram, **options()) for gram in ("dense", "factor"))
    assert factor.route == "factor" and factor.pvalue == dense.pvalue
    assert factor.statistic == pytest.approx(dense.statistic, rel=1e-9)
    with pytest.raises(ValueError, match="Gaussian"):
        two_sample_test(X, Y, kernel="energy", gram="rff", rank=5, **options())
    with pytest.raises(ValueError, match="for Gaussian kernels only"):
        two_sample_test(X, Y, kernel="energy", estimator="mkme", **options())
