"""TextTable: a delimited text file, whose columns are read by what their cells are, with the place of the odd ones."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest.cli.values import typed_type
from shrinktest.data.column import Column, Table
from shrinktest.tables.text import (
    THOUSANDS,
    OddCell,
    as_number,
    delimiter_in,
    from_cells,
    is_missing,
    kind_of_cell,
    level_of,
)

HEADERS = ("auto", "yes", "no")
DECIMALS = (".", ",")

_LOOKED_AT = 1000  # rows that say whether the first one names the columns
_OTHER_SIZE = 10.0  # times as large or as small as all numbers below it: not one of them
_CONSECUTIVE = 3  # numbers in a row from which these are rather names than values
_YEARS = (1800, 2200)
_BLANK = re.compile(r"\A(?:[ \t]*[\r\n])+")  # lines before the first
#: What stands for a missing value in many files, and for something else in others.
_USUAL = ("n/a", "#n/a", "n.a.", "null", "none", "nil", "<na>", "missing", "unknown", "-", "--", "?", ".", "..")


@dataclass(frozen=True)
class TextTable:
    """Cells as text; they become numbers, categories or dates when their columns are asked for."""

    source: str  # what messages call the table
    # the header, where it leaves a cell blank "Unnamed: 0" (counting from 0, as pandas has it); without one, the
    # columns' numbers from 1
    names: tuple[str, ...]
    rows: list[list[str]]  # the cells below the header
    lines: list[int]  # the line of the file that each row is on
    decimal: str = "."  # the mark before decimals, "." or ","
    headed: bool = True  # whether the first row named the columns

    def select(self, wanted: str) -> list[str]:
        """Column names from a list such as ``a,b`` or ``2:5`` (from one to another, both included).

        A number that is no name is a position, from 1.  Raises ValueError for a name the table does not have; the
        message lists those it has and the nearest.
        """
        chosen: list[str] = []
        for item in next(csv.reader([wanted], skipinitialspace=True), []):
            first, colon, last = item.strip().partition(":")
            if item.strip() in self.names or not colon:
                first = last = item.strip()
            chosen += self.names[self._place(first) : self._place(last) + 1]
        if not chosen or len(set(chosen)) < len(chosen):
            raise ValueError(f"{wanted!r} must name one or more columns of {self.source}, each once")
        return chosen

    def columns(self, names: Sequence[str], types: Mapping[str, Any]) -> Table:
        """The columns ``names``, each by what its cells are, or as the type that is asked for it.

        Raises ValueError for a cell that is none of what its column holds; says where it is, and what to do.
        """
        return Table(tuple(self._column(name, types.get(name)) for name in names), source=self.source)

    def require_complete(self, table: Table, names: Sequence[str], *, given: bool = False) -> None:
        """Raise ValueError for the first missing cell of these columns, and say where it is.

        Where columns are ``given``, nothing that is missing in these is information.
        """
        missing = np.column_stack([column.missing() for column in table.columns if column.name in names])
        if not missing.any():
            return
        i, j = (int(place) for place in np.argwhere(missing)[0])
        others = f" (and {int(missing.sum()) - 1} more)" if missing.sum() > 1 else ""
        name = [column.name for column in table.columns if column.name in names][j]
        advice = (
            "fill it in, drop such rows with --nan-policy omit, or take it as information with --nan-policy indicator"
        )
        if given:
            advice = "fill it in, or drop such rows with --nan-policy omit"
        raise ValueError(f"{self.source}: line {self.lines[i]}, column {name!r} is missing{others}; {advice}")

    def labels(self, name: str) -> list[str | None]:
        """The cells of a column as categories are called, so that 1.0 is 1; None where they are missing."""
        column = self._index(name)
        return [None if is_missing(row[column]) else level_of(row[column]) for row in self.rows]

    def numbered(self) -> str:
        """What a message adds to the names of columns that come from no header."""
        return "" if self.headed else " (no header, hence numbers)"

    def parted(self) -> str:
        """What a message adds about a table of one column with blanks, which may be between cells."""
        parted = len(self.names) == 1 and any(len(cells[0].split()) > 1 for cells in (self.names, *self.rows[:1]))
        return "; if blanks are between cells, say --separator space" if parted else ""

    def _column(self, name: str, wanted: Any) -> Column:
        place = self._index(name)
        cells = [row[place] for row in self.rows]
        where = f"{self.source}, column {name!r},"
        try:
            return from_cells(name, cells, wanted=wanted, decimal=self.decimal, where=where)
        except OddCell as odd:
            cell = cells[odd.row]
            raise ValueError(
                f"{self.source}: line {self.lines[odd.row]}, column {name!r}: {cell!r} {odd.why}; "
                f"{_advice(cell, name, self.decimal, asked=wanted is not None)}{self.parted()}"
            ) from None

    def _place(self, item: str) -> int:
        """The place of a column that is called by its name, or else by its position from 1."""
        if item not in self.names and item.isdecimal():
            if 1 <= int(item) <= len(self.names):
                return int(item) - 1
            raise ValueError(
                f"{self.source} has {counted(len(self.names), 'column')}: {', '.join(self.names)}; there is none at "
                f"position {item}; positions count from 1, and 1:3 includes the third column{self.parted()}"
            )
        return self._index(item)

    def _index(self, name: str) -> int:
        try:
            return self.names.index(choice(name, self.names, f"a column of {self.source}"))
        except ValueError as error:
            raise ValueError(f"{error}{self.parted()}") from None


def parse_table(
    text: str,
    source: str,
    header: str = "auto",
    *,
    decimal: str = ".",
    comment: str | None = None,
    separator: str | None = None,
    na: Sequence[str] = (),
) -> TextTable:
    """Read a table whose cells are separated by commas, semicolons, bars or tabs (whichever the first line has).

    Messages call it ``source``.  ``header`` is "auto", "yes" or "no": whether the first row names the columns, see
    ``_is_header`` for what "auto" goes by.  ``decimal`` is the mark before decimals, "." or ","; ``comment`` is what
    lines that are to be skipped begin with, ``separator`` what is between cells, if it is none of these, and ``na`` are
    cells that are missing, beside those that are so in all files.  Raises ValueError where there is nothing in it, for
    rows of different lengths, columns of the same name and broken quotes, and for a first row of numbers that may be
    names.
    """
    text = text.removeprefix("\ufeff")  # Excel's byte order mark
    if comment:
        text = _without_comments(text, comment)
    stream, mark = io.StringIO(text, newline=""), separator or delimiter_in(_BLANK.sub("", text).partition("\n")[0])
    latest = [""]
    reader = csv.reader(_noted(stream, latest), delimiter=mark, skipinitialspace=True, strict=True)
    lines, rows = [], []
    try:
        for cells in reader:
            if "".join(cells).strip() or len(cells) > 1 or '"' in latest[0]:  # not a blank line
                lines.append(reader.line_num)
                rows.append([cell.strip() for cell in cells])
    except csv.Error as error:
        raise ValueError(f"{source}: line {reader.line_num}: {error}{_commented(text)}") from None
    if not rows:
        raise ValueError(f"{source} is empty{' but for comments' if comment and text.strip() else ''}")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{source}: line {line} has {counted(len(row), 'cell')}, line {lines[0]} has {len(rows[0])}"
                f"{_commented(text) or _titled(rows[0], lines[0])}"
            )
    first = rows[0]
    if na:
        missing = {*na, *(_called(word.strip(), mark) for word in na for mark in DECIMALS)}
        rows = [["" if cell in missing or _called(cell, decimal) in missing else cell for cell in row] for row in rows]
    headed = header == "yes" or (
        header == "auto" and _is_header([first, *rows[1:]], f"{source}, line {lines[0]}", decimal)
    )
    names = tuple(str(number) for number in range(1, len(rows[0]) + 1))
    if headed:
        given = first
        rows.pop(0)
        blank = [f"Unnamed: {j}" for j in range(len(given))]
        names = tuple(name or f"{own}{'.1' * (own in given)}" for name, own in zip(given, blank, strict=True))
        lines.pop(0)
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise ValueError(f"{source} has more than one column named {repeated!r}; rename them")
        if not rows:
            raise ValueError(f"{source} has a header and no rows")
    return TextTable(source, names, rows, lines, decimal, headed)


def matched_columns(tables: Sequence[TextTable], besides: Sequence[str] = ()) -> list[str]:
    """The columns of the first table, which are those of all others, ``besides`` these.

    Raises ValueError where they are not; the message has those of the first two tables that differ, and the columns
    that all have.
    """
    first = tables[0]
    for table in tables[1:]:
        if set(table.names) - set(besides) != set(first.names) - set(besides):
            shared = [name for name in first.names if all(name in other.names for other in tables)]
            advice = f"test those of all files with --columns {','.join(shared)}" if shared else "name them alike"
            found = [f"{found.source} has {', '.join(found.names)}{found.numbered()}" for found in (first, table)]
            raise ValueError(f"the columns differ: {' and '.join(found)}; {advice}{first.parted()}")
    return [name for name in first.names if name not in besides]


def _advice(cell: str, name: str, decimal: str, *, asked: bool) -> str:
    other = next(mark for mark in DECIMALS if mark != decimal)
    marks, told = ("commas", "say --decimal ,") if decimal == "." else ("points", "leave out --decimal ,")
    if THOUSANDS[decimal].fullmatch(cell):
        either = cell.count(other) == 1 and decimal not in cell
        more = f", or, where they are decimal points, {told}" if either else ""
        return f"write numbers without {marks} between thousands{more}"
    if other in cell and as_number(cell, other) is not None:
        return "read commas as decimal points with --decimal ," if decimal == "." else told
    commented = ", or skip such lines with --comment '#'" if cell.startswith("#") else ""
    instead = (
        f"leave the column out with {typed_type(name, 'drop')}"
        if asked
        else f"say that all are categories with {typed_type(name, 'category')}"
    )
    typed = f"--na={cell}" if cell.startswith("--") else f"--na {shlex.quote(cell)}"
    missing = f", or that such cells are missing with {typed}" if cell.casefold() in _USUAL else ""
    return f"correct it, choose other columns, or {instead}{missing}{commented}"


def _called(cell: str, decimal: str) -> str:
    """A cell as a category is called, so that a number is told however it is written: -999.0 is -999."""
    return cell if as_number(cell, decimal) is None else level_of(cell.replace(decimal, "."))


def _noted(lines: Iterable[str], latest: list[str]) -> Iterator[str]:
    """The lines, the last one of which is ``latest[0]``."""
    for line in lines:
        latest[0] = line
        yield line


def _without_comments(text: str, comment: str) -> str:
    """The text with blank lines for comments, which are none within quotation marks."""
    lines, quoted = [], False
    for line in text.splitlines(keepends=True):
        skipped = not quoted and line.lstrip().startswith(comment)
        quoted ^= not skipped and line.count('"') % 2 == 1
        lines.append("\n" if skipped else line)
    return "".join(lines)


def _commented(text: str) -> str:
    """What a message adds about a file in which some lines look like comments."""
    line = next((i for i, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("#")), None)
    return "" if line is None else f"; line {line} begins with #: skip such lines with --comment '#'"


def _titled(cells: Sequence[str], line: int) -> str:
    """What a message adds about a first line of one cell, where there are more below."""
    if len(cells) > 1:
        return ""
    return (
        f"; if line {line} is a title, skip it with --comment {shlex.quote(cells[0])}; otherwise say what is between "
        "cells with --separator"
    )


def _is_header(rows: list[list[str]], where: str, decimal: str) -> bool:
    """Whether the first row names the columns: all of it is text, or some is where other things are below.

    Raises ValueError if it is numbers that may be names.
    """
    kinds = [kind_of_cell(cell, decimal) for cell in rows[0]]
    if all(kind == "category" for kind in kinds):
        return True
    below = [list(column) for column in zip(*rows[1:_LOOKED_AT], strict=True)] or [[] for _ in kinds]
    named = any(_is_name(kind, cells, decimal) for kind, cells in zip(kinds, below, strict=True))
    numbers = [j for j, kind in enumerate(kinds) if kind == "number"]
    first, rest = [rows[0][j] for j in numbers], [below[j] for j in numbers]
    if not numbers or len(rows) == 1:
        return named
    likely = _may_be_names(first, rest, decimal, rising=named)
    if likely and not named:  # text that is never there again is evidence of its own
        text = [j for j, kind in enumerate(kinds) if kind == "category"]
        named = bool(text) and not any(rows[0][j] in below[j] for j in text)
    if named != likely:
        some = ", ".join(rows[0][:4]) + (", ..." if len(rows[0]) > 4 else "")
        raise ValueError(
            f"{where}: {some} may be names of the columns, or an observation; say which with --header yes or "
            "--header no"
        )
    return named


def _is_name(kind: str | None, below: Sequence[str], decimal: str) -> bool:
    """Whether a cell of this kind names a column: it is no number, and other things are below it."""
    found = [kind_of_cell(cell, decimal) for cell in below if not is_missing(cell)]
    return kind not in (None, "number") and 2 * found.count(kind) <= len(found)


def _may_be_names(first: Sequence[str], below: Sequence[Sequence[str]], decimal: str, *, rising: bool) -> bool:
    """Whether numbers in the first row look like names: whole, each once, and unlike what is below them.

    Where other cells of the row are names, it is enough that they are ``rising``.
    """
    if not all(cell.isdecimal() for cell in first) or len(set(first)) < len(first):
        return False
    values = [int(cell) for cell in first]
    ascending = len(values) > 1 and values == sorted(values)
    if values == list(range(values[0], values[0] + len(values))):
        years = len(values) >= _CONSECUTIVE and _YEARS[0] <= values[0] < _YEARS[1]
        if years or (len(values) > _CONSECUTIVE and values[0] in (0, 1)):
            return True
    if rising and ascending:
        return True
    decimals = [2 * sum(decimal in cell for cell in cells) > len(cells) for cells in below]
    other = [_other_size(value, cells, decimal) for value, cells in zip(values, below, strict=True)]
    if len(values) == 1:
        return other[0] and (decimals[0] or rising)
    return all(decimals) or (ascending and all(a or b for a, b in zip(decimals, other, strict=True)))


def _other_size(value: int, below: Sequence[str], decimal: str) -> bool:
    """Whether a number is much larger, or much smaller, than all that are below it."""
    sizes = [abs(n) for cell in below if (n := as_number(cell, decimal)) and np.isfinite(n)]
    return bool(sizes) and (value > _OTHER_SIZE * max(sizes) or _OTHER_SIZE * value < min(sizes))
