"""Stream: everything that a monitor knows, updated by rows in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest.monitoring import starts
from shrinktest.monitoring.encoder import Curved, Encoder
from shrinktest.monitoring.layout import Layout
from shrinktest.monitoring.scores import OfColumns, OfLevels, OfModels, OfNovelty, OfPairs, Rows
from shrinktest.monitoring.urn import Urns
from shrinktest.monitoring.witnesses import Witnesses

_CHUNK = 512  # rows that are computed together
_RECENT = 2000  # rows that are kept, fewer of many columns
_NUMBERS = 200_000  # that are kept of them
_HISTORY = 2000  # batches of which the evidence is kept; more are put together in twos


@dataclass(frozen=True)
class Score:
    """Name and share of alpha of a score."""

    name: str
    kind: str  # "column", "pair", "novelty", "model" or "witness"
    share: float
    place: int = -1  # of a column


@dataclass(eq=False)
class Bank:
    """Scores that share bets: a function of rows, and the urns of its scores."""

    function: Any
    urns: Urns


@dataclass(frozen=True)
class Alarm:
    """An alarm of a score: its row, the estimated first row after the change, and its label."""

    row: int
    change: int | None
    label: str
    when: str | None = None
    change_when: str | None = None


@dataclass(eq=False)
class Stream:
    """State of a monitor between two rows."""

    layout: Layout
    scores: tuple[Score, ...]  # of the banks in their order, then of the witnesses
    threshold: float  # of evidence
    rate: bool  # True if a run length is bounded, False for a level
    banks: tuple[Bank, ...]
    witnesses: tuple[Witnesses, ...]
    encoder: Encoder
    curved: Curved | None
    background: Array  # (b, features): encoded rows of half B that witnesses are ranked among
    numbers: Array  # (b,): break their ties
    ties: np.random.Generator  # one uniform number for a row
    rows: int = 0  # all rows
    age: int = 0  # rows without those that were left out
    evidence: Array = field(default_factory=lambda: np.empty(0))  # of every score now
    largest: Array = field(default_factory=lambda: np.empty(0))  # and so far
    alarms: dict[int, Alarm] = field(default_factory=dict)  # by the place of the score
    first: Alarm | None = None  # the alarm of the monitor
    by: int = -1  # the score of this alarm
    to_scan: Array | None = None  # encoded rows up to an alarm without an estimated change
    scanned: np.ndarray = field(
        default_factory=lambda: np.empty(0, dtype=np.int64)
    )  # their numbers
    recent: Array = field(default_factory=lambda: np.empty((0, 0)))  # the last rows
    places: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    times: dict[int, str] = field(default_factory=dict)  # of rows that a change may begin with
    history: list[dict[str, Any]] = field(default_factory=list)
    _features: dict[bool, Array] = field(default_factory=dict)  # of the background, transposed

    def __post_init__(self) -> None:
        if not self.evidence.size:
            self.evidence = np.zeros(len(self.scores))
            self.largest = np.zeros(len(self.scores))
            self.recent = np.empty((0, len(self.layout.names)))

    @property
    def shares(self) -> Array:
        """Return the shares of alpha of all scores."""
        return np.array([score.share for score in self.scores])

    @property
    def kept(self) -> int:
        """Return how many of the last rows are kept."""
        return min(_RECENT, max(100, _NUMBERS // max(1, self.recent.shape[1])))

    def update(
        self, values: Array, models: Array, places: np.ndarray, times: Sequence[str] | None
    ) -> float:
        """Bet on rows (n, d) with these numbers and times; return the largest evidence."""
        largest = 0.0
        for start in range(0, len(values), _CHUNK):
            part = slice(start, start + _CHUNK)
            if times is not None:
                self.times.update(zip(places[part].tolist(), times[part], strict=True))
            evidence = self._update(values[part], models[part], places[part])
            largest = max(largest, float(evidence.max(initial=0.0)))
        if len(self.times) > 2 * self.kept:
            self._forget_times()
        return largest

    def count(self, rows: int, evidence: float, time: str | None) -> None:
        """Count all rows of a batch, and keep its largest evidence."""
        self.rows += rows
        self.history.append({"rows": self.rows, "evidence": evidence, "time": time})
        if len(self.history) > _HISTORY:
            pairs = zip(self.history[::2], self.history[1::2], strict=False)
            merged = [b | {"evidence": max(a["evidence"], b["evidence"])} for a, b in pairs]
            self.history = merged + self.history[2 * len(merged) :]

    def _update(self, values: Array, models: Array, places: np.ndarray) -> Array:
        ties = self.ties.random(len(values))
        count = self.age + np.arange(len(values), dtype=np.float64)
        later = np.zeros(len(values)) if self.rate else starts.remaining(count)
        begin = np.ones(len(values)) if self.rate else starts.remaining(count - 1.0) - later
        encoded = self.encoder(values)
        rows = Rows(values, encoded, models)
        evidence = []
        changes = []
        for bank in self.banks:
            own, change = bank.urns.update(bank.function(rows), ties, places, begin, later)
            evidence.append(own)
            changes.append(change)
        features = {}
        for witnesses in self.witnesses:
            curved = witnesses.curved
            if curved not in features:
                features[curved] = self.features(encoded, curved=curved)
            if curved not in self._features:
                features_of_half = self.features(self.background, curved=curved)
                self._features[curved] = np.ascontiguousarray(features_of_half.T)
            background = self._features[curved]
            largest = witnesses.update(features[curved], ties, self.age, background, self.numbers)
            evidence.append(largest[:, np.newaxis])
        together = np.hstack(evidence) * self.shares
        self._keep(values, places)
        self._find(together, np.hstack([*changes, np.empty((len(values), 0), dtype=int)]), places)
        self.recent = self.recent[-self.kept :]
        self.places = self.places[-self.kept :]
        self.age += len(values)
        self.evidence = together[-1]
        self.largest = np.maximum(self.largest, together.max(axis=0))
        return together

    def features(self, encoded: Array, *, curved: bool) -> Array:
        """Return the features of encoded rows that a kind of witness is a direction in."""
        return self.curved(encoded) if curved and self.curved is not None else encoded

    def until(self, row: int) -> tuple[Array, np.ndarray]:
        """Return the last kept rows up to one of them, and their numbers."""
        seen = self.places <= row
        return self.recent[seen][-self.kept :], self.places[seen][-self.kept :]

    def settle(self, place: int) -> None:
        """Record the change of the first alarm as the row of this place in the rows to scan."""
        assert self.first is not None
        number = int(self.scanned[place])
        self.first = replace(self.first, change=number, change_when=self.times.get(number))
        self.to_scan = None

    def _keep(self, values: Array, places: np.ndarray) -> None:
        self.recent = np.concatenate([self.recent, values])
        self.places = np.concatenate([self.places, places])

    def _find(self, evidence: Array, changes: np.ndarray, places: np.ndarray) -> None:
        """Record the scores that reach the threshold for the first time."""
        reached = evidence >= self.threshold
        for place in np.flatnonzero(reached.any(axis=0)):
            if int(place) not in self.alarms:
                row = int(reached[:, place].argmax())
                self.alarms[int(place)] = self._alarm(int(place), row, changes, places)
        high = np.flatnonzero(reached.any(axis=1))
        if self.first is None and high.size:
            row = int(high[0])
            self.by = int(evidence[row].argmax())
            self.first = self._alarm(self.by, row, changes, places)
            if self.first.change is None:
                last, self.scanned = self.until(int(places[row]))
                self.to_scan = self.encoder(last)

    def _alarm(self, place: int, row: int, changes: np.ndarray, places: np.ndarray) -> Alarm:
        change = int(changes[row, place]) if place < changes.shape[1] else None
        number = int(places[row])
        score = self.scores[place]
        label = score.name
        if score.place >= 0 and self._lowest_cells(place, change, number):
            label = f"{label} (missing)"
        when = self.times.get(number)
        change_when = None if change is None else self.times.get(change)
        return Alarm(number, change, label, when, change_when)

    def _lowest_cells(self, place: int, change: int | None, number: int) -> bool:
        """Return True if a numeric column changed in its missing values more than in others."""
        bank = self.banks[0]
        if not isinstance(bank.function, OfColumns) or place >= len(bank.urns.values):
            return False
        last, numbers = self.until(number)  # the same rows however the stream is cut
        new = last[numbers >= (change or 0), self.scores[place].place]
        old = bank.urns.values[place]
        gaps = np.isnan(new)
        if not gaps.any() and not np.isinf(old).any():
            return False
        known = old[~np.isinf(old)]
        present = new[~gaps]
        n = len(old)
        m = len(new)
        share = (np.isinf(old).sum() + gaps.sum()) / (n + m)
        scale = np.sqrt(share * (1.0 - share) * (1.0 / n + 1.0 / m)) or 1.0
        moved = abs(gaps.mean() - np.isinf(old).mean()) / scale
        if not present.size or not known.size:
            return True
        below = np.searchsorted(known, present, "left") + np.searchsorted(known, present, "right")
        area = float((below / (2.0 * len(known))).mean())
        sizes = len(known), len(present)
        spread = np.sqrt((sum(sizes) + 1.0) / (12.0 * sizes[0] * sizes[1]))
        return bool(moved > abs(area - 0.5) / spread)

    def _forget_times(self) -> None:
        """Keep the times of the last rows, and of rows that a change may begin with."""
        needed = {int(row) for bank in self.banks for row in np.unique(bank.urns.began)}
        needed |= {*self.places.tolist(), *self.scanned.tolist()}
        self.times = {row: time for row, time in self.times.items() if row in needed}


#: Dataclasses in the file of a state, by name.
CLASSES: dict[str, Any] = {
    made.__name__: made
    for made in (
        *(Layout, Encoder, Curved, Urns, Witnesses, Bank, Score, Alarm, Stream),
        *(OfColumns, OfLevels, OfPairs, OfNovelty, OfModels),
    )
}
