"""Differences of means and of medians between two samples, and adjusted ones, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from shrinktest._check import Array
from shrinktest.effects.jackknife import FEWEST
from shrinktest.effects.row_units import RowUnits
from shrinktest.effects.separability import comparisons, roc_area

_NOTHING = (math.nan, math.nan)  # limits of an interval that is not estimated
_ANGLES = 33  # on a quarter of an ellipse; the largest value of a smooth function is missed by .03%
_ROUNDING = 1e-9  # of a part of a unit vector


@dataclass(frozen=True, eq=False)
class Adjustment:
    """Variables that effects are adjusted for: blocks of rows, or covariates."""

    words: str  # after "adjusted for"
    blocks: np.ndarray | None = None  # (N,): codes of blocks; None if all rows are compared
    covariates: Array | None = None  # (N, p): numbers, and indicators of categories

    def taken(self, keep: np.ndarray) -> Adjustment:
        """Return the adjustment of the rows that are kept."""
        blocks = None if self.blocks is None else self.blocks[keep]
        covariates = None if self.covariates is None else self.covariates[keep]
        return replace(self, blocks=blocks, covariates=covariates)


@dataclass(frozen=True)
class MeanDifference:
    """An estimated difference of means, with its standard error."""

    value: float
    error: float  # NaN if it is not estimated
    freedom: float  # degrees of freedom of the error
    units: tuple[int, int]  # independent units of both samples

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the limits of the interval; NaN without an error."""
        if not self.error > 0.0:  # also if it is NaN
            return self.value + self.error, self.value + self.error
        from scipy.special import stdtrit

        reach = float(stdtrit(self.freedom, 0.5 + confidence / 2.0)) * self.error
        return self.value - reach, self.value + reach

    def below(self, margin: float) -> tuple[float, float]:
        """Return how far the absolute difference is below a margin, and the p-value.

        The p-value is for the hypothesis "margin or more", by two one-sided tests: p <= alpha
        exactly if the interval of confidence 1 - 2 alpha is within the margin on both sides.  The
        first is in standard errors.  NaN without an error.
        """
        if not self.error > 0.0:
            return math.nan, math.nan
        from scipy.special import stdtr

        t = (abs(self.value) - margin) / self.error
        return t, float(stdtr(self.freedom, t))


class SampleContrast:
    """The least-squares coefficient of the sample, as a linear function of the values of all rows.

    The regression has a mean for every block, and a slope for every covariate (analysis of
    covariance).  Without these it is the difference of means.  Within blocks it is the average of
    their differences, with the weights m n / (m + n) for m and n rows.
    """

    def __init__(self, units: RowUnits, adjustment: Adjustment | None = None) -> None:
        table = units.table
        rows = len(table)
        blocks = np.zeros(rows, dtype=np.int64)
        if adjustment is not None and adjustment.blocks is not None:
            blocks = np.unique(adjustment.blocks, return_inverse=True)[1]
        self.units = units
        self.blocks = blocks  # (N,): whole numbers from 0
        self.counts = np.bincount(blocks).astype(np.float64)
        self.covariates = np.empty((rows, 0))
        if adjustment is not None and adjustment.covariates is not None:
            self.covariates = _orthonormal(self.within(adjustment.covariates))
        sample = self.within(table[:, None].astype(np.float64))[:, 0]
        alone = sample - self.covariates @ (self.covariates.T @ sample)
        square = float(alone @ alone)
        self.known = square > _ROUNDING * max(float(sample @ sample), _ROUNDING)
        length = math.sqrt(square) if self.known else math.inf
        self.shared = self.covariates.T @ sample  # (r,): of the sample with covariates
        self.direction = alone / length  # (N,), of length 1
        self.weights = self.direction / length  # (N,): the contrast of the values
        self.counted = np.abs(self.weights) > _ROUNDING * np.abs(self.weights).max(initial=0.0)
        self.basis = np.column_stack([self.covariates, self.direction])

    def within(self, values: Array) -> Array:
        """Return values (N, k) less the mean of their block."""
        sums = np.zeros((len(self.counts), values.shape[1]))
        np.add.at(sums, self.blocks, values)
        return np.asarray(values - (sums / self.counts[:, None])[self.blocks])

    def residuals(self, values: Array) -> Array:
        """Return the residuals (N,) of the regression."""
        left = self.within(values[:, None])[:, 0]
        return np.asarray(left - self.basis @ (self.basis.T @ left))

    def less_covariates(self, values: Array) -> tuple[Array, Array]:
        """Return values (N,) less their slopes times the covariates, and what rows add to slopes.

        The latter are (N, r), for as many orthonormal combinations of the covariates.
        """
        difference = float(self.weights @ values)
        slopes = self.covariates.T @ values - self.shared * difference
        shares = self.covariates - np.outer(self.weights, self.shared)
        added = shares * self._freed(self.residuals(values))[:, None]
        return np.asarray(values - self.covariates @ slopes), np.asarray(added)

    def _freed(self, left: Array) -> Array:
        """Return residuals (N,) over the root of one minus the leverage of their row."""
        leverages = 1.0 / self.counts[self.blocks] + np.square(self.basis).sum(axis=1)
        free = np.sqrt(np.maximum(1.0 - leverages, 0.0))
        return np.divide(left, free, out=np.zeros_like(left), where=free > _ROUNDING)

    def influences(self, values: Array) -> tuple[Array, np.ndarray]:
        """Return what units add to the estimate (units,), and the samples that they are in.

        Residuals of a unit are divided by the root of one minus its leverage (R. M. Bell and D. F.
        McCaffrey, Survey Methodology 28 (2002), 169-181), so that the sum of squares is unbiased if
        the variance is the same everywhere.  For differences of means it is the jackknife variance.
        Samples are numbered 1 and 2, and 3 is both.
        """
        codes = np.unique(self.units.codes, return_inverse=True)[1]
        count = int(codes.max()) + 1
        left = self.residuals(values)
        sizes = np.bincount(codes, minlength=count)
        parts = [self.counted & (self.units.table == j) for j in (0, 1)]
        present = [np.bincount(codes[part], minlength=count) > 0 for part in parts]
        samples = present[0] + 2 * present[1]
        plain = self.basis.shape[1] == 1 and len(self.counts) == 1
        if plain and (self.units.paired or samples.max() < 3):  # leverages by their shares of rows
            sums = np.bincount(codes, weights=self.weights * left, minlength=count)
            free = 1.0 - sizes / np.array([1, *self.units.sizes, sum(self.units.sizes)])[samples]
            return sums / np.sqrt(np.where(free > 0.0, free, np.inf)), samples
        out = np.bincount(codes, weights=self.weights * self._freed(left), minlength=count)
        for unit, rows in _units_of_several_rows(codes, sizes):
            out[unit] = self._of_several_rows(rows, left[rows])
        return np.asarray(out, dtype=np.float64), samples

    def _of_several_rows(self, rows: np.ndarray, left: Array) -> float:
        """Return what a unit of several rows adds to the estimate."""
        own, places = np.unique(self.blocks[rows], return_inverse=True)
        basis = np.zeros((len(rows), len(own) + self.basis.shape[1]))
        basis[np.arange(len(rows)), places] = 1.0 / np.sqrt(self.counts[self.blocks[rows]])
        basis[:, len(own) :] = self.basis[rows]
        leverages, axes = np.linalg.eigh(basis.T @ basis)
        seen = leverages > _ROUNDING
        free = np.sqrt(np.maximum(1.0 - leverages[seen], 0.0))
        factors = np.divide(1.0, free, out=np.zeros_like(free), where=free > _ROUNDING) - 1.0
        directions = basis @ axes[:, seen]
        parts = (directions.T @ left) / leverages[seen]
        return float(self.weights[rows] @ (left + directions @ (factors * parts)))

    def estimate(self, values: Array, confidence: float) -> tuple[float, float, float]:
        """Return the coefficient of values (N,), and the limits of its interval.

        NaN for what is not estimated.
        """
        difference = self.difference(values)
        return (difference.value, *difference.interval(confidence))

    def difference(self, values: Array) -> MeanDifference:
        """Return the coefficient of values (N,), with its error.

        Degrees of freedom are those of B. L. Welch, Biometrika 34 (1947), 28-35; blocks and
        covariates take some in proportion to their number.
        """
        if not self.known:
            return MeanDifference(math.nan, math.nan, math.nan, (0, 0))
        small, size = _in_range(values)
        value = size * float(self.weights @ small)
        influences, samples = self.influences(small)
        variances, counts = jackknife_by_sample(influences, samples)
        units = _units_of_both(samples)
        total = float(counts.sum())
        blocks = np.unique(self.blocks[self.counted]).size
        left = total - blocks - self.basis.shape[1]
        variance = float(variances.sum())
        if min(units) < FEWEST or counts.min() < 2.0 or left < 1.0 or not math.isfinite(variance):
            return MeanDifference(value, math.nan, math.nan, units)
        if variance == 0.0:
            return MeanDifference(value, 0.0, math.inf, units)
        freedom = variance**2 / float((np.square(variances) / (counts - 1.0)).sum())
        freedom = max(freedom * min(left / max(total - 2.0, 1.0), 1.0), 1.0)
        return MeanDifference(value, size * math.sqrt(variance), freedom, units)


def _in_range(values: Array) -> tuple[Array, float]:
    """Return values (N,) less one of them, and divided by a power of two, and this power.

    Squares then neither overflow nor vanish.
    """
    halves = 0.5 * values - 0.5 * float(values[len(values) // 2])
    largest = float(np.abs(halves).max())
    exponent = int(np.frexp(largest)[1]) if math.isfinite(largest) else 0
    exponent = min(max(exponent, -1000), 1000)
    return np.asarray(np.ldexp(halves, -exponent)), float(np.ldexp(2.0, exponent))


def adjusted_area(
    values: Array, contrast: SampleContrast, confidence: float
) -> tuple[float, float, float]:
    """Estimate the probability that a value of the second sample is larger, after adjustment.

    Values (N,) less their slopes times the covariates are compared within blocks (H. Janes and M.
    S. Pepe, Biometrika 96 (2009), 371-382, on areas adjusted for covariates).  Ties count half.
    The interval allows for the error of the slopes, but not where most values less the true slopes
    are tied, and only errors of the slopes tell them apart.  NaN for what is not estimated.
    """
    units = contrast.units
    if min(units.sizes) < 2 or not contrast.known:
        return math.nan, *_NOTHING
    second = units.table == 1
    codes = np.unique(units.codes, return_inverse=True)[1]
    scores = _in_range(values)[0]
    further = np.zeros(len(values))
    if contrast.covariates.shape[1]:
        scores, added = contrast.less_covariates(scores)
        scores = np.rint(scores / _ROUNDING) * _ROUNDING  # ties stay ties
        for column, influences in zip(contrast.covariates.T, added.T, strict=True):
            further += influences * _slope(scores, column, influences, second, contrast.blocks)
    ranks = np.unique(scores, return_inverse=True)[1]
    area = roc_area(-1.0 * ranks, second, contrast.blocks, codes, 0.0, even=True, further=further)
    return area.value, *area.interval(confidence)


def _slope(
    scores: Array, column: Array, influences: Array, second: np.ndarray, blocks: np.ndarray
) -> float:
    """Return by how much the area grows with the slope of a covariate.

    It is the difference between two standard errors below and above, by the ``influences``.
    """
    step = 2.0 * math.sqrt(float(np.square(influences).sum()))
    if step == 0.0:
        return 0.0
    weights = ~second / (np.bincount(blocks)[blocks] + 1.0)
    areas = []
    for moved in (scores - step * column, scores + step * column):
        won, compared, _ = comparisons(-moved, second, blocks)
        areas.append(float(weights @ won) / float(weights @ compared))
    return (areas[0] - areas[1]) / (2.0 * step)


def difference_of_medians(
    first: Array, second: Array, units: RowUnits, confidence: float
) -> tuple[float, float, float]:
    """Estimate the median of the second sample less that of the first, with an interval.

    A jackknife of medians is inconsistent.  The interval holds the differences of quantiles for all
    shares about one half that a confidence ellipse allows, as R. S. Woodruff, Journal of the
    American Statistical Association 47 (1952), 635-646, takes them for one quantile: no density is
    estimated, and ties only make it longer.  Returns the estimate and the two limits, NaN for what
    is not estimated.
    """
    samples = [np.sort(first), np.sort(second)]
    if min(map(len, samples)) == 0:
        return math.nan, *_NOTHING
    lower, upper = (float(_quantiles(sample, np.array([0.5]))[0]) for sample in samples)
    estimate = upper - lower
    sums = _shares_below(samples, np.concatenate([first, second]), units)
    present = units.sums(np.ones(sum(units.sizes)))[:, 0] > 0.0
    samples_of_units = present @ np.array([1, 2])
    counts = present.sum(axis=0).astype(np.float64)
    if min(_units_of_both(samples_of_units)) < FEWEST:
        return estimate, *_NOTHING
    reach = np.full(2, NormalDist().inv_cdf(0.5 + confidence / 2.0))
    if not units.alone:  # the variance is estimated, and not known
        from scipy.special import stdtrit

        reach = stdtrit(counts - 1.0, 0.5 + confidence / 2.0) * np.sqrt(counts / (counts - 1.0))
    covariance = (sums * reach).T @ (sums * reach)
    angles = np.linspace(0.0, np.pi / 2.0, _ANGLES)
    gradients = np.stack([-np.cos(angles), np.sin(angles)], axis=1)
    shifts = gradients @ covariance
    sizes = np.sqrt(np.maximum((shifts * gradients).sum(axis=1), 0.0))
    shifts = shifts[sizes > 0.0] / sizes[sizes > 0.0, None]
    reached = 0.5 + np.array([1.0, -1.0])[:, None, None] * shifts
    differences = _quantiles(samples[1], reached[..., 1]) - _quantiles(samples[0], reached[..., 0])
    if not len(shifts) or not np.isfinite(differences).all():
        return estimate, *_NOTHING
    return estimate, float(differences.min()), float(differences.max())


def _shares_below(samples: list[Array], values: Array, units: RowUnits) -> Array:
    """Return what units (units, 2) add to the shares of both samples below their medians.

    Values at the median count half.  The variance of independent rows is one quarter, also with
    ties, where that is too much.
    """
    middles = np.array([float(_quantiles(sample, np.array([0.5]))[0]) for sample in samples])
    table = units.table
    below = 0.5 * np.sign(middles[table] - values)
    sizes = np.array(units.sizes, dtype=np.float64)
    centered = below - (np.bincount(table, weights=below, minlength=2) / sizes)[table]
    squares = np.bincount(table, weights=np.square(centered), minlength=2) / sizes
    scale = np.divide(0.5, np.sqrt(squares), out=np.zeros(2), where=squares > 0.0)
    return np.asarray(units.sums(centered * (scale / sizes)[table])[:, 0])


def _quantiles(ordered: Array, shares: Array) -> Array:
    """Return quantiles of ordered values, linear between them; NaN beyond the outermost.

    The median is that of the values.
    """
    places = shares * len(ordered) - 0.5
    out = np.interp(places, np.arange(len(ordered)), ordered)
    inside = (places >= -_ROUNDING) & (places <= len(ordered) - 1.0 + _ROUNDING)
    return np.where(inside, out, np.nan)


def jackknife_by_sample(influences: Array, samples: np.ndarray) -> tuple[Array, Array]:
    """Return the sums of squares of units in the first, the second and in both samples.

    Return also the numbers of units; samples without units are left out.
    """
    counts = np.bincount(samples, minlength=4)[1:].astype(np.float64)
    sums = np.bincount(samples, weights=np.square(influences), minlength=4)[1:].astype(np.float64)
    return sums[counts > 0.0], counts[counts > 0.0]


def _units_of_both(samples: np.ndarray) -> tuple[int, int]:
    """Return the numbers of units of both samples."""
    counts = np.bincount(samples, minlength=4)
    return int(counts[1] + counts[3]), int(counts[2] + counts[3])


def _units_of_several_rows(
    codes: np.ndarray, sizes: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Return the units of more than one row, with their rows."""
    order = np.argsort(codes, kind="stable")
    stops = np.cumsum(sizes)
    for unit in np.flatnonzero(sizes > 1):
        yield int(unit), order[stops[unit] - sizes[unit] : stops[unit]]


def _orthonormal(columns: Array) -> Array:
    """Return orthonormal columns (N, r) that span the same space."""
    lengths = np.sqrt(np.square(columns).sum(axis=0))
    columns = columns[:, lengths > 0.0] / lengths[lengths > 0.0]
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-7 * sizes.max(initial=0.0)])
