"""Two samples of many variables: the settings on which a likelihood ratio test of kernel embeddings was published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, count, positive
from shrinktest.power.designs.base import TwoSampleDesign, parameter, up_to


def _at_most_all(number: int, name: str, dimension: int) -> None:
    if number > dimension:
        raise ValueError(f"{name} must be at most dimension={dimension}, got {number}")


@dataclass(frozen=True, repr=False)
class SparseShift(TwoSampleDesign):
    """Standard Gaussian against the same with its mean moved in a few of many coordinates.

    Parameters
    ----------
    dimension : int, default 500
        Number of variables.
    shift : float, default 1.0
        How far the mean moves in every coordinate that moves, in standard deviations.
    moved : int, default 2
        How many coordinates move: the first ones.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with n = 100; the default of ``dimension`` is not from there.  :class:`MeanShift` moves one
    coordinate or all.

    Examples
    --------
    >>> X, Y = SparseShift(dimension=4, shift=3.0).sample(0, n=1000)
    >>> np.abs(Y.mean(axis=0)).round()
    array([3., 3., 0., 0.])
    """

    name: ClassVar[str] = "sparse-shift"
    summary: ClassVar[str] = "Gaussians whose means differ in a few of many coordinates"
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}

    dimension: int = parameter(500, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    moved: int = parameter(2, count, minimum=1)

    def _check(self) -> None:
        _at_most_all(self.moved, "moved", self.dimension)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        y[:, : self.moved] += self.shift
        return x, y


@dataclass(frozen=True, repr=False)
class SpikedCovariance(TwoSampleDesign):
    """Standard Gaussian against the same with a few coordinates replaced by one wide one, repeated.

    Parameters
    ----------
    dimension : int, default 500
        Number of variables.
    block : int, default 5
        How many coordinates, the first ones, are replaced; at 0 nothing changes.
    covariance : float, default 3.0
        Every entry of the covariance matrix within the block.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with n = 100.  Variances and covariances in the block are all 3, so that its matrix has rank
    one: it is positive semi-definite as it stands, nothing is added to its diagonal, and the coordinates of the block
    are equal.

    Examples
    --------
    >>> X, Y = SpikedCovariance(dimension=4, block=2).sample(0, n=50_000)
    >>> np.abs(np.cov(Y.T)).round()
    array([[3., 3., 0., 0.],
           [3., 3., 0., 0.],
           [0., 0., 1., 0.],
           [0., 0., 0., 1.]])
    """

    name: ClassVar[str] = "spiked-covariance"
    summary: ClassVar[str] = "Gaussians whose covariances differ in a small block"
    neutral: ClassVar[dict[str, Any]] = {"block": 0}

    dimension: int = parameter(500, count, minimum=1)
    block: int = parameter(5, count, minimum=0)
    covariance: float = parameter(3.0, positive)

    def _check(self) -> None:
        _at_most_all(self.block, "block", self.dimension)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        y[:, : self.block] = math.sqrt(self.covariance) * y[:, :1]
        return x, y


@dataclass(frozen=True, repr=False)
class ThinCube(TwoSampleDesign):
    """Uniform on the unit cube against uniform on a box that is thinner along some of its sides.

    Parameters
    ----------
    dimension : int, default 500
        Number of variables.
    thin : int, default 30
        How many sides, the first ones, are thinner.
    margin : float, default 0.1
        Thinner sides are [margin, 1 - margin]; from 0 to 0.5 (excluded).
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with n = 100.

    Examples
    --------
    >>> X, Y = ThinCube(dimension=3, thin=1).sample(0, n=10_000)
    >>> Y.min(axis=0).round(2), Y.max(axis=0).round(2)
    (array([0.1, 0. , 0. ]), array([0.9, 1. , 1. ]))
    """

    name: ClassVar[str] = "thin-cube"
    summary: ClassVar[str] = "uniform on a cube against uniform on a thinner box"
    neutral: ClassVar[dict[str, Any]] = {"margin": 0.0}

    dimension: int = parameter(500, count, minimum=1)
    thin: int = parameter(30, count, minimum=1)
    margin: float = parameter(0.1, up_to, high=0.5, included=False)

    def _check(self) -> None:
        _at_most_all(self.thin, "thin", self.dimension)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.random((size, self.dimension)) for size in (n, m))
        y[:, : self.thin] = self.margin + (1.0 - 2.0 * self.margin) * y[:, : self.thin]
        return x, y


@dataclass(frozen=True, repr=False)
class Bimodal(TwoSampleDesign):
    """Standard Gaussian against the same with one of many coordinates split into two modes.

    Parameters
    ----------
    dimension : int, default 1000
        Number of variables.
    separation : float, default 4.0
        The modes of the first coordinate are at -separation and separation, with equal chances.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with n = 100.  The means are the same.

    Examples
    --------
    >>> X, Y = Bimodal(dimension=3).sample(0, n=10_000)
    >>> np.abs(Y).mean(axis=0).round(1)
    array([4. , 0.8, 0.8])
    """

    name: ClassVar[str] = "bimodal"
    summary: ClassVar[str] = "Gaussian against one with two modes along one of many coordinates"
    neutral: ClassVar[dict[str, Any]] = {"separation": 0.0}

    dimension: int = parameter(1000, count, minimum=1)
    separation: float = parameter(4.0, positive, allow_zero=True)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        y[:, 0] += self.separation * rng.choice((-1.0, 1.0), size=m)
        return x, y


@dataclass(frozen=True, repr=False)
class Autoregressive(TwoSampleDesign):
    """Gaussian rows that are autoregressions of order one against the same with a higher correlation.

    Parameters
    ----------
    dimension : int, default 50
        Number of variables, at least 2.
    correlation : float, default 0.5
        Correlation of neighbouring variables; that of variables i and j is correlation^|i - j|.  From 0 to 1
        (excluded).
    change : float, default 0.3
        What is added to the correlation in the changed sample; the sum is below 1.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with n = 100 and several changes; the defaults of ``dimension`` and ``change`` are not from
    there.  The margins are standard Gaussian in both samples.

    Examples
    --------
    >>> X, Y = Autoregressive(dimension=3).sample(0, n=50_000)
    >>> np.corrcoef(X.T)[0].round(2), np.corrcoef(Y.T)[0].round(2)
    (array([1.  , 0.5 , 0.25]), array([1.  , 0.8 , 0.64]))
    """

    name: ClassVar[str] = "autoregressive"
    summary: ClassVar[str] = "autoregressions with different correlations and the same margins"
    neutral: ClassVar[dict[str, Any]] = {"change": 0.0}

    dimension: int = parameter(50, count, minimum=2)
    correlation: float = parameter(0.5, up_to, high=1.0, included=False)
    change: float = parameter(0.3, positive, allow_zero=True)

    def _check(self) -> None:
        if self.correlation + self.change >= 1.0:
            raise ValueError(
                f"correlation + change must be below 1, got {self.correlation:g} + {self.change:g}; "
                "lower one of the two"
            )

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        return self._rows(rng, n, self.correlation), self._rows(rng, m, self.correlation + self.change)

    def _rows(self, rng: np.random.Generator, n: int, correlation: float) -> Array:
        columns = rng.standard_normal((self.dimension, n))
        own = math.sqrt(1.0 - correlation**2)
        for before, column in pairwise(columns):
            column *= own
            column += correlation * before
        return np.ascontiguousarray(columns.T)


@dataclass(frozen=True, repr=False)
class Spheres(TwoSampleDesign):
    """Points of the unit sphere plus noise against the same moved a little in every coordinate.

    Parameters
    ----------
    dimension : int, default 30
        Number of variables; the sphere has one dimension fewer.
    noise : float, default 0.02
        Standard deviation of the Gaussian noise in every coordinate.
    shift : float, default 0.015
        How far the changed sample moves in every coordinate.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with n = 100; the default of ``dimension`` is not from there.  The centres are shift
    sqrt(dimension) apart.

    Examples
    --------
    >>> X, Y = Spheres(dimension=3, noise=0.0, shift=0.5).sample(0, n=100)
    >>> bool(np.allclose(np.linalg.norm(X, axis=1), 1)), bool(np.allclose(np.linalg.norm(Y - 0.5, axis=1), 1))
    (True, True)
    """

    name: ClassVar[str] = "spheres"
    summary: ClassVar[str] = "points near a sphere against the same moved a little"
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}

    dimension: int = parameter(30, count, minimum=1)
    noise: float = parameter(0.02, positive, allow_zero=True)
    shift: float = parameter(0.015, positive, allow_zero=True)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (self._sphere(rng, size) for size in (n, m))
        return x, y + self.shift

    def _sphere(self, rng: np.random.Generator, n: int) -> Array:
        points, noise = rng.standard_normal((2, n, self.dimension))
        return points / np.linalg.norm(points, axis=1, keepdims=True) + self.noise * noise
