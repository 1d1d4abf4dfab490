"""ChangesResult: at which rows a series changes, with p-values adjusted for their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.results.as_json import AsJson, time_entry
from shrinktest.results.base import Result, label_of
from shrinktest.results.kinds import CHANGE
from shrinktest.results.reading import fields_of, shown_of
from shrinktest.results.result import versions
from shrinktest.results.text import Report, Table
from shrinktest.results.when import When

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
class ChangesResult(AsJson, Result):
    """Result of a search for several changes: places with intervals, adjusted p-values, and all tests that were made.

    Attributes
    ----------
    locations : ndarray of int, shape (k,)
        The first rows after the changes, in order; none where no test rejects.
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
    estimator : MeanEstimator or Collection
    kernel : Kernel
        As it was asked for; bandwidths are found in every stretch anew.
    times : tuple
        When the rows were observed, where that is known.
    restriction : str
        Which orders of the rows the design of the data allows.
    notes : tuple of str
        What a reader should know.
    rng, versions : dict
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
    versions: dict[str, str] = field(default_factory=versions)

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
        """The times of the changes; their rows where no times are known."""
        return tuple(map(When(self.times).at, self.locations.tolist()))

    @property
    def when_intervals(self) -> tuple[tuple[Any, Any] | None, ...]:
        """The times of both ends of every interval; their rows where no times are known."""
        return tuple(map(When(self.times).ends, self.intervals))

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First row of every stretch between the changes, and the first row after it."""
        edges = [0, *self.locations.tolist(), self.n_observations[0]]
        return tuple(pairwise(edges))

    @property
    def table(self) -> pd.DataFrame:
        """One row a change (pandas): location, when, low, high, pvalue, adjusted."""
        import pandas as pd

        low, high = ([None if one is None else one[i] for one in self.intervals] for i in (0, 1))
        return pd.DataFrame(
            {
                "location": self.locations,
                "when": list(self.when),
                "low": low,
                "high": high,
                "pvalue": self.pvalues,
                "adjusted": self.adjusted,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """``table``, under the name that it has for other results (pandas)."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names, without the rows."""
        return self._entries(test=CHANGE.name, pvalue=self.pvalue, reject=self.reject()) | {
            "tests": list(map(asdict, self.tests)),
            "estimator": repr(self.estimator),
            "estimator_label": label_of(self.estimator),
            "kernel": repr(self.kernel),
            "times": list(map(time_entry, self.times)),
        }

    @classmethod
    def _of_json(cls, read: Mapping[str, Any]) -> Self:
        found = fields_of(cls, read) | {
            "locations": np.array(read["locations"], dtype=np.int64),
            "tests": tuple(Stretch(**fields_of(Stretch, one)) for one in read["tests"]),
            "estimator": shown_of(read["estimator"], read["estimator_label"]),
            "kernel": shown_of(read["kernel"]),
        }
        return cls(**found)

    def summary(self) -> str:
        """What was done, and the changes in order."""
        return self._report().as_text()

    def _report(self) -> Report:
        within = f", {self.restriction}" if self.restriction else ""
        head = (
            f"Kernel change points: {len(self)} found at level {self.alpha:g}",
            f"Estimator:     {label_of(self.estimator)}",
            f"Rows:          {self.n_observations[0]}{within}",
            f"Tests:         {len(self.tests)}, p-values adjusted for all of them",
        )
        rows, known = [], When(self.times)
        for at, interval, p, adjusted in zip(self.locations, self.intervals, self.pvalues, self.adjusted, strict=True):
            ends = "" if interval is None else f"{interval[0]} to {interval[1]}"
            times = "" if interval is None or not self.times else known.between(interval)
            when = known.of(at) if self.times else str(at)
            rows.append([str(at), when, ends, times, f"{p:.4g}", f"{adjusted:.4g}"])
        if not rows:
            rows = [["none", "", "", "", f"{self.pvalue:.4g}", f"{self.tests[0].adjusted:.4g}"]]
        level = "" if self.confidence is None else f"{percent(self.confidence)} interval"
        headers = ["row", "when", level, "in time", "p-value", "adjusted"]
        # without times, or intervals, there is no column for them
        kept = [j for j, name in enumerate(headers) if name and (j != 3 or any(row[3] for row in rows))]
        rows = [[row[j] for j in kept] for row in rows]
        table = Table(rows, "r", headers=[headers[j] for j in kept], below="-")
        return Report(head, table, self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The rows with the changes and their intervals (matplotlib)."""
        from shrinktest.plots.change import plot_changes

        return plot_changes(self, ax)
