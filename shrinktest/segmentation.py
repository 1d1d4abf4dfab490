"""At which rows does a series change?  ``change_points``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from shrinktest._check import as_rng, count, rng_provenance
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest.change import NoChange
from shrinktest.hypotheses.base import require_values
from shrinktest.hypotheses.place import of_place
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.ensembles import KernelSpec, is_several
from shrinktest.multiple.run import run
from shrinktest.notes import note
from shrinktest.results.change import ChangesResult, Stretch
from shrinktest.statistics.scan import SINGLE
from shrinktest.statistics.seeded_intervals import Calibration

_FEWEST = 8  # rows in which another change is looked for
_COMPARED = 199  # permutations by which several statistics are compared, where no p-value is asked for
_CALIBRATING, _PLACING = 499, 99  # random orders by which scans of intervals are made comparable
_ROUNDS = 10  # of finding places again, which nearly always ends after two


@dataclass(frozen=True, eq=False)
class Search:
    """A search for changes: a series, what is tested in each of its stretches, and how."""

    hypothesis: NoChange  # of the whole series, with the confidence of intervals
    estimator: Any  # as users give it
    asked: KernelSpec
    settings: Settings
    rng: np.random.Generator
    intervals: Calibration  # of scans of intervals

    def test(self, first: int, end: int, **options: Any) -> Any:
        """Test the rows from ``first`` to before ``end`` for any changes."""
        options = {"confidence": None, "intervals": self.intervals, **options}
        part = self.hypothesis.part(first, end, noted=False, **options)
        return run(part, self.estimator, [self.asked], self.settings, self.rng)

    def place(self, first: int, end: int) -> int:
        """The row from ``first`` to before ``end`` at which these rows change most."""
        return first + int(self._placing.test(first, end).location)

    def interval(self, first: int, end: int) -> tuple[int, int] | None:
        """The interval of the place of a change among the rows from ``first`` to before ``end``."""
        interval = self._placing.test(first, end, confidence=self.hypothesis.confidence, intervals=None).interval
        return None if interval is None else (first + interval[0], first + interval[1])

    @property
    def _placing(self) -> Search:
        """The same with the permutations that a place takes: none, but for several statistics, which these compare."""
        several = is_several(self.estimator, [self.asked])
        enough = max(_COMPARED, math.ceil(1.0 / self.settings.alpha))  # fewer would be warned of
        permutations = min(self.settings.n_resamples, enough) if several else 0
        settings = replace(self.settings, n_resamples=permutations, stopping=None)
        return replace(self, settings=settings, intervals=replace(self.intervals, count=_PLACING))

    def testable(self, first: int, end: int) -> bool:
        """Whether a test of these rows could reject."""
        size = end - first
        part = self.hypothesis.part(first, end) if size >= _FEWEST else None
        if part is None or size < 2 * part.cuts.fewest or (part.points == part.points[0]).all():
            return False
        if not part.restriction:
            return part.least <= self.settings.alpha
        try:
            part.permutations(self.settings.n_resamples, self.settings.alpha)
        except ValueError:  # too few permutations are left
            return False
        return True


def segmented(
    hypothesis: NoChange, estimator: Any, asked: KernelSpec, settings: Settings, rng: Any, n_changes: int | None
) -> ChangesResult:
    """The changes of a series by binary segmentation.

    The whole series is tested; where the test rejects, it is cut at the place of the change, and both sides are tested
    in the same way.  Each test looks at all cuts of its rows, and at those within intervals (`Scans`).  After each cut
    the places of all are found again (Bai 1997), and stretches with new ends are tested.  The adjusted p-value of a
    stretch is its own over its share of the rows, and no less than those of the changes at its ends (Meinshausen 2008):
    a stretch is tested at the share of the level that it is of the series, and only after all that it is part of were
    rejected.
    """
    if hypothesis.change != SINGLE:
        raise ValueError("change_points looks for cuts; an interval of change has two of them")
    if hypothesis.missing:
        name = hypothesis.variables[0].name
        raise ValueError(f"{name} has missing values; change_points takes nan_policy='omit' or 'indicator'")
    if settings.n_resamples == 0:
        raise ValueError(
            "n_resamples=0 gives no p-values, and these tell whether there is another change; use n_resamples >= "
            f"{math.ceil(1.0 / settings.alpha) - 1}, or change_point_test, which tells the place of one without them"
        )
    hypothesis = hypothesis.compared_by([asked.kernel])
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    calibration = Calibration(int(generator.integers(2**63)), _CALIBRATING)
    search = Search(hypothesis, estimator, asked, settings, generator, calibration)
    n, whole = hypothesis.sizes[0], search.test(0, hypothesis.sizes[0])
    tests = {(0, n): Stretch(0, n, whole.pvalue, whole.pvalue, whole.location)}
    known = {(0, n): int(whole.location)}  # where the rows of a stretch change most
    found: list[Stretch] = []
    while n_changes is None or len(found) < n_changes:
        waiting = [tests[ends] for ends in _between(found, n) if ends in tests]
        best = min(waiting, key=lambda one: (one.adjusted, one.first), default=None)
        if best is None or not best.adjusted <= settings.alpha:
            break
        found = _settled(search, sorted([*found, best], key=_location), n, known)
        for i, (first, end) in enumerate(_between(found, n)):
            if (first, end) not in tests and search.testable(first, end):
                result = search.test(first, end)
                above = max(one.adjusted for one in found[max(0, i - 1) : i + 1])
                adjusted = max(above, min(1.0, result.pvalue * n / (end - first)))
                known[first, end] = first + int(result.location)
                tests[first, end] = Stretch(first, end, result.pvalue, adjusted, known[first, end])
    around = [(first, end) for (first, _), (_, end) in pairwise(_between(found, n))]
    intervals = [_interval(search, one.location, *ends) for one, ends in zip(found, around, strict=True)]
    return ChangesResult(
        locations=np.array([one.location for one in found], dtype=np.int64),
        adjusted=np.array([one.adjusted for one in found]),
        pvalues=np.array([one.pvalue for one in found]),
        intervals=tuple(intervals),
        tests=tuple(tests.values()),
        curve=whole.curve,
        n_observations=(n,),
        alpha=settings.alpha,
        confidence=hypothesis.confidence,
        estimator=whole.estimator,
        kernel=asked.kernel,
        rng=provenance,
        times=hypothesis.times,
        restriction=whole.restriction,
        notes=(
            *whole.notes,
            *hypothesis.serial_notes_between([one.location for one in found]),
            *(hypothesis.interval_notes() if found else ()),
            *((note("later-changes"),) if len(found) > 1 else ()),
            *((note("interval-chosen"),) if hasattr(whole, "members") and any(intervals) else ()),
        ),
        points=_as_given(hypothesis.points, whole.encodings[0]),
        columns=whole.columns[0],
    )


def _as_given(points: np.ndarray, encoding: Any) -> np.ndarray:
    """Rows as the data have them, dates in days since 1970; as they are compared where columns hold categories."""
    if encoding is None:
        return points
    drawn = [encoding.axis(name) for name in encoding.names]
    if any(one.feature is None for one in drawn):
        return points
    return np.stack([one.drawn(points[:, one.feature]) for one in drawn], axis=1)


def _location(one: Stretch) -> int:
    return one.location


def _between(found: list[Stretch], n: int) -> list[tuple[int, int]]:
    """The stretches between changes: the first row of each, and the first behind it."""
    return list(pairwise([0, *map(_location, found), n]))


def _settled(search: Search, found: list[Stretch], n: int, known: dict[tuple[int, int], int]) -> list[Stretch]:
    """The changes, each where the rows between those beside it change most; ``known`` keeps what was found of those.

    A place that was found beside other changes is pulled by them, and rows on the wrong side of it would be taken for
    a change of their own.
    """
    places = [one.location for one in found]
    for _ in range(_ROUNDS):
        before = list(places)
        for i in range(len(places)):
            ends = places[i - 1] if i else 0, places[i + 1] if i + 1 < len(places) else n
            if ends not in known:
                known[ends] = search.place(*ends) if search.testable(*ends) else places[i]
            places[i] = known[ends]
        if places == before:
            break
    return [replace(one, location=at) for one, at in zip(found, places, strict=True)]


def _interval(search: Search, at: int, first: int, end: int) -> tuple[int, int] | None:
    """The interval of a change at ``at`` in the rows between those beside it; it holds the place that was found."""
    if search.hypothesis.confidence is None:
        return None
    if end - first < _FEWEST:
        return at, at
    interval = search.interval(first, end)
    return None if interval is None else (min(interval[0], at), max(interval[1], at))


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
    shift: Any = None,
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
    """Find all change points of a series, with confidence intervals and adjusted p-values.

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

    Returns
    -------
    ChangesResult
        ``result.locations``, ``result.adjusted``, ``result.intervals``, ``result.table``, ``result.plot()``.

    See Also
    --------
    change_point_test : One change, or an epidemic one, with an exact p-value.
    k_sample_test : Whether segments that are known beforehand differ.
    two_sample_test : Whether two of them differ, and by how much.

    Notes
    -----
    The series is tested as by :func:`change_point_test`, also within seeded intervals, in which changes that cancel
    show.  If the test rejects, the series is cut, and both segments are tested in the same way.  The p-value of the
    whole series is exact; those of segments, whose ends were chosen by the data, are adjusted for all tests but
    approximate (:doc:`/change`).

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
        form="auto", n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers,
        progress=progress, gram=gram, rank=rank, max_memory=max_memory,
    )  # fmt: skip
    told = {"nan_policy": nan_policy, "scale": scale, "column_types": column_types, "transform": transform}
    require_values(shift, kernel)
    hypothesis = NoChange.read(
        X, trim=trim, blocks=blocks, shift=shift, times=times,
        confidence=of_place(confidence), **told,
    )  # fmt: skip
    most = None if n_changes is None else count(n_changes, "n_changes", minimum=1)
    return segmented(hypothesis, estimator, KernelSpec(kernel, bandwidth), settings, rng, most)
