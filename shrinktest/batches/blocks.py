"""Blocks: the rows of a sample in pieces that do not depend on how they were cut into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest._validate import counted
from shrinktest.batches.source import Batches


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one sample, as often as they are wanted.

    Parameters
    ----------
    batches : Batches
    name : str
        What messages call the sample.
    names : tuple of str, optional
        Of columns, in the order in which they are read.
    omit : bool
        Whether rows with missing values are left out, which are an error otherwise.
    """

    batches: Batches
    name: str
    names: tuple[str, ...] | None
    omit: bool

    def blocks(self, size: int, left_out: Callable[[int], object] = lambda rows: None) -> Iterator[np.ndarray]:
        """All rows in blocks (size, d), the last of which may be shorter, one after the other in the same memory.

        Sums and matrix products round by the shape of what they are given: what is made of these blocks has the same
        bits however the rows were cut.  ``left_out`` is told how many rows with missing values were left out.
        """
        room = np.empty((0, 0))
        filled = 0
        for where, first, values in self.batches.parts(self.name, self.names):
            if len(values) == 0:
                continue
            if room.size == 0:
                room = np.empty((size, values.shape[1]))
            if values.shape[1] != room.shape[1]:
                raise ValueError(
                    f"{where.rstrip(',')} has {counted(values.shape[1], 'column')}, and {self.name} had "
                    f"{room.shape[1]} before"
                )
            missing = np.isnan(values)
            if missing.any():
                self._require_omit(where, first, missing)
                values = values[~missing.any(axis=1)]
                left_out(len(missing) - len(values))
            start = 0
            while start < len(values):
                taken = min(size - filled, len(values) - start)
                room[filled : filled + taken] = values[start : start + taken]
                filled, start = filled + taken, start + taken
                if filled == size:
                    yield room
                    filled = 0
        if filled:
            yield room[:filled]

    def _require_omit(self, where: str, first: int, missing: np.ndarray) -> None:
        if self.omit:
            return
        row, column = (int(one) for one in np.argwhere(missing)[0])
        label = repr(self.names[column]) if self.names else str(column)
        raise ValueError(
            f"{where.rstrip(',')} has a missing value (NaN) in row {first + row}, column {label} (counting from 0); "
            "remove such rows, or use nan_policy='omit'"
        )
