"""Column: the values of one variable of a table, by the kind that its dtype indicates."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import EXACT, check_digits, choice, listed
from shrinktest._rounding import DOUBLE, precision_of
from shrinktest.data.cells import (
    OddCells,
    is_date_form,
    kind_of,
    levels_of,
    looks_of,
    type_for,
    values_of,
)
from shrinktest.data.delimited import TextOptions
from shrinktest.data.texts import MISSING, number_level, one_of_each_shape, people_write, text_level

if TYPE_CHECKING:
    import pandas as pd

#: Kinds that have an order and distances; the others have levels that are equal or different.
NUMERIC = ("number", "ordered", "date", "duration", "time")
KINDS = (*NUMERIC, "boolean", "category")
#: Entry of ``column_types`` for a column that is not tested.
DROP = "drop"
#: Words of messages for the values of every kind.
WORDS = {
    "number": "numbers",
    "ordered": "ordered categories",
    "date": "dates",
    "duration": "durations",
    "time": "times of day",
    "boolean": "True and False",
    "category": "categories",
}
#: dtypes of dates and durations.
TIMES = {"date": "datetime64[us]", "duration": "timedelta64[us]"}
CODED = ("ordered", "boolean", "category")

_TRUTH = ("False", "True")
_DAY = np.timedelta64(1, "D")
_PLAIN = TextOptions()


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one variable, some of which may be missing.

    Values (n,) are float64 for numbers and times of day (in hours), NaN if missing; datetime64 or
    timedelta64, NaT if missing; and codes of levels for the other kinds, -1 if missing.
    """

    name: str
    kind: str  # one of ``KINDS``
    values: np.ndarray
    levels: tuple[str, ...] = ()  # of categories, sorted; of ordered ones in their order
    whole: bool = False  # numbers that are whole by dtype, or by value if some are missing
    zoned: bool = False  # dates with a time zone, which are in universal time
    precision: np.dtype[Any] = DOUBLE  # in which numbers were given
    from_text: bool = False  # numbers that the table holds as text

    @property
    def categorical(self) -> bool:
        """True if two values are equal or different, and nothing more."""
        return self.kind not in NUMERIC

    def missing(self) -> np.ndarray:
        """Return which values are missing, shape (n,)."""
        return np.asarray(self.values < 0 if self.kind in CODED else self.values != self.values)

    def numbers(self, origin: Any = None) -> np.ndarray:
        """Return the values of a column with an order, shape (n,), NaN if missing.

        Dates are in days since ``origin`` (default 1970-01-01), durations in days, times of day in
        hours, and ordered categories are numbered from 0.
        """
        values: Any = self.values
        if self.kind in TIMES:
            values = (
                values - (np.zeros((), TIMES[self.kind]) if origin is None else origin)
            ) / _DAY
        return np.asarray(np.where(self.missing(), np.nan, values), dtype=np.float64)

    def taken(self, rows: Any) -> Column:
        """Return the column with these rows only."""
        return replace(self, values=self.values[rows])

    def without(self, rows: np.ndarray) -> Column:
        """Return the column whose values in these rows (n,) are missing."""
        values = self.values.copy()
        values[rows] = (
            -1 if self.kind in CODED else np.array("NaT" if self.kind in TIMES else np.nan)
        )
        return replace(self, values=values)

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns with the same number of rows."""

    columns: tuple[Column, ...]
    named: bool = True  # False if the names of columns are only their numbers from 0
    dropped: tuple[str, ...] = ()  # columns that the user left out
    source: str | None = None  # name of the file, for messages

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), len(self.columns)

    def taken(self, rows: Any) -> Table:
        """Return the table with these rows only."""
        return replace(self, columns=tuple(column.taken(rows) for column in self.columns))

    def missing(self) -> np.ndarray:
        """Return which values are missing, shape (n, number of columns)."""
        return np.column_stack([column.missing() for column in self.columns])

    def __len__(self) -> int:
        return len(self.columns[0])


def read_column(
    series: pd.Series, name: str, where: str, column_type: Any = None, *, compared: bool = True
) -> Column:
    """Read a pandas Series by its dtype or the type of its objects, or as ``column_type``.

    ``column_type`` prevails if given.

    Messages call it ``where``.  Columns not ``compared`` label rows.  Raises TypeError for values
    that are no variable, and ValueError for text of which most is numbers, dates or times, and some
    is not.
    """
    column = _by_dtype(series, name, where, column_type, compared=compared)
    if column.values.dtype.kind == "f" and (infinite := np.isinf(column.values)).any():
        row = infinite.argmax()
        raise ValueError(
            f"{where} has an infinite value in row {row} (counting from 0); remove or replace it"
        )
    return column if column_type is None else as_kind(column, column_type, where)


def _by_dtype(
    series: pd.Series, name: str, where: str, column_type: Any, *, compared: bool = True
) -> Column:
    import pandas as pd
    from pandas.api import types

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = [*map(level_name, dtype.categories)]
        column = _with_levels(name, series.cat.codes.to_numpy(), levels)
        return _ordered(column, [*dict.fromkeys(levels)], name, where) if dtype.ordered else column
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _from_times(name, series.dt.tz_convert(None).to_numpy(), zoned=True)
    if dtype.kind in "mM":
        return _from_times(name, series.to_numpy())
    if types.is_bool_dtype(dtype):
        return Column(
            name, "boolean", series.to_numpy(np.float64, na_value=-1).astype(np.int64), _TRUTH
        )
    if types.is_any_real_numeric_dtype(dtype):
        present = series.dropna()
        if (
            dtype.kind in "iu"
            and len(present)
            and not -EXACT <= present.min() <= present.max() <= EXACT
        ):
            return _long_numbers(series, name, where, column_type)
        short = precision_of(np.dtype(str(dtype).lower())) if dtype.kind == "f" else DOUBLE
        values = series.to_numpy(np.float64, na_value=np.nan)
        return Column(name, "number", values, whole=dtype.kind in "iu", precision=short)
    if isinstance(dtype, pd.StringDtype):
        return _from_text(series, name, where, column_type, compared=compared)
    return _from_objects(series.astype(object), name, where, column_type, compared=compared)


def _from_objects(
    series: pd.Series, name: str, where: str, column_type: Any, *, compared: bool
) -> Column:
    """Read objects by the type that all of them have."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(series, skipna=True)
    if inferred == "empty":
        return Column(name, "boolean", np.full(len(series), -1), _TRUTH)
    if inferred == "string":
        return _from_text(series, name, where, column_type, compared=compared)
    if inferred in ("integer", "floating", "decimal", "mixed-integer-float"):
        return _long_numbers(series, name, where, column_type)
    if inferred == "boolean":
        return _by_dtype(series.astype("boolean"), name, where, column_type)
    if inferred in ("datetime64", "datetime", "date"):
        zoned = {getattr(entry, "tzinfo", None) is not None for entry in series.dropna()}
        if len(zoned) > 1:
            raise ValueError(
                f"{where} holds dates of which only some have a time zone; add it to all"
            )
        return _from_times(
            name,
            pd.to_datetime(series, utc=True).dt.tz_localize(None).to_numpy(),
            zoned=True in zoned,
        )
    if inferred in ("timedelta64", "timedelta"):
        return _from_times(name, pd.to_timedelta(series).to_numpy())
    if inferred == "time":
        return Column(name, "time", np.fromiter(map(_hours, series), np.float64, len(series)))
    if column_type == "category" or isinstance(column_type, list | tuple):
        return _categories(name, series.map(level_name, na_action="ignore"))
    first, *others = series.dropna()
    odd = next((entry for entry in others if type(entry) is not type(first)), first)
    entries = dict.fromkeys(f"{entry!r} ({type(entry).__name__})" for entry in (first, odd))
    raise TypeError(
        f"{where} must hold real numbers, text, dates or booleans; got {' and '.join(entries)}; "
        "convert it, or use "
        f"column_types={{{name!r}: 'drop'}} or 'category'"
    )


def _from_text(
    series: pd.Series, name: str, where: str, column_type: Any, *, compared: bool
) -> Column:
    """Read text as the numbers, dates, times or categories it writes, as in files.

    Text may also be read as categories of a type.

    Whole numbers are labels in a column that is not ``compared``.
    """
    import pandas as pd

    if column_type is not None:
        return _categories(name, series)
    codes, levels = levels_of(series, _PLAIN)
    if not compared and levels.str.isdigit().all():
        return _with_levels(name, codes, levels.tolist())
    try:
        values = values_of(
            codes, levels, kind_of(looks_of(codes, levels, _PLAIN), None, "", _PLAIN), _PLAIN
        )
    except OddCells as error:
        raise _odd(error, codes, levels, name, where) from None
    column = _by_dtype(pd.Series(values), name, where, None)
    return replace(column, from_text=column.kind == "number")


def _odd(
    error: OddCells, codes: np.ndarray, levels: pd.Series, name: str, where: str
) -> ValueError:
    """Return an error with the rows of odd cells, and how to read the column."""
    problems = []
    for odd in error.cells:
        row = int((codes == int((levels == odd.text).argmax())).argmax())
        problems.append(f"{odd.text!r} in row {row} {odd.fault}; {type_for(odd, name)}")
    return ValueError(f"{where.rstrip(',')}: {'; '.join(problems)}")


def _categories(name: str, entries: Any) -> Column:
    """Read a Series of text, or of numbers that name categories, as categories."""
    import pandas as pd

    codes, levels = pd.factorize(np.asarray(entries, dtype=object))
    return _with_levels(name, codes, [*map(level_name, levels)])


def _with_levels(name: str, codes: np.ndarray, names: Sequence[str]) -> Column:
    """Sort the levels, and omit those that do not occur.

    Some levels may have the same name.
    """
    levels = sorted({names[code] for code in np.unique(codes) if code >= 0})
    return Column(name, "category", recoded(codes, names, levels), tuple(levels))


def recoded(codes: np.ndarray, names: Sequence[str], levels: Sequence[str]) -> np.ndarray:
    """Return the codes of the same levels in another list; -1 for those that it lacks."""
    import pandas as pd

    places = pd.Index([*levels], dtype=object).get_indexer([*names])
    return np.append(places, -1)[codes].astype(np.int64)


def _long_numbers(series: pd.Series, name: str, where: str, column_type: Any) -> Column:
    """Read numbers of Python, or whole ones that may be too long for floating-point numbers."""
    if column_type == "category":
        return _categories(name, series)
    present = series.dropna()
    check_digits(present.to_numpy(), where, name)
    values = np.full(len(series), np.nan)
    values[series.notna().to_numpy()] = present.to_numpy(dtype=np.float64)
    return Column(name, "number", values, whole=series.dtype.kind in "iu")


def _from_times(name: str, values: np.ndarray, *, zoned: bool = False) -> Column:
    """Make a column of dates or durations, in microseconds, or in nanoseconds if it needs them."""
    kind = "date" if values.dtype.kind == "M" else "duration"
    return Column(name, kind, in_microseconds(values), zoned=zoned)


def in_microseconds(values: np.ndarray) -> np.ndarray:
    """Return dates or durations in microseconds.

    In nanoseconds if some are no whole number of microseconds.
    """
    rounded = values.astype(f"{values.dtype.kind}8[us]")
    if values.dtype != f"{values.dtype.kind}8[ns]":
        return rounded
    return rounded if ((rounded == values) | np.isnat(values)).all() else values


def in_one_unit(columns: Sequence[Column]) -> list[Column]:
    """Return date or duration columns in nanoseconds if some need them and all allow them."""
    kind = columns[0].kind
    if kind not in TIMES or len({column.values.dtype for column in columns}) == 1:
        return list(columns)
    fine = TIMES[kind].replace("us", "ns")
    if not all(_stay(column.values, fine) for column in columns):
        fine = TIMES[kind]
    return [replace(column, values=column.values.astype(fine)) for column in columns]


def _stay(values: np.ndarray, dtype: str) -> bool:
    """Return True if dates or durations are unchanged in another unit.

    Each unit has a range of its own.
    """
    return bool(((values.astype(dtype).astype(values.dtype) == values) | np.isnat(values)).all())


def _hours(time: Any) -> float:
    """Return a time of day in hours; NaN for anything else."""
    if not isinstance(time, datetime.time):
        return math.nan
    return time.hour + time.minute / 60 + (time.second + time.microsecond * 1e-6) / 3600


def level_name(entry: Any) -> str:
    """Name a value as a category: 1.0 is 1, whatever its type."""
    if isinstance(entry, str):
        return text_level(entry)
    if isinstance(entry, Integral) and not isinstance(entry, bool):
        return str(int(entry))
    if isinstance(entry, Real | Decimal) and not isinstance(entry, bool) and math.isfinite(entry):
        return number_level(float(entry))
    return str(entry)


# --- as another kind ------------------------------------------------------------------------------


def as_kind(column: Column, column_type: Any, where: str) -> Column:
    """Read a column as another kind, or as ordered with these levels.

    Raise ValueError if the column cannot be read so.

    ``column_type`` is one of ``KINDS`` without "duration" and "time", or a list of levels in their
    order.
    """
    argument = f"column_types[{column.name!r}]"
    if isinstance(column_type, list | tuple):
        return _ordered(column, [*map(level_name, column_type)], argument, where)
    if is_date_form(column_type):
        return (
            column
            if column.kind == "date"
            else _by_level(_as_category(column), column_type, where, argument)
        )
    kind = choice(column_type, (*KINDS, DROP), argument)
    if kind == column.kind or (kind == "ordered" and column.kind in NUMERIC):
        return column
    if kind == "category":
        return _as_category(column)
    if kind == "boolean" and column.kind in ("number", "category"):
        truth = _as_category(column)
        names = [
            {"0": "False", "1": "True"}.get(level, level.capitalize()) for level in truth.levels
        ]
        if {*names} <= {*_TRUTH}:
            return Column(column.name, kind, recoded(truth.values, names, _TRUTH), _TRUTH)
    elif (column.kind == "category" and kind != "ordered") or (
        column.kind == "boolean" and kind == "number"
    ):
        return _by_level(column, kind, where, argument)
    advice = (
        "pass the levels in their order as a list" if kind == "ordered" else "leave it as it is"
    )
    raise ValueError(
        f"{argument}={kind!r}: {where} holds {WORDS[column.kind]}, which are not {WORDS[kind]}; "
        f"{advice}"
    )


def _as_category(column: Column) -> Column:
    """Make the distinct values levels."""
    if column.kind in CODED:
        return replace(column, kind="category")
    missing = column.missing()
    values, codes = np.unique(column.values[~missing], return_inverse=True)
    places = np.full(len(column), -1, dtype=np.int64)
    places[~missing] = codes
    name = str if column.kind in TIMES else number_level
    return Column(column.name, "category", places, tuple(name(value) for value in values))


def _ordered(column: Column, levels: list[str], argument: str, where: str) -> Column:
    if len(set(levels)) < len(levels) or len(levels) < 2:
        raise ValueError(f"{argument} must hold two levels or more, each once; got {levels!r}")
    categories = _as_category(column)
    codes = recoded(categories.values, categories.levels, levels)
    if (lacking := (codes < 0) & (categories.values >= 0)).any():
        names = [categories.levels[i] for i in np.unique(categories.values[lacking])]
        raise ValueError(
            f"{argument} lacks levels that {where} has: {listed(names)}; name all of them, in order"
        )
    return Column(column.name, "ordered", codes, tuple(levels))


def parsed(levels: Iterable[str], kind: str) -> np.ndarray:
    """Read text as numbers, dates (year, month, day) or durations; NaN or NaT otherwise."""
    import pandas as pd

    text = pd.Series([*levels], dtype=object)
    if is_date_form(kind):
        return pd.to_datetime(text, format=kind, errors="coerce").to_numpy()
    if kind == "number":
        numbers = people_write(text.replace({"False": "0", "True": "1"}))
        return np.where(np.isinf(numbers), np.nan, numbers)
    if kind == "date":
        dates = (
            pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
            .dt.tz_localize(None)
            .to_numpy()
        )
        return np.where(
            text.str.len() < 8, np.datetime64("NaT"), dates
        )  # a year alone is not a date
    text = text.where(text.str.contains(":|day")).str.replace(
        r"^([+-]?\d+:\d\d)$", r"\1:00", regex=True
    )
    return pd.to_timedelta(text, errors="coerce").to_numpy()


def _by_level(column: Column, kind: str, where: str, argument: str) -> Column:
    """Read every level as a number, a date, also of a form, or a duration.

    Cells such as NA are missing.
    """
    import pandas as pd

    levels = pd.Series([*column.levels], dtype=object)
    form = kind
    if kind == "date":
        try:
            form = kind_of(looks_of(column.values, levels, _PLAIN), kind, "", _PLAIN)
        except OddCells as error:
            raise _odd(error, column.values, levels, column.name, where) from None
    values = parsed(levels, form)
    unread = (values != values) & ~levels.isin(MISSING).to_numpy()
    if unread.any():
        cells = [
            f"{level!r} in row {int((column.values == column.levels.index(level)).argmax())}"
            for level in one_of_each_shape(levels[unread])
        ]
        raise ValueError(
            f"{argument}={kind!r}: {where} has {' and '.join(cells)} (counting from 0); "
            f"correct it, or use column_types={{{column.name!r}: 'drop'}}"
        )
    values = np.append(
        values, np.array([math.nan if kind == "number" else "NaT"], dtype=values.dtype)
    )[column.values]
    return (
        Column(column.name, kind, values) if kind == "number" else _from_times(column.name, values)
    )
