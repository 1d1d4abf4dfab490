"""ColumnEffects: how one column differs between two tables, in words and numbers."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.results.effect import shown_shares
from shrinktest.tables.changes import MEDIAN, MISSING, POSITION, SHARE, SPREAD, Change
from shrinktest.tables.untestable import CONSTANT

_LEVELS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_SHOWN = 3  # effects of a column in words
_DIGITS, _MOST_DIGITS = 3, 15  # of numbers, and of two that would look alike with fewer
_POWERS = 1e12  # numbers from which powers of ten are written
_UNITS = {"date": " days", "duration": " days", "time": " hours"}


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
        """Whether it has one value only in both tables."""
        return self.untested == CONSTANT

    @property
    def leading(self) -> Change | None:
        """The change that stands out most, in lengths of its interval; None if there is none to speak of."""
        return max(self.changes, key=lambda change: change.strength, default=None)

    def shown(self, *, changed: bool) -> tuple[Change, ...]:
        """The changes to show: of a column that changed all that are clear, else the leading one."""
        clear = sorted((one for one in self.changes if one.clear), key=lambda one: -one.strength) if changed else []
        return tuple(clear[:_SHOWN]) or (() if self.leading is None else (self.leading,))

    def lines(self, *, changed: bool) -> tuple[str, ...]:
        """What changed, a line for each effect; ``changed`` says whether the test of this column rejects."""
        words = tuple(self.text(change) for change in self.shown(changed=changed))
        if self.untested:
            return (f"not tested: {self.untested}", *(() if self.constant else words))
        if changed and not any(change.clear for change in self.changes):
            return ("no single effect is clear", *words)
        return words or ("not estimated",)

    def text(self, change: Change) -> str:
        """One change in words: what it was and is, and the effect with its interval."""
        first, second = self._values(change)
        category = " ".join(change.level.split())
        what = {SPREAD: "IQR", SHARE: category, POSITION: "mean position"}.get(change.what, change.what)
        return f"{what} {first} → {second} ({_effect(change)})"

    def _values(self, change: Change) -> tuple[str, str]:
        """What it was and is, with as many digits as tell the two apart, and both with powers of ten or none."""
        powers = max(abs(change.first), abs(change.second)) >= _POWERS
        for digits in (*range(_DIGITS, _MOST_DIGITS + 1), _DIGITS):
            first, second = (self._value(change, one, digits, powers) for one in (change.first, change.second))
            if first != second:
                break
        return first, second

    def _value(self, change: Change, number: float, digits: int, powers: bool) -> str:
        if change.what in (SHARE, MISSING):
            return f"{100.0 * number:.{digits}g}%"
        if change.what == MEDIAN and self.kind == "date":
            return _date(number)
        if change.what == MEDIAN and self.kind == "time":
            return _time_of_day(number)
        return f"{_number(number, digits, powers)}{_UNITS.get(self.kind, '')}"

    def to_dict(self, change: Change) -> dict[str, Any]:
        """One change as plain values."""
        numbers = {name: getattr(change, name) for name in ("first", "second", "estimate", "low", "high")}
        return {"column": self.name, "effect": change.what, "level": change.level or None, **numbers}

    def row(self, change: Change) -> dict[str, Any]:
        """One change as a row of a table: ``to_dict`` with dates and durations of pandas, and times of day as text."""
        row = self.to_dict(change)
        return row | {name: self._of_pandas(change, row[name]) for name in ("first", "second")}

    def _of_pandas(self, change: Change, number: float) -> Any:
        if change.what not in (MEDIAN, SPREAD) or self.kind not in _UNITS or math.isnan(number):
            return number
        if change.what == MEDIAN and self.kind == "time":
            return _time_of_day(number)
        import pandas as pd

        try:  # to the second, so that years far from ours have one
            seconds = round(number * (3600.0 if self.kind == "time" else 86400.0))
            if change.what == MEDIAN and self.kind == "date":
                return pd.Timestamp(np.datetime64(seconds, "s"))
            return pd.Timedelta(np.timedelta64(seconds, "s"))
        except (OverflowError, ValueError):
            return number


def shown_pvalue(pvalue: float) -> str:
    """A p-value as papers print it, with more digits if two would make a usual level of one that is above it.

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
    """A number as a person writes it: without powers of ten, unless it is very large."""
    if 1000.0 <= abs(number) < _POWERS and not powers:
        return f"{number:,.{max(0, digits - len(f'{abs(number):.0f}'))}f}"
    return f"{number:,.{digits}g}"


def _date(days: float) -> str:
    """The day that is so many days after the first of 1970."""
    try:
        return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days)))
    except OverflowError:
        return f"{_number(days)} days after 1970-01-01"


def _time_of_day(hours: float) -> str:
    hour, minute = divmod(round(hours * 60.0) % 1440, 60)
    return f"{hour:02d}:{minute:02d}"


def _effect(change: Change) -> str:
    estimate, interval = change.estimate, (change.low, change.high)
    if math.isnan(estimate):
        return "effect not estimated"
    if change.what in (SHARE, MISSING):
        shown, *limits = (f"{100.0 * number:+.1f}" for number in (estimate, *interval))
        shown += " points"
    elif change.what == SPREAD:
        shown, *limits = (f"{number:.3g}" for number in (estimate, *interval))
        shown = f"× {shown}"
    else:
        shown, *limits = shown_shares(estimate, interval)
        shown = f"AUC {shown}"
    return f"{shown}, interval not estimated" if math.isnan(change.low) else f"{shown} [{', '.join(limits)}]"
