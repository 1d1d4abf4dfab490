"""Distances between rows, in the 2-norm or the 1-norm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shrinktest._validate import Array

_FEW = 2**19  # differences of coordinates that plain numpy takes at once; more are left to compiled loops


def distances(differences: int) -> Callable[[Array, Array, bool, Array], None]:
    """What writes the distances between rows x (n, d) and the first m of ``columns`` (d, ..) into ``out`` (n, m).

    By the number of differences of coordinates alone, so that no result depends on what else a process has done.
    """
    if differences <= _FEW:
        return _plain_distances
    from shrinktest._compiled.distances import between

    return between


def _plain_distances(x: Array, columns: Array, city: bool, out: Array) -> None:
    away = np.subtract(x.T[:, :, None], columns[:, None, : out.shape[1]], order="C")  # (d, n, m)
    (np.abs if city else np.square)(away, out=away).sum(axis=0, out=out)  # in the order of the columns
    if not city:
        np.sqrt(out, out=out)


def pairs(x: Array, city: bool) -> Array:
    """The distances of all pairs of rows i < j, one after the other."""
    n, columns = len(x), np.ascontiguousarray(x.T)
    if n * x.size <= _FEW:
        whole = np.empty((n, n))
        _plain_distances(x, columns, city, whole)
        return whole[~np.tri(n, dtype=bool)]
    from shrinktest._compiled.distances import among

    out = np.empty(n * (n - 1) // 2)
    among(x, columns, city, out)
    return out


def magnitude(rows: Array) -> float:
    """A power of two near the largest entry: dividing by it is exact and keeps squares within range."""
    largest = max(rows.max(initial=0.0), -rows.min(initial=0.0))  # of both signs, without a copy of the rows
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def between_rows(X: Array, Y: Array) -> Array:
    """The distances (n, m) between rows X (n, d) and Y (m, d), in the 2-norm."""
    unit = max(magnitude(X), magnitude(Y))
    values = np.empty((len(X), len(Y)))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        distances(values.size * X.shape[1])(X / unit, np.ascontiguousarray((Y / unit).T), False, values)
        values *= unit
    return values
