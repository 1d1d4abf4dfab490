"""The base class of kernels, and sums and products of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._machine import n_workers
from shrinktest._validate import Array, as_rng, complete_points, counted, positive, real_values
from shrinktest._warn import warn_user
from shrinktest.kernels.own import is_users, watch
from shrinktest.kernels.values import checked_values


class Kernel(ABC):
    """A positive semi-definite kernel k(x, y), the base class of every kernel and of your own.

    A subclass is immutable (a frozen dataclass, say) and has ``evaluate``.  It may have ``resolve`` if it takes
    something from the data, such as a bandwidth, and ``diagonal`` if the diagonal can be computed faster.  Calling a
    kernel gives a Gram matrix, and ``+`` and ``*`` combine kernels.

    Examples
    --------
    >>> from shrinktest import Gaussian, Linear
    >>> kernel = Gaussian(bandwidth=1.0) + 0.5 * Linear()
    >>> kernel([0.0, 2.0]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 3.    ]])

    A kernel of one's own:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import Kernel
    >>> @dataclass(frozen=True)
    ... class Brownian(Kernel):
    ...     def evaluate(self, X, Y):
    ...         return np.minimum(X, Y.T)
    >>> Brownian()([1.0, 2.0])
    array([[1., 1.],
           [1., 2.]])
    """

    @property
    def label(self) -> str:
        """What tables of results call the kernel; its bandwidth stands beside it."""
        return type(self).__name__

    @property
    def points_are(self) -> frozenset[str]:
        """What its points are, where that is known: "values", or "row numbers" of a matrix."""
        return frozenset()

    from_user: ClassVar[bool] = False  # whether the values are a user's, and may be anything

    __array_ufunc__ = None  # lets `np.float64(2) * kernel` reach __rmul__

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__call__" in vars(cls) and getattr(cls.evaluate, "__isabstractmethod__", False):
            warn_user(
                f"{cls.__name__} has a __call__ of its own: from the next version on, a kernel needs evaluate(X, Y), "
                "and Kernel.__call__ checks what goes in and out; rename __call__ to evaluate",
                DeprecationWarning,
            )
            cls.evaluate = _by_call  # type: ignore[assignment, method-assign]
        if is_users(cls):
            cls.from_user = True
            watch(cls, Kernel)

    @abstractmethod
    def evaluate(self, X: Array, Y: Array) -> Array:
        """The values k(X[i], Y[j]), shape (n, m), of rows X (n, d) and Y (m, d); within a sample X is Y.

        The rows are complete, float64 and finite; what is returned is checked by the call of the kernel.
        """

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Gram matrix of the rows of X (n, d) and Y (m, d).

        Parameters
        ----------
        X : array_like of shape (n, d) or (n,)
            Observations in rows; one dimension is read as one column.
        Y : array_like of shape (m, d) or (m,), optional
            Default: X itself; the matrix is then exactly symmetric.

        Returns
        -------
        ndarray of shape (n, m)
            float64, C-contiguous, finite.

        Raises
        ------
        TypeError, ValueError
            Missing or infinite values, different numbers of columns, a bandwidth that does not fit, or kernel
            values that are not real numbers, not finite, not symmetric, or larger than k(x, x) and k(y, y) allow.
        """
        x = complete_points(X, "X").values
        y = x if Y is None or Y is X else complete_points(Y, "Y").values
        if x.shape[1] != y.shape[1]:
            raise ValueError(
                f"X has {counted(x.shape[1], 'column')} and Y has {y.shape[1]}; a kernel compares like with like"
            )
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what overflows is reported below
            return checked_values(self.evaluate(x, y), self, x, y)

    def gram_matrix(self, X: ArrayLike, workers: int | None = 1) -> Array:
        """Gram matrix of the rows of X, computed in several threads where the kernel allows it.

        Parameters
        ----------
        X : array_like of shape (n, d) or (n,)
        workers : int, optional
            Threads at most; None or -1: all usable cores.  The result is the same for any number.

        Raises
        ------
        ValueError, TypeError
            As for a call of the kernel, and for a number of threads that makes no sense.

        Examples
        --------
        >>> from shrinktest import Laplacian
        >>> Laplacian(bandwidth=2.0).gram_matrix([0.0, 1.0], workers=2).round(4)
        array([[1.    , 0.6065],
               [0.6065, 1.    ]])
        """
        return self._in_threads(X, n_workers(workers))

    def _in_threads(self, X: ArrayLike, threads: int) -> Array:
        """The Gram matrix of X by at most so many threads; by one, unless a subclass shares out the rows."""
        return self(X)

    def resolve(self, Z: Any, rng: Any = None) -> Kernel:
        """The kernel with bandwidth="median" replaced by the number found on the rows Z (n, d)."""
        return self

    def diagonal(self, X: Array) -> Array:
        """The values k(X[i], X[i]), shape (n,), of rows X (n, d)."""
        parts = [np.diag(self(X[start : start + 32])) for start in range(0, len(X), 32)]
        return np.concatenate(parts)

    def differences(self, X: Array, threads: int = 1) -> Array | None:
        """The values of the rows X (n, d) less what all features share; None where there is no better way."""
        return None

    def check(self, X: Array) -> None:
        """Raise ValueError for rows X (n, d) that the kernel cannot take."""
        self.diagonal(X)

    def smoothed(self, variance: ArrayLike, dimension: int) -> Kernel:
        """The kernel E k(x + e, y) for noise e ~ N(0, diag(variance)), for kernels that have it in closed form."""
        raise ValueError(
            f"{self!r} has no closed form under Gaussian noise, which marginalised estimators need: use a Gaussian "
            "kernel, or another estimator"
        )

    def __add__(self, other: Any) -> Kernel:
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(cast(float, other), self) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return Kernel.__mul__(self, other)


class FiniteRank(Kernel):
    """A kernel that is an inner product of finitely many features, k(x, y) = z(x)'z(y).

    A subclass has ``coordinates`` instead of ``evaluate``.  Tests then work with the n rows of coordinates and need no
    Gram matrix, so that samples may be large.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest.kernels import FiniteRank
    >>> @dataclass(frozen=True)
    ... class MeanAndSquare(FiniteRank):
    ...     def coordinates(self, X):
    ...         return np.hstack([X, X**2])
    >>> MeanAndSquare()([1.0, 2.0])
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    @abstractmethod
    def coordinates(self, X: Array) -> Array:
        """The features z(X[i]), shape (n, rank), of rows X (n, d)."""

    def combination(self, X: Array, weights: Array) -> Array:
        """The coordinates (rank,) of sum_i weights_i k(X[i], .)."""
        return weights @ self.checked_coordinates(X)

    def evaluate(self, X: Array, Y: Array) -> Array:
        left = self.checked_coordinates(X)
        return left @ (left if X is Y else self.checked_coordinates(Y)).T

    def checked_coordinates(self, X: Array) -> Array:
        """The coordinates, if they are numbers in as many rows as X has; raises ValueError for others."""
        try:
            found = real_values(self.coordinates(X))
        except TypeError as error:
            raise TypeError(f"coordinates of {self!r} must be real numbers: {error}") from None
        if found.ndim != 2 or len(found) != len(X) or not found.shape[1]:
            raise ValueError(
                f"coordinates of {self!r} must have shape (n, rank), here ({len(X)}, rank); got shape {found.shape}"
            )
        if not np.isfinite(found).all():
            raise ValueError(f"coordinates of {self!r} must be finite; got {found[~np.isfinite(found)][0]}")
        return found

    def diagonal(self, X: Array) -> Array:
        return np.square(self.checked_coordinates(X)).sum(axis=1)

    def differences(self, X: Array, threads: int = 1) -> Array:
        less = (z := self.checked_coordinates(X)) - z.mean(axis=0)
        return less @ less.T


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """Sum of kernels, k_1(x, y) + k_2(x, y) + ..., as ``+`` makes it.

    Parameters
    ----------
    terms : tuple of Kernel

    Examples
    --------
    >>> from shrinktest.kernels import Linear, Polynomial
    >>> Linear() + Polynomial(2)
    Linear() + Polynomial(degree=2, offset=1.0)
    """

    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _flattened(self.terms, Sum, lambda kernel: kernel.terms))

    @property
    def points_are(self) -> frozenset[str]:
        return _points_of(self.terms)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return reduce(np.add, (kernel(X, Y) for kernel in self.terms))

    def diagonal(self, X: Array) -> Array:
        return np.sum([kernel.diagonal(X) for kernel in self.terms], axis=0)

    def differences(self, X: Array, threads: int = 1) -> Array | None:
        if all(kernel.differences(X[:1]) is None for kernel in self.terms):
            return None
        found = ((kernel, kernel.differences(X, threads)) for kernel in self.terms)  # one after the other
        return reduce(np.add, (kernel(X) if values is None else values for kernel, values in found))

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        rng = as_rng(rng)
        return Sum(tuple(kernel.resolve(Z, rng) for kernel in self.terms))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """Product of kernels, k_1(x, y) * k_2(x, y) * ..., as ``*`` makes it.

    Parameters
    ----------
    factors : tuple of Kernel

    Examples
    --------
    >>> from shrinktest.kernels import Gaussian, Linear
    >>> Linear() * (Linear() + Gaussian(1.0))
    Linear() * (Linear() + Gaussian(bandwidth=1.0))
    """

    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _flattened(self.factors, Product, lambda kernel: kernel.factors))

    @property
    def points_are(self) -> frozenset[str]:
        return _points_of(self.factors)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return reduce(np.multiply, (kernel(X, Y) for kernel in self.factors))

    def diagonal(self, X: Array) -> Array:
        return np.prod([kernel.diagonal(X) for kernel in self.factors], axis=0)

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        rng = as_rng(rng)
        return Product(tuple(kernel.resolve(Z, rng) for kernel in self.factors))

    def __repr__(self) -> str:
        return " * ".join(map(_factor, self.factors))


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """Kernel times a positive number, factor * k(x, y), as ``*`` makes it.

    Parameters
    ----------
    factor : float
    kernel : Kernel

    Examples
    --------
    >>> from shrinktest.kernels import Linear
    >>> Linear() * 2
    2.0 * Linear()
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", positive(self.factor, "the factor of a kernel"))
        _require_kernel(self.kernel)

    @property
    def points_are(self) -> frozenset[str]:
        return self.kernel.points_are

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.factor * self.kernel(X, Y)

    def _in_threads(self, X: ArrayLike, threads: int) -> Array:
        return self.factor * self.kernel._in_threads(X, threads)

    def diagonal(self, X: Array) -> Array:
        return self.factor * self.kernel.diagonal(X)

    def differences(self, X: Array, threads: int = 1) -> Array | None:
        found = self.kernel.differences(X, threads)
        return None if found is None else self.factor * found

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        return Scaled(self.factor, self.kernel.resolve(Z, rng))

    def __repr__(self) -> str:
        return f"{self.factor} * {_factor(self.kernel)}"


def _by_call(kernel: Kernel, X: Array, Y: Array) -> Array:
    """What `evaluate` is for a kernel that has only a `__call__`."""
    return kernel(X) if X is Y else kernel(X, Y)


def _flattened(kernels: Any, kind: type[Kernel], parts: Callable[[Any], tuple[Kernel, ...]]) -> tuple[Kernel, ...]:
    """The parts of nested sums (or products) in one tuple, so that a + (b + c) == (a + b) + c."""
    flat: list[Kernel] = []
    for kernel in kernels:
        flat.extend(parts(kernel) if isinstance(kernel, kind) else (_require_kernel(kernel),))
    if len(flat) < 2:
        raise ValueError(f"{kind.__name__} takes a tuple of two kernels or more, got {len(flat)}")
    require_same_points(flat)
    return tuple(flat)


def _points_of(kernels: Iterable[Kernel]) -> frozenset[str]:
    return frozenset().union(*(kernel.points_are for kernel in kernels))


def require_same_points(kernels: Sequence[Kernel]) -> None:
    """Raise ValueError for a matrix beside kernels of values, which would compare the numbers of its rows."""
    if len(_points_of(kernels)) > 1:
        raise ValueError(
            f"{', '.join(map(repr, kernels))}: with Precomputed the observations are row numbers, which the others "
            "would compare as values; give all of them as matrices, Precomputed(kernel.resolve(rows)(rows))"
        )


def _require_kernel(kernel: Any) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"expected a kernel, got {kernel!r} ({type(kernel).__name__}); a function goes in as Custom(function)"
        )
    return kernel


def _factor(kernel: Kernel) -> str:
    """The repr, in parentheses where `*` needs them."""
    return f"({kernel!r})" if isinstance(kernel, (Sum, Product, Scaled)) else repr(kernel)
