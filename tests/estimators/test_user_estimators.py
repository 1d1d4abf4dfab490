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
from small import BANDWIDTH, POINTS, SIZES, WIDTHS, X, Y, pair_test, samples, split_test, values

# --- two samples --------------------------------------------------------------------------------------------


class Halved(MeanEstimator):
    """Half of the standard mean, in two lines."""

    def weights(self, gram):
        return np.full(len(gram), 0.5 / len(gram))


@dataclass(frozen=True)
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
        out[i] = theta[0] * gram[i, i] / (1.0 + theta[1] * np.sum(gram[i]))


def scaled_diagonal_in_python(gram):
    return 0.5 * np.diag(gram) / (1.0 + 0.1 * gram.sum(axis=1))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_function_is_an_estimator(sizes):
    X, Y = samples(*sizes)
    mean = split_test(X, Y, lambda G: np.full(len(G), 1 / len(G)))
    np.testing.assert_allclose(values(mean), values(split_test(X, Y)), rtol=1e-10, atol=1e-14)
    ridge = split_test(X, Y, lambda G: np.linalg.solve(G + 0.7 * np.eye(len(G)), G.mean(axis=1)))
    np.testing.assert_allclose(values(ridge), values(split_test(X, Y, FKMSE(lam=0.7))), rtol=1e-9)


def test_a_subclass_is_an_estimator():
    X, Y = samples(6, 4)
    standard = split_test(X, Y)
    result = split_test(X, Y, Halved())
    np.testing.assert_allclose(values(result), values(standard) / 4, rtol=1e-11)
    assert repr(result.estimator) == "Halved()"


def test_a_subclass_may_change_the_features():
    X, Y = samples(6, 4)
    result = split_test(X, Y, Squared(), bandwidth=BANDWIDTH)
    narrower = split_test(X, Y, bandwidth=BANDWIDTH / np.sqrt(2))
    np.testing.assert_allclose(values(result), values(narrower), rtol=1e-10)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_compiled_function_is_an_estimator(workers):
    X, Y = samples(6, 4)
    fast = split_test(X, Y, Compiled(scaled_diagonal, (0.5, 0.1)), n_resamples=40, workers=workers)
    slow = split_test(X, Y, scaled_diagonal_in_python, n_resamples=40)
    np.testing.assert_allclose(values(fast), values(slow), rtol=1e-11)


class Returning(MeanEstimator):
    """What a function makes of the Gram matrix, whatever that is."""

    def __init__(self, function):
        self.function = function

    def weights(self, gram):
        return self.function(gram)


NO_WEIGHTS = {
    "scalar": (lambda gram: 1.0 / len(gram), ValueError, "must return 10 weights for 10 points; found shape ()"),
    "others": (lambda gram: np.ones(3), ValueError, "must return 10 weights for 10 points; found shape (3,)"),
    "matrix": (lambda gram: gram, ValueError, "must return 10 weights for 10 points; found shape (10, 10)"),
    "nan": (lambda gram: np.full(10, np.nan), ValueError, "weights that are not finite for a Gram matrix of 10 points"),
    "none": (lambda gram: None, TypeError, "must return 10 weights for 10 points: found NoneType"),
    "text": (lambda gram: ["1"] * 10, TypeError, "must return 10 weights for 10 points: found an array of dtype <U1"),
    "complex": (lambda gram: 1j * np.ones(10), TypeError, "for 10 points: found an array of dtype complex128"),
    "objects": (lambda gram: np.array([1j] * 10, object), TypeError, "must return 10 weights for 10 points: float()"),
}


@pytest.mark.parametrize("wrong", NO_WEIGHTS)
@pytest.mark.parametrize("kind", [Returning, FromFunction])
def test_weights_are_one_finite_number_for_each_point(kind, wrong):
    function, error, said = NO_WEIGHTS[wrong]
    estimator, x, y = kind(function), POINTS[:10], POINTS[2:]
    for use in (
        lambda: estimator.fit(x),
        lambda: split_test(x, y, estimator),
        lambda: pair_test(x, y, estimator),
        lambda: joint_independence_test(x, y, estimator=estimator, n_resamples=9, rng=0),
        lambda: independence_test(x, y, given=np.sqrt(np.arange(10.0)), estimator=estimator, n_resamples=9, rng=0),
        lambda: ShrinkageKernelPCA(covariance=estimator).fit(x),
    ):
        with pytest.raises(error, match=re.escape(f"{estimator!r} ") + ".*" + re.escape(said)):
            use()


def test_weights_may_be_numbers_of_any_kind():
    x, y = samples(6, 4)
    expected = values(split_test(x, y))
    for function in (
        lambda gram: [1 / len(gram)] * len(gram),
        lambda gram: np.full(len(gram), 1 / len(gram)).astype(object),
        lambda gram: [Fraction(1, len(gram))] * len(gram),
    ):
        np.testing.assert_allclose(values(split_test(x, y, Returning(function))), expected, rtol=1e-10)


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


# --- independence -------------------------------------------------------------------------------------------


@numba.njit
def ridge_free(gram, theta, out):
    for i in range(out.size):
        out[i] = theta[0] * gram[i, i] / (1.0 + np.sum(np.abs(gram[i])))


class Narrower(MeanEstimator):
    """The standard mean of the features of the squared kernel."""

    def weights(self, gram):
        return np.full(len(gram), 1 / len(gram))

    def features(self, kernel, points):
        return kernel * kernel


def test_a_function_is_an_estimator_of_the_operator():
    mean = pair_test(X, Y, lambda G: np.full(len(G), 1 / len(G)))
    np.testing.assert_allclose(values(mean), values(pair_test(X, Y)), rtol=1e-10)
    ridge = pair_test(X, Y, lambda G: np.linalg.solve(G + 0.2 * np.eye(len(G)), G.mean(axis=1)))
    np.testing.assert_allclose(values(ridge), values(pair_test(X, Y, FKMSE(lam=0.2))), rtol=1e-9)


def test_a_subclass_may_change_the_features_of_the_margins():
    result = pair_test(X, Y, Narrower(), bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1])
    narrow = pair_test(X, Y, bandwidth_x=WIDTHS[0] / np.sqrt(2), bandwidth_y=WIDTHS[1] / np.sqrt(2))
    np.testing.assert_allclose(values(result), values(narrow), rtol=1e-9)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_compiled_function_is_an_estimator_of_the_operator(workers):
    fast = pair_test(X, Y, Compiled(ridge_free, (0.5,)), n_resamples=40, workers=workers)
    slow = pair_test(X, Y, lambda G: 0.5 * np.diag(G) / (1 + np.abs(G).sum(axis=1)), n_resamples=40)
    np.testing.assert_allclose(values(fast), values(slow), rtol=1e-10)


def test_a_function_may_fill_one_array_for_every_sample():
    room, parts = np.empty(len(POINTS)), (POINTS[:6], POINTS[6:])

    def weigh(gram):
        return np.clip(gram.mean(axis=1), 0.0, None) / len(gram)

    def into_room(gram):
        room[: len(gram)] = weigh(gram)
        return room[: len(gram)]

    kept, filled = (two_sample_test(*parts, estimator=one, bandwidth=1.0, n_resamples=19) for one in (weigh, into_room))
    np.testing.assert_array_equal(filled.witness(POINTS), kept.witness(POINTS))
