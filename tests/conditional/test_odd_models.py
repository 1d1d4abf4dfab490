"""Models and classifiers of a user's that are of the wrong kind, or return what they must not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from shrinktest import XGivenZ, independence_test, two_sample_test

N = 40
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, 2))
X, Y = Z[:, 0] + RNG.normal(size=N), Z[:, 1] + RNG.normal(size=N)
OUT = np.empty((N, 1))
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


class Odd(RegressorMixin, BaseEstimator):
    """Predicts what it was told to."""

    def __init__(self, kind=""):
        self.kind = kind

    def fit(self, z, x):
        return self

    def predict(self, z):
        return {
            "complex": z[:, 0] + 1j,
            "text": z[:, 0].astype(str),
            "nothing": None,
            "gap": np.where(z[:, 0] == z[0, 0], np.nan, z[:, 0]),
            "infinite": np.where(z[:, 0] == z[0, 0], -np.inf, z[:, 0]),
            "short": z[:-1, 0],
            "deep": z[:, :1, None],
        }[self.kind]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("complex", "does not predict X from given: found an array of dtype complex128"),
        ("text", "does not predict X from given: found an array of dtype <U"),
        ("nothing", "does not predict X from given: found NoneType"),
        ("gap", "must predict finite numbers; it predicts nan in 1 of 40 places"),
        ("infinite", "must predict finite numbers; it predicts -inf in 1 of 40 places"),
        ("short", r"predicts shape \(39, 1\), and X has shape \(40, 1\)"),
    ],
)
def test_what_x_given_z_predicts_is_looked_at(kind, said):
    with pytest.raises(ValueError, match=rf"x_given_z=Odd\(kind='{kind}'\) {said}"):
        independence_test(X, Y, given=Z, x_given_z=Odd(kind), **FEW)


def test_predictions_may_have_further_axes_of_one():
    assert independence_test(X, Y, given=Z, x_given_z=Odd("deep"), **FEW).pvalue <= 1.0


class Chances(LinearRegression):
    """A regressor that has predict_proba, too, as some of nets do."""

    predict_proba = LinearRegression.predict


def test_regressors_may_have_chances():
    expected = independence_test(X, Y, given=Z, regressor=LinearRegression(), **FEW)
    assert independence_test(X, Y, given=Z, regressor=Chances(), **FEW).statistic == expected.statistic
    assert independence_test(X, Y, given=Z, x_given_z=Chances().fit(Z, X), **FEW).pvalue > 0.0


@pytest.mark.parametrize(("kind", "said"), [("complex", "dtype complex128"), ("text", "<U"), ("nothing", "NoneType")])
def test_what_regressors_predict_is_looked_at(kind, said):
    with pytest.raises(TypeError, match=rf"regressor: predict of Odd\(kind='{kind}'\) must return numbers: .*{said}"):
        independence_test(X, Y, given=Z, regressor=Odd(kind), **FEW)


@pytest.mark.parametrize("argument", ["regressor", "propensity"])
def test_models_that_select_columns_by_name_are_told_that_they_get_arrays(argument):
    scaled = ColumnTransformer([("a", StandardScaler(), ["a"])])
    table = pd.DataFrame(Z, columns=["a", "b"])
    said = (
        rf"(?s){argument}: Pipeline\(.*cannot be fitted to an array, whose columns have numbers and no names: .*strings"
    )
    with pytest.raises(ValueError, match=said):
        if argument == "regressor":
            independence_test(X, Y, given=table, regressor=make_pipeline(scaled, LinearRegression()), **FEW)
        else:
            classifier = make_pipeline(scaled, LogisticRegression())
            two_sample_test(X, Y, covariates=(table, table), propensity=classifier, **FEW)


def plain(z, rng):
    return z + rng.normal(size=z.shape)


def in_place(z, rng):
    z += rng.normal(size=z.shape)
    return z


def into_its_own(z, rng):
    return np.add(z, rng.normal(size=z.shape), out=OUT)


def likely(x, z):
    return -0.5 * np.square(x - z).sum(axis=1)


def likely_in_place(x, z):
    z -= x
    return -0.5 * np.square(z).sum(axis=1)


@pytest.mark.parametrize(
    ("careless", "careful"),
    [(in_place, plain), (into_its_own, plain), (XGivenZ(log_density=likely_in_place), XGivenZ(log_density=likely))],
    ids=["in place", "into its own", "density"],
)
def test_models_may_write_into_what_they_get_and_return(careless, careful):
    first, second = (independence_test(X, Y, given=Z[:, 0], x_given_z=one, **FEW) for one in (careless, careful))
    np.testing.assert_array_equal(first.null_distribution, second.null_distribution)


def test_classifiers_may_write_into_what_they_get():
    told = {"covariates": (10.0 * Z, 10.0 * Z + 3.0), **FEW}
    careless, careful = (
        two_sample_test(X, Y, propensity=make_pipeline(StandardScaler(copy=one), LogisticRegression()), **told)
        for one in (False, True)
    )
    np.testing.assert_array_equal(careless.null_distribution, careful.null_distribution)


def test_a_step_of_a_model_may_write_into_a_table():
    scalers = [StandardScaler(copy=one).fit(100.0 * Z) for one in (False, True)]

    def drawing(scaler):
        return lambda z, rng: scaler.transform(z)[:, 0] + rng.normal(size=N)

    table = pd.DataFrame(Z)
    first, second = (independence_test(X, Y, given=table, x_given_z=drawing(one), **FEW) for one in scalers)
    np.testing.assert_array_equal(first.null_distribution, second.null_distribution)


@pytest.mark.parametrize(
    "draw",
    [
        lambda z, rng: 0.7 * z[:, 0],
        lambda z, rng: z[:, 0] + np.random.default_rng(0).normal(size=N),
        lambda z, rng: np.zeros(N),
    ],
    ids=["predictions", "a seed of its own", "constant"],
)
def test_a_model_that_does_not_draw_is_an_error(draw):
    with pytest.raises(ValueError, match="x_given_z drew the same X 50 times; it must draw, with numbers from rng"):
        independence_test(X, Y, given=Z, x_given_z=draw, **FEW)
