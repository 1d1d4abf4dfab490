"""LagsResult: what tests of two series at several lags found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shrinktest._check import counted
from shrinktest.permutations.stopping import allowed_rows
from shrinktest.results.multiple import MultipleTestsResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class LagsResult(MultipleTestsResult):
    """Result of independence tests of two series at several lags, on the same shifts.

    Attributes
    ----------
    labels : tuple of tuple of int
        The lags: at lag k, row t of X meets row t + k of Y, so that k > 0 is about what Y does after X.
    statistics, pvalues : ndarray, shape (k,)
        At every lag, not adjusted.
    adjusted : ndarray, shape (k,)
        p-values adjusted for the number of lags; ``pvalue`` is the smallest of them, of the hypothesis that the series
        are independent at all lags.
    test, keys, method, null_distributions, tolerances, exact, estimator, n_observations, alpha, rng, restriction
        As in a :class:`MultipleTestsResult`.
    form, tuning, notes, untested, versions
        As there.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import independence_test
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y = np.roll(x, 2) + rng.normal(size=200)  # follows x two rows later
    >>> result = independence_test(x, y, lags=range(-3, 4), shift="circular")
    >>> result.lag, round(result.pvalue, 4), result.lags[result.reject()].tolist()
    (2, 0.035, [2])
    """

    labels: tuple[tuple[int], ...]  # type: ignore[assignment]  # texts in other tests

    @property
    def tested(self) -> tuple[str, str]:
        """What is tested, one test for each: one of them, and several."""
        return "lag", "lags"

    @property
    def lags(self) -> np.ndarray:
        """The lags, shape (k,)."""
        return np.array([lag for (lag,) in self.labels])

    def comparable(self) -> np.ndarray:
        """Minus the ranks (rows, k) of the statistics among those of all lags, ties of one rank.

        All lags have the same statistics over the shifts, in another order, so that they are compared as they are.
        """
        rows = self.rows()
        order = np.argsort(rows, axis=None)
        steps = np.diff(rows.ravel()[order]) > self.tolerances.max()
        ranks = np.empty(rows.size)
        ranks[order] = np.concatenate([[0], np.cumsum(steps)])
        return -ranks.reshape(rows.shape)

    @property
    def lag(self) -> int:
        """The lag that stands out most: that with the smallest p-value and, of these, the largest statistic."""
        order = np.lexsort((-self.statistics, self.pvalues, self.adjusted))
        return int(self.lags[order[0]])

    def critical_value(self) -> float:
        """What the largest statistic of all lags must exceed to be rejected; infinite where none is, NaN unknown."""
        values = self.null_distributions
        if not values.size or np.isnan(values).any():
            return float("nan")
        largest = np.sort(values.max(axis=1))[::-1]
        allowed = allowed_rows(self.alpha, len(largest) + (not self.exact))
        return float(largest[allowed - (not self.exact)]) if allowed else float("inf")

    def __repr__(self) -> str:
        return f"LagsResult(pvalue={self.pvalue:.6g}, {counted(len(self), 'lag')}, most at {self.lag})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """The statistic at every lag, with what the largest of them reaches over shifts (matplotlib)."""
        from shrinktest.plots.lags import plot_lags

        return plot_lags(self, ax)
