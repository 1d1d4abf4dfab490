"""Bijection: row numbers shuffled by a key, one at a time and without a table of them all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROUNDS = 8
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)  # the mixing constants of MurmurHash3
_SHIFT = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Bijection:
    """A permutation of 0, ..., n - 1 that takes no memory: a Feistel network with cycle walking.

    The bits of a number are cut into two parts, each of which is changed in turn by a function of the other; that can
    be undone, whatever the function.  What comes out beyond n goes in again (J. Black and P. Rogaway, Ciphers with
    arbitrary finite domains, CT-RSA 2002).

    Parameters
    ----------
    n : int
    keys : ndarray of uint64
        One for every round.

    Examples
    --------
    >>> shuffled = Bijection.drawn(10, np.random.default_rng(0))
    >>> sorted(shuffled(np.arange(10)).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    n: int
    keys: np.ndarray

    @classmethod
    def drawn(cls, n: int, rng: np.random.Generator) -> Bijection:
        """One with random keys."""
        return cls(n, rng.integers(2**64, size=_ROUNDS, dtype=np.uint64))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Where these numbers go, as int64 of the same shape (k,)."""
        found = self._once(numbers.astype(np.uint64))
        beyond = np.flatnonzero(found >= self.n)
        while beyond.size:
            again = self._once(found[beyond])
            found[beyond] = again
            beyond = beyond[again >= self.n]
        return found.astype(np.int64)

    def _once(self, numbers: np.ndarray) -> np.ndarray:
        """One pass through the network, within the powers of 2 from n on."""
        bits = max(2, (self.n - 1).bit_length())
        low = np.uint64(bits // 2)
        masks = np.uint64((1 << (bits - bits // 2)) - 1), np.uint64((1 << bits // 2) - 1)
        parts = [numbers >> low, numbers & masks[1]]
        for turn, key in enumerate(self.keys):
            one = turn % 2
            parts[one] = parts[one] ^ (_mixed(parts[1 - one], key) & masks[one])
        return np.asarray(parts[0] << low | parts[1])


def hashed(numbers: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Random bits (k,) by numbers and keys, both uint64; different ones for different numbers."""
    for key in keys:
        numbers = _mixed(numbers, key)
    return numbers


def _mixed(numbers: np.ndarray, key: np.uint64) -> np.ndarray:
    """Numbers and a key, every bit of which changes about half of the bits of what comes out."""
    mixed = (numbers ^ key) * _FIRST
    mixed ^= mixed >> _SHIFT
    mixed *= _SECOND
    mixed ^= mixed >> _SHIFT
    return mixed
