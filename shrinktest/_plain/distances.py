"""Distances between points; the compiled twin is of the same name."""

from __future__ import annotations

import numpy as np


def between(x: np.ndarray, columns: np.ndarray, city: bool, out: np.ndarray) -> None:
    """Distances (n, m) to the first m of the points whose coordinates are the rows of ``columns``."""
    columns = columns[:, : out.shape[1]]
    for point, row in zip(x, out, strict=True):  # a row at a time stays in the cache
        _row(point, columns, city, row)


def among(x: np.ndarray, columns: np.ndarray, city: bool, out: np.ndarray) -> None:
    """Distances of all pairs i < j, one after the other."""
    n, where = len(x), 0
    for i in range(n - 1):
        _row(x[i], columns[:, i + 1 :], city, out[where : where + n - 1 - i])
        where += n - 1 - i


def _row(point: np.ndarray, columns: np.ndarray, city: bool, out: np.ndarray) -> None:
    # the coordinates are added in their order, as the compiled loop adds them
    away = np.abs(point[:, None] - columns) if city else np.square(point[:, None] - columns)
    out[:] = 0.0
    for one in away:
        out += one
    if not city:
        np.sqrt(out, out=out)
