"""Kernel of the differences within pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shrinktest._check import Array, complete_points
from shrinktest.kernels.base import Kernel, require_kernels
from shrinktest.kernels.inner import Linear
from shrinktest.kernels.pooled import Rescaled


@dataclass(frozen=True)
class Differences(Kernel):
    """A kernel of the differences x_i - y_i and y_i - x_i within pairs, which permutations of pairs exchange.

    The rows that it compares are always all n rows of X and then all n of Y.
    """

    kernel: Kernel  # of differences

    def __post_init__(self) -> None:
        require_kernels([self.kernel])

    @property
    def label(self) -> str:
        """Name of the kernel in tables, such as "Gaussian of differences"."""
        return f"{self.kernel.label} of differences"

    @property
    def bandwidth(self) -> Any:
        """The bandwidth of the other kernel."""
        return getattr(self.kernel, "bandwidth", None)

    def resolve(self, Z: ArrayLike, rng: Any = None) -> Kernel:
        """Return the kernel with what it takes from those pairs of Z (2n, d) whose rows differ."""
        rows = self.within(complete_points(Z, "Z").values)
        rows = rows[rows.any(axis=1)]
        return replace(self, kernel=self.kernel.resolve(rows, rng) if len(rows) else Linear())

    def within(self, Z: Array) -> Array:
        """Return differences (2n, d) within pairs of Z (2n, d), and these with the other sign."""
        x, y = np.split(Z, 2)
        return np.vstack([x - y, y - x])

    def evaluate(self, X: Array, Y: Array) -> Array:
        left = self.within(X)
        return self.kernel.block(left, left if X is Y else self.within(Y))


def seen(kernel: Kernel, pooled: Array) -> tuple[Kernel, Array]:
    """Return a resolved kernel and the pooled rows that it compares: of differences, the inner kernel and these."""
    if not compares_differences(kernel):
        return kernel, pooled
    if isinstance(kernel, Rescaled):
        pooled, kernel = kernel.moved(pooled), kernel.kernel
    assert isinstance(kernel, Differences)
    return kernel.kernel, kernel.within(pooled)


def compares_differences(kernel: Any) -> bool:
    """Return True for a kernel of differences, in any units."""
    return isinstance(kernel.kernel if isinstance(kernel, Rescaled) else kernel, Differences)
