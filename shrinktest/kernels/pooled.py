"""Kernels with units, ranks, pair differences or feature means from the pooled sample."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, complete_points, listed
from shrinktest.kernels.base import Kernel, require_kernels
from shrinktest.kernels.distance_kernel import DistanceKernel
from shrinktest.kernels.feature_maps import Derived
from shrinktest.kernels.inner import FeatureMap, Linear
from shrinktest.units import SCALES, Scale, Units, as_scale, constant_columns, moves

_BLOCK = 2**20  # kernel values computed at a time


class SampleKernel(Kernel):
    """Base class of kernels made of another kernel and the pooled sample.

    A test sets the pooled sample once.
    """

    kernel: Kernel
    points: Array | None  # (N, d): the pooled sample

    def __post_init__(self) -> None:
        require_kernels([self.kernel])

    @property
    def points_are(self) -> str | None:
        return self.kernel.points_are

    @property
    def as_given(self) -> bool:  # type: ignore[override]
        return self.kernel.as_given

    @property
    def is_definite(self) -> bool:  # type: ignore[override]
        return self.kernel.is_definite

    @property
    def bandwidth(self) -> Any:
        """The bandwidth of the other kernel."""
        return getattr(self.kernel, "bandwidth", None)

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """Return the kernel of the pooled sample Z (N, d)."""
        rows = complete_points(Z, "Z").values
        if self.points is None:
            return self._resolved(rows, rng)
        self.require_points(rows)
        return self

    def require_points(self, rows: Array) -> None:
        """Raise ValueError for rows (N, d) that are not the pooled sample."""
        if rows is not self._pooled and not np.array_equal(self._pooled, rows):
            raise ValueError(
                f"{self.label} was resolved on other observations; pass the test the unresolved "
                "kernel"
            )

    @abstractmethod
    def _resolved(self, rows: Array, rng: Any) -> Kernel:
        """Return the kernel of a pooled sample (N, d)."""

    @property
    def _pooled(self) -> Array:
        if self.points is None:
            raise ValueError(
                f"{self!r} has no pooled sample yet: call .resolve(Z) with all the data"
            )
        return self.points

    def check(self, X: Array) -> None:
        self.kernel.check(X)

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            entry.name: getattr(self, entry.name)
            for entry in fields(cast(Any, self))
            if entry.name != "points"
        }

    def __eq__(self, other: object) -> bool:
        if (
            not isinstance(other, SampleKernel)
            or type(self) is not type(other)
            or self._settings != other._settings
        ):
            return False
        return self.points is other.points or np.array_equal(
            cast(Array, self.points), cast(Array, other.points)
        )

    def __hash__(self) -> int:
        return hash((type(self), *self._settings.values()))

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self._settings,
            "points": self.points,
        }  # without what was computed on the pooled sample


@dataclass(frozen=True, eq=False)
class PooledKernel(SampleKernel):
    """A kernel of the features of another kernel about their mean over the pooled sample."""

    #: True if its features are an affine map of the other kernel's features, so that the means of
    #: these suffice.
    affine: ClassVar[bool] = False
    bounded = True

    kernel: Kernel  # the kernel whose features are taken
    points: Array | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.kernel, PooledKernel):
            raise ValueError(
                f"{type(self).__name__}({self.kernel!r}): pass the kernel itself, "
                f"{self.kernel.kernel!r}"
            )

    @property
    def label(self) -> str:
        """For example "Whitened(Gaussian, lam=0.1)"."""
        settings = [
            f"{name}={value!r}" for name, value in self._settings.items() if name != "kernel"
        ]
        return f"{type(self).__name__}({', '.join([self.kernel.label, *settings])})"

    def _resolved(self, rows: Array, rng: Any) -> Kernel:
        return replace(self, kernel=self.kernel.resolve(rows, rng), points=rows)

    def compared(self, points: Array) -> tuple[Any, Array] | None:
        return self.kernel.compared(points)

    @abstractmethod
    def transform_gram(self, gram: Array) -> Array:
        """Return the pooled sample's Gram matrix from the other kernel's Gram matrix.

        The latter is left unchanged.
        """

    @abstractmethod
    def _after(self, coordinates: Array) -> FeatureMap:
        """Return its features of the other kernel's features.

        The pooled sample has the coordinates (N, r) of those.
        """

    def transform_features(
        self, features: FeatureMap, coordinates: Array
    ) -> tuple[FeatureMap, Array]:
        """Return it as features of features with pooled coordinates (N, r), and coordinates.

        The latter are the coordinates of the pooled sample.
        """
        after = self._after(coordinates)
        return Derived(features, after), after.coordinates(coordinates)

    def few(self, gram: Callable[[], Array]) -> tuple[FeatureMap, Array] | None:
        """Return a few features and coordinates, if it has them.

        ``gram`` makes the Gram matrix of the other kernel.
        """
        return None

    def columns(self, rank: int) -> int:
        """Return how many coordinates it has if the other kernel has ``rank``."""
        return rank + 1

    def shortened(
        self, features: FeatureMap, coordinates: Array, most: int
    ) -> tuple[FeatureMap, Array, float] | None:
        """Return at most ``most`` features, coordinates, and the share of variance seen.

        Return None if it cannot.
        """
        return None

    def evaluate(self, X: Array, Y: Array) -> Array:
        pooled = self._pooled
        if all(Z is pooled or np.array_equal(Z, pooled) for Z in (X, Y)):
            return self.transform_gram(self.kernel.block(pooled, pooled))
        return self._elsewhere(X, Y)

    @abstractmethod
    def _elsewhere(self, X: Array, Y: Array) -> Array:
        """Return the values of rows that are not the pooled sample."""

    @cached_property
    def _means(self) -> tuple[Array, float]:
        """Mean of the other kernel from every pooled point to all (N,), and its mean."""
        rows = self._mean_at(self._pooled)
        return rows, float(rows.mean())

    def _means_of(self, gram: Array) -> tuple[Array, float]:
        """Return these means from the Gram matrix of the other kernel."""
        rows = gram.mean(axis=1)
        return cast(
            tuple[Array, float], self.__dict__.setdefault("_means", (rows, float(rows.mean())))
        )

    def _mean_at(self, X: Array) -> Array:
        step = max(1, _BLOCK // len(self._pooled))
        parts = np.split(X, range(step, len(X), step))
        return np.concatenate(
            [self.kernel.block(rows, self._pooled).mean(axis=1) for rows in parts]
        )

    def _centered_gram(self, gram: Array) -> Array:
        """Return centered inner products of the pooled features, as a new array.

        The features are about their mean.
        """
        rows, mean = self._means_of(gram)
        values = gram - rows[:, None]
        values -= rows - mean
        return values

    def _centered(self, X: Array, Y: Array) -> Array:
        """Return inner products of the features of rows X and Y about the mean."""
        at_x, at_y = (self._means[0] if Z is self.points else self._mean_at(Z) for Z in (X, Y))
        values = self.kernel.block(X, Y) - at_x[:, None]
        values -= at_y - self._means[1]
        return values

    def _centered_diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(X) - 2.0 * self._mean_at(X) + self._means[1]


@dataclass(frozen=True, eq=False)
class Rescaled(SampleKernel):
    """A kernel of columns in units of their own, or of their ranks.

    Parameters
    ----------
    kernel : Kernel
        The kernel that compares the rescaled columns.
    scale : {"sd", "mad", "rank", "deviation"} or tuple
        Unit of a column: its standard deviation or median absolute deviation in the pooled sample,
        or a number; or the column is replaced by its mid-ranks over their number, or its distances
        from the median over their mean.  A tuple has one entry per column; with " in sd", as in
        "rank in sd", a typical column has standard deviation 1.
    points : ndarray, shape (N, d), optional
        The pooled sample, which is set by a test (see :meth:`resolve`).

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
    points: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scale", as_scale(self.scale))
        if self.scale is None:
            raise ValueError(
                f"scale must be one of {listed(SCALES)}, or one number per column; got None"
            )

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.kernel.bounded

    @property
    def never_negative(self) -> bool:  # type: ignore[override]
        return self.kernel.never_negative

    @property
    def label(self) -> str:
        """Name of the kernel in tables, such as "Gaussian of ranks"."""
        names = (self.scale,) if isinstance(self.scale, str) else self.scale
        values = next(
            (f"{name}s" for name in ("rank", "deviation") if {name, f"{name} in sd"} & set(names)),
            None,
        )
        return f"{self.kernel.label} of {values or 'scaled columns'}"

    def _resolved(self, rows: Array, rng: Any) -> Kernel:
        """Return the kernel in the units of rows (N, d).

        A kernel of a distance has them in its bandwidths.
        """
        pooled = replace(self, points=rows)
        moved = pooled.moved(rows)
        if (
            self.scale == "deviation"
            and constant_columns(moved).all()
            and not constant_columns(rows).all()
        ):
            return replace(
                pooled, kernel=Linear()
            )  # if all deviations are equal, they have no median distance
        kernel = self.kernel.resolve(moved, rng)
        if moves(self.scale) or not isinstance(kernel, DistanceKernel):
            return replace(pooled, kernel=kernel)
        widths = pooled.units() * np.asarray(kernel.bandwidth, dtype=np.float64)
        return kernel.with_bandwidth(tuple(widths.tolist()) if len(widths) > 1 else widths[0])

    def units(self) -> Array:
        """Return one unit per column (d,), which is 1 for constant columns."""
        return Units(self.scale, self._pooled).units()

    def moved(self, X: Array) -> Array:
        """Return the columns of X (n, d) in their units, or their pooled ranks."""
        return Units(self.scale, self._pooled).moved(X)

    def block(self, X: Array, Y: Array, threads: int = 1) -> Array:
        left = self.moved(X)
        return self.kernel.block(left, left if X is Y else self.moved(Y), threads)

    evaluate = block

    def diagonal(self, X: Array) -> Array:
        return self.kernel.diagonal(self.moved(X))

    def compared(self, points: Array) -> tuple[Any, Array] | None:
        return self.kernel.compared(self.moved(points))

    def __repr__(self) -> str:
        return f"Rescaled({self.kernel!r}, {self.scale!r})"


@dataclass(frozen=True, eq=False, repr=False)
class RescaledFeatures(FeatureMap):
    """Features of columns in units of their own."""

    features: FeatureMap
    units: Rescaled  # moves the columns

    def coordinates(self, X: Array) -> Array:
        return self.features.coordinates(self.units.moved(X))


@dataclass(frozen=True)
class Differences(Kernel):
    """Kernel of the differences x_i - y_i and y_i - x_i within pairs.

    Permutations of pairs exchange these.

    The rows that it compares are always all n rows of X and then all n of Y.
    """

    kernel: Kernel  # of differences

    def __post_init__(self) -> None:
        require_kernels([self.kernel])

    @property
    def label(self) -> str:
        """Name of the kernel in tables, such as "Gaussian of differences"."""
        return f"{self.kernel.label} of differences"

    @property
    def bandwidth(self) -> Any:
        """The bandwidth of the other kernel."""
        return getattr(self.kernel, "bandwidth", None)

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """Return the kernel with what it takes from those pairs of Z (2n, d) whose rows differ."""
        rows = self.within(complete_points(Z, "Z").values)
        different = rows[rows.any(axis=1)]
        if not len(different):
            return replace(self, kernel=Linear())
        return replace(self, kernel=taken_anew(self.kernel.resolve(different, rng), rows))

    def within(self, Z: Array) -> Array:
        """Return differences (2n, d) within pairs of Z (2n, d), and these with the other sign."""
        x, y = np.split(Z, 2)
        return np.vstack([x - y, y - x])

    def evaluate(self, X: Array, Y: Array) -> Array:
        left = self.within(X)
        return self.kernel.block(left, left if X is Y else self.within(Y))


def seen(kernel: Kernel, pooled: Array) -> tuple[Kernel, Array]:
    """Return a resolved kernel and the pooled rows it compares.

    Of differences, these are the inner kernel and the differences.
    """
    if not compares_differences(kernel):
        return kernel, pooled
    if isinstance(kernel, Rescaled):
        pooled = kernel.moved(pooled)
        kernel = kernel.kernel
    assert isinstance(kernel, Differences)
    return kernel.kernel, kernel.within(pooled)


def compares_differences(kernel: Any) -> bool:
    """Return True for a kernel of differences, in any units."""
    return isinstance(kernel.kernel if isinstance(kernel, Rescaled) else kernel, Differences)


def taken_anew(kernel: Kernel, Z: Array) -> Kernel:
    """Return a resolved kernel with other observations Z (N, d) for the pooled sample.

    Bandwidths and units stay.
    """
    if isinstance(kernel, PooledKernel):
        return replace(kernel, points=Z)
    if isinstance(kernel, Rescaled):
        return replace(kernel, kernel=taken_anew(kernel.kernel, kernel.moved(Z)))
    if isinstance(kernel, Differences):
        return replace(kernel, kernel=taken_anew(kernel.kernel, kernel.within(Z)))
    return kernel.mapped(lambda part: taken_anew(part, Z))
