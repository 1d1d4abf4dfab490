"""Units of columns in batches, of which standard deviations are of all rows, and medians of a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest.data.survey import Seen
from shrinktest.notes import note
from shrinktest.units import as_scale, beside_gaps


def settled_units(units: Any, gaps: Sequence[int], seen: Seen) -> Any:
    """Return units with standard deviations in place of "sd", which are 1 for constant columns.

    In the columns ``gaps`` a number stands in place of missing values, with an indicator beside each that, as in
    memory, says as much as the column does if its unit is a number.
    """
    among = units if isinstance(units, tuple) else (units,) if isinstance(units, str) else ()
    if "sd" not in among and all(isinstance(units[j], str) for j in gaps):
        return as_scale(units, len(seen.low))
    each = list(units) if isinstance(units, tuple) else [units] * len(seen.low)
    each = beside_gaps(each, gaps, np.where(seen.constant, 0.0, seen.deviations))
    return tuple(sd if unit == "sd" else unit for unit, sd in zip(each, seen.deviations.tolist(), strict=True))


def fill_notes(gaps: Sequence[int], drawn: int, rows: int) -> tuple[str, ...]:
    """Return a note on what stands in place of missing values, unless that is of all rows."""
    if not gaps or drawn == rows:
        return ()
    return (note("random-sample", what="The median that replaces missing numbers", rows=drawn),)
