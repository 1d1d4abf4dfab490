"""Slow twins of relative distances and dependences, and of the effects of columns and their intervals."""

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


def closer(K, samples, units):
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


# --- effects of columns and their intervals, written down slowly ---


def mid_distribution(values, at):
    """The share of values below, and half of the share at a point."""
    return sum((value < at) + 0.5 * (value == at) for value in values) / len(values)


def mid_quantile(values, share):
    """Where the mid-distribution function, with straight lines between the values, is this share."""
    points = sorted(set(values))
    heights = [mid_distribution(values, at) for at in points]
    if share <= heights[0]:
        return points[0]
    for (low, before), (high, after) in zip(
        zip(points, heights, strict=True), zip(points[1:], heights[1:], strict=True), strict=False
    ):
        if share <= after:
            return low + (high - low) * (share - before) / (after - before)
    return points[-1]


def middle(values):
    """The interquartile range of the mid-distribution function."""
    return mid_quantile(values, 0.75) - mid_quantile(values, 0.25)


def middle_influences(values):
    """Influence of each value on the interquartile range: minus the slope of the quantile times its own place."""
    n, points = len(values), sorted(set(values))
    total = np.zeros(n)
    for share, sign in ((0.75, 1.0), (0.25, -1.0)):
        z = stats.norm.ppf(share)
        reach = (stats.norm.ppf(0.975) ** 2 * 1.5 * stats.norm.pdf(z) ** 2 / (2 * z**2 + 1) / n) ** (1 / 3)
        reach = min(reach, 0.2)
        slope = (mid_quantile(values, share + reach) - mid_quantile(values, share - reach)) / (2 * reach)
        after = next(i for i in range(1, len(points)) if mid_distribution(values, points[i]) >= share)
        low, high = (mid_distribution(values, points[i]) for i in (after - 1, after))
        part = (share - low) / (high - low)
        place = [
            (1 - part) * mid_distribution([value], points[after - 1]) + part * mid_distribution([value], points[after])
            for value in values
        ]
        total -= sign * slope * (np.array(place) - np.mean(place))
    return total


def ratio_of_widths(x, y, units_x, units_y, confidence, paired=False):
    """The ratio of interquartile ranges, second over first, and its limits."""
    parts = []
    for values, units in ((x, units_x), (y, units_y)):
        each = middle_influences(values) / middle(values) / len(values)
        parts.append({unit: sum(each[i] for i in range(len(each)) if units[i] == unit) for unit in set(units)})
    if paired:
        parts = [{unit: parts[1][unit] - parts[0][unit] for unit in parts[0]}]
    pieces = [(len(part), len(part) / (len(part) - 1) * sum(value**2 for value in part.values())) for part in parts]
    variance = sum(piece for _, piece in pieces)
    freedom = variance**2 / sum(piece**2 / (count - 1) for count, piece in pieces)
    reach = stats.t.ppf((1 + confidence) / 2, freedom) * math.sqrt(variance)
    ratio = middle(y) / middle(x)
    return ratio, ratio * math.exp(-reach), ratio * math.exp(reach)


def paired_shares(x, y, confidence):
    """Newcombe's limits (1998, Statistics in Medicine 17, 2635-2650) for pairs of zeros and ones.

    Without the continuity correction of phi, in its notation: e, f, g, h are the numbers of pairs 11, 10, 01, 00.
    """
    e, f, g, h = (sum((a, b) == pair for a, b in zip(x, y, strict=True)) for pair in ((1, 1), (1, 0), (0, 1), (0, 0)))
    n, z = e + f + g + h, stats.norm.ppf((1 + confidence) / 2)

    def wilson(count):
        low_high = np.roots([n + z**2, -(2 * count + z**2), count**2 / n])
        return min(low_high), max(low_high)

    p1, p2 = (e + f) / n, (e + g) / n
    (l1, u1), (l2, u2) = wilson(e + f), wilson(e + g)
    margins = (e + f) * (g + h) * (e + g) * (f + h)
    phi = (e * h - f * g) / math.sqrt(margins) if margins else 0.0
    delta = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    epsilon = math.sqrt((u2 - p2) ** 2 - 2 * phi * (u2 - p2) * (p1 - l1) + (p1 - l1) ** 2)
    return p2 - p1, p2 - p1 - delta, p2 - p1 + epsilon
