"""Compiled features of rows against numpy, and that their bits depend on the row alone."""

import numpy as np
import pytest

from shrinktest import Gaussian, Laplacian
from shrinktest.kernels.feature_maps import random_fourier, tiles
from shrinktest.kernels.kernel_loops import add_up, bells, waves

RNG = np.random.default_rng(0)


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
    rows, turns = RNG.normal(size=(201, columns)), RNG.normal(size=(columns, features))
    phase = 2.0 * np.pi * (rows @ turns)
    found = cosines_and_sines(rows, turns, 0.7)
    assert np.allclose(found, 0.7 * np.hstack([np.cos(phase), np.sin(phase)]), rtol=0.0, atol=3e-14)


def test_waves_are_exact_to_rounding_all_around_and_bounded_far_out():
    phase = np.concatenate([np.linspace(-3.0, 3.0, 20_001), np.arange(-8, 9) / 8.0])[:, None]
    found, whole = cosines_and_sines(phase, np.ones((1, 1))), phase - np.rint(phase)
    assert np.abs(found[:, :1] - np.cos(2.0 * np.pi * whole)).max() < 2e-15
    assert np.abs(found[:, 1:] - np.sin(2.0 * np.pi * whole)).max() < 2e-15
    far = cosines_and_sines(np.array([[2.0**50], [1e17], [-1e300]]), np.ones((1, 1)))
    assert far.tolist() == [[1.0, 0.0]] * 3


@pytest.mark.parametrize(("columns", "features"), [(1, 1), (3, 127), (6, 300)])
def test_bells_are_gaussian_kernel_values(columns, features):
    rows, points = RNG.normal(size=(101, columns)), RNG.normal(size=(features, columns))
    assert np.allclose(bell_values(rows, points), Gaussian(1.0)(rows, points), rtol=1e-13, atol=0.0)
    far = bell_values(np.array([[40.0] * columns, [1e200] * columns, [0.0] * columns]), np.zeros((1, columns)))
    assert np.all(far[:2] < 1e-300) and far[2] == 1.0


@pytest.mark.parametrize("rows", [1, 2, 17, 100])
def test_a_row_is_the_same_beside_any_others(rows):
    X, turns, points = RNG.normal(size=(100, 5)), RNG.normal(size=(5, 200)), RNG.normal(size=(200, 5))
    whole = cosines_and_sines(X, turns), bell_values(X, points)
    for start in range(0, 100, rows):
        some = X[start : start + rows]
        assert np.array_equal(cosines_and_sines(some, turns), whole[0][start : start + rows])
        assert np.array_equal(bell_values(some, points), whole[1][start : start + rows])


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Gaussian((0.5, 1.0, 2.0)), Laplacian(0.7), 2.0 * Gaussian(3.0)])
def test_random_fourier_features_of_many_rows_are_those_of_few(kernel):
    features = random_fourier(kernel, 3, 512, 0)
    X = np.vstack([RNG.normal(size=(2000, 3)), 1e3 * RNG.normal(size=(200, 3)), np.zeros((1, 3))])
    few = np.vstack([features.coordinates(some) for some in np.array_split(X, 20)])  # by numpy
    largest = np.abs(X @ features.frequencies.T).max()
    assert np.allclose(features.coordinates(X), few, rtol=0.0, atol=1e-15 * largest)
    assert np.allclose(features.coordinates(np.asfortranarray(X)[:2000]), few[:2000], rtol=0.0, atol=1e-15 * largest)


def test_rows_are_added_to_their_places_in_order():
    values, places = RNG.normal(size=(500, 9)), RNG.integers(7, size=500)
    sums, expected = np.zeros((2, 7, 9))
    np.add.at(expected, places, values)
    add_up(values, places, sums)
    assert np.array_equal(sums, expected)
