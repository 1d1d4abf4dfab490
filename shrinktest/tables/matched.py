"""Pairs of encoded rows in which values are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shrinktest._check import Array
from shrinktest.tables.encoding import Encoding

_LEAST = 0.001  # smallest indicator in pairs, as a share of its usual size: a smaller one would drown in rounding


def matched(encoding: Encoding, points: Array) -> tuple[Encoding, Array]:
    """Compare the values of complete pairs only, and missing values by themselves.

    ``points`` (2n, number of features) are encoded rows; row i and row n + i are a pair.  If one of the two misses a
    value, both get the number that stands for a missing one, so that only the indicator differs.  The indicator becomes
    as large as the typical distance of two values in a pair (root mean square), and no larger than it was: beside pairs
    that are much alike, one gap would otherwise outweigh all values.  Exchanging the rows of a pair exchanges the
    results, and changes nothing else, so that permutation tests of pairs stay exact.

    Returns the encoding with these sizes of indicators, and the points.
    """
    points, units = points.copy(), list(encoding.units.scale)
    for code, group in zip(encoding.codes, encoding.groups, strict=True):
        if not code.indicated:
            continue
        values, gap = slice(group.start, group.stop - 1), group.stop - 1
        missing = points[:, gap] != 0.0
        incomplete = np.logical_or(*np.split(missing, 2))
        points[np.tile(incomplete, 2), values] = points[missing.argmax(), values]
        first, second = np.split(points[:, values], 2)
        squares = np.square(first - second)[~incomplete].sum(axis=1)
        if squares.any():
            size = points[:, gap].max()
            share = float(np.clip(np.sqrt(squares.mean()) / size, _LEAST, 1.0))
            points[:, gap] *= share
            units[gap] = float(units[gap]) / share
    return replace(encoding, units=replace(encoding.units, scale=tuple(units))), points
