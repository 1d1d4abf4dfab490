"""two_sample_test: its statistic against the definition, exhaustive p-values, refusals."""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Labels
from small import BANDWIDTH, POINTS, SIZES, TUNED, samples, split_test, values

TARGET = ([[0.0, 0.0], [0.5, -0.5]], [0.4, 0.3])

WEIGHTED = [
    KME(),
    *(cls(tuning=tuning) for cls in TUNED for tuning in ("sample", "joint", "pooled")),
    *(SKMSE(rule="plugin", tuning=tuning) for tuning in ("sample", "joint", "pooled")),
    SKMSE(alpha=0.3),
    SKMSE(decay=(2.0, 1.5)),
    *(FKMSE(loo=loo, tuning=tuning) for loo in ("paper", "averaged") for tuning in ("sample", "joint")),
    FKMSE(lam=0.7),
    FKMSE(lam_cov=0.3),
    IteratedTikhonov(t=2, loo="paper", tuning="joint"),
    IteratedTikhonov(lam=0.7, t=4),
    IteratedTikhonov(lam_cov=0.3, t=2),
    Landweber(loo="paper", max_iter=30, tuning="joint"),
    Landweber(t=7),
    Landweber(t=3, eta=0.4),
    NuMethod(nu=0.5, loo="paper", tuning="sample"),
    NuMethod(t=4, nu=2.0),
    TSVD(rule="gcv", tuning="joint"),
    TSVD(m=2),
    TSVD(threshold=0.05),
]
MARGINALIZED = [
    MKME(variance=0.4),
    MMKME(variances=(0.4, 0.1)),
    *(cls(tuning=tuning) for cls in (MKME, MMKME) for tuning in ("sample", "pooled")),
    MKME(tuning="joint"),
]
FORMS = {"biased": naive_tests.mmd2_biased, "unbiased": naive_tests.mmd2_unbiased}
WEIGHTED_FORMS = {"biased": naive_tests.mmd2_weighted, "unbiased": naive_tests.mmd2_weighted_unbiased}


def tuning_of(estimator):
    return getattr(estimator, "tuning", "sample")


def gram(points, kernel=naive_kernels.gaussian, *parameters):
    return kernel(points, points, *(parameters or (BANDWIDTH,)))


def masks(m, n, count, seed=0):
    """The relabellings that a test with this seed uses, the identity first, as (S, T)."""
    drawn = Draws.of(Labels((m, n)), count, np.random.default_rng(seed)).rows() == 0
    return [(np.flatnonzero(mask), np.flatnonzero(~mask)) for mask in drawn]


# --- the statistic, observed and relabelled -----------------------------------------------------------------


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
def test_both_samples_are_refitted_in_every_relabelling(estimator, sizes):
    G = gram(POINTS[: sum(sizes)])
    for form, twin in WEIGHTED_FORMS.items():
        result = split_test(*samples(*sizes), estimator, bandwidth=BANDWIDTH, form=form)
        naive = refits.mmd2(estimator, tuning_of(estimator), G, twin)
        expected = [naive(G, S, T) for S, T in masks(*sizes, 4)]
        np.testing.assert_allclose(values(result), expected, rtol=1e-8, atol=1e-11)


def test_both_forms_of_a_function_and_of_compiled_weights():
    sizes = (6, 4)
    G = gram(POINTS[:10])
    uneven = lambda K: (1.0 + np.arange(len(K))) / (len(K) * (len(K) + 1.0))  # noqa: E731
    for form, twin in WEIGHTED_FORMS.items():
        result = split_test(*samples(*sizes), uneven, bandwidth=BANDWIDTH, form=form)
        expected = [
            twin(*(part for R in (S, T) for part in (uneven(R), G[np.ix_(R, R)])), G[np.ix_(S, T)])
            for S, T in masks(*sizes, 4)
        ]
        np.testing.assert_allclose(values(result), expected, rtol=1e-10)


def test_the_unbiased_form_does_not_favour_a_direction():
    """Fixed weights, P = Q: its mean is zero for any sizes, which that of the other form is not."""
    weights = FKMSE(lam_cov=0.3)
    found = {form: [] for form in WEIGHTED_FORMS}
    for seed in range(300):
        Z = np.random.default_rng(seed).normal(size=(16, 2))
        for form, seen in found.items():
            seen.append(split_test(Z[:4], Z[4:], weights, bandwidth=1.0, form=form, n_resamples=0).statistic)
    error = np.std(found["unbiased"]) / np.sqrt(300)
    assert np.mean(found["biased"]) > 20 * error
    assert abs(np.mean(found["unbiased"])) < 0.2 * np.mean(found["biased"])


@pytest.mark.parametrize("sizes", [(4, 4), (5, 3)], ids=str)
@pytest.mark.parametrize("estimator", MARGINALIZED, ids=repr)
def test_marginalised_means_in_every_relabelling(estimator, sizes):
    pooled = POINTS[: sum(sizes)]
    naive = refits.smoothed_grams(estimator, tuning_of(estimator), pooled, BANDWIDTH**2)
    grams = [naive(S, T) for S, T in masks(*sizes, 1)]
    for form, statistic in FORMS.items():
        result = split_test(*samples(*sizes), estimator, bandwidth=BANDWIDTH, form=form, n_resamples=1)
        expected = [statistic(*three) for three in grams]
        np.testing.assert_allclose(values(result), expected, rtol=1e-6, atol=1e-8)


def test_joint_marginalised_means_agree_in_one_dimension():
    line = POINTS[:, :1]
    tied, free = (split_test(line[:6], line[6:], cls(tuning="joint"), bandwidth=0.7) for cls in (MKME, MMKME))
    np.testing.assert_allclose(values(tied), values(free), rtol=1e-7)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_both_forms_of_the_standard_statistic(sizes):
    G = gram(POINTS[: sum(sizes)])
    for form, naive in FORMS.items():
        result = split_test(*samples(*sizes), bandwidth=BANDWIDTH, form=form)
        expected = [naive(G[np.ix_(S, S)], G[np.ix_(T, T)], G[np.ix_(S, T)]) for S, T in masks(*sizes, 4)]
        np.testing.assert_allclose(values(result), expected, rtol=1e-11, atol=1e-14)
        assert result.form == form


@pytest.mark.parametrize("rule", ["loocv", "plugin"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_shrinkage_towards_a_target(sizes, rule):
    estimator = SKMSE(rule=rule, target=TARGET, tuning="sample")
    result = split_test(*samples(*sizes), estimator, bandwidth=BANDWIDTH, form="biased")
    pooled = POINTS[: sum(sizes)]
    expected = [
        refits.mmd2_target(estimator, lambda X, Y: naive_kernels.gaussian(X, Y, BANDWIDTH), pooled, S, T)
        for S, T in masks(*sizes, 4)
    ]
    np.testing.assert_allclose(values(result), expected, rtol=1e-9)
    assert abs(result.statistic - split_test(*samples(*sizes), SKMSE(rule=rule, tuning="sample")).statistic) > 1e-3


@pytest.mark.parametrize("estimator", [KME(), SKMSE(), FKMSE(), NuMethod(), TSVD()], ids=repr)
@pytest.mark.parametrize(
    ("kernel", "naive_kernel", "parameters"),
    [
        (Laplacian(0.8), naive_kernels.laplacian, (0.8,)),
        (Linear(), naive_kernels.linear, ()),
        (Polynomial(degree=3, offset=1), naive_kernels.polynomial, (3, 1)),
        (Gaussian((0.5, 2.0)), naive_kernels.gaussian, (np.array([0.5, 2.0]),)),
    ],
    ids=["Laplacian", "Linear", "Polynomial", "ARD"],
)
def test_other_kernels(estimator, kernel, naive_kernel, parameters):
    result = split_test(*samples(5, 5), estimator, kernel=kernel, n_resamples=2)
    G = naive_kernel(POINTS[:10], POINTS[:10], *parameters)
    naive = refits.mmd2(estimator, "sample", G)
    expected = [naive(G, S, T) for S, T in masks(5, 5, 2)]
    np.testing.assert_allclose(values(result), expected, rtol=1e-7, atol=1e-9 * np.trace(G) / len(G))


def test_the_median_bandwidth_is_that_of_the_pooled_sample():
    result = split_test(*samples(7, 4))
    assert result.bandwidth == pytest.approx(naive_kernels.median_bandwidth(POINTS[:11]), rel=1e-12)
    assert result.kernel == Gaussian(result.bandwidth)
    np.testing.assert_array_equal(values(result), values(split_test(*samples(7, 4), bandwidth=result.bandwidth)))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, FKMSE(lam_cov=0.1), SKMSE(target=TARGET)], ids=repr)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_statistic_is_the_distance_of_the_estimates(estimator, sizes):
    result = split_test(*samples(*sizes), estimator, form="biased")
    first, second = result.estimates
    assert result.statistic == pytest.approx(first.distance2(second), rel=1e-9)
    assert (len(first.points), len(second.points)) == sizes or "target" in repr(estimator)


@pytest.mark.parametrize("tuning", ["joint", "pooled"])
@pytest.mark.parametrize("cls", [SKMSE, Landweber, MKME, MMKME])
def test_a_common_amount_is_common_to_the_estimates(cls, tuning):
    first, second = split_test(*samples(6, 4), cls(tuning=tuning)).estimates
    assert first.shrinkage == second.shrinkage
    apart = split_test(*samples(6, 4), cls(tuning="sample")).estimates
    assert apart[0].shrinkage != apart[1].shrinkage


def test_the_amounts_of_the_estimates_are_in_the_unit_of_the_parameter():
    X, Y = samples(6, 4)
    lam_cov = refits.amount(FKMSE(), gram(X), gram(Y))["lam_cov"]
    first, second = split_test(X, Y, "fkmse", bandwidth=BANDWIDTH).estimates
    assert (first.shrinkage, second.shrinkage) == pytest.approx((6 * lam_cov, 4 * lam_cov), rel=1e-9)
    refitted = FKMSE(lam=first.shrinkage).fit(X, Gaussian(BANDWIDTH))
    np.testing.assert_allclose(first.weights, refitted.weights, rtol=1e-10)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_neither_the_order_of_the_samples_nor_of_their_rows_matters(name):
    X, Y = samples(7, 5)
    estimator = ESTIMATORS[name]()
    expected = split_test(X, Y, estimator, n_resamples=0).statistic
    for other in (split_test(Y, X, estimator, n_resamples=0), split_test(X[::-1], Y[[2, 4, 0, 1, 3]], estimator)):
        assert other.statistic == pytest.approx(expected, rel=1e-7, abs=1e-12)


# --- exhaustive nulls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(3, 3), (2, 4)], ids=str)
@pytest.mark.parametrize("estimator", [e for e in WEIGHTED if "loo=" not in repr(e)], ids=repr)
def test_exhaustive_p_values(estimator, sizes):
    m, n = sizes
    X, Y = samples(m, n)
    G = gram(POINTS[: m + n])
    result = split_test(X, Y, estimator, bandwidth=BANDWIDTH, form="biased", n_resamples=np.inf)
    naive = refits.mmd2(estimator, tuning_of(estimator), G)
    np.testing.assert_allclose(result.null_distribution, refits.split_values(G, m, naive), rtol=1e-7, atol=1e-10)
    assert result.pvalue == pytest.approx(naive_tests.p_two_sample(G, m, naive, 1e-9), abs=1e-12)
    assert result.exact


@pytest.mark.parametrize("estimator", [e for e in MARGINALIZED if e != MMKME(tuning="sample")], ids=repr)
def test_exhaustive_p_values_of_marginalised_means(estimator):
    m, n = (3, 3) if "joint" not in repr(estimator) else (2, 3)
    result = split_test(*samples(m, n), estimator, bandwidth=BANDWIDTH, form="biased", n_resamples=np.inf)
    naive = refits.smoothed_grams(estimator, tuning_of(estimator), POINTS[: m + n], BANDWIDTH**2)
    expected = np.array([naive_tests.mmd2_biased(*naive(S, T)) for S, T in refits.splits(m + n, m)])
    np.testing.assert_allclose(result.null_distribution, expected, rtol=1e-6, atol=1e-8)
    assert result.pvalue == np.mean(expected >= expected[0] - 1e-8)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (6, 2)], ids=str)
def test_p_values_of_scipy(sizes, form):
    m, n = sizes
    X, Y = samples(m, n)
    result = split_test(X, Y, form=form, n_resamples=np.inf)
    G = Gaussian(result.bandwidth)(np.vstack([X, Y]))
    naive = FORMS[form]

    def statistic(i, j):
        i, j = i.astype(int), j.astype(int)
        return naive(G[np.ix_(i, i)], G[np.ix_(j, j)], G[np.ix_(i, j)])

    expected = stats.permutation_test(
        (np.arange(m), np.arange(m, m + n)),
        statistic,
        n_resamples=np.inf,
        alternative="greater",
        vectorized=False,
    )
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_for_equal_sizes_half_of_the_splits_say_all(form):
    X, Y = POINTS[:4], POINTS[4:8] + 9.0  # farther apart than any other split
    result = split_test(X, Y, form=form, n_resamples=np.inf)
    assert result.n_resamples == comb(7, 3) == comb(8, 4) // 2
    assert result.pvalue == 2 / comb(8, 4)
    whole = [refits.unbiased, lambda G, S, T: refits.mmd2(KME(), "sample", G)(G, S, T)][form == "biased"]
    G = result.kernel(np.vstack([X, Y]))
    assert naive_tests.p_two_sample(G, 4, whole, 1e-12) == result.pvalue


def test_enumeration_starts_when_the_resamples_suffice():
    X, Y = samples(3, 4)
    below, at = (split_test(X, Y, n_resamples=count) for count in (comb(7, 3) - 1, comb(7, 3)))
    assert (below.exact, below.n_resamples) == (False, 34)
    assert (at.exact, at.n_resamples) == (True, 35)
    assert at.statistic == at.null_distribution[0]


# --- input and refusals -------------------------------------------------------------------------------------


def test_lists_tables_and_columns_in_another_order():
    X, Y = samples(6, 4)
    expected = values(split_test(X, Y))
    table_x, table_y = (pd.DataFrame(Z, columns=["a", "b"]) for Z in (X, Y))
    for x, y in ((X.tolist(), Y.tolist()), (table_x, table_y), (table_x, table_y[["b", "a"]])):
        np.testing.assert_array_equal(values(split_test(x, y, scale=None)), expected)
    np.testing.assert_array_equal(values(split_test(table_x["a"], table_y["a"])), values(split_test(X[:, 0], Y[:, :1])))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"estimator": "kmee"}, ValueError, "estimator must be one of .*Did you mean 'kme'"),
        ({"estimator": FKMSE}, TypeError, r"write FKMSE\(\)"),
        ({"estimator": 3}, TypeError, "estimator must be a name"),
        ({"form": "both"}, ValueError, "form must be one of"),
        ({"alpha": 5}, ValueError, "alpha must lie strictly between 0 and 1"),
        ({"n_resamples": -1}, ValueError, "n_resamples must be an integer >= 0"),
        ({"n_resamples": 99.0}, TypeError, "n_resamples must be an integer"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy must be one of"),
        ({"rng": "seed"}, TypeError, "rng must be"),
        ({"workers": 0}, ValueError, "workers must be an integer >= 1"),
        ({"kernel": "gauss"}, ValueError, "kernel must be one of"),
        ({"bandwidth": -1.0}, ValueError, "bandwidth must be a finite number > 0"),
        ({"bandwidth": (1.0, 1.0, 1.0)}, ValueError, "3 entries but the points have 2 columns"),
        ({"kernel": "linear", "bandwidth": 1.0}, ValueError, "has no effect on kernel"),
        ({"kernel": "linear", "estimator": "mkme"}, ValueError, "Gaussian kernels only"),
        ({"estimator": TSVD(m=5)}, ValueError, "m=5 components cannot be kept from a sample of 4"),
        ({"estimator": MMKME(variances=(0.1, 0.2, 0.3))}, ValueError, "one value per coordinate: 2 expected"),
        ({"estimator": SKMSE(target=([[0.0]], [1.0]))}, ValueError, "target points have 1 column,"),
        ({"n_resamples": np.inf, "X": np.arange(40.0), "Y": np.arange(41.0)}, ValueError, "too many"),
        ({"Y": POINTS[:4, :1]}, ValueError, "X has 2 columns and Y has 1"),
        ({"Y": POINTS[:1]}, ValueError, "Y has 1 row; a test needs at least 2"),
    ],
)
def test_refusals_name_the_argument(arguments, error, message):
    X, Y = samples(6, 4)
    given = {"X": X, "Y": Y, **arguments}
    with pytest.raises(error, match=message):
        two_sample_test(given.pop("X"), given.pop("Y"), **given)


def test_a_kernel_that_is_none_is_reported():
    with pytest.raises(ValueError, match="is not a kernel"):
        split_test(*samples(6, 4), FKMSE(lam=0.1), kernel=lambda X, Y: -Linear()(X, Y))
