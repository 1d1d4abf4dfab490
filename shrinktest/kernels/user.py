"""Kernels of the user: a Gram matrix, distances, or a function that makes a matrix."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shrinktest._check import Array, check_signature, complete_points
from shrinktest.kernels.base import Combination, Kernel, checked_gram
from shrinktest.kernels.metric_kernel import MetricKernel

_NEGATIVE = 1e-8  # of the largest eigenvalue: below it, distances are not Euclidean


class _Matrix(Kernel):
    """Kernel whose values are those of a matrix; the observations are row numbers of it."""

    gram: Array

    points_are = "row numbers"  # type: ignore[assignment]

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.gram[np.ix_(self._numbers(X), self._numbers(Y))]

    def _numbers(self, points: Array) -> NDArray[np.intp]:
        size = len(self.gram)
        wrong = (points != np.floor(points)) | (points < 0) | (points >= size)
        if points.shape[1] != 1 or wrong.any():
            got = f"{points[wrong][0]:g}" if wrong.any() else f"{points.shape[1]} columns"
            raise ValueError(
                f"a {type(self).__name__} kernel requires row numbers, 0 to {size - 1}; got {got} "
                "(use scale=None)"
            )
        return points[:, 0].astype(np.intp)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and np.array_equal(self.gram, other.gram)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.gram[0].tobytes())

    def __repr__(self) -> str:
        size = len(self.gram)
        digest = hashlib.sha256(self.gram.sum(axis=1).tobytes()).hexdigest()[:12]
        # stores of studies use it
        name = type(self).__name__
        return f"{name}(<{size} x {size} Gram matrix, sha256 of row sums {digest}>)"


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(_Matrix):
    """Kernel given by its Gram matrix, whose row numbers are the observations.

    Parameters
    ----------
    gram : array_like of shape (N, N)
        Symmetric and positive semi-definite, although only K_ij^2 <= K_ii K_jj is checked.  For
        distances D, pass exp(-D**2 / (2 * s**2)), where s is the median of D, for example, or use
        :class:`Distances`.

    Examples
    --------
    >>> gram = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
    >>> Precomputed(gram)([0, 2], [1])
    array([[1.],
           [1.]])
    """

    gram: Array

    def __post_init__(self) -> None:
        gram = checked_gram(_square(self.gram, "gram"), "gram")
        gram.setflags(write=False)
        object.__setattr__(self, "gram", gram)


@dataclass(frozen=True, eq=False, repr=False)
class Distances(_Matrix):
    """Kernel -D^2 / 2 of distances D, centered at the mean of all rows.

    The observations are row numbers.  The squared distance between two kernel means is then the
    mean squared distance between samples less half of that within each.  Distances need not be
    Euclidean: tests of means accept all distances, but other tests raise an error if they are not.

    Parameters
    ----------
    distances : array_like of shape (N, N)
        Symmetric matrix of nonnegative numbers, with zeros on the diagonal.

    See Also
    --------
    Precomputed : A Gram matrix.

    Examples
    --------
    One-factor PERMANOVA of two samples, rows 0 to 3 and 4 to 7 of the matrix:

    >>> import numpy as np
    >>> from shrinktest import Distances, k_sample_test
    >>> points = np.array([0.0, 0.2, 0.5, 0.6, 1.0, 1.3, 1.4, 1.7])
    >>> kernel = Distances(np.abs(points[:, None] - points))
    >>> result = k_sample_test([0, 1, 2, 3], [4, 5, 6, 7], kernel=kernel, comparison="pooled")
    >>> round(result.pvalue, 3)
    0.029
    """

    sources = ("SSGF13",)

    distances: Array

    @staticmethod
    def of(metric: str, *, bandwidth: float | str | None = None, **options: Any) -> MetricKernel:
        """Return the kernel of a distance of scipy between rows of numbers.

        Columns of tables are compared without scaling, unless ``scale=`` is set.  Distances of
        presence, such as "jaccard", interpret every number but 0 as present.

        Parameters
        ----------
        metric : str
            Name of a distance in :mod:`scipy.spatial.distance`, such as "braycurtis", "jaccard" or
            "canberra".
        bandwidth : float or "median", optional
            By default the kernel is that of ``Distances(D)``.  If a bandwidth is passed, it is
            exp(-D / bandwidth), for tests and estimators that need a positive definite kernel, as
            this is for Bray-Curtis distances; "median" is the median distance.
        **options : Any
            Arguments of the distance, such as ``p=3`` of "minkowski".

        Returns
        -------
        MetricKernel
            The kernel, whose distances are computed from the rows of a test.

        Examples
        --------
        >>> from shrinktest import Distances, two_sample_test
        >>> near, far = [[9, 1, 0], [7, 2, 1], [8, 0, 2]], [[1, 8, 3], [0, 9, 2], [2, 7, 2]]
        >>> two_sample_test(near, far, kernel=Distances.of("braycurtis"), alpha=0.2).pvalue
        0.1
        """
        return MetricKernel(metric, bandwidth, options)

    def __post_init__(self) -> None:
        distances = checked_gram(_square(self.distances, "distances"), "distances", products=False)
        if np.diagonal(distances).any() or (distances < 0.0).any():
            raise ValueError(
                "distances must be at least 0, and 0 in the diagonal; a Gram matrix is for "
                "Precomputed"
            )
        gram = -0.5 * distances**2
        gram = gram - gram.mean(axis=0)
        gram = gram - gram.mean(axis=1, keepdims=True)
        gram = (gram + gram.T) / 2.0
        for name, values in (("distances", distances), ("gram", gram)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @cached_property
    def is_definite(self) -> bool:  # type: ignore[override]
        """True if the distances are those of points in a Euclidean space."""
        values = np.linalg.eigvalsh(self.gram)
        return bool(values[0] >= -_NEGATIVE * max(values[-1], 0.0))


def _square(matrix: Any, name: str) -> Array:
    values = complete_points(matrix, name).values
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"{name} must be square, got shape {values.shape}")
    return values


@dataclass(frozen=True, repr=False)
class Custom(Kernel):
    """Kernel from a function (X, Y) -> Gram matrix.

    Parameters
    ----------
    function : callable
        Called with rows X (n, d) and Y (m, d), float64 and read-only, it returns the values k(X[i],
        Y[j]), shape (n, m).  The kernel must be positive semi-definite.

    Examples
    --------
    >>> def brownian(X, Y):
    ...     return np.minimum(X, Y.T)
    >>> Custom(brownian)([1.0, 2.0])
    array([[1., 1.],
           [1., 2.]])
    """

    _from_user = True

    function: Callable[[Array, Array], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"a kernel function (X, Y) -> Gram matrix must be callable, got {self.function!r}"
            )
        check_signature(self.function, ("X", "Y"), "a kernel is a function (X, Y) -> Gram matrix")

    def evaluate(self, X: Array, Y: Array) -> Array:
        return cast(Array, self.function(X, Y))

    def __repr__(self) -> str:
        return f"Custom({getattr(self.function, '__name__', self.function)})"


def takes_row_numbers(kernel: Any) -> bool:
    """Return True if the points of a kernel, or of one of several, are row numbers of a matrix."""
    if isinstance(kernel, list | tuple):
        return any(map(takes_row_numbers, kernel))
    return isinstance(kernel, Kernel) and kernel.points_are == "row numbers"


def is_from_user(kernel: Any) -> bool:
    """Return True if a kernel contains a Gram matrix, a function or a user's class.

    This may be the kernel itself, a part of it, or one of several.
    """
    if isinstance(kernel, list | tuple):
        return any(map(is_from_user, kernel))
    if not isinstance(kernel, Kernel):
        return callable(kernel)
    if isinstance(kernel, Combination):
        return is_from_user(kernel.parts)
    return kernel.points_are != "values" or is_from_user(getattr(kernel, "kernel", None))
