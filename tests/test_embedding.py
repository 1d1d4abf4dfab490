"""MeanEmbedding: norms, inner products, values; and shrinkage towards a target."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from naive_kernels import gaussian, median_bandwidth
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    SKMSE,
    Gaussian,
    Laplacian,
    Linear,
    MeanEmbedding,
    Polynomial,
    Precomputed,
)

RNG = np.random.default_rng(2)
X, Y, AT = RNG.normal(size=(7, 2)), RNG.normal(size=(4, 2)) + 0.5, RNG.normal(size=(5, 2))
KERNELS = [Gaussian(1.1), Laplacian((0.5, 2.0)), Linear(), Polynomial(3), Gaussian(1.0) + Linear()]
Z, W = np.array([[0.3, -0.2], [1.0, 0.5], [-1.0, 0.1]]), np.array([0.2, 0.7, -0.1])


def test_geometry():
    for kernel in KERNELS:
        assert_geometry(kernel)
    mean = KME().fit([0.0, 1.0, 3.0], Linear())
    np.testing.assert_allclose(mean.embedding([1.0, 2.0]), [4 / 3, 8 / 3])
    assert mean.points.shape == (3, 1) and mean.norm2() == pytest.approx(16 / 9)


def assert_geometry(kernel):
    first, second = FKMSE(lam=0.3).fit(X, kernel), SKMSE().fit(Y, kernel)
    w, v = first.weights, second.weights
    assert first.norm2() == pytest.approx(w @ kernel(X) @ w, rel=1e-12)
    expected = sum(w[i] * kernel(X[[i]], Y[[j]])[0, 0] * v[j] for i in range(7) for j in range(4))
    assert first.inner(second) == pytest.approx(expected, rel=1e-10)
    assert second.inner(first) == pytest.approx(expected, rel=1e-10)
    joined, signed = np.vstack([X, Y]), np.concatenate([w, -v])
    assert first.distance2(second) == pytest.approx(signed @ kernel(joined) @ signed, rel=1e-10)
    np.testing.assert_allclose(first.embedding(AT), [sum(w * kernel(X, at[None])[:, 0]) for at in AT], rtol=1e-10)
    reproduced = [first.inner(KME().fit(at[None], kernel)) for at in AT]
    np.testing.assert_allclose(first.embedding(AT), reproduced, rtol=1e-10)


def test_distance_to_itself_is_zero():
    for scale in (1.0, 1e3):
        mean = FKMSE().fit(X * scale, Polynomial(3))
        moved = FKMSE().fit(X[::-1] * scale, Polynomial(3))
        assert mean.distance2(mean) == 0.0
        assert 0.0 <= mean.distance2(moved) <= 1e-9 * mean.norm2()


def test_fit_resolves_the_bandwidth():
    expected = median_bandwidth(X)
    for kernel in ("gaussian", Gaussian(), Gaussian("median")):
        mean = KME().fit(X, kernel)
        assert mean.kernel.bandwidth == pytest.approx(expected)
        assert mean.norm2() == pytest.approx(gaussian(X, X, expected).mean())
    assert KME().fit(X).kernel == KME().fit(X, "gaussian").kernel


# --- a target -----------------------------------------------------------------------------------------------


def test_target():
    for kernel, rule in itertools.product(KERNELS, ("loocv", "plugin")):
        mean = SKMSE(rule=rule, target=(Z, W)).fit(X, kernel)
        s = naive.skmse_target(kernel(X), kernel(X, Z) @ W, W @ kernel(Z) @ W, rule=rule)
        assert mean.shrinkage == pytest.approx(1 - s, rel=1e-9, abs=1e-12)
        np.testing.assert_array_equal(mean.points, np.vstack([X, Z]))
        np.testing.assert_allclose(mean.weights, [*np.full(7, s / 7), *((1 - s) * W)], rtol=1e-9, atol=1e-14)
        at_f, at_mean = kernel(AT, Z) @ W, kernel(AT, X).mean(axis=1)
        np.testing.assert_allclose(mean.embedding(AT), (1 - s) * at_f + s * at_mean, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(1.1), Linear(), Polynomial(2)], ids=repr)
def test_target_minimises_the_leave_one_out_score(kernel):
    K, n = kernel(np.vstack([X, Z])), len(X)

    def score(alpha):
        total = 0.0
        for i in range(n):
            b = np.concatenate([np.full(n, (1 - alpha) / (n - 1)), alpha * W])
            b[i] = 0.0
            total += naive.miss(K, i, b) / n
        return total

    alpha = SKMSE(target=(Z, W)).fit(X, kernel).shrinkage
    grid = np.linspace(0, 1, 101)
    assert score(alpha) <= min(score(other) for other in (*grid, alpha - 1e-4, alpha + 1e-4) if 0 <= other <= 1)
    assert 0 < alpha <= 1


def test_target_at_the_boundaries():
    aim = (Z, W)
    f_star = MeanEmbedding(Z, W, Gaussian(1.1))
    everything = SKMSE(alpha=1.0, target=aim).fit(X, Gaussian(1.1))
    assert everything.distance2(f_star) == pytest.approx(0.0, abs=1e-14)
    nothing = SKMSE(alpha=0.0, target=aim).fit(X, Gaussian(1.1))
    assert nothing.distance2(KME().fit(X, Gaussian(1.1))) == pytest.approx(0.0, abs=1e-14)
    # a target at the centre of two opposite points: they vote against each other, and the target is all
    clamped = SKMSE(target=([[1.0]], [1.0])).fit([0.0, 2.0], Linear())
    assert clamped.shrinkage == 1.0
    np.testing.assert_array_equal(clamped.weights, [0.0, 0.0, 1.0])


def test_target_with_one_amount_for_two_samples():
    kernel, aim = Gaussian(1.1), SKMSE(target=(Z, W))
    shifted = []
    for sample in (X, Y):
        F = kernel(sample, Z) @ W
        shifted.append(kernel(sample) - F[:, None] - F[None, :] + W @ kernel(Z) @ W)
    tuned = aim.tuned(kernel, X, Y)
    assert tuned.target == aim.target
    assert tuned.alpha == pytest.approx(1 - naive.skmse_factor(*shifted), rel=1e-10)


# --- spaces and points --------------------------------------------------------------------------------------


def test_refusals():
    gram = np.eye(7)
    for one, two in (
        (Gaussian(1.0), Gaussian(1.1)),
        (Gaussian(1.0), Linear()),
        (Polynomial(2), Polynomial(3)),
        (Precomputed(gram), Precomputed(2 * gram)),
    ):
        points = np.arange(7) if isinstance(one, Precomputed) else X
        first, second = KME().fit(points, one), KME().fit(points, two)
        for verb in (first.inner, first.distance2):
            with pytest.raises(ValueError, match="kernels differ"):
                verb(second)
    mean = MKME(variance=0.1).fit(X, Gaussian(1.0))
    for call, error, name in (
        (lambda: KME().fit(X, Linear()).inner(KME().fit(X[:, :1], Linear())), ValueError, "other"),
        (lambda: MeanEmbedding(np.ones((1, 1)), np.ones(2), Gaussian(1.0)), ValueError, "weights"),
        (lambda: mean.embedding(np.zeros((4, 3))), ValueError, "x has 3 columns"),
        (lambda: mean.embedding([[0.0, np.nan]]), ValueError, "missing"),
        (lambda: mean.embedding([["a", "b"]]), TypeError, "x must hold"),
    ):
        with pytest.raises(error, match=name):
            call()


def test_equal_matrices_lists_and_means_far_from_zero():
    gram, plain = np.eye(7), MeanEmbedding([[0.0], [1.0]], [0.5, 0.5], Gaussian(1.0))
    same = KME().fit(np.arange(7), Precomputed(gram)), FKMSE(lam=1.0).fit(np.arange(7), Precomputed(gram.copy()))
    assert same[0].inner(same[1]) == pytest.approx(1 / 14)
    assert plain.embedding([0.5])[0] == pytest.approx(np.exp(-0.125)) and plain.distance2(plain) == 0.0
    near, far = ([KME().fit(one + start, Linear()) for one in (X, Y)] for start in (0.0, 1e8))
    assert far[0].distance2(far[1]) == pytest.approx(near[0].distance2(near[1]), rel=1e-6)
    assert far[0].distance2(KME().fit(X + 1e8, Linear())) == 0.0
