"""The kernel of whitened features."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from shrinktest._check import Array, positive
from shrinktest.kernels.base import Kernel
from shrinktest.kernels.distance import Gaussian
from shrinktest.kernels.feature_maps import AffineFeatures
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel


@dataclass(frozen=True, eq=False)
class Whitened(PooledKernel):
    """Kernel of whitened features: directions in which the pooled sample varies little count as much as the others.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        The kernel whose features are whitened.
    lam : float, default 0.1
        Ridge, in units of the variance of the features: the trace of their covariance operator, which is the mean
        eigenvalue of the centered Gram matrix.  The smaller it is, the more directions of small variance count; with
        a very large one the test is that of ``kernel``.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample; a test sets it (see :meth:`resolve`).

    Notes
    -----
    With phi the features of the kernel about their mean over the N pooled observations, C their covariance operator and
    c = lam tr(C), this is k(x, y) = 1 + w(x, y) / D, where w(x, y) = phi(x)'(C + c I)^-1 phi(y) and D, the mean of w(x,
    x) over the pooled sample, is the effective dimension of the features.  The constant changes no difference of means.
    It gives the features a mean that is not zero, for estimators that shrink it, and main effects to joint features.

    The squared distance of two mean embeddings is, up to D, the kernel Fisher discriminant ratio of [HBM07] and the
    spectral-regularized distance of [HSL24]; with each margin whitened by itself, HSIC is the normalized
    cross-covariance of [FGSS08].  In terms of Gram matrices, with Kc that of the pooled sample after centering,

        w(x, y) = (kc(x, y) - kc(x, Z) (Kc + N c I)^-1 kc(Z, y)) / c,

    and on the pooled sample itself N (I - N c (Kc + N c I)^-1).  It does not depend on the labels, so that a
    permutation test with it is exact.

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

    affine: ClassVar[bool] = True

    kernel: Kernel = field(default_factory=Gaussian)
    lam: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lam", positive(self.lam, "lam"))

    def of_gram(self, gram: Array) -> Array:
        from scipy.linalg.lapack import dlauum

        ridge, factor, dimension, inverse = self._factorized(gram)
        self.__dict__["_factor"] = ridge, factor, dimension
        size = len(gram)
        product, _ = dlauum(inverse, lower=True, overwrite_c=True)  # (Kc + N c I)^-1; above the diagonal it is 0
        values = np.add(product.T, product, order="C")
        values[np.diag_indices(size)] /= 2.0
        values *= -(float(size) ** 2) * ridge / dimension
        values += 1.0
        values[np.diag_indices(size)] += size / dimension
        return values

    def _elsewhere(self, X: Array, Y: Array) -> Array:
        ridge, _, dimension = self._factor
        left = self._solved(X)
        right = left if X is Y else self._solved(Y)
        values = self._centred(X, Y) - left.T @ right
        values /= ridge * dimension
        values += 1.0
        return values

    def diagonal(self, X: Array) -> Array:
        ridge, _, dimension = self._factor
        missing = self._centred_diagonal(X) - np.square(self._solved(X)).sum(axis=0)
        return 1.0 + missing / (ridge * dimension)

    def columns(self, rank: int) -> int:
        return rank + 1

    def of_features(self, features: FeatureMap, coordinates: Array) -> tuple[FeatureMap, Array]:
        from scipy.linalg import solve_triangular

        mean = coordinates.mean(axis=0)
        centred = coordinates - mean
        covariance = centred.T @ centred / len(centred)
        covariance[np.diag_indices(len(covariance))] += self._ridge(float(np.trace(covariance)))
        weights = solve_triangular(self._cholesky(covariance), np.eye(len(mean)), lower=True).T
        dimension = np.square(centred @ weights).sum() / len(centred)
        white = AffineFeatures(features, mean, weights / np.sqrt(dimension))
        return white, white.of(coordinates)

    def _ridge(self, variance: float) -> float:
        if variance < 0.0:
            raise ValueError(f"{self!r} is not of a kernel: its Gram matrix has negative eigenvalues")
        if variance == 0.0:
            raise ValueError(f"{self!r}: all observations have the same features, so nothing can be whitened")
        return self.lam * variance

    @cached_property
    def _factor(self) -> tuple[float, Array, float]:
        """The ridge c, the lower Cholesky factor L of Kc + N c I, and the effective dimension."""
        return self._factorized(self.kernel.block(self._pooled, self._pooled))[:3]

    def _factorized(self, gram: Array) -> tuple[float, Array, float, Array]:
        """Return ridge, L, effective dimension and L^-1 from the Gram matrix of the other kernel."""
        from scipy.linalg.lapack import dtrtri

        values = self._centred_gram(gram)
        size = len(values)
        ridge = self._ridge(float(np.trace(values)) / size)
        values[np.diag_indices(size)] += size * ridge
        factor = self._cholesky(values)
        inverse, _ = dtrtri(factor, lower=True)
        return ridge, factor, size * (1.0 - ridge * float(np.linalg.norm(inverse)) ** 2), inverse

    def _cholesky(self, matrix: Array) -> Array:
        """Return the lower Cholesky factor, in the place of the matrix."""
        from scipy.linalg import LinAlgError, cholesky

        try:
            return np.asarray(cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False))
        except LinAlgError:
            raise ValueError(f"{self!r} is not of a kernel: its Gram matrix has negative eigenvalues") from None

    def _solved(self, X: Array) -> Array:
        """Return L^-1 kc(Z, X), shape (N, n)."""
        from scipy.linalg import solve_triangular

        centred = self._centred(self._pooled, X)
        return np.asarray(solve_triangular(self._factor[1], centred, lower=True, check_finite=False))
