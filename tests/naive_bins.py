"""Slow twin of tests on bins: explicit features of every row, explicit means of bins, explicit splits."""

from itertools import combinations

import numpy as np


def bin_means(z, places, size):
    """Means of the rows of z (n, r) that are in the bins 0, 1, ..., full ones only."""
    return np.array([z[places == j].mean(axis=0) for j in range(len(z) // size)])


def whitened(z, sample, lam):
    """Features whose inner products are those of the whitened kernel, but for its constant."""
    centre = sample.mean(axis=0)
    covariance = np.cov(sample.T, ddof=0)
    values, axes = np.linalg.eigh(covariance + lam * np.trace(covariance) * np.eye(len(covariance)))
    root = axes @ np.diag(values**-0.5) @ axes.T
    dimension = np.mean([row @ row for row in (sample - centre) @ root])
    return (z - centre) @ root / dimension**0.5


def depth(z, sample):
    """Mean of the kernel with every row of the sample, in standard deviations of the sample."""
    depths, at = (np.array([np.mean([row @ other for other in sample]) for row in rows]) for rows in (sample, z))
    return ((at - depths.mean()) / depths.std())[:, None]


def second_order(z, sample):
    """All products of two features about their mean."""
    centred = z - sample.mean(axis=0)
    return np.array([np.outer(row, row).ravel() for row in centred])


def mid_ranks(rows, sample):
    """Share of the sample that is below a value, and half of that which equals it."""
    return np.array([(np.mean(sample < row, axis=0) + np.mean(sample <= row, axis=0)) / 2 for row in rows])


def distances(means, first, unbiased):
    """The squared distance of the means of two parts of the bins, for every split; the first ``first`` are the data."""
    gram, out = means @ means.T, []
    for part in combinations(range(len(means)), first):
        rest = [i for i in range(len(means)) if i not in part]
        a, b, c = (gram[np.ix_(i, j)] for i, j in ((part, part), (rest, rest), (part, rest)))
        own = [(K.sum() - np.trace(K)) / (len(K) * (len(K) - 1)) if unbiased else K.mean() for K in (a, b)]
        out.append(sum(own) - 2.0 * c.mean())
    return np.array(out)
