"""Results of tests for designs with several factors: a row for every term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shrinktest._check import choice, counted, level
from shrinktest._random import as_rng
from shrinktest.results.adjustments import ADJUSTMENTS
from shrinktest.results.aggregate_result import AggregateResult
from shrinktest.results.base import Notes, Result, part_of, unique
from shrinktest.results.multiple_tests_result import MultipleTestsResult
from shrinktest.results.pairwise_result import PairwiseResult
from shrinktest.results.paragraph import draws_in_words, estimated, paragraph, seed_in_words
from shrinktest.results.plots.cells import plot_cells
from shrinktest.results.plots.shares import plot_shares
from shrinktest.results.printing import Summary, Table, number, shown_pvalue, without_zero
from shrinktest.results.references import joined
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_SPREAD = "tests of spread have no further tests; use the result that they were made from"
_LONGEST = 60  # characters of a list of responses
_IN_WORDS = 3  # terms that matter, in sentences


@dataclass(frozen=True)
class Share:
    """Partial omega squared of a term, and R squared of the total."""

    omega2: float
    error: float  # standard error by the jackknife
    r2: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the limits of the interval with this confidence."""
        from scipy.special import ndtri

        z = float(ndtri((1.0 + confidence) / 2.0))
        return self.omega2 - z * self.error, self.omega2 + z * self.error


@dataclass(frozen=True)
class TestedTerm:
    """A term of a formula, what was permuted, and how much it explains."""

    __test__: ClassVar[bool] = False  # not a test class for pytest

    name: str
    df: int
    permuted: str
    validity: str  # "exact" or "approximate"
    share: Share


@part_of("term", "df", "permuted", "validity", "share")
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TermResult(TestResult):
    """Result of the test of one term, with the share that it explains.

    Attributes
    ----------
    term : TestedTerm
        ``name``, ``df``, ``permuted``, ``validity`` ("exact" or "approximate") and ``share``, with
        partial omega squared and its standard error.
    null, data, setup, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`, whose methods it has.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import factor_test
    >>> rng = np.random.default_rng(0)
    >>> table = {"arm": ["drug", "placebo"] * 15}
    >>> result = factor_test("arm", table, response=rng.normal(size=(30, 2)), rng=0)
    >>> arm = result["arm"]
    >>> arm.term.permuted, arm.term.validity
    ('rows', 'exact')
    """

    term: TestedTerm | None = None

    def _tested(self) -> str:
        name = self.term.name if self.term else "a term"
        size = " + ".join(map(str, self.n_observations))
        return self.kind.tested.format(names=name, size=size)

    def _statistic_name(self) -> str:
        name = super()._statistic_name()
        return "F" if name == "T" and self.form == "F" else name

    def _draws_in_words(self) -> str:
        permuted = self.term.permuted if self.term else "rows"
        drawn = draws_in_words(self.n_resamples, "permutations", permuted, exact=self.exact)
        approximate = self.term is not None and self.term.validity != "exact"
        return f"{drawn}, which is approximate" if approximate else drawn

    def _finding(self) -> str:
        text = super()._finding()
        if self.term is None:
            return text
        share = _interval_in_words(self.term.share, 0.95)
        return f"{text}; partial omega squared was {share}"

    def _sources(self) -> Iterator[str]:
        yield from super()._sources()
        if self.term is not None and "residualized" in self.term.permuted:
            yield "TT22"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateTermResult(TermResult, AggregateResult):
    """Result of the test of one term by several statistics: an :class:`AggregateResult`.

    Attributes
    ----------
    term
        As in a :class:`TermResult`; the share is that of the member that decided.
    members, adjusted, decided, null, data, setup, alpha, estimates, rng, notes, context
        As in an :class:`AggregateResult`.
    """


@dataclass(frozen=True, eq=False, repr=False)
class FactorResult(Result):
    """Result of :func:`factor_test`: a row for every term of a formula.

    Attributes
    ----------
    tests : tuple of TermResult
        The test of every term; ``result["treatment"]`` is one of them.
    formula : str
        Right side of the formula.
    response : str
        The response that was compared, in words.
    sizes : dict
        Numbers of rows, and of groups and blocks by their names.
    alpha : float
        Significance level at which adjusted p-values reject.
    confidence : float
        Confidence level of the intervals of shares.
    by_distance : bool
        True for linear kernels and distances, whose share of the total is in the table.
    notes : tuple of str
        Assumptions that may fail.
    trial : Trial, str or None
        The data for further tests or, in a pickle, the reason why they are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import factor_test
    >>> rng = np.random.default_rng(0)
    >>> table = {"arm": ["drug", "placebo"] * 30, "visit": ["first", "second", "third"] * 20}
    >>> table["visit"].sort()
    >>> response = rng.normal(size=(60, 2))
    >>> response[40::2] += 2.0  # the drug, at the third visit
    >>> result = factor_test("arm * visit", table, response=response, rng=0)
    >>> result.table["df"].tolist(), result["arm:visit"].pvalue
    ([1, 2, 2], 0.001)
    """

    tests: tuple[Any, ...]
    formula: str
    response: str
    sizes: dict[str, int]
    alpha: float
    confidence: float = 0.95
    by_distance: bool = False
    notes: Any = Notes()  # noqa: RUF009  # a descriptor: a tuple of texts
    trial: Any = field(default=None, compare=False)

    computed: ClassVar[tuple[str, ...]] = ("rows",)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}: p={test.pvalue:.6g}" for name, test in self._pairs())
        return f"FactorResult({values})"

    def _pairs(self) -> Iterator[tuple[str, Any]]:
        return ((test.term.name, test) for test in self.tests)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms."""
        return tuple(name for name, _ in self._pairs())

    def __getitem__(self, term: str) -> Any:
        return self.tests[self.terms.index(choice(term, self.terms, "term"))]

    @cached_property
    def pvalues(self) -> np.ndarray:
        """p-values of the terms."""
        return np.array([test.pvalue for test in self.tests])

    @cached_property
    def adjusted(self) -> np.ndarray:
        """p-values adjusted for the number of terms by Holm's method."""
        if np.isnan(self.pvalues).any():  # n_resamples=0
            return np.full(len(self.tests), np.nan)
        from statsmodels.stats.multitest import multipletests

        return np.asarray(multipletests(self.pvalues, method="holm")[1], dtype=np.float64)

    def reject(self, alpha: float | None = None) -> np.ndarray:
        """Return which terms have an adjusted p-value of at most ``alpha``."""
        limit = self.alpha if alpha is None else level(alpha)
        return np.asarray(self.adjusted <= limit)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``."""
        rows = []
        for (name, test), adjusted in zip(self._pairs(), self.adjusted.tolist(), strict=True):
            low, high = test.share.interval(self.confidence)
            row = {
                "term": name,
                "df": test.df,
                "statistic": test.statistic,
                "pvalue": test.pvalue,
                "adjusted": adjusted,
                "share": test.share.omega2,
                "low": low,
                "high": high,
                "permuted": test.permuted,
                "exact": test.validity == "exact",
            }
            if self.by_distance:
                row["r2"] = test.share.r2
            rows.append(row)
        return rows

    # --- further tests ----------------------------------------------------------------------------

    def columns(self, term: str, *, rng: Any = None) -> MultipleTestsResult:
        """Test one term for each column of the response, on shared permutations.

        p-values are adjusted for the number of columns by the step-down method of Westfall and
        Young.
        """
        return self._data().columns(  # type: ignore[no-any-return]
            choice(term, self.terms, "term"), rng
        )

    def pairwise(self, term: str, *, within: str | None = None, rng: Any = None) -> PairwiseResult:
        """Test every pair of levels of a factor on the rows that have them.

        ``within`` names another factor, at each level of which pairs are tested.  Terms with either
        factor are left out, whereas the others are adjusted for.  p-values are adjusted for the
        number of pairs by Holm's method, but ``with_method("shaffer")`` has more power.  The AUC of
        each pair shows how well single rows are told apart, with groups as units of its interval.
        """
        return self._data().pairwise(  # type: ignore[no-any-return]
            term, within, self.confidence, rng
        )

    def dispersion(self, *, rng: Any = None) -> FactorResult:
        """Test every term of the formula for an effect on the spread of the response.

        The spread is the distance of rows, or of means of groups, from the values that all terms
        explain: |e_i| / sqrt(1 - h_i) for residuals e_i in feature space and leverages h_i.  The
        test is approximate, because residuals are permuted, all terms are fitted again, and
        distances are measured anew.
        """
        return replace(
            self,
            tests=self._data().spread(as_rng(rng)),
            response=f"the spread of {self.response}",
            by_distance=False,
            trial=_OF_SPREAD,
        )

    def _data(self) -> Any:
        if self.trial is None or isinstance(self.trial, str):
            raise ValueError(self.trial or "this result does not hold its data; run the test again")
        return self.trial

    def plot(
        self, what: str = "shares", ax: Axes | None = None, *, along: str | None = None
    ) -> Axes:
        """Draw the share of every term with its interval, or the means of cells.

        Parameters
        ----------
        what : {"shares", "cells"}, default "shares"
            "shares" are the shares of the terms, whereas "cells" shows the kernel means of the
            cells of all factors by their first two principal coordinates; lines join the levels of
            one factor, and are about parallel without interactions.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; default new ones.
        along : str, optional
            For cells, the factor whose levels are joined; by default the one with the most levels.

        Returns
        -------
        Axes
            The axes with the picture (matplotlib).
        """
        choice(what, ("shares", "cells"), "what")
        if what == "cells":
            return plot_cells(self._data().cells(along), self.response, ax)
        if along is not None:
            raise ValueError("along= is for plot('cells'); leave it out")
        return plot_shares(self, ax)

    # --- in an article ----------------------------------------------------------------------------

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, every term, and software."""
        first = self.tests[0]
        statistic, means, *others = first._details()
        kernels = [text for text in others if text and text != first._draws_in_words()]
        drawn = dict.fromkeys(test._draws_in_words() for test in self.tests)
        details = [
            f"formula ~ {self.formula}",
            statistic,
            means,
            *kernels,
            joined([*drawn]),
            f"p-values adjusted by {ADJUSTMENTS['holm'].cited}",
        ]
        sizes = [f"{size} {name}" for name, size in self.sizes.items()]
        tested = f"effects of {joined(self.terms)} on {self.response} were tested on {sizes[0]}"
        tested += f" ({joined(sizes[1:])})" if sizes[1:] else ""
        pairs = zip(self.rows(), self.tests, strict=True)
        rows = [self._row_in_words(row, test) for row, test in pairs]
        return paragraph(
            tested,
            "kernel tests of terms",
            details,
            [f"at the {without_zero(f'{self.alpha:g}')} level, {'; '.join(rows)}"],
            self.versions,
            seed_in_words(first.rng),
        )

    def _row_in_words(self, row: dict[str, Any], test: Any) -> str:
        if np.isnan(row["pvalue"]):
            return f"no p-value was computed for {row['term']}"
        share = _interval_in_words(test.share, self.confidence, within=True)
        decision = "an effect" if row["adjusted"] <= self.alpha else "no clear effect"
        return (
            f"{row['term']} had {decision} ({test._statistic_name()} = {number(row['statistic'])}, "
            f"p = {shown_pvalue(row['pvalue'])}, adjusted p = {shown_pvalue(row['adjusted'])}, "
            f"partial omega squared {share})"
        )

    def _sources(self) -> Iterator[str]:
        for test in self.tests:
            yield from test._sources()
        yield from ADJUSTMENTS["holm"].sources

    # --- shown ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names."""
        names = ("formula", "response", "sizes", "alpha", "confidence", "notes")
        return self._plain(*names, *self.computed)

    def summary(self) -> Summary:
        """Return the terms that matter in words, and the table of all terms."""
        rows = self.rows()
        marks: list[list[int]] = []
        notes = list(unique(self.notes))
        for test in self.tests:
            own = unique(test.notes)
            notes += [text for text in own if text not in notes]
            shared = all(set(own) <= set(other.notes) for other in self.tests)
            marks.append([] if shared else [notes.index(text) + 1 for text in own])
        percent = f"{100.0 * self.confidence:.15g}%"
        headers = ["term", "df", "p-value", "adjusted", f"proportion, with {percent} interval"]
        printed: list[tuple[str, ...]] = []
        for row, mark in zip(rows, marks, strict=True):
            validity = "exact" if row["exact"] else "approximate"
            printed.append(
                (
                    row["term"],
                    str(row["df"]),
                    shown_pvalue(row["pvalue"]),
                    shown_pvalue(row["adjusted"]),
                    _interval(row["share"], row["low"], row["high"]),
                    row["permuted"],
                    " ".join([validity, *(f"[{number}]" for number in mark)]),
                )
            )
        if self.by_distance:
            headers.append("R²")
            printed = [
                (*cells[:5], _two_digits(row["r2"]), *cells[5:])
                for cells, row in zip(printed, rows, strict=True)
            ]
        aligns = "lrrrl" + ("r" if self.by_distance else "") + "ll"
        table = Table(printed, aligns, [*headers, "permuted", ""], gap="  ")
        return Summary.of(table, head=[self._title(), *self._sentences(rows)], notes=notes)

    def _title(self) -> str:
        sizes = [f"{number} {name}" for name, number in self.sizes.items()]
        within = f", {' in '.join(sizes[1:])}" if len(sizes) > 1 else ""
        response = self.response
        if len(response) > _LONGEST:
            response = f"{response[:_LONGEST].rsplit(',', 1)[0]}, ..."
        return f"Effects on {response} ({sizes[0]}{within})"

    def _sentences(self, rows: list[dict[str, Any]]) -> list[str]:
        if np.isnan(self.adjusted).any():
            return ["No p-values were computed."]
        order = np.argsort(self.adjusted, kind="stable")
        matter = [rows[i] for i in order if self.reject()[i]]
        if not matter:
            smallest = shown_pvalue(float(self.adjusted.min()))
            return [f"No term matters (smallest adjusted p = {smallest})."]
        sentences = []
        for row in matter[:_IN_WORDS]:
            name = f"{row['term'][:1].upper()}{row['term'][1:]}"
            shown = [f"{100.0 * row[key]:.0f}%" for key in ("share", "low", "high")]
            sentences.append(
                f"{name} matters (adjusted p = {shown_pvalue(row['adjusted'])}): it explains "
                f"{shown[0]} [{shown[1]}, {shown[2]}] of the variation left unexplained by the "
                "other terms."
            )
        if len(matter) > _IN_WORDS:
            further = len(matter) - _IN_WORDS
            sentences.append(
                f"{counted(further, 'further term')} also matter{'s' * (further == 1)}."
            )
        return sentences


def _two_digits(value: float) -> str:
    text = f"{value:.2f}" if np.isfinite(value) else "-"
    return without_zero(text.removeprefix("-") if text == "-0.00" else text)


def _interval_in_words(share: Share, confidence: float, *, within: bool = False) -> str:
    limits = list(map(_two_digits, share.interval(confidence)))
    return estimated(_two_digits(share.omega2), limits, confidence, within=within)


def _interval(value: float, low: float, high: float) -> str:
    return f"{_two_digits(value)} [{_two_digits(low)}, {_two_digits(high)}]"
