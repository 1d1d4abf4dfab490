"""Check that an estimator of your own does what the tests rely on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from shrinktest.estimators.mean_estimator import MeanEstimator, as_weights
from shrinktest.estimators.user_estimators import Compiled
from shrinktest.kernels import Gaussian, Linear


def _grams() -> Iterator[tuple[str, np.ndarray]]:
    points = np.random.default_rng(0).normal(size=(12, 3))
    yield "a Gaussian Gram matrix of 12 points", Gaussian(1.5)(points)
    yield "a singular Gram matrix (linear kernel, negative entries)", Linear()(points)
    yield "a Gram matrix with duplicated points", Gaussian(1.5)(np.repeat(points[:4], 3, axis=0))
    yield "two points", Gaussian(1.0)(points[:2])
    yield "points that all coincide", np.ones((5, 5))
    yield "a zero Gram matrix", np.zeros((4, 4))


def check_estimator(estimator: Any) -> None:
    """Check that an estimator of your own has the properties on which the tests rely; an error says which it lacks.

    On ordinary, singular, duplicated, constant and zero Gram matrices: one finite weight per point; the Gram matrix is
    left unchanged; the same weights again, also after other data and in a fresh copy; the weights travel with the
    points when these are reordered; and both tests run with it.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        An estimator by name, as an object, or as a function gram -> weights.

    Raises
    ------
    AssertionError
        The message says which property is missing, on which Gram matrix.
    TypeError, ValueError
        For anything that is not an estimator.

    See Also
    --------
    shrinktest.MeanEstimator : The base class of an estimator of your own.
    shrinktest.risk.risk_study : How near an estimator comes to the true kernel mean.
    shrinktest.power_study : How often tests with it reject.

    Examples
    --------
    >>> from shrinktest import check_estimator
    >>> check_estimator(lambda gram: gram.mean(axis=1) / len(gram))
    """
    from shrinktest.estimators import as_estimator

    est = as_estimator(estimator)
    fresh = [(f"{est!r} on {name}", gram, copy.deepcopy(est)) for name, gram in _grams() if _takes(est, len(gram))]
    used = [
        (f"{est!r} on {name}", gram, _weights(est, gram, f"{est!r} on {name}"), other) for name, gram, other in fresh
    ]
    for where, gram, weights, other in reversed(used):
        for again in (_weights(est, gram, where), _weights(other, gram, where)):
            _law(bool((again == weights).all()), f"{where}: another call gave other weights; keep no state")
        order = np.random.default_rng(1).permutation(len(gram))
        moved = np.ascontiguousarray(gram[np.ix_(order, order)])
        # compared in the feature space: weights in the null space of a singular Gram matrix are arbitrary
        gap = _weights(est, moved, where) - weights[order]
        size = max(abs(weights @ gram @ weights), np.trace(gram) / len(gram))
        _law(abs(gap @ moved @ gap) <= 1e-8 * size, f"{where}: reordering the points must reorder the weights")
    _check_tests(est)


def _takes(est: MeanEstimator, n: int) -> bool:
    try:
        est.check_size(n)
    except ValueError:
        return False
    return True


def _weights(est: MeanEstimator, gram: np.ndarray, where: str) -> np.ndarray:
    given = gram.copy()
    try:
        weights = as_weights(est.weights(given), est, len(gram))
    except Exception as error:  # whatever a user's function raises; functions get a read-only matrix
        changed = "the Gram matrix was changed; work on a copy. " if "read-only" in str(error) else ""
        raise AssertionError(f"{where}: {changed}{type(error).__name__}: {error}") from error
    _law(bool((given == gram).all()), f"{where}: the Gram matrix was changed; work on a copy")
    return weights


def _check_tests(est: MeanEstimator) -> None:
    from shrinktest import independence_test, two_sample_test

    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    own = est.needs == "function" or isinstance(est, Compiled)
    for test, data in ((two_sample_test, (x, y)), (independence_test, (x, x[:, :1] ** 2))):
        try:
            result = test(*data, estimator=est, n_resamples=19, rng=0, workers=1)
        except Exception as error:
            if isinstance(error, ValueError) and not own:  # a built-in estimator for other data
                continue
            raise AssertionError(f"{est!r} in {test.__name__}: {type(error).__name__}: {error}") from error
        _law(
            np.isfinite(result.statistic) and 0.0 < result.pvalue <= 1.0,
            f"{est!r}: {result.test} gave statistic {result.statistic} and p-value {result.pvalue}",
        )


def _law(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
