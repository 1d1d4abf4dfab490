"""Delimited text on disk in blocks of whole rows, each of which is read as it would be in the whole file."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from shrinktest.data.cells import Looks, OddCells, kind_of, levels_of, looks_of, type_for, values_of
from shrinktest.data.column import DROP
from shrinktest.data.delimited import (
    GZIP,
    Dialect,
    Text,
    TextOptions,
    Whole,
    decoded,
    delimiter_in,
    dialect_of,
    is_whole,
    rows_in,
    without_mark_line,
)
from shrinktest.data.files import Problems

if TYPE_CHECKING:
    import pandas as pd

_HEAD = 2**20  # bytes by which a file is divided
_BYTES = 64  # that a row is expected to have at most
_LARGEST = 2**26  # bytes of a row
_OPTIONS = TextOptions()
_ADVICE = "; correct it, or read it by pandas.read_csv and give the table"


@dataclass(frozen=True)
class Block:
    """Whole rows of a file."""

    start: int  # bytes before it
    size: int  # in bytes
    first: int  # rows before it
    rows: int
    named: bool  # True if its first row names the columns


@dataclass(frozen=True, eq=False)
class Scanned:
    """Result of one pass over a file: its blocks, and what its columns look like."""

    dialect: Dialect
    blocks: tuple[Block, ...]
    looks: Mapping[str, Looks]


def names_in_text(path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a file."""
    about = path.stat()
    return _dialect(path, about.st_size, about.st_mtime_ns).names


def scanned(path: Path, size: int) -> Scanned:
    """Read a file once, about ``size`` rows at a time; what was found is kept while the file stays as it is."""
    about = path.stat()
    return _scanned(path, size * _BYTES, about.st_size, about.st_mtime_ns)


def kinds_in_text(path: Path, size: int, names: Sequence[str], types: Mapping[str, Any]) -> dict[str, str]:
    """Return how columns are read, by all of their cells, or by ``types`` as users give them."""
    file_scan, kinds = scanned(path, size), {}
    for name in names:
        column_type = "category" if types.get(name) == DROP else types.get(name)
        try:
            kinds[name] = kind_of(file_scan.looks[name], column_type, file_scan.dialect.mark, _OPTIONS)
        except OddCells as odd:
            raise _odd(path, file_scan.dialect, name, odd) from None
    return kinds


def whole_in_text(path: Path, size: int, names: Sequence[str]) -> dict[str, bool | None]:
    """Return True for columns of whole numbers, False for other numbers, None for others, by their names."""
    file_scan, whole = scanned(path, size), {}
    for name in names:
        try:
            kind = kind_of(file_scan.looks[name], None, file_scan.dialect.mark, _OPTIONS)
        except OddCells:
            kind = "doubtful"
        whole[name] = kind == "whole" if kind in ("whole", "number") else None
    return whole


def frame_of_block(path: Path, dialect: Dialect, block: Block, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of a block as a table with columns of these kinds."""
    import pandas as pd

    with path.open("rb") as file:
        file.seek(block.start)
        text = _text(path, dialect, file.read(block.size), first=not block.start, named=block.named)
    places = {name: dialect.names.index(name) for name in kinds}
    numbers = {name: text.numbers.get(places[name]) for name, kind in kinds.items() if kind in ("whole", "number")}
    others = [name for name in kinds if numbers.get(name) is None]
    cells = text.cells([places[name] for name in others]) if others else text.numbers
    series: dict[str, Any] = {}
    for name, kind in kinds.items():
        values = numbers.get(name)
        if values is not None:
            series[name] = values if kind == "whole" else values.astype(float)
            continue
        try:
            series[name] = values_of(*levels_of(cells[places[name]], _OPTIONS), kind, _OPTIONS)
        except OddCells as odd:
            raise _odd(path, dialect, name, odd) from None
    return pd.DataFrame(series)


def _odd(path: Path, dialect: Dialect, name: str, error: OddCells) -> Problems:
    problems = []
    for odd in error.cells:
        place = _whole(path).place(dialect, name, odd.text)
        problems.append(f"{place}: {odd.text!r} {odd.fault}; {type_for(odd, name)}")
    return Problems(problems)


def _text(path: Path, dialect: Dialect, raw: bytes, *, first: bool, named: bool) -> Text:
    with _without_options():
        text = decoded(raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw, str(path), "utf-8")
        text = without_mark_line(text)[0] if first else text
        return rows_in(text, replace(dialect, named=named), _whole(path), _OPTIONS)


@contextmanager
def _without_options() -> Iterator[None]:
    """Advise in errors what can be done without the options of the command line."""
    try:
        yield
    except ValueError as error:
        raise ValueError(re.sub(r"[;,] (or )?(give|try) --.*", _ADVICE, str(error))) from None


def _whole(path: Path) -> Whole:
    return Whole(str(path), lambda: path.open(encoding="utf-8-sig", newline=""))


@lru_cache(1000)
def _dialect(path: Path, size: int, changed: int) -> Dialect:
    """Return how a file of this size and time is divided."""
    with path.open("rb") as file:
        raw = next((part for _, part in _cut(file, _HEAD)), b"")
    if raw.startswith(GZIP):
        raise ValueError(f"{path} is compressed; unpack it, such as gunzip {path}, to read it in batches")
    with _without_options():
        return dialect_of(decoded(raw, str(path), "utf-8").replace("\r\n", "\n"), _whole(path), _OPTIONS)


@lru_cache(1000)
def _scanned(path: Path, step: int, size: int, changed: int) -> Scanned:
    dialect = _dialect(path, size, changed)
    blocks: list[Block] = []
    looks, rows = [Looks()] * len(dialect.names), 0
    with path.open("rb") as file:
        for start, raw in _cut(file, step):
            if raw.strip():
                named = dialect.named and not blocks
                text = _text(path, dialect, raw, first=not start, named=named)
                blocks.append(Block(start, len(raw), rows, text.rows, named))
                rows += text.rows
                looks = [entry.merge(more) for entry, more in zip(looks, _looks(text), strict=True)]
    return Scanned(dialect, tuple(blocks), dict(zip(dialect.names, looks, strict=True)))


def _looks(text: Text) -> list[Looks]:
    """Return what the columns of a text look like."""
    looks = [Looks()] * len(text.names)
    first = {j: int(values.notna().to_numpy().argmax()) for j, values in text.numbers.items() if values.notna().any()}
    cells = text.cells([*first], max(first.values()) + 1) if first else text.numbers
    for j, row in first.items():
        values = text.numbers[j]
        looks[j] = Looks.plain(int(values.notna().sum()), cells[j].iloc[row].strip(), whole=is_whole(values))
    if others := [j for j in range(len(looks)) if j not in text.numbers]:
        for j, column in text.cells(others).items():
            looks[j] = looks_of(*levels_of(column, _OPTIONS), _OPTIONS)
    return looks


def _cut(file: IO[bytes], step: int) -> Iterator[tuple[int, bytes]]:
    """Yield about ``step`` bytes of whole rows at a time, and how many bytes are before them."""
    held, start, mark = b"", 0, ""
    while part := file.read(max(step, len(held))):
        held += part
        line = held.removeprefix(BOM_UTF8).lstrip().partition(b"\n")[0]
        mark = mark or delimiter_in(line.decode("latin-1"))
        if end := _end_of_rows(held, mark) or (len(held) if len(held) > _LARGEST else 0):
            yield start, held[:end]
            start, held = start + end, held[end:]
    if held:
        yield start, held


def _end_of_rows(raw: bytes, mark: str) -> int:
    """Return where the last row ends that is whole for certain, by its quotation marks; 0 if none is."""
    if b'"' not in raw:
        return raw.rfind(b"\n") + 1
    lines = raw.split(b"\n")
    text = (f"{line.decode('latin-1')}\n" for line in lines[:-1])
    reader = csv.reader(text, delimiter=mark, skipinitialspace=True)
    ends = [0, 0]
    with suppress(csv.Error):
        ends += [reader.line_num for _ in reader]
    return sum(len(line) + 1 for line in lines[: ends[-2]])
