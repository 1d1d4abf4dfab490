"""Gaps: what rows remember where something else stands in place of missing values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-13  # of the largest value

Gone = list[NDArray[np.bool_]]


def absent_in(parts: Sequence[np.ndarray], beside: np.ndarray) -> Gone | None:
    """Where something stands in place of missing values of parts (n_i, d); None where nothing does.

    ``beside`` (d,) is for every column the one that says, by 0 and a number above it, where values are missing; -1
    where none does.  Nothing is known where something was taken off these columns.

    Examples
    --------
    >>> absent_in([np.array([[1.5, 0.0], [2.0, 0.7]])], np.array([1, -1]))[0].tolist()
    [[False, False], [True, False]]
    """
    columns = np.flatnonzero(beside >= 0)
    said = np.vstack([part[:, beside[columns]] for part in parts])
    if not said.any() or not ((said == 0.0) | (said == said.max(axis=0))).all():
        return None
    found = [np.zeros(part.shape, dtype=bool) for part in parts]
    for gone, part in zip(found, parts, strict=True):
        gone[:, columns] = part[:, beside[columns]] > 0.0
    return found


def as_read(
    parts: Sequence[np.ndarray], absent: Gone | None, apart: Sequence[np.ndarray] | None
) -> Sequence[np.ndarray]:
    """The rows as they were read: NaN where values were missing, in rows that were left out as well.

    ``absent`` is where something else stands in place of missing values, and ``apart`` how far each row was from the
    next, (n_i - 1,).

    Examples
    --------
    >>> as_read([np.array([[1.0], [2.0], [5.0]])], None, [np.array([1, 3])])[0].ravel().tolist()
    [1.0, 2.0, nan, nan, 5.0]
    """
    if absent is not None:
        parts = [np.where(gone, np.nan, part) for part, gone in zip(parts, absent, strict=True)]
    if apart is None:
        return parts
    found = []
    for part, steps in zip(parts, apart, strict=True):
        places = np.concatenate([[0], np.cumsum(steps)])[: len(part)]
        whole = np.full((int(places[-1]) + 1 if len(part) else 0, part.shape[1]), np.nan)
        whole[places] = part
        found.append(whole)
    return found


def of_those_there(
    parts: Sequence[np.ndarray], absent: Sequence[NDArray[np.bool_]], together: np.ndarray, *, spread: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Correlations with the next row from pairs of rows that are both there, and how many these are.

    Both are 0 for columns without gaps.  Every part has a mean of its own.  ``together`` (d,) numbers what columns are
    looked at together, of which each has one correlation; ``spread`` asks for that of how far values are from their
    mean.
    """
    same, next_one, rows, pairs = np.zeros((4, len(together)))
    for part, gone in zip(parts, absent, strict=True):
        if len(part) <= 2:
            continue
        here, z = ~gone, _centred(part, ~gone)
        if spread:
            z = _centred(np.abs(z), here)
        same, next_one = same + (z**2).sum(axis=0), next_one + (z[1:] * z[:-1]).sum(axis=0)
        rows, pairs = rows + here.sum(axis=0), pairs + (here[1:] & here[:-1]).sum(axis=0)
    gaps = np.any([gone.any(axis=0) for gone in absent], axis=0)
    there, count = gaps & (pairs > 0.0) & (same > rows * _ROUNDING**2), int(together.max()) + 1
    labels, most = together[there], np.zeros(count)
    whole, after = (
        np.bincount(labels, one, minlength=count) for one in (same[there] / rows[there], next_one[there] / pairs[there])
    )
    np.maximum.at(most, labels, pairs[there])
    return np.divide(after, whole, out=np.zeros(count), where=whole > 0.0), most


def _centred(z: np.ndarray, here: NDArray[np.bool_]) -> np.ndarray:
    """Columns less the mean of what is here; 0 elsewhere."""
    mean = z.sum(axis=0, where=here) / np.maximum(here.sum(axis=0), 1)
    return np.where(here, z - mean, 0.0)
