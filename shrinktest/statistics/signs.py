"""The squared norm of the mean of products of residual features, for every estimator, as a function of signs."""

from __future__ import annotations

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.base import read_only
from shrinktest.nulls.permutation import Statistic
from shrinktest.statistics.products import squared_norm, times


def sign_statistic(estimator: MeanEstimator, gram: np.ndarray) -> Statistic:
    """The statistic as a function of signs (B, n).

    Parameters
    ----------
    estimator : MeanEstimator
        Of the mean of features that should have mean zero; refitted to them with every choice of signs.
    gram : ndarray, shape (n, n)
        Of the features.
    """
    n = len(gram)
    size = float(np.abs(gram).mean()) or np.finfo(np.float64).tiny
    trace = float(np.trace(gram))

    def of_sums(signs: np.ndarray) -> np.ndarray:
        total = (times(signs, gram) * signs).sum(axis=1)  # each row by itself, however many there are
        factor = np.asarray(estimator.scale((total, np.full(len(total), trace), n))) ** 2  # type: ignore[attr-defined]
        value = factor * total / n**2
        return np.stack([value, np.full(len(value), size)], axis=1)

    def of_function(signs: np.ndarray) -> np.ndarray:
        out = np.empty((len(signs), 2))
        for row, found in zip(signs, out, strict=True):
            turned = gram * row * row[:, None]
            found[:] = squared_norm(turned, estimator.weights(read_only(turned)), 0.0, 0.0)
        return out

    return of_sums if estimator.needs in ("sums", "noise") else of_function
