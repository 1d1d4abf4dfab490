"""Kernels of a distance, and the bandwidth that sets its unit."""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shrinktest._threads import each
from shrinktest._validate import Array, as_points, as_rng, choice, complete_points, count, positive
from shrinktest.kernels.base import Kernel, Scaled

Bandwidth = float | str | Sequence[float] | NDArray[np.float64]

# With more rows the median is taken over a random part of them: all pairs would cost more than the test.
_ALL_PAIRS_UP_TO = 2000
_ROWS_DRAWN = 1000

_BLOCK, _FEWEST = 2**17, 64  # values of some rows, which stay in the second-level cache, and rows at least
_WORTH_THREADS = 1e-2  # seconds from which threads no longer wait for each other most of the time

_FEW = 2**19  # differences of coordinates that plain numpy takes at once; more are left to compiled loops

_MANY, _SOME = 2**14, 2**12  # values from which looking at some of them first pays, and how many


@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """Base class of kernels of the distance in units of the bandwidth (one number, or one per column)."""

    bandwidth: Bandwidth = "median"

    metric: ClassVar[Literal["euclidean", "cityblock"]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", _checked_bandwidth(self.bandwidth))

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        if isinstance(self.bandwidth, str):
            return type(self)(_factor(self.bandwidth) * median_bandwidth(Z, rng, self.metric))
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
                f"bandwidth has {len(widths)} entries but the points have {dimension} columns; "
                "give one bandwidth per column, or a single number"
            )
        return widths

    def _in_threads(self, X: ArrayLike, threads: int) -> Array:
        rows = complete_points(X, "X").values
        return self._values(rows, rows, threads)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self._values(X, Y)

    @abstractmethod
    def _overwrite(self, distances: Array) -> None:
        """The values at distances in units of the bandwidth; inf beyond the floating-point range."""

    def _values(self, X: Array, Y: Array, threads: int = 1) -> Array:
        """The values (n, m), some rows at a time; within a sample those above the diagonal mirror those below."""
        same, city = X is Y, self.metric == "cityblock"
        widths = self._widths(X.shape[1])
        narrowest = widths.min()
        X, Y = X / (widths / narrowest), Y / (widths / narrowest)
        unit = max(_magnitude(X), _magnitude(Y))
        X, columns = X / unit, np.ascontiguousarray((Y / unit).T)
        values = np.empty((len(X), len(Y)))
        evaluated = values.size // 2 if same else values.size
        distances = _distances(values.size * X.shape[1])

        def fill(first: int) -> None:
            last = min(first + size, len(X))
            some = np.empty((last - first, last)) if same else values[first:last]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                distances(X[first:last], columns, city, some)
                some *= unit
                some /= narrowest
                self._overwrite(some)
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
    bandwidth : float, sequence of float, or "median"
        A length, in the units of the data; or one per column, exp(-sum_j (x_j - y_j)^2 / (2 bandwidth_j^2));
        or "median", bandwidth^2 = the median of |x_i - x_j|^2 over pairs i < j (the papers' wording differs:
        erratum E16); or a multiple of that length such as "0.5 * median".

    Examples
    --------
    >>> Gaussian(bandwidth=1.0)([0.0, 1.0]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    metric = "euclidean"

    def _overwrite(self, distances: Array) -> None:
        np.square(distances, out=distances)
        distances *= -0.5
        np.exp(distances, out=distances)

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
        noise = np.asarray(variance, dtype=np.float64)
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
    bandwidth : float, sequence of float, or "median"
        As for `Gaussian`; here "median" is that of the distances sum_j |x_j - y_j|, which this kernel uses.

    Examples
    --------
    >>> Laplacian(bandwidth=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    metric = "cityblock"

    def _overwrite(self, distances: Array) -> None:
        np.negative(distances, out=distances)
        np.exp(distances, out=distances)


def bandwidth_grid(
    Z: ArrayLike, number: int = 5, rng: Any = None, distance: Literal["euclidean", "cityblock"] = "euclidean"
) -> tuple[float, ...]:
    """Bandwidths in a geometric sequence from half the 5 % quantile of the distances to twice the 95 % quantile.

    What ``bandwidth="grid"`` stands for in a test: narrow enough to see the distances between neighbours, wide enough
    to see means, in any number of columns ([S23] section 5.2).

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows; as for `median_bandwidth`.
    number : int, default 5
        How many; at least 2.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Draws 1000 rows without replacement when there are more than 2000; otherwise not touched.
    distance : {"euclidean", "cityblock"}
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Raises
    ------
    ValueError
        All rows are equal, there is only one row, or values are missing.

    Notes
    -----
    Quantiles are of the positive distances over pairs i < j.

    Examples
    --------
    >>> [round(width, 2) for width in bandwidth_grid([0.0, 1.0, 3.0, 3.5], number=3)]
    [0.31, 1.45, 6.75]
    """
    number = count(number, "number", minimum=2)
    squared, unit = _squared_distances(Z, rng, distance)
    low, high = np.quantile(np.sqrt(squared[squared > 0]), (0.05, 0.95))
    return tuple(float(unit * width) for width in np.geomspace(0.5 * low, 2.0 * high, number))


def median_bandwidth(Z: ArrayLike, rng: Any = None, distance: Literal["euclidean", "cityblock"] = "euclidean") -> float:
    """The square root of the median of the squared distances between the rows of Z, over pairs i < j.

    For two samples Z is the pooled sample, for independence one variable: then the result does not depend on
    the permutation and the test stays exact. It scales with the units of the data.

    Parameters
    ----------
    Z : array_like of shape (n, d) or (n,)
        At least two rows.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Draws 1000 rows without replacement when there are more than 2000; otherwise not touched.
    distance : {"euclidean", "cityblock"}
        |x - y| in the 2-norm (`Gaussian`) or the 1-norm (`Laplacian`).

    Warns
    -----
    UserWarning
        More than half of the distances are zero: the median is then over the positive ones.

    Raises
    ------
    ValueError
        All rows are equal, there is only one row, or values are missing.

    Examples
    --------
    >>> median_bandwidth([0.0, 1.0, 3.0])
    2.0
    """
    squared, unit = _squared_distances(Z, rng, distance)
    apart = squared > 0
    if 2 * np.count_nonzero(apart) < len(squared):
        warnings.warn(
            "more than half of the distances between observations are zero (ties): "
            "the bandwidth is the median of the positive ones",
            UserWarning,
            stacklevel=2,
        )
        squared = squared[apart]
    return float(np.sqrt(_median(squared)) * unit)


def _squared_distances(Z: ArrayLike, rng: Any, distance: Literal["euclidean", "cityblock"]) -> tuple[Array, float]:
    """Squared distances over pairs of (some of) the rows, in squares of a unit that keeps them from overflowing."""
    choice(distance, ("euclidean", "cityblock"), "distance")
    rows = complete_points(Z, "Z").values
    if len(rows) < 2:
        raise ValueError("the median distance needs at least 2 rows; give bandwidth=a number")
    if len(rows) > _ALL_PAIRS_UP_TO:
        rows = rows[as_rng(rng).choice(len(rows), _ROWS_DRAWN, replace=False)]
    unit = _magnitude(rows)
    squared = np.square(_pairs(rows / unit, distance == "cityblock"))
    if not (squared > 0).any():
        raise ValueError("all observations are equal, so the median distance is 0; give bandwidth=a number")
    return squared, unit


def _median(values: Array) -> float:
    """The median; of many values only those between two quantiles of every k-th value are sorted."""
    size = values.size
    if size > _MANY:
        some = np.sort(values[:: size // _SOME])
        middle, reach = some.size // 2, int(2.0 * np.sqrt(some.size))  # four standard deviations of a rank
        low, high = some[middle - reach], some[middle + reach]
        within = values >= low
        rank = (size - 1) // 2 - (size - np.count_nonzero(within))
        within &= values <= high
        near = values[within]
        if 0 <= rank < near.size - 1:
            both = np.partition(near, (rank, rank + 1))[rank : rank + 2]
            return float(both[0] if size % 2 else both.mean())
    return float(np.median(values))


def _distances(differences: int) -> Callable[[Array, Array, bool, Array], None]:
    """What writes the distances between rows x (n, d) and the first m of ``columns`` (d, ..) into ``out`` (n, m).

    By the number of differences of coordinates alone, so that no result depends on what else a process has done.
    """
    if differences <= _FEW:
        return _plain_distances
    from shrinktest._compiled.distances import between

    return between


def _plain_distances(x: Array, columns: Array, city: bool, out: Array) -> None:
    away = np.subtract(x.T[:, :, None], columns[:, None, : out.shape[1]], order="C")  # (d, n, m)
    (np.abs if city else np.square)(away, out=away).sum(axis=0, out=out)  # in the order of the columns
    if not city:
        np.sqrt(out, out=out)


def _pairs(x: Array, city: bool) -> Array:
    """The distances of all pairs of rows i < j, one after the other."""
    n, columns = len(x), np.ascontiguousarray(x.T)
    if n * x.size <= _FEW:
        whole = np.empty((n, n))
        _plain_distances(x, columns, city, whole)
        return whole[~np.tri(n, dtype=bool)]
    from shrinktest._compiled.distances import among

    out = np.empty(n * (n - 1) // 2)
    among(x, columns, city, out)
    return out


def _magnitude(rows: Array) -> float:
    """A power of two near the largest entry: dividing by it is exact and keeps squares within range."""
    largest = np.abs(rows).max(initial=0.0)
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def _checked_bandwidth(bandwidth: Any) -> str | float | tuple[float, ...]:
    if isinstance(bandwidth, str):
        factor = _factor(bandwidth)
        return "median" if factor == 1.0 else f"{factor!r} * median"
    if np.ndim(bandwidth) > 1 or np.size(bandwidth) == 0:
        raise ValueError(f"bandwidth must be a number or one number per column, got shape {np.shape(bandwidth)}")
    if np.ndim(bandwidth) == 1:
        return tuple(positive(entry, f"bandwidth of column {j}") for j, entry in enumerate(bandwidth))
    return positive(bandwidth[()] if isinstance(bandwidth, np.ndarray) else bandwidth, "bandwidth")


def _factor(bandwidth: str) -> float:
    """The factor in such as "median", "0.5 * median" or "median / 2"."""
    number = r"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)"
    for pattern, power in (
        (rf"(?:{number}\s*\*?\s*)?median", 1),
        (rf"median\s*\*\s*{number}", 1),
        (rf"median\s*/\s*{number}", -1),
    ):
        found = re.fullmatch(pattern, bandwidth.strip().lower())
        if found:
            factor = float(found[1] or 1.0)
            return positive(factor**power if factor else factor, f"the factor in bandwidth={bandwidth!r}")
    raise ValueError(
        "bandwidth must be a positive number, one per column, 'median', or such as '0.5 * median' (in tests also "
        f"'grid'); got {bandwidth!r}"
    )
