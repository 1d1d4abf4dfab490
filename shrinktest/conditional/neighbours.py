"""Neighbourhoods of given variables, and whether neighbours are still alike."""

from __future__ import annotations

import numpy as np

_MANY, _ROWS = 4, 3000  # columns above which, and rows up to which, trees are slower than all distances
_SURE = 2.0  # standard deviations of the likeness of neighbours that are not alike


def neighbourhoods(z: np.ndarray, size: int) -> np.ndarray:
    """A code (n,) of the neighbourhood of every row, of ``size`` to twice as many rows.

    Rows of ``z`` (n, d) are halved again and again at the median of their first principal component.
    """
    out, waiting, found = np.zeros(len(z), dtype=np.int64), [np.arange(len(z))], 0
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * size:
            out[rows], found = found, found + 1
            continue
        part = z[rows] - z[rows].mean(axis=0)
        order = np.argsort(part @ np.linalg.svd(part, full_matrices=False)[2][0], kind="stable")
        half = len(rows) // 2
        waiting += [rows[order[half:]], rows[order[:half]]]
    return out


def nearest(z: np.ndarray) -> np.ndarray:
    """The nearest other row (n,) of every row of z (n, d)."""
    if z.shape[1] > _MANY and len(z) <= _ROWS:
        squares = np.square(z).sum(axis=1)
        distances = squares - 2.0 * (z @ z.T)
        np.fill_diagonal(distances, np.inf)
        return np.asarray(distances.argmin(axis=1))
    from scipy.spatial import cKDTree

    found = cKDTree(z).query(z, k=2)[1]
    own = found[:, 0] == np.arange(len(z))
    return np.asarray(np.where(own, found[:, 1], found[:, 0]))


def alike(residuals: np.ndarray, neighbour: np.ndarray) -> bool:
    """Whether the residuals (n, p) of neighbours are more alike than chance explains."""
    spread = residuals.std(axis=0)
    scaled = residuals / np.where(spread > 0.0, spread, 1.0)
    products = (scaled * scaled[neighbour]).sum(axis=1)
    return bool(products.sum() > _SURE * np.sqrt(np.square(products).sum()))
