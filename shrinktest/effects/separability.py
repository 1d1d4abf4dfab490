"""Separability of two samples: area under the ROC curve of a cross-fitted witness function.

The witness function is fitted on folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import cast

import numpy as np

from shrinktest.effects.distance import spread
from shrinktest.effects.jackknife import FEWEST, ROUNDING, centered, jackknife
from shrinktest.estimators import MeanEstimator
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Kernel
from shrinktest.statistics.features import Features
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.statistic import part_weights, scales

_TIED = 1e-9  # scores that differ by less are tied, relative to the largest
_GRID = np.linspace(0.0, 1.0, 1001)  # brackets of the limits of an interval


# --- scores of rows that a witness function has not seen ------------------------------------------


def fold_codes(
    units: np.ndarray, cells: np.ndarray, count: int, rng: np.random.Generator, *, together: int = 1
) -> np.ndarray:
    """Return the fold 0, ..., count - 1 of every row (N,).

    Whole units are shared out evenly within their cells.

    Runs of ``together`` cells begin with the same fold, so that small blocks have both samples in
    their folds.
    """
    size = int(units.max()) + 1
    cell = np.empty(size, dtype=np.int64)
    cell[units[::-1]] = cells[::-1]
    order = np.lexsort((rng.random(size), cell))
    sizes = np.bincount(cell)
    sizes = np.append(sizes, np.zeros(-sizes.size % together, dtype=np.int64))
    least = sizes.reshape(-1, together).min(axis=1)
    starts = np.repeat(np.cumsum(least) - least, together)
    folds = np.empty(size, dtype=np.int64)
    folds[order] = (np.arange(size) - (np.cumsum(sizes) - sizes - starts)[cell[order]]) % count
    return np.asarray(folds[units])


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Witness functions of an estimator, each fitted to all folds but one."""

    estimator: MeanEstimator  # already tuned if it is tuned on the pooled sample
    kernel: Kernel  # of the observations
    features: (
        Features  # of all observations; unused by estimators that change them with every sample
    )
    points: np.ndarray  # (N, d)
    tuning: str

    def scores(self, second: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """Return the values (N,) at each row of the witness function fitted to other folds."""
        out = np.empty(len(second))
        sums = self._fold_sums(second, folds) if self.estimator.needs == "sums" else None
        for k in range(int(folds.max()) + 1):
            train = np.flatnonzero(folds != k)
            test = np.flatnonzero(folds == k)
            if sums is None:
                values, size = self._witness(train, second[train], test)
            else:
                values, size = self._scaled_witness(*sums, k, test)
            out[test] = _with_ties(values, size)
        return out

    def evidence(self, second: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """Return for every fold the unbiased squared distance (folds,).

        It is that of the standard means of the other folds.

        It is in units of about its standard deviation under equal distributions.
        """
        _, between, trace, n = self._fold_sums(second, folds)
        within = (np.einsum("kss->ks", between) - trace) / np.maximum(n * (n - 1.0), 1.0)
        variance = spread(self.features)
        distances = within.sum(axis=1) - 2.0 * between[:, 0, 1] / n.prod(axis=1)
        return distances / np.sqrt(variance) if variance > 0.0 else np.zeros_like(distances)

    def _fold_sums(
        self, second: np.ndarray, folds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return sums over both samples without each fold, and sizes.

        The sums are at all rows, of one another, and of squared lengths.
        """
        members = (folds != np.arange(int(folds.max()) + 1)[:, None]) * np.stack([~second, second])[
            :, None
        ]
        members = members.transpose(1, 0, 2).astype(np.float64)  # (folds, 2, N)
        sums = self.features.inner(members.reshape(-1, len(second)).T).T.reshape(members.shape)
        return (
            sums,
            sums @ members.transpose(0, 2, 1),
            members @ self.features.diagonal(),
            members.sum(axis=2),
        )

    def _scaled_witness(
        self,
        sums: np.ndarray,
        between: np.ndarray,
        trace: np.ndarray,
        sizes: np.ndarray,
        k: int,
        test: np.ndarray,
    ) -> tuple[np.ndarray, float]:
        """Return `_witness` for scaled means, from sums over the rows of the other folds."""
        m, n = map(int, sizes[k])
        factors = scales(
            cast(ScaledMean, self.estimator), between[k][None], trace[k][None], (m, n), self.tuning
        )[0]
        return (factors / sizes[k] * (1.0, -1.0)) @ sums[k][:, test], self._largest * np.abs(
            factors
        ).sum()

    def _witness(
        self, train: np.ndarray, second: np.ndarray, test: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Return the witness function of some rows at others, and the size of its terms."""
        points = self.points[train]
        values = self.features.values
        if self.estimator.needs == "noise":
            x, y = estimates_of(
                self.estimator, self.kernel, [points[~second], points[second]], self.tuning
            )
            first = x.embedding(self.points[test])
            last = y.embedding(self.points[test])
            return first - last, float(np.abs([first, last]).max())
        features = self.features[train]
        sizes = (int((~second).sum()), int(second.sum()))
        weights = part_weights(self.estimator, features, sizes, self.tuning)(
            second[None].astype(np.uint16)
        )[0]
        signed = np.where(second, -weights, weights)
        if self.features.by_coordinates:
            products = values[test] @ (signed @ features.values)
        else:
            products = values[np.ix_(test, train)] @ signed
        return products, self._largest * float(np.abs(signed).sum())

    @cached_property
    def _largest(self) -> float:
        """Largest squared norm of the features of a row."""
        return float(np.abs(self.features.diagonal()).max())


def _with_ties(scores: np.ndarray, size: float) -> np.ndarray:
    """Return scores (n,) with those that differ by rounding error made equal.

    Rows with the same values are ties.

    ``size`` is the size of the terms whose sums the scores are.
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    begins = np.diff(ordered, prepend=-np.inf) > ROUNDING * size + _TIED * np.abs(scores).max()
    least = ordered[begins][np.cumsum(begins) - 1]
    out = np.empty_like(scores)
    out[order] = np.where(np.abs(least) <= ROUNDING * size, 0.0, least)
    return out


def combine_scores(fits: Sequence[tuple[np.ndarray, np.ndarray]], folds: np.ndarray) -> np.ndarray:
    """Return the weighted sum of scores (N,) of several functions, standardized in each fold.

    Scores are in units of their standard deviations in each fold.

    ``fits`` are the scores of each function with its evidence (folds,), the distance of the samples
    in the rows that it is fitted to.  Weights are its squares; negative evidence counts nothing,
    unless all of it is negative.
    """
    weights = np.square(np.maximum(np.stack([evidence for _, evidence in fits]), 0.0))
    weights[:, weights.sum(axis=0) == 0.0] = 1.0
    total = np.zeros(len(folds))
    counts = np.bincount(folds)
    for (values, _), weight in zip(fits, weights, strict=True):
        spread = np.sqrt(np.bincount(folds, weights=centered(values, folds) ** 2) / counts)[folds]
        total += weight[folds] * np.divide(
            values, spread, out=np.zeros_like(values), where=spread > 0.0
        )
    return total


# --- the area, and its interval -------------------------------------------------------------------


@dataclass(frozen=True)
class Area:
    """An area under a ROC curve with its variance."""

    value: float  # share of pairs in which the row of the first sample has the higher score
    variance: float  # given the scores, by the units' influences
    units: tuple[int, int]  # independent units of both samples
    # share of the witness function's variance that is noise; 0 for scores that were not fitted
    chance: float

    @property
    def has_variance(self) -> bool:
        """True if the data allow a variance estimate."""
        least = 0.25 / max(self.units[0] * self.units[1], 1)
        return min(self.units) >= FEWEST and self.variance > -least  # which NaN is not

    def with_interval(self, confidence: float) -> tuple[float, float, float]:
        """Return the area and the limits of its interval."""
        return (self.value, *self.interval(confidence))

    def variance_if(self, area: np.ndarray) -> np.ndarray:
        """Return the variance of the estimate if the area is this one."""
        m, n = self.units
        least = 0.25 / (m * n)
        above = self.value - 0.5
        size = (self.variance + least) / (float(_hanley(np.array(self.value), m, n)) + least)
        noise = np.asarray(float(self.chance > 0.0))
        if self.chance > 0.0 and above > 0.0:
            noise = 1.0 / (
                1.0 + (1.0 / max(self.chance, 1e-9) - 1.0) * np.square((area - 0.5) / above)
            )
        return np.asarray(size * (1.0 + noise) * _hanley(area, m, n))

    def below(self, margin: float) -> tuple[float, float]:
        """Return the z-score of the area below a margin above .5, and its p-value.

        The p-value is for the hypothesis "margin or more".

        p <= alpha exactly if the upper limit with confidence 1 - 2 alpha is at most the margin; NaN
        if unknown.
        """
        if not self.has_variance:
            return math.nan, math.nan
        z = (self.value - margin) / math.sqrt(float(self.variance_if(np.array(margin))))
        return z, NormalDist().cdf(z)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return a score interval for the area of the fitted functions; NaN without a variance.

        It holds the areas within z standard deviations of the estimate, for the standard deviation
        under each area.  Its form over the areas is due to J. A. Hanley and B. J. McNeil, Radiology
        143 (1982), 29-36 (R. G. Newcombe, Statistics in Medicine 25 (2006), 559-573, method 5), its
        size comes from the influences of E. R. DeLong et al., Biometrics 44 (1988), 837-845. The
        noise of a function returns in the scores of the other folds, so that the share of the
        variance that is noise counts twice.
        """
        if not self.has_variance:
            return math.nan, math.nan
        from scipy.optimize import brentq

        z = NormalDist().inv_cdf(0.5 + confidence / 2.0)

        def excess(area: np.ndarray) -> np.ndarray:
            return np.square(np.asarray(area) - self.value) - z**2 * self.variance_if(area)

        grid = np.union1d(_GRID, [self.value, 0.5])
        outside = excess(grid)
        inside = np.flatnonzero((outside <= 0.0) | (grid == self.value))
        limits = []
        for i, step in ((inside[0], -1), (inside[-1], 1)):
            last = outside[i] >= 0.0 or not 0 <= i + step < len(grid)
            limits.append(float(grid[i] if last else brentq(excess, grid[i], grid[i + step])))
        return limits[0], limits[1]


def _hanley(area: np.ndarray, m: int, n: int) -> np.ndarray:
    """Variance of an estimated area for scores of exponential form, symmetric about .5."""

    def exponential(a: np.ndarray, m: int, n: int) -> np.ndarray:
        return (
            a * (1.0 - a)
            + (m - 1.0) * (a / (2.0 - a) - a**2)
            + (n - 1.0) * (2.0 * a**2 / (1.0 + a) - a**2)
        )

    both = 0.5 * (exponential(area, m, n) + exponential(1.0 - area, n, m))
    return np.asarray(np.maximum(both, 0.0) / (m * n))


def roc_area(
    scores: np.ndarray,
    second: np.ndarray,
    strata: np.ndarray,
    units: np.ndarray,
    chance: float,
    *,
    even: bool = False,
    further: np.ndarray | None = None,
) -> Area:
    """Return how often a row of the first sample outscores one of the second in its stratum.

    Ties count half.  All arrays are (N,): ``second`` marks rows of the second sample, ``strata``
    and ``units`` are codes.  Rows of one unit are not compared with each other, because they may be
    dependent.  With ``even``, comparisons in a stratum of N rows have the weight 1/(N + 1), so that
    rows have about the same weight in all strata (P. van Elteren, Bulletin of the International
    Statistical Institute 37 (1960), 351-361).  ``further`` is what rows add to the area otherwise,
    by estimates that scores depend on.
    """
    won, compared, tied = comparisons(scores, second, strata)
    samples = (~second, second)
    size = int(units.max()) + 1
    m, n = (np.unique(units[part & (compared > 0.0)]) for part in samples)
    linked = np.intersect1d(m, n).size > 0
    if linked:
        within = comparisons(scores, second, strata.astype(np.int64) * size + units)
        won = won - within[0]
        compared = compared - within[1]
        tied = tied - within[2]
    pair_weights = np.ones(len(scores))
    if even:
        pair_weights = 1.0 / (np.bincount(strata)[strata] + 1.0)
    single = float((pair_weights**2 * compared)[~second].sum())
    won, compared, tied = (pair_weights * counts for counts in (won, compared, tied))
    total = float(compared[~second].sum())
    if total == 0.0 or np.ptp(scores) == 0.0:
        return Area(math.nan if total == 0.0 else 0.5, math.nan, (m.size, n.size), chance)
    value = float(won[~second].sum()) / total
    influences = (won - np.where(second, 1.0 - value, value) * compared) / total
    if further is not None:
        influences = influences + np.where(second, -further, further)
    sums = [np.bincount(units[part], weights=influences[part], minlength=size) for part in samples]
    parts = [total[np.unique(units[part])] for total, part in zip(sums, samples, strict=True)]
    variances = [float(jackknife(part)[0].sum()) for part in parts]
    # the influences of both samples contain what single pairs add, which counts once; a pair is 0,
    # 1 or, if tied, 1/2
    explained = sum(part.size * variance for part, variance in zip(parts, variances, strict=True))
    pairs = value - 0.25 * float(tied[~second].sum()) / total - value**2 - explained
    variance = float(jackknife(sums[0] - sums[1])[0].sum()) if linked else sum(variances)
    return Area(
        value, variance - max(pairs, 0.0) * (single / total) / total, (m.size, n.size), chance
    )


def comparisons(
    scores: np.ndarray, second: np.ndarray, strata: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for every row its numbers of wins, comparisons and ties.

    A win is a comparison in which the row has the higher score.

    It is compared with the rows of the other sample in its stratum, and ties count half.
    """
    ranks = np.unique(scores, return_inverse=True)[1]
    width = int(ranks.max()) + 1
    starts = strata.astype(np.int64) * width
    keys = starts + ranks
    out = np.empty((3, len(scores)))
    for part in (~second, second):
        others = np.sort(keys[~part])
        begin, end = (np.searchsorted(others, starts[part] + step) for step in (0, width))
        below, up_to = (
            np.searchsorted(others, keys[part], side=side) for side in ("left", "right")
        )
        out[:, part] = 0.5 * (below + up_to) - begin, end - begin, up_to - below
    return out[0], out[1], out[2]
