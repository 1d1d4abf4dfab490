"""Schemes for independent rows: sample labels, variable orders, signs, and model draws.

Permutations may be drawn from models.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import check_signature
from shrinktest.permutations.base import (
    Permutations,
    capped,
    factorials,
    random_orders,
    random_subsets,
    random_words,
)

# --- enumerations ---------------------------------------------------------------------------------


def all_orders(ranges: Sequence[range]) -> Iterator[list[tuple[int, ...]]]:
    """Enumerate all combinations of orders of several ranges, one at a time."""
    orders: list[tuple[int, ...]] = []
    offers = [itertools.permutations(ranges[0])]
    while offers:
        del orders[len(offers) - 1 :]
        order = next(offers[-1], None)
        if order is None:
            offers.pop()
            continue
        orders.append(order)
        if len(orders) == len(ranges):
            yield orders
        else:
            offers.append(itertools.permutations(ranges[len(orders)]))


def alike(table: np.ndarray) -> list[list[int]]:
    """Group the samples with equal numbers of units in every stratum.

    The table (S, k) gives these numbers.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for sample, numbers in enumerate(table.T.tolist()):
        groups.setdefault(tuple(numbers), []).append(sample)
    return list(groups.values())


def labelings(table: np.ndarray, groups: Sequence[Sequence[int]]) -> Iterator[np.ndarray]:
    """Enumerate labels (U,) of units, in order of strata.

    They give every sample its numbers of units, a table (S, k).

    Samples of a group may be exchanged: of labelings that differ in this alone, only the one in
    which the first units of these samples are in order comes.
    """
    previous = {after: sample for group in groups for sample, after in itertools.pairwise(group)}
    strata: list[
        tuple[int, list[tuple[int, int]]]
    ] = []  # of each unit: the first unit, and the numbers, last first
    for numbers in table.tolist():
        strata += [(len(strata), list(enumerate(numbers))[::-1])] * sum(numbers)
    stack: list[tuple[int, ...]] = [()]
    while stack:
        labels = stack.pop()
        if len(labels) == len(strata):
            yield np.array(labels, dtype=np.uint16)
            continue
        start, numbers = strata[len(labels)]
        stratum = labels[start:]
        missing = [(sample, number) for sample, number in numbers if stratum.count(sample) < number]
        for sample, number in missing:
            if sample not in previous or previous[sample] in labels:
                units = (
                    number - stratum.count(sample) if len(missing) == 1 else 1
                )  # the last sample has the rest
                stack.append(labels + (sample,) * units)


# --- labels, orders, signs ------------------------------------------------------------------------


def sample_labels(sizes: Sequence[int]) -> np.ndarray:
    """Return the labels (N,) of the samples in the data as they are."""
    return np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)


@dataclass(frozen=True)
class Labels(Permutations):
    """Sample labels 0, 1, ..., k - 1 (B, N) that keep the sample sizes.

    The labels are those of pooled observations.
    """

    sizes: tuple[int, ...]
    symmetric: bool = (
        False  # True if exchanging samples of equal size does not change the statistic
    )

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def distinct(self) -> float:
        return factorials(
            [self.size], [*self.sizes, *(Counter(self.sizes).values() if self.symmetric else ())]
        )

    def _identity(self) -> np.ndarray:
        return sample_labels(self.sizes)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        if len(self.sizes) == 2:
            first = random_subsets(rng, rows, self.size, self.sizes[0]).view(np.uint8)
            return np.subtract(1, first, dtype=np.uint16)
        return self._identity()[random_orders(rng, rows, np.array([0, self.size]))]

    def all(self) -> Iterator[np.ndarray]:
        table = np.array([self.sizes])
        return labelings(table, alike(table) if self.symmetric else ())


@dataclass(frozen=True)
class Pairings(Permutations):
    """Orders (B, n) in which the n observations of Y are paired with observations of X."""

    size: int = 0

    @property
    def distinct(self) -> float:
        return factorials([self.size])

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return random_orders(rng, rows, np.array([0, self.size]))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, itertools.permutations(range(self.size)))


@dataclass(frozen=True)
class Shuffles(Permutations):
    """Independent orders (B, d - 1, n) of variables 2 to d of n observations.

    The first variable stays.
    """

    n: int
    variables: int

    @property
    def size(self) -> int:
        return self.n * (self.variables - 1)

    @property
    def distinct(self) -> float:
        return factorials([self.n] * (self.variables - 1))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.stack([self._orders(rng, rows, v) for v in range(1, self.variables)], axis=1)

    def _orders(self, rng: np.random.Generator, rows: int, variable: int) -> np.ndarray:
        """Draw orders (rows, n) of a variable from its own stream.

        The second variable has the pairings of a test.
        """
        seed: Any = rng.bit_generator.seed_seq
        own = () if variable == 1 else (variable,)
        stream = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *own))
        return random_orders(np.random.default_rng(stream), rows, np.array([0, self.n]))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, all_orders([range(self.n)] * (self.variables - 1)))


@dataclass(frozen=True)
class RelativeOrders(Shuffles):
    """Orders (B, n) of one variable relative to another, as shuffles of all variables move the two.

    Lags of all pairs of variables agree with one another if their draws share a seed.
    """

    first: int
    second: int

    @property
    def size(self) -> int:
        return self.n

    def _identity(self) -> np.ndarray:
        return np.arange(self.n)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        second = self._orders(rng, rows, self.second)
        if self.first == 0:
            return second
        out = np.empty_like(second)
        np.put_along_axis(out, self._orders(rng, rows, self.first), second, axis=1)
        return out

    def all(self) -> Iterator[np.ndarray]:
        for orders in super().all():
            out = orders[self.second - 1].copy()
            if self.first:
                out[orders[self.first - 1]] = orders[self.second - 1]
            yield out


@dataclass(frozen=True, eq=False)
class Signs(Permutations):
    """Signs (B, n), 1 or -1 for each observation, the same within a unit.

    If ``symmetric``, flipping all signs is not another permutation.
    """

    unit: np.ndarray  # (n,): the number 0, 1, ... of the unit of each observation
    symmetric: bool = (
        False  # True if flipping all signs does not change the statistic, such as a squared norm
    )
    restriction = "signs of residuals"

    @property
    def size(self) -> int:
        return len(self.unit)

    @property
    def _units(self) -> int:
        return int(self.unit.max()) + 1

    @property
    def distinct(self) -> float:
        return capped(2 ** (self._units - self.symmetric))

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return (1.0 - 2.0 * rng.integers(2, size=(rows, self._units), dtype=np.int8))[:, self.unit]

    def all(self) -> Iterator[np.ndarray]:
        first = (1.0,) * self.symmetric
        for signs in itertools.product((1.0, -1.0), repeat=self._units - len(first)):
            yield np.array((*first, *signs))[self.unit]


@dataclass(frozen=True)
class GroupShifts(Permutations):
    """Circular shifts (B, groups) of y within blocks of successive pairs.

    Shifts are whole numbers below ``length``.

    They form a group, and leave the distribution of the data unchanged if y is independent of x and
    the pairs of a block are exchangeable.
    """

    groups: int
    length: int  # pairs of a block

    @property
    def restriction(self) -> str:  # type: ignore[override]
        return f"within {self.length} successive pairs"

    @property
    def size(self) -> int:
        return self.groups

    @property
    def distinct(self) -> float:
        return capped(self.length**self.groups)

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return rng.integers(self.length, size=(rows, self.groups))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, itertools.product(range(self.length), repeat=self.groups))


# --- drawn from models ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Modeled(Permutations):
    """Permutations that are drawn from a model, and are not equally likely."""

    equally_likely: ClassVar[bool] = False
    restriction = "by the model"
    distinct = math.inf


@dataclass(frozen=True, eq=False)
class LabelsByChance(_Modeled):
    """Independent labels (B, N) of two samples of fixed sizes.

    A set of n observations is the second sample with a probability proportional to the product of
    its odds ([R84]).
    """

    sizes: tuple[int, int]
    odds: np.ndarray  # (N,): log odds of each observation to be in the second sample

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @cached_property
    def _tails(self) -> np.ndarray:
        """Logarithms (N + 1, n + 1) of the sums over sets of k among the observations from i on."""
        size = self.size
        second = self.sizes[1]
        out = np.full((size + 1, second + 1), -np.inf)
        out[size, 0] = 0.0
        for i in range(size - 1, -1, -1):
            out[i] = out[i + 1]
            out[i, 1:] = np.logaddexp(out[i + 1, 1:], out[i + 1, :-1] + self.odds[i])
        return out

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        tails = self._tails
        chance = rng.random((rows, self.size))
        left = np.full(rows, self.sizes[1])
        out = np.zeros((rows, self.size), dtype=np.uint16)
        for i in range(self.size):
            with np.errstate(invalid="ignore"):
                share = np.exp(
                    self.odds[i] + tails[i + 1, np.maximum(left - 1, 0)] - tails[i, left]
                )
            chosen = (chance[:, i] < share) & (left > 0)
            out[chosen, i] = 1
            left -= chosen
        return out

    def all(self) -> Iterator[np.ndarray]:
        yield sample_labels(self.sizes)


@dataclass(frozen=True, eq=False)
class Copies(_Modeled):
    """Copies of the data, or of a part of them, that are drawn from a model.

    The null distribution is then obtained by simulation: the statistic of :func:`permutation_test`
    is called with seeds instead of permutations, and turns them into data by ``copy``.  Its p-value
    is exact if the model draws from the distribution of the data under the null hypothesis, but not
    if its parameters were estimated from these data.

    Parameters
    ----------
    observed : array_like, shape (n,) or (n, ...)
        The data, or the part of them that is drawn anew.
    model : callable
        Function from a ``numpy.random.Generator`` to a copy, with the shape of ``observed``.

    See Also
    --------
    permutation_test : The test that accepts it as ``permutations``.
    Permutations : Base class of all schemes.

    Examples
    --------
    Are arrival times uniform?  The largest gap between two of them, compared with uniform times:

    >>> import numpy as np
    >>> from shrinktest import Copies, permutation_test
    >>> times = np.array([0.03, 0.09, 0.12, 0.2, 0.24, 0.61, 0.68, 0.77, 0.85, 0.94])
    >>> copies = Copies(times, lambda rng: rng.uniform(size=10))
    >>> def largest_gap(seed):
    ...     return np.diff(np.sort(copies.copy(seed))).max()
    >>> permutation_test(largest_gap, copies, rng=0).pvalue
    0.083
    """

    simulated = True

    observed: np.ndarray
    model: Callable[[np.random.Generator], Any]

    def __post_init__(self) -> None:
        observed = np.asarray(self.observed)
        if not observed.size or not observed.ndim:
            raise ValueError(f"observed must be an array with rows; got {self.observed!r}")
        if not callable(self.model):
            raise TypeError(f"model must be a function rng -> copy of the data; got {self.model!r}")
        check_signature(self.model, ("rng",), "model must be a function rng -> copy of the data")
        object.__setattr__(self, "observed", observed)

    @property
    def size(self) -> int:
        return len(self.observed)

    def copy(self, seed: Any) -> np.ndarray:
        """Return the copy of a seed, shape (1,), or the data if it is 0."""
        number = int(np.asarray(seed).item())
        if not number:
            return self.observed
        drawn = np.asarray(self.model(np.random.default_rng(number)))
        if drawn.shape != self.observed.shape:
            raise ValueError(
                f"model must draw copies of shape {self.observed.shape}; it drew {drawn.shape}"
            )
        return drawn

    def require_apart(self, points: np.ndarray, name: str) -> None:
        """Raise ValueError if points for kernels are the data that copies replace."""
        if np.array_equal(points, self.observed):
            raise ValueError(
                f"{name} holds the data that a model draws anew; pass a copy for bandwidths and "
                "units"
            )

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.maximum(random_words(rng, rows), np.uint64(1))[:, None]

    def all(self) -> Iterator[np.ndarray]:
        yield np.zeros(1, dtype=np.uint64)
