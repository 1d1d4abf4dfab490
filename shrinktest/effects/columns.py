"""Changes of a column between tables: location, spread, shares, missing values, intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import Array
from shrinktest.data.column import Column
from shrinktest.effects.differences import (
    Adjustment,
    SampleContrast,
    adjusted_area,
    difference_of_medians,
)
from shrinktest.effects.jackknife import FEWEST
from shrinktest.effects.row_units import RowUnits
from shrinktest.effects.separability import roc_area
from shrinktest.results.columns import (
    MEAN_DIFFERENCE,
    MEDIAN,
    MEDIAN_DIFFERENCE,
    MISSING,
    POSITION,
    SHARE,
    SPREAD,
    Change,
    shares,
)
from shrinktest.units import means, near_one

#: Units (rows, pairs, groups) of each table that the interval of a ratio of interquartile ranges
#: takes.
FEWEST_FOR_SPREAD = 10

_NOTHING = (math.nan, math.nan)  # limits of an interval that is not estimated
_QUARTILES = np.array([0.25, 0.75])
# Of the grid on an ellipsoid: the largest value of a smooth function is missed by about 1%.
_ANGLES = 6  # in each of three dimensions
_RADII = 8
_ROUNDING = 1e-12  # of a variance, relative to the largest


def changes(
    first: Column,
    second: Column,
    units: RowUnits,
    confidence: float,
    adjustment: Adjustment | None = None,
) -> tuple[Change, ...]:
    """Estimate how a column differs between two tables, in every respect that its kind has.

    The columns have the same levels, ``units`` identify all their rows, and ``confidence`` holds
    for each interval by itself.  Location and spread come first, then differences of means and
    medians, then shares by the size of their change: of True and False the share of True, of two
    categories the share of the first.  With an ``adjustment`` adjusted effects come last.  Pairs
    that miss a value are left out.
    """
    missing = np.concatenate([first.missing(), second.missing()])
    size = len(first)
    if units.paired:
        missing = np.tile(np.logical_or(*np.split(missing, 2)), 2)
    first = first.taken(~missing[:size])
    second = second.taken(~missing[size:])
    units = units.taken(~missing)
    if min(units.sizes) == 0:
        return ()
    crude = SampleContrast(units)
    contrast = None if adjustment is None else SampleContrast(units, adjustment.taken(~missing))
    out: list[Change] = []
    adjusted: list[Change] = []
    if not first.categorical:
        samples = (first.numbers(), second.numbers())
        origin = None
        if first.kind == "date":  # days since 1970 have no nanoseconds
            origin = min(first.values.min(), second.values.min())
        numbers = (first.numbers(origin), second.numbers(origin))
        out += _changes_of_numbers(first.kind, samples, numbers, crude, confidence)
        if contrast is not None:
            area = adjusted_area(np.concatenate(numbers), contrast, confidence)
            adjusted.append(_with_estimate(out[0], area))
            adjusted += [
                _with_estimate(change, contrast.estimate(np.concatenate(numbers), confidence))
                for change in out
                if change.what == MEAN_DIFFERENCE
            ]
    if first.levels:
        levels = shares(first, second)
        codes = np.concatenate([first.values, second.values])
        if first.kind == "boolean":
            levels = [level for level in levels if level[0] == "True"]
        changed = []
        for name, a, b in levels[:1] if len(levels) == 2 else levels:
            is_so = codes == first.levels.index(name)
            estimates = difference_of_shares(is_so, units, confidence)
            changed.append(Change(SHARE, name, a, b, *estimates))
            if contrast is not None:
                of_share = contrast.estimate(is_so.astype(np.float64), confidence)
                adjusted.append(_with_estimate(changed[-1], of_share))
        out += sorted(changed, key=lambda change: -abs(change.estimate))
    words = "" if adjustment is None else adjustment.words
    return (*out, *(replace(change, adjusted_for=words) for change in adjusted))


def _changes_of_numbers(
    kind: str,
    samples: tuple[Array, Array],
    numbers: tuple[Array, Array],
    contrast: SampleContrast,
    confidence: float,
) -> list[Change]:
    """Return the changes of numbers, or of ordered categories.

    ``numbers`` are those of ``samples``, but dates from the earliest one on.
    """
    ordered = kind == "ordered"
    units = contrast.units
    what, center = (POSITION, np.mean) if ordered else (MEDIAN, median)
    before, after = (float(center(values)) for values in samples)
    out = [Change(what, "", before, after, *larger(*numbers, units, confidence))]
    if ordered:
        return out
    if min(units.sizes) > 1:
        width, second_width = (Middle(values).width for values in numbers)
        out.append(
            Change(SPREAD, "", width, second_width, *ratio_of_widths(*numbers, units, confidence))
        )
    mean, second_mean = (float(means(values)) for values in samples)
    of_means = contrast.estimate(np.concatenate(numbers), confidence)
    of_medians = difference_of_medians(*numbers, units, confidence)
    out.append(Change(MEAN_DIFFERENCE, "", mean, second_mean, *of_means))
    out.append(Change(MEDIAN_DIFFERENCE, "", before, after, *of_medians))
    return out


def _with_estimate(change: Change, estimates: tuple[float, float, float]) -> Change:
    """Return a change with another estimate and interval."""
    estimate, low, high = estimates
    return replace(change, estimate=estimate, low=low, high=high)


def missing_change(
    first: Column, second: Column, units: RowUnits, confidence: float
) -> Change | None:
    """Estimate how the share of missing values differs between two tables.

    None if there are none.
    """
    missing = np.concatenate([first.missing(), second.missing()])
    if not missing.any():
        return None
    before, after = (float(column.missing().mean()) for column in (first, second))
    return Change(MISSING, "", before, after, *difference_of_shares(missing, units, confidence))


def median(values: Array) -> float:
    """Return the median of values (n,) without overflow."""
    return float(means(np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]))


def larger(
    first: Array, second: Array, units: RowUnits, confidence: float
) -> tuple[float, float, float]:
    """Estimate the probability that a value of the second table exceeds one of the first.

    Ties are counted half.

    This is the area under the ROC curve (AUC) of the values.  Values of one pair or group are not
    compared with each other.  Returns the estimate and the limits of its interval, NaN for what is
    not estimated.
    """
    if min(units.sizes) < 2:
        return math.nan, *_NOTHING
    ranks, codes = (
        np.unique(v, return_inverse=True)[1] for v in (np.concatenate([first, second]), units.codes)
    )
    area = roc_area(-1.0 * ranks, units.table == 1, np.zeros_like(ranks), codes, 0.0)
    return area.value, *area.interval(confidence)


class Middle:
    """The middle half of values (n,), between their quartiles.

    Quartiles refer to the mid-distribution function: Y. Ma, M. G. Genton and E. Parzen, Asymptotic
    properties of sample quantiles of discrete distributions, Annals of the Institute of Statistical
    Mathematics 63 (2011), 227-243.
    """

    def __init__(self, values: Array) -> None:
        self.values = values
        self.distinct, counts = np.unique(values, return_counts=True)
        self.heights = (np.cumsum(counts) - 0.5 * counts) / len(
            values
        )  # the mid-distribution function

    def quantiles(self, shares: Array) -> Array:
        """Return quantiles by linear interpolation of the mid-distribution function."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.interp(shares, self.heights, self.distinct)

    @property
    def width(self) -> float:
        """The interquartile range."""
        return float(np.diff(self.quantiles(_QUARTILES))[0])

    def widths(self, shifts: Array) -> Array:
        """Return widths (k,) between quantiles with shifted shares.

        Shares are shifted (k, 2) from those of the quartiles.
        """
        quantiles = self.quantiles(_QUARTILES + shifts)
        return np.asarray(quantiles[:, 1] - quantiles[:, 0])

    def influences(self) -> Array:
        """Return the influence (2, n) of values on the mid-distribution at both quartiles.

        It is their influence on the mid-distribution function.
        """
        below = []
        for share in _QUARTILES:
            # the share of values below, ties counted half, between two distinct values
            place = int(np.clip(np.searchsorted(self.heights, share), 1, len(self.heights) - 1))
            low, high = self.distinct[place - 1 : place + 1]
            part = float(np.interp(share, self.heights[place - 1 : place + 1], [0.0, 1.0]))
            influence = (
                np.sign(low - self.values) * (1.0 - part) + np.sign(high - self.values) * part
            ) / 2.0
            below.append((influence - influence.mean()) / len(influence))
        return np.stack(below)


def ratio_of_widths(
    first: Array, second: Array, units: RowUnits, confidence: float
) -> tuple[float, float, float]:
    """Estimate the ratio of interquartile ranges, second over first, with an interval.

    The interval holds the ratios for all shares below the quartiles that a confidence ellipsoid
    allows.  Quantiles at these shares are what R. S. Woodruff, Journal of the American Statistical
    Association 47 (1952), 635-646, takes as limits of one quantile: no density is estimated, and
    they are right where few values have large shares, such as 0 and 1 in halves, and the quantile
    function has a kink.  For smooth distributions the length is that of the delta method.  Returns
    the estimate and the two limits, NaN for what cannot be estimated.
    """
    values = near_one(np.concatenate([first, second]))
    middles = [Middle(part) for part in np.split(values, [len(first)])]
    widths = [middle.width for middle in middles]
    if min(widths) <= 0.0:
        return math.nan, *_NOTHING
    ratio = widths[1] / widths[0]
    sums, present = _units_at_quartiles(middles, units)
    counts = present.sum(axis=0)
    if counts.min() < FEWEST_FOR_SPREAD:
        return ratio, *_NOTHING
    from scipy.special import stdtrit

    reach = stdtrit(counts - 1.0, 0.5 + confidence / 2.0) * np.sqrt(counts / (counts - 1.0))
    sums *= np.tile(reach, 2)  # columns are the first quartile in both tables, then the third
    shifts = _within_ellipsoid(sums.T @ sums)
    wide = np.stack([middle.widths(shifts[:, [j, 2 + j]]) for j, middle in enumerate(middles)])
    if wide.min() <= 0.0:
        return ratio, *_NOTHING
    ratios = np.append(wide[1] / wide[0], ratio)
    return ratio, float(ratios.min()), float(ratios.max())


def _units_at_quartiles(middles: list[Middle], units: RowUnits) -> tuple[Array, NDArray[np.bool_]]:
    """Return the influences of units (units, 4) on the shares below the quartiles.

    Return also in which tables the units have rows.

    Columns are the first quartile in both tables, then the third.
    """
    influences = np.concatenate([middle.influences() for middle in middles], axis=1)
    sums = units.sums(influences[0], influences[1], np.ones(influences.shape[1]))
    return sums[:, :2].reshape(len(sums), 4), sums[:, 2] > 0.0


def _within_ellipsoid(covariance: Array) -> Array:
    """Return the points (k, 4) of an ellipsoid where functions are largest or smallest.

    The functions grow along some axes.

    Of a function with gradient g this is at C g / sqrt(g' C g).  Gradients are those of a logarithm
    of two widths, with all proportions of the four quartiles; kinks may be inside, at the same
    directions nearer to the center.
    """
    angles = np.linspace(0.0, np.pi / 2.0, _ANGLES)
    table, left, right = (
        grid.ravel() for grid in np.meshgrid(angles, angles, angles, indexing="ij")
    )
    lower = [np.sin(table) * np.sin(left), -np.cos(table) * np.sin(right)]
    upper = [-np.sin(table) * np.cos(left), np.cos(table) * np.cos(right)]
    gradients = np.stack([*lower, *upper], axis=1)
    points = gradients @ covariance
    squares = (points * gradients).sum(axis=1)
    vary = squares > _ROUNDING * np.trace(covariance)
    points = points[vary] / np.sqrt(squares[vary, None])
    radii = np.linspace(-1.0, 1.0, 2 * _RADII + 1)
    return np.asarray((radii[:, None, None] * points).reshape(-1, 4))


def difference_of_shares(
    is_so: np.ndarray, units: RowUnits, confidence: float
) -> tuple[float, float, float]:
    """Estimate the share of rows (N,) that are so in the second table less that in the first.

    The limits of Wilson's intervals for both shares, put together as R. G. Newcombe does,
    Statistics in Medicine 17 (1998), 873-890 (independent rows, method 10) and 2635-2650 (pairs,
    with the correlation of both).  Rows in groups count as many as independent ones with their
    variance would be.  Returns the estimate and the two limits, NaN for what cannot be estimated.
    """
    sizes = np.array(units.sizes, dtype=np.float64)
    if sizes.min() < 1.0:
        return math.nan, *_NOTHING
    so = is_so.astype(np.float64)
    table = units.table
    both = np.bincount(table, weights=so, minlength=2) / sizes
    estimate = float(both[1] - both[0])
    counted = sizes
    correlation = 0.0
    if not units.alone:
        residuals = units.sums(so - both[table])[:, 0]
        if units.paired:
            product = math.sqrt(float((both * (1.0 - both) * sizes).prod()))
            correlation = (
                float((residuals[:, 0] * residuals[:, 1]).sum()) / product if product else 0.0
            )
        else:
            groups = np.array(
                [np.unique(units.codes[table == j]).size for j in (0, 1)], dtype=np.float64
            )
            if groups.min() < FEWEST:
                return estimate, *_NOTHING
            variances = groups / (groups - 1.0) * (residuals**2).sum(axis=0) / sizes**2
            with np.errstate(divide="ignore", invalid="ignore"):
                counted = np.where(variances > 0.0, both * (1.0 - both) / variances, groups)
            counted = np.minimum(counted, sizes)
    low, high = _wilson(both, counted, confidence)
    down = (both[1] - low[1], high[0] - both[0])
    up = (high[1] - both[1], both[0] - low[0])
    below, above = (
        math.sqrt(max(a**2 + b**2 - 2.0 * correlation * a * b, 0.0)) for a, b in (down, up)
    )
    return estimate, estimate - below, estimate + above


def _wilson(
    shares: np.ndarray, counted: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's limits for shares of so many rows."""
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2.0) ** 2
    center = (shares + z2 / (2.0 * counted)) / (1.0 + z2 / counted)
    reach = np.sqrt(z2 * shares * (1.0 - shares) / counted + z2**2 / (4.0 * counted**2)) / (
        1.0 + z2 / counted
    )
    return center - reach, center + reach
