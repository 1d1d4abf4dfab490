"""The base class of kernels, sums and products of kernels, and checks of kernel values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, complete_points, counted, positive, real_values
from shrinktest._parallel import n_workers
from shrinktest._random import as_rng

_ROUNDING = 1e-6  # of the largest value, so that kernels in single precision are accepted
_TILE = 256  # rows of a Gram matrix that are checked at a time
_ROWS = 32  # rows whose diagonal is taken at a time


class Kernel(ABC):
    """A positive semi-definite kernel k(x, y), the base class of every kernel.

    Derive kernels of your own from this class.  A subclass is immutable (a frozen dataclass, for
    example) and must have ``evaluate(X, Y)``.  It may have ``resolve(Z, rng)``, which computes
    settings, such as a bandwidth, from the data, and a faster ``diagonal(X)``.  It is called with
    read-only rows, and its Gram matrix is checked.  ``+`` and ``*`` combine kernels.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import Kernel
    >>> @dataclass(frozen=True)
    ... class Brownian(Kernel):
    ...     def evaluate(self, X, Y):
    ...         return np.minimum(X, Y.T)
    >>> (0.5 * Brownian())([1.0, 2.0])
    array([[0.5, 0.5],
           [0.5, 1. ]])
    """

    bounded: bool = False  # True if no value depends on the units of the data
    sources: ClassVar[tuple[str, ...]] = ()  # keys of the papers that it comes from
    never_negative: bool = False  # True if norms of means tell how much samples have in common
    _from_user: ClassVar[bool] = False  # True if the values may be anything, and are checked
    as_given: bool = False  # True if columns of tables have no units unless the user gives some
    is_definite: bool = True  # False if squared norms may be negative, as with some distances
    __array_ufunc__ = None  # lets `np.float64(2) * kernel` reach __rmul__

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._from_user = cls._from_user or not cls.__module__.startswith("shrinktest.")

    @property
    def label(self) -> str:
        """Name of the kernel in tables of results, without its bandwidth."""
        return type(self).__name__

    @property
    def points_are(self) -> str | None:
        """Kind of the points: "values", "row numbers" of a matrix, or None for either."""
        return None if self._from_user else "values"

    @abstractmethod
    def evaluate(self, X: Array, Y: Array) -> Array:
        """Return the values k(X[i], Y[j]), shape (n, m), of complete float64 rows.

        Within a sample X is Y.
        """

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return the Gram matrix of the rows of X (n, d) and Y (m, d), by default X.

        One dimension is one column.
        """
        x = complete_points(X, "X").values
        y = x if Y is None or Y is X else complete_points(Y, "Y").values
        if x.shape[1] != y.shape[1]:
            raise ValueError(
                f"X has {counted(x.shape[1], 'column')} and Y has {y.shape[1]}; pass both the same"
            )
        return self.block(x, y)

    def gram_matrix(self, X: ArrayLike, workers: int | None = 1) -> Array:
        """Return the Gram matrix of the rows of X, in at most ``workers`` threads.

        None or -1 means all usable cores.
        """
        rows = complete_points(X, "X").values
        return self.block(rows, rows, n_workers(workers))

    def block(self, X: Array, Y: Array, threads: int = 1) -> Array:
        """Return the checked values (n, m) of validated rows, for example a tile.

        Within a sample X is Y.
        """
        same = X is Y
        if self._from_user:
            X = read_only(X)
            Y = X if same else read_only(Y)
        with np.errstate(
            over="ignore", under="ignore", invalid="ignore"
        ):  # an overflow is reported below
            values = self.evaluate(X, Y)
        if self._from_user:
            try:
                values = np.array(real_values(values), order="C")
            except TypeError as error:
                raise TypeError(
                    f"{self!r} must return real numbers, a matrix of k(X[i], Y[j]): {error}"
                ) from None
            if values.shape != (len(X), len(Y)):
                raise ValueError(
                    f"{self!r} returned shape {values.shape}; it must be {(len(X), len(Y))}"
                )
        values = finite(values, self, X, Y)
        return checked_gram(values, self, products=self._from_user) if same else values

    def resolve(self, Z: Any, rng: Any = None) -> Kernel:
        """Return the kernel with all settings computed from the rows Z (n, d).

        A setting of this kind is the bandwidth.
        """
        return self

    def diagonal(self, X: Array) -> Array:
        """Return the values k(X[i], X[i]), shape (n,), of rows X (n, d)."""
        parts = np.split(X, range(_ROWS, len(X), _ROWS))
        return np.concatenate([np.diag(self.block(rows, rows)) for rows in parts])

    def differences(self, X: Array, threads: int = 1) -> Array | None:
        """Return values of the rows X (n, d) without a constant that would round them.

        Return None if there is none.
        """
        return None

    def check(self, X: Array) -> None:
        """Raise ValueError for rows X (n, d) that the kernel does not accept."""
        self.diagonal(X)

    def smoothed(self, variance: ArrayLike, dimension: int) -> Kernel:
        """Return the kernel E k(x + e, y) for noise e ~ N(0, diag(variance)).

        This requires a closed form.
        """
        raise ValueError(f"{self!r} has no closed form under Gaussian noise; use a Gaussian kernel")

    def mapped(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        """Return the kernel with every kernel that it combines changed by a function."""
        return self

    def compared(self, points: Array) -> tuple[Any, Array] | None:
        """Return the kernel of a distance and the rows that it compares, or None.

        The values depend on this distance.
        """
        return None

    def __add__(self, other: Any) -> Kernel:
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(cast(float, other), self) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


@dataclass(frozen=True)
class Combination(Kernel):
    """A kernel that combines the values of other kernels."""

    _combine: ClassVar[np.ufunc]

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that are combined."""
        return cast(tuple[Kernel, ...], getattr(self, fields(self)[0].name))

    @property
    def never_negative(self) -> bool:  # type: ignore[override]
        return all(part.never_negative for part in self.parts)

    @property
    def is_definite(self) -> bool:  # type: ignore[override]
        return all(part.is_definite for part in self.parts)

    @property
    def as_given(self) -> bool:  # type: ignore[override]
        return any(part.as_given for part in self.parts)

    @property
    def points_are(self) -> str | None:
        return next((part.points_are for part in self.parts if part.points_are), None)

    def __post_init__(self) -> None:
        """Flatten nested combinations of the same kind.

        As a result, a + (b + c) == (a + b) + c.
        """
        flat = [
            k
            for part in self.parts
            for k in (part.parts if isinstance(part, type(self)) else (part,))
        ]
        if len(flat) < 2:
            raise ValueError(
                f"{type(self).__name__} requires a tuple of two or more kernels, got {len(flat)}"
            )
        require_kernels(flat)
        require_same_points(flat)
        object.__setattr__(self, fields(self)[0].name, tuple(flat))

    def mapped(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        return cast(Any, type(self))(tuple(map(change, self.parts)))

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        rng = as_rng(rng)
        return self.mapped(lambda part: part.resolve(Z, rng))

    def block(self, X: Array, Y: Array, threads: int = 1) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            values = reduce(self._combine, (part.block(X, Y, threads) for part in self.parts))
        return finite(values, self, X, Y)

    evaluate = block

    def diagonal(self, X: Array) -> Array:
        return reduce(self._combine, (part.diagonal(X) for part in self.parts))


@dataclass(frozen=True, repr=False)
class Sum(Combination):
    """Sum of kernels, k_1(x, y) + k_2(x, y) + ...

    The operator ``+`` makes it.

    Parameters
    ----------
    terms : tuple of Kernel
        The kernels that are added.

    Examples
    --------
    >>> from shrinktest.kernels import Linear, Polynomial
    >>> Linear() + Polynomial(2)
    Linear() + Polynomial(degree=2, offset=1.0)
    """

    terms: tuple[Kernel, ...]

    _combine = np.add

    def differences(self, X: Array, threads: int = 1) -> Array | None:
        if all(kernel.differences(X[:1]) is None for kernel in self.terms):
            return None
        total = np.zeros((len(X), len(X)))
        for kernel in self.terms:
            values = kernel.differences(X, threads)
            total += kernel.block(X, X, threads) if values is None else values
        return total

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, repr=False)
class Product(Combination):
    """Product of kernels, k_1(x, y) * k_2(x, y) * ...

    The operator ``*`` makes it.

    Parameters
    ----------
    factors : tuple of Kernel
        The kernels that are multiplied.

    Examples
    --------
    >>> from shrinktest.kernels import Gaussian, Linear
    >>> Linear() * (Linear() + Gaussian(1.0))
    Linear() * (Linear() + Gaussian(bandwidth=1.0))
    """

    factors: tuple[Kernel, ...]

    _combine = np.multiply

    def __repr__(self) -> str:
        return " * ".join(map(_in_parentheses, self.factors))


@dataclass(frozen=True, repr=False)
class Scaled(Combination):
    """Kernel times a positive number, factor * k(x, y).

    The operator ``*`` makes it.

    Parameters
    ----------
    factor : float
        The positive number by which values are multiplied.
    kernel : Kernel
        The kernel whose values are multiplied.

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
        require_kernels([self.kernel])

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def mapped(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        return Scaled(self.factor, change(self.kernel))

    def block(self, X: Array, Y: Array, threads: int = 1) -> Array:
        values = self.kernel.block(X, Y, threads)
        with np.errstate(over="ignore", under="ignore"):
            values *= self.factor
        return finite(values, self, X, Y)

    evaluate = block

    def diagonal(self, X: Array) -> Array:
        return self.factor * self.kernel.diagonal(X)

    def differences(self, X: Array, threads: int = 1) -> Array | None:
        values = self.kernel.differences(X, threads)
        return None if values is None else self.factor * values

    def __repr__(self) -> str:
        return f"{self.factor} * {_in_parentheses(self.kernel)}"


def _in_parentheses(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Combination) else repr(kernel)


def read_only(rows: Array) -> Array:
    """Return a view that cannot be changed."""
    view = rows.view()
    view.flags.writeable = False
    return view


def finite(values: Array, kernel: Kernel, X: Array, Y: Array) -> Array:
    """Return kernel values (n, m) if they are finite.

    Else raise ValueError with the rows of the first one.
    """
    if np.isfinite(values.sum()) or np.isfinite(values).all():
        return values
    i, j = np.argwhere(~np.isfinite(values))[0]
    raise ValueError(
        f"{kernel!r} is {values[i, j]} for the rows {X[i][:4]} and {Y[j][:4]}; rescale the data"
    )


def checked_gram(gram: Array, name: object, products: bool = True) -> Array:
    """Return a Gram matrix, made exactly symmetric.

    Raise ValueError if it is not symmetric up to rounding.

    With ``products`` also if K_ij^2 > K_ii K_jj (Cauchy-Schwarz), as for distances, or if the
    diagonal is negative.
    """
    if not np.array_equal(gram, gram.T):
        difference = np.abs(gram - gram.T)
        if difference.max() > 1e-8 * np.abs(gram).max():
            i, j = np.unravel_index(difference.argmax(), gram.shape)
            raise ValueError(
                f"{name} is not symmetric: {gram[i, j]:g} at ({i}, {j}) but {gram[j, i]:g} at "
                f"({j}, {i})"
            )
        gram = np.ascontiguousarray(gram / 2 + gram.T / 2)
    if not products:
        return gram
    norms = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    allowed = _ROUNDING * max(float(gram.max()), -float(gram.min()))
    for start in range(0, len(gram), _TILE):
        excess = np.abs(gram[start : start + _TILE]) - norms[start : start + _TILE, None] * norms
        if excess.max() > allowed:
            raise ValueError(
                f"{name} is not a kernel: |K_ij| exceeds sqrt(K_ii K_jj); turn distances D into "
                "exp(-D**2 / (2 * s**2))"
            )
    return gram


def require_kernels(kernels: Sequence[Any]) -> None:
    """Raise TypeError for anything that is not a kernel."""
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"expected a kernel, got {kernel!r}; wrap a function as Custom(function)"
            )


def require_same_points(kernels: Sequence[Kernel]) -> None:
    """Raise ValueError for Precomputed together with kernels of values."""
    if len({kernel.points_are for kernel in kernels} - {None}) > 1:
        raise ValueError(
            f"{kernels}: Precomputed uses row numbers; pass the others as matrices as well"
        )
