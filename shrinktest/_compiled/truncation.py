"""Truncated SVD (the kernel-PCA basis): scores and weights at a threshold on the eigenvalues.

An amount is a threshold on sigma = D/n relative to the mean of K_ii; ``theta = (components kept or 0, score)``, score
0 = LOO_filter, 1 = GCV.  Eigenvectors of T are never formed: scores need their first components, and weights one
combination of them, for which ``work`` keeps the rotations that diagonalised T.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.tikhonov import filter_score
from shrinktest._compiled.tridiagonal import iterate, tape_of, tridiagonalize, undo, weights_at
from shrinktest._compiled.vectors import squared_norm, trace
from shrinktest._jit import compiled


@compiled(inner=True)
def cutoff(gram, amount):
    """The smallest eigenvalue of K that is kept; the slack keeps what is equal to the threshold up to rounding."""
    return amount * trace(gram) * (1.0 - 1e-9)


@compiled(inner=True)
def eigenvalues(work, order):
    """Replace T in ``work`` by its eigenvalues, and by the first component of each eigenvector; the tape has them."""
    values, off, first = work[0], work[1], np.zeros((order, 1))
    first[0, 0] = 1.0
    iterate(values, off, first, tape_of(work))
    for k in range(order):
        off[k] = first[k, 0]
    return values, off


@compiled(inner=True)
def threshold_scores(matrix, values, along, n, theta, amounts, scores):
    """Score every threshold; ``along`` is n times the square of the mean along each eigenvector."""
    factors = np.empty(values.size)
    for g in range(amounts.size):
        smallest = cutoff(matrix, amounts[g])
        kept = 0
        for k in range(values.size):
            factors[k] = 1.0 if amounts[g] == 0.0 or values[k] >= smallest else 0.0
            kept += int(factors[k])
        if theta[1] == 0.0:
            scores[g] = filter_score(values, along, factors, n)
        elif kept == 0 or kept == n or amounts[g] == 0.0:  # GCV is a ratio of nothing there
            scores[g] = np.inf
        else:
            residual = 0.0
            for k in range(values.size):
                residual += (1.0 - factors[k]) * values[k] * along[k]
            scores[g] = residual / (n - kept) ** 2 / trace(matrix)  # in the unit of K, as the other scores


@compiled()
def truncation_score(matrix, start, z, members, theta, amounts, work, scores):
    r, n = start.size, members.size
    tridiagonalize(matrix, start, work)
    values, first = eigenvalues(work, r)
    if amounts.size > 1:
        along, share = np.empty(r), squared_norm(start) / n
        for k in range(r):
            along[k] = (values[k] if z.shape[1] == 0 else share) * first[k] * first[k]
        threshold_scores(matrix, values, along, n, theta, amounts, scores)


@compiled(inner=True)
def kept_components(matrix, values, theta, amount):
    """Which eigenvectors are kept (n,); those in the null space of K carry nothing and get nothing."""
    n, most = values.size, int(theta[0])
    smallest = cutoff(matrix, amount)
    if most > 0:
        largest = 0.0
        for k in range(n):
            largest = max(largest, values[k])
        smallest = 1e-12 * largest
    kept = np.zeros(n, np.bool_)
    for k in range(n):
        kept[k] = values[k] > 0.0 and values[k] >= smallest
        if most > 0:  # the leading ones; of equal eigenvalues, which compete for the last places, the first
            before = 0
            for j in range(n):
                before += values[j] > values[k] or (values[j] == values[k] and j < k)
            kept[k] = kept[k] and before < most
    return kept


@compiled()
def truncation_weigh(matrix, start, z, members, theta, amount, work, out):
    r, n = start.size, members.size
    if theta[0] == 0.0 and amount == 0.0:
        for i in range(n):
            out[i] = 1.0 / n
        return
    values, first = work[0], work[1]
    length = np.sqrt(squared_norm(start)) / n
    kept = kept_components(matrix, values, theta, amount)
    b = np.empty(r)
    for k in range(r):
        b[k] = length * first[k] if kept[k] else 0.0 * first[k]
        if z.shape[1] > 0 and kept[k]:
            b[k] /= values[k]
    undo(tape_of(work), b)
    weights_at(work, b, z, members, out)
