"""Exact risk: kernel means of mixtures by quadrature and simulation, losses, known risks, and errors."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import naive_risk as naive
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
)
from shrinktest.kernels import Custom
from shrinktest.risk import (
    NormalMixture,
    kme_risk,
    loss,
    oracle_shrinkage,
    shrinkage_risk,
    true_embedding,
)

WEIGHTS = np.array([0.2, 0.5, 0.3])
MEANS = np.array([[0.4, -1.0], [1.2, 0.3], [-0.7, 0.6]])
FULL = np.array([[[1.0, 0.4], [0.4, 0.5]], [[0.3, -0.1], [-0.1, 0.9]], [[0.6, 0.0], [0.0, 0.2]]])
DIAGONAL = np.array([np.diag(np.diag(s)) for s in FULL])
WIDTHS = (0.8, 2.5)
TWO, SQUARE = naive.gaussian(2.0), naive.polynomial(2, 1.0)
#: Kernel, its twin, and the order at which quadrature is exact, or as good as that.
KERNELS = {
    "linear": (Linear(), naive.linear, 4),
    "degree 1": (Polynomial(1, 0.7), naive.polynomial(1, 0.7), 4),
    "degree 2": (Polynomial(2, 1.0), naive.polynomial(2, 1.0), 4),
    "degree 3": (Polynomial(3, 2.5), naive.polynomial(3, 2.5), 4),
    "gaussian": (Gaussian(1.5), naive.gaussian(1.5), 32),
    "gaussian, per column": (Gaussian(WIDTHS), naive.gaussian(np.array(WIDTHS)), 48),
    "laplacian": (Laplacian(1.3), naive.laplacian(1.3), None),
    "laplacian, per column": (Laplacian(WIDTHS), naive.laplacian(np.array(WIDTHS)), None),
    "sum": (Gaussian(2.0) + 0.3 * Polynomial(2), lambda x, y: TWO(x, y) + 0.3 * SQUARE(x, y), 32),
}
AT = np.array([[0.0, 0.0], [1.5, -0.5], [-3.0, 2.0], [6.0, 9.0]])
SAMPLE = np.array([[0.1, -0.3], [1.1, 0.9], [-0.8, 0.2], [0.5, 0.5], [2.0, -1.5]])


def mixture(name):
    return WEIGHTS, MEANS, DIAGONAL if name.startswith("laplacian") else FULL


@functools.cache
def twins(name):
    """The kernel mean as a function of one point, and its squared norm."""
    kernel, twin, order = KERNELS[name]
    if order is not None:
        return lambda x: naive.mean_at(twin, x, mixture(name), order), naive.squared_norm(
            twin, mixture(name), order
        )
    widths = np.broadcast_to(kernel.bandwidth, (2,))
    norm = naive.laplacian_squared_norm(widths, mixture(name))
    return lambda x: naive.laplacian_mean_at(widths, x, mixture(name)), norm


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_means_losses_and_risks(name):
    """By quadrature and by loops."""
    kernel, twin, order = KERNELS[name]
    truth = true_embedding(mixture(name), kernel)
    at, norm = twins(name)
    diagonal = 1.0 if order is None else naive.expected_diagonal(twin, mixture(name), order)
    np.testing.assert_allclose(truth.evaluate(AT), [at(x) for x in AT], rtol=1e-9, atol=1e-12)
    assert truth.squared_norm == pytest.approx(norm, rel=1e-9)
    assert truth.expected_diagonal == pytest.approx(diagonal, rel=1e-12)
    for estimator in (KME(), SKMSE(), FKMSE(), SKMSE(alpha=0.3, target=([[0.0, 1.0]], [1.0]))):
        fitted = estimator.fit(SAMPLE, kernel)
        assert loss(fitted, truth) == pytest.approx(
            naive.loss(twin, fitted.points, fitted.weights, at, norm), rel=1e-8
        )


@pytest.mark.ci
@pytest.mark.parametrize("name", KERNELS)
def test_risks_are_those_of_simulation(name):
    kernel = KERNELS[name][0]
    truth = true_embedding(mixture(name), kernel)
    for n in (1, 6):
        rng = np.random.default_rng(n)
        samples = [truth.mixture.sample(rng, n) for _ in range(250)]
        for alpha in (0.0, 0.3):
            losses = [
                loss(MeanEmbedding(X, np.full(n, (1.0 - alpha) / n), kernel), truth)
                for X in samples
            ]
            risk = kme_risk(truth, n) if alpha == 0.0 else shrinkage_risk(truth, n, alpha)
            assert abs(np.mean(losses) - risk) < 4.5 * np.std(losses) / np.sqrt(len(losses))


@pytest.mark.parametrize(
    "kernel", [Polynomial(3, 1.0), Gaussian((0.8, 2.5, 1.1)), Laplacian((0.8, 2.5, 1.1))]
)
def test_kernel_means_in_three_dimensions_are_those_of_simulation(kernel):
    covariances = np.array(
        [
            [[1.0, 0.3, 0.1], [0.3, 0.8, -0.2], [0.1, -0.2, 0.6]],
            [[0.5, 0.1, 0], [0.1, 0.4, 0.2], [0, 0.2, 1]],
        ]
    )
    width = np.array([0.8, 2.5, 1.1])
    twin = naive.polynomial(3, 1.0) if isinstance(kernel, Polynomial) else naive.gaussian(width)
    if isinstance(kernel, Laplacian):
        covariances, twin = (
            np.array([np.diag(np.diag(s)) for s in covariances]),
            naive.laplacian(width),
        )
    law = np.array([0.3, 0.7]), np.array([[1.0, 0.0, -1.0], [-0.5, 0.5, 0.5]]), covariances
    points = np.array([[0.5, -0.5, 0.25], [1.0, -1.0, 2.0]])
    functions = [
        twin,
        lambda X, Y: twin(X, X),
        *(lambda X, Y, x=x: twin(x[None, :], Y) for x in points),
    ]
    means, errors = naive.simulated(np.random.default_rng(5), law, functions, 1_000_000)
    truth = true_embedding(law, kernel)
    exact = np.array([truth.squared_norm, truth.expected_diagonal, *truth.evaluate(points)])
    assert (np.abs(means - exact) <= 4.0 * errors + 1e-12).all() and (
        errors < 0.03 * np.abs(exact)
    ).all()


@pytest.mark.parametrize("width", [1.5, (1.2, 2.5)])
def test_losses_of_marginalized_estimates_are_those_of_noisy_copies(width):
    kernel, twin, law = Gaussian(width), naive.gaussian(np.array(width)), (WEIGHTS, MEANS, FULL)
    shared, at_weights = naive.mixture_nodes(law, 28)
    truth, norm = true_embedding(law, kernel), naive.squared_norm(twin, law, 28)
    for estimator in (MKME(), MKME(variance=0.0), MMKME(variances=(0.4, 0.1))):
        fitted = estimator.fit(SAMPLE, kernel)
        variances = np.array(fitted.smoothing)
        points, weights = naive.noisy(SAMPLE, fitted.weights, np.maximum(variances, 1e-14), 16)
        own = sum(
            b * weights @ twin(x[None, :], points) for x, b in zip(points, weights, strict=True)
        )
        cross = sum(
            b * at_weights @ twin(x[None, :], shared) for x, b in zip(points, weights, strict=True)
        )
        expected = own - 2 * cross + norm
        assert loss(fitted, truth) == pytest.approx(expected, rel=1e-7)
        if (
            variances.any()
        ):  # what [X20] prints would take the noisy copies for the points (erratum E28)
            plain = dataclasses.replace(fitted, smoothing=None)
            assert abs(loss(plain, truth) - expected) > 1e-3 * expected
    smooth = true_embedding(
        (np.full(5, 0.2), SAMPLE, np.broadcast_to(0.3 * np.eye(2), (5, 2, 2))), Gaussian(1.0)
    )
    assert loss(MKME(variance=0.3).fit(SAMPLE, Gaussian(1.0)), smooth) == pytest.approx(
        0.0, abs=1e-14
    )


def test_the_oracle_minimizes_the_risk():
    truth = true_embedding((WEIGHTS, MEANS, FULL), Gaussian(1.0))
    target = KME().fit([[0.0, 0.0], [1.0, 1.0]], Gaussian(1.0))
    for given in ({}, {"target": target}):
        oracle = oracle_shrinkage(truth, 7, **given)
        grid = [shrinkage_risk(truth, 7, alpha, **given) for alpha in np.linspace(0.0, 1.0, 1001)]
        assert (
            0.0 < oracle.risk <= min(grid) <= oracle.risk * 1.0001 < grid[0] == kme_risk(truth, 7)
        )
        assert shrinkage_risk(truth, 7, oracle.alpha, **given) == pytest.approx(
            oracle.risk, rel=1e-12
        )
    assert (
        oracle_shrinkage(truth, 7, target).risk < oracle_shrinkage(truth, 7).risk
    )  # a target near the mean helps
    assert oracle_shrinkage(true_embedding(([1.0], [[0.0]], [[[1.0]]]), Linear()), 5) == (
        1.0,
        0.0,
    )  # a mean of zero
    linear = true_embedding(([1.0], MEANS[:1], FULL[:1]), Linear())
    assert kme_risk(linear, 8) == pytest.approx(np.trace(FULL[0]) / 8, rel=1e-14)


def test_a_mixture_is_a_value():
    given = WEIGHTS.copy(), MEANS.copy(), FULL.copy()
    law = NormalMixture(*given)
    given[1][0, 0] = 99.0
    assert (
        law.means[0, 0] == MEANS[0, 0]
        and repr(law) == "NormalMixture(3 components in 2 dimensions)"
    )
    many = law.sample(0, 20000)
    np.testing.assert_array_equal(law.sample(4, 5), law.sample(4, 5))
    np.testing.assert_allclose(many.mean(axis=0), WEIGHTS @ MEANS, atol=0.04)
    spread = np.einsum("c,cde->de", WEIGHTS, FULL) + np.cov(MEANS.T, aweights=WEIGHTS, bias=True)
    np.testing.assert_allclose(np.cov(many.T), spread, atol=0.05)


TRUTH = true_embedding((WEIGHTS, MEANS, FULL), Gaussian(1.0))


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (
            lambda: NormalMixture([0.0, 0.5, 0.5], MEANS, FULL),
            ValueError,
            "weights must be positive",
        ),
        (lambda: NormalMixture([0.2, 0.2, 0.2], MEANS, FULL), ValueError, "weights"),
        (
            lambda: NormalMixture([0.5, 0.5], MEANS, FULL),
            ValueError,
            r"\(2,\), \(3, 2\) and \(3, 2, 2\)",
        ),
        (lambda: NormalMixture(WEIGHTS, MEANS, np.eye(2)), ValueError, "covariances"),
        (
            lambda: NormalMixture(WEIGHTS, MEANS, np.ones((3, 2, 2))),
            ValueError,
            r"covariances\[0\] is not positive",
        ),
        (
            lambda: NormalMixture(WEIGHTS, MEANS, [*FULL[:2], [[1.0, 0.3], [0.1, 1.0]]]),
            ValueError,
            "not symmetric",
        ),
        (
            lambda: true_embedding((WEIGHTS, MEANS, FULL), Custom(lambda X, Y: X @ Y.T)),
            ValueError,
            "no closed form",
        ),
        (
            lambda: true_embedding((WEIGHTS, MEANS, FULL), Laplacian(1.0)),
            ValueError,
            r"diagonal .* covariances\[0\]",
        ),
        (
            lambda: true_embedding((WEIGHTS, MEANS, FULL), "gaussian"),
            ValueError,
            "has no number yet",
        ),
        (
            lambda: loss(KME().fit(SAMPLE), TRUTH),
            ValueError,
            r"true_embedding\(mixture, embedding.kernel\)",
        ),
        (lambda: shrinkage_risk(TRUTH, 3, -0.1), ValueError, "alpha"),
    ],
)
def test_errors_name_the_argument(call, error, named):
    with pytest.raises(error, match=named):
        call()
