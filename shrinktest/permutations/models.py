"""Permutations drawn from a model, and shifts within blocks of successive pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from shrinktest.permutations.base import Permutations
from shrinktest.permutations.draws import seeds

_STEPS = 50  # of the chains of weighted permutations, as in [BWBS20]


@dataclass(frozen=True)
class _Sampled(Permutations):
    """Permutations that are not equally likely, and are drawn from a model."""

    equally_likely: ClassVar[bool] = False
    restriction = "by the model"
    distinct = math.inf


@dataclass(frozen=True, eq=False)
class WeightedPairings(_Sampled):
    """Orders (B, n) of Y, each as likely as a model of X given Z says.

    An order of x has probability proportional to the product of q(x_i | z_j) over its pairs i, j.  Chains that
    exchange random pairs start from one state in the middle, which a chain from the data reaches by the same exchanges
    in reverse; the data and all draws are exchangeable if the model is true ([BWBS20] Algorithm 1 and Theorem 2).
    """

    chances: np.ndarray  # (n, n): log q(x_i | z_j)

    @property
    def size(self) -> int:
        return len(self.chances)

    @cached_property
    def _by_z(self) -> np.ndarray:
        """Log probabilities (n * n,) of all x at the first z, then at the second."""
        return np.ascontiguousarray(self.chances.T).ravel()

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        seed: Any = rng.bit_generator.seed_seq  # all chunks share the stream of their parent, and so the middle
        shared = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key[:-1]))
        schedule = np.array([shared.permutation(self.size)[: 2 * (self.size // 2)] for _ in range(_STEPS)])
        start = self._moved(np.arange(self.size)[None], schedule[::-1], shared)
        states = self._moved(np.repeat(start, rows, axis=0), schedule, rng)
        return np.argsort(states, axis=1)  # the y that belongs to each x

    def _moved(self, state: np.ndarray, schedule: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Take chains from states (B, n), the x at each z, through the exchanges of a schedule."""
        state = np.ascontiguousarray(state.T)  # all chains look at the same two rows of log probabilities at a time
        chances, n = self._by_z, len(state)
        for order in schedule:
            i, j = order[0::2], order[1::2]
            a, b = state[i], state[j]
            at_i, at_j = n * i[:, None], n * j[:, None]
            gain = chances.take(at_i + b) + chances.take(at_j + a) - chances.take(at_i + a) - chances.take(at_j + b)
            swap = rng.random(a.shape) * (1.0 + np.exp(np.minimum(-gain, 700.0))) < 1.0
            state[i], state[j] = np.where(swap, b, a), np.where(swap, a, b)
        return np.ascontiguousarray(state.T)

    def all(self) -> Iterator[np.ndarray]:
        yield np.arange(self.size)


@dataclass(frozen=True, eq=False)
class LabelsByChance(_Sampled):
    """Labels (B, N) of two samples of fixed sizes; each row's odds say how likely it is to be in the second.

    Independent draws, exact for these sizes: a set of n observations has probability proportional to the product of
    the odds of its members ([R84]).
    """

    sizes: tuple[int, int]
    odds: np.ndarray  # (N,): log odds of each observation to be in the second sample

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @cached_property
    def _tails(self) -> np.ndarray:
        """Logarithms (N + 1, n + 1) of the sums over sets of k among the observations from i on."""
        count, second = self.size, self.sizes[1]
        out = np.full((count + 1, second + 1), -np.inf)
        out[count, 0] = 0.0
        for i in range(count - 1, -1, -1):
            out[i] = out[i + 1]
            out[i, 1:] = np.logaddexp(out[i + 1, 1:], out[i + 1, :-1] + self.odds[i])
        return out

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        tails, chance = self._tails, rng.random((rows, self.size))
        left = np.full(rows, self.sizes[1])
        out = np.zeros((rows, self.size), dtype=np.uint16)
        for i in range(self.size):
            with np.errstate(invalid="ignore"):
                share = np.exp(self.odds[i] + tails[i + 1, np.maximum(left - 1, 0)] - tails[i, left])
            chosen = (chance[:, i] < share) & (left > 0)
            out[chosen, i] = 1
            left -= chosen
        return out

    def all(self) -> Iterator[np.ndarray]:
        yield np.repeat(np.arange(2, dtype=np.uint16), self.sizes)


@dataclass(frozen=True, eq=False)
class Copies(_Sampled):
    """Seeds (B, 1) of copies of X that a model draws; 0 stands for the data."""

    size: int = 0  # observations

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return np.maximum(seeds(rng, rows), np.uint64(1))[:, None]

    def all(self) -> Iterator[np.ndarray]:
        yield np.zeros(1, dtype=np.uint64)


@dataclass(frozen=True)
class GroupShifts(Permutations):
    """Shifts (B, groups) of y within blocks of successive pairs, whole numbers below ``length``.

    What leaves a block at its end returns at its start.  The shifts form a group, and leave the distribution of the
    data unchanged if y is independent of x and the pairs of a block are exchangeable.
    """

    groups: int
    length: int  # pairs of a block

    @property
    def restriction(self) -> str:  # type: ignore[override]
        """Describe what is permuted."""
        return f"within {self.length} successive pairs"

    @property
    def size(self) -> int:
        return self.groups

    @property
    def distinct(self) -> float:
        return math.inf if self.groups * math.log(self.length) > 700.0 else self.length**self.groups

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return rng.integers(self.length, size=(rows, self.groups))

    def all(self) -> Iterator[np.ndarray]:
        return map(np.array, itertools.product(range(self.length), repeat=self.groups))
