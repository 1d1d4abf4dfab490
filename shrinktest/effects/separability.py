"""How well the witness function tells two samples apart: the area under its ROC curve, fitted on folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from shrinktest.effects.inner_products import InnerProducts
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.statistics.features import Features
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.statistic import part_weights, scales

FEWEST = 5  # units of each sample, and so folds, that leave enough to fit a witness function to

_ROUNDING = 1e-12  # of the terms of a witness function: smaller values are 0 but for rounding
_SAME = 1e-9  # of the largest score: those that differ by less are the same but for rounding

_GRID = np.linspace(0.0, 1.0, 1001)  # areas among which the limits of an interval are looked for


# --- scores of rows that a witness function has not seen ------------------------------------------------------------


def fold_codes(
    units: np.ndarray, cells: np.ndarray, count: int, rng: np.random.Generator, *, together: int = 1
) -> np.ndarray:
    """The fold 0, ..., count - 1 of every row (N,): whole units, shared out evenly within their cells.

    So many cells ``together``, one after the other, begin with the same fold: a block of few rows has both samples in
    its folds.
    """
    size = int(units.max()) + 1
    cell = np.empty(size, dtype=np.int64)
    cell[units[::-1]] = cells[::-1]
    order = np.lexsort((rng.random(size), cell))
    folds, place = np.empty(size, dtype=np.int64), np.arange(size)
    if together > 1:
        sizes = np.bincount(cell)
        sizes = np.append(sizes, np.zeros(-sizes.size % together, dtype=np.int64))
        least = sizes.reshape(-1, together).min(axis=1)
        starts = np.repeat(np.cumsum(least) - least, together)
        place = place - (np.cumsum(sizes) - sizes - starts)[cell[order]]
    folds[order] = place % count
    return np.asarray(folds[units])


@dataclass(frozen=True, eq=False)
class Fit:
    """How witness functions are fitted: those of an estimator, on features or on the points themselves."""

    estimator: MeanEstimator  # tuned already, where it is tuned on the pooled sample
    kernel: Kernel  # of the observations
    # of all observations, with which the estimator works; not used where it changes them with every sample
    features: InnerProducts
    points: np.ndarray  # (N, d)
    tuning: str

    def scores(self, second: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """The witness function at every row (N,), each fitted to the rows of the other folds."""
        if self.estimator.needs == "sums":
            return self._of_sums(second, folds)
        out = np.empty(len(second))
        for k in range(int(folds.max()) + 1):
            held = folds == k
            train, test = np.flatnonzero(~held), np.flatnonzero(held)
            out[test] = _apart(*self._function(train, second[train], test))
        return out

    def evidence(self, second: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """For every fold, the squared distance of the standard means of all others, without bias, shape (folds,).

        In units of about its standard deviation where there is no difference.
        """
        _, blocks, traces, sizes = self._by_fold(second, folds)
        out = np.empty(len(sizes))
        for k in range(len(sizes)):
            left = np.arange(len(sizes)) != k
            between, trace, n = (
                blocks[left][:, :, left].sum(axis=(0, 2)),
                traces[left].sum(axis=0),
                sizes[left].sum(axis=0),
            )
            within = (np.diagonal(between) - trace) / np.maximum(n * (n - 1.0), 1.0)
            out[k] = within.sum() - 2.0 * between[0, 1] / n.prod()
        spread = self.features.spread()
        return out / np.sqrt(spread) if spread > 0.0 else np.zeros_like(out)

    def _by_fold(self, second: np.ndarray, folds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Sums of the features of every fold and sample: at all rows, of one another, of squared lengths; and sizes."""
        count, part = int(folds.max()) + 1, 2 * folds + second
        members = np.zeros((len(second), 2 * count))
        members[np.arange(len(second)), part] = 1.0
        sums = self.features.applied(members)
        blocks = (members.T @ sums).reshape(count, 2, count, 2)
        traces = np.bincount(part, weights=self.features.diagonal(), minlength=2 * count).reshape(count, 2)
        return sums, blocks, traces, np.bincount(part, minlength=2 * count).reshape(count, 2)

    def _of_sums(self, second: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """The same for scaled means, from sums over the rows of every fold."""
        estimator = cast(ScaledMean, self.estimator)
        sums, blocks, traces, sizes = self._by_fold(second, folds)
        count, largest = len(sizes), self._largest
        out = np.empty(len(second))
        for k in range(count):
            left = np.arange(count) != k
            fitted = tuple(map(int, sizes[left].sum(axis=0)))
            between = blocks[left][:, :, left].sum(axis=(0, 2))
            factors = scales(estimator, between[None], traces[left].sum(axis=0)[None], fitted, self.tuning)[0]
            weights = factors / fitted * (1.0, -1.0)
            held = folds == k
            found = sums[held].reshape(-1, count, 2)[:, left].sum(axis=1) @ weights
            out[held] = _apart(found, largest * np.abs(factors).sum())
        return out

    @property
    def _largest(self) -> float:
        """The largest squared norm of the features of a row."""
        return float(np.abs(self.features.diagonal()).max())

    def _function(self, train: np.ndarray, second: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
        """The witness function of some rows at others, and the size of its terms."""
        if self.estimator.needs == "noise":
            samples = [self.points[train[~second]], self.points[train[second]]]
            one, other = estimates_of(self.estimator, self.kernel, samples, self.tuning)
            first, last = one.embedding(self.points[test]), other.embedding(self.points[test])
            return first - last, float(max(np.abs(first).max(), np.abs(last).max()))
        values = self.features.values
        if self.features.by_coordinates:
            known = values[train]
            gram = Features("factor", self.kernel, self.points[train], known=known)
        else:
            gram = Features("dense", self.kernel, self.points[train], made=[values[np.ix_(train, train)]])
        sizes = (int((~second).sum()), int(second.sum()))
        weights = part_weights(self.estimator, gram, sizes, self.tuning)(second[None].astype(np.uint16))[0]
        signed = np.where(second, -weights, weights)
        size = self._largest * float(np.abs(signed).sum())
        if self.features.by_coordinates:
            return values[test] @ (signed @ known), size
        return values[np.ix_(test, train)] @ signed, size


def _apart(scores: np.ndarray, size: float) -> np.ndarray:
    """The scores (n,), equal where only rounding tells them apart: rows with the same values are ties.

    ``size`` is that of the terms that they are sums of.
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    begins = np.diff(ordered, prepend=-np.inf) > _ROUNDING * size + _SAME * np.abs(scores).max()
    least = ordered[begins][np.cumsum(begins) - 1]
    out = np.empty_like(scores)
    out[order] = np.where(np.abs(least) <= _ROUNDING * size, 0.0, least)
    return out


def combined(scores: Sequence[np.ndarray], evidence: Sequence[np.ndarray], folds: np.ndarray) -> np.ndarray:
    """The sum of several functions' scores (N,), each in units of its standard deviation within every fold.

    For every function ``evidence`` (folds,) is how far apart the samples are in the rows that it was fitted to; its
    square is the weight.  Below zero it counts nothing, unless that is so for all of them.
    """
    weights = np.square(np.maximum(np.stack(evidence), 0.0))
    weights[:, weights.sum(axis=0) == 0.0] = 1.0
    total = np.zeros(len(folds))
    counts = np.bincount(folds)
    for one, weight in zip(scores, weights, strict=True):
        centred = one - (np.bincount(folds, weights=one) / counts)[folds]
        spread = np.sqrt(np.bincount(folds, weights=centred**2) / counts)[folds]
        total += weight[folds] * np.divide(one, spread, out=np.zeros_like(one), where=spread > 0.0)
    return total


# --- the area, and its interval -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Area:
    """An area under a ROC curve with its variance."""

    value: float  # the share of pairs in which the row of the first sample has the higher score
    variance: float  # of the scores as they are, by the units' influences
    units: tuple[int, int]  # independent units of both samples
    chance: float  # the share of the witness function's variance that is noise; 0 for scores that nothing was fitted to

    @property
    def has_variance(self) -> bool:
        """Whether there is anything to estimate a variance from."""
        least = 0.25 / max(self.units[0] * self.units[1], 1)
        return min(self.units) >= FEWEST and self.variance > -least  # which NaN is not

    def variance_if(self, area: np.ndarray) -> np.ndarray:
        """The variance of the estimate if the area is this one."""
        m, n = self.units
        least = 0.25 / (m * n)
        size = (self.variance + least) / (float(_hanley(np.array(self.value), m, n)) + least)
        above = self.value - 0.5
        noise: Any = float(self.chance > 0.0)
        if noise and above > 0.0:
            noise = 1.0 / (1.0 + (1.0 / max(self.chance, 1e-9) - 1.0) * np.square((area - 0.5) / above))
        return np.asarray(size * (1.0 + noise) * _hanley(area, m, n))

    def below(self, margin: float) -> tuple[float, float]:
        """How far the area is below a margin above .5, in standard deviations, and the p-value of its being no lower.

        The standard deviation is the one that there is if the area is the margin, as in the interval: the p-value is at
        most alpha where the upper limit of the interval with confidence 1 - 2 alpha is at most the margin.  NaN where
        there is no variance.
        """
        if not self.has_variance:
            return math.nan, math.nan
        z = (self.value - margin) / math.sqrt(float(self.variance_if(np.array(margin))))
        return z, NormalDist().cdf(z)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Limits between which the area lies for the functions that were fitted; NaN where there are too few units.

        A score interval: the areas that are no further away than z standard deviations, for the standard deviation that
        there is if they are true.  Its form over the areas is that of J. A. Hanley and B. J. McNeil, Radiology 143
        (1982), 29-36 (R. G. Newcombe, Statistics in Medicine 25 (2006), 559-573, method 5), its size that of the
        influences of E. R. DeLong et al., Biometrics 44 (1988), 837-845.  Every fold is scored by a function of all
        others, so that what chance makes of a function comes back in the scores of the others: of the variance, the
        share that this noise has counts twice, which under equal distributions is all of it.
        """
        if not self.has_variance:
            return math.nan, math.nan
        z = NormalDist().inv_cdf(0.5 + confidence / 2.0)

        def beyond(area: np.ndarray | float) -> np.ndarray:
            """Below zero for areas within the interval."""
            a = np.asarray(area)
            return np.square(a - self.value) - z**2 * self.variance_if(a)

        grid = np.union1d(_GRID, [self.value, 0.5])
        inside = np.flatnonzero((beyond(grid) <= 0.0) | (grid == self.value))
        return _root(beyond, grid, inside[0], -1), _root(beyond, grid, inside[-1], 1)


def _root(beyond: object, grid: np.ndarray, i: int, step: int) -> float:
    from scipy.optimize import brentq

    if not 0 <= i + step < len(grid):
        return float(grid[i])
    if beyond(grid[i]) >= 0.0:  # type: ignore[operator]
        return float(grid[i])
    return float(brentq(beyond, grid[i], grid[i + step]))


def _hanley(area: np.ndarray, m: int, n: int) -> np.ndarray:
    """The variance of an estimated area for scores of exponential form, the same for an area and 1 less it."""

    def one(a: np.ndarray, m: int, n: int) -> np.ndarray:
        return a * (1.0 - a) + (m - 1.0) * (a / (2.0 - a) - a**2) + (n - 1.0) * (2.0 * a**2 / (1.0 + a) - a**2)

    return np.asarray(np.maximum(0.5 * (one(area, m, n) + one(1.0 - area, n, m)), 0.0) / (m * n))


def area_of(scores: np.ndarray, second: np.ndarray, strata: np.ndarray, units: np.ndarray, chance: float) -> Area:
    """How often a row of the first sample has a higher score than one of the second in its stratum; ties count half.

    All arrays are (N,): ``second`` says which rows are of the second sample, ``strata`` and ``units`` are codes.  Rows
    of one unit are not compared with each other: they need not be independent.  For ``chance`` see :class:`Area`.
    """
    won, compared = comparisons(scores, second, strata)
    samples, most = (~second, second), int(units.max()) + 1
    held = [np.bincount(units[part & (compared > 0.0)], minlength=most) > 0 for part in samples]
    counts = int(held[0].sum()), int(held[1].sum())
    linked, within = bool((held[0] & held[1]).any()), strata.astype(np.int64) * most + units
    if linked:
        own_won, own = comparisons(scores, second, within)
        won, compared = won - own_won, compared - own
    total = float(compared[~second].sum())
    if total == 0.0 or np.ptp(scores) == 0.0:
        return Area(math.nan if total == 0.0 else 0.5, math.nan, counts, chance)
    value = float(won[~second].sum()) / total
    influences = (won - np.where(second, 1.0 - value, value) * compared) / total
    sums = [np.bincount(units[part], weights=influences[part], minlength=most) for part in samples]
    parts = [one[np.bincount(units[part], minlength=most) > 0] for one, part in zip(sums, samples, strict=True)]
    found = [_squares(part) for part in parts]
    # the influences of each sample have what single pairs add to them, which is there once and not twice; a pair counts
    # 0, 1 or, if it is tied, one half
    tied = _ties(scores, second, strata) - (_ties(scores, second, within) if linked else 0.0)
    apart = (
        value - 0.25 * tied / total - value**2 - sum(part.size * one for part, one in zip(parts, found, strict=True))
    )
    variance = _squares(sums[0] - sums[1]) if linked else sum(found)
    return Area(value, variance - max(apart, 0.0) / total, counts, chance)


def _squares(influences: np.ndarray) -> float:
    """The variance of the sum of the influences of independent units."""
    return float(influences @ influences) * influences.size / max(influences.size - 1.0, 1.0)


def _ties(scores: np.ndarray, second: np.ndarray, strata: np.ndarray) -> float:
    """In how many pairs of rows of both samples, in one stratum, the scores are the same."""
    ranks = np.unique(scores, return_inverse=True)[1]
    places = np.unique(strata.astype(np.int64) * len(scores) + ranks, return_inverse=True)[1]
    ones, others = (np.bincount(places[part], minlength=len(scores)) for part in (~second, second))
    return float(ones @ others)


def comparisons(scores: np.ndarray, second: np.ndarray, strata: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every row the number of rows of the other sample in its stratum with lower scores, and of all of them."""
    ranks = np.unique(scores, return_inverse=True)[1]
    width = int(ranks.max()) + 1
    starts = strata.astype(np.int64) * width
    keys = starts + ranks
    won, compared = np.empty(len(scores)), np.empty(len(scores))
    for mine in (~second, second):
        others = np.sort(keys[~mine])
        begin, end = (np.searchsorted(others, starts[mine] + step) for step in (0, width))
        below, up_to = (np.searchsorted(others, keys[mine], side=side) for side in ("left", "right"))
        won[mine], compared[mine] = 0.5 * (below + up_to) - begin, end - begin
    return won, compared
