"""Classifiers for the propensity that return what is no chance are errors that name them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from shrinktest import two_sample_test

X, Y, OF_X, OF_Y = np.random.default_rng(0).normal(size=(4, 20, 1))


class Odd(ClassifierMixin, BaseEstimator):
    """Returns what it was told to for the chances of 40 rows."""

    def __init__(self, kind="nan"):
        self.kind = kind

    def fit(self, z, label):
        self.classes_ = np.unique(label)
        return self

    def predict_proba(self, z):
        found = np.full((len(z), 2), 0.5)
        if self.kind == "nan":
            found[30] = np.nan
        return {"one column": found[:, :1], "flat": found[:, 1], "short": found[:-1], "three": found[:, [0, 1, 1]]}.get(
            self.kind, None if self.kind == "nothing" else found
        )


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("nan", "it returned some that are no finite numbers"),
        ("one column", r"it returned shape \(40, 1\)"),
        ("flat", r"it returned shape \(40,\)"),
        ("short", r"it returned shape \(39, 2\)"),
        ("three", r"it returned shape \(40, 3\)"),
        ("nothing", r"it returned shape \(\)"),
    ],
)
def test_chances_are_looked_at(kind, said):
    with pytest.raises(ValueError, match=rf"propensity: predict_proba of Odd\(.*for each of 40 rows.*{said}"):
        two_sample_test(X, Y, covariates=(OF_X, OF_Y), propensity=Odd(kind), n_resamples=99, rng=0)


@pytest.mark.parametrize(
    ("chances", "said"),
    [
        (np.full((20, 2), 0.5), r"got shape \(20, 2\)"),
        ((np.full(7, 0.5), np.full(33, 0.5)), "got vectors of 7 and 33 numbers"),
    ],
)
def test_known_chances_belong_to_their_rows(chances, said):
    with pytest.raises(ValueError, match=f"propensity must be one vector of 40 chances, those of X first.*{said}"):
        two_sample_test(X, Y, covariates=(OF_X, OF_Y), propensity=chances, n_resamples=99, rng=0)
