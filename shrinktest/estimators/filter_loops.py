"""Compiled loops of the filters: eigendecompositions of many samples, and what leaving out each point changes."""

from __future__ import annotations

import numpy as np
import scipy.linalg.cython_lapack  # noqa: F401 - numba calls it for eigh

from shrinktest._jit import compiled

_LANES = 64  # points that are treated together


@compiled()
def decompose(matrices, values, vectors):
    """Eigenvalues (B, r), ascending, and eigenvectors (B, r, r), one per row; NaN for matrices that are not finite."""
    for b in range(matrices.shape[0]):
        matrix, total = matrices[b], 0.0
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                total += abs(matrix[i, j])
        if np.isfinite(total):
            some, columns = np.linalg.eigh(matrix)
            for k in range(some.size):
                values[b, k] = some[k]
                for i in range(some.size):
                    vectors[b, k, i] = columns[i, k]
        else:
            values[b], vectors[b] = np.nan, np.nan


@compiled(fused=True)
def tikhonov_deletion(values, points, along, by_coordinates, lams, t, out):
    """Add up over the points what lam (B, g) changes in the scores of t steps of Tikhonov: ``out`` (B, g).

    Point i is really left out.  With R = lam (K + lam I)^-1 the residual of the deleted problem is
    x = R^t e + sum_k beta_k R^k e_i, which vanishes at i after every step, and K x = lam (R^-1 - 1) x.  All that is
    needed are m_j = e_i'R^j e_i and s_j = e_i'R^j e, j = 0..2t: products of squares of eigenvectors with powers of
    lam / (D + lam).  By coordinates, R^j = R^(j-1) - Z S^j Z' / lam with S = lam (Z'Z + lam I)^-1.
    """
    (r, n), g, lanes = points.shape[1:], lams.shape[1], min(points.shape[2], _LANES)
    scale = 1.0 / (n - 1.0)
    once, twice = 2.0 * (scale + scale * scale), scale * scale
    table, left, products = np.empty((r, 2 * t * g)), np.empty((r, 2 * lanes)), np.empty((2 * lanes, 2 * t * g))
    m, s, beta, mean = np.ones((2 * t + 1, g)), np.ones((2 * t + 1, g)), np.empty((t + 1, g)), np.empty((2 * t + 1, g))
    for b in range(points.shape[0]):
        lam, total = lams[b], out[b]
        mean[:], mean[0] = 0.0, n
        for k in range(r):
            for a in range(g):
                table[k, a] = lam[a] / (values[b, k] + lam[a])
            for a in range(g, 2 * t * g):
                table[k, a] = table[k, a - g] * table[k, a % g]
            for j in range(2 * t):
                for a in range(g):
                    mean[j + 1, a] += along[b, k] ** 2 * table[k, j * g + a]
        for j in range(1, 2 * t + 1):
            for a in range(g):
                if by_coordinates:
                    mean[j, a] = mean[j - 1, a] - mean[j, a] / lam[a]
        for a in range(g):
            moved = mean[2 * t - 1, a] - mean[2 * t, a] - 2.0 * (mean[t - 1, a] - mean[t, a])
            total[a] = n * scale * scale * moved
        for first in range(0, n, lanes):
            count = min(lanes, n - first)
            for k in range(r):
                for i in range(count):
                    left[k, i] = points[b, k, first + i] ** 2
                    left[k, lanes + i] = points[b, k, first + i] * along[b, k]
            np.dot(left.T, table, products)
            for i in range(count):
                for j in range(2 * t):
                    for a in range(g):
                        own, crossed = products[i, j * g + a], products[lanes + i, j * g + a]
                        m[j + 1, a] = m[j, a] - own / lam[a] if by_coordinates else own
                        s[j + 1, a] = s[j, a] - crossed / lam[a] if by_coordinates else crossed
                for j in range(1, t + 1):
                    for k in range(j, 1, -1):
                        beta[k] = beta[k - 1]
                    beta[0] = s[j]
                    for k in range(2, j + 1):
                        for a in range(g):
                            beta[0, a] += beta[k, a] * m[k, a]
                    for a in range(g):
                        beta[1, a] = -beta[0, a] / m[1, a]
                for a in range(g):
                    total[a] += once * s[t - 1, a]
                for k in range(1, t + 1):
                    for a in range(g):
                        moved = s[t + k - 1, a] - s[t + k, a] - s[k - 1, a] + s[k, a]
                        total[a] += beta[k, a] * (once * m[k - 1, a] + 2.0 * twice * moved)
                    for p in range(1, t + 1):
                        for a in range(g):
                            total[a] += twice * beta[k, a] * beta[p, a] * (m[k + p - 1, a] - m[k + p, a])


@compiled(fused=True)
def gradient_deletion(values, points, along, by_coordinates, momenta, steps, out):
    """Leave-one-out scores ``out`` (B, T) of gradient iterations, of which each point is really left out.

    In the basis of the eigenvectors the deletion of a point is a change of rank one: with the residual x of the deleted
    problem, started at e - e_i, one iteration is x <- x + momentum (x - before) - step (D x - q_i (q_i'w x)), w = D.
    ``steps`` (B, T) refer to K.  By coordinates x is (n - 1) times the residual in the feature space, and w = 1.
    """
    r, n = points.shape[1:]
    scale = 1.0 / (n - 1.0)
    lanes = min(n, _LANES)
    q, x, before = np.empty((r, lanes)), np.empty((r, lanes)), np.empty((r, lanes))
    at, new_at, square, product = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    diagonal, rows = np.empty(lanes), np.empty(lanes)
    for b in range(points.shape[0]):
        total = 0.0
        for k in range(r):
            total += (1.0 if by_coordinates else values[b, k]) * along[b, k] ** 2
        for t in range(out.shape[1]):
            out[b, t] = 0.0
        for first in range(0, n, lanes):
            count = min(lanes, n - first)
            at[:], diagonal[:], rows[:] = 0.0, 0.0, 0.0
            for k in range(r):
                weight = 1.0 if by_coordinates else values[b, k]
                for a in range(count):
                    q[k, a] = points[b, k, first + a]
                    x[k, a] = before[k, a] = along[b, k] - q[k, a]
                    at[a] += weight * q[k, a] * x[k, a]
                    diagonal[a] += weight * q[k, a] * q[k, a]
                    rows[a] += weight * q[k, a] * along[b, k]
            for t in range(out.shape[1]):
                momentum, size = momenta[t], steps[b, t]
                new_at[:], square[:], product[:] = 0.0, 0.0, 0.0
                for k in range(r):
                    weight = 1.0 if by_coordinates else values[b, k]
                    stays, start = 1.0 + momentum - size * values[b, k], along[b, k]
                    for a in range(count):
                        new = stays * x[k, a] - momentum * before[k, a] + size * at[a] * q[k, a]
                        before[k, a] = x[k, a]
                        x[k, a] = new
                        image = weight * new
                        new_at[a] += q[k, a] * image
                        square[a] += new * image
                        product[a] += start * image
                for a in range(count):
                    at[a] = new_at[a]
                    predicted = (rows[a] - diagonal[a] - at[a]) * scale
                    moved = total - 2.0 * rows[a] + diagonal[a] - 2.0 * (product[a] - at[a]) + square[a]
                    out[b, t] += (diagonal[a] - 2.0 * predicted + moved * scale * scale) / n


@compiled(fused=True)
def gradient_gains(values, momenta, steps, counts, out):
    """Gains q / D, (B, c, r), after ``counts`` (B, c), ascending, of the iterations of :func:`gradient_deletion`."""
    for b in range(values.shape[0]):
        for k in range(values.shape[1]):
            gain, before, c = 0.0, 0.0, 0
            for t in range(counts[b, -1]):
                change = momenta[t] * (gain - before) + steps[b, t] * (1.0 - values[b, k] * gain)
                before, gain = gain, gain + change
                if t + 1 == counts[b, c]:
                    out[b, c, k] = gain
                    c += 1
