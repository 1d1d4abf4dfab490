"""BlockLength: how many successive rows of a time series move together in a permutation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shrinktest._check import counted

#: Values of ``block_length`` beside numbers of rows: found from the autocorrelation, or the series
#: in one piece.
AUTO = "auto"
WHOLE = "whole"


@dataclass(frozen=True)
class BlockLength:
    """Number of successive rows that move together.

    None for the whole series, which is shifted circularly.
    """

    rows: int | None

    @property
    def whole(self) -> bool:
        """True if a series is shifted in one piece, its end joined to its start."""
        return self.rows is None

    def words(self, series: int) -> str:
        """Describe what is permuted in so many series.

        0 if the rows are one series without a label.
        """
        if self.rows is None:
            return f"circular shifts of {series} series" if series else "circular shifts"
        blocks = f"blocks of {counted(self.rows, 'successive row')}"
        return f"{blocks} within {series} series" if series else blocks

    @property
    def remedy(self) -> str:
        """What to do if there are too few permutations."""
        shorter = "a number for" if self.rows is None else "a smaller"
        return f"observe longer series, or more of them, or use {shorter} block_length="


def split_by_blocks(series: Sequence[np.ndarray], blocks: np.ndarray | None) -> list[np.ndarray]:
    """Split series, each given by its rows, into pieces of one block."""
    if blocks is None:
        return list(series)
    pieces = []
    for rows in series:
        pieces += [rows[blocks[rows] == block] for block in np.unique(blocks[rows])]
    return pieces


def successive_blocks(
    parts: Sequence[np.ndarray], length: int, blocks: np.ndarray | None = None
) -> np.ndarray:
    """Number (N,) of the block of successive rows that every row is in.

    No block has rows of two parts, or of two ``blocks`` of the design.
    """
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    series = [np.arange(*ends) for ends in pairwise(starts)]
    numbers = np.empty(starts[-1], dtype=np.int64)
    count = 0
    for rows in split_by_blocks(series, blocks):
        numbers[rows] = count + np.arange(rows.size) // length
        count += -(-rows.size // length)
    return numbers
