"""Rounding: values of a column that differ only by rounding errors become one value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Precision of numbers unless they come as shorter ones.
DOUBLE: np.dtype[Any] = np.dtype(np.float64)

_STEPS = 4.0  # units in the last place within which values are equal
_APART = 64.0  # times this distance to all other values, so that dense values are not chained into one
_BY_CHANCE = 2  # values in such clusters that a column may have without being changed
_BLOCK = 2**20  # numbers that are sorted at a time


def precision_of(dtype: Any) -> np.dtype[Any]:
    """Precision of numbers of a type of numpy: float16, float32 or, for all others, float64."""
    return np.dtype(dtype) if dtype in (np.float16, np.float32) else DOUBLE


def coarsest(precisions: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """The shortest of several floating-point types."""
    return min(precisions, key=lambda dtype: dtype.itemsize)


def rounded(values: NDArray[np.float64], precision: np.dtype[Any]) -> NDArray[np.float64]:
    """Round numbers to a precision; those beyond its range stay as they are."""
    if precision == DOUBLE:
        return values
    with np.errstate(over="ignore", under="ignore"):
        short = values.astype(precision).astype(np.float64)
    return np.where(np.isinf(short), values, short)


def rounding_of(values: NDArray[np.float64], precision: np.dtype[Any] = DOUBLE) -> NDArray[np.float64]:
    """Return how far rounding alone can move values."""
    return np.asarray(_STEPS * np.finfo(precision).eps * np.abs(values))


def merged(Z: NDArray[np.float64], precision: np.dtype[Any] = DOUBLE) -> NDArray[np.float64]:
    """Pooled columns (N, d) in which values that agree up to rounding are one value.

    Values become one if they lie within a few units in the last place of ``precision`` and far from all others.  Whole
    numbers are exact, and a single pair of such values stays as it is.  Labels have no part in it.
    """
    Z = rounded(Z, precision)
    out, width = Z, max(1, _BLOCK // max(1, len(Z)))
    for first in range(0, Z.shape[1], width):
        ordered = np.sort(Z[:, first : first + width], axis=0)
        with np.errstate(over="ignore"):
            gaps = np.diff(ordered, axis=0)
        near = (gaps > 0.0) & (gaps <= np.maximum(*_rounding_of_both(ordered, precision)))
        for j in first + np.flatnonzero(near.any(axis=0)):
            out = out.copy() if out is Z else out
            out[:, j] = _merged(Z[:, j], precision)
    return out


def _rounding_of_both(ordered: NDArray[np.float64], precision: np.dtype[Any]) -> tuple[NDArray[np.float64], ...]:
    """Roundings of every two successive values."""
    rounding = rounding_of(ordered, precision)
    return rounding[:-1], rounding[1:]


def _merged(column: NDArray[np.float64], precision: np.dtype[Any]) -> NDArray[np.float64]:
    """Return values (N,); clusters as narrow as rounding errors are replaced by their least value."""
    out, known = column.copy(), ~np.isnan(column)
    distinct, codes = np.unique(column[known], return_inverse=True)
    with np.errstate(over="ignore"):
        apart = np.diff(distinct) > _APART * np.maximum(*_rounding_of_both(distinct, precision))
        starts = np.flatnonzero(np.append(True, apart))
        counts = np.diff(np.append(starts, distinct.size))
        low, high = distinct[starts], distinct[starts + counts - 1]
        narrow = high - low <= rounding_of(np.maximum(np.abs(low), np.abs(high)), precision)
    whole = np.logical_and.reduceat(distinct == np.rint(distinct), starts)
    cluster = np.repeat(narrow & ~whole & (counts > 1), counts)
    if cluster[codes].sum() > _BY_CHANCE:
        out[known] = np.where(cluster, np.repeat(low, counts), distinct)[codes]
    return out
