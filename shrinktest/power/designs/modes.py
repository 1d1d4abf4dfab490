"""Mixtures of a few Gaussians whose modes stay where they are and change shape: corners, blobs, two near modes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, count, positive
from shrinktest.power.designs.base import TwoSampleDesign, parameter, up_to

#: The off-diagonal of the covariance of every blob of [L20], row after row of the grid; the diagonal is 0.03.
TILTS = np.array([-0.02, -0.022, -0.024, -0.026, 0.0, 0.02, 0.022, 0.024, 0.026])
VARIANCE = 0.03


@dataclass(frozen=True, repr=False)
class Corners(TwoSampleDesign):
    """Four equal Gaussians in the corners of a large square against the same with one of them wider.

    Parameters
    ----------
    dimension : int, default 2
        Number of variables, at least 2; those beyond the plane of the square have mean 0.
    scale : float, default 1.6
        Standard deviation of the changed corner; that of the others is 1.
    distance : float, default 20.0
        The corners are at (+-distance, +-distance); the changed one has two minus signs.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    The mixture of [B23], published with n = 500.  The median bandwidth measures the square and not its corners.

    Examples
    --------
    >>> X, Y = Corners(scale=3.0).sample(0, n=10_000)
    >>> changed = (Y < 0).all(axis=1)
    >>> Y[changed].mean(axis=0).round(), Y[changed].std(axis=0).round(1)
    (array([-20., -20.]), array([3., 3.]))
    """

    name: ClassVar[str] = "corners"
    summary: ClassVar[str] = "four distant Gaussians, one of them wider"
    neutral: ClassVar[dict[str, Any]] = {"scale": 1.0}

    dimension: int = parameter(2, count, minimum=2)
    scale: float = parameter(1.6, positive)
    distance: float = parameter(20.0, positive)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        return self._corners(rng, n, 1.0), self._corners(rng, m, self.scale)

    def _corners(self, rng: np.random.Generator, n: int, scale: float) -> Array:
        signs = rng.choice((-1.0, 1.0), size=(n, 2))
        points = rng.standard_normal((n, self.dimension))
        points[(signs < 0).all(axis=1)] *= scale
        points[:, :2] += self.distance * signs
        return points


@dataclass(frozen=True, repr=False)
class TiltedBlobs(TwoSampleDesign):
    """A 3 x 3 grid of small round blobs against one in which every blob is tilted in its own way.

    Parameters
    ----------
    tilt : float, default 1.0
        What the published covariances are multiplied by, from 0, where all blobs are round, to 1.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    The blobs of [L20]: centres {0, 1, 2} x {0, 1, 2}, covariance 0.03 I; in the changed sample the covariance of the
    two coordinates of blob i = 0, ..., 8 is -(0.02 + 0.002 i) for i < 4, 0 for i = 4, and 0.02 + 0.002 (i - 5) for
    i > 4, where i counts row after row.  All variances stay 0.03, as in the paper; its code multiplies by the Cholesky
    factor from the wrong side, which makes the two variances of a blob unequal and the task easier.  In :class:`Blobs`
    all blobs are tilted alike.

    Examples
    --------
    >>> X, Y = TiltedBlobs().sample(0, n=90_000)
    >>> first = Y[(Y.round() == 0).all(axis=1)]
    >>> np.cov(first.T).round(2)
    array([[ 0.03, -0.02],
           [-0.02,  0.03]])
    """

    name: ClassVar[str] = "tilted-blobs"
    summary: ClassVar[str] = "a grid of round Gaussians against one in which each is tilted in its own way"
    neutral: ClassVar[dict[str, Any]] = {"tilt": 0.0}

    tilt: float = parameter(1.0, up_to, high=1.0)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        return self._blobs(rng, n, 0.0), self._blobs(rng, m, self.tilt)

    def _blobs(self, rng: np.random.Generator, n: int, tilt: float) -> Array:
        blob = rng.integers(len(TILTS), size=n)
        points = math.sqrt(VARIANCE) * _correlated(rng.standard_normal((n, 2)), tilt * TILTS[blob] / VARIANCE)
        return points + np.column_stack(np.divmod(blob, 3))


@dataclass(frozen=True, repr=False)
class TwoModes(TwoSampleDesign):
    """Two overlapping Gaussians against two whose first two coordinates are correlated, in opposite directions.

    Parameters
    ----------
    dimension : int, default 10
        Number of variables, at least 2.
    correlation : float, default 0.5
        Correlation of the first two coordinates within one mode of the changed sample, and minus that within the
        other one, from 0 to 1 (excluded).
    distance : float, default 0.5
        The modes are at 0 and at (distance, ..., distance); the variances are 1.
    ratio, swap
        Size of Y over size of X; whether X is the changed sample.

    Notes
    -----
    The high-dimensional Gaussian mixture (HDGM) of [L20].  There, every mode has the same number of points; here, the
    modes have equal chances, so that the points of a sample are independent.

    Examples
    --------
    >>> X, Y = TwoModes(distance=50.0).sample(0, n=20_000)
    >>> upper = Y.mean(axis=1) > 25
    >>> [float(np.corrcoef(mode[:, :2].T)[0, 1].round(1)) for mode in (Y[~upper], Y[upper])]
    [0.5, -0.5]
    """

    name: ClassVar[str] = "two-modes"
    summary: ClassVar[str] = "two near Gaussians, correlated in opposite directions in one sample"
    neutral: ClassVar[dict[str, Any]] = {"correlation": 0.0}

    dimension: int = parameter(10, count, minimum=2)
    correlation: float = parameter(0.5, up_to, high=1.0, included=False)
    distance: float = parameter(0.5, positive, allow_zero=True)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        return self._modes(rng, n, 0.0), self._modes(rng, m, self.correlation)

    def _modes(self, rng: np.random.Generator, n: int, correlation: float) -> Array:
        mode = rng.integers(2, size=n)
        points = rng.standard_normal((n, self.dimension))
        points[:, :2] = _correlated(points[:, :2], np.where(mode == 0, correlation, -correlation))
        return points + self.distance * mode[:, None]


def _correlated(z: Array, correlation: Array) -> Array:
    """Rows (n, 2) of unit variance whose two entries have these correlations (n,), from independent ones."""
    return np.column_stack([z[:, 0], correlation * z[:, 0] + np.sqrt(1.0 - np.square(correlation)) * z[:, 1]])
