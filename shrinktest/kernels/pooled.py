"""Kernels of the pooled sample: they take from all observations, regardless of labels, more than a bandwidth."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, complete_points
from shrinktest.kernels.base import Kernel, require_kernels
from shrinktest.kernels.distance import Gaussian
from shrinktest.kernels.feature_maps import AffineFeatures
from shrinktest.kernels.inner import FeatureMap

_BLOCK = 2**20  # kernel values computed at a time
_EQUAL = 1e-12  # of the largest depth: depths that differ by less are equal up to rounding


@dataclass(frozen=True, eq=False)
class PooledKernel(Kernel):
    """A kernel of the features of another kernel about their mean over the pooled sample.

    It is a value until a test resolves it on all observations, once, before any permutation.
    """

    #: True if its features are an affine map of those of the other kernel, so that means of these give means of those.
    affine: ClassVar[bool] = False
    bounded = True

    kernel: Kernel  # the kernel whose features are taken
    points: Array | None = field(default=None, repr=False, kw_only=True)  # (N, d): the pooled sample, set by `resolve`

    def __post_init__(self) -> None:
        require_kernels([self.kernel])
        if isinstance(self.kernel, PooledKernel):
            raise ValueError(f"{type(self).__name__}({self.kernel!r}): give the kernel itself, {self.kernel.kernel!r}")
        if self.points is not None and not (isinstance(self.points, np.ndarray) and self.points.ndim == 2):
            object.__setattr__(self, "points", complete_points(self.points, "points").values)

    @property
    def points_are(self) -> str | None:
        return self.kernel.points_are

    @property
    def bandwidth(self) -> Any:
        """The bandwidth of the other kernel."""
        return getattr(self.kernel, "bandwidth", None)

    @property
    def label(self) -> str:
        """For example "Whitened(Gaussian, lam=0.1)"."""
        settings = [f"{name}={value!r}" for name, value in self._settings.items() if name != "kernel"]
        return f"{type(self).__name__}({', '.join([self.kernel.label, *settings])})"

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """Return the kernel of the pooled sample Z (N, d)."""
        rows = complete_points(Z, "Z").values
        if self.points is None:
            return replace(self, kernel=self.kernel.resolve(rows, rng), points=rows)
        require_same_sample(self.points, rows, self.label)
        return self

    def check(self, X: Array) -> None:
        self.kernel.check(X)

    def compared(self, points: Array) -> tuple[Any, Array] | None:
        return self.kernel.compared(points)

    @abstractmethod
    def of_gram(self, gram: Array) -> Array:
        """Return its Gram matrix of the pooled sample, from that of the other kernel, which is left unchanged."""

    @abstractmethod
    def of_features(self, features: FeatureMap, coordinates: Array) -> tuple[FeatureMap, Array]:
        """Return it as features of features with coordinates (N, r) of the pooled sample, and its coordinates."""

    def few(self, gram: Array) -> tuple[FeatureMap, Array] | None:
        """Return a few features and coordinates of the pooled sample, if it has them for every other kernel."""
        return None

    def columns(self, rank: int) -> int:
        """Return how many coordinates it has if the other kernel has ``rank``."""
        return rank

    def shortened(self, features: FeatureMap, coordinates: Array, most: int) -> tuple[FeatureMap, Array, float] | None:
        """Return at most ``most`` features, coordinates, and the share of the variance that they see, if it can."""
        return None

    def evaluate(self, X: Array, Y: Array) -> Array:
        pooled = self._pooled
        if all(Z is pooled or np.array_equal(Z, pooled) for Z in (X, Y)):
            return self.of_gram(self.kernel.block(pooled, pooled))
        return self._elsewhere(X, Y)

    @abstractmethod
    def _elsewhere(self, X: Array, Y: Array) -> Array:
        """Return the values of rows that are not the pooled sample."""

    @property
    def _pooled(self) -> Array:
        if self.points is None:
            raise ValueError(f"{self!r} has no pooled sample yet: call .resolve(Z) with all the data")
        return self.points

    @cached_property
    def _means(self) -> tuple[Array, float]:
        """Mean of the other kernel between every pooled point and all of them (N,), and the mean of these."""
        rows = self._mean_at(self._pooled)
        return rows, float(rows.mean())

    def _mean_at(self, X: Array) -> Array:
        step = max(1, _BLOCK // len(self._pooled))
        parts = (X[k : k + step] for k in range(0, len(X), step))
        return np.concatenate([self.kernel.block(rows, self._pooled).mean(axis=1) for rows in parts])

    def _centred_gram(self, gram: Array) -> Array:
        """Return inner products of the features of the pooled sample about their mean, as a new array."""
        rows = gram.mean(axis=1)
        self.__dict__.setdefault("_means", (rows, float(rows.mean())))
        values = gram - self._means[0][:, None]
        values -= self._means[0] - self._means[1]
        return values

    def _centred(self, X: Array, Y: Array) -> Array:
        """Return the same of rows X and Y."""
        at_x, at_y = (self._means[0] if Z is self.points else self._mean_at(Z) for Z in (X, Y))
        values = self.kernel.block(X, Y) - at_x[:, None]
        values -= at_y - self._means[1]
        return values

    def _centred_diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(X) - 2.0 * self._mean_at(X) + self._means[1]

    @property
    def _settings(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "points"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PooledKernel) or type(self) is not type(other):
            return False
        return same_sample(self.points, other.points) and self._settings == other._settings

    def __hash__(self) -> int:
        return hash((type(self), *self._settings.values()))

    def __getstate__(self) -> dict[str, Any]:
        return {**self._settings, "points": self.points}  # without what was computed on the pooled sample


@dataclass(frozen=True, eq=False)
class Depth(PooledKernel):
    """Kernel of depths: detects whether one sample lies further from the center than the other, in any direction.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        The depth of a point is the mean of this kernel over the pooled sample.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample; a test sets it (see :meth:`resolve`).

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
    (0.128, 0.001)
    """

    affine: ClassVar[bool] = True

    kernel: Kernel = field(default_factory=Gaussian)

    def _elsewhere(self, X: Array, Y: Array) -> Array:
        return self._features.evaluate(X, Y)

    def diagonal(self, X: Array) -> Array:
        return self._features.diagonal(X)

    @property
    def _features(self) -> FeatureMap:
        depths, centre = self._means
        return AffineFeatures(_Depths(self), np.array([centre]), np.array([[_per_deviation(depths)]]))

    def columns(self, rank: int) -> int:
        return 2

    def of_gram(self, gram: Array) -> Array:
        _, coordinates = self.few(gram)
        return coordinates @ coordinates.T

    def few(self, gram: Array) -> tuple[FeatureMap, Array]:
        depths = gram.mean(axis=1)
        self.__dict__.setdefault("_means", (depths, float(depths.mean())))
        features = AffineFeatures(_Depths(self), depths.mean(keepdims=True), np.array([[_per_deviation(depths)]]))
        return features, features.of(depths[:, None])

    def of_features(self, features: FeatureMap, coordinates: Array) -> tuple[FeatureMap, Array]:
        mean = coordinates.mean(axis=0)
        depth = AffineFeatures(features, mean, mean[:, None] * _per_deviation(coordinates @ mean))
        return depth, depth.of(coordinates)


@dataclass(frozen=True, eq=False)
class _Depths(FeatureMap):
    """Depths of rows in the pooled sample of a kernel, as one column."""

    pooled: PooledKernel

    def coordinates(self, X: Array) -> Array:
        return self.pooled._mean_at(X)[:, None]


def _per_deviation(depths: Array) -> float:
    """Return the inverse of the standard deviation of depths, or 0 if they differ by rounding only."""
    unit = float(depths.std())
    return 1.0 / unit if unit > _EQUAL * float(np.abs(depths).max()) else 0.0


@dataclass(frozen=True, eq=False)
class SecondOrder(PooledKernel):
    """Kernel of covariances: detects changes in how features vary together, and hardly changes of their mean.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        The kernel whose features are taken.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample; a test sets it (see :meth:`resolve`).

    Notes
    -----
    The square kc(x, y)^2 of the kernel after centering at the mean of the pooled sample: the distance of two samples'
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
    (0.538, 0.001)
    """

    kernel: Kernel = field(default_factory=Gaussian)

    def _elsewhere(self, X: Array, Y: Array) -> Array:
        values = self._centred(X, Y)
        return np.square(values, out=values)

    def of_gram(self, gram: Array) -> Array:
        values = self._centred_gram(gram)
        return np.square(values, out=values)

    def diagonal(self, X: Array) -> Array:
        return np.square(self._centred_diagonal(X))

    def columns(self, rank: int) -> int:
        return rank * (rank + 1) // 2

    def of_features(self, features: FeatureMap, coordinates: Array) -> tuple[FeatureMap, Array]:
        mean = coordinates.mean(axis=0)
        squared = _SquaredFeatures(features, mean, None)
        return squared, squared.of(coordinates - mean)

    def shortened(self, features: FeatureMap, coordinates: Array, most: int) -> tuple[FeatureMap, Array, float]:
        """Return covariances of the first principal components of the features."""
        mean = coordinates.mean(axis=0)
        centred = coordinates - mean
        variances, axes = np.linalg.eigh(centred.T @ centred)
        leading = np.ascontiguousarray(axes[:, ::-1][:, : int((2.0 * most + 0.25) ** 0.5 - 0.5)])
        squared = _SquaredFeatures(features, mean, leading)
        return squared, squared.of(centred), float(variances[::-1][: leading.shape[1]].sum() / variances.sum())


@dataclass(frozen=True, eq=False)
class _SquaredFeatures(FeatureMap):
    """Products of two features about their mean, those of different features counted twice."""

    features: FeatureMap
    mean: Array  # (r,)
    axes: Array | None  # (r, q): orthonormal directions, of which alone products are taken

    def coordinates(self, X: Array) -> Array:
        return self.of(self.features.coordinates(X) - self.mean)

    def of(self, centred: Array) -> Array:
        """Return coordinates (n, r (r + 1) / 2) from features about the mean (n, r)."""
        centred = np.ascontiguousarray(centred if self.axes is None else centred @ self.axes)
        first, second = np.triu_indices(centred.shape[1])
        return centred[:, first] * centred[:, second] * np.where(first == second, 1.0, np.sqrt(2.0))


def same_sample(points: Array | None, others: Array | None) -> bool:
    """Tell whether two kernels have the same pooled sample, or none."""
    if points is None or others is None:
        return points is others
    return points is others or np.array_equal(points, others)


def require_same_sample(points: Array, rows: Array, label: str) -> None:
    """Raise ValueError for a kernel that was resolved on other rows."""
    if not np.array_equal(points, rows):
        raise ValueError(f"{label} was resolved on other observations; give the test the kernel before it was resolved")
