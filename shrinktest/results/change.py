"""Results of change-point tests: whether a series changes, where, and which places are not ruled out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
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
_END = "behind the last"


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

    def text(self, row: int) -> str:
        """The time of a row; dates have no hour if all are at midnight, and rows behind the last have no time."""
        if row >= len(self.times):
            return ""
        time = self.times[row]
        text = f"{time:.{self._digits}g}" if isinstance(time, float) else str(time)
        return _MIDNIGHT.sub("", text) if self._days else text

    def at(self, row: int | None) -> Any:
        """The time itself; the number of the row if no times are known, None behind the last row."""
        if row is None or not self.times:
            return row
        return self.times[row] if row < len(self.times) else None

    def ends(self, interval: tuple[int, int] | None) -> tuple[Any, Any] | None:
        """The times of both ends of an interval of rows."""
        return None if interval is None else (self.at(interval[0]), self.at(interval[1]))

    def between(self, interval: tuple[int, int]) -> str:
        """The times of both ends of an interval of rows, in words."""
        return f"{self.text(interval[0])} to {self.text(interval[1]) or _END}"

    @cached_property
    def _digits(self) -> int:
        """One digit more than tell times that are numbers apart and end at the point or behind it."""
        distinct, least = len(set(self.times)), max(len(f"{abs(time):.0f}") for time in self.times)
        counts = range(min(max(least, 4), 15), 17)
        return next((n for n in counts if len({f"{time:.{n}g}" for time in self.times}) == distinct), 16) + 1

    @cached_property
    def _days(self) -> bool:
        return all(_MIDNIGHT.search(str(time)) for time in self.times)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Placed(TestResult):
    """Base class of results with the place of a change."""

    location: int | None = None
    interval: tuple[int, int] | None = None
    until: int | None = None
    until_interval: tuple[int, int] | None = None
    confidence: float | None = None
    curve: np.ndarray = field(default_factory=lambda: np.empty(0))
    times: tuple[Any, ...] = ()

    @property
    def when(self) -> Any:
        """The time of the first row after the change; its number if no times are known, None without a place."""
        return RowTimes(self.times).at(self.location)

    @property
    def when_interval(self) -> tuple[Any, Any] | None:
        """The times of both ends of ``interval``; their rows if no times are known, None without an interval."""
        return RowTimes(self.times).ends(self.interval)

    def estimate_names(self, count: int) -> tuple[str, ...]:
        """A name for each estimate: an epidemic change has rows outside and inside, another before and after."""
        return OUTSIDE_INSIDE if self.until is not None else super().estimate_names(count)

    def named(self, row: int) -> str:
        """What a row is called: by its time, or by its number if no times are known."""
        return RowTimes(self.times).text(row) or f"{row}"

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return plain Python values, as of a `TestResult`, with the place and ``times``.

        ``curve`` has the rows at which cuts are made (``rows``) and the standardised distances there (``values``).
        """
        names = ("location", "until", "confidence", "interval", "until_interval", "times")
        place = {name: plain(getattr(self, name)) for name in names}
        return super().to_dict(**options) | place | {"curve": curve_entries(self.curve)}

    def row(self) -> dict[str, Any]:
        """The result as one row for a table of results, with the place."""
        names = ("location", "until", "confidence", "interval", "until_interval")
        place = {name: getattr(self, name) for name in names}
        return super().row() | {
            name: str(value) if isinstance(value, tuple) else value for name, value in place.items()
        }

    def _tables(self) -> list[Table]:
        times, rows = RowTimes(self.times), []
        names = ("First row after the change:",) if self.until is None else ("First changed row:", "First row behind:")
        places = [(self.location, self.interval), (self.until, self.until_interval)]
        for name, (row, interval) in zip(names, places, strict=False):
            if row is not None:
                rows.append((name, f"{row} ({times.text(row)})" if times.text(row) else f"{row}"))
            if interval is not None and self.confidence is not None:
                ends = f"{interval[0]} to {interval[1]}"
                ends += f" ({times.between(interval)})" if self.times else ""
                rows.append((f"{percent(self.confidence)} interval:", ends))
        return [*super()._tables(), *([Table(rows, "lr", gap="   ")] if rows else [])]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The standardised distance at every cut, the place of the change and its interval (matplotlib)."""
        from shrinktest.plots.change import plot_change

        return plot_change(self, ax)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ChangeResult(Placed):
    """Result of a change-point test: all of a :class:`TestResult`, and the place of the change.

    Attributes
    ----------
    location : int or None
        The first row after the change, counting from 0; of an epidemic change the first changed row.  None if
        missing values propagate.
    interval : tuple of int or None
        Confidence interval for ``location``: first and last of the places that a test does not reject.  None without
        ``confidence``, with ``shift="circular"`` and with permutations of your own, which a note says.
    until : int or None
        The first row after the end of an epidemic change.
    until_interval : tuple of int or None
        The same for ``until``.
    confidence : float or None
        Confidence of each interval.
    curve : ndarray, shape (n + 1,)
        The standardised distance of the rows before and after every cut, NaN if none is made; of epidemic changes
        the largest of those that begin there.
    times : tuple
        When the rows were observed, if that is known; ``result.when`` is that of the change, and
        ``result.when_interval`` has those of the ends of its interval.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`; ``estimates`` are those of the rows before and after the change (outside and inside
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
    """Result of a change-point test that combines several statistics: that of an :class:`AggregateResult`, and a place.

    Attributes
    ----------
    location, interval, until, until_interval, confidence, curve, times
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
    """Rows between two changes, or ends, and the test that looked for another change among them.

    Parameters
    ----------
    first, end : int
        Its first row, and the first behind it.
    pvalue : float
        p-value of the test of these rows, over all cuts and intervals.
    adjusted : float
        Adjusted for all tests.
    location : int
        Where that test sees a change most, as a row of the whole series.
    """

    first: int
    end: int
    pvalue: float
    adjusted: float
    location: int


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
        Of the stretches as they were when each was cut, not of the rows between the changes that were found in the end.
    intervals : tuple of tuple of int, or of None
        Confidence interval for the place of each change, its first and last row, with the neighbouring changes taken as
        fixed.
    tests : tuple of Stretch
        Every test, in the order in which they were made; those that were rejected were cut in two.
    curve : ndarray, shape (n + 1,)
        The standardised distance at the cuts of the whole series.
    points : ndarray, shape (n, d), or None
        The rows, for pictures; not in JSON.
    columns : tuple of str or None
        The names of the columns of a table; None for arrays.
    n_observations : tuple of int
        (n,)
    alpha : float
        Level of all tests together.
    confidence : float or None
        Confidence of each interval.
    estimator : MeanEstimator or Ensemble
    kernel : Kernel
        As it was asked for; bandwidths are found in every stretch anew.
    times : tuple
        When the rows were observed, if that is known.
    restriction : str
        Which orders of the rows the design of the data allows.
    notes : tuple of str
        Assumptions that may fail.
    rng : dict
        As in a :class:`TestResult`.

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
        """p-value of the hypothesis that nothing changes: that of the test of the whole series, which is exact."""
        return self.tests[0].pvalue

    def reject(self) -> bool:
        """Whether anything changes, at the level ``alpha``."""
        return bool(self.pvalue <= self.alpha)

    @property
    def when(self) -> tuple[Any, ...]:
        """The times of the changes; their rows if no times are known."""
        return tuple(map(RowTimes(self.times).at, self.locations.tolist()))

    @property
    def when_intervals(self) -> tuple[tuple[Any, Any] | None, ...]:
        """The times of both ends of every interval; their rows if no times are known."""
        return tuple(map(RowTimes(self.times).ends, self.intervals))

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First row of every stretch between the changes, and the first row after it."""
        return tuple(pairwise([0, *self.locations.tolist(), self.n_observations[0]]))

    def rows(self) -> list[dict[str, Any]]:
        """Rows of ``table``, one a change: location, when, low, high, pvalue, adjusted."""
        names = ("location", "when", "low", "high", "pvalue", "adjusted")
        ends = [interval or (None, None) for interval in self.intervals]
        numbers = (one.tolist() for one in (self.pvalues, self.adjusted))
        columns = (self.locations.tolist(), self.when, *zip(*ends, strict=True), *numbers) if ends else ()
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    @property
    def table(self) -> Any:
        """The changes (pandas): location, when, low, high, pvalue, adjusted."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=["location", "when", "low", "high", "pvalue", "adjusted"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names, without the rows; also test, pvalue, reject.

        ``curve`` has the rows at which cuts are made (``rows``) and the standardised distances there (``values``).
        """
        tests = {"tests": list(map(asdict, self.tests)), "curve": curve_entries(self.curve)}
        return super().to_dict() | tests | {"test": CHANGE.name, "pvalue": self.pvalue, "reject": self.reject()}

    def summary(self) -> Summary:
        """What was done, and the changes in order."""
        head = (
            f"Kernel change points: {len(self)} found at level {self.alpha:g}",
            f"Estimator:     {getattr(self.estimator, 'label', repr(self.estimator))}",
            f"Rows:          {self.n_observations[0]}{f', {self.restriction}' if self.restriction else ''}",
            f"Tests:         {len(self.tests)}, p-values adjusted for all of them",
        )
        times, rows = RowTimes(self.times), []
        for row, interval in zip(self.rows(), self.intervals, strict=True):
            at, known = row["location"], interval is not None and bool(self.times)
            ends = "" if interval is None else f"{interval[0]} to {interval[1]}"
            between = times.between(interval) if known and interval else ""
            numbers = (f"{row['pvalue']:.4g}", f"{row['adjusted']:.4g}")
            rows.append([str(at), times.text(at) or str(at), ends, between, *numbers])
        if not rows:
            rows = [["none", "", "", "", f"{self.pvalue:.4g}", f"{self.tests[0].adjusted:.4g}"]]
        level = "" if self.confidence is None else f"{percent(self.confidence)} interval"
        headers = ["row", "when", level, "in time", "p-value", "adjusted"]
        shown = [j for j, name in enumerate(headers) if name and (j != 3 or any(row[3] for row in rows))]
        cells = [[row[j] for j in shown] for row in rows]
        table = Table(cells, "r", headers=[headers[j] for j in shown], below="-")
        return Summary.of(table, head=head, notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The rows with the changes and their intervals (matplotlib)."""
        from shrinktest.plots.change import plot_changes

        return plot_changes(self, ax)


def curve_entries(curve: np.ndarray) -> dict[str, list[Any]]:
    """A curve in JSON: the rows at which it is known, and its values there."""
    rows = np.flatnonzero(np.isfinite(curve))
    return {"rows": rows.tolist(), "values": curve[rows].tolist()}
