"""Changes: how a column differs between two tables, in effects with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shrinktest.tables.column import Column

#: What may change.
MEDIAN, POSITION, SPREAD, SHARE, MISSING = "median", "position", "spread", "share", "missing"


@dataclass(frozen=True)
class Change:
    """One respect in which a column differs between two tables."""

    # "median", "position" (the mean one, of ordered categories), "spread" (the interquartile range), "share" (of a
    # category) or "missing" (the share of missing values)
    what: str
    level: str  # the category, of a share
    # the median, mean position, interquartile range or share in each table; dates in days since 1970, durations in
    # days, times of day in hours, positions of ordered categories from 0
    first: float
    second: float
    # the effect and its interval: of medians and positions the probability that a value of the second table is larger
    # than one of the first (AUC); the ratio of interquartile ranges; or the difference of shares, second less first;
    # NaN for what is not estimated
    estimate: float
    low: float = math.nan
    high: float = math.nan

    @property
    def none(self) -> float:
        """The value of an effect without a change."""
        return {MEDIAN: 0.5, POSITION: 0.5, SPREAD: 1.0}.get(self.what, 0.0)

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
