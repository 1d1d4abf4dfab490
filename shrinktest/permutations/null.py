"""Null distribution of a statistic over permutations, and its p-value."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._machine_code import one_run
from shrinktest._parallel import limit_new_blas
from shrinktest.permutations.base import Draws
from shrinktest.permutations.stopping import Stopping

#: Permutations (B, N) to (B, 2): the statistic, and the size of the terms that cancel in it (for
#: ties).
Statistic = Callable[[np.ndarray], np.ndarray]

TIE = 1e-10  # of the size of the terms that cancel in a statistic: values this close are equal

_VISIBLE = 1e-2  # of the standard deviation: wider ties change p-values
_ROUNDING = 1e-4  # of a tie: differences that rounding makes between equal values

_SECONDS = 0.05  # work of a piece in a thread: short enough for progress and interrupts
_WORTH_THREADS = 0.004  # seconds of work from which a pool of threads pays
_GROWTH = 8
_FASTER = (
    0.9  # a piece of so many times the rows is used if a row takes at most this part of the time
)
_AGAIN = 8  # pieces after which larger ones are tried again
_TRIED = 16  # rows that a stopping rule waits for at least
_ENTRIES = 2**22  # entries of permutations in a piece
_WHOLE = 4096  # rows of a piece if pieces should be few
_AHEAD = 4  # with a stopping rule, rows evaluated ahead are at most this part of those seen
_TOO_MANY = 10**8  # permutations that nobody waits for


@dataclass(frozen=True, eq=False)
class Null:
    """Statistic over permutations: ``observed`` and ``values``, and what counts as equal.

    ``observed`` is on the data, ``values`` are elsewhere.

    ``values`` (B,) includes the observed statistic only if all permutations are enumerated.  With a
    ``stopping`` rule they end where the rule ended, after ``planned`` draws at most.
    """

    observed: float
    values: np.ndarray
    tolerance: float
    exact: bool
    stopping: Stopping | None = None
    planned: int | None = None

    @property
    def exceedances(self) -> int:
        """Number of permutations with a statistic at least as large as the observed one.

        Ties count.
        """
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
        """True if a stopping rule gives the p-value instead of the rank of the statistic.

        The rank is that of the observed statistic among all rows.
        """
        if not self.stopping or not self.values.size:
            return False
        return self.values.size < self.n_planned or self.pvalue != (1 + self.exceedances) / (
            1 + self.values.size
        )

    @property
    def constant(self) -> bool:
        """True if no permutation changes the statistic by more than rounding."""
        with np.errstate(invalid="ignore"):
            changes = np.abs(self.values - self.observed)
        return self.values.size > 0 and bool((changes <= _ROUNDING * self.tolerance).all())

    @property
    def lost(self) -> bool:
        """True if ties by rounding raise the p-value and are not small.

        They are compared with the null distribution.
        """
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
    whole: bool = (
        False  # True if every batch has the same additional cost, so that batches should be large
    )


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

    Each row is computed by itself, so the result is the same for any number of ``workers``
    (threads).  ``stopping`` ends random draws early.  Raises ValueError for too many permutations,
    or a statistic that is not finite.
    """
    if draws.count > _TOO_MANY:
        raise ValueError(
            f"n_resamples={draws.n_resamples} permutations are too many; use a number such as 9999"
        )
    rule = None if draws.exact else stopping
    planned = draws.count - 1
    bar: Any = contextlib.nullcontext()
    if progress and sys.stderr is not None:  # None in programs without a console
        from tqdm.auto import tqdm

        bar = tqdm(total=draws.count, desc="permutations", unit="")
    with bar as shown, one_run(draws.count):
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
    return Null(
        float(out[0, 0]),
        values,
        TIE * float(out[0, 1]),
        draws.exact,
        rule,
        planned if rule else None,
    )


class _Pace:
    """Number of rows of a piece.

    It grows while pieces are short, or while that makes rows faster.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows = 1
        self.pieces = 0
        self.fastest: dict[
            int, float
        ] = {}  # seconds of a row, by the rows of a piece; noise can only make it slower

    @property
    def seconds(self) -> float:
        """Least time of a row so far."""
        return min(self.fastest.values(), default=math.inf)

    def took(self, rows: int, seconds: float) -> None:
        """Note the time of a piece, and choose the rows of the next one."""
        self.fastest[rows] = min(seconds / rows, self.fastest.get(rows, math.inf))
        self.pieces += 1
        if self.pieces % _AGAIN == 0:  # no early measurement decides for good
            self.fastest = {size: time for size, time in self.fastest.items() if size <= self.rows}
        size = 1
        while size in self.fastest and size < self.most:
            larger = min(self.most, _GROWTH * size)
            short = size * self.fastest[size] < _SECONDS / _GROWTH
            if not short and self.fastest.get(larger, 0.0) > _FASTER * self.fastest[size]:
                break
            size = larger
        self.rows = size


class _Runner:
    """Evaluates rows in order, in pieces that threads share if that pays."""

    def __init__(
        self, statistic: Statistic, draws: Draws, workers: int, cost: CostHint | None, bar: Any
    ) -> None:
        self.statistic = statistic
        self.draws = draws
        self.workers = workers
        self.bar = bar
        self.out = np.empty((draws.count, 2))
        self.done = 0
        few = min(draws.chunk, _WHOLE, _ENTRIES // max(1, draws.permutations.size))
        self.most = _WHOLE if cost and cost.whole else max(1, few)
        self.cost = cost
        self.pace = _Pace(self.most)

    def until(self, stop: int) -> None:
        """Evaluate the rows up to ``stop``."""
        if self.cost:
            self._in_batches(stop, self.cost.seconds, min(self.cost.rows, self.most))
            return
        if not self.done:
            self._take(
                min(1, stop)
            )  # which may compile, and shows nothing of the time that a row takes
        while self.done < stop:
            left = stop - self.done
            if (
                self.workers > 1
                and len(self.pace.fastest) > 1
                and left * self.pace.seconds >= _WORTH_THREADS
            ):
                self._threaded(stop, lambda: self.pace.rows, -(-left // self.workers))
            else:
                self._take(min(stop, self.done + self.pace.rows), timed=True)

    def _in_batches(self, stop: int, seconds: float, batch: int) -> None:
        """Evaluate cheap rows in large batches.

        There are as few of one size as will do, equally many for each worker.
        """
        workers = 1 if (stop - self.done) * seconds < _WORTH_THREADS else self.workers
        if workers > 1 and not self.done:
            self._take(min(1, stop))  # compiles in one thread whatever must be compiled
        left = stop - self.done
        step = max(1, -(-left // (workers * max(1, -(-left // (workers * batch))))))
        if workers > 1:
            self._threaded(stop, lambda: step, step)
        while self.done < stop:
            self._take(min(stop, self.done + step))

    def until_stopped(self, rule: Stopping, planned: int) -> None:
        """Evaluate rows until the rule ends the drawing; only those that count are done."""
        reached = drawn = 0
        self.until(1)
        while drawn < planned:
            ahead = max(rule.least(reached, drawn, planned), drawn // _AHEAD, _TRIED)
            self.until(min(planned, drawn + ahead) + 1)
            exceedances = np.cumsum(
                self.out[1 : self.done, 0] >= self.out[0, 0] - TIE * self.out[0, 1]
            )
            if (last := rule.stop(exceedances, planned)) is not None:
                self.done = 1 + last
                return
            reached = int(exceedances[-1])
            drawn = self.done - 1

    def _take(self, stop: int, timed: bool = False) -> None:
        """Evaluate the next rows here."""
        if stop > self.done:
            values, seconds = self._evaluated(self.draws.rows(self.done, stop))
            self._keep(values, seconds if timed else None)

    def _evaluated(self, rows: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the values of rows, and the seconds that they took."""
        limit_new_blas()
        start = time.perf_counter()
        values = self.statistic(rows)
        return values, time.perf_counter() - start

    def _keep(self, values: np.ndarray, seconds: float | None) -> None:
        """Write down the values of the next rows."""
        self.out[self.done : self.done + len(values)] = values
        self.done += len(values)
        if seconds is not None:
            self.pace.took(len(values), seconds)
        if self.bar is not None:
            self.bar.update(len(values))

    def _threaded(self, stop: int, step: Callable[[], int], most: int) -> None:
        """Evaluate the rows up to ``stop`` in threads, by pieces of ``step()`` rows.

        There are ``most`` rows at most.
        """
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(
            self.workers
        )  # of its own: nothing is left that a fork could break
        pending: deque[Any] = deque()
        start = self.done
        try:
            while start < stop or pending:
                if start < stop and len(pending) < 2 * self.workers:
                    end = min(stop, start + min(most, step()))
                    pending.append(
                        pool.submit(
                            copy_context().run, self._evaluated, self.draws.rows(start, end)
                        )
                    )
                    start = end
                else:
                    self._keep(*pending.popleft().result())
        finally:  # also on Ctrl-C: pieces that run end soon, others are dropped
            pool.shutdown(wait=True, cancel_futures=True)
