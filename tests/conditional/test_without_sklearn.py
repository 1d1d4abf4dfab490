"""Without scikit-learn, which is an extra: what needs it says what to install, and the rest runs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from shrinktest import independence_test, two_sample_test

Z, X, Y = np.random.default_rng(0).normal(size=(3, 24))
FEW = {"n_resamples": 39, "rng": 0, "workers": 1}


class Regressor:
    """Of scikit-learn's kind, of another package."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def get_params(self, deep=True):
        return {}


@pytest.fixture(autouse=True)
def without(monkeypatch):
    for module in ("base", "linear_model", "pipeline", "preprocessing", "utils"):
        monkeypatch.setitem(sys.modules, f"sklearn.{module}", None)


def test_a_propensity_that_is_fitted():
    said = r"covariates= that are numbers needs scikit-learn: pip install 'shrinktest\[apps\]'"
    with pytest.raises(ImportError, match=said):
        two_sample_test(X, Y, covariates=(Z, Z), **FEW)


def test_what_needs_none():
    sites = (np.array(["a", "b"] * 12),) * 2
    assert two_sample_test(X, Y, covariates=sites, **FEW).method == "permutations within strata"
    half = (np.full(24, 0.5),) * 2
    assert two_sample_test(X, Y, covariates=(Z, Z), propensity=half, **FEW).pvalue > 0.0
    assert independence_test(X, Y, given=Z, **FEW).pvalue > 0.0


def test_a_regressor():
    with pytest.raises(ImportError, match=r"regressor= needs scikit-learn: pip install 'shrinktest\[apps\]'"):
        independence_test(X, Y, given=Z, regressor=Regressor(), **FEW)
