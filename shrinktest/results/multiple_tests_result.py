"""MultipleTestsResult: several tests with p-values adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import choice, counted, level
from shrinktest.estimators import KME
from shrinktest.notes import has_code, note
from shrinktest.permutations.multiplicity import factor_of, scores, step_down, too_few
from shrinktest.permutations.null import Null
from shrinktest.results.adjustments import ADJUSTMENTS
from shrinktest.results.base import Result, Setup, TestData, as_tuple, part_of
from shrinktest.results.info import K_SAMPLE, kind_of
from shrinktest.results.paragraph import (
    draws_in_words,
    kernel_in_words,
    paragraph,
    seed_in_words,
    sentence,
    sources_of,
)
from shrinktest.results.plots.pvalues import plot_many
from shrinktest.results.printing import Summary, Table, number, shown_pvalue, without_zero
from shrinktest.results.references import cited

WESTFALL_YOUNG = "westfall-young"
#: How p-values are adjusted: on the shared permutations, or by a method of statsmodels'
#: ``multipletests``.
METHODS = (
    *(WESTFALL_YOUNG, "bonferroni", "sidak", "holm-sidak", "holm", "simes-hochberg", "hommel"),
    *("fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky"),
)
_TWO_STAGE = ("fdr_tsbh", "fdr_tsbky")  # what they adjust depends on the level
_SHOWN = 30  # tests that a summary lists
_NAMED = 4  # tests that a paragraph names


def _each_null(name: str, doc: str) -> property:
    return property(
        lambda self: np.array([getattr(null, name) for null in self.nulls.values()]), doc=doc
    )


@part_of("data", "test", "n_observations", "restriction")
@part_of("setup", "estimator", "form", "tuning")
@dataclass(frozen=True, eq=False, repr=False)
class MultipleTestsResult(Result):
    """Result of several tests on shared permutations, with adjusted p-values.

    Attributes
    ----------
    nulls : mapping of tuple to Null
        Statistic and null distribution of every test, by the names of its columns or lag.
        ``labels`` are these names; ``statistics``, ``pvalues`` and ``tolerances`` are arrays (k,);
        ``null_distributions`` has shape (n_resamples, k).
    keys : tuple of str
        Kinds of the names: ``("column",)``, ``("x", "y")`` or ``("lag",)``.
    method : str
        "westfall-young" or a method of statsmodels' ``multipletests``.
    alpha : float
        Significance level at which ``reject``, ``table`` and ``summary`` decide.
    data : TestData
        ``test``, ``n_observations``, and ``restriction``, as in a :class:`TestResult`.
    setup : Setup
        ``estimator``, ``form`` and ``tuning``; statistics of an `Ensemble` are minus the decimal
        logarithms of the smallest weighted p-values.
    untested : dict
        Reasons why tests were not performed, by their names.
    rng, notes
        As in a :class:`TestResult`.
    shared : bool
        True if the tests share their permutations, which "westfall-young" requires.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test_columns
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test_columns(
    ...     rng.normal(size=(30, 3)), rng.normal([0, 2, 0], size=(30, 3)), rng=0
    ... )
    >>> len(result), result.reject().tolist()
    (3, [False, True, False])
    """

    nulls: Mapping[tuple[Any, ...], Null]
    keys: tuple[str, ...]
    method: str
    alpha: float
    data: TestData
    setup: Setup
    rng: dict[str, Any]
    untested: Mapping[tuple[Any, ...], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    shared: bool = True  # whether the tests are on the same permutations, which step-down needs

    methods: ClassVar[tuple[str, ...]] = METHODS

    statistics = _each_null("observed", "Statistics, shape (k,).")
    pvalues = _each_null("pvalue", "p-values of the single tests, shape (k,), not adjusted.")
    tolerances = _each_null(
        "tolerance", "How far below a statistic a value still counts as equal to it, shape (k,)."
    )
    n_resamples = property(
        lambda self: next(iter(self.nulls.values())).values.size, doc="Number of permutations."
    )
    exact = property(
        lambda self: next(iter(self.nulls.values())).exact,
        doc="True if permutations were enumerated.",
    )

    plot = plot_many

    def __len__(self) -> int:
        return len(self.nulls)

    def __repr__(self) -> str:
        rejected = f"{int(self.reject().sum())} rejected at {self.alpha:g}"
        return (
            f"{type(self).__name__}({len(self)} {self.data.test} tests, method={self.method!r}, "
            f"{rejected})"
        )

    @property
    def labels(self) -> tuple[tuple[Any, ...], ...]:
        """Names of the tests, in order."""
        return tuple(self.nulls)

    @property
    def null_distributions(self) -> np.ndarray:
        """Statistics over the permutations, shape (n_resamples, k)."""
        return np.stack([null.values for null in self.nulls.values()], axis=1)

    @cached_property
    def adjusted(self) -> np.ndarray:
        """p-values adjusted by ``method``, shape (k,).

        For "fdr_tsbh" and "fdr_tsbky" they refer to the level ``alpha``.
        """
        return self._adjusted(self.method, self.alpha)

    def _adjusted(self, method: str, alpha: float) -> np.ndarray:
        if np.isnan(self.pvalues).any():  # n_resamples=0
            return np.full(len(self), np.nan)
        if method == WESTFALL_YOUNG:
            values = self.null_distributions
            return step_down(
                scores(
                    values if self.exact else np.vstack([self.statistics, values]), self.tolerances
                )
            )
        from statsmodels.stats.multitest import multipletests

        return np.asarray(
            multipletests(self.pvalues, alpha=alpha, method=method)[1], dtype=np.float64
        )

    @property
    def several(self) -> tuple[str, str]:
        """Nouns for the tested objects: for one, and for several."""
        if self.keys[:2] == ("first", "second"):
            of = "" if kind_of(self.data.test) is K_SAMPLE else " of levels"
            return f"pair{of}", f"pairs{of}"
        if self.keys in (("lag",), ("column",)):
            return self.keys[0], f"{self.keys[0]}s"
        return kind_of(self.data.test).several

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis that all null hypotheses are true.

        It is the smallest adjusted p-value but, under "fdr_tsbh" and "fdr_tsbky", whose adjustment
        depends on the level, it is that of "fdr_bh" (Simes' test).
        """
        adjusted = (
            self._adjusted("fdr_bh", self.alpha) if self.method in _TWO_STAGE else self.adjusted
        )
        return float(adjusted.min())

    def reject(self, alpha: float | None = None) -> np.ndarray:
        """Return which tests reject, that is, have adjusted p <= alpha, shape (k,).

        The default for ``alpha`` is that of the result.
        """
        at = self.alpha if alpha is None else level(alpha)
        adjusted = self._adjusted(self.method, at) if self.method in _TWO_STAGE else self.adjusted
        return np.asarray(adjusted <= at)

    def with_method(self, method: str) -> Self:
        """Return these tests, adjusted by another method."""
        choice(method, self.methods, "method")
        if method == WESTFALL_YOUNG and not self.shared:
            raise ValueError(
                f"method={WESTFALL_YOUNG!r} needs permutations that all tests share; use 'holm'"
            )
        notes = tuple(text for text in self.notes if not has_code(text, "too-few-permutations"))
        adjusted = replace(self, method=method, notes=notes)
        return replace(adjusted, notes=(*notes, *adjusted._too_few()))

    def _too_few(self) -> tuple[str, ...]:
        """Note that the permutations are too few to reject by this method."""
        rows = self.n_resamples + (not self.exact)
        tests = len(self)
        problem = too_few(rows, self.alpha, factor_of(self.method, tests, rows), exact=self.exact)
        least = 1.0 / max(rows, 1)
        smallest = int((self.pvalues <= least * (1.0 + 1e-9)).sum())
        enough = self.method == WESTFALL_YOUNG or self.exact or not smallest or least > self.alpha
        if not problem and not enough and not self.reject().any():
            problem = (
                f"{smallest} of {counted(tests, 'p-value')} {'is' if smallest == 1 else 'are'} as "
                f"small as {rows - 1} "
                f"permutations allow ({least:.3g}), but none is small enough once "
                f"adjusted for {tests} tests; with more permutations (n_resamples=), some tests "
                "may reject"
            )
        return (
            (note("too-few-permutations", problem=f"{problem[0].upper()}{problem[1:]}"),)
            if problem
            else ()
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``, one per test.

        The columns are its name, statistic, pvalue, adjusted, reject and reason.  Tests that were
        not made come last, with NaN for numbers and the reason, which is empty for the others.
        """
        columns = (
            array.tolist()
            for array in (self.statistics, self.pvalues, self.adjusted, self.reject())
        )
        tested = (
            (*label, *entries, "") for label, *entries in zip(self.labels, *columns, strict=True)
        )
        others = (
            (*label, *[math.nan] * 3, False, reason) for label, reason in self.untested.items()
        )
        names = (*self.keys, "statistic", "pvalue", "adjusted", "reject", "reason")
        return [dict(zip(names, row, strict=True)) for row in (*tested, *others)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names.

        ``tests`` are rows, without the null distributions.
        """
        names = (
            "pvalue",
            "method",
            "alpha",
            "n_resamples",
            "exact",
            "estimator",
            "n_observations",
            "form",
            "tuning",
            "shared",
        )
        return self._plain("test", *names, "restriction", "notes", "rng") | {"tests": self.rows()}

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, decisions and software."""
        return paragraph(
            self._tested(),
            f"kernel {self.data.test} tests",
            self._details(),
            [self._finding()],
            self.versions,
            seed_in_words(self.rng),
        )

    def _tested(self) -> str:
        """Return what was tested, with sizes."""
        sizes = " + ".join(map(str, self.data.n_observations))
        unit = kind_of(self.data.test).unit
        tested = "were tested" if len(self) != 1 else "was tested"
        return f"{len(self)} {self.several[len(self) != 1]} {tested} on {sizes} {unit}"

    def _details(self) -> list[str]:
        """Return statistic, estimator, kernel, permutations and adjustment."""
        kind = kind_of(self.data.test)
        setup = self.setup
        means = "plain kernel means" if isinstance(setup.estimator, KME) else ""
        if setup.estimator is not None and not means:
            label = getattr(setup.estimator, "label", repr(setup.estimator))
            means = f"kernel means by {label}{cited(sources_of(setup.estimator))}"
        kernels = dict.fromkeys(kernel_in_words(None, given) for given in as_tuple(setup.given))
        two = setup.form in ("biased", "unbiased") and len(kind.statistics) > 1
        form = f"{setup.form} " if two else ""
        statistic = f"{form}{kind.measured or kind.statistic}{cited(kind.sources)}"
        restriction = self.data.restriction if kind.restrictions or not kind.statistics else ""
        drawn = draws_in_words(self.n_resamples, kind.moved, restriction, exact=self.exact)
        shared = "shared by all tests" if self.shared else "for each test"
        return [
            statistic if kind.has_kernel(setup.form) else setup.form,
            means,
            *(kernels if setup.given is not None else ()),
            f"{drawn}, {shared}",
        ]

    def _finding(self) -> str:
        """Return which tests rejected; the clearest one if none did."""
        if np.isnan(self.adjusted).any():
            return "no p-values were computed"
        rejected = self.reject()
        order = self._order()
        how = ADJUSTMENTS[self.method].cited
        level = without_zero(f"{self.alpha:g}")
        number_rejected = int(rejected.sum())
        were = "were" if number_rejected > 1 else "was"
        count = f"{number_rejected or 'none'} of {len(self)} null hypotheses {were} rejected"
        chosen = [i for i in order if rejected[i]]
        rows = self.rows()
        named = [self._row_in_words(rows[i]) for i in (chosen or order)[: _NAMED if chosen else 1]]
        more = f" and {len(chosen) - _NAMED} more" if len(chosen) > _NAMED else ""
        start = "" if chosen else "the clearest was "
        return (
            f"with p-values adjusted by {how}, {count} at the {level} level: "
            f"{start}{', '.join(named)}{more}"
        )

    def _row_in_words(self, row: dict[str, Any]) -> str:
        """Return a test with its statistic and p-values."""
        name = " and ".join(str(row[key]) for key in self.keys)
        name = f"lag {name}" if self.keys == ("lag",) else name
        shown = [f"statistic {number(row['statistic'])}", *self._sizes_in_words(row)]
        shown.append(f"p = {shown_pvalue(row['pvalue'])}")
        shown.append(f"adjusted p = {shown_pvalue(row['adjusted'])}")
        return f"{name} ({', '.join(shown)})"

    def _sizes_in_words(self, row: dict[str, Any]) -> list[str]:
        """Return effect sizes of a row as articles print them; these tests have none."""
        return []

    def _sources(self) -> Iterator[str]:
        kind = kind_of(self.data.test)
        yield from kind.sources if kind.has_kernel(self.setup.form) else ()
        yield from sources_of(self.setup.estimator)
        yield from sources_of(self.setup.given)
        yield from ADJUSTMENTS[self.method].sources
        if self.n_resamples and not self.exact:
            yield "PS10"

    def _sizes(self, row: dict[str, Any]) -> list[str]:
        """Return effect sizes of a row as summaries print them; these tests have none."""
        return []

    def _of_sizes(self) -> list[str]:
        """Return the headers of effect sizes."""
        return []

    def _order(self) -> np.ndarray:
        """Return the places of the tests, most significant first."""
        return np.lexsort((np.arange(len(self)), self.pvalues, self.adjusted))

    def printed(self) -> Table:
        """Return all tests as summaries print them, most significant first."""
        rows = self.rows()
        cells = []
        for row in [*(rows[i] for i in self._order()), *rows[len(self) :]]:
            numbers = (
                number(row["statistic"], ".6g"),
                number(row["pvalue"]),
                number(row["adjusted"]),
            )
            last = (
                f"not tested: {row['reason']}"
                if row["reason"]
                else "reject"
                if row["reject"]
                else ""
            )
            cells.append([*(str(row[key]) for key in self.keys), *numbers, *self._sizes(row), last])
        headers = [*self.keys, "statistic", "p-value", "adjusted", *self._of_sizes(), ""]
        return Table(cells, "r" * (len(headers) - 1) + "l", headers=headers, below="-")

    def _headline(self) -> str:
        return sentence(self._finding())

    def summary(self) -> Summary:
        """Return the settings, and the tests, most significant first.

        There are thirty at most, whereas ``table`` has all.
        """
        rejected = self.reject()
        estimator = self.setup.estimator
        how = (
            f"{'all' if self.exact else 'random'}), "
            f"{f'{self.data.restriction}, ' if self.data.restriction else ''}"
        )
        resamples = kind_of(self.data.test).resamples
        whose = "shared by all tests" if self.shared else "for each test by itself"
        more = rejected[self._order()[_SHOWN:]]
        decisions = f"{int(rejected.sum())} of {len(self)} rejected at level {self.alpha:g}"
        rest = f"... and {len(more)} more, {more.sum() or 'none'} rejected" if len(more) else ""
        if not self.n_resamples:
            decisions = f"no decisions at level {self.alpha:g}, for there are no p-values"
            rest = rest.partition(",")[0]
        head = (
            f"Kernel {self.data.test} tests of {len(self)} {self.several[len(self) != 1]}",
            f"Estimator:     {getattr(estimator, 'label', repr(estimator))}",
            f"Observations:  {' + '.join(map(str, self.data.n_observations))}",
            f"{f'{resamples.capitalize()}:':15}{self.n_resamples} ({how}{whose}",
            f"Adjustment:    {self.method}; {decisions}",
        )
        table = self.printed()
        table = replace(table, rows=table.rows[:_SHOWN])
        return Summary.of(table, head=head, rest=rest, notes=self.notes)
