"""Single texts: their appearance, numbers and dates in them, and their names as categories."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: Cells that are missing values; --na adds others.
MISSING = ["", "NA", "Na", "na", "NaN", "nan", "NAN", "Nan"]

WHOLE = r"[+-]?\d+"
CODE = r"0\d+"  # such as a postal code
POWER = r"\d+[eE]\d+"  # a number, or a code such as 885E01003
_FRACTION = r"[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?"
_MINUS = "\u2212\u2013\ufe63\uff0d"  # signs that look like a minus before digits
_BLANKS = re.compile("[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
DURATION = r"\d+:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
ZONE = r":.*(?:Z|[+-]\d\d:?\d\d)$"
_TIME = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
DAY = (
    r"(?:(\d{1,2})([/.-])(\d{1,2})\2(?:\d{4}|\d\d)|\d{4}([/.])\d{1,2}\4\d{1,2})(?: "
    r"\d{1,2}:\d\d(?::\d\d)?)?"
)
_DECORATION = r"\b[A-Z]{1,3}\$|[\s'_$£¥\u20a0-\u20c0%<>~≤≥]"  # of numbers as people write them
#: By the mark before decimals, numbers with the other mark between thousands.
THOUSANDS = {".": r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", ",": r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?"}
GROUPS = r"[+-]?[1-9]\d{0,2}(?:\.\d{3})*|0"  # whole numbers, perhaps with points between thousands
#: Shapes of cells that do not fit a column, of which messages show the first.
KINDS_SHOWN = 3


def kinds_of(cells: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return what each cell looks like by itself; "" if missing.

    This is "number", "boolean", "date", "time", "day" (a date such as 13/02/1931) or "category".
    """
    kinds = np.full(len(cells), "category", dtype=object)
    kinds[~np.isnan(floats_in(cells, decimal))] = "number"
    kinds[cells.str.casefold().isin(["true", "false"])] = "boolean"
    kinds[cells.str.fullmatch(_TIME)] = "time"
    kinds[cells.str.fullmatch(DAY)] = "day"
    if (dates := np.flatnonzero(cells.str.fullmatch(_DATE))).size:
        kinds[dates[dates_in(cells.iloc[dates], "ISO8601", utc=True).notna()]] = "date"
    kinds[cells.isin(MISSING)] = ""
    return kinds


def numbers_of(cells: pd.Series, decimal: str) -> np.ndarray:
    """Return the finite numbers among cells."""
    values = floats_in(cells, decimal)
    return values[np.isfinite(values)]


def like_numbers(levels: pd.Series) -> np.ndarray:
    """Return which texts are numbers as people write them, with either mark before decimals."""
    return np.isfinite(people_write(levels, ".")) | np.isfinite(people_write(levels, ","))


def people_write(texts: pd.Series, decimal: str = ".", thousands: str | None = None) -> np.ndarray:
    """Return the numbers in texts, NaN for others.

    They may have currency, percent signs and marks between thousands.
    """
    bare = texts.str.replace(_DECORATION, "", regex=True).str.replace(
        r"^\((.*)\)$", r"-\1", regex=True
    )
    return numbers_written(bare, decimal, thousands or ("," if decimal == "." else "."))


def number_level(value: float) -> str:
    """Name a number as a category; -0.0 is 0, and 0.1 + 0.2 is 0.3."""
    return f"{value + 0.0:.0f}" if value == round(value) else f"{value:.15g}"


def text_level(text: str) -> str:
    """Name a text as a category, as it looks.

    1.0 is 1, as another file may write it, 007 is not 7, and true is True.

    Examples
    --------
    >>> [text_level(text) for text in ("Bonn ", "New  York", "1.50", "007", "TRUE")]
    ['Bonn', 'New York', '1.5', '007', 'True']
    """
    text = as_it_looks(text)
    if text.casefold() in ("true", "false"):
        return text.capitalize()
    if text[:1] in (*_MINUS,) and text[1:2].isdigit():
        text = f"-{text[1:]}"
    return number_level(float(text)) if re.fullmatch(_FRACTION, text) else text


def as_it_looks(text: str) -> str:
    """Return a text normalized to its appearance.

    Letters are composed, blanks are single, of one kind and not at the ends, and invisible marks
    are removed.
    """
    if text.isascii() and "  " not in text and "\t" not in text:
        return text.strip()
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFC", text))
    return _BLANKS.sub(" ", text).strip()


def one_of_each_shape(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the first cell of each shape, such as $1 of $1 and $23.50, for a few shapes."""
    shapes: dict[str, str] = {}
    for cell in cells:
        shapes.setdefault(re.sub(r"\d[\d.,]*", "0", cell), cell)
        if len(shapes) == KINDS_SHOWN:
            break
    return tuple(shapes.values())


def signed(texts: pd.Series) -> pd.Series:
    """Return texts with minus-like and trailing minus signs as a leading minus.

    This affects only signs before or after digits.
    """
    first = {*_MINUS}
    last = {"-", *_MINUS}
    if not any(
        text[:1] in first or text[-1:] in last for text in texts
    ):  # as in nearly all columns
        return texts
    ahead = texts.str.replace(f"^[{_MINUS}](?=[\\d.,])", "-", regex=True)
    return ahead.str.replace(rf"^(\d[\d.,]*)[-{_MINUS}]$", r"-\1", regex=True)


def as_series(texts: Iterable[str]) -> pd.Series:
    """Return texts as a Series of pandas."""
    import pandas as pd

    return pd.Series([*texts], dtype=object)


def numbers_written(texts: pd.Series, decimal: str, thousands: str | None) -> np.ndarray:
    """Return the numbers in plain texts, with the marks that are given; NaN for others."""
    if thousands is None:
        return floats_in(texts, decimal)
    texts = signed(texts)
    bare = texts.str.replace(thousands, "", regex=False)
    if thousands == ("," if decimal == "." else "."):
        bare = bare.where(texts.str.fullmatch(THOUSANDS[decimal]), texts)
    return floats_in(bare, decimal)


def floats_in(texts: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return the numbers in texts, to the last bit; NaN for others."""
    import pandas as pd

    texts = signed(texts)
    if decimal != ".":
        texts = texts.where(~texts.str.contains(".", regex=False), "").str.replace(
            decimal, ".", regex=False
        )
    values = np.full(len(texts), np.nan)
    valid = pd.to_numeric(texts, errors="coerce").notna().to_numpy()
    values[valid] = texts.to_numpy(object)[valid].astype(float)
    return values


def dates_in(levels: pd.Series, form: str, *, utc: bool = False) -> pd.Series:
    """Return the dates of a form in texts; NaT for others."""
    import pandas as pd

    return pd.to_datetime(levels, format=form, errors="coerce", utc=utc)
