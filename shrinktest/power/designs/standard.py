"""Standard designs: two samples, or two variables, that differ in one respect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import IndependenceDesign, TwoSampleDesign, parameter, up_to

#: Where the coordinates end that a change acts on: the first, or all of them.
COORDINATES = {"one": 1, "all": None}


def _degrees(value: Any, name: str) -> float:
    if isinstance(value, float) and value == math.inf:
        return math.inf
    number = positive(value, name)
    if number <= 2:
        raise ValueError(
            f"{name} must exceed 2, or t has no variance; got {value} (numpy.inf is the Gaussian)"
        )
    return number


@dataclass(frozen=True, repr=False)
class MeanShift(TwoSampleDesign):
    """Gaussians with different means.

    The mean moves by ``shift`` in one coordinate or in all of them, as in the first benchmark of
    [G12].

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates of every observation.
    shift : float, default 1.0
        Difference in means in standard deviations, in each coordinate that moves.
    coordinates : {"one", "all"}, default "one"
        Whether the mean moves in the first coordinate or in all coordinates.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [G12] Gretton et al., "A kernel two-sample test", JMLR 13, 2012.
    """

    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}
    dimension: int = parameter(10, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    coordinates: str = parameter("one", choice, known=COORDINATES)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        y = rng.standard_normal((n, self.dimension))
        y[:, : COORDINATES[self.coordinates]] += self.shift
        return y


@dataclass(frozen=True, repr=False)
class ScaleChange(TwoSampleDesign):
    """Gaussians with different standard deviations.

    The standard deviation is ``scale`` in one coordinate or in all of them, as in the second
    benchmark of [G12].

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates of every observation.
    scale : float, default 1.3
        Standard deviation in the changed coordinates, whereas all others have standard deviation 1.
    coordinates : {"one", "all"}, default "all"
        Whether the spread changes in the first coordinate or in all coordinates.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [G12] Gretton et al., "A kernel two-sample test", JMLR 13, 2012.
    """

    neutral: ClassVar[dict[str, Any]] = {"scale": 1.0}
    dimension: int = parameter(10, count, minimum=1)
    scale: float = parameter(1.3, positive)
    coordinates: str = parameter("all", choice, known=COORDINATES)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        y = rng.standard_normal((n, self.dimension))
        y[:, : COORDINATES[self.coordinates]] *= self.scale
        return y


@dataclass(frozen=True, repr=False)
class CorrelationChange(TwoSampleDesign):
    """Gaussians with different correlations and the same margins.

    All pairs of variables have the same correlation in the changed sample, whereas they are
    independent in the other one; this is a setting of [SP25].

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates of every observation, at least 2.
    correlation : float, default 0.6
        Correlation of every pair of variables in the changed sample, from 0 to below 1.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
    """

    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}
    dimension: int = parameter(10, count, minimum=2)
    correlation: float = parameter(0.6, up_to, high=1.0, included=False)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, own = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        shared = rng.standard_normal((m, 1))
        return x, math.sqrt(1.0 - self.correlation) * own + math.sqrt(self.correlation) * shared


@dataclass(frozen=True, repr=False)
class Tails(TwoSampleDesign):
    """Gaussian against Student's t of the same variance.

    The changed sample is a multivariate t times sqrt((df - 2)/df), so that only its tails differ.

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates of every observation.
    df : float, default 3.0
        Degrees of freedom of the t distribution, above 2; infinity gives the Gaussian.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.
    """

    neutral: ClassVar[dict[str, Any]] = {"df": math.inf}
    dimension: int = parameter(10, count, minimum=1)
    df: float = parameter(3.0, _degrees)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        y = rng.standard_normal((n, self.dimension))
        if self.df < math.inf:
            y *= np.sqrt((self.df - 2.0) / rng.chisquare(self.df, size=(n, 1)))
        return y


@dataclass(frozen=True, repr=False)
class Contamination(TwoSampleDesign):
    """A fraction of one sample is moved or spread out.

    An observation of the changed sample is contaminated with probability ``fraction``, and
    otherwise standard Gaussian: the gross error model of P. J. Huber, Ann. Math. Stat. 35 (1964).

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates of every observation.
    fraction : float, default 0.2
        Probability that an observation is contaminated, from 0 to 1.
    scale : float, default 1.0
        Standard deviation of contaminated observations in every coordinate.
    shift : float, default 1.25
        Mean of contaminated observations in every coordinate.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.
    """

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
    """Uniform against a density with bumps and dents.

    The density on the unit cube is 1 + amplitude e^d sum_v s_v prod_i G(P u_i - v_i), where v runs
    over {1..P}^d, P is ``perturbations``, the signs s_v are drawn anew in every trial, and G(t) =
    exp(-1/(1 - (4t+3)^2)) on (-1, -1/2), -exp(-1/(1 - (4t+1)^2)) on (-1/2, 0).

    Parameters
    ----------
    dimension : int, default 1
        Number of coordinates d of every observation.
    perturbations : int, default 1
        Number of bumps per coordinate, each of which has a dent next to it.
    amplitude : float, default 0.7
        Largest deviation of the density from 1, from 0 (uniform) to 1.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    Notes
    -----
    This is the benchmark of [S23], where c_d P^(-s) stands for ``amplitude`` e^d: with s = 1, c_1 =
    2.7, P = 1, ..., 4 and n = 500 in one dimension, but c_2 = 7.3 and n = 2000 in two.  [B23] and
    [S22] set the amplitude itself, from 0 to 1.

    References
    ----------
    .. [B23] Biggs et al., "MMD-FUSE: learning and combining kernels for two-sample testing without
       data splitting", NeurIPS, 2023.
    .. [S22] Schrab et al., "Efficient aggregated kernel tests using incomplete U-statistics",
       NeurIPS, 2022.
    .. [S23] Schrab et al., "MMD aggregated two-sample test", JMLR 24, 2023.
    """

    neutral: ClassVar[dict[str, Any]] = {"amplitude": 0.0}
    dimension: int = parameter(1, count, minimum=1)
    perturbations: int = parameter(1, count, minimum=1)
    amplitude: float = parameter(0.7, up_to, high=1.0)

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


@dataclass(frozen=True, repr=False)
class PerturbedDependence(IndependenceDesign):
    """Uniform variables whose joint density has bumps and dents.

    The two variables are the two halves of the coordinates of :class:`PerturbedUniform`, as in
    [S22], after [A22]; the published settings have one coordinate each, P = 2 and n = 1000.

    Parameters
    ----------
    dimension : int, default 1
        Number of coordinates of each of the two variables.
    perturbations : int, default 2
        Number P of bumps per coordinate, each of which has a dent next to it.
    amplitude : float, default 1.0
        Largest deviation of the joint density from 1, from 0 (independent) to 1.

    References
    ----------
    .. [A22] Albert et al., "Adaptive test of independence based on HSIC measures", Ann. Stat. 50,
       2022.
    .. [S22] Schrab et al., "Efficient aggregated kernel tests using incomplete U-statistics",
       NeurIPS, 2022.
    """

    dimension: int = parameter(1, count, minimum=1)
    perturbations: int = parameter(2, count, minimum=1)
    amplitude: float = parameter(1.0, up_to, high=1.0)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        _, both = PerturbedUniform(2 * self.dimension, self.perturbations, self.amplitude).draw(
            rng, 0, n
        )
        return both[:, : self.dimension], both[:, self.dimension :]


@dataclass(frozen=True, repr=False)
class Blobs(TwoSampleDesign):
    """A grid of round Gaussians against a grid of elongated ones.

    The design is from [G12a].  Because the median bandwidth measures the grid rather than the
    blobs, it has no power here.

    Parameters
    ----------
    rows : int, default 2
        Number of blobs in each row and in each column of the grid.
    correlation : float, default 0.9
        Correlation within each blob of the changed sample, from 0 to below 1.
    spacing : float, default 5.0
        Distance between neighboring blobs, in standard deviations of a round blob.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [G12a] Gretton et al., "Optimal kernel choice for large-scale two-sample tests", NeurIPS,
       2012.
    """

    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}
    rows: int = parameter(2, count, minimum=1)
    correlation: float = parameter(0.9, up_to, high=1.0, included=False)
    spacing: float = parameter(5.0, positive)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, 2)) for size in (n, m))
        y[:, 1] = self.correlation * y[:, 0] + math.sqrt(1.0 - self.correlation**2) * y[:, 1]
        centers_x, centers_y = (
            self.spacing * rng.integers(self.rows, size=(size, 2)) for size in (n, m)
        )
        return x + centers_x, y + centers_y
