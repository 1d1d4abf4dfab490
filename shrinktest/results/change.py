"""Results of change-point tests: whether a series changes, where, and which places remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shrinktest._check import percent
from shrinktest.results.aggregate_result import AggregateResult
from shrinktest.results.base import part_of, plain
from shrinktest.results.paragraph import estimated
from shrinktest.results.plots.change import plot_change, shown_times
from shrinktest.results.printing import Table
from shrinktest.results.result import TestResult

_PLACE = ("location", "until", "confidence", "interval", "until_interval")


@dataclass(frozen=True, eq=False)
class Place:
    """Place of a change, with the places that are not ruled out."""

    location: int | None = None  # the first row after the change
    interval: tuple[int, int] | None = None
    until: int | None = None  # the first row after an interval of change
    until_interval: tuple[int, int] | None = None
    confidence: float | None = None
    curve: np.ndarray = field(
        default_factory=lambda: np.empty(0)
    )  # (n + 1,): standardized distance at every cut

    @property
    def ends(self) -> list[tuple[int, tuple[int, int] | None]]:
        """Both ends of the change, or its only place, each with its interval."""
        both = [(self.location, self.interval), (self.until, self.until_interval)]
        return [(row, interval) for row, interval in both if row is not None]


@part_of("place", *_PLACE, "curve")
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ChangeResult(TestResult):
    """Result of a change-point test, with the location of the change.

    Attributes
    ----------
    place : Place
        ``location``, the first row after the change, counting from 0 (the first changed row of an
        epidemic change), and ``until``, the first row after an epidemic change; ``interval`` and
        ``until_interval``, the first and last location that a test does not reject with this
        ``confidence``; ``curve`` (n + 1,), the standardized distance between the rows before and
        after every cut or, for epidemic changes, the largest distance among those that begin there.
        None if not computed.
    times : tuple
        Times of the rows, if known, for ``result.when`` and ``result.when_interval``.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`, but with ``estimates`` of the rows before and after the change,
        or outside and inside.
    """

    place: Place = field(default_factory=Place)
    times: tuple[Any, ...] = ()

    plot = plot_change

    @property
    def when(self) -> Any:
        """Time of the first row after the change.

        It is the number of the row if no times are known, and None without a location.
        """
        return time_at(self.times, self.location)

    @property
    def when_interval(self) -> tuple[Any, Any] | None:
        """Times of both ends of ``interval``.

        They are rows if no times are known, and None without an interval.
        """
        return times_of_ends(self.times, self.interval)

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return plain Python values, with the location and ``times``.

        ``curve`` has the rows at which cuts are made (``rows``) and the standardized distances
        there (``values``).
        """
        place = {name: plain(getattr(self, name)) for name in (*_PLACE, "times")}
        return super().to_dict(**options) | place | {"curve": plain_curve(self.curve)}

    def _row(self) -> dict[str, Any]:
        place = {name: getattr(self, name) for name in _PLACE}
        return super()._row() | {
            k: str(value) if isinstance(value, tuple) else value for k, value in place.items()
        }

    def _estimate_names(self) -> tuple[str, ...]:
        return super()._estimate_names() if self.until is None else ("outside", "inside")

    def _finding(self) -> str:
        if self.location is None or not self.reject():
            return super()._finding()
        texts = shown_times(self.times)
        shown = f", {texts[self.location]}" if texts else ""
        limits = [] if self.interval is None else list(map(str, self.interval))
        where = f"row {self.location}{shown}"
        if self.confidence is not None and limits:
            where = estimated(where, limits, self.confidence)
        return f"{super()._finding()}; the first row after the change was {where}"

    def _tables(self) -> list[Table]:
        texts = shown_times(self.times)
        rows = []
        names = (
            ("First row after the change:",)
            if self.until is None
            else ("First changed row:", "First row after it:")
        )
        for name, (row, interval) in zip(names, self.place.ends, strict=False):
            rows.append((name, f"{row} ({texts[row]})" if row < len(texts) else f"{row}"))
            if interval is not None and self.confidence is not None:
                between = f" ({between_times(texts, interval)})" if texts else ""
                rows.append(
                    (
                        f"{percent(self.confidence)} interval:",
                        f"{interval[0]} to {interval[1]}{between}",
                    )
                )
        return [*super()._tables(), *([Table(rows, "lr", gap="   ")] if rows else [])]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateChangeResult(ChangeResult, AggregateResult):
    """Result of a change-point test that combines several statistics.

    This is an :class:`AggregateResult` with a location.

    Attributes
    ----------
    place, times
        As in a :class:`ChangeResult`, but of the member that decided.
    members, adjusted, decided, null, data, setup, alpha, estimates, rng, notes, context
        As in an :class:`AggregateResult`.
    """


# --- times of rows --------------------------------------------------------------------------------


def time_at(times: Sequence[Any], row: int | None) -> Any:
    """Return the time of a row; its number if no times are known, None behind the last row."""
    return row if row is None or not times else times[row] if row < len(times) else None


def times_of_ends(times: Sequence[Any], interval: tuple[int, int] | None) -> tuple[Any, Any] | None:
    """Return the times of both ends of an interval of rows."""
    return None if interval is None else (time_at(times, interval[0]), time_at(times, interval[1]))


def between_times(texts: Sequence[str], interval: tuple[int, int]) -> str:
    """Write the times of both ends of an interval of rows."""
    first, last = interval
    return f"{texts[first]} to {texts[last] if last < len(texts) else 'after the last row'}"


def plain_curve(curve: np.ndarray) -> dict[str, list[Any]]:
    """Return the rows at which a curve is known, and its values there."""
    rows = np.flatnonzero(np.isfinite(curve))
    return {"rows": rows.tolist(), "values": curve[rows].tolist()}
