"""two_sample_test against the definition and by enumeration; and symmetry about a point, which is its twin."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive_kernels
import naive_tests
import refits
from cases import BANDWIDTH, POINTS, ROWS, SIZES, samples, split_test, values
from cases import TUNED_BY_GRAM as TUNED
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    AggregateResult,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    Laplacian,
    Linear,
    NuMethod,
    Polynomial,
    symmetry_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.permutations.base import Draws
from shrinktest.permutations.schemes import Labels

TARGET = ([[0.0, 0.0], [0.5, -0.5]], [0.4, 0.3])
TUNINGS = ("sample", "joint", "pooled")
#: Every rule for an amount, and every way of tuning.
TUNABLE = [
    *(cls(tuning=tuning) for cls in TUNED for tuning in TUNINGS),
    *(SKMSE(rule="plugin", tuning=tuning) for tuning in TUNINGS),
    *(
        FKMSE(loo=loo, tuning=tuning)
        for loo in ("paper", "averaged")
        for tuning in ("sample", "joint")
    ),
    IteratedTikhonov(t=2, loo="paper", tuning="joint"),
    Landweber(loo="paper", max_iter=30, tuning="joint"),
    NuMethod(nu=0.5, loo="paper", tuning="sample"),
    TSVD(rule="gcv", tuning="joint"),
]
GIVEN = [
    *(KME(), SKMSE(alpha=0.3), SKMSE(decay=(2.0, 1.5)), FKMSE(lam=0.7), FKMSE(lam_cov=0.3)),
    *(IteratedTikhonov(lam=0.7, t=4), IteratedTikhonov(lam_cov=0.3, t=2)),
    *(
        Landweber(t=7),
        Landweber(t=3, eta=0.4),
        NuMethod(t=4, nu=2.0),
        TSVD(m=2),
        TSVD(threshold=0.05),
    ),
]
MARGINALIZED = [
    *(MKME(variance=0.4), MMKME(variances=(0.4, 0.1)), MKME(tuning="joint")),
    *(cls(tuning=tuning) for cls in (MKME, MMKME) for tuning in ("sample", "pooled")),
]
FORMS = {"biased": naive_tests.mmd2_biased, "unbiased": naive_tests.mmd2_unbiased}
WEIGHTED_FORMS = {
    "biased": naive_tests.mmd2_weighted,
    "unbiased": naive_tests.mmd2_weighted_unbiased,
}


def tuning_of(estimator):
    return getattr(estimator, "tuning", "sample")


def gram(points, kernel=naive_kernels.gaussian, *parameters):
    return kernel(points, points, *(parameters or (BANDWIDTH,)))


def masks(m, n, count, seed=0):
    """The relabelings that a test with this seed uses, the identity first, as (S, T)."""
    drawn = Draws.of(Labels((m, n)), count, np.random.default_rng(seed)).rows() == 0
    return [(np.flatnonzero(mask), np.flatnonzero(~mask)) for mask in drawn]


def test_both_samples_are_refitted_in_every_relabeling():
    forms = itertools.cycle([*WEIGHTED_FORMS.items(), *reversed(WEIGHTED_FORMS.items())])
    for (estimator, sizes), (form, twin) in zip(
        itertools.product([*TUNABLE, *GIVEN], SIZES), forms, strict=False
    ):
        G = gram(POINTS[: sum(sizes)])
        result = split_test(
            *samples(*sizes), estimator, bandwidth=BANDWIDTH, form=form, n_resamples=2
        )
        naive = refits.mmd2(estimator, tuning_of(estimator), G, twin)
        expected = [naive(G, S, T) for S, T in masks(*sizes, 2)]
        np.testing.assert_allclose(
            values(result), expected, rtol=1e-8, atol=1e-11, err_msg=repr(estimator)
        )


def test_both_forms_of_a_function():
    G = gram(POINTS[:10])
    uneven = lambda K: (1.0 + np.arange(len(K))) / (len(K) * (len(K) + 1.0))  # noqa: E731
    for form, twin in WEIGHTED_FORMS.items():
        result = split_test(*samples(6, 4), uneven, bandwidth=BANDWIDTH, form=form)
        expected = [
            twin(*(part for R in (S, T) for part in (uneven(R), G[np.ix_(R, R)])), G[np.ix_(S, T)])
            for S, T in masks(6, 4, 4)
        ]
        np.testing.assert_allclose(values(result), expected, rtol=1e-10)


def test_the_unbiased_form_does_not_favor_a_direction():
    """Fixed weights, P = Q: its mean is zero for any sizes, which that of the other form is not."""
    by_form = {form: [] for form in WEIGHTED_FORMS}
    for seed, (form, statistics) in itertools.product(range(150), by_form.items()):
        Z = np.random.default_rng(seed).normal(size=(16, 2))
        options = {"bandwidth": 1.0, "form": form, "n_resamples": 0}
        statistics.append(split_test(Z[:4], Z[4:], FKMSE(lam_cov=0.3), **options).statistic)
    assert np.mean(by_form["biased"]) > 14 * np.std(by_form["unbiased"]) / np.sqrt(150)
    assert abs(np.mean(by_form["unbiased"])) < 0.2 * np.mean(by_form["biased"])


def test_marginalized_means_in_every_relabeling():
    for estimator, sizes in [*((e, (4, 3)) for e in MARGINALIZED), (MKME(tuning="pooled"), (4, 4))]:
        naive = refits.smoothed_grams(
            estimator, tuning_of(estimator), POINTS[: sum(sizes)], BANDWIDTH**2
        )
        grams = [naive(S, T) for S, T in masks(*sizes, 1)]
        for form, statistic in FORMS.items():
            result = split_test(
                *samples(*sizes), estimator, bandwidth=BANDWIDTH, form=form, n_resamples=1
            )
            expected = [statistic(*three) for three in grams]
            np.testing.assert_allclose(
                values(result), expected, rtol=1e-6, atol=1e-8, err_msg=repr(estimator)
            )
    line = POINTS[:, :1]  # in one dimension, both are one estimator
    tied, free = (
        split_test(line[:6], line[6:], cls(tuning="joint"), bandwidth=0.7) for cls in (MKME, MMKME)
    )
    np.testing.assert_allclose(values(tied), values(free), rtol=1e-7)


def test_both_forms_of_the_standard_statistic():
    for sizes, (form, naive) in itertools.product(SIZES, FORMS.items()):
        G = gram(POINTS[: sum(sizes)])
        result = split_test(*samples(*sizes), bandwidth=BANDWIDTH, form=form)
        expected = [
            naive(G[np.ix_(S, S)], G[np.ix_(T, T)], G[np.ix_(S, T)]) for S, T in masks(*sizes, 4)
        ]
        np.testing.assert_allclose(values(result), expected, rtol=1e-11, atol=1e-14)
        assert result.form == form


def test_shrinkage_towards_a_target():
    for rule, sizes in itertools.product(("loocv", "plugin"), SIZES):
        estimator = SKMSE(rule=rule, target=TARGET, tuning="sample")
        result = split_test(*samples(*sizes), estimator, bandwidth=BANDWIDTH, form="biased")
        kernel, pooled = (
            (lambda X, Y: naive_kernels.gaussian(X, Y, BANDWIDTH)),
            POINTS[: sum(sizes)],
        )
        expected = [
            refits.mmd2_target(estimator, kernel, pooled, S, T) for S, T in masks(*sizes, 4)
        ]
        np.testing.assert_allclose(values(result), expected, rtol=1e-9)
        assert (
            abs(
                result.statistic
                - split_test(*samples(*sizes), SKMSE(rule=rule, tuning="sample")).statistic
            )
            > 1e-3
        )


def test_other_kernels():
    for kernel, naive_kernel, parameters in (
        (Laplacian(0.8), naive_kernels.laplacian, (0.8,)),
        (Linear(), naive_kernels.linear, ()),
        (Polynomial(degree=3, offset=1), naive_kernels.polynomial, (3, 1)),
        (Gaussian((0.5, 2.0)), naive_kernels.gaussian, (np.array([0.5, 2.0]),)),
    ):
        G = naive_kernel(POINTS[:10], POINTS[:10], *parameters)
        for estimator in (KME(), SKMSE(), FKMSE(), NuMethod(), TSVD()):
            result, naive = (
                split_test(*samples(5, 5), estimator, kernel=kernel, n_resamples=2),
                refits.mmd2(estimator, "sample", G),
            )
            expected = [naive(G, S, T) for S, T in masks(5, 5, 2)]
            np.testing.assert_allclose(
                values(result), expected, rtol=1e-7, atol=1e-9 * np.trace(G) / len(G)
            )


def test_the_median_bandwidth_is_that_of_the_pooled_sample():
    result = split_test(*samples(7, 4))
    assert result.bandwidth == pytest.approx(naive_kernels.median_bandwidth(POINTS[:11]), rel=1e-12)
    assert result.kernel == Gaussian(result.bandwidth)
    np.testing.assert_array_equal(
        values(result), values(split_test(*samples(7, 4), bandwidth=result.bandwidth))
    )


def test_the_statistic_is_the_distance_of_the_estimates_in_any_order():
    for estimator, sizes in itertools.product(
        [*ESTIMATORS, FKMSE(lam_cov=0.1), SKMSE(target=TARGET)], SIZES
    ):
        X, Y = samples(*sizes)
        result = split_test(X, Y, estimator, form="biased", n_resamples=0)
        first, second = result.estimates
        assert result.statistic == pytest.approx(first.distance2(second), rel=1e-9)
        assert (len(first.points), len(second.points)) == sizes or "target" in repr(estimator)
        for pair in ((Y, X), (X[::-1], Y[[2, 3, 0, 1, *range(4, len(Y))]])):
            other = split_test(*pair, estimator, form="biased", n_resamples=0)
            assert other.statistic == pytest.approx(result.statistic, rel=1e-7, abs=1e-12), (
                estimator
            )


def test_exhaustive_p_values():
    some = [e for e in TUNABLE if "loo=" not in repr(e) and not isinstance(e, TSVD)] + [
        TSVD(tuning="joint")
    ]
    cases = [
        *((e, (3, 3)) for e in GIVEN),
        *((e, (2, 3)) for e in some),
        (FKMSE(tuning="joint"), (3, 3)),
    ]
    for estimator, (m, n) in cases:
        G = gram(POINTS[: m + n])
        result = split_test(
            *samples(m, n),
            estimator,
            bandwidth=BANDWIDTH,
            form="biased",
            n_resamples=np.inf,
            alpha=0.6,
        )
        naive = refits.mmd2(estimator, tuning_of(estimator), G)
        expected = refits.split_values(G, m, naive)
        np.testing.assert_allclose(
            result.null_distribution, expected, rtol=1e-7, atol=1e-10, err_msg=repr(estimator)
        )
        assert result.pvalue == pytest.approx(
            naive_tests.p_two_sample(G, m, naive, 1e-9), abs=1e-12
        )
        assert result.exact


def test_exhaustive_p_values_of_marginalized_means():
    for estimator in (e for e in MARGINALIZED if e != MMKME(tuning="sample")):
        options = {"bandwidth": BANDWIDTH, "form": "biased", "n_resamples": np.inf, "alpha": 0.6}
        result = split_test(*samples(2, 3), estimator, **options)
        naive = refits.smoothed_grams(estimator, tuning_of(estimator), POINTS[:5], BANDWIDTH**2)
        expected = np.array([naive_tests.mmd2_biased(*naive(S, T)) for S, T in refits.splits(5, 2)])
        np.testing.assert_allclose(result.null_distribution, expected, rtol=1e-6, atol=1e-8)
        assert result.pvalue == np.mean(expected >= expected[0] - 1e-8)


def test_p_values_of_scipy():
    for (m, n), (form, naive) in itertools.product([(4, 4), (3, 5), (6, 2)], FORMS.items()):
        X, Y = samples(m, n)
        result = split_test(X, Y, form=form, n_resamples=np.inf)
        G = Gaussian(result.bandwidth)(np.vstack([X, Y]))

        def statistic(i, j, G=G, naive=naive):
            i, j = i.astype(int), j.astype(int)
            return naive(G[np.ix_(i, i)], G[np.ix_(j, j)], G[np.ix_(i, j)])

        rows = np.arange(m), np.arange(m, m + n)
        options = {"n_resamples": np.inf, "alternative": "greater", "vectorized": False}
        expected = stats.permutation_test(rows, statistic, **options)
        assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


def test_for_equal_sizes_half_of_the_splits_say_all():
    X, Y = POINTS[:4], POINTS[4:8] + 9.0  # farther apart than any other split
    for form in FORMS:
        result = split_test(X, Y, form=form, n_resamples=np.inf)
        assert result.n_resamples == comb(7, 3) == comb(8, 4) // 2 and result.pvalue == 2 / comb(
            8, 4
        )


def test_enumeration_starts_when_the_resamples_suffice():
    below, at = (
        split_test(*samples(3, 4), n_resamples=count) for count in (comb(7, 3) - 1, comb(7, 3))
    )
    assert (below.exact, below.n_resamples) == (False, 34) and (at.exact, at.n_resamples) == (
        True,
        35,
    )
    assert at.statistic == at.null_distribution[0]


def test_refusals_name_the_argument():
    for arguments, error, name in (
        ({"estimator": "kmee"}, ValueError, "estimator"),
        ({"estimator": FKMSE}, TypeError, r"FKMSE\(\)"),
        ({"estimator": 3}, TypeError, "estimator"),
        ({"form": "both"}, ValueError, "form"),
        ({"alpha": 5}, ValueError, "alpha"),
        ({"n_resamples": -1}, ValueError, "n_resamples"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy"),
        ({"rng": "seed"}, TypeError, "rng"),
        ({"workers": 0}, ValueError, "workers"),
        ({"kernel": "gauss"}, ValueError, "kernel"),
        (
            {"kernel": lambda X, Y: -Linear()(X, Y), "estimator": FKMSE(lam=0.1)},
            ValueError,
            "kernel",
        ),
        ({"bandwidth": -1.0}, ValueError, "bandwidth"),
        ({"bandwidth": (1.0, 1.0, 1.0)}, ValueError, "3 entries"),
        ({"kernel": "linear", "bandwidth": 1.0}, ValueError, "kernel"),
        ({"kernel": "linear", "estimator": "mkme"}, ValueError, "Gaussian"),
        ({"estimator": TSVD(m=5)}, ValueError, "m=5"),
        ({"estimator": MMKME(variances=(0.1, 0.2, 0.3))}, ValueError, "coordinate"),
        ({"estimator": SKMSE(target=([[0.0]], [1.0]))}, ValueError, "target"),
        (
            {"n_resamples": np.inf, "X": np.arange(40.0), "Y": np.arange(41.0)},
            ValueError,
            "too many",
        ),
        ({"Y": POINTS[:4, :1]}, ValueError, "Y"),
        ({"Y": POINTS[:1]}, ValueError, "Y"),
    ):
        given = {"X": POINTS[:6], "Y": POINTS[6:10], **arguments}
        with pytest.raises(error, match=name):
            two_sample_test(given.pop("X"), given.pop("Y"), **given)


RNG = np.random.default_rng(3)
SKEWED = RNG.exponential(size=(7, 2)) - np.log(2.0)
TUNED_ROWS = [row.tuned[0] for row in ROWS.values()]


def naive_pvalue(rows, bandwidth):
    """Share of sign patterns with a distance of kernel means at least as large as that of the rows themselves."""

    def distance(signs):
        z = signs[:, None] * rows
        apart, reflected = (np.sum((z[:, None] - other[None]) ** 2, axis=2) for other in (z, -z))
        gap = np.exp(-apart / (2.0 * bandwidth**2)) - np.exp(-reflected / (2.0 * bandwidth**2))
        return 2.0 * gap.mean()

    values = [
        distance(np.array(signs)) for signs in itertools.product([1.0, -1.0], repeat=len(rows))
    ]
    return np.mean(np.array(values) >= values[0] - 1e-10), values[0]


def test_enumerated_pvalue_is_that_of_all_sign_patterns():
    pvalue, statistic = naive_pvalue(SKEWED, 1.3)
    result = symmetry_test(SKEWED, bandwidth=1.3, n_resamples=np.inf)
    assert result.exact
    assert result.pvalue == pytest.approx(pvalue, abs=1e-12)
    assert result.statistic == pytest.approx(statistic, rel=1e-9)


def test_every_estimator_keeps_its_level_over_all_sign_patterns():
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=6)))[
        :32
    ]  # the others are their opposites
    for estimator in TUNED_ROWS:
        pvalues = np.array(
            [
                symmetry_test(
                    s[:, None] * SKEWED[:6], estimator=estimator, n_resamples=np.inf
                ).pvalue
                for s in signs
            ]
        )
        for alpha in np.unique(pvalues):
            assert (pvalues <= alpha).mean() <= alpha + 1e-12, estimator


def test_equals_the_test_of_pairs_of_rows_and_their_reflections():
    rows = RNG.exponential(size=(25, 2))
    for estimator in (*TUNED_ROWS, ["kme", "skmse"]):
        result = symmetry_test(rows, about=[0.7, 1.0], estimator=estimator, rng=0)
        z = rows - [0.7, 1.0]
        assert (
            result.pvalue == two_sample_test(z, -z, paired=True, estimator=estimator, rng=0).pvalue
        )
        assert result.n_observations == (25,)


def test_auto_and_tables():
    table = pd.DataFrame(RNG.exponential(size=(80, 2)) - 1.0, columns=["pH", "flow"])
    result = symmetry_test(table, estimator="auto", rng=0)
    assert isinstance(result, AggregateResult)
    assert result.reject()
    scaled = symmetry_test(
        table * [1.0, 1e6], rng=0
    )  # columns of a table are in units of their spread
    assert scaled.pvalue == symmetry_test(table, rng=0).pvalue
    table.iloc[3, 0] = np.nan
    left = symmetry_test(table, nan_policy="omit", rng=0)
    assert left.n_observations == (79,)
    assert left.pvalue == symmetry_test(table.drop(3), rng=0).pvalue
    assert np.isnan(symmetry_test(table, nan_policy="propagate").pvalue)


@pytest.mark.parametrize(
    "X, options, error, named",
    [
        (SKEWED, {"about": [0.0, 1.0, 2.0]}, ValueError, "about"),
        (SKEWED, {"about": np.nan}, ValueError, "about"),
        (SKEWED, {"nan_policy": "indicator"}, ValueError, "nan_policy"),
        (np.where(SKEWED > 1.0, np.nan, SKEWED), {}, ValueError, "X"),
        (pd.DataFrame({"a": ["x", "y", "x"], "b": [1.0, 2.0, 3.0]}), {}, TypeError, "'a'"),
        (SKEWED[:4], {}, ValueError, "alpha"),
    ],
)
def test_bad_input_names_the_argument(X, options, error, named):
    with pytest.raises(error, match=named):
        symmetry_test(X, **options)
