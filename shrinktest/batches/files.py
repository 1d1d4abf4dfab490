"""Files of samples, read some rows at a time; pyarrow is imported when it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._check import check_digits, listed
from shrinktest.batches.delimited import AS_PANDAS, Cells, block_of, kinds_in, open_csv, require_plain, schema_of
from shrinktest.batches.pieces import Piece
from shrinktest.batches.recognized import KINDS

_TIMES = 4  # as many rows of a .npy file as are read at a time are a piece


def kinds_of(data: Any) -> set[str]:
    """The kinds of files that paths and patterns stand for, by the end of their names."""
    several = data if isinstance(data, list | tuple) else [data]
    return {KINDS.get(Path(one).suffix.lower(), "") for one in several}


def found_paths(data: Any, name: str) -> list[Path]:
    """The files that paths and patterns stand for, those of a pattern in alphabetical order.

    Raises FileNotFoundError for what does not exist, and ValueError for a folder, for files of other kinds than
    :data:`KINDS`, and for those of several kinds.
    """
    found: list[Path] = []
    for one in data if isinstance(data, list | tuple) else [data]:
        text = str(one)
        pattern = has_magic(text) and not Path(one).exists()  # else it is a name with brackets in it
        paths = sorted(map(Path, glob(text, recursive=True))) if pattern else [Path(one)]
        if not paths or not paths[0].exists():
            raise FileNotFoundError(f"{name}: there is no file {text!r}")
        if paths[0].is_dir():
            raise ValueError(f"{name}: {text!r} is a folder; name its files, such as {str(paths[0] / '*.parquet')!r}")
        found += paths
    kinds = {path.suffix.lower() for path in found}
    if len(kinds) > 1 or not kinds <= set(KINDS):
        raise ValueError(f"{name} must be files of one kind of {listed(KINDS)}; found {listed(sorted(kinds))}")
    return found


def names_in(path: Path, cells: Cells = AS_PANDAS) -> tuple[str, ...] | None:
    """Names of the columns of a file; None where they have none."""
    kind = KINDS[path.suffix.lower()]
    if kind == "array":
        return None
    names = tuple(_schema(path, cells).names)
    if kind == "csv" and all(map(_is_number, names)):
        raise ValueError(f"{path} has numbers in its first row, which is to name the columns; give it such a row")
    return names


def indices_in(path: Path) -> list[str]:
    """Names of the columns of a Parquet file that were the index of a pandas table, as it says itself."""
    if KINDS[path.suffix.lower()] != "parquet":
        return []
    about = _schema(path).pandas_metadata or {}
    return [one for one in about.get("index_columns", []) if isinstance(one, str)]


def columns_in(path: Path) -> int:
    """How many columns a .npy file has."""
    values = _mapped(path)
    return values.shape[1] if values.ndim == 2 else 1


def whole_numbers(path: Path, names: Sequence[str], cells: Cells = AS_PANDAS) -> Mapping[str, bool] | None:
    """As `whole_in`, of a file; the types of a CSV file are those of its first rows."""
    return whole_in(_schema(path, cells), names)


def whole_in(schema: Any, names: Sequence[str]) -> Mapping[str, bool] | None:
    """Whether columns of an Arrow schema are whole numbers by their type; None where one holds no numbers."""
    import pyarrow.types as types

    kinds = {name: schema.field(name).type for name in names if name in schema.names}
    if not all(types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind) for kind in kinds.values()):
        return None
    return {name: types.is_integer(kind) for name, kind in kinds.items()}


def orders_in(table: Any) -> dict[str, list[Any]]:
    """The levels of ordered categories of an Arrow table, by the names of their columns."""
    import pyarrow.types as types

    ordered = [field.name for field in table.schema if types.is_dictionary(field.type) and field.type.ordered]
    columns = {name: table.column(name) for name in ordered}
    return {name: one.chunk(0).dictionary.to_pylist() for name, one in columns.items() if one.num_chunks}


def pieces_in(
    path: Path,
    where: str,
    names: Sequence[str] | None,
    size: int,
    column_types: Mapping[str, Any] | None = None,
    cells: Cells = AS_PANDAS,
) -> Iterator[Piece]:
    """The rows of a file in pieces; ``names`` are the columns to read, in this order.

    With ``column_types``, which may be empty, they are read as Arrow tables, and else as numbers.  Raises TypeError for
    columns that are no numbers, and ValueError for columns that are not there.
    """
    kind = KINDS[path.suffix.lower()]
    if kind == "array":
        rows = len(_mapped(path))
        step = size * _TIMES
        for start in range(0, rows, step):
            yield OfArray(where, path, start, min(step, rows - start))
        return
    assert names is not None
    there = names_in(path, cells) or ()
    if lacking := [name for name in names if name not in there]:
        raise ValueError(f"{path} has no column {listed(lacking)}; it has {listed(there)}")
    if kind == "csv":
        require_plain(path, [name for name in names if name not in (column_types or {})], cells)
        kinds = None if column_types is None else kinds_in(path, names, column_types, cells)
        yield OfCsv(where, path, tuple(names), kinds, cells)
    else:
        yield from _groups(path, where, tuple(names), tables=column_types is not None)


@dataclass(frozen=True, eq=False)
class OfArray(Piece):
    """Some rows of a .npy file."""

    where: str
    path: Path
    first: int
    rows: int

    def read(self, size: int) -> Iterator[np.ndarray]:
        values = _mapped(self.path)
        stop = self.first + self.rows
        for start in range(self.first, stop, size):
            yield values[start : min(start + size, stop)]


@dataclass(frozen=True, eq=False)
class OfParquet(Piece):
    """A row group of a Parquet file."""

    where: str
    path: Path
    first: int
    rows: int
    names: tuple[str, ...]
    group: int
    tables: bool = False

    def read(self, size: int) -> Iterator[Any]:
        from pyarrow import Table

        for batch in self._batches(size):
            if self.tables:
                yield Table.from_batches([batch]).select(self.names)
            else:
                yield numbers_of(batch, self.names, self.where)

    def _batches(self, size: int) -> Iterator[Any]:
        from pyarrow.parquet import ParquetFile

        with _called(self.path), ParquetFile(self.path) as file:
            wanted = {"columns": list(self.names), "row_groups": [self.group], "use_threads": False}
            yield from file.iter_batches(batch_size=size, **wanted)


@dataclass(frozen=True, eq=False)
class OfCsv(Piece):
    """A CSV file; its cells must be numbers, or of the types ``kinds`` by name, which is a ValueError otherwise."""

    where: str
    path: Path
    names: tuple[str, ...]
    kinds: dict[str, Any] | None = None
    cells: Cells = AS_PANDAS
    first: int = 0
    rows: int | None = None

    def read(self, size: int) -> Iterator[Any]:
        for batch in open_csv(self.path, self.names, block_of(size), self.kinds, self.cells, self.where):
            yield numbers_of(batch, self.names, self.where) if self.kinds is None else batch


def require_numbers(schema: Any, names: Sequence[str], where: str) -> None:
    """Raise TypeError for columns of an Arrow schema that are no numbers."""
    import pyarrow.types as types

    for name in names:
        kind = schema.field(name).type
        if not any(is_it(kind) for is_it in (types.is_integer, types.is_floating, types.is_boolean, types.is_null)):
            raise TypeError(
                f"{where}, column {name!r}, must hold numbers, found {kind}: batches are read as numbers only; "
                "leave it out with Batches(..., columns=[...]), or encode it"
            )


def numbers_of(table: Any, names: Sequence[str], where: str) -> np.ndarray:
    """Columns of an Arrow table or batch (k, d) as float64, with NaN for what is missing.

    Raises ValueError, which calls the table ``where``, for whole numbers that floating-point numbers do not tell apart.
    """
    return np.column_stack([_numbers(table.column(name), name, where.rstrip(",")) for name in names])


def _groups(path: Path, where: str, names: tuple[str, ...], *, tables: bool) -> Iterator[Piece]:
    from pyarrow.parquet import ParquetFile

    with _called(path), ParquetFile(path) as file:
        if not tables:
            require_numbers(file.schema_arrow, names, str(path))
        first = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            yield OfParquet(where, path, first, rows, names, group, tables)
            first += rows


def _mapped(path: Path) -> np.ndarray:
    """The rows of a .npy file, which are read when they are used."""
    with _called(path):
        return np.atleast_1d(np.load(path, mmap_mode="r", allow_pickle=False))


@contextmanager
def _called(path: Path) -> Iterator[None]:
    """Errors of whoever reads a file say which file it is."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError) as error:
        said = str(error).rstrip(".")
        raise ValueError(f"{path} cannot be read ({said}); is it complete, and what its name says?") from None


def _schema(path: Path, cells: Cells = AS_PANDAS) -> Any:
    """Names and types of the columns of a file."""
    require_pyarrow(path)
    if KINDS[path.suffix.lower()] == "parquet":
        from pyarrow.parquet import read_schema

        with _called(path):
            return read_schema(path)
    return schema_of(path, cells)


def _numbers(column: Any, name: str, where: str) -> np.ndarray:
    """A column of Arrow as float64, with NaN for what is missing."""
    import pyarrow

    if pyarrow.types.is_integer(column.type) and column.type.bit_width == 64:
        check_digits(np.asarray(column.drop_null()), f"{where}, column {name!r},", name)
    return np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def require_pyarrow(what: Any) -> None:
    """Raise ImportError that says how to get pyarrow, without which ``what`` cannot be read."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(f"reading {what} in batches takes pyarrow: pip install 'shrinktest[files]'") from None
