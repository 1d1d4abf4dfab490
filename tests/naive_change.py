"""Slow twins of the change-point tests: every cut by the formula of the unbiased distance, every order by a loop."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats


def gaussian(points, bandwidth):
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-squares / (2.0 * bandwidth**2))


def unbiased(gram, inside):
    """The unbiased squared distance of the rows inside and outside ([G12])."""
    a, b = np.flatnonzero(inside), np.flatnonzero(~inside)
    within = sum(
        sum(gram[i, j] for i in part for j in part if i != j) / (len(part) * (len(part) - 1))
        for part in (a, b)
    )
    return within - 2.0 * sum(gram[i, j] for i in a for j in b) / (len(a) * len(b))


def spread(gram, size):
    """The standard deviation of the distance over all parts of so many rows, by enumeration."""
    n = len(gram)
    values = [
        unbiased(gram, np.isin(np.arange(n), part))
        for part in itertools.combinations(range(n), size)
    ]
    return float(np.mean(values)), float(np.std(values))


def standardized(gram, inside, known):
    size = int(inside.sum())
    if size not in known:
        known[size] = spread(gram, size)
    center, deviation = known[size]
    return (unbiased(gram, inside) - center) / deviation


def parts(n, fewest, change):
    """Masks of what is compared with the rest: the first rows, or any that follow one another."""
    rows = np.arange(n)
    for start in [0] if change == "single" else range(n):
        for end in range(start + fewest, n + 1):
            if end - start <= n - fewest:
                yield start, end, (rows >= start) & (rows < end)


def largest(gram, fewest, change, known):
    """The largest standardized distance, and its part."""
    distances = [
        (standardized(gram, mask, known), start, end)
        for start, end, mask in parts(len(gram), fewest, change)
    ]
    return max(distances)


def pvalue(gram, fewest, change, orders):
    """The share of orders with a statistic as large as that of the first, which is the order of the data."""
    known = {}
    values = [
        largest(gram[np.ix_(order, order)], fewest, change, known)[0] for order in map(list, orders)
    ]
    return float(np.mean(np.array(values) >= values[0] - 1e-9)), values


def within_sample(gram, t):
    """Song and Chen's (2022) within-sample statistic with the weights of least variance, not standardized."""
    n = len(gram)
    first = sum(gram[i, j] for i in range(t) for j in range(t) if i != j) / (t * (t - 1))
    last = sum(gram[i, j] for i in range(t, n) for j in range(t, n) if i != j) / (
        (n - t) * (n - t - 1)
    )
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

    partitions = [parted(order) for order in orders]
    return min(
        np.mean([partition in others for others in partitions]) for partition in partitions[0]
    )


def orders_beside(cut, blocks, length):
    """All orders in which stretches of so many rows change places with others of their block on their side of a cut.

    What is left over of the rows of a block on one side is shorter than the others, and stays.
    """
    cells = {}
    for i, block in enumerate(blocks):
        cells.setdefault((i >= cut, block), []).append(i)
    whole = [
        [rows[k : k + length] for k in range(0, len(rows) - length + 1, length)]
        for rows in cells.values()
    ]
    for chosen in itertools.product(*map(itertools.permutations, whole)):
        order = list(range(len(blocks)))
        for places, rows in zip(whole, chosen, strict=True):
            for source, target in zip(places, rows, strict=True):
                for a, b in zip(source, target, strict=True):
                    order[a] = b
        yield tuple(order)


def seeded(n, shortest):
    """Seeded intervals of Kovacs et al. (2023) with decay 1/2: for each length the first rows and those after."""
    layers, k = [], 2
    while n / 2 ** (k - 1) >= shortest:
        length, count = n / 2 ** (k - 1), 2 * 2 ** (k - 1) - 1
        shift = (n - length) / (count - 1)
        layers.append(
            [
                (int(np.floor(i * shift)), min(n, int(np.ceil(i * shift + length - 1e-9))))
                for i in range(count)
            ]
        )
        k += 1
    return layers


def products(gram):
    """The mean product of kernel values at two pairs of rows that have no, one or two rows in common."""
    pairs = np.array(list(itertools.combinations(range(len(gram)), 2)))
    values = gram[pairs[:, 0], pairs[:, 1]]
    shared = (pairs[:, None, :, None] == pairs[None, :, None, :]).sum(axis=(2, 3))
    return [
        float((values[:, None] * values[None])[shared == common].mean()) for common in (0, 1, 2)
    ]


def spread_of_two(means, a, b):
    """The standard deviation over all orders of the unbiased distance of a rows and b others, from mean products."""
    pairs = np.array(list(itertools.combinations(range(a + b), 2)))
    weights = np.choose(
        (pairs < a).sum(axis=1), [2.0 / (b * (b - 1)), -2.0 / (a * b), 2.0 / (a * (a - 1))]
    )
    shared = (pairs[:, None, :, None] == pairs[None, :, None, :]).sum(axis=(2, 3))
    return float(
        np.sqrt(
            sum(means[k] * (weights[:, None] * weights[None])[shared == k].sum() for k in (0, 1, 2))
        )
    )


def scan_of(gram, first, end, fewest, known, cuts=16):
    """The largest standardized distance over the cuts of an interval, which are at most ``cuts`` even steps apart."""
    fewest = max(2, int(np.ceil((end - first) * fewest / len(gram) - 1e-9)))
    step, part, distances = (
        max(1, -(-(end - first - 2 * fewest) // cuts)),
        gram[first:end, first:end],
        [],
    )
    for cut in range(first + fewest, end - fewest + 1, step):
        sizes = cut - first, end - cut
        if not known:
            known["products"] = products(gram)
        if sizes not in known:
            known[sizes] = spread_of_two(known["products"], *sizes)
        distances.append(unbiased(part, np.arange(first, end) < cut) / known[sizes])
    return max(distances)


def scans(gram, fewest, shortest, known):
    """The scan of the whole series, and for every length the root mean square of the positive scans of intervals."""
    n, by_length = len(gram), []
    for intervals in seeded(n, shortest):
        values = [max(scan_of(gram, first, end, fewest, known), 0.0) for first, end in intervals]
        by_length.append(np.sqrt(np.mean(np.square(values))))
    return [scan_of(gram, 0, n, fewest, known, cuts=n), *by_length]


def smallest_of_lengths(statistics, calibrating, share=0.1):
    """The smallest p-value over lengths, by gamma distributions with the moments of the calibrating rows.

    A tenth of the level is for intervals, in equal parts for every length.
    """
    weights = np.r_[
        1.0 - share, np.full(statistics.shape[1] - 1, share / (statistics.shape[1] - 1))
    ]
    pvalues = []
    for column, known, weight in zip(statistics.T, calibrating.T, weights, strict=True):
        shape = 4.0 / max(stats.skew(known), 0.05) ** 2
        value = (
            shape + np.sqrt(shape) * (column - known.mean()) / known.std()
        )  # of a gamma variable with scale 1
        normal = (
            3.0 * np.sqrt(shape) * (np.cbrt(value / shape) - 1.0 + 1.0 / (9.0 * shape))
        )  # Wilson and Hilferty
        pvalues.append(stats.norm.sf(normal) / weight)
    return np.min(pvalues, axis=0)
