"""Eckerle4, two variables joined by a narrow peak: subsamples of the 35 measured points, and simulations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, positive
from shrinktest.datasets import RESIDUAL_SD, load_eckerle4, simulate_eckerle
from shrinktest.kernels import median_bandwidth
from shrinktest.power.designs.base import IndependenceDesign, parameter

#: Number of points in the data set.
POINTS = 35


@dataclass(frozen=True, repr=False)
class EckerleSubsample(IndependenceDesign):
    """Points of Eckerle4 drawn without replacement: wavelength and transmittance.

    Parameters
    ----------
    bandwidth : {"all", "median"}, default "all"
        "all": the tests use the median bandwidths of all 35 points, as the published study did.  "median": those of
        each subsample.

    Notes
    -----
    The study of [X20] Table 4.  It subsamples fractions of the 35 points, see ``size``.  Because the points are drawn
    without replacement, a test sees the dependence in the data set itself; the null twin takes wavelengths and
    transmittances from two independent subsamples.

    Examples
    --------
    >>> design = EckerleSubsample()
    >>> [design.size(fraction) for fraction in (0.1, 0.15, 0.2, 0.25, 0.3)]
    [4, 5, 7, 9, 11]
    >>> wavelength, transmittance = design.sample(0, n=design.size(0.3))
    >>> wavelength.shape, transmittance.shape
    ((11, 1), (11, 1))
    >>> {name: round(value, 4) for name, value in design.options().items()}
    {'bandwidth_x': 24.0, 'bandwidth_y': 0.0543}
    """

    name: ClassVar[str] = "eckerle4"
    summary: ClassVar[str] = "subsamples of the 35 points of Eckerle4"

    bandwidth: str = parameter("all", choice, known=("all", "median"))

    @staticmethod
    def size(fraction: float) -> int:
        """The number of points that a fraction of the data set is; halves round up."""
        size = math.floor(POINTS * positive(fraction, "fraction") + 0.5)
        if not 2 <= size <= POINTS:
            raise ValueError(
                f"fraction must give 2 to {POINTS} of the {POINTS} points of Eckerle4; {fraction} gives {size}"
            )
        return size

    def _sizes(self, n: Any, m: Any) -> tuple[int, int]:
        n, m = super()._sizes(n, m)
        if n > POINTS:
            raise ValueError(
                f"Eckerle4 has {POINTS} points and a subsample of {n} was asked for; use n <= {POINTS}, or "
                "EckerleSimulation, which has no limit"
            )
        return n, m

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        rows = rng.choice(POINTS, size=n, replace=False)
        wavelength, transmittance = load_eckerle4()
        return wavelength[rows, np.newaxis], transmittance[rows, np.newaxis]

    def options(self) -> dict[str, Any]:
        if self.bandwidth == "median":
            return {}
        data = load_eckerle4()
        return {
            "bandwidth_x": median_bandwidth(data.wavelength),
            "bandwidth_y": median_bandwidth(data.transmittance),
        }


@dataclass(frozen=True, repr=False)
class EckerleSimulation(IndependenceDesign):
    """Data like Eckerle4 at any sample size: uniform wavelengths, NIST's certified curve, Gaussian noise.

    Parameters
    ----------
    noise : float, optional
        Standard deviation of the noise, at least 0; by default the residual one that NIST certifies.

    Notes
    -----
    See :func:`shrinktest.datasets.simulate_eckerle`.

    Examples
    --------
    >>> wavelength, transmittance = EckerleSimulation(noise=0.02).sample(0, n=100)
    >>> wavelength.shape, transmittance.shape
    ((100, 1), (100, 1))
    """

    name: ClassVar[str] = "eckerle-simulation"
    summary: ClassVar[str] = "simulations from the model of Eckerle4"

    noise: float = parameter(RESIDUAL_SD, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        wavelength, transmittance = simulate_eckerle(n, self.noise, rng)
        return wavelength[:, np.newaxis], transmittance[:, np.newaxis]
