"""Energy: the kernel behind the energy distance and distance covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._validate import Array, complete_points, counted, numbers
from shrinktest.kernels.base import Kernel
from shrinktest.kernels.metric import between_rows


@dataclass(frozen=True)
class Energy(Kernel):
    """Kernel |x - o| + |y - o| - |x - y|, with which MMD is the energy distance and HSIC distance covariance.

    Parameters
    ----------
    origin : sequence of float, optional
        The point o (d,); default: the mean of the pooled sample.  It changes no difference of means.  What
        :func:`closer_test` finds with groups of unequal sizes, without the pairs of rows in a group, it changes a
        little, and not in expectation.

    Notes
    -----
    The biased squared MMD is the energy distance 2 E|X - Y| - E|X - X'| - E|Y - Y'| of the samples, and the biased HSIC
    with this kernel for both variables their squared distance covariance ([SSGF13]).  There is no bandwidth, and the
    distances are in the units of the columns (see ``scale=``).  It detects shifts and monotone dependence about as well
    as any test does, and little else.

    Examples
    --------
    >>> from shrinktest import two_sample_test
    >>> round(two_sample_test([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], kernel="energy", n_resamples=0).statistic, 6)
    1.777778
    >>> round(2 * 20 / 9 - 8 / 9 - 16 / 9, 6)  # means of |x - y|, of |x - x'| and of |y - y'|
    1.777778
    """

    origin: Sequence[float] | None = None

    @property
    def points_are(self) -> frozenset[str]:
        return frozenset({"values"})

    def __post_init__(self) -> None:
        if self.origin is None:
            return
        point = numbers(self.origin)
        if point.ndim != 1 or not len(point) or not np.isfinite(point).all():
            raise ValueError(f"origin must be one finite number for every column; got {self.origin!r}")
        object.__setattr__(self, "origin", tuple(point.tolist()))

    def resolve(self, Z: ArrayLike, rng: object = None) -> Kernel:
        """The kernel with the mean of Z (N, d) as its origin, unless it has one."""
        rows = complete_points(Z, "Z").values
        if self.origin is None:
            return Energy(tuple(rows.mean(axis=0).tolist()))
        self._from_origin(rows[:1])
        return self

    def evaluate(self, X: Array, Y: Array) -> Array:
        values = between_rows(X, Y)
        np.negative(values, out=values)
        values += self._from_origin(X)[:, None]
        values += self._from_origin(Y)
        return values

    def diagonal(self, X: Array) -> Array:
        return 2.0 * self._from_origin(X)

    def _from_origin(self, X: Array) -> Array:
        """The distances |x - o|, shape (n,)."""
        if self.origin is None:
            raise ValueError("Energy() has no origin yet: call .resolve(Z) with all the data, or give origin=a point")
        if len(self.origin) != X.shape[1]:
            raise ValueError(f"origin has {len(self.origin)} entries for {counted(X.shape[1], 'column')}")
        return between_rows(X, np.asarray(self.origin)[None])[:, 0]
