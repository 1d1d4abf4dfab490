"""Slow, literal twins of the tests of more than two samples or variables, and of the witness band.

Nothing here comes from the package.

References
----------
N. Pfister, P. Buhlmann, B. Scholkopf, J. Peters, Kernel-based tests for joint independence, JRSS B 80 (2018).
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.stats import beta


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
    found = [spread(K, part, weigh) for part in parts]
    n = [len(part) if sizes else 1 for part in parts]
    if comparison == "pooled":
        whole = spread(K, list(range(len(K))), weigh)
        return sum(m * squared_distance(K, w, whole) for m, w in zip(n, found, strict=True)) / sum(n)
    value = total = 0.0
    for i, j in itertools.combinations(range(len(parts)), 2):
        distance = squared_distance(K, found[i], found[j])
        if unbiased:
            distance -= noise(K, parts[i], found[i]) + noise(K, parts[j], found[j])
        value += n[i] * n[j] * distance
        total += n[i] * n[j]
    return value / total


def labellings(sizes):
    """All sequences of labels in which label p occurs sizes[p] times, those that differ by names of parts included."""
    labels = [p for p, n in enumerate(sizes) for _ in range(n)]
    return sorted(set(itertools.permutations(labels)))


def p_k_sample(K, sizes, statistic, tolerance):
    """Share of all labellings whose statistic reaches that of the first one, which is the data's."""
    values = []
    for labels in labellings(sizes):
        values.append(statistic(K, [[i for i, p in enumerate(labels) if p == q] for q in range(len(sizes))]))
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
            row = row - tensor(*(features[m][i] - means[m] if m == v else means[m] for m in range(d)))
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
    spread_at = [np.sqrt(sum(f[t] ** 2 for f in rows) / len(rows)) if studentize else 1.0 for t in range(len(rows[0]))]
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
