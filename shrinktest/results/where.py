"""Where: in which places two columns together differ between two tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Where:
    """The witness function of two columns of numbers, on a grid.

    Parameters
    ----------
    columns : tuple of str
    kinds : tuple of str
        Of the columns.
    lines : tuple of ndarray
        The grid, along each column; dates in days since 1970, durations in days, times of day in hours.
    heights : ndarray, shape (grid, grid)
        Mean of the second table less mean of the first: above zero where the second has more.
    outside : ndarray of bool, shape (grid, grid), or None
        Where it leaves the simultaneous permutation band, which there is for independent rows only.
    points : tuple of ndarray, shape (n, 2)
        Rows of each table, to be drawn.
    confidence : float
        Confidence of the band.
    sampled : bool
        Whether it is that of some of the rows, chosen at random.
    """

    columns: tuple[str, str]
    kinds: tuple[str, str]
    lines: tuple[np.ndarray, np.ndarray]
    heights: np.ndarray
    outside: np.ndarray | None
    points: tuple[np.ndarray, np.ndarray]
    confidence: float
    sampled: bool = False
