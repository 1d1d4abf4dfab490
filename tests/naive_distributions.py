"""Slow twin of the kernels on distributions: one sum per pair of samples.

Nothing here comes from the package.

References
----------
[M14] Muandet et al., Kernel mean estimation and Stein effect, ICML 2014, section 4.2.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def inner(x, b, y, g, k):
    """sum_ij b_i k(x_i, y_j) g_j."""
    return sum(b[i] * k(x[i], y[j]) * g[j] for i in range(len(x)) for j in range(len(y)))


def linear(rows, columns, k):
    """Inner products of embeddings, given as pairs (points, weights)."""
    return np.array([[inner(x, b, y, g, k) for y, g in columns] for x, b in rows])


def distance2(one, other, k):
    """|mu_b - mu_g|^2, from the signed weights on all points."""
    points, weights = np.vstack([one[0], other[0]]), np.concatenate([one[1], -other[1]])
    return inner(points, weights, points, weights, k)


def median_bandwidth(embeddings, k):
    """Square root of the median squared distance of two embeddings."""
    return math.sqrt(np.median([distance2(one, other, k) for one, other in itertools.combinations(embeddings, 2)]))


def gaussian(rows, columns, k, bandwidth):
    """exp(-|mu_b - mu_g|^2 / (2 bandwidth^2)): with the minus sign (erratum E15)."""
    return np.array([[math.exp(-distance2(r, c, k) / (2 * bandwidth**2)) for c in columns] for r in rows])
