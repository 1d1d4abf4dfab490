"""A sample whose distribution is skewed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, count
from shrinktest.power.designs.base import Design, parameter, up_to
from shrinktest.results.info import SYMMETRY


@dataclass(frozen=True, repr=False)
class SkewNormal(Design):
    """Rows with independent skew-normal columns of mean zero and variance one (Azzalini 1985).

    Parameters
    ----------
    dimension : int, default 1
        Number of columns.
    delta : float, default 0.99
        Correlation of the column with the half-normal variable it contains: 0 is the normal distribution, which is
        symmetric about zero, and 1 the half-normal distribution.

    Examples
    --------
    >>> (X,) = SkewNormal(dimension=2).sample(0, n=1000)
    >>> X.shape, float((X[:, 0] ** 3).mean().round(1)), SkewNormal().null()
    ((1000, 2), 1.0, SkewNormal(delta=0.0))
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
