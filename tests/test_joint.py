"""Joint independence: dHSIC, its features for other estimators, shuffles, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from naive_several import dhsic, p_joint, without_main_effects
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    SKMSE,
    Collection,
    Gaussian,
    IteratedTikhonov,
    Linear,
    Member,
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
PAIR = Collection([Member("kme", ("gaussian", "laplacian"))])


def halved(gram):
    """A user's estimator."""
    return gram.mean(axis=1) / len(gram)


def grams(n=12):
    return [Gaussian(width)(v[:n]) for width, v in zip(WIDTHS, (X, Y, Z), strict=True)]


# ---------------------------------------------------------------------------------------------------- shuffles


# -------------------------------------------------------------------------------------------------- statistics


def test_statistic_of_the_standard_mean_is_dhsic():
    result = joint_independence_test(X, Y, Z, bandwidths=WIDTHS, n_resamples=7, alpha=0.2, rng=0)
    assert np.isclose(result.statistic, dhsic(grams()), rtol=1e-10)
    shuffles = Draws.of(Shuffles(12, 3), 7, np.random.default_rng(0)).rows()
    K = grams()
    for value, (second, third) in zip(result.null_distribution, shuffles[1:], strict=True):
        moved = [K[0], K[1][np.ix_(second, second)], K[2][np.ix_(third, third)]]
        assert np.isclose(value, dhsic(moved), rtol=1e-9)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_features_are_tensors_without_main_effects(count):
    n = 6
    variables = [RNG.normal(size=(n, 2)) for _ in range(count)]
    psi = without_main_effects(variables)
    kernel = CentredProduct((Linear(),) * count, np.hstack(variables), (2,) * count)
    assert np.allclose(kernel(np.hstack(variables)), psi @ psi.T, atol=1e-12)
    # and their mean is that whose squared norm dHSIC is
    assert np.isclose(np.square(psi.mean(axis=0)).sum(), dhsic([z @ z.T for z in variables]))


@pytest.mark.parametrize("estimator", [KME(), SKMSE(), SKMSE(alpha=0.3), FKMSE(), IteratedTikhonov(), halved])
def test_every_estimator_is_applied_to_the_features(estimator):
    variables = [RNG.normal(size=(7, 1)) for _ in range(3)]
    result = joint_independence_test(
        *variables, kernels=Linear(), estimator=estimator, n_resamples=5, alpha=0.2, rng=1, workers=1
    )
    shuffles = Draws.of(Shuffles(7, 3), 5, np.random.default_rng(1)).rows()
    weigh = estimator if callable(estimator) else estimator.weights
    values = []
    for second, third in shuffles:
        psi = without_main_effects([variables[0], variables[1][second], variables[2][third]])
        values.append(np.square(weigh(psi @ psi.T) @ psi).sum())
    assert np.allclose([result.statistic, *result.null_distribution], values, rtol=1e-7, atol=1e-12)
    if not callable(estimator):
        assert np.isclose(result.estimates[0].norm2(), result.statistic, atol=1e-12)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, halved])
def test_two_variables_are_the_independence_test(estimator):
    given = {"estimator": estimator, "n_resamples": 39, "rng": 2, "workers": 1}
    one, other = independence_test(X, Y, **given), joint_independence_test(X, Y, **given)
    assert one.pvalue == other.pvalue
    assert np.allclose(one.null_distribution, other.null_distribution, rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("estimator", [KME(), FKMSE()])
def test_exhaustive_null_agrees_with_brute_force(estimator):
    result = joint_independence_test(
        X[:3], Y[:3], Z[:3], bandwidths=WIDTHS, estimator=estimator, n_resamples=np.inf, alpha=0.5
    )

    def statistic(K):
        if isinstance(estimator, KME):
            return dhsic(K)
        roots = [np.linalg.cholesky(k + 1e-14 * np.eye(3)) for k in K]
        psi = without_main_effects(roots)
        return np.square(estimator.weights(psi @ psi.T) @ psi).sum()

    assert result.exact and result.n_resamples == 36
    assert np.isclose(result.pvalue, p_joint(grams(3), statistic, 1e-9))


def test_parity_is_found_where_pairs_see_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.choice([-1.0, 1.0], size=(2, 80))
    found = joint_independence_test(x, y, x * y, rng=0, kernels="gaussian", n_resamples=99)
    assert found.pvalue == 0.01


def test_where_all_cancels_the_summary_has_what_rounding_left():
    rng = np.random.default_rng(7)
    for _ in range(20):
        x, y = rng.normal(size=(2, 2)), np.repeat(rng.normal(size=(1, 2)), 2, axis=0)
        found = joint_independence_test(x, y, kernels="linear", n_resamples=9, alpha=0.5, rng=0)
        assert "squared norm" in str(found.summary())


def test_workers_and_units_do_not_change_the_result():
    given = {"estimator": "fkmse", "n_resamples": 79, "rng": 4}
    one, two = (joint_independence_test(X, Y, Z, workers=w, **given) for w in (1, 2))
    assert np.array_equal(one.null_distribution, two.null_distribution)
    assert joint_independence_test(X, 1e3 * Y, 1e-3 * Z, **given).pvalue == one.pvalue


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        ((X,), {}, "give two variables or more, .* found 1"),
        ((X, Y[:5]), {}, r"variables\[0\] has 12 rows and variables\[1\] has 5 rows"),
        ((X[:1], Y[:1]), {}, "every variable has 1 row; a test needs at least 2"),
        ((X, Y, np.ones(12)), {}, r"variables\[2\]: all observations are equal"),
        ((X, np.where(Y > 1, np.nan, Y)), {}, r"variables\[1\] has \d+ missing value"),
        ((X, Y, Z), {"kernels": ["gaussian", "linear"]}, "kernels has 2 entries for 3 variables"),
        ((X, Y, Z), {"kernels": ["gaussian", "linar", "linear"]}, r"kernels\[1\] must be one of"),
        ((X, Y, Z), {"estimator": SKMSE(tuning="pooled")}, "tuning='pooled' tunes once"),
        ((X, Y, Z), {"max_memory": 100}, "max_memory=100 bytes; use a random part of the data, or raise max_memory"),
        ((X, Y, Z), {"estimator": "auto", "kernels": "laplacian"}, r"leave out kernels\[0\] and bandwidths\[0\]"),
        ((X, Y, Z), {"estimator": "auto", "stopping": "curtailed"}, "leave out stopping="),
        ((X, Y, Z), {"estimator": PAIR}, "the test has 3 variables, and Member.* has kernels for 2"),
        ((X, Y, Z), {"estimator": ["kme", "kme"]}, r"estimator holds KME\(\) twice"),
        ((X, Y, Z), {"bandwidths": ["median", "grid", "median"]}, "joint_independence_test takes no candidates"),
        ((X, Y, Z), {"bandwidths": [1.0, 0.0, 1.0]}, r"bandwidths\[1\] must be a finite number > 0"),
    ],
)
def test_bad_input_says_what_to_do(variables, options, message):
    with pytest.raises((ValueError, MemoryError), match=message):
        joint_independence_test(*variables, **options)


def test_marginalised_means_need_gaussian_kernels():
    with pytest.raises(ValueError, match="in closed form for Gaussian kernels only"):
        joint_independence_test(X, Y, Z, estimator=MKME(), kernels="laplacian")


def test_rows_with_other_labels_are_refused_and_missing_ones_left_out():
    import pandas as pd

    y = pd.Series(Y)
    with pytest.raises(ValueError, match=r"variables\[0\] and variables\[1\] have different row labels"):
        joint_independence_test(y, pd.Series(Z, index=range(1, 13)))
    holes = y.copy()
    holes[3] = np.nan
    keep = np.arange(12) != 3
    given = {"n_resamples": 19, "rng": 0}
    omitted = joint_independence_test(X, holes, Z, nan_policy="omit", **given)
    assert omitted.pvalue == joint_independence_test(X[keep], Y[keep], Z[keep], **given).pvalue
    assert np.isnan(joint_independence_test(X, holes, Z, nan_policy="propagate", **given).pvalue)


@pytest.mark.parametrize("offset", [0.0, 300.0, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_two_variables_far_from_zero(offset, kernel):
    """As by the test of two, whose features may lie where they like."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = x + 0.1 * rng.normal(size=40)
    if kernel == "polynomial" and offset > 1e3:
        offset = 1e3  # whose squares are large enough
    found = joint_independence_test(x + offset, y + offset, kernels=kernel, rng=0, n_resamples=199)
    of_two = independence_test(x + offset, y + offset, kernel_x=kernel, kernel_y=kernel, rng=0, n_resamples=199)
    assert found.pvalue == of_two.pvalue == 0.005
    assert found.statistic == pytest.approx(of_two.statistic, rel=1e-6)


def test_as_much_memory_as_there_is():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))
    told = {"rng": 0, "n_resamples": 99}
    assert joint_independence_test(x, y, max_memory=float("inf"), **told).pvalue > 0.0
    assert independence_test(x, y, max_memory=float("inf"), **told).pvalue > 0.0
