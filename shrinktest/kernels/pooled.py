"""Kernels of the pooled sample: they take from all observations, whatever their labels, more than a bandwidth.

Such a kernel is a value until it is resolved on the observations; the test does that, once, before any permutation.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._validate import Array, complete_points, positive
from shrinktest.kernels.base import FiniteRank, Kernel
from shrinktest.kernels.distance import Gaussian

_BLOCK = 2**20  # kernel values computed at a time


@dataclass(frozen=True, eq=False)
class PooledKernel(Kernel):
    """A kernel of the features of another one about their mean over the pooled sample.

    Parameters
    ----------
    kernel : Kernel
        Whose features are taken.
    points : ndarray, shape (N, d), optional
        The pooled sample, as :meth:`resolve` puts it in.
    """

    kernel: Kernel
    points: Array | None = field(default=None, repr=False, kw_only=True)

    @property
    def bandwidth(self) -> Any:
        """That of the other kernel."""
        return getattr(self.kernel, "bandwidth", None)

    @property
    def label(self) -> str:
        """Such as "Whitened(Gaussian, lam=0.1)"."""
        rest = [f"{name}={value!r}" for name, value in self._settings.items() if name != "kernel"]
        return f"{type(self).__name__}({', '.join([self.kernel.label, *rest])})"

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """The kernel of the pooled sample Z (N, d)."""
        rows = complete_points(Z, "Z").values
        if self.points is None:
            return replace(self, kernel=self.kernel.resolve(rows, rng), points=rows)
        if not np.array_equal(self.points, rows):
            raise ValueError(
                f"{self!r} was resolved on other observations ({len(self.points)} of them, these are {len(rows)}); "
                "give the test the kernel as it was before, which it resolves on all observations itself"
            )
        return self

    @abstractmethod
    def of_features(self, features: FiniteRank, coordinates: Array) -> tuple[FiniteRank, Array]:
        """The same from coordinates (N, r) of the pooled sample: as a kernel of finite rank, with its coordinates."""

    def columns(self, rank: int) -> int:
        """How many coordinates it has where the other kernel has ``rank``."""
        return rank

    def _pooled(self) -> Array:
        if self.points is None:
            raise ValueError(
                f"{self!r} has no pooled sample yet: call .resolve(Z) with all the data (a test does that itself)"
            )
        return self.points

    def _centred(self, X: Array, Y: Array) -> Array:
        """Inner products of the features of X and Y about their mean over the pooled sample."""
        means, whole = self._means()
        at_x, at_y = (means if Z is self.points else self._mean_at(Z) for Z in (X, Y))
        values = (self.kernel(X) if X is Y else self.kernel(X, Y)) - at_x[:, None]  # which may be the user's own array
        values -= at_y - whole
        return values

    def _means(self) -> tuple[Array, float]:
        """Mean of the kernel between every pooled point and all of them (N,), and the mean of these."""
        if "means" not in self._known:
            rows = self._mean_at(self._pooled())
            self._known["means"] = rows, float(rows.mean())
        found: tuple[Array, float] = self._known["means"]
        return found

    def _mean_at(self, X: Array) -> Array:
        pooled = self._pooled()
        step = max(1, _BLOCK // len(pooled))
        return np.concatenate([self.kernel(X[k : k + step], pooled).mean(axis=1) for k in range(0, len(X), step)])

    @property
    def _settings(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "points"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PooledKernel) or type(self) is not type(other):
            return False
        same = self.points is other.points or (
            self.points is not None and other.points is not None and np.array_equal(self.points, other.points)
        )
        return same and self._settings == other._settings

    def __hash__(self) -> int:
        return hash((type(self), *self._settings.values()))

    @property
    def _known(self) -> dict[str, Any]:
        """What was computed on the pooled sample; not copied and not pickled with the kernel."""
        return self.__dict__.setdefault("_cache", {})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_cache"}

    def _of_pooled(self, X: Array) -> bool:
        pooled = self._pooled()
        return X is pooled or (X.shape == pooled.shape and np.array_equal(X, pooled))


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
    points : ndarray, shape (N, d), optional
        The pooled sample; a test puts it in (see :meth:`resolve`).

    Notes
    -----
    With phi the features of the kernel about their mean over the N pooled observations, C their covariance operator
    and c = lam tr(C), this is k(x, y) = 1 + w(x, y) / D, where w(x, y) = phi(x)'(C + c I)^-1 phi(y) and D, the mean of
    w(x, x) over the pooled sample, is the effective dimension of the features.  The constant changes no difference of
    means; it gives estimators that shrink a mean to shrink to, and joint features their main effects.

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

    kernel: Kernel = field(default_factory=Gaussian)
    lam: float = 0.1

    def __post_init__(self) -> None:
        _require_plain(self.kernel, "Whitened")
        object.__setattr__(self, "lam", positive(self.lam, "lam"))

    def evaluate(self, X: Array, Y: Array) -> Array:
        ridge, factor, dimension = self._factor()
        size = len(factor)
        if self._of_pooled(X) and self._of_pooled(Y):
            inverse = _inverse(factor)
            inverse *= -(float(size) ** 2) * ridge / dimension
            inverse[np.diag_indices(size)] += size / dimension
            inverse += 1.0
            return inverse
        left = self._solved(X)
        right = left if X is Y else self._solved(Y)
        values = self._centred(X, Y) - left.T @ right
        values /= ridge * dimension
        values += 1.0
        return np.asarray(values)

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
        if "factor" not in self._known:
            from scipy.linalg.lapack import dtrtri

            pooled = self._pooled()
            gram = self._centred(pooled, pooled)
            size = len(gram)
            ridge = self._ridge(float(np.trace(gram)) / size)
            gram[np.diag_indices(size)] += size * ridge
            factor = _cholesky(gram, self)
            inverse, _ = dtrtri(factor, lower=True)
            dimension = size * (1.0 - ridge * float(np.square(inverse).sum()))
            self._known["factor"] = ridge, factor, dimension
        found: tuple[float, Array, float] = self._known["factor"]
        return found

    def _solved(self, X: Array) -> Array:
        """L^-1 kc(Z, X), shape (N, n)."""
        from scipy.linalg import solve_triangular

        _, factor, _ = self._factor()
        return np.asarray(solve_triangular(factor, self._centred(self._pooled(), X), lower=True, check_finite=False))


@dataclass(frozen=True, eq=False)
class SecondOrder(PooledKernel):
    """Kernel of covariances: sees how features vary together, and hardly where their mean is.

    Parameters
    ----------
    kernel : Kernel, default Gaussian()
        Whose features are taken.
    points : ndarray, shape (N, d), optional
        The pooled sample; a test puts it in (see :meth:`resolve`).

    Notes
    -----
    The square kc(x, y)^2 of the kernel after centring at the mean of the pooled sample: the distance of two samples'
    mean embeddings is the Hilbert-Schmidt distance of their covariance operators about that mean.  It finds what
    differs in many directions by a little each; it is nearly blind to a small shift, so that it is one of several
    kernels to combine and not one to test with alone.

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

    def __post_init__(self) -> None:
        _require_plain(self.kernel, "SecondOrder")

    def evaluate(self, X: Array, Y: Array) -> Array:
        pooled = self._pooled()
        X, Y = (pooled if self._of_pooled(Z) else Z for Z in (X, X if X is Y else Y))
        values = self._centred(X, Y)
        return np.square(values, out=values)

    def diagonal(self, X: Array) -> Array:
        return np.square(self.kernel.diagonal(X) - 2.0 * self._mean_at(X) + self._means()[1])

    def columns(self, rank: int) -> int:
        return rank * (rank + 1) // 2

    def of_features(self, features: FiniteRank, coordinates: Array) -> tuple[FiniteRank, Array]:
        moved = SquaredFeatures(features, coordinates.mean(axis=0))
        return moved, moved.squares(coordinates - moved.mean)


@dataclass(frozen=True, eq=False, repr=False)
class WhitenedFeatures(FiniteRank):
    """`Whitened` of a kernel of finite rank: z(x) = (1, L^-1 (features(x) - mean) / unit).

    Parameters
    ----------
    features : FiniteRank
    mean : ndarray, shape (r,)
    factor : ndarray, shape (r, r)
        L, lower triangular, where L L' is the covariance of the features with its ridge.
    unit : float
        Root of the effective dimension.
    """

    features: FiniteRank
    mean: Array
    factor: Array
    unit: float

    def coordinates(self, X: Array) -> Array:
        return self.whiten(self.features.coordinates(X) - self.mean)

    def whiten(self, centred: Array) -> Array:
        """Coordinates (n, r + 1) from features about the mean (n, r)."""
        from scipy.linalg import solve_triangular

        white = solve_triangular(self.factor, centred.T, lower=True, check_finite=False).T
        return np.hstack([np.ones((len(centred), 1)), white / self.unit])

    def __repr__(self) -> str:
        return f"Whitened({self.features!r})"


@dataclass(frozen=True, eq=False, repr=False)
class SquaredFeatures(FiniteRank):
    """`SecondOrder` of a kernel of finite rank: products of features about their mean, those of two counted twice.

    Parameters
    ----------
    features : FiniteRank
    mean : ndarray, shape (r,)
    """

    _double: ClassVar[float] = float(np.sqrt(2.0))

    features: FiniteRank
    mean: Array

    def coordinates(self, X: Array) -> Array:
        return self.squares(self.features.coordinates(X) - self.mean)

    def squares(self, centred: Array) -> Array:
        """Coordinates (n, r (r + 1) / 2) from features about the mean (n, r)."""
        first, second = np.triu_indices(centred.shape[1])
        out = centred[:, first]
        out *= centred[:, second]
        out[:, first != second] *= self._double
        return out

    def __repr__(self) -> str:
        return f"SecondOrder({self.features!r})"


def _require_plain(kernel: Any, name: str) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{name} takes a kernel such as Gaussian(); got {kernel!r} ({type(kernel).__name__})")
    if isinstance(kernel, PooledKernel):
        raise ValueError(
            f"{name}({kernel!r}): kernels of the pooled sample are not taken one of another; give {name} the kernel "
            f"itself, {kernel.kernel!r}"
        )


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


def _inverse(factor: Array) -> Array:
    """The symmetric inverse of L L'."""
    from scipy.linalg.lapack import dpotri

    inverse, _ = dpotri(factor, lower=True)
    lower = np.tril_indices(len(inverse), -1)
    inverse = np.array(inverse, order="C")
    inverse.T[lower] = inverse[lower]
    return inverse
