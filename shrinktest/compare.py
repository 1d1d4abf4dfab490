"""``compare``: a report on what changed between two tables."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, overload

import numpy as np

from shrinktest._check import as_points, choice, count, flag, level, listed
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng
from shrinktest._warn import each_once
from shrinktest.data.all_rows import AllRows, Rows, checked_types, pooled_tables
from shrinktest.data.column import DROP, Table
from shrinktest.data.labels import columns_of_labels, labels_in_order, pooled_labels, two_names
from shrinktest.data.on_disk.sources import in_batches
from shrinktest.data.sample_ratio import SampleRatio
from shrinktest.data.scale import ScaleOption
from shrinktest.data.succession import in_succession
from shrinktest.data.tables import check_same_index, is_table, names_in, read_table, table_of
from shrinktest.data.untestable import CONSTANT, Reasons, without_untestable
from shrinktest.effects.columns import RowUnits, changes, missing_change
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
    """Compare two tables in one report: overall p-value, and adjusted p-values and effect sizes.

    Every column has an adjusted p-value and effect sizes.

    Parameters
    ----------
    A, B : data frame (pandas, polars, pyarrow), path or array_like, shape (m, d) and (n, d)
        The tables, one row per observation, or paths of CSV, Parquet or .npy files.  Columns are
        matched by name; the answer starts with those that only one table has.
    names : tuple of str, default ("A", "B")
        Names of the tables in the report, such as ``("March", "April")``.
    estimator : str, MeanEstimator or callable, list of these, Ensemble or "auto", default "auto"
        As in :func:`two_sample_test`.  "auto" combines statistics for location, spread, shape and
        dependence; "kme" is faster.
    confidence : float, default 0.95
        Confidence level of the interval of each effect, not adjusted for their number.
    groups
        A group must lie in one table.
    by : str, optional
        Column of both tables, such as "country": one report for each of its values, with p-values
        adjusted for all of them.
    sort : {"pvalue", "effect", "column"}, default "pvalue"
        Order of the columns in the report: most significant first, largest effect first, or by
        name.
    top : int, optional
        Number of columns that the report shows; default all.
    nan_policy : {"indicator", "omit", "raise"}, default "indicator"
        Missing values count as information; drop rows with a missing value in any column; or raise
        an error.

    Returns
    -------
    ComparisonResult
        ``print(result.summary())``, ``result.table``, ``result.to_html("report.html")``,
        ``result.pvalue``.  With ``by``, a :class:`SegmentsResult`, in which ``result["Norway"]`` is
        the report of one segment.

    See Also
    --------
    two_sample_test : The overall test with all its options; where the tables differ (witness
        function).
    two_sample_test_columns : The tests of the columns alone.
    equivalence_test : Practical equivalence of two tables, which a large p-value does not show.
    k_sample_test : Three or more tables.
    change_points : When the rows of one table changed.

    Notes
    -----
    The overall p-value comes from :func:`two_sample_test`, and the p-values of columns come from
    :func:`two_sample_test_columns`, from the same permutations.  The overall test and the adjusted
    tests each have level ``alpha``, and may disagree.  Dates and counters that hardly overlap are
    left out of the overall test, with a note.

    The report also names regions in which one table has more rows, by the permutations of the
    overall test: ``result.regions``, see :doc:`/regions`.

    Effects of numbers and dates are medians, the AUC of the column and the ratio of interquartile
    ranges; of categories, the change of every share.  Their intervals account for pairs and groups.
    With ``blocks=`` the effects of columns compare all rows, whatever their block, while p-values
    compare rows within blocks.  See :doc:`/compare`.

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
    These tables differ (p = .005). 1 of 2 columns changed: income. Shown one observation of March and one of
    April, the witness function assigns them correctly with probability .76 [.68, .82] (.5 is guessing).
    >>> for column, change in zip(result.table["column"], result.table["change"]):
    ...     print(f"{column}: {change}")
    income: median 3,018 → 4,213 (AUC .77 [.70, .83]); IQR 1,222 → 2,009 (× 1.64 [1.03, 2.66])
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
    if in_batches(A, B) or isinstance(A, str) or isinstance(B, str):
        from shrinktest.data.on_disk.whole import read_if_file

        A, B = (
            read_if_file(x, name, column_types, settings.memory)
            for x, name in zip((A, B), called, strict=True)
        )
    if by is not None:
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
    compared = _Compared.read(
        A, B, called, column_types, blocks=blocks, groups=groups, paired=paired, scale=scale
    )
    (compared, whole), unread = without_untestable(
        lambda reasons: compared.tested_without(reasons, nan_policy=nan_policy, scale=scale)
    )
    pooled = compared.pooled
    groups = compared.groups
    columns = ColumnsToTest.read(
        whole.variables[0], _PLAIN, "x", unread=unread, left_out=pooled.left_out
    )
    units = _units(pooled.sizes, paired, groups)
    generator = as_rng(rng)
    same = copy.deepcopy(generator)
    with each_once():
        tests = column_tests(whole, columns, estimator, settings, generator, method)
        successive, failed = _not_in_overall_test(compared, columns, tests, units)
        whole = _without(whole, (*successive, *failed))
        overall = run(whole, estimator, [_PLAIN], settings, same)
    rows = _rows_tested(pooled, paired, nan_policy)
    tested = _split(pooled, rows)
    effects = _effects(pooled, columns.labels, tested, rows, tests, units, confidence)
    size = overall.effect(confidence=confidence)
    notes = _notes(compared, whole, overall, tests, size, successive)
    if ratio is not None:
        notes = (*ratio.notes_of_rows(pooled.sizes, called, groups), *notes)
    regions = overall.regions(confidence=confidence) if overall.n_resamples else None
    result = ComparisonResult(
        called,
        overall,
        tests,
        effects,
        tested,
        confidence,
        compared.only,
        effect=size,
        successive=successive,
        notes=notes,
        regions=regions if regions is None else replace(regions, names=called),
    )
    return replace(result, where=witness_map(result)).with_order(sort, top)


def _not_in_overall_test(
    compared: _Compared, columns: ColumnsToTest, tests: MultipleTestsResult, units: RowUnits
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
    confidence: float,
) -> tuple[ColumnEffects, ...]:
    """Return what changed in every column, in the ``rows`` that were tested."""
    effects = []
    parts = zip(labels, pooled.table.columns, tested[0].columns, tested[1].columns, strict=True)
    for label, column, first, second in parts:
        untested = tests.untested.get((label,), "")
        estimates: list[Any] = []
        if untested != CONSTANT:
            estimates += changes(first, second, units.taken(rows), confidence)
        before = column.taken(slice(pooled.sizes[0]))
        after = column.taken(slice(pooled.sizes[0], None))
        gaps = missing_change(before, after, units, confidence)
        if gaps:
            estimates.append(gaps)
        effects.append(ColumnEffects(label, column.kind, tuple(estimates), untested))
    return tuple(effects)


def _notes(
    compared: _Compared,
    whole: TwoEqualDistributions,
    overall: TestResult,
    tests: MultipleTestsResult,
    size: Any,
    successive: Sequence[str],
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
        *_others(size.notes, "effect-of-member"),
        *(() if compared.blocks is None else (note("effect-across-blocks"),)),
    )

    def is_explained(text: str) -> bool:
        return has_code(text, "tells-samples-apart") and any(
            repr(name) in text for name in successive
        )

    return tuple(text for text in dict.fromkeys(notes) if not is_explained(text))


def _others(notes: tuple[str, ...], *codes: str) -> list[str]:
    return [text for text in notes if not has_code(text, *codes)]


# --- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Compared:
    """Two tables that are compared, pooled, with the labels of their rows."""

    pooled: AllRows
    names: tuple[str, str]
    types: dict[str, Any]
    only: tuple[tuple[str, ...], tuple[str, ...]]  # columns that only one of the tables has
    blocks: Any
    groups: Any
    paired: bool
    notes: tuple[str, ...]

    @classmethod
    def read(
        cls,
        A: Any,
        B: Any,
        names: tuple[str, str],
        column_types: Any,
        *,
        blocks: Any,
        groups: Any,
        paired: bool,
        scale: Any,
    ) -> _Compared:
        """Read the tables and the labels of their rows."""
        tables, types, only = _read(A, B, names, column_types)
        if paired and len(A) == len(B):
            check_same_index(A, B, *names)
        labels = {
            "blocks": labels_in_order(blocks, "blocks", names),
            "groups": labels_in_order(groups, "groups", names),
        }
        types, notes = columns_of_labels(labels, (A, B), types, ScaleOption.of(scale))
        pooled = pooled_tables(tables, names, types)
        if not paired:
            both = " and ".join(names)
            for name, given in labels.items():
                if given is not None:
                    labels[name] = pooled_labels(given, name, (A, B), names, pooled.sizes, both)
        notes += pooled.notes
        if labels["blocks"] is None and labels["groups"] is None:
            notes += pooled.units(paired=paired)
        return cls(pooled, names, types, only, labels["blocks"], labels["groups"], paired, notes)

    def tested_without(
        self, reasons: Reasons, *, nan_policy: str, scale: Any
    ) -> tuple[_Compared, TwoEqualDistributions]:
        """Leave out columns for which there are reasons.

        Return also the hypothesis on the others.
        """
        part = self.pooled.without([name for _, name in reasons])
        hypothesis = TwoEqualDistributions.read(
            *_split(part),
            nan_policy=nan_policy,
            scale=scale,
            column_types={
                name: self.types[name] for name in part.table.names if name in self.types
            },
            called=self.names,
            paired=self.paired,
            blocks=self.blocks,
            groups=self.groups,
        )
        return replace(self, pooled=part), hypothesis


def _read(
    A: Any, B: Any, names: tuple[str, str], column_types: Any
) -> tuple[list[Table], dict[str, Any], tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the tables with their common columns, their reading, and the other names.

    The other names are those of the columns that are not common.
    """
    types = checked_types(column_types)
    first = names_in(A)
    second = names_in(B)
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if first and second:
        only = (
            tuple(name for name in first if name not in second and types.get(name) != DROP),
            tuple(name for name in second if name not in first and types.get(name) != DROP),
        )
        if not {*first} & {*second}:
            raise ValueError(
                f"{names[0]} and {names[1]} have no column in common: {listed(first)}; "
                f"{listed(second)}; rename columns"
            )
    tables = [  # what only one of them has may be anything
        read_table(
            x if is_table(x) else table_of(as_points(x, name, tables=True)),
            name,
            {**types, **dict.fromkeys(extra, DROP)},
        )
        for x, name, extra in zip((A, B), names, only, strict=True)
    ]
    for key in types:
        choice(
            key,
            dict.fromkeys(name for t in tables for name in (*t.names, *t.dropped)),
            "a column in column_types",
        )
    return tables, types, only


def _split(pooled: AllRows, rows: Rows | bool = True) -> tuple[Table, Table]:
    """Return some rows of both tables, with common levels."""
    first = np.arange(sum(pooled.sizes)) < pooled.sizes[0]
    return pooled.table.taken(first & rows), pooled.table.taken(~first & rows)


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


def _without(whole: TwoEqualDistributions, names: tuple[str, ...]) -> TwoEqualDistributions:
    """Return the hypothesis about the other columns, with the same rows."""
    (variable,) = whole.variables
    if not names or variable.encoding is None:
        return whole
    encoding, stays = variable.encoding.without(names)
    points = np.ascontiguousarray(variable.points[:, stays])
    return replace(whole, variables=(replace(variable, points=points, encoding=encoding),))
