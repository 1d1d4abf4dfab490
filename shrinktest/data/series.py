"""Reading of one series: rows in order of time, with times, blocks and what it remembers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from shrinktest._check import counted, listed, loaded_pandas
from shrinktest.data.all_rows import AllRows, Rows, at_least_two_rows, check_column_types, read_rows
from shrinktest.data.column import Column, Table
from shrinktest.data.labels import as_labels, columns_of_labels, label_codes
from shrinktest.data.read import check_nan_policy
from shrinktest.data.scale import ScaleOption
from shrinktest.data.tables import check_same_index, names_for, transformed
from shrinktest.data.variable import Variable
from shrinktest.notes import note
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import moved_in_time
from shrinktest.units import constant_columns

_EVEN = 1e-6  # relative difference of steps of one size
MIN_MOVES = 8  # steps in one direction that are not chance
FEWEST = 4  # rows of which the spread over all orders has a formula


@dataclass(frozen=True, eq=False)
class Series:
    """Rows in order of time, as numbers."""

    variable: Variable
    missing: bool  # whether values are missing, under nan_policy="propagate" only
    restriction: PermutationDesign  # which orders of the rows are allowed
    times: tuple[Any, ...]  # when the rows were observed, where that is known
    notes: tuple[str, ...]  # what was left out, and by what units


def read_series(
    X: Any,
    nan_policy: str,
    *,
    scale: Any = None,
    column_types: Any = None,
    transform: Any = None,
    blocks: Any = None,
    block_length: Any = None,
    times: Any = None,
) -> Series:
    """Read a series as users give it; raise TypeError or ValueError if it cannot be tested."""
    check_nan_policy(nan_policy)
    units = ScaleOption.of(scale)
    labels = {} if blocks is None or transform is not None else {"blocks": [blocks]}
    types, label_notes = columns_of_labels(labels, [X], column_types, units)
    (name,) = names_for([X], ["X"])
    rows = X if transform is None else transformed([X], transform, [name])[0]
    read = [rows], [name if transform is None else f"{name} after transform"], nan_policy
    data = read_rows(*read, types, as_given=transform is None)
    check_column_types(column_types, [data])
    in_scale = set(units.named or ())
    if counters := in_scale & {*data.left_out} - {column.name for column in data.identifiers}:
        data = read_rows(*read, {**types, **dict.fromkeys(counters, "number")})
    telling: dict[str, str] = {}
    if data.table is not None and not units.by_place:
        telling = _columns_of_time(data.table, data.names[0], {*types, *in_scale})
        data = data.without(telling) if telling else data
    complete = data.complete(nan_policy)[0]
    keep = _rows_kept(data, complete, nan_policy)
    variable, unit_notes = data.taken(keep, units, indicate=nan_policy == "indicator")
    restriction = PermutationDesign()
    if blocks is not None:
        check_same_index(X, blocks, name, "blocks")
        entries = as_labels(blocks, "blocks", data.sizes[0], name)
        restriction = PermutationDesign(label_codes(entries, "blocks", keep))
    if block_length is not None:
        in_order = variable.rows_of()
        restriction = moved_in_time(block_length, [in_order], restriction, keep)
    times_kept = _times_kept(times, X, keep)
    if telling and constant_columns(variable.points).all():
        raise ValueError(
            f"{name} changes only in {listed(telling)}, which are times, so nothing is left to test"
        )
    way = "times= gives rows permanent labels" if times_kept else "times stay with their rows"
    rows_left = () if keep.all() else (note("rows-left", way=way),)
    return Series(
        variable=replace(variable, name=name),
        missing=nan_policy != "omit" and not bool(complete.all()),
        restriction=restriction,
        times=times_kept,
        notes=(
            *label_notes,
            *_notes_on_time(telling),
            *data.omitted([keep]),
            *rows_left,
            *unit_notes,
        ),
    )


def _rows_kept(data: AllRows, complete: Rows, nan_policy: str) -> Rows:
    """Return which rows of a series are tested; raise ValueError if these are too few."""
    keep = complete if nan_policy == "omit" else np.ones(data.sizes[0], dtype=bool)
    if not keep.all():
        at_least_two_rows(data.names[0], keep, data.missing_in(0))
    if keep.sum() < FEWEST:
        rows = counted(int(keep.sum()), "row")
        raise ValueError(
            f"{data.names[0]} has {rows}; a change needs at least {FEWEST}, two before it and two "
            "after it"
        )
    return keep


def _times_kept(times: Any, X: Any, keep: Rows) -> tuple[Any, ...]:
    """Return the times of the rows that are kept, from the index of X if none are given."""
    times = dates_of(X) if times is None else times
    if times is None:
        return ()
    return tuple(time for time, stays in zip(as_times(times, X), keep, strict=True) if stays)


def _notes_on_time(telling: dict[str, str]) -> list[str]:
    """Return notes on columns that tell the time, by their kinds."""
    return [
        note(
            "untested-column",
            column=column,
            what="is not tested",
            reason=(
                "it numbers rows or gives the time "
                f"(column_types={{{column!r}: {kind!r}}} tests it)"
            ),
        )
        for column, kind in telling.items()
    ]


def _columns_of_time(table: Table, name: str, requested: set[str]) -> dict[str, str]:
    """Return the kinds of columns that tell the time.

    These are all dates, and numbers that count if others remain.
    """
    dates = [
        column for column in table.columns if column.kind == "date" and column.name not in requested
    ]
    for column in dates:
        rows = np.flatnonzero(~column.missing())
        times = column.values[rows]
        for back in np.flatnonzero(times[1:] < times[:-1])[:1]:
            raise ValueError(
                f"{name}, column {column.name!r}: dates are not sorted: {times[back + 1]} in row "
                f"{rows[back + 1]} follows {times[back]}; sort, or use "
                f"column_types={{{column.name!r}: 'drop'}}"
            )
    if len(dates) == len(table.columns):
        raise ValueError(
            f"{name} holds only dates, which are times; pass the values observed at these times"
        )
    clocks = dates
    remaining = [column for column in table.columns if column not in dates]
    for is_clock in (_counts_evenly, _counts_unevenly) if table.named else ():
        timed = [
            column for column in remaining if column.name not in requested and is_clock(column)
        ]
        if len(timed) < len(remaining):
            clocks = clocks + timed
            remaining = [column for column in remaining if column not in timed]
    return {column.name: column.kind for column in clocks}


def _counts_evenly(column: Column) -> bool:
    """True if a column goes up or down at an even pace, as a clock does."""
    if column.categorical:
        return False
    values = 0.25 * column.numbers()  # differences cannot overflow
    rows = np.flatnonzero(~np.isnan(values))
    rises = np.diff(values[rows])
    rises = rises if rises.sum() >= 0.0 else -rises
    if np.count_nonzero(rises > 0.0) < MIN_MOVES:
        return False
    step = rises[rises > _EVEN * rises.max()].min()
    ticks = np.rint(rises / step)
    even = np.abs(rises - ticks * step) <= _EVEN * step * np.maximum(ticks, 1.0)
    if not (even & (ticks >= 0.0) & (ticks <= np.diff(rows))).all():
        return False
    # every tick is in one of the rows from first to last, and all are at equal distances
    first, last = (np.repeat(ends, ticks.astype(np.intp)) for ends in (rows[:-1] + 1, rows[1:]))
    count = np.arange(len(first))
    paces = range(1, int(last[-1] - first[0]) // int(count[-1]) + 1)
    return any((first - pace * count).max() <= (last - pace * count).min() for pace in paces)


def _counts_unevenly(column: Column) -> bool:
    """True if whole numbers or times never turn back, and move in at least half of the rows."""
    numbers = np.empty(0) if column.categorical else column.numbers()
    values = 0.25 * numbers[~np.isnan(numbers)]
    if column.kind not in ("number", "duration", "time") or (
        column.kind == "number" and (4.0 * values % 1.0).any()
    ):
        return False
    steps = np.sign(np.diff(values))
    moves = np.count_nonzero(steps)
    return bool(abs(steps.sum()) == moves and moves >= max(MIN_MOVES, len(steps) / 2))


def dates_of(X: Any) -> Any:
    """Return the dates in the index of a pandas table or series; None if it has none."""
    pandas = loaded_pandas()
    index = getattr(X, "index", None)
    dated = pandas is not None and isinstance(index, (pandas.DatetimeIndex, pandas.PeriodIndex))
    return index if dated else None


def as_times(times: Any, X: Any) -> list[Any]:
    """Return the times of all rows.

    Raise TypeError or ValueError if they go back, repeat or are missing.
    """
    check_same_index(X, times, "X", "times")
    dated = getattr(getattr(times, "dtype", None), "kind", "") in ("M", "m") or hasattr(
        times, "freq"
    )
    vector = getattr(times, "ndim", 1) == 1  # a single date is refused
    moments = list(times) if dated and vector else as_labels(times, "times", len(X), "X")
    if len(moments) != len(X):
        raise ValueError(
            f"times has {len(moments)} entries, and X has {counted(len(X), 'row')}; pass one for "
            "each"
        )
    for row, time in enumerate(moments):
        if time is None or time != time:
            raise ValueError(
                f"times is missing in row {row} (from 0); add the time, or drop the row"
            )
    for row, (before, here) in enumerate(pairwise(moments), start=1):
        try:
            if before < here:
                continue
        except TypeError:
            raise TypeError(
                f"times must be numbers, dates or texts; row {row} has {here!r} after {before!r}"
            ) from None
        if before == here:
            raise ValueError(
                f"times repeat: rows {row - 1} and {row} are both at {here}; pass one row per time"
            )
        way = (
            "pass dates (pandas.to_datetime), not text"
            if isinstance(here, str)
            else "sort the rows first"
        )
        raise ValueError(
            f"times are not sorted: row {row} is at {here}, the row before it at {before}; {way}"
        )
    return moments
