"""Squared norm of the mean of residual feature products, for every estimator, by signs.

It is a function of signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.permutations.null import Statistic
from shrinktest.statistics.features import Features
from shrinktest.statistics.statistic import Moments, estimated_norm
from shrinktest.statistics.sums import times

_LEFT_OUT = (
    1e-8  # of the squared norms of all products: those that may be left out, with all signs alike
)
_SMALLEST = 1e-300  # chance; smaller ones count as this


def products_of(*parts: np.ndarray) -> Features:
    """Return all products of a feature of each part, (n, r), (n, q), ...

    They are given by their Gram matrix if they are many.
    """
    n = len(parts[0])
    products = parts[0]
    for k, part in enumerate(parts[1:], start=1):
        weight = np.square(products).T @ np.square(part)
        order = np.argsort(weight, axis=None)
        small = np.cumsum(weight.ravel()[order]) <= _LEFT_OUT * weight.sum()
        large = np.sort(order[~small])
        if 2 * len(large) > n:
            gram = products @ products.T
            for other in parts[k:]:
                gram *= other @ other.T
            return Features(gram)
        left, right = np.unravel_index(large, weight.shape)
        products = products[:, left] * part[:, right]
    return Features(np.ascontiguousarray(products), by_coordinates=True)


def concatenated(*parts: Features) -> Features:
    """Return the features of all parts: by Gram matrix if a part is, or if they are many."""
    columns = sum(part.values.shape[1] for part in parts)
    if not all(part.by_coordinates for part in parts) or 2 * columns > len(parts[0]):
        return Features(np.sum([part.gram for part in parts], axis=0))
    return Features(np.hstack([part.values for part in parts]), by_coordinates=True)


def signed_norms(features: Features, signs: np.ndarray) -> np.ndarray:
    """Squared norms (B,) of the sums with signs (B, n).

    Each row by itself, however many there are.
    """
    sums = times(signs, features.values)
    return np.asarray((np.square(sums) if features.by_coordinates else sums * signs).sum(axis=1))


def moments_over_signs(features: Features, unit: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the squared norms over all signs.

    Signs are the same for rows of one ``unit`` (n,).
    """
    together = features if int(unit.max()) + 1 == len(unit) else features.sums(unit)
    diagonal = together.diagonal()
    products = together.values.T @ together.values if together.by_coordinates else together.values
    squares = float(np.square(products).sum())
    return float(diagonal.sum()), max(0.0, 2.0 * (squares - float(np.square(diagonal).sum())))


def sign_statistic(estimator: MeanEstimator, features: Features) -> Statistic:
    """Return the statistic as a function of signs (B, n).

    The estimator is fitted to every choice of signs.

    The mean of the features should be zero.
    """
    n = len(features)
    trace = float(features.diagonal().sum())
    size = trace / n if features.by_coordinates else float(np.abs(features.values).mean())

    def moments(signs: np.ndarray) -> Moments:
        total = signed_norms(features, signs)
        return total, np.full(len(total), trace), size or np.finfo(np.float64).tiny

    def grams(signs: np.ndarray) -> np.ndarray:
        return features.gram * signs[:, :, None] * signs[:, None, :]

    return estimated_norm(estimator, n, moments, grams)


@dataclass(frozen=True, eq=False)
class Component:
    """A statistic among several of a test."""

    name: str  # for the reader
    share: float  # of the level
    features: Features
    inflation: float  # how much larger it is on the data than with signs drawn at random


class Combined:
    """Combined statistic: -log10 of the smallest chance of several statistics.

    Each chance is over its share of the largest.

    The chance is that of a gamma distribution with the mean and the variance of the squared norm of
    the plain mean over all signs; it only makes the statistics comparable.  Rows with the same code
    in ``unit`` (n,) turn together.
    """

    def __init__(
        self, parts: Sequence[Component], estimator: MeanEstimator, unit: np.ndarray
    ) -> None:
        n = len(unit)
        largest = max((part.share for part in parts), default=1.0)
        self.parts: list[Component] = []
        self._scored: list[
            tuple[Statistic, float, float, float]
        ] = []  # with shape, scale and share
        for part in parts:
            mean, variance = moments_over_signs(part.features, unit)
            if variance > 0.0:
                statistic = sign_statistic(estimator, part.features)
                self._scored.append(
                    (statistic, mean**2 / variance, variance / mean / n**2, part.share / largest)
                )
                self.parts.append(part)

    def chances(self, signs: np.ndarray) -> np.ndarray:
        """Chance (B, parts) of every statistic, over its share of the largest."""
        from scipy.special import gammaincc

        chances = np.empty((len(signs), len(self.parts)))
        permuted = (signs < 0.0).any(axis=1)
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
    """Return the statistic times a factor for permutations other than ``first`` (N,).

    The first is the data as they are.
    """

    def multiplied(permuted: np.ndarray) -> np.ndarray:
        out = statistic(permuted)
        out[(permuted != first).any(axis=1), 0] *= factor
        return out

    return multiplied
