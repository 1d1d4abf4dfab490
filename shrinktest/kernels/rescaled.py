"""Units of the columns, found on the pooled sample: what ``scale=`` of the tests does to a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._validate import Array, choice, complete_points, counted, listed, positive
from shrinktest.kernels.base import FiniteRank, Kernel
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.inner_product import Linear

#: Units by name: standard deviation (over n), median absolute deviation from the median, mid-ranks, and distances from
#: the median in units of their mean.
SCALES = ("sd", "mad", "rank", "deviation")
_MOVED = ("rank", "deviation")  # what stands in place of the values is no multiple of them

Scale = str | tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Rescaled(Kernel):
    """A kernel of columns in units of their own, or of their ranks in the pooled sample.

    Parameters
    ----------
    kernel : Kernel
    scale : {"sd", "mad", "rank", "deviation"} or tuple of float
        What one unit of a column is: its standard deviation or median absolute deviation in the pooled sample, a
        number for every column; or the column is replaced by its mid-ranks in the pooled sample, over their number;
        or by its distances from the median of the pooled sample over their mean, in which spread shows and location
        does not.
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
        what = {"rank": "ranks", "deviation": "deviations"}.get(str(self.scale), "scaled columns")
        return f"{self.kernel.label} of {what}"

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """The kernel in the units of Z (N, d); a kernel of a distance has them in its bandwidths."""
        rows = complete_points(Z, "Z").values
        if self.points is None:
            found = replace(self, points=rows)
            moved = found.moved(rows)
            if self.scale == "deviation" and constant_columns(moved).all() and not constant_columns(rows).all():
                return replace(found, kernel=Linear())  # with all deviations equal there is nothing that it could see
            kernel = self.kernel.resolve(moved, rng)
            if self.scale not in _MOVED and isinstance(kernel, DistanceKernel):
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
        return units_of(self._pooled(), self.scale)

    def moved(self, X: Array) -> Array:
        """The columns of X (n, d) in their units, or by their ranks in the pooled sample."""
        pooled = self._pooled()
        if self.scale == "deviation":
            return np.ascontiguousarray(np.abs(X - np.median(pooled, axis=0)) / self.units())
        if self.scale != "rank":
            return np.ascontiguousarray(X / self.units())
        out = np.empty(X.shape)
        for j, column in enumerate(np.sort(pooled, axis=0).T):
            below, above = (column.searchsorted(X[:, j], side) for side in ("left", "right"))
            out[:, j] = (below + above) / (2.0 * len(column))
        return out

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

    def _pooled(self) -> Array:
        if self.points is None:
            raise ValueError(f"{self.label} has no pooled sample yet: call .resolve(Z) with all the data")
        return self.points

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


@dataclass(frozen=True, eq=False, repr=False)
class RescaledFeatures(FiniteRank):
    """Coordinates of columns in units of their own.

    Parameters
    ----------
    features : FiniteRank
    units : Rescaled
        What becomes of the columns.
    """

    features: FiniteRank
    units: Rescaled

    def coordinates(self, X: Array) -> Array:
        return self.features.coordinates(self.units.moved(X))

    def __repr__(self) -> str:
        return f"{self.features!r} of {self.units.scale}"


def as_scale(scale: Any, columns: int | None = None, name: str = "scale") -> Scale | None:
    """The argument ``scale`` of a test: None, a name, or one positive number per column.

    Raises
    ------
    ValueError, TypeError
        For anything else; the message names the argument, and lists the names.
    """
    if scale is None:
        return None
    if isinstance(scale, str):
        return choice(scale, SCALES, name)
    if np.ndim(scale) != 1:
        raise TypeError(f"{name} must be None, one of {listed(SCALES)}, or one number per column; got {scale!r}")
    numbers = tuple(positive(value, f"{name}[{j}]") for j, value in enumerate(scale))
    if columns is not None and len(numbers) != columns:
        raise ValueError(f"{name} has {len(numbers)} entries for {counted(columns, 'column')}; give one for each")
    return numbers


def units_of(Z: Array, scale: Scale) -> Array:
    """One unit of every column of the pooled sample Z (N, d), 1 for a column that has one value only.

    Raises
    ------
    ValueError
        For scale="mad" where more than half of the values of a column are equal.
    """
    if scale == "rank":
        return np.ones(Z.shape[1])
    if not isinstance(scale, str):
        return np.asarray(scale, dtype=np.float64)
    with np.errstate(over="ignore"):
        away = np.abs(Z - np.median(Z, axis=0))
        unit = {"sd": Z.std(axis=0), "mad": np.median(away, axis=0), "deviation": away.mean(axis=0)}[scale]
    constant = constant_columns(Z)
    for j in np.flatnonzero((unit == 0.0) & np.logical_not(constant)):
        raise ValueError(
            f"scale='mad': more than half of the values of column {j} are equal, so that its median absolute deviation "
            "is 0; use scale='sd' or 'rank', or give one number per column"
        )
    return np.where(constant, 1.0, unit)


def constant_columns(Z: Array) -> Array:
    """Which columns (d,) have one value only."""
    return np.asarray((Z[0] == Z).all(axis=0))
