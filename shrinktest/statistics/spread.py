"""Analysis of variance of the distances of rows from their fitted means, for every permutation.

With residuals e_i of a model in feature space and its leverages h_i, the distances are

    z_i = |e_i| / sqrt(1 - h_i).

Their sums of squares are those of a term in `projections`, with z as the one column.  Distances of
residuals depend on each other and on the sizes of cells, so that permutations move rows of
residuals, and the model is fitted to them again before distances are measured.

The residuals that move are those of a robust fit.  By least squares, a row far from the others
spoils the residuals of its cell, and permutations mix what it left there with rows of other cells:
their distances then vary less between cells than those of the data, and the test is too large.
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
    squared_residuals,
)

_FITS = 8  # of the M-estimate; the last changes hardly move the level


def robust_fit(features: Features, model: Array) -> Array:
    """Return coefficients (p, n) of a fit on the basis of a model (n, p): Huber's M-estimate.

    With k = 1, its weights are 1 for residuals e_i up to the median of |e_i|, and this median over
    |e_i| beyond it.
    """
    coefficients = np.ascontiguousarray(model.T)
    for _ in range(_FITS - 1):
        squares = squared_residuals(features, model, coefficients)
        size = np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny))
        weighted = model * np.minimum(1.0, np.median(size) / size)[:, None]
        solved = np.linalg.lstsq(weighted.T @ model, weighted.T, rcond=None)[0]
        coefficients = np.asarray(solved, dtype=np.float64)
    return coefficients


def distances(features: Features, model: Array) -> Array:
    """Return the distances (n,) of rows from a robust fit of a model, over sqrt(1 - h_i).

    0 for rows that the model fits exactly.
    """
    free = 1.0 - np.square(model).sum(axis=1)
    kept = free > SATURATED
    squares = squared_residuals(features, model, robust_fit(features, model))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) * kept / np.where(kept, free, 1.0)))


def spread_pvalue(values: Array, part: Projection) -> float:
    """Return the p-value of T of distances (n,), whose T / d has about an F distribution.

    This is a test of Levene's kind.  1 if nothing is left to compare.
    """
    if not part.df or part.residual_df < 1:
        return 1.0
    model = part.model
    left = np.square(values - model @ (model.T @ values))
    free = np.maximum(1.0 - np.square(model).sum(axis=1), SATURATED)
    expected = float((np.square(part.added).sum(axis=1) * left / free).sum())
    explained = float(np.square(part.added.T @ values).sum())
    if expected <= NOTHING * float(np.square(values).sum()):
        return 1.0
    from scipy.special import fdtrc

    return float(fdtrc(part.df, part.residual_df, explained / expected))


@dataclass(frozen=True, eq=False)
class SpreadStatistic:
    """F or T of a term for the distances of rows from their fitted means."""

    residuals: Features  # of a fit of the model
    part: Projection
    robust: bool

    @classmethod
    def of(cls, features: Features, part: Projection, robust: bool) -> SpreadStatistic:
        """Return the statistic of a term of a model for features."""
        fit = robust_fit(features, part.model)
        return cls(projected(features, part.model, fit), part, robust)

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
