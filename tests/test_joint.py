"""Joint independence: dHSIC, its features for other estimators, shuffles, and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from naive_several import dhsic, p_joint, without_main_effects
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    SKMSE,
    Candidate,
    Ensemble,
    Gaussian,
    IteratedTikhonov,
    Linear,
    independence_test,
    joint_independence_test,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.kernels.inner import CentredProduct
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Shuffles

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=12)
Z = np.sign(Y) * np.abs(RNG.normal(size=12)) + 0.3 * X[:, 0]
WIDTHS = [1.1, 0.8, 0.9]


def halved(gram):
    """A user's estimator."""
    return gram.mean(axis=1) / len(gram)


def grams(n=12):
    return [Gaussian(width)(v[:n]) for width, v in zip(WIDTHS, (X, Y, Z), strict=True)]


def test_statistic_of_the_standard_mean_is_dhsic():
    result = joint_independence_test(X, Y, Z, bandwidths=WIDTHS, n_resamples=7, alpha=0.2, rng=0)
    assert np.isclose(result.statistic, dhsic(grams()), rtol=1e-10)
    shuffles = Draws.of(Shuffles(12, 3), 7, np.random.default_rng(0)).rows()
    K = grams()
    for value, (second, third) in zip(result.null_distribution, shuffles[1:], strict=True):
        moved = [K[0], K[1][np.ix_(second, second)], K[2][np.ix_(third, third)]]
        assert np.isclose(value, dhsic(moved), rtol=1e-9)


def test_features_are_tensors_without_main_effects():
    n = 6
    for count in (2, 3, 4):
        variables = [RNG.normal(size=(n, 2)) for _ in range(count)]
        psi = without_main_effects(variables)
        kernel = CentredProduct((Linear(),) * count, np.hstack(variables), (2,) * count)
        assert np.allclose(kernel(np.hstack(variables)), psi @ psi.T, atol=1e-12)
        # and their mean is that whose squared norm dHSIC is
        assert np.isclose(np.square(psi.mean(axis=0)).sum(), dhsic([z @ z.T for z in variables]))


def test_every_estimator_is_applied_to_the_features():
    variables = [RNG.normal(size=(7, 1)) for _ in range(3)]
    shuffles = Draws.of(Shuffles(7, 3), 5, np.random.default_rng(1)).rows()
    for estimator in (KME(), SKMSE(), SKMSE(alpha=0.3), FKMSE(), IteratedTikhonov(), halved):
        told = {"kernels": Linear(), "n_resamples": 5, "alpha": 0.2, "rng": 1, "workers": 1}
        result, values = joint_independence_test(*variables, estimator=estimator, **told), []
        weigh = estimator if callable(estimator) else estimator.weights
        for second, third in shuffles:
            psi = without_main_effects([variables[0], variables[1][second], variables[2][third]])
            values.append(np.square(weigh(psi @ psi.T) @ psi).sum())
        assert np.allclose([result.statistic, *result.null_distribution], values, rtol=1e-7, atol=1e-12)
        assert callable(estimator) or np.isclose(result.estimates[0].norm2(), result.statistic, atol=1e-12)


def test_two_variables_are_the_independence_test():
    for estimator in (*ESTIMATORS, halved):
        told = {"estimator": estimator, "n_resamples": 39, "rng": 2, "workers": 1}
        one, other = independence_test(X, Y, **told), joint_independence_test(X, Y, **told)
        assert one.pvalue == other.pvalue
        assert np.allclose(one.null_distribution, other.null_distribution, rtol=1e-6, atol=1e-11)
    rng = np.random.default_rng(0)  # features may lie as far from zero as they like
    x = rng.normal(size=40)
    y = x + 0.1 * rng.normal(size=40)
    for kernel, offset in (("linear", 0.0), ("linear", 1e6), ("polynomial", 0.0), ("polynomial", 1e3)):
        told = {"rng": 0, "n_resamples": 199, "max_memory": float("inf")}
        joint = joint_independence_test(x + offset, y + offset, kernels=kernel, **told)
        pair = independence_test(x + offset, y + offset, kernel_x=kernel, kernel_y=kernel, **told)
        assert joint.pvalue == pair.pvalue == 0.005
        assert joint.statistic == pytest.approx(pair.statistic, rel=1e-6)


def test_exhaustive_null_agrees_with_brute_force():
    for estimator in (KME(), FKMSE()):
        told = {"bandwidths": WIDTHS, "estimator": estimator, "n_resamples": np.inf, "alpha": 0.5}
        result = joint_independence_test(X[:3], Y[:3], Z[:3], **told)

        def statistic(K, estimator=estimator):
            if isinstance(estimator, KME):
                return dhsic(K)
            roots = [np.linalg.cholesky(k + 1e-14 * np.eye(3)) for k in K]
            psi = without_main_effects(roots)
            return np.square(estimator.weights(psi @ psi.T) @ psi).sum()

        assert result.exact and result.n_resamples == 36
        assert np.isclose(result.pvalue, p_joint(grams(3), statistic, 1e-9))


def test_parity_is_found_where_pairs_see_nothing():
    x, y = np.random.default_rng(0).choice([-1.0, 1.0], size=(2, 80))
    assert joint_independence_test(x, y, x * y, rng=0, kernels="gaussian", n_resamples=99).pvalue == 0.01


def test_workers_units_and_missing_rows():
    told = {"estimator": "fkmse", "n_resamples": 79, "rng": 4}
    one, two = (joint_independence_test(X, Y, Z, workers=w, **told) for w in (1, 2))
    assert np.array_equal(one.null_distribution, two.null_distribution)
    assert joint_independence_test(X, 1e3 * Y, 1e-3 * Z, **told).pvalue == one.pvalue
    rows = np.arange(12) != 3
    holed = np.where(rows, Y, np.nan)
    omitted = joint_independence_test(X, holed, Z, nan_policy="omit", **told)
    assert omitted.pvalue == joint_independence_test(X[rows], Y[rows], Z[rows], **told).pvalue
    assert np.isnan(joint_independence_test(X, holed, Z, nan_policy="propagate", **told).pvalue)


def test_refusals_name_the_argument():
    three, pair = (X, Y, Z), Ensemble([Candidate("kme", ("gaussian", "laplacian"))])
    for variables, options, name in (
        ((X,), {}, "two variables"),
        ((X, Y[:5]), {}, r"variables\[1\]"),
        ((X[:1], Y[:1]), {}, "1 row"),
        ((X, Y, np.ones(12)), {}, r"variables\[2\]"),
        ((X, np.where(Y > 1, np.nan, Y)), {}, r"variables\[1\]"),
        ((pd.Series(Y), pd.Series(Z, index=range(1, 13))), {}, "row labels"),
        (three, {"kernels": ["gaussian", "linear"]}, "kernels"),
        (three, {"kernels": ["gaussian", "linar", "linear"]}, r"kernels\[1\]"),
        (three, {"estimator": MKME(), "kernels": "laplacian"}, "Gaussian"),
        (three, {"estimator": SKMSE(tuning="pooled")}, "tuning='pooled'"),
        (three, {"max_memory": 100}, "max_memory"),
        (three, {"estimator": "auto", "kernels": "laplacian"}, r"kernels\[0\]"),
        (three, {"estimator": "auto", "stopping": "curtailed"}, "stopping"),
        (three, {"estimator": pair}, "kernels for 2"),
        (three, {"estimator": ["kme", "kme"]}, "twice"),
        (three, {"bandwidths": ["median", "grid", "median"]}, "candidates"),
        (three, {"bandwidths": [1.0, 0.0, 1.0]}, r"bandwidths\[1\]"),
    ):
        with pytest.raises((ValueError, MemoryError), match=name):
            joint_independence_test(*variables, **options)
