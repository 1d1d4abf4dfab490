"""Estimators as values, and estimators of your own: functions, subclasses, compiled functions."""

from __future__ import annotations

import pickle
import re
from dataclasses import FrozenInstanceError, dataclass, replace
from fractions import Fraction

import numba
import numpy as np
import pytest

import shrinktest
from cases import (
    BANDWIDTH,
    FIXED,
    POINTS,
    WEIGHTED,
    WIDTHS,
    X,
    Y,
    pair_test,
    samples,
    split_test,
    values,
)
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
    independence_test,
    joint_independence_test,
)
from shrinktest.applications import ShrinkageKernelPCA
from shrinktest.estimators import (
    ALIASES,
    ESTIMATORS,
    Compiled,
    FromFunction,
    MeanEstimator,
    as_estimator,
)

TARGET = ([[0.0, 1.0], [2.0, 3.0]], [0.25, 0.75])
VALUES = {
    "KME()": KME(),
    "SKMSE(tuning='joint', rule='plugin')": SKMSE(rule="plugin", tuning="joint"),
    "SKMSE(alpha=0.25)": SKMSE(alpha=0.25),
    "SKMSE(decay=(1.0, 2.0))": SKMSE(decay=(1.0, 2.0)),
    "SKMSE(target=(((0.0, 1.0), (2.0, 3.0)), (0.25, 0.75)))": SKMSE(
        target=tuple(map(np.array, TARGET))
    ),
    "FKMSE()": FKMSE(loo="deletion"),
    "FKMSE(lam=0.1)": FKMSE(lam=np.float64(0.1)),
    "FKMSE(lam_cov=inf)": FKMSE(lam_cov=np.inf),
    "IteratedTikhonov(lam_cov=2.0, t=5)": IteratedTikhonov(lam_cov=2.0, t=5),
    "Landweber(t=7, eta=0.5)": Landweber(t=np.int64(7), eta=np.float32(0.5)),
    "NuMethod(t=4, nu=2.0)": NuMethod(t=4, nu=2.0),
    "TSVD(m=3)": TSVD(m=3),
    "TSVD(threshold=0.0)": TSVD(threshold=0.0),
    "MKME(variance=0.5)": MKME(variance=0.5),
    "MMKME(variances=(0.5, 1.0))": MMKME(variances=[0.5, 1.0]),
}


PUBLIC = {name: getattr(shrinktest, name) for name in shrinktest.__all__}


def test_values_rebuild_from_their_text_and_from_pickle():
    for text, value in VALUES.items():
        assert repr(value) == text
        for other in (eval(text, {**PUBLIC, "inf": np.inf}), pickle.loads(pickle.dumps(value))):
            assert other == value and hash(other) == hash(value)
        with pytest.raises((FrozenInstanceError, TypeError)):
            value.tuning = "sample"
    assert len(set(VALUES.values())) == len(VALUES)
    assert FKMSE(lam=0.1) != IteratedTikhonov(lam=0.1)


FUNCTION = FromFunction(lambda gram: np.full(len(gram), 1.0 / len(gram)))
PROPERTIES = [  # needs, whether it is fixed, changes the features, has an unbiased form for pairs
    (KME(), "sums", True, False, True),
    (SKMSE(), "sums", False, False, False),
    (SKMSE(target=TARGET), "sums", False, True, False),
    *(
        (ESTIMATORS[n](), "filter", False, False, False)
        for n in ("fkmse", "landweber", "nu", "tsvd")
    ),
    (IteratedTikhonov(lam_cov=0.1), "filter", True, False, False),
    (MKME(), "noise", False, True, True),
    (MMKME(variances=(1.0, 2.0)), "sums", True, True, True),
    (FUNCTION, "function", True, False, False),
]


def test_properties():
    for estimator, *expected in PROPERTIES:
        assert [
            estimator.needs,
            estimator.fixed,
            estimator.changes_features,
            estimator.unbiased_pairs,
        ] == expected
        tuning = [estimator.tuning_for(sizes) for sizes in ((5, 5), (5, 6))]
        if estimator.fixed:
            assert tuning == ["fixed", "fixed"]
            assert estimator.tuned(Gaussian(1.0), np.zeros((5, 2))) is estimator
        else:
            assert tuning == (["pooled", "pooled"] if estimator == MKME() else ["sample", "joint"])
            assert replace(estimator, tuning="pooled").tuning_for((5, 6)) == "pooled"
            with pytest.raises(ValueError, match="nothing to tune"):
                replace(estimator.tuned(Gaussian(1.0), np.eye(5)[:, :2]), tuning="sample")


def test_names():
    for name, kind in ESTIMATORS.items():
        for spelling in (name, name.upper(), name.replace("_", "-"), kind()):
            assert as_estimator(spelling) == kind()
    assert {as_estimator(alias) for alias in ALIASES} == {KME(), FKMSE(), Landweber(), MKME()}
    assert repr(as_estimator(np.mean)) == "FromFunction(mean)"


@pytest.mark.parametrize("spelling", ["scose", "S-COSE", "S-KMSE", "fcose", "F-COSE", "f_kmse"])
def test_names_of_the_papers(spelling):
    meant = SKMSE() if spelling[0] in "sS" else FKMSE()
    assert as_estimator(spelling) == meant
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 1))
    results = (
        independence_test(X, Y, estimator=given, n_resamples=19, rng=0)
        for given in (spelling, meant)
    )
    assert next(results).statistic == next(results).statistic


#: Arguments, the error; the message names the first argument.
BAD = [
    *((as_estimator, {"estimator": wrong}, ValueError) for wrong in ("fkme", "auto")),
    *((as_estimator, {"estimator": wrong}, TypeError) for wrong in (FKMSE, 3.0, None, int)),
    (SKMSE, {"rule": "loo"}, ValueError),
    *((SKMSE, {"alpha": wrong}, ValueError) for wrong in (1.5, -0.1, np.nan, True, 10**400, [0.1])),
    *(
        (SKMSE, {"alpha": 0.1, **more}, ValueError)
        for more in ({"decay": (1.0, 1.0)}, {"rule": "plugin"})
    ),
    *(
        (SKMSE, {"decay": wrong}, ValueError)
        for wrong in (1.0, (-1.0, 1.0), (1.0, "b"), ("1", "0.5"))
    ),
    *(
        (SKMSE, {"target": wrong}, ValueError)
        for wrong in ([[0.0]], ([[0.0], [1.0]], [1.0]), ([[0.0]], [1j]), ([[0.0]], [np.nan]))
    ),
    (SKMSE, {"tuning": "joint", "alpha": 0.1}, ValueError),
    *((FKMSE, {"lam": wrong}, ValueError) for wrong in (-1.0, np.nan, -np.inf)),
    *((FKMSE, {"lam": wrong}, TypeError) for wrong in ("0.1", True)),
    *((FKMSE, {"lam": 0.1, **more}, ValueError) for more in ({"lam_cov": 0.1}, {"loo": "paper"})),
    *((FKMSE, {name: "polled"}, ValueError) for name in ("loo", "tuning")),
    (IteratedTikhonov, {"loo": "averaged"}, ValueError),
    *(
        (IteratedTikhonov, {"t": wrong}, error)
        for wrong, error in ((0, ValueError), (2.0, TypeError), (1001, ValueError))
    ),
    *((Landweber, {name: 2**63}, ValueError) for name in ("t", "max_iter")),
    (Landweber, {"eta": 0.0}, ValueError),
    (Landweber, {"max_iter": 9, "t": 3}, ValueError),
    (NuMethod, {"nu": 0.0}, ValueError),
    *((TSVD, {"m": wrong}, error) for wrong, error in ((0, ValueError), (2.0, TypeError))),
    *((TSVD, {"m": 2, **more}, ValueError) for more in ({"threshold": 0.1}, {"rule": "gcv"})),
    (TSVD, {"threshold": -0.1}, ValueError),
    (MKME, {"variance": -1.0}, ValueError),
    (MKME, {"variance": 1.0, "tuning": "pooled"}, ValueError),
    *((MMKME, {"variances": wrong}, ValueError) for wrong in ((1.0, -1.0), ["a", 1.0], True, [1j])),
    (FromFunction, {"function": 3}, TypeError),
    (Compiled, {"weigh": lambda gram, theta, out: None}, TypeError),
]


def test_bad_parameters():
    for call, arguments, error in BAD:
        with pytest.raises(error, match=next(iter(arguments))):
            call(**arguments)


@pytest.mark.parametrize(
    ("gram", "error"),
    [
        (np.ones((3, 4)), ValueError),
        (np.empty((0, 0)), ValueError),
        ([[1.0, 0.5], [0.500001, 1.0]], ValueError),
        ([[1.0, np.nan], [np.nan, 1.0]], ValueError),
        ([["1", "0"], ["0", "1"]], TypeError),
        (np.array([[1.0, 1j], [1j, 1.0]]), TypeError),
        ([[1.0, 0.5], [0.5]], TypeError),
    ],
    ids=["rectangle", "empty", "asymmetric", "nan", "text", "complex", "ragged"],
)
def test_no_gram_matrix(gram, error):
    for estimator in (*WEIGHTED, *FIXED, MKME(), as_estimator(len)):
        with pytest.raises(error, match="gram"):
            estimator.weights(gram)


def test_gram_matrices_of_other_types_and_rounding():
    K = np.array([[2, 1], [1, 3]])
    for given in (
        K,
        K.tolist(),
        K.astype(np.float32),
        np.asfortranarray(K, dtype=float),
        K + np.diag([1e-13], 1),
    ):
        np.testing.assert_allclose(
            FKMSE(lam=1.0).weights(given), FKMSE(lam=1.0).weights(K.astype(float)), rtol=1e-12
        )


def test_what_has_no_estimate():
    K = Gaussian(1.0)(np.random.default_rng(0).normal(size=(20, 2)))
    for estimator in (FKMSE(), FKMSE(lam=0.5), IteratedTikhonov(), IteratedTikhonov(lam=0.5)):
        with pytest.raises(ValueError, match="eigenvalue -1;"):
            estimator.weights([[1.0, 2.0], [2.0, 1.0]])
    for method, largest in ((Landweber, 2.0), (NuMethod, 1.0)):  # erratum E19
        bound = largest / (np.linalg.eigvalsh(K)[-1] / 20)
        for arguments in ({"t": 500}, {"t": 2}, {}):
            with pytest.raises(ValueError, match="diverges"):
                method(eta=1.001 * bound, **arguments).weights(K)
        gap = method(eta=0.9 * bound, t=500).weights(K) - 1 / 20
        assert gap @ K @ gap < 1e-4 * K.mean()
    with pytest.raises(ValueError, match="m=4 components"):
        TSVD(m=4).weights(np.eye(3))
    for estimator in (Landweber(t=3), FKMSE(lam_cov=0.3)):
        with pytest.raises(ValueError, match="fixed amount"):
            estimator.scores(np.eye(4))


def test_fit_on_bad_input():
    for x, error in (
        ([0.0, np.nan], ValueError),
        ([0.0, np.inf], ValueError),
        (["a", "b"], TypeError),
    ):
        for estimator in (KME(), FKMSE(), MKME(), FUNCTION):
            with pytest.raises(error, match="X "):
                estimator.fit(x, Gaussian(1.0))
    with pytest.raises(ValueError, match="target points have 2 columns"):
        SKMSE(target=TARGET).fit([0.0, 1.0], Linear())


# --- estimators of your own ----------------------------------------------------------------------------------------


class Halved(MeanEstimator):
    """Half of the standard mean, in two lines."""

    def weights(self, gram):
        return np.full(len(gram), 0.5 / len(gram))


@dataclass(frozen=True, repr=False)
class Squared(MeanEstimator):
    """The standard mean of the features of another kernel."""

    factor: float = 1.0

    def weights(self, gram):
        return np.full(len(gram), self.factor / len(gram))

    def features(self, kernel, points):
        return kernel * kernel


@numba.njit
def scaled_diagonal(gram, theta, out):
    for i in range(out.size):
        out[i] = theta[0] * gram[i, i] / (1.0 + theta[1] * np.sum(np.abs(gram[i])))


def scaled_diagonal_in_python(gram):
    return 0.5 * np.diag(gram) / (1.0 + 0.1 * np.abs(gram).sum(axis=1))


def split(estimator, **options):
    return values(split_test(*samples(6, 4), estimator, **options))


def pairs(estimator, **options):
    return values(pair_test(X, Y, estimator, **options))


@pytest.mark.parametrize("statistics", [split, pairs])
def test_your_own_estimator_in_a_test(statistics):
    standard = statistics("kme")
    for mean in (lambda G: np.full(len(G), 1 / len(G)), lambda G: [Fraction(1, len(G))] * len(G)):
        np.testing.assert_allclose(statistics(mean), standard, rtol=1e-10, atol=1e-14)
    ridge = statistics(lambda G: np.linalg.solve(G + 0.7 * np.eye(len(G)), G.mean(axis=1)))
    np.testing.assert_allclose(ridge, statistics(FKMSE(lam=0.7)), rtol=1e-9)
    np.testing.assert_allclose(statistics(Halved()), standard / 4, rtol=1e-10)
    for workers in (1, 3):
        fast = statistics(Compiled(scaled_diagonal, (0.5, 0.1)), n_resamples=40, workers=workers)
        np.testing.assert_allclose(
            fast, statistics(scaled_diagonal_in_python, n_resamples=40), rtol=1e-10
        )


def test_a_subclass_may_change_the_features():
    narrower = split("kme", bandwidth=BANDWIDTH / np.sqrt(2))
    np.testing.assert_allclose(split(Squared(), bandwidth=BANDWIDTH), narrower, rtol=1e-10)
    narrow = {f"bandwidth_{v}": width / np.sqrt(2) for v, width in zip("xy", WIDTHS, strict=True)}
    own = pairs(Squared(), bandwidth_x=WIDTHS[0], bandwidth_y=WIDTHS[1])
    np.testing.assert_allclose(own, pairs("kme", **narrow), rtol=1e-9)
    assert (repr(Halved()), repr(Squared(2.0))) == ("Halved()", "Squared(factor=2.0)")


class Returning(MeanEstimator):
    """Weights that a function returns for the Gram matrix, valid or not."""

    def __init__(self, function):
        self.function = function

    def weights(self, gram):
        return self.function(gram)


NO_WEIGHTS = {
    "scalar": (lambda gram: 1.0 / len(gram), ValueError),
    "others": (lambda gram: np.ones(3), ValueError),
    "matrix": (lambda gram: gram, ValueError),
    "nan": (lambda gram: np.full(10, np.nan), ValueError),
    "none": (lambda gram: None, TypeError),
    "text": (lambda gram: ["1"] * 10, TypeError),
    "complex": (lambda gram: 1j * np.ones(10), TypeError),
    "objects": (lambda gram: np.array([1j] * 10, object), TypeError),
}


@pytest.mark.parametrize("wrong", NO_WEIGHTS)
@pytest.mark.parametrize("kind", [Returning, FromFunction])
def test_weights_are_one_finite_number_for_each_point(kind, wrong):
    function, error = NO_WEIGHTS[wrong]
    estimator, x, y = kind(function), POINTS[:10], POINTS[2:]
    for use in (
        lambda: estimator.fit(x),
        lambda: split_test(x, y, estimator),
        lambda: pair_test(x, y, estimator),
        lambda: joint_independence_test(x, y, estimator=estimator, n_resamples=9, rng=0),
        lambda: independence_test(
            x, y, given=np.sqrt(np.arange(10.0)), estimator=estimator, n_resamples=9, rng=0
        ),
        lambda: ShrinkageKernelPCA(covariance=estimator).fit(x),
    ):
        with pytest.raises(error, match=re.escape(repr(estimator)) + ".*weights"):
            use()


@numba.njit
def fails(gram, theta, out):
    out[:] = np.nan


@numba.njit
def too_few(gram, out):
    out[:] = 0.0


def test_compiled_functions_that_cannot_be_used():
    with pytest.raises(ValueError, match="not finite"):
        Compiled(fails).weights(np.eye(3))
    with pytest.raises(ValueError, match="permutation 0 is not finite"):
        split_test(*samples(6, 4), Compiled(fails))
    with pytest.raises(TypeError, match=r"called with 3 arguments, \(gram, theta, out\)"):
        Compiled(too_few)
    for parameters in (0.5, None, "a", ("0.5",), (1j,), (np.nan,), ((1.0, 2.0), (3.0,))):
        with pytest.raises(ValueError, match="parameters must be a tuple of numbers"):
            Compiled(scaled_diagonal, parameters)
