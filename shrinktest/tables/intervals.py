"""Intervals for how two tables differ in one respect: by the jackknife for moments, after Newcombe for shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from shrinktest.units import near_one

#: Rows (pairs, groups) in each table below which there is no interval: for means, and for standard deviations.
FEWEST, FEWEST_FOR_SPREAD = 5, 10

#: Limits of an interval where none is estimated.
NOTHING = (math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Units:
    """What varies independently in two tables: their rows, or the pairs or groups that these belong to."""

    sizes: tuple[int, int]  # rows of both tables
    # (N,): the unit of every row, those of the first table before those of the second; whole numbers from 0
    codes: np.ndarray
    paired: bool = False  # whether a unit has a row in each table

    @classmethod
    def rows(cls, sizes: tuple[int, int]) -> Units:
        """Independent rows."""
        return cls(sizes, np.arange(sum(sizes)))

    @classmethod
    def pairs(cls, sizes: tuple[int, int]) -> Units:
        """Row i of both tables is a pair."""
        return cls(sizes, np.arange(sum(sizes)) % sizes[0], paired=True)

    def taken(self, keep: np.ndarray) -> Units:
        """Those of the rows that are kept."""
        first = int(keep[: self.sizes[0]].sum())
        return Units((first, int(keep.sum()) - first), self.codes[keep], self.paired)

    @property
    def alone(self) -> bool:
        """Whether every row is a unit of its own."""
        return not self.paired and np.unique(self.codes).size == self.codes.size

    @property
    def table(self) -> np.ndarray:
        """Of every row whether it is in the first table (0) or in the second (1)."""
        return np.repeat([0, 1], self.sizes)

    def sums(self, *values: np.ndarray) -> np.ndarray:
        """Sums (units, k, 2) of k values (N,) each, by unit and table."""
        _, codes = np.unique(self.codes, return_inverse=True)
        count, places = int(codes.max(initial=-1)) + 1, 2 * codes + self.table
        flat = [np.bincount(places, weights=one, minlength=2 * count).reshape(count, 2) for one in values]
        return np.stack(flat, axis=1).astype(np.float64)


# --- means and standard deviations --------------------------------------------------------------------------


def hedges(moments: np.ndarray) -> np.ndarray:
    """Hedges' standardised difference of means, second less first, from moments (..., 3, 2).

    The difference in units of the pooled standard deviation, times 1 - 3 / (4 (m + n) - 9), which takes its bias away
    for normal data: L. V. Hedges, Distribution theory for Glass's estimator of effect size, Journal of Educational
    Statistics 6 (1981), 107-128.
    """
    n, mean, variance = _described(moments)
    size = n.sum(axis=-1)
    pooled = ((n - 1.0) * variance).sum(axis=-1) / (size - 2.0)
    difference = mean[..., 1] - mean[..., 0]
    return np.asarray((1.0 - 3.0 / (4.0 * size - 9.0)) * difference / np.sqrt(pooled))


def log_ratio(moments: np.ndarray) -> np.ndarray:
    """The logarithm of the ratio of standard deviations, second over first, from moments (..., 3, 2)."""
    variance = _described(moments)[2]
    return np.asarray(0.5 * (np.log(variance[..., 1]) - np.log(variance[..., 0])))


def jackknife(
    effect: Callable[[np.ndarray], np.ndarray], values: np.ndarray, units: Units, confidence: float, fewest: int
) -> tuple[float, float, float]:
    """An effect with its interval, from leaving out one unit (row, pair or group) at a time.

    R. G. Miller, Jackknifing variances, Annals of Mathematical Statistics 39 (1968), 567-582, for two samples: the
    variances of both add up, with the degrees of freedom of B. L. Welch, Biometrika 34 (1947), 28-35.  Nothing is
    assumed of the distribution but moments.

    ``effect`` makes effects (...) of moments (..., 3, 2) of both tables: numbers, sums and sums of squares.  Of
    ``values`` (N,) none is missing.  With fewer than ``fewest`` units in a table there is no interval.  Returns the
    estimate and the two limits, NaN for what cannot be estimated.
    """
    if min(units.sizes) < 2:
        return math.nan, *NOTHING
    values = near_one(values)
    centre, scale = values.mean(), values.std() or 1.0  # so that squares lose no digits
    z = (values - centre) / scale
    each = units.sums(np.ones_like(z), z, z**2)
    total = each.sum(axis=0)
    with np.errstate(all="ignore"):
        estimate = float(effect(total))
        without = effect(total - each)
    if not math.isfinite(estimate):
        return math.nan, *NOTHING
    belongs = each[:, 0] > 0.0
    parts = [belongs[:, 0] & belongs[:, 1]] if units.paired else [belongs[:, 0], belongs[:, 1]]
    if units.paired:  # where one of a pair is missing, the other varies by itself
        parts += [part for part in (belongs[:, 0] & ~belongs[:, 1], belongs[:, 1] & ~belongs[:, 0]) if part.sum() > 1]
    if min(belongs.sum(axis=0)) < fewest or not np.isfinite(without).all() or min(part.sum() for part in parts) < 2:
        return estimate, *NOTHING
    counts = np.array([part.sum() for part in parts], dtype=np.float64)
    variances = np.array([(count - 1.0) * np.var(without[part]) for count, part in zip(counts, parts, strict=True)])
    variance = float(variances.sum())
    if variance <= 1e-24:  # nothing but rounding
        return estimate, *NOTHING
    from scipy.special import stdtrit

    freedom = variance**2 / float((variances**2 / (counts - 1.0)).sum())
    reach = float(stdtrit(freedom, 0.5 + confidence / 2.0)) * math.sqrt(variance)
    return estimate, estimate - reach, estimate + reach


def _described(moments: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, means and variances of both tables, each (..., 2)."""
    n, total, squares = (moments[..., i, :] for i in range(3))
    mean = total / n
    variance = np.maximum(squares - n * mean**2, 0.0) / (n - 1.0)
    # what is left of equal values is rounding
    return n, mean, np.where(variance * n <= 1e-12 * squares, 0.0, variance)


# --- shares -------------------------------------------------------------------------------------------------


def difference_of_shares(is_so: np.ndarray, units: Units, confidence: float) -> tuple[float, float, float]:
    """The share of rows that are so in the second table less that in the first, with its interval.

    The limits of Wilson's intervals for both shares, put together as R. G. Newcombe does, Statistics in Medicine 17
    (1998), 873-890 (independent rows, method 10) and 2635-2650 (pairs, with the correlation of both).  Rows in groups
    count as many as independent ones with their variance would be.

    ``is_so`` is of all rows (N,).  Returns the estimate and the two limits, NaN for what cannot be estimated.
    """
    sizes = np.array(units.sizes, dtype=np.float64)
    if sizes.min() < 1.0:
        return math.nan, *NOTHING
    so = is_so.astype(np.float64)
    table = units.table
    shares = np.bincount(table, weights=so, minlength=2) / sizes
    estimate = float(shares[1] - shares[0])
    counted, correlation = sizes, 0.0
    if not units.alone:
        residuals = units.sums(so - shares[table])[:, 0]
        if units.paired:
            product = math.sqrt(float((shares * (1.0 - shares) * sizes).prod()))
            correlation = float((residuals[:, 0] * residuals[:, 1]).sum()) / product if product else 0.0
        else:
            groups = np.array([np.unique(units.codes[table == j]).size for j in (0, 1)], dtype=np.float64)
            if groups.min() < FEWEST:
                return estimate, *NOTHING
            variances = groups / (groups - 1.0) * (residuals**2).sum(axis=0) / sizes**2
            with np.errstate(divide="ignore", invalid="ignore"):
                counted = np.where(variances > 0.0, shares * (1.0 - shares) / variances, groups)
            counted = np.minimum(counted, sizes)
    low, high = _wilson(shares, counted, confidence)
    down = (shares[1] - low[1], high[0] - shares[0])
    up = (high[1] - shares[1], shares[0] - low[0])
    below, above = (
        math.sqrt(max(a**2 + b**2 - 2.0 * correlation * a * b, 0.0)) for a, b in (down, up)
    )  # fmt: skip
    return estimate, estimate - below, estimate + above


def _wilson(shares: np.ndarray, counted: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's limits for shares of so many rows."""
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2.0) ** 2
    centre = (shares + z2 / (2.0 * counted)) / (1.0 + z2 / counted)
    reach = np.sqrt(z2 * shares * (1.0 - shares) / counted + z2**2 / (4.0 * counted**2)) / (1.0 + z2 / counted)
    return centre - reach, centre + reach
