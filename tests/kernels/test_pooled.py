"""Kernels of the pooled sample: their values, that no label goes into them, and every test with them."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import naive_kernels as naive
from cases import WEIGHTED
from shrinktest import (
    Depth,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SecondOrder,
    Whitened,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.kernels import Custom

rng = np.random.default_rng(0)
Z, NEW = rng.normal(size=(14, 2)), rng.normal(size=(5, 2)) + 0.5
X, Y, THIRD = rng.normal(size=(12, 2)), rng.normal(size=(9, 2)) * [1.0, 3.0], rng.normal(size=(7, 2))

FUNCTIONS = {
    Gaussian(1.3): lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * 1.3**2)),
    Laplacian(0.9): lambda x, y: np.exp(-np.sum(np.abs(x - y)) / 0.9),
    Linear(): lambda x, y: np.sum(x * y),
    Polynomial(2): lambda x, y: (np.sum(x * y) + 1) ** 2,
}
POOLED = [Whitened(), Whitened(lam=0.001), Whitened(Linear(), lam=2.0), SecondOrder(), SecondOrder(Linear()), Depth()]


def inner(n_resamples=99, **options):
    return {"n_resamples": n_resamples, "rng": 0, "workers": 1, **options}


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", FUNCTIONS, ids=repr)
@pytest.mark.parametrize("lam", [0.001, 0.1, 5.0])
def test_whitened_values_on_the_pooled_sample_and_off_it(kernel, lam):
    resolved, function = Whitened(kernel, lam).resolve(Z), FUNCTIONS[kernel]
    for rows, columns in ((Z, Z), (Z[:4], Z[2:9]), (NEW, Z), (NEW, NEW)):
        expected = naive.whitened(function, rows, columns, Z, lam)
        np.testing.assert_allclose(resolved(rows, columns), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(resolved(Z), naive.whitened(function, Z, Z, Z, lam), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(resolved.diagonal(NEW), np.diag(resolved(NEW)), rtol=1e-9)
    np.testing.assert_allclose(resolved.diagonal(Z), np.diag(resolved(Z)), rtol=1e-9)


@pytest.mark.parametrize("kernel", FUNCTIONS, ids=repr)
def test_second_order_values(kernel):
    resolved, function = SecondOrder(kernel).resolve(Z), FUNCTIONS[kernel]
    for rows, columns in ((Z, Z), (Z[:4], Z[2:9]), (NEW, Z), (NEW, NEW)):
        expected = naive.second_order(function, rows, columns, Z)
        np.testing.assert_allclose(resolved(rows, columns), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(resolved.diagonal(NEW), np.diag(resolved(NEW)), rtol=1e-9)


def test_whitened_linear_distance_is_hotellings_with_a_ridge():
    pooled = np.vstack([X, Y])
    covariance = np.cov(pooled.T, bias=True)
    lam = 0.3
    ridged = covariance + lam * np.trace(covariance) * np.eye(2)
    difference = X.mean(axis=0) - Y.mean(axis=0)
    dimension = np.trace(np.linalg.solve(ridged, covariance))
    found = two_sample_test(X, Y, kernel=Whitened(Linear(), lam), form="biased", **inner(0)).statistic
    assert found == pytest.approx(difference @ np.linalg.solve(ridged, difference) / dimension, rel=1e-10)


def test_second_order_linear_distance_is_that_of_covariances_about_the_pooled_mean():
    mean = np.vstack([X, Y]).mean(axis=0)
    one, other = ((S - mean).T @ (S - mean) / len(S) for S in (X, Y))
    found = two_sample_test(X, Y, kernel=SecondOrder(Linear()), form="biased", **inner(0)).statistic
    assert found == pytest.approx(np.sum((one - other) ** 2), rel=1e-10)


def test_a_large_ridge_gives_the_test_of_the_kernel():
    plain, ridged = (two_sample_test(X, Y, kernel=k, **inner(999)) for k in (Gaussian(), Whitened(lam=1e4)))
    assert ridged.pvalue == plain.pvalue
    scale = ridged.statistic / plain.statistic
    np.testing.assert_allclose(ridged.null_distribution, scale * plain.null_distribution, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kernel", POOLED, ids=repr)
def test_order_and_labels_go_into_no_value(kernel):
    order = np.random.default_rng(1).permutation(len(Z))
    moved = kernel.resolve(Z[order])(Z[order])
    np.testing.assert_allclose(moved, kernel.resolve(Z)(Z)[np.ix_(order, order)], rtol=1e-9, atol=1e-11)


def test_kernels_are_values():
    assert Whitened() == Whitened(Gaussian(), 0.1) and hash(Whitened()) == hash(Whitened(lam=0.1))
    assert Whitened() != Whitened(lam=0.2) and Whitened() != SecondOrder()
    assert Whitened().resolve(Z) == Whitened().resolve(Z.copy()) != Whitened().resolve(X)
    assert repr(Whitened(Gaussian(2.0), 0.5)) == "Whitened(kernel=Gaussian(bandwidth=2.0), lam=0.5)"
    assert Whitened(Gaussian(2.0), 0.5).label == "Whitened(Gaussian, lam=0.5)"
    assert SecondOrder().label == "SecondOrder(Gaussian)"


# --- tests --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", POOLED, ids=repr)
@pytest.mark.parametrize("estimator", ["kme", "fkmse"])
def test_level_is_exact_over_all_splits(kernel, estimator):
    """Every split of eight points as the data: p <= k / 70 for at most k of them, for exactly k without ties."""
    points = np.random.default_rng(3).normal(size=(8, 2))
    pvalues = []
    for members in itertools.combinations(range(8), 4):
        rest = [i for i in range(8) if i not in members]
        options = inner(np.inf, alpha=0.5, estimator=estimator, kernel=kernel)
        pvalues.append(two_sample_test(points[list(members)], points[rest], **options).pvalue)
    counts = np.array([sum(p <= k / 70 + 1e-12 for p in pvalues) for k in range(1, 71)])
    assert (counts <= np.arange(1, 71)).all()
    assert np.array_equal(counts[1::2], np.arange(2, 71, 2))  # X and Y may change names, which ties all in twos


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
@pytest.mark.parametrize("kernel", [Whitened(), SecondOrder(), Depth()], ids=["whitened", "second-order", "depth"])
def test_every_estimator_of_weights_in_every_test(estimator, kernel):
    options = inner(99, estimator=estimator)
    results = [
        two_sample_test(X, Y, kernel=kernel, **options),
        k_sample_test(X, Y, THIRD, kernel=kernel, **options),
        independence_test(X, X**2, kernel_x=kernel, kernel_y=kernel, **options),
        joint_independence_test(X[:, :1], X[:, 1:], X[:, :1] ** 2, kernels=[kernel] * 3, **options),
    ]
    for result in results:
        assert 0.0 < result.pvalue <= 1.0 and np.isfinite(result.statistic)
        assert len(np.unique(result.null_distribution)) > 1
    many = [
        two_sample_test_columns(X, Y, kernel=kernel, **options),
        independence_matrix(X, Y[:, :1].repeat(2, axis=0)[:12], kernel_x=kernel, **options),
    ]
    for result in many:
        assert ((result.pvalues > 0.0) & (result.pvalues <= 1.0)).all()


@pytest.mark.parametrize("kernel", POOLED, ids=repr)
@pytest.mark.parametrize("estimator", ["kme", "skmse", "landweber"])
def test_coordinates_give_the_test_of_the_gram_matrix(kernel, estimator):
    options = inner(199, estimator=estimator, kernel=kernel)
    dense, factor = (two_sample_test(X[:, :1], Y[:, :1], gram=gram, **options) for gram in ("dense", "factor"))
    assert (factor.route, dense.route) == ("factor", "dense")
    assert factor.pvalue == dense.pvalue
    assert factor.statistic == pytest.approx(dense.statistic, rel=1e-6)


@pytest.mark.parametrize("kernel", [Whitened(), SecondOrder(), Depth()], ids=["whitened", "second-order", "depth"])
def test_independence_by_coordinates(kernel):
    options = inner(199, kernel_x=kernel, kernel_y=kernel)
    x, y = X[:, :1], X[:, 1:]
    dense, factor = (independence_test(x, y, gram=gram, **options) for gram in ("dense", "factor"))
    assert factor.route == "factor" and factor.pvalue == dense.pvalue


def test_large_samples_take_coordinates_by_themselves():
    one, other = np.random.default_rng(0).normal(size=(2, 4000, 1))
    assert two_sample_test(one, other, kernel=Whitened(), **inner(19)).route == "factor"


def test_a_pickled_result_holds_no_matrix():
    one, other = np.random.default_rng(0).normal(size=(2, 150, 1))
    result = two_sample_test(one, other, kernel=Whitened(), gram="dense", **inner())
    again = pickle.loads(pickle.dumps(result))
    assert len(pickle.dumps(result)) < 30_000
    assert again.pvalue == result.pvalue and again.kernel == result.kernel


def test_a_matrix_that_a_kernel_keeps_is_left_alone():
    kept = Gaussian(1.0)(Z)
    before = kept.copy()
    for kernel in (Whitened(Custom(lambda X, Y: kept)), SecondOrder(Custom(lambda X, Y: kept))):
        kernel.resolve(Z)(Z)
        np.testing.assert_array_equal(kept, before)


# --- what makes no sense ------------------------------------------------------------------------------------


def test_an_indefinite_matrix_is_not_a_kernel():
    signs = np.tile([1.0, -1.0], 5)
    gram = 1.99 * np.eye(10) - 0.99 * np.outer(signs, signs)
    with pytest.raises(ValueError, match="is not of a kernel"):
        Whitened(Precomputed(gram)).resolve(np.arange(10.0))(np.arange(10.0))
