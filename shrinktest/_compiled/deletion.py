"""Deletion scores of (iterated) Tikhonov on a grid of lam, from the eigenvectors of the tridiagonal form.

Point i is really left out.  The residual of the deleted problem is x = R^t e + sum_k beta_k R^k e_i (k = 1..t) with
R = lam (K + lam I)^-1, because the deleted smoother is R - R e_i e_i'R / R_ii; all it needs are the moments e_i'R^k e_i
and e_i'R^k e up to k = 2t.  They are sums over the eigenvectors of powers of lam / (D + lam), weighted by the square of
the point along each, or by its product with the mean: for all points and lam, products of matrices.

The loops run over 64 lam in step, so that every inner loop is a few vector instructions, and over two points and four
eigenvectors at a time, so that a power that was read serves four multiplications.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.resolvent import on_points
from shrinktest._compiled.tridiagonal import basis, iterate
from shrinktest._jit import compiled

_LANES = 64
_ZERO, _L = np.uint64(0), np.uint64(_LANES)
# A row of moments: e_i'R^k e_i of two points, and then e_i'R^k e of both.
_PAIR, _MEAN, _ROW = np.uint64(2 * _LANES), np.uint64(2 * _LANES), np.uint64(4 * _LANES)


@compiled(inline=True)
def eigenvectors(work, start):
    """Eigenvalues (n,) of the reduced matrix, its eigenvectors (n, n) as rows, and ``start`` (n,) along them."""
    n = start.size
    values, off, along = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        values[k], off[k] = work[0, k], work[1, k]
    vectors = basis(work, n)
    iterate(values, off, vectors, None)
    for k in range(n):
        total = 0.0
        for j in range(n):
            total += vectors[k, j] * start[j]
        along[k] = total
    return values, vectors, along


@compiled(fused=True, inner=True)
def multiply(weights, table, at, order, lanes, out, to):
    """The product of ``weights`` (4, order) with the rows of 64 at ``at`` of the table, to four rows at ``to``.

    ``order`` is a multiple of four.
    """
    for b in range(_ZERO, _ROW):
        out[to + b] = 0.0
    for k in range(0, order, 4):
        p0, p1, p2, p3 = weights[0, k], weights[0, k + 1], weights[0, k + 2], weights[0, k + 3]
        q0, q1, q2, q3 = weights[1, k], weights[1, k + 1], weights[1, k + 2], weights[1, k + 3]
        r0, r1, r2, r3 = weights[2, k], weights[2, k + 1], weights[2, k + 2], weights[2, k + 3]
        s0, s1, s2, s3 = weights[3, k], weights[3, k + 1], weights[3, k + 2], weights[3, k + 3]
        for b in range(_ZERO, lanes):
            x0, x1, x2, x3 = table[at + b], table[at + _L + b], table[at + _L + _L + b], table[at + _L + _L + _L + b]
            out[to + b] += p0 * x0 + p1 * x1 + p2 * x2 + p3 * x3
            out[to + _L + b] += q0 * x0 + q1 * x1 + q2 * x2 + q3 * x3
            out[to + _L + _L + b] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3
            out[to + _L + _L + _L + b] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
        at += _ROW


@compiled(inline=True)
def project(z, members, vectors, points):
    """``points`` (n, r): the rows ``members`` of ``z`` along the vectors."""
    n, r = points.shape
    order = (r + 3) // 4 * 4
    table, weights, out = np.empty(order * _LANES), np.empty((4, order)), np.empty(4 * _LANES)
    for b in range(table.size):
        table[b] = 0.0
    for k in range(order):
        weights[0, k] = weights[1, k] = weights[2, k] = weights[3, k] = 0.0
    for first in range(0, r, _LANES):
        lanes = _LANES if r - first > _LANES else r - first
        for b in range(lanes):
            for k in range(r):
                table[k * _LANES + b] = vectors[first + b, k]
        for i in range(0, n, 4):
            rows = 4 if n - i > 4 else n - i
            for c in range(rows):
                for k in range(r):
                    weights[c, k] = z[members[i + c], k]
            multiply(weights, table, _ZERO, order, np.uint64(lanes), out, _ZERO)
            for c in range(rows):
                for b in range(lanes):
                    points[i + c, first + b] = out[c * _LANES + b]


@compiled(inline=True)
def along_eigenvectors(matrix, z, members, vectors, along, points, diagonal, rows):
    """The axes of a Gram matrix, or the points themselves, along the eigenvectors (n, r); K_ii and (Ke)_i."""
    n, r = points.shape
    if z.shape[1] > 0:
        project(z, members, vectors, points)
    for i in range(n):
        square = product = 0.0
        if z.shape[1] > 0:
            for k in range(r):
                square += points[i, k] * points[i, k]
                product += points[i, k] * along[k]
        else:
            square = matrix[i, i]
            for k in range(r):
                product += matrix[i, k]
                points[i, k] = vectors[k, i]
        diagonal[i] = square
        rows[i] = product


@compiled(fused=True, inner=True)
def tabulate(values, lams, powers, order, table):
    """Row (j, k) of the table: (lam / (D_k + lam))^j for 64 lam, j = 1, 2, ..; zero where there is no eigenvalue."""
    for b in range(table.size):
        table[b] = 0.0
    for k in range(values.size):
        for b in range(_LANES):
            power = r = lams[b] / (values[k] + lams[b])
            for j in range(powers):
                table[(j * order + k) * _LANES + b] = power
                power *= r


@compiled(fused=True, inner=True)
def sums_of_mean(along, table, powers, order, whole):
    """``whole[j]`` (lanes,): the squares of the mean along the eigenvectors times row (j, k), added up."""
    for j in range(powers + 1):
        for b in range(_LANES):
            whole[j, b] = 0.0
    for k in range(along.size):
        square = along[k] * along[k]
        for b in range(_LANES):
            whole[0, b] += square
        for j in range(powers):
            for b in range(_LANES):
                whole[j + 1, b] += square * table[(j * order + k) * _LANES + b]


@compiled(fused=True, inner=True)
def points_on_points(powers, inverse, moments):
    """Overwrite moments of S in coordinates by those of R on the points, as in ``resolvent.on_points``."""
    o = _ZERO
    for _ in range(powers):
        for _four in range(4):
            for b in range(_ZERO, _L):
                moments[o + _ROW + b] = moments[o + b] - moments[o + _ROW + b] * inverse[b]
            o += _L


@compiled(fused=True, inner=True)
def residuals(t, moments, beta):
    """``beta`` (t + 1, 2 lanes): x = R^t e + sum_k beta_k R^k e_i for two points, starting from e - e_i."""
    for b in range(_ZERO, _PAIR):
        beta[b] = -1.0
    for j in range(1, t + 1):
        o = np.uint64(j) * _PAIR
        for _ in range(j):
            for b in range(_ZERO, _PAIR):
                beta[o + b] = beta[o - _PAIR + b]
            o -= _PAIR
        own = np.uint64(j) * _ROW
        for b in range(_ZERO, _PAIR):
            beta[b] = moments[own + _MEAN + b]  # what R x has at i, where the residual must vanish
        own = _ZERO
        for _ in range(j):
            o += _PAIR
            own += _ROW
            for b in range(_ZERO, _PAIR):
                beta[b] += beta[o + b] * moments[own + b]
        for b in range(_ZERO, _PAIR):
            beta[_PAIR + b] -= beta[b] / moments[_ROW + b]


@compiled(fused=True, inner=True)
def add_scores(t, moments, beta, scale, out):
    """Add to ``out`` (2 lanes) what depends on the point and on lam in |phi_i - mu^(-i)|^2 / lam.

    From K x = lam (R^-1 - 1) x =: lam (y - x), where x vanishes at i; ``scale`` is 1 / (n - 1).
    """
    once, twice = 2.0 * (scale + scale * scale), scale * scale
    mean = np.uint64(t - 1) * _ROW + _MEAN
    for b in range(_ZERO, _PAIR):
        out[b] += once * moments[mean + b]
    own, later, k = _ZERO, np.uint64(t) * _ROW + _MEAN, _PAIR
    for _ in range(t):
        for b in range(_ZERO, _PAIR):
            moved = moments[later + b] - moments[later + _ROW + b]
            moved -= moments[own + _MEAN + b] - moments[own + _ROW + _MEAN + b]
            out[b] += beta[k + b] * (once * moments[own + b] + 2.0 * twice * moved)
        both, p = own, _PAIR
        for _ in range(t):
            both += _ROW
            for b in range(_ZERO, _PAIR):
                bent = beta[k + b] * beta[p + b] * (moments[both + b] - moments[both + _ROW + b])
                out[b] += twice * bent
            p += _PAIR
        own += _ROW
        later += _ROW
        k += _PAIR


@compiled(fused=True, inner=True)
def put_together(whole, out, lams, fixed, t, n, scores):
    """The scores, from what `add_scores` left in ``out``, the sums of the mean, and what no lam changes."""
    scale = 1.0 / (n - 1.0)
    for b in range(_LANES if scores.size > _LANES else scores.size):
        along_x, along_e = whole[2 * t - 1, b] - whole[2 * t, b], whole[t - 1, b] - whole[t, b]
        moved = n * scale * scale * (along_x - 2.0 * along_e) + out[b] + out[_LANES + b]
        scores[b] = (fixed + lams[b] * moved) / n


@compiled(inline=True)
def deletion_scores(points, diagonal, rows, values, along, t, z, lams, scores):
    """Mean over i of |phi_i - mu^(-i)|^2 at every lam, for ``t`` iterations.

    ``points`` (n, r) are along the eigenvectors: the axes e_i, or, by coordinates, the points.  ``diagonal`` and
    ``rows`` (n,) are K_ii and (Ke)_i; ``values`` and ``along`` (r,) are the eigenvalues, and the start (e, or Z'e)
    along the eigenvectors. The columns of ``z`` say whether the sample is one by coordinates.
    """
    n, r = points.shape
    order, powers, scale = (r + 3) // 4 * 4, 2 * t, 1.0 / (n - 1.0)
    table, weights = np.empty(powers * order * _LANES), np.empty((4, order))
    moments, whole = np.empty((powers + 1) * 4 * _LANES), np.empty((powers + 1, _LANES))
    beta, out = np.empty((t + 1) * 2 * _LANES), np.empty(2 * _LANES)
    some, inverse = np.empty(_LANES), np.empty(_LANES)
    for k in range(r, order):
        weights[0, k] = weights[1, k] = weights[2, k] = weights[3, k] = 0.0
    for b in range(4 * _LANES):
        moments[b] = 1.0
    trace = norm = 0.0
    for i in range(n):
        trace += diagonal[i]
        norm += rows[i]
    fixed = trace - 2.0 * scale * (norm - trace) + scale * scale * (n * norm - 2.0 * norm + trace)
    for first in range(0, lams.size, _LANES):
        for b in range(_LANES):
            some[b] = lams[first + b if first + b < lams.size else first]
            inverse[b] = 1.0 / some[b]
        tabulate(values, some, powers, order, table)
        sums_of_mean(along, table, powers, order, whole)
        if z.shape[1] > 0:
            on_points(whole, n, some)
        for b in range(2 * _LANES):
            out[b] = 0.0
        for i in range(-(n % 2), n, 2):
            here, other = points[i if i > 0 else 0], points[i + 1]
            for k in range(r):
                weights[0, k], weights[1, k] = here[k] * here[k], other[k] * other[k]
                weights[2, k], weights[3, k] = here[k] * along[k], other[k] * along[k]
            at, to = _ZERO, _ROW
            for _ in range(powers):
                multiply(weights, table, at, order, _L, moments, to)
                at += np.uint64(order) * _L
                to += _ROW
            if z.shape[1] > 0:
                points_on_points(powers, inverse, moments)
            residuals(t, moments, beta)
            add_scores(t, moments, beta, scale, out)
            if i < 0:  # an odd number: the first point has met itself
                for b in range(_ZERO, _L):
                    out[_L + b] = 0.0
        put_together(whole, out, some, fixed, t, n, scores[first : lams.size])
