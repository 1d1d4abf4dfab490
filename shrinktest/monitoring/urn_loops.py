"""Cells of scores, bets on them, and projections, compiled with the bits of `urn_arrays`."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled
from shrinktest.monitoring.urn_arrays import CAP


@compiled(ordered=True)
def projections(points, weights, out):
    """Do the same as `urn_arrays.projections`."""
    n, d = points.shape
    k = weights.shape[1]
    for i in range(n):
        sums = np.zeros(k)
        for j in range(d):
            point = points[i, j]
            for c in range(k):
                sums[c] += point * weights[j, c]
        out[i] = sums


@compiled(ordered=True)
def projection(columns, weights, out):
    """Do the same as `urn_arrays.projection`."""
    d, n = columns.shape
    out[:] = 0.0
    for j in range(d):
        weight = weights[j]
        for i in range(n):
            out[i] += columns[j, i] * weight


@compiled(ordered=True)
def cells(scores, ties, values, numbers, out):
    """Do the same as `urn_arrays.cells`."""
    n, k = scores.shape
    for i in range(n):
        tie = ties[i]
        for x in range(k):
            score = scores[i, x]
            low = 0
            high = values.shape[1]
            while low < high:
                middle = (low + high) // 2
                value = values[x, middle]
                if value < score or (value == score and numbers[x, middle] < tie):
                    low = middle + 1
                else:
                    high = middle
            out[i, x] = low


@compiled(ordered=True)
def bet(cells, rows, bets, starts, tails, ages, totals, wealth, runs, began, evidence, changes):
    """Do the same as `urn_arrays.bet`."""
    n, k = cells.shape
    size, count = bets.shape
    for i in range(n):
        for x in range(k):
            cell = cells[i, x]
            balls = size + ages[x]
            ages[x] += 1
            total = 0.0
            largest = -1.0
            change = 0
            for b in range(count):
                factor = bets[cell, b]
                e = factor * balls / totals[x, b]
                totals[x, b] += factor
                if runs[x, b] <= 1.0:
                    began[x, b] = rows[i]
                runs[x, b] = min(max(runs[x, b], 1.0) * e, CAP)
                value = min((wealth[x, b] + starts[i]) * e, CAP)
                wealth[x, b] = value
                total += value
                if value > largest:
                    largest = value
                    change = began[x, b]
            evidence[i, x] = total / count + tails[i]
            changes[i, x] = change
