"""Weight estimators over splits: gather the Gram matrix of every relabelled sample, refit, evaluate w'Gw."""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.choice import choose
from shrinktest._compiled.engine import degenerate, fit, quadratic
from shrinktest._compiled.jit import MATRIX, SCORE, VECTOR, WEIGH, compiled
from shrinktest._compiled.tridiagonal import workspace
from shrinktest._compiled.vectors import trace

_MASKS = types.Array(types.boolean, 2, "C", readonly=True)


@compiled(inline=True)
def fit_jointly(gram_x, gram_y, theta, amounts, work_x, work_y, scores_x, scores_y, out_x, out_y, score, weigh):
    """Weights of two samples at the one amount that minimises the sum of their scores."""
    if degenerate(gram_x) or degenerate(gram_y):
        out_x[:] = 1.0 / out_x.size
        out_y[:] = 1.0 / out_y.size
        return np.nan
    score(gram_x, theta, amounts, work_x, scores_x)
    score(gram_y, theta, amounts, work_y, scores_y)
    for g in range(amounts.size):
        scores_x[g] += scores_y[g]
    best = choose(scores_x, 1e-9 * (trace(gram_x) / out_x.size + trace(gram_y) / out_y.size))
    if best < 0:
        out_x[:] = np.nan
        out_y[:] = np.nan
        return np.nan
    weigh(gram_x, theta, amounts[best], work_x, out_x)
    weigh(gram_y, theta, amounts[best], work_y, out_y)
    return amounts[best]


@compiled()
def excess(gram, weights):
    """What chance adds to w'Kw: sum of w_i^2 (K_ii - A), A the mean of the off-diagonal entries."""
    n = weights.size
    total = trace = 0.0
    for i in range(n):
        for j in range(n):
            total += gram[i, j]
        trace += gram[i, i]
    between = (total - trace) / (n * (n - 1.0))
    out = 0.0
    for i in range(n):
        out += weights[i] * weights[i] * (gram[i, i] - between)
    return out


@compiled(
    types.void(MATRIX, _MASKS, VECTOR, VECTOR, VECTOR, types.boolean, types.boolean, SCORE, WEIGH, MATRIX),
)
def splits(pooled, masks, theta, amounts_x, amounts_y, joint, unbiased, score, weigh, out):
    """Squared distance of the two estimates for every split: ``out`` (B, 2) = statistic, size of what cancels in it."""
    total = masks.shape[1]
    first = 0
    for i in range(total):
        first += masks[0, i]
    second = total - first
    rows, columns = np.empty(first, np.int64), np.empty(second, np.int64)
    gram_x, gram_y = np.empty((first, first)), np.empty((second, second))
    work_x, work_y = workspace(first), workspace(second)
    scores_x, scores_y = np.empty(amounts_x.size), np.empty(amounts_y.size)
    x, y = np.empty(first), np.empty(second)
    for r in range(masks.shape[0]):
        i = j = 0
        for k in range(total):
            if masks[r, k]:
                rows[i] = k
                i += 1
            else:
                columns[j] = k
                j += 1
        for i in range(first):
            for j in range(first):
                gram_x[i, j] = pooled[rows[i], rows[j]]
        for i in range(second):
            for j in range(second):
                gram_y[i, j] = pooled[columns[i], columns[j]]
        if joint:
            fit_jointly(gram_x, gram_y, theta, amounts_x, work_x, work_y, scores_x, scores_y, x, y, score, weigh)
        else:
            fit(gram_x, theta, amounts_x, work_x, scores_x, x, score, weigh)
            fit(gram_y, theta, amounts_y, work_y, scores_y, y, score, weigh)
        cross = 0.0
        for i in range(first):
            row = 0.0
            for j in range(second):
                row += pooled[rows[i], columns[j]] * y[j]
            cross += x[i] * row
        within = quadratic(gram_x, x) + quadratic(gram_y, y)
        out[r, 0] = within - 2.0 * cross
        out[r, 1] = within + 2.0 * abs(cross)
        if unbiased:
            out[r, 0] -= excess(gram_x, x) + excess(gram_y, y)
