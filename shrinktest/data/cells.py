"""Cells of text as columns: numbers, True and False, dates, times of day, and otherwise categories."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shrinktest._check import EXACT

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.data.delimited import TextOptions

#: Cells that are missing values; --na adds others.
MISSING = ["", *("".join(word) for known in ("Nn Aa", "Nn Aa Nn") for word in product(*known.split()))]

WHOLE = r"[+-]?\d+"
_CODE = r"0\d+"  # such as a postal code
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)$"
_TIME = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_DAY_OR_MONTH_FIRST = r"(\d{1,2}([/.-])\d{1,2}\2(\d{4}|\d\d)|\d{4}([/.])\d{1,2}\4\d{1,2})( \d{1,2}:\d\d(:\d\d)?)?"
_FORMS = ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%Y/%m/%d")
_DECORATION = r"[\s'_$€£¥%<>~≤≥]"  # of numbers as people write them
#: By the mark before decimals, numbers with the other mark between thousands.
_THOUSANDS = {".": r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", ",": r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?"}
_GROUPS = r"[+-]?[1-9]\d{0,2}(\.\d{3})*|0"  # whole numbers, perhaps with points between thousands
_USUAL = ("n/a", "#n/a", "n.a.", "null", "none", "nil", "<na>", "missing", "unknown", "-", "--", "?", ".", "..")
_CALLED = {
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


#: What cells may look like; besides, dates of each of ``_FORMS``, and "given", dates of ``--date-format``.
_LOOKS = ("number", "whole", "code", "pointed", "grouped", "plain", "numeric", "boolean", "date", "time", "zoned",
          "day")  # fmt: skip


@dataclass(frozen=True)
class Looks:
    """Looks of the cells of a column; looks of successive rows are merged, so that parts make the whole."""

    present: int = 0  # rows with a value
    each: Mapping[str, Look] = field(default_factory=dict)

    @classmethod
    def plain(cls, rows: int, cell: str, *, whole: bool) -> Looks:
        """Return the looks of numbers without doubt."""
        numbers = ("number", "plain", "numeric", *(("whole",) if whole else ()))
        each = dict.fromkeys((*_LOOKS, *_FORMS), Look(0, None, cell))
        return cls(rows, {**each, **dict.fromkeys(numbers, Look(rows, cell, None))})

    def merge(self, other: Looks) -> Looks:
        """Add the rows that come next."""
        if not (self.present and other.present):
            return self if self.present else other
        both = ((look, mine, other[look]) for look, mine in self.each.items())
        each = {look: Look(a.rows + b.rows, a.like or b.like, a.unlike or b.unlike) for look, a, b in both}
        return Looks(self.present + other.present, each)

    def __getitem__(self, look: str) -> Look:
        return self.each[look]


class OddCell(ValueError):
    """A cell that does not fit its column, what is wrong, and what to do about it."""

    def __init__(self, cell: str, fault: str, remedy: str = "") -> None:
        super().__init__(fault)
        self.cell, self.fault, self.remedy = cell, fault, remedy


def levels_of(cells: pd.Series, options: TextOptions) -> tuple[np.ndarray, pd.Series]:
    """Return codes (-1 if missing) of cells, and their distinct texts without blanks around them, in order."""
    import pandas as pd

    codes, distinct = pd.factorize(cells.to_numpy())
    levels = pd.Series(distinct, dtype=object)
    if re.search(r"[^\S\n]|^\n|\n\n|\n$", "\n".join(distinct)):  # blanks, rarely around the cells
        new, distinct = pd.factorize(levels.str.strip())
        codes, levels = new[codes], pd.Series(distinct, dtype=object)
    missing = levels.isin([*MISSING, *options.na])
    decimal = options.decimal or "."
    given = pd.Series([*options.na], dtype=object)
    if options.na and (words := np.append(numbers_of(given, "."), numbers_of(given, decimal))).size:
        missing |= np.isin(_floats(levels, decimal), words) & ~levels.str.fullmatch(_CODE)
    if not missing.any():
        return codes, levels
    new = np.where(missing, -1, np.cumsum(~missing) - 1)
    return new[codes], levels[~missing].reset_index(drop=True)


def labels_of(cells: pd.Series, options: TextOptions) -> list[Any]:
    """Return cells as labels, so that 1.0 is 1; None if missing."""
    codes, levels = levels_of(cells, options)
    labels: list[Any] = np.array([*_names(levels), None], dtype=object)[codes].tolist()
    return labels


def read_column(cells: pd.Series, wanted: Any, mark: str, options: TextOptions) -> Any:
    """Return the values of a column, by what its cells are, or as the type ``wanted``; raise OddCell.

    ``mark`` is what is between the cells of the file.
    """
    codes, levels = levels_of(cells, options)
    return values_of(codes, levels, kind_of(looks_of(codes, levels, options), wanted, mark, options), options)


def looks_of(codes: np.ndarray, levels: pd.Series, options: TextOptions) -> Looks:
    """Return what cells look like, by their codes and distinct texts."""
    if levels.empty:
        return Looks()
    counts, text = np.bincount(codes[codes >= 0], minlength=len(levels)), "\n".join(levels)
    every, none = Look(int(counts.sum()), levels[0], None), Look(0, None, levels[0])

    def look(alike: Any) -> Look:
        yes = np.asarray(alike, dtype=bool)
        ends = [levels[which.argmax()] if which.any() else None for which in (yes, ~yes)]
        return Look(int(counts[yes].sum()), ends[0], ends[1])

    looks = dict.fromkeys(("day", *_FORMS), none)
    looks["number"] = look(~np.isnan(_written(levels, options.decimal or ".", options.thousands)))
    looks["whole"] = every if re.fullmatch(r"[-+\d\n]*", text) else none
    looks["code"] = look(levels.str.fullmatch(_CODE)) if has_codes(levels) else none
    looks["pointed"] = look(levels.str.contains(".", regex=False)) if "." in text else none
    looks["grouped"] = look(levels.str.fullmatch(_GROUPS))
    if options.date_format:
        looks["given"] = look(_dates(levels, options.date_format).notna())
    if looks["number"].unlike is None:  # nothing else looks like a number
        return Looks(every.rows, {**looks, **dict.fromkeys(("plain", "numeric"), every),
                      **dict.fromkeys(("boolean", "date", "time", "zoned"), none)})  # fmt: skip
    kinds = kinds_of(levels)
    looks |= {kind: look(kinds == kind) for kind in ("boolean", "date", "time")}
    looks["plain"], looks["numeric"] = look(kinds == "number"), look((kinds == "number") | like_numbers(levels))
    looks["zoned"] = look(levels.str.contains(_ZONE) & (levels.str.len() > 10))
    looks["day"] = look(days := levels.str.fullmatch(_DAY_OR_MONTH_FIRST).to_numpy(bool))
    if days.any():
        looks |= {form: look(~days | _dates(levels, _shape(form, looks["day"].like)).notna()) for form in _FORMS}
    return Looks(every.rows, looks)


def kind_of(looks: Looks, wanted: Any, mark: str, options: TextOptions) -> str:
    """Return how the cells of a column are read; raise OddCell if that is doubtful.

    Besides kinds of columns this is "whole", "decorated" (numbers as people write them) and "given" (dates of the
    format of the options).
    """
    if not looks.present:
        return "date" if wanted == "date" else "number"
    numbers = wanted in (None, "ordered", "boolean") and looks["number"].unlike is None and not looks["code"].rows
    if numbers or wanted == "number":
        pointed, unmarked = looks["pointed"].like, options.decimal is None and options.thousands is None
        if unmarked and mark == ";" and pointed and looks["grouped"].unlike is None:
            raise OddCell(pointed, "may have points between thousands", "give --thousands . or --decimal .")
        return "decorated" if wanted == "number" else "number" if looks["whole"].unlike else "whole"
    if options.date_format and wanted in (None, "date"):
        rows, _, other = looks["given"]
        if other is None:
            return "given"
        if 2 * rows >= looks.present:
            raise OddCell(other, f"is not a date of the form {options.date_format}", "correct it")
    kind = "category" if wanted not in (None, "date") else wanted or _likely(looks)
    if kind == "date" and looks["zoned"].rows and (plain := looks["zoned"].unlike):
        raise OddCell(plain, "is a date without a time zone, unlike others")
    return str(kind)


def values_of(codes: np.ndarray, levels: pd.Series, kind: str, options: TextOptions) -> Any:
    """Return the values of cells of a :func:`kind <kind_of>`, of all rows of a column or of some; raise OddCell."""
    import pandas as pd

    if not len(levels) and kind in ("date", "given"):
        return pd.Series(np.full(len(codes), "NaT", dtype="datetime64[us]"))
    if not len(levels):
        return pd.Categorical(codes * np.nan) if kind == "category" else np.full(len(codes), np.nan)
    gaps = bool((codes < 0).any())
    if kind in ("whole", "number", "decorated"):
        read = people_write if kind == "decorated" else _written
        numbers = read(levels, options.decimal or ".", options.thousands)
        for wrong, fault in ((np.isnan(numbers), "is not a number"), (np.isinf(numbers), "is an infinite value")):
            if wrong.any():
                raise OddCell(levels[wrong.argmax()], fault, "correct it" if kind == "decorated" else "")
        largest = np.abs(numbers).max()
        whole = kind == "whole" or (kind == "decorated" and levels.str.fullmatch(r"[-+\d]*").all())
        if not whole or (gaps and largest <= EXACT):
            return np.append(numbers, np.nan)[codes]
        exact = np.array([*map(int, levels), None], dtype=object)[codes]
        if largest >= 2**63:
            return exact
        return pd.array(exact, dtype="Int64") if gaps else exact.astype(np.int64)
    if kind == "boolean":
        truth = np.array([*(levels.str.casefold() == "true"), pd.NA], dtype=object)[codes]
        return pd.array(truth, dtype="boolean" if gaps else "bool")
    if kind in ("date", "given"):
        zoned = bool(re.search(_ZONE, levels[0])) and len(levels[0]) > 10
        dates = _dates(levels, str(options.date_format) if kind == "given" else "ISO8601", utc=zoned)
        if dates.isna().any():
            raise OddCell(levels[dates.isna().argmax()], f"is not {_CALLED['date']}", "give --date-format")
        return pd.Series(dates.array.take(codes, allow_fill=True))
    if kind == "time":
        times = [datetime.time.fromisoformat(level.rjust(len(level) + (level[1] == ":"), "0")) for level in levels]
        return pd.Series(np.array([*times, None], dtype=object)[codes])
    return pd.Categorical(np.array([*_names(levels), None], dtype=object)[codes])


def kinds_of(cells: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return what each cell looks like by itself: "number", "boolean", "date", "time", "category", "" if missing."""
    import pandas as pd

    kinds = np.full(len(cells), "category", dtype=object)
    kinds[~np.isnan(_floats(cells, decimal))] = "number"
    kinds[cells.str.casefold().isin(["true", "false"])] = "boolean"
    kinds[cells.str.fullmatch(_TIME)] = "time"
    if (dates := np.flatnonzero(cells.str.fullmatch(_DATE))).size:
        kinds[dates[pd.to_datetime(cells.iloc[dates], format="ISO8601", errors="coerce", utc=True).notna()]] = "date"
    kinds[cells.isin(MISSING)] = ""
    return kinds


def numbers_of(cells: pd.Series, decimal: str) -> np.ndarray:
    """Return the finite numbers among cells."""
    values = _floats(cells, decimal)
    return values[np.isfinite(values)]


def remedy_for(odd: OddCell, name: str) -> str:
    """Return the options to choose from for a cell of the column ``name``."""
    import pandas as pd

    if odd.remedy:
        return odd.remedy
    cell = pd.Series([odd.cell])
    if "," in odd.cell and not np.isnan(_floats(cell, ",")[0]):
        return "give --decimal , or --thousands ,"
    if cell.str.fullmatch(_THOUSANDS[","])[0] and "," in odd.cell:
        return "give --decimal , --thousands ."
    quoted = f'"{name}"' if "," in name else name
    category, number = (shlex.quote(f"{quoted}={kind}") for kind in ("category", "number"))
    if not np.isnan(people_write(cell)[0]):
        return f"give --types {number}"
    word = f"--na={odd.cell}" if odd.cell.startswith("--") else f"--na {shlex.quote(odd.cell)}"
    return f"correct it, or give --types {category}{f' or {word}' if odd.cell.casefold() in _USUAL else ''}"


def _floats(text: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return the numbers in texts, to the last bit; NaN otherwise."""
    import pandas as pd

    if decimal != ".":
        text = text.where(~text.str.contains(".", regex=False), "").str.replace(decimal, ".", regex=False)
    cells = text.to_numpy(object)
    try:
        values = cells.astype(float)
    except ValueError:
        values = np.full(len(cells), np.nan)
        valid = pd.to_numeric(text, errors="coerce").notna().to_numpy()
        values[valid] = cells[valid].astype(float)
    if "_" in "".join(cells):  # Python reads 1_000 as a number
        values[text.str.contains("_", regex=False)] = np.nan
    return values


def _written(levels: pd.Series, decimal: str, thousands: str | None) -> np.ndarray:
    """Return the numbers in plain texts, with the marks that are given."""
    return _floats(_without_thousands(levels, decimal, thousands), decimal)


def people_write(texts: pd.Series, decimal: str = ".", thousands: str | None = None) -> np.ndarray:
    """Return the numbers in texts that may have currency, percent signs and marks between thousands; NaN for others."""
    bare = texts.str.replace(_DECORATION, "", regex=True).str.replace(r"^\((.*)\)$", r"-\1", regex=True)
    return _floats(_without_thousands(bare, decimal, thousands or (",." if decimal == "." else ".,")[0]), decimal)


def _without_thousands(levels: pd.Series, decimal: str, thousands: str | None) -> pd.Series:
    if thousands is None:
        return levels
    bare = levels.str.replace(thousands, "", regex=False)
    if thousands == ("," if decimal == "." else "."):
        return bare.where(levels.str.fullmatch(_THOUSANDS[decimal]), levels)
    return bare


def _names(levels: pd.Series) -> np.ndarray:
    """Return what categories are called: 1.0 is 1, as it may be written in another file, and 007 is not 7."""
    names = levels.to_numpy(object).copy()
    values = _floats(levels)
    for i in np.flatnonzero(np.isfinite(values) & ~levels.str.fullmatch(WHOLE).to_numpy(bool)):
        names[i] = f"{values[i] + 0.0:.0f}" if values[i] == round(values[i]) else f"{values[i]:.12g}"
    return names


def _dates(levels: pd.Series, form: str, *, utc: bool = False) -> pd.Series:
    import pandas as pd

    return pd.to_datetime(levels, format=form, errors="coerce", utc=utc)


def _likely(looks: Looks) -> str:
    """Return what a column without a type holds, other than numbers; raise OddCell if it is doubtful."""
    for kind in ("boolean", "date", "time"):
        if looks.present and looks[kind].unlike is None:
            return kind
    days, day, _ = looks["day"]
    if day is not None and 2 * days >= looks.present:
        forms = [_shape(form, day) for form in _FORMS if looks[form].unlike is None]
        fault = f"is not {_CALLED['date']}" if len(forms) == 1 else "may have the day or the month first"
        raise OddCell(day, fault, f"give --date-format {' or '.join(forms or ['%d/%m/%Y'])}")
    for kind, look in (("number", "numeric"), ("date", "date"), ("time", "time")):
        rows, _, _ = looks[look]
        other = looks["plain" if kind == "number" else kind].unlike
        if other is not None and rows and 2 * rows >= looks.present and not (kind == "number" and looks["code"].rows):
            raise OddCell(other, f"is not {_CALLED[kind]}")
    return "category"


def has_codes(levels: pd.Series) -> bool:
    """Return whether some text is a code with leading zeros, such as 02134."""
    return re.search(rf"(?m)^{_CODE}$", "\n".join(levels)) is not None


def like_numbers(levels: pd.Series) -> np.ndarray:
    """Return which texts are numbers as people write them, with any marks between thousands and before decimals."""
    bare = levels.str.replace(_DECORATION, "", regex=True).str.replace(r"^\((.*)\)$", r"\1", regex=True)
    one_mark = bare.str.count(r"\.") < 2
    grouped = bare.str.contains(",", regex=False) & bare.str.fullmatch(_THOUSANDS[","])
    digits = bare.str.replace(r"[,.]", "", regex=True).str.fullmatch(r"[+-]?\d+([eE][+-]?\d+)?")
    return ((one_mark | grouped) & digits).to_numpy(bool)


def _shape(form: str, day: str | None) -> str:
    """Return the format of a date with the marks of one like it, and a time of day if that has one."""
    mark = next(mark for mark in "/.-" if mark in str(day))
    return form.replace("/", mark) + ("", " %H:%M", " %H:%M:%S")[str(day).count(":")]
