"""The jackknife, and score intervals for squared distances in feature space."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FEWEST = 5  # independent units of each sample that an interval takes


def centred(values: np.ndarray, strata: np.ndarray | None = None) -> np.ndarray:
    """Return the deviations of values (n,) from their mean, or from those of their strata (codes 0, 1, ...)."""
    if strata is None:
        return values - values.mean()
    means = np.bincount(strata, weights=values) / np.maximum(np.bincount(strata), 1)
    return np.asarray(values - means[strata])


def jackknife(influences: np.ndarray, strata: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance that the units of each stratum add to an estimate, and the numbers of these units.

    ``influences`` (n,) are what each independent unit adds to the estimate, less the mean: (1 - w) times the change
    without it, with w its weight in its sample (R. G. Miller, The jackknife, Biometrika 61 (1974), 1-15).  Single units
    of a stratum add nothing, because their variance is unknown.
    """
    strata = np.zeros(len(influences), dtype=np.intp) if strata is None else strata
    counts = np.bincount(strata).astype(np.float64)
    return counts / np.maximum(counts - 1.0, 1.0) * np.bincount(strata, weights=np.square(influences)), counts


def variance_from_deleted(without: np.ndarray) -> float:
    """Return the jackknife variance of an estimate from its values without each unit; NaN if one is not defined."""
    if not np.isfinite(without).all():
        return math.nan
    return float(jackknife((1.0 - 1.0 / len(without)) * centred(without))[0].sum())


@dataclass(frozen=True)
class Estimate:
    """An estimate from U statistics, with the parts of its variance."""

    value: float
    jackknife: float  # variance by the jackknife, which counts the part of second order twice
    second: float  # part of second order: the variance that is left when the quantity is zero
    units: int  # independent units (rows, pairs, groups) of the smallest sample

    @property
    def first(self) -> float:
        """Part of first order of the variance: that of the mean of the units' influences."""
        return max(self.jackknife - 2.0 * self.second, 0.0)

    @property
    def chance(self) -> float:
        """Share of the influences' variance that is noise of their estimates, from 0 to 1."""
        whole = self.first + 2.0 * self.second
        return 2.0 * self.second / whole if whole > 0.0 else 1.0

    @property
    def slope(self) -> float:
        """Growth of the variance with the quantity."""
        return (self.first + 2.0 * self.second) / (max(self.value, 0.0) + math.sqrt(2.0 * self.second))

    @property
    def has_variance(self) -> bool:
        """True if the data allow a variance estimate."""
        return self.units >= FEWEST and math.isfinite(self.jackknife) and self.second > 0.0

    def below(self, margin: float) -> tuple[float, float]:
        """Return how many standard deviations the estimate is below a margin, and the p-value of "margin or more".

        The standard deviation is that at the margin, as in the interval: p <= alpha exactly if the upper limit with
        confidence 1 - 2 alpha is at most the margin.  For estimates far below zero the nearest quantity in standard
        deviations may lie above the margin.  NaN without a variance.
        """
        if not self.has_variance:
            return math.nan, math.nan
        from scipy.special import stdtr

        nearest = max(margin, -self.value - 2.0 * self.second / self.slope)
        z = (self.value - nearest) / math.sqrt(self.second + self.slope * nearest)
        return z, float(stdtr(self.units - 1.0, z))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return a score interval for the quantity, within [0, 1]; NaN without a variance.

        It holds the values theta within t standard deviations of the estimate, for the standard deviation under theta
        (as E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212, for shares).  A squared
        distance in feature space varies by its second order if it is zero, and else by its first order in proportion to
        itself (J. Shao and D. Tu, The Jackknife and Bootstrap, 1995, section 2.2; W. Hoeffding, Annals of Mathematical
        Statistics 19 (1948), 293-325): the variance is ``second + slope * theta``.  The distribution at zero has the
        long tail of squares of normal variables, at worst of a single one: for the lower limit ``second`` counts as
        many standard deviations as that square needs.
        """
        if not self.has_variance:
            return math.nan, math.nan
        from scipy.special import ndtri, stdtrit

        t = float(stdtrit(self.units - 1.0, 0.5 + confidence / 2.0))
        t_square = (float(ndtri(0.5 + confidence / 2.0)) ** 2 - 1.0) / math.sqrt(2.0)
        centre = self.value + t**2 * self.slope / 2.0
        upper = centre**2 - self.value**2 + t**2 * self.second
        if upper < 0.0:  # the estimate is too far below zero for any quantity
            return 0.0, 0.0
        lower = centre**2 - self.value**2 + max(t, t_square) ** 2 * self.second
        low, high = np.clip((centre - math.sqrt(lower), centre + math.sqrt(upper)), 0.0, 1.0)
        return float(low), float(high)
