"""Segmentation: the changes of a series one after the other, with p-values adjusted for all tests on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._validate import as_rng, rng_provenance
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.run import run
from shrinktest.results.changes import ChangesResult, Stretch
from shrinktest.statistics.cuts import SINGLE

_FEWEST = 8  # rows in which another change is looked for


@dataclass(frozen=True, eq=False)
class Search:
    """A search for changes: a series, what is tested in each of its stretches, and how.

    Parameters
    ----------
    hypothesis : NoChange
        Of the whole series, with the confidence of intervals.
    estimator
        As users give it.
    asked : Asked
    settings : Settings
    rng : numpy.random.Generator
    """

    hypothesis: NoChange
    estimator: Any
    asked: Asked
    settings: Settings
    rng: np.random.Generator

    def test(self, first: int, end: int, confidence: float | None = None) -> Any:
        """The change-point test of the rows from ``first`` to before ``end``."""
        part = self.hypothesis.part(first, end, confidence=confidence, noted=False)
        return run(part, self.estimator, [self.asked], self.settings, self.rng)

    def testable(self, first: int, end: int) -> bool:
        """Whether a test of these rows could reject."""
        size = end - first
        part = self.hypothesis.part(first, end) if size >= _FEWEST else None
        if part is None or size < 2 * part.cuts.fewest:
            return False
        if not part.restriction:
            return True
        try:
            part.permutations(self.settings.n_resamples, np.random.default_rng(0), self.settings.alpha)
        except ValueError:  # too few permutations are left
            return False
        return True


def segmented(
    hypothesis: NoChange, estimator: Any, asked: Asked, settings: Settings, rng: Any, n_changes: int | None
) -> ChangesResult:
    """The changes of a series by binary segmentation.

    The whole series is tested; where the test rejects, it is cut at the place of the change, and both sides are tested
    in the same way.  The adjusted p-value of a stretch is its own over its share of the rows, and no less than that of
    the stretch that was cut to make it (Meinshausen 2008): a stretch is tested at the share of the level that it is of
    the series, and only after all that it is part of were rejected.
    """
    if hypothesis.change != SINGLE:
        raise ValueError("change_points looks for cuts; an interval of change has two of them")
    if hypothesis.missing:
        raise ValueError("X has missing values; change_points takes nan_policy='omit' or 'indicator'")
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    search = Search(hypothesis, estimator, asked, settings, generator)
    n, whole = hypothesis.sizes[0], search.test(0, hypothesis.sizes[0])
    tests = [Stretch(0, n, whole.pvalue, whole.pvalue, whole.location)]
    waiting = list(tests)
    found: list[Stretch] = []
    while waiting and (n_changes is None or len(found) < n_changes):
        best = min(waiting, key=lambda one: (one.adjusted, one.first))
        waiting.remove(best)
        if not best.adjusted <= settings.alpha:
            continue
        found.append(best)
        for first, end in ((best.first, best.location), (best.location, best.end)):
            if not search.testable(first, end):
                continue
            result = search.test(first, end)
            adjusted = max(best.adjusted, min(1.0, result.pvalue * n / (end - first)))
            tests.append(Stretch(first, end, result.pvalue, adjusted, first + result.location))
            waiting.append(tests[-1])
    found.sort(key=lambda one: one.location)
    places = [_placed(search, found, i) for i in range(len(found))]
    parts = np.split(hypothesis.points, [one.location for one in found])
    return ChangesResult(
        locations=np.array([one.location for one in found], dtype=np.int64),
        adjusted=np.array([one.adjusted for one in found]),
        pvalues=np.array([one.pvalue for one in found]),
        intervals=tuple(places),
        tests=tuple(tests),
        curve=whole.curve,
        n_observations=(n,),
        alpha=settings.alpha,
        confidence=hypothesis.confidence,
        estimator=whole.estimator,
        kernel=asked.kernel,
        rng=provenance,
        times=hypothesis.times,
        restriction=whole.restriction,
        notes=(*whole.notes, *hypothesis.of_memory(parts), *(_NOTES if len(found) > 1 else ())),
        points=hypothesis.points,
    )


_NOTES = (
    "The adjusted p-value of the first change that was found is exact; those of others take the rows of a stretch as "
    "exchangeable although the data chose its ends.",
)


def _placed(search: Search, found: list[Stretch], i: int) -> tuple[int, int] | None:
    """The interval of a change in the rows between the changes beside it; it holds the place that was found."""
    if search.hypothesis.confidence is None:
        return None
    first = found[i - 1].location if i else 0
    end = found[i + 1].location if i + 1 < len(found) else search.hypothesis.sizes[0]
    at = found[i].location
    if end - first < _FEWEST:
        return at, at
    # permutations of the test itself are not needed here
    asked = replace(search, settings=replace(search.settings, n_resamples=0, stopping=None))
    interval = asked.test(first, end, search.hypothesis.confidence).interval
    return None if interval is None else (min(first + interval[0], at), max(first + interval[1], at))
