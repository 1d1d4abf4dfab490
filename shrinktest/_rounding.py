"""Rounding: values of a column that differ only by rounding errors become one value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Precision of numbers unless they come as shorter ones.
DOUBLE: np.dtype[Any] = np.dtype(np.float64)

#: Precision of numbers that arrive as longer ones, in files, databases and by conversions.
SINGLE: np.dtype[Any] = np.dtype(np.float32)

_STEPS = 4.0  # units in the last place within which values are equal
_HEAD = 16  # rows that are looked at first
_DIGITS = (
    9  # of a short decimal number: more than single precision has, far fewer than double precision
)
_REMAINDER = 64.0  # units in the last place that a subtraction of sums leaves
_FEW_BITS = (
    2.0**6
)  # what is left of a subtraction is so small a multiple of one unit in the last place
_APART = (
    64.0  # times this distance to all other values, so that dense values are not chained into one
)
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


def rounding_of(
    values: NDArray[np.float64], precision: np.dtype[Any] = DOUBLE
) -> NDArray[np.float64]:
    """Return how far rounding alone can move values."""
    return np.asarray(_STEPS * np.finfo(precision).eps * np.abs(values))


def is_single(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values have no more digits than single precision."""
    with np.errstate(over="ignore", under="ignore"):
        short = values.astype(SINGLE)
    return np.asarray(short == values)


def has_long(values: NDArray[np.float64]) -> bool:
    """Return True if some values (n,) need more than nine decimal digits and six bits."""
    fractions = np.unique(values[values != np.rint(values)])
    return any(map(_is_long, fractions[~_has_few_bits(fractions)].tolist()))


def _is_long(value: float) -> bool:
    """Return True if a number needs more than nine decimal digits."""
    return float(f"{value:.{_DIGITS}g}") != value


def _has_few_bits(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are such small multiples of a power of two as a subtraction leaves."""
    fractions, _ = np.frexp(values)
    bits = _FEW_BITS * fractions
    return np.asarray(bits == np.rint(bits))


def single_columns(
    values: NDArray[Any],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which columns (d,) of rows (n, d) fit in single precision, and have long numbers.

    The columns with long numbers are among those that fit in single precision.

    A column that does both was in single precision before; NaN fits.
    """
    fits = (is_single(values[:_HEAD]) | np.isnan(values[:_HEAD])).all(axis=0)
    long = np.zeros(values.shape[1], dtype=bool)
    for j in np.flatnonzero(fits):
        column = values[:, j].astype(np.float64)
        column = column[~np.isnan(column)]
        fits[j] = is_single(column).all()
        long[j] = fits[j] and (has_long(column[:_HEAD]) or has_long(column))
    return fits, long


def merged(Z: NDArray[np.float64], precision: np.dtype[Any] = DOUBLE) -> NDArray[np.float64]:
    """Pooled columns (N, d) in which values that agree up to rounding are one value.

    Values become one if they lie within a few units in the last place of ``precision`` and far from
    all others.  Whole numbers are exact, and a single pair of such values stays as it is.  What is
    left of a subtraction is 0, and a number next to its own single-precision value is that number.
    Labels have no part in it.
    """
    if precision != DOUBLE:
        Z = rounded(Z, precision)
    elif (single := is_single(Z)).any():
        Z = _without_single(Z, single)
    if (
        precision.itemsize >= SINGLE.itemsize
    ):  # the few bits of shorter numbers would be taken for remainders
        sizes = np.abs(Z)
        typical = np.fmax(np.fmax.reduce(sizes, axis=0), 1.0)
        small = sizes <= _REMAINDER * float(np.finfo(precision).eps) * typical
        if small.any():
            Z = _without_remainders(Z, small, precision)
    out = Z
    width = max(1, _BLOCK // max(1, len(Z)))
    for first in range(0, Z.shape[1], width):
        ordered = np.sort(Z[:, first : first + width], axis=0)
        rounding = rounding_of(ordered, precision)
        with np.errstate(over="ignore"):
            gaps = np.diff(ordered, axis=0)
        near = (gaps > 0.0) & (gaps <= np.maximum(rounding[:-1], rounding[1:]))
        for j in first + np.flatnonzero(near.any(axis=0)):
            out = out.copy() if out is Z else out
            out[:, j] = _merged(Z[:, j], precision)
    return out


def _without_single(Z: NDArray[np.float64], single: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Columns (N, d) with ``single`` precision values restored to double precision.

    A value in single precision becomes the one in double precision that it stands for.
    """
    fractions = single & (np.rint(Z) != Z)
    out = Z
    for j in np.flatnonzero(fractions.any(axis=0)):
        column = _one_precision(Z[:, j])
        if column is not None:
            out = out.copy() if out is Z else out
            out[:, j] = column
    return out


def _one_precision(column: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Replace values (N,) that are others in single precision; return None if there are too few.

    If all are in single precision, those become one that differ by its rounding.
    """
    known = np.flatnonzero(~np.isnan(column))
    distinct, codes = np.unique(column[known], return_inverse=True)
    double = distinct[~is_single(distinct)]
    if not double.size:
        return _merged(column, SINGLE) if has_long(distinct) else None
    shortened = rounded(double, SINGLE)
    places = np.searchsorted(distinct, shortened)
    places[places == distinct.size] = 0
    of_others = distinct[places] == shortened
    target = distinct.copy()
    for place, value in zip(places[of_others], double[of_others], strict=True):
        if has_long(distinct[place : place + 1]):
            target[place] = value
    changed = target != distinct
    if np.count_nonzero(changed[codes]) <= _BY_CHANCE:
        return None
    out = column.copy()
    out[known] = target[codes]
    return out


def _without_remainders(
    Z: NDArray[np.float64], small: NDArray[np.bool_], precision: np.dtype[Any]
) -> NDArray[np.float64]:
    """Columns (N, d) in which what is left of a subtraction is 0.

    It is a few units in the last place of the numbers that were subtracted, which are as large as
    those of the column: one of the ``small`` values.
    """
    fractions = small & (np.rint(Z) != Z)
    out = Z
    for j in np.flatnonzero(np.count_nonzero(fractions, axis=0) > _BY_CHANCE):
        remainders = _remainders(Z[:, j], precision)
        if np.count_nonzero(remainders) > _BY_CHANCE:
            out = out.copy() if out is Z else out
            out[remainders, j] = 0.0
    return out


def _remainders(column: NDArray[np.float64], precision: np.dtype[Any]) -> NDArray[np.bool_]:
    """Return which values (N,) are negligible rounding residue.

    These are so small beside a typical value, and have so few bits, that nothing was meant.

    A column without other values holds what is left of numbers near 1, as far as one can tell.
    """
    distinct, codes = np.unique(column, return_inverse=True)
    long = np.array([_is_long(value) for value in distinct.tolist()])
    possible = _has_few_bits(distinct) & long
    others = np.abs(column[~possible[codes] & (column != 0.0) & ~np.isnan(column)])
    typical = float(np.median(others)) if others.size else 1.0
    return np.asarray(
        possible[codes] & (np.abs(column) <= _REMAINDER * float(np.finfo(precision).eps) * typical)
    )


def _merged(column: NDArray[np.float64], precision: np.dtype[Any]) -> NDArray[np.float64]:
    """Return values (N,) with clusters as narrow as rounding error set to their minimum."""
    out = column.copy()
    known = ~np.isnan(column)
    distinct, codes = np.unique(column[known], return_inverse=True)
    with np.errstate(over="ignore"):
        rounding = rounding_of(distinct, precision)
        apart = np.diff(distinct) > _APART * np.maximum(rounding[:-1], rounding[1:])
        starts = np.flatnonzero(np.append(True, apart))
        counts = np.diff(np.append(starts, distinct.size))
        low = distinct[starts]
        high = distinct[starts + counts - 1]
        narrow = high - low <= rounding_of(np.maximum(np.abs(low), np.abs(high)), precision)
    whole = np.logical_and.reduceat(distinct == np.rint(distinct), starts)
    cluster = np.repeat(narrow & ~whole & (counts > 1), counts)
    if cluster[codes].sum() > _BY_CHANCE:
        out[known] = np.where(cluster, np.repeat(low, counts), distinct)[codes]
    return out
