"""Lazy tables: frames of polars and datasets of pyarrow, which make their rows some at a time, as they are asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from shrinktest.batches.files import numbers_of, require_numbers, require_pyarrow
from shrinktest.batches.recognized import is_lazy_frame


def columns_of(data: Any) -> tuple[str, ...]:
    """Names of all columns."""
    return tuple(data.collect_schema().names() if is_lazy_frame(data) else data.schema.names)


def arrays_of(data: Any, name: str, names: tuple[str, ...], size: int) -> Iterator[np.ndarray]:
    """The rows in order as arrays (k, d) of exactly ``size`` rows, but for the last.

    Of one size, so that a run that goes on from a store finds its pieces again, however the table is cut.

    Parameters
    ----------
    data : polars.LazyFrame or pyarrow.dataset.Dataset
    name : str
        What messages call the sample.
    names : tuple of str
        The columns, in the order in which they are wanted.
    size : int

    Raises
    ------
    TypeError
        For columns that are no numbers.
    """
    if is_lazy_frame(data):
        require_pyarrow(f"a lazy frame ({name})")
        chosen = data.select(names)
        require_numbers(chosen.clear().collect().to_arrow().schema, names, name)
        tables = (one.to_arrow() for one in _collected(chosen, size))
    else:
        require_numbers(data.schema, names, name)
        ahead = {"batch_readahead": 2, "fragment_readahead": 1}
        tables = data.to_batches(columns=list(names), batch_size=size, **ahead)
    held: list[np.ndarray] = []
    rows = 0
    for table in tables:
        values = numbers_of(table, names)
        while len(values):
            held.append(values[: size - rows])
            rows += len(held[-1])
            values = values[len(held[-1]) :]
            if rows == size:
                yield np.concatenate(held)
                held, rows = [], 0
    if held:
        yield np.concatenate(held)


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
