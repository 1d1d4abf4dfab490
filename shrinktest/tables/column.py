"""Column: the values of one variable of a table, by what kind of variable it is."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from shrinktest._check import as_integer, choice, listed
from shrinktest._rounding import DOUBLE, coarsest, rounded

#: Kinds that have an order and distances; the others have levels that are equal or different.
NUMERIC = ("number", "ordered", "date", "duration", "time")
KINDS = (*NUMERIC, "boolean", "category")
#: What ``column_types`` says of a column that is not to be tested.
DROP = "drop"

_CODED = ("ordered", "boolean", "category")  # whole numbers that stand for levels, -1 for a missing value
_DAY = np.timedelta64(1, "D")
_CLOCK = re.compile(r"([+-]?)(\d+(?:\.\d*)?)(?::(\d+(?:\.\d*)?))?(?::(\d+(?:\.\d*)?))?")
_PAST_MICROSECONDS = re.compile(r"[.,]\d{6}(\d{1,3})")  # further decimals of a second, which Python leaves out
#: In what dates and durations are kept; in nanoseconds where values are no multiples of these.
TIMES = {"date": "datetime64[us]", "duration": "timedelta64[us]"}
_EXACT_TIMES = {kind: unit.replace("us", "ns") for kind, unit in TIMES.items()}
#: What messages call the values of every kind.
WORDS = {"number": "numbers", "ordered": "ordered categories", "date": "dates", "duration": "durations",
          "time": "times of day", "boolean": "True and False", "category": "categories"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one variable, missing ones among them."""

    name: str
    kind: str  # one of ``KINDS``
    # (n,): numbers, and times in hours: float64 with NaN; dates and durations: numpy's, with NaT; of the others the
    # number of the level, with -1
    values: np.ndarray
    levels: tuple[str, ...] = ()  # of categories; those of ordered ones in their order
    # whether the values are whole numbers by their type; where some are missing, see
    # :func:`~shrinktest.tables.identifiers.with_whole_values`
    whole: bool = False
    zoned: bool = False  # whether dates have a time zone; they are in universal time then
    precision: np.dtype[Any] = DOUBLE  # of numbers, as they were given

    @property
    def categorical(self) -> bool:
        """Whether two values are equal or different, and nothing more."""
        return self.kind not in NUMERIC

    def missing(self) -> np.ndarray:
        """Which values are missing, shape (n,)."""
        if self.kind in _CODED:
            return np.asarray(self.values < 0)
        return np.isnat(self.values) if self.kind in TIMES else np.isnan(self.values)

    def numbers(self, origin: Any = None) -> np.ndarray:
        """The values of a column that has an order, shape (n,), NaN where they are missing.

        Dates in days since ``origin`` (default the first of 1970), durations in days, times of day in hours, ordered
        categories by their position from 0.
        """
        values: Any = self.values
        if self.kind in TIMES:
            coarse, start = values.astype(TIMES[self.kind]), np.zeros((), TIMES[self.kind])
            values = values - coarse  # by itself, so that equal times are equal numbers whatever their unit
            if self.kind == "date" and origin is not None:
                start = origin.astype(start.dtype)
                values = values - (origin - start)
            values = (coarse - start) / _DAY + values / _DAY
        return np.asarray(np.where(self.missing(), np.nan, values), dtype=np.float64)

    def digest(self) -> bytes | None:
        """Digest of the values, the same for equal columns of any library; None if all are equal or missing."""
        if self.kind == "category":
            present = sorted(self.levels[code] for code in np.unique(self.values) if code >= 0)
            ranks = {level: rank for rank, level in enumerate(present)}
            numbers = np.array([*(ranks.get(level, -1) for level in self.levels), -1])[self.values]
        else:
            numbers, present = self.numbers() + 0.0, []  # so that -0.0 is 0
        known = numbers[~self.missing()]
        varied = known.size > 0 and known.min() < known.max()
        return sha256("\0".join(present).encode() + numbers.tobytes()).digest() if varied else None

    def taken(self, rows: Any) -> Column:
        """The column with these rows only."""
        return replace(self, values=self.values[rows])

    def __len__(self) -> int:
        return len(self.values)


# --- from numbers --------------------------------------------------------------------------------------------


def from_numbers(name: str, values: np.ndarray, *, whole: bool = False, precision: np.dtype[Any] = DOUBLE) -> Column:
    """A column of numbers; NaN is missing."""
    return Column(name, "number", np.asarray(values, dtype=np.float64), whole=whole, precision=precision)


def from_booleans(name: str, values: np.ndarray) -> Column:
    """A column of True and False, from 1.0, 0.0 and NaN."""
    codes = np.where(np.isnan(values), -1, values).astype(np.int64)
    return Column(name, "boolean", codes, ("False", "True"))


def from_times(name: str, values: np.ndarray, *, zoned: bool = False) -> Column:
    """A column of dates or durations, from numpy's."""
    kind = "date" if values.dtype.kind == "M" else "duration"
    return Column(name, kind, _in_one_unit([values], kind)[0], zoned=zoned)


def from_moments(name: str, entries: Sequence[Any], kind: str, *, zoned: bool = False) -> Column:
    """A column of dates or durations, from Python's, numpy's and None, of which some may be in nanoseconds."""
    fine = [getattr(entry, "dtype", None) == _EXACT_TIMES[kind] for entry in entries]
    coarse = np.array([None if own else entry for entry, own in zip(entries, fine, strict=True)], dtype=TIMES[kind])
    rest = [entry if own else None for entry, own in zip(entries, fine, strict=True)]
    coarse, exact = _in_one_unit([coarse, np.array(rest, dtype=_EXACT_TIMES[kind])], kind)
    return Column(name, kind, np.where(np.isnat(coarse), exact, coarse), zoned=zoned)


def _in_one_unit(parts: Sequence[np.ndarray], kind: str) -> list[np.ndarray]:
    """Dates or durations in microseconds, or in nanoseconds where one needs these and all can be given in them."""
    coarse = [part.astype(TIMES[kind]) for part in parts]
    kept = [np.isnat(one) | (one == part) for one, part in zip(coarse, parts, strict=True)]
    if all(one.all() for one in kept):
        return coarse
    most = max(int(np.abs(one[~np.isnat(one)].astype(np.int64)).max(initial=0)) for one in coarse)
    return [part.astype(_EXACT_TIMES[kind]) for part in parts] if 1000 * (most + 1) < 2**63 else coarse


def from_hours(name: str, entries: Sequence[datetime.time | None]) -> Column:
    """A column of times of the day, in hours since midnight."""
    hours = (
        math.nan if t is None else t.hour + t.minute / 60 + (t.second + t.microsecond * 1e-6) / 3600 for t in entries
    )
    return Column(name, "time", np.fromiter(hours, dtype=np.float64, count=len(entries)))


def in_longest_unit(dates: np.ndarray) -> np.ndarray:
    """Dates in days, thousandths or millionths of a second: the longest unit that changes none of them."""
    for unit in ("D", "ms"):
        if ((coarse := dates.astype(f"datetime64[{unit}]")) == dates).all():
            return coarse
    return dates


# --- as another kind ----------------------------------------------------------------------------------------


def as_kind(column: Column, wanted: Any, where: str) -> Column:
    """The column read as another kind: one of ``KINDS`` but "duration" and "time", or a list of levels in their order.

    Raises ValueError or TypeError for values that cannot be read so; the message names the first, and says what to do.
    """
    argument = f"column_types[{column.name!r}]"
    if isinstance(wanted, list | tuple):
        return _ordered(column, [_level(level, column.kind) for level in wanted], argument, where)
    if not isinstance(wanted, str):
        raise TypeError(
            f"{argument} must be one of {listed((*KINDS, DROP))}, or the levels in their order; got {wanted!r}"
        )
    kind = choice(wanted, (*KINDS, DROP), argument)
    if kind == column.kind or (kind == "ordered" and column.kind in NUMERIC):
        return column
    if kind == "category":
        return as_category(column)
    if kind == "boolean" and column.kind == "number":
        kept = column.values[~np.isnan(column.values)]
        if np.isin(kept, (0.0, 1.0)).all():
            return from_booleans(column.name, column.values)
    if kind == "boolean" and column.kind == "category" and set(map(str.lower, column.levels)) <= {"false", "true"}:
        truth = np.array([level.lower() == "true" for level in column.levels] or [False], dtype=np.float64)
        return from_booleans(column.name, np.where(column.values < 0, np.nan, truth[column.values]))
    if kind == "number" and column.kind in ("boolean", "category"):
        return _by_level(column, _as_number, kind, where)
    if kind in ("date", "duration") and column.kind == "category":
        return _by_level(column, as_date if kind == "date" else as_duration, kind, where)
    advice = "give the levels in their order as a list" if kind == "ordered" else "leave it as it is"
    raise ValueError(f"{argument}={kind!r}: {where} holds {WORDS[column.kind]}, which are no {WORDS[kind]}; {advice}")


def as_category(column: Column) -> Column:
    """The column with its distinct values as levels."""
    if column.kind in _CODED:
        return replace(column, kind="category")
    missing = column.missing()
    values, codes = np.unique(column.values[~missing], return_inverse=True)
    out = np.full(len(column), -1, dtype=np.int64)
    out[~missing] = codes
    levels = _time_levels(values, column.kind) if column.kind in TIMES else tuple(map(number_level, values))
    return Column(column.name, "category", out, levels)


def _time_levels(values: np.ndarray, kind: str) -> tuple[str, ...]:
    """What dates or durations are called as categories, whatever their unit."""
    coarse = values.astype(TIMES[kind])
    return tuple(str(a if same else b) for a, b, same in zip(coarse, values, coarse == values, strict=True))


def number_level(value: float) -> str:
    """What a number is called as a category; -0.0 is 0."""
    return f"{value + 0.0:.0f}" if value == round(value) else f"{value:.12g}"


def real_numbers() -> tuple[type, ...]:
    """Types of Python's and numpy's numbers, True and False among them."""
    import decimal
    import numbers

    return (numbers.Real, decimal.Decimal)


def level_of_object(entry: Any) -> str:
    """What a value of Python is called as a category: 1.0 is 1, whatever its type."""
    if isinstance(entry, real_numbers()) and not isinstance(entry, bool | np.bool_):
        if (whole := as_integer(entry)) is not None:
            return str(whole)
        number = float(entry)  # type: ignore[arg-type]  # of the numbers, all have this
        return number_level(number) if math.isfinite(number) else str(entry)
    return str(entry)


def _level(given: Any, kind: str) -> str:
    """What a level is called that the user gives as text or as a value of the column."""
    if kind == "number" and isinstance(given, real_numbers()) and not isinstance(given, bool):
        return number_level(float(given))  # type: ignore[arg-type]  # of the numbers, all have this
    if kind == "date" and isinstance(given, datetime.date | np.datetime64):
        exact = getattr(given, "to_datetime64", None)  # of pandas, whose nanoseconds numpy leaves out
        return _time_levels(np.array([np.datetime64(given) if exact is None else exact()]), kind)[0]
    return level_of_object(given)


def _ordered(column: Column, levels: list[str], argument: str, where: str) -> Column:
    if len(set(levels)) < len(levels) or len(levels) < 2:
        raise ValueError(f"{argument} must hold two levels or more, each once; got {levels!r}")
    found = as_category(column)
    lacking = [level for i, level in enumerate(found.levels) if level not in levels and (found.values == i).any()]
    if lacking:
        raise ValueError(f"{argument} lacks levels that {where} has: {listed(lacking)}; name all of them, in order")
    places = np.array([levels.index(level) if level in levels else -1 for level in found.levels] + [-1])
    return Column(column.name, "ordered", places[found.values], tuple(levels))


def _by_level(column: Column, read: Any, kind: str, where: str) -> Column:
    """The column with every level read as a number, a date or a duration."""
    found = []
    for i, level in enumerate(column.levels):
        value = read(level)
        if value is None and (column.values == i).any():
            row = int(np.flatnonzero(column.values == i)[0])
            raise ValueError(
                f"column_types[{column.name!r}]={kind!r}: {where} has {level!r} in row {row} (counting from 0), which "
                f"cannot be read so; correct it, or leave the column out: column_types={{{column.name!r}: 'drop'}}"
            )
        found.append(value)
    if kind == "number":
        numbers = np.array([math.nan if value is None else value for value in found] + [math.nan])
        return from_numbers(column.name, numbers[column.values])
    return from_moments(column.name, [*found, None], kind).taken(column.values)


def _as_number(level: str) -> float | None:
    if level in ("False", "True"):
        return float(level == "True")
    try:
        number = float(level)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def as_date(level: str) -> Any:
    """A date in the order year, month, day, which is the one that cannot be misread."""
    try:
        found = datetime.datetime.fromisoformat(level)
    except ValueError:
        return None
    if found.tzinfo is not None:
        found = found.astimezone(datetime.UTC).replace(tzinfo=None)
    further = _PAST_MICROSECONDS.search(level)
    if further is None or not 1678 <= found.year <= 2261:  # years of which there are nanoseconds
        return np.datetime64(found, "us")
    return np.datetime64(found, "ns") + np.timedelta64(int(further[1].ljust(3, "0")), "ns")


def as_duration(level: str) -> Any:
    """A duration such as "1 days 02:00:00", "02:00:00" or "-00:30:00", whose sign is that of all its parts."""
    days, _, clock = level.rpartition("day") if "day" in level else ("0", "", level)
    found = _CLOCK.fullmatch(clock.lstrip("s ,").rstrip() or "0")
    if found is None:
        return None
    parts = [float(part or 0.0) for part in found.groups()[1:]]
    seconds = sum(part * unit for part, unit in zip(parts, (3600.0, 60.0, 1.0), strict=True))
    try:
        whole = float(days) * 86400.0 + (-seconds if found[1] == "-" else seconds)
        return np.timedelta64(round(whole * 1e6), "us")
    except (ValueError, OverflowError):
        return None


# --- one column of several tables ---------------------------------------------------------------------------


def pooled(columns: Sequence[Column], tables: Sequence[str]) -> Column:
    """The values of a column in several tables, one after the other; levels are matched by name.

    Numbers are rounded to the precision of the table that has the fewest digits, so that equal numbers stay equal.

    Raises ValueError where the tables hold different kinds of values; the message says which, and what to do.
    """
    kind = _common_kind(columns, tables)
    if kind == "date":
        _require_one_zone(columns, tables)
    order = next((column.levels for column in columns if column.kind == "ordered"), ())
    alike = [_alike(column, kind, order) for column in columns]
    values, levels = [column.values for column in alike], _all_levels(alike)
    if kind in _CODED:
        values = [_coded(column, levels) for column in alike]
    elif kind in TIMES:
        values = _in_one_unit(values, kind)
    whole, zoned = all(column.whole for column in alike), any(column.zoned for column in alike)
    precision, together = coarsest(column.precision for column in alike), np.concatenate(values)
    if kind == "number":
        together = rounded(together, precision)
    return Column(columns[0].name, kind, together, levels, whole, zoned, precision)


def _common_kind(columns: Sequence[Column], tables: Sequence[str]) -> str:
    kinds = {column.kind for column in columns if not column.missing().all()} or {columns[0].kind}
    for pair, both in (({"number", "boolean"}, "number"), ({"boolean", "category"}, "category")):
        kinds = {both} if kinds == pair else kinds
    kinds = {"ordered"} if kinds == {"ordered", "category"} else kinds
    if len(kinds) > 1:
        name, found = columns[0].name, zip(columns, tables, strict=True)
        said = " and ".join(dict.fromkeys(f"{WORDS[column.kind]} in {table}" for column, table in found))
        raise ValueError(
            f"column {name!r} holds {said}; convert one, read both as categories (column_types={{{name!r}: "
            f"'category'}}), or leave it out (column_types={{{name!r}: 'drop'}})"
        )
    return kinds.pop()


def _require_one_zone(columns: Sequence[Column], tables: Sequence[str]) -> None:
    """Raise ValueError where dates of one table have a time zone and those of another have none."""
    there = [(column.zoned, table) for column, table in zip(columns, tables, strict=True) if not column.missing().all()]
    if len({zoned for zoned, _ in there}) > 1:
        said = " and ".join(f"{'with' if zoned else 'without'} a time zone in {table}" for zoned, table in there)
        raise ValueError(
            f"column {columns[0].name!r} holds dates {said}, which may be hours apart; give all of them a time zone, "
            f"or none, or leave the column out (column_types={{{columns[0].name!r}: 'drop'}})"
        )


def _alike(column: Column, kind: str, order: tuple[str, ...]) -> Column:
    """The column as one of the common kind; one without values is of every kind."""
    if column.missing().all():
        dtype = np.dtype(np.int64 if kind in _CODED else TIMES.get(kind, np.float64))
        nothing = -1 if kind in _CODED else math.nan if dtype.kind == "f" else "NaT"
        return Column(column.name, kind, np.full(len(column), nothing, dtype=dtype), whole=True)
    if kind == "ordered":
        return column if column.kind == kind else _ordered(column, list(order), "the order of its levels", "one table")
    return column if column.kind == kind else as_kind(column, kind, column.name)


def _all_levels(columns: Sequence[Column]) -> tuple[str, ...]:
    if columns[0].kind != "ordered":
        return tuple(sorted({level for column in columns for level in column.levels}))
    longest = max((column.levels for column in columns), key=len)
    for column in columns:
        places = [longest.index(level) if level in longest else -1 for level in column.levels]
        if -1 in places or places != sorted(places):
            raise ValueError(
                f"column {column.name!r} has levels in different orders, ({', '.join(longest)}) and "
                f"({', '.join(column.levels)}); give one: column_types={{{column.name!r}: [...]}}"
            )
    return longest


def _coded(column: Column, levels: tuple[str, ...]) -> np.ndarray:
    """The numbers of the values among all levels."""
    places = {level: i for i, level in enumerate(levels)}
    return np.array([*(places[level] for level in column.levels), -1], dtype=np.int64)[column.values]
