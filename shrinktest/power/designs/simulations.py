"""The twenty simulations of dependence with which hyppo and its tests were published."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import IndependenceDesign, parameter

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
    """One of hyppo's twenty simulations of dependence, with the noise it was published with.

    Parameters
    ----------
    relationship : str, default "linear"
        Which one, with e and e' standard Gaussian, U uniform on [0, 1], B and B' 0 or 1 with equal chances, and x
        uniform on [-1, 1] unless it is said otherwise:

        - "linear": x + e;
        - "exponential": exp(x) + 10 e, x uniform on [0, 3];
        - "cubic": 128 t^3 + 48 t^2 - 12 t + 80 e, t = x - 1/3;
        - "joint-normal": x and y are Gaussian with correlation 1/2, and 0.5 e is added to y;
        - "step": 1[x > 0] + e;
        - "quadratic": x^2 + 0.5 e;
        - "w-shaped": 4 ((x^2 - 1/2)^2 + U/500) + 0.5 e;
        - "spiral": x = z cos(pi z), y = z sin(pi z) + 0.4 e, z uniform on [0, 5];
        - "uncorrelated-bernoulli": x = B + 0.5 e, y = (2B' - 1) x + 0.5 e';
        - "logarithmic": log(x^2) + 3 e, x Gaussian;
        - "fourth-root": abs(x)^(1/4) + 0.25 e;
        - "sine-4pi": sin(4 pi x) + e, and 0.02 e' is added to x before;
        - "sine-16pi": sin(16 pi x) + 0.5 e, and 0.02 e' is added to x before;
        - "square": a square that is turned by -pi/8, and 0.05 e is added to x;
        - "two-parabolas": (x^2 + 2U) (B - 1/2);
        - "circle": x = cos(z) + 0.4 e, y = sin(z), z uniform on [-pi, pi];
        - "ellipse": x = 5 (cos(z) + 0.4 e), y = sin(z), z uniform on [-pi, pi];
        - "diamond": a square that is turned by -pi/4, and 0.05 e is added to x;
        - "multiplicative-noise": x e, x Gaussian;
        - "multimodal-independence": x = 2B - 1 + e/3 and y alike, independent of it.
    noise : float, default 1.0
        What e, e' and, in "two-parabolas", U are multiplied by: 0 shows the curve.  The last two have no noise that is
        added, and stay as they are.
    dimension : int, default 1
        p: number of coordinates of x.

    Notes
    -----
    The simulations of [V19] and [P19], published with n = 100 and p = 1.  For p > 1, curves are those of w'x with
    w = (1, 1/2, 1/3, ...); "spiral", "circle" and "ellipse" are on a sphere; y has p coordinates in "joint-normal"
    (where every x is correlated 1/(2p) with every y), "logarithmic", the sines, "square", "diamond" and the last two,
    and one otherwise.  The noise of "spiral", of the squares and of x in the sines is multiplied by p.  In "cubic" the
    last term is linear, as in the formula of [V19]; the code of hyppo cubes it.  [V19] has Var y = 1.5 in
    "joint-normal" and 2 log_2 abs(x) in "logarithmic"; both are here as in hyppo.

    Several of them are designs of their own, with noise that suits smaller samples: :class:`Linear`, :class:`Step`,
    :class:`Quadratic`, :class:`WShape`, :class:`Sinusoid`, :class:`Circle` and :class:`MultiplicativeNoise`.

    Examples
    --------
    >>> x, y = HyppoSimulation("w-shaped", dimension=3).sample(0, n=100)
    >>> x.shape, y.shape
    ((100, 3), (100, 1))
    >>> x, y = HyppoSimulation("circle", noise=0.0).sample(0, n=100)
    >>> bool(np.allclose(x**2 + y**2, 1.0))
    True
    """

    name: ClassVar[str] = "hyppo-simulation"
    summary: ClassVar[str] = "one of hyppo's twenty simulations; a line with noise"

    relationship: str = parameter("linear", choice, known=SIMULATIONS)
    noise: float = parameter(1.0, positive, allow_zero=True)
    dimension: int = parameter(1, count, minimum=1)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return SIMULATIONS[self.relationship](rng, n, self.dimension, self.noise)
