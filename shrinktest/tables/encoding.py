"""Encoding: how the columns of a table become the numbers that a kernel compares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shrinktest._check import Array, as_points, counted, listed
from shrinktest.notes import note
from shrinktest.plots.axes import UNITS, Along
from shrinktest.tables.by_column import beside_gaps, by_name, numbers_at, scale_each
from shrinktest.tables.column import WORDS, Column
from shrinktest.tables.reading import Table, is_table, read_table, table_of
from shrinktest.tables.untestable import Untestable
from shrinktest.units import TYPICAL, Units, constant_columns, deviations, moves

_APART = 2.0**-0.5  # unit of an indicator that says what two of a pair say: 0 and 1 are the square root of 2 apart


@dataclass(frozen=True)
class Code:
    """How one column becomes numbers."""

    # those of the column
    name: str
    kind: str
    levels: tuple[str, ...] = ()
    origin: Any = None  # what is subtracted from dates: the earliest
    # what stands in place of missing values of an ordered variable (the pooled median), beside an indicator
    fill: float | None = None
    indicated: bool = False  # whether there is an indicator of missing values

    @classmethod
    def of(cls, column: Column, *, indicate: bool) -> Code:
        """How to encode the values of a pooled column; with ``indicate`` missing values have an indicator."""
        missing = column.missing()
        indicated = indicate and bool(missing.any())
        levels = column.levels
        if column.categorical:  # levels that occur
            levels = tuple(level for i, level in enumerate(levels) if (column.values == i).any())
        origin: Any = None
        if column.kind == "date":
            origin = column.values[~missing].min() if not missing.all() else np.datetime64(0, "us")
        code = cls(column.name, column.kind, levels, origin)
        if not indicated or column.categorical:
            return cls(column.name, column.kind, levels, origin, None, indicated)
        fill = float(np.median(code.numbers(column)[~missing, 0])) if not missing.all() else 0.0
        return cls(column.name, column.kind, levels, origin, fill, indicated)

    @property
    def features(self) -> tuple[str, ...]:
        """What its columns of numbers are called."""
        values = tuple(f"{self.name} = {level}" for level in self.levels) if self.categorical else (self.name,)
        return (*values, f"{self.name} is missing") if self.indicated else values

    @property
    def categorical(self) -> bool:
        """Whether every level has an indicator."""
        return self.kind in ("boolean", "category")

    def numbers(self, column: Column) -> Array:
        """The values of a column, shape (n, number of features); NaN where they are missing and not indicated."""
        missing = column.missing()
        if self.categorical:
            places = np.array([self._place(level, column, i) for i, level in enumerate(column.levels)] + [-1])
            values = (places[column.values][:, None] == np.arange(len(self.levels))).astype(np.float64)
            if not self.indicated:
                values[missing] = np.nan
        else:
            values = column.numbers(self.origin)[:, None]
            if self.fill is not None:
                values[missing] = self.fill
        return np.hstack([values, missing[:, None].astype(np.float64)]) if self.indicated else values

    def _place(self, level: str, column: Column, i: int) -> int:
        if level in self.levels:
            return self.levels.index(level)
        if (column.values == i).any():
            raise ValueError(
                f"column {self.name!r} has the level {level!r}, which the data that were tested have not; they have "
                f"{listed(self.levels)}"
            )
        return -1

    def units(self, scale: Any) -> list[Any]:
        """What one unit of each feature is, where one of the variable is ``scale`` (a name, a number or None).

        Beside a number that of an indicator is one in units of the variable's spread, see :func:`beside_gaps`.
        """
        plain = 1.0 if scale is None else scale
        level = 1.0 / TYPICAL.get(plain, 1.0) if isinstance(plain, str) else plain
        if self.categorical:
            return [level] * len(self.features)
        return [plain, _APART * (level if isinstance(plain, str) else 1.0)] if self.indicated else [plain]


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table become the numbers that a kernel compares.

    Numbers, ordered categories (their position), dates and durations (in days) and times of day (in hours) have one
    column of numbers each, in units that ``scale`` says.  A category has an indicator for every level, so that two
    different levels are as far apart as two numbers in units of their standard deviation are on average: their squared
    distance is 2.  Missing values, where they are indicated, are the pooled median and an indicator of the same size;
    where the unit of their column is a number, of that size times the standard deviation of the column in this unit.
    """

    codes: tuple[Code, ...]  # one for every column of the table
    units: Units = field(repr=False)  # of the columns of numbers
    scale: Any = None  # as it was asked for
    named: bool = True  # whether the columns have names of the user's
    constant: tuple[str, ...] = ()  # columns with one value only

    @classmethod
    def of(cls, table: Table, scale: Any, *, indicate: bool, name: str = "scale", whose: str = "") -> Encoding:
        """How to encode a pooled table; messages call ``scale`` ``name``, and say ``whose`` columns they speak of."""
        codes = tuple(Code.of(column, indicate=indicate) for column in table.columns)
        raw = _raw(codes, table)
        entries = list(_entries(codes, scale, name))
        missing = np.isnan(raw).any(axis=1)
        complete = raw[~missing] if missing.any() else raw
        gaps = gaps_of(codes)
        if numbers_at(entries, gaps):
            entries = beside_gaps(entries, gaps, deviations(complete) if len(complete) else np.ones(raw.shape[1]))
        constant = constant_columns(complete) if len(complete) else np.zeros(raw.shape[1], dtype=bool)
        called = [
            (repr(code.name) if table.named or not code.name.isdigit() else str(j)) + (f" of {whose}" if whose else "")
            for j, code in enumerate(codes)
            for _ in code.features
        ]
        try:
            units = Units(tuple(entries), complete).settled(called)
        except Untestable as error:
            names = [code.name for code in codes for _ in code.features]
            raise Untestable(str(error), whose, names[called.index(error.column)], error.reason) from None
        return cls(codes, units, scale, table.named).knowing(constant)

    def knowing(self, constant: np.ndarray) -> Encoding:
        """The same where it is known which columns of numbers have one value only."""
        names = tuple(one for one, group in zip(self.names, self.groups, strict=True) if constant[group].all())
        return replace(self, constant=names)

    def without(self, names: Collection[str]) -> tuple[Encoding, np.ndarray]:
        """The encoding without columns of the table, and which columns of numbers (d,) stay."""
        codes = tuple(code for code in self.codes if code.name not in names)
        stays = np.array([code.name not in names for code in self.codes for _ in code.features])
        scale = tuple(unit for unit, stay in zip(self.units.scale, stays, strict=True) if stay)
        constant = tuple(name for name in self.constant if name not in names)
        return replace(self, codes=codes, units=Units(scale, self.units.points[:, stays]), constant=constant), stays

    def entries(self, scale: Any) -> tuple[Any, ...]:
        """What one unit of every column of numbers is, a name or a number, for a ``scale`` of the columns."""
        return _entries(self.codes, scale, "scale")

    @property
    def dated(self) -> np.ndarray:
        """Which columns of numbers (d,) are of dates."""
        return np.array([code.kind == "date" for code in self.codes for _ in code.features])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(code.name for code in self.codes)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The same where they are names of the user's."""
        return self.names if self.named else None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return tuple(feature for code in self.codes for feature in code.features)

    @property
    def groups(self) -> tuple[slice, ...]:
        """For every column of the table its columns of numbers."""
        ends = np.cumsum([len(code.features) for code in self.codes]).tolist()
        return tuple(slice(start, end) for start, end in zip([0, *ends], ends, strict=False))

    @property
    def together(self) -> np.ndarray:
        """For every column of numbers (d,) a label, the same one for all categories of one variable."""
        of: list[int] = []
        for code in self.codes:
            of += [len(of)] * len(code.features) if code.categorical else range(len(of), len(of) + len(code.features))
        return np.unique(of, return_inverse=True)[1]

    @property
    def beside(self) -> np.ndarray:
        """For every column of numbers (d,) the one that says where its values are missing; -1 where none does."""
        of: list[int] = []
        for code in self.codes:
            last = len(of) + len(code.features) - 1
            own = [last] * len(code.features) if code.categorical else [last, -1]
            of += own if code.indicated else [-1] * len(code.features)
        return np.array(of)

    @property
    def plain(self) -> bool:
        """Whether every column is one column of numbers, so that an array says as much as a table."""
        return all(code.kind == "number" and not code.indicated for code in self.codes)

    def points(self, table: Table) -> Array:
        """The numbers of a table with these columns, shape (n, number of features)."""
        if moves(self.units.scale) and not len(self.units.points):
            raise ValueError(
                "ranks and deviations are taken in the pooled sample, which the JSON of a result does not hold; pickle "
                "the result to keep it, or run the test again"
            )
        return np.ascontiguousarray(self.units.moved(_raw(self.codes, table)))

    def read(self, x: Any, name: str) -> Array:
        """The numbers of a table with these columns by name, or of an array if all columns are numbers.

        Raises TypeError or ValueError for other columns, other kinds of values, or levels that the data which were
        tested do not have.
        """
        if not is_table(x):
            points = as_points(x, name)
            if not self.plain:
                kinds = ", ".join(f"{code.name} ({code.kind})" for code in self.codes)
                raise TypeError(f"{name} must be a table with the columns that were tested: {kinds}; got an array")
            if points.values.shape[1] != len(self.codes):
                raise ValueError(
                    f"{name} has {counted(points.values.shape[1], 'column')}, and {len(self.codes)} were tested: "
                    f"{', '.join(self.names)}"
                )
            return self.points(table_of(points))
        alone = not self.named and len(self.codes) == 1  # a series, whose column is read as "0"
        told = [code for code in self.codes if code.kind not in ("duration", "time")]
        types = {"0" if alone else one.name: list(one.levels) if one.kind == "ordered" else one.kind for one in told}
        given = read_table(x, name, types)
        columns = given.columns
        if given.named and self.named:
            known = dict(zip(given.names, columns, strict=True))
            lacking = [one for one in self.names if one not in known]
            if lacking:
                raise ValueError(
                    f"{name} lacks columns that were tested: {listed(lacking)}; it has {listed(given.names)}"
                )
            columns = tuple(known[one] for one in self.names)
        elif len(columns) != len(self.codes):
            raise ValueError(f"{name} has {counted(len(columns), 'column')}, and {len(self.codes)} were tested")
        for code, column in zip(self.codes, columns, strict=True):
            _require_readable(code, column, name)
        return self.points(Table(columns))

    def by_feature(self, given: Any, name: str) -> Any:
        """Numbers by the names of columns (a mapping or a series) or one for each column, as one for each feature.

        Anything else is returned as it is.
        """
        named = hasattr(given, "keys")
        if named or (not isinstance(given, str | list) and np.ndim(given) == 1):
            values = list(by_name(given, self.names, name) if named else given)
            if len(values) != len(self.codes):
                which = f" ({listed(self.names)})" if self.named and len(self.codes) <= 12 else ""
                raise ValueError(
                    f"{name} has {len(values)} entries for {counted(len(self.codes), 'column')}{which}; "
                    "give one for each that is tested"
                )
            return tuple(value for value, code in zip(values, self.codes, strict=True) for _ in code.features)
        return given

    def axis(self, name: str) -> Along:
        """To draw along a column."""
        code, group = next(pair for pair in zip(self.codes, self.groups, strict=True) if pair[0].name == name)
        label = name if self.named or not name.isdigit() else f"column {name}"
        if code.categorical:
            return Along(None, label)
        unit = self.units.scale[group.start]
        if isinstance(unit, str):
            return Along(group.start, f"{unit} of {label}")
        origin = 0.0 if code.origin is None else float((code.origin - np.datetime64(0, "D")) / np.timedelta64(1, "D"))
        label = f"{label} ({UNITS[code.kind]})" if code.kind in UNITS else label
        return Along(group.start, label, float(unit), origin, code.kind, code.levels)

    def typical(self, points: Array) -> Array:
        """A row in the middle of others (n, number of features): medians, and of categories the most frequent level."""
        found = np.median(points, axis=0)
        for code, group in zip(self.codes, self.groups, strict=True):
            if code.categorical:
                means = points[:, group].mean(axis=0)
                found[group] = np.where(np.arange(len(means)) == means.argmax(), points[:, group].max(axis=0), 0.0)
        return np.asarray(found)

    def notes(self, what: str, *, unasked: bool) -> tuple[str, ...]:
        """Notes on columns and units; ``unasked`` says that the units are the default for tables."""
        found = []
        if self.constant:
            many = len(self.constant) > 1
            have = f"column{'s' * many} {', '.join(self.constant)} {'have' if many else 'has'}"
            found.append(note("no-weight", which=f"{what}: {have}", unit=""))
        if unasked and len(self.codes) > 1:
            found.append(note("units-sd"))
        filled = [code.name for code in self.codes if code.indicated]
        if filled:
            found.append(note("missing-is-information", name=what, columns=", ".join(filled)))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """How every column was read, as plain values; without the pooled sample, of which ranks and deviations are."""
        units = self.units.scale
        columns = [
            {
                "name": code.name,
                "kind": code.kind,
                "levels": list(code.levels),
                "origin": None if code.origin is None else str(code.origin),
                "fill": code.fill,
                "indicated": code.indicated,
                "features": list(code.features),
                "units": [units if isinstance(units, str) else units[j] for j in range(group.start, group.stop)],
            }
            for code, group in zip(self.codes, self.groups, strict=True)
        ]
        return {"columns": columns, "named": self.named, "constant": list(self.constant)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        same = (self.codes, self.units.scale, self.named) == (other.codes, other.units.scale, other.named)
        return same and np.array_equal(self.units.points, other.units.points)

    __hash__ = None  # type: ignore[assignment]  # it holds an array


def gaps_of(codes: Sequence[Code]) -> tuple[int, ...]:
    """The columns of numbers with something in place of missing values, and an indicator of these beside them."""
    starts = np.cumsum([0, *(len(code.features) for code in codes)]).tolist()
    return tuple(j for code, j in zip(codes, starts, strict=False) if code.indicated and not code.categorical)


def _require_readable(code: Code, column: Column, name: str) -> None:
    """Raise for values of another kind than those that were tested, and for missing ones that have no indicator."""
    missing = column.missing()
    if missing.any() and not code.indicated:
        raise ValueError(
            f"{name} has {counted(int(missing.sum()), 'missing value')} in column {column.name!r}, the first in row "
            f"{int(missing.argmax())} (counting from 0); remove such rows first"
        )
    if code.kind in ("duration", "time") and column.kind != code.kind and not missing.all():
        tested, found = WORDS[code.kind], WORDS[column.kind]
        raise TypeError(f"{name}, column {column.name!r}, holds {found}; the data that were tested have {tested} there")


def _entries(codes: Sequence[Code], scale: Any, argument: str) -> tuple[Any, ...]:
    """What one unit of every column of numbers is: a name, or a number."""
    each = scale_each(scale, [code.name for code in codes], argument)
    return tuple(unit for code, one in zip(codes, each, strict=True) for unit in code.units(one))


def _raw(codes: Sequence[Code], table: Table) -> Array:
    """The numbers of all columns side by side, not in units yet."""
    out, start = np.empty((table.size, sum(len(code.features) for code in codes))), 0
    for code, column in zip(codes, table.columns, strict=True):
        stop = start + len(code.features)
        out[:, start:stop] = code.numbers(column)
        start = stop
    return out
