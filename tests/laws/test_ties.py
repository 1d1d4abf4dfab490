"""Ties count: equal statistics, however they are rounded, are no evidence."""

from __future__ import annotations

import numpy as np
import pytest

import refits
from cases import TUNED, tuned_by
from shrinktest import (
    FKMSE,
    SKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    NuMethod,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS
from small import X, Y, pair_test, split_test


def averaging(gram):
    """A user's estimator: less for points far from the others."""
    return 0.5 * gram.mean(axis=1) / len(gram)


def halving(gram):
    """A user's estimator whose weights do not vanish with the mean."""
    return np.full(len(gram), 0.5 / len(gram))


#: All estimators, and amounts that are given.
MANY = [
    *ESTIMATORS,
    FKMSE(lam=0.5),
    FKMSE(lam=1e9),
    FKMSE(lam_cov=0.1),
    IteratedTikhonov(lam_cov=0.1, t=2),
    Landweber(t=3),
    NuMethod(t=3),
    TSVD(m=1),
    TSVD(m=2),
    SKMSE(alpha=0.9),
    averaging,
    halving,
]

# --- two samples --------------------------------------------------------------------------------------------


def called(one):
    """A name that does not change from one process to the next, as the repr of a function does."""
    return getattr(one, "__name__", None) or repr(one)


@pytest.mark.parametrize("tuning", ["sample", "joint", "pooled"])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("m", [4, 3])
def test_when_all_splits_tie_the_p_value_is_one(name, tuning, m):
    estimator = tuned_by(name, tuning)
    corners = np.eye(8)  # all at the same distance from each other
    for options in ({"n_resamples": 70}, {"n_resamples": 19}, {"n_resamples": 70, "form": "biased"}):
        assert split_test(corners[:m], corners[m:], estimator, **options).pvalue == 1.0


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n_resamples", [99, np.inf])
def test_constant_data_show_nothing(name, n_resamples):
    X, Y = np.full((4, 2), 0.1), np.full((3, 2), 0.1)
    result = split_test(X, Y, name, bandwidth=0.3, n_resamples=n_resamples)
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("tuning", ["sample", "joint"])
@pytest.mark.parametrize("cls", TUNED)
def test_splits_that_are_mirror_images_tie(cls, tuning):
    """Symmetries of a lattice turn splits into each other; rounding and tuning must not tell them apart."""
    lattice = [(i, j) for i in range(3) for j in range(3)]
    points = np.array(lattice, dtype=float)
    options = {"bandwidth": 1.3, "form": "biased", "n_resamples": np.inf}
    result = split_test(points[:4], points[4:], cls(tuning=tuning), **options)
    of = {tuple(S): value for (S, _), value in zip(refits.splits(9, 4), result.null_distribution, strict=True)}
    images = {tuple(sorted(lattice.index(turned(*point, flips)) for point in lattice[:4])) for flips in range(8)}
    assert len(images) == 8  # a corner with arms of different lengths
    for image in images:
        assert abs(of[image] - result.statistic) <= result.tolerance
    assert result.exceedances >= 8


def turned(i, j, flips):
    """One of the eight symmetries of the lattice."""
    i, j = (j, i) if flips & 1 else (i, j)
    return (2 - i if flips & 2 else i), (2 - j if flips & 4 else j)


def test_constant_data_have_no_median_bandwidth():
    with pytest.raises(ValueError, match=r"all observations are equal.*give a bandwidth"):
        two_sample_test([1.0, 1.0, 1.0], [1.0, 1.0])


def test_an_estimate_clamped_to_zero_ties_with_the_others():
    X, Y = np.array([-1.0, 1.0, -2.0, 2.0]), np.array([-3.0, 3.0, -0.5, 0.5])
    result = split_test(X, Y, SKMSE(), kernel="linear", n_resamples=np.inf)
    G = np.outer(np.r_[X, Y], np.r_[X, Y])
    assert result.statistic == 0.0  # both off-diagonal means are negative
    assert result.pvalue == 1.0
    expected = refits.split_values(G, 4, refits.mmd2(SKMSE(), "sample", G))
    assert (expected > 1e-9).any()
    np.testing.assert_allclose(result.null_distribution, expected, atol=1e-12)


@pytest.mark.parametrize("estimator", [one for one in MANY if one not in ("mkme", "mmkme")], ids=called)
@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_samples_whose_means_are_zero_tie_with_all_others(estimator, form):
    """The statistic and the weights of filters are rounding errors then, which must not be compared."""
    X, Y = np.array([0.1, 0.2, -0.3]), np.array([0.3, -0.1, -0.2])
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        result = split_test(X[order], Y[order], estimator, kernel="linear", form=form, n_resamples=np.inf)
        if form == "biased":
            assert result.pvalue == 1.0
            assert abs(result.statistic) <= 1e-15
        several = k_sample_test(X[order], Y, [0.7, -0.7], estimator=estimator, kernel="linear", form=form, rng=0)
        assert form == "unbiased" or several.pvalue == 1.0


@pytest.mark.parametrize("alpha", [0.5, 1 - 1e-3, 1 - 1e-6])
def test_shrinking_all_alike_leaves_ties_what_they_are(alpha):
    """However much: the p-value is that of the plain mean, as the note says."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 8))
    for run in (
        lambda estimator: split_test(x, y + 1.0, estimator, n_resamples=199),
        lambda estimator: pair_test(x, x**2 + y, estimator, n_resamples=199),
        lambda estimator: joint_independence_test(x, x**2 + y, y, estimator=estimator, n_resamples=199, rng=0),
    ):
        assert run(SKMSE(alpha=alpha)).pvalue == run("kme").pvalue < 1.0


# --- independence -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n_resamples", [24, 19])
def test_when_all_pairings_tie_the_p_value_is_one(name, n_resamples):
    corners = np.eye(4)  # all at the same distance from each other
    assert pair_test(corners, X[:4], name, n_resamples=n_resamples).pvalue == 1.0


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("constant", ["x", "y", "both"])
def test_a_constant_variable_shows_nothing(name, constant):
    x = np.full((9, 1), 0.1) if constant != "y" else X
    y = np.full((9, 2), 0.7) if constant != "x" else Y
    result = pair_test(x, y, name, bandwidth_x=0.3, bandwidth_y=0.3, n_resamples=99)
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-12)


def test_a_constant_variable_has_no_median_bandwidth():
    with pytest.raises(ValueError, match="all observations are equal"):
        independence_test(X[:, 0], np.ones(9))


def test_an_operator_clamped_to_zero_ties_with_the_others():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 6))
    result = pair_test(x, y, "skmse", n_resamples=np.inf)
    zeros = np.mean(result.null_distribution == 0.0)
    assert 0.2 < zeros < 0.9
    assert result.statistic == 0.0
    assert result.pvalue == 1.0


SIX = np.array([0, 0, 0, 0, 2, 2.0]), np.array([0, 0, 1, 1, 0, 1.0])  # pairs whose HSIC is zero


@pytest.mark.parametrize("estimator", MANY, ids=called)
@pytest.mark.parametrize("test", ["independence", "joint"])
def test_pairs_with_a_statistic_of_zero_tie_with_all_others_in_any_order(estimator, test):
    for order in ([0, 1, 2, 3, 4, 5], [2, 0, 4, 1, 5, 3], [5, 4, 3, 2, 1, 0]):
        x, y = (values[order] for values in SIX)
        if test == "independence":
            result = pair_test(x, y, estimator, bandwidth_x=1.0, bandwidth_y=1.0, n_resamples=np.inf)
        else:
            kernels = Gaussian(1.0)
            result = joint_independence_test(x, y, estimator=estimator, kernels=kernels, n_resamples=np.inf, alpha=0.5)
        assert result.pvalue == 1.0
        assert abs(result.statistic) <= 1e-15


@pytest.mark.parametrize("estimator", ["nu", "landweber", averaging], ids=called)
def test_pairs_with_a_statistic_of_nearly_zero_tie_with_their_mirror_images(estimator):
    """Little is left of the terms that cancel, so that what is left is rounded more."""
    x, y = np.array([2, 0, 2, 1, 1, 2.0]), np.array([2, 2, 2, 1, 1, 1.0])
    rng = np.random.default_rng(0)
    orders = [rng.permutation(6) for _ in range(4)]
    widths = {"bandwidth_x": 1e3, "bandwidth_y": 1e3}
    results = [pair_test(x[order], y[order], estimator, n_resamples=np.inf, **widths) for order in orders]
    assert {result.pvalue for result in results} == {1.0}
    assert 0.0 < results[0].statistic < 1e-18


@pytest.mark.parametrize("estimator", ["landweber", FKMSE(lam=0.5), averaging], ids=called)
def test_statistics_of_zero_tie_in_combinations(estimator):
    orders = [0, 1, 2, 3, 4, 5], [2, 0, 4, 1, 5, 3]
    for order in orders:
        x, y = (values[order] for values in SIX)
        result = pair_test(x, y, [estimator, "kme"], n_resamples=np.inf)
        assert result.pvalue == 1.0 and (result.adjusted == 1.0).all()


@pytest.mark.parametrize("m", [1, 2])
def test_a_projection_that_leaves_nothing_is_zero(m):
    """A mean that is orthogonal to the leading eigenvectors is projected to rounding errors."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        x, y = rng.integers(0, 3, (2, 6)).astype(float)
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            continue
        for result in (
            pair_test(x, y, TSVD(m=m), bandwidth_x=1.0, bandwidth_y=1.0, n_resamples=24),
            joint_independence_test(x, y, estimator=TSVD(m=m), kernels=Gaussian(1.0), n_resamples=24, alpha=0.5, rng=0),
        ):
            found.extend(result.null_distribution)
    values = np.abs(found)
    assert (values == 0.0).any() and (values > 1e-6).any()
    assert not ((values > 0.0) & (values < 1e-18)).any()


@pytest.mark.parametrize("lam", [1e2, 1e5, 1e8])
def test_strong_shrinkage_is_not_taken_for_zero(lam):
    """Amounts far above the eigenvalues make small statistics, not ties."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=9)
    y = x + 0.3 * rng.normal(size=9)
    limit = pair_test(x, y, FKMSE(lam=1e4), n_resamples=199)
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
