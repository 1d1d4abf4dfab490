"""Columns from text cells: numbers, booleans, dates, times of day, and otherwise categories."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shrinktest._check import EXACT
from shrinktest.data.texts import (
    CODE,
    DAY,
    DURATION,
    GROUPS,
    KINDS_SHOWN,
    MISSING,
    POWER,
    WHOLE,
    ZONE,
    as_it_looks,
    as_series,
    dates_in,
    floats_in,
    kinds_of,
    like_numbers,
    numbers_written,
    one_of_each_shape,
    people_write,
    signed,
    text_level,
)

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.data.delimited import TextOptions

_EXAMPLES = {
    "number": "a number",
    "boolean": "True or False",
    "date": "a date such as 2024-03-31",
    "time": "a time such as 14:30",
}
_DIGITS = re.compile(r"[-+0-9.eE\n]*")
_FRACTION = re.compile(r"[.eE]")
_CODES = re.compile(r"(?m)^0\d")  # a zero before a digit, as in postal codes
_LOOKED_AT = 1000  # cells among which those are that do not fit a column


class Look(NamedTuple):
    """Number of similar rows of a column, the first such cell, and the first of other shapes."""

    rows: int
    like: str | None
    unlike: tuple[str, ...]


#: What cells may look like; "given" are dates of the form in the options, and a "late day" or "late
#: month" is above 12.
_LOOKS = (
    "number",
    "numeric",
    "whole",
    "code",
    "pointed",
    "grouped",
    "boolean",
    "date",
    "time",
    "zoned",
    "given",
    "day",
    "late day",
    "late month",
)


@dataclass(frozen=True)
class Looks:
    """Looks of the cells of a column.

    Looks of successive rows are merged, so that parts make the whole.
    """

    present: int = 0  # rows with a value
    each: Mapping[str, Look] = field(default_factory=dict)

    @classmethod
    def plain(cls, rows: int, cell: str, *, whole: bool) -> Looks:
        """Return the looks of numbers without doubt."""
        numbers = ("number", "numeric", *(("whole",) if whole else ()))
        others = dict.fromkeys(_LOOKS, Look(0, None, (cell,)))
        return cls(rows, others | dict.fromkeys(numbers, Look(rows, cell, ())))

    def merge(self, other: Looks) -> Looks:
        """Add the rows that come next."""
        if not (self.present and other.present):
            return self if self.present else other
        each = {}
        for look in _LOOKS:
            first = self[look]
            second = other[look]
            unlike = one_of_each_shape((*first.unlike, *second.unlike))
            each[look] = Look(first.rows + second.rows, first.like or second.like, unlike)
        return Looks(self.present + other.present, each)

    def __getitem__(self, look: str) -> Look:
        return self.each[look]


@dataclass(frozen=True)
class OddCell:
    """A cell that does not fit its column, what is wrong with it, and what may read it."""

    text: str
    fault: str
    forms: tuple[str, ...] = ()  # of dates
    grouped: bool = False  # True for numbers that may have points between thousands
    pointed: bool = False  # True if other cells are numbers with a point before decimals


class OddCells(ValueError):
    """Raised for cells that do not fit their column, one of each kind."""

    def __init__(self, *cells: OddCell) -> None:
        super().__init__("; ".join(f"{cell.text!r} {cell.fault}" for cell in cells))
        self.cells = cells


# --- reading --------------------------------------------------------------------------------------


def levels_of(cells: pd.Series, options: TextOptions) -> tuple[np.ndarray, pd.Series]:
    """Return codes (-1 if missing) of cells, and their distinct texts as they look, in order."""
    import pandas as pd

    codes, distinct = pd.factorize(cells.to_numpy(dtype=object))
    plain, distinct = pd.factorize(np.array([*map(as_it_looks, distinct)], dtype=object))
    levels = pd.Series(distinct, dtype=object)
    missing = levels.isin([*MISSING, *map(as_it_looks, options.na)])
    if (words := floats_in(pd.Series(options.na, dtype=object))).size:
        missing |= np.isin(
            floats_in(levels, options.decimal or "."), words
        ) & ~levels.str.fullmatch(CODE)
    places = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1)
    return places[np.append(plain, -1)[codes]], levels[~missing].reset_index(drop=True)


def labels_of(cells: pd.Series, options: TextOptions) -> list[Any]:
    """Return cells as labels, so that 1.0 is 1; None if missing."""
    codes, levels = levels_of(cells, options)
    labels: list[Any] = np.array([*map(text_level, levels), None], dtype=object)[codes].tolist()
    return labels


def read_column(cells: pd.Series, kind: Any, mark: str, options: TextOptions) -> Any:
    """Return the values of a column, by its cells or as the type ``kind``; raise OddCells.

    ``mark`` is what is between the cells of the file.
    """
    plain = plain_numbers(cells, mark, options) if kind is None else None
    if plain is not None:
        return plain.values
    codes, levels = levels_of(cells, options)
    return values_of(
        codes, levels, kind_of(looks_of(codes, levels, options), kind, mark, options), options
    )


class PlainNumbers(NamedTuple):
    """Numbers of a column that holds nothing else, without a doubt."""

    values: np.ndarray  # NaN if missing; int64 if all are whole, and none is missing
    whole: bool
    rows: int  # with a number
    first: str  # cell that is not missing


def plain_numbers(cells: pd.Series, mark: str, options: TextOptions) -> PlainNumbers | None:
    """Return the numbers of cells.

    None if some may be anything else, or not the numbers that they seem to be.
    """
    if (
        options.decimal == ","
        or options.thousands
        or options.na
        or (mark == ";" and options.decimal is None)
    ):
        return None
    missing = cells.isin(MISSING).to_numpy()
    present = cells.to_numpy(dtype=object)[~missing]
    text = "\n".join(present)
    if not present.size or not _DIGITS.fullmatch(text):
        return None
    whole = not _FRACTION.search(text)
    if whole and _CODES.search(text):
        return None
    try:
        values = present.astype(np.int64 if whole else np.float64)
    except (ValueError, OverflowError):
        return None
    if not np.isfinite(values).all() or (whole and missing.any() and np.abs(values).max() >= EXACT):
        return None
    if missing.any():
        every = np.full(len(cells), np.nan)
        every[~missing] = values
        values = every
    return PlainNumbers(values, whole, present.size, present[0])


def looks_in(cells: pd.Series, mark: str, options: TextOptions) -> Looks:
    """Return what cells look like."""
    plain = plain_numbers(cells, mark, options)
    if plain is not None:
        return Looks.plain(plain.rows, plain.first, whole=plain.whole)
    return looks_of(*levels_of(cells, options), options)


def looks_of(codes: np.ndarray, levels: pd.Series, options: TextOptions) -> Looks:
    """Return what cells look like, by their codes and distinct texts."""
    if levels.empty:
        return Looks()
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))

    def look(alike: Any) -> Look:
        yes = np.asarray(alike, dtype=bool)
        like = levels[yes.argmax()] if yes.any() else None
        unlike = one_of_each_shape(levels[np.flatnonzero(~yes)[:_LOOKED_AT]])
        return Look(int(counts[yes].sum()), like, unlike)

    rows = int(counts.sum())
    looks = dict.fromkeys(_LOOKS, Look(0, None, (levels[0],)))
    looks["number"] = look(
        np.isfinite(numbers_written(levels, options.decimal or ".", options.thousands))
    )
    looks["whole"] = look(signed(levels).str.fullmatch(WHOLE))
    looks["code"] = look(levels.str.fullmatch(CODE))
    looks["pointed"] = look(
        np.isfinite(floats_in(levels)) & levels.str.contains(".", regex=False).to_numpy(bool)
    )
    looks["grouped"] = look(levels.str.fullmatch(GROUPS))
    if options.date_format:
        looks["given"] = look(dates_in(levels, options.date_format).notna())
    if not looks["number"].unlike:  # nothing else looks like a number
        return Looks(rows, {**looks, "numeric": looks["number"]})
    kinds = kinds_of(levels)
    looks |= {kind: look(kinds == kind) for kind in ("boolean", "date", "time", "day")}
    codes_of_digits = np.isinf(floats_in(levels)) & levels.str.fullmatch(POWER).to_numpy(bool)
    looks["numeric"] = look(((kinds == "number") & ~codes_of_digits) | like_numbers(levels))
    looks["zoned"] = look(levels.str.contains(ZONE))
    if looks["day"].rows:
        parts = levels.where(levels.str.fullmatch(DAY), "").str.extract(DAY)[[0, 2]].astype(float)
        looks["late day"], looks["late month"] = look(parts[0] > 12), look(parts[2] > 12)
    return Looks(rows, looks)


def kind_of(looks: Looks, kind: Any, mark: str, options: TextOptions) -> str:
    """Return how the cells of a column are read; raise OddCells if that is doubtful.

    Besides kinds of columns this is "whole", "decorated" (numbers as people write them), and the
    form of dates.
    """
    if not looks.present:
        return "date" if kind == "date" or is_date_form(kind) else "number"
    if is_date_form(kind):
        return str(kind)
    numbers = (
        kind in (None, "ordered", "boolean")
        and not looks["number"].unlike
        and not looks["code"].rows
    )
    if numbers or kind == "number":
        pointed = looks["pointed"].like
        unmarked = options.decimal is None and options.thousands is None
        if unmarked and mark == ";" and pointed and not looks["grouped"].unlike:
            raise OddCells(OddCell(pointed, "may have points between thousands", grouped=True))
        return "decorated" if kind == "number" else "number" if looks["whole"].unlike else "whole"
    if options.date_format and kind in (None, "date"):
        rows, _, others = looks["given"]
        if not others:
            return options.date_format
        if 2 * rows >= looks.present:
            raise OddCells(
                *(
                    OddCell(cell, f"is not a date of the form {options.date_format}")
                    for cell in others
                )
            )
    if kind == "date" and looks["day"].rows and 2 * looks["day"].rows >= looks.present:
        return _form_of_days(looks)
    kind = _likely(looks) if kind is None else "date" if kind == "date" else "category"
    if kind == "date" and looks["zoned"].rows and (plain := looks["zoned"].unlike):
        raise OddCells(OddCell(plain[0], "is a date without a time zone, unlike others"))
    return kind


def is_date_form(kind: Any) -> bool:
    """Return True for a form of dates such as %d/%m/%Y."""
    return isinstance(kind, str) and "%" in kind


def _likely(looks: Looks) -> str:
    """Return what a column without a type holds, other than numbers.

    Raise OddCells if it is doubtful.
    """
    for kind in ("boolean", "date", "time"):
        if not looks[kind].unlike:
            return kind
    if looks["day"].rows and 2 * looks["day"].rows >= looks.present:
        return _form_of_days(looks)
    for kind, look in (("number", "numeric"), ("date", "date"), ("time", "time")):
        if 2 * looks[look].rows >= looks.present and not (kind == "number" and looks["code"].rows):
            pointed = looks["pointed"].rows > 0
            raise OddCells(
                *(OddCell(cell, _fault(cell, kind), pointed=pointed) for cell in looks[kind].unlike)
            )
    return "category"


def _fault(cell: str, kind: str) -> str:
    """Return why a cell is not of a kind."""
    infinite = kind == "number" and np.isinf(floats_in(as_series([cell])))[0]
    return "is an infinite value" if infinite else f"is not {_EXAMPLES[kind]}"


def _form_of_days(looks: Looks) -> str:
    """Return the form of dates such as 13/02/1931.

    Raise OddCells if they have several, or some are no dates.
    """
    day = str(looks["day"].like)
    forms = _date_forms(looks, day)
    fault = "may have the day or the month first" if len(forms) > 1 else "has a year of two digits"
    doubt = [OddCell(day, fault, tuple(forms))] if len(forms) > 1 or "%y" in forms[0] else []
    others = [OddCell(cell, f"is not a date, unlike {day}") for cell in looks["day"].unlike]
    if doubt or others:
        raise OddCells(*[*doubt, *others][:KINDS_SHOWN])
    return forms[0]


def _date_forms(looks: Looks, day: str) -> list[str]:
    """Return the formats that may read the dates of a column, of which ``day`` is the first."""
    mark = next(mark for mark in "/.-" if mark in day)
    year = "%Y" if re.search(r"\d{4}", day) else "%y"
    if re.match(r"\d{4}", day):
        forms = ["%Y/%m/%d"]
    elif looks["late month"].rows:
        forms = [f"%m/%d/{year}"]
    else:
        forms = [f"%d/%m/{year}"] if looks["late day"].rows else [f"%d/%m/{year}", f"%m/%d/{year}"]
    hours = ("", " %H:%M", " %H:%M:%S")[day.count(":")]
    return [form.replace("/", mark) + hours for form in forms]


def values_of(codes: np.ndarray, levels: pd.Series, kind: str, options: TextOptions) -> Any:
    """Return the values of cells of a :func:`kind <kind_of>`, of all rows of a column or some.

    Raise OddCells.
    """
    import pandas as pd

    if kind in ("whole", "number", "decorated"):
        return _numbers(codes, levels, kind, options)
    if kind == "date" or is_date_form(kind):
        zoned = bool(levels.str.contains(ZONE).any())
        dates = dates_in(levels, "ISO8601" if kind == "date" else kind, utc=zoned)
        if dates.isna().any():
            fault = (
                f"is not {_EXAMPLES['date']}"
                if kind == "date"
                else f"is not a date of the form {kind}"
            )
            raise OddCells(
                *(OddCell(cell, fault) for cell in one_of_each_shape(levels[dates.isna()]))
            )
        return pd.Series(dates.array.take(codes, allow_fill=True))
    if kind == "category":
        places, names = pd.factorize(np.array([*map(text_level, levels)], dtype=object))
        return pd.Categorical.from_codes(np.append(places, -1)[codes], names)
    if kind == "boolean":
        truth = np.array([*(levels.str.casefold() == "true"), pd.NA], dtype=object)[codes]
        return pd.array(truth, dtype="boolean" if (codes < 0).any() else "bool")
    times = [
        datetime.time.fromisoformat(level if level[1] != ":" else f"0{level}") for level in levels
    ]
    return pd.Series(np.array([*times, None], dtype=object)[codes])


def _numbers(codes: np.ndarray, levels: pd.Series, kind: str, options: TextOptions) -> Any:
    """Return numbers as floats, and whole ones as integers if possible.

    Whole numbers stay floats if values are missing or they have too many digits.
    """
    import pandas as pd

    read = people_write if kind == "decorated" else numbers_written
    numbers = read(levels, options.decimal or ".", options.thousands)
    if not np.isfinite(numbers).all():
        odd = one_of_each_shape(levels[~np.isfinite(numbers)])
        raise OddCells(*(OddCell(cell, _fault(cell, "number")) for cell in odd))
    gaps = bool((codes < 0).any())
    largest = np.abs(numbers).max(initial=0.0)
    texts = signed(levels)
    if kind == "number" or (gaps and largest <= EXACT) or not texts.str.fullmatch(WHOLE).all():
        return np.append(numbers, np.nan)[codes]
    exact = np.array([*map(int, texts), None], dtype=object)[codes]
    if largest >= 2**63:
        return exact
    return pd.array(exact, dtype="Int64") if gaps else exact.astype(np.int64)


def type_for(odd: OddCell, name: str) -> str:
    """Return the ``column_types`` to choose from for a cell of the column ``name``."""
    cell = as_series([odd.text])
    if odd.forms:
        return f"set column_types={{{name!r}: {' or '.join(map(repr, odd.forms))}}}"
    if np.isfinite(people_write(cell)[0]):
        return f"set column_types={{{name!r}: 'number'}}, or to 'category'"
    if re.fullmatch(DURATION, odd.text):
        return f"set column_types={{{name!r}: 'duration'}}, or to 'category'"
    convert = np.isfinite(people_write(cell, ",")[0])
    return (
        f"{'convert it' if convert else 'replace it by None'}, or set column_types={{{name!r}: "
        f"'category'}} or 'drop'"
    )
