"""Kernels of a distance: Gaussian, Laplacian and Energy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shrinktest._check import (
    Array,
    as_points,
    complete_points,
    counted,
    n_dimensions,
    numbers_or_nan,
    positive,
)
from shrinktest._parallel import parallel_for
from shrinktest.kernels.bandwidths import RULES, Metric, magnitude, parsed, write_distances
from shrinktest.kernels.base import Kernel, Scaled

Bandwidth = float | str | Sequence[float] | NDArray[np.float64]

_BLOCK = 2**17
_FEWEST = 64  # values that stay in the second-level cache, and rows at least
_WORTH_THREADS = 1e-2  # seconds from which threads no longer wait for each other most of the time


@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """Base class of kernels of the distance divided by the bandwidth.

    The bandwidth is one number, or one per column.  A subclass has a ``metric``, "euclidean" or
    "cityblock", and ``decay``.
    """

    bandwidth: Bandwidth = "median"

    metric: ClassVar[Metric]
    bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", _checked_bandwidth(self.bandwidth))

    @property
    def multiple(self) -> tuple[float, Self] | None:
        """The factor, and the kernel by the rule alone, of a multiple such as "0.5 * median".

        Else None.
        """
        factor, rule = parsed(self.bandwidth) if isinstance(self.bandwidth, str) else (1.0, "")
        return None if factor == 1.0 else (factor, self.with_bandwidth(rule))

    def with_bandwidth(self, bandwidth: Any) -> Self:
        """Return the kernel with another bandwidth.

        Works also if a subclass has an ``__init__`` or fields of its own.
        """
        kernel = copy(self)
        object.__setattr__(kernel, "bandwidth", _checked_bandwidth(bandwidth))
        return kernel

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        if isinstance(self.bandwidth, str):
            factor, rule = parsed(self.bandwidth)
            return self.with_bandwidth(factor * RULES[rule](Z, rng, self.metric))
        self._widths(as_points(Z, "Z").values.shape[1])
        return self

    def diagonal(self, X: Array) -> Array:
        return np.ones(len(X))

    def compared(self, points: Array) -> tuple[Any, Array]:
        return self, points

    def _widths(self, dimension: int) -> Array:
        """Return the bandwidths as an array of shape () or (dimension,)."""
        if isinstance(self.bandwidth, str):
            raise ValueError(
                f"{self!r} has no number yet: call .resolve(Z) with all the data, or use a number"
            )
        widths = np.asarray(self.bandwidth, dtype=np.float64)
        if widths.ndim and len(widths) != dimension:
            raise ValueError(
                f"bandwidth has {len(widths)} entries but the points have "
                f"{counted(dimension, 'column')}"
            )
        return widths

    def block(self, X: Array, Y: Array, threads: int = 1, exponential: np.ufunc = np.exp) -> Array:
        """Return the values (n, m), some rows at a time.

        Within a sample the upper triangle mirrors the lower.
        """
        same = X is Y
        city = self.metric == "cityblock"
        widths = self._widths(X.shape[1])
        narrowest = widths.min()
        if widths.ndim:
            X = X / (widths / narrowest)
            Y = Y / (widths / narrowest)
        unit = max(magnitude(X), magnitude(Y))
        X = X / unit
        columns = np.ascontiguousarray((Y / unit).T)
        values = np.empty((len(X), len(Y)))
        size = max(_FEWEST, _BLOCK // max(1, len(Y)))

        def fill(first: int) -> None:
            last = min(first + size, len(X))
            rows = np.empty((last - first, last)) if same else values[first:last]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                write_distances(X[first:last], columns, city, rows, values.size * X.shape[1])
                rows *= unit
                rows /= narrowest
                decayed = self.decay(rows, exponential)
                if decayed is not rows:
                    rows[:] = decayed
            if same:
                values[first:last, :first] = rows[:, :first]
                values[:first, first:last] = rows[:, :first].T
                corner = np.tril(rows[:, first:])
                values[first:last, first:last] = corner + np.tril(corner, -1).T

        seconds = 1e-9 * (values.size // 2 if same else values.size) * (X.shape[1] + 5)
        parallel_for(fill, range(0, len(X), size), threads if seconds > _WORTH_THREADS else 1)
        return values

    evaluate = block

    @abstractmethod
    def decay(self, distances: Array, exponential: np.ufunc = np.exp) -> Array:
        """Return the values at distances in units of the bandwidth, perhaps in place.

        With ``exponential=np.expm1``, return the values less 1, as exact for short distances.
        """

    def differences(self, X: Array, threads: int = 1) -> Array:
        """Return the values less 1, (n, n).

        They are as exact for a large bandwidth, with all values nearly 1.
        """
        return self.block(X, X, threads, np.expm1)


@dataclass(frozen=True)
class Gaussian(DistanceKernel):
    """Gaussian kernel exp(-|x - y|^2 / (2 bandwidth^2)).

    Parameters
    ----------
    bandwidth : float, sequence of float, "median" or "neighbors", default "median"
        A length, in the units of the data, or one per column; or "median" (`median_bandwidth`; the
        papers' wording differs: erratum E16 in :doc:`/errata`) or "neighbors"
        (`neighbor_bandwidth`), or a multiple such as "0.5 * median".

    Examples
    --------
    >>> Gaussian(bandwidth=1.0)([0.0, 1.0]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    metric = "euclidean"
    never_negative = True

    def decay(self, distances: Array, exponential: np.ufunc = np.exp) -> Array:
        np.square(distances, out=distances)
        distances *= -0.5
        return exponential(distances, out=distances)

    def smoothed(self, variance: ArrayLike, dimension: int) -> Kernel:
        """Return the kernel E k(x + e, y) for noise e ~ N(0, diag(variance)).

        ``variance`` is one number, or one per column.  With th2 = bandwidth^2 and v = variance, the
        kernel is the product over columns of sqrt(th2_j / (th2_j + v_j)) times the Gaussian kernel
        of bandwidth sqrt(th2 + v).  Because noise on both arguments adds up, pass the sum of the
        variances.
        """
        widths = self._widths(dimension)
        noise = numbers_or_nan(variance)
        if noise.shape not in ((), (dimension,)):
            raise ValueError(
                f"variance must be a number or have shape ({dimension},), got shape {noise.shape}"
            )
        for extreme in (noise.min(), noise.max()):
            positive(extreme, "variance", allow_zero=True)
        if not noise.any():
            return self
        wider = np.hypot(widths, np.sqrt(noise))
        factor = float(np.broadcast_to(widths / wider, (dimension,)).prod())
        return Scaled(
            max(factor, float(np.finfo(np.float64).tiny)), Gaussian(wider)
        )  # many columns underflow


@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    """Laplacian kernel exp(-sum_j |x_j - y_j| / bandwidth_j).

    Parameters
    ----------
    bandwidth : float, sequence of float, "median" or "neighbors", default "median"
        As for `Gaussian`, but computed from the distances sum_j |x_j - y_j|.

    Examples
    --------
    >>> Laplacian(bandwidth=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    metric = "cityblock"
    never_negative = True

    def decay(self, distances: Array, exponential: np.ufunc = np.exp) -> Array:
        np.negative(distances, out=distances)
        return exponential(distances, out=distances)


@dataclass(frozen=True)
class Energy(Kernel):
    """Distance-induced kernel |x - o| + |y - o| - |x - y|.

    If this kernel is used, the squared MMD is the energy distance, and HSIC is the squared distance
    covariance.

    Parameters
    ----------
    origin : sequence of float, optional
        The point o (d,); default the mean of the pooled sample.  It has no influence on differences
        in means, and little on :func:`closer_test` of groups of unequal sizes.

    Notes
    -----
    The biased squared MMD is the energy distance 2 E|X - Y| - E|X - X'| - E|Y - Y'|, and the biased
    HSIC with this kernel for both variables is their squared distance covariance ([SSGF13]).
    Distances are in the units of the columns (see ``scale=``).  Tests with this kernel are most
    powerful against shifts and monotone dependence; they are consistent against every other change,
    but their power is low in small samples.

    References
    ----------
    .. [SSGF13] Sejdinovic et al., "Equivalence of distance-based and RKHS-based statistics in
       hypothesis testing", Ann. Stat. 41, 2013.

    Examples
    --------
    >>> from shrinktest import two_sample_test
    >>> round(
    ...     two_sample_test(
    ...         [0.0, 1.0, 2.0], [1.0, 3.0, 5.0], kernel="energy", n_resamples=0
    ...     ).statistic,
    ...     6,
    ... )
    1.777778
    """

    sources = ("SSGF13",)

    origin: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.origin is not None:
            point = numbers_or_nan(self.origin)
            if point.ndim != 1 or not len(point) or not np.isfinite(point).all():
                raise ValueError(
                    f"origin must be one finite number for every column; got {self.origin!r}"
                )
            object.__setattr__(self, "origin", tuple(point.tolist()))

    def resolve(self, Z: ArrayLike, rng: object = None) -> Kernel:
        """Return the kernel with the mean of Z (N, d) as its origin, unless it has one."""
        mean = complete_points(Z, "Z").values.mean(axis=0)
        return Energy(tuple(mean.tolist())) if self.origin is None else self

    def evaluate(self, X: Array, Y: Array) -> Array:
        values = self._from_origin(X)[:, None] - _between(X, Y)
        values += self._from_origin(Y)
        return values

    def diagonal(self, X: Array) -> Array:
        return 2.0 * self._from_origin(X)

    def _from_origin(self, X: Array) -> Array:
        """Return the distances |x - o|, shape (n,)."""
        if self.origin is None:
            raise ValueError(
                "Energy() has no origin yet: call .resolve(Z) with all the data, or use origin=a "
                "point"
            )
        if len(self.origin) != X.shape[1]:
            raise ValueError(
                f"origin has {len(self.origin)} entries for {counted(X.shape[1], 'column')}"
            )
        return _between(X, np.asarray(self.origin)[None])[:, 0]


def _between(X: Array, Y: Array) -> Array:
    """Return the distances (n, m) between rows X (n, d) and Y (m, d), in the 2-norm."""
    unit = max(magnitude(X), magnitude(Y))
    distances = np.empty((len(X), len(Y)))
    write_distances(
        X / unit, np.ascontiguousarray((Y / unit).T), False, distances, distances.size * X.shape[1]
    )
    return distances * unit


def _checked_bandwidth(bandwidth: Any) -> str | float | tuple[float, ...]:
    if isinstance(bandwidth, str):
        factor, rule = parsed(bandwidth)
        return rule if factor == 1.0 else f"{factor!r} * {rule}"
    if n_dimensions(bandwidth, "bandwidth") > 1 or np.size(bandwidth) == 0:
        raise ValueError(
            f"bandwidth must be a number or one number per column, got shape {np.shape(bandwidth)}"
        )
    if np.ndim(bandwidth):
        return tuple(
            positive(entry, f"bandwidth of column {j}") for j, entry in enumerate(bandwidth)
        )
    return positive(bandwidth[()] if isinstance(bandwidth, np.ndarray) else bandwidth, "bandwidth")
