"""Depth: its values, what it sees, every test and route with it, and what it does off the sample."""

from __future__ import annotations

import numpy as np
import pytest

import naive_kernels as naive
from shrinktest import (
    Depth,
    Energy,
    Gaussian,
    Laplacian,
    Linear,
    independence_test,
    two_sample_test,
)

rng = np.random.default_rng(0)
Z, NEW = rng.normal(size=(14, 2)), 3.0 * rng.normal(size=(5, 2))
X, Y, THIRD = rng.normal(size=(12, 2)), 3.0 * rng.normal(size=(9, 2)), rng.normal(size=(7, 2))

FUNCTIONS = {
    Gaussian(1.3): lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * 1.3**2)),
    Laplacian(0.9): lambda x, y: np.exp(-np.sum(np.abs(x - y)) / 0.9),
    Energy((0.1, 0.2)): lambda x, y: naive.energy([x], [y], (0.1, 0.2))[0, 0],
}


def options(n_resamples=99, **more):
    return {"n_resamples": n_resamples, "rng": 0, "workers": 1, **more}


@pytest.mark.parametrize("kernel", FUNCTIONS, ids=repr)
def test_values_on_the_pooled_sample_and_off_it(kernel):
    resolved, function = Depth(kernel).resolve(Z), FUNCTIONS[kernel]
    for rows, columns in ((Z, Z), (Z[:4], Z[2:9]), (NEW, Z), (NEW, NEW)):
        np.testing.assert_allclose(resolved(rows, columns), naive.depth(function, rows, columns, Z), rtol=1e-9)
    for rows in (Z, NEW):
        np.testing.assert_allclose(resolved.diagonal(rows), np.diag(resolved(rows)), rtol=1e-12)


def test_the_same_from_a_gram_matrix_and_from_coordinates():
    kernel = Depth(Gaussian(1.3)).resolve(Z)
    expected, gram = kernel(Z), Gaussian(1.3)(Z)
    kept = gram.copy()
    np.testing.assert_allclose(kernel.of_gram(gram), expected, rtol=1e-10)
    features, coordinates = kernel.few(gram)
    np.testing.assert_allclose(coordinates @ coordinates.T, expected, rtol=1e-10)
    np.testing.assert_allclose(features(NEW, Z), kernel(NEW, Z), rtol=1e-10)
    np.testing.assert_array_equal(gram, kept)


def test_the_squared_distance_is_that_of_mean_depths():
    pooled = np.vstack([X, Y])
    depths = naive.gaussian(pooled, pooled, 1.3).mean(axis=1)
    u = (depths - depths.mean()) / depths.std()
    found = two_sample_test(X, Y, kernel=Depth(Gaussian(1.3)), form="biased", **options(0))
    assert found.statistic == pytest.approx((u[:12].mean() - u[12:].mean()) ** 2, rel=1e-10)


def test_it_sees_spread_and_no_shift():
    wide, shifted = np.random.default_rng(1).normal(size=(2, 40, 20)), np.random.default_rng(2).normal(size=(2, 40, 20))
    found = two_sample_test(wide[0], 1.3 * wide[1], kernel="depth", rng=0)
    assert found.pvalue == 0.001 < two_sample_test(wide[0], 1.3 * wide[1], rng=0).pvalue
    moved = shifted[0], shifted[1] + 0.5
    assert two_sample_test(*moved, kernel="depth", rng=0).pvalue > 0.05 > two_sample_test(*moved, rng=0).pvalue


def test_of_a_linear_kernel_all_depths_are_those_along_the_mean():
    resolved, mean = Depth(Linear()).resolve(Z), Z.mean(axis=0)
    u = (Z @ mean - mean @ mean) / (Z @ mean).std()
    np.testing.assert_allclose(resolved(Z), 1 + np.outer(u, u), rtol=1e-9)


@pytest.mark.parametrize("sizes", [(4, 4), (20, 20)])
def test_depths_that_are_all_equal_break_nothing(sizes):
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    one, other = (np.tile(square, (size // 4, 1)) for size in sizes)
    found = two_sample_test(one, other, kernel=Depth(Gaussian(1.0)), **options())
    assert found.statistic == pytest.approx(0.0, abs=1e-12) and found.pvalue == 1.0


@pytest.mark.parametrize("estimator", ["kme", "skmse"])
@pytest.mark.parametrize("given", [{"gram": "factor"}, {"gram": "auto"}])
def test_routes_agree(estimator, given):
    two, pairs = options(199, estimator=estimator, kernel="depth"), options(199, kernel_x="depth", kernel_y="depth")
    dense, other = (two_sample_test(X[:, :1], Y[:, :1], **two, **one) for one in ({"gram": "dense"}, given))
    assert (dense.route, other.route) == ("dense", "factor") and other.pvalue == dense.pvalue
    assert other.statistic == pytest.approx(dense.statistic, rel=1e-6)
    dense, other = (independence_test(X[:, :1], X[:, 1:], **pairs, **one) for one in ({"gram": "dense"}, given))
    assert other.pvalue == dense.pvalue and other.statistic == pytest.approx(dense.statistic, rel=1e-6)


def test_the_witness_and_what_contributes():
    found = two_sample_test(X, Y, kernel=Depth(Gaussian(1.3)), **options())
    pooled = np.vstack([X, Y])
    at_x, at_y = (naive.depth(FUNCTIONS[Gaussian(1.3)], NEW, S, pooled).mean(axis=1) for S in (X, Y))
    np.testing.assert_allclose(found.witness(NEW), at_x - at_y, rtol=1e-8)
    one, other = np.random.default_rng(5).normal(size=(2, 40, 3))
    spread = two_sample_test(one, other * [1.0, 1.0, 4.0], kernel="depth", **options())
    assert spread.contributions(rng=0)["share"].idxmax() == 2
