"""Sums over relabellings, for the estimators that need nothing else.

A subset meets the rows of a matrix four at a time: the 16 sums of every subset of four rows are tabled once, and each
relabelling then adds the one its bits name.  That is a quarter of the additions of a matrix product and no
multiplications, and a table of 64 columns stays in the first-level cache; it takes about half the time of dgemm.
Indices are unsigned and strides constant, without which the compiler would not make vector instructions of the loops.
"""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled

_COLUMNS = 64  # of a tile; also the rows that one column of a tile meets on the diagonal
_OCTETS = _COLUMNS // 8
_0, _1, _4, _15 = np.uint64(0), np.uint64(1), np.uint64(4), np.uint64(15)
_W = np.uint64(_COLUMNS)
_TABLE = np.uint64(16 * _COLUMNS)  # one of the four in use


def octets_of(masks: np.ndarray) -> np.ndarray:
    """Membership bits (B, N) by eights, first bit lowest, as (8 ceil(N / 64), B) bytes."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    out = np.zeros((-(-masks.shape[1] // _COLUMNS) * _OCTETS, len(masks)), dtype=np.uint8)
    out[: packed.shape[1]] = packed.T
    return out


@compiled()
def subsets(scratch, where, table):
    """The table, at ``where``, of the sums over all subsets of the four rows in ``scratch``."""
    for c in range(_0, _W):
        table[where + c] = 0.0
    size = _1
    source = _0
    for _ in range(4):
        for s in range(_0, size):
            low = where + s * _W
            high = low + size * _W
            for c in range(_0, _W):
                table[high + c] = table[low + c] + scratch[source + c]
        size += size
        source += _W


@compiled()
def tabulate(matrix, row, column, scratch, table):
    """Sums over all subsets of rows ``row`` to ``row`` + 3, then of the next four, and so on: four tables of 16."""
    rows, columns = matrix.shape
    where = _0
    for _ in range(4):
        for b in range(4):
            for c in range(_COLUMNS):
                inside = row + b < rows and column + c < columns
                scratch[b * _COLUMNS + c] = matrix[row + b, column + c] if inside else 0.0
        subsets(scratch, where, table)
        where += _TABLE
        row += 4


@compiled(inline=True)
def tabulate_products(z, left, right, row, column, scratch, table):
    """`tabulate` for the matrix of the products of columns ``left`` and ``right`` of z."""
    where = _0
    for _ in range(4):
        for b in range(4):
            for c in range(_COLUMNS):
                inside = row + b < z.shape[0] and column + c < left.size
                scratch[b * _COLUMNS + c] = (
                    z[row + b, left[column + c]] * z[row + b, right[column + c]] if inside else 0.0
                )
        subsets(scratch, where, table)
        where += _TABLE
        row += 4


@compiled()
def add_subsets(first, second, table, sums):
    """Add to every relabelling's tile in ``sums`` what its bits in two octets name."""
    o = _0
    for r in range(first.size):
        low, high = np.uint64(first[r]), np.uint64(second[r])
        p = (low & _15) * _W
        q = (low >> _4) * _W + _TABLE
        s = (high & _15) * _W + _TABLE + _TABLE
        t = (high >> _4) * _W + _TABLE + _TABLE + _TABLE
        for c in range(_0, _W):
            sums[o + c] += (table[p + c] + table[q + c]) + (table[s + c] + table[t + c])
        o += _W


@compiled()
def split_sums(gram, octets, out):
    """For every split S: ``out`` (B, 3) = sum of K over S x S, sum of K over S x everything, trace over S.

    Only the tiles on and below the diagonal are touched.
    """
    total = gram.shape[0]
    count = octets.shape[1]
    if count == 0:
        return
    table, scratch = np.empty(4 * 16 * _COLUMNS), np.empty(4 * _COLUMNS)
    sums = np.empty(count * _COLUMNS)
    rows, diagonal = np.zeros(_COLUMNS), np.zeros(_COLUMNS)
    out[:] = 0.0
    for start in range(0, total, _COLUMNS):
        width = min(_COLUMNS, total - start)
        here = start // 8
        for c in range(width):
            value = 0.0
            for j in range(total):
                value += gram[start + c, j]
            rows[c] = value
            diagonal[c] = gram[start + c, start + c]
        sums[:] = 0.0
        for g in range(here + _OCTETS, octets.shape[0], 2):
            tabulate(gram, 8 * g, start, scratch, table)
            add_subsets(octets[g], octets[g + 1], table, sums)
        for k in range(sums.size):
            sums[k] *= 2.0
        for g in range(here, here + _OCTETS, 2):
            tabulate(gram, 8 * g, start, scratch, table)
            add_subsets(octets[g], octets[g + 1], table, sums)
        for r in range(count):
            within = along = trace = 0.0
            for c in range(width):
                member = (octets[here + c // 8, r] >> (c % 8)) & 1
                within += member * sums[r * _COLUMNS + c]
                along += member * rows[c]
                trace += member * diagonal[c]
            out[r, 0] += within
            out[r, 1] += along
            out[r, 2] += trace


@compiled()
def feature_sums(features, octets, out):
    """For every subset: the sum (B, r) of the rows of ``features`` (N, r) in it."""
    columns = features.shape[1]
    count = octets.shape[1]
    if count == 0:
        return
    table, scratch = np.empty(4 * 16 * _COLUMNS), np.empty(4 * _COLUMNS)
    sums = np.empty(count * _COLUMNS)
    for start in range(0, columns, _COLUMNS):
        sums[:] = 0.0
        for g in range(0, octets.shape[0], 2):
            tabulate(features, 8 * g, start, scratch, table)
            add_subsets(octets[g], octets[g + 1], table, sums)
        for r in range(count):
            for c in range(min(_COLUMNS, columns - start)):
                out[r, start + c] = sums[r * _COLUMNS + c]


@compiled()
def product_sums(z, left, right, octets, out):
    """For every subset: the sum (B, p) over its rows of z[:, left] * z[:, right]."""
    columns, count = left.size, octets.shape[1]
    if count == 0:
        return
    table, scratch = np.empty(4 * 16 * _COLUMNS), np.empty(4 * _COLUMNS)
    sums = np.empty(count * _COLUMNS)
    for start in range(0, columns, _COLUMNS):
        sums[:] = 0.0
        for g in range(0, octets.shape[0], 2):
            tabulate_products(z, left, right, 8 * g, start, scratch, table)
            add_subsets(octets[g], octets[g + 1], table, sums)
        for r in range(count):
            for c in range(min(_COLUMNS, columns - start)):
                out[r, start + c] = sums[r * _COLUMNS + c]


@compiled()
def pairing_sums(x, y, permutations, out):
    """For every permutation pi: ``out`` (B, 2) = sum of x_ij y_pi(i)pi(j), and its diagonal part."""
    n = x.shape[0]
    for r in range(permutations.shape[0]):
        pi = permutations[r]
        total = diagonal = 0.0
        for i in range(n):
            row = y[pi[i]]
            value = 0.0
            for j in range(i):
                value += x[i, j] * row[pi[j]]
            total += value
            diagonal += x[i, i] * row[pi[i]]
        out[r, 0] = 2.0 * total + diagonal
        out[r, 1] = diagonal


@compiled()
def cross_sums(u, v, permutations, out):
    """As ``pairing_sums`` for K = u u' and L = v v' of few columns: |u' v_pi|^2, and its diagonal part.

    Four pairs at a time, so that the product stays in registers for four multiplications.
    """
    n, p = u.shape
    q = v.shape[1]
    lengths_u, lengths_v = np.zeros(n), np.zeros(n)
    for i in range(n):
        for a in range(p):
            lengths_u[i] += u[i, a] * u[i, a]
        for b in range(q):
            lengths_v[i] += v[i, b] * v[i, b]
    product = np.empty((p, q))
    for r in range(permutations.shape[0]):
        pi = permutations[r]
        product[:] = 0.0
        diagonal = 0.0
        for i in range(n):
            diagonal += lengths_u[i] * lengths_v[pi[i]]
        whole = n - n % 4
        for i in range(0, whole, 4):
            v0, v1, v2, v3 = v[pi[i]], v[pi[i + 1]], v[pi[i + 2]], v[pi[i + 3]]
            for a in range(p):
                u0, u1, u2, u3 = u[i, a], u[i + 1, a], u[i + 2, a], u[i + 3, a]
                row = product[a]
                for b in range(q):
                    row[b] += u0 * v0[b] + u1 * v1[b] + u2 * v2[b] + u3 * v3[b]
        for i in range(whole, n):
            for a in range(p):
                for b in range(q):
                    product[a, b] += u[i, a] * v[pi[i], b]
        total = 0.0
        for a in range(p):
            for b in range(q):
                total += product[a, b] * product[a, b]
        out[r, 0] = total
        out[r, 1] = diagonal
