"""Slow, literal twins of the mean estimators: the oracle that the fast code is compared with.

Nothing here comes from the package. Every function transcribes one formula or definition, by loops, `solve`
or `eigh`; a score "by deletion" removes each point, fits the others again and measures the miss.

Notation, for the Gram matrix K of n points: u = (1/n, ..., 1/n), rho = u'Ku, varrho = tr(K)/n, rhoU = mean of
the off-diagonal entries, K = U diag(D) U', v = U'u, p_k = n v_k^2, phi_i = k(x_i, .), v_k the eigenfunctions.
A mean is a vector of weights b: mu_b = sum_i b_i phi_i.

References
----------
[M14] Muandet et al., Kernel mean estimation and Stein effect, ICML 2014.
[S14] Muandet, Sriperumbudur, Schoelkopf, Kernel mean estimation via spectral filtering, NIPS 2014.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special

# ---------------------------------------------------------------------------------------- shared definitions


def uniform(n):
    """Weights of the standard mean."""
    return np.full(n, 1 / n)


def moments(K):
    """(rho, varrho, rhoU): the means of all, of the diagonal and of the off-diagonal entries."""
    n = len(K)
    total = sum(K[i, j] for i in range(n) for j in range(n))
    off = sum(K[i, j] for i in range(n) for j in range(n) if i != j)
    return total / n**2, sum(K[i, i] for i in range(n)) / n, off / max(n * (n - 1), 1)


def spectrum(K):
    """(D, U): eigenvalues from the largest on, those at the level of rounding (n eps D_1) set to 0."""
    values, vectors = np.linalg.eigh(K)
    rounding = len(K) * np.finfo(float).eps * values[-1]
    return np.where(values > rounding, values, 0.0)[::-1], vectors[:, ::-1]


def miss(K, i, b):
    """|phi_i - sum_j b_j phi_j|^2."""
    return K[i, i] - 2 * K[i] @ b + b @ K @ b


def misses(K, B):
    """(1/n) sum_i |phi_i - sum_j B_ij phi_j|^2."""
    return np.mean(np.diag(K) - 2 * np.sum(K * B, axis=1) + np.sum(B @ K * B, axis=1))


def filtered(K, q):
    """Weights U (q o v) of the element sum_k q_k <mu_hat, v_k> v_k ([S14] section 3; erratum E18)."""
    _, U = spectrum(K)
    return U @ (q * (U.T @ uniform(len(K))))


def loo_deletion(K, refit):
    """(1/n) sum_i |phi_i - mu^(-i)|^2 where mu^(-i) has never seen point i: the definition of [M14].

    `refit(K_i)` takes the Gram matrix of the other n - 1 points and gives one row of weights per amount.
    """
    n, total = len(K), 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        K_i = K[np.ix_(others, others)]
        B = np.array(refit(K_i))
        total = total + K[i, i] - 2 * B @ K[i, others] + np.sum(B @ K_i * B, axis=1)
    return total / n


def loo_filter(K, q):
    """(1/n) sum_i |phi_i - A mu^(-i)|^2, A = sum_k q_k v_k (x) v_k from the whole sample (erratum E1)."""
    n = len(K)
    _, U = spectrum(K)
    means = (1 - np.eye(n)) / (n - 1)  # in row i those of mu^(-i)
    return misses(K, means @ U * q @ U.T)


def amounts_grid(low, high):
    """0, 64 values from low to high evenly spaced in the logarithm, infinity."""
    return np.array([0.0, *np.logspace(math.log10(low), math.log10(high), 64), np.inf])


def choose(amounts, scores_of, grams):
    """The first amount whose score is the least up to 1e-9 mean(K_ii); over several grams, of the sums."""
    scores = sum(scores_of(K) for K in grams)
    scale = sum(np.trace(K) / len(K) for K in grams)
    return next(
        a for a, score in zip(amounts, scores, strict=True) if score <= min(scores) + 1e-9 * scale
    )


def untunable(K):
    """No point to leave out, or nothing but zeros: the standard mean is kept."""
    return len(K) == 1 or np.trace(K) == 0


# -------------------------------------------------------------------------- standard mean, simple shrinkage


def kme(K):
    """The standard mean, b = u."""
    return uniform(len(K))


def skmse_score(K, s):
    """LOOCV(alpha) = (1/n) sum_i |(1-alpha) mu^(-i) - phi_i|^2 at s = 1 - alpha ([M14] Theorem 3)."""
    return loo_deletion(K, lambda K_i: [s * uniform(len(K_i))])[0]


def skmse_factor(*grams, rule="loocv"):
    """s = 1 - alpha clamped to [0, 1]: it minimizes s^2 A - 2 s rhoU ([M14] Theorem 3; erratum E8).

    loocv: A = ((n-2) rhoU + varrho)/(n-1), from the score.  plugin: A = ((n-1) rhoU + varrho)/n.
    One s for several samples minimizes the sum of theirs.
    """
    above = below = 0.0
    for K in grams:
        n = len(K)
        if n == 1:
            return 1.0
        _, varrho, rhoU = moments(K)
        above += rhoU
        below += (
            ((n - 2) * rhoU + varrho) / (n - 1)
            if rule == "loocv"
            else ((n - 1) * rhoU + varrho) / n
        )
    return 1.0 if below <= 0 else min(max(above / below, 0.0), 1.0)


def skmse(K, rule="loocv", alpha=None, decay=None):
    """b = s u ([M14] Theorem 3; erratum E8); decay = (c, beta): s = 1/(1 + c n^-beta) ([S14] Theorem 1)."""
    n = len(K)
    if alpha is not None:
        s = min(max(1 - alpha, 0.0), 1.0)
    elif decay is not None:
        s = 1 / (1 + decay[0] * n ** -decay[1])
    else:
        s = skmse_factor(K, rule=rule)
    return s * uniform(n)


def skmse_target(K, F, ff, rule="loocv"):
    """s towards f*, with F_i = f*(x_i), ff = |f*|^2: Theorem 3 of [M14] on the Gram matrix of phi_i - f*."""
    n = len(K)
    shifted = [[K[i, j] - F[i] - F[j] + ff for j in range(n)] for i in range(n)]
    return skmse_factor(np.array(shifted), rule=rule)


# --------------------------------------------------- flexible shrinkage (Tikhonov) and iterated Tikhonov


def gram_scale(K, lam_cov):
    """lam = n lam_cov mean(K_ii): from the relative covariance scale to that of K (errata E7, E18)."""
    return lam_cov if lam_cov in (0, np.inf) else len(K) * lam_cov * np.trace(K) / len(K)


def tikhonov(K, lam, t):
    """b_t of (K + lam I) b_j = K u + lam b_{j-1}, b_0 = 0 ([S14] Table 1; erratum E21); u at lam = 0."""
    n = len(K)
    if lam in (0, np.inf):
        return uniform(n) if lam == 0 else np.zeros(n)
    b = np.zeros(n)
    for _ in range(t):
        b = np.linalg.solve(K + lam * np.eye(n), K @ uniform(n) + lam * b)
    return b


def tikhonov_rows(K, lams, t):
    """`tikhonov` at every one of several lam, solved together."""
    n, lams = len(K), np.asarray(lams)
    inner = (lams > 0) & (lams < np.inf)
    system = K + lams[inner, None, None] * np.eye(n)
    b = np.zeros((inner.sum(), n))
    for _ in range(t):
        b = np.linalg.solve(system, (K @ uniform(n) + lams[inner, None] * b)[:, :, None])[:, :, 0]
    rows = np.where(lams[:, None] == 0, uniform(n), np.zeros(n))
    rows[inner] = b
    return rows


def tikhonov_factors(D, lam, t):
    """q = 1 - (lam/(D+lam))^t ([S14] Table 1; erratum E21); 1 at lam = 0, where the mean itself is kept."""
    if lam in (0, np.inf):
        return np.full(len(D), 1.0 if lam == 0 else 0.0)
    return 1 - (lam / (D + lam)) ** t


def tikhonov_filter(K, lam, t=1):
    """`tikhonov` from the spectrum; t = 1 is F-KMSE with q = D/(D+lam) ([M14] Theorem 2; erratum E7)."""
    return uniform(len(K)) if lam == 0 else filtered(K, tikhonov_factors(spectrum(K)[0], lam, t))


def iterated_tikhonov_scores(K, lams, t=3, loo="deletion"):
    """Score of each lam. "paper": `loo_filter` at lam' = n lam/(n-1), so that t = 1 is [M14] Theorem 4."""
    if loo == "deletion":
        return loo_deletion(K, lambda K_i: tikhonov_rows(K_i, lams, t))
    n, D, score = len(K), spectrum(K)[0], {"paper": loo_filter}[loo]
    return np.array([score(K, tikhonov_factors(D, n * lam / (n - 1), t)) for lam in lams])


def iterated_tikhonov_choice(*grams, t=3, loo="deletion"):
    """The tuned lam_cov of one sample, or the common one of several."""
    grid = amounts_grid(1e-6, 1e3)
    return choose(
        grid, lambda K: iterated_tikhonov_scores(K, [gram_scale(K, a) for a in grid], t, loo), grams
    )


def iterated_tikhonov(K, lam=None, lam_cov=None, t=3, loo="deletion"):
    """Iterated Tikhonov regularisation ([S14] section 3; errata E18, E21, E24)."""
    if lam is None and lam_cov is None:
        lam_cov = 0.0 if untunable(K) else iterated_tikhonov_choice(K, t=t, loo=loo)
    return tikhonov(K, gram_scale(K, lam_cov) if lam is None else lam, t)


def keep_score(K, lam):
    """Score of [M14] Theorem 4: point i leaves the loss but stays in the basis (erratum E1).

    b^(-i) = argmin over all b in R^n of (1/n) sum_{j != i} |phi_j - sum_k b_k phi_k|^2 + lam |b|^2, that is
    ((n-1)/n K + lam I) b = (1/n) sum_{j != i} K_j.
    """
    n = len(K)
    if lam in (0, np.inf):
        return loo_filter(K, np.full(n, 1.0 if lam == 0 else 0.0))
    columns = K @ (1 - np.eye(n))  # in column i their sum without K_i
    return misses(K, np.linalg.solve((n - 1) / n * K + lam * np.eye(n), columns / n).T)


def keep_score_closed(K, lam):
    """[M14] Theorem 4 from D and p: (1/n) sum_k D_k [1 - p_k h_k (2-h_k)] / (1 - h_k/n)^2, h = D/(D+lam)."""
    n = len(K)
    D, U = spectrum(K)
    p, h = n * (U.T @ uniform(n)) ** 2, D / (D + lam)
    return np.sum(D * (1 - p * h * (2 - h)) / (1 - h / n) ** 2) / n


def averaged_score(K, lam):
    """The deletion score with all G_ii and (G^2)_ii, G = (K + lam I)^-1, replaced by their means over i.

    b = e - lam G e, c_i = lam (Ge)_i / G_ii; the weights without i are (b - e_i + c_i G_{.i})/(n-1).
    """
    n = len(K)
    if lam in (0, np.inf):
        return keep_score(K, lam)
    G = np.linalg.inv(K + lam * np.eye(n))
    g1, g2 = np.trace(G) / n, np.trace(G @ G) / n
    b = np.ones(n) - lam * G @ np.ones(n)
    c = lam * G @ np.ones(n) / g1
    Kb, Gb, own = K @ b, G @ b, np.diag(K)
    cross = (Kb - own + c * (1 - lam * g1)) / (n - 1)
    quad = b @ Kb + own + c**2 * (g1 - lam * g2) - 2 * Kb
    quad += 2 * c * (b - lam * Gb) - 2 * c * (1 - lam * g1)
    return np.mean(own - 2 * cross + quad / (n - 1) ** 2)


def fkmse_scores(K, lams, loo="deletion"):
    """Leave-one-out score of each lam: "deletion", "paper" ([M14] Theorem 4; erratum E1) or "averaged"."""
    if loo == "deletion":
        return iterated_tikhonov_scores(K, lams, 1)
    return np.array(
        [{"paper": keep_score, "averaged": averaged_score}[loo](K, lam) for lam in lams]
    )


def fkmse_choice(*grams, loo="deletion"):
    """The tuned lam_cov of one sample, or the common one of several."""
    grid = amounts_grid(1e-6, 1e3)
    return choose(grid, lambda K: fkmse_scores(K, [gram_scale(K, a) for a in grid], loo), grams)


def fkmse(K, lam=None, lam_cov=None, loo="deletion"):
    """F-KMSE, (K + lam I) b = K u ([M14] Theorem 2; errata E1, E5, E7)."""
    if lam is None and lam_cov is None:
        lam_cov = 0.0 if untunable(K) else fkmse_choice(K, loo=loo)
    return tikhonov(K, gram_scale(K, lam_cov) if lam is None else lam, 1)


# ------------------------------------------------------------------------------------ Landweber, nu-method


def step_size(K, eta):
    """eta, by default 1/max K_ii, for steps on K/n ([S14] section 3; errata E18, E19); any for K = 0."""
    largest = max(np.diag(K))
    return eta if eta is not None else 1 / largest if largest > 0 else 1.0


def coefficients(t, nu):
    """(momentum, step) at t: (0, 1) for Landweber (nu = None), else those of the nu-method (erratum E20)."""
    if nu is None:
        return 0.0, 1.0
    if t == 1:
        return 0.0, (4 * nu + 2) / (4 * nu + 1)
    below = (t + 2 * nu - 1) * (2 * t + 4 * nu - 1)
    momentum = (t - 1) * (2 * t - 3) * (2 * t + 2 * nu - 1) / (below * (2 * t + 2 * nu - 3))
    return momentum, 4 * (2 * t + 2 * nu - 1) * (t + nu - 1) / below


def descent(K, T, nu=None, eta=None):
    """Rows b_0..b_T of b_t = b_{t-1} + mom (b_{t-1} - b_{t-2}) + step (eta/n)(K u - K b_{t-1}), b_0 = 0.

    [S14] Table 1: Landweber (L2 boosting) for nu = None, else the nu-method; errata E19, E20.
    """
    n, eta = len(K), step_size(K, eta)
    rows, target = [np.zeros(n)], K @ uniform(n)
    for t in range(1, T + 1):
        momentum, step = coefficients(t, nu)
        gradient = (target - K @ rows[-1]) / n
        rows.append(rows[-1] + momentum * (rows[-1] - rows[max(t - 2, 0)]) + step * eta * gradient)
    return np.array(rows)


def descent_factors(K, t, nu=None, eta=None):
    """Landweber: q = 1 - (1 - x)^t, x = eta D/n. nu-method: q = 1 - P_t(1 - 2x)/P_t(1) ([S14] Table 1).

    P_t is the Jacobi polynomial with parameters (2 nu - 1/2, -1/2); errata E19, E20.
    """
    x = step_size(K, eta) * spectrum(K)[0] / len(K)
    if nu is None:
        return 1 - (1 - x) ** t
    jacobi = scipy.special.eval_jacobi
    return 1 - jacobi(t, 2 * nu - 0.5, -0.5, 1 - 2 * x) / jacobi(t, 2 * nu - 0.5, -0.5, 1.0)


def descent_filter(K, t, nu=None, eta=None):
    """Row t of `descent`, from the spectrum."""
    return filtered(K, descent_factors(K, t, nu, eta))


def descent_scores(K, T, nu=None, eta=None, loo="deletion"):
    """Scores of t = 1..T: deletion takes steps eta/(n-1) on n - 1 points, "paper" is `loo_filter`."""
    eta = step_size(K, eta)
    if loo == "deletion":
        return loo_deletion(K, lambda K_i: descent(K_i, T, nu, eta)[1:])
    score = {"paper": loo_filter}[loo]
    return np.array([score(K, descent_factors(K, t, nu, eta)) for t in range(1, T + 1)])


def descent_choice(*grams, nu=None, eta=None, max_iter=None, loo="deletion"):
    """The tuned t in 1..max(50, 2n), for the nu-method in 1..max(50, 4 ceil(sqrt(n))).

    Of several samples the common t, up to the largest of their limits.
    """
    limits = [
        max(50, 2 * len(K) if nu is None else 4 * math.ceil(math.sqrt(len(K)))) for K in grams
    ]
    T = max_iter or max(limits)
    return choose(range(1, T + 1), lambda K: descent_scores(K, T, nu, eta, loo), grams)


def landweber(K, t=None, eta=None, max_iter=None, loo="deletion"):
    """Landweber iteration, also called L2 boosting ([S14] Table 1; erratum E19)."""
    return nu_method(K, t, None, eta, max_iter, loo)


def nu_method(K, t=None, nu=1.0, eta=None, max_iter=None, loo="deletion"):
    """The nu-method, accelerated Landweber ([S14] Table 1; errata E19, E20)."""
    if t is None and untunable(K):
        return uniform(len(K))
    t = descent_choice(K, nu=nu, eta=eta, max_iter=max_iter, loo=loo) if t is None else t
    return descent(K, t, nu, eta)[t]


# --------------------------------------------------------------------------------------------- truncated SVD


def tsvd_factors(K, m=None, threshold=None):
    """q = 1 on the m leading components, or where D/n >= threshold (1 - 1e-9) mean(K_ii) ([S14] Table 1).

    Components with D = 0 add nothing to the mean: dropped, unless all n are kept (m = n, threshold = 0).
    """
    n, D = len(K), spectrum(K)[0]
    if m == n or threshold in (0, np.inf):
        return np.zeros(n) if threshold == np.inf else np.ones(n)
    retained = (
        np.arange(n) < m if threshold is None else D / n >= threshold * (1 - 1e-9) * np.trace(K) / n
    )
    return np.where(retained & (D > 0), 1.0, 0.0)


def gcv(K, m):
    """n sum_{k > m} (D_k v_k)^2 / (n-m)^2 / tr K for 1 <= m < n, else infinite ([S14] section 5; erratum E24)."""
    n = len(K)
    D, U = spectrum(K)
    return (
        np.sum((D * (U.T @ uniform(n)))[m:] ** 2) * n / (n - m) ** 2 / np.trace(K)
        if 1 <= m < n
        else np.inf
    )


def tsvd_scores(K, thresholds, rule="loo"):
    """Score of each threshold: `loo_filter` of the components it keeps, or the `gcv` of their number."""
    score = {"loo": loo_filter, "gcv": lambda K, q: gcv(K, int(sum(q)))}[rule]
    return np.array([score(K, tsvd_factors(K, threshold=threshold)) for threshold in thresholds])


def tsvd_choice(*grams, rule="loo"):
    """The tuned threshold of one sample, or the common one of several."""
    grid = amounts_grid(1e-6, 1.0)
    return choose(grid, lambda K: tsvd_scores(K, grid, rule), grams)


def tsvd(K, m=None, threshold=None, rule="loo"):
    """Projection of the mean on leading eigenfunctions ([S14] Table 1); u itself when all n are kept."""
    if m is None and threshold is None:
        threshold = 0.0 if untunable(K) else tsvd_choice(K, rule=rule)
    q = tsvd_factors(K, m, threshold)
    return uniform(len(K)) if all(q == 1) else filtered(K, q)
