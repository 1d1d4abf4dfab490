"""ColumnSummary: what decides how a column becomes numbers.

Summaries of successive rows can be merged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from shrinktest._rounding import DOUBLE, coarsest, merged
from shrinktest.data.column import (
    CODED,
    TIMES,
    WORDS,
    Column,
    as_kind,
    parsed,
    read_column,
    recoded,
)
from shrinktest.data.texts import number_level
from shrinktest.notes import note

#: Levels of a category of which a summary keeps the counts.
MOST_LEVELS = 1000
#: Levels from which a column of text is read as categories only if the user says so.
MANY_LEVELS = 100
#: Levels that are few, whatever the number of rows; and rows that may all differ by chance.
FEW = 10
_OFTEN = 3  # rows with a value, which is no exception then


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """Summary of a column after some rows.

    Summaries of successive chunks are merged in their order.
    """

    name: str
    kind: str
    size: int  # rows
    known: int  # rows with a value
    levels: tuple[str, ...] = ()  # as of :class:`Column`; of categories those that occur
    counts: Mapping[str, int] = field(
        default_factory=dict
    )  # rows with each level, of MOST_LEVELS + 1 chosen by hash
    whole: bool = False
    zoned: bool = False
    precision: np.dtype[Any] = DOUBLE
    low: Any = None  # smallest value of a column without levels
    high: Any = None
    offset: float | None = (
        None  # value minus number of the row, if these differ by it so far; NaN without values
    )
    differ: bool = False  # True if no two rows had the same text so far
    from_text: bool = False  # numbers that the table holds as text

    @classmethod
    def of(cls, data: Any) -> ColumnSummary:
        """Summarize a pandas Series or a :class:`Column`."""
        column = (
            data if isinstance(data, Column) else read_column(data, str(data.name), "one table")
        )
        rows = np.flatnonzero(~column.missing())
        values = column.values[rows]
        shared = column.name, column.kind, len(column), rows.size
        if column.kind in CODED:
            numbers = np.bincount(values, minlength=len(column.levels)).tolist()
            counts = {level: n for level, n in zip(column.levels, numbers, strict=True) if n}
            levels = tuple(counts) if column.kind == "category" else column.levels
            return cls(*shared, levels, counts, differ=rows.size == len(counts))._cut()
        whole = column.kind == "number" and (
            column.whole or bool((values == np.rint(values)).all())
        )
        offsets = values - rows if whole and rows.size else np.array([np.nan])
        offset = (
            float(offsets[0])
            if whole and (not rows.size or (offsets == offsets[0]).all())
            else None
        )
        low, high = (values.min(), values.max()) if rows.size else (None, None)
        return cls(
            *shared,
            whole=whole,
            zoned=column.zoned,
            precision=column.precision,
            low=low,
            high=high,
            offset=offset,
            from_text=column.from_text,
        )

    def merge(
        self, other: ColumnSummary, names: Sequence[str] = ("some rows", "others")
    ) -> ColumnSummary:
        """Add the rows that come next; raise ValueError if they hold another kind of values."""
        kind, levels = common([self, other], names)
        zoned = self.zoned if self.known else other.zoned
        both = replace(
            self,
            kind=kind,
            size=self.size + other.size,
            known=self.known + other.known,
            whole=self.whole and other.whole,
            zoned=zoned,
            precision=coarsest((self.precision, other.precision)),
            from_text=kind == "number" and (self.from_text or other.from_text),
        )
        if kind in CODED:
            mine = self.counts
            theirs = other.counts
            counts = {
                level: mine.get(level, 0) + theirs.get(level, 0) for level in (*mine, *theirs)
            }
            once = self.differ and other.differ and max(counts.values(), default=1) == 1
            return replace(
                both, levels=levels, counts=counts, low=None, high=None, offset=None, differ=once
            )._cut()
        low = min(
            (summary.low for summary in (self, other) if summary.low is not None), default=None
        )
        high = max(
            (summary.high for summary in (self, other) if summary.high is not None), default=None
        )
        return replace(
            both,
            levels=(),
            counts={},
            low=low,
            high=high,
            offset=self._offset_with(other),
            differ=False,
        )

    @property
    def counts_rows(self) -> bool:
        """True if whole numbers go up by one a row.

        At least half of the rows (and three) must have a value.
        """
        return self.offset is not None and self.known > 2 and 2 * self.known >= self.size

    @property
    def constant(self) -> bool:
        """True if all values are the same."""
        return len(self.counts) <= 1 if self.kind in CODED else bool(self.low == self.high)

    def _cut(self) -> ColumnSummary:
        """Keep the levels with the smallest hashes if too many.

        Then no count misses a row.
        """
        if len(self.counts) <= MOST_LEVELS + 1:
            return self
        from pandas.util import hash_array

        levels = np.array([*self.counts], dtype=object)
        least = levels[np.argsort(hash_array(levels), kind="stable")[: MOST_LEVELS + 1]].tolist()
        return replace(
            self, counts={level: self.counts[level] for level in least}, levels=tuple(sorted(least))
        )

    def _offset_with(self, other: ColumnSummary) -> float | None:
        if self.offset is None or other.offset is None:
            return None
        later = other.offset - self.size
        if np.isnan(self.offset) or np.isnan(later):
            return later if np.isnan(self.offset) else self.offset
        return later if later == self.offset else None


def common(
    summaries: Sequence[ColumnSummary], tables: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the kind and the levels of a column in several tables.

    Raise ValueError if their kinds differ.
    """
    name = summaries[0].name
    present = [summary for summary in summaries if summary.known] or [*summaries[:1]]
    kinds = {summary.kind for summary in present}
    for pair, both in (
        ("number boolean", "number"),
        ("boolean category", "category"),
        ("ordered category", "ordered"),
    ):
        kinds = {both} if kinds == {*pair.split()} else kinds
    zones = {summary.zoned for summary in present if summary.kind == "date"}
    if len(kinds) > 1 or len(zones) > 1:
        zone = {True: " with a time zone", False: " without a time zone"} if len(zones) > 1 else {}
        words = (
            f"{WORDS[summary.kind]}{zone.get(summary.zoned, '') if summary.kind == 'date' else ''} "
            f"in {table}"
            for summary, table in zip(summaries, tables, strict=True)
            if summary.known
        )
        raise ValueError(
            f"column {name!r} holds {' and '.join(dict.fromkeys(words))}; convert one, read both "
            "as categories "
            f"(column_types={{{name!r}: 'category'}}), or leave it out (column_types={{{name!r}: "
            f"'drop'}})"
        )
    (kind,) = kinds
    if kind != "ordered":
        levels = (
            sorted({level for summary in summaries for level in summary.counts})
            if kind == "category"
            else ()
        )
        return kind, ("False", "True") if kind == "boolean" else tuple(levels)
    longest = max((summary.levels for summary in summaries if summary.kind == kind), key=len)
    for summary in present:
        places = [longest.index(level) if level in longest else -1 for level in summary.levels]
        if -1 in places or (summary.kind == kind and places != sorted(places)):
            raise ValueError(
                f"column {name!r} has levels in different orders, ({', '.join(longest)}) and "
                f"({', '.join(summary.levels)}); pass one: column_types={{{name!r}: [...]}}"
            )
    return kind, longest


def as_common(column: Column, kind: str, levels: tuple[str, ...]) -> Column:
    """Return a column as one of the kind and the levels that it has in all tables."""
    if kind in CODED:
        codes = np.full(len(column), -1) if column.kind not in CODED else column.values
        return replace(
            column, kind=kind, values=recoded(codes, column.levels, levels), levels=levels
        )
    if column.missing().all():
        nothing = (
            np.full(len(column), "NaT", TIMES[kind])
            if kind in TIMES
            else np.full(len(column), np.nan)
        )
        return Column(column.name, kind, nothing, whole=True)
    return as_kind(column, kind, column.name)


# --- which columns are tested ---------------------------------------------------------------------


def identifies(name: str, samples: Sequence[ColumnSummary]) -> str | None:
    """Return why a column identifies rows: distinct text in every row, or a count of the rows.

    Return None if it does not identify rows.

    Raises ValueError for text with too many values for categories.
    """
    kind, levels = common(samples, [""] * len(samples))
    if kind == "number" and all(summary.counts_rows for summary in samples):
        return "it numbers the rows"
    rows = sum(summary.known for summary in samples)
    size = len(levels)
    if kind != "category" or rows <= 2:
        return None
    everywhere = all(summary.differ and 2 * summary.known >= summary.size for summary in samples)
    differs = size == rows or (everywhere and max(summary.known for summary in samples) > FEW)
    if differs and not any(" " in level.strip() for level in levels):
        return "its text is different in every row"
    if not differs and size <= MANY_LEVELS and (size <= FEW or 5 * size <= 4 * rows):
        return None
    readable = [
        kind
        for kind in ("date", "duration")
        if (parsed(levels, kind) == parsed(levels, kind)).all()
    ]
    way = f"read {readable[0]}s (column_types={{{name!r}: {readable[0]!r}}}), " if readable else ""
    many = f"more than {MOST_LEVELS}" if MOST_LEVELS < size < rows else str(size)
    raise ValueError(
        f"column {name!r} holds text with {many} different values in {rows} rows; {way}use "
        f"column_types={{{name!r}: 'drop'}}, 'category' or transform="
    )


def tells_apart(samples: Sequence[ColumnSummary], names: Sequence[str]) -> str | None:
    """Return why a column alone tells to which of several samples a row belongs.

    None if it does not.
    """
    kind, _ = common(samples, names)
    if not all(summary.known for summary in samples):
        return None
    if kind == "date":
        ranges = sorted((summary.low, summary.high) for summary in samples)
        apart = all(before[1] < after[0] for before, after in pairwise(ranges))
        return "their dates do not overlap" if apart else None
    if kind in CODED and not any({*a.counts} & {*b.counts} for a, b in combinations(samples, 2)):
        firsts = [min(summary.counts, key=summary.levels.index) for summary in samples]
        each = _each_in(map(repr, firsts), names)
        return f"they have no category in common: for example, {each}"
    if kind == "number" and all(summary.constant for summary in samples):
        lows = np.array([float(summary.low) for summary in samples])
        if not all(summary.whole for summary in samples):
            often = np.repeat(lows, _OFTEN)[:, np.newaxis]
            lows = merged(often, coarsest(summary.precision for summary in samples))[::_OFTEN, 0]
        if np.unique(lows).size == lows.size:
            return (
                f"it is "
                f"{_each_in((number_level(float(summary.low)) for summary in samples), names)}"
            )
    return None


def _each_in(values: Any, names: Sequence[str]) -> str:
    return " and ".join(f"{value} in {name}" for value, name in zip(values, names, strict=True))


def select(
    columns: Sequence[Sequence[ColumnSummary]],
    names: Sequence[str],
    typed: Collection[str],
    *,
    named: bool,
    compared: bool = True,
) -> tuple[dict[str, str], list[str]]:
    """Return the columns that are not tested, with reasons, and notes on columns.

    ``columns`` has the summaries of every column in all samples, which messages call ``names``.
    Those in ``typed`` are read as the user says, and are tested.  Columns that are not ``compared``
    label rows or are taken as given.  Raises ValueError if no column is left, and for text that is
    neither categories nor identifies rows.
    """
    left_out: dict[str, str] = {}
    notes: list[str] = []
    every = " and ".join(names)
    several = named and len(columns) > 1
    for samples in columns:
        name = samples[0].name
        kind = common(samples, names)[0]
        reason = None
        if (
            name not in typed
            and (several or (compared and kind == "category"))
            and (compared or kind != "number")
        ):
            reason = identifies(name, samples)
        if reason is not None:
            left_out[name] = reason
            reason = (
                f"{reason} (column_types={{{name!r}: {kind!r}}} {'tests' if compared else 'keeps'} "
                f"it)"
            )
            what = "is not tested" if compared else f"of {every} is left out"
            notes.append(note("untested-column", column=name, what=what, reason=reason))
            continue
        if any(summary.from_text and summary.whole and summary.known for summary in samples):
            notes.append(note("text-as-numbers", column=name))
        if (
            several
            and len(samples) > 1
            and not (kind == "date" and name in typed)
            and (reason := tells_apart(samples, names))
        ):
            notes.append(note("tells-samples-apart", column=name, names=every, reason=reason))
    if len(left_out) == len(columns):
        raise ValueError(
            f"{every}: no column is left to test; {' '.join(notes)} Say how to read one of them"
        )
    return left_out, notes
