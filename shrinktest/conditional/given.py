"""Given: the variables that a test takes as given, as users give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import counted, tensors_to_numpy
from shrinktest._read import Variables
from shrinktest.tables.encoding import Encoding
from shrinktest.tables.objects import from_objects
from shrinktest.tables.observed import Observed
from shrinktest.tables.reading import Table, is_table

_TEXT = "OUSb"  # kinds of arrays of labels
#: Kinds of columns of which rows can have the same value.
_LEVELS = ("boolean", "category", "ordered")


def with_labels(given: Any, name: str) -> Any:
    """Arrays and lists of text, or of True and False, as tables; anything else as it is."""
    if is_table(given):
        return given
    try:
        values = np.asarray(tensors_to_numpy(given, name))
    except ValueError:  # lists of different lengths, which are refused where numbers are read
        return given
    if values.dtype.kind not in _TEXT or values.ndim not in (1, 2) or not values.size:
        return given
    columns = values[:, None] if values.ndim == 1 else values
    found = (from_objects(str(j), columns[:, j].tolist(), f"{name}, column {j},") for j in range(columns.shape[1]))
    return Table(tuple(found), named=False)


def all_labels(encoding: Encoding | None) -> bool:
    """Whether every column has levels, which rows share, and not numbers."""
    return encoding is not None and all(code.kind in _LEVELS for code in encoding.codes)


def values_of(z: np.ndarray) -> np.ndarray:
    """A code (n,) of the values that the rows (n, d) have."""
    return np.asarray(np.unique(z, axis=0, return_inverse=True)[1]).reshape(-1)


def refuse_tested(tested: Sequence[Observed], given: Observed, argument: str) -> None:
    """Raise ValueError if a column of what is given has the same values as one that is tested.

    Names do not matter: the same column of the row before is another variable.
    """
    values = {column.digest() for one in tested for column in one.as_columns()} - {None}
    for place, column in enumerate(given.as_columns()):
        if column.digest() in values:
            shown = repr(column.name) if given.shown else place
            raise ValueError(f"column {shown} of {argument}= is also tested; leave it out of one of the two")


def crossed(codes: np.ndarray, others: np.ndarray | None) -> np.ndarray:
    """Codes (n,) of the rows that agree in both."""
    return codes if others is None else values_of(np.column_stack([codes, others]))


def refuse_cut(groups: np.ndarray | None, codes: np.ndarray, argument: str) -> None:
    """Raise ValueError for groups with rows in several strata."""
    if groups is not None and len(np.unique(np.column_stack([codes, groups]), axis=0)) > len(np.unique(groups)):
        raise ValueError(
            f"groups: some groups have rows with different values of {argument}, so that they cannot move as a whole; "
            f"leave out groups= or {argument}="
        )


def enough_alike(codes: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """The rows whose stratum has another row, and a note on those without.

    Raises ValueError if every row is alone in its stratum.
    """
    kept = np.bincount(codes)[codes] > 1
    if not kept.any():
        raise ValueError(
            f"given: each of {counted(len(codes), 'row')} has a value of its own, so that there is nothing to "
            "permute; use fewer and larger strata, or given_method='residuals' for numbers"
        )
    if kept.all():
        return kept, ()
    alone = int((~kept).sum())
    return kept, (
        f"{alone} of {counted(len(codes), 'row')} {'has' if alone == 1 else 'have'} a value of given that no "
        f"other row has, and {'is' if alone == 1 else 'are'} left out.",
    )


def refuse_indicated(encoding: Encoding | None, z: np.ndarray, argument: str, *, tested: bool = False) -> None:
    """Raise ValueError where an indicator stands for missing values of what is given.

    Rows in which it is missing have different values, through which X and Y, or the samples, still depend on each
    other: as one stratum, or by a regression on the indicator, they would give false alarms.

    ``encoding`` says how the columns of what is given became the numbers ``z`` (n, d), which the message calls
    ``argument``.  With ``tested`` its columns are tested as well.
    """
    if encoding is None:
        return
    columns, rows = [], np.zeros(len(z), dtype=bool)
    for j, (code, group) in enumerate(zip(encoding.codes, encoding.groups, strict=True)):
        missing = z[:, group][:, -1] != 0.0  # the indicator is the last
        if code.indicated and missing.any():
            rows |= missing
            columns.append(f"column {repr(code.name) if encoding.named else j} ({int(missing.sum())})")
    if columns:
        keep = "" if tested else ", or leave these rows out yourself and keep 'indicator' for what is tested"
        count = int(rows.sum())
        raise ValueError(
            f"{argument}: {counted(count, 'row')} {'misses' if count == 1 else 'miss'} a value, in "
            f"{', '.join(columns)}; with nan_policy='indicator' rows in which what is given is missing would be "
            f"compared as if they had one value; use nan_policy='omit'{keep}"
        )


def raw_of(given: Any, read: Variables, place: int) -> Any:
    """The rows that were kept as a model gets them: of tables as a table, of arrays as an array (n, d)."""
    from shrinktest.tables.rows import taken

    rows = np.flatnonzero(read.kept[place])
    if is_table(given):
        return taken(given, rows)
    values = np.asarray(tensors_to_numpy(given, "given"))
    if values.dtype.kind not in _TEXT:
        return read.values[place]
    return (values[:, None] if values.ndim == 1 else values)[rows]
