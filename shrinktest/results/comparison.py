"""ComparisonResult: what changed between two tables, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, counted, output_path, percent
from shrinktest.data.column import Table
from shrinktest.notes import has_code
from shrinktest.results.base import TABLE, Result, plain
from shrinktest.results.column_effects import ColumnEffects, shown_pvalue
from shrinktest.results.distribution import Distribution
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.multiple import MultipleTestsResult
from shrinktest.results.printing import WIDTH, Summary, number
from shrinktest.results.printing import Table as TextTable
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_NAMED = 8  # columns that a sentence names


@dataclass(frozen=True, eq=False)
class WitnessMap:
    """Witness function of two columns of numbers, on a grid."""

    columns: tuple[str, str]
    kinds: tuple[str, str]
    # the grid along each column; dates in days since 1970, durations in days, times of day in hours
    lines: tuple[np.ndarray, np.ndarray]
    heights: np.ndarray  # (grid, grid): above zero if the second table has more
    outside: np.ndarray | None  # (grid, grid): outside the simultaneous band, which exists for independent rows only
    points: tuple[np.ndarray, np.ndarray]  # (n, 2): rows of each table to draw
    confidence: float  # of the band
    sampled: bool = False  # True if it is computed from a random part of the rows


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Result):
    """Comparison of two tables: one overall test, a test of every column, and effects with intervals.

    Attributes
    ----------
    names : tuple of str
        What the tables are called.
    overall : TestResult
        The test of the tables as a whole; an :class:`AggregateResult` with ``estimator="auto"``.
    columns : MultipleTestsResult
        A test of every column that has more than one value, adjusted for their number.
    effects : tuple of ColumnEffects
        How every column differs, in the order of the table.
    tables : tuple of Table
        The data, without what was left out; the pictures are made from them.
    confidence : float
        Confidence of every interval, each by itself.
    only : tuple of tuple of str
        Columns that only the first table has (lost) and columns that only the second has (added).
    where : WitnessMap or None
        The witness function of the two columns of numbers that contribute most.
    notes : tuple of str
        Assumptions that may fail, and what was left out.
    effect : TwoSampleEffect or None
        How different the tables are as a whole: ``overall.effect()``, with the names of the tables.
    successive : tuple of str
        Dates and counters that hardly overlap in the two tables: each has its test, and the overall test is without
        them.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest import compare
    >>> rng = np.random.default_rng(0)
    >>> before = pd.DataFrame({"age": rng.normal(40.0, 9.0, 80), "smokes": rng.random(80) < 0.3})
    >>> after = pd.DataFrame({"age": rng.normal(50.0, 9.0, 80), "smokes": rng.random(80) < 0.3})
    >>> result = compare(before, after, n_resamples=199, rng=0)
    >>> result.pvalue, result.changed(), result.reject(0.001)
    (0.005, ('age',), False)
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

    table = TABLE
    #: p-value of the hypothesis that the rows of both tables come from one distribution.
    pvalue = property(attrgetter("overall.pvalue"))
    #: Level at which the result decides.
    alpha = property(attrgetter("overall.alpha"))

    def __repr__(self) -> str:
        return (
            f"ComparisonResult({' and '.join(self.names)}, pvalue={self.pvalue:.6g}, {len(self.changed())} of "
            f"{counted(len(self.columns), 'column')} changed)"
        )

    def reject(self, alpha: float | None = None) -> bool:
        """Return True if the tables differ, by the overall test, at ``alpha`` (default: the result's)."""
        return self.overall.reject(alpha)

    def changed(self, alpha: float | None = None) -> tuple[str, ...]:
        """Return the columns whose tests reject, adjusted for their number, clearest first."""
        rejected = dict(zip(self.columns.labels, self.columns.reject(alpha).tolist(), strict=True))
        return tuple(column.name for column in self.ordered if rejected.get((column.name,)))

    @cached_property
    def ordered(self) -> tuple[ColumnEffects, ...]:
        """Effects and tests of every column, most significant first, then untested, constant and left-out ones."""
        described = {column.name: column for column in self.effects}
        columns = []
        for row in self.columns.rows():
            column = described.get(row["column"]) or ColumnEffects(row["column"], "", (), row["reason"])
            test = {name: row[name] for name in ("pvalue", "adjusted", "reject")}
            strength = max((change.strength for change in column.changes), default=0.0)
            last = (not column.kind, column.constant, bool(column.untested))
            columns.append(((last, row["adjusted"], row["pvalue"], -strength), replace(column, **test)))
        return tuple(column for _, column in sorted(columns, key=lambda placed: placed[0]))

    def distribution(self, name: str) -> Distribution:
        """Return the shares of the values of a column in both tables, in bins or by category."""
        names = [column.name for column in self.effects]
        j = names.index(choice(name, names, "a column"))
        return Distribution.of(*(table.columns[j] for table in self.tables))

    @property
    def answer(self) -> str:
        """The result in a few sentences: whether the tables differ, in which columns, and by how much as a whole."""
        return " ".join([self.verdict, *self.size])

    @property
    def size(self) -> tuple[str, ...]:
        """Return a sentence on how different the tables are as a whole; empty if that was not estimated."""
        return () if self.effect is None or math.isnan(self.effect.auc) else (self.effect.lines()[0],)

    @property
    def verdict(self) -> str:
        """The answers of the tests, in a few sentences."""
        lost = [
            f"Only {name} has the column{'s' * (len(alone) > 1)} {_first(alone)}."
            for name, alone in zip(self.names, self.only, strict=True)
            if alone
        ]
        return " ".join([*lost, self._decision()])

    def _decision(self) -> str:
        changed, tested = self.changed(), len(self.columns)
        columns = f"{len(changed)} of {counted(tested, 'column')} changed: {_first(changed)}"
        tables, chance = "the columns that both have" if any(self.only) else "these tables", shown_pvalue(self.pvalue)
        if math.isnan(self.pvalue):
            return "No p-value was computed, because there are no permutations (n_resamples=0)."
        if not self.reject() and changed:
            whole = f"without {_first(self.successive)}" if self.successive else "taken as a whole"
            return f"{columns}; {whole}, the tables do not differ clearly (p = {chance})."
        if not self.reject():
            return f"No difference was found {'in' if any(self.only) else 'between'} {tables} (p = {chance})."
        alone = "No column is clear by itself: small changes may add up, or the dependence of columns changed."
        if changed:
            alone = f"{columns}."
        elif tested == 1:
            alone = "Its one column is not clear."
        elif any(has_code(text, "too-few-permutations") for text in self.columns.notes):
            alone = "Its columns cannot tell: there are too few permutations for so many tests (see the notes)."
        return f"{tables[0].upper()}{tables[1:]} differ (p = {chance}). {alone}"

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one per column, most significant first.

        column, type, pvalue, adjusted, reject; then the effect that stands out most: ``effect`` ("median", "position",
        "spread", "share", "missing"), its ``level`` (of a share), ``estimate``, ``low``, ``high``; ``change``, in
        words; and ``reason``, why a column was not tested, empty for the others.
        """
        unknown = {"effect": None, "level": None, "estimate": math.nan, "low": math.nan, "high": math.nan}
        rows = []
        for column in self.ordered:
            row = {"column": column.name, "type": column.kind}
            row |= {name: getattr(column, name) for name in ("pvalue", "adjusted", "reject")} | unknown
            for change in column.shown[:1]:
                row |= {name: value for name, value in column.to_dict(change).items() if name in unknown}
            rows.append(row | {"change": "; ".join(column.lines), "reason": column.untested})
        return rows

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every effect of every column (pandas), in the order of the table.

        column, effect, level; ``first`` and ``second``, the median, interquartile range or share in each table, of
        dates and durations as pandas has them, and median times of day as text (``to_dict`` has numbers of days, or
        hours); ``estimate``, ``low``, ``high``: the probability that a value of the second table is larger (AUC), the
        ratio of interquartile ranges, or the difference of shares.
        """
        import pandas as pd

        rows = [
            column.to_dict(change)
            | {name: column.as_pandas(change.what, getattr(change, name)) for name in ("first", "second")}
            for column in self.effects
            for change in column.changes
        ]
        names = ["column", "effect", "level", "first", "second", "estimate", "low", "high"]
        return pd.DataFrame(rows, columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the answer, overall test, ``effect``; ``columns``, ``effects`` (a row each).

        ``changed`` are the columns that changed, ``only`` those that one table has alone.
        """
        names = ("answer", "names", "pvalue", "alpha", "confidence", "only", "successive", "effect", "notes")
        overall = self.overall.to_dict()
        del overall["null_distribution"]
        return {
            "result": type(self).__name__,
            **{name: plain(getattr(self, name)) for name in names},
            "versions": self.versions,
            "reject": self.reject(),
            "changed": list(self.changed()),
            "n_observations": list(self.overall.n_observations),
            "method": self.columns.method,
            "columns": self.rows(),
            "effects": [column.to_dict(change) for column in self.effects for change in column.changes],
            "overall": overall,
        }

    def summary(self) -> Summary:
        """Return the answer, the columns most significant first, and notes."""
        rows = []
        for column in self.ordered:
            pvalues = (number(pvalue, ".3g") for pvalue in (column.pvalue, column.adjusted))
            line, *more = column.lines
            rows.append([column.name, column.kind, *pvalues, "yes" if column.reject else "", line])
            rows += [["", "", "", "", "", line] for line in more]
        change = f"change, with {percent(self.confidence)} interval"
        headers = ["column", "type", "p-value", "adjusted", "changed", change]
        table = TextTable(rows, "llrrll", headers=headers, gap="  ", below="-")
        head = [f"Comparison of {' and '.join(self.sized())}", fill(self.answer, WIDTH)]
        return Summary.of(table, head=head, notes=self.notes)

    def sized(self) -> list[str]:
        """Return the names of both tables with their numbers of rows."""
        both = zip(self.names, self.overall.n_observations, strict=True)
        return [f"{name} ({counted(size, 'row')})" for name, size in both]

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the whole report as one page of HTML with its pictures, also written to ``path`` (matplotlib).

        The page needs no other file and no network.
        """
        from shrinktest.results.report import page

        file = None if path is None else output_path(path, "path")
        text = page(self)
        if file is not None:
            file.write_text(text, encoding="utf-8")
        return text

    def plot(self, columns: Any = None, *, figure: Figure | None = None) -> np.ndarray:
        """Draw distributions in both tables of the columns that changed (matplotlib).

        Parameters
        ----------
        columns : str or sequence of str, optional
            Which columns; default those that changed, or all (up to twelve) if none has.
        figure : Figure, optional
            Where to draw.

        Returns
        -------
        ndarray of Axes
        """
        from shrinktest.plots.comparison import plot_comparison

        return plot_comparison(self, columns, figure)


def _first(names: tuple[str, ...]) -> str:
    """Return the first few of many names."""
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
