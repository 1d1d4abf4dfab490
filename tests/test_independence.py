"""independence_test: its statistic against the definition, exhaustive p-values, units, refusals."""

from __future__ import annotations

import itertools
from math import factorial

import numpy as np
import pytest
from scipy import stats

import naive_kernels
import naive_tests
import refits
from cases import WIDTHS, X, Y, pair_test, values
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    Laplacian,
    Linear,
    NuMethod,
    Polynomial,
    independence_test,
)
from shrinktest.datasets import load_eckerle4
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Pairings

K = naive_kernels.gaussian(X, X, WIDTHS[0])
L = naive_kernels.gaussian(Y, Y, WIDTHS[1])
WIDE = {"bandwidth_x": WIDTHS[0], "bandwidth_y": WIDTHS[1]}
WEIGHTED = [
    *(KME(), SKMSE(), SKMSE(rule="plugin"), SKMSE(alpha=0.3), SKMSE(decay=(2.0, 1.5))),
    *(
        FKMSE(loo="deletion"),
        FKMSE(loo="paper"),
        FKMSE(loo="averaged"),
        FKMSE(lam=0.2),
        FKMSE(lam_cov=0.3),
    ),
    *(IteratedTikhonov(), IteratedTikhonov(lam=0.2, t=2), Landweber(), Landweber(t=6)),
    *(NuMethod(loo="paper"), NuMethod(nu=0.5), NuMethod(t=3)),
    *(TSVD(), TSVD(rule="gcv"), TSVD(m=3), TSVD(threshold=0.05)),
]
FORMS = {"biased": naive_tests.hsic_biased, "unbiased": naive_tests.hsic_unbiased}


def pairings(n, count, seed=0):
    """The pairings that a test with this seed uses, the identity first."""
    return Draws.of(Pairings(n), count, np.random.default_rng(seed)).rows()


def test_the_operator_is_refitted_for_every_pairing():
    for estimator, n in itertools.product(WEIGHTED, (6, 9)):
        result = pair_test(X[:n], Y[:n], estimator, **WIDE, n_resamples=2)
        refit = lambda M, estimator=estimator: refits.weights(estimator, M)  # noqa: E731
        expected = [naive_tests.cose(K[:n, :n], L[:n, :n], refit, pi) for pi in pairings(n, 2)]
        np.testing.assert_allclose(
            values(result), expected, rtol=1e-7, atol=1e-11, err_msg=repr(estimator)
        )


def test_both_forms_of_hsic():
    for form, twin in FORMS.items():
        result = pair_test(X, Y, **WIDE, form=form)
        expected = [twin(K, L[np.ix_(pi, pi)]) for pi in pairings(9, 4)]
        np.testing.assert_allclose(values(result), expected, rtol=1e-10, atol=1e-15)
        assert result.form == form


def test_simple_shrinkage_is_the_formula_of_s_cose():
    n, positive = len(X), 0
    for pi in pairings(n, 30):
        result = pair_test(X, Y[pi], SKMSE(), **WIDE, n_resamples=0)
        permuted = L[np.ix_(pi, pi)]
        xi = naive_tests.hsic_biased(K, permuted)
        nu = np.mean(np.diag(naive_tests.centered(K)) * np.diag(naive_tests.centered(permuted)))
        keep = max(0.0, 1 - (nu - xi) / ((n - 2) * xi + nu / n))
        assert result.statistic == pytest.approx(keep**2 * xi, rel=1e-9, abs=1e-15)
        assert result.estimates[0].shrinkage == pytest.approx(1 - keep, abs=1e-9)
        positive += keep > 0
    assert 3 < positive < 30  # the clamp is met, and not always


def test_marginalized_margins():
    for estimator in (MKME(), MMKME(), MKME(variance=0.4)):
        x, y, smoothed = X[:7], Y[:7, :2], []
        for Z, width in ((x, WIDTHS[0]), (y, WIDTHS[1])):
            e = refits.noise(estimator, width**2, Z)
            smoothed.append(naive_kernels.corrupted(Z, Z, width**2, 2 * e))
        for form, statistic in FORMS.items():
            result = pair_test(x, y, estimator, **WIDE, form=form)
            expected = [
                statistic(smoothed[0], smoothed[1][np.ix_(pi, pi)]) for pi in pairings(7, 4)
            ]
            np.testing.assert_allclose(values(result), expected, rtol=1e-5, atol=1e-9)


def test_other_kernels():
    second = naive_kernels.laplacian(Y, Y, 0.8) + naive_kernels.polynomial(Y, Y, 2, 1)
    kernels = {"kernel_x": Linear(), "kernel_y": Laplacian(0.8) + Polynomial(degree=2, offset=1)}
    for estimator in (KME(), SKMSE(), FKMSE(), NuMethod(), TSVD()):
        refit = lambda M, estimator=estimator: refits.weights(estimator, M)  # noqa: E731
        expected = [
            naive_tests.cose(naive_kernels.linear(X, X), second, refit, pi) for pi in pairings(9, 4)
        ]
        np.testing.assert_allclose(
            values(pair_test(X, Y, estimator, **kernels)), expected, rtol=1e-6, atol=1e-9
        )


def test_each_variable_has_the_median_bandwidth_of_its_own():
    result = pair_test(X, Y, n_resamples=0)
    assert result.bandwidth == pytest.approx(
        [naive_kernels.median_bandwidth(Z) for Z in (X, Y)], rel=1e-12
    )
    assert result.kernel == (Gaussian(result.bandwidth[0]), Gaussian(result.bandwidth[1]))


def test_the_statistic_is_the_squared_norm_of_the_estimate_in_any_order():
    order = [3, 1, 8, 0, 2, 7, 4, 6, 5]
    for estimator in (*ESTIMATORS, FKMSE(lam_cov=0.1), MKME(variance=0.3)):
        result = pair_test(X, Y, estimator, form="biased", n_resamples=0)
        (estimate,) = result.estimates
        assert estimate.norm2() == pytest.approx(result.statistic, rel=1e-9, abs=1e-13)
        np.testing.assert_array_equal(estimate.points, np.hstack([X, Y]))
        assert estimate.weights.shape == (9,)
        for pair in ((Y, X), (X[order], Y[order])):
            other = pair_test(*pair, estimator, n_resamples=0)
            assert other.statistic == pytest.approx(result.statistic, rel=1e-7, abs=1e-12), (
                estimator
            )


def test_units_do_not_matter():
    for name, (a, b) in itertools.product(
        ESTIMATORS, ((1e-6, 1.0), (1.0, 1e5), (1e4, 1e-3), (2.0**20, 2.0**-20))
    ):
        result = pair_test(X, Y, name, n_resamples=39)
        other = pair_test(a * X + 3 * a, b * Y - 7 * b, name, n_resamples=39)
        assert other.pvalue == result.pvalue, name
        np.testing.assert_allclose(values(other), values(result), rtol=1e-6, atol=1e-10)
        assert other.bandwidth == pytest.approx(
            (a * result.bandwidth[0], b * result.bandwidth[1]), rel=1e-9
        )


def test_exhaustive_p_values():
    n = 4
    for estimator in (e for e in WEIGHTED if "loo=" not in repr(e)):
        result = pair_test(X[:n], Y[:n], estimator, **WIDE, n_resamples=np.inf)
        refit = lambda M, estimator=estimator: refits.weights(estimator, M)  # noqa: E731
        expected = refits.pairing_values(K[:n, :n], L[:n, :n], refit)
        np.testing.assert_allclose(
            result.null_distribution, expected, rtol=1e-6, atol=1e-10, err_msg=repr(estimator)
        )
        assert result.pvalue == np.mean(expected >= expected[0] - 1e-9)
        assert (result.exact, result.n_resamples) == (True, factorial(n))


def test_p_values_of_scipy():
    for n, (form, twin) in itertools.product((4, 5), FORMS.items()):
        result = pair_test(X[:n], Y[:n], form=form, n_resamples=np.inf)
        grams = [kernel(z) for kernel, z in zip(result.kernel, (X[:n], Y[:n]), strict=True)]

        def statistic(order, grams=grams, twin=twin):
            order = order.astype(int)
            return twin(grams[0], grams[1][np.ix_(order, order)])

        options = {
            "permutation_type": "pairings",
            "n_resamples": np.inf,
            "alternative": "greater",
            "vectorized": False,
        }
        expected = stats.permutation_test((np.arange(n),), statistic, **options)
        assert result.statistic == pytest.approx(expected.statistic, rel=1e-10)
        assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


def test_enumeration_starts_when_the_resamples_suffice():
    below, at = (pair_test(X[:5], Y[:5], n_resamples=count) for count in (119, 120))
    assert (below.exact, below.n_resamples) == (False, 119) and (at.exact, at.n_resamples) == (
        True,
        120,
    )
    assert at.statistic == at.null_distribution[0]


def test_real_data():
    data = load_eckerle4()
    for estimator in ESTIMATORS:
        result = pair_test(data.wavelength, data.transmittance, estimator, n_resamples=99)
        assert result.pvalue <= 0.03 and result.n_observations == (35,)
    shuffled = np.random.default_rng(0).permutation(data.transmittance)
    assert pair_test(data.wavelength, shuffled, n_resamples=99).pvalue > 0.1


def test_refusals_name_the_argument():
    line = np.arange(13.0)
    for arguments, name in (
        ({"estimator": FKMSE(tuning="joint")}, "tuning='sample'"),
        ({"estimator": MKME(tuning="joint")}, "tuning='sample'"),
        ({"estimator": SKMSE(tuning="pooled")}, "amount"),
        ({"estimator": SKMSE(target=([[0.0]], [1.0]))}, "target"),
        ({"estimator": "hsic"}, "estimator"),
        ({"form": "unbiased", "estimator": "skmse"}, "form"),
        ({"form": "unbiased", "X": X[:3], "Y": Y[:3]}, "4 pairs"),
        ({"form": "u"}, "form"),
        ({"alpha": 0.0}, "alpha"),
        ({"n_resamples": np.inf, "X": line, "Y": line}, "too many"),
        ({"kernel_y": "gausian"}, "kernel_y"),
        ({"bandwidth_y": 0.0}, "bandwidth_y"),
        ({"kernel_x": "linear", "bandwidth_x": 1.0}, "bandwidth_x"),
        ({"kernel_y": "linear", "estimator": "mkme"}, "Gaussian"),
        ({"Y": Y[:8]}, "X has 9 rows and Y has 8 rows"),
        ({"X": X[:1], "Y": Y[:1]}, "X and Y"),
    ):
        given = {"X": X, "Y": Y, **arguments}
        with pytest.raises(ValueError, match=name):
            independence_test(given.pop("X"), given.pop("Y"), **given)
