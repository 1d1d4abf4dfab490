"""Loops over partitions of a pooled sample: sums of blocks, weights of every part, products of the parts."""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.choice import choose
from shrinktest._compiled.engine import degenerate, fit
from shrinktest._compiled.jit import MATRIX, SCORE, VECTOR, WEIGH, compiled
from shrinktest._compiled.sums import COLUMNS, OCTETS, add_subsets, tabulate
from shrinktest._compiled.tridiagonal import workspace

_LABELS = types.Array(types.uint16, 2, "C", readonly=True)
_SIZES = types.Array(types.int64, 1, "C", readonly=True)


@compiled()
def block_sums(gram, octets, labels, out, traces):
    """For every partition: ``out`` (B, k, k), the sums of K over pairs of parts, and its trace over each, (B, k).

    ``octets`` (k - 1, rows, B) holds the members of all parts but the last, which gets what is left.  A tile of the
    matrix is tabled once for all parts; only the tiles on and below the diagonal are touched.
    """
    total = gram.shape[0]
    parts, count = octets.shape[0], octets.shape[2]
    if count == 0:
        return
    table, scratch = np.empty(4 * 16 * COLUMNS), np.empty(4 * COLUMNS)
    sums = np.empty((parts, count * COLUMNS))
    whole, diagonal = np.zeros(COLUMNS), np.zeros(COLUMNS)
    out[:] = 0.0
    traces[:] = 0.0
    for start in range(0, total, COLUMNS):
        width = min(COLUMNS, total - start)
        here = start // 8
        for c in range(width):
            value = 0.0
            for i in range(start + width, total):
                value += gram[i, start + c]
            value *= 2.0
            for i in range(start, start + width):
                value += gram[i, start + c]
            whole[c] = value
            diagonal[c] = gram[start + c, start + c]
        sums[:] = 0.0
        for g in range(here + OCTETS, octets.shape[1], 2):
            tabulate(gram, 8 * g, start, scratch, table)
            for p in range(parts):
                add_subsets(octets[p, g], octets[p, g + 1], table, sums[p])
        sums *= 2.0
        for g in range(here, here + OCTETS, 2):
            tabulate(gram, 8 * g, start, scratch, table)
            for p in range(parts):
                add_subsets(octets[p, g], octets[p, g + 1], table, sums[p])
        for r in range(count):
            for c in range(width):
                label = labels[r, start + c]
                rest = whole[c]
                for p in range(parts):
                    value = sums[p, r * COLUMNS + c]
                    out[r, p, label] += value
                    rest -= value
                out[r, parts, label] += rest
                traces[r, label] += diagonal[c]
    for r in range(count):  # the tiles above the diagonal were counted below it
        for p in range(parts + 1):
            for q in range(p):
                mean = 0.5 * (out[r, p, q] + out[r, q, p])
                out[r, p, q] = mean
                out[r, q, p] = mean


@compiled(types.void(MATRIX, _LABELS, _SIZES, VECTOR, VECTOR, _SIZES, types.boolean, SCORE, WEIGH, MATRIX))
def part_weights(pooled, labels, sizes, theta, amounts, starts, joint, score, weigh, out):
    """Weights ``out`` (B, N) of every part of every partition, each fitted to its own Gram matrix.

    The amounts that part p tunes over are ``amounts[starts[p]:starts[p + 1]]``; ``joint``: one amount for all parts,
    the minimiser of the sum of their scores.
    """
    total, parts = labels.shape[1], sizes.size
    most = sizes.max()
    grams, works = np.empty(parts * most * most), [workspace(sizes[p]) for p in range(parts)]
    weights = np.empty(most)
    members = np.empty((parts, most), np.int64)
    filled = np.empty(parts, np.int64)
    scores, summed = np.empty(amounts.size), np.empty(amounts.size)
    for r in range(labels.shape[0]):
        filled[:] = 0
        for i in range(total):
            p = labels[r, i]
            members[p, filled[p]] = i
            filled[p] += 1
        flat, tolerance = False, 0.0
        for p in range(parts):
            n = sizes[p]
            gram = grams[p * most * most : p * most * most + n * n].reshape((n, n))
            for i in range(n):
                for j in range(n):
                    gram[i, j] = pooled[members[p, i], members[p, j]]
            flat = flat or degenerate(gram)
            tolerance += 1e-9 * np.trace(gram) / n
        best = -1
        if joint and not flat:
            summed[:] = 0.0
            for p in range(parts):
                n = sizes[p]
                gram = grams[p * most * most : p * most * most + n * n].reshape((n, n))
                score(gram, theta, amounts, works[p], scores)
                summed += scores
            best = choose(summed, tolerance)
        for p in range(parts):
            n = sizes[p]
            gram = grams[p * most * most : p * most * most + n * n].reshape((n, n))
            if not joint:
                own = amounts[starts[p] : starts[p + 1]]
                fit(gram, theta, own, works[p], scores[starts[p] : starts[p + 1]], weights[:n], score, weigh)
            elif flat:
                weights[:n] = 1.0 / n
            elif best < 0:
                weights[:n] = np.nan
            else:
                weigh(gram, theta, amounts[best], works[p], weights[:n])
            for i in range(n):
                out[r, members[p, i]] = weights[i]


@compiled()
def part_products(gram, labels, sizes, weights, unbiased, out, extra):
    """Inner products of the parts' estimates, ``out`` (B, k, k); ``extra`` (B, k), what chance adds to their norms."""
    total, parts = labels.shape[1], sizes.size
    inside, trace, squares, weighted = np.empty(parts), np.empty(parts), np.empty(parts), np.empty(parts)
    out[:] = 0.0
    extra[:] = 0.0
    for r in range(labels.shape[0]):
        inside[:] = 0.0
        trace[:] = 0.0
        squares[:] = 0.0
        weighted[:] = 0.0
        for i in range(total):
            p, w = labels[r, i], weights[r, i]
            for j in range(i):
                q, value = labels[r, j], gram[i, j]
                out[r, p, q] += w * value * weights[r, j]
                if p == q:
                    inside[p] += 2.0 * value
            out[r, p, p] += 0.5 * w * gram[i, i] * w
            squares[p] += w * w
            weighted[p] += w * w * gram[i, i]
        for p in range(parts):
            out[r, p, p] *= 2.0
            for q in range(p):
                both = out[r, p, q] + out[r, q, p]
                out[r, p, q] = both
                out[r, q, p] = both
            if unbiased:
                n = sizes[p]
                extra[r, p] = weighted[p] - squares[p] * inside[p] / (n * (n - 1.0))
