"""Kernels with what they take from the data, found once for all members of a combination."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from shrinktest.hypotheses.base import Hypothesis, resolve
from shrinktest.kernels import Kernel
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.pooled import PooledKernel


class Resolved:
    """Kernels with their bandwidths found on the data, every distinct kernel of a variable once.

    With ``fresh`` every call resolves anew, for kernels whose coordinates are drawn for each of them.
    """

    def __init__(self, rng: np.random.Generator, *, fresh: bool) -> None:
        self.rng, self.fresh = rng, fresh
        self._known: list[tuple[np.ndarray, Kernel, Kernel]] = []

    def __call__(self, hypothesis: Hypothesis, kernel: Any) -> Any:
        """The kernel, or the tuple with one for every variable."""
        if not isinstance(kernel, tuple):
            return self.one(hypothesis, 0, kernel)
        return tuple(self.one(hypothesis, v, one) for v, one in enumerate(kernel))

    def one(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """The kernel of one variable."""
        variable = hypothesis.variables[v]
        for points, asked, resolved in self._known:
            if points is variable.points and not self.fresh and (asked is kernel or asked == kernel):
                return resolved
        before = hypothesis.found_before(kernel, v)
        resolved = before or resolve(self._by_shared(hypothesis, v, kernel), variable, self.rng)
        self._known.append((variable.points, kernel, resolved))
        return resolved

    def _by_shared(self, hypothesis: Hypothesis, v: int, kernel: Kernel) -> Kernel:
        """A kernel with what it takes of another, its features or its bandwidth, from that one, resolved once for all.

        Not in units of the columns, which are found with each kernel.
        """
        if self.fresh or hypothesis.variables[v].scale is not None:
            return kernel
        if isinstance(kernel, PooledKernel):
            return replace(kernel, kernel=self.one(hypothesis, v, kernel.kernel))
        if isinstance(kernel, DistanceKernel) and kernel.multiple:
            factor, by_rule = kernel.multiple
            found = cast(DistanceKernel, self.one(hypothesis, v, by_rule))
            return replace(kernel, bandwidth=factor * cast(float, found.bandwidth))
        return kernel
