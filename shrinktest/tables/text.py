"""Columns from cells of text: numbers, True and False, dates, times of day, and else categories."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shrinktest._check import EXACT, check_digits
from shrinktest.data.column import Column, as_kind, from_booleans, from_text, from_times, hours_of, number_level

MISSING = ("", "na", "nan")

_WHOLE = re.compile(r"[+-]?\d+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?")
_DECORATION = re.compile(r"[\s,.'_$€£¥%<>~≤≥]")  # of numbers as people write them
_DRESS = re.compile(r"[\s$€£¥%<>~≤≥]")  # the same without marks between digits
_COMMA = re.compile(r",(\d{1,2}|\d{4,})\D*$|\.\d{3},")  # before decimals
_POINT = re.compile(r",\d{3}\.|\.(\d{1,2}|\d{4,})\D*$")
_PAST_MICROSECONDS = re.compile(r"[.,]\d{6}(\d{1,3})")  # further decimals of a second, which Python leaves out
_CODE = re.compile(r"0\d+")  # such as a postal code
#: By the mark before decimals, numbers with the other mark between thousands.
THOUSANDS = {
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"),
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?"),
}

#: Share of the cells that makes a kind likely: in files, whose cells have no type, and in tables, where text has one.
IN_FILES, IN_TABLES = 0.5, 0.9


class OddCell(ValueError):
    """A cell, in a row counted from 0, that is none of what its column holds; ``why`` follows it in messages."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row, self.why = row, why


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.casefold() in MISSING


def as_number(cell: str, decimal: str = ".") -> float | None:
    """The number that a cell is; NaN where it is missing, None for what is no number."""
    if is_missing(cell):
        return math.nan
    if decimal != ".":
        if "." in cell:
            return None
        cell = cell.replace(decimal, ".")
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number, files do not mean it
    except ValueError:
        return None


def kind_of_cell(cell: str, decimal: str = ".") -> str | None:
    """What a cell looks like by itself: "number", "boolean", "date", "time" or "category"; None where it is missing."""
    if is_missing(cell):
        return None
    if as_number(cell, decimal) is not None:
        return "number"
    return next((kind for kind, looks in _LOOKS.items() if looks(cell)), "category")


def likely_kind(counts: Mapping[str, int], share: float) -> str | None:
    """Kind that at least a share of the cells of a column looks like: "number", "date" or "time"; None for other text.

    ``counts`` says how often each cell occurs; missing ones do not count.  Text with leading zeros, such as "02134", is
    a code, and a column with such text holds no numbers.
    """
    present = {cell: n for cell, n in counts.items() if not is_missing(cell)}
    if not present:
        return None
    least = share * sum(present.values())
    for kind, looks in (("number", as_people_write), ("date", _LOOKS["date"]), ("time", _LOOKS["time"])):
        if kind == "number" and any(map(is_code, present)):
            continue
        if sum(n for cell, n in present.items() if looks(cell)) >= least:
            return kind
    return None


def is_code(cell: str) -> bool:
    """Whether a cell consists of digits and begins with a zero that no number has."""
    return _CODE.fullmatch(cell) is not None


def from_cells(name: str, cells: Sequence[str], *, wanted: Any = None, decimal: str = ".", where: str = "") -> Column:
    """A column by what its cells are, or as the kind that is ``wanted``.

    There is no space around cells; empty ones, NA and nan are missing.  ``wanted`` is a kind of column, or the levels
    in their order, see :func:`~shrinktest.tables.column.as_kind`; ``decimal`` is the mark before decimals, "." or ",",
    and ``where`` what messages call the column.

    Raises OddCell for infinite numbers, and for a cell that is none of what the others are, where at least half of them
    are numbers, dates or times: it is rather a slip than one more category.  Raises ValueError for cells that cannot be
    read as what is wanted, and for whole numbers that are not told apart as floats.  Digits with leading zeros are text
    unless numbers are wanted.
    """
    numbers = [as_number(cell, decimal) for cell in cells]
    codes = wanted is None and any(map(is_code, cells))
    if None not in numbers and wanted in (None, "number", "ordered", "boolean") and not codes:
        column = _numbers(name, cells, numbers, where)
        return column if wanted is None else as_kind(column, wanted, where)
    if wanted == "number":
        raise OddCell(numbers.index(None), "is not a number")
    present = [i for i, cell in enumerate(cells) if not is_missing(cell)]
    likely = likely_kind(Counter(cells), IN_FILES) if wanted is None else None
    if likely == "number":
        raise OddCell(numbers.index(None), "is not a number")
    for kind, looks in _LOOKS.items() if wanted in (None, *_LOOKS) else ():
        if wanted == "date":  # 20240331, say, which nobody takes for a date unasked
            looks = _is_date
        odd = next((i for i in present if not looks(cells[i])), None)
        if odd is None and wanted in (None, kind):
            return _READ[kind](name, cells)
        if kind in (wanted, likely):
            assert odd is not None
            raise OddCell(odd, f"is not {CALLED[kind]}")
    column = from_text(name, [None if is_missing(cell) else level_of(cell) for cell in cells])
    return column if wanted is None or wanted == "category" else as_kind(column, wanted, where)


def whole_numbers(cells: Sequence[str]) -> list[int] | None:
    """The whole numbers in cells, to the last digit, without those that are missing; None where one is none."""
    present = [cell for cell in cells if not is_missing(cell)]
    return [int(cell) for cell in present] if all(map(_WHOLE.fullmatch, present)) else None


def _numbers(name: str, cells: Sequence[str], numbers: Sequence[Any], where: str) -> Column:
    values = np.array(numbers, dtype=np.float64)
    if (infinite := np.isinf(values)).any():
        raise OddCell(int(np.flatnonzero(infinite)[0]), "is an infinite value")
    if (np.abs(values) > EXACT).any() and (whole := whole_numbers(cells)) is not None:
        check_digits(whole, where, name)
    return Column(name, "number", values, whole=all(map(_WHOLE.fullmatch, cells)))


def delimiter_in(line: str) -> str:
    """What is between the cells of the first line of a file, which may be in quotation marks."""
    # Semicolons and tabs hardly ever occur in files separated by commas; commas (decimals) do in the others.
    bare = re.sub(r'"[^"]*"', "", line)
    return next((mark for mark in "\t;,|" if mark in bare), ",")


def as_people_write(cell: str) -> bool:
    """Whether this is a number, if need be after marks for thousands, per cent and money are taken off."""
    if as_number(cell) is not None:
        return True
    cell = cell.removeprefix("(").removesuffix(")") if cell.startswith("(") else cell  # below zero, in accounts
    points = cell.count(".") < 2 or ("," in cell and THOUSANDS[","].fullmatch(_DRESS.sub("", cell)) is not None)
    return points and any(letter.isdigit() for letter in cell) and as_number(_DECORATION.sub("", cell)) is not None


def level_of(cell: str) -> str:
    """What a category is called: 1.0 is 1, as it may be written in another file, and 007 is not 7."""
    number = None if _WHOLE.fullmatch(cell) else as_number(cell)
    return cell if number is None or not math.isfinite(number) else number_level(number)


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


def _is_date(cell: str) -> bool:
    return as_date(cell) is not None


def _is_time(cell: str) -> bool:
    return _TIME.fullmatch(cell) is not None and _as_time(cell) is not None


def _as_time(cell: str) -> datetime.time | None:
    try:
        hour, _, rest = cell.partition(":")
        return datetime.time.fromisoformat(f"{hour:0>2}:{rest}")
    except ValueError:
        return None


def _dates(name: str, cells: Sequence[str]) -> Column:
    zones = [_zone(cell) for cell in cells if not is_missing(cell)]
    if len(set(zones)) > 1:
        row = next(i for i, cell in enumerate(cells) if not is_missing(cell) and _zone(cell) != zones[0])
        raise OddCell(row, f"is a date {'with' if _zone(cells[row]) else 'without'} a time zone, unlike others before")
    dates = np.array([None if is_missing(cell) else as_date(cell) for cell in cells], dtype="datetime64[ns]")
    return from_times(name, dates, zoned=any(zones))


def _zone(cell: str) -> bool:
    found = _DATE.fullmatch(cell)
    return found is not None and found[1] is not None


def _booleans(name: str, cells: Sequence[str]) -> Column:
    return from_booleans(
        name, np.array([math.nan if is_missing(cell) else cell.casefold() == "true" for cell in cells])
    )


#: How cells of a kind look, and how they are read where all of them do.
_LOOKS: dict[str, Callable[[str], bool]] = {
    "boolean": lambda cell: cell.casefold() in ("true", "false"),
    "date": lambda cell: _DATE.fullmatch(cell) is not None and _is_date(cell),
    "time": _is_time,
}
#: What messages call a cell of a kind.
CALLED = {
    "number": "a number",
    "boolean": "True or False",
    "date": "a date such as 2024-03-31",
    "time": "a time such as 14:30",
}
_READ: dict[str, Callable[[str, Sequence[str]], Column]] = {
    "boolean": _booleans,
    "date": _dates,
    "time": lambda name, cells: Column(
        name, "time", np.array([hours_of(None if is_missing(cell) else _as_time(cell)) for cell in cells])
    ),
}
