"""Plain matrix products for many relabellings at once: the one way of small tests, and of weights of any kind."""

from __future__ import annotations

import numpy as np

_ROWS = 128  # of a block


def times(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """``rows @ matrix``, (B, N) times (N, r), a row of which does not depend on the others.

    A matrix product rounds differently for blocks of different shapes, so that all blocks here have one: the bits of a
    statistic must not depend on how relabellings are shared out among threads.
    """
    out = np.empty((len(rows), matrix.shape[1]))
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        if len(block) < _ROWS:
            block = np.vstack([block, np.zeros((_ROWS - len(block), rows.shape[1]))])
        out[start : start + _ROWS] = (block @ matrix)[: len(out) - start]
    return out


def along(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The inner product (B,) of every row of one matrix with that row of another."""
    return np.einsum("bi,bi->b", first, second)


def members_of(labels: np.ndarray, part: int) -> np.ndarray:
    """1.0 for the observations that a relabelling (a row of labels) puts into a part, else 0.0."""
    return (labels == part).astype(np.float64)
