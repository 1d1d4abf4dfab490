"""How a column differs between two tables: location, spread, shares and missing values, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from shrinktest._check import Array
from shrinktest.effects.separability import area_of
from shrinktest.tables.changes import MEDIAN, MISSING, POSITION, SHARE, SPREAD, Change, shares
from shrinktest.tables.column import Column
from shrinktest.tables.intervals import NOTHING, Units, difference_of_shares
from shrinktest.units import means, near_one

#: Units (rows, pairs, groups) in each table below which a ratio of interquartile ranges has no interval.
FEWEST_FOR_SPREAD = 10
_WIDEST = 0.2  # how far from a quartile, in shares of the rows, its slope is looked for


def changes(first: Column, second: Column, units: Units, confidence: float) -> tuple[Change, ...]:
    """Estimate how a column differs between two tables, in every respect that its kind has.

    The columns have the same levels, ``units`` are those of all their rows, and ``confidence`` is that of each interval
    by itself.  Location and spread come first, then shares, the one that changed most before the others.  Of two
    categories there is only the share of the first, and of True and False that of True, which say all.  Pairs that
    miss a value are left out.
    """
    missing = np.concatenate([first.missing(), second.missing()])
    if units.paired:
        missing = np.tile(np.logical_or(*np.split(missing, 2)), 2)
    size = len(first)
    first, second = first.taken(~missing[:size]), second.taken(~missing[size:])
    units = units.taken(~missing)
    if min(units.sizes) == 0:
        return ()
    found: list[Change] = []
    if not first.categorical:
        numbers = first.numbers(), second.numbers()
        ordered = first.kind == "ordered"
        before, after = (float(np.mean(one)) if ordered else median(one) for one in numbers)
        found.append(Change(POSITION if ordered else MEDIAN, "", before, after, *larger(*numbers, units, confidence)))
        if not ordered and min(units.sizes) > 1:
            before, after = (Middle.of(one).width for one in numbers)
            found.append(Change(SPREAD, "", before, after, *ratio_of_widths(*numbers, units, confidence)))
    if first.levels:
        found += sorted(_shares(first, second, units, confidence), key=lambda change: -abs(change.estimate))
    return tuple(found)


def missing_change(first: Column, second: Column, units: Units, confidence: float) -> Change | None:
    """Estimate how the share of missing values differs between two tables; None if there are none."""
    missing = np.concatenate([first.missing(), second.missing()])
    if not missing.any():
        return None
    a, b = (float(column.missing().mean()) for column in (first, second))
    return Change(MISSING, "", a, b, *difference_of_shares(missing, units, confidence))


def _shares(first: Column, second: Column, units: Units, confidence: float) -> list[Change]:
    found, codes = shares(first, second), np.concatenate([first.values, second.values])
    if first.kind == "boolean":
        found = [one for one in found if one[0] == "True"]
    elif len(found) == 2:
        found = found[:1]
    return [
        Change(SHARE, level, a, b, *difference_of_shares(codes == first.levels.index(level), units, confidence))
        for level, a, b in found
    ]


# --- location -----------------------------------------------------------------------------------------------


def median(values: Array) -> float:
    """Return the median of values (n,), which may be as large as numbers can be."""
    return float(means(np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]))


def larger(first: Array, second: Array, units: Units, confidence: float) -> tuple[float, float, float]:
    """Estimate the probability that a value of the second table is larger than one of the first, ties counted half.

    This is the area under the ROC curve (AUC) of the values, with the interval of :class:`Area`.  Values of one pair or
    group are not compared with each other.  Returns the estimate and the two limits, NaN for what is not estimated.
    """
    ranks = np.unique(np.concatenate([first, second]), return_inverse=True)[1]
    if min(units.sizes) < 2:
        return math.nan, *NOTHING
    codes = np.unique(units.codes, return_inverse=True)[1]
    area = area_of(-1.0 * ranks, units.table == 1, np.zeros_like(ranks), codes, 0.0)
    return area.value, *area.interval(confidence)


# --- spread -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Middle:
    """The range of the middle half of values, with what every value adds to it.

    Quartiles are those of the mid-distribution function, which are between the values if many of these are equal, and
    asymptotically normal then, too: Y. Ma, M. G. Genton and E. Parzen, Asymptotic properties of sample quantiles of
    discrete distributions, Annals of the Institute of Statistical Mathematics 63 (2011), 227-243.
    """

    values: Array  # (n,)
    distinct: Array  # (k,): the different values, in their order
    heights: Array  # (k,): the mid-distribution function at these

    @classmethod
    def of(cls, values: Array) -> Middle:
        """The middle half of values (n,), none of which is missing."""
        distinct, counts = np.unique(values, return_counts=True)
        return cls(values, distinct, (np.cumsum(counts) - 0.5 * counts) / len(values))

    def quantile(self, share: float) -> float:
        """The quantile by linear interpolation of the mid-distribution function."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.interp(share, self.heights, self.distinct))

    @property
    def width(self) -> float:
        """The interquartile range."""
        return self.quantile(0.75) - self.quantile(0.25)

    @property
    def influences(self) -> Array:
        """What every value (n,) adds to the interquartile range, times their number n."""
        return self._influences(0.75) - self._influences(0.25)

    def _influences(self, share: float) -> Array:
        """What every value adds to a quantile: its place below or above, times the slope of the quantile function.

        The slope is taken over the width of P. Hall and S. J. Sheather, Journal of the Royal Statistical Society B 50
        (1988), 381-391.
        """
        normal = NormalDist()
        z = normal.inv_cdf(share)
        cube = normal.inv_cdf(0.975) ** 2 * 1.5 * normal.pdf(z) ** 2 / (2.0 * z**2 + 1.0) / len(self.values)
        reach = min(cube ** (1.0 / 3.0), _WIDEST)
        slope = (self.quantile(share + reach) - self.quantile(share - reach)) / (2.0 * reach)
        place = int(np.clip(np.searchsorted(self.heights, share), 1, len(self.heights) - 1))
        low, high = self.heights[place - 1 : place + 1]
        part = min(max((share - low) / (high - low), 0.0), 1.0)
        below = sum(
            weight * 0.5 * (1.0 * (self.values < at) + (self.values <= at))
            for weight, at in zip((1.0 - part, part), self.distinct[place - 1 : place + 1], strict=True)
        )
        return np.asarray(slope * (np.mean(below) - below))


def ratio_of_widths(first: Array, second: Array, units: Units, confidence: float) -> tuple[float, float, float]:
    """Estimate the ratio of interquartile ranges, second over first, with its interval.

    The interval is one of its logarithm, with the variances of both tables by the influence of their units, and the
    degrees of freedom of B. L. Welch, Biometrika 34 (1947), 28-35.  Returns the estimate and the two limits, NaN for
    what cannot be estimated.
    """
    values = near_one(np.concatenate([first, second]))  # so that squares do not overflow
    middles = [Middle.of(part) for part in np.split(values, [len(first)])]
    widths = [one.width for one in middles]
    if min(widths) <= 0.0:
        return math.nan, *NOTHING
    ratio = widths[1] / widths[0]
    each = np.concatenate(
        [one.influences / (width * len(one.values)) for one, width in zip(middles, widths, strict=True)]
    )
    sums, there = units.sums(each, np.ones_like(each)).transpose(1, 0, 2)
    parts = [sums[:, 1] - sums[:, 0]] if units.paired else [sums[there[:, j] > 0.0, j] for j in (0, 1)]
    counts = np.array([len(part) for part in parts], dtype=np.float64)
    if counts.min() < FEWEST_FOR_SPREAD:
        return ratio, *NOTHING
    variances = counts / (counts - 1.0) * np.array([float(part @ part) for part in parts])
    variance = float(variances.sum())
    if not 1e-24 < variance < math.inf:  # nothing but rounding
        return ratio, *NOTHING
    from scipy.special import stdtrit

    freedom = variance**2 / float((variances**2 / (counts - 1.0)).sum())
    reach = float(stdtrit(freedom, 0.5 + confidence / 2.0)) * math.sqrt(variance)
    return ratio, ratio * math.exp(-reach), ratio * math.exp(reach)
