"""Kernels: values, the algebra, the energy distance, and compiled features of rows."""

from __future__ import annotations

import pickle
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_kernels as naive
import shrinktest.kernels as names
from naive_kernels import corrupted, cosine, gaussian, laplacian, linear, polynomial
from naive_kernels import median_bandwidth as naive_median
from shrinktest import (
    Cosine,
    Energy,
    Gaussian,
    Laplacian,
    independence_test,
    joint_independence_test,
    two_sample_test,
)
from shrinktest.kernels import (
    Custom,
    Linear,
    Polynomial,
    Precomputed,
    median_bandwidth,
)
from shrinktest.kernels.feature_maps import random_fourier, tiles
from shrinktest.kernels.kernel_loops import bells, waves


def brownian(X, Y):
    return np.minimum(np.abs(X).sum(axis=1)[:, None], np.abs(Y).sum(axis=1)[None, :])


KERNELS = [
    Gaussian(0.7),
    Gaussian([0.5, 2.0]),
    Laplacian(1.3),
    Laplacian((0.5, 2.0)),
    Linear(),
    Cosine(),
    Polynomial(),
    Polynomial(degree=3, offset=0),
    Custom(brownian),
    Gaussian(1.0) + Linear() + 2 * Laplacian(1.0),
    Gaussian(1.0) * (Linear() + Polynomial(3)) * 0.25,
]
X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.random.default_rng(1).normal(size=(7, 2))


@pytest.fixture(params=KERNELS, ids=repr)
def kernel(request):
    return request.param


def test_gram_matrix_is_symmetric_positive_and_consistent(kernel):
    gram, cross = kernel(X), kernel(X, Y)
    assert gram.shape == (12, 12)
    assert cross.shape == (12, 7)
    for matrix in (gram, cross):
        assert matrix.dtype == np.float64
        assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(kernel(Y, X), cross.T, rtol=1e-13)
    np.testing.assert_allclose(kernel(X, X.copy()), gram, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(kernel(X, X), gram)
    assert np.linalg.eigvalsh(gram).min() >= -1e-12 * np.trace(gram)
    repeated = kernel(np.vstack([X, X]))
    assert np.linalg.eigvalsh(repeated).min() >= -1e-12 * np.trace(repeated)


@pytest.mark.parametrize("name", names.NAMES)
def test_a_kernel_with_a_name_is_one(name):
    kernel = names.as_kernel(name).resolve(X)
    gram = kernel(X)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() >= -1e-12 * np.trace(gram)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(gram), rtol=1e-12)
    differences = kernel.differences(X)
    if differences is not None:  # values less a constant
        means = np.eye(12) - 1.0 / 12.0
        np.testing.assert_allclose(
            means @ differences @ means, means @ gram @ means, atol=1e-13 * np.trace(gram)
        )


def test_a_kernel_is_a_value(kernel):
    rebuilt = eval(repr(kernel), {**vars(names), "brownian": brownian})
    assert rebuilt == kernel
    assert hash(rebuilt) == hash(kernel)
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy == kernel
    np.testing.assert_array_equal(copy(X), kernel(X))
    assert [other == kernel for other in KERNELS].count(True) == 1
    with pytest.raises(AttributeError):
        kernel.anything = 1
    assert kernel.resolve(X) == kernel  # nothing to resolve


@pytest.mark.parametrize("bandwidth", [0.7, (0.5, 2.0)])
def test_values_against_the_formulas(bandwidth):
    np.testing.assert_allclose(
        Gaussian(bandwidth)(X, Y), gaussian(X, Y, np.array(bandwidth)), rtol=1e-12
    )
    np.testing.assert_allclose(
        Laplacian(bandwidth)(X, Y), laplacian(X, Y, np.array(bandwidth)), rtol=1e-12
    )
    np.testing.assert_allclose(Linear()(X, Y), linear(X, Y), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(Cosine()(X, Y), cosine(X, Y), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        Polynomial(3, 1.5)(X, Y), polynomial(X, Y, 3, 1.5), rtol=1e-11, atol=1e-13
    )


@pytest.mark.parametrize("kind", [Gaussian, Laplacian])
def test_extreme_bandwidths_and_scales_stay_sane(kind):
    np.testing.assert_array_equal(kind(1e-300)(X), np.eye(12))
    np.testing.assert_array_equal(kind((1e-300, 1.0))(X), np.eye(12))
    np.testing.assert_array_equal(kind(1e300)(X), np.ones((12, 12)))
    for unit in (1e-250, 1e-170, 1e170, 1e250):
        resolved = kind().resolve(X * unit)
        np.testing.assert_allclose(resolved(X * unit), kind().resolve(X)(X), rtol=1e-10)
    np.testing.assert_array_equal(kind(1.0)(np.array([-1e308, 1e308])), np.eye(2))


def test_median_bandwidth_is_over_pairs_of_different_rows():
    assert median_bandwidth(X) == pytest.approx(naive_median(X), rel=1e-14)
    assert median_bandwidth([0.0, 1.0, 3.0, 7.0]) == np.sqrt((9 + 16) / 2)  # squares 1 4 9 16 36 49
    assert Gaussian().resolve(X) == Gaussian(median_bandwidth(X))
    assert Laplacian().resolve(X) == Laplacian(median_bandwidth(X, distance="cityblock"))
    cityblock = np.median([np.abs(x - y).sum() ** 2 for x, y in combinations(X, 2)]) ** 0.5
    assert median_bandwidth(X, distance="cityblock") == pytest.approx(cityblock, rel=1e-14)


@settings(max_examples=50)
@given(
    points=st.lists(st.integers(-50, 50), min_size=3, max_size=12, unique=True),
    unit=st.floats(1e-100, 1e100),
    shift=st.integers(-1000, 1000),
)
def test_tests_see_the_same_gram_matrix_in_any_units(points, unit, shift):
    Z = np.array(points, dtype=float)
    for kind in (Gaussian, Laplacian):
        expected = kind().resolve(Z)(Z)
        np.testing.assert_allclose(
            kind().resolve(Z * unit)(Z * unit), expected, rtol=1e-9, atol=1e-300
        )
        np.testing.assert_allclose(kind().resolve(Z + shift)(Z + shift), expected, rtol=1e-9)
        order = np.argsort(Z)  # and the order of the pooled rows plays no part
        assert kind().resolve(Z[order]) == kind().resolve(Z)


def test_ties_more_than_half_use_the_positive_distances():
    counts = np.array(
        [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 5.0]
    )  # 10 of 21 distances are zero, the next is 2
    assert median_bandwidth(counts) == 2.0 == naive_median(counts[:, None])
    counts = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 5.0])  # 15 of 28
    with pytest.warns(UserWarning, match="more than half of the distances"):
        assert median_bandwidth(counts) == 3.0 == naive_median(counts[:, None])
    single = np.array(
        [0.0, 0.0, 0.0, 0.0, 3.0]
    )  # 6 of 10, and there is one distance only, so that nothing was chosen
    assert median_bandwidth(single) == 3.0 == naive_median(single[:, None])
    half = [0.0, 0.0, 0.0, 1.0]  # 3 of 6: exactly half, the median itself is positive
    assert median_bandwidth(half) == np.sqrt(0.5)


def test_large_samples_use_rows_drawn_from_the_given_generator():
    Z = np.sort(np.random.default_rng(3).normal(size=2001))  # sorted: the first rows would mislead
    assert median_bandwidth(Z, rng=5) == median_bandwidth(Z, rng=np.random.default_rng(5))
    assert median_bandwidth(Z, rng=5) != median_bandwidth(Z, rng=6)
    assert median_bandwidth(Z, rng=5) == pytest.approx(median_bandwidth(Z[::2]), rel=0.1)
    drawn = np.random.default_rng(5).choice(2001, 1000, replace=False)
    assert median_bandwidth(Z, rng=5) == median_bandwidth(Z[drawn])


@pytest.mark.parametrize("bandwidth", [0.7, (0.5, 2.0)])
@pytest.mark.parametrize("variance", [0.3, (0.2, 3.0), (0.0, 1.0)])
def test_smoothed_gaussian_is_the_expectation_under_noise(bandwidth, variance):
    smooth = Gaussian(bandwidth).smoothed(variance, dimension=2)
    expected = corrupted(X, Y, np.square(bandwidth), np.array(variance))
    np.testing.assert_allclose(smooth(X, Y), expected, rtol=1e-12)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    noise = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2) * np.sqrt(variance)
    mean = np.outer(weights, weights).ravel() / (2 * np.pi) @ Gaussian(bandwidth)(X[0] + noise, Y)
    np.testing.assert_allclose(smooth(X[:1], Y)[0], mean, rtol=1e-4)


def test_sums_and_products_are_those_of_the_gram_matrices():
    a, b, c = Gaussian(1.0), Linear(), Polynomial(2)
    np.testing.assert_allclose((a + b)(X, Y), a(X, Y) + b(X, Y), rtol=1e-15)
    np.testing.assert_allclose((a * b)(X, Y), a(X, Y) * b(X, Y), rtol=1e-15)
    np.testing.assert_allclose((2 * a * 3)(X, Y), 6 * a(X, Y), rtol=1e-15)
    np.testing.assert_allclose((a * (b + c))(X), (a * b + a * c)(X), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose((b * b)(X), Polynomial(2, 0)(X), rtol=1e-13)


def test_precomputed_looks_up_rows():
    gram = Gaussian(1.0)(X)
    gram[0, 1] += 1e-15  # rounding is no asymmetry
    kernel = Precomputed(gram)
    np.testing.assert_array_equal(kernel.gram, kernel.gram.T)
    np.testing.assert_array_equal(kernel(range(12)), kernel.gram)
    np.testing.assert_array_equal(
        kernel([3, 1], [[0], [5], [0]]), kernel.gram[[3, 1]][:, [0, 5, 0]]
    )
    assert re.fullmatch(
        r"Precomputed\(<12 x 12 Gram matrix, sha256 of row sums [0-9a-f]{12}>\)", repr(kernel)
    )
    assert kernel == Precomputed(gram.tolist()) != Precomputed(2 * gram)
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))
    gram[0, 0] = 7  # the kernel keeps its own
    assert kernel([0])[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        kernel.gram[0, 0] = 7


DRAWN = np.random.default_rng(0)
FIRST, SECOND, THIRD = (
    DRAWN.normal(size=(12, 2)),
    DRAWN.normal(size=(9, 2)) + 0.7,
    DRAWN.normal(size=(7, 2)),
)
NEW, POOLED = DRAWN.normal(size=(5, 2)), np.vstack([FIRST, SECOND])
PARTNER = np.column_stack([FIRST[:, 0] ** 2, DRAWN.normal(size=12), FIRST[:, 1]])


def options(n_resamples=99, **more):
    return {"n_resamples": n_resamples, "rng": 0, "workers": 1, **more}


def test_values_with_an_origin_and_with_the_mean():
    for kernel, origin in (
        (Energy((0.5, -1.0)), (0.5, -1.0)),
        (Energy().resolve(POOLED), POOLED.mean(axis=0)),
    ):
        for rows, columns in ((FIRST, FIRST), (FIRST, SECOND), (NEW, POOLED)):
            np.testing.assert_allclose(
                kernel(rows, columns), naive.energy(rows, columns, origin), atol=1e-13
            )
        np.testing.assert_allclose(kernel.diagonal(NEW), np.diag(kernel(NEW)), rtol=1e-12)
        assert np.linalg.eigvalsh(kernel(POOLED)).min() > -1e-10


def test_the_statistic_is_the_energy_distance():
    statistic = two_sample_test(
        FIRST, SECOND, kernel="energy", form="biased", **options(0)
    ).statistic
    assert statistic == pytest.approx(naive.energy_distance(FIRST, SECOND), rel=1e-12)
    shifted = two_sample_test(
        FIRST, SECOND, kernel=Energy((9.0, 4.0)), form="biased", **options(0)
    ).statistic
    assert shifted == pytest.approx(statistic, rel=1e-10)


def test_the_statistic_is_distance_covariance():
    given = options(0, kernel_x="energy", kernel_y="energy", form="biased")
    statistic = independence_test(FIRST, PARTNER, **given).statistic
    assert statistic == pytest.approx(naive.distance_covariance(FIRST, PARTNER), rel=1e-11)
    joint = joint_independence_test(FIRST, PARTNER, kernels=Energy(), **options(0)).statistic
    assert joint == pytest.approx(statistic, rel=1e-9)


def test_against_dcor():
    dcor = pytest.importorskip("dcor")
    pairs = options(0, kernel_x="energy", kernel_y="energy", form="biased")
    statistic = independence_test(FIRST, PARTNER, **pairs).statistic
    assert statistic == pytest.approx(dcor.distance_covariance_sqr(FIRST, PARTNER), rel=1e-10)
    two = two_sample_test(FIRST, SECOND, kernel="energy", form="biased", **options(0)).statistic
    assert two == pytest.approx(dcor.energy_distance(FIRST, SECOND), rel=1e-10)


def test_routes():
    tied = (
        np.round(FIRST[:, :1]),
        np.round(SECOND[:, :1]),
    )  # a few distinct values: coordinates are few
    dense, factor = (
        two_sample_test(*tied, kernel="energy", gram=gram, **options())
        for gram in ("dense", "factor")
    )
    assert factor.route == "factor" and factor.pvalue == dense.pvalue
    assert factor.statistic == pytest.approx(dense.statistic, rel=1e-9)
    with pytest.raises(ValueError, match="Gaussian"):
        two_sample_test(FIRST, SECOND, kernel="energy", gram="rff", rank=5, **options())
    with pytest.raises(ValueError, match="for Gaussian kernels only"):
        two_sample_test(FIRST, SECOND, kernel="energy", estimator="mkme", **options())


ROWS = np.random.default_rng(0)


def cosines_and_sines(rows, turns, height=1.0):
    out = np.empty((len(rows), 2 * turns.shape[1]))
    waves(rows, tiles(turns), height, out)
    return out


def bell_values(rows, points):
    out = np.empty((len(rows), len(points)))
    bells(rows, tiles(points.T), 0.5 * np.square(points).sum(axis=1), out)
    return out


@pytest.mark.parametrize(("columns", "features"), [(1, 1), (3, 127), (7, 300)])
def test_waves_are_cosines_and_sines(columns, features):
    rows, turns = ROWS.normal(size=(201, columns)), ROWS.normal(size=(columns, features))
    phase = 2.0 * np.pi * (rows @ turns)
    waves = cosines_and_sines(rows, turns, 0.7)
    assert np.allclose(waves, 0.7 * np.hstack([np.cos(phase), np.sin(phase)]), rtol=0.0, atol=3e-14)


def test_waves_are_exact_to_rounding_all_around_and_bounded_far_out():
    phase = np.concatenate([np.linspace(-3.0, 3.0, 20_001), np.arange(-8, 9) / 8.0])[:, None]
    waves, whole = cosines_and_sines(phase, np.ones((1, 1))), phase - np.rint(phase)
    assert np.abs(waves[:, :1] - np.cos(2.0 * np.pi * whole)).max() < 2e-15
    assert np.abs(waves[:, 1:] - np.sin(2.0 * np.pi * whole)).max() < 2e-15
    far = cosines_and_sines(np.array([[2.0**50], [1e17], [-1e300]]), np.ones((1, 1)))
    assert far.tolist() == [[1.0, 0.0]] * 3


@pytest.mark.parametrize(("columns", "features"), [(1, 1), (3, 127), (6, 300)])
def test_bells_are_gaussian_kernel_values(columns, features):
    rows, points = ROWS.normal(size=(101, columns)), ROWS.normal(size=(features, columns))
    assert np.allclose(bell_values(rows, points), Gaussian(1.0)(rows, points), rtol=1e-13, atol=0.0)
    far = bell_values(
        np.array([[40.0] * columns, [1e200] * columns, [0.0] * columns]), np.zeros((1, columns))
    )
    assert np.all(far[:2] < 1e-300) and far[2] == 1.0


@pytest.mark.parametrize("rows", [1, 2, 17, 100])
def test_a_row_is_the_same_beside_any_others(rows):
    X, turns, points = (
        ROWS.normal(size=(100, 5)),
        ROWS.normal(size=(5, 200)),
        ROWS.normal(size=(200, 5)),
    )
    whole = cosines_and_sines(X, turns), bell_values(X, points)
    for start in range(0, 100, rows):
        some = X[start : start + rows]
        assert np.array_equal(cosines_and_sines(some, turns), whole[0][start : start + rows])
        assert np.array_equal(bell_values(some, points), whole[1][start : start + rows])


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.3), Gaussian((0.5, 1.0, 2.0)), Laplacian(0.7), 2.0 * Gaussian(3.0)]
)
def test_random_fourier_features_of_many_rows_are_those_of_few(kernel):
    features = random_fourier(kernel, 3, 512, 0)
    X = np.vstack([ROWS.normal(size=(2000, 3)), 1e3 * ROWS.normal(size=(200, 3)), np.zeros((1, 3))])
    few = np.vstack([features.coordinates(some) for some in np.array_split(X, 20)])  # by numpy
    largest = np.abs(X @ features.frequencies.T).max()
    assert np.allclose(features.coordinates(X), few, rtol=0.0, atol=1e-15 * largest)
    assert np.allclose(
        features.coordinates(np.asfortranarray(X)[:2000]),
        few[:2000],
        rtol=0.0,
        atol=1e-15 * largest,
    )
