"""Units of the columns, found on the pooled sample: what ``scale=`` of the tests does to a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._validate import Array, complete_points, listed
from shrinktest.kernels.base import FiniteRank, Kernel, Product, Scaled, Sum
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.inner_product import Linear
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.units import SCALES, Scale, Units, as_scale, constant_columns, moves


@dataclass(frozen=True, eq=False)
class Rescaled(Kernel):
    """A kernel of columns in units of their own, or of their ranks in the pooled sample.

    Parameters
    ----------
    kernel : Kernel
    scale : {"sd", "mad", "rank", "deviation"} or tuple
        What one unit of a column is: its standard deviation or median absolute deviation in the pooled sample, or a
        number; or the column is replaced by its mid-ranks in the pooled sample, over their number; or by its distances
        from the median of the pooled sample over their mean, which depend on spread and not on location.  A tuple holds
        a name or a number for every column; "mad in sd", "rank in sd" and "deviation in sd" are the same in such units
        that a typical column has standard deviation 1, as beside "sd" the argument ``scale`` of a test has them.
    points : ndarray, shape (N, d), optional
        The pooled sample; a test puts it in (see :meth:`resolve`).

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

    @property
    def points_are(self) -> frozenset[str]:
        return self.kernel.points_are

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"Rescaled takes a kernel such as Gaussian(); got {self.kernel!r}")
        object.__setattr__(self, "scale", as_scale(self.scale))
        if self.scale is None:
            raise ValueError(f"scale must be one of {listed(SCALES)}, or one number per column; got None")

    @property
    def bandwidth(self) -> Any:
        """That of the kernel."""
        return getattr(self.kernel, "bandwidth", None)

    @property
    def label(self) -> str:
        """Such as "Gaussian of ranks"."""
        names = (self.scale,) if isinstance(self.scale, str) else self.scale
        what = next((f"{one}s" for one in ("rank", "deviation") if {one, f"{one} in sd"} & set(names)), None)
        return f"{self.kernel.label} of {what or 'scaled columns'}"

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """The kernel in the units of Z (N, d); a kernel of a distance has them in its bandwidths."""
        rows = complete_points(Z, "Z").values
        if self.points is None:
            found = replace(self, points=rows)
            moved = found.moved(rows)
            if self.scale == "deviation" and constant_columns(moved).all() and not constant_columns(rows).all():
                return replace(found, kernel=Linear())  # with all deviations equal there is nothing that it could see
            kernel = self.kernel.resolve(moved, rng)
            if not moves(self.scale) and isinstance(kernel, DistanceKernel):
                widths = found.units() * np.asarray(kernel.bandwidth, dtype=np.float64)
                return type(kernel)(tuple(widths.tolist()) if len(widths) > 1 else float(widths[0]))
            return replace(found, kernel=kernel)
        if not np.array_equal(self.points, rows):
            raise ValueError(
                f"{self.label} was resolved on other observations ({len(self.points)} of them, these are {len(rows)}); "
                "give the test the kernel as it was before, and scale="
            )
        return self

    def units(self) -> Array:
        """One unit of every column (d,); 1 for a column that has one value only."""
        return self._units().units()

    def moved(self, X: Array) -> Array:
        """The columns of X (n, d) in their units, or by their ranks in the pooled sample."""
        return self._units().moved(X)

    def evaluate(self, X: Array, Y: Array) -> Array:
        left = self.moved(X)
        return self.kernel(left) if X is Y else self.kernel(left, self.moved(Y))

    def diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(self.moved(X))

    def check(self, X: Array) -> None:
        self.kernel.check(X)  # there are as many columns as before

    def of_features(self, features: FiniteRank) -> FiniteRank:
        """The kernel by coordinates of what its columns become."""
        return RescaledFeatures(features, self)

    def _units(self) -> Units:
        if self.points is None:
            raise ValueError(f"{self.label} has no pooled sample yet: call .resolve(Z) with all the data")
        return Units(self.scale, self.points)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rescaled) or (self.kernel, self.scale) != (other.kernel, other.scale):
            return False
        if self.points is None or other.points is None:
            return self.points is other.points
        return np.array_equal(self.points, other.points)

    def __hash__(self) -> int:
        return hash((Rescaled, self.kernel, self.scale))

    def __repr__(self) -> str:
        return f"Rescaled({self.kernel!r}, {self.scale!r})"


def taken_anew(kernel: Kernel, Z: Array) -> Kernel:
    """A resolved kernel that takes other observations Z (N, d) for the pooled sample; bandwidths and units stay."""
    if isinstance(kernel, PooledKernel):
        return replace(kernel, points=Z)
    if isinstance(kernel, Rescaled):
        return replace(kernel, kernel=taken_anew(kernel.kernel, kernel.moved(Z)))
    if isinstance(kernel, Scaled):
        return replace(kernel, kernel=taken_anew(kernel.kernel, Z))
    if isinstance(kernel, Sum):
        return Sum(tuple(taken_anew(one, Z) for one in kernel.terms))
    if isinstance(kernel, Product):
        return Product(tuple(taken_anew(one, Z) for one in kernel.factors))
    return kernel


@dataclass(frozen=True, eq=False, repr=False)
class RescaledFeatures(FiniteRank):
    """Coordinates of columns in units of their own."""

    features: FiniteRank
    units: Rescaled  # what becomes of the columns

    def coordinates(self, X: Array) -> Array:
        return self.features.coordinates(self.units.moved(X))

    def __repr__(self) -> str:
        return f"{self.features!r} of {self.units.scale}"
