"""Effects of columns and their intervals, written down slowly."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats


def hedges(x, y):
    """Hedges' g, second less first."""
    m, n = len(x), len(y)
    pooled = math.sqrt(((m - 1) * np.var(x, ddof=1) + (n - 1) * np.var(y, ddof=1)) / (m + n - 2))
    return (1 - 3 / (4 * (m + n) - 9)) * (np.mean(y) - np.mean(x)) / pooled


def log_ratio(x, y):
    return math.log(np.std(y, ddof=1) / np.std(x, ddof=1))


def jackknife(effect, x, y, units_x, units_y, confidence, paired=False):
    """The effect and its limits, leaving out one unit after the other."""
    without = {}
    for unit in sorted({*units_x, *units_y}):
        a = [value for value, one in zip(x, units_x, strict=True) if one != unit]
        b = [value for value, one in zip(y, units_y, strict=True) if one != unit]
        without[unit] = effect(a, b)
    parts = [sorted(set(units_x))] if paired else [sorted(set(units_x)), sorted(set(units_y))]
    pieces = []
    for part in parts:
        values = np.array([without[unit] for unit in part])
        pieces.append((len(values), (len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()))
    variance = sum(piece for _, piece in pieces)
    freedom = variance**2 / sum(piece**2 / (count - 1) for count, piece in pieces)
    reach = stats.t.ppf((1 + confidence) / 2, freedom) * math.sqrt(variance)
    estimate = effect(x, y)
    return estimate, estimate - reach, estimate + reach


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
