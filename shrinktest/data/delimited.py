"""Delimited text: its rows, delimiters and comments, and whether it has a header."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted
from shrinktest.data.texts import as_it_looks, kinds_of, like_numbers, numbers_of

if TYPE_CHECKING:
    import pandas as pd

_GZIP = b"\x1f\x8b"
_NO_TEXT = (
    b"PK\x03\x04",
    b"PAR1\x15",
    b"\x93NUMPY",
    b"ARROW1",
    b"BZh",
)  # first bytes of other files
_BYTE_ORDER = "\ufeff"  # mark of Excel at the beginning
_END = "\ue000end"  # a row after the last one, which an open quotation mark swallows
_LOOKED_AT = 1000  # rows that say whether the first one names the columns
_OTHER_SIZE = 10.0  # times as large or as small as all numbers below it: not one of them
_MANY = 3  # consecutive numbers from which these are rather names than values
_YEARS = (1800, 2200)
_MARK_LINE = re.compile(
    r'"?sep=(.)"?[ \t\r]*(?=\n|$)', re.IGNORECASE
)  # first line of files for Excel


@dataclass(frozen=True)
class TextOptions:
    """Dialect and conventions of delimited text; None means detected from the text."""

    sep: str | None = None  # between cells
    decimal: str | None = (
        None  # before decimals; None is a point, and points between thousands are errors
    )
    thousands: str | None = None
    date_format: str | None = None
    comment: Sequence[str] = ()  # what lines begin with that are skipped
    skip_rows: int = 0
    header: str = "auto"  # yes or no
    encoding: str = "utf-8"
    na: Sequence[str] = ()  # missing cells besides empty ones, NA and NaN


class TextFault(ValueError):
    """Raised for text that cannot be divided into rows and columns.

    ``option`` is one of TextOptions that may help.
    """

    def __init__(self, fault: str, option: str, such: str = "") -> None:
        super().__init__(f"{fault}; correct it, or read it by pandas.read_csv and pass the table")
        self.fault = fault
        self.option = option
        self.such = such  # a value of the option


@dataclass(frozen=True, eq=False)
class TextSource:
    """A text, which can be read again."""

    name: str  # in messages
    raw: Path | bytes = field(repr=False)
    options: TextOptions

    @classmethod
    def at(cls, path: str, options: TextOptions) -> TextSource:
        """Return the text in a file, or of standard input (-)."""
        if path != "-":
            file = Path(path)
            return cls(
                path, file if file.is_file() else file.read_bytes(), options
            )  # a pipe can be read once
        if sys.stdin is None or sys.stdin.closed:
            raise ValueError(
                "standard input (-) is closed; pass a file, or let something write to it"
            )
        if hasattr(sys.stdin, "buffer"):
            return cls("standard input", sys.stdin.buffer.read(), options)
        return cls("standard input", sys.stdin.read().encode(), replace(options, encoding="utf-8"))

    def open(self) -> IO[str]:
        """Return the text as it is, which gzip may have compressed."""
        raw = io.BytesIO(self.raw) if isinstance(self.raw, bytes) else self.raw.open("rb")
        with raw:
            first = raw.read(8)
        if first.startswith(_NO_TEXT):
            raise ValueError(
                f"{self.name} is not text; save the table as CSV, Parquet or .npy, and name it so"
            )
        encoding = self.options.encoding
        if not _is_known(encoding):
            raise TextFault(f"{self.name}: encoding {encoding} is unknown", "encoding", "utf-8")
        again = io.BytesIO(self.raw) if isinstance(self.raw, bytes) else self.raw
        if first.startswith(_GZIP):
            return gzip.open(again, "rt", encoding=encoding)
        binary = again if isinstance(again, io.BytesIO) else again.open("rb")
        return io.TextIOWrapper(binary, encoding)

    @contextmanager
    def _opened(self) -> Iterator[Iterator[str]]:
        """Open the text; errors say what keeps it from being read."""
        try:
            with self.open() as text:
                yield chain([text.readline().removeprefix(_BYTE_ORDER)], text)
        except UnicodeError as error:
            fault = f"{self.name} is not text in {self.options.encoding.upper()} ({error})"
            first = error.object[:1] if isinstance(error, UnicodeDecodeError) else b""
            raise TextFault(
                fault, "encoding", "utf-16" if first in (b"\xff", b"\xfe") else "latin-1"
            ) from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self.name} cannot be decompressed: {error}") from None

    def lines(self) -> Iterator[str]:
        """Yield the lines, blank ones for those that are skipped."""
        with self._opened() as text:
            first = next(text)
            lines: Iterator[str] = chain(["\n" if _MARK_LINE.match(first) else first], text)
            if self.options.comment or self.options.skip_rows:
                lines = self._without_comments(lines)
            yield from (line if line.strip(" \n") else "\n" for line in lines)

    def _without_comments(self, lines: Iterator[str]) -> Iterator[str]:
        """Yield blank lines for the first ones and for comments outside of quotation marks."""
        marks = tuple(self.options.comment)
        quoted = False
        for number, line in enumerate(lines):
            blank = number < self.options.skip_rows or (
                not quoted and line.lstrip().startswith(marks)
            )
            quoted ^= not blank and line.count('"') % 2 == 1
            yield "\n" if blank else line

    def mark(self) -> str:
        """Return the delimiter that the options or the first line say, or the first row shows."""
        if self.options.sep:
            return self.options.sep
        with self._opened() as text:
            named = _MARK_LINE.match(next(text))
        if named:
            return named[1]
        # Semicolons and tabs hardly ever occur in files separated by commas; commas (decimals) do
        # in the others.
        line = next((line for line in self.lines() if line != "\n"), "")
        bare = re.sub(r'"[^"]*"', "", line)
        return next((mark for mark in "\t;,|" if mark in bare), ",")

    def cells(self, mark: str) -> Any:
        """Return a reader of all rows, blank ones included, and of one more row, `_END`."""
        lines = self.lines()
        if mark == " ":
            lines = (re.sub(" +", " ", line.lstrip(" ")) for line in lines)
        return csv.reader(chain(lines, [_END]), delimiter=mark, skipinitialspace=mark != " ")

    def rows(self, mark: str) -> Iterator[tuple[int, list[str]]]:
        """Yield rows that are not blank, and the line on which each ends.

        Raise ValueError for faults in them.
        """
        reader = self.cells(mark)
        first = width = line = 0
        try:
            for cells in reader:
                if not cells:
                    continue
                if cells[-1].endswith(_END):
                    break
                line = reader.line_num
                if not width:
                    first = line
                    width = len(cells)
                if len(cells) != width:
                    fault = (
                        f"line {line} has {counted(len(cells), 'cell')}, line {first} has {width}"
                    )
                    raise TextFault(f"{self.name}: {fault}", "sep")
                yield line, cells
        except csv.Error:  # a cell without end
            cells = []
        if cells != [_END]:
            raise ValueError(f"{self.name}: line {line + 1} has an unclosed quotation mark")


def _is_known(encoding: str) -> bool:
    try:
        return bool(codecs.lookup(encoding))
    except LookupError:
        return False


@dataclass(frozen=True, eq=False)
class Delimited:
    """Rows of a text, with the names of its columns."""

    source: TextSource
    mark: str  # between cells
    names: tuple[str, ...]
    named: bool  # by the first row

    @classmethod
    def of(cls, source: TextSource) -> Delimited:
        """Find out how a text is divided, by its first rows."""
        import pandas as pd

        mark = source.mark()
        head = list(islice(source.rows(mark), _LOOKED_AT))
        if not head:
            raise ValueError(f"{source.name} is empty")
        line, first = head[0]
        named = source.options.header == "yes"
        if source.options.header == "auto":
            cells = pd.DataFrame([cells for _, cells in head], dtype=object).map(as_it_looks)
            named = _is_header(cells, f"{source.name}, line {line}", source.options.decimal or ".")
        if not named:
            return cls(source, mark, tuple(str(j + 1) for j in range(len(first))), named)
        names = tuple(name.strip() or f"Unnamed: {j}" for j, name in enumerate(first))
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(
                f"{source.name} has more than one column named {repeated!r}; rename them"
            )
        if len(head) == 1:
            raise ValueError(f"{source.name} has a header but no rows")
        return cls(source, mark, names, named)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield rows below the names, and their lines."""
        return islice(self.source.rows(self.mark), int(self.named), None)

    def parts(self, size: int) -> Iterator[pd.DataFrame]:
        """Yield the cells of rows, so many rows at a time; raise ValueError for faults in them."""
        import pandas as pd

        reader = self.source.cells(self.mark)
        columns = list(self.names)
        named = self.named
        complete = False
        try:
            while rows := list(islice(reader, size)):
                complete = rows[-1] == [_END]
                rows = [cells for cells in (rows[:-1] if complete else rows) if cells]
                if named and rows:
                    del rows[0]
                    named = False
                if not {len(columns)}.issuperset(map(len, rows)):
                    complete = False
                    break
                if rows:
                    yield pd.DataFrame(rows, columns=columns, dtype=object)
        except csv.Error:
            complete = False
        if not complete:
            deque(self.source.rows(self.mark), maxlen=0)  # which says where the fault is

    def cells(self) -> pd.DataFrame:
        """Return the cells of all rows."""
        import pandas as pd

        return pd.concat(self.parts(sys.maxsize), ignore_index=True)

    def place(self, name: str, cell: str) -> str:
        """Return what messages call the first cell like this in a column."""
        j = self.names.index(name)
        line = next((line for line, cells in self.rows() if as_it_looks(cells[j]) == cell), "?")
        return f"{self.source.name}: line {line}, column {name!r}"


# --- whether the first row names the columns ------------------------------------------------------


def _is_header(head: pd.DataFrame, where: str, decimal: str) -> bool:
    """Return True if the first row names the columns.

    It does if all of it is text, or some is, unlike what is below.

    Text that occurs again below is a value.  Raises ValueError for rows that may be names or
    values.
    """
    first = head.iloc[0]
    below = head.iloc[1:]
    kinds = _kinds_of_first(first, decimal)
    named = any(_is_name(kind, below[j], decimal) for j, kind in enumerate(kinds))
    text = first.index[kinds == "category"]
    again = (below[text] == first[text]).any()
    if (kinds == "category").all():
        if not named and again.any() and not again.all():
            raise _doubt(first, where)
        return named or not again.any()
    numbers = first.index[kinds == "number"]
    if not numbers.size or len(head) == 1:
        return named
    likely = _may_be_names(first[numbers], below, decimal, beside_names=named)
    if likely and not named:  # text that never occurs again is evidence of its own
        named = bool(text.size) and not again.any()
    if named != likely:
        raise _doubt(first, where)
    return named


def _doubt(first: pd.Series, where: str) -> ValueError:
    some = ", ".join(first[:4]) + (", ..." if len(first) > 4 else "")
    return TextFault(f"{where}: {some} may be names of columns or an observation", "header")


def _kinds_of_first(cells: pd.Series, decimal: str) -> np.ndarray:
    """Return what cells look like, "decorated" for text such as $5."""
    kinds = kinds_of(cells, decimal)
    kinds[(kinds == "category") & like_numbers(cells)] = "decorated"
    return kinds


def _is_name(kind: str, below: pd.Series, decimal: str) -> bool:
    """Return True if a cell of this kind names a column.

    It does if it is not a number, and others are below it.
    """
    kinds = _kinds_of_first(below, decimal)
    return kind not in ("", "number") and bool(2 * (kinds == kind).sum() <= (kinds != "").sum())


def _may_be_names(
    first: pd.Series, below: pd.DataFrame, decimal: str, *, beside_names: bool
) -> bool:
    """Return True if numbers in the first row look like names.

    They do if they are whole, rising, and unlike the rows below them.
    """
    if not first.str.isdecimal().all():
        return False
    values = first.astype(int)
    steps = values.diff().iloc[1:]
    alone = len(values) == 1
    if (steps <= 0).any():
        return False
    years = _YEARS[0] <= values.iloc[0] < _YEARS[1]
    counter = values.iloc[0] in (0, 1)
    consecutive = (steps == 1).all() and (
        (years and len(values) >= _MANY) or (counter and len(values) > _MANY)
    )
    signs = [_unlike(values[j], below[j], decimal) for j in first.index]
    return consecutive or (beside_names and not alone) or min(signs) > (alone and not beside_names)


def _unlike(value: int, below: pd.Series, decimal: str) -> int:
    """Count the signs that a whole number is none of those below it: decimals, and other sizes."""
    sizes = np.abs(numbers_of(below, decimal))
    sizes = sizes[sizes > 0]
    apart = sizes.size and (value > _OTHER_SIZE * sizes.max() or _OTHER_SIZE * value < sizes.min())
    return int(below.str.contains(decimal, regex=False).mean() > 0.5) + int(bool(apart))
