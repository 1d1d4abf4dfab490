"""Weights of one sample by any estimator, and w'Gw.

The estimator comes as two function pointers of one fixed signature, so these loops are compiled once for all of them.
"""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.choice import choose
from shrinktest._compiled.signatures import INDICES, MATRIX, SCORE, VECTOR, WEIGH
from shrinktest._compiled.vectors import trace
from shrinktest._jit import compiled


@compiled(
    types.float64(MATRIX, VECTOR, MATRIX, INDICES, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR, SCORE, WEIGH),
)
def fit(matrix, start, z, members, theta, amounts, work, scores, out, score, weigh):
    """Weights of one sample into ``out``; returns the amount used (NaN where there was nothing to tune)."""
    best, total, value = 0, trace(matrix), 0.0
    if amounts.size > 1 and (members.size == 1 or total == 0.0):
        best, value = -1, 1.0 / members.size  # no amount can be tuned on that: the plain mean then
        for g in range(scores.size):
            scores[g] = np.nan
    else:
        score(matrix, start, z, members, theta, amounts, work, scores)
        if amounts.size > 1:
            best, value = choose(scores, 1e-9 * total / members.size), np.nan
    if best < 0:
        for i in range(out.size):
            out[i] = value
        return np.nan
    weigh(matrix, start, z, members, theta, amounts[best], work, out)
    return amounts[best]


@compiled()
def quadratic(gram, weights):
    total = 0.0
    for i in range(weights.size):
        row = 0.0
        for j in range(weights.size):
            row += gram[i, j] * weights[j]
        total += weights[i] * row
    return total
