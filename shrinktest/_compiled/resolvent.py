"""R = lam (T + lam I)^-1 on a grid of lam in step: what the scores of Tikhonov need of it, O(n) for every lam.

R is the residual smoother of Tikhonov; its entries lie in [0, 1] for every lam, which keeps the scores accurate from
hardly any shrinkage to nearly all.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_NOTHING = 1e-150  # the entries fall off so fast for a large lam that they would become subnormal, and slow


@compiled(fused=True, inner=True)
def factorize(work, n, lam, multipliers, pivots):
    """LDL' of T + lam I; False if it is not positive definite."""
    pivots[0] = work[0, 0] + lam
    for k in range(1, n):
        if not pivots[k - 1] > 0.0:
            return False
        multipliers[k] = work[1, k - 1] / pivots[k - 1]
        pivots[k] = work[0, k] + lam - multipliers[k] * work[1, k - 1]
    return pivots[n - 1] > 0.0


@compiled(fused=True, inner=True)
def factorize_all(work, n, lams, multipliers, pivots):
    """LDL' of T + lam I, all lam in step: (n, g) multipliers and lam / pivot.  False unless all positive definite."""
    positive = True
    for g in range(lams.size):
        pivots[0, g] = work[0, 0] + lams[g]
        multipliers[0, g] = 0.0
    for k in range(1, n):
        diagonal, off = work[0, k], work[1, k - 1]
        for g in range(lams.size):
            m = off / pivots[k - 1, g]
            multipliers[k, g] = m
            pivots[k, g] = diagonal + lams[g] - m * off
    for k in range(n):
        for g in range(lams.size):
            positive &= pivots[k, g] > 0.0
            pivots[k, g] = lams[g] / pivots[k, g]
    return positive


@compiled(fused=True, inner=True)
def smoothed_mean(n, t, multipliers, pivots, powers):
    """``powers[j]`` (n, g) = R^j e_1 in the basis, j = 0..t."""
    size = pivots.shape[1]
    powers[0] = 0.0
    powers[0, 0] = 1.0
    for j in range(1, t + 1):
        before, after = powers[j - 1], powers[j]
        for g in range(size):  # an assignment of arrays would compile the text of an error message, too
            after[0, g] = before[0, g]
        for k in range(1, n):
            given, last, here, multiplier = before[k], after[k - 1], after[k], multipliers[k]
            for g in range(size):
                value = given[g] - multiplier[g] * last[g]
                here[g] = value if abs(value) > _NOTHING else 0.0
        for g in range(size):
            after[n - 1, g] *= pivots[n - 1, g]
        for k in range(n - 2, -1, -1):
            last, here, multiplier, pivot = after[k + 1], after[k], multipliers[k + 1], pivots[k]
            for g in range(size):
                here[g] = pivot[g] * here[g] - multiplier[g] * last[g]


@compiled(fused=True, inner=True)
def moments_of_mean(powers, n, t, norm, whole):
    """``whole[k]`` (g,) = s'R^k s, k = 0..2t, for the start s of the basis, of squared length ``norm``."""
    whole[:] = 0.0
    for k in range(2 * t + 1):
        row = whole[k]
        for i in range(n):
            first, second = powers[k // 2, i], powers[k - k // 2, i]
            for g in range(row.size):
                row[g] += norm * first[g] * second[g]


@compiled(fused=True, inner=True)
def on_points(whole, n, lams):
    """Overwrite moments s'S^k s in coordinates, S = lam (Z'Z + lam I)^-1 and s = Z'e, by e'R^k e on the n points.

    Because R = I - Z S Z' / lam and Z S^k Z' / lam = R^(k-1) - R^k.
    """
    for g in range(lams.size):
        whole[0, g] = n
        for k in range(1, whole.shape[0]):
            whole[k, g] = whole[k - 1, g] - whole[k, g] / lams[g]


@compiled(fused=True, inner=True)
def traces(multipliers, pivots, of_r):
    """Rows 1 and 2 of ``of_r``: tr R and tr R^2 (g,), from what `factorize_all` leaves, all lam in step.

    They are sums over the pivots of T + lam I and their first two derivatives in lam; of the second one lam times it.
    """
    n, size = pivots.shape
    slopes, bends = np.empty(size), np.empty(size)
    first, second = of_r[1], of_r[2]
    for g in range(size):
        slopes[g], bends[g] = 1.0, 0.0
        first[g], second[g] = pivots[0, g], pivots[0, g] * pivots[0, g]
    for k in range(1, n):
        multiplier, before, here = multipliers[k], pivots[k - 1], pivots[k]
        for g in range(size):
            square, slope = multiplier[g] * multiplier[g], slopes[g]
            bend = square * (bends[g] - 2.0 * slope * slope * before[g])
            slope = 1.0 + square * slope
            change = here[g] * slope
            first[g] += change
            second[g] += change * change - here[g] * bend
            slopes[g], bends[g] = slope, bend
