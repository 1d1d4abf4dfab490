"""What tests race against: loops in numpy, other packages, and bare matrix products.

Loops are contenders, not oracles: `test_loops_agree_with_their_twins` holds them to the literal twins in `naive`.
"""

from __future__ import annotations

import importlib
from functools import partial

import numpy as np
from scipy import stats
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial.distance import pdist, squareform

# --- loops: an eigendecomposition per sample and permutation, everything else vectorised ---------------------------


GRID = np.concatenate([[0.0], np.logspace(-6.0, 3.0, 64), [np.inf]])
THRESHOLDS = np.concatenate([[0.0], np.logspace(-6.0, 0.0, 64), [np.inf]])


# ----------------------------------------------------------------------------------------------- weights


def first_best(scores, gram):
    """Place of the first score that is the least up to rounding."""
    return int(np.flatnonzero(scores <= scores.min() + 1e-9 * np.trace(gram) / len(gram))[0])


def decompose(gram):
    """Eigenvalues, those at the level of rounding set to 0, and eigenvectors."""
    values, vectors = np.linalg.eigh(gram)
    return np.where(values > len(gram) * np.finfo(float).eps * values[-1], values, 0.0), vectors


def kme(gram):
    return np.full(len(gram), 1.0 / len(gram))


def skmse(gram):
    n, trace = len(gram), np.trace(gram)
    between = (gram.sum() - trace) / (n * (n - 1))
    below = ((n - 2) * between + trace / n) / (n - 1)
    return np.full(n, (1.0 if below <= 0 else np.clip(between / below, 0.0, 1.0)) / n)


def fkmse(loo):
    """Leave-one-out scores of the ridge G = (K + lam)^-1 from one eigendecomposition, one lam after the other."""

    def weights(gram):
        n = len(gram)
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        e, squares, diagonal = vectors.sum(axis=0), vectors**2, np.diag(gram)
        rows, total = gram.sum(axis=0), gram.sum()
        plain = (
            diagonal
            - 2.0 * (rows - diagonal) / (n - 1)
            + (total - 2.0 * rows + diagonal) / (n - 1) ** 2
        )
        scores = [plain.mean()]
        for lam in GRID[1:-1] * np.trace(gram):
            ridge = 1.0 / (values + lam)
            c = values * ridge * e
            b, kb, gb, norm = (
                vectors @ c,
                vectors @ (values * c),
                vectors @ (ridge * c),
                c @ (values * c),
            )
            leverage, square = squares @ ridge, squares @ ridge**2
            if loo == "averaged":
                leverage, square = np.full(n, leverage.mean()), np.full(n, square.mean())
            c = (1.0 - b) / leverage
            cross = (kb - diagonal + c * (1.0 - lam * leverage)) / (n - 1)
            quad = (
                norm
                + diagonal
                + c**2 * (leverage - lam * square)
                - 2.0 * kb
                + 2.0 * c * (b - lam * gb)
            )
            scores.append(
                (
                    diagonal
                    - 2.0 * cross
                    + (quad - 2.0 * c * (1.0 - lam * leverage)) / (n - 1) ** 2
                ).mean()
            )
        best = first_best(np.array([*scores, diagonal.mean()]), gram)
        if best in (0, len(GRID) - 1):
            return np.full(n, (best == 0) / n)
        return vectors @ (values / (values + GRID[best] * np.trace(gram)) * e) / n

    return weights


def by_deletion(gram, factors):
    """Leave every point out, decompose the rest, score all factors at once; (amounts,) from (D, n) -> (amounts, n)."""
    n, scores = len(gram), 0.0
    for i in range(n):
        others = np.arange(n) != i
        values, vectors = decompose(gram[np.ix_(others, others)])
        coordinates = factors(values, n - 1) * vectors.mean(axis=0)
        miss = (
            gram[i, i] - 2.0 * coordinates @ (vectors.T @ gram[i, others]) + coordinates**2 @ values
        )
        scores = scores + miss / n
    return scores


def filtered(factors, amounts):
    """Weights of a spectral filter; ``factors(gram)`` is (D, n) -> (amounts, n)."""

    def weights(gram):
        filters = factors(gram)
        best = first_best(by_deletion(gram, filters), gram)
        values, vectors = decompose(gram)
        if amounts is not None and amounts[best] == 0:
            return kme(gram)
        return vectors @ (filters(values, len(gram))[best] * vectors.mean(axis=0))

    return weights


def tikhonov_filters(gram, t=3):
    def filters(values, n):
        lams = GRID[1:-1, None] * np.trace(gram)
        inner = 1.0 - (lams / (values + lams)) ** t
        return np.vstack([np.ones(len(values)), inner, np.zeros(len(values))])

    return filters


def descent_filters(gram, nu, limit):
    """1 - r_t of the residuals r_t(x), x = D/(n max K_ii), by their three-term recursion."""

    def filters(values, n):
        x = values / (n * np.diag(gram).max())
        before, now, out = np.ones_like(x), np.ones_like(x), []
        for t in range(1, limit + 1):
            momentum, step = 0.0, 1.0
            if nu is not None and t == 1:
                step = (4 * nu + 2) / (4 * nu + 1)
            elif nu is not None:
                below = (t + 2 * nu - 1) * (2 * t + 4 * nu - 1)
                momentum = (
                    (t - 1) * (2 * t - 3) * (2 * t + 2 * nu - 1) / (below * (2 * t + 2 * nu - 3))
                )
                step = 4 * (2 * t + 2 * nu - 1) * (t + nu - 1) / below
            before, now = now, now + momentum * (now - before) - step * x * now
            out.append(1.0 - now)
        return np.array(out)

    return filters


def landweber(gram):
    return filtered(lambda K: descent_filters(K, None, max(50, 2 * len(K))), None)(gram)


def nu_method(gram):
    return filtered(
        lambda K: descent_filters(K, 1.0, max(50, 4 * int(np.ceil(np.sqrt(len(K)))))), None
    )(gram)


def tsvd(gram):
    n = len(gram)
    values, vectors = decompose(gram)
    v = vectors.mean(axis=0)
    p, mean = n * v**2, np.trace(gram) / n
    q = ((values / n >= THRESHOLDS[:, None] * (1 - 1e-9) * mean) & (values > 0)).astype(float)
    q[0], q[-1] = 1.0, 0.0
    a = q / (n - 1)
    best = first_best(
        (values * ((1 + a) ** 2 - 2 * n * a * (1 + a) * p + n**2 * a**2 * p)).sum(axis=1) / n, gram
    )
    return kme(gram) if q[best].all() else vectors @ (q[best] * v)


WEIGHTS = {
    "kme": kme,
    "skmse": skmse,
    "fkmse": fkmse("deletion"),
    "fkmse, averaged": fkmse("averaged"),
    "landweber": landweber,
    "nu": nu_method,
    "iterated_tikhonov": filtered(tikhonov_filters, GRID),
    "tsvd": tsvd,
    "mkme": kme,  # equal weights on smoothed features
    "mmkme": kme,
}


# --------------------------------------------------------------------------------------- Gram matrices


def noise(points, squares, th2, tied):
    """Leave-one-out noise variances of the marginalized means, (d,): a grid and Brent, then L-BFGS."""
    n, d = points.shape

    def score(logs):
        e = np.exp(np.broadcast_to(logs, d))
        means = []
        for variance in (th2 + e, th2 + 2.0 * e):
            height = np.sqrt(th2**d / variance.prod())
            part = (
                squares / variance[0]
                if np.ptp(e) == 0
                else squareform(pdist(points / np.sqrt(variance), "sqeuclidean"))
            )
            gram = height * np.exp(-0.5 * part)
            means.append((gram.sum(axis=0) - height, gram.sum(), height))
        (cross, _, _), (rows, total, top) = means
        return (
            1.0 - 2.0 * cross / (n - 1) + (total - 2.0 * (rows + top) + top) / (n - 1) ** 2
        ).mean()

    grid = np.log(th2) + np.linspace(-12.0, 6.0, 73)
    best = min(max(int(np.argmin([score(point) for point in grid])), 1), 71)
    bounds, options = (grid[best - 1], grid[best + 1]), {"xatol": 1e-10}
    optimum = np.full(d, minimize_scalar(score, bounds=bounds, method="bounded", options=options).x)
    if not tied and d > 1:
        edges = [(np.log(th2) - 12.0, np.log(th2) + 6.0)] * d
        optimum = minimize(
            score, optimum, method="L-BFGS-B", bounds=edges, options={"ftol": 1e-14, "gtol": 1e-9}
        ).x
    return np.exp(optimum)


def gaussian(points, estimator="kme"):
    """Gaussian Gram matrix at the median bandwidth; of noisy copies for the marginalized means."""
    squares = squareform(pdist(points, "sqeuclidean"))
    th2 = np.median(squares[np.triu_indices(len(points), 1)])
    if estimator not in ("mkme", "mmkme"):
        return np.exp(-squares / (2.0 * th2))
    variance = th2 + 2.0 * noise(points, squares, th2, estimator == "mkme")
    height = np.sqrt(th2 ** points.shape[1] / variance.prod())
    return height * np.exp(-0.5 * squareform(pdist(points / np.sqrt(variance), "sqeuclidean")))


# ------------------------------------------------------------------------------------------ statistics


def two_sample(X, Y, masks, estimator):
    """MMD^2 of every split."""
    gram, weights, out = gaussian(np.vstack([X, Y]), estimator), WEIGHTS[estimator], []
    for mask in masks:
        xx, yy, xy = gram[mask][:, mask], gram[~mask][:, ~mask], gram[mask][:, ~mask]
        w, v = weights(xx), weights(yy)
        out.append(w @ xx @ w + v @ yy @ v - 2.0 * (w @ xy @ v))
    return np.array(out)


def independence(X, Y, pairings, estimator):
    """Squared norm of the covariance operator of every pairing."""
    left, right = (centered(gaussian(Z, estimator)) for Z in (X, Y))
    weights, out = WEIGHTS[estimator], []
    for pairing in pairings:
        gram = left * right[np.ix_(pairing, pairing)]
        w = weights(gram)
        out.append(w @ gram @ w)
    return np.array(out)


def centered(gram):
    rows = gram.mean(axis=0)
    return gram - rows[:, None] - rows[None, :] + rows.mean()


# --- other packages: (X, Y, resamples, workers) -> (statistic, p-value) --------------------------------------------


def hyppo_mmd(X, Y, resamples, workers):
    from hyppo.ksample import MMD

    result = MMD(bias=True).test(X, Y, reps=resamples, workers=workers, auto=False, random_state=0)
    return result[0], result[1]


def hyppo_hsic(X, Y, resamples, workers):
    from hyppo.independence import Hsic

    result = Hsic(bias=True).test(X, Y, reps=resamples, workers=workers, auto=False, random_state=0)
    return result[0], result[1]


def dcor_energy(X, Y, resamples, workers):
    import dcor

    result = dcor.homogeneity.energy_test(
        X, Y, num_resamples=resamples, random_state=0, n_jobs=workers
    )
    return float(result.statistic), result.pvalue


def dcor_covariance(X, Y, resamples, workers):
    import dcor

    result = dcor.independence.distance_covariance_test(
        X, Y, num_resamples=resamples, random_state=0, n_jobs=workers
    )
    return float(result.statistic), result.pvalue


def frouros_mmd(X, Y, resamples, workers):
    from frouros.callbacks import PermutationTestDistanceBased
    from frouros.detectors.data_drift import MMD
    from frouros.utils.kernels import rbf_kernel

    permutations = PermutationTestDistanceBased(
        num_permutations=resamples, num_jobs=workers, method="conservative", random_state=0
    )
    sigma = float(
        np.sqrt(np.median(pdist(np.vstack([X, Y]), "sqeuclidean")))
    )  # the median heuristic, as ours
    detector = MMD(kernel=partial(rbf_kernel, sigma=sigma), callbacks=permutations)
    detector.fit(X)
    result, logs = detector.compare(Y)
    return result.distance, logs["PermutationTestDistanceBased"]["p_value"]


def mmdagg():
    """MMDAgg of the leaderboard, with as many permutations again for its level; it decides, and has no p-value."""
    import _rivals

    def decide(X, Y, resamples, workers):
        rejected = _rivals.mmdagg(X, Y, 0.05, np.random.default_rng(0), resamples)
        return float(rejected), 0.05 if rejected else 1.0

    return decide


def scipy_mmd(X, Y, resamples, workers):
    m, gram = len(X), gaussian(np.vstack([X, Y]))

    def statistic(i, j):
        i, j = i.astype(int), j.astype(int)
        return (
            gram[np.ix_(i, i)].mean() + gram[np.ix_(j, j)].mean() - 2.0 * gram[np.ix_(i, j)].mean()
        )

    rows = np.arange(m), np.arange(m, m + len(Y))
    return _scipy(rows, statistic, resamples, "independent")


def scipy_hsic(X, Y, resamples, workers):
    left, right = centered(gaussian(X)), centered(gaussian(Y))

    def statistic(i):
        i = i.astype(int)
        return (left * right[np.ix_(i, i)]).sum() / len(i) ** 2

    return _scipy((np.arange(len(X)),), statistic, resamples, "pairings")


def _scipy(rows, statistic, resamples, kind):
    result = stats.permutation_test(
        rows,
        statistic,
        permutation_type=kind,
        n_resamples=resamples,
        alternative="greater",
        vectorized=False,
        random_state=0,
    )
    return result.statistic, result.pvalue


#: Name: (the function, the package it needs, the test of ours, the form with which statistics are equal).
PEERS = {
    "hyppo MMD": (hyppo_mmd, "hyppo", "two-sample", None),
    "dcor energy_test": (dcor_energy, "dcor", "two-sample", None),
    "frouros MMD": (frouros_mmd, "frouros", "two-sample", "unbiased"),
    "scipy permutation_test, MMD": (scipy_mmd, "scipy", "two-sample", "biased"),
    "hyppo Hsic": (hyppo_hsic, "hyppo", "independence", None),
    "dcor distance_covariance_test": (dcor_covariance, "dcor", "independence", None),
    "scipy permutation_test, HSIC": (scipy_hsic, "scipy", "independence", "biased"),
}


def peer(name):
    """The function of a peer; ImportError where its package is not installed (extra `benchmark`)."""
    run, package, _, _ = PEERS[name]
    importlib.import_module(package)
    return run


# --- bare matrix products of the same work -------------------------------------------------------------------------


def indicators(masks):
    """Membership as numbers, one column a split: (N, B) from (B, N)."""
    return np.ascontiguousarray(masks.T, dtype=np.float64)


def dense(gram, columns):
    """The N x N Gram matrix times the N x B indicators."""
    return lambda: gram @ columns


def factor(factors, columns, count):
    """The r x N factor times ``count`` indicator columns, taken from the given ones as often as needed.

    Used again, so that the floor of a hundred thousand points needs no gigabyte of indicators.
    """

    def product():
        first = factors @ columns
        for start in range(columns.shape[1], count, columns.shape[1]):
            factors @ columns[:, : count - start]
        return first

    return product


def cholesky(points, bandwidth, tolerance=1e-10):
    """Pivoted Cholesky factor (r, N) of the Gaussian Gram matrix, down to a relative trace of ``tolerance``."""
    n = len(points)
    left, rows = np.ones(n), np.empty((32, n))
    rank = 0
    while left.sum() > tolerance * n and rank < n:
        if rank == len(rows):
            rows = np.vstack([rows, np.empty_like(rows)])
        pivot = int(np.argmax(left))
        column = np.exp(-((points - points[pivot]) ** 2).sum(axis=1) / (2.0 * bandwidth**2))
        row = (column - rows[:rank, pivot] @ rows[:rank]) / np.sqrt(left[pivot])
        rows[rank] = row
        left = np.maximum(left - row**2, 0.0)
        left[pivot] = 0.0
        rank += 1
    return np.ascontiguousarray(rows[:rank])
