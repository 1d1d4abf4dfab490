"""Dates and counters that come one after the other in two tables, and so say which table a row is from."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shrinktest.tables.column import Column
from shrinktest.tables.identifiers import FEW, all_differ, known
from shrinktest.tables.intervals import Units
from shrinktest.tables.pooled import PooledTable

#: How far the area under the ROC curve of two samples is from one half if one comes after the other, a few rows aside.
_APART = 0.49


def in_succession(pooled: PooledTable, asked: Collection[str], units: Units) -> tuple[str, ...]:
    """Name dates and counters of which nearly all in one table come after those in the other.

    Columns in ``asked``, of which the user names the type, are not among them.

    The overall test of a comparison is without these columns, which would decide it alone.  The choice looks at which
    row is in which table.  It keeps the level, because it removes evidence only where the ranks of the column itself
    are among the most extreme ones: if the tables have one distribution, 11 or more independent rows, pairs or groups
    of each are in such an order with probability below 0.001, and then a test with the column would reject as well.
    """
    size = pooled.sizes[0]
    if not pooled.table.named or min(np.unique(codes).size for codes in np.split(units.codes, [size])) <= FEW:
        return ()
    columns = [one for one in pooled.table.columns if one.name not in asked]
    return tuple(one.name for one in columns if _apart(one, *np.split(one.values, [size])))


def _apart(column: Column, first: np.ndarray, second: np.ndarray) -> bool:
    counts = column.kind == "number" and column.whole and all_differ(first) and all_differ(second)
    first, second = known(first), np.sort(known(second))
    if not (counts or column.kind == "date") or min(first.size, second.size) <= FEW:
        return False
    before = (np.searchsorted(second, first, "left") + np.searchsorted(second, first, "right")) / (2.0 * second.size)
    return bool(abs(before.mean() - 0.5) >= _APART)
