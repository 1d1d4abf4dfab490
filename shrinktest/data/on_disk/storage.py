"""Storage: files, lazy tables and dask collections as chunks of rows for any worker.

A worker can read any chunk by itself.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._check import check_digits, listed
from shrinktest.data.delimited import Delimited
from shrinktest.data.on_disk.csv_files import frame_of_cells, kinds_in_text, text_at, whole_in_text

#: How files are read, by the end of their name.
KINDS = {".npy": "array", ".csv": "csv", ".parquet": "parquet"}


def is_paths(data: Any) -> bool:
    """Return True for a path or a list of paths."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(path, str | os.PathLike) for path in data)
    return isinstance(data, str | os.PathLike)


def is_dask(data: Any) -> bool:
    """Return True for an array or a data frame of dask."""
    return type(data).__module__.split(".")[0] == "dask" and hasattr(data, "to_delayed")


def is_polars(data: Any) -> bool:
    """Return True for a lazy frame of polars, which has a plan and no rows."""
    return type(data).__module__.split(".")[0] == "polars" and hasattr(data, "explain")


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows that any worker can read by itself."""

    where: str  # in messages
    source: Any  # the rows, a dask Delayed of them, or what ``read`` takes
    read: Callable[[Any], Iterator[Any]] | None = (
        None  # from the source to arrays or tables of some rows
    )
    first: int = 0  # number of the first row in its file, array or partition
    rows: int | None = None  # None if only reading tells
    delayed: bool = False

    def computed(self) -> Chunk:
        """Return the chunk in this process, where dask computes it."""
        return replace(self, source=self.source.compute(), delayed=False) if self.delayed else self

    def parts(self) -> Iterator[Any]:
        """Yield the rows in order, some at a time."""
        return iter([self.source]) if self.read is None else self.read(self.source)


# --- files ----------------------------------------------------------------------------------------


def paths_in(data: Any, name: str) -> list[Path]:
    """Return the files matching paths and patterns.

    The files of a pattern are in alphabetical order.
    """
    paths_found: list[Path] = []
    for path in data if isinstance(data, list | tuple) else [data]:
        text = str(path)
        pattern = (
            has_magic(text) and not Path(path).exists()
        )  # else it is a name with brackets in it
        paths = sorted(map(Path, glob(text, recursive=True))) if pattern else [Path(path)]
        if not paths or not paths[0].exists():
            raise FileNotFoundError(f"{name}: there is no file {text!r}")
        if paths[0].is_dir():
            raise ValueError(
                f"{name}: {text!r} is a folder; name its files, such as "
                f"{str(paths[0] / '*.parquet')!r}"
            )
        paths_found += paths
    kinds = {path.suffix.lower() for path in paths_found}
    if len(kinds) > 1 or not kinds <= set(KINDS):
        raise ValueError(
            f"{name} must be files of one kind of {listed(KINDS)}; found {listed(sorted(kinds))}"
        )
    return paths_found


def names_in(path: Path) -> tuple[str, ...] | None:
    """Return the names of the columns of a file; None if they have none."""
    kind = KINDS[path.suffix.lower()]
    if kind == "csv":
        return text_at(path).names
    if kind == "array":
        return None
    schema = schema_of_file(path)
    index = (schema.pandas_metadata or {}).get(
        "index_columns", []
    )  # of a table that was saved with it
    return tuple(name for name in schema.names if name not in index)


def file_chunks(
    path: Path,
    where: str,
    names: tuple[str, ...] | None,
    size: int,
    types: Mapping[str, Any] | None,
) -> Iterator[Chunk]:
    """Yield the rows of a file.

    ``names`` are the columns to read, in this order, and ``types`` makes them tables.
    """
    kind = KINDS[path.suffix.lower()]
    if kind == "array":
        rows = len(_mapped(path))
        for first in range(0, rows, size):
            stop = min(first + size, rows)
            yield Chunk(
                where, path, partial(_array_rows, first=first, stop=stop), first, stop - first
            )
        return
    assert names is not None
    if lacking := [name for name in names if name not in (names_in(path) or ())]:
        raise ValueError(f"{path} has no column {listed(lacking)}")
    if kind == "csv":
        text = text_at(path)
        kinds = kinds_in_text(path, size, names, types or {})
        read = partial(_csv_rows, text=text, kinds=kinds, where=where if types is None else None)
        first = 0
        for part in text.parts(size):
            yield Chunk(where, part[list(kinds)], read, first, len(part))
            first += len(part)
        return
    from pyarrow.parquet import ParquetFile

    first = 0
    tables = types is not None
    with _called(path), ParquetFile(path) as file:
        rows_of_groups = [
            file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)
        ]
    for group, rows in enumerate(rows_of_groups):
        read = partial(
            _parquet_rows, names=names, group=group, size=size, where=where if not tables else None
        )
        yield Chunk(where, path, read, first, rows)
        first += rows


def _array_rows(path: Path, first: int, stop: int) -> Iterator[np.ndarray]:
    yield _mapped(path)[first:stop]


def _csv_rows(
    cells: Any, text: Delimited, kinds: Mapping[str, str], where: str | None
) -> Iterator[Any]:
    frame = frame_of_cells(text, cells, kinds)
    if where is not None:
        for name in frame:
            check_digits(
                frame[name].dropna().to_numpy(), f"{where.rstrip(',')}, column {name!r},", name
            )
    yield frame if where is None else frame.to_numpy(float, na_value=np.nan)


def _parquet_rows(
    path: Path, names: tuple[str, ...], group: int, size: int, where: str | None
) -> Iterator[Any]:
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile

    with _called(path), ParquetFile(path) as file:
        for batch in file.iter_batches(
            size, row_groups=[group], columns=list(names), use_threads=False
        ):
            yield (
                Table.from_batches([batch]).select(names)
                if where is None
                else _numbers_of(batch, names, where)
            )


def _mapped(path: Path) -> np.ndarray:
    with _called(path):
        return np.atleast_1d(np.load(path, mmap_mode="r", allow_pickle=False))


@contextmanager
def _called(path: Path) -> Iterator[None]:
    """Name the file in errors of whoever reads it."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError) as error:
        if str(path) in str(error):
            raise
        reason = str(error).rstrip(".")
        raise ValueError(
            f"{path} cannot be read ({reason}); is the file complete, and does its extension "
            "match its format?"
        ) from None


# --- Arrow, lazy tables and dask ------------------------------------------------------------------


def schema_of_file(path: Path) -> Any:
    """Return names and types of the columns of a Parquet file, as Arrow has them."""
    require_pyarrow(path)
    from pyarrow.parquet import read_schema

    with _called(path):
        return read_schema(path)


def require_pyarrow(what: Any) -> None:
    """Raise ImportError that says how to get pyarrow, without which ``what`` cannot be read."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(
            f"reading {what} in batches requires pyarrow: pip install 'shrinktest[files]'"
        ) from None


def whole_in_file(path: Path, names: Sequence[str], size: int) -> dict[str, bool | None]:
    """Return, by name, True for integer columns, False for other numbers, None for others."""
    if KINDS[path.suffix.lower()] == "csv":
        return whole_in_text(path, size, names)
    return whole_columns(schema_of_file(path), names)


def whole_columns(schema: Any, names: Sequence[str]) -> dict[str, bool | None]:
    """Return, by name, True for integer columns, False for other numbers, None for others."""
    import pyarrow.types as types

    number_types = types.is_integer, types.is_floating, types.is_null
    kinds = {name: schema.field(name).type for name in names if name in schema.names}
    numbers = {name for name, kind in kinds.items() if any(is_it(kind) for is_it in number_types)}
    return {
        name: types.is_integer(kind) if name in numbers else None for name, kind in kinds.items()
    }


def _numbers_of(batch: Any, names: Sequence[str], where: str) -> np.ndarray:
    """Return columns of an Arrow table (k, d) as float64, with NaN for what is missing."""
    import pyarrow

    values = np.empty((len(batch), len(names)))
    for j, name in enumerate(names):
        column = batch.column(name)
        if pyarrow.types.is_integer(column.type) and column.type.bit_width == 64:
            check_digits(
                np.asarray(column.drop_null()), f"{where.rstrip(',')}, column {name!r},", name
            )
        values[:, j] = np.asarray(column.cast(pyarrow.float64(), safe=False))
    return values


def lazy_schema(data: Any, name: str, names: Sequence[str]) -> Any:
    """Return names and types of the columns of a lazy table, as Arrow has them."""
    if not is_polars(data):
        return data.schema
    require_pyarrow(f"a lazy frame ({name})")
    return data.select(names).clear().collect().to_arrow().schema


def lazy_parts(
    data: Any, name: str, names: tuple[str, ...], size: int, *, tables: bool
) -> Iterator[Any]:
    """Yield arrays or tables of exactly ``size`` rows, except for the last.

    Tables are of the same library; fixed sizes allow a stored run to go on.
    """
    concat: Any
    if is_polars(data):
        parts = data.select(names).collect_batches(chunk_size=size, maintain_order=True, lazy=True)
        concat = partial(reduce, lambda some, more: some.vstack(more))
    else:
        import pyarrow

        read = data.to_batches(
            columns=list(names), batch_size=size, batch_readahead=2, fragment_readahead=1
        )
        concat = pyarrow.concat_tables
        parts = (pyarrow.Table.from_batches([part]) for part in read)
    held: list[Any] = []
    for part in itertools.chain(parts, [None]):
        held += [] if part is None else [part]
        while (rows := sum(map(len, held))) >= size or (part is None and rows):
            whole = concat(held)
            some = whole[:size]
            held = [whole[size:]]
            yield (
                some
                if tables
                else _numbers_of(some.to_arrow() if is_polars(data) else some, names, name)
            )


def partitions(data: Any, name: str, names: tuple[str, ...] | None) -> Iterator[Chunk]:
    """Yield the partitions of an array or a data frame of dask, in order."""
    if names is not None:
        labels = {str(label): label for label in data.columns}
        parts = data[[labels[column] for column in names]].to_delayed()
        rows = [math.nan] * data.npartitions
    else:
        if data.ndim not in (1, 2):
            raise ValueError(
                f"{name} must have two dimensions, rows and columns; found shape {data.shape}"
            )
        whole = data if data.ndim == 1 or len(data.chunks[1]) == 1 else data.rechunk({1: -1})
        parts = whole.to_delayed().ravel()
        rows = list(whole.chunks[0])
    for i, (value, n) in enumerate(zip(parts, rows, strict=True)):
        where = f"{name}, partition {i} (counting from 0),"
        yield Chunk(where, value, rows=None if math.isnan(n) else int(n), delayed=True)
