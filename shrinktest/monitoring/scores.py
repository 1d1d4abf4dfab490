"""Scores: numbers of rows that are fixed before the rows come, and by which they are ranked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shrinktest._check import Array
from shrinktest.monitoring.bets import MOST_LEVELS
from shrinktest.monitoring.urn import projected

_RIDGE = 0.05  # of the mean variance
MOST_IN_PAIRS = 10  # numeric columns of which products are monitored


class Rows(NamedTuple):
    """Rows as scores take them."""

    values: Array  # (n, d): as of a `Layout`
    encoded: Array  # (n, features)
    models: Array  # (n, k): scores by functions of the user


@dataclass(frozen=True, eq=False)
class OfColumns:
    """Columns themselves; missing values rank lowest."""

    places: np.ndarray

    def __call__(self, rows: Rows) -> Array:
        """Return scores (n, k)."""
        numbers = rows.values[:, self.places]
        return np.where(np.isnan(numbers), -np.inf, numbers)


@dataclass(frozen=True, eq=False)
class OfLevels:
    """Levels of a category by their share in half A, the rarest last, new levels after them."""

    place: int
    ranks: Array  # (levels + 2,): of every level, of new ones, of missing values
    counts: Array  # (levels + 2,): rows of the reference

    @classmethod
    def of(cls, place: int, levels: int, half: Array, reference: Array) -> OfLevels:
        """Order levels by the codes of half A."""
        counts = _counts(half, levels)
        order = np.argsort(-counts, kind="stable")
        ranks = np.empty(len(counts))
        ranks[order] = np.arange(len(counts))
        ranks[counts == 0] = np.count_nonzero(counts)
        return cls(place, ranks, _counts(reference, levels))

    def __call__(self, rows: Rows) -> Array:
        """Return scores (n, 1)."""
        codes = rows.values[:, self.place]
        codes = np.where(np.isnan(codes), len(self.ranks) - 1, codes).astype(np.intp)
        return self.ranks[codes][:, np.newaxis]


def shares_of_levels(half: Array, levels: int) -> Array:
    """Return the shares of the most frequent levels in half A, in their order."""
    counts = np.sort(_counts(half, levels))[::-1]
    return (counts[counts > 0] / len(half))[:MOST_LEVELS]


def _counts(codes: Array, levels: int) -> Array:
    """Return how many rows have each level, new levels (0), and missing values."""
    places = np.where(np.isnan(codes), levels + 1, codes).astype(np.intp)
    return np.bincount(places, minlength=levels + 2).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OfPairs:
    """Products of two columns less their medians in half A; 0 if one is missing."""

    first: np.ndarray
    second: np.ndarray
    centers: Array  # (d,)

    @classmethod
    def of(cls, numeric: np.ndarray, centers: Array, width: int) -> OfPairs:
        """Take all pairs of numeric columns, with the centers of these."""
        pairs = np.array(list(combinations(numeric.tolist(), 2)), dtype=np.int64).reshape(-1, 2)
        middle = np.zeros(width)
        middle[numeric] = centers
        return cls(pairs[:, 0], pairs[:, 1], middle)

    def __call__(self, rows: Rows) -> Array:
        """Return scores (n, pairs)."""
        centered = rows.values - self.centers
        with np.errstate(over="ignore"):
            products = centered[:, self.first] * centered[:, self.second]
        return np.where(np.isnan(products), 0.0, products)


@dataclass(frozen=True, eq=False)
class OfNovelty:
    """Squared Mahalanobis distance of encoded rows from half A, with a ridge."""

    center: Array
    whitening: Array

    @classmethod
    def of(cls, points: Array) -> OfNovelty:
        """Estimate mean and covariance from encoded rows of half A."""
        covariance = np.atleast_2d(np.cov(points.T))
        size = len(covariance)
        ridge = _RIDGE * np.trace(covariance) / size or 1.0
        precision = np.linalg.inv(covariance + ridge * np.eye(size))
        whitening = np.linalg.cholesky(precision)
        return cls(points.mean(axis=0), np.asarray(whitening, dtype=np.float64))

    def __call__(self, rows: Rows) -> Array:
        """Return scores (n, 1)."""
        white = projected(rows.encoded - self.center, self.whitening)
        return projected(np.square(white), np.ones((white.shape[1], 1)))


@dataclass(frozen=True, eq=False)
class OfModels:
    """Scores by functions that were fitted elsewhere; missing ones rank lowest."""

    places: np.ndarray

    def __call__(self, rows: Rows) -> Array:
        """Return scores (n, k)."""
        scores = rows.models[:, self.places]
        return np.where(np.isnan(scores), -np.inf, scores)
