"""CloserMatrixResult: which of several samples one is nearest to, with a test of every two of them."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import level, percent
from shrinktest.results.base import Result, plain
from shrinktest.results.closer import DISTANCE, ESTIMATES, CloserResult, interval_in_words
from shrinktest.results.printing import Summary, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class CloserMatrixResult(Result):
    """Which of several models a sample is nearest to: estimates, and tests of every two, adjusted for their number.

    Attributes
    ----------
    reference : str
        What the sample is called.
    names : tuple of str
        The models, as they were given.
    distances : ndarray, shape (k,)
        Unbiased estimates of their squared distances, or of the dependence on each.
    tests : tuple of CloserResult
        Tests of every two models, in the order of ``names``.
    adjusted : ndarray, shape (k (k - 1) / 2,)
        Their p-values, adjusted for their number.
    method : str
        How.
    alpha : float
        Level at which ``best``, ``answer`` and ``reject`` decide.
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import closer_matrix
    >>> rng = np.random.default_rng(0)
    >>> X, near, far = (rng.normal(shift, 1.0, size=(100, 2)) for shift in (0.0, 0.3, 1.0))
    >>> result = closer_matrix(X, {"far": far, "near": near})
    >>> result.best, result.ranked
    (('near',), ('near', 'far'))
    """

    reference: str
    names: tuple[str, ...]
    distances: np.ndarray
    tests: tuple[CloserResult, ...]
    adjusted: np.ndarray
    method: str
    alpha: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tests)

    def __repr__(self) -> str:
        return f"CloserMatrixResult({len(self.names)} models, best={self.best!r})"

    @property
    def measure(self) -> str:
        """What was compared: "distance", "dependence" or "hsic"."""
        return self.tests[0].measure

    @property
    def pvalue(self) -> float:
        """p-value of the hypothesis that all models are equally near: the smallest adjusted p-value."""
        return float(self.adjusted.min())

    def reject(self, alpha: float | None = None) -> np.ndarray:
        """Which pairs of models differ, shape (k (k - 1) / 2,): adjusted p <= alpha (default: the result's)."""
        return np.asarray(self.adjusted <= (self.alpha if alpha is None else level(alpha)))

    @property
    def ranked(self) -> tuple[str, ...]:
        """The models, nearest first by their estimates."""
        sign = 1.0 if self.measure == DISTANCE else -1.0
        return tuple(self.names[i] for i in np.argsort(sign * self.distances, kind="stable"))

    @property
    def best(self) -> tuple[str, ...]:
        """The models that may be the nearest: those for which no other is nearer by the adjusted tests; nearest first.

        The nearest model is missing only where a test rejects falsely; a ``method`` such as "holm" keeps the chance of
        that below ``alpha``, as far as the asymptotic p-values hold.
        """
        beaten = set()
        for test, rejected in zip(self.tests, self.reject(), strict=True):
            if rejected:
                beaten.add(test.names[2 if test.difference < 0.0 else 1])
        return tuple(name for name in self.ranked if name not in beaten)

    @property
    def answer(self) -> str:
        """The result in one or two sentences."""
        first, *others = self.best
        near, said = self.measure == DISTANCE, " and ".join(filter(None, [", ".join(others[:-1]), *others[-1:]]))
        if others and near:
            verb = "is" if len(others) == 1 else "are"
            return f"{self.reference} is nearest to {first} by the estimates; {said} {verb} not clearly further away."
        if others:
            return f"{self.reference} depends most on {first} by the estimates, and not clearly less on {said}."
        rest = "the other" if len(self.names) == 2 else "all others"
        if near:
            verb = "is" if len(self.names) == 2 else "are"
            return f"{self.reference} is nearest to {first}; {rest} {verb} clearly further away."
        return f"{self.reference} depends most on {first}, and clearly less on {rest}."

    @property
    def table(self) -> pd.DataFrame:
        """One row for every two models (pandas), the clearest first.

        first, second; difference (below zero: the first is nearer), low, high, statistic, pvalue, adjusted, reject;
        ``nearer``, the one that is by the adjusted test, or nothing.
        """
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_frame(self) -> pd.DataFrame:
        """``table``, under the name that it has for other results (pandas)."""
        return self.table

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``."""
        rejected = self.reject()
        order = np.lexsort((np.array([test.pvalue for test in self.tests]), self.adjusted))
        return [self._row(self.tests[i], float(self.adjusted[i]), bool(rejected[i])) for i in order]

    @staticmethod
    def _row(test: CloserResult, adjusted: float, reject: bool) -> dict[str, Any]:
        return {
            "first": test.names[1],
            "second": test.names[2],
            "difference": test.difference,
            "low": test.interval[0],
            "high": test.interval[1],
            "statistic": test.statistic,
            "pvalue": test.pvalue,
            "adjusted": adjusted,
            "reject": reject,
            "nearer": test.names[1 if test.difference < 0.0 else 2] if reject else "",
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names, with ``answer``, ``best``, ``ranked`` and all tests."""
        names = ("answer", "best", "ranked", "measure", "pvalue")
        return super().to_dict() | {name: plain(getattr(self, name)) for name in names}

    def summary(self) -> Summary:
        """The answer, the estimates, a row for every two models, the clearest first, and notes."""
        estimates = dict(zip(self.names, self.distances, strict=True))
        what = f"{ESTIMATES[self.measure]} {'from' if self.measure == DISTANCE else 'of'} {self.reference}"
        shown = ", ".join(f"{name} {estimates[name]:.4g}" for name in self.ranked)
        lines = [
            fill(self.answer, 80),
            fill(f"{what[0].upper()}{what[1:]}: {shown}", 80),
            fill(f"Not beaten: {', '.join(self.best)}", 80),
            f"Adjustment: {self.method}; {int(self.reject().sum())} of {len(self)} rejected at level {self.alpha:g}",
        ]
        rows = [
            [
                row["first"],
                row["second"],
                f"{row['difference']:.4g} {interval_in_words((row['low'], row['high']))}",
                f"{row['pvalue']:.4g}",
                f"{row['adjusted']:.4g}",
                row["nearer"],
            ]
            for row in self.rows()
        ]
        interval = f"difference, {percent(self.tests[0].confidence)} interval"
        headers = ["first", "second", interval, "p-value", "adjusted", "nearer"]
        if self.measure != DISTANCE:
            headers[-1] = "more"
        return Summary.of(Table(rows, "lllrrl", headers=headers, gap="  ", below="-"), head=lines, notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """How much further away than the nearest every model is, with intervals (matplotlib)."""
        from shrinktest.plots.closer import plot_closer_matrix

        return plot_closer_matrix(self, ax)
