"""Slow twins of equivalence tests: sums over all tuples of different observations, one left out at a time."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats


def score_test(value, without, second, units, margin):
    """z and p-value of a quantity's being the margin or more; ``without``: by sample, estimates with one left out."""
    jackknife = sum((len(one) - 1.0) / len(one) * sum((x - np.mean(one)) ** 2 for x in one) for one in without)
    first = max(jackknife - 2.0 * second, 0.0)
    slope = (first + 2.0 * second) / (max(value, 0.0) + (2.0 * second) ** 0.5)
    # the largest over all quantities that are the margin or more
    z = max((value - theta) / (second + slope * theta) ** 0.5 for theta in margin + np.linspace(0.0, 1.0, 200001))
    return z, stats.t(units - 1).cdf(z)


def distance(K, m):
    """The squared distance of two means over the sum of their squared norms, from pairs of different observations."""
    n = len(K) - m
    x, y = range(m), range(m, m + n)
    a = np.mean([K[i, j] for i in x for j in x if i != j])
    b = np.mean([K[i, j] for i in y for j in y if i != j])
    c = np.mean([K[i, j] for i in x for j in y])
    return (a + b - 2.0 * c) / (a + b), a + b


def distance_test(K, m, margin):
    """Of two samples, the first of m rows."""
    value, unit = distance(K, m)

    def left(i):
        keep = [j for j in range(len(K)) if j != i]
        return distance(K[np.ix_(keep, keep)], m - (i < m))[0]

    n = len(K) - m
    without = [[left(i) for i in range(m)], [left(i) for i in range(m, m + n)]]
    x, y = range(m), range(m, m + n)
    both = np.mean(
        [
            (K[i, k] - K[i, q] - K[j, k] + K[j, q]) ** 2 / 4.0
            for i in x for j in x if i != j for k in y for q in y if k != q
        ]
    )  # fmt: skip
    within = sum(2.0 * spread(K, part) / (len(part) * (len(part) - 1.0)) for part in (x, y))
    second = (within + 4.0 * both / (m * n)) / unit**2
    return value, *score_test(value, without, second, min(m, n), margin)


def spread(K, rows):
    """The squared norm of the covariance operator."""
    return np.mean([K[i, j] ** 2 - 2.0 * K[i, j] * K[i, k] + K[i, j] * K[k, q] for i, j, k, q in permutations(rows, 4)])


def dependence(K, L):
    """HSIC over the root of the HSIC of both variables with themselves."""
    tuples = list(permutations(range(len(K)), 4))

    def hsic(K, L):
        return np.mean([K[i, j] * (L[i, j] + L[k, q] - 2.0 * L[i, k]) for i, j, k, q in tuples])

    return hsic(K, L) / (hsic(K, K) * hsic(L, L)) ** 0.5


def dependence_test(K, L, margin):
    """Of two variables."""
    n, without = len(K), []
    for i in range(n):
        keep = np.ix_(*[[j for j in range(n) if j != i]] * 2)
        without.append(dependence(K[keep], L[keep]))
    value = dependence(K, L)
    return value, *score_test(value, [without], 2.0 / (n * (n - 3.0)), n, margin)
