"""Relabellings: partitions of pooled samples and pairings of two variables, drawn at random or all of them."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import signature
from typing import Self

import numpy as np

from shrinktest.nulls.draws import permutations, subsets

AS_MANY = "draw(rows) must give as many as are asked for, and every() as many as distinct says"


@dataclass(frozen=True)
class Relabellings(ABC):
    """The permutations of a test: the observed data, then random ones, or all others where these are few enough.

    One of your own is a frozen dataclass with ``size``, ``distinct``, ``magnitude``, ``draw`` and ``every``; every test
    takes it as ``permutations=``.  The level is exact if the data have the same distribution after each of them when
    the null hypothesis is true, and if they form a group or are those over which the experiment was randomised.

    Parameters
    ----------
    n_resamples : int or inf
        Permutations to draw; all of them are used instead where there are no more than this.
    rng : numpy.random.Generator
        Source of the draws.

    Examples
    --------
    Experiments in which the first two of four units always had different treatments:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest import Relabellings, permutation_test
    >>> @dataclass(frozen=True)
    ... class Allotments(Relabellings):
    ...     size, distinct, magnitude = 4, 4, np.log(4)
    ...     def every(self):
    ...         return iter(np.array([[0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0]]))
    ...     def draw(self, rows):
    ...         return np.array(list(self.every()))[self.rng.integers(4, size=rows)]
    >>> response = np.array([1.0, 3.0, 2.0, 4.0])
    >>> scheme = Allotments(999, np.random.default_rng(0))
    >>> permutation_test(lambda labels: response @ labels, scheme, alpha=0.3).pvalue
    0.25
    """

    n_resamples: float
    rng: np.random.Generator

    #: In words, where the design of the data allows some relabellings only.
    restriction = ""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of observations that a permutation moves."""

    @property
    @abstractmethod
    def distinct(self) -> int:
        """Number of all permutations that can give different statistics, the identity included."""

    @property
    @abstractmethod
    def magnitude(self) -> float:
        """About the natural logarithm of ``distinct``, which has too many digits to be computed for large samples."""

    @abstractmethod
    def draw(self, rows: int) -> np.ndarray:
        """The next ``rows`` random permutations, from ``self.rng``: labels 0, 1, ... of samples, or places of pairs."""

    @abstractmethod
    def every(self) -> Iterator[np.ndarray]:
        """All permutations, the identity first."""

    def drawn(self, n_resamples: float, rng: np.random.Generator) -> Self:
        """The same kind of permutations, so many of them, from another source of random numbers."""
        maker = next(kind for kind in type(self).__mro__ if "__init__" in vars(kind))
        try:
            if not signature(vars(maker)["__init__"]).parameters.keys() <= {"self", *self.__dataclass_fields__}:
                raise TypeError("it has an __init__ of its own that takes what is no field")
            return replace(self, n_resamples=n_resamples, rng=rng)
        except TypeError as error:
            raise TypeError(
                f"permutations: {type(self).__name__} must be a frozen dataclass, of which copies are made with "
                f"another n_resamples and rng, or have a method drawn(n_resamples, rng) that does so: {error}"
            ) from error

    def _seeds(self, rows: int) -> np.ndarray:
        return self.rng.integers(2**64 - 1, size=rows, dtype=np.uint64, endpoint=True)

    def skip(self, rows: int) -> None:
        """Advance the generator as if so many rows had been drawn."""
        self._seeds(rows)

    @property
    def exact(self) -> bool:
        """Whether all permutations are used."""
        if self.n_resamples <= 0 or self.magnitude > math.log(self.n_resamples) + 1.0:
            return False
        return self.n_resamples == math.inf or self.distinct <= self.n_resamples

    @property
    def count(self) -> int:
        """Rows in all: every permutation, or the identity and the drawn ones."""
        return self.distinct if self.exact else int(self.n_resamples) + 1

    def rows(self) -> Callable[[int], np.ndarray]:
        """A function that returns the next few rows; the sequence does not depend on how it is cut."""
        if self.exact:
            source = self.every()
            return lambda rows: np.array(list(itertools.islice(source, rows)))
        first = [next(self.every())]

        def take(rows: int) -> np.ndarray:
            if not first:
                return self.draw(rows)
            head = np.array([first.pop()])
            return np.concatenate([head, self.draw(rows - 1)]) if rows > 1 else head

        return take


@dataclass(frozen=True, eq=False)
class PassedOn(Relabellings):
    """Relabellings of another source, to be handed out in another way."""

    source: Relabellings

    @property
    def restriction(self) -> str:  # type: ignore[override]
        """That of the source."""
        return self.source.restriction

    @property
    def size(self) -> int:
        return self.source.size

    @property
    def distinct(self) -> int:
        return self.source.distinct

    @property
    def magnitude(self) -> float:
        return self.source.magnitude

    def draw(self, rows: int) -> np.ndarray:
        return self.source.draw(rows)

    def every(self) -> Iterator[np.ndarray]:
        return self.source.every()


@dataclass(frozen=True, eq=False)
class Kept(PassedOn):
    """Relabellings that were drawn once, for several statistics."""

    values: np.ndarray  # (count, ...): all rows of the source

    @classmethod
    def of(cls, source: Relabellings) -> Self:
        """All rows of ``source``, whose generator goes on as after a test."""
        return cls(source.n_resamples, source.rng, source, source.rows()(source.count))

    def rows(self) -> Callable[[int], np.ndarray]:
        """A function that returns the next few rows."""
        end = 0

        def take(rows: int) -> np.ndarray:
            nonlocal end
            end += rows
            return self.values[end - rows : end]

        return take


@dataclass(frozen=True)
class Partitions(Relabellings):
    """Partitions of the pooled observations into samples of the given sizes, as (B, N) labels 0, 1, ..., k - 1."""

    sizes: tuple[int, ...]  # of the samples
    # whether samples of one size may change places without changing the statistic, so that only one of the partitions
    # that differ in this alone is enumerated
    alike: bool = True

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def distinct(self) -> int:
        found, left = 1, self.size
        for n in self.sizes:
            found, left = found * math.comb(left, n), left - n
        for equal in self._places():
            found //= math.factorial(equal)
        return found

    @property
    def magnitude(self) -> float:
        equal = sum(math.lgamma(many + 1) for many in self._places())
        return math.lgamma(self.size + 1) - sum(math.lgamma(n + 1) for n in self.sizes) - equal

    def _places(self) -> Iterable[int]:
        """How many samples there are of every size, among which they may change places."""
        return Counter(self.sizes).values() if self.alike else ()

    @property
    def identity(self) -> np.ndarray:
        """The labels (N,) of the observations as they are, one sample after the other."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)

    def draw(self, rows: int) -> np.ndarray:
        if len(self.sizes) == 2:
            first = subsets(self._seeds(rows), self.size, self.sizes[0]).view(np.uint8)
            return np.subtract(1, first, dtype=np.uint16)  # at once, for this is most of the memory of large samples
        return self.identity[permutations(self._seeds(rows), np.array([0, self.size]))]

    def every(self) -> Iterator[np.ndarray]:
        if len(self.sizes) == 2:
            return self._every_two()
        labels = np.empty(self.size, dtype=np.uint16)
        return self._fill(labels, tuple(range(self.size)), 0, {})

    def _every_two(self) -> Iterator[np.ndarray]:
        """Two samples: the subsets that are the first, which itertools finds quickly."""
        # of one size, observation 0 stays in the first sample; the identity comes first either way
        fixed = 1 if self.alike and self.sizes[0] == self.sizes[1] else 0
        second = np.ones(self.size, dtype=np.uint16)
        second[:fixed] = 0
        for chosen in itertools.combinations(range(fixed, self.size), self.sizes[0] - fixed):
            labels = second.copy()
            labels[list(chosen)] = 0
            yield labels

    def _fill(
        self, labels: np.ndarray, left: tuple[int, ...], sample: int, leaders: dict[int, int]
    ) -> Iterator[np.ndarray]:
        """Every way to give ``left`` to the samples from ``sample`` on.

        Samples of one size that are alike come in the order of their first observations, which ``leaders`` has by size.
        """
        if sample == len(self.sizes):
            yield labels.copy()
            return
        n = self.sizes[sample]
        eligible = [i for i in left if i > leaders.get(n, -1)] if self.alike else left
        last_of_its_size = not self.alike or n not in self.sizes[sample + 1 :]
        for chosen in itertools.combinations(eligible, n):
            labels[list(chosen)] = sample
            inside = set(chosen)
            rest = tuple(i for i in left if i not in inside)
            if not last_of_its_size and (not rest or rest[-1] < chosen[0]):
                continue
            yield from self._fill(labels, rest, sample + 1, {**leaders, n: chosen[0]})


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

    def draw(self, rows: int) -> np.ndarray:
        return permutations(self._seeds(rows), np.array([0, self.n]))

    def every(self) -> Iterator[np.ndarray]:
        return (np.array(p) for p in itertools.permutations(range(self.n)))
