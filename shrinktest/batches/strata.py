"""Strata: rows that stand for all rows of samples in batches, if the rows of a random sample are often equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from shrinktest.batches.crew import Crew
from shrinktest.batches.gather import gathered
from shrinktest.batches.hashes import hashed
from shrinktest.batches.rows import Rows
from shrinktest.batches.store import DATA, Store, digest
from shrinktest.batches.tasks import KeptReading
from shrinktest.kernels.bandwidths import distinct, repeats, stratified

_MOST = 2000  # distinct rows that are kept
_KEYS = np.array([3, 4], dtype=np.uint64)


def representative(
    samples: Sequence[Rows],
    sample: Sequence[np.ndarray],
    columns: Sequence[slice],
    counts: Sequence[Sequence[int]],
    crew: Crew,
    store: Store | None,
) -> list[np.ndarray]:
    """Return, for each group of columns, rows that stand for those of all samples.

    ``sample`` has the random sample of each group.  It is returned, unless more than a tenth of the pairs of its rows
    are equal.  Then the samples, of which ``counts`` has the rows of each piece, are read once more, and every value
    gets its share of rows, rare values included.
    """
    total = sum(map(sum, counts))
    often = [i for i, rows in enumerate(sample) if len(rows) < total and repeats(rows)]
    out = list(sample)
    if not often:
        return out
    reading = Distinct(
        tuple((columns[i].start, columns[i].stop) for i in often), tuple(frequent(sample[i]) for i in often)
    )
    depends = {DATA: digest(counts, reading.columns, reading.frequent)}
    found = gathered(samples, reading, crew, counts, store, depends)
    found.require(samples, list(map(sum, counts)))
    for k, i in enumerate(often):
        kept = Kept()
        for one in found.found:
            kept.merge(one[k])
        out[i] = kept.strata(len(sample[i]), total, len(reading.frequent[k]))
    return out


@dataclass(eq=False)
class Kept:
    """The distinct rows with the smallest hashes, and how often each occurs."""

    hashes: np.ndarray | None = None  # (k,), uint64, ascending
    counts: np.ndarray | None = None  # (k,)
    rows: np.ndarray | None = None  # (k, d)

    def add(self, rows: np.ndarray, frequent: np.ndarray) -> None:
        """Add rows (n, d), those with ``frequent`` hashes before all others."""
        rows = np.asarray(rows, dtype=np.float64)
        hashes = hash_of(rows)
        if len(frequent):
            places = np.minimum(np.searchsorted(frequent, hashes), len(frequent) - 1)
            hashes = np.where(frequent[places] == hashes, places.astype(np.uint64), hashes)
        if self.hashes is not None and len(self.hashes) == _MOST:
            few = hashes <= self.hashes[-1]
            rows, hashes = rows[few], hashes[few]
        _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        self.merge(Kept(hashes[first], counts, rows[first]))

    def merge(self, other: Kept) -> None:
        """Add what was kept of other rows.

        The counts are exact in any order: a row among those with the smallest hashes of all is among those of a part.
        """
        if self.hashes is None or self.counts is None or self.rows is None:
            self.hashes, self.counts, self.rows = other.hashes, other.counts, other.rows
        elif other.hashes is not None and other.counts is not None and other.rows is not None:
            hashes, counts = np.r_[self.hashes, other.hashes], np.r_[self.counts, other.counts]
            kept, first, place = np.unique(hashes, return_index=True, return_inverse=True)
            together = np.bincount(place, weights=counts).astype(np.int64)
            rows = np.vstack([self.rows, other.rows])[first[:_MOST]]
            self.hashes, self.counts, self.rows = kept[:_MOST], together[:_MOST], rows

    def strata(self, number: int, total: int, frequent: int) -> np.ndarray:
        """About ``number`` rows that stand for all ``total`` rows; the ``frequent`` rows come first."""
        assert self.hashes is not None and self.counts is not None and self.rows is not None
        counts = self.counts.astype(np.float64)
        if len(counts) == _MOST:  # the others are a random part of all distinct rows
            counts[frequent:] = (total - counts[:frequent].sum()) / (_MOST - frequent)
        order = np.lexsort(self.rows.T[::-1])
        return stratified(self.rows[order], counts[order], number)


@dataclass(frozen=True, eq=False)
class Distinct(KeptReading):
    """The distinct rows of groups of columns."""

    name = "distinct rows"

    columns: tuple[tuple[int, int], ...]  # of each group: the first, and the one behind the last
    frequent: tuple[np.ndarray, ...]  # hashes of the rows of each group that a random sample has more than once

    def start(self, sample: int) -> list[Kept]:
        return [Kept() for _ in self.columns]

    def add(self, found: list[Kept], sample: int, first: int, values: np.ndarray) -> None:
        for kept, (start, stop), frequent in zip(found, self.columns, self.frequent, strict=True):
            kept.add(values[:, start:stop], frequent)

    def merge(self, found: list[Kept], other: list[Kept]) -> None:
        for mine, theirs in zip(found, other, strict=True):
            mine.merge(theirs)

    def packed(self, found: Sequence[list[Kept]]) -> dict[str, np.ndarray]:
        return {
            f"{i} {k} {name}": values
            for i, sample in enumerate(found)
            for k, kept in enumerate(sample)
            for name, values in vars(kept).items()
            if values is not None
        }

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[list[Kept]]:
        samples = 1 + max(int(name.split()[0]) for name in arrays)
        return [
            [Kept(*(arrays.get(f"{i} {k} {one.name}") for one in fields(Kept))) for k in range(len(self.columns))]
            for i in range(samples)
        ]


def frequent(sample: np.ndarray) -> np.ndarray:
    """The hashes, ascending, of the rows that occur more than once in a sample."""
    rows, counts = distinct(sample)
    return np.sort(hash_of(rows[counts > 1.0]))


def hash_of(rows: np.ndarray) -> np.ndarray:
    """A number (n,), uint64, for each of the rows (n, d), the same for equal rows."""
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # -0 is 0
    places = hashed(np.arange(bits.shape[1], dtype=np.uint64), _KEYS)
    return hashed(hashed(bits ^ places, _KEYS).sum(axis=1), _KEYS)
