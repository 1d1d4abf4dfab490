"""SegmentsResult: reports on two tables by the value of a column, with adjusted p-values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import choice, counted, level, output_path, percent
from shrinktest.results.adjustments import ADJUSTMENTS
from shrinktest.results.base import Result
from shrinktest.results.comparison import ComparisonResult
from shrinktest.results.effect import shown_shares
from shrinktest.results.paragraph import paragraph, seed_in_words
from shrinktest.results.plots.comparison import plot_segments
from shrinktest.results.printing import WIDTH, Summary, Table, number, shown_pvalue

if TYPE_CHECKING:
    import pandas as pd

_CHANGED = 4  # columns that a row of the summary names


@dataclass(frozen=True, eq=False, repr=False)
class SegmentsResult(Result):
    """Comparisons of two tables, one for each value of a column.

    Attributes
    ----------
    by : str
        The column whose values are the segments.
    names : tuple of str
        What the tables are called.
    reports : mapping of str to ComparisonResult
        The report of every segment, whose p-values are adjusted for its own columns only.
    adjusted : mapping of str to float
        p-values of the overall tests, adjusted for the number of segments.
    adjusted_columns : mapping of tuple to float
        p-values of the columns, by (segment, column), adjusted for all columns of all segments.
    sizes : mapping of str to tuple of int
        Numbers of rows of both tables in every segment.
    untested : mapping of str to str
        Why segments were not compared.
    notes : tuple of str
        Rows without a segment, and a mismatch of sizes; each report has notes of its own.
    rng : mapping
        State of the generator from which the random numbers of all segments were drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest import compare
    >>> rng = np.random.default_rng(1)
    >>> def visits(shift):
    ...     country = np.repeat(["Norway", "Sweden"], 60)
    ...     return pd.DataFrame(
    ...         {
    ...             "country": country,
    ...             "minutes": rng.normal(5.0, 1.0, 120) + shift * (country == "Sweden"),
    ...         }
    ...     )
    >>> result = compare(visits(0.0), visits(1.0), by="country", estimator="kme", rng=0)
    >>> result.changed(), result["Norway"].reject()
    ((('Sweden', 'minutes'),), False)
    >>> result.table[["country", "A", "B", "adjusted", "reject"]]
      country   A   B  adjusted  reject
    0  Sweden  60  60     0.001    True
    1  Norway  60  60     0.546   False
    """

    by: str
    names: tuple[str, str]
    reports: Mapping[str, ComparisonResult]
    adjusted: Mapping[str, float]
    adjusted_columns: Mapping[tuple[str, str], float]
    sizes: Mapping[str, tuple[int, int]]
    untested: Mapping[str, str]
    notes: tuple[str, ...] = ()
    rng: Mapping[str, Any] = field(default_factory=dict, compare=False)

    plot = plot_segments

    def __getitem__(self, segment: str) -> ComparisonResult:
        return self.reports[choice(str(segment), tuple(self.reports), f"a value of {self.by}")]

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        different = len(self.different())
        return f"SegmentsResult({len(self)} reports by {self.by!r}, {different} different)"

    @property
    def _first(self) -> ComparisonResult:
        return next(iter(self.reports.values()))

    @property
    def alpha(self) -> float:
        """Level at which the result decides."""
        return self._first.alpha  # type: ignore[no-any-return]

    @property
    def method(self) -> str:
        """Method of adjusting p-values."""
        return self._first.columns.method

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis that the tables do not differ in any segment."""
        return min(self.adjusted.values())

    @property
    def only(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Segments that only the first table has, and those that only the second has."""
        first = tuple(name for name, (_, n) in self.sizes.items() if not n)
        return first, tuple(name for name, (m, _) in self.sizes.items() if not m)

    def reject(self, alpha: float | None = None) -> np.ndarray:
        """Return in which segments the tables differ, one bool for each report."""
        at = self.alpha if alpha is None else level(alpha)
        return np.array([p <= at for p in self.adjusted.values()])

    def different(self, alpha: float | None = None) -> tuple[str, ...]:
        """Return the segments in which the tables differ."""
        both = zip(self.reports, self.reject(alpha).tolist(), strict=True)
        return tuple(segment for segment, rejected in both if rejected)

    def changed(self, alpha: float | None = None) -> tuple[tuple[str, str], ...]:
        """Return the columns that changed, as (segment, column), after adjustment."""
        at = self.alpha if alpha is None else level(alpha)
        return tuple(label for label, p in self.adjusted_columns.items() if p <= at)

    def with_order(self, sort: str = "pvalue", top: int | None = None) -> SegmentsResult:
        """Return the same result with its rows in another order, or only the first ones.

        Parameters
        ----------
        sort : {"pvalue", "effect", "column"}, default "pvalue"
            Most significant segments first, those with the largest AUC first, or by value.
        top : int, optional
            The number of segments, and of columns in each report, to show; default all.
        """
        reports = {name: own.with_order(sort, top) for name, own in self.reports.items()}
        return replace(self, reports=reports)

    @property
    def listed(self) -> tuple[str, ...]:
        """Segments in the order of the tables; those not compared come last."""
        names = list(self.reports)
        sort = self._first.sort
        if sort == "pvalue":
            names.sort(key=lambda name: (self.adjusted[name], self.reports[name].pvalue))
        if sort == "effect":
            names.sort(key=lambda name: -self._area(name)[0])
        return tuple([*names, *self.untested][: self._first.top])

    def _area(self, segment: str) -> tuple[float, float, float]:
        """Return the AUC of a segment with its interval; NaN if it is not known."""
        effect = self.reports[segment].effect
        if effect is None:
            return math.nan, math.nan, math.nan
        return (effect.auc, *effect.auc_interval)

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one for each segment.

        The value of the column, rows of both tables, pvalue, adjusted, reject; auc, low, high of
        the tables as a whole; changed, the columns that changed; and reason, why a segment was not
        compared.
        """
        changed = self.changed()
        rows = []
        for segment in self.listed:
            row: dict[str, Any] = {self.by: segment}
            row |= dict(zip(self.names, self.sizes[segment], strict=True))
            area = (math.nan,) * 3
            pvalue = adjusted = math.nan
            if segment in self.reports:
                area = self._area(segment)
                pvalue = self.reports[segment].pvalue
                adjusted = self.adjusted[segment]
            row |= {"pvalue": pvalue, "adjusted": adjusted, "reject": adjusted <= self.alpha}
            row |= dict(zip(("auc", "low", "high"), area, strict=True))
            row["changed"] = ", ".join(column for own, column in changed if own == segment)
            rows.append(row | {"reason": self.untested.get(segment, "")})
        return rows

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every column of every segment (pandas).

        The columns are those of ``table`` of a report, after the segment; ``adjusted`` and
        ``reject`` are for all columns of all segments.
        """
        import pandas as pd

        rows = []
        for segment in self.listed:
            report = self.reports.get(segment)
            for row in report.rows() if report else ():
                adjusted = self.adjusted_columns.get((segment, row["column"]), math.nan)
                own = {"adjusted": adjusted, "reject": adjusted <= self.alpha}
                rows.append({self.by: segment} | row | own)
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: a row for every segment, and the reports."""
        names = ("by", "names", "pvalue", "alpha", "method", "only", "untested", "notes")
        return self._plain(*names, "different") | {
            "segments": self.rows(),
            "columns": self.to_frame().to_dict("records"),
            "reports": {segment: own.to_dict() for segment, own in self.reports.items()},
        }

    @property
    def answer(self) -> str:
        """Result in a few sentences: in which segments the tables differ."""
        both = " and ".join(self.names)
        lost = [
            f"Only {name} has {self.by} = {', '.join(alone)}."
            for name, alone in zip(self.names, self.only, strict=True)
            if alone
        ]
        if math.isnan(self.pvalue):
            decision = "No p-values were computed, because there are no permutations."
        else:
            different = self.different()
            count = f"{len(different)} of {counted(len(self), 'segment')}"
            named = f": {', '.join(different)}" if different else ""
            smallest = f"smallest adjusted p = {shown_pvalue(self.pvalue)}"
            decision = f"{both} differ in {count} ({smallest}){named}."
        return " ".join([*lost, decision])

    def paragraph(self) -> str:
        """Return two to four sentences for an article: tests, segments and software."""
        first = self._first.overall
        overall = replace(first, data=replace(first.data, names=self.names))
        details = [
            re.sub(
                r"with bandwidth [\d.e+-]+, the median distance",
                "with the median distance in each segment as bandwidth",
                detail,
            )
            for detail in overall._details()
        ]
        how = ADJUSTMENTS[self.method].cited
        different = self.different()
        count = f"{len(different) or 'none'} of {counted(len(self), 'segment')}"
        named = f" (smallest adjusted p = {shown_pvalue(self.pvalue)})"
        if different:
            named = f": {self._in_words(different)}"
        finding = f"with p-values adjusted by {how}, {count} differed{named}"
        if math.isnan(self.pvalue):
            finding = "no p-value was computed"
        return paragraph(
            f"The distributions of {' and '.join(self.names)} were compared within the values of "
            f"{self.by}",
            overall._by(),
            details,
            [finding],
            self.versions,
            seed_in_words(self.rng),
        )

    def _in_words(self, segments: Sequence[str]) -> str:
        """Return segments with their sizes, statistics and p-values."""
        texts = []
        for segment in segments:
            sizes = " + ".join(map(str, self.sizes[segment]))
            statistic = number(self.reports[segment].overall.statistic)
            adjusted = shown_pvalue(self.adjusted[segment])
            name = self.reports[segment].overall._statistic_name()
            texts.append(f"{segment} (n = {sizes}; {name} = {statistic}, adjusted p = {adjusted})")
        return ", ".join(texts)

    def _sources(self) -> Iterator[str]:
        for report in self.reports.values():
            yield from report._sources()

    def summary(self) -> Summary:
        """Return the answer, the segments in the order of ``sort``, and notes."""
        cells = []
        for row in self.rows():
            area = "-"
            if not math.isnan(row["auc"]):
                area, *limits = shown_shares(
                    row["auc"], (row["low"], row["high"]), spare=0, least=2
                )
                area += "" if math.isnan(row["low"]) else f" [{', '.join(limits)}]"
            changed = row["changed"].split(", ")
            more = ", ..." if len(changed) > _CHANGED else ""
            last = f"not compared: {row['reason']}" if row["reason"] else ""
            cells.append(
                [
                    row[self.by],
                    *(str(row[name]) for name in self.names),
                    number(row["pvalue"], ".3g"),
                    number(row["adjusted"], ".3g"),
                    "yes" if row["reject"] else "",
                    area,
                    last or ", ".join(changed[:_CHANGED]) + more,
                ]
            )
        auc = f"AUC, with {percent(self._first.confidence)} interval"
        headers = [
            self.by,
            *self.names,
            "p-value",
            "adjusted",
            "differ",
            auc,
            "columns that changed",
        ]
        table = Table(cells, "lrrrrlll", headers=headers, gap="  ", below="-")
        how = (
            f"p-values are adjusted for {counted(len(self), 'segment')}, those of columns for "
            f"{counted(len(self.adjusted_columns), 'test')} ({self.method})."
        )
        head = [f"Comparison of {' and '.join(self.names)} by {self.by}", fill(self.answer, WIDTH)]
        hidden = len(self.reports) + len(self.untested) - len(cells)
        rest = f"... and {counted(hidden, 'more segment')}" if hidden else ""
        return Summary.of(table, head=head, rest=rest, lines=[how], notes=self.notes)

    def to_html(self, path: str | Path) -> tuple[Path, ...]:
        """Write the report of every segment as a page, and return their paths.

        "report.html" becomes "report-1-Norway.html", with the numbers and values of the segments.
        """
        file = output_path(path, "path")
        paths = []
        for place, (segment, report) in enumerate(self.reports.items(), 1):
            word = re.sub(r"[^\w.]+", "_", segment)
            own = file.with_name(f"{file.stem}-{place}-{word}{file.suffix}")
            report.to_html(own)
            paths.append(own)
        return tuple(paths)
