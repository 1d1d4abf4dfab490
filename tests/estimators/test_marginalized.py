"""Marginalised estimators: score, gradient, minimisers, and what the smoothed embedding is."""

from __future__ import annotations

import numpy as np
import pytest

from naive_kernels import (
    corrupted,
    linear_surrogate,
    linear_surrogate_second_order,
    marginalized_gradient,
    marginalized_loocv,
    mkme_tuned,
    mmkme_tuned,
    smoothed_inner,
    smoothed_mean,
)
from shrinktest import KME, MKME, MMKME, Gaussian


def points(n, d, seed=0):
    """Columns of different spread, so that each wants its own noise."""
    return np.random.default_rng([seed, n, d]).normal(size=(n, d)) * np.linspace(1.0, 2.0, d)


SAMPLES = {
    "line": (points(12, 1), 0.8),
    "plane": (points(11, 2), 1.0),
    "wide": (points(8, 3), 20.0),
    "narrow": (points(8, 3), 0.3),
    "two points": (points(2, 2), 1.0),
    "duplicates": (np.repeat(points(5, 2), 2, axis=0), 1.0),
    "per column": (points(9, 3), (0.5, 1.0, 4.0)),
    "unused column": (np.column_stack([points(8, 1), np.full(8, 3.0)]), 1.0),
    "two scales": (np.concatenate([points(6, 2) * 0.01, 30.0 + points(6, 2)]), 1.0),
}
every_sample = pytest.mark.parametrize("kind", SAMPLES)


def squares(bandwidth):
    return np.square(bandwidth)


# --- the score and its gradient -----------------------------------------------------------------------------


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
    score, gradient = MKME().loocv(X, Gaussian(bandwidth), variance)  # one number stands for all coordinates
    assert score == pytest.approx(marginalized_loocv(X, th2, variance), rel=1e-11)
    assert gradient.sum() == pytest.approx(variance * marginalized_gradient(X, th2, variance), rel=1e-6, abs=1e-9)


@every_sample
def test_score_without_noise_is_that_of_the_plain_mean(kind):
    X, bandwidth = SAMPLES[kind]
    n, K = len(X), Gaussian(bandwidth)(X)
    score, gradient = MMKME().loocv(X, Gaussian(bandwidth), 0.0)
    assert score == pytest.approx((n / (n - 1)) ** 2 * (1 - K.mean()), rel=1e-11)
    np.testing.assert_array_equal(gradient, np.zeros(X.shape[1]))


# --- tuned noise --------------------------------------------------------------------------------------------


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


@every_sample
def test_a_variance_per_coordinate(kind):
    X, bandwidth = SAMPLES[kind]
    th2 = np.broadcast_to(squares(bandwidth), X.shape[1])
    mean = MMKME().fit(X, Gaussian(bandwidth))
    found = np.array(mean.smoothing)
    assert mean.shrinkage == mean.smoothing
    score, gradient = MMKME().loocv(X, Gaussian(bandwidth), found)
    assert score <= mmkme_tuned(X, th2, starts=2)[1] + 1e-9
    assert score <= marginalized_loocv(X, th2, MKME().fit(X, Gaussian(bandwidth)).shrinkage) + 1e-15
    logs = np.log(found / th2)
    assert (logs > -12 - 1e-9).all()
    assert (logs < 6 + 1e-9).all()
    stationary = np.abs(gradient) < 1e-6
    assert (stationary | ((logs < -12 + 1e-9) & (gradient > 0)) | ((logs > 6 - 1e-9) & (gradient < 0))).all()


def test_several_starts():
    """The score has several minima; a descent from the common variance alone ends in the worse one here."""
    for seed in (6, 20, 25):
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
    assert score(common) <= min(score(v) for v in common * np.exp([-1.0, -0.3, -1e-3, 1e-3, 0.3, 1.0]))
    assert score(common) <= min(score(v) for v in np.exp(np.linspace(-8, 5, 60))) + 1e-13
    each = np.array(MMKME().tuned(kernel, X, Y).variances)
    assert score(each) <= score(common) + 1e-15
    for j in range(d):
        for step in (-1e-2, 1e-2):
            moved = each.copy()
            moved[j] *= 1 + step
            assert score(each) <= score(moved)
    for estimator in (MKME(), MMKME()):
        assert estimator.tuned(kernel, X, Y).noise(d) == pytest.approx(estimator.tuned(kernel, Y, X).noise(d), rel=1e-6)


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
    assert MKME().loocv(X, kernel, MKME().fit(X, kernel).shrinkage)[0] < MKME().loocv(X, kernel, 0.0)[0]


def test_nothing_to_tune_and_units():
    (line, of_line), (plane, bandwidth), (each, widths) = (SAMPLES[kind] for kind in ("line", "plane", "per column"))
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
    np.testing.assert_allclose(np.array(apart.smoothing) / squares(widths), scaled.smoothing, rtol=1e-5)
    assert MMKME().fit(line, Gaussian(of_line)).smoothing == MKME().fit(line, Gaussian(of_line)).smoothing


# --- the smoothed embedding ---------------------------------------------------------------------------------

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
    np.testing.assert_allclose(mean.embedding(Y), [smoothed_mean(y, X, NOISE, TH2) for y in Y], rtol=1e-12)


def test_features_are_two_noisy_copies():
    tuned = MKME().fit(X, KERNEL).shrinkage
    for estimator, noise in ((MMKME(variances=NOISE), NOISE), (MKME(variance=OTHER), OTHER), (MKME(), tuned)):
        np.testing.assert_allclose(estimator.features(KERNEL, X)(X, Y), corrupted(X, Y, TH2, 2 * noise), rtol=1e-12)
    for estimator in (MKME(variance=0.0), MMKME(variances=(0.0, 0.0))):
        np.testing.assert_array_equal(estimator.fit(X, KERNEL).embedding(Y), KME().fit(X, KERNEL).embedding(Y))


# --- the linear surrogate -----------------------------------------------------------------------------------


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


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("estimator", [MKME(), MMKME()], ids=repr)
def test_bandwidths_out_of_range(estimator, size):
    with pytest.raises(ValueError, match="multiply the data"):
        estimator.fit(points(9, 2) * size, Gaussian())


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
