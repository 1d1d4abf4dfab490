"""Designs of other tests: several samples or variables, changes, symmetry, and confounders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import Design, TwoSampleDesign, parameter, up_to
from shrinktest.power.designs.standard import MeanShift
from shrinktest.results.info import CHANGE, CONDITIONAL, JOINT, K_SAMPLE, SYMMETRY

#: The relationship of confounded variables with the conditioning ones, and with each other.
SHAPES = ("linear", "smooth", "rough", "heavy-tailed", "spread")
HOWS = ("mean", "turning", "square")

_SHIFT = MeanShift()


@dataclass(frozen=True, repr=False)
class OneApart(Design):
    """Several Gaussian samples, one with another mean.

    The first coordinate of the last sample moves by ``shift``, whereas all other samples are
    standard Gaussian.

    Parameters
    ----------
    samples : int, default 3
        Number of samples, at least 2.
    dimension : int, default 10
        Number of coordinates of every observation.
    shift : float, default 1.0
        Mean of the first coordinate in the last sample, in standard deviations.
    ratio : float, default 1.0
        Size of the last sample over the size of each other sample.
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
    """Variables that are jointly dependent but pairwise independent.

    The variables are Gaussian, and with probability ``strength`` the sign of the last one is the
    product of the other signs (S. N. Bernstein's example).  With two variables, these are
    dependent.

    Parameters
    ----------
    variables : int, default 3
        Number of variables, each of which has one column.
    strength : float, default 0.8
        Probability that the sign of the last variable is the product of the other signs.
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

    Rows come from the first sample of ``design`` except between ``at`` and ``until``, where they
    come from the second.  If ``until`` is below 1, tests look for an epidemic change.

    Parameters
    ----------
    design : TwoSampleDesign, default MeanShift()
        Two-sample design whose samples are the rows before and after the change.
    at : float, default 0.5
        Fraction of the series before the change, from 0 to below 1.
    until : float, default 1.0
        Fraction of the series at which the change ends, above ``at``.

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
        """Return the first row of the change and the first row after it, of n rows."""
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

    The columns are independent skew-normal variables (Azzalini 1985) of mean zero and variance one.

    Parameters
    ----------
    dimension : int, default 1
        Number of columns of the sample.
    delta : float, default 0.99
        Correlation of a column with the half-normal variable that it contains, from 0 (normal) to 1
        (half-normal).
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
    """Two variables that share confounders and depend on each other beyond these.

    The variables are x = strength f(u) + s e and y = strength f(u) + s (e' + effect g(e)), where u
    is the scaled sum of the conditioning columns (confounders), and e and e' are independent noise.

    Parameters
    ----------
    shape : {"linear", "smooth", "rough", "heavy-tailed", "spread"}, default "linear"
        Relationship with the confounders: "linear" is f(u) = u, "smooth" is u + cos(2 u), and
        "rough" a sawtooth with two teeth per unit.  "heavy-tailed" is linear, but noise and columns
        follow a t distribution with three degrees of freedom; "spread" is linear with s = exp(0.5
        u).
    columns : int, default 1
        Number of conditioning columns that are drawn.
    strength : float, default 1.0
        Factor of the part that both variables share.
    effect : float, default 0.5
        Strength of the dependence that is left after conditioning; 0 is the null hypothesis.
    how : {"mean", "turning", "square"}, default "mean"
        Form of that dependence: "mean" is g(e) = e, "turning" e times the sign of the first column,
        and "square" (e^2 - 1) / sqrt(2).
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
        """Return f(u) (n, 1), which both variables share, from columns z (n, columns)."""
        u = z.sum(axis=1, keepdims=True) / math.sqrt(self.columns)
        return {"smooth": u + np.cos(2.0 * u), "rough": math.sqrt(3.0) * (4.0 * u % 2.0 - 1.0)}.get(
            self.shape, u
        )

    def smallest(self) -> int:
        return 10
