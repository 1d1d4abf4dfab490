"""Cells of scores, bets on them, and projections, row by row in numpy.

`urn_loops` compiles these, with the same bits.
"""

from __future__ import annotations

import numpy as np

#: Largest wealth of a bet: the loops are in linear scale.
CAP = 1e200


def projections(points: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """``out`` (n, k): sums of points (n, d) with weights (d, k), added in the order of d.

    A row has the same bits whatever rows are computed with it, so that equal rows tie.
    """
    out[:] = 0.0
    for j in range(points.shape[1]):
        out += points[:, j, np.newaxis] * weights[j]


def projection(columns: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """``out`` (n,): sums of columns (d, n) with weights (d,), with the bits of `projections`."""
    out[:] = 0.0
    for column, weight in zip(columns, weights, strict=True):
        out += column * weight


def cells(
    scores: np.ndarray, ties: np.ndarray, values: np.ndarray, numbers: np.ndarray, out: np.ndarray
) -> None:
    """``out`` (n, k): how many of the reference scores (k, m) are below each of scores (n, k).

    Ties are in the order of uniform numbers: ``ties`` (n,) of the rows, and ``numbers`` (k, m) of
    the reference.
    """
    for x in range(scores.shape[1]):
        low = np.searchsorted(values[x], scores[:, x], "left")
        high = np.searchsorted(values[x], scores[:, x], "right")
        out[:, x] = low
        for i in np.flatnonzero(high > low):
            out[i, x] += np.searchsorted(numbers[x, low[i] : high[i]], ties[i], "left")


def bet(
    cells: np.ndarray,
    rows: np.ndarray,
    bets: np.ndarray,
    starts: np.ndarray,
    tails: np.ndarray,
    ages: np.ndarray,
    totals: np.ndarray,
    wealth: np.ndarray,
    runs: np.ndarray,
    began: np.ndarray,
    evidence: np.ndarray,
    changes: np.ndarray,
) -> None:
    """Bet on the cells (n, k) of k scores, and write evidence and estimated changes (n, k).

    A bet f pays e = f(cell) (balls) / (sum of f over all balls) on Polya's urn, whose balls are the
    cells and the earlier rows of the score.  Its wealth R becomes (R + start) e; the evidence is
    the mean of R over bets, plus the weight of later starts.

    Parameters
    ----------
    rows : (n,)
        Numbers of the rows.
    bets : (m + 1, b)
        Values of f.
    starts, tails : (n,)
        Prior weights of a start at each row, and of all later ones.
    ages : (k,)
        Earlier rows of each score.  Changed in place, as all that follows.
    totals, wealth : (k, b)
        Sums of f over all balls; R.
    runs, began : (k, b)
        Largest product of e up to now over all starts, and the row of this start.
    evidence, changes : (n, k)
        Results; ``changes`` has the start of the wealthiest bet.
    """
    size, count = bets.shape
    for i in range(len(cells)):
        factors = bets[cells[i]]
        balls = (size + ages)[:, np.newaxis]
        e = factors * balls / totals
        totals += factors
        again = runs <= 1.0
        began[again] = rows[i]
        runs[:] = np.minimum(np.maximum(runs, 1.0) * e, CAP)
        wealth[:] = np.minimum((wealth + starts[i]) * e, CAP)
        ages += 1
        evidence[i] = np.cumsum(wealth, axis=1)[:, -1] / count + tails[i]
        best = wealth.argmax(axis=1)
        changes[i] = began[np.arange(len(best)), best]
