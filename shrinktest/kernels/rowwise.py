"""Features of rows by compiled loops, whose bits depend on the row alone."""

from __future__ import annotations

import numpy as np

from shrinktest._validate import Array

_TILE = 128  # features whose weights are together in memory
_VALUES = 2**15  # of features of some rows, which stay in the cache


def tiles(weights: Array) -> Array:
    """Weights (d, m) as (tiles, d, 128), with zeros beyond the last feature."""
    d, m = weights.shape
    out = np.zeros((-(-m // _TILE), d, _TILE))
    for t in range(len(out)):
        some = weights[:, t * _TILE : (t + 1) * _TILE]
        out[t, :, : some.shape[1]] = some
    return out


def steps(rows: int, width: int) -> list[slice]:
    """So many rows in slices, whose ``width`` features stay in the cache."""
    step = step_of(width)
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def step_of(width: int) -> int:
    """Rows whose ``width`` features stay in the cache."""
    return max(16, _VALUES // max(1, width))


def waves(X: Array, turns: Array, height: float, out: Array) -> None:
    """Cosines, and then sines, of the phases of rows X (n, d), times ``height``, into ``out`` (n, 2m).

    ``turns`` are weights of the phases, in whole turns: see :func:`tiles`.  All arrays are C-contiguous, of float64.
    """
    from shrinktest._compiled import rowwise

    for rows in steps(len(X), out.shape[1]):
        rowwise.waves(X[rows], turns, height, out[rows])


def bells(X: Array, landmarks: Array, halves: Array, out: Array) -> None:
    """Gaussian kernel values of rows X (n, d) and landmarks in units of the bandwidth, into ``out`` (n, m).

    Landmarks are as :func:`tiles` has them, and ``halves`` (m,) are half of their squared norms.  All arrays are
    C-contiguous, of float64.
    """
    from shrinktest._compiled import rowwise

    for rows in steps(len(X), out.shape[1]):
        rowwise.bells(X[rows], landmarks, halves, out[rows])


def products(rows: Array, weights: Array, out: Array) -> None:
    """Rows (n, d) times weights (d, m) in tiles (:func:`tiles`), into ``out`` (n, m)."""
    from shrinktest._compiled import rowwise

    rowwise.products(rows, weights, out)
