"""Columns from Python's values: text, numbers, dates, and what stands for a category."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import check_digits
from shrinktest.tables.column import (
    WORDS,
    Column,
    from_booleans,
    from_hours,
    from_moments,
    from_numbers,
    level_of_object,
    real_numbers,
)


def from_objects(name: str, entries: Sequence[Any], where: str, wanted: Any = None) -> Column:
    """A column from Python objects of one type, None and NaN among them; ``where`` is what messages call it.

    Those of several types, or of one that is no variable, are read only where categories or their levels are
    ``wanted``, and are a TypeError otherwise.  Raises ValueError for dates that cannot be read, and for whole numbers
    that are not told apart as floats.
    """
    present = [entry for entry in entries if not _is_none(entry)]
    for types, kind in _OBJECTS:
        if all(isinstance(entry, types) for entry in present) and not (
            kind == "number" and any(isinstance(entry, bool) for entry in present)
        ):
            try:
                column = _of_kind(name, entries, kind)
            except (OverflowError, ValueError) as error:
                raise ValueError(f"{where} holds {WORDS[kind]} that cannot be read: {error}") from None
            if kind == "number" and wanted == "category":
                return from_text(name, [None if _is_none(entry) else entry for entry in entries])
            if kind == "number":
                check_digits(present, where, name)
            return column
    if wanted == "category" or isinstance(wanted, list | tuple):
        return from_text(name, [None if _is_none(entry) else level_of_object(entry) for entry in entries])
    first = present[0]
    odd = next((entry for entry in present if type(entry) is not type(first)), first)
    found = f"{first!r} ({type(first).__name__})" + (f" and {odd!r} ({type(odd).__name__})" if odd is not first else "")
    raise TypeError(
        f"{where} must hold real numbers, text, dates, or True and False, of one type; got {found}; convert it, leave "
        f"it out, or read it as categories: column_types={{{name!r}: 'category'}}"
    )


def from_text(name: str, entries: Sequence[Any]) -> Column:
    """A column of categories from text, or numbers that stand for categories; None is missing."""
    distinct = dict.fromkeys(entries)
    called = {entry: level_of_object(entry) for entry in distinct if not _is_none(entry)}
    levels = sorted(set(called.values()))
    places = {level: i for i, level in enumerate(levels)}
    code = {entry: places[called[entry]] if entry in called else -1 for entry in distinct}
    codes = np.fromiter(map(code.__getitem__, entries), dtype=np.int64, count=len(entries))
    return Column(name, "category", codes, tuple(levels))


def _of_kind(name: str, entries: Sequence[Any], kind: str) -> Column:
    entries = [None if _is_none(entry) else entry for entry in entries]
    if kind == "category":
        return from_text(name, entries)
    if kind == "time":
        return from_hours(name, entries)
    if kind == "date":
        return _from_dates(name, entries)
    if kind == "duration":
        return from_moments(name, list(map(_as_numpy, entries)), kind)
    values = np.array([math.nan if entry is None else float(entry) for entry in entries])
    return from_booleans(name, values) if kind == "boolean" else from_numbers(name, values)


def _from_dates(name: str, entries: Sequence[Any]) -> Column:
    zones = {getattr(entry, "tzinfo", None) is not None for entry in entries if entry is not None}
    if len(zones) > 1:
        raise ValueError("some have a time zone and some have none")
    if True in zones:
        entries = [one and one.astimezone(datetime.UTC).replace(tzinfo=None) for one in entries]
    return from_moments(name, list(map(_as_numpy, entries)), "date", zoned=True in zones)


def _as_numpy(entry: Any) -> Any:
    """A date or duration of pandas as numpy's, for Python's have no nanoseconds; others as they are."""
    read = getattr(entry, "to_datetime64", getattr(entry, "to_timedelta64", None))
    return entry if read is None else read()


def _is_none(entry: Any) -> bool:
    """Whether this stands for a missing value: None, NaN, NaT or NA."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float) and math.isnan(entry)


#: Types of Python's objects, and the kind of column that they make; what is missing is of every type.
_OBJECTS: tuple[tuple[Any, str], ...] = (
    ((bool, np.bool_), "boolean"),
    (real_numbers(), "number"),
    (str, "category"),
    ((datetime.date, np.datetime64), "date"),
    ((datetime.timedelta, np.timedelta64), "duration"),
    (datetime.time, "time"),
)
