"""Slow, literal twins of the test statistics and permutation p-values.

Nothing here comes from the package. A weight function takes a Gram matrix and gives one weight per point.

References
----------
[M14] Muandet et al., Kernel mean estimation and Stein effect, ICML 2014.
[X20] Xia et al., Kernel mean estimation by marginalized corrupted distributions, 2020.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.stats import beta

# ---------------------------------------------------------------------------------------------- two samples


def mmd2_weighted(w_x, K_xx, w_y, K_yy, K_xy):
    """|sum_i w_i phi(x_i) - sum_j v_j phi(y_j)|^2 = w'K_xx w + v'K_yy v - 2 w'K_xy v."""
    m, n = len(w_x), len(w_y)
    xx = sum(w_x[i] * K_xx[i, j] * w_x[j] for i in range(m) for j in range(m))
    yy = sum(w_y[i] * K_yy[i, j] * w_y[j] for i in range(n) for j in range(n))
    xy = sum(w_x[i] * K_xy[i, j] * w_y[j] for i in range(m) for j in range(n))
    return xx + yy - 2 * xy


def mmd2_biased(K_xx, K_yy, K_xy):
    """Mean of K_xx + mean of K_yy - 2 mean of K_xy (Gretton et al., JMLR 13, 2012, Lemma 6)."""
    return np.mean(K_xx) + np.mean(K_yy) - 2 * np.mean(K_xy)


def mmd2_unbiased(K_xx, K_yy, K_xy):
    """MMD^2 with means over the off-diagonal entries of K_xx and K_yy (Gretton et al., 2012, Lemma 6)."""
    within = 0.0
    for K in (K_xx, K_yy):
        n = len(K)
        within += sum(K[i, j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    return within - 2 * np.mean(K_xy)


def mmd2_weighted_unbiased(w_x, K_xx, w_y, K_yy, K_xy):
    """The weighted MMD^2 less what independent points add to it: sum of w_i^2 (K_ii - mean of K off its diagonal)."""
    value = mmd2_weighted(w_x, K_xx, w_y, K_yy, K_xy)
    for w, K in ((w_x, K_xx), (w_y, K_yy)):
        n = len(w)
        between = sum(K[i, j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
        value -= sum(w[i] ** 2 * (K[i, i] - between) for i in range(n))
    return value


def mmd2_of_split(G, S, T, weights):
    """Weighted MMD^2 between the points S and T of a pooled Gram matrix, both fitted anew by `weights`."""
    K_xx, K_yy = G[np.ix_(S, S)], G[np.ix_(T, T)]
    return mmd2_weighted(weights(K_xx), K_xx, weights(K_yy), K_yy, G[np.ix_(S, T)])


# --------------------------------------------------------------------------------------------- independence


def centered(K):
    """H K H, H = I - ee'/n: the Gram matrix of phi_i - mu_hat."""
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    return H @ K @ H


def hsic_biased(K, L):
    """tr(HKH HLH)/n^2 ([X20] (32), (33); erratum E25)."""
    return np.trace(centered(K) @ centered(L)) / len(K) ** 2


def hsic_unbiased(K, L):
    """HSIC_1 of Song, Smola, Gretton, Bedo, Borgwardt, JMLR 13 (2012); at least four points.

    With K0, L0 the matrices with zero diagonal:
    [tr(K0 L0) + (e'K0 e)(e'L0 e)/((n-1)(n-2)) - 2 e'K0 L0 e/(n-2)] / (n(n-3)).
    """
    n = len(K)
    if n < 4:
        raise ValueError(f"four points at least, found {n}")
    K0, L0, e = K - np.diag(np.diag(K)), L - np.diag(np.diag(L)), np.ones(n)
    total = (e @ K0 @ e) * (e @ L0 @ e) / ((n - 1) * (n - 2))
    return (np.trace(K0 @ L0) + total - 2 * (e @ K0 @ L0 @ e) / (n - 2)) / (n * (n - 3))


def cose(K, L, weights, permutation=None):
    """Squared norm w'Mw of a shrunk covariance operator ([M14] COSE): w = weights(HKH o (HLH)[pi, pi]).

    With w = u it is the biased HSIC.
    """
    n = len(K)
    pi = range(n) if permutation is None else permutation
    Kc, Lc = centered(K), centered(L)
    M = np.array([[Kc[i, j] * Lc[pi[i], pi[j]] for j in range(n)] for i in range(n)])
    w = weights(M)
    return sum(w[i] * M[i, j] * w[j] for i in range(n) for j in range(n))


# ------------------------------------------------------------------------------------------------- p-values


def p_two_sample(G, m, statistic, tolerance=0.0):
    """Share of all C(N, m) splits, observed one included: statistic(G, S, T) >= observed - tolerance."""
    N = len(G)
    values = []
    for chosen in itertools.combinations(range(N), m):
        values.append(statistic(G, list(chosen), [i for i in range(N) if i not in chosen]))
    return sum(value >= values[0] - tolerance for value in values) / len(values)


def p_monte_carlo(observed, resampled, tolerance=0.0):
    """(1 + b)/(1 + B), b the number of the B resampled values that reach the observed one; ties count."""
    return (1 + sum(value >= observed - tolerance for value in resampled)) / (1 + len(resampled))


# --- several samples, several variables, bands ----------------------------------------------------------------------


def squared_distance(K, w, v):
    """|sum_a (w_a - v_a) phi_a|^2 for weights over all points."""
    c = w - v
    return sum(c[a] * K[a, b] * c[b] for a in range(len(c)) for b in range(len(c)))


def spread(K, members, weigh):
    """The weights of the estimate of some points, as weights over all points."""
    out = np.zeros(len(K))
    out[list(members)] = weigh(K[np.ix_(members, members)])
    return out


def noise(K, members, w):
    """sum_a w_a^2 (K_aa - mean of K off its diagonal), over the members."""
    n = len(members)
    between = sum(K[a, b] for a in members for b in members if a != b) / (n * (n - 1))
    return sum(w[a] ** 2 * (K[a, a] - between) for a in members)


def dispersion(K, parts, weigh, comparison="pairs", sizes=True, unbiased=False):
    """Average squared distance of the estimates of the parts, from each other or from that of all points."""
    weights = [spread(K, part, weigh) for part in parts]
    n = [len(part) if sizes else 1 for part in parts]
    if comparison == "pooled":
        whole = spread(K, list(range(len(K))), weigh)
        return sum(
            m * squared_distance(K, w, whole) for m, w in zip(n, weights, strict=True)
        ) / sum(n)
    value = total = 0.0
    for i, j in itertools.combinations(range(len(parts)), 2):
        distance = squared_distance(K, weights[i], weights[j])
        if unbiased:
            distance -= noise(K, parts[i], weights[i]) + noise(K, parts[j], weights[j])
        value += n[i] * n[j] * distance
        total += n[i] * n[j]
    return value / total


def labelings(sizes):
    """All sequences of labels in which label p occurs sizes[p] times, those that differ by names of parts included."""
    labels = [p for p, n in enumerate(sizes) for _ in range(n)]
    return sorted(set(itertools.permutations(labels)))


def p_k_sample(K, sizes, statistic, tolerance):
    """Share of all labelings whose statistic reaches that of the first one, which is the data's."""
    values = []
    for labels in labelings(sizes):
        values.append(
            statistic(K, [[i for i, p in enumerate(labels) if p == q] for q in range(len(sizes))])
        )
    return sum(value >= values[0] - tolerance for value in values) / len(values)


def dhsic(grams):
    """Pfister et al. (2018), Definition 3 as a V-statistic, in sums over indices."""
    n = len(grams[0])
    joint = sum(np.prod([K[i, j] for K in grams]) for i in range(n) for j in range(n)) / n**2
    margins = np.prod([sum(K[i, j] for i in range(n) for j in range(n)) / n**2 for K in grams])
    cross = sum(np.prod([sum(K[i, j] for j in range(n)) / n for K in grams]) for i in range(n)) / n
    return joint + margins - 2.0 * cross


def tensor(*vectors):
    """The tensor product of vectors, flattened."""
    out = np.ones(1)
    for v in vectors:
        out = np.outer(out, v).ravel()
    return out


def without_main_effects(features):
    """The vectors (x)_l phi_l - (x)_l mu_l - sum_l (phi_l - mu_l) (x)_{m != l} mu_m, for features (d, n, r)."""
    d, n = len(features), len(features[0])
    means = [np.mean(f, axis=0) for f in features]
    rows = []
    for i in range(n):
        row = tensor(*(f[i] for f in features)) - tensor(*means)
        for v in range(d):
            row = row - tensor(
                *(features[m][i] - means[m] if m == v else means[m] for m in range(d))
            )
        rows.append(row)
    return np.array(rows)


def p_joint(grams, statistic, tolerance):
    """Share of all shuffles of variables 2 to d whose statistic reaches that of the data."""
    n, values = len(grams[0]), []
    for shuffle in itertools.product(itertools.permutations(range(n)), repeat=len(grams) - 1):
        moved = [K[np.ix_(pi, pi)] for K, pi in zip(grams[1:], shuffle, strict=True)]
        values.append(statistic([grams[0], *moved]))
    return sum(value >= values[0] - tolerance for value in values) / len(values)


def band(rows, confidence, studentize):
    """Half width of the band of functions (rows, g), the observed one first: p-value and limits."""
    heights = []
    spread_at = [
        np.sqrt(sum(f[t] ** 2 for f in rows) / len(rows)) if studentize else 1.0
        for t in range(len(rows[0]))
    ]
    for f in rows:
        heights.append(max(abs(f[t]) / spread_at[t] for t in range(len(f))))
    # the smallest limit that at most a share 1 - confidence of the rows exceeds
    for limit in sorted(heights):
        if sum(h > limit for h in heights) <= (1.0 - confidence) * len(heights) + 1e-9:
            break
    return sum(h >= heights[0] for h in heights) / len(heights), [limit * s for s in spread_at]


def clopper_pearson(successes, trials, confidence):
    """The exact interval from quantiles of beta distributions."""
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if successes == 0 else beta.ppf(tail, successes, trials - successes + 1)
    high = 1.0 if successes == trials else beta.ppf(1.0 - tail, successes + 1, trials - successes)
    return low, high
