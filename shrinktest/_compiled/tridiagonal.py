"""Householder reduction of a matrix to a tridiagonal one that starts at the mean, and its spectrum.

Every spectral estimator acts on the sample only through the Krylov space of the mean, so all of them work in the basis
Q with Q e_1 in its direction and K = Q T Q', T tridiagonal: a resolvent of T costs O(n), and the deletion of one point
is a change of rank one there.  Eigenvectors are formed for one thing alone, the deletion scores of Tikhonov at many
lam.  K is either the Gram matrix of n points, where the mean is the uniform vector e, or the second moments Z'Z of
their coordinates, where it is Z'e.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled


@compiled(inline=True)
def reflector(x, v):
    """Write to ``v`` the Householder vector (v[0] = 1) that maps x to its first axis; return (tau, beta).

    beta = |x| is never negative, so that the basis starts in the direction of x and not in the opposite one.
    """
    tail = 0.0
    for j in range(1, x.size):
        tail += x[j] * x[j]
    v[0] = 1.0
    if tail == 0.0:
        for j in range(1, x.size):
            v[j] = 0.0
        return 2.0 if x[0] < 0.0 else 0.0, abs(x[0])
    beta = np.sqrt(x[0] * x[0] + tail)
    head = x[0] - beta if x[0] <= 0.0 else -tail / (x[0] + beta)  # their difference, without cancellation
    scale = 1.0 / head  # once, whether or not the loop is one of vector instructions: see `workspace`
    for j in range(1, x.size):
        v[j] = x[j] * scale
    return -head / beta, beta


@compiled(inline=True)
def longest(n):
    """Rotations and sweeps that the QR iteration may take, two or three times what it does take."""
    return n * (2 * n + 10)


def workspace(n):
    """What the loops of an estimator share for a sample of n points, or coordinates: one array of n columns.

    Row 0: the diagonal of T; 1: its off-diagonal (n - 1); 2: factors of the Householder reflectors; 3 to n + 2: their
    vectors; below: the matrix while it is reduced, and then the tape of `iterate`, for those who need eigenvectors.

    One array, because a loop over arrays that might overlap is compiled twice, with and without vector instructions,
    and the last bit of its sums would depend on where in memory they happen to be.
    """
    return np.empty((5 * n + 25, n))  # the tape has longest(n) + 1 pairs


working = compiled(inline=True)(workspace)


@compiled(inline=True)
def tape_of(work):
    n = work.shape[1]
    return work[n + 3 :].reshape(-1, 2)


@compiled(inner=True)
def tridiagonalize(matrix, start, work):
    """Reduce ``matrix`` (n, n) to ``work``: K = Q T Q', Q = H_0 .. H_{n-1}, Q e_1 along ``start``; both are kept.

    Only the upper triangle is used.  One pass over it a step: what reflector k changes is multiplied at once by the
    vector of reflector k + 1, which its first row determines.
    """
    n = matrix.shape[0]
    diagonal, off, taus = work[0], work[1], work[2]
    a = work[n + 3 : 2 * n + 3]
    p, product = work[2 * n + 3], work[2 * n + 4]  # product = A v for the next reflector, A rows and columns k..n-1
    for i in range(n):
        product[i] = 0.0
        for j in range(i, n):
            a[i, j] = matrix[i, j]
    v = work[3]
    tau, _ = reflector(start, v)
    for i in range(n):
        row, vj, sums, vi, total = a[i, i + 1 :], v[i + 1 :], product[i + 1 :], v[i], a[i, i] * v[i]
        for j in range(row.size):
            total += row[j] * vj[j]
            sums[j] += row[j] * vi
        product[i] += total
    for k in range(n):  # reflector k acts on coordinates k..n-1; the first one maps the start, the others column k - 1
        size = n - k
        v, taus[k] = work[k + 3, k:], tau
        overlap = 0.0
        for j in range(size):
            p[j] = tau * product[j]
            overlap += p[j] * v[j]
        overlap *= 0.5 * tau
        for j in range(size):
            p[j] -= overlap * v[j]
        top, first, lead = a[k, k:], v[0], p[0]
        for j in range(size):
            top[j] -= first * p[j] + lead * v[j]
        diagonal[k] = top[0]
        if size == 1:
            break
        w = work[k + 4, k + 1 :]
        tau, off[k] = reflector(top[1:], w)
        for j in range(size - 1):
            product[j] = 0.0
        for i in range(1, size - 1, 2):  # two rows at a time, so that the vectors are read half as often
            here, below = a[k + i, k + i :], a[k + i + 1, k + i :]
            v1, p1, w1, v2, p2, w2 = v[i], p[i], w[i - 1], v[i + 1], p[i + 1], w[i]
            here[0] -= 2.0 * v1 * p1
            here[1] -= v1 * p2 + p1 * v2
            below[1] -= 2.0 * v2 * p2
            total1, total2 = here[0] * w1 + here[1] * w2, here[1] * w1 + below[1] * w2
            row1, row2 = here[2:], below[2:]
            vj, pj, wj, sums = v[i + 2 :], p[i + 2 : size], w[i + 1 :], product[i + 1 :]
            for j in range(row1.size):
                one = row1[j] - (v1 * pj[j] + p1 * vj[j])
                two = row2[j] - (v2 * pj[j] + p2 * vj[j])
                row1[j], row2[j] = one, two
                total1 += one * wj[j]
                total2 += two * wj[j]
                sums[j] += one * w1 + two * w2
            product[i - 1] += total1
            product[i] += total2
        if size % 2 == 0:  # the last row is alone
            a[n - 1, n - 1] -= 2.0 * v[size - 1] * p[size - 1]
            product[size - 2] += a[n - 1, n - 1] * w[size - 2]
    off[n - 1] = 0.0


@compiled(inner=True)
def basis(work, n):
    """Q' (n, n), one basis vector a row."""
    out = np.empty(((n + 3) // 4 * 4, n))
    out[:] = 0.0
    for r in range(n):
        out[r, r] = 1.0
    for r in range(0, n, 4):  # Q' = H_{n-1} .. H_0, four rows at a time, so that a reflector is read less often
        for k in range(r + 3 if r + 3 < n else n - 1, -1, -1):
            tau, v = work[2, k], work[k + 3, k:]
            row0, row1, row2, row3 = out[r, k:], out[r + 1, k:], out[r + 2, k:], out[r + 3, k:]
            total0 = total1 = total2 = total3 = 0.0
            for j in range(v.size):
                total0 += row0[j] * v[j]
                total1 += row1[j] * v[j]
                total2 += row2[j] * v[j]
                total3 += row3[j] * v[j]
            total0, total1, total2, total3 = tau * total0, tau * total1, tau * total2, tau * total3
            for j in range(v.size):  # four rows in one loop would be too many that could overlap
                row0[j] -= total0 * v[j]
                row1[j] -= total1 * v[j]
            for j in range(v.size):
                row2[j] -= total2 * v[j]
                row3[j] -= total3 * v[j]
    return out[:n]


@compiled(fused=True, inner=True)
def iterate(diagonal, off, vectors, tape):
    """`diagonalize`, keeping the rotations for `undo` on ``tape`` (longest(n) + 1, 2) unless it is None.

    Implicit QR with Wilkinson's shift, which finds the eigenvalues at the end of T first: those are small, and of
    little weight in the start, so that few sweeps are needed.  Entry 0 of the tape is the number of the others, which
    are, for every sweep, (cos, sin) of its rotations and then the first and the last place.
    """
    n = diagonal.size
    width, limit, spent, norm = vectors.shape[1], longest(n), 0, 0.0
    if tape is not None:
        tape[0, 0] = 0
    for i in range(n):
        size = abs(diagonal[i]) + abs(off[i])
        norm = size if size > norm else norm
    if norm > 0.0:  # no square below can overflow, or underflow where it matters
        for i in range(n):
            diagonal[i] /= norm
            off[i] /= norm
    for high in range(n - 1, 0, -1):
        while True:
            low = high
            while low > 0 and not abs(off[low - 1]) <= 2.2e-16:  # T is not known better
                low -= 1
            if low == high:
                break
            if spent + high - low + 1 > limit:
                diagonal[:] = np.nan
                vectors[:] = np.nan
                return
            g = (diagonal[high - 1] - diagonal[high]) / (2.0 * off[high - 1])
            r = np.sqrt(g * g + 1.0)
            g = diagonal[low] - diagonal[high] + off[high - 1] / (g + (r if g >= 0.0 else -r))
            s, c, shift, last = 1.0, 1.0, 0.0, high
            for i in range(low, high):
                f, b = s * off[i], c * off[i]
                r = np.sqrt(f * f + g * g)
                if i > low:
                    off[i - 1] = r
                if r == 0.0:  # T falls apart here
                    last = i
                    break
                s, c = f / r, g / r
                g = diagonal[i] - shift
                r = (diagonal[i + 1] - g) * s + 2.0 * c * b
                shift = s * r
                diagonal[i] = g + shift
                g = c * r - b
                for j in range(width):
                    upper, lower = vectors[i, j], vectors[i + 1, j]
                    vectors[i, j] = c * upper + s * lower
                    vectors[i + 1, j] = c * lower - s * upper
                spent += 1
                if tape is not None:
                    tape[spent, 0], tape[spent, 1] = c, s
            diagonal[last] -= shift
            if last == high:
                off[high - 1] = g
            spent += 1
            if tape is not None:
                tape[spent, 0], tape[spent, 1] = low, last
    for i in range(n):
        diagonal[i] = norm * (0.0 if diagonal[i] < 0.0 else diagonal[i])
    if tape is not None:
        tape[0, 0] = spent


@compiled(inner=True)
def diagonalize(diagonal, off, vectors):
    """Eigenvalues of T into ``diagonal``, unordered, while the rows of ``vectors`` are rotated along.

    Negative rounding errors are clipped to 0.  ``off`` is overwritten.  With the identity in ``vectors`` its rows
    become the eigenvectors; with the single column e_1, their first components.  On failure everything is NaN.
    """
    iterate(diagonal, off, vectors, None)


@compiled(fused=True, inner=True)
def undo(tape, x):
    """Overwrite ``x`` by V x, V the eigenvectors of T as columns: the rotations the other way round."""
    k = int(tape[0, 0])
    while k > 0:
        low, last = int(tape[k, 0]), int(tape[k, 1])
        k -= 1
        for i in range(last - 1, low - 1, -1):
            c, s = tape[k, 0], tape[k, 1]
            upper, lower = x[i], x[i + 1]
            x[i] = c * upper - s * lower
            x[i + 1] = s * upper + c * lower
            k -= 1


@compiled(inner=True)
def spectrum(work, n):
    """Eigenvalues D (n,) of the reduced matrix and the shares p (n,) of the start on them, which add up to 1."""
    values = work[0].copy()
    first = np.zeros((n, 1))
    first[0, 0] = 1.0
    diagonalize(values, work[1].copy(), first)
    shares = np.empty(n)
    for k in range(n):
        shares[k] = first[k, 0] * first[k, 0]
    return values, shares


@compiled(inner=True)
def rotate(work, x):
    """Overwrite ``x`` by Q x: from the basis back."""
    n = x.size
    for k in range(n - 1, -1, -1):
        v, tail = work[k + 3, k:], x[k:]
        total = 0.0
        for j in range(n - k):
            total += v[j] * tail[j]
        total *= work[2, k]
        for j in range(n - k):
            tail[j] -= total * v[j]


@compiled(inline=True)
def weights_at(work, b, z, members, out):
    """The weights of the points from b in the basis, overwritten by Q b: that, or, by coordinates, z_i'Q b."""
    rotate(work, b)
    if z.shape[1] == 0:
        for i in range(out.size):
            out[i] = b[i]
    else:
        for i in range(out.size):
            total = 0.0
            for j in range(b.size):
                total += z[members[i], j] * b[j]
            out[i] = total


@compiled(inline=True)
def in_basis(matrix, start, z, members, work):
    """A sample in the basis: its points, or the axes e_i of a Gram matrix (r, n), K_ii (n,) and (Ke)_i (n,)."""
    r, n = start.size, members.size
    axes, diagonal, rows = basis(work, r), np.empty(n), np.empty(n)
    if z.shape[1] == 0:
        points = axes
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += matrix[i, j]
            diagonal[i], rows[i] = matrix[i, i], total
    else:
        points = np.empty((r, n))
        for i in range(n):
            x = z[members[i]]
            square = along = 0.0
            for j in range(r):
                square += x[j] * x[j]
                along += x[j] * start[j]
            diagonal[i], rows[i] = square, along
            for k in range(r):
                total = 0.0
                for j in range(r):
                    total += axes[k, j] * x[j]
                points[k, i] = total
    return points, diagonal, rows
