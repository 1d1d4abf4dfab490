"""The null distribution of a statistic over relabellings, and its p-value.  Knows no kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from shrinktest.relabellings import Relabellings

#: (B, N) relabellings to (B, 2): the statistic, and the size of the terms that cancel in it (for ties).
Statistic = Callable[[np.ndarray], np.ndarray]

_SECONDS = 0.05  # work handed to a thread at a time: short enough for progress and interrupts, long enough to be free
_GROWTH = 32  # times at most that a chunk is larger than the one before
_WORTH_THREADS = 0.004  # seconds: starting and joining a pool takes about a quarter of this
_BYTES = 2**25  # relabellings drawn ahead of the threads
_TOO_MANY = 10**8  # relabellings that nobody waits for


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


@dataclass(frozen=True)
class Shared:
    """What a statistic costs that shares work among the relabellings of a call, so that few of them are dear.

    Parameters
    ----------
    seconds : float
        About how long a relabelling takes among many.
    rows : int
        How many are many.
    """

    seconds: float
    rows: int = 512


def null_distribution(
    statistic: Statistic,
    relabellings: Relabellings,
    *,
    workers: int = 1,
    progress: bool = False,
    shared: Shared | None = None,
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
    shared : Shared, optional
        For statistics that share work among relabellings.

    Raises
    ------
    ValueError
        If more relabellings were asked for than can be computed, or a statistic is not finite.
    """
    magnitude = relabellings.magnitude if relabellings.exact else math.log(relabellings.n_resamples + 1.0)
    if magnitude > math.log(_TOO_MANY):
        raise ValueError(
            f"n_resamples={relabellings.n_resamples}: about 1e{magnitude / math.log(10.0):.0f} relabellings of "
            f"{relabellings.size} observations are too many; give a number such as n_resamples=9999 for random ones"
        )
    count = relabellings.count
    out = np.empty((count, 2))
    take, pace = relabellings.rows(), _Pace(count, relabellings.size, workers, shared)
    with _bar(count, progress) as advance:
        # whatever must be compiled is compiled here, in one thread: by the observed statistic, or by none where that
        # would be dear
        done = 0 if shared else 1
        head = statistic(take(1) if done else relabellings.rows()(1)[:0])
        out[:done] = head
        advance(done)
        done = _serial(statistic, take, out, done, advance, pace, alone=workers == 1)
        _threaded(statistic, take, out, done, advance, pace, workers)
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

    def __init__(self, count: int, size: int, workers: int, shared: Shared | None) -> None:
        self._most = max(1, min(4096, _BYTES // size))
        self._shared = shared is not None
        self.rows = 1
        self.seconds = math.inf  # per relabelling
        if shared:  # as few chunks as will do, all of one size, as many for every worker
            self.seconds = shared.seconds
            self.rows = -(-count // (workers * -(-count // (workers * min(shared.rows, self._most)))))

    def left(self, rows: int, workers: int) -> int:
        """Rows of the next chunk when so many are left."""
        return min(self.rows, rows if self._shared else -(-rows // workers))

    def learn(self, rows: int, seconds: float) -> None:
        if not self._shared:
            self.seconds = max(seconds, 1e-6) / rows
            self.rows = max(1, min(self._most, _GROWTH * rows, int(_SECONDS / self.seconds)))


_Take = Callable[[int], np.ndarray]
_Advance = Callable[[int], object]


def _serial(
    statistic: Statistic, take: _Take, out: np.ndarray, done: int, advance: _Advance, pace: _Pace, *, alone: bool
) -> int:
    """Go on from row ``done`` in this thread: to the end if ``alone``, else until the rest is worth threads."""
    known = pace.seconds < math.inf

    def small() -> bool:
        if not known and done <= _GROWTH:  # few rows seen, so that their time is mostly overhead
            return done == 1 or pace.seconds < _WORTH_THREADS / _GROWTH
        return (len(out) - done) * pace.seconds < _WORTH_THREADS

    while done < len(out) and (alone or small()):
        rows = pace.left(len(out) - done, 1)
        start = time.perf_counter()
        out[done : done + rows] = statistic(take(rows))
        pace.learn(rows, time.perf_counter() - start)
        done += rows
        advance(rows)
    return done


def _threaded(
    statistic: Statistic, take: _Take, out: np.ndarray, done: int, advance: _Advance, pace: _Pace, workers: int
) -> None:
    """Go on from row ``done`` in a pool of threads."""
    if done == len(out):
        return

    # A pool of our own for every call: nothing is left behind that a fork could break or another thread disturb.
    def work(relabellings: np.ndarray) -> tuple[np.ndarray, float]:
        start = time.perf_counter()
        return statistic(relabellings), time.perf_counter() - start

    drawn = done
    pending: dict[Future, slice] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        while pending or drawn < len(out):
            while drawn < len(out) and len(pending) < 2 * workers:
                rows = pace.left(len(out) - drawn, workers)
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
