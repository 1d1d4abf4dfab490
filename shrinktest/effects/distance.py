"""Distances of samples in feature space.

Of two, on a scale from 0 to 1, and of one to several others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shrinktest.effects.jackknife import ROUNDING, Estimate, JackknifeEstimates, centered, jackknife
from shrinktest.statistics.features import Features

_ALL = slice(None)
_ROWS = 512  # of a Gram matrix that are moved at a time
_LAST_BITS = 1e-14  # rounding error of an inner product, relative to its size

#: What a distance is relative to: the squared norms of both means, or the variance of both samples
#: together.
NORMS = "norms"
VARIANCE = "variance"


@dataclass(frozen=True, eq=False)
class Pair:
    """Rows of two samples, and their independent units (rows, pairs or groups)."""

    second: np.ndarray  # (N,): which rows belong to the second sample; rows of the first come first
    units: np.ndarray  # (N,): unit 0, 1, ... of every row
    blocks: np.ndarray | None = (
        None  # (N,): within which rows are compared; their shares are taken as given
    )
    linked: bool = False  # whether every unit has a row in each sample; else it has rows in one

    @cached_property
    def rows(self) -> np.ndarray:
        """Numbers of rows (units, 2) of every unit in each sample."""
        return np.bincount(
            2 * self.units + self.second, minlength=2 * int(self.units.max()) + 2
        ).reshape(-1, 2)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of units with rows in each sample."""
        first, second = map(int, np.count_nonzero(self.rows, axis=0))
        return first, second

    @cached_property
    def cells(self) -> np.ndarray:
        """Block of every unit."""
        cells = np.zeros(len(self.rows), dtype=np.intp)
        cells[self.units] = 0 if self.blocks is None else self.blocks
        return cells

    def weights(self) -> np.ndarray:
        """Return the weights (units, 2) of units in each sample, with sum 1.

        Units weigh by their rows; blocks weigh the same in both samples.

        Blocks with fewer than two units of a sample count nothing; if there are no others, weights
        are NaN.
        """
        counts = self.rows.astype(np.float64)
        if self.blocks is not None:
            rows = group_sums(counts, self.cells)
            enough = group_sums(counts > 0.0, self.cells).min(axis=1) >= 2.0
            share = np.where(enough, rows.sum(axis=1), 0.0)[:, None] / np.maximum(rows, 1.0)
            counts *= share[self.cells]
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=0))


def distance(features: Features, pair: Pair, relative_to: str) -> Estimate:
    """Return the squared distance of two means as a share, with numerator and denominator unbiased.

    Relative to "norms" it is ``|mu_X - mu_Y|^2 / (|mu_X|^2 + |mu_Y|^2)``, which is 1 if the means
    have nothing in common; to "variance", ``|mu_X - mu_Y|^2 / 4`` over the variance of an even
    mixture of both, the share of the variance in feature space that is between the samples (for a
    linear kernel and samples of one size the R^2 of analysis of variance).  Inner products of means
    are weighted means over rows of different units, and the jackknife leaves out units.  Of the
    variance, the part of second order is 2 tr(S_X^2) / m^2 + 2 tr(S_Y^2) / n^2 + 4 tr(S_X S_Y) / (m
    n) for covariance operators S, each trace estimated without bias.
    """
    weights = pair.weights()
    units = pair.units
    if np.isnan(weights).any():
        return Estimate(np.nan, np.nan, np.nan, 0)
    rows = np.eye(2)[pair.second.astype(np.intp)] * (weights / np.maximum(pair.rows, 1))[units]
    sums = _unit_sums(features, rows, units)
    lengths = group_sums(rows * features.diagonal()[:, None], units)
    total = sums.sum(axis=0)
    length = lengths.sum(axis=0)
    rest = 1.0 - weights
    alone = weights.T @ weights
    own = weights[:, :, None] * weights[:, None, :]  # of units with themselves
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / (1.0 - alone)
        left = (total - sums - sums.transpose(0, 2, 1)) / (
            rest[:, :, None] * rest[:, None, :] - (alone - own)
        )
        if pair.blocks is not None:
            norms = np.diagonal(total) + _own_products_in_blocks(features, pair, rows, weights)
            means[[0, 1], [0, 1]] = norms
            left[:, [0, 1], [0, 1]] = np.where(pair.rows > 0, left[:, [0, 1], [0, 1]], norms)
        value, scale = _share(means, length, relative_to)
        without, _ = _share(left, (length - lengths) / rest, relative_to)
        strata = (
            np.zeros(len(weights), dtype=np.intp)
            if pair.linked
            else 2 * pair.cells + (pair.rows[:, 1] > 0)
        )
        # without a unit its block keeps its weight, which is then more of a smaller whole
        change = (
            rest.min(axis=1) if pair.blocks is not None else 1.0 - 1.0 / np.bincount(strata)[strata]
        )
        variance = float(jackknife(centered(change * (without - value), strata), strata)[0].sum())
    second = _second_order(features, pair, weights) / float(scale) ** 2 if scale else np.nan
    event = _event(means, length, np.diag(alone), relative_to) / float(scale) if scale else 0.0
    return Estimate(
        float(value), variance, second, min(map(int, np.count_nonzero(weights, axis=0))), event
    )


def _event(means: np.ndarray, lengths: np.ndarray, weights: np.ndarray, relative_to: str) -> float:
    """Return the correction of the distance of separate samples for a unit.

    It is what a unit of one sample that is distributed as the other takes from the distance.

    It is in units of the denominator; ``weights`` (2,) are those of a unit in each sample,
    ``means`` and ``lengths`` are as in `_share`.
    """
    own = np.diag(means)
    apart = own[::-1] if relative_to == NORMS else lengths[::-1] - 2.0 * means[0, 1] + own
    return float((2.0 * weights * apart).max())


def _share(
    means: np.ndarray, lengths: np.ndarray, relative_to: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance as a share and its denominator.

    They come from products of means (..., 2, 2) and mean lengths.
    """
    within = means[..., 0, 0] + means[..., 1, 1]
    across = means[..., 0, 1]
    if relative_to == NORMS:
        return 1.0 - 2.0 * across / within, within
    whole = 2.0 * lengths.sum(axis=-1) - within - 2.0 * across
    return (within - 2.0 * across) / whole, whole


def _own_products_in_blocks(
    features: Features, pair: Pair, rows: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Estimate the bias (2,) of the squared norm of each mean, block by block.

    It is what products of units with themselves add.
    """
    assert pair.blocks is not None
    products = rows * (features.within(rows, pair.blocks) - features.within(rows, pair.units))
    share = group_sums(weights, pair.cells)
    alone = group_sums(weights**2, pair.cells)
    parts = np.divide(alone, share**2 - alone, out=np.zeros_like(alone), where=alone > 0.0)
    return np.asarray((group_sums(products, pair.blocks) * parts).sum(axis=0))


def _second_order(features: Features, pair: Pair, weights: np.ndarray) -> float:
    """Return the variance of the squared distance if it is zero."""
    codes = np.unique(pair.second * len(weights) + pair.units, return_inverse=True)[1]
    if not np.array_equal(codes, np.arange(len(codes))):
        features = features.means(codes)
    m = pair.sizes[0]
    squares = np.square(weights)  # zeros of units without rows do not count
    sums = squares.sum(axis=0)
    pairs = (sums**2 - np.square(squares).sum(axis=0)) / (1.0 - sums) ** 2
    if pair.linked:
        z = features.values
        gram = (
            z[:m] - z[m:]
            if features.by_coordinates
            else z[:m, :m] + z[m:, m:] - z[:m, m:] - z[m:, :m]
        )
        return float(2.0 * pairs[0] * spread(Features(gram, features.by_coordinates)))
    within = pairs[0] * spread(features[:m]) + pairs[1] * spread(features[m:])
    return float(2.0 * within + 4.0 * sums[0] * sums[1] * _common(features, m))


def distances(features: Features, sizes: Sequence[int], units: np.ndarray) -> JackknifeEstimates:
    """Estimate the unbiased squared distances (MMD^2) of the first sample to the others.

    There is one distance for each of the others.

    ``features`` are those of the pooled rows, sample after sample; ``units`` (N,) are codes 0, 1,
    ... of their units. No two rows of a unit are compared, so that values without a unit follow
    from sums that are known already.
    """
    members = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    sums = _unit_sums(features, members, units)
    rows = group_sums(members, units)
    pairs = rows[:, :, None] * (rows.sum(axis=0) - rows)[:, None, :]
    total, count = (
        np.concatenate(
            [parts.sum(axis=0)[None], parts.sum(axis=0) - parts - parts.transpose(0, 2, 1)]
        )
        for parts in (sums, pairs)
    )
    means = total / count
    norms = np.einsum("uss->us", means)
    values = norms[:, :1] + norms[:, 1:] - 2.0 * means[:, 0, 1:]
    return JackknifeEstimates(values[0], values[1:], rows > 0.0, ROUNDING * features.size)


# --- sums of inner products, and covariance operators ---------------------------------------------


def group_sums(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the sums (groups, k) of the rows of values (n, k) with the same code 0, 1, ..."""
    return np.stack([np.bincount(codes, weights=column) for column in values.T], axis=1)


def _unit_sums(features: Features, weights: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return weighted sums (units, k, k) of inner products between units.

    They are between the points of a unit and of all other units.

    Entry [u, s, t] pairs the points of unit u, with the weights (n, k) of column s, and the others
    with the weights of column t.  A U statistic is their sum over units, and without a unit it has
    less of these.
    """
    spans = [slice(rows[0], rows[-1] + 1) for rows in map(np.flatnonzero, weights.T)]
    sums = np.stack(
        [features.inner(weights[span, t], second=span) for t, span in enumerate(spans)], axis=1
    )
    products = weights[:, :, None] * (sums - features.within(weights, units))[:, None, :]
    k = weights.shape[1]
    return group_sums(products.reshape(-1, k * k), units).reshape(-1, k, k)


def spread(features: Features) -> float:
    """Return an unbiased estimate of the squared norm of the covariance operator.

    It is 0 if only rounding is left.

    It is the inner product of the U-centered Gram matrix with itself: L. Song et al., Journal of
    Machine Learning Research 13 (2012), theorem 2; G. J. Szekely and M. L. Rizzo, Annals of
    Statistics 42 (2014), section 3.
    """
    n = len(features)
    ones = np.ones(len(features))
    if n < 4:
        return float("nan")
    mean = float(features.inner(ones).sum() - features.diagonal().sum()) / (n * (n - 1.0))
    moved = _less(features, mean)
    diagonal = moved.diagonal()
    rows = moved.inner(ones) - diagonal
    squares = moved.squares() - float(diagonal @ diagonal)
    norm = (
        squares
        + float(rows.sum()) ** 2 / ((n - 1.0) * (n - 2.0))
        - 2.0 * float(rows @ rows) / (n - 2.0)
    )
    least = max(n * (n - 1.0) * (_LAST_BITS * mean) ** 2, ROUNDING * squares)
    return norm / (n * (n - 3.0)) if norm > least else 0.0


def _common(features: Features, split: int) -> float:
    """Return an unbiased inner product of covariance operators of two sets of points.

    The sets are the first ``split`` points and the others.
    """
    m = split
    n = len(features) - split
    first = slice(split)
    second = slice(split, None)
    mean = float(features.inner(np.full(n, 1.0 / n), first, second).mean())
    moved = _less(features, mean)
    rows = moved.inner(np.full(n, 1.0 / n), first, second)
    columns = moved.inner(np.full(m, 1.0 / m), second, first)
    squares = moved.squares(first, second)
    total = m * n * float(rows.mean()) ** 2
    product = squares - n * float(rows @ rows) - m * float(columns @ columns) + total
    least = max(m * n * (_LAST_BITS * mean) ** 2, ROUNDING * squares)
    return product / ((m - 1.0) * (n - 1.0)) if product > least else 0.0


def _less(features: Features, mean: float) -> Features:
    """Return the points less what they share.

    Covariances do not see the shared part, which would cost digits.
    """
    if features.by_coordinates:
        return Features(features.values - features.values.mean(axis=0), True)
    return _LessMean(features.values, mean)


class _LessMean(Features):
    """Gram matrix less a number, without a copy of it."""

    def __init__(self, gram: np.ndarray, mean: float) -> None:
        super().__init__(gram)
        self._mean = mean

    def diagonal(self) -> np.ndarray:
        return np.asarray(super().diagonal() - self._mean)

    def inner(self, weights: np.ndarray, first: slice = _ALL, second: slice = _ALL) -> np.ndarray:
        out = [(part - self._mean) @ weights for part in self._parts(first, second)]
        return np.concatenate(out)

    def squares(self, first: slice = _ALL, second: slice = _ALL) -> float:
        return sum(float(np.square(part - self._mean).sum()) for part in self._parts(first, second))

    def _parts(self, first: slice, second: slice) -> Iterator[np.ndarray]:
        """Yield some rows of the matrix at a time."""
        chosen = self.values[first, second]
        for start in range(0, len(chosen), _ROWS):
            yield chosen[start : start + _ROWS]
