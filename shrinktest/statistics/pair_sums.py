"""Sums of products of features of pairs: about their means, and what HSIC without bias takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shrinktest.statistics.features import LAST_BITS
from shrinktest.statistics.sums import times


def norms(sums: np.ndarray, n: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return weights (..., r) of features and squared norms, and a constant, that give squared norms about the mean.

    ``sums`` are over n rows.
    """
    mean = sums[..., :-1] / np.asarray(n)[..., None]
    return np.concatenate([-2.0 * mean, np.ones((*mean.shape[:-1], 1))], axis=-1), np.square(mean).sum(axis=-1)


def trace_of(sums: np.ndarray, n: Any) -> np.ndarray:
    """The sum (...) of the squared norms about the mean."""
    weights, more = norms(sums, n)
    return np.asarray((weights * sums).sum(axis=-1) + n * more)


def centred_sums(xy: np.ndarray, x: np.ndarray, y: np.ndarray, n: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sums of products (..., r - 1, s - 1) of features about their means, and of products (...) of their squared norms.

    ``xy`` (..., r, s) are sums of products of features, the last of which are their squared norms, ``x`` and ``y``
    sums of these, over n pairs.
    """
    (u, c), (v, d) = norms(x, n), norms(y, n)
    trace = np.einsum("...r,...rs,...s->...", u, xy, v) + d * (u * x).sum(axis=-1) + c * (v * y).sum(axis=-1)
    mean = x[..., :-1] / np.asarray(n)[..., None]
    return xy[..., :-1, :-1] - mean[..., :, None] * y[..., None, :-1], np.asarray(trace + n * c * d)


def unbiased(total: Any, trace: Any, traces: tuple[Any, Any], n: Any) -> Any:
    """HSIC without bias [Song12] from the sum and the trace of Kc o Lc, and the traces of Kc and Lc.

    In terms of centred matrices, whose rows off the diagonal add up to minus the diagonal.
    """
    value = total - trace * n / (n - 2) + traces[0] * traces[1] / ((n - 1) * (n - 2))
    return value / (n * (n - 3))


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over pairs as they were observed, of products of features, the last of which are their squared norms."""

    n: np.ndarray  # (G,): pairs of every group
    # (G, r, s), (G, r, r) and (G, s, s)
    xy: np.ndarray
    xx: np.ndarray
    yy: np.ndarray
    # (G, r) and (G, s): of the features themselves
    x: np.ndarray
    y: np.ndarray

    @property
    def whole(self) -> PairSums:
        """Sums over all groups together."""
        return PairSums(*(one.sum(axis=0, keepdims=True) for one in vars(self).values()))

    @property
    def without(self) -> PairSums:
        """Sums without each group in turn."""
        return PairSums(*(one.sum(axis=0) - one for one in vars(self).values()))

    def unbiased(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """HSIC (G,) of x and y, of x with itself, and of y with itself, all without bias."""
        left, right = trace_of(self.x, self.n), trace_of(self.y, self.n)

        def one(products: np.ndarray, x: np.ndarray, y: np.ndarray, traces: tuple[Any, Any]) -> np.ndarray:
            covariance, trace = centred_sums(products, x, y, self.n)
            return np.asarray(unbiased(np.square(covariance).sum(axis=(-2, -1)), trace, traces, self.n))

        return (
            one(self.xy, self.x, self.y, (left, right)),
            one(self.xx, self.x, self.x, (left, left)),
            one(self.yy, self.y, self.y, (right, right)),
        )


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
        """Part (k,) that all shifts share and parts (G m, k) that each adds: cross-covariance, then trace."""
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
