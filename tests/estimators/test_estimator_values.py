"""Estimators as values: representation, equality, names, and errors that teach."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import shrinktest
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    Linear,
    NuMethod,
    Precomputed,
)
from shrinktest.estimators import ALIASES, ESTIMATORS, Compiled, FromFunction, MeanEstimator, as_estimator

TARGET = ([[0.0, 1.0], [2.0, 3.0]], [0.25, 0.75])
VALUES = {
    "KME()": KME(),
    "SKMSE()": SKMSE(),
    "SKMSE(tuning='joint', rule='plugin')": SKMSE(rule="plugin", tuning="joint"),
    "SKMSE(alpha=0.25)": SKMSE(alpha=0.25),
    "SKMSE(decay=(1.0, 2.0))": SKMSE(decay=(1.0, 2.0)),
    "SKMSE(target=(((0.0, 1.0), (2.0, 3.0)), (0.25, 0.75)))": SKMSE(target=TARGET),
    "FKMSE()": FKMSE(),
    "FKMSE(lam=0.1)": FKMSE(lam=0.1),
    "FKMSE(lam_cov=0.0)": FKMSE(lam_cov=0.0),
    "FKMSE(loo='averaged')": FKMSE(loo="averaged"),
    "FKMSE(tuning='pooled')": FKMSE(tuning="pooled", loo="deletion"),
    "IteratedTikhonov(lam_cov=2.0, t=5)": IteratedTikhonov(lam_cov=2.0, t=5),
    "IteratedTikhonov(loo='paper')": IteratedTikhonov(loo="paper", t=3),
    "Landweber(t=7, eta=0.5)": Landweber(t=7, eta=0.5),
    "Landweber(max_iter=20)": Landweber(max_iter=20),
    "NuMethod(t=4, nu=2.0)": NuMethod(t=4, nu=2.0),
    "TSVD(m=3)": TSVD(m=3),
    "TSVD(threshold=0.01)": TSVD(threshold=0.01),
    "TSVD(rule='gcv')": TSVD(rule="gcv"),
    "MKME(variance=0.5)": MKME(variance=0.5),
    "MMKME(variances=(0.5, 1.0))": MMKME(variances=[0.5, 1.0]),
    "MMKME(tuning='sample')": MMKME(tuning="sample"),
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_value(text, value):
    assert repr(value) == text
    rebuilt = eval(text, vars(shrinktest))  # the text is ours
    for other in (rebuilt, pickle.loads(pickle.dumps(value))):
        assert other == value
        assert hash(other) == hash(value)
    for field in ("tuning", "new"):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(value, field, "sample")


def test_different_values_differ():
    assert len(set(VALUES.values())) == len(VALUES)
    assert FKMSE(lam=0.1) != IteratedTikhonov(lam=0.1)
    assert SKMSE(target=TARGET) == SKMSE(target=tuple(map(np.array, TARGET)))
    assert SKMSE(target=TARGET) != SKMSE(target=(TARGET[0], [0.75, 0.25]))


@pytest.mark.parametrize("amount", [0.0, np.inf])
def test_endpoints_rebuild(amount):
    for value in (FKMSE(lam_cov=amount), TSVD(threshold=amount)):
        assert eval(repr(value), {**vars(shrinktest), "inf": np.inf}) == value


# --- what tests ask -----------------------------------------------------------------------------------------

FUNCTION = FromFunction(lambda gram: np.full(len(gram), 1.0 / len(gram)))
ASKED = {  # needs, whether it is fixed, changes the features, has an unbiased form for pairs
    "KME()": (KME(), "sums", True, False, True),
    "SKMSE()": (SKMSE(), "sums", False, False, False),
    "SKMSE(alpha=)": (SKMSE(alpha=0.1), "sums", True, False, False),
    "SKMSE(target=)": (SKMSE(target=TARGET), "sums", False, True, False),
    "FKMSE()": (FKMSE(), "filter", False, False, False),
    "FKMSE(lam=)": (FKMSE(lam=0.1), "filter", True, False, False),
    "IteratedTikhonov()": (IteratedTikhonov(), "filter", False, False, False),
    "Landweber()": (Landweber(), "filter", False, False, False),
    "NuMethod()": (NuMethod(), "filter", False, False, False),
    "TSVD()": (TSVD(), "filter", False, False, False),
    "MKME()": (MKME(), "noise", False, True, True),
    "MMKME(variances=)": (MMKME(variances=(1.0, 2.0)), "sums", True, True, True),
    "FromFunction": (FUNCTION, "function", True, False, False),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_tests_ask_an_estimator(name):
    estimator, *answers = ASKED[name]
    assert [estimator.needs, estimator.fixed, estimator.changes_features, estimator.unbiased_pairs] == answers
    tuning = [estimator.tuning_for(sizes) for sizes in ((5, 5), (5, 6))]
    if estimator.fixed:
        assert tuning == ["fixed", "fixed"]
        assert estimator.tuned(Gaussian(1.0), np.zeros((5, 2))) is estimator
    else:
        assert tuning == (["pooled", "pooled"] if name == "MKME()" else ["sample", "joint"])
        with pytest.raises(ValueError, match="nothing to tune"):
            replace(estimator.tuned(Gaussian(1.0), np.eye(5)[:, :2]), tuning="sample")


def test_every_estimator_says_what_a_fit_needs():
    assert {type(estimator) for estimator, *_ in ASKED.values()} >= set(ESTIMATORS.values())


# --- names --------------------------------------------------------------------------------------------------


def test_names():
    for name, kind in ESTIMATORS.items():
        for spelling in (name, name.upper(), name.replace("_", "-")):
            assert as_estimator(spelling) == kind()
    assert {alias: type(as_estimator(alias)) for alias in ALIASES} == {
        "standard": KME, "shrinkage": FKMSE, "spectral": Landweber, "marginalized": MKME
    }  # fmt: skip
    assert len({kind.summary for kind in ESTIMATORS.values()}) == len(ESTIMATORS)


def test_what_becomes_an_estimator():
    estimator = FKMSE(lam=0.1)
    assert as_estimator(estimator) is estimator
    wrapped = as_estimator(np.mean)
    assert wrapped == FromFunction(np.mean)
    assert isinstance(wrapped, MeanEstimator)
    assert repr(wrapped) == "FromFunction(mean)"


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ("fkme", ValueError, "estimator must be one of 'kme', .*'standard'.*Did you mean 'fkmse'"),
        ("Auto", ValueError, "combines several, in two_sample_test, .* name one here: kme, "),
        (FKMSE, TypeError, r"not the class: write FKMSE\(\)"),
        (3.0, TypeError, r"a name \(kme, .*found 3.0"),
        (None, TypeError, "found None"),
        (int, TypeError, "found <class 'int'>"),
    ],
)
def test_no_estimator(wrong, error, message):
    with pytest.raises(error, match=message):
        as_estimator(wrong)


# --- parameters ---------------------------------------------------------------------------------------------

BAD = [
    (SKMSE, {"rule": "loo"}, "rule must be one of 'loocv', 'plugin'; got 'loo'. Did you mean 'loocv'"),
    (SKMSE, {"alpha": 1.5}, "alpha must be a number from 0 .* to 1 .*1.5"),
    (SKMSE, {"alpha": -0.1}, "alpha must be"),
    (SKMSE, {"alpha": float("nan")}, "alpha must be"),
    (SKMSE, {"alpha": 0.1, "decay": (1.0, 1.0)}, "alpha and decay both"),
    (SKMSE, {"alpha": 0.1, "rule": "plugin"}, "rule='plugin' is not used"),
    (SKMSE, {"decay": 1.0}, r"decay must be a pair \(c, beta\)"),
    (SKMSE, {"decay": (-1.0, 1.0)}, "finite c >= 0"),
    (SKMSE, {"target": [[0.0]]}, r"target must be a pair \(points, weights\)"),
    (SKMSE, {"target": ([[0.0], [1.0]], [1.0])}, "2 points must have as many finite weights"),
    (SKMSE, {"target": ([[0.0]], [1j])}, r"1 point must have as many finite weights; found \[1j\]"),
    (SKMSE, {"target": ([[0.0]], [np.nan])}, "finite weights"),
    (SKMSE, {"alpha": 0.1, "tuning": "joint"}, "tuning='joint' has nothing to tune"),
    (FKMSE, {"lam": 0.1, "lam_cov": 0.1}, r"lam .* and lam_cov .* give one of them"),
    (FKMSE, {"lam": -1.0}, "lam must be a finite number >= 0, got -1"),
    (FKMSE, {"lam": float("nan")}, "lam must be"),
    (FKMSE, {"lam_cov": -np.inf}, "lam_cov must be"),
    (FKMSE, {"loo": "delete"}, "loo must be one of 'deletion', 'averaged', 'paper'.*Did you mean 'deletion'"),
    (FKMSE, {"lam": 0.1, "loo": "paper"}, "loo='paper' is not used"),
    (FKMSE, {"lam": 0.1, "tuning": "sample"}, "tuning='sample' has nothing to tune.*FKMSE"),
    (FKMSE, {"tuning": "polled"}, "tuning must be one of .*Did you mean 'pooled'"),
    (IteratedTikhonov, {"loo": "averaged"}, "loo must be one of 'deletion', 'paper'; got 'averaged'"),
    (IteratedTikhonov, {"t": 0}, "t must be an integer >= 1, got 0"),
    (Landweber, {"t": 0}, "t must be"),
    (Landweber, {"eta": 0.0}, "eta must be a finite number > 0"),
    (Landweber, {"max_iter": 0}, "max_iter must be"),
    (Landweber, {"t": 3, "max_iter": 9}, "max_iter and loo are for choosing t"),
    (Landweber, {"t": 3, "loo": "paper"}, "max_iter and loo are for choosing t"),
    (Landweber, {"loo": "filter"}, "loo must be"),
    (NuMethod, {"nu": 0.0}, "nu must be a finite number > 0"),
    (TSVD, {"m": 2, "threshold": 0.1}, "m and threshold both"),
    (TSVD, {"m": 0}, "m must be an integer >= 1"),
    (TSVD, {"threshold": -0.1}, "threshold must be"),
    (TSVD, {"rule": "loocv"}, "rule must be one of 'loo', 'gcv'.*Did you mean 'loo'"),
    (TSVD, {"m": 2, "rule": "gcv"}, "rule='gcv' is not used"),
    (MKME, {"variance": -1.0}, "variance must be a finite number >= 0"),
    (MKME, {"variance": 1.0, "tuning": "pooled"}, "has nothing to tune"),
    (MMKME, {"variances": (1.0, -1.0)}, "variances must be"),
    (MMKME, {"variances": ["a", 1.0]}, "variances must be finite numbers >= 0, one for each column; got"),
    (MMKME, {"variances": np.ones((1, 2))}, "variances must be"),
    (MKME, {"variance": 10**400}, "variance must be a number below 1e308"),
    (SKMSE, {"decay": (1.0, "b")}, "a finite beta"),
    (SKMSE, {"decay": ("1", "0.5")}, "a finite c >= 0 and a finite beta"),
    (SKMSE, {"decay": (1.0, -400.0)}, r"a finite beta >= 0; found \(1.0, -400.0\)"),
    (SKMSE, {"alpha": True}, "alpha must be a number from 0 .*; found True"),
    (MMKME, {"variances": True}, "variances must be finite numbers >= 0, one for each column; got True"),
    (MMKME, {"variances": ["1"]}, "variances must be finite numbers"),
    (MMKME, {"variances": np.array([1j])}, "variances must be finite numbers"),
    (Landweber, {"t": 2**63}, "t must be an integer <= 10000000; .* is the plain mean, estimator='kme'"),
    (NuMethod, {"t": 2**63}, "t must be an integer <= 10000000"),
    (NuMethod, {"max_iter": 2**40}, "max_iter must be an integer <= 10000000"),
    (IteratedTikhonov, {"lam": 0.1, "t": 2**62}, "t must be an integer <= 10000000"),
    (IteratedTikhonov, {"t": 1001}, r"t=1001 steps, .* and 1000 are the most; give lam or lam_cov, or tune with loo="),
    (SKMSE, {"alpha": 10**400}, "alpha must be a number from 0"),
    (MMKME, {"variances": (1.0,), "tuning": "joint"}, "has nothing to tune"),
]


@pytest.mark.parametrize(("kind", "arguments", "message"), BAD, ids=[f"{k.__name__}{a}" for k, a, _ in BAD])
def test_bad_parameters(kind, arguments, message):
    with pytest.raises(ValueError, match=message):
        kind(**arguments)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (FKMSE, {"lam": "0.1"}),
        (FKMSE, {"lam": True}),
        (IteratedTikhonov, {"t": 2.0}),
        (Landweber, {"t": 2.5}),
        (TSVD, {"m": 2.0}),
        (MKME, {"variance": "1"}),
    ],
    ids=str,
)
def test_parameters_of_the_wrong_type(kind, arguments):
    (name,) = arguments
    with pytest.raises(TypeError, match=f"{name} must be"):
        kind(**arguments)


# --- Gram matrices ------------------------------------------------------------------------------------------

WEIGHING = [
    KME(),
    SKMSE(),
    FKMSE(),
    IteratedTikhonov(),
    Landweber(),
    NuMethod(),
    TSVD(),
    MKME(),
    as_estimator(len),
]


@pytest.mark.parametrize(
    ("gram", "error", "message"),
    [
        (np.ones((3, 4)), ValueError, r"gram must be a square Gram matrix.*\(3, 4\)"),
        (np.ones(4), ValueError, r"square.*\(4,\)"),
        (np.empty((0, 0)), ValueError, "gram is empty"),
        ([[1.0, 0.5], [0.2, 1.0]], ValueError, r"symmetric: entries \[0, 1\] and \[1, 0\] differ by 0.3"),
        ([[1.0, 0.5], [0.500001, 1.0]], ValueError, "differ by 1e-06; pass the Gram matrix of one sample"),
        ([[1.0, np.nan], [np.nan, 1.0]], ValueError, r"gram\[0, 1\] is nan"),
        ([[1.0, 0.0], [0.0, np.inf]], ValueError, r"gram\[1, 1\] is inf"),
        ([["a", "b"], ["b", "a"]], TypeError, "gram must be a matrix of numbers: found an array of dtype <U1"),
        ([["1", "0"], ["0", "1"]], TypeError, "matrix of numbers"),
        (np.array([[1.0, 1j], [1j, 1.0]]), TypeError, "matrix of numbers: found an array of dtype complex128"),
        ([[1.0, 0.5], [0.5]], TypeError, "matrix of numbers"),
        (None, TypeError, "gram must be a matrix of numbers: found NoneType"),
    ],
    ids=[
        *("rectangle", "vector", "empty", "asymmetric", "slightly asymmetric", "nan", "inf"),
        *("text", "numbers in text", "complex", "rows of other lengths", "none"),
    ],
)
@pytest.mark.parametrize("estimator", WEIGHING, ids=repr)
def test_no_gram_matrix(estimator, gram, error, message):
    with pytest.raises(error, match=message):
        estimator.weights(gram)


def test_rounding_asymmetry_passes():
    K = Gaussian(1.0)(np.random.default_rng(0).normal(size=(5, 2)))
    K[0, 1] += 1e-13
    for estimator in WEIGHING[:-1]:
        assert estimator.weights(K).shape == (5,)


def test_gram_matrices_of_other_types():
    K = np.array([[2, 1], [1, 3]])
    for given in (K, K.tolist(), K.astype(np.float32), np.asfortranarray(K, dtype=float)):
        np.testing.assert_array_equal(FKMSE(lam=1.0).weights(given), FKMSE(lam=1.0).weights(K.astype(float)))


@pytest.mark.parametrize("estimator", [FKMSE(), FKMSE(lam=0.5), IteratedTikhonov(), IteratedTikhonov(lam=0.5)])
def test_indefinite_gram(estimator):
    with pytest.raises(ValueError, match=r"smallest eigenvalue of the Gram matrix is -1;.*semi-definite kernel"):
        estimator.weights([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(("method", "largest"), [(Landweber, 2.0), (NuMethod, 1.0)])
def test_diverging_step(method, largest):
    """The iteration on K/n converges up to 2 (nu-method: 1) over its largest eigenvalue; see erratum E19."""
    K = Gaussian(1.0)(np.random.default_rng(0).normal(size=(20, 2)))
    bound = largest / (np.linalg.eigvalsh(K)[-1] / 20)
    for arguments in ({"t": 500}, {}):
        with pytest.raises(ValueError, match=f"diverges: .* at most {largest:g}; use eta=None"):
            method(eta=1.001 * bound, **arguments).weights(K)
    assert np.isfinite(method(eta=0.999 * bound).weights(K)).all()
    gap = method(eta=0.9 * bound, t=500).weights(K) - 1 / 20
    assert gap @ K @ gap < 1e-4 * K.mean()


def test_more_components_than_points():
    with pytest.raises(ValueError, match="m=4 components cannot be kept from a sample of 3 points"):
        TSVD(m=4).weights(np.eye(3))


# --- fit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [KME(), FKMSE(), MKME(), as_estimator(lambda gram: gram[0])], ids=repr)
def test_fit_on_missing_values(estimator):
    with pytest.raises(ValueError, match="X contains missing values"):
        estimator.fit([0.0, np.nan, 1.0], Gaussian(1.0))


def test_fit_on_bad_input():
    with pytest.raises(ValueError, match="X has an infinite value"):
        KME().fit([0.0, np.inf])
    with pytest.raises(TypeError, match="X must hold real numbers"):
        KME().fit(["a", "b"])
    with pytest.raises(ValueError, match="kernel must be one of"):
        KME().fit([0.0, 1.0], "gauss")
    with pytest.raises(ValueError, match="target points have 2 columns, the sample has 1"):
        SKMSE(target=TARGET).fit([0.0, 1.0], Linear())
    with pytest.raises(ValueError, match="row numbers"):
        KME().fit([0.5, 1.0], Precomputed(np.eye(2)))


def test_functions():
    with pytest.raises(TypeError, match="function must be callable"):
        FromFunction(3)
    with pytest.raises(TypeError, match=r"compiled with numba\.njit"):
        Compiled(3)
    with pytest.raises(TypeError, match=r"compiled with numba\.njit"):
        Compiled(lambda gram, theta, out: None)
    with pytest.raises(ValueError, match=r"must return 3 weights for 3 points; found shape \(2,\)"):
        as_estimator(lambda gram: np.ones(2)).weights(np.eye(3))
    with pytest.raises(ValueError, match="not finite for a Gram matrix of 3 points"):
        as_estimator(lambda gram: np.full(3, np.nan)).weights(np.eye(3))
