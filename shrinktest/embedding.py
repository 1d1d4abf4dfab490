"""MeanEmbedding: an estimated kernel mean, an element of the RKHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shrinktest._warn import tiny_is_zero
from shrinktest.kernels import Kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.kernels.pooled import PooledKernel

_VALUES = 2**24  # of the kernel at a time


@dataclass(frozen=True, eq=False)
class MeanEmbedding:
    """Estimated kernel mean sum_i w_i k(x_i, .), or its smoothed version.

    The smoothed version is sum_i w_i E k(x_i + N(0, diag(v)), .).

    Parameters
    ----------
    points : ndarray, shape (n, d)
        The points x_i at which the features are centered.
    weights : ndarray, shape (n,)
        The weights w_i of the points.
    kernel : Kernel
        The reproducing kernel, with its bandwidth resolved.
    shrinkage : float, int, tuple or None
        The amount in the estimator's own unit: alpha, lam (Gram scale), iterations, number of
        components or noise variance.  It is None if the estimator has no amount.
    smoothing : tuple of float or None
        Noise variances v_j of the marginalized estimators, in squared units of the data; None for
        the others.
    features : FeatureMap or None
        Features of rows on disk, whose means in bins are the points; None in memory.
    columns : int
        Number of columns of these rows.

    Notes
    -----
    The marginalized estimates of [X20] are not finite combinations of the k(x_i, .) (erratum E28 in
    :doc:`/errata`).  Therefore, their norms and inner products are computed in closed form, which
    exists for the Gaussian kernel.

    References
    ----------
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> from shrinktest import FKMSE, KME, Gaussian
    >>> points = [0.0, 1.0, 5.0]
    >>> mean, shrunken = (
    ...     estimator.fit(points, Gaussian(1.0)) for estimator in (KME(), FKMSE(lam=1.0))
    ... )
    >>> shrunken.weights.round(4), shrunken.shrinkage
    (array([0.2054, 0.2055, 0.1667]), 1.0)
    >>> round(mean.norm2(), 4), round(shrunken.norm2(), 4)
    (0.4682, 0.1634)
    """

    points: np.ndarray
    weights: np.ndarray
    kernel: Kernel
    shrinkage: Any = None
    smoothing: tuple[float, ...] | None = None
    features: FeatureMap | None = field(default=None, repr=False)
    columns: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        for name in ("points", "weights"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        points = np.shape(self.points)
        weights = np.shape(self.weights)
        if not points or weights != points[:1]:
            raise ValueError(
                f"weights must be one for each point; found shapes {points} of points, {weights} "
                "of weights"
            )

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    def _between(self, other: MeanEmbedding) -> Kernel:
        noise = [np.asarray(e.smoothing) for e in (self, other) if e.smoothing is not None]
        return self.kernel.smoothed(sum(noise), self.points.shape[1]) if noise else self.kernel

    def norm2(self) -> float:
        """Squared RKHS norm, w' K w."""
        return self.inner(self)

    @tiny_is_zero
    def inner(self, other: MeanEmbedding) -> float:
        """RKHS inner product with another embedding of the same kernel.

        Raises
        ------
        ValueError
            If the two embeddings do not live in the same RKHS.
        """
        if not isinstance(other, MeanEmbedding):
            raise TypeError(
                f"other must be a MeanEmbedding, as fit() returns it; got {type(other).__name__}"
            )
        if other.kernel != self.kernel:
            way = (
                "use the estimates of one test, which resolves it on all observations"
                if isinstance(self.kernel, PooledKernel)
                else "fit both with the same resolved kernel"
            )
            raise ValueError(
                "other: an inner product needs one RKHS, but the kernels differ "
                f"({self.kernel!r} and {other.kernel!r}); {way}"
            )
        if other.points.shape[1:] != self.points.shape[1:]:
            raise ValueError(
                f"other: points of shapes {self.points.shape} and {other.points.shape} have no "
                "common RKHS; "
                "fit both to the same columns"
            )
        between = self._between(other)
        if isinstance(between, FeatureMap):
            first, second = (between.combination(e.points, e.weights) for e in (self, other))
            return float(first @ second)
        blocks = range(0, len(self.points), max(1, _VALUES // len(other.points)))
        if len(blocks) == 1:
            return float(self.weights @ between(self.points, other.points) @ other.weights)
        return float(
            sum(
                self.weights[rows] @ (between(self.points[rows], other.points) @ other.weights)
                for rows in (slice(start, start + blocks.step) for start in blocks)
            )
        )

    def distance2(self, other: MeanEmbedding) -> float:
        """Squared RKHS distance to another embedding of the same kernel (not below 0)."""
        inner = self.inner(other)
        if isinstance(self.kernel, FeatureMap):  # nothing cancels that both have far from zero
            first, second = (self.kernel.combination(e.points, e.weights) for e in (self, other))
            return float(np.square(first - second).sum())
        return max(self.norm2() + other.norm2() - 2.0 * inner, 0.0)

    def read(self, x: object, name: str) -> np.ndarray:
        """Rows (m, d) at which the estimate can be evaluated.

        ``name`` is what messages call them.
        """
        from shrinktest._check import complete_points, counted

        at = complete_points(x, name).values
        if at.shape[1] != (columns := self.columns or self.points.shape[1]):
            raise ValueError(
                f"{name} has {counted(at.shape[1], 'column')}, the embedding's points have "
                f"{columns}"
            )
        return at

    @tiny_is_zero
    def embedding(self, x: object) -> np.ndarray:
        """Evaluate the estimate mu(x) = <mu, k(x, .)> at the rows of ``x`` (m, d)."""
        at = self.read(x, "x")
        if self.features is not None:
            return self.features.coordinates(at) @ (self.weights @ self.points)
        kernel = self.kernel
        if self.smoothing is not None:
            kernel = kernel.smoothed(np.asarray(self.smoothing), self.points.shape[1])
        if isinstance(kernel, FeatureMap):
            return kernel.coordinates(at) @ kernel.combination(self.points, self.weights)
        return kernel(at, self.points) @ self.weights
