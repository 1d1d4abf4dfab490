"""Units of columns in batches, of which standard deviations are of all rows, and medians of a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest.notes import note
from shrinktest.units import beside_gaps


def deviations_in(units: Any, gaps: Sequence[int]) -> bool:
    """Return True if standard deviations are needed for the units of any column of numbers.

    In the columns ``gaps`` a number stands in place of missing values, with an indicator beside each.
    """
    return (
        units == "sd"
        or (isinstance(units, tuple) and "sd" in units)
        or any(not isinstance(units[j], str) for j in gaps)
    )


def settled_units(units: Any, gaps: Sequence[int], deviations: np.ndarray, constant: np.ndarray) -> tuple[Any, ...]:
    """Units with the standard deviations (d,) in place of "sd", which are 1 for ``constant`` columns (d,).

    As in memory, the indicator beside a column in a unit that is a number says as much as the column does.
    """
    found = list(units) if isinstance(units, tuple) else [units] * len(deviations)
    found = beside_gaps(found, gaps, np.where(constant, 0.0, deviations))
    return tuple(sd if one == "sd" else one for one, sd in zip(found, deviations.tolist(), strict=True))


def said_of_fills(gaps: Sequence[int], drawn: int, rows: int) -> tuple[str, ...]:
    """A note on what stands in place of missing values, where that is not of all rows."""
    if not gaps or drawn == rows:
        return ()
    return (note("random-sample", what="The median that replaces missing numbers", rows=drawn),)
