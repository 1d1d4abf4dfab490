"""Pieces: consecutive rows of a sample, each of which any worker may read by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


class Piece(ABC):
    """Consecutive rows of a sample.

    A subclass has ``where``, what messages call it; ``first``, the number of its first row there; and ``rows``, how
    many there are, with missing values or without, or None where nobody knows before they are read.
    """

    where: str
    first: int
    rows: int | None

    @abstractmethod
    def read(self, size: int) -> Iterator[Any]:
        """The rows in order, about ``size`` at a time."""


@dataclass(frozen=True, eq=False)
class Held(Piece):
    """Rows that are in memory, or mapped into it."""

    where: str
    first: int
    values: Any

    @property
    def rows(self) -> int:  # type: ignore[override]
        return len(self.values) if getattr(self.values, "ndim", 2) else 1

    def read(self, size: int) -> Iterator[Any]:
        if not isinstance(self.values, np.ndarray) or self.values.ndim == 0:
            yield self.values
            return
        for start in range(0, len(self.values), size):
            yield self.values[start : start + size]
