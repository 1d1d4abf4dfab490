"""Joint independence over shuffles of the variables: dHSIC, and the Gram matrices of its centred features.

``grams`` (d, n, n) are the Gram matrices K^l of the variables, ``rows`` (d, n) their row means r^l_i and ``means`` (d,)
the means s^l of all their entries.  A shuffle (d - 1, n) says which observation of variable l + 1 stands in every row.
"""

from __future__ import annotations

import numpy as np
from numba import types

from shrinktest._jit import compiled

MATRIX, VECTOR = types.float64[:, ::1], types.float64[::1]
_GRAMS = types.Array(types.float64, 3, "C")
_SHUFFLES = types.Array(types.int64, 3, "C", readonly=True)


@compiled()
def place(shuffle, variable, i):
    """The observation of a variable in row i."""
    return i if variable == 0 else shuffle[variable - 1, i]


@compiled(inner=True)
def product_without(values, a, b):
    """The product of all values but those at a and b."""
    out = 1.0
    for q in range(values.size):
        if q != a and q != b:
            out *= values[q]
    return out


@compiled(inner=True)
def feature(grams, means, shuffle, i, j, k, row_i, row_j):
    """<psi_i, psi_j> for psi_i = (x)_l phi_l(x_i) - sum_l phi_l(x_i) (x)_{m != l} mu_m + (d - 1) (x)_l mu_l.

    ``k``, ``row_i``, ``row_j`` (d,) receive K^l_ij, r^l_i and r^l_j.
    """
    d = grams.shape[0]
    product = along_i = along_j = whole = 1.0
    for v in range(d):
        a, b = place(shuffle, v, i), place(shuffle, v, j)
        k[v] = grams[v, a, b]
        product *= k[v]
        along_i *= row_i[v]
        along_j *= row_j[v]
        whole *= means[v]
    out = product + (d - 1.0) * (along_i + along_j) + (d - 1.0) ** 2 * whole
    for v in range(d):
        others = product_without(means, v, v)
        out -= k[v] * (product_without(row_i, v, v) + product_without(row_j, v, v))
        out += k[v] * others - (d - 1.0) * (row_i[v] + row_j[v]) * others
        for u in range(d):
            if u != v:
                out += row_i[v] * row_j[u] * product_without(means, u, v)
    return out


@compiled(types.void(_GRAMS, MATRIX, VECTOR, _SHUFFLES, types.int64, MATRIX))
def feature_gram(grams, rows, means, shuffles, r, out):
    """The Gram matrix ``out`` (n, n) of the features psi under shuffle r."""
    d, n = rows.shape
    shuffle = shuffles[r]
    k = np.empty(d)
    placed = np.empty((n, d))
    for i in range(n):
        for v in range(d):
            placed[i, v] = rows[v, place(shuffle, v, i)]
    for i in range(n):
        for j in range(i + 1):
            value = feature(grams, means, shuffle, i, j, k, placed[i], placed[j])
            out[i, j] = value
            out[j, i] = value


@compiled()
def shuffle_sums(grams, rows, means, shuffles, out):
    """For every shuffle: ``out`` (B, 3) = sum of the features' Gram matrix, its trace, and the size of what cancels.

    The sum is n^2 dHSIC, mean_ij prod_l K^l_ij + prod_l s^l - 2 mean_i prod_l r^l_i.
    """
    d, n = rows.shape
    k, row, line = np.empty(d), np.empty(d), np.empty(n)
    whole = 1.0
    for v in range(d):
        whole *= means[v]
    for r in range(shuffles.shape[0]):
        shuffle = shuffles[r]
        joint = size = diagonal = along = trace = 0.0
        for i in range(n):
            product = 1.0
            mean = 1.0
            for v in range(d):
                a = place(shuffle, v, i)
                row[v] = rows[v, a]
                product *= grams[v, a, a]
                mean *= row[v]
            diagonal += product
            along += mean
            trace += feature(grams, means, shuffle, i, i, k, row, row)
            source = grams[0, i]
            for j in range(i):
                line[j] = source[j]
            for v in range(1, d):
                source = grams[v, shuffle[v - 1, i]]
                places = shuffle[v - 1]
                for j in range(i):
                    line[j] *= source[places[j]]
            value = 0.0
            for j in range(i):
                value += line[j]
            joint += value
            size += abs(mean)
        joint = 2.0 * joint + diagonal
        out[r, 0] = joint + n * n * whole - 2.0 * n * along
        out[r, 1] = trace
        out[r, 2] = abs(joint) + n * n * abs(whole) + 2.0 * n * size
