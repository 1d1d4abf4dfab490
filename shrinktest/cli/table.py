"""Table: columns of numbers in a delimited text file, with the place of every cell that is not one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest._validate import Array, choice

MISSING = ("", "na", "nan")
HEADERS = ("auto", "yes", "no")


@dataclass(frozen=True)
class Table:
    """Cells as text; they become numbers when their columns are asked for.

    Attributes
    ----------
    source : str
        What messages call the table.
    names : tuple of str
        The header; without one, and for cells it leaves blank, the columns' numbers from 1.
    rows : list of list of str
        The cells below the header.
    lines : list of int
        The line of the file that each row is on.
    """

    source: str
    names: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]

    def select(self, wanted: str) -> list[str]:
        """Column names from a list such as ``a,b`` or ``2:5`` (from one to another, both included).

        Raises
        ------
        ValueError
            For a name the table does not have; the message lists those it has and the nearest.
        """
        chosen: list[str] = []
        for item in next(csv.reader([wanted], skipinitialspace=True), []):
            first, colon, last = item.strip().partition(":")
            if item.strip() in self.names or not colon:
                first = last = item.strip()
            chosen += self.names[self._index(first) : self._index(last) + 1]
        if not chosen or len(set(chosen)) < len(chosen):
            raise ValueError(f"{wanted!r} must name one or more columns of {self.source}, each once")
        return chosen

    def numbers(self, names: Sequence[str], nan_policy: str = "propagate") -> Array:
        """The columns ``names`` as an array (rows, columns); missing cells are NaN.

        Raises
        ------
        ValueError
            For a cell that is neither a finite number nor missing, and with ``nan_policy="raise"`` for a missing one;
            the message says where it is.
        """
        values = np.empty((len(self.rows), len(names)))
        for j, name in enumerate(names):
            column = self._index(name)
            for i, row in enumerate(self.rows):
                number = _number(row[column])
                if number is None or np.isinf(number):
                    where = f"{self.source}: line {self.lines[i]}, column {name!r}"
                    what = "not a number" if number is None else "an infinite value"
                    raise ValueError(f"{where}: {row[column]!r} is {what}; {_advice(row[column])}")
                values[i, j] = number
        missing = np.argwhere(np.isnan(values))
        if nan_policy == "raise" and len(missing):
            i, j = missing[0]
            others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise ValueError(
                f"{self.source}: line {self.lines[i]}, column {names[j]!r} is missing{others}; fill it in, or drop "
                "such rows with --nan-policy omit"
            )
        return values

    def labels(self, name: str) -> list[str | None]:
        """The cells of a column as they are; None where they are missing."""
        column = self._index(name)
        return [None if row[column].casefold() in MISSING else row[column] for row in self.rows]

    def numbered(self) -> str:
        """What a message adds to the names of columns that come from no header."""
        numbers = tuple(map(str, range(1, len(self.names) + 1)))
        return " (no header, hence numbers)" if self.names == numbers else ""

    def _index(self, name: str) -> int:
        return self.names.index(choice(name, self.names, f"a column of {self.source}"))


def parse_table(text: str, source: str, header: str = "auto") -> Table:
    """Read a table whose cells are separated by commas, semicolons or tabs (whichever the first line has).

    Parameters
    ----------
    text : str
        Contents of the file.
    source : str
        What messages call it.
    header : {"auto", "yes", "no"}
        Whether the first row names the columns; see ``_is_header`` for what "auto" goes by.

    Raises
    ------
    ValueError
        Nothing in it, rows of different lengths, columns of the same name, broken quotes.
    """
    text = text.removeprefix("\ufeff")  # Excel's byte order mark
    stream, mark = io.StringIO(text, newline=""), _delimiter(text)
    reader = csv.reader(stream, delimiter=mark, skipinitialspace=True, strict=True)
    lines, rows = [], []
    try:
        for cells in reader:
            if cells:  # not a blank line
                lines.append(reader.line_num)
                rows.append([cell.strip() for cell in cells])
    except csv.Error as error:
        raise ValueError(f"{source}: line {reader.line_num}: {error}") from None
    if not rows:
        raise ValueError(f"{source} is empty")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(f"{source}: line {line} has {len(row)} cells, line {lines[0]} has {len(rows[0])}")
    names = tuple(str(number) for number in range(1, len(rows[0]) + 1))
    if header == "yes" or (header == "auto" and _is_header(rows)):
        names = tuple(name or number for name, number in zip(rows.pop(0), names, strict=True))
        lines.pop(0)
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise ValueError(f"{source} has more than one column named {repeated!r}; rename them")
        if not rows:
            raise ValueError(f"{source} has a header and no rows")
    return Table(source, names, rows, lines)


def matched_columns(tables: Sequence[Table]) -> list[str]:
    """The columns of the first table, which are those of all others.

    Raises
    ------
    ValueError
        When they are not; the message has those of the first two tables that differ, and the columns that all have.
    """
    first = tables[0]
    for table in tables[1:]:
        if set(table.names) != set(first.names):
            shared = [name for name in first.names if all(name in other.names for other in tables)]
            advice = f"test those of all files with --columns {','.join(shared)}" if shared else "name them alike"
            found = [f"{found.source} has {', '.join(found.names)}{found.numbered()}" for found in (first, table)]
            raise ValueError(f"the columns differ: {' and '.join(found)}; {advice}")
    return list(first.names)


def _number(cell: str) -> float | None:
    if cell.casefold() in MISSING:
        return np.nan
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number, files do not mean it
    except ValueError:
        return None


def _advice(cell: str) -> str:
    decimal = "," in cell and _number(cell.replace(",", ".", 1)) is not None
    return "write decimals with a point" if decimal else "correct it, or choose other columns"


def _delimiter(text: str) -> str:
    # Semicolons and tabs hardly ever occur in files separated by commas; commas (decimals) do in the others.
    first = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    return next((mark for mark in "\t;" if mark in first), ",")


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row holds text, and not only where the second does too (labels beside numbers)."""
    text = [column for column, cell in enumerate(rows[0]) if _number(cell) is None]
    labels = [column for column in text if len(rows) > 1 and _number(rows[1][column]) is None]
    return len(text) > 0 and (labels != text or len(text) == len(rows[0]))
