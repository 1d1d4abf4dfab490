"""Samples in batches that fit in memory: they are read whole, as arrays or tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._check import as_path
from shrinktest.data.all_rows import checked_types
from shrinktest.data.column import DROP, Table
from shrinktest.data.on_disk.rows import Rows
from shrinktest.data.on_disk.sources import Batches, in_batches
from shrinktest.data.on_disk.storage import is_paths, paths_in
from shrinktest.data.tables import pooled


def read_whole(
    samples: Sequence[Batches],
    names: Sequence[str],
    column_types: Mapping[str, Any] | None,
    most: float,
) -> tuple[list[Any], int, int]:
    """Return samples as arrays or tables, their rows and their columns.

    There are no samples if these take more than ``most`` bytes, and rows are those that were seen
    until then.
    """
    types = checked_types(column_types)
    labels = [batches.names(name) for batches, name in zip(samples, names, strict=True)]
    columns = len(labels[0] or (0,))
    ahead = sum(_known_rows(*each, types) for each in zip(samples, names, labels, strict=True))
    if 8.0 * ahead * columns > most:
        return [], ahead, columns
    tables: list[Any] = []
    size = seen = 0
    for batches, name, own in zip(samples, names, labels, strict=True):
        dropped = [label for label in own or () if types.get(label) == DROP]
        read = None if own is None else [label for label in own if label not in dropped]
        if read == []:
            raise ValueError(f"column_types drops every column of {name}; keep one to test")
        rows = Rows.of(batches, name, read, False, None if own is None else types)
        parts = []
        for chunk in rows.chunks():
            for _, _, part in rows.reader.parts(chunk.computed()):
                parts.append(part)
                columns = part.shape[1]
                seen += len(part)
                size += (
                    sum(each.values.nbytes for each in part.columns)
                    if isinstance(part, Table)
                    else part.nbytes
                )
                if size > most:
                    return [], seen, columns
        tables.append(_joined(parts, tuple(dropped), name if is_paths(batches.data) else None))
    return tables, seen, columns


def read_if_file(data: Any, name: str, column_types: Mapping[str, Any] | None, most: float) -> Any:
    """Return the rows of a file, a lazy table or ``Batches``, as a table or an array.

    Other data unchanged.
    """
    if isinstance(data, str | Path):
        data = Batches(as_path(data, name))
    elif is_paths(data) and in_batches(data):
        data = Batches([as_path(path, name) for path in data])
    elif in_batches(data) and not isinstance(data, Batches):
        data = Batches(data)
    if not isinstance(data, Batches):
        return data
    known = data.names(name) or ()
    types = {key: kind for key, kind in checked_types(column_types).items() if key in known}
    tables, rows, _ = read_whole([data], [name], types, most)
    if not tables:
        raise MemoryError(
            f"{name} has {rows} rows or more, too many for max_memory; use a random subset, or "
            "two_sample_test"
        )
    return tables[0]


def _known_rows(
    batches: Batches, name: str, names: tuple[str, ...] | None, types: Mapping[str, Any]
) -> int:
    """Return how many rows there are, as far as that is known without reading them."""
    if is_paths(batches.data):
        is_text = paths_in(batches.data, name)[0].suffix.lower() == ".csv"
        if is_text:
            return 0
    elif not isinstance(batches.data, np.ndarray | list | tuple):
        return 0
    return sum(chunk.rows or 0 for chunk in batches.chunks(name, names, types))


def _joined(parts: list[Any], dropped: tuple[str, ...], name: str | None) -> Any:
    """Join arrays, or tables, which messages call by their file if it is one."""
    if not parts or not isinstance(parts[0], Table):
        return np.concatenate(parts) if parts else np.empty((0, 1))
    sources = [part.source or "one table" for part in parts]
    file = (
        sources[0].removeprefix(f"{name}, ") if name is not None and len({*sources}) == 1 else None
    )
    columns = (
        pooled(several, sources) for several in zip(*(part.columns for part in parts), strict=True)
    )
    return replace(parts[0], columns=tuple(columns), dropped=dropped, source=file)
