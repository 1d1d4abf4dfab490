"""More than two: samples of which one is apart, and variables that are dependent only all together."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shrinktest._validate import Array, as_rng, count, positive
from shrinktest.power.designs.base import Design, parameter, up_to


class SeveralDesign(Design):
    """A design of more than two samples or variables: ``sample`` returns a tuple of as many arrays."""

    #: The parameters at which nothing is to be found.
    neutral: ClassVar[dict[str, Any]]

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:  # type: ignore[override]
        """Draw the data of one trial: n observations in the first sample, or of all variables."""
        if m is not None:
            raise ValueError(f"{self!r} draws more than two; leave out m (got n={n}, m={m})")
        return self._several(as_rng(rng), self._size(n, "n"))

    def _draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        raise TypeError(f"{self!r} draws more than two; call sample")

    @abstractmethod
    def _several(self, rng: np.random.Generator, n: int) -> tuple[Array, ...]:
        """The samples or variables, for a size that was checked."""

    def null(self) -> Design:
        twin = replace(self, **self.neutral)  # type: ignore[type-var]  # every subclass is a dataclass
        return self if twin == self else twin


@dataclass(frozen=True, repr=False)
class OneApart(SeveralDesign):
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
    test: ClassVar[str] = "k-sample"  # type: ignore[assignment]
    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}

    samples: int = parameter(3, count, minimum=2)
    dimension: int = parameter(10, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    ratio: float = parameter(1.0, positive)

    def _several(self, rng: np.random.Generator, n: int) -> tuple[Array, ...]:
        sizes = [n] * (self.samples - 1) + [max(2, math.floor(n * self.ratio + 0.5))]
        found = [rng.standard_normal((size, self.dimension)) for size in sizes]
        found[-1][:, 0] += self.shift
        return tuple(found)


@dataclass(frozen=True, repr=False)
class Parity(SeveralDesign):
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
    test: ClassVar[str] = "joint-independence"  # type: ignore[assignment]
    neutral: ClassVar[dict[str, Any]] = {"strength": 0.0}

    variables: int = parameter(3, count, minimum=2)
    strength: float = parameter(0.8, up_to, high=1.0)

    def _several(self, rng: np.random.Generator, n: int) -> tuple[Array, ...]:
        found = rng.standard_normal((self.variables, n, 1))
        signs = np.sign(found[:-1]).prod(axis=0)
        tied = rng.random((n, 1)) < self.strength
        found[-1] = np.where(tied, np.abs(found[-1]) * signs, found[-1])
        return tuple(found)


#: Designs of more than two by name.
SEVERAL: dict[str, type[SeveralDesign]] = {kind.name: kind for kind in (OneApart, Parity)}
