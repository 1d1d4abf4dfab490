"""Slow twin of permutations of rows by keys: one row at a time, explicit labels, explicit samples and Gram matrices."""

import numpy as np

MASK = 2**32 - 1


def mixed(number, key, size):
    value = ((number ^ key) * 0x85EBCA6B) & MASK
    value = ((value ^ (value >> 15)) * 0xC2B2AE35) & MASK
    return (value * size) >> 32


def place(number, n, keys):
    """Where a network takes a number below n."""
    high = next(h for h in range(1, n + 1) if h * h >= n)
    low = -(-n // high)
    while True:
        row, column = divmod(number, low)
        for turn, key in enumerate(keys):
            if turn % 2 == 0:
                row = (row + mixed(column, int(key), high)) % high
            else:
                column = (column + mixed(row, int(key), low)) % low
        number = row * low + column
        if number < n:
            return number


def labels(sizes, start, keys):
    """The sample of every row, first as they are and then in every permutation."""
    n = sum(sizes)
    own = np.repeat(np.arange(len(sizes)), sizes)
    before = {place(i, n, start): i for i in range(n)}
    assert sorted(before) == list(range(n))
    return [own, *(np.array([own[place(before[i], n, one)] for i in range(n)]) for one in keys)]


def distance(features, own, unbiased=False, shrink=None):
    """The mean squared distance of every two means, weighted by sizes; means scaled by ``shrink`` of Gram matrices."""
    parts = [features[own == j] for j in range(own.max() + 1)]
    factors = [1.0] * len(parts) if shrink is None else shrink([one @ one.T for one in parts])
    total = weights = 0.0
    for i, one in enumerate(parts):
        for j in range(i):
            other, s, t = parts[j], factors[i], factors[j]
            weight = len(one) * len(other)
            found = np.square(s * one.mean(axis=0) - t * other.mean(axis=0)).sum()
            if unbiased:
                for rows, factor in ((one, s), (other, t)):
                    gram, n = rows @ rows.T, len(rows)
                    between = (gram.sum() - np.trace(gram)) / (n * (n - 1))
                    found -= (factor / n) ** 2 * (np.trace(gram) - n * between)
            total, weights = total + weight * found, weights + weight
    return total / weights


def apart(grams):
    """Simple shrinkage of every sample by itself: s = (n - 1) r / ((n - 2) r + v)."""
    out = []
    for gram in grams:
        n, v = len(gram), np.trace(gram) / len(gram)
        r = (gram.sum() - np.trace(gram)) / (n * (n - 1))
        out.append(min(1.0, max(0.0, (n - 1) * r / ((n - 2) * r + v))))
    return out
