"""One column in two tables: its distributions, and how they differ in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.data.column import Column
from shrinktest.data.untestable import CONSTANT
from shrinktest.results.effect import shown_shares
from shrinktest.results.printing import signed

#: What may change.
MEDIAN = "median"
POSITION = "position"
SPREAD = "spread"
SHARE = "share"
MISSING = "missing"
MEAN_DIFFERENCE = "mean_difference"
MEDIAN_DIFFERENCE = "median_difference"
DIFFERENCES = (MEAN_DIFFERENCE, MEDIAN_DIFFERENCE)

_SHOWN = 3  # effects of a column in words
_DIGITS = 3
_MOST_DIGITS = 15  # of numbers, and of two that would look alike with fewer
_POWERS = 1e12  # numbers from which powers of ten are written
_UNITS = {"date": " days", "duration": " days", "time": " hours"}
_SHORT = {
    "days": 1.0,
    "hours": 24.0,
    "min": 1440.0,
    "s": 86400.0,
    "ms": 8.64e7,
    "µs": 8.64e10,
    "ns": 8.64e13,
}  # a day
_MOMENTS = ("D", "m", "s", "ms", "us")  # units of dates, the next if two look alike
_BARS = 8  # categories that a picture shows; the rest is put together
_BINS = (8, 40)
# times the distance of the quartiles beyond them, from where values are counted in the outermost
# bins
_FAR = 4.0


@dataclass(frozen=True)
class Change:
    """A respect in which a column differs between two tables.

    It is one of the words above, or the share of a ``level``.

    ``first`` and ``second`` are its values in both tables: dates in days since 1970, durations in
    days, times of day in hours, positions of ordered categories from 0. ``estimate`` is the
    probability that a value of the second table is larger (AUC), the ratio of interquartile ranges,
    or the difference of shares, means or medians, second less first; NaN if it is not estimated.
    ``adjusted_for`` says what the estimate is adjusted for, such as "blocks"; the two values never
    are.
    """

    what: str
    level: str
    first: float
    second: float
    estimate: float
    low: float = math.nan
    high: float = math.nan
    adjusted_for: str = ""

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
        """Distance of the effect from no change, in halves of the length of its interval.

        0 without an interval.
        """
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
        return (
            f"{shown}, interval not estimated"
            if math.isnan(self.low)
            else f"{shown} [{', '.join(limits)}]"
        )


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
    def size(self) -> float:
        """Return the largest effect on a scale from 0 to 1, as far as it is known.

        2 |AUC - 1/2|, the absolute difference of shares, or |r - 1| / (r + 1) of the ratio r of
        interquartile ranges.
        """
        sizes = [_size(change) for change in self.changes]
        return max((size for size in sizes if not math.isnan(size)), default=0.0)

    @property
    def constant(self) -> bool:
        """True if it has one value only in both tables."""
        return self.untested == CONSTANT

    @property
    def strength(self) -> float:
        """Largest strength of its changes."""
        return max((self.counted(change).strength for change in self._unadjusted), default=0.0)

    @property
    def shown(self) -> tuple[Change, ...]:
        """Changes to show, strongest first.

        They are those that are clear if the column changed, else the strongest.
        """
        changes = sorted(self._unadjusted, key=lambda change: -self.counted(change).strength)
        clear = [change for change in changes if self.reject and self.counted(change).clear]
        if self.adjusted_for and not clear:  # spread is never adjusted
            changes = [change for change in changes if change.what != SPREAD]
        return tuple(clear[:_SHOWN] or changes[:1])

    @property
    def _unadjusted(self) -> tuple[Change, ...]:
        """Changes that a line may begin with."""
        return tuple(
            change
            for change in self.changes
            if not change.adjusted_for and change.what not in DIFFERENCES
        )

    @property
    def adjusted_for(self) -> str:
        """Variables that effects are adjusted for; empty without any."""
        return next((change.adjusted_for for change in self.changes if change.adjusted_for), "")

    @property
    def unit(self) -> str:
        """The unit of differences: "days" or "hours", or empty for that of the numbers."""
        return _UNITS.get(self.kind, "").strip()

    def effect(self, what: str, level: str = "", *, adjusted: bool = True) -> Change | None:
        """Return a change; if there are two, the ``adjusted`` one or the other."""
        same = [change for change in self.changes if (change.what, change.level) == (what, level)]
        same.sort(key=lambda change: bool(change.adjusted_for) != adjusted)
        return next(iter(same), None)

    def counted(self, change: Change) -> Change:
        """Return the adjusted change in place of the other, if there is one."""
        return self.effect(change.what, change.level) or change

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each change to show, or the reason why there is none."""
        shown = () if self.constant else self.shown
        words = (*map(self.text, shown), *self._adjusted_lines(shown))
        if self.untested:
            return (f"not tested: {self.untested}", *words)
        if self.reject and not any(self.counted(change).clear for change in self._unadjusted):
            return ("no single effect is clear", *words)
        return words or ("not estimated",)

    def text(self, change: Change) -> str:
        """Return one change in words."""
        words = change.words()
        difference = self.effect(MEDIAN_DIFFERENCE) if change.what == MEDIAN else None
        if difference is not None:
            words = f"{self.difference(difference)}; {words}"
        return f"{self.values(change)} ({words})"

    def _adjusted_lines(self, shown: tuple[Change, ...]) -> tuple[str, ...]:
        """Return a line on the adjusted effects of changes that are shown."""
        words = []
        if any(change.what in (MEDIAN, SPREAD) for change in shown):
            places = [(MEAN_DIFFERENCE, ""), (MEDIAN, "")]
        else:
            places = [(change.what, change.level) for change in shown]
        for what, level in places:
            change = self.effect(what, level)
            if change is None or not change.adjusted_for:
                continue
            if what == MEAN_DIFFERENCE:
                words.append(f"mean {self.difference(change)}")
            else:
                words.append(" ".join([*level.split(), change.words()]))
        return (f"adjusted for {self.adjusted_for}: {', '.join(words)}",) if words else ()

    def difference(self, change: Change) -> str:
        """Return a difference of means or medians in its unit, with its interval."""
        numbers = np.array([change.estimate, change.low, change.high])
        if not math.isfinite(change.estimate):
            return "not estimated"
        unit = _UNITS.get(self.kind, "")
        if self.kind in ("date", "duration"):
            longest = float(np.abs(numbers[np.isfinite(numbers)]).max())
            name = next((name for name, parts in _SHORT.items() if longest * parts >= 1.0), "days")
            numbers *= _SHORT[name]
            unit = f" {name}"
        shown, *limits = signed(numbers.tolist())
        if math.isnan(change.low):
            return f"{shown}{unit}, interval not estimated"
        return f"{shown}{unit} [{', '.join(limits)}]"

    def values(self, change: Change) -> str:
        """Return both values of a change, with as many digits as tell them apart."""
        for digits in (*range(_DIGITS, _MOST_DIGITS + 1), _DIGITS):
            first, second = (
                self._value(change, value, digits) for value in (change.first, change.second)
            )
            if first != second:
                break
        what = {SPREAD: "IQR", SHARE: " ".join(change.level.split()), POSITION: "mean position"}
        return f"{what.get(change.what, change.what)} {first} → {second}"

    def _value(self, change: Change, value: float, digits: int) -> str:
        if change.what in (SHARE, MISSING):
            return f"{100.0 * value:.{digits}g}%"
        if change.what == MEDIAN and self.kind in ("date", "time"):
            return _time_of_day(value) if self.kind == "time" else _moment(value, digits - _DIGITS)
        unit = _UNITS.get(self.kind, "")
        if self.kind in ("date", "duration"):
            longest = max(abs(change.first), abs(change.second))
            name = next((name for name, parts in _SHORT.items() if longest * parts >= 1.0), "days")
            value *= _SHORT[name]
            unit = f" {name}"
        if abs(value) >= 1000.0 and max(abs(change.first), abs(change.second)) < _POWERS:
            shown = (
                f"{value:,.{max(0, digits - len(f'{abs(value):.0f}'))}f}"  # without a power of ten
            )
        else:
            shown = f"{value:,.{digits}g}"
        return f"{shown}{unit}"

    def to_dict(self, change: Change) -> dict[str, Any]:
        """Return one change as plain values."""
        numbers = {
            name: getattr(change, name) for name in ("first", "second", "estimate", "low", "high")
        }
        return {
            "column": self.name,
            "effect": change.what,
            "level": change.level or None,
            **numbers,
        }

    def as_pandas(self, what: str, value: float) -> Any:
        """Return a value as pandas has it.

        Times of day are text, and dates and durations of days are to the second.
        """
        if what in (SHARE, MISSING) or self.kind not in _UNITS or math.isnan(value):
            return value
        center = what != SPREAD
        if center and self.kind == "time":
            return _time_of_day(value)
        import pandas as pd

        seconds = value * (3600.0 if self.kind == "time" else 86400.0)
        if center and self.kind == "date":
            return pd.Timestamp(np.datetime64(round(seconds), "s"))
        if abs(seconds) < 86400.0:
            return pd.Timedelta(np.timedelta64(round(1e9 * seconds), "ns"))
        return pd.Timedelta(np.timedelta64(round(seconds), "s"))


def _moment(days: float, detail: int) -> str:
    """Return a date, with hours and less if ``detail`` is above 0."""
    if detail <= 0:
        return str(np.datetime64(math.floor(days), "D"))
    moment = np.datetime64(round(days * 86400e6), "us")
    return str(moment.astype(f"datetime64[{_MOMENTS[min(detail, len(_MOMENTS) - 1)]}]")).replace(
        "T", " "
    )


def _time_of_day(hours: float) -> str:
    minutes = round(hours * 60.0) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


# --- distributions --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Distribution:
    """Shares of the values of a column in two tables, counted in bins or by category."""

    kind: str  # of the column
    # (k,): shares in every bin, or of every category; NaN where a table has no values
    first: np.ndarray
    second: np.ndarray
    # (k + 1,): of the bins; dates in days since 1970, durations in days, times of day in hours
    edges: np.ndarray | None = None
    labels: tuple[str, ...] = ()  # the categories
    clipped: bool = False  # True if the outermost bins count values beyond them, too


def distribution(first: Column, second: Column) -> Distribution:
    """Return the distribution of a column with the same levels in both tables."""
    if first.levels:
        rows = shares(first, second)
        if first.kind == "category":
            rows.sort(key=lambda row: -np.nansum(row[1:]))
        if len(rows) > _BARS + 1:
            rest = np.array([row[1:] for row in rows[_BARS:]]).sum(axis=0)
            rows = [*rows[:_BARS], (f"{len(rows) - _BARS} others", float(rest[0]), float(rest[1]))]
        numbers = np.array([row[1:] for row in rows]).reshape(-1, 2)
        return Distribution(
            first.kind, numbers[:, 0], numbers[:, 1], labels=tuple(row[0] for row in rows)
        )
    values = [numbers[~np.isnan(numbers)] for numbers in (first.numbers(), second.numbers())]
    edges, clipped = _edges(np.concatenate(values))
    counts = [np.histogram(np.clip(sample, edges[0], edges[-1]), edges)[0] for sample in values]
    with np.errstate(invalid="ignore"):
        before, after = (count / count.sum() for count in counts)
    return Distribution(first.kind, before, after, edges, clipped=clipped)


def _edges(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return bin edges for both tables' values, and whether some values are beyond them."""
    if not len(values):
        return np.array([0.0, 1.0]), False
    low = float(values.min())
    high = float(values.max())
    if low == high:
        return np.array([low - 0.5, high + 0.5]), False
    if high - low < _BINS[1] and (values == np.floor(values)).all():
        return np.arange(low - 0.5, high + 1.0), False
    lower, upper = np.quantile(values, (0.25, 0.75))
    reach = _FAR * float(upper - lower)
    start, stop = (
        (max(low, lower - reach), min(high, upper + reach)) if reach > 0.0 else (low, high)
    )
    width = (
        2.0 * float(upper - lower) / len(values) ** (1.0 / 3.0)
    )  # Freedman and Diaconis, for both tables together
    bins = int(np.clip(np.ceil((stop - start) / width) if width > 0.0 else 0, *_BINS))
    return np.linspace(start, stop, bins + 1), low < start or high > stop


def shares(first: Column, second: Column) -> list[tuple[str, float, float]]:
    """Return the share of every category that occurs among the values, in both tables."""
    present = [column.values[column.values >= 0] for column in (first, second)]
    rows = []
    for i, level in enumerate(first.levels):
        a, b = (float((values == i).mean()) if len(values) else math.nan for values in present)
        rows += [(level, a, b)] if a > 0.0 or b > 0.0 else []
    return rows


def _size(change: Change) -> float:
    """Return the size of a change, from 0 to 1."""
    if change.what in (MEDIAN, POSITION):
        return 2.0 * abs(change.estimate - 0.5)
    if change.what == SPREAD:
        return 1.0 if math.isinf(change.estimate) else _ratio_size(change.estimate)
    if change.what in (SHARE, MISSING):
        return abs(change.estimate)
    return math.nan


def _ratio_size(ratio: float) -> float:
    return abs(ratio - 1.0) / (ratio + 1.0)
