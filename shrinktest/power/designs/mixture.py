"""The papers' synthetic data: a random mixture of four Gaussians, and what may differ between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import TwoSampleDesign, parameter, up_to

WEIGHTS = (0.05, 0.3, 0.4, 0.25)
MEAN_RANGE = 10.0
WISHART_DF = 7
NOISE = 0.2

#: What may change, and the amount of it at which 40 + 40 points in ten dimensions decide about half of the time.
CHANGES = {
    "mixture": 0.4,
    "means": 3.0,
    "covariance": 2.7,
    "spread": 0.55,
    "weights": 0.9,
    "component": 12.0,
}

_FRACTIONS = ("mixture", "weights")


def _seed(value: Any, name: str) -> int | None:
    return None if value is None else count(value, name, minimum=0)


def _amount(value: Any, name: str) -> float | None:
    return None if value is None else positive(value, name, allow_zero=True)


class GaussianMixture(NamedTuple):
    """Weights (k,), means (k, d), and covariances (k, d, d) as factors (k, d, r) plus a multiple of the identity."""

    weights: Array
    means: Array
    factors: Array
    noise: float

    @classmethod
    def draw(cls, rng: np.random.Generator, dimension: int, wishart_scale: float) -> GaussianMixture:
        """A random one: means U(-10, 10)^d, covariances Wishart(c I, 7) + 0.2 I."""
        k = len(WEIGHTS)
        means = rng.uniform(-MEAN_RANGE, MEAN_RANGE, size=(k, dimension))
        factors = np.sqrt(wishart_scale) * rng.standard_normal((k, dimension, WISHART_DF))
        return cls(np.array(WEIGHTS), means, factors, NOISE)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Points (n, d)."""
        component = rng.choice(len(self.weights), size=n, p=self.weights)
        points = self.means[component]
        spread = np.einsum("ndr,nr->nd", self.factors[component], rng.standard_normal((n, self.factors.shape[2])))
        return points + spread + np.sqrt(self.noise) * rng.standard_normal(points.shape)


@dataclass(frozen=True, repr=False)
class Mixture(TwoSampleDesign):
    """The papers' mixture of four Gaussians against a changed one; the mixture is drawn anew in every trial.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables d.
    change : {"mixture", "means", "covariance", "spread", "weights", "component"}, default "mixture"
        What differs in the changed sample:

        - "mixture": each point comes, with probability ``amount``, from another mixture drawn in the same way;
        - "means": every mean moves by a Gaussian step with standard deviation ``amount`` in every coordinate;
        - "covariance": every covariance matrix is multiplied by 1 + ``amount``;
        - "spread": the means move apart, to 1 + ``amount`` times their distance from their common centre;
        - "weights": 1 - ``amount`` times the weights plus ``amount`` times the weights in reverse order;
        - "component": the mean of the heaviest component moves by ``amount`` in a random direction.
    amount : float, optional
        Size of the change, at least 0, where nothing changes; for "mixture" and "weights" at most 1.  By default what
        gives the standard test at 40 + 40 points in ten dimensions a power near one half: .4, 3, 2.7, .55, .9, 12.
    wishart_scale : float, default 2.0
        c of the covariances: 2 in [M14] and [X20], 3 in [S14].
    mixture_seed : int, optional
        Seed of the mixtures, which are then the same in every trial: the power is that against one alternative, not
        an average over many.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    Weights (.05, .3, .4, .25), means U(-10, 10)^d, covariances Wishart(c I, 7) + 0.2 I: the synthetic data of [M14]
    and [X20].  For d > 7 the Wishart matrix is singular and drawn as G G', G of d x 7 with N(0, c) entries.

    Examples
    --------
    >>> X, Y = Mixture(dimension=3, change="means").sample(0, n=20, m=30)
    >>> X.shape, Y.shape
    ((20, 3), (30, 3))
    >>> Mixture(change="means").null()
    Mixture(change='means', amount=0.0)
    """

    name: ClassVar[str] = "mixture"
    summary: ClassVar[str] = "the papers' mixtures of four Gaussians"
    neutral: ClassVar[dict[str, Any]] = {"amount": 0.0}

    dimension: int = parameter(10, count, minimum=1)
    change: str = parameter("mixture", choice, known=CHANGES)
    amount: float | None = parameter(None, _amount)
    wishart_scale: float = parameter(2.0, positive)
    mixture_seed: int | None = parameter(None, _seed)

    def _check(self) -> None:
        if self.amount is not None and self.change in _FRACTIONS:
            up_to(self.amount, f"amount of change={self.change!r}", high=1.0)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        source = rng if self.mixture_seed is None else np.random.default_rng(self.mixture_seed)
        mixture = GaussianMixture.draw(source, self.dimension, self.wishart_scale)
        changed = self._changed(mixture, source)
        return mixture.sample(rng, n), changed.sample(rng, m)

    def _changed(self, mixture: GaussianMixture, rng: np.random.Generator) -> GaussianMixture:
        amount = CHANGES[self.change] if self.amount is None else self.amount
        weights, means, factors, noise = mixture
        if self.change == "mixture":
            other = GaussianMixture.draw(rng, self.dimension, self.wishart_scale)
            return GaussianMixture(
                np.concatenate([(1.0 - amount) * weights, amount * other.weights]),
                np.concatenate([means, other.means]),
                np.concatenate([factors, other.factors]),
                noise,
            )
        if self.change == "means":
            return mixture._replace(means=means + amount * rng.standard_normal(means.shape))
        if self.change == "covariance":
            return mixture._replace(factors=np.sqrt(1.0 + amount) * factors, noise=(1.0 + amount) * noise)
        if self.change == "spread":
            centre = weights @ means
            return mixture._replace(means=centre + (1.0 + amount) * (means - centre))
        if self.change == "weights":
            return mixture._replace(weights=(1.0 - amount) * weights + amount * weights[::-1])
        direction = rng.standard_normal(self.dimension)
        moved = means.copy()
        moved[weights.argmax()] += amount * direction / np.linalg.norm(direction)
        return mixture._replace(means=moved)
