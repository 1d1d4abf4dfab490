"""Summands: what is added up of every row, and how the mean features are made of it.

What is added is the same whatever rows stand beside it, so that sums do not depend on how rows were cut.  A linear map
that all features share is applied to the sums of bins and not to rows, which saves most of the time of landmarks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shrinktest._check import Array
from shrinktest.kernels.distance import Gaussian
from shrinktest.kernels.feature_maps import Concatenated, Landmarks, RandomFourier, step_of, tiles
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import RescaledFeatures

_SPARE = 6  # powers of two by which what is added may be larger than in the rows that were looked at


class Summands(ABC):
    """What is added up of every row of a sample, for the mean of some features."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers there are of a row."""

    @abstractmethod
    def of(self, rows: Array) -> Array:
        """Those of some rows (n, d), float64 and C-contiguous; shape (n, width)."""

    def exponents(self, probe: Array) -> Array:
        """Powers of two (width,) that no number is expected to reach, from rows of the samples."""
        most = np.abs(self.of(probe)).max(axis=0, initial=0.0)
        return np.frexp(most)[1] + _SPARE

    def features(self, means: Array) -> Array:
        """The mean features (M, rank) that belong to means (M, width)."""
        return means

    def alone(self) -> Summands:
        """The same without what only ``features`` takes, to be sent to workers."""
        return self


@dataclass(frozen=True, eq=False)
class Waves(Summands):
    """Random Fourier features."""

    fourier: RandomFourier

    @property
    def width(self) -> int:
        return 2 * len(self.fourier.frequencies)

    def of(self, rows: Array) -> Array:
        from shrinktest.kernels.kernel_loops import waves

        out = np.empty((len(rows), self.width))
        waves(rows, self.fourier.turns, self.fourier.height, out)
        return out

    def exponents(self, probe: Array) -> Array:
        return np.full(self.width, int(np.frexp(self.fourier.height)[1]) + 1)


@dataclass(frozen=True, eq=False)
class Values(Summands):
    """Values of any kernel and landmarks, of which the coordinates are a linear map."""

    landmarks: Landmarks

    @property
    def width(self) -> int:
        return len(self.landmarks.points)

    def of(self, rows: Array) -> Array:
        return _padded(lambda some: self.landmarks.kernel(some, self.landmarks.points), rows, self.width)

    def features(self, means: Array) -> Array:
        return self.landmarks.projected(means)

    def alone(self) -> Summands:
        return replace(self, landmarks=replace(self.landmarks, factor=np.empty((0, 0))))


@dataclass(frozen=True, eq=False)
class Bells(Values):
    """Values of a Gaussian kernel and landmarks."""

    widths: Array

    @cached_property
    def _known(self) -> tuple[Array, Array, Array]:
        """The middle of the landmarks; these, seen from it in units of the bandwidth; and their halved squares."""
        middle = self.landmarks.points.mean(axis=0)
        points = (self.landmarks.points - middle) / self.widths
        return middle, tiles(points.T), 0.5 * np.square(points).sum(axis=1)

    def of(self, rows: Array) -> Array:
        from shrinktest.kernels.kernel_loops import bells

        middle, points, halves = self._known
        out = np.empty((len(rows), self.width))
        with np.errstate(over="ignore", invalid="ignore"):
            bells((rows - middle) / self.widths, points, halves, out)
        return out

    def exponents(self, probe: Array) -> Array:
        return np.ones(self.width, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Coordinates(Summands):
    """The features themselves, as a kernel of finite rank gives them."""

    kernel: FeatureMap
    rank: int

    @property
    def width(self) -> int:
        return self.rank

    def of(self, rows: Array) -> Array:
        return np.ascontiguousarray(_padded(self.kernel.coordinates, rows, self.rank))


@dataclass(frozen=True, eq=False)
class InUnits(Summands):
    """What is added up of rows whose columns are in units of their own."""

    inner: Summands
    rescaled: RescaledFeatures

    @property
    def width(self) -> int:
        return self.inner.width

    def of(self, rows: Array) -> Array:
        return self.inner.of(np.ascontiguousarray(self.rescaled.units.moved(rows)))

    def exponents(self, probe: Array) -> Array:
        return self.inner.exponents(np.ascontiguousarray(self.rescaled.units.moved(probe)))

    def features(self, means: Array) -> Array:
        return self.inner.features(means)

    def alone(self) -> Summands:
        return replace(self, inner=self.inner.alone())


@dataclass(frozen=True, eq=False)
class Together(Summands):
    """What is added up for features, with other features of these, which are no linear map of them."""

    inner: Summands  # of the features,
    beside: Concatenated  # which are these
    rank: int  # how many there are
    more: int  # how many others

    @property
    def width(self) -> int:
        return self.inner.width + self.more

    def of(self, rows: Array) -> Array:
        rows = self._seen(rows)
        first = self.inner.of(rows)
        if not self.beside.others:
            return first
        z = first if isinstance(self.inner, Waves) else _padded(self.beside.features.coordinates, rows, self.rank)
        return np.hstack([first, *(_padded(one.coordinates, z, self.width) for one in self.beside.others)])

    def exponents(self, probe: Array) -> Array:
        others = super().exponents(probe)[self.inner.width :]
        return np.concatenate([self.inner.exponents(self._seen(probe)), others])

    def features(self, means: Array) -> Array:
        first = self.inner.features(means[:, : self.inner.width])
        return np.hstack([first, means[:, self.inner.width :]])

    def alone(self) -> Summands:
        return replace(self, inner=self.inner.alone())

    def _seen(self, rows: Array) -> Array:
        return rows if self.beside.columns is None else np.ascontiguousarray(rows[:, self.beside.columns])


def summands_of(features: FeatureMap, columns: int) -> Summands:
    """What is added up of rows with so many columns for the means of these features."""
    if isinstance(features, RescaledFeatures):
        return InUnits(summands_of(features.features, columns), features)
    if isinstance(features, Concatenated):
        seen = columns if features.columns is None else len(features.columns)
        one = np.zeros((1, columns))
        rank, whole = (
            int(some.coordinates(given).shape[1])
            for some, given in ((features.features, np.zeros((1, seen))), (features, one))
        )
        return Together(summands_of(features.features, seen), features, rank, whole - rank)
    if type(features) is RandomFourier:
        return Waves(features)
    if type(features) is Landmarks:
        kernel = features.kernel
        if isinstance(kernel, Gaussian):
            return Bells(features, np.broadcast_to(np.asarray(kernel.bandwidth, dtype=np.float64), (columns,)))
        return Values(features)
    return Coordinates(features, features.coordinates(np.zeros((1, columns))).shape[1])


def _padded(values: Callable[[Array], Array], rows: Array, width: int) -> Array:
    """What a function gives for rows, always as many at a time, for what it rounds may depend on their number."""
    step, out = step_of(width), []
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        filled = np.pad(some, ((0, step - len(some)), (0, 0)), mode="edge")
        out.append(values(filled)[: len(some)])
    return np.vstack(out)
