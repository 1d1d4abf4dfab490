"""Kernels of the user: what they must return, and what may be wrong with arguments of kernels."""

from dataclasses import dataclass

import numpy as np
import pytest

from shrinktest import (
    Depth,
    Energy,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    MeanEstimator,
    Polynomial,
    Precomputed,
    SecondOrder,
    Whitened,
    closer_test,
    independence_test,
    joint_independence_test,
    two_sample_test,
)
from shrinktest.kernels import (
    Custom,
    DistanceKernel,
    FeatureMap,
    Product,
    Rescaled,
    Scaled,
    Sum,
    as_kernel,
    median_bandwidth,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(0.5, 1.0, size=(12, 2))
FEW = {"n_resamples": 19, "rng": 0, "workers": 1}


def halved(X, Y):
    X /= 2.0
    return np.exp(-np.square(X[:, None] - Y).sum(axis=2))


@dataclass(frozen=True)
class Halved(Kernel):
    def evaluate(self, X, Y):
        return halved(X, Y)


@dataclass(frozen=True)
class Doubled(FeatureMap):
    def coordinates(self, X):
        X *= 2.0
        return X


@pytest.mark.parametrize(
    "kernel",
    [halved, Halved(), Linear() + Halved(), Doubled()],
    ids=["function", "class", "sum", "coordinates"],
)
def test_rows_are_read_only(kernel):
    for test in (
        lambda: two_sample_test(X, Y, kernel=kernel, **FEW),
        lambda: independence_test(X, Y, kernel_x=kernel, **FEW),
    ):
        with pytest.raises(ValueError, match="read-only"):
            test()


@pytest.mark.parametrize(
    "function",
    [
        lambda X, Y: np.ones(3),
        lambda X, Y: np.full((len(X), len(Y)), np.nan),
        lambda X, Y: X[:, :1] - Y[:, 0],
        lambda X, Y: X @ Y.T + 1j,
        lambda X, Y: np.full((len(X), len(Y)), "1"),
        lambda X, Y: None,
        lambda X, Y: [[1.0, 2.0], [3.0]],
        lambda X, Y: np.linalg.norm(X[:, None] - Y, axis=2),
    ],
)
def test_a_function_that_is_not_a_kernel(function):
    for use in (
        lambda: Custom(function)(X),
        lambda: two_sample_test(X, Y, kernel=function, **FEW),
        lambda: independence_test(X, Y, kernel_x=function, **FEW),
        lambda: closer_test(X[:4], X[4:8], X[8:], kernel=function),
    ):
        with pytest.raises((TypeError, ValueError), match="lambda"):
            use()


@pytest.mark.parametrize(
    "values", [lambda X: X[:, 0], lambda X: X[:, :0], lambda X: X * np.nan, lambda X: X * 1j]
)
def test_coordinates_that_are_not_features(values):
    class Own(FeatureMap):
        def coordinates(self, X):
            return values(X)

    for use in (lambda: Own().diagonal(X), lambda: two_sample_test(X, Y, kernel=Own(), **FEW)):
        with pytest.raises((TypeError, ValueError), match="coordinates of"):
            use()


@dataclass(frozen=True)
class Named(Gaussian):
    """A Gaussian kernel with a field of its own."""

    name: str = ""

    @property
    def label(self):
        return self.name


@dataclass(frozen=True)
class Heavy(DistanceKernel):
    """(1 + r^2 / power)^-power, r the distance over the bandwidth; of heavy tails."""

    power: float = 1.0
    metric = "euclidean"

    def decay(self, distances, exponential=np.exp):
        return exponential(-self.power * np.log1p(np.square(distances) / self.power))


class Initialized(Gaussian):
    def __init__(self, sigma="median"):
        super().__init__(sigma)


def test_subclasses_keep_their_fields_when_the_bandwidth_is_found():
    assert Named(name="near").resolve(X) == Named(Gaussian().resolve(X).bandwidth, "near")
    assert two_sample_test(X, Y, kernel=Named(name="near"), **FEW).kernel.label == "near"
    scaled = two_sample_test(X, Y, kernel=Named(name="near"), scale="sd", **FEW)
    assert scaled.kernel.label == "near"
    expected = two_sample_test(X, Y, kernel=Gaussian("0.5 * median"), **FEW)
    assert (
        two_sample_test(X, Y, kernel=Initialized("0.5 * median"), **FEW).statistic
        == expected.statistic
    )


def test_a_kernel_of_a_distance_of_your_own():
    def values(rows, bandwidth):
        squared = np.square((rows[:, None] - rows) / bandwidth).sum(axis=2)
        return (1.0 + squared / 2.0) ** -2.0

    kernel = Heavy(1.5, power=2.0)
    np.testing.assert_allclose(kernel(X), values(X, 1.5), rtol=1e-12)
    np.testing.assert_allclose(kernel.differences(X), values(X, 1.5) - 1.0, atol=1e-14)
    pooled = np.vstack([X, Y])
    K = values(pooled / pooled.std(axis=0), 1.5)
    signs = np.repeat([1.0, -1.0], 12)
    result = two_sample_test(X, Y, kernel=kernel, scale=pooled.std(axis=0), **FEW)
    assert result.statistic == pytest.approx(signs @ K @ signs / 144.0, rel=1e-9)


MISTAKES = {
    ValueError: [
        *(
            lambda bad=bad: Gaussian(bad)
            for bad in (0, -1.0, np.nan, "mean", "0 * median", [1.0, 0.0], [], [[1.0]])
        ),
        lambda: Gaussian((1.0, 2.0, 3.0))(X),
        lambda: (Linear() + Laplacian())(X),
        lambda: Gaussian(1.0).smoothed([1.0, -2.0], 2),
        lambda: Gaussian(1.0).smoothed([1.0, 2.0, 3.0], 2),
        lambda: Gaussian().resolve(np.ones((5, 2))),
        *(lambda rows=rows: median_bandwidth(rows) for rows in ([1.0], [1.0, np.nan, 2.0])),
        *(lambda bad=bad: Linear()([[1.0, 2.0], [bad, 0.0]]) for bad in (np.nan, np.inf)),
        lambda: Linear()(X, np.ones((4, 3))),
        *(
            lambda kernel=kernel: kernel([1e200, 1.0])
            for kernel in (Linear(), Polynomial(), Linear() * Linear())
        ),
        *(lambda kernel=kernel: kernel * -1.0 for kernel in (Linear(), Gaussian())),
        lambda: Sum((Linear(),)),
        lambda: Polynomial(degree=0),
        *(
            lambda gram=gram: Precomputed(gram)
            for gram in (np.ones((2, 3)), [[1.0, 0.5], [0.4, 1.0]], X @ X.T - 9.0)
        ),
        *(
            lambda rows=rows: Precomputed(np.eye(12))(rows)
            for rows in ([0, 12], [-1, 0], [0.5, 1], [[0, 1], [1, 2]])
        ),
        lambda: Precomputed(np.eye(12)) + Gaussian(),
        lambda: Energy(2.0),
        lambda: Energy()(X),
        lambda: Energy([1.0])(X),
        lambda: Whitened(lam=0.0),
        lambda: SecondOrder(Whitened()),
        lambda: Depth()(X),
        lambda: Whitened(Gaussian(1.0)).resolve(X).resolve(Y),
        lambda: Whitened(Linear()).resolve(np.ones((4, 1)))([0.0]),
        lambda: Rescaled(Gaussian(), None),
        lambda: Rescaled(Linear(), "sd")(X),
        lambda: Rescaled(Linear(), "sd").resolve(X).resolve(Y),
        *(lambda name=name: as_kernel(name) for name in ("gausian", "precomputed", "poly")),
        lambda: as_kernel("linear", 2.0),
        lambda: as_kernel(Gaussian(1.0), 2.0),
    ],
    TypeError: [
        *(lambda bad=bad: Laplacian(bad) for bad in (None, True, ["a"], [1j])),
        lambda: Linear() + 1,
        lambda: np.ones(3) * Linear(),
        lambda: Product((Linear(), np.dot)),
        lambda: Scaled(2.0, "linear"),
        lambda: Polynomial(degree=2.0),
        lambda: Kernel(),
        lambda: Whitened("gaussian"),
        lambda: Rescaled("gaussian", "sd"),
        *(lambda kernel=kernel: as_kernel(kernel) for kernel in (np.eye(3), None, Gaussian, int)),
    ],
}


@pytest.mark.parametrize("error", MISTAKES)
def test_mistakes(error):
    for call in MISTAKES[error]:
        with pytest.raises(error):
            call()


ROWS = np.arange(24.0)
FALSE = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])  # every two rows would do
INDEFINITE = np.kron(np.eye(8), FALSE) + np.kron(np.ones((8, 8)) - np.eye(8), 0.9 * FALSE)


@pytest.mark.parametrize("estimator", ["kme", "skmse", ["kme", "skmse"]], ids=str)
def test_a_negative_squared_norm_is_an_error(estimator):
    kernel = Precomputed(INDEFINITE)
    x, y = ROWS[ROWS % 3 == 1], ROWS[ROWS % 3 != 1]
    with pytest.raises(ValueError, match=r"kernel: .* gives a squared norm of -"):
        two_sample_test(x, y, kernel=kernel, estimator=estimator, form="biased", **FEW)


class Writer(MeanEstimator):
    """An estimator that spoils its Gram matrix."""

    def weights(self, gram):
        gram[0, 0] = 0.0
        return np.full(len(gram), 1 / len(gram))


@pytest.mark.parametrize("estimator", [Writer(), Writer().weights], ids=["class", "function"])
def test_nobody_writes_into_a_gram_matrix(estimator):
    x, y = RNG.normal(size=(2, 9))
    for test in (
        lambda: two_sample_test(x, y, estimator=estimator, **FEW),
        lambda: independence_test(x, y, estimator=estimator, **FEW),
        lambda: joint_independence_test(x, y, estimator=estimator, **FEW),
    ):
        with pytest.raises(ValueError, match="read-only"):
            test()
    if isinstance(estimator, MeanEstimator):
        with pytest.raises(ValueError, match="read-only"):
            estimator.fit(x)
