"""Loops over partitions of a pooled sample: sums of blocks of its Gram matrix."""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.sums import COLUMNS, OCTETS, add_subsets, tabulate
from shrinktest._jit import compiled


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
