"""Distances between rows and features of rows, in loops that vectorize along result rows.

Nothing is reordered or fused, so that the bits of a row depend on no other row, no thread, and no
processor.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_KEPT = 2**15  # numbers, a quarter of a megabyte, which stay in the second-level cache
_TILE = 128  # features whose weights are together in memory
_ROUND = (
    1.5 * 2.0**52
)  # added and taken off again, it rounds numbers below 2^51 to whole ones, half to even
_ONE = np.int64(1)
_52 = np.int64(52)
_63 = np.int64(63)
_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LEAST = -700.0  # an exponent below which the exponential is of no account


@compiled(ordered=True)
def add(x, columns, city, start, out):
    """Add what some coordinates contribute to distances before a root.

    The distances are those of one point and of those from ``start`` on.

    The coordinates are the rows of ``columns`` (d, m), four at a time; sums are as of one at a
    time.
    """
    by_fours = 0 if city else x.size - x.size % 4
    for c in range(0, by_fours, 4):
        x0 = x[c]
        x1 = x[c + 1]
        x2 = x[c + 2]
        x3 = x[c + 3]
        y0 = columns[c, start:]
        y1 = columns[c + 1, start:]
        y2 = columns[c + 2, start:]
        y3 = columns[c + 3, start:]
        for j in range(out.size):
            away0 = x0 - y0[j]
            away1 = x1 - y1[j]
            away2 = x2 - y2[j]
            away3 = x3 - y3[j]
            out[j] = (((out[j] + away0 * away0) + away1 * away1) + away2 * away2) + away3 * away3
    for c in range(by_fours, x.size):
        x0 = x[c]
        y0 = columns[c, start:]
        for j in range(out.size):
            away = x0 - y0[j]
            out[j] += abs(away) if city else away * away


@compiled(ordered=True)
def between(x, columns, city, out):
    """Distances (n, m) to the first m of the columns, in the 1-norm (``city``) or the 2-norm."""
    out[:] = 0.0
    for i in range(x.shape[0]):
        add(x[i], columns, city, 0, out[i])
        if not city:
            for j in range(out.shape[1]):
                out[i, j] = np.sqrt(out[i, j])


@compiled(ordered=True)
def among(x, columns, city, out):
    """Distances of all pairs i < j, one after the other."""
    n = x.shape[0]
    start = 0
    out[:] = 0.0
    for i in range(n - 1):
        add(x[i], columns, city, i + 1, out[start : start + n - 1 - i])
        start += n - 1 - i
    if not city:
        for j in range(out.size):
            out[j] = np.sqrt(out[j])


@compiled(ordered=True)
def products(rows, weights, out):
    """Write rows (n, d) times ``weights`` (tiles, d, 128) to ``out`` (n, m).

    The d terms are added in their order.

    A tile of weights, with zeros beyond the last feature, stays in the cache.  Rows go in pairs to
    save loads.
    """
    n, d = rows.shape
    m = out.shape[1]
    whole = d - d % 4
    p = np.empty(_TILE)
    q = np.empty(_TILE)
    for tile in range(weights.shape[0]):
        w = weights[tile]
        start = tile * _TILE
        width = min(_TILE, m - start)
        for i in range(0, n, 2):
            other = min(i + 1, n - 1)
            x = rows[i]
            y = rows[other]
            p[:] = 0.0
            q[:] = 0.0
            for k in range(0, whole, 4):
                a0 = x[k]
                a1 = x[k + 1]
                a2 = x[k + 2]
                a3 = x[k + 3]
                b0 = y[k]
                b1 = y[k + 1]
                b2 = y[k + 2]
                b3 = y[k + 3]
                w0 = w[k]
                w1 = w[k + 1]
                w2 = w[k + 2]
                w3 = w[k + 3]
                for j in range(_TILE):
                    p[j] = (((p[j] + a0 * w0[j]) + a1 * w1[j]) + a2 * w2[j]) + a3 * w3[j]
                    q[j] = (((q[j] + b0 * w0[j]) + b1 * w1[j]) + b2 * w2[j]) + b3 * w3[j]
            for k in range(whole, d):
                a0 = x[k]
                b0 = y[k]
                w0 = w[k]
                for j in range(_TILE):
                    p[j] += a0 * w0[j]
                    q[j] += b0 * w0[j]
            for j in range(width):
                out[i, start + j] = p[j]
                out[other, start + j] = q[j]


@compiled(ordered=True)
def waves(rows, turns, height, out):
    """Cosines and then sines of rows (n, d) times ``turns`` (d, m), times ``height``: (n, 2m).

    The products are in whole turns.

    From the sine and cosine of half the angle, whose polynomials are exact to 1e-17 (Chebyshev's,
    in the square).
    """
    m = out.shape[1] // 2
    step = max(16, _KEPT // max(1, 2 * m))  # rows whose features stay in the cache
    phases = np.empty((step, m))
    for i in range(rows.shape[0]):
        if i % step == 0:
            some = rows[i : i + step]
            products(some, turns, phases[: some.shape[0]])
        line = phases[i % step]
        row = out[i]
        for j in range(m):
            t = line[j]
            f = t - ((t + _ROUND) - _ROUND)
            f = f if abs(f) <= 0.5 else 0.0  # phases so large that nothing is left of them
            x = f * f
            s = -2.1903497074626018e-05 + x * 7.697826768224191e-07
            s = -0.007370430505916944 + x * (0.0004662998161898394 + x * s)
            s = -0.5992645293189447 + x * (0.0821458865731029 + x * s)
            s = f * (
                3.141592653589793 + x * (-5.167712780049969 + x * (2.5501640398773007 + x * s))
            )
            c = -0.00010456655338748738 + x * 4.149564353942586e-06
            c = -0.025806888737002202 + x * (0.0019295562724817132 + x * c)
            c = -1.335262768843447 + x * (0.23533063012953284 + x * c)
            c = 1.0 + x * (-4.934802200544676 + x * (4.058712126416497 + x * c))
            row[j] = height * (1.0 - 2.0 * (s * s))
            row[m + j] = (2.0 * height) * (s * c)


@compiled(ordered=True)
def bells(rows, landmarks, halves, out):
    """Gaussian kernel values (n, m) of rows (n, d) and tiled ``landmarks`` (d, m).

    They are in units of the bandwidth.

    ``halves`` (m,) are the halved squared norms of the landmarks.  The exponential is 2^n times the
    exponential of the remainder, by a polynomial exact to 1e-17.
    """
    step = max(16, _KEPT // max(1, out.shape[1]))  # rows whose features stay in the cache
    whole = np.empty(out.shape[1])
    values = np.empty(out.shape[1])
    exponents = whole.view(np.int64)
    raised = values.view(np.int64)
    for i in range(rows.shape[0]):
        if i % step == 0:
            products(rows[i : i + step], landmarks, out[i : i + step])
        half = 0.0
        for k in range(rows.shape[1]):
            half += rows[i, k] * rows[i, k]
        half *= 0.5
        line = out[i]
        for j in range(line.size):
            e = (line[j] - half) - halves[j]
            e = e if e > _LEAST else _LEAST  # also if it is NaN, too far away to tell
            e = e if e < 0.0 else 0.0
            n = e * _LOG2E + _ROUND
            whole[j] = n
            n -= _ROUND
            r = (e - n * _LN2_HIGH) - n * _LN2_LOW
            p = 2.763279054211718e-07 + r * 2.511015364692893e-08
            p = 2.4801485074105115e-05 + r * (2.7557240604663896e-06 + r * p)
            p = 0.0013888888952696516 + r * (0.00019841269890340666 + r * p)
            p = 0.04166666666648666 + r * (0.00833333333331949 + r * p)
            p = 0.5000000000000019 + r * (0.1666666666666668 + r * p)
            values[j] = 1.0 + r * (1.0 + r * p)
        for j in range(line.size):
            raised[j] += exponents[j] << _52  # the bits of 2^n; those above fall away
        for j in range(line.size):
            line[j] = values[j]
