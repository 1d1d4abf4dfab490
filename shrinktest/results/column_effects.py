"""Effects of one column: how it differs between two tables, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.results.effect import shown_shares
from shrinktest.units import CONSTANT

#: What may change.
MEDIAN, POSITION, SPREAD, SHARE, MISSING = "median", "position", "spread", "share", "missing"

_LEVELS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_SHOWN = 3  # effects of a column in words
_DIGITS, _MOST_DIGITS = 3, 15  # of numbers, and of two that would look alike with fewer
_POWERS = 1e12  # numbers from which powers of ten are written
_UNITS = {"date": " days", "duration": " days", "time": " hours"}


@dataclass(frozen=True)
class Change:
    """A respect in which a column differs between two tables: one of the words above, or the share of a ``level``.

    ``first`` and ``second`` are its values in both tables: dates in days since 1970, durations in days, times of day in
    hours, positions of ordered categories from 0.  ``estimate`` is the probability that a value of the second table is
    larger (AUC), the ratio of interquartile ranges, or the difference of shares; NaN if it is not estimated.
    """

    what: str
    level: str
    first: float
    second: float
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
        numbers = (self.estimate, self.low, self.high)
        if math.isnan(self.estimate):
            return "effect not estimated"
        if self.what in (SHARE, MISSING):
            shown, *limits = (f"{100.0 * number:+.1f}" for number in numbers)
            shown = f"{shown} points"
        elif self.what == SPREAD:
            shown, *limits = (f"{number:.3g}" for number in numbers)
            shown = f"× {shown}"
        else:
            shown, *limits = shown_shares(self.estimate, (self.low, self.high))
            shown = f"AUC {shown}"
        return f"{shown}, interval not estimated" if math.isnan(self.low) else f"{shown} [{', '.join(limits)}]"


@dataclass(frozen=True)
class ColumnEffects:
    """Differences of one column between two tables: effects, and the reason if it is not tested."""

    name: str
    kind: str
    changes: tuple[Change, ...]
    untested: str = ""
    pvalue: float = math.nan
    adjusted: float = math.nan
    reject: bool = False

    @property
    def constant(self) -> bool:
        """True if it has one value only in both tables."""
        return self.untested == CONSTANT

    @property
    def shown(self) -> tuple[Change, ...]:
        """The changes to show, strongest first: those that are clear if the column changed, else the strongest."""
        changes = sorted(self.changes, key=lambda change: -change.strength)
        return tuple([change for change in changes if self.reject and change.clear][:_SHOWN] or changes[:1])

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each change to show, or the reason why there is none."""
        words = tuple(map(self.text, self.shown))
        if self.untested:
            return (f"not tested: {self.untested}", *(() if self.constant else words))
        if self.reject and not any(change.clear for change in self.changes):
            return ("no single effect is clear", *words)
        return words or ("not estimated",)

    def text(self, change: Change) -> str:
        """Return one change in words, with as many digits as tell both values apart."""
        for digits in (*range(_DIGITS, _MOST_DIGITS + 1), _DIGITS):
            first, second = (self._value(change, value, digits) for value in (change.first, change.second))
            if first != second:
                break
        what = {SPREAD: "IQR", SHARE: " ".join(change.level.split()), POSITION: "mean position"}
        return f"{what.get(change.what, change.what)} {first} → {second} ({change.words()})"

    def _value(self, change: Change, value: float, digits: int) -> str:
        if change.what in (SHARE, MISSING):
            return f"{100.0 * value:.{digits}g}%"
        if change.what == MEDIAN and self.kind in ("date", "time"):
            return _time_of_day(value) if self.kind == "time" else str(np.datetime64(math.floor(value), "D"))
        powers = max(abs(change.first), abs(change.second)) >= _POWERS
        return f"{_number(value, digits, powers)}{_UNITS.get(self.kind, '')}"

    def to_dict(self, change: Change) -> dict[str, Any]:
        """Return one change as plain values."""
        numbers = {name: getattr(change, name) for name in ("first", "second", "estimate", "low", "high")}
        return {"column": self.name, "effect": change.what, "level": change.level or None, **numbers}

    def as_pandas(self, what: str, value: float) -> Any:
        """Return a value as pandas has it: dates and durations to the second; times of day as text."""
        if what not in (MEDIAN, SPREAD) or self.kind not in _UNITS or math.isnan(value):
            return value
        if what == MEDIAN and self.kind == "time":
            return _time_of_day(value)
        import pandas as pd

        seconds = round(value * (3600.0 if self.kind == "time" else 86400.0))
        if what == MEDIAN and self.kind == "date":
            return pd.Timestamp(np.datetime64(seconds, "s"))
        return pd.Timedelta(np.timedelta64(seconds, "s"))


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


def _number(number: float, digits: int, powers: bool) -> str:
    """Return a number without powers of ten, unless it is very large."""
    if 1000.0 <= abs(number) < _POWERS and not powers:
        return f"{number:,.{max(0, digits - len(f'{abs(number):.0f}'))}f}"
    return f"{number:,.{digits}g}"


def _time_of_day(hours: float) -> str:
    minutes = round(hours * 60.0) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
