"""What users give for every column: by the names of columns, or one for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import choice, listed
from shrinktest.units import Scale, as_scale, as_unit, beside_others


def scale_each(scale: Any, names: Sequence[str], argument: str) -> list[Any]:
    """The unit of every column: None, a name or a number."""
    if hasattr(scale, "keys"):
        given = zip(names, by_name(scale, names, argument, rest="sd"), strict=True)
        return beside_others([None if one is None else as_unit(one, f"{argument}[{name!r}]") for name, one in given])
    found: Scale | None = as_scale(scale, len(names), argument)
    return beside_others(found) if isinstance(found, tuple) else [found] * len(names)


def numbers_at(units: Any, columns: Sequence[int]) -> bool:
    """Whether the unit of one of these columns is a number."""
    return any(not isinstance(units[j], str) for j in columns)


def beside_gaps(units: Sequence[Any], gaps: Sequence[int], deviations: np.ndarray) -> list[Any]:
    """Units where the indicator beside a column in a unit that is a number says as much as the column does.

    Under "sd" an indicator is as large as the distance of two of a typical pair is.  In another unit it is as many
    times larger or smaller as the standard deviation of its column is: to name a unit, or to divide the column by that
    number before, is then the same.

    ``units`` has a name or a number for every column of numbers, and for an indicator that beside "sd"; ``gaps`` are
    the columns with missing values, each with its indicator next to it.  ``deviations`` (d,) are the standard
    deviations of all columns, 0 for those with one value only, whose indicators stay as they are.
    """
    found = list(units)
    for j in gaps:
        if not isinstance(found[j], str) and deviations[j] > 0.0:
            found[j + 1] = found[j + 1] * found[j] / deviations[j]
    return found


def by_name(given: Any, names: Sequence[str], argument: str, rest: Any = None) -> list[Any]:
    """The entries of a mapping or a series in the order of columns; ``rest`` for columns without one.

    Raises ValueError for names that are no columns, and, without ``rest``, for columns without an entry.
    """
    known = {str(key): given[key] for key in given.keys()}  # noqa: SIM118  # a series iterates over its values
    for key in known:
        choice(key, names, f"a column in {argument}")
    lacking = [name for name in names if name not in known]
    if lacking and rest is None:
        raise ValueError(f"{argument} has no entry for {listed(lacking)}; give one for every column")
    return [known.get(name, rest) for name in names]
