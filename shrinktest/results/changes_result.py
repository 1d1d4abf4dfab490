"""ChangesResult: at which rows a series changes, with the tests that say so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.estimators import KME
from shrinktest.results.base import Result
from shrinktest.results.change import between_times, plain_curve, time_at, times_of_ends
from shrinktest.results.info import CHANGE
from shrinktest.results.paragraph import (
    draws_in_words,
    estimated,
    paragraph,
    seed_in_words,
    sentence,
    sources_of,
)
from shrinktest.results.plots.change import plot_changes, shown_times
from shrinktest.results.printing import Summary, Table, number, shown_pvalue, without_zero
from shrinktest.results.references import cited, joined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Stretch:
    """Rows ``first`` to before ``end`` between two changes, and the test for another change."""

    first: int
    end: int
    pvalue: float
    adjusted: float  # for all tests
    location: int  # row of the whole series at which the stretch changes most


@dataclass(frozen=True, eq=False, repr=False)
class ChangesResult(Result):
    """Result of a search for several changes, with all tests that were made.

    Attributes
    ----------
    locations : ndarray of int, shape (k,)
        The first rows after the changes, in order; none if no test rejects.
    adjusted, pvalues : ndarray, shape (k,)
        p-values of the changes, adjusted for the number of tests, and unadjusted p-values of the
        segments that were cut at them.
    intervals : tuple of tuple of int, or of None
        Confidence interval for the location of each change, conditional on the neighboring changes.
    tests : tuple of Stretch
        Every test, in order; segments whose test rejected were cut in two.
    curve : ndarray, shape (n + 1,)
        The standardized distance at the cuts of the whole series.
    n_observations, alpha, confidence
        The number of rows, the significance level of all tests together, and the confidence level
        of each interval, or None.
    estimator, kernel, columns
        Estimator and kernel as they were passed, and names of columns; bandwidths are computed anew
        for every segment.
    times, restriction, notes, rng
        As in a :class:`ChangeResult`.
    points : ndarray, shape (n, d), or None
        The rows, for pictures, which are not in JSON.
    statistic, n_resamples
        Statistic and number of permutations of the test of the whole series.
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
    statistic: float = math.nan
    n_resamples: int = 0

    computed = ("pvalue", "reject")
    plot = plot_changes

    def __len__(self) -> int:
        return len(self.locations)

    def __repr__(self) -> str:
        return (
            f"ChangesResult({counted(len(self), 'change')} at {self.locations.tolist()}, level "
            f"{self.alpha:g})"
        )

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis of no change, from the test of the whole series."""
        return self.tests[0].pvalue

    def reject(self) -> bool:
        """Return True if any change is found at the level ``alpha``."""
        return bool(self.pvalue <= self.alpha)

    @property
    def when(self) -> tuple[Any, ...]:
        """Times of the changes; their rows if no times are known."""
        return tuple(map(partial(time_at, self.times), self.locations.tolist()))

    @property
    def when_intervals(self) -> tuple[tuple[Any, Any] | None, ...]:
        """Times of both ends of every interval; their rows if no times are known."""
        return tuple(map(partial(times_of_ends, self.times), self.intervals))

    @property
    def table(self) -> pd.DataFrame:
        """A row for every change (pandas): location, when, low, high, pvalue, adjusted."""
        import pandas as pd

        ends = [interval or (None, None) for interval in self.intervals]
        columns = {
            "location": self.locations,
            "when": self.when,
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            "pvalue": self.pvalues,
            "adjusted": self.adjusted,
        }
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names, without the rows.

        They include test, pvalue and reject.
        """
        more = {
            "tests": list(map(asdict, self.tests)),
            "curve": plain_curve(self.curve),
            "test": CHANGE.name,
        }
        return super().to_dict() | more

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, changes, and software."""
        estimator = self.estimator
        means = "plain kernel means" if isinstance(estimator, KME) else ""
        means = means or f"kernel means by {getattr(estimator, 'label', repr(estimator))}"
        kernels = getattr(self.kernel, "label", str(self.kernel).capitalize())
        details = [
            f"{CHANGE.measured}{cited(CHANGE.sources)}",
            f"{means}{cited(sources_of(estimator))}",
            "several kernels" if isinstance(self.kernel, list) else f"{kernels} kernel",
            draws_in_words(self.n_resamples, CHANGE.moved, self.restriction),
            f"p-values adjusted for {counted(len(self.tests), 'test')}",
        ]
        return paragraph(
            f"A series of {self.n_observations[0]} rows was searched for changes in distribution",
            "kernel change-point tests",
            details,
            [self._finding()],
            self.versions,
            seed_in_words(self.rng),
        )

    def _headline(self) -> str:
        return sentence(self._finding())

    def _finding(self) -> str:
        level = without_zero(f"{self.alpha:g}")
        shown = f"{CHANGE.measured} = {number(self.statistic)}, p = {shown_pvalue(self.pvalue)}"
        if not len(self):
            return f"no change was found at the {level} level (whole series: {shown})"
        texts = []
        for row, interval, adjusted in zip(
            self.locations.tolist(), self.intervals, self.adjusted.tolist(), strict=True
        ):
            limits = list(map(str, interval or ("-", "-")))
            place = estimated(f"row {row}", limits, self.confidence or 0.95)
            texts.append(f"{place[:-1]}; adjusted p = {shown_pvalue(adjusted)})")
        was = "was" if len(self) == 1 else "were"
        decision = f"{counted(len(self), 'change')} {was} found at the {level} level"
        return f"{decision} (whole series: {shown}): {joined(texts)}"

    def _sources(self) -> Iterator[str]:
        yield from CHANGE.sources
        yield from sources_of(self.estimator)
        yield from sources_of(self.kernel)
        yield "KBLM23"
        if self.n_resamples:
            yield "PS10"

    def summary(self) -> Summary:
        """Return the settings, and the changes in order."""
        head = (
            f"Kernel change points: {len(self)} found at level {self.alpha:g}",
            f"Estimator:     {getattr(self.estimator, 'label', repr(self.estimator))}",
            "Rows:          "
            f"{self.n_observations[0]}{f', {self.restriction}' if self.restriction else ''}",
            f"Tests:         {len(self.tests)}, p-values adjusted for all of them",
        )
        texts = shown_times(self.times)
        locations = self.locations.tolist()
        pairs = [(self.pvalue, self.tests[0].adjusted)]
        pairs = list(zip(self.pvalues, self.adjusted, strict=True)) if locations else pairs
        columns = {
            "row": list(map(str, locations)) or ["none"],
            "when": [texts[row] if texts else str(row) for row in locations],
            f"{percent(self.confidence or 0.0)} interval": [
                f"{i[0]} to {i[1]}" if i else "" for i in self.intervals
            ],
            "in time": [between_times(texts, i) if i and texts else "" for i in self.intervals],
            "p-value": [f"{pvalue:.4g}" for pvalue, _ in pairs],
            "adjusted": [f"{adjusted:.4g}" for _, adjusted in pairs],
        }
        shown = {name: cells for name, cells in columns.items() if any(cells)}
        table = Table(list(zip(*shown.values(), strict=True)), "r", headers=list(shown), below="-")
        return Summary.of(table, head=head, notes=self.notes)
