"""Largest sums within the first rows, or within any interval, of a permuted series.

The row of an observation in a Gram matrix meets those that a permutation put before it.  Their
places, sixteen bits each, are compared with its own: vector instructions, and a row serves many
permutations while it is in the cache.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled


@compiled()
def before(matrix, places, out):
    """Do the same as `scan_arrays.before`."""
    count, n = places.shape
    for i in range(n):
        row = matrix[i]
        for b in range(count):
            place = places[b]
            here = place[i]
            total = 0.0
            for j in range(n):
                total += row[j] if place[j] < here else 0.0
            out[b, here] = total


@compiled()
def largest_of_coordinates(z, own, orders, linear, constant, units, low, high, out):
    """Do the same as `scan_arrays.largest_of_coordinates`."""
    rank = z.shape[1]
    total = np.empty(rank)
    for b in range(orders.shape[0]):
        total[:] = 0.0
        norms = 0.0
        best = -np.inf
        for place in range(high):
            i = orders[b, place]
            row = z[i]
            squared = 0.0
            for c in range(rank):
                total[c] += row[c]
                squared += total[c] * total[c]
            norms += own[i]
            length = place + 1
            if length >= low:
                best = max(
                    best, (squared - linear[length] * norms - constant[length]) * units[length]
                )
        out[b] = best


@compiled()
def cumulate(z, own, order, totals, norms):
    """Write sums (n + 1, r) of coordinates and squared norms over first rows of an order."""
    for place in range(order.size):
        i = order[place]
        norms[place + 1] = norms[place] + own[i]
        for c in range(z.shape[1]):
            totals[place + 1, c] = totals[place, c] + z[i, c]


@compiled()
def largest_interval_of_gram(matrix, orders, units, low, high, out):
    """Do the same as `scan_arrays.largest_interval_of_gram`."""
    n = matrix.shape[0]
    within = np.empty(n)
    along = np.empty(n)
    for b in range(orders.shape[0]):
        order = orders[b]
        within[:] = 0.0
        best = -np.inf
        for last in range(n):
            row = matrix[order[last]]
            for first in range(last):
                along[first] = row[order[first]]
            sums = 0.0
            for first in range(last - 1, -1, -1):
                sums += along[first]
                within[first] += 2.0 * sums
                length = last - first + 1
                if low <= length <= high:
                    best = max(best, within[first] * units[length])
        out[b] = best


@compiled()
def largest_interval_of_coordinates(z, own, orders, linear, constant, units, low, high, out):
    """Do the same as `scan_arrays.largest_interval_of_coordinates`."""
    n, rank = z.shape
    totals = np.zeros((n + 1, rank))
    norms = np.zeros(n + 1)
    for b in range(orders.shape[0]):
        cumulate(z, own, orders[b], totals, norms)
        best = -np.inf
        for end in range(low, n + 1):
            for start in range(max(0, end - high), end - low + 1):
                squared = 0.0
                for c in range(rank):
                    apart = totals[end, c] - totals[start, c]
                    squared += apart * apart
                length = end - start
                value = squared - linear[length] * (norms[end] - norms[start]) - constant[length]
                best = max(best, value * units[length])
        out[b] = best


@compiled()
def largest_in_intervals(z, own, orders, ends, starts, cuts, weights, out):
    """Do the same as `scan_arrays.largest_in_intervals`."""
    n, rank = z.shape
    totals = np.zeros((n + 1, rank))
    norms = np.zeros(n + 1)
    whole = np.empty(rank)
    for b in range(orders.shape[0]):
        cumulate(z, own, orders[b], totals, norms)
        for k in range(ends.shape[0]):
            first = ends[k, 0]
            end = ends[k, 1]
            total = 0.0
            for c in range(rank):
                whole[c] = totals[end, c] - totals[first, c]
                total += whole[c] * whole[c]
            best = -np.inf
            for j in range(starts[k], starts[k + 1]):
                cut = cuts[j]
                squared = 0.0
                across = 0.0
                for c in range(rank):
                    apart = totals[cut, c] - totals[first, c]
                    squared += apart * apart
                    across += apart * whole[c]
                before_cut = squared - (norms[cut] - norms[first])
                after_cut = total - 2.0 * across + squared - (norms[end] - norms[cut])
                value = (
                    weights[j, 0] * before_cut
                    + weights[j, 1] * after_cut
                    + weights[j, 2] * (across - squared)
                )
                best = max(best, value)
            out[b, k] = best
