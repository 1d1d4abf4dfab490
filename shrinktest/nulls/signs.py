"""Signs: relabellings that turn single observations, or whole groups, to the other side of zero."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest.nulls.draws import coins
from shrinktest.nulls.relabellings import Relabellings


@dataclass(frozen=True, eq=False)
class Signs(Relabellings):
    """Signs (B, n), 1 or -1 for every observation, the same within a group.

    All signs turned are no other relabelling: a squared norm does not see it.
    """

    unit: np.ndarray  # (n,): a code 0, 1, ... for every observation: the group with which it turns
    restriction = "signs of residuals"

    @property
    def size(self) -> int:
        return len(self.unit)

    @property
    def _units(self) -> int:
        return int(self.unit.max()) + 1

    @property
    def distinct(self) -> int:
        return int(2 ** (self._units - 1))

    @property
    def magnitude(self) -> float:
        return (self._units - 1) * math.log(2.0)

    def draw(self, rows: int) -> np.ndarray:
        signs = 1.0 - 2.0 * coins(self._seeds(rows), self._units)
        return signs if np.array_equal(self.unit, np.arange(self._units)) else signs[:, self.unit]

    def every(self) -> Iterator[np.ndarray]:
        for signs in itertools.product((1.0, -1.0), repeat=self._units - 1):
            yield np.array((1.0, *signs))[self.unit]
