"""Shifts of y within short blocks of successive pairs, the same in all blocks of a group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest.nulls.draws import numbers
from shrinktest.nulls.relabellings import Relabellings


@dataclass(frozen=True)
class GroupShifts(Relabellings):
    """By how many places y is shifted in the blocks of every group, (B, groups) whole numbers below ``length``.

    What leaves a block at its end comes back at its start.  The shifts form a group, and leave the data as likely as
    they were where y is independent of x and the pairs of a block are exchangeable.
    """

    groups: int
    length: int  # pairs of a block

    @property
    def restriction(self) -> str:  # type: ignore[override]
        """In words."""
        return f"within {self.length} successive pairs"

    @property
    def size(self) -> int:
        return self.groups

    @property
    def distinct(self) -> int:
        return int(self.length**self.groups)

    @property
    def magnitude(self) -> float:
        return self.groups * math.log(self.length)

    def draw(self, rows: int) -> np.ndarray:
        return numbers(self._seeds(rows), np.full(self.groups, self.length))

    def every(self) -> Iterator[np.ndarray]:
        return (np.array(one) for one in itertools.product(range(self.length), repeat=self.groups))
