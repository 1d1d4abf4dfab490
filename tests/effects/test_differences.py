"""Differences of distances and of dependences with their jackknife, and sums over tuples of rows."""

from __future__ import annotations

import numpy as np
import pytest

import naive_closer as naive
from shrinktest.effects.dependence import dependences
from shrinktest.effects.distance import distances
from shrinktest.kernels import Gaussian, Linear, Polynomial
from shrinktest.statistics.kernel_cache import KernelCache, Limits

SIZES = (6, 5, 7)
ROWS = [list(range(6)), list(range(6, 11)), list(range(11, 18))]
UNITS = {
    "rows": np.arange(18),
    # in all samples, in X and Z, in Y alone and in Z alone, two of each kind
    "groups": np.r_[[0, 0, 1, 2, 3, 3], [0, 1, 4, 5, 4], [0, 1, 6, 6, 7, 2, 3]],
    # one unit of X has a row in Z: it joins the largest stratum
    "alone": np.r_[[0, 1, 2, 3, 3, 4], [0, 1, 5, 6, 7], [2, 8, 9, 10, 11, 12, 13]],
}


def gram_of(kernel, points, route):
    return KernelCache(Limits(route, None, 1e9, np.random.default_rng(0)))(kernel, points)


@pytest.mark.parametrize("route", ["dense", "factor"])
def test_distances_are_those_of_sums_over_pairs(route):
    points, kernel = np.random.default_rng(1).normal(size=(18, 1)), Gaussian(0.7)
    K = kernel(points)
    for name, units in UNITS.items():
        result = distances(gram_of(kernel, points, route), SIZES, units)
        expected = [naive.mmd2(K, ROWS[0], rows, units) for rows in ROWS[1:]]
        np.testing.assert_allclose(result.estimates, expected, rtol=1e-9, atol=1e-12)
        difference, error, freedom = result.difference(0, 1)
        assert result.difference(1, 0)[:2] == pytest.approx((-difference, error))
        if name != "alone":
            assert (difference, error**2, freedom) == pytest.approx(naive.nearer(K, ROWS, list(units)), rel=1e-8)
            continue
        strata = result.strata(0, 1)
        counts = np.bincount(strata)
        assert (counts[counts > 0] > 1).all() and counts[strata[2]] == counts.max()
        moved = result.without[:, 0] - result.without[:, 1] - difference
        each = [(c - 1) / c * (moved[strata == stratum] ** 2).sum() for stratum, c in enumerate(counts) if c]
        assert error**2 == pytest.approx(sum(each))


KERNELS = {"dense": (Gaussian(1.0), Gaussian(0.5), Gaussian(2.0)), "factor": (Linear(), Polynomial(2), Polynomial(3))}


@pytest.mark.parametrize("route", KERNELS)
def test_dependences_are_those_of_sums_over_quadruples(route):
    x, y, z = np.random.default_rng(4).normal(size=(3, 7, 1))
    data = list(zip(KERNELS[route], (x, x + 0.5 * y, x**2 + z), strict=True))
    matrices = [kernel(points) for kernel, points in data]
    for measure in (naive.correlation, naive.hsic):
        result = dependences([gram_of(*variable, route) for variable in data], normalised=measure is naive.correlation)
        expected = [measure(matrices[0], other) for other in matrices[1:]]
        np.testing.assert_allclose(result.estimates, expected, rtol=1e-8)
        difference, error, freedom = result.difference(1, 0)
        expected = naive.more_dependent(*matrices, measure)
        assert (difference, error**2, freedom) == pytest.approx(expected, rel=1e-7)


def test_coordinates_and_gram_matrices_go_together():
    x, y, z = np.random.default_rng(5).normal(size=(3, 9, 1))
    data = [(Linear(), x), (Gaussian(1.0), x + y), (Linear(), x - z)]
    mixed = [gram_of(*variable, route) for variable, route in zip(data, ("factor", "dense", "factor"), strict=True)]
    expected = dependences([gram_of(*variable, "dense") for variable in data], normalised=True)
    np.testing.assert_allclose(dependences(mixed, normalised=True).without, expected.without, rtol=1e-9, atol=1e-12)


def test_rounding():
    points = np.random.default_rng(6).normal(size=(18, 1))
    near, far = (gram_of(Linear(), points + shift, "factor").about_mean(1e9) for shift in (0.0, 1e5))
    shifted, expected = (distances(gram, SIZES, UNITS["rows"]).difference(0, 1) for gram in (far, near))
    assert shifted == pytest.approx(expected, rel=1e-6)
    constant = gram_of(Gaussian(1.0), np.repeat([0.0, 1.0, 3.0], SIZES)[:, None], "dense")
    difference, error, freedom = distances(constant, SIZES, UNITS["rows"]).difference(0, 1)
    assert difference < 0.0 and error == 0.0 and np.isnan(freedom)


def test_the_error_counts_the_second_order_twice():
    """With three samples of one distribution the variance is twice that of the difference (Efron and Stein)."""
    rng, n = np.random.default_rng(7), 12
    results = [
        distances(gram_of(Gaussian(1.0), rng.normal(size=(36, 1)), "dense"), (n,) * 3, np.arange(36)).difference(0, 1)
        for _ in range(1500)
    ]
    values, errors, _ = np.array(results).T
    assert np.mean(errors**2) / np.var(values) == pytest.approx(2.0, rel=0.15)
