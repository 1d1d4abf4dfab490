"""Spectral estimators over splits from coordinates: second moments of every sample instead of its Gram matrix.

With Z (n, r) the coordinates of a sample, its estimate is sum_i w_i z_i with weights w = Z v + c/n.  All that depends
on the split are Z'Z and Z'e, which are sums over the sample, and the points themselves where a score visits each.
"""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.choice import choose
from shrinktest._compiled.jit import INDICES, MATRIX, SCORE_INSIDE, VECTOR, WEIGH_INSIDE, compiled
from shrinktest._compiled.tridiagonal import workspace
from shrinktest._compiled.vectors import squared_norm, trace

_MASKS = types.Array(types.boolean, 2, "C", readonly=True)


@compiled(inline=True)
def plain(members, moments):
    """No amount can be tuned on one point or on coordinates that are zero: the plain mean then."""
    return members.size == 1 or trace(moments) == 0.0


@compiled(
    types.float64(MATRIX, VECTOR, MATRIX, INDICES, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR, SCORE_INSIDE, WEIGH_INSIDE)
)
def fit_inside(moments, mean, z, members, theta, amounts, work, scores, out, score, weigh):
    """V and c of one sample into ``out`` (r + 1,); returns the amount used (NaN where there was nothing to tune)."""
    r, n = mean.size, members.size
    tunes = amounts.size > 1
    if tunes and plain(members, moments):
        scores[:] = np.nan
        out[:] = 0.0
        out[r] = 1.0
        return np.nan
    score(moments, mean, z, members, theta, amounts, work, scores)
    best = choose(scores, 1e-9 * trace(moments) / n) if tunes else 0
    if best < 0:
        out[:] = np.nan
        return np.nan
    weigh(moments, mean, z, members, theta, amounts[best], work, out)
    return amounts[best]


@compiled(inline=True)
def fit_both(
    moments_x, mean_x, moments_y, mean_y, z, rows, columns, theta, amounts, work_x, work_y, scores_x, scores_y,
    x, y, score, weigh,
):  # fmt: skip
    """V and c of two samples at the one amount that minimises the sum of their scores."""
    r = mean_x.size
    if plain(rows, moments_x) or plain(columns, moments_y):
        x[:] = 0.0
        y[:] = 0.0
        x[r] = y[r] = 1.0
        return
    score(moments_x, mean_x, z, rows, theta, amounts, work_x, scores_x)
    score(moments_y, mean_y, z, columns, theta, amounts, work_y, scores_y)
    for g in range(amounts.size):
        scores_x[g] += scores_y[g]
    best = choose(scores_x, 1e-9 * (trace(moments_x) / rows.size + trace(moments_y) / columns.size))
    if best < 0:
        x[:] = np.nan
        y[:] = np.nan
        return
    weigh(moments_x, mean_x, z, rows, theta, amounts[best], work_x, x)
    weigh(moments_y, mean_y, z, columns, theta, amounts[best], work_y, y)


@compiled(inline=True)
def unpack(packed, r, moments, mean):
    """Z'Z and Z'e from the products of the columns of [Z, 1], below and on the diagonal, row after row."""
    k = 0
    for i in range(r):
        for j in range(i + 1):
            moments[i, j] = moments[j, i] = packed[k]
            k += 1
    for j in range(r):
        mean[j] = packed[k]
        k += 1


@compiled(inline=True)
def position(moments, mean, n, fitted, mu):
    """The estimate (r,) = Z'w = Z'Z v + (c/n) Z'e."""
    r = mean.size
    for i in range(r):
        total = fitted[r] / n * mean[i]
        for j in range(r):
            total += moments[i, j] * fitted[j]
        mu[i] = total


@compiled()
def excess_inside(moments, mean, z, members, fitted):
    """`splitting.excess` from coordinates."""
    r, n = mean.size, members.size
    between = (squared_norm(mean) - trace(moments)) / (n * (n - 1.0))
    out = 0.0
    for i in members:
        w, square = fitted[r] / n, 0.0
        for j in range(r):
            w += z[i, j] * fitted[j]
            square += z[i, j] * z[i, j]
        out += w * w * (square - between)
    return out


@compiled(
    types.void(
        MATRIX, _MASKS, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, types.boolean, types.boolean,
        SCORE_INSIDE, WEIGH_INSIDE, MATRIX,
    ),
)  # fmt: skip
def splits_inside(z, masks, packed, whole, theta, amounts_x, amounts_y, joint, unbiased, score, weigh, out):
    """`splitting.splits` from coordinates z (N, r) and the sums ``packed`` (B, p) and ``whole`` (p,) for `unpack`."""
    total, r = z.shape
    if masks.shape[0] == 0:
        return
    first = 0
    for i in range(total):
        first += masks[0, i]
    second = total - first
    rows, columns = np.empty(first, np.int64), np.empty(second, np.int64)
    moments_x, moments_y = np.empty((r, r)), np.empty((r, r))
    mean_x, mean_y, mu_x, mu_y = np.empty(r), np.empty(r), np.empty(r), np.empty(r)
    work_x, work_y = workspace(r), workspace(r)
    scores_x, scores_y = np.empty(amounts_x.size), np.empty(amounts_y.size)
    x, y = np.empty(r + 1), np.empty(r + 1)
    other = np.empty(whole.size)
    for b in range(masks.shape[0]):
        i = j = 0
        for k in range(total):
            if masks[b, k]:
                rows[i] = k
                i += 1
            else:
                columns[j] = k
                j += 1
        for k in range(whole.size):
            other[k] = whole[k] - packed[b, k]
        unpack(packed[b], r, moments_x, mean_x)
        unpack(other, r, moments_y, mean_y)
        if joint:
            fit_both(
                moments_x, mean_x, moments_y, mean_y, z, rows, columns, theta, amounts_x, work_x, work_y,
                scores_x, scores_y, x, y, score, weigh,
            )  # fmt: skip
        else:
            fit_inside(moments_x, mean_x, z, rows, theta, amounts_x, work_x, scores_x, x, score, weigh)
            fit_inside(moments_y, mean_y, z, columns, theta, amounts_y, work_y, scores_y, y, score, weigh)
        position(moments_x, mean_x, first, x, mu_x)
        position(moments_y, mean_y, second, y, mu_y)
        within = cross = 0.0
        for k in range(r):
            within += mu_x[k] * mu_x[k] + mu_y[k] * mu_y[k]
            cross += mu_x[k] * mu_y[k]
        out[b, 0] = within - 2.0 * cross
        out[b, 1] = within + 2.0 * abs(cross)
        if unbiased:
            out[b, 0] -= excess_inside(moments_x, mean_x, z, rows, x) + excess_inside(moments_y, mean_y, z, columns, y)
