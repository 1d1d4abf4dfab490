"""Encoding: how the columns of a table become the numbers that a kernel compares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from shrinktest._check import Array, as_points, counted, listed
from shrinktest.data.column import WORDS, Column, Table, recoded
from shrinktest.data.scale import ScaleOption
from shrinktest.data.summary import ColumnSummary, as_common
from shrinktest.data.tables import is_table, read_table, table_of
from shrinktest.data.untestable import Untestable
from shrinktest.notes import note
from shrinktest.units import (
    TYPICAL,
    NoUnit,
    Units,
    beside_gaps,
    by_name,
    constant_columns,
    deviations,
    entries_by_name,
)

_MICROSECONDS = 86400e6  # of a day
_DIGITS = 12  # of numbers that were in other units
_APART = 2.0**-0.5  # unit of an indicator of missing values: 0 and 1 are the square root of 2 apart


@dataclass(frozen=True)
class Code:
    """Rule by which a column becomes columns of numbers, its features."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()  # of categories those that occur
    origin: Any = None  # earliest date, from which days are counted
    fill: float | None = (
        None  # median, in place of missing values of an ordered variable; NaN until it is known
    )
    indicated: bool = False  # True if the last feature indicates missing values

    @classmethod
    def of(cls, summary: ColumnSummary, *, indicate: bool = False) -> Code:
        """Code a column by the summary of all its rows.

        With ``indicate`` missing values have an indicator.
        """
        kind = summary.kind
        indicated = indicate and summary.known < summary.size
        if kind in ("boolean", "category"):
            levels = tuple(name for name in summary.levels if name in summary.counts)
            return cls(summary.name, kind, levels, indicated=indicated)
        origin = (
            (np.datetime64(0, "us") if summary.low is None else summary.low)
            if kind == "date"
            else None
        )
        return cls(
            summary.name, kind, summary.levels, origin, np.nan if indicated else None, indicated
        )

    @property
    def categorical(self) -> bool:
        """True if every level has an indicator."""
        return self.kind in ("boolean", "category")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        values = (
            tuple(f"{self.name} = {level}" for level in self.levels)
            if self.categorical
            else (self.name,)
        )
        return (*values, f"{self.name} is missing") if self.indicated else values

    def numbers(self, column: Column) -> Array:
        """Return the numbers of a column, shape (n, features).

        Missing values without an indicator are NaN.

        Raises ValueError for levels that the code does not have.
        """
        missing = column.missing()
        if self.categorical:
            codes = recoded(column.values, column.levels, self.levels)
            if (strange := (codes < 0) & ~missing).any():
                level = column.levels[column.values[strange][0]]
                raise ValueError(
                    f"column {self.name!r} has the level {level!r}, which the tested data lack; "
                    f"they have {listed(self.levels)}"
                )
            values = (codes[:, np.newaxis] == np.arange(len(self.levels))).astype(np.float64)
            if not self.indicated:
                values[missing] = np.nan
        else:
            values = column.numbers(self.origin)[:, np.newaxis]
            if self.fill is not None:
                values[missing] = self.fill
        return (
            np.hstack([values, missing[:, np.newaxis].astype(np.float64)])
            if self.indicated
            else values
        )

    def column(self, numbers: Array) -> Column:
        """Return the column that has these numbers (n, features), which rounding may have moved."""
        missing = np.isnan(numbers).any(axis=1)
        if self.indicated:
            missing = numbers[:, -1] != 0.0
        if self.categorical:
            values = numbers[:, : len(self.levels)].argmax(axis=1) if self.levels else missing - 1
            return Column(self.name, self.kind, np.where(missing, -1, values), self.levels)
        values = numbers[:, 0]
        if self.kind == "ordered":
            codes = np.where(missing, -1, np.rint(np.where(missing, 0.0, values)))
            return Column(self.name, self.kind, codes.astype(np.int64), self.levels)
        if self.kind in ("date", "duration"):
            ticks = np.rint(np.where(missing, 0.0, values) * _MICROSECONDS).astype(np.int64)
            times = ticks.astype("timedelta64[us]") + (self.origin or np.timedelta64(0, "us"))
            times[missing] = "NaT"
            return Column(self.name, self.kind, times)
        distinct, places = np.unique(values, return_inverse=True)
        near = np.array([float(f"{value:.{_DIGITS}g}") for value in distinct.tolist()])
        return Column(self.name, self.kind, np.where(missing, np.nan, near[places]))

    def units(self, scale: Any) -> list[Any]:
        """Return the unit of each feature for the variable unit ``scale``.

        ``scale`` is a name, a number or None.
        """
        plain = 1.0 if scale is None else scale
        level = 1.0 / TYPICAL.get(plain, 1.0) if isinstance(plain, str) else plain
        if self.categorical:
            return [level] * len(self.features)
        return (
            [plain, _APART * (level if isinstance(plain, str) else 1.0)]
            if self.indicated
            else [plain]
        )


@dataclass(frozen=True, eq=False)
class Encoding:
    """Rules by which the columns of a table become the numbers that a kernel compares.

    Numbers, ordered categories (their position), dates and durations (in days) and times of day (in
    hours) have one feature each, in units that ``scale`` says.  A category has an indicator for
    every level, so that two different levels are as far apart as two numbers in units of their
    standard deviation are on average: their squared distance is 2. Missing values, if they are
    indicated, are the pooled median and an indicator of the same size; if the unit of their column
    is a number, of that size times the standard deviation of the column in this unit.

    Examples
    --------
    A table in memory is one chunk: ``Encoding.of`` takes for every column the summaries of all
    samples, and ``fitted`` finds medians and units on the pooled rows.

    >>> import pandas as pd
    >>> X, Y = (
    ...     pd.DataFrame({"size": [1.0, 3.0], "part": ["a", "b"]}),
    ...     pd.DataFrame({"size": [2.0], "part": ["b"]}),
    ... )
    >>> summaries = [[ColumnSummary.of(X[name]), ColumnSummary.of(Y[name])] for name in X]
    >>> encoding = Encoding.of(summaries, None)
    >>> encoding.features
    ('size', 'part = a', 'part = b')
    >>> encoding(X)
    array([[1., 1., 0.],
           [3., 0., 1.]])
    """

    codes: tuple[Code, ...]
    units: Units = field(repr=False)  # of the features
    scale: ScaleOption  # as the user gave it
    named: bool = True  # False if the names of columns are only their numbers
    constant: tuple[str, ...] = ()  # columns with one value only

    @classmethod
    def of(
        cls,
        columns: Sequence[Sequence[ColumnSummary]],
        scale: Any,
        *,
        indicate: bool = False,
        named: bool = True,
    ) -> Encoding:
        """Encode columns by the summaries of each in all samples.

        Units by name are 1 until they are found.
        """
        codes = tuple(
            Code.of(reduce(ColumnSummary.merge, samples), indicate=indicate) for samples in columns
        )
        width = sum(len(code.features) for code in codes)
        return cls(codes, Units((1.0,) * width, np.empty((0, width))), ScaleOption.of(scale), named)

    def fitted(self, table: Table, *, whose: str = "") -> tuple[Encoding, Array]:
        """Find medians and units on all tested rows, and return these rows as numbers.

        Messages call the table ``whose``.
        """
        raw = self.raw(table)
        codes = list(self.codes)
        for i, group in enumerate(self.groups):
            if codes[i].fill is not None:
                gaps = raw[:, group.stop - 1] != 0.0
                fill = 0.0 if gaps.all() else float(np.median(raw[~gaps, group.start]))
                codes[i], raw[gaps, group.start] = replace(codes[i], fill=fill), fill
        missing = np.isnan(raw).any(axis=1)
        complete = raw[~missing] if missing.any() else raw
        entries = list(self.entries(self.scale))
        filled = gaps_of(codes)
        if any(not isinstance(entries[j], str) for j in filled):
            entries = beside_gaps(
                entries, filled, deviations(complete) if len(complete) else np.ones(raw.shape[1])
            )
        constant = (
            constant_columns(complete) if len(complete) else np.zeros(raw.shape[1], dtype=bool)
        )
        shown = [name if name.isdigit() and not self.named else repr(name) for name in self.names]
        called = [f"{shown[i]} of {whose}" if whose else shown[i] for i in self._places]
        try:
            units = Units(tuple(entries), complete).settled(called)
        except NoUnit as error:
            column = self.names[self._places[called.index(error.column)]]
            raise Untestable(str(error), whose, column, error.reason) from None
        encoding = replace(self, codes=tuple(codes), units=units).knowing(constant)
        return encoding, np.ascontiguousarray(units.moved(raw))

    def knowing(self, constant: np.ndarray) -> Encoding:
        """Return the encoding with the knowledge which features have one value only."""
        names = tuple(
            entry
            for entry, group in zip(self.names, self.groups, strict=True)
            if constant[group].all()
        )
        return replace(self, constant=names)

    def without(self, names: Collection[str]) -> tuple[Encoding, np.ndarray]:
        """Return the encoding without some columns, and which features (d,) stay."""
        stays = ~np.isin(self.names, [*names])[self._places]
        scale = tuple(unit for unit, stay in zip(self.units.scale, stays, strict=True) if stay)
        part = replace(
            self,
            codes=tuple(code for code in self.codes if code.name not in names),
            units=Units(scale, self.units.points[:, stays]),
            constant=tuple(name for name in self.constant if name not in names),
        )
        return part, stays

    # --- what the columns are called, and where their features are ---

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(code.name for code in self.codes)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns, if the user gave them names."""
        return self.names if self.named else None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature for code in self.codes for feature in code.features)

    @property
    def _places(self) -> np.ndarray:
        """Return the number of the column of every feature (d,)."""
        return np.repeat(np.arange(len(self.codes)), [len(code.features) for code in self.codes])

    @property
    def groups(self) -> tuple[slice, ...]:
        """Features of every column of the table."""
        ends = np.cumsum([0, *(len(code.features) for code in self.codes)]).tolist()
        return tuple(slice(*pair) for pair in pairwise(ends))

    @property
    def dated(self) -> np.ndarray:
        """Return which features (d,) are dates."""
        return np.array([code.kind == "date" for code in self.codes])[self._places]

    @property
    def together(self) -> np.ndarray:
        """A label for every feature (d,), the same for all categories of one variable."""
        starts = [
            j == 0 or not code.categorical for code in self.codes for j in range(len(code.features))
        ]
        return np.cumsum(starts) - 1

    @property
    def indicators(self) -> np.ndarray:
        """The indicator of missing values that belongs to every feature (d,); -1 for none."""
        places = np.full(len(self.features), -1)
        for code, group in zip(self.codes, self.groups, strict=True):
            if code.indicated:
                places[slice(group.start, group.stop if code.categorical else group.stop - 1)] = (
                    group.stop - 1
                )
        return places

    @property
    def plain(self) -> bool:
        """True if every column is one feature of numbers, so that arrays can be read as well."""
        return all(code.kind == "number" and not code.indicated for code in self.codes)

    # --- numbers ---

    def raw(self, table: Table) -> Array:
        """Return the numbers of a table with these columns, in their order, before units."""
        out = np.empty((len(table), len(self.features)))
        for code, column, group in zip(self.codes, table.columns, self.groups, strict=True):
            out[:, group] = code.numbers(column)
        return out

    def decoded(self, points: Array) -> tuple[Column, ...]:
        """Return the columns of a table from the numbers (n, features) of its tested rows."""
        raw = self.units.points
        if not len(raw):
            raw = points * self.units.units()
        return tuple(
            code.column(raw[:, group]) for code, group in zip(self.codes, self.groups, strict=True)
        )

    def points(self, table: Table) -> Array:
        """Return the numbers of a table with these columns, in their order, shape (n, features)."""
        return np.ascontiguousarray(self.units.moved(self.raw(table)))

    def entries(self, scale: ScaleOption) -> tuple[Any, ...]:
        """Return the unit of every feature, a name or a number, for a ``scale`` of the columns."""
        each = scale.of_columns(self.names)
        return tuple(
            unit for code, entry in zip(self.codes, each, strict=True) for unit in code.units(entry)
        )

    def __call__(self, x: Any, name: str = "points") -> Array:
        """Return the numbers of a table with these named columns, or of a numeric array.

        An array is used if all columns are numbers.

        Raises TypeError or ValueError for other columns, other kinds, missing values without an
        indicator, and levels that the data which were tested do not have; messages call the table
        ``name``.
        """
        if is_table(x):
            alone = not self.named and len(self.codes) == 1  # a series, whose column is read as "0"
            typed = [code for code in self.codes if code.kind not in ("duration", "time")]
            types = {
                "0" if alone else c.name: [*c.levels] if c.kind == "ordered" else c.kind
                for c in typed
            }
            table = read_table(x, name, types)
        elif self.plain:
            table = table_of(as_points(x, name))
        else:
            kinds = ", ".join(f"{code.name} ({code.kind})" for code in self.codes)
            raise TypeError(
                f"{name} must be a table with the columns that were tested: {kinds}; got an array"
            )
        columns = dict(zip(table.names, table.columns, strict=True))
        if not (table.named and self.named):
            if len(columns) != len(self.codes):
                tested = f"{len(self.codes)} were tested: {', '.join(self.names)}"
                raise ValueError(f"{name} has {counted(len(columns), 'column')}, and {tested}")
            columns = dict(zip(self.names, table.columns, strict=True))
        if lacking := [entry for entry in self.names if entry not in columns]:
            raise ValueError(
                f"{name} lacks columns that were tested: {listed(lacking)}; it has "
                f"{listed(table.names)}"
            )
        return self.points(
            Table(tuple(_as_tested(columns[code.name], code, name) for code in self.codes))
        )

    read = __call__

    def by_feature(self, given: Any, name: str) -> Any:
        """Repeat numbers for columns, by name or one for each, for every feature.

        Return anything else as it is.
        """
        if entries_by_name(given) is not None:
            values = by_name(given, self.names, name)
        elif not isinstance(given, str | list) and np.ndim(given) == 1:
            values = list(given)
        else:
            return given
        if len(values) != len(self.codes):
            which = f" ({listed(self.names)})" if self.named and len(self.codes) <= 12 else ""
            raise ValueError(
                f"{name} has {len(values)} entries for "
                f"{counted(len(self.codes), 'column')}{which}; pass one for each "
                "that is tested"
            )
        return tuple(values[i] for i in self._places)

    # --- pictures, notes, plain values ---

    def typical(self, points: Array) -> Array:
        """Return a central row of others (n, features): medians and most frequent levels."""
        middle = np.median(points, axis=0)
        for code, group in zip(self.codes, self.groups, strict=True):
            if code.categorical:
                means = points[:, group].mean(axis=0)
                middle[group] = np.where(
                    np.arange(len(means)) == means.argmax(), points[:, group].max(axis=0), 0.0
                )
        return np.asarray(middle)

    def notes(self, what: str, *, unasked: bool) -> tuple[str, ...]:
        """Return notes on columns and units.

        ``unasked`` says that the units are the default for tables.
        """
        notes = []
        if self.constant:
            columns = "columns {} have" if len(self.constant) > 1 else "column {} has"
            notes.append(
                note(
                    "no-weight",
                    which=f"{what}: {columns.format(', '.join(self.constant))}",
                    unit="",
                )
            )
        if unasked and len(self.codes) > 1:
            notes.append(note("units-sd"))
        if filled := [code.name for code in self.codes if code.indicated]:
            notes.append(note("missing-is-information", name=what, columns=", ".join(filled)))
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return how every column was read, as plain values."""
        units = self.units.scale
        columns = [
            {
                **{key: getattr(code, key) for key in ("name", "kind", "fill", "indicated")},
                "levels": list(code.levels),
                "origin": None if code.origin is None else str(code.origin),
                "features": list(code.features),
                "units": [
                    units if isinstance(units, str) else units[j]
                    for j in range(group.start, group.stop)
                ],
            }
            for code, group in zip(self.codes, self.groups, strict=True)
        ]
        return {"columns": columns, "named": self.named, "constant": list(self.constant)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self.to_dict() == other.to_dict() and np.array_equal(
            self.units.points, other.units.points
        )

    __hash__ = None  # type: ignore[assignment]  # it holds an array


def _as_tested(column: Column, code: Code, name: str) -> Column:
    """Return a column as the kind that was tested.

    Raise for missing values without an indicator, and other kinds.
    """
    missing = column.missing()
    if missing.any() and not code.indicated:
        raise ValueError(
            f"{name} has {counted(int(missing.sum()), 'missing value')} in column {column.name!r}, "
            "the first in row "
            f"{int(missing.argmax())} (counting from 0); remove such rows first"
        )
    if code.kind in ("duration", "time") and column.kind != code.kind and not missing.all():
        tested = WORDS[code.kind]
        given = WORDS[column.kind]
        raise TypeError(
            f"{name}, column {column.name!r}, holds {given}; the tested data hold {tested}"
        )
    levels = column.levels if code.categorical and column.kind == code.kind else code.levels
    return as_common(column, code.kind, levels)


def gaps_of(codes: Sequence[Code]) -> tuple[int, ...]:
    """Return the features with missing values filled, each next to its missing indicator."""
    starts = np.cumsum([0, *(len(code.features) for code in codes)]).tolist()
    return tuple(
        j for code, j in zip(codes, starts, strict=False) if code.indicated and not code.categorical
    )
