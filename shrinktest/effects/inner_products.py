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

_ALL = slice(None)
_ROOM = 1e18  # bytes: the test has made the same matrix, and looked whether it fits

#: Of the size of the terms of a sum: as much as rounding may leave where they cancel.
ROUNDING = 1e-12

_ALIKE = 1.0 - 1e-6  # of their mean square, the square of the mean of inner products that share nearly all
_LAST_BITS = 1e-14  # of such an inner product, what rounding may have changed in it


def adding(codes: np.ndarray) -> Any:
    """The sparse matrix (groups, n) by which rows with the same code 0, 1, ... are added up."""
    from scipy.sparse import csr_array

    n = len(codes)
    return csr_array((np.ones(n), (codes, np.arange(n))))


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Points in feature space (observations, or means of some), known by their inner products."""

    values: np.ndarray  # (N, N) or (N, rank): their Gram matrix, or coordinates
    by_coordinates: bool
    gram: Features | None = None  # where they come from

    @classmethod
    def of(cls, kernel: Kernel, points: np.ndarray) -> InnerProducts:
        """The features of a resolved kernel at points (N, d)."""
        if isinstance(kernel, FeatureMap):
            return cls(kernel.coordinates(points), True, Features("factor", kernel, points))
        gram = choose(
            kernel, points, Limits("dense", None, _ROOM, np.random.default_rng(0)), Request(by_coordinates=False)
        )
        return cls(gram.matrix(n_workers(None)), False, gram)

    def centred(self) -> InnerProducts:
        """The features less their mean, without what rounding takes from them."""
        assert self.gram is not None
        moved = (replace(self.gram, known=self.values) if self.by_coordinates else self.gram).centred()
        return InnerProducts(moved.values, moved.by_coordinates)

    def __len__(self) -> int:
        return len(self.values)

    def averaged(self, codes: np.ndarray) -> InnerProducts:
        """The means of the observations with the same code 0, 1, ..., in the order of codes."""
        counts, sums = np.bincount(codes)[:, None], self.summed(codes).values
        return InnerProducts(sums / counts if self.by_coordinates else sums / counts / counts.T, self.by_coordinates)

    def summed(self, codes: np.ndarray) -> InnerProducts:
        """The sums of the observations with the same code 0, 1, ..., in the order of codes."""
        over = adding(codes)
        sums = over @ self.values
        return InnerProducts(sums if self.by_coordinates else (over @ sums.T).T, self.by_coordinates)

    def reordered(self, order: np.ndarray) -> InnerProducts:
        """The points in another order, or some of them."""
        return InnerProducts(
            self.values[order] if self.by_coordinates else self.values[np.ix_(order, order)], self.by_coordinates
        )

    def taken(self, rows: np.ndarray) -> InnerProducts:
        """Some of the points."""
        return self if len(rows) == len(self.values) else self.reordered(rows)  # in any order that is asked for here

    def dense(self) -> InnerProducts:
        """The same by a Gram matrix."""
        return InnerProducts(self.values @ self.values.T, False) if self.by_coordinates else self

    def applied(self, weights: np.ndarray, first: slice = _ALL, second: slice = _ALL) -> np.ndarray:
        """Inner products of the first points with weighted sums of the second, weights (n,) or (n, k)."""
        if self.by_coordinates:
            return np.asarray(self.values[first] @ (self.values[second].T @ weights))
        return np.asarray(self.values[first, second] @ weights)

    def within(self, weights: np.ndarray, cells: np.ndarray, which: slice) -> np.ndarray:
        """Inner products of points with the weighted sums of their cells, (n,); cells are codes 0, 1, ..."""
        part = self.values[which] if self.by_coordinates else self.values[which, which]
        if self.by_coordinates:
            sums = adding(cells) @ (part * weights[:, None])
            return np.asarray(np.einsum("ij,ij->i", part, sums[cells]))
        out = np.empty(len(part))
        order = np.argsort(cells, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
            out[rows] = part[np.ix_(rows, rows)] @ weights[rows]
        return out

    def diagonal(self, which: slice = _ALL) -> np.ndarray:
        """Squared lengths."""
        if self.by_coordinates:
            return np.einsum("ij,ij->i", self.values[which], self.values[which])
        return np.diagonal(self.values)[which]

    def squares(self, first: slice = _ALL, second: slice = _ALL) -> float:
        """The sum of the squares of all inner products of the first points with the second."""
        if self.by_coordinates:
            a = self.values[first].T @ self.values[first]
            b = a if second == first else self.values[second].T @ self.values[second]
            return float(np.einsum("ij,ij->", a, b))
        part = self.values[first, second]
        return float(np.einsum("ij,ij->", part, part))

    def spread(self, which: slice = _ALL) -> float:
        """An unbiased estimate of the squared norm of the covariance operator, from all pairs of points.

        It is the inner product of the U-centred Gram matrix with itself: L. Song et al., Journal of Machine Learning
        Research 13 (2012), theorem 2; G. J. Szekely and M. L. Rizzo, Annals of Statistics 42 (2014), section 3.  Zero
        where no more is left of its terms than rounding may leave, as where all points but one are the same.
        """
        n = len(self.diagonal(which))
        if n < 4:
            return float("nan")
        pairs = n * (n - 1.0)
        found, squares, total = self._spread(which)
        least = ROUNDING * squares
        if total**2 > _ALIKE * pairs * squares:
            found, squares, _ = self._less_shared(which, which, total / pairs)._spread(which)
            least = max(ROUNDING * squares, _LAST_BITS**2 * total**2 / pairs)
        return 0.0 if found <= least else found / (n * (n - 3.0))

    def common(self, first: slice, second: slice) -> float:
        """An unbiased inner product of the covariance operators of two independent samples, zero as there."""
        m, n = len(self.diagonal(first)), len(self.diagonal(second))
        found, squares, total = self._common(first, second)
        least = ROUNDING * squares
        if total**2 > _ALIKE * m * n * squares:
            found, squares, _ = self._less_shared(first, second, total / (m * n))._common(first, second)
            least = max(ROUNDING * squares, _LAST_BITS**2 * total**2 / (m * n))
        return 0.0 if found <= least else found / ((m - 1.0) * (n - 1.0))

    def _spread(self, which: slice) -> tuple[float, float, float]:
        """What `spread` is a multiple of, and the sums of the squares of all inner products and of themselves."""
        diagonal = self.diagonal(which)
        n = len(diagonal)
        rows = self.applied(np.ones(n), which, which) - diagonal
        squares = self.squares(which, which) - float(diagonal @ diagonal)
        total = float(rows.sum())
        found = squares + total**2 / ((n - 1.0) * (n - 2.0)) - 2.0 * float(rows @ rows) / (n - 2.0)
        return found, squares, total

    def _common(self, first: slice, second: slice) -> tuple[float, float, float]:
        """The same for `common`."""
        m, n = len(self.diagonal(first)), len(self.diagonal(second))
        rows = self.applied(np.full(n, 1.0 / n), first, second)
        columns = self.applied(np.full(m, 1.0 / m), second, first)
        squares = self.squares(first, second)
        found = squares - n * float(rows @ rows) - m * float(columns @ columns) + m * n * float(rows.mean()) ** 2
        return found, squares, n * float(rows.sum())

    def _less_shared(self, first: slice, second: slice, mean: float) -> InnerProducts:
        """The same less what inner products of these points share, which covariance operators do not see.

        For those that share nearly all, which would take their digits.
        """
        if not self.by_coordinates:
            return InnerProducts(self.values - mean, False)
        moved = self.values.copy()
        for which in (first, second):
            moved[which] -= moved[which].mean(axis=0)
        return InnerProducts(moved, True)


def never_negative(kernel: Kernel) -> bool:
    """Whether no value of a kernel is below zero, so that norms of means say how much samples have in common."""
    if isinstance(kernel, Rescaled | Scaled):
        return never_negative(kernel.kernel)
    if isinstance(kernel, Sum | Product):
        return all(map(never_negative, kernel.terms if isinstance(kernel, Sum) else kernel.factors))
    return isinstance(kernel, Gaussian | Laplacian)
