"""Small samples, and tests of them with few relabellings, for the tests of both tests."""

from __future__ import annotations

import numpy as np

from cases import CHOOSING
from shrinktest import independence_test, two_sample_test

_rng = np.random.default_rng(20)
#: The pooled observations of two samples.
POINTS = _rng.normal(size=(12, 2)) * [1.0, 0.6]
POINTS[:5] += [0.8, 0.0]
SIZES = [(5, 5), (6, 4)]
BANDWIDTH = 0.9

_rng = np.random.default_rng(7)
#: Two variables observed together.
X = _rng.normal(size=(9, 2))
Y = np.column_stack([X[:, 0] ** 2 + 0.3 * _rng.normal(size=9), _rng.normal(size=9), 0.2 * X[:, 1]])
WIDTHS = (1.1, 1.7)

#: Estimators that choose an amount from a Gram matrix.
TUNED = CHOOSING


def samples(m, n):
    """The first m and the next n of the pooled observations."""
    return POINTS[:m], POINTS[m : m + n]


def split_test(X, Y, estimator="kme", **options):
    """A two-sample test with few relabellings whose p-value nobody looks at."""
    given = {"n_resamples": 4, "alpha": 0.5, "rng": 0, "workers": 1, **options}
    return two_sample_test(X, Y, estimator=estimator, **given)


def pair_test(x, y, estimator="kme", **options):
    """An independence test with few relabellings whose p-value nobody looks at."""
    given = {"n_resamples": 4, "alpha": 0.5, "rng": 0, "workers": 1, **options}
    return independence_test(x, y, estimator=estimator, **given)


def values(result):
    """Statistic of the observed labelling, then of the others."""
    return np.concatenate([[result.statistic], result.null_distribution])


def notes(result):
    """All notes as one text."""
    return " ".join(result.notes)
