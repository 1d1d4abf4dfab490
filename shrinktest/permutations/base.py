"""Permutations: the base class of all schemes, a user's own, and random draws from one."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import count
from shrinktest._machine_code import compiled_loop
from shrinktest.permutations import draw_arrays

_KEPT = 2**23  # entries of permutations that are drawn once and kept
_CHUNK = 2**22  # entries of a chunk, which is drawn at once
_FEWEST = 16  # rows of a chunk
# observations up to which numpy's own shuffle is used; beyond, a compiled loop pays for its start
_SMALL = 120
_CACHED = 2**13  # random numbers that are compared at a time, in the cache
_ROUNDS = 16  # random words by which a subset comes close to its size
_LARGEST = 700.0  # logarithm of the number of permutations up to which they are counted


class Permutations(ABC):
    """Permutations of N observations under which the null distribution is unchanged.

    A scheme of your own is a frozen dataclass with ``size``, ``distinct``, ``draw`` and ``all``;
    every test accepts it as ``permutations=``.  The test is exact if the data have the same
    distribution after each permutation under the null hypothesis, and the permutations form a group
    or are those over which the experiment was randomized.

    Examples
    --------
    Experiments in which the first two of four units always had different treatments:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import Permutations, permutation_test
    >>> @dataclass(frozen=True)
    ... class Allotments(Permutations):
    ...     size, distinct = 4, 4
    ...
    ...     def all(self):
    ...         return iter(np.array([[0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0]]))
    ...
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
    #: True if a model draws the data anew, so that rows are seeds of copies and not permutations.
    simulated: ClassVar[bool] = False

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of observations N that are permuted."""

    @property
    @abstractmethod
    def distinct(self) -> float:
        """Number of permutations with different statistics, including the identity.

        It may be ``math.inf``.
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Draw random permutations, shape (rows, N).

        They are labels 0, 1, ... of samples, positions of rows, or signs.
        """

    @abstractmethod
    def all(self) -> Iterator[np.ndarray]:
        """Enumerate all permutations, beginning with the identity."""

    def _identity(self) -> np.ndarray:
        return np.asarray(next(iter(self.all())))


def capped(number: int) -> float:
    """Replace a number of permutations that no float can hold by infinity."""
    return number if number < math.exp(_LARGEST) else math.inf


def factorials(numbers: Sequence[int], divisors: Sequence[int] = ()) -> float:
    """Divide a product of factorials by another; infinity if no float can hold the result."""
    if (
        sum(math.lgamma(n + 1) for n in numbers) - sum(math.lgamma(n + 1) for n in divisors)
        > _LARGEST
    ):
        return math.inf
    return math.prod(map(math.factorial, numbers)) // math.prod(map(math.factorial, divisors))


@dataclass(frozen=True, eq=False)
class UserPermutations(Permutations):
    """User permutations, which must begin with the data and only move observations.

    The first permutation is the data as they are.
    """

    source: Permutations
    identity: (
        np.ndarray
    )  # (N,) or (V, N): the data as they are, labels of samples or places of rows
    moves: bool  # False for a user's statistic, whose permutations may hold anything
    size: int = 0
    distinct: float = 1
    restriction: str = ""

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self._checked(np.array(self.source.draw(rng, rows)), rows)

    def all(self) -> Iterator[np.ndarray]:
        number = 0
        name = type(self.source).__name__
        for number, row in enumerate(self.source.all(), start=1):
            if number > self.distinct:
                raise ValueError(
                    f"permutations: all() of {name} yields more permutations than "
                    "distinct; correct one of them"
                )
            row = self._checked(np.array(row)[None], 1)[0]
            if number == 1 and not np.array_equal(row, self.identity):
                raise ValueError(
                    f"permutations: all() of {name} must begin with the identity permutation"
                )
            yield row
        if number < self.distinct:
            raise ValueError(
                f"permutations: all() of {name} yields {number} permutations, but distinct is "
                f"{self.distinct}"
            )

    def _checked(self, rows: np.ndarray, count: int) -> np.ndarray:
        """Return rows that are so many permutations of the data; raises ValueError for others."""
        name = type(self.source).__name__
        shape = (count, *self.identity.shape)
        if rows.shape != shape:
            raise ValueError(f"permutations: {name} must return shape {shape}; got {rows.shape}")
        if not self.moves:
            return rows
        if (np.sort(rows, axis=-1) != np.sort(self.identity)).any():
            raise ValueError(
                f"permutations: {name} must keep every label, and every position, as often as the "
                "data"
            )
        return rows.astype(self.identity.dtype, copy=False)


def as_permutations(given: Any, identity: np.ndarray | None) -> Permutations:
    """Check a user's permutations; raises TypeError or ValueError if they are invalid.

    ``identity`` (N,) or (V, N) is the data as they are, by default the first of ``all()``.
    """
    if not isinstance(given, Permutations):
        raise TypeError(
            "permutations must be a Permutations object, such as a subclass of your own; got "
            f"{given!r}"
        )
    if given.simulated and identity is not None:
        raise ValueError(
            "permutations: copies by a model are for permutation_test, whose statistic draws them"
        )
    name = type(given).__name__
    if type(given).__module__.startswith("shrinktest."):
        if identity is not None and not np.array_equal(given._identity(), identity):
            raise ValueError(
                f"permutations: {name} is not for these data; pass one of their sizes and kind"
            )
        return given
    moves = identity is not None
    size = count(given.size, f"permutations: size of {name}", minimum=1)
    if given.distinct != math.inf:
        count(given.distinct, f"permutations: distinct of {name}", minimum=1)
    if identity is None:
        identity = np.array(next(iter(given.all()), None))
    if identity.shape[-1:] != (size,):
        raise ValueError(
            f"permutations: {name} moves {size} observations; the data have shape {identity.shape}"
        )
    return UserPermutations(given, identity, moves, size, given.distinct, given.restriction)


@dataclass(frozen=True, eq=False)
class Draws:
    """Permutations of one test: all if at most ``n_resamples``, else the data and random ones.

    Rows are drawn in chunks whose size depends on the scheme alone, each with a generator of its
    own.  Several statistics share the same permutations by sharing this value.
    """

    permutations: Permutations
    n_resamples: float  # a whole number, or inf for all
    seed: np.random.SeedSequence
    _chunks: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False)
    _stream: list[Iterator[np.ndarray]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, permutations: Permutations, n_resamples: float, rng: np.random.Generator) -> Draws:
        """Draw a seed from the state of a generator, not from ``rng.spawn``.

        A restored state gives the same seed again.
        """
        if not permutations.equally_likely and n_resamples == math.inf:
            raise ValueError(
                "n_resamples=inf needs equally likely permutations; use a number such as 9999"
            )
        return cls(
            permutations, n_resamples, np.random.SeedSequence(rng.integers(2**63, size=2).tolist())
        )

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
            raise ValueError(
                "n_resamples=inf asks for too many permutations; use a number such as 9999"
            )
        return int(self.permutations.distinct)

    @cached_property
    def chunk(self) -> int:
        """Rows of a chunk."""
        return self.count if self.exact else max(_FEWEST, _CHUNK // max(1, self.permutations.size))

    def rows(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return permutations ``start`` to before ``stop``; row 0 is the data as they are.

        An enumeration that is too long to keep goes on from the last call.
        """
        stop = self.count if stop is None else min(stop, self.count)
        in_memory = self.count * self.permutations.size <= _KEPT
        if self.exact and in_memory:
            if not self._chunks:
                self._chunks[0] = np.array(list(self.permutations.all()))
            return self._chunks[0][start:stop]
        if self.exact:
            if start == 0:
                self._stream[:] = [self.permutations.all()]
            return np.array(list(itertools.islice(self._stream[0], stop - start)))
        parts = [self.permutations._identity()[None]] if start == 0 else []
        low = max(start, 1) - 1
        high = stop - 1  # among random rows
        for k in range(low // self.chunk, -(-high // self.chunk)):
            drawn = self._chunks.get(k)
            if drawn is None:
                child = np.random.SeedSequence(
                    self.seed.entropy, spawn_key=(*self.seed.spawn_key, k)
                )
                size = min(self.chunk, self.count - 1 - k * self.chunk)
                drawn = self.permutations.draw(np.random.default_rng(child), size)
                if in_memory:
                    self._chunks[k] = drawn
            parts.append(drawn[max(0, low - k * self.chunk) : high - k * self.chunk])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def random_words(rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """Draw words of 64 random bits."""
    return rng.integers(2**64 - 1, size=shape, dtype=np.uint64, endpoint=True)


def random_orders(rng: np.random.Generator, rows: int, starts: np.ndarray) -> np.ndarray:
    """Draw uniform permutations (rows, n) of 0 to n - 1 within segments.

    Segment s holds the places from ``starts[s]`` to before ``starts[s + 1]``, the last of which is
    n.
    """
    n = int(starts[-1])
    if n > _SMALL:
        out = np.empty((rows, n), dtype=np.int64)
        shuffle = compiled_loop("shuffle", rows, 3e-7 * n) or draw_arrays.shuffle
        shuffle(random_words(rng, rows), np.asarray(starts, dtype=np.int64), out)
        return out
    out = np.tile(np.arange(n), (rows, 1))
    for first, end in itertools.pairwise(starts.tolist()):
        if end - first > 1:
            rng.permuted(out[:, first:end], axis=1, out=out[:, first:end])
    return out


def random_subsets(rng: np.random.Generator, rows: int, size: int, members: int) -> np.ndarray:
    """Draw uniform subsets of ``members`` of ``size`` observations, as a mask of bool (rows, size).

    In small samples the members have the smallest of random numbers.  In large ones every
    observation first joins with probability near members / size: random words are combined by AND
    and OR along its binary expansion.  Random members then leave, or others join, until the size is
    right.  No step depends on which observation is which.
    """
    if size <= _SMALL:
        mask = np.empty((rows, size), dtype=bool)
        for start in range(0, rows, step := max(1, _CACHED // size)):
            keys = rng.random((min(step, rows - start), size))
            largest = np.partition(keys, members - 1, axis=1)[:, members - 1 : members]
            np.less_equal(keys, largest, mask[start : start + step])
        tied = np.flatnonzero(mask.sum(axis=1) != members)  # hardly ever
        if tied.size:
            mask[tied] = random_subsets(rng, tied.size, size, members)
        return mask
    chance = min(max(round(2**_ROUNDS * members / size), 1), 2**_ROUNDS - 1)
    words = np.zeros((rows, -(-size // 64)), dtype=np.uint64)
    for b in range((chance & -chance).bit_length() - 1, _ROUNDS):
        drawn = random_words(rng, words.shape)
        words = words | drawn if (chance >> b) & 1 else words & drawn
    octets = words.astype("<u8", copy=False).view(np.uint8)
    mask = np.unpackbits(octets, axis=1, count=size, bitorder="little").view(bool)
    excess = mask.sum(axis=1) - members
    wrong = np.flatnonzero(excess)
    while wrong.size:
        # Places in random order: each row flips entries of the kind it has too many of, until its
        # size is right.
        many = excess[wrong] > 0
        places = rng.integers(size, size=(wrong.size, 2 * int(np.abs(excess[wrong]).max()) + 8))
        flips = mask[wrong[:, None], places] == many[:, None]
        flips &= np.cumsum(flips, axis=1) <= np.abs(excess[wrong])[:, None]
        row, column = np.nonzero(
            flips
        )  # a place drawn twice flips once; the next round makes up for it
        mask[wrong[row], places[row, column]] = ~many[row]
        excess[wrong] = mask[wrong].sum(axis=1) - members
        wrong = wrong[excess[wrong] != 0]
    return mask
