"""Lines of CSV files: the first one, by which they are read, and those that messages are about."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from shrinktest._check import counted
from shrinktest.tables.text import delimiter_in

#: What messages say of files in other encodings.
NOT_UTF_8 = (
    "is not text in UTF-8, as CSV files that are read in batches must be; save it so, such as iconv -f latin1 -t utf-8"
)
#: How files begin that are no plain text in UTF-8, and what to say of them.
_BEGINNINGS = {
    b"\xff\xfe": NOT_UTF_8.replace("latin1", "utf-16"),
    b"\xfe\xff": NOT_UTF_8.replace("latin1", "utf-16"),
    b"\x1f\x8b": "is compressed (gzip), and CSV files that are read in batches must not be; unpack it, such as gunzip",
    b"PK\x03\x04": "is an archive (zip), as those of spreadsheets are; save the table as CSV",
}

_LINE = 2**24  # bytes of a first line, at most, and to read at a time


def delimiter_of(path: Path) -> str:
    """What is between the cells of a file, by its first line; raises ValueError for files that are no plain text."""
    return delimiter_in(first_line(path)[0])


def first_line(path: Path) -> tuple[str, int]:
    """The first line of a file that is not blank, and how many before it are; raises ValueError as `delimiter_of`."""
    with path.open("rb") as file:
        start = file.read(4)
        for beginning, said in _BEGINNINGS.items():
            if start.startswith(beginning):
                raise ValueError(f"{path} {said}")
        file.seek(0)
        for blank in range(1000):
            if (line := file.readline(_LINE)).strip(b"\r\n") or not line:
                return line.decode("latin-1"), blank
    return "", 0


def require_closed(path: Path) -> None:
    """Raise ValueError for a quotation mark that is not closed, behind which pyarrow takes all rows for one cell."""
    about = path.stat()
    if (line := _unclosed(path, about.st_size, about.st_mtime_ns)) is not None:
        raise ValueError(f"{path}: line {line} has a quotation mark that is not closed; close it, or take it away")


@cache
def _unclosed(path: Path, size: int, changed: int) -> int | None:
    """The line of the row with such a mark, of a file of this size and time; None without one."""
    with path.open("rb") as file:
        if not sum(part.count(b'"') for part in iter(lambda: file.read(_LINE), b"")) % 2:
            return None
    with path.open(encoding="utf-8", errors="replace", newline="") as text:
        reader, line = csv.reader(text, delimiter=delimiter_of(path), strict=True), 0
        while True:
            try:
                line = reader.line_num
                next(reader)
            except StopIteration:
                return None
            except csv.Error as error:
                if "expected after" not in str(error):  # as in "u" x, which is a cell all the same
                    return line + 1


def called_cell(path: Path, names: Sequence[str], name: str, cell: str | None) -> str:
    """What messages call the first cell like this in a column of a file with columns of these names: by its line."""
    place = list(names).index(name)
    found = (line for line, cells in _rows(path) if place < len(cells) and cells[place].strip() == str(cell).strip())
    line = None if cell is None else next(found, None)
    return f"{path}{'' if line is None else f', line {line}'}, column {name!r}"


def uneven(path: Path) -> str:
    """Which line has another number of cells than the first; empty where none has."""
    rows = _rows(path)
    first, header = next(rows, (0, []))
    for line, cells in rows:
        if len(cells) != len(header):
            return f"line {line} has {counted(len(cells), 'cell')}, line {first} has {len(header)}"
    return ""


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, with the lines that they end on, as far as they can be read; looks at all."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter_of(path))
        try:
            yield from ((reader.line_num, cells) for cells in reader if cells)
        except csv.Error:
            return
