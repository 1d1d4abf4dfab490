"""Null distribution of a statistic over permutations, and its p-value."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest.permutations.base import Draws
from shrinktest.permutations.stopping import Stopping

#: Permutations (B, N) to (B, 2): the statistic, and the size of the terms that cancel in it (for ties).
Statistic = Callable[[np.ndarray], np.ndarray]

TIE = 1e-10  # of the size of the terms that cancel in a statistic: values this close are equal

_VISIBLE = 1e-2  # of the standard deviation: wider ties change p-values
_ROUNDING = 1e-4  # of a tie: differences that rounding makes between equal values

_SECONDS = 0.05  # work of a piece in a thread: short enough for progress and interrupts
_WORTH_THREADS = 0.004  # seconds of work from which a pool of threads pays
_TRIED = 16  # rows of the piece that shows how long a row takes
_ENTRIES = 2**22  # entries of permutations in a piece
_WHOLE = 4096  # rows of a piece if pieces should be few
_AHEAD = 4  # with a stopping rule, rows evaluated ahead are at most this part of those seen
_TOO_MANY = 10**8  # permutations that nobody waits for


@dataclass(frozen=True, eq=False)
class Null:
    """A statistic over permutations: ``observed`` on the data, ``values`` elsewhere, and what counts as equal.

    ``values`` (B,) includes the observed statistic only if all permutations are enumerated.  With a ``stopping`` rule
    they end where the rule ended, after ``planned`` draws at most.
    """

    observed: float
    values: np.ndarray
    tolerance: float
    exact: bool
    stopping: Stopping | None = None
    planned: int | None = None

    @property
    def exceedances(self) -> int:
        """Number of permutations with a statistic at least as large as the observed one; ties count."""
        return int((self.values >= self.observed - self.tolerance).sum())

    @property
    def n_planned(self) -> int:
        """Number of permutations without stopping."""
        return self.values.size if self.planned is None else self.planned

    @property
    def pvalue(self) -> float:
        """p-value with an exact level; the data count as a permutation, so it is never 0."""
        if self.exact:
            return self.exceedances / self.values.size
        if not self.values.size:
            return math.nan
        if self.stopping:
            return self.stopping.pvalue(self.exceedances, self.values.size, self.n_planned)
        return (1 + self.exceedances) / (1 + self.values.size)

    @property
    def stopped(self) -> bool:
        """True if a stopping rule gives the p-value, and not the rank of the observed statistic among all rows."""
        if not self.stopping or not self.values.size:
            return False
        return self.values.size < self.n_planned or self.pvalue != (1 + self.exceedances) / (1 + self.values.size)

    @property
    def constant(self) -> bool:
        """True if no permutation changes the statistic by more than rounding."""
        with np.errstate(invalid="ignore"):
            changes = np.abs(self.values - self.observed)
        return self.values.size > 0 and bool((changes <= _ROUNDING * self.tolerance).all())

    @property
    def lost(self) -> bool:
        """True if ties by rounding make the p-value larger, and are not small compared with the null distribution."""
        tied = (self.values < self.observed) & (self.values >= self.observed - self.tolerance)
        if not tied.any() or self.constant:
            return False
        with np.errstate(invalid="ignore"):  # values that are not finite have no spread
            return bool(self.tolerance >= _VISIBLE * np.append(self.values, self.observed).std())


@dataclass(frozen=True)
class CostHint:
    """Cost of a statistic that is cheap per row only in large batches."""

    seconds: float  # of a row in a large batch, roughly
    rows: int = 512  # batch size from which that holds
    whole: bool = False  # True if every batch has the same additional cost, so that batches should be large


def null_distribution(
    statistic: Statistic,
    draws: Draws,
    *,
    stopping: Stopping | None = None,
    workers: int = 1,
    progress: bool = False,
    cost: CostHint | None = None,
) -> Null:
    """Evaluate a statistic on the data and on every permutation.

    Each row is computed by itself, so the result is the same for any number of ``workers`` (threads).  ``stopping``
    ends random draws early.  Raises ValueError for too many permutations, or a statistic that is not finite.
    """
    if draws.count > _TOO_MANY:
        raise ValueError(f"n_resamples={draws.n_resamples} permutations are too many; give a number such as 9999")
    rule = None if draws.exact else stopping
    planned = draws.count - 1
    bar: Any = contextlib.nullcontext()
    if progress and sys.stderr is not None:  # None in programs without a console
        from tqdm.auto import tqdm

        bar = tqdm(total=draws.count, desc="permutations", unit="")
    with bar as shown:
        run = _Runner(statistic, draws, workers, cost, shown)
        if rule is None:
            run.until(draws.count)
        else:
            run.until_stopped(rule, planned)
    out = run.out[: run.done]
    finite = np.isfinite(out).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"the statistic of permutation {int(np.argmin(finite))} is not finite; try scale='sd', "
            "more shrinkage or another kernel"
        )
    values = out[0 if draws.exact else 1 :, 0].copy()
    return Null(float(out[0, 0]), values, TIE * float(out[0, 1]), draws.exact, rule, planned if rule else None)


class _Runner:
    """Evaluates rows in order, in pieces that threads share if that pays."""

    def __init__(self, statistic: Statistic, draws: Draws, workers: int, cost: CostHint | None, bar: Any) -> None:
        self.statistic, self.draws, self.workers, self.bar = statistic, draws, workers, bar
        self.out, self.done = np.empty((draws.count, 2)), 0
        few = min(draws.chunk, _WHOLE, _ENTRIES // max(1, draws.permutations.size))
        self.most = _WHOLE if cost and cost.whole else max(1, few)
        self.seconds = cost.seconds if cost else 0.0  # of a row; 0 if not known yet
        self.batch = min(cost.rows, self.most) if cost else 0  # rows of a piece; 0 if chosen by time

    def until(self, stop: int) -> None:
        """Evaluate the rows up to ``stop``."""
        if not self.seconds:  # the first row may compile; the next few show how long a row takes
            self._take(min(1, stop))
            rows, start = min(_TRIED, stop - self.done), time.perf_counter()
            self._take(self.done + rows)
            self.seconds = max(1e-7, (time.perf_counter() - start) / max(1, rows))
        left = stop - self.done
        workers = 1 if left * self.seconds < _WORTH_THREADS else self.workers
        if self.batch:  # as few pieces of one size as will do, equally many for every worker
            step = -(-left // (workers * max(1, -(-left // (workers * self.batch)))))
        else:
            step = min(self.most, int(_SECONDS / self.seconds), -(-left // workers))
        step = max(1, step)
        if workers > 1:
            self._threaded(stop, step)
        while self.done < stop:
            self._take(min(stop, self.done + step))

    def until_stopped(self, rule: Stopping, planned: int) -> None:
        """Evaluate rows until the rule ends the drawing; only those that count are done."""
        reached = drawn = 0
        self.until(1)
        while drawn < planned:
            ahead = max(rule.least(reached, drawn, planned), drawn // _AHEAD, _TRIED)
            self.until(min(planned, drawn + ahead) + 1)
            exceedances = np.cumsum(self.out[1 : self.done, 0] >= self.out[0, 0] - TIE * self.out[0, 1])
            if (last := rule.stop(exceedances, planned)) is not None:
                self.done = 1 + last
                return
            reached, drawn = int(exceedances[-1]), self.done - 1

    def _take(self, stop: int, values: np.ndarray | None = None) -> None:
        """Write down the values of the next rows, computed here if they are not given."""
        if stop > self.done:
            rows = slice(self.done, stop)
            self.out[rows] = self.statistic(self.draws.rows(self.done, stop)) if values is None else values
            self.done = stop
            if self.bar is not None:
                self.bar.update(stop - rows.start)

    def _threaded(self, stop: int, step: int) -> None:
        """Evaluate the rows up to ``stop`` in threads."""
        if not self.done:
            self.statistic(self.draws.rows(0, 1)[:0])  # compiles in one thread whatever must be compiled
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(self.workers)  # of its own: nothing is left that a fork could break
        pending: deque[Any] = deque()
        try:
            for start in range(self.done, stop, step):
                if len(pending) == 2 * self.workers:
                    self._take(self.done + step, pending.popleft().result())
                pending.append(pool.submit(self.statistic, self.draws.rows(start, min(stop, start + step))))
            while pending:
                self._take(min(stop, self.done + step), pending.popleft().result())
        finally:  # also on Ctrl-C: pieces that run end soon, others are dropped
            pool.shutdown(wait=True, cancel_futures=True)
