"""Units of columns in batches, of which standard deviations are of all rows, and medians of a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def deviations_in(units: Any, scale: Any, gaps: Sequence[int]) -> bool:
    """Whether standard deviations are wanted.

    Parameters
    ----------
    units : str, tuple or None
        Of every column of numbers, or one for all.
    scale
        As it was asked for.
    gaps : sequence of int
        Columns in which a number stands in place of missing values, with an indicator beside each.
    """
    return units == "sd" or (isinstance(units, tuple) and "sd" in units) or (scale is None and bool(gaps))


def settled_units(units: Any, scale: Any, gaps: Sequence[int], deviations: np.ndarray) -> tuple[Any, ...]:
    """Units with the standard deviations (d,) in place of "sd".

    As in memory, without a scale an indicator is in units of the column that it stands beside.
    """
    found = list(units) if isinstance(units, tuple) else [units] * len(deviations)
    if scale is None:
        for j in gaps:
            found[j + 1] /= deviations[j]
    return tuple(sd if one == "sd" else one for one, sd in zip(found, deviations.tolist(), strict=True))


def said_of_fills(gaps: Sequence[int], drawn: int, rows: int) -> tuple[str, ...]:
    """A note on what stands in place of missing values, where that is not of all rows."""
    if not gaps or drawn == rows:
        return ()
    return (f"What stands in place of missing numbers is the median in a random sample of {drawn} rows.",)
