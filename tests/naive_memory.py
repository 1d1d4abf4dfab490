"""How much larger HSIC of independent series is as they are than shifted, shift by shift and pair by pair."""

import numpy as np


def carried(gram, series):
    same = after = 0.0
    for rows in series:
        own = [[gram[i][j] for j in rows] for i in rows]
        mean = sum(map(sum, own)) / len(rows) ** 2
        for k in range(len(rows)):
            same += own[k][k] - mean
            after += own[k][(k + 1) % len(rows)] - mean
    return max(after / same, 0.0)


def junction_excess(gram_x, gram_y, series):
    """For series of one length: expected products of pairs, those kept by a shift over all of them."""
    g = carried(gram_x, series) * carried(gram_y, series)
    n = len(series[0])
    whole = sum(g ** abs(i - j) for i in range(n) for j in range(n))
    lost = []
    for shift in range(n):
        came_from = [(i + shift) % n for i in range(n)]
        parted = [
            g ** abs(i - j) for i in range(n) for j in range(n) if i != j and came_from[i] - came_from[j] != i - j
        ]
        lost.append(sum(parted))
    return np.mean(lost) / whole
