"""Plain arrays of numbers as samples or variables, without tables, labels and transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest._rounding import merged
from shrinktest.data.all_rows import AllRows
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.labels import note_on_labels
from shrinktest.data.scale import is_automatic
from shrinktest.data.variable import Variable
from shrinktest.permutations.design import PermutationDesign


def plain_arrays(
    given: Sequence[Any], nan_policy: str, options: Mapping[str, Any]
) -> list[Array] | None:
    """Return finite float64 arrays of two rows or more as (n, d).

    None for all else, which the other readers read.
    """
    if len(given) < 2 or not isinstance(nan_policy, str) or nan_policy != "raise":
        return None
    for name, value in options.items():
        if value is not None and not (name == "scale" and is_automatic(value)):
            return None
    arrays = []
    for array in given:
        plain = type(array) is np.ndarray and array.dtype == np.float64 and array.ndim in (1, 2)
        if not plain or len(array) < 2 or not array.size or not np.isfinite(array).all():
            return None
        arrays.append(np.ascontiguousarray(array.reshape(len(array), -1)))
    return arrays


def samples_of(arrays: Sequence[Array], names: Sequence[str], scale: Any) -> KeptRows:
    """Return plain arrays (n_i, d) as samples, in the units that are ``scale``."""
    sizes = tuple(map(len, arrays))
    points = merged(np.concatenate(arrays))
    variable = Variable(points, " and ".join(names), units_chosen=not is_automatic(scale))
    kept = tuple(np.ones(size, dtype=bool) for size in sizes)
    rows = AllRows(tuple(names), sizes, points)
    notes: tuple[str, ...] = ()
    if points.shape[1] == 1:
        notes = note_on_labels(np.split(points[:, 0], np.cumsum(sizes)[:-1]), names)
    return KeptRows((variable,), sizes, False, PermutationDesign(), kept, (rows,), notes)


def variables_of(arrays: Sequence[Array], names: Sequence[str], scale: Any) -> KeptRows:
    """Return plain arrays (n, d_v) as variables, in the units that are ``scale``."""
    size = len(arrays[0])
    chosen = not is_automatic(scale)
    variables = [
        Variable(merged(array.copy()), name, units_chosen=chosen)
        for array, name in zip(arrays, names, strict=True)
    ]
    return KeptRows(
        variables=tuple(variables),
        sizes=(size,),
        missing=False,
        restriction=PermutationDesign(),
        kept=(np.ones(size, dtype=bool),) * len(arrays),
        all_rows=tuple(AllRows((each.name,), (size,), each.points) for each in variables),
        called=(None,) * len(arrays),
    )
