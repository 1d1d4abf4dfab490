"""Encoder: rows as the numbers that distances and witnesses compare, with units of half A."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest._check import Array
from shrinktest.monitoring.urn import projected

_FARTHEST = 1e6  # units, so that no square overflows
_GAP = 2.0**0.5  # of an indicator of missing values
_WAVES = 128
_CLIPPED = 4.0  # units, in products
_MOST_COLUMNS = 30  # that have products
_ROWS = 300  # that the bandwidth is computed from


@dataclass(frozen=True, eq=False)
class Encoder:
    """Numbers in units of their standard deviation, and indicators of levels and missing values.

    Two levels are as far apart as two numbers are on average: their squared distance is 2.
    """

    numeric: np.ndarray  # places of the columns with an order
    centers: Array  # their medians in half A
    units: Array
    gaps: np.ndarray  # places of columns with missing values in half A
    indicated: np.ndarray  # (2, k): column and level of every indicator

    @classmethod
    def of(cls, half: Array, categorical: np.ndarray) -> Encoder:
        """Find centers, units and levels in half A of the reference, (m, d)."""
        numeric = np.flatnonzero(~categorical)
        numbers = half[:, numeric]
        known = ~np.isnan(numbers)
        columns = [
            column[keep] if keep.any() else np.zeros(1)
            for column, keep in zip(numbers.T, known.T, strict=True)
        ]
        with np.errstate(over="ignore", invalid="ignore"):  # such units become 1
            units = np.array([column.std() for column in columns])
        levels = [
            (place, code)
            for place in np.flatnonzero(categorical)
            for code in np.unique(half[~np.isnan(half[:, place]), place])
        ]
        return cls(
            numeric,
            np.array([np.median(column) for column in columns]),
            np.where((units > 0.0) & np.isfinite(units), units, 1.0),
            np.flatnonzero(np.isnan(half).any(axis=0)),
            np.array(levels, dtype=np.int64).reshape(-1, 2).T,
        )

    def __call__(self, values: Array) -> Array:
        """Return encoded rows (n, features)."""
        numbers = values[:, self.numeric]
        numbers = np.where(np.isnan(numbers), self.centers, numbers)
        scaled = np.clip((numbers - self.centers) / self.units, -_FARTHEST, _FARTHEST)
        parts = [scaled]
        if self.gaps.size:
            parts.append(np.isnan(values[:, self.gaps]) * _GAP)
        if self.indicated.size:
            places, codes = self.indicated
            parts.append((values[:, places] == codes).astype(np.float64))
        return np.ascontiguousarray(np.hstack(parts)) if len(parts) > 1 else scaled


@dataclass(frozen=True, eq=False)
class Curved:
    """Features of encoded rows: random waves of a Gaussian kernel, and products of two columns.

    The waves are of A. Rahimi and B. Recht, Random features for large-scale kernel machines,
    Advances in Neural Information Processing Systems 20 (2007).
    """

    frequencies: Array  # (k, 128)
    phases: Array  # (128,)

    @classmethod
    def of(cls, points: Array, rng: np.random.Generator) -> Curved:
        """Draw waves for a Gaussian kernel with the median distance of encoded rows of half A."""
        some = points[:_ROWS]
        squares = np.square(some).sum(axis=1)
        distances = squares[:, np.newaxis] + squares - 2.0 * some @ some.T
        pairs = np.triu_indices(len(some), 1)
        squared_width = float(np.median(distances[pairs])) / 2.0
        squared_width = squared_width if squared_width > 0.0 else 1.0
        frequencies = rng.normal(size=(points.shape[1], _WAVES)) / np.sqrt(squared_width)
        return cls(frequencies, rng.uniform(0.0, 2.0 * np.pi, _WAVES))

    def __call__(self, points: Array) -> Array:
        """Return features (n, m) of encoded rows."""
        waves = np.cos(projected(points, self.frequencies) + self.phases)
        waves /= np.sqrt(_WAVES)
        if points.shape[1] > _MOST_COLUMNS:
            return waves
        clipped = np.clip(points, -_CLIPPED, _CLIPPED)
        columns = range(points.shape[1])
        products = np.hstack([clipped[:, j, np.newaxis] * clipped[:, j:] for j in columns])
        products /= np.sqrt(products.shape[1])
        return np.hstack([waves, products])
