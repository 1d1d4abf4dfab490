"""Inner products of the observations in feature space, by a Gram matrix or by coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._parallel import n_workers
from shrinktest.kernels import Gaussian, Kernel, Laplacian
from shrinktest.kernels.base import Product, Scaled, Sum
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import Rescaled
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import Limits, Request, choose

#: Rounding error of a sum whose terms cancel, relative to their size.
ROUNDING = 1e-12

_ALL = slice(None)
_NO_LIMIT = 1e18  # bytes: the test has already made the same matrix
_LAST_BITS = 1e-14  # rounding error of an inner product, relative to its size


def summing(codes: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """Return the sparse matrix (groups, n) that adds up weighted rows with the same code 0, 1, ..."""
    from scipy.sparse import csr_array

    values = np.ones(len(codes)) if weights is None else weights
    return csr_array((values, (codes, np.arange(len(codes)))))


def group_sums(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the sums (groups, k) of the rows of values (n, k) with the same code 0, 1, ..."""
    return np.stack([np.bincount(codes, weights=column) for column in values.T], axis=1)


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Points in feature space (observations, or means of some) with their inner products."""

    values: np.ndarray  # Gram matrix (N, N), or coordinates (N, rank)
    by_coordinates: bool
    source: Features | None = None

    @classmethod
    def of(cls, kernel: Kernel, points: np.ndarray) -> InnerProducts:
        """Return the features of a resolved kernel at points (N, d)."""
        if isinstance(kernel, FeatureMap):
            return cls(kernel.coordinates(points), True, Features("factor", kernel, points))
        limits = Limits("dense", None, _NO_LIMIT, np.random.default_rng(0))
        gram = choose(kernel, points, limits, Request(by_coordinates=False))
        return cls(gram.matrix(n_workers(None)), False, gram)

    def centred(self) -> InnerProducts:
        """Return the features less their mean."""
        assert self.source is not None
        moved = (replace(self.source, known=self.values) if self.by_coordinates else self.source).centred()
        return InnerProducts(moved.values, moved.by_coordinates)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice | np.ndarray) -> InnerProducts:
        """Return some of the points, or all in another order."""
        if self.by_coordinates:
            return InnerProducts(self.values[rows], True)
        index = (rows, rows) if isinstance(rows, slice) else np.ix_(rows, rows)
        return InnerProducts(self.values[index], False)

    def taken(self, rows: np.ndarray) -> InnerProducts:
        """Return the points at increasing places, without a copy if these are all."""
        return self if len(rows) == len(self) else self[rows]

    def dense(self) -> InnerProducts:
        """Return the same points with their Gram matrix."""
        return InnerProducts(self.values @ self.values.T, False) if self.by_coordinates else self

    def sums(self, codes: np.ndarray) -> InnerProducts:
        """Return the sums of the points with the same code 0, 1, ..."""
        add = summing(codes)
        half = add @ self.values
        return InnerProducts(half if self.by_coordinates else (add @ half.T).T, self.by_coordinates)

    def means(self, codes: np.ndarray) -> InnerProducts:
        """Return the means of the points with the same code 0, 1, ..."""
        counts, sums = np.bincount(codes)[:, None], self.sums(codes).values
        return InnerProducts(sums / counts if self.by_coordinates else sums / counts / counts.T, self.by_coordinates)

    def applied(self, weights: np.ndarray, first: slice = _ALL, second: slice = _ALL) -> np.ndarray:
        """Return inner products of the first points with weighted sums of the second; weights (n,) or (n, k)."""
        if self.by_coordinates:
            return np.asarray(self.values[first] @ (self.values[second].T @ weights))
        return np.asarray(self.values[first, second] @ weights)

    def within(self, weights: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return inner products of every point with weighted sums of those that have its code; weights (n, k)."""
        sizes = np.bincount(codes)
        if sizes.max() == 1:
            return weights * self.diagonal()[:, None]
        if self.by_coordinates:
            sums = [(summing(codes, column) @ self.values)[codes] for column in weights.T]
            return np.stack([np.einsum("ij,ij->i", self.values, part) for part in sums], axis=1)
        out = np.empty_like(weights)
        for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1]):
            out[rows] = self.values[np.ix_(rows, rows)] @ weights[rows]
        return out

    def unit_sums(self, weights: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Return weighted sums (units, k, k) of inner products between the points of a unit and of all other units.

        Entry [u, s, t] pairs the points of unit u, with the weights (n, k) of column s, and the others with the weights
        of column t.  A U statistic is their sum over units, and without a unit it has less of these.
        """
        spans = [slice(rows[0], rows[-1] + 1) for rows in map(np.flatnonzero, weights.T)]
        sums = np.stack([self.applied(weights[span, t], second=span) for t, span in enumerate(spans)], axis=1)
        products = weights[:, :, None] * (sums - self.within(weights, units))[:, None, :]
        k = weights.shape[1]
        return group_sums(products.reshape(-1, k * k), units).reshape(-1, k, k)

    def diagonal(self) -> np.ndarray:
        """Return squared lengths (N,)."""
        return np.einsum("ij,ij->i", self.values, self.values) if self.by_coordinates else np.diagonal(self.values)

    def squares(self, first: slice = _ALL, second: slice = _ALL) -> float:
        """Return the sum of the squared inner products of the first points with the second."""
        if self.by_coordinates:
            x, y = (self.values[part].T @ self.values[part] for part in (first, second))
        else:
            x = y = self.values[first, second]
        return float(np.einsum("ij,ij->", x, y))

    def spread(self) -> float:
        """Return an unbiased estimate of the squared norm of the covariance operator; 0 if only rounding is left.

        It is the inner product of the U-centred Gram matrix with itself: L. Song et al., Journal of Machine Learning
        Research 13 (2012), theorem 2; G. J. Szekely and M. L. Rizzo, Annals of Statistics 42 (2014), section 3.
        """
        n, ones = len(self), np.ones(len(self))
        if n < 4:
            return float("nan")
        mean = float(self.applied(ones).sum() - self.diagonal().sum()) / (n * (n - 1.0))
        moved = self._less(mean)
        diagonal = moved.diagonal()
        rows, squares = moved.applied(ones) - diagonal, moved.squares() - float(diagonal @ diagonal)
        norm = squares + float(rows.sum()) ** 2 / ((n - 1.0) * (n - 2.0)) - 2.0 * float(rows @ rows) / (n - 2.0)
        least = max(n * (n - 1.0) * (_LAST_BITS * mean) ** 2, ROUNDING * squares)
        return norm / (n * (n - 3.0)) if norm > least else 0.0

    def common(self, split: int) -> float:
        """Return an unbiased inner product of the covariance operators of the first ``split`` points and the others."""
        m, n, first, second = split, len(self) - split, slice(split), slice(split, None)
        mean = float(self.applied(np.full(n, 1.0 / n), first, second).mean())
        moved = self._less(mean)
        rows = moved.applied(np.full(n, 1.0 / n), first, second)
        columns = moved.applied(np.full(m, 1.0 / m), second, first)
        squares, total = moved.squares(first, second), m * n * float(rows.mean()) ** 2
        product = squares - n * float(rows @ rows) - m * float(columns @ columns) + total
        least = max(m * n * (_LAST_BITS * mean) ** 2, ROUNDING * squares)
        return product / ((m - 1.0) * (n - 1.0)) if product > least else 0.0

    def _less(self, mean: float) -> InnerProducts:
        """Return the points less what they share, which covariances do not see and which would cost digits."""
        shared = self.values.mean(axis=0) if self.by_coordinates else mean
        return InnerProducts(self.values - shared, self.by_coordinates)


def never_negative(kernel: Kernel) -> bool:
    """True if no value of a kernel is below zero, so that norms of means tell how much samples have in common."""
    if isinstance(kernel, Rescaled | Scaled):
        return never_negative(kernel.kernel)
    if isinstance(kernel, Sum | Product):
        return all(map(never_negative, kernel.terms if isinstance(kernel, Sum) else kernel.factors))
    return isinstance(kernel, Gaussian | Laplacian)
