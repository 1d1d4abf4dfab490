"""What the argument ``transform`` does to the rows of one or several tables, without their labels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np

from shrinktest._check import check_signature, counted, loaded_pandas, refuse_sparse, tensors_to_numpy
from shrinktest.tables.rows import stacked

_LARGEST = 2**31  # bytes of a sparse matrix that is made dense


def _copied(table: Any) -> Any:
    try:
        return deepcopy(table)
    except TypeError:  # a view of memory, or of a file
        return np.array(table)


def transformed(tables: Sequence[Any], transform: Any, names: Sequence[str]) -> list[Any]:
    """The tables after a transformation of all their rows together.

    ``transform``, a function or an object with ``fit_transform``, sees all rows, those of one table after those of the
    other, and nothing else; it gives as many rows.  Messages call the tables as ``names`` says.  Raises TypeError or
    ValueError for one that is no function, or changes the number of rows.
    """
    function = getattr(transform, "fit_transform", transform)
    if not callable(function) or isinstance(transform, type):
        made = " (an object, not a class: write it with parentheses)" if isinstance(transform, type) else ""
        raise TypeError(
            f"transform must be a scikit-learn transformer{made} or a function of the pooled rows; got {transform!r}"
        )
    said = "transform must be a scikit-learn transformer or a function of the pooled rows (N, d)"
    check_signature(function, ("rows",), said)
    tables = [tensors_to_numpy(table, name) for table, name in zip(tables, names, strict=True)]
    for table, name in zip(tables, names, strict=True):
        refuse_sparse(table, name)
    sizes = [len(table) for table in tables]
    rows = _copied(tables[0]) if len(tables) == 1 else stacked(tables, names)  # the user's own are not written into
    found = tensors_to_numpy(function(rows), "what transform returns")
    if hasattr(found, "toarray"):
        size = 8.0 * np.prod(found.shape)
        if size > _LARGEST:
            raise MemoryError(
                f"transform gives a sparse matrix of shape {found.shape}, {size / 1e9:.3g} GB when it is dense; reduce "
                "its columns (such as with sklearn.decomposition.TruncatedSVD)"
            )
        found = found.toarray()
    if not hasattr(found, "__len__") or len(found) != sum(sizes):
        gave = counted(len(found), "row") if hasattr(found, "__len__") else repr(found)
        raise ValueError(f"transform must give as many rows as it gets, {sum(sizes)}; it gave {gave}")
    pandas = loaded_pandas()
    if (
        pandas is not None
        and all(isinstance(one, pandas.DataFrame | pandas.Series) for one in (rows, found))
        and not found.index.equals(rows.index)
        and not found.index.equals(pandas.RangeIndex(len(rows)))  # of a table that was made anew
        and rows.index.is_unique
        and found.index.isin(rows.index).all()
    ):
        raise ValueError(
            "transform must give the rows in the order in which it gets them; by their index it gave them in another, "
            "so that they would belong to other samples (if they are in order, return them without it: "
            ".reset_index(drop=True))"
        )
    ends = np.cumsum([0, *sizes]).tolist()
    return [found[start:end] for start, end in pairwise(ends)]
