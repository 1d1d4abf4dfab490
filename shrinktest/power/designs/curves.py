"""Two variables joined by a curve: one is a function of the other plus noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shrinktest._check import Array, positive
from shrinktest.power.designs.base import IndependenceDesign, parameter


class Regression(IndependenceDesign):
    """y is a curve of x plus noise."""

    noise: float

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x = self._abscissae(rng, n)
        return x, self._curve(x) + self.noise * self._errors(rng, n)

    def _abscissae(self, rng: np.random.Generator, n: int) -> Array:
        return rng.uniform(-1.0, 1.0, size=(n, 1))

    @abstractmethod
    def _curve(self, x: Array) -> Array:
        """The mean of y at x, (n, 1) to (n, 1)."""

    def _errors(self, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_normal((n, 1))


@dataclass(frozen=True, repr=False)
class Linear(Regression):
    """y = x + noise e, with x and e standard Gaussian.

    Parameters
    ----------
    noise : float, default 2.25
        Standard deviation of the noise; the correlation is 1/sqrt(1 + noise^2).

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

    def _curve(self, x: Array) -> Array:
        return x


@dataclass(frozen=True, repr=False)
class LinearT(Linear):
    """y = x + noise t, with x standard Gaussian and noise of heavy tails.

    Parameters
    ----------
    noise : float, default 2.0
        Scale of the noise.
    df : float, default 3.0
        Degrees of freedom of t, above 0.

    Examples
    --------
    >>> x, y = LinearT().sample(0, n=1000)
    >>> bool(np.abs(y).max() > 10)
    True
    """

    name: ClassVar[str] = "linear-t"
    summary: ClassVar[str] = "a line with noise from Student's t"

    noise: float = parameter(2.0, positive, allow_zero=True)
    df: float = parameter(3.0, positive)

    def _errors(self, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_t(self.df, size=(n, 1))


@dataclass(frozen=True, repr=False)
class Step(Regression):
    """y = 1[x > 0] + noise e, with x uniform on [-1, 1].

    Parameters
    ----------
    noise : float, default 1.25
        Standard deviation of the noise.

    Notes
    -----
    One of the relationships compared by N. Simon and R. Tibshirani, Comment on "Detecting novel associations in large
    data sets", arXiv:1401.7645 (2014).

    Examples
    --------
    >>> x, y = Step(noise=0.0).sample(0, n=100)
    >>> bool((y == (x > 0)).all())
    True
    """

    name: ClassVar[str] = "step"
    summary: ClassVar[str] = "a step with noise"

    noise: float = parameter(1.25, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return (x > 0).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Quadratic(Regression):
    """y = x^2 + noise e, with x uniform on [-1, 1].

    Parameters
    ----------
    noise : float, default 0.45
        Standard deviation of the noise.

    Notes
    -----
    One of the relationships compared by N. Simon and R. Tibshirani, Comment on "Detecting novel associations in large
    data sets", arXiv:1401.7645 (2014).

    Examples
    --------
    >>> x, y = Quadratic(noise=0.0).sample(0, n=100)
    >>> bool((y == x**2).all())
    True
    """

    name: ClassVar[str] = "quadratic"
    summary: ClassVar[str] = "a parabola with noise"

    noise: float = parameter(0.45, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.square(x)


@dataclass(frozen=True, repr=False)
class Sinusoid(Regression):
    """y = sin(pi frequency x) + noise e, with x uniform on [-1, 1].

    Parameters
    ----------
    frequency : float, default 2.0
        Number of full waves between -1 and 1; the more, the finer the scale that a test must resolve.
    noise : float, default 0.3
        Standard deviation of the noise.

    Notes
    -----
    One of the relationships compared by N. Simon and R. Tibshirani, Comment on "Detecting novel associations in large
    data sets", arXiv:1401.7645 (2014).

    Examples
    --------
    >>> x, y = Sinusoid(frequency=1.0, noise=0.0).sample(0, n=100)
    >>> bool(np.allclose(y, np.sin(np.pi * x)))
    True
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

    Parameters
    ----------
    noise : float, default 0.3
        Standard deviation of the noise.

    Notes
    -----
    M. A. Newton, Introducing the discussion paper by Szekely and Rizzo, Ann. Appl. Stat. 3 (2009); the formula without
    noise is that of J. T. Vogelstein et al., Discovering and deciphering relationships, eLife 8 (2019).

    Examples
    --------
    >>> x, y = WShape(noise=0.0).sample(0, n=1000)
    >>> float(y.min().round(2)), float(y.max().round(2))
    (0.0, 1.0)
    """

    name: ClassVar[str] = "w-shape"
    summary: ClassVar[str] = "a curve like the letter W with noise"

    noise: float = parameter(0.3, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return 4.0 * np.square(np.square(x) - 0.5)


@dataclass(frozen=True, repr=False)
class Peak(Regression):
    """y = exp(-x^2 / (2 width^2)) + noise e, with x uniform on [-1, 1]: what Eckerle4 looks like.

    Parameters
    ----------
    width : float, default 0.1
        Width of the peak; that of Eckerle4 is 0.08 on this scale.
    noise : float, default 0.1
        Standard deviation of the noise.

    Examples
    --------
    >>> x, y = Peak(noise=0.0).sample(0, n=1000)
    >>> float((y > 0.5).mean().round(1))
    0.1
    """

    name: ClassVar[str] = "peak"
    summary: ClassVar[str] = "a narrow peak with noise"

    width: float = parameter(0.1, positive)
    noise: float = parameter(0.1, positive, allow_zero=True)

    def _curve(self, x: Array) -> Array:
        return np.exp(-0.5 * np.square(x / self.width))


@dataclass(frozen=True, repr=False)
class Cross(Regression):
    """y = x + noise e or y = -x + noise e, at random, with x uniform on [-1, 1]: uncorrelated.

    Parameters
    ----------
    noise : float, default 0.25
        Standard deviation of the noise.

    Examples
    --------
    >>> x, y = Cross(noise=0.0).sample(0, n=100)
    >>> bool((np.abs(x) == np.abs(y)).all())
    True
    """

    name: ClassVar[str] = "cross"
    summary: ClassVar[str] = "two crossing lines with noise"

    noise: float = parameter(0.25, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, y = super().draw(rng, n, m)
        return rng.choice((-1.0, 1.0), size=(n, 1)) * x, y

    def _curve(self, x: Array) -> Array:
        return x
