"""Ties count: equal statistics, however they are rounded, are no evidence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import refits
from cases import TUNED, X, Y, half, pair_test, split_test, tuned_by
from shrinktest import (
    FKMSE,
    SKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    NuMethod,
    joint_independence_test,
    k_sample_test,
    permutation_test,
)
from shrinktest.estimators import ESTIMATORS


def averaging(gram):
    """A user's estimator: less for points far from the others."""
    return 0.5 * gram.mean(axis=1) / len(gram)


#: All estimators, and amounts that are given.
MANY = [
    *ESTIMATORS,
    *(FKMSE(lam=0.5), FKMSE(lam=1e9), FKMSE(lam_cov=0.1), IteratedTikhonov(lam_cov=0.1, t=2)),
    *(Landweber(t=3), NuMethod(t=3), TSVD(m=1), TSVD(m=2), SKMSE(alpha=0.9), averaging, half),
]

# --- two samples --------------------------------------------------------------------------------------------


def test_when_all_splits_tie_the_p_value_is_one():
    corners = np.eye(8)  # all at the same distance from each other
    for name, tuning, m in itertools.product(ESTIMATORS, ("sample", "joint", "pooled"), (4, 3)):
        for options in (
            {"n_resamples": 70},
            {"n_resamples": 19},
            {"n_resamples": 70, "form": "biased"},
        ):
            result = split_test(corners[:m], corners[m:], tuned_by(name, tuning), **options)
            assert result.pvalue == 1.0, (name, tuning, m, options)


def test_constant_data_show_nothing():
    x, y = np.full((4, 2), 0.1), np.full((3, 2), 0.1)
    for name, n_resamples in itertools.product(ESTIMATORS, (99, np.inf)):
        result = split_test(x, y, name, bandwidth=0.3, n_resamples=n_resamples)
        assert result.pvalue == 1.0 and abs(result.statistic) < 1e-12, name
    x, y = np.full((9, 1), 0.1), np.full((9, 2), 0.7)
    for name, pair in itertools.product(ESTIMATORS, ((x, y), (x, Y), (X, y))):
        result = pair_test(*pair, name, bandwidth_x=0.3, bandwidth_y=0.3, n_resamples=39)
        assert result.pvalue == 1.0 and abs(result.statistic) < 1e-12, name


def test_splits_that_are_mirror_images_tie():
    """Symmetries of a lattice turn splits into each other; rounding and tuning must not tell them apart."""
    lattice = [(i, j) for i in range(3) for j in range(3)]
    points = np.array(lattice, dtype=float)
    images = {
        tuple(sorted(lattice.index(turned(*point, flips)) for point in lattice[:4]))
        for flips in range(8)
    }
    assert len(images) == 8  # a corner with arms of different lengths
    for cls, tuning in itertools.product(TUNED, ("sample", "joint")):
        options = {"bandwidth": 1.3, "form": "biased", "n_resamples": np.inf}
        result = split_test(points[:4], points[4:], cls(tuning=tuning), **options)
        of = {
            tuple(S): value
            for (S, _), value in zip(refits.splits(9, 4), result.null_distribution, strict=True)
        }
        assert all(abs(of[image] - result.statistic) <= result.tolerance for image in images), (
            cls,
            tuning,
        )
        assert result.exceedances >= 8


def turned(i, j, flips):
    """One of the eight symmetries of the lattice."""
    i, j = (j, i) if flips & 1 else (i, j)
    return (2 - i if flips & 2 else i), (2 - j if flips & 4 else j)


def test_an_estimate_clamped_to_zero_ties_with_the_others():
    x, y = np.array([-1.0, 1.0, -2.0, 2.0]), np.array([-3.0, 3.0, -0.5, 0.5])
    result = split_test(x, y, SKMSE(), kernel="linear", n_resamples=np.inf)
    G = np.outer(np.r_[x, y], np.r_[x, y])
    assert result.statistic == 0.0 and result.pvalue == 1.0  # both off-diagonal means are negative
    expected = refits.split_values(G, 4, refits.mmd2(SKMSE(), "sample", G))
    assert (expected > 1e-9).any()
    np.testing.assert_allclose(result.null_distribution, expected, atol=1e-12)
    x, y = np.random.default_rng(1).normal(size=(2, 6))
    pairs = pair_test(x, y, "skmse", n_resamples=np.inf)
    assert 0.2 < np.mean(pairs.null_distribution == 0.0) < 0.9
    assert pairs.statistic == 0.0 and pairs.pvalue == 1.0


def test_samples_whose_means_are_zero_tie_with_all_others():
    """The statistic and the weights of filters are rounding errors then, which must not be compared."""
    x, y = np.array([0.1, 0.2, -0.3]), np.array([0.3, -0.1, -0.2])
    any_kernel = [name for name in MANY if name not in ("mkme", "mmkme")]
    for estimator, order in itertools.product(any_kernel, ([0, 1, 2], [2, 0, 1], [1, 2, 0])):
        options = {"kernel": "linear", "form": "biased", "estimator": estimator}
        result = split_test(x[order], y[order], n_resamples=np.inf, **options)
        assert result.pvalue == 1.0 and abs(result.statistic) <= 1e-15, estimator
        assert (
            k_sample_test(x[order], y, [0.7, -0.7], rng=0, n_resamples=99, **options).pvalue == 1.0
        ), estimator


def test_shrinking_all_alike_leaves_ties_what_they_are():
    """The p-value is that of the plain mean for any amount, as the note says."""
    x, y = np.random.default_rng(4).normal(size=(2, 8))
    for run in (
        lambda estimator: split_test(x, y + 1.0, estimator, n_resamples=199),
        lambda estimator: pair_test(x, x**2 + y, estimator, n_resamples=199),
        lambda estimator: joint_independence_test(
            x, x**2 + y, y, estimator=estimator, n_resamples=199, rng=0
        ),
    ):
        for alpha in (0.5, 1 - 1e-3, 1 - 1e-6):
            assert run(SKMSE(alpha=alpha)).pvalue == run("kme").pvalue < 1.0


# --- independence -------------------------------------------------------------------------------------------


def test_when_all_pairings_tie_the_p_value_is_one():
    for name, n_resamples in itertools.product(ESTIMATORS, (24, 19)):
        assert pair_test(np.eye(4), X[:4], name, n_resamples=n_resamples).pvalue == 1.0, name


SIX = np.array([0, 0, 0, 0, 2, 2.0]), np.array([0, 0, 1, 1, 0, 1.0])  # pairs whose HSIC is zero


def test_pairs_with_a_statistic_of_zero_tie_with_all_others_in_any_order():
    for estimator, order in itertools.product(
        MANY, ([0, 1, 2, 3, 4, 5], [2, 0, 4, 1, 5, 3], [5, 4, 3, 2, 1, 0])
    ):
        x, y = (values[order] for values in SIX)
        pairs = pair_test(x, y, estimator, bandwidth_x=1.0, bandwidth_y=1.0, n_resamples=np.inf)
        joint = joint_independence_test(
            x, y, estimator=estimator, kernels=Gaussian(1.0), n_resamples=99, rng=0
        )
        for result in (pairs, joint):
            assert result.pvalue == 1.0 and abs(result.statistic) <= 1e-15, estimator
    for estimator in ("landweber", FKMSE(lam=0.5), averaging):
        combined = pair_test(*SIX, [estimator, "kme"], n_resamples=np.inf)
        assert combined.pvalue == 1.0 and (combined.adjusted == 1.0).all()


def test_pairs_with_a_statistic_of_nearly_zero_tie_with_their_mirror_images():
    """Little is left of the terms that cancel, so that what is left is rounded more."""
    x, y = np.array([2, 0, 2, 1, 1, 2.0]), np.array([2, 2, 2, 1, 1, 1.0])
    rng = np.random.default_rng(0)
    for estimator, order in itertools.product(
        ("nu", "landweber", averaging), [rng.permutation(6) for _ in range(4)]
    ):
        options = {"bandwidth_x": 1e3, "bandwidth_y": 1e3, "n_resamples": np.inf}
        result = pair_test(x[order], y[order], estimator, **options)
        assert result.pvalue == 1.0 and 0.0 < result.statistic < 1e-18


def test_a_projection_that_leaves_nothing_is_zero():
    """A mean that is orthogonal to the leading eigenvectors is projected to rounding errors."""
    for m in (1, 2):
        rng, seen = np.random.default_rng(0), []
        for x, y in (rng.integers(0, 3, (2, 6)).astype(float) for _ in range(40)):
            if np.ptp(x) and np.ptp(y):
                options = {"estimator": TSVD(m=m), "n_resamples": 24, "alpha": 0.5, "rng": 0}
                seen.extend(
                    pair_test(x, y, bandwidth_x=1.0, bandwidth_y=1.0, **options).null_distribution
                )
                seen.extend(
                    joint_independence_test(
                        x, y, kernels=Gaussian(1.0), **options
                    ).null_distribution
                )
        values = np.abs(seen)
        assert (
            (values == 0.0).any()
            and (values > 1e-6).any()
            and not ((values > 0.0) & (values < 1e-18)).any()
        )


def test_strong_shrinkage_is_not_taken_for_zero():
    """Amounts far above the eigenvalues make small statistics, not ties."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=9)
    y = x + 0.3 * rng.normal(size=9)
    limit = pair_test(x, y, FKMSE(lam=1e4), n_resamples=199)
    for lam in (1e2, 1e5, 1e8):
        result = pair_test(x, y, FKMSE(lam=lam), n_resamples=199)
        assert result.pvalue == pytest.approx(limit.pvalue, abs=0.02) and result.pvalue < 0.2
        assert 0.0 < result.statistic * lam**2 < 1.0


def test_a_statistic_of_ones_own_that_is_zero_ties_with_what_rounding_leaves_of_zero():
    """Differences of the same numbers in another order: rounding must not decide, nor one permutation that is huge."""
    values = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])

    def p(numbers, largest=None):
        def difference(order):
            huge = largest and (order == np.arange(6)[::-1]).all()
            return largest if huge else numbers[order[:3]].sum() - numbers[order[3:]].sum()

        return permutation_test(difference, 6, n_resamples=np.inf).pvalue

    whole = np.round(10.0 * values)
    assert p(values) == p(whole) == 0.7
    assert p(values, largest=1e12) == p(whole, largest=1e12) < 0.71
