"""Products with a Gram matrix that is made by tiles, and with its residuals on a space."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from shrinktest._check import Array
from shrinktest.statistics.features import Features, KernelFeatures
from shrinktest.statistics.sums import times

_TILE = 2048  # rows and columns of a tile


def is_tiled(features: Features) -> bool:
    """Return True for features of a kernel whose Gram matrix does not fit into memory."""
    return isinstance(features, KernelFeatures) and features.route == "tiles"


def tiled_diagonal(features: KernelFeatures) -> Array:
    """Return the diagonal (n,) of a Gram matrix that is made by tiles."""
    return np.asarray(features.plain.kernel.diagonal(features.plain.points))


def tiled_product(rows: Array, features: KernelFeatures) -> Array:
    """Return ``rows @ K``, (B, n) times (n, n), each tile of which is made once."""
    plain = features.plain
    points = plain.points
    out = np.zeros_like(rows)
    parts = [slice(start, start + _TILE) for start in range(0, len(points), _TILE)]
    for first in parts:
        given = np.ascontiguousarray(rows[:, first])
        for second in parts:
            tile = plain.kernel.block(points[first], points[second], features.workers)
            out[:, second] += times(given, tile)
    return out


class TiledResiduals(Features):
    """Features less a basis (n, q) times sums of them with coefficients (q, n), by tiles.

    By default the coefficients are the transposed basis, which gives the features without their
    projection on it.
    """

    def __init__(
        self, features: KernelFeatures, space: Array, coefficients: Array | None = None
    ) -> None:
        self.features = features
        self.space = space
        weights = space.T if coefficients is None else coefficients
        self.coefficients = np.ascontiguousarray(weights)
        self.by_coordinates = False

    def __len__(self) -> int:
        return len(self.space)

    @cached_property
    def _products(self) -> Array:
        """Inner products (n, q) of the points with the sums."""
        return tiled_product(self.coefficients, self.features).T

    def diagonal(self) -> Array:
        """Squared norms (n,)."""
        fitted = self.space @ (self.coefficients @ self._products)
        change = np.einsum("ij,ij->i", self.space, fitted - 2.0 * self._products)
        return np.asarray(tiled_diagonal(self.features) + change)

    def times(self, rows: Array) -> Array:
        """Return inner products (B, n) of sums with weights (B, n) and all points."""
        products = tiled_product(rows, self.features)
        products -= times(times(rows, self.space), np.ascontiguousarray(self._products.T))
        sums = times(products, np.ascontiguousarray(self.coefficients.T))
        products -= times(sums, np.ascontiguousarray(self.space.T))
        return products

    def block(self, rows: np.ndarray) -> Array:
        """Return inner products of some points with each other."""
        plain = self.features.plain
        points = np.ascontiguousarray(plain.points[rows])
        own = self.space[rows]
        products = self._products[rows]
        inner = self.coefficients @ self._products
        both = own @ products.T
        return np.asarray(plain.kernel.block(points, points) - both - both.T + own @ inner @ own.T)
