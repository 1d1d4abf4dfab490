"""Results of change-point tests: whether a series changes, where, and which places are not ruled out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.results.base import Result, plain
from shrinktest.results.ensemble import AggregateResult
from shrinktest.results.info import CHANGE, OUTSIDE_INSIDE
from shrinktest.results.printing import Summary, Table
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$")
_PLACE = ("location", "until", "confidence", "interval", "until_interval")
_COLUMNS = ["location", "when", "low", "high", "pvalue", "adjusted"]


@dataclass(frozen=True)
class RowTimes:
    """Times of rows, as summaries and pictures write them.

    Examples
    --------
    >>> import pandas as pd
    >>> RowTimes(pd.to_datetime(["1898", "1899"])).text(1), RowTimes([1898, 1899]).text(1), RowTimes([1898]).text(2)
    ('1899-01-01', '1899', '')
    >>> RowTimes(["Monday", "Tuesday", "Wednesday"]).between((0, 2)), RowTimes(["Monday", "Tuesday"]).between((1, 2))
    ('Monday to Wednesday', 'Tuesday to behind the last')
    """

    times: Sequence[Any]

    def at(self, row: int | None) -> Any:
        """Return the time of a row; its number if no times are known, None behind the last row."""
        return row if row is None or not self.times else self.times[row] if row < len(self.times) else None

    def ends(self, interval: tuple[int, int] | None) -> tuple[Any, Any] | None:
        """Return the times of both ends of an interval of rows."""
        return None if interval is None else (self.at(interval[0]), self.at(interval[1]))

    def text(self, row: int) -> str:
        """Write the time of a row, dates without their hour if all are at midnight; empty behind the last row."""
        if row >= len(self.times):
            return ""
        time = self.times[row]
        text = f"{time:.{self._digits}g}" if isinstance(time, float) else str(time)
        return _MIDNIGHT.sub("", text) if self._days else text

    def between(self, interval: tuple[int, int]) -> str:
        """Write the times of both ends of an interval of rows."""
        return f"{self.text(interval[0])} to {self.text(interval[1]) or 'behind the last'}"

    @cached_property
    def _digits(self) -> int:
        """Return one digit more than distinguishes all times, which are numbers."""
        distinct, whole = len(set(self.times)), max(len(f"{abs(time):.0f}") for time in self.times)
        counts = range(min(max(whole, 4), 15), 17)
        return next((n for n in counts if len({f"{time:.{n}g}" for time in self.times}) == distinct), 16) + 1

    @cached_property
    def _days(self) -> bool:
        return all(_MIDNIGHT.search(str(time)) for time in self.times)


@dataclass(frozen=True, eq=False)
class Place:
    """Place of a change, with the places that are not ruled out."""

    location: int | None = None  # the first row after the change
    interval: tuple[int, int] | None = None
    until: int | None = None  # the first row after an interval of change
    until_interval: tuple[int, int] | None = None
    confidence: float | None = None
    curve: np.ndarray = field(default_factory=lambda: np.empty(0))  # (n + 1,): standardised distance at every cut

    @property
    def ends(self) -> list[tuple[int, tuple[int, int] | None]]:
        """Both ends of the change, or its only place, each with its interval."""
        both = [(self.location, self.interval), (self.until, self.until_interval)]
        return [(row, interval) for row, interval in both if row is not None]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Placed(TestResult):
    """Base class of results with the place of a change."""

    place: Place = field(default_factory=Place)
    times: tuple[Any, ...] = ()

    location = property(attrgetter("place.location"))
    interval = property(attrgetter("place.interval"))
    until = property(attrgetter("place.until"))
    until_interval = property(attrgetter("place.until_interval"))
    confidence = property(attrgetter("place.confidence"))
    curve = property(attrgetter("place.curve"))

    @property
    def when(self) -> Any:
        """Time of the first row after the change; its number if no times are known, None without a place."""
        return RowTimes(self.times).at(self.location)

    @property
    def when_interval(self) -> tuple[Any, Any] | None:
        """Times of both ends of ``interval``; their rows if no times are known, None without an interval."""
        return RowTimes(self.times).ends(self.interval)

    def estimate_names(self, count: int) -> tuple[str, ...]:
        """Name each estimate: outside and inside an epidemic change, else before and after."""
        return OUTSIDE_INSIDE if self.until is not None else super().estimate_names(count)

    def named(self, row: int) -> str:
        """Name a row by its time, or by its number if no times are known."""
        return RowTimes(self.times).text(row) or f"{row}"

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return plain Python values, as of a `TestResult`, with the place and ``times``.

        ``curve`` has the rows at which cuts are made (``rows``) and the standardised distances there (``values``).
        """
        place = {name: plain(getattr(self, name)) for name in (*_PLACE, "times")}
        return super().to_dict(**options) | place | {"curve": _curve_entries(self.curve)}

    def row(self) -> dict[str, Any]:
        """Return the result as one row for a table of results, with the place."""
        place = {name: getattr(self, name) for name in _PLACE}
        return super().row() | {k: str(value) if isinstance(value, tuple) else value for k, value in place.items()}

    def _tables(self) -> list[Table]:
        times, rows = RowTimes(self.times), []
        names = ("First row after the change:",) if self.until is None else ("First changed row:", "First row behind:")
        for name, (row, interval) in zip(names, self.place.ends, strict=False):
            rows.append((name, f"{row} ({times.text(row)})" if times.text(row) else f"{row}"))
            if interval is not None and self.confidence is not None:
                between = f" ({times.between(interval)})" if self.times else ""
                rows.append((f"{percent(self.confidence)} interval:", f"{interval[0]} to {interval[1]}{between}"))
        return [*super()._tables(), *([Table(rows, "lr", gap="   ")] if rows else [])]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the standardised distance at every cut, the place of the change and its interval (matplotlib)."""
        from shrinktest.plots.change import plot_change

        return plot_change(self, ax)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ChangeResult(Placed):
    """Result of a change-point test: all of a :class:`TestResult`, and the place of the change.

    Attributes
    ----------
    place : Place
        ``location``, the first row after the change, counting from 0 (the first changed row of an epidemic change), and
        ``until``, the first row after an epidemic change; ``interval`` and ``until_interval``, the first and last place
        that a test does not reject with this ``confidence``; ``curve`` (n + 1,), the standardised distance of the rows
        before and after every cut, or the largest of epidemic changes that begin there.  None if not computed.
    times : tuple
        When the rows were observed, if that is known; ``result.when`` is the time of the change, and
        ``result.when_interval`` has the times of the ends of its interval.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`; ``estimates`` describe the rows before and after the change (outside and inside
        an epidemic one).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_point_test
    >>> rng = np.random.default_rng(1)
    >>> result = change_point_test(np.concatenate([rng.normal(size=60), rng.normal(1.5, 1.0, size=40)]), rng=0)
    >>> result.pvalue, result.location, result.interval
    (0.001, 60, (59, 62))
    """


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateChangeResult(Placed, AggregateResult):
    """Result of a change-point test that combines several statistics: an :class:`AggregateResult` with a place.

    Attributes
    ----------
    place, times
        As in a :class:`ChangeResult`, of the member that decided.
    members, adjusted, decided, null, data, setup, alpha, estimates, rng, notes, context
        As in an :class:`AggregateResult`.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_point_test
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), 3.0 * rng.normal(size=(40, 2))])
    >>> result = change_point_test(X, estimator="auto", rng=0)
    >>> result.pvalue, result.location, result.best.kernel.label
    (0.001, 60, 'Depth(Gaussian)')
    """


@dataclass(frozen=True)
class Stretch:
    """Rows ``first`` to before ``end`` between two changes, and the test that looked for another change among them."""

    first: int
    end: int
    pvalue: float
    adjusted: float  # for all tests
    location: int  # row of the whole series at which the stretch changes most


@dataclass(frozen=True, eq=False, repr=False)
class ChangesResult(Result):
    """Result of a search for several changes: places with intervals, adjusted p-values, and all tests that were made.

    Attributes
    ----------
    locations : ndarray of int, shape (k,)
        The first rows after the changes, in order; none if no test rejects.
    adjusted : ndarray, shape (k,)
        p-values of the changes, adjusted for the number of tests.
    pvalues : ndarray, shape (k,)
        Of the stretches when each was cut, not of the rows between the final changes.
    intervals : tuple of tuple of int, or of None
        Confidence interval for the place of each change, its first and last row, with the neighbouring changes taken as
        fixed.
    tests : tuple of Stretch
        Every test, in order; stretches whose test rejected were cut in two.
    curve : ndarray, shape (n + 1,)
        The standardised distance at the cuts of the whole series.
    n_observations : tuple of int
        (n,)
    alpha, confidence : float
        Level of all tests together; confidence of each interval, or None.
    estimator, kernel
        As given; bandwidths are found in every stretch anew.
    times, restriction, notes, rng
        As in a :class:`ChangeResult`.
    points : ndarray, shape (n, d), or None
        The rows, for pictures; not in JSON.
    columns : tuple of str or None
        The names of the columns of a table; None for arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_points
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=150) + np.repeat([0.0, 3.0, 0.0], 50)
    >>> result = change_points(X, rng=0)
    >>> result.locations.tolist(), result.adjusted.round(3).tolist()
    ([50, 100], [0.001, 0.002])
    """

    locations: np.ndarray
    adjusted: np.ndarray
    pvalues: np.ndarray
    intervals: tuple[tuple[int, int] | None, ...]
    tests: tuple[Stretch, ...]
    curve: np.ndarray
    n_observations: tuple[int, ...]
    alpha: float
    confidence: float | None
    estimator: Any
    kernel: Any
    rng: dict[str, Any]
    times: tuple[Any, ...] = ()
    restriction: str = ""
    notes: tuple[str, ...] = ()
    points: np.ndarray | None = field(default=None, compare=False)
    columns: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.locations)

    def __repr__(self) -> str:
        return f"ChangesResult({counted(len(self), 'change')} at {self.locations.tolist()}, level {self.alpha:g})"

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis that nothing changes, from the exact test of the whole series."""
        return self.tests[0].pvalue

    def reject(self) -> bool:
        """Return True if anything changes, at the level ``alpha``."""
        return bool(self.pvalue <= self.alpha)

    @property
    def when(self) -> tuple[Any, ...]:
        """Times of the changes; their rows if no times are known."""
        return tuple(map(RowTimes(self.times).at, self.locations.tolist()))

    @property
    def when_intervals(self) -> tuple[tuple[Any, Any] | None, ...]:
        """Times of both ends of every interval; their rows if no times are known."""
        return tuple(map(RowTimes(self.times).ends, self.intervals))

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First row of every stretch between the changes, and the first row after it."""
        return tuple(pairwise([0, *self.locations.tolist(), self.n_observations[0]]))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for every change: location, when, low, high, pvalue, adjusted."""
        ends = (interval or (None, None) for interval in self.intervals)
        places = zip(self.locations.tolist(), self.when, ends, strict=True)
        pvalues = zip(self.pvalues.tolist(), self.adjusted.tolist(), strict=True)
        cells = ((at, when, *both, *p) for (at, when, both), p in zip(places, pvalues, strict=True))
        return [dict(zip(_COLUMNS, row, strict=True)) for row in cells]

    @property
    def table(self) -> Any:
        """The rows as a table (pandas), with its columns also if nothing changes."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=_COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names, without the rows; also test, pvalue, reject.

        ``curve`` has the rows at which cuts are made (``rows``) and the standardised distances there (``values``).
        """
        return super().to_dict() | {
            "tests": list(map(asdict, self.tests)),
            "curve": _curve_entries(self.curve),
            "test": CHANGE.name,
            "pvalue": self.pvalue,
            "reject": self.reject(),
        }

    def summary(self) -> Summary:
        """Return what was done, and the changes in order."""
        head = (
            f"Kernel change points: {len(self)} found at level {self.alpha:g}",
            f"Estimator:     {getattr(self.estimator, 'label', repr(self.estimator))}",
            f"Rows:          {self.n_observations[0]}{f', {self.restriction}' if self.restriction else ''}",
            f"Tests:         {len(self.tests)}, p-values adjusted for all of them",
        )
        times, locations = RowTimes(self.times), self.locations.tolist()
        pairs = [(self.pvalue, self.tests[0].adjusted)]
        pairs = list(zip(self.pvalues, self.adjusted, strict=True)) if locations else pairs
        columns = {
            "row": list(map(str, locations)) or ["none"],
            "when": [times.text(row) or str(row) for row in locations],
            f"{percent(self.confidence or 0.0)} interval": [f"{i[0]} to {i[1]}" if i else "" for i in self.intervals],
            "in time": [times.between(i) if i and self.times else "" for i in self.intervals],
            "p-value": [f"{pvalue:.4g}" for pvalue, _ in pairs],
            "adjusted": [f"{adjusted:.4g}" for _, adjusted in pairs],
        }
        shown = {name: cells for name, cells in columns.items() if any(cells)}
        table = Table(list(zip(*shown.values(), strict=True)), "r", headers=list(shown), below="-")
        return Summary.of(table, head=head, notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rows with the changes and their intervals (matplotlib)."""
        from shrinktest.plots.change import plot_changes

        return plot_changes(self, ax)


def _curve_entries(curve: np.ndarray) -> dict[str, list[Any]]:
    """Return the rows at which a curve is known, and its values there."""
    rows = np.flatnonzero(np.isfinite(curve))
    return {"rows": rows.tolist(), "values": curve[rows].tolist()}
