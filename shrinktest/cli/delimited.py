"""Delimited text files: their encoding, what is between cells, whether the first row names the columns."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from shrinktest._check import counted
from shrinktest.tables.text import as_number, delimiter_in, is_missing, kind_of_cell, level_of

Rows = list[list[str]]

_LOOKED_AT = 1000  # rows that say whether the first one names the columns
_OTHER_SIZE = 10.0  # times as large or as small as all numbers below it: not one of them
_CONSECUTIVE = 3  # numbers in a row from which these are rather names than values
_YEARS = (1800, 2200)


def text_in(path: str, encoding: str) -> str:
    """Return the text of a file, or of standard input (-), which gzip may have compressed."""
    if path == "-" and (sys.stdin is None or sys.stdin.closed):
        raise ValueError("standard input (-) is closed; give a file, or let something write to it")
    if path == "-" and not hasattr(sys.stdin, "buffer"):
        return sys.stdin.read()
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        text = io.TextIOWrapper(io.BytesIO(raw), encoding=encoding).read()
    except LookupError:
        raise ValueError(f"--encoding {encoding} is unknown; give one such as utf-8, utf-16 or latin-1") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be decompressed: {error}") from None
    except UnicodeError as error:
        likely = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1"
        raise ValueError(
            f"{path} is not text in {encoding.upper()} ({error}); give --encoding, such as {likely}, or a CSV file"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path} is not text in {encoding.upper()}; save the table as CSV, or try --encoding utf-16")
    return text.removeprefix("\ufeff")  # Excel's byte order mark


def parsed(text: str, source: str, args: Namespace) -> tuple[list[str], Rows, list[int], str]:
    """Return names of columns, rows of cells, the line of each row, and what is between cells.

    ``pandas.read_csv`` fills up short rows without a word and takes comments from within cells, which is why the rows
    are those of the csv module.  Raises ValueError, with the line, for rows of other lengths and broken quotes.
    """
    text = _without_comments(text, args.comment or (), args.skip_rows)
    mark = args.sep or delimiter_in(text.lstrip(" \r\n").partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True, strict=True)
    lines, rows = [], []
    quoted = '"' in text
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip() or (cells and quoted):  # not a blank line
                lines.append(reader.line_num)
                rows.append([cell.strip() for cell in cells])
    except csv.Error as error:
        raise ValueError(f"{source}: line {reader.line_num}: {error}") from None
    if not rows:
        raise ValueError(f"{source} is empty")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{source}: line {line} has {counted(len(row), 'cell')}, line {lines[0]} has {len(rows[0])}; give "
                "--sep, --skip-rows or --comment"
            )
    first = rows[0]
    decimal = args.decimal or "."
    rows = _with_gaps(rows[1:], args.na or (), decimal)
    where = f"{source}, line {lines[0]}"
    if args.header == "no" or (args.header == "auto" and not _is_header([first, *rows], where, decimal)):
        return [str(j + 1) for j in range(len(first))], _with_gaps([first], args.na or (), decimal) + rows, lines, mark
    names = [name or f"Unnamed: {j}" for j, name in enumerate(first)]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{source} has more than one column named {repeated!r}; rename them")
    if not rows:
        raise ValueError(f"{source} has a header and no rows")
    return names, rows, lines[1:], mark


def _with_gaps(rows: Rows, words: Sequence[str], decimal: str) -> Rows:
    """Return the rows with empty cells in place of the words for missing values; -999 is also -999.0."""
    if not words:
        return rows
    missing = {*words, *(_called(word, decimal) for word in words)}
    return [["" if cell in missing or _called(cell, decimal) in missing else cell for cell in row] for row in rows]


def _called(cell: str, decimal: str) -> str:
    return cell if as_number(cell, decimal) is None else level_of(cell.replace(decimal, "."))


def _without_comments(text: str, marks: Sequence[str], skipped: int) -> str:
    """Return the text with blank lines for the first ones and for comments, which are none within quotation marks."""
    if not marks and not skipped:
        return text
    lines, quoted = [], False
    for i, line in enumerate(text.splitlines(keepends=True)):
        blank = i < skipped or (not quoted and line.lstrip().startswith(tuple(marks)))
        quoted ^= not blank and line.count('"') % 2 == 1
        lines.append("\n" if blank else line)
    return "".join(lines)


# --- whether the first row names the columns ----------------------------------------------------------------


def _is_header(rows: Rows, where: str, decimal: str) -> bool:
    """Return whether the first row names the columns: all of it is text, or some is, unlike what is below.

    Raises ValueError for numbers that may be names.
    """
    kinds = [kind_of_cell(cell, decimal) for cell in rows[0]]
    if all(kind == "category" for kind in kinds):
        return True
    below = [list(column) for column in zip(*rows[1:_LOOKED_AT], strict=True)] or [[] for _ in kinds]
    named = any(_is_name(kind, cells, decimal) for kind, cells in zip(kinds, below, strict=True))
    places = [j for j, kind in enumerate(kinds) if kind == "number"]
    if not places or len(rows) == 1:
        return named
    likely = _may_be_names([rows[0][j] for j in places], [below[j] for j in places], decimal, rising=named)
    if likely and not named:  # text that never occurs again is evidence of its own
        text = [j for j, kind in enumerate(kinds) if kind == "category"]
        named = bool(text) and not any(rows[0][j] in below[j] for j in text)
    if named != likely:
        some = ", ".join(rows[0][:4]) + (", ..." if len(rows[0]) > 4 else "")
        raise ValueError(f"{where}: {some} may be names of columns or an observation; give --header yes or --header no")
    return named


def _is_name(kind: str | None, below: Sequence[str], decimal: str) -> bool:
    """Return whether a cell of this kind names a column: it is no number, and others are below it."""
    kinds = [kind_of_cell(cell, decimal) for cell in below if not is_missing(cell)]
    return kind not in (None, "number") and 2 * kinds.count(kind) <= len(kinds)


def _may_be_names(first: Sequence[str], below: Sequence[Sequence[str]], decimal: str, *, rising: bool) -> bool:
    """Return whether numbers in the first row look like names: whole, each once, and unlike what is below them.

    If other cells of the row are names, it is enough that they are ``rising``.
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
    """Return whether a number is much larger, or much smaller, than all that are below it."""
    sizes = [abs(n) for cell in below if (n := as_number(cell, decimal)) and np.isfinite(n)]
    return bool(sizes) and (value > _OTHER_SIZE * max(sizes) or _OTHER_SIZE * value < min(sizes))
