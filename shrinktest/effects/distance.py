"""The distance of two samples in feature space on a scale from 0 to 1, with what its interval takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.effects.inner_products import InnerProducts
from shrinktest.effects.interval import Estimate, by_leaving_out

#: What a distance is relative to: the squared norms of both means, or the variance of both samples together.
NORMS, VARIANCE = "norms", "variance"


@dataclass(frozen=True, eq=False)
class Sides:
    """Two samples of units that vary independently: rows, pairs or groups."""

    codes: tuple[np.ndarray, np.ndarray]  # for every sample the unit 0, 1, ... of each of its rows
    # for every sample the block of each unit, whose shares are taken as given
    cells: tuple[np.ndarray, np.ndarray] | None = None
    linked: bool = False  # whether unit i of both is a pair

    @property
    def units(self) -> tuple[int, int]:
        """Numbers of units."""
        return int(self.codes[0].max()) + 1, int(self.codes[1].max()) + 1

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """What each unit of a sample counts, which adds up to 1: by its rows; with blocks, as many in both samples.

        Blocks with fewer than two units of a sample count nothing; if there are no others, weights are NaN.
        """
        counts = [np.bincount(one).astype(np.float64) for one in self.codes]
        if self.cells is not None:
            blocks = 1 + max(int(one.max()) for one in self.cells)
            rows = [np.bincount(cell, weights=n, minlength=blocks) for cell, n in zip(self.cells, counts, strict=True)]
            enough = np.min([np.bincount(cell, minlength=blocks) for cell in self.cells], axis=0) >= 2
            share = np.where(enough, rows[0] + rows[1], 0.0)
            counts = [
                n * (share / np.maximum(row, 1.0))[cell] for n, row, cell in zip(counts, rows, self.cells, strict=True)
            ]
        with np.errstate(invalid="ignore"):
            return counts[0] / counts[0].sum(), counts[1] / counts[1].sum()


@dataclass(frozen=True, eq=False)
class _Side:
    """Sums of one sample, and the same without each of its units in turn."""

    norm: float  # squared norm of the mean, from products of different units
    without: np.ndarray
    squares: float  # mean squared length of the rows
    squares_without: np.ndarray

    @classmethod
    def of(
        cls, features: InnerProducts, which: slice, weights: np.ndarray, lengths: np.ndarray, cells: np.ndarray | None
    ) -> _Side:
        diagonal = features.diagonal(which)
        rows = features.applied(weights, which, which) - diagonal * weights
        total, pairs = float(weights @ rows), 1.0 - float(weights @ weights)
        norm = total / pairs
        if cells is not None:  # pairs within blocks are too few by those of units with themselves, block by block
            inside = np.bincount(cells, weights=weights * (features.within(weights, cells, which) - diagonal * weights))
            share, alone = (np.bincount(cells, weights=one) for one in (weights, weights**2))
            left = np.divide(alone, share**2 - alone, out=np.zeros_like(alone), where=alone > 0.0)
            norm = total + float(inside @ left)
        left = (1.0 - weights) ** 2 - (float(weights @ weights) - weights**2)
        squares = float(weights @ lengths)
        with np.errstate(divide="ignore", invalid="ignore"):
            without = (total - 2.0 * weights * rows) / left
        return cls(norm, without, squares, (squares - weights * lengths) / (1.0 - weights))


def distance(features: InnerProducts, sides: Sides, relative_to: str) -> Estimate:
    """The squared distance of two means as a share, estimated without bias of numerator and denominator.

    InnerProducts are of the pooled rows, those of the first sample first.  Relative to "norms" it is
    ``|mu_X - mu_Y|^2 / (|mu_X|^2 + |mu_Y|^2)``, which is 1 where the means have nothing in common; to "variance",
    ``|mu_X - mu_Y|^2 / 4`` over the variance of an even mixture of both, the share of the variance in feature space
    that is between the samples (for a linear kernel and samples of one size the R^2 of analysis of variance).

    With A and B the means of products of different units within the samples and C those across, the first is
    1 - 2 C / (A + B) and the second (A + B - 2 C) / (2 (U + V) - A - B - 2 C), with U and V the mean squared lengths.
    The variance is that of the jackknife; its part of second order is 2 tr(S_X^2) / m^2 + 2 tr(S_Y^2) / n^2 +
    4 tr(S_X S_Y) / (m n) for covariance operators S, each trace estimated without bias.
    """
    split = len(sides.codes[0])
    m, n = sides.units
    p, q = sides.weights()
    lengths = [
        np.bincount(code, weights=part) / np.bincount(code)
        for code, part in zip(sides.codes, np.split(features.diagonal(), [split]), strict=True)
    ]
    if np.isnan(p[0]):
        return Estimate(np.nan, np.nan, np.nan, 0)
    if (m, n) != (split, len(features) - split):
        features = features.averaged(np.concatenate([sides.codes[0], m + sides.codes[1]]))
    first, second = slice(0, m), slice(m, m + n)
    cells = sides.cells or (None, None)
    a, b = (
        _Side.of(features, which, weights, length, cell)
        for which, weights, length, cell in zip((first, second), (p, q), lengths, cells, strict=True)
    )
    forward, back = features.applied(q, first, second), features.applied(p, second, first)
    own = np.zeros(m)
    if sides.linked:
        own = _own(features, first, second)
        forward, back = forward - q * own, back - p * own
    cross = float(p @ forward)
    pairs = 1.0 - (float(p @ q) if sides.linked else 0.0)
    share = _of_norms if relative_to == NORMS else _of_variance
    value, unit = share(a.norm, b.norm, cross / pairs, a.squares, b.squares)
    if sides.linked:
        left = (1.0 - p) * (1.0 - q) - (float(p @ q) - p * q)
        reduced = (cross - p * forward - q * back) / left
        every, _ = share(a.without, b.without, reduced, a.squares_without, b.squares_without)
        jackknife = by_leaving_out(every)
    else:
        fewer, _ = share(a.without, b.norm, (cross - p * forward) / (1.0 - p), a.squares_without, b.squares)
        other, _ = share(a.norm, b.without, (cross - q * back) / (1.0 - q), a.squares, b.squares_without)
        if sides.cells is not None:  # what a block counts stays, which is more of a whole that is less
            fewer, other = (1.0 - p) * (fewer - value), (1.0 - q) * (other - value)
        jackknife = by_leaving_out(fewer, cells[0]) + by_leaving_out(other, cells[1])
    second_order = _second_order(features, first, second, p, q, linked=sides.linked)
    counted = min(int(np.count_nonzero(weights)) for weights in (p, q))
    return Estimate(float(value), jackknife, second_order / float(unit) ** 2 if unit else np.nan, counted)


def _of_norms(a: Any, b: Any, c: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """The share, and what the squared distance is divided by."""
    return 1.0 - _ratio(2.0 * c, a + b), a + b


def _of_variance(a: Any, b: Any, c: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """The share, and what the squared distance is divided by."""
    whole = 2.0 * (u + v) - a - b - 2.0 * c
    return _ratio(a + b - 2.0 * c, whole), whole


def _ratio(part: Any, whole: Any) -> Any:
    """A share; NaN of nothing, which is what there is where a kernel tells no two rows apart."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(part, whole)


def _own(features: InnerProducts, first: slice, second: slice) -> np.ndarray:
    """Inner products of both of every pair."""
    if features.by_coordinates:
        return np.asarray(np.einsum("ij,ij->i", features.values[first], features.values[second]))
    return np.asarray(np.diagonal(features.values[first, second]))


def _second_order(
    features: InnerProducts, first: slice, second: slice, p: np.ndarray, q: np.ndarray, *, linked: bool
) -> float:
    """The variance of the squared distance where it is zero."""
    if linked:
        z = features.values
        if features.by_coordinates:
            apart = InnerProducts(z[first] - z[second], True)
        else:
            across = z[first, second]
            apart = InnerProducts(z[first, first] + z[second, second] - across - across.T, False)
        return 2.0 * _of_two(p) * apart.spread()
    within = sum(2.0 * _of_two(weights) * features.spread(which) for weights, which in ((p, first), (q, second)))
    return within + 4.0 * float((p @ p) * (q @ q)) * features.common(first, second)


def _of_two(weights: np.ndarray) -> float:
    """The sum of the squares of the weights of all ordered pairs of different units, relative to their own sum."""
    squares = np.square(weights)
    total = float(squares.sum())
    return (total**2 - float(np.square(squares).sum())) / (1.0 - total) ** 2
