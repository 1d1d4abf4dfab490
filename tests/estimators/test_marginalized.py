"""Marginalized estimators: score, gradient, minimizers; and kernel means of all: norms, values, targets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from _ci import some_wait
from naive_kernels import (
    corrupted,
    gaussian,
    linear_surrogate,
    linear_surrogate_second_order,
    marginalized_gradient,
    marginalized_loocv,
    median_bandwidth,
    mkme_tuned,
    mmkme_tuned,
    smoothed_inner,
    smoothed_mean,
)
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    Gaussian,
    Laplacian,
    Linear,
    MeanEmbedding,
    Polynomial,
    Precomputed,
)


def points(n, d, seed=0):
    """Columns of different spread, so that each wants its own noise."""
    return np.random.default_rng([seed, n, d]).normal(size=(n, d)) * np.linspace(1.0, 2.0, d)


SAMPLES = {
    "line": (points(9, 1), 0.8),
    "plane": (points(8, 2), 1.0),
    "wide": (points(7, 3), 20.0),
    "narrow": (points(7, 3), 0.3),
    "two points": (points(2, 2), 1.0),
    "duplicates": (np.repeat(points(4, 2), 2, axis=0), 1.0),
    "per column": (points(7, 3), (0.5, 1.0, 4.0)),
    "unused column": (np.column_stack([points(8, 1), np.full(8, 3.0)]), 1.0),
    "two scales": (np.concatenate([points(4, 2) * 0.01, 30.0 + points(4, 2)]), 1.0),
}
every_sample = pytest.mark.parametrize("kind", SAMPLES)


def squares(bandwidth):
    return np.square(bandwidth)


@every_sample
@pytest.mark.parametrize("variance", [1e-4, 0.3, 50.0])
def test_score_and_gradient(kind, variance):
    X, bandwidth = SAMPLES[kind]
    th2, d = squares(bandwidth), X.shape[1]
    for noise in (np.full(d, variance), variance * np.linspace(0.5, 3.0, d)):
        score, gradient = MMKME().loocv(X, Gaussian(bandwidth), noise)
        assert score == pytest.approx(marginalized_loocv(X, th2, noise), rel=1e-11)
        by_logarithm = noise * marginalized_gradient(X, th2, noise)
        np.testing.assert_allclose(gradient, by_logarithm, rtol=1e-6, atol=1e-9)
    score, gradient = MKME().loocv(
        X, Gaussian(bandwidth), variance
    )  # one number stands for all coordinates
    assert score == pytest.approx(marginalized_loocv(X, th2, variance), rel=1e-11)
    assert gradient.sum() == pytest.approx(
        variance * marginalized_gradient(X, th2, variance), rel=1e-6, abs=1e-9
    )


@every_sample
def test_score_without_noise_is_that_of_the_plain_mean(kind):
    X, bandwidth = SAMPLES[kind]
    n, K = len(X), Gaussian(bandwidth)(X)
    score, gradient = MMKME().loocv(X, Gaussian(bandwidth), 0.0)
    assert score == pytest.approx((n / (n - 1)) ** 2 * (1 - K.mean()), rel=1e-11)
    np.testing.assert_array_equal(gradient, np.zeros(X.shape[1]))


@every_sample
def test_common_variance(kind):
    X, bandwidth = SAMPLES[kind]
    th2 = squares(bandwidth)
    expected, lowest = mkme_tuned(X, th2)
    mean = MKME().fit(X, Gaussian(bandwidth))
    assert marginalized_loocv(X, th2, mean.shrinkage) <= lowest + 1e-13
    assert mean.shrinkage == pytest.approx(expected, rel=1e-5)
    assert mean.smoothing == (mean.shrinkage,) * X.shape[1]
    assert abs(MKME().loocv(X, Gaussian(bandwidth), mean.shrinkage)[1].sum()) < 1e-12


LATER = ("narrow", "duplicates", "unused column", "two scales")


@pytest.mark.parametrize("kind", some_wait(SAMPLES, LATER))
def test_a_variance_per_coordinate(kind):
    X, bandwidth = SAMPLES[kind]
    th2 = np.broadcast_to(squares(bandwidth), X.shape[1])
    mean = MMKME().fit(X, Gaussian(bandwidth))
    variances = np.array(mean.smoothing)
    assert mean.shrinkage == mean.smoothing
    score, gradient = MMKME().loocv(X, Gaussian(bandwidth), variances)
    assert score <= mmkme_tuned(X, th2, starts=2)[1] + 1e-9
    assert score <= marginalized_loocv(X, th2, MKME().fit(X, Gaussian(bandwidth)).shrinkage) + 1e-15
    logs = np.log(variances / th2)
    assert (logs > -12 - 1e-9).all()
    assert (logs < 6 + 1e-9).all()
    stationary = np.abs(gradient) < 1e-6
    assert (
        stationary | ((logs < -12 + 1e-9) & (gradient > 0)) | ((logs > 6 - 1e-9) & (gradient < 0))
    ).all()


def test_several_starts():
    """The score has several minima; a descent from the common variance alone ends in the worse one here."""
    for seed in (6, 20):
        X = np.random.default_rng(seed).normal(size=(6, 2)) * np.array([0.1, 5.0])
        score = marginalized_loocv(X, np.full(2, 0.25), MMKME().fit(X, Gaussian(0.5)).smoothing)
        assert score <= mmkme_tuned(X, np.full(2, 0.25), starts=3)[1] + 1e-9


@pytest.mark.parametrize("kind", ["plane", "per column", "narrow"])
def test_one_noise_for_two_samples(kind):
    X, bandwidth = SAMPLES[kind]
    kernel, th2, d = Gaussian(bandwidth), squares(bandwidth), X.shape[1]
    Y = 1.5 * points(9, d, seed=1)

    def score(noise):
        return marginalized_loocv(X, th2, noise) + marginalized_loocv(Y, th2, noise)

    common = MKME().tuned(kernel, X, Y).variance
    assert score(common) <= min(
        score(v) for v in common * np.exp([-1.0, -0.3, -1e-3, 1e-3, 0.3, 1.0])
    )
    assert score(common) <= min(score(v) for v in np.exp(np.linspace(-8, 5, 60))) + 1e-13
    each = np.array(MMKME().tuned(kernel, X, Y).variances)
    assert score(each) <= score(common) + 1e-15
    for j in range(d):
        for step in (-1e-2, 1e-2):
            moved = each.copy()
            moved[j] *= 1 + step
            assert score(each) <= score(moved)
    for estimator in (MKME(), MMKME()):
        assert estimator.tuned(kernel, X, Y).noise(d) == pytest.approx(
            estimator.tuned(kernel, Y, X).noise(d), rel=1e-6
        )


@every_sample
def test_some_noise_always_helps(kind):
    """The score falls at 0, with the slope of its closed form, unless all points coincide."""
    X, bandwidth = SAMPLES[kind]
    kernel, d, n = Gaussian(bandwidth), X.shape[1], len(X)
    th2 = np.broadcast_to(squares(bandwidth), d)
    small = 1e-9 * th2.min()
    slope = MKME().loocv(X, kernel, small)[1].sum() / small
    bend = np.square(X[:, None] - X[None, :]) / th2**2 - 1 / th2  # d k / d v = k bend / 2
    pulled = np.sum(kernel(X)[..., None] * bend) + n * np.sum(1 / th2)
    expected = -(2 * 0.5 * pulled / (n - 1) ** 2 + n * np.sum(1 / th2) / (n - 1)) / n
    assert slope < 0
    assert slope == pytest.approx(expected, rel=1e-5)
    assert MKME().fit(X, kernel).shrinkage > 1e-4 * th2.min()
    assert (
        MKME().loocv(X, kernel, MKME().fit(X, kernel).shrinkage)[0]
        < MKME().loocv(X, kernel, 0.0)[0]
    )


def test_nothing_to_tune_and_units():
    (line, of_line), (plane, bandwidth), (each, widths) = (
        SAMPLES[kind] for kind in ("line", "plane", "per column")
    )
    for estimator in (MKME(), MMKME()):
        coincident = estimator.fit(np.full((5, 2), 3.0), Gaussian(2.0))
        assert max(coincident.smoothing) <= 4 * np.exp(-12) * (1 + 1e-12)
        single = estimator.fit(np.full((1, 2), 3.0), Gaussian(2.0))  # it cannot be left out
        assert (single.smoothing, single.norm2()) == ((0.0, 0.0), 1.0)
        plain = np.array(estimator.fit(plane, Gaussian(bandwidth)).smoothing)
        for factor in (1e-3, 1e4):
            moved = estimator.fit(5.0 + factor * plane, Gaussian(factor * bandwidth)).smoothing
            np.testing.assert_allclose(moved, factor**2 * plain, rtol=1e-5)
    apart, scaled = MMKME().fit(each, Gaussian(widths)), MMKME().fit(each / widths, Gaussian(1.0))
    np.testing.assert_allclose(
        np.array(apart.smoothing) / squares(widths), scaled.smoothing, rtol=1e-5
    )
    assert (
        MMKME().fit(line, Gaussian(of_line)).smoothing
        == MKME().fit(line, Gaussian(of_line)).smoothing
    )


X, Y = points(8, 2), points(5, 2, seed=1) + 0.5
KERNEL, TH2 = Gaussian((0.9, 1.7)), np.square((0.9, 1.7))
NOISE, OTHER = np.array([0.4, 0.05]), 0.7


def test_norms_and_inner_products():
    mean, other, plain = (
        MMKME(variances=NOISE).fit(X, KERNEL),
        MKME(variance=OTHER).fit(Y, KERNEL),
        KME().fit(Y, KERNEL),
    )
    u, v = np.full(8, 1 / 8), np.full(5, 1 / 5)
    assert mean.norm2() == pytest.approx(smoothed_inner(X, u, NOISE, X, u, NOISE, TH2), rel=1e-12)
    assert mean.norm2() == pytest.approx(np.mean(corrupted(X, X, TH2, 2 * NOISE)), rel=1e-12)
    for second, noise in ((other, OTHER), (plain, 0.0)):
        expected = smoothed_inner(X, u, NOISE, Y, v, noise, TH2)
        assert mean.inner(second) == pytest.approx(expected, rel=1e-12)
        assert second.inner(mean) == pytest.approx(expected, rel=1e-12)
    expected = mean.norm2() + other.norm2() - 2 * mean.inner(other)
    assert mean.distance2(other) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(
        mean.embedding(Y), [smoothed_mean(y, X, NOISE, TH2) for y in Y], rtol=1e-12
    )


def test_features_are_two_noisy_copies():
    tuned = MKME().fit(X, KERNEL).shrinkage
    for estimator, noise in (
        (MMKME(variances=NOISE), NOISE),
        (MKME(variance=OTHER), OTHER),
        (MKME(), tuned),
    ):
        np.testing.assert_allclose(
            estimator.features(KERNEL, X)(X, Y), corrupted(X, Y, TH2, 2 * noise), rtol=1e-12
        )
    for estimator in (MKME(variance=0.0), MMKME(variances=(0.0, 0.0))):
        np.testing.assert_array_equal(
            estimator.fit(X, KERNEL).embedding(Y), KME().fit(X, KERNEL).embedding(Y)
        )


def test_linear_surrogate():
    for bandwidth in (1.3, (0.9, 1.7)):
        mean = MMKME(variances=NOISE).linear(X, Gaussian(bandwidth))
        expected = linear_surrogate_second_order(X, squares(bandwidth), NOISE)
        np.testing.assert_allclose(mean.weights, expected, rtol=1e-7)
        assert mean.smoothing is None
        assert mean.shrinkage == tuple(NOISE)
    common = MKME().linear(X, Gaussian(1.3))
    expected = linear_surrogate_second_order(X, 1.69, MKME().fit(X, Gaussian(1.3)).shrinkage)
    np.testing.assert_allclose(common.weights, expected, rtol=1e-7)


def test_linear_surrogate_is_of_second_order():
    """Half the noise, a quarter of the distance to the best weights on the same points (erratum E26)."""
    K, errors = KERNEL(X), []
    for halving in range(4):
        noise = 1e-3 * NOISE / 2**halving
        gap = MMKME(variances=noise).linear(X, KERNEL).weights - linear_surrogate(X, TH2, noise)
        errors.append(np.sqrt(gap @ K @ gap))
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios, 4.0, rtol=0.02)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: MMKME(variances=(0.5,)).fit(X, KERNEL), "variances"),
        (lambda: MMKME(variances=(0.5, 0.5, 0.5)).fit(X, KERNEL), "variances"),
        (lambda: MKME().tuned(KERNEL, X, Y, X), "tuning"),
        (lambda: MMKME().loocv(X, KERNEL, -1.0), "variances"),
        (lambda: MMKME().loocv(X, KERNEL, [1.0, 2.0, 3.0]), "variances"),
        (lambda: MMKME().loocv(np.zeros((1, 2)), KERNEL, 1.0), "X"),
        (lambda: MMKME().loocv(np.full((5, 2), np.nan), KERNEL, 1.0), "X"),
    ],
)
def test_errors(call, name):
    with pytest.raises(ValueError, match=name):
        call()


# --- kernel means --------------------------------------------------------------------------------------------------
RNG = np.random.default_rng(2)
XS, YS, AT = RNG.normal(size=(7, 2)), RNG.normal(size=(4, 2)) + 0.5, RNG.normal(size=(5, 2))
KERNELS = [Gaussian(1.1), Laplacian((0.5, 2.0)), Linear(), Polynomial(3), Gaussian(1.0) + Linear()]
Z, W = np.array([[0.3, -0.2], [1.0, 0.5], [-1.0, 0.1]]), np.array([0.2, 0.7, -0.1])


def test_geometry():
    for kernel in KERNELS:
        assert_geometry(kernel)
    mean = KME().fit([0.0, 1.0, 3.0], Linear())
    np.testing.assert_allclose(mean.embedding([1.0, 2.0]), [4 / 3, 8 / 3])
    assert mean.points.shape == (3, 1) and mean.norm2() == pytest.approx(16 / 9)


def assert_geometry(kernel):
    first, second = FKMSE(lam=0.3).fit(XS, kernel), SKMSE().fit(YS, kernel)
    w, v = first.weights, second.weights
    assert first.norm2() == pytest.approx(w @ kernel(XS) @ w, rel=1e-12)
    expected = sum(w[i] * kernel(XS[[i]], YS[[j]])[0, 0] * v[j] for i in range(7) for j in range(4))
    assert first.inner(second) == pytest.approx(expected, rel=1e-10)
    assert second.inner(first) == pytest.approx(expected, rel=1e-10)
    joined, signed = np.vstack([XS, YS]), np.concatenate([w, -v])
    assert first.distance2(second) == pytest.approx(signed @ kernel(joined) @ signed, rel=1e-10)
    np.testing.assert_allclose(
        first.embedding(AT), [sum(w * kernel(XS, at[None])[:, 0]) for at in AT], rtol=1e-10
    )
    reproduced = [first.inner(KME().fit(at[None], kernel)) for at in AT]
    np.testing.assert_allclose(first.embedding(AT), reproduced, rtol=1e-10)


def test_fit_resolves_the_bandwidth():
    expected = median_bandwidth(XS)
    for kernel in ("gaussian", Gaussian(), Gaussian("median")):
        mean = KME().fit(XS, kernel)
        assert mean.kernel.bandwidth == pytest.approx(expected)
        assert mean.norm2() == pytest.approx(gaussian(XS, XS, expected).mean())
    assert KME().fit(XS).kernel == KME().fit(XS, "gaussian").kernel


def test_target():
    for kernel, rule in itertools.product(KERNELS, ("loocv", "plugin")):
        mean = SKMSE(rule=rule, target=(Z, W)).fit(XS, kernel)
        s = naive.skmse_target(kernel(XS), kernel(XS, Z) @ W, W @ kernel(Z) @ W, rule=rule)
        assert mean.shrinkage == pytest.approx(1 - s, rel=1e-9, abs=1e-12)
        np.testing.assert_array_equal(mean.points, np.vstack([XS, Z]))
        np.testing.assert_allclose(
            mean.weights, [*np.full(7, s / 7), *((1 - s) * W)], rtol=1e-9, atol=1e-14
        )
        at_f, at_mean = kernel(AT, Z) @ W, kernel(AT, XS).mean(axis=1)
        np.testing.assert_allclose(
            mean.embedding(AT), (1 - s) * at_f + s * at_mean, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("kernel", [Gaussian(1.1), Linear(), Polynomial(2)], ids=repr)
def test_target_minimizes_the_leave_one_out_score(kernel):
    K, n = kernel(np.vstack([XS, Z])), len(XS)

    def score(alpha):
        total = 0.0
        for i in range(n):
            b = np.concatenate([np.full(n, (1 - alpha) / (n - 1)), alpha * W])
            b[i] = 0.0
            total += naive.miss(K, i, b) / n
        return total

    alpha = SKMSE(target=(Z, W)).fit(XS, kernel).shrinkage
    grid = np.linspace(0, 1, 101)
    assert score(alpha) <= min(
        score(other) for other in (*grid, alpha - 1e-4, alpha + 1e-4) if 0 <= other <= 1
    )
    assert 0 < alpha <= 1


def test_target_at_the_boundaries():
    aim = (Z, W)
    f_star = MeanEmbedding(Z, W, Gaussian(1.1))
    everything = SKMSE(alpha=1.0, target=aim).fit(XS, Gaussian(1.1))
    assert everything.distance2(f_star) == pytest.approx(0.0, abs=1e-14)
    nothing = SKMSE(alpha=0.0, target=aim).fit(XS, Gaussian(1.1))
    assert nothing.distance2(KME().fit(XS, Gaussian(1.1))) == pytest.approx(0.0, abs=1e-14)
    # a target at the center of two opposite points: they vote against each other, and the target is all
    clamped = SKMSE(target=([[1.0]], [1.0])).fit([0.0, 2.0], Linear())
    assert clamped.shrinkage == 1.0
    np.testing.assert_array_equal(clamped.weights, [0.0, 0.0, 1.0])


def test_target_with_one_amount_for_two_samples():
    kernel, aim = Gaussian(1.1), SKMSE(target=(Z, W))
    shifted = []
    for sample in (XS, YS):
        F = kernel(sample, Z) @ W
        shifted.append(kernel(sample) - F[:, None] - F[None, :] + W @ kernel(Z) @ W)
    tuned = aim.tuned(kernel, XS, YS)
    assert tuned.target == aim.target
    assert tuned.alpha == pytest.approx(1 - naive.skmse_factor(*shifted), rel=1e-10)


def test_refusals():
    gram = np.eye(7)
    for kernel, other in (
        (Gaussian(1.0), Gaussian(1.1)),
        (Gaussian(1.0), Linear()),
        (Polynomial(2), Polynomial(3)),
        (Precomputed(gram), Precomputed(2 * gram)),
    ):
        points = np.arange(7) if isinstance(kernel, Precomputed) else XS
        first, second = KME().fit(points, kernel), KME().fit(points, other)
        for verb in (first.inner, first.distance2):
            with pytest.raises(ValueError, match="kernels differ"):
                verb(second)
    mean = MKME(variance=0.1).fit(XS, Gaussian(1.0))
    for call, error, name in (
        (
            lambda: KME().fit(XS, Linear()).inner(KME().fit(XS[:, :1], Linear())),
            ValueError,
            "other",
        ),
        (lambda: MeanEmbedding(np.ones((1, 1)), np.ones(2), Gaussian(1.0)), ValueError, "weights"),
        (lambda: mean.embedding(np.zeros((4, 3))), ValueError, "x has 3 columns"),
        (lambda: mean.embedding([[0.0, np.nan]]), ValueError, "missing"),
        (lambda: mean.embedding([["a", "b"]]), TypeError, "x must hold"),
    ):
        with pytest.raises(error, match=name):
            call()


def test_equal_matrices_lists_and_means_far_from_zero():
    gram, plain = np.eye(7), MeanEmbedding([[0.0], [1.0]], [0.5, 0.5], Gaussian(1.0))
    same = (
        KME().fit(np.arange(7), Precomputed(gram)),
        FKMSE(lam=1.0).fit(np.arange(7), Precomputed(gram.copy())),
    )
    assert same[0].inner(same[1]) == pytest.approx(1 / 14)
    assert (
        plain.embedding([0.5])[0] == pytest.approx(np.exp(-0.125)) and plain.distance2(plain) == 0.0
    )
    near, far = (
        [KME().fit(sample + start, Linear()) for sample in (XS, YS)] for start in (0.0, 1e8)
    )
    assert far[0].distance2(far[1]) == pytest.approx(near[0].distance2(near[1]), rel=1e-6)
    assert far[0].distance2(KME().fit(XS + 1e8, Linear())) == 0.0
