"""Permutations: the base class of all schemes, and random draws from one."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

_KEPT = 2**23  # entries of permutations that are drawn once and kept
_CHUNK = 2**22  # entries of a chunk, which is drawn at once
_FEWEST = 16  # rows of a chunk
_DIGITS = 700.0  # natural logarithm of the largest number of permutations that is counted exactly


class Permutations(ABC):
    """Permutations of N observations that leave the distribution of the data unchanged under the null hypothesis.

    A scheme of your own is a frozen dataclass with ``size``, ``distinct``, ``draw`` and ``all``; every test takes it
    as ``permutations=``.  The level is exact if the data have the same distribution after each permutation, and the
    permutations form a group or are those over which the experiment was randomized.

    Examples
    --------
    Experiments in which the first two of four units always had different treatments:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import Permutations, permutation_test
    >>> @dataclass(frozen=True)
    ... class Allotments(Permutations):
    ...     size, distinct = 4, 4
    ...     def all(self):
    ...         return iter(np.array([[0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0]]))
    ...     def draw(self, rng, rows):
    ...         return np.array(list(self.all()))[rng.integers(4, size=rows)]
    >>> response = np.array([1.0, 3.0, 2.0, 4.0])
    >>> permutation_test(lambda labels: response @ labels, Allotments(), alpha=0.3).pvalue
    0.25
    """

    #: What is permuted, in words, if the design of the data restricts it.
    restriction: str = ""
    #: True if the permutations are equally likely, so that all of them can replace random ones.
    equally_likely: ClassVar[bool] = True

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of observations N that a permutation moves."""

    @property
    @abstractmethod
    def distinct(self) -> float:
        """Number of permutations that can give different statistics, the identity included; may be ``math.inf``."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Draw random permutations (rows, N): labels 0, 1, ... of samples, places of rows, or signs."""

    @abstractmethod
    def all(self) -> Iterator[np.ndarray]:
        """Enumerate all permutations, the data as they are first."""


def counted(log_count: float, count: Any) -> float:
    """Number of permutations from its logarithm and a function that counts exactly; inf if it has too many digits."""
    return math.inf if log_count > _DIGITS else count()


@dataclass(frozen=True, eq=False)
class Draws:
    """The permutations of one test: all of them if there are at most ``n_resamples``, else the data and random ones.

    Rows are drawn in chunks whose size depends on the scheme alone.  Each chunk has a generator of its own, so any
    thread may draw any chunk, and several statistics share the same permutations by sharing this value.
    """

    permutations: Permutations
    n_resamples: float  # a whole number, or inf for all
    seed: np.random.SeedSequence
    _chunks: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False)
    _stream: list[Iterator[np.ndarray]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, permutations: Permutations, n_resamples: float, rng: np.random.Generator) -> Draws:
        """Take a seed from a generator, which moves on."""
        if not permutations.equally_likely and n_resamples == math.inf:
            raise ValueError("n_resamples=inf needs equally likely permutations; give a number such as 9999")
        return cls(permutations, n_resamples, seed_from(rng))

    @cached_property
    def exact(self) -> bool:
        """True if all permutations are used."""
        return (
            self.permutations.equally_likely
            and self.n_resamples > 0
            and (self.n_resamples == math.inf or self.permutations.distinct <= self.n_resamples)
        )

    @cached_property
    def count(self) -> int:
        """Number of rows: all permutations, or the data as they are and the random ones."""
        if not self.exact:
            return int(self.n_resamples) + 1
        if self.permutations.distinct == math.inf:
            raise ValueError("n_resamples=inf asks for too many permutations; give a number such as 9999")
        return int(self.permutations.distinct)

    @cached_property
    def chunk(self) -> int:
        """Rows of a chunk."""
        return self.count if self.exact else max(_FEWEST, _CHUNK // max(1, self.permutations.size))

    def rows(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Permutations ``start`` to before ``stop``, row 0 being the data as they are."""
        stop = self.count if stop is None else min(stop, self.count)
        if self.exact:
            return self._enumerated(start, stop)
        first = [self.identity[None]] if start == 0 else []
        low, high = max(start, 1) - 1, stop - 1  # among random rows
        parts = [
            self._random(k)[max(0, low - k * self.chunk) : high - k * self.chunk]
            for k in range(low // self.chunk, -(-high // self.chunk))
        ]
        joined = [*first, *parts]
        return joined[0] if len(joined) == 1 else np.concatenate(joined)

    @cached_property
    def identity(self) -> np.ndarray:
        """The data as they are."""
        return np.asarray(next(iter(self.permutations.all())))

    def _enumerated(self, start: int, stop: int) -> np.ndarray:
        """Rows of the enumeration, which goes on where the last call ended if there are too many to keep."""
        if self.count * self.permutations.size <= _KEPT:
            if 0 not in self._chunks:
                self._chunks[0] = np.array(list(self.permutations.all()))
            return self._chunks[0][start:stop]
        if start == 0:
            self._stream[:] = [self.permutations.all()]
        return np.array(list(itertools.islice(self._stream[0], stop - start)))

    def _random(self, k: int) -> np.ndarray:
        """Chunk k of the random permutations."""
        if k in self._chunks:
            return self._chunks[k]
        child = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, k))
        rows = min(self.chunk, self.count - 1 - k * self.chunk)
        drawn = self.permutations.draw(np.random.default_rng(child), rows)
        if self.count * self.permutations.size <= _KEPT:
            self._chunks[k] = drawn
        return drawn


def seed_from(rng: np.random.Generator) -> np.random.SeedSequence:
    """Draw a seed for independent streams.

    The words come from the state of the generator, not from ``rng.spawn``, so a generator whose state was restored
    gives the same permutations again.
    """
    return np.random.SeedSequence([int(word) for word in rng.integers(2**63, size=2)])
