"""The naive way through a whole test: every estimator refitted from its formula, for every relabeling.

Nothing here comes from the package: an estimator is read by the name of its class and its parameters, a kernel
is a function (X, Y) -> Gram matrix, and the rest is `naive`, `naive_kernels` and `naive_tests`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import scipy.optimize

import naive
import naive_kernels
import naive_tests

# ------------------------------------------------------------------------------------------ weight estimators


#: The amount where nothing can be tuned: the standard mean.
PLAIN = "plain mean"


def parameters(estimator):
    """The parameters that are set, without the tuning."""
    given = {field.name: getattr(estimator, field.name) for field in dataclasses.fields(estimator)}
    return {
        name: value
        for name, value in given.items()
        if value is not None and name not in ("tuning", "target")
    }


def amount(estimator, *grams):
    """Parameters that fix the estimator at what is best for these Gram matrices together; {} if it is fixed."""
    name, p = type(estimator).__name__, parameters(estimator)
    if p.keys() & {"alpha", "decay", "lam", "lam_cov", "m", "threshold"} or name == "KME":
        return {}
    if name in ("Landweber", "NuMethod") and "t" in p:
        return {}
    if name == "SKMSE":
        return {"alpha": 1 - naive.skmse_factor(*grams, rule=p["rule"])}
    if any(naive.untunable(K) for K in grams):
        return PLAIN
    if name == "FKMSE":
        return {"lam_cov": naive.fkmse_choice(*grams, loo=p["loo"])}
    if name == "IteratedTikhonov":
        return {"lam_cov": naive.iterated_tikhonov_choice(*grams, t=p["t"], loo=p["loo"])}
    if name == "TSVD":
        return {"threshold": naive.tsvd_choice(*grams, rule=p["rule"])}
    p.setdefault("nu", None)  # Landweber
    return {"t": naive.descent_choice(*grams, **p)}


def weights(estimator, K, fixed=None):
    """Naive weights on K, at an `amount` found elsewhere or, by default, on K itself."""
    fixed = amount(estimator, K) if fixed is None else fixed
    if fixed is PLAIN:
        return naive.uniform(len(K))
    functions = {
        "KME": naive.kme,
        "SKMSE": naive.skmse,
        "FKMSE": naive.fkmse,
        "IteratedTikhonov": naive.iterated_tikhonov,
        "Landweber": naive.landweber,
        "NuMethod": naive.nu_method,
        "TSVD": naive.tsvd,
    }
    return functions[type(estimator).__name__](K, **{**parameters(estimator), **fixed})


def mmd2(estimator, tuning, G, form=naive_tests.mmd2_weighted):
    """(G, S, T) -> weighted MMD^2 of a split, refitted on K_SS and K_TT.

    tuning: "sample" (also when nothing is tuned), "joint", or "pooled" (once, on G).
    """
    pooled = amount(estimator, G) if tuning == "pooled" else None

    def statistic(G, S, T):
        K, L = G[np.ix_(S, S)], G[np.ix_(T, T)]
        common = amount(estimator, K, L) if tuning == "joint" else pooled
        w, v = weights(estimator, K, common), weights(estimator, L, common)
        return form(w, K, v, L, G[np.ix_(S, T)])

    return statistic


def unbiased(G, S, T):
    """Unbiased MMD^2 of a split."""
    return naive_tests.mmd2_unbiased(G[np.ix_(S, S)], G[np.ix_(T, T)], G[np.ix_(S, T)])


def mmd2_target(estimator, K, Z, S, T):
    """SKMSE towards f* = sum_a w_a k(z_a, .): the squared norm, on the points and the target's together.

    The element is s_x mu_x + (1 - s_x) f* - s_y mu_y - (1 - s_y) f*; K is the kernel, Z the pooled points.
    """
    z, w = (np.array(part, dtype=float) for part in estimator.target)
    factors = []
    for rows in (S, T):
        F, ff = K(Z[rows], z) @ w, w @ K(z, z) @ w
        factors.append(naive.skmse_target(K(Z[rows], Z[rows]), F, ff, rule=estimator.rule))
    points = np.vstack([Z[S], Z[T], z])
    b = np.concatenate(
        [
            np.full(len(S), factors[0] / len(S)),
            np.full(len(T), -factors[1] / len(T)),
            (factors[1] - factors[0]) * w,
        ]
    )
    return b @ K(points, points) @ b


# ------------------------------------------------------------------------------------ marginalized estimators


def noise(estimator, th2, *samples):
    """Noise variances (d,) of MKME or MMKME: the given ones, or the best for these samples together."""
    d, name = samples[0].shape[1], type(estimator).__name__
    given = getattr(estimator, "variance" if name == "MKME" else "variances")
    if given is not None:
        return np.broadcast_to(np.asarray(given, float), d)
    if len(samples) == 1:
        tuned = naive_kernels.mkme_tuned if name == "MKME" or d == 1 else naive_kernels.mmkme_tuned
        return np.broadcast_to(tuned(samples[0], th2)[0], d)
    if name == "MMKME" and d > 1:
        raise ValueError("MMKME has no joint twin in several dimensions")
    grid = math.log(th2) + np.linspace(-12, 6, 73)
    values = [_score(samples, th2, e) for e in grid]
    k = min(max(int(np.argmin(values)), 1), len(grid) - 2)
    options = {"xatol": 1e-10}
    best = scipy.optimize.minimize_scalar(
        lambda e: _score(samples, th2, e),
        bounds=(grid[k - 1], grid[k + 1]),
        method="bounded",
        options=options,
    )
    return np.full(d, math.exp(best.x))


def _score(samples, th2, log_variance):
    return sum(naive_kernels.marginalized_loocv(X, th2, math.exp(log_variance)) for X in samples)


def smoothed_grams(estimator, tuning, Z, th2):
    """(S, T) -> the Gram matrices of two noisy copies, within S, within T and between them ([X20] (30))."""
    pooled = noise(estimator, th2, Z) if tuning == "pooled" else None

    def grams(S, T):
        X, Y = Z[S], Z[T]
        if tuning == "pooled":
            e = f = pooled
        elif tuning == "joint":
            e = f = noise(estimator, th2, X, Y)
        else:
            e, f = noise(estimator, th2, X), noise(estimator, th2, Y)
        pairs = (X, X, e, e), (Y, Y, f, f), (X, Y, e, f)
        return [naive_kernels.corrupted(A, B, th2, a + b) for A, B, a, b in pairs]

    return grams


# ------------------------------------------------------------------------------------------- all relabelings


def splits(N, m):
    """All (S, T); for N = 2m only those with observation 0 in S, because the mirror images give the same."""
    for S in itertools.combinations(range(N), m):
        if m != N - m or 0 in S:
            yield list(S), [i for i in range(N) if i not in S]


def split_values(G, m, statistic):
    """The statistic of all splits."""
    return np.array([statistic(G, S, T) for S, T in splits(len(G), m)])


def pairing_values(K, L, weigh):
    """Squared norms of the covariance operator, shrunk by `weigh`, over all pairings."""
    return np.array(
        [naive_tests.cose(K, L, weigh, pi) for pi in itertools.permutations(range(len(K)))]
    )
