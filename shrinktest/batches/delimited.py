"""CSV files: what is between cells, which of these are missing, and what is doubtful; pyarrow reads them."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._check import EXACT, check_digits
from shrinktest.batches.lines import NOT_UTF_8, called_cell, first_line, require_closed, uneven
from shrinktest.tables.text import (
    CALLED,
    IN_FILES,
    MISSING,
    OddCell,
    delimiter_in,
    from_cells,
    kind_of_cell,
    level_of,
    likely_kind,
    whole_numbers,
)

HEAD = 2**20  # bytes of a file that say what its columns hold
_BYTES = 64  # that a row is expected to have at most, for how much of a file is read at a time


@dataclass(frozen=True)
class Cells:
    """How the cells of CSV files are read."""

    missing: tuple[str, ...]  # what stands for a missing value
    # whether they are read as other files of the command line are: without blanks around them, and with an error for
    # text among numbers
    typed: bool = False


#: As `pandas.read_csv` has it.
AS_PANDAS = Cells(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
#: As the command line has it: in any case, and nothing else.
AS_TYPED = Cells(
    tuple("".join(word) for known in MISSING for word in product(*({c.lower(), c.upper()} for c in known))), typed=True
)


def block_of(size: int) -> int:
    """Bytes to read at a time for about ``size`` rows."""
    return max(2**16, _BYTES * size)


def schema_of(path: Path, cells: Cells) -> Any:
    """Names and types of the columns of a file, by its first megabyte."""
    return _first(path, cells).schema


def open_csv(
    path: Path, names: Sequence[str], block: int, kinds: Mapping[str, Any] | None, cells: Cells, where: str
) -> Any:
    """Batches of the columns ``names``, of numbers where there are no other ``kinds``.

    Raises ValueError for cells that are none of what their column holds, and for whole numbers that floating-point
    numbers do not tell apart; it calls the file ``where``.
    """
    import pyarrow as arrow

    read = {name: arrow.float64() for name in names}
    for name, kind in (kinds or {}).items():
        if arrow.types.is_dictionary(kind) or arrow.types.is_temporal(kind):
            read[name] = arrow.string()
        elif not arrow.types.is_integer(kind):
            read[name] = kind
    numbers = [name for name, kind in read.items() if arrow.types.is_floating(kind)]
    others = _other_names(path, cells)
    written: dict[str, Iterator[Any]] = {}  # numbers as text, of columns that have had large ones
    try:
        with _in_utf_8(path):
            for i, batch in enumerate(_opened(path, block, cells, others, column_types=read, include_columns=names)):
                for name in numbers:
                    if large := _may_merge(batch.column(name)):
                        as_text = {"column_types": {name: arrow.string()}, "include_columns": [name]}
                        written.setdefault(name, islice(_opened(path, block, cells, others, **as_text), i, None))
                    text = next(written[name]).column(0) if name in written else None
                    if large and (whole := _whole_numbers(text)) is not None:
                        check_digits(whole, f"{where.rstrip(',')}, column {name!r},", name)
                yield batch if kinds is None else _table(batch, kinds, cells, path)
    except arrow.ArrowInvalid as error:
        raise ValueError(_odd(path, str(error), cells)) from None


def kinds_in(path: Path, names: Sequence[str], column_types: Mapping[str, Any], cells: Cells) -> dict[str, Any]:
    """As what the columns of a file are read, by its first rows; text where categories or levels are wanted."""
    import pyarrow as arrow
    import pyarrow.types as types

    first, found = _first(path, cells), {}
    for name in names:
        kind, wanted = first.schema.field(name).type, column_types.get(name)
        likely = ""
        if types.is_string(kind) and wanted in (None, "date", "time"):
            likely = _likely(first.column(name), cells, path, name, checked=True)
        if wanted == "category" or isinstance(wanted, list | tuple):
            kind = arrow.dictionary(arrow.int32(), arrow.string())
        elif types.is_date(kind) or types.is_timestamp(kind) or likely == "date":
            kind = arrow.timestamp("us", getattr(kind, "tz", None))  # a day here may have a time further down
        elif types.is_time(kind) or likely == "time" or (types.is_string(kind) and wanted == "time"):
            kind = arrow.time64("us")
        elif types.is_integer(kind) and wanted == "date":  # 20240331, which is read by what it is as text
            kind = arrow.string()
        elif types.is_string(kind) and cells.typed and wanted != "number":  # whose digits are all kept
            kind = arrow.dictionary(arrow.int32(), arrow.string())
        elif not (types.is_boolean(kind) or types.is_string(kind) or types.is_integer(kind)):
            kind = arrow.float64()
        found[name] = kind
    return found


def require_plain(path: Path, names: Collection[str], cells: Cells) -> None:
    """Raise ValueError for an open quotation mark, and columns that are doubtful in the first megabyte of a file.

    These are read by what they hold.  For the command line, such hold text of which at least half looks like numbers,
    dates or times.
    """
    import pyarrow.types as types

    require_closed(path)
    first = _first(path, cells)
    for name in names if cells.typed else ():
        if types.is_string(first.schema.field(name).type):
            _likely(first.column(name), cells, path, name)


def _likely(column: Any, cells: Cells, path: Path, name: str, *, checked: bool = False) -> str:
    """Whether text is a "date" or "time" in all rows; else "".

    For the command line raises ValueError, unless that was ``checked`` or the kind is asked for, where one of these or
    a number is in at least half of the rows only.
    """
    counts = {one["values"]: one["counts"] for one in _bare(column, cells).drop_null().value_counts().to_pylist()}
    if not cells.typed:
        return "time" if counts and all(kind_of_cell(cell) == "time" for cell in counts) else ""
    kind = likely_kind(counts, IN_FILES)
    if kind is None or (kind == "number" and checked):
        return ""
    if kind != "number" and all(kind_of_cell(cell) == kind for cell in counts):
        return kind
    if checked:
        return ""
    odd = next((cell for cell in counts if kind_of_cell(cell) != kind), "")
    where = called_cell(path, schema_of(path, cells).names, name, odd)
    point = " (a decimal point is a point in files that are read in batches)" if kind == "number" else ""
    raise ValueError(
        f"{where}: {odd!r} is not {CALLED[kind]}, and at least half of the column are; correct "
        f"it{point}, say that all are categories (column_types={{{name!r}: 'category'}}), or leave the column "
        f"out (column_types={{{name!r}: 'drop'}})"
    )


def _may_merge(column: Any) -> bool:
    """Whether floats have no fractions, and some are so large that they may be several whole numbers."""
    import pyarrow.compute as compute

    ends = compute.min_max(column).as_py()
    if ends["max"] is None or not max(-ends["min"], ends["max"]) >= EXACT:
        return False
    values = column.drop_null().to_numpy()
    return bool((np.rint(values) == values).all())


def _whole_numbers(text: Any) -> Any:
    """The whole numbers in cells of a file, to the last digit; None where one is none."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    text = compute.utf8_trim_whitespace(text.drop_null())
    if whole_numbers([text[0].as_py()]) is None:  # which most often is enough to know
        return None
    with suppress(arrow.ArrowInvalid):
        return text.cast(arrow.int64()).to_numpy()
    whole = whole_numbers(text.to_pylist())
    return None if whole is None else np.array(whole, dtype=object)


def _opened(path: Path, block: int, cells: Cells, names: Sequence[str] | None = None, **converting: Any) -> Any:
    """The rows of a file some at a time; ``names`` are those of all columns, default as they are in the file."""
    from pyarrow import csv

    around = ("", " ") if cells.typed else ("",)
    words = list(dict.fromkeys(a + word + b for word in cells.missing for a in around for b in around))
    line, blank = first_line(path)
    naming = {} if names is None else {"column_names": names, "skip_rows": blank, "skip_rows_after_names": 1}
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=block, **naming),
        parse_options=csv.ParseOptions(delimiter=delimiter_in(line), newlines_in_values=True),
        convert_options=csv.ConvertOptions(null_values=words, strings_can_be_null=True, **converting),
    )


def _other_names(path: Path, cells: Cells) -> list[str] | None:
    """Names of all columns where they are not as in the file: without blanks around them, and none without a name.

    Where these are not from the command line, only columns without values get a name for want of one.
    """
    line = first_line(path)[0].encode("latin-1").decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        written = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter_in(line)), [])
    except csv.Error:
        return None
    if all(name and (name == name.strip() or not cells.typed) for name in written):
        return None
    first = _first_rows(path, cells)
    given = [name.strip() if cells.typed else name for name in first.schema.names]
    bare = [not name and (cells.typed or kind == "null") for name, kind in zip(given, first.schema.types, strict=True)]
    blank = [f"Unnamed: {j}" for j in range(len(given))]
    called = zip(given, blank, bare, strict=True)
    return [f"{own}{'.1' * (own in given)}" if nameless else name for name, own, nameless in called]


def _first(path: Path, cells: Cells) -> Any:
    """The first rows of a file, of whatever types they are."""
    return _first_rows(path, cells, _other_names(path, cells))


def _first_rows(path: Path, cells: Cells, names: Sequence[str] | None = None, **converting: Any) -> Any:
    import pyarrow as arrow
    import pyarrow.compute as compute

    try:
        with _in_utf_8(path):
            reader = _opened(path, HEAD, cells, names, **converting)
            schema = reader.schema
            named = schema.names  # which raises for letters that are none
            first = next(iter(reader), None)
    except arrow.ArrowInvalid as error:
        raise ValueError(_odd(path, str(error), cells)) from None
    if named and any(map(arrow.types.is_binary, schema.types)):
        raise ValueError(f"{path} {NOT_UTF_8}")
    if first is None:
        return arrow.RecordBatch.from_pylist([], schema)
    whole = [j for j, kind in enumerate(schema.types) if arrow.types.is_integer(kind)]
    if converting or not whole or not _may_be_text(path, cells):
        return first
    text = _first_rows(path, cells, names, column_types={named[j]: arrow.string() for j in whole})
    mark = r"[xX]|^\s*0\d" if cells.typed else "[xX]"
    odd = [j for j in whole if compute.any(compute.match_substring_regex(text.column(j), mark)).as_py()]
    columns = [text.column(j) if j in odd else column for j, column in enumerate(first.columns)]
    return arrow.RecordBatch.from_arrays(columns, names=named)


def _may_be_text(path: Path, cells: Cells) -> bool:
    """Whether the first rows of a file may have cells such as 0x7 or 02134, numbers for pyarrow and text here.

    Digits with leading zeros are text on the command line only: pandas reads numbers.
    """
    with path.open("rb") as file:
        return re.search(rb"(?<![\d.])0\d|0[xX]" if cells.typed else rb"0[xX]", file.read(HEAD)) is not None


@contextmanager
def _in_utf_8(path: Path) -> Iterator[None]:
    """Errors of letters that are not in UTF-8 say so."""
    import pyarrow as arrow

    try:
        yield
    except (UnicodeDecodeError, arrow.ArrowInvalid) as error:
        if isinstance(error, arrow.ArrowInvalid) and "invalid UTF8" not in str(error):
            raise
        raise ValueError(f"{path} {NOT_UTF_8}") from None


def _table(batch: Any, kinds: Mapping[str, Any], cells: Cells, path: Path) -> Any:
    """Rows of a file as a table: whole numbers and times are such, and categories are called as in other tables."""
    import pyarrow as arrow

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if arrow.types.is_string(column.type) and (cells.typed or arrow.types.is_temporal(kinds[name])):
            column = _bare(column, cells)
        if arrow.types.is_temporal(kinds[name]):
            column = _as_times(column, kinds[name], path, name, cells)
        elif arrow.types.is_integer(kinds[name]):
            with suppress(arrow.ArrowInvalid):  # whole numbers in the first rows only
                column = column.cast(arrow.int64())
        elif arrow.types.is_dictionary(kinds[name]):
            column = column.dictionary_encode()
            levels = [level_of(one) for one in column.dictionary.to_pylist()]
            column = arrow.DictionaryArray.from_arrays(column.indices, arrow.array(levels, arrow.string()))
        columns.append(column)
    return arrow.Table.from_arrays(columns, names=batch.schema.names)


def _as_times(column: Any, kind: Any, path: Path, name: str, cells: Cells) -> Any:
    """Text as dates or times of day; raises ValueError for what is neither."""
    import pyarrow as arrow

    dates = arrow.types.is_timestamp(kind)
    for unit in ("us", "ns") if dates else ():
        with suppress(arrow.ArrowInvalid):
            return column.cast(arrow.timestamp(unit, kind.tz))
    column = column.dictionary_encode()
    known = column.dictionary.to_pylist()
    try:
        found = from_cells(name, known, wanted="date" if dates else "time")
        if dates and any(known) and found.zoned != (kind.tz is not None):
            raise OddCell(0, f"is a date {'with' if found.zoned else 'without'} a time zone, unlike others before")
    except OddCell as odd:
        cell = known[odd.row]
        raise ValueError(_unlike(path, name, cell, f"{cell!r} {odd.why}", cells)) from None
    values = found.values if dates else np.rint(found.values * 3.6e9).astype("timedelta64[us]").astype(np.int64)
    kind = arrow.timestamp("ns" if values.dtype == "datetime64[ns]" else "us", kind.tz) if dates else kind
    return arrow.array(values, mask=found.missing()).cast(kind).take(column.indices)


def _bare(column: Any, cells: Cells) -> Any:
    """Text without blanks around it, which may leave nothing."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    bare = compute.utf8_trim_whitespace(column)
    return compute.if_else(compute.is_in(bare, arrow.array(cells.missing)), None, bare)


def _odd(path: Path, error: str, cells: Cells) -> str:
    """What to do about a cell that is none of what its column holds, by what pyarrow says of it."""
    said = re.fullmatch(r"(?s)In CSV column #(\d+): (?:Row #\d+: )?(.*)", error)
    if said is None:
        return f"{path}: {('Expected' in error and uneven(path)) or error}"
    cell = re.fullmatch(r"(?s)CSV conversion error to (double|bool): invalid value '(.*)'", said[2])
    why = said[2] if cell is None else f"{cell[2]!r} is not {'a number' if cell[1] == 'double' else 'True or False'}"
    return _unlike(path, schema_of(path, cells).names[int(said[1])], cell and cell[2], why, cells)


def _unlike(path: Path, name: str, cell: str | None, why: str, cells: Cells) -> str:
    where = called_cell(path, schema_of(path, cells).names, name, cell)
    return (
        f"{where}: {why}; what a column holds is seen in the first megabyte of a file: correct the value, read the "
        f"column as categories (column_types={{{name!r}: 'category'}}), or leave it out (column_types={{{name!r}: "
        "'drop'})"
    )
