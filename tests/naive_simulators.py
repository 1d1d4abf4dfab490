"""Slow twin of tests of simulated models.  Nothing here comes from the package."""

from __future__ import annotations

import itertools
import math

import numpy as np


def median_distance(rows):
    """The root of the median squared distance of all pairs of rows."""
    squares = [math.dist(a, b) ** 2 for a, b in itertools.combinations(rows.tolist(), 2)]
    return float(np.median(squares)) ** 0.5


def mean_kernel(rows, others, width, *, distinct=False):
    """The mean Gaussian kernel value of rows and others, without those of a row with itself."""
    values = []
    for i, a in enumerate(rows.tolist()):
        for j, b in enumerate(others.tolist()):
            if not (distinct and i == j):
                values.append(math.exp(-(math.dist(a, b) ** 2) / (2.0 * width**2)))
    return sum(values) / len(values)


def distance(rows, reference, width, *, unbiased):
    """The squared distance of the kernel means of a data set and the reference sample."""
    within = mean_kernel(rows, rows, width, distinct=unbiased)
    within += mean_kernel(reference, reference, width, distinct=unbiased)
    return within - 2.0 * mean_kernel(rows, reference, width)


def pvalue(statistics):
    """The share of data sets, the observed one first, whose statistic is at least the observed one."""
    return sum(value >= statistics[0] - 1e-12 for value in statistics) / len(statistics)
