"""Digits: whole numbers that have more of them than floating-point numbers, and are not told apart as such."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

#: Whole numbers up to this are exact as floating-point numbers.
EXACT = 2**53

_LONGEST = 10**80  # Decimal("1e999999") is not written out
_MERGED = 0.01  # of different whole numbers, that rounding may make equal: a time in nanoseconds loses nothing


def require_apart(codes: Any, name: Any, where: str, *, named: bool = True) -> None:
    """Raise ValueError for whole numbers (n,), of numpy's or of Python's, many of which are equal once they are floats.

    Messages call the column of this name ``where``; where it is not ``named``, it has no type that can be given.
    """
    distinct = np.unique(codes)
    merged = np.diff(distinct.astype(np.float64)) == 0.0
    if merged.sum() > _MERGED * merged.size:
        k = int(merged.argmax())
        advice = (
            f"subtract the same number from all, read them as categories (column_types={{{name!r}: 'category'}}), or "
            f"leave the column out (column_types={{{name!r}: 'drop'}})"
            if named
            else "subtract the same number from all, or leave the column out"
        )
        raise ValueError(
            f"{where} holds whole numbers with too many digits to be told apart as floating-point numbers, such as "
            f"{distinct[k]} and {distinct[k + 1]}; {advice}"
        )


def whole_number(entry: Any) -> int | None:
    """The whole number that an entry is, of Python's or of decimals; None for others, and for floating-point ones."""
    if isinstance(entry, float | np.floating):
        return None
    try:
        found = int(entry) if abs(entry) < _LONGEST else None
    except (TypeError, ValueError, ArithmeticError):  # text, or a decimal that is not a number
        return None
    return found if found == entry else None


def whole_numbers(entries: Iterable[Any]) -> Any:
    """The whole numbers (m,) among entries, as Python's."""
    return np.array([found for entry in entries if (found := whole_number(entry)) is not None], dtype=object)


def are_large(codes: Any) -> bool:
    """Whether some of these numbers are whole numbers of numpy's that floating-point numbers may not have."""
    wide = codes.dtype.kind in "iu" and codes.dtype.itemsize == 8 and codes.size > 0
    return bool(wide and np.abs(codes).max() > EXACT)  # of -2**63 there is one alone, should it be no larger than this


def require_columns_apart(values: Any, where: str, columns: Iterable[int] | None = None, given: Any = None) -> None:
    """The same for columns of an array (n,) or (n, d) of numpy's or Python's numbers; default all of them.

    What it was made of, lists that were ``given``, holds Python's numbers still where numpy has made floats of them.
    """
    if values.ndim not in (1, 2) or not values.size:
        return
    if values.dtype.kind == "f":
        if not isinstance(given, list | tuple) or not (np.abs(values) > EXACT).any():
            return
        values = np.array(given, dtype=object)
    if values.dtype.kind != "O" and not are_large(values):
        return
    values = values.reshape(len(values), -1)
    for j in range(values.shape[1]) if columns is None else columns:
        there = values[:, j]
        if there.dtype.kind == "O":
            there = whole_numbers(there)
        elif not are_large(there):
            continue
        require_apart(there, j, f"{where.rstrip(',')}, column {j} (counting from 0),", named=False)
