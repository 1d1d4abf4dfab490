"""Intervals for squared distances in feature space, which hold their confidence where these are zero as well."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FEWEST = 5  # units of each sample that leave anything to estimate a variance from


@dataclass(frozen=True)
class Estimate:
    """An estimate that is a U statistic, or a ratio of some, and what is known of its variance."""

    value: float
    jackknife: float  # its variance by the jackknife, which counts the part of second order twice
    second: float  # that part: the variance that is left where the estimated quantity is zero
    units: int  # independent units (rows, pairs, groups) of the smallest sample

    @property
    def first(self) -> float:
        """The part of first order of the variance: that of the mean of the units' influences."""
        return max(self.jackknife - 2.0 * self.second, 0.0)

    @property
    def chance(self) -> float:
        """The share of the influences' variance that is noise of their estimates, from 0 to 1."""
        whole = self.first + 2.0 * self.second
        return 2.0 * self.second / whole if whole > 0.0 else 1.0

    @property
    def slope(self) -> float:
        """How fast the variance grows with the quantity that is estimated."""
        spread = math.sqrt(2.0 * self.second)
        return (self.first + 2.0 * self.second) / (max(self.value, 0.0) + spread)

    @property
    def has_variance(self) -> bool:
        """Whether there is anything to estimate a variance from."""
        return self.units >= FEWEST and math.isfinite(self.jackknife) and self.second > 0.0

    def below(self, margin: float) -> tuple[float, float]:
        """How far the estimate is below a margin, in standard deviations, and the p-value of its being no lower.

        The standard deviation is the one that the estimate has if the quantity is the margin, as in the interval: the
        p-value is at most alpha where the upper limit of the interval with confidence 1 - 2 alpha is no more than that.
        The hypothesis is that the quantity is the margin or more, and the distance in standard deviations is the
        smallest that such a quantity has, which for estimates far below zero may be more than the margin.  NaN where
        there is no variance.
        """
        if not self.has_variance:
            return math.nan, math.nan
        from scipy.special import stdtr

        slope = self.slope
        nearest = max(margin, -self.value - 2.0 * self.second / slope)
        z = (self.value - nearest) / math.sqrt(self.second + slope * nearest)
        return z, float(stdtr(self.units - 1.0, z))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Limits between which the quantity lies, within [0, 1]; NaN where there is nothing to estimate them from.

        The values theta that are no more than t standard deviations away, for the standard deviation that the estimate
        has if theta is true (a score interval, as that of E. B. Wilson, Journal of the American Statistical Association
        22 (1927), 209-212, is for shares).  A squared distance in feature space varies by its second order where it is
        zero, and by its first order, in proportion to itself, where it is not (J. Shao and D. Tu, The Jackknife and
        Bootstrap, 1995, section 2.2; W. Hoeffding, Annals of Mathematical Statistics 19 (1948), 293-325): the variance
        is taken as ``second + slope * theta``.  The slope is that of the data, drawn towards what chance makes of it
        where there is hardly any distance to measure it by.  What varies where the distance is zero has the long tail
        of squares of normal variables, at worst of a single one: for the lower limit ``second`` counts as many standard
        deviations as that square needs.
        """
        if not self.has_variance:
            return math.nan, math.nan
        from scipy.special import ndtri, stdtrit

        t = float(stdtrit(self.units - 1.0, 0.5 + confidence / 2.0))
        of_square = (float(ndtri(0.5 + confidence / 2.0)) ** 2 - 1.0) / math.sqrt(2.0)
        centre = self.value + t**2 * self.slope / 2.0

        def square(of_second: float) -> float:
            return centre**2 - self.value**2 + of_second**2 * self.second

        if square(t) < 0.0:  # the estimate is so far below zero that no value is near enough
            return 0.0, 0.0
        limits = centre - math.sqrt(square(max(t, of_square))), centre + math.sqrt(square(t))
        low, high = np.clip(limits, 0.0, 1.0)
        return float(low), float(high)


def by_leaving_out(values: np.ndarray, cells: np.ndarray | None = None) -> float:
    """The jackknife's variance from the estimates that leave out one unit each; within cells, where there are some.

    In cells the values are of sums in which the other units count no more than before; hence the factor n / (n - 1) and
    not its inverse, as where they do.
    """
    if not np.isfinite(values).all():
        return math.nan
    if cells is None:
        return float((len(values) - 1.0) * np.var(values))
    counts = np.bincount(cells)
    means = np.bincount(cells, weights=values) / np.maximum(counts, 1)
    squares = np.bincount(cells, weights=np.square(values - means[cells]))
    return float((counts / np.maximum(counts - 1.0, 1.0) * squares).sum())
