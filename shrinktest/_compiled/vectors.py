"""Sums and the like in loops, which compile in a tenth of the time that numpy's functions of these names take."""

from __future__ import annotations

from shrinktest._jit import compiled


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


@compiled(inner=True)
def trace(matrix):
    total = 0.0
    for i in range(matrix.shape[0]):
        total += matrix[i, i]
    return total


@compiled(inline=True)
def squared_length(matrix, start, z):
    """Sum e'Ke of a sample as `jit.SCORE` has it: n^2 times the squared length of its plain mean."""
    total = 0.0
    if z.shape[1] > 0:
        for j in range(start.size):
            total += start[j] * start[j]
    else:
        for i in range(start.size):
            for j in range(start.size):
                total += matrix[i, j]
    return total
