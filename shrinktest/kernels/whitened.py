"""Kernels of features centered on the pooled sample: whitened, of depths, of covariances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shrinktest._check import Array, positive
from shrinktest.kernels.base import Kernel
from shrinktest.kernels.distance_kernel import Gaussian
from shrinktest.kernels.feature_maps import AffineFeatures, Derived, spread_landmarks
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel

_LANDMARKS = 5.0  # over ``lam``: no more than 1 / lam directions count
_FEWEST = 100
_MOST = 2000  # landmarks
_SPARSE = 4  # rows for each of them, from which landmarks take less time than the Gram matrix
_EQUAL = 1e-12  # of the largest depth: depths that differ by less are equal up to rounding


@dataclass(frozen=True, eq=False)
class Whitened(PooledKernel):
    """Kernel of whitened features.

    Directions in which the pooled sample varies little count as much as the others.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        The kernel whose features are whitened.
    lam : float, default 0.1
        Ridge, in units of the trace of the covariance operator of the features.  The smaller it is,
        the more directions of small variance count; if it is very large, the test is the test with
        ``kernel``.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample, which is set by a test (see :meth:`resolve`).

    Notes
    -----
    Let phi be the features of the kernel, centered at their mean over the N pooled observations, C
    their covariance operator and c = lam tr(C).  Then k(x, y) = 1 + w(x, y) / D, where w(x, y) =
    phi(x)'(C + c I)^-1 phi(y) and D is the mean of w(x, x) over the pooled sample.  The constant 1
    does not affect differences in means, but it gives the features a nonzero mean, which shrinkage
    estimators require.  Because no label enters the kernel, its test is exact.

    The squared distance of two mean embeddings is, up to D, the kernel Fisher discriminant ratio of
    [HBM07] and the spectral-regularized distance of [HSL24]; if each margin is whitened separately,
    HSIC is the normalized cross-covariance of [FGSS07].

    If the pooled sample has at least 400 rows (or 20 / lam, if that is more), tests of samples
    compute the features at 5 / lam of its rows (but at least 100 and at most 2000), which are
    evenly spaced in sorted order.  ``gram="dense"`` uses all rows.

    References
    ----------
    .. [FGSS07] Fukumizu et al., "Kernel measures of conditional dependence", NeurIPS, 2007.
    .. [HBM07] Harchaoui et al., "Testing for homogeneity with kernel Fisher discriminant analysis",
       NeurIPS, 2007.
    .. [HSL24] Hagrass et al., "Spectral regularized kernel two-sample tests", Ann. Stat. 52, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import Whitened, two_sample_test
    >>> rng = np.random.default_rng(2)
    >>> X = rng.normal(size=(40, 2))
    >>> Y = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=40)
    >>> two_sample_test(X, Y, rng=0).pvalue, two_sample_test(X, Y, kernel=Whitened(), rng=0).pvalue
    (0.142, 0.003)
    """

    affine = True
    sources = ("HBM07", "FGSS07")

    kernel: Kernel = field(default_factory=Gaussian)
    lam: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lam", positive(self.lam, "lam"))

    def few(self, gram: Callable[[], Array]) -> tuple[FeatureMap, Array] | None:
        """Return features at landmarks if rows are many.

        These are enough for the directions that the ridge leaves.
        """
        number = min(max(_FEWEST, math.ceil(_LANDMARKS / self.lam)), _MOST)
        if len(self._pooled) < _SPARSE * number:
            return None
        landmarks = spread_landmarks(self.kernel, self._pooled, number)
        return self.transform_features(landmarks, landmarks.coordinates(self._pooled))

    def transform_gram(self, gram: Array) -> Array:
        from scipy.linalg.lapack import dlauum

        ridge, factor, dimension, inverse = self._factorized(gram)
        self.__dict__["_factor"] = ridge, factor, dimension
        size = len(gram)
        product, _ = dlauum(
            inverse, lower=True, overwrite_c=True
        )  # (Kc + N c I)^-1; above the diagonal it is 0
        values = np.add(product.T, product, order="C")
        values[np.diag_indices(size)] /= 2.0
        values *= -(float(size) ** 2) * ridge / dimension  # w is N (I - N c (Kc + N c I)^-1)
        values += 1.0
        values[np.diag_indices(size)] += size / dimension
        return values

    def _elsewhere(self, X: Array, Y: Array) -> Array:
        ridge, _, dimension = self._factor
        left = self._solved(X)  # w(x, y) is (kc(x, y) - kc(x, Z) (Kc + N c I)^-1 kc(Z, y)) / c
        values = self._centered(X, Y) - left.T @ (left if X is Y else self._solved(Y))
        values /= ridge * dimension
        values += 1.0
        return values

    def diagonal(self, X: Array) -> Array:
        ridge, _, dimension = self._factor
        missing = self._centered_diagonal(X) - np.square(self._solved(X)).sum(axis=0)
        return 1.0 + missing / (ridge * dimension)

    def _solved(self, X: Array) -> Array:
        """Return L^-1 kc(Z, X), shape (N, n)."""
        return self._solved_pooled if X is self.points else self._solution(X)

    @cached_property
    def _solved_pooled(self) -> Array:
        """Return L^-1 kc(Z, Z) of the pooled sample, which is compared again and again."""
        return self._solution(self._pooled)

    def _solution(self, X: Array) -> Array:
        from scipy.linalg import solve_triangular

        centered = self._centered(self._pooled, X)
        return np.asarray(
            solve_triangular(self._factor[1], centered, lower=True, check_finite=False)
        )

    @cached_property
    def _factor(self) -> tuple[float, Array, float]:
        """The ridge c, the lower Cholesky factor L of Kc + N c I, and the effective dimension."""
        return self._factorized(self.kernel.block(self._pooled, self._pooled))[:3]

    def _factorized(self, gram: Array) -> tuple[float, Array, float, Array]:
        """Return ridge, L, effective dimension and L^-1 from the other kernel's Gram matrix."""
        from scipy.linalg.lapack import dtrtri

        size = len(gram)
        ridge, factor = self._ridged(self._centered_gram(gram), size)
        inverse, _ = dtrtri(factor, lower=True)
        return ridge, factor, size * (1.0 - ridge * float(np.linalg.norm(inverse)) ** 2), inverse

    def _after(self, coordinates: Array) -> FeatureMap:
        from scipy.linalg import solve_triangular

        mean = coordinates.mean(axis=0)
        centered = coordinates - mean
        _, factor = self._ridged(centered.T @ centered / len(centered), 1)
        weights = solve_triangular(factor, np.eye(len(mean)), lower=True).T
        dimension = np.square(centered @ weights).sum() / len(centered)
        return AffineFeatures(mean, weights / np.sqrt(dimension))

    def _ridged(self, matrix: Array, size: int) -> tuple[float, Array]:
        """Return the ridge c and the lower Cholesky factor of the matrix + size c I.

        The factor takes the place of the matrix.
        """
        from scipy.linalg import LinAlgError, cholesky

        ridge = self.lam * (float(np.trace(matrix)) / size)
        if ridge == 0.0:
            raise ValueError(
                f"{self!r}: all observations have the same features, so nothing can be whitened"
            )
        matrix[np.diag_indices(len(matrix))] += size * ridge
        try:
            return ridge, np.asarray(
                cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
            )
        except LinAlgError:
            raise ValueError(
                f"{self!r} is not of a kernel: its Gram matrix has negative eigenvalues"
            ) from None


@dataclass(frozen=True, eq=False)
class Depth(PooledKernel):
    """Kernel of depths.

    It detects whether one sample lies further from the center than the other, in any direction.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        Kernel whose mean over the pooled sample is the depth of a point (the h-modal depth of
        [CFF07]).
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample, which is set by a test.

    Notes
    -----
    Let u(x) be the depth of x minus the mean depth of the pooled sample, divided by the standard
    deviation of the depths there.  The kernel is 1 + u(x) u(y).  Therefore, two samples are as far
    apart as their mean depths, which is the comparison of [LS93] with depths instead of their
    ranks.  It detects changes in spread, even small ones in each of many columns, and observations
    in the tails, but no shift between samples of equal shape; combine it with other kernels.

    References
    ----------
    .. [CFF07] Cuevas et al., "Robust estimation and classification for functional data via
       projection-based depth notions", Comput. Stat. 22, 2007.
    .. [LS93] Liu and Singh, "A quality index based on data depth and multivariate rank tests", JASA
       88, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import Depth, two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(40, 20)), 1.2 * rng.normal(size=(40, 20))
    >>> two_sample_test(X, Y, rng=0).pvalue, two_sample_test(X, Y, kernel=Depth(), rng=0).pvalue
    (0.128, 0.001)
    """

    affine = True
    sources = ("CFF07", "LS93")

    kernel: Kernel = field(default_factory=Gaussian)

    def _elsewhere(self, X: Array, Y: Array) -> Array:
        return self._features.evaluate(X, Y)

    def diagonal(self, X: Array) -> Array:
        return self._features.diagonal(X)

    @property
    def _features(self) -> Derived:
        depths, center = self._means
        return Derived(
            _Depths(self), AffineFeatures(np.array([center]), np.array([[_per_deviation(depths)]]))
        )

    def columns(self, rank: int) -> int:
        return 2

    def transform_gram(self, gram: Array) -> Array:
        _, coordinates = self.few(lambda: gram)
        return coordinates @ coordinates.T

    def few(self, gram: Callable[[], Array]) -> tuple[FeatureMap, Array]:
        depths, _ = self._means_of(gram())
        features = self._features
        return features, features.after.coordinates(depths[:, None])

    def _after(self, coordinates: Array) -> FeatureMap:
        mean = coordinates.mean(axis=0)
        return AffineFeatures(mean, mean[:, None] * _per_deviation(coordinates @ mean))


@dataclass(frozen=True, eq=False)
class _Depths(FeatureMap):
    """Depths of rows in the pooled sample of a kernel, as one column."""

    pooled: PooledKernel

    def coordinates(self, X: Array) -> Array:
        return self.pooled._mean_at(X)[:, None]


def _per_deviation(depths: Array) -> float:
    """Return the inverse standard deviation of depths, or 0.

    It is 0 if depths differ by rounding only.
    """
    unit = float(depths.std())
    return 1.0 / unit if unit > _EQUAL * float(np.abs(depths).max()) else 0.0


@dataclass(frozen=True, eq=False)
class SecondOrder(PooledKernel):
    """Kernel that compares covariances.

    It detects changes in how features vary together, but is nearly blind to changes in their mean.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        The kernel whose features are compared.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample, which is set by a test (see :meth:`resolve`).

    Notes
    -----
    The kernel is the square kc(x, y)^2 of the kernel centered at the mean of the pooled sample, so
    that the distance of two mean embeddings is the Hilbert-Schmidt distance of covariance operators
    about that mean.  It detects small differences in many directions, but rarely a small shift;
    combine it with other kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import SecondOrder, two_sample_test
    >>> rng = np.random.default_rng(3)
    >>> X, Y = rng.normal(size=(50, 100)), rng.normal(size=(50, 100))
    >>> Y[:, 0] += rng.choice([-4, 4], size=50)
    >>> (
    ...     two_sample_test(X, Y, rng=0).pvalue,
    ...     two_sample_test(X, Y, kernel=SecondOrder(), rng=0).pvalue,
    ... )
    (0.538, 0.001)
    """

    kernel: Kernel = field(default_factory=Gaussian)

    def _elsewhere(self, X: Array, Y: Array) -> Array:
        return np.square(self._centered(X, Y))

    def transform_gram(self, gram: Array) -> Array:
        centered = self._centered_gram(gram)
        return np.square(centered, out=centered)

    def diagonal(self, X: Array) -> Array:
        return np.square(self._centered_diagonal(X))

    def columns(self, rank: int) -> int:
        return rank * (rank + 1) // 2

    def _after(self, coordinates: Array) -> FeatureMap:
        return _Squares(coordinates.mean(axis=0), None)

    def shortened(
        self, features: FeatureMap, coordinates: Array, most: int
    ) -> tuple[FeatureMap, Array, float]:
        """Return covariances of the first principal components of the features."""
        mean = coordinates.mean(axis=0)
        centered = coordinates - mean
        variances, axes = np.linalg.eigh(centered.T @ centered)
        leading = np.ascontiguousarray(axes[:, ::-1][:, : int((2.0 * most + 0.25) ** 0.5 - 0.5)])
        squares = _Squares(mean, leading)
        share = float(variances[::-1][: leading.shape[1]].sum() / variances.sum())
        return Derived(features, squares), squares.coordinates(coordinates), share


@dataclass(frozen=True, eq=False)
class _Squares(FeatureMap):
    """Return products of two centered features.

    Products of different features are counted twice.
    """

    mean: Array  # (r,)
    axes: Array | None  # (r, q): orthonormal directions, of which alone products are taken

    def coordinates(self, X: Array) -> Array:
        centered = X - self.mean
        centered = np.ascontiguousarray(centered if self.axes is None else centered @ self.axes)
        first, second = np.triu_indices(centered.shape[1])
        return (
            centered[:, first] * centered[:, second] * np.where(first == second, 1.0, np.sqrt(2.0))
        )
