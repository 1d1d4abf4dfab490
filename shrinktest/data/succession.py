"""Columns of two tables whose values come after each other: dates and counters."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shrinktest.data.all_rows import AllRows
from shrinktest.data.column import Column
from shrinktest.data.summary import FEW

#: Distance of the area under the ROC curve from one half if one sample comes after the other, a few
#: rows aside.
_APART = 0.49


def in_succession(pooled: AllRows, typed: Collection[str], units: np.ndarray) -> tuple[str, ...]:
    """Name dates and counters of which nearly all in one table come after those in the other.

    Columns in ``typed``, of which the user names the type, are not among them.  ``units`` (N,) are
    the codes of independent rows, pairs or groups.

    The overall test of a comparison is without these columns, which would decide it alone.  The
    choice looks at which row is in which table.  It keeps the level, because it removes evidence
    only where the ranks of the column itself are among the most extreme ones: if the tables have
    one distribution, 11 or more independent rows, pairs or groups of each are in such an order with
    probability below 0.001, and then a test with the column would reject as well.
    """
    size = pooled.sizes[0]
    fewest = min(np.unique(codes).size for codes in np.split(units, [size]))
    if not pooled.table.named or fewest <= FEW:
        return ()
    return tuple(
        column.name
        for column in pooled.table.columns
        if column.name not in typed and _one_after_the_other(column, size)
    )


def _one_after_the_other(column: Column, size: int) -> bool:
    """Return True for a date or a counter whose first ``size`` rows come before or after others."""
    first, second = np.split(column.values, [size])
    counts = column.kind == "number" and column.whole and _all_differ(first) and _all_differ(second)
    if not counts and column.kind != "date":
        return False
    first = first[first == first]
    second = np.sort(second[second == second])
    if min(first.size, second.size) <= FEW:
        return False
    below = np.searchsorted(second, first, "left")
    up_to = np.searchsorted(second, first, "right")
    before = (below + up_to) / second.size
    return bool(abs(0.5 * before.mean() - 0.5) >= _APART)


def _all_differ(values: np.ndarray) -> bool:
    """Return True if no two numbers are equal, and at least half are known."""
    known = values[~np.isnan(values)]
    return 2 * known.size >= values.size and np.unique(known).size == known.size
