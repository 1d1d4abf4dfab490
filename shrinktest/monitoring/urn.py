"""Urns: bets on the cells of several scores that share a reference size and a set of bets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest._machine_code import compiled_loop
from shrinktest.monitoring import urn_arrays

_STATE = ("values", "numbers", "ages", "totals", "wealth", "runs", "began")  # of every score
_PER_ROW = 2e-5  # seconds of numpy for a row


def _loop(name: str, rows: int) -> Callable[..., None]:
    """Return a loop, compiled or in numpy, for this many rows."""
    return compiled_loop(name, rows, _PER_ROW) or getattr(urn_arrays, name)


def projected(points: Array, weights: Array) -> Array:
    """Return sums (n, k) of points (n, d) with weights (d, k), so that equal rows tie."""
    out = np.empty((len(points), weights.shape[1]))
    _loop("projections", len(points))(points, weights, out)
    return out


def scores_of(columns: Array, direction: Array) -> Array:
    """Return sums (n,) of columns (d, n) with a direction (d,): `projected` of one direction."""
    out = np.empty(columns.shape[1])
    _loop("projection", len(out))(columns, direction, out)
    return out


def _ordered(scores: Array) -> tuple[np.ndarray, Array]:
    """Return a stable order of every row of scores (k, m), and the scores in it.

    A stable sort takes three times as long as others, which give the same without equal scores.
    """
    rows = np.arange(len(scores))[:, np.newaxis]
    orders = np.argsort(scores, axis=1)
    values = scores[rows, orders]
    if (values[:, 1:] == values[:, :-1]).any():
        orders = np.argsort(scores, axis=1, kind="stable")
        values = scores[rows, orders]
    return orders, np.ascontiguousarray(values)


@dataclass(eq=False)
class Urns:
    """Bets on the cells of k scores: e-values of Polya's urn, multiplied from every start on.

    Rows of the reference and of the stream that are independent draws of one distribution make the
    cells of a score a Polya urn, whatever the distribution, so that every bet is fair.  The
    evidence of a score is then a martingale with mean 1: no estimate enters.

    References: F. M. Hoppe, Polya-like urns and the Ewens' sampling formula, Journal of
    Mathematical Biology 20 (1984), 91-94, for the predictive distribution; J. Ville, Etude critique
    de la notion de collectif, 1939, for the bound on a martingale's maximum.
    """

    bets: Array  # (m + 1, b)
    values: Array  # (k, m): sorted scores of the reference
    numbers: Array  # (k, m): uniform numbers that break ties
    ages: np.ndarray  # (k,): rows seen
    totals: Array  # (k, b): sums of the bets over all balls
    wealth: Array  # (k, b)
    runs: Array  # (k, b): largest products over all starts
    began: np.ndarray  # (k, b): rows of these starts

    @classmethod
    def of(cls, scores: Array, ties: Array, bets: Array, wealth: float = 0.0) -> Urns:
        """Begin with the scores (m, k) and uniform numbers (m,) of reference rows.

        Every bet begins with this wealth.
        """
        if (ties[1:] < ties[:-1]).any():
            first = np.argsort(ties)
            ties = ties[first]
            scores = scores[first]
        orders, values = _ordered(scores.T)
        shape = (scores.shape[1], bets.shape[1])
        return cls(
            bets=bets,
            values=values,
            numbers=ties[orders],
            ages=np.zeros(shape[0], dtype=np.int64),
            totals=np.tile(bets.sum(axis=0), (shape[0], 1)),
            wealth=np.full(shape, wealth),
            runs=np.ones(shape),
            began=np.zeros(shape, dtype=np.int64),
        )

    def update(
        self, scores: Array, ties: Array, rows: np.ndarray, starts: Array, tails: Array
    ) -> tuple[Array, np.ndarray]:
        """Bet on rows by their scores (n, k).

        Return the evidence, and the estimated first rows after a change, both (n, k).
        """
        cells = np.empty(scores.shape, dtype=np.int64)
        _loop("cells", len(scores))(scores, ties, self.values, self.numbers, cells)
        evidence = np.empty(scores.shape)
        changes = np.empty(scores.shape, dtype=np.int64)
        state: tuple[Any, ...] = (self.ages, self.totals, self.wealth, self.runs, self.began)
        _loop("bet", len(scores))(cells, rows, self.bets, starts, tails, *state, evidence, changes)
        return evidence, changes

    def joined(self, other: Urns) -> Urns:
        """Return these urns and others with the same bets."""
        both = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _STATE
        }
        return Urns(self.bets, **both)

    def replace(self, place: int, other: Urns) -> None:
        """Put the one urn of others in the place of one of these."""
        for name in _STATE:
            getattr(self, name)[place] = getattr(other, name)[0]
