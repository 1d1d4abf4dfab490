"""Lazy tables: frames of polars and datasets of pyarrow, which make their rows some at a time, as they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import count
from typing import Any

import numpy as np

from shrinktest.batches.files import numbers_of, require_numbers, require_pyarrow, whole_in
from shrinktest.batches.recognized import is_lazy_frame

_DIGITS = 38  # of the decimals of polars


def columns_of(data: Any) -> tuple[str, ...]:
    """Names of all columns."""
    return tuple(data.collect_schema().names() if is_lazy_frame(data) else data.schema.names)


def whole_numbers(data: Any, name: str, names: tuple[str, ...]) -> Mapping[str, bool] | None:
    """Whether columns are whole numbers by their type; None where one holds something else than numbers."""
    return whole_in(_schema(data, name, names), names)


def parts_of(data: Any, name: str, names: tuple[str, ...], size: int, *, tables: bool = False) -> Iterator[Any]:
    """The rows in order as arrays (k, d), or as tables of the same library, of exactly ``size`` rows but for the last.

    Of one size, so that a run that goes on from a store finds its pieces again, however the table is cut.  ``data`` is
    a lazy frame of polars or a dataset of pyarrow, which messages call ``name``; ``names`` are the columns, in the
    order in which they are wanted.  As ``tables`` they may hold what they like.  Raises TypeError for columns that are
    no numbers, in arrays, and for decimals that polars cannot read.
    """
    if is_lazy_frame(data):
        _require_digits(data, name, names)
    if not tables:
        require_numbers(_schema(data, name, names), names, name)
    if is_lazy_frame(data):
        found = _collected(data.select(names), size)
    else:
        ahead = {"batch_readahead": 2, "fragment_readahead": 1}
        found = data.to_batches(columns=list(names), batch_size=size, **ahead)
    held: list[Any] = []
    rows = 0
    for some in found:
        values = some if tables else numbers_of(some.to_arrow() if is_lazy_frame(data) else some, names, name)
        while len(values):
            held.append(values[: size - rows])
            rows += len(held[-1])
            values = values[len(held[-1]) :]
            if rows == size:
                yield _joined(held)
                held, rows = [], 0
    if held:
        yield _joined(held)


def _require_digits(frame: Any, where: str, names: tuple[str, ...]) -> None:
    """Raise TypeError for decimals of more digits than polars has, on which it fails while it reads."""
    schema = frame.collect_schema()
    for name in names:
        digits = getattr(schema.get(name), "precision", None) or 0
        if digits > _DIGITS:
            raise TypeError(
                f"{where}, column {name!r}, holds decimals of {digits} digits, and polars reads {_DIGITS} at most; "
                "write them with fewer, or as floating-point numbers, or leave the column out: "
                "Batches(..., columns=[...])"
            )


def _schema(data: Any, name: str, names: tuple[str, ...]) -> Any:
    """Names and types of columns as Arrow has them: of all of a dataset, of these of a lazy frame."""
    if not is_lazy_frame(data):
        return data.schema
    require_pyarrow(f"a lazy frame ({name})")
    _require_digits(data, name, names)
    return data.select(names).clear().collect().to_arrow().schema


def _joined(parts: list[Any]) -> Any:
    """Arrays, tables of polars or batches of pyarrow as one."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if hasattr(parts[0], "vstack"):
        return reduce(lambda one, other: one.vstack(other), parts)
    from pyarrow import Table

    return Table.from_batches(parts)


def _collected(frame: Any, size: int) -> Iterator[Any]:
    """A lazy frame some rows at a time; where polars cannot stop in between (before 1.34), slice after slice."""
    if hasattr(frame, "collect_batches"):
        yield from frame.collect_batches(chunk_size=size, maintain_order=True, lazy=True)
        return
    for first in count(0, size):
        some = frame.slice(first, size).collect()
        yield some
        if len(some) < size:
            return
