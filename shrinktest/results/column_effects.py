"""Effects of one column: how it differs between two tables, in numbers and in words."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.results.effect import shown_shares
from shrinktest.tables.untestable import CONSTANT

#: What may change.
MEDIAN, POSITION, SPREAD, SHARE, MISSING = "median", "position", "spread", "share", "missing"

_LEVELS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_SHOWN = 3  # effects of a column in words
_DIGITS, _MOST_DIGITS = 3, 15  # of numbers, and of two that would look alike with fewer
_POWERS = 1e12  # numbers from which powers of ten are written
_UNITS = {"date": " days", "duration": " days", "time": " hours"}


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
    # of medians and positions the probability that a value of the second table is larger (AUC), the ratio of
    # interquartile ranges, or the difference of shares, second less first; NaN for what is not estimated
    estimate: float
    low: float = math.nan
    high: float = math.nan

    @property
    def none(self) -> float:
        """Value of the effect without a change."""
        return {MEDIAN: 0.5, POSITION: 0.5, SPREAD: 1.0}.get(self.what, 0.0)

    @property
    def clear(self) -> bool:
        """True if the interval excludes that there is no change."""
        return self.low > self.none or self.high < self.none

    @property
    def strength(self) -> float:
        """Distance of the effect from no change, in halves of the length of its interval; 0 without an interval."""
        numbers = (self.estimate, self.low, self.high, self.none)
        if any(map(math.isnan, numbers)):
            return 0.0
        estimate, low, high, none = map(math.log, numbers) if self.what == SPREAD else numbers
        return 2.0 * abs(estimate - none) / (high - low) if high > low else 0.0

    def words(self) -> str:
        """Return the effect and its interval."""
        estimate, interval = self.estimate, (self.low, self.high)
        if math.isnan(estimate):
            return "effect not estimated"
        if self.what in (SHARE, MISSING):
            shown, *limits = (f"{100.0 * number:+.1f}" for number in (estimate, *interval))
            shown += " points"
        elif self.what == SPREAD:
            shown, *limits = (f"{number:.3g}" for number in (estimate, *interval))
            shown = f"× {shown}"
        else:
            shown, *limits = shown_shares(estimate, interval)
            shown = f"AUC {shown}"
        return f"{shown}, interval not estimated" if math.isnan(self.low) else f"{shown} [{', '.join(limits)}]"


@dataclass(frozen=True)
class ColumnEffects:
    """How one column differs between two tables.

    Parameters
    ----------
    name, kind : str
        Name and kind of the column.
    changes : tuple of Change
        In every respect that its kind has.
    untested : str
        Why the column was not tested; empty if it was.
    """

    name: str
    kind: str
    changes: tuple[Change, ...]
    untested: str = ""

    @property
    def constant(self) -> bool:
        """True if it has one value only in both tables."""
        return self.untested == CONSTANT

    @property
    def leading(self) -> Change | None:
        """The change that stands out most, in lengths of its interval."""
        return max(self.changes, key=lambda change: change.strength, default=None)

    def shown(self, *, changed: bool) -> tuple[Change, ...]:
        """Return the changes to show: all that are clear of a column that changed, else the leading one."""
        clear = [change for change in self.changes if changed and change.clear]
        strongest = sorted(clear, key=lambda change: -change.strength)[:_SHOWN]
        return tuple(strongest) or (() if self.leading is None else (self.leading,))

    def lines(self, *, changed: bool) -> tuple[str, ...]:
        """Return a line for each effect; ``changed`` says whether the test of this column rejects."""
        words = tuple(self.text(change) for change in self.shown(changed=changed))
        if self.untested:
            return (f"not tested: {self.untested}", *(() if self.constant else words))
        if changed and not any(change.clear for change in self.changes):
            return ("no single effect is clear", *words)
        return words or ("not estimated",)

    def text(self, change: Change) -> str:
        """Return one change in words, with as many digits as tell both values apart."""
        powers = max(abs(change.first), abs(change.second)) >= _POWERS
        for digits in (*range(_DIGITS, _MOST_DIGITS + 1), _DIGITS):
            first, second = (self._value(change, value, digits, powers) for value in (change.first, change.second))
            if first != second:
                break
        category = " ".join(change.level.split())
        what = {SPREAD: "IQR", SHARE: category, POSITION: "mean position"}.get(change.what, change.what)
        return f"{what} {first} → {second} ({change.words()})"

    def _value(self, change: Change, value: float, digits: int, powers: bool) -> str:
        if change.what in (SHARE, MISSING):
            return f"{100.0 * value:.{digits}g}%"
        if change.what == MEDIAN and self.kind == "date":
            return _date(value)
        if change.what == MEDIAN and self.kind == "time":
            return _time_of_day(value)
        return f"{_number(value, digits, powers)}{_UNITS.get(self.kind, '')}"

    def to_dict(self, change: Change) -> dict[str, Any]:
        """Return one change as plain values."""
        numbers = {name: getattr(change, name) for name in ("first", "second", "estimate", "low", "high")}
        return {"column": self.name, "effect": change.what, "level": change.level or None, **numbers}

    def row(self, change: Change) -> dict[str, Any]:
        """Return ``to_dict`` with dates and durations of pandas, and times of day as text."""
        row = self.to_dict(change)
        for name in ("first", "second"):
            row[name] = self._as_pandas(change, row[name])
        return row

    def _as_pandas(self, change: Change, value: float) -> Any:
        if change.what not in (MEDIAN, SPREAD) or self.kind not in _UNITS or math.isnan(value):
            return value
        if change.what == MEDIAN and self.kind == "time":
            return _time_of_day(value)
        import pandas as pd

        try:  # to the second, so that years far from ours have one
            seconds = round(value * (3600.0 if self.kind == "time" else 86400.0))
            if change.what == MEDIAN and self.kind == "date":
                return pd.Timestamp(np.datetime64(seconds, "s"))
            return pd.Timedelta(np.timedelta64(seconds, "s"))
        except (OverflowError, ValueError):
            return value


def shown_pvalue(pvalue: float) -> str:
    """Return a p-value as papers print it, with more digits if rounding would bring it down to a usual level.

    Examples
    --------
    >>> shown_pvalue(0.001), shown_pvalue(0.0423), shown_pvalue(0.3), shown_pvalue(1e-05), shown_pvalue(0.0502)
    ('.001', '.042', '.30', '1e-05', '.0502')
    """
    if math.isnan(pvalue):
        return "not computed"
    text = f"{pvalue:.2f}" if pvalue >= 0.1 else f"{pvalue:.2g}"
    for digits in range(3, 7):
        if float(text) not in _LEVELS or pvalue <= float(text):
            break
        text = f"{pvalue:.{digits}g}"
    return text.removeprefix("0")


def _number(number: float, digits: int = _DIGITS, powers: bool = False) -> str:
    """Return a number without powers of ten, unless it is very large."""
    if 1000.0 <= abs(number) < _POWERS and not powers:
        return f"{number:,.{max(0, digits - len(f'{abs(number):.0f}'))}f}"
    return f"{number:,.{digits}g}"


def _date(days: float) -> str:
    """Return the day that is so many days after the first of 1970."""
    try:
        return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days)))
    except OverflowError:
        return f"{_number(days)} days after 1970-01-01"


def _time_of_day(hours: float) -> str:
    hour, minute = divmod(round(hours * 60.0) % 1440, 60)
    return f"{hour:02d}:{minute:02d}"
