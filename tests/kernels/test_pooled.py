"""Kernels of the pooled sample: their values, that no label goes into them, tests with them, combinations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import naive_kernels as naive
from cases import WEIGHTED
from shrinktest import (
    Depth,
    Energy,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SecondOrder,
    Whitened,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.kernels import Kernel, Rescaled
from shrinktest.kernels.feature_maps import nystrom
from shrinktest.kernels.pooled import Differences, taken_anew
from shrinktest.statistics.kernel_cache import KernelCache

rng = np.random.default_rng(0)
Z, NEW = rng.normal(size=(14, 2)), rng.normal(size=(5, 2)) + 0.5
X, Y, THIRD = (
    rng.normal(size=(12, 2)),
    rng.normal(size=(9, 2)) * [1.0, 3.0],
    rng.normal(size=(7, 2)),
)
FUNCTIONS = {
    Gaussian(1.3): lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * 1.3**2)),
    Laplacian(0.9): lambda x, y: np.exp(-np.sum(np.abs(x - y)) / 0.9),
    Linear(): lambda x, y: np.sum(x * y),
    Polynomial(2): lambda x, y: (np.sum(x * y) + 1) ** 2,
    Energy((0.1, 0.2)): lambda x, y: naive.energy([x], [y], (0.1, 0.2))[0, 0],
}
VALUES = {
    **{
        (lambda kernel, lam=lam: Whitened(kernel, lam)): lambda *rest, lam=lam: naive.whitened(
            *rest, lam
        )
        for lam in (0.001, 0.1, 5.0)
    },
    SecondOrder: naive.second_order,
    Depth: naive.depth,
}
POOLED = [
    Whitened(),
    Whitened(lam=0.001),
    Whitened(Linear(), lam=2.0),
    SecondOrder(),
    SecondOrder(Linear()),
    Depth(),
]


def options(n_resamples=99, **more):
    return {"n_resamples": n_resamples, "rng": 0, "workers": 1, **more}


@pytest.mark.parametrize("kernel", FUNCTIONS, ids=repr)
@pytest.mark.parametrize(
    "kind", VALUES, ids=["whitened .001", "whitened .1", "whitened 5", "second-order", "depth"]
)
def test_values_on_the_pooled_sample_and_off_it(kind, kernel):
    resolved = kind(kernel).resolve(Z)
    for rows, columns in ((Z, Z), (Z[:4], Z[2:9]), (NEW, Z), (NEW, NEW)):
        expected = VALUES[kind](FUNCTIONS[kernel], rows, columns, Z)
        np.testing.assert_allclose(resolved(rows, columns), expected, rtol=1e-8, atol=1e-9)
    for rows in (Z, NEW):
        np.testing.assert_allclose(
            resolved.diagonal(rows), np.diag(resolved(rows)), rtol=1e-9, atol=1e-12
        )


def test_whitened_linear_distance_is_hotellings_with_a_ridge():
    pooled = np.vstack([X, Y])
    covariance = np.cov(pooled.T, bias=True)
    lam = 0.3
    ridged = covariance + lam * np.trace(covariance) * np.eye(2)
    difference = X.mean(axis=0) - Y.mean(axis=0)
    dimension = np.trace(np.linalg.solve(ridged, covariance))
    statistic = two_sample_test(
        X, Y, kernel=Whitened(Linear(), lam), form="biased", **options(0)
    ).statistic
    assert statistic == pytest.approx(
        difference @ np.linalg.solve(ridged, difference) / dimension, rel=1e-10
    )


def test_second_order_linear_distance_is_that_of_covariances_about_the_pooled_mean():
    mean = np.vstack([X, Y]).mean(axis=0)
    first, second = ((S - mean).T @ (S - mean) / len(S) for S in (X, Y))
    statistic = two_sample_test(
        X, Y, kernel=SecondOrder(Linear()), form="biased", **options(0)
    ).statistic
    assert statistic == pytest.approx(np.sum((first - second) ** 2), rel=1e-10)


def test_depth_distance_is_that_of_mean_depths():
    pooled = np.vstack([X, Y])
    depths = naive.gaussian(pooled, pooled, 1.3).mean(axis=1)
    u = (depths - depths.mean()) / depths.std()
    result = two_sample_test(X, Y, kernel=Depth(Gaussian(1.3)), form="biased", **options(0))
    assert result.statistic == pytest.approx((u[:12].mean() - u[12:].mean()) ** 2, rel=1e-10)


@pytest.mark.parametrize(
    ("most", "components"), [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (1000, 4)]
)
def test_second_order_by_the_leading_principal_components(most, components):
    rows, new = rng.normal(size=(30, 4)) * [3.0, 2.0, 1.0, 0.1], rng.normal(size=(5, 4))
    features, coordinates, share = (
        SecondOrder(Linear()).resolve(rows).shortened(Linear(), rows, most)
    )
    assert (
        coordinates.shape == (30, components * (components + 1) // 2)
        and coordinates.shape[1] <= most
    )
    center = rows.mean(axis=0)
    _, singular, axes = np.linalg.svd(rows - center)
    assert share == pytest.approx((singular[:components] ** 2).sum() / (singular**2).sum())
    leading, others = ((P - center) @ axes[:components].T for P in (rows, new))
    np.testing.assert_allclose(
        coordinates @ coordinates.T, (leading @ leading.T) ** 2, rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(features(new, rows), (others @ leading.T) ** 2, rtol=1e-8, atol=1e-8)


def test_an_indefinite_matrix_is_not_a_kernel():
    signs = np.tile([1.0, -1.0], 5)
    gram = 1.99 * np.eye(10) - 0.99 * np.outer(signs, signs)
    with pytest.raises(ValueError, match="is not of a kernel"):
        Whitened(Precomputed(gram)).resolve(np.arange(10.0))(np.arange(10.0))


@pytest.mark.parametrize(
    ("kernel", "estimator"),
    [
        (Whitened(), "fkmse"),
        (SecondOrder(), "kme"),
        (Depth(), "kme"),
        (Whitened(Energy(), 0.001), "kme"),
    ],
)
def test_level_is_exact_over_all_splits(kernel, estimator):
    """Every split of eight points as the data: p <= k / 35 for exactly k of 35, as X and Y may change names."""
    points = np.random.default_rng(3).normal(size=(8, 2))
    pvalues = []
    for others in itertools.combinations(range(1, 8), 3):
        members = [0, *others]
        rest = [i for i in range(8) if i not in members]
        given = options(np.inf, alpha=0.5, estimator=estimator, kernel=kernel)
        pvalues.append(two_sample_test(points[members], points[rest], **given).pvalue)
    assert [sum(p <= k / 35 + 1e-12 for p in pvalues) for k in range(1, 36)] == list(range(1, 36))


def test_every_estimator_of_weights_in_every_test():
    kernels = itertools.cycle([Whitened(), SecondOrder(), Depth()])
    for estimator, kernel in zip(WEIGHTED, kernels, strict=False):
        given = options(99, estimator=estimator)
        for result in (
            two_sample_test(X, Y, kernel=kernel, **given),
            k_sample_test(X, Y, THIRD, kernel=kernel, **given),
            independence_test(X, X**2, kernel_x=kernel, kernel_y=kernel, **given),
            joint_independence_test(
                X[:, :1], X[:, 1:], X[:, :1] ** 2, kernels=[kernel] * 3, **given
            ),
        ):
            assert 0.0 < result.pvalue <= 1.0 and len(np.unique(result.null_distribution)) > 1


@pytest.mark.parametrize("kernel", POOLED, ids=repr)
@pytest.mark.parametrize("estimator", ["kme", "skmse", "landweber"])
def test_coordinates_give_the_test_of_the_gram_matrix(kernel, estimator):
    given = options(199, estimator=estimator, kernel=kernel)
    dense, factor = (
        two_sample_test(X[:, :1], Y[:, :1], gram=gram, **given) for gram in ("dense", "factor")
    )
    assert (factor.route, dense.route) == ("factor", "dense")
    assert factor.pvalue == dense.pvalue
    assert factor.statistic == pytest.approx(dense.statistic, rel=1e-6)


@pytest.mark.parametrize("sizes", [(4, 4), (20, 20)])
def test_depths_that_are_all_equal_break_nothing(sizes):
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    samples = (np.tile(square, (size // 4, 1)) for size in sizes)
    result = two_sample_test(*samples, kernel=Depth(Gaussian(1.0)), **options())
    assert result.statistic == pytest.approx(0.0, abs=1e-12) and result.pvalue == 1.0


def test_the_witness_of_depths():
    result = two_sample_test(X, Y, kernel=Depth(Gaussian(1.3)), **options())
    pooled = np.vstack([X, Y])
    at_x, at_y = (
        naive.depth(FUNCTIONS[Gaussian(1.3)], NEW, S, pooled).mean(axis=1) for S in (X, Y)
    )
    np.testing.assert_allclose(result.witness(NEW), at_x - at_y, rtol=1e-8)


RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(size=(30, 2)), RNG.normal((1.0, 0.0), 1.0, size=(30, 2))
ENOUGH = {"n_resamples": 19, "rng": 0}


@pytest.mark.parametrize("pooled", [Whitened(), SecondOrder()], ids=["whitened", "second-order"])
@pytest.mark.parametrize("scale", [None, "sd"])
def test_contributions_take_changed_observations_for_the_pooled_sample(pooled, scale):
    def drops(kernel):
        result = two_sample_test(FIRST, SECOND, kernel=kernel, scale=scale, alpha=0.1, **ENOUGH)
        return result.contributions(n_repeats=3, rng=0)["drop"].to_numpy()

    alone = drops(pooled)
    for kernel, expected in (
        (2.0 * pooled, 2.0 * alone),
        (pooled + 1e-9 * Linear(), alone),
        (pooled * Gaussian(1e9), alone),
        (0.5 * (pooled + pooled), alone),
    ):
        np.testing.assert_allclose(drops(kernel), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "kernel", [*POOLED, Rescaled(Depth(), "sd"), Rescaled(Whitened(), "rank")], ids=repr
)
@pytest.mark.parametrize("gram", ["auto", "dense", "factor", "nystrom"])
def test_a_cache_evaluates_kernels_at_the_points_they_know_and_refuses_others(kernel, gram):
    cache = KernelCache(gram, 5 if gram == "nystrom" else None, 1e9, np.random.default_rng(0))
    resolved = kernel.resolve(Z, 0)
    same = cache(resolved, Z.copy())
    if gram != "nystrom":
        np.testing.assert_allclose(same.gram, resolved(Z), rtol=1e-6, atol=1e-8)
    for other in (NEW, Z[::-1], Z[:-1], Z + 1e-9):
        with pytest.raises(ValueError, match="was resolved on other observations"):
            cache(resolved, other)
    if gram == "dense":
        moved = cache(taken_anew(resolved, NEW), NEW).gram
        assert moved.shape == (5, 5) and np.linalg.eigvalsh(moved).min() > -1e-8
    with pytest.raises(ValueError, match="no pooled sample yet"):
        cache(SecondOrder(Gaussian(1.0)), Z)


@pytest.mark.parametrize("pooled", [Whitened(Gaussian(1.5)), SecondOrder(Gaussian(1.5))], ids=repr)
@pytest.mark.parametrize("same", [0, 3])
def test_differences_within_pairs_are_taken_anew_for_effects_and_contributions(pooled, same):
    first, second = FIRST.copy(), SECOND.copy()
    second[:same] = first[:same]  # pairs that do not differ say nothing about a bandwidth

    def tested(rows):
        given = {"kernel": Differences(pooled), "paired": True, "form": "biased", "alpha": 0.1}
        return two_sample_test(*np.split(rows, 2), **given, **ENOUGH)

    rows = np.vstack([first, second])
    result, generator = tested(rows), np.random.default_rng(0)
    drops = np.empty((2, 2))
    for j, r in itertools.product(range(2), range(2)):
        changed = rows.copy()
        changed[:, j] = generator.permutation(changed[:, j])
        drops[j, r] = result.statistic - tested(changed).statistic
    table = result.contributions(n_repeats=2, rng=0)
    np.testing.assert_allclose(table["drop"], drops.mean(axis=1), rtol=1e-7)
    alone = two_sample_test(
        first, second, kernel=pooled, paired=True, form="biased", alpha=0.1, **ENOUGH
    )
    effect, expected = result.effect(), alone.effect()  # of the rows themselves
    assert (effect.auc, effect.distance) == pytest.approx(
        (expected.auc, expected.distance), rel=1e-8
    )
    assert 0.0 < result.witness_band().pvalue <= 1.0


def test_matrices_combine_with_matrices_only():
    rows, gram = np.arange(30.0), Precomputed(Gaussian(1.0)(FIRST))
    with pytest.raises(ValueError, match="row numbers"):
        two_sample_test(rows[:15], rows[15:], kernel=[gram, "gaussian"], **ENOUGH)
    for combine in (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a + 2.0 * Whitened(b)):
        with pytest.raises(ValueError, match="row numbers"):
            combine(gram, Gaussian())
    both = two_sample_test(rows[:15], rows[15:], kernel=[gram, gram + gram], alpha=0.1, **ENOUGH)
    assert len(both.members) == 2

    @dataclass(frozen=True)
    class Own(Kernel):  # which may look rows up by their numbers, too
        def evaluate(self, FIRST, SECOND):
            return np.minimum(FIRST, SECOND.T) + 1.0

    assert (gram + Own()).points_are == "row numbers"


def test_landmarks_are_points_that_the_kernel_sees():
    FIRST = np.zeros((60, 1))
    FIRST[20:23, 0] = 1.0, -1.0, 2.0
    for seed in range(5):
        z = nystrom(Polynomial(2, offset=0.0), FIRST, 10, seed).coordinates(FIRST)
        np.testing.assert_allclose(z @ z.T, Polynomial(2, offset=0.0)(FIRST), atol=1e-9)
