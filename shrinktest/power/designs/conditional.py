"""Two variables that share what others say of them, and depend on each other besides, or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import Design, parameter
from shrinktest.results.info import CONDITIONAL

SHAPES = ("linear", "smooth", "rough", "heavy-tailed", "spread")
HOWS = ("mean", "turning", "square")


@dataclass(frozen=True, repr=False)
class Confounded(Design):
    """x = strength f(u) + s e and y = strength f(u) + s (e' + effect g(e)), with u the scaled sum of the given columns.

    Parameters
    ----------
    shape : {"linear", "smooth", "rough", "heavy-tailed", "spread"}
        What both variables share: f(u) = u; u + cos(2 u); a saw with two teeth a unit; u, where noise and columns have
        a t distribution with three degrees of freedom; u, where noise has the standard deviation s = exp(0.5 u).
    columns : int, default 1
        Given columns, standard Gaussian but for "heavy-tailed".
    strength : float, default 1.0
        Strength of what they share, beside noise of standard deviation 1.
    effect : float, default 0.5
        Effect of the noise of x on y; at 0 the variables are independent given the columns.
    how : {"mean", "turning", "square"}
        g(e) = e; e with the sign of the first given column, so that on average there is nothing; (e^2 - 1) / sqrt(2).

    Examples
    --------
    >>> X, Y, Z = Confounded("smooth", columns=5).sample(0, n=100)
    >>> X.shape, Y.shape, Z.shape, Confounded("smooth", columns=5).null()
    ((100, 1), (100, 1), (100, 5), Confounded(shape='smooth', columns=5, effect=0.0))
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
        """What both variables share, f(u) (n, 1), of given columns (n, columns)."""
        u = z.sum(axis=1, keepdims=True) / math.sqrt(self.columns)
        return {"smooth": u + np.cos(2.0 * u), "rough": math.sqrt(3.0) * (4.0 * u % 2.0 - 1.0)}.get(self.shape, u)

    def smallest(self) -> int:
        return 10
