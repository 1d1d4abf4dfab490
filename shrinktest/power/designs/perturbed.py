"""Two uniform variables whose joint density has bumps and dents: dependence at a fine scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shrinktest._check import Array, count
from shrinktest.power.designs.base import IndependenceDesign, parameter, up_to
from shrinktest.power.designs.two_sample import MOST_CELLS, PerturbedUniform


@dataclass(frozen=True, repr=False)
class PerturbedDependence(IndependenceDesign):
    """The two halves of the coordinates of a perturbed uniform: uniform each, dependent together.

    Parameters
    ----------
    dimension : int, default 1
        Number of coordinates of each variable.
    perturbations : int, default 2
        P: how many bumps, each with its dent, follow each other along a side of the cube; P^(2 dimension) in all.
    amplitude : float, default 1.0
        Height of the bumps relative to the highest possible, from 0 to 1 (where the density touches zero).

    Notes
    -----
    The joint density is that of :class:`PerturbedUniform` in 2 ``dimension`` variables, with random signs that are
    drawn anew in every trial: the densities of [S22], after [A22], published with one coordinate each, P = 2 and
    n = 1000.
    A bump and its dent have the same mass, so that the margins are uniform, and the null twin has independent uniform
    variables.

    Examples
    --------
    >>> x, y = PerturbedDependence(perturbations=1).sample(0, n=10_000)
    >>> bool(abs((x < 0.5).mean() - 0.5) < 0.02), bool(abs(((x < 0.5) == (y < 0.5)).mean() - 0.5) > 0.15)
    (True, True)
    """

    name: ClassVar[str] = "perturbed-dependence"
    summary: ClassVar[str] = "uniform variables whose joint density has bumps and dents"

    dimension: int = parameter(1, count, minimum=1)
    perturbations: int = parameter(2, count, minimum=1)
    amplitude: float = parameter(1.0, up_to, high=1.0)

    def _check(self) -> None:
        if self.perturbations ** (2 * self.dimension) > MOST_CELLS:
            raise ValueError(
                f"perturbations**(2 dimension) must be at most {MOST_CELLS}, "
                f"got {self.perturbations}**{2 * self.dimension}; lower perturbations or dimension"
            )

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        _, both = PerturbedUniform(2 * self.dimension, self.perturbations, self.amplitude).draw(rng, 0, n)
        return both[:, : self.dimension], both[:, self.dimension :]
