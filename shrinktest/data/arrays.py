"""Plain arrays of numbers as samples or variables, without tables, labels and transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest._rounding import merged
from shrinktest.data.labels import note_on_labels
from shrinktest.data.observed import Observed, is_unasked
from shrinktest.data.samples import Samples, Variables
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
        if value is not None and not (name == "scale" and is_unasked(value)):
            return None
    arrays = []
    for array in given:
        plain = type(array) is np.ndarray and array.dtype == np.float64 and array.ndim in (1, 2)
        if not plain or len(array) < 2 or not array.size or not np.isfinite(array).all():
            return None
        arrays.append(np.ascontiguousarray(array.reshape(len(array), -1)))
    return arrays


def samples_of(arrays: Sequence[Array], names: Sequence[str]) -> Samples:
    """Return plain arrays (n_i, d) as samples."""
    sizes = tuple(map(len, arrays))
    points = merged(np.concatenate(arrays))
    values = np.split(points, np.cumsum(sizes)[:-1])
    return Samples(
        values=tuple(values),
        missing=False,
        restriction=PermutationDesign(),
        notes=note_on_labels([part[:, 0] for part in values], names)
        if points.shape[1] == 1
        else (),
        kept=tuple(np.ones(size, dtype=bool) for size in sizes),
        observed=(Observed(tuple(names), sizes, points),),
    )


def variables_of(arrays: Sequence[Array], names: Sequence[str]) -> Variables:
    """Return plain arrays (n, d_v) as variables."""
    size = len(arrays[0])
    nothing: tuple[None, ...] = (None,) * len(arrays)
    values = tuple(merged(array.copy()) for array in arrays)
    return Variables(
        values=values,
        missing=False,
        restriction=PermutationDesign(),
        scales=nothing,
        encodings=nothing,
        labels=nothing,
        kept=(np.ones(size, dtype=bool),) * len(arrays),
        observed=tuple(
            Observed((name,), (size,), points) for name, points in zip(names, values, strict=True)
        ),
        gaps=tuple(np.zeros((0, points.shape[1]), dtype=bool) for points in values),
        left_out=({},) * len(arrays),
    )
