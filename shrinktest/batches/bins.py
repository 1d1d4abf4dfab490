"""Bins: equally many rows each, chosen by a key, of which means of features are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shrinktest._progress import advancing
from shrinktest.batches.bijection import Bijection
from shrinktest.batches.blocks import Rows
from shrinktest.kernels.base import FiniteRank

_FEWEST = 20  # bins of the smallest sample, where it has as many rows
_ROWS = 2**11  # at a time


@dataclass(frozen=True, eq=False)
class Binning:
    """Which row of which sample is in which bin.

    Parameters
    ----------
    rows : tuple of int
        Of the samples.
    size : int
        Rows of a bin.
    shuffles : tuple of Bijection
        Of the row numbers of every sample, which makes bins of those that come next to each other.
    """

    rows: tuple[int, ...]
    size: int
    shuffles: tuple[Bijection, ...]

    @classmethod
    def drawn(cls, rows: tuple[int, ...], bins: int, rng: np.random.Generator) -> Binning:
        """About so many bins in all; more where a sample would have fewer than 20."""
        size = max(1, min(-(-sum(rows) // bins), min(rows) // _FEWEST))
        return cls(rows, size, tuple(Bijection.drawn(n, rng) for n in rows))

    @property
    def bins(self) -> tuple[int, ...]:
        """Numbers of bins of the samples."""
        return tuple(n // self.size for n in self.rows)

    @property
    def used(self) -> tuple[int, ...]:
        """Rows of the samples that are in bins."""
        return tuple(n * self.size for n in self.bins)

    def means(self, samples: Sequence[Rows], features: Sequence[FiniteRank]) -> list[np.ndarray]:
        """Mean features (M, rank) of all bins, sample after sample, for each of several maps, in one reading.

        The sums of a block are added in the order of rows, and those of blocks one after the other, so that their bits
        depend on the rows and their numbers alone.

        Raises
        ------
        ValueError
            Where another reading finds other rows.
        """
        found = [self._sums(i, rows, features) for i, rows in enumerate(samples)]
        return [np.vstack(parts) / self.size for parts in zip(*found, strict=True)]

    def _sums(self, sample: int, rows: Rows, features: Sequence[FiniteRank]) -> list[np.ndarray]:
        from scipy.sparse import csc_array

        n, bins, shuffled = self.rows[sample], self.bins[sample], self.shuffles[sample]
        sums: list[np.ndarray] = []
        read, advance = 0, advancing(-(-n // _ROWS))
        for block in rows.blocks(_ROWS):
            if read + len(block) > n:
                read += len(block)
                break
            places = np.minimum(shuffled(np.arange(read, read + len(block))) // self.size, bins)
            shape = bins + 1, len(block)
            into = csc_array((np.ones(len(block)), places, np.arange(len(block) + 1)), shape=shape)
            # adds row by row; the last bin is for those left over
            parts = [into @ one.coordinates(block) for one in features]
            sums = parts if not sums else [np.add(one, part, out=one) for one, part in zip(sums, parts, strict=True)]
            read += len(block)
            advance()
        if read != n or not sums:
            raise ValueError(
                f"{rows.name} had {n} rows when it was read first, and {'more' if read > n else read} the second time: "
                "it must give the same rows in the same order whenever it is iterated over"
            )
        return [one[:bins] for one in sums]
