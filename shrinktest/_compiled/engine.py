"""Weights of one sample by any estimator, and w'Gw.

The estimator comes as two function pointers of one fixed signature, so these loops are compiled once for all of them.
"""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.choice import choose
from shrinktest._compiled.jit import MATRIX, SCORE, VECTOR, WEIGH, compiled
from shrinktest._compiled.vectors import trace


@compiled(inline=True)
def degenerate(gram):
    """No amount can be tuned on one point or on a zero Gram matrix: the plain mean then."""
    return gram.shape[0] == 1 or trace(gram) == 0.0


@compiled(types.float64(MATRIX, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR, SCORE, WEIGH))
def fit(gram, theta, amounts, work, scores, out, score, weigh):
    """Weights of one sample into ``out``; returns the amount used (NaN where there was nothing to tune)."""
    n = gram.shape[0]
    if amounts.size == 1:
        score(gram, theta, amounts, work, scores)
        weigh(gram, theta, amounts[0], work, out)
        return amounts[0]
    if degenerate(gram):
        scores[:] = np.nan
        out[:] = 1.0 / n
        return np.nan
    score(gram, theta, amounts, work, scores)
    best = choose(scores, 1e-9 * trace(gram) / n)
    if best < 0:
        out[:] = np.nan
        return np.nan
    weigh(gram, theta, amounts[best], work, out)
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
