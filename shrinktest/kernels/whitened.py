"""Whitened: directions in which the pooled sample varies little count as much as the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from shrinktest._validate import Array, positive
from shrinktest.kernels.base import FiniteRank, Kernel
from shrinktest.kernels.distance import Gaussian
from shrinktest.kernels.pooled import PooledKernel


@dataclass(frozen=True, eq=False)
class Whitened(PooledKernel):
    """Kernel of whitened features: directions in which the pooled sample varies little count as much as the others.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        Whose features are whitened.
    lam : float, default 0.1
        Ridge, in units of the variance of the features: the trace of their covariance operator, which is the mean
        eigenvalue of the centred Gram matrix.  The smaller it is, the more do directions of small variance count; with
        a very large one the test is that of ``kernel``.
    points : ndarray, shape (N, d), optional, by name only
        The pooled sample; a test puts it in (see :meth:`resolve`).

    Notes
    -----
    With phi the features of the kernel about their mean over the N pooled observations, C their covariance operator and
    c = lam tr(C), this is k(x, y) = 1 + w(x, y) / D, where w(x, y) = phi(x)'(C + c I)^-1 phi(y) and D, the mean of w(x,
    x) over the pooled sample, is the effective dimension of the features.  The constant changes no difference of means.
    It gives the features a mean that is not zero, for estimators that shrink it, and main effects to joint features.

    The squared distance of two mean embeddings is, but for D, the kernel Fisher discriminant ratio of [HBM07] and the
    spectral-regularised distance of [HSL24]; with each margin whitened by itself, HSIC is the normalised
    cross-covariance of [FGSS08].  In terms of Gram matrices, with Kc that of the pooled sample after centring,

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
    (0.126, 0.006)
    """

    affine: ClassVar[bool] = True

    kernel: Kernel = field(default_factory=Gaussian)
    lam: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lam", positive(self.lam, "lam"))

    def evaluate(self, X: Array, Y: Array) -> Array:
        if self._both_pooled(X, Y):
            return self.of_gram(self.kernel(self._pooled()))
        ridge, _, dimension = self._factor()
        left = self._solved(X)
        right = left if X is Y else self._solved(Y)
        values = self._centred(X, Y) - left.T @ right
        values /= ridge * dimension
        values += 1.0
        return np.asarray(values)

    def of_gram(self, gram: Array) -> Array:
        from scipy.linalg.lapack import dlauum

        ridge, half = self._factored(gram)
        size = len(gram)
        inverse, _ = dlauum(half, lower=True, overwrite_c=True)  # of Kc + N c I; above the diagonal it is 0
        own = np.array(np.diagonal(inverse))
        dimension = size * (1.0 - ridge * float(own.sum()))
        values = np.add(inverse.T, inverse, order="C")
        values[np.diag_indices(size)] = own
        values *= -(float(size) ** 2) * ridge / dimension
        values += 1.0
        values[np.diag_indices(size)] += size / dimension
        self._known["dimension"] = dimension
        return values

    def diagonal(self, X: Array) -> Array:
        ridge, _, dimension = self._factor()
        centred = self.kernel.diagonal(X) - 2.0 * self._mean_at(X) + self._means()[1]
        return np.asarray(1.0 + (centred - np.square(self._solved(X)).sum(axis=0)) / (ridge * dimension))

    def columns(self, rank: int) -> int:
        return rank + 1

    def of_features(self, features: FiniteRank, coordinates: Array) -> tuple[FiniteRank, Array]:
        mean = coordinates.mean(axis=0)
        centred = coordinates - mean
        covariance = centred.T @ centred / len(centred)
        covariance[np.diag_indices(len(covariance))] += self._ridge(float(np.trace(covariance)))
        white = WhitenedFeatures(features, mean, _cholesky(covariance, self), 1.0)
        dimension = np.square(white.whiten(centred)[:, 1:]).sum() / len(centred)
        found = replace(white, unit=float(np.sqrt(dimension)))
        return found, found.whiten(centred)

    def _ridge(self, variance: float) -> float:
        if variance < 0.0:
            raise ValueError(_no_kernel(self))
        if variance == 0.0:
            raise ValueError(f"{self!r}: all observations have the same features, so that there is nothing to whiten")
        return self.lam * variance

    def _factor(self) -> tuple[float, Array, float]:
        """The ridge c, the lower Cholesky factor L of Kc + N c I, and the effective dimension."""
        if "dimension" not in self._known:
            ridge, half = self._factored(self.kernel(self._pooled()))
            self._known["dimension"] = len(half) * (1.0 - ridge * float(np.square(half).sum()))
        ridge, factor = self._known["factor"]
        return ridge, factor, self._known["dimension"]

    def _factored(self, gram: Array) -> tuple[float, Array]:
        """The ridge and L^-1, from the other kernel's Gram matrix of the pooled sample."""
        from scipy.linalg.lapack import dtrtri

        values = self._centred_gram(gram)
        size = len(values)
        ridge = self._ridge(float(np.trace(values)) / size)
        values[np.diag_indices(size)] += size * ridge
        factor = _cholesky(values, self)
        self._known["factor"] = ridge, factor
        half, _ = dtrtri(factor, lower=True)
        return ridge, half

    def _solved(self, X: Array) -> Array:
        """L^-1 kc(Z, X), shape (N, n)."""
        from scipy.linalg import solve_triangular

        _, factor, _ = self._factor()
        return np.asarray(solve_triangular(factor, self._centred(self._pooled(), X), lower=True, check_finite=False))


@dataclass(frozen=True, eq=False, repr=False)
class WhitenedFeatures(FiniteRank):
    """`Whitened` of a kernel of finite rank: z(x) = (1, L^-1 (features(x) - mean) / unit)."""

    features: FiniteRank
    mean: Array  # (r,)
    factor: Array  # (r, r): L, lower triangular, where L L' is the covariance of the features with its ridge
    unit: float  # root of the effective dimension

    def coordinates(self, X: Array) -> Array:
        return self.whiten(self.features.coordinates(X) - self.mean)

    def whiten(self, centred: Array) -> Array:
        """Coordinates (n, r + 1) from features about the mean (n, r)."""
        from scipy.linalg import solve_triangular

        white = solve_triangular(self.factor, centred.T, lower=True, check_finite=False).T
        return np.hstack([np.ones((len(centred), 1)), white / self.unit])

    def __repr__(self) -> str:
        return f"Whitened({self.features!r})"


def _cholesky(matrix: Array, kernel: Kernel) -> Array:
    """The lower Cholesky factor, in the place of the matrix."""
    from scipy.linalg import LinAlgError, cholesky

    try:
        return np.asarray(cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False))
    except LinAlgError:
        raise ValueError(_no_kernel(kernel)) from None


def _no_kernel(kernel: Kernel) -> str:
    return (
        f"{kernel!r}: the Gram matrix has negative eigenvalues, so that it is that of no kernel; give a positive "
        "semi-definite one (of squared distances D, say, exp(-D / (2 s^2)))"
    )
