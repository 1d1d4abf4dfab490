"""Analysis of variance of the distances of rows from their fitted means, for every permutation.

With residuals e_i of a model in feature space and its leverages h_i, the distances are

    z_i = |e_i| / sqrt(1 - h_i).

Their sums of squares are those of a term in `projections`, with z as the one column.  Distances of
residuals depend on each other and on the sizes of cells, so that permutations move rows of the
residuals, and the model is fitted to them again before distances are measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest._check import Array
from shrinktest.data.formula import Projection
from shrinktest.permutations.null import Statistic
from shrinktest.statistics.features import LAST_BITS, Features
from shrinktest.statistics.projections import (
    NOTHING,
    NUMBERS,
    SATURATED,
    inner_products,
    projected,
)


@dataclass(frozen=True, eq=False)
class SpreadStatistic:
    """F or T of a term for the distances of rows from their fitted means."""

    residuals: Features  # of the model
    part: Projection
    robust: bool

    @classmethod
    def of(cls, features: Features, part: Projection, robust: bool) -> SpreadStatistic:
        """Return the statistic of a term of a model for features."""
        return cls(projected(features, part.model), part, robust)

    def distances(self, rows: np.ndarray) -> tuple[Array, Array]:
        """Return distances (B, n) if the rows of the model are permuted, and its rows (p, B, n)."""
        model = np.ascontiguousarray(self.part.model.T)[:, rows]
        products = inner_products(self.residuals, model)
        stack = model.transpose(1, 0, 2)
        inner = stack @ products.transpose(1, 2, 0)
        fitted = (inner @ stack).transpose(1, 0, 2)
        squares = self.residuals.diagonal() + np.einsum("kbn,kbn->bn", fitted - 2 * products, model)
        free = 1.0 - np.einsum("kbn,kbn->bn", model, model)
        kept = free > SATURATED
        return np.sqrt(np.maximum(squares, 0.0) * kept / np.where(kept, free, 1.0)), model

    def statistic(self) -> Statistic:
        """Return the statistic as a function of orders of rows (B, n)."""
        n = len(self.part.added)
        d = self.part.df

        def some(rows: np.ndarray) -> Array:
            distances, model = self.distances(rows)
            sums = np.einsum("bn,kbn->kb", distances, model)
            squares = np.square(sums[:d]).sum(axis=0)
            total = np.square(distances).sum(axis=1)
            if self.robust:
                left = distances - np.einsum("kb,kbn->bn", sums, model)
                gain = np.einsum("kbn,kbn->bn", model[:d], model[:d])
                free = 1.0 - np.einsum("kbn,kbn->bn", model, model)
                expected = np.einsum(
                    "bn,bn->b", gain, np.square(left) / np.maximum(free, SATURATED)
                )
            else:
                expected = d * (total - np.square(sums).sum(axis=0)) / self.part.residual_df
            least = NOTHING * total / n + np.finfo(np.float64).tiny
            size = squares + LAST_BITS * d * total / n
            return np.stack([squares, size], axis=1) / np.maximum(expected, least)[:, None]

        def values(rows: np.ndarray) -> Array:
            step = max(1, NUMBERS // (n * self.part.model.shape[1]))
            parts = [some(rows[start : start + step]) for start in range(0, len(rows), step)]
            return np.concatenate(parts)

        return values
