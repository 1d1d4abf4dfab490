"""Observed: rows of arrays or of tables, what is missing in them, and the numbers that they become."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import Array, Columns, Points, as_points, counted, describe_missing
from shrinktest._rounding import coarsest, merged
from shrinktest.notes import note
from shrinktest.tables.column import Column
from shrinktest.tables.encoding import Encoding
from shrinktest.tables.pooled import PooledTable, checked_types, is_unasked
from shrinktest.tables.reading import is_table, series_label, shown_names, table_of
from shrinktest.tables.transform import transformed
from shrinktest.units import Scale, as_scale, beside_others

Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Taken:
    """The numbers of the rows that are kept, and how they came about."""

    values: Array
    scale: Scale | None = None
    encoding: Encoding | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Observed(ABC):
    """Rows of one or several arrays or tables, with what is missing in them."""

    names: tuple[str, ...]  # what messages call the arrays or tables

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Numbers of rows."""

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """Names of the columns, of tables."""

    @property
    def shown(self) -> Columns:
        """Names of the columns in messages: of series, too."""
        return self.columns

    def shown_in(self, i: int) -> Columns:
        """The same in messages about one of the arrays or tables, of which series may have other names."""
        return self.shown

    @abstractmethod
    def missing(self) -> Rows:
        """Which values are missing (rows, columns), of all rows."""

    @abstractmethod
    def as_columns(self) -> tuple[Column, ...]:
        """The columns, of arrays by their numbers from 0."""

    @abstractmethod
    def taken(self, keep: Rows, scale: Any, argument: str, *, indicate: bool) -> Taken:
        """The rows that are kept, as numbers."""

    def complete(self, nan_policy: str, *, given: bool = False) -> list[Rows]:
        """For every array or table, which rows miss nothing; raises ValueError where nothing may be missing.

        Of what is ``given`` no missing value is information, and the message does not say that it could be.
        """
        indicator = "" if given else " (nan_policy='indicator' takes it as information that they are missing)"
        found, start = [], 0
        whole = self.missing()
        for i, (size, name) in enumerate(zip(self.sizes, self.names, strict=True)):
            missing = whole[start : start + size]
            start += size
            if nan_policy == "raise" and missing.any():
                raise ValueError(
                    f"{name} has {describe_missing(missing, self.shown_in(i))}; remove or impute them, or pass "
                    f"nan_policy='omit' to drop their rows{indicator}"
                )
            found.append(np.ones(size, dtype=bool) if nan_policy == "indicator" else np.asarray(~missing.any(axis=1)))
        return found

    def missing_in(self, i: int | None = None) -> dict[tuple[str, str], Rows]:
        """Which values are missing in each column of the array or table i, or, of pairs, in any; by both names."""
        each = np.split(self.missing(), np.cumsum(self.sizes)[:-1])
        gaps, name = (np.any(each, axis=0), " or ".join(self.names)) if i is None else (each[i], self.names[i])
        labels = self.shown_in(i or 0) or tuple(map(str, range(gaps.shape[1])))
        return {(name, label): one for label, one in zip(labels, gaps.T, strict=True)}

    def omitted(self, keep: Sequence[Rows]) -> tuple[str, ...]:
        """How many rows were left out of what, and for which columns, if any were."""
        if all(rows.all() for rows in keep):
            return ()
        why = self.holes()
        rows = " and ".join(
            f"{int((~kept).sum())} of {counted(len(kept), 'row')} of {name}"
            for kept, name in zip(keep, self.names, strict=True)
            if not kept.all()
        )
        return (note("missing-left-out", rows=rows, where=f"; missing in {why}" if why else ""),)

    def with_values(self, keep: Sequence[Rows], *, together: bool) -> int:
        """How many of the rows that are left out have a value in some column: in both rows of a pair, ``together``."""
        out = ~np.concatenate(keep)
        if not out.any():
            return 0
        missing = self.missing()
        if together:
            missing = np.tile(missing.reshape(len(keep), -1, missing.shape[1]).any(axis=0), (len(keep), 1))
        return int((out & ~missing.all(axis=1)).sum())

    def holes(self) -> str:
        """In which columns values are missing, and how many; empty where none is."""
        missing = self.missing().sum(axis=0)
        each = [shown for i in range(len(self.sizes)) if (shown := self.shown_in(i))]
        of_series = (" and ".join(dict.fromkeys(shown[0] for shown in each)),) if len(each) == len(self.sizes) else ()
        labels = self.shown or of_series or tuple(f"column {j}" for j in range(len(missing)))
        return ", ".join(f"{label} ({count})" for label, count in zip(labels, missing, strict=True) if count)


@dataclass(frozen=True, eq=False)
class ObservedArrays(Observed):
    """Arrays of numbers."""

    pooled: Array  # (N, d): all rows
    rows: tuple[int, ...]  # of every array

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.rows

    @property
    def columns(self) -> Columns:
        return None

    def as_columns(self) -> tuple[Column, ...]:
        return table_of(Points(self.pooled, None)).columns

    def missing(self) -> Rows:
        return np.isnan(self.pooled)

    def taken(self, keep: Rows, scale: Any, argument: str, *, indicate: bool) -> Taken:
        units = None if is_unasked(scale) else as_scale(scale, self.pooled.shape[1], argument)
        if isinstance(units, tuple):
            units = tuple(beside_others(units))
        return Taken(self.pooled if keep.all() else self.pooled[keep], units)


@dataclass(frozen=True, eq=False)
class ObservedTables(Observed):
    """Tables, and arrays of which some columns are to be read in a particular way."""

    pooled: PooledTable
    of_series: tuple[str | None, ...] = ()  # for every table the name of the series that it is

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.pooled.sizes

    @property
    def table(self) -> Any:
        """All rows."""
        return self.pooled.table

    @property
    def columns(self) -> Columns:
        return self.table.names if self.table.named else None

    @property
    def shown(self) -> Columns:
        return shown_names(self.table.names, named=self.table.named)

    def shown_in(self, i: int) -> Columns:
        own = self.of_series[i] if self.of_series else None
        return self.shown or (None if own is None else (own,))

    def as_columns(self) -> tuple[Column, ...]:
        return self.pooled.table.columns

    def missing(self) -> Rows:
        return self.pooled.missing()

    def taken(self, keep: Rows, scale: Any, argument: str, *, indicate: bool) -> Taken:
        values, encoding = self.pooled.encoded(keep, scale, indicate=indicate, argument=argument)
        what, unasked = " and ".join(self.names), is_unasked(scale)
        notes = (*self.pooled.notes, *encoding.notes(what, unasked=unasked and self.table.named))
        return Taken(values, encoding=encoding, notes=notes)


def omitted_together(given: Sequence[Any], read: Sequence[Observed], keep: Rows) -> tuple[str, ...]:
    """How many rows of variables were left out, and for which columns of which of them, if any were.

    A table that is ``given`` for several variables is spoken of once.
    """
    if keep.all():
        return ()
    once = [one for v, one in enumerate(read) if not any(given[v] is before for before in given[:v])]
    why = " and ".join(f"{holes} of {one.names[0]}" for one in once if (holes := one.holes()))
    rows = f"{int((~keep).sum())} of {counted(len(keep), 'row')}"
    return (note("missing-left-out", rows=rows, where=f"; missing in {why}"),)


def observed(
    tables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    column_types: Any = None,
    transform: Any = None,
    every: str = "all",
    *,
    labels: bool = False,
) -> Observed:
    """The rows of arrays or tables as users give them.

    Messages call them as ``names`` says, and say "both" or "all" of them as ``every`` does; ``nan_policy``,
    ``column_types`` and ``transform`` are arguments of the tests.  With ``labels`` columns say which rows belong
    together, or are taken as given, and are not compared.
    """
    if transform is not None:
        tables = transformed(tables, transform, names)
        names = [f"{name} after transform" for name in names]
    return as_they_are(tables, names, nan_policy, column_types, every, labels=labels, as_given=transform is None)


def as_they_are(
    tables: Sequence[Any],
    names: Sequence[str],
    nan_policy: str,
    column_types: Any = None,
    every: str = "all",
    *,
    labels: bool = False,
    as_given: bool = True,
) -> Observed:
    """The same of rows to which nothing is done before, or has been done: they are then not ``as_given``."""
    types = checked_types(column_types)
    if types or nan_policy == "indicator" or any(map(is_table, tables)):
        whole = PooledTable.read(tables, names, types, every, labels_only=labels)
        return ObservedTables(tuple(names), whole, tuple(series_label([table]) for table in tables))
    given = [as_points(table, name, tables=as_given) for table, name in zip(tables, names, strict=True)]
    read = [one.values for one in given]
    for points, name in zip(read, names, strict=True):
        if points.shape[1] != read[0].shape[1]:
            raise ValueError(
                f"{names[0]} has {counted(read[0].shape[1], 'column')} and {name} has "
                f"{counted(points.shape[1], 'column')}; {every} samples must hold the same variables, one per column"
            )
    pooled = np.concatenate(read) if len(read) > 1 else read[0]
    precision = coarsest(one.precision for one in given)
    return ObservedArrays(tuple(names), merged(pooled, precision), tuple(map(len, read)))
