"""The squared norm of the mean of products of residual features, for every estimator, as a function of signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.permutations.null import Statistic
from shrinktest.statistics.statistic import Moments, estimated_norm
from shrinktest.statistics.sums import times

_LEFT_OUT = 1e-8  # of the squared norms of all products: those that may be left out, with all signs alike
_SMALLEST = 1e-300  # chance; smaller ones count as this


@dataclass(frozen=True, eq=False)
class Products:
    """Features of rows whose mean should be zero."""

    values: np.ndarray  # (n, n) or (n, r): their Gram matrix, or the features
    by_gram: bool = True

    @classmethod
    def of(cls, *parts: np.ndarray) -> Products:
        """All products of a feature of each part, (n, r), (n, q), ...: by Gram matrix if they are many."""
        n, products = len(parts[0]), parts[0]
        for k, part in enumerate(parts[1:], start=1):
            weight = np.square(products).T @ np.square(part)
            order = np.argsort(weight, axis=None)
            small = np.cumsum(weight.ravel()[order]) <= _LEFT_OUT * weight.sum()
            large = np.sort(order[~small])
            if 2 * len(large) > n:
                gram = products @ products.T
                for other in parts[k:]:
                    gram *= other @ other.T
                return cls(gram)
            left, right = np.unravel_index(large, weight.shape)
            products = products[:, left] * part[:, right]
        return cls(np.ascontiguousarray(products), by_gram=False)

    @classmethod
    def concatenated(cls, *parts: Products) -> Products:
        """The features of all parts: by Gram matrix if a part is, or if they are many."""
        columns = sum(part.values.shape[1] for part in parts)
        if any(part.by_gram for part in parts) or 2 * columns > len(parts[0].values):
            return cls(np.sum([part.gram for part in parts], axis=0))
        return cls(np.hstack([part.values for part in parts]), by_gram=False)

    @cached_property
    def gram(self) -> np.ndarray:
        """Gram matrix (n, n)."""
        return self.values if self.by_gram else self.values @ self.values.T

    @property
    def trace(self) -> float:
        """Sum of all squared norms."""
        return float(np.trace(self.values) if self.by_gram else np.square(self.values).sum())

    def totals(self, signs: np.ndarray) -> np.ndarray:
        """Squared norms (B,) of the sums with signs (B, n); each row by itself, however many there are."""
        sums = times(signs, self.values)
        return np.asarray((sums * signs if self.by_gram else np.square(sums)).sum(axis=1))

    def moments(self, unit: np.ndarray) -> tuple[float, float]:
        """Mean and variance of the totals over all signs, the same for rows of one ``unit`` (n,)."""
        together = _summed(self.values, unit)
        if self.by_gram:
            gram = _summed(np.ascontiguousarray(together.T), unit)
            squares, diagonal = float(np.square(gram).sum()), np.diag(gram)
        else:
            squares, diagonal = float(np.square(together.T @ together).sum()), np.square(together).sum(axis=1)
        return float(diagonal.sum()), max(0.0, 2.0 * (squares - float(np.square(diagonal).sum())))


def _summed(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sums (groups, r) of the rows of one unit."""
    groups = int(unit.max()) + 1
    if groups == len(unit):
        return values
    out = np.zeros((groups, values.shape[1]))
    np.add.at(out, unit, values)
    return out


def sign_statistic(estimator: MeanEstimator, products: Products) -> Statistic:
    """Return the statistic as a function of signs (B, n); the estimator is fitted to every choice of signs."""
    n, trace = len(products.values), products.trace
    size = (float(np.abs(products.values).mean()) if products.by_gram else trace / n) or np.finfo(np.float64).tiny

    def moments(signs: np.ndarray) -> Moments:
        total = products.totals(signs)
        return total, np.full(len(total), trace), size

    def grams(signs: np.ndarray) -> np.ndarray:
        return products.gram * signs[:, :, None] * signs[:, None, :]

    return estimated_norm(estimator, n, moments, grams)


@dataclass(frozen=True, eq=False)
class Part:
    """A statistic among several of a test."""

    name: str  # for the reader
    share: float  # of the level
    products: Products
    inflation: float  # how much larger it is on the data than with signs drawn at random


class Combined:
    """Minus the decimal logarithm of the smallest chance of several statistics, each over its share of the largest.

    The chance is that of a gamma distribution with the mean and the variance of the squared norm of the plain mean over
    all signs; it only makes the statistics comparable.  Rows with the same code in ``unit`` (n,) turn together.
    """

    def __init__(self, parts: Sequence[Part], estimator: MeanEstimator, unit: np.ndarray) -> None:
        n, largest = len(unit), max((part.share for part in parts), default=1.0)
        self.parts: list[Part] = []
        self._scored: list[tuple[Statistic, float, float, float]] = []  # with shape, scale and share
        for part in parts:
            mean, variance = part.products.moments(unit)
            if variance > 0.0:
                statistic = sign_statistic(estimator, part.products)
                self._scored.append((statistic, mean**2 / variance, variance / mean / n**2, part.share / largest))
                self.parts.append(part)

    def chances(self, signs: np.ndarray) -> np.ndarray:
        """Chance (B, parts) of every statistic, over its share of the largest."""
        from scipy.special import gammaincc

        chances, permuted = np.empty((len(signs), len(self.parts))), (signs < 0.0).any(axis=1)
        for j, (statistic, shape, scale, share) in enumerate(self._scored):
            value = statistic(signs)[:, 0] * np.where(permuted, self.parts[j].inflation, 1.0)
            chances[:, j] = gammaincc(shape, value / scale) / share
        return chances

    def __call__(self, signs: np.ndarray) -> np.ndarray:
        """The statistic of signs (B, n), and what ties are relative to."""
        least = self.chances(signs).min(axis=1, initial=1.0)
        value = -np.log10(np.maximum(least, _SMALLEST))
        return np.stack([value, 1.0 + value], axis=1)


def inflated(statistic: Statistic, first: np.ndarray, factor: float) -> Statistic:
    """Return the statistic times a factor for all permutations except ``first`` (N,), the data as they are."""

    def multiplied(permuted: np.ndarray) -> np.ndarray:
        out = statistic(permuted)
        out[(permuted != first).any(axis=1), 0] *= factor
        return out

    return multiplied
