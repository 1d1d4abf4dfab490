"""Routes: the same test by a Gram matrix, a factor of it, and approximations; and what does not fit into memory."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shrinktest import (
    FKMSE,
    KME,
    MKME,
    SKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    Laplacian,
    Linear,
    NuMethod,
    independence_test,
    two_sample_test,
)
from shrinktest.kernels import Polynomial
from shrinktest.kernels.feature_maps import (
    TOLERANCE,
    _is_full,
    factorized,
    few_distinct,
    random_fourier,
)

SUMS = {
    "kme": KME(),
    "skmse": SKMSE(),
    "plugin": SKMSE(rule="plugin"),
    "mkme": MKME(),
    "noisy": MKME(variance=0.3),
}
FILTERS = {
    "deletion": FKMSE(),
    "averaged": FKMSE(loo="averaged"),
    "paper": FKMSE(loo="paper"),
    "pooled": FKMSE(tuning="pooled"),
    "common": FKMSE(lam_cov=0.3),
    "fixed": FKMSE(lam=0.5),
    "iterated": IteratedTikhonov(t=2),
    "iterated, paper": IteratedTikhonov(loo="paper"),
    "landweber": Landweber(max_iter=30),
    "landweber, paper": Landweber(loo="paper", max_iter=30),
    "nu": NuMethod(max_iter=15),
    "stopped": NuMethod(t=4),
    "tsvd": TSVD(),
    "gcv": TSVD(rule="gcv"),
    "components": TSVD(m=2),
}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def agree(dense, other):
    assert (dense.route, other.route) == ("dense", "factor")
    allowed = TOLERANCE * sum(
        dense.n_observations
    )  # a factor leaves out so much of the trace, perhaps of one value
    np.testing.assert_allclose(other.null_distribution, dense.null_distribution, atol=allowed)
    assert other.pvalue == dense.pvalue
    assert other.statistic == pytest.approx(dense.statistic, abs=allowed)


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.tuples(st.integers(2, 65), st.integers(2, 65)),
    estimator=st.sampled_from(sorted(SUMS | FILTERS)),
    kernel=st.sampled_from(
        [Gaussian(1.0), Gaussian(1.0), Linear(), Polynomial(2), Laplacian(1.0) + Linear()]
    ),
    form=st.sampled_from(["auto", "biased", "unbiased"]),
    seed=st.integers(0, 1000),
    ties=st.booleans(),
)
def test_no_route_changes_a_two_sample_test(sizes, estimator, kernel, form, seed, ties):
    if estimator in SUMS:
        kernel, form = (
            kernel if estimator in ("kme", "skmse", "plugin") else Gaussian(1.0),
            form.removeprefix("un"),
        )
    X, Y = normal(sizes[0], 2, seed=seed), 1.3 * normal(sizes[1], 2, seed=seed + 1) + 0.1
    if ties:
        X, Y = np.round(X), np.round(Y)
    if np.ptp(np.vstack([X, Y]), axis=0).min() == 0.0:
        return
    mean = (SUMS | FILTERS)[estimator]
    options = {
        "estimator": mean,
        "kernel": kernel,
        "form": form,
        "n_resamples": 40,
        "rng": seed,
        "alpha": 0.9,
    }
    dense, low = (two_sample_test(X, Y, gram=gram, **options) for gram in ("dense", "factor"))
    agree(dense, low)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(5, 90),
    estimator=st.sampled_from(sorted(SUMS)),
    unbiased=st.booleans(),
    seed=st.integers(0, 1000),
    ties=st.booleans(),
)
def test_no_route_changes_an_independence_test(n, estimator, unbiased, seed, ties):
    x, y = normal(n, seed=seed), normal(n, seed=seed + 1)
    y = y + np.sin(2 * x)
    if ties:
        x, y = np.round(2 * x), np.round(y)
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return
    form = "unbiased" if unbiased and SUMS[estimator].unbiased_pairs else "biased"
    options = {"estimator": SUMS[estimator], "form": form, "n_resamples": 60, "rng": seed}
    options |= {"bandwidth_x": 1.0, "bandwidth_y": 0.7}
    agree(*(independence_test(x, y, gram=gram, **options) for gram in ("dense", "factor")))


def test_no_route_changes_an_exhaustive_null():
    X, Y = normal(5, 2), normal(6, 2, seed=1)
    agree(*(two_sample_test(X, Y, gram=gram, n_resamples=np.inf) for gram in ("dense", "factor")))
    agree(
        *(
            independence_test(X, Y[:5], gram=gram, n_resamples=np.inf)
            for gram in ("dense", "factor")
        )
    )


def test_workers_do_not_change_a_factor():
    X, Y = normal(300, 2), normal(200, 2, seed=1)
    serial, parallel = (
        two_sample_test(X, Y, gram="factor", rng=0, workers=workers) for workers in (1, 3)
    )
    np.testing.assert_array_equal(serial.null_distribution, parallel.null_distribution)


def test_estimates_on_a_factor_are_those_of_the_kernel():
    X, Y = normal(60, 2), 1.4 * normal(50, 2, seed=1)
    at = normal(9, 2, seed=2)
    dense, low = (
        two_sample_test(X, Y, estimator="skmse", gram=gram, rng=0) for gram in ("dense", "factor")
    )
    np.testing.assert_allclose(low.witness(at), dense.witness(at), atol=1e-5)
    for a, b in zip(dense.estimates, low.estimates, strict=True):
        assert b.norm2() == pytest.approx(a.norm2(), rel=1e-8)
        assert b.shrinkage == pytest.approx(a.shrinkage, rel=1e-8)
    dense, low = (
        independence_test(X[:50], Y, estimator="skmse", gram=gram, rng=0)
        for gram in ("dense", "factor")
    )
    assert low.estimates[0].norm2() == pytest.approx(dense.estimates[0].norm2(), rel=1e-7)
    assert low.estimates[0].shrinkage == pytest.approx(dense.estimates[0].shrinkage, rel=1e-7)
    assert low.statistic == pytest.approx(low.estimates[0].norm2(), rel=1e-9)


def test_automatic_routes():
    small, large = normal(30, 2), normal(900, 2)
    assert two_sample_test(small, small + 1, n_resamples=19).route == "dense"
    assert two_sample_test(large, large + 1, n_resamples=19).route == "factor"
    wide = normal(800, 5)
    assert two_sample_test(wide, wide + 1, n_resamples=19).route == "dense"
    assert two_sample_test(wide, wide + 1, kernel="linear", n_resamples=19).route == "factor"
    averaged = FKMSE(loo="averaged")
    assert (
        two_sample_test(large[:60], large[:60] + 1, estimator=averaged, n_resamples=19).route
        == "dense"
    )
    assert (
        two_sample_test(large[:400], large[:400] + 1, estimator=averaged, n_resamples=19).route
        == "factor"
    )
    tiny = FKMSE(lam_cov=1e-9)  # sees what a factor leaves out
    assert (
        two_sample_test(large[:100], large[:100] + 1, estimator=tiny, n_resamples=19).route
        == "dense"
    )
    x = normal(400)
    assert independence_test(x, x**2, n_resamples=19).route == "factor"
    assert independence_test(x[:100], x[:100] ** 2, n_resamples=19).route == "dense"
    assert independence_test(x, normal(400, 6), n_resamples=19).route == "dense"


@pytest.mark.ci
@pytest.mark.parametrize("gram", ["factor", "nystrom", "rff"])
def test_approximations_have_exact_level(gram):
    """A rank far too small for the kernel, 15 + 5 points: the p-value must not notice which points are X."""
    counts, trials = 0, 250
    for seed in range(trials):
        Z = normal(20, 2, seed=seed)
        counts += two_sample_test(
            Z[:15], Z[15:], gram=gram, rank=2, n_resamples=19, alpha=0.1, rng=seed
        ).reject()
    assert 10 <= counts <= 41  # 0.1 +- 3.3 standard errors


@pytest.mark.parametrize("rank", [None, 3])
def test_a_factor_does_not_know_the_labels(rank):
    Z = normal(9, 2)
    Z[4] = Z[7]
    expected = two_sample_test(
        Z[:4], Z[4:], gram="factor", rank=rank, n_resamples=np.inf
    ).null_distribution
    for seed in range(5):
        moved = np.random.default_rng(seed).permutation(Z)
        null = two_sample_test(
            moved[:4], moved[4:], gram="factor", rank=rank, n_resamples=np.inf
        ).null_distribution
        np.testing.assert_allclose(np.sort(null), np.sort(expected), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_what_a_factor_leaves_out(columns):
    points = normal(500, columns)
    kernel = Gaussian().resolve(points)
    landmarks, z = factorized(kernel, points, 500)
    gram = kernel(points)
    missing = gram - z @ z.T
    assert 0 <= np.trace(missing) <= 500 * TOLERANCE
    assert np.abs(missing).max() <= 500 * TOLERANCE
    np.testing.assert_allclose(landmarks.coordinates(points), z, atol=1e-4)
    np.testing.assert_allclose(landmarks(points), gram, atol=500 * TOLERANCE)
    assert factorized(kernel, points, z.shape[1] // 2) is None
    assert factorized(kernel, points, z.shape[1] - 1, truncate=True)[1].shape[1] == z.shape[1] - 1


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.5), Gaussian((1.0, 3.0)), Laplacian(2.0), 0.3 * Gaussian(1.5)]
)
def test_random_fourier_features(kernel):
    points = normal(25, 2)
    approximate = random_fourier(kernel, 2, 40000, 0)(points)
    np.testing.assert_allclose(
        approximate, kernel(points), atol=6.0 * kernel(points)[0, 0] / np.sqrt(20000)
    )
    np.testing.assert_allclose(np.diag(approximate), np.diag(kernel(points)), rtol=1e-10)


def test_a_filter_without_a_gram_matrix_of_many_points():
    X, Y = normal(3000, 2), 1.05 * normal(3000, 2, seed=1)
    options = {"estimator": FKMSE(lam_cov=0.3), "n_resamples": 19, "max_memory": 5e7}
    result = two_sample_test(X, Y, **options)  # its Gram matrix would take 360 MB
    assert result.route == "factor"
    assert result.statistic == pytest.approx(
        result.estimates[0].distance2(result.estimates[1]), rel=1e-9
    )
    with pytest.raises(ValueError, match="use gram='dense'"):
        independence_test(X, Y, estimator="fkmse", gram="factor")


X, Y = normal(40, 2), normal(30, 2, seed=1)


def test_refusals():
    by_function = {"estimator": lambda gram: gram[0]}
    for error, *refused in (
        (
            ValueError,
            {"gram": "low"},
            {"rank": 5},
            {"gram": "dense", "rank": 5},
            {"gram": "rff", "rank": 0},
        ),
        (
            ValueError,
            {"gram": "rff", "kernel": "linear"},
            {"gram": "nystrom", **by_function},
            {"max_memory": -1},
        ),
        (
            ValueError,
            *({"gram": gram, "estimator": MKME(tuning="joint")} for gram in ("factor", "rff")),
        ),
        (MemoryError, {"gram": "nystrom", "rank": 30}, {"estimator": FKMSE(lam=1.0)}, by_function),
    ):
        for options in refused:
            with pytest.raises(error):
                two_sample_test(
                    X, Y, **({"max_memory": 1e4} if error is MemoryError else {}), **options
                )


def test_categories_are_few_coordinates_however_many_indicators_they_have():
    rng = np.random.default_rng(0)
    X, Y = (np.eye(4)[rng.choice(4, 900, p=p)] for p in ([0.25] * 4, [0.3, 0.2, 0.25, 0.25]))
    for kernel in ("gaussian", "whitened"):
        options = {"kernel": kernel, "bandwidth": 1.0, "n_resamples": 99, "rng": 0}
        dense, automatic = (
            two_sample_test(X, Y, gram=gram, **options) for gram in ("dense", "auto")
        )
        assert (dense.route, automatic.route, automatic.pvalue) == ("dense", "factor", dense.pvalue)
        assert automatic.statistic == pytest.approx(dense.statistic, rel=1e-8)
    assert (
        two_sample_test(X[:100], Y[:100], bandwidth=1.0, n_resamples=19, rng=0).route == "dense"
    )  # small
    assert (
        two_sample_test(X + rng.normal(size=X.shape), Y, bandwidth=1.0, n_resamples=19, rng=0).route
        == "dense"
    )
    assert (
        few_distinct(X, 4)
        and not few_distinct(X, 3)
        and not few_distinct(rng.normal(size=(600, 3)), 600)
    )


@pytest.mark.parametrize(("size", "columns"), [(50_000, 50), (60_000, 3)])
def test_a_gram_matrix_that_cannot_be_is_said_at_once(size, columns):
    X, Y = np.random.default_rng(0).normal(size=(2, size, columns))
    with pytest.raises(MemoryError):
        two_sample_test(
            X[:3000], Y[:3000], estimator="landweber", max_memory=1e7
        )  # loads what is to be loaded
    start = time.process_time()
    with pytest.raises(MemoryError, match=r"use gram='rff', bins=2000 \(about 1 s"):
        two_sample_test(X, Y, max_memory=5e8, n_resamples=99_999)
    assert time.process_time() - start < 2.0  # seconds, on a machine that does much else; it was 13


def test_few_points_prove_what_all_would_show():
    rng = np.random.default_rng(1)
    wide, narrow = (
        rng.normal(size=(1200, 30)),
        rng.normal(size=(1200, 1)) @ rng.normal(size=(1, 30)),
    )
    for points, full in ((wide, True), (narrow, False)):
        kernel = Gaussian("median").resolve(points)
        allowed = TOLERANCE * len(points)
        assert _is_full(kernel, points, 120, allowed) is full
        assert (factorized(kernel, points, 120) is None) is full
    eigenvalues = np.linalg.eigvalsh(Gaussian("median").resolve(wide)(wide))
    assert eigenvalues[:-120].sum() > TOLERANCE * len(wide)  # what no 120 landmarks can reach
