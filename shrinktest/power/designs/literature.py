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

    The data are those of [M14] and [X20].  The mixture has weights (0.05, 0.3, 0.4, 0.25), means
    U(-10, 10)^d and covariances Wishart(c I, 7) + 0.2 I, and is drawn anew in every trial.

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates d of every observation.
    change : {"mixture", "means", "covariance"}, default "mixture"
        Kind of change, whose size is the ``amount`` a: "mixture" draws each observation, with
        probability a, from another mixture of the same kind; "means" moves every mean by a Gaussian
        step with standard deviation a in every coordinate; "covariance" multiplies every covariance
        matrix by 1 + a.
    amount : float, optional
        Size of the change, by default one at which the power is near one half for 40 + 40
        observations.
    wishart_scale : float, default 2.0
        Scale c of the covariances, which is 2 in [M14] and [X20] but 3 in [S14].
    mixture_seed : int, optional
        Seed that fixes the mixtures, so that all trials share them.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.
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

    The Gaussians are centered at (+-distance, +-distance), and the one at (-distance, -distance) is
    wider, as in [B23] with n = 500.  All further variables have mean 0.

    Parameters
    ----------
    dimension : int, default 2
        Number of coordinates of every observation, at least 2.
    scale : float, default 1.6
        Standard deviation of the wider Gaussian, whereas the others have 1.
    distance : float, default 20.0
        Distance of every center from both axes.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [B23] Biggs et al., "MMD-FUSE: learning and combining kernels for two-sample testing without
       data splitting", NeurIPS, 2023.
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

    The grid has 3 x 3 blobs with variances 0.03, as in [L20].  Blob i = 0, ..., 8 (row after row)
    of the changed sample has covariance -(0.02 + 0.002 i) if i < 4, 0 if i = 4, and 0.02 + 0.002 (i
    - 5) if i > 4, times ``tilt``.  All variances remain 0.03, as in the paper, although its code
    multiplies by the Cholesky factor from the wrong side, which makes the task easier.

    Parameters
    ----------
    tilt : float, default 1.0
        Factor of all covariances, from 0 (no change) to 1 (as published).
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [L20] Liu et al., "Learning deep kernels for non-parametric two-sample tests", ICML, 2020.
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
    """Two nearby Gaussians, correlated in opposite directions in one sample.

    The Gaussians are centered at 0 and (distance, ..., distance); the design is HDGM of [L20].
    There every mode has the same number of observations, whereas modes have equal probabilities
    here, so that observations are independent.

    Parameters
    ----------
    dimension : int, default 10
        Number of coordinates of every observation, at least 2.
    correlation : float, default 0.5
        Correlation of the first two coordinates in one mode, and minus that in the other mode.
    distance : float, default 0.5
        Difference between the means of both modes, in every coordinate.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [L20] Liu et al., "Learning deep kernels for non-parametric two-sample tests", ICML, 2020.
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

    The design is a setting of [SP25] with n = 100, but the default dimension is not from there.

    Parameters
    ----------
    dimension : int, default 500
        Number of coordinates of every observation.
    shift : float, default 1.0
        Difference in means, in standard deviations, in each coordinate that moves.
    moved : int, default 2
        Number of coordinates whose means differ.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
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

    All covariances within the block are equal, so that it has rank one.  The design is a setting of
    [SP25] with n = 100.

    Parameters
    ----------
    dimension : int, default 500
        Number of coordinates of every observation.
    block : int, default 5
        Number of coordinates in the block; 0 means no change.
    covariance : float, default 3.0
        Every variance and covariance within the block of the changed sample.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
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

    The design is a setting of [SP25] with n = 100.

    Parameters
    ----------
    dimension : int, default 500
        Number of coordinates of every observation.
    thin : int, default 30
        Number of sides of the box that are shorter than those of the cube.
    margin : float, default 0.1
        Length by which each of these sides is cut at both ends, from 0 to below 0.5.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
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

    Because the modes are at +-separation, the means are equal.  The design is a setting of [SP25]
    with n = 100.

    Parameters
    ----------
    dimension : int, default 1000
        Number of coordinates of every observation.
    separation : float, default 4.0
        Distance of both modes from 0 in the first coordinate.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
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

    The coordinates i and j of a Gaussian row have correlation c^|i - j|, where c is ``correlation``
    in one sample and correlation + change in the other.  The design is a setting of [SP25] with n =
    100, but the default dimension and change are not from there.

    Parameters
    ----------
    dimension : int, default 50
        Number of coordinates of every observation, at least 2.
    correlation : float, default 0.5
        Correlation of neighboring coordinates in the unchanged sample, from 0 to below 1.
    change : float, default 0.3
        Increase in that correlation, with a sum below 1.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
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
    """Points near a sphere against a slightly shifted copy.

    The observations are random points of the unit sphere plus Gaussian noise.  The design is a
    setting of [SP25] with n = 100, but the default dimension is not from there.

    Parameters
    ----------
    dimension : int, default 30
        Number of coordinates of every observation.
    noise : float, default 0.02
        Standard deviation of the noise in every coordinate.
    shift : float, default 0.015
        Difference in means in every coordinate.
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.

    References
    ----------
    .. [SP25] Santoro and Panaretos, "Likelihood ratio tests by kernel Gaussian embedding",
       arXiv:2508.07982, 2025.
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
