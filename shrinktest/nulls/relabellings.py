"""Relabellings: the splits of a pooled sample, the pairings of two variables, drawn at random or all of them."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest._loops import loops

_ROUNDS = 16  # bits to which unequal splits come close to the right size at once


@dataclass(frozen=True)
class Relabellings(ABC):
    """Row 0 is the identity; the rest is drawn uniformly, or all other relabellings where these are few enough.

    Parameters
    ----------
    n_resamples : int or inf
        Relabellings to draw; all of them are used instead when they are no more than this.
    rng : numpy.random.Generator
        Source of the draws; nothing else is random in a test.
    """

    n_resamples: float
    rng: np.random.Generator

    #: In words, where the design of the data allows some relabellings only.
    restriction = ""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of observations that a relabelling moves."""

    @property
    @abstractmethod
    def distinct(self) -> int:
        """Number of all relabellings that can give different statistics, the identity included."""

    @property
    @abstractmethod
    def magnitude(self) -> float:
        """About the natural logarithm of ``distinct``, which has too many digits to be computed for large samples."""

    @abstractmethod
    def _draw(self, rows: int) -> np.ndarray:
        """The next ``rows`` random relabellings."""

    @abstractmethod
    def _enumerate(self) -> Iterator[np.ndarray]:
        """All relabellings, the identity first."""

    def _seeds(self, rows: int) -> np.ndarray:
        return self.rng.integers(2**64 - 1, size=rows, dtype=np.uint64, endpoint=True)

    def skip(self, rows: int) -> None:
        """Leave the generator as drawing so many rows would."""
        self._seeds(rows)

    @property
    def exact(self) -> bool:
        """Whether all relabellings are used."""
        if self.n_resamples <= 0 or self.magnitude > math.log(self.n_resamples) + 1.0:
            return False
        return self.n_resamples == math.inf or self.distinct <= self.n_resamples

    @property
    def count(self) -> int:
        """Rows in all: every relabelling, or the identity and the drawn ones."""
        return self.distinct if self.exact else int(self.n_resamples) + 1

    def rows(self) -> Callable[[int], np.ndarray]:
        """A function that returns the next few rows; the sequence does not depend on how it is cut."""
        if self.exact:
            source = self._enumerate()
            return lambda rows: np.array(list(itertools.islice(source, rows)))
        first = [next(self._enumerate())]

        def take(rows: int) -> np.ndarray:
            head = [first.pop()] if first else []
            return np.concatenate([np.array(head), self._draw(rows - len(head))]) if head else self._draw(rows)

        return take


@dataclass(frozen=True)
class Splits(Relabellings):
    """Splits of m + n pooled observations into samples of m and n, as (B, m + n) membership masks.

    With m = n a split and its mirror image give the same statistic, so only one of each pair is enumerated.
    """

    m: int
    n: int

    @property
    def size(self) -> int:
        return self.m + self.n

    @property
    def distinct(self) -> int:
        return math.comb(2 * self.m - 1, self.m - 1) if self.m == self.n else math.comb(self.size, self.m)

    @property
    def magnitude(self) -> float:
        whole = math.lgamma(self.size + 1) - math.lgamma(self.m + 1) - math.lgamma(self.n + 1)
        return whole - math.log(2.0) if self.m == self.n else whole

    def _draw(self, rows: int) -> np.ndarray:
        chance, rounds = min(max(round(2**_ROUNDS * self.m / self.size), 1), 2**_ROUNDS - 1), _ROUNDS
        while chance % 2 == 0:
            chance, rounds = chance // 2, rounds - 1
        words = np.empty((rows, -(-self.size // 64)), dtype=np.uint64)
        loop = loops("draws", seconds=1e-7 * rows * math.sqrt(self.size)).splits
        loop(self._seeds(rows), self.size, self.m, chance, rounds, words)
        octets = words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.size, bitorder="little").view(bool)

    def _enumerate(self) -> Iterator[np.ndarray]:
        # with m = n, observation 0 stays in the first sample; the identity comes first either way
        fixed = 1 if self.m == self.n else 0
        for chosen in itertools.combinations(range(fixed, self.size), self.m - fixed):
            mask = np.zeros(self.size, dtype=bool)
            mask[:fixed] = True
            mask[list(chosen)] = True
            yield mask


@dataclass(frozen=True)
class Pairings(Relabellings):
    """Pairings of n observations of X with n of Y, as (B, n) permutations of Y."""

    n: int

    @property
    def size(self) -> int:
        return self.n

    @property
    def distinct(self) -> int:
        return math.factorial(self.n)

    @property
    def magnitude(self) -> float:
        return math.lgamma(self.n + 1)

    def _draw(self, rows: int) -> np.ndarray:
        from shrinktest._compiled.draws import permutations

        out = np.empty((rows, self.n), dtype=np.int64)
        permutations(self._seeds(rows), np.array([0, self.n]), out)
        return out

    def _enumerate(self) -> Iterator[np.ndarray]:
        return (np.array(p) for p in itertools.permutations(range(self.n)))
