"""Distances between points, a coordinate at a time along rows of the result: loops that become vector instructions."""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled


@compiled(ordered=True)
def row(x, columns, city, start, out):
    """Distances of one point to those from ``start`` on, whose coordinates are the rows of ``columns`` (d, m).

    Four coordinates at a time, so that ``out`` is read and written a quarter as often; sums are as of one at a time.
    """
    out[:] = 0.0
    by_fours = 0 if city else x.size - x.size % 4
    for c in range(0, by_fours, 4):
        x0, x1, x2, x3 = x[c], x[c + 1], x[c + 2], x[c + 3]
        y0, y1 = columns[c, start:], columns[c + 1, start:]
        y2, y3 = columns[c + 2, start:], columns[c + 3, start:]
        for j in range(out.size):
            away0, away1, away2, away3 = x0 - y0[j], x1 - y1[j], x2 - y2[j], x3 - y3[j]
            out[j] = (((out[j] + away0 * away0) + away1 * away1) + away2 * away2) + away3 * away3
    for c in range(by_fours, x.size):
        here, there = x[c], columns[c, start:]
        if city:
            for j in range(out.size):
                out[j] += abs(here - there[j])
        else:
            for j in range(out.size):
                away = here - there[j]
                out[j] += away * away
    if not city:
        for j in range(out.size):
            out[j] = np.sqrt(out[j])


@compiled(ordered=True)
def between(x, columns, city, out):
    """Distances (n, m) to the first m of the columns, in the 1-norm (``city``) or the 2-norm."""
    for i in range(x.shape[0]):
        row(x[i], columns, city, 0, out[i])


@compiled(ordered=True)
def among(x, columns, city, out):
    """Distances of all pairs i < j, one after the other."""
    n, where = x.shape[0], 0
    for i in range(n - 1):
        row(x[i], columns, city, i + 1, out[where : where + n - 1 - i])
        where += n - 1 - i
