"""Finite-feature kernels, inner products, and products of features about their means."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, count, counted, positive, real_values
from shrinktest.kernels.base import Kernel, read_only


class FeatureMap(Kernel):
    """A kernel that is an inner product of finitely many features, z(x)'z(y).

    A subclass has ``coordinates`` instead of ``evaluate``.  Tests then work with the n rows of
    coordinates and need no Gram matrix, and therefore samples may be large.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest.kernels import FeatureMap
    >>> @dataclass(frozen=True)
    ... class MeanAndSquare(FeatureMap):
    ...     def coordinates(self, X):
    ...         return np.hstack([X, X**2])
    >>> MeanAndSquare()([1.0, 2.0])
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    @abstractmethod
    def coordinates(self, X: Array) -> Array:
        """Return the features z(X[i]), shape (n, rank), of rows X (n, d)."""

    def checked_coordinates(self, X: Array) -> Array:
        """Return the coordinates.

        Raise an error unless they are real, finite and in as many rows as X.
        """
        try:
            z = real_values(self.coordinates(read_only(X) if self._from_user else X))
        except TypeError as error:
            raise TypeError(f"coordinates of {self!r} must be real numbers: {error}") from None
        if z.ndim != 2 or len(z) != len(X) or not z.shape[1]:
            raise ValueError(
                f"coordinates of {self!r} must have shape ({len(X)}, rank); got {z.shape}"
            )
        if not np.isfinite(z).all():
            raise ValueError(f"coordinates of {self!r} must be finite; got {z[~np.isfinite(z)][0]}")
        return z if z.flags.writeable else z.copy()  # compiled loops take what can be written

    def combination(self, X: Array, weights: Array) -> Array:
        """Return the coordinates (rank,) of sum_i weights_i k(X[i], .)."""
        return weights @ self.checked_coordinates(X)

    def evaluate(self, X: Array, Y: Array) -> Array:
        left = self.checked_coordinates(X)
        return left @ (left if X is Y else self.checked_coordinates(Y)).T

    def diagonal(self, X: Array) -> Array:
        return np.square(self.checked_coordinates(X)).sum(axis=1)

    def differences(self, X: Array, threads: int = 1) -> Array:
        centered = (z := self.checked_coordinates(X)) - z.mean(axis=0)
        return centered @ centered.T


@dataclass(frozen=True)
class Linear(FeatureMap):
    """Linear kernel x'y, which detects only differences in means.

    This kernel has no parameters.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    def coordinates(self, X: Array) -> Array:
        return X


@dataclass(frozen=True)
class Cosine(FeatureMap):
    """Cosine of the angle between two rows, for differences in directions.

    The kernel is x'y / (|x| |y|), the linear kernel of rows of length 1, such as embeddings, and
    therefore it detects only differences in their means; another kernel with
    ``transform=Normalizer()`` of scikit-learn detects more.  Columns of tables are compared without
    scaling, unless ``scale=`` is set.  A row of zeros raises an error, because it has no direction.

    Examples
    --------
    >>> Cosine()([[3.0, 4.0]], [[3.0, 0.0], [-6.0, -8.0]]).round(3)
    array([[ 0.6, -1. ]])
    """

    as_given = True
    bounded = True

    def coordinates(self, X: Array) -> Array:
        largest = np.abs(X).max(axis=1, keepdims=True)
        if not largest.all():
            zeros = int(np.count_nonzero(largest == 0.0))
            raise ValueError(
                f"kernel='cosine': {counted(zeros, 'row')} of zeros, without a direction; leave "
                "such rows out"
            )
        rows = X / largest
        rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        return rows


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel (x'y + offset)^degree, for moments up to the degree.

    Parameters
    ----------
    degree : int
        Largest order of the moments that are compared, at least 1.
    offset : float
        Constant, at least 0; if it is 0, only the moments of exactly that degree are compared.

    Examples
    --------
    >>> Polynomial(degree=3, offset=1)([2.0], [0.5])
    array([[8.]])
    """

    degree: int = 2
    offset: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", count(self.degree, "degree", minimum=1))
        object.__setattr__(self, "offset", positive(self.offset, "offset", allow_zero=True))

    def evaluate(self, X: Array, Y: Array) -> Array:
        return (X @ Y.T + self.offset) ** self.degree

    def diagonal(self, X: Array) -> Array:
        return (np.square(X).sum(axis=1) + self.offset) ** self.degree


@dataclass(frozen=True, eq=False)
class CenteredProduct(Kernel):
    """Kernel of the product features of several variables without the main effects.

    With mu_l the mean of the features phi_l over ``points``, the features are the sum over all sets
    S of two variables or more of (x)_{l in S} (phi_l - mu_l) (x)_{m not in S} mu_m.
    """

    kernels: tuple[Kernel, ...]  # one per variable
    points: Array  # (n, sum of columns): the observations over which the means are taken
    columns: tuple[int, ...]  # the number of columns per variable

    def check(self, X: Array) -> None:
        for kernel, part in zip(self.kernels, self._split(X), strict=True):
            kernel.check(part)

    def evaluate(self, X: Array, Y: Array) -> Array:
        sums: dict[tuple[int, int], Any] = {
            (0, 0): 1.0
        }  # by the sizes, at most 2, of the sets of x and of y
        for kernel, x, y, z in zip(
            self.kernels, *map(self._split, (X, Y, self.points)), strict=True
        ):
            at_x, at_y = (kernel.block(rows, z).mean(axis=1) for rows in (x, y))
            mean = kernel.block(z, z).mean()
            centered = kernel.block(x, y) - at_x[:, None] - at_y + mean
            factors = (
                (0, 0, mean),
                (1, 0, (at_x - mean)[:, None]),
                (0, 1, at_y - mean),
                (1, 1, centered),
            )
            grown: dict[tuple[int, int], Any] = defaultdict(float)
            for (i, j), value in sums.items():
                for more_x, more_y, factor in factors:
                    grown[min(i + more_x, 2), min(j + more_y, 2)] += value * factor
            sums = grown
        values = np.asarray(sums[2, 2])
        return (
            (values + values.T) / 2.0 if X is Y else values
        )  # rounding need not be symmetric if nothing else is left

    def _split(self, points: Array) -> list[Array]:
        return [
            np.ascontiguousarray(part)
            for part in np.split(points, np.cumsum(self.columns)[:-1], axis=1)
        ]


@dataclass(frozen=True, eq=False)
class CenteredCoordinates(FeatureMap):
    """`CenteredProduct` of two variables by their coordinates."""

    features: tuple[FeatureMap, FeatureMap]
    points: Array
    columns: int  # of the first variable

    def coordinates(self, X: Array) -> Array:
        u, v = self._centered(X)
        return (u[:, :, None] * v[:, None, :]).reshape(len(X), -1)

    def combination(self, X: Array, weights: Array) -> Array:
        u, v = self._centered(X)
        return ((u * weights[:, None]).T @ v).ravel()

    def _centered(self, X: Array) -> list[Array]:
        parts = (np.split(rows, [self.columns], axis=1) for rows in (X, self.points))
        pairs = zip(
            self.features, *(map(np.ascontiguousarray, part) for part in parts), strict=True
        )
        return [
            kernel.coordinates(x) - kernel.coordinates(z).mean(axis=0) for kernel, x, z in pairs
        ]


def centered_product(left: Kernel, right: Kernel, points: Array, columns: int) -> Kernel:
    """Return the kernel of products of features of the first columns and the rest.

    Features are about their means over points.
    """
    if isinstance(left, FeatureMap) and isinstance(right, FeatureMap):
        return CenteredCoordinates((left, right), points, columns)
    return CenteredProduct((left, right), points, (columns, points.shape[1] - columns))
