"""Two variables that depend on each other without a curve: changing spread, a circle, products, rotated sources."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shrinktest._check import Array, count, positive
from shrinktest.power.designs.base import IndependenceDesign, parameter, up_to


@dataclass(frozen=True, repr=False)
class Heteroscedastic(IndependenceDesign):
    """y = exp(strength x) e, with x uniform on [-1, 1] and e standard Gaussian: the spread depends on x, the mean not.

    Parameters
    ----------
    strength : float, default 0.65
        Standard deviations of y range over a factor exp(2 strength); at 0 the variables are independent.

    Examples
    --------
    >>> x, y = Heteroscedastic(strength=1.0).sample(0, n=10_000)
    >>> bool(y[x > 0.5].std() > 2 * y[x < -0.5].std())
    True
    """

    name: ClassVar[str] = "heteroscedastic"
    summary: ClassVar[str] = "the spread of y depends on x"

    strength: float = parameter(0.65, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = rng.uniform(-1.0, 1.0, size=(n, 1))
        return x, np.exp(self.strength * x) * rng.standard_normal((n, 1))


@dataclass(frozen=True, repr=False)
class Circle(IndependenceDesign):
    """Points of the unit circle plus noise in both coordinates.

    Parameters
    ----------
    noise : float, default 0.1
        Standard deviation of the noise.

    Notes
    -----
    M. A. Newton, Introducing the discussion paper by Szekely and Rizzo, Ann. Appl. Stat. 3 (2009).  The median
    bandwidth is wide for it: without noise, 40 points give HSIC a power of .33.

    Examples
    --------
    >>> x, y = Circle(noise=0.0).sample(0, n=100)
    >>> bool(np.allclose(x**2 + y**2, 1.0))
    True
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

    Parameters
    ----------
    dimension : int, default 1
        Number of coordinates of each variable.
    noise : float, default 0.4
        Standard deviation of the noise that is added.

    Notes
    -----
    J. T. Vogelstein et al., Discovering and deciphering relationships across disparate data modalities, eLife 8 (2019),
    where nothing is added.

    Examples
    --------
    >>> x, y = MultiplicativeNoise(dimension=2).sample(0, n=100)
    >>> x.shape, y.shape
    ((100, 2), (100, 2))
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

    Parameters
    ----------
    angle : float, default pi/4
        Angle of the rotation, from 0, where the variables are independent, to pi/4.
    dimension : int, default 1
        Number of coordinates of each variable: the mixture and dimension - 1 of standard Gaussian noise, turned by a
        random orthogonal matrix that is drawn anew in every trial.

    Notes
    -----
    A benchmark of [G07], with uniform sources of unit variance.
    It is hard: 80 points give HSIC a power of .7 at the default angle.

    Examples
    --------
    >>> x, y = Rotated(dimension=3).sample(0, n=10_000)
    >>> bool(np.allclose(np.cov(x.T), np.eye(3), atol=0.05))
    True
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
