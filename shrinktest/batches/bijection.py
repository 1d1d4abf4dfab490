"""Bijection: row numbers shuffled by a key, one at a time and without a table of them all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Bijection:
    """A permutation of 0, ..., n - 1 that takes no memory: a Feistel network with cycle walking.

    A number is a row and a column of a table, each of which is changed in turn by a function of the other; that can be
    undone, whatever the function.  What comes out beyond n goes in again (J. Black and P. Rogaway, Ciphers with
    arbitrary finite domains, CT-RSA 2002).

    Examples
    --------
    >>> shuffled = Bijection.drawn(10, np.random.default_rng(0))
    >>> sorted(shuffled(np.arange(10)).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    n: int  # less than 2^63
    keys: np.ndarray  # (rounds,), uint64: numbers of 32 bits

    @classmethod
    def drawn(cls, n: int, rng: np.random.Generator) -> Bijection:
        """One with random keys."""
        return cls(n, rng.integers(2**32, size=_ROUNDS, dtype=np.uint64))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Where these numbers go, as int64 of the same shape (k,)."""
        from shrinktest.batches.bijection_loops import images

        high = math.isqrt(self.n - 1) + 1  # rows of a table with a cell for each number, and hardly more
        low, out = -(-self.n // high), np.empty(len(numbers), dtype=np.uint64)
        images(numbers.astype(np.uint64), *map(np.uint64, (self.n, high, low)), self.keys, out)
        return out.astype(np.int64)
