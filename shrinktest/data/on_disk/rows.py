"""Rows of a sample: how chunks of arrays and tables become numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import Points, as_points, check_digits, counted, listed
from shrinktest._rounding import SINGLE, precision_of, rounded
from shrinktest.data.column import DROP, Column, Table
from shrinktest.data.encoding import Code, Encoding
from shrinktest.data.on_disk.sources import Batches
from shrinktest.data.on_disk.storage import Chunk
from shrinktest.data.summary import as_common
from shrinktest.data.tables import is_table, read_names, read_table, table_of


@dataclass(frozen=True, eq=False)
class Reader:
    """Reader of the rows of any chunk of a sample; it holds no rows, and is sent to workers."""

    name: str  # in messages
    names: tuple[str, ...] | None  # of columns, in the order in which they are read
    columns: (
        tuple[int, ...] | None
    )  # numbers of the columns that are read, if they have no names; default all
    omit: bool  # True if rows with missing values are left out, which are an error otherwise
    types: Mapping[str, Any] | None = (
        None  # of columns of tables, as users give them; None if all hold numbers
    )
    code: Encoding | None = None  # how tables become numbers, once it is known
    single: tuple[
        bool, ...
    ] = ()  # columns of numbers that are rounded to single precision, as in other samples

    def numbers(self, chunk: Chunk) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield complete rows (k, d), and which rows (n,) of the part these are."""
        for values, complete in self._numbers_as_given(chunk):
            yield self._rounded(values), complete

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        """Round columns to single precision, where other samples have no more."""
        if not any(self.single) or values.dtype == SINGLE:
            return values
        return np.where(self.single, rounded(values, SINGLE), values)

    def _numbers_as_given(self, chunk: Chunk) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for where, first, part in self.parts(chunk):
            if isinstance(part, Table):
                yield self._coded(part, first)
            elif (finite := np.isfinite(part)).all():
                yield part, np.ones(len(part), dtype=bool)
            else:
                complete = self._complete(part, finite, where, first)
                yield part[complete], complete

    def parts(self, chunk: Chunk) -> Iterator[tuple[str, int, Any]]:
        """Yield rows as numbers or, if columns may hold something else, as tables.

        With missing values.
        """
        first = chunk.first
        for given in chunk.parts():
            if size := len(given):
                table = self.types is not None
                part = (
                    self._table(given, chunk.where, first)
                    if table
                    else self._numbers(given, chunk.where)
                )
                yield chunk.where, first, part
                first += size

    def _numbers(self, given: Any, where: str) -> np.ndarray:
        plain = (
            type(given) in (np.ndarray, np.memmap)
            and given.dtype.kind in "biuf"
            and given.ndim in (1, 2)
        )
        if plain:
            is_float = given.dtype in (np.float32, np.float64)
            values = np.asarray(given, dtype=None if is_float else np.float64).reshape(
                len(given), -1
            )
        else:
            values = as_points(given, where).values
        for column in self.columns or ():
            if (
                isinstance(column, bool)
                or not isinstance(column, int | np.integer)
                or not 0 <= column < values.shape[1]
            ):
                raise ValueError(
                    f"{where} has {counted(values.shape[1], 'column')} without names, and no "
                    f"column {column!r}; use "
                    "numbers from 0 on"
                )
        if plain and given.dtype.kind in "iu":
            whole = np.asarray(given).reshape(len(given), -1)
            for j in range(whole.shape[1]) if self.columns is None else self.columns:
                check_digits(whole[:, j], f"{where.rstrip(',')}, column {j} (counting from 0),")
        return values if self.columns is None else values[:, list(self.columns)]

    def _complete(
        self, values: np.ndarray, finite: np.ndarray, where: str, first: int
    ) -> np.ndarray:
        """Return which rows miss nothing.

        Raises ValueError for infinite values, and missing ones unless omitted.
        """
        missing = np.isnan(values)
        wrong = ~finite & ~missing if self.omit else ~finite
        if wrong.any():
            row, column = (int(place) for place in np.argwhere(wrong)[0])
            label = repr(self.names[column]) if self.names else str(column)
            what = "a missing value (NaN)" if missing[row, column] else "an infinite value"
            remedy = "; use nan_policy='omit'" if missing[row, column] else ""
            raise ValueError(
                f"{where.rstrip(',')} has {what} in row {first + row}, column {label} (counting "
                f"from 0){remedy}"
            )
        return np.asarray(~missing.any(axis=1))

    def _table(self, given: Any, where: str, first: int) -> Table:
        where = where.rstrip(",")
        types = dict(self.types or {})
        if isinstance(given, Table):
            return given
        if type(given).__module__.startswith("pyarrow"):
            types = {**_ordered_levels(given), **types}
        if not is_table(given):
            values = self._numbers(given, where)
            points = Points(values.astype(np.float64, copy=False), None, precision_of(values.dtype))
            return replace(read_table(table_of(points), where, types), source=where)
        known = read_names(given)
        names = self.names if known is not None else None
        if names is not None and known is not None:
            if lacking := [name for name in names if name not in known]:
                raise ValueError(f"{where} has no column {listed(lacking)}; it has {listed(known)}")
            types |= {name: DROP for name in known if name not in names}
        table = read_table(given, f"{where}, rows from {first} on" if first else where, types)
        columns = {column.name: column for column in table.columns}
        ordered = table.columns if names is None else tuple(columns[name] for name in names)
        return replace(table, columns=ordered, source=where)

    def _coded(self, table: Table, first: int) -> tuple[np.ndarray, np.ndarray]:
        assert self.code is not None
        codes = self.code.codes
        both = list(zip(table.columns, codes, strict=True))
        columns = tuple(
            as_common(column, code.kind, _levels(column, code)) for column, code in both
        )
        both = list(zip(columns, codes, strict=True))
        missing = np.column_stack(
            [column.missing() & (not code.indicated) for column, code in both]
        )
        if missing.any() and not self.omit:
            row, column = (int(place) for place in np.argwhere(missing)[0])
            raise ValueError(
                f"{table.source} has a missing value in row {first + row}, column "
                f"{columns[column].name!r} (counting "
                "from 0); use nan_policy='omit'"
            )
        complete = np.asarray(~missing.any(axis=1))
        return self.code.points(Table(columns).taken(complete)), complete


def _levels(column: Column, code: Code) -> tuple[str, ...]:
    """Return the levels of a column as it is read again.

    Those that only rows with missing values have are kept.
    """
    more = sorted({*column.levels} - {*code.levels}) if code.kind == "category" else []
    return (*code.levels, *more)


def _ordered_levels(table: Any) -> dict[str, list[Any]]:
    """Return the levels of ordered categories of an Arrow table, by the names of their columns."""
    import pyarrow.types as types

    ordered = [
        each.name for each in table.schema if types.is_dictionary(each.type) and each.type.ordered
    ]
    columns = {name: table.column(name) for name in ordered}
    return {
        name: column.chunk(0).dictionary.to_pylist()
        for name, column in columns.items()
        if column.num_chunks
    }


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one sample, as often as they are wanted."""

    batches: Batches
    reader: Reader

    @classmethod
    def of(
        cls,
        batches: Batches,
        name: str,
        names: Sequence[str] | None,
        omit: bool,
        types: Mapping[str, Any] | None = None,
    ) -> Rows:
        """Return the rows of a sample that messages call ``name``; see :class:`Reader`."""
        columns = tuple(batches.columns) if names is None and batches.columns is not None else None
        return cls(
            batches, Reader(name, None if names is None else tuple(names), columns, omit, types)
        )

    @property
    def name(self) -> str:
        return self.reader.name

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.reader.names

    @property
    def counted(self) -> bool:
        """True if chunks know how many rows they have."""
        return self.batches.counted

    def chunks(self) -> Iterator[Chunk]:
        """Yield all of them in order."""
        return self.batches.chunks(self.name, self.names, self.reader.types)

    @property
    def signature(self) -> Any:
        """Return what identifies these rows without reading them; None if nothing does."""
        known = self.batches.signature(self.name)
        reader = self.reader
        types = sorted((self.reader.types or {}).items())
        return known and [
            known,
            reader.names,
            reader.columns,
            reader.omit,
            self.batches.size,
            repr(types),
        ]

    def in_single(self, columns: Sequence[bool]) -> Rows:
        """Round some columns of numbers to single precision."""
        return replace(self, reader=replace(self.reader, single=tuple(columns)))

    def only(self, columns: Sequence[int]) -> Rows:
        """Keep some of the columns, which have names."""
        if self.names is None:
            raise ValueError(
                f"{self.name} has columns without names; choose them with Batches(..., "
                "columns=[...])"
            )
        names = tuple(self.names[j] for j in columns)
        types = {name: kind for name, kind in (self.reader.types or {}).items() if name in names}
        return replace(self, reader=replace(self.reader, names=names, types=types))


def rows_of_samples(
    batches: Sequence[Batches], names: Sequence[str], nan_policy: str, types: dict[str, Any]
) -> tuple[tuple[Rows, ...], tuple[str, ...] | None]:
    """Return the rows of all samples, and the names of their columns.

    Raise ValueError if these differ.
    """
    known = [each.names(name) for each, name in zip(batches, names, strict=True)]
    first = next((each for each in known if each is not None), None)
    both = list(zip(batches, names, known, strict=True))
    for each, name, columns in both:
        if columns is not None and first is not None and set(columns) != set(first):
            raise ValueError(
                f"{each.called(name)} has the columns {', '.join(columns)}, and another sample "
                f"{', '.join(first)}; "
                "choose common ones: Batches(..., columns=[...])"
            )
    tables = (
        bool(types)
        or nan_policy == "indicator"
        or any(each.mixed(name, columns) for each, name, columns in both)
    )
    read = types if tables else None
    omit = nan_policy == "omit"
    rows = (
        Rows.of(each, name, first if columns else None, omit, read) for each, name, columns in both
    )
    return tuple(rows), first
