"""The work of a study: trials run wherever joblib sends them, and their rows are kept as they come."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from shrinktest._parallel import n_workers
from shrinktest.power.store_file import Row

_AT_ONCE = 8  # tasks per process, where their rows come back together


class Keeper(Protocol):
    """Where rows go, such as a store."""

    def add(self, rows: Iterable[Row]) -> None:
        """Keep these."""


def finish(
    kept: Keeper, run: Callable[..., list[Row]], tasks: list[tuple[Any, ...]], total: int, jobs: int | None, show: bool
) -> None:
    """Run what is missing of a study, and keep it.

    ``run`` is a function of a module, so that it can be sent to other processes; it takes a task, the arguments of a
    trial, and returns its rows.  ``total`` counts the trials of the whole study, those done included, for the progress
    bar.  Without ``jobs`` joblib decides, if it is configured, and else every core is taken.
    """
    with bar("trials", show, total, total - len(tasks)) as progress, closing(_spread(run, tasks, jobs)) as finished:
        for rows in finished:
            kept.add(rows)
            progress.update()


def once_heard(run: Callable[..., list[Row]], *task: Any) -> Callable[..., list[Row]]:
    """What runs the other tasks once this one was run, without the warnings of this one, which have been heard."""
    with warnings.catch_warnings(record=True) as heard:
        run(*task)
    for one in heard:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return _Heard(run, tuple(dict.fromkeys(str(one.message) for one in heard))) if heard else run


@dataclass(frozen=True)
class _Heard:
    """A function without some warnings, wherever it runs."""

    run: Callable[..., list[Row]]
    messages: tuple[str, ...]

    def __call__(self, *task: Any) -> list[Row]:
        with warnings.catch_warnings():
            for message in self.messages:
                warnings.filterwarnings("ignore", re.escape(message))
            return self.run(*task)


def _spread(run: Callable[..., list[Row]], tasks: list[tuple[Any, ...]], jobs: int | None) -> Generator[list[Row]]:
    """The rows of every task, in the order in which they are finished, or nearly so."""
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    backend, configured = get_active_backend()
    if configured is None and isinstance(backend, BACKENDS[DEFAULT_BACKEND]):
        # nobody configured joblib: a process for every core, with one thread in each (where there may be processes)
        threads = {"inner_max_num_threads": 1} if backend.supports_inner_max_num_threads else {}
        with parallel_config(DEFAULT_BACKEND, n_jobs=jobs or n_workers(None), **threads):
            parallel = Parallel(return_as="generator_unordered")
    elif not backend.supports_return_generator:  # multiprocessing, and what is built on it
        step = _AT_ONCE * effective_n_jobs(jobs)
        with Parallel(n_jobs=jobs) as parallel:
            for k in range(0, len(tasks), step):
                yield from parallel(delayed(run)(*task) for task in tasks[k : k + step])
        return
    else:
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    running = parallel(delayed(run)(*task) for task in tasks)  # sent in batches of about a second
    try:
        for rows in running:  # noqa: UP028 - `yield from` would close `running` before we get to warnings
            yield rows
    finally:
        with warnings.catch_warnings():  # who stops a study knows that work is cancelled
            warnings.simplefilter("ignore")
            running.close()


def bar(what: str, show: bool, total: int | None = None, done: int = 0) -> Any:
    """A progress bar (tqdm), which leaves a line behind unless another bar is above it."""
    from tqdm.auto import tqdm

    show = show and sys.stderr is not None  # as where a program has no console
    return tqdm(total=total, initial=done, desc=what, unit="", smoothing=0.0, disable=not show, leave=None)
