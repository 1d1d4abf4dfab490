"""SegmentReports: comparisons of two tables within the segments of a column."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import counted
from shrinktest._random import as_rng, rng_provenance
from shrinktest.data.labels import as_labels, labels_in_order
from shrinktest.data.sample_ratio import SampleRatio
from shrinktest.data.segments import Segments, taken_labels
from shrinktest.notes import note
from shrinktest.permutations.multiplicity import NEVER, scores, step_down
from shrinktest.results.comparison import ComparisonResult
from shrinktest.results.multiple_tests_result import WESTFALL_YOUNG
from shrinktest.results.segments_result import SegmentsResult

_FEWEST = 2  # rows of each table in a segment
_DRAWS = 999  # permutations of all segments together, if those of each were enumerated


@dataclass(frozen=True, eq=False)
class SegmentReports:
    """Two tables and the labels of their rows, which are compared within segments."""

    by: str
    names: tuple[str, str]
    segments: Segments
    labels: Mapping[str, tuple[Any, Any]]  # of the rows of both tables, by argument

    @classmethod
    def read(
        cls,
        A: Any,
        B: Any,
        by: str,
        names: tuple[str, str],
        labels: Mapping[str, Any],
        *,
        paired: bool,
    ) -> SegmentReports:
        """Read the segments, and the labels of rows as users give them."""
        if not isinstance(by, str):
            raise TypeError(f"by must be the name of a column; got {type(by).__name__}")
        segments = Segments.of([A, B], by, names)
        first, second = segments.codes
        if paired and not np.array_equal(first, second):
            raise ValueError(f"by={by!r} differs within pairs; pass a column that agrees in them")
        sizes = [len(codes) for codes in segments.codes]
        given = {
            name: _in_parts(own, name, names, sizes)
            for name, own in labels.items()
            if own is not None
        }
        return cls(by, names, segments, given)

    def run(
        self, compare: Callable[..., ComparisonResult], rng: Any, ratio: SampleRatio | None
    ) -> SegmentsResult:
        """Compare the tables in every segment, and adjust the p-values for all of them."""
        generator = as_rng(rng)
        provenance = rng_provenance(generator)
        reports, untested = self._reports(compare, generator)
        one = next(iter(reports.values()))
        adjusted = _adjusted(
            [_Shared.overall(report) for report in reports.values()],
            one.columns.method,
            one.alpha,
            generator,
        )
        of_columns = _adjusted(
            [_Shared.of_columns(report) for report in reports.values()],
            one.columns.method,
            one.alpha,
            generator,
        )
        labels = [
            (segment, column)
            for segment, report in reports.items()
            for (column,) in report.columns.labels
        ]
        return SegmentsResult(
            by=self.by,
            names=self.names,
            reports=reports,
            adjusted=dict(zip(reports, adjusted.tolist(), strict=True)),
            adjusted_columns=dict(zip(labels, of_columns.tolist(), strict=True)),
            sizes={name: self._sizes(number) for number, name in enumerate(self.segments.names)},
            untested=untested,
            notes=self._notes(ratio),
            rng=provenance,
        )

    def _reports(
        self, compare: Callable[..., ComparisonResult], generator: np.random.Generator
    ) -> tuple[dict[str, ComparisonResult], dict[str, str]]:
        """Return the reports of segments, and why others have none.

        ValueError if no segment has one.
        """
        reports: dict[str, ComparisonResult] = {}
        untested: dict[str, str] = {}
        fault = ValueError(f"by={self.by!r} has no value with {_FEWEST} rows in both tables")
        for number, segment in enumerate(self.segments.names):
            seed = int(generator.integers(2**63))  # of every segment, compared or not
            sizes = self._sizes(number)
            if min(sizes) < _FEWEST:
                untested[segment] = self._too_few(sizes)
                continue
            try:
                reports[segment] = self._report(compare, number, seed)
            except ValueError as error:
                untested[segment] = str(error)
                fault = error
        if not reports:
            raise fault
        return reports, untested

    def _sizes(self, number: int) -> tuple[int, int]:
        """Return the numbers of rows of both tables in a segment."""
        return len(self.segments.rows(0, number)), len(self.segments.rows(1, number))

    def _report(
        self, compare: Callable[..., ComparisonResult], number: int, seed: int
    ) -> ComparisonResult:
        """Return the report of one segment."""
        own = {
            argument: tuple(self._labels(parts[table], argument, table, number) for table in (0, 1))
            for argument, parts in self.labels.items()
        }
        A = self.segments.taken(0, number)
        B = self.segments.taken(1, number)
        with warnings.catch_warnings():  # a segment may be small, and others large enough
            warnings.filterwarnings("ignore", f".*{NEVER}")
            return compare(A, B, rng=seed, **own)

    def _labels(self, part: Any, argument: str, table: int, number: int) -> Any:
        """Return the labels of the rows of a table in a segment."""
        rows = self.segments.rows(table, number)
        size = len(self.segments.codes[table])
        return taken_labels(part, rows, argument, size, self.names[table])

    def _too_few(self, sizes: tuple[int, int]) -> str:
        """Return why a segment is not compared."""
        few = [
            f"{name} has {counted(size, 'row')}"
            for name, size in zip(self.names, sizes, strict=True)
            if size < _FEWEST
        ]
        return " and ".join(few)

    def _notes(self, ratio: SampleRatio | None) -> tuple[str, ...]:
        """Return notes on the tables as a whole."""
        notes: tuple[str, ...] = ()
        if ratio is not None:
            both: Any = self.labels.get("groups")
            sizes = [len(codes) for codes in self.segments.codes]
            groups = None
            if both is not None:
                groups = [
                    label
                    for part, size, name in zip(both, sizes, self.names, strict=True)
                    for label in as_labels(part, "groups", size, name)
                ]
            notes += ratio.notes_of_rows(sizes, self.names, groups)
        if any(self.segments.missing):
            rows = " and ".join(
                f"{counted(size, 'row')} of {name}"
                for name, size in zip(self.names, self.segments.missing, strict=True)
                if size
            )
            notes += (note("no-segment", by=self.by, rows=rows),)
        return notes


@dataclass(frozen=True, eq=False)
class _Shared:
    """Tests of one segment, on permutations that they share."""

    statistics: np.ndarray  # (k,)
    values: np.ndarray  # (B, k): in the permutations
    tolerances: np.ndarray  # (k,)
    pvalues: np.ndarray  # (k,)
    exact: bool

    @classmethod
    def overall(cls, report: ComparisonResult) -> _Shared:
        """Return the overall test of a report."""
        null = report.overall.null
        return cls(
            np.array([null.observed]),
            null.values[:, None],
            np.array([null.tolerance]),
            np.array([null.pvalue]),
            null.exact,
        )

    @classmethod
    def of_columns(cls, report: ComparisonResult) -> _Shared:
        """Return the tests of the columns of a report."""
        tests = report.columns
        return cls(
            tests.statistics,
            tests.null_distributions,
            tests.tolerances,
            tests.pvalues,
            tests.exact,
        )

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return the statistics in ``count`` random permutations, from all of them if exact."""
        if not self.exact:
            return self.values
        return self.values[rng.integers(len(self.values), size=count)]


def _adjusted(
    tests: list[_Shared], method: str, alpha: float, rng: np.random.Generator
) -> np.ndarray:
    """Adjust the p-values of all tests of all segments for their number.

    Rows of different segments are permuted independently of each other, so that the b-th
    permutations of all segments are one permutation of all rows within segments.
    """
    pvalues = np.concatenate([test.pvalues for test in tests])
    if np.isnan(pvalues).any():
        return np.full(len(pvalues), math.nan)
    if method != WESTFALL_YOUNG:
        from statsmodels.stats.multitest import multipletests

        return np.asarray(multipletests(pvalues, alpha=alpha, method=method)[1])
    sizes = [len(test.values) for test in tests if not test.exact]
    count = sizes[0] if sizes else max(_DRAWS, *(len(test.values) for test in tests))
    values = np.hstack([test.drawn(count, rng) for test in tests])
    observed = np.concatenate([test.statistics for test in tests])
    tolerances = np.concatenate([test.tolerances for test in tests])
    adjusted = step_down(scores(np.vstack([observed, values]), tolerances))
    return np.maximum(adjusted, pvalues)


def _in_parts(given: Any, name: str, names: tuple[str, str], sizes: list[int]) -> tuple[Any, Any]:
    """Return labels of the rows of each table, which users give apart or one after the other."""
    given = labels_in_order(given, name, names)
    apart = isinstance(given, tuple | list) and len(given) == len(names)
    if apart and all(hasattr(part, "__len__") and not isinstance(part, str) for part in given):
        return given[0], given[1]
    pooled = as_labels(given, name, sum(sizes), " and ".join(names))
    return pooled[: sizes[0]], pooled[sizes[0] :]
