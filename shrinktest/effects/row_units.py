"""Rows of two samples, and the independent units that they belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class RowUnits:
    """Independent units of two tables: their rows, or the pairs or groups of rows."""

    sizes: tuple[int, int]  # rows of both tables
    # (N,): the unit of every row, the first table's before the second's; whole numbers from 0
    codes: np.ndarray
    paired: bool = False  # True if a unit has a row in each table

    @classmethod
    def rows(cls, sizes: tuple[int, int], *, paired: bool = False) -> RowUnits:
        """Return independent rows, or pairs of which row i of each table is one."""
        return cls(
            sizes, np.arange(sum(sizes)) % sizes[0] if paired else np.arange(sum(sizes)), paired
        )

    def taken(self, keep: np.ndarray) -> RowUnits:
        """Return the units of the rows that are kept."""
        first = int(keep[: self.sizes[0]].sum())
        return RowUnits((first, int(keep.sum()) - first), self.codes[keep], self.paired)

    @property
    def alone(self) -> bool:
        """Return True if every row is a unit of its own."""
        return not self.paired and np.unique(self.codes).size == self.codes.size

    @property
    def table(self) -> np.ndarray:
        """Table of every row: the first (0) or the second (1)."""
        return np.repeat([0, 1], self.sizes)

    def sums(self, *values: np.ndarray) -> np.ndarray:
        """Sums (units, k, 2) of k values (N,) each, by unit and table."""
        _, codes = np.unique(self.codes, return_inverse=True)
        count = int(codes.max(initial=-1)) + 1
        places = 2 * codes + self.table
        flat = [
            np.bincount(places, weights=column, minlength=2 * count).reshape(count, 2)
            for column in values
        ]
        return np.stack(flat, axis=1).astype(np.float64)
