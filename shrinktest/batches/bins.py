"""Bins: equally many rows each, chosen by a key, of which means of features are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shrinktest.batches.bijection import Bijection
from shrinktest.batches.crew import Crew
from shrinktest.batches.gather import gathered
from shrinktest.batches.rows import Rows
from shrinktest.batches.store import DATA, FEATURES, SEED, Store, digest
from shrinktest.batches.summands import Summands, summands_of
from shrinktest.batches.tasks import KeptReading
from shrinktest.kernels.feature_maps import steps
from shrinktest.kernels.inner import FeatureMap

_FEWEST = 20  # bins of the smallest sample, where it has as many rows
_BITS = 51  # of what is added up of a row, at most
_WIDER = 16  # powers of two by which numbers may be larger when rows are read once more
_LARGEST = 1000  # power of two beyond which they are no longer finite
_TIMES = 4  # as many rows as bins, at least, are in a task


@dataclass(frozen=True, eq=False)
class Binning:
    """Which row of which sample is in which bin."""

    rows: tuple[int, ...]  # of the samples
    size: int  # rows of a bin
    # of the numbers of the rows of every sample, which makes bins of those that come next to each other
    shuffles: tuple[Bijection, ...]
    # for every sample the rows that are kept of each of its pieces; default, as they come
    counts: tuple[tuple[int, ...], ...] | None = None
    probe: np.ndarray | None = None  # (p, d): rows by which it is foreseen how large features are
    checks: np.ndarray | None = None  # uint64: what tells the rows of every sample from others
    crew: Crew = field(default_factory=Crew)  # who reads the samples
    store: Store | None = None  # what has been read before

    @classmethod
    def drawn(cls, rows: tuple[int, ...], bins: int, rng: np.random.Generator, **options: Any) -> Binning:
        """About so many bins in all; more where a sample would have fewer than 20.  ``options`` are the others."""
        size = max(1, min(-(-sum(rows) // bins), min(rows) // _FEWEST))
        return cls(rows, size, tuple(Bijection.drawn(n, rng) for n in rows), **options)

    @property
    def bins(self) -> tuple[int, ...]:
        """Numbers of bins of the samples."""
        return tuple(n // self.size for n in self.rows)

    @property
    def used(self) -> tuple[int, ...]:
        """Rows of the samples that are in bins."""
        return tuple(n * self.size for n in self.bins)

    def means(
        self, samples: Sequence[Rows], features: Sequence[FeatureMap], memory: float = math.inf
    ) -> list[np.ndarray]:
        """Mean features (M, rank) of all bins, sample after sample, for each of several maps, in one reading.

        What is added up of a row is rounded to whole multiples of a power of two, of which 2^51 or so are the largest
        that there are; whole numbers add up to the same in any order, so that their bits depend on the rows and their
        numbers alone.

        Sums take ``memory`` bytes at most, those of tasks under way included, of which there are as many as fit, but
        one at least.  Raises ValueError where another reading finds other rows.
        """
        columns = 1 if self.probe is None else self.probe.shape[1]
        summands = tuple(summands_of(one, columns) for one in features)
        ends = np.cumsum([one.width for one in summands])[:-1]
        probe = np.zeros((1, columns)) if self.probe is None else self.probe
        exponents = np.concatenate([one.exponents(probe) for one in summands])
        each = 8.0 * len(exponents) * (max(self.bins) + 1)
        crew = self.crew.within(memory - 8.0 * len(exponents) * (sum(self.bins) + len(samples)), each)
        while True:
            alone = replace(self, counts=None, probe=None, checks=None, crew=Crew(), store=None)
            adding = Adding(alone, tuple(one.alone() for one in summands), exponents)
            total = gathered(samples, adding, crew, self.counts, self.store, self._of(samples, summands))
            if not any(map(adding.in_vain, total.found)):
                break
            exponents = exponents + _WIDER
            if exponents.max() > _LARGEST:
                raise ValueError(f"features of {list(features)!r} are no finite numbers for some rows")
        total.require(samples, self.rows)
        means = []
        for k, (one, powers) in enumerate(zip(summands, np.split(adding.powers, ends), strict=True)):
            sums = np.vstack([found.sums[k][:-1] for found in total.found])
            means.append(one.features(np.ldexp(sums.astype(np.float64), -powers) / self.size))
        return means

    def _of(self, samples: Sequence[Rows], summands: tuple[Summands, ...]) -> dict[str, str]:
        """Texts that stand for all that sums depend on."""
        if self.store is None:
            return {}
        return {
            SEED: digest(self.shuffles),
            DATA: digest(self.rows, self.probe, [rows.batches.size for rows in samples], self.checks),
            FEATURES: digest(self.size, summands),
        }


@dataclass(eq=False)
class Sums:
    """Whole sums of the bins of one sample, and in the last row those of the rows that are left over."""

    sums: list[np.ndarray]  # (bins + 1, width), int64: for each of the summands
    beyond: bool = False  # whether a row had more than a whole number of as many bits as there may be

    def merge(self, other: Sums) -> None:
        """Add those of other rows."""
        self.beyond |= other.beyond
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            mine += theirs


@dataclass(frozen=True, eq=False)
class Adding(KeptReading):
    """What is added up of rows, in bins."""

    name = "sums"

    binning: Binning
    summands: tuple[Summands, ...]
    exponents: np.ndarray  # (width,): powers of two that no number should reach

    @property
    def least(self) -> int:  # type: ignore[override]
        return _TIMES * max(self.binning.bins)

    @property
    def bits(self) -> int:
        """Bits of a whole number, so that those of a bin add up to less than 2^62."""
        return min(_BITS, 62 - self.binning.size.bit_length())

    @property
    def powers(self) -> np.ndarray:
        """Powers of two (width,) by which what is added up of a row becomes a whole number, once rounded."""
        return np.asarray(self.bits - self.exponents)

    def start(self, sample: int) -> Sums:
        bins = self.binning.bins[sample] + 1
        return Sums([np.zeros((bins, one.width), dtype=np.int64) for one in self.summands])

    def add(self, found: Sums, sample: int, first: int, values: np.ndarray) -> None:
        from shrinktest.kernels.kernel_loops import add_up

        n, last, shuffled = self.binning.rows[sample], self.binning.bins[sample], self.binning.shuffles[sample]
        values = values[: max(0, n - first)]  # what is beyond is an error once all is read
        places = np.minimum(shuffled(np.arange(first, first + len(values))) // self.binning.size, last)
        order = np.argsort(places, kind="stable")  # rows of a bin one after the other, whose sums stay in the cache
        scale, start = np.ldexp(1.0, self.powers), 0
        for one, sums in zip(self.summands, found.sums, strict=True):
            factors = scale[start : start + one.width]
            for some in steps(len(values), one.width):
                rows = np.ascontiguousarray(values[order[some]], dtype=np.float64)
                if not add_up(one.of(rows), places[order[some]], factors, self.bits, sums):
                    found.beyond = True
                    return
            start += one.width

    def merge(self, found: Sums, other: Sums) -> None:
        found.merge(other)

    def in_vain(self, found: Sums) -> bool:
        return found.beyond

    def packed(self, found: Sequence[Sums]) -> dict[str, np.ndarray]:
        sums = {f"{i} {k}": one for i, sample in enumerate(found) for k, one in enumerate(sample.sums)}
        return {"exponents": self.exponents, **sums}

    def unpacked(self, arrays: Mapping[str, np.ndarray]) -> list[Sums] | None:
        wider = int((arrays["exponents"] - self.exponents).max())  # than these, which are then in vain
        if wider < 0:
            return None
        numbers = range(len(self.summands))
        return [Sums([arrays[f"{i} {k}"] for k in numbers], wider > 0) for i in range(len(self.binning.rows))]
