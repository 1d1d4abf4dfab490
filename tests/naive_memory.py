"""How much larger HSIC of independent series is as they are than shifted, and which correlations are no chance."""

import math

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


def surely(rows, looks):
    """The correlation of successive rows from which it is no chance: three standard errors, and more of many looks."""
    return max(0.1, math.sqrt((3.0**2 + 2.0 * math.log(looks)) / rows))


def surely_both(rows, correlations, looks):
    """Whether both of two variables have memory: two standard errors each, and their product."""
    each = all(
        one > math.sqrt((2.0**2 + 2.0 * math.log(many)) / rows) for one, many in zip(correlations, looks, strict=True)
    )
    return each and math.prod(correlations) > max(0.1, (6.0 + math.log(math.prod(looks))) / rows)


def by_rare_values(values, there, looks):
    """A third of what is sure (Bernstein), by the number of values other than the usual one and the share of pairs."""
    seen = [value for value, here in zip(values, there, strict=True) if here]
    others = sum(value != np.median(seen) for value in seen)
    return (3.0**2 + 2.0 * math.log(looks)) / (3.0 * others * len(seen) / len(values))
