"""Sums of products of features of pairs: about their means, and what HSIC without bias takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


def norms(sums: np.ndarray, n: Any) -> tuple[np.ndarray, np.ndarray]:
    """What features and squared norms (..., r) are multiplied by, and what is added, for squared norms about the mean.

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
        """Those of all groups together, as one."""
        return PairSums(*(one.sum(axis=0, keepdims=True) for one in vars(self).values()))

    @property
    def without(self) -> PairSums:
        """Those without each group in turn."""
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
