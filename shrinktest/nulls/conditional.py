"""Relabellings by a model of what is relabelled: weighted permutations, labels by their chances, drawn copies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shrinktest.nulls.draws import uniforms
from shrinktest.nulls.relabellings import Relabellings

_STEPS = 50  # of the chains of weighted permutations, as in the paper
_BITS = 2**53


@dataclass(frozen=True)
class Sampled(Relabellings):
    """Relabellings that are drawn from a model, never all of them, which is an error: they are not equally likely."""

    restriction = "by the model"
    distinct = _BITS  # more than are ever drawn
    magnitude = math.log(_BITS)

    def __post_init__(self) -> None:
        if self.n_resamples == math.inf:
            raise ValueError(
                "n_resamples=inf asks for all permutations, which by a model are not equally likely and have to be "
                "drawn at random; give a number, such as n_resamples=9999"
            )

    @property
    def exact(self) -> bool:
        """Never: they are not equally likely."""
        return False


@dataclass(frozen=True, eq=False)
class WeightedPairings(Sampled):
    """Pairings of X with Y and Z that are as likely as the model of X given Z says, as (B, n) permutations of Y.

    A permutation of x has probability proportional to the product of q(x_i | z_j) over its pairs i, j.  Chains that
    exchange pairs at random start from one state in the middle, which a chain from the data reaches by the same
    exchanges in the opposite order; so the data and all draws are exchangeable if the model is true, however few the
    exchanges ([BWBS20] Algorithm 1 and Theorem 2).
    """

    chances: np.ndarray  # (n, n): log q(x_i | z_j)
    _hub: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list, init=False, repr=False)

    @property
    def size(self) -> int:
        return len(self.chances)

    @cached_property
    def _by_z(self) -> np.ndarray:
        """The chances (n * n,) of all x at the first z, then at the second."""
        return np.ascontiguousarray(self.chances.T).ravel()

    def draw(self, rows: int) -> np.ndarray:
        if not self._hub:
            source = np.random.default_rng(int(self._seeds(1)[0]))
            schedule = np.array([source.permutation(self.size)[: 2 * (self.size // 2)] for _ in range(_STEPS)])
            first = source.integers(2**64 - 1, size=1, dtype=np.uint64, endpoint=True)
            self._hub.append((self._moved(np.arange(self.size)[None], schedule[::-1], first), schedule))
        start, schedule = self._hub[0]
        found = self._moved(np.repeat(start, rows, axis=0), schedule, self._seeds(rows))
        return np.argsort(found, axis=1)  # which y belongs to every x

    def _moved(self, state: np.ndarray, schedule: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Chains from states (B, n), the x at every z, through the exchanges of a schedule."""
        state = np.ascontiguousarray(
            state.T
        )  # and chances by z: all chains look at the same two rows of these at a time
        chances, n = self._by_z, len(state)
        for step, order in enumerate(schedule):
            i, j = order[0::2], order[1::2]
            a, b = state[i], state[j]
            at_i, at_j = n * i[:, None], n * j[:, None]
            gain = chances.take(at_i + b) + chances.take(at_j + a) - chances.take(at_i + a) - chances.take(at_j + b)
            chance = uniforms(seeds, len(i), step * len(i)).T
            swap = chance * (1.0 + np.exp(np.minimum(-gain, 700.0))) < 1.0
            state[i], state[j] = np.where(swap, b, a), np.where(swap, a, b)
        return np.ascontiguousarray(state.T)

    def skip(self, rows: int) -> None:
        if not self._hub:
            self._seeds(1)
        self._seeds(rows)

    def every(self) -> Iterator[np.ndarray]:
        yield np.arange(self.size)


@dataclass(frozen=True, eq=False)
class LabelsByChance(Sampled):
    """Labels (B, N) of two samples of the sizes that there are, each as likely as its chance to be in the second says.

    Independent draws, exact for these sizes: of all sets of n observations one has probability proportional to the
    product of the odds of its members ([R84]).
    """

    sizes: tuple[int, int]  # of the samples
    odds: np.ndarray  # (N,): the logarithm of the odds of every observation to be in the second

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def _tails(self) -> np.ndarray:
        """Logarithms (N + 1, n + 1) of the sums over sets of k among the observations from i on."""
        count, second = self.size, self.sizes[1]
        out = np.full((count + 1, second + 1), -np.inf)
        out[count, 0] = 0.0
        for i in range(count - 1, -1, -1):
            out[i] = out[i + 1]
            out[i, 1:] = np.logaddexp(out[i + 1, 1:], out[i + 1, :-1] + self.odds[i])
        return out

    def draw(self, rows: int) -> np.ndarray:
        tails, chance = self._tails, uniforms(self._seeds(rows), self.size)
        left = np.full(rows, self.sizes[1])
        out = np.zeros((rows, self.size), dtype=np.uint16)
        for i in range(self.size):
            with np.errstate(invalid="ignore"):
                share = np.exp(self.odds[i] + tails[i + 1, np.maximum(left - 1, 0)] - tails[i, left])
            chosen = (chance[:, i] < share) & (left > 0)
            out[chosen, i] = 1
            left -= chosen
        return out

    def every(self) -> Iterator[np.ndarray]:
        yield np.repeat(np.arange(2, dtype=np.uint16), self.sizes)


@dataclass(frozen=True, eq=False)
class Copies(Sampled):
    """Copies of X that a model draws, as (B, 1) seeds; 0 stands for the data."""

    n: int  # observations

    @property
    def size(self) -> int:
        return self.n

    def draw(self, rows: int) -> np.ndarray:
        return np.maximum(self._seeds(rows), np.uint64(1))[:, None]

    def every(self) -> Iterator[np.ndarray]:
        yield np.zeros(1, dtype=np.uint64)
