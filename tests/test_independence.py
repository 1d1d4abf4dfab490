"""independence_test: its statistic against the definition, exhaustive p-values, units, refusals."""

from __future__ import annotations

from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive
import naive_kernels
import naive_tests
import refits
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
from small import WIDTHS, X, Y, pair_test, values

K = naive_kernels.gaussian(X, X, WIDTHS[0])
L = naive_kernels.gaussian(Y, Y, WIDTHS[1])

WEIGHTED = [
    KME(),
    SKMSE(),
    SKMSE(rule="plugin"),
    SKMSE(alpha=0.3),
    SKMSE(decay=(2.0, 1.5)),
    *(FKMSE(loo=loo) for loo in ("deletion", "paper", "averaged")),
    FKMSE(lam=0.2),
    FKMSE(lam_cov=0.3),
    IteratedTikhonov(),
    IteratedTikhonov(lam=0.2, t=2),
    Landweber(),
    Landweber(t=6),
    NuMethod(loo="paper"),
    NuMethod(nu=0.5),
    NuMethod(t=3),
    TSVD(),
    TSVD(rule="gcv"),
    TSVD(m=3),
    TSVD(threshold=0.05),
]
MARGINALIZED = [MKME(), MMKME(), MKME(variance=0.4)]
FORMS = {"biased": naive_tests.hsic_biased, "unbiased": naive_tests.hsic_unbiased}


def pairings(n, count, seed=0):
    """The pairings that a test with this seed uses, the identity first."""
    return Draws.of(Pairings(n), count, np.random.default_rng(seed)).rows()


# --- the statistic, observed and relabelled -----------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 9])
@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
def test_the_operator_is_refitted_for_every_pairing(estimator, n):
    result = pair_test(X[:n], Y[:n], estimator, bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1])
    expected = [
        naive_tests.cose(K[:n, :n], L[:n, :n], lambda M: refits.weights(estimator, M), pi) for pi in pairings(n, 4)
    ]
    np.testing.assert_allclose(values(result), expected, rtol=1e-7, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_both_forms_of_hsic(form):
    result = pair_test(X, Y, bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1], form=form)
    expected = [FORMS[form](K, L[np.ix_(pi, pi)]) for pi in pairings(9, 4)]
    np.testing.assert_allclose(values(result), expected, rtol=1e-10, atol=1e-15)
    assert result.form == form


def test_simple_shrinkage_is_the_formula_of_s_cose():
    n, positive = len(X), 0
    for pi in pairings(n, 30):
        result = pair_test(X, Y[pi], SKMSE(), bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1], n_resamples=0)
        permuted = L[np.ix_(pi, pi)]
        xi = naive_tests.hsic_biased(K, permuted)
        nu = np.mean(np.diag(naive_tests.centred(K)) * np.diag(naive_tests.centred(permuted)))
        keep = max(0.0, 1 - (nu - xi) / ((n - 2) * xi + nu / n))
        assert result.statistic == pytest.approx(keep**2 * xi, rel=1e-9, abs=1e-15)
        assert result.estimates[0].shrinkage == pytest.approx(1 - keep, abs=1e-9)
        positive += keep > 0
    assert 3 < positive < 30  # the clamp is met, and not always


@pytest.mark.parametrize("estimator", MARGINALIZED, ids=repr)
def test_marginalised_margins(estimator):
    x, y, smoothed = X[:7], Y[:7, :2], []
    for Z, width in ((x, WIDTHS[0]), (y, WIDTHS[1])):
        e = refits.noise(estimator, width**2, Z)
        smoothed.append(naive_kernels.corrupted(Z, Z, width**2, 2 * e))
    for form, statistic in FORMS.items():
        result = pair_test(x, y, estimator, bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1], form=form)
        expected = [statistic(smoothed[0], smoothed[1][np.ix_(pi, pi)]) for pi in pairings(7, 4)]
        np.testing.assert_allclose(values(result), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("estimator", [KME(), SKMSE(), FKMSE(), NuMethod(), TSVD()], ids=repr)
def test_other_kernels(estimator):
    result = pair_test(X, Y, estimator, kernel_x=Linear(), kernel_y=Laplacian(0.8) + Polynomial(degree=2, offset=1))
    pair = (
        naive_kernels.linear(X, X),
        naive_kernels.laplacian(Y, Y, 0.8) + naive_kernels.polynomial(Y, Y, 2, 1),
    )
    expected = [naive_tests.cose(*pair, lambda M: refits.weights(estimator, M), pi) for pi in pairings(9, 4)]
    np.testing.assert_allclose(values(result), expected, rtol=1e-6, atol=1e-9)


def test_each_variable_has_the_median_bandwidth_of_its_own():
    result = pair_test(X, Y, n_resamples=0)
    expected = tuple(naive_kernels.median_bandwidth(Z) for Z in (X, Y))
    assert result.bandwidth == pytest.approx(expected, rel=1e-12)
    assert result.kernel == (Gaussian(result.bandwidth[0]), Gaussian(result.bandwidth[1]))
    explicit = pair_test(X, Y, bandwidth_x=result.bandwidth[0], bandwidth_y=result.bandwidth[1], n_resamples=0)
    assert explicit.statistic == result.statistic


@pytest.mark.parametrize("estimator", [*ESTIMATORS, FKMSE(lam_cov=0.1), MKME(variance=0.3)], ids=repr)
def test_the_statistic_is_the_squared_norm_of_the_estimate(estimator):
    result = pair_test(X, Y, estimator, form="biased", n_resamples=0)
    (estimate,) = result.estimates
    assert estimate.norm2() == pytest.approx(result.statistic, rel=1e-9, abs=1e-13)
    np.testing.assert_array_equal(estimate.points, np.hstack([X, Y]))
    assert estimate.weights.shape == (9,)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_neither_the_roles_nor_the_order_of_the_pairs_matter(name):
    expected = pair_test(X, Y, name, n_resamples=0).statistic
    order = [3, 1, 8, 0, 2, 7, 4, 6, 5]
    for other in (pair_test(Y, X, name, n_resamples=0), pair_test(X[order], Y[order], name, n_resamples=0)):
        assert other.statistic == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_units_do_not_matter(name):
    result = pair_test(X, Y, name, n_resamples=99)
    for a, b in ((1e-6, 1.0), (1.0, 1e5), (1e4, 1e-3), (2.0**20, 2.0**-20)):
        other = pair_test(a * X + 3 * a, b * Y - 7 * b, name, n_resamples=99)
        assert other.pvalue == result.pvalue
        np.testing.assert_allclose(values(other), values(result), rtol=1e-6, atol=1e-10)
        assert other.bandwidth == pytest.approx((a * result.bandwidth[0], b * result.bandwidth[1]), rel=1e-9)


# --- exhaustive nulls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [e for e in WEIGHTED if "loo=" not in repr(e)], ids=repr)
def test_exhaustive_p_values(estimator):
    n = 4
    K4, L4 = K[:n, :n], L[:n, :n]
    result = pair_test(X[:n], Y[:n], estimator, bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1], n_resamples=np.inf)
    expected = refits.pairing_values(K4, L4, lambda M: refits.weights(estimator, M))
    np.testing.assert_allclose(result.null_distribution, expected, rtol=1e-6, atol=1e-10)
    assert result.pvalue == np.mean(expected >= expected[0] - 1e-9)
    assert (result.exact, result.n_resamples) == (True, factorial(n))


@pytest.mark.parametrize("name", ["kme", "skmse", "mkme"])
def test_exhaustive_p_values_of_more_pairs(name):
    n = 6
    result = pair_test(X[:n], Y[:n], name, n_resamples=np.inf)
    grams = []
    for Z, width in ((X[:n], result.bandwidth[0]), (Y[:n], result.bandwidth[1])):
        e = refits.noise(MKME(), width**2, Z) if name == "mkme" else 0.0
        grams.append(naive_kernels.corrupted(Z, Z, width**2, 2 * e))
    weights = naive.skmse if name == "skmse" else naive.kme
    centred = [naive_tests.centred(G) for G in grams]

    def statistic(_, permuted):  # centring and permuting commute
        M = centred[0] * permuted
        return weights(M) @ M @ weights(M)

    assert result.pvalue == naive_tests.p_independence(centred[0], centred[1], statistic, 1e-10)
    assert len(set(result.null_distribution)) > 300 or name == "skmse"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [4, 5])
def test_p_values_of_scipy(n, form):
    x, y = X[:n], Y[:n]
    result = pair_test(x, y, form=form, n_resamples=np.inf)
    grams = [kernel(z) for kernel, z in zip(result.kernel, (x, y), strict=True)]

    def statistic(order):
        order = order.astype(int)
        return FORMS[form](grams[0], grams[1][np.ix_(order, order)])

    expected = stats.permutation_test(
        (np.arange(n),),
        statistic,
        permutation_type="pairings",
        n_resamples=np.inf,
        alternative="greater",
        vectorized=False,
    )
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


def test_enumeration_starts_when_the_resamples_suffice():
    below, at = (pair_test(X[:5], Y[:5], n_resamples=count) for count in (119, 120))
    assert (below.exact, below.n_resamples) == (False, 119)
    assert (at.exact, at.n_resamples) == (True, 120)
    assert at.statistic == at.null_distribution[0]


# --- input and refusals -------------------------------------------------------------------------------------


def test_lists_and_tables():
    expected = values(pair_test(X, Y))
    table = pd.DataFrame(np.hstack([X, Y]), columns=list("abcde"))
    for x, y in ((X.tolist(), Y.tolist()), (table[["a", "b"]], table[["c", "d", "e"]])):
        np.testing.assert_array_equal(values(pair_test(x, y, scale=None)), expected)
    np.testing.assert_array_equal(values(pair_test(table["a"], table["c"])), values(pair_test(X[:, 0], Y[:, :1])))


def test_real_data():
    data = load_eckerle4()
    for estimator in ESTIMATORS:
        result = pair_test(data.wavelength, data.transmittance, estimator, n_resamples=199)
        assert result.pvalue <= 0.03
        assert result.n_observations == (35,)
    shuffled = np.random.default_rng(0).permutation(data.transmittance)
    assert pair_test(data.wavelength, shuffled, n_resamples=99).pvalue > 0.1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"estimator": FKMSE(tuning="joint")}, ValueError, "one sample of pairs; use tuning='sample'"),
        ({"estimator": MKME(tuning="joint")}, ValueError, "one sample of pairs; use tuning='sample'"),
        ({"estimator": SKMSE(tuning="pooled")}, ValueError, "every amount would shrink to nothing"),
        ({"estimator": TSVD(tuning="pooled")}, ValueError, "every amount would shrink to nothing"),
        ({"estimator": SKMSE(target=([[0.0]], [1.0]))}, ValueError, "natural target is zero"),
        ({"estimator": "hsic"}, ValueError, "estimator must be one of"),
        ({"form": "unbiased", "estimator": "skmse"}, ValueError, r"use form='biased' with SKMSE\(\)"),
        ({"form": "unbiased", "X": X[:3], "Y": Y[:3]}, ValueError, "needs at least 4 pairs; found 3"),
        ({"form": "u"}, ValueError, "form must be one of"),
        ({"alpha": 0.0}, ValueError, "alpha must lie strictly between 0 and 1"),
        ({"n_resamples": np.inf, "X": np.arange(13.0), "Y": np.arange(13.0)}, ValueError, "too many"),
        ({"kernel_y": "rbf"}, ValueError, "kernel_y 'rbf' is called 'gaussian' here"),
        ({"bandwidth_y": 0.0}, ValueError, "bandwidth_y must be a finite number > 0"),
        ({"kernel_x": "linear", "bandwidth_x": 1.0}, ValueError, "bandwidth_x=1.0 has no effect on kernel_x"),
        ({"kernel_y": "linear", "estimator": "mkme"}, ValueError, "Gaussian kernels only"),
        ({"Y": Y[:8]}, ValueError, "X has 9 rows and Y has 8 rows"),
        ({"X": X[:1], "Y": Y[:1]}, ValueError, "X and Y has 1 row; a test needs at least 2"),
    ],
)
def test_refusals_name_the_argument(arguments, error, message):
    given = {"X": X, "Y": Y, **arguments}
    with pytest.raises(error, match=message):
        independence_test(given.pop("X"), given.pop("Y"), **given)


def test_why_pooled_tuning_makes_no_sense_here():
    everything = np.kron(naive_tests.centred(K[:4, :4]), naive_tests.centred(L[:4, :4]))  # all n^2 pairs
    assert naive.skmse_factor(everything) == 0.0
    assert naive.fkmse_choice(everything) == np.inf
