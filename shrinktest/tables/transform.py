"""What the argument ``transform`` does to the rows of one or several tables, without their labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from shrinktest._validate import counted
from shrinktest.tables.reading import is_table

_LARGEST = 2**31  # bytes of a sparse matrix that is made dense


def transformed(tables: Sequence[Any], transform: Any, names: Sequence[str]) -> list[Any]:
    """The tables after a transformation of all their rows together.

    Parameters
    ----------
    tables : sequence of array_like or data frames
    transform : object with ``fit_transform``, or callable
        Sees all rows, those of one table after those of the other, and nothing else; gives as many rows.
    names : sequence of str
        What messages call the tables.

    Raises
    ------
    TypeError, ValueError
        For a transformation that is no function, or changes the number of rows.
    """
    function = getattr(transform, "fit_transform", transform)
    if not callable(function) or isinstance(transform, type):
        made = " (an object, not a class: write it with parentheses)" if isinstance(transform, type) else ""
        raise TypeError(
            f"transform must be a scikit-learn transformer{made} or a function of the pooled rows; got {transform!r}"
        )
    sizes = [len(table) for table in tables]
    found = function(_stacked(tables, names))
    if hasattr(found, "toarray"):
        size = 8.0 * np.prod(found.shape)
        if size > _LARGEST:
            raise MemoryError(
                f"transform gives a sparse matrix of shape {found.shape}, {size / 1e9:.3g} GB when it is dense; reduce "
                "its columns (such as with sklearn.decomposition.TruncatedSVD)"
            )
        found = found.toarray()
    if not hasattr(found, "__len__") or len(found) != sum(sizes):
        rows = counted(len(found), "row") if hasattr(found, "__len__") else repr(found)
        raise ValueError(f"transform must give as many rows as it gets, {sum(sizes)}; it gave {rows}")
    ends = np.cumsum([0, *sizes]).tolist()
    return [found[start:end] for start, end in pairwise(ends)]


def _stacked(tables: Sequence[Any], names: Sequence[str]) -> Any:
    """All rows, as a table of the library that they come from, or as an array."""
    if len(tables) == 1:
        return tables[0]
    if not all(map(is_table, tables)):
        return np.concatenate([np.asarray(table) for table in tables])
    import narwhals as nw

    frames = [nw.from_native(table, eager_only=True, allow_series=True) for table in tables]
    series = isinstance(frames[0], nw.Series)
    if series:
        frames = [one.alias("0").to_frame() for one in frames]
    first = frames[0].columns
    for frame, name in zip(frames, names, strict=True):
        if sorted(frame.columns) != sorted(first):
            raise ValueError(f"{names[0]} and {name} have different columns; select the same before the transform")
    try:
        whole = nw.concat([frame.select(first) for frame in frames], how="vertical")
        return nw.to_native(whole["0"] if series else whole)
    except Exception as error:  # the libraries have errors of their own for columns of different types
        raise TypeError(f"{' and '.join(names)} cannot be put below each other for the transform: {error}") from None
