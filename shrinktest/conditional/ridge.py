"""Kernel ridge regression on given variables, by eigenvectors, tuned by leaving one row out in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest.kernels import Gaussian, Kernel
from shrinktest.kernels.bandwidths import median_bandwidth

_DENSE = 300  # rows up to which all eigenvectors are found
_RANK = 200  # coordinates of a kernel of more rows
_OF_COLUMN = 12  # coordinates of a kernel of one column of many
_WIDTHS = (0.25, 0.5, 1.0, 2.0)  # times the median distance
_LINE = 0.1  # weight of the inner product beside a Gaussian kernel, so that straight lines cost it nothing
_AMOUNTS = 10.0 ** np.arange(-4.0, 1.6, 0.5)  # of shrinkage, relative to the largest eigenvalue
_SMALLEST = 1e-6  # of the largest eigenvalue: directions below it are shrunk to a hundredth at least
_OWN = 0.99  # share of a row in its own prediction from which there is nothing left to leave out


@dataclass(frozen=True, eq=False)
class Basis:
    """Eigenvectors of the centred Gram matrix of one kernel of the given variables.

    Parameters
    ----------
    vectors : ndarray, shape (n, m)
    values : ndarray, shape (m,)
    """

    vectors: np.ndarray
    values: np.ndarray

    @classmethod
    def of_gram(cls, gram: np.ndarray) -> Basis:
        """From a Gram matrix (n, n)."""
        rows = gram.mean(axis=0)
        values, vectors = np.linalg.eigh(gram - rows - rows[:, None] + rows.mean())
        return cls._kept(vectors, values)

    @classmethod
    def of_coordinates(cls, z: np.ndarray) -> Basis:
        """From coordinates (n, m) of the features, with fewer columns than rows."""
        z = z - z.mean(axis=0)
        values, turned = np.linalg.eigh(z.T @ z)
        kept = values > _SMALLEST * max(values[-1], 0.0)
        return cls._kept(z @ (turned[:, kept] / np.sqrt(values[kept])), values[kept])

    @classmethod
    def _kept(cls, vectors: np.ndarray, values: np.ndarray) -> Basis:
        kept = values > _SMALLEST * max(values[-1], 0.0) if values.size else np.zeros(0, dtype=bool)
        return cls(np.ascontiguousarray(vectors[:, kept]), values[kept])


@dataclass(frozen=True, eq=False)
class Smoother:
    """A kernel ridge regression with its amount: what it leaves of a variable is ``residuals(variable)``.

    Parameters
    ----------
    vectors : ndarray, shape (n, m)
    kept : ndarray, shape (m,)
        By what factor the regression shrinks each of them, from 0 to 1.
    """

    vectors: np.ndarray
    kept: np.ndarray

    @property
    def own(self) -> np.ndarray:
        """The share (n,) of every row in its own prediction, with that of the mean."""
        return np.asarray(np.square(self.vectors) @ self.kept + 1.0 / len(self.vectors))

    def residuals(self, targets: np.ndarray) -> np.ndarray:
        """What is left of targets (n, r)."""
        less = targets - targets.mean(axis=0)
        return np.asarray(less - self.vectors @ (self.kept[:, None] * (self.vectors.T @ less)))

    def of_gram(self, gram: np.ndarray) -> np.ndarray:
        """The Gram matrix (n, n) of what is left of features with this Gram matrix."""
        once = self.residuals(gram)
        return self.residuals(np.ascontiguousarray(once.T))

    def covariance(self) -> np.ndarray:
        """The covariance matrix (n, n) of what is left of white noise."""
        n = len(self.vectors)
        lost = self.kept * (2.0 - self.kept)
        return np.asarray(np.eye(n) - 1.0 / n - (self.vectors * lost) @ self.vectors.T)


def standardized(z: np.ndarray) -> np.ndarray:
    """The columns (n, d) in units of their standard deviations; those with one value only are left out."""
    spread = z.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(z).max(axis=0), np.finfo(np.float64).tiny)
    return np.ascontiguousarray((z[:, varies] - z[:, varies].mean(axis=0)) / spread[varies])


def bases(z: np.ndarray) -> tuple[Basis, ...]:
    """What regressions on the given variables (n, d) choose from: straight lines, smooth and finer functions.

    They are linear functions, functions of all columns with four bandwidths, and, of several columns, sums of
    functions of one each.
    """
    z = standardized(z)
    n, d = z.shape
    if d == 0:
        return (Basis(np.zeros((n, 0)), np.zeros(0)),)
    line = z / d**0.5
    width = median_bandwidth(z)
    smooth = [Gaussian(factor * width) for factor in _WIDTHS]
    columns = [(Gaussian(1.0), z[:, j : j + 1]) for j in range(d)] if d > 1 else []
    found = [Basis.of_coordinates(line) if d < n else Basis.of_gram(line @ line.T)]
    if n <= _DENSE:
        straight = _LINE * (line @ line.T)
        found += [Basis.of_gram(kernel(z) + straight) for kernel in smooth]
        if columns:
            found.append(Basis.of_gram(sum(kernel(one) for kernel, one in columns) / d + straight))
        return tuple(found)
    straight = _LINE**0.5 * line
    found += [Basis.of_coordinates(np.hstack([_coordinates(kernel, z, _RANK), straight])) for kernel in smooth]
    if columns:
        several = [_coordinates(kernel, one, max(4, min(_OF_COLUMN, _RANK // d))) for kernel, one in columns]
        found.append(Basis.of_coordinates(np.hstack([*(one / d**0.5 for one in several), straight])))
    return tuple(found)


def _coordinates(kernel: Kernel, points: np.ndarray, rank: int) -> np.ndarray:
    """Coordinates (n, rank or fewer) by landmarks among the points; all at once, without looking for the best."""
    landmarks = points[np.random.default_rng(0).choice(len(points), min(rank, len(points)), replace=False)]
    values, turned = np.linalg.eigh(kernel(landmarks))
    kept = values > _SMALLEST * values[-1]
    return np.asarray(kernel(points, landmarks) @ (turned[:, kept] / np.sqrt(values[kept])))


def smoother(candidates: Sequence[Basis], targets: np.ndarray) -> Smoother:
    """The regression of targets (n, r) that predicts rows best which it has not seen.

    Leaving row i out leaves (row i of the residuals) / (1 - its share in its own prediction), for any amount at the
    price of one product.
    """
    n = len(targets)
    less = targets - targets.mean(axis=0)
    best = float(np.square(less * n / (n - 1.0)).sum()), Smoother(np.zeros((n, 0)), np.zeros(0))
    for basis in candidates:
        along, squares = basis.vectors.T @ less, np.square(basis.vectors)
        largest = basis.values[-1] if basis.values.size else 1.0
        for amount in _AMOUNTS * largest:
            kept = basis.values / (basis.values + amount)
            own = squares @ kept + 1.0 / n
            if own.max() > _OWN:
                continue
            left = (less - basis.vectors @ (kept[:, None] * along)) / (1.0 - own)[:, None]
            score = float(np.square(left).sum())
            if score < best[0]:
                best = score, Smoother(basis.vectors, kept)
    return best[1]


def inflation(first: Smoother, second: Smoother) -> float:
    """How much larger squared sums of products of residuals are than those of independent products, at least 1.

    Residuals of different rows share the noise of the regression.  For white noise in both variables, the squared sum
    of their products has a mean that is larger by this factor than with signs drawn at random.
    """
    one, other = first.covariance(), second.covariance()
    return max(1.0, float((one * other).sum() / (np.diag(one) * np.diag(other)).sum()))
