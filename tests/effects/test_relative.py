"""Differences of distances and of dependences with their jackknife, beside sums over tuples of rows."""

from __future__ import annotations

import numpy as np
import pytest

import naive_closer as naive
from shrinktest.effects.relative import dependences, distances
from shrinktest.kernels import Gaussian, Linear, Polynomial
from shrinktest.statistics.kernel_cache import KernelCache, Limits

SIZES = (6, 5, 7)
ROWS = [list(range(6)), list(range(6, 11)), list(range(11, 18))]
UNITS = {
    "rows": np.arange(18),
    "matched": np.r_[np.arange(6), np.arange(5), np.arange(7)],
    # in all samples, in X and Z, in Y alone and in Z alone, two of each kind
    "groups": np.r_[[0, 0, 1, 2, 3, 3], [0, 1, 4, 5, 4], [0, 1, 6, 6, 7, 2, 3]],
}


def gram_of(kernel, points, route):
    return KernelCache(Limits(route, None, 1e9, np.random.default_rng(0)))(kernel, points)


@pytest.mark.parametrize("route", ["dense", "factor"])
@pytest.mark.parametrize("which", ["rows", "groups"])
def test_distances_are_those_of_sums_over_pairs(which, route):
    points = np.random.default_rng(1).normal(size=(18, 1))
    units, kernel = UNITS[which], Gaussian(0.7)
    found = distances(gram_of(kernel, points, route), SIZES, units)
    K = kernel(points)
    expected = [naive.mmd2(K, ROWS[0], rows, units) for rows in ROWS[1:]]
    np.testing.assert_allclose(found.estimates, expected, rtol=1e-9, atol=1e-12)
    difference, error, freedom = found.difference(0, 1)
    value, variance, degrees = naive.nearer(K, ROWS, list(units))
    assert (difference, error**2, freedom) == pytest.approx((value, variance, degrees), rel=1e-8)
    assert found.difference(1, 0)[:2] == pytest.approx((-value, variance**0.5), rel=1e-8)


@pytest.mark.parametrize("route", ["dense", "factor"])
def test_rows_that_belong_together_are_left_out_together(route):
    points = np.random.default_rng(2).normal(size=(18, 1))
    units, kernel = np.tile(np.arange(6), 3), Gaussian(0.7)
    found = distances(gram_of(kernel, points, route), (6, 6, 6), units).difference(0, 1)
    rows = [list(range(6)), list(range(6, 12)), list(range(12, 18))]
    value, variance, degrees = naive.nearer(kernel(points), rows, list(units))
    assert (found[0], found[1] ** 2, found[2]) == pytest.approx((value, variance, degrees), rel=1e-8)
    assert degrees == pytest.approx(5.0)


def test_a_unit_that_is_alone_in_its_kind_still_counts():
    """Two rows of X belong to rows of Y; one to a row of Z, which joins the largest kind."""
    points = np.random.default_rng(3).normal(size=(15, 1))
    units = np.r_[[0, 1, 2, 3, 4], [0, 1, 5, 6, 7], [2, 8, 9, 10, 11]]
    found = distances(gram_of(Gaussian(1.0), points, "dense"), (5, 5, 5), units)
    kinds = found.kinds(0, 1)
    counts = np.bincount(kinds)
    assert sorted(counts[counts > 0].tolist()) == [2, 2, 3, 5]
    assert (kinds == kinds[2]).sum() == 5  # with those of Z alone, the largest
    moved = found.without[:, 0] - found.without[:, 1] - found.difference(0, 1)[0]
    each = [(c - 1) / c * (moved[kinds == kind] ** 2).sum() for kind, c in enumerate(counts) if c]
    assert found.difference(0, 1)[1] ** 2 == pytest.approx(sum(each))


KERNELS = {"dense": (Gaussian(1.0), Gaussian(0.5), Gaussian(2.0)), "factor": (Linear(), Polynomial(2), Polynomial(3))}


@pytest.mark.parametrize("route", KERNELS)
@pytest.mark.parametrize("normalised", [True, False], ids=["correlation", "hsic"])
def test_dependences_are_those_of_sums_over_quadruples(route, normalised):
    rng = np.random.default_rng(4)
    x, y, z = rng.normal(size=(3, 7, 1))
    data = (x, x + 0.5 * y, x**2 + z)
    grams = [gram_of(kernel, points, route) for kernel, points in zip(KERNELS[route], data, strict=True)]
    found = dependences(grams, normalised=normalised)
    matrices = [kernel(points) for kernel, points in zip(KERNELS[route], data, strict=True)]
    measure = naive.correlation if normalised else naive.hsic
    expected = [measure(matrices[0], other) for other in matrices[1:]]
    np.testing.assert_allclose(found.estimates, expected, rtol=1e-8)
    difference, error, freedom = found.difference(1, 0)
    value, variance, degrees = naive.more_dependent(*matrices, measure)
    assert (difference, error**2, freedom) == pytest.approx((value, variance, degrees), rel=1e-7)


def test_variables_by_coordinates_and_by_gram_matrices_go_together():
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(3, 9, 1))
    mixed = [gram_of(Linear(), x, "factor"), gram_of(Gaussian(1.0), x + y, "dense"), gram_of(Linear(), x - z, "factor")]
    dense = [gram_of(kernel, p, "dense") for kernel, p in ((Linear(), x), (Gaussian(1.0), x + y), (Linear(), x - z))]
    found, expected = (dependences(grams, normalised=True) for grams in (mixed, dense))
    np.testing.assert_allclose(found.without, expected.without, rtol=1e-9, atol=1e-12)


def test_features_far_from_the_origin_lose_no_digits():
    points = np.random.default_rng(6).normal(size=(18, 1))
    near, far = (gram_of(Linear(), points + shift, "factor").about_mean(1e9) for shift in (0.0, 1e5))
    found, expected = (distances(gram, SIZES, UNITS["rows"]).difference(0, 1) for gram in (far, near))
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_error_counts_what_is_not_linear_twice():
    """With three samples of one distribution the variance is twice that of the difference, by Efron and Stein."""
    rng = np.random.default_rng(7)
    n, kernel = 12, Gaussian(1.0)
    found = [
        distances(gram_of(kernel, rng.normal(size=(3 * n, 1)), "dense"), (n, n, n), np.arange(3 * n)).difference(0, 1)
        for _ in range(1500)
    ]
    values, errors = np.array([one[0] for one in found]), np.array([one[1] for one in found])
    assert np.mean(errors**2) / np.var(values) == pytest.approx(2.0, rel=0.15)


def test_nothing_but_rounding_is_no_error():
    points = np.repeat([0.0, 1.0, 3.0], [6, 5, 7])[:, None]
    difference, error, freedom = distances(gram_of(Gaussian(1.0), points, "dense"), SIZES, UNITS["rows"]).difference(
        0, 1
    )
    assert difference < 0.0 and error == 0.0 and np.isnan(freedom)
