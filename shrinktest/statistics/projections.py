"""Sums of squares of a term in feature space, as functions of permutations.

With features phi of the response (Gram matrix K), orthonormal bases Q of a term and N of the rest
of its model, leverages h, and residuals e_i of the model,

    SS = tr(Q'KQ),    F = (SS / d) / (tr((I - QQ' - NN')K) / df),
    T = SS / sum_i |q_i|^2 |e_i|^2 / (1 - h_i).

Permutations move columns V in place of Q.  With G the Gram matrix without what no permutation
changes, which has a basis N, and S = V'V - V'NN'V, they have SS = tr(S^-1 V'GV), so that V is
multiplied by G as it is.

The denominator of T is the expectation of SS if rows have unequal spread (HC2).  For one factor, T
is the modified pseudo-F of Anderson, Walsh, Clarke, Gorley and Guerra-Castro (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from shrinktest._check import Array
from shrinktest.data.formula import Projection, basis
from shrinktest.permutations.null import Statistic
from shrinktest.results.factor_result import Share
from shrinktest.statistics.features import LAST_BITS, Features, KernelFeatures
from shrinktest.statistics.statistic import Form
from shrinktest.statistics.sums import times
from shrinktest.statistics.tiled import TiledResiduals, is_tiled, tiled_diagonal, tiled_product

ROBUST = Form(name="robust", combine=lambda *_: None)
F = Form(name="F", combine=lambda *_: None)

NUMBERS = 2**21  # of moved bases that are in memory at a time
SATURATED = 1e-6  # least 1 - h: rows that a model fits exactly
_DEPENDENT = 1e-8  # of the largest eigenvalue: directions that a permutation takes from a term
NOTHING = 1e-12  # of the mean residual: what counts as no residual at all

#: Columns that are multiplied at a time: few enough for the cache, many for a matrix product.
_COLUMNS = 128

_TILED_COLUMNS = 512  # the same if the matrix is made again for them


@dataclass(frozen=True, eq=False)
class MovedBasis:
    """Columns that span a term, and the rest of its model that moves, for every permutation."""

    columns: Callable[[np.ndarray], Array]  # permutations (B, N) to (k, B, n), the term's first
    size: int  # k
    orthonormal: bool  # True if columns are, also to all that does not move


def _block(size: int) -> int:
    """Return how many vectors of a size are multiplied at a time."""
    return min(128, max(1, NUMBERS // size))


def projected(features: Features, space: Array, coefficients: Array | None = None) -> Features:
    """Return features without their projection on an orthonormal basis (n, k).

    With ``coefficients`` (k, n), without the basis times sums of features with these coefficients.
    """
    if is_tiled(features):
        return TiledResiduals(cast(KernelFeatures, features), space, coefficients)
    weights = space.T if coefficients is None else coefficients
    if features.by_coordinates:
        z = features.values
        return Features(z - space @ (weights @ z), by_coordinates=True)
    products = features.values @ weights.T
    products -= space @ (weights @ products) / 2.0
    # K - N A' - A N' with A = KC' - N (CKC') / 2 and coefficients C, in one product
    taken = np.hstack([space, products]) @ np.hstack([products, space]).T
    return Features(np.subtract(features.values, taken, out=taken))


def _diagonal(features: Features) -> Array:
    return (
        tiled_diagonal(cast(KernelFeatures, features))
        if is_tiled(features)
        else features.diagonal()
    )


def squared_residuals(features: Features, space: Array, coefficients: Array | None = None) -> Array:
    """Return squared norms (n,) of the features that ``projected`` returns."""
    if features.by_coordinates or is_tiled(features):
        return projected(features, space, coefficients).diagonal()
    weights = space.T if coefficients is None else coefficients
    products = features.values @ weights.T
    fitted = space @ (weights @ products)
    return np.asarray(features.diagonal() + np.einsum("ij,ij->i", space, fitted - 2.0 * products))


def mapped(features: Features, rows: Array) -> Features:
    """Return weighted sums of features; ``rows`` (m, n) has the weights of each."""
    if features.by_coordinates:
        return Features(rows @ features.values, by_coordinates=True)
    if is_tiled(features):
        return Features(tiled_product(rows, cast(KernelFeatures, features)) @ rows.T)
    return Features(rows @ features.values @ rows.T)


def adjusted_means(group: np.ndarray, within: Array) -> Array:
    """Return the matrix (g, n) from rows to means of groups, adjusted for columns ``within``.

    With D the indicators of groups, and W the projection that centers within groups, these are
    (D'D)^-1 D'(I - X(X'WX)^+X'W).

    Examples
    --------
    >>> adjusted_means(np.array([0, 0, 1]), np.array([[1.0], [-1.0], [0.0]]))
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    sums = (np.unique(group)[:, None] == group).astype(np.float64)
    means = sums / sums.sum(axis=1, keepdims=True)
    if not within.shape[1]:
        return means
    centered = within - sums.T @ (means @ within)
    return np.asarray(means - means @ within @ np.linalg.pinv(centered))


# --- what a permutation moves ---------------------------------------------------------------------


def moved_rows(part: Projection) -> MovedBasis:
    """Return the rows of a model, moved to other rows with the same adjusted terms.

    Rows (B, n) say which row of the model each row of the data gets.
    """
    extra = basis(part.rest, part.adjusted)
    model = np.ascontiguousarray(np.hstack([part.added, extra]).T)
    return MovedBasis(lambda rows: np.take(model, rows, axis=1), len(model), orthonormal=True)


def moved_predictor(part: Projection) -> MovedBasis:
    """Return the residualized predictor: rows of Q in another order."""
    term = np.ascontiguousarray(part.added.T)
    return MovedBasis(lambda rows: np.take(term, rows, axis=1), len(term), orthonormal=False)


def moved_signs(part: Projection) -> MovedBasis:
    """Return the residualized predictor: rows of Q with signs (B, n), those of residuals."""
    term = np.ascontiguousarray(part.added.T)
    return MovedBasis(lambda signs: term[:, None] * signs, len(term), orthonormal=False)


def moved_labels(factors: Sequence[tuple[Array, Array]], group: np.ndarray) -> MovedBasis:
    """Return products of labels of whole groups, which move, and columns that stay.

    Each of ``factors`` has columns (g, c) of the groups and (n, s) of the rows; ``group`` (n,) is
    the group of each row.
    """

    def columns(groups: np.ndarray) -> Array:
        places = groups[:, group]
        products = []
        for labels, stay in factors:
            given = labels.T[:, places]  # (c, B, n)
            both = given[:, None] * stay.T[None, :, None]
            products.append(both.reshape(-1, *given.shape[1:]))
        return np.concatenate(products)

    size = sum(labels.shape[1] * stay.shape[1] for labels, stay in factors)
    return MovedBasis(columns, size, orthonormal=False)


def inverses(inner: Array, before: Array) -> tuple[Array, Array]:
    """Return inverses of inner products (B, k, k) along what is left of columns, and ranks (B,).

    ``before`` (B,) are mean squared lengths of the columns before a space was projected out.
    """
    sizes, turns = np.linalg.eigh(inner)
    least = _DEPENDENT * np.maximum(sizes[:, -1], before)
    kept = sizes > np.maximum(least, np.finfo(np.float64).tiny)[:, None]
    scaled = turns * np.where(kept, 1.0 / np.where(kept, sizes, 1.0), 0.0)[:, None, :]
    return scaled @ turns.transpose(0, 2, 1), kept.sum(axis=1)


def inner_products(features: Features, bases: Array) -> Array:
    """Return inner products (k, B, n) of the sums along every basis vector with the rows."""
    flat = bases.reshape(-1, bases.shape[-1])
    if isinstance(features, TiledResiduals):
        return features.times(flat).reshape(bases.shape)
    values = features.values
    block = _block(flat.shape[1])
    if features.by_coordinates:
        return times(times(flat, values, block), values.T, block).reshape(bases.shape)
    return times(flat, values, block).reshape(bases.shape)


# --- statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TermStatistic:
    """F or T of a term for every permutation."""

    residuals: Features  # of the space that no permutation changes
    space: Array  # (n, q): its basis
    moved: MovedBasis
    directions: int  # columns of a moved basis that belong to the term
    residual_df: int
    robust: bool
    rounding: float = 0.0  # what rounding may have changed in a squared norm, over `LAST_BITS`

    def statistic(self) -> Statistic:
        """Return the statistic as a function of permutations (B, N)."""
        diagonal = np.ascontiguousarray(self.residuals.diagonal())
        total = float(diagonal.sum())
        leverage = np.square(self.space).sum(axis=1)
        least = NOTHING * abs(total) / len(diagonal) + np.finfo(np.float64).tiny
        d = self.directions

        def some(rows: np.ndarray) -> Array:
            columns = self.moved.columns(rows)
            products, inner = self._products(columns)
            fixed = self._fixed(columns)
            inverse, rank = self._inverse(columns, fixed)
            if inverse is None:
                explained = np.einsum("bkk->bk", inner)
            else:
                explained = np.einsum("bkl,blk->bk", inverse, inner)
            squares = explained[:, :d].sum(axis=1)
            if self.robust:
                left = self._left(columns, fixed)
                expected = self._expected(left, products, inner, inverse, diagonal, leverage)
            else:
                left = total - explained.sum(axis=1)
                expected = np.maximum(rank, 1) * left / self.residual_df
            size = np.abs(squares) + LAST_BITS * self.rounding * d
            return np.stack([squares, size], axis=1) / np.maximum(expected, least)[:, None]

        def values(rows: np.ndarray) -> Array:
            tiled = isinstance(self.residuals, TiledResiduals)
            most = _TILED_COLUMNS if tiled else min(_COLUMNS, NUMBERS // len(diagonal))
            step = max(1, most // self.moved.size)
            parts = [some(rows[start : start + step]) for start in range(0, len(rows), step)]
            return np.concatenate(parts)

        return values

    def _products(self, columns: Array) -> tuple[Array, Array]:
        """Return inner products of columns with rows (k, B, n) and with each other (B, k, k).

        By coordinates F needs no products with rows, which are then the sums of the coordinates.
        """
        if self.residuals.by_coordinates and not self.robust:
            flat = columns.reshape(-1, columns.shape[-1])
            sums = times(flat, self.residuals.values, _block(flat.shape[1]))
            sums = sums.reshape(*columns.shape[:2], -1)
            return sums, _inner(sums, sums)
        products = inner_products(self.residuals, columns)
        return products, _inner(columns, products)

    def _fixed(self, columns: Array) -> Array | None:
        """Return inner products (k, B, q) of columns with what does not move; None for zeros."""
        if self.moved.orthonormal:
            return None
        flat = columns.reshape(-1, columns.shape[-1])
        fixed = times(flat, self.space, _block(flat.shape[1]))
        return fixed.reshape(*columns.shape[:2], -1)

    def _inverse(self, columns: Array, fixed: Array | None) -> tuple[Array | None, Array]:
        """Return the inverses of S (B, k, k), None for the identity, and ranks of the term (B,)."""
        if fixed is None:
            return None, np.full(columns.shape[1], self.directions)
        before = _inner(columns, columns)
        lengths = np.einsum("bkk->b", before) / len(columns)
        return inverses(before - _inner(fixed, fixed), lengths)

    def _left(self, columns: Array, fixed: Array | None) -> Array:
        """Return columns less their projection on what does not move."""
        if fixed is None:
            return columns
        flat = columns.reshape(-1, columns.shape[-1])
        fitted = times(fixed.reshape(len(flat), -1), self.space.T, _block(flat.shape[1]))
        return np.subtract(flat, fitted, out=fitted).reshape(columns.shape)

    def _expected(
        self,
        left: Array,
        products: Array,
        inner: Array,
        inverse: Array | None,
        diagonal: Array,
        leverage: Array,
    ) -> Array:
        """Return the expectation of SS without an effect, for rows of unequal spread.

        Rows that the model fits exactly do not show their spread; the mean square stands for it.
        """
        d = self.directions
        solved = left if inverse is None else _combined(inverse, left)
        change = _combined(inner, solved)
        products *= 2.0
        change -= products
        residual = np.einsum("kbn,kbn->bn", change, solved)
        residual += diagonal
        gain = np.einsum("kbn,kbn->bn", left[:d], solved[:d])
        free = 1.0 - leverage - gain
        if d < len(left):
            free -= np.einsum("kbn,kbn->bn", left[d:], solved[d:])
        mean = residual.sum(axis=1) / self.residual_df
        saturated = free < SATURATED
        residual /= np.maximum(free, SATURATED, out=free)
        np.copyto(residual, mean[:, None], where=saturated)
        return np.einsum("bn,bn->b", gain, residual)


def _inner(first: Array, second: Array) -> Array:
    """Return inner products (B, k, l) of columns (k, B, n) and (l, B, n) of each permutation."""
    if len(first) == 1 and len(second) == 1:
        return np.einsum("bn,bn->b", first[0], second[0])[:, None, None]
    return first.transpose(1, 0, 2) @ second.transpose(1, 2, 0)


def _combined(weights: Array, columns: Array) -> Array:
    """Return sums (k, B, n) of columns with weights (B, k, k)."""
    if len(columns) == 1:
        return weights[:, 0] * columns
    out = np.empty_like(columns)
    np.matmul(weights, columns.transpose(1, 0, 2), out=out.transpose(1, 0, 2))
    return out


def term_statistic(
    features: Features,
    part: Projection,
    space: Array,
    moved: MovedBasis,
    columns: int,
    robust: bool,
) -> TermStatistic:
    """Return the statistic of a term; ``space`` is what no permutation changes."""
    return TermStatistic(
        projected(features, space),
        space,
        moved,
        columns,
        part.residual_df,
        robust,
        float(np.abs(_diagonal(features)).mean()),
    )


def averaged(statistics: Sequence[Statistic], weights: Sequence[float]) -> Statistic:
    """Return the weighted mean of statistics of the same permutations."""
    shares = np.array(weights) / np.sum(weights)

    def values(rows: np.ndarray) -> Array:
        parts = [share * each(rows) for share, each in zip(shares, statistics, strict=True)]
        return np.asarray(np.sum(parts, axis=0))

    return values


# --- effect size ----------------------------------------------------------------------------------


def share(features: Features, part: Projection, unit: np.ndarray) -> Share:
    """Estimate the share of what the other terms leave that a term explains.

    omega^2 = (SS - d MS) / (SS + SSres + MS), with MS the mean square of residuals.  The standard
    error is that of a jackknife over units (n,) without refitting: the residual sum of squares of
    a fit without the rows of a unit is SSres - tr((I - H)^-1 E) over these rows, with H the
    projection on the model and E the Gram matrix of residuals.
    """
    full, full_left, lost = _without_each(features, part.model, unit)
    reduced, reduced_left, _ = _without_each(features, part.rest, unit)

    def omega2(less: Array | float, more: Array | float, df: Array | float) -> Array | float:
        mean = more / np.maximum(df, 1.0)
        return (less - more - part.df * mean) / (less + mean)

    if reduced <= 0.0:
        return Share(np.nan, np.nan, np.nan)
    value = float(omega2(reduced, full, part.residual_df))
    left = np.asarray(omega2(reduced_left, full_left, part.residual_df - lost))
    count = len(left)
    error = np.sqrt((count - 1) / count * np.square(left - left.mean()).sum())
    center = basis(np.ones((len(unit), 1)))
    total = float(squared_residuals(features, center).sum())
    r2 = (reduced - full) / total if total > 0.0 else np.nan
    return Share(value, float(error), float(r2))


def _without_each(features: Features, model: Array, unit: np.ndarray) -> tuple[float, Array, Array]:
    """Return the residual sum of squares, those without each unit, and their lost degrees."""
    if len(np.unique(unit)) == len(unit):
        squares = squared_residuals(features, model)
        whole = float(squares.sum())
        free = 1.0 - np.square(model).sum(axis=1)
        kept = free > SATURATED
        without = np.where(kept, squares / np.where(kept, free, 1.0), 0.0)
        return whole, whole - without, kept.astype(np.float64)
    residuals = projected(features, model)
    whole = float(residuals.diagonal().sum())
    parts = np.split(np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1])
    left = np.empty(len(parts))
    lost = np.empty(len(parts))
    for i, rows in enumerate(parts):
        free = np.eye(len(rows)) - model[rows] @ model[rows].T
        sizes, turns = np.linalg.eigh(free)
        kept = sizes > SATURATED
        if isinstance(residuals, TiledResiduals):
            block = residuals.block(rows)
        else:
            block = residuals[rows].gram
        squares = np.einsum("ij,ik,kj->j", turns, block, turns)
        left[i] = whole - (squares[kept] / sizes[kept]).sum()
        lost[i] = kept.sum()
    return whole, left, lost
