"""CSV files: what is between cells, which of these are missing, and what is doubtful; pyarrow reads them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from shrinktest._digits import require_apart
from shrinktest.tables.text import MISSING, as_number, as_people_write, delimiter_in, level_of

HEAD = 2**20  # bytes of a file that say what its columns hold
_LINE = 2**24  # bytes of a first line, at most
_BYTES = 64  # that a row is expected to have at most, for how much of a file is read at a time

_NOT_UTF_8 = (
    "is not text in UTF-8, as CSV files that are read in batches must be; save it so, such as iconv -f latin1 -t utf-8"
)
#: How files begin that are no plain text in UTF-8, and what to say of them.
_BEGINNINGS = {
    b"\xff\xfe": _NOT_UTF_8.replace("latin1", "utf-16"),
    b"\xfe\xff": _NOT_UTF_8.replace("latin1", "utf-16"),
    b"\x1f\x8b": "is compressed (gzip), and CSV files that are read in batches must not be; unpack it, such as gunzip",
    b"PK\x03\x04": "is an archive (zip), as those of spreadsheets are; save the table as CSV",
}


@dataclass(frozen=True)
class Cells:
    """How the cells of CSV files are read.

    Parameters
    ----------
    missing : tuple of str
        What stands for a missing value.
    typed : bool
        Whether they are read as other files of the command line are: without blanks around them, and with an error
        for text among numbers.
    """

    missing: tuple[str, ...]
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


def delimiter_of(path: Path) -> str:
    """What is between the cells of a file, by its first line.

    Raises
    ------
    ValueError
        For files that are no plain text.
    """
    with path.open("rb") as file:
        start = file.read(4)
        for beginning, said in _BEGINNINGS.items():
            if start.startswith(beginning):
                raise ValueError(f"{path} {said}")
        file.seek(0)
        first = next((line for _ in range(1000) if (line := file.readline(_LINE)).strip(b"\r\n") or not line), b"")
    return delimiter_in(first.decode("latin-1"))


def schema_of(path: Path, cells: Cells) -> Any:
    """Names and types of the columns of a file, by its first megabyte."""
    return _first(path, cells).schema


def open_csv(path: Path, names: Sequence[str], block: int, kinds: Mapping[str, Any] | None, cells: Cells) -> Any:
    """Batches of the columns ``names``, of numbers where there are no other ``kinds``.

    Raises
    ------
    ValueError
        For cells that are none of what their column holds.
    """
    import pyarrow as arrow

    read = {name: arrow.float64() for name in names}
    for name, kind in (kinds or {}).items():
        if arrow.types.is_dictionary(kind):
            read[name] = arrow.string()
        elif not arrow.types.is_integer(kind):
            read[name] = kind
    try:
        with _in_utf_8(path):
            for batch in _opened(path, block, cells, column_types=read, include_columns=names):
                yield batch if kinds is None else _table(batch, kinds, cells)
    except arrow.ArrowInvalid as error:
        raise ValueError(_odd(path, str(error), cells)) from None


def kinds_in(path: Path, names: Sequence[str], column_types: Mapping[str, Any], cells: Cells) -> dict[str, Any]:
    """As what the columns of a file are read, by its first rows; text where categories or levels are wanted."""
    import pyarrow as arrow
    import pyarrow.types as types

    schema, found = schema_of(path, cells), {}
    for name in names:
        kind, wanted = schema.field(name).type, column_types.get(name)
        if wanted == "category" or isinstance(wanted, list | tuple):
            kind = arrow.dictionary(arrow.int32(), arrow.string())
        elif types.is_date(kind) or types.is_timestamp(kind):  # a day here may have a time further down
            kind = arrow.timestamp("us", getattr(kind, "tz", None))
        elif types.is_time(kind):
            kind = arrow.time64("us")
        elif types.is_string(kind) and cells.typed and wanted != "number":  # whose digits are all kept
            kind = arrow.dictionary(arrow.int32(), arrow.string())
        elif not (types.is_boolean(kind) or types.is_string(kind) or types.is_integer(kind)):
            kind = arrow.float64()
        found[name] = kind
    return found


def require_plain(path: Path, names: Collection[str], where: str, cells: Cells) -> None:
    """Raise ValueError for columns, read by what they hold, that are doubtful in the first megabyte of a file.

    Such hold whole numbers that floating-point numbers do not tell apart, or, for the command line, text of which at
    least half looks like numbers.
    """
    import pyarrow.types as types

    first = _first(path, cells)
    for name in names:
        if name not in first.schema.names:
            continue
        column = first.column(name).drop_null()
        if types.is_integer(column.type):
            require_apart(column.to_numpy(zero_copy_only=False), name, f"{where.rstrip(',')}, column {name!r},")
        elif cells.typed and types.is_string(column.type) and len(column):
            counts = {one["values"].strip(): one["counts"] for one in column.value_counts().to_pylist()}
            odd = next((cell for cell in counts if not _is_number(cell)), "")
            if 2 * sum(often for cell, often in counts.items() if as_people_write(cell)) >= len(column):
                raise ValueError(
                    f"{path}, column {name!r}: {odd!r} is not a number, and at least half of the column are; correct "
                    "it (a decimal point is a point in files that are read in batches), say that all are categories "
                    f"(column_types={{{name!r}: 'category'}}), or leave the column out "
                    f"(column_types={{{name!r}: 'drop'}})"
                )


def _opened(path: Path, block: int, cells: Cells, **converting: Any) -> Any:
    from pyarrow import csv

    around = ("", " ") if cells.typed else ("",)
    words = list(dict.fromkeys(a + word + b for word in cells.missing for a in around for b in around))
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=block),
        parse_options=csv.ParseOptions(delimiter=delimiter_of(path)),
        convert_options=csv.ConvertOptions(null_values=words, strings_can_be_null=True, **converting),
    )


def _first(path: Path, cells: Cells) -> Any:
    """The first rows of a file, of whatever types they are."""
    import pyarrow as arrow

    try:
        with _in_utf_8(path):
            reader = _opened(path, HEAD, cells)
            schema = reader.schema
            named = schema.names  # which raises for letters that are none
            first = next(iter(reader), None)
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None
    if named and any(map(arrow.types.is_binary, schema.types)):
        raise ValueError(f"{path} {_NOT_UTF_8}")
    return arrow.RecordBatch.from_pylist([], schema) if first is None else first


@contextmanager
def _in_utf_8(path: Path) -> Iterator[None]:
    """Errors of letters that are not in UTF-8 say so."""
    import pyarrow as arrow

    try:
        yield
    except (UnicodeDecodeError, arrow.ArrowInvalid) as error:
        if isinstance(error, arrow.ArrowInvalid) and "invalid UTF8" not in str(error):
            raise
        raise ValueError(f"{path} {_NOT_UTF_8}") from None


def _table(batch: Any, kinds: Mapping[str, Any], cells: Cells) -> Any:
    """Rows of a file as a table: whole numbers are such, and categories are called as in other tables."""
    import pyarrow as arrow

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if arrow.types.is_string(column.type) and cells.typed:
            column = _bare(column, cells)
        if arrow.types.is_integer(kinds[name]):
            with suppress(arrow.ArrowInvalid):  # whole numbers in the first rows only
                column = column.cast(arrow.int64())
        elif arrow.types.is_dictionary(kinds[name]):
            column = column.dictionary_encode()
            levels = [level_of(one) for one in column.dictionary.to_pylist()]
            column = arrow.DictionaryArray.from_arrays(column.indices, arrow.array(levels, arrow.string()))
        columns.append(column)
    return arrow.Table.from_arrays(columns, names=batch.schema.names)


def _bare(column: Any, cells: Cells) -> Any:
    """Text without blanks around it, which may leave nothing."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    bare = compute.utf8_trim_whitespace(column)
    return compute.if_else(compute.is_in(bare, arrow.array(cells.missing)), None, bare)


def _odd(path: Path, error: str, cells: Cells) -> str:
    """What to do about a cell that is none of what its column holds, by what pyarrow says of it."""
    said = re.fullmatch(r"(?s)In CSV column #(\d+): (.*)", error)
    if said is None:
        return f"{path}: {error}"
    name, why = schema_of(path, cells).names[int(said[1])], said[2]
    return (
        f"{path}, column {name!r}: {why}; what a column holds is seen in the first megabyte of a file: correct the "
        f"value, read the column as categories (column_types={{{name!r}: 'category'}}), or leave it out "
        f"(column_types={{{name!r}: 'drop'}})"
    )


def _is_number(cell: str) -> bool:
    return as_number(cell) is not None
