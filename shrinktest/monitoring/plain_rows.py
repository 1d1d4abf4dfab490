"""Plain rows: entries of pandas tables and dicts that need no interpretation, read fast."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import EXACT, Array, loaded_pandas
from shrinktest.data.column import level_name

if TYPE_CHECKING:
    import pandas as pd

    from shrinktest.monitoring.layout import Layout


def of_frame(x: Any, layout: Layout) -> Array | None:
    """Return the numbers (n, d) of a table of pandas with the columns of a layout.

    Numbers and booleans must have dtypes of numpy, and levels must be text.  None stands for any
    other table, also for those that the general reader refuses.
    """
    pandas = loaded_pandas()
    if pandas is None or type(x) is not pandas.DataFrame or not layout.named or not len(x):
        return None
    labels = x.columns.tolist()
    if len({*labels}) < len(labels) or not _has_names(labels, layout):
        return None
    if len(x) == 1:
        row = of_mapping(dict(zip(labels, x.to_numpy()[0].tolist(), strict=True)), layout)
        if row is not None:
            return row
    columns = []
    for name, kind, levels in zip(layout.names, layout.kinds, layout.levels, strict=True):
        column = _of_series(x[name], kind, levels)
        if column is None:
            return None
        columns.append(column)
    return np.stack(columns, axis=1)


def _of_series(series: pd.Series, kind: str, levels: tuple[str, ...]) -> Array | None:
    """Return the numbers (n,) of a column; None if it has another type."""
    import pandas as pd

    dtype = series.dtype
    letter = dtype.kind if isinstance(dtype, np.dtype) else ""
    if kind in ("category", "ordered"):
        is_text = letter == "O" or isinstance(dtype, pd.StringDtype)
        return _of_texts(series.tolist(), kind, levels) if is_text else None
    if not letter or letter not in {"number": "fiu", "boolean": "b"}.get(kind, ""):
        return None
    numbers = series.to_numpy().astype(np.float64)
    limit = np.inf if letter == "f" else EXACT
    return None if (np.abs(numbers) >= limit).any() else numbers


def _of_texts(entries: Iterable[Any], kind: str, levels: tuple[str, ...]) -> Array | None:
    """Return the codes of texts, NaN if missing; None if there are other entries."""
    codes: dict[Any, float] = {}
    numbers = []
    for entry in entries:
        if type(entry) is str:
            if entry not in codes:
                codes[entry] = _code(level_name(entry), levels)
            numbers.append(codes[entry])
        elif entry is None or (type(entry) is float and entry != entry):
            numbers.append(np.nan)
        else:
            return None
    if kind == "ordered" and len(levels) in codes.values():
        return None
    return np.array(numbers)


def of_mapping(x: Mapping[Any, Any], layout: Layout) -> Array | None:
    """Return the numbers (1, d) of a row of plain values by name; None for other rows."""
    if not _has_names(x, layout):
        return None
    numbers = []
    for name, kind, levels in zip(layout.names, layout.kinds, layout.levels, strict=True):
        number = _of_value(x[name], kind, levels)
        if number is None:
            return None
        numbers.append(number)
    return np.array([numbers], dtype=np.float64)


def _of_value(value: Any, kind: str, levels: tuple[str, ...]) -> float | None:
    """Return the number of a value, NaN if missing; None if it has another type."""
    known = type(value)
    if kind not in ("number", "boolean", "category"):
        return None
    if value is None or (known is float and value != value):
        return np.nan
    if kind == "number":  # a float may have been an integer with more digits than it shows
        usable = known in (int, float, np.float64) and not abs(value) >= EXACT
        return float(value) if usable else None
    if known is bool or (kind == "category" and known in (str, int)):
        return _code(level_name(value), levels)
    return None


def _has_names(labels: Iterable[Any], layout: Layout) -> bool:
    """Return True for the columns of a layout, with or without those that it leaves out."""
    return {*labels} - {*layout.left_out} == {*layout.names}


def _code(level: str, levels: tuple[str, ...]) -> float:
    """Return the place of a level, after the last for a new one."""
    return float(levels.index(level) if level in levels else len(levels))
