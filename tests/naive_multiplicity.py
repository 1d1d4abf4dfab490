"""Slow, literal twins of what `multiplicity` and `aggregation` compute.  Nothing here comes from the package."""

from __future__ import annotations

import itertools
import math

import numpy as np


def tail_ranks(statistics, tolerance=None):
    """Rows whose statistic is at least as large, ties within the tolerance of the column included."""
    rows, k = statistics.shape
    tolerance = [0.0] * k if tolerance is None else tolerance
    return np.array(
        [
            [
                sum(statistics[a, j] >= statistics[b, j] - tolerance[j] for a in range(rows))
                for j in range(k)
            ]
            for b in range(rows)
        ]
    )


def precedes(a, b):
    """Compare pairs (weighted rank, height): a is as extreme as b with a smaller rank, then a greater height."""
    return a[0] < b[0] or (a[0] == b[0] and a[1] >= b[1])


def best_pair(ranks, heights, columns):
    """The most extreme (rank, height) of some columns of one row."""
    best = None
    for j in columns:
        pair = (ranks[j], heights[j])
        if best is None or precedes(pair, best):
            best = pair
    return best


def heights(statistics):
    """Standard deviations above the mean, column by column; 0 in constant columns."""
    out = np.zeros(statistics.shape)
    for j in range(statistics.shape[1]):
        column = statistics[:, j]
        mean = sum(column) / len(column)
        sd = (sum((v - mean) ** 2 for v in column) / len(column)) ** 0.5
        if sd > 0.0:
            out[:, j] = [(v - mean) / sd for v in column]
    return out


def overall(statistics):
    """Share of rows whose best (rank, height) is as extreme as that of row 0, without ties within columns."""
    ranks, high, k = tail_ranks(statistics), heights(statistics), statistics.shape[1]
    best = [best_pair(r, h, range(k)) for r, h in zip(ranks, high, strict=True)]
    return sum(precedes(pair, best[0]) for pair in best) / len(best)


def tail_of_gamma(value, others):
    """Chance that a gamma variable with the moments of others is as large, by Wilson and Hilferty's cube root.

    The variable is (G - k) / sqrt(k) in units of the standard deviation, for G of shape k = 4 / skewness^2, and
    (G / k)^(1/3) is normal with mean 1 - 1/(9k) and variance 1/(9k).
    """
    n = len(others)
    mean = sum(others) / n
    sd = (sum((v - mean) ** 2 for v in others) / n) ** 0.5
    k = 4.0 / max(sum(((v - mean) / sd) ** 3 for v in others) / n, 0.05) ** 2
    root = np.cbrt((k + (value - mean) / sd * k**0.5) / k)
    return math.erfc((root - 1.0 + 1.0 / (9.0 * k)) * 3.0 * k**0.5 / 2.0**0.5) / 2.0


def weighted_tails(statistics, weights, tolerance):
    """Chance of a gamma variable for every statistic, over the share of the weights, by the loop that says so.

    Statistics within the tolerance of their column are ties: all count as the least of them.  The largest of a
    column, with its ties, has no part in the moments, unless all others are tied.
    """
    rows, k = statistics.shape
    out = np.empty((rows, k))
    for j in range(k):
        column, share = list(statistics[:, j]), weights[j] * k / sum(weights)
        others = [v for v in column if v < max(column) - tolerance[j]]
        if not others or max(others) - min(others) <= tolerance[j]:
            others = column
        for b in range(rows):
            least = min(v for v in column if v >= column[b] - tolerance[j])
            out[b, j] = tail_of_gamma(least, others) / share
    return out


def weighted_ranks(statistics, weights, tolerance):
    """The tail rank, less half of how high a statistic lies among all heights (from 0 to 1), over the share.

    Statistics within the tolerance of their column are ties: all count as the least of them.
    """
    rows, k = statistics.shape
    ranks, clean = tail_ranks(statistics, tolerance), np.empty((rows, k))
    for j in range(k):
        for b in range(rows):
            clean[b, j] = min(v for v in statistics[:, j] if v >= statistics[b, j] - tolerance[j])
    high = np.empty((rows, k))
    for j in range(k):
        mean = sum(statistics[:, j]) / rows
        sd = (sum((v - mean) ** 2 for v in statistics[:, j]) / rows) ** 0.5
        high[:, j] = [(v - mean) / sd for v in clean[:, j]]
    low, top = high.min(), high.max()
    share = np.array(weights) * k / sum(weights)
    return (ranks - 0.5 * (high - low) / (top - low)) / share


def overall_weighted(statistics, weights, tolerance):
    """Share of rows whose smallest weighted chance is as small as that of row 0; of few rows, ranks."""
    judged = weighted_tails if len(statistics) >= 100 else weighted_ranks
    best = judged(statistics, weights, tolerance).min(axis=1)
    return sum(smallest <= best[0] * (1 + 1e-9) for smallest in best) / len(best)


def step_down(statistics):
    """Westfall and Young (1993), algorithm 2.8, on pairs (rank, height): one intersection after the other."""
    ranks, high, k = tail_ranks(statistics), heights(statistics), statistics.shape[1]
    left, adjusted, largest = list(range(k)), [0.0] * k, 0.0
    while left:
        first = left[0]
        for j in left[1:]:
            if not precedes((ranks[0, first], high[0, first]), (ranks[0, j], high[0, j])):
                first = j
        observed = (ranks[0, first], high[0, first])
        best = [best_pair(r, h, left) for r, h in zip(ranks, high, strict=True)]
        largest = max(largest, sum(precedes(pair, observed) for pair in best) / len(best))
        adjusted[first] = largest
        left.remove(first)
    return adjusted


def combined_two_samples(grams, weights_of, m, tolerance=1e-10):
    """p-value of the combined test over all splits, for every pair of a Gram matrix and a weight function."""
    N = len(grams[0])
    splits = [list(chosen) for chosen in itertools.combinations(range(N), m)]
    rows = [
        [_distance(K, S, [i for i in range(N) if i not in S], f) for K in grams for f in weights_of]
        for S in splits
    ]
    return overall_weighted(np.array(rows), np.ones(len(rows[0])), np.full(len(rows[0]), tolerance))


def combined_pairs(grams_x, grams_y, tolerance=1e-10):
    """p-value of the combined HSIC over all pairings, for every pair of Gram matrices."""
    n = len(grams_x[0])
    H = np.eye(n) - np.ones((n, n)) / n
    rows = []
    for pi in itertools.permutations(range(n)):
        row = [np.trace(H @ K @ H @ L[np.ix_(pi, pi)]) / n**2 for K in grams_x for L in grams_y]
        rows.append(row)
    return overall_weighted(np.array(rows), np.ones(len(rows[0])), np.full(len(rows[0]), tolerance))


def _distance(K, S, T, weights):
    w, v = weights(K[np.ix_(S, S)]), weights(K[np.ix_(T, T)])
    return w @ K[np.ix_(S, S)] @ w + v @ K[np.ix_(T, T)] @ v - 2 * w @ K[np.ix_(S, T)] @ v


def equal_pairs(samples):
    """Every set of pairs that can be equal: those that are transitive, among all sets of pairs."""
    pairs = list(itertools.combinations(range(samples), 2))
    out = []
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        equal = {pair for pair, taken in zip(pairs, chosen, strict=True) if taken}
        linked = equal | {(j, i) for i, j in equal} | {(i, i) for i in range(samples)}
        closed = all((i, m) in linked for i, j in linked for k, m in linked if j == k)
        if closed:
            out.append(equal)
    return out


def shaffer(pvalues, pairs, possible):
    """Shaffer's second procedure: each p-value times the most pairs that are equal if the smaller ones differ."""
    rejected, adjusted, largest = [], {}, 0.0
    for pair in sorted(pairs, key=lambda pair: pvalues[pairs.index(pair)]):
        left = [equal for equal in possible if not equal & {*rejected}]
        most = max(len(equal & {*pairs}) for equal in left)
        largest = max(largest, min(1.0, most * pvalues[pairs.index(pair)]))
        adjusted[pair] = largest
        rejected.append(pair)
    return [adjusted[pair] for pair in pairs]
