"""Exact risk: kernel means of mixtures by quadrature and simulation, losses, known risks, and bad input."""

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
    Precomputed,
)
from shrinktest.kernels import Custom
from shrinktest.risk import NormalMixture, kme_risk, loss, oracle_shrinkage, shrinkage_risk, true_embedding

WEIGHTS = np.array([0.2, 0.5, 0.3])
MEANS = np.array([[0.4, -1.0], [1.2, 0.3], [-0.7, 0.6]])
FULL = np.array([[[1.0, 0.4], [0.4, 0.5]], [[0.3, -0.1], [-0.1, 0.9]], [[0.6, 0.0], [0.0, 0.2]]])
DIAGONAL = np.array([np.diag(np.diag(s)) for s in FULL])
WIDTHS = (0.8, 2.5)

#: Kernel, its twin, and the order at which quadrature is exact, or as good as that.
KERNELS = {
    "linear": (Linear(), naive.linear, 4),
    "degree 1": (Polynomial(1, 0.7), naive.polynomial(1, 0.7), 4),
    "degree 2": (Polynomial(2, 1.0), naive.polynomial(2, 1.0), 4),
    "degree 2, no offset": (Polynomial(2, 0.0), naive.polynomial(2, 0.0), 4),
    "degree 3": (Polynomial(3, 1.0), naive.polynomial(3, 1.0), 4),
    "degree 3, offset 2.5": (Polynomial(3, 2.5), naive.polynomial(3, 2.5), 4),
    "gaussian": (Gaussian(1.5), naive.gaussian(1.5), 32),
    "gaussian, per column": (Gaussian(WIDTHS), naive.gaussian(np.array(WIDTHS)), 48),
    "laplacian": (Laplacian(1.3), naive.laplacian(1.3), None),
    "laplacian, per column": (Laplacian(WIDTHS), naive.laplacian(np.array(WIDTHS)), None),
    "sum": (Gaussian(2.0) + 0.3 * Polynomial(2), lambda x, y: TWO(x, y) + 0.3 * SQUARE(x, y), 32),
}
TWO, SQUARE = naive.gaussian(2.0), naive.polynomial(2, 1.0)
every_kernel = pytest.mark.parametrize("name", KERNELS)
AT = np.array([[0.0, 0.0], [1.5, -0.5], [-3.0, 2.0], [6.0, 9.0]])


def mixture(name):
    return WEIGHTS, MEANS, DIAGONAL if name.startswith("laplacian") else FULL


@functools.cache
def twins(name):
    """The kernel mean as a function of one point, and its squared norm."""
    kernel, twin, order = KERNELS[name]
    if order is not None:
        return lambda x: naive.mean_at(twin, x, mixture(name), order), naive.squared_norm(twin, mixture(name), order)
    widths = np.broadcast_to(kernel.bandwidth, (2,))
    return lambda x: naive.laplacian_mean_at(widths, x, mixture(name)), naive.laplacian_squared_norm(
        widths, mixture(name)
    )


# --- kernel means -------------------------------------------------------------------------------------------


@every_kernel
def test_kernel_means_are_those_of_quadrature(name):
    kernel, twin, order = KERNELS[name]
    truth = true_embedding(mixture(name), kernel)
    at, norm = twins(name)
    diagonal = 1.0 if order is None else naive.expected_diagonal(twin, mixture(name), order)
    np.testing.assert_allclose(truth.evaluate(AT), [at(x) for x in AT], rtol=1e-9, atol=1e-12)
    assert truth.squared_norm == pytest.approx(norm, rel=1e-9)
    assert truth.expected_diagonal == pytest.approx(diagonal, rel=1e-12)


LAWS = {
    "full": (
        np.array([0.3, 0.7]),
        np.array([[1.0, 0.0, -1.0], [-0.5, 0.5, 0.5]]),
        np.array(
            [[[1.0, 0.3, 0.1], [0.3, 0.8, -0.2], [0.1, -0.2, 0.6]], [[0.5, 0.1, 0.0], [0.1, 0.4, 0.2], [0, 0.2, 1]]]
        ),
    ),
}
LAWS["diagonal"] = (*LAWS["full"][:2], np.array([np.diag(np.diag(s)) for s in LAWS["full"][2]]))


@every_kernel
def test_kernel_means_are_those_of_simulation(name):
    kernel, twin, _ = KERNELS[name]
    if "per column" in name:
        kernel, width = type(kernel)((0.8, 2.5, 1.1)), np.array([0.8, 2.5, 1.1])
        twin = naive.laplacian(width) if name.startswith("laplacian") else naive.gaussian(width)
    law = LAWS["diagonal" if name.startswith("laplacian") else "full"]
    points = np.array([[0.5, -0.5, 0.25], [1.0, -1.0, 2.0]])
    functions = [twin, lambda X, Y: twin(X, X), *(lambda X, Y, x=x: twin(x[None, :], Y) for x in points)]
    means, errors = naive.simulated(np.random.default_rng(5), law, functions, 2_000_000)
    truth = true_embedding(law, kernel)
    exact = np.array([truth.squared_norm, truth.expected_diagonal, *truth.evaluate(points)])
    assert (np.abs(means - exact) <= 4.0 * errors + 1e-12).all(), (means - exact) / errors
    assert (errors < 0.02 * np.abs(exact)).all()  # so that agreement says something


def test_far_points_and_narrow_kernels_neither_overflow_nor_warn():
    far = [[-1e6, 1e6], [300.0, -40.0], [0.4, -1.0]]
    for kernel in (Gaussian(1e-3), Gaussian(1e4), Laplacian(1e-3), Laplacian(1e4)):
        values = true_embedding((WEIGHTS, MEANS, DIAGONAL), kernel).evaluate(far)
        assert (values >= 0.0).all() and (values <= 1.0).all() and values[2] > 0.0
    wide = true_embedding((WEIGHTS, MEANS, DIAGONAL), Laplacian(1e4))
    assert wide.squared_norm == pytest.approx(1.0, abs=1e-3)


def test_the_tail_of_the_laplacian_mean_keeps_its_digits():
    law = [1.0], [[0.0]], [[[0.25]]]
    x = np.array([0.0, 0.124, 0.126, 1.0, 5.0, 60.0, 600.0])  # on both sides of where the formula changes
    truth = true_embedding(law, Laplacian(2.0))
    twin = [naive.laplacian_mean_at([2.0], [one], law) for one in x]
    np.testing.assert_allclose(truth.evaluate(x), twin, rtol=1e-10)
    np.testing.assert_allclose(truth.evaluate(-x), truth.evaluate(x), rtol=1e-14)


def test_many_dimensions_work_with_logarithms():
    d = 400
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((d, 7))
    law = [1.0], np.zeros((1, d)), (50.0 * (factor @ factor.T) + 0.2 * np.eye(d))[None]
    truth = true_embedding(law, Gaussian(100.0))
    spectrum = np.linalg.eigvalsh(law[2][0])
    assert truth.squared_norm == pytest.approx(np.exp(-0.5 * np.log1p(2.0 * spectrum / 1e4).sum()), rel=1e-9)


# --- losses -------------------------------------------------------------------------------------------------

SAMPLE = np.array([[0.1, -0.3], [1.1, 0.9], [-0.8, 0.2], [0.5, 0.5], [2.0, -1.5]])


@every_kernel
@pytest.mark.parametrize("estimator", [KME(), SKMSE(), FKMSE(), SKMSE(alpha=0.3, target=([[0.0, 1.0]], [1.0]))])
def test_losses_of_weights_are_those_of_loops(name, estimator):
    kernel, twin, _ = KERNELS[name]
    truth = true_embedding(mixture(name), kernel)
    fitted = estimator.fit(SAMPLE, kernel)
    expected = naive.loss(twin, fitted.points, fitted.weights, *twins(name))
    assert loss(fitted, truth) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("width", [1.5, (1.2, 2.5)])
@pytest.mark.parametrize("estimator", [MKME(), MKME(variance=0.0), MMKME(variances=(0.4, 0.1)), MMKME()])
def test_losses_of_marginalised_estimates_are_those_of_noisy_copies(width, estimator):
    kernel, twin = Gaussian(width), naive.gaussian(np.array(width))
    fitted = estimator.fit(SAMPLE, kernel)
    variances = np.array(fitted.smoothing)
    points, weights = naive.noisy(SAMPLE, fitted.weights, np.maximum(variances, 1e-14), 24)
    law = WEIGHTS, MEANS, FULL
    shared, at_weights = naive.mixture_nodes(law, 40)
    own = sum(b * weights @ twin(x[None, :], points) for x, b in zip(points, weights, strict=True))
    cross = sum(b * at_weights @ twin(x[None, :], shared) for x, b in zip(points, weights, strict=True))
    expected = own - 2 * cross + naive.squared_norm(twin, law, 40)
    truth = true_embedding(law, kernel)
    assert loss(fitted, truth) == pytest.approx(expected, rel=1e-7)
    if variances.any():  # what [X20] prints would take the noisy copies for the points (erratum E28)
        plain = dataclasses.replace(fitted, smoothing=None)
        assert abs(loss(plain, truth) - expected) > 1e-3 * expected


def test_a_sample_of_the_whole_distribution_has_no_loss():
    """A mixture of narrow components around the points is, but for their width, what the points stand for."""
    narrow = np.full(len(SAMPLE), 1.0 / len(SAMPLE)), SAMPLE, np.broadcast_to(1e-12 * np.eye(2), (len(SAMPLE), 2, 2))
    truth = true_embedding(narrow, Gaussian(1.0))
    assert loss(KME().fit(SAMPLE, Gaussian(1.0)), truth) == pytest.approx(0.0, abs=1e-11)
    smooth = true_embedding((narrow[0], SAMPLE, np.broadcast_to(0.3 * np.eye(2), (5, 2, 2))), Gaussian(1.0))
    assert loss(MKME(variance=0.3).fit(SAMPLE, Gaussian(1.0)), smooth) == pytest.approx(0.0, abs=1e-14)


# --- known risks --------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("n", [1, 6])
def test_risks_are_mean_losses(name, n):
    kernel, _, _ = KERNELS[name]
    truth = true_embedding(mixture(name), kernel)
    rng = np.random.default_rng(n)
    samples = [truth.mixture.sample(rng, n) for _ in range(800)]
    for alpha in (0.0, 0.3):
        losses = [loss(MeanEmbedding(X, np.full(n, (1.0 - alpha) / n), kernel), truth) for X in samples]
        risk = kme_risk(truth, n) if alpha == 0.0 else shrinkage_risk(truth, n, alpha)
        assert abs(np.mean(losses) - risk) < 4.0 * np.std(losses) / np.sqrt(len(losses))


def test_the_oracle_minimises_the_risk():
    truth = true_embedding((WEIGHTS, MEANS, FULL), Gaussian(1.0))
    target = KME().fit([[0.0, 0.0], [1.0, 1.0]], Gaussian(1.0))
    for given in ({}, {"target": target}):
        oracle = oracle_shrinkage(truth, 7, **given)
        grid = [shrinkage_risk(truth, 7, alpha, **given) for alpha in np.linspace(0.0, 1.0, 1001)]
        assert oracle.risk <= min(grid) <= oracle.risk * 1.0001
        assert shrinkage_risk(truth, 7, oracle.alpha, **given) == pytest.approx(oracle.risk, rel=1e-12)
        assert 0.0 < oracle.risk < kme_risk(truth, 7) == shrinkage_risk(truth, 7, 0.0, **given)
    assert oracle_shrinkage(truth, 7, target).risk < oracle_shrinkage(truth, 7).risk  # a target near the mean helps
    near_one = oracle_shrinkage(true_embedding(([1.0], [[0.0]], [[[1.0]]]), Linear()), 5)
    assert near_one == (1.0, 0.0)  # a mean of zero


def test_the_risk_of_the_mean_of_a_linear_kernel_is_variance_over_n():
    truth = true_embedding(([1.0], MEANS[:1], FULL[:1]), Linear())
    assert kme_risk(truth, 8) == pytest.approx(np.trace(FULL[0]) / 8, rel=1e-14)


# --- bad input ----------------------------------------------------------------------------------------------

WRONG = {
    "zero weight": ([0.0, 0.5, 0.5], MEANS, FULL, "weights must be positive: that of component 0 is 0"),
    "negative weight": ([0.7, 0.5, -0.2], MEANS, FULL, "that of component 2 is -0.2"),
    "sum": ([0.2, 0.2, 0.2], MEANS, FULL, "weights must have sum 1, and theirs is 0.6"),
    "shapes": ([0.5, 0.5], MEANS, FULL, r"found shapes \(2,\), \(3, 2\) and \(3, 2, 2\)"),
    "dimensions": (WEIGHTS, MEANS, np.ones((3, 3, 3)), r"\(3, 3, 3\)"),
    "one matrix": (WEIGHTS, MEANS, np.eye(2), r"covariances must have shape \(k, d, d\)"),
    "empty": ([], np.empty((0, 2)), np.empty((0, 2, 2)), "at least one entry"),
    "singular": (
        WEIGHTS,
        MEANS,
        np.ones((3, 2, 2)),
        r"covariances\[0\] is not positive definite.*add a small multiple",
    ),
    "indefinite": (WEIGHTS, MEANS, [*FULL[:2], np.diag([1.0, -1.0])], r"covariances\[2\] is not positive definite"),
    "asymmetric": (
        WEIGHTS,
        MEANS,
        [FULL[0], [[1.0, 0.3], [0.1, 1.0]], FULL[2]],
        r"\[0, 1\] and \[1, 0\] differ by 0.2",
    ),
    "nan": (WEIGHTS, np.where(MEANS == 1.2, np.nan, MEANS), FULL, r"means must be finite; entry \(1, 0\) is not"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_mixture_is_refused(case):
    *arrays, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        true_embedding(arrays, Linear())


@pytest.mark.parametrize("given", ["abc", 3.0, (WEIGHTS, MEANS), None])
def test_what_is_no_triple_is_refused(given):
    with pytest.raises(TypeError, match="a NormalMixture or a triple"):
        true_embedding(given, Linear())


@pytest.mark.parametrize("mean", ["a", "1", 1j])
def test_text_is_no_mean(mean):
    with pytest.raises(TypeError, match="means must be an array of numbers"):
        NormalMixture([1.0], [[mean]], [[[1.0]]])


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(4),
        Gaussian(1.0) * Linear(),
        Precomputed(np.eye(2)),
        Custom(lambda X, Y: X @ Y.T),
        2.0 * Polynomial(5),
    ],
)
def test_kernels_without_a_closed_form_name_those_with_one(kernel):
    with pytest.raises(
        ValueError, match=r"has no closed form.*Linear, Polynomial of degree 1 to 3, Gaussian, Laplacian"
    ):
        true_embedding((WEIGHTS, MEANS, FULL), kernel)


def test_kernels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"diagonal covariances only, and covariances\[0\] has other entries"):
        true_embedding((WEIGHTS, MEANS, FULL), Laplacian(1.0))
    with pytest.raises(ValueError, match="has no number yet"):
        true_embedding((WEIGHTS, MEANS, FULL), "gaussian")
    with pytest.raises(ValueError, match="bandwidth has 3 entries"):
        true_embedding((WEIGHTS, MEANS, FULL), Gaussian((1.0, 2.0, 3.0)))


def test_losses_need_one_space():
    truth = true_embedding((WEIGHTS, MEANS, FULL), Gaussian(1.0))
    with pytest.raises(ValueError, match=r"true_embedding\(mixture, embedding.kernel\)"):
        loss(KME().fit(SAMPLE), truth)
    with pytest.raises(ValueError, match="points has 1 column, the mixture has dimension 2"):
        loss(KME().fit([0.0, 1.0], Gaussian(1.0)), truth)


def test_what_is_no_estimate_and_no_truth():
    truth, mean = true_embedding((WEIGHTS, MEANS, FULL), Gaussian(1.0)), KME().fit(SAMPLE, Gaussian(1.0))
    for call in (
        lambda: loss(SAMPLE, truth),
        lambda: truth.inner(SAMPLE),
        lambda: shrinkage_risk(truth, 3, 0.1, truth),
    ):
        with pytest.raises(TypeError, match=r"embedding must be a MeanEmbedding, as fit\(\) returns it; got"):
            call()
    for call in (lambda: loss(truth, mean), lambda: kme_risk(mean, 3), lambda: oracle_shrinkage(mean, 3)):
        with pytest.raises(TypeError, match=r"truth must be what true_embedding\(\) returns; got MeanEmbedding"):
            call()


def test_risks_need_a_size_and_an_amount():
    truth = true_embedding((WEIGHTS, MEANS, FULL), Gaussian(1.0))
    with pytest.raises(ValueError, match="n must be an integer >= 1, got 0"):
        kme_risk(truth, 0)
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0"):
        shrinkage_risk(truth, 3, -0.1)


def test_a_mixture_is_a_value():
    given = WEIGHTS.copy(), MEANS.copy(), FULL.copy()
    law = NormalMixture(*given)
    given[1][0, 0] = 99.0
    assert law.means[0, 0] == MEANS[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        law.weights[0] = 1.0
    assert repr(law) == "NormalMixture(3 components in 2 dimensions)"
    np.testing.assert_array_equal(law.sample(4, 5), law.sample(4, 5))
    many = law.sample(0, 20000)
    np.testing.assert_allclose(many.mean(axis=0), WEIGHTS @ MEANS, atol=0.04)
    within = np.einsum("c,cde->de", WEIGHTS, FULL)
    between = np.cov(MEANS.T, aweights=WEIGHTS, bias=True)
    np.testing.assert_allclose(np.cov(many.T), within + between, atol=0.05)
