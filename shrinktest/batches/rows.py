"""Rows: a sample that is read piece by piece, and how the rows of a piece are made numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shrinktest._check import Points, as_points, check_digits, counted, listed
from shrinktest._rounding import precision_of
from shrinktest.batches.files import orders_in
from shrinktest.batches.pieces import Piece
from shrinktest.batches.source import Batches
from shrinktest.data.column import DROP, Column, Table
from shrinktest.data.encoding import Encoding
from shrinktest.data.tables import is_table, pooled, read_names, read_table, table_of


@dataclass(frozen=True, eq=False)
class Reader:
    """How the rows of any piece of a sample are read; it holds no rows, and goes to any worker."""

    name: str  # what messages call the sample
    names: tuple[str, ...] | None  # of columns, in the order in which they are read
    columns: tuple[int, ...] | None  # numbers of the columns that are read, where they have no names; default all
    omit: bool  # whether rows with missing values are left out, which are an error otherwise
    size: int  # rows to read at a time

    def rows_of(self, piece: Piece) -> Iterator[tuple[np.ndarray, int]]:
        """Complete rows (k, d), float32 or float64, and how many were left out among them.

        Raises TypeError or ValueError, which says where, for rows that are no finite numbers.
        """
        first = piece.first
        for given in piece.read(self.size):
            values = self.numbers(given, piece.where)
            kept = values if np.isfinite(values).all() else self._complete(values, piece.where, first)
            yield kept, len(values) - len(kept)
            first += len(values)

    def read(self, given: Any, where: str, first: int) -> Any:
        """Rows, complete or not, of what a piece called ``where`` gave, the first of which has the number ``first``."""
        return self.numbers(given, where)

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
        values = values if self.columns is None else self._selected(values, where)
        if plain and values.size and np.asarray(given).dtype.kind in "iu":
            whole = np.asarray(given).reshape(len(given), -1)
            for j in range(whole.shape[1]) if self.columns is None else self.columns:
                check_digits(whole[:, j], f"{where.rstrip(',')}, column {j} (counting from 0),")
        return values

    def _selected(self, values: np.ndarray, where: str) -> np.ndarray:
        assert self.columns is not None
        for one in self.columns:
            if isinstance(one, bool) or not isinstance(one, int | np.integer) or not 0 <= one < values.shape[1]:
                raise ValueError(
                    f"{where} has {counted(values.shape[1], 'column')} without names, and no "
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
class Coding:
    """How tables become numbers."""

    encoding: Encoding  # with units of 1
    seen: tuple[Column, ...]  # a few values of every column, among them all levels, which say what kind of column it is

    def columns(self, table: Table) -> tuple[Column, ...]:
        """The columns of a part of the rows as those of all rows are: of the same kind, with the same levels."""
        names = "other rows", table.source or "one table"
        both = zip(self.seen, table.columns, strict=True)
        return tuple(pooled((seen, column), names).taken(slice(len(seen), None)) for seen, column in both)


@dataclass(frozen=True, eq=False)
class TableReader(Reader):
    """How the rows of tables are read: as columns, or as numbers once it is known how they become some."""

    # the kinds that columns are read as, by name, where somebody said so
    types: Mapping[str, Any] = field(default_factory=dict)
    code: Coding | None = None

    def rows_of(self, piece: Piece) -> Iterator[tuple[Any, int]]:
        """A Table; with a code the numbers of complete rows (k, d), and how many were left out among them."""
        first = piece.first
        for given in piece.read(self.size):
            if not (size := len(given)):
                continue
            table = self.read(given, piece.where, first)
            if self.code is None:
                yield table, 0
            else:
                values = self._coded(table, first)
                yield values, size - len(values)
            first += size

    def read(self, given: Any, where: str, first: int) -> Table:
        """The rows as columns."""
        where = where.rstrip(",")
        if isinstance(given, Table):
            return given
        arrow = type(given).__module__.startswith("pyarrow")
        if arrow:  # whose conversions import pandas where it is installed, and other threads must not see a part of it
            with suppress(ImportError):
                import pandas  # noqa: F401
        if not is_table(given):
            values = self.numbers(given, where)
            points = Points(values.astype(np.float64, copy=False), None, precision_of(values.dtype))
            return replace(read_table(table_of(points), where, self.types), source=where)
        there, types = read_names(given), dict(self.types)
        if self.names is not None and there is not None:
            if lacking := [name for name in self.names if name not in there]:
                raise ValueError(f"{where} has no column {listed(lacking)}; it has {listed(there)}")
            types |= {name: DROP for name in there if name not in self.names}
        if arrow:
            types = {**orders_in(given), **types}
        table = read_table(given, f"{where}, rows from {first} on" if first else where, types)
        columns = table.columns
        if self.names is not None and there is not None:
            found = {column.name: column for column in columns}
            columns = tuple(found[name] for name in self.names)
        return replace(table, columns=columns, source=where)

    def _coded(self, table: Table, first: int) -> np.ndarray:
        """The numbers of complete rows, in the order of the columns that were seen."""
        assert self.code is not None
        columns = self.code.columns(table)
        both = zip(columns, self.code.encoding.codes, strict=True)
        missing = np.column_stack([column.missing() & (not code.indicated) for column, code in both])
        if missing.any() and not self.omit:
            row, column = (int(one) for one in np.argwhere(missing)[0])
            raise ValueError(
                f"{table.source} has a missing value in row {first + row}, column {columns[column].name!r} (counting "
                "from 0); remove such rows, or use nan_policy='omit'"
            )
        return self.code.encoding.points(Table(columns).taken(~missing.any(axis=1)))


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one sample, as often as they are wanted."""

    batches: Batches
    name: str  # what messages call the sample
    names: tuple[str, ...] | None  # of columns, in the order in which they are read
    omit: bool  # whether rows with missing values are left out, which are an error otherwise
    # for tables, which may be no numbers: the kinds that columns are read as, by name, where somebody said so
    types: Mapping[str, Any] | None = None
    code: Coding | None = None  # how such tables become numbers, once it is known

    @property
    def reader(self) -> Reader:
        """How any piece of it is read."""
        chosen = self.batches.columns if self.names is None else None
        columns = None if chosen is None else tuple(chosen)
        how = self.name, self.names, columns, self.omit, self.batches.size
        return Reader(*how) if self.types is None else TableReader(*how, self.types, self.code)

    @property
    def counted(self) -> bool:
        """Whether pieces know, before they are read, how many of their rows are kept."""
        return self.batches.counted and not self.omit

    @property
    def signature(self) -> Any:
        """What tells these rows from others without reading them; None where nothing does."""
        known = self.batches.signature(self.name)
        told = [] if self.types is None else [repr(sorted(self.types.items()))]
        read = [self.names, self.reader.columns, self.omit, self.batches.size]
        return None if known is None else [known, *read, *told]

    @property
    def there(self) -> bool:
        """Whether all pieces are there before they are read, and are not made one after the other."""
        return self.batches.there

    def pieces(self) -> Iterator[Piece]:
        """All of it, in order."""
        return self.batches.pieces(self.name, self.names, self.types)

    def without(self, places: Collection[int]) -> Rows:
        """The same without some of its columns, which have names."""
        if not places:
            return self
        if self.names is None:
            raise ValueError(
                f"{self.name} has columns without names, of which none can be dropped; choose others with "
                "Batches(..., columns=[...])"
            )
        kept = tuple(name for j, name in enumerate(self.names) if j not in places)
        types = {name: kind for name, kind in (self.types or {}).items() if name in kept}
        return replace(self, names=kept, types=types)
