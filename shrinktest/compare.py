"""``compare``: a report on what changed between two tables."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from shrinktest._check import choice, count, flag, level
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng
from shrinktest._warn import each_once
from shrinktest.adjusted_columns import (
    adjustment_notes,
    adjustment_of,
)
from shrinktest.compared_tables import ComparedTables, split
from shrinktest.data.all_rows import AllRows
from shrinktest.data.column import Table
from shrinktest.data.labels import two_names
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.data.sample_ratio import SampleRatio
from shrinktest.data.succession import in_succession
from shrinktest.data.untestable import CONSTANT, without_untestable
from shrinktest.effects.columns import changes, missing_change
from shrinktest.effects.differences import Adjustment
from shrinktest.effects.row_units import RowUnits
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.kernel_spec import KernelSpec
from shrinktest.many import ColumnsToTest
from shrinktest.notes import has_code, note
from shrinktest.results.columns import ColumnEffects
from shrinktest.results.comparison import SORTS, ComparisonResult
from shrinktest.results.multiple_tests_result import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.results.result import TestResult
from shrinktest.results.segments_result import SegmentsResult
from shrinktest.run import run
from shrinktest.segment_reports import SegmentReports
from shrinktest.settings import Settings
from shrinktest.two_sample_columns import column_tests, serial_note
from shrinktest.witness_map import witness_map

if TYPE_CHECKING:
    from shrinktest.conditional.given_samples import GivenSamples

POLICIES = ("indicator", "omit", "raise")

_PLAIN = KernelSpec("gaussian", "median")


@overload
def compare(
    A: Any,
    B: Any,
    *,
    names: tuple[str, str] | list[str] = ...,
    estimator: Any = ...,
    method: str = ...,
    scale: Any = ...,
    n_resamples: float = ...,
    alpha: float = ...,
    confidence: float = ...,
    blocks: Any = ...,
    paired: bool = ...,
    groups: Any = ...,
    sample_ratio: Any = ...,
    by: None = ...,
    sort: str = ...,
    top: int | None = ...,
    column_types: Any = ...,
    nan_policy: str = ...,
    rng: Any = ...,
    workers: int | None = ...,
    progress: bool = ...,
    gram: str = ...,
    rank: int | None = ...,
    max_memory: float | None = ...,
) -> ComparisonResult: ...
@overload
def compare(A: Any, B: Any, *, by: str, **options: Any) -> SegmentsResult: ...
@hinted  # type: ignore[misc]  # options with by= are those without it
@documented
def compare(
    A: Any,
    B: Any,
    *,
    names: tuple[str, str] | list[str] = ("A", "B"),
    estimator: Any = "auto",
    method: str = WESTFALL_YOUNG,
    scale: Any = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    confidence: float = 0.95,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    covariates: Any = None,
    sample_ratio: Any = None,
    by: str | None = None,
    sort: str = "pvalue",
    top: int | None = None,
    column_types: Any = None,
    nan_policy: str = "indicator",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> ComparisonResult | SegmentsResult:
    """Compare two tables in one report, overall and column by column.

    The report has an overall p-value, and every column has an adjusted p-value and effect sizes.

    Parameters
    ----------
    A, B : data frame (pandas, polars, pyarrow), path or array_like, shape (m, d) and (n, d)
        The tables, one row per observation, or paths of CSV, Parquet or .npy files.  Columns are
        matched by name, and the report starts with those that only one table has.
    names : tuple of str, default ("A", "B")
        Names of the tables in the report, such as ``("March", "April")``.
    estimator : str, MeanEstimator or callable, list of these, Ensemble or "auto", default "auto"
        As in :func:`two_sample_test`.  "auto" combines statistics for location, spread, shape and
        dependence, whereas "kme" is faster.
    confidence : float, default 0.95
        Confidence level of the interval of each effect, not adjusted for the number of effects.
    groups
        A group must lie in one table.
    covariates : str, list of str, or pair of array_like, optional
        Variables to adjust for: names of columns that both tables have, which are then not tested,
        or the covariates of A and of B.  p-values are those of :func:`two_sample_test` with
        ``covariates``, by its default method; effects are adjusted, too.
    by : str, optional
        Column of both tables, such as "country": one report for each of its values, with p-values
        adjusted across the reports.
    sort : {"pvalue", "effect", "column"}, default "pvalue"
        Order of the columns in the report: most significant first, largest effect first, or by
        name.
    top : int, optional
        Number of columns that the report shows; default all.
    nan_policy : {"indicator", "omit", "raise"}, default "indicator"
        Whether to use missingness as information, drop rows with a missing value in any column, or
        raise an error.

    Returns
    -------
    ComparisonResult
        ``print(result.summary())``, ``result.table``, ``result.to_html("report.html")``,
        ``result.pvalue``.  With ``by``, a :class:`SegmentsResult`, in which ``result["Norway"]`` is
        the report of one segment.

    See Also
    --------
    two_sample_test : The overall test with all its options, and where the tables differ (witness
        function).
    two_sample_test_columns : The tests of the columns alone.
    equivalence_test : Practical equivalence of two tables, which a large p-value does not show.
    k_sample_test : Three or more tables.
    change_points : Times at which the rows of one table changed.

    Notes
    -----
    The overall p-value comes from :func:`two_sample_test` and the p-values of columns from
    :func:`two_sample_test_columns`, with the same permutations.  The overall test and the adjusted
    tests each have level ``alpha``, and may therefore disagree.  Dates and counters with little
    overlap are left out of the overall test, with a note.

    The report also lists regions in which one table is over-represented (``result.regions``), whose
    p-values come from permutations of the overall test; see :doc:`/compare`.

    For numeric and date columns, the report shows the medians, the AUC of the column and the ratio
    of interquartile ranges, and for categories the change in every proportion.  Numeric columns
    also have differences in means and in medians, in the unit of the column.  Intervals account for
    pairs and groups.  If ``blocks=`` or ``covariates=`` is used, adjusted effects are reported next
    to the others: the AUC and the differences in means and proportions within blocks, or by a
    linear regression on the covariates.  See :doc:`/compare`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest import compare
    >>> rng = np.random.default_rng(1)
    >>> march = pd.DataFrame(
    ...     {"income": rng.lognormal(8.0, 0.4, 100), "region": rng.choice(["north", "south"], 100)}
    ... )
    >>> april = pd.DataFrame(
    ...     {"income": rng.lognormal(8.4, 0.4, 100), "region": rng.choice(["north", "south"], 100)}
    ... )
    >>> result = compare(march, april, names=("March", "April"), n_resamples=199, rng=0)
    >>> print(result.answer)
    These tables differ (p = .005). 1 of 2 columns changed: income. Given one observation from March and one from
    April, the witness function assigns them correctly with probability .76 [.68, .82] (.5 is guessing).
    >>> for column, change in zip(result.table["column"], result.table["change"]):
    ...     print(f"{column}: {change}")
    income: median 3,018 → 4,213 (+1,195 [+728, +1,717]; AUC .77 [.70, .83]); IQR 1,222 → 2,009 (× 1.64 [1.03, 2.66])
    region: north 51% → 55% (+4.0 points [-9.7, +17.5])
    """  # noqa: E501  # printed lines
    called = two_names(names, "tables", ("March", "April"))
    method = choice(method, METHODS, "method")
    nan_policy = choice(nan_policy, POLICIES, "nan_policy")
    confidence = level(confidence, "confidence")
    paired = flag(paired, "paired")
    choice(sort, SORTS, "sort")
    top = None if top is None else count(top, "top", 1)
    ratio = SampleRatio.of(sample_ratio, paired=paired)
    settings = Settings.read(
        n_resamples=n_resamples,
        alpha=alpha,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
    )
    A, B = _in_memory(A, B, called, column_types, settings.memory)
    if by is not None:
        _refuse_rows_of_covariates(covariates)
        one = partial(
            compare,
            names=called,
            estimator=estimator,
            method=method,
            scale=scale,
            n_resamples=n_resamples,
            alpha=alpha,
            confidence=confidence,
            paired=paired,
            covariates=covariates,
            sample_ratio=sample_ratio,
            sort=sort,
            top=top,
            column_types=column_types,
            nan_policy=nan_policy,
            workers=workers,
            progress=progress,
            gram=gram,
            rank=rank,
            max_memory=max_memory,
        )
        labels = {"blocks": blocks, "groups": groups}
        return SegmentReports.read(A, B, by, called, labels, paired=paired).run(one, rng, ratio)
    rows_are = {"blocks": blocks, "groups": groups, "covariates": covariates, "paired": paired}
    compared = ComparedTables.read(A, B, called, column_types, scale=scale, **rows_are)
    how = {"method": method, "nan_policy": nan_policy, "scale": scale, "confidence": confidence}
    result = _report(compared, called, estimator, settings, rng, paired=paired, **how)
    if ratio is not None:
        sizes = compared.pooled.sizes
        noted = ratio.notes_of_rows(sizes, called, compared.groups)
        result = replace(result, notes=(*noted, *result.notes))
    return replace(result, where=witness_map(result)).with_order(sort, top)


def _report(
    compared: ComparedTables,
    names: tuple[str, str],
    estimator: Any,
    settings: Settings,
    rng: Any,
    *,
    method: str,
    nan_policy: str,
    scale: Any,
    confidence: float,
    paired: bool,
) -> ComparisonResult:
    """Return the result of tables that are read."""
    (compared, given, whole), unread = without_untestable(
        lambda reasons: compared.tested_without(
            reasons, estimator, nan_policy=nan_policy, scale=scale
        )
    )
    pooled = compared.pooled
    groups = compared.groups
    plain = whole if given is None else given.test
    columns = ColumnsToTest.read(
        plain.variables[0], _PLAIN, "x", unread=unread, left_out=pooled.left_out
    )
    units = _units(pooled.sizes, paired, groups)
    generator = as_rng(rng)
    same = copy.deepcopy(generator)
    with each_once():
        hypotheses = None
        if given is not None:
            hypotheses = [given.hypothesis(column.values) for column in columns.tested]
        tests = column_tests(plain, columns, estimator, settings, generator, method, hypotheses)
        successive, failed = _not_in_overall_test(compared, columns, tests, units)
        whole = _without(whole, given, (*successive, *failed))
        overall = run(whole, estimator, [_PLAIN] * len(whole.variables), settings, same)
    rows = _rows_tested(pooled, paired, nan_policy) if given is None else np.concatenate(given.kept)
    tested = split(pooled, rows)
    blocks = None if paired else compared.blocks
    adjustment = adjustment_of(blocks, given, rows)
    effects = _effects(pooled, columns.labels, tested, rows, tests, units, adjustment, confidence)
    size = overall.effect(confidence=confidence) if len(whole.variables) == 1 else None
    notes = _notes(compared, whole, overall, tests, size, successive, adjustment)
    explained = overall.n_resamples and given is None
    regions = overall.regions(confidence=confidence) if explained else None
    return ComparisonResult(
        names,
        overall,
        tests,
        effects,
        tested,
        confidence,
        compared.only,
        effect=size,
        successive=successive,
        notes=notes,
        regions=regions if regions is None else replace(regions, names=names),
    )


def _refuse_rows_of_covariates(covariates: Any) -> None:
    """Raise ValueError if covariates are rows, which by= cannot divide."""
    names = [covariates] if isinstance(covariates, str) else covariates
    if names is not None and not all(isinstance(name, str) for name in names):
        raise ValueError("covariates must be names of columns if by= is used")


def _in_memory(
    A: Any, B: Any, names: tuple[str, str], column_types: Any, memory: float
) -> tuple[Any, Any]:
    """Return tables that are in memory, of files and batches."""
    if not (in_batches(A, B) or isinstance(A, str) or isinstance(B, str)):
        return A, B
    from shrinktest.data.on_disk.whole import read_if_file

    first, second = (
        read_if_file(x, name, column_types, memory) for x, name in zip((A, B), names, strict=True)
    )
    return first, second


def _not_in_overall_test(
    compared: ComparedTables, columns: ColumnsToTest, tests: MultipleTestsResult, units: RowUnits
) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns in succession, and those whose own test failed.

    Columns in succession are left out only if others remain.
    """
    pooled = compared.pooled
    labels = {pooled.table.names[column.place]: (column.label,) for column in columns.tested}
    failed = [name for name, label in labels.items() if label in tests.untested]
    successive = in_succession(pooled, compared.types, units.codes)
    if not labels.keys() - {*successive, *failed}:
        successive = ()
    return successive, failed


def _rows_tested(pooled: AllRows, paired: bool, nan_policy: str) -> np.ndarray:
    """Return True for rows that are tested: with "omit" those, or pairs, that miss no value."""
    missing = pooled.missing().any(axis=1) & (nan_policy == "omit")
    if paired:
        missing = np.tile(missing.reshape(2, -1).any(axis=0), 2)
    return np.asarray(~missing)


def _effects(
    pooled: AllRows,
    labels: Sequence[str],
    tested: tuple[Table, Table],
    rows: np.ndarray,
    tests: MultipleTestsResult,
    units: RowUnits,
    adjustment: Adjustment | None,
    confidence: float,
) -> tuple[ColumnEffects, ...]:
    """Return what changed in every column, in the ``rows`` that were tested."""
    effects = []
    parts = zip(labels, pooled.table.columns, tested[0].columns, tested[1].columns, strict=True)
    for label, column, first, second in parts:
        untested = tests.untested.get((label,), "")
        estimates: list[Any] = []
        if untested != CONSTANT:
            estimates += changes(first, second, units.taken(rows), confidence, adjustment)
        before = column.taken(slice(pooled.sizes[0]))
        after = column.taken(slice(pooled.sizes[0], None))
        gaps = missing_change(before, after, units, confidence)
        if gaps:
            estimates.append(gaps)
        effects.append(ColumnEffects(label, column.kind, tuple(estimates), untested))
    return tuple(effects)


def _notes(
    compared: ComparedTables,
    whole: TwoEqualDistributions,
    overall: TestResult,
    tests: MultipleTestsResult,
    size: Any,
    successive: Sequence[str],
    adjustment: Adjustment | None,
) -> tuple[str, ...]:
    """Return the notes of all parts of the report, each once."""
    kinds = {column.name: column.kind for column in compared.pooled.table.columns}
    both = " and ".join(compared.names)
    notes = (
        *(
            note("hardly-overlaps", column=name, names=both, kind=kinds[name])
            for name in successive
        ),
        *compared.notes,
        *_others(overall.notes, "serial-correlation"),
        *serial_note(whole),
        *_others(tests.notes, "serial-correlation", "constant-columns"),
        *(() if size is None else _others(size.notes, "effect-of-member")),
        *adjustment_notes(adjustment),
    )

    def is_explained(text: str) -> bool:
        return has_code(text, "tells-samples-apart") and any(
            repr(name) in text for name in successive
        )

    return tuple(text for text in dict.fromkeys(notes) if not is_explained(text))


def _others(notes: tuple[str, ...], *codes: str) -> list[str]:
    return [text for text in notes if not has_code(text, *codes)]


def _units(sizes: tuple[int, ...], paired: bool, groups: Any) -> RowUnits:
    """Return the independent units: pairs, groups or rows."""
    both = (sizes[0], sizes[1])
    if paired or groups is None:
        return RowUnits.rows(both, paired=paired)
    numbers: dict[Any, int] = {}
    return RowUnits(
        both,
        np.array([numbers.setdefault(label, len(numbers)) for label in groups], dtype=np.int64),
    )


def _without(whole: Any, given: GivenSamples | None, names: tuple[str, ...]) -> Any:
    """Return the hypothesis about the other columns, with the same rows."""
    variable = (whole if given is None else given.test).variables[0]
    if not names or variable.encoding is None:
        return whole
    encoding, stays = variable.encoding.without(names)
    points = np.ascontiguousarray(variable.points[:, stays])
    variable = replace(variable, points=points, encoding=encoding)
    if given is not None:
        return given.hypothesis(variable)
    return replace(whole, variables=(variable,))
