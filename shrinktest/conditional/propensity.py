"""The chance of every observation to be in the second sample, given its covariates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import complete_points, counted
from shrinktest.conditional._sklearn import learning, needed_for
from shrinktest.units import near_one

_FITS = ("fit", "predict_proba", "get_params")
_FEWEST = 1.0  # observations that change samples in a relabelling, about


def known_odds(chances: Any, sizes: tuple[int, ...]) -> np.ndarray:
    """Logarithms of odds (N,) from chances that are known, of all observations or of both samples.

    Raises ValueError for another number of them, or such that are not between 0 and 1.
    """
    pair = isinstance(chances, tuple | list) and len(chances) == 2 and all(map(np.ndim, chances))
    parts: Sequence[Any] = chances if pair else [chances]
    values = [complete_points(part, "propensity").values for part in parts]
    p = np.concatenate([part.ravel() for part in values])
    if len(p) != sum(sizes):
        raise ValueError(
            f"propensity has {counted(len(p), 'number')} for {counted(sum(sizes), 'row')} of X and Y together; give a "
            "chance for each, as one vector or as a pair"
        )
    found = tuple(map(len, values))
    if any(part.shape[1] != 1 for part in values) or (pair and found != sizes):
        what = f"vectors of {found[0]} and {found[1]} numbers" if pair else f"shape {values[0].shape}"
        raise ValueError(
            f"propensity must be one vector of {sum(sizes)} chances, those of X first, or a pair of vectors, of "
            f"{sizes[0]} and {sizes[1]}; got {what}"
        )
    if not ((p > 0.0) & (p < 1.0)).all():
        raise ValueError(
            "propensity must lie between 0 and 1, both excluded: a row that could be in one sample only cannot move; "
            "leave such rows out"
        )
    return checked(np.asarray(np.log(p) - np.log1p(-p)))


def fitted_odds(z: np.ndarray, sizes: tuple[int, ...], classifier: Any = None) -> np.ndarray:
    """Logarithms of odds (N,) from a classifier that learned which sample the rows of z (N, d) are in.

    The classifier is of scikit-learn's kind, by default logistic regression on columns in units of their standard
    deviations.  Raises TypeError for one that has no fit and predict_proba, or cannot be copied by get_params;
    ValueError where covariates tell the samples apart; ImportError without scikit-learn.
    """
    with needed_for("the propensity of rows with covariates= that are numbers"):
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

    if classifier is None:
        z = near_one(z)
        classifier = make_pipeline(StandardScaler(), LogisticRegression(C=1e4, max_iter=1000))
    if isinstance(classifier, type) or not all(callable(getattr(classifier, name, None)) for name in _FITS):
        raise TypeError(
            "propensity must be a classifier of scikit-learn's kind with predict_proba, not fitted, or the chances "
            f"themselves; got {classifier!r}; CalibratedClassifierCV of scikit-learn adds it to classifiers "
            "such as SVC()"
        )
    label = np.repeat([0, 1], sizes)
    with learning("propensity", classifier):
        fitted = clone(classifier).fit(z.copy(), label)  # a step of a pipeline may write into its input
    found = np.asarray(fitted.predict_proba(z.copy()))
    if found.shape != (len(z), 2) or found.dtype.kind not in "fiu" or not np.isfinite(found).all():
        what = f"shape {found.shape}" if found.shape != (len(z), 2) else "some that are no finite numbers"
        raise ValueError(
            f"propensity: predict_proba of {classifier!r} must return the chances of both samples for each of "
            f"{len(z)} rows, shape {(len(z), 2)}; it returned {what}"
        )
    classes = list(getattr(fitted, "classes_", (0, 1)))  # in whatever order
    if set(classes) != {0, 1}:
        raise ValueError(
            f"propensity: {classifier!r} learned the labels 0 and 1 of the samples, and has classes_ {classes}, which "
            "must be these labels"
        )
    p = np.clip(found[:, classes.index(1)], 1e-9, 1.0 - 1e-9)
    return checked(np.asarray(np.log(p) - np.log1p(-p)))


def checked(odds: np.ndarray) -> np.ndarray:
    """Odds; raises ValueError where nothing is left to chance."""
    p = 1.0 / (1.0 + np.exp(-odds))
    if float((p * (1.0 - p)).sum()) < _FEWEST:
        raise ValueError(
            "covariates tell the samples apart: given them it is all but certain which row is in which sample, so that "
            "nothing is left to test; compare rows with covariates that both samples have"
        )
    return odds
