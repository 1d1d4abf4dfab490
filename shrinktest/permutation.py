"""Relabellings, the null distribution over them, and p-values.  Knows no kernel."""

from __future__ import annotations

import itertools
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

#: (B, N) relabellings to (B, 2): the statistic, and the size of the terms that cancel in it (for ties).
Statistic = Callable[[np.ndarray], np.ndarray]

_SECONDS = 0.05  # work handed to a thread at a time: short enough for progress and interrupts, long enough to be free
_BYTES = 2**25  # relabellings drawn ahead of the threads
_TOO_MANY = 10**8  # relabellings that nobody waits for


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

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of observations that a relabelling moves."""

    @property
    @abstractmethod
    def distinct(self) -> int:
        """Number of all relabellings that can give different statistics, the identity included."""

    @abstractmethod
    def _draw(self, rows: int) -> np.ndarray:
        """The next ``rows`` random relabellings."""

    @abstractmethod
    def _enumerate(self) -> Iterator[np.ndarray]:
        """All relabellings, the identity first."""

    @property
    def exact(self) -> bool:
        """Whether all relabellings are used."""
        return self.n_resamples > 0 and self.distinct <= self.n_resamples

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
            return np.vstack([*head, self._draw(rows - len(head))]) if head else self._draw(rows)

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

    def _draw(self, rows: int) -> np.ndarray:
        identity = np.arange(self.size) < self.m
        return self.rng.permuted(np.tile(identity, (rows, 1)), axis=1)

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

    def _draw(self, rows: int) -> np.ndarray:
        return self.rng.permuted(np.tile(np.arange(self.n), (rows, 1)), axis=1)

    def _enumerate(self) -> Iterator[np.ndarray]:
        return (np.array(p) for p in itertools.permutations(range(self.n)))


@dataclass(frozen=True, eq=False)
class Null:
    """The statistic over relabellings: ``observed`` on the data, ``values`` elsewhere, and how close counts as equal.

    ``values`` (B,) leaves the observed one out for random relabellings and includes it for exhaustive ones.
    """

    observed: float
    values: np.ndarray
    tolerance: float
    exact: bool

    @property
    def exceedances(self) -> int:
        """Relabellings with a statistic at least as large as the observed one; ties count."""
        return int((self.values >= self.observed - self.tolerance).sum())

    @property
    def pvalue(self) -> float:
        """Exact level: the identity is one of the rows, so the p-value is never 0."""
        if self.exact:
            return self.exceedances / self.values.size
        return (1 + self.exceedances) / (1 + self.values.size) if self.values.size else math.nan


def null_distribution(
    statistic: Statistic, relabellings: Relabellings, *, workers: int = 1, progress: bool = False
) -> Null:
    """Evaluate a statistic on the identity and on every relabelling.

    Parameters
    ----------
    statistic : callable
        Relabellings (B, N) to (B, 2): statistic, and the size of the terms that cancel in it.
    relabellings : Relabellings
    workers : int
        Threads.  Every row is computed by itself, so that the result is the same for any number.
    progress : bool
        Show a progress bar (tqdm).

    Raises
    ------
    ValueError
        If more relabellings were asked for than can be computed, or a statistic is not finite.
    """
    count = relabellings.count
    if count > _TOO_MANY:
        raise ValueError(
            f"n_resamples={relabellings.n_resamples}: about 1e{math.log10(count):.0f} relabellings of "
            f"{relabellings.size} observations are too many; give a number such as n_resamples=9999 for random ones"
        )
    out = np.empty((count, 2))
    take, pace = relabellings.rows(), _Pace(relabellings.size)
    with _bar(count, progress) as advance:
        # the observed statistic comes first and alone: whatever must be compiled is compiled here, in one thread
        out[:1] = statistic(take(1))
        advance(1)
        if workers == 1:
            _serial(statistic, take, out, advance, pace)
        else:
            _threaded(statistic, take, out, advance, pace, workers)
    if not np.isfinite(out).all():
        row = int(np.argwhere(~np.isfinite(out))[0, 0])
        raise ValueError(
            f"the statistic of relabelling {row} is not finite: the estimator could not be computed on a relabelled "
            "sample; use a positive semi-definite kernel, a smaller step size or more shrinkage"
        )
    values = out[:, 0].copy() if relabellings.exact else out[1:, 0].copy()
    return Null(float(out[0, 0]), values, 1e-10 * float(out[0, 1]), relabellings.exact)


class _Pace:
    """How many relabellings make a chunk of about ``_SECONDS``; the answer does not depend on it."""

    def __init__(self, size: int) -> None:
        self.rows = 1
        self._most = max(1, min(4096, _BYTES // (8 * size)))

    def learn(self, rows: int, seconds: float) -> None:
        self.rows = max(1, min(self._most, 4 * rows, int(rows * _SECONDS / max(seconds, 1e-6))))


_Take = Callable[[int], np.ndarray]
_Advance = Callable[[int], object]


def _serial(statistic: Statistic, take: _Take, out: np.ndarray, advance: _Advance, pace: _Pace) -> None:
    done = 1
    while done < len(out):
        rows = min(pace.rows, len(out) - done)
        start = time.perf_counter()
        out[done : done + rows] = statistic(take(rows))
        pace.learn(rows, time.perf_counter() - start)
        done += rows
        advance(rows)


def _threaded(statistic: Statistic, take: _Take, out: np.ndarray, advance: _Advance, pace: _Pace, workers: int) -> None:
    # A pool of our own for every call: nothing is left behind that a fork could break or another thread disturb.
    def work(relabellings: np.ndarray) -> tuple[np.ndarray, float]:
        start = time.perf_counter()
        return statistic(relabellings), time.perf_counter() - start

    drawn = 1
    pending: dict[Future, slice] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        while pending or drawn < len(out):
            while drawn < len(out) and len(pending) < 2 * workers:
                rows = min(pace.rows, -(-(len(out) - drawn) // workers))
                pending[pool.submit(work, take(rows))] = slice(drawn, drawn + rows)
                drawn += rows
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                where = pending.pop(future)
                out[where], seconds = future.result()
                rows = where.stop - where.start
                pace.learn(rows, seconds)
                advance(rows)
    finally:  # also on Ctrl-C: what runs ends within a chunk, what waits is dropped
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _bar(total: int, show: bool) -> Iterator[_Advance]:
    """A tqdm bar, or nothing; yields the function that advances it."""
    if not show:
        yield lambda rows: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc="relabellings", unit="") as bar:
        yield bar.update
