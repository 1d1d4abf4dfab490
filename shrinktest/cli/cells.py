"""Columns of pandas from cells of text: numbers, True and False, dates, times of day, and otherwise categories."""

from __future__ import annotations

import datetime
import re
import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import EXACT
from shrinktest.tables.text import (
    CALLED,
    IN_FILES,
    THOUSANDS,
    as_number,
    is_code,
    is_missing,
    kind_of_cell,
    level_of,
    likely_kind,
    whole_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

_DECORATION = re.compile(r"[\s'$€£¥%]")  # of numbers as people write them
_DAY_OR_MONTH_FIRST = re.compile(r"\d{1,2}([/.-])\d{1,2}\1(\d{4}|\d\d)")
_ZONE = re.compile(r"(Z|[+-]\d\d:?\d\d)$")
_USUAL = ("n/a", "#n/a", "n.a.", "null", "none", "nil", "<na>", "missing", "unknown", "-", "--", "?", ".", "..")


class OddCell(ValueError):
    """A cell that is none of what its column holds, and what to do about it."""

    def __init__(self, cell: str, fault: str, advice: str = "") -> None:
        super().__init__(fault)
        self.cell, self.fault, self.advice = cell, fault, advice


def column_of(cells: Sequence[str], wanted: Any, mark: str, args: Namespace) -> Any:
    """Return the values of a column, by what its cells are, or as the type that ``--types`` asks for.

    ``mark`` is what is between the cells of the file.  Raises OddCell.
    """
    import pandas as pd

    codes, levels = pd.factorize(np.array(cells, dtype=object))
    gaps = np.array([len(level) < 4 and is_missing(level) for level in levels])
    present = [level for level, gap in zip(levels, gaps, strict=True) if not gap]
    if not present:
        return np.full(len(cells), np.nan)

    def spread(values: Sequence[Any], missing: Any) -> Any:
        """Return the value of each cell, given those of the levels that are present."""
        by_level = np.empty(len(levels), dtype=object)
        by_level[~gaps] = np.fromiter(values, dtype=object, count=len(present))
        by_level[gaps] = missing
        return by_level[codes]

    if wanted in (None, "number", "ordered", "boolean") and (
        wanted == "number" or not any(map(is_code, [level for level in present if level[0] == "0"]))
    ):
        numbers = _numbers(present, args, decorated=wanted == "number")
        if None not in numbers:
            if args.decimal is None and args.thousands is None and mark == ";":
                _refuse_groups(present)
            by_level = np.full(len(levels), np.nan)
            by_level[~gaps] = numbers
            values = by_level[codes]
            if np.isinf(values).any():
                raise OddCell(cells[int(np.isinf(values).argmax())], "is an infinite value")
            whole = whole_numbers(present) if present[0].lstrip("+-").isdecimal() else None
            if whole is None or (gaps.any() and max(map(abs, whole)) <= EXACT):
                return values
            if max(map(abs, whole)) >= 2**63:
                return spread(whole, None)
            return pd.array(spread(whole, pd.NA), dtype="Int64" if gaps.any() else "int64")
        if wanted == "number":
            raise OddCell(present[numbers.index(None)], "is not a number")
    if args.date_format and wanted in (None, "date"):
        dates = pd.to_datetime(pd.Series(present), format=args.date_format, errors="coerce")
        if dates.notna().all():
            return pd.to_datetime(pd.Series(spread(list(dates), pd.NaT)))
    if wanted == "date":
        return _dates(spread(present, None), present)
    if wanted is None:
        kind = _kind(Counter(cells), present)
        if kind == "boolean":
            truth = spread([level.casefold() == "true" for level in present], pd.NA)
            return pd.array(truth, dtype="boolean" if gaps.any() else "bool")
        if kind == "date":
            return _dates(spread(present, None), present)
        if kind == "time":
            return pd.Series(spread([_time(level) for level in present], None), dtype=object)
    return pd.Categorical(spread([level_of(level) for level in present], None))


def problem(odd: OddCell, name: str, line: int) -> str:
    """Return a sentence on a cell: where it is, what is wrong, and the options to choose from."""
    return f"line {line}, column {name!r}: {odd.cell!r} {odd.fault}; {odd.advice or _advice(odd.cell, name)}"


def _kind(counts: Counter[str], present: Sequence[str]) -> str:
    """Return what a column without a type holds; raise OddCell if it is doubtful."""
    if kind_of_cell(present[0]) == "date" and _all_dates(present):
        return "date"
    kinds = [kind_of_cell(level) for level in present]
    if len(set(kinds)) == 1 and kinds[0] in ("boolean", "date", "time"):
        return kinds[0] or ""
    likely = likely_kind(counts, IN_FILES)
    days = [level for level in present if _DAY_OR_MONTH_FIRST.fullmatch(level)]
    if likely != "date" and days and 2 * sum(map(counts.__getitem__, days)) >= sum(map(counts.__getitem__, present)):
        raise OddCell(
            days[0], "may have the day or the month first", "give --date-format %d/%m/%Y, or another, as it is"
        )
    if likely is not None:
        odd = next(level for level, kind in zip(present, kinds, strict=True) if kind != likely)
        raise OddCell(odd, f"is not {CALLED[likely]}")
    return "category"


def _numbers(cells: Sequence[str], args: Namespace, *, decorated: bool) -> list[float | None]:
    """Return the numbers in cells, None for those that are none."""
    if not decorated and args.decimal in (None, ".") and args.thousands is None:
        try:  # most columns, in a tenth of the time
            if "_" not in "".join(cells):
                return list(map(float, cells))
        except ValueError:
            pass
    return [_number(cell, args, decorated=decorated) for cell in cells]


def _number(cell: str, args: Namespace, *, decorated: bool) -> float | None:
    """Return the number in a cell, None if it is none; ``decorated`` ones may have currency and percent signs."""
    decimal = args.decimal or "."
    if decorated:
        cell = _DECORATION.sub("", cell)
        cell = f"-{cell[1:-1]}" if cell.startswith("(") and cell.endswith(")") else cell  # below zero, in accounts
    other = "," if decimal == "." else "."
    thousands = args.thousands or (other if decorated else None)
    if thousands and (thousands != other or THOUSANDS[decimal].fullmatch(cell)):
        cell = cell.replace(thousands, "")
    return as_number(cell, decimal)


def _refuse_groups(present: Sequence[str]) -> None:
    """Raise OddCell for numbers such as 1.078.866 or 1.078 among whole ones, if points may part thousands."""
    grouped = [level for level in present if "." in level]
    if grouped and all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})*|0", level) for level in present):
        raise OddCell(grouped[0], "may have points between thousands", "give --thousands . or --decimal .")


def _all_dates(present: Sequence[str]) -> bool:
    """Return whether all cells are dates such as 2024-03-31, with a time or without, and none has a zone."""
    import pandas as pd

    if not all(len(level) in (10, 16, 19) and level[4] == level[7] == "-" for level in present):
        return False
    return bool(pd.to_datetime(pd.Series(present), format="ISO8601", errors="coerce").notna().all())


def _dates(cells: Any, present: Sequence[str]) -> pd.Series:
    import pandas as pd

    zoned = [_ZONE.search(level[10:]) is not None for level in present]
    if len(set(zoned)) > 1:
        odd = zoned.index(not zoned[0])
        raise OddCell(present[odd], f"is a date {'with' if zoned[odd] else 'without'} a time zone, unlike others")
    try:
        return pd.to_datetime(pd.Series(cells), format="ISO8601", utc=zoned[0])
    except ValueError:
        read = pd.to_datetime(pd.Series(present), format="ISO8601", utc=zoned[0], errors="coerce")
        raise OddCell(present[int(read.isna().argmax())], f"is not {CALLED['date']}", "give --date-format") from None


def _time(cell: str) -> datetime.time:
    hour, _, rest = cell.partition(":")
    return datetime.time.fromisoformat(f"{hour:0>2}:{rest}")


def _advice(cell: str, name: str) -> str:
    """Return the options for a cell that is none of what the others are."""
    if as_number(cell, ",") is not None and "," in cell:
        return "give --decimal , or --thousands ,"
    if "," in cell and THOUSANDS[","].fullmatch(cell):
        return "give --decimal , --thousands ."
    item = f'"{name}"' if "," in name else name
    category, decorated = (shlex.quote(f"{item}={kind}") for kind in ("category", "number"))
    if any(letter.isdigit() for letter in cell) and _number(
        cell, Namespace(decimal=None, thousands=None), decorated=True
    ):
        return f"give --types {decorated}"
    typed = f"--na={cell}" if cell.startswith("--") else f"--na {shlex.quote(cell)}"
    return f"correct it, or give --types {category}{f' or {typed}' if cell.casefold() in _USUAL else ''}"
