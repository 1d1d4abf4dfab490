"""At which rows does a series change?  ``change_points`` and its result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, count
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng, rng_provenance
from shrinktest.change_point import NoChange
from shrinktest.hypothesis import require_values
from shrinktest.kernel_spec import KernelSpec, is_several
from shrinktest.notes import note
from shrinktest.results.changes_result import ChangesResult, Stretch
from shrinktest.results.plots.axes import column_axis
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.seeded_intervals import Calibration

if TYPE_CHECKING:
    pass

_FEWEST = 8  # rows of a stretch that is tested
_COMPARED = 199  # permutations that compare several statistics for a place
_CALIBRATING = 499
_PLACING = 99  # random orders by which scans of intervals are made comparable
_ROUNDS = 10  # of moving places, which nearly always ends after two


@dataclass(frozen=True, eq=False)
class Search:
    """A search for changes: a series, what is tested in each of its stretches, and how."""

    hypothesis: NoChange  # of the whole series, with the confidence of intervals
    estimator: Any  # as users give it
    kernel: KernelSpec
    settings: Settings
    rng: np.random.Generator
    intervals: Calibration  # of scans of intervals
    places: dict[tuple[int, int], int] = field(
        default_factory=dict
    )  # where the rows of a stretch change most

    def test(self, first: int, end: int, **options: Any) -> Any:
        """Test the rows from ``first`` to before ``end`` for any changes."""
        part = self.hypothesis.part(
            first,
            end,
            **{"noted": False, "confidence": None, "intervals": self.intervals, **options},
        )
        result = run(part, self.estimator, [self.kernel], self.settings, self.rng)
        self.places[first, end] = first + int(result.location)  # type: ignore[attr-defined]
        return result

    def placing(self) -> Search:
        """Return the same search with the permutations that compare several statistics.

        A single statistic needs none.
        """
        enough = max(_COMPARED, math.ceil(1.0 / self.settings.alpha))  # fewer would give a warning
        permutations = (
            min(self.settings.n_resamples, enough)
            if is_several(self.estimator, [self.kernel])
            else 0
        )
        settings = replace(self.settings, n_resamples=permutations, stopping=None)
        return replace(self, settings=settings, intervals=replace(self.intervals, count=_PLACING))

    def testable(self, first: int, end: int) -> bool:
        """Return True if a test of these rows could reject."""
        if end - first < _FEWEST:
            return False
        part = self.hypothesis.part(first, end)
        if end - first < 2 * part.cuts.fewest or (part.points == part.points[0]).all():
            return False
        if not part.restriction:
            return part.least <= self.settings.alpha
        try:
            part.permutations(
                self.settings.n_resamples, self.settings.alpha, part.form(self.settings.form)
            )
        except ValueError:  # too few permutations are left
            return False
        return True

    def settled(self, changes: list[Stretch], n: int) -> list[Stretch]:
        """Move each change to the best cut between its neighbors, until none moves (Bai 1997).

        The best cut is where the rows between the neighbors change most.
        """
        rows = [change.location for change in changes]
        placing = self.placing()
        for _ in range(_ROUNDS):
            before = list(rows)
            for i, (first, end) in enumerate(_around(rows, n)):
                if (first, end) not in self.places and self.testable(first, end):
                    placing.test(first, end)
                rows[i] = self.places.setdefault((first, end), rows[i])
            if rows == before:
                break
        return [replace(change, location=row) for change, row in zip(changes, rows, strict=True)]

    def interval(self, row: int, first: int, end: int) -> tuple[int, int] | None:
        """Return the interval of a change at ``row`` between its neighbors.

        It holds the place itself.
        """
        if self.hypothesis.confidence is None:
            return None
        if end - first < _FEWEST:
            return row, row
        result = self.placing().test(
            first, end, confidence=self.hypothesis.confidence, intervals=None
        )
        limits = result.interval
        return (
            None if limits is None else (min(first + limits[0], row), max(first + limits[1], row))
        )


def segmented(search: Search, n_changes: float, provenance: dict[str, Any]) -> ChangesResult:
    """Find the changes of a series by binary segmentation.

    Each test looks at all cuts of its rows, and at those within intervals (`Scans`).  After each
    cut all places are found again, and stretches with new ends are tested.  The adjusted p-value of
    a stretch is its own over its share of the rows, and no less than the p-values of the changes at
    its ends (Meinshausen 2008).
    """
    hypothesis = search.hypothesis
    alpha = search.settings.alpha
    n = hypothesis.sizes[0]
    whole = search.test(0, n)
    tests = {(0, n): Stretch(0, n, whole.pvalue, whole.pvalue, whole.location)}
    changes: list[Stretch] = []
    while len(changes) < n_changes:
        waiting = [tests[ends] for ends in _between(changes, n) if ends in tests]
        best = min(waiting, key=attrgetter("adjusted", "first"), default=None)
        if best is None or not best.adjusted <= alpha:
            break
        changes = search.settled(sorted([*changes, best], key=attrgetter("location")), n)
        for i, (first, end) in enumerate(_between(changes, n)):
            if (first, end) not in tests and search.testable(first, end):
                result = search.test(first, end)
                above = max(change.adjusted for change in changes[max(0, i - 1) : i + 1])
                adjusted = max(above, min(1.0, result.pvalue * n / (end - first)))
                tests[first, end] = Stretch(
                    first, end, result.pvalue, adjusted, first + int(result.location)
                )
    rows = [change.location for change in changes]
    intervals = [
        search.interval(row, *ends) for row, ends in zip(rows, _around(rows, n), strict=True)
    ]
    return ChangesResult(
        locations=np.array(rows, dtype=np.int64),
        adjusted=np.array([change.adjusted for change in changes]),
        pvalues=np.array([change.pvalue for change in changes]),
        intervals=tuple(intervals),
        tests=tuple(tests.values()),
        curve=whole.curve,
        n_observations=(n,),
        alpha=alpha,
        confidence=hypothesis.confidence,
        estimator=whole.estimator,
        kernel=search.kernel.kernel,
        rng=provenance,
        times=hypothesis.times,
        restriction=whole.restriction,
        notes=(
            *whole.notes,
            *hypothesis.serial_notes_between(rows),
            *(hypothesis.interval_notes() if rows else ()),
            *((note("later-changes"),) if len(rows) > 1 else ()),
            *((note("interval-chosen"),) if hasattr(whole, "members") and any(intervals) else ()),
        ),
        points=_as_given(hypothesis.points, whole.encodings[0]),
        statistic=whole.statistic,
        n_resamples=whole.n_resamples,
        columns=whole.columns[0],
    )


def _as_given(points: np.ndarray, encoding: Any) -> np.ndarray:
    """Return rows in their own units, dates in days since 1970.

    With categories as they are compared.
    """
    axes = [] if encoding is None else [column_axis(encoding, name) for name in encoding.names]
    if not axes or any(axis.feature is None for axis in axes):
        return points
    return np.stack([axis.drawn(points[:, axis.feature]) for axis in axes], axis=1)


def _between(changes: list[Stretch], n: int) -> list[tuple[int, int]]:
    """Return the first row of each stretch between changes, and the first row after it."""
    return list(pairwise([0, *(change.location for change in changes), n]))


def _around(rows: list[int], n: int) -> Iterator[tuple[int, int]]:
    """Return the stretch between the neighbors of every change, which are read anew for each."""
    for i in range(len(rows)):
        yield rows[i - 1] if i else 0, rows[i + 1] if i + 1 < len(rows) else n


@hinted
@documented
def change_points(
    X: Any,
    *,
    n_changes: int | None = None,
    trim: float = 0.05,
    confidence: float | None = 0.95,
    times: Any = None,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    stopping: Any = None,
    blocks: Any = None,
    block_length: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> ChangesResult:
    """Find all change points of a series, with intervals and adjusted p-values.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        Rows in order of time, as in :func:`change_point_test`.
    n_changes : int, optional
        Largest number of changes; default all that are found.
    estimator : str or MeanEstimator, list of these, Ensemble or "auto", default "kme"
        As in :func:`change_point_test`.
    alpha : float, default 0.05
        Significance level of all tests together.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        Whether to raise an error for missing values, drop their rows, or use missingness as
        information.

    Returns
    -------
    ChangesResult
        ``result.locations``, ``result.adjusted``, ``result.intervals``, ``result.table``,
        ``result.plot()``.

    See Also
    --------
    change_point_test : One change, or an epidemic one, with an exact p-value.
    k_sample_test : Whether segments that are known in advance differ.

    Notes
    -----
    The series is tested as in :func:`change_point_test`, and also within shorter intervals, which
    show changes that cancel each other.  If the test rejects, the series is cut, and both segments
    are tested in turn.  Although the p-value of the whole series is exact, adjusted p-values of
    segments are approximate, because their ends depend on the data (:doc:`/change`).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import change_points
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 2)) + np.repeat([0.0, 3.0, 0.0], 50)[:, None]
    >>> result = change_points(X, rng=0)
    >>> result.table[["location", "low", "high", "adjusted"]]
       location  low  high  adjusted
    0        50   50    50    0.0010
    1       100  100   100    0.0015
    """
    settings = Settings.read(
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
    )
    if settings.n_resamples == 0:
        raise ValueError(
            "n_resamples=0 gives no p-values, which decide on changes; use change_point_test"
        )
    require_values(block_length, kernel)
    choice(nan_policy, ("raise", "omit", "indicator"), "nan_policy")
    hypothesis = NoChange.read(
        X,
        trim=trim,
        confidence=confidence,
        nan_policy=nan_policy,
        scale=scale,
        column_types=column_types,
        transform=transform,
        blocks=blocks,
        block_length=block_length,
        times=times,
    ).compared_by([kernel])
    most = math.inf if n_changes is None else count(n_changes, "n_changes", minimum=1)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    calibration = Calibration(int(generator.integers(2**63)), _CALIBRATING)
    search = Search(
        hypothesis, estimator, KernelSpec(kernel, bandwidth), settings, generator, calibration
    )
    return segmented(search, most, provenance)
