"""Compiled loops over many samples: leave-one-out filter scores, iterations, user functions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401 - numba calls it for products
from numba import config, njit
from numba.core.dispatcher import Dispatcher

from shrinktest._jit import compiled, scipy_lapack

_LANES = 64  # points that are treated together
# A row of the buffer of the gradient loops: a coordinate q of the points, their residuals x, those
# before, and T x.
_ZERO, _X, _BEFORE, _IMAGE, _ROW = (np.uint64(_LANES * k) for k in range(5))
_LOWER = np.frombuffer(b"L", np.uint8)
_reduce = scipy_lapack("dsytrd", 10)
_multiply = scipy_lapack("dorgtr", 8)


@compiled()
def tridiagonalize(matrices, values, off, vectors):
    """Tridiagonal matrices Q'KQ.

    They have diagonals (B, r), entries ``off`` beside them and a zero, and columns of Q as rows.
    """
    r = matrices.shape[1]
    size = np.full(1, r, np.int32)
    room = np.full(1, 64 * r, np.int32)
    info = np.zeros(1, np.int32)
    work = np.empty(64 * r)
    tau = np.empty(r)
    lower = _LOWER.ctypes
    order = size.ctypes
    space = work.ctypes
    more = room.ctypes
    end = info.ctypes
    for b in range(matrices.shape[0]):
        q = vectors[b]
        q[:] = matrices[b]
        _reduce(
            lower,
            order,
            q.ctypes,
            order,
            values[b].ctypes,
            off[b].ctypes,
            tau.ctypes,
            space,
            more,
            end,
        )
        _multiply(lower, order, q.ctypes, order, tau.ctypes, space, more, end)


@compiled(fused=True)
def tikhonov_deletion(values, points, along, outside, lams, t):
    """Do the same as `filter_arrays.tikhonov_deletion`."""
    (r, n), g = points.shape[1:], lams.shape[1]
    scale = 1.0 / (n - 1.0)
    once = 2.0 * (scale + scale * scale)
    twice = scale * scale
    table = np.empty((r, 2 * t * g))
    left = np.empty((r, 2 * n))
    products = np.empty((2 * n, 2 * t * g))
    m = np.ones((2 * t + 1, g))
    s = np.ones((2 * t + 1, g))
    beta = np.empty((t + 1, g))
    out = np.zeros(lams.shape)
    for b in range(points.shape[0]):
        lam = lams[b]
        total = out[b]
        for k in range(r):
            for a in range(g):
                table[k, a] = lam[a] / (values[b, k] + lam[a])
            for a in range(g, 2 * t * g):
                table[k, a] = table[k, a - g] * table[k, a % g]
            for i in range(n):
                left[k, i], left[k, n + i] = points[b, k, i] ** 2, points[b, k, i] * along[b, k]
        np.dot(left.T, table, products)
        for i in range(n):
            for j in range(2 * t):
                for a in range(g):
                    m[j + 1, a] = products[i, j * g + a] + outside[b, 0, i]
                    s[j + 1, a] = products[n + i, j * g + a] + outside[b, 1, i]
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
                moved = s[2 * t - 1, a] - s[2 * t, a] - 2.0 * (s[t - 1, a] - s[t, a])
                total[a] += once * s[t - 1, a] + n * twice * moved
            for k in range(1, t + 1):
                for a in range(g):
                    moved = s[t + k - 1, a] - s[t + k, a] - s[k - 1, a] + s[k, a]
                    total[a] += beta[k, a] * (once * m[k - 1, a] + 2.0 * twice * moved)
                for p in range(1, t + 1):
                    for a in range(g):
                        total[a] += (
                            twice * beta[k, a] * beta[p, a] * (m[k + p - 1, a] - m[k + p, a])
                        )
    return out


@compiled(fused=True, inner=True)
def _step(buffer, r, lanes, momentum, size, at):
    """Run one iteration of every lane."""
    o = _ROW
    for _ in range(r):
        for a in range(_ZERO, lanes):
            x = buffer[o + _X + a]
            move = momentum * (x - buffer[o + _BEFORE + a])
            buffer[o + _BEFORE + a] = x
            buffer[o + _X + a] = x + move - size * (buffer[o + _IMAGE + a] - at[a] * buffer[o + a])
        o += _ROW


@compiled(fused=True, inner=True)
def _sums(values, off, start, scaled, buffer, lanes, at, square, product):
    """Return T x of every lane, its products with q and x, and x times ``start``.

    If ``scaled``, the products are those of x.
    """
    at[:], square[:], product[:] = 0.0, 0.0, 0.0
    o = _ROW
    left = 0.0
    for k in range(start.size):
        middle = values[k]
        right = off[k]
        along = start[k]
        for a in range(_ZERO, lanes):
            x = buffer[o + _X + a]
            image = (
                middle * x + left * buffer[o - _ROW + _X + a] + right * buffer[o + _ROW + _X + a]
            )
            buffer[o + _IMAGE + a] = image
            other = x if scaled else image
            at[a] += buffer[o + a] * other
            square[a] += x * other
            product[a] += along * x
        left = right
        o += _ROW


@compiled(fused=True)
def gradient_deletion(values, off, points, along, start, scaled, diagonal, rows, momenta, steps):
    """Return exact leave-one-out scores (B, T) of gradient iterations.

    Each point is really left out of the iterations.

    In a basis in which K is tridiagonal, T, the deletion of a point is a change of rank one: with
    the residual x of the deleted problem, started at e - e_i, one iteration is x <- x + momentum (x
    - before) - step (T x - q_i (q_i'T x)). ``steps`` (B, T) refer to K, ``start`` is T e,
    ``diagonal`` and ``rows`` (B, n) are K_ii and the row sums of K. ``scaled``: axes in the metric
    of K; then x is (n - 1) times the residual in the feature space, and ``start`` e.
    """
    r, n = points.shape[1:]
    scale = 1.0 / (n - 1.0)
    out = np.zeros(steps.shape)
    buffer = np.zeros((r + 2) * 4 * _LANES)
    at = np.empty(_LANES)
    square = np.empty(_LANES)
    product = np.empty(_LANES)
    for b in range(points.shape[0]):
        total = rows[b].sum()
        for first in range(0, n, _LANES):
            lanes = np.uint64(min(_LANES, n - first))
            for k in range(r):
                for a in range(min(_LANES, n - first)):
                    o = 4 * _LANES * (k + 1) + a
                    buffer[o] = points[b, k, first + a]
                    buffer[o + _LANES] = buffer[o + 2 * _LANES] = along[b, k] - buffer[o]
            _sums(values[b], off[b], start[b], scaled, buffer, lanes, at, square, product)
            for t in range(out.shape[1]):
                _step(buffer, r, lanes, momenta[t], steps[b, t], at)
                _sums(values[b], off[b], start[b], scaled, buffer, lanes, at, square, product)
                for a in range(min(_LANES, n - first)):
                    own = diagonal[b, first + a]
                    row = rows[b, first + a]
                    predicted = (row - own - at[a]) * scale
                    moved = total - 2.0 * row + own - 2.0 * (product[a] - at[a]) + square[a]
                    out[b, t] += (own - 2.0 * predicted + moved * scale * scale) / n
    return out


@compiled(fused=True)
def gradient_path(values, off, start, momenta, steps, counts):
    """Do the same as `filter_arrays.gradient_path`."""
    r = values.shape[1]
    now = np.empty(r)
    image = np.empty(r)
    before = np.empty(r)
    out = np.empty((*counts.shape, r))
    for b in range(values.shape[0]):
        now[:], before[:], c = 0.0, 0.0, 0
        for t in range(counts[b, -1]):
            for k in range(r):
                left = off[b, k - 1] * now[k - 1] if k > 0 else 0.0
                image[k] = (
                    left + values[b, k] * now[k] + (off[b, k] * now[k + 1] if k + 1 < r else 0.0)
                )
            for k in range(r):
                change = momenta[t] * (now[k] - before[k]) + steps[b, t] * (start[b, k] - image[k])
                before[k], now[k] = now[k], now[k] + change
            if t + 1 == counts[b, c]:
                out[b, c] = now
                c += 1
    return out


def is_compiled(function):
    """Return whether ``function`` may be called from a compiled loop."""
    return isinstance(function, Dispatcher) or bool(config.DISABLE_JIT)


@lru_cache(maxsize=64)
def over_samples(weigh):
    """Return a loop ``(grams, theta, out)`` around a user's ``weigh``.

    The loop is compiled once in a process.
    """

    @njit(nogil=True)
    def loop(grams, theta, out):
        for b in range(grams.shape[0]):
            weigh(grams[b], theta, out[b])

    return loop
