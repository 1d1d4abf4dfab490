"""Slow twins of rows on disk: bins, shifts within blocks of pairs, and keyed permutations of row numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def bin_means(z, places, size):
    """Means of the rows of z (n, r) that are in the bins 0, 1, ..., full ones only."""
    return np.array([z[places == j].mean(axis=0) for j in range(len(z) // size)])


def whitened(z, sample, lam):
    """Features whose inner products are those of the whitened kernel, but for its constant."""
    center = sample.mean(axis=0)
    covariance = np.cov(sample.T, ddof=0)
    values, axes = np.linalg.eigh(covariance + lam * np.trace(covariance) * np.eye(len(covariance)))
    root = axes @ np.diag(values**-0.5) @ axes.T
    dimension = np.mean([row @ row for row in (sample - center) @ root])
    return (z - center) @ root / dimension**0.5


def depth(z, sample):
    """Mean of the kernel with every row of the sample, in standard deviations of the sample."""
    depths, at = (
        np.array([np.mean([row @ other for other in sample]) for row in rows])
        for rows in (sample, z)
    )
    return ((at - depths.mean()) / depths.std())[:, None]


def second_order(z, sample):
    """All products of two features about their mean."""
    centered = z - sample.mean(axis=0)
    return np.array([np.outer(row, row).ravel() for row in centered])


def mid_ranks(rows, sample):
    """Share of the sample that is below a value, and half of that which equals it."""
    return np.array(
        [(np.mean(sample < row, axis=0) + np.mean(sample <= row, axis=0)) / 2 for row in rows]
    )


def distances(means, first, unbiased):
    """The squared distance of the means of two parts of the bins, for every split; the first ``first`` are the data."""
    gram, out = means @ means.T, []
    for part in combinations(range(len(means)), first):
        rest = [i for i in range(len(means)) if i not in part]
        a, b, c = (gram[np.ix_(i, j)] for i, j in ((part, part), (rest, rest), (part, rest)))
        own = [
            (K.sum() - np.trace(K)) / (len(K) * (len(K) - 1)) if unbiased else K.mean()
            for K in (a, b)
        ]
        out.append(sum(own) - 2.0 * c.mean())
    return np.array(out)


# --- shifts within blocks of pairs and the sums of a statistic, by loops over rows ---


def shifted(y, length, groups, shifts):
    """Rows of y, shifted within blocks of ``length`` by what the group of each block says; the rest is left out."""
    out = []
    for block, group in enumerate(groups):
        rows = y[block * length : (block + 1) * length]
        out += [rows[(i + shifts[group]) % length] for i in range(length)]
    return np.array(out)


def sum_and_trace(phi, psi):
    """Sum and trace of Kc o Lc, by Gram matrices."""
    center = np.eye(len(phi)) - 1.0 / len(phi)
    product = (center @ (phi @ phi.T) @ center) * (center @ (psi @ psi.T) @ center)
    return product.sum(), np.trace(product)


# --- slow twin of keyed permutations of row numbers: one number at a time, in whole numbers of Python ---

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
