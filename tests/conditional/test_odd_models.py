"""Models and classifiers of a user's that are of the wrong kind, or return what they must not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from shrinktest import independence_test

N = 40
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, 2))
X, Y = Z[:, 0] + RNG.normal(size=N), Z[:, 1] + RNG.normal(size=N)
LABEL = (X > 0.0).astype(float)
FEW = {"n_resamples": 19, "rng": 0, "workers": 1}


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), LinearSVC(), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=lambda one: type(one).__name__,
)
def test_classifiers_are_no_regressors(classifier):
    for method in ("residuals", "local"):
        with pytest.raises(
            TypeError, match=r"(?s)regressor=.* predicts labels, and means are wanted; give a regressor"
        ):
            independence_test(LABEL, Y, given=Z, regressor=classifier, given_method=method, **FEW)
    with pytest.raises(
        TypeError, match=r"(?s)x_given_z=.* predicts labels.*give a function \(Z, rng\) -> X that draws"
    ):
        independence_test(LABEL, Y, given=Z, x_given_z=classifier.fit(Z, LABEL), **FEW)
