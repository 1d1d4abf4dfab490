"""check_estimator: whether an estimator does what the tests rely on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shrinktest.kernels import Gaussian, Linear


def _grams() -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 3))
    yield "a Gaussian Gram matrix of 12 points", Gaussian(1.5)(points)
    yield "a singular Gram matrix (linear kernel, negative entries)", Linear()(points)
    yield "a Gram matrix with duplicated points", Gaussian(1.5)(np.repeat(points[:4], 3, axis=0))
    yield "two points", Gaussian(1.0)(points[:2])
    yield "points that all coincide", np.ones((5, 5))
    yield "a zero Gram matrix", np.zeros((4, 4))


def check_estimator(estimator: Any) -> None:
    """Check that an estimator obeys the laws that tests rely on.

    On ordinary, singular, duplicated, constant and zero Gram matrices: one finite weight per point; the same answer
    twice; the Gram matrix left as it was; the weights travel with the points when these are reordered; duplicates of
    the data get a sensible embedding; and both tests run with it.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        Whatever the ``estimator=`` of a test accepts.

    Raises
    ------
    AssertionError
        The message says which law is broken, on which Gram matrix.

    Examples
    --------
    >>> from shrinktest import check_estimator
    >>> check_estimator(lambda gram: gram.mean(axis=1) / len(gram))
    """
    from shrinktest.estimators import as_estimator

    est = as_estimator(estimator)
    for name, gram in _grams():
        n = gram.shape[0]
        given = gram.copy()
        where = f"{est!r} on {name}"
        try:
            weights = np.asarray(est.weights(given))
        except ValueError as wrong:  # functions get a read-only matrix
            _law("read-only" not in str(wrong), f"{where}: the Gram matrix was changed; work on a copy")
            raise
        _law(weights.shape == (n,), f"{where}: weights must have shape ({n},), found {weights.shape}")
        _law(bool(np.isfinite(weights).all()), f"{where}: weights must be finite, found {weights}")
        _law(bool((given == gram).all()), f"{where}: the Gram matrix was changed; work on a copy")
        _law(bool((est.weights(gram) == weights).all()), f"{where}: a second call gave other weights; keep no state")
        order = np.random.default_rng(1).permutation(n)
        moved = np.asarray(est.weights(np.ascontiguousarray(gram[np.ix_(order, order)])))
        # compared in the RKHS: weights in the null space of a singular Gram matrix are free
        gap = moved - weights[order]
        size = max(abs(weights @ gram @ weights), np.trace(gram) / n)
        error = abs(gap @ gram[np.ix_(order, order)] @ gap)
        _law(error <= 1e-8 * size, f"{where}: reordering the points must reorder the weights")
    _check_tests(est)


def _check_tests(est: Any) -> None:
    from shrinktest import independence_test, two_sample_test

    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    for result in (
        two_sample_test(x, y, estimator=est, n_resamples=19, rng=0, workers=1),
        independence_test(x, x[:, :1] ** 2, estimator=est, n_resamples=19, rng=0, workers=1),
    ):
        _law(
            np.isfinite(result.statistic) and 0.0 < result.pvalue <= 1.0,
            f"{est!r}: {result.test} gave statistic {result.statistic} and p-value {result.pvalue}",
        )


def _law(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
