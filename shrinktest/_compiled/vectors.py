"""Sums and the like in loops, which compile in a tenth of the time that numpy's functions of these names take."""

from __future__ import annotations

import numpy as np

from shrinktest._compiled.jit import compiled


@compiled(inline=True)
def constant(n):
    """The vector of ones."""
    x = np.empty(n)
    x[:] = 1.0
    return x


@compiled(inline=True)
def added(x):
    total = 0.0
    for j in range(x.size):
        total += x[j]
    return total


@compiled(inline=True)
def squared_norm(x):
    total = 0.0
    for j in range(x.size):
        total += x[j] * x[j]
    return total


@compiled()
def trace(matrix):
    total = 0.0
    for i in range(matrix.shape[0]):
        total += matrix[i, i]
    return total


@compiled(inline=True)
def row_sums(matrix):
    n = matrix.shape[0]
    rows = np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += matrix[i, j]
        rows[i] = total
    return rows
