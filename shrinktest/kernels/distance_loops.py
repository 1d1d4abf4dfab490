"""Distances between points, a coordinate at a time along rows of the result: loops that become vector instructions."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_KEPT = 2**15  # coordinates of points, a quarter of a megabyte, which stay in the second-level cache


@compiled(ordered=True)
def add(x, columns, city, start, out):
    """Add what some coordinates of one point, and of those from ``start`` on, put into their distances before a root.

    The coordinates are the rows of ``columns`` (d, m).  Four at a time, so that ``out`` is read and written a quarter
    as often; sums are as of one at a time.
    """
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


@compiled(ordered=True)
def between(x, columns, city, out):
    """Distances (n, m) to the first m of the columns, in the 1-norm (``city``) or the 2-norm.

    So many coordinates of all rows at a time as stay near the processor: with many, they are else read from afar for
    every row.
    """
    out[:] = 0.0
    some = max(4, _KEPT // max(1, out.shape[1]) // 4 * 4)
    for c in range(0, x.shape[1], some):
        for i in range(x.shape[0]):
            add(x[i, c : c + some], columns[c : c + some], city, 0, out[i])
    if not city:
        for i in range(x.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = np.sqrt(out[i, j])


@compiled(ordered=True)
def among(x, columns, city, out):
    """Distances of all pairs i < j, one after the other."""
    n, where = x.shape[0], 0
    for i in range(n - 1):
        here = out[where : where + n - 1 - i]
        here[:] = 0.0
        add(x[i], columns, city, i + 1, here)
        if not city:
            for j in range(here.size):
                here[j] = np.sqrt(here[j])
        where += n - 1 - i
