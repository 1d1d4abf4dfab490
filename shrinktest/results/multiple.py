"""MultipleTestsResult: what several tests on shared permutations found, adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._check import choice, counted, level
from shrinktest.permutations.multiplicity import scores, step_down
from shrinktest.results.as_json import AsJson
from shrinktest.results.base import Result, label_of
from shrinktest.results.conclude import too_few
from shrinktest.results.kinds import kind_of
from shrinktest.results.reading import SCHEMA, entry_of, numbers_of, shown_of
from shrinktest.results.result import versions
from shrinktest.results.text import Report, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WESTFALL_YOUNG = "westfall-young"
#: How p-values are adjusted: on the shared relabellings, or by a method of statsmodels' ``multipletests``.
METHODS = (
    *(WESTFALL_YOUNG, "bonferroni", "sidak", "holm-sidak", "holm", "simes-hochberg", "hommel"),
    *("fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky"),
)
_TWO_STAGE = ("fdr_tsbh", "fdr_tsbky")  # what they adjust depends on the level
_SHOWN = 30  # tests that a summary lists
_FOUND = ("statistic", "pvalue", "adjusted", "reject", "reason")


@dataclass(frozen=True, eq=False, repr=False)
class MultipleTestsResult(AsJson, Result):
    """Result of several tests on shared permutations, with p-values adjusted for their number.

    Attributes
    ----------
    test : str
        "two-sample" (a test for every column) or "independence" (a test for every pair of columns).
    keys : tuple of str
        The columns of ``table`` that name a test: ``("column",)`` or ``("x", "y")``.
    labels : tuple of tuple of str
        The names of the tests, in order.
    statistics, pvalues : ndarray, shape (k,)
        Statistics and p-values of the single tests, not adjusted.
    adjusted : ndarray, shape (k,)
        p-values adjusted by ``method``; for "fdr_tsbh" and "fdr_tsbky" those of the level ``alpha``.
    method : str
        "westfall-young" or a method of statsmodels' ``multipletests``.
    null_distributions : ndarray, shape (n_resamples, k)
        The statistics over the permutations, a row for each; with ``exact`` these are all, the observed one included.
        NaN where they are not known, after ``from_json``.
    tolerances : ndarray, shape (k,)
        How far below an observed statistic a value still counts as equal to it.
    exact : bool
        Whether all permutations were enumerated.
    estimator : MeanEstimator or Collection
        As it was given; for a collection, the statistics are minus the decimal logarithms of the smallest weighted
        p-values.
    n_observations : tuple of int
        Sizes of the samples, or the number of rows.
    alpha : float
        Level at which ``reject``, ``table`` and ``summary`` decide.
    rng : dict
        Bit generator, seed entropy and state before the first draw.
    restriction : str
        Which permutations the design of the data allows, such as "within 12 blocks"; empty if all of them.
    form, tuning : str
        Form and tuning of the statistics, as in a :class:`TestResult`.
    untested : dict
        Why tests were not made, by their names: columns with one value, without values, or that look like identifiers.
    notes : tuple of str
        What a reader should know: assumptions that may fail, what was left out.
    versions : dict
        Versions of the packages that computed it.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test_columns
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test_columns(rng.normal(size=(30, 3)), rng.normal([0, 2, 0], size=(30, 3)), rng=0)
    >>> len(result), result.reject().tolist()
    (3, [False, True, False])
    """

    test: str
    keys: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    statistics: np.ndarray
    pvalues: np.ndarray
    adjusted: np.ndarray
    method: str
    null_distributions: np.ndarray
    tolerances: np.ndarray
    exact: bool
    estimator: Any
    n_observations: tuple[int, ...]
    alpha: float
    rng: dict[str, Any]
    restriction: str = ""
    form: str = "biased"
    tuning: str = "fixed"
    notes: tuple[str, ...] = ()
    untested: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return (
            f"MultipleTestsResult({len(self)} {self.test} tests, method={self.method!r}, "
            f"{int(self.reject().sum())} rejected at {self.alpha:g})"
        )

    @property
    def tested(self) -> tuple[str, str]:
        """What is tested, one test for each: one of them, and several."""
        return kind_of(self.test).several

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis that all null hypotheses are true: the smallest adjusted p-value.

        Under "fdr_tsbh" and "fdr_tsbky" it is that of Simes' test, the smallest p-value adjusted by "fdr_bh": what
        two-stage methods adjust depends on the level, and may lie below every p-value.
        """
        adjusted = adjust(self, "fdr_bh", self.alpha) if self.method in _TWO_STAGE else self.adjusted
        return float(adjusted.min())

    def reject(self, alpha: float | None = None) -> np.ndarray:
        """Which tests reject, shape (k,): adjusted p <= alpha (default: the result's)."""
        at = self.alpha if alpha is None else level(alpha)
        known = at == self.alpha or self.method not in _TWO_STAGE
        return np.asarray((self.adjusted if known else adjust(self, self.method, at)) <= at)

    def with_method(self, method: str) -> MultipleTestsResult:
        """The same tests, adjusted by another method."""
        about_this = _too_few(self) if self.adjusted.size else ()
        notes = tuple(note for note in self.notes if note not in about_this)
        found = replace(self, method=method, adjusted=adjust(self, method, self.alpha), notes=notes)
        return replace(found, notes=(*notes, *_too_few(found)))

    def rows(self) -> np.ndarray:
        """The statistics (rows, k) over all permutations, the data's first; raises ValueError where not known."""
        rows = self.null_distributions
        if np.isnan(rows).any():
            raise ValueError(
                f"method={WESTFALL_YOUNG!r} adjusts by the null distributions; these tests were read from JSON, which "
                "does not hold them: adjust before, or pickle the result"
            )
        return rows if self.exact else np.vstack([self.statistics[None], rows])

    def comparable(self) -> np.ndarray:
        """Numbers (rows, k) by which tests are compared, small where a statistic is extreme."""
        return scores(self.rows(), self.tolerances)

    @property
    def table(self) -> pd.DataFrame:
        """One row per test (pandas): its name, statistic, pvalue, adjusted, reject, reason.

        Tests that were not made come last, with NaN for numbers and the reason; it is empty for the others.
        """
        import pandas as pd

        return pd.DataFrame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``."""
        columns = (self.statistics.tolist(), self.pvalues.tolist(), self.adjusted.tolist(), self.reject().tolist())
        tested = ((*numbers, "") for numbers in zip(*columns, strict=True))
        others = ((math.nan, math.nan, math.nan, False, reason) for reason in self.untested.values())
        return [
            {**dict(zip(self.keys, label, strict=True)), **dict(zip(_FOUND, entries, strict=True))}
            for label, entries in zip((*self.labels, *self.untested), (*tested, *others), strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """``table``, under the name that it has for other results (pandas)."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names, without the null distributions; ``tests`` has a row each.

        Besides, for ``from_json``: ``result`` is the class, ``schema`` the number of this layout, ``estimator_label``
        what tables call the estimator.
        """
        return {
            "result": type(self).__name__,
            "schema": SCHEMA,
            "test": self.test,
            "pvalue": self.pvalue,
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": len(self.null_distributions),
            "exact": self.exact,
            "estimator": repr(self.estimator),
            "estimator_label": label_of(self.estimator),
            "n_observations": list(self.n_observations),
            "form": self.form,
            "tuning": self.tuning,
            "restriction": self.restriction,
            "notes": list(self.notes),
            "rng": self.rng,
            "versions": self.versions,
            "tests": self._rows(),
        }

    @classmethod
    def _of_json(cls, read: Mapping[str, Any]) -> Self:
        keys = tuple(key for key in read["tests"][0] if key not in _FOUND)
        rows = [row for row in read["tests"] if not row.get("reason")]
        others = [row for row in read["tests"] if row.get("reason")]
        statistics, pvalues, adjusted = (numbers_of(row[name] for row in rows) for name in _FOUND[:3])
        found = {
            **{field.name: entry_of(field, read[field.name]) for field in fields(cls) if field.name in read},
            "keys": keys,
            "labels": tuple(tuple(row[key] for key in keys) for row in rows),
            "untested": {tuple(row[key] for key in keys): row["reason"] for row in others},
            "statistics": statistics,
            "pvalues": pvalues,
            "adjusted": adjusted,
            "null_distributions": np.full((read["n_resamples"], len(rows)), np.nan),
            "tolerances": np.full(len(rows), np.nan),
            "estimator": shown_of(read["estimator"], read["estimator_label"]),
        }
        return cls(**found)

    def summary(self) -> str:
        """What was done, and the tests, most significant first: thirty at most, while ``table`` has all."""
        return self._report().as_text()

    def _report(self) -> Report:
        count, how = len(self.null_distributions), "all" if self.exact else "random"
        within = f"{self.restriction}, " if self.restriction else ""
        order = np.lexsort((np.arange(len(self)), self.pvalues, self.adjusted))
        rejected = self.reject()
        rows = [
            [
                *map(str, self.labels[i]),
                f"{self.statistics[i]:.6g}",
                *("-" if np.isnan(p) else f"{p:.4g}" for p in (self.pvalues[i], self.adjusted[i])),
                "reject" if rejected[i] else "",
            ]
            for i in order[:_SHOWN]
        ]
        others = [[*map(str, label), "-", "-", "-", f"not tested: {why}"] for label, why in self.untested.items()]
        rows += others[: _SHOWN - len(rows)]
        head = (
            f"Kernel {self.test} tests of {len(self)} {self.tested[len(self) != 1]}",
            f"Estimator:     {label_of(self.estimator)}",
            f"Observations:  {' + '.join(map(str, self.n_observations))}",
            f"Permutations:  {count} ({how}), {within}shared by all tests",
            f"Adjustment:    {self.method}; {self._decided(rejected)}",
        )
        headers = [*self.keys, "statistic", "p-value", "adjusted", ""]
        table = Table(rows, "r" * (len(headers) - 1) + "l", headers=headers, below="-")
        return Report(head, table, self.notes, self._rest(rejected[order[_SHOWN:]]))

    def _rest(self, rejected: np.ndarray) -> str:
        """How many tests a summary leaves out, and how many of these are rejected."""
        if not len(rejected):
            return ""
        if np.isnan(self.pvalues).all():
            return f"... and {len(rejected)} more"
        return f"... and {len(rejected)} more, {rejected.sum() or 'none'} rejected"

    def _decided(self, rejected: np.ndarray) -> str:
        if np.isnan(self.pvalues).all():
            return f"no decisions at level {self.alpha:g}, for there are no p-values"
        return f"{int(rejected.sum())} of {len(self)} rejected at level {self.alpha:g}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Heat map of the adjusted p-values; rejected tests are marked (matplotlib)."""
        from shrinktest.plots.many import plot_many

        return plot_many(self, ax)


def adjust(tests: MultipleTestsResult, method: str, alpha: float) -> np.ndarray:
    """p-values (k,) adjusted by a method; two-stage methods depend on the level."""
    choice(method, METHODS, "method")
    if np.isnan(tests.pvalues).any():  # n_resamples=0
        return np.full(len(tests), np.nan)
    if method == WESTFALL_YOUNG:
        return step_down(tests.comparable())
    from statsmodels.stats.multitest import multipletests

    return np.asarray(multipletests(tests.pvalues, alpha=alpha, method=method)[1], dtype=np.float64)


def factor_of(method: str, tests: int, rows: int) -> float:
    """By what adjusting multiplies the smallest p-value that ``rows`` permutations can give, at least.

    Step-up methods may leave it as it is, where all p-values are small.
    """
    if method in ("bonferroni", "holm"):
        return float(tests)
    return rows * (1.0 - (1.0 - 1.0 / rows) ** tests) if method in ("sidak", "holm-sidak") and rows else 1.0


def _too_few(tests: MultipleTestsResult) -> tuple[str, ...]:
    """What a reader should know where permutations are too few to reject by this method."""
    drawn, exact, method = len(tests.null_distributions), tests.exact, tests.method
    rows = drawn + (not exact)
    said = too_few(rows, tests.alpha, factor_of(method, len(tests), rows), exact=exact)
    if said:
        return (f"{said[0].upper()}{said[1:]}.",)
    least = 1.0 / rows if rows else 1.0
    count = int((tests.pvalues <= least * (1.0 + 1e-9)).sum())
    if method == WESTFALL_YOUNG or exact or not count or least > tests.alpha or tests.reject().any():
        return ()
    return (
        f"{counted(count, 'p-value')} of {len(tests)} {'is' if count == 1 else 'are'} as small as {drawn} "
        f"permutations can make {'it' if count == 1 else 'them'}, {least:.3g}, and none is small enough once adjusted "
        f"for {len(tests)} tests: more permutations (n_resamples=) may reject.",
    )
