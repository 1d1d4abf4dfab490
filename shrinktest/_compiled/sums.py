"""Block sums over relabellings, for the estimators that need nothing else."""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled

_TILE = 32  # rows of the Gram matrix that meet all relabellings of a chunk while they are in the cache


@compiled()
def split_sums(gram, masks, out):
    """For every split S: ``out`` (B, 3) = sum of K over S x S, sum of K over S x everything, trace over S.

    Only the pairs i > j with i in S are touched, half of S's rows of half the matrix, each as a dot product with the
    membership vector.
    """
    total = gram.shape[0]
    members = np.empty((masks.shape[0], total))
    for r in range(masks.shape[0]):
        for j in range(total):
            members[r, j] = 1.0 if masks[r, j] else 0.0
    rows = np.empty(total)
    for i in range(total):
        value = 0.0
        for j in range(total):
            value += gram[i, j]
        rows[i] = value
    out[:] = 0.0
    for start in range(0, total, _TILE):
        stop = min(start + _TILE, total)
        for r in range(masks.shape[0]):
            member = members[r]
            within = along = diagonal = 0.0
            for i in range(start, stop):
                if masks[r, i]:
                    row = gram[i]
                    value = 0.0
                    for j in range(i):
                        value += row[j] * member[j]
                    within += value
                    along += rows[i]
                    diagonal += row[i]
            out[r, 0] += 2.0 * within + diagonal
            out[r, 1] += along
            out[r, 2] += diagonal


@compiled()
def pairing_sums(x, y, permutations, out):
    """For every permutation pi: ``out`` (B, 2) = sum of x_ij y_pi(i)pi(j), and its diagonal part."""
    n = x.shape[0]
    for r in range(permutations.shape[0]):
        pi = permutations[r]
        total = diagonal = 0.0
        for i in range(n):
            row = y[pi[i]]
            value = 0.0
            for j in range(i):
                value += x[i, j] * row[pi[j]]
            total += value
            diagonal += x[i, i] * row[pi[i]]
        out[r, 0] = 2.0 * total + diagonal
        out[r, 1] = diagonal
