"""Slow, literal twins of what `multiplicity` and `aggregation` compute.  Nothing here comes from the package."""

from __future__ import annotations

import numpy as np


def tail_ranks(statistics, tolerance=None):
    """Rows whose statistic is at least as large, ties within the tolerance of the column included."""
    rows, k = statistics.shape
    tolerance = [0.0] * k if tolerance is None else tolerance
    return np.array(
        [
            [sum(statistics[a, j] >= statistics[b, j] - tolerance[j] for a in range(rows)) for j in range(k)]
            for b in range(rows)
        ]
    )


def precedes(a, b):
    """Whether the pair (weighted rank, height) a is as extreme as b: smaller rank, then greater height."""
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
