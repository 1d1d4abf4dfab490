"""Cells of text as columns: numbers, True and False, dates, times of day, and otherwise categories."""

from __future__ import annotations

import datetime
import re
import shlex
from itertools import product
from typing import TYPE_CHECKING, Any

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
_FORMATS = ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%Y/%m/%d")
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


class OddCell(ValueError):
    """A cell that is none of what its column holds: its row, what is wrong, and what to do about it."""

    def __init__(self, row: int, cell: str, fault: str, remedy: str = "") -> None:
        super().__init__(fault)
        self.row, self.cell, self.fault, self.remedy = row, cell, fault, remedy


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
    import pandas as pd

    codes, levels = levels_of(cells, options)
    if not len(levels):
        return np.full(len(codes), np.nan)

    def odd(level: Any, fault: str, remedy: str = "") -> OddCell:
        return OddCell(int((codes == int(level)).argmax()), levels[int(level)], fault, remedy)

    gaps = bool((codes < 0).any())
    if wanted == "number" or (wanted in (None, "ordered", "boolean") and not has_codes(levels)):
        read = people_write if wanted == "number" else _written
        numbers = read(levels, options.decimal or ".", options.thousands)
        if not np.isnan(numbers).any():
            if options.decimal is None and options.thousands is None and mark == ";":
                grouped = levels.str.contains(".", regex=False)
                if grouped.any() and levels.str.fullmatch(_GROUPS).all():
                    raise odd(
                        grouped.argmax(), "may have points between thousands", "give --thousands . or --decimal ."
                    )
            if np.isinf(numbers).any():
                raise odd(np.isinf(numbers).argmax(), "is an infinite value")
            whole = (np.rint(numbers) == numbers).all() and re.fullmatch(r"[-+\d\n]*", "\n".join(levels)) is not None
            largest = np.abs(numbers).max()
            if not whole or (gaps and largest <= EXACT):
                return np.append(numbers, np.nan)[codes]
            exact = np.array([*map(int, levels), None], dtype=object)[codes]
            if largest >= 2**63:
                return exact
            return pd.array(exact, dtype="Int64") if gaps else exact.astype(np.int64)
        if wanted == "number":
            raise odd(np.isnan(numbers).argmax(), "is not a number", "" if wanted is None else "correct it")
    if options.date_format and wanted in (None, "date"):
        dates = pd.to_datetime(levels, format=options.date_format, errors="coerce")
        if dates.notna().all():
            return _taken(dates, codes)
        if 2 * np.isin(codes, np.flatnonzero(dates.notna())).sum() >= (codes >= 0).sum():
            raise odd(dates.isna().argmax(), f"is no date of the form {options.date_format}", "correct it")
    kind = wanted if wanted == "date" else None if wanted is not None else _kind(levels, codes, odd)
    if kind == "boolean":
        truth = np.array([*(levels.str.casefold() == "true"), pd.NA], dtype=object)[codes]
        return pd.array(truth, dtype="boolean" if gaps else "bool")
    if kind == "date":
        zoned = levels.str.contains(_ZONE) & (levels.str.len() > 10)
        if zoned.nunique() > 1:
            other = (zoned != zoned[0]).argmax()
            raise odd(other, f"is a date {'with' if zoned[other] else 'without'} a time zone, unlike others")
        dates = pd.to_datetime(levels, format="ISO8601", errors="coerce", utc=bool(zoned[0]))
        if dates.isna().any():
            raise odd(dates.isna().argmax(), f"is not {_CALLED['date']}", "give --date-format")
        return _taken(dates, codes)
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


def has_codes(levels: pd.Series) -> bool:
    """Return whether some text is a code with leading zeros, such as 02134."""
    return re.search(rf"(?m)^{_CODE}$", "\n".join(levels)) is not None


def _floats(text: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return the numbers in texts, to the last bit; NaN for what is none."""
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


def _taken(dates: pd.Series, codes: np.ndarray) -> pd.Series:
    import pandas as pd

    return pd.Series(dates.array.take(codes, allow_fill=True))


def _kind(levels: pd.Series, codes: np.ndarray, odd: Any) -> str:
    """Return what a column without a type holds, other than numbers; raise OddCell if it is doubtful."""
    kinds = kinds_of(levels)
    if kinds[0] in ("boolean", "date", "time") and (kinds == kinds[0]).all():
        return str(kinds[0])
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))

    def usual(alike: Any) -> bool:
        return bool(2 * counts[np.asarray(alike, dtype=bool)].sum() >= counts.sum())

    if usual(days := levels.str.fullmatch(_DAY_OR_MONTH_FIRST)):
        formats = _formats(levels[days])
        fault = f"is not {_CALLED['date']}" if len(formats) == 1 else "may have the day or the month first"
        raise odd(days.argmax(), fault, f"give --date-format {' or '.join(formats or ['%d/%m/%Y'])}")
    looks = {"number": (kinds == "number") | like_numbers(levels), "date": kinds == "date", "time": kinds == "time"}
    for kind, alike in looks.items():
        if usual(alike) and not (kind == "number" and has_codes(levels)):
            raise odd((kinds != kind).argmax(), f"is not {_CALLED[kind]}")
    return "category"


def like_numbers(levels: pd.Series) -> np.ndarray:
    """Return which texts are numbers as people write them, with any marks between thousands and before decimals."""
    bare = levels.str.replace(_DECORATION, "", regex=True).str.replace(r"^\((.*)\)$", r"\1", regex=True)
    one_mark = bare.str.count(r"\.") < 2
    grouped = bare.str.contains(",", regex=False) & bare.str.fullmatch(_THOUSANDS[","])
    digits = bare.str.replace(r"[,.]", "", regex=True).str.fullmatch(r"[+-]?\d+([eE][+-]?\d+)?")
    return ((one_mark | grouped) & digits).to_numpy(bool)


def _formats(days: pd.Series) -> list[str]:
    """Return the formats of dates that fit all texts."""
    import pandas as pd

    mark = next(mark for mark in "/.-" if mark in days.iloc[0])
    colons = days.iloc[0].count(":")
    shapes = (shape.replace("/", mark) + ("", " %H:%M", " %H:%M:%S")[colons] for shape in _FORMATS)
    return [shape for shape in shapes if pd.to_datetime(days, format=shape, errors="coerce").notna().all()]
