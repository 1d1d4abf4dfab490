"""Classifiers for the propensity: which chances are read, and errors that name those that return what is none."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC, LinearSVC

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


class Turned(LogisticRegression):
    """Has its labels in another order, or others."""

    def __init__(self, labels=(1, 0)):
        super().__init__()
        self.labels = labels

    def fit(self, z, label):
        super().fit(z, label)
        self.classes_ = np.array(self.labels)
        return self

    def predict_proba(self, z):
        return super().predict_proba(z)[:, ::-1]


def test_chances_are_those_of_the_second_sample_whatever_the_order_of_labels():
    told = {"covariates": (OF_X - 1.0, OF_Y), "n_resamples": 99, "rng": 0}
    turned, plain = (two_sample_test(X, Y, propensity=one, **told) for one in (Turned(), LogisticRegression()))
    np.testing.assert_array_equal(turned.null_distribution, plain.null_distribution)
    with pytest.raises(ValueError, match=r"propensity: Turned\(.*has classes_ \[.*'x'.*must be these labels"):
        two_sample_test(X, Y, propensity=Turned(("x", "y")), **told)


@pytest.mark.parametrize(
    "classifier", [SVC(), LinearSVC(), LinearRegression(), LogisticRegression, len], ids=lambda one: str(one)
)
def test_what_has_no_chances_is_an_error_that_says_what_has(classifier):
    said = r"propensity must be a classifier .* with predict_proba.*CalibratedClassifierCV"
    with pytest.raises(TypeError, match=said):
        two_sample_test(X, Y, covariates=(OF_X, OF_Y), propensity=classifier, n_resamples=99, rng=0)
