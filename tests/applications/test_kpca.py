"""ShrinkageKernelPCA against kernel PCA of scikit-learn and coordinates; and the checks of scikit-learn."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.utils.estimator_checks import check_estimator

import naive
import naive_applications
import naive_kernels
from shrinktest import MKME, SKMSE, Gaussian, Laplacian, Linear, Polynomial
from shrinktest.applications import KernelMeanMatching, ShrinkageKernelPCA

RNG = np.random.default_rng(11)
X, NEW = RNG.normal(size=(18, 3)) * [1.5, 1.0, 0.4] + 0.7, RNG.normal(size=(5, 3))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Gaussian(1.3), {"kernel": "rbf", "gamma": 1 / (2 * 1.3**2)}),
        (Linear(), {"kernel": "linear"}),
        (Polynomial(3, 1.0), {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0}),
    ],
    ids=repr,
)
def test_the_standard_estimators_give_scikit_learns_kernel_pca(ours, theirs):
    expected = KernelPCA(n_components=3, eigen_solver="dense", **theirs).fit(X)
    fitted = ShrinkageKernelPCA(n_components=3, kernel=ours).fit(X)
    scale = expected.eigenvalues_[0]
    np.testing.assert_allclose(fitted.eigenvalues_ * len(X), expected.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(
        fitted.transform(X), expected.transform(X), atol=1e-8 * np.sqrt(scale)
    )
    np.testing.assert_allclose(
        fitted.transform(NEW), expected.transform(NEW), atol=1e-8 * np.sqrt(scale)
    )
    np.testing.assert_allclose(
        fitted.transform(X), fitted.fit_transform(X), atol=1e-10 * np.sqrt(scale)
    )


def test_all_components_by_default():
    expected = KernelPCA(kernel="rbf", gamma=0.5).fit(X)
    fitted = ShrinkageKernelPCA(kernel=Gaussian(1.0)).fit(X)
    assert fitted.eigenvalues_.shape == expected.eigenvalues_.shape == (17,)
    np.testing.assert_allclose(fitted.transform(NEW), expected.transform(NEW), atol=1e-8)


def test_without_scikit_learn_the_error_names_the_extra():
    code = "import sys; sys.modules['sklearn'] = None; import shrinktest; import shrinktest.applications"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 1
    assert (
        "ImportError: shrinktest.applications needs scikit-learn: pip install 'shrinktest[apps]'"
        in process.stderr
    )


WEIGHTS = {
    "kme": lambda K: naive.uniform(len(K)),
    "skmse": naive.skmse,
    "fkmse": naive.fkmse,
    "landweber": naive.landweber,
}
KERNELS = [Gaussian(1.3), Laplacian(2.0), Linear(), Polynomial(2)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    ("centering", "covariance"), list(zip(WEIGHTS, ["kme", "fkmse", "skmse", "fkmse"], strict=True))
)
def test_linear_pca_of_coordinates(kernel, centering, covariance):
    n = len(X)
    gram = kernel(np.vstack([X, NEW]))
    features = naive_applications.coordinates(gram)
    mean = WEIGHTS[centering](gram[:n, :n]) @ features[:n]
    weights = WEIGHTS[covariance](naive_applications.centered_squares(features[:n], mean))
    values, vectors = naive_applications.components(features[:n], mean, weights)
    pca = ShrinkageKernelPCA(kernel=kernel, centering=centering, covariance=covariance).fit(X)
    np.testing.assert_allclose(pca.covariance_weights_, weights, rtol=1e-6)
    used = 3  # the first are well apart
    np.testing.assert_allclose(pca.eigenvalues_[:used], values[:used], rtol=1e-6)
    scores = (features[n:] - mean) @ vectors[:, :used]
    scale = np.abs(scores).max()
    np.testing.assert_allclose(
        np.abs(pca.transform(NEW)[:, :used]), np.abs(scores), atol=1e-5 * scale
    )
    for kind in ("centered", "uncentered"):
        twin = {
            "centered": [
                naive_applications.centered_error(f, mean, vectors[:, :used]) for f in features[n:]
            ],
            "uncentered": [
                naive_applications.uncentered_error(f, vectors[:, :used]) for f in features[n:]
            ],
        }[kind]
        errors = pca.reconstruction_error(NEW, kind, n_components=used)
        np.testing.assert_allclose(errors, twin, atol=1e-6 * gram.max())


def test_eigenfunctions_are_orthonormal_and_signs_are_fixed():
    pca = ShrinkageKernelPCA(kernel=Gaussian(1.0), centering="skmse", covariance="fkmse").fit(X)
    gram, mean = Gaussian(1.0)(X), pca.mean_
    at = mean.embedding(X)
    centered = gram - at[:, None] - at[None, :] + mean.norm2()
    inner = pca.coefficients_.T @ centered @ pca.coefficients_
    np.testing.assert_allclose(inner, np.eye(len(pca.eigenvalues_)), atol=1e-7)
    scores = pca.transform(X)
    assert (scores[np.abs(scores).argmax(axis=0), range(scores.shape[1])] > 0).all()


def test_a_marginalized_mean():
    th2, noise = 1.3**2, 0.4
    pca = ShrinkageKernelPCA(2, kernel=Gaussian(1.3), centering=MKME(variance=noise)).fit(X)
    rows = np.vstack([X, NEW])
    n = len(X)
    at = naive_kernels.corrupted(rows, X, th2, noise).mean(axis=1)
    norm2 = naive_kernels.corrupted(X, X, th2, 2 * noise).mean()
    with_mean = np.block([[Gaussian(1.3)(rows), at[:, None]], [at[None, :], np.array([[norm2]])]])
    features = naive_applications.coordinates(with_mean)
    mean, features = features[-1], features[:-1]
    values, vectors = naive_applications.components(features[:n], mean, np.full(n, 1 / n))
    np.testing.assert_allclose(pca.eigenvalues_, values[:2], rtol=1e-8)
    twin = [naive_applications.centered_error(f, mean, vectors[:, :2]) for f in features[n:]]
    np.testing.assert_allclose(pca.reconstruction_error(NEW), twin, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_simple_shrinkage_of_the_covariance_operator_changes_nothing(kernel):
    """Erratum E14: a multiple of an operator has its eigenfunctions, so S-COSE cannot beat kernel PCA."""
    plain = ShrinkageKernelPCA(3, kernel=kernel).fit(X)
    shrunken = ShrinkageKernelPCA(3, kernel=kernel, covariance="skmse").fit(X)
    factor = shrunken.eigenvalues_ / plain.eigenvalues_
    assert np.ptp(factor) < 1e-10
    assert factor[0] < 0.999
    scale = np.abs(plain.transform(X)).max()
    np.testing.assert_allclose(shrunken.transform(NEW), plain.transform(NEW), atol=1e-9 * scale)
    for kind in ("centered", "uncentered"):
        errors = plain.reconstruction_error(NEW, kind)
        np.testing.assert_allclose(
            shrunken.reconstruction_error(NEW, kind), errors, atol=1e-9 * scale**2
        )


def test_reconstruction_errors():
    pca = ShrinkageKernelPCA(kernel=Gaussian(1.0), centering="fkmse").fit(X)
    path = np.array(
        [pca.reconstruction_error(NEW, n_components=c) for c in range(len(pca.eigenvalues_) + 1)]
    )
    assert (np.diff(path, axis=0) <= 1e-12).all()
    mean = pca.mean_
    np.testing.assert_allclose(path[0], 1 - 2 * mean.embedding(NEW) + mean.norm2())
    np.testing.assert_allclose(pca.reconstruction_error(NEW, "uncentered", 0), 1.0)
    many = np.random.default_rng(1).normal(size=(150, 3))
    linear = ShrinkageKernelPCA(2, kernel="linear").fit(X)
    np.testing.assert_allclose(
        linear.reconstruction_error(many, "uncentered", 0), np.sum(many**2, axis=1)
    )
    # the two kinds differ, until so many components are used that they span the mean as well
    assert np.abs(path[3] - pca.reconstruction_error(NEW, "uncentered", 3)).max() > 1e-3


@pytest.mark.parametrize(
    ("parameters", "rows", "message"),
    [
        (
            {"n_components": 4, "kernel": "linear"},
            X,
            "n_components=4, but only 3 eigenvalues are positive",
        ),
        ({"n_components": 0}, X, "n_components must be an integer >= 1"),
        ({"kernel": "gausian"}, X, "Did you mean 'gaussian'"),
        ({"centering": "fkmsee"}, X, "Did you mean 'fkmse'"),
        ({"covariance": "mkme"}, X, "covariance=.* changes the features"),
        ({"covariance": SKMSE(target=([[0.0] * 3], [1.0]))}, X, "changes the features"),
        ({"covariance": SKMSE(alpha=1.0)}, X, "no positive eigenvalue"),
        (
            {"kernel": Gaussian(1.0)},
            np.full((5, 2), 0.1),
            "all observations have the same features",
        ),
        (
            {"kernel": Polynomial(3)},
            np.full((5, 2), 0.1),
            "all observations have the same features",
        ),
        ({"kernel": Gaussian(1.0)}, X[:1], "all observations have the same features"),
        ({}, np.empty((0, 2)), "X is empty"),
        ({}, [[0.0, np.nan], [1.0, 2.0]], "X has 1 missing value"),
    ],
    ids=str,
)
def test_what_cannot_be_fitted(parameters, rows, message):
    with pytest.raises(ValueError, match=message):
        ShrinkageKernelPCA(**parameters).fit(rows)


@pytest.mark.parametrize("covariance", ["kme", "fkmse"])
def test_a_linear_kernel_sees_what_differs_far_from_zero(covariance):
    near, far = (
        ShrinkageKernelPCA(2, kernel="linear", covariance=covariance).fit(X + start)
        for start in (0.0, 1e8)
    )
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(far.transform(NEW + 1e8), near.transform(NEW), atol=1e-6)
    errors = (pca.reconstruction_error(NEW + start) for pca, start in ((near, 0.0), (far, 1e8)))
    np.testing.assert_allclose(*errors, atol=1e-6)
    with pytest.raises(ValueError, match="all observations have the same features"):
        ShrinkageKernelPCA(kernel="linear").fit(np.full((18, 3), 1e8 + 0.3))


#: What they want is another wording, or an error where one dimension is read as one column, as everywhere in the
#: package, or numbers as objects, which it refuses.
WORDING = {
    "check_complex_data",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_fit1d",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_n_features_in_after_fitting",
}


@pytest.mark.parametrize("estimator", [ShrinkageKernelPCA(), KernelMeanMatching()], ids=repr)
def test_scikit_learns_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= WORDING
    assert sum(result["status"] == "passed" for result in results) > 20
