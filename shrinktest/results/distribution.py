"""Distribution: the values of a column in two tables, counted in bins or by category, as pictures show them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shrinktest.data.column import Column

_BARS = 8  # categories that a picture shows; the rest is put together
_BINS = (8, 40)
_FAR = 4.0  # times the distance of the quartiles beyond them, from where values are counted in the outermost bins


@dataclass(frozen=True, eq=False)
class Distribution:
    """Shares of the values of a column in two tables, of those that are there."""

    kind: str  # of the column
    # (k,): shares in every bin, or of every category; NaN where a table has no values
    first: np.ndarray
    second: np.ndarray
    # (k + 1,): of the bins; dates in days since 1970, durations in days, times of day in hours
    edges: np.ndarray | None = None
    labels: tuple[str, ...] = ()  # the categories
    clipped: bool = False  # whether the outermost bins count values beyond them, too

    @classmethod
    def of(cls, first: Column, second: Column) -> Distribution:
        """Distribution of a column with the same levels in both tables."""
        if first.levels:
            return cls._of_levels(first, second)
        values = [numbers[~np.isnan(numbers)] for numbers in (first.numbers(), second.numbers())]
        edges, clipped = _edges(np.concatenate(values))
        counts = [np.histogram(np.clip(sample, edges[0], edges[-1]), edges)[0] for sample in values]
        a, b = (
            count / len(sample) if len(sample) else np.full(len(count), np.nan)
            for count, sample in zip(counts, values, strict=True)
        )
        return cls(first.kind, a, b, edges, clipped=clipped)

    @classmethod
    def _of_levels(cls, first: Column, second: Column) -> Distribution:
        rows = shares(first, second)
        if first.kind == "category":
            rows.sort(key=lambda row: -np.nansum(row[1:]))
        if len(rows) > _BARS + 1:
            rest = np.array([row[1:] for row in rows[_BARS:]]).sum(axis=0)
            rows = [*rows[:_BARS], (f"{len(rows) - _BARS} others", float(rest[0]), float(rest[1]))]
        numbers = np.array([row[1:] for row in rows]).reshape(-1, 2)
        return cls(first.kind, numbers[:, 0], numbers[:, 1], labels=tuple(row[0] for row in rows))


def _edges(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """Edges of bins for the values of both tables, and whether some values are beyond them."""
    if not len(values):
        return np.array([0.0, 1.0]), False
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.array([low - 0.5, high + 0.5]), False
    distinct = np.unique(values)
    if len(distinct) <= _BINS[1] and (distinct == np.floor(distinct)).all() and high - low < _BINS[1]:
        return np.arange(low - 0.5, high + 1.0), False
    lower, upper = np.quantile(values, (0.25, 0.75))
    reach = _FAR * float(upper - lower)
    start, stop = (max(low, lower - reach), min(high, upper + reach)) if reach > 0.0 else (low, high)
    inside = values[(values >= start) & (values <= stop)]
    width = 2.0 * float(upper - lower) / len(values) ** (1.0 / 3.0)  # Freedman and Diaconis, for both tables together
    bins = int(np.clip(np.ceil((stop - start) / width) if width > 0.0 else 0, *_BINS))
    return np.linspace(start, stop, bins + 1), len(inside) < len(values)


def shares(first: Column, second: Column) -> list[tuple[str, float, float]]:
    """Return the share of every category that occurs among the values, in both tables."""
    present = [column.values[column.values >= 0] for column in (first, second)]
    parts = [
        [float((values == i).mean()) if len(values) else math.nan for values in present]
        for i in range(len(first.levels))
    ]
    return [(level, a, b) for level, (a, b) in zip(first.levels, parts, strict=True) if a > 0.0 or b > 0.0]
