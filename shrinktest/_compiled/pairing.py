"""Weight estimators over pairings: the Gram matrix of the centred pairs of every pairing, refitted, and w'Gw."""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.engine import fit, quadratic
from shrinktest._compiled.signatures import MATRIX, SCORE, VECTOR, WEIGH
from shrinktest._compiled.tridiagonal import working
from shrinktest._jit import compiled

_INDICES = types.Array(types.int64, 2, "C", readonly=True)


@compiled()
def squared_norm(gram, weights, nothing, rounding):
    """w'Gw, and the size of the terms that cancel in it: as in ``statistics.products``."""
    plain = absolute = length = 0.0
    for i in range(weights.size):
        length += abs(weights[i])
        for j in range(weights.size):
            plain += gram[i, j]
            absolute += abs(weights[i] * gram[i, j] * weights[j])
    value, plain = quadratic(gram, weights), abs(plain) / weights.size**2
    if plain <= nothing and abs(value) <= nothing:
        value = 0.0
    if nothing > 0.0:
        absolute *= 1.0 + 1e5 * nothing / max(plain, nothing)  # as in ``left_over``
    return value, absolute + rounding * length**2


@compiled(
    types.void(MATRIX, MATRIX, _INDICES, VECTOR, VECTOR, SCORE, WEIGH, types.float64, types.float64, MATRIX),
)
def pairings(centred_x, centred_y, permutations, theta, amounts, score, weigh, nothing, rounding, out):
    """Squared norm of the estimated cross-covariance operator for every pairing, ``out`` (B, 2), with its size.

    ``nothing`` and ``rounding`` are those of ``squared_norm``.
    """
    n = centred_x.shape[0]
    gram = np.empty((n, n))
    work, ones, none, members = working(n), np.ones(n), np.empty((0, 0)), np.empty(n, np.int64)
    scores = np.empty(amounts.size)
    weights = np.empty(n)
    for r in range(permutations.shape[0]):
        for i in range(n):
            pi = permutations[r, i]
            for j in range(n):
                gram[i, j] = centred_x[i, j] * centred_y[pi, permutations[r, j]]
        fit(gram, ones, none, members, theta, amounts, work, scores, weights, score, weigh)
        out[r, 0], out[r, 1] = squared_norm(gram, weights, nothing, rounding)
