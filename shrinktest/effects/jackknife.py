"""Jackknife: variances, score intervals for squared distances, and candidate differences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FEWEST = 5  # independent units of each sample that an interval takes

#: Rounding error of a sum whose terms cancel, relative to their size.
ROUNDING = 1e-12

_LEAST_VARIANCE = 1e-18  # the square of what rounding may leave of a quantity near 1


def centered(values: np.ndarray, strata: np.ndarray | None = None) -> np.ndarray:
    """Return deviations of values (n,) from their mean, or from stratum means.

    Strata are given as codes 0, 1, ...
    """
    if strata is None:
        return values - values.mean()
    means = np.bincount(strata, weights=values) / np.maximum(np.bincount(strata), 1)
    return np.asarray(values - means[strata])


def jackknife(
    influences: np.ndarray, strata: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance that the units of each stratum contribute, and their numbers.

    It is their contribution to the variance of an estimate.

    ``influences`` (n,) are what each independent unit adds to the estimate, less the mean: (1 - w)
    times the change without it, with w its weight in its sample (R. G. Miller, The jackknife,
    Biometrika 61 (1974), 1-15).  Single units of a stratum add nothing, because their variance is
    unknown.
    """
    strata = np.zeros(len(influences), dtype=np.intp) if strata is None else strata
    counts = np.bincount(strata).astype(np.float64)
    return counts / np.maximum(counts - 1.0, 1.0) * np.bincount(
        strata, weights=np.square(influences)
    ), counts


def variance_from_deleted(without: np.ndarray) -> float:
    """Return the jackknife variance of an estimate from its values without each unit.

    NaN if one is not defined.
    """
    if not np.isfinite(without).all():
        return math.nan
    return float(jackknife((1.0 - 1.0 / len(without)) * centered(without))[0].sum())


@dataclass(frozen=True)
class Estimate:
    """An estimate from U statistics, with the parts of its variance."""

    value: float
    jackknife: float  # variance by the jackknife, which counts the part of second order twice
    second: float  # part of second order: the variance that is left when the quantity is zero
    units: int  # independent units (rows, pairs, groups) of the smallest sample
    event: float = 0.0  # what a single unit lowers a quantity of 1 by if it is unlike all others

    @property
    def _variance(self) -> float:
        """Variance of the mean of the units' influences, of which twice ``second`` is noise."""
        return max(self.jackknife, 2.0 * self.second)

    @property
    def chance(self) -> float:
        """Share of the influences' variance that is noise of their estimates, from 0 to 1."""
        return 2.0 * self.second / self._variance if self._variance > 0.0 else 1.0

    @property
    def slope(self) -> float:
        """Growth of the variance with the quantity."""
        return self._variance / (max(self.value, 0.0) + math.sqrt(2.0 * self.second))

    @property
    def has_variance(self) -> bool:
        """True if the data allow a variance estimate."""
        varies = self.second > 0.0 or 1.0 - self.value < self.event
        return self.units >= FEWEST and math.isfinite(self.jackknife) and varies

    def below(self, margin: float) -> tuple[float, float]:
        """Return the z-score of the estimate below a margin, and its p-value.

        The p-value is for the hypothesis "margin or more".

        p <= alpha exactly if the upper limit of confidence 1 - 2 alpha is at most the margin.  For
        estimates far below zero the nearest quantity in standard deviations may lie above the
        margin.  NaN without a variance.
        """
        if not self.has_variance or self.second <= 0.0:
            return math.nan, math.nan
        from scipy.special import stdtr

        nearest = max(margin, -self.value - 2.0 * self.second / self.slope)
        z = (self.value - nearest) / math.sqrt(self.second + self.slope * nearest)
        return z, float(stdtr(self.units - 1.0, z))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return a score interval for the quantity, within [0, 1]; NaN without a variance.

        It holds the values theta within t standard deviations of the estimate, for the standard
        deviation under theta (as E. B. Wilson, Journal of the American Statistical Association 22
        (1927), 209-212, for shares).  The variance is ``second + slope * theta``: a squared
        distance in feature space varies by its second order if it is zero, and else by its first
        order in proportion to itself (J. Shao and D. Tu, The Jackknife and Bootstrap, 1995, section
        2.2).  At zero the distribution has at worst the long tail of the square of a normal
        variable: for the lower limit ``second`` counts as many standard deviations as that needs.
        Towards 1 the lower limit is no higher than that of `_lower_near_one`; it counts in full
        from one half on, and not at all below one quarter.
        """
        if not self.has_variance:
            return math.nan, math.nan
        from scipy.special import ndtri, stdtrit

        t = float(stdtrit(self.units - 1.0, 0.5 + confidence / 2.0))
        t_square = (float(ndtri(0.5 + confidence / 2.0)) ** 2 - 1.0) / math.sqrt(2.0)
        center = self.value + t**2 * self.slope / 2.0
        upper = center**2 - self.value**2 + t**2 * self.second
        if upper < 0.0:  # the estimate is too far below zero for any quantity
            return 0.0, 0.0
        lower = center**2 - self.value**2 + max(t, t_square) ** 2 * self.second
        low = center - math.sqrt(lower)
        weight = min(max(4.0 * self.value - 1.0, 0.0), 1.0)
        low -= weight * max(low - self._lower_near_one(confidence), 0.0)
        low, high = np.clip((low, center + math.sqrt(upper)), 0.0, 1.0)
        return float(low), float(high)

    def _lower_near_one(self, confidence: float) -> float:
        """Return a gamma-based lower limit for a quantity from which few units subtract.

        What is missing to 1 is a sum over the units that differ, whose number is nearly Poisson.
        The limit is that of M. P. Fay and E. J. Feuer, Statistics in Medicine 16 (1997), 791-801:
        as if one more such unit had been seen.
        """
        from scipy.special import gammaincinv

        missing = max(1.0 - self.value, 0.0) + self.event
        if missing == 0.0:
            return 1.0
        number = missing**2 / (self.jackknife + self.event**2 + _LEAST_VARIANCE)
        most = missing / number * float(gammaincinv(number, 0.5 + confidence / 2.0))
        return 1.0 - most


@dataclass(frozen=True, eq=False)
class JackknifeEstimates:
    """Estimates for k candidates, and the same without each unit."""

    estimates: np.ndarray  # (k,)
    without: np.ndarray  # (units, k)
    present: (
        np.ndarray
    )  # (units, 1 + k): whether a unit has rows in X, and in each of the candidates
    rounding: float  # possible rounding error of an estimate

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """Return the difference of two estimates, its standard error and the degrees of freedom.

        The stratified jackknife (R. G. Miller, Biometrika 61 (1974), 1-15) with the degrees of
        freedom of B. L. Welch, Biometrika 34 (1947), 28-35. It counts the second-order part of the
        variance twice (B. Efron and C. Stein, Annals of Statistics 9 (1981), 586-596), and is
        conservative if all distributions are nearly the same.
        """
        value = float(self.estimates[first] - self.estimates[second])
        influences = self.without[:, first] - self.without[:, second] - value
        unit = 2.0 ** int(
            np.frexp(np.abs(influences).max())[1]
        )  # keeps fourth powers in the range of numbers
        strata = np.unique(self.strata(first, second), return_inverse=True)[1]
        variances, counts = jackknife(
            (1.0 - 1.0 / np.bincount(strata)[strata]) * influences / unit, strata
        )
        variances = variances[counts > 1.0]
        counts = counts[counts > 1.0]
        variance = float(variances.sum())
        error = unit * variance**0.5
        if error <= self.rounding:
            return value, 0.0, math.nan
        return value, error, variance**2 / float((variances**2 / (counts - 1.0)).sum())

    def strata(self, first: int, second: int) -> np.ndarray:
        """Return the stratum of every unit: which of the three samples it has rows in, 0 for none.

        A unit that is alone in its stratum joins the largest one.
        """
        strata = self.present[:, [0, 1 + first, 1 + second]] @ np.array([4, 2, 1])
        counts = np.bincount(strata)
        counts[0] = 0
        return np.where(counts[strata] == 1, counts.argmax(), strata)
