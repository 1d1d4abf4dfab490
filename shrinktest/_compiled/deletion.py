"""Deletion scores of (iterated) Tikhonov on a grid of lam, from the tridiagonal form.

Point i is really left out; every (point, lam) costs O(t n), with no eigenvectors.  The residual of the deleted
problem is x = R^t e + sum_k beta_k R^k e_i (k = 1..t) with R = lam (K + lam I)^-1, because the deleted smoother is
R - R e_i e_i'R / R_ii; all it needs are the moments e_i'R^k e_i and e_i'R^k e up to k = 2t.

The loops run over 28 points in step, so that every inner loop is a few vector instructions and the vectors of a hundred
points stay in the first-level cache.  They share one flat buffer with constant offsets and unsigned indices, from which
the compiler sees that nothing overlaps, and take two rows at a time: shorter loops would be unrolled into scalars.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled
from shrinktest._compiled.resolvent import factorize_all, moments_of_mean, on_points, smoothed_mean

_LANES = 28
_ZERO, _L, _S = np.uint64(0), np.uint64(_LANES), np.uint64(3 * _LANES)
# A row of the buffer holds one coordinate of the points, and of two vectors that take turns.
_BASIS, _FIRST, _SECOND = np.uint64(0), np.uint64(_LANES), np.uint64(2 * _LANES)


def solver(source, target):
    """R x for 28 vectors x at ``source`` of the buffer, to ``target``; compiled with its places as constants."""

    @compiled()
    def solve(buffer, n, multipliers, pivots):
        o = _ZERO
        for b in range(_ZERO, _L):
            buffer[target + b] = buffer[source + b]
        for k in range(1, n - 1, 2):
            m0, m1 = multipliers[k], multipliers[k + 1]
            o += _S
            for b in range(_ZERO, _L):
                x = buffer[o + source + b] - m0 * buffer[o - _S + target + b]
                buffer[o + target + b] = x
                buffer[o + _S + target + b] = buffer[o + _S + source + b] - m1 * x
            o += _S
        if n % 2 == 0:
            m0 = multipliers[n - 1]
            o += _S
            for b in range(_ZERO, _L):
                buffer[o + target + b] = buffer[o + source + b] - m0 * buffer[o - _S + target + b]
        p0 = pivots[n - 1]
        for b in range(_ZERO, _L):
            buffer[o + target + b] *= p0
        for k in range(n - 2, 0, -2):
            m0, p0, m1, p1 = multipliers[k + 1], pivots[k], multipliers[k], pivots[k - 1]
            o -= _S
            for b in range(_ZERO, _L):
                x = p0 * buffer[o + target + b] - m0 * buffer[o + _S + target + b]
                buffer[o + target + b] = x
                buffer[o - _S + target + b] = p1 * buffer[o - _S + target + b] - m1 * x
            o -= _S
        if n % 2 == 0:
            m0, p0 = multipliers[1], pivots[0]
            o -= _S
            for b in range(_ZERO, _L):
                buffer[o + target + b] = p0 * buffer[o + target + b] - m0 * buffer[o + _S + target + b]

    return solve


def reducer(source, target):
    """Inner products of R x at ``target``: with x at ``source``, with itself, and with two vectors c and d."""

    @compiled()
    def reduce(buffer, n, c, d, out):
        o = _ZERO
        first, second, third = _L, _L + _L, _L + _L + _L
        for b in range(_ZERO, third + _L):
            out[b] = 0.0
        for k in range(0, n - 1, 2):
            c0, c1, d0, d1 = c[k], c[k + 1], d[k], d[k + 1]
            for b in range(_ZERO, _L):
                x0, x1 = buffer[o + target + b], buffer[o + _S + target + b]
                out[b] += x0 * buffer[o + source + b] + x1 * buffer[o + _S + source + b]
                out[first + b] += x0 * x0 + x1 * x1
                out[second + b] += c0 * x0 + c1 * x1
                out[third + b] += d0 * x0 + d1 * x1
            o += _S + _S
        if n % 2 == 1:
            c0, d0 = c[n - 1], d[n - 1]
            for b in range(_ZERO, _L):
                x0 = buffer[o + target + b]
                out[b] += x0 * buffer[o + source + b]
                out[first + b] += x0 * x0
                out[second + b] += c0 * x0
                out[third + b] += d0 * x0

    return reduce


start, go_on, go_back = solver(_BASIS, _FIRST), solver(_FIRST, _SECOND), solver(_SECOND, _FIRST)
reduce_start, reduce_on, reduce_back = reducer(_BASIS, _FIRST), reducer(_FIRST, _SECOND), reducer(_SECOND, _FIRST)


@compiled()
def keep_moments(j, root, sums, own, mean):
    for b in range(own.shape[1]):
        own[2 * j - 1, b] = sums[b]
        own[2 * j, b] = sums[_LANES + b]
        mean[2 * j - 1, b] = root * sums[2 * _LANES + b]
        mean[2 * j, b] = root * sums[3 * _LANES + b]


@compiled()
def moments_of_points(buffer, n, iterations, root, multipliers, pivots, powers, own, mean, sums):
    """``own[k]`` = e_i'R^k e_i and ``mean[k]`` = e_i'R^k e (lanes,), k = 1..2t, for the points in the buffer.

    ``root`` is the length of the start of the basis.
    """
    start(buffer, n, multipliers, pivots)
    reduce_start(buffer, n, powers[0], powers[1], sums)
    keep_moments(1, root, sums, own, mean)
    if iterations is not None:  # known when this is compiled: without iterations the loops below are not
        for j in range(2, iterations + 1):
            if j % 2 == 0:
                go_on(buffer, n, multipliers, pivots)
                reduce_on(buffer, n, powers[j - 1], powers[j], sums)
            else:
                go_back(buffer, n, multipliers, pivots)
                reduce_back(buffer, n, powers[j - 1], powers[j], sums)
            keep_moments(j, root, sums, own, mean)


@compiled()
def residuals(t, own, mean, beta):
    """``beta`` (t + 1, lanes): x = R^t e + sum_k beta_k R^k e_i for every point, starting from e - e_i."""
    for b in range(own.shape[1]):
        beta[0, b] = -1.0
    for j in range(1, t + 1):
        for k in range(j, 0, -1):
            for b in range(own.shape[1]):
                beta[k, b] = beta[k - 1, b]
        for b in range(own.shape[1]):
            beta[0, b] = mean[j, b]  # what R x has at i, where the residual must vanish
        for k in range(1, j + 1):
            for b in range(own.shape[1]):
                beta[0, b] += beta[k, b] * own[k, b]
        for b in range(own.shape[1]):
            beta[1, b] -= beta[0, b] / own[1, b]


@compiled()
def point_scores(t, own, mean, whole, g, lam, beta, diagonal, row, total, n, out):
    """|phi_i - mu^(-i)|^2 (lanes,) from K x = lam (R^-1 - 1) x =: lam (y - x), where x vanishes at i."""
    scale = 1.0 / (n - 1.0)
    along_e = whole[t - 1, g] - whole[t, g]
    along_x = whole[2 * t - 1, g] - whole[2 * t, g]
    for b in range(own.shape[1]):
        kept = total - 2.0 * row[b] + diagonal[b] + lam * (along_x - 2.0 * along_e)
        at_i = 2.0 * lam * mean[t - 1, b]
        out[b] = diagonal[b] - (2.0 * (row[b] - diagonal[b]) - at_i) * scale + (kept + at_i) * scale * scale
    for k in range(1, t + 1):
        for b in range(own.shape[1]):
            moved = mean[t + k - 1, b] - mean[t + k, b] - mean[k - 1, b] + mean[k, b]
            change = 2.0 * lam * beta[k, b]
            out[b] += change * (scale * own[k - 1, b] + scale * scale * (own[k - 1, b] + moved))
        for p in range(1, t + 1):
            for b in range(own.shape[1]):
                bent = lam * beta[k, b] * beta[p, b] * (own[k + p - 1, b] - own[k + p, b])
                out[b] += bent * scale * scale


@compiled()
def turned(a):
    """The transpose, by rows; in loops, which compile in less time than ``a.T.copy()``."""
    out = np.empty((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]
    return out


@compiled()
def points_on_points(t, lam, own, mean):
    """Overwrite moments of S in coordinates by those of R on the points, as in ``resolvent.on_points``."""
    for b in range(own.shape[1]):
        own[0, b] = mean[0, b] = 1.0
    for j in range(1, 2 * t + 1):
        for b in range(own.shape[1]):
            own[j, b] = own[j - 1, b] - own[j, b] / lam
            mean[j, b] = mean[j - 1, b] - mean[j, b] / lam


@compiled()
def deletion_scores(points, diagonal, rows, norm, work, iterations, inside, lams, scores):
    """Mean over i of |phi_i - mu^(-i)|^2 at every lam; NaN if K + lam I is not positive definite.

    Parameters
    ----------
    points : ndarray, shape (order, n)
        In the basis of T: the axes e_i, or, ``inside``, the coordinates of the points.
    diagonal, rows : ndarray, shape (n,)
        K_ii and (Ke)_i.
    norm : float
        Squared length of the start of the basis: n, or, ``inside``, e'Ke.
    iterations : int or None
        t; None for 1, which takes half the time to compile.
    """
    t = 1
    if iterations is not None:
        t = iterations
    order, n = points.shape
    size = lams.size
    multipliers, pivots = np.empty((order, size)), np.empty((order, size))
    if not factorize_all(work, order, lams, multipliers, pivots):
        scores[:] = np.nan
        return
    powers, whole = np.empty((t + 1, order, size)), np.empty((2 * t + 1, size))
    smoothed_mean(order, t, multipliers, pivots, powers)
    moments_of_mean(powers, order, t, norm, whole)
    if inside:
        on_points(whole, n, lams)
    by_lam, pivots_by_lam, powers_by_lam = turned(multipliers), turned(pivots), np.empty((size, t + 1, order))
    for j in range(t + 1):
        for k in range(order):
            for g in range(size):
                powers_by_lam[g, j, k] = powers[j, k, g]
    buffer = np.zeros(3 * order * _LANES)
    own, mean, sums = np.ones((2 * t + 1, _LANES)), np.ones((2 * t + 1, _LANES)), np.empty(4 * _LANES)
    beta, out = np.empty((t + 1, _LANES)), np.empty(_LANES)
    diagonals, row = np.zeros(_LANES), np.zeros(_LANES)
    total, root = np.sum(rows), np.sqrt(norm)
    scores[:] = 0.0
    for first in range(0, n, _LANES):
        lanes = min(_LANES, n - first)
        for b in range(lanes):
            diagonals[b], row[b] = diagonal[first + b], rows[first + b]
            for k in range(order):
                buffer[3 * _LANES * k + b] = points[k, first + b]
        for g in range(size):
            moments_of_points(
                buffer, order, iterations, root, by_lam[g], pivots_by_lam[g], powers_by_lam[g], own, mean, sums
            )
            if inside:
                points_on_points(t, lams[g], own, mean)
            residuals(t, own, mean, beta)
            point_scores(t, own, mean, whole, g, lams[g], beta, diagonals, row, total, n, out)
            for b in range(lanes):
                scores[g] += out[b] / n
