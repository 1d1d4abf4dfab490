"""Depth: how central a point is in the pooled sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from shrinktest._validate import Array
from shrinktest.kernels.base import FiniteRank, Kernel
from shrinktest.kernels.distance import Gaussian
from shrinktest.kernels.pooled import PooledKernel

_ROUNDING = 1e-12  # of the largest depth


@dataclass(frozen=True, eq=False)
class Depth(PooledKernel):
    """Kernel of depths: detects whether one sample lies further from the centre than the other, in any direction.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        Whose mean over the pooled sample is the depth of a point.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample; a test puts it in (see :meth:`resolve`).

    Notes
    -----
    The depth of x is D(x), the mean of k(x, z) over the N pooled observations z (the h-modal depth of [CFF07]).  With
    u(x) the depth less its mean over the pooled sample, in units of its standard deviation there, the kernel is 1 +
    u(x) u(y), so that the distance of two samples is that of their mean depths: the comparison of [LS93] with the
    depths themselves in place of their ranks.  The constant changes no difference of means.  It gives the features a
    mean that is not zero, for estimators that shrink it, and main effects to joint features.

    It detects changes of spread, also small ones in each of many columns, and observations in the tails.  It does not
    detect a shift between samples of the same shape: combine it with other kernels, and do not test with it alone.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import Depth, two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(40, 20)), 1.2 * rng.normal(size=(40, 20))
    >>> two_sample_test(X, Y, rng=0).pvalue, two_sample_test(X, Y, kernel=Depth(), rng=0).pvalue
    (0.112, 0.001)
    """

    affine: ClassVar[bool] = True

    kernel: Kernel = field(default_factory=Gaussian)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.finite_rank().evaluate(X, Y)

    def diagonal(self, X: Array) -> Array:
        return self.finite_rank().diagonal(X)

    def finite_rank(self) -> FiniteRank:
        """The same by two features."""
        depths, _ = self._means()
        return DepthFeatures(self._mean_at, *_centre_and_unit(depths))

    def columns(self, rank: int) -> int:
        return 2

    def of_gram(self, gram: Array) -> Array:
        coordinates = self.few(gram)[1]
        return coordinates @ coordinates.T

    def few(self, gram: Array) -> tuple[FiniteRank, Array]:
        self._known.setdefault("means", (depths := gram.mean(axis=1), float(depths.mean())))
        found = DepthFeatures(self._mean_at, *_centre_and_unit(depths))
        return found, found.of_depths(depths)

    def of_features(self, features: FiniteRank, coordinates: Array) -> tuple[FiniteRank, Array]:
        mean = coordinates.mean(axis=0)
        depths = coordinates @ mean
        found = DepthFeatures(partial(_along, features, mean), *_centre_and_unit(depths))
        return found, found.of_depths(depths)


@dataclass(frozen=True, eq=False, repr=False)
class DepthFeatures(FiniteRank):
    """`Depth` by its two features, z(x) = (1, (depth(x) - centre) / unit)."""

    depth: Callable[[Array], Array]  # rows (n, d) to depths (n,)
    # mean and standard deviation of the depths of the pooled sample
    centre: float
    unit: float

    def coordinates(self, X: Array) -> Array:
        return self.of_depths(self.depth(X))

    def of_depths(self, depths: Array) -> Array:
        """The features (n, 2) of observations with these depths (n,)."""
        return np.column_stack([np.ones(len(depths)), (depths - self.centre) / self.unit])

    def __repr__(self) -> str:
        return "Depth()"


def _centre_and_unit(depths: Array) -> tuple[float, float]:
    """Mean and standard deviation; where depths differ by rounding alone, a unit in which they do not differ."""
    centre, unit = float(depths.mean()), float(depths.std())
    return centre, unit if unit > _ROUNDING * float(np.abs(depths).max()) else np.inf


def _along(features: FiniteRank, mean: Array, X: Array) -> Array:
    """Mean of the kernel between the rows X (n, d) and the pooled sample, whose features have this mean."""
    return np.asarray(features.coordinates(X) @ mean)
