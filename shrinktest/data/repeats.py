"""Repeats: rows and values that samples hold more than once, by which rows depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import lgamma

import numpy as np

from shrinktest._check import Array
from shrinktest.data.encoding import Encoding
from shrinktest.notes import note

_MOST = 20_000  # rows among which equal rows are searched for
_BY_CHANCE = 5  # equal rows that two samples may have, and values that may repeat
_UNLIKELY = np.log(0.001)  # chance of what is pointed out
_RARE = 0.05  # of the rows: fewer may repeat
# of the rows: values that are as frequent are limits or zeros, of which many rows may consist
_HEAVY = 0.1
_SELDOM = 0.1  # times as frequent as it is within a sample
_NEARLY_ALL = 0.8  # of the rows with a value that repeats, if the value names units
# of the rows: if nearly all repeat, there are at most half as many values as rows, and the rest
_MOST_VALUES = 0.6
# variance over mean of how often values occur, of units that were observed about equally often
_EVEN = 0.5
_DIGITS = 1e-6  # by which multiples of a step may be off
# smallest over median distance of neighboring values, from which they are about evenly spaced
_REGULAR = 0.2


@dataclass(frozen=True, eq=False)
class Repeats:
    """How often each distinct row, or value of a column, occurs in each sample."""

    counts: np.ndarray  # (k, distinct)
    first: np.ndarray  # (distinct,): a row that has it, among all rows

    @classmethod
    def of(cls, samples: Sequence[Array]) -> Repeats:
        """Count the distinct rows of samples (n_i, d) with the same columns."""
        rows: Array = np.ascontiguousarray(np.vstack(samples) + 0.0)  # so that -0.0 is 0
        if rows.shape[1] > 1:
            rows = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
        _, first, codes = np.unique(rows[:, 0], return_index=True, return_inverse=True)
        parts = np.split(codes, np.cumsum([len(sample) for sample in samples])[:-1])
        return cls(np.array([np.bincount(part, minlength=len(first)) for part in parts]), first)

    def within(self, sample: int) -> float:
        """Return the share of equal pairs of rows in a sample, heavy values left out."""
        light = self._light(sample)
        size = int(self.counts[sample].sum())
        return float((light * (light - 1)).sum() / max(size * (size - 1), 1))

    def between(self, sample: int, other: int) -> float:
        """Return the share of equal pairs of a row of one sample and a row of another."""
        pairs = (self._light(sample) * self.counts[other]).sum()
        return float(pairs / (self.counts[sample].sum() * self.counts[other].sum()))

    def repeated(self, sample: int) -> np.ndarray:
        """Return which distinct rows (distinct,) a sample repeats, heavy ones left out."""
        return np.asarray(self._light(sample) > 1)

    def _light(self, sample: int) -> np.ndarray:
        counts = self.counts[sample]
        return np.where(counts <= max(_BY_CHANCE, _HEAVY * counts.sum()), counts, 0)


def repeat_notes(
    samples: Sequence[Array], names: Sequence[str], encoding: Encoding | None, *, independent: bool
) -> tuple[str, ...]:
    """Return notes on samples with the same rows, and on rows that are not ``independent``.

    The test assumes ``independent`` rows.

    Rows of a sample are drawn one by one if no unit is in two samples and no row of a sample is a
    copy of another. The notes do not depend on the order of rows.
    """
    if sum(map(len, samples)) > _MOST:
        return ()
    columns = _columns(samples, encoding) if independent else []
    if any(_all_differ(column) for column in np.vstack(samples).T):
        return _unit_columns(None, samples, names, columns)
    rows = Repeats.of(samples)
    return (
        *_shared_rows(rows),
        *_same_rows(rows, samples, names),
        *_repeated_rows(rows, samples, names, columns),
        *_unit_columns(rows, samples, names, columns),
    )


def _all_differ(values: Array) -> bool:
    ordered = np.sort(values)
    return bool((ordered[1:] > ordered[:-1]).all())


@dataclass(frozen=True, eq=False)
class _Values:
    """A column of all samples as numbers, which may be several for one category."""

    label: str
    kind: str
    samples: tuple[Array, ...]  # (n_i, width)


def _columns(samples: Sequence[Array], encoding: Encoding | None) -> list[_Values]:
    if encoding is None:
        places = range(samples[0].shape[1])
        return [
            _Values(str(j), "number", tuple(sample[:, j : j + 1] for sample in samples))
            for j in places
        ]
    return [
        _Values(repr(code.name), code.kind, tuple(sample[:, group] for sample in samples))
        for code, group in zip(encoding.codes, encoding.groups, strict=True)
    ]


# --- rows that two samples share ------------------------------------------------------------------


def _shared_rows(rows: Repeats) -> tuple[str, ...]:
    """Return a note on rows that are in both of two samples, if all rows of each sample differ."""
    if len(rows.counts) != 2 or rows.counts.max() > 1:
        return ()
    shared = int(rows.counts.min(axis=0).sum())
    return (note("shared-rows", rows=shared),) if shared > _BY_CHANCE else ()


def _same_rows(rows: Repeats, samples: Sequence[Array], names: Sequence[str]) -> Iterator[str]:
    """Yield a note for each pair of samples with the same rows.

    There is none if chance or another note explains it.
    """
    for i, j in combinations(range(len(samples)), 2):
        counts = rows.counts[i]
        if not np.array_equal(counts, rows.counts[j]) or (len(samples) == 2 and _shared_rows(rows)):
            continue
        size = int(counts.sum())
        same_counts = sum(_log_ways(2 * count, count) for count in counts) - _log_ways(
            2 * size, size
        )
        same_order = sum(lgamma(count + 1) for count in counts) - lgamma(size + 1)
        in_order = np.array_equal(samples[i], samples[j])
        if same_counts < _UNLIKELY or (in_order and same_order < _UNLIKELY):
            yield note("same-rows", first=names[i], second=names[j])


def _log_ways(size: int, chosen: int) -> float:
    return lgamma(size + 1) - lgamma(chosen + 1) - lgamma(size - chosen + 1)


# --- rows that a sample holds more than once ------------------------------------------------------


def _repeated_rows(
    rows: Repeats, samples: Sequence[Array], names: Sequence[str], columns: Sequence[_Values]
) -> Iterator[str]:
    """Yield a note for each sample whose rows repeat unusually often.

    They repeat more often than those of others, or than they are in others.

    Values that only a few digits tell apart repeat in all samples, and so often in two of them.
    """
    for i, name in enumerate(names):
        repeated = rows.repeated(i)
        share = float(rows.counts[i][repeated].sum() / len(samples[i]))
        if repeated.sum() < _BY_CHANCE or share < _RARE or not _more_often(rows, i):
            continue
        if any(_look_continuous(column, rows, i) for column in columns):
            yield note("repeated-rows", share=f"{share:.0%}", name=name)


def _more_often(rows: Repeats, sample: int) -> bool:
    """Return True if equal rows are more frequent within a sample than within or between others."""
    rate = rows.within(sample)
    sizes = rows.counts.sum(axis=1)
    for other in range(len(sizes)):
        if other == sample:
            continue
        expected_between = rate * sizes[sample] * sizes[other]
        expected_within = rate * sizes[other] * (sizes[other] - 1) / 2.0
        if expected_between > 2 * _BY_CHANCE and rows.between(sample, other) < _SELDOM * rate:
            return True
        if expected_within > 2 * _BY_CHANCE and rows.within(other) < _SELDOM * rate:
            return True
    return False


def _look_continuous(column: _Values, rows: Repeats, sample: int) -> bool:
    """Return True if values of a column have too many digits to be equal by chance."""
    if column.kind not in ("number", "date", "duration", "time"):
        return False
    pooled = np.concatenate(column.samples)[:, 0]
    repeated = rows.repeated(sample)
    values = np.unique(pooled[rows.first[repeated]])
    if values.size < _NEARLY_ALL * repeated.sum():  # a zero, say, with many values of other columns
        return False
    own = column.samples[sample][:, 0]
    gaps = np.diff(np.unique(own))
    if not _are_multiples(gaps):
        return bool(
            gaps.min() < _REGULAR * np.median(gaps)
        )  # logarithms of counts are about evenly spaced
    spread = float(np.subtract(*np.quantile(own, (0.75, 0.25))))
    by_chance = gaps.min() / max(2.0 * spread, gaps.min())  # share of equal pairs of rounded values
    return bool(by_chance < _SELDOM * rows.within(sample))


def _are_multiples(gaps: np.ndarray) -> bool:
    """Return True if distances are multiples of the smallest.

    This is so for rounded values and counts in any unit.
    """
    multiples = gaps / gaps.min()
    return bool((np.abs(multiples - np.rint(multiples)) <= _DIGITS * multiples).all())


# --- columns that name units ----------------------------------------------------------------------


def _unit_columns(
    rows: Repeats | None, samples: Sequence[Array], names: Sequence[str], columns: Sequence[_Values]
) -> tuple[str, ...]:
    """Return a note on columns whose values repeat within each sample and are in one of them only.

    There are no ``rows`` if all of them differ.
    """
    units = (
        [column.label for column in columns if _names_units(column, rows)]
        if len(columns) > 1
        else []
    )
    if not units:
        return ()
    which = f"column {units[0]}"
    column = "it"
    if len(units) > 1:
        which = f"columns {', '.join(units)}"
        column = "one of these columns"
    return (note("unit-columns", which=which, names=" and ".join(names), column=column),)


def _names_units(column: _Values, rows: Repeats | None) -> bool:
    """Return True if values repeat within but never across samples.

    In addition, rows must not repeat as often.
    """
    pooled = np.sort(np.concatenate(column.samples)[:, 0])
    if np.count_nonzero(np.diff(pooled)) > _MOST_VALUES * pooled.size:
        return False
    values = Repeats.of(column.samples)
    present = values.counts > 0
    if present.sum(axis=0).max() > 1 or present.sum(axis=1).min() < _BY_CHANCE:
        return False
    repeating = np.where(values.counts > 1, values.counts, 0).sum(axis=1)
    if (repeating < _NEARLY_ALL * values.counts.sum(axis=1)).any():
        return False
    if rows is not None and any(
        rows.within(i) > 0.5 * values.within(i) for i in range(len(values.counts))
    ):
        return False
    if column.kind == "category":
        return True
    distinct = [np.unique(sample[:, 0]) for sample in column.samples]
    own_multiples = any(_are_multiples(np.diff(own)) for own in distinct)
    if own_multiples and not _are_multiples(np.diff(np.unique(np.concatenate(distinct)))):
        return False  # such as counts in units of each sample
    order = np.argsort(np.concatenate(column.samples)[values.first, 0])
    changes = np.count_nonzero(np.diff(present.argmax(axis=0)[order]))
    if changes >= 3 * (len(present) - 1):
        return True
    evenly = (_is_even(counts[counts > 0]) for counts in values.counts)
    return column.kind == "number" and all(evenly)


def _is_even(counts: np.ndarray) -> bool:
    """Return True if values occur about equally often, and more evenly than by chance."""
    return bool(counts.var(ddof=1) <= _EVEN * counts.mean())
