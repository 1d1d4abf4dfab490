"""Kernels of a distance, and the bandwidth that sets its unit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shrinktest._threads import each
from shrinktest._validate import Array, as_points, complete_points, count, counted, dimensions, numbers, positive
from shrinktest.kernels.bandwidths import RULES, Metric, parsed
from shrinktest.kernels.base import Kernel, Scaled
from shrinktest.kernels.metric import distances, magnitude

Bandwidth = float | str | Sequence[float] | NDArray[np.float64]

_BLOCK, _FEWEST = 2**17, 64  # values of some rows, which stay in the second-level cache, and rows at least
_WORTH_THREADS = 1e-2  # seconds from which threads no longer wait for each other most of the time


@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """Base class of kernels of the distance in units of the bandwidth (one number, or one per column)."""

    bandwidth: Bandwidth = "median"

    metric: ClassVar[Metric]

    @property
    def points_are(self) -> frozenset[str]:
        return frozenset({"values"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", _checked_bandwidth(self.bandwidth))

    @property
    def multiple(self) -> tuple[float, Self] | None:
        """The factor, and the kernel by the rule alone, of a multiple such as "0.5 * median"; else None."""
        factor, rule = parsed(self.bandwidth) if isinstance(self.bandwidth, str) else (1.0, "")
        return None if factor == 1.0 else (factor, self._with(rule))

    def _with(self, bandwidth: Any) -> Self:
        """The same with another bandwidth, also where a subclass has an ``__init__`` or fields of its own."""
        found = copy(self)
        object.__setattr__(found, "bandwidth", _checked_bandwidth(bandwidth))
        return found

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        if isinstance(self.bandwidth, str):
            factor, rule = parsed(self.bandwidth)
            return self._with(factor * RULES[rule](Z, rng, self.metric))
        self._widths(as_points(Z, "Z").values.shape[1])
        return self

    def diagonal(self, X: Array) -> Array:
        return np.ones(len(X))

    def _widths(self, dimension: int) -> Array:
        """The bandwidths as an array of shape () or (dimension,)."""
        if isinstance(self.bandwidth, str):
            raise ValueError(
                f"{self!r} has no number yet: call .resolve(Z) with all the data, or give bandwidth=a number"
            )
        widths = np.asarray(self.bandwidth, dtype=np.float64)
        if widths.ndim and len(widths) != dimension:
            raise ValueError(
                f"bandwidth has {len(widths)} entries but the points have {counted(dimension, 'column')}; "
                "give one bandwidth per column, or a single number"
            )
        return widths

    def _in_threads(self, X: ArrayLike, threads: int) -> Array:
        rows = complete_points(X, "X").values
        return self._values(rows, rows, threads)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self._values(X, Y)

    def differences(self, X: Array, threads: int = 1) -> Array:
        """The values less 1, (n, n), which are as exact for a large bandwidth, where all values are nearly 1."""
        return self._values(X, X, threads, np.expm1)

    @abstractmethod
    def _exponents(self, distances: Array) -> None:
        """Overwrite distances in units of the bandwidth, inf beyond the range of numbers, by logarithms of values."""

    def _values(self, X: Array, Y: Array, threads: int = 1, exponential: np.ufunc = np.exp) -> Array:
        """The values (n, m), some rows at a time; within a sample those above the diagonal mirror those below."""
        same, city = X is Y, self.metric == "cityblock"
        widths = self._widths(X.shape[1])
        narrowest = widths.min()
        if widths.ndim:
            X, Y = X / (widths / narrowest), Y / (widths / narrowest)
        unit = max(magnitude(X), magnitude(Y))
        X, columns = X / unit, np.ascontiguousarray((Y / unit).T)
        values = np.empty((len(X), len(Y)))
        evaluated = values.size // 2 if same else values.size
        between = distances(values.size * X.shape[1])

        def fill(first: int) -> None:
            last = min(first + size, len(X))
            some = np.empty((last - first, last)) if same else values[first:last]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                between(X[first:last], columns, city, some)
                some *= unit
                some /= narrowest
                self._exponents(some)
                exponential(some, out=some)
            if same:
                values[first:last, :first] = some[:, :first]
                values[:first, first:last] = some[:, :first].T
                corner = np.tril(some[:, first:])
                values[first:last, first:last] = corner + np.tril(corner, -1).T

        size = max(_FEWEST, _BLOCK // max(1, len(Y)))
        worth = 1e-9 * evaluated * (X.shape[1] + 5) > _WORTH_THREADS
        each(fill, range(0, len(X), size), threads if worth else 1)
        return values


@dataclass(frozen=True)
class Gaussian(DistanceKernel):
    """Gaussian kernel exp(-|x - y|^2 / (2 bandwidth^2)).

    Parameters
    ----------
    bandwidth : float, sequence of float, "median" or "neighbours"
        A length, in the units of the data; or one per column, exp(-sum_j (x_j - y_j)^2 / (2 bandwidth_j^2));
        or "median", bandwidth^2 = the median of |x_i - x_j|^2 over pairs i < j (the papers' wording differs:
        erratum E16); or "neighbours", the median distance to the nearest tenth (see `neighbour_bandwidth`); or a
        multiple of one of these such as "0.5 * median".

    Examples
    --------
    >>> Gaussian(bandwidth=1.0)([0.0, 1.0]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    metric = "euclidean"

    def _exponents(self, distances: Array) -> None:
        np.square(distances, out=distances)
        distances *= -0.5

    def smoothed(self, variance: ArrayLike, dimension: int) -> Kernel:
        """The kernel E k(x + e, y) for noise e ~ N(0, diag(variance)): again Gaussian, wider and lower.

        With th2 = bandwidth^2 and v = variance it is prod_j sqrt(th2_j / (th2_j + v_j)) times the Gaussian
        kernel of bandwidth sqrt(th2 + v). Noise on both arguments adds up: pass the sum of the variances.

        Parameters
        ----------
        variance : float or array_like of shape (dimension,)
            Noise variance, the same for every column or one per column; in squared units of the data.
        dimension : int
            The number of columns, on which the factor depends.

        Examples
        --------
        >>> Gaussian(bandwidth=3.0).smoothed(16.0, dimension=1)
        0.6 * Gaussian(bandwidth=5.0)
        """
        widths = self._widths(count(dimension, "dimension", minimum=1))
        noise = numbers(variance)
        if noise.shape not in ((), (dimension,)):
            raise ValueError(f"variance must be a number or have shape ({dimension},), got shape {noise.shape}")
        for entry in np.atleast_1d(noise):
            positive(entry, "variance", allow_zero=True)
        if not noise.any():
            return self
        wider = np.hypot(widths, np.sqrt(noise))
        factor = np.broadcast_to(widths / wider, (dimension,)).prod()
        smallest = np.finfo(np.float64).tiny  # in hundreds of dimensions the factor underflows
        return Scaled(max(float(factor), float(smallest)), Gaussian(wider))


@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    """Laplacian kernel exp(-sum_j |x_j - y_j| / bandwidth_j).

    Parameters
    ----------
    bandwidth : float, sequence of float, "median" or "neighbours"
        As for `Gaussian`; here "median" is the root of the median square of the distances sum_j |x_j - y_j|, which this
        kernel uses.

    Examples
    --------
    >>> Laplacian(bandwidth=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    metric = "cityblock"

    def _exponents(self, distances: Array) -> None:
        np.negative(distances, out=distances)


def _checked_bandwidth(bandwidth: Any) -> str | float | tuple[float, ...]:
    if isinstance(bandwidth, str):
        factor, rule = parsed(bandwidth)
        return rule if factor == 1.0 else f"{factor!r} * {rule}"
    many = dimensions(bandwidth, "bandwidth")
    if many > 1 or np.size(bandwidth) == 0:
        raise ValueError(f"bandwidth must be a number or one number per column, got shape {np.shape(bandwidth)}")
    if many == 1:
        return tuple(positive(entry, f"bandwidth of column {j}") for j, entry in enumerate(bandwidth))
    return positive(bandwidth[()] if isinstance(bandwidth, np.ndarray) else bandwidth, "bandwidth")
