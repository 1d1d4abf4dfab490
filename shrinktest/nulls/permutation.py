"""The null distribution of a statistic over relabellings, and its p-value.  Knows no kernel."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shrinktest.nulls.relabellings import AS_MANY, Relabellings
from shrinktest.nulls.stopping import Stopping

if TYPE_CHECKING:
    from concurrent.futures import Future

#: (B, N) relabellings to (B, 2): the statistic, and the size of the terms that cancel in it (for ties).
Statistic = Callable[[np.ndarray], np.ndarray]

_Advance = Callable[[int], object]

TIE = 1e-10  # of the size of the terms that cancel in a statistic: values this close to each other are equal

_VISIBLE = 1e-2  # of the standard deviation: ties by rounding that are wider than this change p-values
_ROUNDING = 1e-4  # of what is a tie: differences that the rounding of sums makes where there are none

_SECONDS = 0.05  # work handed to a thread at a time: short enough for progress and interrupts, long enough to be free
_GROWTH = 32  # times at most that a chunk is larger than the one before
_WORTH_THREADS = 0.004  # seconds: starting and joining a pool takes about a quarter of this
_BYTES = 2**25  # relabellings drawn ahead of the threads
_AHEAD = 4  # with a rule for stopping, rows looked ahead are at most this part of those seen
_FEWEST = 16  # or so many, which many routes compute in about the time of one
_TOO_MANY = 10**8  # relabellings that nobody waits for


@dataclass(frozen=True, eq=False)
class Null:
    """The statistic over relabellings: ``observed`` on the data, ``values`` elsewhere, and how close counts as equal.

    ``values`` (B,) leaves the observed one out for random relabellings and includes it for exhaustive ones.  With a
    rule for ``stopping`` they are those up to where it ended the drawing, of ``planned`` at most.
    """

    observed: float
    values: np.ndarray
    tolerance: float
    exact: bool
    stopping: Stopping | None = None
    planned: int | None = None

    @property
    def exceedances(self) -> int:
        """Relabellings with a statistic at least as large as the observed one; ties count."""
        return int((self.values >= self.observed - self.tolerance).sum())

    @property
    def n_planned(self) -> int:
        """Relabellings that there would be without stopping."""
        return self.values.size if self.planned is None else self.planned

    @property
    def pvalue(self) -> float:
        """Exact level: the identity is one of the rows, so the p-value is never 0."""
        if self.exact:
            return self.exceedances / self.values.size
        if not self.values.size:
            return math.nan
        if self.stopping:
            return self.stopping.pvalue(self.exceedances, self.values.size, self.n_planned)
        return (1 + self.exceedances) / (1 + self.values.size)

    @property
    def stopped(self) -> bool:
        """Whether the p-value is that of a rule, and not the rank of the observed statistic among all rows."""
        if not self.stopping or not self.values.size:
            return False
        return self.values.size < self.n_planned or self.pvalue != (1 + self.exceedances) / (1 + self.values.size)

    @property
    def lost(self) -> bool:
        """Whether ties make the p-value larger, and are not few beside the differences between relabellings."""
        below = self.values[self.values < self.observed]
        if self.constant or not (below >= self.observed - self.tolerance).any():
            return False
        with np.errstate(invalid="ignore"):  # there is no spread of what is not finite
            spread = np.append(self.values, self.observed).std()
        return bool(self.tolerance >= _VISIBLE * spread)

    @property
    def constant(self) -> bool:
        """Whether no relabelling changes the statistic by more than the rounding of the terms that cancel in it."""
        with np.errstate(invalid="ignore"):  # of what is not finite
            changes = np.abs(self.values - self.observed)
        return self.values.size > 0 and bool((changes <= _ROUNDING * self.tolerance).all())


@dataclass(frozen=True)
class CostHint:
    """Cost of a statistic that is cheap per row only in large batches."""

    seconds: float  # about how long a row takes in a large batch
    rows: int = 512  # batch size from which that cost holds


def null_distribution(
    statistic: Statistic,
    relabellings: Relabellings,
    *,
    stopping: Stopping | None = None,
    workers: int = 1,
    progress: bool = False,
    cost: CostHint | None = None,
) -> Null:
    """Evaluate a statistic on the identity and on every relabelling.

    ``statistic`` takes relabellings (B, N) to (B, 2), the statistic and the size of the terms that cancel in it.  Every
    row is computed by itself, so that the result is the same for any number of ``workers``, which are threads.

    ``stopping`` ends the drawing of random relabellings.  Nothing changes where all of them are enumerated: their order
    is not random.  The generator is left as if all had been drawn.

    Raises ValueError if more relabellings were asked for than can be computed, or a statistic is not finite.
    """
    magnitude = relabellings.magnitude if relabellings.exact else math.log(relabellings.n_resamples + 1.0)
    if magnitude > math.log(_TOO_MANY):
        raise ValueError(
            f"n_resamples={relabellings.n_resamples}: about 1e{magnitude / math.log(10.0):.0f} permutations of "
            f"{relabellings.size} observations are too many; give a number such as n_resamples=9999 for random ones"
        )
    rule = None if relabellings.exact else stopping
    with _bar(relabellings.count, progress) as advance:
        run = _Run(statistic, relabellings, rule, advance)
        pace = _Pace(run.count, relabellings.size, workers, cost)
        # whatever must be compiled is compiled here, in one thread: by the observed statistic, or by none where that
        # would be dear
        if cost:
            statistic(relabellings.rows()(1)[:0])
        else:
            run.do(1)
        _serial(run, pace, alone=workers == 1)
        _threaded(run, pace, workers)
    if run.drawn < run.count:
        relabellings.skip(run.count - run.drawn)
    out = run.out[: run.end]
    if not np.isfinite(out).all():
        row = int(np.argwhere(~np.isfinite(out))[0, 0])
        raise ValueError(
            f"the statistic of permutation {row} is not finite: the estimator could not be computed on a permuted "
            "sample; use a positive semi-definite kernel, a smaller step size or more shrinkage, or, if rounding is to "
            "blame, subtract the mean (or a start) from each column, or take a smaller bandwidth; multiply very large "
            "or very small data by a constant, or use scale='sd'"
        )
    values = out[:, 0].copy() if relabellings.exact else out[1:, 0].copy()
    planned = None if rule is None else run.count - 1
    return Null(float(out[0, 0]), values, _tolerance(out[0]), relabellings.exact, rule, planned)


def _tolerance(row: np.ndarray) -> float:
    """How far below the observed statistic is a tie, from the size of the terms that cancel in it."""
    return TIE * float(row[1])


class _Run:
    """The statistics of the rows as they come in, in any order, and up to which row they count."""

    def __init__(
        self, statistic: Statistic, relabellings: Relabellings, rule: Stopping | None, advance: _Advance
    ) -> None:
        self.statistic = statistic
        self.count = relabellings.count
        self.out = np.empty((self.count, 2))
        self.drawn = 0
        self.front = 0  # all rows before this one have come in
        self.end = self.count  # those that count; fewer once the rule has ended the drawing
        self._take, self._rule, self._advance = relabellings.rows(), rule, advance
        self._came: dict[int, int] = {}  # start and stop of what has come in beyond the front
        self._reach = 1 + rule.least(0, 0, self.count - 1) if rule else self.count

    @property
    def open(self) -> bool:
        """Whether rows that count are missing."""
        return self.front < self.end

    @property
    def wanted(self) -> int:
        """Rows that may be drawn now: with a rule, few that it could turn out not to count."""
        return min(self.count, self.front + self._reach) - self.drawn

    def take(self, rows: int) -> tuple[slice, np.ndarray]:
        """The next rows, and where they go."""
        where = slice(self.drawn, self.drawn + rows)
        self.drawn += rows
        taken = self._take(rows)
        if len(taken) != rows:
            raise ValueError(f"permutations: {rows} more were asked for, and {len(taken)} came; {AS_MANY}")
        return where, taken

    def put(self, where: slice, values: np.ndarray) -> None:
        """Keep statistics, and look whether the drawing ends with them: only ever at rows before which none is open."""
        self.out[where] = values
        self._came[where.start] = where.stop
        while self.front in self._came:
            self.front = self._came.pop(self.front)
        if self._rule and self.front:
            reached = self.out[1 : self.front, 0] >= self.out[0, 0] - _tolerance(self.out[0])
            exceedances = np.cumsum(reached)
            last = self._rule.stop(exceedances, self.count - 1)
            self.end = self.count if last is None else 1 + last
            drawn = self.front - 1
            least = self._rule.least(int(exceedances[-1]) if drawn else 0, drawn, self.count - 1)
            self._reach = max(least, drawn // _AHEAD, _FEWEST)
        self._advance(where.stop - where.start)

    def do(self, rows: int) -> float:
        """Evaluate the next rows in this thread; returns the seconds it took."""
        start = time.perf_counter()
        where, relabellings = self.take(rows)
        values = self.statistic(relabellings)
        seconds = time.perf_counter() - start
        self.put(where, values)
        return seconds


class _Pace:
    """How many relabellings make a chunk of about ``_SECONDS``; the answer does not depend on it."""

    def __init__(self, count: int, size: int, workers: int, cost: CostHint | None) -> None:
        self._most = max(1, min(4096, _BYTES // size))
        self._batches = cost is not None
        self.rows = 1
        self.seconds = math.inf  # per relabelling
        if cost and count * cost.seconds < _WORTH_THREADS:
            workers = 1
        if cost:  # as few chunks as will do, all of one size, as many for every worker
            self.seconds = cost.seconds
            self.rows = -(-count // (workers * -(-count // (workers * min(cost.rows, self._most)))))

    def left(self, rows: int, workers: int) -> int:
        """Rows of the next chunk when so many are left."""
        return min(self.rows, rows if self._batches else -(-rows // workers))

    def learn(self, rows: int, seconds: float) -> None:
        if not self._batches:
            self.seconds = max(seconds, 1e-6) / rows
            self.rows = max(1, min(self._most, _GROWTH * rows, int(_SECONDS / self.seconds)))


def _serial(run: _Run, pace: _Pace, *, alone: bool) -> None:
    """Go on in this thread: to the end if ``alone``, else until the rest is worth threads."""
    known = pace.seconds < math.inf

    def small() -> bool:
        if not known and run.front <= _GROWTH:  # few rows seen, so that their time is mostly overhead
            return run.front == 1 or pace.seconds < _WORTH_THREADS / _GROWTH
        return (run.count - run.front) * pace.seconds < _WORTH_THREADS

    while run.open and (alone or small()):
        rows = pace.left(run.wanted, 1)
        pace.learn(rows, run.do(rows))


def _threaded(run: _Run, pace: _Pace, workers: int) -> None:
    """Go on in a pool of threads."""
    if not run.open:
        return
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait  # many a test is too short for threads

    # A pool of our own for every call: nothing is left behind that a fork could break or another thread disturb.
    def work(relabellings: np.ndarray) -> tuple[np.ndarray, float]:
        start = time.perf_counter()
        return run.statistic(relabellings), time.perf_counter() - start

    pending: dict[Future, slice] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        while run.open:
            while run.wanted > 0 and len(pending) < 2 * workers:
                where, relabellings = run.take(pace.left(run.wanted, workers))
                pending[pool.submit(work, relabellings)] = where
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                where = pending.pop(future)
                values, seconds = future.result()
                pace.learn(where.stop - where.start, seconds)
                run.put(where, values)
    finally:  # also on Ctrl-C: what runs ends within a chunk, what waits is dropped
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _bar(total: int, show: bool) -> Iterator[_Advance]:
    """A tqdm bar, or nothing; yields the function that advances it."""
    if not show or sys.stderr is None:  # as where a program has no console
        yield lambda rows: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc="permutations", unit="") as bar:
        yield bar.update
