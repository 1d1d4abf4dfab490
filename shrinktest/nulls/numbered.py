"""Relabellings that were drawn by keys before the data were read, and are known by their numbers from then on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from shrinktest.nulls.relabellings import Relabellings


@dataclass(frozen=True)
class Numbered(Relabellings):
    """Numbers (B, 1) of relabellings, in their order; 0 is that of the data as they are.

    There are so many that all of them are never used.
    """

    _next: Iterator[int] = field(default_factory=lambda: itertools.count(1), repr=False)

    @property
    def size(self) -> int:
        return 1

    @property
    def distinct(self) -> int:
        return int(self.n_resamples) + 1

    @property
    def magnitude(self) -> float:
        return math.inf

    def draw(self, rows: int) -> np.ndarray:
        self.skip(rows)  # so that another test by the same generator has other keys
        return np.array(list(itertools.islice(self._next, rows)), dtype=np.int64).reshape(rows, 1)

    def every(self) -> Iterator[np.ndarray]:
        return iter([np.array([0])])
