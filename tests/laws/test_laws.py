"""Laws of every estimator with every kernel, and of compiled code against the same code in plain Python."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numba
import numpy as np
import pytest

from cases import FIXED, SMOOTHED, TABLE, WEIGHTED, row_of
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Compiled,
    Gaussian,
    Laplacian,
    Linear,
    MeanEstimator,
    Polynomial,
    Precomputed,
    check_estimator,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS

POINTS = np.random.default_rng(5).normal(size=(11, 2)) + 0.3
ROWS = np.arange(11.0)[:, None]
MATRIX = POINTS @ POINTS.T + np.diag(np.linspace(0.1, 1.0, 11))
WIDE = Gaussian(1.2)

CASES = {
    "gaussian": (WIDE, POINTS),
    "gaussian per column": (Gaussian((0.7, 2.0)), POINTS),
    "laplacian": (Laplacian(1.5), POINTS),
    "linear": (Linear(), POINTS),
    "polynomial": (Polynomial(degree=3, offset=1), POINTS),
    "precomputed": (Precomputed(MATRIX), ROWS),
    "sum": (WIDE + 0.5 * Linear(), POINTS),
    "product": (WIDE * Polynomial(degree=2, offset=1), POINTS),
}
SMOOTH = ("gaussian", "gaussian per column")
PAIRS = [(e, case) for e in WEIGHTED for case in CASES] + [
    (e, case) for e in SMOOTHED for case in SMOOTH
]


@numba.njit
def halved(gram, theta, out):
    out[:] = theta[0] / out.size


@dataclass(frozen=True)
class Smoother(MeanEstimator):
    """A user's own: other features, and weights in proportion to the row sums."""

    def features(self, kernel, points):
        return kernel * kernel

    def weights(self, gram):
        rows = np.abs(gram).sum(axis=1) + 1.0
        return rows / rows.sum()


OWN = Compiled(halved, (0.5,))


def same(computed, expected, what, rtol=1e-8):
    atol = rtol * np.abs(expected).max() + 1e-14
    np.testing.assert_allclose(computed, expected, rtol=0, atol=atol, err_msg=str(what))


def test_every_estimator_has_its_row():
    assert TABLE.keys() == ESTIMATORS.keys()
    for name, row in TABLE.items():
        assert {type(estimator) for estimator in (*row.tuned, *row.fixed)} == {ESTIMATORS[name]}


# --- laws ---------------------------------------------------------------------------------------------------


def test_weights_travel_with_the_points_and_agree_with_those_of_the_gram_matrix():
    order, copies = np.random.default_rng(1).permutation(11), [0, 1, 2, 0, 3, 4, 0, 5, 2]
    for what in PAIRS:
        estimator, (kernel, points) = what[0], CASES[what[1]]
        mean, moved = estimator.fit(points, kernel), estimator.fit(points[order], kernel)
        same(moved.weights, mean.weights[order], what)
        same(moved.embedding(points), mean.embedding(points), what)  # the same element of the RKHS
        assert mean.kernel == kernel and np.array_equal(mean.points, points)
        same(
            mean.weights, estimator.weights(kernel(points)), what
        )  # few coordinates need no Gram matrix
        weights = estimator.fit(points[copies], kernel).weights
        same(weights[[3, 6, 8]], weights[[0, 0, 2]], what, 1e-9)  # equal points have equal weights


def test_only_the_empirical_measure_counts():
    """Every point twice is the same distribution; fixed amounts are on scales that do not know n."""
    for estimator, (kernel, points) in itertools.product(FIXED, CASES.values()):
        once, twice = (
            estimator.fit(points, kernel),
            estimator.fit(np.repeat(points, 2, axis=0), kernel),
        )
        same(twice.weights, np.repeat(once.weights, 2) / 2, (estimator, kernel))


def test_units_of_the_kernel_do_not_matter():
    for estimator, (kernel, points) in itertools.product(WEIGHTED, CASES.values()):
        K = kernel(points)
        for factor in (1e-9, 7.0, 1e9):
            same(estimator.weights(factor * K), estimator.weights(K), (estimator, kernel, factor))


def test_shrinking_shrinks():
    """The norm falls below the plain mean's, or overshoots it by as much as its row says."""
    for estimator, case in PAIRS:
        kernel, points = CASES[case]
        most = row_of(estimator).overshoot ** 2 * KME().fit(points, kernel).norm2()
        assert -1e-12 <= estimator.fit(points, kernel).norm2() <= most * (1 + 1e-12), (
            estimator,
            case,
        )


def test_the_tuned_amount_rebuilds_the_fit():
    """`shrinkage` is in the unit of the estimator's own parameter."""
    for what in PAIRS:
        estimator, (kernel, points) = what[0], CASES[what[1]]
        mean, amount = estimator.fit(points, kernel), row_of(estimator).amount
        if amount is None:
            assert mean.shrinkage is None, what
        elif mean.shrinkage == 0 and isinstance(estimator, TSVD):  # no component is worth keeping
            assert not mean.weights.any(), what
        else:
            again = type(estimator)(**{amount: mean.shrinkage}).fit(points, kernel)
            same(again.embedding(points), mean.embedding(points), what)
            assert again.norm2() == pytest.approx(mean.norm2(), rel=1e-9, abs=1e-14), what
            assert again.shrinkage == mean.shrinkage, what


def test_smoothing_needs_a_gaussian_kernel():
    for estimator, case in itertools.product(
        [*SMOOTHED, MKME(variance=1.0)], CASES.keys() - set(SMOOTH)
    ):
        kernel, points = CASES[case]
        with pytest.raises(ValueError, match="Gaussian"):
            estimator.fit(points, kernel)
        with pytest.raises(ValueError, match="Gaussian"):
            two_sample_test(
                points[:6], points[6:], estimator=estimator, kernel=kernel, n_resamples=9
            )


def test_the_gram_matrix_is_not_touched():
    for estimator in (*WEIGHTED, *FIXED, *SMOOTHED):
        K = WIDE(POINTS)
        expected = estimator.weights(K)
        np.testing.assert_array_equal(K, WIDE(POINTS))
        K.setflags(write=False)  # as those of memory maps and pandas are
        np.testing.assert_array_equal(estimator.weights(K), expected)


# --- compiled and plain Python ------------------------------------------------------------------------------


def test_kernels_may_return_read_only_matrices():
    def kernel(X, Y):
        gram = WIDE(X, Y)
        gram.setflags(write=False)
        return gram

    fitted = FKMSE(lam=0.1).fit(POINTS, kernel)
    np.testing.assert_array_equal(fitted.weights, FKMSE(lam=0.1).fit(POINTS, WIDE).weights)


# --- check_estimator ----------------------------------------------------------------------------------------


def test_estimators_of_the_package_and_sound_ones_of_users_pass():
    some = [
        TSVD(m=1),
        TSVD(m=12),
        TSVD(m=20),
        MMKME(variances=(1.0, 1.0)),
        SKMSE(target=([[0.0]], [1.0])),
    ]
    own = [lambda gram: np.full(len(gram), 0.5 / len(gram)), Smoother(), OWN]
    for estimator in (*ESTIMATORS, *WEIGHTED, *FIXED, *some, *own):
        check_estimator(estimator)


def test_a_compiled_function_is_given_its_parameters():
    np.testing.assert_array_equal(OWN.weights(MATRIX), np.full(11, 0.5 / 11))
    np.testing.assert_array_equal(
        Compiled(halved, (2,)).fit(POINTS, WIDE).weights, np.full(11, 2 / 11)
    )
    assert eval(repr(OWN)) == OWN != Compiled(halved, (0.25,)) and OWN.tuned(WIDE, POINTS) is OWN


def doubling(gram):
    gram *= 2.0
    return np.full(len(gram), 1.0 / len(gram))


class Remembering(MeanEstimator):
    """An estimator that keeps the amount of its first sample."""

    amount = None

    def weights(self, gram):
        if self.amount is None:
            self.amount = 1.0 / (1.0 + np.trace(gram - gram.mean()) / len(gram))
        return np.full(len(gram), self.amount / len(gram))


class Tiring(MeanEstimator):
    """From some fit on it shrinks more."""

    def __init__(self, after):
        self.after, self.fits = after, 0

    def weights(self, gram):
        self.fits += 1
        return np.full(len(gram), (0.5 if self.fits > self.after else 1.0) / len(gram))


class Particular(Smoother):
    def features(self, kernel, points):
        raise ValueError("not these")


class Dividing(MeanEstimator):
    def weights(self, gram):
        return np.ones(len(gram)) / gram.sum(axis=1)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_broken_estimators_fail():
    for estimator, fault in (
        (lambda gram: np.ones(3), "shape"),
        (lambda gram: gram, "shape"),
        (lambda gram: 1j * np.ones(len(gram)), "complex"),
        (lambda gram: "abc", "str"),
        (lambda gram: np.full(len(gram), 1 / int(np.count_nonzero(gram))), "ZeroDivisionError"),
        (lambda gram: np.full(len(gram), np.nan), "not finite"),
        (Dividing(), "zero Gram matrix"),
        (doubling, "changed"),
        (lambda gram: np.arange(len(gram)) / len(gram), "reorder"),
        (Remembering(), "state"),
        *((Tiring(fits), "state") for fits in (1, 3, 8)),
        (Particular(), "two_sample_test"),
    ):
        with pytest.raises(AssertionError, match=fault):
            check_estimator(estimator)
    for estimator, error in (
        ("keme", ValueError),
        ("auto", ValueError),
        (["kme", "fkmse"], TypeError),
    ):
        with pytest.raises(error, match="estimator"):
            check_estimator(estimator)
