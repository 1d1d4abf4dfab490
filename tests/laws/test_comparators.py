"""Agreement with independent packages; skipped where these are not installed (``pip install '.[compare]'``)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist, pdist

from shrinktest import Gaussian, Precomputed, independence_test, two_sample_test

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(0.25, 1.0, size=(30, 2))
PAIR = 0.35 * X[:, :1] ** 2 + RNG.normal(size=(40, 1))


def distance_kernel(*samples):
    """k(x, y) = |x| + |y| - |x - y| on the rows of all samples: MMD^2 is then the energy distance."""
    Z = np.vstack(samples)
    size = np.linalg.norm(Z, axis=1)
    return Precomputed(size[:, None] + size[None, :] - cdist(Z, Z))


def rows(*sizes):
    """Row numbers of the samples, as a precomputed kernel wants them."""
    return np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])


def test_unbiased_mmd_is_that_of_frouros():
    detectors = pytest.importorskip("frouros.detectors.data_drift")
    kernels = pytest.importorskip("frouros.utils.kernels")
    sigma = float(np.median(pdist(np.vstack([X, Y]))))
    detector = detectors.MMD(kernel=partial(kernels.rbf_kernel, sigma=sigma))
    detector.fit(X)
    expected, _ = detector.compare(Y)
    ours = two_sample_test(X, Y, form="unbiased", n_resamples=0)
    assert ours.bandwidth == pytest.approx(sigma, rel=1e-12)
    assert ours.statistic == pytest.approx(expected.distance, rel=1e-12)


def test_p_value_of_frouros_within_monte_carlo_error():
    detectors = pytest.importorskip("frouros.detectors.data_drift")
    callbacks = pytest.importorskip("frouros.callbacks")
    kernels = pytest.importorskip("frouros.utils.kernels")
    ours = two_sample_test(X, Y, form="unbiased", n_resamples=1999, rng=0)
    permutations = callbacks.PermutationTestDistanceBased(
        num_permutations=1000, num_jobs=1, method="conservative", random_state=0
    )
    detector = detectors.MMD(
        kernel=partial(kernels.rbf_kernel, sigma=ours.bandwidth), callbacks=permutations
    )
    detector.fit(X)
    _, logs = detector.compare(Y)
    theirs = logs["PermutationTestDistanceBased"]["p_value"]
    assert abs(theirs - ours.pvalue) < 4 * np.sqrt(
        ours.pvalue * (1 - ours.pvalue) * (1 / 1000 + 1 / 1999)
    )


def test_energy_distance_is_that_of_dcor():
    dcor = pytest.importorskip("dcor")
    first, second = rows(len(X), len(Y))
    ours = two_sample_test(
        first, second, kernel=distance_kernel(X, Y), form="biased", n_resamples=0
    )
    assert ours.statistic == pytest.approx(dcor.energy_distance(X, Y), rel=1e-10)
    theirs = dcor.homogeneity.energy_test(X, Y, num_resamples=0).statistic
    scale = len(X) * len(Y) / (len(X) + len(Y))
    assert scale * ours.statistic == pytest.approx(theirs, rel=1e-10)


def test_energy_p_value_of_dcor_within_monte_carlo_error():
    dcor = pytest.importorskip("dcor")
    first, second = rows(len(X), len(Y))
    ours = two_sample_test(
        first, second, kernel=distance_kernel(X, Y), form="biased", n_resamples=1999, rng=0
    )
    theirs = dcor.homogeneity.energy_test(X, Y, num_resamples=1999, random_state=0).pvalue
    assert abs(theirs - ours.pvalue) < 4 * np.sqrt(ours.pvalue * (1 - ours.pvalue) * 2 / 1999)


def test_distance_covariance_is_that_of_dcor():
    dcor = pytest.importorskip("dcor")
    numbers = np.arange(len(X))
    both = [
        independence_test(
            numbers,
            numbers,
            kernel_x=distance_kernel(X),
            kernel_y=distance_kernel(PAIR),
            form=form,
            n_resamples=0,
        ).statistic
        for form in ("biased", "unbiased")
    ]
    assert both[0] == pytest.approx(dcor.distance_covariance_sqr(X, PAIR), rel=1e-10)
    assert both[1] == pytest.approx(dcor.u_distance_covariance_sqr(X, PAIR), rel=1e-9)


@pytest.mark.parametrize("form", ["biased", "unbiased"])
def test_monte_carlo_p_value_of_scipy_within_its_error(form):
    m, n = 12, 9
    ours = two_sample_test(X[:m], Y[:n], form=form, n_resamples=1999, rng=0)
    G = Gaussian(ours.bandwidth)(np.vstack([X[:m], Y[:n]]))

    def statistic(i, j):
        i, j = i.astype(int), j.astype(int)
        within = [G[np.ix_(k, k)] for k in (i, j)]
        if form == "unbiased":
            means = [(K.sum() - np.trace(K)) / (len(K) * (len(K) - 1)) for K in within]
        else:
            means = [K.mean() for K in within]
        return sum(means) - 2 * G[np.ix_(i, j)].mean()

    theirs = stats.permutation_test(
        (np.arange(m), np.arange(m, m + n)),
        statistic,
        n_resamples=1999,
        alternative="greater",
        vectorized=False,
        random_state=np.random.default_rng(1),
    )
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert abs(theirs.pvalue - ours.pvalue) < 4 * np.sqrt(
        ours.pvalue * (1 - ours.pvalue) * 2 / 1999
    )


def test_energy_statistic_of_scipy_in_one_dimension():
    x, y = X[:, 0], Y[:, 0]
    first, second = rows(len(x), len(y))
    kernel = distance_kernel(x[:, None], y[:, None])
    ours = two_sample_test(first, second, kernel=kernel, form="biased", n_resamples=0)
    assert np.sqrt(ours.statistic) == pytest.approx(stats.energy_distance(x, y), rel=1e-10)


def test_dependence_with_the_kernel_of_distances_is_the_distance_correlation_of_dcor():
    dcor = pytest.importorskip("dcor")
    x, y = X[: len(Y)], Y
    effect = independence_test(x, y, kernel_x="energy", kernel_y="energy", n_resamples=0).effect()
    assert effect.dependence == pytest.approx(dcor.u_distance_correlation_sqr(x, y), rel=1e-9)
