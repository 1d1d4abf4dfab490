"""ChangeResult: whether a series changes, where, and between which places that may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import percent
from shrinktest.results.aggregate import AggregateResult
from shrinktest.results.as_json import as_lists, time_entry
from shrinktest.results.kinds import OUTSIDE_INSIDE
from shrinktest.results.result import TestResult
from shrinktest.results.text import Table
from shrinktest.results.when import When

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.text import Summary


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Placed:
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
        """The time of the first row after the change; its number where no times are known, None without a place."""
        return When(self.times).at(self.location)

    @property
    def when_interval(self) -> tuple[Any, Any] | None:
        """The times of both ends of ``interval``; their rows where no times are known, None without an interval."""
        return When(self.times).ends(self.interval)

    def estimate_names(self, count: int) -> tuple[str, ...]:
        """A name for each estimate: an epidemic change has rows outside and inside, another before and after."""
        if self.until is not None:
            return OUTSIDE_INSIDE
        found: tuple[str, ...] = super().estimate_names(count)  # type: ignore[misc]  # of the results it stands before
        return found

    def places(self) -> list[tuple[str, str]]:
        """What summaries say of the place: labels and values."""
        if self.location is None:
            return []
        when = When(self.times)
        level = "" if self.confidence is None else f"{percent(self.confidence)} interval:"
        first = "First row after the change:" if self.until is None else "First changed row:"
        rows = [(first, self._shown(self.location, when))]
        if self.interval is not None:
            rows.append((level, self._between(self.interval, when)))
        if self.until is not None:
            rows.append(("First row behind:", self._shown(self.until, when)))
        if self.until_interval is not None:
            rows.append((level, self._between(self.until_interval, when)))
        return rows

    def _shown(self, row: int, when: When) -> str:
        return f"{row}" if when.at(row) in (row, None) else f"{row} ({when.of(row)})"

    def _between(self, interval: tuple[int, int], when: When) -> str:
        rows = f"{interval[0]} to {interval[1]}"
        return f"{rows} ({when.between(interval)})" if self.times else rows

    def named(self, row: int) -> str:
        """What a row is called: by its time, or by its number where no times are known."""
        return (When(self.times).of(row) if self.times else "") or f"{row}"

    def to_dict(self, *, effect: bool = False) -> dict[str, Any]:
        """Plain Python values under the attribute names."""
        out: dict[str, Any] = super().to_dict(effect=effect)  # type: ignore[misc]  # of the results it stands before
        names = ("location", "until", "confidence", "interval", "until_interval", "curve")
        out |= {name: as_lists(getattr(self, name)) for name in names}
        return out | {"times": list(map(time_entry, self.times))}

    def to_frame(self) -> Any:
        """One row for a table of results (pandas), without the null distribution and the curve."""
        return super().to_frame().drop(columns=["curve", "times"])  # type: ignore[misc]

    def summary(self, *, effect: bool = False) -> Summary:
        """What was done, what came out and where, as a table that prints as text and renders as HTML."""
        if effect:
            self.effect()  # type: ignore[attr-defined]  # which says why there is none
        plain: Summary = super().summary()  # type: ignore[misc]
        places = self.places()
        return plain.followed_by(Table(places, "lr", gap="   ")) if places else plain

    def plot(self, ax: Axes | None = None) -> Axes:
        """The standardised distance at every cut, the place of the change and its interval (matplotlib)."""
        from shrinktest.plots.change import plot_change

        return plot_change(self, ax)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ChangeResult(Placed, TestResult):
    """Result of a change-point test: all of a :class:`TestResult`, and the place of the change.

    Attributes
    ----------
    location : int or None
        The first row after the change, counting from 0; of an epidemic change the first changed row.  None where
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
        The standardised distance of the rows before and after every cut, NaN where none is made; of epidemic changes
        the largest of those that begin there.
    times : tuple
        When the rows were observed, where that is known; ``result.when`` is that of the change, and
        ``result.when_interval`` has those of the ends of its interval.
    statistic, pvalue, null_distribution, n_resamples, exact, tolerance, restriction, stopping, n_planned, stopped
        As in a :class:`TestResult`.
    test, form, estimator, tuning, kernel, bandwidth, route, n_observations, alpha, estimates, rng, versions, notes
        As there; ``estimates`` are those of the rows before and after the change (outside and inside an epidemic one).
    names, columns, encodings, again, stored, keeps_data, method, assumption
        As there.

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
    members, adjusted, decided
        As in an :class:`AggregateResult`.
    statistic, pvalue, null_distribution, n_resamples, exact, tolerance, restriction, stopping, n_planned, stopped
        As there.
    test, form, estimator, tuning, kernel, bandwidth, route, n_observations, alpha, estimates, rng, versions, notes
        As there.
    names, columns, encodings, again, stored, keeps_data, method, assumption
        As there.

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
