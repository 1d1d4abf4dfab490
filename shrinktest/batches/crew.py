"""The crew: who reads the tasks, be it this thread, several, an executor, or a cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import Any

from shrinktest._parallel import progress_steps
from shrinktest.batches.clusters import computed, to_client
from shrinktest.batches.rows import Rows
from shrinktest.batches.tasks import Done, Reading, Task, require_columns, run, tasks_of

_AHEAD = 2  # tasks in flight for every worker
_UNKNOWN = 8  # workers of an executor that does not say how many it has


@dataclass(frozen=True, eq=False)
class Crew:
    """Who reads samples in batches."""

    # so many threads of this process; or what has ``submit``, such as an executor of ``concurrent.futures`` or a
    # ``dask.distributed.Client``, or else ``map``
    workers: Any = 1
    most: float = math.inf  # tasks that are under way at a time, at most

    def within(self, memory: float, each: float) -> Crew:
        """The same with no more tasks under way than fit into so many bytes, of which each takes some; but one."""
        return replace(self, most=max(1.0, memory / each))

    @property
    def local(self) -> bool:
        """Whether it is this process that reads."""
        return isinstance(self.workers, int)

    @property
    def size(self) -> int:
        """How many workers there are."""
        if isinstance(self.workers, int):
            return self.workers
        if hasattr(self.workers, "nthreads"):  # of a dask client
            return max(1, sum(self.workers.nthreads().values()))
        return int(getattr(self.workers, "_max_workers", None) or _UNKNOWN)

    def read(
        self,
        samples: Sequence[Rows],
        reading: Reading,
        counts: Sequence[Sequence[int]] | None = None,
        before: Sequence[Mapping[int, int]] | None = None,
        *,
        numbered: bool = True,
    ) -> Generator[Done, None, None]:
        """Read all samples; what is found comes as it is done.

        For every sample ``counts`` says how many rows are kept of every piece, from an earlier reading, and ``before``
        has the numbers of pieces that have been read, with the rows kept of them.  ``numbered`` says whether the
        numbers of rows matter.  Raises ValueError or TypeError for rows that cannot be read, or pieces with other
        columns.
        """
        read = before or [{} for _ in samples]
        if counts is None and numbered and not all(rows.counted for rows in samples):
            found = self._in_order(samples, reading, read)
        else:
            by_dask = any(rows.batches.by_dask for rows in samples)
            found = self._run(reading, self._tasks(samples, reading, counts, read, numbered), by_dask)
        columns: dict[int, int] = {}
        with closing(found):
            for done in found:
                if done.columns is not None:
                    known = columns.setdefault(done.sample, done.columns)
                    require_columns(done.where, done.columns, samples[done.sample].name, known)
                progress_steps(len(done.kept))(len(done.kept))
                yield done

    def _tasks(
        self,
        samples: Sequence[Rows],
        reading: Reading,
        counts: Sequence[Sequence[int]] | None,
        before: Sequence[Mapping[int, int]],
        numbered: bool,
    ) -> Iterator[Task]:
        for i, rows in enumerate(samples):
            known = None if counts is None or rows.counted else counts[i]
            yield from tasks_of(rows, i, known, before[i], self.size, reading.least, numbered=numbered)

    def _in_order(
        self, samples: Sequence[Rows], reading: Reading, before: Sequence[Mapping[int, int]]
    ) -> Generator[Done, None, None]:
        """One piece after the other, where the number of a row is known only when those before it have been read."""
        for i, rows in enumerate(samples):
            reader, first = rows.reader, 0
            for place, piece in enumerate(rows.pieces()):
                if place in before[i]:
                    first += before[i][place]
                    continue
                done = run(reading, Task(i, reader, (piece,), place, (first,)))
                first += sum(done.kept)
                yield done

    def _run(self, reading: Reading, tasks: Iterator[Task], by_dask: bool) -> Generator[Done, None, None]:
        workers, ahead = self.workers, int(min(_AHEAD * self.size, self.most))
        if hasattr(workers, "scatter"):  # a dask client
            return _submitted(partial(to_client, workers, reading), tasks, ahead)
        if by_dask and self.local:
            return computed(reading, tasks, ahead)
        if workers == 1:
            return (run(reading, task) for task in tasks)
        if isinstance(workers, int):
            return _in_threads(reading, tasks, workers, ahead)
        if hasattr(workers, "submit"):
            return _submitted(partial(workers.submit, partial(run, reading)), tasks, ahead)
        return _mapped(workers.map, partial(run, reading), tasks, ahead)


def _in_threads(reading: Reading, tasks: Iterator[Task], workers: int, most: int) -> Generator[Done, None, None]:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    over = Event()
    pool = ThreadPoolExecutor(workers)
    try:
        yield from _submitted(partial(pool.submit, partial(run, reading, stopped=over.is_set)), tasks, most)
    finally:
        over.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _submitted(submit: Callable[[Task], Any], tasks: Iterator[Task], most: int) -> Generator[Done, None, None]:
    """What comes of tasks, so many of which are under way at a time; at an end those not begun are given up."""
    ended: SimpleQueue[Any] = SimpleQueue()
    under_way: set[Any] = set()
    try:
        while True:
            for task in islice(tasks, most - len(under_way)):
                future = submit(task)
                under_way.add(future)
                future.add_done_callback(ended.put)
            if not under_way:
                return
            future = ended.get()
            under_way.discard(future)
            yield future.result()
    finally:
        for future in under_way:
            future.cancel()


def _mapped(
    mapping: Callable[..., Iterable[Done]], work: Callable[[Task], Done], tasks: Iterator[Task], most: int
) -> Generator[Done, None, None]:
    while some := list(islice(tasks, most)):
        yield from mapping(work, some)
