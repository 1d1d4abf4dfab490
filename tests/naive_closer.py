"""Relative distances and dependences, written down slowly: sums over tuples of rows, and rows left out one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import stats


def mean_between(K, rows, others, units):
    """The mean kernel value of pairs of rows that are in different units."""
    values = [K[i, j] for i in rows for j in others if units[i] != units[j]]
    return sum(values) / len(values)


def mmd2(K, x, y, units):
    """The unbiased squared distance of the samples with these rows of K."""
    return mean_between(K, x, x, units) + mean_between(K, y, y, units) - 2 * mean_between(K, x, y, units)


def hsic(K, L):
    """The U-statistic of order four, by its definition: an average over all quadruples of different rows."""
    total = count = 0
    for i, j, q, r in itertools.permutations(range(len(K)), 4):
        total += K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q])
        count += 1
    return total / count


def correlation(K, L):
    return hsic(K, L) / math.sqrt(hsic(K, K) * hsic(L, L))


def jackknife(values, whole):
    """Variance and degrees of freedom from values without each unit, a list for every kind of unit."""
    pieces = [
        (len(estimates), (len(estimates) - 1) / len(estimates) * sum((v - whole) ** 2 for v in estimates))
        for estimates in values
    ]
    variance = sum(piece for _, piece in pieces)
    return variance, variance**2 / sum(piece**2 / (count - 1) for count, piece in pieces)


def nearer(K, samples, units):
    """The difference of the squared distances of the first sample to the second and to the third, with its jackknife.

    ``samples`` are lists of rows of K, ``units`` a label for every row.
    """

    def difference(left_out=None):
        x, y, z = ([i for i in rows if units[i] != left_out] for rows in samples)
        return mmd2(K, x, y, units) - mmd2(K, x, z, units)

    kinds = {}
    for unit in dict.fromkeys(units):
        present = tuple(any(units[i] == unit for i in rows) for rows in samples)
        kinds.setdefault(present, []).append(difference(unit))
    return difference(), *jackknife(list(kinds.values()), difference())


def more_dependent(K, L, M, measure=correlation):
    """Difference of the dependence on the third and on the second variable, with its jackknife."""

    def difference(left_out=None):
        keep = [i for i in range(len(K)) if i != left_out]
        x, y, z = (gram[np.ix_(keep, keep)] for gram in (K, L, M))
        return measure(x, z) - measure(x, y)

    return difference(), *jackknife([[difference(i) for i in range(len(K))]], difference())


def pvalue(difference, variance, freedom, alternative):
    t = difference / math.sqrt(variance)
    tails = {"less": stats.t.cdf(t, freedom), "greater": stats.t.sf(t, freedom)}
    return tails.get(alternative, 2 * min(tails.values()))
