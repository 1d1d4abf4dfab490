"""Deletion scores of (iterated) Tikhonov on a grid of lam, from the eigenvectors of the tridiagonal form.

Point i is really left out.  The residual of the deleted problem is x = R^t e + sum_k beta_k R^k e_i (k = 1..t) with
R = lam (K + lam I)^-1, because the deleted smoother is R - R e_i e_i'R / R_ii; all it needs are the moments e_i'R^k e_i
and e_i'R^k e up to k = 2t.  Those are sums over the eigenvectors of powers of lam / (D + lam), times the square of the
point along each, or its product with the mean: for all points and lam, products of two matrices.

The loops run over 64 lam in step, so that every inner loop is a few vector instructions, and over two points and four
eigenvectors at a time, so that an entry of the table of powers that has been read serves four multiplications.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled
from shrinktest._compiled.resolvent import factorize, on_points
from shrinktest._compiled.tridiagonal import basis, diagonalize

_LANES = 64
_ZERO, _L = np.uint64(0), np.uint64(_LANES)
# A row of the moments: e_i'R^k e_i and e_i'R^k e of one point, and those of another.
_MEAN, _OTHER, _OTHER_MEAN, _ROW = np.uint64(_LANES), np.uint64(2 * _LANES), np.uint64(3 * _LANES), np.uint64(4 * _LANES)


@compiled()
def eigenvectors(work, start):
    """Eigenvalues (n,) of the reduced matrix, its eigenvectors (n, n) as rows, and ``start`` (n,) along them."""
    n = start.size
    values, off, along = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        values[k], off[k] = work[0, k], work[1, k]
    vectors = basis(work, n)
    diagonalize(values, off, vectors)
    for k in range(n):
        total = 0.0
        for j in range(n):
            total += vectors[k, j] * start[j]
        along[k] = total
    return values, vectors, along


@compiled()
def tabulate(values, lams, first, powers, order, table):
    """``table`` (powers, order, lanes) of (lam / (D + lam))^k, k = 1, 2, ..; zero where there is no eigenvalue."""
    for k in range(order):
        for b in range(_LANES):
            lam = lams[min(first + b, lams.size - 1)]
            r = lam / (values[k] + lam) if k < values.size else 0.0
            power = r
            for j in range(powers):
                table[(j * order + k) * _LANES + b] = power
                power *= r


@compiled()
def multiply(table, at, weights, order, moments, to):
    """Four sums over k, weights[c, k] times row k of the table at ``at``, to the row of moments at ``to``."""
    for b in range(_ZERO, _ROW):
        moments[to + b] = 0.0
    for k in range(0, order, 4):
        a0, a1, a2, a3 = weights[0, k], weights[0, k + 1], weights[0, k + 2], weights[0, k + 3]
        b0, b1, b2, b3 = weights[1, k], weights[1, k + 1], weights[1, k + 2], weights[1, k + 3]
        c0, c1, c2, c3 = weights[2, k], weights[2, k + 1], weights[2, k + 2], weights[2, k + 3]
        d0, d1, d2, d3 = weights[3, k], weights[3, k + 1], weights[3, k + 2], weights[3, k + 3]
        for b in range(_ZERO, _L):
            x0, x1, x2, x3 = table[at + b], table[at + _L + b], table[at + _L + _L + b], table[at + _L + _L + _L + b]
            moments[to + b] += a0 * x0 + a1 * x1 + (a2 * x2 + a3 * x3)
            moments[to + _MEAN + b] += b0 * x0 + b1 * x1 + (b2 * x2 + b3 * x3)
            moments[to + _OTHER + b] += c0 * x0 + c1 * x1 + (c2 * x2 + c3 * x3)
            moments[to + _OTHER_MEAN + b] += d0 * x0 + d1 * x1 + (d2 * x2 + d3 * x3)
        at += _ROW


@compiled()
def points_on_points(powers, lams, moments):
    """Overwrite moments of S in coordinates by those of R on the points, as in ``resolvent.on_points``."""
    o = _ZERO
    for _ in range(powers):
        for b in range(_ZERO, _L):
            lam = lams[b]
            moments[o + _ROW + b] = moments[o + b] - moments[o + _ROW + b] / lam
            moments[o + _ROW + _MEAN + b] = moments[o + _MEAN + b] - moments[o + _ROW + _MEAN + b] / lam
            moments[o + _ROW + _OTHER + b] = moments[o + _OTHER + b] - moments[o + _ROW + _OTHER + b] / lam
            moments[o + _ROW + _OTHER_MEAN + b] = (
                moments[o + _OTHER_MEAN + b] - moments[o + _ROW + _OTHER_MEAN + b] / lam
            )
        o += _ROW


@compiled()
def residuals(t, moments, where, beta):
    """``beta`` (t + 1, lanes): x = R^t e + sum_k beta_k R^k e_i at every lam, starting from e - e_i."""
    for b in range(_ZERO, _L):
        beta[b] = -1.0
    for j in range(1, t + 1):
        o = np.uint64(j) * _L
        for _ in range(j):
            for b in range(_ZERO, _L):
                beta[o + b] = beta[o - _L + b]
            o -= _L
        p = where + np.uint64(j) * _ROW
        for b in range(_ZERO, _L):
            beta[b] = moments[p + _MEAN + b]  # what R x has at i, where the residual must vanish
        p = where
        for _ in range(j):
            o += _L
            p += _ROW
            for b in range(_ZERO, _L):
                beta[b] += beta[o + b] * moments[p + b]
        p = where + _ROW
        for b in range(_ZERO, _L):
            beta[_L + b] -= beta[b] / moments[p + b]


@compiled()
def point_scores(t, moments, where, beta, lams, whole, diagonal, row, total, n, out):
    """Add |phi_i - mu^(-i)|^2 / n to ``out`` from K x = lam (R^-1 - 1) x =: lam (y - x), where x vanishes at i.

    ``whole`` is lam times what e'R^k e contribute.
    """
    scale = 1.0 / (n - 1.0)
    p = where + np.uint64(t - 1) * _ROW + _MEAN
    for b in range(_ZERO, _L):
        kept = total - 2.0 * row + diagonal + whole[b]
        at_i = 2.0 * lams[b] * moments[p + b]
        out[b] += (diagonal - (2.0 * (row - diagonal) - at_i) * scale + (kept + at_i) * scale * scale) / n
    o = _ZERO
    before = where
    for k in range(1, t + 1):
        o += _L
        for b in range(_ZERO, _L):
            moved = moments[before + np.uint64(t) * _ROW + _MEAN + b] - moments[before + np.uint64(t+1) * _ROW + _MEAN + b] - moments[before + _MEAN + b] + moments[before + _ROW + _MEAN + b]
            change = 2.0 * lams[b] * beta[o + b]
            out[b] += change * (scale * moments[before + b] + scale * scale * (moments[before + b] + moved)) / n
        other = _ZERO
        q = before
        for _ in range(t):
            other += _L
            q += _ROW
            for b in range(_ZERO, _L):
                bent = lams[b] * beta[o + b] * beta[other + b] * (moments[q + b] - moments[q + _ROW + b])
                out[b] += bent * scale * scale / n
        before += _ROW


@compiled()
def deletion_scores(points, diagonal, rows, values, along, t, inside, lams, scores):
    """Mean over i of |phi_i - mu^(-i)|^2 at every lam.

    Parameters
    ----------
    points : ndarray, shape (n, r)
        Along the eigenvectors: the axes e_i, or, ``inside``, the coordinates of the points.
    diagonal, rows : ndarray, shape (n,)
        K_ii and (Ke)_i.
    values, along : ndarray, shape (r,)
        Eigenvalues, and the vector e of ones, or, ``inside``, Z'e along the eigenvectors.
    """
    n, r = points.shape
    order = (r + 3) // 4 * 4
    powers = 2 * t
    table, weights = np.empty(powers * order * _LANES), np.zeros((4, order))
    moments, beta, out = np.empty((powers + 1) * 4 * _LANES), np.empty((t + 1) * _LANES), np.empty(_LANES)
    whole, some, parts = np.empty((powers + 1, _LANES)), np.empty(_LANES), np.empty(_LANES)
    total = 0.0
    for i in range(n):
        total += rows[i]
    for first in range(0, lams.size, _LANES):
        tabulate(values, lams, first, powers, order, table)
        for b in range(_LANES):
            some[b] = lams[min(first + b, lams.size - 1)]
            out[b] = 0.0
        whole[:] = 0.0
        for k in range(r):
            square = along[k] * along[k]
            for b in range(_LANES):
                whole[0, b] += square
            for j in range(powers):
                for b in range(_LANES):
                    whole[j + 1, b] += square * table[(j * order + k) * _LANES + b]
        if inside:
            on_points(whole, n, some)
        for b in range(_LANES):
            along_x, along_e = whole[2 * t - 1, b] - whole[2 * t, b], whole[t - 1, b] - whole[t, b]
            parts[b] = some[b] * (along_x - 2.0 * along_e)
        for i in range(0, n, 2):
            for k in range(r):
                x = points[i, k]
                weights[0, k], weights[1, k] = x * x, x * along[k]
                if i + 1 < n:
                    x = points[i + 1, k]
                    weights[2, k], weights[3, k] = x * x, x * along[k]
            for b in range(_ZERO, _ROW):
                moments[b] = 1.0
            at, to = _ZERO, _ROW
            for _ in range(powers):
                multiply(table, at, weights, order, moments, to)
                at += np.uint64(order) * _L
                to += _ROW
            if inside:
                points_on_points(powers, some, moments)
            residuals(t, moments, _ZERO, beta)
            point_scores(t, moments, _ZERO, beta, some, parts, diagonal[i], rows[i], total, n, out)
            if i + 1 < n:
                residuals(t, moments, _OTHER, beta)
                point_scores(t, moments, _OTHER, beta, some, parts, diagonal[i + 1], rows[i + 1], total, n, out)
        for b in range(min(_LANES, lams.size - first)):
            scores[first + b] = out[b]
