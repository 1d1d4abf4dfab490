"""Your own estimators: functions, subclasses, and compiled functions, in both tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numba
import numpy as np
import pytest

from shrinktest import (
    FKMSE,
    independence_test,
    joint_independence_test,
    two_sample_test,
)
from shrinktest.applications import ShrinkageKernelPCA
from shrinktest.estimators import Compiled, FromFunction, MeanEstimator
from small import BANDWIDTH, POINTS, WIDTHS, X, Y, pair_test, samples, split_test, values


class Halved(MeanEstimator):
    """Half of the standard mean, in two lines."""

    def weights(self, gram):
        return np.full(len(gram), 0.5 / len(gram))


@dataclass(frozen=True, repr=False)
class Squared(MeanEstimator):
    """The standard mean of the features of another kernel."""

    factor: float = 1.0

    def weights(self, gram):
        return np.full(len(gram), self.factor / len(gram))

    def features(self, kernel, points):
        return kernel * kernel


@numba.njit
def scaled_diagonal(gram, theta, out):
    for i in range(out.size):
        out[i] = theta[0] * gram[i, i] / (1.0 + theta[1] * np.sum(np.abs(gram[i])))


def scaled_diagonal_in_python(gram):
    return 0.5 * np.diag(gram) / (1.0 + 0.1 * np.abs(gram).sum(axis=1))


def split(estimator, **options):
    return values(split_test(*samples(6, 4), estimator, **options))


def pairs(estimator, **options):
    return values(pair_test(X, Y, estimator, **options))


@pytest.mark.parametrize("statistics", [split, pairs])
def test_your_own_estimator_in_a_test(statistics):
    standard = statistics("kme")
    for mean in (lambda G: np.full(len(G), 1 / len(G)), lambda G: [Fraction(1, len(G))] * len(G)):
        np.testing.assert_allclose(statistics(mean), standard, rtol=1e-10, atol=1e-14)
    ridge = statistics(lambda G: np.linalg.solve(G + 0.7 * np.eye(len(G)), G.mean(axis=1)))
    np.testing.assert_allclose(ridge, statistics(FKMSE(lam=0.7)), rtol=1e-9)
    np.testing.assert_allclose(statistics(Halved()), standard / 4, rtol=1e-10)
    for workers in (1, 3):
        fast = statistics(Compiled(scaled_diagonal, (0.5, 0.1)), n_resamples=40, workers=workers)
        np.testing.assert_allclose(fast, statistics(scaled_diagonal_in_python, n_resamples=40), rtol=1e-10)


def test_a_subclass_may_change_the_features():
    narrower = split("kme", bandwidth=BANDWIDTH / np.sqrt(2))
    np.testing.assert_allclose(split(Squared(), bandwidth=BANDWIDTH), narrower, rtol=1e-10)
    narrow = {f"bandwidth_{v}": width / np.sqrt(2) for v, width in zip("xy", WIDTHS, strict=True)}
    own = pairs(Squared(), bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1])
    np.testing.assert_allclose(own, pairs("kme", **narrow), rtol=1e-9)
    assert (repr(Halved()), repr(Squared(2.0))) == ("Halved()", "Squared(factor=2.0)")


class Returning(MeanEstimator):
    """What a function makes of the Gram matrix, whatever that is."""

    def __init__(self, function):
        self.function = function

    def weights(self, gram):
        return self.function(gram)


NO_WEIGHTS = {
    "scalar": (lambda gram: 1.0 / len(gram), ValueError),
    "others": (lambda gram: np.ones(3), ValueError),
    "matrix": (lambda gram: gram, ValueError),
    "nan": (lambda gram: np.full(10, np.nan), ValueError),
    "none": (lambda gram: None, TypeError),
    "text": (lambda gram: ["1"] * 10, TypeError),
    "complex": (lambda gram: 1j * np.ones(10), TypeError),
    "objects": (lambda gram: np.array([1j] * 10, object), TypeError),
}


@pytest.mark.parametrize("wrong", NO_WEIGHTS)
@pytest.mark.parametrize("kind", [Returning, FromFunction])
def test_weights_are_one_finite_number_for_each_point(kind, wrong):
    function, error = NO_WEIGHTS[wrong]
    estimator, x, y = kind(function), POINTS[:10], POINTS[2:]
    for use in (
        lambda: estimator.fit(x),
        lambda: split_test(x, y, estimator),
        lambda: pair_test(x, y, estimator),
        lambda: joint_independence_test(x, y, estimator=estimator, n_resamples=9, rng=0),
        lambda: independence_test(x, y, given=np.sqrt(np.arange(10.0)), estimator=estimator, n_resamples=9, rng=0),
        lambda: ShrinkageKernelPCA(covariance=estimator).fit(x),
    ):
        with pytest.raises(error, match=re.escape(repr(estimator)) + ".*weights"):
            use()


@numba.njit
def fails(gram, theta, out):
    out[:] = np.nan


@numba.njit
def too_few(gram, out):
    out[:] = 0.0


def test_compiled_functions_that_cannot_be_used():
    with pytest.raises(ValueError, match="not finite"):
        Compiled(fails).weights(np.eye(3))
    with pytest.raises(ValueError, match="permutation 0 is not finite"):
        split_test(*samples(6, 4), Compiled(fails))
    with pytest.raises(TypeError, match=r"called with 3 arguments, \(gram, theta, out\)"):
        Compiled(too_few)
    for parameters in (0.5, None, "a", ("0.5",), (1j,), (np.nan,), ((1.0, 2.0), (3.0,))):
        with pytest.raises(ValueError, match="parameters must be a tuple of numbers"):
            Compiled(scaled_diagonal, parameters)


def test_a_function_may_fill_one_array_for_every_sample():
    room, parts = np.empty(len(POINTS)), (POINTS[:6], POINTS[6:])

    def weigh(gram):
        return np.clip(gram.mean(axis=1), 0.0, None) / len(gram)

    def into_room(gram):
        room[: len(gram)] = weigh(gram)
        return room[: len(gram)]

    kept, filled = (two_sample_test(*parts, estimator=one, bandwidth=1.0, n_resamples=19) for one in (weigh, into_room))
    np.testing.assert_array_equal(filled.witness(POINTS), kept.witness(POINTS))
