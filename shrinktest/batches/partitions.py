"""Partitions of dask collections: pieces that dask computes, where it likes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.batches.pieces import Piece


def has_names(data: Any) -> bool:
    """Whether this has columns with names: a data frame, and no array."""
    return hasattr(data, "columns")


@dataclass(frozen=True, eq=False)
class Partition(Piece):
    """A partition of a dask collection."""

    where: str
    rows: int | None
    value: Any  # a Delayed of dask
    first: int = 0  # 0: rows are counted within a partition

    def read(self, size: int) -> Iterator[Any]:
        raise TypeError(
            f"{self.where} is a partition of a dask collection, which dask reads: give workers=Client(...), or a number"
        )


def whole_numbers(data: Any, names: tuple[str, ...]) -> Mapping[str, bool] | None:
    """Whether columns of a data frame are whole numbers by their type; None where one holds something else."""
    kinds = {str(label): getattr(kind, "kind", "O") for label, kind in data.dtypes.items() if str(label) in names}
    return {one: kind in "iu" for one, kind in kinds.items()} if set(kinds.values()) <= set("iuf") else None


def first_rows(data: Any, names: tuple[str, ...], size: int) -> np.ndarray:
    """The first of the rows of a data frame, of its first partition at most; dask computes them."""
    part = next(partitions_of(data, "", names))
    assert isinstance(part, Partition)
    return np.asarray(part.value.head(size).compute(), dtype=np.float64)


def partitions_of(data: Any, name: str, names: tuple[str, ...] | None, *, tables: bool = False) -> Iterator[Piece]:
    """The partitions of an array or a data frame, in order; as ``tables`` its columns may hold what they like.

    Raises ValueError for an array with other than one or two dimensions, and TypeError for columns that are no numbers.
    """
    if names is not None:
        labels = {str(label): label for label in data.columns}
        for one in names:
            kind = data.dtypes[labels[one]]
            if not tables and getattr(kind, "kind", "O") not in "biuf":
                raise TypeError(
                    f"{name}, column {one!r}, must hold numbers, found {kind}: batches are read as numbers only; leave "
                    "it out with Batches(..., columns=[...]), or encode it"
                )
        parts, rows = data[[labels[one] for one in names]].to_delayed(), [math.nan] * data.npartitions
    else:
        if data.ndim not in (1, 2):
            raise ValueError(f"{name} must have two dimensions, rows and columns; found shape {data.shape}")
        whole = data if data.ndim == 1 or len(data.chunks[1]) == 1 else data.rechunk({1: -1})
        parts, rows = whole.to_delayed().ravel(), list(whole.chunks[0])
    for i, (value, n) in enumerate(zip(parts, rows, strict=True)):
        yield Partition(f"{name}, partition {i} (counting from 0),", None if math.isnan(n) else int(n), value)
