"""Designs of other tests: several samples, joint independence, series that change, symmetry, and given variables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import Design, TwoSampleDesign, parameter, up_to
from shrinktest.power.designs.two_sample import MeanShift
from shrinktest.results.info import CHANGE, CONDITIONAL, JOINT, K_SAMPLE, SYMMETRY

SHAPES = ("linear", "smooth", "rough", "heavy-tailed", "spread")
HOWS = ("mean", "turning", "square")

_SHIFT = MeanShift()


@dataclass(frozen=True, repr=False)
class OneApart(Design):
    """Samples of a standard Gaussian, the last one with the mean of its first coordinate moved by ``shift``.

    ``ratio`` is the size of the last sample over the size of each of the others.

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
        samples = [rng.standard_normal((size, self.dimension)) for size in sizes]
        samples[-1][:, 0] += self.shift
        return tuple(samples)


@dataclass(frozen=True, repr=False)
class Parity(Design):
    """Standard Gaussian variables of which all but one are independent, and the signs of all depend on each other.

    With probability ``strength`` the sign of the last variable is the product of the signs of the others; otherwise it
    is drawn anew.  For three variables, the example of S. N. Bernstein.
    """

    name: ClassVar[str] = "parity"
    summary: ClassVar[str] = "variables that are dependent only all together"
    test: ClassVar[str] = JOINT.name  # type: ignore[assignment]
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
    """A series of independent rows: from the first sample of a design, and after a change from the second.

    The change begins ``at`` this share of the rows and ends at ``until``; below 1 it is an epidemic change, and tests
    know that.  The null twin of the design makes the series without a change.

    Examples
    --------
    >>> design = Changed(MeanShift(dimension=2, shift=3.0), at=0.4)
    >>> (X,) = design.sample(0, n=50)
    >>> X.shape, float(X[:20].mean().round(1)), float(X[20:].mean().round(1)), design.null()
    ((50, 2), -0.1, 1.7, Changed(design=MeanShift(dimension=2, shift=0.0), at=0.4))
    """

    name: ClassVar[str] = "change"
    summary: ClassVar[str] = "a series of rows whose distribution changes"
    test: ClassVar[str] = CHANGE.name  # type: ignore[assignment]

    design: TwoSampleDesign = _SHIFT
    at: float = parameter(0.5, up_to, high=1.0, included=False)
    until: float = parameter(1.0, up_to, high=1.0)

    def _check(self) -> None:
        if not self.at < self.until:
            raise ValueError(f"until={self.until:g} must be above at={self.at:g}, where the change begins")

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
    """Rows with independent skew-normal columns of mean zero and variance one (Azzalini 1985).

    ``delta`` is the correlation of a column with the half-normal variable it contains: 0 is the normal distribution,
    which is symmetric about zero, and 1 the half-normal distribution.
    """

    name: ClassVar[str] = "skew-normal"
    summary: ClassVar[str] = "skewed columns of mean zero"
    test: ClassVar[str] = SYMMETRY.name  # type: ignore[assignment]
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
    """x = strength f(u) + s e and y = strength f(u) + s (e' + effect g(e)), with u the scaled sum of the given columns.

    ``shape``: "linear", f(u) = u; "smooth", u + cos(2 u); "rough", a saw with two teeth per unit; "heavy-tailed", u,
    and noise and columns have a t distribution with three degrees of freedom; "spread", u, and s = exp(0.5 u).
    ``how``: "mean", g(e) = e; "turning", e with the sign of the first column, so that there is no effect on average;
    "square", (e^2 - 1) / sqrt(2).  At ``effect`` 0 the variables are independent given the columns.
    """

    name: ClassVar[str] = "confounded"
    summary: ClassVar[str] = "two variables that depend on each other given others, which they share"
    test: ClassVar[str] = CONDITIONAL.name  # type: ignore[assignment]
    neutral: ClassVar[dict[str, Any]] = {"effect": 0.0}

    shape: str = parameter("linear", choice, known=SHAPES)
    columns: int = parameter(1, count, minimum=1)
    strength: float = parameter(1.0, positive, allow_zero=True)
    effect: float = parameter(0.5, positive, allow_zero=True)
    how: str = parameter("mean", choice, known=HOWS)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        noise = (lambda size: rng.standard_t(3, size)) if self.shape == "heavy-tailed" else rng.standard_normal
        z, e, other = noise((n, self.columns)), noise((n, 1)), noise((n, 1))
        shared = self.shared(z)
        spread = np.exp(0.5 * shared) if self.shape == "spread" else 1.0
        added = {"mean": e, "turning": e * np.sign(z[:, :1]), "square": (np.square(e) - 1.0) / math.sqrt(2.0)}[self.how]
        y = self.strength * shared + spread * (other + self.effect * added)
        return self.strength * shared + spread * e, y, z

    def shared(self, z: Array) -> Array:
        """Return f(u) (n, 1), which both variables share, for given columns (n, columns)."""
        u = z.sum(axis=1, keepdims=True) / math.sqrt(self.columns)
        return {"smooth": u + np.cos(2.0 * u), "rough": math.sqrt(3.0) * (4.0 * u % 2.0 - 1.0)}.get(self.shape, u)

    def smallest(self) -> int:
        return 10
