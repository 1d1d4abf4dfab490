"""Kernels of a user's: what they must not do, and what they must return."""

from dataclasses import dataclass

import numpy as np
import pytest

from shrinktest import KME, SKMSE, Kernel, independence_test, two_sample_test
from shrinktest.kernels import Custom, FiniteRank, Gaussian, Linear, Polynomial

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(0.5, 1.0, size=(12, 2))
FEW = {"n_resamples": 19, "rng": 0, "workers": 1}


def halved(X, Y):
    X /= 2.0
    Y /= 2.0  # of what is halved already, within a sample
    return np.exp(-np.square(X[:, None] - Y).sum(axis=2))


@dataclass(frozen=True)
class Plain(Kernel):
    def evaluate(self, X, Y):
        return X @ Y.T


@dataclass(frozen=True)
class Halved(Plain):
    def evaluate(self, X, Y):
        return halved(X, Y)


@dataclass(frozen=True)
class Forgotten(Plain):
    def diagonal(self, X):
        X **= 2
        return X.sum(axis=1)


@dataclass(frozen=True)
class Moved(Plain):
    def resolve(self, Z, rng=None):
        Z -= Z.mean(axis=0)
        return self


@dataclass(frozen=True)
class Doubled(FiniteRank):
    def coordinates(self, X):
        X *= 2.0
        return X


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (halved, r"Custom\(halved\)"),
        (Halved(), r"evaluate of Halved\(\)"),
        (Moved(), r"resolve of Moved\(\)"),
        (Doubled(), r"coordinates of Doubled\(\)"),
        (Forgotten(), r"diagonal of Forgotten\(\)"),
        (Plain() + Halved(), r"evaluate of Halved\(\)"),
    ],
    ids=["function", "evaluate", "resolve", "coordinates", "diagonal", "sum"],
)
def test_rows_are_left_as_they_are(kernel, name):
    said = f"{name} changes the rows that it is given, which are used further"
    with pytest.raises(ValueError, match=said):
        independence_test(X, Y, kernel_x=kernel, kernel_y=kernel, **FEW)
    if not isinstance(kernel, Forgotten):  # whose diagonal this test does not ask for
        with pytest.raises(ValueError, match=said):
            two_sample_test(X, Y, kernel=kernel, **FEW)


@dataclass(frozen=True)
class Lost(Plain):
    found: object = None

    def resolve(self, Z, rng=None):
        return self.found


@pytest.mark.parametrize("found", [None, halved, 2.0])
def test_what_is_resolved_is_a_kernel(found):
    said = r"resolve of Lost\(.*must return a kernel, itself where nothing is taken from the data; got "
    for kernel in (Lost(found), Lost(found) + Plain(), 2.0 * Lost(found), [Plain(), Lost(found)]):
        with pytest.raises(TypeError, match=said):
            two_sample_test(X, Y, kernel=kernel, **FEW)
        with pytest.raises(TypeError, match=said):
            independence_test(X, Y, kernel_x=kernel, **FEW)
    assert Lost(Plain()).resolve(X) == Plain()


@dataclass(frozen=True)
class Named(Gaussian):
    """With a field of its own."""

    name: str = ""

    @property
    def label(self):
        return self.name


def test_a_kernel_that_finds_its_bandwidth_keeps_its_other_fields():
    assert Named(name="near").resolve(X) == Named(Gaussian().resolve(X).bandwidth, "near")
    assert two_sample_test(X, Y, kernel=Named(name="near"), **FEW).kernel.label == "near"


class Initialised(Gaussian):
    def __init__(self, sigma="median"):
        super().__init__(sigma)


@pytest.mark.parametrize("rule", ["median", "0.5 * median"])
def test_a_kernel_that_finds_its_bandwidth_may_have_an_init_of_its_own(rule):
    expected = two_sample_test(X, Y, kernel=Gaussian(rule), **FEW)
    assert two_sample_test(X, Y, kernel=Initialised(rule), **FEW).statistic == expected.statistic


class Helped(Plain):
    """With helpers that are called as methods of estimators are."""

    weights = (1.0, 2.0)

    def features(self, X):
        return X * self.weights

    def evaluate(self, X, Y):
        return self.features(X) @ self.features(Y).T


class Helper(KME):
    def resolve(self, gram):
        return 1.0

    def evaluate(self):
        return 2.0


def test_helpers_may_have_any_name():
    expected = two_sample_test(X * [1.0, 2.0], Y * [1.0, 2.0], kernel=Plain(), **FEW)
    found = two_sample_test(X, Y, kernel=Helped(), estimator=Helper(), **FEW)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12) and Helper().resolve(X) == 1.0


def test_a_diagonal_may_be_asked_for_by_name():
    class Named(Plain):
        def diagonal(self, X):
            return np.square(X).sum(axis=1)

    np.testing.assert_array_equal(Named().diagonal(X=X), np.square(X).sum(axis=1))


class Mixed:
    def evaluate(self, X, Y):
        return np.ones((len(X), len(Y)))


def test_nor_by_what_is_mixed_in():
    with pytest.raises(TypeError, match="evaluate of Gaussian cannot be changed"):
        type("Other", (Mixed, Gaussian), {"__module__": __name__})


@pytest.mark.parametrize(
    ("base", "name", "instead"),
    [
        (Gaussian, "evaluate", "Kernel"),
        (Linear, "coordinates", "FiniteRank"),
        (Linear, "evaluate", "Kernel"),
        (Polynomial, "evaluate", "Kernel"),
        (SKMSE, "weights", "MeanEstimator"),
        (KME, "weights", "MeanEstimator"),
    ],
)
def test_what_is_computed_by_shorter_ways_cannot_be_changed(base, name, instead):
    said = f"Other: {name} of {base.__name__} cannot be changed.*make a subclass of {instead}$"
    with pytest.raises(TypeError, match=said):
        type("Other", (base,), {name: lambda self, *points: 0.5, "__module__": __name__})


def test_methods_of_classes_of_ones_own_may_be_changed():
    class Both(FiniteRank):
        def coordinates(self, X):
            return X

        def evaluate(self, X, Y):
            return X @ Y.T

    class Tripled(Both):
        def coordinates(self, X):
            return 3.0 * X

        def evaluate(self, X, Y):
            return 9.0 * X @ Y.T

    class Cut(Custom):
        def evaluate(self, X, Y):
            return np.maximum(super().evaluate(X, Y), 0.0)

    np.testing.assert_allclose(Tripled()(X), 9.0 * Both()(X))
    np.testing.assert_array_equal(Cut(lambda X, Y: X @ Y.T)(X), np.maximum(X @ X.T, 0.0))


@dataclass(frozen=True)
class Diagonal(Plain):
    found: object = None

    def diagonal(self, X):
        return self.found


@pytest.mark.parametrize(
    ("found", "error", "said"),
    [
        (None, TypeError, "real numbers.*found NoneType"),
        (np.ones(12) * 1j, TypeError, "real numbers.*dtype complex128"),
        (np.ones(3), ValueError, r"shape \(12,\); got shape \(3,\)"),
        (np.ones((12, 1)), ValueError, r"shape \(12,\); got shape \(12, 1\)"),
    ],
    ids=["nothing", "complex", "short", "column"],
)
def test_a_diagonal_is_one_number_for_every_row(found, error, said):
    with pytest.raises(error, match=rf"(?s)diagonal of Diagonal\(.*must return .*{said}"):
        independence_test(X, Y, kernel_x=Diagonal(found), **FEW)
    assert np.array_equal(Diagonal([1.0] * 12).diagonal(X), np.ones(12))


def test_kernels_are_written_out_only_where_something_is_said():
    class Long(Plain):
        def __repr__(self):
            raise AssertionError

    class Gaps(Plain):
        def resolve(self, Z, rng=None):
            return self

    some = np.where(X > 0.0, np.nan, X)
    assert Long()(X).shape == (12, 12) and Gaps().resolve(some) == Gaps()  # NaN is what it was
