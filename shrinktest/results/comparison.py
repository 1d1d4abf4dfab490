"""ComparisonResult: what changed between two tables, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, counted, output_path, percent
from shrinktest.notes import has_code
from shrinktest.results.base import TABLE, Result, plain
from shrinktest.results.column_effects import ColumnEffects, shown_pvalue
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.multiple import MultipleTestsResult
from shrinktest.results.printing import WIDTH, Summary
from shrinktest.results.printing import Table as TextTable
from shrinktest.results.result import TestResult
from shrinktest.tables.distribution import Distribution
from shrinktest.tables.reading import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_NAMED = 8  # columns that a sentence names


@dataclass(frozen=True, eq=False)
class WitnessMap:
    """The witness function of two columns of numbers, on a grid.

    Parameters
    ----------
    columns, kinds : tuple of str
        Names and kinds of the columns.
    lines : tuple of ndarray
        The grid, along each column; dates in days since 1970, durations in days, times of day in hours.
    heights : ndarray, shape (grid, grid)
        Mean of the second table less mean of the first: above zero where the second has more.
    outside : ndarray of bool, shape (grid, grid), or None
        Where it leaves the simultaneous permutation band, which exists for independent rows only.
    points : tuple of ndarray, shape (n, 2)
        Rows of each table, to be drawn.
    confidence : float
        Confidence of the band.
    sampled : bool
        Whether it is that of some of the rows, chosen at random.
    """

    columns: tuple[str, str]
    kinds: tuple[str, str]
    lines: tuple[np.ndarray, np.ndarray]
    heights: np.ndarray
    outside: np.ndarray | None
    points: tuple[np.ndarray, np.ndarray]
    confidence: float
    sampled: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Result):
    """What changed between two tables: one overall test, a test of every column, and effects with intervals.

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
        Columns that only one of the tables has: those of the first (lost), and those of the second (added).
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

    def __repr__(self) -> str:
        return (
            f"ComparisonResult({' and '.join(self.names)}, pvalue={self.pvalue:.6g}, {len(self.changed())} of "
            f"{counted(len(self.columns), 'column')} changed)"
        )

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis that the rows of both tables come from one distribution: that of ``overall``."""
        return self.overall.pvalue

    @property
    def alpha(self) -> float:
        """The level at which the result decides."""
        return self.overall.alpha

    def reject(self, alpha: float | None = None) -> bool:
        """Whether the tables differ, by the overall test, at ``alpha`` (default: the result's)."""
        return self.overall.reject(alpha)

    def changed(self, alpha: float | None = None) -> tuple[str, ...]:
        """The columns whose tests reject, adjusted for their number, clearest first."""
        rejected = dict(zip(self._tested, self.columns.reject(alpha).tolist(), strict=True))
        return tuple(one.name for one in self.ordered if rejected.get(one.name))

    @property
    def ordered(self) -> tuple[ColumnEffects, ...]:
        """The effects of every column, most significant first; those that were not tested at the end."""

        def place(one: ColumnEffects) -> tuple[float, ...]:
            pvalue, adjusted = self.pvalues_of(one.name)
            strength = one.leading.strength if one.leading is not None else 0.0
            return (math.isnan(adjusted), adjusted, pvalue, -strength) if not one.constant else (2.0,)

        return tuple(sorted(self.effects, key=place))

    def pvalues_of(self, name: str) -> tuple[float, float]:
        """The p-value of a column and the adjusted one; NaN for a column that was not tested."""
        known = [*(one.name for one in self.effects), *(label for (label,) in self.columns.untested)]
        if choice(name, dict.fromkeys(known), "a column") not in self._tested:
            return math.nan, math.nan
        i = self._tested.index(name)
        return float(self.columns.pvalues[i]), float(self.columns.adjusted[i])

    @property
    def _tested(self) -> tuple[str, ...]:
        return tuple(label for (label,) in self.columns.labels)

    @property
    def all_columns(self) -> tuple[ColumnEffects, ...]:
        """``ordered``, and behind them the columns that are left out."""
        described = [one.name for one in self.effects]
        reasons = {label: reason for (label,), reason in self.columns.untested.items() if label not in described}
        return (*self.ordered, *(ColumnEffects(name, "", (), reason) for name, reason in reasons.items()))

    def distribution(self, name: str) -> Distribution:
        """The shares of the values of a column in both tables, in bins or by category."""
        j = [one.name for one in self.effects].index(choice(name, [one.name for one in self.effects], "a column"))
        first, second = (table.columns[j] for table in self.tables)
        return Distribution.of(first, second)

    @property
    def answer(self) -> str:
        """The result in a few sentences: whether the tables differ, in which columns, and by how much as a whole."""
        return " ".join([self.verdict, *self.size])

    @property
    def size(self) -> tuple[str, ...]:
        """How different the tables are as a whole, in a sentence; empty if that was not estimated."""
        return () if self.effect is None or math.isnan(self.effect.auc) else (self.effect.lines()[0],)

    @property
    def verdict(self) -> str:
        """Columns that only one table has, and the result of the tests, in a few sentences."""
        return " ".join([*self._lost_and_added, self._decision])

    @property
    def _lost_and_added(self) -> list[str]:
        return [
            f"Only {name} has the {'columns' if len(alone) > 1 else 'column'} {_first(alone)}."
            for name, alone in zip(self.names, self.only, strict=True)
            if alone
        ]

    @property
    def _decision(self) -> str:
        changed, tested = self.changed(), len(self.columns)
        columns = f"{len(changed)} of {counted(tested, 'column')} changed: {_first(changed)}."
        tables = "the columns that both have" if any(self.only) else "these tables"
        if math.isnan(self.pvalue):
            return "No p-value was computed, because there are no permutations (n_resamples=0)."
        if self.reject():
            first = f"{tables[0].upper()}{tables[1:]} differ (p = {shown_pvalue(self.pvalue)})."
            alone = "No column is clear by itself: small changes may add up, or the dependence of columns changed."
            if any(has_code(note, "too-few-permutations") for note in self.columns.notes):
                alone = "Its columns cannot tell: there are too few permutations for so many tests (see the notes)."
            return f"{first} {columns if changed else alone if tested > 1 else 'Its one column is not clear.'}"
        if changed:
            whole = f"without {_first(self.successive)}" if self.successive else "taken as a whole"
            as_one = f"{whole}, the tables do not differ clearly (p = {shown_pvalue(self.pvalue)})."
            return f"{columns[:-1]}; {as_one}"
        where = f"{'in' if any(self.only) else 'between'} {tables}"
        return f"No difference was found {where} (p = {shown_pvalue(self.pvalue)})."

    def rows(self) -> list[dict[str, Any]]:
        """Rows of ``table``, one a column, most significant first.

        column, type, pvalue, adjusted, reject; then the effect that stands out most: ``effect`` ("median", "position",
        "spread", "share", "missing"), its ``level`` (of a share), ``estimate``, ``low``, ``high``; ``change``, in
        words; and ``reason``, why a column was not tested, empty for the others.
        """
        changed, rows = self.changed(), []
        for one in self.all_columns:
            pvalue, adjusted = self.pvalues_of(one.name)
            rejected = one.name in changed
            shown = one.shown(changed=rejected)
            first = one.to_dict(shown[0]) if shown else {}
            tested = {"column": one.name, "type": one.kind, "pvalue": pvalue, "adjusted": adjusted, "reject": rejected}
            effect = {key: first.get(key) for key in ("effect", "level")}
            effect |= {key: first.get(key, math.nan) for key in ("estimate", "low", "high")}
            words = "; ".join(one.lines(changed=rejected))
            rows.append(tested | effect | {"change": words, "reason": one.untested})
        return rows

    def to_frame(self) -> pd.DataFrame:
        """One row for every effect of every column (pandas), in the order of the table.

        column, effect, level; ``first`` and ``second``, the median, interquartile range or share in each table, of
        dates and durations as pandas has them, and median times of day as text (``to_dict`` has numbers of days, or
        hours); ``estimate``, ``low``, ``high``: the probability that a value of the second table is larger (AUC), the
        ratio of interquartile ranges, or the difference of shares.
        """
        import pandas as pd

        names = ("column", "effect", "level", "first", "second", "estimate", "low", "high")
        rows = [one.row(change) for one in self.effects for change in one.changes]
        return pd.DataFrame(rows, columns=list(names))

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
            "effects": [one.to_dict(change) for one in self.effects for change in one.changes],
            "overall": overall,
        }

    def summary(self) -> Summary:
        """The answer, the columns most significant first, and notes."""
        changed, rows = self.changed(), []
        for one in self.all_columns:
            pvalues = ["-" if math.isnan(p) else f"{p:.3g}" for p in self.pvalues_of(one.name)]
            line, *more = one.lines(changed=one.name in changed)
            rows.append([one.name, one.kind, *pvalues, "yes" if one.name in changed else "", line])
            rows += [["", "", "", "", "", line] for line in more]
        change = f"change, with {percent(self.confidence)} interval"
        headers = ["column", "type", "p-value", "adjusted", "changed", change]
        head = [f"Comparison of {self.sized(' and ')}", fill(self.answer, WIDTH)]
        table = TextTable(rows, "llrrll", headers=headers, gap="  ", below="-")
        return Summary.of(table, head=head, notes=self.notes)

    def sized(self, joint: str) -> str:
        """The names of both tables with their numbers of rows."""
        both = zip(self.names, self.overall.n_observations, strict=True)
        return joint.join(f"{name} ({counted(size, 'row')})" for name, size in both)

    @property
    def how(self) -> dict[str, str]:
        """How it was computed: labels and what stands beside them."""
        one, count = self.overall, self.columns.n_resamples
        entropy = self.columns.rng.get("entropy")
        return {
            "Rows": " + ".join(map(str, one.n_observations)),
            "Overall test": f"{one.kind.title}: {getattr(one.estimator, 'label', repr(one.estimator))}",
            "Permutations": f"{count} ({'all' if self.columns.exact else 'random'})"
            + (f", {self.columns.restriction}" if self.columns.restriction else "")
            + ", the same for all columns",
            "Columns": f"{counted(len(self.columns), 'test')}, adjusted by {self.columns.method}",
            "Level": f"{self.alpha:g}",
            "Intervals": f"{percent(self.confidence)} each, not adjusted for their number; medians compared by "
            "the AUC of the values, interquartile ranges of the mid-distribution (Ma et al. 2011), shares after "
            "Newcombe (1998)",
            "Which is which": "area under the ROC curve of the overall test's witness function, with every part of the "
            "rows scored by the function of the others; interval after DeLong (1988) and Hanley and McNeil (1982)",
            "Seed": "-" if entropy is None else str(entropy),
            "Versions": ", ".join(f"{package} {version}" for package, version in one.versions.items()),
        }

    def to_html(self, path: str | Path | None = None) -> str:
        """The whole report as one page of HTML, with its pictures; written to ``path`` if one is given (matplotlib).

        The page is complete in itself: it needs no other file and no network.
        """
        from shrinktest.results.report import page

        where = None if path is None else output_path(path, "path")
        text = page(self)
        if where is not None:
            where.write_text(text, encoding="utf-8")
        return text

    def plot(self, columns: Any = None, *, figure: Figure | None = None) -> np.ndarray:
        """Distributions in both tables of the columns that changed (matplotlib).

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
    """The first few of many names."""
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
