"""Bare matrix products of the same work: what no implementation by dense or factored products can undercut."""

from __future__ import annotations

import numpy as np


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
