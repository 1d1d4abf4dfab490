"""Sums over permutations: of rows in a part, and of products of two permuted matrices.

The products are those of two matrices at permuted places.

A part meets the rows of a matrix four at a time: the 16 sums of every subset of four rows are
tabled once, and each permutation then adds the sum that its bits name.  That is a quarter of the
additions of a matrix product and no multiplications, and a table of 64 columns stays in the
first-level cache; it takes about half the time of dgemm.  Indices are unsigned and strides
constant, without which the compiler would not make vector instructions of the loops.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

COLUMNS = 64  # of a tile; also the rows that one column of a tile meets on the diagonal
OCTETS = COLUMNS // 8

_BLOCK = 2**16  # values of some rows of a large matrix: with as many of another one, a megabyte
_0, _1, _4, _8, _15, _16 = (np.uint64(number) for number in (0, 1, 4, 8, 15, 16))
_W = np.uint64(COLUMNS)
_TABLE = np.uint64(16 * COLUMNS)  # one of the four in use


def octets_of(masks):
    """Membership bits (B, N) by eights, first bit lowest, as (8 ceil(N / 64), B) bytes."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    out = np.zeros((-(-masks.shape[1] // COLUMNS) * OCTETS, len(masks)), dtype=np.uint8)
    out[: packed.shape[1]] = packed.T
    return out


@compiled(ordered=True)
def tabulate(matrix, row, column, scratch, table):
    """Sums over all subsets of rows ``row`` to ``row`` + 3, then of the next four, etc.

    They are four tables of 16.
    """
    rows, columns = matrix.shape
    place = _0
    for _ in range(4):
        for b in range(4):
            for c in range(COLUMNS):
                inside = row + b < rows and column + c < columns
                scratch[b * COLUMNS + c] = matrix[row + b, column + c] if inside else 0.0
        for c in range(_0, _W):
            table[place + c] = 0.0
        size = _1
        source = _0
        for _ in range(4):
            for s in range(_0, size):
                low = place + s * _W
                high = low + size * _W
                for c in range(_0, _W):
                    table[high + c] = table[low + c] + scratch[source + c]
            size += size
            source += _W
        place += _TABLE
        row += 4


@compiled(ordered=True)
def add_subsets(first, second, table, sums):
    """Add to the tile of every permutation in ``sums`` what its bits in two octets name."""
    o = _0
    for r in range(first.size):
        low = np.uint64(first[r])
        high = np.uint64(second[r])
        p = (low & _15) * _W
        q = (low >> _4) * _W + _TABLE
        s = (high & _15) * _W + _TABLE + _TABLE
        t = (high >> _4) * _W + _TABLE + _TABLE + _TABLE
        for c in range(_0, _W):
            sums[o + c] += (table[p + c] + table[q + c]) + (table[s + c] + table[t + c])
        o += _W


@compiled(ordered=True)
def tile_sums(matrix, start, octets, scratch, table, sums):
    """Write to ``sums`` (k, B 64) the sums over the members (k, rows, B).

    They are sums of each of 64 columns from ``start`` on.

    Only rows on and below the diagonal are touched; those below the tile on the diagonal count
    twice.
    """
    here = start // 8
    sums[:] = 0.0
    for first, stop in ((here + OCTETS, octets.shape[1]), (here, here + OCTETS)):
        sums *= 2.0
        for g in range(first, stop, 2):
            tabulate(matrix, 8 * g, start, scratch, table)
            for p in range(octets.shape[0]):
                add_subsets(octets[p, g], octets[p, g + 1], table, sums[p])


@compiled(ordered=True)
def split_sums(gram, rows, octets, out):
    """Write to ``out`` (B, 3) for every split S the sums of K and its trace.

    They are the sum of K over S x S, sum of K over S x everything, and trace over S.

    ``rows`` (N,) are the sums of the rows of K, ``octets`` (1, rows, B) the members of S.
    """
    total = gram.shape[0]
    count = octets.shape[2]
    table = np.empty(4 * 16 * COLUMNS)
    scratch = np.empty(4 * COLUMNS)
    sums = np.empty((1, count * COLUMNS))
    lanes = np.empty(24)
    along = np.empty(COLUMNS)
    trace = np.empty(COLUMNS)
    out[:] = 0.0
    for start in range(0, total, COLUMNS):
        here = start // 8
        tile_sums(gram, start, octets, scratch, table, sums)
        along[:] = 0.0
        trace[:] = 0.0
        for c in range(min(COLUMNS, total - start)):
            along[c] = rows[start + c]
            trace[c] = gram[start + c, start + c]
        for r in range(count):
            lanes[:] = 0.0
            o = np.uint64(r) * _W
            for g in range(here, here + OCTETS):
                bits = octets[0, g, r]
                for b in range(_8):  # one lane for each place in an octet
                    member = np.float64((bits >> b) & 1)
                    lanes[b] += member * sums[0, o + b]
                    lanes[_8 + b] += member * along[np.uint64(8 * (g - here)) + b]
                    lanes[_16 + b] += member * trace[np.uint64(8 * (g - here)) + b]
                o += _8
            for k in range(3):
                a = lanes[8 * k : 8 * k + 8]
                out[r, k] += ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]))


@compiled(ordered=True)
def feature_sums(features, octets, out):
    """For every subset: the sum (B, r) of the rows of ``features`` (N, r) in it."""
    columns = features.shape[1]
    count = octets.shape[1]
    table = np.empty(4 * 16 * COLUMNS)
    scratch = np.empty(4 * COLUMNS)
    sums = np.empty(count * COLUMNS)
    for start in range(0, columns, COLUMNS):
        sums[:] = 0.0
        for g in range(0, octets.shape[0], 2):
            tabulate(features, 8 * g, start, scratch, table)
            add_subsets(octets[g], octets[g + 1], table, sums)
        for r in range(count):
            for c in range(min(COLUMNS, columns - start)):
                out[r, start + c] = sums[r * COLUMNS + c]


@compiled(inner=True)
def gathered(line, row, pi, i):
    """Sum over j < i of ``line``_j times ``row``_pi(j)."""
    value = 0.0
    for j in range(_0, i):
        value += line[j] * row[pi[j]]
    return value


@compiled()
def pairing_sums(x, y, permutations, out):
    """Write to ``out`` (B, 2) the sum of x_ij y_pi(i)pi(j), and its diagonal part.

    There is one row for every permutation pi, which holds unsigned numbers.

    Row i of x meets row pi(i) of y.  All permutations take turns at the pairs of some rows of x and
    some of y, which stay in the second-level cache meanwhile.  The order of the pairs of a
    permutation does not depend on the others.
    """
    count, n = permutations.shape
    blocks = -(-n * n // _BLOCK)
    size = -(-n // blocks)
    order = np.empty_like(permutations)  # i by the block of pi(i), increasing within each
    ends = np.empty((blocks, count), np.int64)
    places = np.empty(count, np.int64)
    for r in range(count):
        for b in range(blocks):
            ends[b, r] = b * size
        for a in range(n):
            b = np.int64(permutations[r, a]) // size
            order[r, ends[b, r]] = a
            ends[b, r] += 1
    out[:] = 0.0
    for b in range(blocks):
        places[:] = b * size
        for stop in range(size, n + size, size):
            for r in range(count):
                pi = permutations[r]
                place = places[r]
                end = ends[b, r]
                total = diagonal = 0.0
                while place < end and order[r, place] < stop:
                    i = np.uint64(order[r, place])
                    row = y[pi[i]]
                    total += gathered(x[i], row, pi, i)
                    diagonal += x[i, i] * row[pi[i]]
                    place += 1
                places[r] = place
                out[r, 0] += 2.0 * total + diagonal
                out[r, 1] += diagonal


@compiled()
def strip_sums(x, first, y, low, permutations, out):
    """Add to ``out`` (B, 2) a part of `pairing_sums`.

    It is of rows of x from ``first`` that meet rows of y from ``low``.
    """
    for r in range(permutations.shape[0]):
        pi = permutations[r]
        total = diagonal = 0.0
        for k in range(x.shape[0]):
            i = np.uint64(first + k)
            c = np.int64(pi[i]) - low
            if 0 <= c < y.shape[0]:
                total += gathered(x[k], y[c], pi, i)
                diagonal += x[k, i] * y[c, pi[i]]
        out[r, 0] += 2.0 * total + diagonal
        out[r, 1] += diagonal


@compiled()
def cross_sums(u, v, permutations, out):
    """Do the same as ``pairing_sums`` for K = u u' and L = v v' of few columns.

    It is |u' v_pi|^2, and its diagonal part.

    Four pairs at a time, so that the product stays in registers for four multiplications.
    """
    n, p = u.shape
    q = v.shape[1]
    lengths_u = np.zeros(n)
    lengths_v = np.zeros(n)
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
            v0 = v[pi[i]]
            v1 = v[pi[i + 1]]
            v2 = v[pi[i + 2]]
            v3 = v[pi[i + 3]]
            for a in range(p):
                u0 = u[i, a]
                u1 = u[i + 1, a]
                u2 = u[i + 2, a]
                u3 = u[i + 3, a]
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
        out[r, 0], out[r, 1] = total, diagonal


@compiled()
def partition_sums(gram, octets, labels, out, traces):
    """Write for every partition ``out`` (B, k, k), sums of K over pairs of parts, and traces.

    The traces over each part are (B, k).

    ``octets`` (k - 1, rows, B) holds the members of all parts but the last, which gets what is
    left.
    """
    total = gram.shape[0]
    parts = octets.shape[0]
    count = octets.shape[2]
    table = np.empty(4 * 16 * COLUMNS)
    scratch = np.empty(4 * COLUMNS)
    sums = np.empty((parts, count * COLUMNS))
    whole = np.zeros(COLUMNS)
    out[:] = 0.0
    traces[:] = 0.0
    for start in range(0, total, COLUMNS):
        width = min(COLUMNS, total - start)
        for c in range(width):
            value = 0.0
            for i in range(start + width, total):
                value += gram[i, start + c]
            value *= 2.0
            for i in range(start, start + width):
                value += gram[i, start + c]
            whole[c] = value
        tile_sums(gram, start, octets, scratch, table, sums)
        for r in range(count):
            for c in range(width):
                label = labels[r, start + c]
                rest = whole[c]
                for p in range(parts):
                    value = sums[p, r * COLUMNS + c]
                    out[r, p, label] += value
                    rest -= value
                out[r, parts, label] += rest
                traces[r, label] += gram[start + c, start + c]
    for r in range(count):  # the tiles above the diagonal were counted below it
        for p in range(parts + 1):
            for q in range(p):
                mean = 0.5 * (out[r, p, q] + out[r, q, p])
                out[r, p, q] = mean
                out[r, q, p] = mean
