"""Partitions: relabellings of several samples of fixed sizes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest.nulls.relabellings import Relabellings, Splits


@dataclass(frozen=True)
class Partitions(Relabellings):
    """Partitions of the pooled observations into samples of the given sizes, as (B, N) labels 0, 1, ..., k - 1.

    Samples of one size may change places without changing the statistic, so only one of the partitions that differ in
    this alone is enumerated.  With two samples these are :class:`~shrinktest.nulls.relabellings.Splits`, drawn in
    the same order.
    """

    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def distinct(self) -> int:
        found = math.factorial(self.size)
        for n in self.sizes:
            found //= math.factorial(n)
        for equal in Counter(self.sizes).values():
            found //= math.factorial(equal)
        return found

    @property
    def magnitude(self) -> float:
        equal = sum(math.lgamma(many + 1) for many in Counter(self.sizes).values())
        return math.lgamma(self.size + 1) - sum(math.lgamma(n + 1) for n in self.sizes) - equal

    @property
    def identity(self) -> np.ndarray:
        """The labels (N,) of the observations as they are, one sample after the other."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.uint16), self.sizes)

    def _draw(self, rows: int) -> np.ndarray:
        from shrinktest._compiled.draws import permutations

        if len(self.sizes) == 2:
            return np.where(Splits(self.n_resamples, self.rng, *self.sizes)._draw(rows), 0, 1).astype(np.uint16)
        places = np.empty((rows, self.size), dtype=np.int64)
        permutations(self._seeds(rows), np.array([0, self.size]), places)
        return self.identity[places]

    def _enumerate(self) -> Iterator[np.ndarray]:
        labels = np.empty(self.size, dtype=np.uint16)
        return self._fill(labels, tuple(range(self.size)), 0, {})

    def _fill(
        self, labels: np.ndarray, left: tuple[int, ...], sample: int, leaders: dict[int, int]
    ) -> Iterator[np.ndarray]:
        """Every way to give ``left`` to the samples from ``sample`` on.

        Samples of one size come in the order of their first observations, which ``leaders`` holds by size.
        """
        if sample == len(self.sizes):
            yield labels.copy()
            return
        n = self.sizes[sample]
        eligible = [i for i in left if i > leaders.get(n, -1)]
        last_of_its_size = n not in self.sizes[sample + 1 :]
        for chosen in itertools.combinations(eligible, n):
            labels[list(chosen)] = sample
            inside = set(chosen)
            rest = tuple(i for i in left if i not in inside)
            if not last_of_its_size and (not rest or rest[-1] < chosen[0]):
                continue
            yield from self._fill(labels, rest, sample + 1, {**leaders, n: chosen[0]})
