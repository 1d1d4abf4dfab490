"""Rows: a sample that is read piece by piece, and how the rows of a piece are made numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._validate import as_points, counted
from shrinktest.batches.pieces import Piece
from shrinktest.batches.source import Batches


@dataclass(frozen=True, eq=False)
class Reader:
    """How the rows of any piece of a sample are read; it holds no rows, and goes to any worker.

    Parameters
    ----------
    name : str
        What messages call the sample.
    names : tuple of str, optional
        Of columns, in the order in which they are read.
    columns : tuple of int, optional
        Numbers of the columns that are read, where they have no names; default all.
    omit : bool
        Whether rows with missing values are left out, which are an error otherwise.
    size : int
        Rows to read at a time.
    """

    name: str
    names: tuple[str, ...] | None
    columns: tuple[int, ...] | None
    omit: bool
    size: int

    def rows_of(self, piece: Piece) -> Iterator[tuple[np.ndarray, int]]:
        """Complete rows (k, d), float32 or float64, and how many were left out among them.

        Raises
        ------
        TypeError, ValueError
            For rows that are no finite numbers; says where.
        """
        first = piece.first
        for given in piece.read(self.size):
            values = self.numbers(given, piece.where)
            kept = values if np.isfinite(values).all() else self._complete(values, piece.where, first)
            yield kept, len(values) - len(kept)
            first += len(values)

    def numbers(self, given: Any, where: str) -> np.ndarray:
        """Rows (k, d), float32 or float64, complete or not, of what a piece called ``where`` gave."""
        plain = type(given) in (np.ndarray, np.memmap) and given.dtype.kind in "biuf"
        if plain and given.ndim in (1, 2) and given.size:
            kept = given.dtype in (np.float32, np.float64)
            values = np.asarray(given, dtype=None if kept else np.float64).reshape(len(given), -1)
        elif len(given := given if np.ndim(given) else [given]) == 0:
            values = np.empty((0, np.shape(given)[1] if np.ndim(given) == 2 else 1))
        else:
            values = as_points(given, where).values
        return values if self.columns is None else self._selected(values, where)

    def _selected(self, values: np.ndarray, where: str) -> np.ndarray:
        assert self.columns is not None
        for one in self.columns:
            if not isinstance(one, int | np.integer) or not 0 <= one < values.shape[1]:
                raise ValueError(
                    f"columns: {where.rstrip(',')} has {counted(values.shape[1], 'column')} without names, and no "
                    f"column {one!r}; give numbers from 0 on"
                )
        return values[:, list(self.columns)]

    def _complete(self, values: np.ndarray, where: str, first: int) -> np.ndarray:
        if (infinite := np.isinf(values)).any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(f"{where} has an infinite value in row {first + row}, column {column} (counting from 0)")
        missing = np.isnan(values)
        if not self.omit:
            row, column = (int(one) for one in np.argwhere(missing)[0])
            label = repr(self.names[column]) if self.names else str(column)
            raise ValueError(
                f"{where.rstrip(',')} has a missing value (NaN) in row {first + row}, column {label} (counting from "
                "0); remove such rows, or use nan_policy='omit'"
            )
        return values[~missing.any(axis=1)]


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

    @property
    def reader(self) -> Reader:
        """How any piece of it is read."""
        chosen = self.batches.columns if self.names is None else None
        columns = None if chosen is None else tuple(chosen)
        return Reader(self.name, self.names, columns, self.omit, self.batches.size)

    @property
    def counted(self) -> bool:
        """Whether pieces know, before they are read, how many of their rows are kept."""
        return self.batches.counted and not self.omit

    @property
    def signature(self) -> Any:
        """What tells these rows from others without reading them; None where nothing does."""
        known = self.batches.signature(self.name)
        return None if known is None else [known, self.names, self.reader.columns, self.omit, self.batches.size]

    @property
    def there(self) -> bool:
        """Whether all pieces are there before they are read, and are not made one after the other."""
        return self.batches.there

    def pieces(self) -> Iterator[Piece]:
        """All of it, in order."""
        return self.batches.pieces(self.name, self.names)
