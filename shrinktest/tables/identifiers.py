"""Columns that identify rows instead of describing them, and text that is no category.

Where values are missing, those that are known decide, if they are enough.  Whole numbers count the rows, and texts or
numbers differ in every row, where at least half of the rows of every sample are known.  Whole numbers and dates are the
same units in several samples where `NEARLY_ALL` are.  A whole number without a name is an index, however many are
missing, and so is text each of which occurs once no category.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations, pairwise

import numpy as np

from shrinktest.data.column import Column, number_level, parsed
from shrinktest.notes import note

_UNNAMED = re.compile(r"|Unnamed: \d+|__index_level_\d+__|level_0")
#: Of the numbers or dates of the smallest sample that others have, where they are likely to be the same units; and of
#: the rows of every sample that must have one.
NEARLY_ALL = 0.9
#: Levels from which a column of text takes a word of the user's to be read as categories.
MANY_LEVELS = 100
#: Levels that are few, whatever the number of rows; and rows that may all differ by chance.
FEW = 10


def identifier(column: Column, samples: Sequence[np.ndarray], *, asked: bool) -> str | None:
    """Why a column identifies rows, if it does; None for a variable.

    The column is of all rows, and ``samples`` are the values of every table.  With ``asked`` the user says how to read
    it, so that it is a variable.  Raises ValueError for text that is neither an identifier nor a category; the message
    says what to do.
    """
    if asked:
        return None
    if has_no_name(column.name) and column.missing().all():
        return "it has neither a name nor values, as behind a comma at the end of every line"
    text = column.kind == "category"
    present = known(column.values) if text else column.values[:0]
    counts = column.kind == "number" and column.whole and all(_counts(values) for values in samples)
    apart = text and max(known(values).size for values in samples) > FEW and all(map(all_differ, samples))
    same = column.kind == "number" and column.whole and not counts and _match(samples)
    return identifier_of(
        column, counts=counts, apart=apart, same=same, levels=np.unique(present).size, rows=present.size
    )


def with_whole_values(column: Column) -> Column:
    """The column, which is one of whole numbers also where missing values made them floating-point numbers.

    That is judged by its values, and only where some are missing: the type says it of complete columns.
    """
    if column.kind != "number" or column.whole or not column.missing().any():
        return column
    return replace(column, whole=are_whole(known(column.values)))


def are_whole(values: np.ndarray) -> bool:
    """Whether numbers, none of which is missing, are whole."""
    return bool((values == np.rint(values)).all())


def known(values: np.ndarray) -> np.ndarray:
    """The values that are not missing, of numbers of levels, numbers, or dates."""
    return values[is_known(values)]


def is_known(values: np.ndarray) -> np.ndarray:
    """Which values are not missing, of numbers of levels, numbers, or dates."""
    return np.asarray(values >= 0 if values.dtype.kind == "i" else values == values)


def enough(there: int, rows: int) -> bool:
    """Whether so many values of so many rows say whether all differ, or count the rows."""
    return 2 * there >= rows


def common(sizes: Sequence[int], there: Sequence[int]) -> float:
    """How many values all samples have if they are of the same units, and each misses what it does by chance.

    ``sizes`` are the rows of every sample, and ``there`` is how many of them have a value.
    """
    return min(sizes) * math.prod(some / max(rows, 1) for some, rows in zip(there, sizes, strict=True))


def nearly_all_known(sizes: Sequence[int], there: Sequence[int]) -> bool:
    """Whether so many rows of every sample have a value that numbers and dates may be recognized as units."""
    return all(some >= NEARLY_ALL * rows for some, rows in zip(there, sizes, strict=True))


def names_units(column: Column, samples: Sequence[np.ndarray]) -> bool:
    """Whether the same values in several samples are likely to be the same units, and not by chance or by counting.

    They are texts that differ in all rows of a sample; of whole numbers and dates nearly all must be in every sample.
    """
    if column.kind == "category":
        return all(map(all_differ, samples))
    return may_name_units(column, counts=all(map(_counts, samples))) and _match(samples)


def has_no_name(name: str) -> bool:
    """Whether the name of a column is that of an index which was written into a file."""
    return _UNNAMED.fullmatch(name) is not None


def may_name_units(column: Column, *, counts: bool) -> bool:
    """Whether values of a column that are in several samples may be units: not where whole numbers count the rows."""
    if column.kind == "number":
        return column.whole and not counts and not has_no_name(column.name)
    return column.kind in ("date", "category")


def identifier_of(column: Column, *, counts: bool, apart: bool, same: bool, levels: int, rows: int) -> str | None:
    """Why a column identifies rows, by its name, kind and levels, and what is known of its values.

    The values of the column are not looked at.  ``counts``: it is whole numbers that count the rows of every table, as
    far as they are known.  ``apart``: it is text, another in every row of every table that has one, and one has more
    than a few; it may identify what is in several tables, such as the same patients before and after.  ``same``: it is
    whole numbers, another in every row of each of several tables, of which nearly all are in all.  Of a category
    ``levels`` different values occur, in ``rows`` rows.  Raises ValueError as :func:`identifier` does.
    """
    if column.kind == "number" and column.whole:
        if has_no_name(column.name):
            return "it has no name, as the row index that is written into a file"
        if counts:
            return "it counts the rows"
        if same:
            return "it has another number in every row, and the same ones in every sample"
    if column.kind != "category":
        return None
    if apart or levels == rows > 2:
        if not any(" " in level.strip() for level in column.levels):
            return "it has another text in every row"
    elif (levels <= MANY_LEVELS and (levels <= FEW or 5 * levels <= 4 * rows)) or rows <= 2:
        return None
    kind = next((k for k in ("date", "duration") if not np.isnat(parsed(column.levels, k)).any()), None)
    way = "" if kind is None else f"read {kind}s (column_types={{{column.name!r}: {kind!r}}}), "
    raise ValueError(
        f"column {column.name!r} holds text with {levels} different values in {rows} rows, too many for categories; "
        f"{way}leave it out (column_types={{{column.name!r}: 'drop'}}), put rare values together, turn the text into "
        f"numbers (transform=), or test it as it is (column_types={{{column.name!r}: 'category'}})"
    )


def apart(
    column: Column, samples: Sequence[np.ndarray], names: Sequence[str], differ: bool | None = None
) -> str | None:
    """Why a column alone tells to which of several samples a row belongs; None where it does not.

    ``differ``: whether every sample has more than a few rows, each with another value, where the values stand for more.
    """
    if column.kind == "date":
        return "their dates do not overlap" if _one_after_the_other(samples) else None
    if not column.levels and column.kind != "number":
        return None
    there = [known(values) for values in samples]
    rows = [one.size for one in there]
    if not all(one.size for one in there):
        return None
    single = all((one == one[0]).all() for one in there)
    if not (column.levels or column.whole or single):
        return None
    there = [np.unique(one) for one in there]
    if any(np.intersect1d(*two).size for two in combinations(there, 2)):
        return None
    firsts = [repr(column.levels[one[0]]) if column.levels else number_level(float(one[0])) for one in there]
    said = " and ".join(f"{value} in {name}" for value, name in zip(firsts, names, strict=True))
    if column.levels:
        return f"they have no category in common, such as {said}"
    if single:
        return f"it is {said}"
    if differ is None:  # a few may all differ, and lie one after the other, by chance
        differ = min(rows) > FEW and all(map(all_differ, samples))
    if column.whole and differ and _one_after_the_other(samples):
        return "it has another number in every row, and those of one sample come after those of the other"
    return None


def of_apart(
    column: Column, samples: Sequence[np.ndarray], names: Sequence[str], differ: bool | None = None
) -> tuple[str, ...]:
    """What a reader should know of a column that tells the samples apart, whatever else is in the table."""
    why = apart(column, samples, names, differ)
    return (
        () if why is None else (note("tells-samples-apart", column=column.name, names=" and ".join(names), reason=why),)
    )


def _one_after_the_other(samples: Sequence[np.ndarray]) -> bool:
    """Whether the ranges of dates or numbers, some of which may be missing, do not overlap."""
    there = [known(values) for values in samples]
    ranges = sorted((values.min(), values.max()) for values in there if values.size)
    return len(ranges) == len(samples) and all(before[1] < after[0] for before, after in pairwise(ranges))


def all_differ(values: np.ndarray) -> bool:
    """Whether no two values are equal, and enough are known: numbers of levels, numbers, or dates."""
    there = known(values)
    return enough(there.size, values.size) and np.unique(there).size == there.size


def _match(samples: Sequence[np.ndarray]) -> bool:
    """Whether numbers or dates differ within every sample, are nearly all known, and nearly all are in all samples."""
    there = [known(values) for values in samples]
    rows, sizes = [one.size for one in there], [one.size for one in samples]
    if len(samples) < 2 or max(rows) <= FEW or not nearly_all_known(sizes, rows) or not all(map(all_differ, samples)):
        return False
    return reduce(np.intersect1d, there).size >= NEARLY_ALL * common(sizes, rows)


def _counts(values: np.ndarray) -> bool:
    """Whether whole numbers go up with the rows, by one a row also across those that miss theirs."""
    rows = np.flatnonzero(~np.isnan(values))
    return rows.size > 2 and enough(rows.size, values.size) and count_rows(values[rows], rows)


def count_rows(values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the numbers of some rows go up as these do."""
    return bool((np.diff(values) == np.diff(rows)).all())
