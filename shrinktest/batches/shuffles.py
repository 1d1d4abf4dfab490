"""Shuffles: permutations of all rows of a test by keys, which tell of any row in which sample it is in each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest.batches.bijection import Bijection, drawn_keys


@dataclass(frozen=True, eq=False)
class Shuffles:
    """Random permutations of 0, ..., n - 1 that take no memory: bijections, each with keys of its own.

    Those of ``keys`` come after that of ``start`` has been undone.  Then ranks among them have exact level whatever
    the distribution of a network with random keys is, so that nothing hangs on how random it looks: seen from the rows
    with ``start`` undone, this one and the others are alike (A. Ramdas, R. Foygel Barber, E. Candes and R. Tibshirani,
    Permutation tests using arbitrary permutation distributions, Sankhya A 85:1156-1177, 2023).

    Examples
    --------
    >>> shuffles = Shuffles.drawn(10, 3, np.random.default_rng(0))
    >>> octets = shuffles.octets(0, 10, (4, 6))  # of the first sample
    >>> np.unpackbits(octets[0], axis=0).sum(axis=0).tolist()
    [4, 4, 4]
    """

    start: Bijection
    keys: np.ndarray  # (B, rounds), uint64: those of a bijection for each permutation

    @classmethod
    def drawn(cls, n: int, count: int, rng: np.random.Generator) -> Shuffles:
        """So many with random keys."""
        return cls(Bijection.drawn(n, rng), drawn_keys(rng, (count,)))

    def octets(self, first: int, count: int, sizes: tuple[int, ...]) -> np.ndarray:
        """Which of ``count`` successive rows are in which sample of these sizes, but the last one, as bits.

        They are of uint8, shape (k - 1, octets, B), as ``feature_sums`` takes them.
        """
        from shrinktest._compiled.bijections import octets_of_rows
        from shrinktest.statistics.sum_loops import COLUMNS, OCTETS

        out = np.zeros((len(sizes) - 1, -(-count // COLUMNS) * OCTETS, len(self.keys)), dtype=np.uint8)
        fixed = map(np.uint64, (self.start.n, *self.start.table))
        ends = np.cumsum(sizes[:-1]).astype(np.uint64)
        octets_of_rows(np.uint64(first), count, *fixed, self.start.keys, self.keys, ends, out)
        return out
