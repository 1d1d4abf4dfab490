"""Conformal martingales of MAPIE 1.6 (``OnlineMartingaleTest``), from the same formulas.

MAPIE takes the residuals of a model, and its plug-in martingale estimates a density on a grid from all earlier p-values
in every row, which is too slow for a study.  These agree with it: the jumper to 1e-13, the plug-in to 1e-4, which is the
error of MAPIE's normalization on the grid.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

import numpy as np

JUMP = 0.01  # share of wealth that is spread over the bets in every row
LEAST = 100  # p-values before which the plug-in martingale does not bet
WAVES = np.arange(1, 21)  # of a density; those left out have factors below 1e-15 for 2500 rows


def conformal(scores, rng) -> np.ndarray:
    """Return the p-value of each score among the earlier ones: the share of larger ones, ties broken at random."""
    ties = rng.random(len(scores))
    before: list[float] = []
    pvalues = np.empty(len(scores))
    for t, score in enumerate(scores.tolist()):
        low = bisect_left(before, score)
        high = bisect_right(before, score, low)
        pvalues[t] = (t - high + ties[t] * (high - low + 1)) / (t + 1.0)
        insort(before, score)
    return pvalues


def jumper(pvalues) -> np.ndarray:
    """Return the logarithm of simple jumper martingales after each of their p-values (n, k).

    The bets are 1 + e (p - 1/2) for e = -1, 0, 1 (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World).
    """
    factors = 1.0 + np.array([-1.0, 0.0, 1.0]) * (pvalues[:, :, np.newaxis] - 0.5)
    wealth = np.full((pvalues.shape[1], 3), 1.0 / 3.0)
    totals = np.empty(pvalues.shape)
    for t, own in enumerate(factors):
        wealth = ((1.0 - JUMP) * wealth + JUMP / 3.0) * own
        totals[t] = wealth.sum(axis=1)
        wealth /= totals[t][:, np.newaxis]
    return np.cumsum(np.log(totals), axis=0)


def plug_in(pvalues) -> np.ndarray:
    """Return the logarithm of plug-in martingales after each of their p-values (n, k)."""
    return np.stack([_plug_in(own) for own in pvalues.T], axis=1)


def _plug_in(pvalues) -> np.ndarray:
    """Return the logarithm of one of them.

    Its bet is a kernel density of the earlier p-values, reflected at 0 and 1, with Silverman's bandwidth (Fedorova,
    Gammerman, Nouretdinov and Vovk, ICML 2012), mixed with a uniform density.  Reflected at both ends again and again,
    a Gaussian kernel is a series of cosines with factors exp(-(k pi h)^2 / 2).
    """
    count = np.arange(len(pvalues), dtype=np.float64)
    waves = np.cos(np.pi * WAVES * pvalues[:, np.newaxis])
    sums = np.cumsum(waves, axis=0) - waves
    means = sums / np.maximum(count, 1.0)[:, np.newaxis]
    factors = np.exp(-0.5 * np.square(np.pi * WAVES * bandwidths(pvalues)[:, np.newaxis]))
    densities = 1.0 + 2.0 * (factors * means * waves).sum(axis=1)
    uniform = np.minimum(1.0, LEAST / np.maximum(count, 1.0))
    return np.cumsum(np.log((1.0 - uniform) * densities + uniform))


def bandwidths(pvalues) -> np.ndarray:
    """Return Silverman's bandwidth of all p-values before each one, with their reflections -p and 2 - p."""
    count = 3.0 * np.maximum(np.arange(len(pvalues)), 1.0)
    sums = np.cumsum(2.0 - pvalues) - (2.0 - pvalues)
    each = 3.0 * pvalues**2 - 4.0 * pvalues + 4.0
    squares = np.cumsum(each) - each
    variances = np.maximum(squares - sums**2 / count, 0.0) / (count - 1.0)
    return np.sqrt(variances) * (0.75 * count) ** -0.2


MARTINGALES = {"jumper": jumper, "plug-in": plug_in}
