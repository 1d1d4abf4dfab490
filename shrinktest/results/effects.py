"""Effects: what changed in a column, in words."""

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
_SHOWN = 3  # effects of a column that are told
_MINUTES = 24 * 60  # of a day
_SECONDS = 60.0 * _MINUTES
_MORE_THAN_SHOWN = 1000.0  # from where numbers are written without decimals
_DIGITS, _MOST_DIGITS = 3, 15  # of numbers, and of two that would look alike with fewer
_POWERS = 1e12  # from where numbers are written with powers of ten


@dataclass(frozen=True)
class Effects:
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

    def told(self, *, changed: bool) -> tuple[Change, ...]:
        """The changes that the words are about: of a column that changed all that are clear, else the leading one."""
        clear = sorted((one for one in self.changes if one.clear), key=lambda one: -one.strength) if changed else []
        if not clear and self.leading is not None:
            return (self.leading,)
        return tuple(clear[:_SHOWN])

    def lines(self, *, changed: bool) -> tuple[str, ...]:
        """What changed, a line for each effect; ``changed`` says whether the test of this column rejects."""
        said = tuple(self.said(change) for change in self.told(changed=changed))
        if self.untested:
            return (f"not tested: {self.untested}", *(() if self.constant else said))
        if changed and not any(change.clear for change in self.changes):
            return ("no single effect is clear", *said)
        return said or ("not estimated",)

    def words(self, *, changed: bool) -> str:
        """What changed, in one line."""
        return "; ".join(self.lines(changed=changed))

    def said(self, change: Change) -> str:
        """One change in words: what it was and is, and the effect with its interval."""
        first, second = self._values(change)
        category = " ".join(change.level.split())  # on one line, whatever is in the text
        what = {SPREAD: "IQR", SHARE: category, POSITION: "mean position"}.get(change.what, change.what)
        return f"{what} {first} → {second} ({_effect(change)})"

    def _values(self, change: Change) -> tuple[str, str]:
        """What it was and is, with as many digits as tell the two apart, and both with powers of ten or none."""
        powers = max(abs(change.first), abs(change.second)) >= _POWERS
        for digits in (*range(_DIGITS, _MOST_DIGITS + 1), _DIGITS):
            first, second = (self.value(change, one, digits, powers=powers) for one in (change.first, change.second))
            if first != second:
                break
        return first, second

    def value(self, change: Change, number: float, digits: int = _DIGITS, *, powers: bool = False) -> str:
        """A median, a spread or a share as a person writes it; see :func:`shown`."""
        if change.what in (SHARE, MISSING):
            return f"{100.0 * number:.{digits}g}%"
        if change.what == MEDIAN and self.kind == "date":
            return shown_date(number)
        if change.what == MEDIAN and self.kind == "time":
            return _time_of_day(number)
        unit = {"date": " days", "duration": " days", "time": " hours"}.get(self.kind, "")
        return f"{shown(number, digits, powers=powers)}{unit}"

    def to_row(self, change: Change) -> dict[str, Any]:
        """One change as a row of a table: ``to_dict`` with dates and durations of pandas, and times of day as text."""
        row = self.to_dict(change)
        for name in ("first", "second"):
            row[name] = self._of_pandas(change, row[name])
        return row

    def _of_pandas(self, change: Change, number: float) -> Any:
        if change.what not in (MEDIAN, SPREAD) or self.kind not in ("date", "duration", "time") or math.isnan(number):
            return number
        if change.what == MEDIAN and self.kind == "time":
            return _time_of_day(number)
        stamped = change.what == MEDIAN and self.kind == "date"
        days = number / 24.0 if self.kind == "time" else number
        try:
            return _stamp(days) if stamped else _length(days)
        except (OverflowError, ValueError):  # beyond what pandas has
            return number

    def to_dict(self, change: Change) -> dict[str, Any]:
        """One change as plain values."""
        return {
            "column": self.name,
            "effect": change.what,
            "level": change.level or None,
            "first": change.first,
            "second": change.second,
            "estimate": change.estimate,
            "low": change.low,
            "high": change.high,
        }


def _time_of_day(hours: float) -> str:
    hour, minute = divmod(round(hours * 60.0) % _MINUTES, 60)
    return f"{hour:02d}:{minute:02d}"


def _stamp(days: float) -> Any:
    """A time of pandas, to the second, so that years far from ours have one."""
    import pandas as pd

    return pd.Timestamp(np.datetime64(round(days * _SECONDS), "s"))


def _length(days: float) -> Any:
    import pandas as pd

    return pd.Timedelta(np.timedelta64(round(days * _SECONDS), "s"))


def shown(number: float, digits: int = _DIGITS, *, powers: bool = False) -> str:
    """A number as a person writes it: no powers of ten, unless asked for, where it is no larger than a population.

    Examples
    --------
    >>> shown(1234.5), shown(0.12345), shown(-2.0), shown(3e15)
    ('1,234', '0.123', '-2', '3e+15')
    >>> shown(1234.5, 6), shown(0.12345, 6), shown(1e12 - 0.5, 14, powers=True)
    ('1,234.50', '0.12345', '999,999,999,999.5')
    """
    if _MORE_THAN_SHOWN <= abs(number) < _POWERS and not powers:
        return f"{number:,.{max(0, digits - len(f'{abs(number):.0f}'))}f}"
    return f"{number:,.{digits}g}"


def shown_date(days: float) -> str:
    """The day that is so many days after the first of 1970."""
    try:
        return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days)))
    except OverflowError:
        return f"{shown(days)} days after 1970-01-01"


def shown_pvalue(pvalue: float) -> str:
    """A p-value as papers print it, with more digits where two would make a usual level of one that is above it.

    Examples
    --------
    >>> shown_pvalue(0.001), shown_pvalue(0.0423), shown_pvalue(0.3), shown_pvalue(1e-05), shown_pvalue(0.0502)
    ('.001', '.042', '.30', '1e-05', '.0502')
    """
    if math.isnan(pvalue):
        return "not computed"
    shown = f"{pvalue:.2f}" if pvalue >= 0.1 else f"{pvalue:.2g}"
    for digits in range(3, 7):
        if float(shown) not in _LEVELS or pvalue <= float(shown):
            break
        shown = f"{pvalue:.{digits}g}"
    return shown.removeprefix("0")


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
