"""ComparisonResult: what changed between two tables, and how."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, count, counted, output_path, percent
from shrinktest.data.column import Table
from shrinktest.data.untestable import CONSTANT
from shrinktest.notes import has_code
from shrinktest.results.adjustments import ADJUSTMENTS
from shrinktest.results.base import Result
from shrinktest.results.columns import (
    DIFFERENCES,
    MEDIAN,
    MISSING,
    SHARE,
    SPREAD,
    Change,
    ColumnEffects,
    Distribution,
    distribution,
)
from shrinktest.results.comparison_page import page_of
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.multiple_tests_result import MultipleTestsResult
from shrinktest.results.paragraph import paragraph, seed_in_words
from shrinktest.results.plots.comparison import plot_comparison
from shrinktest.results.printing import WIDTH, Summary, number, shown_pvalue
from shrinktest.results.printing import Table as TextTable
from shrinktest.results.regions_result import RegionsResult
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    import pandas as pd

#: By what the columns of a report may be sorted.
SORTS = ("pvalue", "effect", "column")

_NAMED = 8  # columns that a sentence names
_REPORTED = 3  # columns that a paragraph reports


@dataclass(frozen=True, eq=False)
class WitnessMap:
    """Witness function of two columns of numbers, on a grid."""

    columns: tuple[str, str]
    kinds: tuple[str, str]
    # the grid along each column; dates in days since 1970, durations in days, times of day in hours
    lines: tuple[np.ndarray, np.ndarray]
    heights: np.ndarray  # (grid, grid): above zero if the second table has more
    outside: (
        np.ndarray | None
    )  # (grid, grid): outside the simultaneous band, which exists for independent rows only
    points: tuple[np.ndarray, np.ndarray]  # (n, 2): rows of each table to draw
    confidence: float  # of the band
    sampled: bool = False  # True if it is computed from a random part of the rows


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Result):
    """Comparison of two tables: an overall test, column tests, and effects.

    Attributes
    ----------
    names : tuple of str
        Names of the two tables.
    overall : TestResult
        The test of the tables as a whole, which is an :class:`AggregateResult` if
        ``estimator="auto"``.
    columns : MultipleTestsResult
        A test of every column that has more than one value, adjusted for the number of columns.
    effects : tuple of ColumnEffects
        Differences in every column, in the order of the table.
    tables : tuple of Table
        The data, without columns that were left out, from which the pictures are made.
    confidence : float
        Confidence level of every interval, which is not adjusted for the number of intervals.
    only : tuple of tuple of str
        Columns that only the first table has (lost) and columns that only the second has (added).
    where : WitnessMap or None
        The witness function of the two columns of numbers that contribute most.
    notes : tuple of str
        Assumptions that may fail, and data that were left out.
    effect : TwoSampleEffect or None
        Difference of the tables as a whole: ``overall.effect()``, with the names of the tables.
    successive : tuple of str
        Dates and counters with little overlap in the two tables, which are not part of the overall
        test.
    regions : RegionsResult or None
        Regions in which one table is over-represented, with p-values from permutations of the
        overall test; None if they are not available.
    sort : {"pvalue", "effect", "column"}
        The order of the columns in tables: most significant first, largest effect first, or by
        name.
    top : int or None
        The number of columns that tables show; None for all.
    """

    names: tuple[str, str]
    overall: TestResult
    columns: MultipleTestsResult
    effects: tuple[ColumnEffects, ...]
    tables: tuple[Table, Table]
    confidence: float = 0.95
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    where: WitnessMap | None = None
    notes: tuple[str, ...] = ()
    effect: TwoSampleEffect | None = None
    successive: tuple[str, ...] = ()
    regions: RegionsResult | None = None
    sort: str = "pvalue"
    top: int | None = None

    pvalue = property(
        attrgetter("overall.pvalue"), doc="p-value of the hypothesis that the tables do not differ."
    )
    alpha = property(attrgetter("overall.alpha"), doc="Level at which the result decides.")
    plot = plot_comparison

    def __repr__(self) -> str:
        return (
            f"ComparisonResult({' and '.join(self.names)}, pvalue={self.pvalue:.6g}, "
            f"{len(self.changed())} of "
            f"{counted(len(self.columns), 'column')} changed)"
        )

    def reject(self, alpha: float | None = None) -> bool:
        """Return True if the overall test finds that the tables differ.

        The level is ``alpha``, by default that of the result.
        """
        return self.overall.reject(alpha)

    def changed(self, alpha: float | None = None) -> tuple[str, ...]:
        """Return the columns whose adjusted tests reject, clearest first."""
        rejected = dict(zip(self.columns.labels, self.columns.reject(alpha).tolist(), strict=True))
        return tuple(column.name for column in self.ordered if rejected.get((column.name,)))

    @cached_property
    def ordered(self) -> tuple[ColumnEffects, ...]:
        """Effects and tests of every column, most significant first.

        Columns that are untested, constant or left out come last.
        """
        described = {column.name: column for column in self.effects}
        columns = []
        for row in self.columns.rows():
            column = described.get(row["column"]) or ColumnEffects(
                row["column"], "", (), row["reason"]
            )
            columns.append(
                replace(column, **{name: row[name] for name in ("pvalue", "adjusted", "reject")})
            )

        def place(column: ColumnEffects) -> tuple[Any, ...]:
            last = (not column.kind, column.constant, bool(column.untested))
            return last, column.adjusted, column.pvalue, -column.strength

        return tuple(sorted(columns, key=place))

    def with_order(self, sort: str = "pvalue", top: int | None = None) -> ComparisonResult:
        """Return the report with its columns in another order, or only the first ones.

        Parameters
        ----------
        sort : {"pvalue", "effect", "column"}, default "pvalue"
            Most significant first, largest effect first, or by name.
        top : int, optional
            The number of columns to show; default all.
        """
        choice(sort, SORTS, "sort")
        if top is not None:
            count(top, "top", 1)
        return replace(self, sort=sort, top=top)

    @property
    def listed(self) -> tuple[ColumnEffects, ...]:
        """Effects and tests of the columns that tables show, in their order."""
        columns = list(self.ordered)
        if self.sort == "effect":
            columns.sort(key=lambda column: -column.size)
        if self.sort == "column":
            columns.sort(key=lambda column: column.name)
        return tuple(columns[: self.top])

    @property
    def rest(self) -> str:
        """Line on the columns that tables do not show; empty if they show all."""
        hidden = len(self.ordered) - len(self.listed)
        if not hidden:
            return ""
        changed = sum(column.reject for column in self.ordered)
        changed -= sum(column.reject for column in self.listed)
        return f"... and {counted(hidden, 'more column')}, {changed or 'none'} changed"

    def distribution(self, name: str) -> Distribution:
        """Return the proportions of the values of a column in both tables.

        They are in bins or, for categories, by level.
        """
        names = [column.name for column in self.effects]
        j = names.index(choice(name, names, "a column"))
        first, second = (table.columns[j] for table in self.tables)
        return distribution(first, second)

    @property
    def answer(self) -> str:
        """Result in a few sentences: whether and in which columns the tables differ.

        They include by how much the tables differ as a whole.
        """
        return " ".join([self.verdict, *self.size])

    @property
    def size(self) -> tuple[str, ...]:
        """Sentence on how different the tables are as a whole.

        It is empty if that was not estimated.
        """
        return (
            () if self.effect is None or math.isnan(self.effect.auc) else (self.effect.lines()[0],)
        )

    @property
    def verdict(self) -> str:
        """The answers of the tests, in a few sentences."""
        both = zip(self.names, self.only, strict=True)
        lost = [
            f"Only {name} has the column{'s' * (len(alone) > 1)} {_first(alone)}."
            for name, alone in both
            if alone
        ]
        return " ".join([*lost, self._decision()])

    def _decision(self) -> str:
        if math.isnan(self.pvalue):
            return "No p-value was computed, because there are no permutations (n_resamples=0)."
        changed = self.changed()
        tested = len(self.columns)
        chance = f"(p = {shown_pvalue(self.pvalue)})"
        columns = f"{len(changed)} of {counted(tested, 'column')} changed: {_first(changed)}"
        if not self.reject() and changed:
            whole = f"without {_first(self.successive)}" if self.successive else "taken as a whole"
            return f"{columns}; {whole}, the tables do not differ significantly {chance}."
        if not self.reject():
            where = "in the common columns" if any(self.only) else "between these tables"
            return f"No difference was found {where} {chance}{self._left_out()}."
        alone = (
            "No single column is significant: small changes may add up, or the dependence between "
            "columns changed."
        )
        if changed:
            alone = f"{columns}."
        elif tested == 1:
            alone = "Its only column is not significant on its own."
        elif any(has_code(text, "too-few-permutations") for text in self.columns.notes):
            alone = (
                "Which columns changed is unclear, because there are too few permutations for so "
                "many tests (see the notes)."
            )
        return (
            f"{'The common columns' if any(self.only) else 'These tables'} differ {chance}. {alone}"
        )

    def _left_out(self) -> str:
        """Return which columns the overall test is without, unless they are constant.

        Empty if there are none.
        """
        untested = [name for (name,), reason in self.columns.untested.items() if reason != CONSTANT]
        names = tuple(dict.fromkeys([*untested, *self.successive]))
        return f"; left out of this test: {_first(names)}" if names else ""

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one per column, in the order of ``sort``.

        The columns are column, type, pvalue, adjusted and reject; then the effect that stands out
        most: ``effect`` ("median", "position", "spread", "share", "missing"), its ``level`` (of a
        share), ``estimate``, ``low``, ``high``; ``mean_difference`` and ``median_difference``,
        second minus first, with ``_low`` and ``_high``, in the unit of the column or in ``unit``
        (days for dates and durations, hours for times of day); ``adjusted_for``: what the effect
        and the difference in means are adjusted for; ``change``, in words; and ``reason``, why a
        column was not tested, which is empty for the others.
        """
        unknown = {
            "effect": None,
            "level": None,
            "estimate": math.nan,
            "low": math.nan,
            "high": math.nan,
        }
        rows = []
        for column in self.listed:
            row = {"column": column.name, "type": column.kind}
            row |= {
                name: getattr(column, name) for name in ("pvalue", "adjusted", "reject")
            } | unknown
            for change in column.shown[:1]:
                counted = column.to_dict(column.counted(change))
                row |= {name: value for name, value in counted.items() if name in unknown}
            row |= _differences(column)
            rows.append(row | {"change": "; ".join(column.lines), "reason": column.untested})
        return rows

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every effect of every column (pandas).

        The columns are column, effect and level; ``first`` and ``second``, the median,
        interquartile range, proportion or mean in each table; ``estimate``, ``low``, ``high``: the
        probability that a value of the second table is larger (AUC), the ratio of interquartile
        ranges, or the difference in proportions, means or medians (days for dates and durations,
        hours for times of day); ``adjusted_for``: what the estimate is adjusted for, else empty.
        """
        import pandas as pd

        rows = []
        for column in self.effects:
            for change in column.changes:
                values = {
                    name: column.as_pandas(change.what, getattr(change, name))
                    for name in ("first", "second")
                }
                rows.append(_effect_row(column, change) | values)
        names = ["column", "effect", "level", "first", "second", "estimate", "low", "high"]
        return pd.DataFrame(rows, columns=[*names, "adjusted_for"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: answer, overall test, ``effect``, and columns.

        ``columns`` and ``effects`` have a row each, ``changed`` are the columns that changed, and
        ``only`` are those that one table has alone.
        """
        names = (
            "answer",
            "names",
            "pvalue",
            "alpha",
            "confidence",
            "only",
            "successive",
            "effect",
            "notes",
            "overall",
        )
        values = self._plain(*names, "reject", "changed") | {
            "n_observations": list(self.overall.n_observations),
            "method": self.columns.method,
            "columns": self.rows(),
            "effects": [
                _effect_row(column, change) for column in self.effects for change in column.changes
            ],
            "regions": self.regions.rows() if self.regions else [],
        }
        del values["overall"]["null_distribution"]
        return values

    def summary(self) -> Summary:
        """Return the answer, the columns in the order of ``sort``, and notes."""
        rows = []
        for column in self.listed:
            pvalues = (number(pvalue, ".3g") for pvalue in (column.pvalue, column.adjusted))
            line, *more = column.lines
            rows.append([column.name, column.kind, *pvalues, "yes" if column.reject else "", line])
            rows += [["", "", "", "", "", line] for line in more]
        change = f"change{self.across}, with {percent(self.confidence)} interval"
        headers = ["column", "type", "p-value", "adjusted", "changed", change]
        table = TextTable(rows, "llrrll", headers=headers, gap="  ", below="-")
        head = [f"Comparison of {' and '.join(self.sized())}", fill(self.answer, WIDTH)]
        return Summary.of(table, head=head, rest=self.rest, lines=self.places, notes=self.notes)

    def paragraph(self) -> str:
        """Return two to four sentences for an article: tests, columns and software."""
        overall = replace(self.overall, data=replace(self.overall.data, names=self.names))
        size = "" if self.effect is None else self.effect.reported()
        decision = overall._finding()
        return paragraph(
            overall._tested(),
            overall._by(),
            overall._details(),
            [f"{decision}; {size}" if size else decision, self._columns_in_words()],
            self.versions,
            seed_in_words(overall.rng),
        )

    def _columns_in_words(self) -> str:
        """Return which columns changed, with their strongest effects."""
        if math.isnan(self.pvalue):
            return ""
        changed = self.changed()
        how = ADJUSTMENTS[self.columns.method].cited
        were = "differed" if changed else "differed clearly"
        count = f"{len(changed) or 'none'} of {counted(len(self.columns), 'column')} {were}"
        texts = []
        for column in self.ordered[: min(len(changed), _REPORTED)]:
            pvalue = f"adjusted p = {shown_pvalue(column.adjusted)}"
            texts.append(f"{column.name}, {', '.join([*column.lines[:1], pvalue])}")
        more = f"; and {len(changed) - _REPORTED} more" if len(changed) > _REPORTED else ""
        named = f": {'; '.join(texts)}{more}" if texts else ""
        return f"with p-values adjusted by {how}, {count}{named}"

    def _sources(self) -> Iterator[str]:
        yield from self.overall._sources()
        yield from self.columns._sources()
        yield from () if self.effect is None else self.effect._sources()
        kinds = {change.what for column in self.effects for change in column.changes}
        for what, source in ((MEDIAN, "DDC88"), (SPREAD, "W52"), (SHARE, "N98"), (MISSING, "N98")):
            if what in kinds:
                yield source

    @property
    def places(self) -> tuple[str, ...]:
        """Sentences on the regions in which one table has more rows; empty without any."""
        return self.regions.lines if self.regions else ()

    @property
    def across(self) -> str:
        """Header text on the effects of columns if tests compare rows within blocks."""
        return (
            " across all blocks"
            if any(has_code(text, "effect-across-blocks") for text in self.notes)
            else ""
        )

    def sized(self) -> list[str]:
        """Names of both tables with their numbers of rows."""
        both = zip(self.names, self.overall.n_observations, strict=True)
        return [f"{name} ({counted(size, 'row')})" for name, size in both]

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page with pictures (matplotlib).

        It is also written to ``path``.
        """
        if path is None:
            return page_of(self)
        file = output_path(path, "path")
        file.write_text(text := page_of(self), encoding="utf-8")
        return text


def _effect_row(column: ColumnEffects, change: Change) -> dict[str, Any]:
    """Return one effect of a column as plain values."""
    return column.to_dict(change) | {"adjusted_for": change.adjusted_for}


def _differences(column: ColumnEffects) -> dict[str, Any]:
    """Return the differences of means and of medians of a column, with their unit."""
    values: dict[str, Any] = {}
    for what in DIFFERENCES:
        change = column.effect(what)
        numbers = [math.nan] * 3
        if change is not None:
            numbers = [change.estimate, change.low, change.high]
        values |= dict(zip((what, f"{what}_low", f"{what}_high"), numbers, strict=True))
    return values | {"unit": column.unit, "adjusted_for": column.adjusted_for}


def _first(names: tuple[str, ...]) -> str:
    """Return the first few of many names."""
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
