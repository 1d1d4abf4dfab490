"""More than two: samples of which one is apart, and variables that are dependent only all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, count, positive
from shrinktest.power.designs.base import Design, parameter, up_to
from shrinktest.results.info import JOINT, K_SAMPLE


@dataclass(frozen=True, repr=False)
class OneApart(Design):
    """Samples of a standard Gaussian, the last one with its mean moved.

    Parameters
    ----------
    samples : int, default 3
        How many.
    dimension : int, default 10
        Number of variables.
    shift : float, default 1.0
        How far the mean of the last sample moves in the first coordinate, in standard deviations.
    ratio : float, default 1.0
        Size of the last sample over that of each of the others; halves round up.

    Examples
    --------
    >>> [len(sample) for sample in OneApart(samples=4, ratio=0.5).sample(0, n=20)]
    [20, 20, 20, 10]
    """

    name: ClassVar[str] = "one-apart"
    summary: ClassVar[str] = "several Gaussian samples, one with another mean"
    test: ClassVar[str] = K_SAMPLE.name  # type: ignore[assignment]
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}

    samples: int = parameter(3, count, minimum=2)
    dimension: int = parameter(10, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    ratio: float = parameter(1.0, positive)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        sizes = [n] * (self.samples - 1) + [m]
        found = [rng.standard_normal((size, self.dimension)) for size in sizes]
        found[-1][:, 0] += self.shift
        return tuple(found)


@dataclass(frozen=True, repr=False)
class Parity(Design):
    """Standard Gaussian variables of which all but one are independent, and the signs of all depend on each other.

    Parameters
    ----------
    variables : int, default 3
        How many.
    strength : float from 0 to 1, default 0.8
        How often the sign of the last variable is that of the product of the others; otherwise it is drawn anew.

    Notes
    -----
    Any of the variables but one are independent, so that no test of fewer than all can find anything; for three, the
    example of S. N. Bernstein.

    Examples
    --------
    >>> x, y, z = Parity(strength=1.0).sample(0, n=500)
    >>> bool((x * y * z > 0).all())
    True
    """

    name: ClassVar[str] = "parity"
    summary: ClassVar[str] = "variables that are dependent only all together"
    test: ClassVar[str] = JOINT.name  # type: ignore[assignment]
    neutral: ClassVar[dict[str, Any]] = {"strength": 0.0}

    variables: int = parameter(3, count, minimum=2)
    strength: float = parameter(0.8, up_to, high=1.0)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        found = rng.standard_normal((self.variables, n, 1))
        signs = np.sign(found[:-1]).prod(axis=0)
        tied = rng.random((n, 1)) < self.strength
        found[-1] = np.where(tied, np.abs(found[-1]) * signs, found[-1])
        return tuple(found)
