"""Two-sample designs of the literature: mixtures of Gaussians, tilted modes, and many variables.

All take ``ratio`` (size of Y over size of X) and ``swap`` (X is the changed sample).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from shrinktest._check import Array, choice, count, positive
from shrinktest.power.designs.base import TwoSampleDesign, parameter, up_to

WEIGHTS = (0.05, 0.3, 0.4, 0.25)
MEAN_RANGE = 10.0
WISHART_DF = 7
NOISE = 0.2

#: What may change, and the amount of it at which 40 + 40 points in ten dimensions decide about half
#: of the time.
CHANGES = {"mixture": 0.4, "means": 3.0, "covariance": 2.7}

#: The off-diagonal of the covariance of every blob of [L20], row after row of the grid; the
#: diagonal is 0.03.
TILTS = np.array([-0.02, -0.022, -0.024, -0.026, 0.0, 0.02, 0.022, 0.024, 0.026])
VARIANCE = 0.03


def optional(value: Any, name: str, read: Any, **limits: Any) -> Any:
    """Return None, or the value as ``read`` checks it."""
    return None if value is None else read(value, name, **limits)


class GaussianMixture(NamedTuple):
    """Weights (k,), means (k, d), and covariances (k, d, d) in factored form.

    Covariances are factors (k, d, r) plus a multiple of the identity.
    """

    weights: Array
    means: Array
    factors: Array
    noise: float

    @classmethod
    def draw(
        cls, rng: np.random.Generator, dimension: int, wishart_scale: float
    ) -> GaussianMixture:
        """Draw means U(-10, 10)^d and covariances Wishart(c I, 7) + 0.2 I."""
        k = len(WEIGHTS)
        means = rng.uniform(-MEAN_RANGE, MEAN_RANGE, size=(k, dimension))
        factors = np.sqrt(wishart_scale) * rng.standard_normal((k, dimension, WISHART_DF))
        return cls(np.array(WEIGHTS), means, factors, NOISE)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw points (n, d)."""
        component = rng.choice(len(self.weights), size=n, p=self.weights)
        points = self.means[component]
        spread = np.einsum(
            "ndr,nr->nd", self.factors[component], rng.standard_normal((n, self.factors.shape[2]))
        )
        return points + spread + np.sqrt(self.noise) * rng.standard_normal(points.shape)


@dataclass(frozen=True, repr=False)
class Mixture(TwoSampleDesign):
    """A random mixture of four Gaussians against a changed one.

    The data of [M14] and [X20]: weights (.05, .3, .4, .25), means U(-10, 10)^d, covariances
    Wishart(c I, 7) + 0.2 I with c = ``wishart_scale``: 2 there, 3 in [S14].  ``mixture_seed`` fixes
    the mixtures, which are drawn anew in every trial otherwise.  ``change`` and its ``amount`` a,
    by default for a power near one half at 40 + 40 points:

    - "mixture": each point comes, with probability a, from another mixture drawn in the same way;
    - "means": every mean moves by a Gaussian step with standard deviation a in every coordinate;
    - "covariance": every covariance matrix is multiplied by 1 + a.
    """

    neutral: ClassVar[dict[str, Any]] = {"amount": 0.0}
    dimension: int = parameter(10, count, minimum=1)
    change: str = parameter("mixture", choice, known=CHANGES)
    amount: float | None = parameter(None, optional, read=positive, allow_zero=True)
    wishart_scale: float = parameter(2.0, positive)
    mixture_seed: int | None = parameter(None, optional, read=count, minimum=0)

    def _check(self) -> None:
        if self.amount is not None and self.change == "mixture":
            up_to(self.amount, "amount of change='mixture'", high=1.0)

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
        return mixture._replace(
            factors=np.sqrt(1.0 + amount) * factors, noise=(1.0 + amount) * noise
        )


# --- modes that keep their place and change their shape -------------------------------------------


@dataclass(frozen=True, repr=False)
class Corners(TwoSampleDesign):
    """Four distant Gaussians, one of them wider.

    Gaussians at (+-distance, +-distance); the one at two minus signs is wider by ``scale``: [B23],
    with n = 500. Further variables have mean 0.
    """

    neutral: ClassVar[dict[str, Any]] = {"scale": 1.0}
    dimension: int = parameter(2, count, minimum=2)
    scale: float = parameter(1.6, positive)
    distance: float = parameter(20.0, positive)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        signs = rng.choice((-1.0, 1.0), size=(n, 2))
        points = rng.standard_normal((n, self.dimension))
        points[(signs < 0).all(axis=1)] *= self.scale
        points[:, :2] += self.distance * signs
        return points


@dataclass(frozen=True, repr=False)
class TiltedBlobs(TwoSampleDesign):
    """A grid of round Gaussians against one in which each is tilted in its own way.

    3 x 3 blobs with covariance 0.03 I: [L20].  Blob i = 0, ..., 8 (row after row) has covariance
    -(0.02 + 0.002 i) if i < 4, 0 if i = 4, and 0.02 + 0.002 (i - 5) if i > 4, times ``tilt`` (0 to
    1).  All variances stay 0.03, as in the paper; its code multiplies by the Cholesky factor from
    the wrong side, which makes the task easier.
    """

    neutral: ClassVar[dict[str, Any]] = {"tilt": 0.0}
    tilt: float = parameter(1.0, up_to, high=1.0)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        blob = rng.integers(len(TILTS), size=n)
        correlation = self.tilt * TILTS[blob] / VARIANCE
        points = math.sqrt(VARIANCE) * _correlated(rng.standard_normal((n, 2)), correlation)
        return points + np.column_stack(np.divmod(blob, 3))


@dataclass(frozen=True, repr=False)
class TwoModes(TwoSampleDesign):
    """Two near Gaussians, correlated in opposite directions in one sample.

    Gaussians at 0 and (distance, ..., distance): HDGM of [L20].  The correlation of the first two
    coordinates is ``correlation`` in one mode and minus that in the other.  In [L20] every mode has
    the same number of points; here modes have equal chances, so that points are independent.
    """

    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}
    dimension: int = parameter(10, count, minimum=2)
    correlation: float = parameter(0.5, up_to, high=1.0, included=False)
    distance: float = parameter(0.5, positive, allow_zero=True)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        mode = rng.integers(2, size=n)
        points = rng.standard_normal((n, self.dimension))
        points[:, :2] = _correlated(
            points[:, :2], np.where(mode == 0, 1.0, -1.0) * self.correlation
        )
        return points + self.distance * mode[:, None]


def _correlated(z: Array, correlation: Array) -> Array:
    """Rows (n, 2) of unit variance with these correlations (n,), from independent ones.

    The correlations are those of the two entries of each row.
    """
    return np.column_stack(
        [z[:, 0], correlation * z[:, 0] + np.sqrt(1.0 - np.square(correlation)) * z[:, 1]]
    )


# --- many variables: the settings of a likelihood ratio test of kernel embeddings -----------------


@dataclass(frozen=True, repr=False)
class SparseShift(TwoSampleDesign):
    """Gaussians whose means differ in a few of many coordinates.

    The first ``moved`` means are shifted.  A setting of [SP25], with n = 100; the default dimension
    is not from there.
    """

    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}
    dimension: int = parameter(500, count, minimum=1)
    shift: float = parameter(1.0, positive, allow_zero=True)
    moved: int = parameter(2, count, minimum=1)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        y = rng.standard_normal((n, self.dimension))
        y[:, : self.moved] += self.shift
        return y


@dataclass(frozen=True, repr=False)
class SpikedCovariance(TwoSampleDesign):
    """Gaussians whose covariances differ in a small block.

    All covariances within the block are ``covariance``, so that it has rank one.  A setting of
    [SP25], with n = 100.
    """

    neutral: ClassVar[dict[str, Any]] = {"block": 0}
    dimension: int = parameter(500, count, minimum=1)
    block: int = parameter(5, count, minimum=0)
    covariance: float = parameter(3.0, positive)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        y = rng.standard_normal((n, self.dimension))
        y[:, : self.block] = math.sqrt(self.covariance) * y[:, :1]
        return y


@dataclass(frozen=True, repr=False)
class ThinCube(TwoSampleDesign):
    """Uniform on a cube against uniform on a thinner box.

    The first ``thin`` sides of the box are [margin, 1 - margin], margin < 0.5. A setting of [SP25],
    with n = 100.
    """

    neutral: ClassVar[dict[str, Any]] = {"margin": 0.0}
    dimension: int = parameter(500, count, minimum=1)
    thin: int = parameter(30, count, minimum=1)
    margin: float = parameter(0.1, up_to, high=0.5, included=False)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        y = rng.random((n, self.dimension))
        y[:, : self.thin] = self.margin + (1.0 - 2.0 * self.margin) * y[:, : self.thin]
        return y


@dataclass(frozen=True, repr=False)
class Bimodal(TwoSampleDesign):
    """Gaussian against one with two modes along one of many coordinates.

    The modes are at +-separation, and the means are the same.  A setting of [SP25], with n = 100.
    """

    neutral: ClassVar[dict[str, Any]] = {"separation": 0.0}
    dimension: int = parameter(1000, count, minimum=1)
    separation: float = parameter(4.0, positive, allow_zero=True)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        x, y = (rng.standard_normal((size, self.dimension)) for size in (n, m))
        y[:, 0] += self.separation * rng.choice((-1.0, 1.0), size=m)
        return x, y


@dataclass(frozen=True, repr=False)
class Autoregressive(TwoSampleDesign):
    """Autoregressions with different correlations and the same margins.

    Gaussian rows with correlation^|i - j| between coordinates against correlation + change.  A
    setting of [SP25], with n = 100 and several changes; the default dimension and change are not
    from there.
    """

    neutral: ClassVar[dict[str, Any]] = {"change": 0.0}
    dimension: int = parameter(50, count, minimum=2)
    correlation: float = parameter(0.5, up_to, high=1.0, included=False)
    change: float = parameter(0.3, positive, allow_zero=True)

    def _check(self) -> None:
        up_to(self.correlation + self.change, "correlation + change", high=1.0, included=False)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        columns = rng.standard_normal((self.dimension, n))
        correlation = self.correlation + self.change
        own = math.sqrt(1.0 - correlation**2)
        for before, column in pairwise(columns):
            column *= own
            column += correlation * before
        return np.ascontiguousarray(columns.T)


@dataclass(frozen=True, repr=False)
class Spheres(TwoSampleDesign):
    """Points near a sphere against the same moved a little.

    Points of the unit sphere plus Gaussian noise, moved by ``shift`` in every coordinate.  A
    setting of [SP25], with n = 100; the default dimension is not from there.
    """

    neutral: ClassVar[dict[str, Any]] = {"shift": 0.0}
    dimension: int = parameter(30, count, minimum=1)
    noise: float = parameter(0.02, positive, allow_zero=True)
    shift: float = parameter(0.015, positive, allow_zero=True)

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        points, noise = rng.standard_normal((2, n, self.dimension))
        return (
            points / np.linalg.norm(points, axis=1, keepdims=True) + self.noise * noise + self.shift
        )
