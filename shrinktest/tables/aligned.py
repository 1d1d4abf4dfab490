"""Whether there are rows to test, and whether those of several tables belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import counted, loaded_pandas
from shrinktest.tables.untestable import refuse_empty


def at_least_two_rows(
    number: int,
    name: str,
    keep: NDArray[np.bool_],
    others: str = "with missing values",
    missing: Mapping[tuple[str, str], NDArray[np.bool_]] | None = None,
) -> None:
    """Raise ValueError for fewer rows than a test needs, of those that are to ``keep``; what ``others`` are dropped.

    ``missing`` has, for the name of a table and the label of a column, which values are missing.  A column without two
    values is named, with an Untestable error.
    """
    if number >= 2:
        return
    named = missing or {}
    if len(keep) >= 2:
        refuse_empty([(*key, int((~gaps).sum())) for key, gaps in named.items()], number)
    dropped = len(keep) - number
    are = "is" if dropped == 1 else "are"
    why = f" once the {counted(dropped, 'row')} {others} {are} dropped" if dropped else ""
    holes = [f"{label} ({int(gaps.sum())})" for (_, label), gaps in named.items() if gaps.any()]
    why += f", missing in {', '.join(holes)}" if dropped and holes else ""
    raise ValueError(f"{name} has {counted(number, 'row')}{why}; a test needs at least 2 (one per observation)")


def check_pairs(
    samples: Sequence[Any],
    names: Sequence[str],
    sizes: tuple[int, ...],
    complete: list[NDArray[np.bool_]],
    omit: bool,
    missing: Mapping[tuple[str, str], NDArray[np.bool_]],
) -> None:
    """Raise where row i of all samples cannot belong together, or fewer than two such rows are left.

    ``missing`` is as for :func:`at_least_two_rows`, of pairs.
    """
    for size, name in zip(sizes, names, strict=True):
        at_least_two_rows(size, name, np.ones(size, dtype=bool))
    for sample, size, name in zip(samples[1:], sizes[1:], names[1:], strict=True):
        if sizes[0] != size:
            raise ValueError(
                f"paired=True needs as many rows in {names[0]} as in {name}, row i of each a pair; found {sizes[0]}, "
                f"{size}"
            )
        check_same_index(samples[0], sample, names[0], name)
    if omit:
        every = np.logical_and.reduce(complete)
        at_least_two_rows(int(every.sum()), " and ".join(names), every, missing=missing)


def check_same_index(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Raise ValueError if two pandas objects of equal length, whose rows belong together, have different row labels."""
    pandas = loaded_pandas()
    if pandas is None or not all(isinstance(x, pandas.DataFrame | pandas.Series) for x in (first, second)):
        return
    a, b = first.index, second.index
    if len(a) == len(b) and not a.equals(b):
        row = next((i for i, (label, other) in enumerate(zip(a, b, strict=True)) if label != other), 0)
        same = a.is_unique and set(a) == set(b)
        align = f"reorder: {second_name}.loc[" if same else f"to match them by position: {second_name}.set_axis("
        raise ValueError(
            f"{first_name} and {second_name} have different row labels (row {row}: {a[row]} and {b[row]}); "
            f"{align}{first_name}.index{']' if same else ')'}"
        )
