"""Standard designs: two samples that differ in one respect, and more samples or variables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import (
    Design,
    IndependenceDesign,
    TwoSampleDesign,
    parameter,
    up_to,
)
from shrinktest.results.info import CHANGE, CONDITIONAL, JOINT, K_SAMPLE, SYMMETRY

#: Where the coordinates end that a change acts on: the first, or all of them.
COORDINATES = {"one": 1, "all": None}

#: The relationship of confounded variables with the given ones, and with each other.
SHAPES = ("linear", "smooth", "rough", "heavy-tailed", "spread")
HOWS = ("mean", "turning", "square")


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

    The mean moves by ``shift`` in one coordinate or in all; the first benchmark of [G12].
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

    The standard deviation is ``scale`` in one coordinate or in all; the second benchmark of [G12].
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

    All pairs of variables get the same ``correlation``, below 1.  A setting of [SP25].
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

    The multivariate t with ``df`` > 2 degrees of freedom (infinity: the Gaussian) times sqrt((df -
    2)/df).
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

    With probability ``fraction`` a point has mean ``shift`` and standard deviation ``scale`` in
    every coordinate: the gross error model of P. J. Huber, Ann. Math. Stat. 35 (1964).
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

    The density on the unit cube is 1 + amplitude e^d sum_v s_v prod_i G(P u_i - v_i), v in
    {1..P}^d, with P = ``perturbations``, signs s_v drawn anew in every trial, and
    G(t) = exp(-1/(1 - (4t+3)^2)) on (-1, -1/2), -exp(-1/(1 - (4t+1)^2)) on (-1/2, 0): [S23], with
    ``amplitude`` e^d for c_d P^(-s).  There s = 1, c_1 = 2.7, P = 1, ..., 4 and n = 500 in one
    dimension, c_2 = 7.3 and n = 2000 in two. [B23] and [S22] set the amplitude itself, from 0 to 1.
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

    The two halves of the 2 ``dimension`` coordinates of :class:`PerturbedUniform`: [S22], after
    [A22], published with one coordinate each, P = 2 and n = 1000.
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
    """A grid of round Gaussians against one of stretched ones.

    ``rows`` x ``rows`` blobs in the plane, ``spacing`` standard deviations apart, with
    ``correlation`` within each blob of the changed sample: [G12a].  The median bandwidth measures
    the grid, not the blobs, and has no power.
    """

    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}
    rows: int = parameter(2, count, minimum=1)
    correlation: float = parameter(0.9, up_to, high=1.0, included=False)
    spacing: float = parameter(5.0, positive)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, 2)) for size in (n, m))
        y[:, 1] = self.correlation * y[:, 0] + math.sqrt(1.0 - self.correlation**2) * y[:, 1]
        centres_x, centres_y = (
            self.spacing * rng.integers(self.rows, size=(size, 2)) for size in (n, m)
        )
        return x + centres_x, y + centres_y


# --- several samples, joint and conditional independence, changes, symmetry -----------------------

_SHIFT = MeanShift()


@dataclass(frozen=True, repr=False)
class OneApart(Design):
    """Several Gaussian samples, one with another mean.

    The first coordinate of the last sample moves by ``shift``; ``ratio`` is its size over the size
    of the others.
    """

    test = K_SAMPLE.name
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}
    samples: int = parameter(3, count, minimum=2)
    dimension: int = parameter(10, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    ratio: float = parameter(1.0, positive)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        sizes = [n] * (self.samples - 1) + [m]
        samples = [rng.standard_normal((size, self.dimension)) for size in sizes]
        samples[-1][:, 0] += self.shift
        return tuple(samples)


@dataclass(frozen=True, repr=False)
class Parity(Design):
    """Variables that are dependent only all together.

    Gaussian variables; with probability ``strength`` the sign of the last is the product of the
    other signs (S. N. Bernstein's example).
    """

    test = JOINT.name
    neutral: ClassVar[dict[str, Any]] = {"strength": 0.0}
    variables: int = parameter(3, count, minimum=2)
    strength: float = parameter(0.8, up_to, high=1.0)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        variables = rng.standard_normal((self.variables, n, 1))
        signs = np.sign(variables[:-1]).prod(axis=0)
        tied = rng.random((n, 1)) < self.strength
        variables[-1] = np.where(tied, np.abs(variables[-1]) * signs, variables[-1])
        return tuple(variables)


@dataclass(frozen=True, repr=False)
class Changed(Design):
    """A series of rows whose distribution changes.

    Rows come from the first sample of ``design`` and, from ``at`` to ``until`` (shares of the
    series), from the second. If ``until`` is below 1, tests look for an epidemic change.

    Examples
    --------
    >>> design = Changed(MeanShift(dimension=2, shift=3.0), at=0.4)
    >>> (X,) = design.sample(0, n=50)
    >>> X.shape, float(X[:20].mean().round(1)), float(X[20:].mean().round(1)), design.null()
    ((50, 2), -0.1, 1.7, Changed(design=MeanShift(dimension=2, shift=0.0), at=0.4))
    """

    name = "change"
    test = CHANGE.name

    design: TwoSampleDesign = _SHIFT
    at: float = parameter(0.5, up_to, high=1.0, included=False)
    until: float = parameter(1.0, up_to, high=1.0)

    def _check(self) -> None:
        if not self.at < self.until:
            raise ValueError(
                f"until={self.until:g} must be above at={self.at:g}, where the change begins"
            )

    def places(self, n: int) -> tuple[int, int]:
        """Return the first row of the change, and the first one after it, of n rows."""
        first = min(max(round(self.at * n), 2), n - 2)
        return first, n if self.until == 1.0 else min(max(round(self.until * n), first + 2), n)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        first, end = self.places(n)
        outside, inside = self.design.sample(rng, n - (end - first), end - first)
        return (np.concatenate([outside[:first], inside, outside[first:]]),)

    def null(self) -> Design:
        twin = Changed(self.design.null(), self.at, self.until)  # type: ignore[arg-type]  # twins are of their kind
        return self if twin == self else twin

    def options(self) -> dict[str, Any]:
        return {**self.design.options(), **({"change": "epidemic"} if self.until < 1.0 else {})}

    def smallest(self) -> int:
        return max(8, 2 * self.design.smallest())


@dataclass(frozen=True, repr=False)
class SkewNormal(Design):
    """Skewed columns of mean zero.

    Independent skew-normal columns of variance one (Azzalini 1985); ``delta``, from 0 (normal) to 1
    (half-normal), is the correlation of a column with the half-normal variable it contains.
    """

    test = SYMMETRY.name
    neutral: ClassVar[dict[str, Any]] = {"delta": 0.0}
    dimension: int = parameter(1, count, minimum=1)
    delta: float = parameter(0.99, up_to, high=1.0)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        half, other = rng.normal(size=(2, n, self.dimension))
        values = self.delta * np.abs(half) + math.sqrt(1.0 - self.delta**2) * other
        mean = self.delta * math.sqrt(2.0 / math.pi)
        return ((values - mean) / math.sqrt(1.0 - mean**2),)


@dataclass(frozen=True, repr=False)
class Confounded(Design):
    """Two variables that depend on each other given others, which they share.

    x = strength f(u) + s e and y = strength f(u) + s (e' + effect g(e)), with u the scaled sum of
    the given columns.  ``shape``: "linear", f(u) = u; "smooth", u + cos(2 u); "rough", a saw with
    two teeth per unit; "heavy-tailed", u with t noise and columns (three degrees of freedom);
    "spread", u, and s = exp(0.5 u).  ``how``: "mean", g(e) = e; "turning", e with the sign of the
    first column; "square", (e^2 - 1) / sqrt(2).
    """

    test = CONDITIONAL.name
    neutral: ClassVar[dict[str, Any]] = {"effect": 0.0}
    shape: str = parameter("linear", choice, known=SHAPES)
    columns: int = parameter(1, count, minimum=1)
    strength: float = parameter(1.0, positive, allow_zero=True)
    effect: float = parameter(0.5, positive, allow_zero=True)
    how: str = parameter("mean", choice, known=HOWS)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        noise = (
            (lambda size: rng.standard_t(3, size))
            if self.shape == "heavy-tailed"
            else rng.standard_normal
        )
        z = noise((n, self.columns))
        e = noise((n, 1))
        other = noise((n, 1))
        shared = self.shared(z)
        spread = np.exp(0.5 * shared) if self.shape == "spread" else 1.0
        added = {
            "mean": e,
            "turning": e * np.sign(z[:, :1]),
            "square": (np.square(e) - 1.0) / math.sqrt(2.0),
        }[self.how]
        y = self.strength * shared + spread * (other + self.effect * added)
        return self.strength * shared + spread * e, y, z

    def shared(self, z: Array) -> Array:
        """Return f(u) (n, 1), which both variables share, for given columns (n, columns)."""
        u = z.sum(axis=1, keepdims=True) / math.sqrt(self.columns)
        return {"smooth": u + np.cos(2.0 * u), "rough": math.sqrt(3.0) * (4.0 * u % 2.0 - 1.0)}.get(
            self.shape, u
        )

    def smallest(self) -> int:
        return 10
