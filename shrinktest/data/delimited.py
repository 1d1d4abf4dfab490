"""Delimited text: its encoding, what is between cells, comments, and whether the first row names the columns."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import EXACT, counted
from shrinktest.data.texts import MISSING, as_it_looks, kinds_of, like_numbers, numbers_of

if TYPE_CHECKING:
    import pandas as pd

GZIP = b"\x1f\x8b"
_NO_TEXT = (b"PK\x03\x04", b"PAR1\x15", b"\x93NUMPY", b"ARROW1", b"BZh")  # first bytes of other files
_LOOKED_AT = 1000  # rows that say whether the first one names the columns
_OTHER_SIZE = 10.0  # times as large or as small as all numbers below it: not one of them
_MANY = 3  # consecutive numbers from which these are rather names than values
_YEARS = (1800, 2200)
_MARK_LINE = re.compile(r'"?sep=(.)"?[ \t\r]*(?=\n|$)', re.IGNORECASE)  # first line of files for Excel


@dataclass(frozen=True)
class TextOptions:
    """Dialect and conventions of delimited text; None means detected from the text."""

    sep: str | None = None  # between cells
    decimal: str | None = None  # before decimals; None is a point, and points between thousands are errors
    thousands: str | None = None
    date_format: str | None = None
    comment: Sequence[str] = ()  # what lines begin with that are skipped
    skip_rows: int = 0
    header: str = "auto"  # yes or no
    encoding: str = "utf-8"
    na: Sequence[str] = ()  # missing cells besides empty ones, NA and NaN


@dataclass(frozen=True)
class Dialect:
    """Column names and delimiter of a text file."""

    names: tuple[str, ...]
    mark: str  # between cells
    named: bool  # by the first row


@dataclass(frozen=True, eq=False)
class Whole:
    """The whole text of a file, of which messages name lines."""

    source: str  # in messages
    open: Callable[[], IO[str]]  # without comments

    def rows(self, mark: str) -> Iterator[tuple[int, list[str]]]:
        """Yield rows that are not blank, and the line on which each ends."""
        with self.open() as text:
            reader = csv.reader(text, delimiter=mark, skipinitialspace=True)
            try:
                for cells in reader:
                    names_mark = reader.line_num == 1 and _MARK_LINE.fullmatch(mark.join(cells))
                    if not names_mark and (len(cells) > 1 or "".join(cells).strip()):
                        yield reader.line_num, cells
            except csv.Error:  # a cell without end
                yield reader.line_num, []

    def place(self, dialect: Dialect, name: str, cell: str) -> str:
        """Return what messages call the first cell like this in a column."""
        j, rows = dialect.names.index(name), islice(self.rows(dialect.mark), int(dialect.named), None)
        line = next((line for line, cells in rows if j < len(cells) and as_it_looks(cells[j]) == cell), "?")
        return f"{self.source}: line {line}, column {name!r}"

    def read(self, text: str, mark: str, named: bool, **how: Any) -> pd.DataFrame:
        """Return rows of a part of the text; raise ValueError, with the line, for rows of other lengths."""
        import pandas as pd

        try:
            return _read(text, mark, named, **how)
        except pd.errors.EmptyDataError:
            raise ValueError(f"{self.source} is empty") from None
        except pd.errors.ParserError as error:
            fault = str(error).rpartition("error: ")[2].strip()
            if fault.startswith("EOF inside string"):
                *_, before, _ = [0, *(line for line, _ in self.rows(mark))]
                fault = f"line {before + 1} has a quotation mark that is not closed"
            raise ValueError(f"{self.source}: {self.uneven(mark) or fault}") from None

    def uneven(self, mark: str) -> str:
        """Return which row has another number of cells than the first; empty if none has."""
        (first, width), *others = [(line, len(cells)) for line, cells in self.rows(mark)]
        for line, cells in others:
            if cells not in (0, width):
                fault = f"line {line} has {counted(cells, 'cell')}, line {first} has {width}"
                return f"{fault}; give --sep, --skip-rows or --comment"
        return ""


@dataclass(frozen=True, eq=False)
class Text:
    """Delimited text: its columns of plain numbers, and the cells of others when they are asked for."""

    dialect: Dialect
    content: str  # without comments
    whole: Whole
    numbers: pd.DataFrame  # columns that hold nothing else, by their places
    rows: int

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.dialect.names)

    def cells(self, places: Sequence[int], rows: int | None = None) -> pd.DataFrame:
        """Return the cells of columns as they are written, by their places; only of the first ``rows``, if given."""
        mark, named = self.dialect.mark, self.dialect.named
        return _read(self.content, mark, named, usecols=sorted(places), dtype=object, na_filter=False, nrows=rows)


# --- from bytes to columns ----------------------------------------------------------------------------------


def text_in(path: str, encoding: str) -> str:
    """Return the text of a file, or of standard input (-), which gzip may have compressed."""
    if path != "-":
        raw = Path(path).read_bytes()
    elif sys.stdin is None or sys.stdin.closed:
        raise ValueError("standard input (-) is closed; give a file, or let something write to it")
    elif not hasattr(sys.stdin, "buffer"):
        return sys.stdin.read()
    else:
        raw = sys.stdin.buffer.read()
    source = "standard input" if path == "-" else path
    try:
        return decoded(gzip.decompress(raw) if raw.startswith(GZIP) else raw, source, encoding)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{source} cannot be decompressed: {error}") from None


def decoded(raw: bytes, source: str, encoding: str) -> str:
    """Return bytes of a file as text; raise ValueError if they are not text."""
    if raw.startswith(_NO_TEXT):
        raise ValueError(f"{source} is not text; save the table as CSV, Parquet or .npy, and name it so")
    try:
        return raw.decode(encoding).removeprefix("\ufeff")  # Excel's byte order mark
    except LookupError:
        raise ValueError(f"--encoding {encoding} is unknown; give one such as utf-8, utf-16 or latin-1") from None
    except UnicodeError as error:
        likely = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1"
        raise ValueError(
            f"{source} is not text in {encoding.upper()} ({error}); give --encoding, such as {likely}"
        ) from None


def parsed(text: str, source: str, options: TextOptions) -> Text:
    """Return the columns of a text; raise ValueError, with the line, for rows of other lengths and open quotes."""
    text, mark = without_mark_line(text.replace("\r\n", "\n"))
    options = replace(options, sep=options.sep or mark)
    text = _without_comments(text, options.comment, options.skip_rows)
    whole = Whole(source, lambda: io.StringIO(text, newline=""))
    return rows_in(text, dialect_of(text, whole, options), whole, options)


def dialect_of(text: str, whole: Whole, options: TextOptions) -> Dialect:
    """Return how a text is divided, by its first rows."""
    text, named_mark = without_mark_line(text)
    source = whole.source
    mark = options.sep or named_mark or delimiter_in(text.lstrip(" \n").partition("\n")[0])
    head = whole.read(text, mark, False, nrows=_LOOKED_AT, dtype=object, na_filter=False)
    first = [name.strip() for name in head.iloc[0]]
    named = options.header == "yes"
    if options.header == "auto":
        head = head.map(as_it_looks)
        named = _is_header(head, f"{source}, line {next(whole.rows(mark))[0]}", options.decimal or ".")
    if not named:
        return Dialect(tuple(str(j + 1) for j in range(len(first))), mark, named)
    names = tuple(name or f"Unnamed: {j}" for j, name in enumerate(first))
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{source} has more than one column named {repeated!r}; rename them")
    if len(head) == 1:
        raise ValueError(f"{source} has a header and no rows")
    return Dialect(names, mark, named)


def rows_in(text: str, dialect: Dialect, whole: Whole, options: TextOptions) -> Text:
    """Return the columns of some rows of a text whose division is known."""
    mark, named, width = dialect.mark, dialect.named, len(dialect.names)
    table = whole.read(text, mark, named, keep_default_na=False, na_values=MISSING, low_memory=False)
    marks = re.sub(r'"[^"]*"', "", text).count(mark) if '"' in text else text.count(mark)
    even = marks == (len(table) + named) * (width - 1) and table.shape[1] == width  # read_csv fills up short rows
    if not even and (fault := whole.uneven(mark)):
        raise ValueError(f"{whole.source}: {fault}")
    return Text(dialect, text, whole, _plain(table, text, mark, options), len(table))


def _read(text: str, mark: str, named: bool, **how: Any) -> pd.DataFrame:
    """Return rows of a text, whose columns are called by their places."""
    import pandas as pd

    table = pd.read_csv(
        io.StringIO(text), sep=mark, header=0 if named else None, index_col=False, skipinitialspace=True, **how
    )
    return table.set_axis(how.get("usecols", range(table.shape[1])), axis=1)


def _plain(table: pd.DataFrame, text: str, mark: str, options: TextOptions) -> pd.DataFrame:
    """Return the columns whose cells are all numbers, or missing, without a doubt."""
    if options.decimal == "," or options.thousands or options.na or (mark == ";" and options.decimal is None):
        return table.iloc[:, :0]
    numbers = table.select_dtypes(["int64", "float64"])
    whole = {j for j, values in numbers.items() if is_whole(values)}
    codes = whole and re.search(rf'0(?<=[\n"{mark} ]0)\d', f"\n{text}")  # a zero before a digit, as in postal codes
    return numbers.loc[:, [not (np.isinf(values).any() or (j in whole and (codes or _many_digits(values))))
                           for j, values in numbers.items()]]  # fmt: skip


def is_whole(values: pd.Series) -> bool:
    """Return whether all numbers of a column are whole."""
    numbers = values.to_numpy()
    some, every = numbers[:100], numbers  # most columns with fractions show one soon
    return values.dtype.kind == "i" or all(
        bool(((np.rint(part) == part) | np.isnan(part)).all()) for part in (some, every)
    )


def _many_digits(values: pd.Series) -> bool:
    """Return True if gaps have made floats of whole numbers that these do not tell apart."""
    return values.dtype.kind == "f" and bool((values.abs() >= EXACT).any())


def without_mark_line(text: str) -> tuple[str, str | None]:
    """Return a text with a blank line in place of a first line such as ``sep=;``, and the mark that it names."""
    line = _MARK_LINE.match(text)
    return (text, None) if line is None else (text[line.end() :], line[1])


def delimiter_in(line: str) -> str:
    """Return what is between the cells of the first line of a file, which may be in quotation marks."""
    if named := _MARK_LINE.match(line):
        return named[1]
    # Semicolons and tabs hardly ever occur in files separated by commas; commas (decimals) do in the others.
    bare = re.sub(r'"[^"]*"', "", line)
    return next((mark for mark in "\t;,|" if mark in bare), ",")


def _without_comments(text: str, marks: Sequence[str], skipped: int) -> str:
    """Return the text with blank lines for the first ones and for comments, which are none within quotation marks."""
    if not marks and not skipped:
        return text
    lines, quoted = [], False
    for i, line in enumerate(io.StringIO(text, newline="")):  # ends lines at \n and \r only
        blank = i < skipped or (not quoted and line.lstrip().startswith(tuple(marks)))
        quoted ^= not blank and line.count('"') % 2 == 1
        lines.append("\n" if blank else line)
    return "".join(lines)


# --- whether the first row names the columns ----------------------------------------------------------------


def _is_header(head: pd.DataFrame, where: str, decimal: str) -> bool:
    """Return True if the first row names the columns: all of it is text, or some is, unlike what is below.

    Text that occurs again below is a value.  Raises ValueError for rows that may be names or values.
    """
    first, below = head.iloc[0], head.iloc[1:]
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
    return ValueError(f"{where}: {some} may be names of columns or an observation; give --header yes or --header no")


def _kinds_of_first(cells: pd.Series, decimal: str) -> np.ndarray:
    """Return what cells look like, "decorated" for text such as $5."""
    kinds = kinds_of(cells, decimal)
    kinds[(kinds == "category") & like_numbers(cells)] = "decorated"
    return kinds


def _is_name(kind: str, below: pd.Series, decimal: str) -> bool:
    """Return True if a cell of this kind names a column: it is not a number, and others are below it."""
    kinds = _kinds_of_first(below, decimal)
    return kind not in ("", "number") and bool(2 * (kinds == kind).sum() <= (kinds != "").sum())


def _may_be_names(first: pd.Series, below: pd.DataFrame, decimal: str, *, beside_names: bool) -> bool:
    """Return True if numbers in the first row look like names: whole, rising, and unlike what is below them."""
    if not first.str.isdecimal().all():
        return False
    values = first.astype(int)
    steps, alone = values.diff().iloc[1:], len(values) == 1
    if (steps <= 0).any():
        return False
    years, counter = _YEARS[0] <= values.iloc[0] < _YEARS[1], values.iloc[0] in (0, 1)
    consecutive = (steps == 1).all() and ((years and len(values) >= _MANY) or (counter and len(values) > _MANY))
    signs = [_unlike(values[j], below[j], decimal) for j in first.index]
    return consecutive or (beside_names and not alone) or min(signs) > (alone and not beside_names)


def _unlike(value: int, below: pd.Series, decimal: str) -> int:
    """Count the signs that a whole number is none of those below it: decimals, and other sizes."""
    sizes = np.abs(numbers_of(below, decimal))
    sizes = sizes[sizes > 0]
    apart = sizes.size and (value > _OTHER_SIZE * sizes.max() or _OTHER_SIZE * value < sizes.min())
    return int(below.str.contains(decimal, regex=False).mean() > 0.5) + int(bool(apart))
