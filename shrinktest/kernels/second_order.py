"""SecondOrder: how features vary together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from shrinktest._validate import Array
from shrinktest.kernels.base import FiniteRank, Kernel
from shrinktest.kernels.distance import Gaussian
from shrinktest.kernels.pooled import PooledKernel


@dataclass(frozen=True, eq=False)
class SecondOrder(PooledKernel):
    """Kernel of covariances: detects changes in how features vary together, and hardly changes of their mean.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        Whose features are taken.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample; a test puts it in (see :meth:`resolve`).

    Notes
    -----
    The square kc(x, y)^2 of the kernel after centring at the mean of the pooled sample: the distance of two samples'
    mean embeddings is the Hilbert-Schmidt distance of their covariance operators about that mean.  It detects small
    differences in many directions.  It hardly detects a small shift: combine it with other kernels, and do not test
    with it alone.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import SecondOrder, two_sample_test
    >>> rng = np.random.default_rng(3)
    >>> X, Y = rng.normal(size=(50, 100)), rng.normal(size=(50, 100))
    >>> Y[:, 0] += rng.choice([-4, 4], size=50)
    >>> two_sample_test(X, Y, rng=0).pvalue, two_sample_test(X, Y, kernel=SecondOrder(), rng=0).pvalue
    (0.531, 0.001)
    """

    kernel: Kernel = field(default_factory=Gaussian)

    def evaluate(self, X: Array, Y: Array) -> Array:
        if self._both_pooled(X, Y):
            return self.of_gram(self.kernel(self._pooled()))
        values = self._centred(X, Y)
        return np.square(values, out=values)

    def of_gram(self, gram: Array) -> Array:
        values = self._centred_gram(gram)
        return np.square(values, out=values)

    def diagonal(self, X: Array) -> Array:
        return np.square(self.kernel.diagonal(X) - 2.0 * self._mean_at(X) + self._means()[1])

    def columns(self, rank: int) -> int:
        return rank * (rank + 1) // 2

    def of_features(self, features: FiniteRank, coordinates: Array) -> tuple[FiniteRank, Array]:
        moved = SquaredFeatures(features, coordinates.mean(axis=0))
        return moved, moved.squares(coordinates - moved.mean)

    def shortened(self, features: FiniteRank, coordinates: Array, most: int) -> tuple[FiniteRank, Array, float]:
        """Covariances of the first principal components of the features."""
        mean = coordinates.mean(axis=0)
        centred = coordinates - mean
        variances, axes = np.linalg.eigh(centred.T @ centred)
        leading = axes[:, ::-1][:, : int((2.0 * most + 0.25) ** 0.5 - 0.5)]
        moved = SquaredFeatures(features, mean, np.ascontiguousarray(leading))
        share = float(variances[::-1][: leading.shape[1]].sum() / variances.sum())
        return moved, moved.squares(centred), share


@dataclass(frozen=True, eq=False, repr=False)
class SquaredFeatures(FiniteRank):
    """`SecondOrder` of a kernel of finite rank: products of features about their mean, those of two counted twice."""

    _double: ClassVar[float] = float(np.sqrt(2.0))

    features: FiniteRank
    mean: Array  # (r,)
    axes: Array | None = None  # (r, q): orthonormal directions, of which alone products are taken

    def coordinates(self, X: Array) -> Array:
        return self.squares(self.features.coordinates(X) - self.mean)

    def squares(self, centred: Array) -> Array:
        """Coordinates (n, r (r + 1) / 2) from features about the mean (n, r)."""
        if self.axes is not None:
            centred = centred @ self.axes
        centred = np.ascontiguousarray(centred)
        rows, rank = centred.shape
        out, start = np.empty((rows, rank * (rank + 1) // 2)), 0
        for j in range(rank):  # with itself, and with those after it
            stop = start + rank - j
            np.multiply(centred[:, j:], centred[:, j, None], out=out[:, start:stop])
            out[:, start + 1 : stop] *= self._double
            start = stop
        return out

    def __repr__(self) -> str:
        return f"SecondOrder({self.features!r})"
