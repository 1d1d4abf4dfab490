"""Whole: samples in batches that are so small that they can be tested as samples in memory are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import as_path
from shrinktest.batches.partitions import Partition
from shrinktest.batches.recognized import ends_as_files, is_paths
from shrinktest.batches.rows import Rows
from shrinktest.batches.source import Batches
from shrinktest.data.column import DROP, Table
from shrinktest.data.observed import checked_types
from shrinktest.data.tables import pooled


@dataclass(frozen=True, eq=False)
class Whole:
    """Samples as they are in memory."""

    samples: list[Any]  # arrays or tables; none where they would take too much
    # how many there are, or have been seen until then
    rows: int
    columns: int


def read_whole(
    samples: Sequence[Batches], names: Sequence[str], column_types: Mapping[str, Any] | None, most: float
) -> Whole:
    """All rows of samples in batches, as arrays or tables, where they take ``most`` bytes or less.

    Messages call the samples as ``names`` says; ``column_types`` are as users give them.
    """
    types = checked_types(column_types)
    known = [one.names(name) for one, name in zip(samples, names, strict=True)]
    columns = len(known[0] or (0,))
    ahead = sum(_counted(one, name, has) for one, name, has in zip(samples, names, known, strict=True))
    if 8.0 * ahead * columns > most:
        return Whole([], ahead, columns)
    found, taken, seen = [], 0, 0
    for one, name, has in zip(samples, names, known, strict=True):
        dropped = tuple(column for column in has or () if types.get(column) == DROP)
        kept = None if has is None else tuple(column for column in has if column not in dropped)
        if kept == ():
            raise ValueError(f"column_types drops every column of {name}; leave one to test")
        rows = Rows(one, name, kept, False, None if has is None else types)
        reader, parts = rows.reader, []
        for piece in rows.pieces():
            first = piece.first
            for given in [piece.value.compute()] if isinstance(piece, Partition) else piece.read(reader.size):
                size = 1 if isinstance(given, np.ndarray) and given.ndim == 0 else len(given)
                if not size:
                    continue
                parts.append(reader.read(given, piece.where, first))
                first += size
                seen += size
                taken += _bytes(parts[-1])
                columns = parts[-1].shape[1]
                if taken > most:
                    return Whole([], seen, columns)
        files = {part.source or "" for part in parts if isinstance(part, Table)} if is_paths(one.data) else set()
        file = files.pop().removeprefix(f"{name}, ") if len(files) == 1 else None
        found.append(_joined(parts, dropped, file))
    return Whole(found, seen, columns)


def read_if_file(data: Any, name: str, column_types: Mapping[str, Any] | None, most: float) -> Any:
    """The rows of a file, or of ``Batches``, as a table or an array; other data unchanged.

    Raises MemoryError if they take more than ``most`` bytes, and FileNotFoundError or ValueError for other paths.
    """
    if isinstance(data, str | os.PathLike):
        data = Batches(as_path(data, name))
    elif ends_as_files(data):
        data = Batches([as_path(path, name) for path in data])
    if not isinstance(data, Batches):
        return data
    known = data.names(name)
    types = {key: kind for key, kind in checked_types(column_types).items() if key in (known or ())}
    found = read_whole([data], [name], types, most)
    if not found.samples:
        raise MemoryError(
            f"{name} has {found.rows} rows or more, too many for max_memory; compare a random part of them, or use "
            "two_sample_test, which reads files in batches"
        )
    return found.samples[0]


def _counted(one: Batches, name: str, names: tuple[str, ...] | None) -> int:
    """How many rows there are, as far as that is known without reading them."""
    if not (one.there and one.counted):
        return 0
    return sum(piece.rows or 0 for piece in one.pieces(name, names, {}))


def _bytes(part: Any) -> int:
    """Of the values of an array or a table."""
    return sum(column.values.nbytes for column in part.columns) if isinstance(part, Table) else part.nbytes


def _joined(parts: list[Any], dropped: tuple[str, ...], file: str | None) -> Any:
    """Arrays, or tables, one after the other; messages call these by their file, if it is one."""
    if not parts or not isinstance(parts[0], Table):
        return np.concatenate(parts) if parts else np.empty((0, 1))
    sources = [part.source or "one table" for part in parts]
    columns = (pooled(several, sources) for several in zip(*(part.columns for part in parts), strict=True))
    return replace(parts[0], columns=tuple(columns), dropped=dropped, source=file)
