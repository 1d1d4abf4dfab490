"""Several statistics on shared permutations: comparable scores, combination, and adjustment.

They are combined into one p-value, or adjusted one by one.

Statistics are a matrix (rows, k) with a column for each: row 0 belongs to the data, and large
values speak against the null hypothesis.  ``tolerance``, a number or (k,), is how far below a
statistic still counts as a tie; ``weights`` (k,) are shares of the level, by default equal ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._warn import warn_user

#: Part of warnings and notes on too few permutations.
NEVER = "can never reject"

_TOO_MANY = 1e15  # permutations that nobody draws
_ROUNDING = 1e-9  # of scores that are equal but for rounding
_LEAST_SKEWNESS = 0.05  # with less than that a gamma distribution is as good as normal


def tail_ranks(statistics: Any, tolerance: Any = 0.0) -> np.ndarray:
    """Count the rows that reach every statistic, itself included.

    Divided by the number of rows, this is the p-value of the row.
    """
    values = np.asarray(statistics, dtype=np.float64)
    slack = np.broadcast_to(tolerance, values.shape[1:])
    reached = (
        np.searchsorted(np.sort(z), z - tie, side="left")
        for z, tie in zip(values.T, slack, strict=True)
    )
    return len(values) - np.column_stack(list(reached))


def scores(statistics: Any, tolerance: Any = 0.0, weights: Any = None) -> np.ndarray:
    """Make statistics of any units and distributions comparable.

    The smaller a score, the more extreme.

    A score is the tail rank over the weight.  Equal ranks of different columns are ordered by the
    number of standard deviations above the mean, which changes a score by less than one rank.  All
    rows are treated alike, so that any p-value that compares the scores of the rows is exact.

    Examples
    --------
    >>> scores([[3.0, 0.1], [1.0, 0.1], [2.0, 0.5]]).round(2)
    array([[0.54, 2.9 ],
           [3.  , 2.9 ],
           [1.77, 0.5 ]])
    """
    values = np.asarray(statistics, dtype=np.float64)
    shares = _shares(weights, values.shape[1])
    ranks = tail_ranks(values, tolerance)
    center = values.mean(axis=0)
    spread = values.std(axis=0)
    height = (_least_tied(np.sort(values, axis=0), ranks) - center) / np.where(
        spread > 0.0, spread, 1.0
    )
    low = height.min()
    high = height.max()
    return (ranks - 0.5 * (height - low) / (high - low if high > low else 1.0)) / shares


def tails(statistics: Any, tolerance: Any = 0.0, weights: Any = None) -> np.ndarray:
    """Approximate the weighted p-values of statistics by gamma distributions.

    Returns decimal logarithms.

    Ranks among B permutations end at 1/(B + 1), whereas the tail of a gamma distribution with the
    mean, variance and skewness of a column goes on.  The largest value of a column, with its ties,
    is left out of the moments.  The approximation matters for power only; p-values are exact as
    with :func:`scores`.
    """
    values = np.asarray(statistics, dtype=np.float64)
    shares = _shares(weights, values.shape[1])
    slack = np.broadcast_to(tolerance, values.shape[1:])
    ordered = np.sort(values, axis=0)
    used = ordered < ordered[-1] - slack
    varies = np.where(used, ordered, ordered[0]).max(axis=0) - ordered[0] > slack
    used |= ~varies  # nothing else varies: the moments of all
    return GammaTails.fitted(ordered, slack, shares, used).log10(
        _least_tied(ordered, tail_ranks(values, slack))
    )


@dataclass(frozen=True, eq=False)
class GammaTails:
    """Weighted p-values by gamma distributions, one for each of k columns of statistics."""

    center: np.ndarray  # (k,): means
    spread: np.ndarray  # (k,): standard deviations; zero for a column that does not vary
    skewness: np.ndarray  # (k,)
    shares: np.ndarray  # (k,): of the level

    @classmethod
    def fitted(
        cls, statistics: np.ndarray, tolerance: np.ndarray, shares: np.ndarray, used: Any = True
    ) -> GammaTails:
        """Return gamma distributions matching moments of columns of ``statistics`` (rows, k).

        The moments are those of the columns that are ``used``.
        """
        weights = np.broadcast_to(used, statistics.shape) / np.sum(
            np.broadcast_to(used, statistics.shape), axis=0
        )
        center = (weights * statistics).sum(axis=0)
        spread = np.sqrt((weights * (statistics - center) ** 2).sum(axis=0))
        spread = np.where(spread > tolerance, spread, 0.0)
        heights = (statistics - center) / np.where(spread > 0.0, spread, 1.0)
        return cls(center, spread, (weights * heights**3).sum(axis=0), shares)

    def log10(self, statistics: np.ndarray) -> np.ndarray:
        """Return log10 weighted p-values (rows, k) by the Wilson-Hilferty cube root."""
        from scipy.special import log_ndtr

        varies = self.spread > 0.0
        half = np.maximum(self.skewness, _LEAST_SKEWNESS) / 2.0
        root = np.cbrt(1.0 + half * (statistics - self.center) / np.where(varies, self.spread, 1.0))
        normal = 3.0 / half * (root - 1.0) + half / 3.0
        return np.where(varies, log_ndtr(-normal) / np.log(10.0), 0.0) - np.log10(self.shares)


def overall_pvalue(comparable: np.ndarray) -> float:
    """Return one p-value for all columns, from the smallest score of each row.

    It is the share of rows whose smallest score does not exceed that in row 0.
    """
    smallest = comparable.min(axis=1)
    return float((smallest <= _up_to_ties(smallest[0])).mean())


def step_down(comparable: np.ndarray) -> np.ndarray:
    """Adjust the p-values of all columns of scores (rows, k) for their number.

    The smallest is ``overall_pvalue``.

    Step-down procedure of Westfall and Young ([WY93] section 2.6), which controls the familywise
    error under subset pivotality.
    """
    observed = comparable[0]
    order = np.argsort(observed, kind="stable")
    # the smallest score without the more extreme columns of the data
    best = np.minimum.accumulate(comparable[:, order[::-1]], axis=1)[:, ::-1]
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate((best <= _up_to_ties(observed[order])).mean(axis=0))
    return adjusted


def _least_tied(ordered: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Replace statistics by the least value that reaches them up to ties.

    Ties remain ties.
    """
    return np.take_along_axis(ordered, len(ordered) - ranks, axis=0)


def _up_to_ties(observed: np.ndarray) -> np.ndarray:
    """Add rounding allowances to scores that may be equal.

    Equal scores may be those of another statistic.
    """
    return observed + _ROUNDING * (1.0 + np.abs(observed))


def _shares(weights: Any, columns: int) -> np.ndarray:
    """Return weights with mean 1."""
    shares = np.ones(columns) if weights is None else np.asarray(weights, dtype=np.float64)
    return shares / shares.mean()


# --- enough permutations --------------------------------------------------------------------------


def factor_of(method: str, tests: int, rows: int) -> float:
    """Return the minimum factor by which adjustment multiplies the smallest p-value.

    The p-value is from ``rows`` permutations.
    """
    if method in ("bonferroni", "holm", "shaffer"):
        return float(tests)
    return (
        rows * (1.0 - (1.0 - 1.0 / rows) ** tests)
        if method in ("sidak", "holm-sidak") and rows
        else 1.0
    )


def too_few(rows: int, alpha: float, factor: float = 1.0, *, exact: bool = False) -> str:
    """Return a message if no p-value, multiplied by ``factor``, can be as small as ``alpha``.

    Else an empty one.
    """
    smallest = min(1.0, factor / rows) if rows else 1.0
    if rows <= 1 or smallest <= alpha:
        return ""
    adjusted = ", adjusted for the number of tests," if factor > 1.0 else ""
    return (
        f"with {rows - (not exact)} permutations the smallest possible p-value{adjusted} is "
        f"{smallest:.3g}, so "
        f"the test {NEVER} at alpha = {alpha:g}; "
        + ("collect more observations" if exact else enough(alpha, factor))
    )


def warn_too_few(rows: int, alpha: float, factor: float = 1.0, *, exact: bool = False) -> None:
    """Warn if no p-value can be as small as ``alpha``: see `too_few`."""
    if message := too_few(rows, alpha, factor, exact=exact):
        warn_user(message)


def enough(alpha: float, factor: float = 1.0) -> str:
    """Return the remedy for random permutations that are too few to reject at ``alpha``."""
    rows = factor / alpha
    return (
        f"use n_resamples >= {max(1, math.ceil(rows) - 1)}"
        if rows < _TOO_MANY
        else "use a larger alpha"
    )
