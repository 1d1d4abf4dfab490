"""Changes: how a column differs between two tables, in effects that a person reads, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest._validate import Array
from shrinktest.tables.column import Column
from shrinktest.tables.intervals import (
    FEWEST,
    FEWEST_FOR_SPREAD,
    Units,
    difference_of_shares,
    hedges,
    jackknife,
    log_ratio,
)
from shrinktest.units import deviations, means

#: What may change.
MEAN, SPREAD, SHARE, MISSING = "mean", "spread", "share", "missing"


@dataclass(frozen=True)
class Change:
    """One respect in which a column differs between two tables."""

    # "mean", "spread" (standard deviation), "share" (of a category) or "missing" (the share of missing values)
    what: str
    level: str  # the category, of a share
    # the mean, the standard deviation or the share in each table; dates in days since 1970, durations in days, times of
    # day in hours, ordered categories by their position from 0
    first: float
    second: float
    # the effect and its interval: Hedges' standardised difference of means, the ratio of standard deviations, or the
    # difference of shares, second against first; NaN for what is not estimated
    estimate: float
    low: float = math.nan
    high: float = math.nan

    @property
    def none(self) -> float:
        """The value of an effect without a change."""
        return 1.0 if self.what == SPREAD else 0.0

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out that there is no change."""
        return self.low > self.none or self.high < self.none

    @property
    def strength(self) -> float:
        """How far the effect is from no change, in halves of the length of its interval; 0 without an interval."""
        numbers = (self.estimate, self.low, self.high, self.none)
        if any(math.isnan(number) for number in numbers):
            return 0.0
        estimate, low, high, none = map(math.log, numbers) if self.what == SPREAD else numbers
        return 2.0 * abs(estimate - none) / (high - low) if high > low else 0.0


def shares(first: Column, second: Column) -> list[tuple[str, float, float]]:
    """The share of every category that occurs among the values that are there, in both tables."""
    found = []
    present = [column.values[column.values >= 0] for column in (first, second)]
    for i, level in enumerate(first.levels):
        a, b = (float((values == i).mean()) if len(values) else math.nan for values in present)
        if a > 0.0 or b > 0.0:
            found.append((level, a, b))
    return found


def changes(first: Column, second: Column, units: Units, confidence: float) -> tuple[Change, ...]:
    """How a column differs between two tables, in every respect that its kind has.

    The columns have the same levels, ``units`` are those of all their rows, and ``confidence`` is that of each interval
    by itself.  Means and standard deviations come first, then shares, the one that changed most before the others.  Of
    two categories there is only the share of the first, and of True and False that of True, which say all.
    """
    missing = np.concatenate([first.missing(), second.missing()])
    present = units.taken(~missing)
    found: list[Change] = []
    if not first.categorical:
        numbers = np.concatenate([first.numbers(), second.numbers()])[~missing]
        found += _moments(numbers, present, confidence, spread=first.kind != "ordered")
    if first.levels:
        codes = np.concatenate([first.values, second.values])[~missing]
        found += sorted(_shares(first, second, codes, present, confidence), key=_by_size)
    return tuple(found)


def missing_change(first: Column, second: Column, units: Units, confidence: float) -> Change | None:
    """How the share of missing values differs between two tables; None if there are none."""
    missing = np.concatenate([first.missing(), second.missing()])
    if not missing.any():
        return None
    a, b = (float(column.missing().mean()) for column in (first, second))
    return Change(MISSING, "", a, b, *difference_of_shares(missing, units, confidence))


def _moments(numbers: Array, units: Units, confidence: float, *, spread: bool) -> Sequence[Change]:
    first, second = numbers[: units.sizes[0]], numbers[units.sizes[0] :]
    if not len(first) or not len(second):
        return ()
    both = (float(means(first)), float(means(second)))
    found = [Change(MEAN, "", *both, *jackknife(hedges, numbers, units, confidence, FEWEST))]
    if spread and min(len(first), len(second)) > 1:
        both = (float(deviations(first, ddof=1)), float(deviations(second, ddof=1)))
        ratio, low, high = map(math.exp, jackknife(log_ratio, numbers, units, confidence, FEWEST_FOR_SPREAD))
        found.append(Change(SPREAD, "", *both, ratio, low, high))
    return found


def _shares(first: Column, second: Column, codes: np.ndarray, units: Units, confidence: float) -> list[Change]:
    if min(units.sizes) == 0:
        return []
    found = shares(first, second)
    if first.kind == "boolean":
        found = [one for one in found if one[0] == "True"]
    elif len(found) == 2:
        found = found[:1]
    return [
        Change(SHARE, level, a, b, *difference_of_shares(codes == first.levels.index(level), units, confidence))
        for level, a, b in found
    ]


def _by_size(change: Change) -> float:
    return -abs(change.estimate)
