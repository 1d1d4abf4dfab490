"""Truncated SVD (the kernel-PCA basis): scores and weights at a threshold on the eigenvalues.

An amount is a threshold on sigma = D/n relative to the mean of K_ii; ``theta = (components kept or 0, score)``, score
0 = LOO_filter, 1 = GCV.  ``work`` holds n more rows than for the other filters: the eigenvectors of T.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled
from shrinktest._compiled.tikhonov import filter_score
from shrinktest._compiled.tridiagonal import diagonalize, expand, tridiagonalize


@compiled()
def cutoff(gram, amount):
    """The smallest eigenvalue of K that is kept; the slack keeps what is equal to the threshold up to rounding."""
    return amount * np.trace(gram) * (1.0 - 1e-9)


@compiled()
def truncation_score(gram, theta, amounts, work, scores):
    n = gram.shape[0]
    tridiagonalize(gram, work)
    values, vectors = work[0], work[n + 3 :]
    vectors[:] = 0.0
    for k in range(n):
        vectors[k, k] = 1.0
    diagonalize(values, work[1], vectors)
    if amounts.size == 1:
        return
    shares, factors = np.empty(n), np.empty(n)
    for k in range(n):
        shares[k] = vectors[k, 0] * vectors[k, 0]
    for g in range(amounts.size):
        smallest = cutoff(gram, amounts[g])
        kept = 0
        for k in range(n):
            factors[k] = 1.0 if amounts[g] == 0.0 or values[k] >= smallest else 0.0
            kept += int(factors[k])
        if theta[1] == 0.0:
            scores[g] = filter_score(values, shares, factors)
        elif kept == 0 or kept == n:  # GCV is a ratio of nothing there
            scores[g] = np.inf
        else:
            residual = 0.0
            for k in range(n):
                residual += (1.0 - factors[k]) * values[k] * values[k] * shares[k]
            scores[g] = residual / (n - kept) ** 2 / np.trace(gram)  # in the unit of K, as the other scores


@compiled()
def truncation_weigh(gram, theta, amount, work, out):
    n = gram.shape[0]
    values, vectors = work[0], work[n + 3 :]
    if theta[0] == 0.0 and amount == 0.0:
        out[:] = 1.0 / n
        return
    if theta[0] > 0.0:  # the m leading components; those in the null space of K carry nothing and get nothing
        ordered = np.sort(values)
        smallest = max(ordered[max(n - int(theta[0]), 0)], 1e-12 * ordered[n - 1])
        room = int(theta[0])
    else:
        smallest, room = cutoff(gram, amount), n
    b = np.zeros(n)
    for passing in range(2):  # equal eigenvalues compete for the last places: larger ones first
        for k in range(n):
            larger = values[k] > smallest
            if room > 0 and values[k] > 0.0 and ((passing == 0 and larger) or (passing == 1 and values[k] == smallest)):
                room -= 1
                for j in range(n):
                    b[j] += vectors[k, 0] * vectors[k, j]
    expand(work, b, out)
