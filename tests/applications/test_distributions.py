"""DistributionKernel: inner products and Gaussian kernels of embeddings, for scikit-learn's machines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import naive
import naive_applications
import naive_kernels
from shrinktest import FKMSE, KME, MKME, MMKME, SKMSE, Gaussian, Linear, Polynomial
from shrinktest.applications import DistributionKernel, inner_products

RNG = np.random.default_rng(5)
TRAIN = [RNG.normal(size=(n, 2)) * s + m for n, s, m in [(6, 1.0, 0.0), (4, 2.0, 0.5), (7, 0.5, 1.0), (1, 1.0, 0.0)]]
NEW = [RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2)) + 1.0]
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
    np.testing.assert_allclose(linear.fit_transform(TRAIN), naive_applications.linear(train, train, k), rtol=1e-6)
    np.testing.assert_allclose(linear.transform(NEW), naive_applications.linear(new, train, k), rtol=1e-6, atol=1e-9)
    gaussian = DistributionKernel(estimator=name, kernel=kernel)
    width = naive_applications.median_bandwidth(train, k)
    found = gaussian.fit_transform(TRAIN)
    assert gaussian.level2_bandwidth_ == pytest.approx(width, rel=1e-6)
    np.testing.assert_allclose(found, naive_applications.gaussian(train, train, k, width), rtol=1e-5)
    np.testing.assert_allclose(gaussian.transform(NEW), naive_applications.gaussian(new, train, k, width), rtol=1e-5)
    fixed = DistributionKernel(estimator=name, kernel=kernel, level2_bandwidth=0.7).fit(TRAIN)
    np.testing.assert_allclose(fixed.transform(NEW), naive_applications.gaussian(new, train, k, 0.7), rtol=1e-5)


@pytest.mark.parametrize("estimator", [MKME(variance=0.3), MKME(), MMKME(variances=(0.2, 0.6))], ids=repr)
def test_marginalised_embeddings(estimator):
    found = DistributionKernel(estimator=estimator, kernel=Gaussian(1.2), level2="linear").fit(TRAIN)
    noise = [np.broadcast_to(e.smoothing, 2) for e in found.embeddings_]

    def twin(x, v, y, w):
        return naive_kernels.corrupted(x, y, 1.2**2, v + w).mean()

    pairs = list(zip(TRAIN, noise, strict=True))
    expected = [[twin(x, v, y, w) for y, w in pairs] for x, v in pairs]
    np.testing.assert_allclose(found.fit_transform(TRAIN), expected, rtol=1e-9)
    np.testing.assert_allclose(found.transform(TRAIN), expected, rtol=1e-9)
    if estimator == MKME():
        assert len({e.smoothing for e in found.embeddings_}) == 4  # every sample has noise of its own


def test_embeddings_with_and_without_noise_mix():
    means = [KME().fit(TRAIN[0], Gaussian(1.2)), MKME(variance=0.3).fit(TRAIN[1], Gaussian(1.2))]
    expected = [[one.inner(other) for other in means] for one in means]
    np.testing.assert_allclose(inner_products(means), expected, rtol=1e-12)
    np.testing.assert_allclose(inner_products(means[:1], means), expected[:1], rtol=1e-12)


@pytest.mark.parametrize("estimator", ["kme", "fkmse", "mkme", SKMSE(target=([[1.0, 1.0]], [0.5]))], ids=str)
@pytest.mark.parametrize("level2", ["linear", "gaussian"])
def test_the_matrix_is_a_kernel(estimator, level2):
    """With the printed plus sign the Gaussian one would not be (erratum E15)."""
    many = [RNG.normal(size=(5, 2)) * RNG.uniform(0.5, 2) + RNG.normal(size=2) for _ in range(12)]
    machine = DistributionKernel(estimator=estimator, level2=level2, random_state=0)
    gram = machine.fit_transform(many)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() > -1e-10
    np.testing.assert_allclose(machine.transform(many), gram, atol=1e-12)
    if level2 == "gaussian":
        np.testing.assert_allclose(np.diag(gram), 1.0)
        assert np.linalg.eigvalsh(1 / gram).min() < -1e-3  # the printed sign


def test_the_bandwidth_of_the_points_is_that_of_all_training_samples():
    found = DistributionKernel().fit(TRAIN)
    assert found.kernel_.bandwidth == pytest.approx(naive_kernels.median_bandwidth(np.vstack(TRAIN)))


def groups(rng, count, spread):
    return [spread * rng.normal(size=(15, 2)) for _ in range(count)]


@pytest.mark.parametrize("level2", ["linear", "gaussian"])
def test_support_measure_machine(level2):
    rng = np.random.default_rng(8)
    samples, labels = groups(rng, 20, 1.0) + groups(rng, 20, 2.0), np.repeat([0, 1], 20)
    machine = make_pipeline(DistributionKernel(level2=level2, random_state=0), SVC(kernel="precomputed", C=100.0))
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
        ([TRAIN[0], [[1.0, 2.0, 3.0]]], ValueError, r"samples\[1\] has 3 columns, samples\[0\] has 2"),
        ([TRAIN[0], [[1.0, np.nan]]], ValueError, r"samples\[1\] has 1 missing value"),
        ([TRAIN[0], 3.0], ValueError, r"samples\[1\] is a single number"),
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
    with pytest.raises(ValueError, match="the samples have 1 column, those that DistributionKernel was fitted on 2"):
        DistributionKernel().fit(TRAIN).transform([[1.0, 2.0]])
    means = [KME().fit(TRAIN[0], Gaussian(width)) for width in (1.0, 2.0)]
    with pytest.raises(ValueError, match="inner products need one RKHS, but the kernels differ"):
        inner_products(means)


def test_a_linear_kernel_sees_distances_of_means_far_from_zero():
    near, far = ([[sample + offset for sample in samples] for samples in (TRAIN, NEW)] for offset in (0.0, 1e8))
    one, other = (DistributionKernel(kernel="linear").fit(samples[0]) for samples in (near, far))
    np.testing.assert_allclose(other.level2_bandwidth_, one.level2_bandwidth_, rtol=1e-6)
    np.testing.assert_allclose(other.transform(far[1]), one.transform(near[1]), atol=1e-6)
    np.testing.assert_allclose(other.transform(far[0]), other.fit_transform(far[0]), rtol=1e-15)
