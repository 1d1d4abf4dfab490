"""Pairs (x, y) that depend on each other: curves with noise, other relationships, and hyppo's twenty simulations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import IndependenceDesign, parameter, up_to


class Regression(IndependenceDesign):
    """y is a curve of x plus ``noise`` times an error, with x uniform on [-1, 1]."""

    noise: float

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = self._abscissae(rng, n)
        return x, self._curve(x) + self.noise * self._errors(rng, n)

    def _abscissae(self, rng: np.random.Generator, n: int) -> Array:
        return rng.uniform(-1.0, 1.0, size=(n, 1))

    def _curve(self, x: Array) -> Array:
        """Mean of y at x, (n, 1) to (n, 1)."""
        return x

    def _errors(self, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_normal((n, 1))


@dataclass(frozen=True, repr=False)
class Linear(Regression):
    """y = x + noise e, with x and e standard Gaussian; the correlation is 1/sqrt(1 + noise^2).

    Examples
    --------
    >>> x, y = Linear(noise=0.75).sample(0, n=10_000)
    >>> float(np.corrcoef(x[:, 0], y[:, 0])[0, 1].round(2))
    0.8
    """

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "a line with Gaussian noise"

    noise: float = parameter(2.25, positive, allow_zero=True)

    def _abscissae(self, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_normal((n, 1))


@dataclass(frozen=True, repr=False)
class LinearT(Linear):
    """y = x + noise t, with x standard Gaussian and t of ``df`` degrees of freedom."""

    name: ClassVar[str] = "linear-t"
    summary: ClassVar[str] = "a line with noise from Student's t"

    noise: float = parameter(2.0, positive, allow_zero=True)
    df: float = parameter(3.0, positive)

    def _errors(self, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_t(self.df, size=(n, 1))


@dataclass(frozen=True, repr=False)
class Step(Regression):
    """y = 1[x > 0] + noise e, with x uniform on [-1, 1].

    From N. Simon and R. Tibshirani, Comment on "Detecting novel associations in large data sets", arXiv:1401.7645.
    """

    name: ClassVar[str] = "step"
    summary: ClassVar[str] = "a step with noise"

    noise: float = parameter(1.25, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return (x > 0).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Quadratic(Regression):
    """y = x^2 + noise e, with x uniform on [-1, 1]; from Simon and Tibshirani, arXiv:1401.7645 (2014)."""

    name: ClassVar[str] = "quadratic"
    summary: ClassVar[str] = "a parabola with noise"

    noise: float = parameter(0.45, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.square(x)


@dataclass(frozen=True, repr=False)
class Sinusoid(Regression):
    """y = sin(pi frequency x) + noise e, with x uniform on [-1, 1]: ``frequency`` full waves.

    From Simon and Tibshirani, arXiv:1401.7645 (2014).  More waves need a test with a finer scale.
    """

    name: ClassVar[str] = "sinusoid"
    summary: ClassVar[str] = "a sine wave with noise"

    frequency: float = parameter(2.0, positive)
    noise: float = parameter(0.3, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.sin(math.pi * self.frequency * x)


@dataclass(frozen=True, repr=False)
class WShape(Regression):
    """y = 4 (x^2 - 1/2)^2 + noise e, with x uniform on [-1, 1].

    M. A. Newton, Introducing the discussion paper by Szekely and Rizzo, Ann. Appl. Stat. 3 (2009); the formula without
    noise is that of J. T. Vogelstein et al., Discovering and deciphering relationships, eLife 8 (2019).
    """

    name: ClassVar[str] = "w-shape"
    summary: ClassVar[str] = "a curve like the letter W with noise"

    noise: float = parameter(0.3, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return 4.0 * np.square(np.square(x) - 0.5)


@dataclass(frozen=True, repr=False)
class Peak(Regression):
    """y = exp(-x^2 / (2 width^2)) + noise e, with x uniform on [-1, 1]; the width of Eckerle4 is 0.08 on this scale."""

    name: ClassVar[str] = "peak"
    summary: ClassVar[str] = "a narrow peak with noise"

    width: float = parameter(0.1, positive)
    noise: float = parameter(0.1, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.exp(-0.5 * np.square(x / self.width))


@dataclass(frozen=True, repr=False)
class Cross(Regression):
    """y = x + noise e or y = -x + noise e, at random, with x uniform on [-1, 1]: uncorrelated."""

    name: ClassVar[str] = "cross"
    summary: ClassVar[str] = "two crossing lines with noise"

    noise: float = parameter(0.25, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, y = super().draw(rng, n, m)
        return rng.choice((-1.0, 1.0), size=(n, 1)) * x, y


@dataclass(frozen=True, repr=False)
class Heteroscedastic(IndependenceDesign):
    """y = exp(strength x) e, with x uniform on [-1, 1] and e standard Gaussian: only the spread depends on x."""

    name: ClassVar[str] = "heteroscedastic"
    summary: ClassVar[str] = "the spread of y depends on x"

    strength: float = parameter(0.65, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = rng.uniform(-1.0, 1.0, size=(n, 1))
        return x, np.exp(self.strength * x) * rng.standard_normal((n, 1))


@dataclass(frozen=True, repr=False)
class Circle(IndependenceDesign):
    """Points of the unit circle plus ``noise`` in both coordinates.

    M. A. Newton, Introducing the discussion paper by Szekely and Rizzo, Ann. Appl. Stat. 3 (2009).  The median
    bandwidth is wide for it: without noise, 40 points give HSIC a power of .33.
    """

    name: ClassVar[str] = "circle"
    summary: ClassVar[str] = "a circle with noise"

    noise: float = parameter(0.1, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        angle = rng.uniform(0.0, 2.0 * math.pi, size=(n, 1))
        x, y = (shape(angle) + self.noise * rng.standard_normal((n, 1)) for shape in (np.cos, np.sin))
        return x, y


@dataclass(frozen=True, repr=False)
class MultiplicativeNoise(IndependenceDesign):
    """y = x u + noise e, coordinate by coordinate, with x, u and e standard Gaussian: uncorrelated.

    J. T. Vogelstein et al., Discovering and deciphering relationships across disparate data modalities, eLife 8 (2019),
    without the added noise.
    """

    name: ClassVar[str] = "multiplicative-noise"
    summary: ClassVar[str] = "y is x times noise"

    dimension: int = parameter(1, count, minimum=1)
    noise: float = parameter(0.4, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, u, e = rng.standard_normal((3, n, self.dimension))
        return x, x * u + self.noise * e


@dataclass(frozen=True, repr=False)
class Rotated(IndependenceDesign):
    """Two independent uniform sources mixed by a rotation, each then hidden in Gaussian dimensions: uncorrelated.

    A benchmark of [G07], with sources of unit variance and an ``angle`` from 0 (independent) to pi/4.  Each mixture and
    dimension - 1 Gaussian coordinates are turned by a random orthogonal matrix, drawn anew in every trial.  It is hard:
    80 points give HSIC a power of .7 at the default angle.
    """

    name: ClassVar[str] = "rotated"
    summary: ClassVar[str] = "rotated independent sources, in any dimension"

    angle: float = parameter(math.pi / 4, up_to, high=math.pi / 4)
    dimension: int = parameter(1, count, minimum=1)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        sources = rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), size=(n, 2))
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        mixed = sources @ np.array([[cosine, sine], [-sine, cosine]])
        return self._hidden(rng, mixed[:, :1]), self._hidden(rng, mixed[:, 1:])

    def _hidden(self, rng: np.random.Generator, mixed: Array) -> Array:
        if self.dimension == 1:
            return mixed
        noise = rng.standard_normal((len(mixed), self.dimension - 1))
        orthogonal, _ = np.linalg.qr(rng.standard_normal((self.dimension, self.dimension)))
        return np.hstack([mixed, noise]) @ orthogonal


#: Draws (x, y) from a source of random numbers, n, the dimension p, and what all noise is multiplied by.
Simulation = Callable[[np.random.Generator, int, int, float], tuple[Array, Array]]


def _curve(function: Callable[[Array], Array], scale: float, low: float = -1.0, high: float = 1.0) -> Simulation:
    """A curve of w'x plus noise, with x uniform."""

    def draw(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
        x = rng.uniform(low, high, size=(n, p))
        return x, function(_weighted(x)) + noise * scale * rng.standard_normal((n, 1))

    return draw


def _weighted(x: Array) -> Array:
    """The projections w'x (n, 1) with w = (1, 1/2, 1/3, ...)."""
    return x @ (1.0 / np.arange(1, x.shape[1] + 1))[:, None]


def _cubic(z: Array) -> Array:
    t = z - 1.0 / 3.0
    return 128.0 * t**3 + 48.0 * t**2 - 12.0 * t


def _joint_normal(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    """Var x = Var y = I, and every x correlated 1/(2p) with every y, before the noise."""
    x, own = rng.standard_normal((2, n, p))
    y = own + x.mean(axis=1, keepdims=True) / 2.0 - (1.0 - math.sqrt(0.75)) * own.mean(axis=1, keepdims=True)
    return x, y + noise * 0.5 * rng.standard_normal((n, p))


def _w_shaped(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    x, u = rng.uniform(-1.0, 1.0, size=(n, p)), rng.random((n, p))
    y = 4.0 * (np.square(np.square(_weighted(x)) - 0.5) + _weighted(u) / 500.0)
    return x, y + noise * 0.5 * rng.standard_normal((n, 1))


def _spiral(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    radius = rng.uniform(0.0, 5.0, size=(n, 1))
    x, y = _polar(np.repeat(math.pi * radius, p, axis=1))
    return radius * x, radius * y + noise * 0.4 * p * rng.standard_normal((n, 1))


def _ellipse(radius: float) -> Simulation:
    def draw(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
        x, y = _polar(rng.uniform(-math.pi, math.pi, size=(n, p)))
        return radius * (x + noise * 0.4 * rng.standard_normal((n, p))), y

    return draw


def _polar(angles: Array) -> tuple[Array, Array]:
    """A point (n, p + 1) of the unit sphere by its angles (n, p): all of its coordinates but one, and that one."""
    x: Array = np.cumprod(np.cos(angles), axis=1, dtype=np.float64)
    x[:, :-1] *= np.sin(angles[:, 1:])
    return x, np.sin(angles[:, :1])


def _uncorrelated_bernoulli(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    x = rng.choice((0.0, 1.0), size=(n, p)) + noise * 0.5 * rng.standard_normal((n, p))
    sign = rng.choice((-1.0, 1.0), size=(n, 1))
    return x, sign * _weighted(x) + noise * 0.5 * rng.standard_normal((n, 1))


def _logarithmic(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    x, e = rng.standard_normal((2, n, p))
    return x, np.log(np.square(x)) + noise * 3.0 * e


def _sine(waves: int, scale: float) -> Simulation:
    def draw(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
        x = rng.uniform(-1.0, 1.0, size=(n, p)) + noise * 0.02 * p * rng.standard_normal((n, p))
        return x, np.sin(waves * math.pi * x) + noise * scale * rng.standard_normal((n, p))

    return draw


def _square(angle: float) -> Simulation:
    def draw(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
        u, v = rng.uniform(-1.0, 1.0, size=(2, n, p))
        x = u * math.cos(angle) + v * math.sin(angle) + noise * 0.05 * p * rng.standard_normal((n, p))
        return x, v * math.cos(angle) - u * math.sin(angle)

    return draw


def _two_parabolas(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    x, u = rng.uniform(-1.0, 1.0, size=(n, p)), rng.random((n, 1))
    return x, (np.square(_weighted(x)) + noise * 2.0 * u) * rng.choice((-0.5, 0.5), size=(n, 1))


def _multiplicative_noise(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    x, e = rng.standard_normal((2, n, p))
    return x, x * e


def _multimodal_independence(rng: np.random.Generator, n: int, p: int, noise: float) -> tuple[Array, Array]:
    x, y = rng.standard_normal((2, n, p)) / 3.0 + rng.choice((-1.0, 1.0), size=(2, n, p))
    return x, y


#: The simulations by name.
SIMULATIONS: dict[str, Simulation] = {
    "linear": _curve(lambda z: z, 1.0),
    "exponential": _curve(np.exp, 10.0, low=0.0, high=3.0),
    "cubic": _curve(_cubic, 80.0),
    "joint-normal": _joint_normal,
    "step": _curve(lambda z: (z > 0).astype(np.float64), 1.0),
    "quadratic": _curve(np.square, 0.5),
    "w-shaped": _w_shaped,
    "spiral": _spiral,
    "uncorrelated-bernoulli": _uncorrelated_bernoulli,
    "logarithmic": _logarithmic,
    "fourth-root": _curve(lambda z: np.abs(z) ** 0.25, 0.25),
    "sine-4pi": _sine(4, 1.0),
    "sine-16pi": _sine(16, 0.5),
    "square": _square(-math.pi / 8),
    "two-parabolas": _two_parabolas,
    "circle": _ellipse(1.0),
    "ellipse": _ellipse(5.0),
    "diamond": _square(-math.pi / 4),
    "multiplicative-noise": _multiplicative_noise,
    "multimodal-independence": _multimodal_independence,
}


@dataclass(frozen=True, repr=False)
class HyppoSimulation(IndependenceDesign):
    """One of hyppo's twenty simulations of dependence, with the noise it was published with: [V19].

    ``noise`` multiplies e and e', standard Gaussian, and U, uniform on [0, 1]; B and B' are 0 or 1 with equal chances,
    and x is uniform on [-1, 1] unless stated otherwise: "linear", x + e; "exponential", exp(x) + 10 e, x on [0, 3];
    "cubic", 128 t^3 + 48 t^2 - 12 t + 80 e, t = x - 1/3; "joint-normal", correlation 1/2, plus 0.5 e; "step", 1[x > 0]
    + e; "quadratic", x^2 + 0.5 e; "w-shaped", 4 ((x^2 - 1/2)^2 + U/500) + 0.5 e; "spiral", x = z cos(pi z), y = z
    sin(pi z) + 0.4 e, z on [0, 5]; "uncorrelated-bernoulli", x = B + 0.5 e, y = (2B' - 1) x + 0.5 e'; "logarithmic",
    log(x^2) + 3 e, x Gaussian; "fourth-root", abs(x)^(1/4) + 0.25 e; "sine-4pi" and "sine-16pi", sin(4 pi x) + e and
    sin(16 pi x) + 0.5 e after 0.02 e' is added to x; "square" and "diamond", a square turned by -pi/8 and -pi/4, plus
    0.05 e in x; "two-parabolas", (x^2 + 2U) (B - 1/2); "circle" and "ellipse", x = r (cos(z) + 0.4 e), y = sin(z), r =
    1 and 5; "multiplicative-noise", x e, x Gaussian; "multimodal-independence", x = 2B - 1 + e/3 and y alike,
    independent.

    For p = ``dimension`` > 1, curves are those of w'x with w = (1, 1/2, 1/3, ...); "spiral", "circle" and "ellipse" are
    on a sphere; y has p coordinates in "joint-normal" (every x correlated 1/(2p) with every y), "logarithmic", the
    sines, "square", "diamond" and the last two.  The noise of "spiral", of the squares and of x in the sines is
    multiplied by p.  Published with n = 100 and p = 1, also in [P19].  In "cubic" the last term is linear, as in the
    formula of [V19]; the code of hyppo cubes it.  [V19] has Var y = 1.5 in "joint-normal" and 2 log_2 abs(x) in
    "logarithmic"; both are here as in hyppo.
    """

    name: ClassVar[str] = "hyppo-simulation"
    summary: ClassVar[str] = "one of hyppo's twenty simulations; a line with noise"

    relationship: str = parameter("linear", choice, known=SIMULATIONS)
    noise: float = parameter(1.0, positive, allow_zero=True)
    dimension: int = parameter(1, count, minimum=1)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return SIMULATIONS[self.relationship](rng, n, self.dimension, self.noise)
