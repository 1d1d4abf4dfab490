"""Slow twins of the change-point tests: every cut by the formula of the unbiased distance, every order by a loop."""

from __future__ import annotations

import itertools

import numpy as np


def gaussian(points, bandwidth):
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-squares / (2.0 * bandwidth**2))


def unbiased(gram, inside):
    """The unbiased squared distance of the rows inside and outside ([G12])."""
    a, b = np.flatnonzero(inside), np.flatnonzero(~inside)
    within = sum(
        sum(gram[i, j] for i in part for j in part if i != j) / (len(part) * (len(part) - 1)) for part in (a, b)
    )
    return within - 2.0 * sum(gram[i, j] for i in a for j in b) / (len(a) * len(b))


def spread(gram, size):
    """The standard deviation of the distance over all parts of so many rows, by enumeration."""
    n = len(gram)
    values = [unbiased(gram, np.isin(np.arange(n), part)) for part in itertools.combinations(range(n), size)]
    return float(np.mean(values)), float(np.std(values))


def standardised(gram, inside, known):
    size = int(inside.sum())
    if size not in known:
        known[size] = spread(gram, size)
    centre, deviation = known[size]
    return (unbiased(gram, inside) - centre) / deviation


def parts(n, fewest, change):
    """Masks of what is compared with the rest: the first rows, or any that follow one another."""
    rows = np.arange(n)
    for start in [0] if change == "single" else range(n):
        for end in range(start + fewest, n + 1):
            if end - start <= n - fewest:
                yield start, end, (rows >= start) & (rows < end)


def largest(gram, fewest, change, known):
    """The largest standardised distance, and its part."""
    found = [(standardised(gram, mask, known), start, end) for start, end, mask in parts(len(gram), fewest, change)]
    return max(found)


def pvalue(gram, fewest, change, orders):
    """The share of orders with a statistic as large as that of the first, which is the order of the data."""
    known = {}
    values = [largest(gram[np.ix_(order, order)], fewest, change, known)[0] for order in map(list, orders)]
    return float(np.mean(np.array(values) >= values[0] - 1e-9)), values


def within_sample(gram, t):
    """Song and Chen's (2022) within-sample statistic with the weights of least variance, not standardised."""
    n = len(gram)
    first = sum(gram[i, j] for i in range(t) for j in range(t) if i != j) / (t * (t - 1))
    last = sum(gram[i, j] for i in range(t, n) for j in range(t, n) if i != j) / ((n - t) * (n - t - 1))
    return t / n * first + (n - t) / n * last


def hierarchical(pvalue, size, n, parent):
    """The adjusted p-value of a stretch: that of what it is part of, or its own times what share of the rows it is."""
    return max(parent, min(1.0, pvalue * n / size))


def smallest_pvalue(n, fewest, change, orders):
    """The smallest share of the orders (count, n) that have rows in the same two parts as a cut of the first has."""

    def parted(order):
        return {
            frozenset([frozenset(order[mask].tolist()), frozenset(order[~mask].tolist())])
            for _, _, mask in parts(n, fewest, change)
        }

    found = [parted(order) for order in orders]
    return min(np.mean([one in others for others in found]) for one in found[0])


def orders_beside(cut, blocks, length):
    """All orders in which stretches of so many rows change places with others of their block on their side of a cut.

    What is left over of the rows of a block on one side is shorter than the others, and stays.
    """
    cells = {}
    for i, block in enumerate(blocks):
        cells.setdefault((i >= cut, block), []).append(i)
    whole = [[rows[k : k + length] for k in range(0, len(rows) - length + 1, length)] for rows in cells.values()]
    for chosen in itertools.product(*map(itertools.permutations, whole)):
        order = list(range(len(blocks)))
        for places, rows in zip(whole, chosen, strict=True):
            for here, there in zip(places, rows, strict=True):
                for a, b in zip(here, there, strict=True):
                    order[a] = b
        yield tuple(order)
