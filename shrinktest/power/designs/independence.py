"""Dependent pairs (x, y): curves with noise, other relationships, and hyppo simulations.

There are twenty simulations of hyppo.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import IndependenceDesign, parameter, up_to


@dataclass(frozen=True, repr=False)
class Linear(IndependenceDesign):
    """A line with Gaussian noise.

    The model is y = x + noise e, where x and e are standard Gaussian, so that the correlation is
    1/sqrt(1 + noise^2).

    Parameters
    ----------
    noise : float, default 2.25
        Standard deviation of the Gaussian error that is added to the line.
    """

    noise: float = parameter(2.25, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, e = rng.standard_normal((2, n, 1))
        return x, x + self.noise * e


@dataclass(frozen=True, repr=False)
class LinearT(IndependenceDesign):
    """A line with noise from Student's t.

    The model is y = x + noise t, where x is standard Gaussian and t has ``df`` degrees of freedom.

    Parameters
    ----------
    noise : float, default 2.0
        Factor of the error t that is added to the line.
    df : float, default 3.0
        Degrees of freedom of the t distribution, which need not have a variance.
    """

    noise: float = parameter(2.0, positive, allow_zero=True)
    df: float = parameter(3.0, positive)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = rng.standard_normal((n, 1))
        return x, x + self.noise * rng.standard_t(self.df, size=(n, 1))


class Regression(IndependenceDesign):
    """y is a curve of x plus ``noise`` times a Gaussian error, with x uniform on [-1, 1]."""

    noise: float

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = rng.uniform(-1.0, 1.0, size=(n, 1))
        return x, self._curve(x) + self.noise * rng.standard_normal((n, 1))

    def _curve(self, x: Array) -> Array:
        """Return the mean of y at x, (n, 1) to (n, 1)."""
        return x


@dataclass(frozen=True, repr=False)
class Step(Regression):
    """A step with noise.

    The model is y = 1[x > 0] + noise e, where x is uniform on [-1, 1]; it is from N. Simon and R.
    Tibshirani, arXiv:1401.7645 (2014).

    Parameters
    ----------
    noise : float, default 1.25
        Standard deviation of the Gaussian error that is added to the step.
    """

    noise: float = parameter(1.25, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return (x > 0).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Quadratic(Regression):
    """A parabola with noise.

    The model is y = x^2 + noise e, where x is uniform on [-1, 1]; it is from Simon and Tibshirani,
    arXiv:1401.7645 (2014).

    Parameters
    ----------
    noise : float, default 0.45
        Standard deviation of the Gaussian error that is added to the parabola.
    """

    noise: float = parameter(0.45, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.square(x)


@dataclass(frozen=True, repr=False)
class Sinusoid(Regression):
    """A sine wave with noise.

    The model is y = sin(pi frequency x) + noise e, where x is uniform on [-1, 1]; it is from Simon
    and Tibshirani, arXiv:1401.7645 (2014).

    Parameters
    ----------
    frequency : float, default 2.0
        Number of full waves over the range of x.
    noise : float, default 0.3
        Standard deviation of the Gaussian error that is added to the wave.
    """

    frequency: float = parameter(2.0, positive)
    noise: float = parameter(0.3, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.sin(math.pi * self.frequency * x)


@dataclass(frozen=True, repr=False)
class WShape(Regression):
    """A curve like the letter W with noise.

    The model is y = 4 (x^2 - 1/2)^2 + noise e, where x is uniform on [-1, 1]; it is from M. A.
    Newton, Ann. Appl. Stat. 3 (2009), but with the formula of [V19].

    Parameters
    ----------
    noise : float, default 0.3
        Standard deviation of the Gaussian error that is added to the curve.

    References
    ----------
    .. [V19] Vogelstein et al., "Discovering and deciphering relationships across disparate data
       modalities", eLife 8, 2019.
    """

    noise: float = parameter(0.3, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return 4.0 * np.square(np.square(x) - 0.5)


@dataclass(frozen=True, repr=False)
class Peak(Regression):
    """A narrow peak with noise.

    The model is y = exp(-x^2 / (2 width^2)) + noise e, where x is uniform on [-1, 1]; the width of
    Eckerle4 is 0.08 on this scale.

    Parameters
    ----------
    width : float, default 0.1
        Standard deviation of the Gaussian curve, as a fraction of half the range of x.
    noise : float, default 0.1
        Standard deviation of the Gaussian error that is added to the curve.
    """

    width: float = parameter(0.1, positive)
    noise: float = parameter(0.1, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.exp(-0.5 * np.square(x / self.width))


@dataclass(frozen=True, repr=False)
class Cross(Regression):
    """Two crossing lines with noise.

    The model is y = x + noise e or y = -x + noise e, each with probability one half, so that x and
    y are uncorrelated but dependent.

    Parameters
    ----------
    noise : float, default 0.25
        Standard deviation of the Gaussian error that is added to the lines.
    """

    noise: float = parameter(0.25, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, y = super().draw(rng, n, m)
        return rng.choice((-1.0, 1.0), size=(n, 1)) * x, y


@dataclass(frozen=True, repr=False)
class Heteroscedastic(IndependenceDesign):
    """The spread of y depends on x.

    The model is y = exp(strength x) e, where x is uniform on [-1, 1] and e is standard Gaussian.

    Parameters
    ----------
    strength : float, default 0.65
        Slope of the log standard deviation of y in x; 0 means independence.
    """

    strength: float = parameter(0.65, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = rng.uniform(-1.0, 1.0, size=(n, 1))
        return x, np.exp(self.strength * x) * rng.standard_normal((n, 1))


@dataclass(frozen=True, repr=False)
class Circle(IndependenceDesign):
    """A circle with noise.

    The pairs are random points of the unit circle plus Gaussian noise, after M. A. Newton, Ann.
    Appl. Stat. 3 (2009).

    Parameters
    ----------
    noise : float, default 0.1
        Standard deviation of the error that is added to both coordinates.
    """

    noise: float = parameter(0.1, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        angle = rng.uniform(0.0, 2.0 * math.pi, size=(n, 1))
        x, y = (
            shape(angle) + self.noise * rng.standard_normal((n, 1)) for shape in (np.cos, np.sin)
        )
        return x, y


@dataclass(frozen=True, repr=False)
class MultiplicativeNoise(IndependenceDesign):
    """y is x times noise.

    The model is y = x u + noise e, coordinate by coordinate, where x, u and e are standard
    Gaussian, so that x and y are uncorrelated.  It is after [V19], which, however, has no added
    noise.

    Parameters
    ----------
    dimension : int, default 1
        Number of coordinates of each of the two variables.
    noise : float, default 0.4
        Standard deviation of the error that is added to the product.

    References
    ----------
    .. [V19] Vogelstein et al., "Discovering and deciphering relationships across disparate data
       modalities", eLife 8, 2019.
    """

    dimension: int = parameter(1, count, minimum=1)
    noise: float = parameter(0.4, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, u, e = rng.standard_normal((3, n, self.dimension))
        return x, x * u + self.noise * e


@dataclass(frozen=True, repr=False)
class Rotated(IndependenceDesign):
    """Rotated independent sources, in any dimension.

    Two uniform sources of unit variance are rotated by ``angle``, as in a benchmark of [G07].  If
    ``dimension`` is above 1, each of the two mixtures is joined by Gaussian coordinates, and all
    are turned by a random orthogonal matrix in every trial.

    Parameters
    ----------
    angle : float, default pi/4
        Angle of the rotation in radians, from 0 (independent) to pi/4.
    dimension : int, default 1
        Number of coordinates of each variable, of which all but one are noise.

    References
    ----------
    .. [G07] Gretton et al., "A kernel statistical test of independence", NeurIPS, 2007.
    """

    angle: float = parameter(math.pi / 4, up_to, high=math.pi / 4)
    dimension: int = parameter(1, count, minimum=1)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        sources = rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), size=(n, 2))
        cosine = math.cos(self.angle)
        sine = math.sin(self.angle)
        mixed = sources @ np.array([[cosine, sine], [-sine, cosine]])
        return self._hidden(rng, mixed[:, :1]), self._hidden(rng, mixed[:, 1:])

    def _hidden(self, rng: np.random.Generator, mixed: Array) -> Array:
        if self.dimension == 1:
            return mixed
        noise = rng.standard_normal((len(mixed), self.dimension - 1))
        orthogonal, _ = np.linalg.qr(rng.standard_normal((self.dimension, self.dimension)))
        return np.hstack([mixed, noise]) @ orthogonal


def _cubic(z: Array) -> Array:
    t = z - 1.0 / 3.0
    return 128.0 * t**3 + 48.0 * t**2 - 12.0 * t


#: Curves y = f(w'x) of hyppo's simulations: f, the standard deviation of the noise, and the range
#: of x.
CURVES: dict[str, tuple[Callable[[Array], Array], float, float, float]] = {
    "linear": (lambda z: z, 1.0, -1.0, 1.0),
    "exponential": (np.exp, 10.0, 0.0, 3.0),
    "cubic": (_cubic, 80.0, -1.0, 1.0),
    "step": (lambda z: (z > 0).astype(np.float64), 1.0, -1.0, 1.0),
    "quadratic": (np.square, 0.5, -1.0, 1.0),
    "fourth-root": (lambda z: np.abs(z) ** 0.25, 0.25, -1.0, 1.0),
}
#: Names of all simulations.
SIMULATIONS = (
    *CURVES,
    *(
        "joint-normal",
        "w-shaped",
        "spiral",
        "uncorrelated-bernoulli",
        "logarithmic",
        "sine-4pi",
        "sine-16pi",
    ),
    *(
        "square",
        "two-parabolas",
        "circle",
        "ellipse",
        "diamond",
        "multiplicative-noise",
        "multimodal-independence",
    ),
)


def _weighted(x: Array) -> Array:
    """Return the projections w'x (n, 1) with w = (1, 1/2, 1/3, ...)."""
    return x @ (1.0 / np.arange(1, x.shape[1] + 1))[:, None]


def _polar(angles: Array) -> tuple[Array, Array]:
    """Return points of the unit sphere by their angles (n, p).

    Return all of the coordinates but one, and that one.
    """
    x: Array = np.cumprod(np.cos(angles), axis=1, dtype=np.float64)
    x[:, :-1] *= np.sin(angles[:, 1:])
    return x, np.sin(angles[:, :1])


@dataclass(frozen=True, repr=False)
class HyppoSimulation(IndependenceDesign):
    """A simulation of dependence from hyppo's twenty.

    The settings are those of [V19] and [P19], published with n = 100 and p = 1.

    Parameters
    ----------
    relationship : str, default "linear"
        Name of the simulation, such as "spiral", "w-shaped" or "multiplicative-noise".
    noise : float, default 1.0
        Factor of the published noise, so that 0 leaves the relationship without noise.
    dimension : int, default 1
        Number p of coordinates of x, and in some simulations of y.

    Notes
    -----
    If p > 1, curves are functions of w'x with w = (1, 1/2, 1/3, ...), whereas "spiral", "circle"
    and "ellipse" are on a sphere.  y has p coordinates in "joint-normal" (where every x has
    correlation 1/(2p) with every y), "logarithmic", the sines, the squares, "multiplicative-noise"
    and "multimodal-independence".  In "cubic" the last term is linear, as in the formula of [V19],
    although the code of hyppo cubes it.  [V19] has Var y = 1.5 in "joint-normal" and 2 log_2 abs(x)
    in "logarithmic", but here both are as in hyppo.

    References
    ----------
    .. [P19] Panda et al., "hyppo: a multivariate hypothesis testing Python package",
       arXiv:1907.02088, 2019.
    .. [V19] Vogelstein et al., "Discovering and deciphering relationships across disparate data
       modalities", eLife 8, 2019.
    """

    relationship: str = parameter("linear", choice, known=SIMULATIONS)
    noise: float = parameter(1.0, positive, allow_zero=True)
    dimension: int = parameter(1, count, minimum=1)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        p = self.dimension
        noise = self.noise
        normal = rng.standard_normal
        match self.relationship:
            case "joint-normal":
                x, own = normal((2, n, p))
                shared = x.mean(axis=1, keepdims=True) / 2.0
                y = own + shared - (1.0 - math.sqrt(0.75)) * own.mean(axis=1, keepdims=True)
                return x, y + noise * 0.5 * normal((n, p))
            case "w-shaped":
                x = rng.uniform(-1.0, 1.0, size=(n, p))
                u = rng.random((n, p))
                y = 4.0 * (np.square(np.square(_weighted(x)) - 0.5) + _weighted(u) / 500.0)
                return x, y + noise * 0.5 * normal((n, 1))
            case "spiral":
                radius = rng.uniform(0.0, 5.0, size=(n, 1))
                x, y = _polar(np.repeat(math.pi * radius, p, axis=1))
                return radius * x, radius * y + noise * 0.4 * p * normal((n, 1))
            case "uncorrelated-bernoulli":
                x = rng.choice((0.0, 1.0), size=(n, p)) + noise * 0.5 * normal((n, p))
                sign = rng.choice((-1.0, 1.0), size=(n, 1))
                return x, sign * _weighted(x) + noise * 0.5 * normal((n, 1))
            case "logarithmic":
                x, e = normal((2, n, p))
                return x, np.log(np.square(x)) + noise * 3.0 * e
            case "sine-4pi" | "sine-16pi":
                waves, scale = (4, 1.0) if self.relationship == "sine-4pi" else (16, 0.5)
                x = rng.uniform(-1.0, 1.0, size=(n, p)) + noise * 0.02 * p * normal((n, p))
                return x, np.sin(waves * math.pi * x) + noise * scale * normal((n, p))
            case "square" | "diamond":
                angle = -math.pi / (8 if self.relationship == "square" else 4)
                u, v = rng.uniform(-1.0, 1.0, size=(2, n, p))
                x = u * math.cos(angle) + v * math.sin(angle) + noise * 0.05 * p * normal((n, p))
                return x, v * math.cos(angle) - u * math.sin(angle)
            case "two-parabolas":
                x = rng.uniform(-1.0, 1.0, size=(n, p))
                u = rng.random((n, 1))
                return x, (np.square(_weighted(x)) + noise * 2.0 * u) * rng.choice(
                    (-0.5, 0.5), size=(n, 1)
                )
            case "circle" | "ellipse":
                x, y = _polar(rng.uniform(-math.pi, math.pi, size=(n, p)))
                return (1.0 if self.relationship == "circle" else 5.0) * (
                    x + noise * 0.4 * normal((n, p))
                ), y
            case "multiplicative-noise":
                x, e = normal((2, n, p))
                return x, x * e
            case "multimodal-independence":
                x, y = normal((2, n, p)) / 3.0 + rng.choice((-1.0, 1.0), size=(2, n, p))
                return x, y
        function, scale, low, high = CURVES[self.relationship]
        x = rng.uniform(low, high, size=(n, p))
        return x, function(_weighted(x)) + noise * scale * normal((n, 1))
