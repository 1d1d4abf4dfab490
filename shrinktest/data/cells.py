"""Cells of text as columns: numbers, True and False, dates, times of day, and otherwise categories."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shrinktest._check import EXACT

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.data.delimited import TextOptions

#: Cells that are missing values; --na adds others.
MISSING = ["", "NA", "Na", "na", "NaN", "nan", "NAN", "Nan"]

_WHOLE = r"[+-]?\d+"
_CODE = r"0\d+"  # such as a postal code
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_ZONE = r":.*(?:Z|[+-]\d\d:?\d\d)$"
_TIME = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_DAY = r"(?:(\d{1,2})([/.-])(\d{1,2})\2(?:\d{4}|\d\d)|\d{4}([/.])\d{1,2}\4\d{1,2})(?: \d{1,2}:\d\d(?::\d\d)?)?"
_DECORATION = r"[\s'_$€£¥%<>~≤≥]"  # of numbers as people write them
#: By the mark before decimals, numbers with the other mark between thousands.
_THOUSANDS = {".": r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", ",": r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?"}
_GROUPS = r"[+-]?[1-9]\d{0,2}(?:\.\d{3})*|0"  # whole numbers, perhaps with points between thousands
_EXAMPLES = {
    "number": "a number",
    "boolean": "True or False",
    "date": "a date such as 2024-03-31",
    "time": "a time such as 14:30",
}


class Look(NamedTuple):
    """Number of rows of a column that look alike, the first such cell, and the first other cell."""

    rows: int
    like: str | None
    unlike: str | None


#: What cells may look like; "given" are dates of ``--date-format``, and a "late day" or "late month" is above 12.
_LOOKS = ("number", "numeric", "whole", "code", "pointed", "grouped", "boolean", "date", "time", "zoned", "given",
          "day", "late day", "late month")  # fmt: skip


@dataclass(frozen=True)
class Looks:
    """Looks of the cells of a column; looks of successive rows are merged, so that parts make the whole."""

    present: int = 0  # rows with a value
    each: Mapping[str, Look] = field(default_factory=dict)

    @classmethod
    def plain(cls, rows: int, cell: str, *, whole: bool) -> Looks:
        """Return the looks of numbers without doubt."""
        numbers = ("number", "numeric", *(("whole",) if whole else ()))
        return cls(rows, dict.fromkeys(_LOOKS, Look(0, None, cell)) | dict.fromkeys(numbers, Look(rows, cell, None)))

    def merge(self, other: Looks) -> Looks:
        """Add the rows that come next."""
        if not (self.present and other.present):
            return self if self.present else other
        both = ((look, self[look], other[look]) for look in _LOOKS)
        each = {look: Look(a.rows + b.rows, a.like or b.like, a.unlike or b.unlike) for look, a, b in both}
        return Looks(self.present + other.present, each)

    def __getitem__(self, look: str) -> Look:
        return self.each[look]


class OddCell(ValueError):
    """A cell that does not fit its column, what is wrong, and what to do about it."""

    def __init__(self, cell: str, fault: str, remedy: str = "") -> None:
        super().__init__(fault)
        self.cell, self.fault, self.remedy = cell, fault, remedy


# --- reading ------------------------------------------------------------------------------------------------


def levels_of(cells: pd.Series, options: TextOptions) -> tuple[np.ndarray, pd.Series]:
    """Return codes (-1 if missing) of cells, and their distinct texts without blanks around them, in order."""
    import pandas as pd

    codes, distinct = pd.factorize(cells.to_numpy())
    stripped, distinct = pd.factorize(pd.Series(distinct, dtype=object).str.strip())
    levels = pd.Series(distinct, dtype=object)
    missing = levels.isin([*MISSING, *options.na])
    if (words := _floats(pd.Series(options.na, dtype=object))).size:
        missing |= np.isin(_floats(levels, options.decimal or "."), words) & ~levels.str.fullmatch(_CODE)
    places = np.where(missing, -1, np.cumsum(~missing) - 1)
    return places[stripped[codes]], levels[~missing].reset_index(drop=True)


def labels_of(cells: pd.Series, options: TextOptions) -> list[Any]:
    """Return cells as labels, so that 1.0 is 1; None if missing."""
    codes, levels = levels_of(cells, options)
    labels: list[Any] = np.array([*_names(levels), None], dtype=object)[codes].tolist()
    return labels


def read_column(cells: pd.Series, kind: Any, mark: str, options: TextOptions) -> Any:
    """Return the values of a column, by what its cells are, or as the type ``kind``; raise OddCell.

    ``mark`` is what is between the cells of the file.
    """
    codes, levels = levels_of(cells, options)
    return values_of(codes, levels, kind_of(looks_of(codes, levels, options), kind, mark, options), options)


def looks_of(codes: np.ndarray, levels: pd.Series, options: TextOptions) -> Looks:
    """Return what cells look like, by their codes and distinct texts."""
    if levels.empty:
        return Looks()
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))

    def look(alike: Any) -> Look:
        yes = np.asarray(alike, dtype=bool)
        like, unlike = (levels[which.argmax()] if which.any() else None for which in (yes, ~yes))
        return Look(int(counts[yes].sum()), like, unlike)

    rows = int(counts.sum())
    looks = dict.fromkeys(_LOOKS, Look(0, None, levels[0]))
    looks["number"] = look(~np.isnan(_written(levels, options.decimal or ".", options.thousands)))
    looks["whole"] = look(levels.str.fullmatch(_WHOLE))
    looks["code"] = look(levels.str.fullmatch(_CODE))
    looks["pointed"] = look(levels.str.contains(".", regex=False))
    looks["grouped"] = look(levels.str.fullmatch(_GROUPS))
    if options.date_format:
        looks["given"] = look(_dates(levels, options.date_format).notna())
    if looks["number"].unlike is None:  # nothing else looks like a number
        return Looks(rows, {**looks, "numeric": looks["number"]})
    kinds = kinds_of(levels)
    looks |= {kind: look(kinds == kind) for kind in ("boolean", "date", "time")}
    looks["numeric"] = look((kinds == "number") | like_numbers(levels))
    looks["zoned"] = look(levels.str.contains(_ZONE))
    looks["day"] = look(levels.str.fullmatch(_DAY))
    if looks["day"].rows:
        parts = levels.where(levels.str.fullmatch(_DAY), "").str.extract(_DAY)[[0, 2]].astype(float)
        looks["late day"], looks["late month"] = look(parts[0] > 12), look(parts[2] > 12)
    return Looks(rows, looks)


def kind_of(looks: Looks, kind: Any, mark: str, options: TextOptions) -> str:
    """Return how the cells of a column are read; raise OddCell if that is doubtful.

    Besides kinds of columns this is "whole", "decorated" (numbers as people write them) and "given" (dates of the
    format of the options).
    """
    if not looks.present:
        return "date" if kind == "date" else "number"
    numbers = kind in (None, "ordered", "boolean") and looks["number"].unlike is None and not looks["code"].rows
    if numbers or kind == "number":
        pointed, unmarked = looks["pointed"].like, options.decimal is None and options.thousands is None
        if unmarked and mark == ";" and pointed and looks["grouped"].unlike is None:
            raise OddCell(pointed, "may have points between thousands", "give --thousands . or --decimal .")
        return "decorated" if kind == "number" else "number" if looks["whole"].unlike else "whole"
    if options.date_format and kind in (None, "date"):
        rows, _, other = looks["given"]
        if other is None:
            return "given"
        if 2 * rows >= looks.present:
            raise OddCell(other, f"is not a date of the form {options.date_format}", "correct it")
    kind = _likely(looks) if kind is None else "date" if kind == "date" else "category"
    if kind == "date" and looks["zoned"].rows and (plain := looks["zoned"].unlike):
        raise OddCell(plain, "is a date without a time zone, unlike others")
    return kind


def _likely(looks: Looks) -> str:
    """Return what a column without a type holds, other than numbers; raise OddCell if it is doubtful."""
    for kind in ("boolean", "date", "time"):
        if looks[kind].unlike is None:
            return kind
    days, day, _ = looks["day"]
    if day is not None and 2 * days >= looks.present:
        forms = _date_forms(looks, day)
        fault = f"is not {_EXAMPLES['date']}" if len(forms) == 1 else "may have the day or the month first"
        raise OddCell(day, fault, f"give --date-format {' or '.join(forms)}")
    for kind, look in (("number", "numeric"), ("date", "date"), ("time", "time")):
        if 2 * looks[look].rows >= looks.present and not (kind == "number" and looks["code"].rows):
            raise OddCell(str(looks[kind].unlike), f"is not {_EXAMPLES[kind]}")
    return "category"


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
    """Return the values of cells of a :func:`kind <kind_of>`, of all rows of a column or of some; raise OddCell."""
    import pandas as pd

    if kind in ("whole", "number", "decorated"):
        return _numbers(codes, levels, kind, options)
    if kind in ("date", "given"):
        zoned = bool(levels.str.contains(_ZONE).any())
        dates = _dates(levels, str(options.date_format) if kind == "given" else "ISO8601", utc=zoned)
        if dates.isna().any():
            raise OddCell(levels[dates.isna().argmax()], f"is not {_EXAMPLES['date']}", "give --date-format")
        return pd.Series(dates.array.take(codes, allow_fill=True))
    if kind == "category":
        places, names = pd.factorize(_names(levels))
        return pd.Categorical.from_codes(np.append(places, -1)[codes], names)
    if kind == "boolean":
        truth = np.array([*(levels.str.casefold() == "true"), pd.NA], dtype=object)[codes]
        return pd.array(truth, dtype="boolean" if (codes < 0).any() else "bool")
    times = [datetime.time.fromisoformat(level if level[1] != ":" else f"0{level}") for level in levels]
    return pd.Series(np.array([*times, None], dtype=object)[codes])


def _numbers(codes: np.ndarray, levels: pd.Series, kind: str, options: TextOptions) -> Any:
    """Return numbers as floats, and whole ones as integers unless values are missing or they have too many digits."""
    import pandas as pd

    read = people_write if kind == "decorated" else _written
    numbers = read(levels, options.decimal or ".", options.thousands)
    if not np.isfinite(numbers).all():
        odd = int(np.isfinite(numbers).argmin())
        fault = "is not a number" if np.isnan(numbers[odd]) else "is an infinite value"
        raise OddCell(levels[odd], fault, "correct it" if kind == "decorated" else "")
    gaps, largest = bool((codes < 0).any()), np.abs(numbers).max(initial=0.0)
    if kind == "number" or (gaps and largest <= EXACT) or not levels.str.fullmatch(_WHOLE).all():
        return np.append(numbers, np.nan)[codes]
    exact = np.array([*map(int, levels), None], dtype=object)[codes]
    if largest >= 2**63:
        return exact
    return pd.array(exact, dtype="Int64") if gaps else exact.astype(np.int64)


def remedy_for(odd: OddCell, name: str) -> str:
    """Return the options to choose from for a cell of the column ``name``."""
    import pandas as pd

    if odd.remedy:
        return odd.remedy
    cell = pd.Series([odd.cell], dtype=object)
    if "," in odd.cell and not np.isnan(_floats(cell, ",")[0]):
        return "give --decimal , or --thousands ,"
    if "," in odd.cell and re.fullmatch(_THOUSANDS[","], odd.cell):
        return "give --decimal , --thousands ."
    if not np.isnan(people_write(cell)[0]):
        return f"give --types {shlex.quote(f'{name}=number')}"
    return f"correct it, or give --types {shlex.quote(f'{name}=category')} or --na {shlex.quote(odd.cell)}"


# --- what single texts are ----------------------------------------------------------------------------------


def kinds_of(cells: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return what each cell looks like by itself: "number", "boolean", "date", "time", "category", "" if missing."""
    kinds = np.full(len(cells), "category", dtype=object)
    kinds[~np.isnan(_floats(cells, decimal))] = "number"
    kinds[cells.str.casefold().isin(["true", "false"])] = "boolean"
    kinds[cells.str.fullmatch(_TIME)] = "time"
    if (dates := np.flatnonzero(cells.str.fullmatch(_DATE))).size:
        kinds[dates[_dates(cells.iloc[dates], "ISO8601", utc=True).notna()]] = "date"
    kinds[cells.isin(MISSING)] = ""
    return kinds


def numbers_of(cells: pd.Series, decimal: str) -> np.ndarray:
    """Return the finite numbers among cells."""
    values = _floats(cells, decimal)
    return values[np.isfinite(values)]


def has_codes(levels: pd.Series) -> bool:
    """Return True if some text is a code with leading zeros, such as 02134."""
    return bool(levels.str.fullmatch(_CODE).any())


def like_numbers(levels: pd.Series) -> np.ndarray:
    """Return which texts are numbers as people write them, with either mark before decimals."""
    return np.isfinite(people_write(levels, ".")) | np.isfinite(people_write(levels, ","))


def people_write(texts: pd.Series, decimal: str = ".", thousands: str | None = None) -> np.ndarray:
    """Return the numbers in texts that may have currency, percent signs and marks between thousands; NaN for others."""
    bare = texts.str.replace(_DECORATION, "", regex=True).str.replace(r"^\((.*)\)$", r"-\1", regex=True)
    return _written(bare, decimal, thousands or ("," if decimal == "." else "."))


def number_level(value: float) -> str:
    """Name a number as a category; -0.0 is 0."""
    return f"{value + 0.0:.0f}" if value == round(value) else f"{value:.12g}"


def _written(texts: pd.Series, decimal: str, thousands: str | None) -> np.ndarray:
    """Return the numbers in plain texts, with the marks that are given; NaN for others."""
    if thousands is None:
        return _floats(texts, decimal)
    bare = texts.str.replace(thousands, "", regex=False)
    if thousands == ("," if decimal == "." else "."):
        bare = bare.where(texts.str.fullmatch(_THOUSANDS[decimal]), texts)
    return _floats(bare, decimal)


def _floats(texts: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return the numbers in texts, to the last bit; NaN for others."""
    import pandas as pd

    if decimal != ".":
        texts = texts.where(~texts.str.contains(".", regex=False), "").str.replace(decimal, ".", regex=False)
    values = np.full(len(texts), np.nan)
    valid = pd.to_numeric(texts, errors="coerce").notna().to_numpy()
    values[valid] = texts.to_numpy(object)[valid].astype(float)
    return values


def _names(levels: pd.Series) -> np.ndarray:
    """Return what categories are called: 1.0 is 1, as it may be written in another file, and 007 is not 7."""
    names = levels.to_numpy(object).copy()
    values = _floats(levels)
    for i in np.flatnonzero(np.isfinite(values) & ~levels.str.fullmatch(_WHOLE).to_numpy(bool)):
        names[i] = number_level(values[i])
    return names


def _dates(levels: pd.Series, form: str, *, utc: bool = False) -> pd.Series:
    import pandas as pd

    return pd.to_datetime(levels, format=form, errors="coerce", utc=utc)
