"""Densities by kernel mean matching, and kernels on distributions: closed forms against quadrature and sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import naive
import naive_applications
import naive_kernels
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
from shrinktest.applications import DistributionKernel, KernelMeanMatching, inner_products
from shrinktest.applications._matching import Matching
from shrinktest.applications._mixtures import Mixture

RNG = np.random.default_rng(13)
POINTS, B = RNG.normal(size=(5, 2)), np.array([0.3, 0.25, -0.1, 0.35, 0.1])
MIXTURE = Mixture(np.array([0.5, 0.2, 0.3]), RNG.normal(size=(3, 2)), np.array([0.3, 0.8, 0.5]))
WIDE, NARROW = 1.7, 1.1
ROWS = {
    Linear(): lambda x, y: np.sum(x * y, axis=1),
    Polynomial(1, 0.5): lambda x, y: np.sum(x * y, axis=1) + 0.5,
    Polynomial(2): lambda x, y: (np.sum(x * y, axis=1) + 1.0) ** 2,
    Polynomial(2, 0.3): lambda x, y: (np.sum(x * y, axis=1) + 0.3) ** 2,
    Polynomial(3): lambda x, y: (np.sum(x * y, axis=1) + 1.0) ** 3,
    Polynomial(3, 0.0): lambda x, y: np.sum(x * y, axis=1) ** 3,
    Gaussian(WIDE): lambda x, y: np.exp(-np.sum((x - y) ** 2, axis=1) / (2 * WIDE**2)),
    Gaussian((WIDE, NARROW)): lambda x, y: np.exp(
        -np.sum(((x - y) / [WIDE, NARROW]) ** 2, axis=1) / 2
    ),
}
EMBEDDINGS = {repr(kernel): (MeanEmbedding(POINTS, B, kernel), kernel) for kernel in ROWS}
for smoothed in (Gaussian(WIDE), Gaussian((WIDE, NARROW))):
    EMBEDDINGS[f"{smoothed!r}, noise"] = (
        MeanEmbedding(POINTS, B, smoothed, smoothing=(0.3, 0.1)),
        smoothed,
    )


@pytest.fixture(params=EMBEDDINGS)
def embedding(request):
    return EMBEDDINGS[request.param][0]


def blobs(rng, n):
    """Two groups in the plane, the first with 0.3 of the points."""
    first = rng.random(n) < 0.3
    centers = np.where(first[:, None], [-3.0, 0.0], [3.0, 1.0])
    return centers + np.where(first, 0.6, 1.2)[:, None] * rng.normal(size=(n, 2))


def test_the_distance_is_that_of_quadrature(embedding):
    noise = embedding.smoothing or (0.0, 0.0)
    expected = naive_applications.mixture_distance2(
        ROWS[embedding.kernel], (POINTS, B, np.array(noise)), MIXTURE
    )
    assert Matching(embedding).evaluate(MIXTURE)[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize(
    "kernel", [k for k in ROWS if not isinstance(k, Gaussian)] + [Gaussian(WIDE)], ids=repr
)
def test_other_dimensions(kernel, dimension):
    rng = np.random.default_rng(1)
    mixture = MIXTURE._replace(means=rng.normal(size=(3, dimension)))
    points, order = (
        rng.normal(size=(5, dimension)),
        14 if dimension == 1 else 4,
    )  # exact for polynomials
    expected = naive_applications.mixture_distance2(
        ROWS[kernel], (points, B, np.zeros(dimension)), mixture, order
    )
    distance2 = Matching(MeanEmbedding(points, B, kernel)).evaluate(mixture)[0]
    assert distance2 == pytest.approx(
        expected, rel=1e-6 if order == 14 or kernel != Gaussian(WIDE) else 0.05
    )


@pytest.mark.parametrize("part", ["weights", "means", "variances"])
def test_the_gradient_is_that_of_differences(embedding, part):
    matching = Matching(embedding)
    gradient = getattr(matching.evaluate(MIXTURE)[1], part)
    moved, step = getattr(MIXTURE, part), 1e-5
    expected = np.empty_like(moved)
    for where in np.ndindex(moved.shape):
        values = []
        for sign in (1, -1):
            other = moved.copy()
            other[where] += sign * step
            values.append(matching.evaluate(MIXTURE._replace(**{part: other}))[0])
        expected[where] = (values[0] - values[1]) / (2 * step)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * scale)
    if embedding.kernel not in (Linear(), Polynomial(1, 0.5)) or part != "variances":
        assert np.abs(gradient).max() > 1e-4
    else:
        assert not gradient.any()


def test_the_minimum_is_stationary(embedding):
    """In the parameters that the optimiser moves, and no worse than the start or than other mixtures nearby."""
    matching = Matching(embedding)
    fitted, _, converged = matching.minimize(MIXTURE, 1e-4, 2000, 1e-14)
    assert converged
    value, by = matching.evaluate(fitted)
    assert value <= matching.evaluate(MIXTURE)[0]
    assert fitted.weights.sum() == pytest.approx(1.0)
    assert (fitted.weights >= 0).all()
    assert (fitted.variances >= 1e-4 * (1 - 1e-9)).all()
    free = fitted.variances > 1.01e-4
    tolerance = 2e-4 * matching.norm2
    assert np.abs(fitted.weights * (by.weights - fitted.weights @ by.weights)).max() < tolerance
    assert np.abs(by.means).max() < tolerance
    assert np.abs((fitted.variances * by.variances)[free]).max(initial=0.0) < tolerance
    rng = np.random.default_rng(2)
    for _ in range(20):
        means = fitted.means + 0.1 * rng.normal(size=(3, 2))
        near = Mixture(fitted.weights, means, fitted.variances * np.exp(0.1 * rng.normal(size=3)))
        assert matching.evaluate(near)[0] >= value - 1e-9 * matching.norm2


@pytest.mark.parametrize(
    "estimator", ["kme", "skmse", FKMSE(lam_cov=0.01), "mkme", MMKME()], ids=str
)
def test_two_groups_are_found(estimator):
    X, new = blobs(np.random.default_rng(3), 200), blobs(np.random.default_rng(4), 1000)
    mixture = KernelMeanMatching(2, estimator=estimator, random_state=0).fit(X)
    order = np.argsort(mixture.means_[:, 0])
    np.testing.assert_allclose(mixture.means_[order], [[-3.0, 0.0], [3.0, 1.0]], atol=0.5)
    np.testing.assert_allclose(mixture.weights_[order], [0.3, 0.7], atol=0.12)
    best = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X).score(new)
    assert best - 0.5 < mixture.score(new) < best + 0.2
    assert mixture.converged_
    assert 1 <= mixture.n_iter_ <= mixture.max_iter
    assert mixture.objective_ == pytest.approx(
        Matching(mixture.embedding_).evaluate(
            Mixture(mixture.weights_, mixture.means_, mixture.variances_)
        )[0],
        abs=1e-15,
    )


def test_the_estimate_is_matched_not_the_average():
    X = blobs(np.random.default_rng(5), 25)
    fits = [
        KernelMeanMatching(2, estimator=e, random_state=0).fit(X)
        for e in ("kme", "fkmse", MKME(variance=1.0))
    ]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert (
            np.abs(np.sort(fits[first].variances_) - np.sort(fits[second].variances_)).max() > 1e-3
        )
    for fit, estimator in zip(fits, (KME(), FKMSE(), MKME(variance=1.0)), strict=True):
        assert fit.embedding_.distance2(estimator.fit(X)) < 1e-12


def test_moments_that_the_polynomial_kernel_sees():
    """In one dimension a Gaussian can have any mean and variance, all that the kernel of degree 2 compares."""
    x = np.random.default_rng(6).gamma(2.0, size=60)
    for kernel in ("poly2", Polynomial(2)):
        model = KernelMeanMatching(1, kernel=kernel, tol=1e-15).fit(x)
        assert model.means_[0, 0] == pytest.approx(x.mean(), rel=1e-4)
        assert model.variances_[0] == pytest.approx(x.var(), rel=1e-3)
        assert model.objective_ < 1e-6 * model.embedding_.norm2()
    third = KernelMeanMatching(3, kernel="poly3", random_state=0, tol=1e-15, max_iter=5000).fit(x)
    pi, m, s = third.weights_, third.means_[:, 0], third.variances_
    assert pi @ (m**3 + 3 * m * s) == pytest.approx(np.mean(x**3), rel=1e-2)


def test_the_linear_kernel_leaves_the_variances_of_the_start():
    X = blobs(np.random.default_rng(7), 40) + np.array([0.0, 2.0])
    fit = KernelMeanMatching(2, kernel="linear", estimator=SKMSE(alpha=0.5), random_state=0).fit(X)
    assert not fit.variances_identified_
    assert KernelMeanMatching(2, kernel="poly2", random_state=0).fit(X).variances_identified_
    np.testing.assert_allclose(fit.weights_ @ fit.means_, 0.5 * X.mean(axis=0), atol=1e-3)
    clusters = KMeans(2, n_init=10, random_state=0).fit(X)
    expected = [
        np.mean((X[clusters.labels_ == j] - clusters.cluster_centers_[j]) ** 2) for j in range(2)
    ]
    np.testing.assert_allclose(np.sort(fit.variances_), np.sort(expected), rtol=1e-12)


@pytest.mark.parametrize("estimator", ["kme", "skmse"])
def test_a_start_that_is_perfect_stays(estimator):
    """The clusters have the mean of the data; centered data are shrunken to zero, which is their mean as well."""
    X = blobs(np.random.default_rng(7), 40)
    X -= X.mean(axis=0)
    fit = KernelMeanMatching(2, kernel="linear", estimator=estimator, random_state=0).fit(X)
    clusters = KMeans(2, n_init=10, random_state=0).fit(X)
    order, other = np.argsort(fit.means_[:, 0]), np.argsort(clusters.cluster_centers_[:, 0])
    np.testing.assert_allclose(fit.means_[order], clusters.cluster_centers_[other], atol=1e-6)
    np.testing.assert_allclose(
        fit.weights_[order], np.bincount(clusters.labels_)[other] / 40, atol=1e-6
    )


def test_the_fit_moves_with_the_data():
    X = blobs(np.random.default_rng(8), 60)
    fit = KernelMeanMatching(2, random_state=0).fit(X)
    moved = KernelMeanMatching(2, random_state=0).fit(1000.0 * X + 5.0)
    np.testing.assert_allclose(moved.means_, 1000.0 * fit.means_ + 5.0, rtol=2e-2, atol=20.0)
    assert moved.score(1000.0 * X + 5.0) == pytest.approx(
        fit.score(X) - 2 * np.log(1000.0), abs=0.02
    )


def test_the_density_is_that_of_the_mixture():
    X = blobs(np.random.default_rng(9), 80)
    fit = KernelMeanMatching(2, random_state=0).fit(X)
    twin = GaussianMixture(2, covariance_type="spherical")
    twin.weights_, twin.means_, twin.covariances_ = fit.weights_, fit.means_, fit.variances_
    twin.precisions_cholesky_ = 1 / np.sqrt(fit.variances_)
    np.testing.assert_allclose(fit.score_samples(X), twin.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(fit.pdf(X), np.exp(twin.score_samples(X)), rtol=1e-9)
    assert fit.score(X) == pytest.approx(twin.score(X))
    line = np.linspace(-30, 30, 4001)
    flat = KernelMeanMatching(2, random_state=0).fit(X[:, 0])
    assert trapezoid(flat.pdf(line), line) == pytest.approx(1.0, abs=1e-6)
    assert fit.pdf([[1e200, 0.0]])[0] == 0.0


def test_sample():
    fit = KernelMeanMatching(2, random_state=0).fit(blobs(np.random.default_rng(10), 80))
    X, component = fit.sample(20_000, random_state=1)
    assert X.shape == (20_000, 2)
    for j in range(2):
        mine = X[component == j]
        share = len(mine) / len(X)
        assert abs(share - fit.weights_[j]) < 5 * np.sqrt(0.25 / len(X))
        assert np.abs(mine.mean(axis=0) - fit.means_[j]).max() < 5 * np.sqrt(
            fit.variances_[j] / len(mine)
        )
        spread = np.mean((mine - fit.means_[j]) ** 2)
        assert abs(spread / fit.variances_[j] - 1) < 5 / np.sqrt(len(mine))
    np.testing.assert_array_equal(X, fit.sample(20_000, random_state=1)[0])
    assert not np.array_equal(X, fit.sample(20_000, random_state=2)[0])


@pytest.mark.parametrize(
    ("parameters", "rows", "message"),
    [
        ({"n_components": 6}, POINTS, "n_components=6, but X has 5 rows"),
        ({"n_components": 3}, [[0.0], [1.0], [1.0]], "X has 3 rows, 2 of them different"),
        ({"n_components": 0}, POINTS, "n_components must be an integer >= 1"),
        ({"kernel": "linear"}, [[1.0], [1.0]], "all rows are equal, so there is no density"),
        (
            {"kernel": "poly4"},
            POINTS,
            "kernel must be one of 'gaussian', 'linear', 'poly2', 'poly3'; got 'poly4'",
        ),
        (
            {"kernel": Laplacian(1.0)},
            POINTS,
            "has no closed form for Gaussian mixtures; use .linear",
        ),
        ({"kernel": Polynomial(4)}, POINTS, "has no closed form"),
        ({"kernel": Gaussian(1.0) + Linear()}, POINTS, "has no closed form"),
        (
            {"kernel": "poly2", "estimator": "mkme"},
            POINTS,
            "in closed form for Gaussian kernels only",
        ),
        ({"min_variance": 0.0}, POINTS, "min_variance must be a finite number > 0"),
        ({"max_iter": 0}, POINTS, "max_iter must be an integer >= 1"),
        ({"n_init": 0}, POINTS, "n_init must be an integer >= 1"),
        ({}, [[0.0, np.nan], [1.0, 2.0]], "X has 1 missing value"),
        (
            {"n_components": 2},
            [[0.0], [1e200], [3e200]],
            "squares of its values are beyond the range of numbers",
        ),
        ({"n_components": 2}, [[0.0], [1e-200], [3e-200]], "multiply X by a constant"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_fitted(parameters, rows, message):
    with pytest.raises(ValueError, match=message):
        KernelMeanMatching(**parameters).fit(rows)


# --- kernels on distributions --------------------------------------------------------------------------------------
DRAWS = np.random.default_rng(5)
TRAIN = [
    DRAWS.normal(size=(n, 2)) * s + m
    for n, s, m in [(6, 1.0, 0.0), (4, 2.0, 0.5), (7, 0.5, 1.0), (1, 1.0, 0.0)]
]
NEW = [DRAWS.normal(size=(5, 2)), DRAWS.normal(size=(3, 2)) + 1.0]
KERNELS = {
    Gaussian(1.2): lambda x, y: math.exp(-np.sum((x - y) ** 2) / (2 * 1.2**2)),
    Linear(): lambda x, y: x @ y,
    Polynomial(2): lambda x, y: (x @ y + 1) ** 2,
}
WEIGHTS = {"kme": lambda K: naive.uniform(len(K)), "skmse": naive.skmse, "fkmse": naive.fkmse}


def embedded(samples, kernel, name):
    return [(sample, WEIGHTS[name](kernel(sample))) for sample in samples]


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_one_sum_per_pair(kernel, name):
    train, new = embedded(TRAIN, kernel, name), embedded(NEW, kernel, name)
    k = KERNELS[kernel]
    linear = DistributionKernel(estimator=name, kernel=kernel, level2="linear")
    np.testing.assert_allclose(
        linear.fit_transform(TRAIN), naive_applications.linear(train, train, k), rtol=1e-6
    )
    np.testing.assert_allclose(
        linear.transform(NEW), naive_applications.linear(new, train, k), rtol=1e-6, atol=1e-9
    )
    gaussian = DistributionKernel(estimator=name, kernel=kernel)
    width = naive_applications.median_bandwidth(train, k)
    gram = gaussian.fit_transform(TRAIN)
    assert gaussian.level2_bandwidth_ == pytest.approx(width, rel=1e-6)
    np.testing.assert_allclose(gram, naive_applications.gaussian(train, train, k, width), rtol=1e-5)
    np.testing.assert_allclose(
        gaussian.transform(NEW), naive_applications.gaussian(new, train, k, width), rtol=1e-5
    )
    fixed = DistributionKernel(estimator=name, kernel=kernel, level2_bandwidth=0.7).fit(TRAIN)
    np.testing.assert_allclose(
        fixed.transform(NEW), naive_applications.gaussian(new, train, k, 0.7), rtol=1e-5
    )


@pytest.mark.parametrize(
    "estimator", [MKME(variance=0.3), MKME(), MMKME(variances=(0.2, 0.6))], ids=repr
)
def test_marginalized_embeddings(estimator):
    model = DistributionKernel(estimator=estimator, kernel=Gaussian(1.2), level2="linear").fit(
        TRAIN
    )
    noise = [np.broadcast_to(e.smoothing, 2) for e in model.embeddings_]

    def twin(x, v, y, w):
        return naive_kernels.corrupted(x, y, 1.2**2, v + w).mean()

    pairs = list(zip(TRAIN, noise, strict=True))
    expected = [[twin(x, v, y, w) for y, w in pairs] for x, v in pairs]
    np.testing.assert_allclose(model.fit_transform(TRAIN), expected, rtol=1e-9)
    np.testing.assert_allclose(model.transform(TRAIN), expected, rtol=1e-9)
    if estimator == MKME():
        assert (
            len({e.smoothing for e in model.embeddings_}) == 4
        )  # every sample has noise of its own


@pytest.mark.parametrize(
    "estimator", ["kme", "fkmse", "mkme", SKMSE(target=([[1.0, 1.0]], [0.5]))], ids=str
)
@pytest.mark.parametrize("level2", ["linear", "gaussian"])
def test_the_matrix_is_a_kernel(estimator, level2):
    """The Gaussian kernel would not be with the printed plus sign (erratum E15)."""
    many = [
        DRAWS.normal(size=(5, 2)) * DRAWS.uniform(0.5, 2) + DRAWS.normal(size=2) for _ in range(12)
    ]
    machine = DistributionKernel(estimator=estimator, level2=level2, random_state=0)
    gram = machine.fit_transform(many)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() > -1e-10
    np.testing.assert_allclose(machine.transform(many), gram, atol=1e-12)
    if level2 == "gaussian":
        np.testing.assert_allclose(np.diag(gram), 1.0)
        assert np.linalg.eigvalsh(1 / gram).min() < -1e-3  # the printed sign


def test_the_bandwidth_of_the_points_is_that_of_all_training_samples():
    model = DistributionKernel().fit(TRAIN)
    assert model.kernel_.bandwidth == pytest.approx(
        naive_kernels.median_bandwidth(np.vstack(TRAIN))
    )


def groups(rng, count, spread):
    return [spread * rng.normal(size=(15, 2)) for _ in range(count)]


@pytest.mark.ci
@pytest.mark.parametrize("level2", ["linear", "gaussian"])
def test_support_measure_machine(level2):
    rng = np.random.default_rng(8)
    samples, labels = groups(rng, 20, 1.0) + groups(rng, 20, 2.0), np.repeat([0, 1], 20)
    machine = make_pipeline(
        DistributionKernel(level2=level2, random_state=0), SVC(kernel="precomputed", C=100.0)
    )
    assert cross_val_score(machine, samples, labels, cv=4).mean() > 0.85
    shuffled = cross_val_score(machine, samples, rng.permutation(labels), cv=4).mean()
    assert shuffled < 0.75
    grid = {"distributionkernel__estimator": ["kme", FKMSE(lam_cov=0.1)], "svc__C": [1.0, 10.0]}
    search = GridSearchCV(machine, grid, cv=2).fit(samples, labels)
    assert search.score(groups(rng, 5, 1.0) + groups(rng, 5, 2.0), np.repeat([0, 1], 5)) > 0.6


def test_columns_of_tables_go_by_name():
    pandas = pytest.importorskip("pandas")
    tables = [pandas.DataFrame(sample, columns=["a", "b"]) for sample in TRAIN]
    turned = [table[["b", "a"]] for table in tables]
    machine = DistributionKernel(random_state=0)
    expected = machine.fit_transform(TRAIN)
    np.testing.assert_array_equal(machine.fit_transform([tables[0], *turned[1:]]), expected)
    np.testing.assert_allclose(machine.transform(turned), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"samples\[1\] has the columns a, c, others have a, b"):
        machine.fit([tables[0], tables[1].rename(columns={"b": "c"})])


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        ([], ValueError, "samples is empty"),
        ([TRAIN[0], np.empty((0, 2))], ValueError, r"samples\[1\] is empty"),
        (
            [TRAIN[0], [[1.0, 2.0, 3.0]]],
            ValueError,
            r"samples\[1\] has 3 columns, samples\[0\] has 2",
        ),
        ([TRAIN[0], [[1.0, np.nan]]], ValueError, r"samples\[1\] has 1 missing value"),
        ([TRAIN[0], 3.0], ValueError, r"samples\[1\] must be an array"),
        ([TRAIN[0], [["a", "b"]]], TypeError, r"samples\[1\] must hold real numbers"),
        (TRAIN[0], TypeError, r"got one array of shape \(6, 2\); use \[sample\]"),
        ({"a": TRAIN[0]}, TypeError, "samples must be a list of arrays .*; got dict"),
        ("samples", TypeError, "got str"),
        ([TRAIN[0]], ValueError, "needs at least 2 training samples"),
        ([TRAIN[0]] * 3, ValueError, "the median distance of the embeddings is 0"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_list_of_samples(samples, error, message):
    with pytest.raises(error, match=message):
        DistributionKernel().fit(samples)


def test_other_samples_than_those_fitted():
    with pytest.raises(
        ValueError, match="the samples have 1 column, those that DistributionKernel was fitted on 2"
    ):
        DistributionKernel().fit(TRAIN).transform([[1.0, 2.0]])
    means = [KME().fit(TRAIN[0], Gaussian(width)) for width in (1.0, 2.0)]
    with pytest.raises(ValueError, match="inner products need one RKHS, but the kernels differ"):
        inner_products(means)


def test_a_linear_kernel_sees_distances_of_means_far_from_zero():
    near, far = (
        [[sample + offset for sample in samples] for samples in (TRAIN, NEW)]
        for offset in (0.0, 1e8)
    )
    model_near, model_far = (
        DistributionKernel(kernel="linear").fit(samples[0]) for samples in (near, far)
    )
    np.testing.assert_allclose(model_far.level2_bandwidth_, model_near.level2_bandwidth_, rtol=1e-6)
    np.testing.assert_allclose(
        model_far.transform(far[1]), model_near.transform(near[1]), atol=1e-6
    )
    np.testing.assert_allclose(
        model_far.transform(far[0]), model_far.fit_transform(far[0]), rtol=1e-15
    )
