"""Kernels of columns in units found on the pooled sample: the argument ``scale`` of the tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, complete_points, listed
from shrinktest.kernels.base import Kernel, require_kernels
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.inner import FeatureMap, Linear
from shrinktest.kernels.pooled import PooledKernel, require_same_sample, same_sample
from shrinktest.units import SCALES, Scale, Units, as_scale, constant_columns, moves


@dataclass(frozen=True, eq=False)
class Rescaled(Kernel):
    """A kernel of columns in units of their own, or of their ranks in the pooled sample.

    Parameters
    ----------
    kernel : Kernel
    scale : {"sd", "mad", "rank", "deviation"} or tuple
        One unit of a column: its standard deviation or median absolute deviation in the pooled sample, or a number; or
        the column is replaced by its mid-ranks in the pooled sample, over their number; or by its distances from the
        median of the pooled sample over their mean, which depend on spread and not on location.  A tuple has a name or
        a number per column; "mad in sd", "rank in sd" and "deviation in sd" are the same in units in which a typical
        column has standard deviation 1, as the argument ``scale`` of a test has them next to "sd".
    points : ndarray, shape (N, d), optional
        The pooled sample; a test sets it (see :meth:`resolve`).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest.kernels import Gaussian, Rescaled
    >>> Z = np.array([[0.0, 1000.0], [1.0, 3000.0], [2.0, 2000.0], [3.0, 4000.0]])
    >>> Rescaled(Gaussian(2.0), "sd").resolve(Z)
    Gaussian(bandwidth=(2.23606797749979, 2236.06797749979))
    """

    kernel: Kernel
    scale: Scale
    points: Array | None = None

    def __post_init__(self) -> None:
        require_kernels([self.kernel])
        object.__setattr__(self, "scale", as_scale(self.scale))
        if self.scale is None:
            raise ValueError(f"scale must be one of {listed(SCALES)}, or one number per column; got None")

    @property
    def points_are(self) -> str | None:
        return self.kernel.points_are

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.kernel.bounded

    @property
    def bandwidth(self) -> Any:
        """The bandwidth of the kernel."""
        return getattr(self.kernel, "bandwidth", None)

    @property
    def label(self) -> str:
        """For example "Gaussian of ranks"."""
        names = (self.scale,) if isinstance(self.scale, str) else self.scale
        values = next((f"{name}s" for name in ("rank", "deviation") if {name, f"{name} in sd"} & set(names)), None)
        return f"{self.kernel.label} of {values or 'scaled columns'}"

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """Return the kernel in the units of Z (N, d); a kernel of a distance has them in its bandwidths."""
        rows = complete_points(Z, "Z").values
        if self.points is not None:
            require_same_sample(self.points, rows, self.label)
            return self
        pooled = replace(self, points=rows)
        moved = pooled.moved(rows)
        if self.scale == "deviation" and constant_columns(moved).all() and not constant_columns(rows).all():
            return replace(pooled, kernel=Linear())  # with all deviations equal no kernel finds a bandwidth
        kernel = self.kernel.resolve(moved, rng)
        if moves(self.scale) or not isinstance(kernel, DistanceKernel):
            return replace(pooled, kernel=kernel)
        widths = pooled.units() * np.asarray(kernel.bandwidth, dtype=np.float64)
        return type(kernel)(tuple(widths.tolist()) if len(widths) > 1 else float(widths[0]))

    def units(self) -> Array:
        """Return one unit of every column (d,); 1 for a column that has one value only."""
        return self._units.units()

    def moved(self, X: Array) -> Array:
        """Return the columns of X (n, d) in their units, or their ranks in the pooled sample."""
        return self._units.moved(X)

    def block(self, X: Array, Y: Array, threads: int = 1) -> Array:
        left = self.moved(X)
        return self.kernel.block(left, left if X is Y else self.moved(Y), threads)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.block(X, Y)

    def diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(self.moved(X))

    def check(self, X: Array) -> None:
        self.kernel.check(X)  # moving changes no number of columns

    def compared(self, points: Array) -> tuple[Any, Array] | None:
        return self.kernel.compared(self.moved(points))

    def of_features(self, features: FeatureMap) -> FeatureMap:
        """Return the kernel by features of its moved columns."""
        return RescaledFeatures(features, self)

    @property
    def _units(self) -> Units:
        if self.points is None:
            raise ValueError(f"{self.label} has no pooled sample yet: call .resolve(Z) with all the data")
        return Units(self.scale, self.points)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rescaled) or (self.kernel, self.scale) != (other.kernel, other.scale):
            return False
        return same_sample(self.points, other.points)

    def __hash__(self) -> int:
        return hash((Rescaled, self.kernel, self.scale))

    def __repr__(self) -> str:
        return f"Rescaled({self.kernel!r}, {self.scale!r})"


@dataclass(frozen=True, eq=False, repr=False)
class RescaledFeatures(FeatureMap):
    """Features of columns in units of their own."""

    features: FeatureMap
    units: Rescaled  # moves the columns

    def coordinates(self, X: Array) -> Array:
        return self.features.coordinates(self.units.moved(X))

    def __repr__(self) -> str:
        return f"{self.features!r} of {self.units.scale}"


def taken_anew(kernel: Kernel, Z: Array) -> Kernel:
    """Return a resolved kernel with other observations Z (N, d) for the pooled sample; bandwidths and units stay."""
    if isinstance(kernel, PooledKernel):
        return replace(kernel, points=Z)
    if isinstance(kernel, Rescaled):
        return replace(kernel, kernel=taken_anew(kernel.kernel, kernel.moved(Z)))
    return kernel.mapped(lambda part: taken_anew(part, Z))
