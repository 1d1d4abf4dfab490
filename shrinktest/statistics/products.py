"""Plain matrix products for many relabellings at once: the one way of small tests, and of weights of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest.permutations.null import TIE
from shrinktest.statistics.centred import LAST_BITS


def times(rows: np.ndarray, matrix: np.ndarray, block: int = 128) -> np.ndarray:
    """``rows @ matrix``, (B, N) times (N, r), a row of which does not depend on the others.

    A matrix product rounds differently for blocks of different shapes, so that all blocks here have one: the bits of
    a statistic must not depend on how relabellings are shared out among threads.  A ``block`` has few rows where few
    come at a time.
    """
    out = np.empty((len(rows), matrix.shape[1]))
    if rows.shape[1] == 0:
        out[:] = 0.0
        return out
    for start in range(0, len(rows), block):
        some = rows[start : start + block]
        if len(some) < block:
            some = np.vstack([some, np.zeros((block - len(some), rows.shape[1]))])
        out[start : start + block] = (some @ matrix)[: len(out) - start]
    return out


def left_over(plain: Any, nothing: float) -> Any:
    """How much more than other numbers one is rounded that is made of a mean whose terms cancel, from 1 to 1e5.

    ``plain`` is the squared norm of the mean, of which ``nothing`` is zero: 1e-10 of the size of its terms, of which
    1e-15 is rounded.
    """
    return 1.0 + LAST_BITS * nothing / TIE / np.maximum(plain, max(nothing, np.finfo(np.float64).tiny))


def without_specks(out: np.ndarray, size: float) -> np.ndarray:
    """Statistics (B, 2) of projections: squared norms of rounding errors, though not of the mean's, become zero."""
    out[np.abs(out[:, 0]) <= TIE**2 * size, 0] = 0.0
    return out


def along(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The inner product (B,) of every row of one matrix with that row of another."""
    return np.einsum("bi,bi->b", first, second)


def weighted(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The inner product (B,) of every row with one vector; ``rows @ weights`` would round by the number of rows."""
    return np.einsum("bi,i->b", rows, weights)


def members_of(labels: np.ndarray, part: int) -> np.ndarray:
    """1.0 for the observations that a relabelling (a row of labels) puts into a part, else 0.0."""
    return (labels == part).astype(np.float64)
