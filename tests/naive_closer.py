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
    return (
        mean_between(K, x, x, units)
        + mean_between(K, y, y, units)
        - 2 * mean_between(K, x, y, units)
    )


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
        (
            len(estimates),
            (len(estimates) - 1) / len(estimates) * sum((v - whole) ** 2 for v in estimates),
        )
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


def below_quartile(values, share):
    """How much more than its share of values each one adds to the mid-distribution function at a quartile."""
    points = sorted(set(values))
    after = next(i for i in range(1, len(points)) if mid_distribution(values, points[i]) >= share)
    low, high = (mid_distribution(values, points[i]) for i in (after - 1, after))
    part = (share - low) / (high - low)
    place = [
        (1 - part) * mid_distribution([value], points[after - 1])
        + part * mid_distribution([value], points[after])
        for value in values
    ]
    return np.array(place) - np.mean(place)


def ratio_of_widths(x, y, units_x, units_y, confidence, draws=20_000):
    """The ratio of interquartile ranges, second over first, and its limits: extremes over an ellipsoid of shares.

    The ellipsoid is that of the shares below all four quartiles; its points are random.
    """
    names = sorted({*units_x, *units_y})
    sums = np.zeros((len(names), 4))
    for table, (values, units) in enumerate(((x, units_x), (y, units_y))):
        count = len(set(units))
        reach = (
            stats.t.ppf((1 + confidence) / 2, count - 1)
            * math.sqrt(count / (count - 1))
            / len(values)
        )
        for quartile, share in enumerate((0.25, 0.75)):
            for unit, each in zip(units, below_quartile(values, share), strict=True):
                sums[names.index(unit), 2 * table + quartile] += reach * each
    axes, lengths, _ = np.linalg.svd(sums.T)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(draws, 4))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    shifts = np.vstack([np.zeros(4), *(radius * directions for radius in (0.25, 0.5, 0.75, 1.0))])
    shifts = shifts * lengths @ axes.T
    widths = []
    for table, values in enumerate((x, y)):
        points = sorted(set(values))
        heights = [mid_distribution(values, at) for at in points]
        low, high = (
            np.interp((0.25, 0.75)[k] + shifts[:, 2 * table + k], heights, points) for k in (0, 1)
        )
        widths.append(high - low)
    ratios = widths[1] / widths[0]
    return ratios[0], ratios.min(), ratios.max()


def paired_shares(x, y, confidence):
    """Newcombe's limits (1998, Statistics in Medicine 17, 2635-2650) for pairs of zeros and ones.

    Without the continuity correction of phi, in its notation: e, f, g, h are the numbers of pairs 11, 10, 01, 00.
    """
    e, f, g, h = (
        sum((a, b) == pair for a, b in zip(x, y, strict=True))
        for pair in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
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
