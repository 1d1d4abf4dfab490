"""Loops over partitions of a pooled sample: sums of blocks, weights of every part, products of the parts."""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._compiled.choice import choose
from shrinktest._compiled.signatures import MATRIX, SCORE, VECTOR, WEIGH
from shrinktest._compiled.sums import COLUMNS, OCTETS, add_subsets, tabulate
from shrinktest._compiled.vectors import trace
from shrinktest._jit import compiled

_LABELS = types.Array(types.uint16, 2, "C", readonly=True)
_SUMS = types.Array(types.float64, 3, "C")
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


@compiled(inline=True)
def gather(gram, members, matrix, start):
    """The Gram matrix of some points, and the vector of ones."""
    for i in range(start.size):
        row = gram[members[i]]
        for j in range(start.size):
            matrix[i, j] = row[members[j]]
        start[i] = 1.0


@compiled(inline=True)
def unpack(sums, whole, p, b, matrix, start):
    """Z'Z and Z'e of a part: from the products of the columns of [Z, 1], below and on the diagonal, row after row."""
    k = 0
    for i in range(start.size + 1):
        for j in range(i + 1 if i < start.size else i):
            if p < sums.shape[0]:
                value = sums[p, b, k]
            else:  # the last part gets what the others leave
                value = whole[k]
                for q in range(sums.shape[0]):
                    value -= sums[q, b, k]
            if i < start.size:
                matrix[i, j] = matrix[j, i] = value
            else:
                start[j] = value
            k += 1


@compiled(
    types.void(
        MATRIX, MATRIX, _SUMS, VECTOR, _LABELS, _SIZES, VECTOR, VECTOR, _SIZES, types.boolean, SCORE, WEIGH, MATRIX,
    ),
)  # fmt: skip
def part_weights(gram, z, sums, whole, labels, sizes, theta, amounts, starts, joint, score, weigh, out):
    """Weights ``out`` (B, N) of every part of every partition, each fitted to its own part.

    ``gram`` (N, N) is empty for a sample by coordinates, which are ``z`` (N, r); then ``sums`` (k - 1, B, p) are
    those of `sums.product_sums` over all parts but the last, and ``whole`` (p,) those over all points.  The amounts
    that part p tunes over are ``amounts[starts[p]:starts[p + 1]]``; those before ``starts[1]`` are for all if
    ``joint``: one amount for all parts, the minimiser of the sum of their scores.
    """
    parts, most, rank = sizes.size, 0, z.shape[1]
    for p in range(parts):
        most = sizes[p] if sizes[p] > most else most
    order = most if rank == 0 else rank
    # room for the largest part: the others take the beginning of it
    matrices, begins = np.empty(parts * order * order), np.empty((parts, order))
    rows = 5 * order + 25  # as in `workspace`, for the largest
    works = np.empty(parts * rows * order)
    members, filled, weights = np.empty((parts, most), np.int64), np.empty(parts, np.int64), np.empty(most)
    scores, summed = np.empty((parts, amounts.size)), np.empty(starts[1])
    traces = np.empty(parts)
    for b in range(labels.shape[0]):
        for p in range(parts):
            filled[p] = 0
        for i in range(labels.shape[1]):
            p = labels[b, i]
            members[p, filled[p]] = i
            filled[p] += 1
        flat, slack = False, 0.0
        for turn in range(2 * parts):  # first the scores of all parts, then their weights
            p = turn % parts
            n = sizes[p]
            size = n if rank == 0 else rank
            low, high = (0, starts[1]) if joint else (starts[p], starts[p + 1])
            matrix = matrices[p * order * order : p * order * order + size * size].reshape((size, size))
            work = works[p * rows * order : p * rows * order + (5 * size + 25) * size].reshape((5 * size + 25, size))
            start, points, own, found = begins[p, :size], members[p, :n], scores[p, : high - low], weights[:n]
            if turn < parts:
                if rank == 0:
                    gather(gram, points, matrix, start)
                else:
                    unpack(sums, whole, p, b, matrix, start)
                traces[p] = trace(matrix) / n
                slack += 1e-9 * traces[p]
                if own.size == 1 or not (n == 1 or traces[p] == 0.0):
                    score(matrix, start, z, points, theta, amounts[low:high], work, own)
                else:  # no amount can be tuned on that
                    flat = True
                    traces[p] = 0.0
                continue
            best, value = 0, 1.0 / n
            if flat if joint else own.size > 1 and traces[p] == 0.0:
                best = -1
            elif joint:
                if p == 0:
                    for g in range(own.size):
                        summed[g] = 0.0
                        for q in range(parts):
                            summed[g] += scores[q, g]
                best, value = choose(summed, slack), np.nan
            elif own.size > 1:
                best, value = choose(own, 1e-9 * traces[p]), np.nan
            if best >= 0:
                weigh(matrix, start, z, points, theta, amounts[low + best], work, found)
            else:
                for i in range(n):
                    found[i] = value
            for i in range(n):
                out[b, points[i]] = found[i]
