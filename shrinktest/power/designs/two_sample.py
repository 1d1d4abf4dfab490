"""Two samples that differ in one respect: location, scale, correlation, tails, outliers, or fine structure.

All take ``ratio`` (size of Y over size of X) and ``swap`` (X is the changed sample).  One of them, split into two
variables, is a design of dependence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import IndependenceDesign, TwoSampleDesign, parameter, up_to

#: Coordinates that a change acts on: the first, or all of them.
COORDINATES = ("one", "all")

#: More perturbations than these are refused.
MOST_CELLS = 10**6


def _degrees(value: Any, name: str) -> float:
    if isinstance(value, float) and value == math.inf:
        return math.inf
    number = positive(value, name)
    if number <= 2:
        raise ValueError(f"{name} must exceed 2, or t has no variance; got {value} (numpy.inf is the Gaussian)")
    return number


@dataclass(frozen=True, repr=False)
class MeanShift(TwoSampleDesign):
    """Standard Gaussian against the same with its mean moved by ``shift``, in one coordinate or in all.

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
    """Standard Gaussian against the same with standard deviation ``scale``, in one coordinate or in all.

    With ``ratio`` and ``swap`` either the larger or the smaller sample is wider.  The second benchmark of [G12].
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
    """Independent standard Gaussian variables against equally correlated ones with the same margins.

    ``correlation``, from 0 to 1 (excluded), is that of every two variables.  A setting of [SP25].
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
    """Standard Gaussian against Student's t with the same mean and variances.

    t with ``df`` degrees of freedom (above 2; infinity is the Gaussian) is multiplied by sqrt((df - 2)/df).  In several
    dimensions it is the multivariate t: one random scale for all coordinates.
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
    """Standard Gaussian against the same with points moved or spread out.

    With probability ``fraction`` a point has mean ``shift`` and standard deviation ``scale`` in every coordinate: the
    gross error model of P. J. Huber, Robust estimation of a location parameter, Ann. Math. Stat. 35 (1964).
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
    """Uniform on the unit cube against the density 1 + amplitude e^d sum_v s_v prod_i G(P u_i - v_i), v in {1..P}^d.

    P = ``perturbations``, the signs s_v are drawn anew in every trial, and G(t) = exp(-1/(1 - (4t+3)^2)) on (-1, -1/2),
    -exp(-1/(1 - (4t+1)^2)) on (-1/2, 0): the densities of [S23], with ``amplitude`` e^d for c_d P^(-s).  There s = 1,
    c_1 = 2.7, P = 1, ..., 4 and n = 500 in one dimension, c_2 = 7.3 and n = 2000 in two: an amplitude of 0.99/P.  [B23]
    and [S22] set the amplitude itself, from 0 to 1.
    """

    name: ClassVar[str] = "perturbed-uniform"
    summary: ClassVar[str] = "uniform against a density with bumps and dents"
    neutral: ClassVar[dict[str, Any]] = {"amplitude": 0.0}

    dimension: int = parameter(1, count, minimum=1)
    perturbations: int = parameter(1, count, minimum=1)
    amplitude: float = parameter(0.7, up_to, high=1.0)

    def _check(self) -> None:
        check_cells(self.perturbations, self.dimension)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x = rng.random((n, self.dimension))
        signs = rng.choice((-1.0, 1.0), size=(self.perturbations,) * self.dimension)
        accepted: list[Array] = []
        while sum(map(len, accepted)) < m:  # rejection: the density is at most 1 + amplitude
            proposed = rng.random((2 * m, self.dimension))
            accept = rng.random(2 * m) * (1.0 + self.amplitude) < self._density(proposed, signs)
            accepted.append(proposed[accept])
        return x, np.concatenate(accepted)[:m]

    def _density(self, u: Array, signs: Array) -> Array:
        scaled = self.perturbations * u
        cell = np.floor(scaled).astype(np.intp)
        t = scaled - cell  # the bump e G(t - 1): height 1 on (0, 1/2), depth 1 on (1/2, 1)
        inner = 1.0 - np.square(4.0 * t - np.where(t < 0.5, 1.0, 3.0))
        height = np.exp(1.0 - 1.0 / np.maximum(inner, 1e-3))  # e^-999 is 0 in float64
        bump = np.prod(np.where(t < 0.5, height, -height), axis=1)
        return 1.0 + self.amplitude * signs[tuple(cell.T)] * bump


def check_cells(perturbations: int, dimension: int) -> None:
    """Raise ValueError for more perturbations than memory has room for."""
    if perturbations**dimension > MOST_CELLS:
        raise ValueError(
            f"perturbations**dimension must be at most {MOST_CELLS}, got {perturbations}**{dimension}; lower either"
        )


@dataclass(frozen=True, repr=False)
class PerturbedDependence(IndependenceDesign):
    """The two halves of the 2 ``dimension`` coordinates of :class:`PerturbedUniform`: each uniform, dependent together.

    The densities of [S22], after [A22], published with one coordinate each, P = 2 and n = 1000.  A bump and its dent
    have the same mass, so that the null twin has independent uniform variables.
    """

    name: ClassVar[str] = "perturbed-dependence"
    summary: ClassVar[str] = "uniform variables whose joint density has bumps and dents"

    dimension: int = parameter(1, count, minimum=1)
    perturbations: int = parameter(2, count, minimum=1)
    amplitude: float = parameter(1.0, up_to, high=1.0)

    def _check(self) -> None:
        check_cells(self.perturbations, 2 * self.dimension)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        _, both = PerturbedUniform(2 * self.dimension, self.perturbations, self.amplitude).draw(rng, 0, n)
        return both[:, : self.dimension], both[:, self.dimension :]


@dataclass(frozen=True, repr=False)
class Blobs(TwoSampleDesign):
    """A ``rows`` x ``rows`` grid of round Gaussian blobs in the plane against one of stretched blobs: [G12a].

    In the changed sample the coordinates have ``correlation`` (0 to 1, excluded) within each blob; neighbouring centres
    are ``spacing`` standard deviations apart.  The median bandwidth measures the grid and fails: with the defaults its
    power is no more than the level, while a bandwidth of 0.5 rejects in a third of samples of 40 + 40 and nine tenths
    of samples of 100 + 100.
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
