"""Files of samples, read some rows at a time; pyarrow is imported when it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._validate import listed
from shrinktest.batches.pieces import Piece

#: How files are read, by the end of their name.
KINDS = {".npy": "array", ".csv": "csv", ".parquet": "parquet"}

_HEAD = 2**20  # bytes of a CSV file that are read for its names
_TIMES = 4  # as many rows of a .npy file as are read at a time are a piece
_BYTES = 64  # of a CSV file that a row is expected to have at most, for how much of it is read at a time


def is_paths(data: Any) -> bool:
    """Whether these are paths of files: text or Path, or a list of these."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, str | Path) for one in data)
    return isinstance(data, str | Path)


def ends_as_files(data: Any) -> bool:
    """Whether these are paths, all of which end as the names of files that can be read do."""
    if not is_paths(data):
        return False
    several = data if isinstance(data, list | tuple) else [data]
    return all(isinstance(one, Path) or one.lower().endswith(tuple(KINDS)) for one in several)


def kinds_of(data: Any) -> set[str]:
    """The kinds of files that paths and patterns stand for, by the end of their names."""
    several = data if isinstance(data, list | tuple) else [data]
    return {KINDS.get(Path(one).suffix.lower(), "") for one in several}


def found_paths(data: Any, name: str) -> list[Path]:
    """The files that paths and patterns stand for, those of a pattern in alphabetical order.

    Raises
    ------
    FileNotFoundError
        For what does not exist.
    ValueError
        For files of other kinds than :data:`KINDS`, of several kinds, or a folder.
    """
    found: list[Path] = []
    for one in data if isinstance(data, list | tuple) else [data]:
        text = str(one)
        paths = sorted(map(Path, glob(text, recursive=True))) if has_magic(text) else [Path(one)]
        if not paths or not paths[0].exists():
            raise FileNotFoundError(f"{name}: there is no file {text!r}")
        if paths[0].is_dir():
            raise ValueError(f"{name}: {text!r} is a folder; name its files, such as {str(paths[0] / '*.parquet')!r}")
        found += paths
    kinds = {path.suffix.lower() for path in found}
    if len(kinds) > 1 or not kinds <= set(KINDS):
        raise ValueError(f"{name} must be files of one kind of {listed(KINDS)}; found {listed(sorted(kinds))}")
    return found


def names_in(path: Path) -> tuple[str, ...] | None:
    """Names of the columns of a file; None where they have none."""
    kind = KINDS[path.suffix.lower()]
    if kind == "array":
        return None
    require_pyarrow(path)
    if kind == "parquet":
        from pyarrow.parquet import read_schema

        return tuple(read_schema(path).names)
    names = tuple(_open_csv(path, None, _HEAD).schema.names)
    if all(map(_is_number, names)):
        raise ValueError(f"{path} has numbers in its first row, which is to name the columns; give it such a row")
    return names


def pieces_in(path: Path, where: str, names: Sequence[str] | None, size: int) -> Iterator[Piece]:
    """The rows of a file in pieces; ``names`` are the columns to read, in this order.

    Raises
    ------
    TypeError
        For columns that are no numbers.
    ValueError
        For columns that are not there.
    """
    kind = KINDS[path.suffix.lower()]
    if kind == "array":
        rows = len(np.atleast_1d(np.load(path, mmap_mode="r", allow_pickle=False)))
        step = size * _TIMES
        for start in range(0, rows, step):
            yield OfArray(where, path, start, min(step, rows - start))
        return
    assert names is not None
    there = names_in(path) or ()
    if lacking := [name for name in names if name not in there]:
        raise ValueError(f"{path} has no column {listed(lacking)}; it has {listed(there)}")
    if kind == "csv":
        yield OfCsv(where, path, tuple(names))
    else:
        yield from _groups(path, where, tuple(names))


@dataclass(frozen=True, eq=False)
class OfArray(Piece):
    """Some rows of a .npy file."""

    where: str
    path: Path
    first: int
    rows: int

    def read(self, size: int) -> Iterator[np.ndarray]:
        values = np.atleast_1d(np.load(self.path, mmap_mode="r", allow_pickle=False))
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

    def read(self, size: int) -> Iterator[np.ndarray]:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(self.path) as file:
            wanted = {"columns": list(self.names), "row_groups": [self.group], "use_threads": False}
            for table in file.iter_batches(batch_size=size, **wanted):
                yield numbers_of(table, self.names)


@dataclass(frozen=True, eq=False)
class OfCsv(Piece):
    """A CSV file; its cells must be numbers, which is a ValueError otherwise."""

    where: str
    path: Path
    names: tuple[str, ...]
    first: int = 0
    rows: int | None = None

    def read(self, size: int) -> Iterator[np.ndarray]:
        import pyarrow

        try:
            for table in _open_csv(self.path, self.names, max(2**16, _BYTES * size)):
                yield numbers_of(table, self.names)
        except pyarrow.ArrowInvalid as error:
            raise ValueError(
                f"{self.path} must hold numbers ({error}); batches are read as numbers only: leave other columns out "
                "with Batches(..., columns=[...])"
            ) from None


def require_numbers(schema: Any, names: Sequence[str], where: str) -> None:
    """Raise TypeError for columns of an Arrow schema that are no numbers."""
    import pyarrow.types as types

    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise TypeError(
                f"{where}, column {name!r}, must hold numbers, found {kind}: batches are read as numbers only; "
                "leave it out with Batches(..., columns=[...]), or encode it"
            )


def numbers_of(table: Any, names: Sequence[str]) -> np.ndarray:
    """Columns of an Arrow table or batch (k, d) as float64, with NaN for what is missing."""
    return np.column_stack([_numbers(table.column(name)) for name in names])


def _groups(path: Path, where: str, names: tuple[str, ...]) -> Iterator[Piece]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        require_numbers(file.schema_arrow, names, str(path))
        first = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            yield OfParquet(where, path, first, rows, names, group)
            first += rows


def _open_csv(path: Path, names: Sequence[str] | None, block: int) -> Any:
    """A reader of batches; without names, whatever types the columns have."""
    import pyarrow
    from pyarrow import csv

    reading = csv.ReadOptions(block_size=block)
    if names is None:
        return csv.open_csv(path, read_options=reading)
    kinds = dict.fromkeys(names, pyarrow.float64())
    converting = csv.ConvertOptions(column_types=kinds, include_columns=names)
    return csv.open_csv(path, read_options=reading, convert_options=converting)


def _numbers(column: Any) -> np.ndarray:
    """A column of Arrow as float64, with NaN for what is missing."""
    import pyarrow

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
