"""Slow, literal twins of tests of independence given other variables.  Nothing here comes from the package."""

from __future__ import annotations

import itertools

import numpy as np


def hsic(K, L):
    """The V form, by loops over centred kernels."""
    n = len(K)
    H = np.eye(n) - 1.0 / n
    return float(np.trace(H @ K @ H @ L)) / n**2


def gaussian(x, width):
    return np.exp(-np.square(x[:, None, :] - x[None, :, :]).sum(axis=2) / (2.0 * width**2))


def centred(points, codes):
    """Rows less the mean of their stratum."""
    points, codes = np.asarray(points, dtype=float), np.asarray(codes)
    return np.array([row - points[codes == code].mean(axis=0) for row, code in zip(points, codes, strict=True)])


def within(labels):
    """Every permutation of rows that keeps the labels where they are."""
    n = len(labels)
    return [pi for pi in itertools.permutations(range(n)) if all(labels[pi[i]] == labels[i] for i in range(n))]


def chances_of_pairings(log_density):
    """The probability of every permutation, the x at each z, under a model q(x_i | z_j) with these logarithms."""
    n = len(log_density)
    rows = list(itertools.permutations(range(n)))
    weight = np.array([np.prod([np.exp(log_density[pi[j], j]) for j in range(n)]) for pi in rows])
    return dict(zip(rows, weight / weight.sum(), strict=True))


def chances_of_labels(odds, second):
    """The probability of every set of ``second`` observations, as labels, by the product of the odds in it."""
    rows = [
        tuple(int(i in chosen) for i in range(len(odds))) for chosen in itertools.combinations(range(len(odds)), second)
    ]
    weight = np.array([np.prod([odds[i] for i in range(len(odds)) if row[i]]) for row in rows])
    return dict(zip(rows, weight / weight.sum(), strict=True))


def ridge(gram, y, amount):
    """Predictions (n, r) of a kernel ridge regression with a mean of its own that is not shrunk."""
    n = len(gram)
    H = np.eye(n) - 1.0 / n
    centred = H @ gram @ H
    return y.mean(axis=0) + centred @ np.linalg.solve(centred + amount * np.eye(n), y - y.mean(axis=0))


def signed(gram, signs):
    """The squared norm of the mean of features with signs."""
    n = len(gram)
    return sum(signs[i] * signs[j] * gram[i, j] for i in range(n) for j in range(n)) / n**2
