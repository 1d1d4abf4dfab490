"""Witnesses: directions learned from the stream, which bet on later rows only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shrinktest._check import Array
from shrinktest.monitoring.bets import UPWARD, tilts
from shrinktest.monitoring.starts import share_of_witness
from shrinktest.monitoring.urn import Urns, projected, scores_of

_KEPT = 6  # witnesses; the least promising of them stops
_LEAST_STRIDE = 32


@dataclass(eq=False)
class Witnesses:
    """Mean features of the last rows less those of half A, learned again and again.

    A witness is fixed before the rows that it bets on, and these are ranked among half B, so that
    it is one more score.  Its share of alpha depends on its number alone.  Stopping one can only
    remove alarms.
    """

    curved: bool  # True for waves and products, False for the columns themselves
    width: int  # rows that a witness is learned from
    rate: bool  # True if a run length is bounded: then a witness starts with its stride
    mean: Array  # (m,): of the features of half A
    urns: Urns
    window: Array  # the last rows
    directions: Array  # (m, k)
    priors: Array = field(default_factory=lambda: np.empty(0))
    born: int = 0
    newest: int = 0  # place of the last one

    @classmethod
    def of(
        cls,
        features: Array,
        background: Array,
        ties: Array,
        width: int,
        *,
        curved: bool,
        rate: bool,
    ) -> Witnesses:
        """Begin without witnesses, with the features of half A and of rows of half B."""
        size = features.shape[1]
        bets = tilts(len(background), UPWARD)
        none = Urns.of(np.empty((len(background), 0)), ties, bets)
        window = np.empty((0, size))
        return cls(curved, width, rate, features.mean(axis=0), none, window, np.empty((size, 0)))

    @property
    def stride(self) -> int:
        """Rows after which a new witness is learned."""
        return max(self.width // 2, _LEAST_STRIDE)

    def update(
        self, features: Array, ties: Array, age: int, background: Array, numbers: Array
    ) -> Array:
        """Bet on rows, learning in between; return the largest evidence (n,) after each.

        ``features`` (n, m) are of the rows, ``age`` is the number of rows before, ``background``
        (m, b) are the features of half B, in the order of the ``numbers`` (b,) that break ties.
        """
        evidence = np.zeros(len(features))
        start = 0
        while start < len(features):
            stop = min(len(features), start + self.stride - (age + start) % self.stride)
            part = slice(start, stop)
            if self.directions.shape[1]:
                evidence[part] = self._evidence(features[part], ties[part])
            self.window = np.concatenate([self.window, features[part]])[-self.width :]
            if (age + stop) % self.stride == 0 and len(self.window) == self.width:
                self._learn(background, numbers)
            start = stop
        return evidence

    def _evidence(self, features: Array, ties: Array) -> Array:
        rows = np.zeros(len(features), dtype=np.int64)
        nothing = np.zeros(len(features))
        scores = projected(features, self.directions)
        products, _ = self.urns.update(scores, ties, rows, nothing, nothing)
        return np.asarray((products * self.priors).max(axis=1))

    def _learn(self, columns: Array, numbers: Array) -> None:
        """Add the witness of the window, in place of an older one if there are many."""
        direction = self.window.mean(axis=0) - self.mean
        scores = scores_of(columns, direction)[:, np.newaxis]
        urn = Urns.of(scores, numbers, self.urns.bets, 1.0)
        prior = float(self.stride) if self.rate else share_of_witness(self.born)
        self.born += 1
        if len(self.priors) < _KEPT:
            self.newest = len(self.priors)
            self.urns = self.urns.joined(urn)
            self.priors = np.append(self.priors, prior)
            both = np.hstack([self.directions, direction[:, np.newaxis]])
            self.directions = np.ascontiguousarray(both)
            return
        promise = self.priors * self.urns.wealth.mean(axis=1)
        promise[self.newest] = np.inf
        self.newest = int(np.argmin(promise))
        self.urns.replace(self.newest, urn)
        self.priors[self.newest] = prior
        self.directions[:, self.newest] = direction
