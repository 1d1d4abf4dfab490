"""Whether there are rows to test, and whether those of several tables belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._validate import counted, loaded_pandas
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


def check_same_index(X: Any, Y: Any, x: str, y: str) -> None:
    """Two tables whose labels differ were cut or sorted differently: their rows are not pairs."""
    pandas = loaded_pandas()
    if pandas is None or not all(isinstance(z, (pandas.DataFrame, pandas.Series)) for z in (X, Y)):
        return
    if not X.index.equals(Y.index):
        row = next((i for i, (a, b) in enumerate(zip(X.index, Y.index, strict=True)) if a != b), 0)
        same = X.index.is_unique and set(X.index) == set(Y.index)
        align = f"align them (such as {y}.loc[{x}.index]), or " if same else ""
        raise ValueError(
            f"{x} and {y} have different row labels (row {row} is {X.index[row]} in {x}, {Y.index[row]} in {y}), "
            f"so their rows would be mispaired; {align}give both without them, .reset_index(drop=True), to pair them "
            "by position"
        )
