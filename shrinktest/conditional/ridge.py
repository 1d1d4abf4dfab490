"""Kernel ridge regression on given variables, by eigenvectors, tuned by leaving one row out in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shrinktest.kernels import Gaussian
from shrinktest.kernels.bandwidths import drawn_rows, median_bandwidth
from shrinktest.kernels.feature_maps import nystrom
from shrinktest.units import near_one

_DENSE = 300  # rows up to which Gram matrices are decomposed as a whole
_RANK = 150  # landmarks of a kernel of more rows
_RANK_OF_COLUMN = 12  # landmarks of a kernel of one column of many
_WIDTHS = (2.0, 1.0, 0.5, 0.25)  # bandwidths, times the median distance
_LINE = 0.1  # weight of the inner product that is added to a Gaussian kernel, so that straight lines cost it nothing
_AMOUNTS = 10.0 ** np.arange(-4.0, 1.6, 0.5)  # of shrinkage, relative to the largest eigenvalue
_SMALLEST = 1e-6  # of the largest eigenvalue: directions below it are shrunk to a hundredth at least
_OWN = 0.99  # largest share of a row in its own prediction with which it can be left out


@dataclass(frozen=True, eq=False)
class Basis:
    """Eigenvectors (n, m) and eigenvalues (m,) of the centered Gram matrix of a kernel of the given variables."""

    vectors: np.ndarray
    values: np.ndarray

    @classmethod
    def from_gram(cls, gram: np.ndarray) -> Basis:
        """Decompose a Gram matrix (n, n)."""
        means = gram.mean(axis=0)
        values, vectors = np.linalg.eigh(gram - means - means[:, None] + means.mean())
        large = values > _SMALLEST * max(values[-1], 0.0)
        return cls(np.ascontiguousarray(vectors[:, large]), values[large])

    @classmethod
    def from_coordinates(cls, z: np.ndarray) -> Basis:
        """Decompose the kernel with coordinates z (n, m), with fewer columns than rows."""
        z = z - z.mean(axis=0)
        values, turned = np.linalg.eigh(z.T @ z)
        large = values > _SMALLEST * max(values[-1], 0.0)
        return cls(np.ascontiguousarray(z @ (turned[:, large] / np.sqrt(values[large]))), values[large])

    @cached_property
    def shrinkage(self) -> tuple[np.ndarray, np.ndarray]:
        """Factors (m, a) by which regressions shrink, and shares (n, a) of rows in their own predictions.

        They are those of all amounts of shrinkage with which every row is predicted by others as well.
        """
        factors = self.values[:, None] / (self.values[:, None] + _AMOUNTS * self.values.max(initial=0.0))
        own = np.square(self.vectors) @ factors + 1.0 / len(self.vectors)
        usable = own.max(axis=0) <= _OWN
        return factors[:, usable], own[:, usable]


@dataclass(frozen=True, eq=False)
class Smoother:
    """A tuned kernel ridge regression: eigenvectors (n, m), and the factor (m,) from 0 to 1 of each."""

    vectors: np.ndarray
    factors: np.ndarray

    @property
    def own(self) -> np.ndarray:
        """Share (n,) of every row in its own prediction, with that of the mean."""
        return np.asarray(np.square(self.vectors) @ self.factors + 1.0 / len(self.vectors))

    def residuals(self, targets: np.ndarray) -> np.ndarray:
        """Residuals (n, r) of targets."""
        centered = targets - targets.mean(axis=0)
        return np.asarray(centered - self.vectors @ (self.factors[:, None] * (self.vectors.T @ centered)))

    def residual_gram(self, gram: np.ndarray) -> np.ndarray:
        """Gram matrix (n, n) of the residuals of features with this Gram matrix."""
        once = self.residuals(gram)
        return self.residuals(np.ascontiguousarray(once.T))


def standardized(z: np.ndarray) -> np.ndarray:
    """Return the columns (n, d) in units of their standard deviations, without constant ones."""
    z = near_one(z)
    spread = z.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(z).max(axis=0), np.finfo(np.float64).tiny)
    return np.ascontiguousarray((z[:, varies] - z[:, varies].mean(axis=0)) / spread[varies])


def candidate_bases(z: np.ndarray) -> tuple[Basis, ...]:
    """Bases of regressions on given variables (n, d): lines, functions of all columns with four bandwidths, sums.

    The sums are of functions of one column each, for several columns.
    """
    z = standardized(z)
    n, d = z.shape
    if d == 0:
        return ()
    line, single = z / d**0.5, Gaussian(1.0)
    some = z if n <= _DENSE else drawn_rows(z, _DENSE, np.random.default_rng(0))
    kernels = [Gaussian(width * median_bandwidth(some)) for width in _WIDTHS]
    columns = [z[:, j : j + 1] for j in range(d)] if d > 1 else []
    straight = Basis.from_coordinates(line) if d < n else Basis.from_gram(line @ line.T)
    if n <= _DENSE:
        grams = [kernel(z) for kernel in kernels]
        grams += [np.asarray(sum(map(single, columns))) / d] if columns else []
        return (straight, *(Basis.from_gram(gram + _LINE * (line @ line.T)) for gram in grams))
    parts = [[nystrom(kernel, z, _RANK, 0).coordinates(z)] for kernel in kernels]
    rank = max(4, min(_RANK_OF_COLUMN, _RANK // d))
    parts += [[nystrom(single, one, rank, 0).coordinates(one) / d**0.5 for one in columns]] if columns else []
    return (straight, *(Basis.from_coordinates(np.hstack([*each, _LINE**0.5 * line])) for each in parts))


def tuned_smoother(bases: Sequence[Basis], targets: np.ndarray) -> Smoother:
    """Tune a regression of targets (n, r) by leaving one row out.

    Leaving row i out leaves (row i of the residuals) / (1 - its share in its own prediction).
    """
    n = len(targets)
    centered = targets - targets.mean(axis=0)
    best = float(np.square(centered * n / (n - 1.0)).sum()), Smoother(np.zeros((n, 0)), np.zeros(0))
    for basis in bases:
        factors, own = basis.shrinkage
        amounts, columns = own.shape[1], centered.shape[1]
        shrunk = factors[:, :, None] * (basis.vectors.T @ centered)[:, None, :]
        fitted = basis.vectors @ shrunk.reshape(len(factors), amounts * columns)
        errors = (centered[:, None, :] - fitted.reshape(n, amounts, columns)) / (1.0 - own)[:, :, None]
        scores = np.einsum("iar,iar->a", errors, errors)
        if scores.size and scores.min() < best[0]:
            best = float(scores.min()), Smoother(basis.vectors, factors[:, scores.argmin()])
    return best[1]


def inflation(first: Smoother, second: Smoother) -> float:
    """Factor by which squared sums of products of residuals exceed those of independent products, at least 1.

    Residuals of different rows share the noise of the regression.  For white noise in both variables, the squared sum
    of their products has a mean that is larger by this factor than with signs drawn at random.
    """
    n, lost = len(first.vectors), [one.factors * (2.0 - one.factors) for one in (first, second)]
    shared = np.square(first.vectors.T @ second.vectors)
    products = n - 1.0 - lost[0].sum() - lost[1].sum() + lost[0] @ shared @ lost[1]
    alone = [1.0 - 1.0 / n - np.square(one.vectors) @ gone for one, gone in zip((first, second), lost, strict=True)]
    return max(1.0, float(products / (alone[0] * alone[1]).sum()))
