"""Base classes of scikit-learn for the applications, and how they read a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._check import Array, complete_points

try:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        DensityMixin,
        TransformerMixin,
    )
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        "shrinktest.applications needs scikit-learn: pip install 'shrinktest[apps]'"
    ) from error


class OnPoints(BaseEstimator):
    """Base class of scikit-learn estimators of one table with fixed columns.

    The table must have the same columns after fitting.
    """

    def _read_fit(self, X: Any) -> Array:
        """The rows (n, d) to fit on.

        Sets ``n_features_in_``, and ``feature_names_in_`` for a DataFrame.
        """
        values, columns, _ = complete_points(X, "X")
        self.n_features_in_ = values.shape[1]
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return values

    def _read(self, X: Any) -> Array:
        """The rows (m, d) to apply the fitted estimator to."""
        check_is_fitted(self)
        values, columns, _ = complete_points(X, "X")
        if values.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {values.shape[1]} columns, but {type(self).__name__} was fitted on "
                f"{self.n_features_in_}; "
                "pass the same variables"
            )
        known = getattr(self, "feature_names_in_", None)
        if columns is not None and known is not None and columns != tuple(known):
            raise ValueError(
                f"X has the columns {', '.join(columns)}, but {type(self).__name__} was fitted on "
                f"{', '.join(known)}; "
                "select the same, in the same order"
            )
        return values


def generator(random_state: Any) -> np.random.Generator:
    """A numpy Generator from what scikit-learn takes: None, an integer seed or a RandomState.

    Or a Generator.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "DensityMixin",
    "OnPoints",
    "TransformerMixin",
    "check_is_fitted",
    "generator",
]
