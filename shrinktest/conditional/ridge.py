"""Kernel ridge regression on given variables, by eigenvectors, tuned by leaving one row out in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shrinktest.kernels import Gaussian
from shrinktest.kernels.bandwidths import drawn_rows, median_bandwidth
from shrinktest.units import near_one

_DENSE = 300  # rows up to which all eigenvectors are found
_RANK = 150  # coordinates of a kernel of more rows
_OF_COLUMN = 12  # coordinates of a kernel of one column of many
_WIDEST = 2.0  # times the median distance; each of the other bandwidths is half of the one before
_FINER = 3  # of them
_JITTER = 1e-9  # of k(x, x), so that the Gram matrix of landmarks has a Cholesky factor
_LINE = 0.1  # weight of the inner product beside a Gaussian kernel, so that straight lines cost it nothing
_AMOUNTS = 10.0 ** np.arange(-4.0, 1.6, 0.5)  # of shrinkage, relative to the largest eigenvalue
_SMALLEST = 1e-6  # of the largest eigenvalue: directions below it are shrunk to a hundredth at least
_OWN = 0.99  # share of a row in its own prediction from which there is nothing left to leave out


@dataclass(frozen=True, eq=False)
class Basis:
    """Eigenvectors of the centred Gram matrix of one kernel of the given variables."""

    vectors: np.ndarray  # (n, m)
    values: np.ndarray  # (m,)

    @cached_property
    def shrinkage(self) -> tuple[np.ndarray, np.ndarray]:
        """By what factors (m, a) regressions shrink, and the shares (n, a) of rows in their own predictions.

        They are those of all amounts with which every row is predicted by others as well.
        """
        largest = self.values[-1] if self.values.size else 1.0
        kept = self.values[:, None] / (self.values[:, None] + _AMOUNTS * largest)
        own = np.square(self.vectors) @ kept + 1.0 / len(self.vectors)
        usable = own.max(axis=0) <= _OWN
        return kept[:, usable], own[:, usable]

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
    """A kernel ridge regression with its amount: what it leaves of a variable is ``residuals(variable)``."""

    vectors: np.ndarray  # (n, m)
    kept: np.ndarray  # (m,): by what factor the regression shrinks each of them, from 0 to 1

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


def standardized(z: np.ndarray) -> np.ndarray:
    """The columns (n, d) in units of their standard deviations; those with one value only are left out."""
    z = near_one(z)
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
    some = z if n <= _DENSE else drawn_rows(z, _DENSE, np.random.default_rng(0))
    widest = Gaussian(_WIDEST * median_bandwidth(some))
    single = Gaussian(1.0)
    columns = [z[:, j : j + 1] for j in range(d)] if d > 1 else []
    found = [Basis.of_coordinates(line) if d < n else Basis.of_gram(line @ line.T)]
    if n <= _DENSE:
        straight = _LINE * (line @ line.T)
        found += [Basis.of_gram(gram + straight) for gram in _finer(widest(z))]
        if columns:
            found.append(Basis.of_gram(sum(single(one) for one in columns) / d + straight))
        return tuple(found)
    straight = _LINE**0.5 * line
    several = [_coordinates(*_values(single, one, max(4, min(_OF_COLUMN, _RANK // d)))) for one in columns]
    for values in zip(*map(_finer, _values(widest, z, _RANK)), strict=True):
        found.append(Basis.of_coordinates(np.hstack([_coordinates(*values), straight])))
    if several:
        found.append(Basis.of_coordinates(np.hstack([*(one / d**0.5 for one in several), straight])))
    return tuple(found)


def _finer(values: np.ndarray) -> list[np.ndarray]:
    """Values of a Gaussian kernel, and of those of half its bandwidth, of a quarter, and so on: their fourth powers."""
    found = [values]
    for _ in range(_FINER):
        found.append(np.square(np.square(found[-1])))
    return found


def _values(kernel: Gaussian, points: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of a kernel between points and landmarks among them (n, m), and among these (m, m)."""
    chosen = np.random.default_rng(0).choice(len(points), min(rank, len(points)), replace=False)
    between = kernel(points, points[chosen])
    return between, between[chosen]


def _coordinates(between: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Coordinates (n, m) of points from kernel values as :func:`_values` returns them."""
    from scipy.linalg import solve_triangular

    factor = np.linalg.cholesky(among + _JITTER * np.eye(len(among)))
    return np.asarray(solve_triangular(factor, between.T, lower=True, check_finite=False).T)


def smoother(candidates: Sequence[Basis], targets: np.ndarray) -> Smoother:
    """The regression of targets (n, r) that predicts rows best which it has not seen.

    Leaving row i out leaves (row i of the residuals) / (1 - its share in its own prediction), for all amounts at the
    price of one product.
    """
    n = len(targets)
    less = targets - targets.mean(axis=0)
    best = float(np.square(less * n / (n - 1.0)).sum()), Smoother(np.zeros((n, 0)), np.zeros(0))
    for basis in candidates:
        kept, own = basis.shrinkage
        along = basis.vectors.T @ less
        fitted = basis.vectors @ (kept[:, :, None] * along[:, None, :]).reshape(len(kept), own[0].size * less.shape[1])
        left = (less[:, None, :] - fitted.reshape(n, own[0].size, less.shape[1])) / (1.0 - own)[:, :, None]
        scores = np.einsum("iar,iar->a", left, left)
        if scores.size and scores.min() < best[0]:
            best = float(scores.min()), Smoother(basis.vectors, kept[:, scores.argmin()])
    return best[1]


def inflation(first: Smoother, second: Smoother) -> float:
    """How much larger squared sums of products of residuals are than those of independent products, at least 1.

    Residuals of different rows share the noise of the regression.  For white noise in both variables, the squared sum
    of their products has a mean that is larger by this factor than with signs drawn at random.
    """
    n, lost = len(first.vectors), [one.kept * (2.0 - one.kept) for one in (first, second)]
    shared = np.square(first.vectors.T @ second.vectors)
    products = n - 1.0 - lost[0].sum() - lost[1].sum() + lost[0] @ shared @ lost[1]
    alone = [1.0 - 1.0 / n - np.square(one.vectors) @ gone for one, gone in zip((first, second), lost, strict=True)]
    return max(1.0, float(products / (alone[0] * alone[1]).sum()))
