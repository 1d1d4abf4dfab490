"""HSIC and its scaled relatives as a function of shifts in groups of blocks, from sums of products for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shrinktest.statistics.centred import LAST_BITS
from shrinktest.statistics.pair_sums import centred_sums, norms, trace_of
from shrinktest.statistics.products import times

ROWS = 128  # relabellings whose cross-covariances are in memory


@dataclass(frozen=True, eq=False)
class ShiftedSums:
    """Sums over n pairs of products of features, the last of which are their squared norms."""

    n: int
    xy: np.ndarray  # (G, r, m, s): of features of x and of y, by groups and by the places that y was shifted
    # (r, r) and (s, s)
    xx: np.ndarray
    yy: np.ndarray
    # (r,) and (s,): of the features themselves
    x: np.ndarray
    y: np.ndarray

    @cached_property
    def traces(self) -> tuple[float, float]:
        """Of the centred Gram matrices."""
        return float(trace_of(self.x, self.n)), float(trace_of(self.y, self.n))

    @property
    def size(self) -> float:
        """Of the terms that cancel, as for features in memory."""
        return _size(self.xx, self.x, self.n) * _size(self.yy, self.y, self.n)

    def __call__(self, shifts: np.ndarray) -> np.ndarray:
        """Sum and trace (B, 2) of the entrywise product of the centred Gram matrices, for shifts (B, G)."""
        fixed, moving = self._parts
        groups, _, length, _ = self.xy.shape
        out = np.empty((len(shifts), 2))
        for start in range(0, len(shifts), ROWS):
            some = shifts[start : start + ROWS]
            chosen = (some[:, :, None] == np.arange(length)).astype(np.float64).reshape(len(some), groups * length)
            found = times(chosen, moving) + fixed
            out[start : start + ROWS, 0] = np.square(found[:, :-1]).sum(axis=1)
            out[start : start + ROWS, 1] = found[:, -1]
        return out

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """What every relabelling shares, (k,), and what a shift adds to it, (G m, k): cross-covariance, then trace."""
        mean = self.xy.mean(axis=2)  # over shifts, which is that of all
        moving = (self.xy - mean[:, :, None, :]).transpose(0, 2, 1, 3).reshape(-1, len(self.x), len(self.y))
        shared = mean.sum(axis=0)
        covariance, trace = centred_sums(shared, self.x, self.y, self.n)
        fixed = np.append(covariance.ravel(), trace)
        along = np.einsum("r,grs,s->g", norms(self.x, self.n)[0], moving, norms(self.y, self.n)[0])
        return fixed, np.column_stack([moving[:, :-1, :-1].reshape(len(moving), -1), along])


def _size(products: np.ndarray, sums: np.ndarray, n: int) -> float:
    plain, total = products[:-1, :-1], sums[:-1]
    before, after = (float(np.linalg.norm(one)) / n for one in (plain, plain - np.outer(total, total) / n))
    return after + LAST_BITS * (before * after) ** 0.5
