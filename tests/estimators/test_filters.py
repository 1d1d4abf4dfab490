"""Weights and tuned amounts of estimators of the Gram matrix: slow twins, limits, scores, ties."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

import naive
from shrinktest import (
    FKMSE,
    KME,
    SKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Landweber,
    Linear,
    NuMethod,
    Polynomial,
    Precomputed,
)
from shrinktest.estimators.mean_estimator import SampleStack


def points(n, d=3, seed=0):
    return np.random.default_rng([seed, n, d]).normal(size=(n, d))


GRAMS = {
    "gaussian": lambda n: Gaussian(1.5)(points(n)),
    "gaussian wide": lambda n: Gaussian(20.0)(points(n)),  # numerically of low rank
    "gaussian narrow": lambda n: Gaussian(0.2)(points(n)),  # nearly the identity
    "gaussian 1-d": lambda n: Gaussian(1.0)(points(n, 1)),
    "gaussian 10-d": lambda n: Gaussian(4.0)(points(n, 10)),
    "linear": lambda n: Linear()(points(n)),  # negative entries, rank 3
    "linear far": lambda n: Linear()(points(n) + 2.0),
    "polynomial": lambda n: Polynomial(degree=3, offset=1)(points(n)),
    "duplicates": lambda n: Gaussian(1.5)(np.repeat(points(n), 3, axis=0)[:n]),
    "identity": np.eye,
    "ones": lambda n: np.ones((n, n)),
    "zero": lambda n: np.zeros((n, n)),
    "large": lambda n: 1e6 * Gaussian(1.5)(points(n)),
    "small": lambda n: 1e-6 * Linear()(points(n)),
    "random": lambda n: points(n, n) @ np.diag(np.logspace(0, -8, n)) @ points(n, n).T,
}
SIZES = (2, 3, 7, 13)
LARGE = {"gaussian wide", "linear", "duplicates"}  # these also at 24 points

TUNED = [
    (SKMSE(), naive.skmse),
    (SKMSE(rule="plugin"), partial(naive.skmse, rule="plugin")),
    *((FKMSE(loo=loo), partial(naive.fkmse, loo=loo)) for loo in ("deletion", "averaged", "paper")),
    *(
        (IteratedTikhonov(t=t, loo=loo), partial(naive.iterated_tikhonov, t=t, loo=loo))
        for t, loo in (
            (1, "deletion"),
            (2, "deletion"),
            (3, "deletion"),
            (1, "paper"),
            (3, "paper"),
        )
    ),
    *((Landweber(loo=loo), partial(naive.landweber, loo=loo)) for loo in ("deletion", "paper")),
    (Landweber(max_iter=7), partial(naive.landweber, max_iter=7)),
    *(
        (NuMethod(nu=nu, loo=loo), partial(naive.nu_method, nu=nu, loo=loo))
        for nu, loo in ((0.5, "deletion"), (1.0, "deletion"), (2.0, "deletion"), (1.0, "paper"))
    ),
    *((TSVD(rule=rule), partial(naive.tsvd, rule=rule)) for rule in ("loo", "gcv")),
]
FIXED = [
    (KME(), naive.kme),
    (SKMSE(alpha=0.3), partial(naive.skmse, alpha=0.3)),
    (SKMSE(decay=(0.7, 1.5)), partial(naive.skmse, decay=(0.7, 1.5))),
    *((FKMSE(lam=lam), partial(naive.fkmse, lam=lam)) for lam in (0.0, 1e-3, 0.1, 30.0, np.inf)),
    *(
        (FKMSE(lam_cov=lam), partial(naive.fkmse, lam_cov=lam))
        for lam in (0.0, 1e-4, 0.2, 50.0, np.inf)
    ),
    *(
        (IteratedTikhonov(lam=0.1, t=t), partial(naive.iterated_tikhonov, lam=0.1, t=t))
        for t in (1, 2, 9)
    ),
    (IteratedTikhonov(lam_cov=0.3), partial(naive.iterated_tikhonov, lam_cov=0.3)),
    *((Landweber(t=t), partial(naive.landweber, t=t)) for t in (1, 2, 40)),
    *(
        (NuMethod(t=t, nu=nu), partial(naive.nu_method, t=t, nu=nu))
        for t in (1, 2, 15)
        for nu in (0.5, 1.0, 2.0)
    ),
    *((TSVD(threshold=a), partial(naive.tsvd, threshold=a)) for a in (0.0, 1e-3, 0.1, np.inf)),
]


def agree(weights, expected, message=""):
    """To 1e-8 of the largest weight, or to the rounding of weights of order one."""
    size = np.abs(expected).max()
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-8 * size + 1e-16, err_msg=message)


def spectral(D, p):
    """A Gram matrix with eigenvalues D, on whose eigenvectors the mean has shares p_k = n (U'u)_k^2."""
    n = len(D)
    shares = np.sqrt(np.asarray(p) / np.sum(p))
    flip = shares - np.eye(n)[0]
    H = (
        np.eye(n) - 2 * np.outer(flip, flip) / (flip @ flip) if flip @ flip > 0 else np.eye(n)
    )  # e_1 -> shares
    flip = np.full(n, n**-0.5) - np.eye(n)[0]
    U = (np.eye(n) - 2 * np.outer(flip, flip) / (flip @ flip)) @ H.T  # U' e / sqrt(n) = shares
    K = (U * D) @ U.T
    return (K + K.T) / 2


# --- weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", GRAMS)
def test_weights_are_those_of_the_twin(kind):
    for n in (1, *SIZES, *((24,) if kind in LARGE else ())):
        gram = GRAMS[kind](n)
        for estimator, twin in (*TUNED, *FIXED):
            agree(estimator.weights(gram), twin(gram), f"{estimator!r}, n={n}")


STACKS = [(case[0], False) for case in (*TUNED, *FIXED)] + [(case[0], True) for case in TUNED]


@pytest.mark.parametrize(("n", "m", "r"), [(4, 6, 2), (9, 5, 7), (70, 67, 3), (1, 3, 2)])
def test_stacks_of_samples_by_gram_matrix_and_by_coordinates(n, m, r):
    """Many samples at a time give each the weights it gets alone, from its Gram matrix or from coordinates."""
    rng = np.random.default_rng(0)
    parts = [rng.normal(loc=0.5, size=(3, size, r)) / np.arange(1, r + 1) for size in (n, m)]
    grams = [z @ z.transpose(0, 2, 1) for z in parts]
    for estimator, joint in STACKS:
        dense = estimator.fit_samples([SampleStack(gram) for gram in grams], joint)
        for p in range(0 if joint else 2):
            for b in range(3):
                agree(dense[p][b], estimator.weights(grams[p][b]), repr(estimator))
        if estimator.by_coordinates:
            low = estimator.fit_samples([SampleStack(z, by_coordinates=True) for z in parts], joint)
            for z, computed, expected in zip(parts, low, dense, strict=True):
                means = [(weights[:, None, :] @ z)[:, 0] for weights in (computed, expected)]
                np.testing.assert_allclose(*means, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "kind", ["gaussian", "gaussian 10-d", "linear", "duplicates", "large", "ones"]
)
def test_leading_components(kind):
    for n in (2, 7, 17, 60):
        K = GRAMS[kind](n)
        D, u = naive.spectrum(K)[0], np.full(n, 1 / n)
        for m in {
            m for m in (1, 2, 3, n - 1) if m < n and D[m - 1] - D[m] > 1e-6 * D[0]
        }:  # else they are not unique
            agree(TSVD(m=m).weights(K), naive.tsvd(K, m=m), f"n={n}, m={m}")
        gap = TSVD(m=n).weights(K) - u
        assert gap @ K @ gap < 1e-11 * (u @ K @ u), f"n={n}, all kept"


def test_components_that_carry_nothing_are_not_counted():
    K = GRAMS["linear"](17)
    expected = naive.tsvd(K, m=3)  # its rank
    for m in (3, 4, 9, 17):
        agree(TSVD(m=m).weights(K), expected, f"m={m}")
    assert TSVD(m=9).fit(points(17), Linear()).shrinkage == 9
    assert TSVD(threshold=0.0).fit(points(17), Linear()).shrinkage == 3
    np.testing.assert_array_equal(TSVD(m=1).weights(np.zeros((3, 3))), np.zeros(3))


def test_step_size_and_closed_filters():
    for kind in ("gaussian", "gaussian wide", "linear", "duplicates", "large", "ones"):
        for n, t in itertools.product((2, 9, 30), (1, 2, 6)):
            K = GRAMS[kind](n)
            lam = 0.03 * np.trace(K)
            agree(IteratedTikhonov(lam=lam, t=t).weights(K), naive.tikhonov_filter(K, lam, t))
            agree(Landweber(t=t).weights(K), naive.descent_filter(K, t))
            for nu in (0.5, 1.0, 2.0):
                agree(NuMethod(t=t, nu=nu).weights(K), naive.descent_filter(K, t, nu))
    for eta, n, t in itertools.product((0.05, 0.9), SIZES, ({}, {"t": 12})):
        K = GRAMS["gaussian"](n)
        agree(Landweber(eta=eta, **t).weights(K), naive.landweber(K, eta=eta, **t))
        agree(NuMethod(eta=eta, **t).weights(K), naive.nu_method(K, eta=eta, **t))


def test_weights_above_the_average():
    """Not every weight of flexible shrinkage is below 1/n: the example of erratum E9."""
    K = Gaussian(bandwidth=0.6**-0.5)([-1.0, 0.0, 1.0])
    np.testing.assert_allclose(FKMSE(lam=0.1).weights(K), [0.306, 0.339, 0.306], atol=5e-4)


# --- limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "linear far", "duplicates", "large"])
def test_no_shrinkage_is_the_plain_mean_and_full_shrinkage_zero(kind):
    K, u, inf = GRAMS[kind](9), np.full(9, 1 / 9), np.inf
    for exact in (
        FKMSE(lam=0),
        FKMSE(lam_cov=0),
        IteratedTikhonov(lam=0),
        TSVD(threshold=0),
        SKMSE(alpha=0),
    ):
        np.testing.assert_array_equal(exact.weights(K), u)
    tiny = 1e-10 * np.linalg.eigvalsh(K)[-1]
    for near in (
        FKMSE(lam=tiny),
        IteratedTikhonov(lam=tiny),
        Landweber(t=3_000_000),
        NuMethod(t=3000),
        TSVD(m=9),
    ):
        gap = near.weights(K) - u
        assert gap @ K @ gap < 1e-6 * (u @ K @ u), near
    for exact in (
        FKMSE(lam=inf),
        FKMSE(lam_cov=inf),
        IteratedTikhonov(lam=inf),
        TSVD(threshold=inf),
        SKMSE(alpha=1),
    ):
        np.testing.assert_array_equal(exact.weights(K), np.zeros(9))
    for near in (FKMSE(lam_cov=1e9), IteratedTikhonov(lam_cov=1e9), SKMSE(decay=(1e9, 0.0))):
        assert np.abs(near.weights(K)).max() < 1e-8


# --- scores and their minimizers ----------------------------------------------------------------------------


SCORES = [
    *(
        (FKMSE(loo=loo), partial(naive.fkmse_scores, loo=loo))
        for loo in ("deletion", "averaged", "paper")
    ),
    (IteratedTikhonov(t=3), partial(naive.iterated_tikhonov_scores, t=3)),
    (IteratedTikhonov(t=2, loo="paper"), partial(naive.iterated_tikhonov_scores, t=2, loo="paper")),
    (Landweber(max_iter=30), naive.descent_scores),
    (NuMethod(max_iter=30), partial(naive.descent_scores, nu=1.0)),
    (Landweber(max_iter=30, loo="paper"), partial(naive.descent_scores, loo="paper")),
    (TSVD(), naive.tsvd_scores),
    (TSVD(rule="gcv"), partial(naive.tsvd_scores, rule="gcv")),
]


@pytest.mark.parametrize("kind", ["gaussian", "linear", "duplicates"])
def test_scores(kind):
    for n, (estimator, twin) in itertools.product((2, 5, 20), SCORES):
        K = GRAMS[kind](n)
        amounts, scores = estimator.scores(K)
        if isinstance(estimator, Landweber | NuMethod):
            expected = twin(K, len(amounts))
        elif isinstance(estimator, TSVD):
            expected = twin(K, amounts)
        else:
            expected = twin(K, [naive.gram_scale(K, a) for a in amounts])
        np.testing.assert_allclose(
            scores, expected, rtol=1e-8, atol=1e-11 * np.trace(K), err_msg=repr(estimator)
        )


@pytest.mark.parametrize("n", [64, 131])
def test_many_points(n):
    """Points are handled in blocks: full, and several."""
    K, few = GRAMS["linear far"](n) + 3.0 * GRAMS["gaussian"](n), [5, 40, 60]
    lams = [naive.gram_scale(K, a) for a in FKMSE().amounts(n)[few]]
    for t in (1, 3, 4):
        scores = IteratedTikhonov(t=t).scores(K)[1][few]
        np.testing.assert_allclose(scores, naive.iterated_tikhonov_scores(K, lams, t), rtol=1e-9)
    for estimator, nu in ((Landweber(max_iter=4), None), (NuMethod(max_iter=4), 1.0)):
        np.testing.assert_allclose(
            estimator.scores(K)[1], naive.descent_scores(K, 4, nu), rtol=1e-9
        )


@pytest.mark.parametrize(
    "estimator", [FKMSE(), FKMSE(loo="averaged"), FKMSE(loo="paper"), IteratedTikhonov(), TSVD()]
)
def test_scores_at_the_endpoints(estimator):
    K = GRAMS["linear far"](12)
    rho, varrho, _ = naive.moments(K)
    amounts, scores = estimator.scores(K)
    assert (amounts[0], amounts[-1]) == (0.0, np.inf)
    assert scores[0] == pytest.approx((12 / 11) ** 2 * (varrho - rho), rel=1e-12)
    assert scores[-1] == pytest.approx(varrho, rel=1e-12)
    assert scores[1] == pytest.approx(scores[0], rel=1e-3)
    assert scores[-2] == pytest.approx(scores[-1], rel=1e-2)


@pytest.mark.parametrize(
    ("D", "p"), [((1e4, 1.0), (0.3, 0.7)), ((1e4, 100.0), (0.2, 0.8)), ((1e4, 1.0), (0.05, 0.95))]
)
def test_global_minimum_of_two(D, p):
    """The score is the sum of one valley per component: a local search can end in the wrong one."""
    K = spectral(np.array([*D, *np.zeros(28)]), np.array([*p, *np.zeros(28)]))
    lams = np.logspace(-3, 6, 2000)
    scores = np.array([naive.keep_score_closed(K, lam) for lam in lams])
    valleys = np.flatnonzero((scores[1:-1] < scores[:-2]) & (scores[1:-1] < scores[2:])) + 1
    assert len(valleys) == 2
    lower, higher = lams[sorted(valleys, key=lambda valley: scores[valley])]
    chosen = FKMSE(loo="paper").fit(np.arange(30), Precomputed(K)).shrinkage
    assert abs(np.log(chosen / lower)) < 0.5 < abs(np.log(chosen / higher))


def test_deletion_can_keep_the_plain_mean():
    """With a constant among the features the score is flat at 0; the score of [M14] Theorem 4 never is (E1)."""
    K = Polynomial(degree=2, offset=1)(points(30, 1) + 1.5)
    np.testing.assert_array_equal(FKMSE().weights(K), np.full(30, 1 / 30))
    assert FKMSE(loo="paper").weights(K).sum() < 0.999


def test_ties_go_to_the_least_shrinkage():
    K = np.ones((5, 5))  # any amount up to about 1e-5 is as good as none, up to the tolerance
    for estimator in (FKMSE(), IteratedTikhonov(), TSVD()):
        assert estimator.fit(np.zeros(5), Gaussian(1.0)).shrinkage in (0.0, 1)
        np.testing.assert_array_equal(estimator.weights(K), np.full(5, 0.2))
    flat = Landweber(eta=1.0, max_iter=9).fit(
        np.zeros(5), Gaussian(1.0)
    )  # one step is the fixed point
    assert flat.shrinkage == 1


# --- simple shrinkage at its boundaries ---------------------------------------------------------------------


def test_simple_shrinkage_minimizes_its_score():
    for n, kind in itertools.product((2, 5, 20), ("gaussian", "linear far", "duplicates")):
        K = GRAMS[kind](n)
        s = SKMSE().weights(K).sum()
        assert 0 < s <= 1
        near = [naive.skmse_score(K, s * step) for step in (0.999, 1.001) if s * step <= 1]
        assert naive.skmse_score(K, s) <= min(near) + 1e-15


def test_simple_shrinkage_at_its_boundaries():
    negative = Linear()(
        [[-1.0], [1.0], [0.1]]
    )  # off-diagonal mean below 0: the minimizer would turn the mean round
    assert naive.moments(negative)[2] < 0
    nothing = (np.array([[3.0]]), np.zeros((4, 4)), np.full((4, 4), 2.0))
    two = np.array([[2.0, 0.7], [0.7, 5.0]])
    for rule, two_points in (("loocv", 1 - 2 * 0.7 / 7.0), ("plugin", 1 - 2 * 0.7 / (0.7 + 3.5))):
        for K, alpha in ((negative, 1.0), (two, two_points), *((K, 0.0) for K in nothing)):
            assert SKMSE(rule=rule).fit(
                np.arange(len(K)), Precomputed(K)
            ).shrinkage == pytest.approx(alpha)
            np.testing.assert_allclose(
                SKMSE(rule=rule).weights(K), np.full(len(K), (1 - alpha) / len(K))
            )


# --- one amount for several samples -------------------------------------------------------------------------


SHARED = [
    (SKMSE(), "alpha", lambda *grams: 1 - naive.skmse_factor(*grams)),
    (SKMSE(rule="plugin"), "alpha", lambda *grams: 1 - naive.skmse_factor(*grams, rule="plugin")),
    *(
        (FKMSE(loo=loo), "lam_cov", partial(naive.fkmse_choice, loo=loo))
        for loo in ("deletion", "averaged", "paper")
    ),
    (IteratedTikhonov(t=2), "lam_cov", partial(naive.iterated_tikhonov_choice, t=2)),
    (Landweber(), "t", naive.descent_choice),
    (Landweber(loo="paper"), "t", partial(naive.descent_choice, loo="paper")),
    (NuMethod(nu=2.0), "t", partial(naive.descent_choice, nu=2.0)),
    (TSVD(), "threshold", naive.tsvd_choice),
    (TSVD(rule="gcv"), "threshold", partial(naive.tsvd_choice, rule="gcv")),
]
SAMPLES = {
    "gaussian": (Gaussian(1.5), points(9), points(13, seed=1) * 1.5),
    "wide": (Gaussian(8.0), points(8, 2), points(30, 2, seed=1) + 1.0),
    "linear": (Linear(), points(9) + 0.5, points(13, seed=1)),
    "duplicates": (Gaussian(1.0), np.repeat(points(4), 2, axis=0), points(6, seed=1)),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_shared_amount(kind):
    kernel, x, y = SAMPLES[kind]
    for estimator, name, twin in SHARED:
        for samples in ((x, y), (x,), (np.vstack([x, y]),)):  # joint, alone, pooled
            tuned = estimator.tuned(kernel, *samples)
            assert tuned.fixed
            assert getattr(tuned, name) == pytest.approx(
                twin(*(kernel(z) for z in samples)), rel=1e-9, abs=1e-12
            )
        alone = estimator.tuned(kernel, x)
        agree(alone.weights(kernel(x)), estimator.weights(kernel(x)))


@pytest.mark.parametrize(
    "estimator", [FKMSE(lam_cov=0.1), FKMSE(), Landweber(), TSVD(m=2)], ids=repr
)
@pytest.mark.parametrize("factor", [1e-300, 1e-170, 1e160])
def test_weights_beyond_the_range_of_numbers(estimator, factor):
    with pytest.raises(ValueError, match="multiply the data"):
        estimator.weights(factor * GRAMS["gaussian"](9))
    np.testing.assert_array_equal(FKMSE(lam_cov=0.1).weights(np.zeros((3, 3))), np.full(3, 1 / 3))
