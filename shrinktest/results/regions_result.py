"""RegionsResult: in which regions one of two samples is over-represented."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from textwrap import fill
from typing import Any

import numpy as np

from shrinktest._check import counted, level, percent
from shrinktest._warn import tiny_is_zero
from shrinktest.data.column import Column
from shrinktest.results.base import Result
from shrinktest.results.info import TWO_SAMPLE
from shrinktest.results.paragraph import draws_in_words, paragraph, seed_in_words
from shrinktest.results.plots.regions import plot_regions
from shrinktest.results.printing import WIDTH, Summary, Table, shown_pvalue, without_zero
from shrinktest.results.references import cited

_DAY = 86400e6  # microseconds


@dataclass(frozen=True)
class Condition:
    """Values of one column: between two numbers, in a set of levels, or missing ones."""

    column: str
    kind: str  # of the column
    low: float = -math.inf  # values are above this; ordered categories by their position
    high: float = math.inf  # and up to this
    levels: tuple[str, ...] = ()  # of categories, or all of an ordered column
    within: bool = True  # False for all categories but these
    missing: bool = False

    @property
    def words(self) -> str:
        """The condition in words."""
        if self.missing:
            return f"{self.column} is missing"
        if self.kind in ("boolean", "category"):
            if len(self.levels) == 1:
                return f"{self.column} {'=' if self.within else '≠'} {self.levels[0]}"
            return f"{self.column} {'in' if self.within else 'not in'} {{{', '.join(self.levels)}}}"
        if self.high == math.inf:
            return f"{self.column} > {self._value(self.low)}"
        if self.low == -math.inf:
            return f"{self.column} ≤ {self._value(self.high)}"
        return f"{self._value(self.low)} < {self.column} ≤ {self._value(self.high)}"

    def _value(self, edge: float) -> str:
        if self.kind == "ordered":
            return self.levels[round(edge)]
        if self.kind == "date":
            form = "D" if edge == math.floor(edge) else "s"
            moment = np.datetime64(round(edge * _DAY), "us")
            return str(moment.astype(f"datetime64[{form}]")).replace("T", " ")
        if self.kind == "time":
            minutes = round(edge * 60.0)
            return f"{minutes // 60:02d}:{minutes % 60:02d}"
        shown = f"{edge:.0f}" if edge == round(edge) and abs(edge) < 1e12 else f"{edge:.12g}"
        return f"{shown} days" if self.kind == "duration" else shown

    def holds(self, column: Column) -> np.ndarray:
        """Return in which rows of a column the condition holds, shape (n,)."""
        missing = column.missing()
        if self.missing:
            return missing
        if self.kind in ("boolean", "category"):
            codes = [column.levels.index(name) for name in self.levels if name in column.levels]
            return ~missing & (np.isin(column.values, codes) == self.within)
        values = column.numbers()
        return np.asarray(~missing & (values > self.low) & (values <= self.high))


@dataclass(frozen=True)
class Region:
    """A region in which one of two samples is over-represented.

    Attributes
    ----------
    conditions : tuple of Condition
        Its sides, one for each of one to three columns; ``words`` joins them.
    over : str
        Name of the sample that has the larger proportion of its rows there.
    first, second : float
        Proportion of the rows of each sample that lie in the region.
    low, high : float
        Limits of an interval for ``difference``, the second proportion minus the first; NaN if
        there is none.
    pvalue, adjusted : float
        p-value of this region alone, and adjusted for all boxes that were compared.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.uniform(size=(300, 2)), rng.uniform(size=(300, 2)) ** [0.6, 1.0]
    >>> region = two_sample_test(X, Y, rng=0).regions().regions[0]
    >>> region.words, region.over, region.adjusted
    ('column 0 ≤ 0.211', 'X', 0.002)
    """

    conditions: tuple[Condition, ...]
    over: str
    first: float
    second: float
    low: float
    high: float
    pvalue: float
    adjusted: float

    @property
    def words(self) -> str:
        """The region in words."""
        return " and ".join(condition.words for condition in self.conditions)

    @property
    def difference(self) -> float:
        """The second proportion minus the first."""
        return self.second - self.first

    @property
    def change(self) -> str:
        """The difference in proportions in percentage points, with its interval."""
        shown, *limits = (
            f"{100.0 * value:+.1f}" for value in (self.difference, self.low, self.high)
        )
        interval = "no interval" if math.isnan(self.low) else f"[{', '.join(limits)}]"
        return f"{shown} points {interval}"


@dataclass(frozen=True, eq=False, repr=False)
class RegionsResult(Result):
    """Regions in which one of two samples is over-represented.

    The method ``result.regions()`` of a two-sample test finds them.

    Attributes
    ----------
    regions : tuple of Region
        Regions with a clear difference, clearest first; of boxes that overlap, the clearest.
    names : tuple of str
        Names of the two samples.
    n_boxes, n_clear : int
        Number of boxes that were compared, and of those whose adjusted p-value is at most
        ``alpha``.
    smallest : float
        Smallest adjusted p-value of all boxes.
    alpha, confidence : float
        Significance level of the adjusted p-values, and confidence level of each interval, which is
        not adjusted for their number.
    n_resamples, exact, restriction, rng
        Number of permutations, whether they were enumerated, which units were permuted, and random
        numbers, as in the test.
    drawn : tuple of tuple of Column
        Rows of each sample, in the columns that a picture shows.
    notes : tuple of str
        Limitations of the result.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> before, after = (
    ...     pd.DataFrame(
    ...         {"spend": rng.exponential(20, 400), "country": rng.choice(["DE", "FR"], 400)}
    ...     )
    ...     for _ in range(2)
    ... )
    >>> after.loc[after["country"] == "DE", "spend"] *= 3.0
    >>> result = two_sample_test(before, after, names=("before", "after"), rng=0).regions()
    >>> [region.words for region in result.regions]
    ['spend > 59', 'spend ≤ 8.3 and country = DE']
    >>> result.regions[0].change
    '+13.5 points [+9.0, +18.1]'
    """

    regions: tuple[Region, ...]
    names: tuple[str, str]
    n_boxes: int
    n_clear: int
    smallest: float
    alpha: float
    confidence: float
    n_resamples: int
    exact: bool
    drawn: tuple[tuple[Column, ...], tuple[Column, ...]]
    notes: tuple[str, ...] = ()
    restriction: str = ""
    rng: Mapping[str, Any] = field(default_factory=dict)

    computed = ("answer",)
    plot = plot_regions

    def __repr__(self) -> str:
        return f"RegionsResult({counted(len(self.regions), 'region')} of {self.n_boxes} boxes)"

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def lines(self) -> tuple[str, ...]:
        """A sentence for each region."""
        first, second = self.names
        sentences = []
        for region in self.regions:
            shares = f"{_percent(region.first)} of {first}, {_percent(region.second)} of {second}"
            chance = f"adjusted p = {shown_pvalue(region.adjusted)}"
            sentences.append(f"{region.words}: {shares} ({chance}).")
        return tuple(sentences)

    @property
    def answer(self) -> str:
        """The result in sentences, one for each region."""
        if not self.n_boxes:
            return "There are too few rows, or too few distinct rows, for any box."
        if not self.regions:
            first, second = self.names
            return (
                f"No difference between {first} and {second} was shown in any of {self.n_boxes} "
                f"boxes (smallest adjusted p = {shown_pvalue(self.smallest)})."
            )
        return "\n".join(self.lines)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``, one for each region.

        The columns are region (in words), over, first, second, difference, low, high, pvalue and
        adjusted.
        """
        names = ("over", "first", "second", "difference", "low", "high", "pvalue", "adjusted")
        return [
            {"region": region.words, **{name: getattr(region, name) for name in names}}
            for region in self.regions
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values; ``regions`` are the rows of ``table``."""
        names = ("names", "n_boxes", "n_clear", "smallest", "alpha", "confidence")
        drawn = ("n_resamples", "exact", "restriction", "rng")
        values = self._plain("answer", *names, *drawn, "notes")
        return values | {"regions": self.rows()}

    def paragraph(self) -> str:
        """Return three sentences for an article: method, regions, and software."""
        first, second = self.names
        moved = TWO_SAMPLE.moved
        return paragraph(
            f"The proportions of {first} and {second} in {self.n_boxes} boxes of columns were "
            "compared",
            "permutation tests",
            [
                draws_in_words(self.n_resamples, moved, self.restriction, exact=self.exact),
                f"p-values adjusted by the step-down procedure of Westfall and Young"
                f"{cited(self._sources())}",
            ],
            [self._finding()],
            self.versions,
            seed_in_words(self.rng),
        )

    def _finding(self) -> str:
        """Return the regions in a clause."""
        clear = f"significant at level {without_zero(f'{self.alpha:g}')}"
        if not self.n_boxes:
            return "there were too few rows for any box"
        if not self.regions:
            return (
                f"no difference was {clear} (smallest adjusted p = {shown_pvalue(self.smallest)})"
            )
        regions = [
            f"{region.words} ({_percent(region.first)} and {_percent(region.second)}; difference "
            f"{region.change}; adjusted p = {shown_pvalue(region.adjusted)})"
            for region in self.regions
        ]
        boxes = "1 box was" if self.n_clear == 1 else f"{self.n_clear} boxes were"
        return f"{boxes} {clear}, including {'; '.join(regions)}"

    def _sources(self) -> tuple[str, ...]:
        """Return keys of the papers."""
        return ("WY93",)

    def summary(self) -> Summary:
        """Return the settings, and a row for each region, clearest first."""
        first, second = self.names
        cells = [
            [
                region.words,
                _percent(region.first),
                _percent(region.second),
                region.change,
                shown_pvalue(region.adjusted),
            ]
            for region in self.regions
        ]
        interval = f"difference, with {percent(self.confidence)} interval"
        headers = ["region", first, second, interval, "adjusted p"]
        compared = (
            f"Regions where {first} and {second} differ: {self.n_clear} of {self.n_boxes} boxes "
            f"are clear at level {self.alpha:g}"
        )
        head = [fill(compared, WIDTH)]
        if not cells:
            cells = [["none", "", "", "", shown_pvalue(self.smallest)]]
        return Summary.of(
            Table(cells, "lrrlr", headers=headers, gap="  "), head=head, notes=self.notes
        )


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f}%" if share >= 0.095 or share == 0.0 else f"{100.0 * share:.1f}%"


@tiny_is_zero
def regions_of(
    result: Any, *, alpha: float | None = None, confidence: float = 0.95
) -> RegionsResult:
    """Find regions in which one of the two samples is over-represented.

    Parameters
    ----------
    alpha : float, optional
        Largest adjusted p-value of a region that is named; by default the level of the test.
    confidence : float, default 0.95
        Confidence level of the interval for the difference in the two proportions of a region,
        which is not adjusted for the number of regions.

    Returns
    -------
    RegionsResult
        ``print(result.regions().summary())``, ``result.regions().table``, ``.plot()``.

    Raises
    ------
    ValueError
        If the result does not hold its data, or the columns were replaced by residuals, row numbers
        or bins.

    Notes
    -----
    Boxes in one to three columns are fixed without the labels: their edges are quantiles of the
    pooled rows, and categories are used one by one or in sets.  The proportion of the first sample
    in a box is compared, in units of its standard deviation, over the permutations of the test,
    with its blocks, groups or pairs.  The p-value of a box is exact if its proportion is equal in
    both samples.  The step-down procedure of Westfall and Young [WY93] adjusts for the number of
    boxes; simulations show that it controls the error rate if some boxes differ and others do not
    (:doc:`/compare`).

    The clearest box is named first, and others only if they are as clear without the rows of those
    before, and at least half of their rows are in none of these.  Because the regions are chosen by
    the data, their adjusted p-values allow for that, but their proportions and intervals do not,
    and are on average too far apart.

    References
    ----------
    .. [WY93] Westfall and Young, "Resampling-based multiple testing: examples and methods for
       p-value adjustment", Wiley, 1993.
    """
    alpha = result.alpha if alpha is None else level(alpha)
    confidence = level(confidence, "confidence")
    if result.kind.name != TWO_SAMPLE.name:
        raise AttributeError(f"regions compare two samples; {result.kind.described} has none")
    if result.method:
        raise ValueError(
            "regions: with covariates= the test compares residuals; test without covariates="
        )
    first, second = result.names or (None, None)
    names = (first or "X", second or "Y")
    regions: RegionsResult = result.require_data().regions(names, alpha, confidence)
    return replace(regions, restriction=result.restriction, rng=result.rng)
