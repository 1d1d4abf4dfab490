"""Two samples that differ in one thing: location, scale, correlation, tails, a few outliers, or fine structure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import TwoSampleDesign, parameter, up_to

#: Which coordinates a change acts on: the first, or all of them.
COORDINATES = ("one", "all")

#: More perturbations than these are refused.
MOST_CELLS = 10**6


def _degrees(value: Any, name: str) -> float:
    if isinstance(value, float) and value == math.inf:
        return math.inf
    number = positive(value, name)
    if number <= 2:
        raise ValueError(
            f"{name} must exceed 2, or t has no variance that could match the Gaussian one; got {value} "
            "(numpy.inf is the Gaussian itself)"
        )
    return number


@dataclass(frozen=True, repr=False)
class MeanShift(TwoSampleDesign):
    """Standard Gaussian against the same with its mean moved.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables.
    shift : float, default 1.0
        How far the mean moves in every coordinate that moves, in standard deviations.
    coordinates : {"one", "all"}, default "one"
        Whether the first coordinate moves or all do.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    The first benchmark of [G12].

    Examples
    --------
    >>> X, Y = MeanShift(dimension=3, shift=2.0, ratio=1.5).sample(0, n=1000)
    >>> X.shape, Y.shape, np.abs(Y.mean(axis=0)).round()
    ((1000, 3), (1500, 3), array([2., 0., 0.]))
    """

    name: ClassVar[str] = "mean-shift"
    summary: ClassVar[str] = "Gaussians with different means"
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}

    dimension: int = parameter(10, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    coordinates: str = parameter("one", choice, known=COORDINATES)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        y[:, _acting(self.coordinates)] += self.shift
        return x, y


@dataclass(frozen=True, repr=False)
class ScaleChange(TwoSampleDesign):
    """Standard Gaussian against the same with other standard deviations.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables.
    scale : float, default 1.3
        Standard deviation of every coordinate that changes.
    coordinates : {"one", "all"}, default "all"
        Whether the first coordinate changes or all do.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.  Together they give both directions of unequal
        sizes: the larger sample wider, or the smaller one.

    Notes
    -----
    The second benchmark of [G12].

    Examples
    --------
    >>> X, Y = ScaleChange(dimension=2, scale=3.0, coordinates="one").sample(0, n=2000)
    >>> Y.std(axis=0).round(1)
    array([3., 1.])
    """

    name: ClassVar[str] = "scale-change"
    summary: ClassVar[str] = "Gaussians with different standard deviations"
    neutral: ClassVar[dict[str, Any]] = {"scale": 1.0}

    dimension: int = parameter(10, count, minimum=1)
    scale: float = parameter(1.3, positive)
    coordinates: str = parameter("all", choice, known=COORDINATES)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        y[:, _acting(self.coordinates)] *= self.scale
        return x, y


@dataclass(frozen=True, repr=False)
class CorrelationChange(TwoSampleDesign):
    """Independent standard Gaussian variables against equally correlated ones; the margins are the same.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables, at least 2.
    correlation : float, default 0.6
        Correlation of every two variables in the changed sample, from 0 to 1 (excluded).
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A setting of [SP25], with several correlations.

    Examples
    --------
    >>> X, Y = CorrelationChange(dimension=3).sample(0, n=5000)
    >>> np.corrcoef(Y.T)[0].round(1)
    array([1. , 0.6, 0.6])
    """

    name: ClassVar[str] = "correlation-change"
    summary: ClassVar[str] = "Gaussians with different correlations and the same margins"
    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}

    dimension: int = parameter(10, count, minimum=2)
    correlation: float = parameter(0.6, up_to, high=1.0, included=False)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, own = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        shared = rng.standard_normal((m, 1))
        return x, math.sqrt(1.0 - self.correlation) * own + math.sqrt(self.correlation) * shared


@dataclass(frozen=True, repr=False)
class Tails(TwoSampleDesign):
    """Standard Gaussian against Student's t with the same mean and the same variances.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables.  In several dimensions it is the multivariate t: one random scale for all coordinates.
    df : float, default 3.0
        Degrees of freedom, above 2; ``numpy.inf`` is the Gaussian.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    t is multiplied by sqrt((df - 2)/df), which gives it unit variance: what is left to detect is the heavier tail and
    the higher peak, not a scale.

    Examples
    --------
    >>> X, Y = Tails(dimension=1, df=5).sample(0, n=10_000)
    >>> float(Y.var().round(1)), bool(np.abs(Y).max() > np.abs(X).max())
    (1.0, True)
    """

    name: ClassVar[str] = "tails"
    summary: ClassVar[str] = "Gaussian against Student's t of the same variance"
    neutral: ClassVar[dict[str, Any]] = {"df": math.inf}

    dimension: int = parameter(10, count, minimum=1)
    df: float = parameter(3.0, _degrees)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        if self.df < math.inf:
            y *= np.sqrt((self.df - 2.0) / rng.chisquare(self.df, size=(m, 1)))
        return x, y


@dataclass(frozen=True, repr=False)
class Contamination(TwoSampleDesign):
    """Standard Gaussian against the same with a fraction of its points moved, or spread out, or both.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables.
    fraction : float, default 0.2
        Probability that a point of the changed sample is contaminated.
    scale : float, default 1.0
        Standard deviation of contaminated points.
    shift : float, default 1.25
        Mean of contaminated points, in every coordinate.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    The gross error model of P. J. Huber, Robust estimation of a location parameter, Ann. Math. Stat. 35 (1964).

    Examples
    --------
    >>> X, Y = Contamination(dimension=1, fraction=0.25, shift=8.0).sample(0, n=10_000)
    >>> float((Y > 4).mean().round(2))
    0.25
    """

    name: ClassVar[str] = "contamination"
    summary: ClassVar[str] = "a fraction of one sample is moved or spread out"
    neutral: ClassVar[dict[str, Any]] = {"fraction": 0.0}

    dimension: int = parameter(10, count, minimum=1)
    fraction: float = parameter(0.2, up_to, high=1.0)
    scale: float = parameter(1.0, positive)
    shift: float = parameter(1.25, positive, allow_zero=True)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        contaminated = rng.random((m, 1)) < self.fraction
        return x, np.where(contaminated, self.shift + self.scale * y, y)


@dataclass(frozen=True, repr=False)
class PerturbedUniform(TwoSampleDesign):
    """Uniform on the unit cube against a density with bumps and dents: a difference at a fine scale.

    Parameters
    ----------
    dimension : int, default 1
        Number of variables; the source has 1 and 2.
    perturbations : int, default 1
        P: how many bumps, each with its dent, follow each other along a side of the cube; P^d in all.
    amplitude : float, default 0.7
        Height of the bumps relative to the highest possible, from 0 to 1 (where the density touches zero).
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    The density is 1 + amplitude e^d sum_v s_v prod_i G(P u_i - v_i), v in {1..P}^d, with random signs s_v (drawn anew
    in every trial) and G(t) = exp(-1/(1 - (4t+3)^2)) on (-1, -1/2), -exp(-1/(1 - (4t+1)^2)) on (-1/2, 0): the
    densities of [S23], with amplitude e^d for c_d P^(-s).  There s = 1, with c_1 = 2.7, P = 1, ..., 4 and n = 500 in
    one dimension, c_2 = 7.3 and n = 2000 in two: an amplitude of 0.99/P.  [B23] and [S22] set the amplitude itself.
    :class:`PerturbedDependence` splits the coordinates into two variables.

    Examples
    --------
    >>> X, Y = PerturbedUniform(dimension=2, perturbations=2).sample(0, n=50)
    >>> Y.shape, bool(Y.min() >= 0.0), bool(Y.max() <= 1.0)
    ((50, 2), True, True)
    """

    name: ClassVar[str] = "perturbed-uniform"
    summary: ClassVar[str] = "uniform against a density with bumps and dents"
    neutral: ClassVar[dict[str, Any]] = {"amplitude": 0.0}

    dimension: int = parameter(1, count, minimum=1)
    perturbations: int = parameter(1, count, minimum=1)
    amplitude: float = parameter(0.7, up_to, high=1.0)

    def _check(self) -> None:
        if self.perturbations**self.dimension > MOST_CELLS:
            raise ValueError(
                f"perturbations**dimension must be at most {MOST_CELLS}, "
                f"got {self.perturbations}**{self.dimension}; lower one of the two"
            )

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x = rng.random((n, self.dimension))
        signs = rng.choice((-1.0, 1.0), size=(self.perturbations,) * self.dimension)
        kept: list[Array] = []
        while sum(map(len, kept)) < m:  # rejection: the density is at most 1 + amplitude
            proposed = rng.random((2 * m, self.dimension))
            accept = rng.random(2 * m) * (1.0 + self.amplitude) < self._density(proposed, signs)
            kept.append(proposed[accept])
        return x, np.concatenate(kept)[:m]

    def _density(self, u: Array, signs: Array) -> Array:
        scaled = self.perturbations * u
        cell = np.floor(scaled).astype(np.intp)
        bump = np.prod(_bump(scaled - cell), axis=1)
        return 1.0 + self.amplitude * signs[tuple(cell.T)] * bump


def _bump(t: Array) -> Array:
    """The source's e G(t - 1) for t in [0, 1): a bump of height 1 on (0, 1/2), a dent of depth 1 on (1/2, 1)."""
    first = t < 0.5
    inner = 1.0 - np.square(4.0 * t - np.where(first, 1.0, 3.0))
    height = np.exp(1.0 - 1.0 / np.maximum(inner, 1e-3))  # e^-999 is 0 in float64
    return np.where(first, height, -height)


@dataclass(frozen=True, repr=False)
class Blobs(TwoSampleDesign):
    """A square grid of round Gaussian blobs against one of stretched blobs: a local difference, hidden by the grid.

    Parameters
    ----------
    rows : int, default 2
        The grid has ``rows`` x ``rows`` blobs of unit variance, in the plane.
    correlation : float, default 0.9
        Correlation of the two coordinates within a blob of the changed sample, from 0 to 1 (excluded).
    spacing : float, default 5.0
        Distance of neighbouring centres, in standard deviations.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    A benchmark of [G12a]; that of [L20], in which every blob is tilted in its own way, is :class:`TiltedBlobs`.  It is
    designed so that the median bandwidth fails, which measures the grid and not the blobs: with the defaults its power
    is no more than the level, while a bandwidth of 0.5 rejects in a third of samples of 40 + 40 and nine tenths of
    samples of 100 + 100.

    Examples
    --------
    >>> X, Y = Blobs(rows=3, spacing=10.0).sample(0, n=90)
    >>> np.unique((X / 10).round(), axis=0).shape
    (9, 2)
    """

    name: ClassVar[str] = "blobs"
    summary: ClassVar[str] = "a grid of round Gaussians against one of stretched ones"
    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}

    rows: int = parameter(2, count, minimum=1)
    correlation: float = parameter(0.9, up_to, high=1.0, included=False)
    spacing: float = parameter(5.0, positive)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, 2)) for size in (n, m))
        y[:, 1] = self.correlation * y[:, 0] + math.sqrt(1.0 - self.correlation**2) * y[:, 1]
        centres_x, centres_y = (self.spacing * rng.integers(self.rows, size=(size, 2)) for size in (n, m))
        return x + centres_x, y + centres_y


def _acting(coordinates: str) -> slice:
    return slice(0, 1) if coordinates == "one" else slice(None)
